"""What Z3 has made is given back by the thread that asks it, whichever finds that it is garbage."""

import threading

from rspverify.smt.interface import YES, Context, ContextSolver
from rspverify.smt.solver import Solver
from rspverify.smt.term import variable


def test_another_thread_gives_nothing_back() -> None:
    context, dropped = Context(), list[int]()
    solver = ContextSolver(context)

    def drop(ref: int, it: int) -> None:
        assert ref == context.ref
        dropped.append(it)

    other = threading.Thread(target=context.drop, args=(drop, [1, 2]))
    other.start()
    other.join()
    assert dropped == []
    assert solver.check() == YES and sorted(dropped) == [1, 2]
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
