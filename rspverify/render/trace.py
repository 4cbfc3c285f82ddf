"""An execution of a machine to be shown: plain data, its states, and its JSON for the element
`<rsp-execution>`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from rspverify.answers import Explanation, MachineRun, ReadValue
from rspverify.records import replace
from rspverify.verdict import Execution, Snapshot, Step
from rspverify.wording import visible

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

    @property
    def steps(self) -> int:
        """How many steps there are, shown or not."""
        return len(self.execution.steps) + self.left


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


# ---- its states ----------------------------------------------------------------------------------


class Part(Struct, frozen=True):
    """An entry, a fifo, or a lock of a state. changed: by the step before it."""

    kind: str
    text: str
    changed: bool = False


class State(Struct, frozen=True):
    """A cache, memory, or the locks after a step. head: which of them; text: all of it."""

    head: str
    text: str
    parts: Sequence[Part]
    changed: bool = False


class Shown(Struct, frozen=True):
    """A step, by whom it is, and the states after it; the first is before any."""

    number: int
    by: str
    step: Step | None
    states: Sequence[State]


def timeline(it: Execution) -> list[Shown]:
    """The steps of an execution, with what each changes."""
    locks = any(step.after.locks for step in it.steps)
    found = [Shown(0, "", None, list(_states(it, it.initial, locks)))]
    for number, step in enumerate(it.steps, 1):
        by = step.cache or "" if step.thread is None else f"P{step.thread}"
        before = found[-1].states
        after = list(map(_compared, before, _states(it, step.after, locks)))
        found.append(Shown(number, by, step, after))
    return found


def _states(it: Execution, at: Snapshot, locks: bool) -> Iterator[State]:
    """As Figs 4 and 5 write them; a fifo has its oldest element on the right."""
    for name in it.caches:
        cache = at.caches[name]
        entries = [f"{x}={entry}" for x, entry in (cache.entries or {}).items()]
        words = [] if cache.entries is None else [f"{{{'; '.join(entries)}}}"]
        parts = [Part("entry", each) for each in entries]
        parts += [Part("fifo", each) for each in cache.queues]
        text = " ".join([*words, *cache.queues]) or "empty"
        yield State(name, text, parts or [Part("fifo empty", "empty")])
    if it.initial.memory:
        values = [f"{x}={value}" for x, value in at.memory.items()]
        yield State("memory", " ".join(values), [Part("entry", each) for each in values])
    if locks:
        held = [f"{lock}: {holder}" for lock, holder in at.locks.items()] or ["all free"]
        yield State("locks", "; ".join(held), [Part("lock", each) for each in held])


def _compared(before: State, after: State) -> State:
    known = {each.text for each in before.parts}
    parts = [replace(each, changed=each.text not in known) for each in after.parts]
    if "fifo" in {it.kind for it in before.parts} - {it.kind for it in after.parts}:
        parts.append(Part("fifo", "[]", True))
    return replace(after, parts=parts, changed=after.text != before.text)


# ---- as JSON -------------------------------------------------------------------------------------


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
