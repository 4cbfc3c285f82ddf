"""AMD's machines and LLVM's tables for them: what is known to be needed of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checks import MODEL, ROOT, data, judged

import rspverify
from rspverify.architecture.architecture import (
    OPERAND,
    If,
    Mnemonic,
    OfWidestScope,
    StepKind,
)
from rspverify.generate.rows import row_tests
from rspverify.litmus.program import Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.machine.machine import unbounded
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.records import fields_of, replace
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.row import Shape
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.theorem import soundness
from rspverify.source import read_source
from rspverify.verdict import ProgressWord, Word

BOTH = frozenset({"global", "local"})


@dataclass(frozen=True)
class Known:
    """Of a table: the switches without which a message is not sound, and what its rows need.

    intended: those that are on by themselves; switches: those that the document leaves open. load, store, lds: waits, that for local memory where no like table is asked about it. inv,
    write_back: what an acquire and a release of the device have besides.
    """

    name: str
    load: str = "s_waitcnt vmcnt(0)"
    store: str = "s_waitcnt vmcnt(0)"
    lds: str | None = "s_waitcnt lgkmcnt(0)"
    inv: tuple[str, ...] = ("buffer_wbinvl1_vol",)
    write_back: str | None = None
    intended: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()


_AFTER = "WRITE_BACK_AFTER_OWN_STORES"
_OLD = {"inv": ("buffer_inv sc1",), "write_back": "buffer_wbl2 sc1", "intended": (_AFTER,)}
_NEW = {"load": "s_wait_loadcnt 0x0", "store": "s_wait_storecnt 0x0", "lds": "s_wait_dscnt 0x0"}
_GL = {"store": "s_waitcnt_vscnt null 0x0", "inv": ("buffer_gl1_inv", "buffer_gl0_inv")}

KNOWN = [
    Known("gfx900"),
    Known("gfx90a"),
    Known("gfx90a-tgsplit", lds=None),
    Known("gfx942", **_OLD),
    Known("gfx942-tgsplit", lds=None, **_OLD),
    Known("gfx1030", **_GL),
    Known("gfx1100", **_GL | {"lds": None}),
    Known("gfx1200", **_NEW, inv=("global_inv scope:SCOPE_DEV",)),
    Known("gfx1200-cumode", **_NEW | {"lds": None}, inv=("global_inv scope:SCOPE_DEV",)),
    Known(
        "gfx1250",
        **_NEW,
        inv=("global_inv scope:SCOPE_DEV",),
        write_back="global_wb scope:SCOPE_DEV",
        intended=(_AFTER,),
        switches=("INVALIDATES_AT_ONCE",),
    ),
]
ROWS = {it.title: it for it in row_tests()}
each_table = pytest.mark.parametrize("known", KNOWN, ids=lambda it: it.name)


@cache
def table(name: str, switches: tuple[str, ...] = ()) -> Scheme:
    found = read_scheme_file(ROOT / f"schemes/amdgpu/{name}.yaml")
    machine = found.machine.switched("+".join(switches)) if switches else found.machine
    return found.on_machine(machine)


@cache
def program(test: str) -> Program:
    if test in ROWS:
        return program_of(read_notation(ROWS[test].notation), test)
    return read_program(read_source(ROOT / f"litmus/amdgpu/{test}.litmus"))


def is_sound(test: str, scheme: Scheme) -> bool:
    case = Case(program(test), scheme, MODEL, Settings())
    target = MachineSide(case.machine(), case.settings, case.limits)
    return soundness(ModelSide(case.program, MODEL), target).word is Word.SOUND


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


@pytest.mark.parametrize("known", [it for it in KNOWN if it.intended], ids=lambda it: it.name)
def test_what_is_not_known_is_needed_as_well(known: Known) -> None:
    assert is_sound("MP-dv", table(known.name)) is not bool(known.switches)
    for switch in known.intended:
        assert not is_sound("MP-dv", table(known.name, (*known.switches, f"{switch}=off")))


@each_table
def test_a_relaxed_load_of_the_device_needs_its_bits(known: Known) -> None:
    """The cache has what was there before a read-modify-write that was seen: the wave's own drops
    it, if that is not turned off."""
    scheme = table(known.name, known.switches)
    off = table(known.name, (*known.switches, "RMW_DROPS_LINE=off"))
    near = scheme.table[Shape(Op.LOAD, None, None, False)].code
    row = scheme.table[shape(Op.LOAD, Order.RELAXED)]
    assert is_sound("CoRR-dv", off)
    assert not is_sound("CoRR-dv", off.with_code(row.number, near))
    assert is_sound("CoRR-dv", scheme.with_code(row.number, near))


def _coarse(part: Any) -> Any:
    """The same with no memory that is fine-grained because of who accesses it."""
    if isinstance(part, If) and OfWidestScope(OPERAND) in part.conditions:
        return None
    if isinstance(part, OfWidestScope):
        return None
    if isinstance(part, dict):
        return {key: _coarse(each) for key, each in part.items()}
    if isinstance(part, tuple):
        return tuple(each for it in part if (each := _coarse(it)) is not None)
    if isinstance(part, If | Mnemonic | StepKind):
        return replace(part, **{key: _coarse(getattr(part, key)) for key in fields_of(part)})
    return part


SYSTEM = [
    ("gfx90a", ("buffer_wbl2",), ("buffer_invl2", "buffer_wbinvl1_vol")),
    ("gfx942", ("buffer_wbl2 sc0 sc1",), ("buffer_inv sc0 sc1",)),
    ("gfx1200", ("global_wb scope:SCOPE_SYS",), ("global_inv scope:SCOPE_SYS",)),
]


@pytest.mark.parametrize(("name", "write_back", "inv"), SYSTEM, ids=lambda it: str(it))
def test_two_devices(name: str, write_back: tuple[str, ...], inv: tuple[str, ...]) -> None:
    scheme = table(name)
    assert is_sound("MP-all", scheme)
    assert not is_sound("MP-all", table(name, (f"{_AFTER}=off",)))
    acquire = shape(Op.LOAD, Order.ACQUIRE, Scope.ALL)
    release = shape(Op.STORE, Order.RELEASE, Scope.ALL)
    for row, each in [*((release, it) for it in write_back), *((acquire, it) for it in inv)]:
        assert not is_sound("MP-all", without(scheme, row, each)), each


@pytest.mark.parametrize("test", ["SB-sc-all", "CoRR-all", "RMW-all"])
def test_what_all_devices_access_is_fine_grained_on_gfx90a(test: str) -> None:
    """No access passes by the L2, whatever its scope: only such memory is coherent."""
    scheme = table("gfx90a")
    assert is_sound(test, scheme)
    near = replace(scheme.machine, instructions=_coarse(scheme.machine.instructions))
    assert not is_sound(test, scheme.on_machine(near))
    assert is_sound(test, scheme.on_machine(near.switched("FINE_GRAINED")))


@pytest.mark.parametrize("case", data("soundness/waits_for_few_programs.yaml"))
def test_what_a_wait_is_for_that_few_programs_need(case: Any) -> None:
    scheme = table(case["table"])
    (row,) = (it for it in scheme.table if str(it) == case["row"])
    assert is_sound(case["test"], scheme)
    assert not is_sound(case["test"], without(scheme, row, case["wait"]))


@pytest.mark.parametrize("name", ["gfx900", "gfx90a", "gfx942"])
def test_what_a_wave_begins_for_its_device_its_work_group_overtakes(name: str) -> None:
    """A seq_cst load of work-group scope waits for no store."""
    assert not is_sound("SB3-store-load-seq_cst-wg", table(name))
    assert is_sound("SB3-store-load-seq_cst-wg", table(name, ("WAITS_COVER_UNIT",)))


@pytest.mark.parametrize("order", [Order.RELAXED, Order.ACQUIRE])
def test_dlc_is_needed_behind_a_fence_that_empties_nothing(order: Order) -> None:
    scheme, test = table("gfx1030"), f"SB-waited-load-{order.value}-dv"
    row = scheme.table[shape(Op.LOAD, order)]
    near = scheme.table[shape(Op.LOAD, order, Scope.WG)].code[0]
    assert near.mnemonic.modifiers == ("glc",) and "dlc" in row.code[0].mnemonic.modifiers
    assert is_sound(test, scheme)
    assert not is_sound(test, scheme.with_code(row.number, (near, *row.code[1:])))


def test_a_seq_cst_fence_of_local_memory_orders_no_accesses_of_global_memory() -> None:
    """OpenCL by the letter asks for it, and no switch excuses it."""
    scheme = table("gfx1030", ("STORE_DROPS_LINE", "RMW_HIDES_LINE", "WAITS_COVER_UNIT"))
    assert not is_sound("SB-fence-seq_cst-local-dv-for-global", scheme)


@pytest.mark.parametrize("test", ["MP-dv", "CoRR-loads-dv", "MP-in-local-wg", "CoWR-wg"])
def test_search_says_the_same(test: str) -> None:
    settings = Settings(engine=Engine.EXPLICIT, shortest=False)
    assert judged(program(test), table("gfx900"), settings).word is Word.SOUND


def test_what_is_shown_does_not_depend_on_what_was_asked_before() -> None:
    """Where the states are too many to search, it is the solver's own execution made shorter."""

    def shown(test: str) -> list[str]:
        execution = judged(program(test), table("gfx900")).execution
        return [str(step) for step in execution.steps] if execution else []

    first = shown("ISA2-wg-dv")
    assert first and not shown("CoRR-dv") and shown("WRC-wg-dv")
    assert shown("ISA2-wg-dv") == first


