"""A machine in words: its instructions, and the shapes of its steps."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from rspverify.architecture.acts import Act, Deed, acts
from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.assembly.program import AssemblyProgram, ThreadId
from rspverify.machine.machine import Machine, unbounded
from rspverify.machine.shapes import Shape


class Described(Struct, frozen=True):
    """An instruction or a step, and its description."""

    name: str
    does: str


class MachineSummary(Struct, frozen=True):
    """A machine. state: by structure its cells and the kind of place that there is one for.

    unbounded: why the engine without steps does not know it, None if it does. left_out: structures
    that are as good as memory on one device.
    """

    name: str
    summary: str
    state: tuple[Described, ...]
    instructions: tuple[Described, ...]
    steps: tuple[Described, ...]
    switches: tuple[Described, ...]
    unbounded: str | None
    left_out: tuple[str, ...]


def summary(architecture: Architecture) -> MachineSummary:
    """A machine in words."""
    threads = tuple(ThreadId(0, it, it) for it in range(2))
    spaces = {f"x {space}": space for space in architecture.spaces[1:]}
    locations = dict.fromkeys(("x", *spaces), 0)
    program = AssemblyProgram(threads, ((), ()), locations, architecture, spaces=spaces)
    plain, elided = Machine(program, elide=False, evict=True), Machine(program)
    return MachineSummary(
        architecture.name,
        architecture.summary,
        tuple(_state(architecture)),
        tuple(Described(_usage(it), _does(it)) for it in architecture.instructions.values()),
        tuple(_steps(architecture, plain)),
        tuple(Described(it.name, it.about) for it in architecture.switches),
        unbounded(architecture),
        tuple(sorted({it.name for it in elided.elided})),
    )


def _state(architecture: Architecture) -> Iterator[Described]:
    cells: dict[tuple[str, str], list[str]] = {}
    for kind in architecture.cells:
        name = kind.field or kind.structure
        cell = f"{name}[x]" if kind.located else name
        sort = "" if name == kind.sort.value else f" {kind.sort.value}"
        cells.setdefault((kind.structure, kind.place), []).append(f"{cell}{sort}")
    for (structure, place), its in cells.items():
        yield Described(f"{structure}, one per {place}", ", ".join(its))


def _usage(it: Mnemonic) -> str:
    operands = ("|".join(it.reaches) if each == "s" else each for each in it.operands)
    return it.written(operands)


def _does(it: Mnemonic) -> str:
    access = [word for word, does in (("reads", it.reads), ("writes", it.writes)) if does]
    words = [" and ".join(access)] if access else []
    words += [f"waits for {each}" for each in _named(it, Deed.AWAIT)]
    words += [f"waits until {each} is empty" for each in _named(it, Deed.DRAIN)]
    words += [f"flushes {each}" for each in _named(it, Deed.MARK)]
    words += [f"takes away {each}" for each in _named(it, Deed.LOSE)]
    words += [f"takes {each}" for each in _named(it, Deed.TAKE)]
    words += [f"frees {each}" for each in _named(it, Deed.FREE)]
    words += [f"later {each.name}" for each in it.later]
    return "; ".join(words) or "nothing that others see"


def _named(it: Mnemonic, deed: Deed) -> list[str]:
    return list(dict.fromkeys(_cell(each, deed) for each in acts(it) if each.deed is deed))


def _cell(act: Act, deed: Deed) -> str:
    assert act.kind is not None
    if deed is Deed.MARK:
        return act.kind.structure
    every = f" of every {act.space} location" if act.space else " of every location"
    return str(act.kind).replace("[x]", every if act.every else "[x]")


def _steps(architecture: Architecture, machine: Machine) -> Iterator[Described]:
    for kind in architecture.steps:
        found = next((it for it in machine.steps if it.step == kind.name), None)
        shape = None if found is None else machine.shapes.shapes[found.key]
        yield Described(kind.name, shape.value if isinstance(shape, Shape) else str(shape or ""))
