"""The proof in Rocq, compiled where `coqc` is: some files of it, or all."""

from __future__ import annotations

import fcntl
import subprocess
from functools import cache
from pathlib import Path
from shutil import which

import pytest
from checks import ROOT

PROOF = ROOT / "proof"

whole = pytest.mark.whole_proof
"""A test that needs all of the proof, or asks more of it than `make test` has time for: `make proof`
runs these."""


@cache
def compiled(target: str) -> None:
    """Compile a file of the proof and those that it needs; skip the test without coqc."""
    if which("coqc") is None or which("make") is None:
        pytest.skip("needs coqc and make, to compile the proof")
    with (PROOF / ".lock").open("w") as lock:  # other processes may want it, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-C", PROOF, target], check=True, capture_output=True)


def coqc(text: str, folder: Path, name: str = "Case", target: str = "all") -> str:
    """What Rocq says of a file that builds on the proof, or on one file of it. Fails if it is
    wrong."""
    compiled(target)
    file = folder / f"{name}.v"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["coqc", "-Q", PROOF, "", file], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
