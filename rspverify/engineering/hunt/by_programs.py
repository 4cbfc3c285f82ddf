"""Program by program, in chunks that workers share and the cache keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.engineering.hunt.assumptions import alone_may_break, smaller_stand
from rspverify.engineering.hunt.operations import row_shape
from rspverify.engineering.hunt.strategy import Strategy, Watcher
from rspverify.enumeration.naming import line_of, named
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey, chunks, digest_of
from rspverify.judge.answers import worth_keeping
from rspverify.judge.facts import SchemeFacts, facts_of_scheme
from rspverify.judge.inputs import LoadedTest, read_test
from rspverify.judge.question import Question
from rspverify.judge.verdicts import decided, incident_of
from rspverify.litmus.program import Program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import notation
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.settings import Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import Source
from rspverify.verdict import Word

CHUNK = 64
"""So many programs are decided at a time, and their words are one entry of the cache."""

_UNDECIDED = (Word.UNKNOWN, Word.UNSUPPORTED, Word.ERROR)


class Words(Struct, frozen=True):
    """The words of a chunk of programs, in their order, and why those without a verdict have none.

    final: whether they would be the same in another run.
    """

    words: tuple[Word, ...]
    reasons: tuple[str, ...]
    internal: tuple[Internal, ...] = ()
    final: bool = True


@dataclass
class _Part:
    """Programs that were decided in a row, and under which of the schemes, by its number."""

    programs: Sequence[bytes]
    version: int


@dataclass(eq=False)
class ByPrograms(Strategy):
    """Decides each program that must be; after a finding it goes on with the stronger scheme.

    In the end programs are decided again whose rows have become stronger since.
    """

    _parts: list[_Part] = field(init=False, default_factory=list)
    _other: dict[bytes, Word] = field(init=False, default_factory=dict)
    _reasons: dict[bytes, str] = field(init=False, default_factory=dict)

    @property
    def words(self) -> Counter[Word]:
        """How many programs have each verdict, by the last that was found."""
        words = Counter(self._other.values())
        words[Word.SOUND] = self.done - sum(words.values())
        return +words

    @property
    def unknown(self) -> tuple[str, ...]:
        """The programs without a verdict, each with the reason."""
        undecided = (each for each, word in self._other.items() if word in _UNDECIDED)
        return tuple(self._reasons.get(each, "") for each in undecided)

    @property
    def done(self) -> int:
        """How many programs were decided."""
        return sum(len(part.programs) for part in self._parts)

    def broken(self) -> Generator[bytes, None, None]:
        """Programs that break the scheme as it is then, the smallest first, each packed."""
        for phase in self.survey.phases():
            larger = not smaller_stand(self.scheme)
            programs: Sequence[bytes] = phase.to_decide(self.survey.space, larger=larger)
            self.add(phase, len(programs))
            self.watcher.deciding(phase.events, phase.threads, len(programs))
            while programs:
                done, found = self._until_broken(programs)
                self._parts.append(_Part(programs[:done], len(self.schemes) - 1))
                programs = programs[done:]
                if found is not None:
                    self._parts.append(_Part([found], len(self.schemes) - 1))
                    yield found
                    self._parts.pop()
        while (outdated := self._outdated()) is not None:
            while outdated:
                done, found = self._until_broken(outdated)
                outdated = outdated[done:]
                if found is not None:
                    yield found
        self.complete = True

    def _until_broken(self, programs: Sequence[bytes]) -> tuple[int, bytes | None]:
        """How many programs there are before the first that is broken, and that one."""
        if alone_may_break(self.scheme) and not self.survey.space.again:
            raise AssertionError(f"{self.scheme.name} is not what the lemmas are proved for")
        of, done = _HuntedPrograms(self.survey, self.scheme, self.settings, self.file), 0
        parts = [ChunkQuestion(of, each) for each in chunks(programs, CHUNK)]
        coming = self.survey.judge.run(parts, here=len(parts) <= 1)
        with closing(coming):
            for chunk, found in zip((each.programs for each in parts), coming, strict=False):
                self.internal += found.internal
                reasons = iter(found.reasons)
                for program, word in zip(chunk, found.words, strict=True):
                    if word in _UNDECIDED:
                        self._reasons[program] = next(reasons)
                    if word is Word.SOUND:
                        self._other.pop(program, None)
                    else:
                        self._other[program] = word
                    if word is Word.UNSOUND:
                        self.watcher.decided(done % len(chunk))
                        return done, program
                    done += 1
                self.watcher.decided(len(chunk))
        return done, None

    def _outdated(self) -> Sequence[bytes] | None:
        """Programs of one part whose rows have become stronger since they were decided."""
        now = len(self.schemes) - 1
        for part in self._parts:
            if part.version < now:
                then, part.version = self.schemes[part.version], now
                if then.machine != self.scheme.machine:
                    return part.programs
                stronger = {
                    new.number
                    for old, new in zip(then.rows, self.scheme.rows, strict=True)
                    if old.code != new.code
                }
                return [each for each in part.programs if stronger & self._rows(each)]
        return None

    def _rows(self, program: bytes) -> set[int]:
        """The numbers of the rows that a program uses."""
        accesses, table = self.survey.space.accesses, self.scheme.table
        shapes = (row_shape(accesses[each]) for each in _operations(decoded(program)))
        return {table[each].number for each in shapes if each in table}


class _HuntedPrograms(Struct, frozen=True, dict=True):
    """What the chunks of programs under a scheme share. file: of the scheme."""

    survey: Survey
    scheme: Scheme
    settings: Settings
    file: str

    @cached_property
    def facts(self) -> SchemeFacts:
        """What answers depend on of the scheme."""
        return facts_of_scheme(self.scheme)


class ChunkQuestion(Question[Words], frozen=True):
    """Which verdicts has a chunk of programs?"""

    kind = "hunt"
    answer = Words

    of: _HuntedPrograms
    programs: Sequence[bytes]

    @property
    def name(self) -> str:
        """By its first program."""
        return line_of(decoded(self.programs[0]), self.of.survey.space)

    @property
    def content(self) -> tuple[Any, ...]:
        """Of the scheme only the rows that the programs use count."""
        it, space, facts = self.of, self.of.survey.space, self.of.facts
        chosen = replace(it.settings, machine=it.scheme.machine.identity, seconds=None)
        used = {number for each in self.programs for number in _operations(decoded(each))}
        rows = tuple(
            (space.operations[each], *facts.row_for(row_shape(space.accesses[each])))
            for each in sorted(used)
        )
        return digest_of(self.programs), rows, it.survey.facts.digest, chosen

    def worth_keeping(self, answer: Words) -> bool:
        return answer.final

    def decide(self) -> Words:
        it, space, model = self.of, self.of.survey.space, self.of.survey.model
        answers, reasons = [], []
        for test in map(decoded, self.programs):
            program = program_named(test, space)
            source = ModelSide(program, model, race_free=True)
            incident = incident_of(program.title, it.file, it.settings)
            answers.append(decided(source, it.scheme, it.settings, incident))
            if answers[-1].verdict.word in _UNDECIDED:
                reasons.append(f"{line_of(test, space)}: {answers[-1].verdict.reason}")
        return Words(
            tuple(each.verdict.word for each in answers),
            tuple(reasons),
            tuple(each.internal for each in answers if each.internal),
            all(worth_keeping(each, it.settings) for each in answers),
        )


class Broken(Struct, frozen=True):
    """What `first_broken` found.

    test: the smallest program that is UNSOUND, None if none is. decided: how many were decided.
    programs: how many there are, without a race, in the phases that were looked at. unknown: the
    programs, each with a reason, that could not be decided, of which nothing is said.
    """

    test: LoadedTest | None
    decided: int
    programs: int
    unknown: tuple[str, ...]


def first_broken(
    survey: Survey, scheme: Scheme, settings: Settings, watcher: Watcher | None = None
) -> Broken:
    """The smallest program of a survey's space that a scheme breaks.

    One survey serves any number of schemes: what it enumerates, it enumerates once.
    """
    strategy = ByPrograms(survey, scheme, settings, watcher or Watcher())
    with closing(strategy.broken()) as coming:
        found = next(coming, None)
    test = None if found is None else loaded_test(decoded(found), survey.space, strategy.settings)
    programs = sum(phase.programs for phase in strategy.phases)
    return Broken(test, strategy.done, programs, strategy.unknown)


def program_named(packed: PackedTest, space: Space) -> Program:
    """The program of a packed test, under the title that it has as a test of our corpus."""
    test = named(packed, space)
    return program_of(test, f"hunt+{test.name}")


def loaded_test(packed: PackedTest, space: Space, settings: Settings) -> LoadedTest:
    """A packed test as hunt writes it, its program read from its text."""
    test = named(packed, space)
    title, comment = f"hunt+{test.name}", f"Found by `rspverify hunt`: {notation(test)}"
    source = Source(f"{title}.litmus", litmus_text(test, title, comment=comment))
    return read_test(source, settings)


def _operations(test: PackedTest) -> set[int]:
    """The operations of a packed test, by their numbers in the space."""
    return {access.operation for thread in test.threads for access in thread.accesses}
