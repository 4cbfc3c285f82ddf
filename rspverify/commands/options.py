"""The options of commands: those that make settings, and others that several commands take."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from inspect import Parameter
from typing import Annotated, Any, Optional, get_type_hints

import typer

from rspverify.commands.completion import (
    machine_words,
    model_words,
    scheme_and_test_words,
    scheme_words,
    test_words,
)
from rspverify.commands.reports import PageForm
from rspverify.soundness.settings import OPTIONS, Engine, Settings


class FormatName(StrEnum):
    """Forms that --format takes."""

    TEXT = "text"
    JSON = "json"


Format = Annotated[FormatName, typer.Option(help="Text, or JSON for other tools.")]
PageFormat = Annotated[
    PageForm,
    typer.Option(help="Text, JSON for other tools, or a page of HTML to look into."),
]
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="FORM=FILE",
        help="Also write this form, as of --format, to this file. As often as wanted.",
    ),
]
OutputFile = Annotated[
    str | None, typer.Option("-o", "--output", help="Write to this file, not to the terminal.")
]
Jobs = Annotated[
    int | None, typer.Option("-j", "--jobs", min=1, help="Processes. Default: one per core.")
]
ClusterAt = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the workers of this scheduler of dask.distributed, or of local:N.",
    ),
]
NoCache = Annotated[
    bool, typer.Option("--no-cache", help="Decide everything anew, and keep nothing.")
]
CostsFile = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="What instructions cost. Default: weights of our own."),
]
SchemeFile = Annotated[
    str,
    typer.Argument(
        help="A scheme: a .yaml file, or a name as of list.", autocompletion=scheme_words
    ),
]
TestFile = Annotated[
    str,
    typer.Argument(help="A litmus test: a file, or a name as of list.", autocompletion=test_words),
]
SchemeAndTests = Annotated[
    list[str],
    typer.Argument(
        metavar="SCHEME [TEST…]",
        autocompletion=scheme_and_test_words,
        help="A scheme (a file that ends in .yaml) and tests (files or folders; default: those of "
        "the suite litmus/rsp).",
    ),
]


OF_A_CASE = ("engine", "model", "seconds", "machine", "l2", "states", "unroll", "mixed")
"""The settings that count where tests are the means to ask about a scheme."""


_KINDS = get_type_hints(Settings)
_COMPLETED = {"model": model_words, "machine": machine_words}


def parameters(takes: Collection[str]) -> list[Parameter]:
    """The options of settings, as parameters that are called as the fields are."""
    unknown = set(takes) - OPTIONS.keys()
    assert not unknown, f"settings without an option: {unknown}"
    return [_parameter(name) for name in OPTIONS if name in takes]


def _parameter(name: str) -> Parameter:
    option, kind = OPTIONS[name], _KINDS[name]
    shown = typer.Option(
        option.name,
        help=option.help,
        metavar=option.metavar,
        min=option.least,
        autocompletion=_COMPLETED.get(name),
    )
    default = None if option.late else getattr(Settings(), name)
    kind = Optional[kind] if option.late else kind  # noqa: UP045
    return Parameter(
        name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shown]
    )


def chosen(given: Mapping[str, Any]) -> Settings:
    """The settings that options stand for; whoever is asked says what is wrong with them."""
    values = dict(given)
    values["insist"] = values.get("engine") is Engine.EVENTS
    if values.get("engine", Engine.EVENTS) is None:
        values["engine"] = Engine.EVENTS if values.get("steps") is None else Engine.UNROLL
    return Settings(**values)
