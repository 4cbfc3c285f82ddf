"""Whether what an instruction reads is delivered once in each case, at once or by a later step.

A case is an answer to each question that the `if`s ask, about bits, switches and spaces. Of what
else they ask nothing is assumed: it may hold or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product

from rspverify.architecture import syntax
from rspverify.architecture.architecture import (
    CellAt,
    CellKind,
    Condition,
    Each,
    Effect,
    Either,
    Element,
    Enter,
    Holds,
    If,
    InSpace,
    IsSwitched,
    Leave,
    Mnemonic,
    Places,
    Read,
    cells_of,
    plain,
)
from rspverify.architecture.problems import Problems
from rspverify.records import replace

MAX_QUESTIONS = 12
"""How many bits, switches and spaces the `if`s of one instruction may ask for."""

_Question = Condition | str
"""That something holds, or which space the location of this variable is in."""

_Case = Mapping[_Question, bool | str]
_Cells = frozenset[CellKind]


def check_delivery(
    item: syntax.Instruction,
    found: Mnemonic,
    begun: Sequence[syntax.Step],
    spaces: tuple[str, ...],
    problems: Problems,
) -> None:
    """Note where an instruction that reads delivers nothing, or twice. begun: its later steps."""
    if not found.reads:
        return
    reading = _reading(found)
    parts = [(item.name, found.conditions, found.effects)]
    for step, its in zip(found.later, begun, strict=True):
        if reading & _left(step.effects):
            parts.append((its.name, step.conditions, step.effects))
    delivering = [
        (its.name, _left(step.effects))
        for step, its in zip(found.later, begun, strict=True)
        if any(isinstance(it, Read) for it in plain(step.effects))
    ]
    for (first, left), (name, its_own) in combinations(delivering, 2):
        if not left & its_own:
            message = f"{name} must take self out of what {first} takes it out of"
            problems.error(name.span, f"{message}, as both deliver r")
    for name, conditions, effects in parts:
        if wrong := _wrong(conditions, effects, reading, spaces):
            message = f"{name} must {wrong}"
            hint = "another `if` is for the other case, or a later step may deliver it"
            problems.error(name.span, message, hint)


def _reading(found: Mnemonic) -> _Cells:
    """The fifos and pools in which a read waits until a later step delivers it."""
    reading: _Cells = frozenset()
    while True:
        more = [_left(it.effects) for it in found.later if _speaks(it.effects, reading)]
        if frozenset().union(*more) <= reading:
            return reading
        reading = reading.union(*more)


def _left(effects: tuple[Effect, ...]) -> _Cells:
    return frozenset(it.where.kind for it in plain(effects) if isinstance(it, Leave))


def _speaks(effects: tuple[Effect, ...], reading: _Cells) -> bool:
    """Whether effects deliver in some case, or leave it to a later step."""
    return any(isinstance(it, Read) or _begins(it, reading) for it in plain(effects))


def _begins(effect: Effect, reading: _Cells) -> bool:
    if not isinstance(effect, Enter) or effect.element is not Element.SELF:
        return False
    return effect.where.kind in reading


def _wrong(
    conditions: Sequence[Condition],
    effects: tuple[Effect, ...],
    reading: _Cells,
    spaces: tuple[str, ...],
) -> str | None:
    """What must be otherwise for r to be delivered once in each case."""
    questions = list(dict.fromkeys(_asked(effects, reading)))
    if len(questions) > MAX_QUESTIONS:
        return f"ask {MAX_QUESTIONS} questions at most before it delivers r, not {len(questions)}"
    answers: list[tuple[bool | str, ...]] = [
        spaces if isinstance(it, str) else (True, False) for it in questions
    ]
    for answer in product(*answers):
        case: _Case = dict(zip(questions, answer, strict=True))
        if not all(_holds(it, case) for it in conditions if {*_questions(it)} <= case.keys()):
            continue
        reads, begins = _delivered(effects, case, reading)
        if reads + begins != 1:
            matters = [
                it
                for it, answers_to in zip(questions, answers, strict=True)
                if any(
                    _delivered(effects, {**case, it: other}, reading) != (reads, begins)
                    for other in answers_to
                )
            ]
            where = " and ".join(_words(it, case[it]) for it in matters)
            how = "delivers it twice" if reads else "does not deliver it"
            return f"deliver r once in each case, and {how}{where and f' where {where}'}"
    return None


def _asked(effects: Iterable[Effect], reading: _Cells) -> Iterator[_Question]:
    """What the `if`s around deliveries ask."""
    for it in effects:
        if isinstance(it, If | Each) and _speaks(it.effects, reading):
            for condition in it.conditions if isinstance(it, If) else ():
                yield from _questions(condition)
            yield from _asked(it.effects, reading)


def _questions(condition: Condition) -> Iterator[_Question]:
    match condition:
        case Holds():
            yield replace(condition, value=True)
        case Either(bits):
            for bit in bits:
                yield from _questions(bit)
        case InSpace(location):
            yield location
        case IsSwitched():
            yield replace(condition, on=True)
        case _:
            yield condition


def _holds(condition: Condition, case: _Case) -> bool:
    match condition:
        case Holds(_, value):
            return case[replace(condition, value=True)] is value
        case Either(bits):
            return any(_holds(bit, case) for bit in bits)
        case InSpace(location, space, value):
            return (case[location] == space) is value
        case IsSwitched(_, on):
            return case[replace(condition, on=True)] is on
        case _:
            return case[condition] is True


def _delivered(effects: Iterable[Effect], case: _Case, reading: _Cells) -> tuple[bool, bool]:
    """Whether effects deliver at once, and whether they leave it to a later step."""
    reads, begins = False, False
    for it in effects:
        if isinstance(it, Read):
            reads = True
        elif isinstance(it, If | Each):
            if _speaks(it.effects, reading) and _done(it, case):
                at_once, later = _delivered(it.effects, case, reading)
                reads, begins = reads or at_once, begins or later
        else:
            begins = begins or _begins(it, reading)
    return reads, begins


def _done(effect: If | Each, case: _Case) -> bool:
    """Whether its effects are done; those for each place or location, if there always is one."""
    if isinstance(effect, If):
        return all(_holds(it, case) for it in effect.conditions)
    binder = effect.binder
    if isinstance(binder, Places):
        return not binder.other and binder.outside is None
    return binder.space is None


def _words(question: _Question, answer: bool | str) -> str:
    """The answer to a question, as a condition of the file."""
    if isinstance(question, str):
        return f"{question} is {answer}"
    if isinstance(question, IsSwitched):
        words = question.switch
    else:
        words = ", ".join(map(_cell, cells_of([question])))
        if not isinstance(question, Holds):
            words = f"what is asked of {words}"
    return words if answer else f"not {words}"


def _cell(it: CellAt) -> str:
    place = "" if it.place is None else f"{it.place}."
    field = f".{it.kind.field}" if it.kind.field else ""
    return f"{place}{it.kind.structure}{field}{f'[{it.location}]' if it.location else ''}"
