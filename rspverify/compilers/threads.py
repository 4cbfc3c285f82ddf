"""What a function of assembly does: its accesses of memory, and what orders them, one by one.

The function is followed from its entry on all paths at once. What is read is `Read(i)` for the i-th
that it emits; a register is an expression over these. Nothing goes back: a loop cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from rspverify.architecture.architecture import (
    Architecture,
    CellKind,
    Element,
    Enter,
    Lacks,
    Mnemonic,
    Sort,
    plain,
)
from rspverify.compilers.amdgpu import Does, Named, Wait, named, waits_of
from rspverify.compilers.arithmetic import SET, branches, calculated, spelled, stored
from rspverify.compilers.registers import (
    Issued,
    Lanes,
    Queue,
    State,
    Value,
    joined,
    registers,
)
from rspverify.isa.addresses import Address, CannotReadError
from rspverify.isa.conditions import (
    Condition,
    both,
    either,
    expression,
    implies,
    negated,
)
from rspverify.isa.execution import UNKNOWN, Executor
from rspverify.isa.lines import Instruction, Label, Line
from rspverify.records import replace
from rspverify.source import InputError, Span
from rspverify.value import Expression, Read, select

CACHE = -1
"""In the queue of a counter: caches are written back or emptied, which completes later."""
_ELSEWHERE = re.compile(r"s_wait_(?:expcnt|samplecnt|bvhcnt|kmcnt) .*|s_waitcnt expcnt\(\d+\)")
"""Waits for what no instruction that is known here does: exports, images, scalar loads."""


class Emitted(Struct, frozen=True):
    """What a thread executes for memory, in its place.

    name: as the machine has it, `global_load_dword glc`. guard: when it is executed. waits: where
    it only waits for a part of what was issued, that, by index. half: of a barrier, `arrive` or
    `depart`.
    """

    index: int
    name: str
    mnemonic: Mnemonic | None
    guard: Condition
    span: Span
    does: Does = Does.NOTHING
    location: str | None = None
    value: Expression | None = None
    success: Expression | None = None
    waits: frozenset[int] = frozenset()
    half: str | None = None


class EmittedThread(Struct, frozen=True):
    """What a function does. named: what registers have at labels that end with them, by the
    label without its register."""

    code: tuple[Emitted, ...]
    named: Mapping[str, Expression]


class Instructions:
    """The instructions of a machine as compilers write them, and what counters they count in."""

    def __init__(self, machine: Architecture) -> None:
        self.machine = machine
        self._by_text = {it.written(it.operands): it for it in machine.instructions.values()}
        every = machine.instructions.values()
        self._awaited = {it.name: pools for it in every if (pools := self._awaited_by(it))}

    def known(self, text: str) -> Mnemonic | None:
        """The instruction that is written so."""
        return self._by_text.get(text)

    def counters(self, it: Mnemonic) -> frozenset[str]:
        """The counters that count an instruction until it is complete.

        A counter is what an instruction waits for, by whose name it is called; it may be several
        pools of the thread.
        """
        entered = (each for each in plain(it.effects) if isinstance(each, Enter))
        pools = {it.where.kind for it in entered if it.element is Element.SELF}
        return frozenset(name for name, awaited in self._awaited.items() if pools & awaited)

    def _awaited_by(self, it: Mnemonic) -> frozenset[CellKind]:
        lacks = (each for each in it.conditions if isinstance(each, Lacks))
        empty = (it.where.kind for it in lacks if it.marker is None and not it.instructions)
        return frozenset(filter(self._is_counter, empty))

    def _is_counter(self, kind: CellKind) -> bool:
        return kind.sort is Sort.POOL and kind.place == self.machine.places[0]


@lru_cache
def instructions_of(machine: Architecture) -> Instructions:
    """Those of a machine."""
    return Instructions(machine)


def read_thread(
    lines: Sequence[Line], pointers: Mapping[str, tuple[str, ...]], machine: Architecture
) -> EmittedThread:
    """What the lines of a function do. pointers: the registers that have them at its entry.

    Raises InputError with all that cannot be read: UNSUPPORTED, at its line.
    """
    return _Thread(pointers, instructions_of(machine)).thread(lines)


class _Thread(Executor[State]):
    """The executor of AMD's code for one work-item: masks of lanes, and counters."""

    def __init__(self, pointers: Mapping[str, tuple[str, ...]], instructions: Instructions) -> None:
        values: dict[str, Value] = {
            name: Address(location, at)
            for location, names in pointers.items()
            for at, name in enumerate(names)
        }
        values |= {"exec_lo": Lanes(True, 0), "exec_hi": Lanes(True, 1)}
        super().__init__(State(True, values))
        self._known = instructions
        self._code: list[Emitted] = []
        self._named: dict[str, Expression] = {}

    def thread(self, lines: Sequence[Line]) -> EmittedThread:
        """What lines do, to their end. Raises InputError."""
        self.follow(lines)
        if self.state is not None and not self.problems:
            self.refuse(lines[-1].span if lines else None, "the function must end, and does not")
        self.require()
        return EmittedThread(tuple(_without_idle_waits(self._code)), self._named)

    def joined(self, one: State, other: State) -> State:
        """What is known where two paths meet."""
        return joined(one, other)

    def passes(self, label: Label) -> None:
        """A label that names a register says where what a test reads is in the end."""
        name, _, register = label.name.rpartition(".")
        if self.state is None or not re.fullmatch(r"[va]\d+", register):
            return
        try:
            # A compiler may end with it on several paths.
            it_has, before = self.state.value(register), self._named.get(name, UNKNOWN)
            # Where nothing is read that is named here, it may have a pointer, or a mask.
            known = not isinstance(it_has, Address | Lanes)
            value = self.state.scalar(register) if known else UNKNOWN
            self._named[name] = select(expression(self.state.path), value, before)
        except CannotReadError as error:
            self.refuse(label.span, f"what a test reads in the end {error}")

    def step(self, together: Sequence[Instruction]) -> None:
        """What is issued at a time looks at registers before it writes any."""
        assert self.state is not None
        before, written = self.state, dict[str, Value]()
        for it in together:
            try:
                values = self._one(it, before)
                if len(together) > 1 and values is None:
                    raise CannotReadError("is issued with another, and does more than calculate")
                written |= values or {}
            except CannotReadError as error:
                self._refuse(it, f"it {error}")
        if written and self.state is not None:
            try:
                self.state = self.state.written(written)
            except CannotReadError as error:
                self._refuse(together[0], f"it {error}")

    def _refuse(self, it: Instruction, why: str) -> None:
        self.refuse(it.span, f"{it} cannot be read: {why}")
        if self.state is not None and it.operands:  # What follows of it is not told.
            lost = dict.fromkeys(registers(it.operands[0]), UNKNOWN)
            values = {**self.state.values, **lost}
            open_ = {name: its for name, its in self.state.open.items() if name not in lost}
            self.state = replace(self.state, values=values, open=open_)

    def _one(self, it: Instruction, before: State) -> Mapping[str, Value] | None:
        """What an instruction writes to registers, if it only calculates."""
        form = SET.form(it.mnemonic, it.operands)
        if form is not None and "end" in form.words:
            self.state = None
            return None
        if (goes := branches(it, before)) is not None:
            self.branch(*goes)
            return None
        values = calculated(it, before)
        if values is not None:
            return values
        halves = [word for word in ("arrive", "depart") if form and word in form.words]
        for half in halves if not it.modifiers else ():
            self._emit(it, half, None, before.path, half=half)
        waits = waits_of(it)
        for wait in waits:
            self._wait(wait, it)
        if not waits and not halves:
            self._memory(it)
        return None

    # ---- memory ----------------------------------------------------------------------------------

    def _emit(
        self, it: Instruction, name: str, mnemonic: Mnemonic | None, guard: Condition, **more: Any
    ) -> None:
        self._code.append(Emitted(len(self._code), name, mnemonic, guard, it.span, **more))

    def _memory(self, it: Instruction) -> None:
        assert self.state is not None
        try:
            (what,) = named([it])
        except InputError:
            known = bool(SET.forms(spelled(it)))
            message = "has operands that are not known" if known else "is not known"
            raise CannotReadError(message) from None
        mnemonic = self._known.known(what.name)
        if mnemonic is None:
            raise CannotReadError(f"is no instruction of machine {self._known.machine.name}")
        before = self.state
        if what.does is Does.NOTHING:
            if not implies(before.path, before.active):
                raise CannotReadError("may be left out, as there may be no lane that takes part")
            self._emit(it, mnemonic.name, mnemonic, before.path)
            self._count(mnemonic)
            return
        guard = both(before.path, before.active)
        read = len(self._code)
        target, accessed = _accessed(what, before, read)
        self._emit(it, mnemonic.name, mnemonic, guard, does=what.does, **accessed)
        self._count(mnemonic)
        if target is not None:
            state = self.state
            if self._is_after(target, mnemonic):
                state = state.complete(dict.fromkeys(state.open.get(target, {}), guard))
            state = state.written({target: Read(read)})
            self.state = state.loading(target, read, guard) if mnemonic.later else state

    def _is_after(self, target: str, mnemonic: Mnemonic) -> bool:
        """Whether earlier loads into a register complete before the next one there."""
        assert self.state is not None
        counters = self._known.counters(mnemonic)
        earlier = (self._code[each].mnemonic for each in self.state.open.get(target, ()))
        return all(it is not None and self._known.counters(it) == counters for it in earlier)

    def _count(self, mnemonic: Mnemonic) -> None:
        assert self.state is not None
        it, counted = self._code[-1], dict(self.state.counted)
        for counter in self._known.counters(mnemonic):
            issued = Issued(it.index, it.guard, self.state.path)
            counted[counter] = (*counted.get(counter, ()), issued)
        if it.does is Does.NOTHING and mnemonic.later:  # Counted by some, and we do not know where.
            cache = Issued(CACHE, it.guard, it.guard)
            counted = {counter: (*queue, cache) for counter, queue in counted.items()}
        self.state = replace(self.state, counted=counted)

    def _wait(self, wait: Wait, it: Instruction) -> None:
        """Wait until no more than so many are left of what a counter counts.

        Before anything was issued a wait is the calling convention's, and not the thread's.
        """
        assert self.state is not None
        state, text = self.state, str(wait)
        whole = self._known.known(wait.form.format(0))
        if whole is None:
            if _ELSEWHERE.fullmatch(text):
                return
            machine = self._known.machine.name
            raise CannotReadError(f"waits for a counter that machine {machine} has not")
        done, rest = _split(state.counted.get(whole.name, ()), wait.number, state.path)
        counted = {**state.counted, whole.name: rest}
        others = [issued for queue in counted.values() for issued in queue]
        if wait.number == 0 and self._code:
            self._emit(it, whole.name, whole, state.path)
        elif wait.number and done:
            if any(both(done.get(issued.index, False), issued.surely) for issued in others):
                raise CannotReadError("waits for what another counter counts, too")
            for guard in dict.fromkeys(done.values()):
                waits = frozenset(index for index, where in done.items() if where == guard)
                self._emit(it, text, None, guard, waits=waits)
        for issued in others:
            if issued.index in done:
                done[issued.index] = both(done[issued.index], negated(issued.surely))
        self.state = replace(state, counted=counted).complete(done)


