"""The command line: parse arguments, call, render, exit code."""

from __future__ import annotations

import _thread
import gc
import os
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rspverify import __version__
from rspverify.commands.compare import compare
from rspverify.commands.guard import INTERRUPTED, guarded
from rspverify.commands.hunt import hunt
from rspverify.commands.mutate import mutate
from rspverify.commands.output import note, print_parts, warn_once
from rspverify.commands.repair import repair
from rspverify.options import (
    DrawFormat,
    Format,
    FormatName,
    Jobs,
    NoCache,
    OutcomesFormat,
    OutputFile,
    with_settings,
)
from rspverify.soundness.settings import Engine, Settings

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

    from rspverify.answers import OutcomeAnswer, Result
    from rspverify.selftest.answer import PairResult

app = typer.Typer(
    name="rspverify",
    help="Decides whether a compilation scheme from OpenCL with remote-scope promotion is sound.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Rich takes half of the time of --help to load.
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rspverify {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command(short_help="A verdict for each test under each scheme.")
@guarded
@with_settings()
def check(
    settings: Settings,
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCHEME… [TEST…]",
            help="Schemes (files that end in .yaml) and tests (files or folders; default: litmus).",
        ),
    ],
    expect: Annotated[
        str | None,
        typer.Option(
            help="Hold the verdicts (and progress, if asked for) to this file: 0 if all are as "
            "expected."
        ),
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Write the verdicts to the file of --expect instead.")
    ] = False,
    format: Format = FormatName.TEXT,
    output: OutputFile = None,
    jobs: Jobs = None,
    no_cache: NoCache = False,
) -> None:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Exit: 70 internal error, with a folder to report; 2 wrong input; 1 UNSOUND, STUCK or
    unexpected; 3 UNKNOWN, VACUOUS, UNSUPPORTED; 0 otherwise.
    """
    from rspverify.check.exit_code import exit_code
    from rspverify.check.inputs import require, split_inputs
    from rspverify.judge.answers import answers_may_be_kept
    from rspverify.judge.cache import cache_place
    from rspverify.judge.judge import Judge
    from rspverify.judge.reading import read_inputs
    from rspverify.judge.run import Run
    from rspverify.render.check_stream import CheckStream
    from rspverify.render.console import opened

    schemes, tests = split_inputs(inputs)
    require(not refresh or expect is not None, "--refresh must come with --expect FILE")
    require(expect is None or Path(expect).parent.is_dir(), f"{expect}: its folder must exist")
    known = None
    if expect and not refresh:
        from rspverify.check.expected import read_expected

        known = read_expected(expect, settings.model)
    started = time.perf_counter()
    warn = warn_once()
    place = cache_place(not no_cache and answers_may_be_kept(settings), warn)
    judge = Judge(place, warn, jobs or os.cpu_count() or 1)
    given = read_inputs(schemes, settings, judge)
    results: list[Result] = []
    interrupted = False
    text = format is FormatName.TEXT
    with opened(output) as console:
        with CheckStream(
            console, given.names, len(tests), text, progress=settings.progress
        ) as stream:
            try:
                with closing(Run(given, judge).results(tests)) as coming:
                    for result in coming:
                        results.append(result)
                        stream.show(result)
            except KeyboardInterrupt:
                interrupted = True
        differences = known.differences(results) if known else None
        if text:
            total = len(tests) * len(schemes)
            stream.finish(time.perf_counter() - started, total, differences, expect)
        else:
            from rspverify.answers import check_report
            from rspverify.convert import to_json

            model = given.model_facts.name
            report = check_report(results, model, settings.engine, settings.reading)
            console.file.write(to_json(report))
    if refresh and expect and not interrupted and not any(each.internal for each in results):
        from rspverify.check.expected import not_to_be_expected, write_expected

        write_expected(expect, results, settings.model)
        print(f"wrote {expect}", file=sys.stderr)
        for message in not_to_be_expected(results):
            print(message, file=sys.stderr)
        raise typer.Exit(2 if any(not_to_be_expected(results)) else 0)
    raise typer.Exit(INTERRUPTED if interrupted else exit_code(results, differences))


@app.command(short_help="One verdict with all that it rests on.")
@guarded
@with_settings()
def explain(
    settings: Settings,
    scheme: Annotated[str, typer.Argument(help="A scheme, a .yaml file.")],
    test: Annotated[str, typer.Argument(help="A litmus test.")],
    output: OutputFile = None,
) -> None:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Exit code: 70 internal error, with a folder to report; otherwise as of check.
    """
    from rspverify.axiomatic import load_model
    from rspverify.check.exit_code import exit_code
    from rspverify.check.inputs import require
    from rspverify.judge.explain import explain as explained
    from rspverify.judge.incident import Incident, reporting
    from rspverify.judge.litmus_test import read_test
    from rspverify.judge.reading import load_scheme
    from rspverify.judge.verdicts import NamedScheme
    from rspverify.render.explanation_text import explanation
    from rspverify.source import read_source

    require(
        not scheme.endswith(".litmus"), f"the scheme must come first, and then the test: {scheme}"
    )
    with reporting(Incident("explain", (test,), (scheme,), settings)):
        table = load_scheme(scheme, settings)
        found = explained(
            read_test(read_source(test), settings),
            NamedScheme.of(table, scheme),
            load_model(settings.model),
            settings,
        )
    print_parts(output, explanation(found))
    raise typer.Exit(exit_code([found.result], None))


