"""`repair`: the cheapest sound and progressing schemes near a broken one."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.exit_code import exit_code
from rspverify.commands.guard import tell, told
from rspverify.commands.options import (
    OF_A_CASE,
    ClusterAt,
    CostsFile,
    NoCache,
    OutputFile,
    PageFormat,
    Reports,
    SchemeAndTests,
)
from rspverify.commands.output import judge_of, listed, note, print_answer
from rspverify.commands.reports import WRITTEN, PageForm, reports_meant
from rspverify.records import replace
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.api.repairs import Constraints


@command("The cheapest sound schemes near a broken one.", takes=OF_A_CASE)
def repair(
    settings: Settings,
    inputs: SchemeAndTests,
    than: Annotated[
        str | None,
        typer.Option(metavar="SCHEME", help="Say whether any scheme found is cheaper than this."),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            help="The rows that may change, joined by commas, or `all`. Default: those that have "
            "more than an access to memory."
        ),
    ] = None,
    allow: Annotated[
        str | None,
        typer.Option(
            help="Make codes of these instructions alone, joined by commas, with their reach "
            "(`INV_L1 WG`) or without it. Accesses need not be named."
        ),
    ] = None,
    forbid: Annotated[
        str | None, typer.Option(help="Make no code of these instructions, joined by commas.")
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            "--max-length",
            min=1,
            max=16,
            help="The most instructions of a code. Default: as many as the scheme's longest has, "
            "but 7 at least.",
        ),
    ] = None,
    store_again: Annotated[
        int | None,
        typer.Option(
            "--store-again",
            min=0,
            max=3,
            help="How often the code of a row that writes may store the same again. Default: as "
            "often as a row of the scheme does.",
        ),
    ] = None,
    set_aside: Annotated[
        bool,
        typer.Option(
            "--set-aside", help="Leave out the tests that no candidate passes, and name them."
        ),
    ] = False,
    costs: CostsFile = None,
    count: Annotated[
        int, typer.Option(min=1, help="So many schemes of the least cost at most.")
    ] = 5,
    sample: Annotated[
        int,
        typer.Option(
            min=0,
            help="So many tests for each row that may change, the smallest, are decided by the "
            "explicit engine, too.",
        ),
    ] = 8,
    hunt_events: Annotated[
        int,
        typer.Option(
            "--hunt-events",
            min=0,
            help="Put what passes every test to all programs of so many operations, too (hunt); "
            "0: to none.",
        ),
    ] = 3,
    write: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write each scheme found as a file.")
    ] = None,
    format: PageFormat = PageForm.TEXT,
    report: Reports = None,
    output: OutputFile = None,
    jobs: Annotated[
        int | None,
        typer.Option("-j", "--jobs", min=1, help="Processes of the hunt. Default: one per core."),
    ] = None,
    cluster: ClusterAt = None,
    no_cache: NoCache = False,
) -> None:
    """Repair a scheme: the cheapest schemes near it that pass every test and never get stuck.

    Candidates change the code of rows. The cheapest that nothing learnt rules out is put to the
    tests; of a test that it fails all codes are learnt that fail it as surely. So no scheme of the
    candidates is cheaper than those found. Their cost is the sum over all rows.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 no candidate passes; 3
    something was not decided, so that there may be a cheaper one; 0 otherwise.
    """
    from rspverify.api.inputs import split
    from rspverify.api.repairs import repair as repaired
    from rspverify.render.console import opened
    from rspverify.render.progress import working
    from rspverify.render.repair_text import before, repair_table, shown_search
    from rspverify.source import InputError, Problem

    files = reports_meant(report or (), [*inputs, than, costs, output], WRITTEN)
    schemes, tests = split(inputs)
    constraints = _constraints(rows, allow, forbid, max_length)
    constraints = replace(constraints, repeats=store_again, set_aside=set_aside)
    judge = judge_of(jobs, cluster, cached=not no_cache)
    with working("reading tests"):
        asked = repaired(
            schemes,
            tests,
            settings,
            than=than,
            constraints=constraints,
            costs=costs,
            count=count,
            sample=sample,
            hunt_events=hunt_events,
            judge=judge,
        )
    note(asked.notes)
    with opened(output) as console:
        with shown_search() as shown:
            print(before(asked.prepare(shown.prepared, shown.tried)), file=sys.stderr)
            stop = told(asked.each(lambda _: None))
        answer, unwritten = asked.report(stop), tuple[Problem, ...]()
        try:
            answer = asked.write(write, answer) if write is not None else answer
        except InputError as error:
            unwritten = error.problems
        page = partial(asked.page, answer, stop)
        lost = print_answer(console, format, answer, repair_table(answer), page, files)
    tell(unwritten)
    hunted = any(each.hunted and each.hunted.unknown for each in answer.found)
    undecided = stop.limit or answer.claim.stopped or not answer.claim.exact or hunted
    raise typer.Exit(
        exit_code(
            internal=answer.internal,
            interrupted=stop.interrupted,
            wrong=(*unwritten, *lost),
            found=not answer.found and not undecided,
            undecided=undecided,
        )
    )


def _constraints(
    rows: str | None, allow: str | None, forbid: str | None, max_length: int | None
) -> Constraints:
    """What the options ask of candidates. Raises InputError."""
    from rspverify.api.repairs import EVERY_ROW, Constraints
    from rspverify.source import require

    numbers = tuple(each.strip() for each in (rows or "").split(",") if each.strip())
    every = rows is not None and numbers == (EVERY_ROW,)
    wrong = [each for each in numbers if not each.isascii() or not each.isdigit()]
    require(
        every or not (wrong or (rows is not None and not numbers)),
        f"--rows must be the numbers of rows, joined by commas, or {EVERY_ROW}, not {rows!r}",
    )
    chosen = None if rows is None or every else tuple(int(each) for each in numbers)
    allowed, forbidden = (
        tuple(listed(option, given or ""))
        for option, given in (("--allow", allow), ("--forbid", forbid))
    )
    return Constraints(chosen, allowed, forbidden, max_length, every)
