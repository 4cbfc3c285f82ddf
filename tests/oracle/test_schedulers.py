"""The oracle of hanging, on programs whose answers are known from the papers."""

import pytest

from .schedulers import (
    SCHEDULERS,
    Barrier,
    CompareExchange,
    Concurrent,
    Exchange,
    If,
    Load,
    Repeat,
    Store,
    TooMany,
    stuck,
)

SPIN = Repeat((Load("r0", "flag"),), (("r0", False, 1),))
WRITE = Store("flag", 1)
LOCK = Repeat((Exchange("r0", "l", 1),), (("r0", False, 0),))
COMPARING = Repeat((CompareExchange("r0", "l", 0, 1),), (("r0", True, 0),))
NOT_OBE = {"obe", "obe:1"}


def groups(*codes):
    """A program of work-groups of one thread each."""
    return Concurrent(tuple((code,) for code in codes))


def test_a_group_that_waits_for_another() -> None:
    """Fig. 1 of the paper on inter-workgroup barriers: which has the lower number matters."""
    first, last = stuck(groups((SPIN,), (WRITE,))), stuck(groups((WRITE,), (SPIN,)))
    assert first == {"hsa", "hsa-obe", "lobe", "unfair"} | NOT_OBE
    assert last == {"unfair"} | NOT_OBE


@pytest.mark.parametrize("lock", [LOCK, COMPARING])
@pytest.mark.parametrize("number", [2, 3])
def test_a_spin_lock(lock, number) -> None:
    """The holder may be stopped only where who has started may be."""
    assert stuck(groups(*[(lock, Store("l", 0))] * number)) == {"hsa", "unfair"}


def test_a_lock_that_is_never_given_back() -> None:
    assert stuck(groups((LOCK,), (LOCK,))) == set(SCHEDULERS)


def test_groups_that_wait_for_each_other_must_be_there_together() -> None:
    """Under obe:1 the one is never occupant while the other is."""
    one = (Store("x", 1), Repeat((Load("r0", "y"),), (("r0", True, 0),)))
    other = (Store("y", 1), Repeat((Load("r0", "x"),), (("r0", True, 0),)))
    assert stuck(groups(one, other)) == {"hsa", "hsa-obe", "lobe", "unfair"} | NOT_OBE


def test_what_only_two_can_do_together_one_at_a_time_cannot() -> None:
    """Each is stuck if it sees the other half-way, which takes two that overlap."""
    met = (Load("r1", "x"), If("r1", 1, (Repeat((Load("r0", "z"),), (("r0", True, 0),)),)))
    halfway = (Store("x", 1), Store("x", 2))
    assert "obe:1" not in stuck(groups(met, halfway))
    assert {"fair", "obe:2"} < stuck(groups(met, halfway))


def test_a_barrier_waits_for_a_thread_that_is_stuck() -> None:
    hanging = Concurrent((((SPIN, Barrier()), (Barrier(),)), ((WRITE,),)))
    assert stuck(hanging) == {"hsa", "hsa-obe", "lobe", "unfair"} | NOT_OBE
    meeting = Concurrent((((Barrier(), WRITE), (Barrier(), SPIN)),))
    assert stuck(meeting) == set()


def test_too_many_states_are_refused() -> None:
    with pytest.raises(TooMany):
        stuck(groups((SPIN,), (WRITE,)), states=3)
