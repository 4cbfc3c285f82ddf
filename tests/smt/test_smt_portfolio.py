"""Second opinions: installed packages, and programs that answer, lie, babble, hang or are missing."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from smt.truth import assignments, terms, value

from rspverify.limits import LimitReached, Limits
from rspverify.smt.portfolio import is_solver, other_solvers, satisfiable, second_opinion
from rspverify.smt.term import FALSE, TRUE, Term, all_of, any_of, variable

X, Y, Z = (variable(name) for name in "xyz")
PROPERTY = settings(max_examples=25, derandomize=True)


def needs(package: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


SOLVERS = [pytest.param(name, marks=needs(name)) for name in ("cvc5", "bitwuzla")]
INSTALLED = pytest.mark.parametrize("solver", SOLVERS)
EACH = pytest.mark.parametrize("solver", [*SOLVERS, "z3 by pySMT"])


def opinion(asserted: list[Term], solver: str) -> bool | str:
    """What a solver says without a limit."""
    if solver == "z3 by pySMT":
        return second_opinion(asserted)
    return satisfiable(asserted, solver, Limits())


def program(folder: Path, body: str, name: str = "solver") -> str:
    """A program that is called with the file of a question."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


def pigeons(holes: int) -> list[Term]:
    """One pigeon more than holes: unsatisfiable, and hard for solvers of this kind."""
    sits = [[variable(f"p{i},{j}") for j in range(holes)] for i in range(holes + 1)]
    apart = [
        ~sits[one][hole] | ~sits[other][hole]
        for hole in range(holes)
        for one in range(holes + 1)
        for other in range(one)
    ]
    return [*map(any_of, sits), *apart]


# ---- Installed packages ----------------------------------------------------------------------------


@EACH
@PROPERTY
@given(asserted=st.lists(terms([X, Y, Z]), max_size=4))
def test_an_installed_solver_gives_the_answer_of_the_truth_table(
    solver: str, asserted: list[Term]
) -> None:
    expected = any(value(all_of(asserted), each) for each in assignments([X, Y, Z]))
    assert opinion(asserted, solver) is expected


@EACH
def test_an_installed_solver_on_single_questions(solver: str) -> None:
    """Constants, variables of one name, pigeons, and a term that needs no deep stack."""
    deep = X
    for _ in range(2_000):
        deep = ~(deep & Y) | Z
    one, other = variable("x"), variable("x")
    for question in ([], [TRUE], [one, ~other], pigeons(5)[1:], [deep, ~Z]):
        assert opinion(question, solver) is True
    assert opinion([FALSE], solver) is opinion(pigeons(5), solver) is False


def test_a_solver_that_pysmt_has_not() -> None:
    assert second_opinion([X], solver="nobody") == "pySMT has no solver named nobody"


@INSTALLED
def test_an_installed_solver_keeps_to_the_time_limit(solver: str) -> None:
    """A question that takes it minutes; the answer is no answer, in words."""
    assert satisfiable(pigeons(13), solver, Limits(seconds=0.4)) == f"{solver} gave up"


@INSTALLED
def test_an_installed_solver_is_listed(solver: str) -> None:
    assert solver in other_solvers()
    assert is_solver(solver)
    assert "z3" not in other_solvers()
    assert not is_solver("z3")


# ---- Programs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body, expected",
    [
        ("echo sat", True),
        ("echo unsat", False),
        ("echo; echo '  unsat  '", False),
        ("echo unknown", "solver said unknown"),
        ("echo sat; echo unsat", "solver said sat unsat"),
        ("echo SAT", "solver said SAT"),
        ("echo '(error \"line 3\")'; echo sat", 'solver said (error "line 3") sat'),
        ("echo unsat >&2", "solver said nothing"),
        ("exit 1", "solver said nothing and ended with 1"),
        ("kill -9 $$", "solver said nothing and ended with -9"),
        ("yes | head -1000", f"solver said {('y ' * 40)}"),
    ],
)
def test_only_sat_or_unsat_alone_is_an_answer(
    tmp_path: Path, body: str, expected: bool | str
) -> None:
    assert satisfiable([X], program(tmp_path, body), Limits(seconds=60)) == expected


def test_what_is_no_text_is_no_answer(tmp_path: Path) -> None:
    solver = program(tmp_path, r"printf '\377\376'")
    said = satisfiable([X], solver, Limits(seconds=60))
    assert isinstance(said, str) and said.startswith("solver cannot be run: ")


def test_a_file_that_is_no_program_is_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "solver"
    path.write_bytes(b"\x7fnothing that runs")
    path.chmod(0o755)
    said = satisfiable([X], str(path), Limits(seconds=60))
    assert isinstance(said, str) and said.startswith("solver cannot be run: ")


def test_a_program_gets_the_question(tmp_path: Path) -> None:
    copy = tmp_path / "question"
    solver = program(tmp_path, f'cp "$1" {copy}; echo unsat')
    assert satisfiable([X, ~X], solver, Limits(seconds=60)) is False
    assert copy.read_text().endswith("(check-sat)\n")
    assert "(declare-const |x #0| Bool)" in copy.read_text()


def test_a_program_that_decides(tmp_path: Path) -> None:
    """Z3 again, from the outside, through a file."""
    decide = "import sys, z3; s = z3.Solver(); s.from_file(sys.argv[1]); print(s.check())"
    solver = program(tmp_path, f"exec {sys.executable} -c '{decide}' \"$1\"")
    assert satisfiable(pigeons(3), solver, Limits(seconds=60)) is False
    assert satisfiable(pigeons(3)[1:], solver, Limits(seconds=60)) is True


def test_a_program_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    solver = program(tmp_path, f"sleep 600 & echo $! > {started}; wait; echo unsat")
    assert satisfiable([X], solver, Limits(seconds=2)) == "solver gave up: timeout"
    assert not _runs(int(started.read_text()))


def _runs(process: int) -> bool:
    """Whether a process goes on, some time after it was told to end."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
        if state == "Z":  # Ended, and nobody has asked how.
            return False
        time.sleep(0.05)
    return True


def test_a_solver_is_looked_for_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, "echo unsat", "sayer")
    assert not is_solver("sayer")
    assert satisfiable([X], "sayer", Limits()) == "there is no solver sayer"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert is_solver("sayer")
    assert satisfiable([FALSE], "sayer", Limits(seconds=60)) is False


def test_a_file_that_may_not_be_run_is_no_solver(tmp_path: Path) -> None:
    path = tmp_path / "solver"
    path.write_text("echo sat")
    assert not is_solver(str(path))
    assert not is_solver(str(tmp_path))
    assert satisfiable([X], str(path), Limits()) == f"there is no solver {path}"


def test_nobody_is_asked_when_time_is_over(tmp_path: Path) -> None:
    limits = Limits(seconds=0)
    with pytest.raises(LimitReached):
        satisfiable([X], program(tmp_path, f"touch {tmp_path / 'asked'}; echo sat"), limits)
    assert not (tmp_path / "asked").exists()
