"""The codes of several rows as one sequence, of which each row's code is a part in its order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from rspverify.scheme.row import Row, Template

Token = tuple[str, object]
"""An instruction without its operands: name and reach. The one that accesses memory is not one."""


def token(template: Template) -> Token:
    """What stands for an instruction of a row."""
    return template.mnemonic.name, template.reach


def parted(row: Row) -> tuple[tuple[Template, ...], list[list[Template]]]:
    """The accesses of a row's code, and what comes before the first, between them, and after the
    last."""
    beside: list[list[Template]] = [[]]
    for each in row.code:
        if each.accesses:
            beside.append([])
        else:
            beside[-1].append(each)
    return tuple(each for each in row.code if each.accesses), beside


def merged(codes: Sequence[Sequence[Token]]) -> list[Token]:
    """A short sequence that has each of these as a subsequence."""
    return reduce(_pair, sorted(map(list, codes), key=len, reverse=True), [])


def embedded(code: Sequence[Token], whole: Sequence[Token]) -> list[int]:
    """The places of a code in the sequence that it is merged into, the first that fit."""
    places, at = [], 0
    for each in code:
        at = whole.index(each, at)
        places.append(at)
        at += 1
    return places


def _pair(one: list[Token], other: list[Token]) -> list[Token]:
    """A shortest common supersequence of two."""
    best: dict[tuple[int, int], list[Token]] = {}
    for i in range(len(one), -1, -1):
        for j in range(len(other), -1, -1):
            if i == len(one) or j == len(other):
                best[i, j] = [*one[i:], *other[j:]]
            elif one[i] == other[j]:
                best[i, j] = [one[i], *best[i + 1, j + 1]]
            else:
                choices = [one[i], *best[i + 1, j]], [other[j], *best[i, j + 1]]
                best[i, j] = min(choices, key=len)
    return best[0, 0]
