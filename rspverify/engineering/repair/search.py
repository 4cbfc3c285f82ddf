"""The search: choose the cheapest candidate, put it to the tests, learn from what it fails."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from rspverify.engineering.repair.choice import Chooser, Chosen
from rspverify.engineering.repair.codes import Code, form_of
from rspverify.engineering.repair.learning import Teacher
from rspverify.engineering.repair.space import Above, Beginning, Codes, Codeset, Exactly, Nogood
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.limits import LimitReached
from rspverify.verdict import ProgressWord, Word

_PATIENCE = 50
"""So many candidates are put aside undecided. Of each nothing is learnt but not to choose it."""


@dataclass
class Tally:
    """How far a search is, and what it took.

    killers: how many candidates each test ruled out. undecided: tests that some candidate was put
    aside for, as nothing was decided; what is cheapest is then not known.
    """

    candidates: int = 0
    killers: Counter[tuple[str, str]] = field(default_factory=Counter)
    undecided: list[tuple[str, Codes]] = field(default_factory=list)
    least: int = 0
    found: int = 0
    started: float = field(default_factory=time.perf_counter)
    last: Codes | None = None


Further = Callable[[Mapping[int, Code]], Trial | None]
"""Looks for a test beside those known that a survivor fails; such a one becomes a trial."""


class Search:
    """The cheapest schemes that pass every test, by counterexample-guided search.

    With every candidate that fails, the solver learns a nogood, so that none is chosen twice;
    a candidate that passes is of the least cost, as whatever is cheaper was ruled out.
    """

    def __init__(
        self,
        chooser: Chooser,
        trials: Trials,
        teacher: Teacher,
        further: Further,
        on_step: Callable[[Tally], None],
    ) -> None:
        self.chooser = chooser
        self.trials = trials
        self.tally = Tally()
        self._teacher = teacher
        self._further = further
        self._on_step = on_step

    def cheapest(self) -> Chosen | None:
        """A scheme of the least cost; None if there is none."""
        while (chosen := self.chooser.cheapest()) is not None:
            self.tally.least = chosen.cost
            if self._stands(chosen):
                return chosen
        return None

    def nearest(self, cost: int, held: Codes | None = None) -> Iterator[Chosen]:
        """Schemes that cost at most so much, the nearest to what is given first.

        None is stronger than one that came before. held: what some rows must have.
        """
        while (chosen := self.chooser.nearest(cost, held)) is not None:
            if self._stands(chosen):
                yield chosen
                self.exclude(chosen.codes)

    def exclude(self, codes: Mapping[int, Code]) -> None:
        """Choose neither these codes together any more, nor codes that are all stronger."""
        sets: dict[int, Codeset] = {}
        for row, code in codes.items():
            form = form_of(code, self.chooser.rows[row].alphabet)
            assert form is not None
            sets[row] = Above(code, form)
        self.chooser.exclude(Nogood(sets, "", "found"))

    def _stands(self, chosen: Chosen) -> bool:
        """Whether a candidate passes all that it is put to; otherwise something was learnt."""
        self.tally.candidates += 1
        self.tally.last = chosen.codes
        nogood = self._refusal(chosen.codes)
        if nogood is not None:
            self.tally.killers[nogood.test, nogood.word] += 1
            self.chooser.learn(nogood)
        self._on_step(self.tally)
        return nogood is None

    def _refusal(self, codes: Mapping[int, Code]) -> Nogood | None:
        failure = self.trials.first_failure(codes)
        if failure is not None:
            trial, word = failure
            if word is Word.UNSOUND:
                return self._teacher.nogood(trial, codes)
            return self._put_aside(trial, codes, word)
        for trial in self.trials.trials:  # What passes by monotonicity alone is decided now.
            word = self.trials.word(trial, codes)
            if word is not Word.SOUND:
                return self._put_aside(trial, codes, word)
        for trial in self.trials.trials:
            progress = self.trials.progress(trial, codes)
            if progress is not ProgressWord.LIVE:
                return self._put_aside(trial, codes, progress)
        found = self._further(codes)
        if found is not None:
            return self._teacher.nogood(found, codes)
        return None

    def _put_aside(
        self, trial: Trial, codes: Mapping[int, Code], word: Word | ProgressWord
    ) -> Nogood:
        """Of what stops, all codes that stop alike; of what is not decided, these codes alone."""
        part = dict(trial.part(codes))
        alone: dict[int, Codeset] = {row: Exactly(code) for row, code in part.items()}
        if word in (Word.UNKNOWN, ProgressWord.UNKNOWN):
            self.tally.undecided.append((trial.test.file, part))
            if len(self.tally.undecided) > _PATIENCE:
                raise LimitReached(
                    f"more than {_PATIENCE} candidates were not decided; give each test more time"
                )
        elif (known := self.trials.beginnings(trial, codes)) is not None:
            alone = {
                row: Exactly(part[row]) if length is None else Beginning(part[row][:length])
                for row, length in known.items()
            }
        return Nogood(alone, trial.test.file, word.value)
