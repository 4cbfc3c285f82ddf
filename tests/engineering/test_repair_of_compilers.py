"""A compiler's table with an instruction less: who is to blame, and what repair makes of it."""

from __future__ import annotations

from pathlib import Path

from rspverify.axiomatic.cat import load_model
from rspverify.engineering.repair.answer import Hunted
from rspverify.engineering.repair.constraints import Constraints
from rspverify.engineering.repair.hunting import Hunt
from rspverify.engineering.repair.run import Repair, settings_for
from rspverify.engineering.setup import read_setup
from rspverify.generate.rows import row_tests
from rspverify.judge.inputs import LoadedTest
from rspverify.judge.judge import Judge
from rspverify.scheme.cost import default_costs
from rspverify.scheme.mutants import Mutation, mutants_of, wider_mutants_of
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.soundness.blame import blame
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import Source, read_source

ROOT = Path(__file__).resolve().parents[2]
LEAVES_LINES = Settings(machine="amdgpu-gfx9+RMW_DROPS_LINE=off")
TABLE = ROOT / "schemes/amdgpu/gfx900.yaml"
ACQUIRE = "code: [global_load_dword r x glc, s_waitcnt vmcnt(0), buffer_wbinvl1_vol]"
LEAST = ("global_load_dword r x glc", "s_waitcnt vmcnt(0)", "buffer_wbinvl1_vol")
TESTS = ("MP-dv", "CoRR-load-acquire-dv", "CoWR-rmw-wg")
ROWS = {it.title: it for it in row_tests()}


def without(instruction: str) -> Source:
    text = TABLE.read_text()
    assert text.count(ACQUIRE) == 1
    changed = ACQUIRE.replace(f", {instruction}", "").replace(f" {instruction},", "")
    return Source("broken.yaml", text.replace(ACQUIRE, changed))


def repair_of(scheme: Source | Path, tests: tuple[str, ...], rows: tuple[int, ...]) -> Repair:
    files = [
        Source(each, ROWS[each].written().text)
        if each in ROWS
        else str(ROOT / f"litmus/amdgpu/{each}.litmus")
        for each in tests
    ]
    given = scheme if isinstance(scheme, Source) else str(scheme)
    setup = read_setup([given], files, settings_for(LEAVES_LINES), Judge())
    constraints = Constraints(rows, length=3, set_aside=True)
    repair = Repair(setup, constraints, default_costs(), sample=0)
    repair.prepare()
    repair.run()
    return repair


def test_repair_finds_the_row_again() -> None:
    """Nothing cheaper passes; what no code of this row mends is left out, and named."""
    report = repair_of(without("buffer_wbinvl1_vol"), TESTS, (5,)).report()
    assert report.claim.finished and report.claim.exact
    assert [row.code for each in report.found for row in each.rows if row.changed] == [LEAST]
    assert [(it.test, it.reason.split(":")[0]) for it in report.tests.without] == [
        ("CoWR-rmw-wg", "OPEN")
    ]


def test_a_release_within_a_work_group_has_to_wait_on_gfx9() -> None:
    report = repair_of(TABLE, ("ISA2-wg-dv", "MP-wg"), (11,)).report()
    found = [row.code for each in report.found for row in each.rows if row.changed]
    assert found == [("s_waitcnt vmcnt(0)", "global_store_dword x r")]


def test_blame_knows_waits_and_invalidations() -> None:
    scheme = read_scheme(without("buffer_wbinvl1_vol"))
    assert blamed(scheme, "MP-dv") == [5]
    assert blamed(read_scheme_file(TABLE), "ISA2-wg-dv") == [11]


def blamed(scheme: Scheme, test: str) -> list[int]:
    settings = Settings(shortest=False)
    program = settings.read(read_source(ROOT / f"litmus/amdgpu/{test}.litmus"))
    found = blame(Case(program, scheme, load_model("opencl-rsp"), settings), devices=1)
    return [row.number for row in found.blamed]


def test_an_access_may_lose_a_bit_or_get_one() -> None:
    """Not one that says that a value is returned, in whose place the table has nothing else."""
    scheme = read_scheme_file(ROOT / "schemes/amdgpu/gfx1030.yaml")
    fewer = {
        (it.step.instruction, it.step.words)
        for row in mutants_of(scheme)
        for it in row.mutants
        if it.step.mutation is Mutation.NARROW
    }
    assert fewer == {
        ("global_load_dword r x glc", "without glc"),
        ("global_load_dword r x glc dlc", "without dlc"),
    }
    more = {it.step.words for row in wider_mutants_of(scheme) for it in row.mutants}
    assert more == {"with glc", "with dlc"}


def test_what_passes_is_hunted_by_formula_where_nearly_all_programs_must_be_decided() -> None:
    """On GFX9 as it is a read-modify-write passes by the cache; loads with glc look behind it."""
    scheme = read_scheme_file(TABLE)
    scheme = scheme.on_machine(scheme.machine.switched("RMW_DROPS_LINE=off"))
    verdicts = read_setup([str(TABLE)], [], settings_for(LEAVES_LINES), Judge()).verdicts
    hunt = Hunt(verdicts, scheme, 2, again=True)
    assert hunt.bounds["devices"] == 1
    found = hunt.of(scheme)
    assert isinstance(found, LoadedTest) and len(found.program.operations) == 2
    (near,) = (row for row in scheme.rows if str(row) == "load WG,N (relaxed, acquire)")
    passing = next(row.code for row in scheme.rows if row.number == 4)
    known = hunt.of(scheme.with_code(near.number, passing))
    assert isinstance(known, Hunted)
    assert known.programs is None and known.decided > 0 and not known.unknown
