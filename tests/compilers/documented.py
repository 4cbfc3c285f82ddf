"""LLVM's tables as facts (AMDGPUUsage, «Memory Model»): what each operation is made of.

A row is composed of macros, which depend on the machine, its mode, and the scope. WR: waits before
a release; WA: waits for the operation itself; INV: invalidations; WB: write-backs.
"""

from __future__ import annotations

from dataclasses import dataclass

from rspverify.compilers.ir import LOCAL, Shape
from rspverify.litmus.program import Order
from rspverify.scheme.orders import Op

LOADS, STORES, LDS = "loads", "stores", "LDS"
ALL = (LOADS, STORES, LDS)

ACQUIRING = (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)
RELEASING = (Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST)


@dataclass(frozen=True)
class Generation:
    """How a generation writes its accesses, and its waits for each class of operations."""

    load: str
    store: str
    local_load: str
    local_store: str
    local_cas: str
    returning: str
    waits: dict[str, str]


_OLD = {LOADS: "s_waitcnt vmcnt(0)", STORES: "s_waitcnt vmcnt(0)", LDS: "s_waitcnt lgkmcnt(0)"}
_APART = _OLD | {STORES: "s_waitcnt_vscnt null 0x0"}
_NEW = {LOADS: "s_wait_loadcnt 0x0", STORES: "s_wait_storecnt 0x0", LDS: "s_wait_dscnt 0x0"}

_DWORD = ("global_load_dword", "global_store_dword", "ds_read_b32", "ds_write_b32", "ds_cmpst")
_B32 = ("global_load_b32", "global_store_b32", "ds_load_b32", "ds_store_b32", "ds_cmpstore")

GFX9 = Generation(*_DWORD, "glc", _OLD)
GFX942 = Generation(*_DWORD, "sc0", _OLD)
GFX10 = Generation(*_DWORD, "glc", _APART)
GFX11 = Generation(*_B32, "glc", _APART)
GFX12 = Generation(*_B32, "th:TH_ATOMIC_RETURN", _NEW)


@dataclass(frozen=True)
class Macros:
    """The macros of a scope. bits: of loads; st, rmw: of stores and RMWs.

    wa: whether an acquire waits for the operation itself; fence: what an acquire fence waits for.
    """

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


NOTHING = Macros()


@dataclass(frozen=True)
class Documented:
    """A machine in a mode: its macros by scope."""

    generation: Generation
    wg: Macros
    dv: Macros
    all: Macros

    def macros(self, scope: str | None) -> Macros:
        return {"wg": self.wg, "dv": self.dv, "all": self.all}.get(scope or "", NOTHING)


_L1 = ("buffer_wbinvl1_vol",)
_GFX9_DV = Macros("glc", wr=ALL, wa=True, inv=_L1)
_GFX90A_ALL = Macros("glc", wb=("buffer_wbl2",), wr=ALL, wa=True, inv=("buffer_invl2", *_L1))
_GFX942_DV = Macros(
    "sc1", "sc1", "", wb=("buffer_wbl2 sc1",), wr=ALL, wa=True, inv=("buffer_inv sc1",)
)
_GFX942_ALL = Macros(
    "sc0 sc1",
    "sc0 sc1",
    "sc1",
    wb=("buffer_wbl2 sc0 sc1",),
    wr=ALL,
    wa=True,
    inv=("buffer_inv sc0 sc1",),
)
_L0 = ("buffer_gl0_inv",)
_BOTH = ("buffer_gl1_inv", "buffer_gl0_inv")
_ONE_CU = Macros(wr=ALL, fence=(LDS,))
_GFX10_DV = Macros("glc dlc", wr=ALL, wa=True, inv=_BOTH)
_GFX11_DV = Macros("glc", wr=ALL, wa=True, inv=_BOTH)


def _scoped(scope: str, *, wb: bool) -> Macros:
    name = f"scope:SCOPE_{scope}"
    written = (f"global_wb {name}",) if wb else ()
    return Macros(name, name, name, wb=written, wr=ALL, wa=True, inv=(f"global_inv {name}",))


