"""What was emitted for a test as a program of its machine.

Each access of the source is found again in the code, by its location, what it does, and the
register in which its result ends. Where that succeeds for all, with the same values under the same
conditions, reads keep the numbers that they have in the source. Where the compiler has merged,
moved or left out some, the program says what each read of the source has read (`Seen`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod

from msgspec import Struct

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, Instruction, Seen, ThreadId
from rspverify.compilers.amdgpu import Does
from rspverify.compilers.programs import named, watched
from rspverify.compilers.threads import Emitted, EmittedThread
from rspverify.isa.conditions import (
    Condition,
    condition_of,
    expression,
    implies,
    negated,
)
from rspverify.isa.execution import UNKNOWN
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Kind, Operation, Order, Program, Thread
from rspverify.scheme.compile import spaces_of, written_by
from rspverify.source import InputError, Problem, Severity
from rspverify.value import (
    Constant,
    Expression,
    Read,
    Select,
    evaluate,
    reads,
    renumbered,
    select,
    substituted,
)
from rspverify.value.domain import Access, derivable

_MOST = 4096
"""Up to so many combinations of values are tried to tell two expressions to be equal."""

_SECONDS = 10.0
"""For so long it is looked for the values that a test may have."""

_DOES = {
    Kind.LOAD: (Does.LOAD,),
    Kind.STORE: (Does.STORE,),
    Kind.RMW: (Does.RMW, Does.CAS),
}


def read_back(
    program: Program, threads: Sequence[EmittedThread], machine: Architecture
) -> AssemblyProgram:
    """The program of the machine. threads: what the functions of a test's threads do.

    Raises InputError where the two do not belong together.
    """
    return _ReadBack(program, threads, machine).program()


class _Placed(Struct, frozen=True):
    """An instruction that was emitted, with its number among those of all threads, and the access
    of the source that it is. guard, value, success: over the numbers of reads of all threads."""

    it: Emitted
    index: int
    read: int
    operation: Operation | None
    guard: Condition
    value: Expression | None
    success: Expression | None


class _ReadBack:
    def __init__(
        self, program: Program, threads: Sequence[EmittedThread], machine: Architecture
    ) -> None:
        self._program, self._threads, self._machine = program, threads, machine
        self._matched = [
            _matched(thread, emitted)
            for thread, emitted in zip(program.threads, threads, strict=True)
        ]
        self._code = list(self._placed())
        self._results = {
            number: value
            for thread, emitted in zip(program.threads, threads, strict=True)
            for number, value in self._results_of(thread, emitted)
        }

    def program(self) -> AssemblyProgram:
        """The program of the machine."""
        program = self._program
        exact = all(self._is_exact(thread) for thread in program.threads)
        seen = None if exact else tuple(self._seen())
        substitutes = {} if seen is None else {it.operation: it.value for it in seen}
        places = tuple(ThreadId(it.device, it.workgroup, it.index) for it in program.threads)
        code = tuple(
            tuple(self._instructions(thread, place, exact=exact))
            for thread, place in zip(program.threads, places, strict=True)
        )
        return AssemblyProgram(
            places,
            code,
            {it.name: it.initial for it in program.locations},
            self._machine,
            tuple(
                substituted(it.guard, lambda i: substitutes.get(i, Read(i))) for it in program.cuts
            ),
            program.within,
            spaces_of(program, self._machine),
            seen=seen,
        )

    # ---- numbers ---------------------------------------------------------------------------------

    def _placed(self) -> Iterator[list[_Placed]]:
        """The code of each thread, with the numbers that it has in the program."""
        index = 0
        for matched, emitted in zip(self._matched, self._threads, strict=True):
            first = index
            fresh = len(self._program.operations) + first
            numbers = {
                it.index: matched[it.index].index if it.index in matched else fresh + it.index
                for it in emitted.code
            }

            def number(read: int, numbers: Mapping[int, int] = numbers) -> int:
                return numbers.get(read, read)

            code: list[_Placed] = []
            for it in emitted.code:
                guard = condition_of(renumbered(expression(it.guard), number))
                value, success = (
                    None if each is None else _given(renumbered(each, number), guard)
                    for each in (it.value, it.success)
                )
                operation = matched.get(it.index)
                code.append(_Placed(it, index, numbers[it.index], operation, guard, value, success))
                index += 1
            _require_known(code)
            yield code

    def _results_of(
        self, thread: Thread, emitted: EmittedThread
    ) -> Iterator[tuple[int, Expression]]:
        """What the code says that each read of a thread has read."""
        numbers = {it.it.index: it.read for it in self._code[thread.index]}
        found = {it.operation.index: it.read for it in self._code[thread.index] if it.operation}
        for it in thread.operations:
            if not it.reads:
                continue
            if not watched(it):
                if it.index not in found:
                    message = f"{it}, whose result nothing looks at, must be one in the code, too"
                    raise InputError([Problem(it.span, message, severity=Severity.UNSUPPORTED)])
                yield it.index, Read(found[it.index])
                continue
            value = emitted.named.get(_label(it))
            if value is None:
                raise InputError([_lost(it)])
            yield it.index, renumbered(value, lambda i: numbers.get(i, i))

    # ---- whether it is the source, access by access ----------------------------------------------

    def _is_exact(self, thread: Thread) -> bool:
        """Whether each access of a thread is one of its code, and each of its code one of it."""
        code = [it for it in self._code[thread.index] if it.it.location is not None]
        by_operation = {it.operation.index: it for it in code if it.operation is not None}
        accesses = [it for it in thread.operations if it.location is not None]
        if len(by_operation) != len(code) or len(code) != len(accesses):
            return False
        return all(self._is_same(it, by_operation[it.index]) for it in accesses)

    def _is_same(self, it: Operation, placed: _Placed) -> bool:
        guard = condition_of(it.guard)
        if not self._equal(expression(placed.guard), expression(guard)):
            return False
        if it.reads and not self._equal(self._results[it.index], Read(placed.read), guard):
            return False
        if (it.success is None) != (placed.success is None):
            return False
        pairs = ((placed.value, written_by(it)), (placed.success, it.success))
        return all(
            one is None or (other is not None and self._equal(one, other, guard))
            for one, other in pairs
        )

    def _equal(self, one: Expression, other: Expression, guard: Condition = True) -> bool:
        """Whether two expressions have the same value, whatever the machine may read."""
        one, other = _given(one, guard), _given(other, guard)
        if one == other:
            return True
        holds = expression(guard)
        for known in self._cases(one, other, holds):
            try:
                if known is None or (
                    evaluate(holds, known) and (evaluate(one, known) != evaluate(other, known))
                ):
                    return False
            except KeyError:  # It looks at what was never written.
                return False
        return True

    def _cases(self, *of: Expression) -> Iterator[Mapping[int, int] | None]:
        """What the machine may read, as far as expressions look at it; None if that is too much."""
        needed = sorted(frozenset[int]().union(*map(reads, of)) - {UNKNOWN.index})
        if not needed:
            yield {}
            return
        sizes = [len(self._domain.get(it, ())) for it in needed]
        if not all(sizes) or prod(sizes) > _MOST:
            yield None
            return
        for values in product(*(self._domain[it] for it in needed)):
            yield dict(zip(needed, values, strict=True))

    def _known(self, value: Expression, guard: Expression) -> Expression | None:
        """A value without what was never written, if nothing looks at that under a guard."""
        if UNKNOWN.index not in reads(value):
            return value
        for known in self._cases(value, guard):
            try:
                if known is None or (evaluate(guard, known) and evaluate(value, known) is None):
                    return None
            except KeyError:
                return None
        return substituted(value, lambda it: Constant(0) if it == UNKNOWN.index else Read(it))

    @cached_property
    def _domain(self) -> Mapping[int, Sequence[int]]:
        """The values that each read may have; empty where there are too many to tell."""
        code = [it for thread in self._code for it in thread if it.it.location is not None]
        accesses = [
            Access(it.read, it.it.location, it.it.does is not Does.STORE, it.value)
            for it in code
            if it.it.location is not None
        ]
        initial = {it.name: it.initial for it in self._program.locations}
        try:
            found = derivable(initial, accesses, Limits(_SECONDS)).locations
        except LimitReached:
            return {}
        return {it.index: sorted(found[it.location]) for it in accesses if it.reads}

    # ---- what it becomes -------------------------------------------------------------------------

    def _seen(self) -> Iterator[Seen]:
        """What each read of the source has read, by its own guard and the code's registers."""
        known: dict[int, Expression] = {}
        for it in self._program.operations:
            if not it.reads:
                continue
            guard = substituted(it.guard, lambda i: known.get(i, Read(i)))
            value = self._known(_given(self._results[it.index], condition_of(guard)), guard)
            if value is None:
                raise InputError([_lost(it)])
            known[it.index] = value
            yield Seen(it.index, guard, value)

    def _instructions(
        self, thread: Thread, place: ThreadId, *, exact: bool
    ) -> Iterator[Instruction]:
        code = self._code[thread.index]
        first = code[0].index if code else 0
        barriers = iter(_barriers(thread, code))
        for placed, operation in zip(code, _belonging(thread, code), strict=True):
            it, own = placed.it, placed.operation
            same = exact and own is not None
            label = next(barriers) if it.half is not None else None
            mnemonic = it.mnemonic or Mnemonic(it.name, "", (), (), ())
            if it.half is not None:
                mnemonic = ARRIVE if it.half == "arrive" else DEPART
            accesses = it.location is not None
            yield Instruction(
                index=placed.index,
                mnemonic=mnemonic,
                thread=place,
                operation=operation,
                guard=own.guard if own and same else expression(placed.guard),
                location=it.location,
                register=placed.read if accesses and mnemonic.reads else None,
                value=written_by(own) if own and same and mnemonic.writes else placed.value,
                success=own.success if own and same else placed.success,
                label=label,
                waits=frozenset(first + each for each in it.waits),
            )


