"""`--progress` of `check` and `explain` as users meet it."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from command_line import run

import rspverify.soundness.progress
from rspverify.limits import LimitReached

pytestmark = pytest.mark.usefixtures("in_repository")

ORIGINAL, PROPOSED = "schemes/original.yaml", "schemes/proposed.yaml"
UNLOCKED = "tests/scheme/broken/proposed-no-rmw-unlock.yaml"
CORR = "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
FIG4, EX3 = "litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Ex3.litmus"
ALL_SCOPE = "litmus/rsp/multi-device/MD+inc.ALL+inc.ALL@0--1.litmus"


def test_text_has_progress_beside_the_verdict_when_asked() -> None:
    result = run("check", ORIGINAL, PROPOSED, CORR, EX3, "--progress")
    lines = result.stdout.splitlines()
    assert lines[2].split() == [Path(CORR).stem, "SOUND", "STUCK", "SOUND", "LIVE"]
    assert lines[3].strip() == (
        "original: STUCK no instruction can happen after 3 steps: "
        "P1 at INV_L1 WG waits for its marker to leave the fifo of L1 d0 w0"
    )
    assert lines[5].split() == ["Ex3", "RACY", "RACY"]
    heads = [lines[0].index(name) for name in ("original", "proposed")]
    assert heads == [lines[2].index("SOUND"), lines[2].rindex("SOUND")]
    assert re.search(r"original +1 SOUND +1 RACY +1 STUCK$", result.stdout, re.MULTILINE)
    assert re.search(r"proposed +1 SOUND +1 RACY +1 LIVE$", result.stdout, re.MULTILINE)
    plain = run("check", ORIGINAL, PROPOSED, CORR).stdout
    assert "STUCK" not in plain
    assert "LIVE" not in plain


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([ORIGINAL, CORR], 0),
        ([ORIGINAL, CORR, "--progress"], 1),
        ([PROPOSED, CORR, "--progress"], 0),
        ([PROPOSED, EX3, "--progress"], 0),
        ([ORIGINAL, CORR, ALL_SCOPE, "--progress"], 1),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert run("check", *arguments).exit_code == code


@pytest.fixture
def _limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress is never known, whatever is asked."""

    def hang(*_: object) -> None:
        raise LimitReached("x may take more than 256 values")

    monkeypatch.setattr(rspverify.soundness.progress, "hang", hang)


@pytest.mark.usefixtures("_limited")
def test_a_limit_is_unknown_and_3() -> None:
    result = run("check", ORIGINAL, CORR, "--progress", "-j", "1")
    assert result.exit_code == 3
    assert "original: UNKNOWN x may take" in result.stdout.replace(
        "    UNKNOWN", "original: UNKNOWN"
    )
    assert re.search(r"original +1 SOUND +1 UNKNOWN$", result.stdout, re.MULTILINE)


def test_json_names_progress() -> None:
    schema = json.loads((files("rspverify.render") / "check.schema.json").read_text())

    def words(*arguments: str) -> dict[str, str | None]:
        inputs = (CORR, EX3, ALL_SCOPE, FIG4)
        document = json.loads(run("check", ORIGINAL, *inputs, "--format=json", *arguments).stdout)
        jsonschema.validate(document, schema)
        return {each["file"]: each["progress"] for each in document["results"]}

    asked = {CORR: "STUCK", EX3: None, ALL_SCOPE: None, FIG4: "LIVE"}
    assert words("--progress") == asked
    assert words() == dict.fromkeys(asked)


