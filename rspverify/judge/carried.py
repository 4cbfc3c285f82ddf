"""What goes with an item to a process that has no cache, and what comes back with its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from msgspec import Struct, field

from rspverify.judge.work import Outcome

T = TypeVar("T")
R = TypeVar("R")


class Parcel(Generic[T], Struct, frozen=True):
    """An item, and what is known of the answers that it may need, as texts by key."""

    item: T
    given: Mapping[str, str]


class Returned(Generic[R], Struct, frozen=True):
    """What came of an item, what is to be warned of, and answers to keep, as texts by key.

    outcome: None where an internal error was met, of which whoever asked is to make the report.
    """

    outcome: Outcome[R] | None
    unsaid: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)


class Carried:
    """The answers that one item came with, and those that are to be taken back."""

    def __init__(self) -> None:
        self.failed = False
        self._given: Mapping[str, str] = {}
        self._found: dict[str, str] = {}
        self._unsaid: list[str] = []

    def begin(self, given: Mapping[str, str]) -> None:
        """With an item, what is known; nothing is left of another item."""
        self._given, self._found, self._unsaid = given, {}, []

    def get(self, key: str) -> str | None:
        """What is known or was found meanwhile."""
        return self._found.get(key) or self._given.get(key)

    def put(self, key: str, value: str) -> None:
        """Keep it until it is taken back."""
        self._found[key] = value

    def say(self, message: str) -> None:
        """Warn, once that is taken back."""
        self._unsaid.append(message)

    def report_damage(self) -> None:
        """Say that an answer that was sent along cannot be read; it is decided anew."""
        self.say("an entry of the cache is damaged and is decided anew")

    def close(self) -> None:
        """There is nothing to let go of."""

    def returned(self, outcome: Outcome[R] | None) -> Returned[R]:
        """All that is to be taken back."""
        return Returned(outcome, self._unsaid, self._found)
