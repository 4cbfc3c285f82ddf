"""Loops, unrolled: one iteration after another, as far as they may go and as far as is asked for.

An iteration that is certain to come (the condition folds to a constant, and nothing can have left
the loop before) costs nothing of the bound. Where the bound is used up and the loop may still go
on, a Cut says when it does; such executions are left out, so what follows the loop needs no guard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rspverify.litmus.expressions import Evaluation
from rspverify.litmus.operations import FALSE, TRUE
from rspverify.litmus.program import Cut
from rspverify.litmus.registers import Way
from rspverify.litmus.tree import Jump, Loop, Statement
from rspverify.source import Span
from rspverify.value import Expression, binary

MAX_ITERATIONS, MAX_STATEMENTS = 1_000, 50_000
"""How many iterations all loops of a thread may have, and how many statements in them, each counted
as often as it is unrolled."""

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
    """Unrolls the loops of one thread; `statement` runs a statement under a guard."""

    def __init__(
        self,
        unroll: int,
        evaluation: Evaluation,
        statement: Callable[[Statement, Expression], Expression],
    ) -> None:
        self.cuts: list[Cut] = []
        self._unroll, self._evaluation, self._statement = unroll, evaluation, statement
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

    def _unrolled(self, loop: Loop, guard: Expression, here: _Round) -> None:
        going, count = guard, 0
        while True:
            if loop.tested_first or count:
                going = self._tested(loop, going, here)
            if going == FALSE:
                break
            if count >= self._unroll and going != guard:
                self.cuts.append(Cut(self._operations.thread, going, self._unroll, loop.span))
                here.exits.append((going, self._registers.since(here.depth)))
                break
            if self._iterations >= MAX_ITERATIONS or self._statements >= MAX_STATEMENTS:
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
