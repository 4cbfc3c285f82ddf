"""Which read-modify-writes give a value at which nothing looks: compilers have other code for them.

It is told from the text, so that it is the same however often a loop is unrolled.
"""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.tree import (
    Assign,
    Block,
    Call,
    Declarator,
    Evaluate,
    Name,
    Test,
    ThreadText,
    Watched,
    walk,
)

Spoken = frozenset[str] | None
"""The registers of a thread that a test speaks of in the end; None for all."""


def spoken_of(test: Test, threads: Mapping[str, ThreadText]) -> dict[str, Spoken]:
    """The registers of each thread that the final condition or `locations` names.

    A test with neither is about all registers. Threads that run one kernel have one code, so that
    what is said of one is said of all.
    """
    condition = () if test.condition is None else walk(test.condition)
    named = [each for each in (*condition, *test.watched) if isinstance(each, Watched)]
    if test.condition is None and not test.watched:
        return dict.fromkeys(threads)
    found: dict[str | int, set[str]] = {}
    for each in named:
        owner = "" if each.owner is None else f"P{each.owner.text.removeprefix('P')}"
        if owner in threads:
            found.setdefault(_code(owner, threads[owner]), set()).add(each.name.text)
    return {name: frozenset(found.get(_code(name, thread), ())) for name, thread in threads.items()}


def _code(name: str, thread: ThreadText) -> str | int:
    return name if thread.kernel is None else id(thread.body)


def ignored(body: Block, spoken: Spoken = frozenset()) -> frozenset[int]:
    """The calls of a text at whose value nothing looks, by their ids.

    So it is with a call that is a statement, and with one whose value a register keeps that the
    text never reads and the test does not speak of.
    """
    thrown: set[int] = set()
    kept: dict[str, list[int]] = {}
    targets: set[int] = set()
    names: list[Name] = []
    for node in walk(body):
        match node:
            case Evaluate(_, Call() as call):
                thrown.add(id(call))
            case Assign(_, Name() as target, value) | Declarator(_, _, Name() as target, value):
                targets.add(id(target))
                if isinstance(value, Call):
                    kept.setdefault(target.text, []).append(id(value))
            case Call(_, function):
                targets.add(id(function))
            case Name():
                names.append(node)
    if spoken is not None:
        read = {each.text for each in names if id(each) not in targets} | spoken
        thrown.update(call for name, calls in kept.items() if name not in read for call in calls)
    return frozenset(thrown)
