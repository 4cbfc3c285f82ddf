"""Is a barrier that is written in OpenCL the barrier that one wants? (docs/findings.md)

Compares programs that call the abstract barrier of a device, `inter_workgroup_barrier`, with the
same programs that call XF, the barrier of `xf.txt`: the same races, and the same final states. The
programs are all that place so many accesses before, between and after so many calls, in two
work-groups of two threads; each access is a plain or an atomic load or store.

    python examples/barrier/abstraction.py --calls 1 --accesses 2
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from tempfile import TemporaryDirectory

import rspverify

ACCESSES = {
    "plain load": "r{n} = *x;",
    "plain store": "*x = {v};",
    "atomic load": "r{n} = atomic_load_explicit(y, memory_order_relaxed, memory_scope_device);",
    "atomic store": "atomic_store_explicit(y, {v}, memory_order_relaxed, memory_scope_device);",
}
THREADS = 4
ABSTRACT = "inter_workgroup_barrier(CLK_GLOBAL_MEM_FENCE);"
XF = Path(__file__).with_name("xf.txt").read_text()

Client = tuple[tuple[int, int, str], ...]
"""Accesses, each with the number of calls before it, its thread, and what it is."""


def clients(calls: int, accesses: int) -> Iterator[Client]:
    """All placements of so many accesses; no thread has two between the same calls."""
    places = list(product(range(calls + 1), range(THREADS)))
    for chosen in combinations(places, accesses):
        for kinds in product(ACCESSES, repeat=accesses):
            yield tuple((*place, kind) for place, kind in zip(chosen, kinds, strict=True))


def text(client: Client, calls: int, barrier: str, functions: str = "") -> str:
    """The client as a kernel, with that barrier."""
    lines = [f"int r{number} = 0;" for number in range(len(client))]
    for call in range(calls + 1):
        for number, (before, thread, kind) in enumerate(client):
            if before == call:
                access = ACCESSES[kind].format(n=number, v=number + 1)
                lines.append(f"if (get_global_id(0) == {thread}) {{ {access} }}")
        if call < calls:
            lines.append(barrier)
    registers = "; ".join(f"{it[1]}:r{number}" for number, it in enumerate(client))
    return (
        "OpenCL client\n{ global atomic_int flag[2]; global int x; global atomic_int y; }\n"
        f"{functions}\n"
        "kernel void client(global atomic_int* flag, global int* x, global atomic_int* y) {\n  "
        + "\n  ".join(lines)
        + f"\n}}\ngroups 2 threads 2\nlocations [{registers}; x; y]\nexists (x=0)\n"
    )


def answers(files: Sequence[Path]) -> list[object]:
    """Of each test whether it races, and if not, its final states."""
    found: list[object] = []
    for it in rspverify.outcomes([str(each) for each in files]).report().results:
        if it.final is None or it.within:
            sys.exit(f"{it.file}: {it.word}: {it.reason} {it.within}")
        states = frozenset(tuple(sorted(state.items())) for state in it.final.states)
        found.append("racy" if it.racy else states)
    return found


def main() -> None:
    """Compare, and say what differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", type=int, default=1, help="how often the barrier is called")
    parser.add_argument("--accesses", type=int, default=2, help="how many accesses a client has")
    parser.add_argument("--sample", type=int, help="so many clients, drawn at random; default: all")
    parser.add_argument("--seed", type=int, default=1, help="of the drawing")
    given = parser.parse_args()
    every = list(clients(given.calls, given.accesses))
    if given.sample is not None and given.sample < len(every):
        every = random.Random(given.seed).sample(every, given.sample)
    with TemporaryDirectory() as folder:
        ways = []
        for name, barrier, functions in (("abstract", ABSTRACT, ""), ("xf", "xf(flag);", XF)):
            files = [Path(folder, f"{name}-{number:05}.litmus") for number in range(len(every))]
            for file, client in zip(files, every, strict=True):
                file.write_text(text(client, given.calls, barrier, functions))
            ways.append(answers(files))
    different = [it for it, one, other in zip(every, *ways, strict=True) if one != other]
    racy = sum(it == "racy" for it in ways[0])
    print(
        f"{len(every):,} clients of {given.calls} calls and {given.accesses} accesses,"
        f" {racy:,} racy: {len(different):,} differ"
    )
    for client in different:
        print(f"  {client}")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
