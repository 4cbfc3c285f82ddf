"""A question: what it is about, who decides it, and what is answered where nobody can."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from msgspec import Struct, field

from rspverify.answers import Internal
from rspverify.limits import LOST, LimitReached
from rspverify.soundness.settings import OPTIONS, Settings
from rspverify.source import InputError, Problem, Severity, in_one_line
from rspverify.verdict import Word

if TYPE_CHECKING:
    from rspverify.judge.judge import Judge

A = TypeVar("A")


class Incident(Struct, frozen=True):
    """What the report of an internal error says was asked: a command, and what it was given.

    options: further words of the command, besides those for the settings. takes: the settings that
    it has options for.
    """

    command: str
    tests: Sequence[str] = ()
    schemes: Sequence[str] = ()
    settings: Settings | None = None
    options: Sequence[str] = ()
    takes: Collection[str] = tuple(OPTIONS)


class Undecided(Struct, frozen=True):
    """Why there is no answer: ERROR or UNSUPPORTED, by what is wrong with the input, or UNKNOWN.

    internal: the mistake of ours, if it is one. problems: of the input. seconds: what it took.
    """

    word: Word
    reason: str
    internal: Internal | None = None
    problems: Sequence[Problem] = ()
    seconds: float = 0.0


WORKER_LOST = Undecided(Word.UNKNOWN, LOST)


class Question(Struct, Generic[A], frozen=True, eq=False):
    """One question. A subclass says what it is about.

    kind: its name in cache keys and where workers are watched. answer: the type of an answer that
    is kept, plain data. is_limited: whether it is a test that the limits of its settings bound.
    """

    kind: ClassVar[str]
    is_limited: ClassVar[bool] = False
    answer: ClassVar[Any] = None

    @property
    def name(self) -> str:
        """The name of its subject where workers are watched: of its test, if it is about one."""
        return stem(self._tests[0]) if self._tests else ""

    @property
    def _tests(self) -> Sequence[str]:
        return () if self.incident is None else self.incident.tests

    @property
    def room(self) -> str:
        """The room of the package whose code answers it."""
        package, *rooms = type(self).__module__.split(".")
        return rooms[0] if package == "rspverify" else "judge"

    @property
    def content(self) -> tuple[Any, ...] | None:
        """Everything that the answer depends on, as content and not as paths.

        None where no answer is kept under the question itself.
        """
        return None

    @property
    def incident(self) -> Incident | None:
        """What a report of an internal error says was asked; None where errors are raised."""
        return None

    def parts(self) -> Iterable[Question[Any]]:
        """Questions that `decide` may ask: their kept answers are sent to other machines."""
        return ()

    def prepare(self) -> None:
        """Load what questions of a run share, before there are worker processes: how tests are
        read, if they are about tests."""
        if self._tests:
            from rspverify.litmus.syntax import warm_up

            warm_up()

    def known(self, judge: Judge) -> A | None:
        """The answer as far as it is kept."""
        return judge.kept(self)

    def decide(self) -> A:
        """The answer. What goes wrong is raised."""
        raise NotImplementedError

    def lost(self, why: Undecided) -> A:
        """The answer where nothing could be decided, or its worker ended."""
        raise LimitReached(why.reason)

    def worth_keeping(self, answer: A) -> bool:
        """Whether another run would give the same answer."""
        return True


class Unseen:
    """Is told how far a question is where nobody looks: a stream of answers shows it otherwise."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


class Reply(Struct, Generic[A], frozen=True):
    """What a worker sends back: the answer, or what was raised instead.

    warnings: of the cache. answers: those to keep, as texts by key. elsewhere: whether the process
    that asked must decide, as an internal error was met of which it is to write the report.
    """

    answer: A | None = None
    error: Exception | None = None
    warnings: Sequence[str] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    elsewhere: bool = False


def attempt(decide: Callable[[], A], incident: Incident) -> A | Undecided:
    """What is decided, or why nothing is: the input, a limit, the memory, or a mistake of ours.

    incident: what the report of a mistake says was asked.
    """
    started = time.perf_counter()

    def undecided(reason: str, internal: Internal | None = None) -> Undecided:
        seconds = time.perf_counter() - started
        return Undecided(Word.UNKNOWN, reason, internal, seconds=seconds)

    try:
        return decide()
    except InputError as error:
        return refused(error, time.perf_counter() - started)
    except LimitReached as limit:
        return undecided(str(limit))
    except MemoryError:
        return undecided("out of memory")
    except Exception as error:
        from rspverify.judge.incident import reported

        met = reported(error, incident)
        return undecided(str(met), met)


def refused(error: InputError, seconds: float = 0.0) -> Undecided:
    """Why a test cannot be read: mistakes with their excerpts, what is unsupported in one line."""
    problems = error.problems
    if error.severity is Severity.UNSUPPORTED:
        return Undecided(Word.UNSUPPORTED, in_one_line(problems), None, problems, seconds)
    wrong = [str(each) for each in problems if each.severity is Severity.ERROR]
    return Undecided(Word.ERROR, "\n".join(wrong), None, problems, seconds)


def stem(file: str) -> str:
    """A file as a question on it is called: `Fig4` of `litmus/rsp/paper/Fig4.litmus`."""
    return PurePath(file).stem
