"""Tables for processors are mutated, hunted, repaired and mended as schemes for machines are."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run
from engineering.repairing import prepared_from, require_as_brute_force

import rspverify
from rspverify.axiomatic.cat import load_model
from rspverify.engineering.hunt.finding import By
from rspverify.engineering.mutate import baselines, findings
from rspverify.engineering.mutation import Fate
from rspverify.engineering.mutation_report import asked_of
from rspverify.engineering.repair.constraints import Constraints
from rspverify.engineering.repair.run import settings_for
from rspverify.engineering.setup import Setup, read_setup
from rspverify.judge.judge import Judge
from rspverify.mapping.reader import read_table
from rspverify.scheme.cost import default_costs, read_costs
from rspverify.soundness.blame import blame
from rspverify.soundness.case import Case
from rspverify.soundness.settings import Settings
from rspverify.source import InputError, Source, read_source
from rspverify.translators import rows_in

TESTS = "litmus/targets"


def setup_of(table: str | Source, tests: list[str], model: str) -> Setup:
    files = [f"{TESTS}/{each}.litmus" for each in tests]
    given = table if isinstance(table, Source) else f"schemes/{table}.yaml"
    return read_setup([given], files, settings_for(Settings(model=model)), Judge())


def without_fence() -> Source:
    """c11-x86, but a seq_cst store is a MOV."""
    text = read_source("schemes/c11/c11-x86.yaml").text
    changed = text.replace('code: ["MOV [x],v", MFENCE]', 'code: ["MOV [x],v"]')
    assert changed != text
    return Source("no-fence.yaml", changed.replace("name: c11-x86", "name: no-fence"))


# ---- mutate --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "model", "tests", "killed"),
    [
        (
            "c11/c11-power-leading",
            "rc11",
            ["synchronisation/MP", "synchronisation/MP+fences"],
            {
                "row4-3-drop": "MP",
                "row4-5-drop": "MP",
                "row7-1-drop": "MP",
                "row7-1-narrow": None,
                "row7-1-swap": "MP",
                "row20-1-drop": "MP+fences",
                "row21-1-drop": "MP+fences",
            },
        ),
        (
            "c11/c11-aarch64-rcpc",
            "c11-simp",
            ["synchronisation/MP", "seq_cst/SB"],
            {
                "row4-1-narrow": "MP",
                "row5-1-narrow": "SB",
                "row7-1-narrow": "MP",
                "row8-1-narrow": "SB",
            },
        ),
        ("c11/c11-x86-xchg", "c11-simp", ["seq_cst/SB"], {"row8-2-narrow": "SB"}),
        ("c11/c11-x86", "c11-simp", ["seq_cst/SB", "seq_cst/SB+fences"], {"row8-2-drop": "SB"}),
        (
            "translators/x86-aarch64-risotto",
            "x86-tso",
            ["from-x86/MP"],
            {"row1-2-drop": "MP", "row2-1-drop": "MP"},
        ),
        (
            "gpus/opencl-ptx",
            "rc11-scoped",
            ["scopes/MP+na", "scopes/CoRR", "scopes/SB+fences"],
            {
                "row3-1-narrow": "CoRR",
                "row4-1-narrow": "MP+na",
                "row4-1-narrow-2": "MP+na",
                "row7-1-narrow": "MP+na",
                "row21-1-drop": "SB+fences",
                "row21-1-narrow": "SB+fences",
                "row21-1-narrow-2": "SB+fences",
                "row12-1-narrow": None,
            },
        ),
        (
            "gpus/opencl-vulkan",
            "rc11-scoped",
            ["scopes/MP+na", "scopes/CoRR", "scopes/MP+fences"],
            {
                "row1-1-narrow": "MP+na",
                "row4-1-narrow": "MP+na",
                "row4-1-narrow-2": "MP+na",
                "row4-1-narrow-3": "MP+na",
                "row5-1-narrow": "CoRR",
                "row12-1-narrow": "MP+fences",
                "row12-1-narrow-2": None,
            },
        ),
    ],
)
def test_the_smallest_test_that_a_mutant_fails(
    table: str, model: str, tests: list[str], killed: dict[str, str | None]
) -> None:
    setup = setup_of(table, tests, model)
    asked = asked_of(setup, default_costs(), widen=True)
    base = list(baselines(setup))
    assert all(it.passes for it in base)
    wanted = [it for it in asked.mutants if it.name in killed]
    assert {it.name for it in wanted} == {*killed}
    found = {it.mutant.name: it for it in findings(setup, wanted, base, asked.costs)}
    assert {name: it.test for name, it in found.items()} == killed
    for it in found.values():
        assert it.verdict is (Fate.UNSOUND if it.test else Fate.SURVIVES)
        assert it.mutant.cost < 0 or "swap" in it.mutant.name


def test_mutants_are_written_and_explained(tmp_path: Path) -> None:
    words = ("c11-power-leading", f"{TESTS}/synchronisation/MP.litmus", "--model", "rc11")
    result = run("mutate", *words, "--write", str(tmp_path), "--widen")
    assert "c11-power-leading, for the target power" in result.stdout
    assert "    isync           needed                  drop                    UNSOUND   MP\n" in (
        result.stdout
    )
    assert "12  5 isync" not in result.stdout and "1 lwsync: strengthen to sync" in result.stdout
    file = tmp_path / "c11-power-leading-row7-1-drop.yaml"
    assert f"rspverify explain {file}" in result.stdout
    shown = run("explain", str(file), *words[1:])
    assert "MP under c11-power-leading-row7-1-drop (model rc11): UNSOUND" in shown.stdout


def test_a_table_of_several_has_the_mutants_of_each() -> None:
    """Of either half; the operations that the test does not give to it stay as they are."""
    setup = setup_of("mixed/c11-power", ["synchronisation/MP"], "rc11")
    asked = asked_of(setup, default_costs(), widen=False)
    own = [
        asked_of(setup_of(f"c11/c11-power-{it}", [], "rc11"), default_costs(), widen=False)
        for it in ("leading", "trailing")
    ]
    assert len(asked.mutants) == sum(len(it.mutants) for it in own)
    halves = {str(it.row).split(":")[0] for it in asked.mutants}
    assert halves == {"c11-power-leading", "c11-power-trailing"}
    drops = [
        it for it in asked.mutants if it.row.text[0] == "lwsync" and it.name.endswith("1-drop")
    ]
    stores = [it for it in drops if str(it.row).endswith("store (release)")]
    found = list(findings(setup, stores, list(baselines(setup)), asked.costs))
    assert [it.verdict for it in found] == [Fate.UNSOUND] * 2


def test_a_mutant_of_a_table_of_several_is_written_as_it_is_read(tmp_path: Path) -> None:
    test = f"{TESTS}/synchronisation/MP.litmus"
    words = ("schemes/mixed/c11-power.yaml", test, "--model", "rc11", "--write", str(tmp_path))
    run("mutate", *words)
    file = tmp_path / "c11-power-mixed-row7-1-drop.yaml"
    changed = read_table(read_source(file)).joined
    own = read_table(read_source("schemes/mixed/c11-power.yaml")).joined
    assert [str(it) for it in changed.rows] == [str(it) for it in own.rows]
    different = {
        a.number: a.text for a, b in zip(changed.rows, own.rows, strict=True) if a.text != b.text
    }
    assert different == {7: ("stw v,0(x)",)}
    assert "UNSOUND" in run("check", str(file), test, "--model", "rc11").stdout


def test_a_repair_says_which_table_of_several_is_to_be_changed(tmp_path: Path) -> None:
    """SB between the manual's tables A.6 and A.7, by the stores of the first."""
    setup = setup_of("mixed/c11-riscv-manual", ["seq_cst/SB"], "c11-simp")
    repair = prepared_from(setup, Constraints((8,), length=2))
    repair.run()
    report = repair.written_to(str(tmp_path), repair.report())
    assert report.claim.finished and report.claim.exact
    (changed,) = (row for row in report.found[0].rows if row.changed)
    assert (changed.row, changed.operations) == (8, "c11-riscv: store (seq_cst)")
    written = report.found[0].written
    assert written and "SB" in run("check", written, f"{TESTS}/seq_cst/SB.litmus", "--all").stdout
    again = read_table(read_source(written)).joined
    assert again.rows[7].text == changed.code and again.rows[30].text == ("sw.rl v,0(x)",)


