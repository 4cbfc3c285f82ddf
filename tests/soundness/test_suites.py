"""Suites that ship under their schemes: each test has an expected verdict, every engine gives it, and
what is taken out of a row or out of a machine is missed. `make check-all` holds verdicts to these."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest
from checks import MODEL, ROOT, data, judged, litmus, scheme_named

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import SHIPPED
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.assembly.program import AssemblyProgram
from rspverify.corpus.expected import Words, read_expected
from rspverify.limits import Limits
from rspverify.litmus.program import Kind, Order
from rspverify.litmus.reader import read_program
from rspverify.machine.firings import enough_steps
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import machine_of
from rspverify.soundness.machine_side import MachineSide
from rspverify.soundness.outcomes import observed_by
from rspverify.soundness.outcomes import outcomes as outcomes_of
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Reading, Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import InputError, Source
from rspverify.verdict import Outcome, ProgressWord, Word


def expected_of(suite: str) -> Words:
    """By test and scheme."""
    return read_expected(str(ROOT / "litmus" / suite / "expected.yaml")).verdicts


def names_in(suite: str) -> list[str]:
    folder = ROOT / "litmus" / suite
    return sorted(it.relative_to(folder).as_posix() for it in folder.rglob("*.litmus"))


@cache
def side(test: str) -> ModelSide:
    """What the model says of a test below the folder litmus."""
    return ModelSide(litmus(test), MODEL)


def is_short(compiled: AssemblyProgram, steps: int) -> bool:
    return enough_steps(machine_of(compiled, Settings())).total <= steps


def outcomes(compiled: AssemblyProgram, engine: Engine) -> set[Outcome]:
    settings = Settings(engine)
    return set(MachineSide(machine_of(compiled, settings), settings, Limits()).outcomes())


# ---- litmus/rsp: Tab. 3 ---------------------------------------------------------------------------

TESTS = names_in("rsp")
SOME = TESTS[::8]
FEW, STEPS = 8, 20
"""Up to so many outcomes and steps executions are unrolled: of more it takes many times as long."""
SCHEMES = [scheme_named(name) for name in ("original", "proposed")]
EXPECTED = expected_of("rsp")


def test_the_corpus_is_large_enough() -> None:
    assert len(TESTS) >= 60


def test_expected_verdicts_are_for_these_tests_and_schemes() -> None:
    """A test without an expected verdict, or a verdict without its test, fails here."""
    assert set(EXPECTED) == {*TESTS}
    assert all(set(row) == {scheme.name for scheme in SCHEMES} for row in EXPECTED.values())


def test_the_paper_s_result() -> None:
    """Original breaks, Proposed does not."""
    assert all(row["proposed"] != "UNSOUND" for row in EXPECTED.values())
    for name in ("paper/Fig4", "paper/Ex4", "MP/MP+st.na-st.DV+inc.DV-ld.na"):
        assert EXPECTED[f"{name}.litmus"] == {"original": "UNSOUND", "proposed": "SOUND"}


@pytest.mark.parametrize("name", TESTS)
def test_written_for_readers(name: str) -> None:
    """The title is the file's name, and a comment says what the test shows."""
    path = ROOT / "litmus/rsp" / name
    text = path.read_text()
    assert text.splitlines()[0].split()[1] == path.stem
    comment = re.search(r"\(\*\s(.+?)\*\)", text, re.DOTALL)
    assert comment is not None
    assert len(comment[1].split()) >= 5


@pytest.mark.parametrize("name", SOME)
def test_every_engine_gives_the_expected_verdict(name: str) -> None:
    """Of the others `make check` says it, and the outcomes from which verdicts follow are compared."""
    program = litmus(f"rsp/{name}")
    for scheme in SCHEMES:
        expected = Word(EXPECTED[name][scheme.name])
        short = expected is Word.UNSUPPORTED or is_short(scheme.compiled(program), STEPS)
        engines = {*Engine} if short else {*Engine} - {Engine.UNROLL}
        assert {judged(program, scheme, engine=it).word for it in engines} == {expected}


