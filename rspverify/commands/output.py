"""Who answers commands, what they say beside the answer, and where that goes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from rspverify.commands.guard import at_end, tell
from rspverify.commands.reports import PageForm, write_reports

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from rspverify.api.judges import Judge
    from rspverify.soundness.settings import Settings
    from rspverify.source import Problem


def warn_once() -> Callable[[str], None]:
    """Says a warning on standard error, the same one only once."""
    said: set[str] = set()

    def warn(message: str) -> None:
        if message not in said:
            said.add(message)
            print(f"warning: {message}", file=sys.stderr)

    return warn


def judge_of(
    jobs: int | None,
    cluster: str | None = None,
    *,
    cached: bool,
    settings: Settings | None = None,
) -> Judge:
    """Who decides, until the command ends: so many processes, or the workers of a cluster.

    Raises InputError.
    """
    from rspverify.api.judges import judge_of

    judge = judge_of(jobs, cluster=cluster, cache=cached, settings=settings, warn=warn_once())
    at_end(judge.end)
    return judge


def note(notes: Iterable[str]) -> None:
    """Says on standard error what of a model's files counts for nothing."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def print_parts(path: str | None, parts: Iterable[RenderableType]) -> None:
    """Print to a file, or to the terminal."""
    from rspverify.render.console import opened

    with opened(path) as console:
        for part in parts:
            console.print(part)


def print_answer(
    console: Console,
    format: PageForm,
    answer: object,
    lines: Iterable[RenderableType],
    page: Callable[[], str],
    files: Mapping[str, PageForm],
) -> list[Problem]:
    """Print an answer as JSON, the lines that tell it, or its page; and write its reports.

    What could not be written is returned, and has been said.
    """
    from rspverify.convert import to_json

    forms: dict[PageForm, Callable[[], str]]
    forms = {PageForm.JSON: lambda: to_json(answer), PageForm.HTML: cache(page)}
    problems = write_reports(forms, files)
    tell(problems)
    if format is not PageForm.TEXT:
        console.file.write(forms[format]())
        return problems
    for line in lines:
        console.print(line, soft_wrap=True)
    return problems


def listed(option: str, words: str) -> list[str]:
    """What an option joins by commas; nothing where it is empty. Raises InputError."""
    from rspverify.source import require

    parts = [each.strip() for each in words.split(",")] if words else []
    require(all(parts), f"{option} must have a word before and after each comma, not {words!r}")
    return parts
