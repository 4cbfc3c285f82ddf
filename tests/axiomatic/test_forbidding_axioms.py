"""Why an outcome is forbidden: a smallest set of axioms that every candidate breaks one of."""

import random
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import pytest
from oracle import model as oracle
from oracle_adapter import plain_outcome, plain_program
from programs import Size, random_program

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.soundness.settings import DEFAULT_MODEL
from rspverify.source import Source
from rspverify.value.domain import Access, derivable
from rspverify.verdict import Outcome

CORPUS = Path(__file__).resolve().parents[2] / "litmus/rsp"
MODEL = load_model(DEFAULT_MODEL)
AXIOMS = tuple(axiom.name for axiom in MODEL.axioms)


def named(name: str) -> Program:
    (path,) = CORPUS.glob(f"*/{name}.litmus")
    return read_program_file(path)


def ask(program: Program) -> Questions:
    return Questions(program, MODEL, Limits())


def why_not(program: Program) -> Mapping[Outcome, set[frozenset[str]]]:
    """Per outcome of some candidate, what each candidate with it violates."""
    names = [location.name for location in program.locations]
    plain = plain_program(program)
    found: dict[Outcome, set[frozenset[str]]] = {}
    for candidate in oracle.candidates(plain):
        for reads, memory in oracle.outcomes_of(plain, candidate):
            outcome = Outcome(reads, tuple((name, dict(memory)[name]) for name in names))
            found.setdefault(outcome, set()).add(candidate.violated)
    return found


def covers(axioms: tuple[str, ...], violated: set[frozenset[str]]) -> bool:
    """Whether no candidate satisfies all of the axioms."""
    return all(each & set(axioms) for each in violated)


def derivable_reads(program: Program, outcome: Outcome) -> bool:
    """Whether every value read has a derivation."""
    accesses = [Access(it.index, it.location, it.reads, it.value) for it in program.operations]
    initial = {location.name: location.initial for location in program.locations}
    domains = derivable(initial, accesses, Limits()).locations
    operations = program.operations
    return all(value in domains[operations[index].location] for index, value in outcome.reads)


def compare(program: Program) -> set[tuple[str, ...]]:
    """The answers for all forbidden outcomes, each of which is right."""
    questions, answers = ask(program), set()
    for outcome, violated in why_not(program).items():
        if frozenset() in violated:
            assert questions.allows(outcome)
            continue
        assert not questions.allows(outcome)
        axioms = questions.forbidding_axioms(outcome)
        if not axioms:
            # The oracle goes on from values that cause themselves; we do not call these possible.
            assert not derivable_reads(program, outcome)
            continue
        assert covers(axioms, violated)
        smaller = combinations(AXIOMS, len(axioms) - 1)
        assert not any(covers(each, violated) for each in smaller)
        assert list(axioms) == [name for name in AXIOMS if name in axioms]
        answers.add(axioms)
    return answers


# ---- known answers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reads", "memory", "axioms"),
    [
        # Fig. 4: the flag is seen and the data is not.
        ("MP+st.na-st.DV+ld.DV-ld.na", {2: 1, 3: 0}, {"x": 1, "y": 1}, ("Narf",)),
        # Fig. 5: the store is lost between the two halves of the increment.
        ("Ex4", {0: 0}, {"x": 1}, ("Rmw",)),
        ("RMW+inc.DV+inc.DV", {0: 0, 1: 0}, {"x": 1}, ("Rmw",)),
        ("CoRR+st.DV+ld.DV-ld.DV", {1: 1, 2: 0}, {"x": 1}, ("Coh",)),
        ("CoRW1+ld.DV-st.DV+ld.DV", {0: 1, 2: 0}, {"x": 1}, ("Rf",)),
        ("CoRW2+ld.DV-st.DV+st.DV", {0: 2}, {"x": 2}, ("Coh",)),
        ("CoWR+st.DV-ld.DV+st.DV", {1: 0}, {"x": 1}, ("Coh",)),
        ("CoWW+st.DV-st.DV+ld.DV-ld.DV", {2: 2, 3: 2}, {"x": 1}, ("Coh",)),
        ("CoWW+st.na-st.na-st.DV+ld.DV-ld.na", {3: 1, 4: 1}, {"x": 2, "y": 1}, ("Narf",)),
        ("LB+ld.DV-st.DV+ld.DV-st.DV", {0: 1, 2: 1}, {"x": 1, "y": 1}, ("Hb",)),
    ],
)
def test_known_answers(
    name: str, reads: dict[int, int], memory: dict[str, int], axioms: tuple[str, ...]
) -> None:
    program = named(name)
    outcome = Outcome(tuple(reads.items()), tuple(memory.items()))
    assert ask(program).forbidding_axioms(outcome) == axioms
    violated = oracle.why_not(plain_program(program), plain_outcome(outcome))
    assert violated and covers(axioms, violated)
    first = [each for each in AXIOMS if covers((each,), violated)]
    assert axioms == (first[0],)


TWO_SOURCES = """OPENCL t
{ [x]=0; }
P0@wg 0, dev 0 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
  atomic_store_explicit(x, 2, memory_order_release, memory_scope_device);
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
}
"""


def test_two_axioms_are_named_where_one_is_not_enough() -> None:
    """The value comes from a write that is hidden (Coh) or from one that is yet to come (Rf)."""
    program = read_program(Source("two.litmus", TWO_SOURCES))
    outcome = Outcome(((2, 1),), (("x", 1),))
    assert not ask(program).allows(outcome)
    assert ask(program).forbidding_axioms(outcome) == ("Coh", "Rf")
    assert compare(program) == {("Coh",), ("Coh", "Rf")}


# ---- what has no axiom to blame ------------------------------------------------------------------


def test_an_allowed_outcome_has_no_reason() -> None:
    program = named("MP+st.na-st.DV+ld.DV-ld.na")
    for outcome in ask(program).outcomes():
        with pytest.raises(ValueError, match=r"^the outcome is allowed$"):
            ask(program).forbidding_axioms(outcome)


@pytest.mark.parametrize(
    ("reads", "memory"),
    [
        ({2: 7}, {"x": 1, "y": 1}),  # nobody writes 7
        ({2: 1, 3: 1}, {"x": 0, "y": 1}),  # the store to x is hb-after the initial write
        ({2: 1, 3: 1}, {"x": 1, "y": 9}),
        ({2: 0, 3: 0}, {"x": 1, "y": 1}),  # the guard is false
        ({2: 1}, {"x": 1, "y": 1}),  # the guard is true
        ({}, {"x": 1, "y": 1}),
    ],
)
def test_no_candidate_has_such_values(reads: dict[int, int], memory: dict[str, int]) -> None:
    program = named("MP+st.na-st.DV+ld.DV-ld.na")
    outcome = Outcome(tuple(reads.items()), tuple(memory.items()))
    assert outcome not in why_not(program)
    assert not ask(program).allows(outcome)
    assert ask(program).forbidding_axioms(outcome) == ()


# ---- against brute force -------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["MP", "coherence", "paper", "RMW", "LB", "guards"])
def test_corpus(folder: str) -> None:
    answers = set()
    for path in sorted((CORPUS / folder).glob("*.litmus")):
        answers |= compare(read_program_file(path))
    assert answers


@pytest.mark.parametrize("block", range(3))
def test_random_programs(block: int) -> None:
    shape = Size(threads=3, operations=3, total=4)
    for seed in range(20 * block, 20 * (block + 1)):
        with suppress(LimitReached):  # values that cause themselves without end
            compare(random_program(random.Random(1_000 + seed), shape))
