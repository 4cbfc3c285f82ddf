"""The text that a compiler emits, line by line: instructions, labels, directives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from rspverify.isa.lines import Directive, Instruction, Label, Line
from rspverify.source import InputError, Problem, Problems, Source, Span
from rspverify.wording import quoted

_LABEL = re.compile(r"([\w.$@]+):")
_DIRECTIVE = re.compile(r"(\.\w+)\s*(.*)")
_INSTRUCTION = re.compile(r"((?:@!?%p\d+ )?[a-z][\w.]*[-+]?)(?:\s+(.*))?")
_NO_COMMA = re.compile(r",(?![^\[({]*[\])}])")
"""A comma that is in no brackets."""
_METADATA, _METADATA_END = ".amdgpu_metadata", ".end_amdgpu_metadata"


class Syntax(Struct, frozen=True):
    """How a compiler writes assembly. comments: what begins one; between: what stands between two
    instructions in a line; modifiers: which words of an instruction are no operands."""

    comments: str
    between: str = r"\s*;\s*"
    modifiers: re.Pattern[str] | None = None

    def bare(self, line: str) -> str:
        """A line without its comment, which begins in no text."""
        found = re.compile(rf'("(?:\\.|[^"\\])*")|(?:{self.comments}).*')
        return found.sub(lambda match: match[1] or "", line).rstrip()


_MODIFIER = re.compile(
    r"\w+:\S+|(?!sext\()\w+\([^)]*\)|glc|slc|dlc|scc|sc[01]|nt|gds|lds|offen|idxen"
)
AMDGPU = Syntax(";|//", r"\s+::\s+", _MODIFIER)
"""Two instructions with `::` between them are issued as one."""


def read_assembly(source: Source, syntax: Syntax | None = None) -> tuple[Line, ...]:
    """The lines of a text of assembly, without comments and metadata. syntax: None for AMD's.

    Raises InputError with every line that is none of the three.
    """
    lines, problems = list[Line](), Problems()
    syntax = syntax or AMDGPU
    in_metadata = False
    for number, text in enumerate(source.text.split("\n"), start=1):
        bare = syntax.bare(text)
        if in_metadata or bare.strip() == _METADATA:
            in_metadata = bare.strip() != _METADATA_END
            continue
        with problems:
            lines += _read_line(source, number, bare, syntax)
    problems.tell()
    return tuple(lines)


def _read_line(source: Source, number: int, text: str, syntax: Syntax) -> Iterator[Line]:
    """What stands in one line: labels, and behind them a directive or instructions."""
    column, begun = 0, None
    while rest := text[column:].lstrip():
        column = len(text) - len(rest)
        span = begun or Span(source, number, column + 1, number, len(text) + 1)
        if label := _LABEL.match(rest):
            yield Label(label[1], span)
            column += label.end()
            continue
        if directive := _DIRECTIVE.fullmatch(rest):
            yield Directive(directive[1], directive[2], span)
            return
        one, *others = re.split(syntax.between, rest, maxsplit=1)
        if one.strip():
            yield _read_instruction(one.strip(), span, syntax.modifiers)
        if not others:
            return
        column, begun = len(text) - len(others[0]), span


def _read_instruction(text: str, span: Span, modifier: re.Pattern[str] | None) -> Instruction:
    match = _INSTRUCTION.fullmatch(text)
    if match is None:
        message = "a line of assembly must be a label, a directive or an instruction, not "
        raise InputError([Problem(span, message + quoted(text))])
    operands: list[str] = []
    modifiers: list[str] = []
    for part in _NO_COMMA.split(match[2] or ""):
        words = part.split()
        beside = [word for word in words if modifier and modifier.fullmatch(word)]
        own = [word for word in words if word not in beside]
        operands += [" ".join(own)] if own else []
        modifiers += beside
    return Instruction(match[1], tuple(operands), tuple(modifiers), span)
