"""docs/proofs.md, claim by claim: small programs, and mistakes that they would notice.

Each program says by hand what it must and must not end with. The events engine has exactly the
outcomes of the search of Tab. 1 and Tab. 2 to the letter, EVICT included (of the reduced search
where that is too large); and with the mistake planted it has others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from machine import planted
from machine.engines import (
    Outcomes,
    events_outcomes,
    has,
    machine_of,
    random_programs,
    searched,
)
from machine.hostile import hostile_assembly
from machine.planted import Plant
from programs import assembly, listing

from rspverify.assembly.program import AssemblyProgram
from rspverify.limits import LimitReached
from rspverify.litmus.reader import read_program_file
from rspverify.machine.machine import Machine
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme_file
from rspverify.source import InputError
from rspverify.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
HERE, NEAR, FAR = (0, 0), (0, 1), (1, 0)
"""Places of threads: NEAR is another work-group, FAR another device."""

READER = ["LD y", "INV_L1 WG", "LD x"]
Thread = tuple[tuple[int, int], list[str]]
Wanted = Callable[[Outcome], bool]


def reads(values: Mapping[int, int], **memory: int) -> Wanted:
    """Whether an outcome has these values read and these in memory."""
    return has(dict(values), **memory)


@dataclass(frozen=True)
class Shown:
    """A program, what some execution of it ends with, and what none does."""

    program: AssemblyProgram
    some: tuple[Wanted, ...] = ()
    none: tuple[Wanted, ...] = ()
    large: bool = False

    def outcomes(self) -> Outcomes:
        """By search, after the statements made by hand are found true."""
        machine = machine_of(self.program)
        if self.large:
            found = searched(machine, 100_000)
        else:
            found = searched(replace(machine, evict=True), 20_000, reduced=False)
        for wanted in self.some:
            assert any(map(wanted, found)), listing(self.program)
        for wanted in self.none:
            assert not any(map(wanted, found)), listing(self.program)
        return found


def shown(
    *threads: Thread,
    some: Wanted | None = None,
    none: Wanted | None = None,
    machine: str = "rsp",
    large: bool = False,
) -> Shown:
    program = assembly(*threads, machine=machine)
    return Shown(program, (some,) if some else (), (none,) if none else (), large)


def notices(mistake: Plant, *programs: Shown) -> None:
    """Without the mistake the engine agrees with the search, with it not."""
    differ = 0
    for each in programs:
        machine, expected = machine_of(each.program), each.outcomes()
        found = events_outcomes(machine)
        assert found == expected, listing(each.program)
        with pytest.MonkeyPatch.context() as patch:
            mistake(patch)
            differ += events_outcomes(machine) != expected
    assert differ, f"nothing shows that {mistake.__doc__}"


# ---- 1. Flushes ------------------------------------------------------------------------------------

OVERWRITTEN = shown((HERE, ["ST x 1", "ST x 2"]), some=reads({}, x=2), none=reads({}, x=1))

MERGED = shown(
    (HERE, ["ST x 1", "ST x 2", "ST y 1"]),
    (NEAR, READER),
    some=reads({3: 1, 4: 0}, x=2),
    none=reads({3: 1, 4: 0}, x=1),
)
"""y=1 shows that both stores to x were made, and x=0 after that, that neither was flushed."""


def test_a_flush_carries_the_last_write() -> None:
    notices(planted.flush_of_an_overwritten_write, OVERWRITTEN)


def test_writes_may_merge_in_one_flush() -> None:
    notices(planted.every_write_is_flushed, MERGED)


def test_in_the_end_nothing_is_dirty() -> None:
    notices(planted.dirty_in_the_end, shown((HERE, ["ST x 1"]), none=reads({}, x=0)), OVERWRITTEN)


# ---- 2. Fetches ------------------------------------------------------------------------------------


def test_two_looks_may_share_a_fetch() -> None:
    """After y=1 memory has x=1: two looks at x=0 can only be at one old fetch."""
    notices(
        planted.own_fetches_only,
        shown(
            (HERE, ["ST x 1", "FLU_L1 WG", "ST y 1"]),
            (NEAR, ["LD y", "LD x", "LD x"]),
            some=reads({2: 1, 3: 0, 4: 0}),
        ),
    )


def test_each_look_may_have_its_own_fetch() -> None:
    notices(
        planted.one_fetch_for_an_entry,
        shown(
            (HERE, ["LD x", "LD x"]),
            (NEAR, ["ST x 1"]),
            some=reads({0: 0, 1: 1}),
            none=reads({0: 1, 1: 0}),
        ),
    )


# ---- 4. The last change of a cell ------------------------------------------------------------------

MESSAGE = shown((HERE, ["ST x 1", "FLU_L1 WG", "ST y 1"]), (NEAR, READER), none=reads({2: 1, 3: 0}))


def test_an_invalidation_between_is_seen() -> None:
    notices(
        planted.invalidations_unseen,
        shown((HERE, ["INC_L2 x", "LD x"]), some=reads({0: 0, 1: 1}), none=reads({0: 0, 1: 0})),
        MESSAGE,
    )


def test_a_flush_invalidates_the_other_l2s() -> None:
    """The second flush of x comes when memory has x=1: what the far L2 has then is 1 or 2."""
    writer = ["ST x 1", "FLU_L1 WG", "FLU_L2 DV", "ST x 2", "FLU_L1 WG", "ST y 1"]
    notices(
        planted.only_instructions_invalidate,
        shown(
            (HERE, writer), (FAR, READER), some=reads({3: 1, 4: 1}), none=reads({3: 1, 4: 0}),
            large=True,
        ),
    )  # fmt: skip


def test_a_fetch_needs_a_clean_entry() -> None:
    notices(
        planted.fetch_over_dirty,
        shown((HERE, ["ST x 1", "LD x"]), some=reads({1: 1}), none=reads({1: 0})),
    )


def test_an_rmw_at_l2_needs_a_clean_entry() -> None:
    notices(
        planted.dirty_is_no_hindrance,
        shown((HERE, ["ST x 1", "INC_L2 x"]), some=reads({1: 1}, x=2), none=reads({1: 0})),
    )


def test_a_look_finds_the_last_version() -> None:
    notices(
        planted.any_version_before,
        shown((HERE, ["ST x 1", "ST x 2", "LD x"]), some=reads({2: 2}), none=reads({2: 1})),
    )


def test_an_overwritten_write_leaves_nothing_dirty() -> None:
    """INC_L2 waits for the flush that both stores share."""
    notices(
        planted.only_its_own_flush_cleans,
        shown(
            (HERE, ["ST x 1", "ST x 2", "ST y 1", "INC_L2 x"]),
            (NEAR, READER),
            some=reads({4: 1, 5: 0, 3: 2}),
            none=reads({3: 1}),
        ),
    )


def test_a_write_after_the_flush_is_dirty() -> None:
    notices(
        planted.overwriting_cleans,
        shown((HERE, ["ST x 1", "ST x 2", "LD x"]), some=reads({2: 2}), none=reads({2: 1})),
    )


def test_a_store_may_wait_for_its_entry() -> None:
    """rsp-st-waits: the second store waits until the first, INV'D while DIRTY, is flushed."""
    threads = ((HERE, ["ST x 1", "INV_L1 WG", "ST x 2", "ST y 1"]), (NEAR, READER))
    stale = reads({3: 1, 4: 0})
    notices(
        planted.dirty_is_no_hindrance,
        shown(*threads, some=stale),
        shown(*threads, none=stale, machine="rsp-st-waits"),
    )


