"""A run of a machine for people: how it ends, and its steps."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from rspverify.answers import MachineRun, machine_in_words, within_words
from rspverify.render.trace_text import Trace
from rspverify.render.words import counted


def title(it: MachineRun) -> str:
    """Which test, on which machine."""
    return f"{it.test} on the machine {machine_in_words(it.machine, it.machine_file)}"


def ending(it: MachineRun) -> str:
    """How the run ends, or that there is none, in a sentence."""
    if it.execution is not None:
        steps = counted(len(it.execution.steps), "step")
        values = str(it.outcome)
        return f"It ends{f' with {values}' if values else ''}, after {steps}; none is shorter."
    if not it.completes:
        return f"No run of the machine completes{within_words(it.within)}."
    return f"No run of the machine ends with {it.wanted}{within_words(it.within)}."


def run_in_words(it: MachineRun) -> Iterator[RenderableType]:
    """Everything, part by part."""
    yield Text(title(it), "bold")
    if it.execution is None:
        yield Text(ending(it))
        yield from (Text(f"  {line}") for line in it.blocked)
        return
    if it.wanted:
        yield Text(f"A run that ends with {it.wanted}")
    yield Text("")
    yield Trace(it.execution)
    yield Text(f"\n{ending(it)}", style="bold")
