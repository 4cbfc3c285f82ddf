"""Everything that is said to users about their input, with `file:line:col` and a caret."""

from __future__ import annotations

import hashlib
import os.path
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Self

from msgspec import Struct

from rspverify.shipped import hidden, located

MAX_BYTES = 1_000_000
"""Largest input file that is read, in bytes. A litmus test or a scheme has a few thousand."""

MAX_SCHEME_BYTES = 100_000
"""Largest scheme that is read, in bytes: fifty times Tab. 3, and two seconds of reading YAML."""

_EXCERPT = 160
"""Columns of a line that an excerpt shows at the most."""


def digest(text: str) -> str:
    """What stands for a text in a key: two texts with one digest are the same text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Source:
    """The text of one input file and the name that users know it by."""

    name: str
    text: str = field(repr=False)

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; empty beyond the end."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    @cached_property
    def digest(self) -> str:
        """That of its text."""
        return digest(self.text)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")


Given = str | Source
"""An input: the path of a file, or its text."""


class Span(Struct, frozen=True):
    """A stretch of one source. Lines and columns count from 1; `end_column` is exclusive."""

    source: Source
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}"

    @property
    def text(self) -> str:
        """What stands in it, line breaks and runs of blanks as one blank each."""
        lines = [self.source.line(number) for number in range(self.line, self.end_line + 1)]
        lines[-1] = lines[-1][: self.end_column - 1]
        lines[0] = lines[0][self.column - 1 :]
        return " ".join(" ".join(lines).split())

    def excerpt(self) -> str:
        """The line with a caret under each character of the span, as compilers print it.

        Of a long line only what is around the span is shown.
        """
        line = self.source.line(self.line)
        start = self.column - 1
        end = self.end_column - 1 if self.end_line == self.line else len(line)
        left = max(0, start - _EXCERPT // 2) if len(line) > _EXCERPT else 0
        shown = line[left : left + _EXCERPT]
        shown = "".join(each if each.isprintable() else " " for each in shown)
        carets = "^" * max(1, min(end, left + len(shown)) - start)
        return f"    {shown}\n    {' ' * (start - left)}{carets}"


def blanked(text: str) -> str:
    """Blanks in place of a part of a text, so that every position after it stays what it was."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def sign_at(source: Source, offset: int) -> Span:
    """The place of a sign of two characters."""
    line = source.text.count("\n", 0, offset) + 1
    column = offset - source.text.rfind("\n", 0, offset)
    return Span(source, line, column, line, column + 2)


class Severity(Enum):
    """How a problem counts: the input is wrong, or it is right and beyond what we support."""

    ERROR = "error"
    UNSUPPORTED = "unsupported"


class Problem(Struct, frozen=True):
    """One mistake in an input: where, what must be otherwise, and what to do about it.

    `span` is None only for mistakes that have no position (a file that is missing); the message
    then names the file. `related` names other places that matter, each with its own words.
    """

    span: Span | None
    message: str
    hint: str | None = None
    related: tuple[tuple[Span, str], ...] = ()
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        head = f"{self.span}: {self.message}" if self.span else self.message
        parts = [head] + ([self.span.excerpt()] if self.span else [])
        for span, words in self.related:
            parts += [f"  {span}: {words}", span.excerpt()]
        if self.hint:
            parts.append(f"  hint: {self.hint}")
        return "\n".join(parts)


class InputError(Exception):
    """The input cannot be used; holds every problem found in it, in order of position."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=position))
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        return type(self), (self.problems,)  # As it was made: its text is made of them.

    @property
    def severity(self) -> Severity:
        """ERROR if any problem is an error, otherwise UNSUPPORTED."""
        wrong = any(problem.severity is Severity.ERROR for problem in self.problems)
        return Severity.ERROR if wrong else Severity.UNSUPPORTED


class InternalError(Exception):
    """A bug of ours that we notice: what we found contradicts itself, and may be no verdict.

    evidence: what it rests on, such as a schedule or an outcome, by name and in words.
    """

    def __init__(self, message: str, evidence: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.evidence = dict(evidence or {})


class Problems(list[Problem]):
    """Mistakes that are told all at once: an InputError inside `with problems:` is kept here, and
    what comes after the block goes on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        if isinstance(error, InputError):
            self.extend(error.problems)
        return isinstance(error, InputError)

    def tell(self) -> None:
        """Raises InputError if there are any; what is met twice is told once."""
        if self:
            raise InputError(dict.fromkeys(self))


MAX_PROBLEMS = 100
"""How many problems of one text are told; nobody reads more."""

Related = tuple[tuple[Span, str], ...]


