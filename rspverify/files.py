"""Files that are written for users: whole or not at all, and never over what is not ours."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from rspverify.source import InputError, Problem, real_path

_NAMED = 5
"""So many files in the way are named; of more, their number is said."""


@contextmanager
def written(path: Path | str) -> Iterator[TextIO]:
    """A stream into a file, which is there only once all is written.

    A device or a pipe is written to as it is. Raises InputError where nothing can be written.
    """
    place = real_path(path)
    if place.is_dir() or not Path(path).name:
        raise InputError([Problem(None, f"{path or '-o'}: must be a file to write to")])
    try:
        if place.exists() and not place.is_file():
            with _opened(place) as stream:
                yield stream
            return
        with tempfile.TemporaryDirectory(prefix=".rspverify-", dir=place.parent) as folder:
            unfinished = Path(folder, place.name)
            with _opened(unfinished) as stream:
                yield stream
            unfinished.replace(place)
    except OSError as error:
        raise _not_written(path, error) from None


def write(path: Path | str, text: str) -> None:
    """Write a file that the user has named, whatever is there. Raises InputError."""
    with written(path) as stream:
        stream.write(text)


def write_new(texts: Mapping[Path, str], what: str) -> None:
    """Write files, all or none; what is there must be the very same, or its beginning.

    what: each of them in words, as `the test of this name`. Raises InputError.
    """
    in_the_way = [path for path, text in texts.items() if _is_foreign(path, text)]
    if in_the_way:
        names = [f"{path}: must be {what}, or not exist" for path in in_the_way[:_NAMED]]
        if len(in_the_way) > _NAMED:
            names.append(f"and {len(in_the_way) - _NAMED} more files are in the way")
        *before, last = names
        hint = "nothing was written; name another folder, or move these files away"
        raise InputError([*(Problem(None, each) for each in before), Problem(None, last, hint)])
    for folder in dict.fromkeys(path.parent for path in texts):
        make_folder(folder)
    for path, text in texts.items():  # not whole: what is left of an interrupted run is finished
        try:
            path.write_bytes(text.encode())
        except OSError as error:
            raise _not_written(path, error) from None


def write_beside(folder: str, stem: str, texts: Callable[[str], Mapping[str, str]]) -> list[Path]:
    """Write files of one name and several endings, and return their paths.

    texts: by ending, given the name: where files that are not ours have it, a number is added to
    it, and files that name each other must say so, too. Raises InputError.
    """
    make_folder(folder)
    number, name = 1, stem
    while any(_is_foreign(Path(folder, name + it), text) for it, text in texts(name).items()):
        number += 1
        name = f"{stem}-{number}"
    places = {Path(folder, name + ending): text for ending, text in texts(name).items()}
    for place, text in places.items():
        write(place, text)
    return [*places]


def make_folder(folder: Path | str) -> None:
    """Make a folder where there is none. Raises InputError."""
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{error.filename or folder}: cannot be written to: {error.strerror}"
        raise InputError([Problem(None, message)]) from None


def require_folder(folder: str, what: str) -> None:
    """Raises InputError unless a folder is one, or nothing yet. what: to be written to it."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError([Problem(None, f"{folder}: must be a folder to write {what} to")])


def _not_written(path: Path | str, error: OSError) -> InputError:
    return InputError([Problem(None, f"{path}: cannot be written: {error.strerror}")])


def _opened(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _is_foreign(path: Path, text: str) -> bool:
    """Whether a file is not ours: neither the text nor what an interrupted run left of it."""
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            return True
        return path.exists() and not text.encode().startswith(path.read_bytes())
    except OSError:
        return True
