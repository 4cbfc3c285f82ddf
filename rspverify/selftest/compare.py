"""One program under one scheme, decided in every way there is: all answers must be the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache

from msgspec import Struct

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached
from rspverify.litmus.program import Program
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.firings import enough_steps
from rspverify.machine.machine import Machine
from rspverify.machine.state_graph import find_hang, replay_hang
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case, machine_of
from rspverify.soundness.check import check
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import DEFAULT_MODEL, L2, Engine, Reading, Settings
from rspverify.source import require
from rspverify.verdict import Outcome, ProgressWord, Word

Kind = tuple[str, ...]
"""What disagrees: outcomes and the two ways; verdict and a way; progress; or a failing way."""

_CHECK = "check by "
_LETTER = "explicit, nothing left out"
_SUSPICION = " by its own rf and mo"
"""What `check` says of a witness violation that may be allowed in the outcome reading."""

_BRIEF = 1.0
"""Seconds for a verdict that is known to be UNSOUND, of a large program."""

_ALL_STATES = 2_500
"""Of a machine with so many states, progress is told from all of them, too."""


class Choices(Struct, frozen=True):
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


class Difference(Struct, frozen=True):
    """Two answers that must be the same and are not, or an engine that failed."""

    kind: Kind
    words: str


class Comparison(Struct, frozen=True):
    """What was found of one pair.

    decided: the engines that found its outcomes; skipped: why each other answer was not given;
    word: the verdict by definition, from the outcomes of the first engine, None if unknown.
    """

    decided: tuple[Engine, ...]
    skipped: Mapping[str, str]
    word: Word | None
    differences: tuple[Difference, ...]


Outcomes = frozenset[Outcome]


def compare(program: Program, scheme: Scheme, choices: Choices) -> Comparison:
    """Every engine's outcomes and verdict. Raises InputError if the scheme lacks a row."""
    asking = _Asking(program, scheme, choices)
    answers = asking.all_outcomes()
    decided = [Engine(way) for way in answers if way in set(Engine)]
    word = None
    if choices.turn is not None:
        if len(decided) >= min(2, len(choices.engines)):
            word = asking.verdicts(decided, choices.turn, next(iter(answers.values())))
        asking.progress()
    return Comparison(tuple(decided), asking.skipped, word, tuple(asking.differences))


