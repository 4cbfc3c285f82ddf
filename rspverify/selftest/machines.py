"""Random machines, as text in their language: the paper's, with another choice here and there.

Many have steps of the shapes that every engine knows, and some have not: an engine must refuse
such a machine, or be right about it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct, field

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.reader import read_architecture
from rspverify.records import replace
from rspverify.selftest.machine_instructions import instructions
from rspverify.selftest.machine_items import Says
from rspverify.selftest.machine_steps import steps
from rspverify.source import Source

PATH = "random.machine"
"""What the file of a random machine is called where it has no other name."""

CHOICES: Mapping[str, tuple[str, ...]] = {
    "levels": ("two", "one", "system"),
    "ST": ("back", "waits", "through", "dirty through", "around", "twice", "INV'D", "later"),
    "LD": ("L1", "L2", "or DIRTY", "anything", "CLEAN", "once", "fetches", "later"),
    "FLUSH": ("L2", "invalidates", "bypasses", "unmarked", "if", "keeps", "VALID", "oldest"),
    "others": ("L2s", "none", "L1s"),
    "FLUSH locks": ("lock", "none", "rmw"),
    "FETCH": ("CLEAN", "any", "INV'D", "memory", "peer", "or memory", "unfilled"),
    "FETCH locks": ("lock", "none", "rmw"),
    "EVICT": ("CLEAN", "none", "VALID", "any", "drops", "locked"),
    "INV": ("all", "spares DIRTY", "drops DIRTY", "spares y"),
    "FLU": ("marker", "waits", "own waits", "twice"),
    "L2 FETCH": ("CLEAN", "any", "unlocked"),
    "L2 FLUSH": ("lock", "unlocked", "invalidates", "VALID"),
    "L2 EVICT": ("lock", "unlocked", "none"),
    "INC_L1": ("lock", "unlocked", "takes"),
    "INC_L2": ("all", "own", "DIRTY", "unlocked"),
    "rmw of": ("workgroup", "device"),
    "DEQ": ("CLEAN", "any", "VALID", "locked", "marker CLEAN"),
    "bit": ("none", "LD waits", "LD clears", "stored", "noted", "filled", "first", "shuts"),
    "step": ("none", "DROP", "TWO", "PEER", "TOUCH", "SPOIL", "BACK", "SHARE", "SWAP"),
    "instruction": (
        *("none", "PRE", "WB", "CL", "DRY", "ZAP", "PUT", "PUT IF", "FENCE", "QUEUE", "UP", "MARK"),
    ),
    "fifos": ("there", "none"),
    "complete": ("CLEAN", "L1", "always", "shared"),
    "off": ("none", "LD", "INC_L2", "FETCH_L1"),
}
"""What is chosen: what may be, first as the paper has it."""

_KEPT = 64


class RandomMachine(Struct, frozen=True):
    """A machine by what is chosen otherwise than the paper does."""

    chosen: Mapping[str, str] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self.chosen.items())))

    def __str__(self) -> str:
        return ", ".join(f"{what} {how}" for what, how in self.chosen.items()) or "rsp"

    def says(self, what: str) -> str:
        """What is chosen."""
        return self.chosen.get(what, CHOICES[what][0])

    def simpler(self) -> Iterator[RandomMachine]:
        """The machines in which one choice less is another than the paper's."""
        for gone in self.chosen:
            yield RandomMachine({it: how for it, how in self.chosen.items() if it != gone})

    @property
    def text(self) -> str:
        """Its file."""
        every = (*_state(self.says), *instructions(self.says), *steps(self.says))
        parts = [_off(part, self.says("off")) for part in every if part]
        if self.says("off") != "none":
            parts.append('switch OFF "what is under it never happens"')
        if self.says("fifos") == "none":
            parts = list(_without_fifos(parts))
        return "\n".join([f'machine random "{self}"'.replace("'", ""), "include rsp", *parts, ""])

    @property
    def architecture(self) -> Architecture:
        """What its file says."""
        return _read(self.text)


def _off(part: str, what: str) -> str:
    """An item, under a switch that is off if it is of this name."""
    head, *rest = part.split("\n  ", 1)
    if head.split()[1] != what:
        return part
    (body,) = rest
    own = f"when OFF, {body[5:]}" if body.startswith("when ") else f"when OFF\n  {body}"
    return f"{head}\n  {own}"


