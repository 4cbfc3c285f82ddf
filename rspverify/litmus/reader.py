"""From the text of a litmus test to its Program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rspverify.limits import DEFAULT_UNROLL
from rspverify.litmus.calls import functions_of, uncalled
from rspverify.litmus.comments import without_comments
from rspverify.litmus.condition import Claims
from rspverify.litmus.declarations import declarations, initial_registers
from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.frames import Surroundings, spoken_of
from rspverify.litmus.kernels import NOBODY, launched, work_items
from rspverify.litmus.placement import numbered, placement
from rspverify.litmus.problems import Problems
from rspverify.litmus.program import Cut, Fault, Program, Spin, Thread
from rspverify.litmus.spins import no_spins
from rspverify.litmus.statements import Execution
from rspverify.litmus.syntax import ASSEMBLY, C, parse
from rspverify.litmus.tree import FunctionText, Test, ThreadText
from rspverify.records import replace
from rspverify.source import InputError, Problem, Source, Span, read_source

if TYPE_CHECKING:
    from rspverify.litmus.stepping import SteppedProgram

_ASSEMBLY = re.compile(rf"\s*(?:{'|'.join(DIALECTS)})\b", re.IGNORECASE)


def read_program_file(
    path: Path | str, unroll: int = DEFAULT_UNROLL, mixed: bool = False
) -> Program:
    """The program of a litmus file; raises InputError with all problems of the file."""
    return read_program(read_source(path), unroll, mixed)


def read_program(
    source: Source,
    unroll: int = DEFAULT_UNROLL,
    mixed: bool = False,
    *,
    assembly: bool = False,
) -> Program:
    """The program of a litmus test; raises InputError with all problems of the text.

    unroll: how many iterations of a loop are looked at, unless it is certain to end by itself or
    only spins.
    mixed: whether the threads of a test in OpenCL may declare one location differently.
    assembly: whether it may be a test in assembly.
    """
    if unroll < 1:
        raise ValueError(f"a loop must be unrolled at least once, not {unroll} times")
    problems = Problems()
    program = None
    text = without_comments(source, problems)
    if text is not None and _ASSEMBLY.match(text):
        if not assembly:
            raise InputError([_in_assembly(source, text)])
        from rspverify.litmus.assembly import assembly_program

        columns = parse(ASSEMBLY, source, text, problems)
        program = assembly_program(columns, source, problems) if columns else None
    elif text is not None:
        test = parse(C, source, text, problems)
        program = _without_bounds(test, source, unroll, mixed, problems) if test else None
    if program is None or problems:
        raise problems.as_error()
    return program


def read_steps(source: Source) -> SteppedProgram | None:
    """A test in assembly, to be executed step by step; None for others. Raises InputError."""
    problems = Problems()
    text = without_comments(source, problems)
    if text is None or not _ASSEMBLY.match(text):
        return None
    from rspverify.litmus.stepping import stepped_program

    columns = parse(ASSEMBLY, source, text, problems)
    program = stepped_program(columns, problems) if columns else None
    if program is None or problems:
        raise problems.as_error()
    return program


def _in_assembly(source: Source, text: str) -> Problem:
    """That a test is beyond what is asked, being assembly."""
    start = len(text) - len(text.lstrip())
    language = text.split(None, 1)[0].upper()
    line = text.count("\n", 0, start) + 1
    span = Span(source, line, 1, line, len(source.line(line)) + 1)
    message = f"a test must be in OpenCL or C here, and one in {language} is assembly already"
    return Problem(span, message, "`rspverify outcomes` answers it, with --machine or with --model")


def _without_bounds(
    test: Test, source: Source, unroll: int, mixed: bool, problems: Problems
) -> Program:
    """The program, with its loops that only spin read as such."""
    unrolled: frozenset[Span] = frozenset()
    program = _program(test, source, unroll, mixed, unrolled, problems)
    if not program.spins or problems:
        return program
    while more := no_spins(program):
        unrolled |= more
        program = _program(test, source, unroll, mixed, unrolled, problems)
    if not program.spins:
        return program
    none = Problems()
    bounded = _program(test, source, unroll, mixed, None, none)
    return program if none else replace(program, unrolled=bounded)


def _program(
    test: Test,
    source: Source,
    unroll: int,
    mixed: bool,
    unrolled: frozenset[Span] | None,
    problems: Problems,
) -> Program:
    """The program that a syntax tree means, as far as it means one.

    unrolled: the loops that are unrolled although they may look like spins; None: all.
    """
    for each in test.unsupported:
        problems.unsupported(each.span, f"{each.construct} is not supported", each.hint)
    functions, circular = functions_of(test, problems)
    threads, places = launched(test, problems)
    if not threads:
        threads = numbered(test.threads, problems)
        places = placement(test, threads, problems)
        if not test.threads:
            message = "a test must have a thread, and this one has none"
            hint = "write `P0 (global int* x) { *x = 1; }` after the initial state"
            problems.error(test.span, message, hint)
    misnamed = [it for it in test.threads if not any(it is each for each in threads.values())]
    texts = [*threads.values(), *misnamed]
    known = declarations(test.entries, texts, test.language, mixed, problems)
    initial = initial_registers(test.registers, threads, problems)
    around = Surroundings(
        test.language, known, functions, circular, unroll, unrolled, mixed, problems
    )
    items, spoken = work_items(places), spoken_of(test, threads)
    made: list[Thread] = []
    cuts: list[Cut] = []
    spins: list[Spin] = []
    faults: list[Fault] = []
    for index, (name, thread) in enumerate(threads.items()):
        first = sum(len(each.operations) for each in made)
        own = items.get(name, NOBODY)
        given = initial.get(name, {})
        execution = Execution(thread, index, first, given, own, around, spoken[name])
        made.append(execution.run(*places.get(name, (0, 0, None))))
        cuts += execution.cuts
        spins += execution.spins
        faults += execution.faults
    unused: list[ThreadText | FunctionText] = [*misnamed, *uncalled(functions, texts)]
    for text in unused:  # It may have problems.
        Execution(text, 0, 0, {}, NOBODY, around).run(0, 0)
    claims = Claims({thread.name: thread.registers for thread in made}, known.locations, problems)
    return Program(
        test.title,
        source,
        tuple(known.locations.values()),
        tuple(made),
        None if test.condition is None else claims.condition(test.condition),
        test.language,
        tuple(cuts),
        claims.watched(test.watched),
        tuple(spins),
        faults=tuple(faults),
        given=None if test.given is None else claims.formula(test.given),
    )
