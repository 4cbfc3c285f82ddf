"""A rule that is for too many places and locations is a limit, and no endless wait."""

from __future__ import annotations

import pytest
from machine.own_machines import program, variant

from rspverify.limits import LimitReached
from rspverify.machine.machine import Machine


def nested(number: int) -> str:
    each = "".join(f"each workgroup w{it} in s {{ " for it in range(number))
    effect = "each location y: w0.L1.VALID[y] := false"
    return f"instruction INV_L1 s of DV\n  do {each} {effect} {'}' * number}\n"


def test_what_one_rule_is_for_is_bounded() -> None:
    its, code = variant(nested(6)), ("INV_L1 DV; LD x", *["LD x"] * 7)
    few = Machine(program(its, *code[:3], places=((0, 0), (0, 1), (0, 2))))
    assert len(few.code[0][0].updates) == 3**6
    many = Machine(program(its, *code, places=tuple((0, it) for it in range(8))))
    with pytest.raises(
        LimitReached, match=r"^INV_L1 is for more than 100,000 choices of places and locations$"
    ):
        _ = many.code
