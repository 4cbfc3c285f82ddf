"""The enumeration, against one that knows no symmetry, and its filters against the solver."""

from __future__ import annotations

import random
import sys
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from enumeration import naive
from enumeration.written import packed_line

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.question import Questions
from rspverify.enumeration.growth import Growth, reductions
from rspverify.enumeration.lemmas import Sort, sort_of, strength_tells
from rspverify.enumeration.naming import line_of, named
from rspverify.enumeration.packed import EMPTY, PackedTest, canonical, decoded, encoded
from rspverify.enumeration.races import _races_in_turn, races
from rspverify.enumeration.space import DEVICES, NAMES, Space, chosen_operations
from rspverify.enumeration.survey import Survey, packed, unpacked
from rspverify.enumeration.tables import Tables
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.source import InputError, Source
from rspverify.verdict import Outcome

MODEL = load_model("opencl-rsp")


def listed(space: Space) -> list[bytes]:
    """The programs without a race of the space, those with the most operations left out."""
    survey = Survey(space.within(space.events + 1), MODEL)
    for _ in survey.phases(upto=space.events):
        pass
    return [each for events in range(1, space.events + 1) for each in survey.growing(events)]


def has_race(shape, space: Space) -> bool:
    return Questions(program_of(named(shape, space), "test"), MODEL, Limits()).race() is not None


@cache
def small() -> tuple[Space, tuple[bytes, ...]]:
    space = Space(events=3)
    return space, tuple(listed(space))


@pytest.mark.parametrize(
    ("operations", "events", "locations"),
    [
        (Space().operations, 2, 2),
        (("st.na", "ld.DV", "inc.DV"), 3, 2),
        (("st.DV.R", "inc.WG"), 3, 1),
        (("ld.DV", "st.DV"), 4, 1),
    ],
)
def test_every_program_without_a_race_is_listed_once(operations, events, locations) -> None:
    """As many as there are with every name tried, with the solver to say which race."""
    space = Space(events=events, locations=locations, operations=operations)
    found = [naive.of_shape(decoded(each), space) for each in listed(space)]
    assert len(set(found)) == len(found)
    expected = {
        program
        for size in range(1, events + 1)
        for program in naive.programs(operations, size, 3, locations)
    }
    free = {each for each in expected if not races_by_solver(each, space)}
    assert set(found) == free
    assert free < expected or operations == ("ld.DV", "st.DV")


def races_by_solver(program, space: Space) -> bool:
    shape = naive.to_shape(program, space)
    if not Tables(space).suspects(shape):
        return False  # no two accesses conflict but with inclusive scopes
    return has_race(shape, space)


@pytest.mark.parametrize(
    ("devices", "mixed", "seed"), [(1, False, 1), (2, False, 3), (1, True, 11), (2, True, 12)]
)
def test_races_are_those_that_the_solver_finds(devices: int, mixed: bool, seed: int) -> None:
    space = Space(
        events=4,
        devices=devices,
        mixed=mixed,
        operations=("ld.na", "st.na", "ld.WG", "ld.DV", "st.DV", "inc.DV.R")
        + (("st.ALL", "ld.ALL") if devices > 1 else ()),
    )
    tables = Tables(space)
    rng = random.Random(seed)
    seen = {True: 0, False: 0}
    while min(seen.values()) < 3:
        shape = random_shape(space, tables, rng, rng.choice((3, 4)))
        guarded = any(step.tests >= 0 for thread in shape.threads for step in thread.accesses)
        if not tables.suspects(shape) or not (guarded or rng.random() < 0.05):
            continue
        racy = races(shape, tables)
        assert racy == has_race(shape, space), line_of(shape, space)
        seen[racy] += 1


