"""Hunts: what they find, whom they blame, what they leave out, and how they go on."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from engineering.hunt.tables import ROOT, scheme

from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.assumptions import gives_back, stores_again
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.finding import By, HuntReport
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.engineering.hunt.strategy import loaded_test, program_named
from rspverify.enumeration import survey as survey_module
from rspverify.enumeration.growth import Growth
from rspverify.enumeration.lemmas import Sort, sort_of
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import ONE_DEVICE, Space
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.judge.inputs import LoadedTest
from rspverify.judge.judge import Judge, cache_folder
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Engine, Settings
from rspverify.soundness.strongest import strongest
from rspverify.source import Source
from rspverify.verdict import Word

MODEL = load_model("opencl-rsp")
MESSAGES = Space(threads=2, operations=("ld.na", "st.na", "ld.DV", "st.DV"))
"""In which message passing is the only thing that can go wrong."""


def broken_sibling(name: str) -> Scheme:
    return read_scheme_file(str(ROOT / "tests" / "scheme" / "broken" / f"{name}.yaml"))


def hunted(space: Space, table: Scheme) -> HuntReport:
    setup = HuntSetup(table, "", MODEL, space, (), Settings(), By.PROGRAMS)
    return Hunt(setup, Judge()).run()


def survivors(space: Space) -> Iterator[LoadedTest]:
    """The programs of a space that no lemma leaves out under some scheme, the smallest first."""
    for phase in Survey(space, MODEL).phases():
        for each in phase.to_decide(space, larger=True):
            yield loaded_test(decoded(each), space, Settings())


def words_of(report: HuntReport) -> dict[Word, int]:
    return {word: number for word, number in report.decided.items() if number}


def test_message_passing_is_found_and_row_2_is_blamed() -> None:
    """Fig. 4, of all programs of loads and stores in two threads; then nothing is left."""
    hunt = hunted(MESSAGES, scheme("original"))
    (found,) = hunt.findings
    assert found.program == "st.na x 10; st.DV y 20 || r0=ld.DV y; if r0==20: r1=ld.na x"
    assert [row.number for row in found.blamed] == [2]
    assert (2,) in found.mends
    assert (1,) in found.mends  # the plain load could do it, too
    assert hunt.complete
    assert not hunt.unknown
    assert words_of(hunt) == {Word.SOUND: sum(phase.to_decide for phase in hunt.phases)}
    assert hunt.stronger == (2,)


def test_the_lost_increment_is_found_and_row_6_is_blamed() -> None:
    """Ex. 4, Fig. 5: the smallest of all programs of two operations that Original breaks."""
    hunt = hunted(Space(events=2), scheme("original"))
    (found,) = hunt.findings
    assert found.program == "r0=inc.WG x || st.DV.R x 10"
    assert [row.number for row in found.blamed] == [6]
    assert found.mends == ((6,), (7,))
    assert hunt.complete


def test_proposed_is_sound_for_every_small_program() -> None:
    hunt = hunted(Space(events=2), scheme("proposed"))
    assert hunt.complete
    assert not hunt.findings
    assert words_of(hunt) == {Word.SOUND: 26}


def test_the_smallest_is_the_smallest() -> None:
    """In the order of operations, threads, and line, no program before it is UNSOUND."""
    space = Space(events=2)
    table = broken_sibling("proposed-no-rmw-lock")
    strategy = ByPrograms(Survey(space, MODEL), table, Settings())
    found = strategy.first()
    assert found is not None
    broken = [
        test.program.title
        for test in survivors(space)
        if check(Case(test.program, table, MODEL, Settings(shortest=False))).word is Word.UNSOUND
    ]
    assert broken[0] == found.program.title
    assert not strategy.unknown


HOSTILE = (
    "proposed-no-acquire-invalidate",
    "proposed-no-rmw-lock",
    "proposed-no-rmw-unlock",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_is_lost_by_the_filters(name: str) -> None:
    """What is UNSOUND of what is left out is so, too, of something that is not, no larger."""
    table = broken_sibling(name)
    settings = Settings(shortest=False)
    space = Space(events=3, operations=("ld.na", "st.na", "ld.WG", "inc.WG", "inc.DV", "st.DV.R"))
    listing = Survey(space.within(4), MODEL)
    for _ in listing.phases(upto=3):
        pass
    tables = Tables(space)
    smallest = ByPrograms(Survey(space, MODEL), table, settings).first()
    rng = random.Random(4)
    left_out: dict[Sort, list[bytes]] = {sort: [] for sort in Sort}
    for each in (*listing.growing(2), *listing.growing(3)):
        left_out[sort_of(decoded(each), tables)].append(each)
    for sort, programs in left_out.items():
        if sort is Sort.CORE:
            continue
        for each in rng.sample(programs, min(len(programs), 10)):
            shape = decoded(each)
            word = check(Case(program_named(shape, space), table, MODEL, settings)).word
            assert word is not Word.RACY, line_of(shape, space)
            if sort is Sort.ALONE:
                assert word in (Word.SOUND, Word.VACUOUS), line_of(shape, space)
            elif word is Word.UNSOUND:
                assert smallest is not None, line_of(shape, space)
                assert len(smallest.program.operations) <= shape.size


WILD = """\
name: wild
machine: rsp
rows:
  - {op: load,  scope: [na, wg], code: [INV_L1 DV, LD r x, UL_L2 x]}
  - {op: store, scope: [na, wg], code: [UL_rmw DV, ST r x]}
  - {op: rmw,   scope: wg,       code: [RMW_L2 r x, INV_L1 WG]}
  - {op: load,  scope: dv,       code: [LD r x]}
  - {op: store, scope: dv,       code: [ST r x, LK_L2 x]}
  - {op: rmw,   scope: dv,       code: [LK_rmw DV, RMW_L1 r x]}
