"""Everything that can be said of one test under one scheme."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import assert_never

from rspverify.answers import CompiledThread, Explanation, Reached
from rspverify.architecture.architecture import Architecture
from rspverify.judge.inputs import LoadedTest, NamedScheme
from rspverify.judge.verdicts import ProgressQuestion, Verdicts
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.mapping.mapped import Mapped, untold_in
from rspverify.records import replace
from rspverify.soundness.case import decided, machine_of, side_of
from rspverify.soundness.machine_side import engine_of
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.wording import observed
from rspverify.verdict import WITHOUT_PROGRESS, Outcome, Verdict, Word

MOST_LISTED = 100
"""So many outcomes that a machine reaches are listed."""
MOST_COUNTED = 1_000
"""So many outcomes that a model allows are counted."""


def explain(test: LoadedTest, scheme: NamedScheme, verdicts: Verdicts) -> Explanation:
    """The verdict with all that it rests on. Raises InputError where the inputs are wrong."""
    settings = verdicts.settings
    limits = settings.limits()
    question = verdicts.question(test, scheme)
    answer, progress = verdicts.answer(test, scheme), None
    verdict = answer.verdict
    program = decided(test.program, verdicts.model, (scheme.translator,), settings)
    if settings.progress and verdict.word not in WITHOUT_PROGRESS:
        progress = verdicts.judge.ask(ProgressQuestion(question))
    going = progress.progress if progress else None
    result = question.result(answer, progress)
    if result.internal is not None:
        return Explanation(result, program.title, verdict, going)
    texts = {axiom.name: str(axiom) for axiom in verdicts.model.axioms}
    found = Explanation(
        result,
        program.title,
        verdict,
        going,
        axioms=tuple((name, texts[name]) for name in verdict.axioms),
    )
    if verdict.word not in (Word.UNSUPPORTED, Word.ERROR):
        with suppress(LimitReached), limits.enforced():
            code = scheme.translator.compiled(program)
            if isinstance(code, Mapped):
                threads = _threads(program, _any(code))
                return replace(found, threads=threads, reach=_of_a_model(verdict, code))
            machine = machine_of(code, settings)
            threads = _threads(program, _texts(machine))
            reach = _reach(verdict, machine, code.machine, settings)
            return replace(found, threads=threads, reach=reach)
    return found


class Reach:
    """The outcomes that the machine reaches, beside those that the model allows; a few of many.

    What `find` has found is there whatever ends it. limits: their clock may run already.
    """

    def __init__(
        self, test: LoadedTest, scheme: NamedScheme, verdicts: Verdicts, limits: Limits
    ) -> None:
        program = decided(test.program, verdicts.model, (scheme.translator,), verdicts.settings)
        self._program = program
        self._made = scheme.translator.compiled(program)
        shared = verdicts.source(test)
        same = shared.program is program
        self._source = shared if same else ModelSide(program, verdicts.model)
        self._settings, self._limits = verdicts.settings, limits
        self._found: list[Outcome] = []
        self._all = False
        self._stopped: str | None = "interrupted"
        self._allowed: int | None = None
        self._others: list[Outcome] = []

    def find(self) -> None:
        """Look for outcomes of the machine, and unless there are more, count those allowed."""
        try:
            for outcome in side_of(self._made, self._settings, self._limits).outcomes():
                if len(self._found) == MOST_LISTED:
                    self._stopped = None
                    return
                self._found.append(outcome)
            self._all, self._stopped = True, None
            source = self._source.under(self._limits, untold_in(self._made))
            every = source.questions.outcomes()
            allowed = list(islice(every, MOST_COUNTED + 1))
            self._allowed = len(allowed)
            self._others = sorted({*allowed} - {*self._found})[:MOST_LISTED]
        except LimitReached as limit:
            self._stopped = None if self._all else str(limit)

    def answer(self) -> Reached:
        """As far as it is known."""
        outcomes = tuple(observed(self._program, each) for each in sorted(self._found))
        others = tuple(observed(self._program, each) for each in self._others)
        allowed = self._allowed and min(self._allowed, MOST_COUNTED)
        beyond = allowed != self._allowed
        target = isinstance(self._made, Mapped)
        return Reached(outcomes, self._all, self._stopped, allowed, beyond, others, target)


def _texts(machine: Machine) -> Mapping[int, tuple[str, ...]]:
    """The code of each operation."""
    found: dict[int, tuple[str, ...]] = {}
    for rule in (it for code in machine.code for it in code):
        index = rule.instruction.operation
        found[index] = (*found.get(index, ()), str(rule))
    return found


def _threads(program: Program, texts: Mapping[int, tuple[str, ...]]) -> tuple[CompiledThread, ...]:
    shown = []
    for thread in program.threads:
        operations = []
        for operation in thread.operations:
            span, block = operation.span, texts.get(operation.index, ())
            operations.append((span.line, span.text, str(operation), block))
        place = f"device {thread.device}, work-group {thread.workgroup}"
        shown.append(CompiledThread(thread.name, place, tuple(operations)))
    return tuple(shown)


def _any(code: Mapped) -> Mapping[int, tuple[str, ...]]:
    """The code of each operation; where it may have several, one after the other."""
    found: dict[int, tuple[str, ...]] = {}
    for index in code.texts:
        different = dict.fromkeys(it.texts[index] for it in code.all)
        first, *others = different
        found[index] = (*first, *(word for each in others for word in ("or", *each)))
    return found


def _of_a_model(verdict: Verdict, code: Mapped) -> str:
    """How far a verdict on a target with a model reaches, in a sentence."""
    if verdict.within:
        bounds = ", ".join(f"{bound} {name}" for name, bound in verdict.within.items())
        return f"Only executions within {bounds}."
    match verdict.word:
        case Word.SOUND | Word.VACUOUS:
            return f"Exact: it holds for every execution that {code.model.name} allows the code."
        case Word.UNSOUND if verdict.race is not None:
            return f"Exact: {code.model.name} allows an execution of the code that is undefined."
        case Word.UNSOUND:
            return (
                f"Exact: {code.model.name} allows the execution below, which was found again by "
                "brute force."
            )
    return ""


def _reach(
    verdict: Verdict, machine: Machine, architecture: Architecture, settings: Settings
) -> str:
    """How far the verdict reaches, in a sentence; with the switches that it rests on."""
    if verdict.within:
        bounds = ", ".join(f"{bound} {name}" for name, bound in verdict.within.items())
        words = f"Only executions within {bounds}"
        if "steps" in verdict.within:
            return f"{words}; {enough_steps(machine).total} steps would be enough for all of them."
        return f"{words}."
    left_out = sorted({each.name for each in machine.elided})
    rest = f"{' and '.join(left_out) or 'nothing'} left out"
    if left_out:
        rest += ", as with one device it makes no difference"
    match verdict.word:
        case Word.SOUND | Word.VACUOUS:
            how = _how(engine_of(machine, settings), machine)
            switched = any(it.on for it in architecture.switches)
            assumed = f" {architecture.name}" if switched else ""
            return f"Exact: it holds for every execution of the machine{assumed} ({how}; {rest})."
        case Word.UNSOUND | Word.OPEN:
            shortest = verdict.execution is not None and verdict.execution.shortest
            claim = "none is shorter" if shortest else "no step of it can be left out"
            return f"Exact: the execution below was replayed on the machine, and {claim}."
        case Word.RACY:
            what = "race" if verdict.race is None or verdict.race.second else "fault"
            return (
                f"Exact: a program with a {what} has no meaning, so any compilation of it is right."
            )
    return ""


def _how(engine: Engine, machine: Machine) -> str:
    """Why what an engine looked at is everything."""
    match engine:
        case Engine.EVENTS:
            return "no bound on steps, see docs/proofs.md"
        case Engine.UNROLL:
            return f"K* = {enough_steps(machine).total} steps are enough, see docs/proofs.md"
        case Engine.EXPLICIT:
            return "every reachable state was visited"
        case _:
            assert_never(engine)