TABLES: dict[tuple[str, str], Documented] = {
    ("gfx900", ""): Documented(GFX9, Macros(wr=(LDS,)), _GFX9_DV, _GFX9_DV),
    ("gfx90a", ""): Documented(GFX9, Macros(wr=(LDS,)), _GFX9_DV, _GFX90A_ALL),
    ("gfx90a", "+tgsplit"): Documented(GFX9, _GFX9_DV, _GFX9_DV, _GFX90A_ALL),
    ("gfx942", ""): Documented(GFX942, Macros("sc0", "sc0", wr=(LDS,)), _GFX942_DV, _GFX942_ALL),
    ("gfx942", "+tgsplit"): Documented(
        GFX942,
        Macros("sc0", "sc0", wr=ALL, wa=True, inv=("buffer_inv sc0",)),
        _GFX942_DV,
        _GFX942_ALL,
    ),
    ("gfx1030", ""): Documented(
        GFX10, Macros("glc", wr=ALL, wa=True, inv=_L0), _GFX10_DV, _GFX10_DV
    ),
    ("gfx1030", "+cumode"): Documented(GFX10, _ONE_CU, _GFX10_DV, _GFX10_DV),
    ("gfx1100", ""): Documented(
        GFX11, Macros("glc", wr=ALL, wa=True, inv=_L0), _GFX11_DV, _GFX11_DV
    ),
    ("gfx1100", "+cumode"): Documented(GFX11, _ONE_CU, _GFX11_DV, _GFX11_DV),
    ("gfx1200", ""): Documented(
        GFX12, _scoped("SE", wb=False), _scoped("DEV", wb=False), _scoped("SYS", wb=True)
    ),
    ("gfx1200", "+cumode"): Documented(
        GFX12, _ONE_CU, _scoped("DEV", wb=False), _scoped("SYS", wb=True)
    ),
    ("gfx1250", ""): Documented(
        GFX12, Macros(wr=ALL, wa=True), _scoped("DEV", wb=True), _scoped("SYS", wb=True)
    ),
}
"""By processor and features."""


def documented(shape: Shape, table: Documented) -> list[str]:
    """The code of an operation by the documented table.

    Of OpenCL's, an access that is not seq_cst is ordered with those of its own memory alone, and a
    fence with those of the memories that it names.
    """
    generation, local = table.generation, shape.memories == (LOCAL,)
    alone = shape.order is not Order.SEQ_CST
    acquires = shape.order in ACQUIRING and shape.op is not Op.STORE
    releases = shape.order in RELEASING and shape.op is not Op.LOAD
    if shape.op is Op.FENCE:
        macros = table.macros(shape.scope)
        waits = macros.wr if releases else macros.wf if acquires else ()
        kept = tuple(it for it in waits if it in _of_memories(shape))
        before = macros.wb if releases and not local else ()
        after = macros.inv if acquires and not local else ()
        return [*before, *_waits(kept, generation), *after]
    macros = table.macros("wg" if local and shape.scope in ("dv", "all") else shape.scope)
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
    if shape.memories == (LOCAL,):
        return LDS
    return STORES if shape.used is False or shape.op is Op.STORE else LOADS


def _of_memories(shape: Shape) -> tuple[str, ...]:
    """The classes of operations of the memories of an operation."""
    classes = {"global": (LOADS, STORES), LOCAL: (LDS,)}
    return tuple(it for memory in shape.memories for it in classes[memory])


def _waits(classes: tuple[str, ...], generation: Generation) -> list[str]:
    return [*dict.fromkeys(generation.waits[it] for it in classes)]


def _access(shape: Shape, macros: Macros, generation: Generation) -> str:
    local = shape.memories == (LOCAL,)
    bits = ""
    match shape.op:
        case Op.LOAD:
            name, operands = (generation.local_load if local else generation.load), "r x"
            bits = macros.bits
        case Op.STORE:
            name, operands = (generation.local_store if local else generation.store), "x r"
            bits = macros.st
        case _:
            cas = generation.local_cas if local else "global_atomic_cmpswap"
            name = cas if shape.op is Op.CAS else "ds_atomic" if local else "global_atomic"
            operands = "r x"
            returns = "" if shape.used is False else generation.returning
            bits = f"{returns} {macros.rmw}"
    if local:
        bits = ""
    return " ".join([name, operands, *bits.split()])
