"""Texts about an error without the places of the machine on which it happened."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path

import rspverify

_PACKAGES = Path(rspverify.__file__).resolve().parent.parent


class Places:
    """The folders that a report does not tell: files that were given have names of their own."""

    def __init__(self, files: Mapping[str, str]) -> None:
        known = {path: name for path, name in files.items() if path != name}
        known |= {os.path.abspath(path): name for path, name in files.items()}
        folders = {os.path.dirname(os.path.abspath(path)) for path in files} | {os.getcwd()}
        known |= {f"{folder}{os.sep}": "" for folder in folders if len(folder) > 1}
        home = os.path.expanduser("~")
        known |= {home: "~"} if len(home) > 1 else {}
        self._known = sorted(known.items(), key=lambda each: -len(each[0]))

    def without(self, text: str) -> str:
        """The text with such places replaced, the longest first."""
        for path, name in self._known:
            text = text.replace(path, name)
        return text


def shown_traceback(error: BaseException) -> str:
    """The traceback with its files named as they are imported, and no values of variables."""
    shown = traceback.TracebackException.from_exception(error)
    pending: list[traceback.TracebackException | None] = [shown]
    while pending:
        each = pending.pop()
        if each is None:
            continue
        for frame in each.stack:
            frame.filename = _imported(frame.filename)
        pending += [each.__cause__, each.__context__]
    return "".join(shown.format())


def _imported(filename: str) -> str:
    """A file from where its package is found: `rspverify/check/run.py`."""
    file = Path(filename)
    if not file.is_absolute():
        return filename
    roots = [_PACKAGES, *(Path(each) for each in sys.path if each)]
    inside = [file.relative_to(root).as_posix() for root in roots if file.is_relative_to(root)]
    return min(inside, key=len, default=file.name)
