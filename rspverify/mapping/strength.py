"""How strong the items of a row's code are, and what may stand in their place.

What is stronger is said by the file of the instruction set: a stronger item in the place of one
leaves no execution more, as no fence and no order of an access takes any order away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from typing import Any

from msgspec import Struct

from rspverify.isa.addresses import Address
from rspverify.isa.by_table import Choice
from rspverify.isa.conditions import expression
from rspverify.isa.execution import Depends, State
from rspverify.isa.lines import Label
from rspverify.mapping.items import OPERATOR, SCOPE, Item, item, known, usual, with_scope
from rspverify.mapping.table import FromC, RowExecutor, Table, Translated, named
from rspverify.mapping.targets import Target
from rspverify.scheme.orders import Op
from rspverify.scheme.rows import Steps
from rspverify.source import InputError, Problem, Severity, Span
from rspverify.value import Expression, Read, binary, renumbered

Code = tuple[Item, ...]


class Parts(Struct, frozen=True):
    """A code: what orders before its core and behind it, in elements; its core accesses memory.

    An element is a fence, or what makes the rest depend on the result.
    """

    before: tuple[Code, ...]
    core: Code
    behind: tuple[Code, ...]


class Strengths(Struct, frozen=True, dict=True):
    """What code for a target may have in the place of its items. extensions: those of the
    architecture that it may use. span: what stands for the place of new items. loosely: whether
    what is stronger but for slips (isa/instruction_set.py) counts as stronger. scoped: whether code
    may have the scope of its operation."""

    target: Target
    extensions: frozenset[str]
    span: Span
    loosely: bool = False
    scoped: bool = False

    @cached_property
    def fences(self) -> tuple[Item, ...]:
        """Those that may be put in, each once."""
        found: dict[frozenset[str], str] = {}
        for form in known(self.target).every:
            if form.is_fence and known(self.target).offered(form):
                found.setdefault(form.every_tag, form.spelled)
        texts = [with_scope(it, self.target) if self.scoped else it for it in found.values()]
        return tuple(self._item(it) for it in texts if not (self.scoped and self._fixed(it)))

    @cached_property
    def branch(self) -> Code:
        """What makes the rest of the code depend on r; empty where nothing needs that."""
        return tuple(map(self._item, known(self.target).branch))

    def stronger(self, one: Item, other: Item) -> bool:
        """Whether the one in the place of the other leaves no execution more. Itself included."""
        if one == other or not (one.forms and other.forms):
            return one == other
        pairs, compared = zip(one.forms, other.forms, strict=True), known(self.target).stronger
        return all(compared(*each, loosely=self.loosely) for each in pairs)

    def of_strength(self, it: Item, *, every: bool = False) -> list[Item]:
        """The instructions that do the same with another strength. every: those too that need an
        extension, of which no cost is known, or that have a scope where code may have that of its
        operation."""
        instructions, own = known(self.target), it.form
        if own is None or not (it.accesses or it.is_fence):
            return []
        allowed = {"", own.needs, *self.extensions}
        return [
            made
            for each in instructions.alike(own)
            if every or (instructions.offered(each) and each.needs in allowed)
            for made in it.as_form(each, scoped=self.scoped)
            if every or not (self.scoped and self._fixed(made.text))
            if [form.tags for form in made.forms] != [form.tags for form in it.forms]
        ]

    def _fixed(self, text: str) -> bool:
        """Whether an instruction has a scope, and not that of its operation."""
        words = "|".join(self.target.scopes.values()) or "(?!)"
        return re.search(rf"\.({words})\b", text) is not None

    def suits(self, row: Any, code: Code) -> bool:
        """Whether a code has the scope of its operation only if those of the row have one."""
        return None not in row.scopes or not any(SCOPE in str(it) for it in code)

    def instead(self, it: Item, code: Code) -> Iterator[Code]:
        """What may stand in the place of an access in a code, and is stronger."""
        for weak, strong in known(self.target).instead:
            pattern, own = self._item(weak), it.instruction
            if own is not None and OPERATOR not in own.mnemonic and pattern.form is it.form:
                assert pattern.instruction is not None
                pairs = zip(pattern.instruction.operands, own.operands, strict=True)
                names = {a.strip("[]"): b.strip("[]") for a, b in pairs} | {"t": _fresh(code)}
                yield tuple(self._item(_renamed(each, names)) for each in strong)

    def less(self, it: Item) -> Iterator[Item]:
        """What is weaker than an access by another instruction."""
        for weak, strong in known(self.target).instead:
            own = it.instruction
            if own is not None and self._item(strong[-1]).form is it.form:
                yield self._item(f"{weak.split()[0]} {','.join(own.operands)}")

    def parts(self, code: Code) -> Parts:
        """A code, in parts."""
        found: list[tuple[Code, bool]] = []
        rest, branch = code, self.branch
        while rest:
            size = len(branch) if branch and _alike(rest[: len(branch)], branch) else 1
            found.append((rest[:size], size > 1 or rest[0].is_fence))
            rest = rest[size:]
        core = [at for at, (_, orders) in enumerate(found) if not orders]
        first, end = (core[0], core[-1] + 1) if core else (len(found), len(found))
        elements = [each for each, _ in found]
        middle = tuple(chain.from_iterable(elements[first:end]))
        return Parts(tuple(elements[:first]), middle, tuple(elements[end:]))

    def cores(self, core: Code) -> list[Code]:
        """All cores that do the same, itself first: its accesses stronger or weaker."""
        choices = [
            [(it,), *((each,) for each in self.of_strength(it)), *self.instead(it, core)]
            for it in core
        ]
        return [tuple(chain.from_iterable(chosen)) for chosen in product(*choices)]

    def stronger_core(self, one: Code, other: Code) -> bool:
        """Whether a core in the place of another, of which both were made, leaves no execution
        more."""
        if len(one) == len(other):
            return all(map(self.stronger, one, other))
        return any(
            self.stronger_core(one, (*other[:at], *more, *other[at + 1 :]))
            for at, it in enumerate(other)
            for more in self.instead(it, other)
        )

    def strongest(self, code: Code, *, result: bool) -> Code:
        """A code with all that orders around its core, that as strong as can be. result: whether it
        leaves one in r."""
        most = [it for it in self.fences if not any(self.above(each, it) for each in self.fences)]
        core = self.parts(code).core
        for each in self.cores(core):
            core = each if self.stronger_core(each, core) else core
        behind = self.written([self.branch] if result else [], core)
        return (*most, *core, *behind, *(most if core else ()))

    def above(self, one: Item, other: Item) -> bool:
        """Whether the one is stronger than another, and not as strong."""
        return self.stronger(one, other) and not self.stronger(other, one)

    def written(self, elements: Iterable[Code], core: Code = ()) -> Code:
        """Elements one after the other, each with labels of its own."""
        labels = {it.name for each in core for it in each.lines if isinstance(it, Label)}
        found: list[Item] = []
        for each in elements:
            if each == self.branch:
                label = next(it for it in _LABELS if it not in labels)
                labels.add(label)
                each = tuple(self._item(_renamed(str(it), {"L": label})) for it in each)
            found += each
        return tuple(found)

    def _item(self, text: str) -> Item:
        return item(text, self.target, self.span)


_LABELS = ("L", *(f"L{number}" for number in range(1, 20)))


def strengths(table: Table, *, loosely: bool = False) -> Strengths:
    """Those that a table's code may have. Raises InputError where none are known."""
    if not table.has_strengths:
        message = f"which instructions of {table.target.name} are stronger must be known here"
        hint = f"by `strength` lines of its instruction set, {table.target.dialect.instructions}"
        raise InputError([Problem(None, message, hint, severity=Severity.UNSUPPORTED)])
    forms = (it.form for row in table.rows for it in row.code)
    extensions = frozenset(form.needs for form in forms if form is not None and form.needs)
    scoped = table.has_scopes or any(SCOPE in text for row in table.rows for text in row.text)
    return Strengths(table.target, extensions, table.rows[0].span, loosely, scoped)


