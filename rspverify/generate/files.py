"""Tests to files: in a stable order, and never over a file that is not the very same test."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rspverify.files import write_new
from rspverify.generate.family import Family


def write_tests(families: Mapping[str, Family], folder: Path | str) -> dict[str, int]:
    """Write the tests of families and return how many each has; `families` is by folder name.

    A folder name is below `folder`; the empty one is `folder` itself. Raises InputError, with
    nothing written, if a file that is there says something else, and if a folder cannot be used.
    """
    tests = {place: list(family.tests()) for place, family in families.items()}
    texts = {Path(folder) / place / it.file: it.text for place, its in tests.items() for it in its}
    write_new(texts, "the test of this name")
    return {families[place].name: len(its) for place, its in tests.items()}
