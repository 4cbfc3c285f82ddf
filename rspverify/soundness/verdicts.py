"""The verdicts that the theorem ends with, in words and with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus import Program
from rspverify.machine import Machine
from rspverify.soundness.case import Case
from rspverify.soundness.counterexample import where_it_stops
from rspverify.soundness.refutation import refuted_counterexample
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.target import Suspect
from rspverify.soundness.wording import observed, race_in_words
from rspverify.verdict import Race, Verdict, Word


def racy(race: Race) -> Verdict:
    """The source is faulty."""
    return Verdict(Word.RACY, race_in_words(race), race=race)


def vacuous(case: Case, machine: Machine, within: Mapping[str, int]) -> Verdict:
    """Nothing completes: what each thread waits for, where no bound is to blame."""
    reason = f"{bounds_in_words(within)}no execution of the compiled program completes"
    blocked = () if within else where_it_stops(machine, case.limits)
    return Verdict(Word.VACUOUS, reason, within=within, blocked=blocked)


def sound(within: Mapping[str, int]) -> Verdict:
    """Every execution of the machine is matched."""
    reason = f"{bounds_in_words(within)}every outcome of the compiled program is allowed"
    return Verdict(Word.SOUND, reason, within=within)


def sound_by_outcome_alone(
    program: Program, within: Mapping[str, int], suspect: Suspect | None
) -> Verdict:
    """Every outcome is allowed, but not every execution is known to be so by its own rf and mo."""
    reason = (
        "no outcome is wrong, but the model lets an execution choose more than rf and mo, so that "
        "none is judged by its own"
    )
    if suspect is not None and suspect.axioms is not None:
        reason = (
            f"an execution with {observed(program, suspect.outcome)}{breaks(suspect.axioms)} by "
            "its own rf and mo, but no outcome is wrong"
        )
    return Verdict(Word.UNKNOWN, reason, within=within)


def unsound(case: Case, source: SourceExecutions, machine: Machine, suspect: Suspect) -> Verdict:
    """An outcome is wrong: a counterexample that stands. Raises InternalError if none does."""
    found = refuted_counterexample(case, source, machine, suspect)
    axioms = source.questions.forbidding_axioms(found.outcome)
    lines = [operation.span.line for operation in case.program.operations]
    return Verdict(
        Word.UNSOUND,
        f"{observed(case.program, found.outcome)}{breaks(axioms)}{placement_in_words(machine)}",
        outcome=found.outcome,
        axioms=axioms,
        execution=found.shown(lines),
    )


def placement_in_words(machine: Machine) -> str:
    """What follows a claim that holds for one placement of threads: who shares a place.

    Of places that lie in each other the innermost is told.
    """
    if not machine.program.placement or len(machine.program.threads) < 2:
        return ""
    together: list[str] = []
    told: list[set[str]] = []
    for kind, numbers in machine.program.placement:
        for number in dict.fromkeys(numbers):
            its = [
                str(thread)
                for thread, own in zip(machine.program.threads, numbers, strict=True)
                if own == number
            ]
            if len(its) > 1 and not any(set(its) <= before for before in told):
                told.append(set(its))
                together.append(f"{' and '.join(its)} on one {kind}")
    return f", with {', '.join(together)}" if together else ", with no two threads on one place"


def bounds_in_words(within: Mapping[str, int]) -> str:
    """What precedes a claim that holds within bounds."""
    return "".join(f"within {bound} {name}, " for name, bound in within.items())


def breaks(axioms: tuple[str, ...]) -> str:
    """What follows an outcome that these axioms forbid together."""
    if not axioms:
        return ": no candidate execution has these values"
    return f" breaks {' or '.join(axioms)}"
