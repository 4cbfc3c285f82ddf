"""Which of two models allows more: of tests, and by the smallest programs that tell them apart.

Each direction is Thm. 1 with a model on either side. All programs of a space are asked: what the
enumeration leaves out elsewhere is proved for opencl-rsp alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from enum import StrEnum
from functools import partial
from typing import Any

from msgspec import Struct

from rspverify.answers import Internal, Observed
from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.convert import Bounds, Count
from rspverify.engineering.hunt.by_programs import CHUNK
from rspverify.engineering.hunt.strategy import loaded_test, program_named
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey, chunks, digest_of, no_races
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided, attempt, stem
from rspverify.litmus.program import Program
from rspverify.records import replace
from rspverify.soundness.check import verdict_of
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import Candidate, ModelSide
from rspverify.soundness.theorem import soundness
from rspverify.soundness.wording import observed
from rspverify.source import Given, name_of, read_source
from rspverify.verdict import ExecutionGraph, Race, Word


class Agreement(StrEnum):
    """What two models say of a test. UNDEFINED: under both."""

    SAME = "SAME"
    DIFFERENT = "DIFFERENT"
    UNDEFINED = "UNDEFINED"
    UNKNOWN = "UNKNOWN"
    UNSUPPORTED = "UNSUPPORTED"
    ERROR = "ERROR"


class ModelDifference(Struct, frozen=True):
    """What one model allows of a program, and another one does not.

    outcomes: all that only the first allows, ascending; of the first of them, axioms: a smallest
    set of the other model that forbids it, and graph: an execution that has it. race: why the
    program is undefined, where that is so under the first model alone; then there are no outcomes.
    """

    allows: str
    forbids: str
    reason: str
    outcomes: tuple[Observed, ...] = ()
    axioms: tuple[str, ...] = ()
    race: Race | None = None
    graph: ExecutionGraph | None = None


class ComparedTest(Struct, frozen=True):
    """A test under two models.

    within: the bounds that this depends on. reason: why there is no answer. program, text: of one
    that was searched for, in a line and as a litmus test.
    """

    test: str
    file: str
    answer: Agreement
    reason: str = ""
    within: Bounds = {}
    differences: tuple[ModelDifference, ...] = ()
    notes: tuple[str, ...] = ()
    program: str | None = None
    text: str | None = None
    internal: Internal | None = None


class SearchedPrograms(Struct, frozen=True):
    """The programs among which differences were looked for.

    within: the most that a program has. programs: how many were decided; unknown: those that could
    not be, each with the reason. complete: whether all others were, unless all kinds of differences
    were found before.
    """

    within: Bounds
    operations: tuple[str, ...]
    programs: Count = 0
    unknown: tuple[str, ...] = ()
    complete: bool = False


class ModelComparison(Struct, frozen=True):
    """All that is known of two models: tests, or if programs were searched, the smallest with each
    kind of difference."""

    first: str
    second: str
    tests: tuple[ComparedTest, ...]
    searched: SearchedPrograms | None = None
    stopped: str | None = None


class Words(Struct, frozen=True):
    """Of some programs, what the theorem says of the first model as the target of the second, and
    of the second as that of the first; and why those that were not decided were not."""

    words: tuple[tuple[Word, Word], ...]
    reasons: tuple[str, ...] = ()


Kind = tuple[str, bool]
"""The model that allows more, and whether the program is undefined under it."""


class ModelComparer(Struct, frozen=True):
    """Puts tests to two models."""

    models: tuple[MemoryModel, MemoryModel]
    settings: Settings
    judge: Judge

    def tests(self, files: Sequence[Given]) -> Generator[ComparedTest, None, None]:
        """What the models say of each test, in their order. Close it when done."""
        asked = [OfTest(self.models, self.settings, it) for it in files]
        yield from self.judge.run(asked, here=len(files) == 1)

    def search(
        self, space: Space, show: Callable[[SearchedPrograms], object] = lambda _: None
    ) -> Generator[ComparedTest, None, None]:
        """The smallest program with each kind of difference. Close it when done.

        show: told of what was searched so far.
        """
        names = (self.models[0].name, self.models[1].name)
        searched = SearchedPrograms(space.bounds, space.operations)
        missing: set[Kind] = {(name, racy) for name in names for racy in (False, True)}
        for phase in Survey(space, no_races(), self.judge).phases():
            programs = chunks(phase.to_decide(space, larger=False), CHUNK)
            asked = [OfPrograms(self.models, self.settings, space, it) for it in programs]
            with closing(self.judge.run(asked)) as coming:
                for chunk, found in zip(programs, coming, strict=True):
                    for program, words in zip(chunk, found.words, strict=True):
                        if new := _kinds(names, words) & missing:
                            missing -= new
                            yield self._found(decoded(program), space)
                    unknown = (*searched.unknown, *found.reasons)
                    many = searched.programs + len(chunk)
                    searched = replace(searched, programs=many, unknown=unknown)
                    show(searched)
                    if not missing:
                        break
            if not missing:
                break
        show(replace(searched, complete=True))

    def _found(self, packed: PackedTest, space: Space) -> ComparedTest:
        source = loaded_test(packed, space, self.settings).source
        found = self.judge.ask(OfTest(self.models, self.settings, source))
        return replace(found, program=line_of(packed, space), text=source.text)


def _kinds(names: tuple[str, str], words: tuple[Word, Word]) -> set[Kind]:
    """Which differences these are: the model is undefined that the other does not refine."""
    return {
        (name, other is Word.RACY)
        for name, word, other in zip(names, words, reversed(words), strict=True)
        if word is Word.UNSOUND
    }


class OfTest(Question[ComparedTest], frozen=True):
    """What do two models say of a test?"""

    kind = "compare models"

    models: tuple[MemoryModel, MemoryModel]
    settings: Settings
    given: Given

    @property
    def incident(self) -> Incident:
        return _incident(name_of(self.given), self.models, self.settings)

    def decide(self) -> ComparedTest:
        program = self.settings.read(read_source(self.given))
        for model in self.models:
            require_covered(program, model)
        first, second = sides(program, self.models, self.settings)
        both = (difference(second, first), difference(first, second))
        found = tuple(it for it in both if it is not None)
        answer = Agreement.DIFFERENT if found else Agreement.SAME
        if first.race() is not None and second.race() is not None:
            answer = Agreement.UNDEFINED
        return ComparedTest(
            program.title,
            name_of(self.given),
            answer,
            within=first.within,
            differences=found,
            notes=tuple(note for it in self.models for note in ignored_features(program, it)),
        )

    def lost(self, why: Undecided) -> ComparedTest:
        file, reason = name_of(self.given), "\n".join(map(str, why.problems)) or why.reason
        answer = Agreement(why.word.value)
        return ComparedTest(stem(file), file, answer, reason, internal=why.internal)


class OfPrograms(Question[Words], frozen=True):
    """What does the theorem say of each of some programs of a space, in both directions?"""

    kind = "compare programs"
    answer = Words

    models: tuple[MemoryModel, MemoryModel]
    settings: Settings
    space: Space
    programs: Sequence[bytes]

    @property
    def name(self) -> str:
        return line_of(decoded(self.programs[0]), self.space)

    @property
    def content(self) -> tuple[Any, ...]:
        models = tuple(it.text_digest for it in self.models)
        chosen = replace(self.settings, seconds=None)
        return digest_of(self.programs), self.space.operations, models, chosen

    def decide(self) -> Words:
        words: list[tuple[Word, Word]] = []
        reasons = []
        for each in map(decoded, self.programs):
            program = program_named(each, self.space)
            incident = _incident(program.title, self.models, self.settings)
            found = attempt(partial(self._of, program), incident)
            if isinstance(found, Undecided):
                reasons.append(f"{line_of(each, self.space)}: {found.reason}")
                found = (Word.UNKNOWN, Word.UNKNOWN)
            words.append(found)
        return Words(tuple(words), tuple(reasons))

    def worth_keeping(self, answer: Words) -> bool:
        return not answer.reasons

    def _of(self, program: Program) -> tuple[Word, Word]:
        first, second = sides(program, self.models, self.settings)
        return soundness(second, first).word, soundness(first, second).word


def _incident(file: str, models: tuple[MemoryModel, MemoryModel], settings: Settings) -> Incident:
    names = tuple(it.name for it in models)
    return Incident("compare", (file,), names, settings, ["--models"], ())


def sides(
    program: Program, models: tuple[MemoryModel, MemoryModel], settings: Settings
) -> tuple[ModelSide, ModelSide]:
    """A program under two models; if either needs the iterations of its spins, both have them."""
    first, second = models
    program, limits = awaited(awaited(program, first), second), settings.limits()
    return ModelSide(program, first, limits), ModelSide(program, second, limits)


def difference(source: ModelSide, target: ModelSide) -> ModelDifference | None:
    """What the target allows and the source does not. Raises LimitReached."""
    finding = soundness(source, target)
    if finding.word is not Word.UNSOUND:
        return None
    wrong = []
    if finding.race is None:
        found = (it.outcome for it in target.candidates(source))
        wrong = sorted(it for it in found if not source.allows(it))
        finding = replace(finding, candidate=Candidate(wrong[0]))
    verdict = verdict_of(finding, source, target)
    return ModelDifference(
        target.model.name,
        source.model.name,
        verdict.reason,
        tuple(observed(source.program, it) for it in wrong),
        verdict.axioms,
        verdict.race,
        verdict.graph,
    )
