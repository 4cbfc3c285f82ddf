"""Times, taken so that what is compared meets the same machine in the same minute."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from typing import TypeVar

Name = TypeVar("Name")


def side_by_side(actions: Mapping[Name, Callable[[], object]], repeats: int) -> dict[Name, float]:
    """The median milliseconds of each action, after one run to warm up.

    The actions take turns, so that a busy minute of the machine is shared by all.
    """
    for action in actions.values():
        action()
    times: dict[Name, list[float]] = {name: [] for name in actions}
    for _ in range(repeats):
        for name, action in actions.items():
            started = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - started)
    return {name: statistics.median(each) * 1000 for name, each in times.items()}


def digits(milliseconds: float) -> str:
    """Three digits at the most, so that a table claims no more than it measured."""
    if milliseconds >= 100:
        return f"{milliseconds:.0f}"
    return f"{milliseconds:.1f}" if milliseconds >= 10 else f"{milliseconds:.2f}"
