"""AMD's machines and LLVM's tables for them: what is known to be needed of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path

import pytest

from rspverify.architecture import Architecture
from rspverify.axiomatic import load_model
from rspverify.litmus import Program, read_program
from rspverify.litmus.program import Order, Scope
from rspverify.machine.machine import unbounded
from rspverify.scheme import Op, Scheme, Shape, read_scheme_file
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.target import target_of
from rspverify.soundness.theorem import holds
from rspverify.source import read_source

ROOT = Path(__file__).resolve().parents[2]
MODEL = load_model("opencl-rsp")
BOTH = frozenset({"global", "local"})


@dataclass(frozen=True)
class Known:
    """Of a table: the switches without which a message is not sound, and what its rows need.

    load, store, lds: waits; inv, write_back: what an acquire and a release of the device have
    besides.
    """

    name: str
    load: str = "s_waitcnt vmcnt(0)"
    store: str = "s_waitcnt vmcnt(0)"
    lds: str | None = "s_waitcnt lgkmcnt(0)"
    inv: tuple[str, ...] = ("buffer_wbinvl1_vol",)
    write_back: str | None = None
    switches: tuple[str, ...] = ()


_AFTER = "WRITE_BACK_AFTER_OWN_STORES"
_OLD = {"inv": ("buffer_inv sc1",), "write_back": "buffer_wbl2 sc1", "switches": (_AFTER,)}
_NEW = {"load": "s_wait_loadcnt 0x0", "store": "s_wait_storecnt 0x0", "lds": "s_wait_dscnt 0x0"}
_GL = {"store": "s_waitcnt_vscnt null 0x0", "inv": ("buffer_gl1_inv", "buffer_gl0_inv")}

KNOWN = [
    Known("gfx90a"),
    Known("gfx90a-tgsplit", lds=None),
    Known("gfx942", **_OLD),
    Known("gfx942-tgsplit", lds=None, **_OLD),
    Known("gfx1030", **_GL),
    Known("gfx1100", **_GL),
    Known("gfx1200", **_NEW, inv=("global_inv scope:SCOPE_DEV",)),
    Known("gfx1200-cumode", **_NEW, inv=("global_inv scope:SCOPE_DEV",)),
    Known(
        "gfx1250",
        **_NEW,
        inv=("global_inv scope:SCOPE_DEV",),
        write_back="global_wb scope:SCOPE_DEV",
        switches=(_AFTER, "INVALIDATES_AT_ONCE"),
    ),
]
each_table = pytest.mark.parametrize("known", KNOWN, ids=lambda it: it.name)


@cache
def table(name: str, switches: tuple[str, ...] = ()) -> Scheme:
    found = read_scheme_file(ROOT / f"schemes/amdgpu/{name}.yaml")
    return found.on_machine(reduce(Architecture.switched, switches, found.machine))


@cache
def program(test: str) -> Program:
    return read_program(read_source(ROOT / f"litmus-amdgpu/{test}.litmus"))


@cache
def source(test: str) -> SourceExecutions:
    return SourceExecutions(program(test), MODEL)


def is_sound(test: str, scheme: Scheme) -> bool:
    case = Case(program(test), scheme, MODEL, Settings())
    return holds(case, source(test), lambda it: target_of(it, case.settings, case.limits))


def shape(op: Op, order: Order, scope: Scope = Scope.DV, **others: object) -> Shape:
    return Shape(op, scope, order, False, **others)  # type: ignore[arg-type]


def without(scheme: Scheme, it: Shape, instruction: str) -> Scheme:
    """A table with a row that has lost an instruction."""
    row = scheme.table[it]
    left = tuple(each for each in row.code if str(each) != instruction)
    assert len(left) < len(row.code)
    return scheme.with_code(row.number, left)


ACQUIRE, RELEASE = shape(Op.LOAD, Order.ACQUIRE), shape(Op.STORE, Order.RELEASE)


def needed(known: Known) -> Iterator[tuple[str, Shape, str]]:
    """Instructions, each with its row and a program that is not sound without it."""
    yield "MP-dv", ACQUIRE, known.load
    yield "MP-dv", RELEASE, known.store
    for each in (*known.inv, *filter(None, [known.write_back])):
        yield "MP-dv", RELEASE if each == known.write_back else ACQUIRE, each
    yield "SB-sc-dv", shape(Op.LOAD, Order.SEQ_CST), known.store
    if known.lds:
        fence = shape(Op.FENCE, Order.RELEASE, Scope.WG, memory=BOTH)
        yield "MP-local-wg", fence, known.lds


@each_table
def test_each_instruction_is_needed(known: Known) -> None:
    scheme = table(known.name, known.switches)
    for test in dict.fromkeys(test for test, _, _ in needed(known)):
        assert is_sound(test, scheme), test
    for test, row, instruction in needed(known):
        assert not is_sound(test, without(scheme, row, instruction)), (test, instruction)


@pytest.mark.parametrize("known", [it for it in KNOWN if it.switches], ids=lambda it: it.name)
def test_what_is_not_known_is_needed_as_well(known: Known) -> None:
    for switch in known.switches:
        others = tuple(it for it in known.switches if it != switch)
        assert not is_sound("MP-dv", table(known.name, others))


@each_table
def test_a_relaxed_load_of_the_device_needs_its_bits(known: Known) -> None:
    """The cache has what was there before a read-modify-write that was seen."""
    scheme = table(known.name)
    near = scheme.table[Shape(Op.LOAD, None, None, False)].code
    row = scheme.table[shape(Op.LOAD, Order.RELAXED)]
    assert is_sound("CoRR-dv", scheme)
    assert not is_sound("CoRR-dv", scheme.with_code(row.number, near))


SYSTEM = [
    ("gfx90a", ("buffer_wbl2",), ("buffer_invl2", "buffer_wbinvl1_vol")),
    ("gfx942", ("buffer_wbl2 sc0 sc1",), ("buffer_inv sc0 sc1",)),
    ("gfx1200", ("global_wb scope:SCOPE_SYS",), ("global_inv scope:SCOPE_SYS",)),
]


@pytest.mark.parametrize(("name", "write_back", "inv"), SYSTEM, ids=lambda it: str(it))
def test_two_devices(name: str, write_back: tuple[str, ...], inv: tuple[str, ...]) -> None:
    scheme = table(name, (_AFTER,))
    assert is_sound("MP-all", scheme)
    assert not is_sound("MP-all", table(name))
    acquire = shape(Op.LOAD, Order.ACQUIRE, Scope.ALL)
    release = shape(Op.STORE, Order.RELEASE, Scope.ALL)
    for row, each in [*((release, it) for it in write_back), *((acquire, it) for it in inv)]:
        assert not is_sound("MP-all", without(scheme, row, each)), each


@pytest.mark.parametrize("test", ["SB-sc-all", "CoRR-all", "RMW-all"])
def test_memory_of_gfx90a_that_is_not_coherent(test: str) -> None:
    """No access of it passes by the L2, whatever its scope."""
    assert not is_sound(test, table("gfx90a"))
    assert is_sound(test, table("gfx90a", ("FINE_GRAINED",)))


@each_table
def test_events_knows_the_machine(known: Known) -> None:
    assert unbounded(table(known.name).machine) is None