# ---- 5. Locks --------------------------------------------------------------------------------------


def test_a_lock_blocks_instructions() -> None:
    notices(
        planted.locks_do_not_block_instructions,
        shown(
            (HERE, ["LK_rmw DV", "INC_L1 x", "INC_L1 x", "UL_rmw DV"]),
            (HERE, ["INC_L1 x"]),
            some=reads({0: 1, 1: 2}),
            none=reads({0: 0, 1: 2}),
        ),
        shown((HERE, ["LK_L2 x"]), (NEAR, ["LK_L2 x"]), none=lambda _: True),
    )


def test_a_lock_blocks_steps_of_other_work_groups() -> None:
    notices(
        planted.locks_do_not_block_steps,
        shown(
            (HERE, ["LK_L2 x", "INC_L2 x", "INC_L2 x", "UL_L2 x"]),
            (NEAR, ["LD x"]),
            some=reads({2: 2}),
            none=reads({2: 1}),
        ),
        shown((HERE, ["LK_L2 x"]), (NEAR, ["ST x 1"]), some=reads({}, x=1)),
    )


def test_a_lock_is_ready_for_its_own_work_group() -> None:
    """For its holder's instructions, and for the steps of all that share its L1."""
    notices(
        planted.only_free_locks_are_ready,
        shown((HERE, ["LK_L2 x", "LK_L2 x"]), some=lambda _: True),
    )
    notices(
        planted.only_free_locks_are_ready,
        shown((HERE, ["LK_L2 x", "INC_L2 y"]), (HERE, ["LD y", "LD x"]), some=reads({1: 1, 2: 0})),
        shown((HERE, ["LK_L2 x", "ST x 1", "INC_L2 x"]), some=reads({1: 1}, x=2)),
    )


