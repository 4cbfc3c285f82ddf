"""What a run of pytest asks: schemes, tests, what is expected; and the items that it collects.

Paths are as from one folder, the base: where pytest was started, or that of its configuration if
the schemes stand there. Tests that change the working directory do not matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct

from rspverify.corpus.expected import Expected, expected_of
from rspverify.corpus.inputs import Meant, scheme_meant, tests_meant
from rspverify.records import replace
from rspverify.shipped import TEST_ENDING, located
from rspverify.soundness.settings import DEFAULT_MODEL, Settings, explain_command
from rspverify.source import InputError, Problems
from rspverify.testing.plugin import EXPECT, MODEL, PROGRESS, PROVE, SCHEMES, TESTS, dest
from rspverify.verdict import ProgressWord, Word

if TYPE_CHECKING:
    from rspverify.answers import Result
    from rspverify.judge.judge import Judge
    from rspverify.judge.run import Run


class NotAsItShouldBe(Exception):
    """A test fails; the message is all that must be said."""


class Asked(Struct, frozen=True, dict=True):
    """Schemes and tests by their paths from the base; tests by the names that items have.

    expect: the path of what is expected, empty if nothing is. prove: whether schemes must be
    proved.
    """

    base: Path
    schemes: Sequence[str]
    meant: Meant
    settings: Settings
    expect: str
    known: Expected | None
    prove: bool

    @cached_property
    def tests(self) -> Mapping[str, str]:
        """The paths of tests by their names: as short as can be, and no two alike."""
        names = [self._name(test) for test in self.meant.files]
        return {
            (name if names.count(name) == 1 else test.removesuffix(TEST_ENDING)): test
            for name, test in zip(names, self.meant.files, strict=True)
        }

    def _name(self, test: str) -> str:
        above = [each for each in self.meant.given if Path(test).is_relative_to(each)]
        folders = [each for each in above if Path(each) != Path(test)]
        short = Path(test).relative_to(folders[0]) if folders else Path(Path(test).name)
        return short.as_posix().removesuffix(TEST_ENDING)

    def gone(self, scheme: str) -> list[str]:
        """The tests of which something is expected under a scheme, and which are not there."""
        if self.known is None:
            return []
        with self.at_base():
            held = self.known.held((), self.meant.given, self.meant.files, progress=True)
        folder = self.known.path.parent
        rows = {os.path.normpath(folder / test): row for test, row in self.known.verdicts.items()}
        return [each for each in held.gone if scheme in rows.get(each, {})]

    def scheme_at(self, path: Path) -> str | None:
        """The scheme that a path leads to, from where we are; None if it leads to none."""
        for scheme in self.schemes:
            if str(path) == scheme or os.path.abspath(path) == str(self.place(scheme)):
                return scheme
        return None

    def place(self, scheme: str) -> Path:
        """Where a scheme is: an absolute path."""
        with self.at_base():
            return Path(os.path.abspath(located(scheme)))

    def run(self, scheme: str) -> Run:
        """Who answers for a scheme. Raises InputError for what is wrong with it, or the model."""
        from rspverify.judge.run import read_inputs

        with self.at_base():
            return read_inputs([scheme], self.settings, self.judge, compilers=True)

    @cached_property
    def judge(self) -> Judge:
        """One for all schemes. It works in this process: pytest-xdist spreads items."""
        from rspverify.api.judges import judge_of

        return judge_of(1)

    def close(self) -> None:
        """Let go of the cache."""
        if "judge" in self.__dict__:
            self.judge.close()

    def require(self, run: Run, test: str) -> None:
        """Raises NotAsItShouldBe unless a verdict under the scheme of a run is right.

        Skips a test that has no meaning for the scheme.
        """
        from rspverify.render.check import wished

        with self.at_base():
            (result,) = self.judge.ask(run.question(test))
            if self.known is not None:
                self._require_expected(result, self.known.of(result))
            elif result.verdict is Word.UNSUPPORTED:
                pytest.skip(f"UNSUPPORTED: {result.reason}")
            elif not wished(result):
                raise NotAsItShouldBe(self._explained(result, result.verdict is Word.SOUND))

    def require_proved(self, scheme: str) -> None:
        """Raises NotAsItShouldBe unless a scheme is PROVED, and LIVE if progress is asked for."""
        from rspverify.proof.proof import ProofReport, ProofWord, proof_questions
        from rspverify.render.forms.text import write
        from rspverify.render.prove import document

        with self.at_base():
            (question,) = proof_questions([scheme], self.settings, self.judge)
            proof = self.judge.ask(question)
        stuck = self.settings.progress and proof.progress is not ProgressWord.LIVE
        if proof.word is not ProofWord.PROVED or proof.internal or stuck:
            said = write(document(ProofReport((proof,)))).rstrip()
            raise NotAsItShouldBe(f"{said}\n\nagain: rspverify prove {scheme}")

    def _require_expected(self, result: Result, expected: str | None) -> None:
        if expected == result.claim and result.internal is None:
            return
        told = f"{result.claim}, and {self.expect} says nothing of it"
        if expected is not None:
            told = f"{result.claim}, and {self.expect} expects {expected}"
        alone = expected is not None and expected.split()[0] == result.verdict
        raise NotAsItShouldBe(f"{told}\n\n{self._explained(result, alone)}")

    def _explained(self, result: Result, stuck: bool) -> str:
        """All that `rspverify explain` prints, and the command. stuck: of progress, not of the
        verdict, if that was asked for."""
        if result.verdict is Word.ERROR or result.internal is not None:
            return result.reason if result.internal is None else str(result.internal)
        if result.verdict is Word.UNSUPPORTED:
            return f"UNSUPPORTED: {result.reason}"
        from rspverify.api.explained import explain
        from rspverify.render.forms.text import write

        going = stuck and result.progress is not None
        settings = replace(self.settings, progress=going)
        found = explain(result.scheme_file, result.file, settings)
        command = explain_command(result.scheme_file, result.file, settings, progress=going)
        return f"{write(found.verdict()).rstrip()}\n\nagain: {command}"

    @contextmanager
    def at_base(self) -> Iterator[None]:
        """Paths are as from the base, inside."""
        with chdir(self.base):
            yield


def seen_from(base: Path, folder: Path, words: Sequence[str]) -> list[str]:
    """Words that are paths from a folder, as paths from the base; a name stays a name."""
    if folder == base:
        return list(words)
    there = [(folder / word).exists() for word in words]
    return [
        os.path.relpath(folder / word, base) if found else word
        for word, found in zip(words, there, strict=True)
    ]


def asked(config: pytest.Config, given: bool) -> Asked:
    """What options and keys ask. given: whether schemes come from the command line.

    Raises InputError with all that is wrong with the words, and with what is expected.
    """
    here = config.invocation_params.dir
    project = config.inipath.parent if config.inipath else config.rootpath
    base = here if given else project

    def words(name: str) -> list[str]:
        option, key = config.getoption(dest(name)), config.getini(dest(name))
        said = option or key
        named = ([said] if said else []) if isinstance(said, str) else said
        return seen_from(base, here if option else project, named)

    progress, prove = (
        bool(config.getoption(dest(it)) or config.getini(dest(it))) for it in (PROGRESS, PROVE)
    )
    (model,) = words(MODEL) or [DEFAULT_MODEL]
    expect = "".join(words(EXPECT))
    problems, known = Problems(), None
    with chdir(base):
        paths = [scheme_meant(word, problems) for word in words(SCHEMES)]
        meant = tests_meant(words(TESTS) or None, problems)
        with problems:
            known = expected_of(meant, expect, model) if expect else None
    problems.tell()
    settings = Settings(model=model, progress=progress)
    return Asked(base, list(dict.fromkeys(paths)), meant, settings, expect, known, prove)


EVERY_PROGRAM = "every program"
"""The name of the item that a scheme is proved by."""


class SchemeFile(pytest.File):
    """A scheme. only: the names of the tests that are asked for, all if there are none."""

    def __init__(self, *, asked: Asked, scheme: str, only: set[str], **kept: Any) -> None:
        super().__init__(**kept)
        self.asked = asked
        self.scheme = scheme
        self.only = only

    @classmethod
    def of(cls, session: pytest.Session, asked: Asked, scheme: str, only: set[str]) -> SchemeFile:
        """A scheme, called by its path from pytest's root, or as it ships."""
        place, root = asked.place(scheme), session.config.rootpath
        shipped = not (asked.base / scheme).exists()
        called = scheme if shipped else Path(os.path.relpath(place, root)).as_posix()
        made: SchemeFile = cls.from_parent(
            session, path=place, nodeid=called, asked=asked, scheme=scheme, only=only
        )
        return made

    def collect(self) -> Iterator[pytest.Item]:
        """An item for each test, and one for each that is expected but gone."""
        run = self.asked.run(self.scheme)
        (name,) = run.names
        tests = self.asked.tests
        missing = self.only - tests.keys() - ({EVERY_PROGRAM} if self.asked.prove else set())
        if missing:
            raise self.CollectError(f"{self.nodeid}: no such test: {', '.join(sorted(missing))}")
        for each, test in tests.items():
            if not self.only or each in self.only:
                yield Check.from_parent(self, name=each, run=run, test=test)
        if self.asked.prove and (not self.only or EVERY_PROGRAM in self.only):
            yield Proved.from_parent(self, name=EVERY_PROGRAM)
        for test in () if self.only else self.asked.gone(name):
            yield Gone.from_parent(self, name=test, expect=self.asked.expect)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Mistakes in the scheme or the model, each at its place."""
        if isinstance(excinfo.value, InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class _Told(pytest.Item):
    """An item whose failure is told in words."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What is wrong, without a traceback."""
        if isinstance(excinfo.value, NotAsItShouldBe | InputError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The scheme, and a headline. No id ends so: pytest would take its dots for `::`."""
        file, _, _ = self.nodeid.partition("::")
        return self.path, None, f"{self.name} under {file}"


class Check(_Told):
    """A test under a scheme."""

    def __init__(self, *, run: Run, test: str, **kept: Any) -> None:
        super().__init__(**kept)
        self.run = run
        self.test = test

    def runtest(self) -> None:
        """Fails unless the verdict is as it should be; skipped if the scheme has no such row."""
        assert isinstance(self.parent, SchemeFile)
        self.parent.asked.require(self.run, self.test)


class Proved(_Told):
    """All programs under a scheme, of any size."""

    def runtest(self) -> None:
        """Fails unless the scheme is PROVED."""
        assert isinstance(self.parent, SchemeFile)
        self.parent.asked.require_proved(self.parent.scheme)


class Gone(_Told):
    """A test of which something is expected, and which is not there."""

    def __init__(self, *, expect: str, **kept: Any) -> None:
        super().__init__(**kept)
        self.expect = expect

    def runtest(self) -> None:
        """Fails."""
        raise NotAsItShouldBe(f"{self.name}: is not there, and {self.expect} expects a verdict")
