"""What may go wrong while something is decided, as an answer in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.judge.incident import Incident, reported
from rspverify.limits import LimitReached
from rspverify.source import InputError, Problem, Severity, in_one_line
from rspverify.verdict import Word

A = TypeVar("A")


class Undecided(Struct, frozen=True):
    """Why there is no answer: ERROR or UNSUPPORTED, by what is wrong with the input, or UNKNOWN.

    problems: of the input. internal: the mistake of ours, if it is one.
    """

    word: Word
    reason: str
    internal: Internal | None = None
    problems: Sequence[Problem] = ()


def attempt(decide: Callable[[], A], incident: Incident) -> A | Undecided:
    """What is decided, or why nothing is: the input, a limit, the memory, or a mistake of ours.

    incident: what the report of a mistake says was asked.
    """
    try:
        return decide()
    except InputError as error:
        return refused(error)
    except LimitReached as limit:
        return Undecided(Word.UNKNOWN, str(limit))
    except MemoryError:
        return Undecided(Word.UNKNOWN, "out of memory")
    except Exception as error:
        met = reported(error, incident)
        return Undecided(Word.UNKNOWN, str(met), met)


def refused(error: InputError) -> Undecided:
    """Why a test cannot be read: mistakes with their excerpts, what is unsupported in one line."""
    if error.severity is Severity.UNSUPPORTED:
        reason = in_one_line(error.problems)
        return Undecided(Word.UNSUPPORTED, reason, problems=error.problems)
    wrong = [each for each in error.problems if each.severity is Severity.ERROR]
    return Undecided(Word.ERROR, "\n".join(map(str, wrong)), problems=error.problems)
