"""From the columns of a test in assembly to its Program, whose operations are instructions.

The file of the instruction set says what instructions do. A machine may have others, of which their
operands tell it: `r1, x` loads, `x, 1` and `x, r1` store, and one without operands accesses
nothing. Of which kinds memory is, a machine says.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce

from msgspec import Struct

from rspverify.isa.addresses import Address
from rspverify.isa.by_table import Choice, Event, Round, TableExecutor, is_lost
from rspverify.isa.conditions import both, expression, negated
from rspverify.isa.execution import BY_OPERANDS, LATE
from rspverify.isa.formula import formula
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction, Jump, Label, Line, Tags
from rspverify.litmus.condition import Claims
from rspverify.litmus.declarations import initial_registers, initial_values
from rspverify.litmus.dialects import DIALECTS, NAMED, Dialect
from rspverify.litmus.formula import places_of
from rspverify.litmus.literal import TRUTHS, number
from rspverify.litmus.placement import Place, numbered, placed_by_heads
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import (
    GLOBAL,
    Dependencies,
    Fault,
    Kind,
    Location,
    Operation,
    Program,
    Spin,
    Thread,
)
from rspverify.litmus.tree import (
    Claim,
    Columns,
    InstructionText,
    Integer,
    Joined,
    LabelText,
    Name,
    Node,
    Operand,
    walk,
)
from rspverify.records import replace
from rspverify.source import Source, Span
from rspverify.value import Constant, Expression, Read, binary, select, substituted

MAX_INSTRUCTIONS = 250
"""How many instructions a test may have: a machine is spelled out for each of them."""

_FIRST, _APART = 1 << 28, 1 << 12
"""What stands for the address of the first location, and how far those of others are from it."""

BEYOND = "memory-access"
"""The condition that an access breaks which is of no location."""

_END = ".end"
"""The label behind the last instruction of a thread."""

_OPEN = Tags.of([BY_OPERANDS])
_STORE = Form("", ("x", "v"), "", written=formula("v"), address="x", tags=_OPEN)
_BY_OPERANDS = {
    "rx": Form("", ("r", "x"), "", reads=True, result="r", address="x", tags=_OPEN),
    "xr": _STORE,
    "xv": _STORE,
    "": Form("", (), "", words=frozenset({"fence"}), tags=_OPEN),
}
"""What an instruction does that the set has not: r is a register, v an integer, x a location."""

Code = list[InstructionText | LabelText]
"""The cells of a column that are not empty."""


class Frame:
    """What a test says beside what its instructions do.

    code: the cells of each thread, by its name. numbers: as of `initial_values`.
    """

    def __init__(self, test: Columns, problems: Problems) -> None:
        self.dialect, self.problems = DIALECTS[test.language], problems
        columns = _columns(test, problems)
        self.test = test = _with_owners(test, columns, problems)
        heads = numbered(test.threads, problems)
        self.code = {name: columns[id(head)] for name, head in heads.items()}
        self._places: Mapping[str, Place] = {}
        if self.dialect.place:
            hint = f"write `P0{self.dialect.place} | P1@cta 1,gpu 0 ;` above the columns"
            self._places = placed_by_heads(heads, self.dialect.place, problems, hint)
        addresses = _addresses(test, self.dialect)
        self.numbers = None if self.dialect.is_open else addresses
        self.locations = _locations(test, self.dialect, problems, addresses, self.numbers)
        self.aliases = _aliases(test, self.locations, problems)
        aliased = {name: addresses[it.of] for name, it in self.aliases.items()}
        self.addresses = {**addresses, **aliased}
        initial = initial_registers(
            test.registers, heads, problems, self.dialect.spelled, self.numbers
        )
        self.location_at = {number: name for name, number in self.addresses.items()}
        self.registers = {
            name: {
                register: Address(self.location_at[it]) if it in self.location_at else Constant(it)
                for register, it in initial.get(name, {}).items()
            }
            for name in heads
        }
        if (count := sum(map(len, columns.values()))) > MAX_INSTRUCTIONS:
            message = f"a test in assembly must have at most {MAX_INSTRUCTIONS} instructions, not"
            problems.unsupported(test.threads[0].span, f"{message} {count:,}")
        self._synchronises = _synchronised(test, len(heads), problems)

    @property
    def threads(self) -> Iterator[Thread]:
        """The threads, without what they do."""
        for index, name in enumerate(self.code):
            device, group, subgroup = self._places.get(name, (0, 0, None))
            before = self._synchronises.get(index, frozenset())
            yield Thread(name, index, device, group, (), {}, subgroup, before)


def assembly_program(test: Columns, source: Source, problems: Problems) -> Program:
    """The program that columns mean, as far as they mean one."""
    frame = Frame(test, problems)
    test, dialect, known, aliases = frame.test, frame.dialect, frame.locations, frame.aliases
    threads: list[Thread] = []
    barriers: dict[tuple[int, int], list[Event]] = {}
    faults: list[Fault] = []
    spins: list[Spin] = []
    lost: set[tuple[int, str]] = set()
    for it in frame.threads:
        first = sum(len(each.operations) for each in threads)
        column = Column(frame, it.name, it.index, first)
        operations, registers = column.run(frame.code[it.name])
        lost |= {(it.index, name) for name in column.lost}
        faults += column.faults
        spins += column.spins
        barriers.setdefault((it.device, it.workgroup), []).extend(column.barriers)
        operations = tuple(_by_location(each, aliases) for each in operations)
        threads.append(replace(it, operations=operations, registers=registers))
    own = {thread.name: thread.registers for thread in threads}
    names = {name: it.of for name, it in aliases.items()}
    claims = Claims(own, known, problems, dialect.spelled, frame.numbers, names)
    condition = None if test.condition is None else claims.condition(test.condition)
    watched = claims.watched(test.watched)
    given = None if test.given is None else claims.formula(test.given)
    asked = {*watched, *(condition.places if condition else ())}
    looked_at = asked.union(() if given is None else places_of(given))
    for thread, register in sorted(lost & looked_at):
        message = f"{thread}:{register} cannot be told: a loop may have set it before its end"
        problems.unsupported(test.threads[thread].span, message)
    threads = [_without(it, lost - looked_at) for it in threads]
    shown = (_without_addresses(it, asked, frame.location_at) for it in threads)
    return Program(
        test.title,
        source,
        tuple(known.values()),
        tuple(shown),
        condition,
        test.language,
        (),
        watched,
        spins=tuple(spins),
        faults=tuple(faults),
        given=given,
        blocked=tuple(each for them in barriers.values() for each in _blocked(them)),
    )


class _Alias(Struct, frozen=True):
    """Another name of a location. of: its own name; virtual: by which name it is accessed."""

    of: str
    virtual: str


def _aliases(test: Columns, known: dict[str, Location], problems: Problems) -> Mapping[str, _Alias]:
    """The names that locations have besides; these are no locations of their own."""
    found: dict[str, _Alias] = {}
    for it in test.aliases:
        name, of = it.name.text, it.of.text
        target = found.get(of, _Alias(of, of))
        if target.of not in known or name in (of, target.of):
            message = f"{quote(of)} must be a location that the initial state declares before"
            problems.error(it.of.span, message)
        elif name in found or (name in known and known[name].span != test.span):
            problems.error(it.name.span, f"{quote(name)} must be one location, not two")
        else:
            generic = it.proxy is None or it.proxy.text == "generic"
            found[name] = _Alias(target.of, name if generic else target.virtual)
            known.pop(name, None)
    return found


def _by_location(it: Operation, aliases: Mapping[str, _Alias]) -> Operation:
    """An operation, its location by its own name."""
    alias = aliases.get(it.location or "")
    if alias is None:
        return it
    virtual = None if alias.virtual == alias.of else alias.virtual
    return replace(it, location=alias.of, alias=virtual)


def _synchronised(test: Columns, threads: int, problems: Problems) -> Mapping[int, frozenset[int]]:
    """By thread the threads that come after it, as the test says."""
    found: dict[int, frozenset[int]] = {}
    for each in test.synchronised:
        first, second = (number(it, problems) for it in (each.first, each.second))
        for at, it in ((first, each.first), (second, each.second)):
            if not 0 <= at < threads:
                problems.error(it.span, f"a thread must be one of the test, not {quote(it.text)}")
        found[first] = found.get(first, frozenset()) | {second}
    return found


def _blocked(barriers: Sequence[Event]) -> Iterator[Expression]:
    """Where threads of a work-group wait for ever at one of these barriers."""
    among = [each for each in barriers if LATE not in each.form.tags.write]
    for it in among:
        others = [other for other in among if other.label == it.label]
        if it.quorum is None:
            missing = (both(it.guard, negated(other.guard)) for other in others)
            yield from (expression(each) for each in missing if each is not False)
        else:
            one, none = Constant(1), Constant(0)
            came = [select(expression(other.guard), one, none) for other in others]
            there = reduce(partial(binary, "+"), came)
            yield binary("<", there, Constant(it.quorum))


def _without(it: Thread, lost: Collection[tuple[int, str]]) -> Thread:
    """A thread without registers of which it is not known what they have in the end."""
    kept = {name: value for name, value in it.registers.items() if (it.index, name) not in lost}
    return replace(it, registers=kept)


def _without_addresses(
    it: Thread, asked: Collection[tuple[int | None, str]], known: Mapping[int, str]
) -> Thread:
    """A thread without the registers that have an address throughout, if nobody asks for them."""
    registers = {
        name: value
        for name, value in it.registers.items()
        if (it.index, name) in asked or not (isinstance(value, Constant) and value.value in known)
    }
    return replace(it, registers=registers)


def _columns(test: Columns, problems: Problems) -> Mapping[int, Code]:
    """The instructions and labels below each head, by its identity."""
    found: list[Code] = [[] for _ in test.threads]
    for row in test.rows:
        if len(row.cells) != len(found):
            message = f"a row must have as many columns as threads, {len(found)}, not"
            problems.error(row.span, f"{message} {len(row.cells)}")
        for column, cell in zip(found, row.cells, strict=False):
            if cell is not None:
                column.append(cell)
    return {id(head): column for head, column in zip(test.threads, found, strict=True)}


def _with_owners(test: Columns, columns: Mapping[int, Code], problems: Problems) -> Columns:
    """A test in which each register that its initial state calls `%x` belongs to the thread that
    names it so."""
    entries, registers = [], [*test.registers]
    for it in test.entries:
        name = it.name.text
        if not re.fullmatch(NAMED, name):
            entries.append(it)
            continue
        owners = [
            head.name
            for head in test.threads
            if any(
                isinstance(each, Name) and each.text == name
                for line in columns[id(head)]
                for each in walk(line)
            )
        ]
        if len(owners) != 1:
            message = f"{quote(name)} must be a register of one thread, not of {len(owners)}"
            problems.error(it.name.span, message, f"write `0:{name}` for that of P0")
        elif it.value is not None:
            registers.append(Claim(it.span, owners[0], it.name, True, it.value))
    return replace(test, entries=tuple(entries), registers=tuple(registers))


def _addresses(test: Columns, dialect: Dialect) -> Mapping[str, int]:
    """The names of locations, with the numbers that stand for their addresses: what the initial
    state declares, then what it, the final condition and instructions name besides."""
    nodes = [each for row in test.rows for each in walk(row)]
    labels = {each.name.text for each in nodes if isinstance(each, LabelText)}
    names = [each.name for each in test.entries]
    values = [*(it.value for it in test.entries), *(it.value for it in test.registers)]
    names += [it for it in values if isinstance(it, Name)]
    for each in nodes:
        for operand in each.operands if isinstance(each, InstructionText) else ():
            if isinstance(operand, Joined):
                names += [it for it in operand.inside[:1] if isinstance(it, Name)]
            elif isinstance(operand, Name) and dialect.bare:
                names.append(operand)
    found = dict.fromkeys(it.text for it in names if it.text not in labels | TRUTHS.keys())
    return addresses_of(it for it in found if not re.fullmatch(dialect.registers, it))


def addresses_of(locations: Iterable[str], apart: int = _APART) -> Mapping[str, int]:
    """Locations with the numbers that stand for their addresses, which are so far apart."""
    return {name: _FIRST + apart * number for number, name in enumerate(locations)}


def _locations(
    test: Columns,
    dialect: Dialect,
    problems: Problems,
    names: Iterable[str],
    numbers: Mapping[str, int] | None,
) -> dict[str, Location]:
    """What the initial state declares, then all others, which are global.

    numbers: as of `stated`.
    """
    found: dict[str, Location] = {}
    for name, (entry, value) in initial_values(test.entries, problems, numbers).items():
        if re.fullmatch(dialect.registers, name):
            message = f"a location must not be called as a register is, {quote(name)}"
            problems.error(entry.name.span, message, f"write `0:{name}` for the register of P0")
        space = entry.specifiers[0].text if entry.specifiers and dialect.is_open else GLOBAL
        span = entry.specifiers[0].span if entry.specifiers else entry.span
        found[name] = Location(name, False, space, value, span)
    for name in names:
        found.setdefault(name, Location(name, False, GLOBAL, 0, test.span))
    return found


class Column(TableExecutor):
    """The instructions of a thread, which may be those of any machine. index: of the thread."""

    def __init__(self, frame: Frame, name: str, index: int, first: int = 0) -> None:
        dialect = frame.dialect
        super().__init__(
            instruction_set(dialect.instructions),
            re.compile(dialect.registers),
            frame.addresses,
            frame.registers[name],
            first,
            spelled=dialect.spelled,
            zero=dialect.zero,
            anywhere=dialect.anywhere,
        )
        self._thread, self._found, self._is_open = index, frame.problems, dialect.is_open
        self._dialect = dialect
        self._texts: dict[Span, InstructionText] = {}
        self.lost: Collection[str] = ()
        """The registers of which it is not known what they have in the end."""

    def run(
        self, code: Iterable[InstructionText | LabelText]
    ) -> tuple[tuple[Operation, ...], Mapping[str, Expression]]:
        """The operations of the thread, and what its registers have in the end."""
        lines = self.lines(code)
        end = [Label(_END, it.span) for it in lines[-1:]]
        self.follow([*(Jump(_END, it.span) if self.ends_there(it) else it for it in lines), *end])
        for each in self.problems:
            assert each.span is not None
            self._found.unsupported(each.span, each.message)
        values = {} if self.state is None else self.state.values
        self.lost = {name for name, it in values.items() if is_lost(it)}
        registers = {
            name: substituted(self._number(it), lambda i: Constant(0) if i < 0 else Read(i))
            for name, it in values.items()
            if self._registers.fullmatch(name)
        }
        return tuple(operation_of(it, self._thread) for it in self.events), registers

    def lines(self, code: Iterable[InstructionText | LabelText]) -> list[Line]:
        """What is executed; registers have their values before it."""
        code = [*code]
        if self._dialect.bare:
            code = [_without_brackets(each) for each in code]
        if not self._is_open:
            self._begin_at_0(code)
        return [self._line(each) for each in code]

    @property
    def faults(self) -> Iterator[Fault]:
        """Where its accesses may be of no location."""
        for it in self.events:
            if isinstance(it, Event) and it.beyond is not False:
                span, what = it.instruction.span, f"accesses memory beyond {it.location}"
                yield Fault(BEYOND, self._thread, it.index, expression(it.beyond), span, what)

    @property
    def barriers(self) -> list[Event]:
        """Where it waits for other threads."""
        return [it for it in self.events if isinstance(it, Event) and it.form.meets]

    @property
    def spins(self) -> Iterator[Spin]:
        """Its loops, by their last iterations."""
        return (spin_of(it, self._thread) for it in self.rounds)

    def _line(self, it: InstructionText | LabelText) -> Line:
        if isinstance(it, InstructionText):
            self._texts[it.span] = it
        return line_of(it, self._found)

    def form(self, it: Instruction) -> Form:
        """The instruction of the set; or what its operands say."""
        text = self._texts[it.span]
        if not self._is_open:
            return super().form(it)
        found = self._set.form(it.mnemonic, it.operands)
        accesses = found is not None and found.address is not None
        if found is None or (accesses and len(text.operands) < 3) or found.any_operands:
            shape = "".join(map(self._letter, text.operands))
            if shape not in _BY_OPERANDS:
                self._not_such(text)
            by_operands = _BY_OPERANDS[shape]
            if found is None or found.operands != by_operands.operands:
                name = it.mnemonic if found is None else found.name
                found = replace(by_operands, mnemonic=it.mnemonic, name=name)
        targets = {found.result, *(name for name, _ in found.sets)}
        for letter, operand in zip(found.operands, text.operands, strict=False):
            if letter not in targets and isinstance(operand, Name):
                self._require_value(operand)
        return found

    def _letter(self, operand: Operand) -> str:
        if isinstance(operand, Integer):
            return "v"
        return "r" if self._registers.fullmatch(operand.text) else "x"

    def _require_value(self, operand: Name) -> None:
        """Note a register that has no value yet, and give it one."""
        assert self.state is not None
        name = operand.text
        if name not in self.state.values and self._registers.fullmatch(name):
            message = f"{quote(name)} must have a value before P{self._thread} uses it"
            hint = f"write `{self._thread}:{name}=0;` in the initial state"
            self._found.error(operand.span, message, hint)
            self._put(name, Constant(0), {})

    def _begin_at_0(self, code: Iterable[Node]) -> None:
        """Registers have 0 at first, as herd has it."""
        assert self.state is not None
        for it in (each for line in code for each in walk(line) if isinstance(each, Name)):
            register = self._spelled(it.text)
            if self._registers.fullmatch(it.text) and register not in self.state.values:
                self._put(register, Constant(0), {})

    def _not_such(self, it: InstructionText) -> None:
        """Note operands that mean nothing here; what is said of their register may be right."""
        for each in it.operands[:1]:
            if self._letter(each) == "r":
                self._put(each.text, Constant(0), {})
        may = "`r1, x` (it loads), `x, 1` or `x, r1` (it stores), or none"
        if len(it.operands) > 2:
            message = f"an instruction with {len(it.operands)} operands is not supported: "
            self._found.unsupported(it.span, message + quote(it.name.text), f"operands are {may}")
        else:
            written = ", ".join(each.text for each in it.operands)
            hint = "registers are called r0, r1 and so on; any other name is that of a location"
            message = f"the operands of {quote(it.name.text)} must be {may}, not {quote(written)}"
            self._found.error(it.span, message, hint)
        raise SkippedError

    def step(self, together: Sequence[Instruction]) -> None:
        """One instruction after the other, but for those of which a mistake was told."""
        for it in together:
            with suppress(SkippedError):
                super().step([it])


def line_of(it: InstructionText | LabelText, problems: Problems) -> Line:
    """A cell as a line of code."""
    if isinstance(it, LabelText):
        return Label(it.name.text, it.span)
    operands = (
        str(number(each, problems, wider=True)) if isinstance(each, Integer) else each.text
        for each in it.operands
    )
    return Instruction(it.name.text, tuple(operands), (), it.span)


def operation_of(it: Event | Choice, thread: int) -> Operation:
    """What executing an instruction does, as an operation of a thread."""
    operation = Operation(
        index=it.index,
        thread=thread,
        kind=Kind.CHOICE,
        location=None,
        order=None,
        scope=None,
        remote=False,
        guard=expression(it.guard),
        value=None,
        span=it.instruction.span,
        instruction=it.instruction.mnemonic,
    )
    if isinstance(it, Choice):
        return operation
    form = it.form
    return replace(
        operation,
        kind=kind_of(form, it.location is not None),
        location=it.location,
        value=it.value,
        success=it.success,
        regions=frozenset() if "fetch" in form.words else operation.regions,
        instruction=form.name,
        tags=form.tags,
        textual=Dependencies.of(it.address, it.data, it.control),
        pair=it.pair,
        label=it.label,
        whole="whole" in form.words,
    )


def kind_of(form: Form, accesses: bool) -> Kind:
    """What an instruction is that accesses memory, or does not."""
    if not accesses:
        return Kind.FENCE if "fence" in form.words else Kind.EVENT
    if form.written is None:
        return Kind.LOAD
    return Kind.RMW if form.reads else Kind.STORE


def spin_of(it: Round, thread: int) -> Spin:
    """A loop of a thread, by its last iteration."""
    return Spin(thread, expression(it.guard), it.first, it.end, it.instruction.span)


def _without_brackets(it: InstructionText | LabelText) -> InstructionText | LabelText:
    """An instruction with `[x]` as `x`."""
    if isinstance(it, LabelText):
        return it
    inside = (each.inside if isinstance(each, Joined) else (each,) for each in it.operands)
    operands = (
        own[0] if len(own) == 1 else each for own, each in zip(inside, it.operands, strict=True)
    )
    return replace(it, operands=tuple(operands))


class SkippedError(Exception):
    """An instruction means nothing, and its mistake was told."""
