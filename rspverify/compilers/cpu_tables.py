"""The table by which a compiler translates atomics for a processor, read out of what it emits.

The code of each operation is cut out of a function with nothing else (rows.py). That it is a row is
shown by programs: the table must make the same events of each as the compiler does, with the same
values and dependencies. The programs have all operators of an RMW, all pairs of orders of a
compare-exchange that count as one, results that are looked at and that are not, and accesses of
other locations before and behind the operation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce

from rspverify.compilers.cpus import ForCpu, Linked
from rspverify.compilers.llvm import Kind
from rspverify.compilers.operations import (
    OPERATORS,
    PLACES,
    RESULT,
    Around,
    program_of,
    shapes,
    spellings,
    surroundings,
)
from rspverify.compilers.programs import APART
from rspverify.compilers.rows import row_code
from rspverify.compilers.tables import NON_ATOMIC, Extraction, TableRow
from rspverify.isa.conditions import Condition, both, condition_of, expression, negated
from rspverify.isa.lines import Instruction
from rspverify.litmus.program import Operation, Program
from rspverify.mapping.mapped import Mapped
from rspverify.mapping.reader import read_table
from rspverify.mapping.table import Table
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.scheme.row import UNUSED, Shape
from rspverify.shipped import SCHEMES
from rspverify.source import InputError, Problem, Source, read_source
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    renumbered,
    select,
    substituted,
    unary,
    wrap,
)
from rspverify.wording import alternatives, in_a_file_name

_PUBLISHED = {
    "aarch64": "c11/c11-aarch64",
    "aarch64+lse": "c11/c11-aarch64-lse",
    "aarch64+rcpc": "c11/c11-aarch64-rcpc",
    "x86-64": "c11/c11-x86-xchg",
    "riscv64": "c11/c11-riscv-psabi",
    "riscv64+zalasr": "c11/c11-riscv-zalasr",
    "riscv64+ztso": "c11/c11-riscv-ztso",
    "ppc64le": "c11/c11-power-leading",
    "nvptx": "gpus/ptx-abi-13.1",
}
"""The tables that ship for the ABI of a processor, without or with a feature."""

_EITHER_WAY = ("+", "&", "|", "^", "==", "!=")
"""Operators that do not depend on the order of their operands."""

_OTHER = "must have the code of its row"

Codes = Mapping[Shape, tuple[str, ...]]


def cpu_table(
    compiler: ForCpu,
    *,
    operators: Sequence[str] = tuple(OPERATORS),
    kinds: Collection[Op] = tuple(Op),
) -> Extraction:
    """The table of a compiler for a processor, for loads, stores and some kinds of operations.

    operators: of the RMWs that rows are for, the first of which stands for all. What cannot be
    read, or is no row, is left out. Raises InputError where nothing is left.
    """
    if isinstance(compiler, Linked):
        raise InputError([Problem(None, f"a table must be of one compiler, not {compiler.word}")])
    kinds = {Op.LOAD, Op.STORE, *kinds}  # Operands are loaded.
    every = [it for it in _shapes(compiler) if it.used and it.kind in kinds]
    firsts = [program_of(it, spellings(it, operators)[0], Around.NOTHING) for it in every]
    # Some compiler has no operation of some scope: those of each are next to each other.
    by_scope = sorted(zip(every, firsts, strict=True), key=lambda it: str(it[0].scope))
    compiler.prepare(program for _, program in by_scope)
    found: dict[Shape, tuple[str, ...]] = {}
    left_out: dict[str, str] = {}
    for shape, program in zip(every, firsts, strict=True):
        try:
            found[shape] = _code(compiler, shape.kind, program)
            read_table(Source("a row", str(_extraction(compiler, {shape: found[shape]}))))
        except InputError as error:
            found.pop(shape, None)
            left_out[str(shape)] = error.problems[0].message
    found |= _of_unused(compiler, found, operators)
    for what, why in _wrong(compiler, found, operators):
        left_out.setdefault(what, why)
    extraction = _extraction(compiler, found, left_out, operators)
    if not extraction.rows:
        raise InputError([Problem(None, next(iter(left_out.values())))])
    if (published := _published(compiler)) is None:
        return extraction
    scopes = compiler.target.scopes or (None,)
    table = read_table(_source(extraction))
    differs = dict(_differences(shapes(scopes), table, published, operators))
    return replace(extraction, published=published.source.name, differs=differs)


def linked_tables(compiler: Linked, kinds: Collection[Op]) -> Table:
    """Those of compilers whose code is linked, of which each operation may have the code of any, as
    in functions of their own. Raises InputError where one is empty."""
    parts = tuple(read_table(_source(cpu_table(it, kinds=kinds))) for it in compiler.each)
    return replace(parts[0], under=compiler.model.name, rows=(), parts=parts)


def _shapes(compiler: ForCpu) -> Iterator[Shape]:
    """Every operation that has a row: of C, and of OpenCL where the processor has scopes."""
    return shapes((None, *compiler.target.scopes))


# ---- the code of an operation --------------------------------------------------------------------


def _code(compiler: ForCpu, kind: Op | None, program: Program) -> tuple[str, ...]:
    """The code that a program with one operation has for it (rows.py). Raises InputError."""
    names = [it.name for it in program.locations]
    places = {at * APART: PLACES[name] for at, name in enumerate(names) if name in PLACES}
    for it in program.operations:
        place = (len(names) + it.index) * APART
        places[place] = PLACES.get(it.location or "", RESULT)
    of = compiler.goal.of
    (lines,) = compiler.code(program).values()
    return row_code(lines, kind, of.entry.block, of.target, places)


def _of_unused(compiler: ForCpu, found: Codes, operators: Sequence[str]) -> Codes:
    """The rows of RMWs whose results nothing looks at, as far as theirs is another code."""
    table = read_table(_source(_extraction(compiler, found)))
    others: dict[Shape, tuple[str, ...]] = {}
    unused = [replace(it, used=False) for it in found if it.kind is Op.RMW]
    programs = [program_of(it, operators[0], Around.NOTHING) for it in unused]
    compiler.prepare(programs)
    for shape, program in zip(unused, programs, strict=True):
        if _not_the_same(compiler, table, program) is None:
            continue
        try:
            others[shape] = _code(compiler, shape.kind, program)
            read_table(_source(_extraction(compiler, {shape: others[shape]})))
        except InputError:
            others.pop(shape, None)  # It will be said by what it differs from the other.
    return others


# ---- whether it is a table -----------------------------------------------------------------------


def _wrong(compiler: ForCpu, found: Codes, operators: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of what does not hold, the operation or the operator, and what is wrong."""
    table = read_table(_source(_extraction(compiler, found)))
    cases = [
        (shape, spelling, around, program_of(shape, spelling, around))
        for shape in _shapes(compiler)
        if replace(shape, used=True) in found
        for spelling in spellings(shape, operators, later=compiler.compiler.kind is not Kind.GCC)
        for around in surroundings(found)
    ]
    compiler.prepare(program for *_, program in cases)
    for shape, spelling, around, program in cases:
        if (why := _not_the_same(compiler, table, program)) is not None:
            is_first = spelling == spellings(shape, operators)[0]
            own = shape if shape in found else replace(shape, used=True)
            how = f" by {spelling}" if spelling else ""
            what = str(own) if is_first or shape.kind is not Op.RMW else spelling
            if why == _OTHER:
                code = "; ".join(found[own]) or "nothing"
                theirs = _emitted(compiler, program)
                why = f"{why}, `{code}`, not `{theirs}`"
            yield what, f"`{shape}`{how}{around.value} {why}"


