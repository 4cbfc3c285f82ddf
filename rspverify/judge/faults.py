"""Which rows of a scheme are at fault where a test is UNSOUND: asked after the verdict, and apart.

Verdicts, and what is kept of them, do not depend on it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.answers import Result, RowAtFault, RowsAtFault
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import names_compiler, read_inputs
from rspverify.judge.work import Work, stem
from rspverify.limits import LOST
from rspverify.records import replace
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Source, read_source

if TYPE_CHECKING:
    from rspverify.axiomatic import MemoryModel
    from rspverify.judge.loaded_test import LoadedTest
    from rspverify.judge.verdicts import NamedScheme
    from rspverify.litmus import Program
    from rspverify.scheme import Row, Scheme


def faults(
    results: Sequence[Result],
    settings: Settings,
    judge: Judge,
    texts: Mapping[str, Source] | None = None,
) -> Generator[RowsAtFault, None, None]:
    """The fault of each of some UNSOUND results, in their order. Close it when done.

    By the events engine, whichever gave the verdict: rows that are made stronger take more steps
    and more states. The time limit of a verdict is that of a fault. texts: those that are no files,
    by the name that results have. Raises InputError.
    """
    asked = _Faults(results, settings, judge, texts or {})
    known: list[tuple[RowsAtFault | None]] = []
    tasks: list[_Task] = []
    for each in results:
        task = asked.task(each)
        fault = asked.known(task) if isinstance(task, _Task) else task
        known.append((fault,))
        tasks += [task] if isinstance(task, _Task) and fault is None else []
    if tasks:
        _ = asked.parsed
    work = Work("faults", asked.decided, lambda task: stem(task.result.file))
    yield from judge.completed(known, work, tasks, lambda _: [RowsAtFault((), LOST)])


def fault_here(
    test: LoadedTest, scheme: NamedScheme, model: MemoryModel, settings: Settings
) -> RowsAtFault:
    """The fault of one UNSOUND test, in this process; nothing is looked up, and nothing kept."""
    from rspverify.judge.attempt import Undecided, attempt
    from rspverify.judge.verdicts import incident_of

    settings = _exact(settings)
    incident = incident_of(test.file, scheme.file, settings)
    found = attempt(lambda: _blamed(test.program, scheme.scheme, model, settings), incident)
    return RowsAtFault((), found.reason) if isinstance(found, Undecided) else found


def _exact(settings: Settings) -> Settings:
    exact = replace(settings, engine=Engine.EVENTS, steps=None, progress=False, insist=False)
    return replace(exact, confirm=None, smt_dir=None, shortest=False)


def _blamed(
    program: Program, scheme: Scheme, model: MemoryModel, settings: Settings
) -> RowsAtFault:
    from rspverify.soundness.blame import blame
    from rspverify.soundness.case import Case

    case = Case(program, scheme, model, settings)
    found = blame(case, devices=program.devices, limits=case.limits)
    return RowsAtFault(tuple(map(row_at_fault, found.blamed)))


class _Task(Struct, frozen=True):
    """A result, and the text of its test."""

    result: Result
    source: Source


class _Faults:
    """The judge, asked about the schemes and the model of some results."""

    def __init__(
        self,
        results: Sequence[Result],
        settings: Settings,
        judge: Judge,
        texts: Mapping[str, Source],
    ) -> None:
        self._texts = texts
        self._settings = _exact(settings)
        files = list(dict.fromkeys(each.scheme_file for each in results))
        given = [texts.get(file, file) for file in files if not names_compiler(file)]
        self._inputs = read_inputs(given, self._settings, judge, unique=False)
        self._settings = self._inputs.settings
        self._judge = judge

    def task(self, result: Result) -> _Task | RowsAtFault:
        """What is to be asked of a result, or why there is nothing to ask."""
        if names_compiler(result.scheme_file):
            return RowsAtFault((), "a compiler has no rows")
        try:
            return _Task(result, read_source(self._texts.get(result.file, result.file)))
        except InputError as error:
            from rspverify.judge.attempt import refused

            return RowsAtFault((), refused(error).reason)

    def known(self, task: _Task) -> RowsAtFault | None:
        """The fault, if an earlier run kept it."""
        return self._judge.known(self._question(task))

    @cached_property
    def parsed(self) -> tuple[dict[str, Scheme], MemoryModel]:
        """The schemes by file, and the model: read before there are workers."""
        from rspverify.litmus import warm_up

        warm_up()
        schemes, model = self._inputs.parsed()
        return {each.file: each.table for each in schemes}, model

    def decided(self, task: _Task) -> Sequence[RowsAtFault]:
        """The fault, decided; what goes wrong meanwhile is why there is none."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.verdicts import incident_of

        incident = incident_of(task.result.file, task.result.scheme_file, self._settings)
        found = attempt(lambda: self._decide(task), incident)
        if isinstance(found, Undecided):
            return [RowsAtFault((), found.reason)]
        self._judge.keep(self._question(task), found)
        return [found]

    def _decide(self, task: _Task) -> RowsAtFault:
        schemes, model = self.parsed
        program = self._settings.read(task.source)
        return _blamed(program, schemes[task.result.scheme_file], model, self._settings)

    def _question(self, task: _Task) -> Question[RowsAtFault]:
        """Which rows are at fault? The places of rows count, so the whole text of the scheme."""
        inputs = self._inputs
        (text,) = (each for each in inputs.schemes if each.file == task.result.scheme_file)
        machine = text.facts.machine
        settings = replace(self._settings, model=inputs.model_facts.name, machine=machine)
        content = (
            digest(task.source.text),
            digest(text.source.text),
            inputs.model_facts.digest,
            replace(settings, seconds=None),
        )
        return Question("fault", content, RowsAtFault)


def row_at_fault(row: Row) -> RowAtFault:
    """A row, and where it stands."""
    it = row.span
    place = (it.line, it.column, it.end_line, it.end_column)
    return RowAtFault(row.number, str(row), tuple(map(str, row.code)), *place)
