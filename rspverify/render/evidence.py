"""What a verdict rests on: compiled code, executions, axioms, rows at fault; for `explain` and
for findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise

from rspverify.answers import (
    Detail,
    ExplainReport,
    Explanation,
    MachineRun,
    Reached,
    Result,
    RowsAtFault,
    machine_in_words,
    within_words,
)
from rspverify.graph import nearest
from rspverify.picture import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.records import replace
from rspverify.render import document as doc
from rspverify.render.document import Block, Document, Line, line
from rspverify.render.trace import run_trace, stuck_trace, wrong_trace
from rspverify.render.words import (
    also_mended,
    counted,
    progress_class,
    progress_in_words,
    row_in_words,
    switches_in_words,
)
from rspverify.verdict import (
    WRONG,
    Event,
    ExecutionGraph,
    Progress,
    ProgressWord,
    Race,
    Verdict,
    Word,
)

_RELATED = {
    "rf": "reads from",
    "mo": "after in mo",
    "sw": "synchronises with",
    "gsw": "global-synchronises with",
    "lsw": "local-synchronises with",
    "hb": "after in hb",
}
"""What the column of a relation tells of an event: those that are related to it."""


# ---- one verdict ---------------------------------------------------------------------------------


def explanation(detail: Detail, *, queues: bool = False) -> Document:
    """All that `explain` says of a verdict. queues: whether a text has what is in queues, too."""
    it = detail.explanation
    assert it is not None
    result, verdict, progress = it.result, it.verdict, it.progress
    subject = f"{it.title} under {result.scheme} (model {result.model})"
    head = [(f"{subject}: ", "head"), (verdict.word.value, verdict.word.value)]
    if progress:
        head += [(", ", ""), (progress.word.value, progress_class(progress.word))]
    shown = list(_evidence(replace(detail, command=""), queues=queues, going=bool(progress)))
    about = [line(each, kind="note prose") for each in switches_in_words([result])]
    lines = [line(verdict.reason, kind="prose"), *about]
    article = doc.Article("explained", verdict.word, subject, lines, evidence=shown, open=True)
    blocks: list[Block] = [doc.Aside([line(*head)]), doc.Articles([article], "")]
    return Document("explain", subject, blocks, answer=ExplainReport(detail, None))


def _verdict(it: Explanation, source: str = "", *, queues: bool = False) -> Iterator[Block]:
    """What shows the verdict."""
    verdict, outcome = it.verdict, it.result.outcome
    trace = wrong_trace(it, source, queues=queues)
    if verdict.word is Word.RACY and verdict.race is not None:
        what = "race" if verdict.race.second else "fault"
        yield line()
        yield line(f"A consistent execution of the source with the {what}", kind="head")
        yield race_execution(verdict.race)
    elif verdict.word is Word.VACUOUS and verdict.blocked:
        yield line()
        yield line("The machine cannot go on from here:", kind="head")
        yield from (line(f"  {each}") for each in verdict.blocked)
    elif verdict.word in WRONG and outcome is not None:
        if trace is not None:
            yield trace
            yield line()
            ending = f"It ends with {outcome}, after {counted(trace.steps, 'step')}."
        elif verdict.graph is not None:
            ending = f"It ends with {outcome}."
        else:
            return
        yield line(ending, kind="head")
        for read in outcome.reads:
            where = f"P{read.thread}, line {read.line}"
            yield line(f"  {where}, read {read.value} from {read.location}")
        yield line()
        if not it.axioms:
            yield line("No candidate execution of the source has these values at all.")
            yield from _of_the_target(verdict)
            return
        which = "" if len(it.axioms) == 1 else " at least one of"
        head = (
            f"No execution of the source ends so: every candidate with these values breaks{which}"
        )
        axioms = [(name, text.removesuffix(f" as {name}")) for name, text in it.axioms]
        yield doc.Definitions(f"{head}{which}", axioms)
        yield from _of_the_target(verdict)


def _of_the_target(verdict: Verdict) -> Iterator[Block]:
    """The execution of a target that is a model's."""
    if verdict.graph is not None:
        yield line()
        yield line("The execution of the target", kind="head")
        yield execution(verdict.graph.events, verdict.graph.edges)


