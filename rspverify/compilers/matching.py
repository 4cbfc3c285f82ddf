"""What was emitted for a test as a program of its machine.

Each access of the source is found again in the code, by its location, what it does, and the
register in which its result ends. Where that succeeds for all, with the same values under the same
conditions, reads keep the numbers that they have in the source. Where the compiler has merged,
moved or left out some, the program says what each read of the source has read (`Seen`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product, takewhile
from math import prod

from rspverify.architecture.architecture import Architecture, Mnemonic, SetTo, plain
from rspverify.assembly.program import ARRIVE, DEPART, AssemblyProgram, Instruction, Seen, ThreadId
from rspverify.compilers.amdgpu import Does
from rspverify.compilers.programs import named, watched
from rspverify.compilers.threads import Emitted, EmittedThread
from rspverify.isa.conditions import Condition, condition_of, expression, given
from rspverify.isa.execution import UNKNOWN
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Kind, Operation, Order, Program, Thread
from rspverify.records import replace
from rspverify.scheme.compile import spaces_of, written_by
from rspverify.source import InputError, Problem, Severity, Span
from rspverify.value import (
    Constant,
    Expression,
    Read,
    evaluate,
    reads,
    renumbered,
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

Values = Mapping[int, int]


def read_back(
    program: Program, threads: Sequence[EmittedThread], machine: Architecture
) -> AssemblyProgram:
    """The program of the machine. threads: what the functions of a test's threads do.

    Raises InputError where the two do not belong together.
    """
    return _ReadBack(program, threads, machine).program()


class _ReadBack:
    """Here the index of what was emitted is the number of its read: that of the operation of the
    source that it is, or one that no operation has."""

    def __init__(
        self, program: Program, threads: Sequence[EmittedThread], machine: Architecture
    ) -> None:
        self._program, self._machine = program, machine
        self._code: list[list[Emitted]] = []
        self._results: dict[int, Expression] = {}
        fresh = len(program.operations)
        for thread, emitted in zip(program.threads, threads, strict=True):
            numbers = _matched(thread, emitted)
            numbers = {
                it.index: numbers.get(it.index, fresh + at) for at, it in enumerate(emitted.code)
            }
            fresh += len(emitted.code)
            self._code.append([_numbered(it, numbers) for it in emitted.code])
            _require_known(self._code[-1])
            self._results |= dict(_results(thread, emitted, numbers))

    def _operation(self, it: Emitted) -> Operation | None:
        operations = self._program.operations
        return operations[it.index] if it.index < len(operations) else None

    def program(self) -> AssemblyProgram:
        """The program of the machine."""
        program = self._program
        exact = all(map(self._is_exact, program.threads))
        seen = None if exact else tuple(self._seen())
        substitutes = {} if seen is None else {it.operation: it.value for it in seen}
        places = tuple(ThreadId(it.device, it.workgroup, it.index) for it in program.threads)
        return AssemblyProgram(
            places,
            tuple(tuple(self._instructions(it, exact=exact)) for it in program.threads),
            {it.name: it.initial for it in program.locations},
            self._machine,
            tuple(
                substituted(it.guard, lambda i: substitutes.get(i, Read(i))) for it in program.cuts
            ),
            program.within,
            spaces_of(program, self._machine),
            seen=seen,
        )

    # ---- whether it is the source, access by access ----------------------------------------------

    def _is_exact(self, thread: Thread) -> bool:
        """Whether each access of a thread is one of its code, and each of its code one of it."""
        code = {it.index: it for it in self._code[thread.index] if it.location is not None}
        accesses = {it.index: it for it in thread.operations if it.location is not None}
        return code.keys() == accesses.keys() and all(
            self._is_same(it, code[index]) for index, it in accesses.items()
        )

    def _is_same(self, it: Operation, emitted: Emitted) -> bool:
        guard = condition_of(it.guard)
        if not self._equal(expression(emitted.guard), expression(guard)):
            return False
        if it.reads and not self._equal(self._results[it.index], Read(it.index), guard):
            return False
        if (it.success is None) != (emitted.success is None):
            return False
        pairs = ((emitted.value, written_by(it)), (emitted.success, it.success))
        return all(
            one is None or (other is not None and self._equal(one, other, guard))
            for one, other in pairs
        )

    def _equal(self, one: Expression, other: Expression, guard: Condition = True) -> bool:
        """Whether two expressions have the same value, whatever the machine may read."""
        one, other = given(one, guard), given(other, guard)

        def same(known: Values) -> bool:
            return evaluate(one, known) == evaluate(other, known)

        return one == other or self._always(same, expression(guard), one, other)

    def _known(self, value: Expression, guard: Expression) -> Expression | None:
        """A value without what was never written, if nothing looks at that under a guard."""
        if UNKNOWN.index not in reads(value):
            return value
        if not self._always(lambda known: evaluate(value, known) is not None, guard, value):
            return None
        return substituted(value, lambda it: Constant(0) if it == UNKNOWN.index else Read(it))

    def _always(self, test: Callable[[Values], bool], guard: Expression, *of: Expression) -> bool:
        """Whether something holds of all that the machine may read where a guard is not 0.

        of: what is looked at. Not so where that was never written, or may be too much.
        """
        needed = frozenset[int]().union(*map(reads, (guard, *of))) - {UNKNOWN.index}
        values = [self._domain.get(it, ()) for it in needed]
        if not 0 < prod(map(len, values)) <= _MOST:
            return False
        cases = (dict(zip(needed, each, strict=True)) for each in product(*values))
        try:
            return all(test(known) for known in cases if evaluate(guard, known))
        except KeyError:
            return False

    @cached_property
    def _domain(self) -> Mapping[int, Sequence[int]]:
        """The values that each read may have; empty where there are too many to tell."""
        accesses = [
            Access(it.index, it.location, it.does is not Does.STORE, it.value)
            for code in self._code
            for it in code
            if it.location is not None
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
            value = self._known(given(self._results[it.index], condition_of(guard)), guard)
            if value is None:
                raise lost(it)
            known[it.index] = value
            yield Seen(it.index, guard, value)

    def _instructions(self, thread: Thread, *, exact: bool) -> Iterator[Instruction]:
        code = self._code[thread.index]
        first = sum(map(len, self._code[: thread.index]))
        own = list(map(self._operation, code))
        barriers = iter(_barriers(thread, code))
        belonging = _belonging(thread, code, own)
        for at, (it, operation) in enumerate(zip(code, own, strict=True)):
            mnemonic = it.mnemonic or Mnemonic(it.name, "", (), (), ())
            if it.half is not None:
                mnemonic = ARRIVE if it.half == "arrive" else DEPART
            same = operation if exact else None
            yield Instruction(
                index=first + at,
                mnemonic=mnemonic,
                thread=ThreadId(thread.device, thread.workgroup, thread.index),
                operation=belonging[at],
                guard=same.guard if same else expression(it.guard),
                location=it.location,
                register=it.index if it.location is not None and mnemonic.reads else None,
                value=written_by(same) if same and mnemonic.writes else it.value,
                success=same.success if same else it.success,
                label=next(barriers) if it.half is not None else None,
                waits=frozenset(first + each for each in it.waits),
            )


def _numbered(it: Emitted, numbers: Mapping[int, int]) -> Emitted:
    """What was emitted, over the numbers of reads of all threads."""

    def number(read: int) -> int:
        return numbers.get(read, read)

    guard = condition_of(renumbered(expression(it.guard), number))
    value, success = (
        None if each is None else given(renumbered(each, number), guard)
        for each in (it.value, it.success)
    )
    return replace(it, index=numbers[it.index], guard=guard, value=value, success=success)


def _results(
    thread: Thread, emitted: EmittedThread, numbers: Mapping[int, int]
) -> Iterator[tuple[int, Expression]]:
    found = frozenset(numbers.values())
    for it in (each for each in thread.operations if each.reads):
        if watched(it):
            value = emitted.named.get(_label(it))
            if value is None:
                raise lost(it)
            yield it.index, renumbered(value, lambda read: numbers.get(read, read))
        elif it.index in found:
            yield it.index, Read(it.index)
        else:
            message = f"{it}, whose result nothing looks at, must be one in the code, too"
            raise _unsupported(it.span, message)


def _matched(thread: Thread, emitted: EmittedThread) -> dict[int, int]:
    """By index of what was emitted, the access of the source that it is, as far as one can tell.

    Whose result a label names is found by it; all others are in the order of the source.
    """
    found: dict[int, int] = {}
    wanted = [it for it in thread.operations if it.location is not None]
    for operation in [*filter(watched, wanted), *(it for it in wanted if not watched(it))]:
        named_in = emitted.named.get(_label(operation), UNKNOWN) if watched(operation) else None
        for it in emitted.code:
            free = it.index not in found and it.location == operation.location
            result = named_in is None or it.index in reads(named_in)
            if free and result and it.does in _DOES.get(operation.kind, ()):
                found[it.index] = operation.index
                break
    return found


def _label(operation: Operation) -> str:
    return f".L{named(operation, '')}".rstrip(".")


def _barriers(thread: Thread, code: Sequence[Emitted]) -> list[str | None]:
    """The barriers of the source that the halves in the code are of, one after the other."""
    own = [it for it in thread.operations if it.kind is Kind.BARRIER]
    halves = [it for it in code if it.half is not None]
    twice = [it for it in own for _ in range(2)]
    if len(halves) != len(twice):
        message = f"{thread.name} must have {len(own)} barriers, and its code has another number"
        raise _unsupported(halves[0].span if halves else None, message)
    for half, barrier in zip(halves, twice, strict=True):
        if half.guard != condition_of(barrier.guard):
            message = f"a barrier must be executed where {barrier} is, and is not"
            raise _unsupported(half.span, message)
    return [it.label for it in twice]


def _belonging(
    thread: Thread, code: Sequence[Emitted], own: Sequence[Operation | None]
) -> list[int]:
    """The operation of the source that each instruction is shown with.

    What only orders belongs to the fence or barrier that stands there; otherwise to the access
    before it, up to the last invalidation, and what follows to the one after it.
    """
    found: list[int] = []
    first = thread.operations[0].index if thread.operations else 0
    for at, operation in enumerate(own):
        if operation is not None:
            found.append(operation.index)
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
        elif before is not None and (after is None or _acquires(before, code[at:], own[at:])):
            found.append(before.index)
        else:
            found.append(after.index if after is not None else first)
    return found


def _acquires(
    operation: Operation, code: Sequence[Emitted], own: Sequence[Operation | None]
) -> bool:
    """Whether what stands there may be there for an acquire before it."""
    if operation.order in (None, Order.RELAXED, Order.RELEASE):
        return False
    alone = takewhile(lambda pair: pair[1] is None, zip(code, own, strict=True))
    return any(_invalidates(it.mnemonic) for it, _ in alone if it.mnemonic is not None)


def _invalidates(it: Mnemonic) -> bool:
    effects = (it.effects, *(step.effects for step in it.later))
    return any(
        isinstance(each, SetTo) and not each.value for those in effects for each in plain(those)
    )


def _require_known(code: Sequence[Emitted]) -> None:
    """Raises InputError where something depends on a register that was never written."""
    problems: list[Problem] = []
    for it in code:
        parts = (expression(it.guard), it.value, it.success)
        if any(UNKNOWN.index in reads(each) for each in parts if each is not None):
            message = f"{it.name} depends on a register to which nothing was written"
            problems += _unsupported(it.span, message).problems
    if problems:
        raise InputError(problems)


def lost(it: Operation) -> InputError:
    message = f"what {it} reads must be in a register in the end, and cannot be found"
    return _unsupported(it.span, message)


def _unsupported(span: Span | None, message: str) -> InputError:
    return InputError([Problem(span, message, severity=Severity.UNSUPPORTED)])
