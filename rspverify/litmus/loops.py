"""Loops: read as their last iteration where they only spin (spins.py), and unrolled otherwise.

Unrolled, one iteration comes after another, as far as they may go and as far as is asked for. An
iteration that is certain to come (the condition folds to a constant, and nothing can have left
the loop before) costs nothing of the bound. Where the bound is used up and the loop may still go
on, a Cut says when it does; such executions are left out, so what follows the loop needs no guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field

from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.operations import FALSE, TRUE
from rspverify.litmus.program import Cut, Spin
from rspverify.litmus.registers import Way
from rspverify.litmus.spins import Iteration, is_what_follows, rmws_of
from rspverify.litmus.tree import Jump, Loop, Statement
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


@dataclass
class _Round:
    """A loop that is being unrolled: what lies below it, and who has left the iteration how."""

    depth: int
    exits: list[Way] = field(default_factory=list)
    continued: list[Way] = field(default_factory=list)


class Loops:
    """Runs the loops of one thread; `statement` runs a statement under a guard.

    no_spins: the loops that are unrolled although they may look like spins; None: all of them.
    """

    def __init__(
        self,
        unroll: int,
        no_spins: AbstractSet[Span] | None,
        evaluation: Evaluation,
        statement: Callable[[Statement, Expression], Expression],
    ) -> None:
        self.cuts: list[Cut] = []
        self.spins: list[Spin] = []
        self._unroll, self._evaluation, self._statement = unroll, evaluation, statement
        self._no_spins, self._tried, self._in_vain = no_spins, 0, 0
        self._registers, self._operations = evaluation.registers, evaluation.operations
        self._problems = evaluation.operations.problems
        self._rounds: list[_Round] = []
        self._iterations, self._statements = 0, 0

    @property
    def depth(self) -> int:
        """How many loops there are around."""
        return len(self._rounds)

    def count(self) -> None:
        """Count a statement, if it stands in a loop."""
        self._statements += bool(self._rounds)

    @contextmanager
    def anywhere(self) -> Iterator[None]:
        """Let jumps stand in what is not supported, such as `switch`."""
        self._rounds.append(_Round(self._registers.enter()))
        yield
        self._rounds.pop()
        self._registers.leave()

    def jump(self, jump: Jump, guard: Expression) -> Expression:
        """Leave the iteration where the guard holds; nothing that follows is executed."""
        if self.depth <= self._evaluation.frame.rounds:
            self._problems.error(jump.span, f"{jump.word} must stand in a loop, and here is none")
            return guard
        if guard != FALSE:
            around = self._rounds[-1]
            ways = around.exits if jump.word == "break" else around.continued
            ways.append((guard, self._registers.since(around.depth)))
        return FALSE

    def run(self, loop: Loop, guard: Expression) -> Expression:
        """Execute a loop where the guard holds; the guard of what follows it."""
        returned = self._returned
        for each in loop.start:
            self._statement(each, guard)
        here = _Round(self._registers.enter())
        self._rounds.append(here)
        self._evaluation.iteration.append(0)
        if not self._spins(loop, guard, here):
            self._unrolled(loop, guard, here)
        self._evaluation.iteration.pop()
        self._rounds.pop()
        self._registers.leave()
        if here.exits:
            self._join(loop.span, here.exits)
        if self._returned == returned:
            return guard
        return self._any(loop.span, here.exits) if here.exits else FALSE

    @property
    def _returned(self) -> int:
        """How many ways have left the text by `return`."""
        return len(self._evaluation.frame.returned)

    # ---- loops that only spin ------------------------------------------------------------------

    def _spins(self, loop: Loop, guard: Expression, here: _Round) -> bool:
        """Read a loop that only spins as one iteration; False, and nothing done, if it is none."""
        wanted = self._no_spins is not None and loop.span not in self._no_spins
        spent = self._tried == _MAX_TRIED or self._in_vain > _MAX_IN_VAIN or self._is_full
        if not wanted or guard == FALSE or spent:
            return False
        found, cuts, spins = self._operations.found, len(self.cuts), len(self.spins)
        before, counted = len(found), (self._iterations, self._statements)
        faults, returned = self._evaluation.memory.faults, self._evaluation.frame.returned
        faulty, left, calls = len(faults), len(returned), self._evaluation.calls
        self._tried += 1
        if loop.tested_first and self._surely_entered(loop, guard, here):
            loop = Loop(loop.span, (), loop.condition, loop.steps, loop.body, False)
        first = self._once(loop, guard, here)
        only_reads = first.going != FALSE and len(self.cuts) == cuts
        nested, counted_once = len(self.spins), (self._iterations, self._statements)
        if only_reads:
            middle, faulty_once, left_once = len(found), len(faults), len(returned)
            second = self._once(loop, guard, here)
            del found[middle:], faults[faulty_once:], returned[left_once:]
            self._registers.leave()
            only_reads = is_what_follows(second, first)
        self._registers.leave()
        self._rounds[-1] = here
        self._tried -= 1
        if only_reads:
            del self.spins[nested:]
            self._iterations, self._statements = counted_once
            here.exits += first.exits[: len(first.exits) - (left_once - left)]
            rmws = rmws_of(first.operations)
            spin = Spin(
                self._operations.thread,
                first.going,
                first.first,
                first.end,
                loop.span,
                rmws,
                tuple(first.faults),
            )
            self.spins.append(spin)
        else:
            del found[before:], self.cuts[cuts:], self.spins[spins:]
            del faults[faulty:], returned[left:]
            self._evaluation.calls = calls
            self._in_vain += 1 + self._statements - counted[1]
            self._iterations, self._statements = counted
        return only_reads

    def _surely_entered(self, loop: Loop, guard: Expression, here: _Round) -> bool:
        """Whether the first test is certain to hold, by what registers hold: it is no part then."""
        found, exits, faults = self._operations.found, here.exits, self._evaluation.memory.faults
        before, left, faulty = len(found), len(exits), len(faults)
        self._registers.enter()
        sure = self._tested(loop, guard, here) == guard and len(found) == before
        self._registers.leave()
        del found[before:], exits[left:], faults[faulty:]
        return sure

    def _once(self, loop: Loop, guard: Expression, here: _Round) -> Iteration:
        """Run one iteration, test included, in a layer of registers that stays entered."""
        start, spins = len(self._operations.found), len(self.spins)
        faults, returned = self._evaluation.memory.faults, self._evaluation.frame.returned
        faulty, left = len(faults), len(returned)
        self._registers.enter()
        here = _Round(here.depth)
        self._rounds[-1] = here
        self._iterations += 1
        self._evaluation.iteration[-1] = 1
        going = self._tested(loop, guard, here) if loop.tested_first else guard
        going = self._iteration(loop, going, here)
        if not loop.tested_first:
            going = self._tested(loop, going, here)
        operations = tuple(self._operations.found[start:])
        first = self._operations.first + start
        inner = [each.guard for each in self.spins[spins:]]
        registers = self._registers.since(here.depth)
        exits = [*here.exits, *returned[left:]]
        return Iteration(first, operations, going, exits, registers, inner, faults[faulty:])

    # ---- all others ----------------------------------------------------------------------------

    @property
    def _is_full(self) -> bool:
        return self._iterations >= MAX_ITERATIONS or self._statements >= MAX_STATEMENTS

    def _unrolled(self, loop: Loop, guard: Expression, here: _Round) -> None:
        going, count = guard, 0
        while True:
            if loop.tested_first or count:
                going = self._tested(loop, going, here)
            if going == FALSE:
                break
            if count >= self._unroll and going != guard:
                known = self._operations
                at = known.first + len(known.found)
                self.cuts.append(Cut(known.thread, going, self._unroll, loop.span, at))
                here.exits.append((going, self._registers.since(here.depth)))
                break
            if self._is_full:
                self._problems.unsupported(loop.span, _ENDLESS)
                break
            count += 1
            self._iterations += 1
            self._evaluation.iteration[-1] = count
            going = self._iteration(loop, going, here)
        if not count:  # What is never executed may still have problems.
            self._registers.enter()
            self._iteration(loop, FALSE, here)
            self._registers.leave()

    def _tested(self, loop: Loop, going: Expression, here: _Round) -> Expression:
        """The guard of going on, when those who do not have left."""
        span = loop.span
        condition: Expression = TRUE
        if loop.condition is not None:
            span = loop.condition.span
            condition = self._evaluation.value(loop.condition, going)
        out = self._operations.unless(span, going, condition)
        if out != FALSE:
            here.exits.append((out, self._registers.since(here.depth)))
        return self._operations.both(span, going, condition)

    def _iteration(self, loop: Loop, guard: Expression, here: _Round) -> Expression:
        """Run the body and the steps; the guard of those who come to their end."""
        exits = len(here.exits) + self._returned
        here.continued.clear()
        after = self._statement(loop.body, guard)
        if here.continued:
            ways = list(here.continued)
            if after != FALSE:
                ways.append((after, self._registers.since(here.depth)))
            self._join(loop.span, ways)
            left = len(here.exits) + self._returned
            after = guard if left == exits else self._any(loop.span, ways)
        for each in loop.steps:
            self._statement(each, after)
        return after

    def _any(self, span: Span, ways: list[Way]) -> Expression:
        (after, _), *others = ways
        for guard, _ in others:
            after = self._operations.bounded(span, binary("||", after, guard))
        return after

    def _join(self, span: Span, ways: list[Way]) -> None:
        self._registers.join(ways, lambda it: self._operations.bounded(span, it))
