"""Pictures as SVG and dot: every event and edge once, and no curve through a box."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rspverify.axiomatic.cat import load_model
from rspverify.drawing.draw import Wanted, Which, draw
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.reader import read_program_file
from rspverify.picture import Arrow, Picture, PlacedEvent, PlacedThread
from rspverify.render.drawn import dot, svg
from rspverify.render.picture_layout import laid_out, letters, point_at, routed

CORPUS = Path(__file__).resolve().parents[2] / "litmus/rsp"
SVG = "{http://www.w3.org/2000/svg}"
MODEL = load_model("opencl-rsp")

TESTS = [
    "IRIW/IRIW+st.DV+st.DV+ld.DV-ld.DV+ld.DV-ld.DV@02-13",
    "ISA2/ISA2+st.na-st.DV+inc.DV-st.DV+inc.DV-ld.na",
    "MP/MP.fan+st.na-st.DV+ld.DV-ld.na+ld.DV-ld.na",
    "RMW/RMW+inc.DV+inc.DV+inc.DV",
    "multi-device/MD+st.na-st.ALL+ld.ALL-ld.na@0--1",
    "paper/Fig5",
]


def pictures(name: str, which: Which = Which.CONSISTENT) -> list[Picture]:
    program = read_program_file(CORPUS / f"{name}.litmus")
    return draw(program, MODEL, Wanted(which), Limits())


BY_HAND = Picture(
    'a <title> & "more"',
    ("first note", "second"),
    (PlacedThread("P0", 0, 0), PlacedThread("P2", 0, 0), PlacedThread("P1", 1, 0)),
    (
        PlacedEvent("W(x, 0) initial", None, None),
        PlacedEvent("W[na](x, 1)", 0, 4, marked=True),
        PlacedEvent("W[DV,N](y, 1)", 0, 5),
        PlacedEvent("R[DV,N](y, 1)", 1, 9),
        PlacedEvent("R[na](x, 0)", 2, 12),
    ),
    (
        Arrow("sb", 1, 2),
        Arrow("rf", 2, 3),
        Arrow("rf", 0, 4, bold=True),
        Arrow("odd<name>", 4, 4),
        Arrow("dr", 1, 4, bold=True, mutual=True),
        Arrow("mo", 0, 1),
        Arrow("co", 0, 1),
    ),
)


def shown_edges(picture: Picture) -> Counter[tuple[str, str, str]]:
    return Counter((it.name, letters(it.source), letters(it.target)) for it in picture.arrows)


@cache
def everything() -> list[Picture]:
    return [BY_HAND, *(picture for name in TESTS for picture in pictures(name))]


@pytest.mark.parametrize("number", range(1 + len(TESTS)))
def test_svg_has_each_event_and_each_edge_once(number: int) -> None:
    picture = everything()[number]
    root = ElementTree.fromstring(svg([picture]))
    assert root.tag == f"{SVG}svg"
    groups = root.findall(f".//{SVG}g")
    events = [it for it in groups if it.get("class") == "event"]
    texts = [it.findtext(f"{SVG}text") for it in events]
    assert texts == [f"{letters(n)}: {it.text}" for n, it in enumerate(picture.events)]
    edges = [it for it in groups if (it.get("class") or "").startswith("edge ")]
    drawn = Counter(
        (str(it.get("class")).split()[1], it.get("data-source"), it.get("data-target"))
        for it in edges
    )
    assert drawn == shown_edges(picture)
    assert all(len(it.findall(f"{SVG}path")) == 1 for it in edges)
    labels = [it.text for it in root.iter(f"{SVG}text") if it.get("class") == "label"]
    assert Counter(labels) == Counter(it.name for it in picture.arrows)
    bold = sum("bold" in str(it.get("class")) for it in edges)
    assert bold == sum(it.bold for it in picture.arrows)


@pytest.mark.parametrize("number", range(1 + len(TESTS)))
def test_no_edge_runs_through_an_event_and_no_label_lies_on_one(number: int) -> None:
    picture = everything()[number]
    layout = laid_out(picture)
    for route in routed(layout, picture.arrows, Limits()):
        ends = (route.arrow.source, route.arrow.target)
        points = [point_at(route.controls, n / 200) for n in range(201)]
        for place, box in enumerate(layout.events):
            assert not box.meets(route.label), (route.arrow, layout.labels[place])
            inside = [box.count([(x, y)], -1.0) for x, y in points[8:-8] if place in ends]
            inside += [box.count([(x, y)], 1.0) for x, y in points if place not in ends]
            assert not any(inside), (route.arrow, layout.labels[place])


@pytest.mark.parametrize("number", range(1 + len(TESTS)))
def test_everything_lies_on_the_page_and_threads_in_their_groups(number: int) -> None:
    picture = everything()[number]
    layout = laid_out(picture)
    boxes = [group.box for group in layout.groups if group.kind == "work-group"]
    for event, box in zip(picture.events, layout.events, strict=True):
        around = [each for each in boxes if each.count([(box.x, box.y)])]
        assert len(around) == (event.thread is not None)
        for other in layout.events:
            assert other is box or not other.meets(box)
    _, _, width, height = map(
        float, str(ElementTree.fromstring(svg([picture])).get("viewBox")).split()
    )
    assert width > max(box.width for box in layout.events) and height > 0


def test_one_page_has_all_pictures() -> None:
    found = pictures("paper/Ex4", Which.ALL)
    root = ElementTree.fromstring(svg(found))
    drawn = [it for it in root.findall(f"{SVG}g") if it.get("class") == "picture"]
    assert len(drawn) == len(found) == 2
    assert dot(found).count("digraph") == 2


@pytest.mark.parametrize("number", range(1 + len(TESTS)))
def test_dot_has_each_event_and_each_edge_once(number: int) -> None:
    picture = everything()[number]
    text = dot([picture])
    assert text.count("{") == text.count("}")
    body = text[text.index("edge [") :]
    nodes = re.findall(r'^ *([a-z]+) \[label="(.*?)"[,\]]', body, re.MULTILINE)
    expected = [(letters(n), f"{letters(n)}: {it.text}") for n, it in enumerate(picture.events)]
    assert sorted(nodes) == sorted(expected)
    edges = re.findall(r'^ *([a-z]+) -> ([a-z]+) \[label="(.*?)"', text, re.MULTILINE)
    assert Counter((name, a, b) for a, b, name in edges) == shown_edges(picture)


def test_names_of_events() -> None:
    assert [letters(n) for n in (0, 25, 26, 27, 701, 702)] == ["a", "z", "aa", "ab", "zz", "aaa"]


def test_a_picture_takes_no_longer_than_it_may() -> None:
    with pytest.raises(LimitReached, match="timeout"):
        svg([BY_HAND], limits=Limits(seconds=1e-9))


@pytest.mark.parametrize("number", range(1 + len(TESTS)))
def test_curves_that_are_not_tried_are_no_better(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = everything()[number]
    layout = laid_out(picture)
    found = routed(layout, picture.arrows, Limits())
    monkeypatch.setattr("rspverify.render.picture_layout._least_cost", lambda controls: 0.0)
    assert routed(layout, picture.arrows, Limits()) == found
