"""What waits on the machine: the inter-work-group barrier, and the discovery of who is there.

Inter-workgroup barrier: Sorensen et al., Portable inter-workgroup barrier synchronisation for GPUs
(OOPSLA 2016), Figs 1 to 3, with the accesses of §4.2.
"""

from __future__ import annotations

import pytest
from checks import judged, scheme_named
from soundness.waiting import load, store, swap, test

from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Reading, Settings
from rspverify.source import Source
from rspverify.verdict import Progress, ProgressWord, Verdict, Word

SCHEMES = {name: scheme_named(name) for name in ("original", "proposed", "proposed-full")}

SETTINGS = Settings()

MEET = "barrier(CLK_GLOBAL_MEM_FENCE);"
TAKE, GIVE = f"while ({swap('l', 1, 'acq_rel')} != 0);", store("l", 0)
A_WAITS_FOR_B = (f"while ({load('x')} != 1);", store("x", 1))


def fig_1(*, first: bool) -> str:
    """One group spins on what another writes. first: whether it has the lower number."""
    return test(*enumerate(A_WAITS_FOR_B if first else A_WAITS_FOR_B[::-1]))


def spin_lock(*groups: int) -> str:
    body = f"{TAKE} *x = *x + 1; {GIVE}"
    return test(*((group, body) for group in groups or (0, 1)), plain=["x"])


def xf(*, back: bool = False, entry: str = MEET, scope: str = "device") -> str:
    """Fig. 2 for two groups of two threads; one of the master writes x, one of the slave reads it.

    back: the other way round. entry: the first barrier of a slave.
    """
    write, read = "*x = 1;", "int r0 = *x;"
    text = test(
        (0, f"while ({load('l')} != 1); {MEET} {store('l', 0)}"),
        (0, f"{MEET} {read}" if back else f"{write} {MEET}"),
        (1, f"{entry} {store('l', 1)} while ({load('l')} != 0); {MEET}"),
        (1, f"{write} {entry} {MEET}" if back else f"{entry} {MEET} {read}"),
        plain=["x"],
    )
    return text.replace("scope_device", f"scope_{scope}")


def discovery() -> str:
    """Fig. 3 with a spin lock, for two groups of a thread each: x is whether it is closed, and y
    counts those who are there."""
    body = (
        f"int part = 0; {TAKE} int o = *x; if (o == 0) {{ int c = *y; *y = c + 1; {GIVE} {TAKE}"
        f" int q = *x; if (q == 0) {{ *x = 1; }} {GIVE} part = 1; }} else {{ {GIVE} }}"
    )
    return test((0, body), (1, body), plain=["x", "y"])


def verdict(text: str, scheme: str, settings: Settings = SETTINGS) -> Verdict:
    program = settings.read(Source("t", text))
    return judged(program, SCHEMES[scheme], settings)


def going(text: str, scheme: str, scheduler: str, unroll: int = 8) -> Progress:
    settings = Settings(progress=True, scheduler=scheduler, unroll=unroll)
    return progress(settings.read(Source("t", text)), SCHEMES[scheme], settings)


def stuck(text: str, scheme: str, schedulers: str) -> str:
    """Of these schedulers those under which a program hangs."""
    words = {each: going(text, scheme, each).word for each in schedulers.split()}
    assert set(words.values()) <= {ProgressWord.LIVE, ProgressWord.STUCK}
    return " ".join(each for each, word in words.items() if word is ProgressWord.STUCK)


EVERY = "fair obe obe:1 obe:2 hsa hsa-obe lobe unfair"


@pytest.mark.parametrize(
    "text, scheme, expected",
    [
        (fig_1(first=True), "proposed", "obe obe:1 hsa hsa-obe lobe unfair"),
        (fig_1(first=False), "proposed", "obe obe:1 unfair"),
        (fig_1(first=True), "original", "obe obe:1 hsa hsa-obe lobe unfair"),
        (spin_lock(), "proposed-full", "hsa unfair"),
        (xf(), "proposed", "obe obe:1 hsa hsa-obe lobe unfair"),
        (discovery(), "proposed-full", "hsa unfair"),
    ],
)
def test_who_hangs_under_which_scheduler(text: str, scheme: str, expected: str) -> None:
    assert stuck(text, scheme, EVERY) == expected


@pytest.mark.parametrize(
    "text, scheme, word",
    [
        (xf(), "proposed", Word.SOUND),
        (xf(), "proposed-full", Word.SOUND),
        (xf(), "original", Word.UNSOUND),
        (xf(back=True), "proposed", Word.SOUND),
        (xf(back=True, entry=""), "proposed", Word.RACY),
        (xf(scope="work_group"), "proposed", Word.RACY),
        (spin_lock(), "proposed-full", Word.SOUND),
        (discovery(), "proposed-full", Word.SOUND),
    ],
)
def test_waiting_programs_are_decided_exactly(text: str, scheme: str, word: Word) -> None:
    found = verdict(text, scheme)
    assert (found.word, found.within) == (word, {})


def test_a_hang_is_shown() -> None:
    found = going(fig_1(first=True), "proposed", "obe:1")
    assert found.reason == (
        "under obe:1 it never ends after 2 steps: P0 goes round for ever, reading 0 for x at line"
        " 3; P1 is stopped before it has started; under fair: LIVE"
    )
    assert found.execution is not None
    assert [step.label for step in found.execution.steps] == ["FETCH_L1(x, 0)", "LD r x (reads 0)"]
    assert found.blocked[-1] == "P1 is stopped before it has started"


def test_who_has_started_may_be_stopped_by_some() -> None:
    found = going(spin_lock(), "proposed-full", "hsa")
    assert found.blocked == (
        "P0 goes round for ever, reading 1 for l at line 3",
        "P1 is stopped",
    )


def lost_in_an_l1() -> str:
    """A lock in the L1: an exchange that changes nothing there is written back (docs/proofs.md)."""
    return spin_lock(0, 0).replace("scope_device", "scope_work_group")


def test_loops_are_unrolled_where_the_machine_needs_it() -> None:
    settings = Settings(unroll=2)
    found = verdict(lost_in_an_l1(), "proposed-full", settings)
    assert (found.word, found.within) == (Word.SOUND, {"iterations": 2})
    assert stuck(lost_in_an_l1(), "proposed-full", "fair hsa") == ""


def test_loops_are_unrolled_in_the_witness_reading() -> None:
    settings = Settings(unroll=2, reading=Reading.WITNESS)
    found = verdict(fig_1(first=True), "proposed", settings)
    assert (found.word, found.within) == (Word.SOUND, {"iterations": 2})


def test_other_loops_leave_progress_unknown() -> None:
    """A loop that counts is no spin."""
    body = f"int n = 0; while ({load('x')} != 1) {{ n = n + 1; *y = n; }}"
    text = test((0, body), (1, store("x", 1)), plain=["y"])
    found = going(text, "proposed", "hsa", unroll=2)
    assert found.word is ProgressWord.UNKNOWN
    assert found.reason.startswith("within 2 iterations every run comes to its end")
    assert going(text, "proposed", "fair", unroll=2).word is ProgressWord.UNKNOWN


def test_a_limit_on_states() -> None:
    settings = Settings(progress=True, scheduler="obe", states=50)
    found = progress(settings.read(Source("t", xf())), SCHEMES["proposed"], settings)
    assert (found.word, found.reason) == (ProgressWord.UNKNOWN, "more than 50 machine states")
