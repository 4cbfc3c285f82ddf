"""The code of a row, cut out of a function with one operation.

The names of rows stand in place of registers: x has the address of memory, v and e what was loaded
from the places for these, r what is stored to the place of the result. These loads and stores, and
the return, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from rspverify.compilers.operations import NEW, RESULT
from rspverify.isa.instruction_set import Form, instruction_set
from rspverify.isa.lines import Instruction, Label, Line
from rspverify.mapping.items import OPERATOR
from rspverify.mapping.targets import Target
from rspverify.records import replace
from rspverify.scheme.orders import Op
from rspverify.source import InputError, Problem, Severity, Span

CALCULATED = "t"
"""What rows call what an RMW writes, where its code calculates it."""

_LABELS = ("L", "F", *(f"L{number}" for number in range(1, 20)))


def row_code(
    lines: Sequence[Line], op: Op | None, block: str, target: Target, places: Mapping[int, str]
) -> tuple[str, ...]:
    """The code of an operation as a row has it; where it is None, as any function has it.

    lines: of the function, in the spelling of the dialect. block: the register with the address of
    memory. places: by its offset, what each place is for but that of the operation, whose is 0.
    Raises InputError where a row cannot have it.
    """
    return tuple(_Row(lines, block, target, places).texts(op))


_Code = Instruction | Label


class _Row:
    def __init__(
        self, lines: Sequence[Line], block: str, target: Target, places: Mapping[int, str]
    ) -> None:
        dialect = target.dialect
        self._dialect, self._places = dialect, places
        self._set = instruction_set(dialect.instructions)
        self._register = re.compile(rf"(?<![\w%.])(?:{dialect.registers}|%\w+)(?!\w)")  # PTX
        self._word = next(iter(target.operators.values()), "")
        self._given, self._names = block, {dialect.spelled(block): "x"}
        self._moved: tuple[str, ...] = ()
        own = [it for it in lines if isinstance(it, Instruction | Label)]
        own = [it for it in own if isinstance(it, Label) or not self._leaves_out(it)]
        goals = {self._goal(it) for it in own}
        own = [it for it in own if isinstance(it, Instruction) or it.name in goals]
        self._kept = self._in_order(own)
        there = (it.name for it in self._kept if isinstance(it, Label))
        self._labels = dict(zip(there, _LABELS, strict=False))

    # ---- what is left out ------------------------------------------------------------------------

    def _leaves_out(self, it: Instruction) -> bool:
        """Whether an instruction loads an operand or stores the result, or moves the address of
        memory to where it is used; its register is noted."""
        form = self._form(it)
        if form.address is None and (moved := self._with_address(it, form)):
            self._names |= dict.fromkeys(map(self._dialect.spelled, moved), "x")
            return True
        place = self._place(it, form)
        if not place:
            return False
        text = form.result if form.written is None else form.written.text
        given = form.bound(it.operands).get(text or "", "")
        plain = form.reads is not (form.written is not None) and not form.words
        if place not in self._places or not plain or not self._register.fullmatch(given):
            _refuse(it.span, f"{it} is of another place than those of the operation")
        name, register = self._places[place], self._dialect.spelled(given)
        if self._names.setdefault(register, name) != name:
            _refuse(it.span, f"{given} has {name}, and {self._names[register]} as well")
        if name == RESULT:
            self._moved = (f"{it.mnemonic} {RESULT},{given}",)
        return True

    def _with_address(self, it: Instruction, form: Form) -> list[str]:
        """The registers to which an instruction moves the address of memory."""
        bound = form.bound(it.operands)
        those = (to for to, formula in form.sets if bound.get(formula.text) == self._given)
        return [bound.get(it, it) for it in those]

    def _form(self, it: Instruction) -> Form:
        found = self._set.form(it.mnemonic.replace(OPERATOR, self._word), it.operands)
        if found is None:
            _refuse(it.span, f"{it} is not known")
        return found

    def _place(self, it: Instruction, form: Form) -> int:
        """How far from the start of memory an access is; 0 of what is no access."""
        if form.address is None:
            return 0
        bound = form.bound(it.operands)
        text = "+".join(bound[each] for each in (form.offset, form.address) if each is not None)
        bases = self._register.findall(text)
        if [self._names.get(self._dialect.spelled(each)) for each in bases] != ["x"]:
            _refuse(it.span, f"{it} has an address that is calculated")
        numbers = re.findall(r"\d+", text.replace(bases[0], ""))
        return int(numbers[0]) if numbers else 0

    def _goal(self, it: Line) -> str | None:
        """The label to which a line may go."""
        if not isinstance(it, Instruction) or (target := self._form(it).target) is None:
            return None
        return self._form(it).bound(it.operands)[target]

    def _in_order(self, own: list[_Code]) -> list[_Code]:
        """Without the return: what stands behind it, and goes back to a place before it, stands
        there, behind a branch over it."""
        ends = [
            at
            for at, it in enumerate(own)
            if isinstance(it, Instruction) and "end" in self._form(it).words
        ]
        if len(ends) != 1:
            _refuse(None, f"it returns in {len(ends)} places")
        before, behind = own[: ends[0]], own[ends[0] + 1 :]
        if not behind:
            return before
        *block, back = behind
        form = self._form(back) if isinstance(back, Instruction) else None
        places = [
            at
            for at, it in enumerate(before)
            if isinstance(it, Label) and it.name == self._goal(back)
        ]
        if not places or form is None or form.branch is None or form.branch.needs:
            _refuse(back.span, "what stands behind the return does not go back")
        return [*before[: places[0]], back, *block, *before[places[0] :]]

    # ---- how it is written -----------------------------------------------------------------------

    def texts(self, op: Op | None) -> Iterator[str]:
        """The items of the row."""
        for register in {it for each in self._kept for it in self._implied(each)}:
            if self._names.pop(register, "") != RESULT:
                self._moved = ()
            self._names[register] = register
        if RESULT in self._names.values():
            self._moved = ()
        label = ""
        for it in self._of_rmw() if op is Op.RMW else self._kept:
            if isinstance(it, Instruction):
                text = f"{it.mnemonic} {','.join(self._operands(it))}".strip()
                yield f"{label} {text}".strip()
            elif label:
                yield label
            label = "" if isinstance(it, Instruction) else f"{self._labels[it.name]}:"
        yield from (label, *self._moved) if label else self._moved

    def _implied(self, it: _Code) -> Iterator[str]:
        """Registers that an instruction has without naming them. They keep their names, and what
        is in one is moved to r, as by the store that is left out."""
        if isinstance(it, Instruction):
            form = self._form(it)
            for each in (form.result, *(name for name, _ in form.sets)):
                if each and each not in form.bound(it.operands) and self._register.fullmatch(each):
                    yield each

    def _operands(self, it: Instruction) -> Iterator[str]:
        """With the names of rows."""
        goal = self._goal(it) if it.mnemonic != "OP" else None
        for each in it.operands:
            yield self._labels[each] if each == goal else self._register.sub(self._name, each)

    def _name(self, match: re.Match[str]) -> str:
        register = self._dialect.spelled(match[0])
        if register == self._dialect.zero:
            return match[0]
        taken = sum(each[0] == CALCULATED for each in self._names.values())
        return self._names.setdefault(register, f"{CALCULATED}{taken + 1}")

    def _of_rmw(self) -> list[_Code]:
        """With a sign for the operator: in the name of the one access, or for what is calculated
        between the two."""
        accesses = [
            at
            for at, it in enumerate(self._kept)
            if isinstance(it, Instruction) and self._form(it).address is not None
        ]
        kept = list(self._kept)
        if len(accesses) == 1:
            (at,) = accesses
            it = kept[at]
            assert isinstance(it, Instruction)
            if not self._word or self._word not in it.mnemonic:
                _refuse(it.span, f"{it} must be the instruction for an operator, {self._word}")
            kept[at] = replace(it, mnemonic=it.mnemonic.replace(self._word, OPERATOR, 1))
            return kept
        if len(accesses) != 2:
            _refuse(None, f"an rmw must have one access or two, not {len(accesses)}")
        first, last = accesses
        between = kept[first + 1 : last]
        if not between or not all(map(self._calculates, between)):
            _refuse(kept[last].span, "between the accesses an rmw must calculate, and do no more")
        load, store = kept[first], kept[last]
        assert isinstance(load, Instruction) and isinstance(store, Instruction)
        operator = Instruction("OP", (CALCULATED, RESULT, NEW), (), load.span)
        written = self._form(store).written
        kept[first] = self._with(load, [self._form(load).result or ""], RESULT)
        kept[last] = self._with(store, written.needs if written else (), CALCULATED)
        kept[first + 1 : last] = [operator]
        return kept

    def _calculates(self, it: _Code) -> bool:
        if not isinstance(it, Instruction):
            return False
        form = self._form(it)
        return bool(form.sets) and form.target is None and not form.words

    def _with(self, it: Instruction, letters: Iterable[str], name: str) -> Instruction:
        """An instruction with a name of rows in the place of an operand."""
        bound = self._form(it).bound(it.operands)
        given = [bound[each] for each in letters if each in bound]
        return replace(it, operands=tuple(name if it in given else it for it in it.operands))


def _refuse(span: Span | None, message: str) -> NoReturn:
    raise InputError([Problem(span, message, severity=Severity.UNSUPPORTED)])
