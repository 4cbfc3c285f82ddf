"""Whether a machine can do without the iterations of spins that go on (docs/proofs.md, Loops).

Take an execution and leave such an iteration out. Everything else can still happen, and does the
same, if the iteration only took away what nobody wants away, held up its own thread, gave back each
lock that it took, and wrote back what it had read to the place where it had read it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from rspverify.assembly.program import SpinLoop
from rspverify.machine import rules
from rspverify.machine.lock_order import LockOrder
from rspverify.machine.machine import Machine
from rspverify.machine.relevance import plain_fifos
from rspverify.machine.rendezvous import is_arrival
from rspverify.machine.rules import InstructionRule, SetBit
from rspverify.records import replace


def iterations_matter(machine: Machine) -> str | None:
    """Why the iterations of spins that go on must be looked at on a machine; None if they need not.

    What is as good as memory is taken for memory, whether or not the machine at hand does so.
    """
    spins = machine.program.spins
    if not spins:
        return None
    machine = replace(machine, elide=True)
    return next((why for spin in spins for why in _Matters(machine).objections(spin)), None)


class _Matters:
    """What may come of an iteration that goes on."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._plain = plain_fifos(machine)
        self._order = LockOrder(machine)

    def objections(self, spin: SpinLoop) -> Iterator[str]:
        """Why the iterations of a spin cannot be left out."""
        iteration = self._machine.code[spin.thread][spin.first : spin.end]
        for rule in iteration:
            yield from self._of_rule(rule)
        locks = {lock for rule in iteration for lock in rule.holders}
        for lock in sorted(locks & self._order.freed_unsurely, key=str):
            yield f"the {lock} may be freed by a thread that does not hold it"
        for place in (spin.first, spin.end):
            for lock in sorted(locks & self._order.held(spin.thread, place), key=str):
                yield f"the {lock} may be held from one iteration to the next"

    def _of_rule(self, rule: InstructionRule) -> Iterator[str]:
        if rule.instruction.mnemonic.later:
            yield f"{rule} completes later"
        for update in rule.updates:
            match update:
                case rules.Deliver() | rules.SetLock():
                    pass
                case SetBit(bit, value):
                    if is_arrival(bit):
                        yield f"others wait for {rule}"
                    elif (bit, value) in self._machine.shapes.wanted:
                        yield f"{rule} makes {bit.word} {str(value).lower()}, which is waited for"
                case rules.Assign(target, _):
                    read = (it.source for it in rule.takes if isinstance(it, rules.Deliver))
                    if target not in read:
                        yield f"{rule} writes what it has not read there"
                case rules.Enqueue(fifo, element):
                    yield from self._of_fifo(rule, fifo, isinstance(element, rules.Marker))
                case rules.Copy() | rules.Dequeue() | rules.When():
                    yield f"{rule} does more than to read, to write and to order"
                case _:
                    assert_never(update)

    def _of_fifo(self, rule: InstructionRule, fifo: rules.Fifo, marks: bool) -> Iterator[str]:
        if not marks:
            yield f"{rule} puts more than a marker into the fifo of {fifo}"
        elif fifo not in self._plain:
            yield f"{rule} sets a marker in the fifo of {fifo}, which something looks into"
