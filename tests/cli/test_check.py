"""`rspverify check` as users meet it: forms, exit codes, expectations, bad input, interruption."""

from __future__ import annotations

import io
import json
import os
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from command_line import run
from results import result

from rspverify.records import replace
from rspverify.verdict import ProgressWord, Word

pytestmark = pytest.mark.usefixtures("in_repository", "one_cache")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4, EX3, EX1 = (
    "litmus/rsp/paper/Fig4.litmus",
    "litmus/rsp/paper/Ex3.litmus",
    "litmus/rsp/paper/Ex1.litmus",
)
ALL_SCOPE = "litmus/rsp/multi-device"


def test_text_has_verdicts_reasons_and_a_summary() -> None:
    result = run("check", ORIGINAL, PROPOSED, FIG4, EX3)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["test", "original", "proposed"]
    assert lines[1] == "litmus/rsp/paper"
    assert lines[2].split() == ["Fig4", "UNSOUND", "SOUND"]
    assert lines[3].strip() == "original: 1:r0=1 1:r1=0 x=42 y=1 breaks Narf"
    assert lines[4].split() == ["Ex3", "RACY", "RACY"]
    assert lines[5].strip().startswith("P0 line 11 RMW[WG,N](x, ")
    assert lines[-1] == f"to see why: rspverify explain {ORIGINAL} {FIG4}"
    assert "2 tests, 2 schemes, model opencl-rsp, engine events (exact)" in result.stdout
    assert result.exit_code == 1


def test_of_many_tests_only_those_are_shown_that_need_attention() -> None:
    """Below their folders; with the command that shows why the smallest of them fails."""
    short = run("check", ORIGINAL, "litmus/rsp/MP").stdout.splitlines()
    whole = run("check", ORIGINAL, "litmus/rsp/MP", "--all").stdout.splitlines()
    rows = [line for line in short if re.match(r"  \S+ +[A-Z]+$", line)]
    assert rows and {line.split()[1] for line in rows} == {"UNSOUND"}
    assert rows == [line for line in whole if line in rows]
    assert len(rows) == sum("UNSOUND" in line for line in whole if line.startswith("  MP"))
    (hidden,) = [line for line in short if line.endswith(" passed (--all lists them)")]
    assert int(hidden.split()[0]) == 45 - len(rows)
    words = short[-1].removeprefix("to see why: rspverify ").split()
    assert run(*words).exit_code == 1
    smallest = min(
        (Path("litmus/rsp/MP") / f"{row.split()[0]}.litmus").stat().st_size for row in rows
    )
    assert Path(words[-1]).stat().st_size == smallest


def test_what_is_as_expected_needs_no_attention(tmp_path: Path) -> None:
    expected = tmp_path / "expected.yaml"
    asked = ("check", ORIGINAL, "litmus/rsp/MP", "--expect", str(expected))
    run(*asked, "--refresh")
    result = run(*asked)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "45 tests as expected (--all lists them)"
    text = expected.read_text()
    place = text.index("original: RACY")
    expected.write_text(text[:place] + "original: SOUND" + text[place + len("original: RACY") :])
    lines = run(*asked).stdout.splitlines()
    assert [line.split()[1] for line in lines if re.match(r"  \S+ +[A-Z]+$", line)] == ["RACY"]


def test_why_tests_cannot_be_compiled_is_said_once() -> None:
    lines = run("check", PROPOSED, "litmus/models/c11", "litmus/rsp/rs").stdout.splitlines()
    said = [line for line in lines if line.startswith("  UNSUPPORTED under proposed: ")]
    assert said and len(said) == len(set(said))
    assert any("no row for store DV,N (relaxed), in " in line for line in said)


def test_tests_that_a_suite_calls_optional_may_lack_rows() -> None:
    """Where their folder is checked, not where they are named."""
    whole = run("check", PROPOSED, ALL_SCOPE)
    assert whole.exit_code == 0
    assert "8 tests passed, 3 not covered by the table (--all" in whole.stdout.splitlines()[0]
    assert whole.stdout.count(", in 1 optional test\n") == 4
    assert run("check", PROPOSED, f"{ALL_SCOPE}/MD+inc.ALL+inc.ALL@0--1.litmus").exit_code == 3
    assert "file=" not in run("check", PROPOSED, "litmus/rsp/rs", "--format", "github").stdout


def test_a_scheme_counts_once_and_two_of_one_name_are_called_by_their_files(tmp_path: Path) -> None:
    edit = tmp_path / "edit.yaml"
    edit.write_text(Path(PROPOSED).read_text())
    result = run("check", "proposed", PROPOSED, FIG4, str(edit), "--format", "json")
    schemes = [each["scheme"] for each in json.loads(result.stdout)["results"]]
    assert schemes == [PROPOSED, str(edit)]
    assert run("check", "proposed", PROPOSED, FIG4).stdout.splitlines()[0].split()[1:] == [
        "proposed"
    ]


