"""Which files a command line means: schemes by their ending, tests as files or folders."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from pathlib import Path

from rspverify.source import InputError, Problem, not_regular

SCHEME_ENDINGS = (".yaml", ".yml")
DEFAULT_TESTS = "litmus"


def split_inputs(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The schemes and the tests among paths, folders replaced by the tests in them.

    Without tests, those in the folder `litmus`. Raises InputError with every path that is wrong.
    """
    schemes = [path for path in paths if path.endswith(SCHEME_ENDINGS)]
    given = [path for path in paths if not path.endswith(SCHEME_ENDINGS)]
    problems = [_missing(path) for path in schemes if not Path(path).exists()]
    problems += [not_regular(path) for path in schemes if _irregular(Path(path))]
    if not schemes:
        message = "at least one scheme must be given, a file that ends in .yaml"
        problems.append(Problem(None, message, "e.g. schemes/proposed.yaml"))
    tests = find_tests(given or [DEFAULT_TESTS], problems)
    if problems:
        raise InputError(problems)
    return schemes, tests


def find_tests(paths: Sequence[str], problems: list[Problem]) -> list[str]:
    """Test files in a stable order, each once however its path is spelled.

    The first spelling counts. What is wrong with a path goes to `problems`.
    """
    found: dict[str, str] = {}

    def add(path: str) -> None:
        found.setdefault(os.path.abspath(path), path)

    for path in paths:
        place = Path(path)
        if place.is_dir():
            tests = sorted(str(each) for each in place.rglob("*.litmus"))
            if not tests:
                message = f"{path}: must have .litmus files in it or below it, and has none"
                problems.append(Problem(None, message))
            for each in tests:
                add(each)
        elif _irregular(place):
            problems.append(not_regular(path))
        elif place.exists():
            add(path)
        else:
            problems.append(_missing(path))
    return list(found.values())


def require(holds: bool, message: str) -> None:
    """Raises InputError with the message unless something holds of the command line."""
    if not holds:
        raise InputError([Problem(None, message)])


def require_machine(name: str | None) -> None:
    """Raises InputError unless it is the name of a machine, or None."""
    if name is None:
        return
    from rspverify.assembly import MACHINES

    machines = ", ".join(MACHINES)
    require(name in MACHINES, f"the machine must be one of {machines}, not {name}")


def _irregular(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


def require_solver(name: str | None) -> None:
    """Raises InputError unless it is a second solver that can be asked, or None."""
    if name is None:
        return
    from rspverify.smt.portfolio import is_solver, other_solvers

    if not is_solver(name):
        choices = ", ".join([*other_solvers(), "or a program that reads SMT-LIB 2"])
        message = f"the second solver must be {choices}, not {name}"
        hint = f"pip install {name}" if name in ("cvc5", "bitwuzla") else None
        raise InputError([Problem(None, message, hint)])


def _missing(path: str) -> Problem:
    hint = None
    if path == DEFAULT_TESTS:
        hint = "name a test or a folder of tests, or run where the folder litmus is"
    return Problem(None, f"{path}: no such file or folder", hint)
