"""Errors that workers raise: what comes out of a pickle is what went in."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from rspverify.answers import Internal
from rspverify.judge.incident import ReportedError
from rspverify.limits import LimitReached
from rspverify.machine.events import ShapeUnknown
from rspverify.server.question import Refused
from rspverify.source import InputError, InternalError, Problem, Severity, Source, Span

SPAN = Span(Source("t", "first\nsecond"), 2, 1, 2, 4)
ERRORS = [
    InputError([Problem(SPAN, "it must be other", "so", severity=Severity.UNSUPPORTED)]),
    InputError([]),
    ShapeUnknown("nothing bounds SHARE"),
    LimitReached("too much"),
    InternalError("two engines disagree", {"schedule": "1  ST r x"}),
    ReportedError(Internal("ValueError: no", "rspverify-report-0")),
    Refused(413, "too large"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda it: type(it).__name__)
def test_of_errors(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_a_span_keeps_its_line() -> None:
    (again,) = pickle.loads(pickle.dumps(ERRORS[0])).problems
    assert str(again) == "t:2:1: it must be other\n    second\n    ^^^\n  hint: so"


def test_every_error_that_takes_more_than_its_text_is_among_them() -> None:
    """One with an `__init__` of its own needs a look: `pickle` calls that with the text."""
    own = {type(each).__name__ for each in ERRORS}
    package = Path(__file__).parents[1] / "rspverify"
    kinds = ("Exception", "BaseException", "LimitReached", "InputError", "KeyboardInterrupt")
    for path in package.rglob("*.py"):
        for block in path.read_text().split("\nclass ")[1:]:
            head, _, body = block.partition("\n")
            name, _, bases = head.rstrip(":)").partition("(")
            if bases in kinds and "def __init__" in body.split("\n\n\n")[0]:
                assert name in own, path
