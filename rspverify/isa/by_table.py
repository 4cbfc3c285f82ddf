"""The code of a thread as a table says it: the events of what an instruction set describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import product

from msgspec import Struct, field

from rspverify.isa.addresses import (
    WITH_ADDRESSES,
    Address,
    CannotReadError,
    added,
    elsewhere,
    folded,
)
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
from rspverify.isa.execution import (
    CONTROL,
    LATE,
    LOST,
    UNKNOWN,
    Depends,
    Executor,
    Reserved,
    State,
)
from rspverify.isa.formula import Formula
from rspverify.isa.instruction_set import Form, InstructionSet
from rspverify.isa.lines import Instruction, Jump, Label, Line
from rspverify.records import replace
from rspverify.value import (
    Constant,
    Expression,
    Read,
    binary,
    reads,
    select,
    wrap,
)

_EVENTS = {"fence", "event"}
_MOST_WAYS = 16
"""An access is taken apart into so many at most, by what it depends on."""

COMPARED = ("left", "right", "high", "low")
"""The registers of what was compared last, as numbers with a sign and without one."""

_LEAST = Constant(-(1 << 31))

_NUMBER = re.compile(r"[$#]?(-?(?:0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,19}))")


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
        self._functions = {it: folded(does) for it, does in instructions.functions.items()}
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
        number = self._number(when.value(self.operand, self._functions, WITH_ADDRESSES))
        holds = condition_of(number)
        decides = _either(*map(before.depends, when.needs))
        there, away = both(before.path, holds), both(before.path, negated(holds))
        if there is not False:
            self.state = replace(before, path=there)
            self._branched_on(decides)
            self._one(it, form)
            done = self.state
            done = replace(done, whence={**done.whence, CONTROL: before.depends(CONTROL)})
            self.state = done if away is False else self.joined(done, replace(before, path=away))
        decides = {min(it, ~it): when for it, when in decides.items()}
        bound = self.bound(it, form)
        for each in filter(None, (form.result, *(name for name, _ in form.sets))):
            name = bound.get(each, each)
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
        bound = self.bound(it, form)
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
            return it.value(value, functions, WITH_ADDRESSES)  # type: ignore[no-any-return]

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
        without = any(
            _lacks_opposite(it, found)
            for (_, it), (_, found, _) in zip(form.sets, sets, strict=True)
        )
        if self.state is not None and ("forget" in form.words or without):
            self._forget(COMPARED)
        if self.state is not None and "uncarried" in form.words:
            self._forget(COMPARED[2:])
        if "end" in form.words:
            self.state = None

    def ends_there(self, it: Line) -> bool:
        """Whether a thread goes no further, whatever it has in registers."""
        form = self._set.form(it.mnemonic, it.operands) if isinstance(it, Instruction) else None
        return form is not None and form.when is None and "end" in form.words

    def bound(self, it: Instruction, form: Form) -> Mapping[str, str]:
        """The operands by their letters, registers by the one of their names that counts."""
        return {
            letter: "0" if text == self._set.zeros.get(letter) else self._register_of(text)
            for letter, text in form.bound(it.operands).items()
        }

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
        path, control = self.state.path, self.state.depends(CONTROL)
        numbers = [each.value for each in operands if isinstance(each, Constant)]
        if len(numbers) < len(operands):
            raise CannotReadError("meets at a barrier whose number is calculated")
        if not all(when is True for when in control.values()):
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
            event = Event(self._next, own, it, guard, None, None, label=label, quorum=quorum)
            self.events.append(replace(event, control=frozenset(control)))
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
            if elsewhere(found.offset) is True:
                raise CannotReadError(f"accesses memory beyond {found.location}")
            return [(found, negated(elsewhere(found.offset)))]
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
        own = _there(whence, self.state.path)
        self.state = replace(self.state, whence={**self.state.whence, name: own})

    def _branched_on(self, depends: Depends) -> None:
        """What comes behind depends on these reads, too."""
        assert self.state is not None
        self._depend(CONTROL, _either(self.state.depends(CONTROL), depends))

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
        whence: dict[str, Depends] = {}
        for name in dict.fromkeys((*one.whence, *other.whence)):
            ways = [(state, state.depends(name)) for state in (one, other)]
            sources = sorted({it for _, own in ways for it in own})
            each = {it: [self._where_depends(it, *way) for way in ways] for it in sources}
            whence[name] = _there({it: either(*when) for it, when in each.items()}, path)
        return State(path, values, whence, reserved)

    def _where_depends(self, read: int, state: State, depends: Depends) -> Condition:
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


def _there(depends: Depends, path: Condition) -> Depends:
    """What is said of reads, as far as it says something on a path."""
    return {
        it: implies(path, when) or when
        for it, when in depends.items()
        if both(path, when) is not False
    }


def _on(depends: Depends, way: Condition) -> frozenset[int]:
    """The reads on which something depends on a path."""
    return frozenset(it for it, when in depends.items() if implies(way, when))


def is_lost(value: Expression | Address) -> bool:
    """Whether an iteration of a loop before the last may have made a value."""
    return not isinstance(value, Address) and LOST.index in reads(value)


def _lacks_opposite(it: Formula, found: Expression | Address) -> bool:
    """Whether a sum is to be compared with the opposite of what was added, and that has none: the
    sum overflows where no comparison does."""
    return it.text.startswith("-") and found == _LEAST
