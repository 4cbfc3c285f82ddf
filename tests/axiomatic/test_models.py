"""The models that are shipped: they load, mean what the paper says, and differ where they must."""

from pathlib import Path

import pytest
from oracle_adapter import model_outcomes
from programs import consistent_executions

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import SHIPPED, shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program, Thread
from rspverify.litmus.reader import read_program, read_program_file
from rspverify.records import replace
from rspverify.soundness.settings import DEFAULT_MODEL
from rspverify.source import Source
from rspverify.verdict import Outcome

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parents[1] / "litmus/rsp"
TESTS = sorted(CORPUS.glob("*/*.litmus"))

OURS = load_model(DEFAULT_MODEL)
TO_THE_LETTER = load_model("opencl-rsp-fig2")
HRF = load_model("opencl-hrf")
FIG2 = {
    "irreflexive hb as Hb",
    "irreflexive rf^-1?; mo; rf?; hb as Coh",
    "irreflexive rf; hb as Rf",
    "empty (rf; [nal]) \\ vis as Narf",
    "irreflexive rf | mo; mo; rf^-1 | mo; rf as Rmw",
}
REPAIRED = {"irreflexive hb; eco? as Coh", "empty rmw & (rb; co) as Rmw", "acyclic psc as Sc"}
FOOTNOTE = load_model(str(HERE / "models" / "footnote3.cat"))


def named(name: str) -> Program:
    """A test of the corpus, by the name of its file."""
    (path,) = CORPUS.glob(f"*/{name}.litmus")
    return read_program_file(path)


def ask(program: Program, model: MemoryModel) -> Questions:
    return Questions(program, model, Limits())


def racy(program: Program, model: MemoryModel) -> bool:
    return ask(program, model).race() is not None


def answer(program: Program, model: MemoryModel) -> tuple[frozenset[Outcome], bool, int]:
    """Outcomes, whether a consistent execution races, and how many consistent executions."""
    questions = ask(program, model)
    executions = list(consistent_executions(questions))
    outcomes = list(questions.outcomes())
    assert len(outcomes) == len(set(outcomes))
    assert {each.outcome for each in executions} <= set(outcomes)
    edges = [(tuple(each.outcome.reads), *each.relations.values()) for each in executions]
    assert len(edges) == len(set(edges))
    return frozenset(outcomes), questions.race() is not None, len(executions)


# ---- every shipped model -------------------------------------------------------------------------


OF_PROCESSORS = ("aarch64", "aarch64-2021", "armv7", "power", "ptx", "ptx-6.0")
OF_PROCESSORS += ("riscv", "riscv-zalasr", "riscv-ztso", "vulkan", "x86-tso")
"""The models of assembly."""


def test_shipped_models() -> None:
    assert shipped_models() == (
        "aarch64",
        "aarch64-2021",
        "armv7",
        "c11-orig",
        "c11-partial-sc",
        "c11-simp",
        "opencl",
        "opencl-hrf",
        "opencl-rsp",
        "opencl-rsp-fig2",
        "opencl-scoped-sc",
        "power",
        "ptx",
        "ptx-6.0",
        "rc11",
        "rc11-scoped",
        "riscv",
        "riscv-zalasr",
        "riscv-ztso",
        "vulkan",
        "x86-tso",
    )
    assert DEFAULT_MODEL in shipped_models()


@pytest.mark.parametrize("name", shipped_models())
def test_a_shipped_model_loads_by_name_and_by_path(name: str) -> None:
    model = load_model(name)
    assert model.name == name
    assert len({each.name for each in model.axioms}) == len(model.axioms)
    if name not in OF_PROCESSORS:
        axioms = {str(each) for each in model.axioms}
        assert axioms >= (REPAIRED if name.startswith("rc11") else FIG2)
        assert "empty dr as Dr" in {str(each) for each in model.conditions}
    assert load_model(str(SHIPPED / f"{name}.cat")) == model


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.cat")), ids=lambda path: path.stem)
def test_a_file_of_models_is_shipped_or_included_by_one(path: Path) -> None:
    included = any(f'"{path.name}"' in other.read_text() for other in SHIPPED.glob("*.cat"))
    assert (path.stem in shipped_models()) != included


def test_orders_and_remote_flags_matter_to_whom_they_should() -> None:
    assert {"REL", "ACQ", "rem"} <= OURS.names
    assert not {"REL", "ACQ"} & TO_THE_LETTER.names
    assert "rem" not in HRF.names
    assert [("SC" in model.names) for model in (OURS, TO_THE_LETTER, HRF)] == [True, False, True]


# ---- the corpus, against brute force -------------------------------------------------------------


def test_the_corpus_is_large() -> None:
    assert len(TESTS) >= 150


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_corpus_against_brute_force(path: Path) -> None:
    program = read_program_file(path)
    assert answer(program, OURS) == model_outcomes(program)


# ---- release sequences ---------------------------------------------------------------------------

PUBLISH = """OPENCL rs
{{ [x]=0; [y]=0; }}
P0@wg 0, dev 0 (global int* x, global atomic_int* y) {{
  *x = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
  {again}
}}
P1@wg 1, dev 0 (global atomic_int* y) {{ {between} }}
P2@wg 2, dev 0 (global int* x, global atomic_int* y) {{
  int r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  if (r0 >= 3) {{ int r1 = *x; }}
}}
"""
AGAIN = "atomic_store_explicit(y, 3, memory_order_relaxed, memory_scope_device);"
STORE = "atomic_store_explicit(y, {}, memory_order_relaxed, memory_scope_device);"
ADD = "int r = atomic_fetch_add_explicit(y, {}, memory_order_relaxed, memory_scope_device);"


