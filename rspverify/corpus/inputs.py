"""Which files a command line means: schemes by their ending, tests as files or folders, suites."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from rspverify.corpus.suite import CORPUS, FILE, Suite, find_suites, read_each
from rspverify.source import InputError, Problem, not_regular

SCHEME_ENDINGS = (".yaml", ".yml")


def split_inputs(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The schemes and the tests among paths, folders replaced by the tests in them.

    Without tests, those of `default_tests`. Raises InputError with every path that is wrong.
    """
    schemes = [path for path in paths if path.endswith(SCHEME_ENDINGS)]
    given = [path for path in paths if not path.endswith(SCHEME_ENDINGS)]
    problems = [_missing(path) for path in schemes if not Path(path).exists()]
    problems += [not_regular(path) for path in schemes if _irregular(Path(path))]
    if not schemes:
        message = "at least one scheme must be given, a file that ends in .yaml"
        problems.append(Problem(None, message, "e.g. schemes/proposed.yaml"))
    tests = find_tests(given, problems) if given else default_tests(problems)
    if problems:
        raise InputError(problems)
    return schemes, tests


def default_tests(problems: list[Problem]) -> list[str]:
    """The tests of the default suites below `litmus`; of a folder without suites all its tests."""
    try:
        suites = [each for each in find_suites(CORPUS) if each.default]
    except InputError as error:
        problems += error.problems
        return []
    return find_tests([each.folder for each in suites] or [CORPUS], problems)


def tests_in(paths: Sequence[str]) -> list[str]:
    """The tests that files and folders mean. Raises InputError."""
    problems: list[Problem] = []
    tests = find_tests(paths, problems)
    if problems:
        raise InputError(problems)
    return tests


def find_tests(paths: Sequence[str], problems: list[Problem]) -> list[str]:
    """Test files in a stable order, each once however its path is spelled.

    The first spelling counts. What is wrong with a path goes to `problems`.
    """
    found: list[str] = []
    for path in paths:
        place = Path(path)
        if place.is_dir():
            tests = sorted(map(str, place.rglob("*.litmus")))
            if not tests:
                message = f"{path}: must have .litmus files in it or below it, and has none"
                problems.append(Problem(None, message))
            found += tests
        elif _irregular(place):
            problems.append(not_regular(path))
        elif place.exists():
            found.append(path)
        else:
            problems.append(_missing(path))
    spelled: dict[str, str] = {}
    for path in found:
        spelled.setdefault(os.path.abspath(path), path)
    return list(spelled.values())


def suites_meant(paths: Sequence[str]) -> list[Suite] | None:
    """The suites in folders or below them, without any path those below `litmus`.

    None where something else is meant: a scheme or a test is among the paths. Raises InputError.
    """
    if any(path.endswith((*SCHEME_ENDINGS, ".litmus")) for path in paths):
        return None
    found = chain.from_iterable(read_each(_suites_in, paths or [CORPUS]))
    return list({os.path.abspath(each.folder): each for each in found}.values())


def _suites_in(path: str) -> list[Suite]:
    if not Path(path).is_dir():
        raise InputError([_missing(path, a_suite=True)])
    if there := find_suites(path):
        return there
    message = f"{path}: must be a suite, or have one below it: a folder with a {FILE}"
    hint = f"to check a scheme with its tests: rspverify check SCHEME {path}"
    raise InputError([Problem(None, message, hint)])


def _irregular(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


def _missing(path: str, *, a_suite: bool = False) -> Problem:
    hint = None
    if path == CORPUS:
        what = "a scheme and tests, or a suite" if a_suite else "a test or a folder of tests"
        hint = f"name {what}, or run where the folder {CORPUS} is"
    return Problem(None, f"{path}: no such file or folder", hint)
