"""Random complete executions of the real machine, recorded as the facts of a proof speak of them,
and an interpreter that says whether a formula holds of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from random import Random
from typing import Any

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.litmus.program import Program
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule, StepRule
from rspverify.programs.litmus_test import LitmusTest, Thread, litmus_test
from rspverify.programs.meaning import program_of
from rspverify.proof.lemmas import Formula, theory
from rspverify.proof.programs import access
from rspverify.proof.table import Operation
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme

_GAP = 4
"""From step to step; operations begin and end between steps."""
_STEPS = 300
_SORTS = ("Event", "Group", "Location", "Invalidation", "Flush")


# ---- edited machines -----------------------------------------------------------------------------

RSP = machine_named("rsp")
PARTS = {**RSP.instructions, **{step.name: step for step in RSP.steps}}
EDITS = [(name, place) for name, it in PARTS.items() for place in range(len(it.conditions))]


def without(name: str, place: int) -> Architecture:
    """The machine rsp whose instruction or step waits for one thing less."""

    def edited(it: object) -> object:
        if getattr(it, "name", None) != name:
            return it
        conditions = PARTS[name].conditions
        return replace(it, conditions=(*conditions[:place], *conditions[place + 1 :]))

    return replace(
        RSP,
        name=f"{name}-{place}",
        instructions={each: edited(it) for each, it in RSP.instructions.items()},
        steps=tuple(map(edited, RSP.steps)),
    )


# ---- random programs ------------------------------------------------------------------------------


def random_program(operations: Iterable[Operation], random: Random) -> LitmusTest:
    """Three threads, two of them in one work-group, with up to three operations on two locations.

    Whether it races is all the same: the facts hold of every program.
    """
    known = [*operations]
    threads = []
    for group in (0, 0, 1):
        count = random.choice((1, 2, 2, 3))
        chosen = [
            access(random.choice(known), random.choice("xxy"), number) for number in range(count)
        ]
        threads.append(Thread((0, group), tuple(chosen)))
    return litmus_test(threads)


# ---- executions ----------------------------------------------------------------------------------


@dataclass
class Recorded:
    """An execution: the things of each sort, and what each function gives for them."""

    things: dict[str, list[Any]]
    functions: dict[str, dict[tuple[Any, ...], Any]] = field(default_factory=dict)

    def __call__(self, name: str, *given: Any) -> Any:
        default: Any = 0 if theory().functions[name][-1] == "Int" else False
        return self.functions[name].get(given, default)

    def holds(self, body: Formula) -> bool:
        """Whether a formula holds for all values of its free variables."""
        return all(part(self) for part in compiled(body))


class _Walk:
    """One random walk, and who wrote what is where."""

    def __init__(self, program: Program, scheme: Scheme) -> None:
        machine = Machine(scheme.compiled(program), elide=False)
        self.explicit = Replayer(machine).explicit
        self.program, self.scheme = program, scheme
        initial = [f"initial {x.name}" for x in program.locations]
        self.found = Recorded({sort: [] for sort in _SORTS})
        self.found.functions = {name: {} for name in theory().functions}
        self.found.things["Event"] = [*initial]
        self.found.things["Location"] = [x.name for x in program.locations]
        self.found.things["Group"] = sorted({it.workgroup for it in program.threads})
        memory = {x.name: f"initial {x.name}" for x in program.locations}
        self.memory, self.l2 = {**memory}, {**memory}
        self.l1: dict[tuple[int, str], tuple[str, int | None]] = {}
        self.waiting: dict[tuple[int, str], list[str]] = {}
        self.open: dict[int, tuple[int, str]] = {}
        self.threads: dict[str, int] = {}
        self.operations: dict[str, Operation] = {}
        for name, x in zip(initial, self.found.things["Location"], strict=True):
            self.set("initial", name, value=True)
            self.set("writes", name, value=True)
            self.set("loc", name, value=x)
            self.set("group", name, value=self.found.things["Group"][0])

    def set(self, function: str, *given: Any, value: Any) -> None:
        self.found.functions[function][given] = value

    def run(self, random: Random) -> Recorded | None:
        """A complete execution; None where the walk gets stuck or goes on for too long."""
        state, now, last = self.explicit.initial, 0, {}
        for _ in range(_STEPS):
            if self.explicit.complete(state):
                break
            following = [*self.explicit.successors(state)]
            if not following:
                return None
            some = [it for it in following if isinstance(it[0], InstructionRule)]
            dull = [it for it in following if str(it[0]).startswith(("EVICT", "FETCH_L2"))]
            useful = [it for it in following if it not in dull]
            if some and random.random() < 0.35:
                following = some
            elif useful and random.random() < 0.8:
                following = useful
            rule, state = random.choice(following)
            now += _GAP
            if isinstance(rule, InstructionRule):
                self._instruction(rule, now, last)
            else:
                self._step(rule, now)
        else:
            return None
        end = now + _GAP
        for flush in self.open.values():
            self.set("done-at", flush, value=end)
        for name, when in last.items():
            self.set("ends", name, value=when + 1)
        return self.found

    # The ends of operations: after their last instruction, and after the markers of their own.

    def _instruction(self, rule: InstructionRule, now: int, last: dict[str, int]) -> None:
        it = rule.instruction
        operation = self.program.operations[it.operation]
        name, group, thread = f"o{it.operation}", it.thread.workgroup, it.thread.thread
        if thread in self.open:
            self.set("done-at", self.open.pop(thread), value=now)
        if name not in last:
            self._begin(name, operation, thread, group, now)
        last[name] = now
        mnemonic, x = it.mnemonic.name, it.location or ""
        flush = (thread, f"{it.index}")
        if mnemonic == "INV_L1":
            self.found.things["Invalidation"].append(it.index)
            self.set("invalidated-at", it.index, value=now)
            for each in self.found.things["Group"]:
                self.set("reaches", it.index, each, value=it.reach != "WG" or each == group)
        elif mnemonic == "FLU_L1":
            self.found.things["Flush"].append(flush)
            self.open[thread] = flush
            self.set("flushed-at", flush, value=now)
            for each in self.found.things["Group"]:
                self.set("drains", flush, each, value=it.reach != "WG" or each == group)
        elif it.mnemonic.reads or it.mnemonic.writes:
            self.set("accesses", name, value=now)
            at_l2 = mnemonic.endswith("_L2")
            if it.mnemonic.reads:
                writer, fetched = (self.l2[x], None) if at_l2 else self.l1[group, x]
                self.set("rf", writer, name, value=True)
                if fetched is not None:
                    self.set("fetched-at", name, value=fetched)
                self.set("own", name, value=not at_l2 and fetched is None)
            if at_l2:
                self.set("arrives", name, value=now)
                self.l2[x] = name
            elif it.mnemonic.writes:
                self.l1[group, x] = (name, None)
                self.waiting.setdefault((group, x), []).append(name)
            self.set("at-l2", name, value=at_l2)

    def _begin(self, name: str, operation: Any, thread: int, group: int, now: int) -> None:
        for other in self.found.things["Event"]:
            if self.threads.get(other) == thread:
                self.set("thread", other, name, value=True)
                self.set("thread", name, other, value=True)
        self.threads[name] = thread
        self.set("thread", name, name, value=True)
        self.found.things["Event"].append(name)
        self.set("begins", name, value=now - 1)
        self.set("group", name, value=group)
        self.set("loc", name, value=operation.location)
        self.set("writes", name, value=operation.kind.writes)
        self.set("reads", name, value=operation.kind.reads)
        self.set("atomic", name, value=operation.scope is not None)
        row = self.scheme.row_for(operation)
        assert row is not None
        own = Operation(row.kind, operation.scope, operation.remote, row)
        for other, known in self.operations.items():
            included = bool(own.scope and known.scope) and own.includes(known)
            self.set("inclusive", name, other, value=included)
            self.set("inclusive", other, name, value=included)
        self.operations[name] = own

    def _step(self, rule: StepRule, now: int) -> None:
        x = rule.about[0] if rule.about else ""
        match rule.step:
            case "FLUSH_L1":
                group = rule.structure.place.path[-1]
                for name in self.waiting.pop((group, x)):
                    self.set("arrives", name, value=now)
                self.l2[x] = self.l1[group, x][0]
            case "FETCH_L1":
                self.l1[rule.structure.place.path[-1], x] = (self.l2[x], now)
            case "FLUSH_L2":
                self.memory[x] = self.l2[x]
            case "FETCH_L2":
                self.l2[x] = self.memory[x]
            case _:
                pass


def recorded(test: LitmusTest, scheme: Scheme, random: Random) -> Recorded | None:
    """A random complete execution of a test; None where none was found."""
    return _Walk(program_of(test, "random"), scheme).run(random)


# ---- formulas ------------------------------------------------------------------------------------

Part = Callable[[Recorded], bool]


def parts_of(body: Formula) -> tuple[Formula, ...]:
    """What must all hold for a formula to hold, each with the premises that it has."""
    if body[0] == "and":
        return tuple(part for each in body[1:] for part in parts_of(each))
    if body[0] == "=>" and body[2][0] == "and":
        return tuple(part for each in body[2][1:] for part in parts_of(("=>", body[1], each)))
    if body[0] == "=>" and body[2][0] == "=>":
        return parts_of(("=>", ("and", body[1], body[2][1]), body[2][2]))
    return (body,)


@cache
def compiled(body: Formula) -> tuple[Part, ...]:
    """Parts that all must hold; each is bound to the variables that it speaks of alone."""
    return tuple(map(_part, parts_of(body)))


def _part(body: Formula) -> Part:
    premise, conclusion = (body[1], body[2]) if body[0] == "=>" else ("true", body)
    premises = premise[1:] if premise[0] == "and" else (premise,)
    names = theory().free(body)
    asked = [
        [it for it in premises if max(map(names.index, theory().free(it)), default=0) == place]
        for place in range(len(names))
    ]

    def part(it: Recorded) -> bool:
        return holds(it, 0, {})

    def holds(it: Recorded, place: int, values: dict[str, Any]) -> bool:
        """Whether it holds for all values of the variables from a place on: the premises are asked
        as soon as their variables have values."""
        if place == len(names):
            return bool(_value(conclusion, values, it))
        for each in it.things[theory().variables[names[place]]]:
            values[names[place]] = each
            met = all(_value(known, values, it) for known in asked[place])
            if met and not holds(it, place + 1, {**values}):
                return False
        return True

    return part


def _value(body: Formula, values: Mapping[str, Any], it: Recorded) -> Any:
    if isinstance(body, str):
        return values[body] if body in values else {"true": True, "false": False}.get(body, body)
    head, *rest = body
    match head:
        case "and":
            return all(_value(each, values, it) for each in rest)
        case "or":
            return any(_value(each, values, it) for each in rest)
        case "not":
            return not _value(rest[0], values, it)
        case "=>":
            return not _value(rest[0], values, it) or _value(rest[1], values, it)
        case "forall" | "exists":
            bound = [(name, it.things[sort]) for name, sort in rest[0]]
            every = product(*(things for _, things in bound))
            cases = (dict(zip([name for name, _ in bound], each, strict=True)) for each in every)
            of = (_value(rest[1], {**values, **case}, it) for case in cases)
            return all(of) if head == "forall" else any(of)
    given = [_value(each, values, it) for each in rest]
    numbers = [int(each) if isinstance(each, str) and each.isdigit() else each for each in given]
    match head:
        case "=":
            return numbers[0] == numbers[1]
        case "distinct":
            return numbers[0] != numbers[1]
        case "<":
            return numbers[0] < numbers[1]
        case "<=":
            return numbers[0] <= numbers[1]
    known = theory().definitions.get(str(head))
    if known is not None:
        return _value(known.body, dict(zip(known.of, given, strict=True)), it)
    return it(str(head), *given)
