"""What `fuzz` says: the smallest programs that are wrong, and how many were looked at."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.render.document import Block, Document, line
from rspverify.render.selftest import drawn, go_on
from rspverify.render.words import counted
from rspverify.selftest.fuzz import FuzzReport

_REASONS = 5
"""So many reasons are told why programs have no verdict."""


def document(it: FuzzReport) -> Document:
    """All of it."""
    return Document("fuzz", f"{it.scheme}, model {it.model}", list(_blocks(it)), answer=it)


def _blocks(it: FuzzReport) -> Iterator[Block]:
    for each in it.found:
        yield line(f"{each.name}: {each.word}, {each.reason}", kind="UNSOUND")
        for text in each.test.splitlines():
            yield line(f"  {text}")
    words = ", ".join(f"{count:,} {word}" for word, count in it.words.items())
    head = drawn(it, f"{it.programs:,} programs", f"model {it.model}", it.programs)
    yield line(f"{head}: {words}")
    reasons = list(it.reasons.items())
    for reason, count in reasons[:_REASONS]:
        yield line(f"  {count:>6,}  {reason}")
    if len(reasons) > _REASONS:
        yield line(f"          and {counted(len(reasons) - _REASONS, 'other reason')}")
    number = len(it.found)
    said = f"{counted(number, 'program')} of {it.scheme} wrong" if number else "none is wrong"
    yield line(said, kind="ERROR" if number else "head")
    yield from go_on(it, it.programs)
