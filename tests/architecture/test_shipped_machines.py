"""The machines that ship: the paper's tables, and what each variant changes of them."""

import subprocess
import sys

import pytest

from rspverify.architecture.architecture import Architecture, Holds, IsReady, Write, Written
from rspverify.architecture.catalogue import SHIPPED, read_machine, shipped
from rspverify.architecture.machines import MACHINES, load
from rspverify.architecture.reader import read_architecture
from rspverify.source import Source

RSP = MACHINES["rsp"]

TAB_1 = {
    "LD": ("rx", ()),
    "ST": ("rx", ()),
    "INC_L1": ("rx", ()),
    "INC_L2": ("rx", ()),
    "RMW_L1": ("rx", ()),
    "RMW_L2": ("rx", ()),
    "FLU_L1": ("s", ("WG", "DV", "SY")),
    "FLU_L2": ("s", ("DV", "SY")),
    "INV_L1": ("s", ("WG", "DV", "SY")),
    "LK_L2": ("x", ()),
    "UL_L2": ("x", ()),
    "LK_rmw": ("s", ("DV", "SY")),
    "UL_rmw": ("s", ("DV", "SY")),
}
"""Tab. 1 and the two read-modify-writes that stand beside it, with operands and reaches."""

TAB_2 = [
    *("FLUSH_L1", "FETCH_L1", "EVICT_L1", "FLUSH_L2", "FETCH_L2", "EVICT_L2"),
    *("DEQLOC_L1", "DEQMARKER_L1", "DEQLOC_L2", "DEQMARKER_L2"),
]


def source(name: str) -> Source:
    return read_machine(SHIPPED / f"{name}.machine")


def changed(name: str) -> tuple[set[str], set[str]]:
    """The instructions and steps of a variant that are not those of rsp, or that it has not."""
    one, two = MACHINES[name], RSP
    instructions = {
        it
        for it in {*one.instructions, *two.instructions}
        if one.instructions.get(it) != two.instructions.get(it)
    }
    return instructions, {each.name for each in {*one.steps} ^ {*two.steps}}


def test_every_file_is_a_machine_of_its_name() -> None:
    assert set(shipped()) >= {"rsp", "rsp-st-waits", "rsp-inv-l2", "rsp-coherent-l2"}
    for name in shipped():
        machine = MACHINES[name]
        assert machine.name == name
        assert machine.summary
        assert machine is load(name)


def test_an_unknown_machine() -> None:
    assert "rps" not in MACHINES
    assert 7 not in MACHINES
    with pytest.raises(KeyError):
        MACHINES["rps"]


def test_names_are_known_without_reading() -> None:
    """What lists the machines needs neither the grammar nor its library."""
    code = (
        "import sys; from rspverify.architecture.machines import MACHINES; "
        "assert 'rsp' in MACHINES and len(MACHINES) == len([*MACHINES]); "
        "name = 'rspverify.lalr'; assert name not in sys.modules; MACHINES['rsp']; assert name in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_instructions_of_tab_1() -> None:
    assert [*RSP.instructions] == [*TAB_1]
    for name, it in RSP.instructions.items():
        assert (it.operands, it.reaches) == TAB_1[name]


def test_the_steps_of_tab_2() -> None:
    assert [each.name for each in RSP.steps] == TAB_2
    assert {each.place for each in RSP.steps if each.name.endswith("L1")} == {"workgroup"}
    assert {each.place for each in RSP.steps if each.name.endswith("L2")} == {"device"}


def test_guards_stand_in_the_order_of_the_tables() -> None:
    def guards(name: str) -> list[str]:
        steps = {each.name: each.conditions for each in RSP.steps}
        found = steps.get(name) or RSP.instructions[name].conditions
        words = []
        for each in found:
            if isinstance(each, Holds):
                words.append(f"{'' if each.value else 'not '}{each.bit.kind}")
            elif isinstance(each, IsReady):
                words.append(f"ready {each.lock.kind}")
        return words

    assert guards("INC_L2") == ["ready rmw", "not L1.DIRTY[x]", "ready lock[x]", "L2.VALID[x]"]
    assert guards("FLUSH_L1") == ["L1.DIRTY[x]", "ready lock[x]"]
    assert guards("FETCH_L1") == ["not L1.DIRTY[x]", "L2.VALID[x]", "ready lock[x]"]
    assert guards("EVICT_L1") == ["L1.present[x]", "not L1.DIRTY[x]"]
    assert guards("EVICT_L2") == ["L2.present[x]", "not L2.DIRTY[x]", "ready lock[x]"]


@pytest.mark.parametrize("level", ["L1", "L2"])
def test_rmw_is_inc_for_any_operation(level: str) -> None:
    """The same but for what is written."""
    inc, rmw = (RSP.instructions[f"{name}_{level}"] for name in ("INC", "RMW"))
    assert inc.conditions == rmw.conditions
    assert (inc.operator, rmw.operator) == ("+", None)
    for one, two in zip(inc.effects, rmw.effects, strict=True):
        if isinstance(one, Write) and isinstance(two, Write):
            assert (one.what, two.what) == (Written.SUM, Written.ANY)
            assert one.target == two.target
        else:
            assert one == two


def test_st_waits_changes_st() -> None:
    assert changed("rsp-st-waits") == ({"ST"}, set())
    one, two = (MACHINES[name].instructions["ST"] for name in ("rsp-st-waits", "rsp"))
    assert one.effects == two.effects
    assert (len(one.conditions), len(two.conditions)) == (1, 0)


def test_inv_l2_adds_an_instruction() -> None:
    assert changed("rsp-inv-l2") == ({"INV_L2"}, set())
    assert list(MACHINES["rsp-inv-l2"].instructions)[-1] == "INV_L2"


def test_coherent_l2s_are_memory() -> None:
    instructions, steps = changed("rsp-coherent-l2")
    gone = {"FLUSH_L2", "FETCH_L2", "EVICT_L2", "DEQLOC_L2", "DEQMARKER_L2"}
    assert instructions == {"INC_L2", "RMW_L2", "FLU_L2"}
    assert steps == {"FLUSH_L1", "FETCH_L1"} | gone
    machine = MACHINES["rsp-coherent-l2"]
    assert machine.instructions.keys() == RSP.instructions.keys()
    assert "L2" not in {each.structure for each in machine.cells}
    assert not gone & {each.name for each in machine.steps}
    assert "lock" in {each.structure for each in machine.cells}


def test_a_text_says_what_its_file_says() -> None:
    def of(name: str) -> Architecture:
        return read_architecture(Source("elsewhere.machine", source(name).text))

    assert all(of(name) == MACHINES[name] for name in shipped())
