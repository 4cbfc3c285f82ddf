"""What must hold of a machine in which every name stands for something."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    OPERAND,
    All,
    Architecture,
    CellKind,
    Condition,
    Each,
    Effect,
    Element,
    Enter,
    If,
    IsIn,
    IsOldest,
    Leave,
    Mnemonic,
    Read,
    Sort,
    Write,
    Written,
    plain,
)
from rspverify.architecture.declarations import Declarations
from rspverify.architecture.problems import Problems
from rspverify.architecture.scope import REGISTER
from rspverify.source import Span


def check_instruction(
    item: syntax.Instruction, found: Mnemonic, used: set[str], problems: Problems
) -> None:
    """An instruction does something, and with its operands. used: those that its body speaks of."""
    if not (item.effects or item.conditions or item.later):
        message = f"{item.name} must wait for something or do something"
        problems.error(item.name.span, message, "`do nothing` says that it does not")
        return
    idle = any(isinstance(each, syntax.Nothing) for each in item.effects)
    for word in item.operands:
        if word.text == REGISTER and REGISTER not in used:
            message = f"{item.name} must deliver r or write it, as r is its operand"
            problems.error(word.span, message)
        elif word.text not in used and not idle:
            problems.error(word.span, f"{item.name} must speak of {word}, as {word} is its operand")
    made = [
        each
        for each in found.plain_effects
        if isinstance(each, Write) and each.what is not Written.VALUE
    ]
    if made and not found.reads:
        message = f"{item.name} must read r, as it writes {made[0].what.value}"
        problems.error(item.name.span, message, f"such as `{REGISTER} := memory[{OPERAND}]`")
    check_waits(item.name, found.conditions, problems)


def check_waits(item: syntax.Word, conditions: Sequence[Condition], problems: Problems) -> None:
    """What an instruction waits for is in no fifo: it was not executed yet."""
    if any(isinstance(each, IsOldest) for each in _inside(conditions)):
        message = f"{item} must not wait for what is oldest: nothing of it is in a fifo yet"
        problems.error(item.span, message, "a `later` step may wait for that")


def check_later(
    item: syntax.Word, found: Mnemonic, later: Iterable[syntax.Step], problems: Problems
) -> None:
    """An instruction has one later step of a name, be they those of definitions. What delivers, or
    takes something out of a fifo or pool, waits for the instruction, as it could happen before that
    otherwise, or again and again."""
    first: dict[str, Span] = {}
    for step, each in zip(found.later, later, strict=True):
        name = each.name.text
        once = any(isinstance(it, Read | Leave) for it in plain(step.effects))
        if once and not any(map(_waits_for_self, _inside(step.conditions))):
            message = f"{name} must wait for self, in a pool or as the oldest of a fifo"
            hint = "such as `when self in pool`, or `when oldest queue[x] is self`"
            problems.error(each.name.span, message, hint)
        if name in first:
            message = f"{name} must be one later step of {item}, not two"
            problems.again(each.name.span, message, first[name])
        first.setdefault(name, each.name.span)


def check_turns(
    item: syntax.Instruction, found: Mnemonic, begun: Sequence[syntax.Step], problems: Problems
) -> None:
    """An instruction leaves, and is the oldest in, what it enters somewhere. begun: later steps."""
    entered = {
        it.where.kind
        for it in found.plain_effects
        if isinstance(it, Enter) and it.element is Element.SELF
    }
    parts = [(item.name, found.effects, found.conditions)]
    for step, its in zip(found.later, begun, strict=True):
        parts.append((its.name, step.effects, step.conditions))
    for name, effects, conditions in parts:
        for kind, does in _as_if_in(effects, conditions):
            if kind not in entered:
                message = f"{item.name} must enter {kind} before {name} {does}"
                into = (
                    f"enqueue self in {kind}" if kind.sort is Sort.FIFO else f"add self to {kind}"
                )
                problems.error(name.span, message, f"`{into}`, at once or later")


def _as_if_in(
    effects: tuple[Effect, ...], conditions: Sequence[Condition]
) -> Iterator[tuple[CellKind, str]]:
    """The pools that self is removed from, and the fifos whose oldest element it is to be."""
    for effect in plain(effects):
        if isinstance(effect, Leave) and effect.where.kind.sort is Sort.POOL:
            yield effect.where.kind, "removes self from it"
    for each in _inside((*conditions, *_asked(effects))):
        if isinstance(each, IsOldest) and each.element is Element.SELF:
            yield each.fifo.kind, "asks whether self is the oldest there"


def _asked(effects: Iterable[Effect]) -> Iterator[Condition]:
    """The conditions under which effects are done."""
    for it in effects:
        if isinstance(it, If):
            yield from it.conditions
        if isinstance(it, If | Each):
            yield from _asked(it.effects)


def check_fifos(found: Architecture, declared: Declarations, problems: Problems) -> None:
    """What enters a fifo or a pool leaves it some time, as the machine would grow otherwise."""
    every: list[Effect] = []
    for mnemonic in found.instructions.values():
        every += mnemonic.plain_effects
    for step in found.steps:
        every += plain(step.effects)
    entered = {it.where.kind for it in every if isinstance(it, Enter)}
    left = {it.where.kind for it in every if isinstance(it, Leave)}
    for kind in (each for each in found.cells if each in entered - left):
        place = declared[syntax.Cell, kind.structure].span
        verb = "dequeue" if kind.sort is Sort.FIFO else "remove self from"
        name = f"{kind.structure}.{kind.field}" if kind.field else kind.structure
        message = f"what enters {name} must leave it some time, and nothing does: it only grows"
        problems.error(place, message, f"`{verb} {name}` is the effect of some step")


def _waits_for_self(condition: Condition) -> bool:
    oldest = isinstance(condition, IsOldest) and condition.element is Element.SELF
    return oldest or isinstance(condition, IsIn)


def _inside(conditions: Sequence[Condition]) -> Iterator[Condition]:
    for each in conditions:
        yield each
        if isinstance(each, All):
            yield from _inside(each.conditions)
