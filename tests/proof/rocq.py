"""The proof in Rocq, compiled where `coqc` is."""

from __future__ import annotations

import fcntl
import subprocess
from functools import cache
from pathlib import Path
from shutil import which

import pytest
from checks import ROOT

PROOF = ROOT / "proof"


@cache
def compiled() -> None:
    """Compile the proof, which takes a minute if nothing of it is; skip the test without coqc."""
    if which("coqc") is None or which("make") is None:
        pytest.skip("needs coqc and make, to compile the proof")
    with (PROOF / ".lock").open("w") as lock:  # other processes may want it, too
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-C", PROOF], check=True, capture_output=True)


def coqc(text: str, folder: Path, name: str = "Case") -> str:
    """What Rocq says of a file that builds on the proof. Fails if it is wrong."""
    compiled()
    file = folder / f"{name}.v"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["coqc", "-Q", PROOF, "", file], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
