"""Programs with local memory by formula: of each what is said of it by itself, and none is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from engineering.hunt.agreement import MODEL, QUICK, Asked, suspected
from engineering.hunt.tables import scheme
from enumeration.test_survey import in_local_memory, random_shape
from enumeration.written import packed_line

from rspverify.commands.hunt import hunt
from rspverify.engineering.hunt.by_formula import SketchQuestion
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.formula.ask import SketchSearch
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.operations import hunting_space, row_of
from rspverify.engineering.hunt.strategy import Hunted, program_named
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedTest
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.records import replace as changed
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.source import InputError
from rspverify.verdict import WRONG

BOTH = ("global", "local")


def space_of(table: Scheme, names: list[str], events: int, threads: int = 2) -> Space:
    bounds = (events, threads, threads, 1, 2, None)
    return hunting_space(table, bounds, names, mixed=False, memories=BOTH)[0]


def without_waits(table: Scheme, name: str, wait: str, *, local: bool) -> Scheme:
    """A table whose row of an operation, in local memory or in global memory, lacks a wait."""
    row = row_of(name, table, local=local)
    assert row is not None and any(wait in str(it) for it in row.code)
    return table.with_code(row.number, tuple(it for it in row.code if wait not in str(it)))


def programs(space: Space, seed: int, sizes: tuple[int, ...]) -> Iterator[PackedTest]:
    """Random programs of local memory that must be decided."""
    rng, tables = random.Random(seed), Tables(space)
    while True:
        shape = in_local_memory(random_shape(space, tables, rng, rng.choice(sizes)), rng)
        if shape.local and not races(shape, tables) and sort_of(shape, tables) is Sort.CORE:
            yield shape


MESSAGE = "st.na x 10; F.ar.WG; st.rlx.WG y 20 || r0=ld.rlx.WG y; F.ar.WG; if r0==20: r1=ld.na x"
BUFFERS = "st.rlx.WG x 10; F.sc.WG; r0=ld.rlx.WG y || st.rlx.WG y 20; F.sc.WG; r0=ld.rlx.WG x @01"


@pytest.mark.parametrize(
    ("line", "name", "row", "wait", "local", "expected"),
    [
        (f"{MESSAGE} @01 (local x)", "gfx900", "", "", True, False),
        (f"{MESSAGE} @01 (local x)", "gfx900", "F.ar.WG", "lgkmcnt", True, True),
        (f"{MESSAGE} @01 (local y)", "gfx900", "F.ar.WG", "lgkmcnt", True, False),
        (f"{MESSAGE} @01 (local y)", "gfx1030", "F.ar.WG", "vscnt", True, True),
        (f"{MESSAGE} @01 (local y)", "gfx1030", "F.ar.WG", "lgkmcnt", True, True),
        (f"{MESSAGE} @01 (local y)", "gfx1030", "F.ar.WG", "vscnt", False, False),
        (f"{BUFFERS} (local x)", "gfx900", "", "", True, False),
        (f"{BUFFERS} (local x)", "gfx900", "F.sc.WG", "lgkmcnt", True, True),
        (f"{BUFFERS} (local x) (local y)", "gfx900", "F.sc.WG", "lgkmcnt", True, False),
    ],
)
def test_what_waits_order_is_suspected_as_by_itself(
    line: str, name: str, row: str, wait: str, local: bool, expected: bool
) -> None:
    """Messages between the memories, in a formula of as many operations, with a planted mistake:
    the datum is late, or what invalidates comes before the flag is read."""
    table = scheme(f"amdgpu/{name}")
    table = without_waits(table, row, wait, local=local) if row else table
    shape, space = packed_line(line)
    assert not races(shape, Tables(space))
    assert suspected(shape, space, table) is expected
    space = changed(space, memories=BOTH)
    assert Asked(space, table).choose(shape) is expected


@pytest.mark.parametrize("name", ["gfx900", "gfx1030"])
def test_formulas_say_of_each_program_what_it_says_by_itself(name: str) -> None:
    """Of some programs, and then of the first that is suspected where one can be: on GFX9 a
    read-modify-write of global memory passes by the cache."""
    table = scheme(f"amdgpu/{name}")
    space = space_of(table, ["ld.sc.WG", "st.WG", "inc.rlx.WG"], 4)
    formulas = Asked(space, table)
    wanted = {"gfx900": {True, False}, "gfx1030": {False}}[name]
    said: list[bool] = []
    for shape in programs(space, 1, (3, 4)):
        expected = suspected(shape, space, table)
        if len(said) >= 8 and not expected:
            continue
        assert formulas.choose(shape) is expected, line_of(shape, space)
        said.append(expected)
        word = check(Case(program_named(shape, space), table, MODEL, QUICK)).word
        assert word not in WRONG or expected
        if len(said) >= 8 and set(said) == wanted:
            break


def test_a_formula_finds_the_wait_for_local_memory_that_is_missing() -> None:
    whole = scheme("amdgpu/gfx900")
    table = without_waits(whole, "F.sc.WG", "lgkmcnt", local=True)
    names = ["ld.rlx.WG", "st.rlx.WG", "F.sc.WG"]
    space = space_of(table, names, 6)
    own = (0, 1)
    asked = [
        it
        for it in sketches(space, 6, 2)
        if (it.lengths, it.atomic) == ((3, 3), (True, True)) and len(set(it.places)) == 1
    ]
    assert {it.owners for it in asked} == {(), ((), own), (own, own)}
    (sketch,) = (it for it in asked if it.owners == ((), own))
    for given in (whole, table):
        answer = SketchSearch(space, given, MODEL, QUICK).answer(sketch)
        assert bool(answer.broken) is not answer.sound is (given is whole)


def test_what_has_no_local_memory_is_not_hunted_there() -> None:
    with pytest.raises(InputError, match=r"machine rsp must have local memory .* and has none"):
        hunt("proposed", memories=["local"])
    with pytest.raises(InputError, match="a memory must be one of global, local, not lds"):
        hunt("proposed", memories=["lds"])
    gfx900 = scheme("amdgpu/gfx900")
    with pytest.raises(InputError, match="hunts with local memory are by formula"):
        hunt(gfx900, memories=["local"], by=By.PROGRAMS)
    with pytest.raises(InputError, match="nothing can be estimated"):
        hunt(gfx900, memories=["local"], estimate=True)


def test_sketches_say_in_whose_local_memory_a_location_is() -> None:
    """Of one work-group, of several threads where nothing is seq_cst; once up to names."""
    space = Space(events=4, threads=2, workgroups=2, again=True, operations=("ld.WG", "st.WG"))
    space = changed(space, memories=BOTH)
    found = [it for it in sketches(space, 4, 2) if it.lengths == (2, 2)]
    assert {it.owners for it in found if len(set(it.places)) == 2} == {()}
    together = [it.owners for it in found if len(set(it.places)) == 1]
    assert together == [(), ((0, 1),), (), ((), (0, 1)), ((0, 1), (0, 1))]
    shown = {str(it) for it in found}
    words = (
        "threads of 2 + 2 operations in work-groups 0, 0, locations atomic, atomic local to P0, P1"
    )
    assert words in shown


def without_row(table: Scheme, name: str) -> Scheme:
    """A table without its row for an operation in local memory."""
    row = row_of(name, table, local=True)
    return changed(table, rows=tuple(it for it in table.rows if it is not row))


def test_what_no_row_compiles_is_said() -> None:
    """In tgsplit mode there is no local memory, though the machine could have it."""
    split = scheme("amdgpu/gfx90a-tgsplit")
    message = "must have a row for one of st.DV, ld.sc.DV in local memory, and has none"
    with pytest.raises(InputError, match=message):
        hunt(split, events=2, operations=["ld.sc.DV", "st.DV"], memories=BOTH)
    gfx900 = scheme("amdgpu/gfx900")
    names = ["ld.sc.WG", "st.WG", "F.ar.WG"]
    bounds = (2, 2, 2, 1, 2, None)
    for lacking, where in (("ld.sc.WG", "in"), ("F.ar.WG", "beside")):
        table = without_row(gfx900, lacking)
        space, left_out = hunting_space(table, bounds, names, mixed=False, memories=BOTH)
        assert left_out == ((lacking, f"{where} local memory the scheme has no row for it"),)
        assert set(space.operations) == set(names)
        asked = hunt(table, events=2, operations=names, memories=BOTH, count=False)
        assert not list(asked)
        assert [it.operation for it in asked.so_far().space.left_out] == [lacking]


def test_a_row_without_code_is_another_question_than_no_row() -> None:
    """Without a row no program has such fences beside local memory, so that nothing is wrong."""
    table = scheme("amdgpu/gfx900")
    row = row_of("F.ar.WG", table, local=True)
    assert row is not None
    asked = []
    for given in (without_row(table, "F.ar.WG"), table.with_code(row.number, ())):
        survey = Survey(space_of(given, ["ld.rlx.WG", "st.rlx.WG", "F.ar.WG"], 6), MODEL)
        own = (0, 1)
        sketch = Sketch((3, 3), ((0, 0), (0, 0)), (True, False), owners=((), own))
        hunted = Hunted(survey, given, QUICK)
        asked.append(SketchQuestion(hunted, sketch).content)
    assert asked[0] != asked[1]


def test_without_its_local_memory_a_program_keeps_its_fences() -> None:
    """They are for both memories as one thread reads local memory; nothing else needs that."""
    table = scheme("amdgpu/gfx900")
    row = row_of("F.ar.DV", table, local=True)
    assert row is not None
    waits = tuple(it for it in row.code if "lgkmcnt" in str(it))
    weaker = table.with_code(row.number, waits)
    names = ["ld.rlx.DV", "st.rlx.DV", "F.ar.DV"]
    assert "F.ar.DV.both" not in space_of(table, names, 5).operations
    assert "F.ar.DV.both" in space_of(weaker, names, 5).operations
    sent = "st.rlx.DV x 10; F.ar.DV.both; st.rlx.DV y 20"
    shape, space = packed_line(f"{sent} || r0=ld.rlx.DV y; F.ar.DV.both; r1=ld.rlx.DV x")
    assert Asked(changed(space, memories=BOTH), weaker).choose(shape)
