"""The initial values of registers, `0:r = 1`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rspverify.litmus.literal import stated
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import Name, RegisterEntry, ThreadText
from rspverify.source import Span


def initial_registers(
    entries: Iterable[RegisterEntry], threads: Mapping[str, ThreadText], problems: Problems
) -> dict[str, dict[str, int]]:
    """The initial values of the registers of each thread, by its name."""
    values: dict[str, dict[str, int]] = {}
    first: dict[tuple[str, str], Span] = {}
    for entry in entries:
        owner, name = entry.owner, entry.name.text
        thread = owner.text if isinstance(owner, Name) else f"P{owner.text}"
        value = stated(entry.value, problems)
        if thread not in threads:
            message = f"{quote(owner.text)} must be a thread of the test, and there is none"
            problems.error(owner.span, message)
        elif (thread, name) in first:
            message = f"{quote(name)} of {thread} must have one initial value, not two"
            problems.again(entry.span, message, first[thread, name])
        elif name in {each.name.text for each in threads[thread].parameters}:
            message = f"{quote(name)} must be a register of {thread}, not a location"
            problems.error(entry.name.span, message, f"write `{name} = {value}`")
        else:
            first[thread, name] = entry.span
            values.setdefault(thread, {})[name] = value
    return values
