"""An execution as the animation of pages takes it: plain data, and its JSON.

The element `<rsp-execution>` of the file SCRIPT shows it; STYLE is its style. Both are the same on
every page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rspverify.answers import Detail, MachineRun, ReadValue
from rspverify.records import replace
from rspverify.render.findings import visible
from rspverify.verdict import Execution, ProgressWord

SCRIPT = Path(__file__).with_name("html") / "animation.js"
STYLE = SCRIPT.with_suffix(".css")
MOST_STEPS = 1_000
"""Steps of an execution that are shown."""


class Animation(Struct, frozen=True):
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


def animations(it: Detail) -> Iterator[Animation]:
    """What a finding has: the execution with the wrong outcome, and that which gets stuck."""
    explanation = it.explanation
    if explanation is None:
        return
    texts = it.source.split("\n")
    places = tuple(thread.place for thread in explanation.threads)
    wrong, outcome = explanation.verdict.execution, explanation.result.outcome
    if wrong is not None:
        reads = () if outcome is None else outcome.reads
        head = "An execution of the compiled program"
        yield _shortened(Animation(head, wrong, _lines(wrong, texts), places, reads))
    progress = explanation.progress
    if progress and progress.word is ProgressWord.STUCK and progress.execution is not None:
        after = "nothing can go on" if progress.scheduler is None else "it never ends"
        head = f"An execution of the compiled program after which {after}"
        lines = _lines(progress.execution, texts)
        yield _shortened(
            Animation(head, progress.execution, lines, places, blocked=progress.blocked)
        )


def run_animation(it: MachineRun) -> Animation | None:
    """A run of a machine, if there is one."""
    if it.execution is None:
        return None
    reads = () if it.outcome is None else it.outcome.reads
    return _shortened(Animation("A run of the machine", it.execution, {}, reads=reads))


def _lines(execution: Execution, texts: list[str]) -> dict[int, str]:
    numbers = sorted({line for code in execution.code for line, _ in code})
    return {it: texts[it - 1].strip() for it in numbers if 0 < it <= len(texts)}


def _shortened(it: Animation) -> Animation:
    steps = it.execution.steps
    if len(steps) <= MOST_STEPS:
        return it
    execution = replace(it.execution, steps=steps[:MOST_STEPS])
    return replace(it, execution=execution, left=len(steps) - MOST_STEPS)


def animation_json(it: Animation) -> str:
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
