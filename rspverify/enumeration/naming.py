"""Packed tests with names and values: what is enumerated, as tests to be written down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from rspverify.enumeration.packed import PackedAccess, PackedTest
from rspverify.enumeration.space import Space
from rspverify.litmus.program import Kind
from rspverify.programs.litmus_test import LitmusTest, Thread, litmus_test
from rspverify.programs.notation import notation
from rspverify.records import replace
from rspverify.value import Binary, Constant, Expression, Read

_LETTERS = "xyzabcdefghijklmnopqrstuvw"


def named(packed: PackedTest, space: Space) -> LitmusTest:
    """The test of a packed one.

    The value of a store is so far from all others that no increments make two values meet, and so
    is that of one that is not there, in the beginning of a test.
    """
    values: dict[tuple[int, int], int] = {(-1, -1): 0}
    for number, thread in enumerate(packed.threads):
        for place, each in enumerate(thread.accesses):
            if space.accesses[each.operation].brings:
                values[number, place] = len(values) * space.widest_value_step
    values = defaultdict(lambda: (1 + packed.size) * space.widest_value_step, values)
    threads = []
    for number, (device, group, packed_accesses) in enumerate(packed.threads):
        guards: tuple[Expression, ...] = ()
        registers: dict[int, int] = {}
        accesses = []
        for place, packed_access in enumerate(packed_accesses):
            if packed_access.tests >= 0:
                tests, of, at, plus = packed_access[2:6]
                tested = space.accesses[packed_accesses[tests].operation]
                value = Constant(1 if tested.compares else values[of, at] + plus)
                guards = (*guards, Binary("==", Read(registers[tests]), value))
            it = space.accesses[packed_access.operation]
            if it.register is not None:
                registers[place] = len(registers)
            accesses.append(
                replace(
                    it,
                    location=None if it.kind is Kind.FENCE else _LETTERS[packed_access.location],
                    value=Constant(values[number, place]) if it.brings else it.value,
                    expected=_expected(packed_access, values) if it.compares else None,
                    register=registers.get(place),
                    guards=guards,
                )
            )
        threads.append(Thread((device, group), tuple(accesses)))
    atomic = [_LETTERS[place] for place, each in enumerate(packed.atomic) if each]
    return litmus_test(threads, atomic, local=[_LETTERS[place] for place in packed.local])


def _expected(access: PackedAccess, values: Mapping[tuple[int, int], int]) -> Constant:
    return Constant(values[access.expects, access.expects_at] + access.expects_plus)


def line_of(packed: PackedTest, space: Space) -> str:
    """The test of a packed one in a line."""
    return notation(named(packed, space))


def size_of(packed: PackedTest, space: Space) -> tuple[int, int, int, str]:
    """What makes a test smaller: accesses, threads, then its line, the shorter first."""
    line = line_of(packed, space)
    return (packed.size, len(packed.threads), len(line), line)
