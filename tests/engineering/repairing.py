"""A repair in a small space, and the same by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from rspverify.engineering.repair.codes import Code, codes
from rspverify.engineering.repair.constraints import Constraints
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import read_setup
from rspverify.judge.judge import Judge
from rspverify.scheme.cost import default_costs
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import is_sound
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Settings
from rspverify.verdict import ProgressWord

ROOT = Path(__file__).resolve().parents[2]


def prepared(scheme: str, tests: list[str], constraints: Constraints, count: int = 50) -> Repair:
    """A repair of a scheme of the repository, ready to run, without a cache and a hunt."""
    settings = settings_for(Settings())
    files = [str(ROOT / "litmus/rsp" / each) for each in tests]
    setup = read_setup([str(ROOT / scheme)], files, settings, Judge())
    repair = Repair(setup, constraints, default_costs(), count=count, sample=1)
    repair.prepare()
    return repair


class BruteForce:
    """Every candidate of a repair's space, decided one by one, each by the engine itself."""

    def __init__(self, scheme: str, tests: list[str], repair: Repair) -> None:
        settings = settings_for(Settings(seconds=0))  # What is asked of a test is asked once.
        files = [str(ROOT / "litmus/rsp" / each) for each in tests]
        self._setup = read_setup([str(ROOT / scheme)], files, settings, Judge())
        self._repair = repair
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

    def passes(self, chosen: Mapping[int, Code]) -> bool:
        """Whether a candidate is SOUND in every test, and can always go on."""
        scheme = self._scheme(chosen)
        return all(self._passes(place, scheme) for place in range(len(self._setup.tests)))

    def cost(self, chosen: Mapping[int, Code]) -> int:
        """What it costs."""
        return sum(map(self._repair.space.pool.cost_of, chosen.values()))

    def _scheme(self, chosen: Mapping[int, Code]) -> Scheme:
        scheme = self._setup.schemes[0].scheme
        for row in scheme.rows:
            code = self._repair.space.pool.written(chosen[row.number], row.span)
            scheme = scheme.with_code(row.number, code)
        return scheme

    def _passes(self, place: int, scheme: Scheme) -> bool:
        test = self._setup.tests[place]
        used = [scheme.row_for(each) for each in test.program.operations]
        key = test.file, tuple(tuple(map(str, row.code)) for row in used if row is not None)
        if key not in self._said:
            verdicts, settings = self._setup.verdicts, self._setup.verdicts.settings
            source = verdicts.source(test)
            sound = is_sound(Case(test.program, scheme, verdicts.model, settings), source)
            live = sound and progress(test.program, scheme, settings).word is ProgressWord.LIVE
            self._said[key] = live or source.race() is not None
        return self._said[key]
