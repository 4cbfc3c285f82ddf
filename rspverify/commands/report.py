"""`report`: all results as a site of static pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rspverify.commands.command import command
from rspverify.commands.completion import scheme_and_test_words
from rspverify.commands.exit_code import exit_code, exit_code_of, first_of
from rspverify.commands.guard import told
from rspverify.commands.options import ClusterAt, Jobs, NoCache
from rspverify.commands.output import judge_of, note
from rspverify.soundness.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from rspverify.answers import SuiteReport


@command("A site of static pages, with all counterexamples.", takes=OPTIONS)
def report(
    settings: Settings,
    site: Annotated[
        str,
        typer.Option(
            metavar="DIR",
            help="Write the site to this folder: a new one, an empty one, or a site from before.",
        ),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCHEME… [TEST…] | SUITE…]",
            autocompletion=scheme_and_test_words,
            help="As of check: schemes and tests, or suites (default: litmus).",
        ),
    ] = None,
    most: Annotated[
        int,
        typer.Option(
            min=0, help="So many results have a page of their own, counterexamples first."
        ),
    ] = 3_000,
    broken: Annotated[
        bool, typer.Option("--broken", help="Only counterexamples have a page of their own.")
    ] = False,
    jobs: Jobs = None,
    cluster: ClusterAt = None,
    no_cache: NoCache = False,
) -> None:
    """Write a site of static pages: what `check` says as a matrix, and a page for each result
    that there is something to show of.

    UNSOUND and STUCK: the execution, step by step through the caches, and what the model forbids.
    SOUND: what outcomes are allowed, which of them the machine reaches, and how far the verdict
    reaches. A gallery has all counterexamples. The pages contact nothing, and open out of the
    folder. The same command goes on where it was ended, and decides nothing twice.

    Exit: as of check; 2 also where the site cannot be written.
    """
    from rspverify.api.checks import check as checked
    from rspverify.api.checks import check_suites
    from rspverify.api.inputs import split
    from rspverify.api.sites import require_site, write_site
    from rspverify.render.console import opened
    from rspverify.render.suites_text import SuitesStream

    require_site(site)
    judge = judge_of(jobs, cluster, cached=not no_cache, settings=settings)
    parts = check_suites(inputs or (), settings, judge=judge)
    if parts is None:
        schemes, tests = split(inputs or ())
        parts = [checked(schemes, tests, settings, judge=judge)]
        note(parts[0].notes)
    reports: list[SuiteReport] = []
    with opened(None) as console, SuitesStream(console, text=False) as stream:
        for part in parts:
            stream.begin(part.suite.folder, part.total)
            found = part.report(told(part.each(stream.show)))
            left = most - sum(len(it.details) for it in reports)
            reports.append(part.with_cases(found, left, stream, broken=broken))
            if reports[-1].stopped:
                break
    written = write_site(site, reports)
    cases = sum(len(it.details) for it in reports)
    print(f"{written.files:,} files, {written.size / 1e6:.1f} MB, {cases:,} results with a page")
    print(f"open {written.first}")
    codes = [exit_code_of(it.results, it.held, interrupted=it.interrupted) for it in reports]
    undecided = any(it.limit for it in reports)
    raise typer.Exit(first_of([*codes, exit_code(undecided=undecided)]))
