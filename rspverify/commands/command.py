"""How a command is made: a function, a line for --help, and the settings that it takes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any

from msgspec import Struct

from rspverify.commands.guard import guarded
from rspverify.commands.options import chosen, parameters


class Command(Struct, frozen=True):
    """A command as the command line has it. run: takes its arguments and options by name."""

    name: str
    short: str
    run: Callable[..., None]


def command(
    short: str, *, takes: Collection[str] = (), name: str | None = None
) -> Callable[[Callable[..., None]], Command]:
    """Makes a command of a function whose parameters are its arguments and options.

    takes: the settings that it has options for, by their fields; the function then has `settings`
    as its first parameter. name: if it is not that of the function.
    """

    def made(function: Callable[..., None]) -> Command:
        called = name or function.__name__
        run = guarded(called, _with_settings(function, takes) if takes else function)
        return Command(called, short, run)

    return made


def _with_settings(function: Callable[..., None], takes: Collection[str]) -> Callable[..., None]:
    """The function with the options of settings in place of its first parameter."""
    shared = parameters(takes)
    own = list(signature(function, eval_str=True).parameters.values())[1:]

    @wraps(function)
    def run(**given: Any) -> None:
        settings = chosen({each.name: given.pop(each.name) for each in shared})
        function(settings, **given)

    arguments = [each for each in own if each.default is Parameter.empty]
    options = [each for each in own if each.default is not Parameter.empty]
    everything = [
        each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*arguments, *shared, *options)
    ]
    run.__signature__ = Signature(everything)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in everything}
    return run
