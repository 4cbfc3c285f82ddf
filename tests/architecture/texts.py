"""Texts of machines: a small one to be gone on with, and what is made of a text."""

from rspverify.architecture.architecture import Architecture, Mnemonic, StepKind
from rspverify.architecture.reader import read_architecture
from rspverify.source import InputError, Problem, Source

NAME = "m.machine"
BASE = """\
machine m "a machine"
places thread < workgroup < device < system
spaces global, shared
reaches WG = workgroup, DV = device, SY = system
type cache { data[x] : value  DIRTY[x] : bit  VALID[x] : bit = true  fifo : fifo }
state {
  memory[x] : value of system
  lock[x]   : lock of device
  L2        : cache of device
  rmw       : lock of workgroup
  L1        : cache of workgroup
  queue[x]  : fifo of thread
  pool      : pool of thread
  copy[x]   : value of thread
}
define clean(C, y) when not C.DIRTY[y]
define store(C, y, v) do C.data[y] := v; C.DIRTY[y] := true
"""
LINES = BASE.count("\n")
"""How many lines stand before what is added to it."""


def read(added: str, base: str = BASE) -> Architecture:
    """The machine of a text that goes on with the small one."""
    return read_architecture(Source(NAME, base + added))


def instruction(body: str, head: str = "I r x") -> Mnemonic:
    """The one instruction of a body."""
    (found,) = read(f"instruction {head} {body}").instructions.values()
    return found


def step(text: str) -> StepKind:
    """The one step of a text."""
    (found,) = read(text).steps
    return found


def problems(added: str, base: str = BASE) -> list[Problem]:
    """What is wrong of a text, in order; none if it is right."""
    try:
        read(added, base)
    except InputError as error:
        return list(error.problems)
    return []


def told(added: str, base: str = BASE) -> list[str]:
    """What is said of a text, without excerpts: line:column, counted behind the base, and words."""
    found = []
    for each in problems(added, base):
        line = each.span.line - base.count("\n") if each.span else 0
        place = f"{line}:{each.span.column} " if each.span else ""
        found.append(place + each.message + (f" ({each.hint})" if each.hint else ""))
    return found
