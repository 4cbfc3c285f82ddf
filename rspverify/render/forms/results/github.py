"""`check` as commands of a GitHub workflow: an annotation for each finding, and a summary."""

from __future__ import annotations

from rspverify.render.document import Document
from rspverify.render.findings import Finding, findings
from rspverify.render.words import conclusion, totals, unfinished
from rspverify.wording import visible

NEEDS = ("faults",)


def write(it: Document) -> str:
    """A line for each finding, errors first: GitHub shows ten annotations of a kind in a step."""
    reports = it.reports
    found = [each for report in reports for each in findings(report)]
    lines = [_annotation(each) for each in sorted(found, key=lambda it: not it.grave)]
    stops = filter(None, map(unfinished, reports))
    lines += [_command("error", words, title="rspverify check") for words in stops]
    told = [conclusion(reports), totals([each for it in reports for each in it.results])]
    lines.append(_command("notice", "\n".join(told), title="rspverify check"))
    return "".join(f"{line}\n" for line in lines)


def _annotation(it: Finding) -> str:
    """It stands where the first thing is that must change."""
    spot = it.spots[0]
    columns = spot.end_line in (None, spot.line)  # of several lines GitHub takes no columns
    return _command(
        "error" if it.grave else "warning",
        it.text,
        file=spot.file,
        line=spot.line,
        endLine=spot.end_line,
        col=spot.column if columns else None,
        endColumn=spot.end_column if columns else None,
        title=f"{it.kind}: {it.subject}",
    )


def _command(name: str, message: str, **properties: str | int | None) -> str:
    given = {key: value for key, value in properties.items() if value is not None}
    told = ",".join(f"{key}={_property(str(value))}" for key, value in given.items())
    return f"::{name} {told}::{_data(message)}"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
