"""Time against size: each curve by each engine, until a point takes longer than the cut-off."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection

from bench.cases import Timed, scheme_named
from bench.curves import Curve
from bench.measure import digits
from bench.sheet import Sheet
from rspverify.axiomatic.cat import load_model
from rspverify.soundness.settings import Engine
from rspverify.verdict import Word

SCHEME = "proposed"
SOON = 0.5
"""A point below so many seconds is measured three times."""
GRACE = 2.0
"""An engine that does not mind its time limit is ended after so many times the cut-off."""


@dataclass(frozen=True)
class Point:
    """seconds: of one decision, None beyond the cut-off or where there is no verdict.

    words: the verdict, or why there is none.
    """

    curve: Curve
    engine: Engine
    size: int
    seconds: float | None
    words: str


def grow(curves: Sequence[Curve], cut_off: float) -> Iterator[Point]:
    """The points of each curve; the first without a time is an engine's last of that curve."""
    for curve in curves:
        reached = dict.fromkeys(Engine, True)
        for size in curve.sizes:
            for engine in Engine:
                if reached[engine]:
                    point = measure(curve, engine, size, cut_off)
                    reached[engine] = point.seconds is not None
                    yield point


def measure(curve: Curve, engine: Engine, size: int, cut_off: float) -> Point:
    """One point, in a process of its own, so that none inherits what another left in memory."""
    forks = "fork" in get_all_start_methods()
    context = get_context("fork") if forks else get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_decide, args=(curve, engine, size, cut_off, sender))
    process.start()
    sender.close()
    try:
        if not receiver.poll(GRACE * cut_off + 1):
            return Point(curve, engine, size, None, f"> {cut_off:g} s")
        seconds, words = receiver.recv()
    except EOFError:
        return Point(curve, engine, size, None, "ended, perhaps for lack of memory")
    finally:
        process.kill()
        process.join()
    return Point(curve, engine, size, seconds, words)


def _decide(curve: Curve, engine: Engine, size: int, cut_off: float, sender: Connection) -> None:
    scheme, model = scheme_named(SCHEME), load_model("opencl-rsp")
    Timed("warm-up", curve.program(1), scheme, model).decide(engine, cut_off)
    case = Timed(curve.name, curve.program(size), scheme, model)
    times: list[float] = []
    while not times or (len(times) < 3 and times[0] < SOON):
        started = time.perf_counter()
        verdict = case.decide(engine, cut_off)
        times.append(time.perf_counter() - started)
        if verdict.word is Word.UNKNOWN:
            late = times[-1] > 0.9 * cut_off
            sender.send((None, f"> {cut_off:g} s" if late else verdict.reason))
            return
    seconds = statistics.median(times)
    if seconds > cut_off:
        sender.send((None, f"> {cut_off:g} s"))
    else:
        sender.send((seconds, str(verdict.word)))


def growth(points: Sequence[Point], cut_off: float) -> Sheet:
    """A row for each curve and engine, a column for each size."""
    sizes = sorted({point.size for point in points})
    sheet = Sheet(
        "growth",
        f"One decision under {SCHEME} against size (ms; up to {cut_off:g} s)",
        ["curve", "size", "engine"],
        [str(size) for size in sizes],
    )
    rows: dict[tuple[Curve, Engine], dict[int, Point]] = {}
    for point in points:
        rows.setdefault((point.curve, point.engine), {})[point.size] = point
    for (curve, engine), found in sorted(rows.items(), key=lambda row: _place(points, row[0])):
        cells = (_cell(found.get(size)) for size in sizes)
        sheet.add(curve.name, curve.unit, engine, *cells)
    return sheet


def _place(points: Sequence[Point], row: tuple[Curve, Engine]) -> tuple[int, int]:
    curves = list(dict.fromkeys(point.curve for point in points))
    return curves.index(row[0]), list(Engine).index(row[1])


def _cell(point: Point | None) -> str:
    if point is None:
        return ""
    if point.seconds is None:
        return point.words if point.words.startswith(">") else Word.UNKNOWN
    figure = digits(point.seconds * 1000)
    return figure if point.words == Word.SOUND else f"{figure} {point.words}"
