"""A picture of an execution as plain data."""

from __future__ import annotations

from msgspec import Struct


class PlacedThread(Struct, frozen=True):
    """A column of a picture. device, workgroup: None in a language that has none."""

    name: str
    device: int | None
    workgroup: int | None


class PlacedEvent(Struct, frozen=True):
    """An event of a picture; thread is the number of its column, None for an initial write."""

    text: str
    thread: int | None
    line: int | None
    marked: bool = False


class Arrow(Struct, frozen=True):
    """An edge between two events of a picture, by their numbers.

    bold: part of what the picture is to show. mutual: without a direction, as a race is.
    """

    name: str
    source: int
    target: int
    bold: bool = False
    mutual: bool = False


class Picture(Struct, frozen=True):
    """An execution to be drawn. notes: lines below the title."""

    title: str
    notes: tuple[str, ...]
    threads: tuple[PlacedThread, ...]
    events: tuple[PlacedEvent, ...]
    arrows: tuple[Arrow, ...]
