"""What `outcomes` takes for a test: reading, every outcome, the counts, and the race."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.cases import ROOT
from bench.measure import digits
from bench.sheet import Sheet
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.limits import LimitReached
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.settings import DEFAULT_MODEL, Settings
from rspverify.source import InputError, read_source

SECONDS = 60.0
"""For so long a test may go on."""


@dataclass(frozen=True)
class TestSet:
    """Tests of a folder under a model; those that it does not speak of are left out."""

    __test__ = False

    folder: Path
    model: str

    @property
    def name(self) -> str:
        """The folder, from the root of the project where it is in it."""
        inside = self.folder.is_relative_to(ROOT)
        return str(self.folder.relative_to(ROOT) if inside else self.folder.name)


def shipped_sets() -> list[TestSet]:
    """Our tests of models under each model, and those of schemes under the default one."""
    sets = [TestSet(ROOT / "litmus/models", name) for name in shipped_models()]
    return [*sets, TestSet(ROOT / "litmus/rsp", DEFAULT_MODEL)]


def models(sets: Iterable[TestSet], repeats: int, *, mixed: bool = False) -> Sheet:
    """Milliseconds per test in a warm process, each the median of its repeats."""
    sheet = Sheet(
        "models",
        f"All outcomes, counts and the race of a test, reading included (ms; median of {repeats})",
        ["tests", "model"],
        ["answered", "not", "median", "90 %", "largest", "all, s"],
    )
    settings = Settings(seconds=SECONDS, mixed=mixed)
    for each in sets:
        model = load_model(each.model)
        files = sorted(each.folder.rglob("*.litmus"))
        times = list(_times(files, model, settings, repeats))
        left_out = str(len(files) - len(times))
        if not times:
            sheet.add(each.name, model.name, "0", left_out, "", "", "", "")
            continue
        figures = [statistics.median(times), sorted(times)[int(0.9 * (len(times) - 1))], max(times)]
        total = digits(sum(times) / 1000)
        sheet.add(each.name, model.name, str(len(times)), left_out, *map(digits, figures), total)
    return sheet


def _times(
    files: Iterable[Path], model: MemoryModel, settings: Settings, repeats: int
) -> Iterator[float]:
    for file in files:
        taken = []
        try:
            for _ in range(repeats + 1):  # The first is to warm up.
                started = time.perf_counter()
                outcomes(settings.read(read_source(file)), model, (), str(file), settings)
                taken.append(time.perf_counter() - started)
        except (InputError, LimitReached):
            continue
        yield 1000 * statistics.median(taken[1:])
