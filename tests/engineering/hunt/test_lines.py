"""Remark 1, on programs that a hunt decides: lines add no outcome to those of locations."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import pytest
from engineering.hunt.lines import Compared, compared, programs_shared

from rspverify.litmus.reader import read_program_file
from rspverify.scheme.reader import read_scheme_file

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["original", "proposed"])
def test_lines_add_no_outcome(name: str) -> None:
    """Some of the programs of three operations in two threads."""
    table = read_scheme_file(str(ROOT / "schemes" / f"{name}.yaml"))
    found = Counter(compared(it, table) for it in islice(programs_shared(3, 2), 7, None, 28))
    assert found[Compared.SAME] == found.total() >= 15


def test_fewer_outcomes_are_noticed() -> None:
    """The paper's Fig. 4 needs an old x beside a new y: in one line both are fetched together."""
    program = read_program_file(ROOT / "litmus/rsp/paper/Fig4.litmus")
    table = read_scheme_file(str(ROOT / "schemes" / "original.yaml"))
    assert compared(program, table) is Compared.FEWER


def test_an_outcome_by_lines_alone_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machines the other way round."""
    program = read_program_file(ROOT / "litmus/rsp/paper/Fig4.litmus")
    table = read_scheme_file(str(ROOT / "schemes" / "original.yaml"))
    monkeypatch.setattr("engineering.hunt.lines.MACHINE_NAMES", ("rsp-lines", "rsp"))
    assert compared(program, table) is Compared.OTHERS
