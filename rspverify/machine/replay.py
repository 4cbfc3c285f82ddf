"""Replaying a schedule on the explicit machine, rule by rule, and showing each state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

from rspverify.assembly.program import Instruction, ThreadId
from rspverify.machine import rules
from rspverify.machine.closures import known_value
from rspverify.machine.draining import Resting
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.pending import OPEN_READ
from rspverify.machine.rendezvous import is_arrival
from rspverify.machine.rules import Bit, Cell, Fifo, InstructionRule, Rule, StepRule, Structure
from rspverify.machine.shapes import Shape
from rspverify.machine.state import State
from rspverify.records import replace
from rspverify.value import evaluate
from rspverify.verdict import CacheState, Delivered, Entry, Execution, Outcome, Snapshot
from rspverify.verdict import Step as ShownStep

_ALWAYS_SHOWN = ("DIRTY", "VALID")
"""The bits that Fig. 4 draws, D or C and V or I, of whatever machine has them."""


class ReplayError(Exception):
    """A schedule that the machine cannot follow: a bug of an engine, never of a user."""


class Replayer:
    """The machine without any reduction, on which schedules are checked and shown.

    looping: whether spins are loops.
    """

    def __init__(self, machine: Machine, *, looping: bool = False) -> None:
        self.machine = replace(machine, evict=True)
        self.explicit = ExplicitMachine(self.machine, reduced=False, looping=looping)

    def states(self, schedule: Iterable[Rule]) -> list[State]:
        """The states that a schedule passes through. Raises ReplayError if a rule may not fire."""
        states = [self.explicit.initial]
        for place, rule in enumerate(schedule):
            states.append(self._stepped(states[-1], rule, place))
        return states

    def outcome(self, schedule: Iterable[Rule]) -> Outcome | None:
        """The outcome that a schedule ends with; None if it stops short or cannot be followed."""
        try:
            last = self.states(schedule)[-1]
        except ReplayError:
            return None
        return self.explicit.outcome(last) if self.explicit.complete(last) else None

    def with_dequeues(self, schedule: Iterable[Rule]) -> list[Rule]:
        """The schedule of an engine whose fifos dequeue by themselves, each dequeue now a step.

        What takes away what is not there is left out.
        """
        full: list[Rule] = []
        state = self.explicit.initial
        for rule in schedule:
            try:
                state = self._stepped(state, rule, len(full))
            except ReplayError:
                if isinstance(rule, StepRule) and rule.loses:
                    continue
                raise
            full.append(rule)
            while dequeue := self._dequeue(state):
                full.append(dequeue[0])
                state = dequeue[1]
        return full

    def _stepped(self, state: State, rule: Rule, place: int) -> State:
        after = self.explicit.apply(state, rule)
        if after is None:
            raise ReplayError(f"step {place + 1}, {rule}, may not happen there")
        return after

    def _dequeue(self, state: State) -> tuple[Rule, State] | None:
        return next((it for it in self.explicit.successors(state) if it[0].dequeues), None)

    def settled(self, state: State) -> State:
        """The state after all that the environment can do to let instructions happen."""
        return [state, *(after for _, after in self._settling(state, lambda _: True))][-1]

    def completed(self, schedule: Iterable[Rule], resting: Resting) -> list[Rule]:
        """The schedule of a search whose entries rest, with the steps that it does not tell.

        They are put in where they are needed for what comes next.
        """
        state, full = self.explicit.initial, list[Rule]()
        for rule in schedule:
            after = self.explicit.apply(state, rule)
            if after is None:
                for step, settled in self._settling(state, resting.of):
                    full.append(step)
                    state = settled
                after = self._stepped(state, rule, len(full))
            full.append(rule)
            state = after
        return full

    def _settling(
        self, state: State, concerns: Callable[[str | None], bool]
    ) -> Iterator[tuple[Rule, State]]:
        """Flushes and dequeues while there are any, then fetches; each with the state after it.

        concerns: whether the entries of a location are flushed and fetched.
        """
        shapes, apply = self.machine.shapes, self.explicit.apply
        moves: list[Rule] = [
            step for x, its in shapes.clearing.items() if concerns(x.location) for step in its
        ]
        moves += [it for it in self.machine.steps if shapes.shape(it) is Shape.LEAVES]
        moving = True
        while moving:
            moving = False
            for rule in moves:
                after = apply(state, rule)
                if after is not None:
                    state, moving = after, True
                    yield rule, state
        for bit in filter(lambda it: concerns(it.location), shapes.from_below):
            for rule in shapes.refreshing.get(bit, ()):
                after = None if self.explicit.cell(state, bit) else apply(state, rule)
                if after is not None:
                    state = after
                    yield rule, state

    def without_idle_steps(
        self, schedule: Sequence[Rule], wanted: Callable[[Outcome], bool]
    ) -> list[Rule]:
        """The schedule without steps that can be left out while the outcome stays a wanted one."""
        kept = list(schedule)
        for place in reversed(range(len(schedule))):
            shorter = kept[:place] + kept[place + 1 :]
            outcome = self.outcome(shorter)
            if outcome is not None and wanted(outcome):
                kept = shorter
        return kept

    def execution(self, schedule: Sequence[Rule], lines: Sequence[int]) -> Execution:
        """The execution to be shown; `lines[i]` is the source line of operation i."""
        states = self.states(schedule)
        machine, program = self.machine, self.machine.program
        begun: list[Instruction] = []
        steps: list[ShownStep] = []
        for rule, (before, after) in zip(schedule, pairwise(states), strict=True):
            begun += [rule.instruction] if isinstance(rule, InstructionRule) else []
            steps.append(self._shown_step(rule, before, after, lines, begun))
        queues = [it for it in self._shown if program.completes_later and not self._holds(it)]
        used = {name for it in steps for name, cache in it.after.caches.items() if cache.fifos}
        shown = [it for it in self._shown if it not in queues or str(it) in used]
        names = [*(each.name for each in shown), *(it.step for it in machine.steps), ""]
        known = program.machine.notes
        named = {
            **{name: name for name in names},
            **{str(it): it.mnemonic.name for it in program.instructions},
        }
        notes = {name: known[it] for name, it in named.items() if it in known}
        return Execution(
            self.snapshot(states[0]),
            tuple(steps),
            tuple(self._own(thread) for thread in program.threads),
            tuple(map(str, shown)),
            code=tuple(
                tuple((lines[it.operation], str(it)) for it in code) for code in program.code
            ),
            shared=tuple(
                tuple(sorted(it.thread for it in machine.threads_of(each))) for each in shown
            ),
            queues=tuple(str(it) for it in queues if it in shown),
            notes=notes,
        )

    def _shown_step(
        self,
        rule: Rule,
        before: State,
        after: State,
        lines: Sequence[int],
        begun: Sequence[Instruction],
    ) -> ShownStep:
        """The step, and the state after it. begun: the instructions so far, in order."""
        thread = rule.thread if isinstance(rule, InstructionRule) else None
        cache = str(rule.structure) if isinstance(rule, StepRule) else None
        own, waiting = rule.instruction, self._under_way(after)
        opens = own is not None and own.index in waiting
        beside: tuple[tuple[int, int], ...] = ()
        if thread is None or not opens:
            older = begun if own is None else begun[: begun.index(own)]
            about: list[object] = [own.location] if own else []
            about += rule.about if isinstance(rule, StepRule) else []
            beside = tuple(
                self._place(it)
                for it in older
                if it.index in waiting
                if (own is not None and it.thread == own.thread)
                or (it.mnemonic.writes and it.location in about)
            )
        return ShownStep(
            self._with_values(rule, before, after),
            thread,
            cache,
            None if own is None else lines[own.operation],
            self.snapshot(after),
            None if own is None else self._place(own),
            opens,
            self._delivered(rule, before, after),
            beside,
        )

    def _place(self, it: Instruction) -> tuple[int, int]:
        """The thread of an instruction, and its place in the thread's code."""
        thread = it.thread.thread
        return thread, it.index - self.machine.program.code[thread][0].index

    def _under_way(self, state: State) -> set[int]:
        """The instructions, by their indexes, that are in a pool or wait in a fifo."""
        machine, at = self.machine, self.explicit
        waiting = (each for it in machine.fifos for each in at.fifo(state, it))
        found = {each.index for each in waiting if isinstance(each, rules.Issued)}
        return found | {it.index for it in machine.members if at.cell(state, it)}

    def _delivered(self, rule: Rule, before: State, after: State) -> Delivered | None:
        """What a step delivers to the read of its instruction."""
        own, values = rule.instruction, self.explicit.layout.values
        if own is None or own.register not in values(after).keys() - values(before).keys():
            return None
        value = values(after)[own.register]
        sources = (it.source for it in rule.flat if isinstance(it, rules.Deliver))
        source = next(it for it in sources if self.explicit.cell(before, it) == value)
        return Delivered(own.location or "", value, str(source.structure))

    @cached_property
    def _shown(self) -> list[Structure]:
        """The structures that are shown: not memory, and no locks alone; the innermost first."""
        memory = {self.machine.memory(x) for x in self.machine.locations}
        found = [
            cell.structure
            for cell in (*self.machine.cells, *self.machine.members)
            if not isinstance(cell, rules.Lock) and cell not in memory
            if cell.structure.name != OPEN_READ
            if not (isinstance(cell, Bit) and is_arrival(cell))
        ]
        places = self.machine.program.machine.places
        return sorted(dict.fromkeys(found), key=lambda it: places.index(it.place.kind))

    def _own(self, thread: ThreadId) -> str:
        """The structure that a thread is shown beside: the nearest to it."""
        near = [it for it in self._shown if thread in self.machine.threads_of(it)]
        return str(near[0]) if near else ""

    def _with_values(self, rule: Rule, before: State, after: State) -> str:
        """The step as Figs 4 and 5 write it: `ST 42 x`, `FLUSH_L1(x, 42)`, `LD r x (reads 42)`.

        Where accesses may complete later it says where a value is from.
        """
        if isinstance(rule, StepRule):
            return self._step_with_value(rule, before, after)
        instruction, text = rule.instruction, self._written(rule.instruction, after)
        values = self.explicit.layout.values(after)
        if instruction.register in values:  # A step may complete the read later on.
            text += f" (reads {values[instruction.register]}"
            found = self._delivered(rule, before, after)
            if found is not None and self.machine.program.completes_later:
                text += f" from {found.source}"
            if instruction.value is not None and instruction.mnemonic.operator is None:
                text += f", writes {evaluate(instruction.value, values)}"
            text += ")"
        return text

    def _written(self, instruction: Instruction, state: State) -> str:
        """An instruction with the value that it stores, where that is known: `ST 42 x`."""
        if instruction.register is None and instruction.value is not None:
            value = known_value(instruction.value, self.explicit.layout.values(state))
            if value is not None:
                operands = {"r": str(value), "x": str(instruction.location)}
                return instruction.mnemonic.written(
                    operands[it] for it in instruction.mnemonic.operands
                )
        return str(instruction)

    def _step_with_value(self, rule: StepRule, before: State, after: State) -> str:
        """Its name, its location or the instruction that it goes on with, and what it moves."""
        marked = any(isinstance(it.element, rules.Marker) for it in rule.oldest)
        about = [] if marked else list(map(str, rule.about))
        if rule.instruction is not None:
            about = [self._written(rule.instruction, after), *about]
        for update in rule.updates:
            if isinstance(update, rules.Deliver | rules.Copy):
                value = f"{self.explicit.cell(before, update.source)}"
                moved = isinstance(update, rules.Copy)
                about.append(value if moved else f"reads {value} from {update.source.structure}")
                break
        return f"{rule.step}({', '.join(about)})" if about else rule.step

    def snapshot(self, state: State) -> Snapshot:
        """A state as plain data."""
        at = self.explicit.cell
        caches = {str(each): self._contents(each, state) for each in self._shown}
        final = ((x, self.machine.memory(x)) for x in self.machine.locations)
        memory = {x: at(state, word) for x, word in final if word}
        locks = {
            str(cell): f"P{at(state, cell)}"
            for cell in self.machine.cells
            if isinstance(cell, rules.Lock) and at(state, cell) >= 0
        }
        return Snapshot(caches, memory, locks)

    def _contents(self, structure: Structure, state: State) -> CacheState:
        cells = [it for it in self.machine.cells if it.structure == structure]
        return CacheState(
            self._entries(cells, state) if self._holds(structure) else None,
            tuple(self._queues(structure, cells, state)),
        )

    def _holds(self, structure: Structure) -> bool:
        """Whether it has values or bits."""
        cells = (it for it in self.machine.cells if it.structure == structure)
        return any(isinstance(cell, rules.Word | Bit) for cell in cells)

    def _entries(self, cells: Sequence[Cell | Fifo], state: State) -> dict[str, Entry]:
        """Its values with their bits; bits alone where there is no value."""
        at, entries = self.explicit.cell, dict[str, Entry]()
        locations = dict.fromkeys(it.location for it in cells if isinstance(it, rules.Word | Bit))
        for x in locations:
            words = [it for it in cells if isinstance(it, rules.Word) and it.location == x]
            bits = [it for it in cells if isinstance(it, Bit) and it.location == x]
            shown = {
                it.word: bool(at(state, it))
                for it in bits
                if it.word in _ALWAYS_SHOWN or not self.machine.shapes.ignored(it)
            }
            if ("VALID" in shown or not words) and not any(at(state, it) for it in bits):
                continue
            others = tuple(
                name for name, value in shown.items() if value and name not in _ALWAYS_SHOWN
            )
            flags = (shown.get("DIRTY"), shown.get("VALID"), others)
            for word in words:
                several = f"{word.word}[{x}]" if x else word.word
                name = x if x and len(words) == 1 else several
                entries[name] = Entry(at(state, word), *flags)
            if not words and x is not None:
                entries[x] = Entry(None, *flags)
            if not words and x is None:
                entries |= {name: Entry(1, None, None) for name, value in shown.items() if value}
        return entries

    def _queues(
        self, structure: Structure, cells: Sequence[Cell | Fifo], state: State
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Its fifos and pools that are not empty, by name."""
        instructions = self.machine.program.instructions
        fifos = [it for it in cells if isinstance(it, Fifo)]
        members = [it for it in self.machine.members if it.structure == structure]
        several = len({it.field for it in (*fifos, *members)}) > 1
        pools: dict[str, list[str]] = {}

        def name(cell: Cell | Fifo) -> str:
            return " ".join(filter(None, (cell.field if several else "", cell.location)))

        for member in members:
            if self.explicit.cell(state, member):
                text = self._written(instructions[member.index], state)
                pools.setdefault(name(member), []).append(text)
        for fifo in fifos:
            if held := self.explicit.fifo(state, fifo):
                yield name(fifo), tuple(self._element(each, state) for each in held)
        for each, names in pools.items():
            yield each, tuple(names)

    def _element(self, it: rules.Element, state: State) -> str:
        """What is in a fifo; an instruction with its value."""
        if isinstance(it, rules.Issued):
            return self._written(self.machine.program.instructions[it.index], state)
        return str(it)
