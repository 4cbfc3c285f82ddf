"""Which operations a formula leaves out: a stronger one stands for them that is compiled alike.

Whatever the machine does with the weaker one it does with the stronger one, of which the model
allows less (docs/proofs.md, «Nothing is lost»).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.engineering.hunt.operations import busy, row_in
from rspverify.enumeration.lemmas import strength_tells
from rspverify.enumeration.packed import PackedTest
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.litmus.program import Kind
from rspverify.programs.litmus_test import Access
from rspverify.records import replace
from rspverify.scheme.equivalence import equivalent
from rspverify.scheme.row import Template
from rspverify.scheme.scheme import Scheme

_Code = tuple[Template, ...] | None


def without_covered(space: Space, scheme: Scheme, sketch: Sketch) -> Space:
    """The space without operations that others stand for, in programs of a sketch."""
    if not strength_tells(sketch.atomic):
        return space
    return _standing(space, scheme, among_local=bool(sketch.local))


@lru_cache(maxsize=4)
def _standing(space: Space, scheme: Scheme, *, among_local: bool) -> Space:
    """In programs with local memory, that those stand for which are alike in both memories."""
    machine, weaker = scheme.machine, Tables(space).weaker
    kinds = [False, True] if among_local else [False]
    codes = [
        [_code(access, scheme, among_local, local) for local in kinds] for access in space.accesses
    ]

    def alike(one: Sequence[_Code], other: Sequence[_Code]) -> bool:
        return all(
            its == mine if its is None or mine is None else equivalent(mine, its, machine)
            for mine, its in zip(one, other, strict=True)
        )

    standing = [
        name
        for one, name in enumerate(space.operations)
        if not any(
            weaker(one, other) and alike(codes[one], code) for other, code in enumerate(codes)
        )
    ]
    return replace(space, operations=tuple(standing))


def _code(access: Access, scheme: Scheme, among_local: bool, local: bool) -> _Code:
    """What an operation is compiled to, None if it is not. Where there is no local memory, waits
    for it do not count."""
    local = local and access.kind is not Kind.FENCE
    row = row_in(scheme, access, among_local=among_local, local=local)
    if row is None:
        return None
    return row.code if among_local else busy(row, scheme.machine)


def renumbered(test: PackedTest, space: Space, wider: Space) -> PackedTest:
    """A test of a space as one of a space that has more operations."""
    numbers = [wider.operations.index(name) for name in space.operations]
    return test.with_operations(
        [numbers[it.operation] for it in thread.accesses] for thread in test.threads
    )
