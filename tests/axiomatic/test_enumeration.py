"""Brute force over rf and mo, against the solver, the oracle, and plain sets of pairs."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from itertools import islice, product
from pathlib import Path

import pytest
from axiomatic.brute_force import run
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_adapter import model_outcomes
from programs import Size, random_program
from relation.concrete import relation_expressions

from rspverify.axiomatic.awaits import awaited
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.enumeration import ConsistentExecutions, Relations, consistent_execution
from rspverify.axiomatic.model import Axiom, Let, MemoryModel
from rspverify.axiomatic.plan import WrongTool
from rspverify.axiomatic.question import Questions
from rspverify.corpus.expected import read_expected
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.relation.expression import Expression, Name, Sort
from rspverify.relation.expression import Test as Question
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.settings import DEFAULT_MODEL, Engine, Settings
from rspverify.source import Source, read_source
from rspverify.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))
ONE_EVENT_PER_OPERATION = ("opencl-hrf", "opencl-rsp", "opencl-rsp-fig2", "opencl-scoped-sc")
MODELS = {name: load_model(name) for name in ONE_EVENT_PER_OPERATION}
"""Those whose executions are rf and mo alone, over events as `stands` numbers them."""
ORIGINAL = read_scheme_file(ROOT / "schemes/original.yaml")
EXPECTED = read_expected(str(ROOT / "litmus/rsp/expected.yaml")).verdicts
UNSOUND = [name for name, row in EXPECTED.items() if row["original"] == "UNSOUND"]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT / "litmus/rsp").as_posix()


def neighbours(outcomes: set[Outcome], rng: random.Random, count: int) -> set[Outcome]:
    """Outcomes with one value changed to another value of the program, allowed or not."""
    values = sorted({value for it in outcomes for _, value in (*it.reads, *it.memory)})
    found = set()
    for outcome in rng.choices(sorted(outcomes), k=count) if outcomes else ():
        reads, memory = list(outcome.reads), list(outcome.memory)
        changed = rng.choice([part for part in (reads, memory) if part])
        place = rng.randrange(len(changed))
        changed[place] = (changed[place][0], rng.choice(values))
        if rng.random() < 0.2 and reads:
            del reads[rng.randrange(len(reads))]
        found.add(Outcome(tuple(reads), tuple(memory)))
    return found


def stands(program: Program, model: MemoryModel, outcome: Outcome, found: Relations) -> bool:
    """Whether an execution is a consistent one with its outcome, on plain sets of pairs."""
    read = dict(outcome.reads)
    least = min(read.values(), default=0)
    every = {it.index: read.get(it.index, least) for it in program.operations if it.reads}
    made = run(program, model, every)
    assert made is not None and len(made.read) == len(read)
    assert len(found["rf"]) == len(made.read)
    assert all(len(found["rf"] & set(own)) == 1 for own in made.sources)
    assert found["mo"] in made.orders
    return any(
        ended is not None
        for last in product(*made.writers.values())
        if made.memory(last) == outcome.memory
        for ended in made.ends(model, found["rf"], found["mo"], last)
    )


def compare(
    program: Program, model: MemoryModel, outcomes: set[Outcome], questions: Questions
) -> int:
    """Hold brute force to the solver over some outcomes; how many of them are allowed."""
    allowed = 0
    for outcome in sorted(outcomes):
        found = consistent_execution(program, model, outcome, Limits())
        assert (found is not None) == questions.allows(outcome), (program.source.text, outcome)
        if found is not None:
            allowed += 1
            assert stands(program, model, outcome, found)
    return allowed


@pytest.mark.parametrize("folder", sorted({path.parent for path in TESTS}), ids=lambda it: it.name)
def test_corpus(folder: Path) -> None:
    """Every allowed outcome of every test, and some of their neighbours, under the shipped models."""
    for place, path in enumerate(sorted(folder.glob("*.litmus"))):
        program = read_program_file(path)
        others = sorted(MODELS.keys() - {DEFAULT_MODEL})
        name = others[place // 2 % len(others)] if place % 2 else DEFAULT_MODEL
        questions = Questions(program, MODELS[name], Limits())
        allowed = set(questions.outcomes())
        assert allowed
        near = neighbours(allowed, random.Random(path.stem), 6)
        assert compare(program, MODELS[name], allowed | near, questions) >= len(allowed)


@pytest.mark.parametrize("name", UNSOUND)
def test_what_original_does_wrong_is_refuted(name: str) -> None:
    """Each outcome that the machine reaches under Original: the forbidden ones, and only they."""
    program = read_program_file(ROOT / "litmus/rsp" / name)
    model = MODELS[DEFAULT_MODEL]
    questions = Questions(program, model, Limits())
    how = Settings(engine=Engine.EXPLICIT)
    target = MachineSide(machine_of(ORIGINAL.compiled(program), how), how, Limits())
    found = set(target.outcomes())
    assert compare(program, model, found, questions) < len(found)


@pytest.mark.parametrize("block", range(4))
def test_random_programs_as_the_oracle_says(block: int) -> None:
    """Three threads or four, in several devices, under the default model; no solver involved."""
    model = MODELS[DEFAULT_MODEL]
    shape = Size(threads=4, operations=3, total=5)
    allowed = refused = 0
    for seed in range(10 * block, 10 * block + 10):
        rng = random.Random(seed)
        program = random_program(rng, shape, compilable=bool(seed % 2))
        expected, _, _ = model_outcomes(program)
        for outcome in sorted(expected | neighbours(set(expected), rng, 12)):
            found = consistent_execution(program, model, outcome, Limits())
            assert (found is not None) == (outcome in expected), program.source.text
            if found is None:
                refused += 1
            else:
                allowed += 1
                assert stands(program, model, outcome, found)
    assert allowed > 12
    assert refused > 12


@pytest.mark.parametrize("name", sorted(MODELS))
def test_random_programs_as_the_solver_says(name: str) -> None:
    for seed in range(1000, 1010):
        rng = random.Random(seed)
        program = random_program(rng, Size(threads=3, operations=3, total=5))
        try:
            questions = Questions(program, MODELS[name], Limits())
        except LimitReached:
            continue
        some = set(islice(questions.outcomes(), 12))
        compare(program, MODELS[name], some | neighbours(some, rng, 12), questions)


# ---- all executions at once, with their outcomes -------------------------------------------------


def ended(program: Program, model: MemoryModel) -> int:
    """Hold all endings of a program to the solver's: which there are, and how often; how many."""
    questions = Questions(program, model, Limits())
    found = Counter(questions.searched_endings())
    assert found == Counter(questions.endings()), (model.name, program.source.text)
    return found.total()


