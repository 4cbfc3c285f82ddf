"""The family of rows asks about every row of the shipped tables that orders anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.generate.family import chosen
from rspverify.generate.rows import row_tests
from rspverify.litmus.program import Program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.scheme.orders import Op
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.row import Row
from rspverify.source import InputError

SCHEMES = Path(__file__).parents[2] / "schemes/amdgpu"


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [program_of(read_notation(each.notation), each.title) for each in row_tests()]


def test_titles_are_unique() -> None:
    titles = [each.title for each in row_tests()]
    assert len(set(titles)) == len(titles) == chosen("rows")[""].most == 597


@pytest.mark.parametrize("name", sorted(each.name for each in SCHEMES.glob("gfx*.yaml")))
def test_every_row_that_orders_anything_is_used(name: str, programs: list[Program]) -> None:
    scheme = read_scheme_file(SCHEMES / name)
    used = {row.number for each in programs for row in scheme.rows_used(each)}
    ordering = [row for row in scheme.rows if _that_do_something(row) > (row.kind is not Op.FENCE)]
    assert [str(row) for row in ordering if row.number not in used] == []


def _that_do_something(row: Row) -> int:
    """How many of its instructions wait for or change something: not gfx1250's `s_wait_xcnt`."""
    kinds = [it.mnemonic for it in row.code]
    return len([it for it in kinds if it.conditions or it.effects or it.later])


def test_its_operations_are_not_to_be_chosen() -> None:
    with pytest.raises(InputError, match="rows must stand alone"):
        chosen("rows", distinct=True)
