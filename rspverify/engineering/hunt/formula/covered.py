"""Which operations a formula leaves out: a stronger one stands for them that is compiled alike.

Whatever the machine does with the weaker one it does with the stronger one, of which the model
allows less (docs/engineering.md, «Nothing is lost»).
"""

from __future__ import annotations

from functools import lru_cache

from rspverify.engineering.hunt.operations import busy, row_shape
from rspverify.enumeration.lemmas import strength_tells
from rspverify.enumeration.packed import PackedTest
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.records import replace
from rspverify.scheme import Scheme
from rspverify.scheme.equivalence import equivalent


def without_covered(space: Space, scheme: Scheme, atomic: tuple[bool, ...]) -> Space:
    """The space without operations that others stand for, in programs with these locations."""
    return _standing(space, scheme) if strength_tells(atomic) else space


@lru_cache(maxsize=4)
def _standing(space: Space, scheme: Scheme) -> Space:
    machine, weaker = scheme.machine, Tables(space).weaker
    codes = [busy(scheme.table[row_shape(access)], machine) for access in space.accesses]
    standing = [
        name
        for one, name in enumerate(space.operations)
        if not any(
            weaker(one, other) and equivalent(codes[one], code, machine)
            for other, code in enumerate(codes)
        )
    ]
    return replace(space, operations=tuple(standing))


def renumbered(test: PackedTest, space: Space, wider: Space) -> PackedTest:
    """A test of a space as one of a space that has more operations."""
    numbers = [wider.operations.index(name) for name in space.operations]
    threads = tuple(
        it._replace(
            accesses=tuple(each._replace(operation=numbers[each.operation]) for each in it.accesses)
        )
        for it in test.threads
    )
    return test._replace(threads=threads)
