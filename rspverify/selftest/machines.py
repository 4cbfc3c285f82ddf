"""Random machines, as text in their language: the paper's, with another choice here and there.

Many have steps of the shapes that every engine knows, and some have not: an engine must refuse
such a machine, or be right about it.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from string import Template

from rspverify.architecture import Architecture
from rspverify.architecture.reader import read_architecture
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
    "instruction": ("none", "PRE", "WB", "CL", "ZAP", "PUT", "FENCE", "QUEUE", "UP", "MARK"),
    "fifos": ("there", "none"),
    "complete": ("CLEAN", "L1", "always", "shared"),
}
"""What is chosen: what may be, first as the paper has it."""

_L2 = {
    "two": ("L2.VALID[x]", "L2.data[x]", "each device d: d.L2.VALID[x] := false"),
    "system": ("L2.VALID[x]", "L2.data[x]", "L2.VALID[x] := false"),
    "one": (None, "memory[x]", None),
}
_KEPT = 64


@dataclass(frozen=True)
class RandomMachine:
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
        parts = [part for part in _parts(self) if part]
        if self.says("fifos") == "none":
            parts = list(_without_fifos(parts))
        return "\n".join([f'machine random "{self}"'.replace("'", ""), "include rsp", *parts, ""])

    @property
    def architecture(self) -> Architecture:
        """What its file says."""
        return _read(self.text)


@lru_cache(maxsize=_KEPT)
def _read(text: str) -> Architecture:
    return replace(read_architecture(Source(PATH, text)), path=PATH)


def random_machine(rng: random.Random) -> RandomMachine:
    """A machine with a few choices of its own."""
    many = min(len(CHOICES), rng.choice((1, 1, 2, 2, 3, 3, 4, 5, 7)))
    chosen = rng.sample(list(CHOICES), many)
    return RandomMachine({what: rng.choice(CHOICES[what][1:]) for what in chosen})


# ---- the text ------------------------------------------------------------------------------------


def _parts(machine: RandomMachine) -> Iterator[str]:
    yield from _state(machine)
    yield _load(machine)
    yield _store(machine)
    yield from _increments(machine)
    yield _flush(machine)
    yield _fetch(machine)
    yield from _evictions(machine)
    yield from _fences(machine)
    yield from _lower(machine)
    yield from _dequeues(machine)
    yield _BITS[machine.says("bit")]
    yield _filled(machine, _STEPS[machine.says("step")])
    yield _filled(machine, _INSTRUCTIONS[machine.says("instruction")])


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


def _filled(machine: RandomMachine, text: str) -> str:
    """The text with what lies below an L1."""
    hit, value, _ = _L2[machine.says("levels")]
    return Template(text).substitute(
        hit=f", {hit}" if hit else "", value=value, put=_put(machine, "r")
    )


def _put(machine: RandomMachine, value: str) -> str:
    """A value is stored below the L1s, as INC_L2 does it."""
    if machine.says("levels") == "one":
        return f"memory[x] := {value}"
    return f"{_L2[machine.says('levels')][2]}; store(L2, x, {value})"


def _item(head: str, conditions: list[str], effects: list[str]) -> str:
    when = f"\n  when {', '.join(conditions)}" if conditions else ""
    return f"{head}{when}\n  do   {'; '.join(effects)}"


def _state(machine: RandomMachine) -> Iterator[str]:
    levels, bit = machine.says("levels"), machine.says("bit")
    without = ["L2", "FLUSH_L2", "FETCH_L2", "EVICT_L2", "DEQLOC_L2", "DEQMARKER_L2"]
    gone = without if levels == "one" else []
    gone += ["EVICT_L1"] if machine.says("EVICT") == "none" else []
    gone += ["EVICT_L2"] if machine.says("L2 EVICT") == "none" and levels != "one" else []
    if gone:
        yield f"without {', '.join(gone)}"
    own = []
    if levels == "system":
        own += ["lock[x] : lock of system", "L2 : cache of system"]
    if machine.says("rmw of") == "device":
        own += ["rmw : lock of device"]
    if bit != "none":
        own += [f"bit[x] : bit of workgroup{' = true' if bit == 'first' else ''}"]
    if "later" in (machine.says("LD"), machine.says("ST")):
        own += ["pool : pool of thread"]
    if own:
        yield "state {\n  " + "\n  ".join(own) + "\n}"
    clean = ["each workgroup w, location y: not w.L1.DIRTY[y]"]
    unmarked = ["each workgroup w: no marker in w.L1.fifo"]
    if levels == "two":
        unmarked += ["each device d: no marker in d.L2.fifo"]
    if levels == "system":
        unmarked += ["no marker in L2.fifo"]
    complete = machine.says("complete")
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
    if "later" in (machine.says("LD"), machine.says("ST")):
        clean += ["each thread t: empty t.pool"]
    if clean:
        yield f"complete when {', '.join(clean)}"
    yield f"always when {', '.join(unmarked)}"


def _load(machine: RandomMachine) -> str:
    hit, value, _ = _L2[machine.says("levels")]
    below = [hit] if hit else []
    conditions, effects = {
        "L1": (["L1.VALID[x]"], ["r := L1.data[x]"]),
        "L2": (below, [f"r := {value}"]),
        "or DIRTY": (["L1.VALID[x] or L1.DIRTY[x]"], ["r := L1.data[x]"]),
        "anything": ([], ["r := L1.data[x]"]),
        "CLEAN": (["L1.VALID[x]", "clean(L1, x)"], ["r := L1.data[x]"]),
        "once": (["L1.VALID[x]"], ["r := L1.data[x]", "L1.VALID[x] := false"]),
        "fetches": (["clean(L1, x)", *below], [f"r := {value}", f"fetch(L1, x, {value})"]),
        "later": (["L1.VALID[x]"], ["r := L1.data[x]"]),
    }[machine.says("LD")]
    bit = machine.says("bit")
    conditions = conditions + {
        "LD waits": ["bit[x]"],
        "stored": ["not bit[x]"],
        "first": ["bit[x]"],
        "shuts": ["not bit[x]"],
    }.get(bit, [])
    effects = effects + {"LD clears": ["bit[x] := false"]}.get(bit, [])
    if machine.says("LD") != "later":
        return _item("instruction LD r x", conditions, effects)
    begun = _item(
        "  later LOAD", ["self in pool", *conditions], ["remove self from pool", *effects]
    )
    return f"instruction LD r x\n  do   add self to pool\n{begun}"


def _store(machine: RandomMachine) -> str:
    own = ["L1.data[x] := r", "L1.VALID[x] := true", "L1.present[x] := true"]
    back, below = ["store(L1, x, r)"], _put(machine, "r")
    conditions, effects = {
        "back": ([], back),
        "waits": (["not L1.DIRTY[x] or L1.VALID[x]"], back),
        "through": (["clean(L1, x)", "ready lock[x]"], [*own, below]),
        "dirty through": (["ready lock[x]"], [*own, below]),
        "around": (["clean(L1, x)", "ready lock[x]"], ["L1.VALID[x] := false", below]),
        "twice": ([], ["memory[x] := r", *back]),
        "INV'D": ([], ["L1.data[x] := r", "L1.DIRTY[x] := true", "enqueue x in L1.fifo"]),
        "later": ([], back),
    }[machine.says("ST")]
    bit = machine.says("bit")
    if bit in ("LD waits", "LD clears", "stored", "noted", "shuts"):
        effects = [*effects, "bit[x] := true"]
    if bit == "first":
        effects = [*effects, "bit[x] := false"]
    if machine.says("ST") != "later":
        return _item("instruction ST r x", conditions, effects)
    begun = _item("  later STORE", ["self in pool"], ["remove self from pool", *effects])
    return f"instruction ST r x\n  do   add self to pool\n{begun}"


def _increments(machine: RandomMachine) -> Iterator[str]:
    levels, how = machine.says("levels"), machine.says("INC_L2")
    hit, value, inval = _L2[levels]
    near = {"lock": ["ready rmw"], "unlocked": [], "takes": ["ready rmw"]}[machine.says("INC_L1")]
    taken = ["take rmw"] if machine.says("INC_L1") == "takes" else []
    for name, written in (("INC", "r + n"), ("RMW", "f(r)")):
        yield _item(
            f"instruction {name}_L1 r x",
            [*near, "L1.VALID[x]"],
            ["r := L1.data[x]", f"store(L1, x, {written})", *taken],
        )
        conditions = [*(["ready rmw", "ready lock[x]"] if how != "unlocked" else [])]
        conditions += [] if how == "DIRTY" else ["clean(L1, x)"]
        effects = ["L1.VALID[x] := false", *([inval] if inval and how != "own" else [])]
        stored = f"memory[x] := {written}" if levels == "one" else f"store(L2, x, {written})"
        yield _item(
            f"instruction {name}_L2 r x",
            [*conditions, *([hit] if hit else [])],
            [*effects, f"r := {value}", stored],
        )


_LOCKS = {"lock": ["ready lock[x]"], "none": [], "rmw": ["ready rmw"]}


def _flush(machine: RandomMachine) -> str:
    levels, how = machine.says("levels"), machine.says("FLUSH")
    inval = _L2[levels][2]
    bit = machine.says("bit")
    others = {
        "L2s": [inval] if inval else [],
        "none": [],
        "L1s": [*([inval] if inval else []), "each workgroup w: w.L1.VALID[x] := false"],
    }[machine.says("others")]
    copied = "memory[x] := L1.data[x]"
    stored = [copied] if levels == "one" else ["store(L2, x, L1.data[x])"]
    if how == "bypasses":
        stored = [copied]
    if how == "unmarked" and levels != "one":
        stored = ["fetch(L2, x, L1.data[x])"]
    if how == "if":
        stored = [f"if clean(L1, x) or L1.VALID[x] {{ {'; '.join(stored)} }}"]
        stored = [it.replace("clean(L1, x)", "not L1.DIRTY[x]") for it in stored]
    cleared = [] if how == "keeps" else ["L1.DIRTY[x] := false"]
    if how == "invalidates":
        cleared += ["L1.VALID[x] := false"]
    if bit == "stored":
        cleared += ["bit[x] := false"]
    if bit == "filled":
        cleared += ["bit[x] := true"]
    conditions = ["L1.DIRTY[x]", *_locks(machine, "FLUSH locks")]
    conditions += {"VALID": ["L1.VALID[x]"], "oldest": ["oldest L1.fifo is x"]}.get(how, [])
    place = "step FLUSH_L1 of workgroup, location x"
    return _item(place, conditions, [*others, *stored, *cleared])


def _locks(machine: RandomMachine, what: str) -> list[str]:
    return _LOCKS[machine.says(what)]


def _fetch(machine: RandomMachine) -> str:
    how = machine.says("FETCH")
    hit, value, _ = _L2[machine.says("levels")]
    below = [hit] if hit else []
    conditions = [] if how == "any" else ["clean(L1, x)"]
    conditions += ["not L1.VALID[x]"] if how == "INV'D" else []
    effects = [f"fetch(L1, x, {value})"]
    bit = machine.says("bit")
    if how == "unfilled":
        effects = [f"L1.data[x] := {value}"]
    if how == "memory":
        below, effects = [], ["fetch(L1, x, memory[x])"]
    head = "step FETCH_L1 of workgroup, location x"
    if how == "peer":
        head += ", workgroup w"
        below, effects = ["w.L1.VALID[x]"], ["fetch(L1, x, w.L1.data[x])"]
    if bit == "first":
        effects += ["bit[x] := true"]
    if bit == "shuts":
        effects += ["bit[x] := false"]
    conditions += below + _locks(machine, "FETCH locks")
    if bit == "filled":
        conditions += ["bit[x]"]
    text = _item(head, conditions, effects)
    if how in ("or memory", "peer"):
        more = ["clean(L1, x)", *_locks(machine, "FETCH locks")]
        other = _item("step FILL of workgroup, location x", more, ["fetch(L1, x, memory[x])"])
        text = f"{text}\n{other}"
    return text


def _evictions(machine: RandomMachine) -> Iterator[str]:
    how, lower = machine.says("EVICT"), machine.says("L2 EVICT")
    head = "step EVICT_L1 of workgroup, location x"
    conditions, effects = {
        "CLEAN": ([], []),
        "none": ([], []),
        "VALID": (["L1.VALID[x]", "clean(L1, x)"], ["evict(L1, x)"]),
        "any": (["L1.present[x]"], ["evict(L1, x)"]),
        "drops": (["L1.present[x]"], ["evict(L1, x)", "L1.DIRTY[x] := false"]),
        "locked": (["L1.present[x]", "clean(L1, x)", "ready lock[x]"], ["evict(L1, x)"]),
    }[how]
    if effects:
        yield _item(head, conditions, effects)
    if lower == "unlocked" and machine.says("levels") != "one":
        place = "device" if machine.says("levels") == "two" else "system"
        conditions = ["L2.present[x]", "clean(L2, x)"]
        yield _item(f"step EVICT_L2 of {place}, location x", conditions, ["evict(L2, x)"])


def _fences(machine: RandomMachine) -> Iterator[str]:
    inv = {
        "all": "",
        "spares DIRTY": "if not w.L1.DIRTY[y] { w.L1.VALID[y] := false }",
        "drops DIRTY": "{ w.L1.VALID[y] := false; w.L1.DIRTY[y] := false }",
        "spares y": "if w.L1.VALID[y] { w.L1.VALID[y] := false; w.L1.present[y] := false }",
    }[machine.says("INV")]
    if inv:
        each = "each workgroup w in s, location y: "
        each = each.replace(": ", " ") if inv.startswith("{") else each
        yield f"instruction INV_L1 s of WG, DV, SY\n  do   {each}{inv}"
    head = "instruction FLU_L1 s of WG, DV, SY"
    flu = {
        "marker": "",
        "waits": "when each workgroup w in s, location y: not w.L1.DIRTY[y] do nothing",
        "own waits": "when each location y: not L1.DIRTY[y] "
        "do each workgroup w in s: enqueue marker in w.L1.fifo",
        "twice": "do each workgroup w in s "
        "{ enqueue marker in w.L1.fifo; enqueue marker in w.L1.fifo }",
    }[machine.says("FLU")]
    if flu:
        yield f"{head}\n  {flu}"
    levels = machine.says("levels")
    if levels == "one":
        yield "instruction FLU_L2 s of DV, SY\n  do   nothing"
    if levels == "system":
        enqueue = "each device d in s: enqueue marker in L2.fifo"
        yield f"instruction FLU_L2 s of DV, SY\n  do   {enqueue}"


def _lower(machine: RandomMachine) -> Iterator[str]:
    levels = machine.says("levels")
    if levels == "one":
        return
    place = "device" if levels == "two" else "system"
    how, fetch = machine.says("L2 FLUSH"), machine.says("L2 FETCH")
    effects = ["memory[x] := L2.data[x]", "L2.DIRTY[x] := false"]
    effects += ["L2.VALID[x] := false"] if how == "invalidates" else []
    conditions = ["L2.DIRTY[x]", *([] if how == "unlocked" else ["ready lock[x]"])]
    conditions += ["L2.VALID[x]"] if how == "VALID" else []
    yield _item(f"step FLUSH_L2 of {place}, location x", conditions, effects)
    conditions = [] if fetch == "any" else ["clean(L2, x)"]
    conditions += [] if fetch == "unlocked" else ["ready lock[x]"]
    effects = ["fetch(L2, x, memory[x])"]
    yield _item(f"step FETCH_L2 of {place}, location x", conditions, effects)
    if levels == "system":
        if machine.says("L2 EVICT") == "lock":
            conditions = ["L2.present[x]", "clean(L2, x)", "ready lock[x]"]
            yield _item("step EVICT_L2 of system, location x", conditions, ["evict(L2, x)"])
        head, leaves = "step DEQLOC_L2 of system, location x", ["dequeue L2.fifo"]
        yield _item(head, ["oldest L2.fifo is x", "clean(L2, x)"], leaves)
        head = "step DEQMARKER_L2 of system, thread t"
        yield _item(head, ["oldest L2.fifo is marker of t"], leaves)


def _dequeues(machine: RandomMachine) -> Iterator[str]:
    how, leaves = machine.says("DEQ"), ["dequeue L1.fifo"]
    more = {
        "any": [],
        "VALID": ["clean(L1, x)", "L1.VALID[x]"],
        "locked": ["clean(L1, x)", "ready lock[x]"],
    }.get(how)
    if more is not None:
        head = "step DEQLOC_L1 of workgroup, location x"
        yield _item(head, ["oldest L1.fifo is x", *more], leaves)
    if how == "marker CLEAN":
        conditions = ["oldest L1.fifo is marker of t", "each location y: clean(L1, y)"]
        yield _item("step DEQMARKER_L1 of workgroup, thread t", conditions, leaves)


_BITS = {
    "none": "",
    "LD waits": "",
    "LD clears": "",
    "stored": "",
    "noted": "step UNNOTE of workgroup, location x\n"
    "  when bit[x]\n  do   bit[x] := false; memory[x] := L1.data[x]",
    "filled": "step EMPTY of workgroup, location x\n  when bit[x]\n  do   bit[x] := false",
    "first": "",
    "shuts": "step OPEN of workgroup, location x\n  when bit[x]\n  do   bit[x] := false",
}
"""Steps that a bit more comes with."""

_STEPS = {
    "none": "",
    "DROP": "step DROP of workgroup, location x\n  when L1.DIRTY[x]\n  do   L1.DIRTY[x] := false",
    "TWO": "step TWO of workgroup, location x\n  when L1.DIRTY[x], L1.VALID[x]\n"
    "  do   memory[x] := L1.data[x]; L1.DIRTY[x] := false; L1.VALID[x] := false",
    "PEER": "step PEER of workgroup, location x, other workgroup w\n"
    "  when clean(L1, x), w.L1.VALID[x], not w.L1.DIRTY[x]\n  do   fetch(L1, x, w.L1.data[x])",
    "TOUCH": "step TOUCH of workgroup, location x\n  when clean(L1, x), L1.VALID[x]\n"
    "  do   L1.DIRTY[x] := true",
    "SPOIL": "step SPOIL of workgroup, location x\n"
    "  when L1.VALID[x], not L1.DIRTY[x]\n  do   L1.VALID[x] := false",
    "BACK": "step BACK of workgroup, location x\n  when L1.VALID[x]\n"
    "  do   memory[x] := L1.data[x]",
    "SHARE": "step SHARE of workgroup, location x, other workgroup w\n  when L1.DIRTY[x]\n"
    "  do   store(w.L1, x, L1.data[x]); L1.DIRTY[x] := false",
    "SWAP": "step SWAP of workgroup, location x, location y\n  when L1.DIRTY[x]\n"
    "  do   L1.data[y] := L1.data[x]; L1.DIRTY[x] := false; L1.VALID[y] := true",
}

_INSTRUCTIONS = {
    "none": "",
    "PRE": "instruction PRE x\n  when clean(L1, x)$hit\n  do   fetch(L1, x, $value)",
    "WB": "instruction WB x\n  when clean(L1, x)\n  do   nothing",
    "CL": "instruction CL x\n  do   L1.DIRTY[x] := false",
    "ZAP": "instruction ZAP x\n  do   L1.VALID[x] := false; L1.DIRTY[x] := false",
    "PUT": "instruction PUT r x\n  when ready lock[x]\n  do   $put",
    "FENCE": "instruction FENCE s of WG, DV, SY\n"
    "  when each workgroup w in s, location y: not w.L1.DIRTY[y] or not w.L1.VALID[y]\n"
    "  do   nothing",
    "QUEUE": "instruction QUEUE x\n  do   enqueue x in L1.fifo; enqueue marker in L1.fifo",
    "MARK": "instruction MARK x\n  do   if L1.VALID[x] { L1.DIRTY[x] := true }",
    "UP": "instruction UP x\n  when L1.VALID[x]\n  do   L1.DIRTY[x] := true; enqueue x in L1.fifo",
}