def gives(row: Any) -> bool:
    """Whether the code of a row leaves a result in r."""
    if isinstance(row, Translated):
        return row.form.reads and row.form.result is not None
    stores = row.kind is Op.STORE  # By what reads as well, in some tables.
    return not stores and any(it.form is not None and it.form.reads for it in row.code)


def _fresh(code: Code) -> str:
    used = {it for each in code for it in re.findall(r"\w+", str(each))}
    return next(it for it in ("t", *(f"t{number}" for number in range(1, 99))) if it not in used)


def _renamed(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\b\w+\b", lambda it: names.get(it[0], it[0]), text)


def _alike(code: Code, branch: Code) -> bool:
    """Whether a code is a branch, whatever its label is called."""
    labels = [it.name for each in code for it in each.lines if isinstance(it, Label)]
    return len(labels) == 1 and tuple(_renamed(str(it), {labels[0]: "L"}) for it in code) == tuple(
        map(str, branch)
    )


@dataclass(frozen=True)
class StepsOfTarget(Steps):
    """The steps of a table (rspverify/scheme/mutants.py)."""

    strengths: Strengths

    def stays(self, code: Code, place: int) -> bool:
        """An access stays, and all without which it is another."""
        rest = (*code[:place], *code[place + 1 :])
        return not means_the_same(rest, code, self.strengths.target)

    def weaker(self, row: FromC | Translated, place: int) -> Iterator[tuple[str, Code]]:
        """The next weaker instructions, whichever extension they need."""
        it, known = row.code[place], self.strengths
        less = [each for each in known.of_strength(it, every=True) if known.above(it, each)]
        nearest = [each for each in less if not any(known.above(other, each) for other in less)]
        for each in (*nearest, *known.less(it)):
            yield f"weaken to {each}", (each,)

    def stronger(self, row: FromC | Translated, place: int) -> Iterator[tuple[str, Code]]:
        """The next stronger instructions that the table may use."""
        it, known = row.code[place], self.strengths
        more = [each for each in known.of_strength(it) if known.above(each, it)]
        nearest = [each for each in more if not any(known.above(each, other) for other in more)]
        for code in (*((each,) for each in nearest), *known.instead(it, row.code)):
            yield f"strengthen to {'; '.join(map(str, code))}", code

    def no_less(self, one: Item, other: Item) -> bool:
        """A fence that is as strong."""
        if one.is_fence and other.is_fence:
            return self.strengths.stronger(one, other)
        return not (one.is_fence or other.is_fence)

    def swap(self, one: Item, other: Item) -> bool:
        """A fence with what is behind or before it."""
        return one.is_fence is not other.is_fence

    def mean(self, row: FromC | Translated, code: Code) -> bool:
        """Whether it writes and gives the same."""
        return self.strengths.suits(row, code) and means_the_same(
            code, row.code, self.strengths.target
        )


# ---- what a code means ---------------------------------------------------------------------------


class _Alone(RowExecutor):
    """The code of a row by itself, as it is executed; what it is given is unknown."""

    def __init__(self, code: Code, target: Target) -> None:
        super().__init__(target, ["x"])
        given = {"v": Read(-2), "e": Read(-3), "x": Address("x")}
        self.state = State(True, given)
        self.follow(named(line, usual(target)) for it in code for line in it.lines)

    def operated(self, before: Expression, old: str, by: str) -> tuple[Expression, Depends]:
        operand = self.operand(by)
        given = Read(-4) if isinstance(operand, Address) else operand
        return binary("+", before, given), {}

    @property
    def meaning(self) -> tuple[object, ...] | None:
        """What it writes and when, and what is in r; None if it means nothing."""
        if self.problems or self.state is None:
            return None
        looked_at = [it.index for it in self.events if isinstance(it, Choice) or it.location]
        number = {index: place for place, index in enumerate(looked_at)}

        def told(it: Expression | None) -> Expression | None:
            return None if it is None else renumbered(it, lambda i: number.get(i, i))

        writes = tuple(
            (told(expression(it.guard)), told(it.value), told(it.success))
            for it in self.events
            if not isinstance(it, Choice) and it.value is not None
        )
        result = self.state.values.get("r")
        if result is not None and (isinstance(result, Address) or not isinstance(result, Read)):
            return None
        return writes, told(result), len(self.rounds)


def means_the_same(code: Code, other: Code, target: Target) -> bool:
    """Whether a code writes and gives the same as another, whatever it orders."""
    mine = _Alone(code, target).meaning
    return mine is not None and mine == _Alone(other, target).meaning
