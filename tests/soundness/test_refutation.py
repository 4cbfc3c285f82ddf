"""Counterexamples that do not stand: a lying engine, a lying model, a schedule that leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from checks import MODEL, judged, litmus, scheme_named

from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.replay import Replayer
from rspverify.machine.unroll import Unrolling
from rspverify.relation.expression import Expression
from rspverify.relation.expression import Test as Question
from rspverify.relation.terms import Terms
from rspverify.smt import portfolio
from rspverify.smt.term import FALSE, Term
from rspverify.soundness import counterexample, refutation
from rspverify.soundness.case import machine_of
from rspverify.soundness.counterexample import shortest_counterexample
from rspverify.soundness.machine_side import EventsExecutions, MachineExecutions, MachineSide
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import Candidate, ModelSide
from rspverify.source import InternalError
from rspverify.verdict import Outcome, Word

ORIGINAL = scheme_named("original")
PROPOSED = scheme_named("proposed")
FIG4 = litmus("rsp/paper/Fig4")
EX4 = litmus("rsp/paper/Ex4")
STALE = Outcome(((2, 1), (3, 0)), (("x", 42), ("y", 1)))


class Liar(MachineExecutions):
    """An engine that reports one outcome, whatever the machine does."""

    within: ClassVar[dict[str, int]] = {}

    def completes(self) -> bool:
        return True

    def outcomes(self) -> Iterator[Outcome]:
        yield STALE

    def exclude(self, outcome: Outcome) -> None:
        pass


def lying(*_: Any, **__: Any) -> MachineExecutions:
    return Liar()


def sabotage_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoding thinks that Narf never holds, so that nothing is allowed."""
    real = Terms.holds

    def holds(algebra: Terms, test: Question, expression: Expression, names: Any) -> Term:
        return FALSE if "nal" in str(expression) else real(algebra, test, expression, names)

    monkeypatch.setattr(Terms, "holds", holds)


@pytest.mark.parametrize("program", [FIG4, EX4], ids=["Fig4", "Ex4"])
def test_a_true_counterexample_stands(program: Any) -> None:
    machine = machine_of(ORIGINAL.compiled(program), Settings())
    source = ModelSide(program, MODEL)

    def forbidden(outcome: Outcome) -> bool:
        return not source.allows(outcome)

    found = judged(program, ORIGINAL, engine=Engine.EXPLICIT)
    same = shortest_counterexample(machine, forbidden, Limits())
    lines = [it.span.line for it in program.operations]
    assert (found.execution, found.outcome) == (same.shown(lines), same.outcome)


def test_an_outcome_that_the_machine_cannot_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MachineSide, "executions", lying)
    with pytest.raises(InternalError, match=r"^an engine reports an outcome that no other") as it:
        judged(FIG4, PROPOSED)
    assert it.value.evidence == {"outcome that the engine reports": "1:r0=1 1:r1=0 x=42 y=1"}


def test_the_same_where_only_the_solver_can_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MachineSide, "executions", lying)
    monkeypatch.setattr(counterexample, "_STATES", 10)
    with pytest.raises(InternalError, match=r"^an engine reports an outcome that no other"):
        judged(FIG4, PROPOSED)


