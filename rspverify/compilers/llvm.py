"""Compilers: LLVM as llvmlite has it, or the `llc` of an installation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from rspverify.compilers.processors import PROCESSORS, Processor
from rspverify.source import InputError, Problem, Source

INSTALL = "python -m pip install 'rspverify[llvm]'"
TRIPLE = "amdgcn-amd-amdhsa"

_EMIT = (sys.executable, "-P", str(Path(__file__).with_name("emit.py")))
"""As a file, since it needs nothing of ours, and finds nothing beside it."""
_TELLING = (" error: ", "LLVM ERROR", "not a recognized")
"""What stands in the lines in which LLVM tells what is wrong."""
_UNKNOWN = "is not a recognized processor"
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
        command = self._command(processor.cpu, ",".join(processor.features))
        try:
            text = _said(command, module, f"{self.version}, {processor}")
        except InputError as error:
            if _UNKNOWN not in str(error):
                raise
            message = f"{self.version}: must know the processor {processor.cpu}, and does not"
            raise InputError([Problem(None, message, self._known(processor))]) from None
        return Source(f"{processor.name}.s", text)

    def command(self, processor: Processor) -> list[str]:
        """What compiles a module on standard input so: llc, also where llvmlite does the same."""
        features = ",".join(processor.features)
        return Compiler(self.version, self.path or "llc")._command(processor.cpu, features)

    def _command(self, cpu: str, features: str) -> list[str]:
        if self.path is None:
            return [*_EMIT, cpu, features]
        attributes = [f"-mattr={features}"] if features else []
        return [self.path, f"-mtriple={TRIPLE}", f"-mcpu={cpu}", "-O2", "-o", "-", *attributes]

    def _known(self, wanted: Processor) -> str:
        """The processors that can be read and that it knows, of the machine if there are any."""
        said = _run(self._command("help", ""), f'target triple = "{TRIPLE}"', self.version).stderr
        known = [it for it in PROCESSORS if re.search(rf"^\s*{it}\s", said, re.MULTILINE)]
        alike = [it for it in known if PROCESSORS[it] == PROCESSORS.get(wanted.cpu)]
        of = "of its memory model" if alike else "of those that can be read"
        return f"{of} it knows {', '.join(alike or known) or 'none'}"


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
    done = _run(command, given, what)
    if done.returncode or done.stderr.strip():
        words = _last_words(done.stderr) or f"it ends with {done.returncode}"
        raise InputError([Problem(None, f"{what}: cannot compile: {words}")])
    return done.stdout


def _run(command: Sequence[str], given: str, what: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, input=given, capture_output=True, encoding="utf-8", timeout=_LONGEST
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it prints no text"
        raise InputError([Problem(None, f"{what}: cannot be run: {reason}")]) from None
    except subprocess.TimeoutExpired:
        raise InputError([Problem(None, f"{what}: must end within {_LONGEST} s")]) from None


def _last_words(errors: str) -> str:
    """The line that tells why: LLVM's own, or the last one, which of Python tells the error."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    own = [line for line in lines if any(word in line for word in _TELLING)]
    return (own or lines[-1:] or [""])[0]
