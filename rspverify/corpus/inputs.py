"""What the words of a command line mean: schemes, tests as files or folders, suites.

A path is what is there, or what ships (shipped.py); another word is a name.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path

from msgspec import Struct

from rspverify.corpus.suite import FILE, Suite, find_suites, optional_in, read_each
from rspverify.records import replace
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
from rspverify.source import (
    Given,
    InputError,
    Problem,
    Source,
    name_of,
    not_regular,
    read_source,
)
from rspverify.translators import names_compiler


class Meant(Struct, frozen=True):
    """Schemes and tests, each by its path or as a text. given: the files and folders that the tests
    are of. notes: what must be said of how they were found."""

    schemes: Sequence[Given]
    tests: Sequence[Given]
    given: Sequence[str] = ()
    notes: tuple[str, ...] = ()

    @property
    def files(self) -> list[str]:
        """The tests by their names."""
        return [name_of(each) for each in self.tests]

    @property
    def optional(self) -> set[str]:
        """The tests that the suites of these folders call optional."""
        folders = [each for each in self.given if located(each).is_dir()]
        return {test for folder in folders for test in optional_in(folder)}


def split(words: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """The words that mean schemes, and those that mean tests; None if there are none of these."""
    schemes = [path for word in words if (path := _as_scheme(word)) is not None]
    return schemes, [word for word in words if _as_scheme(word) is None] or None


def inputs_meant(schemes: Iterable[Given], tests: Iterable[Given] | None) -> Meant:
    """At least one scheme, and tests, folders replaced by the tests in them.

    Without tests, those of `default_tests`. Raises InputError with every word that means nothing.
    """
    problems: list[Problem] = []
    found = [_scheme(each, problems) for each in schemes]
    meant = tests_meant(tests, problems)
    if not found and not problems:
        message = f"at least one scheme must be given, a file that ends in {SCHEME_ENDINGS[0]}"
        problems.append(Problem(None, message, f"e.g. {SCHEMES}/proposed.yaml"))
    if not problems and not meant.tests:
        problems.append(Problem(None, "at least one test must be given, not none"))
    if problems:
        raise InputError(problems)
    return replace(meant, schemes=found)


def tests_meant(given: Iterable[Given] | None, problems: list[Problem]) -> Meant:
    """Tests, folders replaced by the tests in them, in a stable order, each once however its path
    is spelled; without any those of `default_tests`. What is wrong with a word goes to `problems`.
    """
    if given is None:
        return default_tests(problems)
    found: list[Given] = []
    words = []
    for each in given:
        if isinstance(each, Source):
            found.append(each)
        else:
            words.append(each)
            found += _found(each, problems)
    return Meant([], _each_once(found, problems), words)


def _each_once(found: Iterable[Given], problems: list[Problem]) -> list[Given]:
    """Each test once, by the first spelling of its path, and two of one name and one text; two
    texts must have two names."""
    spelled: dict[Given, Given] = {}
    named: dict[str, Given] = {}
    for each in found:
        spelled.setdefault(os.path.abspath(each) if isinstance(each, str) else each, each)
    for each in spelled.values():
        name = name_of(each)
        other = named.setdefault(name, each)
        if other != each and read_source(other).text != read_source(each).text:
            message = f"{name}: two tests must have two names, and both are called so"
            problems.append(Problem(None, message, "give one of them another title"))
    return list(named.values())


def _scheme(given: Given, problems: list[Problem]) -> Given:
    """A text, the path of the scheme that a word means, or the word of a compiler."""
    if isinstance(given, Source) or names_compiler(given):
        return given
    path = scheme_meant(given, problems)
    if _irregular(located(path)):
        problems.append(not_regular(path))
    return path


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
    return replace(tests_meant(folders, problems), notes=(note,))


def scheme_meant(word: str, problems: list[Problem]) -> str:
    """The path of the scheme that a word means; where it means none that goes to `problems`."""
    path = _as_scheme(word) or word
    if not located(path).exists():
        problems.append(missing(path))
    return path


def meant_by(*, schemes: Iterable[Given] = (), tests: Iterable[Given] = ()) -> Meant:
    """The schemes and the tests that are meant, one for each that is given; no folders.

    Raises InputError for all of them.
    """
    problems: list[Problem] = []
    found = [_scheme(each, problems) for each in schemes]
    files = [_test(each, problems) for each in tests]
    if problems:
        raise InputError(problems)
    return Meant(found, files)


def _test(given: Given, problems: list[Problem]) -> Given:
    """A text, or the path of the test that a word means."""
    if isinstance(given, Source) or located(given).exists():
        return given
    return "".join(_found(given, problems))


def _as_scheme(word: str) -> str | None:
    """The path of the scheme that a word means; None if it is none: a test, or unknown."""
    if word.endswith(SCHEME_ENDINGS) or names_compiler(word):
        return word
    named = schemes_named(word) if _is_name(word) else []
    return named[0] if named else None


def is_test(word: str) -> bool:
    """Whether a word is the path or the name of a test."""
    return word.endswith(TEST_ENDING) or (_is_name(word) and bool(tests_named(word)))


def _is_name(word: str) -> bool:
    return Path(word).name == word and not located(word).exists()


def _found(word: str, problems: list[Problem]) -> list[str]:
    """The paths of the tests that a word means."""
    place = located(word)
    if place.is_dir():
        tests = tests_below(word)
        if not tests:
            message = f"{word}: must have {TEST_ENDING} files in it or below it, and has none"
            problems.append(Problem(None, message))
        return tests
    if _irregular(place):
        problems.append(not_regular(word))
        return []
    if place.exists():
        return [word]
    named = tests_named(word) if _is_name(word) else []
    if len(named) > 1:
        message = f"{word}: must be one test, and {len(named)} are called so"
        problems.append(Problem(None, message, f"give its path: {', '.join(named[:5])}"))
        return []
    if not named:
        problems.append(missing(word))
    return named


def suites_meant(words: Sequence[str]) -> list[Suite] | None:
    """The suites in folders or below them, without any word those below `litmus`.

    None where something else is meant: a scheme or a test is among the words. Raises InputError.
    """
    if any(is_test(word) or _as_scheme(word) is not None for word in words):
        return None
    found = chain.from_iterable(read_each(_suites_in, words or [TESTS]))
    return list({os.path.abspath(each.folder): each for each in found}.values())


def _suites_in(path: str) -> list[Suite]:
    if not located(path).is_dir():
        raise InputError([missing(path)])
    if there := find_suites(path):
        return there
    message = f"{path}: must be a suite, or have one below it: a folder with a {FILE}"
    hint = f"to check a scheme with its tests: rspverify check SCHEME {path}"
    raise InputError([Problem(None, message, hint)])


def _irregular(place: Path) -> bool:
    return place.exists() and not place.is_file() and not place.is_dir()


def missing(word: str) -> Problem:
    """That a word means nothing; names that are nearly so."""
    if names_compiler(word):
        message = f"{word}: no such file or folder, and a compiler cannot stand here"
        return Problem(None, message, "rspverify extract makes a table of what a compiler emits")
    if not _is_name(word) or word.endswith((TEST_ENDING, *SCHEME_ENDINGS)):
        return Problem(None, f"{word}: no such file or folder", "check the path")
    if schemes_named(word):
        return Problem(None, f"{word}: must be a test here, not a scheme")
    if tests_named(word):
        return Problem(None, f"{word}: must be a scheme here, not a test")
    names = {Path(path).stem for path in [*schemes_named(), *tests_named()]}
    near = get_close_matches(word, sorted(names), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "rspverify list shows all names"
    message = f"{word}: no such file or folder, and no scheme or test is called so"
    return Problem(None, message, hint)
