"""From the text of a .machine file to the Architecture that it says."""

from __future__ import annotations

from collections.abc import Iterable

from rspverify.architecture import architecture as files
from rspverify.architecture import syntax
from rspverify.architecture.architecture import Architecture, CellKind, Condition, Mnemonic
from rspverify.architecture.checks import (
    check_fifos,
    check_instruction,
    check_waits,
)
from rspverify.architecture.comments import notes
from rspverify.architecture.declarations import Declarations, declarations
from rspverify.architecture.elaboration import bind, conditions, effects
from rspverify.architecture.layout import Layout, Owner, of_kind, once, read_layout
from rspverify.architecture.parsing import parse
from rspverify.architecture.problems import Problems, is_one_of
from rspverify.architecture.scope import OPERANDS, LocationOf, Scope
from rspverify.isa.catalogue import instruction_sets
from rspverify.records import replace
from rspverify.source import Source, Span

_APART = frozenset({"instruction", "step", "complete", "always", "final"})
"""The items that others do not depend on: where they are broken, the rest can be judged."""


def read_architecture(source: Source) -> Architecture:
    """The machine that a text says. Raises InputError with all that is wrong."""
    file = parse(source)
    problems = Problems()
    for each in file.broken:
        problems.note(each.problem)
    if any(each.word not in _APART for each in file.broken):
        problems.raise_any()
    found = _read(file, problems)
    problems.raise_any()
    return found


def _read(file: syntax.MachineFile, problems: Problems) -> Architecture:
    declared = declarations(file, problems)
    whole = file.items[0].span if file.items else Span(file.source, 1, 1, 1, 2)
    title = once(declared, "title")
    if title is None:
        hint = 'such as `machine mine "the paper\'s, with another ST"`'
        problems.error(whole, "a machine must have a name", hint)
    broken = frozenset(each.name for each in file.broken)
    layout = read_layout(declared, whole, problems, broken)
    _check_definitions(layout)
    instructions = [_instruction(each, layout) for each in of_kind(declared, syntax.Instruction)]
    steps = [_step(each, layout) for each in of_kind(declared, syntax.Step)]
    name, summary = title.parts if title else ("", "")
    complete = once(declared, "complete")
    whole_system = Scope(layout, Owner("complete", layout.places[-1]))
    found = Architecture(
        str(name),
        summary or "",
        layout.kinds,
        layout.reaches,
        tuple(kind for part in layout.parts.values() for kind in part.values()),
        {each.name: each for each in instructions},
        tuple(each for each in steps if each is not None),
        _always(declared, layout),
        conditions(complete.parts[0], whole_system) if complete else (),
        _final(declared, layout),
        layout.spaces,
        tuple(_switch(it, problems) for it in of_kind(declared, syntax.Switch)),
        _executes(declared, problems),
        notes=notes(declared),
    )
    if not file.broken:
        check_fifos(found, declared, problems)
    return found


def _switch(it: syntax.Switch, problems: Problems) -> files.Switch:
    status = files.Status.OPEN
    if it.status is not None and is_one_of(it.status, "a status", tuple(files.Status), problems):
        status = files.Status(it.status.text)
    on = status is files.Status.INTENDED if it.on is None else it.on
    return files.Switch(it.name.text, it.summary or "", status, on, it.document or "")


def _executes(declared: Declarations, problems: Problems) -> str:
    """The name of the instruction set; a machine may have instructions besides."""
    item = once(declared, "executes")
    if item is None:
        return ""
    is_one_of(item.parts[0], "an instruction set", instruction_sets(), problems)
    return str(item.parts[0])


def _always(declared: Declarations, layout: Layout) -> tuple[Condition, ...]:
    item = once(declared, "always")
    if item is None:
        return ()
    found = conditions(item.parts[0], Scope(layout, Owner("always", layout.places[0])))
    check_waits(syntax.Word(item.span, "an instruction"), found, layout.problems)
    return found


