"""What is wrong with a command line, in the words that we have for files: X must be Y, not Z."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from rspverify.options import choices_of, expected
from rspverify.terminal.command import command_of, summaries
from rspverify.terminal.make import made, spelled
from rspverify.wording import alternatives, guess

_WRONG: Any = typer.BadParameter.mro()[1]
"""What typer raises of a command line that is wrong."""
_LACKING = tuple(typer.BadParameter.__subclasses__())
"""What it raises of one that lacks something."""
_EXTRA = re.compile(r" \((.*)\)$")


class _Loaded(Mapping[str, Any]):
    """The commands of typer by name, each made when it is needed."""

    def __getitem__(self, name: str) -> Any:
        if name not in summaries():
            raise KeyError(name)
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(summaries())

    def __len__(self) -> int:
        return len(summaries())


@cache
def _made(name: str) -> Any:
    info = CommandInfo(name, callback=made(name, command_of(name)), short_help=summaries()[name])
    return get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)


class Commands(TyperGroup):
    """The commands; a command line that is none of theirs is refused in our words."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = _Loaded()

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List them, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(summaries().items()))

    def main(self, args: Sequence[str] | None = None, *given: Any, **more: Any) -> Any:
        """Run the command that is meant, and exit."""
        from rspverify.terminal.ending import exit_code

        words = sys.argv[1:] if args is None else list(args)
        try:
            code = super().main(words, *given, **{**more, "standalone_mode": False})
        except _WRONG as error:
            _refuse(error, words)
            code = exit_code(wrong=True)
        sys.exit(code if isinstance(code, int) else 0)


def _refuse(error: Exception, words: Sequence[str]) -> None:
    from rspverify.source import Problem

    context = getattr(error, "ctx", None)
    if not words and context is not None:
        print(f"{context.get_help()}\n", file=sys.stderr)
    print(Problem(None, *_said(error, words)), file=sys.stderr)


def _said(error: Any, words: Sequence[str]) -> tuple[str, str | None]:
    """What is wrong, and a hint."""
    names = [*summaries()]
    plain = [each for each in words if not each.startswith("-")]
    called = next((each for each in words if each in names), None)
    if not words:
        return "rspverify must have a command", "rspverify check proposed"
    if getattr(error, "param", None) is not None:
        missing = not error.param.opts or error.param.param_type_name == "argument"
        missing |= isinstance(error, _LACKING)
        return _missing(error, called) if missing else _value(error, called, words)
    if hasattr(error, "option_name"):
        return _option(error, called, words)
    if called is None and plain:
        first = plain[0]
        file = first.endswith((".yaml", ".yml", ".litmus"))
        hint = f"did you mean rspverify check {first}?" if file else guess(first, names)
        return f"a command must be {alternatives(names)}, not {first}", hint
    extra, context = _EXTRA.search(str(error.message)), error.ctx
    if extra is None or context is None:
        return str(error.message), None
    wanted = [_shown(it) for it in context.command.params if it.param_type_name == "argument"]
    takes = f"{' '.join(wanted)} and no more" if wanted else "no arguments"
    return f"{called} must have {takes}, not {extra[1]}", _help(called)


def _help(called: str | None) -> str:
    return f"rspverify {called} --help" if called else "rspverify --help"


def _shown(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _missing(error: Any, called: str | None) -> tuple[str, str | None]:
    its = [it for it in error.ctx.command.params if it.param_type_name == "argument"]
    wanted = [_shown(it) for it in its if it.required]
    hint = f"{_shown(error.param)}: {error.param.help}" if error.param.help else _help(called)
    return f"{called} must have {' and '.join(wanted)}", hint


# ---- options -------------------------------------------------------------------------------------


def _option(error: Any, called: str | None, words: Sequence[str]) -> tuple[str, str | None]:
    """Of an option that is none, has no value, or must not have one."""
    name, kinds = error.option_name, spelled(called) if called else {}
    own = kinds.get(name)
    if own is not None and any(each.startswith(f"{name}=") for each in words):
        return f"{name} must have no value", None
    if own is not None:
        return f"{name} must have a value: {expected(own.kind, own.option)}", None
    elsewhere = [it for it in summaries() if called is None and name in spelled(it)]
    hint = guess(name, [*kinds, "--help", *([] if called else ["--version"])]) or _help(called)
    if elsewhere:
        hint = f"options of a command come after it: rspverify {elsewhere[0]} {name}"
    return (
        f"an option of {called or 'rspverify'} must be one that its --help lists, not {name}",
        hint,
    )


def _value(error: Any, called: str | None, words: Sequence[str]) -> tuple[str, str | None]:
    """Of an option whose value is none that it may have."""
    names = [*error.param.opts]
    name, given = _given(names, words) or (names[-1], None)
    own = spelled(called).get(name) if called else None
    if own is None or given is None:
        return f"{name}: {error.message}", _help(called)
    message = f"{name} must be {expected(own.kind, own.option)}, not {given}"
    return message, guess(given, choices_of(own.kind))


def _given(names: Sequence[str], words: Sequence[str]) -> tuple[str, str] | None:
    """The value that an option has on a command line, the last one, and by which name."""
    for place in reversed(range(len(words))):
        word, _, rest = words[place].partition("=")
        if word in names and (rest or place + 1 < len(words)):
            return word, rest or words[place + 1]
        short = next((it for it in names if len(it) == 2 and words[place].startswith(it)), None)
        if short and words[place] != short:
            return short, words[place][2:]
    return None
