"""How a command of typer is made of what is declared: arguments, options, and what they give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cache, partial
from glob import escape, glob
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from rspverify.options import Declared, Option, declared, listed
from rspverify.records import fields_of
from rspverify.shipped import SCHEME_ENDINGS, TEST_ENDING, schemes_named, tests_named
from rspverify.soundness.settings import OPTIONS, Engine, Settings
from rspverify.terminal.command import Command, command_of
from rspverify.terminal.ending import guarded
from rspverify.terminal.output import Output, reports_meant

_SETTINGS = declared(Settings)


def made(name: str, command: Command) -> Callable[..., None]:
    """The function that typer makes a command of: a parameter for each argument and option."""
    arguments = map(_argument, declared(command.record, positional=True).values())
    parameters = [*arguments, *map(_option, options(command))]
    run = guarded(name, partial(_run, command))
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {it.name: it.annotation for it in parameters}
    run.__doc__ = command.help
    return run


@cache
def spelled(name: str) -> Mapping[str, Declared]:
    """The options of the command of a name, by each way to spell them."""
    return {
        spelling: it
        for it in options(command_of(name))
        for spelling in it.option.name.replace("/", " ").split()
    }


def options(command: Command) -> Iterator[Declared]:
    """Settings, the command's own options, and those that all commands have alike."""
    unknown = set(command.takes) - OPTIONS.keys()
    assert not unknown, f"settings without an option: {unknown}"
    yield from (_SETTINGS[name] for name in OPTIONS if name in command.takes)
    own = declared(command.record)
    yield from own.values()
    if command.forms:
        kind = StrEnum("Form", [*command.forms])  # type: ignore[misc]
        default = next(iter(kind)) if command.default_form else None
        form = Option("".join(command.forms.values()), name="--format")
        yield Declared("format", form, kind, False, default)
    also = {*command.also, *(["report"] if command.reported else [])}
    yield from (it for it in declared(Output).values() if it.name in also - own.keys())


def _argument(it: Declared) -> Parameter:
    several = it.several or it.option.with_tests
    info = typer.Argument(
        metavar=it.option.metavar,
        help=it.option.help,
        autocompletion=completer(it.option.completes) if it.option.completes else None,
    )
    default = Parameter.empty if it.required else None if several else it.default
    return _parameter(it.name, list[str] if several else it.kind, info, default)


def _option(it: Declared) -> Parameter:
    option = it.option
    info = typer.Option(
        *option.name.split(),
        help=option.help,
        metavar=option.metavar,
        min=option.least,
        max=option.most,
        autocompletion=completer(option.completes) if option.completes else None,
    )
    if it.several and option.commas:
        return _parameter(it.name, str, info, "")
    default = None if option.late or it.several else it.default
    kind: Any = list[it.kind] if it.several else it.kind  # type: ignore[name-defined]
    return _parameter(it.name, kind, info, False if option.negates else default)


def _parameter(name: str, kind: Any, info: Any, default: Any) -> Parameter:
    kind = Optional[kind] if default is None else kind  # noqa: UP045
    annotation = Annotated[kind, info]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _run(command: Command, **given: Any) -> int:
    """Make the records of what is given, and do what the command does."""
    record, own = command.record, declared(command.record)
    words = _texts(given)
    besides = {name: given.pop(name) for name in fields_of(Output) if name in given.keys() - own}
    report = besides.pop("report", None) or ()
    if "no_cache" not in command.also:
        besides["no_cache"] = True
    files = reports_meant(report, words, command.reported)
    if command.forms:
        besides["format"] = str(besides["format"] or "")
    output = Output(**{k: v for k, v in besides.items() if v is not None}, files=files)
    fields = _fields(given, own)
    for name, it in declared(record, positional=True).items():
        if it.option.with_tests:
            from rspverify.corpus.inputs import split

            fields[name], fields["tests"] = split(given[name])
    if "settings" in fields_of(record):
        fields["settings"] = chosen({name: given[name] for name in command.takes})
    with output.started:
        return command(record(**fields), output)


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


def completer(kinds: str) -> Callable[[str], list[str]]:
    """What completes a word that may be of several kinds, as `scheme or test`."""

    def complete(incomplete: str) -> list[str]:
        found: dict[str, None] = {}
        for kind in kinds.split(" or "):
            names, endings = _known(kind, incomplete)
            found |= dict.fromkeys(sorted({it for it in names if it.startswith(incomplete)}))
            found |= dict.fromkeys(_paths(incomplete, endings) if endings else ())
        return [*found]

    return complete


def _known(kind: str, incomplete: str) -> tuple[Iterable[str], tuple[str, ...]]:
    """The names of a kind, and how its files end."""
    if kind == "scheme":
        return (Path(path).stem for path in schemes_named()), SCHEME_ENDINGS
    if kind == "test":  # of which there are too many to list them all
        return (Path(path).stem for path in (tests_named() if incomplete else ())), (TEST_ENDING,)
    if kind == "model":
        from rspverify.axiomatic.catalogue import shipped_models

        return shipped_models(), (".cat",)
    if kind == "machine":
        from rspverify.architecture.machines import MACHINES

        return MACHINES, (".machine",)
    from rspverify.schedulers import SCHEDULERS

    assert kind == "scheduler", kind
    return [*SCHEDULERS, "obe:1", "obe:2"], ()


def _paths(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Folders and files of some kinds."""
    found = sorted(glob(escape(incomplete) + "*"))
    folders = {path: Path(path).is_dir() for path in found}
    return [
        f"{path}/" if folders[path] else path
        for path in found
        if folders[path] or path.endswith(endings)
    ]
