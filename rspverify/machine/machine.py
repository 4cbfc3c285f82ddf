"""The machine that runs one compiled program: its cells, and its rules as its file says them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain, product

from msgspec import Struct

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.assembly.program import WIDEST, AssemblyProgram, Instruction, Placement, ThreadId
from rspverify.limits import Limits
from rspverify.machine import rules as ground
from rspverify.machine.cases import InCases, cleared_by
from rspverify.machine.grounding import Grounding
from rspverify.machine.pending import Pending
from rspverify.machine.placements import placements
from rspverify.machine.rendezvous import at_barriers
from rspverify.machine.rules import Bit, Cell, Fifo, Guard, InstructionRule, Rule, StepRule, Word
from rspverify.machine.shapes import Shapes
from rspverify.machine.simplification import simplification
from rspverify.value import Constant

_KEPT = 512
"""For how many arrangements of threads and locations the steps of a machine are kept."""


_SECONDS, _BYTES = 100e-6, 4_000
"""What a rule takes at least to be spelled out and looked at: half of what was measured."""

_Arrangement = tuple[
    Architecture, tuple[ThreadId, ...], tuple[str, ...], tuple[tuple[str, str], ...], Placement
]
"""A machine, threads, locations, kinds of memory of locations, and where open places are."""


class Machine(Struct, frozen=True, dict=True):
    """A compiled program on the machine that it is compiled for.

    elide: leave out structures that are as good as memory, such as the L2 of the one device that
    there is (docs/proofs.md). evict: have steps that only take away, as EVICT does. Nothing that
    can be observed depends on either.
    """

    program: AssemblyProgram
    elide: bool = True
    evict: bool = False

    @cached_property
    def _ground(self) -> _Ground:
        program = self.program
        spaces = tuple(sorted(program.spaces.items()))
        placement = program.placement or placements(program.machine.kinds, program.threads, ())[0]
        key = (program.machine, program.threads, tuple(program.initial), spaces, placement)
        own = program.instructions if program.machine.completes_later else ()
        if own:
            return _Ground(_Whole(*key, own), self.elide, self.evict)
        return _kept_ground(key, self.elide, self.evict)

    @property
    def shapes(self) -> Shapes:
        """The shapes of its steps."""
        return self._ground.shapes

    @property
    def in_cases(self) -> InCases:
        """Its form for the engine without steps."""
        return self._ground.in_cases

    @property
    def elided(self) -> frozenset[ground.Structure]:
        """The structures that are left out, as they are as good as memory."""
        return self._ground.without.structures

    @cached_property
    def locations(self) -> tuple[str, ...]:
        """The locations of memory."""
        return tuple(self.program.initial)

    @cached_property
    def cells(self) -> tuple[Cell | Fifo, ...]:
        """All cells but those of pools."""
        return self._ground.cells

    @cached_property
    def members(self) -> tuple[ground.Member, ...]:
        """The cells of pools: one for each instruction that may be in it."""
        found = [bit for rule in self.rules for bit in (*rule.may_set, *rule.looks)]
        return tuple(dict.fromkeys(bit for bit in found if isinstance(bit, ground.Member)))

    @cached_property
    def structures(self) -> tuple[ground.Structure, ...]:
        """The parts of the machine."""
        return tuple(dict.fromkeys(it.structure for it in self.cells))

    @cached_property
    def fifos(self) -> tuple[Fifo, ...]:
        """All fifos."""
        return tuple(it for it in self.cells if isinstance(it, Fifo))

    def memory(self, location: str) -> Word | None:
        """The word that has the value of a location in the end; None if the machine has none."""
        return self._ground.grounding.memory(location)

    def starts_true(self, bit: Bit) -> bool:
        """The initial value of a bit."""
        return self._ground.grounding.starts_true(bit)

    def threads_of(self, structure: ground.Structure) -> frozenset[ThreadId]:
        """The threads at the place of a structure, or in it."""
        return self._ground.grounding.threads_of(structure.place)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule: instructions in program order, then the steps of the environment."""
        return (*chain.from_iterable(self.code), *self.steps)

    @cached_property
    def code(self) -> tuple[tuple[InstructionRule, ...], ...]:
        """The instructions of each thread, in program order."""
        program, rule = self.program, self._ground.instruction
        return tuple(tuple(at_barriers(rule(it), program) for it in code) for code in program.code)

    @cached_property
    def steps(self) -> tuple[StepRule, ...]:
        """The steps of the environment, those that complete instructions last."""
        return self._ground.steps

    @property
    def ending(self) -> tuple[Guard, ...]:
        """The guards that hold in a complete execution, when all instructions are executed."""
        return self._ground.ending

    def final(self) -> list[Bit]:
        """The bits that must be false in a complete execution."""
        return [bit for it in self.ending if (bit := cleared_by(it)) is not None]


