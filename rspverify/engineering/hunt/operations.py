"""Which operations the programs of a hunt have, and which rows of a scheme compile them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING, Any

from rspverify.architecture.architecture import Architecture
from rspverify.engineering.hunt.assumptions import alone_may_break
from rspverify.enumeration.space import (
    Space,
    access_of,
    both,
    chosen_operations,
    operations_of,
    unused,
)
from rspverify.generate.annotations import MEMORIES, require_known
from rspverify.litmus.program import GLOBAL, LOCAL, Kind
from rspverify.machine.reductions import idle
from rspverify.mapping.table import Table
from rspverify.programs.assembly import instruction_access
from rspverify.programs.litmus_test import BOTH, Access
from rspverify.scheme.equivalence import equivalent
from rspverify.scheme.memory import IN_BOTH, IN_GLOBAL, IN_LOCAL, LOCAL_HINT, has_local
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Row, Shape, Template
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Problem, require
from rspverify.translators import Translator, is_scheme, table_of

if TYPE_CHECKING:
    from rspverify.translators import Rows

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


def row_in(
    scheme: Scheme, access: Access, *, among_local: bool = False, local: bool = False
) -> Row | None:
    """The row that compiles an operation of a hunt's programs in such a place; None if none can."""
    row = scheme.row_of(row_shape(access, among_local=among_local, local=local))
    return None if row is None or (row.adds and access.compares) else row


Token = tuple[str, object]
"""An instruction without its operands: name and reach. The one that accesses memory is not one."""


def token(template: Template) -> Token:
    """What stands for an instruction of a row."""
    return template.mnemonic.name, template.reach


def busy(row: Row, machine: Architecture) -> tuple[Template, ...]:
    """The code of a row without what does nothing in programs of global memory alone."""
    return tuple(it for it in row.code if token(it) not in idle(machine, GLOBAL))


def row_of(name: str, scheme: Rows, *, local: bool = False) -> Any:
    """The row of a scheme for the operation of this name, if it has one. local: as it accesses
    local memory, of fences as they are for both."""
    access = access_of(name)
    fence = access.kind is Kind.FENCE
    return scheme.row_of(row_shape(access, among_local=local, local=local and not fence))


