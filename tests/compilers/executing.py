"""What compilers emit, assembled by the system and executed by an emulator: shares nothing with how
code is read back.

Functions of one thread are drawn at random, compiled, and executed from random memory; what is in
memory in the end, and what each read of the source has read, must be what is read back of the code.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from rspverify.compilers.cpus import ForCpu, translator
from rspverify.compilers.programs import APART
from rspverify.litmus.program import Kind, Program
from rspverify.litmus.reader import read_program
from rspverify.mapping.mapped import Mapped
from rspverify.source import InputError, Source
from rspverify.value import evaluate

NAMES = ("x", "y", "z")
ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
VALUES = (0, 1, -1, 2, 7, 2**31 - 1, -(2**31))
TIMES = 6
"""From so many memories each function is executed."""

ASSEMBLED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64", ("-march=armv8.4-a",)),
    "x86-64": ("gcc", "", ()),
    "riscv64": ("riscv64-linux-gnu-gcc", "qemu-riscv64", ()),
    "ppc64le": ("powerpc64le-linux-gnu-gcc", "qemu-ppc64le", ("-Wa,-mregnames",)),
    "armv7": ("arm-linux-gnueabihf-gcc", "qemu-arm", ("-march=armv7-a+fp", "-marm")),
}
"""By processor, what assembles, what executes, and options."""
HEAD = {
    "x86-64": ".intel_syntax noprefix\n",
    "armv7": ".syntax unified\n.arm\n",
    "ppc64le": ".abiversion 2\n",
}


def require(*programs: str) -> None:
    """Skip a test where some of these are not installed."""
    if missing := [it for it in programs if it and shutil.which(it) is None]:
        pytest.skip(f"{' and '.join(missing)} must be installed")


class Statements:
    """The text of a random function."""

    def __init__(self, rng: random.Random) -> None:
        self._rng, self._registers = rng, list[str]()

    def text(self) -> str:
        lines = list(self._block(self._rng.randint(2, 5), 0))
        parameters = ", ".join(f"atomic_int* {it}" for it in NAMES)
        body = "\n".join(f"  {it}" for it in lines)
        return f"C t\n{{ }}\nP0 ({parameters}) {{\n{body}\n}}\nexists (x=0)\n"

    def _block(self, count: int, depth: int) -> Iterator[str]:
        rng = self._rng
        for _ in range(count):
            if depth < 2 and self._registers and rng.random() < 0.25:
                known = [*self._registers]
                yield f"if ({self._condition()}) {{"
                yield from self._block(rng.randint(1, 2), depth + 1)
                yield "}"
                self._registers = known
            else:
                yield from self._statement()

    def _statement(self) -> Iterator[str]:
        rng, x = self._rng, self._rng.choice(NAMES)
        register = f"r{rng.randrange(10**6)}"
        order = f"memory_order_{rng.choice(ORDERS)}"
        match rng.randrange(6):
            case 0:
                load = rng.choice(("relaxed", "acquire", "seq_cst"))
                yield f"int {register} = atomic_load_explicit({x}, memory_order_{load});"
            case 1:
                store = rng.choice(("relaxed", "release", "seq_cst"))
                yield f"atomic_store_explicit({x}, {self._value()}, memory_order_{store});"
                return
            case 2:
                yield f"atomic_thread_fence({order});"
                return
            case 3:
                name = rng.choice(("add", "sub", "or", "xor", "and"))
                given = f"{x}, {self._value()}, {order}"
                yield f"int {register} = atomic_fetch_{name}_explicit({given});"
            case 4:
                yield f"int {register} = atomic_exchange_explicit({x}, {self._value()}, {order});"
            case _:
                expected = f"e{register}"
                yield f"int {expected} = {rng.choice((0, 1, -1))};"
                failing = "memory_order_relaxed"
                given = f"{x}, &{expected}, {self._value()}, {order}, {failing}"
                yield f"int {register} = atomic_compare_exchange_strong_explicit({given});"
                self._registers.append(expected)
        if rng.random() < 0.85:
            self._registers.append(register)

    def _value(self) -> str:
        rng = self._rng
        number = rng.choice((0, 1, 2, 5, -1, -7, 2**31 - 1))
        if not self._registers or rng.random() < 0.4:
            return str(number)
        one, other = rng.choice(self._registers), rng.choice([*self._registers, str(number)])
        operator = rng.choice(("+", "-", "^", "&", "|", "==", "!=", "<", ">"))
        return f"({one} {operator} {other})"

    def _condition(self) -> str:
        rng = self._rng
        one = rng.choice(self._registers)
        other = rng.choice([*self._registers, "0", "1", "-1", "3"])
        return f"{one} {rng.choice(('==', '!=', '<', '<=', '>', '>='))} {other}"


def functions(seed: int, count: int) -> list[Program]:
    rng = random.Random(seed)
    texts = (Statements(rng).text() for _ in range(count))
    return [read_program(Source("t.litmus", it)) for it in texts]


def read_back(it: ForCpu, programs: Sequence[Program]) -> dict[int, Mapped]:
    """Those that can be read, by their places."""
    it.prepare(programs)
    found = {}
    for at, program in enumerate(programs):
        try:
            found[at] = it.compiled(program)
        except InputError:
            continue
    return found


def wrong(
    cpu: str,
    word: str,
    seed: int,
    count: int,
    folder: Path,
    planted: Callable[[str], str] = str,
) -> list[str]:
    """The functions that do something else than what is read back, in words. planted: what is
    executed in the place of what was emitted."""
    it, programs = translator(word), functions(seed, count)
    made = read_back(it, programs)
    assert len(made) > count // 3
    states = random.Random(seed)
    starts = {at: [[states.choice(VALUES) for _ in NAMES] for _ in range(TIMES)] for at in made}
    texts = {at: it.emitted(programs[at]).text for at in made}
    got = executed(cpu, {at: planted(text) for at, text in texts.items()}, starts, folder)
    found = []
    for at, mapped in made.items():
        for start, words in zip(starts[at], got[at], strict=True):
            if difference := _difference(programs[at], mapped, start, words):
                found.append(f"{difference}\n{programs[at].source.text}\n{texts[at]}")
                break
    return found


def _difference(program: Program, made: Mapped, start: list[int], words: list[int]) -> str:
    places = [it.name for it in program.locations]
    memory = dict(zip(places, start, strict=False))
    reads: dict[int, int] = {}
    for it in made.program.operations:
        if it.kind is Kind.CHOICE:
            reads[it.index] = 1
        elif evaluate(it.guard, reads) and it.location is not None:
            before = memory[it.location]
            reads[it.index] = before
            if it.value is not None and (it.success is None or evaluate(it.success, reads)):
                memory[it.location] = evaluate(it.value, reads)
        else:
            reads[it.index] = 0
    step = APART // 4
    got = {name: words[at * step] for at, name in enumerate(places)}
    if got != memory:
        return f"memory is {got}, and not {memory}, from {start}"
    for each in made.seen:
        operation = program.operations[each.operation]
        if operation.used and evaluate(each.guard, reads):
            has = words[(len(places) + each.operation) * step]
            if has != evaluate(each.value, reads):
                return f"{operation} has read {has}, and not {evaluate(each.value, reads)}: {start}"
    return ""


def cleaned(text: str, number: int) -> str:
    """The code of a function alone, with labels of its own."""
    own = re.sub(r"\.L", f".Lf{number}_", text)
    return re.sub(r"(?m)^\s*\.(?:size|type|globl|fnstart|fnend|save|cfi\w*)\b.*$", "", own)


def executed(
    cpu: str, texts: Mapping[int, str], starts: Mapping[int, list[list[int]]], folder: Path
) -> dict[int, list[list[int]]]:
    """The words of memory behind each call, by function and start."""
    assembler, emulator, options = ASSEMBLED[cpu]
    assembly, calls, declared = [HEAD.get(cpu, ""), ".text\n"], [], []
    for at, text in texts.items():
        kind = "%function" if cpu == "armv7" else "@function"
        assembly.append(f".globl fun{at}\n.type fun{at}, {kind}\n.p2align 4\n")
        assembly.append(re.sub(r"\bP0\b", f"fun{at}", cleaned(text, at)))
        declared.append(f"void fun{at}(int *block);")
        for start in starts[at]:
            values = ", ".join(map(str, start))
            calls.append(f"run(fun{at}, (int[]){{{values}}}, {len(start)});")
    newline = "\n"
    driver = f"""#include <stdio.h>
#include <string.h>
{newline.join(declared)}
static void run(void (*f)(int *), const int *start, int count) {{
  static int block[256] __attribute__((aligned(64)));
  memset(block, 0, sizeof block);
  for (int i = 0; i < count; i++) block[i * {APART // 4}] = start[i];
  f(block);
  for (int i = 0; i < 256; i++) printf("%d ", block[i]);
  printf("\\n");
}}
int main(void) {{
{newline.join(calls)}
  return 0;
}}
"""
    (folder / "code.s").write_text("".join(assembly))
    (folder / "driver.c").write_text(driver)
    program = str(folder / "program")
    files = [str(folder / "code.s"), str(folder / "driver.c")]
    command = [assembler, *options, "-static", "-w", "-o", program, *files]
    subprocess.run(command, check=True, capture_output=True, text=True)
    done = subprocess.run(
        [*([emulator] if emulator else []), program], check=True, capture_output=True, text=True
    )
    lines = [[int(it) for it in line.split()] for line in done.stdout.splitlines()]
    found: dict[int, list[list[int]]] = {}
    for at in texts:
        found[at], lines = lines[: len(starts[at])], lines[len(starts[at]) :]
    return found
