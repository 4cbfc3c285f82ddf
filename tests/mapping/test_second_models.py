"""What tables for targets break, once more under the public models of the same architecture.

RSPVERIFY_DAT3M and RSPVERIFY_HERDTOOLS name clones of hernanponcedeleon/Dat3M and herd/herdtools7;
without one its models are left out. Herd's AArch64 model is beyond our language.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import rspverify
from rspverify.mapping.reader import read_table
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source

CLONES = {"Dat3M": ("RSPVERIFY_DAT3M", "cat"), "herd": ("RSPVERIFY_HERDTOOLS", "herd/libdir")}
MODELS = {
    "x86": ("Dat3M tso", "herd x86tso"),
    "power": ("Dat3M power", "herd ppc"),
    "aarch64": ("Dat3M aarch64",),
    "riscv": ("Dat3M riscv", "herd riscv"),
    "riscv-ztso": ("herd riscv-tso",),
    "ptx": ("Dat3M ptx-v7.5",),
    "vulkan": ("Dat3M vulkan",),
}
NEWER = ("fence.acquire", "fence.release")
"""Instructions that PTX has had since 8.6, of which the public models do not know."""
SUITES = ("seq_cst", "synchronisation", "scopes", "from-x86")

_INCS = "r0=inc.acq.DV x; r1=inc.acq.DV y || r0=inc.acq.DV y; r1=inc.acq.DV x"
_LB = "r0=ld.rlx.DV x; r1=inc.acq.DV y || r0=ld.rlx.DV y; r1=inc.acq.DV x"
_MP = "st.DV x 10; st.DV y 20 || r0=inc.acq.DV y; r1=inc.acq.DV x"
_FAILS = """X86 fails
{ }
 P0          | P1                   ;
 MOV [x],$10 | MOV [y],$30          ;
 MOV [y],$20 | MOV EAX,$10          ;
             | MOV ECX,$40          ;
             | LOCK CMPXCHG [x],ECX ;
"""
_LOADS = """X86 loads
{ }
 P0                   | P1                   ;
 MOV EBX,[x]          | MOV EAX,$0           ;
 MOV EAX,$20          | MOV ECX,$20          ;
 MOV ECX,$10          | LOCK CMPXCHG [y],ECX ;
 LOCK CMPXCHG [y],ECX | MOV EAX,$0           ;
                      | MOV ECX,$30          ;
                      | LOCK CMPXCHG [x],ECX ;
