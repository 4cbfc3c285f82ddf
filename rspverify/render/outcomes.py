"""What `outcomes` says: what the model allows and what schemes make of it, side by side; races."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rspverify.answers import (
    UNDEFINED,
    FinalStates,
    OutcomeAnswer,
    OutcomeRow,
    OutcomesReport,
    Quantifier,
)
from rspverify.render.document import Block, Document, Line, Table, Told, line
from rspverify.render.evidence import accesses, race_execution
from rspverify.render.words import counted, each_counted, lacking
from rspverify.verdict import Word

_REACHED = {True: "reached", False: "-", None: "?"}
_REFUSED = (Word.UNSUPPORTED, Word.UNKNOWN, Word.ERROR)
_MOST_SO_FAR = 100
"""So many outcomes are listed of those that were found where they are not all."""
_MOST_TOLD = 8
"""So many reasons are told why tests are not supported, the most frequent first."""


def document(it: OutcomesReport) -> Document:
    """All of it."""
    title = f"machine {it.machine}" if it.machine else f"model {it.model}"
    blocks = told("text", len(it.results)).whole(it.results, it)
    return Document("outcomes", title, blocks, answer=it)


def told(form: str, total: int) -> Told:
    """What is said of so many tests in a form: text or herd."""
    many = total > 1

    def each(it: OutcomeAnswer) -> Iterable[Block]:
        if form == "text":
            return answer(it, many=many)
        return [line(herd_block(it))] if form == "herd" and it.answered else ()

    def beside(it: OutcomeAnswer) -> Iterator[str]:
        if not it.answered:
            yield _refusal(it, many=many)
        elif form == "herd":
            yield from _unsaid(it)

    last = summary if form == "text" else lambda _: ()
    return Told(each, last, beside=beside, counted=("tests", total) if many else None)


def summary(it: OutcomesReport) -> Iterator[Line]:
    """How many tests have an answer, and why no more were asked."""
    answers = it.results
    if len(answers) > 1:
        by_machine = all(each.machine or not each.answered for each in answers) and it.machine
        whose = f"machine {it.machine}" if by_machine else f"model {it.model}"
        parts = [f"{len(answers)} tests, {whose}"]
        parts.append(f"{sum(each.word is None for each in answers)} answered")
        parts += [] if by_machine else [f"{sum(bool(each.racy) for each in answers)} racy"]
        refused = each_counted(Counter(each.word for each in answers), _REFUSED)
        if reasons := Counter(lacking(it.reason) for it in answers if it.word is Word.UNSUPPORTED):
            told = [f"{words} ({n})" for words, n in reasons.most_common(_MOST_TOLD)]
            told += ["…"] * (len(reasons) > _MOST_TOLD)
            yield line(f"UNSUPPORTED: {', '.join(told)}")
        yield line(", ".join([*parts, *([refused] if refused else [])]))
    if it.stopped is not None:
        yield line(f"stopped, other tests were not asked: {it.stopped}", kind="ERROR")


def answer(it: OutcomeAnswer, *, many: bool) -> Iterator[Block]:
    """One test, one of many or alone: outcomes, the race, and the final condition in herd's
    words."""
    if not it.answered:
        if it.so_far is not None:
            yield from _outcomes(it, it.so_far)
    elif it.outcomes is None and many:
        within = "".join(f" (within {number} {bound})" for bound, number in it.within.items())
        within += "".join(f" ({note})" for note in it.notes)
        if it.race is None:
            yield line(f"{it.file}: race-free{within}")
        else:
            accessed = " and ".join(accesses(it.race))
            words = f"{within} {it.race.condition}: {accessed}"
            yield line(f"{it.file}: ", ("RACY", "RACY"), words)
    else:
        yield from _race_report(it) if it.outcomes is None else _outcomes(it, it.outcomes)
        if many:
            yield line()


def _outcomes(it: OutcomeAnswer, found: Sequence[OutcomeRow]) -> Iterator[Block]:
    """The outcomes of a test, or so many of those that were known when it took too long."""
    put_to = f"machine {it.machine}" if it.machine else f"model {it.model}"
    put_to += f", scheduler {it.scheduler}" if it.scheduler else ""
    so_far = "" if it.answered else ", as far as it is known"
    yield line(f"{it.test} ({put_to}){so_far}", kind="head")
    if it.answered or found:
        yield _table(it, found if it.answered else found[:_MOST_SO_FAR])
    yield line()
    if not it.answered:
        which = f", the first {_MOST_SO_FAR} above" if len(found) > _MOST_SO_FAR else ""
        number = f"{counted(len(found), 'outcome')}{which}"
        yield line(f"These are not all: {it.reason}. Found were {number}.")
    yield from _notes(it)
    if it.race:
        what, which = ("race", "The accesses are") if it.race.second else ("fault", "It is")
        if it.race.divergence:
            what, which = "divergence of barriers", "It is"
        yield line(f"RACY: a program with a {what} may do anything. {which}", kind="RACY")
        yield from (line(f"  {each}") for each in accesses(it.race))
    elif it.machine is None:
        yield line("No consistent execution has a race.")
    if it.answered and it.condition and (final := it.final):
        yield line(f"Condition {it.condition}")
        cut = "" if final.counted else " (not counted to the end)"
        numbers = f"{final.observation} {final.positive} {final.negative}"
        yield line(f"Observation {it.test} {numbers}   states {len(final.states)}{cut}")


def _notes(it: OutcomeAnswer, end: str = "") -> Iterator[Line]:
    """The bounds, and what else must be known."""
    for bound, number in it.within.items():
        yield line(f"Only executions within {number} {bound}.", kind="UNKNOWN")
    yield from (line(f"{note}{end}", kind="UNKNOWN") for note in it.notes)


def _race_report(it: OutcomeAnswer) -> Iterator[Block]:
    """Whether one test races, with the execution."""
    yield line(f"{it.test} (model {it.model})", kind="head")
    yield from _notes(it, ".")
    if it.race is None:
        yield line("No consistent execution has a race.")
        return
    words = f"RACY: a consistent execution violates {it.race.condition}."
    yield line(words, kind="RACY")
    yield from (line(f"  {each}") for each in accesses(it.race))
    yield line()
    yield line("The execution", kind="head")
    yield race_execution(it.race)
    yield line()
    yield line(f"As a picture: rspverify draw --race -o race.svg {it.file}")


# ---- the table -----------------------------------------------------------------------------------


def _table(it: OutcomeAnswer, rows: Sequence[OutcomeRow]) -> Table:
    """A column for each value, or one for all values where that is too wide."""
    shown = _values(rows)
    names = _names(shown)
    heads = ["model"] * (it.machine is None) + [*it.schemes] + ["condition"] * bool(it.condition)
    cells = []
    for row in rows:
        allowed = ["allowed" if row.allowed else "forbidden"] * (it.machine is None)
        reached = [_REACHED[each] for each in row.reached.values()]
        holds = ["holds" if row.satisfies else ""] * bool(it.condition)
        cells.append([*allowed, *reached, *holds])
    kinds = {n: "UNSOUND" for n, row in enumerate(rows) if not (row.allowed or it.race)}
    each = [[values.get(name, "") for name in names] for values in shown]
    whole = [[" ".join(f"{name}={value}" for name, value in values.items())] for values in shown]
    narrow, wide = (
        [[*first, *others] for first, others in zip(those, cells, strict=True)]
        for those in (whole, each)
    )
    otherwise = Table(["outcome", *heads], narrow, kinds=kinds)
    return Table([*names, *heads], wide, range(len(names)), kinds, otherwise=otherwise)


def _values(rows: Sequence[OutcomeRow]) -> list[dict[str, str]]:
    """Per outcome its values by name: registers and memory, and reads where these do not tell."""
    ends = ({**row.outcome.registers, **row.outcome.memory} for row in rows)
    plain = [{name: str(value) for name, value in each.items()} for each in ends]
    if len({tuple(values.items()) for values in plain}) == len(plain):
        return plain
    return [{**found, **values} for found, values in zip(_reads(rows), plain, strict=True)]


def _reads(rows: Sequence[OutcomeRow]) -> list[dict[str, str]]:
    """Per outcome its reads: `P1 line 12`, with the column where a line has several of a thread.

    Where a loop reads at one place again and again, they are numbered.
    """
    places = [Counter((it.thread, it.line, it.column) for it in row.outcome.reads) for row in rows]
    crowded = Counter((thread, line) for thread, line, _ in set().union(*places))
    repeated = {place for counted in places for place, number in counted.items() if number > 1}
    found = []
    for row in rows:
        met: Counter[tuple[int, int, int]] = Counter()
        values = {}
        for it in row.outcome.reads:
            place = (it.thread, it.line, it.column)
            met[place] += 1
            column = f":{it.column}" if crowded[it.thread, it.line] > 1 else ""
            number = f" #{met[place]}" if place in repeated else ""
            values[f"P{it.thread} line {it.line}{column}{number}"] = str(it.value)
        found.append(values)
    return found


def _names(shown: Sequence[Mapping[str, str]]) -> list[str]:
    """Reads by thread and place, then registers, then memory, whatever a row happens to have."""
    names = dict.fromkeys(name for values in shown for name in values)
    reads = [name for name in names if " line " in name]
    reads.sort(key=lambda name: [int(each) for each in re.findall(r"\d+", name)])
    return [*reads, *(name for name in names if " line " not in name)]


def _refusal(it: OutcomeAnswer, *, many: bool) -> str:
    """Why there is no answer; what is wrong or unsupported is named with its file and line."""
    if it.word is not Word.UNKNOWN:
        return it.reason
    file = f"{it.file}: " if many else ""
    return f"{file}{it.reason}" if it.internal else f"{file}UNKNOWN: {it.reason}"


def _unsaid(it: OutcomeAnswer) -> Iterator[str]:
    """What herd's form has no place for."""
    if it.final is not None and not it.final.counted:
        yield f"{it.file}: there are more executions than the counts say"
    for bound, number in it.within.items():
        yield f"{it.file}: only executions within {number} {bound}"
    yield from (f"{it.file}: {note}" for note in it.notes)


