"""A table from source operations to assembly, and what a program becomes by it.

Each operation becomes the code of its row; what it computes with stays in registers, so that the
code depends on reads as the text of the program does. A branch of the source is a branch before the
operation, and everything behind it depends on what it looked at.
"""

from __future__ import annotations

import os.path
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count, product
from math import prod
from pathlib import Path
from typing import Any

from msgspec import Struct

from rspverify.architecture.architecture import Architecture
from rspverify.assembly.program import Seen
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.isa.addresses import Address, CannotReadError
from rspverify.isa.by_table import Event, TableExecutor
from rspverify.isa.conditions import Condition, both, condition_of, implies, negated
from rspverify.isa.execution import CONTROL, Depends, State
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction, Line
from rspverify.litmus.assembly import addresses_of, kind_of, operation_of, spin_of
from rspverify.litmus.program import (
    Cut,
    Kind,
    Operation,
    Program,
    Scope,
    Spin,
    Thread,
)
from rspverify.mapping.folding import deciding, folded
from rspverify.mapping.items import OPERATOR, SCOPE, Item, filled
from rspverify.mapping.mapped import Mapped
from rspverify.mapping.targets import Target
from rspverify.records import replace
from rspverify.scheme.compile import beyond
from rspverify.scheme.row import OfOperations, Shape, shape_of
from rspverify.scheme.rows import OfRows, Steps, first_rows
from rspverify.source import InputError, Problem, Severity, Source, Span
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    parts,
    reads,
    substituted,
)

NAMES = "[rxve]|t[0-9]*"
"""What rows call the result, the location, what is written, what is expected, and temporaries."""

MOST_MIXED = 256
"""So many programs a mixed table may make of a test."""


class FromC(OfOperations, frozen=True, dict=True):
    """A row for operations of C, and the code of the target that they become. part: the table that
    it is of, in one of several."""

    code: tuple[Item, ...] = ()
    part: str = ""

    def __str__(self) -> str:
        return _within(self.part, super().__str__())

    @property
    def adds(self) -> bool:
        """Code for a target does what its operation does."""
        return False


class Translated(Struct, frozen=True):
    """A row for an instruction of another architecture. form: what it is there; spelled: as the
    table has it. part: the table that it is of, in one of several."""

    number: int
    form: Form
    spelled: str
    code: tuple[Item, ...]
    span: Span
    part: str = ""

    @property
    def text(self) -> tuple[str, ...]:
        """Its code as text."""
        return tuple(map(str, self.code))

    def matches(self, it: Operation) -> bool:
        """Whether an operation is this instruction."""
        return (it.instruction, it.kind, it.tags) == (
            self.form.name,
            kind_of(self.form, self.form.address is not None),
            self.form.tags,
        )

    @property
    def scopes(self) -> frozenset[Scope | None]:
        """An instruction has no scope."""
        return frozenset()

    def __str__(self) -> str:
        return _within(self.part, self.spelled)


def _within(part: str, row: str) -> str:
    return f"{part}: {row}" if part else row


