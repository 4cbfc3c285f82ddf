"""Packed tests with names and values: what is enumerated, as tests to be written down."""

from __future__ import annotations

from rspverify.enumeration.packed import PackedTest
from rspverify.enumeration.space import Space
from rspverify.litmus.program import Kind
from rspverify.programs import LitmusTest, Thread, litmus_test, notation
from rspverify.records import replace
from rspverify.value import Binary, Constant, Expression, Read

_LETTERS = "xyzabcdefghijklmnopqrstuvw"


def named(packed: PackedTest, space: Space) -> LitmusTest:
    """The test of a packed one.

    The value of a store is so far from all others that no increments make two values meet.
    """
    values = {(-1, -1): 0}
    for number, thread in enumerate(packed.threads):
        for place, each in enumerate(thread.accesses):
            if space.accesses[each.operation].kind is Kind.STORE:
                values[number, place] = len(values) * space.widest_value_step
    threads = []
    for number, (device, group, packed_accesses) in enumerate(packed.threads):
        guards: tuple[Expression, ...] = ()
        registers: dict[int, int] = {}
        accesses = []
        for place, packed_access in enumerate(packed_accesses):
            if packed_access.tests >= 0:
                _, _, tests, of, at, plus = packed_access
                value = Constant(values[of, at] + plus)
                guards = (*guards, Binary("==", Read(registers[tests]), value))
            it = space.accesses[packed_access.operation]
            if it.register is not None:
                registers[place] = len(registers)
            accesses.append(
                replace(
                    it,
                    location=None if it.kind is Kind.FENCE else _LETTERS[packed_access.location],
                    value=Constant(values[number, place]) if it.kind is Kind.STORE else it.value,
                    register=registers.get(place),
                    guards=guards,
                )
            )
        threads.append(Thread((device, group), tuple(accesses)))
    atomic = [_LETTERS[place] for place, each in enumerate(packed.atomic) if each]
    return litmus_test(threads, atomic)


def line_of(packed: PackedTest, space: Space) -> str:
    """The test of a packed one in a line."""
    return notation(named(packed, space))


def size_of(packed: PackedTest, space: Space) -> tuple[int, int, int, str]:
    """What makes a test smaller: accesses, threads, then its line, the shorter first."""
    line = line_of(packed, space)
    return (packed.size, len(packed.threads), len(line), line)
