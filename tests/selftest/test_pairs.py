"""Random pairs: our own readers read them, they are of every kind, and every engine agrees."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from programs import pairs

from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.symmetry import exchangeable
from rspverify.judge.judge import Judge
from rspverify.litmus.program import Kind, Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import STRONG
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.row import Shape, shape_of
from rspverify.scheme.writer import scheme_text
from rspverify.selftest.compare import Choices
from rspverify.selftest.run import (
    Pair,
    compare_texts,
    random_pair,
    tasks_for,
)
from rspverify.selftest.schemes import (
    COLUMNS,
    EXPECTED,
    ODD,
    for_machine,
    random_scheme,
    row_of,
    shape_for,
)
from rspverify.soundness.settings import Engine
from rspverify.source import Source
from rspverify.value import Constant, reads

CHEAP = Choices(states=1_500, steps=16)


def seeded(count: int, devices: int | None = None) -> list[Pair]:
    return [random_pair(11, number, devices) for number in range(count)]


def program_of(pair: Pair) -> Program:
    return read_program(Source("t.litmus", litmus_text(pair.test, "t")))


def test_our_readers_read_them() -> None:
    """What is read is what was drafted, and each operation has a row."""
    for pair in seeded(200):
        if pair.machine is not None:
            continue  # Its file is beside what is written (test_random_machines.py).
        program = program_of(pair)
        operations = [it for it in program.operations if it.location != EXPECTED]
        assert [
            (it.kind, it.location, it.scope, it.order, it.remote, it.operator) for it in operations
        ] == [
            (it.kind, it.location, it.scope, it.order, it.remote, it.operator)
            for it in pair.test.accesses
        ]
        places = [thread.place for thread in pair.test.threads]
        read = [(thread.device, thread.workgroup) for thread in program.threads]
        assert [sorted(set(read)).index(it) for it in read] == [
            sorted(set(places)).index(it) for it in places
        ]
        scheme = read_scheme(Source("s.yaml", scheme_text(pair.scheme)))
        assert scheme.machine.name == pair.scheme.machine.name
        code = scheme.compiled(program).instructions
        assert len(code) == sum(
            len(pair.scheme.table[shape_of(it)].code) for it in program.operations
        )


@pytest.mark.parametrize("name", COLUMNS)
def test_tab_3_is_that_of_the_shipped_schemes(name: str, root: Path) -> None:
    scheme = read_scheme_file(root / "schemes" / f"{name}.yaml")
    shapes = [(shape, row) for row in scheme.rows for shape in row.shapes]
    assert len(shapes) > 12
    for shape, row in shapes:
        assert list(map(str, row_of(name, shape))) == list(map(str, row.code))


def test_at_scope_all_a_row_reaches_every_device() -> None:
    code = row_of("proposed", Shape(Op.LOAD, Scope.ALL, Order.ACQUIRE, True))
    assert [str(each) for each in code] == ["LD r x", "FLU_L1 SY", "FLU_L2 SY", "INV_L1 WG"]


def test_they_are_of_every_kind() -> None:
    drawn = seeded(500)
    kinds = {pair.scheme_kind for pair in drawn}
    wanted = {*COLUMNS, *(f"mutant of {it}" for it in COLUMNS), *(f"odd: {it}" for it in ODD)}
    assert kinds == wanted
    assert {len(pair.test.threads) for pair in drawn} == {1, 2, 3, 4}
    assert {len(pair.test.workgroups) for pair in drawn} == {1, 2}
    assert {len({it.place for it in pair.test.threads}) for pair in drawn} == {1, 2, 3}
    machines = {"rsp", "rsp-st-waits", "rsp-inv-l2", "rsp-coherent-l2", "random"}
    assert {pair.scheme.machine.name for pair in drawn} == machines
    statements = [each for pair in drawn for each in pair.test.accesses]
    assert {(it.kind, it.remote) for it in statements if it.scope} == {
        *((kind, remote) for kind in STRONG for remote in (False, True)),
        (Kind.FENCE, False),
    }
    assert {it.scope for it in statements} == {None, *Scope} - {Scope.SG}, (
        "a test of these has no sub-groups"
    )
    assert all(it.order in (None, STRONG[it.kind]) for it in statements if it.kind in STRONG)
    assert {it.operator for it in statements} == {None, "+", "|", "exchange", "compare_exchange"}
    rows = [row for pair in drawn for row in pair.scheme.rows]
    assert {row.kind for row in rows} == set(Op) - {Op.CAS}
    accesses = {str(each) for row in rows for each in row.code}
    assert {"INC_L1 r x", "INC_L2 r x", "RMW_L1 r x", "RMW_L2 r x"} <= accesses
    assert any(len(it.guards) > 1 for it in statements)
    values = [it.value for it in statements if it.value]
    assert {bool(reads(it)) for it in values} == {False, True}
    assert sum(bool(exchangeable(program_of(it))) for it in drawn[:200]) >= 15
    assert any(it.kind is Kind.RMW and it.value == Constant(2) for it in statements)


@pytest.mark.parametrize("devices", [1, 2])
def test_so_many_devices_as_asked_for(devices: int) -> None:
    assert {len(pair.test.workgroups) for pair in seeded(60, devices)} == {devices}


def test_a_number_of_a_seed_is_one_pair() -> None:
    assert random_pair(3, 7) == random_pair(3, 7)
    assert len({random_pair(3, number).test for number in range(20)}) > 15
    assert random_pair(3, 7) != random_pair(4, 7)


def test_a_scheme_has_the_rows_of_its_test_and_no_other() -> None:
    pair = random_pair(3, 7)
    _, scheme = random_scheme(random.Random(0), pair.test)
    assert {shape_for(it) for it in pair.test.accesses} <= set(scheme.table)
    assert len(scheme.rows) == len({shape_for(it) for it in pair.test.accesses})


def test_codes_for_amds_machines_are_of_global_memory() -> None:
    """The tests have no local memory; of its instructions no row could be made."""
    machine = MACHINES["amdgpu-gfx9"]
    for number in range(20):
        pair = random_pair(5, number)
        rng = random.Random(number)
        _, drawn = random_scheme(rng, pair.test)
        scheme = for_machine(rng, drawn, machine)
        assert read_scheme(Source("s.yaml", scheme_text(scheme))).machine == machine
        used = {it.mnemonic for row in scheme.rows for it in row.code}
        assert all(it.serves("global") for it in used)


def test_workers_change_nothing() -> None:
    tasks = tasks_for(2, 4, 30, None, CHEAP)
    alone, together = (list(Judge(workers=count).run(tasks)) for count in (1, 2))
    assert alone == together == [task.decide() for task in tasks]


def test_every_engine_finds_the_same_outcomes() -> None:
    choices = replace(CHEAP, turn=None)
    results = list(Judge().run(tasks_for(1, 24, 0, None, choices)))
    assert [it.disagreement for it in results if it.disagreement] == []
    decided = Counter(len(it.found.decided) for it in results)
    assert decided[len(CHEAP.engines)] >= 2, decided
    assert decided[0] + decided[1] < 12, decided
    several = [it for it in results if it.labels["devices"] == "2" and len(it.found.decided) > 1]
    assert len(several) >= 3


def test_every_verdict_follows_from_the_outcomes() -> None:
    """In both readings; and the pairs are worth the while."""
    results = list(Judge().run(tasks_for(4, 12, 0, None, CHEAP)))
    assert [it.disagreement for it in results if it.disagreement] == []
    words = Counter(it.found.word for it in results)
    race_free = words["SOUND"] + words["UNSOUND"] + words["VACUOUS"]
    assert race_free > 2 * words["RACY"], words
    assert words["UNSOUND"] >= 1, words


@settings(max_examples=10, derandomize=True)
@given(pairs())
def test_any_pair(pair: Pair) -> None:
    """The same on pairs that hypothesis makes."""
    assert compare_texts(pair.test, pair.scheme, CHEAP).differences == ()


def test_fewer_engines_are_asked_if_one_would_be_alone() -> None:
    """Where the first found nothing, the last has nobody to be compared with."""
    choices = replace(CHEAP, engines=(Engine.UNROLL, Engine.EXPLICIT), states=1)
    found = [compare_texts(it.test, it.scheme, choices) for it in seeded(3)]
    assert {it.decided for it in found} == {()}
    assert all("more than 1 machine states" in it.skipped["explicit"] for it in found)
