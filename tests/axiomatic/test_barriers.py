"""Barriers of work-groups and of devices: what they order, and where they part."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import pytest
from axiomatic.test_whole_language import check

import rspverify
from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Severity, Source
from rspverify.verdict import Race

MODELS = ("opencl-rsp", "opencl-hrf", "opencl-scoped-sc", "opencl")
NEAR, FAR = "barrier", "inter_workgroup_barrier"
BOTH_GROUPS = "(device (work_group P0) (work_group P1))"
ONE_GROUP = "(device (work_group P0 P1))"
TWO_DEVICES = "(device (work_group P0)) (device (work_group P1))"


def written(places: str, *threads: str, condition: str = "exists (x=0)") -> Program:
    """A test of plain x and y and atomic z; `B` and `D` are the two kinds of barrier."""
    parameters = "(global int* x, global int* y, global atomic_int* z)"
    lines = ["OpenCL t", "{ [x]=0; [y]=0; [z]=0; }"]
    for number, code in enumerate(threads):
        flags = "(CLK_GLOBAL_MEM_FENCE)"
        body = code.replace("B()", f"{NEAR}{flags}").replace("D()", f"{FAR}{flags}")
        lines.append(f"P{number} {parameters} {{ {body} }}")
    return read_program(Source("t", "\n".join([*lines, f"scopeTree {places}", condition])))


@cache
def loaded(name: str) -> MemoryModel:
    return load_model(name)


def race(program: Program, model: str = "opencl-rsp") -> Race | None:
    return Questions(program, loaded(model), Limits()).race()


def read(program: Program, model: str = "opencl-rsp") -> set[tuple[int, ...]]:
    """The values that reads may have, in their order, where nothing is undefined."""
    questions = Questions(program, loaded(model), Limits())
    assert questions.race() is None
    return {tuple(value for _, value in it.reads) for it in questions.outcomes()}


# ---- what they order -----------------------------------------------------------------------------

MP = ("*x = 1; {0};", "{0}; int r0 = *x;")
SB = ("*x = 1; {0}; int r0 = *y;", "*y = 1; {0}; int r1 = *x;")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("barrier", "places"), [("B()", ONE_GROUP), ("D()", BOTH_GROUPS)])
def test_what_is_before_happens_before_what_is_after(model: str, barrier: str, places: str) -> None:
    assert read(written(places, *(it.format(barrier) for it in MP)), model) == {(1,)}
    assert read(written(places, *(it.format(barrier) for it in SB)), model) == {(1, 1)}


@pytest.mark.parametrize(("barrier", "places"), [("B()", BOTH_GROUPS), ("D()", TWO_DEVICES)])
def test_only_those_who_meet_are_ordered(barrier: str, places: str) -> None:
    found = race(written(places, *(it.format(barrier) for it in MP)))
    assert found is not None and found.condition == "Dr" and not found.divergence


def test_a_barrier_of_a_device_orders_the_threads_of_a_group_too() -> None:
    assert read(written(ONE_GROUP, *(it.format("D()") for it in MP))) == {(1,)}


def test_both_kinds_one_after_the_other() -> None:
    """P0 hands x to its group, and P1 hands it on to the other one."""
    code = ("*x = 1; B(); D();", "B(); int r0 = *x; *x = 2; D();", "D(); int r1 = *x;")
    places = "(device (work_group P0 P1) (work_group P2))"
    assert read(written(places, *code)) == {(1, 2)}


# ---- where they part -----------------------------------------------------------------------------

WAITS = "if (atomic_load_explicit(z, memory_order_relaxed, memory_scope_device) == {0}) {{ {1} }}"
STORES = "atomic_store_explicit(z, 1, memory_order_relaxed, memory_scope_device);"


@pytest.mark.parametrize(
    ("threads", "words"),
    [
        (("{0};", ""), "P0 line 3 comes to barrier #1, and P1 ends without it"),
        (("", "{0};"), "P1 line 4 comes to barrier #1, and P0 ends without it"),
        (("{0};", "*y = 1;"), "P0 line 3 comes to barrier #1, and P1 ends without it"),
        (
            ("B1: {0};", "B2: {0};"),
            "P0 line 3 comes to barrier B1, and P1 line 4 comes to barrier B2",
        ),
        (
            ("B1: {0}; B2: {0};", "B2: {0}; B1: {0};"),
            "P0 line 3 comes to barrier B1, and P1 line 4 comes to barrier B2",
        ),
        (
            ("{0}; {0};", "{0};"),
            "P0 line 3 comes to barrier #2, and P1 ends without it",
        ),
        (
            (
                "for (int i = 0; i < 2; i++) {0};",
                "for (int i = 0; i < 2; i++) if (i == 1) {0};",
            ),
            "P0 line 3 comes to barrier #1 in iteration 1, "
            "and P1 line 4 comes to barrier #1 in iteration 2",
        ),
        (
            ("{0};" + STORES, WAITS.format(0, "{0};")),
            None,
        ),
    ],
)
@pytest.mark.parametrize(("barrier", "places"), [("B()", ONE_GROUP), ("D()", BOTH_GROUPS)])
def test_who_comes_to_which(
    barrier: str, places: str, threads: tuple[str, str], words: str | None
) -> None:
    program = written(places, *(each.replace("{0}", barrier) for each in threads))
    found = race(program)
    if words is None:
        assert found is None or found.condition == "Barrier"
        return
    assert found is not None and found.condition == "Barrier"
    if barrier == "D()":
        words = words.replace("barrier", "device barrier")
    assert found.divergence == words
    assert {found.first.thread, found.second.thread} == {0, 1}


@pytest.mark.parametrize("model", MODELS)
def test_a_thread_that_executes_nothing_is_seen(model: str) -> None:
    """Under each model, and where it is a value that decides whether it executes anything."""
    found = race(written(ONE_GROUP, "B();", ""), model)
    assert found is not None and found.condition == "Barrier"
    assert [each.access for each in found.events if each.thread == 1] == ["start"]
    code = "int r = 0; if (0) { r = *y; }"
    assert race(written(ONE_GROUP, "B();", code), model) is not None
    assert race(written(ONE_GROUP, "B();", "B();"), model) is None


def test_barriers_that_part_are_seen_while_another_goes_round_for_ever() -> None:
    """No execution comes to its end."""
    places = "(device (work_group P0 P1) (work_group P2))"
    found = race(written(places, "B();", "", "while (atomic_load(z) == 0);"))
    assert found is not None and (found.condition, found.second) == ("Barrier", None)
    assert found.divergence == "P0 line 3 comes to barrier #1, and P1 ends without it"
    assert race(written(places, "B();", "B();", "while (atomic_load(z) == 0);")) is None


def test_the_third_thread_is_named() -> None:
    places = "(device (work_group P0 P1) (work_group P2))"
    found = race(written(places, "D();", "D();", "B1: B();"))
    assert found is not None
    assert found.divergence == "P0 line 3 comes to device barrier #1, and P2 ends without it"


def test_two_that_are_crossed_are_no_execution_without_a_fault() -> None:
    """If barriers that nobody gets past synchronised, hb would have a circle, and all be well."""
    code = ("B1: B(); *x = 1; B2: D();", "B2: D(); *x = 2; B1: B();")
    found = race(written(ONE_GROUP, *code))
    assert found is not None and found.condition == "Barrier"
    assert found.divergence.endswith("barrier B1, and P1 line 4 comes to device barrier B2")


def all_get_through(places: list[int], threads: list[list[str]]) -> bool:
    """Run the threads: whoever is at a barrier waits until all who must come are at it."""
    left = [list(each) for each in threads]
    while any(left):
        for number, code in enumerate(left):
            party = [
                it
                for it, place in enumerate(places)
                if code and (code[0].startswith("D") or place == places[number])
            ]
            if party and all(left[it][:1] == code[:1] for it in party):
                break
        else:
            return False
        for it in party:
            left[it].pop(0)
    return True


def test_they_part_just_where_a_run_gets_stuck() -> None:
    rng, known = Random("stuck"), set[bool]()
    for _ in range(40):
        places = sorted(rng.randint(0, 1) for _ in range(rng.choice((2, 2, 3))))
        labels = rng.sample(("B1", "B2", "D1", "D2"), 3)
        threads = [list(labels) for _ in places]
        for _ in range(rng.choice((0, 0, 1, 1, 2))):
            code = rng.choice(threads)
            if rng.random() < 0.5:
                rng.shuffle(code)
            elif code:
                code.remove(rng.choice(code))
        code = [" ".join(f"{label}: {label[0]}();" for label in each) for each in threads]
        groups = [
            " ".join(f"P{number}" for number, place in enumerate(places) if place == group)
            for group in sorted(set(places))
        ]
        tree = " ".join(f"(work_group {each})" for each in groups)
        found = race(written(f"(device {tree})", *code))
        through = all_get_through(places, threads)
        assert (found is None) == through, (places, threads)
        known.add(through)
    assert known == {True, False}


def test_random_programs_with_barriers() -> None:
    """Small threads of barriers with labels in any order, against trying everything."""
    rng, under = Random("barriers"), loaded("opencl-rsp")
    for _ in range(25):
        threads = []
        for _ in range(rng.choice((2, 2, 3))):
            barriers = [f"{rng.choice('BD')}{it}" for it in (1, 2)]
            code = [f"{each}: {each[0]}();" for each in rng.sample(barriers, rng.randint(0, 2))]
            code.insert(rng.randint(0, len(code)), rng.choice(("", "*x = 1;", "int r0 = *x;")))
            if rng.random() < 0.3:
                code.append(WAITS.format(rng.randint(0, 1), f"L: {rng.choice('BD')}();"))
            threads.append(" ".join([*code, STORES * (rng.random() < 0.3)]))
        places = rng.choice(("(work_group {})", "(work_group {}) (work_group {})"))
        names = [f"P{number}" for number in range(len(threads))]
        groups = places.format(names[0], " ".join(names[1:]))
        if "{" in places and places.count("{}") == 1:
            groups = places.format(" ".join(names))
        check(written(f"(device {groups})", *threads), under)


# ---- models that say less ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ('"m"\nlet hb = sb | rf\nacyclic hb as Hb', "a barrier is beyond the model m"),
        ('"m"\nlet hb = sb | same_B\nacyclic rf as Rf', "a barrier of a device is beyond"),
        ('"m"\nlet hb = sb | (same_B & party)\nacyclic rf as Rf', None),
    ],
)
def test_a_model_must_speak_of_those_who_meet(text: str, beyond: str | None) -> None:
    model = read_model(Source("m.cat", text), "m")
    program = written(BOTH_GROUPS, "D();", "D();")
    if beyond is None:
        require_covered(program, model)
        return
    if "of a device" in beyond:
        require_covered(written(ONE_GROUP, "B();", "B();"), model)
    else:
        with pytest.raises(InputError, match="a barrier is beyond the model m"):
            require_covered(written(ONE_GROUP, "B();", "B();"), model)
    with pytest.raises(InputError, match="a barrier of a device is beyond") as caught:
        require_covered(program, model)
    assert caught.value.severity is Severity.UNSUPPORTED


# ---- how they are shown --------------------------------------------------------------------------

SUITE = "litmus/models/opencl/barriers"


def test_pictures_show_both_fences_and_the_start_of_who_does_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    (drawn,) = rspverify.draw(f"{SUITE}/Device.MP.litmus").pictures
    texts = [each.text for each in drawn.events]
    assert texts.count("device barrier #1 entry") == texts.count("device barrier #1 exit") == 2
    synchronises = [each for each in drawn.arrows if each.name == "gsw"]
    assert [(texts[it.source], texts[it.target]) for it in synchronises] == [
        ("device barrier #1 entry", "device barrier #1 exit")
    ] * 2
    (parted,) = rspverify.draw(f"{SUITE}/Group.left-out.litmus", race=True).pictures
    marked = [(each.text, each.thread) for each in parted.events if each.marked]
    assert sorted(marked) == [("barrier #1 entry", 0), ("start", 1)]


def test_verdicts_name_what_parts(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    tests = [f"{SUITE}/Group.left-out.litmus", f"{SUITE}/Device.MP.litmus"]
    parted, whole = rspverify.check("proposed", tests).report().results
    assert (parted.verdict.value, parted.reason) == (
        "RACY",
        "barrier divergence: P0 line 11 comes to barrier #1, and P1 ends without it",
    )
    assert whole.verdict.value == "UNSUPPORTED"
    assert "is a barrier of a device" in whole.reason
    written_out = re.search(r"\(write it out with atomics, as (\S+) does\)", whole.reason)
    assert written_out is not None and "barrier(" in (root / written_out[1]).read_text()


def test_a_barrier_of_a_device_needs_all_of_its_groups_at_once(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The point of the paper: under occupancy n it is live, and under less somebody waits."""
    monkeypatch.chdir(root)
    code = "inter_workgroup_barrier(CLK_GLOBAL_MEM_FENCE);"
    threads = "".join(f"P{it}@wg {it}, dev 0 (global int* x) {{ {code} }}\n" for it in range(3))
    test = Source("t", f"OpenCL t\n{{ [x]=0; }}\n{threads}exists (x=0)")
    found = rspverify.progress(test, ["fair", "obe:3", "obe:2", "obe:1"])
    assert [each.progress.value for each in found] == ["LIVE", "LIVE", "STUCK", "STUCK"]
