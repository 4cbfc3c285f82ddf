"""From the text of a litmus test to its Program."""

from __future__ import annotations

import re
from pathlib import Path

from rspverify.limits import DEFAULT_UNROLL
from rspverify.litmus.condition import Claims
from rspverify.litmus.declarations import initial_registers, locations
from rspverify.litmus.elaborate import Execution, Surroundings
from rspverify.litmus.placement import placement
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Cut, Program, Thread
from rspverify.litmus.syntax import parse
from rspverify.litmus.tree import Test, ThreadText
from rspverify.source import Source, read_source

_TITLE = re.compile(r"(?:opencl|c)\s+(\S+)", re.IGNORECASE)
_THREAD = re.compile(r"P(0|[1-9][0-9]{0,5})", re.ASCII)


def read_program_file(
    path: Path | str, unroll: int = DEFAULT_UNROLL, mixed: bool = False
) -> Program:
    """The program of a litmus file; raises InputError with all problems of the file."""
    return read_program(read_source(path), unroll, mixed)


def read_program(source: Source, unroll: int = DEFAULT_UNROLL, mixed: bool = False) -> Program:
    """The program of a litmus test; raises InputError with all problems of the text.

    unroll: how many iterations of a loop are looked at, unless it is certain to end by itself.
    mixed: whether the threads of a test in OpenCL may declare one location differently.
    """
    if unroll < 1:
        raise ValueError(f"a loop must be unrolled at least once, not {unroll} times")
    problems = Problems()
    test = parse(source, problems)
    if test is None:
        raise problems.as_error()
    program = _program(test, source, unroll, mixed, problems)
    if problems:
        raise problems.as_error()
    return program


def title_of(source: Source) -> str | None:
    """The title of a litmus test that may have any mistake; None where no title can be told."""
    first = source.text.lstrip().split("\n", 1)[0]
    found = _TITLE.fullmatch(first.strip())
    return found[1] if found else None


def _program(test: Test, source: Source, unroll: int, mixed: bool, problems: Problems) -> Program:
    """The program that a syntax tree means, as far as it means one."""
    for each in test.unsupported:
        problems.unsupported(each.span, f"{each.construct} is not supported", each.hint)
    written = _threads(test, problems)
    places = placement(test, written, problems)
    known = locations(test.entries, test.threads, test.language, mixed, problems)
    initial = initial_registers(test.registers, written, problems)
    around = Surroundings(test.language, known, unroll, problems)
    threads: list[Thread] = []
    cuts: list[Cut] = []
    for index, (name, thread) in enumerate(written.items()):
        first = sum(len(each.operations) for each in threads)
        execution = Execution(thread, index, first, initial.get(name, {}), around)
        threads.append(execution.run(*places.get(name, (0, 0))))
        cuts += execution.cuts
    for thread in test.threads:
        if written.get(thread.name.text) is not thread:  # Misnamed, yet its text may have problems.
            Execution(thread, 0, 0, {}, around).run()
    claims = Claims({thread.name: thread.registers for thread in threads}, known, problems)
    return Program(
        test.title,
        source,
        tuple(known.values()),
        tuple(threads),
        None if test.condition is None else claims.condition(test.condition),
        test.language,
        tuple(cuts),
        claims.watched(test.watched),
    )


def _threads(test: Test, problems: Problems) -> dict[str, ThreadText]:
    """The threads by name, in the order of their numbers, which must be 0 to n - 1."""
    found: dict[str, ThreadText] = {}
    for thread in test.threads:
        name = thread.name.text
        if not _THREAD.fullmatch(name):
            message = f"a thread must be named P0, P1 and so on, not {quote(name)}"
            problems.error(thread.name.span, message)
        elif name in found:
            first = found[name].name.span
            problems.again(thread.name.span, f"{name} must be one thread, not two", first)
        else:
            found[name] = thread
    if not test.threads:
        message = "a test must have a thread, and this one has none"
        hint = "write `P0 (global int* x) { *x = 1; }` after the initial state"
        problems.error(test.span, message, hint)
    ordered = sorted(found, key=lambda name: int(name[1:]))
    for index, name in enumerate(ordered):
        if name != f"P{index}":
            message = f"threads must be numbered without gaps, and there is no P{index}"
            problems.error(found[name].name.span, message)
            break
    return {name: found[name] for name in ordered}
