"""`progress` and `outcomes --scheduler` held to every interleaving, on random programs.

`python -m soundness.agreement 2000`, from the folder tests. Programs with more states than are
looked at are passed over.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random

from checks import MODEL
from oracle.concurrent import drawn, litmus
from oracle.schedulers import SCHEDULERS, Concurrent, TooMany, endings, stuck

from rspverify.limits import Limits
from rspverify.litmus.reader import read_program
from rspverify.schedulers import Scheduler, schedulers_of
from rspverify.soundness.outcomes import outcomes
from rspverify.soundness.scheduled import SourceProgress
from rspverify.soundness.settings import Settings
from rspverify.source import Source

_STATES = 1_000


def words(program: Concurrent, in_register: bool = False) -> dict[str, str]:
    """What `progress` says of a program, by scheduler. in_register: as of litmus."""
    read = read_program(Source("drawn", litmus(program, in_register)))
    asked = SourceProgress(read, MODEL, Limits())
    return {str(it): asked.under(it, "drawn").progress.value for it in schedulers_of(SCHEDULERS)}


End = tuple[tuple[tuple[str, int], ...], ...]
"""What is not 0 in the end: of memory, and of the registers of each thread."""


def ended(program: Concurrent, bound: int, in_register: bool = False) -> frozenset[End]:
    """How a program may end with at most so many groups occupant, as `outcomes` says."""
    read = read_program(Source("drawn", litmus(program, in_register)))
    found = outcomes(read, MODEL, (), "drawn", Settings(), scheduler=Scheduler("obe", bound))
    assert found.racy is False
    ends = set()
    for row in found.outcomes:
        memory = {name: value for name, value in row.outcome.memory.items() if name != "one"}
        threads: list[dict[str, int]] = [{} for _ in read.threads]
        for register, value in row.outcome.registers.items():
            thread, name = register.split(":")
            if name != "e":
                threads[int(thread)][name] = value
        ends.add(tuple(map(_not_0, (memory, *threads))))
    return frozenset(ends)


def _not_0(values: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((name, value) for name, value in values.items() if value))


def right_ends(program: Concurrent, bound: int, states: int = _STATES) -> frozenset[End]:
    """The same by every interleaving. Raises TooMany."""
    ends = endings(program, bound, states)
    return frozenset(
        tuple(_not_0(dict(it)) for it in (memory, *threads)) for memory, threads in ends
    )


def compared(
    seeds: Iterator[int], wanted: int, states: int = _STATES
) -> Iterator[tuple[str, object, object]]:
    """So many programs that are small enough: what is asked, what is said, and what is right.

    Asked is under which schedulers each hangs, and how it may end with a bound on occupancy that
    leaves somebody out.
    """
    done = 0
    for seed in seeds:
        if done == wanted:
            return
        random = Random(seed)
        program = drawn(random)
        bound = random.randint(1, len(program.groups) - 1)
        try:
            hangs, ends = stuck(program, states), right_ends(program, bound, states)
        except TooMany:
            continue
        done += 1
        in_register = bool(seed % 2)
        right = {name: "STUCK" if name in hangs else "LIVE" for name in SCHEDULERS}
        yield f"seed {seed}", words(program, in_register), right
        yield f"seed {seed}, obe:{bound}", ended(program, bound, in_register), ends


def main(wanted: int, first: int) -> int:
    """Compare so many programs, from a seed on; how many answers differ."""
    wrong, kinds, ways = 0, Counter[str](), 0
    for asked, found, right in compared(iter(range(first, sys.maxsize)), wanted):
        if isinstance(right, dict):
            kinds[" ".join(name for name, word in right.items() if word == "STUCK") or "-"] += 1
            if kinds.total() % 100 == 0:
                print(f"{kinds.total()} compared, {asked}, {wrong} differ", flush=True)
        elif isinstance(right, frozenset):
            ways += len(right)
        if found != right:
            wrong += 1
            print(f"{asked}: {found}, not {right}", flush=True)
    for kind, count in kinds.most_common():
        print(f"{count:6}  {kind}")
    print(f"{wrong} answers on {wanted} programs differ, {ways} ways to end")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)))
