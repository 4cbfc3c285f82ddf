"""How a command ends: one rule for exit codes, and words for whatever goes wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rspverify.answers import Held, ModelAnswer, Result
    from rspverify.api.asked import Stop
    from rspverify.source import Problem

INTERNAL = 70
"""A bug of rspverify was met (sysexits.h, EX_SOFTWARE), whatever else is to be said."""
INTERRUPTED = 130
"""As a shell says it of what SIGINT has ended."""
TERMINATED = 143
"""As a shell says it of what SIGTERM has ended; it stands in the place of INTERRUPTED."""
BROKEN_PIPE = 141
"""As a shell says it of what SIGPIPE has ended."""
_IN_ORDER = (INTERNAL, INTERRUPTED, 2, 1, 3)


def exit_code(
    *,
    internal: object = False,
    interrupted: object = False,
    wrong: object = False,
    found: object = False,
    undecided: object = False,
) -> int:
    """The first of 70, 130, 2, 1, 3 that applies, otherwise 0.

    internal: an internal error, 70. interrupted: by the user, 130; what SIGTERM has interrupted
    ends with 143 instead (`at_the_end`). wrong: an input is wrong, 2.
    found: what was looked for, such as UNSOUND, STUCK or what is not as expected, 1. undecided:
    something is OPEN, UNKNOWN, VACUOUS or UNSUPPORTED, 3.
    """
    reasons = zip(_IN_ORDER, (internal, interrupted, wrong, found, undecided), strict=True)
    return next((code for code, applies in reasons if applies), 0)


def exit_code_of(
    results: Sequence[Result | ModelAnswer],
    held: Held | None = None,
    *,
    interrupted: object = False,
    optional: Collection[str] = (),
) -> int:
    """That of verdicts; where they are held to a file, 0 means that all are as expected.

    optional: the tests that may be UNSUPPORTED.
    """
    from rspverify.api.asked import ending_of

    telling = results if held is None else [each.result for each in held.differences]
    telling = [it for it in telling if it.file not in optional or it.words != "UNSUPPORTED"]
    it = ending_of((word for each in telling for word in each.words.split()), results)
    return exit_code(
        internal=it.internal,
        interrupted=interrupted,
        wrong=it.wrong,
        found=it.found if held is None else held.unexpected,
        undecided=held is None and it.undecided,
    )


def first_of(codes: Collection[int]) -> int:
    """The exit code of a run of several parts."""
    return next((code for code in _IN_ORDER if code in codes), 0)


def at_the_end(code: int | str | None, *, terminated: bool) -> int | str | None:
    """What the process ends with: 143 instead of 130 where the interrupt was SIGTERM."""
    return TERMINATED if terminated and code == INTERRUPTED else code


# ---- whatever goes wrong -------------------------------------------------------------------------


def guarded(name: str, command: Callable[..., int]) -> Callable[..., None]:
    """A command, which ends with an exit code; its failures are said in words.

    No traceback reaches a user.
    """

    def run(**given: Any) -> None:
        from rspverify.limits import LimitReached
        from rspverify.source import InputError, Severity

        try:
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
        from rspverify.judge.incident import reported
        from rspverify.judge.question import Incident
    except Exception:
        return f"internal error: {type(error).__name__}: {error}; please report it"
    return str(reported(error, Incident(command)))
