"""Z3's C interface: what it refuses is an error in Python, and objects may go in any order."""

import gc
import threading

import pytest

from rspverify.smt import interface as z3
from rspverify.smt.smtlib import asked
from rspverify.smt.solver import Solver
from rspverify.smt.term import variable


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


# ---- what Z3 has made is given back by the thread that asks it, whichever finds that it is garbage


def test_another_thread_gives_nothing_back() -> None:
    context, dropped = z3.Context(), list[int]()
    solver = z3.ContextSolver(context)

    def drop(ref: int, it: int) -> None:
        assert ref == context.ref
        dropped.append(it)

    other = threading.Thread(target=context.drop, args=(drop, [1, 2]))
    other.start()
    other.join()
    assert dropped == []
    assert solver.check() == z3.YES and sorted(dropped) == [1, 2]
    context.drop(drop, [3])
    assert dropped[-1] == 3


def test_a_solver_that_is_lost_in_another_thread() -> None:
    kept = Solver()
    kept.add(variable("a"))
    lost = [Solver()]
    lost[0].add(variable("b") | variable("c"))
    other = threading.Thread(target=lost.clear)
    other.start()
    other.join()
    assert kept.find() is not None
