"""Runs of machines on tests in assembly: how they end, and how they are shown."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path

import command_line
import pytest
from rich.console import Console
from typer.testing import CliRunner

import rspverify
from rspverify.answers import Subject
from rspverify.api.explained import trace
from rspverify.cli import app
from rspverify.records import replace
from rspverify.render.forms.text import show, trace_table
from rspverify.render.trace import Trace
from rspverify.soundness.settings import Engine, Settings
from rspverify.source import InputError, Source

pytestmark = pytest.mark.usefixtures("in_repository")
run = partial(command_line.run, "explain")

TFB = "litmus/ptx/table-4.2/visibility-global-inter-TFB.litmus"
TF = "litmus/ptx/table-4.2/visibility-global-inter-TF.litmus"
WEAK = Settings(machine="ptx-weak")

LATE = """machine late "a store of what is read later; bits, words and queues of every sort"
places thread < workgroup < device < system
type unit { a[x] : value  b[x] : value  BUSY[x] : bit  q[x] : fifo  out : pool }
state {
  memory[x] : value of system
  unit      : unit  of thread
  seen[x]   : bit   of workgroup
  some      : bit   of workgroup
}
final memory
complete when each thread t, location y: empty t.unit.q[y], each thread t: empty t.unit.out
instruction ld r x
  do enqueue self in unit.q[x]; seen[x] := true; some := true
  later TAKE when oldest unit.q[x] is self do dequeue unit.q[x]; add self to unit.out
  later READ when self in unit.out, seen[x], some do remove self from unit.out; r := memory[x]
instruction st x r
  do enqueue self in unit.q[x]
  later WRITE
    when oldest unit.q[x] is self
    do dequeue unit.q[x]; memory[x] := r; unit.a[x] := r; unit.b[x] := r
"""


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_what_the_engines_add_is_no_part_of_the_machine() -> None:
    """Nor is a text told of queues that nobody asked for."""
    assert "read P1" not in run(TFB, "--machine", "ptx-weak", "--queues").stdout
    assert "LP" not in run(TFB, "--machine", "ptx-weak").stdout


def test_an_outcome_may_be_named() -> None:
    found = trace(TF, WEAK, "1:r1=2 1:r2=1").run
    assert str(found.outcome) == "1:r1=2 1:r2=1"
    assert found.execution is not None
    assert trace(TF, WEAK, "1:r1=2 1:r2=0").run.execution is None


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("exists (0:r1=0)", "0:r1=0"),
        ("~exists (0:r1=1)", "0:r1=1"),
        ("forall (0:r1=0)", "0:r1=1"),
        ("forall (0:r1=0 \\/ 0:r1=1)", None),
        ("", "0:r1=0"),
    ],
)
def test_what_is_wanted_by_default(condition: str, expected: str | None) -> None:
    text = f"PTX t\n{{ }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld r1, a | st a, 1 ;\n{condition}\n"
    found = trace(Source("t", text), WEAK).run
    assert (None if found.outcome is None else str(found.outcome)) == expected


def test_a_machine_of_ones_own_with_parts_of_every_sort(tmp_path: Path) -> None:
    """A store of a register is issued before its value is known; bits stand without values."""
    (tmp_path / "late.machine").write_text(LATE)
    text = "PTX t\n{ a=7; }\n P0@cta 0,gpu 0 ;\n ld r1, a ;\n st b, r1 ;\nexists (b=7)\n"
    found = trace(Source("t", text), Settings(machine=str(tmp_path / "late.machine"))).run
    assert found.execution is not None
    stream = io.StringIO()
    show([trace_table(Trace("", found.execution, {}))], Console(file=stream, width=80))
    values = "a[a]=7; b[a]=7; a[b]=0; b[b]=0"
    assert lines_of(stream.getvalue())[2:] == [
        f"unit P0 {{{values}}}",
        "memory a=7 b=0",
        "1 P0 ld r a …",
        f"unit P0 {{{values}}} q a: [ld r a]",
        "seen d0 w0 {a=seen}",
        "some d0 w0 {some=1}",
        "2 P0 st b r …",
        f"unit P0 {{{values}}} q a: [ld r a] q b: [st b r]",
        "3 P0 TAKE(ld r a) …",
        f"unit P0 {{{values}}} q b: [st b r] out: [ld r a]",
        "4 P0 READ(ld r a, reads 7 from memory) ✓",
        f"unit P0 {{{values}}} q b: [st b 7]",
        "5 P0 WRITE(st b 7) ✓",
        "unit P0 {a[a]=7; b[a]=7; a[b]=7; b[b]=7}",
        "memory a=7 b=7",
    ]


def test_engines_find_the_same_end() -> None:
    """Where a machine's steps are known to no other engine the states are searched."""
    by_states = replace(WEAK, engine=Engine.EXPLICIT)
    assert trace(TFB, WEAK).run == trace(TFB, by_states).run


def test_a_bound_on_steps_is_said(tmp_path: Path) -> None:
    file = tmp_path / "around.machine"
    file.write_text('machine around "as in PTX" include rsp\ninstruction st x r do store(L1, x, r)')
    test = Source("t", "PTX t\n{ x=0; }\n P0@cta 0,gpu 0 ;\n st x, 1 ;\nexists (x=1)\n")
    settings = Settings(machine=str(file), engine=Engine.UNROLL, steps=1)
    assert str(trace(test, settings)).splitlines() == [
        f"t on the machine around ({file})",
        "No run of the machine completes within 1 steps.",
    ]
    found = trace(test, Settings(machine=str(file))).run
    assert str(found.outcome) == "x=1" and not found.within


def test_in_a_notebook_it_is_a_page() -> None:
    shown = rspverify.trace(TFB, WEAK)
    page = shown._repr_html_()
    assert "BORROW_OUT_OF_BLOCK(ld r b, P0, reads 2 from M P0)" in page
    assert "It ends with 1:r1=2 1:r2=0, after 14 steps; none is shorter." in page
    assert "memory</th>" not in page
    with pytest.raises(InputError, match="none is named"):
        rspverify.trace(TFB, Settings())


def test_headings_name_the_file_of_a_machine_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "around.machine"
    file.write_text('machine around "the paper\'s" include rsp')
    settings, shown = Settings(machine=str(file)), f"around ({file})"
    hunted = str(rspverify.hunt("proposed", events=1, settings=settings))
    assert hunted.startswith(f"proposed, for the machine {shown}; model opencl-rsp\n")
    compared = str(rspverify.compare("proposed", "proposed", "Fig4", settings=settings))
    assert f"(proposed, machine {shown})\n" in compared
    subject = Subject("s", "s.yaml", "around", "opencl-rsp", Engine.EVENTS, str(file))
    assert subject.titled == f"s (s.yaml), for the machine {shown}"
    scheme = tmp_path / "s.yaml"
    row = "  - {op: load, scope: na, code: [LD r x]}\n"
    scheme.write_text(f"name: s\nmachine: around.machine\nrows:\n{row}")
    result = CliRunner().invoke(app, ["show", str(scheme)])
    assert result.stdout.startswith(f"s, for the machine {shown}\n")