def _not_the_same(compiler: ForCpu, table: Table, program: Program) -> str | None:
    """Why it cannot be that a table makes the events of a program that a compiler does, in words
    that follow the operation; None where it makes them."""
    try:
        theirs = compiler.compiled(program)
    except InputError as error:
        return f"must be read, and is not: {error.problems[0].message}"
    if theirs.program.cuts:
        return "must be read as a whole, and has a loop that is unrolled"
    try:
        ours = table.compiled(program)
    except InputError as error:
        return f"must have a row: {error.problems[0].message}"
    if _events(ours, theirs.untold) != _events(theirs):
        return _OTHER
    return None if _does(ours, program) else "must do what it says"


def _emitted(compiler: ForCpu, program: Program) -> str:
    """The code of an operation, as a row would have it if it could."""
    try:
        return "; ".join(_code(compiler, None, program)) or "nothing"
    except InputError:
        (lines,) = compiler.code(program).values()
        return "; ".join(str(it) for it in lines if isinstance(it, Instruction))


def _does(made: Mapped, program: Program) -> bool:
    """Whether what a program becomes accesses the location of its operation as that does: it reads
    there what the operation gives, and writes there what that writes, where it does."""
    ends, given = _ends(made), {it.operation: it.value for it in made.seen}

    def writes(those: Program, known: Mapping[int, Expression]) -> list[object]:
        def over(it: Expression) -> Expression:
            return _canonical(substituted(it, lambda index: known.get(index, Read(index))))

        def where(it: Operation, writes: Expression) -> Condition:
            return both(ends, both(condition_of(over(it.guard)), condition_of(over(writes))))

        kept = (it for it in those.operations if it.location == "x")
        each = ((it, *_written(it, it.value)) for it in kept if it.value is not None)
        return [(where(it, writes), over(value)) for it, writes, value in each]

    own = [it for it in made.program.operations if it.location == "x"]
    wanted = [given[it.index] for it in program.operations if it.location == "x" and it.reads]
    read = all(it in [Read(each.index) for each in own if each.reads] for it in wanted)
    return read and writes(made.program, {}) == writes(program, given)


