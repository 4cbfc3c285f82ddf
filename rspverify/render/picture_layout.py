"""Where the parts of a picture go: a column per thread, boxes around work-groups and devices.

The colour of each relation is dark enough to be read on white.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from rspverify.picture import Picture, PlacedThread

CHARACTER = 7.9
"""Width of a character of an event, in a typewriter face of 13 units."""

EVENT_HEIGHT = 28.0
_ROW = 84.0
_BETWEEN = 118.0
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
    def bottom(self) -> float:
        """The y of its lower side."""
        return self.y + self.height / 2

    def holds(self, x: float, y: float, margin: float = 0.0) -> bool:
        """Whether a point is in it, or so near to it."""
        return (
            abs(x - self.x) <= self.width / 2 + margin
            and abs(y - self.y) <= self.height / 2 + margin
        )

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
    top = [Caption(picture.title, 0, _LINE)]
    top += [Caption(note, 0, _LINE * (2 + n)) for n, note in enumerate(picture.notes)]
    upper = top[-1].y + 26
    initial = [n for n, it in enumerate(picture.events) if it.thread is None]
    places: dict[int, Box] = {}
    if initial:
        middle = (columns[0].x + columns[-1].x) / 2 if columns else 0
        places |= _in_row(initial, widths, middle, upper + EVENT_HEIGHT / 2)
        upper += EVENT_HEIGHT + 50
    grouped = any(thread.device is not None for thread in picture.threads)
    first = upper + (2 * _CAPTION + 10 if grouped else 0) + _HEAD
    rows = [0] * len(columns)
    for number, event in enumerate(picture.events):
        if event.thread is not None:
            y = first + EVENT_HEIGHT / 2 + 8 + rows[event.thread] * _ROW
            places[number] = Box(columns[event.thread].x, y, widths[number], EVENT_HEIGHT)
            rows[event.thread] += 1
    lower = max([first + EVENT_HEIGHT, *(box.bottom for box in places.values())])
    return Layout(
        labels,
        tuple(places[number] for number in range(len(labels))),
        tuple(
            Caption(thread.name, column.x, first - 6)
            for thread, column in zip(picture.threads, columns, strict=True)
        ),
        tuple(_groups(picture.threads, columns, upper, lower)) if grouped else (),
        tuple(top),
    )


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


def _in_row(
    numbers: Sequence[int], widths: Sequence[float], middle: float, y: float
) -> dict[int, Box]:
    gap = 46.0
    edge = middle - (sum(widths[n] for n in numbers) + gap * (len(numbers) - 1)) / 2
    found = {}
    for number in numbers:
        found[number] = Box(edge + widths[number] / 2, y, widths[number], EVENT_HEIGHT)
        edge += widths[number] + gap
    return found


def _groups(
    threads: Sequence[PlacedThread], columns: Sequence[Box], upper: float, lower: float
) -> Iterator[Group]:
    """Devices first, as work-groups are drawn upon them."""
    placed = list(zip(threads, columns, strict=True))
    for device, inside in groupby(placed, key=lambda each: each[0].device):
        members = [column for _, column in inside]
        yield _group("device", f"device {device}", members, upper, lower + 2 * _PADDING, 2)
    for (_, workgroup), inside in groupby(placed, key=lambda it: (it[0].device, it[0].workgroup)):
        members = [column for _, column in inside]
        name = f"work-group {workgroup}"
        yield _group("work-group", name, members, upper + _CAPTION + 6, lower + _PADDING, 1)


def _group(
    kind: str, name: str, members: Sequence[Box], upper: float, lower: float, rings: int
) -> Group:
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
_DASHED = ("dr",)


def colour(name: str) -> str:
    """The colour of a relation, always the same."""
    return _COLOURS.get(name) or _OTHERS[zlib.crc32(name.encode()) % len(_OTHERS)]


def dashed(name: str) -> bool:
    """Whether its edges are dashed."""
    return name in _DASHED
