"""Whether programs hang under schedulers: known answers, and every interleaving as the judge."""

from __future__ import annotations

from itertools import count

import pytest
from soundness.agreement import compared
from soundness.waiting import asked, barrier_of_groups, discovery, load, store, swap, test, words

from rspverify.schedulers import FAIR, Scheduler, schedulers_of
from rspverify.source import InputError

EVERY = ("fair", "obe", "obe:1", "obe:2", "hsa", "hsa-obe", "lobe", "unfair")
SPIN, WRITE = f"while ({load('x')} != 1);", store("x", 1)
LOCKED = f"while ({swap('l', 1)} != 0); *d = *d + 1; {store('l', 0)}"


def under(live: str = "", stuck: str = "") -> dict[str, str]:
    return {**dict.fromkeys(live.split(), "LIVE"), **dict.fromkeys(stuck.split(), "STUCK")}


# ---- known answers -------------------------------------------------------------------------------


def test_one_group_waits_for_another() -> None:
    """Fig. 1: it matters who can be there together, and who has the lower number.

    Two threads of one group are there together: a scheduler stops whole groups.
    """
    lower = under(live="fair obe:2", stuck="obe obe:1 hsa hsa-obe lobe unfair")
    higher = under(live="fair obe:2 hsa hsa-obe lobe", stuck="obe obe:1 unfair")
    assert words(test((0, SPIN), (1, WRITE)), *EVERY) == lower
    assert words(test((1, SPIN), (0, WRITE)), *EVERY) == higher
    assert words(test((0, SPIN), (0, WRITE)), *EVERY) == under(live=" ".join(EVERY))


@pytest.mark.parametrize("groups", [2, 3])
def test_a_spin_lock(groups: int) -> None:
    text = test(*((group, LOCKED) for group in range(groups)), plain=["d"])
    assert words(text, *EVERY) == under(
        live="fair obe obe:1 obe:2 hsa-obe lobe", stuck="hsa unfair"
    )


@pytest.mark.parametrize("groups, threads", [(2, 1), (2, 2), (3, 2)])
def test_a_barrier_of_groups_needs_them_all_at_once(groups: int, threads: int) -> None:
    """XF: LIVE with as many occupant as there are, and STUCK with one fewer."""
    text = barrier_of_groups(groups, threads)
    enough, too_few = f"obe:{groups}", f"obe:{groups - 1}"
    asked_of = ("fair", "obe", enough, too_few, "hsa", "unfair")
    live, stuck = f"fair {enough}", f"obe {too_few} hsa unfair"
    assert words(text, *asked_of) == under(live=live, stuck=stuck)


@pytest.mark.parametrize("lock, live", [("spin", "obe:1 obe:2"), ("ticket", "obe:1")])
def test_after_discovery_the_barrier_needs_no_group_that_is_not_there(lock: str, live: str) -> None:
    """The paper's point: LIVE however many are occupant."""
    assert words(discovery(2, lock), *live.split()) == under(live=live)


def test_discovery_is_of_no_use_if_the_barrier_waits_for_all_groups() -> None:
    assert words(discovery(2, "spin", counted=False), "obe:1") == under(stuck="obe:1")


def test_what_two_do_together_one_at_a_time_cannot() -> None:
    """P0 is stuck only if it looks while P1 is half-way: not if the one ends before the other."""
    meets = f"if ({load('x', 'seq_cst')} == 1) while ({load('y')} == 0);"
    halfway = f"{store('x', 1, 'seq_cst')} {store('x', 2, 'seq_cst')}"
    found = words(test((0, meets), (1, halfway)), "fair", "obe:1", "obe:2")
    assert found == under(live="obe:1", stuck="fair obe:2")


@pytest.mark.parametrize("order, back", [("acquire", "release"), ("relaxed", "relaxed")])
def test_time_has_no_circle(order: str, back: str) -> None:
    """P3 is stuck only if P0, P1 and P2 read from each other in a circle: P0 is there all along."""
    begins = f"{store('x', 1, back)} if ({load('d', order)} == 1) {store('l', 1, back)}"
    first = f"if ({load('x', order)} == 1) {store('y', 1, back)}"
    second = f"if ({load('y', order)} == 1) {store('d', 1, back)}"
    hangs = f"if ({load('l', order)} == 1) while (1);"
    text = test(*enumerate((begins, first, second, hangs)))
    assert words(text, "obe:1", "obe:2") == under(live="obe:1", stuck="obe:2")


