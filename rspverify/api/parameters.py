"""What a question is asked with: a record of parameters, and a function that takes its fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from rspverify.api.inputs import AScheme, ATest, settled
from rspverify.options import Parameters, argument
from rspverify.soundness.settings import Settings

if TYPE_CHECKING:
    from rspverify.judge.judge import Judge

P = ParamSpec("P")
R = TypeVar("R", bound=Parameters)
A = TypeVar("A")
R_contra = TypeVar("R_contra", contravariant=True)
A_co = TypeVar("A_co", covariant=True)


@dataclass(frozen=True)
class Question(Parameters):
    """What is asked with settings. Raises InputError where these cannot be used."""

    def __post_init__(self) -> None:
        super().__post_init__()
        settled(getattr(self, "settings", None))


@dataclass(frozen=True)
class Decided(Question):
    """What is asked of a judge: one that the caller has, or one of its own."""

    judge: Judge | None = field(default=None, kw_only=True)

    @property
    def decider(self) -> Judge:
        """Who decides it: never by a cache where the settings forbid that."""
        from rspverify.api.judges import chosen

        return chosen(self.judge, getattr(self, "settings", Settings()))


@dataclass(frozen=True)
class OfTests(Decided):
    """A question about tests."""

    tests: ATest | Iterable[ATest] = argument(
        "Litmus tests, files or folders.", metavar="TEST…", completes="test"
    )


@dataclass(frozen=True)
class OfSchemeAndTests(Decided):
    """A question about a scheme, and tests: those of the suite litmus/rsp if there are none."""

    scheme: AScheme | Iterable[AScheme] = argument(
        "A scheme (a file that ends in .yaml) and tests (files or folders; default: those of "
        "the suite litmus/rsp).",
        metavar="SCHEME [TEST…]",
        completes="scheme or test",
        with_tests=True,
    )
    tests: ATest | Iterable[ATest] | None = None
    settings: Settings = Settings()


COSTS = "What instructions cost. Default: weights of our own."


class Asks(Protocol[P, R_contra, A_co]):
    """A function of the fields of a record; `of` is the same of the record."""

    parameters: type[Parameters]

    def __call__(self, *given: P.args, **named: P.kwargs) -> A_co:
        """Ask."""

    def of(self, asked: R_contra) -> A_co:
        """Ask with a record."""


def question(parameters: Callable[P, R]) -> Callable[[Callable[[R], A]], Asks[P, R, A]]:
    """Makes a function of a record's fields of one that takes the record."""

    def made(function: Callable[[R], A]) -> Asks[P, R, A]:
        @wraps(function)
        def ask(*given: P.args, **named: P.kwargs) -> A:
            return function(parameters(*given, **named))

        shown: Any = ask
        shown.of, shown.parameters = function, parameters
        answer = signature(function).return_annotation
        shown.__signature__ = signature(parameters).replace(return_annotation=answer)
        return cast(Asks[P, R, A], shown)

    return made
