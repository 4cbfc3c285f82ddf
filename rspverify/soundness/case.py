"""What a verdict is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rspverify.assembly.program import AssemblyProgram
from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.model import MemoryModel
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.machine.awaits import iterations_matter
from rspverify.machine.machine import Machine
from rspverify.machine.reductions import placed
from rspverify.soundness.settings import L2, Reading, Settings
from rspverify.source import InputError
from rspverify.translators import Translator


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
        machine = machine_of(self.scheme.compiled(self.program), self.settings)
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
        if scheme.whole:
            return program.unrolled
        try:
            machine = machine_of(scheme.compiled(program), settings)
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
