"""Loops: read as their last iteration where they only spin (spins.py), and unrolled otherwise.

Unrolled, one iteration comes after another, as far as they may go and as far as is asked for. An
iteration that is certain to come (the condition folds to a constant, and nothing can have left
the loop before) costs nothing of the bound. Where the bound is used up and the loop may still go
on, a Cut says when it does; such executions are left out, so what follows the loop needs no guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rspverify.litmus.calls import Calls
from rspverify.litmus.frames import Round, Way
from rspverify.litmus.operations import FALSE, TRUE
from rspverify.litmus.program import Cut, Kind, Spin
from rspverify.litmus.spins import Iteration, follows
from rspverify.litmus.tree import Jump, Loop
from rspverify.source import Span
from rspverify.value import Expression, binary

MAX_ITERATIONS, MAX_STATEMENTS = 1_000, 50_000
"""How many iterations all loops of a thread may have, and how many statements in them, each counted
as often as it is unrolled."""

_MAX_TRIED, _MAX_IN_VAIN = 2, 2_000
"""How many loops in one another are tried as spins, as each try runs an iteration twice; and after
how many statements that were run in vain no loop of the thread is tried any more."""

_ENDLESS = (
    f"a loop that has not ended when the loops of its thread had {MAX_ITERATIONS:,} iterations or"
    f" {MAX_STATEMENTS:,} statements is not supported"
)

Mark = tuple[Sequence[int], tuple[int, int, int]]
"""How much had been found when something was tried."""


class Loops(Calls):
    """Runs the loops of one thread."""

    _iterations = _statements = _tried = _in_vain = 0

    def count(self) -> None:
        """Count a statement, if it stands in a loop."""
        self._statements += bool(self.rounds)

    @contextmanager
    def anywhere(self) -> Iterator[None]:
        """Let jumps stand in what is not supported, such as `switch`."""
        self.rounds.append(Round(self.registers.enter()))
        yield
        self.rounds.pop()
        self.registers.leave()

    def jump(self, jump: Jump, guard: Expression) -> Expression:
        """Leave the iteration where the guard holds; nothing that follows is executed."""
        if len(self.rounds) <= self.frame.rounds:
            self.problems.error(jump.span, f"{jump.word} must stand in a loop, and here is none")
            return guard
        here = self.rounds[-1]
        self._leave(guard, here.exits if jump.word == "break" else here.continued)
        return FALSE

    def _leave(self, guard: Expression, ways: list[Way]) -> None:
        """Note that the iteration is left where a guard holds."""
        if guard != FALSE:
            ways.append((guard, self.registers.since(self.rounds[-1].depth)))

    def loop(self, loop: Loop, guard: Expression) -> Expression:
        """Execute a loop where the guard holds; the guard of what follows it."""
        returned = len(self.frame.returned)
        for each in loop.start:
            self.statement(each, guard)
        self.rounds.append(Round(self.registers.enter()))
        self.iteration.append(0)
        if not self._spins(loop, guard):
            self._unrolled(loop, guard)
        self.iteration.pop()
        exits = self.rounds.pop().exits
        self.registers.leave()
        if exits:
            self.join(loop.span, exits)
        if len(self.frame.returned) == returned:
            return guard
        return self._any(loop.span, exits) if exits else FALSE

    # ---- loops that only spin ------------------------------------------------------------------

    def _spins(self, loop: Loop, guard: Expression) -> bool:
        """Read a loop that only spins as one iteration; False, and nothing done, if it is none."""
        unrolled, spent = self.around.no_spins, self._is_full or self._in_vain > _MAX_IN_VAIN
        if guard == FALSE or spent or self._tried == _MAX_TRIED:
            return False
        if unrolled is None or loop.span in unrolled:
            return False
        start, statements, here = self._mark(), self._statements, self.rounds[-1]
        cuts = len(self.cuts)
        self._tried += 1
        if loop.tested_first and self._surely_entered(loop, guard):
            loop = Loop(loop.span, (), loop.condition, loop.steps, loop.body, False)
        first = self._once(loop, guard)
        exits, once = self.rounds[-1].exits, self._mark()
        only_spins = first.going != FALSE and len(self.cuts) == cuts
        if only_spins:
            only_spins = follows(self._once(loop, guard), first)
            self.registers.leave()
        self.registers.leave()
        self.rounds[-1] = here
        self._tried -= 1
        if not only_spins:
            self._in_vain += 1 + self._statements - statements
            self._rewind(start)
            return False
        self._rewind(once)
        here.exits += exits
        read = (it for it in first.operations if it.kind is Kind.RMW and it.success is None)
        rmws, faults = frozenset(it.index for it in read), tuple(first.faults)
        self.spins.append(
            Spin(self.thread, first.going, first.first, first.end, loop.span, rmws, faults)
        )
        return True

    def _mark(self) -> Mark:
        counted = (self._iterations, self._statements, self.calls)
        return [len(each) for each in self._trail], counted

    def _rewind(self, mark: Mark) -> None:
        """Forget what has been found since."""
        lengths, (self._iterations, self._statements, self.calls) = mark
        for each, length in zip(self._trail, lengths, strict=True):
            del each[length:]

    @property
    def _trail(self) -> Sequence[list[Any]]:
        return self.found, self.faults, self.cuts, self.spins, self.frame.returned

    def _surely_entered(self, loop: Loop, guard: Expression) -> bool:
        """Whether the first test is certain to hold, by what registers hold: it is no part then."""
        mark, here, first = self._mark(), self.rounds[-1], self.next
        self.rounds[-1] = Round(here.depth)
        self.registers.enter()
        sure = self._tested(loop, guard) == guard and self.next == first
        self.registers.leave()
        self.rounds[-1] = here
        self._rewind(mark)
        return sure

    def _once(self, loop: Loop, guard: Expression) -> Iteration:
        """Run one iteration, test included, in a layer of registers that stays entered."""
        first, (lengths, _) = self.next, self._mark()
        self.registers.enter()
        here = self.rounds[-1] = Round(self.rounds[-1].depth)
        self._iterations += 1
        self.iteration[-1] = 1
        going = self._tested(loop, guard) if loop.tested_first else guard
        going = self._iteration(loop, going)
        if not loop.tested_first:
            going = self._tested(loop, going)
        operations, faults, _, spins, returned = (
            each[length:] for each, length in zip(self._trail, lengths, strict=True)
        )
        return Iteration(
            first,
            operations,
            going,
            [*here.exits, *returned],
            self.registers.since(here.depth),
            [each.guard for each in spins],
            faults,
        )

    # ---- all others ----------------------------------------------------------------------------

    @property
    def _is_full(self) -> bool:
        return self._iterations >= MAX_ITERATIONS or self._statements >= MAX_STATEMENTS

    def _unrolled(self, loop: Loop, guard: Expression) -> None:
        going, count, most = guard, 0, self.around.unroll
        while True:
            if loop.tested_first or count:
                going = self._tested(loop, going)
            if going == FALSE:
                break
            if count >= most and going != guard:
                self.cuts.append(Cut(self.thread, going, most, loop.span, self.next))
                self._leave(going, self.rounds[-1].exits)
                break
            if self._is_full:
                self.problems.unsupported(loop.span, _ENDLESS)
                break
            count += 1
            self._iterations += 1
            self.iteration[-1] = count
            going = self._iteration(loop, going)
        if not count:  # What is never executed may still have problems.
            self.registers.enter()
            self._iteration(loop, FALSE)
            self.registers.leave()

    def _tested(self, loop: Loop, going: Expression) -> Expression:
        """The guard of going on, when those who do not have left."""
        span = loop.span
        condition: Expression = TRUE
        if loop.condition is not None:
            span, condition = loop.condition.span, self.value(loop.condition, going)
        self._leave(self.unless(span, going, condition), self.rounds[-1].exits)
        return self.both(span, going, condition)

    def _iteration(self, loop: Loop, guard: Expression) -> Expression:
        """Run the body and the steps; the guard of those who come to their end."""
        here, returned = self.rounds[-1], self.frame.returned
        left = len(here.exits) + len(returned)
        here.continued.clear()
        self.registers.enter()
        after = self.statement(loop.body, guard)
        ways = [*here.continued]
        if after != FALSE:
            ways.append((after, self.registers.since(here.depth)))
        self.registers.leave()  # Who continues has not what others assign later.
        self.join(loop.span, ways)
        if here.continued:
            none = len(here.exits) + len(returned) == left
            after = guard if none else self._any(loop.span, ways)
        for each in loop.steps:
            self.statement(each, after)
        return after

    def _any(self, span: Span, ways: Sequence[Way]) -> Expression:
        (after, _), *others = ways
        for guard, _ in others:
            after = self.bounded(span, binary("||", after, guard))
        return after
