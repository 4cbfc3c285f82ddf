"""The machine of proof/Thm1.v and the explicit engine take the same steps: on random runs of random
tables, the steps that are enabled after each step, the answers, and memory in the end.

`python -m proof.test_rocq_runs 200 7`, from the folder tests: so many runs of this seed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from msgspec import Struct
from proof.random_tables import random_rows, scheme_of
from proof.rocq import coqc, whole
from recorded import random_program

from rspverify.litmus.program import Kind, Operation, Order, Program
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.machine.state import State
from rspverify.programs.meaning import program_of
from rspverify.proof.rocq_table import row_in_rocq
from rspverify.proof.table import ProofTable, proof_table
from rspverify.records import replace
from rspverify.value import Binary, Constant

_MOST = 70
_COQ = """
Require Import List Arith Bool Thm1 Steps. Import ListNotations.
Definition steps groups threads (locs : list nat) : list (step nat) :=
  map Exec threads ++
  flat_map (fun w => flat_map (fun x =>
    [FLUSH_L1 w x; FETCH_L1 w x; EVICT_L1 w x; DEQLOC_L1 w x]) locs ++
    map (DEQMARKER_L1 w) threads) groups ++
  flat_map (fun x => [FLUSH_L2 x; FETCH_L2 x; EVICT_L2 x; DEQLOC_L2 x]) locs ++
  map DEQMARKER_L2 threads.
Definition numbered (all : list (step nat)) := combine (seq 0 (length all)) all.
Section Run.
Variable P : program nat nat.
Variable t : table.
Variables all run : list (step nat).
Notation zero := (fun _ : nat => 0).
Notation start := (first 0 zero P t).
Definition enabled_in s := map fst (filter (fun it =>
  guard Nat.eq_dec (wgs P) (wg_of P) 0 s (snd it)) (numbered all)).
Definition told ts locs := let s := last_state Nat.eq_dec 0 zero P start run in
  (map enabled_in (states Nat.eq_dec 0 zero P start run),
   map (answers_from Nat.eq_dec 0 zero P start run) ts, map (memory s) locs,
   map (fun i => if has_ended 0 zero s i then 1 else 0) ts).
