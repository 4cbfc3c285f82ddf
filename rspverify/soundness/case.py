"""What a verdict is about."""

from __future__ import annotations

from dataclasses import dataclass, field

from rspverify.assembly import AssemblyProgram
from rspverify.axiomatic import MemoryModel, awaited
from rspverify.limits import Limits
from rspverify.litmus import Program
from rspverify.machine import Machine
from rspverify.scheme import Scheme, compile_program
from rspverify.soundness.settings import L2, Settings


@dataclass(frozen=True)
class Case:
    """A program, the scheme that compiles it, the model that judges it, and how that is decided.

    limits: those of the settings; their clock starts when the case is made.
    """

    program: Program
    scheme: Scheme
    model: MemoryModel
    settings: Settings
    limits: Limits = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", self.settings.limits())
        object.__setattr__(self, "program", awaited(self.program, self.model))

    def machine(self) -> Machine:
        """The machine that runs the compiled program. Raises InputError if a row is missing."""
        return machine_of(compile_program(self.program, self.scheme), self.settings)


def machine_of(program: AssemblyProgram, settings: Settings) -> Machine:
    """The machine that runs a program; what is as good as memory is left out if not declined."""
    return Machine(program, elide=settings.l2 is L2.AUTO)
