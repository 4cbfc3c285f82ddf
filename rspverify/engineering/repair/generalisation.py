"""From a test that fails under some codes, the strongest codes under which it still fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from rspverify.architecture.architecture import CellKind
from rspverify.engineering.repair.codes import Code
from rspverify.engineering.repair.instructions import InstructionPool
from rspverify.engineering.repair.space import CodeSet, Nogood, Relation, RowSpace
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.verdict import Word

_FEW = 2
"""Rounds that stand for as many as a code can have, to see quickly that a test passes."""


class Generaliser:
    """Strengthens failing codes as long as the test fails; what is weaker fails, too."""

    def __init__(self, trials: Trials, rows: Mapping[int, RowSpace], pool: InstructionPool) -> None:
        self._trials, self._rows, self._pool = trials, rows, pool

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
