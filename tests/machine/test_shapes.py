"""Machines that lack just one of the conditions of docs/proofs.md: engines refuse, or are right."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from machine.any_engine import differences
from machine.engines import Unrolled, searched
from machine.own_machines import program, variant
from machine.planted import keep_nothing
from oracle.any_machine import outcomes
from pytest import MonkeyPatch

from rspverify.architecture.architecture import Architecture
from rspverify.limits import LimitReached
from rspverify.machine import explicit, state_graph
from rspverify.machine.machine import Machine, unbounded
from rspverify.machine.replay import ReplayError
from rspverify.machine.shapes import Shape, Shapes
from rspverify.selftest.machines import RandomMachine


def machine(**chosen: str) -> Architecture:
    """The paper's machine with these choices; `_` stands for a blank."""
    return RandomMachine({it.replace("_", " "): how for it, how in chosen.items()}).architecture


def test_what_need_not_be_flushed_in_the_end_is_not_as_good_as_memory() -> None:
    """An execution may end with what INC_L2 wrote still in the L2."""
    it = program(machine(complete="L1"), "INC_L2 x 1", "LD y")
    assert len(searched(Machine(it))) > 1
    assert differences(it) == {}


@pytest.mark.parametrize("step", ["PEER"])
def test_refreshes_that_want_each_others_values(step: str) -> None:
    """L1s that fetch from each other: no engine loses itself in the circle."""
    it = program(machine(levels="one", step=step), "ST x 1", "LD x")
    assert differences(it) == {}


@pytest.mark.parametrize(
    "chosen",
    [
        {"LD": "anything"},
        {"LD": "or DIRTY"},
        {"FETCH": "any", "levels": "one"},
        {"FLUSH": "if"},
        {"FLUSH": "if", "levels": "one"},
        {"bit": "noted"},
    ],
)
@pytest.mark.parametrize("code", [("ST x 2", "LD x"), ("ST x 2; INV_L1 WG", "ST x 1; LD x")])
def test_a_value_that_is_taken_where_it_does_not_count(
    chosen: dict[str, str], code: tuple[str, str]
) -> None:
    """It is none that may be forgotten."""
    assert differences(program(machine(**chosen), *code)) in ({}, None)


@pytest.mark.parametrize("chosen", [{"bit": "LD waits"}, {"FETCH": "or memory"}, {"step": "DROP"}])
@pytest.mark.parametrize("code", [("ST x 1", "LD x; LK_L2 x"), ("LK_L2 x; LD x", "ST x 1; LD x")])
def test_a_deadlock_of_a_machine_that_does_not_drain(
    chosen: dict[str, str], code: tuple[str, str]
) -> None:
    """It is told from the whole graph, as an entry has two ways to be flushed or fetched."""
    assert differences(program(machine(**chosen), *code)) in ({}, None)


def test_memory_may_change_after_an_end() -> None:
    """Where an execution may end with an L2 DIRTY, one that goes on may end otherwise."""
    it = program(machine(complete="L1"), "UL_L2 x; INC_L1 x 2", "")
    assert {dict(each.memory)["x"] for each in searched(Machine(it))} == {0, 2}
    assert differences(it) == {}


@pytest.mark.parametrize("locks", ["none", "rmw"])
@pytest.mark.parametrize("code", [("INC_L1 x 1; LD x", "LK_L2 x"), ("LD x; LK_rmw DV", "LD x")])
def test_a_deadlock_where_a_flush_and_a_fetch_wait_for_other_locks(
    locks: str, code: tuple[str, str]
) -> None:
    """What is held in the end tells nothing then."""
    for chosen in ({"FETCH_locks": locks}, {"FLUSH_locks": locks}, {"EVICT": "none"}):
        assert differences(program(machine(**chosen), *code)) == {}


@pytest.mark.parametrize(
    "code",
    [
        ("LD x; LD x if 0=1", "ST x 1"),
        ("LD x; ST y 1 if 0=1", "LD y; ST x 1 if 2=1"),
        ("LD x; ST y 1 if 0=1; ST y 2", "ST x 1"),
    ],
)
def test_whoever_needs_a_value_waits_for_it(code: tuple[str, str]) -> None:
    """A load that completes later is waited for by what its value decides."""
    for chosen in ({"LD": "later"}, {"LD": "later", "ST": "later"}):
        assert differences(program(machine(levels="one", **chosen), *code), 20_000) == {}


@pytest.mark.parametrize("levels", ["two", "system"])
def test_values_that_go_round(levels: str) -> None:
    """A fetch over what is DIRTY, and a flush that wants it VALID: events does not know the end."""
    its = machine(levels=levels, L2_FETCH="any", L2_FLUSH="VALID")
    assert "may be made of what it was" in str(unbounded(its))
    assert differences(program(its, "ST x 1; LD x", "LD x")) in ({}, None)