def test_what_a_value_hands_over_does_not_race() -> None:
    """With every order and scope of the store and of the load, on either side of the access."""
    plain = "st.na x 10", "r0=ld.na x"
    stores = [f"st.{it} y 20" for it in ("rlx.DV", "rel.DV", "rel.WG", "rel.WG.R")]
    loads = [f"r1={it} y" for it in ("ld.rlx.DV", "ld.acq.DV", "ld.acq.WG", "inc.ar.DV")]
    lines = [
        f"{'; '.join(order)} || {load}; if r1==20: {second}{where}"
        for first, second in zip(plain, plain[::-1], strict=True)
        for store in stores
        for order in permutations((first, store))
        for load in loads
        for where in ("", " @01")
    ]
    lines += [
        # handed over the other way round: the plain access comes after the release
        "st.rel.DV y 20; r1=ld.rlx.DV z; if r1==30: r0=ld.na x || "
        "r1=ld.acq.DV y; if r1==20: st.na x 10; st.rlx.DV z 30",
        # the thread that acquires is another one
        "st.na x 10; st.rel.DV y 20 || r1=ld.acq.DV y; if r1==20: st.rlx.DV z 30 || "
        "r1=ld.acq.DV z; if r1==30: r0=ld.na x",
        "st.na x 10; st.rel.DV y 20 || r1=inc.rlx.DV y || r1=ld.acq.DV y; if r1==21: r0=ld.na x",
        "st.na x 10; st.rel.DV y 20 || r1=cas.ar.DV y 30 40; if r1==20: r0=ld.na x",
    ]
    said = []
    for line in lines:
        shape, space = packed_line(line)
        said.append(races(shape, Tables(space)))
        assert said[-1] == has_race(shape, space), line
    assert 20 < sum(said) < len(said) - 20


def in_local_memory(shape: PackedTest, rng: random.Random) -> PackedTest:
    """A program with some of the locations in local memory that one work-group alone accesses."""
    own = [
        x
        for x in range(len(shape.atomic))
        if len({it[:2] for it in shape.threads if any(each[1] == x for each in it[2])}) == 1
    ]
    return shape._replace(local=tuple(x for x in own if rng.random() < 0.7))


def test_races_with_local_memory_are_those_that_the_solver_finds() -> None:
    """With fences, which order both memories, and seq_cst operations, which do so among them."""
    rng = random.Random(47)
    common = ["F.ar.WG", "st.rlx.WG", "ld.rlx.WG", "st.sc.WG", "ld.sc.WG", "F.sc.WG", "inc.WG"]
    seen, differs = {True: 0, False: 0}, 0
    while min(seen.values()) < 2 or differs < 1:
        names = ("ld.na", "st.na", *rng.sample(common, 4))
        space = Space(events=6, workgroups=rng.choice((1, 2)), operations=names, again=True)
        tables = Tables(space)
        shape = in_local_memory(random_shape(space, tables, rng, rng.choice((4, 5, 6))), rng)
        suspects = tables.suspects(shape)
        guarded = any(it.tests >= 0 for thread in shape.threads for it in thread.accesses)
        if not shape.local or not suspects or not guarded:
            continue
        if _races_in_turn(shape, tables, suspects) and rng.random() > 0.05:
            continue
        racy = races(shape, tables)
        assert decoded(encoded(shape)) == shape
        assert racy == has_race(shape, space), line_of(shape, space)
        differs += racy != races(shape._replace(local=()), tables)
        seen[racy] += 1


ORDERS = [it for it in NAMES if ".R" not in it and "ALL" not in it]
CAS = [it for it in ORDERS if it.startswith("cas") and it.endswith((".WG", ".DV"))]
OTHERS = [it for it in ORDERS if not it.startswith("cas")]
COMMON = ["st.sc.DV", "ld.sc.WG", "F.sc.DV", "F.rel.DV", "F.acq.WG"]


