"""An execution of a machine to be shown: plain data, its states, and its JSON for the element
`<rsp-execution>`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from rspverify.answers import Explanation, MachineRun, ReadValue
from rspverify.records import replace
from rspverify.render.words import visible
from rspverify.verdict import Execution

MOST_STEPS = 1_000
"""Steps of an execution that are shown."""


class Trace(Struct, frozen=True):
    """An execution to be shown step by step.

    head: what it is. lines: the text of each line of the test that has an instruction; none where
    instructions are what is written there. places: where each thread runs, in words, if that is
    known. reads: what threads saw. blocked: who waits for whom in the end. left: how many steps
    come after those that are shown.
    """

    head: str
    execution: Execution
    lines: Mapping[int, str]
    places: tuple[str, ...] = ()
    reads: tuple[ReadValue, ...] = ()
    blocked: tuple[str, ...] = ()
    left: int = 0


def wrong_trace(it: Explanation, source: str = "") -> Trace | None:
    """The execution with the wrong outcome, if there is one. source: the text of the test."""
    wrong, outcome = it.verdict.execution, it.result.outcome
    if wrong is None:
        return None
    reads = () if outcome is None else outcome.reads
    lines = _lines(wrong, source)
    return _shortened(
        Trace("An execution of the compiled program", wrong, lines, _places(it), reads)
    )


def stuck_trace(it: Explanation, source: str = "") -> Trace | None:
    """The execution that gets stuck, if there is one. source: the text of the test."""
    progress = it.progress
    if progress is None or progress.execution is None:
        return None
    after = "nothing can go on" if progress.scheduler is None else "it never ends"
    head = f"An execution of the compiled program after which {after}"
    lines = _lines(progress.execution, source)
    return _shortened(Trace(head, progress.execution, lines, _places(it), blocked=progress.blocked))


def run_trace(it: MachineRun) -> Trace | None:
    """A run of a machine, if there is one."""
    if it.execution is None:
        return None
    reads = () if it.outcome is None else it.outcome.reads
    return _shortened(Trace("", it.execution, {}, reads=reads))


def _places(it: Explanation) -> tuple[str, ...]:
    return tuple(thread.place for thread in it.threads)


def _lines(execution: Execution, source: str) -> dict[int, str]:
    texts = source.split("\n")
    numbers = sorted({line for code in execution.code for line, _ in code})
    return {it: texts[it - 1].strip() for it in numbers if 0 < it <= len(texts)}


def _shortened(it: Trace) -> Trace:
    steps = it.execution.steps
    if len(steps) <= MOST_STEPS:
        return it
    execution = replace(it.execution, steps=steps[:MOST_STEPS])
    return replace(it, execution=execution, left=len(steps) - MOST_STEPS)


def trace_json(it: Trace) -> str:
    """Its JSON, with nothing hidden in it, as a page may have it between the tags of a script."""
    text = json.dumps(_spelled(msgspec.to_builtins(it, str_keys=True)), separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _spelled(value: Any) -> Any:
    """A value in which each text has what nobody sees spelled."""
    match value:
        case str():
            return visible(value)
        case dict():
            return {visible(key): _spelled(each) for key, each in value.items()}
        case list() | tuple():
            return [_spelled(each) for each in value]
        case _:
            return value
