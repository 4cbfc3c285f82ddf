"""The machines that ship, by name; each is parsed when it is first asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from rspverify.architecture.architecture import OFF, Architecture
from rspverify.records import replace
from rspverify.source import InputError, Problem, Source, read_source
from rspverify.wording import alternatives, guess

ENDING = ".machine"
"""How the file of a machine is called."""

MAX_CHARACTERS = 50_000
"""How long the text of a file is: the paper's has five thousand characters."""

SHIPPED = Path(str(files("rspverify.architecture") / "machines"))


def shipped() -> tuple[str, ...]:
    """The names of the machines that ship, those that others only include left out."""
    names = {path.stem for path in SHIPPED.glob(f"*{ENDING}")}
    return tuple(sorted(names.difference(included())))


def included() -> tuple[str, ...]:
    """The names of the files that others only include."""
    return tuple(sorted(path.stem for path in SHIPPED.glob(f"*-common{ENDING}")))


def read_machine(path: Path | str) -> Source:
    """The text of the file of a machine. Raises InputError where it cannot be read."""
    return read_source(path, MAX_CHARACTERS)


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