End Run.
"""


class Walked(Struct, frozen=True):
    """A complete run: its program and table as terms, its steps by number, and what is observed."""

    asked: str
    steps: tuple[int, ...]
    enabled: tuple[tuple[int, ...], ...]
    answers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]


def step_name(rule: Rule) -> tuple[str, ...]:
    """A rule of the engine as a step: `FLUSH_L1`, the work-group, the location."""
    if isinstance(rule, InstructionRule):
        return "Exec", str(rule.instruction.thread.thread)
    about = str(getattr(rule.about[0], "thread", rule.about[0]))
    if "_L1" in rule.step:
        return rule.step, str(rule.structure.place.path[-1]), about
    return rule.step, about


def numbers(program: Program) -> dict[tuple[str, ...], int]:
    """The number of each step, in the order of `steps`."""
    threads = [str(it) for it in range(len(program.threads))]
    locations = [x.name for x in program.locations]
    found: list[tuple[str, ...]] = [("Exec", it) for it in threads]
    names = ("FLUSH", "FETCH", "EVICT", "DEQLOC")
    for group in sorted({str(it.workgroup) for it in program.threads}):
        found += [(f"{name}_L1", group, x) for x in locations for name in names]
        found += [("DEQMARKER_L1", group, it) for it in threads]
    found += [(f"{name}_L2", x) for x in locations for name in names]
    found += [("DEQMARKER_L2", it) for it in threads]
    return {it: place for place, it in enumerate(found)}


def walked(
    program: Program, table: ProofTable, explicit: ExplicitMachine, random: Random
) -> Walked | None:
    """A random complete run; None if none was found."""
    known = numbers(program)
    steps: list[int] = []
    enabled: list[tuple[int, ...]] = []
    state: State = explicit.initial
    while len(steps) <= _MOST:
        following = [*explicit.successors(state)]
        enabled.append(tuple(sorted(known[step_name(rule)] for rule, _ in following)))
        if explicit.complete(state):
            return _observed(program, table, explicit, state, tuple(steps), tuple(enabled))
        if not following:
            return None
        useful = [
            it for it in following if not step_name(it[0])[0].startswith(("EVICT", "FETCH_L2"))
        ]
        rule, state = random.choice(useful if useful and random.random() < 0.9 else following)
        steps.append(known[step_name(rule)])
    return None


def _observed(
    program: Program,
    table: ProofTable,
    explicit: ExplicitMachine,
    state: State,
    steps: tuple[int, ...],
    enabled: tuple[tuple[int, ...], ...],
) -> Walked:
    outcome = explicit.outcome(state)
    read = dict(outcome.reads)
    answers = tuple(
        tuple(read[it.index] if it.index in read else _stored(it) for it in thread.operations)
        for thread in program.threads
    )
    groups = sorted({it.workgroup for it in program.threads})
    threads, places = [*range(len(program.threads))], [*range(len(program.locations))]
    rows = "; ".join(map(row_in_rocq, table.operations))
    trees = "; ".join(
        f"Thread {it.workgroup} ({tree(program, it.operations)})" for it in program.threads
    )
    asked = (
        f"Eval vm_compute in let all := steps {_list(groups)} {_list(threads)} {_list(places)} in\n"
        f"  told [{trees}] [{rows}] all (map (fun k => nth k all (Exec 0)) {_list(steps)})\n"
        f"  {_list(threads)} {_list(places)}."
    )
    return Walked(asked, steps, enabled, answers, tuple(value for _, value in outcome.memory))


def _stored(it: Operation) -> int:
    assert isinstance(it.value, Constant)
    return it.value.value


def _list(numbers: Iterable[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]"


def tree(program: Program, operations: Iterable[Operation]) -> str:
    """A thread without branches as a tree."""
    places = {x.name: place for place, x in enumerate(program.locations)}
    text = "Done"
    for it in reversed([*operations]):
        match it.kind, it.value:
            case Kind.LOAD, _:
                kind = "Load"
            case Kind.STORE, Constant(value):
                kind = f"(Store {value})"
            case _, Binary("+", _, Constant(value)):
                kind = f"(Rmw (fun v => v + {value}))"
        scope = it.scope.value if it.scope else "WG"
        releases = it.order in (Order.RELEASE, Order.ACQ_REL)
        acquires = it.order in (Order.ACQUIRE, Order.ACQ_REL)
        flags = " ".join(str(flag).lower() for flag in (it.remote, releases, acquires))
        atomic = str(it.scope is not None).lower()
        text = f"Do (Operation {kind} {places[it.location]} {atomic} {scope} {flags}) (fun _ => {text})"
    return text


def runs(number: int, seed: int) -> list[Walked]:
    """Random runs of random tables, among them some whose locks anybody frees."""
    random = Random(seed)
    found: list[Walked] = []
    while len(found) < number:
        scheme = scheme_of(random_rows(random, kept_locks=True, strong_plain=True))
        table = proof_table(scheme)
        program = program_of(random_program(table.operations, random), "random")
        explicit = Replayer(Machine(scheme.compiled(program), elide=False)).explicit
        it = walked(program, table, explicit, random)
        found += [it] if it else []
    return found


def disagreements(given: list[Walked], folder: Path) -> list[Walked]:
    """The runs of which Rocq says something else."""
    said = coqc(_COQ + "\n".join(it.asked for it in given), folder, target="Steps.vo")
    told = [it.rpartition("\n     : ")[0] for it in said.split("     = ")[1:]]
    wrong = []
    for it, text in zip(given, told, strict=True):
        plain = re.sub(r"\s+", " ", text).replace(";", ",").replace("(", "[").replace(")", "]")
        enabled, answers, memory, ended = json.loads(plain)
        here = [
            [*map(list, it.enabled)],
            [*map(list, it.answers)],
            [*it.memory],
            [1] * len(it.answers),
        ]
        wrong += [it] if here != [enabled, answers, memory, ended] else []
    return wrong


def test_runs_are_the_engine_s(tmp_path: Path) -> None:
    assert disagreements(runs(12, seed=33), tmp_path) == []


@whole
@pytest.mark.parametrize("seed", range(4))
def test_many_runs_are_the_engine_s(seed: int, tmp_path: Path) -> None:
    assert disagreements(runs(125, seed), tmp_path) == []


def test_another_run_is_noticed(tmp_path: Path) -> None:
    """A run with other steps enabled, or with another answer or memory, is told."""
    (it, *_) = runs(1, seed=34)
    planted = [
        replace(it, enabled=(it.enabled[0][1:], *it.enabled[1:])),
        replace(it, answers=((9,), *it.answers[1:])),
        replace(it, memory=(9, *it.memory[1:])),
    ]
    assert disagreements(planted, tmp_path) == planted


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        found = runs(int(sys.argv[1]), int(sys.argv[2]))
        wrong = disagreements(found, Path(folder))
        print(
            f"{len(found)} runs of {sum(len(it.steps) for it in found)} steps, {len(wrong)} differ"
        )
        sys.exit(bool(wrong))