OF_PROCESSORS = {
    "x86": "x86-tso",
    "arm": "armv7",
    **{it: it for it in ("aarch64", "power", "ptx", "riscv", "vulkan")},
}
"""The model that judges the tests of a folder."""


@pytest.mark.parametrize("suite", ["rsp", "all-orders", "devices", "models", "barrier"])
def test_all_endings_of_the_suites(suite: str) -> None:
    """Of every fourth test. The solver has no answer for minutes where three threads spin."""
    names = [*sorted(MODELS), "rc11"]
    total = 0
    paths = sorted((ROOT / "litmus" / suite).rglob("*.litmus"))
    for place, path in list(enumerate(paths))[::4]:
        if "xf-" not in path.name and "lock-3" not in path.name:  # the first have thousands
            own = OF_PROCESSORS.get(path.parent.name)
            model = load_model(own or names[place % len(names)])
            program = read_program(read_source(path), assembly=own is not None)
            with suppress(WrongTool):
                total += ended(awaited(program, model), model)
    assert total > 40


@pytest.mark.parametrize("name", [*sorted(MODELS), "rc11"])
def test_all_endings_of_random_programs(name: str) -> None:
    for seed in range(2000, 2010):
        size = Size(threads=3 + seed % 2, operations=3, total=5 + seed % 2)
        ended(random_program(random.Random(seed), size), load_model(name))


ALIKE = (
    "int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_{s});",
    "int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_{s}); *y = 1;",
    "atomic_store_explicit(x, 2, memory_order_release, memory_scope_{s});",
    "int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_{s}); "
    "if (r0 == 1) {{ int r1 = atomic_fetch_add_explicit(x, 2, memory_order_relaxed); }}",
    "int r0 = 1; atomic_compare_exchange_strong_explicit(x, &r0, 3, memory_order_acq_rel, "
    "memory_order_relaxed, memory_scope_{s});",
)


def alike(rng: random.Random) -> Program:
    """Four threads of two sorts, in two work-groups that may be the same."""
    sorts = [rng.choice(ALIKE).format(s=rng.choice(("work_group", "device"))) for _ in range(2)]
    places = rng.choice(([0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 0, 0], [0, 1, 2, 3]))
    chosen = rng.choice(([0, 1, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 1, 1]))
    text = ["OpenCL alike", "{ [x]=0; [y]=0; }"]
    for number, (sort, place) in enumerate(zip(chosen, places, strict=True)):
        parameters = "(global atomic_int* x, global int* y)"
        text.append(f"P{number}@wg {place}, dev 0 {parameters} {{ {sorts[sort]} }}")
    return read_program(Source("alike.litmus", "\n".join(text)))


@pytest.mark.parametrize("name", [DEFAULT_MODEL, "rc11"])
def test_all_endings_of_threads_that_are_alike(name: str) -> None:
    for seed in range(25):
        ended(alike(random.Random(seed)), load_model(name))


