"""The machines that ship, each a value: what schemes are written for, and users choose by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rspverify.assembly.instruction import RSP, RSP_INV_L2, RSP_ST_WAITS, InstructionSet


@dataclass(frozen=True)
class Architecture:
    """A machine that code can be for.

    name: how schemes and command lines name it. summary: what it is, in a line.
    coherent_l2: its L2s are one memory for all devices (docs/machine.md).
    """

    name: str
    summary: str
    instructions: InstructionSet = field(hash=False)
    coherent_l2: bool = False


MACHINES: Mapping[str, Architecture] = {
    machine.name: machine
    for machine in (
        Architecture("rsp", "the paper's, Tab. 1 and Tab. 2", RSP),
        Architecture("rsp-st-waits", "ST waits while its entry is DIRTY and INV'D", RSP_ST_WAITS),
        Architecture("rsp-inv-l2", "INV_L2 does to L2s what INV_L1 does to L1s", RSP_INV_L2),
        Architecture("rsp-coherent-l2", "L2s are one memory for all devices", RSP, True),
    )
}
"""By name."""
