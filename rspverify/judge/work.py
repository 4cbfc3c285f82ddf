"""Work and who spreads it: in this process, over forked ones of its own, or over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import PurePath
from typing import Any, Generic, Protocol, TypeVar, assert_never

from msgspec import Struct

from rspverify.judge.cache import Question
from rspverify.limits import LOST, LimitReached

T = TypeVar("T")
R = TypeVar("R")


def _nothing(item: object) -> Sequence[Question[Any]]:
    return ()


class Work(Generic[T, R], Struct, frozen=True):
    """What is done with items. Only `do` and items go to a cluster, and results come back.

    do: what can be pickled: a function of a module, or a method of plain data; nothing that it does
    may need a file of whoever asks. kind, named: what it is called where work is watched, and what
    an item is. asks: the questions that it may put to the judge about an item, as far as they are
    known beforehand; what an earlier run has kept of them is sent along.
    """

    kind: str
    do: Callable[[T], R]
    named: Callable[[T], str] = str
    asks: Callable[[T], Iterable[Question[Any]]] = _nothing


class Done(Generic[R], Struct, frozen=True):
    """What came of an item."""

    value: R


class Raised(Struct, frozen=True):
    """What work raised."""

    error: Exception


Outcome = Done[R] | Raised
"""What came of an item in another process."""


class Spreader(Protocol):
    """Who has work done by several processes.

    shares_cache: whether they open the cache of whoever asks. Otherwise what is known goes with an
    item, and answers come back with its result.
    """

    @property
    def shares_cache(self) -> bool: ...

    @property
    def workers(self) -> int:
        """How many processes work at a time."""

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        most: int | None,
        ahead: int,
        lost: Callable[[T], R] | None,
    ) -> Generator[R, None, None]:
        """What is done with each item, in their order. Close it when done.

        most: at most so many workers. ahead: how far the work may be before a result that is
        awaited, per worker. lost: the result of an item that ended its worker; without it that
        raises LimitReached.
        """

    def close(self) -> None:
        """End what was started for this, whatever it is at."""


def taken(outcome: Outcome[R] | None, item: T, lost: Callable[[T], R] | None) -> R:
    """What came of an item, or what it raised; of one that was lost, None, what `lost` says of it.

    Raises LimitReached where it may not be lost.
    """
    match outcome:
        case Done(value):
            return value
        case Raised(error):
            raise error
        case None if lost is not None:
            return lost(item)
        case None:
            raise LimitReached(LOST)
        case _:
            assert_never(outcome)


def told_outcome(do: Callable[[T], R], item: T, place: str) -> Outcome[R]:
    """What comes of an item, whatever it is. place: where, as a note on what is raised."""
    import traceback

    try:
        return Done(do(item))
    except Exception as error:
        error.add_note(f"in {place}:\n{traceback.format_exc()}")
        return Raised(error)


def stem(file: str) -> str:
    """A file as work on it is called: `Fig4` of `litmus/rsp/paper/Fig4.litmus`."""
    return PurePath(file).stem
