"""Everything that can be said of one test under one scheme."""

from __future__ import annotations

from typing import assert_never

from rspverify.answers import CompiledThread, Explanation, Observed
from rspverify.judge.answers import result_of
from rspverify.judge.loaded_test import LoadedTest
from rspverify.judge.verdicts import NamedScheme, Verdicts
from rspverify.limits import LimitReached
from rspverify.litmus import Program
from rspverify.machine import Machine, enough_steps
from rspverify.scheme import compile_program
from rspverify.soundness.case import machine_of
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.source import SourceExecutions
from rspverify.soundness.target import target_of
from rspverify.soundness.wording import observed
from rspverify.verdict import Verdict, Word


def explain(test: LoadedTest, scheme: NamedScheme, verdicts: Verdicts) -> Explanation:
    """The verdict with all that it rests on. Raises InputError where the inputs are wrong."""
    model, settings = verdicts.model, verdicts.settings
    answer, progress = verdicts.answer(test, scheme), None
    verdict, program = answer.verdict, test.program
    if settings.progress:
        progress = verdicts.progress(test, scheme, verdict.word)
    going = progress.progress if progress else None
    result = result_of(
        answer,
        progress,
        settings,
        file=test.file,
        title=program.title,
        scheme_file=scheme.file,
        scheme=scheme.facts.name,
        model=model.name,
    )
    if result.internal is not None:
        return Explanation(result, program.title, verdict, going)
    supported = verdict.word is not Word.UNSUPPORTED
    compiled = compile_program(program, scheme.scheme) if supported else None
    machine = machine_of(compiled, settings) if compiled else None
    seen: tuple[Observed, ...] = ()
    allowed = None
    if verdict.word is Word.SOUND and machine is not None and not settings.progress:
        seen, allowed = _outcomes(verdicts.source(test), machine, settings)
    texts = {axiom.name: str(axiom) for axiom in model.axioms}
    return Explanation(
        result,
        program.title,
        verdict,
        going,
        _threads(program, machine) if machine else (),
        tuple((name, texts[name]) for name in verdict.axioms),
        seen,
        allowed,
        _reach(verdict, machine, settings) if machine else "",
    )


def _outcomes(
    source: SourceExecutions, machine: Machine, settings: Settings
) -> tuple[tuple[Observed, ...], int | None]:
    limits = settings.limits()
    try:
        seen = sorted(target_of(machine, settings, limits).outcomes())
        allowed = sum(1 for _ in source.within(limits).questions.outcomes())
    except LimitReached:
        return (), None
    return tuple(observed(source.program, each) for each in seen), allowed


def _threads(program: Program, machine: Machine) -> tuple[CompiledThread, ...]:
    shown = []
    for thread, code in zip(program.threads, machine.code, strict=True):
        operations = []
        for operation in thread.operations:
            block = tuple(
                str(rule) for rule in code if rule.instruction.operation == operation.index
            )
            span = operation.span
            operations.append((span.line, span.text, str(operation), block))
        place = f"device {thread.device}, work-group {thread.workgroup}"
        shown.append(CompiledThread(thread.name, place, tuple(operations)))
    return tuple(shown)


def _reach(verdict: Verdict, machine: Machine, settings: Settings) -> str:
    """How far the verdict reaches, in a sentence."""
    if verdict.within:
        bounds = ", ".join(f"{bound} {name}" for name, bound in verdict.within.items())
        words = f"Only executions within {bounds}"
        if "steps" in verdict.within:
            return f"{words}; {enough_steps(machine).total} steps would be enough for all of them."
        return f"{words}."
    l2 = "real L2s"
    if machine.elide_l2:
        l2 = "L2 left out, as with one device it makes no difference"
    if machine.elide_l2 and len(machine.devices) > 1:
        l2 = "L2s left out, as on this machine they are one memory"
    match verdict.word:
        case Word.SOUND | Word.VACUOUS:
            how = _how(settings.engine, machine)
            return f"Exact: it holds for every execution of the machine ({how}; {l2})."
        case Word.UNSOUND:
            shortest = verdict.execution is not None and verdict.execution.shortest
            claim = "none is shorter" if shortest else "no step of it can be left out"
            return f"Exact: the execution below was replayed on the machine, and {claim}."
        case Word.RACY:
            return "Exact: a program with a race has no meaning, so any compilation of it is right."
    return ""


def _how(engine: Engine, machine: Machine) -> str:
    """Why what an engine looked at is everything."""
    match engine:
        case Engine.EVENTS:
            return "no bound on steps, see docs/events-encoding.md"
        case Engine.UNROLL:
            return f"K* = {enough_steps(machine).total} steps are enough, see docs/machine.md"
        case Engine.EXPLICIT:
            return "every reachable state was visited"
        case _:
            assert_never(engine)
