"""What may go wrong while something is decided, as an answer in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from rspverify.answers import Internal
from rspverify.judge.incident import Incident, reported
from rspverify.limits import LimitReached
from rspverify.source import InputError

A = TypeVar("A")


@dataclass(frozen=True)
class Undecided:
    """Why there is no answer. internal: the mistake of ours, if it is one."""

    reason: str
    internal: Internal | None = None


def attempt(decide: Callable[[], A], incident: Incident) -> A | Undecided:
    """What is decided, or why nothing is: a limit, too little memory, or a mistake of ours.

    incident: what the report of a mistake says was asked. Raises InputError.
    """
    try:
        return decide()
    except InputError:
        raise
    except LimitReached as limit:
        return Undecided(str(limit))
    except MemoryError:
        return Undecided("out of memory")
    except Exception as error:
        met = reported(error, incident)
        return Undecided(str(met), met)
