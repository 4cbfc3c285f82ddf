"""Suites: folders of tests that say what the tests are put to (docs/suites.md)."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, assert_never

from msgspec import Struct

from rspverify.architecture.catalogue import ENDING
from rspverify.options import choices_of, declared, expected
from rspverify.records import replace
from rspverify.schedulers import Unit, schedulers_of
from rspverify.shipped import located, tests_below
from rspverify.soundness.settings import (
    OF_A_TEST,
    OF_MACHINES,
    OPTIONS,
    Settings,
    require_consistent,
)
from rspverify.source import InputError, Problem, Problems, read_source
from rspverify.yaml_reader import (
    List,
    Node,
    Text,
    found,
    read_choice,
    read_fields,
    read_text,
)

FILE = "suite.yaml"
EXPECTED = "expected.yaml"

T = TypeVar("T")
R = TypeVar("R")


class Kind(StrEnum):
    """What the tests of a suite are put to; as the key of suite.yaml that names it."""

    SCHEMES = "schemes"
    MODELS = "models"
    MACHINES = "machines"
    SCHEDULERS = "schedulers"
    PROOFS = "proofs"

    @property
    def noun(self) -> str:
        """One of them."""
        return "question" if self is Kind.PROOFS else self.value.removesuffix("s")


class Suite(Struct, frozen=True):
    """A folder of tests, or of schemes that are to be proved. about: what they are for, in a
    sentence.

    columns: the schemes, by path from here, the models, the machines or the schedulers; of proofs
    what is asked of each scheme. proved: the schemes that are to be proved, by path. chosen:
    settings by their fields. expected: the file of what is expected, which need not exist. default:
    whether these tests are meant where a scheme is given without any. optional: the tests for which
    a scheme need not have rows. unit: what schedulers stop.
    """

    folder: str
    about: str
    kind: Kind
    columns: tuple[str, ...]
    chosen: Mapping[str, Any]
    expected: str
    default: bool
    optional: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    unit: Unit = Unit.GROUP

    def tests(self) -> list[str]:
        """Its tests in a stable order, or the schemes that are to be proved."""
        return list(self.proved) or tests_below(self.folder)

    def settings(self, given: Settings) -> Settings:
        """Its settings, but for what a command line has chosen otherwise. Raises InputError."""
        default = Settings()
        own = {
            name: value
            for name, value in self.chosen.items()
            if getattr(given, name) == getattr(default, name)
        }
        settings = replace(given, **own)
        require_consistent(settings)
        return settings


def read_each(read: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """read(item) for each item. Raises InputError for all that is wrong with any of them."""
    found, problems = list[R](), Problems()
    for item in items:
        with problems:
            found.append(read(item))
    problems.tell()
    return found


def find_suites(folder: str) -> list[Suite]:
    """The suites in a folder or below it, those first that are the default. Raises InputError."""
    suites = read_each(read_suite, _suite_folders(folder))
    return sorted(suites, key=lambda suite: (not suite.default, suite.folder))


def optional_in(folder: str) -> set[str]:
    """The tests of a folder that a suite in it or around it calls optional.

    None where a suite has mistakes: then no test is optional.
    """
    around = [str(each) for each in Path(folder).parents if located(each / FILE).is_file()]
    with suppress(InputError):
        suites = [read_suite(around[0])] if around else find_suites(folder)
        return {test for suite in suites for test in suite.optional}
    return set()


def _suite_folders(folder: str) -> Iterator[str]:
    """Those that have a suite.yaml; what is below one belongs to it."""
    start = located(folder)
    for place, below, files in os.walk(start):
        if FILE in files:
            below.clear()
            yield str(Path(folder, Path(place).relative_to(start)))
        below.sort()


def read_suite(folder: str) -> Suite:
    """The suite of a folder, from its suite.yaml. Raises InputError with every mistake in it."""
    source = read_source(os.path.join(folder, FILE))
    from rspverify.yaml_text import read_yaml

    root, problems = read_yaml(source)
    if root is None:
        raise InputError(problems)
    keys = (*KEYS, *SETTINGS)
    fields = read_fields(root, "the suite", keys, ("about",), problems) or {}
    about = read_text(fields, "about", problems)
    kinds = [kind for kind in Kind if kind in fields]
    if len(kinds) != 1:
        span = fields[kinds[1]].span if kinds else root.span
        problems.append(Problem(span, f"the suite must have one of the keys {', '.join(Kind)}"))
    for key, kind, why in (
        ("optional", Kind.SCHEMES, "that no scheme is checked with"),
        ("unit", Kind.SCHEDULERS, "that no scheduler runs"),
    ):
        if key in fields and kind not in kinds:
            message = f"{key} must be left out of a suite {why}"
            problems.append(Problem(fields[key].span, message))
    unit = read_choice(fields["unit"], "unit", list(Unit), problems) if "unit" in fields else None
    columns = tuple(
        each for kind in kinds for each in _columns(fields[kind], kind, folder, problems)
    )
    chosen = {}
    for key, name in SETTINGS.items():
        if key in fields:
            chosen[name] = _value(fields[key], key, name, problems)
            for kind in kinds:
                if not takes(kind, name):
                    message = (
                        f"a suite of {kind} must have no {key}, which schemes are checked with"
                    )
                    problems.append(Problem(fields[key].span, message))
    file = read_text(fields, "expected", problems) or EXPECTED
    default = False
    if "default" in fields:
        default = read_choice(fields["default"], "default", _BOOLEANS, problems) == "true"
        if default and Kind.SCHEMES not in kinds:
            message = "default must be false for a suite that no scheme is checked with"
            problems.append(Problem(fields["default"].span, message))
    tests = tests_below(folder)
    optional: dict[str, None] = {}
    for each in _names(fields["optional"], "optional", problems) if "optional" in fields else ():
        those = fnmatch.filter(tests, os.path.join(glob.escape(folder), each.text))
        optional |= dict.fromkeys(those)
        if not those:
            message = f"optional must name tests of the suite, and no test is {each.text}"
            problems.append(Problem(each.span, message))
    if not tests and Kind.PROOFS not in kinds:
        message = "the suite must have .litmus files in its folder or below it, and has none"
        problems.append(Problem(root.span, message))
    if problems or about is None:
        raise InputError(problems)
    file = os.path.join(folder, file)
    proved: tuple[str, ...] = ()
    if kinds[0] is Kind.PROOFS:
        columns, proved = OF_PROOFS, columns
    return Suite(
        folder,
        about,
        kinds[0],
        columns,
        chosen,
        file,
        default,
        tuple(optional),
        proved,
        Unit(unit or Unit.GROUP),
    )


def _names(node: Node, key: str, problems: list[Problem]) -> list[Text]:
    """A name or a list of names."""
    items = node.items if isinstance(node, List) else (node,)
    if not items:
        problems.append(Problem(node.span, f"{key} must name at least one, not an empty list"))
    names: list[Text] = []
    for item in items:
        if isinstance(item, Text) and not item.null:
            names.append(item)
        else:
            message = f"{key} must be a name or a list of names, not {found(item)}"
            problems.append(Problem(item.span, message))
    return names


def _columns(node: Node, kind: Kind, folder: str, problems: list[Problem]) -> list[str]:
    """The names of a list; paths of files are those from the folder."""
    names: list[str] = []
    for item in _names(node, kind, problems):
        name = item.text
        is_path = kind in (Kind.SCHEMES, Kind.PROOFS) or name.endswith(_ENDINGS)
        if is_path:
            name = os.path.normpath(os.path.join(folder, name))
            if not located(name).is_file():
                problems.append(Problem(item.span, f"{name}: no such file"))
        if name in names:
            problems.append(Problem(item.span, f"{kind} must name {item.text} once, not twice"))
        if kind is Kind.SCHEDULERS:
            try:
                schedulers_of([name])
            except InputError as error:
                problems += (replace(each, span=item.span) for each in error.problems)
        names.append(name)
    return names


_ENDINGS = (".cat", ENDING)
"""How files of models and of machines are called."""
_BOOLEANS = ("true", "false")
OF_PROOFS = ("soundness", "progress")
"""What is asked of a scheme that is to be proved."""
KEYS = ("about", *Kind, "expected", "default", "optional", "unit")
"""The keys of a suite.yaml that are no settings."""
SETTINGS = {it.name.removeprefix("--"): name for name, it in OPTIONS.items() if not it.local}
"""The keys of a suite.yaml that are settings, and their fields."""


def takes(kind: Kind, setting: str) -> bool:
    """Whether a suite of a kind may choose a setting."""
    match kind:
        case Kind.SCHEMES:
            return True
        case Kind.MODELS:
            return setting in OF_A_TEST[1:]
        case Kind.MACHINES:
            return setting in OF_MACHINES
        case Kind.SCHEDULERS:
            return setting in OF_A_TEST
        case Kind.PROOFS:
            return setting in ("seconds", "machine")
        case _:
            assert_never(kind)


def _value(node: Node, key: str, name: str, problems: list[Problem]) -> Any:
    """A setting of its type; None, and a problem more, if it is none."""
    kind: Any = declared(Settings)[name].kind
    if kind is bool:
        return read_choice(node, key, _BOOLEANS, problems) == "true"
    if choices := choices_of(kind):
        word = read_choice(node, key, choices, problems)
        return None if word is None else kind(word)
    text = read_text({key: node}, key, problems)
    if text is None or kind is str:
        return text
    option = OPTIONS[name]
    with suppress(ValueError):
        number = kind(text)
        if option.least is None or number >= option.least:
            return number
    message = f"{key} must be {expected(kind, option)}, not {text}"
    problems.append(Problem(node.span, message))
    return None
