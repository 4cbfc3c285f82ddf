"""`extract`: A compiler's own table, as a scheme."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rspverify.api.inputs import read_scheme
from rspverify.api.parameters import question
from rspverify.compilers import (
    OPERATORS,
    Extraction,
    codes,
    compiler_at,
    llvmlite,
    processor,
    table,
)
from rspverify.compilers.cpu_tables import cpu_table
from rspverify.compilers.cpus import CPUS, translator
from rspverify.compilers.operations import OPERATORS as OF_C
from rspverify.convert import to_json
from rspverify.options import Parameters, argument, option
from rspverify.source import InputError, Problem, Source, require
from rspverify.terminal.command import TEXT_OR_JSON, Command
from rspverify.terminal.ending import exit_code
from rspverify.terminal.output import Output, note
from rspverify.translators import names_compiler
from rspverify.wording import alternatives, guess

if TYPE_CHECKING:
    from rspverify.scheme.scheme import Scheme

_NAMED = 4
"""So many things that are left out are named."""

AMDGPU = "amdgpu"


class Library(StrEnum):
    """Where an LLVM is to be had as a library."""

    LLVMLITE = "llvmlite"


@dataclass(frozen=True)
class ExtractParameters(Parameters):
    """What compiles, and what is compiled."""

    target: str = argument(
        "What it compiles for: amdgpu, or a processor, as aarch64+lse or gcc:riscv64@PATH.",
        metavar="TARGET",
    )
    cpu: str | None = option(
        None, "Of amdgpu the processor, as LLVM calls it: gfx942.", metavar="NAME"
    )
    features: str = option(
        "", "A feature that makes the machine of amdgpu another: +tgsplit, or +cumode."
    )
    operators: Sequence[str] | None = option(
        None,
        "What the RMWs do that rows are for, by LLVM's names, joined by commas. Default: "
        "all; for a processor those of C. Some compilers make loops of umax and the like.",
        metavar="NAMES",
        commas=True,
    )
    llvm: Library | None = option(None, "The library that compiles. Default: llvmlite.")
    llc: str | None = option(None, "Instead, the llc that compiles.", metavar="PATH")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target == AMDGPU:
            require(self.cpu is not None, "--cpu must name a processor of AMD's, such as gfx942")
        elif _is_for_cpu(self.target):
            given = [it for it in (self.cpu, self.features, self.llvm) if it]
            message = f"--cpu, --features and --llvm must go with {AMDGPU}, not {self.target}"
            require(not given, message)
        message = "one of --llvm and --llc must be given, not both"
        require(self.llvm is None or self.llc is None, message)


@question(ExtractParameters)
def extract(asked: ExtractParameters) -> Extraction:
    """Make a scheme of what LLVM emits for AMD's processors: a row for each operation, order, scope
    and memory of OpenCL, in LLVM's own mnemonics; or of what LLVM or GCC emits for a processor that
    a model judges, a table of C's atomics, and for PTX of OpenCL's. Text is the file.

    Each operation is compiled where nothing can be left out as needless. All operators, orders
    that count as one, kernels, and functions without our labels must give the same. An operation
    where they do not, or whose code cannot be read, has no row; an operator is left out of all.
    For a processor it is said where the code is another than that of the ABI's table.

    In Python: its `str` is the file of the scheme, which `read_scheme` reads. Raises InputError
    where nothing can be read.
    """
    if _is_for_cpu(asked.target):
        word = asked.target if asked.llc is None else f"{asked.target}@{asked.llc}"
        return cpu_table(translator(word), operators=_chosen(asked, tuple(OF_C)))
    if asked.target != AMDGPU:
        names = [AMDGPU, *CPUS]
        message = f"the target must be {alternatives(names)}, not {asked.target}"
        raise InputError([Problem(None, message, guess(asked.target, names))])
    meant = processor(asked.cpu or "", asked.features)
    chosen = _chosen(asked, OPERATORS)
    compiler = llvmlite() if asked.llc is None else compiler_at(asked.llc, meant)
    found = codes(meant, compiler, operators=chosen)
    extraction = table(found, meant, compiler)
    read_back(extraction)
    return extraction


def _is_for_cpu(target: str) -> bool:
    return names_compiler(target) and not target.startswith(AMDGPU)


def _chosen(asked: ExtractParameters, known: Sequence[str]) -> tuple[str, ...]:
    """The operators of the RMWs that rows are for. Raises InputError with all that are none."""
    chosen = tuple(asked.operators or known)
    message = f"operators must be {alternatives(known)}"
    wrong = [each for each in chosen if each not in known]
    if wrong:
        raise InputError(
            Problem(None, f"{message}, not {each}", guess(each, known)) for each in wrong
        )
    return chosen


def read_back(extraction: Extraction) -> Scheme:
    """The table as a scheme for its machine. Raises InputError with what the machine has not."""
    return read_scheme(Source(f"{extraction.name}.yaml", str(extraction)))


def _run(asked: ExtractParameters, output: Output) -> int:
    from rspverify.render.progress import working

    with working("compiling"):
        answer = extract.of(asked)
    output.write(str(answer) if output.text else to_json(answer))
    if answer.target is not None:
        note(f"left out: {what}, as {why}" for what, why in _together(answer.left_out))
    elif answer.left_out:
        names, more = [*answer.left_out], len(answer.left_out) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        note([f"left out: {', '.join(names[:_NAMED])}{rest}, as {answer.left_out[names[0]]}"])
    if answer.published is not None:
        alike = "has this code" if not answer.differs else "has other code, and this is"
        note([f"{answer.published} {alike}"])
        note(f"{what}: {codes}" for what, codes in _together(answer.differs))
    return exit_code(undecided=answer.left_out)


def _together(said: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Operations of which the same is said, together."""
    for text in dict.fromkeys(said.values()):
        yield ", ".join(what for what, own in said.items() if own == text), text


COMMAND = Command(
    extract,
    run=_run,
    forms=TEXT_OR_JSON,
    also=("output",),
    ends="3 something is left out; 0 otherwise",
)
