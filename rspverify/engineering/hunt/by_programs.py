"""Program by program, in chunks that workers share and the cache keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.engineering.hunt.assumptions import alone_may_break, smaller_stand
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.operations import row_shape
from rspverify.engineering.hunt.strategy import Hunted, Strategy, program_named, programs_of
from rspverify.enumeration.lemmas import in_turn
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.survey import chunks, digest_of
from rspverify.judge.question import Question
from rspverify.judge.verdicts import decided, incident_of, worth_keeping
from rspverify.litmus.program import Program
from rspverify.soundness.sides import ModelSide
from rspverify.source import InputError, in_one_line
from rspverify.translators import has_rows, is_scheme, rows_in
from rspverify.verdict import WRONG, Word

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


@dataclass(eq=False)
class ByPrograms(Strategy):
    """Decides each program that must be; after a finding it goes on with the stronger scheme.

    In the end programs are decided again whose rows have become stronger since.
    """

    by = By.PROGRAMS

    _decided: dict[bytes, int] = field(init=False, default_factory=dict)
    """Under which of the schemes a program was decided, by its number."""
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
        return len(self._decided)

    def broken(self) -> Generator[bytes, None, None]:
        """Programs that break the scheme as it is then, the smallest first, each packed.

        Of a compiler those are first that may do more than what happens in turn, be they larger:
        they are few, and most of what is wrong is wrong in them.
        """
        tables, turns = self.survey.tables, (False, True) if self.scheme.whole else (None,)
        for turn in turns:
            for phase in self.survey.phases():
                programs = phase.to_decide(self.survey.space, larger=not smaller_stand(self.scheme))
                if not turn:
                    self.add(phase, len(programs))
                if turn is not None:
                    programs = tuple(it for it in programs if in_turn(decoded(it), tables) is turn)
                within = programs_of(phase.events, phase.threads)
                self.shown.count(f"deciding {within}", len(programs))
                yield from self._broken(programs)
        while outdated := self._outdated():
            yield from self._broken(outdated)
        self.complete = True

    def _broken(self, programs: Sequence[bytes]) -> Generator[bytes, None, None]:
        """Those of some programs that break the scheme as it is then."""
        while programs:
            done = self._until_broken(programs)
            programs = programs[done:]
            if programs:
                yield programs[0]

    def _until_broken(self, programs: Sequence[bytes]) -> int:
        """How many programs there are before the first that is broken."""
        if alone_may_break(self.scheme) and not self.survey.space.again:
            raise AssertionError(f"{self.scheme.name} is not what the lemmas are proved for")
        version, hunted, done = len(self.schemes) - 1, self.hunted, 0
        parts = [ChunkQuestion(hunted, each) for each in chunks(programs, CHUNK)]
        with closing(self.survey.judge.run(parts, here=len(parts) <= 1)) as coming:
            for part, found in zip(parts, coming, strict=False):
                self.internal += found.internal
                reasons = iter(found.reasons)
                for program, word in zip(part.programs, found.words, strict=True):
                    self._decided[program] = version
                    if word in _UNDECIDED:
                        self._reasons[program] = next(reasons)
                    if word is Word.SOUND:
                        self._other.pop(program, None)
                    else:
                        self._other[program] = word
                    if word in WRONG:
                        self.shown.advance(done % len(part.programs))
                        return done
                    done += 1
                self.shown.advance(len(part.programs))
        return done

    def _outdated(self) -> list[bytes]:
        """The programs whose rows have become stronger since they were decided."""
        if not has_rows(self.scheme):
            return []  # Nothing of a compiler is made stronger.
        stronger = [set(self._stronger_since(version)) for version in range(len(self.schemes))]
        decided = ((it, stronger[version]) for it, version in self._decided.items())
        return [it for it, rows in decided if rows and rows & self._rows(it)]

    def _stronger_since(self, version: int) -> Iterable[int]:
        """The numbers of the rows that are stronger now; all, if the machine is another one."""
        then, now = rows_in(self.schemes[version]), rows_in(self.scheme)
        for old, new in zip(then.rows, now.rows, strict=True):
            if old.code != new.code or then.machine != now.machine:
                yield new.number

    def _rows(self, program: bytes) -> set[int]:
        """The numbers of the rows that a program uses."""
        accesses, table = self.survey.space.accesses, rows_in(self.scheme)
        rows = (table.row_of(row_shape(accesses[each])) for each in decoded(program).operations)
        return {row.number for row in rows if row is not None}


class ChunkQuestion(Question[Words], frozen=True, dict=True):
    """Which verdicts has a chunk of programs?"""

    kind = "hunt"
    answer = Words

    of: Hunted
    programs: Sequence[bytes]

    @property
    def name(self) -> str:
        """By its first program."""
        return line_of(decoded(self.programs[0]), self.of.survey.space)

    @property
    def content(self) -> tuple[Any, ...]:
        """Of the scheme only the rows that the programs use count, of a compiler what it emits."""
        if not is_scheme(self.of.scheme):
            made = tuple(map(self._made, self._programs))
            return digest_of(self.programs), made, *self.of.content
        used = sorted({number for each in self.programs for number in decoded(each).operations})
        return digest_of(self.programs), self.of.rows(used), *self.of.content

    def worth_keeping(self, answer: Words) -> bool:
        return answer.final

    @cached_property
    def _programs(self) -> list[Program]:
        """The programs, which a compiler compiles together."""
        programs = [program_named(decoded(it), self.of.survey.space) for it in self.programs]
        self.of.scheme.prepare(programs)
        return programs

    def _made(self, program: Program) -> tuple[object, ...]:
        """What becomes of a program."""
        try:
            return self.of.scheme.key(program)
        except InputError as error:
            return (in_one_line(error.problems),)

    def decide(self) -> Words:
        it, space, model = self.of, self.of.survey.space, self.of.survey.model
        answers, reasons = [], []
        for packed, program in zip(self.programs, self._programs, strict=True):
            test = decoded(packed)
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
