"""The tests of litmus/devices under the schemes for several devices, and schemes that cannot be mended."""

from __future__ import annotations

from functools import cache

import pytest
from checks import MODEL, ROOT, judged, scheme_named

from rspverify.architecture.machines import MACHINES
from rspverify.corpus.expected import read_expected
from rspverify.litmus.reader import read_program_file
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Reading, Settings
from rspverify.soundness.sides import ModelSide
from rspverify.source import InputError
from rspverify.verdict import ProgressWord, Word

FOLDER = ROOT / "litmus/devices"
SCHEMES = {
    name: scheme_named(name)
    for name in (
        "proposed-multi-device",
        "proposed-multi-device-inv-l2",
        "proposed-multi-device-inv-l2-rmw",
        "proposed-coherent-l2",
    )
}
EXPECTED = read_expected(str(FOLDER / "expected.yaml")).verdicts
SMALL = [
    "MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus",
    "RMW/RMW+inc.ALL+inc.ALL@0--1.litmus",
    "RMW/RMW+st.WG+inc.ALL.R@0--1.litmus",
    "within/S+st.na-inc.DV+ld.DV-st.na.litmus",
]


@cache
def source(name: str) -> ModelSide:
    return ModelSide(read_program_file(FOLDER / name), MODEL)


def test_nothing_is_unsound_and_only_remote_increments_are_refused() -> None:
    for name, row in EXPECTED.items():
        assert set(row.values()) <= {"SOUND", "RACY", "UNSUPPORTED"}
        refused = {scheme for scheme, word in row.items() if word == "UNSUPPORTED"}
        assert refused == ({"proposed-multi-device-inv-l2"} if "inc.ALL.R" in name else set())


@pytest.mark.parametrize("name", SMALL)
def test_explicit_gives_the_same_verdict(name: str) -> None:
    side = source(name)
    for scheme in ("proposed-multi-device", "proposed-multi-device-inv-l2-rmw"):
        settings = Settings(engine=Engine.EXPLICIT)
        assert judged(side.program, SCHEMES[scheme], settings, source=side).word is Word.SOUND


@pytest.mark.parametrize("name", SMALL)
def test_no_program_gets_stuck(name: str) -> None:
    for scheme in SCHEMES.values():
        if EXPECTED[name][scheme.name] == "SOUND":
            assert progress(source(name).program, scheme, Settings()).word is ProgressWord.LIVE


@pytest.mark.parametrize("name", SMALL)
def test_values_that_are_stored_again_are_one_write_to_the_model(name: str) -> None:
    """Their own rf and mo are consistent, so that no outcome had to be asked about."""
    settings = Settings(reading=Reading.WITNESS)
    scheme = SCHEMES["proposed-multi-device"]
    assert judged(source(name).program, scheme, settings, source=source(name)).word is Word.SOUND


@pytest.mark.parametrize(
    "file, name, axiom",
    [
        ("single-store", "MP/MP+st.na-st.ALL+ld.ALL-ld.na@0--1.litmus", "Narf"),
        ("remote-rmw", "RMW/RMW+st.WG+inc.ALL.R@0--1.litmus", "Rmw"),
    ],
)
def test_rows_that_no_code_can_mend_are_unsound(file: str, name: str, axiom: str) -> None:
    """docs/findings.md tells why, and what `repair` says of them."""
    scheme = scheme_named(f"tests/scheme/devices/{file}.yaml")
    settings = Settings(shortest=False)
    verdict = judged(source(name).program, scheme, settings, source=source(name))
    assert verdict.word is Word.UNSOUND
    assert axiom in verdict.axioms


def test_a_scheme_is_for_no_machine_that_lacks_its_instructions() -> None:
    scheme = SCHEMES["proposed-multi-device-inv-l2"]
    with pytest.raises(InputError, match=r"machine rsp must have INV_L2, and has not") as caught:
        scheme.on_machine(MACHINES["rsp"])
    assert len(caught.value.problems) == 1  # Where it first stands, of five.
    assert (
        SCHEMES["proposed-multi-device"].on_machine(MACHINES["rsp-inv-l2"]).machine.name
        == "rsp-inv-l2"
    )
