"""An execution of a machine to be shown: plain data, its states, and its JSON for the element
`<rsp-execution>`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from rspverify.answers import Explanation, MachineRun
from rspverify.records import replace
from rspverify.verdict import Execution, Snapshot, Step
from rspverify.wording import visible

MOST_STEPS = 1_000
"""Steps of an execution that are shown."""


class Trace(Struct, frozen=True):
    """An execution to be shown step by step.

    head: what it is. lines: the text of each line of the test that has an instruction; none where
    instructions are what is written there. places: where each thread runs, in words, if that is
    known. blocked: who waits for whom in the end. left: how many steps come after those that are
    shown. queues: whether a text has what is in queues, too; a page shows that when it is asked.
    """

    head: str
    execution: Execution
    lines: Mapping[int, str]
    places: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    left: int = 0
    queues: bool = False

    @property
    def steps(self) -> int:
        """How many steps there are, shown or not."""
        return len(self.execution.steps) + self.left


def wrong_trace(it: Explanation, source: str = "", *, queues: bool = False) -> Trace | None:
    """The execution with the wrong outcome, if there is one. source: the text of the test."""
    if it.verdict.execution is None:
        return None
    head = "An execution of the compiled program"
    return _trace(head, it.verdict.execution, it, source, queues=queues)


def stuck_trace(it: Explanation, source: str = "", *, queues: bool = False) -> Trace | None:
    """The execution that gets stuck, if there is one. source: the text of the test."""
    progress = it.progress
    if progress is None or progress.execution is None:
        return None
    after = "nothing can go on" if progress.scheduler is None else "it never ends"
    head = f"An execution of the compiled program after which {after}"
    shown = _trace(head, progress.execution, it, source, queues=queues)
    return replace(shown, blocked=progress.blocked)


def run_trace(it: MachineRun, *, queues: bool = False) -> Trace | None:
    """A run of a machine, if there is one."""
    return None if it.execution is None else _trace("", it.execution, queues=queues)


def _trace(
    head: str,
    it: Execution,
    of: Explanation | None = None,
    source: str = "",
    *,
    queues: bool,
) -> Trace:
    places = tuple(thread.place for thread in of.threads) if of else ()
    texts = source.split("\n")
    numbers = sorted({line for code in it.code for line, _ in code})
    lines = {n: texts[n - 1].strip() for n in numbers if 0 < n <= len(texts)} if source else {}
    left = max(0, len(it.steps) - MOST_STEPS)
    shown = replace(it, steps=it.steps[:MOST_STEPS])
    return Trace(head, shown, lines, places, left=left, queues=queues)


# ---- its states ----------------------------------------------------------------------------------


class Part(Struct, frozen=True):
    """An entry, a fifo, or a lock of a state. changed: by the step before it."""

    kind: str
    text: str
    changed: bool = False


class State(Struct, frozen=True):
    """A cache, memory, or the locks after a step. head: which of them; text: all of it. queue:
    whether it has nothing but instructions on their way."""

    head: str
    text: str
    parts: Sequence[Part]
    changed: bool = False
    queue: bool = False


class Shown(Struct, frozen=True):
    """A step, by whom it is, and the states after it; the first is before any.

    what: the step, with a mark where its instruction is on its way after it, or complete. beside:
    what is still on its way meanwhile, in words.
    """

    number: int
    by: str
    step: Step | None
    states: Sequence[State]
    what: str = ""
    beside: str = ""


def timeline(it: Execution) -> list[Shown]:
    """The steps of an execution, with what each changes."""
    locks = any(step.after.locks for step in it.steps)
    found = [Shown(0, "", None, list(_states(it, it.initial, locks)))]
    begun: dict[tuple[int, int] | None, str] = {}
    for number, step in enumerate(it.steps, 1):
        own, mark = step.instruction, OPEN if step.open else ""
        if step.thread is not None:
            begun[own] = step.label
        elif own is not None:
            mark = mark or COMPLETE
        thread = own[0] if own else step.thread
        by = step.cache or "" if thread is None else f"P{thread}"
        others = [
            begun[each] if own and own[0] == each[0] else f"P{each[0]}'s {begun[each]}"
            for each in step.beside
        ]
        beside = f"while {' and '.join(others)} {'is' if len(others) == 1 else 'are'} on the way"
        after = list(map(_compared, found[-1].states, _states(it, step.after, locks)))
        what = f"{step.label} {mark}".rstrip()
        found.append(Shown(number, by, step, after, what, beside if others else ""))
    return found


OPEN, COMPLETE = "…", "✓"
"""Marks of a step after which its instruction is on its way, and of one that completes it."""
_MARK = re.compile(r"\[[A-Z]\] ")


def legend(it: Execution, *, queues: bool = False) -> list[tuple[str, str]]:
    """What stands in an execution, and what it means; names have a colon. queues: whether those are
    shown."""
    caches = [
        each
        for name in it.caches
        if queues or name not in it.queues
        for step in it.steps
        if (each := step.after.caches.get(name))
    ]
    entries = [each for cache in caches for each in (cache.entries or {}).values()]
    known = [
        (OPEN, "on its way", any(step.open for step in it.steps)),
        (COMPLETE, "complete", any(step.open for step in it.steps)),
        ("D", "dirty", any(each.dirty for each in entries)),
        ("C", "clean", any(each.dirty is False for each in entries)),
        ("V", "valid", any(each.valid for each in entries)),
        ("I", "invalid", any(each.valid is False for each in entries)),
        ("[y x]", "a fifo, the oldest on the right", any(each.fifos for each in caches)),
    ]
    names = [*it.caches, *(step.label.partition("(")[0] for step in it.steps if step.cache)]
    hidden = set() if queues else set(it.queues)
    parts = dict.fromkeys(each.partition(" ")[0] for each in names if each not in hidden)
    words = [(sign, meaning) for sign, meaning, there in known if there]
    return [
        *words,
        *((f"{name}:", _MARK.sub("", it.notes[name])) for name in parts if name in it.notes),
    ]


def _states(it: Execution, at: Snapshot, locks: bool) -> Iterator[State]:
    """As Figs 4 and 5 write them; a fifo has its oldest element on the right."""
    for name in it.caches:
        cache, queue = at.caches[name], name in it.queues
        entries = [f"{x}={entry}" for x, entry in (cache.entries or {}).items()]
        words = [] if cache.entries is None else [f"{{{'; '.join(entries)}}}"]
        parts = [Part("entry", each) for each in entries]
        parts += [Part("fifo", each) for each in cache.queues]
        text = " ".join([*words, *cache.queues]) or "empty"
        yield State(name, text, parts or [Part("fifo empty", "empty")], queue=queue)
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
    data = msgspec.to_builtins(it, str_keys=True) | {"legend": legend(it.execution, queues=True)}
    text = json.dumps(_spelled(data), separators=(",", ":"))
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
