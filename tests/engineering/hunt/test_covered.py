"""Operations that formulas leave out: a stronger one stands for them, and breaks what they do."""

from __future__ import annotations

from pathlib import Path

from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.formula.covered import renumbered, without_covered
from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.engineering.hunt.operations import hunting_space, row_shape
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space, access_of
from rspverify.enumeration.survey import Survey
from rspverify.enumeration.tables import Tables
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.verdict import WRONG

ROOT = Path(__file__).resolve().parents[3]
MODEL = load_model("opencl-rsp")


def gfx900() -> Scheme:
    return read_scheme_file(str(ROOT / "schemes" / "amdgpu" / "gfx900.yaml"))


def sketch(*atomic: bool, local: bool = False) -> Sketch:
    owners = ((0, 1),) * len(atomic) if local else ()
    return Sketch((2, 2), ((0, 0), (0, 0)), atomic, owners=owners)


def space_of(scheme: Scheme, *names: str, events: int = 2, memories: tuple[str, ...] = ()) -> Space:
    bounds = (events, 2, 2, 1, 2, None)
    return hunting_space(scheme, bounds, names, mixed=False, memories=memories)[0]


def test_the_strongest_of_one_code_stand() -> None:
    """Waits for local memory make no other code of it; the seq_cst load waits for all."""
    scheme = gfx900()
    names = ("ld.rlx.DV", "ld.DV", "ld.sc.DV", "st.DV", "st.sc.DV", "inc.rlx.WG", "inc.sc.WG")
    space = space_of(scheme, *names)
    left = without_covered(space, scheme, sketch(True))
    assert set(left.operations) == {"ld.DV", "ld.rlx.DV", "ld.sc.DV", "st.sc.DV", "inc.sc.WG"}
    assert without_covered(space, scheme, sketch(False, True, True)) is space


def test_among_local_memory_waits_for_it_count() -> None:
    """And one stands for another only if both of its codes are alike."""
    scheme = gfx900()
    space = space_of(scheme, "st.WG", "st.sc.WG", "st.rlx.WG", memories=("global", "local"))
    standing = [without_covered(space, scheme, sketch(True, local=it)) for it in (False, True)]
    assert standing[0].operations == ("st.sc.WG",)
    assert set(standing[1].operations) == {"st.WG", "st.sc.WG"}


def test_another_code_is_not_covered() -> None:
    """A fault that is planted in the row of the weaker operation stays in the space."""
    scheme = gfx900()
    row = scheme.table[row_shape(access_of("st.DV"))]
    planted = scheme.with_code(row.number, tuple(it for it in row.code if it.accesses))
    space = space_of(scheme, "st.DV", "st.sc.DV")
    assert without_covered(space, scheme, sketch(True)).operations == ("st.sc.DV",)
    assert without_covered(space, planted, sketch(True)) == space


def test_what_is_left_out_breaks_nothing_that_stands() -> None:
    """Every program of two operations: where one that is left out is wrong, so is the one with
    the operations that stand for them."""
    scheme = gfx900()
    scheme = scheme.on_machine(scheme.machine.switched("RMW_DROPS_LINE=off"))
    space = space_of(scheme, "ld.rlx.WG", "ld.sc.WG", "inc.rlx.WG", "inc.sc.WG", "st.rlx.WG")
    left = without_covered(space, scheme, sketch(True))
    assert set(left.operations) == {"ld.sc.WG", "inc.sc.WG", "st.rlx.WG"}
    weaker = Tables(space).weaker
    standing = [space.operations.index(it) for it in left.operations]
    broken = 0
    for phase in Survey(space, MODEL).phases():
        for shape in map(decoded, phase.core):
            strong = shape.with_operations(
                [
                    next(it for it in standing if it == own.operation or weaker(own.operation, it))
                    for own in thread.accesses
                ]
                for thread in shape.threads
            )
            words = [
                check(Case(program_named(each, space), scheme, MODEL, Settings(shortest=False)))
                for each in {shape, strong}
            ]
            if strong != shape and any(it.word in WRONG for it in words):
                assert words[-1].word is words[0].word and words[0].word in WRONG, line_of(
                    shape, space
                )
                broken += 1
    assert broken > 2


def test_a_program_has_the_same_line_in_the_wider_space() -> None:
    scheme = gfx900()
    space = space_of(scheme, "ld.rlx.WG", "ld.sc.WG", "st.rlx.WG")
    left = without_covered(space, scheme, sketch(True))
    phases = list(Survey(left, MODEL).phases())
    for shape in (decoded(each) for phase in phases for each in phase.core):
        assert line_of(renumbered(shape, left, space), space) == line_of(shape, left)
