"""Litmus tests that others wrote are read as they are, where they are at hand."""

from pathlib import Path

import pytest

from rspverify.litmus import read_program_file
from rspverify.source import InputError, Severity

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus"
UNSUPPORTED = {"RSP_Test8": 3, "example6": 4}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"no shared corpus at {CORPUS}")


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*/*.litmus")), ids=lambda path: path.stem)
def test_read(path: Path) -> None:
    if path.stem in UNSUPPORTED:
        with pytest.raises(InputError) as caught:
            read_program_file(path)
        assert caught.value.severity is Severity.UNSUPPORTED
        assert len(caught.value.problems) == UNSUPPORTED[path.stem]
    else:
        program = read_program_file(path)
        assert program.title == path.stem
        assert program.condition is not None
        assert program.operations
