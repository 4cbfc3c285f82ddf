"""Each instruction of Tab. 1 and each step of Tab. 2, alone: when it may happen, what it changes.

`changes` gives everything that a step changes, so that each expectation also says that nothing
else does. Entries are written as in Fig. 4: value, C or D, V or I; `-` is an absent one.
"""

import pytest
from machine.stepping import FREE, Bench
from programs import assembly

from rspverify.architecture.architecture import Write, Written
from rspverify.architecture.machines import MACHINES
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer
from rspverify.records import replace

HERE, SAME, NEAR, FAR = (0, 0), (0, 0), (0, 1), (1, 0)
"""Places: of a thread, of one in its work-group, in another work-group, and on another device."""

WITH_L2S = ["rsp", "rsp-inv-l2", "rsp-st-waits"]
EACH_MACHINE = pytest.mark.parametrize("machine", WITH_L2S)
"""But the one that has no L2s: tests/machine/test_machines_for_devices.py."""


# ---- Tab. 1: the instruction set --------------------------------------------------------------------


@EACH_MACHINE
def test_the_instructions_and_their_operands_are_those_of_tab_1(machine: str) -> None:
    """And RMW_L1 and RMW_L2, which have the operands and the effects of the two INCs."""
    instructions = MACHINES[machine].instructions.values()
    added = {"INV_L2": ("s", "DV", "SY")} if machine == "rsp-inv-l2" else {}
    assert {each.name: (each.operands, *each.reaches) for each in instructions} == {
        **added,
        "LD": ("rx",),
        "ST": ("rx",),
        "INC_L1": ("rx",),
        "INC_L2": ("rx",),
        "RMW_L1": ("rx",),
        "RMW_L2": ("rx",),
        "FLU_L1": ("s", "WG", "DV", "SY"),
        "FLU_L2": ("s", "DV", "SY"),
        "INV_L1": ("s", "WG", "DV", "SY"),
        "LK_L2": ("x",),
        "UL_L2": ("x",),
        "LK_rmw": ("s", "DV", "SY"),
        "UL_rmw": ("s", "DV", "SY"),
    }


@EACH_MACHINE
@pytest.mark.parametrize("level", ["L1", "L2"])
def test_inc_is_the_rmw_that_adds(machine: str, level: str) -> None:
    inc, rmw = (MACHINES[machine].instructions[f"{name}_{level}"] for name in ("INC", "RMW"))
    assert inc.conditions == rmw.conditions
    changed = [
        replace(each, what=Written.ANY) if isinstance(each, Write) else each for each in inc.effects
    ]
    assert changed == list(rmw.effects)
    assert (inc.operator, rmw.operator) == ("+", None)


def test_the_machines_differ_in_st_and_inv_l2_alone() -> None:
    table = {name: machine.instructions for name, machine in MACHINES.items()}
    rsp, waits, more = table["rsp"], table["rsp-st-waits"], table["rsp-inv-l2"]
    assert {name for name in rsp if rsp[name] != waits[name]} == {"ST"}
    assert all(rsp[name] == more[name] for name in rsp)
    assert table["rsp-coherent-l2"].keys() == rsp.keys()


def test_a_machine_is_a_value_under_its_name() -> None:
    assert all(machine.name == name for name, machine in MACHINES.items())


@EACH_MACHINE
def test_a_machine_starts_empty(machine: str) -> None:
    bench = Bench((HERE, ["LD x"]), (FAR, ["ST y 1"]), initial={"y": 7}, machine=machine)
    assert bench.view() == {
        **{f"{cache} {x}": "-" for cache in ("d0w0", "d1w0", "d0", "d1") for x in "xy"},
        **{f"{cache} fifo": "" for cache in ("d0w0", "d1w0", "d0", "d1")},
        **{f"lock {device} {x}": FREE for device in ("d0", "d1") for x in "xy"},
        "rmw d0w0": FREE,
        "rmw d1w0": FREE,
        "memory x": 0,
        "memory y": 7,
    }


# ---- LD --------------------------------------------------------------------------------------------


@EACH_MACHINE
def test_ld_blocks_unless_the_entry_is_valid(machine: str) -> None:
    bench = Bench((HERE, ["LD x"]), (SAME, ["ST x 5", "INV_L1 WG"]), machine=machine)
    assert not bench.may("P0")  # Absent.
    bench.do("P1")
    assert bench.may("P0")
    bench.do("P1")
    assert not bench.may("P0")  # DIRTY, INV'D.
    bench.do("FLUSH d0w0 x")
    assert not bench.may("P0")  # CLEAN, INV'D.


