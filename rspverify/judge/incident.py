"""The report of an internal error: a folder with all that a stranger needs to see it again.

It holds the inputs, the versions and what went wrong; nothing of the place where it happened.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shlex
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path

import rspverify
from rspverify import __version__
from rspverify.answers import Internal
from rspverify.axiomatic.library import model_texts
from rspverify.judge.question import Incident
from rspverify.limits import LimitReached
from rspverify.options import words_of
from rspverify.records import replace
from rspverify.shipped import located
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, InternalError

PREFIX = "rspverify-report-"
_PACKAGES = Path(rspverify.__file__).resolve().parent.parent
_DISTRIBUTIONS = {"z3": "z3-solver", "pysmt": "PySMT"}
_MOST = 20
"""So many reports are left in one folder; a bug that every test shows need not fill the disk."""


class ReportedError(Exception):
    """An internal error about which a report has been written."""

    def __init__(self, internal: Internal) -> None:
        super().__init__(str(internal))
        self.internal = internal


class Unreported(BaseException):
    """An internal error far from whoever asked, where the report is to be made.

    It passes all that makes answers of exceptions.
    """


_ELSEWHERE: ContextVar[bool] = ContextVar("elsewhere", default=False)


@contextmanager
def reports_elsewhere() -> Iterator[None]:
    """Raise Unreported where a report would be written: the files that it needs are not here."""
    token = _ELSEWHERE.set(True)
    try:
        yield
    finally:
        _ELSEWHERE.reset(token)


@contextmanager
def reporting(incident: Incident) -> Iterator[None]:
    """Make ReportedError of whatever goes wrong inside, but for what users are told in words."""
    try:
        yield
    except (InputError, LimitReached, ReportedError):
        raise
    except Exception as error:
        raise ReportedError(reported(error, incident)) from error


def reported(error: Exception, incident: Incident) -> Internal:
    """An internal error in a line, after a report has been written, in this folder if possible.

    Nothing that goes wrong on the way is an error in turn: there is no report then. Raises
    Unreported where reports are made elsewhere.
    """
    if _ELSEWHERE.get():
        raise Unreported from error
    if isinstance(error, ReportedError):
        return error.internal
    try:
        return _reported(error, incident)
    except Exception:
        return Internal(_headline(error), None)


def _reported(error: Exception, incident: Incident) -> Internal:
    files = _files(incident)
    places = _Places(files)
    message = places.without(_headline(error))
    contents = _contents(error, incident, files, message, places)
    for folder in (Path(), Path(tempfile.gettempdir())):
        with suppress(OSError):
            return Internal(message, _written(folder, contents))
    return Internal(message, None)


def _headline(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, InternalError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _files(incident: Incident) -> dict[str, str]:
    """The name in the report of each file that was given."""
    names: dict[str, str] = {}
    for path in [*incident.schemes, *incident.tests]:
        name = Path(path).name
        while name in names.values():
            name = f"other-{name}"
        names[path] = name
    return names


def _contents(
    error: Exception, incident: Incident, files: Mapping[str, str], message: str, places: _Places
) -> dict[str, bytes]:
    """The files of the report by their paths."""
    found: dict[str, bytes] = {}
    for path, name in files.items():
        with suppress(OSError):
            found[name] = located(path).read_bytes()
    settings = incident.settings
    if settings is not None:
        texts = {f"model/{path}": text for path, text in model_texts(settings.model).items()}
        settings = replace(settings, model=next(iter(texts), settings.model))
        if settings.smt_dir is not None:
            settings = replace(settings, smt_dir="questions")
        found |= {path: text.encode() for path, text in texts.items()}
    command = _command(incident, settings, files)
    evidence = error.evidence if isinstance(error, InternalError) else {}
    evidence = {name: places.without(text) for name, text in evidence.items()}
    from jinja2 import Template

    readme = Template(Path(__file__).with_name("incident.md").read_text("utf-8"))
    document = {
        "error": message,
        "command": command,
        "settings": asdict(settings) if settings else None,
        "versions": versions(),
        "evidence": evidence,
    }
    texts = {
        "traceback.txt": places.without("".join(traceback.format_exception(error))),
        "error.json": places.without(json.dumps(document, indent=2, default=str)) + "\n",
        "README.md": readme.render(document, inputs=sorted(found)),
    }
    return found | {path: text.encode() for path, text in texts.items()}


def _command(incident: Incident, settings: Settings | None, files: Mapping[str, str]) -> str:
    """The command that shows the error again, run in the folder of the report."""
    schemes = [files[path] for path in incident.schemes]
    tests = [files[path] for path in incident.tests]
    words = ["rspverify", incident.command]
    if incident.command == "outcomes":
        words += [*tests, *(word for name in schemes for word in ("--scheme", name))]
    else:
        words += [*schemes, *tests]
    words += incident.options
    if settings:  # engine and model always, as defaults may change
        words += words_of(settings, incident.takes, always=("engine", "model"))
    return shlex.join(words)


def versions() -> dict[str, str]:
    """The versions of rspverify, of Python and of the solvers."""
    from importlib import metadata

    found = {"rspverify": __version__, "python": platform.python_version()}
    for name, distribution in _DISTRIBUTIONS.items():
        try:
            found[name] = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found


def _written(folder: Path, contents: Mapping[str, bytes]) -> str | None:
    """The path of the report, written at once or not at all; None where too many are there."""
    digest = hashlib.sha256()
    for path, data in sorted(contents.items()):
        digest.update(f"{path}\0{len(data)}\0".encode() + data)
    place = folder / f"{PREFIX}{digest.hexdigest()[:12]}"
    if place.is_dir():
        return str(place)
    if sum(1 for _ in folder.glob(f"{PREFIX}*")) >= _MOST:
        return None
    unfinished = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=folder))
    try:
        for path, data in contents.items():
            target = unfinished / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        unfinished.chmod(0o755)
        os.replace(unfinished, place)
    except OSError:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not place.is_dir():
            raise
    return str(place)


class _Places:
    """The folders that a report does not tell: files that were given have names of their own."""

    def __init__(self, files: Mapping[str, str]) -> None:
        known = {path: name for path, name in files.items() if path != name}
        known |= {os.path.abspath(path): name for path, name in files.items()}
        folders = {os.path.dirname(os.path.abspath(path)) for path in files} | {os.getcwd()}
        known |= {f"{folder}{os.sep}": "" for folder in folders if len(folder) > 1}
        roots = [_PACKAGES, *(Path(each) for each in sys.path if each)]
        known |= {f"{root}{os.sep}": "" for root in roots if root.is_absolute()}
        home = os.path.expanduser("~")
        known |= {home: "~"} if len(home) > 1 else {}
        self._known = sorted(known.items(), key=lambda each: -len(each[0]))

    def without(self, text: str) -> str:
        """The text with such places replaced, the longest first."""
        for path, name in self._known:
            text = text.replace(path, name)
        return text
