"""The table by which a compiler translates atomics, read out of what it emits.

Each operation is compiled alone, in a function where operations of each class have begun before it
and what they read is used after it, so that no wait is left out as needless. Labels stand where it
begins and ends. What is between them is its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from rspverify.compilers.amdgpu import Does, Named, named, with_waits_joined
from rspverify.compilers.assembly import read_assembly
from rspverify.compilers.ir import (
    OPERATORS,
    Surroundings,
    begin,
    end,
    module,
    shapes,
    spellings,
)
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import Processor
from rspverify.isa.lines import Directive, Instruction, Label, Line
from rspverify.scheme.memory import IN_GLOBAL
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Shape
from rspverify.source import InputError, Problem

Code = tuple[Named, ...]


class Case(Struct, frozen=True):
    """An operation of IR. spelling: which of those that have one row."""

    shape: Shape
    spelling: str
    text: str


class _Function(Struct, frozen=True):
    """What is emitted for a case: the whole function, and what is between its labels."""

    whole: tuple[Instruction, ...]
    between: tuple[Instruction, ...]


_ONE: Mapping[Op, Does] = {
    Op.LOAD: Does.LOAD,
    Op.STORE: Does.STORE,
    Op.RMW: Does.RMW,
    Op.CAS: Does.CAS,
}
"""The one access that the code of an operation has."""


class Codes(Struct, frozen=True):
    """The code of each operation that has one.

    operators: those of the RMWs that rows are for. left_out: by operation or operator that has no
    row, why.
    """

    rows: Mapping[Shape, tuple[str, ...]]
    operators: tuple[str, ...] = OPERATORS
    left_out: Mapping[str, Problem] = {}


def codes(
    processor: Processor,
    compiler: Compiler,
    *,
    operators: Sequence[str] = OPERATORS,
    thorough: bool = True,
    only: Iterable[Shape] | None = None,
) -> Codes:
    """The code of each operation, or `only` of these.

    operators: of the RMWs that have one row, the first of which stands for all. thorough: what is
    compiled is held to itself. All these operators, and all orders of a compare-exchange that count
    as one, must have the code of the row. Without labels the functions must be the same, so that
    labels hold nothing up. In a kernel the codes must be the same. With nothing begun before, an
    operation must have a part of its code, in the same order. What cannot be read, or does not
    hold, is left out: the operation, or where it is about another operator than the first, that
    one.

    Raises InputError where the compiler fails, or nothing is left.
    """
    every = only
    if every is None:
        every = shapes() if processor.has_local else shapes(memories=(IN_GLOBAL,))
    first = [Case(shape, *next(iter(spellings(shape, operators).items()))) for shape in every]
    functions = _emitted(first, processor, compiler, Surroundings())
    left_out: dict[Shape | str, Problem] = {}
    found: dict[Shape, Code] = {}
    for case, function in zip(first, functions, strict=True):
        try:
            found[case.shape] = named(function.between)
        except InputError as error:
            left_out[case.shape] = error.problems[0]
            continue
        for problem in _of_access(case, found[case.shape]):
            left_out[case.shape] = problem
            del found[case.shape]
    checks: list[tuple[Shape | str, Problem]] = []
    if thorough:
        checks += _of_spellings(found, operators, processor, compiler)
        checks += _of_labels(first, functions, processor, compiler)
        checks += _of_kernels(first, found, processor, compiler)
        checks += _of_nothing_before(first, found, processor, compiler)
    for what, problem in checks:
        left_out.setdefault(what, problem)
    rows = {it: tuple(map(str, code)) for it, code in found.items() if it not in left_out}
    if not rows:
        raise InputError([*left_out.values()][:1])
    kept = tuple(it for it in operators if it not in left_out)
    return Codes(rows, kept, {str(what): problem for what, problem in left_out.items()})


def _emitted(
    cases: list[Case], processor: Processor, compiler: Compiler, around: Surroundings
) -> list[_Function]:
    operations = {at: (case.shape, case.text) for at, case in enumerate(cases)}
    source = compiler.emit(module(operations, around), processor)
    lines = read_assembly(source)
    places = {line.name: at for at, line in enumerate(lines) if isinstance(line, Label)}
    if around.kernel:
        problems = [*_of_mode(lines, processor)]
        if problems:
            raise InputError(problems)
    functions: list[_Function] = []
    for at in operations:
        try:
            whole = _instructions(lines[places[f"f{at}"] : places[f".Lfunc_end{at}"]])
            inside = lines[places[begin(at)] : places[end(at)]] if around.marked else ()
        except KeyError as error:
            message = f"{source.name}: must have the label {error.args[0]}, and has not"
            raise InputError([Problem(None, message)]) from None
        functions.append(_Function(whole, _instructions(inside)))
    return functions


def _instructions(lines: tuple[Line, ...]) -> tuple[Instruction, ...]:
    return tuple(line for line in lines if isinstance(line, Instruction))


def _of_mode(lines: tuple[Line, ...], processor: Processor) -> Iterator[Problem]:
    """A problem unless kernels say of themselves that they are for the mode."""
    if processor.mode is None:
        return
    name, there, without = processor.mode.directive
    wanted = there if processor.in_mode else without
    said = [line for line in lines if isinstance(line, Directive) and line.name == name]
    wrong = [line for line in said if line.argument != wanted]
    if wrong or not said:
        found = wrong[0].argument if wrong else "missing"
        message = f"{name} must be {wanted} for {processor}, not {found}"
        yield Problem(wrong[0].span if wrong else None, message)


_Checked = Iterator[tuple[Shape | str, Problem]]
"""Of what does not hold, the operation or the operator, and what is wrong."""


def _of_access(case: Case, code: Code) -> Iterator[Problem]:
    """A problem unless the code of an operation has its one access, and a fence none."""
    wanted = [_ONE[case.shape.kind]] if case.shape.kind in _ONE else []
    accesses = [each for each in code if each.does is not Does.NOTHING]
    if [each.does for each in accesses] != wanted:
        what = f"an instruction that {wanted[0].value}" if wanted else "no access"
        span = accesses[0].origin.span if accesses else None
        there = " and ".join(each.name for each in accesses) or "none"
        yield Problem(span, f"the code of `{case.shape}` must have {what}, not {there}")


def _of_spellings(
    found: Mapping[Shape, Code],
    operators: Sequence[str],
    processor: Processor,
    compiler: Compiler,
) -> _Checked:
    """A problem for each operator, or pair of orders, that is compiled in another way."""
    others = [
        Case(shape, *other)
        for shape in found
        for other in [*spellings(shape, operators).items()][1:]
    ]
    emitted = _emitted(others, processor, compiler, Surroundings())
    for case, function in zip(others, emitted, strict=True):
        what = case.spelling if case.shape.kind is Op.RMW else case.shape
        yield from _difference(what, case, function, found, f" by {case.spelling}")


def _of_labels(
    cases: list[Case], functions: list[_Function], processor: Processor, compiler: Compiler
) -> _Checked:
    """A problem for each function that is another one without labels.

    There waits of the row may be one instruction with those of what stands behind it.
    """
    without = _emitted(cases, processor, compiler, Surroundings(marked=False))
    for case, one, other in zip(cases, functions, without, strict=True):
        if with_waits_joined(one.whole) != with_waits_joined(other.whole):
            message = f"the code of `{case.shape}` must be the same without labels, and is not"
            yield case.shape, Problem(one.between[0].span if one.between else None, message)


def _of_kernels(
    cases: list[Case], found: Mapping[Shape, Code], processor: Processor, compiler: Compiler
) -> _Checked:
    """A problem for each operation that has another code in a kernel."""
    emitted = _emitted(cases, processor, compiler, Surroundings(kernel=True))
    for case, function in zip(cases, emitted, strict=True):
        yield from _difference(case.shape, case, function, found, " in a kernel")


def _of_nothing_before(
    cases: list[Case], found: Mapping[Shape, Code], processor: Processor, compiler: Compiler
) -> _Checked:
    """A problem for each operation that, alone, has what its row has not, or in another order."""
    emitted = _emitted(cases, processor, compiler, Surroundings(busy=False))
    where = ", where nothing has begun before,"
    for case, function in zip(cases, emitted, strict=True):
        yield from _difference(case.shape, case, function, found, where, part=True)


def _difference(
    what: Shape | str,
    case: Case,
    function: _Function,
    found: Mapping[Shape, Code],
    where: str,
    *,
    part: bool = False,
) -> _Checked:
    """A problem where a code cannot be read, or is not that of the row, or a `part` of it."""
    if case.shape not in found:
        return
    wanted = found[case.shape]
    must = f"the code of `{case.shape}`{where} must be"
    must = f"{must} a part of its row's, {_text(wanted)}" if part else f"{must} {_text(wanted)}"
    try:
        code = named(function.between)
    except InputError as error:
        problem = error.problems[0]
        yield what, Problem(problem.span, f"{must}: {problem.message}")
        return
    rest = iter(str(each) for each in wanted)
    same = all(str(it) in rest for it in code) if part else _text(code) == _text(wanted)
    if not same:
        span = code[0].origin.span if code else None
        yield what, Problem(span, f"{must}, not {_text(code)}")


def _text(code: Code) -> str:
    return "; ".join(map(str, code)) or "nothing"
