"""`report --bug`: what a tracker of a compiler or of a scheme is to be told of one result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from rspverify.answers import CompiledThread, Detail
from rspverify.engineering.mend import Mend
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, line
from rspverify.render.evidence import explanation
from rspverify.render.words import changed_codes, counted, row_in_words
from rspverify.verdict import Execution


class Emitted(Struct, frozen=True):
    """What a compiler is given, and what it makes of it.

    version: of the compiler, and the processor. assembly: as it was emitted.
    """

    version: str
    command: str
    module: str
    assembly: str


class Table(Struct, frozen=True):
    """The table of operations that the verdict is compared with: the scheme itself, or what was
    read out of the compiler. threads: what it makes of the test, of one that is SOUND on it; mend:
    what mends it, of one that is not, or why that is not known."""

    name: str
    threads: Sequence[CompiledThread] = ()
    mend: Mend | str = ""


def document(detail: Detail, emitted: Emitted | None, table: Table, again: str) -> Document:
    """All that is to be told of a result. again: the command that shows it."""
    it = detail.explanation
    assert it is not None
    told = explanation(detail)
    blocks: list[Block] = []
    if emitted:
        blocks.append(line(f"Compiler: {emitted.version}"))
    blocks.append(_listing("The test", detail.source))
    blocks += told.parts(doc.Articles)
    if it.verdict.execution is not None:
        blocks += _sentences(it.verdict.execution)
    blocks += _table(table)
    if emitted:
        blocks.append(_listing(f"The IR, compiled by {emitted.command}", emitted.module))
        blocks.append(_listing("What is emitted", emitted.assembly))
    blocks.append(_listing("To see it again", again))
    title = f"{it.title} is {it.verdict.word} under {it.result.scheme}"
    return Document("report --bug", title, blocks, answer=told.answer)


def _listing(head: str, text: str) -> doc.Listing:
    return doc.Listing([line(each) for each in text.rstrip().split("\n")], head)


# ---- the compiler's document ---------------------------------------------------------------------

_PARTS = re.compile(r"\[([DI])\] ")


def _sentences(it: Execution) -> Iterator[Block]:
    """What the document says of the instructions and steps, and what the machine takes it to
    mean."""
    steps = [step.label.partition("(")[0] for step in it.steps if step.instruction is None]
    code = [text for code in it.code for _, text in code]
    rows: list[Sequence[doc.Line | str]] = []
    for each in dict.fromkeys((*code, *steps)):
        if each in it.notes:
            told = _told(it.notes[each])
            rows.append((each, *(line(told.get(mark, ""), kind="note") for mark in "DI")))
    if rows:
        yield line("What the machine does, and why", kind="head")
        yield line(_PARTS.sub("", it.notes.get("", "")))
        yield doc.Table(("step", "the document says", "we take it to mean"), rows)


def _told(words: str) -> Mapping[str, str]:
    """The sentences of a comment by their mark; those without one are our own."""
    found: dict[str, list[str]] = {}
    own, *marked = _PARTS.split(words)
    for mark, text in (("I", own), *zip(marked[::2], marked[1::2], strict=True)):
        if text.strip():
            found.setdefault(mark, []).append(text.strip())
    return {mark: " ".join(texts) for mark, texts in found.items()}


# ---- the smallest change -------------------------------------------------------------------------


def _table(it: Table) -> Iterator[Block]:
    """What mends the table; or that it needs no mending, as the fault is somewhere else."""
    yield line("The smallest change", kind="head")
    if it.threads:
        yield line(
            f"{it.name}, by which the same compiler translates operations one by one, is SOUND on "
            "the test. So it is what the compiler leaves out or moves in the whole program. By the "
            "table it is"
        )
        yield doc.Compiled(it.threads)
    elif not isinstance(it.mend, Mend):
        yield line(it.mend)
    elif not it.mend.changes:
        tried = counted(it.mend.tried, "change")
        yield line(f"None of {tried} of {it.name} mends it: an instruction more, or two waits.")
    else:
        yield line(f"{it.name} is SOUND on the test with")
        for each in it.mend.changes:
            old, new = (tuple(map(str, code)) for code in (each.row.code, each.code))
            yield line(row_in_words(each.row.number, str(each.row), ()).rstrip(": "))
            yield doc.Table(("now", "then"), [changed_codes(old, new)])