class _Whole:
    """A machine for some threads and locations, nothing left out.

    instructions: those of the program where what is begun completes later; otherwise none, and
    everything is said of all instructions that there are. Raises LimitReached where its rules are
    more than time and memory are left for.
    """

    def __init__(
        self,
        architecture: Architecture,
        threads: tuple[ThreadId, ...],
        locations: tuple[str, ...],
        spaces: tuple[tuple[str, str], ...],
        placement: Placement,
        instructions: tuple[Instruction, ...] = (),
    ) -> None:
        self.threads = frozenset(threads)
        self.instructions = instructions
        self.grounding = Grounding(architecture, threads, locations, spaces, placement)
        several = len(instructions) or sum(
            len(threads) * len(_operands(it, locations))
            for it in architecture.instructions.values()
        )
        several += self.grounding.count()
        Limits().require_room(several, "rules of the machine", _SECONDS, _BYTES)
        steps = list(self.grounding.steps(instructions))
        for it in instructions:
            steps += self.grounding.later(it, instructions)
        code = instructions or tuple(_every_instruction(architecture, threads, locations))
        own = [self.grounding.instruction(it, instructions) for it in code]
        self.pending = Pending(own if instructions else (), steps)
        self.steps = [self.pending.step(it) for it in steps]
        self.code = [self.pending.instruction(it) for it in own]
        self.rules: list[Rule] = [*self.code, *self.steps]
        self.ending = self.pending.ending(self.grounding.complete(instructions))
        self.memory = [word for x in locations if (word := self.grounding.memory(x))]
        starts_true = self.grounding.starts_true
        self.shapes = Shapes(self.rules, self.ending, self.memory, starts_true)

    def instruction(self, it: Instruction) -> InstructionRule:
        """The rule of an instruction of a program."""
        return self.pending.instruction(self.grounding.instruction(it, self.instructions))


class _Ground:
    """A machine for some threads and locations after simplification."""

    def __init__(self, whole: _Whole, elide: bool, evict: bool) -> None:
        self._whole = whole
        self.grounding = whole.grounding
        self.without = simplification(
            whole.shapes, whole.rules, whole.threads, elide=elide, evict=evict
        )
        self.steps = self.without.left(whole.steps)
        self.ending = tuple(self.without.guards(whole.ending))

    @cached_property
    def rules(self) -> list[Rule]:
        """The rules after simplification, instructions first."""
        return [*map(self.without.rule, self._whole.code), *self.steps]

    @cached_property
    def shapes(self) -> Shapes:
        """The shapes of the steps that are left."""
        starts_true = self.grounding.starts_true
        return Shapes(self.rules, self.ending, self._whole.memory, starts_true)

    @cached_property
    def in_cases(self) -> InCases:
        """Its form for the engine without steps."""
        return InCases(self.rules, self.shapes, self._whole.memory)

    @cached_property
    def cells(self) -> tuple[Cell | Fifo, ...]:
        """The cells that are left."""
        return tuple(it for it in self.grounding.cells if self.without.keeps(it))

    def instruction(self, it: Instruction) -> InstructionRule:
        """The rule of an instruction of a program after simplification."""
        return self.without.rule(self._whole.instruction(it))


