"""The cells of the paper's machine by the names that its file gives them."""

from __future__ import annotations

from rspverify.machine.machine import Machine
from rspverify.machine.rules import Bit, Fifo, Lock, Place, Structure, Word


def cache(device: int, workgroup: int | None = None) -> Structure:
    """The L1 of a work-group, or the L2 of a device."""
    if workgroup is None:
        return Structure("L2", Place("device", (device,)))
    return Structure("L1", Place("workgroup", (device, workgroup)))


def value(of: Structure, x: str) -> Word:
    """What an entry holds."""
    return Word(of, "data", x)


def dirty(of: Structure, x: str) -> Bit:
    """Whether an entry is DIRTY."""
    return Bit(of, "DIRTY", x)


def valid(of: Structure, x: str) -> Bit:
    """Whether an entry is VALID."""
    return Bit(of, "VALID", x)


def present(of: Structure, x: str) -> Bit:
    """Whether there is an entry."""
    return Bit(of, "present", x)


def fifo(of: Structure) -> Fifo:
    """The fifo of a cache."""
    return Fifo(of, "fifo")


def memory(x: str) -> Word:
    """A location in global memory."""
    return Word(Structure("memory", Place("system", ())), "", x)


def location_lock(device: int, x: str) -> Lock:
    """An entry of a lockfile."""
    return Lock(Structure("lock", Place("device", (device,))), "", x)


def rmw_lock(device: int, workgroup: int) -> Lock:
    """The rmw lock of a work-group."""
    return Lock(Structure("rmw", Place("workgroup", (device, workgroup))), "")


def l2_is_memory(machine: Machine) -> bool:
    """Whether the machine has no L2, or leaves it out."""
    return not any(each.name == "L2" for each in machine.structures)
