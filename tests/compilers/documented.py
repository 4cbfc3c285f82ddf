"""LLVM's tables as facts (AMDGPUUsage, «Memory Model»): what each operation is made of.

A row is composed of macros, which depend on the machine, its mode, and the scope.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml
from msgspec import Struct, convert

from rspverify.litmus.program import GLOBAL, LOCAL, Order, Scope
from rspverify.scheme.memory import IN_LOCAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape

LOADS, STORES, LDS = "loads", "stores", "LDS"

ACQUIRING = (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)
RELEASING = (Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST)


class Generation(Struct, frozen=True):
    """How a generation writes its accesses, and its waits for each class of operations."""

    load: str
    store: str
    local_load: str
    local_store: str
    local_cas: str
    returning: str
    waits: dict[str, str]


class Macros(Struct, frozen=True):
    """The macros of a scope (documented.yaml)."""

    bits: str = ""
    st: str = ""
    rmw: str = ""
    wb: tuple[str, ...] = ()
    wr: tuple[str, ...] = ()
    wa: bool = False
    inv: tuple[str, ...] = ()
    fence: tuple[str, ...] | None = None

    @property
    def wf(self) -> tuple[str, ...]:
        return self.wr if self.fence is None else self.fence


class Documented(Struct, frozen=True):
    """A machine in a mode: its macros by scope."""

    generation: Generation
    wg: Macros
    dv: Macros
    all: Macros

    def macros(self, scope: Scope | None) -> Macros:
        own = {Scope.WG: self.wg, Scope.DV: self.dv, Scope.ALL: self.all}
        return own.get(scope, Macros())


def _tables() -> Iterator[tuple[tuple[str, str], Documented]]:
    facts = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    for row in facts["tables"]:
        place = row.pop("cpu"), row.pop("features")
        row["generation"] = facts["generations"][row["generation"]]
        yield place, convert(row, Documented)


TABLES = dict(_tables())
"""By processor and features."""


def documented(shape: Shape, table: Documented) -> list[str]:
    """The code of an operation by the documented table.

    Of OpenCL's, an access that is not seq_cst is ordered with those of its own memory alone, and a
    fence with those of the memories that it names.
    """
    generation, local = table.generation, shape.memory == IN_LOCAL
    alone = shape.order is not Order.SEQ_CST
    acquires = shape.order in ACQUIRING and shape.kind is not Op.STORE
    releases = shape.order in RELEASING and shape.kind is not Op.LOAD
    if shape.kind is Op.FENCE:
        macros = table.macros(shape.scope)
        waits = macros.wr if releases else macros.wf if acquires else ()
        kept = tuple(it for it in waits if it in _of_memories(shape))
        before = macros.wb if releases and not local else ()
        after = macros.inv if acquires and not local else ()
        return [*before, *_waits(kept, generation), *after]
    macros = table.macros(
        Scope.WG if local and shape.scope in (Scope.DV, Scope.ALL) else shape.scope
    )
    if local and alone:
        return [_access(shape, macros, generation)]
    kept = tuple(it for it in macros.wr if not alone or it in _of_memories(shape))
    code = [*macros.wb] if releases and not local else []
    code += _waits(kept, generation) if releases or not alone else []
    code.append(_access(shape, macros, generation))
    if acquires and (macros.wa or releases or not alone):
        code += _waits(tuple(it for it in macros.wr if it == _own(shape)), generation)
    return [*code, *(macros.inv if acquires else ())]


def _own(shape: Shape) -> str:
    """The class of an operation."""
    if shape.memory == IN_LOCAL:
        return LDS
    return STORES if not shape.used or shape.kind is Op.STORE else LOADS


def _of_memories(shape: Shape) -> tuple[str, ...]:
    """The classes of operations of the memories of an operation."""
    classes = {GLOBAL: (LOADS, STORES), LOCAL: (LDS,)}
    return tuple(it for memory in sorted(shape.memory) for it in classes[memory])


def _waits(classes: tuple[str, ...], generation: Generation) -> list[str]:
    return [*dict.fromkeys(generation.waits[it] for it in classes)]


def _access(shape: Shape, macros: Macros, generation: Generation) -> str:
    local = shape.memory == IN_LOCAL
    bits = ""
    match shape.kind:
        case Op.LOAD:
            name, operands = (generation.local_load if local else generation.load), "r x"
            bits = macros.bits
        case Op.STORE:
            name, operands = (generation.local_store if local else generation.store), "x r"
            bits = macros.st
        case _:
            cas = generation.local_cas if local else "global_atomic_cmpswap"
            name = cas if shape.kind is Op.CAS else "ds_atomic" if local else "global_atomic"
            operands = "r x"
            returns = "" if not shape.used else generation.returning
            bits = f"{returns} {macros.rmw}"
    if local:
        bits = ""
    return " ".join([name, operands, *bits.split()])
