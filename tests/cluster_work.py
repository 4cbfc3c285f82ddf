"""What tests have done by workers: functions that a process can import that was not forked."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass

from rspverify.judge.attempt import Undecided, attempt
from rspverify.judge.cache import Question
from rspverify.judge.incident import Incident
from rspverify.judge.judge import Judge


def doubled(number: int) -> int:
    """Takes some milliseconds."""
    time.sleep(0.002 * (number % 3))
    return 2 * number


def one_over(number: int) -> float:
    """Raises ZeroDivisionError."""
    return 1 / number


def deadly(number: int) -> int:
    """Ends its process at 7."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return -number


def planted(number: int) -> str:
    """Meets an internal error, of which a report is to be made."""

    def decide() -> int:
        raise RuntimeError(f"planted {number}")

    found = attempt(decide, Incident("check"))
    assert isinstance(found, Undecided) and found.internal is not None
    return str(found.internal)


def squared(number: int) -> Question[int]:
    """What is the square of a number?"""
    return Question("squared", (number,), int)


@dataclass(frozen=True)
class Squares:
    """Asks the judge for the squares of a number and the next; which of them had to be decided."""

    judge: Judge

    def asks(self, number: int) -> tuple[Question[int], ...]:
        """Both questions."""
        return squared(number), squared(number + 1)

    def decided(self, number: int) -> list[int]:
        """The numbers whose squares were not known."""
        found: list[int] = []

        def decide(which: int) -> int:
            found.append(which)
            return which * which

        for each in (number, number + 1):
            self.judge.ask(squared(each), lambda each=each: decide(each))  # type: ignore[misc]
        return found

    def slowly(self, number: int) -> int:
        """A square, which takes a while without work."""

        def decide() -> int:
            time.sleep(0.03)
            return number * number

        return self.judge.ask(squared(number), decide)
