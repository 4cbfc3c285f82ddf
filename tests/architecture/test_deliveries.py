"""What an instruction reads is delivered once in each case, at once or by a later step."""

import pytest
from architecture.texts import BASE, told

HINT = "(another `if` is for the other case, or a later step may deliver it)"
HEAD = "instruction I r x "
QUEUED = "later DONE when oldest queue[x] is self do dequeue queue[x]"
POOLED = "later LAST when self in pool do remove self from pool; r := memory[x]"
SWITCHED = f'{BASE}switch SLOW "it waits"\n'

RIGHT = [
    "do if L1.VALID[x] { r := L1.data[x] }; if not L1.VALID[x] { r := memory[x] }",
    "when L1.VALID[x] do if L1.VALID[x] { r := L1.data[x] }",
    "do if x is global { r := memory[x] }; if x is shared { r := copy[x] }",
    "when x is shared do if x is shared { r := memory[x] }",
    f"do enqueue self in queue[x]; add self to pool {QUEUED}; remove self from pool; r := copy[x] {POOLED}",
    "do if L1.VALID[x] or L2.VALID[x] { r := L1.data[x] }; if not L1.VALID[x], not L2.VALID[x] { r := memory[x] }",
    f"do if L1.VALID[x] {{ r := copy[x] }}; if not L1.VALID[x] {{ enqueue self in queue[x] }} {QUEUED}; r := memory[x]",
    f"do enqueue self in queue[x]; if SLOW {{ add self to pool }} {QUEUED}; if SLOW {{ remove self from pool }}; r := copy[x]",
    f"do enqueue self in queue[x] {QUEUED}; add self to pool {POOLED}",
    "do r := memory[x]; add self to pool later W when self in pool do remove self from pool; memory[x] := f(r)",
]

WRONG = {
    "do if L1.VALID[x] { r := L1.data[x] }": "1:13 I does not deliver it where not L1.VALID[x]",
    "do if not L1.VALID[x] { r := memory[x] }": "1:13 I does not deliver it where L1.VALID[x]",
    "do if x is global { r := memory[x] }": "1:13 I does not deliver it where x is shared",
    "do if SLOW { r := memory[x] }": "1:13 I does not deliver it where not SLOW",
    "do if ready lock[x] { r := memory[x] }": "1:13 I does not deliver it where not what is asked of lock[x]",
    "do if L1.VALID[x] { if SLOW { r := memory[x] } }; if not L1.VALID[x] { r := copy[x] }": (
        "1:13 I does not deliver it where L1.VALID[x] and not SLOW"
    ),
    "do each other thread t: r := t.copy[x]": "1:13 I does not deliver it",
    f"do if SLOW {{ enqueue self in queue[x] }} {QUEUED}; r := copy[x]": (
        "1:13 I does not deliver it where not SLOW"
    ),
    f"do r := memory[x]; enqueue self in queue[x] {QUEUED}; r := copy[x]": "1:13 I delivers it twice",
    f"do if L1.VALID[x] {{ r := copy[x] }}; enqueue self in queue[x] {QUEUED}; r := memory[x]": (
        "1:13 I delivers it twice where L1.VALID[x]"
    ),
    f"do enqueue self in queue[x] {QUEUED}; if SLOW {{ r := copy[x] }}": (
        "1:53 DONE does not deliver it where not SLOW"
    ),
}


@pytest.mark.parametrize("body", RIGHT)
def test_what_delivers_once_in_each_case(body: str) -> None:
    assert told(HEAD + body, SWITCHED) == []


@pytest.mark.parametrize("body", WRONG)
def test_what_does_not(body: str) -> None:
    found = told(HEAD + body, SWITCHED)
    place, name, wrong = WRONG[body].split(" ", 2)
    assert found == [f"{place} {name} must deliver r once in each case, and {wrong} {HINT}"]


def test_two_that_may_both_deliver() -> None:
    body = f"do enqueue self in queue[x]; add self to pool {QUEUED}; r := copy[x] {POOLED}"
    assert told(HEAD + body) == [
        "1:145 LAST must take self out of what DONE takes it out of, as both deliver r"
    ]


@pytest.mark.parametrize(
    "step", ["when L1.VALID[x] do r := memory[x]", "when L1.VALID[x] do dequeue queue[x]"]
)
def test_what_does_not_wait_for_the_instruction(step: str) -> None:
    """It could happen before, and again and again."""
    assert (
        "1:127 LATE must wait for self, in a pool or as the oldest of a fifo "
        "(such as `when self in pool`, or `when oldest queue[x] is self`)"
    ) in told(f"{HEAD}do enqueue self in queue[x] {QUEUED}; r := copy[x] later LATE {step}")


def test_too_much_that_is_asked() -> None:
    cells = " ".join(f"b{n} : bit of thread" for n in range(13))
    tests = ", ".join(f"b{n}" for n in range(13))
    (found,) = told(f"{HEAD}do if {tests} {{ r := memory[x] }}", f"{BASE}state {{ {cells} }}\n")
    assert found.startswith("1:13 I must ask 12 questions at most before it delivers r, not 13")