@pytest.mark.parametrize("name", TESTS)
def test_every_engine_finds_the_same_outcomes(name: str) -> None:
    """One scheme on a machine where stores wait, the other where they don't, in turn. What events
    finds with real L2s is in tests/machine/test_events_claims.py."""
    program = litmus(f"rsp/{name}")
    for number, scheme in enumerate(SCHEMES, TESTS.index(name)):
        if EXPECTED[name][scheme.name] == "UNSUPPORTED":
            continue
        machine = ("rsp", "rsp-st-waits")[number % 2]
        compiled = scheme.on_machine(MACHINES[machine]).compiled(program)
        expected = outcomes(compiled, Engine.EVENTS)
        ways = [Engine.EXPLICIT]
        if len(expected) <= FEW and is_short(compiled, STEPS):
            ways.append(Engine.UNROLL)
        assert expected
        assert all(outcomes(compiled, each) == expected for each in ways)


# ---- litmus/all-orders: proposed-full --------------------------------------------------------------

ALL_ORDERS = names_in("all-orders")
FULL = scheme_named("proposed-full")


@pytest.mark.parametrize("suite", ["all-orders", "devices"])
def test_every_verdict_is_exact_and_none_is_unsound(suite: str) -> None:
    """It would say within which bounds it holds."""
    expected = expected_of(suite)
    assert {*expected} == {*names_in(suite)}
    assert {word for row in expected.values() for word in row.values()} <= {
        *("SOUND", "RACY", "UNSUPPORTED")
    }


SPIN = """\
OpenCL Spin
{ [d]=0; [y]=0; }
P0 (global int* d, global atomic_int* y) {
  *d = 1;
  atomic_store_explicit(y, 1, memory_order_release, memory_scope_device);
}
P1 (global int* d, global atomic_int* y) {
  int r0 = 0, n = 0;
  while (r0 == 0) {
    n++;
    r0 = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
  }
  int r1 = *d;
}
scopeTree (device (work_group P0) (work_group P1))
exists (1:r1=0)
"""


@pytest.mark.parametrize("engine", [Engine.EVENTS, Engine.EXPLICIT])
def test_a_verdict_on_a_loop_says_how_far_it_was_unrolled(engine: Engine) -> None:
    spin = read_program(Source("Spin.litmus", SPIN))
    verdict = judged(spin, FULL, engine=engine)
    assert (verdict.word, verdict.within) == (Word.SOUND, {"iterations": 8})
    assert verdict.reason.startswith("within 8 iterations, ")
    found = progress(spin, FULL, Settings())
    assert found.word is ProgressWord.UNKNOWN
    assert found.reason.startswith("no deadlock within 8 iterations")


def test_a_loop_does_not_hide_a_wrong_outcome() -> None:
    verdict = judged(read_program(Source("Spin.litmus", SPIN)), without("load DV,N (acquire)", 1))
    assert (verdict.word, verdict.within) == (Word.UNSOUND, {"iterations": 8})
    assert verdict.outcome is not None
    assert verdict.outcome.reads[-1][1] == 0


def test_a_deadlock_where_no_loop_goes_on_is_one() -> None:
    """A remote store that keeps the rmw locks, before another one: P1 has left its loop."""
    remote = "atomic_store_explicit_remote(y, 2, memory_order_release, memory_scope_device)"
    text = SPIN.replace("int r1 = *d", remote).replace("*d = 1", remote)
    text = text.replace("[y]=0", "[y]=1").replace("1:r1=0", "y=0")
    keeping = without("store DV,R (release)", 6)
    found = progress(read_program(Source("Spin.litmus", text)), keeping, Settings())
    assert found.word is ProgressWord.STUCK


