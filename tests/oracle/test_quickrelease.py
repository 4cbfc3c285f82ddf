"""The scheme for QuickRelease, on a search that knows nothing of the package.

docs/quickrelease.md says which rows these are and what they rest on.
"""

import random

import pytest

from . import model, quickrelease, schemes
from .test_oracle import (
    EXAMPLE_1,
    EXAMPLE_4,
    MP,
    MP_FETCH_INC,
    MP_ONE_FETCH_INC,
    MP_REMOTE_LOAD,
    MP_REMOTE_STORE,
    assembly,
    fetch_inc,
    inc,
    is_one,
    load,
    message_passing,
    program,
    random_assembly,
    st,
    store,
)

FEWER = {"rl2": False, "eager": True}

MP_REMOTE_INC_RECEIVES = message_passing(store(2, "y", 1, "WG"), fetch_inc(3, "y", "DV", True))
MP_REMOTE_INC_SENDS = message_passing(fetch_inc(2, "y", "DV", True), load(3, "y", "WG"))
INC_AND_REMOTE_INC = program(
    {"x"}, (0, [fetch_inc(1, "x", "WG")]), (1, [fetch_inc(2, "x", "DV", True)])
)
REMOTE_STORES = program(
    {"x"},
    (0, [store(1, "x", 3, "DV", True)]),
    (1, [store(2, "x", 2, "DV", True)]),
)
REMOTE_INCS = program(
    {"x"}, (0, [fetch_inc(1, "x", "DV", True)]), (1, [fetch_inc(2, "x", "DV", True)])
)
WRC = program(
    {"x", "y"},
    (0, [store(1, "x", 1, "DV")]),
    (1, [load(2, "x", "DV"), store(3, "y", 1, "DV", guard=is_one(2))]),
    (2, [load(4, "y", "DV"), load(5, "x", "DV", guard=is_one(4))]),
)
SOUND = {
    "MP": MP,
    "MP with fetch_inc": MP_FETCH_INC,
    "MP received by fetch_inc": MP_ONE_FETCH_INC,
    "MP with remote load": MP_REMOTE_LOAD,
    "MP with remote store": MP_REMOTE_STORE,
    "MP received by remote fetch_inc": MP_REMOTE_INC_RECEIVES,
    "MP with remote fetch_inc": MP_REMOTE_INC_SENDS,
    "Example 1": EXAMPLE_1,
    "Example 4": EXAMPLE_4,
    "fetch_inc and remote fetch_inc": INC_AND_REMOTE_INC,
    "WRC": WRC,
}


def compiled(source, **rows):
    return schemes.compile_program(source, {**schemes.QUICKRELEASE, **rows})


@pytest.mark.parametrize("source", SOUND.values(), ids=SOUND)
def test_sound(source):
    allowed, racy, _ = model.outcomes(source)
    assert not racy
    assert quickrelease.outcomes(compiled(source), **FEWER) == allowed


NEEDED = [
    # row, the place of the instruction in it, a program that breaks without it
    ("load", "DV,R", 1, MP_REMOTE_LOAD),
    ("load", "DV,R", 2, MP_REMOTE_LOAD),
    ("store", "DV,N", 0, MP),
    ("store", "DV,N", 1, MP),
    ("store", "DV,R", 0, EXAMPLE_4),
    ("store", "DV,R", 1, EXAMPLE_4),
    ("store", "DV,R", 2, MP_REMOTE_STORE),
    ("store", "DV,R", 4, EXAMPLE_4),
    ("store", "DV,R", 5, EXAMPLE_4),
    ("rmw", "DV,N", 0, MP_FETCH_INC),
    ("rmw", "DV,N", 1, MP_FETCH_INC),
    ("rmw", "DV,R", 0, INC_AND_REMOTE_INC),
    ("rmw", "DV,R", 1, INC_AND_REMOTE_INC),
    ("rmw", "DV,R", 2, MP_REMOTE_INC_SENDS),
    ("rmw", "DV,R", 4, MP_REMOTE_INC_RECEIVES),
    ("rmw", "DV,R", 5, INC_AND_REMOTE_INC),
]