@pytest.mark.parametrize(
    ("seed", "drawn", "kind", "many"),
    [(3, [(COMMON, 3), (ORDERS, 4)], "", 20), (17, [(CAS, 2), (OTHERS, 3)], "cas", 20)],
)
def test_races_with_every_order_fence_and_compare_exchange_are_those_that_the_solver_finds(
    seed: int, drawn: list[tuple[list[str], int]], kind: str, many: int
) -> None:
    """Those in which no interleaving has two accesses next to each other that race, above all.

    Whether a compare-exchange succeeds depends on the execution, and it synchronises only if so.
    """
    rng = random.Random(seed)
    seen = {True: 0, False: 0}
    while sum(seen.values()) < many:
        names = ["ld.na", "st.na", *(it for those, n in drawn for it in rng.sample(those, n))]
        space = Space(events=5, operations=tuple(dict.fromkeys(names)), again=True)
        tables = Tables(space)
        shape = random_shape(space, tables, rng, rng.choice((3, 4, 5) if kind else (4, 5)))
        suspects = tables.suspects(shape)
        if kind not in line_of(shape, space) or not suspects:
            continue
        if _races_in_turn(shape, tables, suspects) and rng.random() > 0.01:
            continue
        racy = races(shape, tables)
        assert racy == has_race(shape, space), line_of(shape, space)
        seen[racy] += 1
    assert min(seen.values()) > 1


@pytest.mark.parametrize("names", [("cas.DV", "inc.DV", "st.na"), ("cas.WG", "st.DV", "ld.DV")])
def test_programs_with_compare_exchanges_are_listed_once(names: tuple[str, ...]) -> None:
    """As many as come of growing in every way there is, not from one parent each."""
    space = Space(events=3, threads=2, operations=names)
    tables = Tables(space)
    growth, grown, found = Growth(tables), {EMPTY}, set()
    for _ in range(3):
        grown = {
            canonical(packed)
            for shape in grown
            for new in (True, False)
            if not new or len(shape.threads) < space.threads
            for packed, _ in growth._extended(shape, new=new)
        }
        grown = {each for each in grown if not races(each, tables)}
        found |= grown
    programs = listed(space)
    assert len(programs) == len(set(programs))
    assert {decoded(each) for each in programs} == found
    assert any(it.expects >= 0 for each in found for own in each.threads for it in own.accesses)


def test_a_program_races_if_one_with_stronger_operations_does() -> None:
    rng = random.Random(4)
    names = [it for it in NAMES if not any(other in it for other in ("ALL", "SG"))]
    seen = 0
    while seen < 60:
        own = tuple(dict.fromkeys(("ld.na", "st.na", *rng.sample(names, 8))))
        space = Space(events=4, operations=own)
        tables = Tables(space)
        shape = random_shape(space, tables, rng, 4)
        if strength_tells(shape.atomic) and races(shape, tables):
            for at in range(len(shape.threads)):
                other = weakened(shape, at, tables, rng)
                assert races(other, tables), (line_of(shape, space), line_of(other, space))
                seen += other != shape


@pytest.mark.parametrize(
    ("strong", "weak"),
    [
        (
            "st.sc.DV x 10; r0=ld.sc.DV y || st.sc.DV y 20; r0=ld.sc.DV x",
            "st.sc.DV x 10; r0=ld.DV y || st.sc.DV y 20; r0=ld.sc.DV x",
        ),
        (
            "st.rlx.DV x 10; st.DV y 20 || r0=ld.DV y; r1=ld.rlx.DV x",
            "st.rlx.DV x 10; st.rlx.DV y 20 || r0=ld.DV y; r1=ld.rlx.DV x",
        ),
    ],
)
def test_a_program_allows_what_one_with_stronger_operations_does(strong: str, weak: str) -> None:
    assert allowed(*packed_line(strong)) < allowed(*packed_line(weak))


def weakened(shape: PackedTest, number: int, tables: Tables, rng: random.Random) -> PackedTest:
    """A test with a weaker operation, if there is one, in the place of each of a thread."""
    accesses = []
    for it in shape.threads[number].accesses:
        weaker = [one for one in range(len(tables.plain)) if tables.weaker(one, it.operation)]
        kept = [one for one in weaker if tables.kept[one] is tables.kept[it.operation]]
        accesses.append(it._replace(operation=rng.choice(kept or [it.operation])))
    thread = shape.threads[number]._replace(accesses=tuple(accesses))
    return shape.with_thread(number, thread)


def allowed(shape: PackedTest, space: Space) -> set[Outcome]:
    return set(Questions(program_of(named(shape, space), "test"), MODEL, Limits()).outcomes())


