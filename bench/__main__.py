"""`make bench`, or `python -m bench` where it is set up."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bench.cases import ROOT, known_answers
from bench.curves import CURVES, Curve
from bench.decisions import decisions
from bench.document import circumstances, filled
from bench.engineering import engineering
from bench.first import first_answers
from bench.growth import Point, grow, growth
from bench.herd import HERD, beside_herd, found_herd
from bench.models import TestSet, models, shipped_sets
from bench.parts import parts
from bench.sheet import Sheet
from rspverify.soundness.settings import DEFAULT_MODEL

DOCUMENT = ROOT / "docs/performance.md"
PICTURE = ROOT / "docs/growth.svg"
KEPT = frozenset({"first", "decisions"})
"""Tables that the document has. Its picture shows growth; it tells the others in a sentence."""


class Part(StrEnum):
    """What can be measured."""

    FIRST = "first"
    DECISIONS = "decisions"
    PARTS = "parts"
    MODELS = "models"
    ENGINEERING = "engineering"
    CLUSTER = "cluster"
    HERD = "herd"
    GROWTH = "growth"


def main(
    part: Annotated[
        list[Part] | None, typer.Option(help="Measure only this; may be given again.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Times that each action is timed.")] = 7,
    cut_off: Annotated[float, typer.Option(min=0.01, help="Seconds for a point of growth.")] = 10,
    largest: Annotated[int, typer.Option(min=1, help="Leave out larger sizes of growth.")] = 99,
    folder: Annotated[
        Path | None,
        typer.Option(help="Parts models and herd: measure the tests of this folder, not ours."),
    ] = None,
    stride: Annotated[int, typer.Option(min=1, help="Part herd: measure every n-th test.")] = 1,
    model: Annotated[
        str, typer.Option(help="For --folder: a shipped model or a .cat file.")
    ] = DEFAULT_MODEL,
    mixed: Annotated[
        bool, typer.Option("--mixed", help="For --folder: as of rspverify outcomes.")
    ] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Put the tables into docs/performance.md, too.")
    ] = False,
    picture: Annotated[Path, typer.Option(help="Where the SVG of the growth goes.")] = PICTURE,
) -> None:
    """Measure, print the tables, and draw the growth curves."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(circumstances())
    sheets: list[Sheet] = []

    def show(sheet: Sheet) -> None:
        sheets.append(sheet)
        console.print(sheet.table())

    wanted = part or list(Part)
    if folder is not None and keep:
        print("--folder must go without --keep: the document has our own tests", file=sys.stderr)
        raise typer.Exit(2)
    sets = shipped_sets() if folder is None else [TestSet(folder, model)]
    tables = _tables(repeats)
    tables[Part.MODELS] = lambda: models(sets, min(repeats, 5), mixed=mixed)
    for each, measured in tables.items():
        if each in wanted:
            show(measured())
    if Part.HERD in wanted:
        _beside_herd(show, console, folder or ROOT / "litmus/models", stride)
    if Part.GROWTH in wanted:
        curves = [_up_to(curve, largest) for curve in CURVES]
        show(_growth(curves, cut_off, picture, console))
    if keep:
        texts = {it.key: it.markdown() for it in sheets if it.key in KEPT}
        text = filled(DOCUMENT.read_text(), {**texts, "circumstances": circumstances()})
        DOCUMENT.write_text(text)


def _tables(repeats: int) -> dict[Part, Callable[[], Sheet]]:
    return {
        Part.FIRST: lambda: first_answers(repeats),
        Part.DECISIONS: lambda: decisions(known_answers(), repeats),
        Part.PARTS: lambda: parts(known_answers(), repeats),
        Part.ENGINEERING: engineering,
        Part.CLUSTER: _cluster,
    }


def _cluster() -> Sheet:
    from bench.cluster import cluster

    return cluster()


def _beside_herd(
    show: Callable[[Sheet], None], console: Console, folder: Path, stride: int
) -> None:
    try:
        herd = found_herd(os.environ)
    except ValueError as error:
        print(error, file=sys.stderr)
        raise typer.Exit(2) from None
    if herd is None:
        console.print(f"herd: not measured, as no herd7 is on the PATH and {HERD} names none\n")
    else:
        show(beside_herd(herd, folder, stride))


def _growth(curves: Sequence[Curve], cut_off: float, picture: Path, console: Console) -> Sheet:
    points: list[Point] = []
    with console.status("growth") as status:
        for point in grow(curves, cut_off):
            points.append(point)
            status.update(f"growth: {point.curve.name}, {point.size}, {point.engine}")
    from bench.figure import draw

    draw(points, cut_off, picture)
    console.print(f"wrote {picture}")
    return growth(points, cut_off)


def _up_to(curve: Curve, largest: int) -> Curve:
    sizes = tuple(size for size in curve.sizes if size <= largest)
    return Curve(curve.name, curve.unit, sizes, curve.shape, curve.groups)


if __name__ == "__main__":
    typer.run(main)
