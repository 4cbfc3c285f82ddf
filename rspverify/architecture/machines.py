"""The machines that ship, by name; each is read when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from rspverify.architecture.architecture import OFF, Architecture
from rspverify.architecture.catalogue import ENDING, SHIPPED, included, read_machine, shipped
from rspverify.records import replace
from rspverify.source import InputError, Problem
from rspverify.wording import alternatives, guess


@cache
def load(name: str) -> Architecture:
    """A machine that ships. Raises KeyError where none is called so."""
    from rspverify.architecture.reader import read_architecture

    if name not in shipped():
        raise KeyError(name)
    return read_architecture(read_machine(SHIPPED / f"{name}{ENDING}"))


class _Machines(Mapping[str, Architecture]):
    def __getitem__(self, name: str) -> Architecture:
        return load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(shipped())

    def __len__(self) -> int:
        return len(shipped())

    def __contains__(self, name: object) -> bool:
        return name in shipped()


_SWITCHED = re.compile(rf"(?P<machine>.*{re.escape(ENDING)}|[^+/]*)(?P<switches>(\+\w+(=off)?)+)")
"""A machine and switches: `NAME+SWITCH`, `FILE.machine+SWITCH=off`."""

MACHINES: Mapping[str, Architecture] = _Machines()
"""By name."""


def machine_named(name: str, beside: Path | None = None) -> Architecture:
    """A machine that ships, or that of a file, whose path may be from a folder: `beside`.

    Behind it may be switches that are turned on, or off: `NAME+SWITCH+SWITCH=off`.

    Raises InputError with all that is wrong with it.
    """
    from rspverify.architecture.reader import read_architecture

    if name in MACHINES:
        return MACHINES[name]
    if (found := _SWITCHED.fullmatch(name)) is not None:
        made = machine_named(found["machine"], beside)
        for switch in found["switches"].split("+")[1:]:
            known = [it.name for it in made.switches]
            if (name := switch.removesuffix(OFF)) not in known:
                message = f"machine {made.name} must have the switch {name}, and has not"
                hint = f"it has {', '.join(known)}" if known else "it has none"
                raise InputError([Problem(None, message, guess(name, known) or hint)])
            made = made.switched(switch)
        return made
    if not name.endswith(ENDING):
        ships = alternatives([*MACHINES, "a .machine file"])
        message = f"the machine must be {ships}, not {name or 'nothing'}"
        raise InputError([Problem(None, message, guess(name, MACHINES))])
    path = str(beside / name) if beside is not None else name
    return replace(read_architecture(read_machine(path)), path=path)


def without_switches(name: str) -> str:
    """The machine of `NAME+SWITCH`, by its name or path."""
    switched = _SWITCHED.fullmatch(name)
    return name if switched is None else switched["machine"]


def text_of(name: str) -> str:
    """The file of a machine, by its name or path, whatever its switches.

    Raises InputError where there is none.
    """
    name = without_switches(name)
    ships = name in (*shipped(), *included())
    return read_machine(SHIPPED / f"{name}{ENDING}" if ships else name).text