@pytest.mark.parametrize("kind, scope, place, source", NEEDED)
def test_each_instruction_is_needed(kind, scope, place, source):
    row = schemes.QUICKRELEASE[kind, scope]
    without = schemes.QUICKRELEASE | {(kind, scope): row[:place] + row[place + 1 :]}
    found = quickrelease.outcomes(schemes.compile_program(source, without), **FEWER)
    assert found - model.outcomes(source)[0]


@pytest.mark.parametrize("kind, scope, place", [("load", "DV,R", 1), ("rmw", "DV,R", 4)])
def test_remote_flushes_reach_the_device(kind, scope, place):
    row = list(schemes.QUICKRELEASE[kind, scope])
    row[place] = ("FLU_L1", "WG")
    source = {"load": MP_REMOTE_LOAD, "rmw": MP_REMOTE_INC_RECEIVES}[kind]
    weaker = schemes.compile_program(source, schemes.QUICKRELEASE | {(kind, scope): row})
    assert quickrelease.outcomes(weaker, **FEWER) - model.outcomes(source)[0]


@pytest.mark.parametrize(
    "kind, source", [("store", REMOTE_STORES), ("rmw", REMOTE_INCS)], ids=["store", "rmw"]
)
def test_the_rmw_locks_are_given_back(kind, source):
    row = schemes.QUICKRELEASE[kind, "DV,R"]
    kept = schemes.QUICKRELEASE | {(kind, "DV,R"): row[:-1]}
    assert not quickrelease.outcomes(schemes.compile_program(source, kept), **FEWER)


# ---- the machine alone ----


def others(rng, x):
    return [("REL", rng.choice(["WG", "DV"])), ("LK_rmw", "DV"), ("UL_rmw", "DV")]


def in_two_steps(program):
    """REL as a marker for wL1, and when that has gone, one for wL2."""

    def taken_apart(guard, instruction):
        if instruction[0] != "REL":
            return [(guard, instruction)]
        return [(guard, ("FLU_L1", instruction[1])), (guard, ("FLU_L2", "DV"))]

    threads = [
        {**thread, "code": [it for each in thread["code"] for it in taken_apart(*each)]}
        for thread in program["threads"]
    ]
    return {**program, "threads": threads}


def test_options_keep_the_outcomes():
    """Neither rL2 nor when a FIFO moves on, nor how a marker comes to wL2, can be observed."""
    rng = random.Random(1)
    for _ in range(8):
        one = random_assembly(rng, [[1, 2], [1, 2]], others)
        all_of_it = quickrelease.outcomes(one)
        assert quickrelease.outcomes(one, **FEWER) == all_of_it
        assert quickrelease.outcomes(in_two_steps(one), **FEWER) == all_of_it
        assert quickrelease.outcomes(one, atomics="memory", **FEWER) <= all_of_it


def test_a_load_finds_what_its_own_work_group_has_written():
    """Also where another work-group's eviction has taken the entry for reading away."""
    own = [st(1, "x"), ("LD", 1, "y"), ("LD", 2, "x")]
    other = [st(2, "x"), ("FLU_L1", "WG"), ("FLU_L2", "DV"), st(1, "y")]
    found = quickrelease.outcomes(assembly(((0, 0), own), ((0, 1), other), x=0, y=0), **FEWER)
    assert {dict(reads)[2] for reads, _ in found if dict(reads)[1] == 1} == {1, 2}
    assert all(dict(reads)[2] != 0 for reads, _ in found)


def test_stale_entries_go_when_the_second_level_evicts():
    """A store in wL2 is seen by those who fetch, not by those who have an older entry."""
    first = [("LD", 1, "x"), ("INC_L2", 2, "y", inc(2))]
    second = [("INC_L2", 3, "y", inc(3)), ("LD", 4, "x")]
    threads = [((0, 0), [st(1, "x")]), ((0, 1), first), ((0, 2), second)]
    seen = {reads for reads, _ in quickrelease.outcomes(assembly(*threads, x=0, y=0), **FEWER)}
    assert ((1, 1), (2, 0), (3, 1), (4, 0)) in seen
