"""The expected verdicts: a YAML file that a run can be held to, and that a run can write.

    model: opencl-rsp
    verdicts:
      MP/MP+st.na-st.DV+ld.DV-ld.na.litmus: {original: UNSOUND, proposed: SOUND}
      RMW/RMW+inc.WG+inc.DV.R.litmus:
        {original: {verdict: SOUND, progress: STUCK}, proposed: SOUND}

Tests are named by their path from the file's folder, schemes by their name. A verdict alone expects
LIVE where progress is asked for; what progress is expected does not matter where it is not.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from rspverify.answers import Difference, Result
from rspverify.source import InputError, Problem, Span, read_source
from rspverify.verdict import ProgressWord, Word

_WITHOUT_PROGRESS = ("RACY", "UNSUPPORTED", "ERROR")
_PLAIN = re.compile(r"[\w./+@-]*\w")
Verdicts = Mapping[str, Mapping[str, str]]

_HEADER = """\
# The verdict of each test under each scheme, in the outcome reading, by path from here, and its
# progress (`--progress`) where that is not LIVE.
# `rspverify check … --expect FILE` holds a run to it, and with `--refresh` writes it anew: look at
# what changes before you commit it.
"""


@dataclass(frozen=True)
class Expected:
    """What is expected, read from `path`: test → scheme → verdict, and progress if not LIVE."""

    path: Path
    verdicts: Verdicts
    progress: Verdicts = field(default_factory=dict)

    def of(self, result: Result) -> str | None:
        """The words that are expected of a result; None if none are written down.

        With the word of progress if the result has one.
        """
        test = _key(self.path, result.file)
        word = self.verdicts.get(test, {}).get(result.scheme)
        if word is None or result.progress is None:
            return word
        return f"{word} {self.progress.get(test, {}).get(result.scheme, ProgressWord.LIVE)}"

    def differences(self, results: Iterable[Result]) -> list[Difference]:
        """The results that are not as expected; without an expectation, or bounded, none is."""
        return [
            Difference(result, self.of(result))
            for result in results
            if self.of(result) != result.words or result.verdict.within
        ]


def read_expected(path: str, model: str | None = None) -> Expected:
    """Read expected verdicts. Raises InputError with every mistake at its place.

    model: what they must be for, if the file names a model.
    """
    source = read_source(path)
    try:
        root = yaml.compose(source.text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        span = Span(source, line, column, line, column + 1)
        raise InputError([Problem(span, f"must be YAML: {error.problem}")]) from None
    except (yaml.YAMLError, RecursionError):
        raise InputError([Problem(Span(source, 1, 1, 1, 2), "must be YAML text")]) from None
    problems: list[Problem] = []

    def wrong(node: yaml.Node, message: str) -> None:
        start, end = node.start_mark, node.end_mark
        span = Span(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
        problems.append(Problem(span, message))

    def mapping(node: yaml.Node, what: str) -> list[tuple[str, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            wrong(node, f"{what} must be a mapping")
            return []
        found: dict[str, yaml.Node] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                wrong(key, "a key must be a word")
                continue
            if key.value in found:
                wrong(key, f"{key.value} must not be given twice")
            found[key.value] = value
        return list(found.items())

    def chosen(node: yaml.Node, words: type[Word] | type[ProgressWord], what: str) -> str:
        if node.value not in list(words):
            shown = node.value if isinstance(node, yaml.ScalarNode) else "something else"
            wrong(node, f"{what} must be one of {', '.join(words)}, not {shown}")
        return str(node.value)

    verdicts: dict[str, dict[str, str]] = {}
    progress: dict[str, dict[str, str]] = {}
    if root is None:
        raise InputError([Problem(Span(source, 1, 1, 1, 2), "the file must have the key verdicts")])
    top = dict(mapping(root, "the file"))
    named = top.get("model")
    if named is not None and model is not None and named.value != model:
        wrong(named, f"the model of the expected verdicts must be that of the run, {model}")
    for key in top.keys() - {"model", "verdicts"}:
        wrong(top[key], f"a key must be model or verdicts, not {key}")
    if "verdicts" not in top:
        wrong(root, "the file must have the key verdicts")
    for test, row in mapping(top["verdicts"], "verdicts") if "verdicts" in top else ():
        verdicts[test] = {}
        for scheme, said in mapping(row, "the verdicts of a test"):
            if not isinstance(said, yaml.MappingNode):
                verdicts[test][scheme] = chosen(said, Word, "a verdict")
                continue
            both = dict(mapping(said, "a verdict"))
            for key in both.keys() - {"verdict", "progress"}:
                wrong(both[key], f"a key must be verdict or progress, not {key}")
            if "verdict" in both:
                verdicts[test][scheme] = chosen(both["verdict"], Word, "a verdict")
            else:
                wrong(said, "a verdict with progress must have the key verdict")
            if "progress" in both:
                word = chosen(both["progress"], ProgressWord, "progress")
                progress.setdefault(test, {})[scheme] = word
    if problems:
        raise InputError(problems)
    return Expected(Path(path), verdicts, progress)


def write_expected(path: str, results: Iterable[Result], model: str) -> None:
    """Write the verdicts of a run; what the file says of other tests and schemes stays.

    So does what it says of progress, if that was not asked for and may still hold. Tests that no
    longer exist are dropped; a verdict that is none, ERROR, is not written. Raises InputError if
    the old file cannot be read.
    """
    place = Path(path)
    kept = read_expected(path, model) if place.exists() else Expected(place, {})
    verdicts = {
        test: {
            scheme: _entry(word, kept.progress.get(test, {}).get(scheme))
            for scheme, word in row.items()
        }
        for test, row in kept.verdicts.items()
        if (place.parent / test).exists()
    }
    for result in results:
        if result.verdict.word is Word.ERROR:
            continue
        test = _key(place, result.file)
        word = result.verdict.word.value
        progress = kept.progress.get(test, {}).get(result.scheme)
        if result.progress is not None or word in _WITHOUT_PROGRESS:
            progress = result.progress.word.value if result.progress else None
        verdicts.setdefault(test, {})[result.scheme] = _entry(word, progress)
    lines = [_HEADER, f"model: {model}\n", "verdicts:\n"]
    for test in sorted(verdicts):
        row = ", ".join(f"{scheme}: {word}" for scheme, word in sorted(verdicts[test].items()))
        name = test if _PLAIN.fullmatch(test) else json.dumps(test)
        lines.append(f"  {name}: {{{row}}}\n")
    temporary = place.with_name(place.name + ".new")
    temporary.write_text("".join(lines), encoding="utf-8")
    os.replace(temporary, place)


def not_to_be_expected(results: Iterable[Result]) -> list[str]:
    """What must be said of results that `write_expected` leaves out."""
    wrong = dict.fromkeys(each.file for each in results if each.verdict.word is Word.ERROR)
    return [f"{file}: must be a test without mistakes to have expected verdicts" for file in wrong]


def _entry(word: str, progress: str | None) -> str:
    if progress in (None, ProgressWord.LIVE):
        return word
    return f"{{verdict: {word}, progress: {progress}}}"


def _key(expected: Path, test: str) -> str:
    return Path(os.path.relpath(test, expected.parent)).as_posix()
