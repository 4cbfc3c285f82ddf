"""Options that several commands take, each written once."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from rspverify.limits import DEFAULT_UNROLL, Limits
from rspverify.soundness.settings import DEFAULT_MODEL, L2, Engine, Reading, Settings


class FormatName(StrEnum):
    """Forms that --format takes."""

    TEXT = "text"
    JSON = "json"


class OutcomesFormat(StrEnum):
    """Forms that --format of `outcomes` takes."""

    TEXT = "text"
    JSON = "json"
    HERD = "herd"


class DrawFormat(StrEnum):
    """Forms that --format of `draw` takes."""

    SVG = "svg"
    DOT = "dot"


OutputFile = Annotated[
    str | None, typer.Option("-o", "--output", help="Write to this file, not to the terminal.")
]

Format = Annotated[FormatName, typer.Option(help="Text, or JSON for other tools.")]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", min=1, help="Processes. Default: one per core.")
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Decide everything anew, and keep nothing.")
]
CostsFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="What instructions cost. Default: weights of our own."),
]


def _settings(
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="events: all executions as one formula, without steps; unroll: K steps as one "
            "formula; explicit: every state. Default: events, and unroll where there are --steps."
        ),
    ] = None,
    reading: Annotated[
        Reading,
        typer.Option(
            help="outcome: each outcome of the machine must be allowed; witness: also by its own "
            "rf and mo (engine events)."
        ),
    ] = Reading.OUTCOME,
    model: Annotated[
        str, typer.Option(help="The memory model: a name that `list` shows, or a .cat file.")
    ] = DEFAULT_MODEL,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.001, help="Seconds for one test and scheme; beyond them UNKNOWN."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Bound the machine to so many steps (engine unroll). Below the number that is "
            "enough, verdicts say so. Default: as many as are enough.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(help="The machine, instead of the one that the scheme names."),
    ] = None,
    l2: Annotated[
        L2,
        typer.Option(help="auto: take L2 for memory where one device makes that exact; real."),
    ] = L2.AUTO,
    states: Annotated[
        int,
        typer.Option(
            min=1,
            help="State limit of the explicit engine; beyond it UNKNOWN (--progress: then by "
            "events).",
        ),
    ] = Limits().states,
    confirm: Annotated[
        str | None,
        typer.Option(
            metavar="SOLVER",
            help="Have a second solver confirm each SOUND: cvc5, bitwuzla, another that pySMT "
            "finds, or a program that reads SMT-LIB 2.",
        ),
    ] = None,
    smt_dir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Write the questions that each verdict rests on there, as SMT-LIB 2.",
        ),
    ] = None,
    progress: Annotated[
        bool,
        typer.Option(
            "--progress",
            help="Also ask whether the compiled program can always go on: LIVE, STUCK or UNKNOWN "
            "(--timeout bounds this question for itself). explain: explain that instead.",
        ),
    ] = False,
    unroll: Annotated[
        int,
        typer.Option(
            min=1,
            help="Look at so many iterations of each loop. Where a loop may go on after them, "
            "verdicts say so.",
        ),
    ] = DEFAULT_UNROLL,
    mixed: Annotated[
        bool,
        typer.Option(
            "--mixed",
            help="Let the threads of a test in OpenCL declare a location differently: it is atomic "
            "if all say so, as Dartagnan has it.",
        ),
    ] = False,
) -> Settings:
    """The settings that the options of a check stand for. Raises InputError."""
    from rspverify.check.inputs import require, require_machine, require_solver

    engine = engine or (Engine.EVENTS if steps is None else Engine.UNROLL)
    require(
        steps is None or engine is Engine.UNROLL,
        f"--steps must go with --engine unroll: the {engine.value} engine has no steps to bound",
    )
    require(
        reading is Reading.OUTCOME or engine is Engine.EVENTS,
        f"--reading witness must go with --engine events: the {engine.value} engine has no rf and "
        "mo of its own",
    )
    require(
        engine is not Engine.EXPLICIT or (confirm or smt_dir) is None,
        "--confirm and --smt-dir must go with --engine events or unroll: the explicit engine asks "
        "no solver about the machine",
    )
    require_machine(machine)
    require_solver(confirm)
    return Settings(
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
        unroll,
        mixed,
    )


def with_settings(*left_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with the options of `_settings` in place of its first parameter, `settings`.

    left_out: those that the command does not take.
    """
    shared = [
        each
        for each in signature(_settings, eval_str=True).parameters.values()
        if each.name not in left_out
    ]

    def changed(command: Callable[..., None]) -> Callable[..., None]:
        own = list(signature(command, eval_str=True).parameters.values())[1:]

        @wraps(command)
        def run(**given: Any) -> None:
            settings = _settings(**{each.name: given.pop(each.name) for each in shared})
            command(settings, **given)

        arguments = [each for each in own if each.default is Parameter.empty]
        options = [each for each in own if each.default is not Parameter.empty]
        everything = [
            each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*arguments, *shared, *options)
        ]
        run.__signature__ = Signature(everything)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in everything}
        return run

    return changed
