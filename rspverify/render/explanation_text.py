"""`explain` for people: the verdict, what was compiled, and what the verdict rests on."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from rspverify.answers import Explanation, Reached
from rspverify.render.races_text import race_execution
from rspverify.render.trace_text import Trace
from rspverify.render.words import PROGRESS_STYLES, STYLES, counted
from rspverify.verdict import Progress, ProgressWord, Word

_SOURCE, _SHORT_SOURCE, _WIDE = 30, 18, 100
"""Columns of source text that are shown of an operation; fewer on a console that is less wide."""


def explanation(it: Explanation) -> Iterator[RenderableType]:
    """Everything, part by part."""
    result, verdict, progress = it.result, it.verdict, it.progress
    head = Text().append(f"{it.title} under {result.scheme} (model {result.model}): ", "bold")
    head.append(verdict.word.value, STYLES[verdict.word])
    if progress:
        head.append(", ").append(progress.word.value, PROGRESS_STYLES[progress.word])
    yield head
    yield Text(verdict.reason)
    if it.reach:
        yield Text(it.reach, style="dim")
    yield Text("")
    if it.threads:
        yield _Compiled(it)
    if progress:
        yield from _progress(progress)
        return
    match verdict.word:
        case Word.UNSOUND:
            yield from _counterexample(it)
        case Word.RACY if verdict.race is not None:
            what = "race" if verdict.race.second else "fault"
            yield Text(f"\nA consistent execution of the source with the {what}", style="bold")
            yield race_execution(verdict.race)
        case Word.VACUOUS:
            if verdict.blocked:
                yield Text("\nThe machine cannot go on from here:", style="bold")
            yield from (Text(f"  {line}") for line in verdict.blocked)


class _Compiled:
    """The code of each thread, beside the source that fits the width."""

    def __init__(self, it: Explanation) -> None:
        self._threads = it.threads

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        shown = _SOURCE if options.max_width >= _WIDE else _SHORT_SOURCE
        table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
        for column in ("thread", "line", "source", "operation", "compiled to"):
            table.add_column(column, style="bold" if column == "thread" else None)
        for thread in self._threads:
            name = f"{thread.name} ({thread.place})"
            for line, source, operation, code in thread.operations:
                text = source if len(source) <= shown else f"{source[: shown - 1]}…"
                table.add_row(name, str(line), text, operation, "; ".join(code))
                name = ""
            if not thread.operations:
                table.add_row(name, "", "", "nothing", "")
        yield table


def _counterexample(it: Explanation) -> Iterator[RenderableType]:
    execution, outcome = it.verdict.execution, it.result.outcome
    assert execution is not None and outcome is not None
    yield Text("\nAn execution of the compiled program", style="bold")
    yield Trace(execution)
    yield Text(f"\nIt ends with {outcome}, after {len(execution.steps)} steps.", style="bold")
    for read in outcome.reads:
        yield Text(f"  P{read.thread}, line {read.line}, read {read.value} from {read.location}")
    yield Text("")
    if not it.axioms:
        yield Text("No candidate execution of the source has these values at all.")
        return
    which = "" if len(it.axioms) == 1 else " at least one of"
    yield Text(
        f"No execution of the source ends so: every candidate with these values breaks{which}"
    )
    for name, text in it.axioms:
        yield Text(f"  {name}: {text.removesuffix(f' as {name}')}")


def _progress(progress: Progress) -> Iterator[RenderableType]:
    yield Text("")
    if progress.execution is None:
        claim = "Progress" if progress.word is ProgressWord.LIVE else "Progress is not known"
        yield Text(f"{claim}: {progress.reason}")
        return
    after = "nothing can go on" if progress.scheduler is None else "it never ends"
    yield Text(f"An execution of the compiled program after which {after}", style="bold")
    yield Trace(progress.execution)
    yield Text("")
    steps = counted(len(progress.execution.steps), "step")
    shortest = "; none is shorter" if progress.execution.shortest else ""
    yield Text(f"It is stuck after {steps}{shortest}. Then:", style="bold")
    yield from (Text(f"  {line}") for line in progress.blocked)
    yield Text("What the environment can still do changes nothing of this.")


def reached(it: Reached) -> Iterator[RenderableType]:
    """The outcomes that the machine reaches, and how many they are."""
    count, allowed = len(it.outcomes), it.allowed
    if it.stopped and not count:
        yield Text(f"\nWhich outcomes the machine reaches is not known: {it.stopped}.")
        return
    if not it.all:
        others = f"perhaps others ({it.stopped})" if it.stopped else "others"
        what = f"these {counted(count, 'outcome')}, and {others}:"
    elif allowed is None:
        what = f"{counted(count, 'outcome')}:"
    else:
        beyond = "more than " if it.beyond else ""
        what = f"{count} of the {beyond}{allowed} outcomes that the model allows:"
    yield Text(f"\nThe machine reaches {what}", style="bold")
    yield from (Text(f"  {outcome}") for outcome in it.outcomes)
