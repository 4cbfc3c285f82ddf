"""herd beside our `outcomes`, where the environment names a herd and a model.

RSPVERIFY_HERD is the program (herd7), RSPVERIFY_HERD_CAT the .cat file it is given.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.cases import ROOT
from bench.measure import digits, side_by_side
from bench.sheet import Sheet
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.reader import read_program_file
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import InputError

HERD, CAT = "RSPVERIFY_HERD", "RSPVERIFY_HERD_CAT"
PATIENCE = 60.0
"""Seconds that herd may take for one test."""


@dataclass(frozen=True)
class Herd:
    """A herd binary and the model that it is given."""

    program: str
    cat: str

    def run(self, test: Path) -> bool:
        """Run herd on a test: whether it could read it and list its states."""
        command = [self.program, "-model", self.cat, str(test)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0 and "\nStates " in f"\n{done.stdout}"


def named_herd(environment: Mapping[str, str]) -> Herd | None:
    """The herd that an environment names, None if none. Raises ValueError for half a name."""
    program, cat = environment.get(HERD), environment.get(CAT)
    if not program and not cat:
        return None
    if not program or not cat:
        raise ValueError(f"{HERD} and {CAT} must both be set, or neither")
    if not os.access(program, os.X_OK) or Path(program).is_dir():
        raise ValueError(f"{HERD} must be a program, not {program}")
    if not Path(cat).is_file():
        raise ValueError(f"{CAT} must be a .cat file, not {cat}")
    return Herd(program, cat)


def beside_herd(herd: Herd, tests: Sequence[Path], repeats: int) -> Sheet:
    """By folder: how many tests herd reads, and the median time of those by it and by us.

    herd is a process for each test; ours is timed as a process, and warm.
    """
    sheet = Sheet(
        "herd",
        f"outcomes of a test (ms; median over tests of the median of {repeats})",
        ["folder"],
        ["tests", "both read", "herd", "ours, a process", "ours, warm", "herd / ours, a process"],
    )
    model = load_model("opencl-rsp")
    folders: dict[str, list[Path]] = {}
    for test in sorted(tests):
        folders.setdefault(test.parent.name, []).append(test)
    for folder, members in folders.items():
        times = [
            _times(herd, test, model, repeats)
            for test in members
            if _ours_reads(test, model) and herd.run(test)
        ]
        figures = ["", "", "", ""]
        if times:
            theirs, process, warm = (
                statistics.median(each[name] for each in times) for name in ("herd", "cold", "warm")
            )
            figures = [digits(each) for each in (theirs, process, warm, theirs / process)]
        sheet.add(folder, str(len(members)), str(len(times)), *figures)
    return sheet


def _times(herd: Herd, test: Path, model: MemoryModel, repeats: int) -> dict[str, float]:
    actions: dict[str, Callable[[], object]] = {
        "herd": partial(herd.run, test),
        "cold": partial(_as_a_process, test),
        "warm": partial(_warm, test, model),
    }
    return side_by_side(actions, repeats)


def _warm(test: Path, model: MemoryModel) -> object:
    return outcomes(read_program_file(test), model, [], str(test), Settings())


def _as_a_process(test: Path) -> object:
    command = [sys.executable, "-m", "rspverify", "outcomes", str(test)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True)


def _ours_reads(test: Path, model: MemoryModel) -> bool:
    try:
        _warm(test, model)
    except InputError:
        return False
    return True
