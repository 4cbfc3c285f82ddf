"""Formulas for whole sketches: they say of each program what `check` says, and lose none."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from engineering.hunt.agreement import Asked, suspected
from engineering.hunt.tables import ROOT, scheme
from hypothesis import given
from hypothesis import strategies as st

from rspverify.assembly.program import Instruction
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.by_formula import ByFormula, why_not
from rspverify.engineering.hunt.finding import NO_ROW, By, Formulas, HuntReport
from rspverify.engineering.hunt.formula import ask
from rspverify.engineering.hunt.formula.ask import SketchSearch, suspicious
from rspverify.engineering.hunt.formula.choices import Choices
from rspverify.engineering.hunt.formula.sketch import Sketch, sketches
from rspverify.engineering.hunt.formula.template import Template, embedded, merged
from rspverify.engineering.hunt.hunt import Hunt, HuntSetup
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedAccess, PackedTest, PackedThread, decoded
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.judge.judge import Judge, cache_folder
from rspverify.limits import LimitReached, Limits
from rspverify.records import replace
from rspverify.scheme.mutants import mutants_of
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.smt.choice import constant
from rspverify.smt.solver import Model, Solver
from rspverify.smt.term import Kind, Term, all_of
from rspverify.soundness import settings
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import L2, Settings
from rspverify.verdict import Word

MODEL = load_model("opencl-rsp")
QUICK = Settings(shortest=False)
FEW = ("st.na", "ld.WG", "ld.DV", "st.DV.R", "inc.WG", "inc.DV")
SMALL = Space(events=3, threads=3, operations=FEW)
MESSAGES = Space(threads=2, operations=("ld.na", "st.na", "ld.DV", "st.DV"))
"""In which message passing is the only thing that can go wrong."""
TOKENS = st.lists(st.sampled_from("abc").map(lambda name: (name, None)), max_size=5)


def question(space: Space, table: Scheme, settings: Settings = QUICK) -> SketchSearch:
    return SketchSearch(space, table, MODEL, settings)


def by_formula(space: Space, table: Scheme, **rest: bool) -> HuntReport:
    rest = {"count": False, **rest}
    return Hunt(
        HuntSetup(table, "", MODEL, space, (), Settings(), By.FORMULA, **rest), Judge()
    ).run()


def formulas_of(report: HuntReport) -> Formulas:
    assert report.method.formulas is not None
    return report.method.formulas


def proposed_mutants() -> list[Scheme]:
    """One-step mutants of Proposed that a formula can be asked about."""
    table = scheme("proposed")
    survey = Survey(SMALL, MODEL)
    found = [mutant.of(table) for row in mutants_of(table) for mutant in row.mutants]
    return [each for each in found if why_not(survey, each, QUICK) is None]


def row_of(mutant: Scheme) -> int:
    """The number of the row that is another one."""
    return int(mutant.name.split("-row")[1].split("-")[0])


def core(space: Space) -> list[PackedTest]:
    return [decoded(each) for phase in Survey(space, MODEL).phases() for each in phase.core]


@given(st.lists(TOKENS, min_size=1, max_size=4))
def test_each_code_is_part_of_what_codes_are_merged_into(
    codes: list[list[tuple[str, None]]],
) -> None:
    whole = merged(codes)
    for code in codes:
        places = embedded(code, whole)
        assert places == sorted(set(places))
        assert [whole[at] for at in places] == code


def test_a_chosen_operation_has_the_code_of_its_row() -> None:
    """Each in each place: of the merged code just the instructions that it is compiled to, in
    their order; and a program is given by its terms as it is read off a model."""
    space = Space(events=3)
    (sketch,) = (it for it in sketches(space, 3, 2) if it.atomic == (True,))
    sketch = replace(sketch, atomic=(False, True))
    tables = [scheme("original"), scheme("proposed"), *proposed_mutants()[::6]]
    for table in tables:
        template = Template(sketch, space, table)
        guards = template.bind({})
        for slot, other in product(template.slots, list(template.picked[0, 0])):
            picks = dict.fromkeys(template.slots, other)
            picks[slot] = next(it for it in template.picked[slot] if it[1] != other[1])
            steps = [
                [PackedAccess(*picks[t, p]) for t, p in template.slots if t == n] for n in (0, 1)
            ]
            threads = tuple(PackedThread(0, n, tuple(each)) for n, each in enumerate(steps))
            shape = PackedTest(threads, sketch.atomic)
            terms = list(template.chosen(shape))
            model = model_of(terms)
            assert all(model[term] for term in terms)
            assert template.test(model) == shape
            alone = table.compiled(program_named(shape, space))
            for code, expected in zip(template.assembly.code, alone.code, strict=True):
                executed = [it for it in code if model[guards[it.index]]]
                assert list(map(_in_words, executed)) == list(map(_in_words, expected))


def model_of(terms: Iterable[Term]) -> Model:
    """The assignment under which just these choices hold."""
    holding = {term for term in terms if term.kind is Kind.VARIABLE}
    return Model(holding.__contains__)


def test_an_if_covers_the_rest_of_its_thread() -> None:
    """What is executed, under random ifs and values, is what is reached from the start."""
    rng = random.Random(1)
    space = Space(events=4, operations=("ld.DV", "st.DV", "inc.DV"))
    sketch = Sketch((4, 1), ((0, 0), (0, 1)), (True,))
    template = Template(sketch, space, scheme("proposed"))
    seen = set()
    for _ in range(200):
        tests = {slot: rng.choice(list(template.conditions[slot])[:4]) for slot in template.slots}
        picks = {slot: rng.choice(list(template.picked[slot])) for slot in template.slots}
        value = {slot: rng.choice((0, 1)) for slot in template.slots}
        ways = range(len(template.program.operations))
        reads = {way: constant(value[template.slot_of(way)]) for way in ways}
        guards = template.bind(reads)
        terms = [template.picked[slot][it] for slot, it in picks.items()]
        model = model_of([*terms, *(template.conditions[slot][it] for slot, it in tests.items())])
        accesses = [it for it in template.assembly.instructions if it.mnemonic.operands[-1] == "x"]
        executed = {template.slot_of(it.operation) for it in accesses if model[guards[it.index]]}
        expected = set()
        for thread, length in enumerate(sketch.lengths):
            for place in range(length):
                test = tests[thread, place]
                if test is not None:
                    assert test[1] < 0  # the initial value, with so many increments
                    if value[thread, test[0]] != test[3]:
                        break
                expected.add((thread, place))
        assert executed == expected
        seen.add(frozenset(expected))
    assert len(seen) > 3


def test_a_program_is_excluded_alone() -> None:
    space = Space(events=3, operations=("ld.DV", "st.DV", "inc.DV"))
    choices = Choices(Sketch((2, 1), ((0, 0), (0, 1)), (True,)), space)
    shape = PackedTest(
        (
            PackedThread(0, 0, (PackedAccess(0, 0), PackedAccess(1, 0))),
            PackedThread(0, 1, (PackedAccess(2, 0),)),
        ),
        (True,),
    )
    excluded = all_of(choices.chosen(shape))
    assert model_of(choices.chosen(shape))[excluded]
    for number, thread in enumerate(shape.threads):
        for place, step in enumerate(thread.accesses):
            others = [step._replace(operation=(step.operation + 1) % 3)]
            others += [step._replace(tests=0, plus=1)] if place else []
            for other in others:
                steps = (*thread.accesses[:place], other, *thread.accesses[place + 1 :])
                threads = [*shape.threads]
                threads[number] = thread._replace(accesses=steps)
                near = shape._replace(threads=tuple(threads))
                assert not model_of(choices.chosen(near))[excluded]


def test_an_if_may_test_an_increment_of_the_own_store() -> None:
    """The message is that somebody has added to it: too large a program to be sampled."""
    space = Space(events=5, operations=("ld.na", "st.na", "ld.DV", "st.DV", "inc.DV"))
    test = PackedAccess(0, 0, 1, 0, 0, 1)
    reader = PackedThread(0, 0, (PackedAccess(3, 1), PackedAccess(2, 1), test))
    shape = PackedTest(
        (reader, PackedThread(0, 1, (PackedAccess(1, 0), PackedAccess(4, 1)))), (False, True)
    )
    assert line_of(shape, space) == "st.DV y 10; r0=ld.DV y; if r0==11: r1=ld.na x || " + (
        "st.na x 20; r0=inc.DV y"
    )
    choices = Choices(Sketch((3, 2), ((0, 0), (0, 1)), (False, True)), space)
    solver = Solver(Limits())
    solver.add(*choices.constraints, *choices.well_formed(), *choices.not_plainly_racing())
    assert solver.find(choices.chosen(shape)) is not None


def _in_words(it: Instruction) -> tuple[object, ...]:
    location = {"x0": "x", "x1": "y"}.get(it.location or "", it.location)
    return it.mnemonic, it.reach, location, it.thread.workgroup, it.register is None


def test_random_programs_are_suspected_as_by_themselves() -> None:
    """Programs of a sketch, of the space or not, under Original and a broken mutant of Proposed."""
    rng = random.Random(7)
    space = Space(events=4, operations=("ld.na", "st.na", "inc.WG", "ld.DV", "st.DV", "st.DV.R"))
    (mutant,) = (it for it in proposed_mutants() if it.name.endswith("row2-2-drop"))
    found = {True: 0, False: 0}
    for lengths, places, table in (
        ((2, 2), ((0, 0), (0, 1)), mutant),
        ((2, 1, 1), ((0, 0), (0, 0), (0, 1)), scheme("original")),
    ):
        sketch = Sketch(lengths, places, (False, True) if table is mutant else (True,))
        assert sketch in sketches(space, 4, len(lengths))
        template = Template(sketch, space, table)
        solver = suspicious(template, MODEL, Limits())
        wanted = Solver(Limits())
        wanted.add(*template.constraints, *template.well_formed(), *template.not_plainly_racing())
        for _ in range(25):
            some = [rng.choice(list(template.picked[slot].values())) for slot in template.slots]
            model = wanted.find(rng.sample(some, 2))
            if model is None or races(shape := template.test(model), template.tables):
                continue
            expected = suspected(shape, space, table)
            chosen = solver.find(template.chosen(shape)) is not None
            assert chosen is expected, line_of(shape, space)
            found[expected] += 1
    assert min(found.values()) > 0
    assert sum(found.values()) > 15


def test_messages_by_remote_operations_are_suspected_as_by_themselves() -> None:
    """What they order rests on the flag, of the store or of the load."""
    space = replace(MESSAGES, operations=("ld.na", "st.na", "ld.WG", "st.WG", "ld.DV.R", "st.DV.R"))
    found = set()
    for name, store, load in (("row6-2-drop", 5, 2), ("row3-2-drop", 3, 4), ("row6-1-swap", 5, 2)):
        (table,) = (it for it in proposed_mutants() if it.name.endswith(name))
        sender = PackedThread(0, 0, (PackedAccess(1, 0), PackedAccess(store, 1)))
        reader = PackedThread(0, 1, (PackedAccess(load, 1), PackedAccess(0, 0, 0, 0, 1)))
        shape = PackedTest((sender, reader), (False, True))
        assert not races(shape, Tables(space))
        expected = suspected(shape, space, table)
        assert Asked(space, table).choose(shape) is expected
        found.add(expected)
    assert found == {True, False}


def test_mutants_are_broken_where_enumeration_says_so() -> None:
    """Those of read-modify-writes at two operations, where nothing else goes wrong, and some others;
    one each way at three, of fewer kinds. Of the programs only those are decided that use the row;
    the others are as sound as under Proposed."""
    mutants = proposed_mutants()
    assert len(mutants) > 20
    few = [it for n, it in enumerate(mutants) if row_of(it) >= 6 or n % 4 == 0]
    broken = 0
    sample = [it for it in mutants if it.name.endswith(("row6-1-drop-pair", "row2-2-drop"))]
    assert len(sample) == 2
    for space, tables in ((Space(events=2), few), (replace(SMALL, threads=2), sample)):
        plan = Survey(space, MODEL).plan
        programs = [program_named(shape, space) for shape in core(space)]
        for table in tables:
            row = row_of(table)
            changed = [it for it in programs if row in {r.number for r in table.rows_used(it)}]
            expected = Word.UNSOUND in (check(Case(it, table, MODEL, QUICK)).word for it in changed)
            asked = question(space, table)
            answers = [asked.answer(it) for e, t in plan for it in sketches(space, e, t)]
            assert not any(each.unknown for each in answers)
            assert any(each.broken for each in answers) is expected, table.name
            broken += expected
    assert broken > 3


def test_message_passing_is_found_and_row_2_is_blamed() -> None:
    """Fig. 4, of all programs of loads and stores in two threads; then nothing is left."""
    hunt = by_formula(MESSAGES, scheme("original"), count=True)
    (found,) = hunt.findings
    assert [row.number for row in found.blamed] == [2]
    assert found.program == "st.na x 10; st.DV y 20 || r0=ld.DV y; if r0==20: r1=ld.na x"
    assert hunt.complete
    assert formulas_of(hunt).asked == formulas_of(hunt).sound > 0
    assert hunt.method.counted
    listed = [(it.counts.programs, len(it.core)) for it in Survey(MESSAGES, MODEL).phases()]
    assert [(it.programs, it.to_decide) for it in hunt.phases] == listed


def test_a_bound_on_ifs_is_one() -> None:
    """Without an `if` the message cannot be received."""
    hunt = by_formula(replace(MESSAGES, guards=0), scheme("original"))
    assert hunt.complete and not hunt.method.counted
    assert not hunt.findings


def test_a_hunt_by_formula_ends_where_no_row_mends() -> None:
    """What the operations of a space can break, rows of other operations do not mend."""
    hunt = by_formula(Space(events=2), scheme("original"), first=True)
    assert hunt.stopped
    assert hunt.stopped != NO_ROW
    assert not hunt.complete
    assert [row.number for row in hunt.findings[0].blamed] == [6]


@pytest.mark.parametrize(
    ("error", "said"),
    [(LimitReached("timeout of 1 s"), "timeout"), (MemoryError(), "out of memory")],
)
def test_what_cannot_be_answered_is_unknown(
    monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(ask, "suspicious", fail)
    hunt = by_formula(Space(events=2), scheme("proposed"))
    assert formulas_of(hunt).sound == 0
    assert len(hunt.unknown) == formulas_of(hunt).asked == 2
    assert all(said in each for each in hunt.unknown)


def test_a_question_has_a_limit_where_none_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nobody looks at the clock; the hunt goes on, and names what was not decided."""

    def never(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr(settings, "SECONDS", 0.1)
    monkeypatch.setattr(ask, "suspicious", never)
    hunt = by_formula(Space(events=2), scheme("proposed"))
    assert hunt.complete and not hunt.sound
    assert [it.rpartition(": ")[2] for it in hunt.unknown] == ["timeout of 0.1 s"] * 2


def test_no_time_is_no_verdict() -> None:
    asked = question(SMALL, scheme("proposed"), replace(QUICK, seconds=0.001))
    answers = [asked.answer(it) for it in sketches(SMALL, 3, 2)]
    assert any(not each.sound for each in answers)
    assert all("timeout" in each.unknown[0] for each in answers if not each.sound)


def test_a_mistake_of_ours_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(*_: object) -> None:
        raise IndexError("planted")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ask, "suspicious", fail)
    hunt = by_formula(Space(events=2), scheme("proposed"))
    assert {"planted" in it.message for it in hunt.internal} == {True}
    assert formulas_of(hunt).sound == 0
    assert list(tmp_path.iterdir())


