"""Which operations the programs of a hunt have, and which rows of a scheme compile them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rspverify.architecture.architecture import Architecture
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
from rspverify.litmus.program import GLOBAL, LOCAL, Kind
from rspverify.machine.reductions import idle
from rspverify.programs.litmus_test import BOTH, Access
from rspverify.scheme.equivalence import equivalent
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL, LOCAL_HINT, has_local
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Row, Shape, Template
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Problem, require

Bounds = tuple[int, int, int, int, int, int | None]
"""Operations, threads, work-groups, devices, locations, `if`s: at most so many of each."""


def row_shape(access: Access, *, among_local: bool = False, local: bool = False) -> Shape:
    """What a scheme looks at of an operation of a space. local: it accesses local memory.
    among_local: the program has local memory, so that its fences are for both memories."""
    kept = access.register is not None or access.kind is not Kind.RMW
    memory = IN_LOCAL if local else IN_GLOBAL
    if access.kind is Kind.FENCE and (access.memory == BOTH or among_local):
        memory = IN_BOTH
    kind = Op.CAS if access.compares else Op(access.kind.value)
    return Shape(kind, access.scope, access.order, access.remote, memory, used=kept)


def compiled(
    access: Access, scheme: Scheme, *, among_local: bool = False, local: bool = False
) -> bool:
    """Whether programs of a hunt may have an operation in such a place."""
    row = scheme.table.get(row_shape(access, among_local=among_local, local=local))
    return row is not None and not (row.adds and access.compares)


def busy(row: Row, machine: Architecture) -> tuple[Template, ...]:
    """The code of a row without what does nothing in programs of global memory alone."""
    return tuple(it for it in row.code if token(it) not in idle(machine, GLOBAL))


def _alike(row: Row, other: Row, machine: Architecture) -> bool:
    """Whether nobody tells the codes of two rows apart in programs of global memory alone."""
    return equivalent(busy(row, machine), busy(other, machine), machine) is not None


_NO_ROW = "the scheme has no row for it"


def _why_not(name: str, row: Row | None) -> str | None:
    """Why programs of a hunt do not have an operation with this row; None if they may."""
    if row is None:
        return _NO_ROW
    if row.adds and access_of(name).compares:
        return f"its row {row.number}, {row}, can only add"
    return None


def _left_out(name: str, rows: Mapping[str, Row | None]) -> str | None:
    """Why an operation is left out, given its rows by memory: of all programs, or where its memory
    is said; None if it is nowhere."""
    reasons = {memory: why for memory, row in rows.items() if (why := _why_not(name, row))}
    if len(reasons) == len(rows):
        return next(iter(reasons.values()))
    beside = "beside" if access_of(name).kind is Kind.FENCE else "in"
    return next((f"{beside} {it} memory {why}" for it, why in reasons.items()), None)


def row_of(name: str, scheme: Scheme, *, local: bool = False) -> Row | None:
    """The row of a scheme for the operation of this name, if it has one. local: as it accesses
    local memory, of fences as they are for both."""
    access = access_of(name)
    fence = access.kind is Kind.FENCE
    return scheme.table.get(row_shape(access, among_local=local, local=local and not fence))


def hunting_space(
    scheme: Scheme,
    bounds: Bounds,
    names: Sequence[str] | None,
    *,
    mixed: bool,
    scopes: Sequence[str] = (),
    orders: Sequence[str] = (),
    kinds: Sequence[str] = (),
    memories: Sequence[str] = (),
) -> tuple[Space, tuple[tuple[str, str], ...]]:
    """The space of a hunt, and which operations are left out of it, with why. Raises InputError.

    scopes, orders, kinds: those of its operations, where they are not named; empty for what is
    usual. What the scheme does not compile is left out. Where they are not named, remote operations
    of work-group scope are added where the scheme gives them other code than those that are not
    remote (the model knows no difference), and increments whose result nobody uses where it gives
    these other code. So are, with local memory in any case, fences of both memories, if these have
    other code, waits for local memory aside: what is left of a program without its local memory has
    them still. memories: where locations may be, `global` or `local`; empty for global memory. An
    operation stays that has a row for one of them.
    """
    asked = _memories(memories, scheme.machine)
    wanted = _wanted(names, bounds[3], scopes, orders, kinds)
    rows = {name: _rows_of(name, scheme, asked) for name in wanted}
    if not names:
        for kind in () if scopes or orders or kinds else ("ld", "st", "inc"):
            near, far = (_rows_of(f"{kind}.{reach}", scheme, asked) for reach in ("WG", "WG.R"))
            if _differ(far, near):
                rows[f"{kind}.WG.R"] = far
        for name in [it for it in rows if it.startswith("inc.")]:
            others = _rows_of(unused(name), scheme, asked)
            if _differ(others, rows[name]):
                rows[unused(name)] = others
    if not names or LOCAL in asked:
        for name in [it for it in rows if it.startswith("F.") and not access_of(it).memory]:
            row, other = row_of(name, scheme), row_of(both(name), scheme)
            if other is not None and not (row and _alike(row, other, scheme.machine)):
                rows[both(name)] = _rows_of(both(name), scheme, asked)
    left_out = {name: why for name, those in rows.items() if (why := _left_out(name, those))}
    for memory in asked:
        _require_rows(scheme, memory, {name: those[memory] for name, those in rows.items()})
    kept = [
        name
        for name, those in rows.items()
        if any(_why_not(name, row) is None for row in those.values())
    ]
    operations = chosen_operations(kept, bounds[3])
    again = alone_may_break(scheme)
    space = Space(*bounds, operations=operations, mixed=mixed, again=again, memories=asked)
    return space, tuple(left_out.items())


def _require_rows(scheme: Scheme, memory: str, rows: Mapping[str, Row | None]) -> None:
    """Raises InputError if no operation that is asked for may be of a memory."""
    accesses = {it: row for it, row in rows.items() if access_of(it).kind is not Kind.FENCE}
    wanted = accesses or rows
    reasons = [_why_not(name, row) for name, row in wanted.items()]
    if all(reasons):
        where = " in local memory" if memory == LOCAL else ""
        must = f"must have a row for one of {', '.join(wanted)}{where}, and has none"
        hint = next((why for why in reasons if why != _NO_ROW), None)
        raise InputError([Problem(None, f"scheme {scheme.name} {must}", hint)])


def _wanted(
    names: Sequence[str] | None,
    devices: int,
    scopes: Sequence[str],
    orders: Sequence[str],
    kinds: Sequence[str],
) -> tuple[str, ...]:
    """The operations that are asked for, by name. Raises InputError."""
    wanted = chosen_operations(names, devices)
    if scopes or orders or kinds:
        near = ("WG", "DV") if devices == 1 else ("WG", "DV", "ALL")
        wanted = operations_of(tuple(scopes) or near, orders, kinds)
    return wanted


def _memories(asked: Sequence[str], machine: Architecture) -> tuple[str, ...]:
    """The memories that are asked for. Raises InputError."""
    known = (GLOBAL, LOCAL)
    wrong = [each for each in asked if each not in known]
    require(not wrong, f"a memory must be one of {', '.join(known)}, not {', '.join(wrong)}")
    if LOCAL in asked and not has_local(machine):
        message = f"machine {machine.name} must have local memory for this hunt, and has none"
        raise InputError([Problem(None, message, LOCAL_HINT)])
    return tuple(each for each in known if each in asked) or (GLOBAL,)


def _rows_of(name: str, scheme: Scheme, memories: tuple[str, ...]) -> dict[str, Row | None]:
    """The rows of an operation, by memory."""
    return {each: row_of(name, scheme, local=each == LOCAL) for each in memories}


def _differ(those: Mapping[str, Row | None], others: Mapping[str, Row | None]) -> bool:
    """Whether some of these rows have code that the others have not."""
    pairs = ((row, others[memory]) for memory, row in those.items())
    return any(row and (other is None or row.code != other.code) for row, other in pairs)


def idle_rows(scheme: Scheme, space: Space) -> tuple[int, ...]:
    """The rows that no operation of a space has; WG.R counts as WG where it has its code."""
    names = {it.replace("WG", "WG.R") for it in space.operations if it.endswith("WG")}
    used = {
        row_of(name, scheme, local=memory == LOCAL)
        for name in names.union(space.operations)
        for memory in space.memories
    }
    return tuple(row.number for row in scheme.rows if row not in used)
