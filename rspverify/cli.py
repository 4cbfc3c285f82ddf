"""The command line: parse arguments, call, render, exit code."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer

from rspverify import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from rspverify.check.settings import Settings
    from rspverify.report import Result

P = ParamSpec("P")
INTERRUPTED = 130
INTERNAL = 70


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """A command whose failures are said in words: no traceback reaches a user."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from rspverify.limits import LimitReached
        from rspverify.source import InputError, Severity

        try:
            command(*args, **kwargs)
        except InputError as error:
            for problem in error.problems:
                print(problem, file=sys.stderr)
            raise typer.Exit(2 if error.severity is Severity.ERROR else 3) from None
        except LimitReached as limit:
            print(f"UNKNOWN: {limit}", file=sys.stderr)
            raise typer.Exit(3) from None
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except (typer.Exit, BrokenPipeError):
            raise
        except Exception as error:
            print(_reported(error, command.__name__.rstrip("_")), file=sys.stderr)
            raise typer.Exit(INTERNAL) from None

    return run


def _reported(error: Exception, command: str) -> str:
    """An internal error in a line; it has a report, unless not even that can be loaded."""
    try:
        from rspverify.check.bundle import Incident, reported
    except Exception:
        return f"internal error: {type(error).__name__}: {error}; please report it"
    return str(reported(error, Incident(command)))


app = typer.Typer(
    name="rspverify",
    help="Decides whether a compilation scheme from OpenCL with remote-scope promotion is sound.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class EngineName(StrEnum):
    """Engines that --engine takes."""

    EVENTS = "events"
    UNROLL = "unroll"
    EXPLICIT = "explicit"


class ReadingName(StrEnum):
    """Readings that --reading takes."""

    OUTCOME = "outcome"
    WITNESS = "witness"


class FormatName(StrEnum):
    """Forms that --format takes."""

    TEXT = "text"
    JSON = "json"


class L2Name(StrEnum):
    """What --l2 takes."""

    AUTO = "auto"
    REAL = "real"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="events: all executions as one formula, without steps; unroll: K steps as one "
        "formula; explicit: every state. Default: events, and unroll where there are --steps."
    ),
]
Reading = Annotated[
    ReadingName,
    typer.Option(
        help="outcome: each outcome of the machine must be allowed; witness: also by its own rf "
        "and mo (engine events)."
    ),
]
Model = Annotated[
    str, typer.Option(help="The memory model: a name that `list` shows, or a .cat file.")
]
Confirm = Annotated[
    str | None,
    typer.Option(
        metavar="SOLVER",
        help="Have a second solver confirm each SOUND: cvc5, bitwuzla, another that pySMT finds, "
        "or a program that reads SMT-LIB 2.",
    ),
]
SmtDir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR", help="Write the questions that each verdict rests on there, as SMT-LIB 2."
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(min=0.001, help="Seconds for one test and scheme; beyond them UNKNOWN."),
]
Steps = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Bound the machine to so many steps (engine unroll). Below the number that is "
        "enough, verdicts say so. Default: as many as are enough.",
    ),
]
MachineName = Annotated[
    str | None,
    typer.Option("--machine", help="The machine, instead of the one that the scheme names."),
]
L2Option = Annotated[
    L2Name,
    typer.Option("--l2", help="auto: take L2 for memory where one device makes that exact; real."),
]
States = Annotated[
    int,
    typer.Option(
        min=1,
        help="State limit of the explicit engine; beyond it UNKNOWN (--progress: then by events).",
    ),
]
Progress = Annotated[
    bool,
    typer.Option(
        "--progress",
        help="Also ask whether the compiled program can always go on: LIVE, STUCK or UNKNOWN. "
        "--timeout bounds this question for itself.",
    ),
]
DEFAULT_STATES = 2_000_000
DEFAULT_MODEL = "opencl-rsp"


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


