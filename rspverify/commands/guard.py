"""How a command ends: in words and with an exit code, whatever goes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import typer

from rspverify.commands.exit_code import BROKEN_PIPE, INTERNAL, INTERRUPTED, exit_code

if TYPE_CHECKING:
    from rspverify.source import Problem

P = ParamSpec("P")
T = TypeVar("T")


def guarded(name: str, command: Callable[P, None]) -> Callable[P, None]:
    """A command whose failures are said in words: no traceback reaches a user."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        from rspverify.limits import LimitReached
        from rspverify.source import InputError, Severity

        try:
            with _ended():
                command(*args, **kwargs)
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


@dataclass
class Stop:
    """Why a command ended before it was done: by an interrupt, or at a limit, in words."""

    interrupted: bool = False
    limit: str | None = None

    @property
    def reason(self) -> str | None:
        """In words, None if it was done."""
        return "interrupted" if self.interrupted else self.limit


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Ends what is inside at an interrupt or a limit, so that what is known by then is shown."""
    from rspverify.limits import LimitReached

    stop = Stop()
    try:
        yield stop
    except KeyboardInterrupt:
        stop.interrupted = True
    except LimitReached as limit:
        stop.limit = str(limit)
        print(f"UNKNOWN: {limit}", file=sys.stderr)


def collect(coming: Generator[T, None, None], found: list[T], show: Callable[[T], object]) -> None:
    """Take and show what comes, each as soon as it is there; close what it comes from."""
    with closing(coming):
        for each in coming:
            found.append(each)
            show(each)


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
        from rspverify.judge.incident import Incident, reported
    except Exception:
        return f"internal error: {type(error).__name__}: {error}; please report it"
    return str(reported(error, Incident(command)))
