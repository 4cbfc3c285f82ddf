"""A repair in a small space, and the same by brute force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

from rspverify.check.cache import Cache
from rspverify.check.settings import Settings
from rspverify.engineering.cases import read_workbench
from rspverify.engineering.judge import Judge
from rspverify.engineering.repair.codes import Code, codes, cost_of
from rspverify.engineering.repair.question import Wanted
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.scheme import Scheme
from rspverify.scheme.cost import default_costs
from rspverify.verdict import ProgressWord, Word

ROOT = Path(__file__).resolve().parents[2]


def ignore(message: str) -> None:
    """Nothing is warned of without a cache."""


def prepared(scheme: str, tests: list[str], wanted: Wanted, count: int = 50) -> Repair:
    """A repair of a scheme of the repository, ready to run, without a cache and a hunt."""
    settings = settings_for(Settings())
    files = [str(ROOT / "litmus/rsp" / each) for each in tests]
    bench = read_workbench([str(ROOT / scheme)], files, settings, Cache(None, ignore))
    judge = Judge(bench.model, bench.model_facts, settings, None, ignore)
    repair = Repair(bench, judge, wanted, default_costs(), count=count, sample=1)
    repair.prepare()
    return repair


class BruteForce:
    """Every candidate of a repair's space, decided one by one, each by `check` itself."""

    def __init__(self, scheme: str, tests: list[str], repair: Repair) -> None:
        settings = settings_for(Settings())
        files = [str(ROOT / "litmus/rsp" / each) for each in tests]
        self._bench = read_workbench([str(ROOT / scheme)], files, settings, Cache(None, ignore))
        facts = self._bench.model_facts
        self._judge = Judge(self._bench.model, facts, settings, None, ignore)
        self._repair = repair
        self._said: dict[tuple[str, tuple[tuple[str, ...], ...]], bool] = {}

    def all(self) -> Iterator[dict[int, Code]]:
        """Every candidate."""
        field = self._repair.field
        choices = [
            [space.given] if space.fixed else list(codes(space.kinds, field.alphabet))
            for space in field.rows.values()
        ]
        for chosen in product(*choices):
            yield dict(zip(field.rows, chosen, strict=True))

    def passes(self, chosen: Mapping[int, Code]) -> bool:
        """Whether a candidate is SOUND in every test, and can always go on."""
        scheme = self._scheme(chosen)
        return all(self._passes(place, scheme) for place in range(len(self._bench.cases)))

    def cost(self, chosen: Mapping[int, Code]) -> int:
        """What it costs."""
        return sum(cost_of(code, self._repair.field.alphabet) for code in chosen.values())

    def _scheme(self, chosen: Mapping[int, Code]) -> Scheme:
        scheme = self._bench.schemes[0]
        for row in scheme.rows:
            code = self._repair.field.alphabet.written(chosen[row.number], row.span)
            scheme = scheme.with_code(row.number, code)
        return scheme

    def _passes(self, place: int, scheme: Scheme) -> bool:
        case = self._bench.cases[place]
        used = [scheme.row_for(each) for each in case.program.operations]
        key = case.file, tuple(tuple(map(str, row.code)) for row in used if row is not None)
        if key not in self._said:
            word = self._judge.verdict(case, scheme).word
            progress = self._judge.progress(case, scheme) if word is Word.SOUND else None
            live = progress is not None and progress.word is ProgressWord.LIVE
            self._said[key] = word is Word.RACY or live
        return self._said[key]
