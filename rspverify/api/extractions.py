"""The table by which a compiler translates atomics, read out of what it emits."""

from __future__ import annotations

from rspverify.compilers import Extraction
from rspverify.source import InputError, Problem, Source
from rspverify.wording import alternatives, guess

TARGETS = ("amdgpu",)


def extract(target: str, cpu: str, features: str = "", *, llc: str | None = None) -> Extraction:
    """The scheme that LLVM compiles by for a processor; its `str` is the scheme's file.

    target: `amdgpu`. features: as `+tgsplit`, joined by commas. llc: the program that compiles;
    without it llvmlite does. A scheme for a machine that ships is one that `read_scheme` reads.
    Raises InputError with all that does not hold, or cannot be read.
    """
    from rspverify.compilers import codes, llvmlite, processor, table
    from rspverify.compilers import llc as llc_at

    if target not in TARGETS:
        message = f"the target must be {alternatives(TARGETS)}, not {target}"
        raise InputError([Problem(None, message, guess(target, TARGETS))])
    meant = processor(cpu, features)
    compiler = llvmlite() if llc is None else llc_at(llc)
    found = codes(meant, compiler)
    in_words = {shape: tuple(map(str, code)) for shape, code in found.items()}
    extraction = table(in_words, meant, compiler)
    if knows_machine(extraction):
        from rspverify.api.inputs import read_scheme

        read_scheme(Source(f"{extraction.name}.yaml", str(extraction)))
    return extraction


def knows_machine(extraction: Extraction) -> bool:
    """Whether the machine that the code is for ships."""
    from rspverify.architecture import MACHINES

    return extraction.machine in MACHINES
