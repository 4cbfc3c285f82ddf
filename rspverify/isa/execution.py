"""One way through the code of a thread: registers, labels and branches, on all paths at once.

What is read is `Read(i)` for the i-th event; a register is an expression over these, or an address.
A branch goes forward: where it comes to, what is known on both paths is joined under their
conditions. A dialect says what its instructions do: by a table (`TableExecutor`), or by a `step` of
its own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from msgspec import Struct

from rspverify.isa.addresses import CannotReadError
from rspverify.isa.conditions import (
    Condition,
    both,
    negated,
)
from rspverify.isa.lines import Instruction, Jump, Label, Line
from rspverify.records import replace
from rspverify.source import InputError, Problem, Severity, Span
from rspverify.value import (
    Read,
)

LATE = "late"
"""The tag of a barrier, which no model can name, to which a thread comes when enough have met."""

BY_OPERANDS = "by operands"
"""The tag, which no model can name, of what an instruction does that no set has."""

CONTROL = "branches before it"
"""What depends on the reads on which the paths to a place have branched."""

UNKNOWN = Read(-1)
"""What a register has that nothing was written to."""

LOST = Read(-2)
"""What a register has that only an iteration of a loop before the last may have set."""


class Reserved(Struct, frozen=True):
    """The load that a store-exclusive is paired with, by its events, one for each way to it; none
    where paths differ."""

    events: tuple[tuple[int, Condition], ...]
    location: str


Depends = Mapping[int, Condition]
"""The reads on which something depends, and where."""


class State(Struct, frozen=True):
    """What is known at a place in the code.

    path: when it is reached. values: of registers. whence: the reads from which a register comes,
    whatever it was made of them, and `~i` of a read i that only decided between others on the way;
    and those on which the branches before depend, by `CONTROL`. A read that is executed on paths
    that do not depend on it has the condition of the others. reserved: the load-exclusive that
    comes last, with no store-exclusive behind it.
    """

    path: Condition
    values: Mapping[str, Any]
    whence: Mapping[str, Depends] = {}
    reserved: Reserved | None = None

    def depends(self, name: str) -> Depends:
        """On which reads a register, or `CONTROL`, depends, and where."""
        return self.whence.get(name, {})


S = TypeVar("S", bound=State)


class Executor(ABC, Generic[S]):
    """Follows the lines of a thread. state: None where no path comes to."""

    def __init__(self, start: S) -> None:
        self.state: S | None = start
        self.problems: list[Problem] = []
        self._targets: dict[str, list[S]] = {}
        self._branches: dict[str, Span] = {}
        self._at: Span | None = None
        self._passed: set[str] = set()

    @abstractmethod
    def step(self, together: Sequence[Instruction]) -> None:
        """What is issued at a time, where a path comes to it."""

    @abstractmethod
    def joined(self, one: S, other: S) -> S:
        """What is known where two paths meet."""

    def passes(self, label: Label) -> None:
        """What a label means besides, where a path comes to it."""

    def follow(self, lines: Iterable[Line]) -> None:
        """Follow lines to the last."""
        kept = [it for it in lines if isinstance(it, Instruction | Label | Jump)]
        for _, group in groupby(kept, key=lambda it: (it.span.line, isinstance(it, Label))):
            together = list(group)
            for label in (it for it in together if isinstance(it, Label)):
                self._come_to(label)
            instructions = [it for it in together if isinstance(it, Instruction)]
            if instructions and self.state is not None:
                self._at = instructions[0].span
                self.step(instructions)
            for jump in (it for it in together if isinstance(it, Jump)):
                self._jump(jump)
        for target in self._targets:
            message = f"a branch must go to a label of its thread, not to {target}"
            self.refuse(self._branches.get(target), message)

    def _jump(self, it: Jump) -> None:
        try:
            if self.state is not None:
                self.branch(it.target, True)
        except CannotReadError as error:
            self.refuse(it.span, f"the code cannot be read: it {error}")
            self.state = None

    def _come_to(self, label: Label) -> None:
        self._passed.add(label.name)
        for state in self._targets.pop(label.name, []):
            self.state = state if self.state is None else self.joined(self.state, state)
        if self.state is not None:
            self.passes(label)

    def branch(self, target: str, taken: Condition) -> None:
        """Go on in both directions, as far as each can be taken. Raises CannotReadError."""
        assert self.state is not None
        before = self.state
        there, on = both(before.path, taken), both(before.path, negated(taken))
        if there is not False:
            if target in self._passed:
                before = self.goes_back(target, there, before)
            else:
                self._targets.setdefault(target, []).append(replace(before, path=there))
                if self._at is not None:
                    self._branches.setdefault(target, self._at)
        self.state = replace(before, path=on) if on is not False else None

    def goes_back(self, target: str, there: Condition, before: S) -> S:
        """Go back to a label that was passed, on a path: what is then known where it goes on.

        Raises CannotReadError.
        """
        raise CannotReadError(f"goes back to {target}, and loops are not read")

    def refuse(self, span: Span | None, message: str) -> None:
        """Note what cannot be read."""
        self.problems.append(Problem(span, message, severity=Severity.UNSUPPORTED))

    def require(self) -> None:
        """Raises InputError with all that cannot be read."""
        if self.problems:
            raise InputError(self.problems)
