"""What is expected of tests: a YAML file that a run can be held to, and that a run can write.

    model: opencl-rsp
    verdicts:
      MP/MP+st.na-st.DV+ld.DV-ld.na.litmus: {original: UNSOUND, proposed: SOUND}
      RMW/RMW+inc.WG+inc.DV.R.litmus:
        {original: {verdict: SOUND, progress: STUCK}, proposed: SOUND}

Tests are named by their path from the file's folder, schemes by their name. A verdict alone expects
LIVE where progress is asked for, and one that is exact: what holds only within bounds is expected
with the very same bounds, as `SOUND within 8 iterations`. An OPEN verdict is expected with the
switches that decide, as `OPEN if RMW_HIDES_LINE or A+B`. Of models it is `answers`, without
`model`:

    answers:
      differences/S4.litmus: {c11-orig: Never, c11-simp: Sometimes racy}
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml
from msgspec import Struct, field

from rspverify.answers import ANSWERS, Difference, Held, ModelAnswer, Result, within_words
from rspverify.corpus.inputs import Meant
from rspverify.corpus.suite import Kind, Suite, read_each
from rspverify.files import write
from rspverify.records import replace
from rspverify.shipped import located
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, read_source, require
from rspverify.verdict import WITHOUT_PROGRESS, ProgressWord, Word
from rspverify.yaml_reader import EDITORS, Node, Table, Text, read_entries
from rspverify.yaml_text import read_yaml

BOUND = re.compile(r"(\d+) (iterations|steps|spurious failures)")
DECIDED = re.compile(r"(OPEN)( if \w[\w+]*(?: or \w[\w+]*)*)")
_PLAIN = re.compile(r"[\w./+@-]*\w")
Words = Mapping[str, Mapping[str, str]]
"""By test, and by scheme or model."""

_HEADERS = Path(__file__).with_name("headers.yaml")
KEYS = {kind: "verdicts" if kind is Kind.SCHEMES else "answers" for kind in Kind}


class Expected(Struct, frozen=True):
    """What is expected, read from `path`: test → scheme or model → words; progress if not LIVE."""

    path: Path
    verdicts: Words
    progress: Words = field(default_factory=dict)

    def of(self, result: Result | ModelAnswer) -> str | None:
        """The words that are expected of a result; None if none are written down.

        With their bounds, and the word of progress if the result has one.
        """
        test = _key(self.path, result.file)
        word = self.verdicts.get(test, {}).get(result.column)
        if word is None or not isinstance(result, Result) or result.progress is None:
            return word
        return f"{word} {self.progress.get(test, {}).get(result.column, ProgressWord.LIVE)}"

    def held(
        self,
        results: Sequence[Result | ModelAnswer],
        given: Iterable[str],
        tests: Iterable[str],
        *,
        progress: bool,
    ) -> Held:
        """How results compare; without an expectation none is as expected.

        given: the files and folders that were asked for, tests: the tests in them. Entries of a
        folder that none of the tests is are of tests that are gone. progress: whether it was asked.
        """
        different = (
            Difference(result, self.of(result))
            for result in results
            if self.of(result) != result.claim
        )
        there = {_key(self.path, each) for each in tests}
        folders = [_key(self.path, each) for each in given]
        gone = (
            os.path.normpath(self.path.parent / test)
            for test in self.verdicts
            if test not in there and any(_is_below(test, folder) for folder in folders)
        )
        unasked = sum(
            result.column in self.progress.get(_key(self.path, result.file), {})
            for result in results
            if not progress
        )
        return Held(str(self.path), tuple(different), tuple(gone), unasked)


def expected_of(meant: Meant, path: str, model: str) -> Expected:
    """What is expected of some tests. Raises InputError where it is of others alone, too."""
    require(located(path).exists(), f"{path}: no such file", "with --refresh it is written")
    it = read_expected(path, model)
    there = {_key(it.path, each) for each in meant.files}
    folder = os.path.commonpath([os.path.dirname(each) for each in it.verdicts] or [""])
    theirs = os.path.normpath(it.path.parent / folder)
    named = ", ".join(meant.given or meant.files)
    message = f"{path}: must be of the tests that are checked, {named}, and is of those of {theirs}"
    hint = f"name them: rspverify check SCHEME {theirs} --expect {path}"
    require(not it.verdicts or not there.isdisjoint(it.verdicts), message, hint)
    return it


def read_expected(path: str, model: str | None = None, kind: Kind = Kind.SCHEMES) -> Expected:
    """Read what is expected. Raises InputError with every mistake at its place.

    model: what verdicts must be for, if the file names a model.
    """
    source = read_source(path)
    root, problems = read_yaml(source)
    if root is None:
        raise InputError(problems)
    key = KEYS[kind]
    top = {name.text: node for name, node in read_entries(root, "the file", problems)}
    named = top.pop("model", None) if kind is Kind.SCHEMES else None
    if isinstance(named, Text) and model is not None and named.text != model:
        message = f"the model of the expected verdicts must be that of the run, {model}"
        problems.append(Problem(named.span, message))
    entries = top.pop(key, None)
    for other, node in top.items():
        keys = f"model or {key}" if kind is Kind.SCHEMES else key
        problems.append(Problem(node.span, f"a key must be {keys}, not {other}"))
    if entries is None and isinstance(root, Table):
        problems.append(Problem(root.span, f"the file must have the key {key}"))
    words: dict[str, dict[str, str]] = {}
    progress: dict[str, dict[str, str]] = {}
    for test, row in read_entries(entries, key, problems) if entries is not None else ():
        own = words.setdefault(test.text, {})
        for column, said in read_entries(row, f"the {key} of a test", problems):
            own[column.text], live = _read_entry(said, kind, problems)
            if live is not None:
                progress.setdefault(test.text, {})[column.text] = live
    if problems:
        raise InputError(problems)
    return Expected(Path(path), words, progress)


def _read_entry(said: Node, kind: Kind, problems: list[Problem]) -> tuple[str, str | None]:
    """The words of one test under one scheme or model, and of its progress where it is told."""
    if kind is not Kind.SCHEMES:
        return _claimed(said, ANSWERS, "an answer", problems), None
    if not isinstance(said, Table):
        return _claimed(said, tuple(Word), "a verdict", problems), None
    both = {key.text: node for key, node in said.entries}
    verdict, progress = both.pop("verdict", None), both.pop("progress", None)
    for key, node in both.items():
        problems.append(Problem(node.span, f"a key must be verdict or progress, not {key}"))
    if verdict is None:
        message = "a verdict with progress must have the key verdict"
        problems.append(Problem(said.span, message))
    word = "" if verdict is None else _claimed(verdict, tuple(Word), "a verdict", problems)
    if progress is None:
        return word, None
    return word, _chosen(progress, tuple(ProgressWord), "progress", problems)


def _chosen(node: Node, choices: tuple[str, ...], what: str, problems: list[Problem]) -> str:
    word = node.text if isinstance(node, Text) else "something else"
    if not isinstance(node, Text) or word not in choices:
        message = f"{what} must be one of {', '.join(choices)}, not {word}"
        problems.append(Problem(node.span, message))
    return word


def _claimed(node: Node, choices: tuple[str, ...], what: str, problems: list[Problem]) -> str:
    """A word, with the switches that decide an OPEN, and with the bounds within which it is
    expected if there are any."""
    text = node.text if isinstance(node, Text) else ""
    claim, within, reach = text.partition(" within ")
    decided = DECIDED.fullmatch(claim)
    word, switches = (decided[1], decided[2]) if decided else (claim, "")
    if isinstance(node, Text):
        node = replace(node, text=word)
    word = _chosen(node, choices, what, problems)
    bounds = [BOUND.fullmatch(each) for each in reach.split(" and ")] if within else []
    if not all(bounds):
        must = "bounds must be like `within 8 iterations` or `within 8 iterations and 12 steps`"
        problems.append(Problem(node.span, f"{must}, not {within.strip()} {reach}"))
    return word + switches + within_words({each[2]: int(each[1]) for each in bounds if each})


def read_all_expected(
    suites: Sequence[Suite], settings: Sequence[Settings]
) -> list[Expected | None]:
    """What is expected of suites; None where nothing is yet. Raises InputError for all of them."""

    def read(given: tuple[Suite, Settings]) -> Expected | None:
        suite, chosen = given
        if not located(suite.expected).exists():
            return None
        return read_expected(suite.expected, chosen.model, suite.kind)

    return read_each(read, zip(suites, settings, strict=True))


def write_expected(
    path: str,
    results: Iterable[Result | ModelAnswer],
    model: str | None,
    kind: Kind = Kind.SCHEMES,
) -> None:
    """Write the words of a run; what the file says of other tests and columns stays.

    So does its line for editors, and what it says of progress, if that was not asked for and may
    still hold. Tests that no longer exist are dropped; what is no answer, ERROR, is not written.
    Raises InputError if the old file cannot be read or the new one not be written.
    """
    place = Path(path)
    kept, editors = Expected(place, {}), ""
    if place.exists():
        kept = read_expected(path, model, kind)
        first, _, _ = read_source(path).text.partition("\n")
        editors = f"{first}\n" if first.startswith(EDITORS) else ""
    entries = {
        test: {
            column: _entry(word, kept.progress.get(test, {}).get(column))
            for column, word in row.items()
        }
        for test, row in kept.verdicts.items()
        if located(place.parent / test).exists()
    }
    for result in results:
        if result.words == Word.ERROR:
            continue
        test, column = _key(place, result.file), result.column
        if isinstance(result, ModelAnswer):
            entries.setdefault(test, {})[column] = result.claim
            continue
        word = f"{result.verdict}{result.rests_on}"
        progress = kept.progress.get(test, {}).get(column)
        if result.progress is not None or result.verdict in WITHOUT_PROGRESS:
            progress = result.progress.value if result.progress else None
        entries.setdefault(test, {})[column] = _entry(word, progress)
    write(path, editors + expected_text(entries, model, kind))


def expected_text(entries: Words, model: str | None, kind: Kind = Kind.SCHEMES) -> str:
    """The file that says what is expected: an entry by test, and by scheme or model."""
    header = yaml.safe_load(_HEADERS.read_text(encoding="utf-8"))[kind]
    lines = [header, f"model: {model}\n" if kind is Kind.SCHEMES else "", f"{KEYS[kind]}:"]
    if not entries:
        lines.append(" {}")
    lines.append("\n")
    for test in sorted(entries):
        row = ", ".join(f"{column}: {word}" for column, word in sorted(entries[test].items()))
        name = test if _PLAIN.fullmatch(test) else json.dumps(test)
        lines.append(f"  {name}: {{{row}}}\n")
    return "".join(lines)


def not_to_be_expected(results: Iterable[Result | ModelAnswer]) -> list[str]:
    """What must be said of results that `write_expected` leaves out."""
    wrong = dict.fromkeys(each.file for each in results if each.words == Word.ERROR)
    return [f"{file}: must be a test without mistakes to have expected verdicts" for file in wrong]


def _entry(word: str, progress: str | None) -> str:
    if progress in (None, ProgressWord.LIVE):
        return word
    return f"{{verdict: {word}, progress: {progress}}}"


def _is_below(test: str, folder: str) -> bool:
    return (folder == "." and not test.startswith("../")) or test.startswith(f"{folder}/")


def _key(expected: Path, test: str) -> str:
    return Path(os.path.relpath(test, expected.parent)).as_posix()