def _picture(graph: ExecutionGraph, test: str) -> Picture:
    """An execution of a target as a picture; of mo and fr the edges that the others follow from."""
    events, rf = graph.events, graph.edges.get("rf", ())
    mo = nearest(graph.edges.get("mo", ()))
    numbers = range(1 + max((it.thread for it in events if it.thread is not None), default=-1))
    columns = [[at for at, it in enumerate(events) if it.thread == each] for each in numbers]
    edges = {
        "po": chain(*map(pairwise, columns)),
        "rf": rf,
        "mo": mo,
        "fr": [(read, b) for write, read in rf for a, b in mo if a == write and b != read],
    }
    return Picture(
        f"{test}, compiled",
        (),
        tuple(PlacedThread(f"P{each}", None, None) for each in numbers),
        tuple(PlacedEvent(it.access, it.thread, it.line) for it in events),
        tuple(Arrow(name, a, b) for name, pairs in edges.items() for a, b in pairs),
    )


def _progress(
    it: Explanation, progress: Progress, source: str = "", *, queues: bool = False
) -> Iterator[Block]:
    trace = stuck_trace(it, source, queues=queues)
    if trace is None:
        claim = "Progress" if progress.word is ProgressWord.LIVE else "Progress is not known"
        yield line()
        yield line(f"{claim}: {progress.reason}")
        return
    yield trace
    shortest = "; none is shorter" if trace.execution.shortest else ""
    yield line()
    yield line(f"It is stuck after {counted(trace.steps, 'step')}{shortest}. Then:", kind="head")
    yield from (line(f"  {each}") for each in progress.blocked)
    yield line("What the environment can still do changes nothing of this.")


def reached(it: Reached) -> Iterator[Line]:
    """The outcomes that the machine reaches, and how many they are."""
    count, allowed = len(it.outcomes), it.allowed
    yield line()
    if it.stopped and not count:
        yield line(f"Which outcomes {_who(it)} is not known: {it.stopped}.")
        return
    if not it.all:
        others = f"perhaps others ({it.stopped})" if it.stopped else "others"
        what = f"these {counted(count, 'outcome')}, and {others}:"
    elif allowed is None:
        what = f"{counted(count, 'outcome')}:"
    else:
        beyond = "more than " if it.beyond else ""
        what = f"{count} of the {beyond}{allowed} outcomes that the model allows:"
    yield line(f"{_who(it).capitalize()} {what}", kind="head")
    yield from (line(f"  {outcome}") for outcome in it.outcomes)


def _who(it: Reached) -> str:
    return "the target allows" if it.target else "the machine reaches"


def _reached_table(it: Reached) -> Block:
    """The outcomes that the model allows, and which of them the machine reaches."""
    if it.stopped:  # how far it came may be otherwise another time
        return line(f"Which outcomes {_who(it)} is not known: {it.stopped}.")
    rows = [[line((str(each), "code")), line(("reached", "SOUND"))] for each in it.outcomes]
    rows += [[line((str(each), "code")), line("not reached")] for each in it.others]
    notes = []
    if not it.all:
        notes.append(f"{_who(it).capitalize()} others, too.")
    elif it.allowed is not None:
        beyond = "more than " if it.beyond else ""
        notes.append(f"{_who(it).capitalize()} {len(it.outcomes):,} of the {beyond}{it.allowed:,}.")
    heads = ("outcome", "the target" if it.target else "the machine")
    return doc.Table(heads, rows, notes=notes, head="Outcomes that the model allows")


# ---- findings ------------------------------------------------------------------------------------


def answer(it: Result, detail: Detail, fault: RowsAtFault | None) -> doc.Article:
    """All that is said of one test under one scheme, whatever the verdict."""
    why = "" if it.verdict is Word.SOUND and not it.within else it.reason
    sound, going = it.verdict in (Word.SOUND, Word.RACY), it.progress
    style: str = it.verdict
    if going and going is not ProgressWord.LIVE and (sound or going is ProgressWord.UNKNOWN):
        style = progress_class(going)
    lines = [line(each) for each in (why, progress_in_words(it)) if each]
    shown = doc.Article("answer", it.claim, it.test, lines, style=style)
    return explained(shown, it.scheme_file, fault, detail)


def explained(
    shown: doc.Article, scheme: str, fault: RowsAtFault | None, detail: Detail | None
) -> doc.Article:
    """A finding with the rows of a scheme's file that are at fault, and all that it rests on."""
    blocks = list(shown.evidence)
    if fault and fault.rows:
        text = detail.scheme.split("\n") if detail else []
        rows = []
        for row in fault.rows:
            last = row.end_line if row.end_column > 1 else row.end_line - 1
            lines = list(enumerate(text[row.line - 1 : max(row.line, last)], row.line))
            words = row_in_words(row.number, row.operations, row.code)
            rows.append(doc.ShownRow(f"{scheme}:{row.line}", words, lines))
        blocks.append(doc.Rows(rows))
        others = [[row.number for row in each] for each in fault.others]
        blocks += (line(each, kind="note") for each in also_mended(others))
    if detail is not None:
        blocks += _evidence(detail)
    return replace(shown, evidence=blocks, detailed=detail is not None)


