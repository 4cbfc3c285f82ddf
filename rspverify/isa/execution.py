"""One way through the code of a thread: registers, labels and branches, on all paths at once.

What is read is `Read(i)` for the i-th event; a register is an expression over these, or an address.
A branch goes forward: where it comes to, what is known on both paths is joined under their
conditions. A dialect says what its instructions do: by a table (`TableExecutor`), or by a `step` of
its own.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import groupby, product
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

from rspverify.isa.conditions import (
    Condition,
    both,
    choice,
    compared,
    condition_of,
    either,
    expression,
    implies,
    negated,
)
from rspverify.isa.formula import Formula, Operators
from rspverify.isa.instruction_set import Form, InstructionSet
from rspverify.isa.lines import Instruction, Jump, Label, Line
from rspverify.records import replace
from rspverify.source import InputError, Problem, Severity, Span
from rspverify.value import (
    Binary,
    Constant,
    Expression,
    Read,
    Select,
    Unary,
    binary,
    reads,
    select,
    unary,
    wrap,
)

_EVENTS = {"fence", "event"}
_MOST_WAYS = 16
"""An access is taken apart into so many at most, by what it depends on."""

LATE = "late"
"""The tag of a barrier, which no model can name, to which a thread comes when enough have met."""

CONTROL = "branches before it"
"""What depends on the reads on which the paths to a place have branched."""

UNKNOWN = Read(-1)
"""What a register has that nothing was written to."""

LOST = Read(-2)
"""What a register has that only an iteration of a loop before the last may have set."""

_COMPARED = ("left", "right")
"""The registers of what was compared last."""

_NUMBER = re.compile(r"[$#]?(-?(?:0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,19}))")


class CannotReadError(Exception):
    """Why an instruction cannot be read, in words that follow its text."""


class Address(Struct, frozen=True):
    """The address of a location, in a register, or a part of it: 0 is the low one. offset: what was
    added to it."""

    location: str
    part: int = 0
    offset: Expression = Constant(0)


class Reserved(Struct, frozen=True):
    """The load that a store-exclusive is paired with, by its events, one for each way to it; none
    where paths differ."""

    events: tuple[tuple[int, Condition], ...]
    location: str


Depends = Mapping[int, Condition]
"""The reads on which something depends, and where."""


class State(Struct, frozen=True):
    """What is known at a place in the code.

    path: when it is reached. values: of registers. sources: the reads from which a register comes,
    whatever it was made of them, and `~i` of a read i that only decided between others on the way.
    control: the reads on which the branches before depend. reserved: the load-exclusive that comes
    last, with no store-exclusive behind it. torn: of registers, and of `CONTROL`, the reads on
    which they depend on some of the paths here only, although these are executed on others, too,
    and on which they do.
    """

    path: Condition
    values: Mapping[str, Any]
    sources: Mapping[str, frozenset[int]] = field(default_factory=dict)
    control: frozenset[int] = frozenset()
    reserved: Reserved | None = None
    torn: Mapping[str, Depends] = field(default_factory=dict)

    def depends(self, name: str) -> Depends:
        """On which reads a register, or `CONTROL`, depends, and where."""
        own = self.control if name == CONTROL else self.sources.get(name, frozenset())
        return {**dict.fromkeys(own, True), **self.torn.get(name, {})}


S = TypeVar("S", bound=State)


class Executor(ABC, Generic[S]):
    """Follows the lines of a thread. state: None where no path comes to."""

    def __init__(self, start: S) -> None:
        self.state: S | None = start
        self.problems: list[Problem] = []
        self._targets: dict[str, list[S]] = {}
        self._branches: dict[str, Span] = {}
        self._at: Span | None = None
        self._passed: set[str] = set()

    @abstractmethod
    def step(self, together: Sequence[Instruction]) -> None:
        """What is issued at a time, where a path comes to it."""

    @abstractmethod
    def joined(self, one: S, other: S) -> S:
        """What is known where two paths meet."""

    def passes(self, label: Label) -> None:
        """What a label means besides, where a path comes to it."""

    def follow(self, lines: Iterable[Line]) -> None:
        """Follow lines to the last."""
        kept = [it for it in lines if isinstance(it, Instruction | Label | Jump)]
        for _, group in groupby(kept, key=lambda it: (it.span.line, isinstance(it, Label))):
            together = list(group)
            for label in (it for it in together if isinstance(it, Label)):
                self._come_to(label)
            instructions = [it for it in together if isinstance(it, Instruction)]
            if instructions and self.state is not None:
                self._at = instructions[0].span
                self.step(instructions)
            for jump in (it for it in together if isinstance(it, Jump)):
                self._jump(jump)
        for target in self._targets:
            message = f"a branch must go to a label of its thread, not to {target}"
            self.refuse(self._branches.get(target), message)

    def _jump(self, it: Jump) -> None:
        try:
            if self.state is not None:
                self.branch(it.target, True)
        except CannotReadError as error:
            self.refuse(it.span, f"the code cannot be read: it {error}")
            self.state = None

    def _come_to(self, label: Label) -> None:
        self._passed.add(label.name)
        for state in self._targets.pop(label.name, []):
            self.state = state if self.state is None else self.joined(self.state, state)
        if self.state is not None:
            self.passes(label)

    def branch(self, target: str, taken: Condition) -> None:
        """Go on in both directions, as far as each can be taken. Raises CannotReadError."""
        assert self.state is not None
        before = self.state
        there, on = both(before.path, taken), both(before.path, negated(taken))
        if there is not False:
            if target in self._passed:
                before = self.goes_back(target, there, before)
            else:
                self._targets.setdefault(target, []).append(replace(before, path=there))
                if self._at is not None:
                    self._branches.setdefault(target, self._at)
        self.state = replace(before, path=on) if on is not False else None

    def goes_back(self, target: str, there: Condition, before: S) -> S:
        """Go back to a label that was passed, on a path: what is then known where it goes on.

        Raises CannotReadError.
        """
        raise CannotReadError(f"goes back to {target}, and loops are not read")

    def refuse(self, span: Span | None, message: str) -> None:
        """Note what cannot be read."""
        self.problems.append(Problem(span, message, severity=Severity.UNSUPPORTED))

    def require(self) -> None:
        """Raises InputError with all that cannot be read."""
        if self.problems:
            raise InputError(self.problems)


def sources_joined(one: State, other: State) -> dict[str, frozenset[int]]:
    """The reads from which registers come where two paths meet."""
    names = dict.fromkeys((*one.sources, *other.sources))
    none = frozenset[int]()
    return {it: one.sources.get(it, none) | other.sources.get(it, none) for it in names}


# ---- by a table ----------------------------------------------------------------------------------


class Event(Struct, frozen=True):
    """An access or a fence of a thread, in its place; guard: when it is executed.

    index: `Read(index)` is what it reads. value, success: what it writes, and where it does.
    address, data, control: the reads of its thread that it depends on, by the text of the code, and
    `~i` where read i only decided between others on the way.
    beyond: where it is elsewhere than at its location. pair: of a store-exclusive, its load. label:
    of a barrier, its name; quorum: how many threads must come to it, None if all do.
    """

    index: int
    form: Form
    instruction: Instruction
    guard: Condition
    location: str | None
    value: Expression | None
    success: Expression | None = None
    address: frozenset[int] = frozenset()
    data: frozenset[int] = frozenset()
    control: frozenset[int] = frozenset()
    beyond: Condition = False
    pair: int | None = None
    label: str | None = None
    quorum: int | None = None


class Choice(Struct, frozen=True):
    """What nothing in the code decides: `Read(index)` is 0 or 1, where the guard holds."""

    index: int
    instruction: Instruction
    guard: Condition


class Round(Struct, frozen=True):
    """A loop that goes on only where it has written nothing, read as its last iteration.

    guard: where that goes on. first, end: its events, from first to before end.
    """

    guard: Condition
    first: int
    end: int
    instruction: Instruction


class _Since(Struct, frozen=True):
    """What was done with registers since a label. first: the next event there; path: when it
    is come to; before: those that were looked at where they may not yet have been set; set: those
    that were, and when."""

    first: int
    path: Condition
    before: set[str] = field(default_factory=set)
    set: dict[str, Condition] = field(default_factory=dict)

    def look(self, register: str, path: Condition) -> None:
        """A register is looked at on a path."""
        if register not in self.before and not implies(path, self.set.get(register, False)):
            self.before.add(register)

    def put(self, register: str, path: Condition) -> None:
        """A register is set on a path."""
        self.set[register] = either(self.set.get(register, False), path)


class TableExecutor(Executor[State]):
    """Executes what the description of an instruction set says, and nothing else.

    registers: how they are called; spelled: one of them by each of its names. zero: the one that is
    always 0. locations: those of a test, which operands may name, with their addresses as numbers.
    first: the index of the first event. anywhere: whether a store-exclusive may succeed at another
    location than its load.
    """

    def __init__(
        self,
        instructions: InstructionSet,
        registers: re.Pattern[str],
        locations: Mapping[str, int],
        initial: Mapping[str, Expression | Address],
        first: int = 0,
        *,
        spelled: Callable[[str], str] = str,
        zero: str | None = None,
        anywhere: bool = False,
    ) -> None:
        super().__init__(State(True, initial))
        self._set, self._registers, self._locations = instructions, registers, locations
        self._functions = {it: _folded(does) for it, does in instructions.functions.items()}
        self._next, self._spelled, self._zero, self._anywhere = first, spelled, zero, anywhere
        self.events: list[Event | Choice] = []
        self.rounds: list[Round] = []
        self._guards: dict[int, Condition] = {}
        self._instruction: Instruction | None = None
        self._since: dict[str, _Since] = {}
        self._loops: set[str] = set()

    def follow(self, lines: Iterable[Line]) -> None:
        """Follow lines to the last; which labels they go back to is seen before."""
        lines, passed = list(lines), set[str]()
        for it in lines:
            if isinstance(it, Label):
                passed.add(it.name)
            elif isinstance(it, Instruction | Jump):
                goals = it.operands if isinstance(it, Instruction) else (it.target,)
                self._loops |= passed.intersection(goals)
        super().follow(lines)

    def form(self, it: Instruction) -> Form:
        """The instruction of the set that is written so. Raises CannotReadError."""
        found = self._set.form(it.mnemonic, it.operands)
        if found is None:
            known = self._set.forms(it.mnemonic)
            raise CannotReadError(f"has {len(it.operands)} operands" if known else "is not known")
        return found

    def step(self, together: Sequence[Instruction]) -> None:
        """One instruction after the other."""
        for it in together:
            try:
                if self.state is not None:
                    self.execute(it)
            except CannotReadError as error:
                self.refuse(it.span, f"{it} cannot be read: it {error}")

    def execute(self, it: Instruction) -> None:
        """What one instruction does. Raises CannotReadError."""
        form = self.form(it)
        if form.when is None:
            self._one(it, form)
        else:
            self._where(form.when, it, form)

    def _where(self, when: Formula, it: Instruction, form: Form) -> None:
        """An instruction that is executed where a condition holds. It depends on that, and so does
        what it sets; what comes behind it does not, as it would behind a branch."""
        assert self.state is not None
        if form.target is not None or "end" in form.words:
            raise CannotReadError("goes elsewhere on a condition")
        before = self.state
        number = self._number(when.value(self.operand, self._functions, _WITH_ADDRESSES))
        holds = condition_of(number)
        decides = _either(*map(before.depends, when.needs))
        there, away = both(before.path, holds), both(before.path, negated(holds))
        if there is False:
            return
        self.state = replace(before, path=there)
        self._branched_on(decides)
        self._one(it, form)
        done = self.state
        if CONTROL in before.torn:
            torn = {**done.torn, CONTROL: before.torn[CONTROL]}
        else:
            torn = {name: of for name, of in done.torn.items() if name != CONTROL}
        done = replace(done, control=before.control, torn=torn)
        self.state = done if away is False else self.joined(done, replace(before, path=away))
        decides = {min(it, ~it): when for it, when in decides.items()}
        for name, value in done.values.items():
            whence = done.depends(name)
            if (value, whence) != (before.values.get(name), before.depends(name)):
                self._depend(name, _either(self.state.depends(name), decides))

    def forget_labels(self) -> None:
        """What follows has labels of its own."""
        self._passed.clear()
        self._since.clear()

    def passes(self, label: Label) -> None:
        """From here on a loop may begin."""
        assert self.state is not None
        if label.name in self._loops:
            self._since[label.name] = _Since(self._next, self.state.path)

    def goes_back(self, target: str, there: Condition, before: State) -> State:
        """A loop that goes on only where it has written nothing, and carries no register round.

        What a register has behind it is not known where only an iteration before has set it.
        """
        since, at = self._since.get(target), self._instruction
        body = [it for it in self.events if since is not None and it.index >= since.first]
        events = [it for it in body if isinstance(it, Event)]
        exclusive = [it for it in events if it.pair is not None]
        silent = all(it.form.written is None or both(it.guard, there) is False for it in events)
        paired = {it.pair for it in exclusive} <= {it.index for it in events}
        # Code that stands elsewhere may come back to a label, and was not there before.
        was_there = since is not None and implies(there, since.path)
        ends = was_there and since is not None and there != since.path
        if since is None or at is None or not (ends and silent and paired):
            return super().goes_back(target, there, before)
        own = {it: when for it, when in since.set.items() if both(when, there) is not False}
        if carried := sorted(since.before & own.keys()):
            names = ", ".join(carried)
            raise CannotReadError(f"goes back to {target}, and {names} goes on from there")
        self.rounds.append(Round(there, since.first, self._next, at))
        for states in self._targets.values():
            states[:] = (self._behind(it, since, own) for it in states)
        return self._behind(before, since, own)

    def _behind(self, it: State, loop: _Since, own: Mapping[str, Condition]) -> State:
        """What is known behind a loop that may have gone round and have set some registers."""
        if both(it.path, loop.path) is False:
            return it
        values = {
            name: self._merged(own[name], value, LOST) if name in own else value
            for name, value in it.values.items()
            if name not in own or not implies(it.path, own[name])
        }
        return replace(it, values={**it.values, **values})

    def _one(self, it: Instruction, form: Form) -> None:
        assert self.state is not None
        self._instruction = it
        before, functions = self.state, self._functions
        bound = {letter: self._register_of(it) for letter, it in form.bound(it.operands).items()}
        succeeds: Expression = Constant(0)
        exclusive = form.written is not None and "exclusive" in form.written.needs
        pair = self._pair(form, bound) if exclusive else None
        paired = pair is not None
        if paired:
            succeeds = self._choice(it)
        carries = ["exclusive"] if paired and "dependent" in form.words else []
        carries += ["old"] if "carried" in form.words else []
        first = self._next

        def depends(it: Formula) -> Depends:
            """`~i` where read i only decides."""
            test, *ways = it.choice or (None, frozenset(), frozenset())
            holds: Condition = True if test is None else condition_of(number(test))
            found: list[Depends] = []
            for name in it.needs:
                own = before.depends(bound.get(name, name))
                if name in carries and not (name == "exclusive" and it is form.written):
                    own = {self._next: True}
                there: Condition = True
                chosen = it is not form.written and name not in it.deciding
                if chosen and (name in ways[0]) != (name in ways[1]):
                    there = holds if name in ways[0] else negated(holds)
                found.append(
                    {
                        min(index, ~index) if name in it.deciding else index: both(when, there)
                        for index, when in own.items()
                    }
                )
            return _either(*found)

        def value(name: str) -> Expression | Address:
            if name in ("old", "exclusive"):
                return Read(self._next) if name == "old" else succeeds
            return self.operand(bound.get(name, name))

        def calculated(it: Formula) -> Expression | Address:
            return it.value(value, functions, _WITH_ADDRESSES)  # type: ignore[no-any-return]

        def number(it: Formula) -> Expression:
            return self._number(calculated(it))

        if form.target is not None:
            assert form.branch is not None
            taken = condition_of(number(form.branch))
            self._branched_on(depends(form.branch))
            self.branch(bound[form.target], taken)
        sets = [(name, calculated(it), depends(it)) for name, it in form.sets]
        if form.meets:
            self._meet(it, form, [self.operand(bound[each]) for each in form.meets])
        elif not form.words.isdisjoint(_EVENTS) or (
            form.address is not None and paired is exclusive
        ):
            self._access(it, form, bound, number, depends, pair)
        elif exclusive:
            self.state = replace(self.state, reserved=None)
        for name, found, whence in sets:
            register = self._register(bound[name]) if name in bound else name
            copies = range(first + paired, self._next) if carries else ()
            more = {
                it if each >= 0 else ~it: when
                for each, when in whence.items()
                if max(each, ~each) in copies
                for it in copies
            }
            self._put(register, found, {**whence, **more})
        if self.state is not None and "release" in form.words:
            self.state = replace(self.state, reserved=None)
        if self.state is not None and "forget" in form.words:
            self._forget(_COMPARED)
        if "end" in form.words:
            self.state = None

    def _choice(self, it: Instruction) -> Expression:
        """What nothing decides: 0 or 1."""
        assert self.state is not None
        self.events.append(Choice(self._next, it, self.state.path))
        self._next += 1
        return Read(self._next - 1)

    def _meet(self, it: Instruction, form: Form, operands: Sequence[Expression | Address]) -> None:
        """A barrier, of each time that the thread comes there another one; with a quorum the thread
        may be among those that meet, or come after them."""
        assert self.state is not None
        path, control = self.state.path, self.state.control
        numbers = [each.value for each in operands if isinstance(each, Constant)]
        if len(numbers) < len(operands):
            raise CannotReadError("meets at a barrier whose number is calculated")
        if self.state.torn.get(CONTROL):
            raise CannotReadError("depends on a read on some of the ways to it only")
        label = "/".join(map(str, numbers[:2]))
        quorum = numbers[2] if len(numbers) > 2 else None
        if times := self._times(label, path):
            label += f" again {times}"
        ways = [(form, path)]
        if quorum is not None:
            among = condition_of(self._choice(it))
            late = replace(form, tags=form.tags.also(LATE))
            ways = [(form, both(path, among)), (late, both(path, negated(among)))]
        for own, guard in ways:
            event = Event(self._next, own, it, guard, None, None, control=control)
            self.events.append(replace(event, label=label, quorum=quorum))
            self._guards[self._next] = guard
            self._next += 1

    def _pair(self, form: Form, bound: Mapping[str, str]) -> Reserved | None:
        """The load that a store-exclusive is paired with; None if it must fail."""
        assert self.state is not None
        reserved = self.state.reserved
        if reserved is None:
            return None
        if not reserved.events:
            raise CannotReadError("is paired with another load-exclusive on each path")
        (place, _), *others = self._places(form, bound)
        if others:
            raise CannotReadError("is exclusive, of a location that is computed")
        return reserved if self._anywhere or place.location == reserved.location else None

    def _times(self, label: str, path: Condition) -> int:
        """How often the thread has met at a barrier. Raises CannotReadError if it is not known."""
        before = [
            it
            for it in self.events
            if isinstance(it, Event)
            and (it.label or "").split(" again ")[0] == label
            and both(it.guard, path) is not False
        ]
        if any(
            it.quorum is not None
            or "ARRIVE" in it.form.tags.write
            or both(path, negated(it.guard)) is not False
            for it in before
        ):
            how = "is behind a branch, has a quorum or is not waited at"
            raise CannotReadError(f"meets again at a barrier that {how}")
        return len(before)

    def address(self, form: Form, bound: Mapping[str, str]) -> Expression | Address:
        """What an access is of. Raises CannotReadError."""
        assert form.address is not None
        found = self.operand(bound[form.address])
        if form.offset is None:
            return found
        return added("+", found, self.operand(bound[form.offset]))

    def _places(self, form: Form, bound: Mapping[str, str]) -> list[tuple[Address, Condition]]:
        """Where an access may be, and when it is there. Raises CannotReadError."""
        found = self.address(form, bound)
        if isinstance(found, Address):
            if _elsewhere(found.offset) is True:
                raise CannotReadError(f"accesses memory beyond {found.location}")
            return [(found, negated(_elsewhere(found.offset)))]
        if isinstance(found, Constant):
            names = " + ".join(bound[each] for each in (form.address, form.offset) if each)
            raise CannotReadError(f"has the address {names}, which is not that of a location")
        return [
            (Address(name), compared("==", found, Constant(number)))
            for name, number in self._locations.items()
        ]

    def _access(
        self,
        it: Instruction,
        form: Form,
        bound: Mapping[str, str],
        number: Callable[[Formula], Expression],
        depends: Callable[[Formula], Depends],
        pair: Reserved | None,
    ) -> None:
        """A fence, or an access: an event for each location that it may be of, and for each set of
        reads that it may depend on."""
        assert self.state is not None
        path, written = self.state.path, form.written
        if "byte" in form.words:
            raise CannotReadError("accesses a byte alone")
        succeeds = None if written is None or pair is not None else written.condition
        places: Sequence[tuple[Address | None, Condition]] = [(None, True)]
        if form.address is not None:
            places = self._places(form, bound)
        names = [bound[each] for each in (form.address, form.offset) if each is not None]
        whence = _either(*map(self.state.depends, names))
        data = {} if written is None else depends(written)
        control = self.state.depends(CONTROL)
        loads: Sequence[tuple[int | None, Condition]] = [(None, True)]
        drawn: Condition = True
        if pair is not None:
            loads, drawn = pair.events, condition_of(Read(self._next - 1))
        somewhere = reduce(either, (there for _, there in places))
        given: Expression = Constant(0)
        own: list[tuple[int, Condition]] = []
        ways = self._ways(path, whence, data, control)
        for (place, there), way, (load, when) in product(places, ways, loads):
            index, here = self._next, both(both(way, there), when)
            if here is False and own:
                continue
            event = Event(
                index,
                form,
                it,
                both(here, drawn),
                None if place is None else place.location,
                None if written is None else number(written),
                None if succeeds is None else number(succeeds),
                _on(whence, way),
                _on({} if written is None else depends(written), way),
                _on(control, way),
                False if own else both(path, negated(somewhere)),
                load,
            )
            given = Read(index) if not own else select(expression(here), Read(index), given)
            self.events.append(event)
            self._guards[index] = event.guard
            own.append((index, here))
            self._next += 1
        if form.result is not None:
            result = bound.get(form.result, form.result)
            self._put(self._register(result), given, {index: True for index, _ in own})
        if pair is not None or "reserve" in form.words:
            known = None if pair is not None else Reserved((), "")
            if pair is None and len(places) == 1:
                known = Reserved(tuple(own), places[0][0].location if places[0][0] else "")
            self.state = replace(self.state, reserved=known)

    def _ways(self, path: Condition, *each: Depends) -> list[Condition]:
        """A path, taken apart so that on each part it is the same on which reads something depends.

        Raises CannotReadError.
        """
        found = [path]
        for when in dict.fromkeys(when for it in each for when in it.values()):
            parts = (part for way in found for part in (both(way, when), both(way, negated(when))))
            found = [part for part in parts if part is not False]
        if len(found) > _MOST_WAYS:
            raise CannotReadError("depends on too many reads on some of the ways to it only")
        return found

    def operand(self, text: str) -> Expression | Address:
        """What an operand is: a number, what a register has, the address of a location."""
        assert self.state is not None
        if number := _NUMBER.fullmatch(text):
            return Constant(wrap(int(number[1], 0)))
        if text == self._zero:
            return Constant(0)
        if text in self.state.values:
            for since in self._since.values():
                since.look(text, self.state.path)
            found: Expression | Address = self.state.values[text]
            if self.rounds and is_lost(found):
                raise CannotReadError(f"uses {text}, which a loop may have set before its end")
            return found
        if text in self._locations:
            return Address(text)
        if self._registers.fullmatch(text):
            raise CannotReadError(f"uses {text}, which has no value")
        raise CannotReadError(f"has the operand {text}, which is not known")

    def _number(self, value: Expression | Address) -> Expression:
        """A value that is calculated or stored: of an address its number."""
        if not isinstance(value, Address):
            return value
        return binary("+", Constant(self._locations[value.location]), value.offset)

    def _register_of(self, text: str) -> str:
        """An operand, a register by the one of its names that counts."""
        return self._spelled(text) if self._registers.fullmatch(text) else text

    def _register(self, text: str) -> str:
        if not self._registers.fullmatch(text):
            raise CannotReadError(f"has the operand {text}, which is not a register")
        return text

    def _put(self, register: str, value: Expression | Address, whence: Depends) -> None:
        """Set a register. whence: the reads that the value comes from."""
        assert self.state is not None
        if register == self._zero:
            return
        for since in self._since.values():
            since.put(register, self.state.path)
        values = {**self.state.values, register: value}
        self.state = replace(self.state, values=values)
        self._depend(register, whence)

    def _depend(self, name: str, whence: Depends) -> None:
        """Note on which reads a register depends, and where."""
        assert self.state is not None
        path = self.state.path
        there = {it: when for it, when in whence.items() if both(path, when) is not False}
        own = {**self.state.sources, name: frozenset(there)}
        self.state = replace(self.state, sources=own)
        self._tear(name, there)

    def _branched_on(self, depends: Depends) -> None:
        """What comes behind depends on these reads, too."""
        assert self.state is not None
        whence = _either(self.state.depends(CONTROL), depends)
        self.state = replace(self.state, control=self.state.control | frozenset(depends))
        self._tear(CONTROL, whence)

    def joined(self, one: State, other: State) -> State:
        """Registers have what the path has put there that was taken."""
        values = {
            name: self._merged(
                one.path, one.values.get(name, UNKNOWN), other.values.get(name, UNKNOWN)
            )
            for name in dict.fromkeys((*one.values, *other.values))
        }
        path = choice(one.path, True, other.path)
        reserved = one.reserved if one.reserved == other.reserved else Reserved((), "")
        control = one.control | other.control
        sources = sources_joined(one, other)
        torn: dict[str, Depends] = {}
        for name, own in {**sources, CONTROL: control}.items():
            ways = [(state, state.depends(name)) for state in (one, other)]
            each = {it: [self._there(it, *way) for way in ways] for it in own}
            found = {it: either(*when) for it, when in each.items()}
            torn[name] = {it: when for it, when in found.items() if not implies(path, when)}
        torn = {name: of for name, of in torn.items() if of}
        return State(path, values, sources, control, reserved, torn)

    def _there(self, read: int, state: State, depends: Depends) -> Condition:
        """Where something depends on a read, on a path; where that is not executed it may."""
        if read in depends:
            return both(state.path, depends[read])
        return self.silent({read}, state.path) and state.path

    def silent(self, reads: Iterable[int], path: Condition) -> bool:
        """Whether none of these reads is executed on a path."""
        return all(both(self._guards[max(it, ~it)], path) is False for it in reads)

    def _forget(self, names: Iterable[str]) -> None:
        """What registers have from here on is not known."""
        assert self.state is not None
        known = {name: it for name, it in self.state.values.items() if name not in names}
        self.state = replace(self.state, values=known)

    def _tear(self, name: str, depends: Depends) -> None:
        """Note on which reads something depends on some of the paths here only."""
        assert self.state is not None
        path = self.state.path
        torn = {it: when for it, when in depends.items() if not implies(path, when)}
        others = {of: whence for of, whence in self.state.torn.items() if of != name}
        self.state = replace(self.state, torn={**others, name: torn} if torn else others)

    def _merged(
        self, condition: Condition, then: Expression | Address, otherwise: Expression | Address
    ) -> Expression | Address:
        if then == otherwise:
            return then
        return select(expression(condition), self._number(then), self._number(otherwise))


def _either(*each: Depends) -> Depends:
    """The reads on which one of these depends, and where."""
    found: dict[int, Condition] = {}
    for read, when in (pair for it in each for pair in it.items()):
        found[read] = either(found.get(read, False), when)
    return found


def _on(depends: Depends, way: Condition) -> frozenset[int]:
    """The reads on which something depends on a path."""
    return frozenset(it for it, when in depends.items() if implies(way, when))


def is_lost(value: Expression | Address) -> bool:
    """Whether an iteration of a loop before the last may have made a value."""
    return not isinstance(value, Address) and LOST.index in reads(value)


# ---- numbers and addresses -----------------------------------------------------------------------


def added(operator: str, left: Any, right: Any) -> Expression | Address:
    """A calculation in which an address may stand, as long as something is added to it.

    With a choice between numbers it is done for each, so that equal ones are seen to be the same.
    """
    if isinstance(left, Address) and not isinstance(right, Address) and operator in "+-":
        return replace(left, offset=binary(operator, left.offset, right))
    if isinstance(right, Address) and not isinstance(left, Address) and operator == "+":
        return replace(right, offset=binary("+", right.offset, left))
    match left, right:
        case Select(condition, then, otherwise), Constant() if _are_numbers(left):
            parts = (added(operator, it, right) for it in (then, otherwise))
            return select(condition, *parts)  # type: ignore[arg-type]
        case Constant(), Select(condition, then, otherwise) if _are_numbers(right):
            parts = (added(operator, left, it) for it in (then, otherwise))
            return select(condition, *parts)  # type: ignore[arg-type]
    return _of_numbers(binary)(operator, left, right)


def _are_numbers(it: Expression) -> bool:
    """Whether an expression is a number, or a choice between some."""
    match it:
        case Select(_, then, otherwise):
            return _are_numbers(then) and _are_numbers(otherwise)
        case _:
            return isinstance(it, Constant)


def _of_numbers(make: Callable[..., Expression]) -> Callable[..., Expression]:
    def made(*given: Any) -> Expression:
        if any(isinstance(it, Address) for it in given):
            raise CannotReadError("calculates with an address")
        return make(*given)

    return made


def _folded(does: Callable[..., Expression]) -> Callable[..., Expression | Address]:
    """A function of numbers, with each choice between some taken apart."""
    function = _of_numbers(does)

    def fold(it: Expression) -> Any:
        match it:
            case Unary(operator, argument):
                return unary(operator, fold(argument))
            case Binary(operator, left, right):
                return added(operator, fold(left), fold(right))
            case Select(condition, then, otherwise):
                return select(fold(condition), fold(then), fold(otherwise))
            case _:
                return it

    return lambda *given: fold(function(*given))


_WITH_ADDRESSES = Operators(_of_numbers(unary), added, _of_numbers(select))


def _elsewhere(offset: Expression) -> Condition:
    """Where an offset is not 0: never, if it is so by how it is calculated."""
    return False if _vanishes(offset) else condition_of(offset)


def _vanishes(it: Expression) -> bool:
    """Whether a calculation gives 0 whatever is read, as `r ^ r` does."""
    match it:
        case Constant(value):
            return value == 0
        case Binary("^" | "-", left, right) if left == right:
            return True
        case Binary("+" | "-" | "^" | "|", left, right):
            return _vanishes(left) and _vanishes(right)
        case Binary("*" | "&", left, right):
            return _vanishes(left) or _vanishes(right)
        case _:
            return False
