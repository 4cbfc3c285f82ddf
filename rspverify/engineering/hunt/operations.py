"""Which operations the programs of a hunt have, and which rows of a scheme compile them."""

from __future__ import annotations

from collections.abc import Sequence

from rspverify.architecture import Architecture
from rspverify.engineering.hunt.assumptions import alone_may_break
from rspverify.engineering.hunt.formula.merged import token
from rspverify.enumeration.space import (
    Space,
    access_of,
    both,
    chosen_operations,
    operations_of,
    unused,
)
from rspverify.litmus import Kind
from rspverify.machine.idle import idle
from rspverify.programs import Access
from rspverify.scheme import IN_BOTH, IN_GLOBAL, Row, Scheme, Shape, Template
from rspverify.scheme.equivalence import equivalent
from rspverify.scheme.orders import Op
from rspverify.source import InputError, Problem

Bounds = tuple[int, int, int, int, int, int | None]
"""Operations, threads, work-groups, devices, locations, `if`s: at most so many of each."""


def row_shape(access: Access) -> Shape:
    """What a scheme looks at of an operation of a space."""
    kept = access.register is not None or access.kind is not Kind.RMW
    memory = IN_BOTH if access.both else IN_GLOBAL
    kind = Op.CAS if access.compares else Op(access.kind.value)
    return Shape(kind, access.scope, access.order, access.remote, memory, used=kept)


def busy(row: Row, machine: Architecture) -> tuple[Template, ...]:
    """The code of a row without what does nothing in programs of global memory alone."""
    return tuple(it for it in row.code if token(it) not in idle(machine))


def _alike(row: Row, other: Row, machine: Architecture) -> bool:
    """Whether nobody tells the codes of two rows apart in programs of global memory alone."""
    return equivalent(busy(row, machine), busy(other, machine), machine) is not None


_NO_ROW = "the scheme has no row for it"


def _why_not(name: str, row: Row | None) -> str | None:
    """Why programs of a hunt do not have an operation; None if they may."""
    if row is None:
        return _NO_ROW
    if row.adds and access_of(name).compares:
        return f"its row {row.number}, {row}, can only add"
    return None


def row_of(name: str, scheme: Scheme) -> Row | None:
    """The row of a scheme for the operation of this name, if it has one."""
    return scheme.table.get(row_shape(access_of(name)))


def hunting_space(
    scheme: Scheme,
    bounds: Bounds,
    names: Sequence[str] | None,
    *,
    mixed: bool,
    scopes: Sequence[str] = (),
    orders: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> tuple[Space, tuple[tuple[str, str], ...]]:
    """The space of a hunt, and which operations are left out of it, with why. Raises InputError.

    scopes, orders, kinds: those of its operations, where they are not named; empty for what is
    usual. What the scheme does not compile is left out. Where they are not named, remote operations
    of work-group scope are added where the scheme gives them other code than those that are not
    remote (the model knows no difference), and increments whose result nobody uses where it gives
    these other code. So are fences of both memories, waits for local memory aside.
    """
    wanted = chosen_operations(names, bounds[3])
    if scopes or orders or kinds:
        near = ("WG", "DV") if bounds[3] == 1 else ("WG", "DV", "ALL")
        wanted = operations_of(tuple(scopes) or near, orders, kinds)
    rows = {name: row_of(name, scheme) for name in wanted}
    if not names:
        for kind in () if scopes or orders or kinds else ("ld", "st", "inc"):
            near_row, far = (row_of(f"{kind}.{reach}", scheme) for reach in ("WG", "WG.R"))
            if far is not None and (near_row is None or near_row.code != far.code):
                rows[f"{kind}.WG.R"] = far
        for name in [it for it in rows if it.startswith("inc.")]:
            row, other = rows[name], row_of(unused(name), scheme)
            if other is not None and (row is None or row.code != other.code):
                rows[unused(name)] = other
        for name in [it for it in rows if it.startswith("F.")]:
            row, other = rows[name], row_of(both(name), scheme)
            if other is not None and not (row and _alike(row, other, scheme.machine)):
                rows[both(name)] = other
    left_out = {name: why for name, row in rows.items() if (why := _why_not(name, row))}
    if len(left_out) == len(rows):
        message = f"scheme {scheme.name} must have a row for one of {', '.join(rows)}, and has none"
        others = [why for why in left_out.values() if why != _NO_ROW]
        raise InputError([Problem(None, message, others[0] if others else None)])
    operations = chosen_operations([name for name in rows if name not in left_out], bounds[3])
    again = alone_may_break(scheme)
    space = Space(*bounds, operations=operations, mixed=mixed, again=again)
    return space, tuple(left_out.items())


def idle_rows(scheme: Scheme, space: Space) -> tuple[int, ...]:
    """The rows that no operation of a space has; WG.R counts as WG where it has its code."""
    names = {it.replace("WG", "WG.R") for it in space.operations if it.endswith("WG")}
    used = {row_of(name, scheme) for name in names.union(space.operations)}
    return tuple(row.number for row in scheme.rows if row not in used)
