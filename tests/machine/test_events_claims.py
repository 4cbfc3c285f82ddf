"""docs/proofs.md, claim by claim: small programs, and mistakes that they would notice.

Each program of claims.yaml says by hand what it must and must not end with. The events engine has exactly the
outcomes of the search of Tab. 1 and Tab. 2 to the letter, EVICT included (of the reduced search
where that is too large); and with the mistake planted it has others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from machine import planted
from machine.engines import (
    Outcomes,
    events_outcomes,
    has,
    machine_of,
    searched,
)
from machine.own_machines import program_told, table
from machine.planted import Plant
from programs import listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.litmus.reader import read_program_file
from rspverify.machine.machine import Machine
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme_file
from rspverify.source import InputError
from rspverify.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]

CLAIMS = table("claims")


def ends_with(words: str) -> Callable[[Outcome], bool]:
    """Whether an outcome has the values that `3=1 x=2` says; any has `anything`."""
    values = dict(each.split("=") for each in words.split() if each != "anything")
    reads = {int(name): int(value) for name, value in values.items() if name.isdigit()}
    return has(reads, **{name: int(it) for name, it in values.items() if not name.isdigit()})


def outcomes_of(told: Mapping[str, Any], program: AssemblyProgram) -> Outcomes:
    """By search, after what the table says of them is found true."""
    machine = machine_of(program)
    if told.get("large"):
        found = searched(machine, 100_000)
    else:
        found = searched(replace(machine, evict=True), 20_000, reduced=False)
    if "some" in told:
        assert any(map(ends_with(told["some"]), found)), listing(program)
    if "none" in told:
        assert not any(map(ends_with(told["none"]), found)), listing(program)
    return found


@pytest.mark.parametrize("claim", CLAIMS)
def test_each_claim_by_small_programs(claim: str) -> None:
    """Without the mistake the engine agrees with the search, with it not."""
    mistake: Plant = getattr(planted, CLAIMS[claim]["mistake"])
    differ = 0
    for told in CLAIMS[claim]["programs"]:
        program = program_told(told)
        machine, expected = machine_of(program), outcomes_of(told, program)
        assert events_outcomes(machine) == expected, listing(program)
        with pytest.MonkeyPatch.context() as patch:
            mistake(patch)
            differ += events_outcomes(machine) != expected
    assert differ, f"nothing shows that {mistake.__doc__}"


# ---- 8. L2 is memory on one device -----------------------------------------------------------------


def test_events_with_a_real_l2_on_the_corpus() -> None:
    """Every third test, whose outcomes are found with the L2 elided and with a real one."""
    schemes = [read_scheme_file(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed")]
    tests = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))[::3]
    compared = 0
    for number, path in enumerate(tests):
        program = read_program_file(path)
        if len({thread.device for thread in program.threads}) > 1:
            continue
        try:
            compiled = schemes[number % 2].compiled(program)
        except InputError:  # No row for it.
            continue
        real, elided = (Machine(compiled, elide=elide) for elide in (False, True))
        assert events_outcomes(real) == events_outcomes(elided), path.name
        compared += 1
    assert compared > 40


def test_every_test_that_the_argument_names_is_there() -> None:
    """docs/proofs.md names tests and files, and every planted mistake is used here."""
    text = (ROOT / "docs/proofs.md").read_text()
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    for name in re.findall(r"`(test_\w+)`", text):
        assert any(f"def {name}(" in source for source in sources.values()), name
    for name in re.findall(r"tests/[\w/]+\.py", text):
        assert (ROOT / name).is_file(), name
    mistakes = {
        name
        for name, it in vars(planted).items()
        if getattr(it, "__module__", "") == planted.__name__ and it.__doc__
        if not name.startswith(("_", "keep"))
    }
    assert len(mistakes) >= 20
    assert mistakes == {claim["mistake"] for claim in CLAIMS.values()}
