"""Machines whose accesses wait in queues, one for each location, and complete in their turn."""

from __future__ import annotations

import random
from collections.abc import Mapping

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.reader import read_architecture
from rspverify.source import Source

CHOICES: Mapping[str, tuple[str, ...]] = {
    "queue of": ("workgroup", "device", "thread"),
    "a store": ("L1.data[x] := r; L1.VALID[x] := true", "L1.VALID[x] := false"),
    "a load": (
        "if L1.VALID[x] { r := L1.data[x] }; if not L1.VALID[x] { issue(x) }",
        "issue(x)",
    ),
    "a fill waits": (
        "no ST, RMW in queue[x]",
        "empty queue[x]",
        "each location y: empty queue[y]",
        "",
    ),
    "evict": (
        "step EVICT of workgroup, location x when L1.VALID[x] do L1.VALID[x] := false",
        "",
    ),
    "LDG": ("L1.VALID[x] := false", "nothing"),
    "the end": ("each QUEUE q, location y: empty q.queue[y]", "each thread t: empty t.count"),
}
"""What a machine may do in one way or another; the first is the usual one."""


def queued(**chosen: int) -> Architecture:
    """The machine with these choices, by place; `_` stands for a space."""
    says = {what: its[chosen.get(what.replace(" ", "_"), 0)] for what, its in CHOICES.items()}
    queue = says["queue of"]
    waits = says["a fill waits"] if queue in ("workgroup", "device") else ""
    text = f"""machine queued "of a test"
places thread < workgroup < device < system
type cache {{ data[x] : value  VALID[x] : bit }}
state {{
  memory[x] : value of system
  L1        : cache of workgroup
  queue[x]  : fifo of {queue}
  count     : pool of thread
}}
final memory
complete when {says["the end"].replace("QUEUE", queue)}
define issue(x) do enqueue self in queue[x]; add self to count
define done(x) do dequeue queue[x]; remove self from count
instruction LD r x do {says["a load"]}
  later LOAD when oldest queue[x] is self do done(x); r := memory[x]
instruction LDG r x do issue(x); {says["LDG"]}
  later LOAD when oldest queue[x] is self do done(x); r := memory[x]; L1.VALID[x] := false
instruction ST x r do issue(x); {says["a store"]}
  later STORE when oldest queue[x] is self do done(x); memory[x] := r
instruction RMW r x do issue(x)
  later BOTH when oldest queue[x] is self do done(x); r := memory[x]; memory[x] := f(r)
instruction WAIT when empty count
instruction INV do each location y: L1.VALID[y] := false
step FILL of workgroup, location x {"when " + waits if waits else ""}
  do L1.data[x] := memory[x]; L1.VALID[x] := true
{says["evict"]}
"""
    return read_architecture(Source("queued.machine", text.replace("; nothing", "")))


def random_choice(rng: random.Random) -> dict[str, int]:
    """Some of them."""
    return {what.replace(" ", "_"): rng.randrange(len(its)) for what, its in CHOICES.items()}
