"""Compilers: LLVM as llvmlite has it, here or in another Python, or the `llc` or `clang` of an
installation; GCC."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from enum import Enum
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from rspverify.compilers.processors import PROCESSORS, Goal
from rspverify.source import InputError, Problem, Source

INSTALL = "python -m pip install 'rspverify[llvm]'"

_EMIT = ("-P", str(Path(__file__).with_name("emit.py")))
"""For a Python: as a file, since it needs nothing of ours, and finds nothing beside it."""
_TELLING = (" error: ", "LLVM ERROR", "not a recognized")
"""What stands in the lines in which LLVM tells what is wrong."""
_UNKNOWN = "is not a recognized processor"
_LEVEL = 2
"""How much llc optimises where it generates code, if nothing else is said."""
_TO_ASSEMBLY = ("-S", "-o", "-")
_FEATURE = "-target-feature"
_OLDEST = 13
"""The first LLVM whose code is known to be read."""
_OPAQUE = 15
"""The first LLVM in which pointers have no type."""
_ADDRESS = re.compile(r",? 0x[0-9a-f]{8,}:?")
_POINTER = re.compile(r"\bptr\b( addrspace\(\d\))?")
_LONGEST = 600
"""Seconds after which a compiler is given up."""


class Kind(Enum):
    """A program that compiles, and the text that it compiles."""

    LLVMLITE = "llvmlite"
    LLC = "llc"
    CLANG = "clang"
    GCC = "gcc"


class Compiler(Struct, frozen=True):
    """A program that makes assembly of LLVM's IR, or GCC of C.

    version: `LLVM 22.1.0 by llvmlite 0.50.0`. path: of the program, which is a Python for llvmlite;
    None for this one.
    """

    version: str
    path: str | None = None
    kind: Kind = Kind.LLC

    def emit(self, module: str, goal: Goal) -> Source:
        """The assembly of a module. Raises InputError where the compiler says anything."""
        what = f"{self.version}, {goal}"
        if self.kind is not Kind.GCC and self.major < _OPAQUE:
            module = _POINTER.sub(r"i32\1*", module)  # All that is accessed is i32.
        try:
            if self.kind is Kind.LLC and self.path is not None and goal.level is not None:
                module = _said(self._optimiser(goal), module, what)
            text = _said(self.command_of(goal), module, what)
        except InputError as error:
            if _UNKNOWN not in str(error):
                raise
            message = f"{self.version}: must know the processor {goal.cpu}, and does not"
            raise InputError([Problem(None, message, self._known(goal))]) from None
        return Source(f"{goal.name}.s", text)

    def command(self, goal: Goal) -> list[str]:
        """What compiles a module on standard input so: llc, also where llvmlite does the same."""
        if self.kind is Kind.LLVMLITE:
            return Compiler(self.version, "llc").command_of(goal)
        return self.command_of(goal)

    def command_of(self, goal: Goal) -> list[str]:
        """What is executed, as it is."""
        features = ",".join(goal.features)
        if self.path is None or self.kind is Kind.LLVMLITE:
            return [*self._llvmlite, goal.cpu, features, goal.level or "", *goal.spelling]
        level = f"-O{goal.level or _LEVEL}"
        if self.kind is Kind.GCC:
            return [self.path, level, *_TO_ASSEMBLY, "-x", "c", *goal.gcc, "-"]
        if self.kind is Kind.CLANG:
            words = ["-target-cpu", goal.cpu] if goal.cpu else []
            words += [it for each in goal.features for it in (_FEATURE, each)]
            words = [it for each in words for it in ("-Xclang", each)]
            words += [*goal.driver, *(it for each in goal.spelling for it in ("-mllvm", each))]
            return [
                self.path,
                f"--target={goal.triple}",
                level,
                *_TO_ASSEMBLY,
                "-w",
                "-x",
                "ir",
                *words,
                "-",
            ]
        cpu = [f"-mcpu={goal.cpu}"] if goal.cpu else []
        attributes = [f"-mattr={features}"] if features else []
        triple = f"-mtriple={goal.triple}"
        return [self.path, triple, *cpu, level, "-o", "-", *attributes, *goal.spelling]

    def _optimiser(self, goal: Goal) -> list[str]:
        """What optimises a module before llc generates its code: the `opt` beside it."""
        path = Path(self.path or "")
        opt = path.with_name(path.name.replace("llc", "opt"))
        return [str(opt), "-S", f"-mtriple={goal.triple}", f"-passes=default<O{goal.level}>", "-"]

    @property
    def _llvmlite(self) -> tuple[str, ...]:
        """What asks llvmlite."""
        return self.path or sys.executable, *_EMIT

    @property
    def major(self) -> int:
        """The number of its version."""
        return int(re.findall(r"\d+", self.version)[0])

    def _known(self, wanted: Goal) -> str:
        """The processors that can be read and that it knows, of the machine if there are any."""
        asked = [*self._llvmlite, "help", "", ""]
        if self.path is not None and self.kind is not Kind.LLVMLITE:
            asked = [self.path, f"-mtriple={wanted.triple}", "-mcpu=help", "-o", "-"]
        said = _run(asked, f'target triple = "{wanted.triple}"', self.version).stderr
        known = [it for it in PROCESSORS if re.search(rf"^\s*{it}\s", said, re.MULTILINE)]
        alike = [it for it in known if PROCESSORS[it] == PROCESSORS.get(wanted.cpu)]
        of = "of its memory model" if alike else "of those that can be read"
        return f"{of} it knows {', '.join(alike or known) or 'none'}"


def llvmlite() -> Compiler:
    """LLVM as it is in the package llvmlite. Raises InputError where that is not installed."""
    if find_spec("llvmlite") is None:
        message = "llvmlite must be installed, and is not"
        raise InputError([Problem(None, message, f"{INSTALL}, or name an llc: --llc PATH")])
    return Compiler(_version_here(), kind=Kind.LLVMLITE)


@cache
def _version_here() -> str:
    return _said((sys.executable, *_EMIT), "", "llvmlite").strip()


def compiler_at(path: str, goal: Goal) -> Compiler:
    """The llc, clang or GCC at a path, or in the folders where programs are; or the llvmlite of a
    Python that is there. Raises InputError."""
    found = _at(path, goal)
    if found.kind is not Kind.GCC and found.major < _OLDEST:
        message = f"{path}: must be of LLVM {_OLDEST} or later, not {found.major}"
        raise InputError([Problem(None, message)])
    return found


def _at(path: str, goal: Goal) -> Compiler:
    said = _said((path, "--version"), "", path)
    if said.startswith("Python "):
        return Compiler(_said((path, *_EMIT), "", path).strip(), path, Kind.LLVMLITE)
    if llvm := re.search(r"LLVM version (\S+)", said):
        return Compiler(f"LLVM {llvm[1]} by llc", path)
    if clang := re.search(r"clang version (\d\S*)", said):
        return Compiler(f"LLVM {clang[1]} by clang", path, Kind.CLANG)
    if "gcc" not in said.lower():
        raise InputError([Problem(None, f"{path}: must be an llc, a clang, a GCC or a Python")])
    version = _said((path, "-dumpfullversion"), "", path).strip()
    machine = _said((path, "-dumpmachine"), "", path).strip()
    wanted = goal.triple.partition("-")[0]
    if not machine.startswith(wanted.rstrip("v7")):
        message = f"{path}: must be a GCC for {goal.name}, not for {machine}"
        raise InputError([Problem(None, message, f"gcc:{goal.name} finds Debian's")])
    return Compiler(f"GCC {version}", path, Kind.GCC)


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
    """The line that tells why: LLVM's own, or the last one, which of Python tells the error,
    without addresses of memory, which are others each time."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    own = [line for line in lines if any(word in line for word in _TELLING)]
    return _ADDRESS.sub("", (own or lines[-1:] or [""])[0])