def test_a_candidate_without_verdict_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """And excluded alone: the others of the sketch are still found."""
    real = ask.check

    def unsure(case, *rest):  # type: ignore[no-untyped-def]
        verdict = real(case, *rest)
        if verdict.word is Word.UNSOUND and "inc.WG" in case.program.source.name:
            return replace(verdict, word=Word.UNKNOWN, reason="planted")
        return verdict

    monkeypatch.setattr(ask, "check", unsure)
    space = Space(events=2, operations=("inc.WG", "ld.WG", "inc.DV", "st.DV.R"))
    (sketch,) = (it for it in sketches(space, 2, 2) if it.atomic == (True,))
    answer = question(space, scheme("original")).answer(sketch)
    assert answer.unknown
    assert not answer.sound
    assert all("planted" in each for each in answer.unknown)


def test_an_interrupted_hunt_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sketch] = []
    answer = SketchSearch.answer

    def counted(self: SketchSearch, sketch: Sketch) -> ask.SketchAnswer:
        asked.append(sketch)
        return answer(self, sketch)

    monkeypatch.setattr(SketchSearch, "answer", counted)
    judge = Judge(cache_folder(True, print))
    space = replace(SMALL, threads=2, operations=("st.na", "ld.DV", "st.DV.R"))

    def run(table: Scheme, stop: int | None = None) -> Formulas:
        def told(count: int = 1) -> None:
            if len(asked) == stop:
                raise KeyboardInterrupt

        strategy = ByFormula(Survey(space, MODEL, judge), table, Settings())
        strategy.shown.advance = told
        assert list(strategy.broken()) == []
        return strategy.formulas

    with pytest.raises(KeyboardInterrupt):
        run(scheme("proposed"), 3)
    assert len(asked) == 3
    whole = run(scheme("proposed"))
    assert len(asked) == whole.asked == len(set(asked)) > 3
    assert run(scheme("proposed")) == whole
    assert len(asked) == whole.asked
    run(next(it for it in proposed_mutants() if "row2-" in it.name))
    assert len(asked) > whole.asked


def test_where_formulas_do_not_apply() -> None:
    table = scheme("proposed")

    def why(space: Space, table: Scheme = table, settings: Settings = QUICK) -> str:
        return why_not(Survey(space, MODEL), table, settings) or ""

    assert not why(Space())
    assert not why(Space(devices=2))
    assert "plain operations" in why(Space(mixed=True))
    assert "L2s" in why(Space(), settings=Settings(l2=L2.REAL))
    keeps = ROOT / "tests" / "scheme" / "broken" / "proposed-no-rmw-unlock.yaml"
    assert "give back" in why(Space(), read_scheme_file(str(keeps)))
    assert not why(Space(again=True))
    survey = Survey(Space(events=2), load_model("opencl"))
    assert "not proved" in (why_not(survey, table, QUICK) or "")
