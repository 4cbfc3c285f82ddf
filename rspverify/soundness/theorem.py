"""Thm. 1 of the RSP paper: each execution of the compiled program is one of the source program."""

from __future__ import annotations

from collections.abc import Callable

from rspverify.machine import Machine
from rspverify.machine.sharing import placed
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Reading
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.target import Suspect, Target
from rspverify.soundness.verdicts import racy, sound, sound_by_outcome_alone, unsound, vacuous
from rspverify.verdict import Verdict


def holds(case: Case, source: SourceExecutions, target_of: Callable[[Machine], Target]) -> bool:
    """Whether every outcome of a machine that completes is allowed, without a bound.

    The source must have no race.
    """
    for each in placed(case.machine()):
        target = target_of(each)
        if target.within or not target.completes():
            return False
        if any(not source.allows(it.outcome) for it in target.suspects(source)):
            return False
    return True


def soundness(
    case: Case, source: SourceExecutions, target_of: Callable[[Machine, bool], Target]
) -> Verdict:
    """Is a program compiled soundly (Thm. 1)?

    If the source races, any behaviour is right. Otherwise each outcome of the machine must be one
    of a consistent execution of the source, whoever shares which place of it where programs do not
    say that; in the witness reading each execution of the machine must also be consistent by its
    own rf and mo. target_of: of a machine, and of whether what it finds is to be shown.

    Raises InputError where the scheme has no row for an operation, and LimitReached.
    """
    machine = case.machine()
    race = source.race()
    if race is not None:
        return racy(race)
    suspicion, judged, within = None, True, dict[str, int]()
    for each in placed(machine):
        target = target_of(each, False)
        if not target.completes():
            return vacuous(case, each, target.within)
        for suspect in target.suspects(source):
            if not source.allows(suspect.outcome):
                if suspect.schedule is not None and each.program.completes_later:
                    suspect = _wrong(target_of(each, True), source)
                return unsound(case, source, each, suspect)
            suspicion = suspicion or suspect
        judged = judged and target.judges_rf_and_mo(case.model)
        within |= target.within
    if case.settings.reading is Reading.WITNESS and (suspicion is not None or not judged):
        return sound_by_outcome_alone(case.program, within, suspicion)
    return sound(within)


def _wrong(target: Target, source: SourceExecutions) -> Suspect:
    return next(it for it in target.suspects(source) if not source.allows(it.outcome))
