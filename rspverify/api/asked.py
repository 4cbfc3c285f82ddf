"""A question with many answers: gone through as they come, or reported as a whole."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct

from rspverify.judge.question import Unseen
from rspverify.limits import LimitReached
from rspverify.render.forms import FORMS, need, write
from rspverify.source import Problem
from rspverify.wording import alternatives

if TYPE_CHECKING:
    from rich.console import Console

    from rspverify.render.document import Document, Told

T = TypeVar("T")
R = TypeVar("R")


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
    unwritten: Sequence[Problem] = ()


_FOUND = frozenset({"UNSOUND", "STUCK", "DIFFERENT"})
_UNDECIDED = frozenset({"OPEN", "UNKNOWN", "VACUOUS", "UNSUPPORTED", "NO PROOF"})


def ending_of(words: Iterable[str | None], answers: Iterable[Any]) -> Ending:
    """That of the words of some answers: verdicts, progress, proofs, and what compares models.

    answers: each has an internal error in its field `internal`, or none.
    """
    said = {*words}
    return Ending(
        internal=any(each.internal for each in answers),
        wrong="ERROR" in said,
        found=bool(said & _FOUND),
        undecided=bool(said & _UNDECIDED),
    )


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


class Formed:
    """What is written in several forms: `print` shows its text, a notebook its page."""

    __slots__ = ()

    @abstractmethod
    def form(self, form: str) -> str:
        """The text of some form, as `--format` has them."""

    def json(self) -> str:
        """What `--format json` prints."""
        return self.form("json")

    def __str__(self) -> str:
        return self.form("text")

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither changes the other."""
        from html import escape

        style = "width: 100%; height: 40rem; border: 0"
        page = escape(self.form("html"))
        return f'<iframe style="{style}" sandbox="allow-scripts" srcdoc="{page}"></iframe>'


class Asked(Formed, Generic[T, R]):
    """A question that is asked: nothing is decided before an answer is taken from it.

    Going through it gives each answer as soon as it is there; whoever goes through it again gets
    those that are known, and then the rest, or LimitReached where it was stopped. `report` has
    them all. `str` is what the command of the same name prints, `form` what its `--format` prints,
    and a notebook shows the page.
    known: the answers so far. total: how many there are to be, None if that is not known. before:
    how many tests are decided before the first. notes: what must be said of how the question was
    understood.
    """

    def __init__(
        self,
        answers: Callable[[Any], Generator[T, None, None]],
        report: Callable[[Asked[T, R]], R],
        render: str,
        *,
        document: Callable[[R, Collection[str]], Document] | None = None,
        told: Callable[[Any, str], Told] | None = None,
        ending: Callable[[R], Ending] = lambda _: Ending(),
        shown: Collection[str] = ("text",),
        written: Collection[str] = FORMS,
        total: int | None = None,
        before: int = 0,
        notes: Sequence[str] = (),
    ) -> None:
        """What makes it.

        answers: decides them, one after the other, and tells the stream how far it is. report:
        makes one of what is known. render: the module of `rspverify.render` whose `document` says
        all of a report; `document` says what findings rest on besides, where that is needed.
        told: given that module and a form, what is said as answers come. ending: what the exit code
        tells, but for why it was stopped. shown: the forms that are shown as answers come; written:
        those that are written once all are there.
        """
        self.known: list[T] = []
        self.shown, self.total, self.before, self.notes = shown, total, before, tuple(notes)
        self.ending = ending
        self._answers, self._made, self._render = answers, report, f"rspverify.render.{render}"
        self._detailed, self._said, self._written = document, told, written
        self._told: Any = Unseen()
        self._coming: Generator[T, None, None] | None = None
        self._stop: Stop | None = None
        self._one_at_a_time = threading.Lock()
        self._started = time.perf_counter()
        self._took: float | None = None

    # ---- what is shown of it ---------------------------------------------------------------------

    def text_of(self, report: R, form: str) -> str:
        """A report as a text of some form."""
        if form in self.shown:
            return self._printed(form, report)
        needs = [each for each in ("faults", "details") if need({form}, each)]
        return write(form, self.document(report, needs))

    def document(self, report: R, needs: Collection[str] = ()) -> Document:
        """All that is said of a report. needs: what is asked for besides, unless the question was
        stopped: `details`, what findings rest on, and `faults`, the rows at fault of all."""
        if self._detailed is not None and needs:
            return self._detailed(report, needs)
        found: Document = import_module(self._render).document(report)
        return found

    def stream(self, console: Console, form: str) -> Any:
        """Who shows answers as they come, and the rest of the report."""
        from rspverify.render.document import Told
        from rspverify.render.progress import Stream

        said = Told(last=lambda report: self.document(report).blocks)
        if self._said is not None:
            said = self._said(import_module(self._render), form)
        self._told = Stream[T, R](console, said, text=form in self.shown)
        return self._told

    def _printed(self, form: str, report: R) -> str:
        """What is printed where no terminal is."""
        from rspverify.render.console import printing_to

        text = StringIO()
        with self.stream(printing_to(text), form) as stream:
            for each in self.known:
                stream.show(each)
        stream.finish(report)
        return text.getvalue()

    def form(self, form: str) -> str:
        """The report as a text of some form. Raises ValueError for one that there is not."""
        forms = dict.fromkeys((*self._written, *self.shown))
        if form not in forms:
            raise ValueError(f"the form must be {alternatives(forms)}, not {form}")
        return self.text_of(self.report(), form)

    # ---- asking ----------------------------------------------------------------------------------

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
            if self._stop is not None:
                return False
            if self._coming is None:
                self._started = time.perf_counter()
                self._coming = self._answers(self._told)
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

    def report(self) -> R:
        """All answers, after deciding those that are not known yet; a limit may end that."""
        self.each(lambda _: None)
        return self._made(self)