@pytest.mark.parametrize("dirty", [False, True])
def test_ld_reads_the_entry(dirty: bool) -> None:
    bench = Bench((HERE, ["LD x"]), (SAME, ["ST x 5"]), initial={"x": 7})
    bench.do("P1") if dirty else bench.load("d0w0", "x")
    assert bench.changes("P0") == {"r0": 5 if dirty else 7}


def test_ld_looks_in_its_own_l1_and_at_no_lock() -> None:
    bench = Bench((HERE, ["LD x"]), (NEAR, ["LK_rmw SY", "LK_L2 x", "ST x 5"]))
    bench.do("P1", "P1", "P1")
    assert not bench.may("P0")
    bench = Bench((HERE, ["LD x"]), (NEAR, ["LK_rmw SY", "LK_L2 x"])).load("d0w0", "x")
    assert bench.do("P1", "P1").changes("P0") == {"r0": 0}


# ---- ST --------------------------------------------------------------------------------------------


def _with_entry(hygiene: str, machine: str) -> Bench:
    """P0 is about to write 9 to x, whose entry holds 5, or 7 from memory, in the wanted state."""
    threads = (HERE, ["ST x 9"]), (SAME, ["ST x 5", "INV_L1 WG"])
    bench = Bench(*threads, initial={"x": 7}, machine=machine)
    match hygiene:
        case "CV":
            bench.load("d0w0", "x")
        case "CI":
            bench.do("P1", "P1", "FLUSH d0w0 x", "DEQLOC d0w0 x")
        case "DV":
            bench.do("P1")
        case "DI":
            bench.do("P1", "P1")
    return bench


@EACH_MACHINE
@pytest.mark.parametrize("hygiene", ["absent", "CV", "CI", "DV", "DI"])
def test_st_stores_and_enqueues(hygiene: str, machine: str) -> None:
    """It blocks nowhere; in the variant of the earlier draft, where the entry is DIRTY and INV'D."""
    bench = _with_entry(hygiene, machine)
    assert str(bench.view()["d0w0 x"])[-2:] == hygiene or hygiene == "absent"
    changes = bench.changes("P0")
    if hygiene == "DI" and machine == "rsp-st-waits":
        assert changes is None
        bench.do("FLUSH d0w0 x")
        changes = bench.changes("P0")
    fifo = "x x" if hygiene in ("DV", "DI") else "x"
    assert changes == {"d0w0 x": "9 DV", "d0w0 fifo": fifo}


@EACH_MACHINE
def test_st_looks_at_no_lock(machine: str) -> None:
    bench = Bench((HERE, ["ST x 9"]), (NEAR, ["LK_L2 x", "LK_rmw SY"]), machine=machine)
    assert bench.do("P1", "P1").changes("P0") == {"d0w0 x": "9 DV", "d0w0 fifo": "x"}


def test_a_location_that_is_stored_twice_is_in_the_fifo_twice() -> None:
    """Settled point (d)."""
    bench = Bench((HERE, ["ST x 1", "ST y 2", "ST x 3", "FLU_L1 WG", "ST y 4"]))
    bench.do("P0", "P0", "P0", "P0")
    assert bench.view()["d0w0 fifo"] == "x y x P0"
    bench.do("FLUSH d0w0 x", "DEQLOC d0w0 x")
    assert not bench.may("DEQLOC d0w0 y")
    assert not bench.may("DEQLOC d0w0 x")  # The other x is CLEAN, but not the oldest.
    bench.do("FLUSH d0w0 y", "DEQLOC d0w0 y", "DEQLOC d0w0 x")
    assert not bench.may("P0")
    bench.do("DEQMARKER d0w0 P0", "P0")


# ---- INC_L1 ----------------------------------------------------------------------------------------


@EACH_MACHINE
def test_inc_l1_reads_and_stores_the_next_value(machine: str) -> None:
    bench = Bench((HERE, ["INC_L1 x", "INC_L1 x 3"]), initial={"x": 7}, machine=machine)
    bench.load("d0w0", "x")
    assert bench.changes("P0") == {"r0": 7, "d0w0 x": "8 DV", "d0w0 fifo": "x"}
    assert bench.changes("P0") == {"r1": 8, "d0w0 x": "11 DV", "d0w0 fifo": "x x"}