def _written(it: Operation, value: Expression) -> tuple[Expression, Expression]:
    """Where an operation writes another value than it has read itself, and that value."""
    match value:
        case Select(condition, then, Read(index)) if index == it.index and it.success is None:
            return condition, then
        case _:
            return it.success or Constant(1), value


def _ends(made: Mapped) -> Condition:
    """That no loop goes on."""
    always: Condition = True
    return reduce(
        both, (negated(condition_of(_canonical(it.guard))) for it in made.program.spins), always
    )


def _events(made: Mapped, untold: Collection[int] = ()) -> tuple[object, ...]:
    """All that a model sees of a program, and what each read of the source has read that is told.

    The loads of what is written and expected may be in any order; events are numbered without them.
    Guards are those where no loop goes on.
    """
    ends = _ends(made)
    inputs: list[str | None] = [*PLACES]
    numbers: dict[int, int] = {}
    for it in made.program.operations:
        if it.location in inputs:
            numbers[it.index] = -2 - inputs.index(it.location)
    kept = [it for it in made.program.operations if it.index not in numbers]
    numbers |= {it.index: at for at, it in enumerate(kept)}

    def number(index: int) -> int:
        return numbers[index] if index >= 0 else ~numbers[~index]

    def told(it: Expression) -> Expression:
        return _canonical(renumbered(it, number))

    return (
        tuple(
            (
                (it.kind, it.location, it.tags, it.whole),
                expression(condition_of(told(expression(both(ends, condition_of(it.guard)))))),
                tuple(each and told(each) for each in (it.value, it.success)),
                None if it.pair is None else number(it.pair),
                it.textual and it.textual.moved(number),
            )
            for it in kept
        ),
        tuple(
            sorted(
                (it.operation, str(told(it.value)))
                for it in made.seen
                if it.operation not in untold
            )
        ),
        frozenset(told(it.guard) for it in made.program.spins),
    )


