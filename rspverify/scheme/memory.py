"""Which memory a row is for: global memory, the local memory of a work-group, or both at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from rspverify.architecture.architecture import Architecture, Mnemonic
from rspverify.litmus.program import GLOBAL, LOCAL
from rspverify.source import Problem, Span
from rspverify.wording import alternatives

Memory = frozenset[str]
"""Regions of memory: the one that an access is of, or all that a fence orders."""

IN_GLOBAL: Memory = frozenset({GLOBAL})
IN_LOCAL: Memory = frozenset({LOCAL})
IN_BOTH: Memory = IN_GLOBAL | IN_LOCAL

LOCAL_HINT = "`spaces global, local` in the file of a machine says that it has"


def has_local(machine: Architecture) -> bool:
    """Whether a machine declares a place for local memory."""
    return {GLOBAL, LOCAL} <= {*machine.spaces}


def without_end(machine: Architecture, span: Span | None = None) -> list[Problem]:
    """What is wrong with a machine that does not say what the value of a location is in the end.

    Every test is asked for that. span: where the machine is named.
    """
    if machine.final is not None:
        return []
    message = f"machine {machine.name} must say which memory is final for a scheme, and does not"
    return [
        Problem(span, message, "`final memory` in its file says that it is that of `memory[x]`")
    ]


def memory_words(memories: Collection[Memory]) -> list[str]:
    """The words for one of these memories; none where it is global memory."""
    if set(memories) == {IN_GLOBAL}:
        return []
    return [" or ".join("+".join(sorted(it)) for it in sorted(memories, key=sorted))]


def serves(mnemonic: Mnemonic, memories: Iterable[Memory], machine: Architecture) -> bool:
    """Whether an instruction can be in a row for these memories."""
    spaces = (it for it in machine.spaces if any(it in each for each in memories))
    return "x" not in mnemonic.operands or all(map(mnemonic.serves, spaces))


def misplaced(
    code: Iterable[tuple[Mnemonic, Span]], memories: Collection[Memory], machine: Architecture
) -> Iterator[Problem]:
    """A problem for each instruction that is for other memory than a row with these is for."""
    for mnemonic, span in code:
        if not serves(mnemonic, memories, machine):
            own = [it for it in machine.spaces if mnemonic.serves(it)]
            words = memory_words(memories) or [GLOBAL]
            message = (
                f"the code for {words[0]} memory must not have {mnemonic.name}, "
                f"which is for {alternatives(own) if own else 'no'} memory"
            )
            known = [it for it in own if it in (GLOBAL, LOCAL)]
            hint = f"`memory: {known[0]}` makes a row for that" if known else None
            yield Problem(span, message, hint)
