"""Which circles of values a model rules out, told from its axioms.

A value can cause itself where reads and writes form a circle. Two kinds of circle are ruled out by
the axioms of Fig. 2, so that they need not be reckoned with (value/domain.py); of a model that does
not have these axioms in a shape that is known here, nothing is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rspverify.axiomatic.model import Let, MemoryModel
from rspverify.relation import Expression, Name, Plus, Sort, Test, Union

_BASE = {"R", "W", "loc", "mo", "nal", "rf", "sb", "co", "po"}
_VISIBLE = "W * R & loc & hb \\ (hb; [W]; hbl)"


@dataclass(frozen=True)
class NoCircles:
    """What a model rules out.

    forward: that a read has its value from a later write of its own thread. atomic, plain: that
    read-modify-writes of one location, declared atomic or not, read from each other in a circle.
    """

    forward: bool
    atomic: bool
    plain: bool


def no_circles(model: MemoryModel) -> NoCircles:
    """The circles that no consistent execution of a model has, as far as is known."""
    if any(_definitions(model, name) for name in _BASE):
        return NoCircles(False, False, False)
    held = {(axiom.test, str(axiom.expression)) for axiom in model.axioms}
    unions = [
        (axiom.test, {str(each) for each in _alternatives(axiom.expression)})
        for axiom in model.axioms
    ]
    reading = any(test is Test.ACYCLIC and "rf" in parts for test, parts in unions)
    happens_before = _definitions(model, "hb")
    closed = len(happens_before) == 1 and isinstance(happens_before[0], Plus)
    ordered = closed and (Test.IRREFLEXIVE, "hb") in held
    in_program_order = ordered and Name("sb", Sort.RELATION) in _alternatives(
        happens_before[0].argument  # type: ignore[attr-defined]
    )
    visible = [str(each) for each in _definitions(model, "vis")] == [_VISIBLE]
    return NoCircles(
        forward=in_program_order and (Test.IRREFLEXIVE, "rf; hb") in held,
        atomic=reading
        or any(test is Test.IRREFLEXIVE and {"rf", "mo; rf"} <= parts for test, parts in unions),
        plain=reading or (ordered and visible and (Test.EMPTY, "(rf; [nal]) \\ vis") in held),
    )


def _definitions(model: MemoryModel, name: str) -> list[Expression]:
    return [
        expression
        for statement in model.statements
        if isinstance(statement, Let)
        for defined, expression in statement.definitions
        if defined == name
    ]


def _alternatives(expression: Expression) -> Iterator[Expression]:
    if isinstance(expression, Union):
        yield from _alternatives(expression.left)
        yield from _alternatives(expression.right)
    else:
        yield expression
