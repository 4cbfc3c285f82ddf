"""Which values a program can bring to each location (docs/semantics.md, Values).

A *derivation* of a value starts from an initial value or a constant and uses each operation at
most once along a path: nothing else can happen without a value that causes itself. The set of
derivable values is finite even where plain closure under `x + 1` would not be.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import assert_never

from msgspec import Struct

from rspverify.graph import circles
from rspverify.limits import LimitReached, Limits
from rspverify.value import (
    BINARY,
    UNARY,
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    constants,
    reads,
    renumbered,
    wrap,
)

_MAX_DERIVATIONS = 50_000


class Access(Struct, frozen=True):
    """An operation or instruction as to values: it reads (`Read(index)`), writes, or both."""

    index: int
    location: str
    reads: bool
    value: Expression | None


class Domains(Struct, frozen=True):
    """Finite supersets of what can occur: per location, and per accessing index what it writes."""

    locations: Mapping[str, frozenset[int]]
    written: Mapping[int, frozenset[int]]


def derivable(
    initial: Mapping[str, int],
    accesses: Sequence[Access],
    limits: Limits,
    seeds: frozenset[int] = frozenset(),
) -> Domains:
    """The values that have a derivation: without seeds, all that a machine can produce.

    seeds: values that any read may have without a derivation. Raises LimitReached where a location
    takes more values than the limits allow, or a derivation is too long.
    """
    writers = _writers(accesses)
    locations = {access.index: access.location for access in accesses}
    known: dict[tuple[str, Hashable], frozenset[int]] = {}
    alike = _alike(accesses)

    def readable(location: str, used: frozenset[int]) -> frozenset[int]:
        key = (location, alike(used))
        if key not in known:
            if len(known) > _MAX_DERIVATIONS:
                raise LimitReached(
                    f"the values of the program have more than {_MAX_DERIVATIONS:,} derivations, a "
                    "limit that no option lifts; a smaller --unroll, or fewer different "
                    "read-modify-writes of a location, have fewer"
                )
            limits.remaining()
            found = {initial[location]} | seeds
            for writer in writers.get(location, ()):
                if writer.index not in used:
                    found |= written(writer, used)
            known[key] = _bounded(found, location, limits)
        return known[key]

    def written(writer: Access, used: frozenset[int]) -> frozenset[int]:
        def of_read(index: int) -> frozenset[int]:
            if index in used:
                return seeds
            return readable(locations[index], used | {writer.index, index})

        assert writer.value is not None
        return _image(writer.value, of_read)

    everything: frozenset[int] = frozenset()
    try:
        return Domains(
            {location: readable(location, everything) for location in initial},
            {each.index: written(each, everything) for each in accesses if each.value is not None},
        )
    except RecursionError:
        raise LimitReached("values of the program are derived in too many steps") from None


def _alike(accesses: Sequence[Access]) -> Callable[[frozenset[int]], Hashable]:
    """What is the same for sets of accesses that stand for each other.

    Accesses go together where one writes what another reads. Groups of equal locations and
    expressions can be exchanged, so that it counts alone how many of them are used, and how far.
    """
    groups: list[list[Access]] = []
    for it in accesses:
        joined = [each for each in groups if any(_touched(it) & _touched(one) for one in each)]
        groups = [each for each in groups if each not in joined]
        groups.append([*chain(*joined), it])
    place: dict[int, tuple[Hashable, int, int]] = {}
    for number, group in enumerate(groups):
        at = {it.index: bit for bit, it in enumerate(group)}
        shape = tuple(
            (it.location, it.reads, it.value and renumbered(it.value, at.__getitem__))
            for it in group
        )
        place |= {index: (shape, number, 1 << bit) for index, bit in at.items()}
    names = {
        shape: name for name, shape in enumerate(dict.fromkeys(it for it, _, _ in place.values()))
    }

    def key(used: frozenset[int]) -> Hashable:
        masks: dict[tuple[int, int], int] = {}
        for index in used & place.keys():
            shape, number, bit = place[index]
            masks[names[shape], number] = masks.get((names[shape], number), 0) | bit
        return tuple(sorted((name, mask) for (name, _), mask in masks.items()))

    return key


def _touched(it: Access) -> set[int]:
    """An access and the reads that its value mentions."""
    return {it.index} if it.value is None else {it.index, *reads(it.value)}


def admissible(
    initial: Mapping[str, int],
    accesses: Sequence[Access],
    guards: Iterable[Expression],
    limits: Limits,
    circular: bool,
) -> Domains:
    """The values that a candidate execution may have, those that cause themselves included.

    circular: whether values may cause themselves. They range over the values of the program: where
    none causes itself, what is derivable from its constants and initial values; otherwise the least
    set that contains those and is closed under its expressions, and LimitReached where that is too
    large. Per location this keeps the largest sets that the program's own writes can sustain.
    """
    seeds = frozenset(initial.values()).union(
        *(constants(access.value) for access in accesses if access.value is not None),
        *(constants(guard) for guard in guards),
    )
    if circular:
        universe = _closed(seeds, accesses, limits)
    else:
        derived = derivable(initial, accesses, limits, seeds)
        universe = seeds.union(*derived.locations.values(), *derived.written.values())
    locations = {access.index: access.location for access in accesses}
    writers = _writers(accesses)
    domains: Mapping[str, frozenset[int]] = dict.fromkeys(initial, universe)
    while True:
        written = _written(accesses, {index: domains[place] for index, place in locations.items()})
        smaller = {
            location: universe.intersection(
                {value}.union(*(written[each.index] for each in writers.get(location, ())))
            )
            for location, value in initial.items()
        }
        if smaller == domains:
            for location, values in domains.items():
                _bounded(values, location, limits)
            return Domains(domains, written)
        domains = smaller


def may_cause_itself(accesses: Sequence[Access], in_line: Collection[str] = ()) -> bool:
    """Whether a value may flow from a write to a read, on to other writes, and back again.

    in_line: locations whose read-modify-writes never read from each other in a circle.
    """
    flow = []
    for writer in accesses:
        if writer.value is None:
            continue
        flow += [(("read", it), ("write", writer.index)) for it in reads(writer.value)]
        flow += [
            (("write", writer.index), ("read", reader.index))
            for reader in accesses
            if reader.reads and reader.location == writer.location and reader is not writer
        ]
    by_index = {access.index: access for access in accesses}
    return any(
        not _in_line([by_index[index] for _, index in circle], in_line) for circle in circles(flow)
    )


def _in_line(members: Sequence[Access], in_line: Collection[str]) -> bool:
    """Whether all are read-modify-writes of one of these locations, each of what it read itself."""
    locations = {each.location for each in members}
    return (
        len(locations) == 1
        and locations <= set(in_line)
        and all(each.value is not None and reads(each.value) == {each.index} for each in members)
    )


def _closed(seeds: frozenset[int], accesses: Sequence[Access], limits: Limits) -> frozenset[int]:
    """The least set that contains the seeds and is closed under what the accesses write."""
    indices = [each.index for each in accesses]
    known = seeds
    while True:
        more = known.union(*_written(accesses, dict.fromkeys(indices, known)).values())
        if more == known:
            return known
        if len(more) > limits.values:
            raise LimitReached(
                f"values may cause themselves, and there are more than {limits.values} of them"
            )
        known = more


def _written(
    accesses: Iterable[Access], read: Mapping[int, frozenset[int]]
) -> dict[int, frozenset[int]]:
    """What each access may write, given the values that each may read."""
    return {it.index: _image(it.value, read.__getitem__) for it in accesses if it.value is not None}


def _writers(accesses: Sequence[Access]) -> dict[str, list[Access]]:
    writers: dict[str, list[Access]] = {}
    for access in accesses:
        if access.value is not None:
            writers.setdefault(access.location, []).append(access)
    return writers


def _bounded(values: Iterable[int], location: str, limits: Limits) -> frozenset[int]:
    values = frozenset(values)
    if len(values) > limits.values:
        raise LimitReached(f"{location} may take more than {limits.values} values")
    return values


def _image(expression: Expression, of_read: Callable[[int], frozenset[int]]) -> frozenset[int]:
    """A superset of the values of an expression, given those of each read."""
    match expression:
        case Constant(value):
            return frozenset({value})
        case Read(index):
            return of_read(index)
        case Unary(name, argument):
            return frozenset(wrap(UNARY[name](value)) for value in _image(argument, of_read))
        case Binary(name, left, right):
            first, second = _image(left, of_read), _image(right, of_read)
            decided = (
                {0} & first if name == "&&" else {1} if name == "||" and first - {0} else set()
            )
            return frozenset(decided) | {
                wrap(BINARY[name](a, b)) for a, b in product(first, second)
            }
        case Select(condition, then, otherwise):
            chosen = _image(condition, of_read)
            taken = _image(then, of_read) if chosen - {0} else frozenset[int]()
            return taken | (_image(otherwise, of_read) if 0 in chosen else frozenset())
        case _:
            assert_never(expression)
