"""Pictures of executions as SVG, one below the other on a page, and for Graphviz."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.picture import Picture, PlacedThread
from rspverify.render.picture_layout import (
    Box,
    Layout,
    Point,
    Route,
    colour,
    laid_out,
    letters,
    routed,
    samples,
)
from rspverify.render.templates import environment

if TYPE_CHECKING:
    from jinja2 import Environment

_MARGIN = 24.0
_LEGEND = 34.0
_HEAD_LENGTH = 9.0
_SEQUENCED = ("sb", "po")


def svg(pictures: Sequence[Picture], mark: str = "", limits: Limits | None = None) -> str:
    """The SVG document. mark: what its identifiers begin with. Raises LimitReached where no time is
    left."""
    sheets: list[_Sheet] = []
    below = 0.0
    for picture in pictures:
        sheets.append(_sheet(picture, below, limits or Limits()))
        below += sheets[-1].extent.bottom + _LEGEND + 2 * _MARGIN
    width = max(it.width for it in sheets) + 2 * _MARGIN
    title = "; ".join(dict.fromkeys(it.title for it in pictures))
    given = {"sheets": sheets, "width": width, "height": below, "title": title, "mark": mark}
    return _environment().get_template("picture.svg").render(given) + "\n"


def dot(pictures: Sequence[Picture]) -> str:
    """The text for dot: one graph after the other."""
    return _environment().get_template("picture.dot").render(pictures=pictures)


@cache
def _environment() -> Environment:
    return environment(
        {
            "number": _number,
            "letters": letters,
            "colour": colour,
            "curve": _curve,
            "heads": _heads,
            "quoted": lambda it: it.replace("\\", "\\\\").replace('"', '\\"'),
            "clusters": _clusters,
            "of_thread": _of_thread,
            "undrawn": _undrawn,
        }
    )


# ---- SVG -----------------------------------------------------------------------------------------


class _Sheet(Struct, frozen=True):
    """A picture, where it is on the page, and how far it reaches. legend: names, and where each
    begins."""

    picture: Picture
    layout: Layout
    routes: Sequence[Route]
    extent: Box
    legend: Sequence[tuple[str, float]]
    width: float
    x: float
    y: float


def _sheet(picture: Picture, above: float, limits: Limits) -> _Sheet:
    layout = laid_out(picture)
    routes = routed(layout, picture.arrows, limits)
    points = [point for route in routes for point in samples(route.controls)]
    wide = [*layout.boxes, *(route.label for route in routes)]
    left = min((*(box.left for box in wide), *(x for x, _ in points)), default=0.0)
    right = max((*(box.right for box in wide), *(x for x, _ in points)), default=0.0)
    lower = max((*(box.bottom for box in layout.boxes), *(y for _, y in points)), default=None)
    title, *notes = (len(caption.text) for caption in layout.top)
    right = max([right, left + 9.6 * title, *(left + 7.6 * length for length in notes)])
    height = layout.top[-1].y if lower is None else lower
    extent = Box((left + right) / 2, height / 2, right - left, height)
    legend, edge = [], left
    for name in dict.fromkeys(arrow.name for arrow in picture.arrows):
        legend.append((name, edge))
        edge += 32 + 7.2 * len(name) + 22
    width = max(right, edge) - left
    return _Sheet(picture, layout, routes, extent, legend, width, _MARGIN - left, above + _MARGIN)


def _curve(route: Route) -> str:
    start, *rest = route.controls
    letter = "Q" if len(rest) == 2 else "C"
    return f"M {_point(start)} {letter} {' '.join(map(_point, rest))}"


def _heads(route: Route) -> Iterator[str]:
    """The corners of the heads of an arrow: one, or two of an edge without a direction."""
    length = _HEAD_LENGTH + (3.0 if route.arrow.bold else 1.4)
    ends = [route.controls[-2:]] + ([route.controls[1::-1]] if route.arrow.mutual else [])
    for before, end in ends:
        angle = math.atan2(end[1] - before[1], end[0] - before[0])
        corners = (
            (end[0] + length * math.cos(angle + turn), end[1] + length * math.sin(angle + turn))
            for turn in (math.pi - 0.38, math.pi + 0.38)
        )
        yield " ".join(map(_point, (end, *corners)))


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# ---- Graphviz ------------------------------------------------------------------------------------

_Numbered = tuple[int, PlacedThread]


def _clusters(
    it: Picture,
) -> Iterator[tuple[int | None, list[tuple[int | None, list[_Numbered]]]]]:
    """Devices, in them work-groups, in them threads with their numbers."""
    for device, on_device in groupby(enumerate(it.threads), key=lambda each: each[1].device):
        groups = groupby(on_device, key=lambda each: each[1].workgroup)
        yield device, [(workgroup, list(together)) for workgroup, together in groups]


def _of_thread(it: Picture, thread: int | None) -> list[int]:
    return [number for number, event in enumerate(it.events) if event.thread == thread]


def _undrawn(it: Picture) -> Iterator[tuple[int, int]]:
    """Events below each other in a thread, where sb is not drawn."""
    drawn = {(each.source, each.target) for each in it.arrows if each.name in _SEQUENCED}
    for number in range(len(it.threads)):
        yield from (pair for pair in pairwise(_of_thread(it, number)) if pair not in drawn)
