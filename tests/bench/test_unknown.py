"""The experiment with unknown programs: it finds just what enumeration finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from bench.cases import scheme_named
from bench.unknown.formula import suspicious
from bench.unknown.merged import embedded, merged
from bench.unknown.search import _members, _racy_prefix, _widened, frames, search
from bench.unknown.template import Template
from rspverify.axiomatic import load_model
from rspverify.check.settings import Settings
from rspverify.check.soundness import SourceSide, check
from rspverify.engineering.hunt.build import program_of
from rspverify.engineering.hunt.races import races
from rspverify.engineering.hunt.shape import Shape, Step, Thread, decoded
from rspverify.engineering.hunt.space import Space
from rspverify.engineering.hunt.survey import Survey
from rspverify.limits import Limits
from rspverify.smt import Term
from rspverify.verdict import Word

MODEL = load_model("opencl-rsp")
SPACE = Space(events=3, threads=2, workgroups=2, locations=2)
FEW = ("st.na", "ld.WG", "ld.DV", "st.DV.R", "inc.WG", "inc.DV")
TOKENS = st.lists(st.sampled_from("abc").map(lambda name: (name, None)), max_size=5)


@given(st.lists(TOKENS, min_size=1, max_size=4))
def test_each_code_is_part_of_what_codes_are_merged_into(
    codes: list[list[tuple[str, None]]],
) -> None:
    whole = merged(codes)
    for code in codes:
        places = embedded(code, whole)
        assert places == sorted(set(places))
        assert [whole[at] for at in places] == code


def chosen(shape: Shape, template: Template) -> list[Term]:
    """That the program is this one."""
    terms = []
    for number, thread in enumerate(shape.threads):
        for place, step in enumerate(thread.steps):
            test = None if step.tests < 0 else (step.tests, step.of, step.at, step.plus)
            terms.append(template.picked[number, place][step.operation, step.location])
            terms.append(template.tests[number, place][test])
    return terms


def test_the_programs_that_enumeration_finds_broken_are_found() -> None:
    """Those of three operations on two threads."""
    scheme, space = scheme_named("original"), replace(SPACE, operations=FEW)
    broken = []
    for phase in Survey(space, MODEL).phases():
        if (phase.events, phase.threads) == (3, 2):
            for shape in map(decoded, phase.core):
                program = program_of(shape, space)
                side = SourceSide(program, MODEL, race_free=True)
                verdict = check(program, scheme, MODEL, Settings(shortest=False), side)
                broken += [shape] if verdict.word is Word.UNSOUND else []
    assert len(broken) > 3
    for frame in frames(3):
        template = Template(frame, space, scheme)
        solver, _ = suspicious(template, MODEL, Limits())
        for shape in broken:
            if shape.atomic == frame.atomic:
                assert solver.find(chosen(shape, template)) is not None, shape


def test_nothing_is_found_of_a_sound_scheme_and_the_smallest_of_an_unsound_one() -> None:
    proposed = search(3, scheme_named("proposed"), MODEL, 1000)
    assert proposed.broken is None and not proposed.open
    original = search(2, scheme_named("original"), MODEL, 1000)
    assert original.broken is not None
    assert original.broken.startswith("r0=inc.WG x || st.DV.R x 10")


def test_all_that_a_racy_candidate_excludes_races() -> None:
    """However the programs go on whose beginnings are in the box."""
    (frame,) = (each for each in frames(3) if each.atomic == (True,))
    template = Template(frame, SPACE, scheme_named("proposed"))
    operations = range(len(SPACE.operations))
    picks = [each for each in template.picked[0, 0] if each[0] in operations]
    seen = 0
    for first, second, third in list(product(picks, repeat=3))[::11]:
        steps = [Step(*first), Step(*second)]
        shape = Shape((Thread(0, 0, tuple(steps)), Thread(0, 1, (Step(*third),))), frame.atomic)
        if races(shape, template.tables):
            box = _widened(_racy_prefix(shape, template), template)
            for start in list(_members(box, template))[::5]:
                whole = _gone_on(start, Step(*second), Step(*third))
                assert races(whole, template.tables), (shape, whole)
                seen += 1
    assert seen > 50


def _gone_on(start: Shape, second: Step, third: Step) -> Shape:
    """A beginning with steps added until it has as many as the frame."""
    one, other = (thread.steps for thread in start.threads)
    one = (*one, second, second)[:2] if one else (third, second)
    return Shape((Thread(0, 0, one), Thread(0, 1, (*other, third)[:1])), start.atomic)