def hunting_space(
    scheme: Translator,
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
    if scheme.language is not None:
        given = any((names, mixed, scopes, orders, kinds, memories))
        require(not given, f"operations are the rows of {scheme.name}, and are not chosen here")
        return _instructions(scheme, bounds)
    asked = _memories(memories, scheme.machine)
    wanted = chosen_operations(names, bounds[3])
    if scopes or orders or kinds:
        wanted = operations_of(scopes, orders, kinds, bounds[3])
    found = list(wanted)
    if not is_scheme(scheme):
        kept = tuple(it for it in found if not access_of(it).remote)
        left = tuple((it, "compilers know no remote operations") for it in found if it not in kept)
        return Space(*bounds, operations=kept, mixed=mixed, again=True, memories=asked), left
    table = table_of(scheme)
    if not names:
        if not (scopes or orders or kinds):
            remote = ("ld.WG", "st.WG", "inc.WG")
            found += [f"{it}.R" for it in remote if _own_code(f"{it}.R", it, table, asked)]
        increments = [it for it in found if it.startswith("inc.")]
        found += [unused(it) for it in increments if _own_code(unused(it), it, table, asked)]
    if not names or LOCAL in asked:
        fences = [it for it in found if it.startswith("F.") and not access_of(it).memory]
        found += [both(it) for it in fences if _fences_both(it, table)]
    reasons = {name: _reasons(name, table, asked) for name in found}
    for memory in asked:
        _require_rows(table, memory, {name: its[memory] for name, its in reasons.items()})
    compiled = [name for name, its in reasons.items() if not all(its.values())]
    operations = chosen_operations(compiled, bounds[3])
    again = alone_may_break(scheme)
    space = Space(*bounds, operations=operations, mixed=mixed, again=again, memories=asked)
    return space, tuple(
        (name, _left_out(name, its)) for name, its in reasons.items() if any(its.values())
    )


def _instructions(scheme: Translator, bounds: Bounds) -> tuple[Space, tuple[tuple[str, str], ...]]:
    """The space of a table that translates instructions: those of its rows, without ifs."""
    assert isinstance(scheme, Table)
    names = dict.fromkeys(f"{scheme.language}: {row}" for row in scheme.rows)
    known = tuple(it for it in names if instruction_access(it) is not None)
    why = "programs of a hunt have accesses that stand alone, exchange, compare or add, and fences"
    return Space(*bounds[:5], 0, known), tuple((it, why) for it in names if it not in known)


def _own_code(name: str, usual: str, scheme: Scheme, memories: Sequence[str]) -> bool:
    """Whether in some memory an operation has a row, and with other code than the usual one."""
    for memory in memories:
        row, other = (row_of(it, scheme, local=memory == LOCAL) for it in (name, usual))
        if row is not None and (other is None or row.code != other.code):
            return True
    return False


def _fences_both(name: str, scheme: Scheme) -> bool:
    """Whether the same fence of both memories has a row, and one that somebody tells apart from
    that of global memory in programs of global memory alone."""
    row, other, machine = row_of(name, scheme), row_of(both(name), scheme), scheme.machine
    if row is None or other is None:
        return other is not None
    return equivalent(busy(row, machine), busy(other, machine), machine) is None


_NO_ROW = "the scheme has no row for it"


def _reasons(name: str, scheme: Scheme, memories: Sequence[str]) -> dict[str, str | None]:
    """Why programs of a hunt do not have an operation, by memory; None where they may."""
    rows = {it: row_of(name, scheme, local=it == LOCAL) for it in memories}
    return {memory: _why_not(name, row) for memory, row in rows.items()}


def _why_not(name: str, row: Row | None) -> str | None:
    if row is None:
        return _NO_ROW
    if row.adds and access_of(name).compares:
        return f"its row {row.number}, {row}, can only add"
    return None


def _left_out(name: str, reasons: Mapping[str, str | None]) -> str:
    """Why an operation is left out: of all programs, or where its memory is said."""
    memory, why = next((memory, why) for memory, why in reasons.items() if why)
    if all(reasons.values()):
        return why
    beside = "beside" if access_of(name).kind is Kind.FENCE else "in"
    return f"{beside} {memory} memory {why}"


def _require_rows(scheme: Scheme, memory: str, reasons: Mapping[str, str | None]) -> None:
    """Raises InputError if no operation that is asked for may be of a memory."""
    accesses = {it: why for it, why in reasons.items() if access_of(it).kind is not Kind.FENCE}
    wanted = accesses or reasons
    if all(wanted.values()):
        where = " in local memory" if memory == LOCAL else ""
        must = f"must have a row for one of {', '.join(wanted)}{where}, and has none"
        hint = next((why for why in wanted.values() if why != _NO_ROW), None)
        raise InputError([Problem(None, f"scheme {scheme.name} {must}", hint)])


def _memories(asked: Sequence[str], machine: Architecture | None) -> tuple[str, ...]:
    """The memories that are asked for. Raises InputError."""
    require_known("a memory", asked, MEMORIES)
    if LOCAL in asked and (machine is None or not has_local(machine)):
        name = "of a model" if machine is None else machine.name
        message = f"machine {name} must have local memory for this hunt, and has none"
        raise InputError([Problem(None, message, LOCAL_HINT)])
    return tuple(each for each in MEMORIES if each in asked) or (GLOBAL,)


def idle_rows(scheme: Rows, space: Space) -> tuple[int, ...]:
    """The rows that no operation of a space has; WG.R counts as WG where it has its code."""
    if scheme.language is not None:  # its programs are made of its rows
        return ()
    names = {it.replace("WG", "WG.R") for it in space.operations if it.endswith("WG")}
    used = {
        row_of(name, scheme, local=memory == LOCAL)
        for name in names.union(space.operations)
        for memory in space.memories
    }
    return tuple(row.number for row in scheme.rows if row not in used)


_CHOICES: Mapping[str, Sequence[Sequence[str]]] = {
    "devices": ((), ("2",)),
    "kinds": ((), ("na", "ld", "st", "cas"), ("na", "ld", "st", "F")),
    "orders": ((), ("acq", "rel", "ar", "sc"), ("rlx", "acq", "rel", "ar")),
    "scopes": ((), ("WG", "DV", "DV.R"), ("WI", "SG", "WG", "DV")),
    "memories": ((), MEMORIES),
}
"""Options of hunts, each with what may be chosen; nothing is the default."""


def hunts_of(scheme: Rows) -> dict[int, tuple[str, ...]]:
    """By the number of a row, the fewest options of a hunt whose programs use it; none where the
    programs of hunts are in another language, and for a compiler."""
    found: dict[int, tuple[str, ...]] = {}
    if scheme.language is not None or scheme.whole:
        return found
    for way in sorted(product(*_CHOICES.values()), key=lambda way: sum(map(bool, way))):
        chosen = {name: each for name, each in zip(_CHOICES, way, strict=True) if each}
        options = tuple(it for name in chosen for it in (f"--{name}", ",".join(chosen[name])))
        bounds = (4, 3, 3, 1 + ("devices" in chosen), 2, None)
        chosen.pop("devices", None)
        if len(found) == len(scheme.rows):
            break
        with suppress(InputError):  # no row for any operation
            space, _ = hunting_space(scheme, bounds, None, mixed=False, **chosen)
            idle = {*found, *idle_rows(scheme, space)}
            found |= {it.number: options for it in scheme.rows if it.number not in idle}
    return found