def test_the_hang_says_who_and_why() -> None:
    (answer,) = asked(test((0, SPIN), (1, WRITE)), "obe")
    assert answer.reason == "P0 is stuck in the loop in line 3; group 1 never starts"
    assert answer.hang is not None and answer.hang.occupancy == 1
    (stuck,), (stopped,) = answer.hang.stuck, answer.hang.stopped
    (read,) = stuck.reads
    assert (read.read.access, read.write.access) == ("R[DV,N](x, 0)", "W(x, 0) initial")
    assert (stopped.group, stopped.started) == (1, False)
    assert [(it.thread, it.line) for it in stopped.threads] == [(1, 4)]


def test_what_a_loop_reads_is_the_last_write() -> None:
    """A run that ignores a write for ever is none: the only write is 1, and it will be read."""
    assert words(test((0, SPIN), (0, WRITE)), "fair") == under(live="fair")
    overwritten = f"{WRITE} {store('x', 2)}"
    (answer,) = asked(test((0, SPIN), (0, overwritten)), "fair")
    assert answer.hang is not None
    assert answer.hang.stuck[0].reads[0].write.access == "W[DV,N](x, 2)"


def test_a_loop_without_any_operation_never_ends() -> None:
    endless = test((0, "while (1);"), (1, WRITE))
    assert words(endless, *EVERY) == under(stuck=" ".join(EVERY))
    two = test((0, "while (1);"), (1, "while (1);"))
    (answer,) = asked(two, "obe:1")
    assert answer.hang is not None
    (stuck,), (stopped,) = answer.hang.stuck, answer.hang.stopped
    assert {stuck.thread, stopped.group} == {0, 1} and stuck.reads == ()


def test_a_thread_is_stuck_in_the_inner_of_two_loops() -> None:
    nested = f"while ({swap('l', 1)} != 0) while ({load('l', 'relaxed')} != 0);"
    text = test((0, f"{nested} {store('l', 0)}"), (1, f"{nested} {store('l', 0)}"))
    assert words(text, "fair", "obe", "hsa") == under(live="fair obe", stuck="hsa")


def test_an_exchange_that_changes_nothing_is_no_write_for_ever() -> None:
    """Both go round: each writes what it reads, and nobody is behind the other."""
    taken = f"while ({swap('l', 1)} != 0);"
    (answer,) = asked(test((0, taken), (1, taken), (2, taken)), "fair")
    assert answer.hang is not None and len(answer.hang.stuck) == 2
    assert {it.reads[0].write.access for it in answer.hang.stuck} == {"RMW[DV,N](l, 0, 1)"}


# ---- barriers ------------------------------------------------------------------------------------

MEET = "barrier(CLK_GLOBAL_MEM_FENCE);"


def test_a_barrier_waits_for_whoever_is_stuck() -> None:
    text = test((0, f"{SPIN} {MEET}"), (0, MEET), (1, WRITE))
    (answer,) = asked(text, "obe")
    assert answer.hang is not None
    (waiting,) = answer.hang.waiting
    assert (waiting.thread, waiting.label, waiting.missing) == (1, "#1", (0,))
    assert words(text, "fair") == under(live="fair")


def test_who_goes_through_a_barrier_has_met_all_others() -> None:
    assert words(test((0, f"{WRITE} {MEET}"), (0, f"{MEET} {SPIN}")), "unfair") == under("unfair")


@pytest.mark.parametrize(
    "other", ["", f"if ({load('y')} == 1) {{ {MEET} }}", f"{SPIN} {store('y', 1)}"]
)
def test_barriers_that_part_are_undefined(other: str) -> None:
    """Whether the other has no event at all, does not come, or would come after a loop."""
    (answer,) = asked(test((0, MEET), (0, other), (1, WRITE)), "fair")
    assert (answer.progress, answer.hang) == ("UNKNOWN", None)
    parted = "barrier divergence: P0 line 3 comes to barrier #1, and P1 ends without it"
    assert answer.reason == f"undefined behaviour: {parted}"


