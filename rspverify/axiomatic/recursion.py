"""Whether an expression can only grow as a name in it grows, so that `let rec` has a meaning."""

from __future__ import annotations

from rspverify.relation import Complement, Difference, Expression, Name, operands


def grows(expression: Expression, name: str) -> bool:
    """Whether the name stands under an even number of `~` and right sides of `\\` everywhere."""
    return _only(expression, name, True)


def _only(expression: Expression, name: str, growing: bool) -> bool:
    """Whether the value of an expression can only grow with a name, or else only shrink."""
    if isinstance(expression, Name):
        return growing or expression.name != name
    *others, last = parts = operands(expression) or (None,)
    if last is None:
        return True
    if isinstance(expression, Complement | Difference):
        kept = all(_only(each, name, growing) for each in others if each is not None)
        return kept and _only(last, name, not growing)
    return all(_only(each, name, growing) for each in parts if each is not None)
