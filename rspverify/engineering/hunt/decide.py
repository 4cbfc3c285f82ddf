"""Decides programs of a survey under a scheme, in chunks that workers share and the cache keeps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from rspverify.check.answers import worth_keeping
from rspverify.check.bundle import Incident
from rspverify.check.cache import Question
from rspverify.check.decide import answer_to, incident
from rspverify.check.facts import facts_of_program, facts_of_scheme
from rspverify.check.settings import Settings
from rspverify.check.soundness import SourceSide
from rspverify.check.workers import spread
from rspverify.engineering.cases import Case
from rspverify.engineering.hunt.assumptions import gives_back, stores_again
from rspverify.enumeration.naming import line_of, named
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey, chunks, digest_of
from rspverify.litmus import Program
from rspverify.programs import Access, LitmusTest, litmus_text, notation, program_of
from rspverify.report import Internal
from rspverify.scheme import Scheme
from rspverify.scheme import Shape as RowShape
from rspverify.scheme.orders import Op
from rspverify.source import Source
from rspverify.verdict import Word

CHUNK = 64
"""So many programs are decided at a time, and their words are one entry of the cache."""


@dataclass(frozen=True)
class Words:
    """The words of a chunk of programs, in their order, and why those that are UNKNOWN are."""

    words: tuple[Word, ...]
    reasons: tuple[str, ...]
    internal: tuple[Internal, ...] = ()


class Deciding:
    """Decides what a survey has found, under one scheme after another."""

    def __init__(self, survey: Survey, settings: Settings, file: str = "") -> None:
        self.survey = survey
        self.settings = replace(settings, shortest=False, progress=False)
        self._file = file

    def needs_larger(self, scheme: Scheme) -> bool:
        """Whether programs must be decided that smaller ones stand for under most schemes."""
        return not gives_back(scheme)

    def words(
        self, programs: Sequence[bytes], scheme: Scheme
    ) -> Generator[tuple[Sequence[bytes], Words], None, None]:
        """Chunks of programs, in their order, with the words on them. Close it when done."""
        if stores_again(scheme) and not self.survey.space.again:
            raise AssertionError(f"{scheme.name} stores again, and filters do not allow for it")
        parts = chunks(programs, CHUNK)
        workers = self.survey.workers if len(parts) > 1 else 1
        self.survey.close()
        with closing(spread(self._work(scheme), parts, workers)) as coming:
            yield from zip(parts, coming, strict=False)
        self.survey.close()

    def _work(self, scheme: Scheme) -> Callable[[Sequence[bytes]], Words]:
        """What a worker does with a chunk."""
        code = facts_of_scheme(scheme).code

        def decide(programs: Sequence[bytes]) -> Words:
            shapes = [decoded(each) for each in programs]
            question = self._question(programs, shapes, scheme, code)
            cache = self.survey.opened()
            known = cache.answer(question, Words)
            if known is not None:
                return known
            found, keep = self._decided(shapes, scheme)
            if keep:
                cache.keep(question, found)
            return found

        return decide

    def _decided(self, shapes: Sequence[PackedTest], scheme: Scheme) -> tuple[Words, bool]:
        """The words, and whether they would be the same another time."""
        words: list[Word] = []
        reasons: list[str] = []
        internal: list[Internal] = []
        keep = True
        for shape in shapes:
            space, model = self.survey.space, self.survey.model
            program = program_named(shape, space)
            side = SourceSide(program, model, race_free=True)
            answer = answer_to(side, scheme, self.settings, self._incident(program.title))
            word = answer.verdict.word
            words.append(word)
            keep = keep and worth_keeping(answer, self.settings)
            if word in (Word.UNKNOWN, Word.UNSUPPORTED):
                reasons.append(f"{line_of(shape, space)}: {answer.verdict.reason}")
            if answer.internal is not None:
                internal.append(answer.internal)
        return Words(tuple(words), tuple(reasons), tuple(internal)), keep

    def incident_of_hunt(self) -> Incident:
        """What a report of an internal error says was asked, where it is no program."""
        bounds = self.survey.space.bounds
        words = [
            word
            for name, bound in bounds.items()
            for word in (f"--{name.replace('-', '')}", str(bound))
        ]
        options = ("--by", "formula", *words)
        files = (self._file,) if self._file else ()
        return Incident("hunt", (), files, self.settings, options)

    def _incident(self, title: str) -> Incident:
        return incident(title, self._file, self.settings)

    def _question(
        self,
        programs: Sequence[bytes],
        shapes: Sequence[PackedTest],
        scheme: Scheme,
        code: Mapping[str, tuple[str, ...]],
    ) -> Question:
        """Are these programs compiled soundly? Of the scheme only the rows that they use count."""
        space = self.survey.space
        used = {step.operation for it in shapes for own in it.threads for step in own.accesses}
        rows = []
        for number in sorted(used):
            named = str(row_shape(space.accesses[number]))
            rows.append((space.operations[number], *code.get(named, ("no row",))))
        chosen = replace(self.settings, machine=self.settings.machine or scheme.machine)
        content = (
            digest_of(programs),
            tuple(rows),
            self.survey.facts.digest,
            replace(chosen, seconds=None),
        )
        return Question("hunt", content)


def row_shape(access: Access) -> RowShape:
    """What a scheme looks at of an operation of a space."""
    return RowShape(Op(access.kind.value), access.scope, access.order, access.remote)


def title_of(test: LitmusTest) -> str:
    """The title of a test that is hunted, as those of our corpus."""
    return f"hunt+{test.name}"


def program_named(packed: PackedTest, space: Space) -> Program:
    """The program of a packed test, under the title that it has as a test."""
    test = named(packed, space)
    return program_of(test, title_of(test))


def case_of_shape(shape: PackedTest, space: Space, settings: Settings) -> Case:
    """A program of a space as a test, its program read from its text."""
    test = named(shape, space)
    title = title_of(test)
    comment = f"Found by `rspverify hunt`: {notation(test)}"
    source = Source(f"{title}.litmus", litmus_text(test, title, comment=comment))
    program = settings.read(source)
    return Case(source.name, source, program, facts_of_program(program))