"""
BREAKS = [
    ("c11/c11-power-leading", "rc11", _INCS),
    ("c11/c11-power-trailing", "rc11", _INCS),
    ("c11/c11-power-leading", "c11-simp", _MP),
    ("c11/c11-power-trailing", "c11-simp", _MP),
    (
        "c11/c11-power-leading",
        "rc11",
        "r0=inc.sc.DV x; r1=ld.DV y || r0=inc.sc.DV y; r1=inc.sc.DV x",
    ),
    (
        "c11/c11-power-trailing",
        "c11-simp",
        "r0=ld.DV x; r1=ld.sc.DV y || st.sc.DV y 10; r0=ld.sc.DV x || st.sc.DV x 20",
    ),
    (
        "c11/rc11-power-loads",
        "rc11",
        "r0=inc.rel.DV x; st.rlx.DV y 10 || r0=inc.rel.DV y; st.rlx.DV x 20",
    ),
    ("dat3m/dat3m-aarch64-rc11", "rc11", _LB),
    ("dat3m/dat3m-riscv-rc11", "rc11", _LB),
    ("translators/x86-aarch64-qemu", "x86-tso", _FAILS),
    ("translators/x86-aarch64-risotto", "x86-tso", _FAILS),
    ("translators/x86-aarch64-qemu", "x86-tso", _LOADS),
]
"""Smallest programs of hunts that no suite has: a table, the model of its source, a program."""

HOLDS = {("herd ppc", _INCS)}
"""Of these what does not break the table under a public model: there, by `scXX`, the exclusive
accesses of a thread stay in order."""

_FENCES = dict.fromkeys(("SB+cmpxchgs", "SB+xadds", "SB+xchgs"), "UNSOUND")
DIFFERENT: dict[tuple[str, str], dict[str, str]] = {
    # A store of Zalasr is as the store of an SC there, and no load waits for it.
    ("c11-riscv-zalasr", "riscv"): dict.fromkeys(("R", "RWC-acq-sc", "SB", "Z6.U"), "UNSOUND"),
    # A read-modify-write that acquires and releases is no fence there, as until 2021.
    ("x86-aarch64-fex", "aarch64"): _FENCES,
    ("x86-aarch64-qemu", "aarch64"): _FENCES,
    ("x86-aarch64-risotto", "aarch64"): _FENCES,
    # There a fence.sc is no fence.acq_rel.
    ("libcudacxx-ptx", "ptx-v7.5"): dict.fromkeys(("MP+xchg.sc", "MP.sc+na"), "UNSOUND"),
    # There a write may be left in the end that another is location-ordered behind.
    ("opencl-vulkan", "vulkan"): {"exchange-lock": "UNSOUND"},
}
"""By table and public model, the verdicts that are others than ours."""


def table_under(path: str, model: str) -> Source:
    """A table that ships, under another model of its target."""
    table = read_table(read_source(path))
    head = f"target: {table.target.name}\n"
    lines = [it for it in table.source.text.splitlines() if not it.startswith("under:")]
    return Source(path, "\n".join(lines).replace(head, f"{head}under: {model}\n"))


def _test(line: str) -> Source:
    """A test in a line, or in assembly."""
    text = line if line.startswith("X86") else litmus_text(read_notation(line), "t")
    return Source("t.litmus", text)


def word(table: Source, test: Source, model: str) -> str:
    settings = Settings(model=model)
    return rspverify.explain(table, test, settings).explanation.verdict.word.value


def tables() -> Iterator[Any]:
    """Each table of a suite, with each public model of its target."""
    for suite in SUITES:
        folder = f"litmus/targets/{suite}"
        for each in yaml.safe_load(Path(folder, "suite.yaml").read_text())["schemes"]:
            path = os.path.relpath(Path(folder, each).resolve())
            table = read_table(read_source(path))
            code = "".join(it.source.text for it in (table, *table.parts))
            if any(it in code for it in NEWER):
                continue
            for public in MODELS.get(table.under or "", MODELS.get(table.target.name, ())):
                yield pytest.param(suite, path, public, id=f"{suite}-{Path(path).stem}-{public}")


def clone(public: str) -> str:
    """The file of a public model."""
    owner, name = public.split()
    variable, folder = CLONES[owner]
    if variable not in os.environ:
        pytest.skip(f"{variable} must name a clone")
    return str(Path(os.environ[variable], folder, f"{name}.cat").resolve())


@pytest.mark.parametrize(("suite", "path", "public"), [*tables()])
def test_public_models_agree(suite: str, path: str, public: str) -> None:
    table, folder = table_under(path, clone(public)), Path("litmus/targets", suite)
    model = yaml.safe_load((folder / "suite.yaml").read_text())["model"]
    name, expected = read_table(table).name, yaml.safe_load((folder / "expected.yaml").read_text())
    other = DIFFERENT.get((name, public.split()[1]), {})
    ours = {test: words[name] for test, words in expected["verdicts"].items() if name in words}
    wanted = {test: other.get(Path(test).stem, it) for test, it in ours.items()}
    found = {test: word(table, read_source(folder / test), model) for test in ours}
    assert found == wanted


@pytest.mark.parametrize(("name", "source", "line"), BREAKS)
def test_smallest_programs_break_it_under_public_models_too(
    name: str, source: str, line: str
) -> None:
    path, test = f"schemes/{name}.yaml", _test(line)
    own = read_table(read_source(path)).target
    assert word(table_under(path, own.model), test, source) == "UNSOUND"
    for public in MODELS[own.name]:
        if CLONES[public.split()[0]][0] in os.environ:
            holds = (public, line) in HOLDS
            found = word(table_under(path, clone(public)), test, source)
            assert found == ("SOUND" if holds else "UNSOUND"), public