def test_anyone_may_unlock() -> None:
    notices(
        planted.only_the_holder_unlocks,
        shown((HERE, ["LK_L2 x"]), (NEAR, ["UL_L2 x", "LK_L2 x"]), some=lambda _: True),
    )


def test_one_unlock_undoes_many_locks() -> None:
    """Locks do not count, and their last change decides, whoever made it."""
    notices(
        planted.a_second_lock_needs_a_second_unlock,
        shown((HERE, ["LK_L2 x", "LK_L2 x", "UL_L2 x"]), (NEAR, ["LK_L2 x"]), some=lambda _: True),
        shown((HERE, ["LK_rmw DV"]), (NEAR, ["UL_rmw DV", "LK_rmw DV"]), some=lambda _: True),
    )


# ---- 6. Fifos --------------------------------------------------------------------------------------


def test_a_marker_waits_for_what_is_before_it() -> None:
    notices(planted.markers_wait_for_nothing, MESSAGE)
    notices(
        planted.markers_wait_for_what_comes_later,
        shown(
            (HERE, ["FLU_L1 WG", "LD x"]),
            (HERE, ["ST x 1"]),
            (NEAR, ["LD x"]),
            some=reads({0: 1, 2: 0}),
        ),
    )


def test_a_marker_stands_in_every_fifo_in_reach() -> None:
    """y=1 shows that x=1 is in the L1 of the other work-group, where FLU_L1 DV waits for it."""
    notices(
        planted.markers_are_seen_by_their_own_work_group,
        shown(
            (HERE, ["ST x 1", "INC_L2 y"]),
            (NEAR, ["LD y", "FLU_L1 DV", "INV_L1 WG", "LD x"]),
            none=reads({2: 1, 3: 0}),
        ),
    )


def test_a_marker_waits_behind_what_is_not_executed() -> None:
    """The instruction after the marker has a false guard; the one after that waits."""
    writer = ["LD y", "ST x 1", "FLU_L1 WG", "ST y 2 if 0=1", "ST y 1"]
    notices(
        planted.only_the_next_instruction_waits,
        shown((HERE, writer), (NEAR, READER), none=reads({4: 1, 5: 0})),
    )


def test_locations_leave_in_order() -> None:
    """x is locked (read as 0 under the lock) until y was stored again and unlocked it.

    So y, behind x, can leave only after the second store to it: flushed again, it is 2.
    """
    notices(
        planted.locations_leave_in_any_order,
        shown(
            (HERE, ["ST x 1", "ST y 1", "FLU_L1 WG", "ST z 1"]),
            (HERE, ["ST y 2", "UL_L2 x"]),
            (NEAR, ["LK_L2 x", "INV_L1 WG", "LD x", "LD z", "INV_L1 WG", "LD y"]),
            some=reads({4: 0, 5: 1, 6: 2}, y=2),
            none=reads({4: 0, 5: 1, 6: 1}, y=2),
            large=True,
        ),
    )