@app.command(short_help="All outcomes that the model allows and schemes reach; races.")
@guarded
@with_settings("reading", "confirm", "smt_dir", "progress")
def outcomes(
    settings: Settings,
    tests: Annotated[
        list[str], typer.Argument(metavar="TEST…", help="Litmus tests, files or folders.")
    ],
    scheme: Annotated[
        list[str] | None, typer.Option("--scheme", help="Show what this scheme reaches, too.")
    ] = None,
    races: Annotated[
        bool,
        typer.Option(
            "--races",
            help="Only whether each test races; of one test, the two accesses and a consistent "
            "execution that has them.",
        ),
    ] = False,
    format: Annotated[
        OutcomesFormat, typer.Option(help="Text, JSON for other tools, or what herd7 prints.")
    ] = OutcomesFormat.TEXT,
    output: OutputFile = None,
    jobs: Jobs = None,
) -> None:
    """List every outcome that the model allows, and those that schemes reach on the machine.

    Of many tests, one after the other; what is wrong with one is said, and the others go on.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 3 a limit was met, or a
    test is beyond this version; 0 otherwise.
    """
    from rspverify.axiomatic import load_model
    from rspverify.check.inputs import find_tests, require
    from rspverify.judge.judge import Judge
    from rspverify.judge.listing import Listing, exit_code
    from rspverify.judge.reading import load_scheme
    from rspverify.render.console import opened
    from rspverify.render.outcomes_stream import OutcomesStream
    from rspverify.source import InputError, Problem

    schemes = tuple(scheme or ())
    require(not (races and schemes), "--races must go without --scheme: it asks the model alone")
    require(
        not (races and format is OutcomesFormat.HERD),
        "--races must go with --format text or json: herd has no form for it",
    )
    require(
        not (schemes and format is OutcomesFormat.HERD),
        "--scheme must go with --format text or json: herd has no form for it",
    )
    problems: list[Problem] = []
    files = find_tests(tests, problems)
    if problems:
        raise InputError(problems)
    model = load_model(settings.model)
    note(model.notes)
    listing = Listing(
        model,
        tuple(load_scheme(path, settings) for path in schemes),
        schemes,
        settings,
        races,
    )
    found: list[OutcomeAnswer] = []
    interrupted = False
    with opened(output) as console:
        stream = OutcomesStream(console, format.value, many=len(files) > 1)
        try:
            with closing(
                listing.answers(files, Judge(workers=jobs or os.cpu_count() or 1))
            ) as coming:
                for answer in coming:
                    found.append(answer)
                    stream.show(answer)
        except KeyboardInterrupt:
            interrupted = True
        stream.finish(found, model.name)
    raise typer.Exit(INTERRUPTED if interrupted else exit_code(found))


