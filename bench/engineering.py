"""The commands that ask about schemes, as processes: with an empty cache, and once more with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.cases import ROOT
from bench.measure import digits
from bench.sheet import Sheet

PROPOSED, ORIGINAL = "schemes/proposed.yaml", "schemes/original.yaml"


@dataclass(frozen=True)
class Run:
    """A command line, and the beginning of the line of its output that is its answer."""

    words: Sequence[str]
    answer: str


RUNS = (
    Run(("mutate", PROPOSED), "46 mutants"),
    Run(("mutate", ORIGINAL), "46 mutants"),
    Run(("compare", ORIGINAL, PROPOSED), "238 tests"),
    Run(("hunt", ORIGINAL, "--no-count"), "original with"),
    Run(("hunt", PROPOSED, "--events", "3"), "proposed is sound"),
    Run(("hunt", PROPOSED, "--events", "3", "--by", "programs"), "proposed is sound"),
    Run(("hunt", PROPOSED), "proposed is sound"),
    Run(("hunt", PROPOSED, "--by", "programs"), "proposed is sound"),
    Run(
        ("repair", ORIGINAL, "--forbid", "LK_L2,UL_L2", "--than", PROPOSED),
        "none is cheaper than proposed",
    ),
)


def engineering(runs: Sequence[Run] = RUNS) -> Sheet:
    """Seconds for each command, and its answer; each begins with a cache of its own."""
    sheet = Sheet(
        "engineering",
        "questions about schemes (s, one run each)",
        ["command", "answer"],
        ["first", "from the cache", "first / from the cache"],
    )
    for run in runs:
        with tempfile.TemporaryDirectory() as folder:
            first, answer = _timed(run, folder)
            again, same = _timed(run, folder)
        assert answer == same, (answer, same)
        sheet.add(" ".join(run.words), answer, digits(first), digits(again), digits(first / again))
    return sheet


def _timed(run: Run, folder: str) -> tuple[float, str]:
    """Seconds, and the answer without what was measured in it."""
    environment = {**os.environ, "RSPVERIFY_CACHE": folder}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "rspverify", *run.words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    lines = [it for it in done.stdout.splitlines() if it.startswith(run.answer)]
    return seconds, lines[-1].split(";")[0] if lines else ""
