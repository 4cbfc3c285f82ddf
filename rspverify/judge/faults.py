"""Which rows of a scheme are at fault where a test is UNSOUND: asked after the verdict, and apart.

Verdicts, and what is kept of them, do not depend on it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from rspverify.answers import RowAtFault, RowsAtFault
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided
from rspverify.records import replace
from rspverify.soundness.settings import Engine, Settings, explain_command
from rspverify.translators import names_compiler

if TYPE_CHECKING:
    from rspverify.judge.verdicts import Verdicts
    from rspverify.scheme.row import AnyRow

K = TypeVar("K", bound=Hashable)


class FaultQuestion(Question[RowsAtFault], frozen=True):
    """Which rows of a scheme are at fault that a test is UNSOUND?

    Asked is the engine events, whichever gave the verdict: stronger rows take more steps and more
    states. The time limit of a verdict is that of a fault.
    """

    kind = "fault"
    answer = RowsAtFault

    verdicts: Verdicts
    test: LoadedTest
    scheme: NamedScheme

    @property
    def content(self) -> tuple[Any, ...]:
        """The places of rows count, so the whole text of the scheme."""
        model, machine = self.verdicts.named, self.scheme.identity
        settings = replace(self.verdicts.settings, model=model.name, machine=machine, seconds=None)
        texts = self.test.source.digest, self.scheme.source.digest
        return *texts, model.digest, settings

    @property
    def incident(self) -> Incident:
        from rspverify.judge.verdicts import incident_of

        return incident_of(self.test.file, self.scheme.file, self.verdicts.settings)

    def known(self, judge: Judge) -> RowsAtFault | None:
        if names_compiler(self.scheme.file):
            settings = self.verdicts.settings
            why = explain_command(self.scheme.file, self.test.file, settings)
            return RowsAtFault((), f"to see why: {why}")
        return self.lost(self.test.unreadable) if self.test.unreadable else judge.kept(self)

    def decide(self) -> RowsAtFault:
        from rspverify.soundness.blame import blame
        from rspverify.soundness.case import Case

        program, verdicts = self.test.program, self.verdicts
        case = Case(program, self.scheme.scheme, verdicts.model, verdicts.settings)
        found = blame(case, devices=program.devices, limits=case.limits)
        blamed = tuple(map(row_at_fault, found.blamed))
        mends = [tuple(map(row_at_fault, each)) for each in found.mends]
        return RowsAtFault(blamed, others=tuple(each for each in mends if each != blamed))

    def lost(self, why: Undecided) -> RowsAtFault:
        return RowsAtFault((), why.reason)


def of_one_run(known: Mapping[K, RowsAtFault]) -> dict[K, RowsAtFault]:
    """The same: of rows each of which mends a test, those that mend the most tests of these."""
    mends = {key: [it.rows, *it.others] for key, it in known.items()}
    often = Counter(rows for those in mends.values() for rows in those)

    def chosen(key: K) -> RowsAtFault:
        rows = max(mends[key], key=lambda each: often[each])
        others = tuple(each for each in mends[key] if each != rows)
        return replace(known[key], rows=rows, others=others)

    return {key: chosen(key) for key in known}


def fault_of(test: LoadedTest, scheme: NamedScheme, verdicts: Verdicts) -> FaultQuestion:
    """The question about one UNSOUND test that was read."""
    return FaultQuestion(verdicts.by(_exact(verdicts.settings)), test, scheme)


def _exact(settings: Settings) -> Settings:
    exact = replace(settings, engine=Engine.EVENTS, steps=None, progress=False, allow_fallback=True)
    return replace(exact, confirm=None, smt_dir=None, shortest=False)


def row_at_fault(row: AnyRow) -> RowAtFault:
    """A row, and where it stands."""
    it = row.span
    place = (it.line, it.column, it.end_line, it.end_column)
    return RowAtFault(row.number, str(row), row.text, *place)
