"""Mistakes planted in what it is to hang: each is noticed by a known answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from checks import MODEL
from soundness.waiting import asked, load, store, swap, test, words

from rspverify.axiomatic.partial import PartialExecutions
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.smt.term import TRUE, Term
from rspverify.soundness.hanging import Hanging
from rspverify.source import Source

MEET = "barrier(CLK_GLOBAL_MEM_FENCE);"
SPIN, WRITE = f"while ({load('x')} != 1);", store("x", 1)
FLAG = test((0, SPIN), (1, WRITE))
LOCK = f"while ({swap('l', 1)} != 0); {store('l', 0)}"
MEETS = f"if ({load('x', 'seq_cst')} == 1) while ({load('y')} == 0);"
HALFWAY = f"{store('x', 1, 'seq_cst')} {store('x', 2, 'seq_cst')}"


def true(*_: Any) -> Term:
    return TRUE


def nothing(*_: Any) -> Iterator[Term]:
    yield from ()


@pytest.mark.parametrize(
    "where, name, instead, text, scheduler, right",
    [
        (PartialExecutions, "_current", true, FLAG, "fair", "LIVE"),
        (PartialExecutions, "_loops", nothing, test((0, SPIN), (0, WRITE)), "fair", "LIVE"),
        (PartialExecutions, "_barriers", nothing, test((0, MEET), (0, MEET)), "fair", "LIVE"),
        (Hanging, "before_the_start", property(true), test((0, LOCK), (1, LOCK)), "lobe", "LIVE"),
        (Hanging, "_not_the_lowest", property(true), test((1, SPIN), (0, WRITE)), "hsa", "LIVE"),
        (Hanging, "_in_line", property(true), test((1, SPIN), (0, WRITE)), "lobe", "LIVE"),
        (Hanging, "_in_time", property(true), test((0, MEETS), (1, HALFWAY)), "obe:1", "LIVE"),
        (Hanging, "_at_most", true, test((0, MEETS), (1, HALFWAY)), "obe:1", "LIVE"),
    ],
)
def test_a_planted_mistake_is_noticed(
    where: type,
    name: str,
    instead: Callable[..., Any],
    text: str,
    scheduler: str,
    right: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert words(text, scheduler) == {scheduler: right}
    monkeypatch.setattr(where, name, instead)
    assert words(text, scheduler) != {scheduler: right}


def test_nobody_is_stopped_where_there_is_room() -> None:
    """obe:2 may not leave out a third group while one of two places is free."""
    text = test((0, SPIN), (1, WRITE), (2, store("y", 1)))
    assert words(text, "obe:2", "obe:1") == {"obe:2": "LIVE", "obe:1": "STUCK"}


def test_a_race_is_looked_for_with_threads_stopped_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = test((0, "*d = 1; while (1);"), (1, "*d = 2; while (1);"), plain=["d"])
    (answer,) = asked(text, "fair")
    assert answer.undefined
    ended = Questions(read_program(Source("t", text)), MODEL, Limits(), whole=True)
    race = ended.race()
    monkeypatch.setattr(Questions, "race", lambda self: race)
    (answer,) = asked(text, "fair")
    assert answer.progress == "STUCK"