@app.command(short_help="An execution of a test as a picture.")
@guarded
@with_settings(
    "engine",
    "reading",
    "steps",
    "machine",
    "l2",
    "states",
    "confirm",
    "smt_dir",
    "progress",
)
def draw(
    settings: Settings,
    test: Annotated[str, typer.Argument(help="A litmus test.")],
    race: Annotated[
        bool, typer.Option("--race", help="A consistent execution with a race, marked.")
    ] = False,
    forbidden: Annotated[
        bool,
        typer.Option(
            "--forbidden",
            help="A candidate execution that satisfies the final condition (or has the --outcome) "
            "and breaks an axiom; what breaks it is bold.",
        ),
    ] = False,
    all: Annotated[
        bool, typer.Option("--all", help="Every consistent execution, on one page.")
    ] = False,
    outcome: Annotated[
        str | None,
        typer.Option(
            help="An execution with these final values, as in '1:r0=1 1:r1=0 x=2'; other values "
            "may be any."
        ),
    ] = None,
    edges: Annotated[
        str | None,
        typer.Option(
            help="Relations to draw, joined by commas. Default: sb,rf,mo,sw,hb (or po and co), as "
            "far as the model has them."
        ),
    ] = None,
    no_initial: Annotated[
        bool, typer.Option("--no-initial", help="Leave out the initial writes.")
    ] = False,
    format: Annotated[
        DrawFormat | None,
        typer.Option(help="svg, or dot for Graphviz. Default: as the file of -o ends, or svg."),
    ] = None,
    output: OutputFile = None,
) -> None:
    """Draw an execution of a test: events by thread, and the relations between them.

    By default the first consistent execution that is found, and one that satisfies the formula of
    the final condition if there is such a one. Of an order only the edges that the others follow
    from are drawn.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 1 there is no such
    execution; 3 a limit was met, or the test is beyond this version; 0 otherwise.
    """
    from rspverify.axiomatic import load_model
    from rspverify.check.inputs import require
    from rspverify.drawing.draw import NoExecutionError, Wanted, Which
    from rspverify.drawing.draw import draw as drawn
    from rspverify.judge.incident import Incident, reporting
    from rspverify.render.console import opened
    from rspverify.render.draw_dot import graphs
    from rspverify.render.draw_svg import page
    from rspverify.source import read_source

    chosen = [
        which
        for which, wanted in (
            (Which.RACE, race),
            (Which.FORBIDDEN, forbidden),
            (Which.ALL, all),
        )
        if wanted
    ]
    require(len(chosen) <= 1, "only one of --race, --forbidden and --all must be given")
    which = chosen[0] if chosen else Which.CONSISTENT
    require(
        outcome is None or which in (Which.CONSISTENT, Which.FORBIDDEN),
        f"--outcome must go without --{which.value}",
    )
    names = None if edges is None else tuple(each.strip() for each in edges.split(","))
    options = [f"--{which.value}"] if chosen else []
    options += ["--outcome", outcome] if outcome is not None else []
    options += ["--edges", edges] if edges is not None else []
    require(
        output is None or format is not None or output.endswith((".svg", ".dot", ".gv")),
        f"{output} must end in .svg, .dot or .gv, or --format must say which it is",
    )
    if format is None:
        ends_so = output is not None and output.endswith((".dot", ".gv"))
        format = DrawFormat.DOT if ends_so else DrawFormat.SVG
    text, missing = "", None
    with reporting(Incident("draw", (test,), (), settings, options)):
        model = load_model(settings.model)
        program = settings.read(read_source(test))
        wanted = Wanted(which, outcome, names, initial=not no_initial)
        try:
            pictures = drawn(program, model, wanted, settings.limits())
            text = graphs(pictures) if format is DrawFormat.DOT else page(pictures)
        except NoExecutionError as error:
            missing = str(error)
    note(model.notes)
    if missing is not None:
        print(missing, file=sys.stderr)
        raise typer.Exit(1)
    with opened(output) as console:
        console.file.write(text)


