"""What was emitted for a test as a program of the processor, whose executions a model says.

The code of each thread is executed on all paths at once, as tests in assembly are. Its accesses are
the program's; what each read of the source has read is what it stores to the place of that result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from rspverify.assembly.program import Seen
from rspverify.axiomatic.model import MemoryModel
from rspverify.compilers.matching import lost
from rspverify.compilers.programs import APART, read_as, unwatched, watched
from rspverify.isa.addresses import Address, CannotReadError, added
from rspverify.isa.blocks import in_order, unrolled
from rspverify.isa.by_table import COMPARED, Event, TableExecutor, is_lost
from rspverify.isa.conditions import (
    Condition,
    both,
    condition_of,
    either,
    expression,
    given,
    negated,
    size,
)
from rspverify.isa.execution import LOST, UNKNOWN, Depends, State
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction, Label, Line
from rspverify.litmus.assembly import addresses_of, operation_of, spin_of
from rspverify.litmus.program import Cut, Kind, Order, Program, Spin, Thread
from rspverify.mapping.mapped import Mapped
from rspverify.mapping.targets import Target
from rspverify.records import replace
from rspverify.source import Problems
from rspverify.value import Constant, Expression, Read, binary, reads, select, substituted
from rspverify.value.interval import interval

_TERM = re.compile(r"([+-]?)([^+-]+)")
_SCALED = re.compile(r"(\w+)\*(\d)|(\d)\*(\w+)")
_BYTES = {
    **{f"E{it}X": f"{it}L" for it in "ABCD"},
    **{f"E{it}": f"{it}L" for it in ("SI", "DI", "BP", "SP")},
    **{f"R{it}": f"R{it}B" for it in range(8, 16)},
}
"""The low bytes of the registers of x86."""
_WHOLE = {byte: whole for whole, byte in _BYTES.items()}
_LOW = Constant(0xFF)
_STACK = "stack"
_SLOT = re.compile(rf"{_STACK}([+-]\d+):(\d)")
"""A slot of the stack, as a register is called: where it begins, and how many bytes it has."""
_DEPENDENCIES = frozenset({"addr", "data", "ctrl"})
_TIMES = 2
"""So often a loop is unrolled that is not read as its last iteration."""
_LOOPS = 6
"""So many loops of a thread are unrolled."""
_MOST_DECISIONS = 1000
"""On so many does it depend at most whether a label is come to."""
_BEYOND = ".Lbeyond"
"""The label to which unrolled loops go on."""
_ACQUIRES = (Order.ACQUIRE, Order.ACQ_REL, Order.SEQ_CST)


class Entry(Struct, frozen=True):
    """What registers have at the entry of a function: one the address of memory, one that of its
    stack. wide: instructions that access 8 bytes of that, by their text."""

    block: str
    stack: str = ""
    wide: str = "(?!)"


def mapped(
    program: Program,
    code: Mapping[str, Sequence[Line]],
    entry: Entry,
    target: Target,
    model: MemoryModel,
) -> Mapped:
    """The program of a processor. code: the lines of each thread's function, in the spelling of the
    dialect. Raises InputError with all that cannot be read.
    """
    program = read_as(program)
    threads: list[_Code] = []
    problems = Problems()
    for thread in program.threads:
        first = sum(len(each.events) for each in threads)
        given_to = _Given(thread, program, entry, target, model.names.isdisjoint(_DEPENDENCIES))
        threads.append(_executed(code[thread.name], given_to, first))
        with problems:
            threads[-1].require()
    problems.tell()
    seen = [each for it in threads for each in it.seen()]
    known = {it.operation: it.value for it in seen}
    made = replace(
        program,
        language=target.language,
        locations=tuple(replace(it, atomic=False, mutex=False) for it in program.locations),
        threads=tuple(it.thread for it in threads),
        condition=None,
        watched=(),
        cuts=(
            *(
                replace(it, guard=substituted(it.guard, lambda i: known.get(i, Read(i))), at=0)
                for it in program.cuts
            ),
            *(each for it in threads for each in it.cuts),
        ),
        spins=tuple(each for it in threads for each in it.spins),
        unrolled=None,
        faults=(),
        blocked=(*program.blocked, *(each for it in threads for each in it.failing)),
    )
    texts = {index: text for it in threads for index, text in it.texts().items()}
    return Mapped(made, model, tuple(seen), texts, untold=unwatched(program))


class _Given(Struct, frozen=True):
    """What the code of a thread is executed with. loose: whether the model asks for no
    dependencies, so that it does not matter if some are on one path alone."""

    thread: Thread
    program: Program
    entry: Entry
    target: Target
    loose: bool


def _executed(lines: Sequence[Line], given_to: _Given, first: int) -> _Code:
    """The code of a thread, executed; a loop that is not read as its last iteration is unrolled."""
    unread: list[str] = []
    times = max([_TIMES, *(it.iterations for it in given_to.program.cuts)])
    while True:
        it = _Code(given_to, first, times)
        it.run(lines, unread)
        if it.loop is None or it.loop in unread or len(unread) == _LOOPS:
            return it
        unread.append(it.loop)


class _Code(TableExecutor):
    """The executor of the code of a thread.

    times: how often loops stand in the code that are unrolled. cuts: where they go on beyond that;
    loop: the label of one that cannot be read otherwise.
    """

    def __init__(self, given_to: _Given, first: int, times: int) -> None:
        dialect, entry = given_to.target.dialect, given_to.entry
        names = [it.name for it in given_to.program.locations]
        start = {dialect.spelled(entry.block): Address(names[0])} if names else {}
        if entry.stack:
            start[dialect.spelled(entry.stack)] = Address(_STACK)
        super().__init__(
            instruction_set(dialect.instructions),
            re.compile("|".join([dialect.registers, *_WHOLE])),
            addresses_of(names, APART),
            start,
            first,
            spelled=dialect.spelled,
            zero=dialect.zero,
            anywhere=dialect.anywhere,
        )
        self._own, self._names, self._loose = given_to.thread, names, given_to.loose
        self._wide = re.compile(entry.wide)
        self._results: dict[int, Expression] = {}
        self._ends: Condition = False
        self._iterations = times
        self.cuts: list[Cut] = []
        self.loop: str | None = None

    def run(self, lines: Sequence[Line], loops: Sequence[str]) -> None:
        """Execute all lines, in which these loops are unrolled."""
        lines = in_order(lines, self._goes, self.ends_there)
        for each in loops:
            lines = unrolled(lines, each, self._goes, self._iterations, _BEYOND)
        if loops and lines:
            lines = [*lines, Label(_BEYOND, lines[-1].span)]
            lines = in_order(lines, self._goes, self.ends_there, ".Lplace")
        self.follow(lines)
        if self.state is not None and not self.problems:
            self.refuse(lines[-1].span if lines else None, "the function must end, and does not")
        for it in self.events:
            parts = [expression(it.guard)]
            if isinstance(it, Event) and it.beyond is not False:
                message = f"{it.instruction} may access what is no location of the test"
                self.refuse(it.instruction.span, message)
            if isinstance(it, Event):
                parts += [each for each in (it.value, it.success) if each is not None]
            if any(UNKNOWN.index in reads(each) for each in parts):
                message = f"{it.instruction} depends on a register to which nothing was written"
                self.refuse(it.instruction.span, message)

    def passes(self, label: Label) -> None:
        """Where an unrolled loop goes on, nothing is executed any more."""
        super().passes(label)
        if self.state is not None and size(self.state.path) > _MOST_DECISIONS:
            self.refuse(label.span, "the code cannot be read: too many paths come to a label")
            self.state = None
        if label.name == _BEYOND and self.state is not None:
            going = expression(self.state.path)
            self.cuts.append(Cut(self._own.index, going, self._iterations, label.span, 0))
            self.state = None

    def goes_back(self, target: str, there: Condition, before: State) -> State:
        """A loop of which not only the last iteration counts is noted, so that it is unrolled."""
        try:
            return super().goes_back(target, there, before)
        except CannotReadError:
            self.loop = self.loop or target
            raise

    def _goes(self, it: Instruction) -> tuple[str, bool] | None:
        """Where a branch goes, and whether always; None of what is no branch."""
        form = self._set.form(it.mnemonic, it.operands)
        if form is None or form.target is None or form.branch is None:
            return None
        return form.bound(it.operands)[form.target], form.branch.text == "1"

    # ---- what is emitted ------------------------------------------------------------------------

    def address(self, form: Form, bound: Mapping[str, str]) -> Expression | Address:
        """What an access is of: locations are in a block, at offsets from the first."""
        found = super().address(form, bound)
        number = self._number_of(found)
        if number is None or not isinstance(found, Address):
            return found
        if not 0 <= number < len(self._names):
            raise CannotReadError("accesses what is no location of the test")
        return Address(self._names[number])

    def _number_of(self, found: Expression | Address) -> int | None:
        """Of an address the number of its place in the block; None where it is another."""
        if not isinstance(found, Address) or found.location == _STACK:
            return None
        if not isinstance(found.offset, Constant):
            return None
        number, beyond = divmod(found.offset.value, APART)
        return -1 if beyond else number + self._names.index(found.location)

    def _one(self, it: Instruction, form: Form) -> None:
        """A plain store to a place for a result says what a test reads."""
        bound = self.bound(it, form)
        number = None
        if "end" in form.words and self.state is not None:
            self._ends = either(self._ends, self.state.path)
        place = None if form.address is None else super().address(form, bound)
        if isinstance(place, Address) and place.location == _STACK:
            self._of_stack(it, form, bound, place)
            return
        if place is not None and form.written is not None:
            number = self._number_of(place)
        if number is None or number < len(self._names):
            super()._one(it, form)
            return
        assert self.state is not None and form.written is not None
        stored = bound.get(form.written.text, "")
        if form.reads or form.words or not stored:
            raise CannotReadError("does more than store what was read")
        has = self.state.values.get(stored)
        unknown = self._registers.fullmatch(stored) and has is None and stored not in _WHOLE
        value: Expression | Address
        if has is not None and is_lost(has):  # That is told where the read is asked for.
            value = substituted(has, lambda i: UNKNOWN if i == LOST.index else Read(i))
        else:
            value = UNKNOWN if unknown else self.operand(stored)
        if isinstance(value, Address):  # Where nothing is read there may be anything.
            value = UNKNOWN
        index = number - len(self._names)
        before = self._results.get(index, UNKNOWN)
        self._results[index] = select(expression(self.state.path), value, before)
        for since in self._since.values():  # A loop that stores a result does not go on.
            since.look(f"result {index}", self.state.path)
            since.put(f"result {index}", self.state.path)
        super()._one(it, replace(form, address=None, written=None))

    def _of_stack(
        self, it: Instruction, form: Form, bound: Mapping[str, str], place: Address
    ) -> None:
        """A slot of the stack is a register, as no other thread has its address."""
        if not isinstance(place.offset, Constant):
            raise CannotReadError("accesses the stack at an offset that is calculated")
        given, target = (form.result, "") if form.written is None else ("", form.written.text)
        register = bound.get(given or target, target)
        if form.words - {"byte"} or not register or form.reads is not (form.written is None):
            raise CannotReadError("does more with the stack than load and store")
        size = 1 if "byte" in form.words else 8 if self._wide.fullmatch(str(it)) else 4
        slot = f"{_STACK}{place.offset.value:+}:{size}"
        if form.written is None:
            assert self.state is not None
            wider = f"{_STACK}{place.offset.value:+}:8"  # Its first bytes are the low ones.
            known = slot in self.state.values or size == 1
            self._copy(slot if known else wider, register)
        else:
            self._copy(register, slot)
        super()._one(it, replace(form, address=None, reads=False, written=None, result=None))

    def _copy(self, source: str, target: str) -> None:
        """What is in a register, also if that is nothing, to another one; what a slot of the stack
        overlaps is gone."""
        assert self.state is not None
        state, value = self.state, self.state.values.get(source)
        if value is None or is_lost(value):
            for since in self._since.values():
                since.look(source, state.path)
            named = self._registers.fullmatch(source) or _SLOT.fullmatch(source)
            if value is None and (source in _WHOLE or source == self._zero or not named):
                value = self.operand(source)
        else:
            value = self.operand(source)
        over = _SLOT.fullmatch(target)
        gone = [target]
        for each in map(_SLOT.fullmatch, state.values if over else ()):
            if each and over and _overlap(each, over):
                gone.append(each[0])
        for since in self._since.values():
            for name in gone:
                since.put(name, state.path)
        self._forget([*gone, _BYTES.get(target, "")])
        if value is not None:
            self._put(target, value, state.depends(source))

    def _merged(
        self, condition: Condition, then: Expression | Address, otherwise: Expression | Address
    ) -> Expression | Address:
        """Where the stack is at different places it is not known where."""
        if then != otherwise and any(
            isinstance(it, Address) and it.location == _STACK for it in (then, otherwise)
        ):
            return UNKNOWN
        return super()._merged(condition, then, otherwise)

    def _number(self, value: Expression | Address) -> Expression:
        if isinstance(value, Address) and value.location == _STACK:
            raise CannotReadError("makes a number of the address of its stack")
        return super()._number(value)

    def operand(self, text: str) -> Expression | Address:
        """What an operand is; of x86 also a sum, and the low byte of a register."""
        assert self.state is not None
        terms = [] if text.startswith(_STACK) else _TERM.findall(text)
        if len(terms) > 1 and "".join(map("".join, terms)) == text:
            return self._sum(terms)
        if scaled := _SCALED.fullmatch(text):
            factor = Constant(int(scaled[2] or scaled[3]))
            name = self._register_of(scaled[1] or scaled[4])
            return added("*", self.operand(name), factor)
        if text in _WHOLE and text not in self.state.values:
            return added("&", self.operand(_WHOLE[text]), _LOW)
        if (low := self.state.values.get(_BYTES.get(text, ""))) is not None:
            high = added("&", super().operand(text), Constant(~_LOW.value))
            return added("|", high, low)
        found = super().operand(text)
        if isinstance(found, Address) or UNKNOWN.index not in reads(found):
            return found
        return given(found, self.state.path)  # It may have been set on this path alone.

    def _sum(self, terms: Sequence[tuple[str, str]]) -> Expression | Address:
        (_, first), *others = terms
        found = self.operand(self._register_of(first))
        for sign, text in others:
            found = added(sign, found, self.operand(self._register_of(text)))
        return found

    def execute(self, it: Instruction) -> None:
        """Of bytes that may have a sign nobody knows how they compare."""
        form = self.form(it)
        super().execute(it)
        state, compares = self.state, any(name == "left" for name, _ in form.sets)
        if state is None or not compares or not any(each in _WHOLE for each in it.operands):
            return
        for name in ("left", "right"):
            value = state.values.get(name)
            if value is not None and not _is_within(value, _LOW.value >> 1):  # It may have a sign.
                self._forget(COMPARED)

    def _ways(self, path: Condition, *each: Depends) -> list[Condition]:
        """One, where the model asks for no dependencies."""
        return [path] if self._loose else super()._ways(path, *each)

    def _register_of(self, text: str) -> str:
        """Registers of x86 have three names; that of the low byte is kept apart."""
        return text if text in _WHOLE else super()._register_of(text)

    def _put(self, register: str, value: Expression | Address, whence: Depends) -> None:
        """A register whose low byte is written has that beside the rest of it."""
        assert self.state is not None
        self._forget([_BYTES.get(register, "")])
        if register in _WHOLE and not isinstance(value, Address):
            value = value if _is_within(value, _LOW.value) else binary("&", value, _LOW)
        super()._put(register, value, whence)

    # ---- what it becomes ------------------------------------------------------------------------

    @property
    def thread(self) -> Thread:
        """The thread of the processor."""
        made = tuple(operation_of(it, self._own.index) for it in self.events)
        return replace(self._own, operations=made, registers={})

    @property
    def spins(self) -> Iterator[Spin]:
        """Its loops, by their last iterations."""
        return (spin_of(it, self._own.index) for it in self.rounds)

    @property
    def failing(self) -> Iterator[Expression]:
        """Where a store-exclusive fails, in a thread with a compare-exchange that may fail although
        it finds what it expects: such executions are left out of the test (`Program.within`)."""
        choices = (it for it in self.events if not isinstance(it, Event))
        for it in choices if any(each.weak for each in self._own.operations) else ():
            yield expression(both(it.guard, negated(condition_of(Read(it.index)))))

    def seen(self) -> Iterator[Seen]:
        """What each read of the source has read. Raises InputError where that is lost."""
        known: dict[int, Expression] = {}
        for it in self._own.operations:
            if not watched(it):
                continue
            guard = substituted(it.guard, lambda i: known.get(i, Read(i)))
            value: Expression = Constant(0)
            if condition_of(guard) is not False:  # It may be executed.
                # Where no loop goes on, the function has come to its end.
                there = both(condition_of(guard), self._ends)
                value = given(self._results.get(it.index, UNKNOWN), there)
            if UNKNOWN.index in reads(value):
                raise lost(it)
            known[it.index] = value
            yield Seen(it.index, guard, value)

    def _matched(self) -> Mapping[int, int]:
        """By operation of the source, the event that is the same access, as far as it is one."""
        found: dict[int, int] = {}
        for it in self._own.operations:
            named_in = reads(self._results.get(it.index, UNKNOWN)) if it.reads else frozenset()
            for event in self.events:
                if not isinstance(event, Event) or event.index in found.values():
                    continue
                same = event.location == it.location and _is(event, it.kind)
                if same and (not (it.reads and watched(it)) or event.index in named_in):
                    found[it.index] = event.index
                    break
        return found

    def texts(self) -> Mapping[int, tuple[str, ...]]:
        """The code that each operation of the source is shown with.

        What is no access of it is shown with the one behind it, or with one before it that
        acquires.
        """
        of_event = {event: index for index, event in self._matched().items()}
        orders = {it.index: it.order for it in self._own.operations}
        found: dict[int, list[str]] = {it.index: [] for it in self._own.operations}
        before: int | None = None
        waiting: list[str] = []
        for it in (each for each in self.events if isinstance(each, Event)):
            waiting.append(str(it.instruction))
            if it.index in of_event:
                before = of_event[it.index]
            elif before is None or orders[before] not in _ACQUIRES:
                continue
            found[before] += waiting
            waiting = []
        if waiting and found:
            found[max(found) if before is None else before] += waiting
        return {index: tuple(text) for index, text in found.items()}


def _overlap(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two slots of the stack have a byte in common."""
    first, second = int(one[1]), int(other[1])
    return first < second + int(other[2]) and second < first + int(one[2])


def _is(it: Event, kind: Kind) -> bool:
    """Whether an event may be an access of a kind; of a pair of exclusives the load is an RMW."""
    reads, writes = it.form.reads, it.form.written is not None
    if kind is Kind.RMW:
        return reads and (writes or "reserve" in it.form.words)
    if kind is Kind.LOAD:
        return reads and not writes
    return kind is Kind.STORE and writes and it.pair is None


def _is_within(value: Expression | Address, most: int) -> bool:
    """Whether it is a number from 0 to so much, whatever is read."""
    if isinstance(value, Address):
        return False
    least, greatest = interval(value)
    return least >= 0 and greatest <= most
