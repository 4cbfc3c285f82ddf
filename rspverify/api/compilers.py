"""Compilers in the place of schemes, and their tables beside what they make of whole tests."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rspverify.answers import Result, SuiteReport
from rspverify.api.inputs import all_tests
from rspverify.litmus.program import Program
from rspverify.records import replace
from rspverify.scheme.orders import Op, op_of
from rspverify.scheme.writer import scheme_text
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, Source, name_of, read_source
from rspverify.translators import COMPILERS, names_compiler, read_translator, table_name
from rspverify.verdict import Word
from rspverify.wording import alternatives


def compilers_named(names: Sequence[str], llc: str | None) -> list[str]:
    """Compilers as they are given in the place of schemes. llc: the program that compiles.

    Raises InputError with every name that is none.
    """
    wrong = [each for each in names if not names_compiler(each)]
    if wrong:
        from rspverify.compilers.cpus import CPUS

        kinds = alternatives([each.called for each in COMPILERS])
        message = f"--compiler must be {kinds}, such as amdgpu:gfx942 or aarch64+lse"
        hint = f"processors are {', '.join(CPUS)}"
        raise InputError(Problem(None, f"{message}, not {each}", hint) for each in wrong)
    return [f"{each}@{llc}" if llc else each for each in names]


def tables_of(
    names: Sequence[str], tests: Sequence[str] | None, settings: Settings
) -> list[Source]:
    """The tables by which compilers compile the operations of some tests one by one, as schemes;
    of those whose code is linked as one, in which each operation may have the code of any.

    names: the compilers, as `amdgpu:gfx942`. tests: as they are named. Raises InputError.
    """
    from rspverify.compilers import codes, table
    from rspverify.compilers.cpu_tables import cpu_table, linked_tables
    from rspverify.compilers.cpus import ForCpu, Linked
    from rspverify.compilers.gpus import ForGpu
    from rspverify.compilers.programs import read_as, shapes_in

    programs = _programs(tests, settings).values()
    compilers = {each: read_translator(each) for each in names}
    often = Counter(it.name for it in compilers.values())
    found: list[Source] = []
    for word, it in compilers.items():
        called = table_name(it.name if often[it.name] == 1 else word)
        if isinstance(it, ForCpu):
            own = {op_of(each) for test in programs for each in read_as(test).operations}
            kinds = [each for each in Op if each in own]
            if isinstance(it, Linked):
                text = scheme_text(replace(linked_tables(it, kinds), name=called))
            else:
                text = str(replace(cpu_table(it, kinds=kinds), name=called))
        else:
            assert isinstance(it, ForGpu)
            shapes = shapes_in(programs, has_local=it.goal.has_local)
            read = codes(it.goal, it.compiler, thorough=False, only=shapes)
            text = str(replace(table(read, it.goal, it.compiler), name=called))
        found.append(Source(f"<{called}>", text))
    return found


def keep_code(
    folder: str, names: Sequence[str], tests: Sequence[str] | None, settings: Settings
) -> None:
    """Write the IR of each test and what each compiler emits for it to a folder, as far as it can
    be compiled: `MP-dv.amdgpu-gfx942.ll` and `.s`; the path in place of the name where several
    tests have it. Raises InputError."""
    from rspverify.compilers.compilation import Compilation
    from rspverify.files import make_folder, write

    make_folder(Path(folder))
    programs = _programs(tests, settings)
    often = Counter(Path(each).stem for each in programs)
    for name in names:
        it = read_translator(name)
        assert isinstance(it, Compilation)
        it.prepare(programs.values())
        for file, program in programs.items():
            test = Path(file).stem
            if often[test] > 1:
                test = "-".join(Path(os.path.relpath(file)).with_suffix("").parts)
            with suppress(InputError):
                assembly = it.emitted(program).text
                place = str(Path(folder, f"{test}.{it.name.replace(':', '-')}"))
                write(f"{place}.{it.text_ending}", it.module(program))
                write(f"{place}.s", assembly)


def _programs(tests: Sequence[str] | None, settings: Settings) -> dict[str, Program]:
    """The tests that can be read, by their files; the others are told of where they are asked
    about."""
    found = {}
    for each in all_tests(tests):
        with suppress(InputError):
            found[name_of(each)] = settings.read(read_source(each))
    return found


def differences(report: SuiteReport) -> list[str]:
    """Where compilers and their tables have different verdicts, a line for each test.

    One line if there is no such test. Where one of the two is UNKNOWN nothing is said.
    """
    by_name: dict[tuple[str, str], Result] = {
        (it.file, it.scheme): it for it in report.results if isinstance(it, Result)
    }
    lines: list[str] = []
    compared = False
    for (file, name), it in by_name.items():
        table = by_name.get((file, table_name(name)))
        if table is None or table is it:
            continue
        if Word.UNKNOWN in (it.verdict, table.verdict):
            continue
        compared = True
        if table.claim != it.claim:
            lines.append(f"{file}: {name} is {it.claim}, its table {table.claim}")
    if compared and not lines:
        return ["compiler and table agree on every verdict"]
    return lines
