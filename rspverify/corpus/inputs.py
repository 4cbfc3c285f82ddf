"""What the words of a command line mean: schemes, tests as files or folders, suites.

A path is what is there, or what ships (shipped.py); another word is a name.
"""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from rspverify.corpus.suite import FILE, Suite, find_suites, read_each
from rspverify.shipped import (
    SCHEME_ENDINGS,
    SCHEMES,
    TEST_ENDING,
    TESTS,
    located,
    schemes_named,
    ships,
    tests_below,
    tests_named,
)
from rspverify.source import InputError, Problem, not_regular


@dataclass(frozen=True)
class Meant:
    """The paths of schemes and of tests. given: the files and folders that the tests are of. notes:
    what must be said of how they were found."""

    schemes: list[str]
    tests: list[str]
    given: Sequence[str] = ()
    notes: tuple[str, ...] = ()


def split_inputs(words: Sequence[str]) -> Meant:
    """The schemes and the tests that words mean, folders replaced by the tests in them.

    Without tests, those of `default_tests`. Raises InputError with every word that means nothing.
    """
    problems: list[Problem] = []
    schemes = [path for word in words if (path := _as_scheme(word)) is not None]
    given = [word for word in words if _as_scheme(word) is None]
    problems += [_missing(path) for path in schemes if not located(path).exists()]
    problems += [not_regular(path) for path in schemes if _irregular(located(path))]
    if not schemes:
        message = f"at least one scheme must be given, a file that ends in {SCHEME_ENDINGS[0]}"
        problems.append(Problem(None, message, f"e.g. {SCHEMES}/proposed.yaml"))
    meant = Meant([], find_tests(given, problems), given) if given else default_tests(problems)
    if problems:
        raise InputError(problems)
    return replace(meant, schemes=schemes)


def default_tests(problems: list[Problem]) -> Meant:
    """The tests of the default suites below `litmus`; of a folder without suites all its tests.

    A folder `litmus` here comes before the one that ships. What is wrong goes to `problems`.
    """
    try:
        suites = [each for each in find_suites(TESTS) if each.default]
    except InputError as error:
        problems += error.problems
        return Meant([], [])
    folders = [each.folder for each in suites] or [TESTS]
    whose = "that ship with rspverify" if ships(TESTS) else f"of the folder {TESTS} here"
    note = f"no tests are given, so it is those {whose}: {', '.join(folders)}"
    return Meant([], find_tests(folders, problems), folders, (note,))


def scheme_meant(word: str, problems: list[Problem]) -> str:
    """The path of the scheme that a word means; where it means none that goes to `problems`."""
    path = _as_scheme(word) or word
    if not located(path).exists():
        problems.append(_missing(path))
    return path


def meant_by(*, schemes: Sequence[str] = (), tests: Sequence[str] = ()) -> Meant:
    """The paths of schemes and of tests, one for each word. Raises InputError for all of them."""
    problems: list[Problem] = []
    paths = [scheme_meant(word, problems) for word in schemes]
    files = [
        word if located(word).exists() else "".join(find_tests([word], problems)) for word in tests
    ]
    if problems:
        raise InputError(problems)
    return Meant(paths, files)


def _as_scheme(word: str) -> str | None:
    """The path of the scheme that a word means; None if it is none: a test, or unknown."""
    if word.endswith(SCHEME_ENDINGS):
        return word
    named = schemes_named(word) if _is_name(word) else []
    return named[0] if named else None


def _is_name(word: str) -> bool:
    return Path(word).name == word and not located(word).exists()


def tests_in(paths: Sequence[str]) -> list[str]:
    """The tests that files and folders mean. Raises InputError."""
    problems: list[Problem] = []
    tests = find_tests(paths, problems)
    if problems:
        raise InputError(problems)
    return tests


def find_tests(words: Sequence[str], problems: list[Problem]) -> list[str]:
    """The paths of tests in a stable order, each once however its path is spelled.

    The first spelling counts. What is wrong with a word goes to `problems`.
    """
    found: list[str] = []
    for word in words:
        place = located(word)
        if place.is_dir():
            tests = tests_below(word)
            if not tests:
                message = f"{word}: must have {TEST_ENDING} files in it or below it, and has none"
                problems.append(Problem(None, message))
            found += tests
        elif _irregular(place):
            problems.append(not_regular(word))
        elif place.exists():
            found.append(word)
        elif _is_name(word) and len(named := tests_named(word)) == 1:
            found += named
        elif _is_name(word) and named:
            message = f"{word}: must be one test, and {len(named)} are called so"
            problems.append(Problem(None, message, f"give its path: {', '.join(named[:5])}"))
        else:
            problems.append(_missing(word))
    spelled: dict[str, str] = {}
    for path in found:
        spelled.setdefault(os.path.abspath(path), path)
    return list(spelled.values())


def suites_meant(words: Sequence[str]) -> list[Suite] | None:
    """The suites in folders or below them, without any word those below `litmus`.

    None where something else is meant: a scheme or a test is among the words. Raises InputError.
    """
    others = any(word.endswith(TEST_ENDING) or _as_scheme(word) is not None for word in words)
    if others or any(_is_name(word) and tests_named(word) for word in words):
        return None
    found = chain.from_iterable(read_each(_suites_in, words or [TESTS]))
    return list({os.path.abspath(each.folder): each for each in found}.values())


def _suites_in(path: str) -> list[Suite]:
    if not located(path).is_dir():
        raise InputError([_missing(path)])
    if there := find_suites(path):
        return there
    message = f"{path}: must be a suite, or have one below it: a folder with a {FILE}"
    hint = f"to check a scheme with its tests: rspverify check SCHEME {path}"
    raise InputError([Problem(None, message, hint)])


def _irregular(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


def _missing(word: str) -> Problem:
    """That a word means nothing; names that are nearly so."""
    if not _is_name(word) or "." in word:
        return Problem(None, f"{word}: no such file or folder", "check the path")
    names = {Path(path).stem for path in [*schemes_named(), *tests_named()]}
    near = get_close_matches(word, sorted(names), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "rspverify list shows all names"
    message = f"{word}: no such file or folder, and no scheme or test is called so"
    return Problem(None, message, hint)
