"""`check` as GitHub's Markdown: counts, what is not as one wishes, and the rest folded away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rspverify.answers import ModelAnswer, Result, SuiteReport
from rspverify.render.expectations import conclusion, progress_in_words, unfinished
from rspverify.render.findings import Finding, findings, visible
from rspverify.render.tally import PROGRESS, tally
from rspverify.render.words import counted
from rspverify.verdict import Word

_MEANT = re.compile(r"[&<>|`@\\*_~\[\]#$!]|(?<=:)//")
"""What Markdown, or GitHub after it, would take for more than text."""


def markdown(reports: Sequence[SuiteReport]) -> str:
    """All reports as one text: a summary, and tables."""
    found = [each for report in reports for each in findings(report) if _is_shown(each)]
    shown = {id(each.result) for each in found}
    lines = ["### rspverify check", "", _text(conclusion(reports))]
    for words in filter(None, map(unfinished, reports)):
        lines += ["", f"**{_text(words)}**"]
    for noun in dict.fromkeys(it.noun for it in reports):
        lines += ["", *_counts([it for it in reports if it.noun == noun], noun)]
    if found:
        rows = [(each.kind, _code(each.subject), _places(each), _code(each.text)) for each in found]
        lines += ["", *_table(("finding", "of", "at", "what and why"), rows)]
    rest = [each for it in reports for each in it.results if id(each) not in shown]
    if rest:
        head = f"{counted(len(rest), 'other result')}" if found else counted(len(rest), "result")
        lines += ["", f"<details><summary>{head}</summary>", ""]
        lines += [*_table(("test", "under", "result", "why"), map(_row, rest)), "", "</details>"]
    return "\n".join([*lines, ""])


def _is_shown(it: Finding) -> bool:
    """Whether it is above the rest: what no scheme is to blame for is not."""
    return it.kind != Word.UNSUPPORTED or it.grave


def _counts(reports: Sequence[SuiteReport], noun: str) -> Iterator[str]:
    """How many results of each kind, a row for each scheme or model of each suite."""
    kinds, _ = tally([each for it in reports for each in it.results])
    suites = any(it.folder for it in reports)
    rows = [
        (
            *([_code(it.folder)] if suites else []),
            _code(column),
            *(str(counts[kind] or "–") for kind in kinds),
        )
        for it in reports
        for column, counts in tally(it.results)[1].items()
    ]
    heads = [kind.removeprefix(PROGRESS) for kind in kinds]
    return _table((*(["suite"] if suites else []), noun, *heads), rows, numbers=len(kinds))


def _row(it: Result | ModelAnswer) -> tuple[str, ...]:
    """A result that is not above; why it is so unless that goes without saying."""
    why = [it.reason] if it.words.split()[0] != Word.SOUND or it.within else []
    why += [progress_in_words(it)] if isinstance(it, Result) else []
    return _code(it.test), _code(it.column), it.words, _code("\n".join(filter(None, why)))


def _places(it: Finding) -> str:
    return "<br>".join(
        _code(spot.file if spot.line is None else f"{spot.file}:{spot.line}") for spot in it.spots
    )


def _table(
    heads: Sequence[str],
    rows: Iterator[tuple[str, ...]] | Sequence[tuple[str, ...]],
    numbers: int = 0,
) -> Iterator[str]:
    """Rows of cells that are escaped already; so many columns at the end have numbers."""
    yield _line(heads)
    yield _line(["---"] * (len(heads) - numbers) + ["--:"] * numbers)
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
