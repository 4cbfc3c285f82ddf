"""Programs that are written from a table: the test that a broken obligation is, and the program of
all operations, which says whether any program may get stuck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from rspverify.litmus.program import Kind, Order
from rspverify.machine.draining import drains
from rspverify.machine.lock_order import LockOrder
from rspverify.programs.litmus_test import (
    ONE,
    STRONG,
    Access,
    LitmusTest,
    Thread,
    litmus_test,
)
from rspverify.programs.meaning import program_of
from rspverify.proof.obligations import Kind as ObligationKind
from rspverify.proof.obligations import Obligation
from rspverify.proof.table import Operation, ProofTable
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Settings
from rspverify.value import Binary, Constant, Expression, Read

_KINDS = {Op.LOAD: Kind.LOAD, Op.STORE: Kind.STORE, Op.RMW: Kind.RMW}
_TEN, _TWENTY = Constant(10), Constant(20)
_IF_ONE = (Binary("==", Read(0), ONE),)


def access(
    operation: Operation,
    location: str,
    register: int | None = None,
    *,
    value: Expression = ONE,
    guards: tuple[Expression, ...] = (),
) -> Access:
    """An operation of a table on a location; an RMW adds 1. value: what a store writes."""
    kind = _KINDS[operation.kind]
    order = None if operation.scope is None else _strongest(operation)
    return Access(
        kind,
        location,
        {Kind.STORE: value, Kind.RMW: ONE}.get(kind),
        register if operation.reads and operation.used else None,
        order,
        operation.scope,
        operation.remote,
        guards,
        "+" if kind is Kind.RMW else None,
    )


def _strongest(operation: Operation) -> Order:
    """The order of an operation of the table: that of the paper, if its row is for it."""
    usual = STRONG[_KINDS[operation.kind]]
    return usual if usual in operation.orders else operation.orders[-1]


# ---- the test that a broken obligation is --------------------------------------------------------


def tests_of(obligation: Obligation, table: ProofTable) -> Iterator[LitmusTest]:
    """Tests whose executions the times of a broken obligation may be (docs/proof.md, Exactness).

    The first operation is read by the second, which then looks for what was written before it; or
    the second, an RMW, reads what was before the first and is written after it. Data are accessed
    by the rows for plain operations, or else by any that do no more than access. There is no test
    in which the second would have to show by its result that it has read the first, and may not.
    """
    first, second = obligation.first, obligation.second
    if obligation.kind is ObligationKind.ATOM:
        reader = access(second, "x", 0)
        writer = access(first, "x", 0, value=_TEN)
        yield _apart((reader,), (writer,))
        return
    if not second.used:
        return
    read = access(second, "y", 0)
    for store, load in product(_plain(table, Op.STORE), _plain(table, Op.LOAD)):
        yield _apart(
            (access(store, "x"), access(first, "y", 0)),
            (read, access(load, "x", 1, guards=_IF_ONE)),
        )


def wider_tests_of(obligation: Obligation, table: ProofTable) -> Iterator[LitmusTest]:
    """Tests around a broken obligation, where more than accesses may hide it: first of 2 threads
    and 4 operations, then of 3 threads and 5, in which what is written comes by another thread."""
    first, second = obligation.first, obligation.second
    writers = _one_a_row(it for it in table.operations if it.writes)
    readers = _one_a_row(it for it in table.operations if it.reads and it.used)
    if obligation.kind is ObligationKind.ATOM:
        reader, writer = access(second, "x", 0), access(first, "x", 0, value=_TEN)
        for other in writers:
            before = access(other, "x", 1, value=_TWENTY)
            yield _apart((reader,), (before, writer))
            yield _apart((before, reader), (writer,))
            for group in (0, 1):
                yield _placed((0, 1, group), (reader,), (writer,), (before,))
        return
    if not second.used:
        return
    read = access(second, "y", 0)
    for store, load in product(writers, readers):
        data = access(load, "x", 1, guards=_IF_ONE)
        yield _apart((access(store, "x", 1), access(first, "y", 0)), (read, data))
    atomics = [it for it in writers if it.scope], [it for it in readers if it.scope]
    for groups in ((0, 0, 1), (0, 1, 2), (0, 1, 0)):
        for store, relay, load in product(*atomics, _one_a_row(_plain(table, Op.LOAD))):
            yield _placed(
                groups,
                (access(store, "x", 0),),
                (access(relay, "x", 0), access(first, "y", 1, guards=_IF_ONE)),
                (read, access(load, "x", 1, guards=_IF_ONE)),
            )


def _one_a_row(operations: Iterable[Operation]) -> list[Operation]:
    """The first operation of each row among some."""
    return list({it.row.number: it for it in reversed([*operations])}.values())[::-1]


def _plain(table: ProofTable, kind: Op) -> list[Operation]:
    """The operations of a kind that do no more than access, the plain ones first."""
    bare = [it for it in table.operations if it.kind is kind and len(it.code) == 1]
    return sorted(bare, key=lambda it: (it.scope is not None, it.remote))[:2]


def _apart(*threads: Sequence[Access]) -> LitmusTest:
    """Threads in different work-groups of one device."""
    return _placed(range(len(threads)), *threads)


def _placed(groups: Iterable[int], *threads: Sequence[Access]) -> LitmusTest:
    """Threads in these work-groups of one device."""
    placed = zip(groups, threads, strict=True)
    return litmus_test(Thread((0, group), tuple(each)) for group, each in placed)


# ---- progress ------------------------------------------------------------------------------------


def never_stuck(scheme: Scheme, table: ProofTable) -> bool:
    """Whether no program of the table's operations can get stuck, however large it is.

    Asked of one program: five threads in three work-groups, each with every operation on two
    locations, one after the other. If its locks are taken in an order, those of every program are:
    who waits for whom depends on two operations, and on whether their locations, work-groups and
    threads are the same (docs/proof.md, Progress). But one that keeps a lock may be the last.
    """
    if not table.gives_back:
        return False
    accesses = tuple(
        access(operation, location, number)
        for number, (operation, location) in enumerate(product(table.operations, "xy"))
    )
    program = program_of(_placed((0, 0, 1, 1, 2), *[accesses] * 5), "")
    machine = machine_of(scheme.compiled(program), Settings())
    return drains(machine) and LockOrder(machine).holds


def that_may_get_stuck(table: ProofTable) -> Iterator[LitmusTest]:
    """Small programs of the operations of all rows, the smallest first: one or two operations, in
    one thread or in two, and two threads that take what the other has."""
    every = {it.row.number: it for it in table.operations if it.scope is not None}.values()
    pairs = list(product(every, repeat=2))
    for it in every:
        yield _apart((access(it, "x", 0),))
    for first, second in pairs:
        yield _apart((access(first, "x", 0),), (access(second, "x", 0),))
    for first, second in pairs:
        for place in "xy":
            yield _apart((access(first, "x", 0), access(second, place, 1)))
    for first, second in pairs:
        yield _apart(
            (access(first, "x", 0), access(second, "y", 1)),
            (access(first, "y", 0), access(second, "x", 1)),
        )
