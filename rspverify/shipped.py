"""What ships with rspverify, and where it is found: schemes and tests, as in the repository.

One rule for all commands. A path means what is there; where nothing is there, what ships under the
same path, so that `schemes/proposed.yaml` and `litmus/rsp` can be named from any folder. A word
that is neither is the name of a scheme, as `proposed`, or of a test, as `Fig4`.

Where strangers name files, those of one folder can be read besides what ships, and no others.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from glob import escape
from importlib.resources import files
from os.path import exists  # False where a name is too long, too
from pathlib import Path

SCHEMES, TESTS = "schemes", "litmus"
"""The folders that ship, and those in which schemes and tests of one's own are looked for."""

OF_PROCESSORS = f"{TESTS}/amdgpu"
"""The tests for the tables of compilers."""

SCHEME_ENDINGS = (".yaml", ".yml")
TEST_ENDING = ".litmus"

_OURS = Path(str(files("rspverify")))
SHIPPED = _OURS / "data"
_SEALED: ContextVar[Path | None] = ContextVar("sealed", default=None)


def located(path: Path | str) -> Path:
    """Where a path leads: to what is there, or else to what ships under it, if anything does."""
    own = Path(path)
    if own.is_absolute() or exists(own) or own.parts[:1] not in ((SCHEMES,), (TESTS,)):
        return own
    shipped = SHIPPED / own
    return shipped if ".." not in own.parts and exists(shipped) else own


def ships(path: Path | str) -> bool:
    """Whether a path leads to what ships, and not to a file or folder of the user's."""
    return located(path) != Path(path)


def tests_below(folder: str) -> list[str]:
    """The tests in a folder and below it, in a stable order, by the path of the folder."""
    place = located(folder)
    found = (each.relative_to(place) for each in place.rglob(f"*{TEST_ENDING}"))
    return sorted(str(Path(folder, each)) for each in found)


def schemes_named(name: str | None = None) -> list[str]:
    """The schemes of a name, or all: those that ship, but for those of a folder `schemes` here."""
    stem = "*" if name is None else escape(name)
    own, shipped = _named(SCHEMES, *(stem + ending for ending in SCHEME_ENDINGS))
    return sorted([*own, *(each for each in shipped if each not in own)])


def tests_named(name: str | None = None) -> list[str]:
    """The tests of a name, or all: those below folders of tests here, or else those that ship."""
    stem = "*" if name is None else escape(name)
    own, shipped = _named(TESTS, stem + TEST_ENDING)
    return own or shipped


def _named(folder: str, *patterns: str) -> tuple[list[str], list[str]]:
    """Files below a folder by their paths: those here, and those that ship."""

    def below(place: Path) -> list[str]:
        found = (sorted(map(str, (place / folder).rglob(each))) for each in patterns)
        return [str(Path(path).relative_to(place)) for paths in found for path in paths]

    return below(Path()), below(SHIPPED)


@contextmanager
def sealed(folder: Path) -> Iterator[None]:
    """No file can be read inside but those that ship and those of the folder: others are absent."""
    token = _SEALED.set(folder.resolve())
    try:
        yield
    finally:
        _SEALED.reset(token)


def hidden(path: Path) -> bool:
    """Whether a path leads to what must not be read, wherever its links and `..` go."""
    folder = _SEALED.get()
    if folder is None:
        return False
    if path.is_relative_to(_OURS) and ".." not in path.parts:  # links below it are ours
        return False
    try:
        place = path.resolve()
    except (OSError, ValueError, RuntimeError):
        return True
    return not (place.is_relative_to(_OURS.resolve()) or place.is_relative_to(folder))
