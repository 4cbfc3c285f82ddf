"""Whether a model lets an initial value be left in memory though it was overwritten.

The last write to a location is the last in co or mo, or one that no other follows in happens-before
(docs/models.md, «What is fixed outside the files»). Where a model has neither that puts the initial
write first, that write may count as the last. Asked of the model itself, about a thread that writes
once: what it allows of that, it allows of no machine.
"""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import LimitReached, Limits
from rspverify.litmus.reader import read_program
from rspverify.source import Source

_WRITES = {
    "a plain": "(global int* x) { *x = 1; }",
    "an atomic": "(global atomic_int* x) "
    "{ atomic_store_explicit(x, 1, memory_order_release, memory_scope_all_svm_devices); }",
}


def notes_on_final_values(model: MemoryModel) -> Iterator[str]:
    """What must be said of final values under a model, in a line each."""
    for which, writes in _WRITES.items():
        if _initial_value_may_stay(writes, model):
            yield (
                f"{model.name}: the initial value of {which} location may be left in the end "
                "though it was overwritten, as neither hb nor co puts the initial write first "
                "(docs/models.md); an hb that has sb in it does"
            )


def _initial_value_may_stay(writes: str, model: MemoryModel) -> bool:
    program = read_program(Source("", f"OpenCL t\n{{ [x]=0; }}\nP0@wg 0, dev 0 {writes}\n"))
    try:
        allowed = set(Questions(program, model, Limits()).outcomes())
    except LimitReached:
        return False
    return any(dict(outcome.memory)["x"] == 0 for outcome in allowed)
