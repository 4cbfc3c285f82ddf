"""The instructions of random machines."""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.selftest.machine_items import BELOW, Says, filled, item, put


def instructions(says: Says) -> Iterator[str]:
    """The items of what is chosen of them."""
    yield _load(says)
    yield _store(says)
    yield from _increments(says)
    yield from _fences(says)
    yield filled(says, _MORE[says("instruction")])


def _load(says: Says) -> str:
    hit, value, _ = BELOW[says("levels")]
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
    }[says("LD")]
    bit = says("bit")
    conditions = conditions + {
        "LD waits": ["bit[x]"],
        "stored": ["not bit[x]"],
        "first": ["bit[x]"],
        "shuts": ["not bit[x]"],
    }.get(bit, [])
    effects = effects + {"LD clears": ["bit[x] := false"]}.get(bit, [])
    if says("LD") != "later":
        return item("instruction LD r x", conditions, effects)
    begun = item("  later LOAD", ["self in pool", *conditions], ["remove self from pool", *effects])
    return f"instruction LD r x\n  do   add self to pool\n{begun}"


def _store(says: Says) -> str:
    own = ["L1.data[x] := r", "L1.VALID[x] := true", "L1.present[x] := true"]
    back, below = ["store(L1, x, r)"], put(says, "r")
    conditions, effects = {
        "back": ([], back),
        "waits": (["not L1.DIRTY[x] or L1.VALID[x]"], back),
        "through": (["clean(L1, x)", "ready lock[x]"], [*own, below]),
        "dirty through": (["ready lock[x]"], [*own, below]),
        "around": (["clean(L1, x)", "ready lock[x]"], ["L1.VALID[x] := false", below]),
        "twice": ([], ["memory[x] := r", *back]),
        "INV'D": ([], ["L1.data[x] := r", "L1.DIRTY[x] := true", "enqueue x in L1.fifo"]),
        "later": ([], back),
    }[says("ST")]
    bit = says("bit")
    if bit in ("LD waits", "LD clears", "stored", "noted", "shuts"):
        effects = [*effects, "bit[x] := true"]
    if bit == "first":
        effects = [*effects, "bit[x] := false"]
    if says("ST") != "later":
        return item("instruction ST r x", conditions, effects)
    begun = item("  later STORE", ["self in pool"], ["remove self from pool", *effects])
    return f"instruction ST r x\n  do   add self to pool\n{begun}"


def _increments(says: Says) -> Iterator[str]:
    levels, how = says("levels"), says("INC_L2")
    hit, value, inval = BELOW[levels]
    near = {"lock": ["ready rmw"], "unlocked": [], "takes": ["ready rmw"]}[says("INC_L1")]
    taken = ["take rmw"] if says("INC_L1") == "takes" else []
    for name, written in (("INC", "r + n"), ("RMW", "f(r)")):
        yield item(
            f"instruction {name}_L1 r x",
            [*near, "L1.VALID[x]"],
            ["r := L1.data[x]", f"store(L1, x, {written})", *taken],
        )
        conditions = [*(["ready rmw", "ready lock[x]"] if how != "unlocked" else [])]
        conditions += [] if how == "DIRTY" else ["clean(L1, x)"]
        effects = ["L1.VALID[x] := false", *([inval] if inval and how != "own" else [])]
        stored = f"memory[x] := {written}" if levels == "one" else f"store(L2, x, {written})"
        yield item(
            f"instruction {name}_L2 r x",
            [*conditions, *([hit] if hit else [])],
            [*effects, f"r := {value}", stored],
        )


def _fences(says: Says) -> Iterator[str]:
    inv = {
        "all": "",
        "spares DIRTY": "if not w.L1.DIRTY[y] { w.L1.VALID[y] := false }",
        "drops DIRTY": "{ w.L1.VALID[y] := false; w.L1.DIRTY[y] := false }",
        "spares y": "if w.L1.VALID[y] { w.L1.VALID[y] := false; w.L1.present[y] := false }",
    }[says("INV")]
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
    }[says("FLU")]
    if flu:
        yield f"{head}\n  {flu}"
    levels = says("levels")
    if levels == "one":
        yield "instruction FLU_L2 s of DV, SY\n  do   nothing"
    if levels == "system":
        enqueue = "each device d in s: enqueue marker in L2.fifo"
        yield f"instruction FLU_L2 s of DV, SY\n  do   {enqueue}"


_MORE = {
    "none": "",
    "PRE": "instruction PRE x\n  when clean(L1, x)$hit\n  do   fetch(L1, x, $value)",
    "WB": "instruction WB x\n  when clean(L1, x)\n  do   nothing",
    "CL": "instruction CL x\n  do   L1.DIRTY[x] := false",
    "DRY": "instruction DRY x\n  do   $lowest.DIRTY[x] := false",
    "PUT IF": "instruction PUT r x\n  do   if L1.VALID[x] { memory[x] := r }",
    "ZAP": "instruction ZAP x\n  do   L1.VALID[x] := false; L1.DIRTY[x] := false",
    "PUT": "instruction PUT r x\n  when ready lock[x]\n  do   $put",
    "FENCE": "instruction FENCE s of WG, DV, SY\n"
    "  when each workgroup w in s, location y: not w.L1.DIRTY[y] or not w.L1.VALID[y]\n"
    "  do   nothing",
    "QUEUE": "instruction QUEUE x\n  do   enqueue x in L1.fifo; enqueue marker in L1.fifo",
    "MARK": "instruction MARK x\n  do   if L1.VALID[x] { L1.DIRTY[x] := true }",
    "UP": "instruction UP x\n  when L1.VALID[x]\n  do   L1.DIRTY[x] := true; enqueue x in L1.fifo",
}
