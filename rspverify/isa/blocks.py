"""The code of a function in an order in which only loops go back.

Compilers put code that is seldom executed behind the rest, from where it comes back to labels that
were passed. An executor goes through code once, so that such code must stand before these labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from rspverify.isa.lines import Instruction, Jump, Label, Line

Goes = Callable[[Instruction], tuple[str, bool] | None]
"""Where a branch goes, and whether always; None of what is no branch."""


class _Block(Struct):
    """Lines that are executed one after the other. after: the blocks that it may go on with, the
    one behind it last; falls: whether it goes on with that."""

    lines: list[Line]
    targets: list[str]
    falls: bool = True


def in_order(lines: Sequence[Line], goes: Goes, ends: Callable[[Instruction], bool]) -> list[Line]:
    """The lines of a function, so that code stands before what comes after it, loops aside.

    ends: whether an instruction is the last that is executed. Where code is moved, jumps say where
    it goes on. A branch to a label that is not there stays as it is.
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
        found += [Label(_name(number), block.lines[0].span), *block.lines]
        behind = number + 1 if number + 1 < len(blocks) else None
        if block.falls and following[number] != behind:
            # Where nothing is behind, to no label: the function must end, and does not.
            found.append(Jump(_name(number + 1), block.lines[-1].span))
    return found


def _name(number: int) -> str:
    return f".Lblock{number}"


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
