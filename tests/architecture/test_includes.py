"""Machines that include others: what is declared again takes its place, everywhere."""

from pathlib import Path

import pytest
from architecture.texts import BASE

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import MAX_CHARACTERS, read_machine
from rspverify.architecture.declarations import MAX_FILES
from rspverify.architecture.machines import MACHINES
from rspverify.architecture.reader import read_architecture
from rspverify.source import InputError, Source

RSP = MACHINES["rsp"]
TITLE = 'machine mine "mine"\n'


def mine(text: str) -> Architecture:
    return read_architecture(Source("mine.machine", f"{TITLE}include rsp\n{text}"))


def read_file(path: Path) -> Architecture:
    return read_architecture(read_machine(path))


def said(path: Path) -> list[str]:
    with pytest.raises(InputError) as raised:
        read_file(path)
    return [f"{Path(it.span.source.name).name if it.span else ''}: {it.message}"
            for it in raised.value.problems]  # fmt: skip


@pytest.fixture
def write(tmp_path: Path):
    def written(**texts: str) -> Path:
        for name, text in texts.items():
            (tmp_path / f"{name}.machine").write_text(text, encoding="utf-8")
        return tmp_path / f"{next(iter(texts))}.machine"

    return written


def test_all_but_the_name_is_included() -> None:
    found = mine("")
    assert (found.name, found.summary) == ("mine", "mine")
    assert found.instructions == RSP.instructions
    assert found.steps == RSP.steps
    assert (found.cells, found.final) == (RSP.cells, RSP.final)
    assert (found.complete, found.always) == (RSP.complete, RSP.always)
    assert (found.places, found.reaches) == (RSP.places, RSP.reaches)


def test_an_instruction_that_is_declared_again_stands_in_its_place() -> None:
    found = mine("instruction LD r x do r := memory[x]")
    assert list(found.instructions) == list(RSP.instructions)
    assert found.instructions["LD"] != RSP.instructions["LD"]
    assert found.instructions["ST"] == RSP.instructions["ST"]


def test_a_new_one_comes_last() -> None:
    assert list(mine("instruction NOP do nothing").instructions) == [*RSP.instructions, "NOP"]


def test_a_definition_counts_inside_what_is_included() -> None:
    """ST writes through: a change of one line."""
    found = mine("define store(C, y, v) do memory[y] := v")
    st, rmw = found.instructions["ST"], found.instructions["RMW_L2"]
    assert [str(it) for it in st.effects] != [str(it) for it in RSP.instructions["ST"].effects]
    assert len(st.effects) == 1
    assert len(rmw.effects) == 4


def test_a_type_and_a_part_of_the_state() -> None:
    found = mine(
        "type cache { data[x] : value DIRTY[x] : bit VALID[x] : bit = true present[x] : bit"
        " fifo : fifo extra : lock }\n"
        "state { rmw : lock of device }\n"
        "instruction LK_rmw s of DV do each device d in s: take d.rmw\n"
        "instruction UL_rmw s of DV do each device d in s: free d.rmw"
    )
    names = {str(each): each for each in found.cells}
    assert names["L1.VALID[x]"].start
    assert names["rmw"].place == "device"
    assert "L2.extra" in names


@pytest.mark.parametrize("what", ["complete", "always"])
def test_what_is_required(what: str) -> None:
    found = mine(f"{what} when each device d, location y: not d.L2.DIRTY[y]")
    assert len(getattr(found, what)) == 1
    assert len(getattr(RSP, what)) == 2


def test_what_is_left_out() -> None:
    found = mine("without LD, EVICT_L1, EVICT_L2")
    assert set(RSP.instructions) - set(found.instructions) == {"LD"}
    assert [it.name for it in RSP.steps if it not in found.steps] == ["EVICT_L1", "EVICT_L2"]


def test_what_is_left_out_can_be_declared() -> None:
    """Behind the others then; a step in the place of an instruction, too."""
    found = mine("without LD\nstep LD of workgroup do free rmw")
    assert "LD" not in found.instructions
    assert found.steps[-1].name == "LD"


