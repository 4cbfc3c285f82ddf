"""The code of a function in an order in which only loops go back.

Compilers put code that is seldom executed behind the rest, from where it comes back to labels that
were passed. An executor goes through code once, so that such code must stand before these labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from rspverify.isa.lines import Instruction, Jump, Label, Line
from rspverify.records import replace

Goes = Callable[[Instruction], tuple[str, bool] | None]
"""Where a branch goes, and whether always; None of what is no branch."""


class _Block(Struct):
    """Lines that are executed one after the other. after: the blocks that it may go on with, the
    one behind it last; falls: whether it goes on with that."""

    lines: list[Line]
    targets: list[str]
    falls: bool = True


def in_order(
    lines: Sequence[Line],
    goes: Goes,
    ends: Callable[[Instruction], bool],
    named: str = ".Lblock",
) -> list[Line]:
    """The lines of a function, so that code stands before what comes after it, loops aside.

    ends: whether an instruction is the last that is executed. Where code is moved, jumps say where
    it goes on, to labels that are called `named` and a number. A branch to a label that is not
    there stays as it is.
    """
    blocks = _blocks(lines, goes, ends)
    at = {
        it.name: number
        for number, block in enumerate(blocks)
        for it in block.lines
        if isinstance(it, Label)
    }
    order = _reverse_postorder(blocks, at)
    if order == sorted(order):
        return list(lines)
    found: list[Line] = []
    following = dict(zip(order, [*order[1:], None], strict=True))
    for number in order:
        block = blocks[number]
        found += [Label(f"{named}{number}", block.lines[0].span), *block.lines]
        behind = number + 1 if number + 1 < len(blocks) else None
        if block.falls and following[number] != behind:
            # Where nothing is behind, to no label: the function must end, and does not.
            found.append(Jump(f"{named}{number + 1}", block.lines[-1].span))
    return found


def unrolled(lines: Sequence[Line], loop: str, goes: Goes, times: int, beyond: str) -> list[Line]:
    """Lines in order, in which a loop stands so many times, one after the other. loop: the label
    that it goes back to; beyond: the label to which the last one goes.

    A branch that goes back goes to the next of them, and what leaves one goes where it went.
    """
    labels = {it.name: at for at, it in enumerate(lines) if isinstance(it, Label)}

    def target(it: Line) -> str | None:
        if isinstance(it, Jump):
            return it.target
        branch = goes(it) if isinstance(it, Instruction) else None
        return None if branch is None else branch[0]

    last = max((at for at, it in enumerate(lines) if target(it) == loop), default=-1)
    if (first := labels.get(loop, len(lines))) > last:
        return list(lines)
    body = lines[first : last + 1]
    own = [it.name for it in body if isinstance(it, Label) and it.name != loop]
    left = f"{loop}.left"
    found: list[Line] = [*lines[:first]]
    behind: list[Line] = []
    for number in range(1, times + 1):
        onwards = beyond if number == times else f"{loop}.{number + 1}"
        names = {loop: onwards}
        if number == 1:
            found += [lines[first], *(_renamed(it, names) for it in body[1:])]
            continue
        names |= {it: f"{it}.{number}" for it in own}
        span = body[0].span
        behind += [Label(f"{loop}.{number}", span), *(_renamed(it, names) for it in body[1:])]
        behind.append(Jump(left, span))
    return [*found, Label(left, body[-1].span), *lines[last + 1 :], *behind]


def _renamed(it: Line, names: Mapping[str, str]) -> Line:
    """A line with other labels."""
    match it:
        case Label(name, _):
            return replace(it, name=names.get(name, name))
        case Jump(name, _):
            return replace(it, target=names.get(name, name))
        case Instruction():
            return replace(it, operands=tuple(names.get(each, each) for each in it.operands))
        case _:
            return it


def _blocks(lines: Sequence[Line], goes: Goes, ends: Callable[[Instruction], bool]) -> list[_Block]:
    blocks = [_Block([], [])]
    for it in lines:
        begins = isinstance(it, Label) and any(
            isinstance(each, Instruction) for each in blocks[-1].lines
        )
        if begins or blocks[-1].targets or not blocks[-1].falls:
            blocks.append(_Block([], []))
        block = blocks[-1]
        block.lines.append(it)
        if isinstance(it, Jump):
            block.targets.append(it.target)
            block.falls = False
        if not isinstance(it, Instruction):
            continue
        if (branch := goes(it)) is not None:
            block.targets.append(branch[0])
            block.falls = not branch[1]
        elif ends(it):
            block.falls = False
    return [each for each in blocks if each.lines]


def _reverse_postorder(blocks: Sequence[_Block], at: dict[str, int]) -> list[int]:
    """The blocks that are come to, each before those that it goes on with, but by going back."""
    done: list[int] = []
    begun = set[int]()

    def following(number: int) -> list[int]:
        block = blocks[number]
        found = [at[it] for it in block.targets if it in at]
        return [*found, number + 1] if block.falls and number + 1 < len(blocks) else found

    waiting = [(0, following(0))] if blocks else []
    begun |= {0}
    while waiting:
        number, left = waiting[-1]
        if not left:
            done.append(number)
            waiting.pop()
        elif (other := left.pop(0)) not in begun:
            begun.add(other)
            waiting.append((other, following(other)))
    return done[::-1]
