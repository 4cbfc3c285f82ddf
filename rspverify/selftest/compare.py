"""One program under one scheme, decided in every way there is: all answers must be the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from rspverify.axiomatic import MemoryModel, Questions, load_model
from rspverify.limits import LimitReached
from rspverify.litmus import Program
from rspverify.machine import enough_steps, find_deadlock, replay_deadlock
from rspverify.scheme import Scheme, compile_program
from rspverify.soundness.case import Case, machine_of
from rspverify.soundness.check import check
from rspverify.soundness.progress import deadlock_by_events
from rspverify.soundness.settings import DEFAULT_MODEL, L2, Engine, Reading, Settings
from rspverify.soundness.target import target_of
from rspverify.source import require
from rspverify.verdict import Outcome, ProgressWord, Word

Kind = tuple[str, ...]
"""What disagrees: outcomes and the two ways; verdict and a way; progress; or a failing way."""

_CHECK = "check by "
_SUSPICION = " by its own rf and mo"
"""What `check` says of a witness violation that may be allowed in the outcome reading."""

_BRIEF = 1.0
"""Seconds for a verdict that is known to be UNSOUND, of a large program."""


@dataclass(frozen=True)
class Choices:
    """How a pair is decided.

    states: limit of the explicit engine; steps: where K* is more, the unroll engine is not asked;
    seconds: limit of each question; turn: `check` is asked by one engine that found the outcomes,
    by which one goes in turn, and in the witness reading by events; None: it is not asked;
    l2s: how L2 is treated on one device, one after the other.
    """

    engines: tuple[Engine, ...] = tuple(Engine)
    states: int = 20_000
    steps: int = 28
    seconds: float | None = 5.0
    turn: int | None = 0
    l2s: tuple[L2, ...] = (L2.AUTO, L2.REAL)

    def of_outcomes(self) -> Choices:
        """The same for outcomes alone, with L2s treated as `check` does by default."""
        return replace(self, turn=None, l2s=(L2.AUTO,))

    def narrowed(self, kind: Kind) -> Choices:
        """The choices that are enough to see a disagreement of a kind."""
        if kind[0] == "progress" or (kind[0] == "failure" and kind[1].startswith("progress")):
            return replace(self, engines=(Engine.EXPLICIT,), l2s=(L2.AUTO,))
        named = {word.split(",")[0].removeprefix(_CHECK) for word in kind}
        engines = tuple(each for each in self.engines if each.value in named)
        turn = None if kind[0] == "outcomes" else 0
        l2s = self.l2s if any(L2.REAL.value in word for word in kind) else (L2.AUTO,)
        return replace(self, engines=engines or self.engines, turn=turn, l2s=l2s)


def engines_named(names: str | None) -> tuple[Engine, ...]:
    """The engines of a list joined by commas, without one all that there are.

    Raises InputError unless it names engines.
    """
    if names is None:
        return tuple(Engine)
    chosen = dict.fromkeys(word.strip() for word in names.split(","))
    known = ", ".join(engine.value for engine in Engine)
    wrong = ", ".join(word or "nothing" for word in chosen if word not in set(Engine))
    require(not wrong, f"--engines must be some of {known}, joined by commas, not {wrong}")
    return tuple(engine for engine in Engine if engine.value in chosen)


@dataclass(frozen=True)
class Way:
    """A way to find the outcomes of a compiled program."""

    engine: Engine
    l2: L2 = L2.AUTO

    def __str__(self) -> str:
        return self.engine.value if self.l2 is L2.AUTO else f"{self.engine.value}, real L2"


@dataclass(frozen=True)
class Difference:
    """Two answers that must be the same and are not, or an engine that failed."""

    kind: Kind
    words: str


@dataclass(frozen=True)
class Comparison:
    """What was found of one pair.

    decided: the engines that found its outcomes; skipped: why each other answer was not given;
    word: the verdict by definition, from the outcomes of the first engine, None if unknown.
    """

    decided: tuple[str, ...]
    skipped: Mapping[str, str]
    word: Word | None
    differences: tuple[Difference, ...]


Outcomes = frozenset[Outcome]


def compare(program: Program, scheme: Scheme, choices: Choices) -> Comparison:
    """Every engine's outcomes and verdict. Raises InputError if the scheme lacks a row."""
    asking = _Asking(program, scheme, choices)
    answers = asking.all_outcomes()
    asking.differing(answers)
    decided = [way.engine for way in answers if way.l2 is L2.AUTO]
    word = None
    if len(decided) >= min(2, len(choices.engines)) and choices.turn is not None:
        word = asking.verdicts(decided, next(iter(answers.values())))
    if choices.turn is not None:
        asking.progress()
    names = tuple(engine.value for engine in decided)
    return Comparison(names, asking.skipped, word, tuple(asking.differences))


