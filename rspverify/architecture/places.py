"""The kinds of places that a machine has, and which lies in which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations, pairwise

from rspverify.architecture import syntax
from rspverify.architecture.architecture import Kinds
from rspverify.architecture.problems import Problems
from rspverify.source import Span
from rspverify.wording import alternatives, guess

OF_PROGRAMS = ("thread", "workgroup", "device", "system")
"""The kinds of places that programs say, the innermost first."""

EXAMPLE = f"such as `places {' < '.join(OF_PROGRAMS)}`"


def read_places(item: syntax.Places | None, whole: Span, problems: Problems) -> Kinds:
    """The kinds that are declared. Raises InputError where something is wrong with them."""
    if item is None:
        problems.stop(whole, "a machine must have places, innermost first", EXAMPLE)
    before = problems.noted
    first: dict[str, syntax.Place] = {}
    for chain in item.chains:
        for it in chain:
            if it.name.text not in first:
                first[it.name.text] = it
            elif chain is item.chains[0]:
                message = f"{it.name} must be one place, not two"
                problems.again(it.name.span, message, first[it.name.text].name.span)
            elif it.open or it.per:
                message = f"what {it.name} is must be said once, where it stands first"
                problems.again(it.span, message, first[it.name.text].span)
    for it in first.values():
        _check(it, first, problems)
    if problems.noted > before:
        problems.raise_any()
    alike = {name: it.per.text for name, it in first.items() if it.per is not None}
    chains = [[it.name.text for it in chain] for chain in item.chains]
    around = _around(chains, alike)
    names = _innermost_first([*first], around, alike)
    if not _in_order(chains[0], names, around, alike):
        message = "places must begin with thread and end with system, the innermost first"
        problems.stop(item.span, message, EXAMPLE)
    open_ = tuple(name for name in names if first[name].open)
    sorted_around = {name: tuple(it for it in names if it in its) for name, its in around.items()}
    return Kinds(names, alike, open_, sorted_around)


def _check(it: syntax.Place, every: Iterable[str], problems: Problems) -> None:
    name, per = it.name.text, it.per
    own = [each for each in OF_PROGRAMS if each in every]
    if per is not None and per.text not in own:
        message = f"{per} must be one of the places that programs say: {alternatives(own)}"
        problems.error(per.span, message, guess(per.text, OF_PROGRAMS))
    elif (per or it.open) and name in OF_PROGRAMS:
        word = "per" if per else "any"
        problems.error(
            it.name.span, f"which {name}s there are is said by the program, not by `{word}`"
        )
    elif per and it.open:
        message = f"{name} must be one for each {per}, or open to any, not both"
        problems.error(it.span, message)
    elif not per and not it.open and name not in OF_PROGRAMS:
        programs = ", ".join(OF_PROGRAMS)
        message = f"{name} must say for what there is one: programs say {programs}"
        hint = guess(name, OF_PROGRAMS) or (
            f"such as `{name} per workgroup`; `any {name}` is one of which programs do not say "
            "who is in it"
        )
        problems.error(it.name.span, message, hint)


def _around(chains: list[list[str]], alike: Mapping[str, str]) -> dict[str, set[str]]:
    """By kind, all that lie around it, as the chains say; a kind around itself is a circle."""
    around: dict[str, set[str]] = {
        alike.get(name, name): set() for chain in chains for name in chain
    }
    for chain in chains:
        for inner, outer in pairwise(alike.get(name, name) for name in chain):
            if inner != outer:
                around[inner].add(outer)
    for middle in around:
        for its in around.values():
            if middle in its:
                its |= around[middle]
    return around


def _innermost_first(
    names: list[str], around: Mapping[str, set[str]], alike: Mapping[str, str]
) -> tuple[str, ...]:
    """The kinds, each before those around it; else in the order in which they are declared."""
    left, found = list(names), list[str]()
    while left:
        kinds = [alike.get(it, it) for it in left]
        free = [
            it
            for it in left
            if not any(alike.get(it, it) in around[other] for other in kinds if other in around)
        ]
        found.append(free[0] if free else left[0])
        left.remove(found[-1])
    return tuple(found)


def _in_order(
    chain: list[str],
    names: tuple[str, ...],
    around: Mapping[str, set[str]],
    alike: Mapping[str, str],
) -> bool:
    """Whether all lie between thread and system, those that programs say as they say it."""
    kinds = {alike.get(name, name) for name in names}
    own = [name for name in OF_PROGRAMS if name in kinds]
    return (
        chain[0] == "thread"
        and chain[-1] == "system"
        and not any(kind in its for kind, its in around.items())
        and all(outer in around[inner] for inner, outer in combinations(own, 2))
        and all(kind == "thread" or kind in around["thread"] for kind in kinds)
        and all(kind == "system" or "system" in around[kind] for kind in kinds)
    )
