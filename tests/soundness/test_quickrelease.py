"""The scheme for QuickRelease on tests of litmus/rsp; and what each part of the machine is for."""

import pytest
from checks import MODEL, ROOT, scheme_named

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
        "MP/MP+st.na-st.DV.R+ld.WG-ld.na.litmus",
        "RMW/RMW+inc.WG+inc.DV.R.litmus",
        "paper/Ex4.litmus",
    ],
)
def test_by_explicit_too_and_live(name: str) -> None:
    assert word(name, settings=Settings(engine=Engine.EXPLICIT)) is Word.SOUND
    found = progress(read_program_file(FOLDER / name), SCHEME, Settings())
    assert found.word is ProgressWord.LIVE


PLANTED = [
    # what is taken out of the machine, what is left of it, a test that shows what it was for
    (
        ";\n       each workgroup w in device: w.rL1.VALID[x] := false",
        "",
        "MP/MP+st.na-st.DV+ld.DV-ld.na",
    ),
    (
        "oldest wL1.fifo is x, not wL1.DIRTY[x]",
        "oldest wL1.fifo is x",
        "MP/MP+st.na-st.DV+ld.DV-ld.na",
    ),
    (
        "oldest L2.fifo is x, not L2.DIRTY[x]",
        "oldest L2.fifo is x",
        "MP/MP+st.na-st.DV+ld.DV-ld.na",
    ),
    (
        "write(wL1, x, r); rL1.VALID[x] := false",
        "write(wL1, x, r)",
        "MP/MP+st.na-st.WG+ld.WG-ld.na@01",
    ),
    (
        "when not wL1.DIRTY[x], L2.VALID[x]",
        "when L2.VALID[x]",
        "MP/MP+st.na-st.WG+ld.WG-ld.na@01",
    ),
    (
        "do   rL1.VALID[x] := false; r := L2.data[x]; write(L2, x, f(r))",
        "do   r := L2.data[x]; write(L2, x, f(r))",
        "coherence/CoWR+inc.DV-ld.DV+st.DV",
    ),
    (
        "instruction RMW_L1 r x\n  when ready rmw, ",
        "instruction RMW_L1 r x\n  when ",
        "RMW/RMW+inc.WG+inc.DV.R",
    ),
    (
        "write(wL1, x, f(r)); rL1.VALID[x] := false",
        "write(wL1, x, f(r))",
        "RMW/RMW+inc.WG+inc.WG@01",
    ),
]


@pytest.mark.parametrize("part, left, name", PLANTED)
def test_what_is_taken_out_of_the_machine_is_missed(part: str, left: str, name: str) -> None:
    text = MACHINE.read_text()
    assert text.count(part) == 1
    without = read_architecture(Source(str(MACHINE), text.replace(part, left)))
    assert word(f"{name}.litmus", without) is Word.UNSOUND