class _Asking:
    """Asks every question about one pair; notes what was not answered, and what differs."""

    def __init__(self, program: Program, scheme: Scheme, choices: Choices) -> None:
        self._program = program
        self._scheme = scheme
        self._compiled = scheme.compiled(program)
        self._choices = choices
        self.skipped: dict[str, str] = {}
        self.differences: list[Difference] = []

    def all_outcomes(self) -> dict[str, Outcomes]:
        """The outcomes by every way, and notes those that are not as the first; none more where
        nothing could be compared.

        By the explicit engine first: it is the reference.
        """
        answers: dict[str, Outcomes] = {}
        engines = sorted(self._choices.engines, key=lambda engine: engine is not Engine.EXPLICIT)
        one_device = len({thread.device for thread in self._compiled.threads}) == 1
        for place, engine in enumerate(engines):
            if len(engines) > 1 and not answers and place == len(engines) - 1:
                break
            for l2 in self._choices.l2s if one_device else (L2.AUTO,):
                way = engine.value if l2 is L2.AUTO else f"{engine.value}, {l2.value} L2"
                found = self._outcomes(way, self._settings(engine, l2))
                if found is not None:
                    answers[way] = found
                elif l2 is L2.AUTO:
                    break
        if Engine.EXPLICIT.value in answers and self._scheme.machine.path:
            letter = self._to_the_letter()
            answers |= {} if letter is None else {_LETTER: letter}
        for way, found in answers.items():
            first, reference = next(iter(answers.items()))
            if found != reference:
                lacks, adds = _listed(reference - found), _listed(found - reference)
                words = f"{way} lacks {lacks} and adds {adds}, compared with {first}"
                self._differ(words, "outcomes", first, way)
        return answers

    def _settings(self, engine: Engine, l2: L2 = L2.AUTO) -> Settings:
        return Settings(engine, seconds=self._choices.seconds, states=self._choices.states, l2=l2)

    def _outcomes(self, way: str, settings: Settings) -> Outcomes | None:
        with self._noting(way):
            machine = machine_of(self._compiled, settings)
            if settings.engine is Engine.UNROLL and self._is_large(machine):
                raise LimitReached(f"K* of more than {self._choices.steps} steps")
            return frozenset(MachineSide(machine, settings, settings.limits()).outcomes())
        return None

    def _to_the_letter(self) -> Outcomes | None:
        """By the file to the letter; of machines that do not ship there is more to be doubted."""
        with self._noting(_LETTER):
            machine = Machine(self._compiled, elide=False, evict=True)
            limits = self._settings(Engine.EXPLICIT).limits()
            return ExplicitMachine(machine, reduced=False).search(limits).outcomes
        return None

    def _is_large(self, machine: Machine) -> bool:
        budget = enough_steps(machine)
        return budget.unbounded is not None or budget.total > self._choices.steps

    @contextmanager
    def _noting(self, way: str) -> Iterator[None]:
        """Notes why an answer is missing: a limit, or a mistake of ours."""
        try:
            yield
        except LimitReached as limit:
            self.skipped[way] = str(limit)
        except Exception as error:
            name = type(error).__name__
            self._differ(f"{way} failed: {name}: {error}", "failure", way, name)

    def _differ(self, words: str, *kind: str) -> None:
        self.differences.append(Difference(kind, words))

    def progress(self) -> None:
        """Notes where the search and, of a small machine, one that leaves nothing out differ in
        whether the program can get stuck. What they find is replayed, too.
        """
        settings = self._settings(Engine.EXPLICIT)
        machine = machine_of(self._compiled, settings)
        lines = [operation.span.line for operation in self._program.operations]
        limits = settings.limits()
        few = replace(limits, states=min(settings.states, _ALL_STATES))
        answers: dict[str, ProgressWord] = {}
        for name, reduced, most in (("search", True, limits), ("all states", False, few)):
            with self._noting(f"progress by {name}"):
                hang = find_hang(machine, most, reduced=reduced).hang
                if hang is not None:
                    replay_hang(machine, hang, lines)
                answers[name] = ProgressWord.LIVE if hang is None else ProgressWord.STUCK
        if len(set(answers.values())) > 1:
            words = ", ".join(f"{name} says {word}" for name, word in answers.items())
            self._differ(f"progress: {words}", "progress", *answers)

    def verdicts(self, engines: Sequence[Engine], turn: int, found: Outcomes) -> Word | None:
        """The verdict by definition (docs/semantics.md, Soundness); does `check` say it?

        It is asked by the engine whose turn it is, and in the witness reading.
        """
        model = _model()
        try:
            expected = self._by_definition(model, found)
        except LimitReached as limit:
            self.skipped["model"] = str(limit)
            return None
        self._verdict(model, self._settings(engines[turn % len(engines)]), expected)
        if Engine.EVENTS in engines:
            by_witness = replace(self._settings(Engine.EVENTS), reading=Reading.WITNESS)
            self._verdict(model, by_witness, expected)
        return expected

    def _verdict(self, model: MemoryModel, settings: Settings, expected: Word) -> None:
        """Notes a `check` that says what is not so, or that does not say."""
        witness = settings.reading is Reading.WITNESS
        who = _CHECK + settings.engine.value + (", witness" if witness else "")
        if expected is Word.UNSOUND and self._is_large(machine_of(self._compiled, settings)):
            # The search for a shortest counterexample may cost more than all else here: a wrong
            # SOUND is said before that.
            settings = replace(settings, seconds=min(_BRIEF, settings.seconds or _BRIEF))
        with self._noting(who):
            verdict = check(Case(self._program, self._scheme, model, settings))
            suspected = witness and _SUSPICION in verdict.reason
            if verdict.word is Word.UNKNOWN and suspected and expected is Word.SOUND:
                self.skipped[who] = f"only a suspicion{_SUSPICION}"
            elif verdict.word is Word.UNSUPPORTED or (
                verdict.word is Word.UNKNOWN and not suspected
            ):
                self.skipped[who] = verdict.reason
            elif verdict.word is not expected:
                words = f"{who} says {verdict.word}, by definition it is {expected}"
                self._differ(words, "verdict", who)

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
