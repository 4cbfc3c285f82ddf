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
    Shape,
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
from rspverify.scheme.orders import Op
from rspverify.source import InputError, Problem

Code = tuple[Named, ...]

_SHOWN = 20
"""How many problems are told."""


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


def codes(
    processor: Processor,
    compiler: Compiler,
    *,
    operators: Sequence[str] = OPERATORS,
    thorough: bool = True,
    only: Iterable[Shape] | None = None,
) -> Mapping[Shape, Code]:
    """The code of each operation, or `only` of these.

    operators: of the RMWs that have one row, the first of which stands for all. thorough: what is
    compiled is held to itself. All these operators, and all orders of a compare-exchange that count
    as one, must have the code of the row. Without labels the functions must be the same, so that
    labels hold nothing up. In a kernel the codes must be the same. With nothing begun before, an
    operation must have a part of its code, in the same order.

    Raises InputError with all that cannot be read, or does not hold.
    """
    every = shapes(has_local=processor.has_local) if only is None else only
    first = [Case(shape, *next(iter(spellings(shape, operators).items()))) for shape in every]
    functions = _emitted(first, processor, compiler, Surroundings())
    read = _named(functions)
    found = {case.shape: code for case, code in zip(first, read, strict=True)}
    problems = [problem for case in first for problem in _of_access(case, found[case.shape])]
    if thorough and not problems:
        problems += _of_spellings(found, operators, processor, compiler)
        problems += _of_labels(first, functions, processor, compiler)
        problems += _of_kernels(first, found, processor, compiler)
        problems += _of_nothing_before(first, found, processor, compiler)
    if problems:
        raise InputError(_first(problems))
    return found


def _named(functions: list[_Function]) -> list[Code]:
    found: list[Code] = []
    problems: list[Problem] = []
    for function in functions:
        try:
            found.append(named(function.between))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(_first(problems))
    return found


def _first(problems: list[Problem]) -> list[Problem]:
    """As many problems as anyone reads, and how many more there are."""
    more = len(problems) - _SHOWN
    rest = [Problem(problems[_SHOWN].span, f"and {more} more from here on")] if more > 0 else []
    return [*problems[:_SHOWN], *rest]


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


def _of_access(case: Case, code: Code) -> Iterator[Problem]:
    """A problem unless the code of an operation has its one access, and a fence none."""
    wanted = [_ONE[case.shape.op]] if case.shape.op in _ONE else []
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
) -> Iterator[Problem]:
    """A problem for each operator, or pair of orders, that is compiled in another way."""
    others = [
        Case(shape, *other)
        for shape in found
        for other in [*spellings(shape, operators).items()][1:]
    ]
    emitted = _emitted(others, processor, compiler, Surroundings())
    for case, function in zip(others, emitted, strict=True):
        what = f"`{case.shape}` by {case.spelling}"
        try:
            yield from _of_difference(what, "", named(function.between), found[case.shape])
        except InputError as error:
            span = error.problems[0].span
            wanted = f"must be {_text(found[case.shape])}, and cannot be read"
            hint = "--operators names those that rows of RMWs are for"
            yield Problem(span, f"the code of {what} {wanted}", hint)


def _of_labels(
    cases: list[Case], functions: list[_Function], processor: Processor, compiler: Compiler
) -> Iterator[Problem]:
    """A problem for each function that is another one without labels.

    There waits of the row may be one instruction with those of what stands behind it.
    """
    without = _emitted(cases, processor, compiler, Surroundings(marked=False))
    for case, one, other in zip(cases, functions, without, strict=True):
        if with_waits_joined(one.whole) != with_waits_joined(other.whole):
            message = f"the code of `{case.shape}` must be the same without labels, and is not"
            yield Problem(one.between[0].span if one.between else None, message)


def _of_kernels(
    cases: list[Case], found: Mapping[Shape, Code], processor: Processor, compiler: Compiler
) -> Iterator[Problem]:
    """A problem for each operation that has another code in a kernel."""
    emitted = _emitted(cases, processor, compiler, Surroundings(kernel=True))
    for case, code in zip(cases, _named(emitted), strict=True):
        yield from _of_difference(f"`{case.shape}`", " in a kernel", code, found[case.shape])


def _of_nothing_before(
    cases: list[Case], found: Mapping[Shape, Code], processor: Processor, compiler: Compiler
) -> Iterator[Problem]:
    """A problem for each operation that, alone, has what its row has not, or in another order."""
    emitted = _emitted(cases, processor, compiler, Surroundings(busy=False))
    for case, code in zip(cases, _named(emitted), strict=True):
        rest = iter(str(each) for each in found[case.shape])
        if not all(str(each) in rest for each in code):
            where = ", where nothing has begun before,"
            message = f"the code of `{case.shape}`{where} must be a part of its row's"
            yield Problem(code[0].origin.span, f"{message}, {_text(found[case.shape])}")


def _of_difference(what: str, where: str, code: Code, wanted: Code) -> Iterator[Problem]:
    """A problem where a code is not that of the row."""
    if _text(code) != _text(wanted):
        span = code[0].origin.span if code else None
        message = f"the code of {what}{where} must be {_text(wanted)}, not {_text(code)}"
        yield Problem(span, message)


def _text(code: Code) -> str:
    return "; ".join(map(str, code)) or "nothing"