def _accessed(what: Named, before: State, read: int) -> tuple[str | None, dict[str, Any]]:
    """The register that has what was read, and what is accessed: its location, what is written
    there, and where a compare-exchange succeeds. Raises CannotReadError."""
    form = what.form
    assert form is not None
    bound = form.bound(what.origin.operands)
    target = bound.get(form.result or "")
    if target is not None and (len(registers(target)) != 1 or not target.startswith("v")):
        raise CannotReadError(f"has the operand {target}, which is not known")
    location = before.pointer(bound[form.address or ""])
    if form.written is None:
        return target, {"location": location}
    old = Read(read)
    value, success = stored(form, what.origin, before, old)
    if success is not None:
        value = select(success, value, old)
    return target, {"location": location, "value": value, "success": success}


def _split(queue: Queue, left: int, path: Condition) -> tuple[dict[int, Condition], Queue]:
    """What is complete when so many are left, each with where it is, and what is not.

    What is counted completes in its order. Raises CannotReadError where it is not known what is
    counted.
    """
    if left and any(it.index == CACHE for it in queue):
        raise CannotReadError("waits for a part of what was issued, and caches are among it")
    surely, possibly = (_Later(left), _Later(left))
    done, rest = dict[int, Condition](), list[Issued]()
    for it in reversed(queue):
        here, there = both(path, it.surely), both(path, it.possibly)
        complete = both(here, surely.enough)
        if complete != both(here, possibly.enough):
            message = "waits for a part of what was issued, and its lanes may not be counted"
            raise CannotReadError(message)
        if complete is not False:
            done[it.index] = complete
        still = Issued(
            it.index,
            both(it.surely, negated(complete)),
            both(it.possibly, negated(both(path, surely.enough))),
        )
        if still.possibly is not False:
            rest.append(still)
        surely.issue(here)
        possibly.issue(there)
    return done, tuple(reversed(rest))


class _Later:
    """Where so many have been issued, and more, of those that are looked at from the last on."""

    def __init__(self, count: int) -> None:
        self._least: list[Condition] = [True, *(False for _ in range(count))]

    @property
    def enough(self) -> Condition:
        """Where as many have been issued as are left."""
        return self._least[-1]

    def issue(self, where: Condition) -> None:
        """One more, where a condition holds."""
        fewer: list[Condition] = [False, *self._least[:-1]]
        self._least = [
            either(it, both(where, before)) for it, before in zip(self._least, fewer, strict=True)
        ]


def _without_idle_waits(code: Sequence[Emitted]) -> Iterable[Emitted]:
    last = max((at for at, it in enumerate(code) if not _only_waits(it)), default=-1)
    return code[: last + 1]


def _only_waits(it: Emitted) -> bool:
    if it.half is not None or it.does is not Does.NOTHING:
        return False
    return it.mnemonic is None or not (it.mnemonic.effects or it.mnemonic.later)
