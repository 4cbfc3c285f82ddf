"""The growth curves as a picture: a panel for each curve, a line for each engine."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from bench.curves import Curve
from bench.growth import Point
from rspverify.soundness.settings import Engine

GREY = "#7f8590"
"""Legible on white and on black; there is no background."""
STYLES = (("#d9742b", "o"), ("#3d8fd1", "s"), ("#3aa373", "^"), ("#b06fc4", "D"))
COLUMNS = 3


def draw(points: Sequence[Point], cut_off: float, path: Path) -> None:
    """Write an SVG; the same points give the same file."""
    curves = list(dict.fromkeys(point.curve for point in points))
    rows = -(-len(curves) // COLUMNS)
    settings: Any = {
        "svg.hashsalt": "rspverify",
        "svg.fonttype": "none",
        "font.size": 9,
        "axes.labelsize": 8.5,
    }
    with pyplot.rc_context(settings):
        figure, grid = pyplot.subplots(
            rows, COLUMNS, figsize=(10, 2.6 * rows + 0.6), squeeze=False, sharey=True
        )
        panels = [axes for row in grid for axes in row]
        for axes, curve in zip(panels, curves, strict=False):
            _panel(axes, curve, [point for point in points if point.curve == curve], cut_off)
        for axes in panels[len(curves) :]:
            axes.set_axis_off()
        for row in grid:
            row[0].set_ylabel("seconds", color=GREY)
        _legend(figure, panels[0])
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
        pyplot.close(figure)
    lines = (line.rstrip() for line in text.getvalue().splitlines())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _panel(axes: Axes, curve: Curve, points: Sequence[Point], cut_off: float) -> None:
    axes.set_title(curve.name, color=GREY, fontweight="bold", fontsize=9.5, loc="left")
    axes.set_xlabel(curve.unit, color=GREY)
    axes.set_yscale("log")
    axes.axhline(cut_off, color=GREY, linewidth=0.8, linestyle=(0, (2, 3)))
    for engine, (colour, marker) in zip(Engine, STYLES, strict=False):
        mine = [point for point in points if point.engine is engine]
        told = [(point.size, point.seconds) for point in mine if point.seconds is not None]
        axes.plot(
            [size for size, _ in told],
            [seconds for _, seconds in told],
            color=colour,
            marker=marker,
            markersize=4,
            linewidth=1.6,
            label=str(engine),
        )
        lost = [point.size for point in mine if point.seconds is None]
        if lost:
            _stop(axes, [*told[-1:], (lost[0], cut_off)], colour)
    axes.set_xlim(0.5, max(curve.sizes) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.tick_params(which="both", colors=GREY, labelsize=8)
    axes.grid(axis="y", which="major", color=GREY, alpha=0.25, linewidth=0.6)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(GREY)


def _stop(axes: Axes, stroke: Sequence[tuple[int, float]], colour: str) -> None:
    """From the last size that an engine decided to the first that it did not."""
    sizes, seconds = zip(*stroke, strict=True)
    axes.plot(sizes, seconds, color=colour, linewidth=1.2, linestyle=(0, (3, 2)))
    axes.plot(sizes[-1], seconds[-1], color=colour, marker="x", markersize=6)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    height = figure.get_size_inches()[1]
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.45 / height), h_pad=1.6, w_pad=1.4)
    legend = figure.legend(
        handles,
        labels,
        loc="upper left",
        ncols=len(labels),
        frameon=False,
        fontsize=10,
        bbox_to_anchor=(0.01, 1.0),
    )
    for text in legend.get_texts():
        text.set_color(GREY)
