"""How a command of typer is made of what is declared: arguments, options, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from inspect import Parameter, Signature
from typing import Annotated, Any, Optional

import typer

from rspverify.options import Argument, Declared, declared, listed
from rspverify.records import fields_of
from rspverify.soundness.settings import OPTIONS, Engine, Settings
from rspverify.terminal.command import Command
from rspverify.terminal.completion import COMPLETIONS
from rspverify.terminal.guard import guarded
from rspverify.terminal.output import Output, reports_meant

_SETTINGS = declared(Settings)
_OUTPUT = declared(Output)


def made(name: str, command: Command) -> Callable[..., None]:
    """The function that typer makes a command of: a parameter for each argument and option."""
    parameters = list(_parameters(command))

    run = guarded(name, partial(_run, command))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {it.name: it.annotation for it in parameters}
    run.__doc__ = command.help
    return run


def _parameters(command: Command) -> Iterator[Parameter]:
    """Arguments, settings, options, and those that all commands have alike."""
    record = command.parameters
    unknown = set(command.takes) - OPTIONS.keys()
    assert not unknown, f"settings without an option: {unknown}"
    for it in declared(record, Argument).values():
        yield _argument(it.option, it)
    own = declared(record).values()
    for it in (*(_SETTINGS[name] for name in OPTIONS if name in command.takes), *own):
        yield _option(it)
    if command.forms:
        kind = StrEnum("Form", [*command.forms])  # type: ignore[misc]
        default = next(iter(kind)) if command.default_form else None
        info = typer.Option(help="".join(command.forms.values()))
        form = kind if command.default_form else Optional[kind]  # noqa: UP045
        yield _parameter("format", Annotated[form, info], default)
    also = {*command.also, *(["report"] if command.reports else [])}
    own_names = {it.name for it in own}
    for name, it in _OUTPUT.items():
        if name in also and name not in own_names:
            yield _option(it)


def _argument(argument: Argument, it: Declared) -> Parameter:
    several = it.several or argument.with_tests
    info = typer.Argument(
        metavar=argument.metavar,
        help=argument.help,
        autocompletion=COMPLETIONS.get(argument.completes or ""),
    )
    kind: Any = list[str] if several else it.kind
    if it.required:
        return _parameter(it.name, Annotated[kind, info], Parameter.empty)
    default = None if several else it.default
    kind = Optional[kind] if default is None else kind  # noqa: UP045
    return _parameter(it.name, Annotated[kind, info], default)


def _option(it: Declared) -> Parameter:
    option = it.option
    info = typer.Option(
        *option.name.split(),
        help=option.help,
        metavar=option.metavar,
        min=option.least,
        max=option.most,
        autocompletion=COMPLETIONS.get(option.completes or ""),
    )
    if it.several and option.commas:
        return _parameter(it.name, Annotated[str, info], "")
    if it.required:
        return _parameter(it.name, Annotated[it.kind, info], Parameter.empty)
    default = None if option.late or it.several else it.default
    default = False if option.negates else default
    kind: Any = list[it.kind] if it.several else it.kind  # type: ignore[name-defined]
    kind = Optional[kind] if default is None else kind  # noqa: UP045
    return _parameter(it.name, Annotated[kind, info], default)


def _parameter(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _run(command: Command, **given: Any) -> int:
    """Make the records of what is given, and do what the command does."""
    record, own = command.parameters, declared(command.parameters)
    words = _texts(given)
    besides = {name: given.pop(name) for name in fields_of(Output) if name in given.keys() - own}
    report = besides.pop("report", None) or ()
    if "no_cache" not in command.also:
        besides["no_cache"] = True
    files = reports_meant(report, words, command.reports)
    if command.forms:
        besides["format"] = str(besides["format"] or "")
    output = Output(**{k: v for k, v in besides.items() if v is not None}, files=files)
    fields = _fields(given, own)
    for name, it in declared(record, Argument).items():
        if it.option.with_tests:
            from rspverify.corpus.inputs import split

            fields[name], fields["tests"] = split(given[name])
    if "settings" in fields_of(record):
        fields["settings"] = chosen({name: given[name] for name in command.takes})
    return command.run(record(**fields), output)


def _texts(given: Mapping[str, Any]) -> list[str]:
    """All texts of a command line but the reports: no report may be written to what these name."""
    lists = (value for name, value in given.items() if name != "report")
    each = (it if isinstance(it, list) else [it] for it in lists)
    return [it for items in each for it in items if isinstance(it, str)]


def _fields(given: Mapping[str, Any], own: Mapping[str, Declared]) -> dict[str, Any]:
    """The fields that options give; what is not given is left to the record."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in own and own[name].option.commas:
            value = listed(own[name].option.name, value) or None
        if name in own and own[name].option.negates:
            value = not value
        if value is not None and name not in _SETTINGS.keys() - own.keys():
            found[name] = value
    return found


def chosen(given: Mapping[str, Any]) -> Settings:
    """The settings that options stand for; whoever is asked says what is wrong with them."""
    values = dict(given)
    values["allow_fallback"] = values.get("engine") is not Engine.EVENTS
    if values.get("engine", Engine.EVENTS) is None:
        values["engine"] = Engine.EVENTS if values.get("steps") is None else Engine.UNROLL
    return Settings(**values)
