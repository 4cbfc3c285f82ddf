"""What the names of a model stand for, by any algebra: one way through its statements for all.

Four algebras go it. Terms (executions.py) encode all executions at once; columns (together.py) have
a bit for each of many; steps (plan.py) are what brute force calculates to check terms; plain values
(rspverify/drawing) are what one execution has. They share what a reader of the .cat file does, too:
a later definition hides an earlier one, what is defined at once does not see itself, an axiom is
asked where it stands. A mistake there would be one in all answers alike, as one in the reader of
.cat files would be; tests hold it to an interpreter that has no part in it
(tests/axiomatic/brute_force.py). What decides a question they do not share: operators, recursion,
whether an axiom holds, the choice of rf and mo. An import contract keeps brute force apart from the
terms in that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar, assert_never

from msgspec import Struct

from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, MemoryModel
from rspverify.axiomatic.vocabulary import DERIVED
from rspverify.relation.algebra import Algebra
from rspverify.relation.expression import Expression

Value = TypeVar("Value")


class Scope(Generic[Value], Struct, frozen=True, eq=False):
    """What names stand for at a place of a model.

    definitions: of the names that a `let` has defined, by what, and where: what the names in it
    stand for.
    """

    values: Mapping[str, Value]
    definitions: Mapping[str, tuple[Expression, Scope[Value]]]

    def bind(
        self,
        values: Mapping[str, Value],
        definitions: Mapping[str, tuple[Expression, Scope[Value]]],
    ) -> Scope[Value]:
        """The scope after these names, which hide earlier ones."""
        others = dict(self.definitions)
        for name in values:
            others.pop(name, None)
        return Scope({**self.values, **values}, {**others, **definitions})


class Interpretation(Generic[Value], Struct, frozen=True, eq=False):
    """at: by the name of each axiom, what names stand for where it stands. end: after all."""

    at: Mapping[str, Scope[Value]]
    end: Scope[Value]


def interpret(
    model: MemoryModel,
    base: Mapping[str, Value],
    algebra: Algebra[Value],
    order: Callable[[Linearisation, Mapping[str, Value]], Value],
) -> Interpretation[Value]:
    """The meaning of a model's names, from that of the base names that are not derived.

    order: the order that an execution chooses where the model says `with … from`.
    """
    derived = sorted(model.names & DERIVED.keys())
    scope = Scope({**base, **{it: algebra.value(DERIVED[it], base) for it in derived}}, {})
    at: dict[str, Scope[Value]] = {}
    for statement in model.statements:
        match statement:
            case Let(definitions):
                found = {name: algebra.value(it, scope.values) for name, it in definitions}
                scope = scope.bind(found, {name: (it, scope) for name, it in definitions})
            case LetRec(definitions):
                scope = scope.bind(algebra.least(definitions, scope.values), {})
            case Linearisation(name):
                scope = scope.bind({name: order(statement, scope.values)}, {})
            case Axiom(name):
                at[name] = scope
            case _:
                assert_never(statement)
    return Interpretation(at, scope)