def _matched(thread: Thread, emitted: EmittedThread) -> dict[int, Operation]:
    """By index of what was emitted, the access of the source that it is, as far as one can tell.

    Whose result a label names is found by it; all others are in the order of the source.
    """
    found: dict[int, Operation] = {}

    def fits(it: Emitted, operation: Operation) -> bool:
        free = it.index not in found and it.location == operation.location
        return free and it.does in _DOES.get(operation.kind, ())

    wanted = [it for it in thread.operations if it.location is not None]
    for operation in filter(watched, wanted):
        value = emitted.named.get(_label(operation), UNKNOWN)
        mine = [it for it in emitted.code if it.index in reads(value) and fits(it, operation)]
        if mine:
            found[mine[0].index] = operation
    known = {it.index for it in found.values()}
    for operation in wanted:
        if operation.index not in known and not watched(operation):
            mine = [it for it in emitted.code if fits(it, operation)]
            if mine:
                found[mine[0].index] = operation
    return found


def _label(operation: Operation) -> str:
    """The label at which a register has what an operation has read, without the register."""
    return f".L{named(operation, '')}".rstrip(".")


def _barriers(thread: Thread, code: Sequence[_Placed]) -> list[str | None]:
    """The barriers of the source that the halves in the code are of, one after the other."""
    own = [it for it in thread.operations if it.kind is Kind.BARRIER]
    halves = [it for it in code if it.it.half is not None]
    twice = [it for it in own for _ in range(2)]
    if len(halves) != len(twice):
        span = halves[0].it.span if halves else None
        message = f"{thread.name} must have {len(own)} barriers, and its code has another number"
        raise InputError([Problem(span, message, severity=Severity.UNSUPPORTED)])
    for half, barrier in zip(halves, twice, strict=True):
        if half.guard != condition_of(barrier.guard):
            message = f"a barrier must be executed where {barrier} is, and is not"
            raise InputError([Problem(half.it.span, message, severity=Severity.UNSUPPORTED)])
    return [it.label for it in twice]


