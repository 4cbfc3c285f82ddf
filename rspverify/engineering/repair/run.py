"""A repair from its inputs to its report, which there is at any time."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from rspverify.convert import counts
from rspverify.engineering.mutate import named, told
from rspverify.engineering.mutation import TestAndReason
from rspverify.engineering.repair import answer
from rspverify.engineering.repair.codes import Code, weaker
from rspverify.engineering.repair.constraints import Constraints, SearchSpace, space_of
from rspverify.engineering.repair.hunting import Hunt
from rspverify.engineering.repair.search import Search
from rspverify.engineering.repair.space import Chosen, Codes
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.engineering.setup import Setup, write_schemes
from rspverify.enumeration.lemmas import PROVED_FOR
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.limits import LimitReached
from rspverify.litmus.program import Scope
from rspverify.machine.reductions import freeing
from rspverify.proof.machines import is_base
from rspverify.proof.obligations import obligations
from rspverify.proof.programs import tests_of
from rspverify.proof.proof import ProofQuestion, loaded_test
from rspverify.proof.table import proof_table
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.scheme.row import AnyRow, OfOperations
from rspverify.scheme.writer import scheme_text
from rspverify.soundness.blame import blame
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Problem
from rspverify.translators import table_of
from rspverify.verdict import WRONG, ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.translators import Rows

_STATES = 50_000
"""Up to so many states the explicit engine looks at for a test of the sample, whoever shares which
place: about a second."""


OnStep = Callable[[int, int], None]
"""Told how it goes, in two numbers."""


def _unheard(number: int, other: int) -> None:
    """Nobody listens."""


class Wrong(Exception):
    """Two engines say different things of a scheme: a mistake of ours."""


class Repair:
    """The search for schemes near the first one of a setup.

    The second one, if there is one, is the reference. count: so many schemes of the least cost are
    wanted at most. sample: per row that changes, so many tests are put to `explicit`, too.
    hunt: what looks for other programs that break what passes every test.
    """

    def __init__(
        self,
        setup: Setup,
        constraints: Constraints,
        costs: Costs,
        *,
        count: int = 5,
        sample: int = 8,
        hunt: Hunt | None = None,
    ) -> None:
        self._setup, self._verdicts, self._costs = setup, setup.verdicts, costs
        self._scheme = setup.schemes[0].scheme
        machine = self._scheme.machine
        why = freeing(machine) if machine is not None else None
        if why is not None:
            message = f"repair must have a machine whose instructions only hold others up: {why}"
            raise InputError([Problem(None, message, "mutate and hunt take any machine")])
        self._count, self._sample = count, sample if machine is not None else 0
        self._hunt = hunt
        self._started = time.perf_counter()
        self._words: Counter[Word] = Counter()
        self._without: list[TestAndReason] = []
        self._explicit = setup.verdicts.by(
            replace(setup.verdicts.settings, engine=Engine.EXPLICIT, states=_STATES, steps=None)
        )
        self._asked: list[LoadedTest] = []
        self._caught: list[str] = []
        self._constraints = constraints
        self._found: list[Chosen] = []
        self._shown: dict[tuple[tuple[int, Code], ...], answer.SchemeFound] = {}
        self._finished = self._complete = False
        self._reference: answer.Reference | None = None
        self._stopped: str | None = None
        self._hunted: dict[tuple[tuple[int, Code], ...], answer.Hunted] = {}

    def prepare(self, on_test: OnStep = _unheard, on_step: OnStep = _unheard) -> None:
        """Decide what each test says of the scheme itself, and so which of them count.

        on_test: told how many are decided, and of how many. on_step: told of each candidate: how
        many there were, and the least cost. Raises InputError.
        """
        for place, test in enumerate(self._setup.tests):
            on_test(place, len(self._setup.tests))
            verdict = self._verdicts.answer(test, self._setup.schemes[0]).verdict
            self._words[verdict.word] += 1
            if verdict.word in (Word.SOUND, *WRONG, Word.VACUOUS):
                self._asked.append(test)
            else:
                reason = f"{verdict.word.value}: {verdict.reason}"
                self._without.append(told(test, reason))
        used = {row.number for test in self._asked for row in self._scheme.rows_used(test.program)}
        across = any(Scope.ALL in row.scopes for row in self._scheme.rows if row.number in used)
        devices = 1
        if across:
            devices = max(len({it.device for it in test.program.threads}) for test in self._asked)
        usual = self._constraints.rows is None and not self._constraints.every
        weak = self._at_fault() if usual else frozenset[int]()
        if self._constraints.set_aside:
            self._set_aside(used, weak, devices)
        self.space = self._new_space(used, weak, devices)
        if len(self.space.stays) == len(self._scheme.rows):
            message = f"{self._scheme.name} must have a row that may change and that a test uses"
            if self._without:
                message += f"; {len(self._without)} tests say nothing: {self._without[0].reason}"
            raise InputError([Problem(None, message)])
        self._trials = self._trials_of(self.space, self._asked)
        if self._hunt is not None and not self._constraints.set_aside:
            self._oblige()
        self.search = Search(self.space.rows, self._trials, self._further, on_step)

    def _oblige(self) -> None:
        """Hold candidates to the obligations of their proof.

        Only where a broken obligation is an execution of its test (docs/proof.md, Exactness), and
        where a row of it may change.
        """
        verdicts, machine, space = self._verdicts, self._scheme.machine, self.space.rows
        argued = machine is not None and is_base(machine)
        if verdicts.model.meaning_digest != PROVED_FOR or not argued:
            return
        table = proof_table(table_of(self._scheme))
        changing = {number for number, it in space.items() if not it.fixed}
        bare = {row.number for row in self._scheme.rows if len(row.code) == 1} - changing
        operations = tuple(it for it in table.operations if it.row.number in bare)
        staying = replace(table, operations=operations)
        for it in obligations(table):
            rows = {it.first.row.number, it.second.row.number}
            strong = it.first.as_strong and it.second.as_strong
            for test in islice(tests_of(it, table), int(strong and bool(rows & changing))):
                loaded = loaded_test(test, verdicts.settings)
                if {row.number for row in self._scheme.rows_used(loaded.program)} - rows <= bare:
                    self._trials.oblige(loaded, it, staying)

    def _new_space(self, used: set[int], weak: frozenset[int], devices: int) -> SearchSpace:
        """All candidates, as nothing is learnt yet."""
        return space_of(self._scheme, self._constraints, self._costs, used, weak, devices)

    def _trials_of(self, space: SearchSpace, tests: Sequence[LoadedTest]) -> Trials:
        trials = Trials(self._verdicts, self._scheme, space.pool)
        for test in tests:
            trials.add(test)
        return trials

    def _set_aside(self, used: set[int], weak: frozenset[int], devices: int) -> None:
        """Leave out each test that no candidate passes, be there no other test."""
        for test in list(self._asked):
            word = self._verdicts.word(test, self._setup.schemes[0])
            if word not in WRONG:
                continue
            space = self._new_space(used, weak, devices)
            trials = self._trials_of(space, [test])
            search = Search(space.rows, trials, lambda _: None, _unheard)
            if search.cheapest() is None and not search.undecided:
                self._asked.remove(test)
                reason = f"{word}: no candidate passes it, whatever the other tests ask for"
                self._without.append(told(test, reason))

    def _at_fault(self) -> frozenset[int]:
        """The rows that tests show to be too weak, each in turn made as strong as can be."""
        named_scheme, found = self._setup.schemes[0], set[int]()
        settings, model = self._verdicts.settings, self._verdicts.model
        for test in self._asked:
            if self._verdicts.word(test, named_scheme) not in WRONG:
                continue
            devices = len({thread.device for thread in test.program.threads})
            case = Case(test.program, named_scheme.scheme, model, settings)
            fault = blame(case, devices=devices)
            found |= {row.number for row in fault.blamed}
            named_scheme = NamedScheme.by(fault.mended, named_scheme.file)
        return frozenset(found)

    def _further(self, codes: Codes) -> Trial | None:
        """A test beside those given that breaks a scheme, found by hunting for it."""
        if self._hunt is None:
            return None
        found = self._hunt.of(self._trials.scheme_of(codes, self._scheme.name))
        if found is None:
            return None
        if isinstance(found, answer.Hunted):
            self._hunted[_key(codes)] = found
            return None
        self._caught.append(found.file)
        return self._trials.add(found)

    def run(self) -> None:
        """Search until all is found that is wanted. What is known meanwhile is in `report`."""
        if len(self._setup.schemes) > 1:
            self._reference = self._referred()
        try:
            self._search()
        except LimitReached as limit:
            self._stopped = str(limit)

    def _search(self) -> None:
        first = self.search.cheapest()
        if first is None:
            self._finished = self._complete = True
            return
        self._take(first)
        for chosen in self.search.nearest(first.cost):
            self._take(chosen)
            if len(self._found) > self._count:
                break
        else:
            self._complete = True
        self._found = self._found[: self._count]
        self._finished = True
        sample = self._sampled()
        for place, chosen in enumerate(self._found):
            self._shown[_key(chosen.codes)] = self._decided(place, sample)

    def _take(self, chosen: Chosen) -> None:
        """Keep a scheme, unless it is stronger than another; the nearest first."""
        others = [it for it in self._found if not self._stronger(it, chosen)]
        if not any(self._stronger(chosen, it) for it in others):
            others.append(chosen)
        self._found = sorted(others, key=lambda it: (it.distance, sorted(it.codes.items())))

    def _stronger(self, one: Chosen, other: Chosen) -> bool:
        return all(
            weaker(other.codes[row], code, self.space.pool) for row, code in one.codes.items()
        )

    # What stands beside what was found

    def _decided(self, place: int, sample: Sequence[Trial] = ()) -> answer.SchemeFound:
        """A scheme that was found, and what all tests say; a sample by the explicit engine, too."""
        chosen, scheme = self._found[place], self.scheme_of(place)
        named_scheme = NamedScheme.by(scheme)
        exact = beyond = 0
        for trial in sample:
            verdict = self._explicit.answer(trial.test, named_scheme).verdict
            if verdict.word not in (Word.SOUND, Word.UNKNOWN):
                raise Wrong(f"{trial.test.file}: SOUND by events, {verdict.word} by explicit")
            exact += verdict.word is Word.SOUND
            beyond += verdict.word is Word.UNKNOWN
        within: dict[str, int] = {}
        for trial in self._trials.every:
            verdict = self._verdicts.answer(trial.test, named_scheme).verdict
            if verdict.word is Word.UNKNOWN:
                raise LimitReached(f"{trial.test.file}, SOUND before: {verdict.reason}")
            if verdict.word is not Word.SOUND:
                raise Wrong(f"{trial.test.file}: SOUND, and then {verdict.word}")
            within |= verdict.within
        hunted, proof = self._hunted.get(_key(chosen.codes)), None
        if self._hunt is not None and hunted is None and scheme.machine is not None:
            proof = ProofQuestion(self._verdicts, named_scheme).decide()
        return answer.SchemeFound(
            name=scheme.name,
            cost=chosen.cost,
            rows=tuple(self._row_found(row, code) for row, code in sorted(chosen.codes.items())),
            tests=len(self._trials.every),
            within=within,
            explicit=exact,
            beyond_explicit=beyond,
            hunted=hunted,
            proof=proof,
        )

    def _sampled(self) -> list[Trial]:
        """For each row that changes, the smallest tests that use it."""
        found: dict[str, Trial] = {}
        for number, space in self.space.rows.items():
            using = [] if space.fixed else [it for it in self._trials.trials if number in it.rows]
            for trial in using[: self._sample]:
                found[trial.test.file] = trial
        return list(found.values())

    @property
    def tests(self) -> Mapping[str, LoadedTest]:
        """The tests that candidates are put to, those that hunt added among them, by file."""
        return {it.test.file: it.test for it in self._trials.every}

    def scheme_of(self, place: int) -> Rows:
        """A scheme that was found, by its place among them."""
        name = f"{self._scheme.name}-repaired-{place + 1}"
        return self._trials.scheme_of(self._found[place].codes, name)

    def written_to(self, folder: str, report: answer.RepairReport) -> answer.RepairReport:
        """The report once each scheme that was found is in a file called after it.

        Raises InputError.
        """
        texts: dict[str, str] = {}
        for place, found in enumerate(report.found):
            changed = ", ".join(str(row.row) for row in found.rows if row.changed) or "as they were"
            comment = f"{report.subject.file}, but rows {changed}; cost {found.cost}"
            texts[found.name] = scheme_text(self.scheme_of(place), comment, anywhere=True)
        paths = write_schemes(texts, folder)
        written = tuple(replace(each, written=paths[each.name]) for each in report.found)
        return replace(report, found=written)

    def _row_found(self, number: int, code: Code) -> answer.RowFound:
        space = self.space.rows[number]
        text = self.space.pool.text
        others = {it.codes[number]: None for it in self._found if it.codes[number] != code}
        reference = self._setup.schemes[1].scheme.rows if self._reference else ()
        same = (row for row in reference if _matched(row) == _matched(space.row))
        return answer.RowFound(
            row=number,
            operations=str(space.row),
            code=text(code),
            cost=self.space.pool.cost_of(code),
            given=self._costs.of(space.row.code),
            changed=code != space.given,
            reference=next((self._costs.of(row.code) for row in same), None),
            alternatives=tuple(text(other) for other in others),
        )

    def _referred(self) -> answer.Reference:
        named_scheme = self._setup.schemes[1]
        scheme = named_scheme.scheme
        fails: list[answer.FailedTest] = []
        for test in self._asked:
            verdict = self._verdicts.answer(test, named_scheme).verdict
            word: Word | ProgressWord = verdict.word
            if word is Word.SOUND:
                found = self._verdicts.progress(test, named_scheme, word)
                word = found.progress.word if found else ProgressWord.LIVE
            if word is not ProgressWord.LIVE:
                names = named(test)
                fails.append(answer.FailedTest(names.test, names.file, word.value))
        return answer.Reference(
            scheme.name,
            named_scheme.file,
            self._costs.of_rows(scheme.rows),
            tuple(fails),
            self._within(scheme),
        )

    def _within(self, scheme: Rows) -> bool:
        """Whether a scheme is a candidate: the same rows, each with a code that it may have."""
        rows = {_matched(row): row for row in scheme.rows}
        own = self.space.rows.values()
        alike = scheme.identity == self._scheme.identity
        if not alike or {_matched(it.row) for it in own} != set(rows):
            return False
        try:
            codes = [(it, self.space.pool.read(rows[_matched(it.row)].code)) for it in own]
        except (InputError, KeyError):
            return False
        return all(space.may_have(code) for space, code in codes)

    # The report

    def report(self) -> answer.RepairReport:
        """All that is known by now."""
        search, text = self.search, self.space.pool.text
        tests = {it.test.file: named(it.test) for it in self._trials.every}
        obliged = [it.test.file for it in self._trials.broken]
        setup = self._setup
        last = {} if self._finished else search.last
        return answer.RepairReport(
            subject=setup.subject,
            costs=self._costs.file,
            cost=self._costs.of_rows(self._scheme.rows),
            space=self._candidates(),
            tests=answer.TestsAsked(
                total=len(setup.tests) + len(setup.left_out),
                asked=len(self._trials.every),
                verdicts=counts(Word, self._words),
                without=tuple(self._without),
                left_out=setup.left_out,
                found=(*obliged, *self._caught),
            ),
            reference=self._reference,
            found=tuple(
                self._shown.get(_key(chosen.codes)) or self._decided(place)
                for place, chosen in enumerate(self._found[: self._count])
            ),
            claim=answer.Claim(
                least=search.chooser.least,
                exact=not search.undecided,
                complete=self._complete,
                finished=self._finished,
                stopped=self._stopped,
            ),
            hunting=self._hunt.bounds if self._hunt else None,
            effort=answer.Effort(
                candidates=search.candidates,
                nogoods=len(search.chooser.nogoods),
                verdicts=self._trials.asked,
                killers=tuple(
                    answer.Killer(tests[file].test, file, word, number)
                    for (file, word), number in search.killers.most_common()
                ),
                undecided=tuple(
                    answer.Undecided(file, "; ".join(f"row {row}" for row in part))
                    for file, part in search.undecided
                ),
                candidate=tuple(answer.RowTried(row, text(it)) for row, it in last.items()),
                passes=search.passes and not self._finished,
            ),
            internal=tuple(self._verdicts.internal),
            seconds=time.perf_counter() - self._started,
        )

    def _candidates(self) -> answer.Candidates:
        rows = tuple(
            answer.RowAsked(
                row=number,
                operations=str(space.row),
                code=tuple(map(str, space.row.code)),
                cost=self._costs.of(space.row.code),
                codes=space.size,
                tests=sum(number in trial.rows for trial in self._trials.trials),
                stays=self.space.stays.get(number),
            )
            for number, space in self.space.rows.items()
        )
        return answer.Candidates(rows, self.space.instructions, self.space.length)


def _matched(row: AnyRow) -> object:
    """What a row is for."""
    return row.shapes if isinstance(row, OfOperations) else str(row)


def _key(codes: Codes) -> tuple[tuple[int, Code], ...]:
    return tuple(sorted(codes.items()))


def settings_for(settings: Settings) -> Settings:
    """The settings of a search: a counterexample need not be a shortest one."""
    return replace(settings, shortest=False, progress=False)
