"""The source program's side of the theorem: what the model says of its executions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice

from rspverify.axiomatic import MemoryModel, Questions, awaited
from rspverify.limits import Limits
from rspverify.litmus import Program
from rspverify.verdict import Outcome, Race

_FEW = 64
"""Up to so many allowed outcomes are listed before the machine is asked for any other."""


class SourceExecutions:
    """The consistent executions of a program, for all cases that differ in the scheme alone.

    race_free: whether it is known that the program has no race, so that this is not asked. Every
    method raises LimitReached.
    """

    def __init__(
        self,
        program: Program,
        model: MemoryModel,
        limits: Limits | None = None,
        *,
        race_free: bool = False,
    ) -> None:
        self.program = awaited(program, model)
        self.model = model
        self.race_free = race_free
        self._limits = limits or Limits()
        self._allowed: dict[Outcome, bool] = {}
        self._all_are_known = False

    def within(self, limits: Limits) -> SourceExecutions:
        """The same under these limits: where time is limited, each case has a clock of its own."""
        if limits.seconds is None:
            return self
        return SourceExecutions(self.program, self.model, limits, race_free=self.race_free)

    @cached_property
    def questions(self) -> Questions:
        """What the model is asked by, made ready when it is first needed."""
        return Questions(self.program, self.model, self._limits)

    def race(self) -> Race | None:
        """A race of some consistent execution, None if there is none."""
        return None if self.race_free else self.questions.race()

    def allows(self, outcome: Outcome) -> bool:
        """Whether some consistent execution has this outcome."""
        if outcome not in self._allowed:
            self._allowed[outcome] = not self._all_are_known and self.questions.allows(outcome)
        return self._allowed[outcome]

    def known_outcomes(self) -> Iterator[Outcome]:
        """Allowed outcomes: all of them if they are few, which saves asking for each."""
        if not self._all_are_known:
            found = list(islice(self.questions.outcomes(), _FEW + 1))
            self._all_are_known = len(found) <= _FEW
            self._allowed |= dict.fromkeys(found, True)
        return (outcome for outcome, allowed in self._allowed.items() if allowed)
