"""Formulas say of each program what is said of it by itself, and lose none."""

from __future__ import annotations

import pytest
from engineering.hunt.agreement import excluded, lost, said
from engineering.hunt.tables import scheme, without

from rspverify.engineering.hunt.operations import hunting_space
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables

NEAR, ONE_LOCATION = (2, 2, 2, 1, 2, None), (2, 2, 2, 1, 1, None)
FAR = (2, 2, 2, 2, 2, None)
PROCESSOR = ["st.rlx.WG", "ld.WG", "inc.rlx.WG.unused", "ld.rlx.DV"]


@pytest.mark.parametrize(
    ("name", "names", "bounds", "every", "dropped", "shown"),
    [
        ("original", ["st.na", "ld.DV", "st.DV.R", "inc.WG", "inc.DV"], (3, 3, 3, 1, 2, None), 1, [], "st.DV.R"),
        ("amdgpu/gfx900+RMW_DROPS_LINE=off", ["F.acq.DV", "F.acq.WG", "inc.rlx.DV", "ld.rlx.WG"], (3, 2, 2, 1, 1, None), 3, [], "F.acq"),
        ("amdgpu/gfx900+RMW_DROPS_LINE=off", PROCESSOR, NEAR, 1, [], ""),
        ("amdgpu/gfx900", ["ld.WG", "inc.WG.unused"], (3, 2, 2, 1, 1, None), 1, [], "@01"),
        ("amdgpu/gfx1030", PROCESSOR, NEAR, 1, [], None),
        ("amdgpu/gfx942+RMW_DROPS_LINE=off+WRITE_BACK_AFTER_OWN_STORES=off", ["st.DV", "ld.WG", "inc.WG"], NEAR, 1, [], ""),
        ("amdgpu/gfx1250+RMW_DROPS_LINE=off+WRITE_BACK_AFTER_OWN_STORES=off", ["ld.WG", "inc.WG"], NEAR, 1, [], ""),
        ("proposed-multi-device", ["st.WG", "st.ALL", "inc.DV"], FAR, 1, ["LK_rmw DV", "UL_rmw DV"], ""),
        ("proposed-multi-device", ["inc.ALL", "ld.ALL", "st.DV"], FAR, 1, ["LK_rmw SY", "UL_rmw SY"], ""),
        ("proposed-multi-device-inv-l2", ["inc.ALL", "ld.ALL", "st.ALL"], FAR, 1, ["INV_L2 DV"], ""),
        ("proposed-coherent-l2", ["st.ALL.R", "inc.DV", "inc.WG"], FAR, 1, ["LK_rmw SY", "UL_rmw SY"], ""),
        ("short_of_all_devices", ["inc.ALL", "ld.ALL", "st.ALL"], FAR, 1, [], "--"),
        ("amdgpu/gfx900+RMW_DROPS_LINE=off", ["cas.rlx.DV", "inc.rlx.WG", "ld.rlx.WG"], (3, 2, 2, 1, 1, None), 9, [], "cas"),
        ("short_of_all_devices", ["cas.ALL", "st.ALL", "ld.ALL"], FAR, 1, [], "cas"),
        ("proposed-full", ["st.DV.R", "cas.WG", "ld.DV"], ONE_LOCATION, 1, ["LK_rmw DV", "UL_rmw DV"], "cas"),
    ],
)  # fmt: skip
def test_formulas_say_of_each_program_what_check_says(
    name: str,
    names: list[str],
    bounds: tuple[int, int, int, int, int, None],
    every: int,
    dropped: list[str],
    shown: str | None,
) -> None:
    """Whatever is fenced, expected, placed or on two devices. A mistake is planted in the row of the
    first operation. shown: what some program that is broken has; None if none is."""
    table = without(scheme(name), names[0], *dropped)
    found = said(hunting_space(table, bounds, names, mixed=False)[0], table, every)
    assert found.broken <= found.suspected == found.chosen
    assert any("--" in line for line in found.programs) is (bounds[3] > 1)
    assert any(shown in line for line in found.broken) if shown is not None else not found.broken
    assert len(found.broken) < len(found.programs)
    assert len(found.programs) > (3 if name == "proposed-full" else 5)
    if name == "original":
        assert found.broken < found.suspected and 5 < len(found.broken) < len(found.programs) / 2


@pytest.mark.parametrize(
    ("space", "many"),
    [
        (Space(events=3), 30),
        (Space(events=4, threads=4, workgroups=2, operations=("st.na", "ld.DV", "inc.DV.R")), 30),
        (Space(4, 2, guards=1, operations=("ld.na", "st.na", "ld.DV", "st.DV")), 30),
        (Space(4, 2, operations=("st.rlx.DV", "ld.sc.DV", "F.sc.DV", "F.acq.WG")), 20),
        (Space(3, 3, 3, 2, operations=("ld.na", "st.na", "ld.WG", "st.DV.R", "inc.WG", "st.ALL", "ld.ALL", "inc.ALL.R")), 10),
        (Space(events=3, operations=("cas.DV", "inc.WG", "ld.DV", "st.na")), 20),
        (Space(3, 2, operations=("cas.sc.DV", "cas.rlx.WG")), 20),
        (Space(4, 2, operations=("cas.sc.DV", "ld.DV")), 5),
    ],
)  # fmt: skip
def test_each_program_that_must_be_decided_can_be_chosen_in_a_sketch(
    space: Space, many: int
) -> None:
    """Under some names, so that telling symmetric programs apart loses none."""
    assert not lost(space, many)


@pytest.mark.parametrize(
    ("events", "kind", "names"),
    [
        (5, "F.", ("st.na", "ld.na", "ld.rlx.DV", "st.rlx.DV", "F.acq.DV", "F.rel.WG", "F.rel.DV")),
        (3, "", Space().operations),
        (4, "cas", ("st.na", "ld.na", "cas.DV", "cas.acq.WG", "ld.rlx.DV", "inc.DV")),
    ],
)
def test_all_that_a_racy_candidate_excludes_races(
    events: int, kind: str, names: tuple[str, ...]
) -> None:
    """However the programs go on whose beginnings are excluded."""
    space = Space(events=events, threads=2, workgroups=2, operations=names)
    for whole in excluded(space, kind, 100):
        assert races(whole, Tables(space)), line_of(whole, space)
