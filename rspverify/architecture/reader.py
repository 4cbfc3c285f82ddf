"""From the text of a .machine file to the Architecture that it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    OPERAND,
    REACH,
    Architecture,
    CellAt,
    CellKind,
    Condition,
    Each,
    Effect,
    Enter,
    If,
    Leave,
    Mnemonic,
    Read,
    Sort,
    StepKind,
    Write,
    Written,
)
from rspverify.architecture.conditions import conditions
from rspverify.architecture.declarations import Declarations, declarations
from rspverify.architecture.effects import effects
from rspverify.architecture.layout import Layout, Owner
from rspverify.architecture.parsing import parse
from rspverify.architecture.problems import Problems
from rspverify.architecture.scope import REGISTER, LocationOf, Scope
from rspverify.architecture.state import of_kind, read_layout
from rspverify.source import Source, Span
from rspverify.wording import alternatives, guess


def read_architecture(source: Source) -> Architecture:
    """The machine that a text says. Raises InputError with all that is wrong."""
    file = parse(source)
    problems = Problems()
    declared = declarations(file, problems)
    whole = file.items[0].span if file.items else Span(source, 1, 1, 1, 2)
    title = next(iter(of_kind(declared, syntax.Title)), None)
    if title is None:
        hint = 'such as `machine mine "the paper\'s, with another ST"`'
        problems.error(whole, "a machine must have a name", hint)
    layout = read_layout(declared, whole, problems)
    _check_definitions(layout)
    instructions = [_instruction(each, layout) for each in of_kind(declared, syntax.Instruction)]
    steps = [_step(each, layout) for each in of_kind(declared, syntax.Step)]
    final = [_final(each, layout) for each in of_kind(declared, syntax.Final)]
    complete, always = Owner("complete", layout.places[-1]), Owner("always", layout.places[0])
    found = Architecture(
        title.name.text if title else "",
        title.summary if title else "",
        layout.places,
        layout.reaches,
        tuple(kind for part in layout.parts.values() for kind in part.values()),
        {each.name: each for each in instructions},
        tuple(each for each in steps if each is not None),
        _required(of_kind(declared, syntax.Always), Scope(layout, always)),
        _required(of_kind(declared, syntax.Complete), Scope(layout, complete)),
        next(iter(final), None),
        layout.alike,
        layout.spaces,
    )
    _check_fifos(found, declared, problems)
    problems.raise_any()
    return found


def _required(
    items: Iterable[syntax.Always | syntax.Complete], scope: Scope
) -> tuple[Condition, ...]:
    return tuple(it for each in items for it in conditions(each.conditions, scope))


def _final(item: syntax.Final, layout: Layout) -> CellKind | None:
    scope = Scope(layout, Owner("final", layout.places[-1]))
    value = scope.value(item.value)
    if value is None:
        return None
    if isinstance(value, CellAt) and value.kind.sort is Sort.VALUE and value.kind.located:
        if value.location is None:
            return value.kind
    message = "final must be a value that each location has, such as memory"
    scope.error(item.value.span, f"{message}, not {item.value.span.text}")
    return None


# ---- instructions and steps ----------------------------------------------------------------------


def _instruction(item: syntax.Instruction, layout: Layout) -> Mnemonic:
    name, operands = item.name.text, "".join(_operands(item, layout))
    owner = Owner(name, layout.places[0], operands)
    names = {OPERAND: LocationOf(OPERAND)} if OPERAND in operands else {}
    scope = Scope(layout, owner, names, frozenset(names))
    required = conditions(item.conditions, scope)
    done = effects(item.effects, scope)
    later = [_later(each, scope) for each in item.later]
    found = Mnemonic(name, operands, _reached(item, layout), required, done, tuple(later))
    _check_instruction(item, found, owner, layout.problems)
    return found


def _operands(item: syntax.Instruction, layout: Layout) -> Iterator[str]:
    """The operands that it may have, each once."""
    seen: dict[str, Span] = {}
    for each in item.operands:
        if each.text not in _OPERANDS:
            message = f"{each} must be an operand: r (a register), x (its location) or s (a reach)"
            layout.problems.error(each.span, message)
        elif each.text in seen:
            message = f"{each} must be an operand once, not twice"
            layout.problems.again(each.span, message, seen[each.text])
        else:
            seen[each.text] = each.span
            yield each.text


def _reached(item: syntax.Instruction, layout: Layout) -> tuple[str, ...]:
    """The reaches that it may have."""
    has = any(each.text == REACH for each in item.operands)
    if has and not item.reaches:
        hint = f"`{item.name} {REACH} of {', '.join(layout.reaches) or 'WG'}`"
        layout.problems.error(item.name.span, f"{item.name} must say which reaches s may be", hint)
    if item.reaches and not has:
        message = f"reaches must be those of the operand s, and {item.name} has none"
        layout.problems.error(item.reaches[0].span, message)
    for each in item.reaches:
        if each.text not in layout.reaches:
            message = (
                f"{each} must be a reach: {alternatives([*layout.reaches]) or 'there is none'}"
            )
            layout.problems.error(each.span, message, guess(each.text, layout.reaches))
    return tuple(dict.fromkeys(each.text for each in item.reaches))


def _later(item: syntax.Step, scope: Scope) -> StepKind:
    return _step_of(item, scope.owner.place, scope)


def _step(item: syntax.Step, layout: Layout) -> StepKind | None:
    assert item.place is not None
    if not Scope(layout, Owner(item.name.text, layout.places[-1])).is_place(item.place):
        return None
    owner = Owner(item.name.text, item.place.text)
    return _step_of(item, item.place.text, Scope(layout, owner))


def _step_of(item: syntax.Step, place: str, scope: Scope) -> StepKind:
    variables = []
    for each in item.binders:
        binder, scope = scope.bind(each)
        if binder is not None:
            variables.append(binder)
    if all(isinstance(each, syntax.Nothing) for each in item.effects):
        scope.error(item.name.span, f"{item.name} must do something, as a step of the environment")
    required, done = conditions(item.conditions, scope), effects(item.effects, scope)
    return StepKind(item.name.text, place, tuple(variables), required, done)


# ---- what must hold of a machine that is spelled right -------------------------------------------

_OPERANDS = {REGISTER: "deliver it or write it", OPERAND: "be about it", REACH: "reach it"}
"""What an instruction must do with its operands."""


def _check_instruction(
    item: syntax.Instruction, found: Mnemonic, owner: Owner, problems: Problems
) -> None:
    every = [*parts(found.effects), *(it for step in found.later for it in parts(step.effects))]
    idle = any(isinstance(each, syntax.Nothing) for each in item.effects)
    if not (item.effects or item.conditions or item.later):
        hint = "`do nothing` says that it does not"
        problems.error(item.name.span, f"{item.name} must wait for something or do something", hint)
        return
    for word in item.operands:
        unused = word.text in found.operands and word.text not in owner.used
        if unused and not (idle and word.text != REGISTER):
            message = f"{item.name} has the operand {word} and must {_OPERANDS[word.text]}"
            problems.error(word.span, message)
    reads = any(isinstance(each, Read) for each in every)
    made = [it for it in every if isinstance(it, Write) and it.what is not Written.VALUE]
    if made and not reads and REGISTER in owner.used:
        message = f"{item.name} writes {made[0].what.value}, so it must read r: `r := …`"
        problems.error(item.name.span, message)
    names: dict[str, Span] = {}
    for later in item.later:
        if later.name.text in names:
            message = f"{later.name} must be one later step of {item.name}, not two"
            problems.again(later.name.span, message, names[later.name.text])
        names[later.name.text] = later.name.span


def _check_definitions(layout: Layout) -> None:
    """What is wrong in a definition whatever it is given, as in one that is not used."""
    for it in layout.definitions.values():
        owner = Owner(it.name.text, layout.places[0], "".join(_OPERANDS))
        scope = Scope(layout, owner, within=(it.name.text,))
        for word in it.parameters:
            scope.require_new(word)
            scope = replace(scope, names={**scope.names, word.text: None})
        conditions(it.conditions, scope)
        effects(it.effects, scope)


def _check_fifos(found: Architecture, declared: Declarations, problems: Problems) -> None:
    """Elements that enter must leave some time, or the machine grows."""
    bodies = [each.effects for each in found.steps]
    for each in found.instructions.values():
        bodies += [each.effects, *(step.effects for step in each.later)]
    every = [it for body in bodies for it in parts(body)]
    entered = {it.where.kind for it in every if isinstance(it, Enter)}
    left = {it.where.kind for it in every if isinstance(it, Leave)}
    for kind in (each for each in found.cells if each in entered - left):
        place = declared[syntax.Cell, kind.structure].span
        verb = "dequeue" if kind.sort is Sort.FIFO else "remove self from"
        name = f"{kind.structure}.{kind.field}" if kind.field else kind.structure
        message = f"what enters {name} must leave it some time, and nothing does: it only grows"
        problems.error(place, message, f"`{verb} {name}` is the effect of some step")


def parts(done: Sequence[Effect]) -> Iterator[Effect]:
    """Effects, and those inside them."""
    for each in done:
        yield each
        if isinstance(each, If | Each):
            yield from parts(each.effects)
