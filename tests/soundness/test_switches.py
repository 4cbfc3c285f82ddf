"""What is not known of a machine: a wrong verdict says which switch would excuse it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checks import judged

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.machines import machine_named
from rspverify.programs.meaning import program_of
from rspverify.programs.notation import read_notation
from rspverify.scheme.reader import read_scheme_file
from rspverify.soundness.settings import Engine
from rspverify.source import InputError
from rspverify.verdict import Verdict, Word

MACHINE = """machine open "what a store does with the line is not known"
places thread < workgroup < device < system
switch ST_DROPS "a store drops the line"
switch ST_UPDATES "a store updates the line"
switch ST_WAITS "a store waits for nothing"
state { memory[x] : value of system  copy[x] : value of workgroup  VALID[x] : bit of workgroup }
final memory
instruction LD r x when VALID[x] do r := copy[x]
instruction ST r x
  do memory[x] := r;
     if ST_DROPS { VALID[x] := false };
     if ST_UPDATES { copy[x] := r; VALID[x] := true }
step FETCH of workgroup, location x do copy[x] := memory[x]; VALID[x] := true
"""

SCHEME = """name: open
machine: open.machine{on}
rows:
  - {{op: load, scope: wg, order: relaxed, code: [LD r x]}}
  - {{op: store, scope: wg, order: relaxed, code: [ST r x]}}
"""

OWN = "st.rlx.WG x 1; r0=ld.rlx.WG x"


def judged_on(folder: Path, machine: str, on: str = "", line: str = OWN, **options: Any) -> Verdict:
    """The verdict on a program of one thread, on a machine of this text."""
    (folder / "open.machine").write_text(machine)
    (folder / "open.yaml").write_text(SCHEME.format(on=on))
    scheme = read_scheme_file(folder / "open.yaml")
    return judged(program_of(read_notation(line), "own"), scheme, **options)


def test_what_the_document_leaves_open_is_open(tmp_path: Path) -> None:
    found = judged_on(tmp_path, MACHINE)
    assert (found.word, found.sound_if) == (Word.OPEN, ("ST_DROPS", "ST_UPDATES"))
    assert found.execution is not None and found.outcome is not None
    assert "; SOUND if ST_DROPS or ST_UPDATES, of which the document says nothing" in found.reason


def test_a_switch_that_is_turned_off_is_open_no_more(tmp_path: Path) -> None:
    one = judged_on(tmp_path, MACHINE, "+ST_DROPS=off")
    assert (one.word, one.sound_if) == (Word.OPEN, ("ST_UPDATES",))
    assert judged_on(tmp_path, MACHINE, "+ST_DROPS=off+ST_UPDATES=off").word is Word.UNSOUND


def test_a_status_says_what_a_switch_is_by_itself(tmp_path: Path) -> None:
    """Intended: on, unless it is turned off. Contradicted: off, and it excuses nothing."""
    intended = MACHINE.replace("switch ST_DROPS", "switch ST_DROPS intended")
    assert judged_on(tmp_path, intended).word is Word.SOUND
    off = judged_on(tmp_path, intended, "+ST_DROPS=off")
    assert (off.word, off.sound_if) == (Word.OPEN, ("ST_UPDATES",))
    against = MACHINE.replace("switch ST_DROPS", "switch ST_DROPS contradicted").replace(
        "switch ST_UPDATES", "switch ST_UPDATES contradicted"
    )
    found = judged_on(tmp_path, against)
    assert (found.word, found.sound_if) == (Word.UNSOUND, ())
    only = "; SOUND only if ST_DROPS or ST_UPDATES, which the document contradicts"
    assert found.reason.endswith(only)


@pytest.mark.parametrize("on", ["+ST_DROPS", "+ST_UPDATES", "+ST_WAITS+ST_DROPS"])
def test_a_scheme_may_have_a_switch_on(on: str, tmp_path: Path) -> None:
    assert judged_on(tmp_path, MACHINE, on).word is Word.SOUND


def test_a_switch_that_does_nothing_excuses_nothing(tmp_path: Path) -> None:
    found = judged_on(tmp_path, MACHINE, "+ST_WAITS")
    assert (found.word, found.sound_if) == (Word.OPEN, ("ST_DROPS", "ST_UPDATES"))


def test_only_together(tmp_path: Path) -> None:
    text = MACHINE.replace("if ST_UPDATES {", "if ST_UPDATES, ST_WAITS {").replace(
        "if ST_DROPS { VALID[x] := false };", "if ST_DROPS, ST_WAITS { nothing };"
    )
    found = judged_on(tmp_path, text)
    assert found.sound_if == ("ST_UPDATES+ST_WAITS",)  # Without ST_DROPS, which does nothing.
    assert "; SOUND if ST_UPDATES and ST_WAITS, of which" in found.reason


def test_a_machine_with_a_switch_on_is_another(tmp_path: Path) -> None:
    path = tmp_path / "open.machine"
    path.write_text(MACHINE)
    off = machine_named(str(path))
    on: Architecture = machine_named(f"{path}+ST_DROPS")
    assert (off.is_on("ST_DROPS"), on.is_on("ST_DROPS")) == (False, True)
    assert off.identity != on.identity
    assert on == off.switched("ST_DROPS")


def test_a_switch_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "open.machine"
    path.write_text(MACHINE)
    with pytest.raises(
        InputError, match=r"must have the switch ST_DROP, and has not.*\n.*ST_DROPS"
    ):
        machine_named(f"{path}+ST_DROP")
    with pytest.raises(
        InputError, match=r"machine rsp must have the switch A, and has not.*\n.*none"
    ):
        machine_named("rsp+A")


LATE = """machine late "stores may pass each other once c is set"
places thread < workgroup < device < system
switch FIX "c takes three steps"
state { memory[x] : value of system  count : pool of thread
        busy : bit of thread  a : bit of system  b : bit of system  c : bit of system }
final memory
complete when each thread t: empty t.count
instruction LD r x do r := memory[x]
instruction ST r x when not busy or c do add self to count; busy := true
  later STORE when self in count do remove self from count; memory[x] := r; busy := false
step AT_ONCE of system when not FIX do c := true
step FIRST of system do a := true
step SECOND of system when a do b := true
step THIRD of system when b do c := true
"""


def test_what_holds_within_bounds_excuses_nothing(tmp_path: Path) -> None:
    for steps in (5, 6):
        twice = "st.rlx.WG x 1; st.rlx.WG x 2; r0=ld.rlx.WG x"
        found = judged_on(tmp_path, LATE, line=twice, engine=Engine.UNROLL, steps=steps)
        assert found.sound_if == ()
