"""The model of proof/Thm1.v and the tool's opencl-rsp allow the same outcomes and have the same races:
of small random programs every reads-from and every order of writes is decided by `consistentb` and
`race_freeb`, which Decide.v proves right.

`python -m proof.test_rocq_model 200 7`, from the folder tests: so many programs of this seed.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from checks import MODEL
from msgspec import Struct
from proof.rocq import coqc, whole
from proof.test_rocq_runs import tree
from recorded import random_program

from rspverify.api.inputs import read_scheme
from rspverify.litmus.program import Kind, Operation, Program
from rspverify.programs.meaning import program_of
from rspverify.proof.table import proof_table
from rspverify.soundness.sides import ModelSide
from rspverify.value import Binary, Constant

_MOST = 24
_COQ = """
Require Import List Arith Bool Thm1 Decide. Import ListNotations.
Notation event := (event nat nat).
Section Program.
Variable P : program nat nat.
Variable plain : nat -> bool.
Definition decided (locs : list nat) (it : list event * (list (event * event) * list (event * event))) :=
  let '(evs, (rfl, mol)) := it in
  let h := hbl Nat.eq_dec Nat.eq_dec P evs rfl mol in
  let before := related Nat.eq_dec Nat.eq_dec h in
  let writes l e := isWb P e && (loc 0 P e =? l) in
  (transitive Nat.eq_dec Nat.eq_dec h,
   consistentb Nat.eq_dec Nat.eq_dec locs 0 plain P evs rfl mol,
   race_freeb Nat.eq_dec Nat.eq_dec 0 P evs rfl mol,
   map (fun e => writes (loc 0 P e) e && negb (existsb (fun k => writes (loc 0 P e) k && before e k) evs)) evs).
