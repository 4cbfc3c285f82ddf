"""What pytest collects: a scheme as a file, and each test under it as an item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rspverify.source import InputError
from rspverify.testing.asked import Asked, NotAsItShouldBe, Skipped

if TYPE_CHECKING:
    from rspverify.judge.run import Run

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
        (name,) = run.inputs.names
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
        try:
            self.parent.asked.require(self.run, self.test)
        except Skipped as why:
            pytest.skip(str(why))


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
