"""Tests in assembly whose loops write: what `progress` says, held to every interleaving."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from pathlib import Path
from random import Random

import pytest
from oracle.schedulers import (
    SCHEDULERS,
    Concurrent,
    Exchange,
    If,
    Load,
    Repeat,
    Store,
    TooMany,
    stuck,
)

from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.catalogue import SHIPPED
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.reader import read_steps
from rspverify.schedulers import Unit, schedulers_of
from rspverify.soundness.hang import ScheduledAnswer
from rspverify.soundness.rounds import _COHERENT, Rounds
from rspverify.source import InputError, Source

_HEAD = "sg 0,wg {},qf 0"
LOCK = ["L:", "rmw.atom.wg.sc0 r0, x, 1", "bne r0, 0, L"]
LEAVE = ["rmw.atom.wg.sc0 r1, x, 0"]


def test(*columns: list[str], groups: bool = False) -> str:
    """A test in Vulkan's assembly, its threads in one work-group or each in one of its own."""
    heads = [f"P{it}@{_HEAD.format(it if groups else 0)}" for it in range(len(columns))]
    rows = zip_longest(*columns, fillvalue="")
    lines = (" | ".join(row) + " ;" for row in [heads, *rows])
    return "\n".join(["VULKAN rounds", "{ x=0; y=0; z=0; }", *lines, "exists 0 == 0", ""])


test.__test__ = False  # type: ignore[attr-defined]


def asked(
    text: str,
    *schedulers: str,
    model: str = "vulkan",
    unit: Unit = Unit.THREAD,
    states: int = 5_000,
) -> list[ScheduledAnswer]:
    """What is said of a test under each scheduler."""
    steps = read_steps(Source("rounds", text))
    assert steps is not None
    rounds = Rounds(steps, load_model(model), Limits(states=states), unit)
    return [rounds.under(it, "rounds") for it in schedulers_of(schedulers)]


def words(text: str, *schedulers: str, unit: Unit = Unit.THREAD) -> list[str]:
    """The word under each scheduler."""
    return [it.progress.value for it in asked(text, *schedulers, unit=unit)]


def test_a_lock_that_is_given_back_needs_its_holder_to_go_on() -> None:
    both = test([*LOCK, *LEAVE], [*LOCK, *LEAVE])
    assert words(both, "obe", "hsa", "hsa-obe", "lobe") == ["LIVE", "STUCK", "LIVE", "LIVE"]
    apart = test([*LOCK, *LEAVE], [*LOCK, *LEAVE], groups=True).replace(".wg.", ".dv.")
    assert words(apart, "hsa", unit=Unit.GROUP) == ["STUCK"]
    assert words(both, "hsa", unit=Unit.GROUP) == ["LIVE"]


def test_a_lock_that_is_kept_is_waited_for_by_all_others() -> None:
    (answer,) = asked(test(LOCK, LOCK), "fair")
    assert answer.hang is not None
    assert (answer.progress.value, answer.hang.repeats, answer.hang.stopped) == ("STUCK", 1, ())
    assert answer.hang.events[-1].access == "rmw.atom.wg.sc0 r0, x, 1: reads 1, writes 1"
    assert answer.reason == "P1 is stuck in the loop in line 5"


def test_two_that_exchange_in_turn_may_go_on_for_ever() -> None:
    """P0 waits to find its own 1, and P1 its own 0; either may always come between."""
    one = ["L:", "rmw.atom.wg.sc0 r0, x, 1", "beq r0, 0, L"]
    other = ["L:", "rmw.atom.wg.sc0 r0, x, 0", "bne r0, 0, L"]
    (answer,) = asked(test(one, other), "fair")
    assert answer.hang is not None and len(answer.hang.stuck) == 2
    turn = answer.hang.events[-answer.hang.repeats :]
    assert {it.thread for it in turn} == {0, 1}


def test_what_no_order_of_all_accesses_shows_is_not_called_live() -> None:
    """Each may miss what the other has stored; they wait then for what neither stores."""

    def side(mine: str, its: str) -> list[str]:
        meets = [f"st.atom.wg.sc0 {mine}, 1", f"ld.atom.wg.sc0 r0, {its}", "beq r0, 0, L"]
        waits = ["L:", "ld.atom.wg.sc0 r1, z", "beq r1, 0, L", "E:"]
        return [*meets, "st.atom.wg.sc0 z, 1", "goto E", *waits]

    (answer,) = asked(test(side("x", "y"), side("y", "x")), "fair")
    assert answer.progress.value == "UNKNOWN"
    assert answer.reason == "a run may hang whose accesses are not in the order of time"
    one_location = test(side("x", "x"), side("x", "x"))
    assert words(one_location, "fair") == ["LIVE"]


def test_what_is_read_may_be_older_than_the_end_of_the_group_that_wrote() -> None:
    """P0 begins when P1 has ended, and may read 0 first all the same."""
    waits = ["ld.atom.wg.sc0 r0, x", "bne r0, 0, E", "L:", "ld.atom.wg.sc0 r1, x", "bne r1, 0, L"]
    sets = ["st.atom.wg.sc0 x, 1"]
    assert words(test([*waits, "E:"], sets), "obe:1", "fair") == ["UNKNOWN", "STUCK"]


def test_a_message_comes_whatever_the_order() -> None:
    sends = ["st.atom.wg.sc0 x, 1", "st.atom.wg.sc0 y, 1"]
    waits = ["L:", "ld.atom.wg.sc0 r0, y", "beq r0, 0, L", "M:", "ld.atom.wg.sc0 r1, x"]
    waits.append("beq r1, 0, M")
    assert words(test(sends, waits), "fair", "obe", "hsa") == ["LIVE", "STUCK", "LIVE"]
    assert words(test(waits, sends), "fair", "obe", "hsa") == ["LIVE", "STUCK", "STUCK"]


