"""Executions whose rf and mo are given: broken exactly where brute force finds them inconsistent."""

from __future__ import annotations

import random
from itertools import islice

from oracle import model as oracle
from oracle_adapter import plain_program
from programs import SMALL_SOURCE, random_program
from smt.truth import value

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.executions import GeneratedExecutions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.smt.choice import constant
from rspverify.smt.term import TRUE

MODEL = load_model("opencl-rsp")
LIMITS = Limits()


def name_of(event: oracle.Event) -> int | None:
    """The operation of an event; None is an initial write."""
    return None if event.thread is None else event.eid


def executions(
    program: Program, found: oracle.Candidate, last: dict[str, int | None], rng: random.Random
) -> GeneratedExecutions:
    """A candidate of the oracle as ours, with an order of writes wherever one may be given."""
    values = {event.eid: event.read for event in found.events if event.read is not None}
    reads = {it.index: constant(values.get(it.index, 0)) for it in program.operations if it.reads}
    rf = {(name_of(write), read.eid): TRUE for write, read in found.rf}
    mo = {(a.eid, b.eid): TRUE for a, b in found.mo if a.thread is not None}
    for location in program.locations:
        if not location.atomic:  # An order there must not matter.
            writes = [
                it.index for it in program.operations if it.writes and it.location == location.name
            ]
            rng.shuffle(writes)
            mo |= {(a, b): TRUE for place, a in enumerate(writes) for b in writes[place + 1 :]}
    return GeneratedExecutions(
        program, MODEL, LIMITS, reads, rf, mo, {x: [(it, TRUE)] for x, it in last.items()}
    )


def test_broken_is_inconsistent_or_ends_with_a_write_that_is_not_maximal() -> None:
    counts = {"consistent": 0, "inconsistent": 0, "not maximal": 0}
    for number in range(100):
        rng = random.Random(f"generated {number}")
        program = random_program(rng, SMALL_SOURCE)
        for found in islice(oracle.candidates(plain_program(program)), 40):
            last: dict[str, int | None] = {}
            maximal = True
            for location in program.locations:
                writes = [
                    event
                    for event in found.events
                    if event.location == location.name and event.written is not None
                ]
                chosen = rng.choice(writes)
                last[location.name] = name_of(chosen)
                later = any((chosen, other) in found.hb for other in writes)
                maximal = maximal and (location.atomic or not later)
            judged = executions(program, found, last, rng)
            expected = bool(found.violated) or not maximal
            assert value(judged.broken, {}) is expected, program.source.text
            violated = {name for name, term in judged.axioms.items() if not value(term, {})}
            assert violated == found.violated, program.source.text
            kind = "inconsistent" if found.violated else "consistent" if maximal else "not maximal"
            counts[kind] += 1
    assert min(counts.values()) > 15, counts
