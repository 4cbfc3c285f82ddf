"""Where the parts of a picture go: a column per thread, boxes around work-groups and devices.

Curves for edges run around the boxes, apart from each other, with room for labels. Each edge tries
a number of them, and takes the one that costs least: to run through a box or a label costs most,
then to run along an edge that is there already, then to be long or bent. The colour of each
relation is dark enough to be read on white.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, product

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.picture import Arrow, Picture, PlacedThread

CHARACTER = 7.9
"""Width of a character of an event, in a typewriter face of 13 units."""

EVENT_HEIGHT = 28.0
_ROW = 84.0
_BETWEEN = 118.0
_GAP = 46.0
_PADDING = 22.0
_CAPTION = 22.0
_HEAD = 24.0
_LINE = 19.0


class Box(Struct, frozen=True):
    """A rectangle by its centre."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        """The x of its left side."""
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        """The x of its right side."""
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        """The y of its upper side."""
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height / 2

    def count(self, points: Iterable[tuple[float, float]], margin: float = 0.0) -> int:
        """How many points are in it, or so near to it."""
        x, y, width, height = self.x, self.y, self.width / 2 + margin, self.height / 2 + margin
        return sum([abs(a - x) <= width and abs(b - y) <= height for a, b in points])

    def meets(self, other: Box, margin: float = 0.0) -> bool:
        """Whether both have a point in common, or come so near."""
        return (
            abs(self.x - other.x) <= (self.width + other.width) / 2 + margin
            and abs(self.y - other.y) <= (self.height + other.height) / 2 + margin
        )


class Caption(Struct, frozen=True):
    """Words with the point where they begin, or that they are around."""

    text: str
    x: float
    y: float


class Group(Struct, frozen=True):
    """The box of a work-group or a device."""

    kind: str
    box: Box
    caption: Caption


class Layout(Struct, frozen=True):
    """The places of everything but the edges. labels: the text of each event, with its letter."""

    labels: tuple[str, ...]
    events: tuple[Box, ...]
    threads: tuple[Caption, ...]
    groups: tuple[Group, ...]
    top: tuple[Caption, ...]

    @property
    def boxes(self) -> Iterator[Box]:
        """All rectangles."""
        yield from self.events
        yield from (group.box for group in self.groups)


def laid_out(picture: Picture) -> Layout:
    """Columns from left to right; events of a thread from top to bottom, initial writes above."""
    labels = tuple(f"{letters(n)}: {it.text}" for n, it in enumerate(picture.events))
    widths = [len(label) * CHARACTER + 18 for label in labels]
    columns = _columns(picture, widths)
    texts = (picture.title, *picture.notes)
    top = tuple(Caption(text, 0, _LINE * n) for n, text in enumerate(texts, 1))
    upper = top[-1].y + 26
    initial = [n for n, it in enumerate(picture.events) if it.thread is None]
    places: dict[int, Box] = {}
    if initial:
        middle = (columns[0].x + columns[-1].x) / 2 if columns else 0
        edge = middle - (sum(widths[n] for n in initial) + _GAP * (len(initial) - 1)) / 2
        for n in initial:
            y = upper + EVENT_HEIGHT / 2
            places[n] = Box(edge + widths[n] / 2, y, widths[n], EVENT_HEIGHT)
            edge += widths[n] + _GAP
        upper += EVENT_HEIGHT + 50
    grouped = any(thread.device is not None for thread in picture.threads)
    first = upper + (2 * _CAPTION + 10 if grouped else 0) + _HEAD
    for thread, column in enumerate(columns):
        y = first + EVENT_HEIGHT / 2 + 8
        for n in (n for n, it in enumerate(picture.events) if it.thread == thread):
            places[n] = Box(column.x, y, widths[n], EVENT_HEIGHT)
            y += _ROW
    lower = max([first + EVENT_HEIGHT, *(box.bottom for box in places.values())])
    names = [each.name for each in picture.threads]
    threads = [Caption(name, it.x, first - 6) for name, it in zip(names, columns, strict=True)]
    groups = _groups(picture.threads, columns, upper, lower) if grouped else ()
    events = tuple(places[number] for number in range(len(labels)))
    return Layout(labels, events, tuple(threads), tuple(groups), top)


def letters(number: int) -> str:
    """The name of an event: a … z, aa, ab, …"""
    before, last = divmod(number, 26)
    return (letters(before - 1) if before else "") + chr(ord("a") + last)


def _columns(picture: Picture, widths: Sequence[float]) -> list[Box]:
    """The columns by thread; their vertical extent is not known yet."""
    found: list[Box] = []
    edge, threads = 0.0, picture.threads
    for number, thread in enumerate(threads):
        own = [w for w, it in zip(widths, picture.events, strict=True) if it.thread == number]
        width = max([60.0, *own])
        if number:
            edge += _BETWEEN + 2 * _PADDING * (threads[number - 1].device != thread.device)
        found.append(Box(edge + width / 2, 0, width, 0))
        edge += width
    return found


def _groups(
    threads: Sequence[PlacedThread], columns: Sequence[Box], upper: float, lower: float
) -> Iterator[Group]:
    """Devices first, as work-groups are drawn upon them."""
    placed = list(zip(threads, columns, strict=True))
    for device, inside in groupby(placed, key=lambda each: each[0].device):
        yield _group("device", f"device {device}", inside, upper, lower, 2)
    for (_, workgroup), inside in groupby(placed, key=lambda it: (it[0].device, it[0].workgroup)):
        yield _group("work-group", f"work-group {workgroup}", inside, upper, lower, 1)


def _group(
    kind: str,
    name: str,
    inside: Iterable[tuple[PlacedThread, Box]],
    upper: float,
    lower: float,
    rings: int,
) -> Group:
    """A box around columns, so many rings of padding away from them."""
    members = [column for _, column in inside]
    upper, lower = upper + (2 - rings) * (_CAPTION + 6), lower + rings * _PADDING
    left = members[0].left - rings * _PADDING
    right = max(members[-1].right + rings * _PADDING, left + len(name) * 7 + 16)
    box = Box((left + right) / 2, (upper + lower) / 2, right - left, lower - upper)
    return Group(kind, box, Caption(name, left + 8, upper + 15))


# ---- colours -------------------------------------------------------------------------------------

_COLOURS = {
    "sb": "#33332f",
    "po": "#33332f",
    "rf": "#c0271d",
    "mo": "#1c5bb8",
    "co": "#1c5bb8",
    "sw": "#12783a",
    "gsw": "#12783a",
    "lsw": "#3f8f2f",
    "hb": "#7d3fa8",
    "fr": "#a8650a",
    "dr": "#d1196b",
}
_OTHERS = ("#0b7c86", "#7a6a00", "#5a5ad0", "#9a4d2e", "#3f6f2a", "#a0357f")


def colour(name: str) -> str:
    """The colour of a relation, always the same."""
    return _COLOURS.get(name) or _OTHERS[zlib.crc32(name.encode()) % len(_OTHERS)]


# ---- curves for edges ----------------------------------------------------------------------------


Point = tuple[float, float]

_SAMPLES = 28
_CELL = 9.0
_LETTER = 7.2
_BENDS = (0, 20, -20, 40, -40, 66, -66, 100, -100, 150, -150, 210, -210, 290, -290)
_PORTS = (0.0, 0.3, -0.3)
_LABEL_AT = (0.5, 0.4, 0.6, 0.3, 0.7)
_LENGTH, _BEND = 0.25, 0.35
_ON_EDGE = 14.0
_NEAR_END = 25.0


class Route(Struct, frozen=True):
    """A quadratic curve from start to end, or a cubic one for a loop, and the box of its label."""

    arrow: Arrow
    controls: tuple[Point, ...]
    label: Box


class _Obstacle(Struct, frozen=True):
    """What is not to be drawn over: a point of a curve costs `point` there, a label `label`."""

    box: Box
    point: float
    label: float
    margin: float = 0.0


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
        beginning = [group.caption for group in layout.groups]
        captions = [(each, 0.0) for each in layout.threads] + [(each, 0.5) for each in beginning]
        self._obstacles = [_Obstacle(box, 400, 400, 7) for box in layout.events]
        for it, shift in captions:
            width = _LETTER * len(it.text)
            self._obstacles.append(
                _Obstacle(Box(it.x + shift * width, it.y - 5, width, 16), 40, 160)
            )
        self._ends: list[Point] = []
        self._cells: Counter[tuple[int, int]] = Counter()

    def place(self, route: Route) -> None:
        """Draw a route."""
        self._obstacles.append(_Obstacle(route.label, 80, 320, 1))
        self._ends += [route.controls[0], route.controls[-1]]
        self._cells.update({_cell(point) for point in samples(route.controls)[2:-2]})

    def best(self, arrow: Arrow) -> Route:
        """The route that costs least here."""
        a, b = self._events[arrow.source], self._events[arrow.target]
        curves = _loops(a) if arrow.source == arrow.target else _curves(a, b)
        least, found = math.inf, None
        for controls in sorted(curves, key=_least_cost):
            if _least_cost(controls) >= least:
                break
            curve = self._curve_cost(arrow, controls, least)
            for t in _LABEL_AT if curve < least else ():
                label = Box(*point_at(controls, t), _LETTER * len(arrow.name) + 5, 15)
                whole = curve + self._label_cost(label) + 4 * abs(t - 0.5)
                if whole < least:
                    least, found = whole, Route(arrow, controls, label)
        assert found is not None
        return found

    def _curve_cost(self, arrow: Arrow, controls: tuple[Point, ...], most: float) -> float:
        """What a curve costs, or a part of that which is `most` or more."""
        points = samples(controls)
        inner = points[2:-2]
        around = _around(controls)
        own = (self._events[arrow.source], self._events[arrow.target])
        cost = sum(map(math.dist, points, points[1:])) * _LENGTH + _bend(controls) * _BEND
        for it in self._obstacles:
            if cost >= most:
                return cost
            if it.box.meets(around, it.margin):
                mine = it.box in own
                cost += it.point * it.box.count(*((inner, -1.0) if mine else (points, it.margin)))
        for end in (controls[0], controls[-1]):
            cost += _NEAR_END * sum(math.dist(end, other) < 16 for other in self._ends)
        return cost + _ON_EDGE * sum(self._cells[cell] for cell in set(map(_cell, inner)))

    def _label_cost(self, label: Box) -> float:
        cost = sum(it.label for it in self._obstacles if it.box.meets(label, 2))
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


def _least_cost(controls: tuple[Point, ...]) -> float:
    """What a curve costs wherever nothing else is: none is shorter than a straight line."""
    return math.dist(controls[0], controls[-1]) * _LENGTH + _bend(controls) * _BEND


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
    (left, right), (top, bottom) = ((min(each), max(each)) for each in zip(*points, strict=True))
    return Box((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


def _cell(point: Point) -> tuple[int, int]:
    return int(point[0] // _CELL), int(point[1] // _CELL)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    left, top = _cell((box.left, box.y - box.height / 2))
    right, bottom = _cell((box.right, box.bottom))
    return product(range(left, right + 1), range(top, bottom + 1))
