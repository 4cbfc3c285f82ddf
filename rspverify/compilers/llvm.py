"""Compilers: LLVM as llvmlite has it, or the `llc` of an installation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from rspverify.compilers.processors import Processor
from rspverify.source import InputError, Problem, Source

INSTALL = "python -m pip install 'rspverify[llvm]'"
TRIPLE = "amdgcn-amd-amdhsa"

_EMIT = (sys.executable, "-P", str(Path(__file__).with_name("emit.py")))
"""As a file, since it needs nothing of ours, and finds nothing beside it."""
_TELLING = (" error: ", "LLVM ERROR", "not a recognized")
"""What stands in the lines in which LLVM tells what is wrong."""
_OLDEST = 15
"""The first LLVM that reads `ptr`."""
_LONGEST = 600
"""Seconds after which a compiler is given up."""


class Compiler(Struct, frozen=True):
    """A program that makes assembly of IR.

    version: `LLVM 22.1.0 by llvmlite 0.50.0`. path: of llc; None for llvmlite.
    """

    version: str
    path: str | None = None

    def emit(self, module: str, processor: Processor) -> Source:
        """The assembly of a module of IR. Raises InputError where the compiler says anything."""
        features = ",".join(processor.features)
        if self.path is None:
            command = [*_EMIT, processor.cpu, features]
        else:
            command = [self.path, f"-mtriple={TRIPLE}", f"-mcpu={processor.cpu}", "-O2", "-o", "-"]
            command += [f"-mattr={features}"] if features else []
        text = _said(command, module, f"{self.version}, {processor}")
        return Source(f"{processor.name}.s", text)


def llvmlite() -> Compiler:
    """LLVM as it is in the package llvmlite. Raises InputError where that is not installed."""
    if find_spec("llvmlite") is None:
        message = "llvmlite must be installed, and is not"
        raise InputError([Problem(None, message, f"{INSTALL}, or name an llc: --llc PATH")])
    return Compiler(_said(_EMIT, "", "llvmlite").strip())


def llc(path: str) -> Compiler:
    """The llc at a path, or in the folders where programs are. Raises InputError."""
    said = _said((path, "--version"), "", path)
    version = re.search(r"LLVM version (\S+)", said)
    if version is None:
        raise InputError([Problem(None, f"{path}: must be an llc, which tells its LLVM version")])
    if not re.search(r"^\s*amdgcn\b", said, re.MULTILINE):
        message = f"{path}: must have the target amdgcn, and has not"
        raise InputError([Problem(None, message, f"{path} --version lists its targets")])
    major = re.match(r"\d+", version[1])
    if major and int(major[0]) < _OLDEST:
        message = f"{path}: must be of LLVM {_OLDEST} or later, not {version[1]}"
        raise InputError([Problem(None, message)])
    return Compiler(f"LLVM {version[1]} by llc", path)


def _said(command: Sequence[str], given: str, what: str) -> str:
    """What a program prints. Raises InputError where it fails or complains, with its own words."""
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, encoding="utf-8", timeout=_LONGEST
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it prints no text"
        raise InputError([Problem(None, f"{what}: cannot be run: {reason}")]) from None
    except subprocess.TimeoutExpired:
        raise InputError([Problem(None, f"{what}: must end within {_LONGEST} s")]) from None
    if done.returncode or done.stderr.strip():
        words = _last_words(done.stderr) or f"it ends with {done.returncode}"
        raise InputError([Problem(None, f"{what}: cannot compile: {words}")])
    return done.stdout


def _last_words(errors: str) -> str:
    """The line that tells why: LLVM's own, or the last one, which of Python tells the error."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    own = [line for line in lines if any(word in line for word in _TELLING)]
    return (own or lines[-1:] or [""])[0]