"""


@pytest.mark.parametrize(
    ("machine", "engine", "others", "kind", "many"),
    [
        ("rsp", Engine.EVENTS, ("inc.WG", "st.DV"), "", 80),
        ("rsp-lines", Engine.EXPLICIT, ("inc.WG", "st.DV"), "", 40),
        ("rsp", Engine.EVENTS, ("cas.WG", "cas.DV"), "cas", 20),
    ],
)
def test_no_scheme_breaks_what_work_groups_do_not_share(
    machine: str, engine: Engine, others: tuple[str, ...], kind: str, many: int
) -> None:
    """Not even one that frees the locks of others and publishes nothing."""
    table = read_scheme(Source("wild.yaml", WILD)).on_machine(MACHINES[machine])
    space = Space(events=3, operations=("ld.na", "st.na", "ld.WG", "st.WG", *others))
    listing = Survey(space.within(4), MODEL)
    for _ in listing.phases(upto=3):
        pass
    alone = [decoded(each) for each in listing.growing(3)]
    alone = [each for each in alone if sort_of(each, Tables(space)) is Sort.ALONE]
    alone = [each for each in alone if kind in line_of(each, space)]
    words = set()
    for each in random.Random(6).sample(alone, many):
        settings = Settings(engine=engine, shortest=False)
        words.add(check(Case(program_named(each, space), table, MODEL, settings)).word)
    assert words == {Word.SOUND, Word.VACUOUS}


AGAIN = """
name: again
source: "a value that is stored again with nothing in between, without a lock"
rows:
  - {op: load,  scope: [na, wg], code: [LD r x]}
  - {op: store, scope: [na, wg], code: [ST r x, ST r x]}