@EACH_MACHINE
def test_inc_l1_blocks_unless_the_entry_is_valid(machine: str) -> None:
    bench = Bench((HERE, ["INC_L1 x"]), (SAME, ["ST x 5", "INV_L1 WG"]), machine=machine)
    assert not bench.may("P0")
    bench.do("P1")
    assert bench.may("P0")
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("FLUSH d0w0 x")
    assert not bench.may("P0")
    bench.do("FETCH d0w0 x", "P0")


@pytest.mark.parametrize("other", [SAME, NEAR])
def test_inc_l1_blocks_unless_the_rmw_lock_of_its_work_group_is_ready(
    other: tuple[int, int],
) -> None:
    bench = Bench((HERE, ["INC_L1 x"]), (other, ["LK_rmw DV", "UL_rmw DV"])).load("d0w0", "x")
    assert bench.may("P0")
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("P1", "P0")


def test_inc_l1_passes_its_own_rmw_lock_and_every_lockfile() -> None:
    bench = Bench((HERE, ["LK_rmw DV", "INC_L1 x"]), (NEAR, ["LK_L2 x"])).load("d0w0", "x")
    bench.do("P0", "P1", "P0")
    far = Bench((HERE, ["INC_L1 x"]), (FAR, ["LK_rmw DV"])).load("d0w0", "x")
    far.do("P1", "P0")  # The rmw locks of another device are no concern of it.


# ---- RMW -------------------------------------------------------------------------------------------


@EACH_MACHINE
def test_rmw_stores_what_its_operation_makes_of_what_it_reads(machine: str) -> None:
    code = ["RMW_L1 x 5", "RMW_L1 x 5?9", "RMW_L1 x 5?6"]
    bench = Bench((HERE, code), initial={"x": 7}, machine=machine).load("d0w0", "x")
    assert bench.changes("P0") == {"r0": 7, "d0w0 x": "5 DV", "d0w0 fifo": "x"}
    assert bench.changes("P0") == {"r1": 5, "d0w0 x": "9 DV", "d0w0 fifo": "x x"}
    assert bench.changes("P0") == {"r2": 9, "d0w0 fifo": "x x x"}


@EACH_MACHINE
def test_a_compare_exchange_that_fails_stores_what_it_has_read(machine: str) -> None:
    bench = Bench((HERE, ["RMW_L1 x 5?6"]), (NEAR, ["RMW_L2 x 5?6"]), machine=machine)
    bench.load("d0w0", "x").load("d0w1", "x")
    assert bench.changes("P0") == {"r0": 0, "d0w0 x": "0 DV", "d0w0 fifo": "x"}
    assert bench.changes("P1") == {"r1": 0, "d0w1 x": "0 CI", "d0 x": "0 DV", "d0 fifo": "x"}


# ---- INC_L2 ----------------------------------------------------------------------------------------


@EACH_MACHINE
def test_inc_l2_reads_and_stores_in_the_l2(machine: str) -> None:
    bench = Bench((HERE, ["INC_L2 x", "INC_L2 x 3"]), initial={"x": 7}, machine=machine)
    bench.do("FETCH d0 x")
    assert bench.changes("P0") == {"r0": 7, "d0 x": "8 DV", "d0 fifo": "x"}
    assert bench.changes("P0") == {"r1": 8, "d0 x": "11 DV", "d0 fifo": "x x"}


def test_inc_l2_invalidates_its_own_l1_and_the_l2_of_every_device() -> None:
    bench = Bench((HERE, ["INC_L2 x"]), (NEAR, ["LD x"]), (FAR, ["ST x 5"]), initial={"x": 7})
    bench.load("d0w0", "x").load("d0w1", "x").do("P2", "FLUSH d1w0 x")
    assert bench.view()["d1 x"] == "5 DV"
    assert bench.view()["d0 x"] == "7 CI"  # FLUSH_L1 on the other device did that.
    bench.do("FETCH d0 x")
    assert bench.changes("P0") == {
        "r0": 7,
        "d0w0 x": "7 CI",
        "d0 x": "8 DV",
        "d0 fifo": "x",
        "d1 x": "5 DI",
    }
    assert bench.view()["d0w1 x"] == "7 CV"
    assert bench.view()["d1w0 x"] == "5 CV"


@EACH_MACHINE
def test_inc_l2_blocks_while_its_l1_is_dirty(machine: str) -> None:
    """Whether the entry is VALID or INV'D; a CLEAN or absent entry is no hindrance."""
    threads = (HERE, ["INC_L2 x"]), (SAME, ["ST x 5", "INV_L1 WG"]), (NEAR, ["ST x 6"])
    bench = Bench(*threads, machine=machine).do("FETCH d0 x")
    assert bench.may("P0")
    bench.do("P2")
    assert bench.may("P0")  # Only its own L1 counts.
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("FLUSH d0w0 x")
    assert bench.changes("P0") == {"r0": 5, "d0 x": "6 DV", "d0 fifo": "x x"}