app.command(short_help="Which instruction of a scheme is needed, and which test shows it.")(mutate)
app.command(short_help="The smallest programs that break a scheme, of all within bounds.")(hunt)
app.command(short_help="What an edit of a scheme changes.")(compare)
app.command(short_help="The cheapest sound schemes near a broken one.")(repair)


@app.command(short_help="Do the engines agree on random programs?")
@guarded
def selftest(
    programs: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 1000,
    seed: Annotated[
        int, typer.Option(help="Which pairs: number i of a seed is always the same.")
    ] = (0),
    start: Annotated[int, typer.Option(min=0, help="The number of the first pair.")] = 0,
    devices: Annotated[
        int | None, typer.Option(min=1, max=2, help="Programs on so many devices. Default: either.")
    ] = None,
    engines: Annotated[
        str | None, typer.Option(help="Engines, joined by commas. Default: all there are.")
    ] = None,
    states: Annotated[
        int,
        typer.Option("--limit-states", min=1, help="Beyond so many, explicit gives no answer."),
    ] = 20_000,
    steps: Annotated[
        int, typer.Option("--limit-steps", min=1, help="Where K* is more, unroll is not asked.")
    ] = 28,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.001,
            help="Seconds for each question about a pair; at most one for the verdict on a "
            "large one that is UNSOUND.",
        ),
    ] = 5.0,
    outcomes: Annotated[
        bool,
        typer.Option(
            "--outcomes",
            help="Compare outcomes only, with L2s as check treats them: no verdicts, no progress, "
            "no real L2s on one device. Three to ten times as many pairs in the same time.",
        ),
    ] = False,
    jobs: Jobs = None,
    output: Annotated[
        str, typer.Option("-o", "--output", help="The folder for what disagrees.")
    ] = ".",
    progress: Annotated[
        bool | None,
        typer.Option(help="Show progress. Default: where standard error is a terminal."),
    ] = None,
    format: Format = FormatName.TEXT,
) -> None:
    """Hold the engines against each other on random programs under random schemes.

    Each disagreement is made as small as it goes, and written as selftest-SEED-NUMBER.litmus and
    .yaml. Exit: 1 if there is one, 130 if interrupted, 3 if a worker process was lost, 0 otherwise.
    """
    from rspverify.convert import to_json
    from rspverify.limits import LimitReached
    from rspverify.render.console import opened
    from rspverify.render.selftest_progress import shown_progress
    from rspverify.render.selftest_text import summary
    from rspverify.selftest.compare import Choices, engines_named
    from rspverify.selftest.run import run_pairs, tasks_for, write_files
    from rspverify.selftest.tally import report

    choices = Choices(engines_named(engines), states, steps, timeout)
    if outcomes:
        choices = choices.of_outcomes()
    tasks = tasks_for(seed, programs, start, devices, choices)
    results: list[PairResult] = []
    started = time.perf_counter()
    shown = sys.stderr.isatty() if progress is None else progress
    code = 0
    with shown_progress(programs, shown) as advance:
        try:
            for result in run_pairs(tasks, jobs or os.cpu_count() or 1):
                results.append(result)
                if result.disagreement:
                    write_files(result.disagreement, output)
                advance()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except LimitReached as limit:
            print(f"UNKNOWN: {limit}", file=sys.stderr)
            code = 3
    found = report(results, seed, start, programs, choices, time.perf_counter() - started)
    with opened(None) as console:
        if format is FormatName.TEXT:
            for part in summary(found):
                console.print(part)
        else:
            console.file.write(to_json(found))
    raise typer.Exit(code or (1 if found.disagreements else 0))


@app.command(short_help="A scheme as a table.")
@guarded
def show(scheme: Annotated[str, typer.Argument(help="A scheme, a .yaml file.")]) -> None:
    """Show a scheme as a table, as the paper prints its own."""
    from rspverify.render.scheme_text import scheme_table
    from rspverify.scheme import read_scheme_file

    table = read_scheme_file(scheme)
    rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
    print_parts(None, scheme_table(table.name, table.machine.name, table.origin, rows))