"""


def test_a_value_that_is_stored_again_is_lost_within_a_work_group() -> None:
    """So `alone` asks for locations of one thread."""
    table = read_scheme(Source("again.yaml", AGAIN))
    assert stores_again(table)
    assert not stores_again(scheme("proposed"))
    space, _ = hunting_space(table, (3, 2, 1, 1, 1, None), ("ld.WG", "st.WG"), mixed=False)
    (finding,) = hunted(space, table).findings[:1]
    assert finding.program == "r0=ld.WG x; st.WG x 10 || st.WG x 20 @01"


def test_which_schemes_give_back_what_they_lock() -> None:
    assert gives_back(scheme("original"))
    assert gives_back(scheme("proposed"))
    assert not gives_back(broken_sibling("proposed-no-rmw-unlock"))
    assert not gives_back(read_scheme(Source("wild.yaml", WILD)))


def changed(before: str, after: str) -> Scheme:
    """The proposed scheme with other code in one place of its text."""
    text = (ROOT / "schemes" / "proposed.yaml").read_text()
    assert text.count(before) == 1
    return read_scheme(Source("changed.yaml", text.replace(before, after)))


@pytest.mark.parametrize(("outer", "inner"), [("DV", "DV"), ("SY", "DV")])
def test_a_lock_that_is_taken_twice_is_given_back_once(outer: str, inner: str) -> None:
    """A plain load of another location frees the lock of the store in the middle of Fig. 5: a
    program of which no smaller one is broken, though a thread has that location alone.
    """
    code = f"LK_rmw {outer}, LK_rmw {inner}, LD r x, UL_rmw {inner}, UL_rmw {outer}"
    table = changed(
        "{op: load,  scope: [na, wg],           code: [LD r x]}",
        f"{{op: load, scope: [na, wg], code: [{code}]}}",
    )
    assert not gives_back(table)
    space = Space(events=3, operations=("ld.na", "inc.WG", "st.DV.R"))
    first = hunted(space, table).findings[0]
    assert first.program == "r0=ld.na x; r1=inc.WG y || st.DV.R y 10"


def test_a_row_that_stores_again_breaks_programs_of_one_work_group() -> None:
    """The second store overwrites the increment that has read the first."""
    table = changed(
        "{op: store, scope: [na, wg],           code: [ST r x]}",
        "{op: store, scope: [na, wg], code: [ST r x, ST r x]}",
    )
    assert stores_again(table)
    assert not stores_again(scheme("proposed"))
    bounds = (2, 2, 2, 1, 2, None)
    space, _ = hunting_space(table, bounds, ("st.WG", "inc.WG"), mixed=False)
    hunt = hunted(space, table)
    assert hunt.findings[0].program == "st.WG x 10 || r0=inc.WG x @01"
    with pytest.raises(AssertionError, match="lemmas"):
        hunted(Space(events=2), table)


def test_the_strongest_code_keeps_to_its_reach() -> None:
    table = scheme("original")
    code = {row.number: [str(it) for it in strongest(row, table, 1)] for row in table.rows}
    assert code[2] == ["FLU_L1 WG", "INV_L1 WG", "LD r x", "FLU_L1 WG", "INV_L1 WG"]
    assert code[7][2] == "INC_L2 r x"
    assert code[6][0] == "LK_rmw DV"
    assert "FLU_L1 DV" in code[6]


def test_an_interrupted_hunt_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey_module, "BLOCK", 4)
    monkeypatch.setattr("rspverify.engineering.hunt.by_programs.CHUNK", 40)
    extended: list[object] = []
    children = Growth.children

    def counted(self, parent, known, threads):  # type: ignore[no-untyped-def]
        extended.append(parent)
        return children(self, parent, known, threads)

    monkeypatch.setattr(Growth, "children", counted)
    judge = Judge(cache_folder(True, print))
    table, settings = scheme("proposed"), Settings()
    space = Space(events=3, threads=2, operations=("ld.DV", "st.DV", "inc.DV.R", "st.DV.R"))

    def run(told):  # type: ignore[no-untyped-def]
        survey = Survey(space, MODEL, judge)
        strategy = ByPrograms(survey, table, settings)
        strategy.shown.advance = told
        return strategy.first(), strategy.done

    def interrupt(count: int) -> None:
        if count == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(interrupt)
    before = len(extended)
    asked: list[object] = []
    decided = "rspverify.engineering.hunt.by_programs.decided"
    from rspverify.judge.verdicts import decided as real

    monkeypatch.setattr(decided, lambda *given: asked.append(given) or real(*given))
    answer = run(lambda count: None)
    assert answer[0] is None
    assert len(extended) == before
    assert 0 < len(asked) < answer[1]
    asked.clear()
    assert run(lambda count: None) == answer
    assert not asked


def test_a_model_without_proofs_is_asked_about_every_program() -> None:
    """No filter is used: the programs of two operations without a race are all decided."""
    survey = Survey(Space(events=2, operations=("st.na", "ld.DV", "inc.DV")), load_model("opencl"))
    assert not survey.argued
    argued = Survey(survey.space, MODEL)
    for phase, other in zip(survey.phases(), argued.phases(), strict=True):
        assert len(phase.core) == phase.counts.programs == other.counts.programs


def test_the_operations_of_a_hunt_are_those_that_a_scheme_compiles() -> None:
    bounds = (2, 2, 2, 1, 1, None)
    assert hunting_space(scheme("proposed"), bounds, None, mixed=False)[0].operations == ONE_DEVICE
    text = "name: t\nmachine: rsp\nrows:\n" + "".join(
        f"  - {{op: load, scope: wg, remote: {flag}, code: [{code}]}}\n"
        for flag, code in (("false", "LD r x"), ("true", "INV_L1 WG, LD r x"))
    )
    space, left_out = hunting_space(read_scheme(Source("t.yaml", text)), bounds, None, mixed=False)
    assert space.operations == ("ld.WG", "ld.WG.R")
    assert ("st.na", "the scheme has no row for it") in left_out