def _canonical(it: Expression) -> Expression:
    """An expression, as one of those that are the same by how sums and comparisons are written."""
    match it:
        case Unary(operator, argument):
            return unary(operator, _canonical(argument))
        case Select(condition, then, otherwise):
            return select(*map(_canonical, (condition, then, otherwise)))
        case Binary("-", left, Constant(number)):
            return _canonical(binary("+", left, Constant(wrap(-number))))
        case Binary("==" | "!=" as sign, Binary("^", left, mask), Binary("^", right, other)) if (
            mask == other
        ):
            return _canonical(binary(sign, left, right))
        case Binary(operator, left, right):
            own = [_canonical(left), _canonical(right)]
            return binary(operator, *(sorted(own, key=str) if operator in _EITHER_WAY else own))
        case _:
            return it


# ---- how it differs from that of the ABI ---------------------------------------------------------


def _published(compiler: ForCpu) -> Table | None:
    """The table of the ABI that ships, if one does."""
    name = compiler.goal.of.name.partition(":")[0]
    names = [f"{name}+{it}" for it in reversed(compiler.goal.chosen)]
    own = next((it for it in (*names, name) if it in _PUBLISHED), None)
    return read_table(read_source(f"{SCHEMES}/{_PUBLISHED[own]}.yaml")) if own else None


def _differences(
    every: Iterable[Shape], table: Table, published: Table, operators: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Of each operation that has another code in each of two tables, both codes."""
    for shape in (it for it in every if table.row_of(it) is not None):
        program = program_of(shape, spellings(shape, operators)[0], Around.NOTHING)
        ours, theirs = table.compiled(program), published.compiled(program)
        alike = not shape.used and table.row_of(shape) is table.row_of(replace(shape, used=True))
        if not alike and _events(ours) != _events(theirs):
            yield str(shape), f"{_row_text(table, shape)}, there {_row_text(published, shape)}"


def _row_text(table: Table, shape: Shape) -> str:
    row = table.row_of(shape)
    return "; ".join(row.text if row is not None else ()) or "nothing"


# ---- how it is written ---------------------------------------------------------------------------


def _source(extraction: Extraction) -> Source:
    return Source(f"<{extraction.name}>", str(extraction))


def _extraction(
    compiler: ForCpu,
    found: Codes,
    left_out: Mapping[str, str] = {},
    operators: Sequence[str] = tuple(OPERATORS),
) -> Extraction:
    """The rows of some codes; orders, and scopes, with the same are in one."""
    groups: dict[TableRow, list[str]] = {}
    for shape, code in found.items():
        if str(shape) in left_out:
            continue
        result: str | None = "used" if shape.used else UNUSED
        if replace(shape, used=not shape.used) not in found:
            result = None
        scope = shape.scope.value.lower() if shape.scope else ""
        scopes = (NON_ATOMIC,) if shape.order is None else (scope,) if scope else ()
        group = groups.setdefault(TableRow(shape.kind.value, scopes, (), (), result, code), [])
        group += [] if shape.order is None else [shape.order.value]
    joined: dict[TableRow, list[str]] = {}
    for row, orders in groups.items():
        first = replace(row, scope=row.scope and ("",), order=tuple(orders))
        joined.setdefault(first, []).extend(row.scope)
    rows = tuple(replace(row, scope=tuple(scopes)) for row, scopes in joined.items())
    source = f"{compiler.compiler.version}, {compiler.goal}"
    without = [it for it in OPERATORS if it not in operators or it in left_out]
    notes = [f"rows for rmw are not for {alternatives(without)}"] if without else []
    others = [it for it in left_out if it not in OPERATORS]
    notes += [f"there are no rows of their own for {', '.join(others)}"] if others else []
    by = "gcc" if compiler.compiler.kind is Kind.GCC else "llvm"
    return Extraction(
        in_a_file_name(f"{by}-{compiler.goal.name}"),
        source,
        None,
        rows,
        "; ".join(notes) or None,
        left_out,
        compiler.target.name,
        compiler.goal.under,
    )
