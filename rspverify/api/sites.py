"""Sites of static pages: which folder may hold one, and how one is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from rspverify.answers import SuiteReport
from rspverify.files import make_folder, write
from rspverify.source import InputError, Problem

LISTED = "files.txt"
"""The file of a site that lists all its files, itself left out."""
_NAME = re.compile(r"(cases/)?[A-Za-z0-9+@_][A-Za-z0-9+@_.-]*")


class Site(Struct, frozen=True):
    """What was written: how many files, and how many bytes."""

    folder: str
    files: int
    size: int

    @property
    def first(self) -> str:
        """The file to open."""
        return str(Path(self.folder, "index.html"))


def require_site(folder: str) -> None:
    """Raises InputError unless a folder is a site from before, empty, or not there yet."""
    place = Path(folder)
    if not folder or (place.exists() and not place.is_dir()):
        raise InputError([Problem(None, f"--site must be a folder, not {folder or 'nothing'}")])
    if place.is_dir() and not (place / LISTED).is_file() and any(place.iterdir()):
        message = f"--site {folder}: must be a site from before, an empty folder, or not exist"
        raise InputError([Problem(None, message, "nothing in it was touched")])


def write_site(folder: str, reports: Sequence[SuiteReport]) -> Site:
    """Write the site of some reports, and remove what only the one before had. Raises InputError.

    Until all is written the list has the files of both, so that a run that was ended half-way
    can be repeated.
    """
    from rspverify.render.site_html import CASES, site

    require_site(folder)
    place = Path(folder)
    before = _listed(place)
    make_folder(place / CASES)
    texts = dict(site(reports))
    write(place / LISTED, _lines({*before, *texts}))
    for name, text in texts.items():
        write(place / name, text)
    for name in before - texts.keys():
        with suppress(OSError):
            (place / name).unlink()
    write(place / LISTED, _lines(texts))
    return Site(folder, len(texts), sum(len(text.encode()) for text in texts.values()))


def _lines(names: Sequence[str] | set[str] | dict[str, str]) -> str:
    return "".join(f"{each}\n" for each in sorted(names))


def _listed(place: Path) -> set[str]:
    """The files of the site that is there; only names that one may have."""
    try:
        lines = (place / LISTED).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return set()
    here = (place / "cases").is_symlink()
    return {it for it in lines if _NAME.fullmatch(it) and not (here and "/" in it)}
