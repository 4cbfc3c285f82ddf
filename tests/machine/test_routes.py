"""Machines of which the order in which writes reach memory is not known, each for one reason.

Where it were taken for known, `check` would say SOUND of executions whose own rf and mo are not
those of their outcome.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from machine.own_machines import table, text_of
from machine.planted import keep_nothing
from pytest import MonkeyPatch

from rspverify.axiomatic.cat import load_model
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.machine.machine import everywhere
from rspverify.machine.routes import Routes
from rspverify.machine.witness import GeneratedWitness
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Engine, Reading, Settings
from rspverify.source import Source
from rspverify.verdict import Word

REASONS = table("unknown_routes")


def scheme_on(text: str, stores: str, folder: Path) -> Scheme:
    """A machine that says this otherwise than the paper's, and a scheme with these rows for stores:

    for the scopes WG and DV, as `ST r x / PUT r x`.
    """
    folder.joinpath("variant.machine").write_text(text_of(text))
    rows = [
        f"  - {{op: store, scope: {scope}, remote: false, code: [{code}]}}"
        for scope, code in zip(("wg", "dv"), stores.split(" / "), strict=False)
    ]
    rows.append("  - {op: load, scope: wg, remote: false, code: [LD r x]}")
    file = folder / "variant.yaml"
    file.write_text("\n".join(["name: variant", "machine: variant.machine", "rows:", *rows, ""]))
    return read_scheme_file(file)


def program_of(threads: str) -> Program:
    """Threads as `x=1 y=2 | x=2! y`: atomic stores and loads, with a ! of device scope, else WG.

    Each thread has its own device.
    """
    names = [x for x in ("x", "y") if x in threads]
    text, places = ["OpenCL t", f"{{ {' '.join(f'[{x}]=0;' for x in names)} }}"], []
    locations = ", ".join(f"global atomic_int* {x}" for x in names)
    for number, thread in enumerate(threads.split("|")):
        text.append(f"P{number} ({locations}) {{")
        for each in thread.split():
            x, _, value = each.rstrip("!").partition("=")
            scope = "memory_scope_device" if each.endswith("!") else "memory_scope_work_group"
            stored = f"atomic_store_explicit({x}, {value}, memory_order_release, {scope});"
            loaded = f"atomic_load_explicit({x}, memory_order_acquire, {scope});"
            text.append(stored if value else f"int r0 = {loaded}")
        text.append("}")
        places.append(f"(device (work_group P{number}))")
    text.append(f"scopeTree (system {' '.join(places)})\n")
    return read_program(Source("t.litmus", "\n".join(text)))


def word_of(
    scheme: Scheme, threads: str, engine: Engine, reading: Reading = Reading.OUTCOME
) -> Word:
    """What `check` says of them."""
    settings = Settings(engine=engine, reading=reading)
    return check(Case(program_of(threads), scheme, load_model("opencl-rsp"), settings)).word


@pytest.mark.parametrize("reason", REASONS)
def test_a_machine_on_which_writes_have_no_known_order(
    reason: str, tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    case = REASONS[reason]
    scheme, threads = scheme_on(case["machine"], case["stores"], tmp_path), case["threads"]
    machine = everywhere(scheme.machine)
    assert machine.shapes.unknown is None
    assert reason in str(machine.in_cases.routes.unknown)
    expected = word_of(scheme, threads, Engine.EXPLICIT)
    assert word_of(scheme, threads, Engine.EVENTS) is expected
    assert word_of(scheme, threads, Engine.EVENTS, Reading.WITNESS) is not Word.SOUND
    keep_nothing(monkeypatch)
    monkeypatch.setattr(Routes, "unknown", None)
    with suppress(ValueError):
        assert word_of(scheme, threads, Engine.EVENTS) is not expected


def test_an_operation_that_stores_twice_by_several_ways(
    tmp_path: Path, monkeypatch: MonkeyPatch
) -> None:
    """What it writes first, and not the last that it does, may stay in memory."""
    put = "instruction PUT r x\n do each device d: d.L2.VALID[x] := false; store(L2, x, r)"
    scheme = scheme_on(put, "ST r x, PUT r x / PUT r x", tmp_path)
    assert everywhere(scheme.machine).in_cases.routes.unknown is None
    for engine in (Engine.EXPLICIT, Engine.EVENTS):
        assert word_of(scheme, "x=1 x=2!", engine) is Word.UNSOUND
    monkeypatch.setattr(GeneratedWitness, "_overtaken", lambda self: iter(()))
    assert word_of(scheme, "x=1 x=2!", Engine.EVENTS) is Word.SOUND


def test_a_store_that_is_made_twice(tmp_path: Path) -> None:
    """At once and later: what is later may come after the next store."""
    twice = (
        "state { pool : pool of thread }\n"
        "complete when each workgroup w, location y: not w.L1.DIRTY[y],\n"
        " each device d, location y: not d.L2.DIRTY[y], each thread t: empty t.pool\n"
        "instruction ST r x\n do add self to pool; store(L1, x, r)\n later STORE when self in pool\n"
        " do remove self from pool; store(L1, x, r)"
    )
    scheme = scheme_on(twice, "ST r x", tmp_path)
    assert "is written once" in str(everywhere(scheme.machine).in_cases.routes.unknown)
    for engine in (Engine.EXPLICIT, Engine.EVENTS):
        assert word_of(scheme, "x=1 x=2", engine) is Word.UNSOUND
