"""An instruction leaves a pool, and is the oldest of a fifo, only if it enters it somewhere."""

import pytest
from architecture.texts import told

LOAD = "instruction I r x "
WAITS = "enqueue self in queue[x] later DONE when oldest queue[x] is self do dequeue queue[x]"
OTHER = f"instruction W do add self to pool later E when self in pool do remove self from pool\nstep Q of thread, location y when oldest queue[y] is y do dequeue queue[y]\n{LOAD}"

RIGHT = [
    f"do add self to pool; {WAITS}; remove self from pool; r := memory[x]",
    f"do if L1.VALID[x] {{ add self to pool }}; {WAITS}; remove self from pool; r := memory[x]",
    f"do {WAITS}; add self to pool; r := memory[x] later LAST when self in pool do remove self from pool",
    f"do {WAITS}; each location y: if oldest queue[y] is self {{ L1.VALID[y] := false }}; r := memory[x]",
]

WRONG = {
    "do r := memory[x]; remove self from pool": (
        "1:13 I must enter pool before I removes self from it (`add self to pool`, at once or later)"
    ),
    f"do {WAITS}; remove self from pool; r := memory[x]": (
        "1:53 I must enter pool before DONE removes self from it (`add self to pool`, at once or later)"
    ),
    f"do {WAITS}; r := memory[x]; if L1.VALID[x] {{ remove self from pool }}": (
        "1:53 I must enter pool before DONE removes self from it (`add self to pool`, at once or later)"
    ),
    "do nothing later DONE when oldest queue[x] is self do dequeue queue[x]; r := memory[x]": (
        "1:36 I must enter queue[x] before DONE asks whether self is the oldest there "
        "(`enqueue self in queue[x]`, at once or later)"
    ),
    "do r := memory[x] later DONE do if oldest queue[x] is self { L1.VALID[x] := false }": (
        "1:43 I must enter queue[x] before DONE asks whether self is the oldest there "
        "(`enqueue self in queue[x]`, at once or later)"
    ),
}


@pytest.mark.parametrize("body", RIGHT)
def test_what_enters(body: str) -> None:
    assert told(LOAD + body) == []


@pytest.mark.parametrize(("body", "said"), WRONG.items())
def test_what_never_enters(body: str, said: str) -> None:
    """Others may enter it: that says nothing of this instruction."""
    assert said in told(LOAD + body)
    (again,) = [it for it in told(OTHER + body) if "must enter" in it]
    assert again.partition(" ")[2] == said.partition(" ")[2]


def test_a_definition_that_has_later_steps() -> None:
    """It is told at the step, which stands in the definition."""
    defined = "define begin(y) do nothing later END when self in pool do remove self from pool; copy[y] := memory[y]\n"
    used = "instruction I x do begin(x); add self to pool\ninstruction J x do begin(x)"
    assert told(defined + used) == [
        "1:34 J must enter pool before END removes self from it (`add self to pool`, at once or later)"
    ]