def test_the_search_says_where_it_is_the_wrong_tool() -> None:
    """Where values cause themselves, and under a model of which an execution is more."""
    copies = read_program(Source("copies.litmus", COPIES))
    with pytest.raises(WrongTool, match=r"^values of the program may cause themselves$"):
        ended(copies, MODELS[DEFAULT_MODEL])
    with pytest.raises(WrongTool, match=r"^an execution of c11-orig is more than rf and an order"):
        ended(increments(2), load_model("c11-orig"))


# ---- random models: prefixes of mo are pruned by axioms that rise with it, and by no others ------

CROSSING = """OPENCL crossing
{ [x]=0; [y]=0; }
P0@wg 0, dev 0 (global atomic_int* x, global int* y) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
  *y = 1;
  int r0 = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_work_group);
}
P1@wg 1, dev 0 (global atomic_int* x, global int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
  int r1 = atomic_load_explicit_remote(x, memory_order_acquire, memory_scope_device);
  if (r1 == 2) { *y = 2; }
}
"""
RANDOM = read_program(Source("crossing.litmus", CROSSING))
TRIVIAL = MemoryModel(
    "trivial",
    (Let((("hb", Name("po", Sort.RELATION)),)),),
    (),
    (),
    frozenset({"po"}),
)
NAMES = ("rf", "mo", "sb", "thd", "loc")
SET_NAMES = ("W", "R", "A")
EVERYTHING = sorted(Questions(RANDOM, TRIVIAL, Limits()).outcomes())


@st.composite
def models(draw: st.DrawFn) -> MemoryModel:
    """hb is any relation, and so are what two axioms say; e and f are bound at once."""
    expression = relation_expressions(SET_NAMES, NAMES, 2)
    later = relation_expressions(SET_NAMES, (*NAMES, "hb", "e", "f"), 2)
    both = (("e", draw(expression)), ("f", draw(later_than(expression))))
    axioms = tuple(
        Axiom(name, draw(st.sampled_from(list(Question))), draw(later)) for name in ("One", "Two")
    )
    statements = (Let((("hb", draw(expression)),)), Let((("e", draw(expression)),)),
                  Let((("f", draw(expression)),)), Let(both), *axioms)  # fmt: skip
    return MemoryModel("random", statements, axioms, (), frozenset((*NAMES, *SET_NAMES)))


