"""How a command ends: in words and with an exit code, whatever goes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import typer

from rspverify.terminal.exit_code import BROKEN_PIPE, INTERNAL, INTERRUPTED, exit_code

if TYPE_CHECKING:
    from rspverify.api.asked import Stop
    from rspverify.source import Problem


def guarded(name: str, command: Callable[..., int]) -> Callable[..., None]:
    """A command, which ends with an exit code; its failures are said in words.

    No traceback reaches a user.
    """

    def run(**given: Any) -> None:
        from rspverify.limits import LimitReached
        from rspverify.source import InputError, Severity

        try:
            with _ended():
                code = command(**given)
            if code:
                raise typer.Exit(code)
        except InputError as error:
            tell(error.problems)
            wrong = error.severity is Severity.ERROR
            raise typer.Exit(exit_code(wrong=wrong, undecided=True)) from None
        except LimitReached as limit:
            print(f"UNKNOWN: {limit}", file=sys.stderr)
            raise typer.Exit(exit_code(undecided=True)) from None
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except typer.Exit:
            raise
        except BrokenPipeError:  # whoever read our output has gone
            _give_up_output()
            raise typer.Exit(BROKEN_PIPE) from None
        except Exception as error:
            if isinstance(error, OSError) and error.filename is None:
                raise typer.Exit(output_lost(error)) from None
            print(_reported(error, name), file=sys.stderr)
            raise typer.Exit(INTERNAL) from None

    return run


_AT_END: ContextVar[ExitStack] = ContextVar("at the end of the command")


@contextmanager
def _ended() -> Iterator[None]:
    """Has what a command has started come to its end, however the command ends."""
    with ExitStack() as stack:
        token = _AT_END.set(stack)
        try:
            yield
        finally:
            _AT_END.reset(token)


def at_end(close: Callable[[], None]) -> None:
    """Have something closed when the command ends, which is the one that runs."""
    _AT_END.get().callback(close)


def tell(problems: Iterable[Problem]) -> None:
    """Say what is wrong, where errors are said."""
    for problem in problems:
        print(problem, file=sys.stderr)


def told(stop: Stop) -> Stop:
    """Say at which limit something ended, if it did."""
    if stop.limit:
        print(f"UNKNOWN: {stop.limit}", file=sys.stderr)
    return stop


def output_lost(error: OSError) -> int:
    """Say that standard output cannot be written; the exit code."""
    print(f"standard output: cannot be written: {error.strerror}", file=sys.stderr)
    _give_up_output()
    return exit_code(wrong=True)


def _give_up_output() -> None:
    """What is still to be written, at the end of the process too, goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _reported(error: Exception, command: str) -> str:
    """An internal error in a line; it has a report, unless not even that can be loaded."""
    try:
        from rspverify.judge.incident import reported_of
    except Exception:
        return f"internal error: {type(error).__name__}: {error}; please report it"
    return str(reported_of(error, command))