@pytest.mark.parametrize("name", ALL_ORDERS)
def test_the_engines_reach_the_same_outcomes(name: str) -> None:
    """By search too, where the threads are few, and by unrolling where the steps are."""
    compiled = FULL.compiled(litmus(f"all-orders/{name}"))
    found = outcomes(compiled, Engine.EVENTS)
    if len(compiled.threads) < 3:
        assert outcomes(compiled, Engine.EXPLICIT) == found
        if is_short(compiled, 21):
            assert outcomes(compiled, Engine.UNROLL) == found


def test_the_tests_have_every_kind_of_operation() -> None:
    every = [it for name in ALL_ORDERS for it in litmus(f"all-orders/{name}").operations]
    found = {(each.kind, each.order) for each in every if each.order}
    assert {order for kind, order in found if kind is Kind.LOAD} == {
        Order.RELAXED,
        Order.ACQUIRE,
        Order.SEQ_CST,
    }
    assert {order for kind, order in found if kind is Kind.FENCE} == {
        Order.ACQUIRE,
        Order.RELEASE,
        Order.ACQ_REL,
        Order.SEQ_CST,
    }
    assert any(each.success is not None for each in every)


def without(row: str, instruction: int) -> Scheme:
    """The scheme, but for one instruction of a row, which is named as `show` names it."""
    (lacking,) = [each for each in FULL.rows if str(each).startswith(row)]
    code = lacking.code[:instruction] + lacking.code[instruction + 1 :]
    rows = (replace(each, code=code) if each is lacking else each for each in FULL.rows)
    return replace(FULL, rows=tuple(rows))


@pytest.mark.parametrize("case", data("soundness/needed_in_proposed_full.yaml"))
def test_each_of_these_instructions_is_needed(case: Any) -> None:
    (name,) = [each for each in ALL_ORDERS if each.startswith(case["test"])]
    scheme, source = without(case["row"], case["place"]), side(f"all-orders/{name}")
    assert scheme.rows_used(source.program) != ()
    assert judged(source.program, scheme, Settings(), source=source).word is Word.UNSOUND


# ---- litmus/devices: schemes for several devices, and some that cannot be mended -------------------

OF_DEVICES = {
    name: scheme_named(name)
    for name in (
        "proposed-multi-device",
        "proposed-multi-device-inv-l2",
        "proposed-multi-device-inv-l2-rmw",
        "proposed-coherent-l2",
    )
}
DEVICES = expected_of("devices")
SMALL = [
    "MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus",
    "RMW/RMW+inc.ALL+inc.ALL@0--1.litmus",
    "RMW/RMW+st.WG+inc.ALL.R@0--1.litmus",
    "within/S+st.na-inc.DV+ld.DV-st.na.litmus",
]


def test_nothing_is_unsound_and_only_remote_increments_are_refused() -> None:
    for name, row in DEVICES.items():
        assert set(row.values()) <= {"SOUND", "RACY", "UNSUPPORTED"}
        refused = {scheme for scheme, word in row.items() if word == "UNSUPPORTED"}
        assert refused == ({"proposed-multi-device-inv-l2"} if "inc.ALL.R" in name else set())


@pytest.mark.parametrize("name", SMALL)
def test_explicit_gives_the_same_verdict(name: str) -> None:
    source = side(f"devices/{name}")
    for scheme in ("proposed-multi-device", "proposed-multi-device-inv-l2-rmw"):
        settings = Settings(engine=Engine.EXPLICIT)
        assert (
            judged(source.program, OF_DEVICES[scheme], settings, source=source).word is Word.SOUND
        )


@pytest.mark.parametrize("name", SMALL)
def test_no_program_gets_stuck(name: str) -> None:
    for scheme in OF_DEVICES.values():
        if DEVICES[name][scheme.name] == "SOUND":
            assert (
                progress(side(f"devices/{name}").program, scheme, Settings()).word
                is ProgressWord.LIVE
            )