def _final(declared: Declarations, layout: Layout) -> CellKind | None:
    item = once(declared, "final")
    if item is None:
        return None
    (reference,) = item.parts
    scope = Scope(layout, Owner("final", layout.places[-1]))
    value = scope.value(reference)
    if (
        isinstance(value, files.CellAt)
        and value.kind.sort is files.Sort.VALUE
        and value.kind.located
    ):
        if value.location is None:
            return value.kind
    if value is not None:
        message = "final must be a value that each location has, such as memory"
        scope.error(reference.span, f"{message}, not {reference.span.text}")
    return None


# ---- instructions and steps ----------------------------------------------------------------------


def _instruction(item: syntax.Instruction, layout: Layout) -> Mnemonic:
    before = layout.problems.noted
    name, operands = item.name.text, "".join(_operands(item, layout))
    owner = Owner(name, layout.places[0], operands)
    names = {files.OPERAND: LocationOf(files.OPERAND)} if files.OPERAND in operands else {}
    begun: list[tuple[syntax.Step, Scope]] = []
    scope = Scope(layout, owner, names, frozenset(names))
    required = conditions(item.conditions, scope)
    done = effects(item.effects, replace(scope, begun=begun))
    begun += [(each, scope) for each in item.later]
    later = [_step_of(each, owner.place, replace(its, begun=None)) for each, its in begun]
    found = Mnemonic(name, operands, _reached(item, layout), required, done, tuple(later))
    if layout.problems.noted == before:
        steps = [each for each, _ in begun]
        check_instruction(item, found, owner.used, steps, layout.spaces, layout.problems)
    return found


def _operands(item: syntax.Instruction, layout: Layout) -> Iterable[str]:
    """The operands that it may have, each once."""
    right = [each for each in item.operands if each.text in OPERANDS]
    layout.problems.once(right, "must be an operand once, not twice")
    for each in item.operands:
        if each not in right:
            message = f"{each} must be an operand: r (a register), x (its location) or s (a reach)"
            layout.problems.error(each.span, message)
    return dict.fromkeys(each.text for each in right)


def _reached(item: syntax.Instruction, layout: Layout) -> tuple[str, ...]:
    """The reaches that it may have, the narrowest first."""
    has, problems = any(each.text == files.REACH for each in item.operands), layout.problems
    if has and not item.reaches:
        hint = f"`{item.name} {files.REACH} of {', '.join(layout.reaches) or 'WG'}`"
        problems.error(item.name.span, f"{item.name} must say which reaches s may be", hint)
    if item.reaches and not has:
        message = f"reaches must be those of the operand s, and {item.name} has none"
        problems.error(item.reaches[0].span, message)
    for each in item.reaches:
        is_one_of(each, "a reach", layout.reaches or ["there is none"], problems)

    def width(reach: str) -> int:
        place = layout.reaches.get(reach)
        return layout.places.index(place) if place in layout.places else len(layout.places)

    return tuple(sorted(dict.fromkeys(each.text for each in item.reaches), key=width))


def _step(item: syntax.Step, layout: Layout) -> files.StepKind | None:
    assert item.place is not None
    scope = Scope(layout, Owner(item.name.text, item.place.text))
    return _step_of(item, item.place.text, scope) if scope.is_place(item.place) else None


def _step_of(item: syntax.Step, place: str, scope: Scope) -> files.StepKind:
    variables = []
    for each in item.binders:
        binder, scope = bind(each, scope)
        if binder is not None:
            variables.append(binder)
    if all(each.kind == "nothing" for each in item.effects):
        scope.error(item.name.span, f"{item.name} must do something, as a step of the environment")
    required, done = conditions(item.conditions, scope), effects(item.effects, scope)
    return files.StepKind(item.name.text, place, tuple(variables), required, done)


def _check_definitions(layout: Layout) -> None:
    """Note the mistakes in definitions whatever their arguments, also in unused ones."""
    for it in layout.definitions.values():
        owner = Owner(it.name.text, layout.places[0], "".join(OPERANDS))
        scope = Scope(layout, owner, within=(it.name.text,), depth=1, begun=[])
        for word in it.parameters:
            scope.require_new(word)
            scope = replace(scope, names={**scope.names, word.text: None})
        conditions(it.conditions, scope)
        effects(it.effects, scope)
        for each in it.later:
            _step_of(each, owner.place, replace(scope, begun=None))
