"""What is expected of tests: a YAML file that a run can be held to, and that a run can write.

    model: opencl-rsp
    verdicts:
      MP/MP+st.na-st.DV+ld.DV-ld.na.litmus: {original: UNSOUND, proposed: SOUND}
      RMW/RMW+inc.WG+inc.DV.R.litmus:
        {original: {verdict: SOUND, progress: STUCK}, proposed: SOUND}

Tests are named by their path from the file's folder, schemes by their name. A verdict alone expects
LIVE where progress is asked for, and one that is exact: what holds only within bounds is expected
with the very same bounds, as `SOUND within 8 iterations`. Of models it is `answers`, without
`model`:

    answers:
      differences/S4.litmus: {c11-orig: Never, c11-simp: Sometimes racy}
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct

from rspverify.answers import ANSWERS, Difference, Held, ModelAnswer, Result, within_words
from rspverify.corpus.suite import Kind, Suite, read_each
from rspverify.files import write
from rspverify.records import replace
from rspverify.shipped import located
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Problem, read_source
from rspverify.verdict import WITHOUT_PROGRESS, ProgressWord, Word
from rspverify.yaml_reader import EDITORS, Node, Table, Text, read_entries, read_yaml

BOUND = re.compile(r"(\d+) (iterations|steps|spurious failures)")
_PLAIN = re.compile(r"[\w./+@-]*\w")
Words = Mapping[str, Mapping[str, str]]
"""By test, and by scheme or model."""

_HEADERS = {
    Kind.SCHEMES: """\
# The verdict of each test under each scheme, in the outcome reading, by path from here, and its
# progress (`--progress`) where that is not LIVE.
# `rspverify check … --expect FILE` holds a run to it, and with `--refresh` writes it anew: look at
# what changes before you commit it.
""",
    Kind.MODELS: """\
# What each model says of each test: whether the executions that it allows satisfy the formula of
# the final condition never, sometimes or always, and whether one of them is undefined (racy): it
# has a race, or a barrier that not all of a work-group reach. Of a racy test this is what its
# consistent executions show; the test as such may do anything.
# `rspverify check` of the suite holds the models to it, and with `--refresh` writes it anew: look
# at what changes before you commit it.
""",
    Kind.SCHEDULERS: """\
# Whether each test hangs under each scheduler: LIVE if it never does, STUCK if it may, UNDEFINED if
# it may do anything, as it has a race, or a barrier that not all of a work-group reach.
# `rspverify check` of the suite holds tests to it, and with `--refresh` writes it anew: look at
# what changes before you commit it.
""",
    Kind.MACHINES: """\
