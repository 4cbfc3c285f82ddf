"""Documents as GitHub's Markdown: what follows, what is found, and the rest folded away."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from rspverify.render import document as parts
from rspverify.render.trace import Trace, legend, timeline
from rspverify.render.words import counted
from rspverify.wording import visible

_MEANT = re.compile(r"[&<>|`@\\*_~\[\]#$!]|(?<=:)//")
"""What Markdown, or GitHub after it, would take for more than text."""


def write(it: parts.Document) -> str:
    """The whole text."""
    lines = [f"### rspverify {it.command}", "", _text(it.title)]
    for block in (*it.parts(parts.Warnings), *_rest(it)):
        if shown := list(_block(block)):
            lines += ["", *shown]
    articles = [each for block in it.parts(parts.Articles) for each in block.each]
    told = [each for each in articles if not each.minor and not each.open]
    if told:
        heads = ("finding", "of", "at", "what and why")
        lines += ["", *_table(heads, map(_finding, told))]
    names, matrices = {each.name for each in told}, list(it.parts(parts.Matrix))
    if rest := [row for matrix in matrices for row in _results(matrix, names)]:
        noun = "other result" if told else "result"
        lines += ["", f"<details><summary>{counted(len(rest), noun)}</summary>", ""]
        lines += [*_table((matrices[0].noun, "under", "result", "why"), rest), "", "</details>"]
    return "\n".join([*lines, ""])


def _rest(it: parts.Document) -> Iterator[parts.Block]:
    """What else is shown, in the order of a text."""
    for block in it.blocks:
        if isinstance(block, parts.Summary | parts.Basis):
            yield from block.blocks
        elif not isinstance(block, parts.Warnings | parts.Aside):
            yield block


def _block(it: parts.Block) -> Iterator[str]:
    match it:
        case parts.Line():
            words = _text(it.plain.strip())
            yield from [f"**{words}**" if it.kind == "head" else words] * bool(it)
        case parts.Warnings():
            yield from (f"**{_text(each.plain.strip())}**" for each in it.lines)
        case parts.Table():
            rows = [
                [_cell(each, number=n in it.right) for n, each in enumerate(row)] for row in it.rows
            ]
            yield from _table(it.heads, rows, it.right)
        case parts.Listing():
            yield from [f"#### {_text(it.head)}", ""] if it.head else []
            yield from _fenced(each.plain for each in it.lines)
        case parts.Section():
            yield from _blocks(it.blocks)
        case parts.Articles():
            for each in it.each:
                if each.open:
                    yield from (f"**{_text(each.kind)}**", "")
                    yield from _blocks([*each.lines, *each.evidence])
        case parts.Definitions():
            yield _text(it.head)
            yield from ["", *(f"* {_text(name)}: {_code(words)}" for name, words in it.each)]
        case parts.Compiled():
            heads = ("thread", "line", "source", "operation", "compiled to")
            yield from _table(heads, _compiled(it), [1])
        case Trace():
            yield from _trace(it)
        case _:  # findings and results have tables of their own, and pages have room for the rest
            pass


def _blocks(those: Iterable[parts.Block]) -> Iterator[str]:
    """Blocks with an empty line between them."""
    for number, lines in enumerate(filter(None, (list(_block(each)) for each in those))):
        yield from [""] * bool(number)
        yield from lines


def _cell(it: parts.Line | str, *, number: bool) -> str:
    """What a table has is code, but for numbers and prose."""
    words = it if isinstance(it, str) else it.plain
    if number:
        return words
    return _text(words) if isinstance(it, parts.Line) and it.kind == "note" else _code(words)


def _fenced(lines: Iterable[str]) -> Iterator[str]:
    """Lines as they are, between fences that none of them ends."""
    shown = [visible(each) for each in lines]
    longest = max((len(it) for each in shown for it in re.findall("`+", each)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (fence, *shown, fence)


def _compiled(it: parts.Compiled) -> Iterator[tuple[str, ...]]:
    for thread in it.threads:
        for line, source, operation, code in thread.operations:
            shown = _code(source), _text(operation), _code("\n".join(code))
            yield _text(thread.name), str(line), *shown


def _trace(it: Trace) -> Iterator[str]:
    yield from [f"#### {_text(it.head)}", ""] if it.head else []
    rows = []
    for each in timeline(it.execution):
        then = [f"{s.head}: {s.text}" for s in each.states if s.changed and not s.queue]
        words = "\n".join([*then, *filter(None, [each.beside])])
        rows.append((str(each.number or ""), _text(each.by), _code(each.what), _text(words)))
    yield from _table(("", "by", "what happens", "what is there then"), rows[1:], [0])
    if signs := legend(it.execution):
        yield from ["", _text("; ".join(f"{sign} {words}" for sign, words in signs))]


def _finding(it: parts.Article) -> tuple[str, ...]:
    rows = [row for block in it.evidence if isinstance(block, parts.Rows) for row in block.each]
    said = (*(each.plain for each in it.lines if each), *(f"at fault: {row.words}" for row in rows))
    words = "\n".join(said)
    return it.kind, _code(it.subject), "<br>".join(map(_code, it.places)), _code(words)


def _results(it: parts.Matrix, told: set[str]) -> Iterator[tuple[str, ...]]:
    """The results of which no finding tells: why they are so unless that goes without saying."""
    for row in it.rows:
        for head, cell in zip(it.heads, row.cells, strict=True):
            if cell and cell.words and cell.about not in told:
                yield _code(row.title), _code(head), _text(cell.words), _code(cell.why)


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Container[int] = ()
) -> Iterator[str]:
    """Rows of cells that are escaped already."""
    yield _line([_text(head.strip()) for head in heads])
    yield _line(["--:" if number in right else "---" for number in range(len(heads))])
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    """A text as it is, in which nobody is mentioned and nothing is linked."""
    return f"<code>{_text(text)}</code>" if text else ""


def _text(text: str) -> str:
    """A text of one line in which nothing means more than itself."""
    escaped = _MEANT.sub(lambda it: "".join(f"&#{ord(each)};" for each in it[0]), visible(text))
    return escaped.replace("\n", "<br>")
