"""What a proof is about: the operations of a table, and what keeps them out of it (docs/proof.md).

Rows that it says nothing of are refused, each with its place and the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from msgspec import Struct

from rspverify.litmus.program import Order, Scope
from rspverify.proof.machines import LOCKS, facts_of
from rspverify.records import replace
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import UNUSED, Row, Shape, Template
from rspverify.scheme.scheme import Scheme
from rspverify.source import Problem, Severity

MODEL = "opencl-rsp"
"""The model that the proof is for."""

FLUSH, INVALIDATE = "FLU_L1", "INV_L1"
L2_LOCK, RMW_LOCK = ("LK_L2", "UL_L2"), ("LK_rmw", "UL_rmw")
AT_L2 = ("INC_L2", "RMW_L2")
_AT_L1 = ("INC_L1", "RMW_L1")
_ACCESSES = {Op.LOAD: ("LD",), Op.STORE: ("ST",), Op.RMW: (*_AT_L1, *AT_L2)}
_REACHES = {"WG", "DV", None}
_NARROW = frozenset({Scope.WI, Scope.SG})
_KNOWN = {FLUSH, INVALIDATE, *L2_LOCK, *RMW_LOCK, *_AT_L1, *AT_L2, "LD", "ST"}


class Operation(Struct, frozen=True):
    """Operations of the source that one row compiles, whatever their order.

    scope: None if they are non-atomic. orders: those that the row compiles for them, of those that
    the proof covers. used: whether the results of RMWs may be used.
    """

    kind: Op
    scope: Scope | None
    remote: bool
    row: Row
    orders: tuple[Order, ...] = ()
    used: bool = True

    @property
    def writes(self) -> bool:
        """Whether it writes."""
        return self.kind is not Op.LOAD

    @property
    def reads(self) -> bool:
        """Whether it reads."""
        return self.kind is not Op.STORE

    @property
    def code(self) -> tuple[Template, ...]:
        """Its instructions."""
        return self.row.code

    @property
    def access(self) -> int:
        """The place of its access among them."""
        return next(place for place, it in enumerate(self.code) if it.accesses)

    @property
    def at_l2(self) -> bool:
        """Whether it accesses the L2."""
        return self.code[self.access].mnemonic.name in AT_L2

    @property
    def as_strong(self) -> bool:
        """Whether its row is for operations that acquire if they read and release if they write."""
        wanted = {Op.LOAD: Order.ACQUIRE, Op.STORE: Order.RELEASE, Op.RMW: Order.ACQ_REL}
        return not self.orders or wanted[self.kind] in self.orders

    def is_of(self, shape: Shape) -> bool:
        """Whether operations of a shape, which its row compiles, are among these."""
        here = (self.kind, self.scope, self.remote) == (shape.kind, shape.scope, shape.remote)
        ordered = shape.order is None or shape.order in self.orders
        return here and ordered and (self.used or not shape.used)

    def includes(self, other: Operation) -> bool:
        """Whether two atomics of different work-groups of one device are inclusive (Fig. 2)."""
        wide, far = self._wide, other._wide
        return (wide and far) or (self.remote and wide) or (other.remote and far)

    @property
    def _wide(self) -> bool:
        return self.scope in (Scope.DV, Scope.ALL)

    def __str__(self) -> str:
        orders = "" if self.as_strong else f" ({', '.join(it.value for it in self.orders)})"
        used = "" if self.used else f" {UNUSED}"
        return f"{operation_name(self.kind, self.scope, self.remote)}{used}{orders}"


def operation_name(kind: Op, scope: Scope | None, remote: bool) -> str:
    """As the left column of Tab. 3 has it: `store DV,R`."""
    where = "na" if scope is None else f"{scope.value},{'R' if remote else 'N'}"
    return f"{kind.value} {where}"


class ProofTable(Struct, frozen=True, dict=True):
    """What a proof has of a scheme.

    operations: those that it covers. refused: what of the scheme it says nothing of. missing: the
    operations of Tab. 3 without a row. locks: those of the machine that keep others out.
    """

    operations: tuple[Operation, ...]
    refused: tuple[Problem, ...]
    missing: tuple[str, ...]
    locks: frozenset[str] = LOCKS

    def without(self, weak: Collection[Operation]) -> ProofTable:
        """The same without operations whose rows are for weaker orders alone, and do not meet the
        obligations: what the proof asks of a load, it asks as if each acquired."""
        refused = [
            Problem(
                it.row.span,
                f"row {it.row.number}, {it.row}: no part of the proof: it does less than "
                f"{it.kind.one} of the usual order needs",
                severity=Severity.UNSUPPORTED,
            )
            for it in weak
        ]
        kept = tuple(it for it in self.operations if it not in weak)
        return replace(self, operations=kept, refused=(*self.refused, *dict.fromkeys(refused)))

    def of(self, shapes: Iterable[Shape], scheme: Scheme) -> ProofTable | None:
        """The table of these operations of its scheme alone; None if one of them is not covered."""
        found: dict[Operation, None] = {}
        for shape in shapes:
            row = scheme.table.get(shape)
            own = [it for it in self.operations if it.row == row and it.is_of(shape)]
            if not own:
                return None
            found |= dict.fromkeys(own)
        return ProofTable(tuple(found), (), (), self.locks)

    @cached_property
    def rmw_locks_exclude(self) -> bool:
        """Whether rmw locks keep others out: no row frees one that it does not hold."""
        return "rmw" in self.locks and all(_brackets(it.code, RMW_LOCK) for it in self.operations)

    @cached_property
    def l2_locks_exclude(self) -> bool:
        """Whether the locks of the L2 do."""
        return "lock" in self.locks and all(_brackets(it.code, L2_LOCK) for it in self.operations)

    @cached_property
    def looks_afresh(self) -> bool:
        """Whether every look in an L1 comes after an invalidation of it by the same operation, so
        that the second way of the proof is enough."""
        return all(
            any(each.mnemonic.name == INVALIDATE for each in it.code[: it.access])
            for it in self.operations
            if it.reads and not it.at_l2
        )

    @cached_property
    def gives_back(self) -> bool:
        """Whether rows free the locks that they take, and no others."""
        kinds = (L2_LOCK, RMW_LOCK)
        return all(
            _frees(it.code) and all(_brackets(it.code, kind) for kind in kinds)
            for it in self.operations
        )

    @cached_property
    def is_exact(self) -> bool:
        """Whether an obligation that fails is an execution (docs/proof.md): rows free the locks
        that they take, and that of the L2 before they take or free an rmw lock, non-atomic ones are
        a bare access, what reads acquires, what writes releases, and what is read may be used."""
        return (
            self.locks == LOCKS
            and self.gives_back
            and all(_nests(it.code) for it in self.operations)
            and all(it.as_strong and it.used for it in self.operations)
            and {Op.LOAD, Op.STORE} == {it.kind for it in self.operations if _is_bare(it)}
            and all(len(it.code) == 1 for it in self.operations if it.scope is None)
        )


def proof_table(scheme: Scheme) -> ProofTable:
    """What a proof has of a scheme, on its machine."""
    facts = facts_of(scheme.machine)
    if facts.unknown is not None:
        message = f"no proof is known for machine {scheme.machine.name}: {facts.unknown}"
        return ProofTable((), (Problem(None, message, severity=Severity.UNSUPPORTED),), ())
    refused: list[Problem] = []
    shapes: dict[int, list[Shape]] = {row.number: [] for row in scheme.rows}
    for shape, row in scheme.table.items():
        if shape.kind is row.kind:  # A row for RMWs may serve compare-exchanges, too.
            shapes[row.number].append(shape)
    found: list[Operation] = []
    for row in scheme.rows:
        reasons = list(dict.fromkeys(_reasons(row)))
        if covers(row):
            found += _operations(row, shapes[row.number])
        if reasons:
            message = f"row {row.number}, {row}: no part of the proof: {'; '.join(reasons)}"
            refused.append(Problem(row.span, message, severity=Severity.UNSUPPORTED))
    has = {(it.kind, it.scope, it.remote) for it in found}
    missing = [
        operation_name(kind, scope, remote)
        for kind in _ACCESSES
        for scope in (None, Scope.WG, Scope.DV)
        for remote in (False, True)
        if (kind, scope, remote) not in has and not (scope is None and (remote or kind is Op.RMW))
    ]
    return ProofTable(tuple(found), tuple(refused), tuple(missing), facts.locks)


def _operations(row: Row, shapes: Iterable[Shape]) -> Iterator[Operation]:
    """The operations that a row compiles and the proof covers: none that is seq_cst, no store that
    does not release, none of a scope within a work-group."""
    found: dict[tuple[Scope | None, bool], list[Shape]] = {}
    for it in shapes:
        weak = it.kind is Op.STORE and it.order is Order.RELAXED
        if it.scope not in _NARROW and it.order is not Order.SEQ_CST and not weak:
            found.setdefault((it.scope, it.remote), []).append(it)
    for (scope, remote), those in found.items():
        orders = tuple(dict.fromkeys(it.order for it in those if it.order is not None))
        used = any(it.used for it in those)
        yield Operation(row.kind, scope, remote, row, orders, used)


# ---- what is refused -----------------------------------------------------------------------------


def _reasons(row: Row) -> Iterator[str]:
    """Why the proof says nothing of a row, or of some operations that it names."""
    yield from _of_whole_row(row)
    if Order.SEQ_CST in row.named:
        yield "the order of all seq_cst operations (axiom Sc) is not proved"
    if row.kind is Op.STORE and Order.RELAXED in row.named:
        yield "every atomic store must release"
    for scope in sorted(_NARROW & row.scopes, key=str):
        yield f"scope {scope.value} is not proved"


def covers(row: Row) -> bool:
    """Whether the proof says something of operations of a row."""
    return not any(_of_whole_row(row))


def _of_whole_row(row: Row) -> Iterator[str]:
    """Why the proof says nothing of a row at all."""
    if row.kind not in _ACCESSES:
        yield f"it is for loads, stores and RMWs, not for a {row.kind.value}"
        return
    if row.memories != frozenset({IN_GLOBAL}):
        yield "it is for global memory"
    if not row.scopes:
        yield "it is for operations with a scope"
    unknown = [it for it in row.code if it.mnemonic.name not in _KNOWN or it.reach not in _REACHES]
    if unknown:
        names = ", ".join(dict.fromkeys(map(str, unknown)))
        yield f"it is for one device and its L1s, without {names}"
    accesses = [it.mnemonic.name for it in row.code if it.accesses]
    if len(accesses) != 1 or accesses[0] not in _ACCESSES[row.kind]:
        ways = " or ".join(_ACCESSES[row.kind])
        yield f"its code must access memory once, by {ways}, not by {' and '.join(accesses)}"


# ---- locks ---------------------------------------------------------------------------------------


def holds(code: Iterable[Template], lock: tuple[str, str]) -> Iterator[tuple[int, int | None]]:
    """Between which instructions a row holds a lock, by their places; None where it keeps it."""
    since: int | None = None
    for place, it in enumerate(code):
        if it.mnemonic.name == lock[0] and since is None:
            since = place
        elif it.mnemonic.name == lock[1] and since is not None:
            yield since, place
            since = None
    if since is not None:
        yield since, None


def _brackets(code: Iterable[Template], lock: tuple[str, str]) -> bool:
    """Whether a row frees a lock only where it holds it."""
    held = False
    for it in code:
        if it.mnemonic.name == lock[1] and not held:
            return False
        held = it.mnemonic.name == lock[0] or (held and it.mnemonic.name != lock[1])
    return True


def _frees(code: tuple[Template, ...]) -> bool:
    """Whether a row frees each lock that it takes."""
    return all(until is not None for lock in (L2_LOCK, RMW_LOCK) for _, until in holds(code, lock))


def _nests(code: tuple[Template, ...]) -> bool:
    """Whether a row takes and frees no rmw lock while it holds that of the L2."""
    held = (it for since, until in holds(code, L2_LOCK) for it in code[since:until])
    return not any(it.mnemonic.name in RMW_LOCK for it in held)


def _is_bare(operation: Operation) -> bool:
    return operation.scope is None and len(operation.code) == 1