def test_a_value_of_another_location() -> None:
    """Engines that choose each value among those of its location refuse it."""
    its = variant(
        "step FETCH_L1 of workgroup, location x, location y\n when clean(L1, x), L2.VALID[y]\n"
        " do fetch(L1, x, L2.data[y])"
    )
    assert "FETCH_L1 x y takes the value of one location" in str(unbounded(its))
    it = program(its, "ST y 1; LD x")
    with pytest.raises(LimitReached, match=r"unroll .* takes the value of one location"):
        Unrolled(Machine(it), steps=3)
    assert differences(it, 6_000) == {}


# ---- planted mistakes ----------------------------------------------------------------------------


def takers_do_not_matter(patch: MonkeyPatch) -> None:
    """A value counts for nothing where its bit is false, whoever takes it."""
    patch.setattr(Shapes, "_takes_uncounted", lambda self, rule, entry: False)


def memory_rests_always(patch: MonkeyPatch) -> None:
    """A search stops at the first end."""
    patch.setattr(explicit, "rests", lambda machine: True)


def everything_drains(patch: MonkeyPatch) -> None:
    """A deadlock is told from one state on any machine."""
    patch.setattr(state_graph, "drains", lambda machine: True)


def refreshes_replace_anything(patch: MonkeyPatch) -> None:
    """A fetch may be left out although it replaces what waits to be flushed."""
    patch.setattr(Shapes, "_takes_uncounted", lambda self, rule, entry: False)
    patch.setattr(Shapes, "_free_to_refresh", lambda self, entry, step: Shape.REFRESHES)


@pytest.mark.parametrize(
    "plant, chosen, code",
    [
        (takers_do_not_matter, {"LD": "anything"}, ("ST x 2; LD x", "LD x")),
        (memory_rests_always, {"complete": "L1"}, ("INC_L1 x 2", "")),
        (everything_drains, {"bit": "LD waits"}, ("LD x", "ST x 1")),
        (refreshes_replace_anything, {"FETCH": "any", "levels": "one"}, ("ST x 2", "LD x; LD x")),
    ],
)
def test_a_planted_mistake_is_noticed(
    plant: Callable[[MonkeyPatch], None],
    chosen: dict[str, str],
    code: tuple[str, ...],
    monkeypatch: MonkeyPatch,
) -> None:
    it = program(machine(**chosen), *code)
    assert differences(it, 6_000) == {}
    keep_nothing(monkeypatch)
    plant(monkeypatch)
    with suppress(ReplayError, KeyError, AttributeError):  # It may fail instead.
        assert differences(it, 6_000) != {}


@pytest.mark.parametrize("instruction", ["MARK", "CL", "ZAP", "WB", "PRE"])
@pytest.mark.parametrize("inv", ["all", "spares DIRTY"])
def test_conditions_and_effects_of_instructions_without_fifos(instruction: str, inv: str) -> None:
    """Unroll knows what depends on the state where nobody reads a fifo."""
    its = machine(levels="one", fifos="none", instruction=instruction, INV=inv)
    for code in [("LD x; {0} x", "ST x 1"), ("ST x 1; {0} x; INV_L1 WG; LD x", "ST x 2")]:
        it = program(its, *(each.format(instruction) for each in code))
        assert differences(it, 6_000) == {}


@pytest.mark.parametrize("code", [("ST x 1; FLU_L1 WG; LD x", "LD x"), ("ST x 1; FLU_L1 WG", "")])
def test_an_element_that_waits_until_a_value_counts(code: tuple[str, str]) -> None:
    """Its leaving would be a look, for which somebody may have to fetch."""
    its = machine(DEQ="VALID", levels="one")
    assert "until a value counts" in str(unbounded(its))
    assert differences(program(its, *code), 6_000) == {}


def test_the_end_may_look_at_what_nothing_else_does() -> None:
    """Entries are fetched once more for it, and it sees locks that nobody asks for."""
    ending = "complete when each workgroup w, location y: not w.L1.DIRTY[y]"
    for more in ("location y: w.L1.VALID[y]", "device d, location y: not d.L2.DIRTY[y]"):
        ending += f", each {'workgroup w, ' if 'VALID' in more else ''}{more}"
    its = variant(ending)
    for code in (("ST x 1", "LD y"), ("LD x; ST x 1; LD y",), ("INV_L1 DV", "LD x")):
        assert searched(Machine(program(its, *code)))
        assert differences(program(its, *code), 20_000) == {}


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        (("ST x 1", "LD x"), True),
        (("LK_rmw DV; ST x 1; UL_rmw DV", "LD x"), True),
        (("LK_rmw DV; ST x 1", "LD x"), False),
        (("LK_rmw DV; ST x 1", "UL_rmw DV"), True),
    ],
)
def test_a_lock_that_is_ready_in_the_end_is_free(code: tuple[str, str], ends: bool) -> None:
    """Whoever holds it: no thread is the own one of the whole machine."""
    its = variant(
        "complete when each workgroup w, location y: not w.L1.DIRTY[y], each workgroup w: ready w.rmw"
    )
    it = program(its, *code)
    assert {(one.reads, one.memory) for one in searched(Machine(it))} == outcomes(it, 20_000)
    assert bool(outcomes(it, 20_000)) is ends
    assert differences(it, 20_000) == {}