@pytest.mark.parametrize(
    ("again", "between", "expected"),
    [
        (AGAIN, "", False),  # of its own thread
        (AGAIN, STORE.format(2), True),  # which a store of another thread may interrupt
        ("", ADD.format(2), False),  # a read-modify-write goes on with it
        ("", STORE.format(3), True),  # a store of another thread does not
        (AGAIN, ADD.format(-1), False),
        (AGAIN, STORE.format(1) + ADD.format(5), True),
    ],
)
def test_release_sequences(again: str, between: str, expected: bool) -> None:
    """Fig. 2, rs: what reads from it synchronises with its head."""
    text = PUBLISH.format(again=again, between=between)
    program = read_program(Source("rs.litmus", text))
    assert racy(program, OURS) == expected
    assert answer(program, OURS) == model_outcomes(program)


# ---- Fig. 2 to the letter ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("Fig2+st.na+ld.DV.R", {"W[na](t, 1)", "R[DV,R](t"}),
        ("Fig2+st.na+inc.DV.R", {"W[na](t, 5)", "RMW[DV,R](t"}),
        ("WS+pop.na+steal.DV.R", {"W[na](t, 0)", "R[DV,R](t"}),  # §4.3
    ],
)
def test_to_the_letter_a_remote_atomic_hides_a_race(name: str, texts: set[str]) -> None:
    race = ask(named(name), OURS).race()
    assert race is not None
    shown = [race.first.access, race.second.access]
    assert all(any(each.startswith(text) for each in shown) for text in texts)
    assert race.first.thread != race.second.thread
    assert not racy(named(name), TO_THE_LETTER)


def test_to_the_letter_orders_do_not_matter() -> None:
    text = named("MP+st.na-st.DV+ld.DV-ld.na").source.text
    relaxed = text.replace("memory_order_release", "memory_order_relaxed").replace(
        "memory_order_acquire", "memory_order_relaxed"
    )
    assert relaxed != text
    program = read_program(Source("mp.litmus", relaxed))
    assert racy(program, OURS)
    assert not racy(program, TO_THE_LETTER)
    assert racy(program, TO_THE_LETTER) == racy(read_program(Source("mp", text)), OURS)


def test_to_the_letter_nothing_else_changes() -> None:
    """Where everything that is atomic is accessed so, and orders synchronise, both agree."""
    compared = 0
    for path in TESTS[::2]:
        program = read_program_file(path)
        atomic = {location.name for location in program.locations if location.atomic}
        mixed = any((it.location in atomic) != it.atomic for it in program.operations)
        weak = any(
            it.order is not None and it.order.value == "relaxed" for it in program.operations
        )
        if not mixed and not weak:
            assert answer(program, OURS) == answer(program, TO_THE_LETTER), path.stem
            compared += 1
    assert compared >= 75


# ---- footnote 3 ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "Foot3+st.WG.R+ld.WG.R",
        "Foot3+st.WG.R+ld.WG.R@0--1",
        "Foot3+st.na-st.WG.R+ld.WG.R-ld.na@0--1",
    ],
)
def test_two_remote_operations_of_work_group_scope_do_not_reach_each_other(name: str) -> None:
    program = named(name)
    assert racy(program, OURS)
    assert not racy(program, FOOTNOTE)


def test_footnote_3_would_synchronise_across_devices() -> None:
    program = named("Foot3+st.na-st.WG.R+ld.WG.R-ld.na@0--1")
    assert program.devices == 2
    stale = Outcome(((2, 1), (3, 0)), (("x", 1), ("y", 1)))
    assert ask(program, OURS).allows(stale)
    assert not ask(program, FOOTNOTE).allows(stale)
    assert ask(program, FOOTNOTE).forbidding_axioms(stale) == ("Narf",)


def test_footnote_3_as_it_stands_loses_example_4() -> None:
    """`[rem]; unv` reaches out of the remote store; nothing reaches back to it."""
    example = named("Ex4")
    assert not racy(example, OURS)
    assert racy(example, FOOTNOTE)


# ---- without remote-scope promotion --------------------------------------------------------------


def without_remote(program: Program) -> Program:
    """The same program, its remote flags gone."""

    def plain(thread: Thread) -> Thread:
        return replace(
            thread, operations=tuple(replace(it, remote=False) for it in thread.operations)
        )

    return replace(program, threads=tuple(plain(each) for each in program.threads))


REMOTE_TESTS = [path for path in TESTS if "_remote(" in path.read_text()]


@pytest.mark.parametrize("path", REMOTE_TESTS, ids=lambda path: path.stem)
def test_hrf_does_not_look_at_remote_flags(path: Path) -> None:
    """And promotion changes nothing in a program without remote operations (§3, conservative)."""
    program = read_program_file(path)
    plain = without_remote(program)
    assert plain != program
    expected = answer(program, HRF)
    assert answer(plain, HRF) == expected
    assert answer(plain, OURS) == expected


def test_promotion_matters() -> None:
    """Example 4: Example 3 with a remote store."""
    assert racy(named("Ex3"), OURS) and racy(named("Ex3"), HRF)
    assert not racy(named("Ex4"), OURS)
    assert racy(named("Ex4"), HRF)
