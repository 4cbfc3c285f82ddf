"""How programs that break a scheme are found, and where a proof says that there are none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.engineering.hunt.finding import (
    By,
    Formulas,
    PhaseCounts,
    UsedRow,
)
from rspverify.engineering.hunt.operations import row_shape
from rspverify.enumeration.naming import named
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Counts, Phase, Survey
from rspverify.judge.inputs import LoadedTest, read_test
from rspverify.judge.question import Unseen
from rspverify.litmus.program import GLOBAL, LOCAL, Program
from rspverify.programs.assembly import assembly_text, in_assembly
from rspverify.programs.litmus_test import Access
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation
from rspverify.programs.writer import litmus_text
from rspverify.proof.covered import Proved, proved
from rspverify.records import replace
from rspverify.soundness.settings import Reading, Settings
from rspverify.source import Source
from rspverify.translators import Translator, is_scheme, table_of
from rspverify.verdict import Word
from rspverify.wording import counted


def programs_of(events: int, threads: int) -> str:
    """The programs of a phase, in words."""
    return f"programs of {counted(events, 'operation')} in {counted(threads, 'thread')}"


class Hunted(Struct, frozen=True, dict=True):
    """What all questions under a scheme share. file: of the scheme, for reports of our mistakes."""

    survey: Survey
    scheme: Translator
    settings: Settings
    file: str = ""

    @cached_property
    def content(self) -> tuple[object, ...]:
        """What every answer depends on: the model, and how it is decided."""
        machine = self.scheme.machine
        chosen = replace(self.settings, machine=machine.identity if machine else None, seconds=None)
        return self.survey.model.text_digest, chosen

    def rows(self, operations: Iterable[int]) -> tuple[object, ...]:
        """What answers depend on of the scheme: the rows of these operations of the space, in
        global memory, and in local memory where locations may be there."""
        space = self.survey.space
        memories = [False, True] if LOCAL in space.memories else [False]
        return tuple(
            (space.operations[each], *(self._row(space.accesses[each], it) for it in memories))
            for each in operations
        )

    def _row(self, access: Access, local: bool) -> object:
        return table_of(self.scheme).texts_of(row_shape(access, among_local=local, local=local))


@dataclass(eq=False)
class Strategy(ABC):
    """Goes through the programs of a survey's space. What is known can be asked for at any time.

    given: the scheme that is hunted. file: of the scheme, for reports of internal errors. schemes:
    the one that is hunted, and each that is stronger; whoever takes a broken program from `broken`
    adds one before taking the next. shown: told how far it is. phases: those that were listed.
    internal: internal errors that came instead of verdicts. complete: whether all programs were
    looked at. goes_on: whether it has more to find under the scheme as it is.
    """

    by: ClassVar[By]
    goes_on: ClassVar[bool] = False
    survey: Survey
    given: InitVar[Translator]
    settings: Settings
    shown: Any = field(default_factory=Unseen)
    file: str = ""
    schemes: list[Translator] = field(init=False)
    phases: list[PhaseCounts] = field(init=False, default_factory=list)
    internal: list[Internal] = field(init=False, default_factory=list)
    complete: bool = field(init=False, default=False)

    def __post_init__(self, given: Translator) -> None:
        self.schemes = [given]
        self.settings = replace(self.settings, shortest=False, progress=False)

    @property
    def scheme(self) -> Translator:
        """The scheme that programs are put to now."""
        return self.schemes[-1]

    @property
    def hunted(self) -> Hunted:
        """What the questions under this scheme share."""
        return Hunted(self.survey, self.scheme, self.settings, self.file)

    @abstractmethod
    def broken(self) -> Generator[bytes, None, None]:
        """Programs that break the scheme as it is then, the smallest first, each packed."""

    def first(self) -> LoadedTest | None:
        """The smallest program that breaks the scheme; None if none does."""
        with closing(self.broken()) as coming:
            found = next(coming, None)
        if found is None:
            return None
        return loaded_test(decoded(found), self.survey.space, self.settings)

    @property
    def uses(self) -> tuple[UsedRow, ...]:
        """The rows of the last program that was found, where these break a table together."""
        return ()

    @property
    def done(self) -> int:
        """How many questions were decided so far."""
        return 0

    @property
    def unknown(self) -> tuple[str, ...]:
        """The programs or formulas without an answer, each with the reason."""
        return ()

    @property
    def programs(self) -> int:
        """How many programs without a race were listed."""
        return sum(phase.programs for phase in self.phases)

    @property
    def words(self) -> Counter[Word]:
        """How many programs have each verdict of their own, by the last that was found."""
        return Counter()

    @property
    def formulas(self) -> Formulas | None:
        """What came of formulas, where there are any."""
        return None

    @property
    def counted(self) -> bool:
        """Whether all programs of the space are listed."""
        return self.complete

    def add(self, phase: Phase, to_decide: int, counts: Counts | None = None) -> None:
        """Note a phase that is listed, and how many of its programs must be decided; counts: where
        its own are of something else."""
        it = counts or phase.counts
        self.phases.append(
            PhaseCounts(
                events=phase.events,
                threads=phase.threads,
                programs=it.programs,
                alone=it.alone,
                larger=it.larger,
                guarded=it.guarded,
                to_decide=to_decide,
                racy=it.racy,
            )
        )


def program_named(packed: PackedTest, space: Space) -> Program:
    """The program of a packed test, under the title that it has as a test of our corpus."""
    test = named(packed, space)
    return program_of(test, f"hunt+{test.name}")


def loaded_test(packed: PackedTest, space: Space, settings: Settings) -> LoadedTest:
    """A packed test as hunt writes it, its program read from its text."""
    test = named(packed, space)
    title, comment = f"hunt+{test.name}", f"Found by `rspverify hunt`: {notation(test)}"
    write = assembly_text if in_assembly(test) else litmus_text
    source = Source(f"{title}.litmus", write(test, title, comment=comment))
    return read_test(source, settings, assembly=True)


def proof_of(survey: Survey, scheme: Translator, settings: Settings) -> Proved | None:
    """What proves a scheme for all programs of a space's operations; None if nothing does.

    Proofs are for opencl-rsp, one device, global memory, and locations that are accessed in one
    way: all atomically, or none.
    """
    space = survey.space
    if (space.devices, space.memories, space.mixed) != (1, (GLOBAL,), False):
        return None
    if not is_scheme(scheme) or not survey.argued or settings.reading is not Reading.OUTCOME:
        return None
    return proved(table_of(scheme), map(row_shape, space.accesses))


class ByProof(Strategy):
    """Finds nothing, as there is nothing to be found under a scheme that is proved."""

    by = By.PROOF

    def broken(self) -> Generator[bytes, None, None]:
        """None."""
        self.complete = True
        yield from ()

    @property
    def counted(self) -> bool:
        """No program is listed."""
        return False