@each_table
def test_nothing_gets_stuck(known: Known) -> None:
    for test in ("MP-dv", "MP-all"):
        assert progress(program(test), table(known.name), Settings()).word is ProgressWord.LIVE


@each_table
def test_events_knows_the_machine(known: Known) -> None:
    assert unbounded(table(known.name).machine) is None


def test_a_gate_sees_a_release_that_lacks_something(tmp_path: Path) -> None:
    """Every write-back, or the wait behind each, is left out: an expected file does not hold."""
    path, expected = tmp_path / "table.yaml", tmp_path / "expected.yaml"
    tests = [ROOT / f"litmus/amdgpu/{it}.litmus" for it in ("MP-dv", "MP-ar-dv", "WRC-wg-dv")]
    text = (ROOT / "schemes/amdgpu/gfx942.yaml").read_text()
    path.write_text(text)
    asked = rspverify.check(path, tests, expect=expected, refresh=True)
    asked.expect(asked.report().results)
    assert "OPEN if STORE_DROPS_LINE" in expected.read_text()
    assert not rspverify.check(path, tests, expect=expected).report().held.unexpected
    for dropped in (r"buffer_wbl2 sc1, ", r"(?<=buffer_wbl2 sc1, )s_waitcnt vmcnt\(0\), "):
        path.write_text(re.sub(dropped, "", text))
        assert rspverify.check(path, tests, expect=expected).report().held.unexpected >= 2