def test_inc_l2_blocks_unless_its_l2_has_a_valid_entry() -> None:
    bench = Bench((HERE, ["INC_L2 x"]), (FAR, ["ST x 5"])).do("FETCH d1 x")
    assert not bench.may("P0")  # Absent; the L2 of the other device does not count.
    bench.do("FETCH d0 x")
    assert bench.may("P0")
    bench.do("P1", "FLUSH d1w0 x")
    assert not bench.may("P0")  # INV'D.


@pytest.mark.parametrize("lock, unlock", [("LK_L2 x", "UL_L2 x"), ("LK_rmw DV", "UL_rmw DV")])
@pytest.mark.parametrize("other", [SAME, NEAR])
def test_inc_l2_blocks_unless_its_locks_are_ready(
    lock: str, unlock: str, other: tuple[int, int]
) -> None:
    bench = Bench((HERE, ["INC_L2 x"]), (other, [lock, unlock])).do("FETCH d0 x")
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("P1", "P0")


def test_inc_l2_passes_its_own_locks_and_those_of_other_devices_and_locations() -> None:
    own = ["LK_rmw DV", "LK_L2 x", "INC_L2 x"]
    bench = Bench((HERE, own), (NEAR, ["LK_L2 y"]), (FAR, ["LK_L2 x", "LK_rmw DV"]))
    bench.do("FETCH d0 x", "P2", "P2", "P1", "P0", "P0", "P0")


# ---- FLU, INV --------------------------------------------------------------------------------------

ALL_L1 = ("d0w0", "d0w1", "d1w0")
REACHES = [("WG", ALL_L1[:1]), ("DV", ALL_L1[:2]), ("SY", ALL_L1)]


def _everywhere(code: list[str]) -> Bench:
    """P0 with this code; P1 and P2 have written to x, elsewhere."""
    threads = (HERE, code), (NEAR, ["ST x 1"]), (FAR, ["ST x 2"])
    return Bench(*threads, initial={"x": 7, "y": 7}).do("P1", "P2")


@pytest.mark.parametrize("reach, caches", REACHES)
def test_flu_l1_marks_the_l1s_in_reach(reach: str, caches: tuple[str, ...]) -> None:
    fifos = {"d0w0 fifo": "P0", "d0w1 fifo": "x P0", "d1w0 fifo": "x P0"}
    changes = _everywhere([f"FLU_L1 {reach}"]).changes("P0")
    assert changes == {name: fifo for name, fifo in fifos.items() if name.split()[0] in caches}


@pytest.mark.parametrize("reach, caches", [("DV", ("d0",)), ("SY", ("d0", "d1"))])
def test_flu_l2_marks_the_l2s_in_reach(reach: str, caches: tuple[str, ...]) -> None:
    bench = _everywhere([f"FLU_L2 {reach}"]).do("FLUSH d1w0 x")
    fifos = {"d0 fifo": "P0", "d1 fifo": "x P0"}
    assert bench.changes("P0") == {
        name: fifo for name, fifo in fifos.items() if name.split()[0] in caches
    }


@pytest.mark.parametrize("reach, caches", REACHES)
def test_inv_l1_invalidates_every_location_in_reach(reach: str, caches: tuple[str, ...]) -> None:
    """Whatever the hygiene; absent entries stay absent, L2s and fifos are left alone."""
    bench = _everywhere([f"INV_L1 {reach}"]).load("d0w0", "x", "y").load("d1w0", "y")
    entries = {
        "d0w0 x": "7 CI",
        "d0w0 y": "7 CI",
        "d0w1 x": "1 DI",
        "d1w0 x": "2 DI",
        "d1w0 y": "7 CI",
    }
    assert bench.changes("P0") == {
        name: entry for name, entry in entries.items() if name.split()[0] in caches
    }


@pytest.mark.parametrize("name", ["FLU_L1 SY", "FLU_L2 SY", "INV_L1 SY"])
def test_flushes_and_invalidations_wait_for_no_lock(name: str) -> None:
    bench = Bench((HERE, [name]), (NEAR, ["LK_rmw SY", "LK_L2 x", "ST x 1", "INV_L1 WG"]))
    bench.do("P1", "P1", "P1", "P1", "P0")


