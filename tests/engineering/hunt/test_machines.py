"""What is left out of a hunt is proved for some machines, and left out on no other."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from enumeration.written import packed_line

import rspverify
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.assumptions import proved_for
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.formula import ask
from rspverify.engineering.hunt.formula.ask import SketchSearch, suspicious
from rspverify.engineering.hunt.formula.covered import renumbered
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.formula.template import Template
from rspverify.engineering.hunt.operations import hunting_space, row_shape
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import NONE, PackedTest, canonical, decoded
from rspverify.enumeration.space import access_of
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.generate.annotations import chosen_annotations
from rspverify.generate.family import chosen
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source
from rspverify.verdict import WRONG, Word

PROVED = ("rsp", "rsp-coherent-l2", "rsp-inv-l2", "rsp-lines", "rsp-st-waits")

LOSES_STORES = """
machine loses "a store may be dropped before it is flushed"
include rsp
step DROP of workgroup, location x
  when L1.DIRTY[x]
  do   L1.DIRTY[x] := false; L1.VALID[x] := false
"""


@pytest.mark.parametrize("name", MACHINES)
def test_the_machines_that_the_lemmas_are_proved_for(name: str) -> None:
    """If this fails as what a machine says has changed, read the proofs again first."""
    assert proved_for(MACHINES[name]) is (name in PROVED)


def test_formulas_are_for_machines_that_events_knows() -> None:
    """The lemmas hold by lines as well, but no formula has a flush of several locations."""
    settings = rspverify.Settings(machine="rsp-lines")
    found = rspverify.hunt("proposed", events=2, threads=2, settings=settings).report()
    assert found.sound and found.phases[-1].to_decide == 26
    assert found.method.why_by_programs is not None
    assert "the engine events knows: it needs a bound on FLUSH_L1" in found.method.why_by_programs


def test_a_machine_on_which_one_thread_goes_wrong_is_found_out(tmp_path: Path) -> None:
    """One thread stores x and reads it: nothing that the lemmas would have asked about."""
    place = tmp_path / "loses.machine"
    place.write_text(LOSES_STORES)
    settings = rspverify.Settings(machine=str(place))
    found = rspverify.hunt("proposed", events=2, threads=1, settings=settings).report()
    assert found.findings
    assert not proved_for(machine_named(str(place)))


# ---- processors: placements, orders, results ----------------------------------------------------

ROOT = Path(__file__).resolve().parents[3]
MODEL = load_model("opencl-rsp")
QUICK = Settings(shortest=False)
LEAVES_LINES = "amdgpu-gfx9+RMW_DROPS_LINE=off"


def table(name: str, machine: str | None = None) -> Scheme:
    found = read_scheme_file(str(ROOT / "schemes" / "amdgpu" / f"{name}.yaml"))
    return found if machine is None else found.on_machine(machine_named(machine))


def bounds(events: int, threads: int = 2) -> tuple[int, int, int, int, int, None]:
    return events, threads, threads, 1, 2, None


def test_what_a_processor_is_hunted_with() -> None:
    """Of read-modify-writes also those whose result nobody uses, where they have other code."""
    space, left_out = hunting_space(table("gfx900"), bounds(2), None, mixed=False)
    assert {it for it in space.operations if it.startswith("inc")} == {
        "inc.WG", "inc.DV", "inc.WG.unused", "inc.DV.unused",
    }  # fmt: skip
    assert {it for it, _ in left_out} == {"ld.DV.R", "st.DV.R", "inc.DV.R"}
    orders = ["rlx", "acq", "sc"]
    space, _ = hunting_space(table("gfx900"), bounds(2), None, mixed=False, orders=orders)
    assert len(space.operations) == 2 + 2 * (3 + 2 + 3 + 3)
    only = hunting_space(table("gfx900"), bounds(2), ["F.acq.DV", "st.sc.WG"], mixed=False)[0]
    assert only.operations == ("st.sc.WG", "F.acq.DV")
    asked = {"scopes": ["DV"], "orders": ["rlx", "acq"], "kinds": ["ld", "F"]}
    fences, _ = hunting_space(table("gfx900"), bounds(2), None, mixed=False, **asked)
    assert fences.operations == ("ld.DV", "ld.rlx.DV", "F.acq.DV")
    usual, _ = hunting_space(table("gfx900"), bounds(2), None, mixed=False, kinds=["na", "F"])
    assert usual.operations == ("ld.na", "st.na", "F.ar.WG", "F.ar.DV")
    with pytest.raises(InputError, match=r"^a kind of operations must be one of na, ld"):
        hunting_space(table("gfx900"), bounds(2), None, mixed=False, kinds=["fence"])


def test_the_hunt_goes_on_with_the_switch_that_excuses() -> None:
    """While a read-modify-write is on its way others find its line in the L1; both ways find the
    same, once. A row that mends it, by a load that passes by the L1, is named, and left as it is.
    """
    found = {}
    for by in (By.FORMULA, By.PROGRAMS):
        asked = rspverify.hunt(
            ROOT / "schemes/amdgpu/gfx900.yaml",
            events=3,
            threads=2,
            by=by,
            operations=["st.WG", "ld.WG", "inc.WG.unused", "ld.DV"],
        )
        report = asked.report()
        assert report.complete and report.sound and report.switches == ("RMW_HIDES_LINE",)
        (one,) = report.findings
        assert one.switch == "RMW_HIDES_LINE" and one.switches == ()
        assert one.mends and report.stronger == ()
        found[by] = (one.events, one.threads)
    assert set(found.values()) == {(3, 2)}


def test_a_write_back_that_may_come_too_early_is_found_among_all_messages() -> None:
    """A sketch of gfx942 on two dies is broken where a write-back may come too early."""
    names = ["ld.na", "st.na", "ld.DV", "st.DV"]
    sketch = Sketch((2, 2), ((0, 0), (0, 1)), (False, True), (("cu", (0, 1)), ("die", (0, 1))))
    early = "+WRITE_BACK_AFTER_OWN_STORES=off"
    for switch, found in ((early, "st.na x 10; st.DV y 20 || r0=ld.DV y; if r0==20: "), ("", "")):
        scheme = table("gfx942", f"amdgpu-gfx942{switch}")
        space, _ = hunting_space(scheme, bounds(4), names, mixed=False)
        assert sketch in sketches(space, 4, 2, scheme.machine)
        answer = SketchSearch(space, scheme, MODEL, QUICK).answer(sketch)
        assert answer.sound is not bool(found)
        if found:
            line = line_of(decoded(bytes.fromhex(answer.broken)), space)
            assert line.startswith(found) and line.count("x") == 2


def test_a_formula_without_the_order_of_writes_is_no_answer() -> None:
    """Stores that stay in the L2, and loads that pass by it: nothing tells when they are in memory.
    Where no store stays there, none is written back from there, and the order is known."""
    for names, known in ((["inc.DV", "st.sc.WG", "ld.DV"], False), (["st.DV", "ld.DV"], True)):
        space, _ = hunting_space(table("gfx942"), bounds(2), names, mixed=False)
        asked = SketchSearch(space, table("gfx942"), MODEL, QUICK)
        plan = Survey(space, MODEL).plan
        ways = [it for e, n in plan for it in sketches(space, e, n, table("gfx942").machine)]
        answers = [asked.answer(it) for it in ways if it.atomic == (True,)]
        assert all(it.sound is known for it in answers)
        assert all("order writes reach memory" in why for it in answers for why in it.unknown)


@pytest.mark.parametrize(
    "others", [(), ("F.acq.DV", "F.rel.WG", "F.sc.DV"), ("cas.DV", "cas.rlx.WG")]
)
def test_what_smaller_programs_stand_for_is_decided(others: tuple[str, ...]) -> None:
    """Under a table that is broken, what is wrong with it has something smaller that is."""
    scheme = table("gfx900", LEAVES_LINES)
    space, _ = hunting_space(
        scheme, bounds(3), ["st.na", "ld.WG", "inc.WG", "inc.DV", "st.sc.DV", *others], mixed=False
    )
    listing = Survey(space.within(4), MODEL)
    for _ in listing.phases(upto=3):
        pass
    found = ByPrograms(Survey(space.within(2), MODEL), scheme, QUICK).first()
    assert found is not None and len(found.program.operations) == 2
    rng = random.Random(3)
    larger = [decoded(each) for each in listing.growing(3)]
    larger = [each for each in larger if sort_of(each, Tables(space)) is Sort.LARGER]
    words = Counter()
    for shape in rng.sample(larger, 8):
        verdict = check(Case(program_named(shape, space), scheme, MODEL, QUICK))
        words[verdict.word] += 1
        if verdict.word in WRONG:
            assert any(
                check(Case(program_named(it, space), scheme, MODEL, QUICK)).word in WRONG
                for it in parts_of(shape)
            ), line_of(shape, space)
    assert words[Word.SOUND] and set(words) <= {Word.SOUND, *WRONG}


def parts_of(shape: PackedTest) -> Iterator[PackedTest]:
    """The programs of what a test does at one of its locations, with its fences, or without one."""
    for x in range(len(shape.atomic)):
        for only in (True, False):
            kept = [
                (
                    it,
                    [it for it in it.accesses if it.location == NONE or (it.location == x) is only],
                )
                for it in shape.threads
            ]
            threads = [
                it._replace(accesses=tuple(those))
                for it, those in kept
                if any(each.location != NONE for each in those)
            ]
            alone = PackedTest(tuple(threads), shape.atomic)
            if 0 < alone.size < shape.size and not any(
                each.tests >= 0 for it in alone.threads for each in it.accesses
            ):
                yield canonical(alone)


def test_a_generated_family_has_the_verdicts_that_hunts_find() -> None:
    """Plain `check` over a family, and a hunt with its operations: the same is broken."""
    scheme = table("gfx900", LEAVES_LINES)
    family = chosen("RMW-unused", chosen_annotations(["WG"], ["rlx"]))[""]
    words = {}
    for it in family.tests():
        program = read_program(Source(it.file, it.text))
        words[it.title] = check(Case(program, scheme, MODEL, QUICK)).word
    assert words["RMW-unused+inc.rlx.WG-ld.rlx.WG"] is Word.OPEN
    report = rspverify.hunt(
        ROOT / "schemes/amdgpu/gfx900.yaml",
        events=2,
        threads=1,
        operations=["inc.rlx.WG.unused", "ld.rlx.WG"],
        first=True,
        settings=rspverify.Settings(machine=LEAVES_LINES),
    ).report()
    assert report.findings[0].program == "inc.rlx.WG x; r0=ld.rlx.WG x"


def test_what_is_behind_an_if_waits_for_what_it_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load buffering with ifs, by loads that no row waits for: nothing comes out of thin air."""
    scheme = table("gfx900")
    names = ("ld.DV", "st.DV", "st.rlx.DV")
    space, _ = hunting_space(scheme, bounds(4), names, mixed=False)
    row = scheme.table[row_shape(access_of("ld.DV"))]
    scheme = scheme.with_code(row.number, tuple(it for it in row.code if it.accesses))
    line = "r0=ld.DV x; if r0==100: st.rlx.DV y 200 || r0=ld.DV y; if r0==200: st.DV x 100"
    shape, own = packed_line(line)
    moved = renumbered(shape, own, space)
    sketch = Sketch((2, 2), ((0, 0), (0, 1)), (True, True), (("cu", (0, 1)),))
    assert sketch in sketches(space, 4, 2, scheme.machine)
    for waits in (True, False):
        if not waits:
            monkeypatch.setattr(ask, "_after_what_ifs_test", lambda *_: [])
        template = Template(sketch, space, scheme)
        found = suspicious(template, MODEL, Limits()).find(template.chosen(moved))
        assert (found is None) is waits
