"""Who shares which place, where programs do not say it: every way in which it may be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, product
from math import prod

from rspverify.architecture.architecture import Kinds
from rspverify.assembly.program import Placement, ThreadId
from rspverify.limits import Limits

Blocks = tuple[int, ...]
"""By thread, the number of the place that it is in."""

_SECONDS, _BYTES = 10e-6, 1_000
"""What a placement takes at least to be listed: half of what was measured."""


@lru_cache(maxsize=512)
def placements(
    kinds: Kinds, threads: tuple[ThreadId, ...], shared: tuple[str, ...] | None = None
) -> tuple[Placement, ...]:
    """Every placement of threads, up to the numbers of places; the first shares the least.

    Places lie in those around them, and no place that lies in one is parted. shared: the open kinds
    of which every way is wanted, None for all; of others the one in which the least is shared.
    Raises LimitReached where that is more than time is left for.
    """
    found: list[dict[str, Blocks]] = [{}]
    for kind in (name for name in kinds.names if name in kinds.open):
        every = shared is None or kind in shared
        found = [
            {**each, kind: it} for each in found for it in _ways(kind, kinds, threads, each, every)
        ]
        _require_room(len(found))
    return tuple(tuple((kind, each[kind]) for kind in kinds.open) for each in found)


def _ways(
    kind: str, kinds: Kinds, threads: tuple[ThreadId, ...], placed: dict[str, Blocks], every: bool
) -> Iterator[Blocks]:
    """The ways to place threads in places of a kind, those within it given."""
    said = {
        name: tuple(it.path(kinds.alike.get(name, name)) for it in threads)
        for name in kinds.names
        if name not in kinds.open
    }
    known = {**said, **placed}
    inner = [known[it] for it in known if kind in kinds.around[kinds.alike.get(it, it)]]
    outer = [said[it] for it in kinds.around[kind] if it in said]
    whole: dict[tuple[object, ...], list[frozenset[int]]] = {}
    for unit in _units(inner, len(threads)):
        where = tuple(its[min(unit)] for its in outer)
        whole.setdefault(where, []).append(unit)
    if every:
        _require_room(prod(_many(len(units)) for units in whole.values()))
    ways = (_partitions(units) if every else [units] for units in whole.values())
    for chosen in product(*ways):
        numbers = [0] * len(threads)
        blocks = sorted((block for blocks in chosen for block in blocks), key=min)
        for number, block in enumerate(blocks):
            for thread in block:
                numbers[thread] = number
        yield tuple(numbers)


def _units(inner: Sequence[Sequence[object]], many: int) -> list[frozenset[int]]:
    """The threads that no place parts, as one place or another that lies in it has them all."""
    units = [frozenset({thread}) for thread in range(many)]
    for its in inner:
        for place in dict.fromkeys(its):
            together = frozenset(thread for thread in range(many) if its[thread] == place)
            joined = frozenset().union(*(unit for unit in units if unit & together))
            units = [unit for unit in units if not unit & together] + [joined]
    return sorted(units, key=min)


def _partitions(units: Sequence[frozenset[int]]) -> list[list[frozenset[int]]]:
    """Every partition, that with the most blocks first."""
    if not units:
        return [[]]
    first, *rest = units
    found = []
    for smaller in _partitions(rest):
        found.append([first, *smaller])
        for place, block in enumerate(smaller):
            found.append([*smaller[:place], first | block, *smaller[place + 1 :]])
    return sorted(found, key=len, reverse=True)


def _many(units: int) -> int:
    """How many partitions so many units have, by Bell's triangle."""
    row = [1]
    for _ in range(units):
        row = [*accumulate([row[-1], *row])]
    return row[0]


def _require_room(ways: int) -> None:
    Limits().require_room(ways, "ways to share places", _SECONDS, _BYTES)
