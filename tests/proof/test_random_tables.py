"""Random tables: what is proved of them holds, and what is not is shown; obligations are decided as
a second encoding of them is. random_tables.py does more of the same for as long as one likes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from proof.random_tables import (
    Pool,
    Run,
    minimal_rows,
    next_minimal,
    random_rows,
    scheme_of,
    weaker,
)
from proof.second_opinion import holds

from rspverify.proof.obligations import obligations
from rspverify.proof.table import proof_table

PROGRAMS = Path(__file__).with_name("random_programs.txt").read_text("utf-8").splitlines()
"""Programs of random_tables.py: without a race, and UNSOUND where rows are accesses alone."""


@cache
def run() -> Run:
    """With few programs."""
    return Run(Random(32), Pool.of(PROGRAMS))


def test_minimal_tables() -> None:
    """They are proved, and sound by tests that ship and by random programs; their weakenings are
    proved or UNSOUND."""
    for _ in range(2):
        run().minimal(8, weakenings=1)
    assert run().disagreements == []
    proved = run().counts["exact tables PROVED"], run().counts["inexact tables PROVED"]
    assert sum(proved) == 2


def test_programs_notice_weakenings() -> None:
    """Of tables that are one step below a minimal one they find some UNSOUND, without the test of
    the obligation."""
    random = Random(7)
    rows = next_minimal(minimal_rows(random), random)
    steps = random.sample([*weaker(rows)], 4)
    found = [next(run().pools[0].breaking(scheme_of(it), random, 99), None) for it in steps]
    assert sum(it is not None for it in found) > 0


def test_tables_at_random() -> None:
    """All that is broken of those that are exact is shown by the tests of the obligations."""
    random = Random(5)
    for _ in range(2):
        assert run().prove(random_rows(random)).word == "UNSOUND"
    assert run().disagreements == []


def test_second_opinion() -> None:
    """On random pairs of rows, with locks that are kept or freed by others in half of the tables,
    and looks that come after an invalidation in a third."""
    random, answers = Random(11), []
    for number in range(45):
        rows = random_rows(random, kept_locks=number % 2 == 0)
        if number % 3 == 0:
            rows = {
                it: code if it[0] == "store" else ("INV_L1 WG", *code) for it, code in rows.items()
            }
        table = proof_table(scheme_of(rows))
        ways = {"rmw": table.rmw_locks_exclude, "l2": table.l2_locks_exclude}
        ways["afresh"] = number % 3 == 0
        for it in random.sample([*obligations(table)], 8):
            answers.append(it.failure(table) is None)
            second = holds(it.kind.value, it.first.row.text, it.second.row.text, **ways)
            assert second is answers[-1], it
    assert 60 < sum(answers) < 300
