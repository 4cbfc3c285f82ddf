"""From a test that fails under some codes, the strongest codes under which it still fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from rspverify.engineering.repair.alphabet import Alphabet, Role
from rspverify.engineering.repair.codes import Code, form_of
from rspverify.engineering.repair.space import Below, Codeset, Nogood, RowSpace
from rspverify.engineering.repair.trials import Trial, Trials
from rspverify.verdict import Word

_FEW = 2
"""Rounds that stand for as many as a code can have, to see quickly that a test passes."""


class Teacher:
    """Strengthens failing codes as long as the test fails; what is weaker fails, too."""

    def __init__(self, trials: Trials, rows: Mapping[int, RowSpace], alphabet: Alphabet) -> None:
        self._trials = trials
        self._rows = rows
        self._alphabet = alphabet

    def nogood(self, trial: Trial, codes: Mapping[int, Code]) -> Nogood:
        """What an UNSOUND test teaches: no scheme has codes as weak as these all at once."""
        tops = {row: codes[row] for row in trial.rows}
        open_rows = [row for row in trial.rows if not self._rows[row].fixed]
        left = []
        for row in open_rows:
            if not self._strengthened(trial, tops, row, self._strongest(row, tops[row])):
                left.append(row)
        for row in left:
            for stronger in self._steps(row, tops):
                self._strengthened(trial, tops, row, stronger)
        sets: dict[int, Codeset] = {}
        for row in open_rows:
            form = form_of(tops[row], self._alphabet)
            assert form is not None
            sets[row] = Below(tops[row], form)
        return Nogood(sets, trial.test.file, Word.UNSOUND.value)

    def _strengthened(
        self,
        trial: Trial,
        tops: dict[int, Code],
        row: int,
        stronger: Callable[[int], Code | None],
    ) -> bool:
        """Put the stronger code into its row if the test fails with it still.

        stronger: the code, with so many rounds of what is repeated in it.
        """
        rounds = self._rows[row].kinds.length - 1
        for number in dict.fromkeys((min(_FEW, rounds), rounds)):
            code = stronger(number)
            if code is None or not self._trials.fails(trial, {**tops, row: code}):
                return False
        assert code is not None
        tops[row] = code
        return True

    def _strongest(self, row: int, code: Code) -> Callable[[int], Code | None]:
        """All that any code of the row with this access can have, as often as it can."""
        kinds = self._rows[row].kinds
        accesses = [each for each in code if self._alphabet.role[each] is Role.ACCESS]
        takes = self._widest(kinds.takes)

        def build(rounds: int) -> Code:
            around = self._widest(kinds.order) * rounds
            body = (*around, *(each for access in accesses for each in (access, *around)))
            frees = tuple(self._alphabet.frees[each] for each in reversed(takes))
            return (*takes, *body, *frees)

        return build

    def _widest(self, letters: tuple[int, ...]) -> Code:
        """Of these letters those that no other of them is stronger than."""
        covered_by = self._alphabet.covered_by
        return tuple(
            each
            for each in letters
            if not any(other != each and other in covered_by[each] for other in letters)
        )

    def _steps(self, row: int, tops: Mapping[int, Code]) -> Iterator[Callable[[int], Code | None]]:
        """Stronger codes to try in the place of the one that the row has by then."""
        kinds = self._rows[row].kinds
        alphabet = self._alphabet
        for take in self._widest(kinds.takes):
            yield lambda _, take=take: self._locked(tops[row], take)  # type: ignore[misc]
        for place in range(len(tops[row]) - 1, -1, -1):
            for wider in self._widest(kinds.order):
                if wider != tops[row][place] and wider in alphabet.covered_by[tops[row][place]]:
                    code = (*tops[row][:place], wider, *tops[row][place + 1 :])
                    yield lambda _, code=code: code  # type: ignore[misc]
        ends = [end for end, each in enumerate(tops[row]) if not self._is_lock(each)]
        gaps = [*(each for each in ends), len(tops[row])]
        for gap in reversed(gaps):
            before, after = tops[row][:gap], tops[row][gap:]
            inserted: tuple[int, ...] = ()
            for letter in sorted(
                kinds.order, key=lambda each: -len(self._weaker(each, kinds.order))
            ):
                if any(each in alphabet.covered_by[letter] for each in inserted):
                    continue
                wanted = (*inserted, letter)

                def build(
                    rounds: int,
                    before: Code = before,
                    wanted: Code = wanted,
                    after: Code = after,
                ) -> Code:
                    return (*before, *wanted * rounds, *after)

                previous = tops[row]
                yield build
                if tops[row] is not previous:
                    inserted = wanted

    def _weaker(self, letter: int, among: tuple[int, ...]) -> list[int]:
        return [each for each in among if letter in self._alphabet.covered_by[each]]

    def _is_lock(self, letter: int) -> bool:
        return self._alphabet.letters[letter].lock is not None

    def _locked(self, code: Code, take: int) -> Code | None:
        """The code with a lock held all through it, in place of any such lock."""
        lock = self._alphabet.letters[take].lock
        rest = tuple(each for each in code if self._alphabet.letters[each].lock is not lock)
        if not rest:
            return None
        return (take, *rest, self._alphabet.frees[take])
