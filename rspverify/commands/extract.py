"""`extract`: the table by which a compiler translates atomics, as a scheme."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.options import Format, FormatName, OutputFile
from rspverify.commands.output import listed


class Library(StrEnum):
    """Where an LLVM is to be had as a library."""

    LLVMLITE = "llvmlite"


@command("A compiler's own table, as a scheme.")
def extract(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="What it compiles for: amdgpu.")],
    cpu: Annotated[
        str | None, typer.Option(metavar="NAME", help="The processor, as LLVM calls it: gfx942.")
    ] = None,
    features: Annotated[
        str,
        typer.Option(help="A feature that makes the machine another: +tgsplit, or +cumode."),
    ] = "",
    operators: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="What the RMWs do that rows are for, by LLVM's names, joined by commas. Default: "
            "all. Some compilers make loops of umax and the like.",
        ),
    ] = "",
    llvm: Annotated[
        Library | None, typer.Option(help="The library that compiles. Default: llvmlite.")
    ] = None,
    llc: Annotated[
        str | None, typer.Option(metavar="PATH", help="Instead, the llc that compiles.")
    ] = None,
    format: Format = FormatName.TEXT,
    output: OutputFile = None,
) -> None:
    """Make a scheme of what LLVM emits: a row for each operation, order, scope and memory of
    OpenCL, in LLVM's own mnemonics. Text is the file of the scheme.

    Each operation is compiled where nothing can be left out as needless. All operators, orders
    that count as one, kernels, and functions without our labels must give the same; otherwise
    nothing is written.
    """
    from rspverify.api.extractions import extract as extracted
    from rspverify.convert import to_json
    from rspverify.render.console import opened
    from rspverify.render.progress import working
    from rspverify.source import require

    require(cpu is not None, "--cpu must name a processor of AMD's, such as gfx942")
    assert cpu is not None
    require(llvm is None or llc is None, "one of --llvm and --llc must be given, not both")
    with working("compiling"):
        named = tuple(listed("--operators", operators))
        answer = extracted(target, cpu, features, operators=named, llc=llc)
    with opened(output) as console:
        console.file.write(str(answer) if format is FormatName.TEXT else to_json(answer))