def test_a_stuck_that_is_written_down_is_expected(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    expect = ("--expect", str(place))
    assert run("check", ORIGINAL, CORR, FIG4, *expect, "--refresh", "--progress").exit_code == 0
    assert "{original: {verdict: SOUND, progress: STUCK}}" in place.read_text()
    assert "{original: UNSOUND}" in place.read_text()
    assert run("check", ORIGINAL, CORR, FIG4, *expect, "--progress").exit_code == 0
    assert run("check", ORIGINAL, CORR, FIG4, *expect).exit_code == 0
    run("check", ORIGINAL, CORR, FIG4, *expect, "--refresh")
    assert "progress: STUCK" in place.read_text()


def test_a_verdict_alone_expects_that_the_program_is_live(tmp_path: Path) -> None:
    place = tmp_path / "expected.yaml"
    expect = ("--expect", str(place))
    run("check", ORIGINAL, CORR, *expect, "--refresh")
    assert "{original: SOUND}" in place.read_text()
    assert run("check", ORIGINAL, CORR, *expect).exit_code == 0
    result = run("check", ORIGINAL, CORR, *expect, "--progress")
    assert result.exit_code == 1
    assert f"{CORR} under original: expected SOUND LIVE, got SOUND STUCK" in result.stdout


def test_explain_shows_the_stuck_execution() -> None:
    result = run("explain", "--progress", ORIGINAL, CORR)
    assert result.exit_code == 1
    text = result.stdout
    for part in (
        "under original (model opencl-rsp): SOUND, STUCK",
        "An execution of the compiled program after which nothing can go on",
        "lock of x on d0: P1",
        "{x=1 D,V} [FLUSH(P1) x]",
        "It is stuck after 3 steps; none is shorter. Then:",
        "  P1 at INV_L1 WG waits for its marker to leave the fifo of L1 d0 w0",
        "  the fifo of L1 d0 w0 waits for x to be flushed; behind it: the marker of P1",
        "  x, DIRTY in L1 d0 w0, waits to be flushed for the lock of x on d0, held by P1",
    ):
        assert part in text


def test_explain_says_why_a_program_is_live() -> None:
    live = run("explain", "--progress", PROPOSED, CORR)
    assert live.exit_code == 0
    assert "SOUND, LIVE" in live.stdout
    assert "Progress: from every state a complete execution can be reached" in live.stdout


@pytest.mark.usefixtures("_limited")
def test_explain_says_what_limit_was_met() -> None:
    unknown = run("explain", "--progress", ORIGINAL, CORR)
    assert unknown.exit_code == 3
    assert "SOUND, UNKNOWN" in unknown.stdout
    assert "Progress is not known: x may take more than 256 values" in unknown.stdout


def test_a_thread_that_has_ended_may_hold_a_lock() -> None:
    test = "litmus/rsp/RMW/RMW+inc.WG+st.DV.R@01.litmus"
    text = run("explain", "--progress", UNLOCKED, test).stdout
    assert "waits for the rmw d0 w0, held by P1, which has ended" in text


WAITS = """OpenCL waits
{ [x]=0; }
P0 (global atomic_int* x) {
  while (atomic_load_explicit(x, memory_order_acquire, memory_scope_device) != 1) ;
}
P1 (global atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
}
scopeTree (device (work_group P0) (work_group P1))
"""


@pytest.fixture
def waits(tmp_path: Path) -> str:
    file = tmp_path / "waits.litmus"
    file.write_text(WAITS)
    return str(file)


def test_a_scheduler_may_stop_who_is_waited_for(waits: str) -> None:
    for scheduler, word, code in (("obe:1", "STUCK", 1), ("obe:2", "LIVE", 0), ("fair", "LIVE", 0)):
        result = run("check", PROPOSED, waits, "--all", "--progress", "--scheduler", scheduler)
        assert (result.exit_code, result.stdout.splitlines()[2].split()[1:]) == (
            code,
            ["SOUND", word],
        )
    stuck = run("check", PROPOSED, waits, "--progress", "--scheduler", "obe:1")
    command = stuck.stdout.splitlines()[-1].partition(": ")[2].split()
    assert command[1:] == ["explain", "--progress", PROPOSED, waits, "--scheduler", "obe:1"]
    text = run(*command[1:]).stdout
    assert "An execution of the compiled program after which it never ends" in text
    assert "  P1 is stopped before it has started" in text
