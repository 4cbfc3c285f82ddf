"""What a compiler makes of the operations of tests, as rows whose code can be changed.

A row is for operations of one kind, scope and memory that became one code. An operation has several
rows where the compiler finds a wait needless in some places. Which instructions belong to an
operation is as executions show them. Waits for a part of what was issued are for registers, and
belong to no row. A barrier is a fence before the rendezvous, and one behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from rspverify.architecture.architecture import Architecture
from rspverify.assembly.program import AssemblyProgram, Instruction
from rspverify.compilers.gpus import ForGpu
from rspverify.compilers.programs import read_as
from rspverify.litmus.program import Kind, Operation, Order, Program
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Row, Shape, Template, shape_of
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Source, Span

Text = tuple[str, ...]
Parts = list[tuple[Shape, list[Instruction]]]
"""Operations, and the instructions that belong to each."""


class Observed(Scheme, frozen=True, kw_only=True):
    """A compiler, and what operations of tests became as its rows.

    of: by an operation and its code the number of their row. A row that now has another code says
    what becomes of that in whatever the compiler emits.
    """

    compiler: ForGpu
    of: Mapping[tuple[Shape, Text], int]

    @property
    def whole(self) -> bool:
        """It translates whole programs, as its compiler does."""
        return True

    def on_machine(self, machine: Architecture) -> Observed:
        """The same with its code on another machine. Raises InputError."""
        rows = super().on_machine(machine).rows
        compiler = self.compiler.on_machine(machine)
        return replace(self, machine=machine, rows=rows, compiler=compiler)

    def prepare(self, programs: Iterable[Program]) -> None:
        """Compile tests, many at a time."""
        self.compiler.prepare(programs)

    def code_of(self, program: Callable[[], Program]) -> Source:
        """What is emitted for a program."""
        return self.compiler.code_of(program)

    def key(self, program: Program) -> tuple[object, ...]:
        """What is emitted, and which codes in it become others."""
        codes = {(text(part), row.text) for row, part in self._rows_in(self._parts(program))}
        changed = sorted((was, now) for was, now in codes if was != now)
        return *self.compiler.key(program), *changed

    def rows_used(self, program: Program) -> tuple[Row, ...]:
        """The rows of its operations, in the order of the table."""
        numbers = {row.number for row, _ in self._rows_in(self._parts(program))}
        return tuple(row for row in self.rows if row.number in numbers)

    def compiled(self, program: Program) -> AssemblyProgram:
        """What was emitted, with the code of the rows. Raises InputError."""
        made = self.compiler.compiled(program)
        became: dict[int, Instruction | None] = {}
        for row, part in self._rows_in(parts(made, program)):
            if row.text != text(part):
                became |= dict.fromkeys((it.index for it in part), None)
                became |= _placed(part, row.code)
        code = [[became.get(it.index, it) for it in thread] for thread in made.code]
        return replace(made, code=_numbered(code))

    def _parts(self, program: Program) -> Parts:
        return parts(self.compiler.compiled(program), program)

    def _rows_in(self, found: Parts) -> Iterator[tuple[Row, list[Instruction]]]:
        for shape, part in found:
            if (number := self.of.get((shape, text(part)))) is not None:
                yield self.rows[number - 1], part


def observed(compiler: ForGpu, programs: Iterable[Program]) -> Observed:
    """A compiler with a row for each code that operations of programs become, as far as these can
    be compiled."""
    programs = list(programs)
    compiler.prepare(programs)
    rows: dict[object, Row] = {}
    of: dict[tuple[Shape, Text], int] = {}
    for program in programs:
        try:
            found = parts(compiler.compiled(program), program)
        except InputError:
            continue  # It will be said where the test is asked about.
        for shape, part in found:
            key = replace(shape, order=None), text(part)
            row = rows.get(key) or _row(len(rows) + 1, shape, part)
            orders = row.orders | ({shape.order} if shape.order else set())
            rows[key] = replace(row, orders=orders, named=orders)
            of[shape, text(part)] = row.number
    return Observed(
        compiler.name,
        compiler.machine,
        tuple(rows.values()),
        compiler.source,
        compiler.origin,
        compiler=compiler,
        of=of,
    )


def parts(made: AssemblyProgram, program: Program) -> Parts:
    """The operations of a program that may have rows, each with its instructions."""
    operations, arrived = read_as(program).operations, set[int]()
    by_operation: dict[tuple[int, bool], list[Instruction]] = {}
    for it in made.instructions:
        if it.label is not None:
            arrived.add(it.operation)
        elif not it.waits:
            key = it.operation, it.operation in arrived
            by_operation.setdefault(key, []).append(it)
    shapes = (
        (_half(operations[number], arrived=behind) or shape_of(operations[number]), part)
        for (number, behind), part in by_operation.items()
    )
    return [(shape, part) for shape, part in shapes if shape is not None]


def _half(it: Operation, *, arrived: bool) -> Shape | None:
    """The fence before the rendezvous of a barrier, and the one behind it."""
    if it.kind is not Kind.BARRIER:
        return None
    order = Order.ACQUIRE if arrived else Order.RELEASE
    return Shape(Op.FENCE, it.scope, order, False, it.regions)


def text(part: Iterable[Instruction]) -> Text:
    """Instructions as a row has them."""
    return tuple(it.mnemonic.written(it.mnemonic.operands) for it in part)


def _row(number: int, shape: Shape, part: list[Instruction]) -> Row:
    """Each instruction of its code knows its place in the part by its line."""
    source = Source(f"row {number}", "\n".join(text(part)))
    spans = [Span(source, at, 1, at, len(line) + 1) for at, line in enumerate(text(part), 1)]
    return Row(
        number,
        shape.kind,
        frozenset({shape.scope}),
        frozenset(),
        frozenset() if shape.order is None else frozenset({False}),
        spans[0],
        memories=frozenset({shape.memory}),
        results=frozenset({shape.used}),
        code=tuple(Template(it.mnemonic, None, at) for it, at in zip(part, spans, strict=True)),
    )


def _placed(part: list[Instruction], code: Iterable[Template]) -> Iterator[tuple[int, Instruction]]:
    """What stands where instructions of a part stood; what is gone leaves its place empty."""
    code = list(code)
    places = sorted(it.span.line for it in code)
    for it, place in zip(code, places, strict=True):
        yield part[place - 1].index, replace(part[it.span.line - 1], mnemonic=it.mnemonic)


def _numbered(code: list[list[Instruction | None]]) -> tuple[tuple[Instruction, ...], ...]:
    """The instructions that are left, numbered anew."""
    left = [[it for it in thread if it is not None] for thread in code]
    fresh, number = count(), dict[int, int]()
    for it in (each for thread in left for each in thread):
        number[it.index] = next(fresh)

    def named(it: Instruction) -> Instruction:
        waits = frozenset(number[each] for each in it.waits if each in number)
        return replace(it, index=number[it.index], waits=waits)

    return tuple(tuple(map(named, thread)) for thread in left)