def told(problems: Iterable[Problem]) -> list[Problem]:
    """The first MAX_PROBLEMS in the order of the text, and one that counts the rest."""
    ordered = sorted(problems, key=position)
    shown, rest = ordered[:MAX_PROBLEMS], ordered[MAX_PROBLEMS:]
    if rest:
        wrong = any(each.severity is Severity.ERROR for each in rest)
        severity = Severity.ERROR if wrong else Severity.UNSUPPORTED
        words = f"{len(rest):,} more problems from here on"
        shown.append(Problem(rest[0].span, words, "mend the ones above first", (), severity))
    return shown


class ProblemsOfText:
    """The problems of one text so far, each once: what is looked at again is told once."""

    def __init__(self) -> None:
        self._found: dict[tuple[tuple[str, int, int], str], Problem] = {}

    def error(
        self, span: Span, message: str, hint: str | None = None, related: Related = ()
    ) -> None:
        """Note that the input is wrong."""
        self.note(Problem(span, message, hint, related))

    def again(self, span: Span, message: str, first: Span) -> None:
        """Note that something stands again that may stand once."""
        self.error(span, message, related=((first, "the first one is here"),))

    def unsupported(self, span: Span, message: str, hint: str | None = None) -> None:
        """Note that the input is right and beyond this version."""
        self.note(Problem(span, message, hint, (), Severity.UNSUPPORTED))

    def note(self, problem: Problem) -> None:
        """Note a problem."""
        self._found.setdefault((position(problem), problem.message), problem)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def as_error(self) -> InputError:
        """The exception that tells all problems."""
        return InputError(told(self._found.values()))


def require(holds: bool, message: str, hint: str | None = None) -> None:
    """Raises InputError with the message unless something holds of what was asked."""
    if not holds:
        raise InputError([Problem(None, message, hint)])


def in_one_line(problems: Iterable[Problem]) -> str:
    """Problems of a file without excerpts: `lines 3, 7: … (hint); line 9: …`.

    Equal ones are joined, and a hint that several have stands with the first.
    """
    lines: dict[str, list[int]] = {}
    known: dict[str, str] = {}
    for problem in problems:
        first = known.setdefault(problem.hint, problem.message) if problem.hint else None
        hint = f" ({problem.hint})" if first == problem.message else ""
        found = lines.setdefault(problem.message + hint, [])
        if problem.span and problem.span.line not in found:
            found.append(problem.span.line)
    return "; ".join(
        f"line{'s' * (len(at) > 1)} {', '.join(map(str, at))}: {message}" if at else message
        for message, at in lines.items()
    )


def not_regular(path: Path | str) -> Problem:
    """What is said of a pipe or a device, where reading might wait for ever."""
    hint = "write its text to a file first"
    return Problem(None, f"{path}: must be a regular file, not a pipe or a device", hint)


def _absent(name: str) -> Problem:
    return Problem(None, f"{name}: no such file", "check the path")


def position(problem: Problem) -> tuple[str, int, int]:
    """Where a problem is, in the order in which problems are told."""
    span = problem.span
    return (span.source.name, span.line, span.column) if span else ("", 0, 0)


def real_path(name: str | Path) -> Path:
    """What a path stands for, whatever circle of links it is in."""
    return Path(os.path.realpath(name))


def name_of(given: Given) -> str:
    """What an input is called."""
    return given.name if isinstance(given, Source) else given


def read_source(given: Given | Path, limit: int = MAX_BYTES) -> Source:
    """Read one input file as UTF-8 text; it is called as it was given, `./x` not `x`.

    Raises InputError where the file is missing, is no file, cannot be read, is larger than
    `limit` bytes, or is not text. What is a text already is that.
    """
    if isinstance(given, Source):
        return given
    name = str(given)
    try:
        path = located(given)
        folder = not hidden(path) and path.is_dir()
    except (OSError, ValueError):  # no file can be called so
        raise InputError([_absent(name)]) from None
    if hidden(path):
        raise InputError([_absent(name)])
    if folder:
        raise InputError([Problem(None, f"{name}: must be a file, not a folder")])
    if path.exists() and not path.is_file():
        raise InputError([not_regular(name)])
    try:
        with path.open("rb") as stream:
            data = stream.read(limit + 1)
    except (FileNotFoundError, ValueError):
        raise InputError([_absent(name)]) from None
    except OSError as error:
        raise InputError([Problem(None, f"{name}: cannot be read: {error.strerror}")]) from None
    if len(data) > limit:
        size = f"{name}: must have at most {limit:,} bytes, not {path.stat().st_size:,}"
        raise InputError([Problem(None, size, "split the file, or check that it is the right one")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name}: must be UTF-8 text, not binary (byte {error.start} is not UTF-8)"
        raise InputError([Problem(None, message)]) from None
    if "\0" in text:
        raise InputError([Problem(None, f"{name}: must be text, not binary (it has a NUL byte)")])
    return Source(name, text.replace("\r\n", "\n"))
