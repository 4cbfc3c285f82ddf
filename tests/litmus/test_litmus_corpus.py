"""Litmus tests that others wrote are read as they are, where they are at hand."""

from pathlib import Path

import pytest

from rspverify.litmus.reader import read_program_file

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no shared corpus at {CORPUS}")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*.litmus")), ids=lambda path: path.stem)
def test_read(path: Path) -> None:
    program = read_program_file(path)
    assert program.title == path.stem
    assert program.condition is not None
    assert program.operations
    assert not program.within
