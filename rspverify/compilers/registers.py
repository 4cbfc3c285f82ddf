"""What the registers of one work-item have: numbers, halves of pointers, and lanes of its wave.

The work-item is the only one of its wave, so that a mask of lanes is a condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rspverify.compilers.conditions import (
    Condition,
    choice,
    condition_of,
    expression,
    implies,
)
from rspverify.value import Constant, Expression, Read, Select, select, wrap

UNKNOWN = Read(-1)
"""What a register has that nothing was written to."""


@dataclass(frozen=True)
class Half:
    """A part of the pointer to a location: 0 is the low one, or all of one to local memory."""

    location: str
    part: int


@dataclass(frozen=True)
class Lanes:
    """A mask that has the lane of the work-item where a condition holds, or a half of one.

    others: whether it may have lanes of no work-item, as an inverted one has.
    """

    condition: Condition
    part: int = 0
    others: bool = False


Value = Expression | Half | Lanes

_NUMBER = re.compile(r"-?(?:0x[0-9a-f]{1,16}|0|[1-9][0-9]{0,19})")
_ONE = re.compile(r"[vsa][0-9]+|vcc_lo|vcc_hi|exec_lo|exec_hi|m0|scc")
_SEVERAL = re.compile(r"([vsa])\[([0-9]{1,4}):([0-9]{1,4})\]")
_PAIRS = {"vcc": ("vcc_lo", "vcc_hi"), "exec": ("exec_lo", "exec_hi")}


class CannotReadError(Exception):
    """Why an instruction cannot be read, in words that follow its text."""


def registers(operand: str) -> tuple[str, ...]:
    """The registers that an operand names: `v[2:3]` is v2 and v3. Empty where it is no register."""
    if _ONE.fullmatch(operand):
        return (operand,)
    if operand in _PAIRS:
        return _PAIRS[operand]
    several = _SEVERAL.fullmatch(operand)
    if several is None:
        return ()
    first, last = int(several[2]), int(several[3])
    return tuple(f"{several[1]}{it}" for it in range(first, last + 1)) if last > first else ()


def number(operand: str) -> int | None:
    """The number that an operand is, None where it is none."""
    return int(operand, 0) if _NUMBER.fullmatch(operand) else None


Queue = tuple[int | None, ...]
"""What a counter counts, in the order of issue; but before None there is what some path has issued,
in no order."""


@dataclass(frozen=True)
class State:
    """What is known at a place in the code.

    path: when it is reached. values: of registers. open: of registers whose loads have not been
    waited for, these loads. counted: by counter, what has been issued and not waited for.
    """

    path: Condition
    values: Mapping[str, Value]
    open: Mapping[str, frozenset[int]] = field(default_factory=dict)
    counted: Mapping[str, Queue] = field(default_factory=dict)

    def value(self, register: str) -> Value:
        """What a register has. Raises CannotReadError where a load has not been waited for."""
        if register in self.open:
            raise CannotReadError(f"uses {register} before what is loaded there was waited for")
        return self.values.get(register, UNKNOWN)

    def scalar(self, operand: str) -> Expression:
        """The number that an operand is, of 32 bits."""
        known = number(operand)
        if known is not None:
            return Constant(wrap(known))
        names = registers(operand)
        if len(names) != 1:
            raise CannotReadError(f"has the operand {operand}, which is not known")
        value = self.value(names[0])
        if isinstance(value, Half):
            raise CannotReadError(f"calculates with {operand}, a pointer to {value.location}")
        if isinstance(value, Lanes):
            raise CannotReadError(f"calculates with {operand}, a mask of lanes")
        return value

    def lanes(self, operand: str) -> Condition:
        """The condition that a mask of lanes is."""
        known = number(operand)
        if known is not None:
            return _lanes_of(Constant(wrap(known)), operand)
        names = registers(operand)
        if not names or len(names) > 2:
            raise CannotReadError(f"has the operand {operand}, which is not known")
        found = [_lanes_of(self.value(name), operand, at) for at, name in enumerate(names)]
        if len(set(found)) > 1:
            raise CannotReadError(f"uses {operand}, whose halves are not of one mask")
        return found[0]

    def others(self, operand: str) -> bool:
        """Whether a mask may have lanes of no work-item."""
        if (known := number(operand)) is not None:
            return known != 0
        return any(_others(self.values.get(it, UNKNOWN)) for it in registers(operand))

    def is_mask(self, operand: str) -> bool:
        """Whether an operand is known to be a mask of lanes."""
        return any(isinstance(self.values.get(it), Lanes) for it in registers(operand))

    def pointer(self, operand: str) -> str:
        """The location that a pointer points to."""
        names = registers(operand)
        halves = [self.value(name) for name in names]
        places = {it.location for it in halves if isinstance(it, Half)}
        wanted = [Half(each, at) for each in places for at in range(len(halves))]
        if not halves or halves != wanted:
            raise CannotReadError(f"has the address {operand}, which is not that of a location")
        return places.pop()

    @property
    def active(self) -> Condition:
        """Whether the lane of the work-item takes part."""
        if self.others("exec_lo"):
            raise CannotReadError("is executed by lanes that are of no work-item")
        return self.lanes("exec_lo")

    def written(self, values: Mapping[str, Value]) -> State:
        """With values in registers; vector registers keep theirs where the lane takes no part."""
        known = dict(self.values)
        for name, value in values.items():
            if name in self.open:
                raise CannotReadError(f"writes {name} before what is loaded there was waited for")
            vector = name[0] in "va" and name[1].isdigit()
            if vector and not implies(self.path, self.active):
                value = merged(self.active, value, known.get(name, UNKNOWN))
            known[name] = value
        return replace(self, values=known)

    def complete(self, done: frozenset[int]) -> State:
        """With loads complete."""
        left = {name: loads - done for name, loads in self.open.items()}
        return replace(self, open={name: loads for name, loads in left.items() if loads})


def _others(value: Value) -> bool:
    match value:
        case Lanes(_, _, others):
            return others
        case Select(_, then, otherwise):
            return _others(then) or _others(otherwise)
        case _:
            return value != Constant(0)


def _lanes_of(value: Value, operand: str, part: int = 0) -> Condition:
    match value:
        case Lanes(condition, at, _) if at == part:
            return condition
        case Constant(0):
            return False
        case Constant(-1):
            return True
        case Select(condition, then, otherwise):
            one, other = (_lanes_of(it, operand, part) for it in (then, otherwise))
            return choice(condition_of(condition), one, other)
        case _:
            raise CannotReadError(f"uses {operand} as a mask of lanes, which it is not")


def merged(condition: Condition, then: Value, otherwise: Value) -> Value:
    """One value where a condition holds, another where it does not; UNKNOWN where they differ in
    kind."""
    if then == otherwise:
        return then
    if isinstance(then, Lanes) or isinstance(otherwise, Lanes):
        part = next(it.part for it in (then, otherwise) if isinstance(it, Lanes))
        try:
            one, other = (_lanes_of(it, "", part) for it in (then, otherwise))
        except CannotReadError:
            return UNKNOWN
        others = _others(then) or _others(otherwise)
        return Lanes(choice(condition, one, other), part, others)
    one_number = UNKNOWN if isinstance(then, Half) else then
    other_number = UNKNOWN if isinstance(otherwise, Half) else otherwise
    return select(expression(condition), one_number, other_number)


def joined(one: State, other: State) -> State:
    """What is known where two paths meet."""
    names = dict.fromkeys((*one.values, *other.values))
    values = {
        name: merged(one.path, one.values.get(name, UNKNOWN), other.values.get(name, UNKNOWN))
        for name in names
    }
    opened = {
        name: one.open.get(name, frozenset()) | other.open.get(name, frozenset())
        for name in dict.fromkeys((*one.open, *other.open))
    }
    pools = dict.fromkeys((*one.counted, *other.counted))
    counted = {it: _meeting(one.counted.get(it, ()), other.counted.get(it, ())) for it in pools}
    return State(choice(one.path, True, other.path), values, opened, counted)


def _meeting(one: Queue, other: Queue) -> Queue:
    """What both end with, and before it all that either has, in no order."""
    if one == other:
        return one
    common = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right or left is None:
            break
        common += 1
    first, second = one[: len(one) - common], other[: len(other) - common]
    before = sorted({it for it in (*first, *second) if it is not None})
    return (*before, None, *one[len(one) - common :])
