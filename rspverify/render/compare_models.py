"""What `compare --models` says: what one model allows and the other does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rspverify.answers import within_words
from rspverify.engineering.compare.models import (
    Agreement,
    ComparedTest,
    ModelComparison,
    ModelDifference,
)
from rspverify.render.document import Block, Document, Told, line
from rspverify.render.evidence import execution, race_execution
from rspverify.render.words import at_most, counted, each_counted

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
    return Document(
        "compare", f"{it.first} and {it.second}", told(it).whole(it.tests, it), answer=it
    )


def told(start: ModelComparison, tests: int = 0) -> Told:
    """What is said of two models. tests: how many, 0 if programs are searched."""
    return Told(test, summary, [*heading(start)], counted=("tests", tests))


def heading(it: ModelComparison) -> Iterator[Block]:
    """Which models, and which programs."""
    yield line(f"{it.first} and {it.second}", kind="head")
    if it.searched is not None:
        yield line(f"programs of at most {at_most(it.searched.within)}")
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
        yield from _difference(each, graphs=it.program is not None)
    if it.program is not None:
        yield line()


def _difference(it: ModelDifference, *, graphs: bool) -> Iterator[Block]:
    """What one model allows alone; with `graphs` an execution of it."""
    if it.race is not None:
        yield line(f"    undefined under {it.allows} alone: {it.reason.partition(': ')[2]}")
        yield from [race_execution(it.race)] * graphs
        return
    yield line(f"    {it.allows} allows, {it.forbids} forbids:")
    yield line(f"      {it.reason}")
    yield from (line(f"      {each}") for each in it.outcomes[1:_OUTCOMES])
    if len(it.outcomes) > _OUTCOMES:
        yield line(f"      {len(it.outcomes) - _OUTCOMES:,} more")
    if graphs and it.graph is not None:
        yield execution(it.graph.events, it.graph.edges)


def summary(it: ModelComparison) -> Iterator[Block]:
    """How many tests of each kind; or which differences no program has."""
    if it.searched is None:
        words = each_counted(Counter(each.answer for each in it.tests), Agreement)
        yield line(f"{counted(len(it.tests), 'test')}: {words}", kind="head")
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
