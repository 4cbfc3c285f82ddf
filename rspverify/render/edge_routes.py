"""Curves for the edges of a picture: around the boxes, apart from each other, with room for labels.

Each edge tries a number of curves, and takes the one that costs least: to run through a box or a
label costs most, then to run along an edge that is there already, then to be long or bent.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, product

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.picture import Arrow
from rspverify.render.picture_layout import Box, Layout

Point = tuple[float, float]

_SAMPLES = 28
_CELL = 9.0
_LETTER = 7.2
_BENDS = (0, 20, -20, 40, -40, 66, -66, 100, -100, 150, -150, 210, -210, 290, -290)
_PORTS = (0.0, 0.3, -0.3)
_LABEL_AT = (0.5, 0.4, 0.6, 0.3, 0.7)
_THROUGH_BOX = 400.0
_ON_LABEL = 160.0
_ON_CAPTION = 40.0
_ON_EDGE = 14.0
_NEAR_END = 25.0


class Route(Struct, frozen=True):
    """A quadratic curve from start to end, or a cubic one for a loop, and the box of its label."""

    arrow: Arrow
    controls: tuple[Point, ...]
    label: Box


def routed(layout: Layout, arrows: Sequence[Arrow], limits: Limits) -> list[Route]:
    """A route for each arrow, in their order; short ones choose first.

    Raises LimitReached where no time is left.
    """
    board = _Board(layout)

    def length(number: int) -> tuple[bool, float]:
        arrow = arrows[number]
        a, b = layout.events[arrow.source], layout.events[arrow.target]
        return arrow.name not in ("sb", "po"), math.hypot(a.x - b.x, a.y - b.y)

    found: dict[int, Route] = {}
    for number in sorted(range(len(arrows)), key=length):
        limits.remaining()
        found[number] = board.best(arrows[number])
        board.place(found[number])
    return [found[number] for number in range(len(arrows))]


class _Board:
    """What is drawn already."""

    def __init__(self, layout: Layout) -> None:
        self._events = layout.events
        self._captions = [
            Box(each.x, each.y - 5, _LETTER * len(each.text), 16) for each in layout.threads
        ]
        for each in (group.caption for group in layout.groups):
            width = _LETTER * len(each.text)
            self._captions.append(Box(each.x + width / 2, each.y - 5, width, 16))
        self._labels: list[Box] = []
        self._ends: list[Point] = []
        self._cells: Counter[tuple[int, int]] = Counter()

    def place(self, route: Route) -> None:
        """Draw a route."""
        self._labels.append(route.label)
        self._ends += [route.controls[0], route.controls[-1]]
        self._cells.update({_cell(point) for point in samples(route.controls)[2:-2]})

    def best(self, arrow: Arrow) -> Route:
        """The route that costs least here."""
        a, b = self._events[arrow.source], self._events[arrow.target]
        found: tuple[float, Route] | None = None
        for controls in _loops(a) if arrow.source == arrow.target else _curves(a, b):
            curve = self._curve_costs(arrow, controls, found[0] if found else math.inf)
            for t in _LABEL_AT:
                if found is not None and curve >= found[0]:
                    break
                x, y = point_at(controls, t)
                label = Box(x, y, _LETTER * len(arrow.name) + 5, 15)
                cost = curve + self._label_costs(label) + 4 * abs(t - 0.5)
                if found is None or cost < found[0]:
                    found = cost, Route(arrow, controls, label)
        assert found is not None
        return found[1]

    def _curve_costs(self, arrow: Arrow, controls: tuple[Point, ...], most: float) -> float:
        """What a curve costs; or, where that is more than `most`, so much of it that this shows."""
        bend = _bend(controls) * 0.35
        least = math.dist(controls[0], controls[-1]) * 0.25 + bend  # no curve is shorter
        if least > most + 1:
            return least
        points = samples(controls)
        around = _around(points)
        ends = (arrow.source, arrow.target)
        cost = sum(math.dist(a, b) for a, b in pairwise(points)) * 0.25 + bend
        for number, box in enumerate(self._events):
            if cost > most:
                return cost
            if box.meets(around, 7.0):
                inner = points[2:-2] if number in ends else points
                margin = -1.0 if number in ends else 7.0
                cost += _THROUGH_BOX * sum(box.holds(*point, margin) for point in inner)
        for end in (controls[0], controls[-1]):
            cost += _NEAR_END * sum(math.dist(end, other) < 16 for other in self._ends)
        for label in self._labels:
            if cost > most:
                return cost
            if label.meets(around, 1):
                cost += _ON_LABEL * 0.5 * sum(label.holds(*point, 1) for point in points)
        for caption in self._captions:
            if caption.meets(around):
                cost += _ON_CAPTION * sum(caption.holds(*point) for point in points)
        return cost + _ON_EDGE * sum(self._cells[it] for it in {_cell(it) for it in points[2:-2]})

    def _label_costs(self, label: Box) -> float:
        cost = _THROUGH_BOX * sum(box.meets(label, 2) for box in self._events)
        cost += _ON_LABEL * 2 * sum(other.meets(label, 2) for other in self._labels)
        cost += _ON_LABEL * sum(caption.meets(label, 2) for caption in self._captions)
        return cost + _ON_EDGE * sum(self._cells[cell] for cell in _cells(label))


def _curves(a: Box, b: Box) -> Iterator[tuple[Point, ...]]:
    for bend, one, two in product(_BENDS, _PORTS, _PORTS):
        start, end = (a.x + one * a.width, a.y), (b.x + two * b.width, b.y)
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = math.hypot(dx, dy) or 1.0
        control = (
            (start[0] + end[0]) / 2 - bend * dy / length,
            (start[1] + end[1]) / 2 + bend * dx / length,
        )
        yield _border(a, start, control), control, _border(b, end, control)


def _loops(a: Box) -> Iterator[tuple[Point, ...]]:
    for side in (1, -1):
        x = a.x + side * a.width / 2
        out = x + side * 52
        yield (x, a.y - 7), (out, a.y - 34), (out, a.y + 34), (x, a.y + 7)


def _border(box: Box, inside: Point, towards: Point) -> Point:
    """Where the way from a point in a box to one outside leaves it."""
    dx, dy = towards[0] - inside[0], towards[1] - inside[1]
    shares = [1.0]
    if dx:
        shares.append((box.x + math.copysign(box.width / 2, dx) - inside[0]) / dx)
    if dy:
        shares.append((box.y + math.copysign(box.height / 2, dy) - inside[1]) / dy)
    share = max(0.0, min(shares))
    return inside[0] + share * dx, inside[1] + share * dy


def _bend(controls: tuple[Point, ...]) -> float:
    """How far a curve is from a straight line; nothing for a loop."""
    if len(controls) != 3:
        return 0.0
    start, middle, end = controls
    return math.dist(middle, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))


def point_at(controls: Sequence[Point], t: float) -> Point:
    """The point of a Bézier curve at t from 0 to 1 (de Casteljau)."""
    points = list(controls)
    while len(points) > 1:
        points = [
            ((1 - t) * a[0] + t * b[0], (1 - t) * a[1] + t * b[1]) for a, b in pairwise(points)
        ]
    return points[0]


def samples(controls: Sequence[Point]) -> list[Point]:
    """Points along a curve."""
    return [point_at(controls, n / _SAMPLES) for n in range(_SAMPLES + 1)]


def _around(points: Sequence[Point]) -> Box:
    """The least box that holds all of some points."""
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


def _cell(point: Point) -> tuple[int, int]:
    return int(point[0] // _CELL), int(point[1] // _CELL)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    left, top = _cell((box.left, box.y - box.height / 2))
    right, bottom = _cell((box.right, box.bottom))
    return product(range(left, right + 1), range(top, bottom + 1))
