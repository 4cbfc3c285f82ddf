"""Z3's C interface: what it refuses is an error in Python, and objects may go in any order."""

import gc

import pytest

from rspverify.smt import interface as z3
from rspverify.smt.texts import asked


def test_a_text_that_is_no_smt_lib_is_an_error() -> None:
    with pytest.raises(z3.Z3Error, match="line 1"):
        asked("(assert lorem)(check-sat)")
    assert asked("(assert false)(check-sat)") == "unsat"


def test_objects_in_a_circle_go_in_any_order() -> None:
    for _ in range(3):
        context = z3.Context()
        solver = z3.ContextSolver(context, "QF_FD")
        assert solver.check() == z3.YES
        circle: list[object] = [context, solver, solver.model()]
        circle.append(circle)
        del context, solver, circle
    gc.collect()