class Table(OfRows, Struct, frozen=True, dict=True):
    """A table for a target. under: the model, if it is not the target's own. origin: where the
    table is taken from, in the author's words. translates: the architecture whose instructions it
    translates; None where it translates C. parts: in place of rows, tables of which each operation
    may have the code of any, as in object files that are linked.
    """

    name: str
    target: Target
    rows: tuple[FromC | Translated, ...]
    source: Source
    origin: str | None = None
    note: str | None = None
    under: str | None = None
    translates: Target | None = None
    parts: tuple[Table, ...] = ()

    @property
    def machine(self) -> None:
        """None: a model says what the executions of its code are."""
        return None

    @property
    def identity(self) -> str:
        """What keys have of the model that judges its code, and of its parts."""
        return " ".join([self.model.text_digest, *(it.source.digest for it in self.parts)])

    @property
    def path(self) -> str:
        """The file of that model, or of its parts; empty where there are none that may change."""
        return self._model_file or ", ".join(it.source.name for it in self.parts)

    @property
    def _model_file(self) -> str:
        return "" if self.under is None or self.under in shipped_models() else self.under

    @property
    def language(self) -> str | None:
        """Of the assembly that it translates from; None where it is from C."""
        return None if self.translates is None else self.translates.language

    @property
    def runs_on(self) -> str:
        """The name of its target."""
        return self.target.name

    @cached_property
    def model(self) -> MemoryModel:
        """The model that judges its code. Raises InputError."""
        if self._model_file:
            return load_model(str(Path(self.source.name).parent / self._model_file))
        return load_model(self.under or self.target.model)

    def head(self, *, anywhere: bool) -> dict[str, str]:
        """What its file says of what it is for (rspverify/scheme/writer.py)."""
        under = self.under or ""
        if anywhere and self._model_file:
            under = os.path.abspath(Path(self.source.name).parent / under)
        said = {"from": self.translates and self.translates.name, "under": under}
        return {"target": self.target.name} | {key: it for key, it in said.items() if it}

    @cached_property
    def joined(self) -> Table:
        """It; one of several tables with the rows of all, each with a number of its own."""
        if self.rows:
            return self
        parts: list[Table] = []
        numbers = count(1)
        for part in self.parts:
            rows = (replace(row, number=next(numbers), part=part.name) for row in part.rows)
            parts.append(replace(part, rows=tuple(rows)))
        every = tuple(row for part in parts for row in part.rows)
        return replace(self, rows=every, parts=tuple(parts))

    def with_code(self, number: int, code: tuple[Any, ...]) -> Table:
        """The same table but for the code of one row, also in the part that it is of. Raises
        InputError."""
        made = super().with_code(number, code)
        rows = {row.number: row for row in made.rows}
        parts = (replace(it, rows=tuple(rows[row.number] for row in it.rows)) for it in self.parts)
        return replace(made, parts=tuple(parts))

    @property
    def has_strengths(self) -> bool:
        """Whether it is known which of its instructions are stronger."""
        return bool(instruction_set(self.target.dialect.instructions).prices)

    @property
    def steps(self) -> Steps:
        """What its instructions are one step away from."""
        from rspverify.mapping.strength import StepsOfTarget, strengths

        return StepsOfTarget(strengths(self, loosely=True))

    @cached_property
    def table(self) -> Mapping[Shape, FromC]:
        """The row of each shape of operation that has one."""
        return first_rows(it for it in self.rows if isinstance(it, FromC))

    def on_machine(self, machine: Architecture) -> Table:
        """Raises InputError: a model says what the executions of its code are."""
        message = f"table {self.name} is for {self.target.name}, which is no machine"
        raise InputError([Problem(None, f"{message}: --machine must be left out")])

    def key(self, program: Program) -> tuple[object, ...]:
        """The code of each operation, and what judges it."""
        made = self.compiled(program)
        code = tuple(sorted(it.texts.items()) for it in made.all)
        return self.target.name, self.model.text_digest, code, program.folded

    def row_for(self, operation: Operation) -> FromC | Translated | None:
        """The row that translates an operation, if there is one; None where it may be that of any
        of several tables."""
        if self.parts:
            return None
        if operation.instruction is not None:
            known = (it for it in self.rows if isinstance(it, Translated))
            return next((it for it in known if it.matches(operation)), None)
        shape = shape_of(operation)
        return None if shape is None else self.row_of(shape)

    def rows_of(self, operation: Operation) -> tuple[FromC | Translated, ...]:
        """The rows that say what an operation becomes."""
        found = (it.row_for(operation) for it in self.parts or (self,))
        return tuple(row for row in found if row is not None)

    def row_of(self, shape: Shape) -> FromC | None:
        """The row of a shape: a table without scopes has those of operations of any scope."""
        scoped = shape if self.has_scopes else replace(shape, scope=None, remote=False)
        return self.table.get(scoped)

    @cached_property
    def has_scopes(self) -> bool:
        """Whether some row is for operations of one scope."""
        its = any(row.scopes - {None} for row in self.rows if isinstance(row, FromC))
        return its or any(it.has_scopes for it in self.parts)

    def compiled(self, program: Program) -> Mapped:
        """The program of the target. Raises InputError, with a problem for each operation that has
        no row."""
        if self.language not in (None, program.language):
            message = f"table {self.name} translates {self.language}, and not {program.language}"
            raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
        tables = self.parts or (self,)
        problems = [
            Problem(it.span, why, severity=Severity.UNSUPPORTED)
            for it in program.operations
            for table in tables
            if (why := table._unsupported(it, program)) is not None
        ]
        if problems:
            raise InputError(problems)
        choices = [_different(it, tables) for it in program.operations]
        if (number := prod(map(len, choices))) > MOST_MIXED:
            message = f"a mixed table must make at most {MOST_MIXED} programs of a test, not"
            raise InputError(
                [Problem(None, f"{message} {number:,}", severity=Severity.UNSUPPORTED)]
            )
        first, *others = (self._made(program, chosen) for chosen in product(*choices))
        return replace(first, others=tuple(others))

    def _made(self, program: Program, chosen: Sequence[Table]) -> Mapped:
        """The program of the target, where each operation has the code of this table."""
        threads: list[_Thread] = []
        for thread in program.threads:
            first = sum(len(each.events) for each in threads)
            threads.append(_Thread(chosen, program, thread, first))
            threads[-1].require()
        made = replace(
            program,
            language=self.target.language,
            locations=tuple(replace(it, atomic=False, mutex=False) for it in program.locations),
            threads=tuple(each.thread for each in threads),
            condition=None,
            watched=(),
            cuts=tuple(each for it in threads for each in it.cuts),
            spins=tuple(each for it in threads for each in it.spins),
            unrolled=None,
            faults=(),
        )
        own = made.operations
        seen = tuple(
            Seen(index, own[read].guard, Read(read))
            for each in threads
            for index, read in each.told.items()
        )
        texts = {index: text for each in threads for index, text in each.texts.items()}
        return Mapped(made, self.model, seen, texts)

    def _unsupported(self, it: Operation, program: Program) -> str | None:
        """Why an operation cannot be translated."""
        if (reason := beyond(it, program)) is not None:
            return f"{it} is beyond every scheme: it {reason}"
        if it.kind is Kind.BARRIER:
            return f"{it} is beyond tables for a target: its architecture has no barriers"
        row = self.row_for(it)
        if row is None:
            what = it.instruction or shape_of(it)
            return f"table {self.name} has no row for {what}"
        if it.remote and self.target.scopes:
            return f"remote-scope promotion is beyond tables for {self.target.name}"
        words = self.words(it)
        for sign in (OPERATOR, SCOPE):
            if sign not in words and any(sign in text for text in row.text):
                operator, scope = _operator(it), it.scope
                what = f"the scope {scope.value}" if scope else "an operation without a scope"
                if sign == OPERATOR:
                    what = "what is no rmw" if operator is None else f"an rmw by {operator!r}"
                return f"tables for {self.target.name} have no {sign} for {what}"
        return None

    def words(self, it: Operation) -> Mapping[str, str]:
        """What stands in the code of an operation for its operator and its scope."""
        operator, scope = self.target.operators.get(_operator(it) or ""), None
        if it.scope is not None:
            scope = self.target.scopes.get(it.scope)
        words = ((OPERATOR, operator), (SCOPE, scope))
        return {sign: word for sign, word in words if word is not None}