@pytest.mark.parametrize(
    ("line", "racy"),
    [
        ("st.na x 10; F.rel.DV; st.rlx.DV y 20 || r0=ld.rlx.DV y; F.acq.DV; if r0==20: r1=ld.na x", False),
        ("st.na x 10; F.rel.DV.both; st.rlx.DV y 20 || r0=ld.rlx.DV y; F.acq.DV; if r0==20: r1=ld.na x", False),
        ("st.na x 10; F.rel.WG; st.rlx.DV y 20 || r0=ld.rlx.DV y; F.acq.DV; if r0==20: r1=ld.na x", True),
        ("st.na x 10; st.rlx.DV y 20 || r0=ld.rlx.DV y; F.acq.DV; if r0==20: r1=ld.na x", True),
        ("st.na x 10; F.rel.DV; st.rlx.DV y 20 || r0=ld.DV y; if r0==20: r1=ld.na x", False),
        ("st.na x 10; st.DV y 20 || r0=ld.rlx.DV y; if r0==20: r1=ld.na x", True),
        ("st.na x 10; inc.DV y || r0=inc.acq.DV y; if r0==1: r1=ld.na x", False),
        ("st.na x 10; inc.rlx.DV y || r0=inc.acq.DV y; if r0==1: r1=ld.na x", True),
        ("st.na x 10; st.SG y 20 || r0=ld.SG y; if r0==20: r1=ld.na x @01", True),
        ("st.na x 10; st.WG y 20 || r0=ld.WG y; if r0==20: r1=ld.na x @01 (local y)", True),
        ("st.na x 10; st.WG y 20 || r0=ld.WG y; if r0==20: r1=ld.na x @01 (local x)", True),
        ("st.na x 10; st.WG y 20 || r0=ld.WG y; if r0==20: r1=ld.na x @01 (local x) (local y)", False),
        ("st.na x 10; st.sc.WG y 20 || r0=ld.sc.WG y; if r0==20: r1=ld.na x @01 (local y)", True),
        ("st.na x 10; F.rel.WG; st.rlx.WG y 20 || r0=ld.rlx.WG y; F.acq.WG; if r0==20: r1=ld.na x @01 (local y)", False),
        ("st.na x 10; F.rel.WG; st.rlx.WG y 20 || r0=ld.WG y; if r0==20: r1=ld.na x @01 (local y)", True),
        ("st.na x 10; F.rel.WG; st.rlx.WG y 20 || r0=ld.WG y; if r0==20: r1=ld.na x @01 (local x) (local y)", False),
        ("r0=cas.DV x 0 10; if r0==1: st.na y 20 || r0=cas.DV x 0 30; if r0==1: st.na y 40", False),
        ("r0=cas.DV x 0 10; if r0==1: st.na y 20 || r0=cas.DV x 10 30; if r0==1: st.na y 40", True),
        ("st.na x 10; r0=cas.DV y 0 20 || r0=cas.DV y 20 30; if r0==1: r1=ld.na x", False),
        ("st.na x 10; r0=cas.rlx.DV y 0 20 || r0=cas.DV y 20 30; if r0==1: r1=ld.na x", True),
        ("st.na x 10; r0=cas.DV y 0 20 || r0=cas.rlx.DV y 20 30; if r0==1: r1=ld.na x", True),
        ("r0=cas.WG x 1 10 || r0=ld.WG x", False),
        ("r0=cas.WG x 0 10 || r0=ld.WG x", True),
    ],
)  # fmt: skip
def test_what_synchronises(line: str, racy: bool) -> None:
    """Release and acquire, by accesses and by fences, whose scopes must reach each other. An access
    synchronises for its own memory alone, a fence for both. A compare-exchange that cannot succeed
    writes nothing; one that fails synchronises nothing."""
    shape, space = packed_line(line)
    assert line_of(shape, space) == line
    assert decoded(encoded(shape)) == shape
    assert races(shape, Tables(space)) is racy is has_race(shape, space)


