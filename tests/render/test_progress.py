"""How far a command is, where there is no terminal."""

from __future__ import annotations

import io
import re
import sys
import threading
import time

import pytest
from rich.console import Console

from rspverify.render import progress
from rspverify.render.document import Told
from rspverify.render.progress import Bar, Stream, working


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What is said within the next seconds."""
    deadline = time.monotonic() + 30
    while not (said := capsys.readouterr().err) and time.monotonic() < deadline:
        time.sleep(0.01)
    return said.splitlines()


@pytest.fixture(autouse=True)
def minute(monkeypatch: pytest.MonkeyPatch) -> float:
    """What is a minute for users is short here."""
    whole = progress._BETWEEN_LINES
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.05)
    return whole


def test_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    output = io.StringIO()
    with Stream[int, int](Console(file=output), Told(), text=True) as stream:
        time.sleep(0.2)
        assert capsys.readouterr().err == "", "nothing has begun"
        stream.count("looking", 7)
        stream.show(1)
        assert re.fullmatch(r"0 min: looking: 1 of 7, [0-9.,]+/s", told(capsys)[-1])
    time.sleep(0.2)
    capsys.readouterr()
    time.sleep(0.2)
    assert capsys.readouterr().err == output.getvalue() == "", "it is over, and was never there"


def test_what_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        bar.count("tests", 9)
        bar.advance()
        assert re.fullmatch(r"0 min: tests: 1 of 9, [0-9.,]+/s", told(capsys)[-1])


@pytest.mark.parametrize("terminal", [False, True])
def test_no_line_within_the_first_minute_or_on_a_terminal(
    terminal: bool,
    minute: float,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert minute == 60
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.05 if terminal else minute)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with Bar() as bar:
        bar.count("tests", 9)
        bar.advance()
        time.sleep(0.2)
    assert " min: " not in capsys.readouterr().err


def test_what_is_done_where_nothing_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with working("drawing", 7):
        time.sleep(0.2)
        assert capsys.readouterr().err == "", "it is not long yet"
    monkeypatch.setattr(progress, "_AFTER", 0.0)
    with working("drawing", 7):
        assert re.fullmatch(r"0 min: drawing, of at most 7 s", told(capsys)[-1])


def test_nothing_is_said_after_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    class EndsMeanwhile(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            ended = self.is_set()
            self.set()
            return ended

    bar = Bar()
    bar.count("pairs", 2)
    bar._over = EndsMeanwhile()
    bar._tell()
    assert capsys.readouterr().err == ""
