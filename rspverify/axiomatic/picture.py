"""Executions of a program under a model as pictures: which execution, and which edges of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

from rspverify.answers import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.axiomatic.arrows import arrows, usual
from rspverify.axiomatic.blame import Blame, blame
from rspverify.axiomatic.model import Axiom, Choice, Let, LetRec
from rspverify.axiomatic.question import Questions
from rspverify.axiomatic.realised import RealisedExecution
from rspverify.axiomatic.vocabulary import BASE_RELATIONS
from rspverify.litmus import Atom, Formula, Negation
from rspverify.relation import Name
from rspverify.smt import FALSE, Model, Solver, Term, all_of, any_of, choose
from rspverify.smt import Choice as Values
from rspverify.verdict import Outcome


@dataclass(frozen=True)
class Drawn:
    """A picture without words, and what they are about: the execution, and what is drawn bold.

    condition: the one that a race violates.
    """

    picture: Picture
    outcome: Outcome
    execution: RealisedExecution
    blames: tuple[Blame, ...] = ()
    condition: str = ""


class Pictures(Questions):
    """The executions of a program under a model. Every method raises LimitReached."""

    def consistent(self, formula: Formula | None, edges: Sequence[str] | None) -> Drawn | None:
        """A consistent execution whose final state satisfies a formula; None if there is none."""
        solver = self._solver(tuple(self._candidates.axioms.values()), reproducible=True)
        found = solver.find([] if formula is None else [self._holding(formula)])
        return None if found is None else self._drawn(found, edges)

    def every(self, edges: Sequence[str] | None, most: int) -> Iterator[Drawn]:
        """Every consistent execution, up to so many."""
        solver = self._solver(tuple(self._candidates.axioms.values()), reproducible=True)
        yield from islice((self._drawn(it, edges) for it in self._models(solver)), most)

    def racy(self, edges: Sequence[str] | None) -> Drawn | None:
        """A consistent execution with a race, whose two accesses are marked; None if none races."""
        if self.race() is None:
            return None
        candidates = self._candidates
        solver = self._solver(tuple(candidates.axioms.values()), reproducible=True)
        for name, pairs in candidates.racing.items():
            for (a, b), term in sorted(pairs.items()):
                found = solver.find([term])
                if found is not None:
                    drawn = self._drawn(found, edges)
                    picture = _with_race(drawn.picture, *self._racing(found, name, a, b))
                    return replace(drawn, picture=picture, condition=name)
        raise AssertionError("a faulty execution without a racing pair")

    def forbidden(self, formula: Formula, edges: Sequence[str] | None) -> Drawn | None:
        """A candidate execution that satisfies a formula and breaks as few axioms as any does.

        None if no candidate satisfies it at all. Of those that break one axiom, one that says so
        with the fewest edges. Raises ValueError if a consistent execution satisfies the formula.
        """
        axioms = self._candidates.axioms
        solver = self._solver((), reproducible=True)
        wanted = self._holding(formula)
        if solver.find([wanted, *axioms.values()]) is not None:
            raise ValueError("a consistent execution satisfies the formula")
        for size in range(1, len(axioms) + 1):
            found = []
            for broken in combinations(axioms, size):
                terms = [~term if name in broken else term for name, term in axioms.items()]
                model = solver.find([wanted, *terms])
                if model is not None:
                    found.append((model, self._blames(model, broken)))
            if found:
                model, blames = min(found, key=lambda each: len(each[1][0].edges))
                return self._drawn(model, edges, blames)
        return None

    def relations(self) -> frozenset[str]:
        """The names of the relations that can be drawn."""
        defined = [name for each in self._model.statements for name in _bound(each)]
        return frozenset({*BASE_RELATIONS, *(it for it in defined if self._model.defines(it))})

    def _models(self, solver: Solver) -> Iterator[Model]:
        """An assignment for each execution and each memory that it may leave."""
        memory = [term for choice in self._candidates.final.values() for term in choice.values()]
        telling = [*self._identifying(), *memory]
        while (found := solver.find()) is not None:
            yield found
            solver.add(~all_of(self._told(found, telling)))

    def _drawn(
        self, model: Model, edges: Sequence[str] | None, blames: tuple[Blame, ...] = ()
    ) -> Drawn:
        execution = self._realised(model)
        names = usual(self._model) if edges is None else edges
        bold = [edge for each in blames for edge in each.edges]
        columns = sorted(self._program.threads, key=lambda it: (it.device, it.workgroup, it.index))
        place = {thread.index: column for column, thread in enumerate(columns)}
        grouped = self._program.language == "OpenCL"
        blamed = {event for each in blames for event in each.involved}
        events = []
        for number, event in enumerate(execution.events):
            shown = self._shown(model, event.index)
            column = None if shown.thread is None else place[shown.thread]
            events.append(PlacedEvent(shown.access, column, shown.line, number in blamed))
        threads = tuple(
            PlacedThread(
                thread.name,
                thread.device if grouped else None,
                thread.workgroup if grouped else None,
            )
            for thread in columns
        )
        picture = Picture("", (), threads, tuple(events), arrows(execution, names, bold))
        return Drawn(picture, self._outcome(model), execution, blames)

    def _racing(self, model: Model, condition: str, a: int, b: int) -> tuple[str, int, int]:
        """The relation in which two events race, and the places of both."""
        execution = self._realised(model)
        (expression,) = [it.expression for it in self._model.conditions if it.name == condition]
        name = expression.name if isinstance(expression, Name) else condition
        first, second = sorted((execution.place(a), execution.place(b)))
        return name, first, second

    def _reads(self) -> dict[int, Values[int]]:
        """The value that each operation reads."""
        candidates = self._candidates
        return {
            event.operation.index: candidates.read[event.index]
            for event in candidates.events
            if event.operation is not None and event.reads
        }

    def _blames(self, model: Model, names: Sequence[str]) -> tuple[Blame, ...]:
        execution = self._realised(model)
        broken = [axiom for axiom in self._model.axioms if axiom.name in names]
        found = [blame(axiom, execution) for axiom in broken]
        assert all(found), "an axiom that is broken and holds"
        return tuple(each for each in found if each is not None)

    def _realised(self, model: Model) -> RealisedExecution:
        return RealisedExecution(self._candidates, model)

    def _holding(self, formula: Formula) -> Term:
        """That the final state satisfies a formula."""
        match formula:
            case Atom(None, name, value):
                return self._candidates.final[name].get(value, FALSE)
            case Atom(thread, name, value):
                assert thread is not None
                register = self._program.threads[thread].registers[name]
                return choose(register, self._reads()).get(value, FALSE)
            case Negation(argument):
                return ~self._holding(argument)
            case _:
                join = all_of if formula.conjunctive else any_of
                return join(self._holding(each) for each in formula.arguments)


def _bound(statement: Let | LetRec | Choice | Axiom) -> list[str]:
    match statement:
        case Let(definitions) | LetRec(definitions):
            return [name for name, _ in definitions]
        case Choice(name):
            return [name]
    return []


def _with_race(picture: Picture, name: str, a: int, b: int) -> Picture:
    """The picture with its two racing events marked, and an edge between them."""
    events = tuple(
        replace(event, marked=place in (a, b)) for place, event in enumerate(picture.events)
    )
    plain = tuple(each for each in picture.arrows if each.name != name)
    return replace(picture, events=events, arrows=(*plain, Arrow(name, a, b, True, True)))
