"""`check` for people: a line per test with its verdicts, the reasons below, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from rspverify.answers import Held, Result
from rspverify.render.words import counted
from rspverify.verdict import ProgressWord, Word

STYLES = {
    Word.SOUND: "green",
    Word.UNSOUND: "bold red",
    Word.RACY: "yellow",
    Word.VACUOUS: "magenta",
    Word.UNKNOWN: "magenta",
    Word.UNSUPPORTED: "cyan",
    Word.ERROR: "bold red",
}
PROGRESS_STYLES = {
    ProgressWord.LIVE: "green",
    ProgressWord.STUCK: "bold red",
    ProgressWord.UNKNOWN: "magenta",
}
_DECIDED = {Word.SOUND, Word.UNSOUND, Word.RACY, Word.VACUOUS}
_WORD_WIDTH = 11
_PROGRESS_WIDTH = 9


def heading(schemes: Sequence[str], width: int, *, progress: bool = False) -> Text:
    """The first line of the table; `progress`: there is a column for it beside each verdict."""
    column = _WORD_WIDTH + (_PROGRESS_WIDTH if progress else 0)
    names = "  ".join(name.ljust(column) for name in schemes)
    return Text(f"{'test'.ljust(width)}  {names}".rstrip(), style="bold")


def row(results: Sequence[Result], width: int, *, progress: bool = False) -> Iterator[Text]:
    """One test: a verdict per scheme, then each reason that is worth a line, with who it is for."""
    line = Text(results[0].test.ljust(width))
    for result in results:
        word = result.verdict.word
        line.append("  ")
        line.append(word.value.ljust(_WORD_WIDTH), style=STYLES[word])
        if progress:
            going = result.progress.word if result.progress else None
            style = PROGRESS_STYLES[going] if going else ""
            line.append(f"  {going or '':{_PROGRESS_WIDTH - 2}}", style=style)
    line.rstrip()
    yield line
    reasons: dict[tuple[Word, str], list[str]] = {}
    for result in results:
        if result.verdict.word is not Word.SOUND or result.verdict.within:
            reasons.setdefault((result.verdict.word, result.verdict.reason), []).append(
                result.scheme
            )
    for result in results:
        if result.progress and result.progress.word is not ProgressWord.LIVE:
            reason = f"{result.progress.word} {result.progress.reason}"
            reasons.setdefault((result.verdict.word, reason), []).append(result.scheme)
    for (word, reason), schemes in reasons.items():
        who = "" if len(schemes) == len(results) else f"{', '.join(schemes)}: "
        if word is Word.ERROR:
            yield Text(f"{who}{reason}", style="red")
        elif any(it.internal and it.verdict.reason == reason for it in results):
            yield Text(f"    {who}{reason}", style="bold red")
        else:
            yield Text(f"    {who}{reason}", style="dim")


def summary(results: Sequence[Result], seconds: float, total: int) -> Iterator[Text]:
    """How many of each verdict, per scheme; and how much was decided of what was asked."""
    tests = len({result.file for result in results})
    schemes = list(dict.fromkeys((result.scheme_file, result.scheme) for result in results))
    yield Text("")
    if results:
        first = results[0]
        bounds = sorted({f"{n} {k}" for r in results for k, n in r.verdict.within.items()})
        decided = any(r.verdict.word in _DECIDED for r in results)
        reach = f" (within {', '.join(bounds)})" if bounds else " (exact)" if decided else ""
        cached = sum(result.cached for result in results)
        known = f", {cached:,} of {counted(len(results), 'result')} from the cache"
        yield Text(
            f"{counted(tests, 'test')}, {counted(len(schemes), 'scheme')}, model {first.model}, "
            f"engine {first.engine}{reach}, {first.reading} reading, {seconds:.1f} s"
            f"{known if cached else ''}",
            style="bold",
        )
    width = max((len(name) for _, name in schemes), default=0)
    for file, name in schemes:
        line = Text(f"  {name.ljust(width)}")
        words = [result.verdict.word for result in results if result.scheme_file == file]
        for word in Word:
            if words.count(word):
                line.append(f"  {words.count(word):4} ")
                line.append(word.value, style=STYLES[word])
        for going in ProgressWord:
            count = sum(
                result.progress is not None and result.progress.word is going
                for result in results
                if result.scheme_file == file
            )
            if count:
                line.append(f"  {count:4} ")
                line.append(going.value, style=PROGRESS_STYLES[going])
        if any(result.verdict.within for result in results if result.scheme_file == file):
            line.append("  (some only within the bound)")
        yield line
    for solver in sorted({r.verdict.confirmed for r in results} - {None}, key=str):
        confirmed = [r for r in results if r.verdict.confirmed == solver]
        sound = [r for r in results if r.verdict.word is Word.SOUND]
        yield Text(f"  {len(confirmed)} of {len(sound)} SOUND confirmed by {solver}")
    if len(results) < total:
        yield Text(
            f"interrupted: {len(results)} of {total} verdicts decided, the rest not",
            style="bold red",
        )


def comparison(it: Held, noun: str = "verdict", *, at_most: int | None = None) -> Iterator[Text]:
    """What is not as expected, at most so many of it, or that everything is."""
    for each in it.differences[:at_most]:
        result = each.result
        was = each.expected or f"nothing (no {noun} is written down)"
        bounds = ", ".join(f"{bound} {name}" for name, bound in result.within.items())
        within = f" within {bounds}, which never counts as expected" if bounds else ""
        yield Text(
            f"{result.file} under {result.column}: expected {was}, got {result.words}{within}",
            style="bold red",
        )
    for test in it.gone:
        yield Text(f"{test}: must be a test, as {it.file} has it, or be left out", style="bold red")
    if at_most is not None and len(it.differences) > at_most:
        yield Text(f"and {len(it.differences) - at_most:,} more (--format json has all)")
    if it.differences:
        yield Text(f"{counted(len(it.differences), noun)} not as in {it.file}", style="bold red")
    if it.gone:
        yield Text(f"{counted(len(it.gone), 'test')} of {it.file} not there", style="bold red")
    if not it.unexpected:
        yield Text(f"every {noun} is as in {it.file}", style="green")
    if it.unasked:
        what = f"of {counted(it.unasked, noun)} progress is expected, and not asked for"
        yield Text(f"{what} (--progress)", style="yellow")