def test_a_location_leaves_only_while_clean() -> None:
    notices(
        planted.locations_leave_while_dirty,
        shown(
            (HERE, ["ST x 1", "ST x 2", "FLU_L1 WG", "ST y 1"]),
            (NEAR, READER),
            some=reads({3: 1, 4: 2}),
            none=reads({3: 1, 4: 0}),
        ),
    )


def test_a_location_leaves_by_the_flush_of_a_later_write() -> None:
    notices(
        planted.locations_leave_at_their_own_flush,
        shown(
            (HERE, ["ST x 1", "ST x 2", "ST y 1", "FLU_L1 WG", "UL_L2 x"]),
            (NEAR, READER),
            some=reads({3: 1, 4: 0}),
        ),
    )


# ---- 8. L2 is memory on one device -----------------------------------------------------------------


def test_events_with_a_real_l2_on_one_device() -> None:
    """Random programs, those of users who write odd schemes included."""
    programs = [*random_programs("small", 40, "events elided ")]
    programs += [hostile_assembly(random.Random(f"elided {n}"), devices=1) for n in range(60)]
    for program in programs:
        real, elided = (Machine(program, elide=elide) for elide in (False, True))
        assert events_outcomes(real) == events_outcomes(elided), listing(program)


def test_events_with_a_real_l2_on_the_corpus() -> None:
    """Every third test, whose outcomes are found with the L2 elided and with a real one."""
    schemes = [read_scheme_file(ROOT / f"schemes/{name}.yaml") for name in ("original", "proposed")]
    tests = sorted((ROOT / "litmus/rsp").rglob("*.litmus"))[::3]
    compared = 0
    for number, path in enumerate(tests):
        program = read_program_file(path)
        if len({thread.device for thread in program.threads}) > 1:
            continue
        try:
            compiled = schemes[number % 2].compiled(program)
        except InputError:  # No row for it.
            continue
        real, elided = (Machine(compiled, elide=elide) for elide in (False, True))
        assert events_outcomes(real) == events_outcomes(elided), path.name
        compared += 1
    assert compared > 40


# ---- Any program -----------------------------------------------------------------------------------


@pytest.mark.parametrize("devices, count, decided", [(1, 110, 90), (2, 50, 10)])
def test_any_instruction_mix(devices: int, count: int, decided: int) -> None:
    """Any instructions in any order: unlocks without locks, SY, markers in a row, guards on each.

    Against the reduced search, and where it is not too large against that of Tab. 1 to the letter.
    """
    reduced = full = 0
    for number in range(count):
        program = hostile_assembly(random.Random(f"mix {devices} {number}"), devices=devices)
        machine = machine_of(program)
        found = events_outcomes(machine)
        try:
            assert found == searched(machine, 6_000), listing(program)
            reduced += 1
            letter = searched(replace(machine, evict=True), 2_000, reduced=False)
        except LimitReached:
            continue
        assert found == letter, listing(program)
        full += 1
    assert reduced >= 0.9 * count, f"{count - reduced} of {count} were too large"
    assert full >= decided, f"{count - full} of {count} were too large without reductions"


@pytest.mark.parametrize("name, count", [("medium", 40), ("medium, two devices", 40)])
def test_programs_as_schemes_make_them(name: str, count: int) -> None:
    """Against the reduced search."""
    for program in random_programs(name, count, "events "):
        machine = machine_of(program)
        try:
            expected = searched(machine, 20_000)
        except LimitReached:
            continue
        assert events_outcomes(machine) == expected, listing(program)


def test_every_test_that_the_argument_names_is_there() -> None:
    """docs/proofs.md names tests and files, and every planted mistake is used here."""
    text = (ROOT / "docs/proofs.md").read_text()
    sources = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    for name in re.findall(r"`(test_\w+)`", text):
        assert any(f"def {name}(" in source for source in sources.values()), name
    for name in re.findall(r"tests/[\w/]+\.py", text):
        assert (ROOT / name).is_file(), name
    own = Path(__file__).read_text()
    mistakes = [name for name, it in vars(planted).items() if getattr(it, "__doc__", None) and
                getattr(it, "__module__", "") == planted.__name__ and not name.startswith(("_", "keep"))]  # fmt: skip
    assert len(mistakes) >= 20
    for name in mistakes:
        assert f"planted.{name}," in own, name
