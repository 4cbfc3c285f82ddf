"""`init`: A folder with a scheme to edit."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rspverify.convert import Schema, laid_out
from rspverify.corpus.expected import expected_text, read_expected
from rspverify.corpus.schema import expected_schema
from rspverify.corpus.suite import EXPECTED, read_suite
from rspverify.files import write_new
from rspverify.options import Parameters, argument
from rspverify.scheme.schema import scheme_schema
from rspverify.shipped import SCHEMES, SHIPPED
from rspverify.soundness.settings import Settings
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output
from rspverify.yaml_reader import EDITORS

SCHEME = "mine.yaml"
_NAME, _BASE = "mine", "proposed"
_SUITE = "litmus/rsp"
_PLACES = {
    "rspverify.yml": ".github/workflows/rspverify.yml",
    "pre-commit-config.yaml": ".pre-commit-config.yaml",
}
"""Where files that are taken as they are go, in the folder."""
_SCHEMAS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    SCHEME: (".rspverify/scheme.schema.json", scheme_schema),
    EXPECTED: (".rspverify/expected.schema.json", expected_schema),
}
"""What editors complete and check files by: it lies beside them, so that nothing is looked up."""

CHECK = f"rspverify check {SCHEME} {_SUITE} --expect {EXPECTED}"
"""The next command, in the folder."""


def write_starter(folder: str) -> list[str]:
    """Write the files, and return their paths. Raises InputError where others are in the way."""
    texts = {Path(folder, place): text for place, text in _texts().items()}
    write_new(texts, "as it comes from init")
    return [str(place) for place in texts]


def _texts() -> Mapping[str, str]:
    """Texts by their places in the folder."""
    found = {SCHEME: _scheme(), EXPECTED: _expected()}
    for name, (place, made) in _SCHEMAS.items():
        found |= {name: f"{EDITORS}{place}\n{found[name]}", place: laid_out(made())}
    return found | {place: _text("init", name) for name, place in _PLACES.items()}


def _scheme() -> str:
    """The shipped scheme under a name of its own, from its rows on as it is."""
    base = _text(SCHEMES, f"{_BASE}.yaml")
    rest = base[base.index("\nmachine:") :]
    source = f'source: "begins as {_BASE}, RSP paper, Tab. 3"'
    return f"{_text('init', SCHEME)}name: {_NAME}\n{source}{rest}"


def _expected() -> str:
    """What the suite expects of the shipped scheme, of this one."""
    suite = read_suite(_SUITE)
    known = read_expected(suite.expected)
    words = {
        f"{_SUITE}/{test}": {_NAME: columns[_BASE]}
        for test, columns in known.verdicts.items()
        if _BASE in columns
    }
    return expected_text(words, suite.settings(Settings()).model)


def _text(folder: str, name: str) -> str:
    return (SHIPPED / folder / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class InitParameters(Parameters):
    """Where the files go."""

    folder: str = argument("Where the files go. Default: here.", metavar="FOLDER", default=".")


def init(asked: InitParameters, output: Output) -> int:
    """Write a scheme to edit, what is expected of it, and files that check it in a pipeline.

    Never overwrites a file that is not the very same.
    """
    for path in write_starter(asked.folder):
        print(f"wrote {path}")
    here = os.path.samefile(asked.folder, ".")
    print(f"next: {'' if here else f'cd {shlex.quote(asked.folder)} && '}{CHECK}")
    return 0


COMMAND = Command(init, InitParameters)
