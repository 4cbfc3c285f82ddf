"""Litmus tests of threads that wait, and what `progress` says of them."""

from __future__ import annotations

from collections.abc import Iterable

from rspverify.axiomatic.cat import load_model
from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.schedulers import schedulers_of
from rspverify.soundness.hang import ScheduledAnswer
from rspverify.soundness.scheduled import SourceProgress
from rspverify.source import Source

_REACH = "memory_scope_device)"


def load(location: str, order: str = "acquire") -> str:
    """An atomic load of device scope."""
    return f"atomic_load_explicit({location}, memory_order_{order}, {_REACH}"


def store(location: str, value: int, order: str = "release") -> str:
    """An atomic store of device scope, as a statement."""
    return f"atomic_store_explicit({location}, {value}, memory_order_{order}, {_REACH};"


def swap(location: str, value: int, order: str = "acquire") -> str:
    """An exchange of device scope."""
    return f"atomic_exchange_explicit({location}, {value}, memory_order_{order}, {_REACH}"


def test(*threads: tuple[int, str], plain: Iterable[str] = ()) -> str:
    """A litmus test of (work-group, code) on one device; locations are atomic unless plain."""
    kinds = {name: "int" if name in plain else "atomic_int" for name in ("x", "y", "l", "d")}
    given = ", ".join(f"global {kind}* {name}" for name, kind in kinds.items())
    codes = (
        f"P{number}@wg {group}, dev 0 ({given}) {{ {code} }}"
        for number, (group, code) in enumerate(threads)
    )
    return "\n".join(["OpenCL waiting", "{ }", *codes, ""])


test.__test__ = False  # type: ignore[attr-defined]


def asked(text: str, *schedulers: str, model: str = "opencl-rsp") -> list[ScheduledAnswer]:
    """What is said of a test under each scheduler."""
    progress = SourceProgress(read_program(Source("waiting", text)), load_model(model), Limits())
    return [progress.under(each, "waiting") for each in schedulers_of(schedulers)]


def words(text: str, *schedulers: str, model: str = "opencl-rsp") -> dict[str, str]:
    """The word under each scheduler."""
    return {it.scheduler: it.progress.value for it in asked(text, *schedulers, model=model)}


def barrier_of_groups(groups: int, threads: int) -> str:
    """The barrier of Fig. 2 with the accesses of §4.2 (XF), for groups of so many threads.

    Papers: Portable Inter-workgroup Barrier Synchronisation for GPUs. The first group is the
    master, and has a thread for each other group.
    """
    given = ", ".join(f"global atomic_int* f{each}" for each in range(1, groups))
    lines, meet = ["OpenCL XF", "{ }"], "barrier(CLK_GLOBAL_MEM_FENCE);"
    for group in range(groups):
        for thread in range(threads):
            code = ""
            if group == 0 and thread + 1 < groups:
                flag = f"f{thread + 1}"
                code = f"while ({load(flag)} == 0); {meet} {store(flag, 0)}"
            elif group == 0:
                code = meet
            else:
                flag = f"f{group}"
                spin = f"{store(flag, 1)} while ({load(flag)} == 1); " if thread == 0 else ""
                code = f"{meet} {spin}{meet}"
            number = group * threads + thread
            lines.append(f"P{number}@wg {group}, dev 0 ({given}) {{ {code} }}")
    return "\n".join([*lines, ""])


def discovery(groups: int, lock: str, *, counted: bool = True) -> str:
    """Occupancy discovery (Fig. 3), and then the barrier (XF) among the groups that participate.

    Groups have one thread. lock: "spin" or "ticket". counted: whether the master waits for those
    that participate; otherwise for all groups.
    """
    flags = [f"f{each}" for each in range(1, groups)]
    atomic = ", ".join(f"global atomic_int* {each}" for each in ("l", "s", *flags))
    lines = ["OpenCL discovery", "{ open=1; }"]
    for group in range(groups):
        (take, give), (again, back) = _lock(lock, 1), _lock(lock, 2)
        poll = f"{take} if (*open == 1) {{ id = *n; *n = id + 1; part = 1; }} {give}"
        close = f"{again} if (*open == 1) *open = 0; {back} c = *n;"
        when = [f"if ({f'c > {at}' if counted else '1'})" for at in range(1, groups)]
        master = [f"{it} while ({load(flag)} == 0);" for it, flag in zip(when, flags, strict=True)]
        master += [f"{it} {store(flag, 0)}" for it, flag in zip(when, flags, strict=True)]
        slaves = " ".join(
            f"if (id == {at}) {{ {store(flag, 1)} while ({load(flag)} == 1); }}"
            for at, flag in enumerate(flags, start=1)
        )
        body = f"{close} if (id == 0) {{ {' '.join(master)} }} {slaves}"
        code = f"int id, part, c; {poll} if (part == 1) {{ {body} }}"
        lines.append(f"P{group}@wg {group}, dev 0 ({atomic}, global int* open, global int* n)")
        lines.append(f"{{ {code} }}")
    return "\n".join([*lines, ""])


def _lock(kind: str, number: int) -> tuple[str, str]:
    """How a lock is taken and given back for a time."""
    if kind == "spin":
        return f"while ({swap('l', 1)} != 0);", store("l", 0)
    ticket = f"t{number} = atomic_fetch_add_explicit(l, 1, memory_order_relaxed, {_REACH};"
    served = f"atomic_store_explicit(s, t{number} + 1, memory_order_release, {_REACH};"
    return f"int {ticket} while ({load('s')} != t{number});", served