LAST_MARKERS = [
    ("FLU_L1 WG", "d0w0"),
    ("FLU_L1 DV", "d0w1"),
    ("FLU_L1 SY", "d1w0"),
    ("FLU_L2 DV", "d0"),
    ("FLU_L2 SY", "d1"),
]
EVERY_KIND = [
    *("LD x", "ST x 1", "INC_L1 x", "INC_L2 x"),
    *("FLU_L1 WG", "FLU_L2 DV", "INV_L1 WG"),
    *("LK_L2 x", "UL_L2 x", "LK_rmw DV", "UL_rmw DV"),
]


@pytest.mark.parametrize("flush, cache", LAST_MARKERS)
@pytest.mark.parametrize("following", EVERY_KIND)
def test_no_instruction_passes_a_marker_of_its_thread(
    flush: str, cache: str, following: str
) -> None:
    """However far away the last one is, and whatever the thread wants to do; others go on."""
    threads = (HERE, [flush, following]), (NEAR, ["ST y 1"]), (FAR, ["ST y 1"])
    bench = Bench(*threads, initial={"x": 0}).load("d0w0", "x").do("P0")
    marked = [name.split()[0] for name, fifo in bench.view().items() if fifo == "P0"]
    assert cache in marked
    bench.do("P1", "P2")
    for each in marked:
        if each != cache:
            bench.do(f"DEQMARKER {each} P0")
    assert not bench.may("P0")
    bench.do(f"DEQMARKER {cache} P0", "P0")


# ---- Locks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("other", [SAME, NEAR])
def test_lk_l2_takes_the_lockfile_entry_of_its_device(other: tuple[int, int]) -> None:
    threads = (HERE, ["LK_L2 x", "LK_L2 x"]), (other, ["LK_L2 y", "LK_L2 x"]), (FAR, ["LK_L2 x"])
    bench = Bench(*threads)
    assert bench.changes("P0") == {"lock d0 x": 0}
    assert bench.changes("P1") == {"lock d0 y": 1}
    assert not bench.may("P1")  # Not even from its own work-group.
    assert bench.changes("P0") == {}  # It is ready for its holder.
    assert bench.changes("P2") == {"lock d1 x": 2}


def test_ul_l2_frees_the_lockfile_entry_of_its_device_whoever_holds_it() -> None:
    threads = (HERE, ["LK_L2 x", "UL_L2 x"]), (NEAR, ["UL_L2 x"]), (FAR, ["LK_L2 x", "UL_L2 x"])
    bench = Bench(*threads).do("P0", "P2")
    assert bench.changes("P1") == {"lock d0 x": FREE}
    assert bench.changes("P0") == {}  # Freeing what is free is no mistake.
    assert bench.changes("P2") == {"lock d1 x": FREE}


RMW_REACHES = [("DV", {"rmw d0w0", "rmw d0w1"}), ("SY", {"rmw d0w0", "rmw d0w1", "rmw d1w0"})]


@pytest.mark.parametrize("reach, locks", RMW_REACHES)
def test_lk_rmw_takes_every_rmw_lock_in_reach(reach: str, locks: set[str]) -> None:
    bench = Bench((HERE, [f"LK_rmw {reach}"] * 2), (NEAR, ["LD x"]), (FAR, ["LD x"]))
    assert bench.changes("P0") == dict.fromkeys(locks, 0)
    assert bench.changes("P0") == {}


def test_lk_rmw_blocks_unless_every_lock_in_reach_is_ready() -> None:
    near, far = ["LK_rmw DV", "UL_rmw DV"], ["LK_rmw DV", "UL_rmw DV"]
    bench = Bench((HERE, ["LK_rmw DV", "LK_rmw SY"]), (NEAR, near), (FAR, far))
    bench.do("P1")
    assert not bench.may("P0")
    bench.do("P1", "P2")
    assert bench.changes("P0") == {"rmw d0w0": 0, "rmw d0w1": 0}  # DV ends at the device.
    assert not bench.may("P0")  # SY does not.
    assert not bench.may("P1")
    bench.do("P2")
    assert bench.changes("P0") == {"rmw d1w0": 0}


@pytest.mark.parametrize("reach, locks", RMW_REACHES)
def test_ul_rmw_frees_every_rmw_lock_in_reach_whoever_holds_it(reach: str, locks: set[str]) -> None:
    bench = Bench((HERE, [f"UL_rmw {reach}"] * 2), (NEAR, ["LK_rmw DV"]), (FAR, ["LK_rmw DV"]))
    bench.do("P1", "P2")
    assert bench.changes("P0") == dict.fromkeys(locks, FREE)
    assert bench.changes("P0") == {}


