"""AMD's machines: programs of a table's rows, of which instructions are missing, by every engine."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from machine.any_engine import differences
from machine.table_programs import table_program

from rspverify.scheme.reader import read_scheme_file


@pytest.mark.parametrize("name", ["gfx90a", "gfx942", "gfx1200", "gfx1250"])
def test_engines_agree_on_rows(name: str, root: Path) -> None:
    table, known = read_scheme_file(root / f"schemes/amdgpu/{name}.yaml"), 0
    for number in range(4):
        rng = random.Random(f"rows {number}")
        made = table_program(rng, table, 3)
        found = differences(made, 600)
        assert not found, (found, made)
        known += found is not None
    assert known