def _evidence(detail: Detail, *, queues: bool = False, going: bool = False) -> Iterator[Block]:
    """going: whether it is progress that is asked for, and not the verdict."""
    it, source = detail.explanation, detail.source
    if it is not None:
        yield from [line(it.reach, kind="note prose")] * bool(it.reach)
        yield line()
        yield doc.Compiled(it.threads, source)
        if not going:
            yield from _verdict(it, source, queues=queues)
        if it.progress and (going or it.progress.word is ProgressWord.STUCK):
            yield from _progress(it, it.progress, source, queues=queues)
        if detail.picture:
            yield doc.Drawing(detail.picture)
        if it.verdict.graph is not None and not going:
            yield doc.Drawing(_picture(it.verdict.graph, it.result.test), "What the target allows")
        if detail.reached and (detail.reached.outcomes or detail.reached.stopped):
            yield _reached_table(detail.reached)
    command = line("In a terminal: ", (detail.command, "code")) if detail.command else line()
    basis = [each for each in (line(detail.reason), command) if each]
    yield from [doc.Basis(basis)] * bool(basis)


# ---- executions of the source --------------------------------------------------------------------


def accesses(race: Race) -> list[str]:
    """The two accesses of a race, each with its place; or the place of another fault."""
    if race.divergence:
        return [race.divergence]
    return [
        it.access
        if it.thread is None or it.line is None
        else f"P{it.thread} line {it.line}: {it.access}"
        for it in (race.first, race.second)
        if it is not None
    ]


def race_execution(race: Race) -> doc.Table:
    """The execution of a race, with the two accesses marked."""
    marked = [each for each in (race.first, race.second) if each is not None]
    return execution(race.events, race.edges, marked)


def execution(
    events: Sequence[Event],
    edges: Mapping[str, Sequence[tuple[int, int]]],
    marked: Collection[Event] = (),
) -> doc.Table:
    """The events by thread, and which are related to each; of mo and hb the next before only."""
    shown = [name for name in _RELATED if edges.get(name)]
    into = {name: _into(events, edges[name], name) for name in shown}
    rows = [
        [
            f"e{place}",
            "" if event.thread is None else f"P{event.thread}",
            "" if event.line is None else str(event.line),
            event.access,
            *(" ".join(f"e{each}" for each in into[name][place]) for name in shown),
        ]
        for place, event in enumerate(events)
    ]
    kinds = {place: "RACY" for place, event in enumerate(events) if event in marked}
    heads = ("", "thread", "line", "access", *(_RELATED[name] for name in shown))
    return doc.Table(heads, rows, kinds=kinds, gap=2)


def _into(events: Sequence[Event], edges: Iterable[tuple[int, int]], name: str) -> list[list[int]]:
    """Of each event, those that the relation leads from; of an order only the nearest."""
    if name in ("mo", "hb"):
        edges = nearest(tuple(edges))
    if name == "hb":  # that initial writes come first goes without saying
        edges = [pair for pair in edges if events[pair[0]].thread is not None]
    found: list[list[int]] = [[] for _ in events]
    for a, b in edges:
        found[b].append(a)
    return found


# ---- a run of a machine --------------------------------------------------------------------------


def machine_run(it: MachineRun, source: str = "", *, queues: bool = False) -> Document:
    """A run of a machine, or that there is none. source: the text of the test, for a page.

    queues: whether a text has what is in queues, too.
    """
    title = f"{it.test} on the {machine_in_words(it.machine, it.machine_file)}"
    lines = [line(f"A run that ends with {it.wanted}")] if it.wanted else []
    shown: list[Block] = [doc.Compiled((), source)] if source else []
    trace = run_trace(it, queues=queues)
    if trace is None:
        ends = f"ends with {it.wanted}" if it.completes else "completes"
        end = f"No run of the machine {ends}{within_words(it.within)}."
        lines = [line(end), *(line(f"  {each}") for each in it.blocked)]
    else:
        values = f" with {it.outcome}" if str(it.outcome) else ""
        end = f"It ends{values}, after {counted(trace.steps, 'step')}; none is shorter."
        shown += [line(), trace, line(), line(end, kind="head")]
    kind = "run" if trace else "no run"
    article = doc.Article("run", kind, it.test, lines, [it.file], evidence=shown, open=True)
    head = doc.Aside([line(title, kind="head")])
    blocks: list[Block] = [head, doc.Articles([article], "")]
    return Document("explain", title, blocks, answer=ExplainReport(None, it))