# ---- Program order and guards ----------------------------------------------------------------------


def test_instructions_come_in_program_order_and_once() -> None:
    bench = Bench((HERE, ["ST x 1", "ST y 2"]))
    first, second = (rule for code in bench.machine.code for rule in code)
    apply = bench.explicit.apply
    assert apply(bench.state, second) is None
    bench.do("P0")
    assert apply(bench.state, first) is None
    bench.do("P0")
    assert apply(bench.state, second) is None


@pytest.mark.parametrize("value", [0, 1])
def test_an_instruction_under_a_false_guard_is_skipped_without_a_step(value: int) -> None:
    code = ["LD x", "ST y 1 if 0=1", "FLU_L1 WG if 0=1", "ST y 2"]
    bench = Bench((HERE, code), initial={"x": value}).load("d0w0", "x").do("P0")
    expected = {"d0w0 y": "1 DV" if value else "2 DV", "d0w0 fifo": "y"}
    assert bench.changes("P0") == expected


# ---- Tab. 2: EVICT ---------------------------------------------------------------------------------


def test_evict_l1_drops_a_clean_entry() -> None:
    bench = Bench((HERE, ["ST x 5", "INV_L1 WG"]), (NEAR, ["LK_L2 x"]), initial={"x": 7})
    assert not bench.may("EVICT d0w0 x")  # Absent.
    bench.load("d0w0", "x").do("P1")
    assert bench.changes("EVICT d0w0 x") == {"d0w0 x": "-"}  # It looks at no lock.
    bench.do("P0")
    assert not bench.may("EVICT d0w0 x")  # DIRTY, VALID.
    bench.do("P0")
    assert not bench.may("EVICT d0w0 x")  # DIRTY, INV'D.


def test_evict_l1_drops_an_invalid_clean_entry() -> None:
    bench = Bench((HERE, ["INV_L1 WG", "LD x"])).load("d0w0", "x").do("P0")
    assert bench.view()["d0w0 x"] == "0 CI"
    assert bench.changes("EVICT d0w0 x") == {"d0w0 x": "-"}


def test_evict_l2_drops_a_clean_entry() -> None:
    bench = Bench((HERE, ["LK_L2 x", "INC_L2 x"]), (FAR, ["ST x 3"]))
    assert not bench.may("EVICT d0 x")
    bench.do("FETCH d0 x", "P0")
    assert bench.changes("EVICT d0 x") == {"d0 x": "-"}  # A thread of the device holds the lock.
    bench.do("FETCH d0 x", "P0")
    assert not bench.may("EVICT d0 x")
    bench.do("P1", "FLUSH d1w0 x")
    assert bench.view()["d0 x"] == "1 DI"
    assert not bench.may("EVICT d0 x")
    bench.do("FLUSH d0 x")
    assert bench.changes("EVICT d0 x") == {"d0 x": "-"}


# ---- Tab. 2: FLUSH ---------------------------------------------------------------------------------


@pytest.mark.parametrize("freshness", ["V", "I"])
def test_flush_l1_stores_in_its_l2_and_invalidates_the_l2_of_every_device(freshness: str) -> None:
    """Also one that is DIRTY there; no L1 but its own is touched, and memory is not."""
    code = ["ST x 5", *(["INV_L1 WG"] if freshness == "I" else [])]
    bench = Bench((HERE, code), (NEAR, ["LD x"]), (FAR, ["ST x 6"]), initial={"x": 7})
    bench.load("d0w1", "x").do("P2", "FLUSH d1w0 x", *["P0"] * len(code))
    assert (bench.view()["d0 x"], bench.view()["d1 x"]) == ("7 CI", "6 DV")
    assert bench.changes("FLUSH d0w0 x") == {
        "d0w0 x": f"5 C{freshness}",
        "d0 x": "5 DV",
        "d0 fifo": "x",
        "d1 x": "6 DI",
    }
    assert not bench.may("FLUSH d0w0 x")


def test_flush_l1_needs_a_dirty_entry() -> None:
    bench = Bench((HERE, ["LD x"]))
    assert not bench.may("FLUSH d0w0 x")
    assert not bench.load("d0w0", "x").may("FLUSH d0w0 x")


