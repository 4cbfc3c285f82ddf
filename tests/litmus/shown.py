"""A program in lines, as programs.txt has them: memory, threads with their registers, operations."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.litmus.formula import Atom, Formula, Junction, Negation
from rspverify.litmus.program import Kind, Location, Operation, Program, Thread
from rspverify.programs.expressions import spelled
from rspverify.value import Constant


def shown(program: Program) -> Iterator[str]:
    """The lines; an `rN` in them is what operation N reads, and a guard of 1 is left out."""
    if program.title != "t":
        yield f"{program.language} {program.title}"
    if program.locations:
        yield f"memory: {', '.join(map(_location, program.locations))}"
    for thread in program.threads:
        yield _thread(thread)
        yield from map(_operation, thread.operations)
    for fault in program.faults:
        value = "" if fault.value is None else f", {{}} = {spelled(fault.value)}"
        yield f"{fault.name} at {fault.at} if {spelled(fault.guard)}: {fault.what}{value}"
    for spin in program.spins:
        rmws = "".join(f" {it}" for it in sorted(spin.rmws))
        yield f"spin from {spin.first} to {spin.end} if {spelled(spin.guard)}{rmws}"
    for cut in program.cuts:
        yield f"cut at {cut.at} after {cut.iterations} if {spelled(cut.guard)}"
    if program.watched:
        yield f"watched: {', '.join(_name(*it) for it in program.watched)}"
    if program.condition is not None:
        yield f"{program.condition.quantifier} {_formula(program.condition.formula)}"


def _location(it: Location) -> str:
    kind = "mutex " if it.mutex else "atomic " if it.atomic else ""
    region = f"{it.region}{' fine-grained' if it.fine_grained else ''} "
    return f"{region if region != 'global ' else ''}{kind}{it.name} = {it.initial}"


def _thread(it: Thread) -> str:
    place = ".".join(
        map(str, (it.device, it.workgroup, it.subgroup)[: 2 + (it.subgroup is not None)])
    )
    registers = ", ".join(f"{name} = {spelled(value)}" for name, value in it.registers.items())
    return f"{it.name}@{place}{': ' if registers else ''}{registers}"


def _operation(it: Operation) -> str:
    words = [it.instruction or it.kind.value]
    words += [it.order.value] if it.order is not None else []
    words += [it.scope.value] if it.scope is not None else []
    words += [word for word in ("remote", "weak") if getattr(it, word)]
    words += [each for each in (it.label, it.location) if each is not None]
    if it.regions != {"global"}:
        words.append(f"({'+'.join(sorted(it.regions))})")
    if it.kind is Kind.BARRIER and it.meets is not it.scope:
        words.append(f"of {it.meets.value}")
    if it.operator is not None and it.operand is not None:
        words.append(f"{it.operator} {spelled(it.operand)}")
    elif it.value is not None:
        words.append(f"= {spelled(it.value)}")
    if it.success is not None:
        words.append(f"where {spelled(it.success)}")
    words += [f"else {it.failure.value}"] if it.failure is not None else []
    words += [] if it.guard == Constant(1) else [f"if {spelled(it.guard)}"]
    words += [] if it.used else ["unused"]
    if it.unsequenced:
        words.append(f"beside {' '.join(map(str, sorted(it.unsequenced)))}")
    tags = sorted({*it.tags.read, *it.tags.write})
    words += [f"[{' '.join(tags)}]"] if tags else []
    return f"{it.index} {' '.join(words)} at {it.span.line}:{it.span.column}-{it.span.end_column}"


def _name(thread: int | None, name: str) -> str:
    return name if thread is None else f"{thread}:{name}"


def _formula(it: Formula) -> str:
    match it:
        case Atom(thread, name, value):
            return f"{_name(thread, name)}={value}"
        case Negation(argument):
            return f"~{_formula(argument)}"
        case Junction(conjunctive, arguments):
            sign = " /\\ " if conjunctive else " \\/ "
            return (
                f"({sign.join(map(_formula, arguments))})"
                if arguments
                else str(conjunctive).lower()
            )
