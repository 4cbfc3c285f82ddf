"""Schemes that hunts are put to, and mutants of them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from rspverify.engineering.hunt.operations import row_shape
from rspverify.enumeration.space import access_of
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.source import Source

ROOT = Path(__file__).resolve().parents[3]


def short_of_all_devices() -> Scheme:
    """GFX12's table, with read-modify-writes of all devices that reach no further than one."""
    path = ROOT / "schemes/amdgpu/gfx1200.yaml"
    pattern, near = r"(global_atomic[^,\]\n]*)SCOPE_SYS", r"\1SCOPE_DEV"
    return read_scheme(Source(str(path), re.sub(pattern, near, path.read_text())))


@cache
def scheme(name: str) -> Scheme:
    """A scheme that ships, by its name in the folder schemes, or `short_of_all_devices`. A name
    with `+RMW_DROPS_LINE=off` is that of a table on a machine where RMWs leave their lines."""
    name, switch, switches = name.partition("+")
    if name == "short_of_all_devices":
        return short_of_all_devices()
    if switch:
        found = scheme(name)
        return found.on_machine(found.machine.switched(switches))
    return read_scheme_file(str(ROOT / "schemes" / f"{name}.yaml"))


def without(table: Scheme, name: str, *dropped: str) -> Scheme:
    """A table in which the row of an operation lacks instructions, by their text."""
    row = table.table[row_shape(access_of(name))]
    assert {str(it) for it in row.code} >= set(dropped)
    return table.with_code(row.number, tuple(it for it in row.code if str(it) not in dropped))
