"""The steps of random machines."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.selftest.machine_items import BELOW, Says, filled, item


def steps(says: Says) -> Iterator[str]:
    """The items of what is chosen of them."""
    yield _flush(says)
    yield _fetch(says)
    yield from _evictions(says)
    yield from _lower(says)
    yield from _dequeues(says)
    yield _BITS[says("bit")]
    yield filled(says, _MORE[says("step")])


_LOCKS = {"lock": ["ready lock[x]"], "none": [], "rmw": ["ready rmw"]}


def _flush(says: Says) -> str:
    levels, how = says("levels"), says("FLUSH")
    inval = BELOW[levels][2]
    bit = says("bit")
    others = {
        "L2s": [inval] if inval else [],
        "none": [],
        "L1s": [*([inval] if inval else []), "each workgroup w: w.L1.VALID[x] := false"],
    }[says("others")]
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
    conditions = ["L1.DIRTY[x]", *_locks(says, "FLUSH locks")]
    conditions += {"VALID": ["L1.VALID[x]"], "oldest": ["oldest L1.fifo is x"]}.get(how, [])
    place = "step FLUSH_L1 of workgroup, location x"
    return item(place, conditions, [*others, *stored, *cleared])


def _locks(says: Says, what: str) -> list[str]:
    return _LOCKS[says(what)]


def _fetch(says: Says) -> str:
    how = says("FETCH")
    hit, value, _ = BELOW[says("levels")]
    below = [hit] if hit else []
    conditions = [] if how == "any" else ["clean(L1, x)"]
    conditions += ["not L1.VALID[x]"] if how == "INV'D" else []
    effects = [f"fetch(L1, x, {value})"]
    bit = says("bit")
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
    conditions += below + _locks(says, "FETCH locks")
    if bit == "filled":
        conditions += ["bit[x]"]
    text = item(head, conditions, effects)
    if how in ("or memory", "peer"):
        more = ["clean(L1, x)", *_locks(says, "FETCH locks")]
        other = item("step FILL of workgroup, location x", more, ["fetch(L1, x, memory[x])"])
        text = f"{text}\n{other}"
    return text


def _evictions(says: Says) -> Iterator[str]:
    how, lower = says("EVICT"), says("L2 EVICT")
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
        yield item(head, conditions, effects)
    if lower == "unlocked" and says("levels") != "one":
        place = "device" if says("levels") == "two" else "system"
        conditions = ["L2.present[x]", "clean(L2, x)"]
        yield item(f"step EVICT_L2 of {place}, location x", conditions, ["evict(L2, x)"])


def _lower(says: Says) -> Iterator[str]:
    levels = says("levels")
    if levels == "one":
        return
    place = "device" if levels == "two" else "system"
    how, fetch = says("L2 FLUSH"), says("L2 FETCH")
    effects = ["memory[x] := L2.data[x]", "L2.DIRTY[x] := false"]
    effects += ["L2.VALID[x] := false"] if how == "invalidates" else []
    conditions = ["L2.DIRTY[x]", *([] if how == "unlocked" else ["ready lock[x]"])]
    conditions += ["L2.VALID[x]"] if how == "VALID" else []
    yield item(f"step FLUSH_L2 of {place}, location x", conditions, effects)
    conditions = [] if fetch == "any" else ["clean(L2, x)"]
    conditions += [] if fetch == "unlocked" else ["ready lock[x]"]
    effects = ["fetch(L2, x, memory[x])"]
    yield item(f"step FETCH_L2 of {place}, location x", conditions, effects)
    if levels == "system":
        if says("L2 EVICT") == "lock":
            conditions = ["L2.present[x]", "clean(L2, x)", "ready lock[x]"]
            yield item("step EVICT_L2 of system, location x", conditions, ["evict(L2, x)"])
        head, leaves = "step DEQLOC_L2 of system, location x", ["dequeue L2.fifo"]
        yield item(head, ["oldest L2.fifo is x", "clean(L2, x)"], leaves)
        head = "step DEQMARKER_L2 of system, thread t"
        yield item(head, ["oldest L2.fifo is marker of t"], leaves)


def _dequeues(says: Says) -> Iterator[str]:
    how, leaves = says("DEQ"), ["dequeue L1.fifo"]
    more = {
        "any": [],
        "VALID": ["clean(L1, x)", "L1.VALID[x]"],
        "locked": ["clean(L1, x)", "ready lock[x]"],
    }.get(how)
    if more is not None:
        head = "step DEQLOC_L1 of workgroup, location x"
        yield item(head, ["oldest L1.fifo is x", *more], leaves)
    if how == "marker CLEAN":
        conditions = ["oldest L1.fifo is marker of t", "each location y: clean(L1, y)"]
        yield item("step DEQMARKER_L1 of workgroup, thread t", conditions, leaves)


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

_MORE = {
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