@app.command()
@guarded
def check(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="SCHEME… [TEST…]",
            help="Schemes (files that end in .yaml) and tests (files or folders; default: litmus).",
        ),
    ],
    engine: Engine = None,
    reading: Reading = ReadingName.OUTCOME,
    model: Model = DEFAULT_MODEL,
    timeout: Timeout = None,
    steps: Steps = None,
    machine: MachineName = None,
    l2: L2Option = L2Name.AUTO,
    states: States = DEFAULT_STATES,
    confirm: Confirm = None,
    smt_dir: SmtDir = None,
    progress: Progress = False,
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
    format: Annotated[FormatName, typer.Option(help="Text, or JSON for other tools.")] = (
        FormatName.TEXT
    ),
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write to this file, not to the terminal.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("-j", "--jobs", min=1, help="Processes. Default: one per core.")
    ] = None,
) -> None:
    """Check schemes against litmus tests: a verdict for each test under each scheme.

    Exit: 70 internal error, with a folder to report; 2 wrong input; 1 UNSOUND, STUCK or
    unexpected; 3 UNKNOWN, VACUOUS, UNSUPPORTED; 0 otherwise.
    """
    from rspverify.check.exit_code import exit_code
    from rspverify.check.expected import read_expected, write_expected
    from rspverify.check.inputs import require, split_inputs
    from rspverify.check.run import jobs_for, load_inputs, run
    from rspverify.render.check_json import render
    from rspverify.render.check_stream import CheckStream
    from rspverify.render.console import opened

    settings = _settings(
        engine,
        model,
        timeout,
        steps,
        machine,
        l2,
        states,
        reading,
        confirm,
        smt_dir,
        progress,
    )
    schemes, tests = split_inputs(inputs)
    require(not refresh or expect is not None, "--refresh must come with --expect FILE")
    known = read_expected(expect, model) if expect and not refresh else None
    require(expect is None or Path(expect).parent.is_dir(), f"{expect}: its folder must exist")
    names = load_inputs(schemes, settings)
    work = jobs_for(tests, schemes, settings)
    results: list[Result] = []
    started = time.perf_counter()
    interrupted = False
    text = format is FormatName.TEXT
    with opened(output) as console:
        with CheckStream(console, names, len(tests), text, progress=progress) as stream:
            try:
                for result in run(work, jobs or os.cpu_count() or 1):
                    results.append(result)
                    stream.show(result)
            except KeyboardInterrupt:
                interrupted = True
        differences = known.differences(results) if known else None
        if text:
            stream.finish(time.perf_counter() - started, len(work), differences, expect)
        else:
            console.file.write(render(results))
    if refresh and expect and not interrupted and not any(each.internal for each in results):
        write_expected(expect, results, model)
        print(f"wrote {expect}", file=sys.stderr)
        raise typer.Exit(0)
    raise typer.Exit(INTERRUPTED if interrupted else exit_code(results, differences))


