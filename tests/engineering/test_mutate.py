"""What the shipped tests make of the mutants of the shipped schemes, held against `check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, cast

from rspverify.corpus.inputs import tests_meant as meant_tests
from rspverify.engineering.mutate import Baseline, _Trial, baselines, findings
from rspverify.engineering.mutation import Fate, Finding, MutationReport
from rspverify.engineering.mutation_report import asked_of, mutation_report
from rspverify.engineering.setup import Setup, read_setup
from rspverify.generate.rows import row_tests
from rspverify.judge.inputs import NamedScheme
from rspverify.judge.judge import Judge
from rspverify.litmus.reader import read_program
from rspverify.records import replace
from rspverify.scheme.cost import default_costs
from rspverify.scheme.mutants import Mutant, mutants_of
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import scheme_text
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import Source
from rspverify.verdict import ProgressWord, Word

ROOT = Path(__file__).resolve().parents[2]
PROPOSED, ORIGINAL = ROOT / "schemes/proposed.yaml", ROOT / "schemes/original.yaml"
FULL = ROOT / "schemes/proposed-full.yaml"
QUICK = Settings(shortest=False)


def setup_of(
    scheme: Path, tests: Iterable[Path | str | Source], settings: Settings = QUICK
) -> Setup:
    files = [
        file
        for each in tests
        for file in ([each] if isinstance(each, Source) else meant_tests([str(each)], []).files)
    ]
    return read_setup([str(scheme)], files, settings, Judge())


def tried(
    setup: Setup,
    wanted: Iterable[Mutant] | None = None,
    known: list[Baseline] | None = None,
    *,
    proof: bool = False,
) -> tuple[list[Baseline], list[Finding], MutationReport]:
    """Mutants, all by default, held against the tests of a setup, or against those known of it."""
    asked = asked_of(setup, default_costs(), widen=False)
    mutants = asked.mutants if wanted is None else list(wanted)
    base = list(baselines(setup)) if known is None else known
    found = list(findings(setup, mutants, base, asked.costs, proof=proof))
    return base, found, mutation_report(asked, base, found, 0.0)


def mutant(scheme: Scheme, name: str) -> Mutant:
    (found,) = [it for row in mutants_of(scheme) for it in row.mutants if it.name == name]
    return found


@cache
def proposed() -> tuple[Setup, list[Baseline], list[Finding], MutationReport]:
    """With the tests of four operations or fewer: no mutant needs a larger one."""
    setup = setup_of(PROPOSED, [ROOT / "litmus/rsp"])
    small = tuple(it for it in setup.tests if len(it.program.operations) <= 4)
    setup = replace(setup, tests=small)
    return setup, *tried(setup)


def test_each_instruction_of_proposed_is_needed() -> None:
    """Of 46 mutants 44 are unsound; only progress catches the dropped UL_rmw."""
    _, _, found, report = proposed()
    assert len(found) == report.summary.mutants == 46
    assert Counter(it.verdict for it in found) == {Fate.UNSOUND: 44, Fate.STUCK: 2}
    stuck = [
        (it.mutant.row, it.mutant.step.instruction, it.mutant.step.words)
        for it in found
        if it.verdict is Fate.STUCK
    ]
    assert stuck == [(6, "UL_rmw DV", "drop"), (9, "UL_rmw DV", "drop")]
    assert not any(it.unknown or it.within or it.internal for it in found)
    assert not report.tests.broken
    assert not report.tests.stuck


def test_each_mutant_of_proposed_is_shown_by_a_known_test() -> None:
    """The two tables of a file: tests by letters, and the letter at each step."""
    text = Path(__file__).with_name("mutants_of_proposed.md").read_text()
    lines = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line] for line in lines]
    tests = {row[0]: (row[1].strip("`"), row[2]) for row in cells if len(row[0]) == 1 and row[0]}
    tests = {letter: test for letter, test in tests.items() if letter.isalpha()}
    mutations = ("drop", "drop pair", "narrow", "swap")
    said: dict[tuple[int, str, str], list[str]] = {}
    row = ""
    for first, instruction, *letters in (line for line in cells if len(line) == 6):
        if first in ("row", "---"):
            continue
        row = first.split()[0] if first else row
        for mutation, letter in zip(mutations, letters, strict=True):
            if letter:
                said.setdefault((int(row), instruction, mutation), []).append(tests[letter][0])
    setup, _, found, _ = proposed()
    shown: dict[tuple[int, str, str], list[str]] = {}
    for each in found:
        assert each.file is not None
        step = each.mutant.step
        name = Path(each.file).relative_to(ROOT / "litmus/rsp").with_suffix("").as_posix()
        shown.setdefault((each.mutant.row, step.instruction, step.mutation), []).append(name)
    assert said == shown
    sizes = {case.file: str(len(case.program.operations)) for case in setup.tests}
    for name, operations in tests.values():
        assert sizes[str(ROOT / f"litmus/rsp/{name}.litmus")] == operations


def test_each_test_shows_what_it_is_said_to_show() -> None:
    """By `check` and `progress` themselves, without judge or cache."""
    setup, _, found, _ = proposed()
    scheme = read_scheme_file(PROPOSED)
    programs = {case.file: case.program for case in setup.tests}
    for each in found:
        assert each.file is not None
        program = programs[each.file]
        changed = mutant(scheme, each.mutant.name).of(scheme)
        verdict = check(Case(program, changed, setup.verdicts.model, QUICK))
        if each.verdict is Fate.UNSOUND:
            assert (verdict.word, verdict.reason) == (Word.UNSOUND, each.reason)
        else:
            assert verdict.word is Word.SOUND
            assert progress(program, changed, QUICK).word is ProgressWord.STUCK


def test_no_smaller_test_shows_it() -> None:
    """By another engine, for the tests of two and three operations."""
    setup, base, found, _ = proposed()
    scheme = setup.schemes[0].scheme
    small = [it for it in base if len(it.test.program.operations) <= 3]
    assert small
    asked = 0
    for each in found:
        assert each.file is not None
        of_row = [it.test for it in small if each.mutant.row in it.rows]
        sizes = {case.file: case.size for case in setup.tests}
        changed = mutant(scheme, each.mutant.name).of(scheme)
        for case in of_row:
            if case.size < sizes[each.file] and each.verdict is Fate.UNSOUND:
                asked += 1
                settings = replace(QUICK, engine=Engine.EXPLICIT)
                word = check(Case(case.program, changed, setup.verdicts.model, settings)).word
                assert word is not Word.UNSOUND, (each.mutant.name, case.file)
    assert asked > 20


NARROWED = "row6-3-narrow"


def test_without_the_tests_that_kill_it_a_mutant_survives() -> None:
    setup, base, _, _ = proposed()
    scheme = setup.schemes[0].scheme
    wanted = mutant(scheme, NARROWED)
    changed = wanted.of(scheme)
    killers = [
        it
        for it in base
        if 6 in it.rows
        and it.verdict.word is Word.SOUND
        and check(Case(it.test.program, changed, setup.verdicts.model, QUICK)).word is Word.UNSOUND
    ]
    assert killers
    rest = [it for it in base if it not in killers]
    _, (left,), _ = tried(setup, [wanted], rest)
    assert (left.verdict, left.test, left.unknown) == (Fate.SURVIVES, None, ())
    for last in killers[:1] + killers[-1:]:
        with_it = sorted((*rest, last), key=lambda it: it.test.size)
        _, (again,), _ = tried(setup, [wanted], with_it)
        assert (again.verdict, again.file) == (Fate.UNSOUND, last.test.file)


def test_tests_without_a_row_say_nothing_of_it() -> None:
    setup = setup_of(PROPOSED, [ROOT / "litmus/rsp/paper/Fig4.litmus"])
    _, found, report = tried(setup)
    fates = {(it.mutant.row, it.verdict, it.decided > 0) for it in found}
    assert fates == {
        *((row, Fate.UNSOUND, True) for row in (2, 5)),
        *((row, Fate.SURVIVES, False) for row in (3, 6, 8, 9)),
    }
    assert [row.tests for row in report.rows] == [1, 1, 0, 1, 1, 0, 0, 0, 0]


def test_what_no_test_tells_is_told_by_a_proof() -> None:
    """Those that break an obligation fail its test, and the one that keeps a lock gets stuck. Row 6
    has the steps of row 9."""
    setup = setup_of(PROPOSED, [ROOT / "litmus/rsp/paper/Fig4.litmus"])
    rows = [it for it in mutants_of(setup.schemes[0].scheme) if it.row.number != 6]
    _, found, _ = tried(setup, [it for row in rows for it in row.mutants], proof=True)
    assert Counter(it.verdict for it in found) == {Fate.UNSOUND: 29, Fate.STUCK: 1}
    model, itself = setup.verdicts.model, setup.schemes[0].scheme
    shown = [it for it in found if it.text is not None]
    assert {it.mutant.row for it in shown} == {3, 8, 9}
    for it in shown[::7]:
        program = read_program(Source(it.file or "", it.text or ""))
        broken = mutant(itself, it.mutant.name).of(itself)
        assert check(Case(program, broken, model, QUICK)).word is Word.UNSOUND
        assert check(Case(program, itself, model, QUICK)).word is Word.SOUND


def test_a_mutant_that_is_proved_is_told_so() -> None:
    """An invalidation more, behind that of row 2: nothing but what it costs tells it."""
    scheme = read_scheme_file(PROPOSED)
    flush, code = scheme.rows[4].code[0], scheme.rows[1].code
    text = Source("more.yaml", scheme_text(scheme.with_code(2, (flush, *code)), "more"))
    setup = setup_of(PROPOSED, [ROOT / "litmus/rsp/paper/Fig4.litmus"])
    setup = replace(setup, schemes=(NamedScheme.by(read_scheme(text)),))
    wanted = mutant(setup.schemes[0].scheme, "row2-1-drop")
    _, (found,), _ = tried(setup, [wanted], proof=True)
    assert (found.verdict, found.reason) == (Fate.PROVED, "all 48 obligations hold")


def test_a_test_that_the_scheme_itself_fails_shows_nothing() -> None:
    """Row 2 of Original breaks message passing, and so do its mutants; that is no news of them."""
    setup = setup_of(ORIGINAL, [ROOT / "litmus/rsp/paper/Fig4.litmus"])
    base, found, report = tried(setup)
    assert [it.verdict.word for it in base] == [Word.UNSOUND]
    assert {it.verdict for it in found} == {Fate.SURVIVES}
    assert [each.test for each in report.tests.broken] == ["Fig4"]
    scheme = setup.schemes[0].scheme
    without = mutant(scheme, "row2-1-drop").of(scheme)
    assert (
        check(Case(base[0].test.program, without, setup.verdicts.model, QUICK)).word is Word.UNSOUND
    )


def test_nor_does_one_that_the_scheme_itself_gets_stuck_in() -> None:
    """Row 3 of Original waits for ever in this test (docs/findings.md), UL_L2 or none."""
    file = ROOT / "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
    setup = setup_of(ORIGINAL, [file])
    wanted = mutant(setup.schemes[0].scheme, "row3-5-drop")
    _, (found,), report = tried(setup, [wanted])
    assert found.verdict is Fate.SURVIVES
    assert (
        [test.file for test in found.stuck] == [str(file)] == [it.file for it in report.tests.stuck]
    )


def test_what_could_not_be_decided_is_counted() -> None:
    file = ROOT / "litmus/rsp/paper/Fig4.litmus"
    settings = replace(QUICK, engine=Engine.EXPLICIT, states=5)
    base, found, report = tried(setup_of(PROPOSED, [file], settings))
    assert [it.verdict.word for it in base] == [Word.UNKNOWN]
    uncertain = {it.mutant.row for it in found if it.undecided}
    assert uncertain == {2, 5}
    assert {it.verdict for it in found} == {Fate.SURVIVES}
    assert len(report.tests.unknown) == 1


def test_what_survives_of_proposed_full() -> None:
    """Two orders of instructions next to each other, of which docs/findings.md says why."""
    folders = [ROOT / "litmus/all-orders", ROOT / "litmus/rsp/MP", ROOT / "litmus/rsp/RMW"]
    setup = setup_of(FULL, folders)
    _, found, _ = tried(setup)
    assert Counter(it.verdict for it in found) == {
        Fate.UNSOUND: 103,
        Fate.STUCK: 9,
        Fate.SURVIVES: 2,
    }
    surviving = [it.mutant for it in found if it.verdict is Fate.SURVIVES]
    assert [(it.row, it.step.instruction, it.step.words) for it in surviving] == [
        (16, "UL_L2 x", "swap with UL_rmw DV"),
        (22, "INV_L1 WG", "swap with UL_rmw DV"),
    ]
    assert not any(it.unknown for it in found)


def test_rows_of_a_test() -> None:
    """The rows that a baseline names are those that `rows_used` says, whatever the verdict."""
    setup, base, _, _ = proposed()
    for each in base:
        if each.verdict.word is Word.UNSUPPORTED:
            assert each.rows == frozenset()
        else:
            used = setup.schemes[0].scheme.rows_used(each.test.program)
            assert each.rows == {row.number for row in used}


def row_test(title: str) -> Source:
    return next(
        Source(f"{title}.litmus", it.written().text) for it in row_tests() if it.title == title
    )


def test_a_mutant_alone_is_told_what_it_is_told_among_those_of_its_row() -> None:
    """What passes with fewer waits is not asked about with more."""
    tests = ["MP-to-load-acquire-dv", "SB-then-load-seq_cst-dv", "CoRR-load-seq_cst-dv"]
    setup = setup_of(ROOT / "schemes/amdgpu/gfx900.yaml", map(row_test, tests))
    base = list(baselines(setup))
    (row,) = [it for it in mutants_of(setup.schemes[0].scheme) if it.row.number == 6]
    _, together, _ = tried(setup, row.mutants, base)
    alone = [tried(setup, [it], base)[1][0] for it in row.mutants]
    assert together == alone
    assert {it.verdict for it in together} == {Fate.UNSOUND, Fate.EQUIVALENT, Fate.SURVIVES}


def test_a_test_that_a_switch_excuses_tells_with_it_on() -> None:
    """MP on gfx1250: without its write-back the mutant fails as well where invalidations are done
    at once."""
    mp = ROOT / "litmus/amdgpu/MP-dv.litmus"
    setup = setup_of(ROOT / "schemes/amdgpu/gfx1250.yaml", [mp])
    scheme = setup.schemes[0].scheme
    (release,) = [it.row for it in mutants_of(scheme) if str(it.row) == "store DV,N (release)"]
    wanted = list(mutants_of(scheme)[release.number - 1].mutants)
    base, found, report = tried(setup, wanted)
    assert [it.choices for it in base] == [("INVALIDATES_AT_ONCE",)]
    assert (report.tests.verdicts[Word.OPEN], report.tests.excused) == (1, 1)
    dropped = {it.mutant.step.instruction: it for it in found if it.mutant.step.removes}
    for needed in ("global_wb scope:SCOPE_DEV", "s_wait_storecnt 0x0"):
        it = dropped[needed]
        assert (it.verdict, it.switches) == (Fate.UNSOUND, "INVALIDATES_AT_ONCE")
        assert it.reason.endswith(", with INVALIDATES_AT_ONCE")
        machine = f"{scheme.machine.name}+{it.switches}"
        (changed,) = [each for each in wanted if each.name == it.mutant.name]
        settings = replace(QUICK, machine=machine)
        switched = changed.of(scheme).on_machine(scheme.machine.switched(it.switches or ""))
        program = setup.tests[0].program
        assert check(Case(program, switched, setup.verdicts.model, settings)).word is Word.UNSOUND


def test_a_test_is_asked_with_each_switch_that_excuses_it(tmp_path: Path) -> None:
    """On a gfx1250 whose document says nothing of RMW_DROPS_LINE the wait for LDS comes before the invalidation: with RMW_DROPS_LINE none of these
    programs needs it, with INVALIDATES_AT_ONCE this one does."""
    of_rmw = row_test("MP-of-rmw-fence-acquire-both-dv-global-by-local")
    (tmp_path / "open.machine").write_text(
        'machine open "a gfx1250" include amdgpu-gfx1250 switch RMW_DROPS_LINE open "as there"'
    )
    table = (ROOT / "schemes/amdgpu/gfx1250.yaml").read_text()
    path = tmp_path / "open.yaml"
    path.write_text(table.replace("machine: amdgpu-gfx1250", "machine: open.machine"))
    setup = setup_of(path, [of_rmw])
    (wanted,) = (
        it
        for row in mutants_of(setup.schemes[0].scheme)
        for it in row.mutants
        if str(it.row).startswith("fence global+local DV,N (acquire)")
        and (it.step.mutation, it.step.instruction) == ("swap", "s_wait_dscnt 0x0")
    )
    base, (found,), report = tried(setup, [wanted])
    assert [it.choices for it in base] == [("RMW_DROPS_LINE", "INVALIDATES_AT_ONCE")]
    assert (found.verdict, found.switches) == (Fate.UNSOUND, "INVALIDATES_AT_ONCE")
    assert found.decided == 2 and report.tests.excused == 1
    (row,) = (it for it in report.rows if it.row == wanted.row.number)
    assert row.tests == 1


def test_what_a_switch_shows_is_carried_over_with_that_switch_only() -> None:
    """GFX11: as it is one mutant waits longer than the other, not where a wait covers the unit."""
    scheme = read_scheme_file(str(ROOT / "schemes/amdgpu/gfx1100.yaml"))
    one, other = mutant(scheme, "row10-2-drop"), mutant(scheme, "row10-1-drop")
    trial = _Trial(
        NamedScheme.by(scheme, "gfx1100.yaml"), (one, other), (), default_costs(), cast(Any, None)
    )
    longer = trial._waits_more(one, other)
    assert longer(None)
    assert not longer("WAITS_COVER_UNIT")