# What each machine says of each test: whether its complete executions satisfy the formula of the
# final condition never, sometimes or always.
# `rspverify check` of the suite holds the machines to it, and with `--refresh` writes it anew: look
# at what changes before you commit it.
""",
}
KEYS = {kind: "verdicts" if kind is Kind.SCHEMES else "answers" for kind in Kind}


class Expected(Struct, frozen=True):
    """What is expected, read from `path`: test → scheme or model → words; progress if not LIVE."""

    path: Path
    verdicts: Words
    progress: Words = msgspec.field(default_factory=dict)

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


def read_expected(path: str, model: str | None = None, kind: Kind = Kind.SCHEMES) -> Expected:
    """Read what is expected. Raises InputError with every mistake at its place.

    model: what verdicts must be for, if the file names a model.
    """
    source = read_source(path)
    root, problems = read_yaml(source)
    if root is None:
        raise InputError(problems)
    reading = _Reading(kind, problems)
    key, top = KEYS[kind], dict(_named(read_entries(root, "the file", problems)))
    named = top.pop("model", None) if kind is Kind.SCHEMES else None
    if isinstance(named, Text) and model is not None and named.text != model:
        reading.wrong(named, f"the model of the expected verdicts must be that of the run, {model}")
    entries = top.pop(key, None)
    for other, node in top.items():
        keys = f"model or {key}" if kind is Kind.SCHEMES else key
        reading.wrong(node, f"a key must be {keys}, not {other}")
    if entries is None and isinstance(root, Table):
        reading.wrong(root, f"the file must have the key {key}")
    for test, row in read_entries(entries, key, problems) if entries is not None else ():
        of_test: dict[str, str] = reading.words.setdefault(test.text, {})
        for column, said in read_entries(row, f"the {key} of a test", problems):
            reading.entry(test.text, column.text, said, of_test)
    if problems:
        raise InputError(problems)
    return Expected(Path(path), reading.words, reading.progress)


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


@dataclass
class _Reading:
    """A file on its way to what it expects."""

    kind: Kind
    problems: list[Problem]
    words: dict[str, dict[str, str]] = field(default_factory=dict)
    progress: dict[str, dict[str, str]] = field(default_factory=dict)

    def wrong(self, node: Node, message: str) -> None:
        """Note a mistake."""
        self.problems.append(Problem(node.span, message))

    def entry(self, test: str, column: str, said: Node, words: dict[str, str]) -> None:
        """What is expected of one test under one scheme or model."""
        if self.kind is not Kind.SCHEMES:
            words[column] = self._claimed(said, ANSWERS, "an answer")
            return
        if not isinstance(said, Table):
            words[column] = self._claimed(said, tuple(Word), "a verdict")
            return
        both = dict(_named(said.entries))
        for key in both.keys() - {"verdict", "progress"}:
            self.wrong(both[key], f"a key must be verdict or progress, not {key}")
        if "verdict" in both:
            words[column] = self._claimed(both["verdict"], tuple(Word), "a verdict")
        else:
            self.wrong(said, "a verdict with progress must have the key verdict")
        if "progress" in both:
            word = self._chosen(both["progress"], tuple(ProgressWord), "progress")
            self.progress.setdefault(test, {})[column] = word

    def _chosen(self, node: Node, choices: tuple[str, ...], what: str) -> str:
        word = node.text if isinstance(node, Text) else "something else"
        if not isinstance(node, Text) or word not in choices:
            self.wrong(node, f"{what} must be one of {', '.join(choices)}, not {word}")
        return word

    def _claimed(self, node: Node, choices: tuple[str, ...], what: str) -> str:
        """A word, with the bounds within which it is expected if there are any."""
        text = node.text if isinstance(node, Text) else ""
        word, within, reach = text.partition(" within ")
        if not isinstance(node, Text) or not within:
            return self._chosen(node, choices, what)
        word = self._chosen(replace(node, text=word), choices, what)
        bounds = [BOUND.fullmatch(each) for each in reach.split(" and ")]
        if not all(bounds):
            shown = (
                "bounds must be like `within 8 iterations` or `within 8 iterations and 12 steps`"
            )
            self.wrong(node, f"{shown}, not {within.strip()} {reach}")
        return word + within_words({each[2]: int(each[1]) for each in bounds if each})


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
        word = f"{result.verdict}{within_words(result.within)}"
        progress = kept.progress.get(test, {}).get(column)
        if result.progress is not None or result.verdict in WITHOUT_PROGRESS:
            progress = result.progress.value if result.progress else None
        entries.setdefault(test, {})[column] = _entry(word, progress)
    write(path, editors + expected_text(entries, model, kind))


def expected_text(entries: Words, model: str | None, kind: Kind = Kind.SCHEMES) -> str:
    """The file that says what is expected: an entry by test, and by scheme or model."""
    lines = [_HEADERS[kind], f"model: {model}\n" if kind is Kind.SCHEMES else "", f"{KEYS[kind]}:"]
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


def _named(entries: Iterable[tuple[Text, Node]]) -> Iterable[tuple[str, Node]]:
    return ((key.text, node) for key, node in entries)


def _is_below(test: str, folder: str) -> bool:
    return (folder == "." and not test.startswith("../")) or test.startswith(f"{folder}/")


def _key(expected: Path, test: str) -> str:
    return Path(os.path.relpath(test, expected.parent)).as_posix()