@pytest.mark.parametrize("engine", Engine)
def test_an_outcome_that_is_consistent_after_all(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sabotage_model(monkeypatch)
    with pytest.raises(InternalError, match=r"is that of a consistent execution after all$") as it:
        judged(FIG4, PROPOSED, engine=engine)
    evidence = it.value.evidence
    assert evidence["outcome"].endswith("x=42 y=1")
    assert "FLU_L1 WG" in evidence["schedule"]
    assert (
        "mo: the initial write of y -> P0 line 14 (store DV,N y)"
        in (evidence["consistent execution"])
    )


def test_a_schedule_that_ends_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Replayer.outcome
    other = Outcome(((2, 0),), (("x", 42), ("y", 1)))
    monkeypatch.setattr(Replayer, "outcome", lambda *a: real(*a) and other)
    with pytest.raises(InternalError, match=r"^a counterexample does not replay") as it:
        judged(FIG4, ORIGINAL)
    assert it.value.evidence["replayed"] == "it ends; operation 2 reads 0; x=42; y=1"
    assert it.value.evidence["schedule"].splitlines()[0].startswith("1  ")


def test_a_schedule_that_cannot_be_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counterexample, "_STATES", 10)
    real = Unrolling.schedule
    monkeypatch.setattr(Unrolling, "schedule", lambda *a: real(*a)[::-1])
    with pytest.raises(InternalError, match=r"^a counterexample does not replay") as it:
        judged(FIG4, ORIGINAL, engine=Engine.UNROLL)
    assert it.value.evidence["replayed"] == "it cannot be followed to the end"


def test_an_engine_whose_own_schedule_leads_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The events engine tells a schedule with each outcome; here that of another outcome."""
    machine = machine_of(PROPOSED.compiled(FIG4), Settings())
    schedule = ExplicitMachine(machine, dequeue_alone=False).shortest(lambda _: True, Limits())
    assert schedule is not None
    lies = [Candidate(STALE, None, schedule, ())]
    monkeypatch.setattr(EventsExecutions, "candidates", lambda *_: iter(lies))
    with pytest.raises(InternalError, match=r"^a counterexample does not replay") as it:
        judged(FIG4, PROPOSED, engine=Engine.EVENTS)
    assert it.value.evidence["replayed"].startswith("it ends; operation 2 reads ")
    assert it.value.evidence["outcome that the engine reports"] == "1:r0=1 1:r1=0 x=42 y=1"


# ---- where there are too many candidates to enumerate --------------------------------------------


@pytest.fixture
def too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: Any) -> None:
        raise LimitReached("more than 7 candidate executions with one outcome")

    monkeypatch.setattr(refutation, "consistent_execution", gives_up)


@pytest.mark.usefixtures("too_many")
def test_a_second_solver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    real = portfolio.satisfiable

    def satisfiable(terms: list[Term], solver: str, limits: Limits) -> bool | str:
        asked.append((solver, real(terms, solver, limits)))
        return asked[-1][1]

    monkeypatch.setattr(portfolio, "satisfiable", satisfiable)
    assert judged(FIG4, ORIGINAL).word is Word.UNSOUND
    assert asked == [((*portfolio.other_solvers(), "z3")[0], False)]


@pytest.mark.usefixtures("too_many")
def test_z3_through_another_door_where_there_is_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "other_solvers", list)
    assert judged(FIG4, ORIGINAL).word is Word.UNSOUND


@pytest.mark.usefixtures("too_many")
def test_a_second_solver_that_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "other_solvers", lambda: ["first", "second"])
    monkeypatch.setattr(
        portfolio, "satisfiable", lambda _, solver, __: solver == "second" or "it gave up"
    )
    with pytest.raises(InternalError, match="consistent execution after all") as it:
        judged(FIG4, ORIGINAL)
    assert it.value.evidence["consistent execution"] == "there is one, says second"


@pytest.mark.usefixtures("too_many")
def test_unrefuted_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "satisfiable", lambda *_: "it gave up")
    verdict = judged(FIG4, ORIGINAL)
    assert verdict.word is Word.UNKNOWN
    assert verdict.reason == (
        "an outcome that seems wrong was refuted neither by enumeration "
        "(more than 7 candidate executions with one outcome) nor by a second solver"
    )


def test_what_a_second_solver_is_asked() -> None:
    """The terms hold together just for the outcomes that the model allows."""
    source = Questions(FIG4, MODEL, Limits())
    never = Outcome(((2, 7),), (("x", 42), ("y", 1)))
    for outcome in [*source.outcomes(), STALE, never]:
        assert portfolio.second_opinion(source.asked_outcome(outcome)) is source.allows(outcome)
