"""The scheme for QuickRelease on tests of litmus/rsp; and what each part of the machine is for."""

from typing import Any

import pytest
from checks import MODEL, ROOT, data, scheme_named

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import SHIPPED
from rspverify.architecture.reader import read_architecture
from rspverify.corpus.expected import read_expected
from rspverify.litmus.reader import read_program_file
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import Source
from rspverify.verdict import ProgressWord, Word

FOLDER = ROOT / "litmus/rsp"
SCHEME = scheme_named("quickrelease")
MACHINE = SHIPPED / "quickrelease.machine"
EXPECTED = read_expected(str(FOLDER / "expected.yaml")).verdicts
NAMES = [name for name in sorted(EXPECTED) if name.split("/")[0] in ("MP", "RMW", "S", "paper")]


def word(name: str, machine: Architecture | None = None, settings: Settings | None = None) -> Word:
    scheme = SCHEME if machine is None else SCHEME.on_machine(machine)
    case = Case(read_program_file(FOLDER / name), scheme, MODEL, settings or Settings())
    return check(case).word


@pytest.mark.parametrize("name", NAMES)
def test_as_proposed_on_the_machine_of_the_paper(name: str) -> None:
    assert word(name) == EXPECTED[name]["proposed"]


@pytest.mark.parametrize(
    "name",
    [
        "MP/MP+st.na-st.WG.R+ld.WG.R-ld.na@01.litmus",
        "RMW/RMW+inc.WG+inc.DV.R.litmus",
        "paper/Ex4.litmus",
    ],
)
def test_by_explicit_too_and_live(name: str) -> None:
    assert word(name, settings=Settings(engine=Engine.EXPLICIT)) is Word.SOUND
    found = progress(read_program_file(FOLDER / name), SCHEME, Settings())
    assert found.word is ProgressWord.LIVE


@pytest.mark.parametrize("case", data("soundness/planted_in_quickrelease.yaml"))
def test_what_is_taken_out_of_the_machine_is_missed(case: Any) -> None:
    text = MACHINE.read_text()
    assert text.count(case["part"]) == 1
    without = read_architecture(Source(str(MACHINE), text.replace(case["part"], case["left"])))
    assert word(f"{case['test']}.litmus", without) is Word.UNSOUND
