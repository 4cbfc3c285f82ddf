"""The table by which a compiler translates atomics, read out of what it emits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rspverify.compilers import Extraction
from rspverify.source import InputError, Problem, Source
from rspverify.wording import alternatives, guess

if TYPE_CHECKING:
    from rspverify.scheme import Scheme

TARGETS = ("amdgpu",)


def extract(
    target: str,
    cpu: str,
    features: str = "",
    *,
    operators: Sequence[str] | None = None,
    llc: str | None = None,
) -> Extraction:
    """The scheme that LLVM compiles by for a processor; its `str` is the scheme's file.

    target: `amdgpu`. features: as `+tgsplit`, joined by commas. operators: what the RMWs do that
    rows are for, by LLVM's names; all by default, and some are loops in some compilers. llc: the
    program that compiles; without it llvmlite does. `read_scheme` reads what is written. Raises
    InputError with all that does not hold, or cannot be read.
    """
    from rspverify.compilers import OPERATORS, codes, llvmlite, processor, table
    from rspverify.compilers import llc as llc_at

    if target not in TARGETS:
        message = f"the target must be {alternatives(TARGETS)}, not {target}"
        raise InputError([Problem(None, message, guess(target, TARGETS))])
    meant, chosen = processor(cpu, features), tuple(operators or OPERATORS)
    wrong = [each for each in chosen if each not in OPERATORS]
    if wrong:
        message = f"operators must be {alternatives(OPERATORS)}"
        raise InputError(
            Problem(None, f"{message}, not {each}", guess(each, OPERATORS)) for each in wrong
        )
    compiler = llvmlite() if llc is None else llc_at(llc)
    found = codes(meant, compiler, operators=chosen)
    in_words = {shape: tuple(map(str, code)) for shape, code in found.items()}
    extraction = table(in_words, meant, compiler, chosen)
    read_back(extraction)
    return extraction


def read_back(extraction: Extraction) -> Scheme:
    """The table as a scheme for its machine. Raises InputError with what the machine has not."""
    from rspverify.api.inputs import read_scheme

    return read_scheme(Source(f"{extraction.name}.yaml", str(extraction)))