def random_shape(space: Space, tables: Tables, rng: random.Random, size: int):
    """A program of the space, racy or not, that grew at random."""
    shape, growth = EMPTY, Growth(tables)
    while shape.size < size:
        new = len(shape.threads) < space.threads and rng.random() < 0.6
        steps = list(growth._extended(shape, new=new or not shape.threads))
        tests = [each for each in steps if each[0].threads[each[1]].accesses[-1].tests >= 0]
        shape = rng.choice(tests if tests and rng.random() < 0.6 else steps)[0]
    return shape


def test_a_race_of_a_program_is_one_of_what_it_grows_into() -> None:
    space = Space(events=4)
    tables = Tables(space)
    rng = random.Random(5)
    seen = 0
    while seen < 10:
        shape = random_shape(space, tables, rng, 4)
        parts = list(reductions(shape, tables))
        assert parts
        if any(has_race(each, space) for each in parts):
            assert has_race(shape, space), line_of(shape, space)
            seen += 1


def test_a_text_reads_as_the_program_that_was_decided() -> None:
    rng = random.Random(2)
    for devices in (1, 2):
        operations = DEVICES if devices > 1 else Space().operations
        space = Space(events=5, devices=devices, mixed=True, operations=operations)
        tables = Tables(space)
        for _ in range(12):
            shape = random_shape(space, tables, rng, 5)
            assert read_notation(line_of(shape, space)) == named(shape, space)
            built = program_of(named(shape, space), "test")
            read = read_program(Source("test", litmus_text(named(shape, space), "test")))
            assert plain(built) == plain(read)


def plain(program) -> object:
    return (
        [(x.name, x.atomic, x.region, x.initial) for x in program.locations],
        [(each.name, each.device, each.workgroup) for each in program.threads],
        [
            (
                (it.index, it.thread, it.kind, it.location, it.order, it.scope, it.remote),
                (it.guard, it.value, it.operator, it.operand, it.success, it.regions),
            )
            for it in program.operations
        ],
    )


def test_canonical_forms_and_encodings() -> None:
    _, programs = small()
    rng = random.Random(3)
    for each in rng.sample(programs, 200):
        shape = decoded(each)
        assert encoded(shape) == each
        assert canonical(shape) == shape
    assert set(unpacked(packed(programs[:500]))) == set(programs[:500])


def test_what_is_said_of_each_program() -> None:
    space, programs = small()
    tables = Tables(space)
    sorts = dict.fromkeys(Sort, 0)
    for each in programs:
        sorts[sort_of(decoded(each), tables)] += 1
    assert sorts == {Sort.ALONE: 11431, Sort.LARGER: 2398, Sort.GUARDED: 336, Sort.CORE: 741}
    phases = list(Survey(space, MODEL).phases())
    assert [(it.events, it.threads) for it in phases] == [
        (1, 1),
        (2, 1),
        (2, 2),
        (3, 1),
        (3, 2),
        (3, 3),
    ]
    assert sum(it.counts.programs for it in phases) == len(programs)
    assert sum(len(it.core) for it in phases) == 741


def test_an_operation_may_be_named_with_its_usual_order() -> None:
    names = ["ld.acq.DV", "st.rel.WG", "inc.ar.DV.unused", "cas.ar.DV", "ld.sc.DV.R"]
    found = chosen_operations(names, 1)
    assert set(found) == {"ld.DV", "st.WG", "inc.DV.unused", "cas.DV", "ld.sc.DV.R"}
    with pytest.raises(InputError, match=r"not ld\.rel\.DV"):
        chosen_operations(["ld.rel.DV"], 1)


def test_many_ways_through_a_thread_are_left_to_the_solver() -> None:
    """Four operations that are compared and tested one after the other, each with many values."""
    line = (
        "r0=cas.sc.WG x 0 10; r1=cas.rel.WG x 0 20; if r1==1: r2=inc.rel.WI x; "
        "if r2==40: r3=cas.rel.WG x 20 30 || r0=cas.sc.WG x 0 40 @01"
    )
    shape, space = packed_line(line)
    assert line_of(shape, space) == line
    assert races(shape, Tables(space)) is has_race(shape, space)
