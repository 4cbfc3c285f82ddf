"""Questions that tests ask workers: a process can import them that was not forked."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from typing import Any

from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident, Question, Undecided


class Doubled(Question[int], frozen=True):
    """Takes some milliseconds."""

    kind = "doubling"

    number: int

    @property
    def name(self) -> str:
        return f"the double of {self.number}"

    def decide(self) -> int:
        time.sleep(0.002 * (self.number % 3))
        return 2 * self.number


class OneOver(Question[float], frozen=True):
    """Raises ZeroDivisionError of 0."""

    kind = "test"

    number: int

    def decide(self) -> float:
        return 1 / self.number


class Deadly(Question[int], frozen=True):
    """Ends its process at 7."""

    kind = "test"

    number: int

    def decide(self) -> int:
        if self.number % 40 == 7:
            os.kill(os.getpid(), signal.SIGKILL)
        return -self.number


class Survivable(Deadly, frozen=True):
    """The same, and then there is an answer."""

    def lost(self, why: Undecided) -> int:
        return 1000 + self.number


class Planted(Question[str], frozen=True):
    """Meets an internal error, of which a report is to be made."""

    kind = "test"

    number: int

    @property
    def incident(self) -> Incident:
        return Incident("check")

    def decide(self) -> str:
        raise RuntimeError(f"planted {self.number}")

    def lost(self, why: Undecided) -> str:
        return str(why.internal)


class Square(Question[int], frozen=True):
    """What is the square of a number?"""

    kind = "squared"
    answer = int

    number: int

    @property
    def content(self) -> tuple[int]:
        return (self.number,)

    def decide(self) -> int:
        time.sleep(0.03)
        return self.number * self.number


class Squares(Question[list[int]], frozen=True):
    """For which of a number and the next was the square not known?"""

    kind = "test"

    judge: Judge
    number: int

    def parts(self) -> Iterable[Question[Any]]:
        return Square(self.number), Square(self.number + 1)

    def decide(self) -> list[int]:
        unknown = [it for it in self.parts() if self.judge.known(it) is None]
        for each in unknown:
            self.judge.ask(each)
        return [it.number for it in unknown if isinstance(it, Square)]