# ---- repair --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "model", "tests", "rows", "expected"),
    [
        (
            "c11/c11-power-leading",
            "c11-simp",
            ["seq_cst/Z6.U", "seq_cst/SB", "synchronisation/MP"],
            (8,),
            {("stw v,0(x)", "sync")},
        ),
        (None, "c11-simp", ["seq_cst/SB", "seq_cst/R"], None, {("MOV t,v", "XCHG [x],t")}),
        ("c11/c11-aarch64", "rc11", ["synchronisation/LB"], None, {("STLR v,[x]",)}),
        (
            "c11/c11-aarch64",
            "rc11",
            ["synchronisation/LB"],
            (3,),
            {("LDR r,[x]", "CBNZ r,L", "L:")},
        ),
        (
            "translators/x86-aarch64-risotto",
            "x86-tso",
            ["from-x86/SB+cmpxchg-fails", "from-x86/SB+cmpxchgs"],
            (5,),
            {("MOV r,e", "CAS r,v,[x]", "DMB ISH")},
        ),
    ],
)
def test_the_cheapest_repair(
    table: str | None,
    model: str,
    tests: list[str],
    rows: tuple[int, ...] | None,
    expected: set[tuple[str, ...]],
) -> None:
    setup = setup_of(table or without_fence(), tests, model)
    repair = prepared_from(setup, Constraints(rows), count=3)
    repair.run()
    found = repair.report()
    assert found.claim.finished and found.claim.exact
    changed = {row.code for each in found.found for row in each.rows if row.changed}
    assert changed == expected, changed