class RowExecutor(TableExecutor):
    """Executes the code of rows, in which the operands of operations have names."""

    def __init__(self, target: Target, locations: Iterable[str], first: int = 0) -> None:
        dialect = target.dialect
        super().__init__(
            instruction_set(dialect.instructions),
            re.compile(f"{dialect.registers}|{NAMES}"),
            addresses_of(locations),
            {},
            first,
            spelled=lambda name: name if re.fullmatch(NAMES, name) else dialect.spelled(name),
            zero=dialect.zero,
            anywhere=dialect.anywhere,
        )

    def execute(self, it: Instruction) -> None:
        """What an instruction does; `OP t,r,v` computes what an RMW writes."""
        if it.mnemonic == "OP":
            to, old, by = map(self._register_of, it.operands)
            before = self.operand(old)
            if isinstance(before, Address):
                raise CannotReadError("calculates with an address")
            self._put(self._register(to), *self.operated(before, old, by))
        else:
            super().execute(it)

    @abstractmethod
    def operated(self, before: Expression, old: str, by: str) -> tuple[Expression, Depends]:
        """What the operator of the operation makes of what was read, and the reads that this comes
        from. old, by: the registers of both operands. Raises CannotReadError."""


class _Thread(RowExecutor):
    """The code of a thread of a source program, as it is executed."""

    def __init__(
        self, tables: Sequence[Table], program: Program, thread: Thread, first: int
    ) -> None:
        super().__init__(tables[0].target, (it.name for it in program.locations), first)
        self._tables, self._program, self._own = tables, program, thread
        self._start, self._passed_loops = first, -1
        self._taken: list[tuple[Condition, frozenset[int]]] = []
        self._given: dict[int, Expression] = {}
        self._from: dict[int, frozenset[int]] = {}
        self._operation: Operation | None = None
        self._first: dict[int, int] = {}
        self._spans: list[Span] = []
        self._guards_left = deciding(thread.operations) if program.folded else {}
        self.told: dict[int, int] = {}
        self.texts: dict[int, tuple[str, ...]] = {}
        for each in thread.operations:
            self._translate(each)

    def _translate(self, it: Operation) -> None:
        table = self._tables[it.index]
        row = table.row_for(it)
        assert row is not None and self.state is not None
        self._operation, self._first[it.index] = it, self._next
        self.forget_labels()
        words = table.words(it)
        self.texts[it.index] = tuple(filled(each, words) for each in row.text)
        path = self._over(it.guard)
        values: dict[str, Expression | Address] = {}
        sources: dict[str, frozenset[int]] = {}
        operand = _operand(it)
        for name, value in (("v", operand), ("e", _expected(it))):
            if value is not None:
                value = self._folded(value)
                values[name], looked_at = self._over(value), reads(value)
                if it.textual is not None and name == "v":
                    looked_at = it.data & looked_at if self._program.folded else it.data
                sources[name] = self._depends(looked_at)
        if it.location is not None:
            values["x"] = Address(it.location)
            address = it.address
            if it.choice is not None and it.textual is None:
                address = reads(self._folded(it.choice.index))
            sources["x"] = self._depends(address)
        where = condition_of(path)
        if where is False:  # It is never executed.
            self._given[it.index] = Constant(0)
            return
        if not (row.code or it.gives):  # Nor is there a branch around what is nothing.
            return
        self._pass_loops(it.index)
        if it.textual is not None:
            self._taken.append((True, self._depends(it.control)))
        else:
            guard = it.guard if it.choice is None else it.choice.path
            self._taken += self._branched(self._guards_left.get(it.index, guard), True)
        control = self._control(where)
        chosen = [operand, _expected(it), None if it.choice is None else it.choice.index]
        if control is None or any(each is not None and _chooses(each) for each in chosen):
            what = "depends on a read on some of the ways to it only"
            self.refuse(it.span, f"{it} {what}, which tables do not know yet")
            return
        sources[CONTROL] = control
        whence = {name: dict.fromkeys(own, True) for name, own in sources.items()}
        self.state = State(where, values, whence)
        self.follow(named(each, words) for own in row.code for each in own.lines)
        self._spans += [it.span] * (len(self.events) - len(self._spans))
        if self.state is not None:
            behind = frozenset(self.state.depends(CONTROL))
            self._taken.append((where, behind - control))
        if it.gives:
            result = self.state.values.get("r") if self.state else None
            if not isinstance(result, Read):
                self.refuse(row.span, f"the code of {row} must leave one read in r")
                return
            self.told[it.index] = result.index
            self._given[it.index] = result
            self._from[it.index] = frozenset(self.state.depends("r"))

    def operated(self, before: Expression, old: str, by: str) -> tuple[Expression, Depends]:
        """What an RMW writes; what is exchanged does not depend on what was there."""
        assert self.state is not None and self._operation is not None
        value, own, state = self._operation.value, self._operation.index, self.state
        if value is None:
            raise CannotReadError("calculates with an address")
        result = substituted(value, lambda i: before if i == own else self._read(i))
        return result, {**state.depends(by), **(state.depends(old) if own in reads(value) else {})}

    def _pass_loops(self, index: int) -> None:
        """Note the branches of the loops that end before an operation."""
        ends = [(it.end, it.guard) for it in self._program.spins if it.thread == self._own.index]
        ends += [(it.at, it.guard) for it in self._program.cuts if it.thread == self._own.index]
        for end, guard in ends:
            if self._passed_loops < end <= index:
                self._taken += self._branched(guard, True)
        self._passed_loops = index

    def _branched(
        self, it: Expression, where: Condition
    ) -> Iterator[tuple[Condition, frozenset[int]]]:
        """The branches of a condition, each with where it is come to and what it looks at."""
        match it:
            case Binary("&&" | "||" as operator, left, right):
                yield from self._branched(left, where)
                holds = condition_of(self._over(left))
                goes_on = holds if operator == "&&" else negated(holds)
                yield from self._branched(right, both(where, goes_on))
            case Unary("!", argument):
                yield from self._branched(argument, where)
            case _:
                yield where, self._depends(reads(self._folded(it)))

    def _control(self, where: Condition) -> frozenset[int] | None:
        """The reads on which branches before depend, on a path; None where it is one on a part of
        the path alone."""
        sure = frozenset[int]().union(*(of for at, of in self._taken if implies(where, at)))
        for at, of in self._taken:
            if not self.silent(of - sure, both(where, negated(at))):
                if both(where, at) is not False:
                    return None
        return sure

    def _folded(self, it: Expression) -> Expression:
        """An expression as the compiler leaves it."""
        return folded(it) if self._program.folded else it

    def _over(self, it: Expression) -> Expression:
        """An expression of the source over what the code has read."""
        return substituted(it, self._read)

    def _read(self, index: int) -> Expression:
        """What gives the result of an operation; anything where one before was refused."""
        return Constant(0) if self.problems and index not in self._given else self._given[index]

    def _depends(self, on: Iterable[int]) -> frozenset[int]:
        return frozenset[int]().union(*(self._from.get(each, ()) for each in on))

    # ---- what it becomes -------------------------------------------------------------------------

    @property
    def thread(self) -> Thread:
        """The thread of the target, each operation where that of the source stands."""
        made = tuple(
            replace(operation_of(it, self._own.index), span=span)
            for it, span in zip(self.events, self._spans, strict=True)
        )
        registers = {name: self._over(it) for name, it in self._own.registers.items()}
        return replace(self._own, operations=made, registers=registers)

    def _place(self, index: int) -> int:
        """The first event of an operation of the source, or of what follows it."""
        later = [event for it, event in self._first.items() if it >= index]
        return min(later, default=self._next)

    @property
    def cuts(self) -> list[Cut]:
        """Where the unrolling of its loops ends."""
        own = [it for it in self._program.cuts if it.thread == self._own.index]
        return [replace(it, guard=self._over(it.guard), at=self._place(it.at)) for it in own]

    @property
    def spins(self) -> list[Spin]:
        """Its loops that only spin: those of the source, and those of store-exclusives."""
        own = [it for it in self._program.spins if it.thread == self._own.index]
        return [*map(self._spin, own), *(spin_of(it, self._own.index) for it in self.rounds)]

    def _spin(self, it: Spin) -> Spin:
        """A loop of the source in the code, where an iteration that goes on may write."""
        guard, first, end = self._over(it.guard), self._place(it.first), self._place(it.end)
        goes_on = condition_of(guard)
        rmws = frozenset(
            event.index
            for event in self.events[first - self._start : end - self._start]
            if isinstance(event, Event)
            and event.form.written is not None
            and both(both(event.guard, _where(event.success)), goes_on) is not False
        )
        return replace(it, guard=guard, first=first, end=end, rmws=rmws, faults=())


