"""A question with many answers: gone through as they come, or reported as a whole."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from msgspec import Struct

from rspverify.limits import LimitReached
from rspverify.render.forms import FORMS, need, write
from rspverify.source import Problem
from rspverify.wording import alternatives

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document

T = TypeVar("T")
R = TypeVar("R")
T_contra = TypeVar("T_contra", contravariant=True)
R_contra = TypeVar("R_contra", contravariant=True)


@dataclass
class Stop:
    """Why a question ended before it was done: by an interrupt, or at a limit, in words."""

    interrupted: bool = False
    limit: str | None = None

    @property
    def reason(self) -> str | None:
        """In words, None if it was done."""
        return "interrupted" if self.interrupted else self.limit


class Ending(Struct, frozen=True):
    """What an exit code tells: an internal error, an input that is wrong, a finding, a doubt.

    unwritten: what could not be written.
    """

    internal: bool = False
    wrong: bool = False
    found: bool = False
    undecided: bool = False
    unwritten: tuple[Problem, ...] = ()


class Stream(Protocol[T_contra, R_contra]):
    """Shows answers as they come, and then the rest of the report."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *error: Any) -> None: ...
    def show(self, answer: T_contra) -> None:
        """Take the next answer."""

    def finish(self, report: R_contra) -> None:
        """What people read once all answers are there."""


class Shown(Generic[T, R]):
    """Shows nothing as it comes, and all at the end."""

    def __init__(self, console: Console, document: Callable[[R], Document]) -> None:
        self._console, self._document = console, document

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, answer: T) -> None:
        """Take the next answer."""

    def finish(self, report: R) -> None:
        """Print what people read."""
        from rspverify.render.forms.text import show

        show(self._document(report).blocks, self._console)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Ends what is inside at an interrupt or a limit, so that what is known by then is told."""
    stop = Stop()
    try:
        yield stop
    except KeyboardInterrupt:
        stop.interrupted = True
    except LimitReached as limit:
        stop.limit = str(limit)


def collect(coming: Generator[T, None, None], found: list[T], show: Callable[[T], object]) -> None:
    """Take and show what comes, each as soon as it is there; close what it comes from."""
    with closing(coming):
        for each in coming:
            found.append(each)
            show(each)


class Asked(ABC, Generic[T, R]):
    """A question that is asked: nothing is decided before an answer is taken from it.

    Going through it gives each answer as soon as it is there; whoever goes through it again gets
    those that are known, and then the rest, or LimitReached where it was stopped. `report` has
    them all. `str` is what the command of the same name prints, `form` what its `--format` prints,
    and a notebook shows the page.
    known: the answers so far. notes: what must be said of how the question was understood.
    """

    notes: tuple[str, ...] = ()
    shown: Collection[str] = ("text",)
    """The forms that are shown as answers come."""
    written: Collection[str] = tuple(each for each in FORMS if each != "text")
    """The forms that are written once all are there."""

    def __init__(self) -> None:
        self.known: list[T] = []
        self._coming: Generator[T, None, None] | None = None
        self._stop: Stop | None = None
        self._one_at_a_time = threading.Lock()
        self._started = time.perf_counter()
        self._took: float | None = None

    @property
    def forms(self) -> Mapping[str, Callable[[R], str]]:
        """What a report can be written as, by name; `text` and `json` are always among them."""
        return {
            **{form: partial(self.printed, form) for form in self.shown},
            **{form: partial(self._formed, form) for form in self.written},
        }

    def _formed(self, form: str, report: R) -> str:
        return write(form, self.document(report, detailed=need({form}, "details")))

    @abstractmethod
    def document(self, report: R, *, detailed: bool = False) -> Document:
        """All that is said of a report. detailed: what findings rest on is asked for besides,
        unless the question was stopped."""

    def stream(self, console: Console, form: str) -> Stream[T, R]:
        """Who shows answers as they come, and the rest of the report."""
        shown: Shown[T, R] = Shown(console, self.document)
        return shown

    def ending(self, report: R) -> Ending:
        """What the exit code tells of a report, but for why it was stopped."""
        return Ending()

    def printed(self, form: str, report: R) -> str:
        """What is printed where no terminal is."""

        def show(console: Console) -> None:
            with self.stream(console, form) as stream:
                for each in self.known:
                    stream.show(each)
            stream.finish(report)

        return rendered(show)

    @abstractmethod
    def _answers(self) -> Generator[T, None, None]:
        """The answers, decided one after the other."""

    @abstractmethod
    def _report(self, stop: Stop) -> R:
        """All that is known, and why it ended if it did not come to its end."""

    def __iter__(self) -> Iterator[T]:
        place = 0
        while place < len(self.known) or self._next() or place < len(self.known):
            yield self.known[place]
            place += 1
        if self._stop is not None and self._stop.reason:
            raise LimitReached(f"{self._stop.reason}: these are not all")

    def _next(self) -> bool:
        """Whether there is one more answer; it is among those known then.

        What ends it before it is done is remembered: no report is to look as if it were whole.
        """
        with self._one_at_a_time:
            return self._taken()

    def _taken(self) -> bool:
        if self._stop is not None:
            return False
        if self._coming is None:
            self._started = time.perf_counter()
            self._coming = self._answers()
        try:
            self.known.append(next(self._coming))
        except StopIteration:
            self._stop = Stop()
        except KeyboardInterrupt:
            self._stop = Stop(interrupted=True)
            raise
        except BaseException as error:
            self._stop = Stop(limit=str(error) or type(error).__name__)
            raise
        return self._stop is None

    @property
    def stopped(self) -> Stop:
        """Why it ended before it was done, if it did."""
        return self._stop or Stop()

    @property
    def seconds(self) -> float:
        """From when it was asked to its end, or till now."""
        return self._took or time.perf_counter() - self._started

    def each(self, show: Callable[[T], object]) -> Stop:
        """Show each answer that is still to come, until there are no more, an interrupt or a limit.

        Whatever ends it, workers and all else are let go.
        """
        with stoppable() as stop, closing(self):
            while self._next():
                show(self.known[-1])
        self._took = self.seconds
        if stop.reason or self._stop is None:
            self._stop = stop
        return self._stop

    def close(self) -> None:
        """Decide no more, and let go of workers; what is known stays known."""
        if self._coming is not None:
            self._coming.close()
        if self._stop is None:
            self._stop = Stop(limit="closed before it was done")

    def report(self, stop: Stop | None = None) -> R:
        """All answers, after deciding those that are not known yet; a limit may end that.

        stop: if it is given nothing more is decided: it says why.
        """
        return self._report(stop or self.each(lambda _: None))

    def form(self, form: str) -> str:
        """The report as a text of some form. Raises ValueError for one that there is not."""
        if form not in self.forms:
            raise ValueError(f"the form must be {alternatives(list(self.forms))}, not {form}")
        return self.forms[form](self.report())

    def json(self) -> str:
        """What `--format json` prints."""
        return self.form("json")

    def __str__(self) -> str:
        return self.form("text")

    def _repr_html_(self) -> str:
        return framed(self.form("html"))


def framed(page: str) -> str:
    """A page as a part of a notebook: a frame of its own, so that neither changes the other."""
    style = "width: 100%; height: 40rem; border: 0"
    return f'<iframe style="{style}" sandbox="allow-scripts" srcdoc="{_escaped(page)}"></iframe>'


def rendered(show: Callable[[Console], object]) -> str:
    """What is shown on a console that is no terminal."""
    from rspverify.render.console import printing_to

    stream = StringIO()
    show(printing_to(stream))
    return stream.getvalue()


def _escaped(text: str) -> str:
    from html import escape

    return escape(text)
