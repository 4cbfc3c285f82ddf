"""AMD's processors: which machine each of them is, and which features make it another."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from rspverify.source import InputError, Problem
from rspverify.wording import alternatives, guess

TRIPLE = "amdgcn-amd-amdhsa"


class Mode(Struct, frozen=True):
    """A feature that makes a machine another one.

    feature: LLVM's name; ending: of the machine; directive: what a kernel says of it in assembly,
    as (name, value with the feature, value without); has_local: whether there is local memory.
    """

    feature: str
    ending: str
    directive: tuple[str, str, str]
    has_local: bool = True


class Goal(Struct, frozen=True):
    """What code is made for, as compilers are told.

    name: as reports call it, `gfx942+tgsplit`; words: as messages do. triple, cpu, features: as
    LLVM calls them; cpu is empty where compilers take one without being told. level: how much is
    optimised before code is generated; None where nothing is. spelling: options of llc for how
    assembly is written; gcc: of GCC; driver: of clang.
    """

    name: str
    words: str
    triple: str
    cpu: str
    features: tuple[str, ...]
    level: str | None = None
    spelling: tuple[str, ...] = ()
    gcc: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.words


class Processor(Goal, frozen=True, kw_only=True):
    """One of AMD's, with the features that are asked for. machine: what runs the code; mode: the
    feature that makes it another one, and in_mode: whether that is asked for."""

    machine: str
    mode: Mode | None
    in_mode: bool

    @property
    def has_local(self) -> bool:
        """Whether work-groups have local memory."""
        return self.mode is None or self.mode.has_local or not self.in_mode


_SPLIT = Mode("tgsplit", "tgsplit", (".amdhsa_tg_split", "1", "0"), has_local=False)
_ONE_CU = Mode("cumode", "cu", (".amdhsa_workgroup_processor_mode", "0", "1"))

_MACHINES: tuple[tuple[str, Mode | None, str], ...] = (
    ("amdgpu-gfx9", None, "gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90c"),
    ("amdgpu-gfx90a", _SPLIT, "gfx90a"),
    ("amdgpu-gfx942", _SPLIT, "gfx940 gfx941 gfx942 gfx950"),
    (
        "amdgpu-gfx10",
        _ONE_CU,
        "gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036",
    ),
    (
        "amdgpu-gfx11",
        _ONE_CU,
        "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153",
    ),
    ("amdgpu-gfx12", _ONE_CU, "gfx1200 gfx1201"),
    ("amdgpu-gfx1250", None, "gfx1250 gfx1251"),
)
"""Machine, mode, processors (LLVM, AMDGPUUsage, «Processors» and «Memory Model»)."""

PROCESSORS: Mapping[str, tuple[str, Mode | None]] = {
    cpu: (machine, mode) for machine, mode, cpus in _MACHINES for cpu in cpus.split()
}


_FLAT = "its accesses of global memory, flat or of buffers, and its m0 are not known"
_FLAT_ONES = {f"gfx{it}" for it in (600, 601, 602, *range(700, 706), 801, 802, 803, 805, 810)}
"""Processors whose code cannot be read; they have the memory model of gfx900."""


def processor(cpu: str, features: str = "") -> Processor:
    """What is named on a command line; features are joined by commas. Raises InputError.

    Only a feature that makes the machine another one is taken: of others nothing is known.
    """
    if cpu not in PROCESSORS:
        hint = guess(cpu, PROCESSORS) or f"known are {', '.join(PROCESSORS)}"
        if cpu in _FLAT_ONES:
            hint = f"{_FLAT}; the nearest is gfx900"
        raise InputError(
            [Problem(None, f"--cpu must be a processor that can be read, not {cpu}", hint)]
        )
    machine, mode = PROCESSORS[cpu]
    given = tuple(dict.fromkeys(each.strip() for each in features.split(",") if each.strip()))
    possible = [sign + mode.feature for sign in "+-"] if mode else []
    wrong = [each for each in given if each not in possible]
    problems = [
        Problem(None, _refused(each, cpu, possible), guess(f"+{each}", possible)) for each in wrong
    ]
    if mode and len(set(given) & set(possible)) > 1:
        message = f"--features must have {alternatives(possible)}, not both"
        problems.append(Problem(None, message))
    if problems:
        raise InputError(problems)
    in_mode = mode is not None and f"+{mode.feature}" in given
    return Processor(
        "".join((cpu, *given)),
        f"{cpu}, features {','.join(given)}" if given else cpu,
        TRIPLE,
        cpu,
        given,
        driver=("-nogpulib", "-Xclang", "-disable-llvm-passes"),
        machine=f"{machine}-{mode.ending}" if mode and in_mode else machine,
        mode=mode,
        in_mode=in_mode,
    )


def _refused(feature: str, cpu: str, possible: list[str]) -> str:
    if not possible:
        return f"--features must be left out, as {cpu} has one mode, not {feature}"
    return f"--features must be {alternatives(possible)} for {cpu}, not {feature}"
