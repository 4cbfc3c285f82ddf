"""Programs without the values that decide nothing, as no guard depends on them."""

from __future__ import annotations

from rspverify.assembly import AssemblyProgram, Instruction
from rspverify.records import replace
from rspverify.value import Constant, reads


def deciding_locations(program: AssemblyProgram) -> frozenset[str | None]:
    """The locations on whose values a guard depends, by whatever way."""
    guards = (*(each.guard for each in program.instructions), *program.goes_on)
    deciding = {index for guard in guards for index in reads(guard)}
    while True:
        locations = {it.location for it in program.instructions if it.register in deciding}
        written = (it.value for it in program.instructions if it.location in locations)
        more = deciding.union(*(reads(value) for value in written if value is not None))
        if more == deciding:
            return frozenset(locations)
        deciding = more


def without_idle_values(program: AssemblyProgram) -> AssemblyProgram:
    """The program with 0 for every value that no guard depends on, by whatever way.

    It goes through the same states but for those values, by the same rules, so that it comes to a
    stop where the program does; a search has fewer states to tell apart. Guards are those of
    instructions, and those by which loops go on.
    """
    locations = deciding_locations(program)

    def kept(it: Instruction) -> Instruction:
        idle = it.value is not None and it.location not in locations
        return replace(it, value=Constant(0)) if idle else it

    code = tuple(tuple(kept(it) for it in thread) for thread in program.code)
    initial = {x: value if x in locations else 0 for x, value in program.initial.items()}
    return replace(program, code=code, initial=initial, within={})
