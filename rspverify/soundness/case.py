"""What a verdict is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, Union

from rspverify.assembly import AssemblyProgram
from rspverify.axiomatic import MemoryModel, awaited
from rspverify.limits import LimitReached, Limits
from rspverify.litmus import Program
from rspverify.machine import Machine, iterations_matter
from rspverify.machine.sharing import placed
from rspverify.scheme import Scheme, compile_program
from rspverify.soundness.settings import L2, Reading, Settings
from rspverify.source import InputError

if TYPE_CHECKING:
    from rspverify.compilers.compilation import Compilation

Translator: TypeAlias = Union[Scheme, "Compilation"]
"""What makes a program of a machine of a source program: a table, or a compiler."""


def compiled(program: Program, by: Translator) -> AssemblyProgram:
    """The compiled program. Raises InputError with what cannot be compiled."""
    return compile_program(program, by) if isinstance(by, Scheme) else by.compiled(program)


@dataclass(frozen=True)
class Case:
    """A program, the scheme or the compiler that compiles it, the model that judges it, and how
    that is decided.

    limits: those of the settings; their clock starts when the case is made. Spins are read as their
    last iteration where neither the model nor the machine loses anything by it, and unrolled
    otherwise.
    """

    program: Program
    scheme: Translator
    model: MemoryModel
    settings: Settings
    limits: Limits = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", self.settings.limits())
        program = decided(self.program, self.model, (self.scheme,), self.settings)
        object.__setattr__(self, "program", program)

    def machine(self) -> Machine:
        """The machine that runs the compiled program.

        Raises InputError if a row is missing, LimitReached where a loop that must be looked at
        iteration by iteration never ends.
        """
        machine = machine_of(compiled(self.program, self.scheme), self.settings)
        if not self.program.spins or self.program.unrolled is not None:
            return machine
        if (why := _matter(machine)) is not None:
            raise LimitReached(f"a loop that never ends cannot be unrolled, and {why}")
        return machine


def decided(
    program: Program, model: MemoryModel, schemes: Sequence[Translator], settings: Settings
) -> Program:
    """The program as it is decided: its spins are unrolled where the model or a machine needs it.

    A compiler gets it so, too. So they are in the witness reading, where what an iteration reads
    that goes on must be consistent, too. Raises LimitReached as `awaited`.
    """
    program = awaited(program, model)
    if not program.spins or program.unrolled is None:
        return program
    if settings.reading is Reading.WITNESS:
        return program.unrolled
    for scheme in schemes:
        if not isinstance(scheme, Scheme):
            return program.unrolled
        try:
            machine = machine_of(compiled(program, scheme), settings)
        except InputError:
            continue  # It will be said where the machine is asked for.
        if _matter(machine) is not None:
            return program.unrolled
    return program


def _matter(machine: Machine) -> str | None:
    """Why the iterations of its loops matter, whoever shares which place; None if they do not."""
    return next((why for it in placed(machine) if (why := iterations_matter(it))), None)


def machine_of(program: AssemblyProgram, settings: Settings) -> Machine:
    """The machine that runs a program; what is as good as memory is left out if not declined."""
    return Machine(program, elide=settings.l2 is L2.AUTO)
