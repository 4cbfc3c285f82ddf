"""Whether instructions that order others can only hold them up."""

from __future__ import annotations

from itertools import chain

from rspverify.architecture import Architecture
from rspverify.machine.machine import everywhere
from rspverify.machine.relevance import plain_fifos


def freeing(architecture: Architecture) -> str | None:
    """Why an instruction more, or one that reaches further, may allow more; None if none does.

    What takes bits away or sets markers only holds others up where nobody wants such a bit false,
    or a step may make it false at any time, and nobody sees of a fifo more than that a marker left
    (docs/engineering.md).
    """
    machine = everywhere(architecture)
    evicted = {it.takes_away for it in machine.steps}
    seen = set(machine.fifos) - plain_fifos(machine)
    for rule in chain.from_iterable(machine.code):
        if rule.instruction.mnemonic.reads or rule.instruction.mnemonic.writes:
            continue
        for bit in rule.sets(False):
            if (bit, False) in machine.shapes.wanted and bit not in evicted:
                return f"{rule} makes {bit.word} false, which something waits for"
        for fifo in rule.marks:
            if fifo in seen:
                return f"{rule} sets a marker in the fifo of {fifo}, which something looks into"
    return None
