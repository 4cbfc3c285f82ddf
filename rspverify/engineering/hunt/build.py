"""Shapes as programs, as a line of notation, and as litmus tests."""

from __future__ import annotations

from rspverify.engineering.hunt.shape import Shape, Step
from rspverify.engineering.hunt.space import Access, Space
from rspverify.generate import Access as Statement
from rspverify.generate import Grouping, litmus_text
from rspverify.litmus.program import Kind, Location, Operation, Program, Thread
from rspverify.source import Source, Span
from rspverify.value import Binary, Constant, Expression, Read, binary, conjunction

_LETTERS = "xyzabcdefghijklmnopqrstuvw"
_TRUE = Constant(1)


class Named:
    """A shape with names and values: that of a store is so far from all others that no increments
    make two values meet."""

    def __init__(self, shape: Shape, space: Space) -> None:
        self.shape = shape
        self.space = space
        self.accesses = space.accesses
        self.offsets: list[int] = []
        self._values: dict[tuple[int, int], int] = {(-1, -1): 0}
        count = 0
        for number, thread in enumerate(shape.threads):
            self.offsets.append(count)
            count += len(thread.steps)
            for place, step in enumerate(thread.steps):
                if self.access(step).kind is Kind.STORE:
                    value = len(self._values) * space.widest_value_step
                    self._values[number, place] = value

    def access(self, step: Step) -> Access:
        """The operation of a step."""
        return self.accesses[step.operation]

    def stored(self, thread: int, place: int) -> int:
        """The value of a store."""
        return self._values[thread, place]

    def tested(self, step: Step) -> int:
        """The value that the `if` before a step asks for."""
        return self._values[step.of, step.at] + step.plus

    def statements(self) -> tuple[tuple[Statement, ...], ...]:
        """The threads, as `generate` writes them."""
        return tuple(self._thread(number) for number in range(len(self.shape.threads)))

    def _thread(self, number: int) -> tuple[Statement, ...]:
        steps = self.shape.threads[number].steps
        registers: dict[int, str] = {}
        found = []
        for place, step in enumerate(steps):
            access = self.access(step)
            tested = None if step.tests < 0 else (registers[step.tests], self.tested(step))
            if access.reads:
                registers[place] = f"r{len(registers)}"
            short, _, reach = access.name.partition(".")
            value = self._values.get((number, place))
            location = _LETTERS[step.location]
            found.append(Statement(short, reach, location, value, registers.get(place), tested))
        return tuple(found)

    @property
    def grouping(self) -> Grouping:
        """Which threads share a work-group, and which work-groups a device."""
        groups: dict[tuple[int, int], list[int]] = {}
        for number, thread in enumerate(self.shape.threads):
            groups.setdefault((thread.device, thread.group), []).append(number)
        devices: dict[int, list[int]] = {}
        for index, (device, _) in enumerate(groups):
            devices.setdefault(device, []).append(index)
        return Grouping(
            tuple(map(tuple, groups.values())),
            tuple(map(tuple, devices.values())) if len(devices) > 1 else None,
        )


def line_of(shape: Shape, space: Space) -> str:
    """A shape in the notation of `generate --help`, with its grouping as titles say it.

    A location that is declared atomic, and that nothing but plain accesses of it tells of, is named
    at the end.
    """
    named = Named(shape, space)
    threads = " || ".join(
        "; ".join(_in_notation(each) for each in thread) for thread in named.statements()
    )
    plain = {
        step.location
        for thread in shape.threads
        for step in thread.steps
        if named.access(step).plain
    }
    told = [_LETTERS[each] for each in sorted(plain) if shape.atomic[each]]
    suffix = named.grouping.suffix
    return " ".join([threads, *([suffix] if suffix else []), *(f"(atomic {x})" for x in told)])


def _in_notation(each: Statement) -> str:
    test = f"if {each.tested[0]}=={each.tested[1]}: " if each.tested else ""
    register = f"{each.register}=" if each.register else ""
    value = "" if each.value is None else f" {each.value}"
    return f"{test}{register}{each.name} {each.location}{value}"


def size_of(shape: Shape, space: Space) -> tuple[int, int, int, str]:
    """What makes a program smaller: operations, threads, then its line, the shorter first."""
    line = line_of(shape, space)
    return (shape.size, len(shape.threads), len(line), line)


def title_of(shape: Shape, space: Space) -> str:
    """The title of a test, as those of our corpus: operations by thread, and the grouping."""
    named = Named(shape, space)
    bodies = ("-".join(each.name for each in thread) for thread in named.statements())
    return "hunt+" + "+".join(bodies) + named.grouping.suffix


def text_of(shape: Shape, space: Space, title: str = "", comment: str = "") -> str:
    """A shape as a litmus test."""
    named = Named(shape, space)
    atomic = [_LETTERS[place] for place, each in enumerate(shape.atomic) if each]
    title = title or title_of(shape, space)
    return litmus_text(title, named.statements(), named.grouping, comment=comment, atomic=atomic)


def program_of(shape: Shape, space: Space, source: Source | None = None) -> Program:
    """The program of a shape: the one that its text reads as, but for where operations stand.

    source: what it is said to be read from; an empty text otherwise, as the text takes longer to
    make and to read than the program to decide.
    """
    source = source or Source(title_of(shape, space), "")
    named = Named(shape, space)
    span = Span(source, 1, 1, 1, 1)
    threads = []
    for number, thread in enumerate(shape.threads):
        operations = []
        guard: Expression = _TRUE
        start = named.offsets[number]
        for place, step in enumerate(thread.steps):
            if step.tests >= 0:
                read = Read(start + step.tests)
                guard = conjunction(guard, Binary("==", read, Constant(named.tested(step))))
            operations.append(_operation(named, number, place, guard, span))
        threads.append(
            Thread(f"P{number}", number, thread.device, thread.group, tuple(operations), {})
        )
    locations = tuple(
        Location(_LETTERS[place], atomic, "global", 0) for place, atomic in enumerate(shape.atomic)
    )
    return Program(source.name, source, locations, tuple(threads))


def _operation(named: Named, number: int, place: int, guard: Expression, span: Span) -> Operation:
    step = named.shape.threads[number].steps[place]
    access = named.access(step)
    index = named.offsets[number] + place
    value: Expression | None = None
    operand: Expression | None = None
    if access.kind is Kind.STORE:
        value = Constant(named.stored(number, place))
    elif access.kind is Kind.RMW:
        operand = Constant(1)
        value = binary("+", Read(index), operand)
    return Operation(
        index,
        number,
        access.kind,
        _LETTERS[step.location],
        access.order,
        access.scope,
        access.remote,
        guard,
        value,
        span,
        operator=None if operand is None else "+",
        operand=operand,
    )
