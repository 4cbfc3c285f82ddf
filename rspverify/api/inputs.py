"""What is given to a question: schemes and tests, by name, by path, as texts or as objects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from rspverify.options import require_bounds
from rspverify.records import replace
from rspverify.soundness.settings import Settings, require_consistent
from rspverify.source import Given, InputError, Problem, Problems, Source, read_source, require
from rspverify.wording import alternatives

if TYPE_CHECKING:
    from rspverify.axiomatic.model import MemoryModel
    from rspverify.litmus.program import Program
    from rspverify.mapping.table import Table
    from rspverify.programs.litmus_test import LitmusTest
    from rspverify.scheme.scheme import Scheme

    AScheme: TypeAlias = str | Path | Source | Scheme
    """A scheme: a path, a name that `rspverify list` shows, a text, or one that is made or read."""
    ATest: TypeAlias = str | Path | Source | Program | LitmusTest
    """A test: likewise; `read_test` gives a Program, `LitmusTest` is one that is to be written
    down."""
else:  # A command that takes files need not load what reads them.
    AScheme = ATest = str | Path | Source


def several(given: Any) -> list[Any]:
    """What is given as one or as many, in a list. A text is one."""
    many = isinstance(given, Iterable) and not isinstance(given, str)
    return list(given) if many else [given]


def settled(given: Settings | None) -> Settings:
    """Settings that can be used, those by default where none are given. Raises InputError."""
    settings = given or Settings()
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be Settings, not {type(settings).__name__}")
    require_consistent(settings)
    require_bounds(settings)
    if settings.machine is not None:
        from rspverify.architecture.machines import machine_named

        machine_named(settings.machine)
    if settings.confirm is not None:
        _require_solver(settings.confirm)
    return settings


def _require_solver(name: str) -> None:
    from rspverify.smt.portfolio import is_solver, other_solvers

    if not is_solver(name):
        choices = alternatives([*other_solvers(), "a program that reads SMT-LIB 2"])
        message = f"the second solver must be {choices}, not {name}"
        hint = f"pip install {name}" if name in ("cvc5", "bitwuzla") else None
        raise InputError([Problem(None, message, hint)])


def schemes_given(given: AScheme | Iterable[AScheme]) -> list[Given]:
    """Schemes by what they are called, or as texts."""
    return [_scheme_text(each) for each in several(given)]


def tests_given(given: ATest | Iterable[ATest] | None) -> list[Given] | None:
    """Tests by what they are called, or as texts; None where none are given."""
    return None if given is None else [_test_text(each) for each in several(given)]


def all_tests(given: ATest | Iterable[ATest] | None) -> Sequence[Given]:
    """The tests that are meant, folders replaced by the tests in them; those by default where none
    are given. Raises InputError."""
    from rspverify.corpus.inputs import tests_meant

    problems = Problems()
    found = tests_meant(tests_given(given), problems).tests
    problems.tell()
    return found


def _scheme_text(given: AScheme) -> Given:
    if isinstance(given, str | Path):
        return str(given)
    if isinstance(given, Source):
        return given
    from rspverify.scheme.reader import read_scheme as read_table
    from rspverify.scheme.scheme import Scheme
    from rspverify.scheme.writer import scheme_text

    if not isinstance(given, Scheme):
        raise TypeError(f"a scheme must be a name, a path or a Scheme, not {_kind(given)}")
    try:
        if read_table(given.source) == given:
            return given.source
    except InputError:
        pass  # it was made of another text than that one
    return Source(f"<{given.name}>", scheme_text(given))


def _test_text(given: ATest) -> Given:
    if isinstance(given, str | Path):
        return str(given)
    if isinstance(given, Source):
        return given
    from rspverify.litmus.program import Program
    from rspverify.programs.litmus_test import LitmusTest
    from rspverify.programs.writer import litmus_text

    if isinstance(given, LitmusTest):
        return Source(f"<{given.name}>", litmus_text(given, given.name))
    if not isinstance(given, Program):
        raise TypeError(f"a test must be a name, a path or a Program, not {_kind(given)}")
    bounds = [given.within["iterations"]] if "iterations" in given.within else []
    unrolled = [replace(Settings(), unroll=each) for each in (*bounds, Settings().unroll)]
    ways = [replace(each, mixed=mixed) for each in unrolled for mixed in (False, True)]
    changed = "a Program must be as it was read, not changed: make another with TestBuilder"
    require(any(_read_so(given, each) for each in ways), changed)
    return given.source


def _read_so(program: Program, settings: Settings) -> bool:
    try:
        return settings.read(program.source) == program
    except InputError:
        return False


def _kind(given: object) -> str:
    return type(given).__name__


# ---- reading ------------------------------------------------------------------------------------


def read_scheme(given: AScheme) -> Scheme:
    """A scheme, read. Raises InputError with all of its mistakes."""
    from rspverify.corpus.inputs import meant_by
    from rspverify.scheme.reader import read_scheme_file

    (scheme,) = meant_by(schemes=schemes_given(given)).schemes
    return read_scheme_file(scheme)


def read_table(given: AScheme) -> Scheme | Table:
    """A scheme for a machine, or a table for a target, read. Raises InputError."""
    from rspverify.corpus.inputs import meant_by, missing
    from rspverify.translators import names_compiler, read_scheme_or_table

    (scheme,) = meant_by(schemes=schemes_given(given)).schemes
    if names_compiler(scheme):
        raise InputError([missing(str(scheme))])
    return read_scheme_or_table(scheme)


def read_test(given: ATest, settings: Settings | None = None) -> Program:
    """A test, read. Raises InputError with all of its mistakes."""
    from rspverify.corpus.inputs import meant_by

    (test,) = meant_by(tests=tests_given(given) or ()).tests
    return settled(settings).read(read_source(test))


def read_model(name: str | Path) -> MemoryModel:
    """A model: a name that `rspverify list` shows, or a .cat file. Raises InputError."""
    from rspverify.axiomatic.cat import load_model

    return load_model(str(name))
