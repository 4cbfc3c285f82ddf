"""`report --bug`: what a tracker of a compiler or of a scheme is to be told of one result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rspverify.answers import Detail
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, line
from rspverify.render.evidence import explanation
from rspverify.render.words import changed_codes, row_in_words
from rspverify.scheme.row import AnyRow
from rspverify.verdict import Execution


def document(
    detail: Detail, compiler: str, change: Sequence[Block], texts: Mapping[str, str]
) -> Document:
    """All that is to be told of a result. compiler: with its version, if there is one. change: what
    mends it. texts: others that belong to it, by what they are."""
    it = detail.explanation
    assert it is not None
    told = explanation(detail)
    blocks: list[Block] = [line(f"Compiler: {compiler}")] if compiler else []
    blocks += [_listing("The test", detail.source), *told.parts(doc.Articles)]
    if it.verdict.execution is not None:
        blocks += _sentences(it.verdict.execution)
    blocks += [line("The smallest change", kind="head"), *change]
    blocks += [_listing(head, text) for head, text in texts.items()]
    title = f"{it.title} is {it.verdict.word} under {it.result.scheme}"
    return Document("report --bug", title, blocks, answer=told.answer)


def _listing(head: str, text: str) -> doc.Listing:
    return doc.Listing([line(each) for each in text.rstrip().split("\n")], head)


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
    found: dict[str, str] = {}
    own, *marked = _PARTS.split(words)
    for mark, text in (("I", own), *zip(marked[::2], marked[1::2], strict=True)):
        found[mark] = f"{found.get(mark, '')} {text}".strip()
    return found


def mended(scheme: str, changes: Sequence[tuple[AnyRow, AnyRow]]) -> Iterator[Block]:
    """What mends a scheme."""
    if not changes:
        yield line(f"No row of {scheme} and no two mend it, made as strong as can be.")
        return
    yield line(f"{scheme} is SOUND on the test with")
    for now, then in changes:
        yield line(row_in_words(now.number, str(now), ()).rstrip(": "))
        yield doc.Table(("now", "then"), [changed_codes(now.text, then.text)])


def unlike(table: str, code: doc.Compiled) -> Iterator[Block]:
    """That a table that was read out of a compiler needs no mending. code: what it makes of the
    test."""
    yield line(
        f"{table}, by which the same compiler translates operations one by one, is SOUND on the "
        "test. So it is what the compiler leaves out or moves in the whole program. By the table it"
        " is"
    )
    yield code