# ---- as herd7 prints it --------------------------------------------------------------------------


_HERD_KINDS = {
    Quantifier.EXISTS: "Allowed",
    Quantifier.NOT_EXISTS: "Forbidden",
    Quantifier.FORALL: "Required",
}


def herd_block(it: OutcomeAnswer) -> str:
    """What herd prints of a test, with an empty line below it."""
    final = it.final
    assert final is not None
    positive, negative = final.positive, final.negative
    if final.quantifier is Quantifier.NOT_EXISTS:  # there a witness is what does not satisfy
        positive, negative = negative, positive
    lines = [
        f"Test {it.test} {_HERD_KINDS[final.quantifier]}",
        f"States {len(final.states)}",
        *(" ".join(f"{name}={value};" for name, value in state.items()) for state in final.states),
        ("Loop " if it.within else "") + _judgement(it, final),
        "Witnesses",
        f"Positive: {positive} Negative: {negative}",
        *(f"Flag {name}" for name in it.flags or ()),
        f"Condition {final.quantifier} ({final.formula})",
        f"Observation {it.test} {final.observation} {final.positive} {final.negative}",
        f"Time {it.test} {it.seconds:.2f}",
    ]
    return "\n".join(lines) + "\n"


def _judgement(it: OutcomeAnswer, final: FinalStates) -> str:
    if UNDEFINED in (it.flags or ()):
        return "Undef"
    fulfilled = {
        Quantifier.EXISTS: final.positive > 0,
        Quantifier.NOT_EXISTS: final.positive == 0,
        Quantifier.FORALL: final.negative == 0,
    }
    return "Ok" if fulfilled[final.quantifier] else "No"