@pytest.mark.parametrize("columns", [80, 100])
def test_rows_fit_the_terminal(columns: int) -> None:
    from rspverify.render.check import stream
    from rspverify.render.console import Console  # type: ignore[attr-defined]

    names = ["a-scheme-with-a-name-that-is-much-too-long-for-it", "b"]
    tests = [f"folder/{'x' * 90}{number}.litmus" for number in range(3)]
    console = Console(width=columns, record=True, file=io.StringIO())
    with stream(console, names, tests, True, wished=lambda _: False, progress=True) as shown:
        for test in tests:
            for name in names:
                made = replace(result(Word.UNSOUND, ProgressWord.STUCK), file=test, scheme=name)
                shown.show(replace(made, reason="r", progress_reason="p"))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.endswith("STUCK") for line in lines if "…" in line and "xx" in line)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([PROPOSED, EX1], 0),
        ([PROPOSED, EX3], 0),
        ([ORIGINAL, FIG4], 1),
        ([PROPOSED, FIG4, "--engine", "explicit", "--states", "5"], 3),
        ([PROPOSED, FIG4, "--steps", "3"], 3),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    result = run("check", *arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output


def test_json_is_as_its_schema_says() -> None:
    result = run("check", ORIGINAL, PROPOSED, "litmus/rsp/paper", ALL_SCOPE, "--format", "json")
    document = json.loads(result.stdout)
    schema = json.loads((files("rspverify.render") / "check.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(document, schema)
    results = document["results"]
    assert len({(each["file"], each["scheme"]) for each in results}) == len(results)
    assert sum(document["summary"].values()) == len(results)
    for each in results:
        assert (each["outcome"] is not None) == (each["verdict"] == "UNSOUND")
        assert (each["race"] is not None) == (each["verdict"] == "RACY")
    fig4 = next(each for each in results if each["test"] == "Fig4" and each["scheme"] == "original")
    assert fig4["outcome"] == {
        "reads": [
            {"thread": 1, "line": 18, "column": 12, "location": "y", "value": 1},
            {"thread": 1, "line": 21, "column": 10, "location": "x", "value": 0},
        ],
        "registers": {"1:r0": 1, "1:r1": 0},
        "memory": {"x": 42, "y": 1},
    }
    assert fig4["axioms"] == ["Narf"]


def test_expectations(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    assert run("check", ORIGINAL, FIG4, "--expect", str(place), "--refresh").exit_code == 0
    assert "original: UNSOUND" in place.read_text()
    held = run("check", ORIGINAL, FIG4, "--expect", str(place))
    assert held.exit_code == 0
    assert "every verdict is as in" in held.stdout
    place.write_text(place.read_text().replace("UNSOUND", "SOUND"))
    differs = run("check", ORIGINAL, FIG4, "--expect", str(place))
    assert differs.exit_code == 1
    assert f"{FIG4} under original: expected SOUND, got UNSOUND" in differs.stdout
    missing = run("check", PROPOSED, FIG4, "--expect", str(place))
    assert missing.exit_code == 1
    assert "no verdict is written down" in missing.stdout


def test_refresh_says_what_it_expects_to_stay_open(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    words = (ORIGINAL, FIG4, "--expect", str(place), "--refresh", "--engine", "explicit")
    result = run("check", *words, "--states", "3")
    assert result.exit_code == 0
    assert f"note: UNKNOWN is what is expected now of {FIG4}" in result.stderr
    assert "UNKNOWN" in place.read_text()


SPIN = """OpenCL spin
{ [x]=0; }
P0 (global atomic_int* x) {
  int r0 = 0, n = 0;
  while (r0 == 0) { n++; r0 = atomic_load_explicit(x, memory_order_acquire, memory_scope_device); }
}
P1 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
}
scopeTree (device (work_group P0) (work_group P1))
"""


def test_a_bound_is_expected_with_the_verdict(tmp_path: Path) -> None:
    test, place = tmp_path / "spin.litmus", tmp_path / "expected.yaml"
    test.write_text(SPIN)
    words = ("check", PROPOSED, str(test), "--expect", str(place), "--unroll")
    assert run(*words, "3", "--refresh").exit_code == 0
    assert "  spin.litmus: {proposed: SOUND within 3 iterations}\n" in place.read_text()
    held = run(*words, "3")
    assert (held.exit_code, held.stdout.splitlines()[-1].split(" is ")[0]) == (0, "every verdict")
    for number, text in (
        ("2", place.read_text()),
        ("3", "verdicts: {spin.litmus: {proposed: SOUND}}"),
    ):
        place.write_text(text)
        other = run(*words, number)
        assert other.exit_code == 1
        was = re.search(r"SOUND[^}]*", text)
        assert was is not None
        said = f"expected {was[0]}, got SOUND within {number} iterations\n"
        assert said in other.stdout


def test_an_exact_verdict_is_not_one_within_bounds(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    run("check", PROPOSED, FIG4, "--expect", str(place), "--refresh")
    place.write_text(place.read_text().replace("SOUND", "SOUND within 8 iterations"))
    found = run("check", PROPOSED, FIG4, "--expect", str(place))
    assert found.exit_code == 1
    assert "expected SOUND within 8 iterations, got SOUND\n" in found.stdout


def test_bounds_have_no_order_and_go_with_progress(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    (tmp_path / "spin.litmus").write_text(SPIN)
    words = ("check", PROPOSED, str(tmp_path / "spin.litmus"), "--expect", str(place))
    words += ("--steps", "4", "--unroll", "2")
    run(*words, "--refresh")
    both = "within 2 iterations and 4 steps"
    assert both in place.read_text()
    place.write_text(place.read_text().replace(both, "within 4 steps and 2 iterations"))
    assert run(*words).exit_code == 0
    assert run(*words, "--progress").exit_code == 1
    run(*words, "--progress", "--refresh")
    assert f"{{verdict: VACUOUS {both}, progress: UNKNOWN}}" in place.read_text()
    assert run(*words, "--progress").exit_code == 0


def test_refresh_keeps_what_it_did_not_decide(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    run("check", ORIGINAL, FIG4, "--expect", str(place), "--refresh")
    run("check", PROPOSED, FIG4, "--expect", str(place), "--refresh")
    assert "{original: UNSOUND, proposed: SOUND}" in place.read_text()


A_VERDICT = "a verdict must be one of SOUND, .* not "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("verdicts:\n  a: {x: FINE}\n", rf"2:10: {A_VERDICT}FINE"),
        (
            "verdicts:\n  a: {x: SOUND within reason}\n",
            "2:10: bounds must be like `within 8 iterations` or .*, not within reason",
        ),
        ("verdicts:\n  a: {x: FINE within 8 steps}\n", rf"2:10: {A_VERDICT}FINE"),
        ("model: m\n", "1:1: the file must have the key verdicts"),
        ("verdicts: [1, 2]\n", "1:11: verdicts must be a mapping, not a list"),
        ("verdicts: {a: {}, a: {}}\n", "1:19: the key 'a' must be given once, not twice"),
        ("verdicts: {\n", "must be YAML"),
        (
            "verdicts: {a: {s: {verdict: SOUND, progress: DEAD}}}",
            "progress must be one of LIVE, STUCK, UNKNOWN, not DEAD",
        ),
        ("verdicts: {a: {s: {verdict: FINE}}}", rf":1:\d+: {A_VERDICT}FINE"),
        ("verdicts: {a: {s: {verdict: [SOUND]}}}", rf"{A_VERDICT}something else"),
        ("verdicts: {a: {s: {progress: LIVE}}}", "with progress must have the key verdict"),
        (
            "verdicts: {a: {s: {verdict: SOUND, speed: LIVE}}}",
            "a key must be verdict or progress, not speed",
        ),
        ("verdicts: {a: {s: [SOUND]}}", rf"{A_VERDICT}something else"),
    ],
)
def test_bad_expectations(text: str, message: str, tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    place.write_text(text)
    result = run("check", PROPOSED, EX1, "--expect", str(place))
    assert result.exit_code == 2
    assert re.search(message, result.stderr)


def bad(tmp_path: Path, name: str, text: str | bytes) -> str:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(place)


HEAD = "OpenCL t\n{ [x]=0; }\n"
ONE = "scopeTree (device (work_group P0))\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "P0 (global int* x) { *x = ; }\n" + ONE, ":3:27: "),
        (b"\x00\xff\xfe\x01", "must be UTF-8 text, not binary"),
        ("x" * 1_000_001, "must have at most 1,000,000 bytes, not 1,000,001"),
    ],
    ids=["syntax error", "binary", "too large"],
)
def test_a_bad_test_is_an_error_and_the_rest_goes_on(
    text: str | bytes, message: str, tmp_path: Path
) -> None:
    place = bad(tmp_path, "t.litmus", text)
    result = run("check", PROPOSED, place, EX1)
    assert result.exit_code == 2
    assert message in result.stdout
    assert "Traceback" not in result.output
    assert result.stdout.splitlines()[0].split() == ["test", "proposed"]
    assert "1 SOUND" in result.stdout
    assert "1 ERROR" in result.stdout


SCHEME = "name: s\nrows:\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SCHEME + "  - {op: load, scope: na, code: [LOAD r x]}\n",
            "s.yaml:3:34: an instruction must be one of LD, ST",
        ),
        ("a: &a [x,x]\nb: [*a,*a]\nrows: *a\n", "s.yaml:1:4: "),
        (b"\x00\x01\x02", "must be text, not binary"),
        ("#" * 10_000_000, "must have at most"),
    ],
    ids=["unknown instruction", "aliases", "binary", "10 MB"],
)
def test_a_bad_scheme_stops_the_run(text: str | bytes, message: str, tmp_path: Path) -> None:
    place = bad(tmp_path, "s.yaml", text)
    result = run("check", place, EX1)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.output


def test_a_file_is_called_as_it_was_given(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its verdict is decided or known."""
    monkeypatch.setenv("RSPVERIFY_CACHE", str(cache_folder))
    given = ["./schemes/original.yaml", "./litmus//rsp/paper/Fig4.litmus"]
    for cached in (False, True):
        (found,) = json.loads(run("check", *given, "--format", "json").stdout)["results"]
        assert (found["scheme_file"], found["file"], found["cached"]) == (*given, cached)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe, scheme = tmp_path / "pipe.litmus", tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    os.mkfifo(scheme)
    result = run("check", str(scheme), str(pipe), EX1)
    assert result.exit_code == 2
    for each in (pipe, scheme):
        assert f"{each}: must be a regular file, not a pipe or a device" in result.stderr
    assert run("explain", PROPOSED, str(pipe)).exit_code == 2
    assert run("check", PROPOSED, EX1, "--model", str(pipe)).exit_code == 2


def test_a_test_is_one_however_it_is_spelled(root: Path) -> None:
    spellings = [EX1, f"./{EX1}", f"litmus/rsp/../../{EX1}", str(root / EX1)]
    document = json.loads(run("check", PROPOSED, *spellings, "--format", "json").stdout)
    assert [each["file"] for each in document["results"]] == [EX1]


def test_refresh_writes_no_verdict_of_a_wrong_test(tmp_path: Path) -> None:
    wrong = bad(tmp_path, "wrong.litmus", HEAD + "P0 (global int* x) { *x = ; }\n" + ONE)
    right = tmp_path / "Ex1.litmus"
    right.write_text(Path(EX1).read_text())
    place = tmp_path / "expected.yaml"
    result = run("check", PROPOSED, wrong, str(right), "--expect", str(place), "--refresh")
    assert result.exit_code == 2
    assert f"{wrong}: must be a test without mistakes to have expected verdicts" in result.stderr
    assert "ERROR" not in place.read_text()
    assert "Ex1.litmus: {proposed: SOUND}" in place.read_text()


def test_what_is_unsupported_comes_with_its_hint() -> None:
    text = run(
        "check", PROPOSED, "litmus/rsp/multi-device/MD+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus"
    )
    assert "scheme proposed has no row for store ALL,N (release) on y" in text.stdout
    rows = "store na, store WG,_ (release); store DV,N (release); store DV,R (release)"
    assert f"(its store rows: {rows})" in text.stdout


def test_an_order_that_was_not_meant_is_explained(tmp_path: Path) -> None:
    """`atomic_store` is seq_cst, which is not what the paper's schemes have rows for."""
    text = Path(FIG4).read_text()
    old = "atomic_store_explicit(y, 1, memory_order_release, memory_scope_device)"
    assert old in text
    (tmp_path / "t.litmus").write_text(text.replace(old, "atomic_store(y, 1)"))
    said = run("check", PROPOSED, "schemes/proposed-full.yaml", str(tmp_path / "t.litmus")).stdout
    assert "scheme proposed has no row for store DV,N (seq_cst) on y (atomic_store is " in said
    assert "is seq_cst, atomic_store_explicit names another order; its store rows: " in said
    assert "store DV,R (release); the scheme proposed-full has rows for all orders)" in said
    assert said.splitlines()[2].split() == ["t", "UNSUPPORTED", "SOUND"]


@pytest.mark.parametrize(
    "command",
    [
        ("check", ORIGINAL, PROPOSED, FIG4, EX3),
        ("explain", ORIGINAL, FIG4),
        ("outcomes", FIG4, "--scheme", ORIGINAL),
        ("show", PROPOSED),
        ("list",),
    ],
)
def test_no_line_of_a_pipe_or_a_file_ends_in_blanks(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    lines = run(*command).stdout.splitlines()
    assert len(lines) > 3
    assert [line for line in lines if line != line.rstrip()] == []
    if command[0] in ("check", "explain", "outcomes"):
        place = tmp_path / "out.txt"
        run(*command, "-o", str(place))
        written = place.read_text().splitlines()
        assert len(written) == len(lines)
        assert [line for line in written if line != line.rstrip()] == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no /proc")
def test_what_is_expected_and_cannot_be_written_is_no_internal_error() -> None:
    result = run("check", PROPOSED, EX1, "--expect", "/proc/expected.yaml", "--refresh")
    assert result.exit_code == 2
    assert "/proc/expected.yaml: cannot be written: " in result.stderr
