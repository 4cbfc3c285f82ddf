"""What all bodies of a machine may name, and whose body one is."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from rspverify.architecture import syntax
from rspverify.architecture.architecture import CellKind, Kinds
from rspverify.architecture.problems import Problems
from rspverify.source import Span

MAX_PARTS = 10_000
"""How many conditions and effects a machine has, once its definitions are expanded."""

MAX_SPREAD = 20_000
"""How many these are where each is told for all that the variables around it stand for."""

PLACES = 3
"""How many places a variable is taken to stand for: so many show all that a machine is like."""

LOCATIONS = 2
"""How many locations of each kind of memory."""


class Budget:
    """How many conditions and effects there are so far, written and for all that they are for."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._spent = 0
        self._spread = 0

    def spend(self, span: Span, spread: int, owner: str) -> None:
        """Count one of an owner's. Raises InputError where there are too many.

        spread: for how many places and locations it is, each with each.
        """
        self._spent += 1
        self._spread += spread
        if self._spent > MAX_PARTS:
            message = f"a machine must have at most {MAX_PARTS:,} conditions and effects"
            hint = "definitions that use each other often stand for very many"
            self._problems.stop(span, message, hint)
        if self._spread > MAX_SPREAD:
            message = (
                f"{owner} must have fewer variables inside each other: for {PLACES} of each place "
                f"and {LOCATIONS} locations the machine has more than {MAX_SPREAD:,} conditions "
                "and effects"
            )
            self._problems.stop(span, message, "`each` in `each` multiplies them")


class Layout(Struct, frozen=True):
    """What all bodies of a machine may name.

    parts: of each part of the state, its cells by field; "" is the field of a part that is one
    cell. instructions: their names.
    """

    kinds: Kinds
    reaches: Mapping[str, str]
    spaces: tuple[str, ...]
    parts: Mapping[str, Mapping[str, CellKind]]
    definitions: Mapping[str, syntax.Definition]
    switches: frozenset[str]
    instructions: frozenset[str]
    problems: Problems
    budget: Budget

    @property
    def places(self) -> tuple[str, ...]:
        """The kinds of places, the innermost first."""
        return self.kinds.names

    def contains(self, outer: str, inner: str) -> bool:
        """Whether each place of a kind lies in one of another kind."""
        return self.kinds.contains(outer, inner)


class Owner(Struct, frozen=True):
    """Whose body it is.

    place: the kind of its own place. operands: those of an instruction, None in any other body.
    used: the operands that were seen in the body.
    """

    name: str
    place: str
    operands: str | None = None
    used: set[str] = field(default_factory=set)
