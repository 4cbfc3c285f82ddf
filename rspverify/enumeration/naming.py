"""Packed tests with names and values: what is enumerated, as tests to be written down."""

from __future__ import annotations

from rspverify.enumeration.packed import PackedTest
from rspverify.enumeration.space import Space
from rspverify.litmus.program import Kind
from rspverify.programs import Access, LitmusTest, Thread, litmus_test, notation
from rspverify.value import Binary, Constant, Expression, Read

_LETTERS = "xyzabcdefghijklmnopqrstuvw"


def named(packed: PackedTest, space: Space) -> LitmusTest:
    """The test of a packed one.

    The value of a store is so far from all others that no increments make two values meet.
    """
    values = {(-1, -1): 0}
    for number, (_, _, steps) in enumerate(packed.threads):
        for place, step in enumerate(steps):
            if space.accesses[step.operation].kind is Kind.STORE:
                values[number, place] = len(values) * space.widest_value_step
    threads = []
    for number, (device, group, steps) in enumerate(packed.threads):
        guards: tuple[Expression, ...] = ()
        registers: dict[int, int] = {}
        accesses = []
        for place, step in enumerate(steps):
            if step.tests >= 0:
                value = Constant(values[step.of, step.at] + step.plus)
                guards = (*guards, Binary("==", Read(registers[step.tests]), value))
            it = space.accesses[step.operation]
            if it.reads:
                registers[place] = len(registers)
            stored = values.get((number, place))
            accesses.append(
                Access(
                    it.kind,
                    _LETTERS[step.location],
                    it.value if stored is None else Constant(stored),
                    registers.get(place),
                    it.order,
                    it.scope,
                    it.remote,
                    guards,
                    it.operator,
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