def test_a_part_of_the_state_that_is_left_out_is_missed() -> None:
    with pytest.raises(InputError) as raised:
        mine("without lock, FLUSH_L1, FLUSH_L2, FETCH_L1, FETCH_L2, EVICT_L2")
    messages = {each.message for each in raised.value.problems}
    wanted = "lock must be a variable or a part of the state (memory, L2, rmw, L1)"
    assert messages == {wanted}


def test_a_file_beside_it(write) -> None:
    path = write(one='machine one\ninclude "two.machine"\nfinal memory', two=BASE)
    assert read_file(path).name == "one"
    assert [str(it) for it in read_file(path).cells][:2] == ["memory[x]", "lock[x]"]


def test_of_several_the_later_counts(write) -> None:
    path = write(
        one='machine one\ninclude "two.machine"\ninclude "three.machine"\nfinal memory',
        two=BASE + "step S of workgroup do free rmw",
        three="step S of workgroup, location x do free lock[x]",
    )
    (step,) = read_file(path).steps
    assert len(step.variables) == 1


def test_a_circle_is_named(write) -> None:
    path = write(
        one='machine one include "two.machine"',
        two='include "three.machine"',
        three='include "two.machine"',
    )
    assert said(path) == [
        "three.machine: two.machine must not include itself: "
        "two.machine → three.machine → two.machine"
    ]
    own = write(four='machine four include "four.machine"')
    assert said(own) == [
        "four.machine: four.machine must not include itself: four.machine → four.machine"
    ]


def test_mistakes_of_what_is_included_are_told_there(write) -> None:
    path = write(one='machine one include "two.machine"', two=BASE + "step S")
    assert said(path) == ["two.machine: a step must have `of` here, not its end"]
    path = write(one='machine one include "two.machine"', two=BASE + "final memoy")
    (message,) = said(path)
    assert message.startswith("two.machine: memoy must be ")


def test_a_file_that_is_missing_or_no_text(write, tmp_path: Path) -> None:
    (tmp_path / "b.machine").write_bytes(b"\xff\xfe\x00")
    path = write(one='machine m include "no.machine" include "." include "b.machine"')
    parts = [each.removeprefix("one.machine: ").replace(f"{tmp_path}", "…") for each in said(path)]
    assert parts == [
        "…/no.machine: no such file",
        "…: must be a file, not a folder",
        "…/b.machine: must be UTF-8 text, not binary (byte 0 is not UTF-8)",
    ]


def chained(number: int) -> dict[str, str]:
    """Files that include each other, one the next."""
    texts = {f"f{it}": f'include "f{it + 1}.machine"\n' for it in range(number)}
    return {**texts, "f0": f"machine m {texts['f0']}", f"f{number}": BASE}


def test_how_many_files_there_may_be(write) -> None:
    assert read_file(write(**chained(MAX_FILES))).name == "m"
    assert said(write(**chained(MAX_FILES + 1))) == [
        f"f{MAX_FILES}.machine: a machine must be made of at most {MAX_FILES} files"
    ]


def test_a_file_that_many_include_is_read_once(write) -> None:
    """Otherwise there would be as many readings as ways to it."""
    texts = {
        f"f{it}": f'include "f{it + 1}.machine"\ninclude "f{it + 1}.machine"\n' for it in range(15)
    }
    path = write(**{**texts, "f0": f"machine m {texts['f0']}", "f15": BASE})
    assert read_file(path).name == "m"


def test_how_much_may_be_included(write) -> None:
    rest = "#" * (MAX_CHARACTERS - len(BASE))
    assert read_file(write(one='machine m include "two.machine"', two=BASE + rest)).name == "m"
    path = write(
        one='machine m include "two.machine" include "three.machine"', two=BASE + rest, three="#"
    )
    assert said(path) == [
        f"one.machine: a machine must include at most {MAX_CHARACTERS:,} characters"
    ]
