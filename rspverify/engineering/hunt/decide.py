"""Decides programs of a survey under a scheme, in chunks that workers share and the cache keeps."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from rspverify.answers import Internal
from rspverify.engineering.hunt.assumptions import gives_back, stores_again
from rspverify.enumeration.naming import line_of, named
from rspverify.enumeration.packed import PackedTest, decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey, chunks, digest_of
from rspverify.judge.answers import worth_keeping
from rspverify.judge.cache import Question
from rspverify.judge.facts import facts_of_scheme
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge
from rspverify.judge.loaded_test import LoadedTest, read_test
from rspverify.judge.verdicts import decided, incident_of
from rspverify.litmus import Program
from rspverify.programs import Access, LitmusTest, litmus_text, notation, program_of
from rspverify.scheme import Scheme
from rspverify.scheme import Shape as RowShape
from rspverify.scheme.orders import Op
from rspverify.soundness.settings import Settings
from rspverify.soundness.source import SourceExecutions
from rspverify.source import Source
from rspverify.verdict import Word

CHUNK = 64
"""So many programs are decided at a time, and their words are one entry of the cache."""


@dataclass(frozen=True)
class Words:
    """The words of a chunk of programs, in their order, and why those that are UNKNOWN are.

    final: whether they would be the same in another run.
    """

    words: tuple[Word, ...]
    reasons: tuple[str, ...]
    internal: tuple[Internal, ...] = ()
    final: bool = True


class Deciding:
    """Decides what a survey has found, under one scheme after another."""

    def __init__(self, survey: Survey, settings: Settings, file: str = "") -> None:
        self.survey = survey
        self.settings = replace(settings, shortest=False, progress=False)
        self._file = file

    @property
    def judge(self) -> Judge:
        """Who is asked."""
        return self.survey.judge

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
        workers = None if len(parts) > 1 else 1
        with closing(self.judge.each(self._work(scheme), parts, workers=workers)) as coming:
            yield from zip(parts, coming, strict=False)

    def _work(self, scheme: Scheme) -> Callable[[Sequence[bytes]], Words]:
        """What a worker does with a chunk."""
        code = facts_of_scheme(scheme).code

        def decide(programs: Sequence[bytes]) -> Words:
            shapes = [decoded(each) for each in programs]
            question = self._question(programs, shapes, scheme, code)
            decided_now = partial(self._decided, shapes, scheme)
            return self.judge.ask(question, decided_now, lambda found: found.final)

        return decide

    def _decided(self, shapes: Sequence[PackedTest], scheme: Scheme) -> Words:
        words: list[Word] = []
        reasons: list[str] = []
        internal: list[Internal] = []
        final = True
        for shape in shapes:
            space, model = self.survey.space, self.survey.model
            program = program_named(shape, space)
            side = SourceExecutions(program, model, race_free=True)
            answer = decided(side, scheme, self.settings, self._incident(program.title))
            word = answer.verdict.word
            words.append(word)
            final = final and worth_keeping(answer, self.settings)
            if word in (Word.UNKNOWN, Word.UNSUPPORTED):
                reasons.append(f"{line_of(shape, space)}: {answer.verdict.reason}")
            if answer.internal is not None:
                internal.append(answer.internal)
        return Words(tuple(words), tuple(reasons), tuple(internal), final)

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
        return incident_of(title, self._file, self.settings)

    def _question(
        self,
        programs: Sequence[bytes],
        shapes: Sequence[PackedTest],
        scheme: Scheme,
        code: Mapping[str, tuple[str, ...]],
    ) -> Question[Words]:
        """Are these programs compiled soundly? Of the scheme only the rows that they use count."""
        space = self.survey.space
        used = {step.operation for it in shapes for own in it.threads for step in own.accesses}
        rows = []
        for number in sorted(used):
            named = str(row_shape(space.accesses[number]))
            rows.append((space.operations[number], *code.get(named, ("no row",))))
        chosen = replace(self.settings, machine=self.settings.machine or scheme.machine.name)
        content = (
            digest_of(programs),
            tuple(rows),
            self.survey.facts.digest,
            replace(chosen, seconds=None),
        )
        return Question("hunt", content, Words)


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


def test_of_shape(shape: PackedTest, space: Space, settings: Settings) -> LoadedTest:
    """A program of a space as a test, its program read from its text."""
    test = named(shape, space)
    title = title_of(test)
    comment = f"Found by `rspverify hunt`: {notation(test)}"
    source = Source(f"{title}.litmus", litmus_text(test, title, comment=comment))
    return read_test(source, settings)