@lru_cache(maxsize=_KEPT)
def _read(text: str) -> Architecture:
    return replace(read_architecture(Source(PATH, text)), path=PATH)


def random_machine(rng: random.Random) -> RandomMachine:
    """A machine with a few choices of its own."""
    many = min(len(CHOICES), rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7)))
    chosen = rng.sample(list(CHOICES), many)
    return RandomMachine({what: rng.choice(CHOICES[what][1:]) for what in chosen})


_NO_FIFOS = """state { off : bit of system }
type cache { data[x] : value  DIRTY[x] : bit  VALID[x] : bit  present[x] : bit }
define store(C, y, v) do
  C.data[y] := v; C.DIRTY[y] := true; C.VALID[y] := true; C.present[y] := true
always when not off
instruction FLU_L2 s of DV, SY
  do   nothing"""

_WAITS = (
    "instruction FLU_L1 s of WG, DV, SY\n"
    "  when each workgroup w in s, location y: not w.L1.DIRTY[y] do nothing"
)


def _without_fifos(parts: Iterable[str]) -> Iterator[str]:
    """The same where a FLU waits itself, and nothing is ever in a fifo."""
    gone = ("always ", "step DEQ", "instruction FLU_", "instruction QUEUE")
    kept = [it for it in parts if not it.startswith(gone)]
    dequeues = ["DEQLOC_L1", "DEQMARKER_L1"]
    dequeues += [] if any("FLUSH_L2," in it for it in kept) else ["DEQLOC_L2", "DEQMARKER_L2"]
    yield f"without {', '.join(dequeues)}"
    for each in kept:
        text = each.replace("; enqueue x in L1.fifo", "").replace(", oldest L1.fifo is x", "")
        if text.startswith("state {"):
            text = text.replace("state {", "state {\n  off : bit of system", 1)
        yield text
    own = _NO_FIFOS.split("\n", 1)
    yield own[1] if any(it.startswith("state {") for it in kept) else _NO_FIFOS
    yield _WAITS


def _state(says: Says) -> Iterator[str]:
    levels, bit = says("levels"), says("bit")
    without = ["L2", "FLUSH_L2", "FETCH_L2", "EVICT_L2", "DEQLOC_L2", "DEQMARKER_L2"]
    gone = without if levels == "one" else []
    gone += ["EVICT_L1"] if says("EVICT") == "none" else []
    gone += ["EVICT_L2"] if says("L2 EVICT") == "none" and levels != "one" else []
    if gone:
        yield f"without {', '.join(gone)}"
    own = []
    if levels == "system":
        own += ["lock[x] : lock of system", "L2 : cache of system"]
    if says("rmw of") == "device":
        own += ["rmw : lock of device"]
    if bit != "none":
        own += [f"bit[x] : bit of workgroup{' = true' if bit == 'first' else ''}"]
    if "later" in (says("LD"), says("ST")):
        own += ["pool : pool of thread"]
    if own:
        yield "state {\n  " + "\n  ".join(own) + "\n}"
    clean = ["each workgroup w, location y: not w.L1.DIRTY[y]"]
    unmarked = ["each workgroup w: no marker in w.L1.fifo"]
    if levels == "two":
        unmarked += ["each device d: no marker in d.L2.fifo"]
    if levels == "system":
        unmarked += ["no marker in L2.fifo"]
    complete = says("complete")
    if complete == "always" and levels != "one":
        clean = []
    elif complete == "shared":
        clean = ["each workgroup w, location y: not w.L1.DIRTY[y] or w.L1.VALID[y]"]
    if complete != "L1" and levels == "two":
        clean += ["each device d, location y: not d.L2.DIRTY[y]"]
    if complete != "L1" and levels == "system":
        clean += ["each location y: not L2.DIRTY[y]"]
    if bit in ("stored", "noted"):
        clean += ["each workgroup w, location y: not w.bit[y]"]
    if "later" in (says("LD"), says("ST")):
        clean += ["each thread t: empty t.pool"]
    if clean:
        yield f"complete when {', '.join(clean)}"
    yield f"always when {', '.join(unmarked)}"
