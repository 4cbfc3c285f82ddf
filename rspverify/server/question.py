"""What the page asks, what of it is refused before anything is read, and events that answer."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta, Struct

from rspverify.commands.hunt import HuntParameters
from rspverify.limits import DEFAULT_UNROLL
from rspverify.options import declared
from rspverify.soundness.settings import DEFAULT_MODEL, Settings
from rspverify.source import Problem, Span
from rspverify.wording import visible

Event: TypeAlias = "tuple[str, Any]"
"""A name, and plain data or a dataclass of it."""
_Name = Annotated[str, Meta(max_length=100)]


def _bounds(record: type, name: str, most: int | None = None) -> Meta:
    """The bounds of a parameter, as its record says them; or fewer at the most."""
    option = declared(record)[name].option
    return Meta(ge=option.least, le=most or option.most)


class Kind(StrEnum):
    """What is asked: of the scheme and the test, of the scheme and all tests of a corpus, or of
    the scheme alone.

    ANSWER: the verdict once more, and all that it rests on.
    """

    VERDICT = "verdict"
    ANSWER = "answer"
    CORPUS = "corpus"
    MUTATE = "mutate"
    COMPARE = "compare"
    HUNT = "hunt"
    PROVE = "prove"


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question of the page. Texts are whole files.

    machine: the name of one that ships; empty for that of the scheme. own_model, own_machine: texts
    in place of `model` and of the machine, if there are any. before: the scheme that it is compared
    with. corpus: a folder of tests that ships. of: of a hunt, the most operations, threads.
    """

    kind: Kind
    scheme: str
    test: str = ""
    model: _Name = DEFAULT_MODEL
    machine: _Name = ""
    own_model: str = ""
    own_machine: str = ""
    before: str = ""
    corpus: _Name = "litmus/rsp"
    unroll: Annotated[int, _bounds(Settings, "unroll", 16)] = DEFAULT_UNROLL
    operations: Annotated[int, _bounds(HuntParameters, "events")] = 4
    threads: Annotated[int, _bounds(HuntParameters, "threads")] = 3


class Refused(Exception):
    """A question that is not answered. status: of the answer by HTTP; the text says why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[type[Refused], tuple[int, str]]:
        return type(self), (self.status, str(self))


def read_question(data: bytes) -> Question:
    """A question from its JSON. Raises Refused."""
    try:
        asked = msgspec.json.decode(data, type=Question)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refused(400, f"the question must be as the page asks it: {error}") from None
    texts = (asked.scheme, asked.test, asked.own_model, asked.own_machine, asked.before)
    if any("\0" in text for text in texts):
        raise Refused(400, "a text must have no NUL character in it")
    return asked


# ---- events --------------------------------------------------------------------------------------


def encoded(event: Event) -> bytes:
    """An event as its stream has it. No line break is in its JSON."""
    name, data = event
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def failed(message: str, *, retry: bool = False) -> bytes:
    """The event that says why there is no answer, or no more of it."""
    return encoded(("failed", {"message": message, "retry": retry}))


def problem_view(it: Problem) -> dict[str, Any]:
    """A mistake, and where it is; without a place, where it is of a whole file."""
    return {
        "file": it.span.source.name if it.span else "",
        "place": span_view(it.span) if it.span else None,
        "message": visible(it.message),
        "hint": visible(it.hint or ""),
        "severity": it.severity.value,
        "text": visible(str(it)),
    }


def span_view(it: Span) -> dict[str, int]:
    """Where something stands."""
    names = ("line", "column", "end_line", "end_column")
    return {name: getattr(it, name) for name in names}
