"""How commands are made: options from settings, exit codes, interrupts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rspverify.api.asked import stoppable
from rspverify.cli import app
from rspverify.limits import LimitReached
from rspverify.options import Parameters, words_of
from rspverify.records import fields_of, replace
from rspverify.soundness.settings import L2, OPTIONS, Dependencies, Settings
from rspverify.terminal.command import Command, summaries
from rspverify.terminal.ending import exit_code, first_of, told
from rspverify.terminal.make import completer, made
from rspverify.terminal.output import Output
from rspverify.verdict import Engine, Reading

OTHER: dict[str, Any] = {
    "engine": Engine.UNROLL,
    "model": "rc11",
    "seconds": 2.5,
    "steps": 7,
    "machine": "rsp-st-waits",
    "l2": L2.REAL,
    "states": 99,
    "reading": Reading.WITNESS,
    "confirm": "cvc5",
    "smt_dir": "questions",
    "progress": True,
    "scheduler": "obe:2",
    "unroll": 3,
    "mixed": True,
    "dependencies": Dependencies.FOLDED,
}
"""For each setting a value that is not the default."""


@dataclass(frozen=True)
class Taken(Parameters):
    """Takes settings."""

    settings: Settings = Settings()


def taken(*takes: str) -> tuple[typer.Typer, list[Settings]]:
    """An app of one command that takes settings, and where it puts them."""
    found: list[Settings] = []

    def take(asked: Taken, output: Output) -> int:
        found.append(asked.settings)
        return 0

    app = typer.Typer()
    app.command("take")(made("take", Command(take, Taken, takes=takes)))
    return app, found


def test_every_setting_has_an_option_but_two() -> None:
    assert {*fields_of(Settings)} - OPTIONS.keys() == {"shortest", "allow_fallback"}
    assert OTHER.keys() == OPTIONS.keys()
    assert len({each.name for each in OPTIONS.values()}) == len(OPTIONS)


@pytest.mark.parametrize("name", OPTIONS)
def test_the_words_of_settings_make_them_again(name: str) -> None:
    settings = replace(Settings(), **{name: OTHER[name]})
    if name == "steps":
        settings = replace(settings, engine=Engine.UNROLL)
    words = list(words_of(settings))
    assert OPTIONS[name].name in words
    app, found = taken(*OPTIONS)
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, found) == (0, [settings])


def test_the_default_needs_no_words() -> None:
    assert list(words_of(Settings())) == []
    assert list(words_of(Settings(), always=("model",))) == ["--model", "opencl-rsp"]
    assert list(words_of(Settings(unroll=3, model="rc11"), ("unroll",))) == ["--unroll", "3"]


def test_a_command_has_no_option_that_it_does_not_take() -> None:
    app, found = taken("model")
    assert CliRunner().invoke(app, ["--unroll", "3"]).exit_code == 2
    assert CliRunner().invoke(app, ["--model", "rc11"]).exit_code == 0
    assert found == [Settings(model="rc11")]


def test_a_setting_without_an_option_cannot_be_taken() -> None:
    with pytest.raises(AssertionError, match="shortest"):
        taken("shortest")


@pytest.mark.parametrize(("name", "less"), [("seconds", "-1"), ("states", "0"), ("unroll", "0")])
def test_numbers_have_a_least_one(name: str, less: str) -> None:
    app, found = taken(name)
    assert CliRunner().invoke(app, [OPTIONS[name].name, less]).exit_code == 2
    assert found == []


@pytest.mark.parametrize("name", summaries())
def test_every_command_says_how_it_ends_and_is_listed(name: str) -> None:
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert f"  {name} " in shown and summaries()[name].split(",")[0] in shown
    assert CliRunner().invoke(app, [name, "--help"]).exit_code == 0


def test_the_first_reason_counts() -> None:
    reasons = ("internal", "interrupted", "wrong", "found", "undecided")
    codes = (70, 130, 2, 1, 3)
    for place, code in enumerate(codes):
        assert exit_code(**dict.fromkeys(reasons[place:], True)) == code
        assert first_of({0, *codes[place:]}) == code
    assert exit_code() == first_of(()) == 0


def test_what_stops_a_command_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with stoppable() as stop:
        pass
    assert (told(stop).interrupted, stop.reason) == (False, None)
    with stoppable() as stop:
        raise KeyboardInterrupt
    assert (told(stop).interrupted, stop.reason) == (True, "interrupted")
    assert capsys.readouterr().err == ""
    with stoppable() as stop:
        raise LimitReached("too many")
    assert (told(stop).interrupted, stop.reason) == (False, "too many")
    assert capsys.readouterr().err == "UNKNOWN: too many\n"


@pytest.mark.usefixtures("in_repository")
@pytest.mark.parametrize(
    ("kinds", "incomplete", "found"),
    [
        ("scheme or test", "orig", ["original"]),
        ("test", "Fig4", ["Fig4"]),
        ("test", "litmus/rsp/paper/Fig4", ["litmus/rsp/paper/Fig4.litmus"]),
        ("scheme", "schemes/a", ["schemes/amdgpu/"]),
        ("model", "opencl-rsp-f", ["opencl-rsp-fig2"]),
        ("machine", "ptx-w", ["ptx-weak"]),
        ("scheduler", "obe", ["obe", "obe:1", "obe:2"]),
    ],
)
def test_what_a_shell_completes(kinds: str, incomplete: str, found: list[str]) -> None:
    assert completer(kinds)(incomplete) == found