@app.command(short_help="Where results are kept, or remove them.")
@guarded
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove the results.")] = False,
) -> None:
    """Show where results are kept and how much room they take, or remove them."""
    from rspverify.judge.store import FILE, Store, default_folder
    from rspverify.judge.store import clear as cleared

    folder = default_folder()
    if clear:
        try:
            cleared(folder)
        except OSError as error:
            print(f"{folder / FILE}: cannot be removed: {error.strerror}", file=sys.stderr)
            raise typer.Exit(1) from None
        typer.echo(f"removed {folder / FILE}")
        return
    store = Store(folder, warn_once())
    answers, size = store.size()
    store.close()
    typer.echo(f"{folder / FILE}\n{answers:,} answers, {size / 2**20:.1f} MB")


@app.command(short_help="Write a systematic family of tests.")
@guarded
def generate(
    family: Annotated[
        str | None, typer.Argument(metavar="FAMILY", help="A family of --list, all or all-devices.")
    ] = None,
    folder: Annotated[
        str | None,
        typer.Argument(metavar="DIR", help="Where the tests go; for all, each family in its own."),
    ] = None,
    list_families: Annotated[
        bool, typer.Option("--list", help="Show the families, their shapes and their sizes.")
    ] = False,
) -> None:
    """Write a systematic family of litmus tests: every scope and grouping of a few shapes.

    Never overwrites a file that is not the very same test.
    """
    from rspverify.check.inputs import require
    from rspverify.generate import DEVICE_FAMILIES, FAMILIES, LETTERS, chosen, write_tests
    from rspverify.render.families_text import families

    if list_families:
        known = FAMILIES | DEVICE_FAMILIES
        rows = [(each.name, each.meaning, each.counts()) for each in known.values()]
        print_parts(None, families(rows, LETTERS))
        return
    require(
        family is not None and folder is not None,
        "generate must have a family and a folder, or --list",
    )
    assert family is not None and folder is not None
    for name, count in write_tests(chosen(family), folder).items():
        print(f"{folder}: {count} tests of the family {name}")


@app.command("list", short_help="Models, machines, engines, schemes and tests.")
@guarded
def list_() -> None:
    """List models, machines and engines, and what is in the folders schemes and litmus here."""
    from rspverify.assembly import MACHINES
    from rspverify.axiomatic import shipped_models
    from rspverify.check.inputs import SCHEME_ENDINGS
    from rspverify.render.listing_text import listing

    schemes = sorted(
        str(each) for each in Path("schemes").glob("*") if each.suffix in SCHEME_ENDINGS
    )
    families: dict[str, int] = {}
    for each in sorted(Path("litmus").rglob("*.litmus")):
        families[str(each.parent)] = families.get(str(each.parent), 0) + 1
    machines = {each.name: each.summary for each in MACHINES.values()}
    engines = {
        Engine.EVENTS.value: "the solver over all executions at once; exact (default)",
        Engine.UNROLL.value: "the solver over K steps; exact at the K that is enough",
        Engine.EXPLICIT.value: "every reachable state; the reference",
    }
    print_parts(
        None,
        listing(
            shipped_models(),
            machines,
            engines,
            schemes,
            families,
        ),
    )


_AFTERWARDS = 0.02
"""Seconds after which a destructor that an interrupt has hit is over."""


def main() -> None:
    """The console script."""
    sys.unraisablehook = _silently
    gc.set_threshold(20_000)  # Much is made and little thrown away: 700 costs a short run 5 %.
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    app()


def _silently(met: UnraisableHookArgs) -> None:
    """An interrupt may hit a destructor of the solver's library: it is raised again outside.

    Not at once, as it would then be raised in here, and be lost with a traceback.
    """
    if issubclass(met.exc_type, KeyboardInterrupt):
        timer = threading.Timer(_AFTERWARDS, _thread.interrupt_main)
        timer.daemon = True
        timer.start()
