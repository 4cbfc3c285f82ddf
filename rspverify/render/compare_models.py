"""What `compare --models` says: what one model allows and the other does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from rspverify.answers import within_words
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparison,
    ModelDifference,
    SearchedPrograms,
)
from rspverify.render.document import Block, Document, Line, line
from rspverify.render.evidence import execution, race_execution
from rspverify.render.progress import Stream
from rspverify.render.words import counted

_OUTCOMES = 8
"""So many outcomes of a test are shown; JSON has all."""
_KINDS = {
    Agreement.SAME: "SOUND",
    Agreement.DIFFERENT: "RACY",
    Agreement.UNDEFINED: "",
    Agreement.UNKNOWN: "UNKNOWN",
    Agreement.UNSUPPORTED: "UNSUPPORTED",
    Agreement.ERROR: "ERROR",
}


def document(it: ModelComparison) -> Document:
    """All of it."""
    blocks = [*heading(it), *(block for each in it.tests for block in test(each)), *summary(it)]
    return Document("compare", f"{it.first} and {it.second}", blocks, answer=it)


class ModelsStream(Stream):
    """Prints what is known of two models as soon as it is. tests: how many, 0 if programs are
    searched."""

    def __init__(self, console: Console, start: ModelComparison, tests: int, *, text: bool) -> None:
        columns = (TextColumn("{task.description}"), MofNCompleteColumn(), BarColumn())
        super().__init__(console, *columns, text=text, total=tests or None)
        self.print(heading(start))

    def show(self, it: ComparedTest) -> None:
        """The next test."""
        self.advance()
        self.print(test(it))

    def finish(self, report: ModelComparison) -> None:
        """How many tests, and what was not found."""
        self.print(summary(report))

    def searching(self, it: SearchedPrograms) -> None:
        """So many programs were decided."""
        self.bar.update(self.task, description="programs", completed=it.programs, visible=True)


def heading(it: ModelComparison) -> Iterator[Block]:
    """Which models, and which programs."""
    yield line(f"{it.first} and {it.second}", kind="head")
    if it.searched is not None:
        names = {"events": "operations"}
        bounds = [counted(n, names.get(it, it)[:-1]) for it, n in it.searched.within.items()]
        yield line(f"programs of at most {', '.join(bounds)}, any number of ifs")
        yield line(f"made of {', '.join(it.searched.operations)}")
        yield line()


def test(it: ComparedTest) -> Iterator[Block]:
    """What the models say of a test; of a program that was searched for, with its executions."""
    if it.program is not None:
        yield line(it.program, kind="head")
    else:
        yield line(f"{it.test}  ", (it.answer, _KINDS[it.answer]), within_words(it.within))
    if it.reason:
        yield line(f"    {it.reason}")
    yield from (line(f"    {note}", kind="note") for note in it.notes)
    for each in it.differences:
        yield from _difference(each)
        if it.program is not None:
            yield from _execution(each)
    if it.program is not None:
        yield line()


def _difference(it: ModelDifference) -> Iterator[Line]:
    if it.race is not None:
        yield line(f"    undefined under {it.allows} alone: {it.reason.partition(': ')[2]}")
        return
    yield line(f"    {it.allows} allows, {it.forbids} forbids:")
    yield line(f"      {it.reason}")
    yield from (line(f"      {each}") for each in it.outcomes[1:_OUTCOMES])
    if len(it.outcomes) > _OUTCOMES:
        yield line(f"      {len(it.outcomes) - _OUTCOMES:,} more")


def _execution(it: ModelDifference) -> Iterator[Block]:
    if it.race is not None:
        yield race_execution(it.race)
    elif it.graph is not None:
        yield execution(it.graph.events, it.graph.edges)


def summary(it: ModelComparison) -> Iterator[Block]:
    """How many tests of each kind; or which differences no program has."""
    if it.searched is None:
        words = Counter(each.answer for each in it.tests)
        parts = [f"{words[each]:,} {each}" for each in Agreement if words[each]]
        yield line(f"{counted(len(it.tests), 'test')}: {', '.join(parts)}", kind="head")
    else:
        whole = it.searched.complete and not it.searched.unknown
        none = "no program" if whole else "no program so far"
        for model, other in ((it.first, it.second), (it.second, it.first)):
            mine = [d for each in it.tests for d in each.differences if d.allows == model]
            if not any(each.race is None for each in mine):
                yield line(f"{none} has an outcome that {model} allows and {other} forbids")
            if not any(each.race for each in mine):
                yield line(f"{none} is undefined under {model} alone")
        yield line(f"{counted(it.searched.programs, 'program')} decided", kind="head")
        yield from (line(f"  UNKNOWN {each}", kind="UNKNOWN") for each in it.searched.unknown)
    if it.stopped:
        yield line(f"stopped: {it.stopped}", kind="ERROR")
