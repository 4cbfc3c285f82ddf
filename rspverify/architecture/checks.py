"""Checks of a machine in which every name is resolved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from msgspec import Struct

from rspverify.architecture import architecture as files
from rspverify.architecture import syntax
from rspverify.architecture.architecture import Architecture, CellKind, Condition, Mnemonic, within
from rspverify.architecture.declarations import Declarations
from rspverify.architecture.problems import Problems
from rspverify.architecture.scope import REGISTER
from rspverify.records import replace

_Cells = frozenset[CellKind]


class Part(Struct, frozen=True):
    """The immediate part of an instruction, or one of its later steps."""

    name: syntax.Word
    conditions: tuple[Condition, ...]
    effects: tuple[files.Effect, ...]

    def error(self, problems: Problems, message: str, hint: str | None = None) -> None:
        """Note a mistake in it."""
        problems.error(self.name.span, message, hint)

    @property
    def reads(self) -> bool:
        """Whether it delivers r, in some case."""
        return any(within(self.effects, files.Read))

    @property
    def left(self) -> _Cells:
        """The fifos and pools out of which it takes elements."""
        return frozenset(it.where.kind for it in within(self.effects, files.Leave))


def check_instruction(
    item: syntax.Instruction,
    found: Mnemonic,
    used: set[str],
    begun: Sequence[syntax.Step],
    spaces: tuple[str, ...],
    problems: Problems,
) -> None:
    """Note the mistakes in an instruction in which every name is resolved.

    used: the operands that its body speaks of. begun: its later steps, those of definitions too.
    """
    at_once = Part(item.name, found.conditions, found.effects)
    later = [
        Part(its.name, step.conditions, step.effects)
        for its, step in zip(begun, found.later, strict=True)
    ]
    _check_operands(item, found, used, problems)
    _check_later(item.name, later, problems)
    _check_turns(at_once, later, found, problems)
    if found.reads:
        _check_delivery(at_once, later, spaces, problems)


def _check_operands(
    item: syntax.Instruction, found: Mnemonic, used: set[str], problems: Problems
) -> None:
    """It does something, and with its operands."""
    if not (item.effects or item.conditions or item.later):
        message = f"{item.name} must wait for something or do something"
        problems.error(item.name.span, message, "`do nothing` says that it does not")
        return
    idle = any(each.kind == "nothing" for each in item.effects)
    for word in item.operands:
        if word.text == REGISTER and REGISTER not in used:
            message = f"{item.name} must deliver r or write it, as r is its operand"
            problems.error(word.span, message)
        elif word.text not in used and not idle:
            problems.error(word.span, f"{item.name} must speak of {word}, as {word} is its operand")
    written = (each.what for each in within(found.plain_effects, files.Write))
    made = [each for each in written if each is not files.Written.VALUE]
    if made and not found.reads:
        message = f"{item.name} must read r, as it writes {made[0].value}"
        problems.error(item.name.span, message, f"such as `{REGISTER} := memory[{files.OPERAND}]`")
    check_waits(item.name, found.conditions, problems)


def check_waits(item: syntax.Word, conditions: Sequence[Condition], problems: Problems) -> None:
    """An instruction cannot wait for itself in a fifo: it was not executed yet."""
    if any(within(tuple(conditions), files.IsOldest)):
        message = f"{item} must not wait for what is oldest: nothing of it is in a fifo yet"
        problems.error(item.span, message, "a `later` step may wait for that")


def _check_later(item: syntax.Word, later: Sequence[Part], problems: Problems) -> None:
    """An instruction has one later step of a name. What delivers, or takes something out of a fifo
    or pool, waits for the instruction: it could happen before that otherwise, or again and again.
    """
    for step in later:
        if (step.reads or step.left) and not any(
            map(_waits_for_self, files.asked(step.conditions))
        ):
            message = f"{step.name} must wait for self, in a pool or as the oldest of a fifo"
            hint = "such as `when self in pool`, or `when oldest queue[x] is self`"
            step.error(problems, message, hint)
    problems.once((step.name for step in later), f"must be one later step of {item}, not two")


def _waits_for_self(condition: Condition) -> bool:
    oldest = isinstance(condition, files.IsOldest) and condition.element is files.Element.SELF
    return oldest or isinstance(condition, files.IsIn)


def _entered(effects: tuple[files.Effect, ...]) -> _Cells:
    """The fifos and pools that the instruction itself enters."""
    entered = within(effects, files.Enter)
    return frozenset(it.where.kind for it in entered if it.element is files.Element.SELF)


def _check_turns(at_once: Part, later: Sequence[Part], found: Mnemonic, problems: Problems) -> None:
    """An instruction leaves, and is the oldest in, what it enters somewhere."""
    somewhere = _entered(found.plain_effects)
    for part in (at_once, *later):
        for kind, does in _as_if_in(part):
            if kind not in somewhere:
                enter = "enqueue self in" if kind.sort is files.Sort.FIFO else "add self to"
                message = f"{at_once.name} must enter {kind} before {part.name} {does}"
                part.error(problems, message, f"`{enter} {kind}`, at once or later")


def _as_if_in(part: Part) -> Iterator[tuple[CellKind, str]]:
    """The pools that self is removed from, and the fifos whose oldest element it is to be."""
    for effect in within(part.effects, files.Leave):
        if effect.where.kind.sort is files.Sort.POOL:
            yield effect.where.kind, "removes self from it"
    for each in within((part.conditions, part.effects), files.IsOldest):
        if each.element is files.Element.SELF:
            yield each.fifo.kind, "asks whether self is the oldest there"


def check_fifos(found: Architecture, declared: Declarations, problems: Problems) -> None:
    """What enters a fifo or a pool leaves it some time, as the machine would grow otherwise."""
    every = found.instructions, found.steps
    filled = {it.where.kind for it in within(every, files.Enter)}
    left = {it.where.kind for it in within(every, files.Leave)}
    for kind in (each for each in found.cells if each in filled - left):
        place = declared[syntax.Cell, kind.structure].span
        verb = "dequeue" if kind.sort is files.Sort.FIFO else "remove self from"
        left_out = "must leave it some time, and nothing does: it only grows"
        message = f"what enters {kind.name} {left_out}"
        problems.error(place, message, f"`{verb} {kind.name}` is the effect of some step")


MAX_QUESTIONS = 12
"""How many bits, switches and spaces the `if`s of one instruction may ask for."""

_Question = Condition | str
"""That something holds, or which space the location of this variable is in."""

_Answer = bool | str

_Case = Mapping[_Question, _Answer]


def _check_delivery(
    at_once: Part, later: Sequence[Part], spaces: tuple[str, ...], problems: Problems
) -> None:
    """Note where an instruction that reads delivers nothing, or twice."""
    reading = _reading(later)
    for first, other in combinations([it for it in later if it.reads], 2):
        if not first.left & other.left:
            message = f"{other.name} must take self out of what {first.name} takes it out of"
            other.error(problems, f"{message}, as both deliver r")
    for part in (at_once, *(it for it in later if reading & it.left)):
        if wrong := _wrong(part, reading, spaces):
            hint = "another `if` is for the other case, or a later step may deliver it"
            part.error(problems, f"{part.name} must {wrong}", hint)


def _reading(later: Sequence[Part]) -> _Cells:
    """The fifos and pools in which a read waits until a later step delivers it."""
    reading: _Cells = frozenset()
    while True:
        more = [it.left for it in later if _speaks(it.effects, reading)]
        if frozenset().union(*more) <= reading:
            return reading
        reading = reading.union(*more)


def _speaks(effects: tuple[files.Effect, ...], reading: _Cells) -> bool:
    """Whether effects deliver in some case, or leave it to a later step."""
    return any(within(effects, files.Read)) or bool(reading & _entered(effects))


def _wrong(part: Part, reading: _Cells, spaces: tuple[str, ...]) -> str | None:
    """The mistake if r is not delivered once in each case."""
    effects = part.effects
    questions: dict[_Question, tuple[_Answer, ...]] = {
        it: spaces if isinstance(it, str) else (True, False) for it in _asked(effects, reading)
    }
    if len(questions) > MAX_QUESTIONS:
        return f"ask {MAX_QUESTIONS} questions at most before it delivers r, not {len(questions)}"
    for answer in product(*questions.values()):
        case: _Case = dict(zip(questions, answer, strict=True))
        known = [
            it for it in part.conditions if {question for question, _ in _tests(it)} <= {*case}
        ]
        delivered = _delivered(effects, case, reading)
        if not all(_holds(it, case) for it in known) or sum(delivered) == 1:
            continue
        matters = [
            it
            for it, answers in questions.items()
            if any(
                _delivered(effects, {**case, it: other}, reading) != delivered for other in answers
            )
        ]
        where = " and ".join(_words(it, case[it]) for it in matters)
        how = "delivers it twice" if any(delivered) else "does not deliver it"
        return f"deliver r once in each case, and {how}{where and f' where {where}'}"
    return None


def _asked(effects: Iterable[files.Effect], reading: _Cells) -> Iterator[_Question]:
    """The questions of the `if`s around deliveries."""
    for it in effects:
        if isinstance(it, files.If | files.Each) and _speaks(it.effects, reading):
            for condition in it.conditions if isinstance(it, files.If) else ():
                yield from (question for question, _ in _tests(condition))
            yield from _asked(it.effects, reading)


def _tests(condition: Condition) -> list[tuple[_Question, Callable[[_Answer], bool]]]:
    """The questions that a condition asks, and whether an answer to one makes it hold."""
    match condition:
        case files.Holds(_, value):
            return [(replace(condition, value=True), lambda it: it is value)]
        case files.Either(bits):
            return [test for bit in bits for test in _tests(bit)]
        case files.InSpace(location, space, value):
            return [(location, lambda it: (it == space) is value)]
        case files.Occupied(where):
            return [(files.Lacks(where), lambda it: it is False)]
        case files.OfWidestScope(_, value):
            return [(replace(condition, value=True), lambda it: it is value)]
        case files.IsSwitched(_, on):
            return [(replace(condition, on=True), lambda it: it is on)]
        case _:
            return [(condition, lambda it: it is True)]


def _holds(condition: Condition, case: _Case) -> bool:
    return any(does(case[question]) for question, does in _tests(condition))


def _delivered(effects: Iterable[files.Effect], case: _Case, reading: _Cells) -> tuple[bool, bool]:
    """Whether effects deliver at once, and whether they leave it to a later step."""
    reads, begins = False, False
    for it in effects:
        if isinstance(it, files.Read):
            reads = True
        elif isinstance(it, files.If | files.Each):
            if _speaks(it.effects, reading) and _done(it, case):
                at_once, later = _delivered(it.effects, case, reading)
                reads, begins = reads or at_once, begins or later
        else:
            begins = begins or bool(reading & _entered((it,)))
    return reads, begins


def _done(effect: files.If | files.Each, case: _Case) -> bool:
    """Whether its effects are done; those for each place or location, if there always is one."""
    if isinstance(effect, files.If):
        return all(_holds(it, case) for it in effect.conditions)
    binder = effect.binder
    if isinstance(binder, files.Places):
        return not binder.other and binder.outside is None
    return binder.space is None


def _words(question: _Question, answer: bool | str) -> str:
    """The answer to a question, as a condition of the file."""
    if isinstance(question, str):
        return f"{question} is {answer}"
    if isinstance(question, files.IsSwitched):
        words = question.switch
    elif isinstance(question, files.OfWidestScope):
        words = f"an operation of the widest scope accesses {question.location}"
    else:
        words = ", ".join(map(_cell, files.cells_of([question])))
        if not isinstance(question, files.Holds):
            words = f"what is asked of {words}"
    return words if answer else f"not {words}"


def _cell(it: files.CellAt) -> str:
    place = "" if it.place is None else f"{it.place}."
    return f"{place}{it.kind.name}{f'[{it.location}]' if it.location else ''}"