@pytest.mark.parametrize(
    ("code", "groups", "reason"),
    [
        (["L:", "ld.sc0 r0, x", "beq r0, 0, L"], False, "P0 line 5 and P1 line 4 are not strong"),
        (["L:", "ld.atom.wg.sc0 r0, x", "beq r0, 0, L"], True, "each in the scope of the other"),
        (["beq r0, 0, E", "ld.sc0 r0, x", "E:"], False, "P0 line 5 and P1 line 4 are not strong"),
    ],
)
def test_accesses_that_may_race_are_not_answered(
    code: list[str], groups: bool, reason: str
) -> None:
    (answer,) = asked(test(code, ["st.atom.wg.sc0 x, 1"], groups=groups), "fair")
    assert answer.progress.value == "UNKNOWN" and reason in answer.reason


def test_a_model_of_which_nothing_is_argued_is_not_asked(tmp_path: Path) -> None:
    text = (SHIPPED / "vulkan.cat").read_text(encoding="utf-8")
    mine = tmp_path / "mine.cat"
    mine.write_text(text.replace("acyclic (rmw | rmw^-1)?; ", "acyclic "), encoding="utf-8")
    (answer,) = asked(test(LOCK), "fair", model=str(mine))
    assert (answer.progress.value, answer.reason[:24]) == ("UNKNOWN", "it is not argued that mi")


def test_what_is_argued_of_models_is_argued_of_these() -> None:
    """If a model of assembly changes, docs/progress.md is to be read again."""
    names = [
        "vulkan",
        "ptx",
        "ptx-6.0",
        "aarch64",
        "aarch64-2021",
        "armv7",
        "power",
        "riscv",
        "riscv-zalasr",
        "riscv-ztso",
        "x86-tso",
    ]
    assert {load_model(it).meaning_digest for it in names} == _COHERENT


def test_what_grows_without_bound_meets_the_limit() -> None:
    counts = test(["L:", "rmw.atom.wg.sc0.add r0, x, 1", "goto L"])
    with pytest.raises(LimitReached, match="more than 50 states"):
        asked(counts, "fair", states=50)


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("cbar.acq_rel.wg.semsc0 0", "it waits at a barrier"),
        ("goto M", "it goes to M, which is no label of its thread"),
        ("frob r0", "it is not known"),
    ],
)
def test_what_is_not_executed_is_named(instruction: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        asked(test(["st.atom.wg.sc0 x, 1", instruction]), "fair")


# ---- every interleaving ----------------------------------------------------------------------------


def _drawn(random: Random, locations: str) -> Concurrent:
    """Threads that load, store and exchange, in loops too."""
    registers = iter(f"r{it}" for it in range(99))

    def access() -> Load | Store | Exchange:
        location, value = random.choice(locations), random.randrange(3)
        match random.randrange(3):
            case 0:
                return Store(location, value)
            case 1:
                return Exchange(next(registers), location, value)
            case _:
                return Load(next(registers), location)

    def statement() -> object:
        one = access()
        if isinstance(one, Store) or random.random() < 0.2:
            return one
        more = (access(),) if random.random() < 0.3 else ()
        if random.random() < 0.3:
            return (one, If(one.register, random.randrange(2), (access(),)))
        holds = (one.register, random.random() < 0.7, random.randrange(2))
        return Repeat((one, *more), (holds,))

    def code() -> tuple:
        found: list[object] = []
        for _ in range(random.randint(1, 3)):
            each = statement()
            found += each if isinstance(each, tuple) else [each]
        return tuple(found)

    return Concurrent(tuple((code(),) for _ in range(random.randint(2, 3))))


def _assembly(code: tuple) -> list[str]:
    """The same in Vulkan's assembly."""
    labels = iter(f"L{it}" for it in range(99))

    def of(statements: tuple) -> list[str]:
        found: list[str] = []
        for it in statements:
            match it:
                case Load(register, location):
                    found.append(f"ld.atom.wg.sc0 {register}, {location}")
                case Store(location, value):
                    found.append(f"st.atom.wg.sc0 {location}, {value}")
                case Exchange(register, location, value):
                    found.append(f"rmw.atom.wg.sc0 {register}, {location}, {value}")
                case If(register, value, then):
                    label = next(labels)
                    found += [f"bne {register}, {value}, {label}", *of(then), f"{label}:"]
                case Repeat(body, conditions):
                    label, ends = next(labels), []
                    for register, equal, value in conditions:
                        ends.append(f"{'beq' if equal else 'bne'} {register}, {value}, {label}")
                    found += [f"{label}:", *of(body), *ends]
        return found

    return of(code)


@pytest.mark.parametrize("locations", ["x", "xy"])
def test_every_interleaving_says_the_same(locations: str) -> None:
    """Of one location the answers are those of all interleavings; of two, or where a bound on
    occupancy speaks of time, LIVE may be UNKNOWN."""
    random, seen = Random(29), Counter[str]()
    for _ in range(40):
        program = _drawn(random, locations)
        try:
            hangs = stuck(program, 1_000)
            answers = asked(
                test(*map(_assembly, (code for _, code in program.threads))), *SCHEDULERS
            )
        except (TooMany, LimitReached):
            continue
        for it in answers:
            right = {"STUCK"} if it.scheduler in hangs else {"LIVE"}
            if it.scheduler not in hangs and (len(locations) > 1 or "obe" in it.scheduler):
                right.add("UNKNOWN")
            assert it.progress.value in right, (program, it)
            seen[it.progress.value] += 1
    assert seen["LIVE"] > 40 and seen["STUCK"] > 40