End Program.
"""


class Graph(Struct, frozen=True):
    """A candidate execution: the write that each read reads, the order of writes by location, and
    the value that each operation reads or stores."""

    rf: dict[int, int | str]
    mo: tuple[tuple[int | str, ...], ...]
    values: dict[int, int]


def graphs(program: Program) -> Iterator[Graph]:
    """All candidates, but those in which values cause themselves."""
    reads = [it for it in program.operations if it.kind is not Kind.STORE]
    writes = {
        x.name: [
            it.index
            for it in program.operations
            if it.location == x.name and it.kind is not Kind.LOAD
        ]
        for x in program.locations
    }
    orders = [
        [(x.name, *way) for way in permutations(writes[x.name])]
        for x in program.locations
        if x.atomic
    ]
    sources = [[it.location, *(w for w in writes[it.location] if w != it.index)] for it in reads]
    for chosen in product(*sources):
        rf = {it.index: source for it, source in zip(reads, chosen, strict=True)}
        values = _values(program, rf)
        if values is not None:
            yield from (Graph(rf, mo, values) for mo in product(*orders))


def _values(program: Program, rf: dict[int, int | str]) -> dict[int, int] | None:
    """What each operation reads or stores."""
    found: dict[int, int] = {}
    for _ in program.operations:
        for it in program.operations:
            if it.kind is Kind.STORE:
                found[it.index] = written(it, 0)
            elif (source := rf[it.index]) in found:
                found[it.index] = written(program.operations[int(source)], found[int(source)])
            elif isinstance(source, str):
                found[it.index] = 0
    return found if len(found) == len(program.operations) else None


def written(it: Operation, value: int) -> int:
    """The value that an operation writes, if it reads, or stores, this one."""
    match it.value:
        case Constant(stored):
            return stored
        case Binary("+", _, Constant(more)):
            return value + more
    raise AssertionError(it)


class Case(Struct, frozen=True):
    """A program, its candidates, and the question."""

    program: Program
    graphs: tuple[Graph, ...]
    asked: str


def case(program: Program, known: tuple[Graph, ...]) -> Case:
    places = {x.name: place for place, x in enumerate(program.locations)}
    plain = "; ".join("false" if x.atomic else "true" for x in program.locations)
    threads = "; ".join(
        f"Thread {it.workgroup} ({tree(program, it.operations)})" for it in program.threads
    )

    def event(it: int | str, graph: Graph) -> str:
        if isinstance(it, str):
            return f"Init {places[it]}"
        own = program.operations[it]
        before = [each for each in program.threads[own.thread].operations if each.index < it]
        return f"Node {own.thread} [{'; '.join(str(graph.values[each.index]) for each in before)}]"

    def pairs(found: Iterator[tuple[int | str, int | str]], graph: Graph) -> str:
        return "; ".join(f"({event(a, graph)}, {event(b, graph)})" for a, b in found)

    def term(it: Graph) -> str:
        events = [*places, *(each.index for each in program.operations)]
        rf = pairs(((w, r) for r, w in it.rf.items()), it)
        mo = pairs(((a, b) for way in it.mo for n, a in enumerate(way) for b in way[n + 1 :]), it)
        return f"([{'; '.join(event(each, it) for each in events)}], ([{rf}], [{mo}]))"

    locs = "; ".join(map(str, places.values()))
    terms = ";\n    ".join(map(term, known))
    return Case(
        program,
        known,
        f"Eval vm_compute in map (decided [{threads}] (fun l => nth l [{plain}] false) [{locs}])\n  [{terms}].",
    )


def cases(number: int, seed: int) -> list[Case]:
    """Random small programs of the operations of Tab. 3."""
    random = Random(seed)
    operations = proof_table(read_scheme("proposed")).operations
    found: list[Case] = []
    while len(found) < number:
        program = program_of(random_program(operations, random), "random")
        known = tuple(graphs(program)) if len(program.operations) <= 6 else ()
        if 1 < len(known) <= _MOST:
            found.append(case(program, known))
    return found


def judged(it: Case, words: list[str]) -> tuple[bool, set[object]]:
    """Whether the program races, and the outcomes of its consistent executions."""
    program = it.program
    events = [*(x.name for x in program.locations), *(each.index for each in program.operations)]
    width = 3 + len(events)
    racy, outcomes = False, set[object]()
    for place, graph in enumerate(it.graphs):
        closed, consistent, free, *last = words[place * width : (place + 1) * width]
        assert closed == "true"
        if consistent == "true":
            racy = racy or free == "false"
            ends: dict[str, int | str] = {way[0]: way[-1] for way in graph.mo}  # type: ignore[misc]
            for x in program.locations:
                if not x.atomic:
                    ends[x.name] = next(
                        event
                        for event, is_last in zip(events, last, strict=True)
                        if is_last == "true" and _place(program, event) == x.name
                    )
            memory = tuple((x.name, _end(program, graph, ends[x.name])) for x in program.locations)
            outcomes.add((tuple(sorted((r, graph.values[r]) for r in graph.rf)), memory))
    return racy, outcomes


def _place(program: Program, event: int | str) -> str:
    return event if isinstance(event, str) else str(program.operations[event].location)


def _end(program: Program, graph: Graph, event: int | str) -> int:
    return 0 if isinstance(event, str) else written(program.operations[event], graph.values[event])


def disagreements(given: list[Case], folder: Path) -> tuple[list[Case], int]:
    """The programs of which Rocq says something else, and how many race."""
    said = coqc(_COQ + "\n".join(it.asked for it in given), folder, target="Decide.vo")
    told = [re.findall(r"true|false", it) for it in said.split("     = ")[1:]]
    wrong, races = [], 0
    for it, words in zip(given, told, strict=True):
        side = ModelSide(it.program, MODEL)
        racy, outcomes = judged(it, words)
        races += racy
        known = {(each.reads, each.memory) for each in side.outcomes()}
        if racy != (side.race() is not None) or not (racy or outcomes == known):
            wrong.append(it)
    return wrong, races


def test_the_model_is_the_tool_s(tmp_path: Path) -> None:
    given = cases(6, seed=33)
    wrong, races = disagreements(given, tmp_path)
    assert wrong == []
    assert 0 < races < len(given)


@whole
@pytest.mark.parametrize("seed", range(4))
def test_of_many_programs_the_model_is_the_tool_s(seed: int, tmp_path: Path) -> None:
    assert disagreements(cases(12, seed), tmp_path)[0] == []


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        found = cases(int(sys.argv[1]), int(sys.argv[2]))
        wrong, races = disagreements(found, Path(folder))
        number = sum(len(it.graphs) for it in found)
        print(f"{len(found)} programs, {races} race; {number} candidates; {len(wrong)} differ")
        sys.exit(bool(wrong))