@app.command()
@guarded
def explain(
    scheme: Annotated[str, typer.Argument(help="A scheme, a .yaml file.")],
    test: Annotated[str, typer.Argument(help="A litmus test.")],
    engine: Engine = None,
    reading: Reading = ReadingName.OUTCOME,
    model: Model = DEFAULT_MODEL,
    timeout: Timeout = None,
    steps: Steps = None,
    machine: MachineName = None,
    l2: L2Option = L2Name.AUTO,
    states: States = DEFAULT_STATES,
    confirm: Confirm = None,
    smt_dir: SmtDir = None,
    progress: Annotated[
        bool,
        typer.Option(
            "--progress",
            help="Explain progress instead: a shortest execution after which nothing can go on.",
        ),
    ] = False,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write to this file, not to the terminal.")
    ] = None,
) -> None:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Exit code: 70 internal error, with a folder to report; otherwise as of check.
    """
    from rspverify.axiomatic import load_model
    from rspverify.check.bundle import Incident, reporting
    from rspverify.check.exit_code import exit_code
    from rspverify.check.explain import explain as explained
    from rspverify.check.inputs import require
    from rspverify.check.run import load_scheme
    from rspverify.litmus import read_program_file
    from rspverify.render.explanation_text import explanation

    settings = _settings(
        engine,
        model,
        timeout,
        steps,
        machine,
        l2,
        states,
        reading,
        confirm,
        smt_dir,
        progress,
    )
    require(
        not scheme.endswith(".litmus"), f"the scheme must come first, and then the test: {scheme}"
    )
    with reporting(Incident("explain", (test,), (scheme,), settings)):
        table = load_scheme(scheme, settings)
        program = read_program_file(test)
        found = explained(program, table, load_model(model), test, scheme, settings)
    _print(output, explanation(found))
    raise typer.Exit(exit_code([found.result], None))


@app.command()
@guarded
def outcomes(
    test: Annotated[str, typer.Argument(help="A litmus test.")],
    scheme: Annotated[
        list[str] | None, typer.Option("--scheme", help="Show what this scheme reaches, too.")
    ] = None,
    engine: Engine = None,
    model: Model = DEFAULT_MODEL,
    timeout: Timeout = None,
    steps: Steps = None,
    machine: MachineName = None,
    l2: L2Option = L2Name.AUTO,
    states: States = DEFAULT_STATES,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="Write to this file, not to the terminal.")
    ] = None,
) -> None:
    """List every outcome that the model allows, and those that schemes reach on the machine.

    Exit code: 70 internal error, with a folder to report; 2 wrong input; 3 a limit was met, or the
    test is beyond this version; 0 otherwise.
    """
    from rspverify.axiomatic import load_model
    from rspverify.check.bundle import Incident, reporting
    from rspverify.check.outcomes import outcomes as listed
    from rspverify.check.run import load_scheme
    from rspverify.litmus import read_program_file
    from rspverify.render.outcomes_text import outcome_table

    settings = _settings(engine, model, timeout, steps, machine, l2, states)
    with reporting(Incident("outcomes", (test,), tuple(scheme or ()), settings)):
        memory_model = load_model(model)
        schemes = [load_scheme(path, settings) for path in scheme or ()]
        program = read_program_file(test)
        table = listed(program, memory_model, schemes, test, settings)
    _print(output, outcome_table(table))


@app.command()
@guarded
def show(scheme: Annotated[str, typer.Argument(help="A scheme, a .yaml file.")]) -> None:
    """Show a scheme as a table, as Tab. 3 of the paper prints one."""
    from rspverify.render.scheme_text import scheme_table
    from rspverify.scheme import read_scheme_file

    table = read_scheme_file(scheme)
    rows = [(row.number, str(row), [str(each) for each in row.code]) for row in table.rows]
    _print(None, scheme_table(table.name, table.machine, table.origin, rows))


@app.command("list")
@guarded
def list_() -> None:
    """List models, machines and engines, and the schemes and tests below the current folder."""
    from rspverify.assembly import INSTRUCTION_SETS
    from rspverify.axiomatic import shipped_models
    from rspverify.check.inputs import SCHEME_ENDINGS
    from rspverify.render.listing_text import listing

    schemes = sorted(
        str(each) for each in Path("schemes").glob("*") if each.suffix in SCHEME_ENDINGS
    )
    families: dict[str, int] = {}
    for each in sorted(Path("litmus").rglob("*.litmus")):
        families[str(each.parent)] = families.get(str(each.parent), 0) + 1
    engines = {
        EngineName.EVENTS.value: "the solver over all executions at once; exact (default)",
        EngineName.UNROLL.value: "the solver over K steps; exact at the K that is enough",
        EngineName.EXPLICIT.value: "every reachable state; the reference",
    }
    _print(None, listing(shipped_models(), tuple(INSTRUCTION_SETS), engines, schemes, families))


def _settings(
    engine: EngineName | None,
    model: str,
    timeout: float | None,
    steps: int | None,
    machine: str | None,
    l2: L2Name,
    states: int,
    reading: ReadingName = ReadingName.OUTCOME,
    confirm: str | None = None,
    smt_dir: str | None = None,
    progress: bool = False,
) -> Settings:
    from rspverify.check.inputs import require, require_machine, require_solver
    from rspverify.check.settings import L2, Settings
    from rspverify.check.settings import Engine as EngineChoice
    from rspverify.check.settings import Reading as ReadingChoice

    engine = engine or (EngineName.EVENTS if steps is None else EngineName.UNROLL)
    require(
        steps is None or engine is EngineName.UNROLL,
        f"--steps must go with --engine unroll: the {engine.value} engine has no steps to bound",
    )
    require(
        reading is ReadingName.OUTCOME or engine is EngineName.EVENTS,
        f"--reading witness must go with --engine events: the {engine.value} engine has no rf and "
        "mo of its own",
    )
    require(
        engine is not EngineName.EXPLICIT or (confirm or smt_dir) is None,
        "--confirm and --smt-dir must go with --engine events or unroll: the explicit engine asks "
        "no solver about the machine",
    )
    require_machine(machine)
    require_solver(confirm)
    choice = EngineChoice(engine.value)
    return Settings(
        choice,
        model,
        timeout,
        steps,
        machine,
        L2(l2.value),
        states,
        ReadingChoice(reading.value),
        confirm,
        smt_dir,
        progress,
    )


def _print(path: str | None, parts: Iterable[RenderableType]) -> None:
    from rspverify.render.console import opened

    with opened(path) as console:
        for part in parts:
            console.print(part)


def main() -> None:
    """The console script."""
    sys.unraisablehook = _silently
    app()


def _silently(_: object) -> None:
    """An interrupt may hit a destructor of the solver's library; users need not hear of it."""
