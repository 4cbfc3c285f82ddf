"""litmus-amdgpu-rows is what its script makes, and asks about every row that orders anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus.row_tests import FOLDER, row_tests

from rspverify.litmus import read_program
from rspverify.scheme import Op, Row, read_scheme_file, rows_used
from rspverify.source import Source

SCHEMES = Path(__file__).parents[2] / "schemes/amdgpu"


def test_the_files_are_what_the_script_makes() -> None:
    made = {f"{title}.litmus": text for title, text in row_tests().items()}
    assert {each.name: each.read_text() for each in FOLDER.glob("*.litmus")} == made


@pytest.fixture(scope="module")
def programs() -> list[object]:
    return [read_program(Source(title, text)) for title, text in row_tests().items()]


@pytest.mark.parametrize("name", sorted(each.name for each in SCHEMES.glob("gfx*.yaml")))
def test_every_row_that_orders_anything_is_used(name: str, programs: list[object]) -> None:
    scheme = read_scheme_file(SCHEMES / name)
    used = {row.number for each in programs for row in rows_used(each, scheme)}
    ordering = [row for row in scheme.rows if _that_do_something(row) > (row.kind is not Op.FENCE)]
    assert [str(row) for row in ordering if row.number not in used] == []


def _that_do_something(row: Row) -> int:
    """How many of its instructions wait for or change something: not gfx1250's `s_wait_xcnt`."""
    kinds = [it.mnemonic for it in row.code]
    return len([it for it in kinds if it.conditions or it.effects or it.later])
