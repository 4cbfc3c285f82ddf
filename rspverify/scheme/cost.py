"""What the code of a scheme costs: a weight for each instruction, from a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import astuple

from rspverify.architecture.acts import Deed, acts
from rspverify.architecture.machines import MACHINES
from rspverify.convert import Count
from rspverify.isa.catalogue import instruction_sets
from rspverify.isa.instruction_set import InstructionSet, instruction_set
from rspverify.scheme.row import FAR, AnyRow, CodeItem, Template
from rspverify.source import MAX_SCHEME_BYTES, InputError, Problem, Source, read_source
from rspverify.wording import guess
from rspverify.yaml_reader import Node, Table, Text, found

_DEFAULT = Path(__file__).with_name("costs.yaml")
MOST = 1_000_000
_LISTED = 1_000
"""A set with more instructions is told by patterns of their names."""


class Costs(Struct, frozen=True):
    """The weight of each instruction, by its name and reach as in `FLU_L1 DV`; 0 or more.

    file: where they are from, None for ours.
    """

    weights: Mapping[str, int]
    file: str | None = None

    def of(self, code: Iterable[CodeItem]) -> int:
        """The sum over the instructions of a row's code."""
        return sum(map(self.weight, code))

    def weight(self, item: CodeItem) -> int:
        """That of one instruction; where no file names it, by what ours stand for."""
        known = self.weights.get(item.priced)
        return item.cost if known is None else known

    def of_rows(self, rows: Iterable[AnyRow]) -> int:
        """The sum over all rows, each counted once."""
        return sum(self.of(row.code) for row in rows)


class Bill(Struct, frozen=True):
    """What a code is made of, and its weighted cost.

    flushes, invalidations: instructions that flush or empty whole caches, in any reach; l1: those
    within a device, l2: those of a device. locks: instructions that take locks.
    """

    cost: Count = 0
    instructions: Count = 0
    l1_flushes: Count = 0
    l2_flushes: Count = 0
    l1_invalidations: Count = 0
    l2_invalidations: Count = 0
    locks: Count = 0

    def __add__(self, other: Bill) -> Bill:
        both = zip(astuple(self), astuple(other), strict=True)
        return Bill(*(mine + theirs for mine, theirs in both))


@cache
def default_costs() -> Costs:
    """Our weights: costs.yaml beside this file, which says what they stand for.

    Its names are not looked up: no machine need be read for them, and a test holds them.
    """
    return Costs(_read(read_source(_DEFAULT), {}, known=None))


def read_costs(path: str | Path | None) -> Costs:
    """The weights of a file, if one is named; what it leaves out has ours. Raises InputError."""
    if not path:
        return default_costs()
    source = read_source(path, MAX_SCHEME_BYTES)
    weights = _read(source, default_costs().weights, known=is_priced)
    return Costs(weights, str(path))


def bill(code: Iterable[CodeItem], costs: Costs) -> Bill:
    """The bill for a row's code, told by the effects of its instructions."""
    return sum((_bill(each, costs) for each in code), Bill())


def _bill(item: CodeItem, costs: Costs) -> Bill:
    done = acts(item.mnemonic) if isinstance(item, Template) else ()
    flushed = {it.kind.place not in FAR for it in done if it.deed is Deed.MARK and it.kind}
    emptied = {
        it.kind.place not in FAR for it in done if it.deed is Deed.LOSE and it.every and it.kind
    }
    return Bill(
        costs.weight(item),
        1,
        True in flushed,
        False in flushed,
        True in emptied,
        False in emptied,
        any(it.deed is Deed.TAKE for it in done),
    )


@cache
def priced_names() -> tuple[str, ...]:
    """The instructions of all machines and targets as a file of costs names them.

    But for those of targets that have too many to be listed: see `priced_patterns`.
    """
    found: dict[str, None] = {}
    for machine in MACHINES.values():
        for name, mnemonic in machine.instructions.items():
            for reach in mnemonic.reaches or (None,):
                found[f"{name} {reach}" if reach else name] = None
    for each in _priced_sets():
        if each.size <= _LISTED:
            found |= dict.fromkeys(form.spelled for form in each.every)
    return tuple(found)


def priced_patterns() -> list[str]:
    """Regular expressions for the instructions of targets that have too many to be listed."""
    return [it for each in _priced_sets() if each.size > _LISTED for it in each.patterns]


def is_priced(name: str) -> bool:
    """Whether a machine or a target has an instruction of this name."""
    return any(it.has(name) for it in _priced_sets()) or name in priced_names()


def _priced_sets() -> list[InstructionSet]:
    return [it for it in map(instruction_set, instruction_sets()) if it.prices]


def _read(
    source: Source, defaults: Mapping[str, int], known: Callable[[str], bool] | None
) -> dict[str, int]:
    """The weights of a file and the defaults. known: whether it may have a name; None for any."""
    from rspverify.yaml_text import read_yaml

    root, problems = read_yaml(source)
    weights = dict(defaults)
    if root is not None and not isinstance(root, Table):
        message = f"a file of costs must be a mapping from instructions, not {found(root)}"
        problems.append(Problem(root.span, message, "as in `FLU_L1 DV: 40`"))
    elif root is not None:
        given: set[str] = set()
        for key, value in root.entries:
            name = " ".join(key.text.split())
            if known is not None and not known(name):
                message = f"an instruction must be named with its reach, not {found(key)}"
                problems.append(Problem(key.span, message, guess(name, priced_names())))
            elif name in given:
                message = f"an instruction must have one cost, {name} has one before"
                problems.append(Problem(key.span, message))
            given.add(name)
            weight = _weight(value)
            if weight is None:
                message = f"a cost must be a whole number up to {MOST:,}, not {found(value)}"
                problems.append(Problem(value.span, message))
            else:
                weights[name] = weight
    if problems:
        raise InputError(problems)
    return weights


def _weight(node: Node) -> int | None:
    if isinstance(node, Text) and node.text.isascii() and node.text.isdigit():
        digits = node.text.lstrip("0")
        return int(digits or "0") if len(digits) < 8 and int(digits or "0") <= MOST else None
    return None