@pytest.mark.parametrize("other, ready", [(SAME, True), (NEAR, False), (FAR, True)])
def test_steps_of_an_l1_need_the_lock_ready_for_a_thread_of_its_work_group(
    other: tuple[int, int], ready: bool
) -> None:
    """Settled point (a); a lock of another device is no concern of it."""
    bench = Bench((HERE, ["ST x 1"]), (other, ["LK_L2 x"])).do("FETCH d0 x", "P1")
    assert bench.may("FETCH d0w0 x") == ready
    bench.do("P0")
    assert bench.may("FLUSH d0w0 x") == ready


def test_flush_l1_passes_the_lock_of_another_location() -> None:
    bench = Bench((HERE, ["ST x 1"]), (NEAR, ["LK_L2 y"])).do("P0", "P1", "FLUSH d0w0 x")
    bench.do("FLUSH d0 x")


def test_flush_l2_writes_to_memory() -> None:
    bench = Bench((HERE, ["LK_L2 x", "INC_L2 x"]), (FAR, ["ST x 3"]), initial={"x": 7})
    assert not bench.may("FLUSH d0 x")
    bench.do("FETCH d0 x", "P0")
    assert not bench.may("FLUSH d0 x")
    bench.do("P0")
    assert bench.changes("FLUSH d0 x") == {"d0 x": "8 CV", "memory x": 8}


def test_flush_l2_of_an_invalid_entry_leaves_it_invalid() -> None:
    bench = Bench((HERE, ["INC_L2 x"]), (FAR, ["ST x 3"])).do("FETCH d0 x", "P0", "P1")
    bench.do("FLUSH d1w0 x", "FLUSH d1 x")
    assert bench.changes("FLUSH d0 x") == {"d0 x": "1 CI", "memory x": 1}


# ---- Tab. 2: FETCH ---------------------------------------------------------------------------------


def test_fetch_l1_takes_what_its_l2_holds() -> None:
    """Over an absent entry and over a CLEAN one, fresh or not; never over a DIRTY one."""
    near = ["ST x 5", "ST x 6"]
    bench = Bench((HERE, ["INV_L1 WG", "ST x 9", "INV_L1 WG"]), (NEAR, near), initial={"x": 7})
    bench.do("FETCH d0 x")
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "7 CV"}
    bench.do("P1", "FLUSH d0w1 x")
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "5 CV"}
    bench.do("P0", "P1", "FLUSH d0w1 x")
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "6 CV"}
    bench.do("P0")
    assert not bench.may("FETCH d0w0 x")
    bench.do("P0")
    assert not bench.may("FETCH d0w0 x")


def test_fetch_l1_needs_a_valid_entry_in_the_l2_of_its_device() -> None:
    bench = Bench((HERE, ["LD x"]), (FAR, ["ST x 5"])).do("FETCH d1 x")
    assert not bench.may("FETCH d0w0 x")
    bench.do("FETCH d0 x", "P1", "FLUSH d1w0 x")
    assert bench.view()["d0 x"] == "0 CI"
    assert not bench.may("FETCH d0w0 x")
    assert bench.changes("FETCH d0 x") == {"d0 x": "0 CV"}  # Stale: memory has not heard of it.
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "0 CV"}


def test_fetch_l2_takes_what_memory_holds() -> None:
    bench = Bench((HERE, ["LK_L2 x", "INC_L2 x"]), (FAR, ["ST x 3"]), initial={"x": 7})
    assert bench.changes("FETCH d0 x") == {"d0 x": "7 CV"}
    bench.do("P1", "FLUSH d1w0 x", "FLUSH d1 x", "P0")
    assert bench.changes("FETCH d0 x") == {"d0 x": "3 CV"}
    bench.do("P0")
    assert not bench.may("FETCH d0 x")  # DIRTY.
    bench.do("FLUSH d0 x")
    assert bench.changes("FETCH d0 x") == {}


def test_l2s_of_two_devices_are_not_coherent() -> None:
    """Settled point (b): nothing invalidates the stale L2 entry before another flush of x does."""
    bench = Bench((HERE, ["LD x"]), (FAR, ["ST x 3"])).do("P1", "FLUSH d1w0 x")
    bench.do("FETCH d0 x", "FLUSH d1 x")
    assert (bench.view()["memory x"], bench.view()["d0 x"]) == (3, "0 CV")
    bench.do("FETCH d0w0 x", "P0")
    assert bench.view()["r0"] == 0


# ---- Tab. 2: DEQ -----------------------------------------------------------------------------------