@pytest.mark.parametrize("name", SMALL)
def test_values_that_are_stored_again_are_one_write_to_the_model(name: str) -> None:
    """Their own rf and mo are consistent, so that no outcome had to be asked about."""
    settings = Settings(reading=Reading.WITNESS)
    scheme = OF_DEVICES["proposed-multi-device"]
    assert (
        judged(
            side(f"devices/{name}").program, scheme, settings, source=side(f"devices/{name}")
        ).word
        is Word.SOUND
    )


@pytest.mark.parametrize(
    "file, name, axiom",
    [
        ("single-store", "MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus", "Narf"),
        ("remote-rmw", "RMW/RMW+st.WG+inc.ALL.R@0--1.litmus", "Rmw"),
    ],
)
def test_rows_that_no_code_can_mend_are_unsound(file: str, name: str, axiom: str) -> None:
    """docs/findings.md tells why, and what `repair` says of them."""
    scheme = scheme_named(f"tests/scheme/devices/{file}.yaml")
    settings = Settings(shortest=False)
    verdict = judged(
        side(f"devices/{name}").program, scheme, settings, source=side(f"devices/{name}")
    )
    assert verdict.word is Word.UNSOUND
    assert axiom in verdict.axioms


def test_a_scheme_is_for_no_machine_that_lacks_its_instructions() -> None:
    scheme = OF_DEVICES["proposed-multi-device-inv-l2"]
    with pytest.raises(InputError, match=r"machine rsp must have INV_L2, and has not") as caught:
        scheme.on_machine(MACHINES["rsp"])
    assert len(caught.value.problems) == 1  # Where it first stands, of five.
    assert (
        OF_DEVICES["proposed-multi-device"].on_machine(MACHINES["rsp-inv-l2"]).machine.name
        == "rsp-inv-l2"
    )


# ---- QuickRelease on litmus/rsp; what each part of its machine is for -------------------------------

QUICK = scheme_named("quickrelease")
QUICK_MACHINE = SHIPPED / "quickrelease.machine"
QUICK_TESTS = [name for name in TESTS if name.split("/")[0] in ("MP", "RMW", "S", "paper")]


def word(name: str, machine: Architecture | None = None, settings: Settings | None = None) -> Word:
    scheme = QUICK if machine is None else QUICK.on_machine(machine)
    return judged(litmus(f"rsp/{name}"), scheme, settings).word


@pytest.mark.parametrize("name", QUICK_TESTS)
def test_as_proposed_on_the_machine_of_the_paper(name: str) -> None:
    assert word(name) == EXPECTED[name]["proposed"]


@pytest.mark.parametrize(
    "name",
    [
        "MP/MP+st.na-st.WG.R+ld.WG.R-ld.na@01.litmus",
        "RMW/RMW+inc.WG+inc.DV.R.litmus",
        "paper/Ex4.litmus",
    ],
)
def test_by_explicit_too_and_live(name: str) -> None:
    assert word(name, settings=Settings(engine=Engine.EXPLICIT)) is Word.SOUND
    found = progress(litmus(f"rsp/{name}"), QUICK, Settings())
    assert found.word is ProgressWord.LIVE


@pytest.mark.parametrize("case", data("soundness/planted_in_quickrelease.yaml"))
def test_what_is_taken_out_of_the_machine_is_missed(case: Any) -> None:
    text = QUICK_MACHINE.read_text()
    assert text.count(case["part"]) == 1
    without = read_architecture(
        Source(str(QUICK_MACHINE), text.replace(case["part"], case["left"]))
    )
    assert word(f"{case['test']}.litmus", without) is Word.UNSOUND


# ---- litmus/models: what a model says in short ------------------------------------------------------


@pytest.mark.parametrize("name", names_in("models/opencl")[::3])
def test_the_short_answer_is_the_long_one(name: str) -> None:
    """It follows from all its outcomes."""
    program, settings = litmus(f"models/opencl/{name}"), Settings()
    short = observed_by(program, MODEL, settings)
    long = outcomes_of(program, MODEL, (), "t", settings)
    assert long.final is not None
    assert (short.observation, short.racy) == (long.final.observation, bool(long.violated))
