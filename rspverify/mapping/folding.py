"""Dependencies that a compiler may fold away, as they carry no value.

An expression depends on a read no more where algebra gives it the same value whatever is read, and
on a branch nothing depends whose sides do the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import groupby

from rspverify.litmus.program import Operation
from rspverify.records import replace
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Select,
    Unary,
    binary,
    conjunction,
    conjuncts,
    renumbered,
    select,
    unary,
)

_SAME = {"^": 0, "-": 0, "!=": 0, "<": 0, ">": 0, "==": 1, "<=": 1, ">=": 1}
"""What an operator gives of an expression and itself."""


def folded(it: Expression) -> Expression:
    """An expression of the same value, where that is always one without what it does not depend on:
    `r ^ r`, `r & 0`, `r * 0`, `r == r`, `c ? r : r`."""
    match it:
        case Unary(name, argument):
            return unary(name, folded(argument))
        case Select(condition, then, otherwise):
            return select(folded(condition), folded(then), folded(otherwise))
        case Binary(name, left, right):
            left, right = folded(left), folded(right)
            if left == right and name in _SAME:
                return Constant(_SAME[name])
            if name in ("&", "*", "&&") and Constant(0) in (left, right):
                return Constant(0)
            return binary(name, left, right)
    return it


def deciding(operations: Sequence[Operation]) -> Mapping[int, Expression]:
    """By the index of each operation of a thread under a branch whose sides do the same, its guard
    without that."""
    left = {it.index: [*conjuncts(it.guard)] for it in operations}
    dropped: dict[int, set[int]] = {}

    def look(those: Sequence[Operation], depth: int) -> None:
        inside = [it for it in those if len(left[it.index]) > depth]
        for _, run in groupby(inside, key=lambda it: _bare(left[it.index][depth])):
            together = list(run)
            sides = [list(it) for _, it in groupby(together, key=lambda it: left[it.index][depth])]
            if len(sides) == 2 and _alike(sides[0], sides[1], left, depth):
                for it in together:
                    dropped.setdefault(it.index, set()).add(depth)
            for side in sides:
                look(side, depth + 1)

    look(operations, 0)

    def without(index: int, depths: set[int]) -> Expression:
        kept: Sequence[Expression] = [it for at, it in enumerate(left[index]) if at not in depths]
        return reduce(conjunction, kept) if kept else Constant(1)

    return {index: without(index, depths) for index, depths in dropped.items()}


def _bare(condition: Expression) -> Expression:
    """A condition without its negation: what both sides of a branch have."""
    match condition:
        case Unary("!", argument):
            return argument
    return condition


def _alike(
    one: Sequence[Operation],
    other: Sequence[Operation],
    guards: Mapping[int, Sequence[Expression]],
    depth: int,
) -> bool:
    """Whether both sides of a branch do the same, what they read being called differently."""
    if len(one) != len(other):
        return False
    called = {b.index: a.index for a, b in zip(one, other, strict=True)}

    def own(it: Expression | None) -> Expression | None:
        return None if it is None else renumbered(it, lambda index: called.get(index, index))

    for a, b in zip(one, other, strict=True):
        rest = [own(it) for it in guards[b.index][depth + 1 :]]
        same = replace(
            b,
            index=a.index,
            span=a.span,
            guard=a.guard,
            value=own(b.value),
            operand=own(b.operand),
            success=own(b.success),
        )
        if same != a or rest != [*guards[a.index][depth + 1 :]] or a.choice or a.unsequenced:
            return False
    return True
