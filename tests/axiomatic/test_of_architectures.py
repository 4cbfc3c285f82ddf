"""Models that say what a name means where an architecture has it, as herd's do."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, read_source

ROOT = Path(__file__).parents[2] / "litmus/models"
STRONG = """
include "fences.cat"
include "cos-opt.cat"
acyclic rfe | co | fr | (po & (R * M)) | mfence | lfence | sync | dmb | dsb as Order
"""
"""Reads are before all that is behind them, writes before what is behind a fence of any kind."""


def can_be(model: Path, test: str) -> bool:
    """Whether the formula of a test's final condition holds somewhere."""
    program = read_program(read_source(ROOT / test), assembly=True)
    own = load_model(str(model))
    require_covered(program, own)
    questions = Questions(program, own, Limits())
    assert program.condition is not None
    return questions.possible(questions.satisfying(program.condition.formula))


def written(folder: Path, text: str) -> Path:
    (folder / "m.cat").write_text(text)
    return folder / "m.cat"


@pytest.mark.parametrize(
    ("test", "possible"),
    [
        ("x86/SB.litmus", True),
        ("x86/SB+mfences.litmus", False),
        ("power/SB+syncs.litmus", False),
        ("power/SB.litmus", True),
        ("arm/SB+dmb+dsb.litmus", False),
        ("riscv/SB.litmus", True),
    ],
)
def test_fences_are_those_of_the_architecture(tmp_path: Path, test: str, possible: bool) -> None:
    assert can_be(written(tmp_path, STRONG), test) is possible


def test_what_is_tried_is_known_in_one_language(tmp_path: Path) -> None:
    """An alternative that is not empty is none for a name that another architecture has."""
    empty = "let m = try MFENCE with 0 acyclic (po; [m]; po) | fr as Order"
    assert not can_be(written(tmp_path, empty), "x86/SB+mfences.litmus")
    assert can_be(written(tmp_path, empty), "riscv/SB.litmus")
    with pytest.raises(InputError, match="a model of RISCV"):
        can_be(written(tmp_path, empty.replace("with 0", "with F")), "riscv/SB.litmus")


def test_what_is_unknown_is_its_alternative(tmp_path: Path) -> None:
    text = "let f(a) = (try fencerel(NONE) with po) & a acyclic f(po) | fr as Order"
    assert not can_be(written(tmp_path, text), "x86/SB.litmus")


def test_x_is_of_amos_beside_ex(tmp_path: Path) -> None:
    """On RISC-V X is of store-conditionals, and beside EX of AMOs, which a note says."""
    amo, pair = "riscv/atomics.litmus", "riscv/pair.litmus"
    alone = written(tmp_path, "acyclic po | rf | co | fr as Sc ~empty X as Some")
    assert (can_be(alone, amo), can_be(alone, pair)) == (False, True)
    beside = written(
        tmp_path, "acyclic po | rf | co | fr as Sc ~empty X as Some ~empty EX | _ as All"
    )
    assert (can_be(beside, amo), can_be(beside, pair)) == (True, False)
    assert any("as herd has it" in it for it in load_model(str(beside)).notes)