def test_two_barriers_that_do_not_meet_are_undefined() -> None:
    (answer,) = asked(test((0, f"A: {MEET}"), (0, f"B: {MEET}")), "fair")
    parted = "P0 line 3 comes to barrier A, and P1 line 4 comes to barrier B"
    assert answer.reason == f"undefined behaviour: barrier divergence: {parted}"


# ---- what is not said ----------------------------------------------------------------------------


def test_a_program_that_races_may_do_anything() -> None:
    """Also where no execution ends, or the race is in an iteration that goes on."""
    for racing in (
        test((0, f"{SPIN} *d = 1;"), (1, f"{WRITE} *d = 2;"), plain=["d"]),
        test((0, "*d = 1; while (1);"), (1, "*d = 2; while (1);"), plain=["d"]),
        test((0, "while (*d == 0);"), (1, "*d = 1;"), plain=["d"]),
    ):
        for answer in asked(racing, "fair", "unfair"):
            assert (answer.progress, answer.hang) == ("UNKNOWN", None)
            assert answer.reason.startswith("undefined behaviour: race (Dr): P0 line 3 ")


def test_a_loop_that_does_more_than_spin_is_bounded() -> None:
    (answer,) = asked(test((0, f"while ({load('x')} == 0) {store('y', 1)}"), (1, WRITE)), "fair")
    assert (answer.progress, answer.within) == ("UNKNOWN", {"iterations": 8})
    assert answer.reason == "no execution hangs within 8 iterations, but there are others"


def test_a_hang_beside_a_bounded_loop_is_one() -> None:
    bounded = f"while ({load('x')} == 0) {store('y', 1)}"
    (answer,) = asked(test((0, bounded), (1, f"{WRITE} while (1);")), "fair")
    assert answer.progress == "STUCK"
    assert answer.reason.endswith(", unless the program races beyond 8 iterations")


def test_what_comes_before_a_bound_is_looked_at() -> None:
    """A race in a loop that goes on for ever; a thread that is stuck in such a loop."""
    for_ever = f"int r = {load('l')}; while (r == 0)"
    writes = f"{for_ever} {{ *d = 1; {store('y', 1)} }}"
    racing = test((0, writes), (1, f"*d = 2; {SPIN}"), plain=["d"])
    (answer,) = asked(racing, "fair")
    assert answer.reason.startswith("undefined behaviour: race (Dr)")
    inside = f"{for_ever} {{ {store('y', 1)} while ({load('x')} == 0); {store('y', 2)} }}"
    (answer,) = asked(test((0, inside)), "fair")
    assert answer.progress == "STUCK"


def test_a_spurious_failure_is_not_looked_at() -> None:
    weak = "atomic_compare_exchange_weak(x, d, 1)"
    (answer,) = asked(test((0, f"if ({weak} == 0) while (1);"), plain=["d"]), "fair")
    assert (answer.progress, answer.within) == ("UNKNOWN", {"spurious failures": 0})


def test_mutexes_are_unsupported() -> None:
    text = "C m\n{ }\nP0 (mutex* m) { lock(m); }\n"
    with pytest.raises(InputError, match="a mutex is waited for for ever is not supported"):
        asked(text, "fair", model="c11-orig")


# ---- names ---------------------------------------------------------------------------------------


def test_schedulers_are_known_by_their_names() -> None:
    every = schedulers_of([*EVERY, "fair"])
    assert tuple(map(str, every)) == EVERY
    assert every[0] == FAIR and every[2] == Scheduler("obe", 1)
    assert every[2].summary.startswith("only before it has started, and only while 1 other")


def test_all_that_are_none_are_told() -> None:
    with pytest.raises(InputError) as wrong:
        schedulers_of(["fare", "obe:0", "hsa:2", "obe:"])
    assert [it.message for it in wrong.value.problems] == [
        f"a scheduler must be fair, obe, hsa, hsa-obe, lobe, unfair or obe:N, not {name!r}"
        if name != "obe:0"
        else "the N of obe:N must be from 1 to 1,000, not 0"
        for name in ("fare", "obe:0", "hsa:2", "obe:")
    ]


# ---- every interleaving --------------------------------------------------------------------------


def test_progress_and_outcomes_are_what_every_interleaving_says() -> None:
    """The script soundness/agreement.py compares as many as one likes; here are some."""
    for what, found, right in compared(count(), 12, states=400):
        assert found == right, what
