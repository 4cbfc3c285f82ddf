"""How an event is written where an execution is shown: `R[DV,R](x, 1)`, `F[WG](acquire)`."""

from __future__ import annotations

from rspverify.axiomatic.event import Event, Part
from rspverify.litmus.program import Kind, Operation, Order, Scope

USUAL = {
    Kind.LOAD: (Order.ACQUIRE,),
    Kind.STORE: (Order.RELEASE,),
    Kind.RMW: (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL),
}
"""The orders of the paper's atomics (§2.2), which go without saying where there is a scope."""

_PARTS = {Part.ENTRY: " entry", Part.EXIT: " exit"}


def label(event: Event, read: int | None, written: int | None) -> str:
    """The event with what it reads and writes, None where it does not."""
    it = event.operation
    values = [str(value) for value in (read, written) if value is not None]
    if it is None and not event.initial:
        return "start"
    if it is None:
        return f"W({event.at.name}, {', '.join(values)}) initial"
    if it.kind is Kind.BARRIER:
        kind = "barrier" if it.meets is Scope.WG else "device barrier"
        return f"{kind} {it.label}{_PARTS.get(event.part, '')}"
    letter = {Kind.FENCE: "F", Kind.LOCK: "Lock", Kind.UNLOCK: "Unlock"}.get(it.kind)
    if letter is None:
        letter = "RMW" if event.reads and event.writes else "W" if event.writes else "R"
    local = " local" if event.location is not None and event.location.region == "local" else ""
    if event.location is not None:
        inside = [event.location.name]
    else:
        inside = sorted(it.regions) if it.scope is not None else []
    brackets = f"({', '.join(inside + values)})" if inside or values else ""
    return f"{letter}{_annotation(it)}{brackets}{local}"


def _annotation(it: Operation) -> str:
    """Order, scope and remote flag in brackets; `[na]` for a plain access."""
    if it.order is None:
        return "" if it.kind in (Kind.LOCK, Kind.UNLOCK) else "[na]"
    words = [] if it.scope and it.order in USUAL.get(it.kind, ()) else [it.order.value]
    if it.scope is not None:
        words.append(it.scope.value)
        if it.kind is not Kind.FENCE:
            words.append("R" if it.remote else "N")
    return f"[{','.join(words)}]"
