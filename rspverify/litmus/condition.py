"""The final condition of a test: `exists`, `~exists` or `forall` over registers and locations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import assert_never

from rspverify.litmus.formula import Atom, Condition, Formula, Junction, Negation, Place
from rspverify.litmus.literal import stated
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import Claim, Denial, FinalCondition, FormulaText, Joint, Watched


class Claims:
    """What a test says of registers (by the name of their thread) and of locations.

    spelled: the name of a register that counts. addresses: as of `stated`. aliases: other names of
    locations, each with the location's own.
    """

    def __init__(
        self,
        registers: Mapping[str, Collection[str]],
        locations: Collection[str],
        problems: Problems,
        spelled: Callable[[str], str] = str,
        addresses: Mapping[str, int] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._registers, self._locations, self._aliases = registers, locations, aliases or {}
        self._owners = {name: thread for thread, own in registers.items() for name in own}
        self._problems, self._spelled, self._addresses = problems, spelled, addresses

    def condition(self, written: FinalCondition) -> Condition:
        """The final condition, with the problems of its parts noted."""
        return Condition(written.quantifier, self.formula(written.formula), written.span)

    def watched(self, written: Iterable[Watched]) -> tuple[tuple[int | None, str], ...]:
        """What `locations […]` names: registers by thread and name, locations by None and name."""
        return tuple((self._thread(each), self._name(each)) for each in written)

    def _name(self, it: Watched) -> str:
        text = it.name.text
        return self._aliases.get(text, text) if it.owner is None else self._spelled(text)

    def formula(self, written: FormulaText) -> Formula:
        """What a formula says, with the problems of its parts noted."""
        match written:
            case Denial(_, argument):
                return Negation(self.formula(argument))
            case Joint(_, conjunctive, arguments):
                return Junction(conjunctive, tuple(self.formula(each) for each in arguments))
            case Claim(equal=equal, value=value, other=other):
                if other is not None:
                    of: int | Place = (self._thread(other), self._name(other))
                else:
                    of = stated(value, self._problems, self._addresses)
                atom = Atom(self._thread(written), self._name(written), of)
                return atom if equal else Negation(atom)
            case _:
                assert_never(written)

    def _thread(self, claim: Watched) -> int | None:
        """The thread whose register is spoken of, or None for a location."""
        name = self._name(claim)
        if claim.owner is None:
            if name not in self._locations:
                self._no_location(claim)
            return None
        text = claim.owner.text
        thread = text if text.startswith("P") else f"P{text}"
        if thread not in self._registers:
            message = f"{quote(text)} must be a thread of the test, which has {self._count()}"
            self._problems.error(claim.owner.span, message)
            return None
        if name not in self._registers[thread]:
            hint = self._problems.suggestion(name, self._registers[thread])
            if name in self._locations:
                hint = f"write `{name}` for the location"
            word = quote(claim.name.text)
            message = f"{word} must be a register of {thread}, which has no such register"
            self._problems.error(claim.name.span, message, hint)
        return int(thread[1:])

    def _no_location(self, claim: Watched) -> None:
        name = claim.name.text
        hint = self._problems.suggestion(name, self._locations)
        if name in self._owners:
            owner = self._owners[name]
            hint = f"write `{owner[1:]}:{name}` for the register of {owner}"
        message = f"{quote(name)} must be a location of the test, or a register with its thread"
        self._problems.error(claim.name.span, message, hint)

    def _count(self) -> str:
        names = list(self._registers)
        return "none" if not names else "P0 only" if len(names) == 1 else f"P0 to {names[-1]}"
