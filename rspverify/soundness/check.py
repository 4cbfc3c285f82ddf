"""A check: the theorem, with what wraps around it (second solvers, bounds of reading, limits)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from rspverify.architecture.architecture import Status
from rspverify.axiomatic.coverage import ignored_features, require_covered
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import Mapped, untold_in
from rspverify.records import replace
from rspverify.soundness.case import Case, side_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import Engine, Reading, Settings
from rspverify.soundness.sides import ModelSide, QueryLog, Side
from rspverify.soundness.theorem import Finding, soundness
from rspverify.soundness.wording import bounds_in_words, breaks, observed, race_in_words
from rspverify.source import InputError, Problem, Severity, in_one_line
from rspverify.verdict import Verdict, Word


def check(case: Case, source: ModelSide | None = None, log: QueryLog | None = None) -> Verdict:
    """The verdict on a case (docs/semantics.md). Whatever is wrong with it is a verdict, too.

    source: of the same program and model, shared with cases of other schemes. log: where the
    questions go to; one is made where the settings want it.
    """
    settings = case.settings
    if log is None and (settings.confirm or settings.smt_dir):
        log = []
    try:
        source = _source_of(case.program, case, source)
        verdict = _decided(case, source, log)
        if verdict.word is Word.UNSOUND and case.scheme.machine is not None:
            verdict = _on_all_machines(verdict, case, source)
        verdict = _within_what_was_read(verdict, case.program)
        notes = "".join(f" ({note})" for note in ignored_features(case.program, case.model))
        verdict = replace(verdict, reason=f"{verdict.reason}{notes}")
        if log is not None and settings.confirm and verdict.word is Word.SOUND:
            verdict = _confirmed(verdict, log, settings.confirm, case)
        if log is not None:
            from rspverify.soundness.query_log import write_queries

            name = case.program.source.name
            write_queries(log, settings, name, case.scheme.name, verdict.word)
        return verdict
    except InputError as error:
        word = Word.ERROR if error.severity is Severity.ERROR else Word.UNSUPPORTED
        return Verdict(word, in_one_line(error.problems))
    except LimitReached as limit:
        return Verdict(Word.UNKNOWN, str(limit))


def is_sound(case: Case, source: ModelSide | None = None) -> bool:
    """Whether the verdict on a case is SOUND; if it is not, nothing is found out about why.

    source: as in `check`.
    """
    settings = case.settings
    if settings.confirm or settings.smt_dir or settings.reading is Reading.WITNESS:
        return check(case, source).word is Word.SOUND
    try:
        source, target = _sides(case, _source_of(case.program, case, source))
        return soundness(source, target).word is Word.SOUND
    except (InputError, LimitReached):
        return False


def _decided(case: Case, source: ModelSide, log: QueryLog | None) -> Verdict:
    source, target = _sides(case, source, log)
    verdict = verdict_of(soundness(source, target), source, target)
    witnessed = verdict.word is Word.SOUND and case.settings.reading is Reading.WITNESS
    if witnessed and isinstance(target, MachineSide):
        return _by_witnesses(verdict, case.program, target)
    return verdict


def _sides(case: Case, source: ModelSide, log: QueryLog | None = None) -> tuple[ModelSide, Side]:
    """The sides that are compared. log: where the questions of both go to."""
    require_covered(case.program, case.model)
    made, settings, limits = case.compiled(), case.settings, case.limits
    target: Side
    if isinstance(made, Mapped):
        _require_engine_of_models(settings)
        target = side_of(made, settings, limits, log)
    else:
        target = MachineSide(case.machine(made), settings, limits, log)
    return source.under(limits, untold_in(made), log), target


def _require_engine_of_models(settings: Settings) -> None:
    """Raises InputError where the settings are for machines alone."""
    if settings.reading is Reading.WITNESS:
        message = "the reading witness is for machines, which have an rf and mo of their own"
    elif settings.engine is not Engine.EVENTS or settings.steps is not None:
        message = "an engine other than events, and a bound of steps, are for machines"
    else:
        return
    raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])


def verdict_of(finding: Finding, source: ModelSide, target: Side) -> Verdict:
    """Raises InternalError where a wrong outcome is not confirmed, and LimitReached."""
    match finding.word:
        case Word.RACY:
            assert finding.race is not None
            return Verdict(Word.RACY, race_in_words(finding.race), race=finding.race)
        case Word.VACUOUS:
            bounds = bounds_in_words(target.within)
            reason = f"{bounds}no execution of the compiled program completes"
            blocked = () if target.within else target.blocked()
            return Verdict(Word.VACUOUS, reason, within=target.within, blocked=blocked)
        case Word.SOUND:
            bounds = bounds_in_words(target.within)
            reason = f"{bounds}every outcome of the compiled program is allowed"
            return Verdict(Word.SOUND, reason, within=target.within)
        case _:
            return _unsound(finding, source, target)


def _unsound(finding: Finding, source: ModelSide, target: Side) -> Verdict:
    """An outcome is wrong, as the evidence of both sides says; or the target is undefined."""
    if finding.race is not None:
        reason = f"the target alone is undefined: {race_in_words(finding.race)}"
        return Verdict(Word.UNSOUND, reason, race=finding.race)
    assert finding.candidate is not None
    evidence = target.explain(finding.candidate, source)
    outcome, axioms = evidence.outcome, source.forbidding_axioms(evidence)
    return Verdict(
        Word.UNSOUND,
        f"{observed(source.program, outcome)}{breaks(axioms)}{evidence.placement}",
        outcome=outcome,
        axioms=axioms,
        execution=evidence.execution,
        graph=evidence.graph,
    )


def _by_witnesses(verdict: Verdict, program: Program, target: MachineSide) -> Verdict:
    """A SOUND in the witness reading, where each execution must be allowed by its own rf and mo."""
    unmatched = target.unmatched
    if unmatched is not None and unmatched.axioms is not None:
        reason = (
            f"an execution with {observed(program, unmatched.outcome)}{breaks(unmatched.axioms)} "
            "by its own rf and mo, but no outcome is wrong"
        )
    elif unmatched is not None or target.by_outcome:
        reason = (
            "no outcome is wrong, but the model lets an execution choose more than rf and mo, so "
            "that none is judged by its own"
        )
    else:
        return verdict
    return Verdict(Word.UNKNOWN, reason, within=verdict.within)


def _source_of(program: Program, case: Case, source: ModelSide | None) -> ModelSide:
    """What is asked of a program alone, within the limits of a case."""
    if source is None or source.program is not program:  # It may be unrolled for a scheme.
        source = ModelSide(program, case.model)
    return source.under(case.limits)


def _on_all_machines(verdict: Verdict, case: Case, source: ModelSide) -> Verdict:
    """An UNSOUND of the weakest machine that the document allows: UNSOUND if the strongest one, on
    which each switch is on that is left open, has a wrong outcome as well, and OPEN if it has none.
    """
    machine = case.scheme.machine
    assert machine is not None
    off = machine.undecided(Status.OPEN)
    every = " and ".join(off)
    if off:
        try:
            found = _with(off, case, source)
        except LimitReached as limit:
            return Verdict(Word.UNKNOWN, f"UNSOUND unless {every}, and with {limit}")
        if found is Word.SOUND:
            decide = _deciding(off, case, source)
            words = f"SOUND if {_in_words(decide)}, of which the document says nothing"
            reason = f"{verdict.reason}; {words}"
            return replace(verdict, word=Word.OPEN, sound_if=decide, reason=reason)
        if found is not Word.UNSOUND:
            return Verdict(Word.UNKNOWN, f"UNSOUND unless {every}, and {found} with them")
    against = machine.undecided(Status.CONTRADICTED) if case.settings.shortest else []
    with suppress(LimitReached):
        if against and _with((*off, *against), case, source) is Word.SOUND:
            only = _in_words(_deciding((*off, *against), case, source))
            reason = f"{verdict.reason}; SOUND only if {only}, which the document contradicts"
            return replace(verdict, reason=reason)
    return verdict


def _deciding(off: Sequence[str], case: Case, source: ModelSide) -> tuple[str, ...]:
    """Of switches that together make a case SOUND those that do alone; where none does, some that
    do together, joined by `+`. Where a limit is met, as far as that is known by then."""
    found: list[str] = []
    left = [*off]
    with suppress(LimitReached):
        found += (it for it in off if len(off) == 1 or _with((it,), case, source) is Word.SOUND)
        for name in off if not found and len(off) > 2 else ():  # None of them is to spare.
            others = [it for it in left if it != name]
            if len(others) > 1 and _with(others, case, source) is Word.SOUND:
                left = others
    return tuple(found) or ("+".join(left),)


def _with(switches: Sequence[str], case: Case, source: ModelSide) -> Word:
    """The word of a case with these switches on; UNKNOWN where it holds only within bounds."""
    assert case.scheme.machine is not None
    machine = case.scheme.machine.switched("+".join(switches))
    switched = replace(case, scheme=case.scheme.on_machine(machine))
    target = MachineSide(switched.machine(), case.settings, case.limits)
    word = soundness(_source_of(switched.program, case, source), target).word
    return Word.UNKNOWN if word is Word.SOUND and target.within else word


def _in_words(decide: Sequence[str]) -> str:
    """`A or B and C` of A, and B+C."""
    return " or ".join(it.replace("+", " and ") for it in decide)


def _confirmed(verdict: Verdict, log: QueryLog, solver: str, case: Case) -> Verdict:
    """A SOUND as a second solver sees it."""
    from rspverify.soundness.query_log import not_confirmed

    refusal = not_confirmed(log, solver, case.limits)
    if refusal is None:
        return replace(verdict, confirmed=solver)
    return Verdict(Word.UNKNOWN, f"{verdict.reason}, but {refusal}", within=verdict.within)


def _within_what_was_read(verdict: Verdict, program: Program) -> Verdict:
    """A verdict with the bounds within which its program was read, where it depends on them.

    A race that is found stands in an execution that the program has. A counterexample does too, but
    it counts for nothing if the program races further on, and its outcome might be allowed by a
    spurious failure of a compare-exchange, which is left out.
    """
    bounds = {name: n for name, n in program.within.items() if name not in verdict.within}
    if verdict.word is Word.RACY or not bounds:
        return verdict
    reason = f"{bounds_in_words(bounds)}{verdict.reason}"
    return replace(verdict, within={**bounds, **verdict.within}, reason=reason)
