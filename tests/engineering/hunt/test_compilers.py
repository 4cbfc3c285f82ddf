"""A hunt through a compiler: the wait that a later pass drops is found among all small programs."""

from __future__ import annotations

import re

from rspverify.axiomatic.cat import load_model
from rspverify.compilers.gpus import ForGpu, translator
from rspverify.compilers.llvm import Compiler
from rspverify.compilers.processors import Processor
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.operations import hunting_space
from rspverify.enumeration.survey import Survey
from rspverify.records import replace
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import Source
from rspverify.verdict import Word

MODEL = load_model("opencl-rsp")
LLVM = translator("amdgpu:gfx942")
_WRITTEN_BACK = re.compile(r"(\tbuffer_wbl2 .*\n)(?:\ts_waitcnt vmcnt\(0\)\n)?")
_NOTHING_ELSE = re.compile(
    r"(\tbuffer_inv sc1\n(?:\tv_mov.*\n)*\tbuffer_wbl2 .*\n)\ts_waitcnt vmcnt\(0\)\n"
)


class Planted(Compiler, frozen=True):
    """LLVM, which waits behind each write-back; if it drops waits, not where a load has been waited
    for and nothing else is on its way."""

    drops: bool = False

    def emit(self, module: str, processor: Processor) -> Source:
        source = LLVM.compiler.emit(module, processor)
        text = _WRITTEN_BACK.sub("\\1\ts_waitcnt vmcnt(0)\n", source.text)
        return replace(source, text=_NOTHING_ELSE.sub("\\1", text) if self.drops else text)


def planted(*, drops: bool) -> ForGpu:
    return ForGpu(LLVM.word, LLVM.goal, Planted("it", drops=drops), LLVM.machine)


def test_a_wait_that_a_later_pass_drops_is_found_among_all_programs() -> None:
    """First come the programs that may do more than what happens in turn: 288 of some thousands."""
    space, _ = hunting_space(LLVM, (5, 2, 2, 1, 2, 1), ["st.na", "ld.DV", "st.DV"], mixed=False)
    hunt = ByPrograms(Survey(space, MODEL), planted(drops=True), Settings())
    found = hunt.first()
    assert found is not None
    assert found.program.title == "hunt+st.na-ld.DV-st.DV+ld.DV-st.na"
    assert hunt.words == {Word.SOUND: hunt.done - 1, Word.UNSOUND: 1}
    assert 10 * hunt.done < sum(it.to_decide for it in hunt.phases)
    waiting = check(Case(found.program, planted(drops=False), MODEL, Settings()))
    assert waiting.word is Word.SOUND
