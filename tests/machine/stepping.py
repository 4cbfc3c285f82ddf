"""Stepping the full machine by hand, and seeing exactly what a step changes."""

from __future__ import annotations

from collections.abc import Mapping

from machine import cells
from programs import assembly

from rspverify.assembly.program import AssemblyProgram
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.rules import Marker, Rule

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
        elide: bool = False,
        program: AssemblyProgram | None = None,
    ) -> None:
        """A machine for a program, which may be given as `programs.assembly` takes it."""
        program = program or assembly(*threads, initial=initial, machine=machine)
        self.machine = Machine(program, elide=elide, evict=True)
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
        cache = cells.cache(int(device), int(group) if group else None)
        found = [
            rule
            for rule in self.machine.steps
            if (rule.step, rule.structure) == (f"{kind}_{cache.name}", cache)
            and str(rule.about[0]) == element
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
        for cache in (it for it in machine.structures if it.name in ("L1", "L2")):
            name = str(cache.place).replace(" ", "")
            for x in machine.locations:
                hygiene = "D" if at(state, cells.dirty(cache, x)) else "C"
                freshness = "V" if at(state, cells.valid(cache, x)) else "I"
                entry = f"{at(state, cells.value(cache, x))} {hygiene}{freshness}"
                if not at(state, cells.present(cache, x)):
                    assert entry.endswith("CI")  # An absent entry is neither DIRTY nor VALID.
                    entry = "-"
                seen[f"{name} {x}"] = entry
            fifo = self.explicit.fifo(state, cells.fifo(cache))
            seen[f"{name} fifo"] = " ".join(
                str(each.thread) if isinstance(each, Marker) else str(each) for each in fifo
            )
        for x in machine.locations:
            seen[f"memory {x}"] = at(state, cells.memory(x))
            for device in {it.device for it in machine.program.threads}:
                seen[f"lock d{device} {x}"] = at(state, cells.location_lock(device, x))
        for device, group in {(it.device, it.workgroup) for it in machine.program.threads}:
            seen[f"rmw d{device}w{group}"] = at(state, cells.rmw_lock(device, group))
        reads = self.explicit.outcome(state).reads
        seen |= {f"r{number}": value for number, value in reads}
        return seen


FREE = -1
"""What `view` shows of a lock that nobody holds; the number of the holding thread otherwise."""
