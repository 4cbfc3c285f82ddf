"""The families that `generate` knows, from families.yaml, and how their tests are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from rspverify.files import write_new
from rspverify.generate.annotations import Annotations
from rspverify.generate.family import Family, Shape
from rspverify.generate.rows import NAME as ROWS
from rspverify.generate.rows import RowFamily
from rspverify.records import replace
from rspverify.source import InputError, Problem, require
from rspverify.wording import guess


class _Described(Struct, frozen=True, forbid_unknown_fields=True):
    """A family as families.yaml has it."""

    name: str
    meaning: str
    shapes: tuple[Shape, ...]
    devices: bool = False

    @property
    def family(self) -> Family:
        """The family on one device."""
        return Family(self.name, self.meaning, self.shapes)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """What families.yaml says."""

    letters: dict[str, str]
    families: tuple[_Described, ...]


_SAID = msgspec.yaml.decode(Path(__file__).with_name("families.yaml").read_bytes(), type=_File)

LETTERS = tuple(_SAID.letters.items())
"""What the letters of the shapes stand for."""

FAMILIES = {it.name: it.family for it in _SAID.families}
"""Those of `generate all`, on one device."""

DEVICE_FAMILIES = {
    f"{it.name}-devices": it.family.on_devices() for it in _SAID.families if it.devices
}
"""Those of `generate all-devices`."""

_TOGETHER = {"all": FAMILIES, "all-devices": DEVICE_FAMILIES}


MOST = 30_000
"""So many tests are written unless more are asked for."""


def chosen(
    name: str, asked: Annotations | None = None, *, distinct: bool = False
) -> dict[str, Family] | dict[str, RowFamily]:
    """The families that a command line means, by the folder that each gets: of one, no folder.

    asked: other choices for their letters. distinct: of tests that differ in names alone, one.
    Raises InputError for a name that is none.
    """
    if name == ROWS:
        message = "the family rows must stand alone: it has its own scopes, orders and memories"
        require(asked is None and not distinct, message)
        return {"": RowFamily()}
    known = FAMILIES | DEVICE_FAMILIES
    if name in _TOGETHER:
        found = dict(_TOGETHER[name])
    elif name in known:
        found = {"": known[name]}
    else:
        names = [*known, ROWS, *_TOGETHER]
        hint = guess(name, names) or "`rspverify generate --list` shows them"
        message = f"the family must be one of {', '.join(names)}, not {name}"
        raise InputError([Problem(None, message, hint)])
    if asked is not None:
        found = {place: each.with_annotations(asked) for place, each in found.items()}
    return {place: replace(each, distinct=distinct) for place, each in found.items()}


def require_few(families: Mapping[str, Family | RowFamily], limit: int = MOST) -> None:
    """Raises InputError if families may have more tests than a limit, told without making them."""
    most = sum(each.most for each in families.values())
    if most > limit:
        message = f"a family must have at most {limit:,} tests, not {most:,}"
        hint = "--scopes, --orders and --memories leave choices out; --limit allows more"
        raise InputError([Problem(None, message, hint)])


def write_tests(families: Mapping[str, Family | RowFamily], folder: Path | str) -> dict[str, int]:
    """Write the tests of families and return how many each has; `families` is by folder name.

    A folder name is below `folder`; the empty one is `folder` itself. Raises InputError, with
    nothing written, if a file that is there says something else, and if a folder cannot be used.
    """
    tests = {place: list(family.tests()) for place, family in families.items()}
    texts = {Path(folder) / place / it.file: it.text for place, its in tests.items() for it in its}
    write_new(texts, "the test of this name")
    return {families[place].name: len(its) for place, its in tests.items()}
