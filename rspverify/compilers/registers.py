"""What the registers of one work-item have: numbers, halves of pointers, and lanes of its wave.

The work-item is the only one of its wave, so that a mask of lanes is a condition.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import cast

from msgspec import Struct, field

from rspverify.isa import execution as isa
from rspverify.isa.addresses import Address, CannotReadError
from rspverify.isa.conditions import (
    Condition,
    both,
    choice,
    condition_of,
    either,
    expression,
    implies,
    negated,
)
from rspverify.isa.execution import UNKNOWN
from rspverify.records import replace
from rspverify.value import Constant, Expression, Select, binary, select, wrap


class Lanes(Struct, frozen=True):
    """A mask that has the lane of the work-item where a condition holds, or a half of one.

    others: whether it may have lanes of no work-item, as an inverted one has.
    """

    condition: Condition
    part: int = 0
    others: bool = False


Value = Expression | Address | Lanes

_NUMBER = re.compile(r"-?(?:0x[0-9a-f]{1,16}|0|[1-9][0-9]{0,19})")
_ONE = re.compile(r"[vsa][0-9]+|vcc_lo|vcc_hi|exec_lo|exec_hi|m0|scc")
_SEVERAL = re.compile(r"([vsa])\[([0-9]{1,4}):([0-9]{1,4})\]")
_HALF = re.compile(r"(v[0-9]+)\.([lh])")
_HALF_BITS = 16
_FLOAT = re.compile(r"-?(?:0\.5|[124]\.0)")
"""What numbers are called whose bits are those of such a number in floating point."""
_PAIRS = {"vcc": ("vcc_lo", "vcc_hi"), "exec": ("exec_lo", "exec_hi")}


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


def bits(operand: str, size: int) -> int | None:
    """The number of 32 or 64 bits that an operand is, None where it is none."""
    if _FLOAT.fullmatch(operand):
        packed = struct.pack(">f" if size == 32 else ">d", float(operand))
        return int.from_bytes(packed, signed=True)
    return number(operand)


class Issued(Struct, frozen=True):
    """What a counter counts, by its index.

    surely: where it is issued, not complete, and counted for certain; possibly: besides, where it
    is issued with no lane that takes part.
    """

    index: int
    surely: Condition
    possibly: Condition


Queue = tuple[Issued, ...]
"""What a counter counts, in the order of issue, which is that of the code on every path."""


class State(isa.State, frozen=True):
    """What is known at a place in the code.

    open: of registers the loads that have not been waited for, each with where that is so. counted:
    by counter, what has been issued and not waited for.
    """

    open: Mapping[str, Mapping[int, Condition]] = field(default_factory=dict)
    counted: Mapping[str, Queue] = field(default_factory=dict)

    def value(self, register: str) -> Value:
        """What a register has. Raises CannotReadError where a load has not been waited for."""
        if self._is_open(register):
            raise CannotReadError(f"uses {register} before what is loaded there was waited for")
        return self.old(register)

    def _is_open(self, register: str) -> bool:
        """Whether the work-item may be here before a load into a register is complete."""
        loads = self.open.get(register, {}).values()
        here = both(self.path, self.lanes("exec_lo")) if loads else False
        return any(both(here, it) is not False for it in loads)

    def scalar(self, operand: str) -> Expression:
        """The number that an operand is, of 32 bits."""
        known = bits(operand, 32)
        if known is not None:
            return Constant(wrap(known))
        names = registers(operand)
        if _HALF.fullmatch(operand):
            self.value(operand[:-2])  # It must have been waited for.
            value = self.old(operand)
        elif len(names) != 1:
            raise CannotReadError(f"has the operand {operand}, which is not known")
        else:
            value = self.value(names[0])
        if isinstance(value, Address):
            raise CannotReadError(f"calculates with {operand}, a pointer to {value.location}")
        if isinstance(value, Lanes):
            raise CannotReadError(f"calculates with {operand}, a mask of lanes")
        return value

    def old(self, name: str) -> Value:
        """What a register, or half of one, has, waited for or not; UNKNOWN where nothing is known.

        Address of one is a number of 16 bits, as signed.
        """
        found: Value = self.values.get(name, UNKNOWN)
        if _HALF.fullmatch(name):
            return found if name in self.values else self._half(name)
        if any(f"{name}.{it}" in self.values for it in "lh"):
            low, high = (cast("Expression", self.old(f"{name}.{it}")) for it in "lh")
            low = binary("&", low, Constant((1 << _HALF_BITS) - 1))
            return binary("|", binary("<<", high, Constant(_HALF_BITS)), low)
        return found

    def _half(self, name: str) -> Value:
        """Address of a register of which nothing but the whole was written."""
        whole, places = self.values.get(name[:-2], UNKNOWN), Constant(_HALF_BITS)
        if isinstance(whole, Address | Lanes):
            return UNKNOWN
        return binary(">>", whole if name[-1] == "h" else binary("<<", whole, places), places)

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
        places = {it.location for it in halves if isinstance(it, Address)}
        wanted = [Address(each, at) for each in places for at in range(len(halves))]
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
            if self._is_open(name.partition(".")[0]):
                raise CannotReadError(f"writes {name} before what is loaded there was waited for")
            vector = name[0] in "va" and name[1].isdigit()
            if vector and not implies(self.path, self.active):
                value = merged(self.active, value, self.old(name))
            for half in "lh":
                known.pop(f"{name}.{half}", None)
            known[name] = value
        return replace(self, values=known)

    def complete(self, done: Mapping[int, Condition]) -> State:
        """With loads complete, each where a condition holds."""
        return replace(self, open={it: _without(own, done) for it, own in self.open.items()})

    def loading(self, register: str, read: int, where: Condition) -> State:
        """With a load into a register that has not been waited for."""
        own = {**self.open.get(register, {}), read: where}
        return replace(self, open={**self.open, register: own})


def _without(loads: Mapping[int, Condition], done: Mapping[int, Condition]) -> dict[int, Condition]:
    left = {it: both(where, negated(done.get(it, False))) for it, where in loads.items()}
    return {it: where for it, where in left.items() if where is not False}


def half_of(operand: str) -> str | None:
    """The half of a register that an operand names, `v5.l`; None if it names none."""
    return operand if _HALF.fullmatch(operand) else None


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


def mask(value: Value) -> Lanes:
    """A value as a mask of lanes."""
    return Lanes(_lanes_of(value, "a number"), 0, _others(value))


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
    one_number = UNKNOWN if isinstance(then, Address) else then
    other_number = UNKNOWN if isinstance(otherwise, Address) else otherwise
    return select(expression(condition), one_number, other_number)


def joined(one: State, other: State) -> State:
    """What is known where two paths meet."""
    names = dict.fromkeys((*one.values, *other.values))
    values = {name: merged(one.path, one.old(name), other.old(name)) for name in names}
    opened = {
        name: _on_either(one, other, one.open.get(name, {}), other.open.get(name, {}))
        for name in dict.fromkeys((*one.open, *other.open))
    }
    pools = dict.fromkeys((*one.counted, *other.counted))
    return State(
        choice(one.path, True, other.path),
        values,
        open=opened,
        counted={it: _met(one, other, it) for it in pools},
    )


def _on_either(
    one: State, other: State, first: Mapping[int, Condition], second: Mapping[int, Condition]
) -> dict[int, Condition]:
    """Where something is so, by index, if it is so on one of two paths."""
    return {
        it: either(both(one.path, first.get(it, False)), both(other.path, second.get(it, False)))
        for it in dict.fromkeys((*first, *second))
    }


def _met(one: State, other: State, counter: str) -> Queue:
    queues = one.counted.get(counter, ()), other.counted.get(counter, ())
    surely = _on_either(one, other, *({it.index: it.surely for it in queue} for queue in queues))
    possibly = _on_either(
        one, other, *({it.index: it.possibly for it in queue} for queue in queues)
    )
    return tuple(Issued(it, surely[it], possibly[it]) for it in sorted(surely))
