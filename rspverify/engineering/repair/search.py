"""The search: choose the cheapest candidate, put it to the tests, learn from what it fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from rspverify.engineering.repair.choice import Chooser, Chosen
from rspverify.engineering.repair.generalisation import Generaliser
from rspverify.engineering.repair.space import Codes, CodeSet, Nogood, Relation
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.limits import LimitReached
from rspverify.verdict import WRONG, ProgressWord, Word

_PATIENCE = 50
"""So many candidates are put aside undecided. Of each nothing is learnt but not to choose it."""


class Search:
    """The cheapest schemes that pass every test, by counterexample-guided search.

    With every candidate that fails, the solver learns a nogood, so that none is chosen twice;
    a candidate that passes is of the least cost, as whatever is cheaper was ruled out.

    killers: how many candidates each test ruled out. undecided: tests that some candidate was put
    aside for, as nothing was decided; what is cheapest is then not known. last: the candidate that
    was tried last; passes: whether it is known to pass every test. further: what looks for a test
    beside those known that a survivor fails. on_step: what is called after each candidate with how
    many there were, and what none costs less than.
    """

    def __init__(
        self,
        chooser: Chooser,
        trials: Trials,
        generaliser: Generaliser,
        further: Callable[[Codes], Trial | None],
        on_step: Callable[[int, int], None],
    ) -> None:
        self.chooser = chooser
        self.trials = trials
        self.candidates = 0
        self.killers: Counter[tuple[str, str]] = Counter()
        self.undecided: list[tuple[str, Codes]] = []
        self.last: Codes = {}
        self.passes = False
        self._generaliser = generaliser
        self._further = further
        self._on_step = on_step

    def cheapest(self) -> Chosen | None:
        """A scheme of the least cost; None if there is none."""
        while (chosen := self.chooser.cheapest()) is not None:
            if self._stands(chosen):
                return chosen
        return None

    def nearest(self, cost: int) -> Iterator[Chosen]:
        """Schemes that cost at most so much, the nearest to what is given first.

        None is stronger than one that came before.
        """
        while (chosen := self.chooser.nearest(cost)) is not None:
            if self._stands(chosen):
                yield chosen
                sets = {row: CodeSet(Relation.STRONGER, it) for row, it in chosen.codes.items()}
                self.chooser.exclude(Nogood(sets, "", "found"))

    def _stands(self, chosen: Chosen) -> bool:
        """Whether a candidate passes all that it is put to; otherwise something was learnt."""
        self.candidates += 1
        self.last, self.passes = chosen.codes, False
        nogood = self._refusal(chosen.codes)
        if nogood is not None:
            self.killers[nogood.test, nogood.word] += 1
            self.chooser.learn(nogood)
        self._on_step(self.candidates, self.chooser.least)
        return nogood is None

    def _refusal(self, codes: Codes) -> Nogood | None:
        broken = self.trials.first_broken(codes)
        if broken is not None:
            return self._generaliser.nogood(broken, codes)
        failure = self.trials.first_failure(codes)
        if failure is not None:
            trial, word = failure
            if word in WRONG:
                return self._generaliser.nogood(trial, codes)
            return self._put_aside(trial, codes, word)
        for trial in self.trials.trials:  # What passes by monotonicity alone is decided now.
            word = self.trials.word(trial, codes)
            if word is not Word.SOUND:
                return self._put_aside(trial, codes, word)
        for trial in self.trials.trials:
            progress = self.trials.progress(trial, codes)
            if progress is not ProgressWord.LIVE:
                return self._put_aside(trial, codes, progress)
        self.passes = True
        found = self._further(codes)
        return None if found is None else self._generaliser.nogood(found, codes)

    def _put_aside(self, trial: Trial, codes: Codes, word: Word | ProgressWord) -> Nogood:
        """Of what stops, all codes that stop alike; of what is not decided, these codes alone."""
        part = dict(trial.part(codes))
        sets = {row: CodeSet(Relation.EXACTLY, code) for row, code in part.items()}
        if word in (Word.UNKNOWN, ProgressWord.UNKNOWN):
            self.undecided.append((trial.test.file, part))
            if len(self.undecided) > _PATIENCE:
                raise LimitReached(
                    f"more than {_PATIENCE} candidates were not decided; give each test more time"
                )
        elif (known := self.trials.beginnings(trial, codes)) is not None:
            sets = {
                row: sets[row] if length is None else CodeSet(Relation.LONGER, part[row][:length])
                for row, length in known.items()
            }
        return Nogood(sets, trial.test.file, word.value)
