"""A repair in a small space, and the same by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from rspverify.engineering.repair.codes import Code, codes, weaker
from rspverify.engineering.repair.constraints import Constraints
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import Setup, read_setup
from rspverify.judge.inputs import LoadedTest
from rspverify.judge.judge import Judge
from rspverify.records import replace
from rspverify.scheme.cost import Costs, default_costs
from rspverify.soundness.case import Case
from rspverify.soundness.check import is_sound
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Settings
from rspverify.verdict import ProgressWord

ROOT = Path(__file__).resolve().parents[2]


def prepared(scheme: str, tests: list[str], constraints: Constraints) -> Repair:
    """A repair of a scheme of the repository, ready to run, without a cache and a hunt."""
    files = [str(ROOT / "litmus/rsp" / each) for each in tests]
    setup = read_setup([str(ROOT / scheme)], files, settings_for(Settings()), Judge())
    return prepared_from(setup, constraints, count=50)


def prepared_from(
    setup: Setup, constraints: Constraints, costs: Costs | None = None, count: int = 5
) -> Repair:
    """The same of a setup."""
    repair = Repair(setup, constraints, costs or default_costs(), count=count, sample=1)
    repair.prepare()
    return repair


def require_as_brute_force(repair: Repair) -> None:
    """The cost, the schemes of that cost, and each lesson: nothing that passes is ruled out."""
    brute, space = BruteForce(repair), repair.space
    repair.run()
    report = repair.report()
    assert report.claim.finished and report.claim.complete and report.claim.exact
    passing = [each for each in brute.all() if brute.passes(each)]
    least = min(map(brute.cost, passing), default=None)
    assert {each.cost for each in report.found} == ({least} if passing else set())
    found = {tuple(row.code for row in each.rows) for each in report.found}

    def is_found(chosen: Mapping[int, Code]) -> bool:
        return tuple(space.pool.text(code) for code in chosen.values()) in found

    def stronger(one: Mapping[int, Code], other: Mapping[int, Code]) -> bool:
        return all(weaker(other[row], one[row], space.pool) for row in one)

    cheapest = [each for each in passing if brute.cost(each) == least]
    kept = [each for each in cheapest if is_found(each)]
    assert len(kept) == len(found)
    assert all(any(stronger(each, other) for other in kept) for each in cheapest)
    for nogood in repair.search.chooser.nogoods:
        sets = {row: it for row, it in nogood.sets.items() if not space.rows[row].fixed}
        for chosen in passing:
            assert not all(it.has(chosen[row], space.pool) for row, it in sets.items()), nogood


class BruteForce:
    """Every candidate of a repair's space, decided one by one, each by the engine itself."""

    def __init__(self, repair: Repair) -> None:
        self._repair, self._setup = repair, repair._setup
        self._said: dict[tuple[str, tuple[tuple[str, ...], ...]], bool] = {}

    def all(self) -> Iterator[dict[int, Code]]:
        """Every candidate."""
        space = self._repair.space
        choices = [
            [row.given] if row.fixed else list(codes(row.kinds, space.pool))
            for row in space.rows.values()
        ]
        for chosen in product(*choices):
            yield dict(zip(space.rows, chosen, strict=True))

    def cost(self, chosen: Mapping[int, Code]) -> int:
        """What it costs."""
        return sum(map(self._repair.space.pool.cost_of, chosen.values()))

    def passes(self, chosen: Mapping[int, Code]) -> bool:
        """Whether a candidate is SOUND in every test, and can always go on."""
        return all(self._passes(test, chosen) for test in self._setup.tests)

    def _passes(self, test: LoadedTest, chosen: Mapping[int, Code]) -> bool:
        pool, scheme = self._repair.space.pool, self._setup.schemes[0].scheme
        used = sorted(row.number for row in scheme.rows_used(test.program))
        key = test.file, tuple(pool.text(chosen[number]) for number in used)
        if key not in self._said:
            for row in scheme.rows:
                scheme = scheme.with_code(row.number, pool.written(chosen[row.number], row.span))
            verdicts = self._setup.verdicts
            source = verdicts.source(test)
            settings = replace(verdicts.settings, seconds=0)  # What is asked of a test once.
            sound = is_sound(Case(test.program, scheme, verdicts.model, settings), source)
            if sound and scheme.machine is not None:
                sound = progress(test.program, scheme, settings).word is ProgressWord.LIVE
            self._said[key] = sound or source.race() is not None
        return self._said[key]
