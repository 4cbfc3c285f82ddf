"""The oracle of the thesis' machines says what Table 4.2 prints, and what its parts are there for."""

import pytest

from oracle.ptx import STRONG, WEAK, Copy, Strong, explore, outcomes

TF, TFB = ("TF",), ("TFB",)
ONE_BLOCK, BLOCKS = (0, 0, 0, 0), (0, 1, 2, 3)


def program(blocks, codes, shared=""):
    """Threads in blocks; every location is 0 at first."""
    words = {word for code in codes for instruction in code for word in instruction[1:]}
    locations = {word for word in words if isinstance(word, str) and word[0] != "r"}
    threads = [{"block": b, "code": c} for b, c in zip(blocks, codes, strict=False)]
    return {"initial": dict.fromkeys(locations, 0), "shared": set(shared), "threads": threads}


def coherence(blocks, *fence, shared=""):
    """Figs. 3.1 and 3.3."""
    reader = [("ld", "r1", "a"), *fence, ("ld", "r2", "a")]
    return program(blocks, [[("st", "a", 1)], [("st", "a", 2)], reader, reader], shared)


def visibility(blocks, *fence, shared=""):
    """Fig. 3.5."""
    writer = [("st", "a", 1), *fence, ("st", "b", 2)]
    return program(blocks, [writer, [("ld", "r1", "b"), TFB, ("ld", "r2", "a")]], shared)


def iriw(blocks, *fence, shared=""):
    """Fig. 1.2."""
    readers = [[("ld", "r1", x), *fence, ("ld", "r2", y)] for x, y in ("xy", "yx")]
    return program(blocks, [[("st", "x", 1)], [("st", "y", 1)], *readers], shared)


def out_of_order(found):
    """Whether two readers see two stores to a location in two orders."""
    seen = [found[thread, register] for thread in (2, 3) for register in ("r1", "r2")]
    return seen in ([1, 2, 2, 1], [2, 1, 1, 2])


def stale(found):
    """Whether the second store is seen, and not the first one."""
    return found[1, "r1"] == 2 and found[1, "r2"] != 1


def not_atomic(found):
    """Whether two readers see two stores to two locations in two orders."""
    seen = [found[thread, register] for thread in (2, 3) for register in ("r1", "r2")]
    return seen == [1, 0, 1, 0]


TABLE = [
    ("classical coherence", coherence, [ONE_BLOCK, BLOCKS], (), "", out_of_order, "?x"),
    ("classical coherence, shared", coherence, [ONE_BLOCK], (), "a", out_of_order, "?x"),
    ("relaxed coherence by TFB", coherence, [ONE_BLOCK, BLOCKS], (TFB,), "", out_of_order, "xx"),
    ("relaxed coherence by TF", coherence, [ONE_BLOCK, BLOCKS], (TF,), "", out_of_order, "xx"),
    ("relaxed coherence, shared", coherence, [ONE_BLOCK], (TFB,), "a", out_of_order, "xx"),
    ("shared, no fence", visibility, [ONE_BLOCK], (), "ab", stale, "??"),
    ("shared, TFB", visibility, [ONE_BLOCK], (TFB,), "ab", stale, "xx"),
    ("shared, TF", visibility, [ONE_BLOCK], (TF,), "ab", stale, "xx"),
    ("global, no fence", visibility, [ONE_BLOCK, BLOCKS], (), "", stale, "??"),
    ("global, TFB, intra", visibility, [ONE_BLOCK], (TFB,), "", stale, "xx"),
    ("global, TFB, inter", visibility, [BLOCKS], (TFB,), "", stale, "??"),
    ("global, TF", visibility, [ONE_BLOCK, BLOCKS], (TF,), "", stale, "xx"),
    ("IRIW by TFB", iriw, [ONE_BLOCK], (TFB,), "", not_atomic, "?x"),
    ("IRIW by TF", iriw, [ONE_BLOCK, BLOCKS], (TF,), "", not_atomic, "?x"),
    ("IRIW by TFB, shared", iriw, [ONE_BLOCK], (TFB,), "xy", not_atomic, "?x"),
]
"""Table 4.2: what each machine says of the violation, the weak one first: ? seen, x never seen.

The table prints a check mark for a violation of visibility that is never seen.
"""


@pytest.mark.parametrize(("blocks", "row"), [(b, row) for row in TABLE for b in row[2]])
def test_table_4_2(blocks, row):
    _, make, _, fence, shared, violated, printed = row
    test = make(blocks, *fence, shared=shared)
    found = [outcomes(test, machine, at_once=True) for machine in (WEAK, STRONG)]
    seen = "".join("?" if any(violated(dict(it)) for it in those) else "x" for those in found)
    assert seen == printed


@pytest.mark.parametrize("machine", [WEAK, STRONG])
@pytest.mark.parametrize("test", [visibility((0, 1), TFB), visibility((0, 0), TF, shared="a")])
def test_issuing_everything_at_once_loses_nothing(machine, test):
    assert outcomes(test, machine, at_once=True) == outcomes(test, machine)


def test_the_weak_machine_has_the_states_that_are_known():
    sizes = [explore(visibility(ONE_BLOCK, TF), WEAK), explore(coherence(ONE_BLOCK, TFB), WEAK)]
    assert [states for _, states in sizes] == [220, 9_400]


def test_who_is_shared_with_on_the_strong_machine_has_nothing_left_to_share(monkeypatch):
    """Otherwise P1 could share the first store of P0 again, over the second one."""
    test = program((0, 1), [[("st", "a", 1), ("st", "a", 3), ("ld", "r1", "a")], [("st", "a", 2)]])

    def seen():
        return {dict(each)[0, "r1"] for each in outcomes(test, STRONG, at_once=True)}

    assert seen() == {2, 3}

    def shared_by(self, state, b, i):
        data = state.memory[b][i].data
        for each in range(self.owners()):
            shared = each == b or state.memory[each][i].GS
            state = self.with_copy(state, each, i, Copy(data, GS=shared))
        return state

    monkeypatch.setattr(Strong, "shared_by", shared_by)
    assert seen() == {1, 2, 3}