def test_costs_decide_between_a_fence_and_an_exchange(tmp_path: Path) -> None:
    """By ours an exchange is cheaper than MFENCE."""
    costs = tmp_path / "costs.yaml"
    costs.write_text("XCHG: 50\nMFENCE: 20\n")
    setup = setup_of(without_fence(), ["seq_cst/SB"], "c11-simp")
    repair = prepared_from(setup, Constraints(), read_costs(costs))
    repair.run()
    codes = {row.code for each in repair.report().found for row in each.rows if row.changed}
    assert codes == {("MOV [x],v", "MFENCE")}
    costs.write_text("MFENCES: 20\n")
    with pytest.raises(InputError, match="an instruction must be named with its reach"):
        read_costs(costs)


SPACES = {
    "fences of x86": (None, "c11-simp", ["seq_cst/SB", "seq_cst/R"], Constraints((8,), length=3)),
    "an acquire of Power": (
        "c11/c11-power-leading",
        "rc11",
        ["synchronisation/MP"],
        Constraints((4,), ("lwsync", "isync", "cmpw r,r; beq L; L:"), length=3),
    ),
    "a message of Power": (
        "c11/c11-power-leading",
        "rc11",
        ["synchronisation/MP"],
        Constraints((4, 7), ("lwsync", "isync"), length=2),
    ),
    "accesses of AArch64": (
        "c11/c11-aarch64",
        "rc11",
        ["synchronisation/LB", "synchronisation/MP"],
        Constraints((3, 6), ("DMB ISHLD",), length=2),
    ),
}


@pytest.mark.parametrize("name", SPACES)
def test_as_brute_force(name: str) -> None:
    table, model, tests, constraints = SPACES[name]
    setup = setup_of(table or without_fence(), tests, model)
    require_as_brute_force(prepared_from(setup, constraints, count=50))


def test_a_repaired_table_is_written_and_sound(tmp_path: Path) -> None:
    file = tmp_path / "no-fence.yaml"
    file.write_text(without_fence().text)
    test = f"{TESTS}/seq_cst/SB.litmus"
    words = ("--model", "c11-simp", "--hunt-events", "1")
    result = run("repair", str(file), test, *words, "--write", str(tmp_path), "--than", "c11-x86")
    assert result.exit_code == 0, result.output
    assert "no-fence, for the target x86" in result.stdout
    assert "1 test SOUND; sound for all 22 programs without a race" in result.stdout
    assert "cheaper than c11-x86" in result.stdout and "LIVE" not in result.stdout
    written = read_table(read_source(tmp_path / "no-fence-repaired-1.yaml"))
    assert written.rows[7].text == ("MOV t,v", "XCHG [x],t")
    shown = run("check", str(tmp_path / "no-fence-repaired-1.yaml"), test, "--model", "c11-simp")
    assert "SB                    SOUND" in shown.stdout