def _belonging(thread: Thread, code: Sequence[_Placed]) -> list[int]:
    """The operation of the source that each instruction is shown with.

    What only orders belongs to the fence or barrier that stands there; otherwise to the access
    before it, up to the last invalidation, and what follows to the one after it.
    """
    own = [it.operation for it in code]
    found: list[int] = []
    first = thread.operations[0].index if thread.operations else 0
    for at, placed in enumerate(code):
        if placed.operation is not None:
            found.append(placed.operation.index)
            continue
        before = next((it for it in reversed(own[:at]) if it is not None), None)
        after = next((it for it in own[at:] if it is not None), None)
        between = [
            it
            for it in thread.operations
            if it.location is None
            and (before is None or it.index > before.index)
            and (after is None or it.index < after.index)
        ]
        if between:
            found.append(between[0].index)
        elif before is not None and (after is None or _acquires(before, at, code)):
            found.append(before.index)
        else:
            found.append(after.index if after is not None else first)
    return found


def _acquires(operation: Operation, at: int, code: Sequence[_Placed]) -> bool:
    """Whether what stands there may be there for an acquire before it."""
    if operation.order in (None, Order.RELAXED, Order.RELEASE):
        return False
    for placed in code[at:]:
        if placed.operation is not None:
            return False
        if placed.it.mnemonic is not None and placed.it.mnemonic.effects:
            return True
    return False


def _given(value: Expression, guard: Condition) -> Expression:
    """The expression without what cannot be where a condition holds."""
    if not isinstance(value, Select):
        return value
    condition = condition_of(value.condition)
    if implies(guard, condition):
        return _given(value.then, guard)
    if implies(guard, negated(condition)):
        return _given(value.otherwise, guard)
    return select(value.condition, _given(value.then, guard), _given(value.otherwise, guard))


def _require_known(code: Sequence[_Placed]) -> None:
    """Raises InputError where something depends on a register that was never written."""
    problems = []
    for it in code:
        parts = (expression(it.guard), it.value, it.success)
        if any(UNKNOWN.index in reads(each) for each in parts if each is not None):
            message = f"{it.it.name} depends on a register to which nothing was written"
            problems.append(Problem(it.it.span, message, severity=Severity.UNSUPPORTED))
    if problems:
        raise InputError(problems)


def _lost(it: Operation) -> Problem:
    message = f"what {it} reads must be in a register in the end, and cannot be found"
    return Problem(it.span, message, severity=Severity.UNSUPPORTED)
