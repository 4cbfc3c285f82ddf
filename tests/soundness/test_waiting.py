"""What waits on the machine: the inter-work-group barrier, and the discovery of who is there.

Inter-workgroup barrier: Sorensen et al., Portable inter-workgroup barrier synchronisation for GPUs
(OOPSLA 2016), Figs 1 to 3, with the accesses of §4.2.
"""

from __future__ import annotations

import pytest
from checks import judged, scheme_named

from rspverify.soundness.progress import progress
from rspverify.soundness.settings import Reading, Settings
from rspverify.source import Source
from rspverify.verdict import Progress, ProgressWord, Verdict, Word

SCHEMES = {name: scheme_named(name) for name in ("original", "proposed", "proposed-full")}

SETTINGS = Settings()

LOAD = "atomic_load_explicit({}, memory_order_acquire, memory_scope_device)"
STORE = "atomic_store_explicit({}, {}, memory_order_release, memory_scope_device);"
BARRIER = "barrier(CLK_GLOBAL_MEM_FENCE);"
TAKE = "while (atomic_exchange_explicit(m, 1, memory_order_acq_rel, memory_scope_device) != 0) ;"
GIVE = STORE.format("m", 0)


def await_(x: str, value: int) -> str:
    return f"while ({LOAD.format(x)} != {value}) ;"


def source(locations: str, parameters: str, bodies: list[str], tree: str) -> Source:
    threads = [f"P{number} ({parameters}) {{ {body} }}" for number, body in enumerate(bodies)]
    return Source("t", "\n".join(["OpenCL t", f"{{ {locations} }}", *threads, tree]))


def two_groups(locations: str, parameters: str, *bodies: str) -> Source:
    """A group for each thread, or for each two of four."""
    groups = ("P0", "P1") if len(bodies) == 2 else ("P0 P1", "P2 P3")
    tree = " ".join(f"(work_group {each})" for each in groups)
    return source(locations, parameters, list(bodies), f"scopeTree (device {tree})")


A_WAITS_FOR_B = (await_("x", 1), STORE.format("x", 1))


def fig_1(*, first: bool) -> Source:
    """One group spins on what another writes. first: whether it has the lower number."""
    bodies = A_WAITS_FOR_B if first else A_WAITS_FOR_B[::-1]
    return two_groups("[x]=0;", "global atomic_int* x", *bodies)


def spin_lock() -> Source:
    body = f"{TAKE} *x = *x + 1; {GIVE}"
    return two_groups("[x]=0; [m]=0;", "global int* x, global atomic_int* m", body, body)


def xf(*, back: bool = False, entry: str = BARRIER, scope: str = "device") -> Source:
    """Fig. 2 for two groups of two threads; one of the master writes x, one of the slave reads it.

    back: the other way round. entry: the first barrier of a slave.
    """
    write, read = "*x = 1;", "int r0 = *x;"
    bodies = (
        f"{await_('f', 1)} {BARRIER} {STORE.format('f', 0)}",
        f"{BARRIER} {read}" if back else f"{write} {BARRIER}",
        f"{entry} {STORE.format('f', 1)} {await_('f', 0)} {BARRIER}",
        f"{write} {entry} {BARRIER}" if back else f"{entry} {BARRIER} {read}",
    )
    bodies = tuple(each.replace("scope_device", f"scope_{scope}") for each in bodies)
    return two_groups("[x]=0; [f]=0;", "global int* x, global atomic_int* f", *bodies)


def discovery() -> Source:
    """Fig. 3 with a spin lock, for two groups of a thread each."""
    body = (
        f"int part = 0; {TAKE} int o = *open;"
        f" if (o == 1) {{ int c = *count; *count = c + 1; {GIVE} {TAKE} int q = *open;"
        f" if (q == 1) {{ *open = 0; }} {GIVE} part = 1; }} else {{ {GIVE} }}"
    )
    parameters = "global atomic_int* m, global int* open, global int* count"
    return two_groups("[m]=0; [open]=1; [count]=0;", parameters, body, body)


def verdict(test: Source, scheme: str, settings: Settings = SETTINGS) -> Verdict:
    program = settings.read(test)
    return judged(program, SCHEMES[scheme], settings)


def going(test: Source, scheme: str, scheduler: str, unroll: int = 8) -> Progress:
    settings = Settings(progress=True, scheduler=scheduler, unroll=unroll)
    return progress(settings.read(test), SCHEMES[scheme], settings)


def stuck(test: Source, scheme: str, schedulers: str) -> str:
    """Of these schedulers those under which a program hangs."""
    words = {each: going(test, scheme, each).word for each in schedulers.split()}
    assert set(words.values()) <= {ProgressWord.LIVE, ProgressWord.STUCK}
    return " ".join(each for each, word in words.items() if word is ProgressWord.STUCK)


EVERY = "fair obe obe:1 obe:2 hsa hsa-obe lobe unfair"


@pytest.mark.parametrize(
    "test, scheme, expected",
    [
        (fig_1(first=True), "proposed", "obe obe:1 hsa hsa-obe lobe unfair"),
        (fig_1(first=False), "proposed", "obe obe:1 unfair"),
        (fig_1(first=True), "original", "obe obe:1 hsa hsa-obe lobe unfair"),
        (spin_lock(), "proposed-full", "hsa unfair"),
        (xf(), "proposed", "obe obe:1 hsa hsa-obe lobe unfair"),
        (discovery(), "proposed-full", "hsa unfair"),
    ],
)
def test_who_hangs_under_which_scheduler(test: Source, scheme: str, expected: str) -> None:
    assert stuck(test, scheme, EVERY) == expected


@pytest.mark.parametrize(
    "test, scheme, word",
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
def test_waiting_programs_are_decided_exactly(test: Source, scheme: str, word: Word) -> None:
    found = verdict(test, scheme)
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
        "P0 goes round for ever, reading 1 for m at line 3",
        "P1 is stopped",
    )


def lost_in_an_l1() -> Source:
    """A lock in the L1: an exchange that changes nothing there is written back (docs/proofs.md)."""
    take = TAKE.replace("device", "work_group")
    give = GIVE.replace("device", "work_group")
    body = f"{take} *x = *x + 1; {give}"
    tree = "scopeTree (device (work_group P0 P1))"
    return source("[x]=0; [m]=0;", "global int* x, global atomic_int* m", [body, body], tree)


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
    body = f"int n = 0; while ({LOAD.format('x')} != 1) {{ n = n + 1; *y = n; }}"
    test = two_groups(
        "[x]=0; [y]=0;", "global atomic_int* x, global int* y", body, STORE.format("x", 1)
    )
    found = going(test, "proposed", "hsa", unroll=2)
    assert found.word is ProgressWord.UNKNOWN
    assert found.reason.startswith("within 2 iterations every run comes to its end")
    assert going(test, "proposed", "fair", unroll=2).word is ProgressWord.UNKNOWN


def test_a_limit_on_states() -> None:
    settings = Settings(progress=True, scheduler="obe", states=50)
    found = progress(settings.read(xf()), SCHEMES["proposed"], settings)
    assert (found.word, found.reason) == (ProgressWord.UNKNOWN, "more than 50 machine states")