# ---- hunt, compare, the row at fault -------------------------------------------------------------


def test_the_row_at_fault_of_a_table() -> None:
    """A hunt goes on with it made as strong as can be."""
    settings = Settings(model="c11-simp")
    program = settings.read(read_source(f"{TESTS}/seq_cst/SB.litmus"))
    case = Case(program, read_table(without_fence()), load_model("c11-simp"), settings)
    fault = blame(case, devices=1)
    assert [row.number for row in fault.blamed] == [8]
    (row,) = (it for it in rows_in(fault.mended).rows if it.number == 8)
    assert row.text == ("MFENCE", "MOV t,v", "XCHG [x],t", "MFENCE")


def test_a_hunt_says_that_no_row_mends_a_loop_that_is_missing() -> None:
    text = read_source("schemes/c11/c11-power-leading.yaml").text
    once = text.replace('"OP t,r,v", "stwcx. t,0,x", "bne L"', '"OP t,r,v", "stwcx. t,0,x"')
    found = rspverify.hunt(
        Source("once.yaml", once),
        settings=Settings(model="rc11"),
        events=1,
        operations=["inc.DV"],
        by=By.PROGRAMS,
    ).report()
    (finding,) = found.findings
    assert finding.program == "r0=inc.DV x" and not finding.blamed
    assert found.stopped == "no row, and no two, mend it" and found.subject.target


def test_the_smallest_change_is_told_of_a_table(tmp_path: Path) -> None:
    """Z6.U: a sync behind the store, too."""
    test = f"{TESTS}/seq_cst/Z6.U.litmus"
    text = run("report", "--bug", "c11-power-leading", test, "--model", "c11-simp").stdout
    assert "c11-power-leading is SOUND on the test with\n\nrow 8, store (seq&#95;cst)" in text
    assert "<code>sync; stw v,0(x)</code> | <code>sync; stw v,0(x); sync</code>" in text


def test_what_is_for_a_target_is_called_so() -> None:
    test = f"{TESTS}/seq_cst/SB.litmus"
    words = ("c11-x86", test, "--model", "c11-simp")
    assert "The target allows 3 of the 3 outcomes" in run("explain", *words).stdout
    compared = run("compare", "c11-x86", "c11-x86-xchg", *words[1:]).stdout
    assert "(c11-x86, target x86)" in compared and "machine" not in compared.split("\n\n")[0]


# ---- GPUs ----------------------------------------------------------------------------------------


def changed(table: str, row: str, code: str) -> Source:
    """A table with another code in the row of this code."""
    text = read_source(f"schemes/gpus/{table}.yaml").text
    assert f'["{row}"]' in text
    return Source(f"{table}.yaml", text.replace(f'["{row}"]', f'["{code}"]'))


@pytest.mark.parametrize(
    ("table", "row", "broken", "test", "mended"),
    [
        ("opencl-ptx", "st.release.{SCOPE} x,v", "st.relaxed.{SCOPE} x,v", "MP+na", None),
        ("opencl-ptx", "st.release.{SCOPE} x,v", "st.release.cta x,v", "MP+na", None),
        (
            "opencl-vulkan",
            "membar.rel.{SCOPE}.semsc0.semav",
            "membar.rel.sg.semsc0.semav",
            "MP+fences",
            "membar.rel.{SCOPE}.semsc0",
        ),
    ],
)
def test_a_table_for_a_gpu_is_repaired(
    table: str, row: str, broken: str, test: str, mended: str | None
) -> None:
    """mended: where less than the row had is enough for the test."""
    setup = setup_of(changed(table, row, broken), [f"scopes/{test}"], "rc11-scoped")
    repair = prepared_from(setup, Constraints())
    repair.run()
    report = repair.report()
    assert report.claim.exact and report.claim.finished
    codes = [each.code for found in report.found for each in found.rows if each.changed]
    assert (mended or row,) in codes, codes
