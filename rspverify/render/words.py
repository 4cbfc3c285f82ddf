"""What several answers say in the same words: numbers, names, results, and how far a run came."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from rspverify.answers import (
    OBSERVATIONS,
    PROGRESS_ANSWERS,
    PROOF_ANSWERS,
    Difference,
    Held,
    Internal,
    ModelAnswer,
    Result,
    SuiteReport,
)
from rspverify.render.document import Cell, Line, Piece, line
from rspverify.verdict import ProgressWord, Word
from rspverify.wording import counted as counted

if TYPE_CHECKING:
    from rspverify.engineering.mutation import FileAndReason

FEW = 5
"""So many names are said; of more, their number is."""

_PLACE = re.compile(r"(?:.*?:\d+:\d+|lines? [\d, ]+): ")
_UNREAD = re.compile(r"(\S+).* cannot be read: it (\w+ \w+(?: \w+)?)")
"""Code that is not supported, mostly because an instruction is not known."""


def lacking(reason: str) -> str:
    """The first thing that a test has and that is not supported, wherever it stands."""
    words = _PLACE.sub("", re.split(r"\n|; line ", reason)[0], count=1)
    if (found := _UNREAD.match(words)) is None:
        return words
    return found[1] if found[2] == "is not known" else f"{found[1]} that {found[2]}"


def few(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:FEW])
    return shown if len(names) <= FEW else f"{shown} and {len(names) - FEW} more"


def bounds(within: Iterable[Mapping[str, int]]) -> str:
    """`8 steps, 2 unrolled`: all that results depend on; empty if they are exact."""
    return ", ".join(sorted({f"{bound} {name}" for each in within for name, bound in each.items()}))


def reach(within: Iterable[Mapping[str, int]]) -> str:
    """`within 8 steps`, or `exact`."""
    found = bounds(within)
    return f"within {found}" if found else "exact"


_OF_PROGRAMS = {"events": "operations", "guards": "ifs"}


def at_most(within: Mapping[str, int], memories: Sequence[str] = ()) -> str:
    """`4 operations, 3 threads, any number of ifs`: the bounds of programs that are enumerated."""
    parts = {it: counted(n, _OF_PROGRAMS.get(it, it)[:-1]) for it, n in within.items()}
    if "local" in memories:
        parts["locations"] += f" in {' or '.join(memories)} memory"
    return ", ".join([*parts.values(), *([] if "guards" in parts else ["any number of ifs"])])


def each_counted(counts: Mapping[Any, int], words: Iterable[str]) -> str:
    """`154 SOUND, 42 UNSOUND`: of these words those that there are."""
    return ", ".join(f"{number:,} {it}" for it in words if (number := counts.get(it, 0)))


def costs_in_words(file: str | None) -> str:
    """Whose costs of instructions count."""
    return f"those of {file}" if file else "our own"


UNMENDED = "neither a row of it nor two mend it, made as strong as can be"
"""Of a scheme that a program breaks, where no row is at fault."""


def rows_named(numbers: Sequence[int]) -> str:
    """`row 2`, `rows 2, 5`, `rows 2, 4–9`."""
    runs: list[list[int]] = []
    for each in numbers:
        if runs and runs[-1][-1] == each - 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    told = (f"{it[0]}–{it[-1]}" if len(it) > 2 else ", ".join(map(str, it)) for it in runs)
    return f"row{'s' * (len(numbers) > 1)} {', '.join(told)}"


def also_mended(others: Sequence[Sequence[int]]) -> Iterator[str]:
    """Which other rows would mend a program, each of them alone, if any."""
    if others:
        words = "; or ".join(map(rows_named, others))
        yield f"made as strong as can be, {words} would mend it, too"


def row_in_words(number: int, operations: str, code: Sequence[str]) -> str:
    """`row 2, load DV,N: INV_L1 WG, LD r x`."""
    return f"row {number}, {operations}: {', '.join(code)}"


# ---- what was expected, and how far a run came ---------------------------------------------------


def noun_of(report: SuiteReport) -> str:
    """What a result is: a verdict on a scheme, an answer of a model."""
    return "verdict" if report.noun == "scheme" else "answer"


def difference(it: Difference, noun: str) -> str:
    """`expected SOUND, got UNSOUND`."""
    was = it.expected or f"nothing (no {noun} is written down)"
    return f"expected {was}, got {it.result.claim}"


def gone(test: str, held: Held) -> str:
    """What is said of a test that is expected and not there."""
    return f"{test}: must be a test, as {held.file} has it, or be left out"


def progress_in_words(it: Result) -> str:
    """Why a program cannot always go on, or why that is not known; empty if it can."""
    if it.progress is None or it.progress is ProgressWord.LIVE:
        return ""
    return f"{it.progress} {it.progress_reason}"


def unfinished(it: SuiteReport) -> str:
    """How far a run came that ended before it was done; empty if it was."""
    decided, noun = f"{len(it.results):,}", noun_of(it)
    if len(it.results) < it.total:
        why = it.stopped or "interrupted"
        return f"{why}: {decided} of {it.total:,} {noun}s decided, the rest not"
    return f"{it.stopped} after all {decided} {noun}s" if it.stopped else ""


def conclusion(reports: Sequence[SuiteReport]) -> str:
    """All that was run in one line: how much, whether it is as expected, and how long it took."""
    results = [each for it in reports for each in it.results]
    items = {(it.item, each.file) for it in reports for each in it.results}
    count = Counter(item for item, _ in items)
    suites = sum(bool(it.folder) for it in reports)
    held = [it.held for it in reports if it.held is not None]
    unexpected = sum(each.unexpected for each in held)
    incomplete = any(map(unfinished, reports))
    parts = [counted(suites, "suite")] if suites else []
    parts += [counted(count[item], item) for item in sorted(count, reverse=True)] or ["0 tests"]
    parts.append(counted(len(results), "result"))
    if incomplete:
        parts.append("interrupted")
    if unexpected:
        parts.append(f"{unexpected:,} not as expected")
    elif held:
        whole = len(held) == len(reports) and not incomplete
        parts.append("all as expected" if whole else "none unexpected")
    return ", ".join([*parts, f"{sum(it.seconds for it in reports):.1f} s"])


# ---- how many results there are of each kind ----------------------------------------------------

PROGRESS = "progress "
"""What kinds of progress begin with: UNKNOWN is a verdict, too."""
_KINDS = (
    *OBSERVATIONS,
    "racy",
    *PROGRESS_ANSWERS,
    *(word for word in PROOF_ANSWERS if word not in {*Word}),
    *Word,
    *(f"{PROGRESS}{word}" for word in ProgressWord),
)
"""What is counted, in the order in which it is shown."""


def tally(
    results: Sequence[Result | ModelAnswer],
) -> tuple[Sequence[str], Mapping[str, Counter[str]]]:
    """The kinds that there are, and by scheme or model how many of each."""
    rows: dict[str, Counter[str]] = {}
    for each in results:
        rows.setdefault(each.column, Counter()).update(_kinds_of(each))
    return [str(kind) for kind in _KINDS if any(kind in it for it in rows.values())], rows


def totals(results: Sequence[Result | ModelAnswer]) -> str:
    """`154 SOUND, 42 UNSOUND`: under all schemes or models together."""
    kinds, rows = tally(results)
    return ", ".join(f"{sum(it[kind] for it in rows.values()):,} {kind}" for kind in kinds)


def switches_in_words(results: Iterable[Result]) -> list[str]:
    """What the switches are that the reasons of results name, each once."""
    about = {name: words for it in results for name, words in it.switches.items()}
    return [f"{name} is {words}" for name, words in sorted(about.items())]


def _kinds_of(result: Result | ModelAnswer) -> list[str]:
    if isinstance(result, ModelAnswer):
        return [result.words] if result.words in PROOF_ANSWERS else result.words.split()
    progress = [f"{PROGRESS}{result.progress}"] if result.progress else []
    return [result.verdict.value, *progress]


# ---- results as cells, and lines that several answers have ---------------------------------------


def progress_class(word: ProgressWord) -> str:
    """The class of a word of progress: there is a verdict UNKNOWN, too."""
    return "progress-UNKNOWN" if word is ProgressWord.UNKNOWN else word.value


PROOF_STYLES = {"PROVED": "SOUND", "NO PROOF": "UNKNOWN"}
"""The verdicts that words about all programs are coloured as; UNSOUND is one itself."""


def result_cell(
    it: Result | ModelAnswer, about: str = "", expected: str = "", address: str = ""
) -> Cell:
    """A result. about: the name of its finding, if it is told; address: of its page."""
    kind, why = PROOF_STYLES.get(it.words, it.words), it.reason
    if isinstance(it, Result):
        kind = f"{it.verdict} {progress_class(it.progress)}" if it.progress else it.verdict
        why = "" if it.verdict is Word.SOUND and not it.within else it.reason
        why = "\n".join(filter(None, (why, progress_in_words(it))))
    return Cell(it.words, kind, why, expected, about, address)


def internal_errors(those: Iterable[Internal]) -> Iterator[Line]:
    """Mistakes of ours that came instead of answers."""
    return (line(str(each), kind="ERROR") for each in those)


def left_out(those: Iterable[FileAndReason]) -> Iterator[Line]:
    """Tests that could not be read."""
    words = (f"left out: {each.file}: {each.reason}" for each in those)
    return (line(each, kind="UNSUPPORTED") for each in words)


def changed_codes(old: Sequence[str] | None, new: Sequence[str] | None) -> tuple[Line, Line]:
    """Two codes, in the old one what is gone marked, in the new one what is added; None for none.

    What both have is marked in neither.
    """
    if not old or not new:
        return Line(_code(old, "code" if old == new else "del")), Line(_code(new, "ins"))
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    for what, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        same = what == "equal"
        before += _code(old[a:b], "code" if same else "del", first=not before) if a < b else ()
        after += _code(new[c:d], "code" if same else "ins", first=not after) if c < d else ()
    return Line(before), Line(after)


def _code(code: Sequence[str] | None, kind: str, *, first: bool = True) -> tuple[Piece, ...]:
    if not code:
        return (Piece("no row" if code is None else "nothing"),)
    pieces = tuple(piece for each in code for piece in (Piece("; "), Piece(each, kind)))
    return pieces[first:]