def later_than(expression: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    """An expression, or the old value of e, which its sibling binds anew."""
    return expression | st.just(Name("e", Sort.RELATION))


@settings(max_examples=20)
@given(models())
def test_random_models(model: MemoryModel) -> None:
    questions = Questions(RANDOM, model, Limits())
    compare(RANDOM, model, set(EVERYTHING), questions)
    with suppress(WrongTool):
        ended(RANDOM, model)


# ---- single cases --------------------------------------------------------------------------------

COPIES = """OPENCL copies
{ [x]=0; [y]=0; [z]=42; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(y, r0, memory_order_relaxed, memory_scope_device);
}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y, global int* z) {
  int r1 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, r1, memory_order_relaxed, memory_scope_device);
}
"""


def test_a_value_out_of_thin_air_is_a_candidate_like_any_other() -> None:
    """Two relaxed copies hand each other 42, which each reads from the other's later write."""
    program = read_program(Source("copies.litmus", COPIES))
    outcome = Outcome(((0, 42), (2, 42)), (("x", 42), ("y", 42), ("z", 42)))
    found = consistent_execution(program, MODELS[DEFAULT_MODEL], outcome, Limits())
    assert found is not None
    assert found["rf"] == {(6, 3), (4, 5)}
    assert stands(program, MODELS[DEFAULT_MODEL], outcome, found)
    half = Outcome(((0, 42), (2, 0)), (("x", 0), ("y", 42), ("z", 42)))
    assert consistent_execution(program, MODELS[DEFAULT_MODEL], half, Limits()) is None


def test_a_guarded_read_must_be_there_just_if_it_is_executed() -> None:
    program = read_program_file(ROOT / "litmus/rsp/paper/Fig4.litmus")
    memory = (("x", 42), ("y", 1))
    model = MODELS[DEFAULT_MODEL]
    for reads, expected in [
        (((2, 1), (3, 42)), True),
        (((2, 0),), True),
        (((2, 1),), False),
        (((2, 0), (3, 42)), False),
        (((2, 1), (3, 0)), False),
    ]:
        found = consistent_execution(program, model, Outcome(reads, memory), Limits())
        assert (found is not None) is expected, reads


EITHER = """OPENCL either
{ [x]=0; [y]=0; [z]=0; }
P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y, global atomic_int* z) {
  int r1 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device);
  int r2 = 0;
  if (r1 == 0) { r2 = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device); }
  else { r2 = atomic_load_explicit(z, memory_order_relaxed, memory_scope_device); }
  if (r2 != 0) { int r3 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device); }
}
P1@wg 1, dev 0 (global atomic_int* x, global atomic_int* y, global atomic_int* z) {
  atomic_store_explicit(y, 1, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(z, 2, memory_order_relaxed, memory_scope_device);
  atomic_store_explicit(x, 3, memory_order_relaxed, memory_scope_device);
}
"""


def test_a_guard_is_asked_where_it_has_reads_that_are_not_executed() -> None:
    """Of r2 one of two reads is executed, and the last read where that one is not 0."""
    assert ended(read_program(Source("either.litmus", EITHER)), MODELS[DEFAULT_MODEL]) == 5


def increments(threads: int, each: int = 1) -> Program:
    step = "r = atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device);"
    code = "int " + " ".join([step] * each)
    bodies = "\n".join(f"P{i} (global atomic_int* x) {{ {code} }}" for i in range(threads))
    groups = " ".join(f"(work_group P{i})" for i in range(threads))
    return read_program(
        Source("t", f"OpenCL t\n{{ [x]=0; }}\n{bodies}\nscopeTree (device {groups})\n")
    )


def test_orders_that_break_an_axiom_early_are_not_completed() -> None:
    """Ten increments have 10! orders, of which the axiom on read-modify-writes leaves one."""
    program, model = increments(10), MODELS[DEFAULT_MODEL]
    reads = tuple((i, (7 * i) % 10) for i in range(10))
    right = Outcome(reads, (("x", 10),))
    assert consistent_execution(program, model, right, Limits(), most=100) is not None
    assert consistent_execution(program, model, Outcome(reads, (("x", 9),)), Limits(), 100) is None


def test_an_axiom_ends_a_branch_by_what_of_it_can_only_grow() -> None:
    """Happens-before may shrink as mo grows, by release sequences, but never program order.

    Two threads with seven increments each have more outcomes than there may be; without this the
    search gives up at its second one.
    """
    program, model = increments(2, each=7), MODELS[DEFAULT_MODEL]
    values = {it.index: range(40) for it in program.operations}
    limits = Limits(outcomes=2_000)
    with pytest.raises(LimitReached, match=r"^more than 2,000 outcomes$"):
        for number, _ in enumerate(ConsistentExecutions(program, model).endings(values, limits)):
            limits.require_outcomes(number)


STORES = """OPENCL stores
{{ [x]=0; }}
{writers}
P6 (global atomic_int* x) {{
  int r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  int r1 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
  int r2 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device);
}}
scopeTree (device {groups})
"""


def test_limits() -> None:
    """1, 2, 1 cannot be read in turn, and more than 40 parts of executions say so."""
    writers = "\n".join(
        f"P{i} (global atomic_int* x) {{ atomic_store_explicit(x, {i + 1}, "
        "memory_order_release, memory_scope_device); }"
        for i in range(6)
    )
    groups = " ".join(f"(work_group P{i})" for i in range(7))
    program = read_program(Source("t", STORES.format(writers=writers, groups=groups)))
    outcome, model = Outcome(((6, 1), (7, 2), (8, 1)), (("x", 6),)), MODELS[DEFAULT_MODEL]
    assert consistent_execution(program, model, outcome, Limits()) is None
    with pytest.raises(LimitReached, match=r"^more than 40 candidate executions with one outcome$"):
        consistent_execution(program, model, outcome, Limits(), most=40)
    with pytest.raises(LimitReached, match="timeout"):
        consistent_execution(program, model, outcome, Limits(seconds=1e-6))


def test_a_recursive_definition() -> None:
    """Happens-before as a least fixpoint: the answers of the model with a closure."""
    text = """
let sw = ([W & REL]; rf; [R & ACQ]) \\ thd
let rec hb = sb | sw | ({step})
irreflexive hb as Hb
irreflexive rf^-1?; mo; rf?; hb as Coh
irreflexive rf; hb as Rf
irreflexive rf | (mo; mo; rf^-1) | (mo; rf) as Rmw
empty (rf; [nal]) \\ ((W * R) & loc & hb) as Narf
"""
    model = read_model(Source("rec.cat", text.format(step="hb; hb")), "rec.cat")
    plain = read_model(Source("not.cat", text.format(step="0")), "not.cat")
    differ = 0
    for path in TESTS[::4]:
        program = read_program_file(path)
        questions = Questions(program, model, Limits())
        outcomes = {*questions.outcomes(), *Questions(program, plain, Limits()).outcomes()}
        near = neighbours(outcomes, random.Random(path.stem), 4)
        for outcome in sorted(outcomes | near):
            found = consistent_execution(program, model, outcome, Limits())
            assert (found is not None) == questions.allows(outcome), (path, outcome)
            differ += found is None and outcome in outcomes
    assert differ > 2
