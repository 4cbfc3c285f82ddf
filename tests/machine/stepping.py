"""Stepping the full machine by hand, and seeing exactly what a step changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from programs import assembly

from rspverify.assembly import AssemblyProgram
from rspverify.machine import ExplicitMachine, Machine, Rule
from rspverify.machine.rules import (
    Cache,
    IsDirty,
    IsPresent,
    IsValid,
    Marker,
    Memory,
    RmwLock,
    ValueOf,
)

Place = tuple[int, int]


class Bench:
    """The machine without reductions, with EVICT and real L2s, in some state.

    A step is named `P0` (the next instruction of thread 0), or by its kind and cache and element:
    `FETCH d0w1 x` (an L1), `FLUSH d0 x` (an L2), `DEQLOC d0w0 x`, `DEQMARKER d0w0 P1`.
    """

    def __init__(
        self,
        *threads: tuple[Place, list[str]],
        initial: Mapping[str, int] | None = None,
        machine: str = "rsp",
        elide_l2: bool = False,
        program: AssemblyProgram | None = None,
    ) -> None:
        """A machine for a program, which may be given as `programs.assembly` takes it.

        Unless they are elided, L2s are those of Tab. 2, on the machine whose L2s are coherent too.
        """
        program = program or assembly(*threads, initial=initial, machine=machine)
        if not elide_l2:
            program = replace(program, machine=replace(program.machine, coherent_l2=False))
        self.machine = Machine(program, elide_l2=elide_l2, evict=True)
        self.explicit = ExplicitMachine(self.machine, reduced=False)
        self.state = self.explicit.initial
        self.taken: list[Rule] = []

    def rule(self, step: str) -> Rule | None:
        """The rule that a step is an instance of; None if the thread has finished."""
        words = step.split()
        if len(words) == 1:
            number = int(step.removeprefix("P"))
            for rule in self.explicit.next_rules(self.state):
                if rule.thread == number:
                    return rule
            return None
        kind, where, element = words
        device, _, group = where.removeprefix("d").partition("w")
        cache = Cache(int(device), int(group) if group else None)
        found = [
            rule
            for rule in self.machine.steps
            if (rule.step, rule.cache) == (kind, cache)
            and str(rule.element) in (element, f"FLUSH({element})")
        ]
        assert len(found) == 1, f"{step} is {len(found)} rules"
        return found[0]

    def may(self, step: str) -> bool:
        """Whether a step may be taken."""
        rule = self.rule(step)
        return rule is not None and self.explicit.apply(self.state, rule) is not None

    def do(self, *steps: str) -> Bench:
        """Take steps, each of which must be possible."""
        for step in steps:
            assert self.may(step), f"{step} is blocked in {self.view()}"
            rule = self.rule(step)
            assert rule is not None
            after = self.explicit.apply(self.state, rule)
            assert after is not None
            self.state = after
            self.taken.append(rule)
        return self

    def load(self, cache: str, *locations: str) -> Bench:
        """Fetch locations from memory into an L1, through the L2 of its device."""
        for x in locations:
            self.do(f"FETCH {cache.partition('w')[0]} {x}", f"FETCH {cache} {x}")
        return self

    def changes(self, step: str) -> dict[str, object] | None:
        """Take a step: all that it changes, as it is afterwards; None if it is blocked."""
        if not self.may(step):
            return None
        before = self.view()
        self.do(step)
        return {name: value for name, value in self.view().items() if before.get(name) != value}

    def view(self) -> dict[str, object]:
        """The whole state but for where threads are: entries as `42 DV`, or `-` where absent."""
        at, state, machine = self.explicit.cell, self.state, self.machine
        seen: dict[str, object] = {}
        for cache in machine.caches:
            name = f"d{cache.device}" + (
                f"w{cache.workgroup}" if cache.workgroup is not None else ""
            )
            for x in machine.locations:
                hygiene = "D" if at(state, IsDirty(cache, x)) else "C"
                freshness = "V" if at(state, IsValid(cache, x)) else "I"
                entry = f"{at(state, ValueOf(cache, x))} {hygiene}{freshness}"
                if not at(state, IsPresent(cache, x)):
                    assert entry.endswith("CI")  # An absent entry is neither DIRTY nor VALID.
                    entry = "-"
                seen[f"{name} {x}"] = entry
            fifo = self.explicit.fifo(state, cache)
            seen[f"{name} fifo"] = " ".join(
                str(each.thread) if isinstance(each, Marker) else each for each in fifo
            )
        for x in machine.locations:
            seen[f"memory {x}"] = at(state, Memory(x))
        for lock in machine.locks:
            rmw = isinstance(lock, RmwLock)
            name = (
                f"rmw d{lock.device}w{lock.workgroup}"
                if rmw
                else f"lock d{lock.device} {lock.location}"
            )
            seen[name] = at(state, lock)
        reads = self.explicit.outcome(state).reads
        seen |= {f"r{number}": value for number, value in reads}
        return seen


FREE = -1
"""What `view` shows of a lock that nobody holds; the number of the holding thread otherwise."""
