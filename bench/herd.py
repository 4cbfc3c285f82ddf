"""herd7 beside our `outcomes`, on tests in assembly, where there is a herd7.

It is on the PATH, or RSPVERIFY_HERD names it; herd's own models are in its library.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.cases import ROOT
from bench.sheet import Sheet
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, read_source

HERD = "RSPVERIFY_HERD"
PATIENCE = 10
"""Seconds that herd may take for one test."""
MODELS = {
    "X86": ("x86-tso", "x86tso.cat"),
    "AARCH64": ("aarch64", "aarch64.cat"),
    "ARM": ("armv7", "arm.cat"),
    "PPC": ("power", "ppc.cat"),
    "RISCV": ("riscv", "riscv.cat"),
}
"""By the first word of a test, our model and herd's."""
SLOWEST = 10
"""So many of the tests that take herd most are timed one by one."""
_TIME = re.compile(r"^Time (\S+) ([\d.]+)$", re.MULTILINE)


@dataclass(frozen=True)
class Herd:
    """A herd binary."""

    program: str

    def run(self, cat: str, tests: Sequence[Path]) -> Mapping[str, float]:
        """Run herd on tests: the titles of those that it answered, and the seconds that it says."""
        command = [self.program, "-model", cat, "-timeout", str(PATIENCE), *map(str, tests)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return {title: float(seconds) for title, seconds in _TIME.findall(done.stdout)}


def found_herd(environment: Mapping[str, str]) -> Herd | None:
    """The herd that an environment has, None if none. Raises ValueError for what is no program."""
    named = environment.get(HERD)
    program = named or shutil.which("herd7", path=environment.get("PATH"))
    if not program:
        return None
    if not os.access(program, os.X_OK) or Path(program).is_dir():
        raise ValueError(f"{HERD} must be a program, not {program}")
    return Herd(program)


def beside_herd(herd: Herd, folder: Path, stride: int = 1) -> Sheet:
    """By architecture: what herd takes for all tests of a folder, or every n-th, that both answer,
    and we, a process each; and for those that take herd most, one by one."""
    sheet = Sheet(
        "herd",
        f"Outcomes of tests in assembly, and of the {SLOWEST} that take herd most (s of CPU)",
        ["assembly"],
        ["tests", "both", "herd", "ours", "herd / ours", "herd, slowest", "ours", "herd / ours"],
    )
    groups: dict[str, list[Path]] = {it: [] for it in MODELS}
    for test in sorted(folder.rglob("*.litmus")):
        language = test.read_text(errors="replace").split(None, 1)[0].upper()
        groups.setdefault(language, []).append(test)
    for language, (name, cat) in MODELS.items():
        members, model = groups[language][::stride], load_model(name)
        titles = {it.title: each for each in members if (it := _read(each, model))}
        answered = herd.run(cat, [*titles.values()]) if titles else {}
        both = sorted(titles.keys() & answered, key=answered.__getitem__, reverse=True)
        if not both:
            sheet.add(language, str(len(members)), "0", *[""] * 6)
            continue
        files = [titles[it] for it in both]
        cells = _compared(partial(herd.run, cat, files), partial(_process, name, files))
        files = files[:SLOWEST]
        theirs = [partial(herd.run, cat, [it]) for it in files]
        ours = [partial(_warm, it, model) for it in files]
        cells += _compared(partial(_all, theirs), partial(_all, ours))
        sheet.add(language, str(len(members)), str(len(both)), *cells)
    return sheet


def _compared(theirs: Callable[[], object], ours: Callable[[], object]) -> list[str]:
    """The seconds of CPU of each, its processes' too, and how many times ours theirs are."""
    taken = []
    for action in (theirs, ours):
        started = _used()
        action()
        taken.append(_used() - started)
    return [*(f"{it:.2f}" for it in taken), f"{taken[0] / taken[1]:.1f}"]


def _used() -> float:
    """The seconds of CPU until now."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(it.ru_utime + it.ru_stime for it in used)


def _all(actions: Sequence[Callable[[], object]]) -> None:
    for action in actions:
        action()


def _process(model: str, tests: Sequence[Path]) -> object:
    own = [sys.executable, "-m", "rspverify", "outcomes", "--jobs", "1", "--format", "herd"]
    command = [*own, "--model", model, *map(str, tests)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=True)


def _warm(test: Path, model: MemoryModel) -> object:
    program = read_program(read_source(test), assembly=True)
    return outcomes(program, model, [], str(test), Settings())


def _read(test: Path, model: MemoryModel) -> Program | None:
    """A test that we can answer."""
    try:
        program = read_program(read_source(test), assembly=True)
        require_covered(program, model)
    except InputError:
        return None
    return program