def _different(it: Operation, tables: Sequence[Table]) -> list[Table]:
    """The tables that give an operation different code."""
    rows = [(table, table.row_for(it)) for table in tables]
    found: dict[tuple[str, ...], Table] = {}
    for table, row in rows:
        found.setdefault(row.text if row else (), table)
    return [*found.values()]


def _chooses(it: Expression) -> bool:
    """Whether a value is chosen by a condition, so that it depends on what is chosen alone."""
    return isinstance(it, Select) or any(map(_chooses, parts(it)))


def _where(success: Expression | None) -> Condition:
    return True if success is None else condition_of(success)


def _operand(it: Operation) -> Expression | None:
    """What an operation stores, or does with what it has read."""
    if it.kind is not Kind.RMW or it.operand is not None:
        return it.operand or it.value
    match it.value:
        case Binary(_, Read(index), operand) if index == it.index:
            return operand
    return it.value


def _operator(it: Operation) -> str | None:
    """What a read-modify-write does with its operand."""
    if it.operator is not None or it.kind is not Kind.RMW or it.success is not None:
        return it.operator
    match it.value:
        case Binary(operator, Read(index), _) if index == it.index:
            return operator
    return "exchange"


def _expected(it: Operation) -> Expression | None:
    """What a compare-exchange expects: `success` is `Read(index) == e`."""
    match it.success:
        case Binary("==", Read(index), expected) if index == it.index:
            return expected
        case Binary("==", expected, Read(index)) if index == it.index:
            return expected
    return None


def named(it: Line, words: Mapping[str, str]) -> Line:
    """A line with what its signs stand for."""
    if isinstance(it, Instruction) and "{" in it.mnemonic:
        return replace(it, mnemonic=filled(it.mnemonic, words))
    return it
