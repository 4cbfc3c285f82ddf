"""The search: choose the cheapest candidate, put it to the tests, learn from what it fails.

From a test that fails under some codes it learns the strongest codes under which it still fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from rspverify.architecture.architecture import CellKind
from rspverify.engineering.repair.codes import Code
from rspverify.engineering.repair.space import (
    Chooser,
    Chosen,
    Codes,
    CodeSet,
    Nogood,
    Relation,
    RowSpace,
)
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.limits import LimitReached
from rspverify.verdict import WRONG, ProgressWord, Word

_FEW = 2
"""Rounds that stand for as many as a code can have, to see quickly that a test passes."""


class Generaliser:
    """Strengthens failing codes as long as the test fails; what is weaker fails, too."""

    def __init__(self, trials: Trials, rows: Mapping[int, RowSpace]) -> None:
        self._trials, self._rows, self._pool = trials, rows, trials.pool

    def nogood(self, trial: Trial, codes: Mapping[int, Code]) -> Nogood:
        """What an UNSOUND test teaches: no scheme has codes as weak as these all at once."""
        tops = {row: codes[row] for row in trial.rows}
        open_rows = [row for row in trial.rows if not self._rows[row].fixed]
        left = [
            row
            for row in open_rows
            if not self._strengthened(trial, tops, row, self._strongest(row, tops[row]))
        ]
        for row in left:
            for stronger in self._steps(row, tops):
                self._strengthened(trial, tops, row, stronger)
        self._trials.confirm(trial, tops)
        sets = {row: CodeSet(Relation.WEAKER, tops[row]) for row in open_rows}
        return Nogood(sets, trial.test.file, Word.UNSOUND.value)

    def _strengthened(
        self, trial: Trial, tops: dict[int, Code], row: int, stronger: Sequence[Code]
    ) -> bool:
        """Put the last of some codes into its row if the test fails with each of them still."""
        if not all(self._trials.fails(trial, {**tops, row: code}) for code in stronger):
            return False
        tops[row] = stronger[-1]
        return True

    def _rounds(self, row: int) -> Sequence[int]:
        """How often something stands in a code, to be tried one after the other."""
        most = self._rows[row].kinds.length - 1
        return sorted({min(_FEW, most), most})

    def _strongest(self, row: int, code: Code) -> list[Code]:
        """All that any code of the row with this access can have, as often as it can; the access as
        strong as can be."""
        kinds = self._rows[row].kinds
        accesses = [self._stronger(it, kinds.accesses) for it in code if it in self._pool.accesses]
        takes, order = self._widest(kinds.takes), self._widest(kinds.order)
        frees = tuple(self._pool.frees[each] for each in reversed(takes))
        return [
            (
                *takes,
                *self._before(around),
                *chain(*((it, *around) for it in accesses)),
                *frees,
            )
            for around in (order * rounds for rounds in self._rounds(row))
        ]

    def _before(self, around: Code) -> Code:
        """Of these, those that mean something before an access."""
        return tuple(each for each in around if each not in self._pool.behind)

    def _stronger(self, access: int, others: Code) -> int:
        """The strongest of accesses that may stand in the place of one, or itself."""
        above = [it for it in self._widest(others) if it in self._pool.covered_by[access]]
        return above[0] if above else access

    def _widest(self, some: Code) -> Code:
        """Of these instructions those that no other of them is stronger than."""
        covered_by = self._pool.covered_by
        return tuple(each for each in some if covered_by[each].isdisjoint({*some} - {each}))

    def _steps(self, row: int, tops: Mapping[int, Code]) -> Iterator[Sequence[Code]]:
        """Stronger codes to try in the place of the one that the row has by then."""
        kinds, covered_by = self._rows[row].kinds, self._pool.covered_by
        for take in self._widest(kinds.takes):
            yield from self._locked(tops[row], take)
        for place in range(len(tops[row]) - 1, -1, -1):
            for wider in (*self._widest(kinds.order), *self._widest(kinds.accesses)):
                if wider != tops[row][place] and wider in covered_by[tops[row][place]]:
                    yield [(*tops[row][:place], wider, *tops[row][place + 1 :])]
        gaps = [at for at, each in enumerate(tops[row]) if self._lock(each) is None]
        strongest_first = tuple(
            sorted(kinds.order, key=lambda it: -sum(it in covered_by[e] for e in kinds.order))
        )
        for gap in (len(tops[row]), *reversed(gaps)):
            before, after = tops[row][:gap], tops[row][gap:]
            inserted: Code = ()
            held = self._pool.accesses.isdisjoint(before) and kinds.accesses
            for each in self._before(strongest_first) if held else strongest_first:
                if covered_by[each].isdisjoint(inserted):
                    wanted, previous = (*inserted, each), tops[row]
                    yield [(*before, *wanted * rounds, *after) for rounds in self._rounds(row)]
                    if tops[row] is not previous:
                        inserted = wanted

    def _lock(self, instruction: int) -> CellKind | None:
        return self._pool.instructions[instruction].lock

    def _locked(self, code: Code, take: int) -> Iterator[Sequence[Code]]:
        """The code with a lock held all through it, in place of any such lock."""
        rest = tuple(each for each in code if self._lock(each) is not self._lock(take))
        if rest:
            yield [(take, *rest, self._pool.frees[take])]


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
        rows: Mapping[int, RowSpace],
        trials: Trials,
        further: Callable[[Codes], Trial | None],
        on_step: Callable[[int, int], None],
    ) -> None:
        self.chooser = Chooser(rows)
        self.trials = trials
        self.candidates = 0
        self.killers: Counter[tuple[str, str]] = Counter()
        self.undecided: list[tuple[str, Codes]] = []
        self.last: Codes = {}
        self.passes = False
        self._generaliser = Generaliser(trials, rows)
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