def test_deqloc_takes_the_oldest_location_once_it_is_not_dirty() -> None:
    bench = Bench((HERE, ["ST x 1", "ST y 2"])).do("P0", "P0")
    assert not bench.may("DEQLOC d0w0 x")
    bench.do("FLUSH d0w0 y")
    assert not bench.may("DEQLOC d0w0 y")  # CLEAN, but younger than x.
    bench.do("FLUSH d0w0 x")
    assert bench.changes("DEQLOC d0w0 x") == {"d0w0 fifo": "y"}
    bench.do("EVICT d0w0 y")
    assert bench.changes("DEQLOC d0w0 y") == {"d0w0 fifo": ""}  # Absent will do as well.
    assert not bench.may("DEQLOC d0w0 y")


def test_deqloc_of_an_l2() -> None:
    bench = Bench((HERE, ["ST x 1"])).do("P0", "FLUSH d0w0 x")
    assert not bench.may("DEQLOC d0 x")
    bench.do("FLUSH d0 x")
    assert bench.changes("DEQLOC d0 x") == {"d0 fifo": ""}


def test_deqmarker_takes_the_oldest_marker() -> None:
    threads = (HERE, ["ST x 1", "FLU_L1 WG"]), (SAME, ["FLU_L1 WG"])
    bench = Bench(*threads).do("P0", "P1", "P0")
    assert bench.view()["d0w0 fifo"] == "x P1 P0"
    assert not bench.may("DEQMARKER d0w0 P1")
    bench.do("FLUSH d0w0 x", "DEQLOC d0w0 x")
    assert not bench.may("DEQMARKER d0w0 P0")
    assert bench.changes("DEQMARKER d0w0 P1") == {"d0w0 fifo": "P0"}
    assert bench.changes("DEQMARKER d0w0 P0") == {"d0w0 fifo": ""}


def test_deqmarker_of_an_l2() -> None:
    bench = Bench((HERE, ["FLU_L2 DV", "ST x 1"])).do("P0")
    assert bench.changes("DEQMARKER d0 P0") == {"d0 fifo": ""}


# ---- Completion ------------------------------------------------------------------------------------


def test_an_execution_is_complete_when_all_is_dispatched_and_nothing_is_dirty() -> None:
    """Locks that are held, and fifos that are not empty, are no hindrance."""
    bench = Bench((HERE, ["LK_rmw DV", "LK_L2 x", "ST x 1", "FLU_L1 WG"]))

    def complete() -> bool:
        return bench.explicit.complete(bench.state)

    bench.do("P0", "P0", "P0", "P0")
    assert not complete()
    bench.do("FLUSH d0w0 x")
    assert not complete()
    bench.do("FLUSH d0 x")
    assert complete()
    assert bench.explicit.outcome(bench.state).memory == (("x", 1),)
    assert bench.view()["d0w0 fifo"] == "x P0"


# ---- An L2 that is treated as memory ---------------------------------------------------------------


def test_an_elided_l2_is_memory() -> None:
    """Settled point (b): always VALID, never DIRTY, nothing to wait for in its fifo."""
    threads = (HERE, ["ST x 5", "INC_L2 x"]), (NEAR, ["FLU_L2 SY", "FLU_L2 DV", "LK_L2 x"])
    bench = Bench(*threads, initial={"x": 7}, elide=True)
    assert [str(it) for it in bench.machine.structures if it.name[0] == "L"] == [
        "L1 d0 w0",
        "L1 d0 w1",
    ]
    assert bench.changes("FETCH d0w0 x") == {"d0w0 x": "7 CV"}
    bench.do("P0")
    assert bench.changes("P1") == {}
    assert bench.changes("P1") == {}
    assert not bench.may("P0")
    assert bench.changes("FLUSH d0w0 x") == {"d0w0 x": "5 CV", "memory x": 5}
    assert bench.changes("P0") == {"r1": 5, "d0w0 x": "5 CI", "memory x": 6}
    bench.do("P1")
    assert not bench.may("FETCH d0w0 x")


def test_l2s_of_several_devices_cannot_be_elided() -> None:
    program = assembly((HERE, ["LD x"]), (FAR, ["LD x"]))
    machine = Machine(program)
    assert not machine.elided
    assert [str(each) for each in machine.structures if each.name == "L2"] == ["L2 d0", "L2 d1"]


def test_without_evict_entries_are_never_dropped() -> None:
    machine = Machine(assembly((HERE, ["LD x"])), elide=False)
    assert not [rule for rule in machine.steps if rule.step.startswith("EVICT")]
    assert [rule for rule in Replayer(machine).machine.steps if rule.step.startswith("EVICT")]
