"""The outcome of an execution as terms, for both solver engines: reads and final memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import Limits
from rspverify.smt.choice import Choice, choose, pick, truth
from rspverify.smt.solver import Model
from rspverify.smt.term import FALSE, Term
from rspverify.value.domain import Access, Domains, derivable
from rspverify.verdict import Outcome


class ProgramChoice(Protocol):
    """The part of a program that the formula chooses: which instructions are executed."""

    @property
    def domains(self) -> Domains:
        """The values that any of the programs to choose from may bring to a location."""

    @property
    def values(self) -> Mapping[int, Choice[int]]:
        """Values that are chosen with it, as if they were read."""

    def bind(self, reads: Mapping[int, Choice[int]]) -> dict[int, Term]:
        """Instruction → that it is chosen, and its guard holds where reads have these values."""


class Observation:
    """Terms for the outcome of an execution of a compiled program.

    reads: read → its value; guards: instruction → that its guard holds; executed: read → that it
    happens; memory: location → its value at the end, set by the engine; constraints: each read has
    one of the values that the program can derive. Raises LimitReached where these are too many.
    chosen: what is chosen of the program, where that is not all of it.
    """

    def __init__(
        self, program: AssemblyProgram, limits: Limits, chosen: ProgramChoice | None = None
    ) -> None:
        self.constraints: list[Term] = []
        self._goes_on = program.goes_on
        self.reads: dict[int, Choice[int]] = {}
        self.memory: Mapping[str, Choice[int]] = {}
        accesses = [
            Access(
                each.register if each.register is not None else -1 - each.index,
                each.location,
                each.mnemonic.reads,
                each.value,
            )
            for each in program.instructions
            if each.location is not None and (each.mnemonic.reads or each.mnemonic.writes)
        ]
        domains = chosen.domains if chosen else derivable(program.initial, accesses, limits)
        for access in accesses:
            if access.reads:
                values = sorted(domains.locations[access.location])
                self.reads[access.index], constraints = pick(f"r{access.index}", values)
                self.constraints += constraints
        self.reads |= chosen.values if chosen else {}
        self.guards = (
            chosen.bind(self.reads)
            if chosen
            else {each.index: truth(each.guard, self.reads) for each in program.instructions}
        )
        self.executed = {
            each.register: self.guards[each.index]
            for each in program.instructions
            if each.register is not None
        }
        self._happened, self._seen = self.executed, self.reads
        if program.seen is not None:
            self._happened = {it.operation: truth(it.guard, self.reads) for it in program.seen}
            self._seen = {it.operation: choose(it.value, self.reads) for it in program.seen}

    def not_cut(self) -> list[Term]:
        """That no thread goes on where the unrolling of a loop has ended, or in a spin."""
        return [~truth(guard, self.reads) for guard in self._goes_on]

    def assumptions(self, outcome: Outcome) -> list[Term]:
        """The assumptions under which an execution has an outcome."""
        values = dict(outcome.reads)
        wanted = []
        for register, executed in self._happened.items():
            if register in values:
                wanted += [executed, self._seen[register].get(values[register], FALSE)]
            else:
                wanted.append(~executed)
        return wanted + [self.memory[x].get(value, FALSE) for x, value in outcome.memory]

    def outcome(self, model: Model) -> Outcome:
        """The outcome of the execution that a model describes."""
        reads = [
            (register, _value(model, self._seen[register]))
            for register, executed in sorted(self._happened.items())
            if model[executed]
        ]
        memory = [(x, _value(model, choice)) for x, choice in self.memory.items()]
        return Outcome(tuple(reads), tuple(memory))


def _value(model: Model, choice: Choice[int]) -> int:
    return next(value for value, term in choice.items() if model[term])
