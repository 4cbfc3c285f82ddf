"""`compare` for people: what rows cost, then the tests that the edit touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import astuple
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rspverify.answers import Result, machine_in_words
from rspverify.engineering.comparison import (
    Change,
    Compared,
    Comparison,
    LeftOut,
    OutcomeChange,
    RowChange,
    TouchedTest,
)
from rspverify.render.check_text import ALL, NARROWEST, middle_cut
from rspverify.render.progress import Stream
from rspverify.render.words import PROGRESS_STYLES, STYLES, bounds, counted
from rspverify.scheme.cost import Bill
from rspverify.verdict import ProgressWord, Word

_WIDTH = 56
_WORDS = 18
_CHANGE = 9
_WIDE = 120
"""From so many columns on a table of costs shows what they are made of."""
_OUTCOMES = 8
"""So many outcomes of a test are shown in each list; JSON has all."""
_CHANGES = {Change.BETTER: "green", Change.WORSE: "bold red", Change.UNKNOWN: "magenta"}
_MARKS = {True: ("", ""), False: (" forbidden", "bold red"), None: (" allowed?", "magenta")}
_COSTS = ("cost", "instr.", "flush L1", "flush L2", "inval. L1", "inval. L2", "locks")


class CompareStream(Stream):
    """Prints what is known of a comparison as soon as it is."""

    def __init__(
        self, console: Console, tests: int, *, text: bool, everything: bool = False
    ) -> None:
        left = TimeRemainingColumn(elapsed_when_finished=True)
        columns = (MofNCompleteColumn(), BarColumn(), left)
        super().__init__(console, *columns, text=text, total=tests)
        self._everything = everything or tests <= ALL
        self._width = max(NARROWEST, min(_WIDTH, console.width - 2 * (2 + _WORDS) - _CHANGE))
        heading = f"{'test'.ljust(self._width)}  {'old'.ljust(_WORDS)}  new"
        self._heading = [Text(heading, style="bold")]

    def start(self, comparison: Comparison) -> None:
        """The schemes and their rows."""
        self.print(_schemes(comparison, whole=self.console.width >= _WIDE))

    def show(self, compared: Compared) -> None:
        """The next test."""
        self.advance()
        alike = isinstance(compared, TouchedTest) and not compared.changed
        if alike and not self._everything:
            return
        if lines := list(_test(compared, self._width)):
            self.print((*self._heading, *lines))
            self._heading = []


def _schemes(it: Comparison, *, whole: bool) -> Iterator[RenderableType]:
    """Which schemes are compared, and what their rows cost."""
    for label, scheme in (("old", it.old), ("new", it.new)):
        machine = machine_in_words(scheme.machine, scheme.machine_file)
        words = f"{label}  {scheme.file}  ({scheme.name}, machine {machine})"
        yield Text(words, style="bold")
    yield Text("")
    yield _rows(it, whole=whole)
    parts = "" if whole else f" What they are made of is shown on {_WIDE} columns, and in JSON."
    yield Text(f"{costs_in_words(it)}.{parts}", style="dim")
    if all(row.same for row in it.rows):
        yield Text("Every operation becomes the same code under both.")
    yield Text("")


def costs_in_words(it: Comparison) -> str:
    """What costs are told by."""
    return f"Costs by {it.costs or 'the default costs: an access that hits the L1 is 1'}"


def _rows(it: Comparison, *, whole: bool) -> Table:
    """What the rows cost. whole: with what the cost is made of, which needs room."""
    shown = slice(None if whole else 1)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("operations", "row", "", "code"):
        table.add_column(name, overflow="fold")
    for name in _COSTS[shown]:
        table.add_column(name, justify="right", no_wrap=True)
    for row in it.rows:
        sides = [("-", row.old), ("+", row.new)]
        operations = row.operations
        for sign, side in sides[:1] if row.same else sides:
            if side is None:
                continue
            style = None if row.same else "red" if sign == "-" else "green"
            cells = [operations, _numbers(row) if row.same else str(side.row)]
            cells += ["" if row.same else sign, "; ".join(side.code) or "nothing"]
            table.add_row(*cells, *_numbered(side.bill)[shown], style=style)
            operations = ""
    both = ([row.old for row in it.rows], [row.new for row in it.rows])
    totals = [sum((each.bill for each in side if each), Bill()) for side in both]
    if totals[0] == totals[1]:
        table.add_row("all of these", "", "", "", *_numbered(totals[0])[shown], style="bold")
    else:
        table.add_row("all of these", "", "-", "", *_numbered(totals[0])[shown], style="bold red")
        table.add_row("", "", "+", "", *_numbered(totals[1])[shown], style="bold green")
    return table


def _numbers(row: RowChange) -> str:
    """Of a row that is the same under both."""
    return ", ".join(dict.fromkeys(str(side.row) for side in (row.old, row.new) if side))


def _numbered(bill: Bill) -> list[str]:
    return [str(number) if number else "" for number in astuple(bill)]


def _test(compared: Compared, width: int) -> Iterator[Text]:
    """A test that is touched, or that could not be read; nothing of others."""
    if isinstance(compared, LeftOut):
        if compared.verdict is not Word.UNSUPPORTED:
            yield Text(f"{compared.file}: {compared.verdict} {compared.reason}", style="bold red")
    elif isinstance(compared, TouchedTest):
        yield from _touched(compared, width)


def _touched(it: TouchedTest, width: int) -> Iterator[Text]:
    line = Text(middle_cut(it.test, width).ljust(width))
    for result in (it.old, it.new):
        line.append("  ").append(result.verdict.value, style=STYLES[result.verdict])
        if result.progress:
            line.append(" ").append(result.progress.value, style=PROGRESS_STYLES[result.progress])
        line.append(" " * (_WORDS - len(result.words)))
    if it.change is not Change.SAME:
        line.append("  ").append(it.change.value.lower(), style=_CHANGES[it.change])
    line.rstrip()
    yield line
    yield from (Text(f"    {each}", style="dim") for each in reasons(it))
    if it.outcomes and it.outcomes.unknown:
        yield Text(f"    outcomes not listed: {it.outcomes.unknown}", style="magenta")
    elif it.outcomes:
        yield from _outcomes("gained", it.outcomes.gained or (), "+")
        yield from _outcomes("lost", it.outcomes.lost or (), "-")


def reasons(it: TouchedTest) -> Iterator[str]:
    """Why each result is as it is, where that is worth a line; once if it is so under both."""
    old, new = (list(_worth_saying(result)) for result in (it.old, it.new))
    for reason in dict.fromkeys((*old, *new)):
        who = "" if reason in old and reason in new else "old: " if reason in old else "new: "
        yield f"{who}{reason}"


def _worth_saying(result: Result) -> Iterator[str]:
    if result.verdict not in (Word.SOUND, Word.RACY) or result.within:
        yield result.reason
    if result.progress and result.progress is not ProgressWord.LIVE:
        yield f"{result.progress} {result.progress_reason}"


def _outcomes(what: str, outcomes: Sequence[OutcomeChange], sign: str) -> Iterator[Text]:
    shown = in_words(outcomes)
    for each, words in list(zip(outcomes, shown, strict=True))[:_OUTCOMES]:
        mark, style = _MARKS[each.allowed]
        yield Text(f"    {sign} {words}").append(mark, style=style)
    rest = outcomes[_OUTCOMES:]
    if rest:
        forbidden = sum(each.allowed is False for each in rest)
        yield Text(f"    {sign} {len(rest):,} more {what}, {forbidden:,} of them forbidden")


def in_words(outcomes: Sequence[OutcomeChange]) -> list[str]:
    """Registers and memory; with what was read, where these do not tell outcomes apart."""
    met = Counter(str(each.outcome) for each in outcomes)
    words = []
    for each in outcomes:
        plain = str(each.outcome)
        reads = " ".join(f"P{it.thread} line {it.line}={it.value}" for it in each.outcome.reads)
        words.append(plain if met[plain] == 1 else f"{reads}: {plain}")
    return words


def summary(it: Comparison) -> Iterator[Text]:
    """How many of each; what was not decided, and why."""
    touched, untouched, changes = it.tests, it.untouched, it.summary.changes
    if touched:
        yield Text("")
    listed = [each.outcomes for each in touched if each.outcomes]
    gained = sum(bool(each.gained) for each in listed)
    lost = sum(bool(each.lost) for each in listed)
    reach = bounds(result.within for each in touched for result in (each.old, each.new))
    within = f", within {reach}" if reach else ""
    how = f"model {it.model}, engine {it.engine}, {it.reading} reading{within}"
    yield Text(f"{counted(it.summary.tests, 'test')}, {how}", style="bold")
    line = Text(f"  {len(touched):5,} become other code{':' if touched else ''}")
    for change in (Change.WORSE, Change.BETTER, Change.UNKNOWN, Change.SAME):
        if changes[change]:
            line.append(f"  {changes[change]:,} ")
            words = "the same verdict" if change is Change.SAME else change.value.lower()
            line.append(words, style=_CHANGES.get(change, ""))
    yield line
    if touched:
        yield Text(f"  {gained:5,} gain outcomes, {lost:,} lose outcomes")
    same = sum(each.compiled for each in untouched)
    yield Text(f"  {same:5,} become the same code under both, and were not decided")
    if len(untouched) > same:
        refused = len(untouched) - same
        yield Text(f"  {refused:5,} neither scheme can compile", style="cyan")
    yield from _gaps(it)


def _gaps(it: Comparison) -> Iterator[Text]:
    unread = Counter(each.verdict for each in it.left_out)
    if unread[Word.UNSUPPORTED]:
        yield Text(f"  {unread[Word.UNSUPPORTED]:5,} are beyond this version", style="cyan")
    wrong = sum(unread.values()) - unread[Word.UNSUPPORTED]
    if wrong:
        yield Text(f"  {wrong:5,} could not be read", style="bold red")
    unlisted = sum(bool(each.outcomes and each.outcomes.unknown) for each in it.tests)
    if unlisted:
        yield Text(f"  {unlisted:5,} whose outcomes are not listed", style="magenta")
    if it.stopped:
        done, all_ = it.summary.compared, it.summary.tests
        words = f"{it.stopped}: {done:,} of {all_:,} tests compared, the rest not"
        yield Text(words, style="bold red")
