"""Random programs of C11 find what is wrong, make it small, and are the same each time."""

from itertools import product
from pathlib import Path

import pytest

from rspverify.commands.fuzz import fuzz
from rspverify.litmus.program import OPERATORS, Kind, Order
from rspverify.litmus.reader import read_program
from rspverify.programs.writer import litmus_text
from rspverify.selftest.fuzz import random_program
from rspverify.soundness.settings import Settings
from rspverify.source import Source

SETTINGS = Settings(model="c11-simp")


def test_program_i_of_a_seed_is_the_same() -> None:
    first = [litmus_text(random_program(3, it), "t") for it in range(20)]
    assert first == [litmus_text(random_program(3, it), "t") for it in range(20)]
    assert first != [litmus_text(random_program(4, it), "t") for it in range(20)]


def test_programs_have_all_that_is_promised() -> None:
    programs = [
        read_program(Source("t", litmus_text(random_program(0, it), "t"))) for it in range(1000)
    ]
    operations = [each for it in programs for each in it.operations]
    assert {it.kind for it in operations} == {Kind.LOAD, Kind.STORE, Kind.RMW, Kind.FENCE}
    assert any(it.success is not None for it in operations)
    assert any(it.order is None for it in operations) and any(
        it.textual is None for it in operations
    )
    assert len({it.order for it in operations}) == 6
    assert {len(it.threads) for it in programs} == {2, 3, 4}
    assert {it.operator for it in operations} >= set(OPERATORS)
    exchanges = [it for it in operations if it.success is not None]
    assert {it.weak for it in exchanges} == {True, False}
    written = {Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST}
    failing = {Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST}
    assert {(it.order, it.failure) for it in exchanges} == {*product(written, failing)}


def test_a_table_without_a_fence_is_found(tmp_path: Path) -> None:
    """Stores of x86 that are seq_cst, without MFENCE."""
    text = Path("schemes/c11/c11-x86.yaml").read_text().replace(", MFENCE]", "]", 1)
    assert text != Path("schemes/c11/c11-x86.yaml").read_text()
    table = tmp_path / "broken.yaml"
    table.write_text(text)
    report = fuzz(table, SETTINGS, programs=40, start=360, folder=tmp_path).report()
    assert report.found and report.programs == 40
    for it in report.found:
        small = read_program(Source("t", it.test))
        assert len(small.operations) == 4, it.test
        assert (tmp_path / f"{it.name}.litmus").read_text() == it.test


def test_what_is_right_is_not_wrong(tmp_path: Path) -> None:
    report = fuzz("c11-x86", SETTINGS, programs=80, folder=tmp_path).report()
    assert not report.found and not list(tmp_path.iterdir())


def test_a_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = fuzz("c11-x86", SETTINGS, programs=6, folder=tmp_path).report().words
    parts = [fuzz("c11-x86", SETTINGS, programs=3, start=at, folder=tmp_path) for at in (0, 3)]
    assert sum(it.report().programs for it in parts) == sum(whole.values())
    with pytest.raises(Exception, match="no such"):
        fuzz("no-such-table", SETTINGS, folder=tmp_path)