def everywhere(architecture: Architecture, kinds: tuple[str, ...] = ()) -> Machine:
    """A machine that runs every instruction that there is.

    On two work-groups of one device and a third on another, and on two locations in each kind of
    memory, or in these kinds alone.
    """
    threads = (ThreadId(0, 0, 0), ThreadId(0, 1, 1), ThreadId(1, 0, 2))
    widest = [f"{architecture.spaces[0]}{WIDEST}"] * architecture.tells_widest_scope
    first, *others = kinds or (*architecture.spaces, *widest)
    kind_of = {"x": first, "y": first} | {f"{x} {it}": it for it in others for x in "xy"}
    locations = tuple(kind_of)
    spaces = {x: kind for x, kind in kind_of.items() if kind != architecture.spaces[0]}
    every = list(_every_instruction(architecture, threads, locations))
    code = tuple(tuple(it for it in every if it.thread == thread) for thread in threads)
    program = AssemblyProgram(
        threads, code, dict.fromkeys(locations, 0), architecture, spaces=spaces
    )
    return Machine(program, elide=False)


@lru_cache
def unbounded(architecture: Architecture) -> str | None:
    """Why the engine without steps does not know a machine; None if it does."""
    return everywhere(architecture).in_cases.unknown


@lru_cache
def unordered(architecture: Architecture) -> str | None:
    """Why a machine does not say in which order writes reach memory; None if it does."""
    return everywhere(architecture).in_cases.routes.unknown


def effect_of(
    architecture: Architecture, mnemonic: Mnemonic, reach: str | None, devices: int
) -> InstructionRule:
    """What an instruction of the first thread does on devices of two work-groups each, beside all
    others: alone it may do nothing that anybody looks at.
    """
    threads = tuple(
        ThreadId(device, group, 2 * device + group) for device in range(devices) for group in (0, 1)
    )
    x = "x" if "x" in mnemonic.operands else None
    register, value = (0 if mnemonic.reads else None), (Constant(0) if mnemonic.writes else None)
    it = Instruction(0, mnemonic, threads[0], 0, Constant(1), x, reach, register, value)
    later = architecture.completes_later
    others = list(_every_instruction(architecture, threads, ("x",), 1)) if later else []
    code = tuple(tuple(each for each in (it, *others) if each.thread == own) for own in threads)
    return Machine(AssemblyProgram(threads, code, {"x": 0}, architecture)).code[0][0]


_kept_whole = lru_cache(maxsize=_KEPT)(_Whole)


@lru_cache(maxsize=_KEPT)
def _kept_ground(arrangement: _Arrangement, elide: bool, evict: bool) -> _Ground:
    return _Ground(_kept_whole(*arrangement), elide, evict)


def _every_instruction(
    architecture: Architecture,
    threads: tuple[ThreadId, ...],
    locations: tuple[str, ...],
    index: int = 0,
) -> Iterator[Instruction]:
    """Every instruction that a program for these threads and locations may have.

    index: of the first.
    """
    for mnemonic, thread in product(architecture.instructions.values(), threads):
        for x, reach in _operands(mnemonic, locations):
            register = index if mnemonic.reads else None
            value = Constant(0) if mnemonic.writes else None
            yield Instruction(
                index, mnemonic, thread, index, Constant(1), x, reach, register, value
            )
            index += 1


def _operands(
    mnemonic: Mnemonic, locations: tuple[str, ...]
) -> list[tuple[str | None, str | None]]:
    """The locations and reaches that an instruction may have."""
    located = locations if "x" in mnemonic.operands else (None,)
    return [*product(located, mnemonic.reaches or (None,))]
