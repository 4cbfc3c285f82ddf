"""Questions to a memory model about one program: what it allows, whether it races, and why not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from rspverify.axiomatic.candidates import Candidates
from rspverify.axiomatic.labels import label
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.witness import Witness
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.relation import Sort
from rspverify.smt import FALSE, Model, Solver, Term, all_of, any_of
from rspverify.verdict import Event, Outcome, Race


class Questions:
    """A program under a model. Every method raises LimitReached where it cannot answer."""

    def __init__(self, program: Program, model: MemoryModel, limits: Limits) -> None:
        self._program = program
        self._model = model
        self._limits = limits
        self._race: tuple[Race | None] | None = None
        self._candidates = Candidates(program, model, limits)
        self._consistent = self._solver(tuple(self._candidates.axioms.values()))

    def race(self) -> Race | None:
        """A race of some consistent execution, or None if there is none."""
        if self._race is None:
            self._race = (self._find_race(),)
        return self._race[0]

    def _find_race(self) -> Race | None:
        candidates = self._candidates
        if self._consistent.find([self._faulty()]) is None:
            return None
        solver = self._solver(tuple(candidates.axioms.values()), reproducible=True)
        for name, pairs in candidates.racing.items():
            for (a, b), term in sorted(pairs.items()):
                found = solver.find([term])
                if found is not None:
                    return self._shown_race(found, name, a, b)
        raise AssertionError("a faulty execution without a racing pair")

    def violated(self) -> tuple[str, ...]:
        """The conditions that some consistent execution violates, by name."""
        if self.race() is None:
            return ()
        conditions = self._candidates.conditions
        return tuple(name for name, term in conditions.items() if self._consistent.find([~term]))

    def asked_race(self) -> list[Term]:
        """What holds together exactly in a consistent execution with a race."""
        return [*self._consistent.asserted, self._faulty()]

    def asked_outcome(self, outcome: Outcome) -> list[Term]:
        """What holds together exactly in a consistent execution with this outcome."""
        wanted = self._assumptions(outcome)
        return [*self._consistent.asserted, *([FALSE] if wanted is None else wanted)]

    def _faulty(self) -> Term:
        return any_of(~term for term in self._candidates.conditions.values())

    def allows(self, outcome: Outcome) -> bool:
        """Whether some consistent execution has this outcome."""
        wanted = self._assumptions(outcome)
        return wanted is not None and self._consistent.find(wanted) is not None

    def outcomes(self) -> Iterator[Outcome]:
        """Every outcome of a consistent execution, each once."""
        solver = self._solver(tuple(self._candidates.axioms.values()))
        for _ in range(self._limits.outcomes + 1):
            found = solver.find()
            if found is None:
                return
            outcome = self._outcome(found)
            yield outcome
            wanted = self._assumptions(outcome)
            assert wanted is not None, "an outcome that no candidate can have"
            solver.add(~all_of(wanted))
        raise LimitReached(f"more than {self._limits.outcomes} outcomes")

    def executions(self) -> Iterator[Witness]:
        """Every consistent execution, that is every (values, rf, mo), each once.

        Where plain writes race, with one of the final memories that it may leave.
        """
        yield from self._each(list(self._identifying()))

    def endings(self) -> Iterator[Witness]:
        """Every consistent execution with every final memory that it may leave, each pair once.

        That is one memory for each execution, but where plain writes race.
        """
        plain = [location.name for location in self._program.locations if not location.atomic]
        memory = [term for name in plain for term in self._candidates.final[name].values()]
        yield from self._each([*self._identifying(), *memory])

    def _each(self, telling: Sequence[Term]) -> Iterator[Witness]:
        """Consistent executions, one for each way to choose among these terms.

        Of terms that are alternatives exactly one holds, as soon as the same is executed.
        """
        solver = self._solver(tuple(self._candidates.axioms.values()))
        edges = {"rf": self._candidates.rf, "mo": self._candidates.coherence}
        while (found := solver.find()) is not None:
            chosen = {
                name: frozenset(pair for pair, term in relation.items() if found[term])
                for name, relation in edges.items()
            }
            yield Witness(self._outcome(found), chosen)
            solver.add(~all_of(self._told(found, telling)))

    def _told(self, found: Model, telling: Sequence[Term]) -> Iterator[Term]:
        """What tells an execution from others: of choices what is chosen, as the rest follows."""
        yield from (term for term in telling if found[term])
        yield from (~term for term in self._candidates.executed.values() if not found[term])

    def _identifying(self) -> Iterator[Term]:
        """The terms whose values tell two candidate executions apart."""
        candidates = self._candidates
        yield from candidates.rf.values()
        yield from candidates.coherence.values()
        yield from candidates.executed.values()
        for event, choice in candidates.read.items():
            yield from (candidates.executed[event] & term for term in choice.values())

    def forbidding_axioms(self, outcome: Outcome) -> tuple[str, ...]:
        """A smallest set of axioms that no candidate with this outcome satisfies together.

        Empty if there is no candidate with these values at all. Raises ValueError if it is allowed.
        """
        wanted = self._assumptions(outcome)
        if wanted is None:
            return ()
        axioms = self._candidates.axioms
        solver = self._solver(())
        for size in range(len(axioms) + 1):
            for names in combinations(axioms, size):
                if solver.find([*wanted, *(axioms[name] for name in names)]) is None:
                    return names
        raise ValueError("the outcome is allowed")

    def _solver(self, axioms: tuple[Term, ...], *, reproducible: bool = False) -> Solver:
        solver = Solver(self._limits, reproducible=reproducible)
        solver.add(*self._candidates.constraints, *axioms)
        return solver

    def _assumptions(self, outcome: Outcome) -> list[Term] | None:
        """What makes a candidate have an outcome; None if none can."""
        candidates = self._candidates
        values = dict(outcome.reads)
        wanted = []
        for event in candidates.events:
            if event.operation is None or not event.reads:
                continue
            executed = candidates.executed[event.index]
            if event.operation.index in values:
                value = values[event.operation.index]
                wanted += [executed, candidates.read[event.index].get(value, FALSE)]
            else:
                wanted.append(~executed)
        wanted += [candidates.final[name].get(value, FALSE) for name, value in outcome.memory]
        return None if FALSE in wanted else wanted

    def _outcome(self, model: Model) -> Outcome:
        candidates = self._candidates
        reads = [
            (event.operation.index, _value(model, candidates.read[event.index]))
            for event in candidates.events
            if event.operation is not None
            and event.reads
            and model[candidates.executed[event.index]]
        ]
        memory = [
            (location.name, _value(model, candidates.final[location.name]))
            for location in self._program.locations
        ]
        return Outcome(tuple(reads), tuple(memory))

    def _shown_race(self, model: Model, condition: str, a: int, b: int) -> Race:
        candidates = self._candidates
        executed = [it.index for it in candidates.events if model[candidates.executed[it.index]]]
        place = {index: order for order, index in enumerate(executed)}
        edges: dict[str, tuple[tuple[int, int], ...]] = {}
        relations = {"rf": candidates.rf, "mo": candidates.coherence}
        for name in ("sw", "gsw", "lsw", "hb", "ghb", "lhb"):
            synchronises = self._model.definition(name)
            if synchronises is not None and synchronises.sort is Sort.RELATION:
                relations[name] = candidates.relation(name)
        for name, relation in relations.items():
            edges[name] = tuple(
                (place[x], place[y]) for (x, y), term in sorted(relation.items()) if model[term]
            )
        shown = tuple(self._shown(model, index) for index in executed)
        first, second = sorted((place[a], place[b]))
        return Race(shown[first], shown[second], shown, edges, condition)

    def _shown(self, model: Model, index: int) -> Event:
        """An event as it is in one execution."""
        candidates = self._candidates
        event = candidates.events[index]
        writing = candidates.writing.get(index)
        if event.failed is not None and (writing is None or not model[writing]):
            event = event.failed
        read = _value(model, candidates.read[index]) if event.reads else None
        written = _value(model, candidates.written[index]) if event.writes else None
        it = event.operation
        name = "" if event.location is None else event.location.name
        thread, line = (None, None) if it is None else (it.thread, it.span.line)
        return Event(thread, line, label(event, read, written), name)


def _value(model: Model, choice: Mapping[int, Term]) -> int:
    return next(value for value, term in choice.items() if model[term])
