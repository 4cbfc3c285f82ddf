"""Items of a row's code: an instruction of a target as its assembly has it, or a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from rspverify.isa.instruction_set import Form, InstructionSet, instruction_set
from rspverify.isa.lines import Instruction, Line
from rspverify.litmus.assembly import line_of
from rspverify.litmus.problems import Problems
from rspverify.litmus.syntax import ASSEMBLY, parse
from rspverify.mapping.targets import Target
from rspverify.records import replace
from rspverify.source import Problem, Source, Span
from rspverify.wording import guess, quoted

OPERATOR, SCOPE = "{OP}", "{SCOPE}"
"""What stands in an instruction for the operator of an RMW, and for the scope of its operation."""

_LABELLED = re.compile(r"\s*(\w+\s*:)?\s*(.*?)\s*")
_OPERATION = re.compile(r"t[0-9]*,[rt][0-9]*,[vt][0-9]*")
_STANDS = {OPERATOR: "OPERATOR_", SCOPE: "SCOPE_"}
"""What stands for these while a line is read."""


class Item(Struct, frozen=True, dict=True):
    """An item as it is written, and its lines: an instruction, behind a label or not, or a label.

    Two are equal that are written alike.
    """

    text: str
    target: Target
    lines: tuple[Line, ...]
    span: Span

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Item) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    @property
    def instruction(self) -> Instruction | None:
        """Its instruction; None where it is a label alone."""
        return next((it for it in self.lines if isinstance(it, Instruction)), None)

    @property
    def form(self) -> Form | None:
        """What its instruction is; of one with an operator or a scope, with the first that the
        target has."""
        return next(iter(self.forms), None)

    @cached_property
    def forms(self) -> tuple[Form, ...]:
        """What its instruction is for each scope that the target has; the same, where it does not
        have that of its operation. Empty where it is nothing that is known."""
        its, usually = self.instruction, {**usual(self.target)}
        scopes = dict.fromkeys(self.target.scopes.values())
        words = [{**usually, SCOPE: it} for it in scopes] or [usually]
        if its is None:
            return ()
        names = (filled(its.mnemonic, each) for each in words)
        found = (known(self.target).form(each, its.operands) for each in names)
        return tuple(each for each in found if each is not None)

    @property
    def accesses(self) -> bool:
        """Whether it reads or writes memory."""
        return self.form is not None and self.form.address is not None

    @property
    def is_fence(self) -> bool:
        """Whether it orders accesses and does nothing else."""
        return self.form is not None and self.form.is_fence

    @property
    def priced(self) -> str:
        """As a file of costs names it: without registers and locations."""
        return str(self) if self.form is None else self.form.spelled

    @property
    def cost(self) -> int:
        """As the file of its instruction set says, of the widest scope; a label costs nothing."""
        if self.form is None:
            return int(self.instruction is not None)
        return max(map(known(self.target).cost, self.forms))

    def as_form(self, form: Form, *, scoped: bool = False) -> Iterator[Item]:
        """The same with another instruction of the same operands, or another fence: with its scope,
        and if it is scoped with that of the operation."""
        it = self.instruction
        assert it is not None
        head, _, tail = self.text.partition(it.mnemonic)
        new = form.mnemonic
        if self.is_fence:
            new, tail = form.spelled, ""
        if OPERATOR in it.mnemonic:
            new = new.replace(usual(self.target)[OPERATOR], OPERATOR)
        for each in dict.fromkeys((new, with_scope(new, self.target) if scoped else new)):
            yield item(f"{head}{each}{tail}", self.target, self.span)


def filled(text: str, words: Mapping[str, str]) -> str:
    """A text with words in the place of signs."""
    for sign, word in words.items():
        text = text.replace(sign, word)
    return text


def usual(target: Target) -> Mapping[str, str]:
    """An operator and a scope that a target has, for what does not depend on which."""
    words = ((OPERATOR, target.operators.values()), (SCOPE, target.scopes.values()))
    return {sign: next(iter(those)) for sign, those in words if those}


def with_scope(text: str, target: Target) -> str:
    """An instruction with that of its operation in the place of the usual scope."""
    word = usual(target).get(SCOPE)
    return text if word is None else re.sub(rf"\.{word}\b", f".{SCOPE}", text)


def known(target: Target) -> InstructionSet:
    """The instructions of a target."""
    return instruction_set(target.dialect.instructions)


def item(text: str, target: Target, span: Span) -> Item:
    """An item that is right."""
    problems: list[Problem] = []
    found = read_item(text, target, span, problems)
    if found is None:
        raise AssertionError(f"{text}: {problems[0].message}")
    return found


def read_item(text: str, target: Target, span: Span, problems: list[Problem]) -> Item | None:
    """The item that a text means; None where that is wrong, which is noted."""
    parsed, wrong = _parsed(text, target.language)
    problems += [Problem(span, it.message, it.hint) for it in wrong]
    if wrong:
        return None
    lines = tuple(_at(span, each) for each in parsed)
    unknown = [*_unknown(lines, span, target)]
    problems += unknown
    return None if unknown else Item(text, target, lines, span)


@lru_cache(4096)
def _parsed(text: str, language: str) -> tuple[Sequence[Line], Sequence[Problem]]:
    """The lines of a text, and what is wrong with it, wherever it stands: mutants have the same
    instructions again and again."""
    match = _LABELLED.fullmatch(text)
    cells = [each for each in (match.groups() if match else ()) if each]
    rows = "".join(f" {filled(each, _STANDS)} ;\n" for each in cells)
    source = Source("a row", f"{language} row\n{{ }}\n P0 ;\n{rows}")
    told = Problems()
    columns = parse(ASSEMBLY, source, source.text, told)
    read = [line_of(cell, told) for row in columns.rows for cell in row.cells] if columns else []
    if columns is not None and len(read) != len(cells):
        told.error(columns.span, f"an instruction is needed, not {quoted(text)}")
    return read, told.as_error().problems if told else ()


def _at(span: Span, it: Line) -> Line:
    """A line, where it is in the file of the table."""
    if isinstance(it, Instruction):
        signs = {word: sign for sign, word in _STANDS.items()}
        it = replace(it, mnemonic=filled(it.mnemonic, signs))
    return replace(it, span=span)


def _unknown(lines: tuple[Line, ...], span: Span, target: Target) -> Iterator[Problem]:
    """A problem for each instruction that the target has not."""
    instructions = known(target)
    for it in (each for each in lines if isinstance(each, Instruction)):
        if it.mnemonic == "OP":
            if not _OPERATION.fullmatch(",".join(it.operands)):
                message = f"OP must be written `OP t,r,v` in the row of an rmw, not `{it}`"
                yield Problem(span, message)
            continue
        names = [it.mnemonic]
        for sign, words in ((OPERATOR, target.operators), (SCOPE, target.scopes)):
            if sign in it.mnemonic:
                names = [each.replace(sign, word) for each in names for word in words.values()]
        for name in names:
            form = instructions.form(name, it.operands)
            if form is not None and "end" in form.words:
                yield Problem(span, f"{it} must not end the thread, of which a row is a part")
                break
            if form is None:
                what = f"{it} must be an instruction of {target.name}"
                mnemonics = instructions.mnemonics
                hint = None if instructions.forms(name) else guess(name, mnemonics)
                yield Problem(span, f"{what}, and is not known with these operands", hint)
                break
