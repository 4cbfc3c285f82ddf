"""What every form of `check` says in the same words: what was expected, and how far a run came."""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.answers import Difference, Held, Result, SuiteReport
from rspverify.render.words import counted
from rspverify.verdict import ProgressWord


def noun_of(report: SuiteReport) -> str:
    """What a result is: a verdict on a scheme, an answer of a model."""
    return "verdict" if report.noun == "scheme" else "answer"


def difference(it: Difference, noun: str) -> str:
    """`expected SOUND, got UNSOUND`."""
    was = it.expected or f"nothing (no {noun} is written down)"
    return f"expected {was}, got {it.result.claim}"


def gone(test: str, held: Held) -> str:
    """What is said of a test that is expected and not there."""
    return f"{test}: must be a test, as {held.file} has it, or be left out"


def progress_in_words(it: Result) -> str:
    """Why a program cannot always go on, or why that is not known; empty if it can."""
    if it.progress is None or it.progress is ProgressWord.LIVE:
        return ""
    return f"{it.progress} {it.progress_reason}"


def unfinished(it: SuiteReport) -> str:
    """How far a run came that ended before it was done; empty if it was."""
    decided, noun = f"{len(it.results):,}", noun_of(it)
    if len(it.results) < it.total:
        why = it.stopped or "interrupted"
        return f"{why}: {decided} of {it.total:,} {noun}s decided, the rest not"
    return f"{it.stopped} after all {decided} {noun}s" if it.stopped else ""


def conclusion(reports: Sequence[SuiteReport]) -> str:
    """All that was run in one line: how much, whether it is as expected, and how long it took."""
    results = [each for it in reports for each in it.results]
    tests = len({each.file for each in results})
    suites = sum(bool(it.folder) for it in reports)
    held = [it.held for it in reports if it.held is not None]
    unexpected = sum(each.unexpected for each in held)
    incomplete = any(map(unfinished, reports))
    parts = [counted(suites, "suite")] if suites else []
    parts += [counted(tests, "test"), counted(len(results), "result")]
    if incomplete:
        parts.append("interrupted")
    if unexpected:
        parts.append(f"{unexpected:,} not as expected")
    elif held:
        whole = len(held) == len(reports) and not incomplete
        parts.append("all as expected" if whole else "none unexpected")
    return ", ".join([*parts, f"{sum(it.seconds for it in reports):.1f} s"])
