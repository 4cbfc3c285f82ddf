"""What compilers emit, assembled by the system and disassembled by another tool: what is read of that
text must be what is read of theirs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rspverify.compilers.assembly import Syntax, read_assembly
from rspverify.compilers.cpus import ForCpu, translator
from rspverify.isa.lines import Instruction
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import Mapped
from rspverify.source import InputError, Source
from tests.compilers.executing import ASSEMBLED, HEAD, cleaned

_LINE = re.compile(r"\s*([0-9a-f]+):\t(.*)")
_FUNCTION = re.compile(r"[0-9a-f]+ <f(\d+)P(\d+)>:")
_TARGET = re.compile(r"\b([0-9a-f]+) <[^>]*>")
_COMMENT = re.compile(r"\s*(?:;|@|//|#\s).*| \{0\}|\t\{0\}")
_HEX = re.compile(r"0x([0-9a-f]+)")
_LABEL = re.compile(r"(?m)^\s*(\.\w+):\s*$\n(?=\s*(\.\w+):\s*$)")


def disassembler(cpu: str) -> str:
    return ASSEMBLED[cpu][0].replace("gcc", "objdump")


def differences(
    cpu: str,
    word: str,
    programs: Sequence[Program],
    folder: Path,
    planted: Callable[[str], str] = str,
) -> tuple[int, list[str]]:
    """How many programs were read, and those of which another one is read of their code when it was
    assembled and disassembled. planted: what is assembled in the place of what was emitted."""
    it, made = translator(word), dict[int, Mapped]()
    it.prepare(programs)
    for at, program in enumerate(programs):
        try:
            made[at] = it.compiled(program)
        except InputError:
            continue
    texts = {at: _without_twins(it.emitted(programs[at]).text) for at in made}
    again = _disassembled(cpu, {at: planted(text) for at, text in texts.items()}, folder)
    found = []
    for at in made:
        try:
            ours, theirs = (_read(it, programs[at], each[at]) for each in (texts, again))
            same = _told(ours) == _told(theirs)
            same &= _number(it, texts[at]) == _number(it, again[at])
            why = ""
        except InputError as error:
            same, why = False, str(error)
        if not same:
            found.append(f"{programs[at].source.text}\n{texts[at]}\n{again[at]}\n{why}")
    return len(made), found


def _read(it: ForCpu, program: Program, text: str) -> Mapped:
    """What is read of a text in the place of what was emitted."""
    other = ForCpu(it.word, it.goal, it.compiler)
    other.emitted_before[other.module(program)] = Source("it.s", text)
    return other.compiled(program)


def _without_twins(text: str) -> str:
    """With one label where several are of one place."""
    while twins := _LABEL.search(text):
        rest = text[: twins.start()] + text[twins.end() :]
        text = re.sub(rf"{re.escape(twins[1])}\b", twins[2], rest)
    return text


def _number(it: ForCpu, text: str) -> int:
    """How many instructions are read."""
    lines = read_assembly(Source("it", text), Syntax(it.goal.of.comments))
    return sum(isinstance(each, Instruction) for each in lines)


def _told(made: Mapped) -> tuple[object, ...]:
    """All that a model sees of a program, and what each read of the source has read."""
    events = tuple(
        (it.kind, it.location, it.guard, it.value, it.success, it.tags, it.pair, it.textual)
        for it in made.program.operations
    )
    return events, made.seen, tuple(it.guard for it in made.program.cuts)


def _disassembled(cpu: str, texts: dict[int, str], folder: Path) -> dict[int, str]:
    """The functions of each text, as the disassembler says them, with labels where they go to."""
    assembler, _, options = ASSEMBLED[cpu]
    assembly = [HEAD.get(cpu, ""), ".text\n"]
    for at, text in texts.items():
        own = re.sub(r"\bP(\d+)\b", rf"f{at}P\1", cleaned(text, at))
        assembly.append(re.sub(r"(?m)^\s*\.p2align.*$", "", own))
    (folder / "code.s").write_text("".join(assembly))
    made = str(folder / "code.o")
    command = [assembler, *options, "-c", "-o", made, str(folder / "code.s")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    syntax = ["-M", "intel"] if cpu == "x86-64" else []
    said = subprocess.run(
        [disassembler(cpu), "-d", "--no-show-raw-insn", *syntax, made],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = dict.fromkeys(texts, "")
    goals = {match[1] for match in _TARGET.finditer(said)}
    at, thread = -1, ""
    for line in said.splitlines():
        if begins := _FUNCTION.fullmatch(line):
            at, thread = int(begins[1]), begins[2]
            found[at] += f"P{thread}:\n"
        elif (match := _LINE.fullmatch(line)) and at >= 0:
            found[at] += "".join(_again(match, goals))
    return {at: _ended(text) for at, text in found.items()}


def _again(match: re.Match[str], goals: set[str]) -> Iterator[str]:
    """A line of a disassembler, as it is written for an assembler."""
    address, text = match.groups()
    if address in goals:
        yield f".Lat{address}:\n"
    text = _TARGET.sub(r".Lat\1", text)
    text = _HEX.sub(lambda it: str(int(it[1], 16)), _COMMENT.sub("", text))
    if not text.startswith((".", "\t.")):
        yield f"\t{text}\n"


def _ended(text: str) -> str:
    """With a label at the end of each function."""
    parts = re.split(r"(?m)^(?=P\d+:$)", text)[1:]
    return "".join(f"{part}.Lfunc_end{at}:\n" for at, part in enumerate(parts))
