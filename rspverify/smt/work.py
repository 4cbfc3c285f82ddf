"""Questions that the solver is at work on, which another thread may have it give up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_heeds_ctrl_c = True
_at_work: set[Callable[[], None]] = set()


def leave_signals_to_this_process() -> None:
    """From here on the solver does not heed Ctrl-C itself, which it would forget where it has
    just found its answer: whoever handles signals has it give up."""
    global _heeds_ctrl_c
    _heeds_ctrl_c = False


def heeds_ctrl_c() -> bool:
    """Whether the solver ends a question at SIGINT by itself."""
    return _heeds_ctrl_c


@contextmanager
def at_work(interrupt: Callable[[], None]) -> Iterator[None]:
    """The solver is at work inside. interrupt: has it give up, from any thread."""
    _at_work.add(interrupt)
    try:
        yield
    finally:
        _at_work.discard(interrupt)


def give_up() -> None:
    """Have the solver answer at once that it cannot tell, wherever it is at work."""
    for interrupt in list(_at_work):
        interrupt()
