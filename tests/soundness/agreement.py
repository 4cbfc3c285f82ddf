"""`progress` held to every interleaving, on random programs: `python -m soundness.agreement 2000`.

From the folder tests. Programs with more states than are looked at are passed over.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from random import Random

from oracle.concurrent import drawn, litmus
from oracle.schedulers import SCHEDULERS, Concurrent, TooMany, stuck

from rspverify.axiomatic import load_model
from rspverify.limits import Limits
from rspverify.litmus import read_program
from rspverify.soundness.scheduled import SourceProgress
from rspverify.soundness.schedulers import schedulers_of
from rspverify.source import Source

_STATES = 1_000
_MODEL = load_model("opencl-rsp")


def words(program: Concurrent) -> dict[str, str]:
    """What `progress` says of a program, by scheduler."""
    read = read_program(Source("drawn", litmus(program)))
    asked = SourceProgress(read, _MODEL, Limits())
    return {str(it): asked.under(it, "drawn").progress.value for it in schedulers_of(SCHEDULERS)}


def compared(
    seeds: Iterator[int], wanted: int, states: int = _STATES
) -> Iterator[tuple[int, dict[str, str], dict[str, str]]]:
    """So many programs that are small enough: the seed, what `progress` says, and what is right."""
    done = 0
    for seed in seeds:
        if done == wanted:
            return
        program = drawn(Random(seed))
        try:
            hangs = stuck(program, states)
        except TooMany:
            continue
        done += 1
        right = {name: "STUCK" if name in hangs else "LIVE" for name in SCHEDULERS}
        yield seed, words(program), right


def main(wanted: int, first: int) -> int:
    """Compare so many programs, from a seed on; how many differ."""
    wrong, kinds = 0, Counter[str]()
    for seed, found, right in compared(iter(range(first, sys.maxsize)), wanted):
        if kinds.total() % 100 == 0:
            print(f"{kinds.total()} compared, seed {seed}, {wrong} differ", flush=True)
        kinds[" ".join(name for name in SCHEDULERS if right[name] == "STUCK") or "-"] += 1
        if found != right:
            wrong += 1
            print(f"seed {seed}: {found}, not {right}\n{litmus(drawn(Random(seed)))}", flush=True)
    for kind, count in kinds.most_common():
        print(f"{count:6}  {kind}")
    print(f"{wrong} of {wanted} programs differ")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
