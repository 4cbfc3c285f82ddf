"""`extract`: A compiler's own table, as a scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rspverify.api.inputs import read_scheme
from rspverify.api.parameters import question
from rspverify.compilers import OPERATORS, Extraction, codes, llvmlite, processor, table
from rspverify.compilers import llc as llc_at
from rspverify.convert import to_json
from rspverify.options import Parameters, argument, option
from rspverify.source import InputError, Problem, Source, require
from rspverify.terminal.command import TEXT_OR_JSON, Command
from rspverify.terminal.ending import exit_code
from rspverify.terminal.output import Output, note
from rspverify.wording import alternatives, guess

if TYPE_CHECKING:
    from rspverify.scheme.scheme import Scheme

_NAMED = 4
"""So many things that are left out are named."""

TARGETS = ("amdgpu",)


class Library(StrEnum):
    """Where an LLVM is to be had as a library."""

    LLVMLITE = "llvmlite"


@dataclass(frozen=True)
class ExtractParameters(Parameters):
    """What compiles, and what is compiled."""

    target: str = argument("What it compiles for: amdgpu.", metavar="TARGET")
    cpu: str | None = option(None, "The processor, as LLVM calls it: gfx942.", metavar="NAME")
    features: str = option("", "A feature that makes the machine another: +tgsplit, or +cumode.")
    operators: Sequence[str] | None = option(
        None,
        "What the RMWs do that rows are for, by LLVM's names, joined by commas. Default: "
        "all. Some compilers make loops of umax and the like.",
        metavar="NAMES",
        commas=True,
    )
    llvm: Library | None = option(None, "The library that compiles. Default: llvmlite.")
    llc: str | None = option(None, "Instead, the llc that compiles.", metavar="PATH")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.cpu is not None, "--cpu must name a processor of AMD's, such as gfx942")
        message = "one of --llvm and --llc must be given, not both"
        require(self.llvm is None or self.llc is None, message)


@question(ExtractParameters)
def extract(asked: ExtractParameters) -> Extraction:
    """Make a scheme of what LLVM emits: a row for each operation, order, scope and memory of
    OpenCL, in LLVM's own mnemonics. Text is the file of the scheme.

    Each operation is compiled where nothing can be left out as needless. All operators, orders
    that count as one, kernels, and functions without our labels must give the same. An operation
    where they do not, or whose code cannot be read, has no row; an operator is left out of all.

    In Python: its `str` is the file of the scheme, which `read_scheme` reads. Raises InputError
    where nothing can be read.
    """
    if asked.target not in TARGETS:
        message = f"the target must be {alternatives(TARGETS)}, not {asked.target}"
        raise InputError([Problem(None, message, guess(asked.target, TARGETS))])
    meant = processor(asked.cpu or "", asked.features)
    chosen = tuple(asked.operators or OPERATORS)
    wrong = [each for each in chosen if each not in OPERATORS]
    if wrong:
        message = f"operators must be {alternatives(OPERATORS)}"
        raise InputError(
            Problem(None, f"{message}, not {each}", guess(each, OPERATORS)) for each in wrong
        )
    compiler = llvmlite() if asked.llc is None else llc_at(asked.llc)
    found = codes(meant, compiler, operators=chosen)
    extraction = table(found, meant, compiler)
    read_back(extraction)
    return extraction


def read_back(extraction: Extraction) -> Scheme:
    """The table as a scheme for its machine. Raises InputError with what the machine has not."""
    return read_scheme(Source(f"{extraction.name}.yaml", str(extraction)))


def _run(asked: ExtractParameters, output: Output) -> int:
    from rspverify.render.progress import working

    with working("compiling"):
        answer = extract.of(asked)
    output.write(str(answer) if output.text else to_json(answer))
    if answer.left_out:
        names, more = [*answer.left_out], len(answer.left_out) - _NAMED
        rest = f" and {more} more" if more > 0 else ""
        note([f"left out: {', '.join(names[:_NAMED])}{rest}, as {answer.left_out[names[0]]}"])
    return exit_code(undecided=answer.left_out)


COMMAND = Command(
    extract,
    run=_run,
    forms=TEXT_OR_JSON,
    also=("output",),
    ends="3 something is left out; 0 otherwise",
)
