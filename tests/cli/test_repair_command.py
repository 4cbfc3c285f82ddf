"""`repair` as users meet it: schemes, what is said of all others, exit codes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import command_line
import pytest

from rspverify.engineering.repair.search import Search
from rspverify.scheme.reader import read_scheme_file

run = partial(command_line.run, "repair")
document = partial(command_line.document, "repair")
pytestmark = pytest.mark.usefixtures("one_cache")

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL, PROPOSED = (str(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed"))
MP = [
    str(ROOT / "litmus/rsp/MP" / f"MP+st.na-{rest}.litmus")
    for rest in ("st.DV+ld.DV-ld.na", "st.WG+ld.WG-ld.na")
]
MP.append(str(ROOT / "litmus/rsp/coherence/CoRR+st.DV+ld.DV-ld.DV.litmus"))
FEW = ("--rows", "2,5", "--max-length", "3", "--hunt-events", "0", "--sample", "1")


def test_message_passing_is_mended_as_the_paper_does(tmp_path: Path) -> None:
    result = run(ORIGINAL, *MP, *FEW, "--than", PROPOSED, "--write", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "none is cheaper than proposed, which costs as much" not in result.stdout
    assert "row 2 11 against 11" not in result.stdout
    written = read_scheme_file(tmp_path / "original-repaired-1.yaml")
    given = {row.number: row.code for row in read_scheme_file(ORIGINAL).rows}
    wanted = {row.number: row.code for row in read_scheme_file(PROPOSED).rows}
    for row in written.rows:
        expected = wanted if row.number in (2, 5) else given
        assert list(map(str, row.code)) == list(map(str, expected[row.number]))
    assert " * " in result.stdout and "was   INV_L1 WG; LD r x" in result.stdout
    assert "2 tests SOUND and LIVE by events" in result.stdout
    assert "not hunted for other programs" in result.stdout
    assert "2 rows may change" in result.stderr


def test_json() -> None:
    found = document(ORIGINAL, *MP, *FEW, "--than", PROPOSED)
    assert (found["finished"], found["exact"], found["stopped"]) == (True, True, None)
    assert found["least"] == found["found"][0]["cost"]
    assert found["tests"]["verdicts"]["RACY"] == 1 and found["tests"]["asked"] == 2
    assert [each["row"] for each in found["rows"] if each["stays"] is None] == [2, 5]
    (killers,) = {each["verdict"] for each in found["killers"]}
    assert killers == "UNSOUND"
    assert found["reference"]["fails"] == [] and found["reference"]["candidate"] is False


@pytest.mark.parametrize("machine", ["rsp", "rsp-coherent-l2"])
def test_survivors_are_hunted_through(machine: str) -> None:
    """Without a test of it, row 6 is mended by what hunting finds; then it is proved, where that
    can be, or hunted through."""
    test = str(ROOT / "litmus/rsp/MP/MP+st.na-st.DV.R+ld.DV-ld.na.litmus")
    more = (
        "--rows",
        "6",
        "--max-length",
        "7",
        "--allow",
        "FLU_L1,INV_L1 DV,LK_rmw,UL_rmw",
        "--hunt-events",
        "2",
    )
    words = (PROPOSED, test, *more, "--machine", machine, "-j", "1")
    found = document(*words)
    assert any(each.startswith("hunt+inc.WG+st.DV.R") for each in found["tests"]["found"])
    (scheme,) = found["found"]
    if machine == "rsp":
        assert scheme["hunted"] is None and scheme["proof"]["word"] == "PROVED"
        shown = run(*words).stdout
        assert "PROVED for programs of any size: all 48 obligations hold; LIVE" in shown
    else:
        assert scheme["proof"] is None
        assert scheme["hunted"]["bounds"]["events"] == 2 and scheme["hunted"]["unknown"] == 0
        assert scheme["hunted"]["programs"] > scheme["hunted"]["decided"] > 0
    (code,) = [row["code"] for row in scheme["rows"] if row["row"] == 6]
    assert code[0] == "LK_rmw DV" and "FLU_L1 DV" in code


def test_an_interrupt_says_that_it_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is known by then; the same command then goes on from what the cache has."""
    stands = Search._stands
    tried: list[object] = []

    def interrupted(self: Search, chosen: Any) -> bool:
        tried.append(chosen)
        if len(tried) == 3:
            raise KeyboardInterrupt
        return stands(self, chosen)

    with monkeypatch.context() as patched:
        patched.setattr(Search, "_stands", interrupted)
        result = run(ORIGINAL, *MP, *FEW)
    assert result.exit_code == 130
    assert "interrupted: not finished; no candidate that costs less than" in result.stdout
    assert "the last candidate tried, of which nothing is claimed" in result.stdout
    whole = document(ORIGINAL, *MP, *FEW)
    assert whole["finished"] and len(whole["found"]) >= 1
