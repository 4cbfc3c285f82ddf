"""`rspverify check` as users meet it: forms, exit codes, expectations, bad input, interruption."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import document, run
from results import result

from rspverify.records import replace
from rspverify.verdict import ProgressWord, Word

pytestmark = pytest.mark.usefixtures("in_repository", "one_cache", "in_one_process")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
FIG4, EX3, EX1 = (
    "litmus/rsp/paper/Fig4.litmus",
    "litmus/rsp/paper/Ex3.litmus",
    "litmus/rsp/paper/Ex1.litmus",
)
ALL_SCOPE = "litmus/rsp/multi-device"


def test_why_tests_cannot_be_compiled_is_said_once() -> None:
    lines = run("check", PROPOSED, "litmus/models/c11", "litmus/rsp/rs").stdout.splitlines()
    said = [line for line in lines if line.startswith("  UNSUPPORTED under proposed: ")]
    assert said and len(said) == len(set(said))
    assert any("no row for store DV,N (relaxed), in " in line for line in said)


def test_a_scheme_counts_once_and_two_of_one_name_are_called_by_their_files(tmp_path: Path) -> None:
    edit = tmp_path / "edit.yaml"
    edit.write_text(Path(PROPOSED).read_text())
    found = document("check", "proposed", PROPOSED, FIG4, edit)["results"]
    assert [each["scheme"] for each in found] == [PROPOSED, str(edit)]


@pytest.mark.parametrize("columns", [80, 100])
def test_rows_fit_the_terminal(columns: int) -> None:
    from rspverify.render.check import told
    from rspverify.render.console import Console  # type: ignore[attr-defined]
    from rspverify.render.progress import Stream

    names = ["a-scheme-with-a-name-that-is-much-too-long-for-it", "b"]
    tests = [f"folder/{'x' * 90}{number}.litmus" for number in range(3)]
    console = Console(width=columns, record=True, file=io.StringIO())
    said = told(names, tests, wished=lambda _: False, progress=True)
    with Stream[Any, Any](console, said, text=True) as shown:
        for test in tests:
            for name in names:
                made = replace(result(Word.UNSOUND, ProgressWord.STUCK), file=test, scheme=name)
                shown.show(replace(made, reason="r", progress_reason="p"))
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= columns
    assert all(line.endswith("STUCK") for line in lines if "…" in line and "xx" in line)


def test_json_is_as_its_schema_says() -> None:
    found = document("check", ORIGINAL, PROPOSED, "litmus/rsp/paper", ALL_SCOPE)
    results = found["results"]
    assert len({(each["file"], each["scheme"]) for each in results}) == len(results)
    assert sum(found["summary"].values()) == len(results)
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


A_VERDICT = "a verdict must be one of SOUND, .* not "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("verdicts:\n  a: {x: FINE}\n", rf"2:10: {A_VERDICT}FINE"),
        (
            "verdicts:\n  a: {x: SOUND within reason}\n",
            "2:10: bounds must be like `within 8 iterations` or .*, not within reason",
        ),
        (
            "verdicts:\n  a: {x: OPEN if A or B+C within 8 iteration}\n",
            "2:10: bounds must be like .*, not within 8 iteration",
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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"\x00\xff\xfe\x01", "must be UTF-8 text, not binary"),
        (b"x" * 1_000_001, "must have at most 1,000,000 bytes, not 1,000,001"),
    ],
    ids=["binary", "large"],
)
def test_what_is_no_text_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    """Of schemes tests/scheme/test_reader.py has the same."""
    (tmp_path / "t.litmus").write_bytes(text)
    result = run("check", "proposed", tmp_path / "t.litmus", EX1)
    assert result.exit_code == 2
    assert message in result.output and "Traceback" not in result.output


def test_a_file_is_called_as_it_was_given(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its verdict is decided or known."""
    monkeypatch.setenv("RSPVERIFY_CACHE", str(cache_folder))
    given = ["./schemes/original.yaml", "./litmus//rsp/paper/Fig4.litmus"]
    for cached in (False, True):
        (found,) = document("check", *given)["results"]
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
    assert [it["file"] for it in document("check", PROPOSED, *spellings)["results"]] == [EX1]


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
