"""Which rows of a scheme are at fault where a test is UNSOUND: asked after the verdict, and apart.

Verdicts, and what is kept of them, do not depend on it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from rspverify.answers import Fault, Result, RowAtFault
from rspverify.judge.cache import Question, digest
from rspverify.judge.judge import Judge
from rspverify.judge.reading import read_inputs
from rspverify.limits import LOST
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, read_source

if TYPE_CHECKING:
    from rspverify.axiomatic import MemoryModel
    from rspverify.scheme import Row, Scheme


def faults(
    results: Sequence[Result], settings: Settings, judge: Judge
) -> Generator[Fault, None, None]:
    """The fault of each of some UNSOUND results, in their order. Close it when done.

    By the events engine, whichever gave the verdict: rows that are made stronger take more steps
    and more states. The time limit of a verdict is that of a fault. Raises InputError.
    """
    asked = _Faults(results, settings, judge)
    known = [(asked.known(each),) for each in results]
    tasks = [each for each, (fault,) in zip(results, known, strict=True) if fault is None]
    if tasks:
        _ = asked.parsed
    yield from judge.completed(known, asked.decided, tasks, lambda _: [Fault((), LOST)])


class _Faults:
    """The judge, asked about the schemes and the model of some results."""

    def __init__(self, results: Sequence[Result], settings: Settings, judge: Judge) -> None:
        exact = replace(settings, engine=Engine.EVENTS, steps=None, progress=False)
        self._settings = replace(exact, confirm=None, smt_dir=None, shortest=False)
        files = list(dict.fromkeys(each.scheme_file for each in results))
        self._inputs = read_inputs(files, self._settings, judge, unique=False)
        self._judge = judge

    def known(self, result: Result) -> Fault | None:
        """The fault, if an earlier run kept it."""
        try:
            return self._judge.known(self._question(result))
        except InputError:
            return None

    @cached_property
    def parsed(self) -> tuple[dict[str, Scheme], MemoryModel]:
        """The schemes by file, and the model: read before workers are forked."""
        from rspverify.litmus import warm_up

        warm_up()
        schemes, model = self._inputs.parsed()
        return {each.file: each.scheme for each in schemes}, model

    def decided(self, result: Result) -> list[Fault]:
        """The fault, decided; what goes wrong meanwhile is why there is none."""
        from rspverify.judge.attempt import Undecided, attempt
        from rspverify.judge.verdicts import incident_of

        incident = incident_of(result.file, result.scheme_file, self._settings)
        found = attempt(lambda: self._decide(result), incident)
        if isinstance(found, Undecided):
            return [Fault((), found.reason)]
        self._judge.keep(self._question(result), found)
        return [found]

    def _decide(self, result: Result) -> Fault:
        from rspverify.soundness.blame import blame
        from rspverify.soundness.case import Case

        schemes, model = self.parsed
        program = self._settings.read(read_source(result.file))
        case = Case(program, schemes[result.scheme_file], model, self._settings)
        found = blame(case, devices=program.devices, limits=case.limits)
        return Fault(tuple(map(row_at_fault, found.blamed)))

    def _question(self, result: Result) -> Question[Fault]:
        """Which rows are at fault? The places of rows count, so the whole text of the scheme."""
        inputs = self._inputs
        (text,) = (each for each in inputs.schemes if each.file == result.scheme_file)
        machine = self._settings.machine or text.facts.machine
        settings = replace(self._settings, model=inputs.model_facts.name, machine=machine)
        content = (
            digest(read_source(result.file).text),
            digest(text.source.text),
            inputs.model_facts.digest,
            replace(settings, seconds=None),
        )
        return Question("fault", content, Fault)


def row_at_fault(row: Row) -> RowAtFault:
    """A row, and where it stands."""
    it = row.span
    place = (it.line, it.column, it.end_line, it.end_column)
    return RowAtFault(row.number, str(row), tuple(map(str, row.code)), *place)
