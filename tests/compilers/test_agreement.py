"""Random programs: what their code does, as it was read back, is what they do."""

from random import Random

import pytest
from compilers.agreement import disagreement, drawn, read_back

from rspverify.compilers.gpus import translator
from rspverify.source import InputError

pytest.importorskip("llvmlite")


@pytest.mark.parametrize("cpu", ["gfx900", "gfx942", "gfx1030", "gfx1100", "gfx1200", "gfx1250"])
def test_code_does_what_its_program_does(cpu: str) -> None:
    random = Random(cpu)
    programs = [drawn(random) for _ in range(12)]
    compiler = translator(f"amdgpu:{cpu}")
    compiler.prepare(programs)
    read = 0
    for program in programs:
        try:
            code = read_back(program, compiler)
        except InputError:
            continue
        read += 1
        assert not disagreement(program, code, random)
    assert read >= 11