class _Asking:
    """Asks every question about one pair; notes what was not answered, and what differs."""

    def __init__(self, program: Program, scheme: Scheme, choices: Choices) -> None:
        self._program = program
        self._scheme = scheme
        self._compiled = compile_program(program, scheme)
        self._choices = choices
        self.skipped: dict[str, str] = {}
        self.differences: list[Difference] = []

    def all_outcomes(self) -> dict[Way, Outcomes]:
        """The outcomes by every way; none more where nothing could be compared.

        By the explicit engine first: it is the reference.
        """
        answers: dict[Way, Outcomes] = {}
        engines = sorted(self._choices.engines, key=lambda engine: engine is not Engine.EXPLICIT)
        one_device = len({thread.device for thread in self._compiled.threads}) == 1
        for place, engine in enumerate(engines):
            if len(engines) > 1 and not answers and place == len(engines) - 1:
                break
            for l2 in self._choices.l2s if one_device else (L2.AUTO,):
                way = Way(engine, l2)
                found = self._outcomes(way)
                if found is not None:
                    answers[way] = found
                elif l2 is L2.AUTO:
                    break
        return answers

    def _settings(self, way: Way) -> Settings:
        return Settings(
            way.engine, seconds=self._choices.seconds, states=self._choices.states, l2=way.l2
        )

    def _outcomes(self, way: Way) -> Outcomes | None:
        settings = self._settings(way)
        try:
            if way.engine is Engine.UNROLL and self._steps(way) > self._choices.steps:
                self.skipped[str(way)] = self._too_many_steps()
                return None
            machine = machine_of(self._compiled, settings)
            return frozenset(target_of(machine, settings, settings.limits()).outcomes())
        except LimitReached as limit:
            self.skipped[str(way)] = str(limit)
        except Exception as error:
            self._failed(str(way), error)
        return None

    def _steps(self, way: Way) -> int:
        """K*, which says how large a pair is."""
        return enough_steps(machine_of(self._compiled, self._settings(way))).total

    def _too_many_steps(self) -> str:
        return f"K* of more than {self._choices.steps} steps"

    def _failed(self, way: str, error: Exception) -> None:
        name = type(error).__name__
        self.differences.append(
            Difference(("failure", way, name), f"{way} failed: {name}: {error}")
        )

    def differing(self, answers: Mapping[Way, Outcomes]) -> None:
        """Notes each way whose outcomes are not those of the first."""
        for way, found in answers.items():
            first, reference = next(iter(answers.items()))
            if found != reference:
                lacks, adds = _listed(reference - found), _listed(found - reference)
                words = f"{way} lacks {lacks} and adds {adds}, compared with {first}"
                self.differences.append(Difference(("outcomes", str(first), str(way)), words))

    def progress(self) -> None:
        """Notes where search and events differ in whether the program can get stuck.

        What they find is replayed, too.
        """
        settings = self._settings(Way(Engine.EVENTS))
        machine = machine_of(self._compiled, settings)
        lines = [operation.span.line for operation in self._program.operations]
        answers: dict[str, ProgressWord] = {}
        for name, find in (("search", find_deadlock), ("events", deadlock_by_events)):
            try:
                found = find(machine, settings.limits())
                if found.schedule is not None:
                    replay_deadlock(machine, found.schedule, lines)
                stuck = found.schedule is not None
                answers[name] = ProgressWord.STUCK if stuck else ProgressWord.LIVE
            except LimitReached as limit:
                self.skipped[f"progress by {name}"] = str(limit)
            except Exception as error:
                self._failed(f"progress by {name}", error)
        if len(set(answers.values())) > 1:
            words = ", ".join(f"{name} says {word}" for name, word in answers.items())
            self.differences.append(Difference(("progress", *answers), f"progress: {words}"))

    def verdicts(self, engines: Sequence[Engine], found: Outcomes) -> Word | None:
        """The verdict by definition (docs/semantics.md, Soundness); does `check` say it?

        It is asked by the engine whose turn it is, and in the witness reading.
        """
        model = _model()
        try:
            expected = self._by_definition(model, found)
        except LimitReached as limit:
            self.skipped["model"] = str(limit)
            return None
        asked = [(engines[(self._choices.turn or 0) % len(engines)], Reading.OUTCOME)]
        if Engine.EVENTS in engines:
            asked.append((Engine.EVENTS, Reading.WITNESS))
        for engine, reading in asked:
            self._verdict(model, engine, reading, expected)
        return expected

    def _verdict(
        self, model: MemoryModel, engine: Engine, reading: Reading, expected: Word
    ) -> None:
        """Notes a `check` that says what is not so, or that does not say."""
        who = _CHECK + engine.value + (", witness" if reading is Reading.WITNESS else "")
        settings = replace(self._settings(Way(engine)), reading=reading)
        if expected is Word.UNSOUND and self._steps(Way(engine)) > self._choices.steps:
            # The search for a shortest counterexample may cost more than all else here: a wrong
            # SOUND is said before that.
            settings = replace(settings, seconds=min(_BRIEF, settings.seconds or _BRIEF))
        try:
            verdict = check(Case(self._program, self._scheme, model, settings))
        except Exception as error:
            self._failed(who, error)
            return
        if verdict.word is Word.UNSUPPORTED:
            self.skipped[who] = verdict.reason
            return
        if verdict.word is Word.UNKNOWN:
            suspected = reading is Reading.WITNESS and _SUSPICION in verdict.reason
            if not suspected or expected is Word.SOUND:
                self.skipped[who] = f"only a suspicion{_SUSPICION}" if suspected else verdict.reason
                return
        if verdict.word is not expected:
            words = f"{who} says {verdict.word}, by definition it is {expected}"
            self.differences.append(Difference(("verdict", who), words))

    def _by_definition(self, model: MemoryModel, found: Outcomes) -> Word:
        limits = Settings(seconds=self._choices.seconds).limits()
        source = Questions(self._program, model, limits)
        if source.race() is not None:
            return Word.RACY
        if not found:
            return Word.VACUOUS
        wrong = any(not source.allows(outcome) for outcome in sorted(found))
        return Word.UNSOUND if wrong else Word.SOUND


@cache
def _model() -> MemoryModel:
    return load_model(DEFAULT_MODEL)


def _listed(outcomes: Outcomes) -> str:
    """The first few of some outcomes."""
    ordered = sorted(outcomes)
    shown = [
        " ".join([*(f"{i}:{v}" for i, v in it.reads), *(f"{x}={v}" for x, v in it.memory)])
        for it in ordered[:3]
    ]
    more = [f"{len(ordered) - 3} more"] if len(ordered) > 3 else []
    return "; ".join([*shown, *more]) or "nothing"
