"""Everything that there is by name: models, machines, engines, families of tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rspverify.architecture.architecture import Architecture
    from rspverify.generate.family import Family
    from rspverify.generate.rows import RowFamily
    from rspverify.machine.summary import MachineSummary


def models() -> Sequence[str]:
    """The names of the models that ship."""
    from rspverify.axiomatic.catalogue import shipped_models

    return shipped_models()


def machines() -> Mapping[str, Architecture]:
    """The machines by their names."""
    from rspverify.architecture.machines import MACHINES

    return MACHINES


def is_machine(name: str) -> bool:
    """Whether a name is that of a machine that ships, or of the file of one, switches or not."""
    from rspverify.architecture.catalogue import ENDING, shipped
    from rspverify.architecture.machines import without_switches

    name = without_switches(name)
    return name.endswith(ENDING) or name in shipped()


def machine_summary(name: str) -> MachineSummary:
    """What a machine is, by its name or the path of its file. Raises InputError."""
    from rspverify.architecture.machines import machine_named
    from rspverify.machine.summary import summary

    return summary(machine_named(name))


def machine_text(name: str) -> str:
    """The file of a machine, by its name or path. Raises InputError."""
    from rspverify.architecture.machines import text_of

    return text_of(name)


def families(
    family: str | None = None,
    *,
    scopes: Sequence[str] = (),
    orders: Sequence[str] = (),
    memories: Sequence[str] = (),
    distinct: bool = False,
) -> Mapping[str, Family | RowFamily]:
    """The families of tests that can be generated, by the folders that `generate` gives them.

    family: one of them, `all` or `all-devices`; None for each, by name. The rest is as in
    `generate`. Raises InputError.
    """
    from rspverify.generate.annotations import chosen_annotations
    from rspverify.generate.families import DEVICE_FAMILIES, FAMILIES, chosen
    from rspverify.generate.rows import NAME as ROWS

    asked = chosen_annotations(scopes, orders, memories) if scopes or orders or memories else None
    if family is not None:
        return chosen(family, asked, distinct=distinct)
    names = [*FAMILIES, *DEVICE_FAMILIES, *([] if asked or distinct else [ROWS])]
    return {name: chosen(name, asked, distinct=distinct)[""] for name in names}


def letters() -> Sequence[tuple[str, str]]:
    """What the letters of the shapes of families stand for."""
    from rspverify.generate.families import LETTERS

    return LETTERS


def generate(
    family: str,
    folder: str | Path,
    *,
    scopes: Sequence[str] = (),
    orders: Sequence[str] = (),
    memories: Sequence[str] = (),
    distinct: bool = False,
    limit: int | None = None,
) -> dict[str, int]:
    """Write a family of tests to a folder, or with `all` every one; how many there are of each.

    scopes, orders: what the letters of shapes stand for, as `WG`, `DV.R`, and as `rlx`, `sc`; where
    empty, what is usual. memories: `global`, `local` or both, for each location. distinct: of tests
    that differ in names alone, one. limit: at most so many tests, None for the usual limit. Never
    overwrites a file that is not the very same test. Raises InputError.
    """
    from rspverify.generate.families import MOST, require_few, write_tests

    found = families(family, scopes=scopes, orders=orders, memories=memories, distinct=distinct)
    require_few(found, MOST if limit is None else limit)
    return write_tests(found, folder)
