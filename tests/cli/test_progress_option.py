"""`--progress` of `check` and `explain` as users meet it."""

from __future__ import annotations

import re

import pytest
from command_line import document, run

import rspverify.soundness.progress
from rspverify.limits import LimitReached

pytestmark = pytest.mark.usefixtures("in_repository")

ORIGINAL = "schemes/original.yaml"
CORR = "litmus/rsp/coherence/CoRR+st.WG+ld.DV.R-ld.DV.R.litmus"
FIG4, EX3 = "litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Ex3.litmus"
ALL_SCOPE = "litmus/rsp/multi-device/MD+inc.ALL+inc.ALL@0--1.litmus"


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
    assert "    UNKNOWN x may take more than 256 values\n" in result.stdout
    assert re.search(r"original +1 SOUND +1 UNKNOWN$", result.stdout, re.MULTILINE)


def test_json_names_progress() -> None:
    def words(*more: str) -> dict[str, str | None]:
        found = document("check", ORIGINAL, CORR, EX3, ALL_SCOPE, FIG4, *more)["results"]
        return {each["file"]: each["progress"] for each in found}

    asked = {CORR: "STUCK", EX3: None, ALL_SCOPE: None, FIG4: "LIVE"}
    assert words("--progress") == asked
    assert words() == dict.fromkeys(asked)


@pytest.mark.usefixtures("_limited")
def test_explain_says_what_limit_was_met() -> None:
    unknown = run("explain", "--progress", ORIGINAL, CORR)
    assert unknown.exit_code == 3
    assert "SOUND, UNKNOWN" in unknown.stdout
    assert "Progress is not known: x may take more than 256 values" in unknown.stdout


def test_explain_and_check_say_alike_that_a_model_has_no_progress() -> None:
    given = ["c11-aarch64", "litmus/targets/seq_cst/2+2W.litmus", "--model", "rc11", "--progress"]
    asked = [run("check", *given), run("explain", *given)]
    assert [each.exit_code for each in asked] == [3, 3]
    for each in asked:
        assert "a target with the model aarch64 has no machine to be run on" in each.stdout
