"""Machines that are drawn: our reader reads them, some of each kind, and a planted mistake is found."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from machine.any_engine import differences
from machine.any_program import any_program
from machine.engines import searched
from machine.planted import keep_nothing
from oracle.any_machine import TooMany, outcomes

from rspverify.architecture.machines import machine_named
from rspverify.judge.judge import Judge
from rspverify.machine import draining
from rspverify.machine.machine import Machine, unbounded
from rspverify.machine.rules import Rule
from rspverify.machine.shapes import Entry, Shapes
from rspverify.scheme.reader import read_scheme_file
from rspverify.selftest import run
from rspverify.selftest.compare import Choices
from rspverify.selftest.machines import CHOICES, RandomMachine, random_machine
from rspverify.selftest.run import (
    Disagreement,
    compare_texts,
    random_pair,
    tasks_for,
    write_files,
)
from rspverify.soundness.settings import L2, Engine

CHEAP = Choices(states=1_500, steps=16, seconds=2.0)


@pytest.mark.parametrize("what", CHOICES)
def test_our_reader_reads_every_choice(what: str) -> None:
    for how in CHOICES[what][1:]:
        assert RandomMachine({what: how}).architecture.instructions


def test_some_are_refused_by_events_and_some_are_not() -> None:
    drawn = [random_machine(random.Random(f"shapes {number}")) for number in range(30)]
    refused = sum(unbounded(it.architecture) is not None for it in drawn)
    assert 6 < refused < 24
    assert all(it.simpler() and RandomMachine(it.chosen) == it for it in drawn)


def test_every_engine_is_right_or_refuses() -> None:
    """Instructions in any order, on machines that are drawn."""
    known = 0
    for number in range(30):
        rng = random.Random(f"any {number}")
        drawn = random_machine(rng)
        chosen = RandomMachine({**drawn.chosen, "levels": "one"}) if number % 3 else drawn
        program = any_program(rng, chosen.architecture, 2)
        found = differences(program, 800)
        assert not found, f"{chosen}: {found}"
        known += found is not None
    assert known > 12


def test_the_search_is_what_the_file_says() -> None:
    """Against an interpreter of the file that shares no code with our machine."""
    known = 0
    for number in range(30):
        rng = random.Random(f"file {number}")
        chosen = RandomMachine({**random_machine(rng).chosen, "levels": "one"})
        program = any_program(rng, chosen.architecture, 2)
        try:
            expected = outcomes(program, 300)
        except TooMany:
            continue
        machine = Machine(program, elide=False, evict=True)
        found = searched(machine, reduced=False)
        assert {(it.reads, it.memory) for it in found} == expected, str(chosen)
        known += 1
    assert known > 8


def test_pairs_are_those_of_a_seed_on_a_machine() -> None:
    pair, own = random_pair(7, 31, machine="random"), random_pair(7, 21)
    assert pair.machine is not None and random_pair(7, 31) == pair
    assert own.machine is None
    assert random_pair(7, 21, machine="rsp").test == own.test
    results = list(Judge().run(tasks_for(3, 2, 0, 1, CHEAP, "random")))
    assert not [it.disagreement for it in results if it.disagreement]


def test_a_mistake_is_found_and_written_with_its_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Planted: every value counts for nothing where its bit is false, whoever takes it."""

    def uncounted(self: Shapes, rule: Rule, entry: Entry) -> bool:
        return False

    keep_nothing(monkeypatch)
    monkeypatch.setattr(Shapes, "_takes_uncounted", uncounted)
    drawn = RandomMachine({"LD": "anything", "levels": "one", "step": "SPOIL"})
    monkeypatch.setattr(run, "random_machine", lambda rng: drawn)
    engines = Choices((Engine.EXPLICIT, Engine.EVENTS, Engine.UNROLL), 20_000, 12, 2.0)
    for task in tasks_for(0, 60, 0, 1, engines.of_outcomes(), "random"):
        found = task.decide().disagreement
        if found is not None and found.machine:
            write_files(found, str(tmp_path))
            assert "--machine random" in found.command
            read = read_scheme_file(tmp_path / f"{found.name}.yaml")
            assert read.machine == machine_named(str(tmp_path / f"{found.name}.machine"))
            assert found.machine.count("\n") < 40
            return
    raise AssertionError("not noticed")


def test_progress_is_held_to_all_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: it is not asked whether any step makes an entry VALID, which no engine doubts."""
    monkeypatch.setattr(draining, "_wants_entry", lambda guard, machine: True)
    drawn = RandomMachine({"off": "FETCH_L1"})
    monkeypatch.setattr(run, "random_machine", lambda rng: drawn)
    one = Choices((Engine.EXPLICIT,), 5_000, seconds=2.0, l2s=(L2.AUTO,))
    for number in range(40):
        pair = random_pair(0, number, machine="random")
        for each in compare_texts(pair.test, pair.scheme, one, drawn).differences:
            assert each.kind == ("progress", "search", "all states")
            assert each.words == "progress: search says LIVE, all states says STUCK"
            return
    raise AssertionError("not noticed")


def test_where_a_file_is_in_the_way_the_scheme_names_its_own_machine(tmp_path: Path) -> None:
    drawn = random_machine(random.Random("written"))
    scheme = "name: it\nmachine: it.machine\nrows:\n  - {op: load, scope: na, code: [LD r x]}\n"
    texts = {"litmus": "", "scheme": scheme, "machine": drawn.text}
    found = Disagreement(pair=1, kind=("verdict",), words="", command="", name="it", **texts)
    (tmp_path / "it.machine").write_text("machine other")
    write_files(found, str(tmp_path))
    read = read_scheme_file(tmp_path / "it-2.yaml")
    assert read.machine == machine_named(str(tmp_path / "it-2.machine"))
    assert (tmp_path / "it.machine").read_text() == "machine other"
