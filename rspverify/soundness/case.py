"""What a verdict is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rspverify.assembly.program import AssemblyProgram
from rspverify.axiomatic.awaits import awaited, iterations_needed
from rspverify.axiomatic.model import MemoryModel
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.mapping.mapped import Mapped
from rspverify.soundness.settings import L2, Reading, Settings
from rspverify.soundness.sides import AnyOf, ModelSide, QueryLog, Side
from rspverify.source import InputError, Problem, Severity
from rspverify.translators import Translator

if TYPE_CHECKING:  # What only a model judges loads no machine.
    from rspverify.machine.machine import Machine


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

    def compiled(self) -> AssemblyProgram | Mapped:
        """The program of the target. Raises InputError if a row is missing."""
        return self.scheme.compiled(self.program)

    def machine(self, compiled: AssemblyProgram | None = None) -> Machine:
        """The machine that runs the compiled program.

        Raises InputError if a row is missing, LimitReached where a loop that must be looked at
        iteration by iteration never ends.
        """
        machine = machine_of(compiled or self.compiled(), self.settings)
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
            made = scheme.compiled(program)
        except InputError:
            continue  # It will be said where the machine is asked for.
        if isinstance(made, Mapped):
            needed = (iterations_needed(it.model, it.program) for it in made.all)
            if any(why is not None for why in needed):
                return program.unrolled
            continue
        machine = machine_of(made, settings)
        if _matter(machine) is not None:
            return program.unrolled
    return program


def _matter(machine: Machine) -> str | None:
    """Why the iterations of its loops matter, whoever shares which place; None if they do not."""
    from rspverify.machine.awaits import iterations_matter
    from rspverify.machine.reductions import placed

    return next((why for it in placed(machine) if (why := iterations_matter(it))), None)


def side_of(
    made: AssemblyProgram | Mapped,
    settings: Settings,
    limits: Limits,
    log: QueryLog | None = None,
) -> Side:
    """The executions of the program of a target. log: where its questions go to."""
    if isinstance(made, Mapped):
        each = [ModelSide(it.program, it.model, limits, seen=it.seen, log=log) for it in made.all]
        return AnyOf(each) if made.others else each[0]
    from rspverify.soundness.machine_side import MachineSide

    return MachineSide(machine_of(made, settings), settings, limits, log)


def machine_of(program: AssemblyProgram | Mapped, settings: Settings) -> Machine:
    """The machine that runs a program; what is as good as memory is left out if not declined.

    Raises InputError, UNSUPPORTED, of a program whose executions are those of a model.
    """
    if isinstance(program, Mapped):
        message = f"a target with the model {program.model.name} has no machine to be run on"
        raise InputError([Problem(None, message, severity=Severity.UNSUPPORTED)])
    from rspverify.machine.machine import Machine

    return Machine(program, elide=settings.l2 is L2.AUTO)
