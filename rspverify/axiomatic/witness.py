"""A consistent execution as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.verdict import Outcome


@dataclass(frozen=True)
class Witness:
    """A consistent execution: its outcome, and its relations by name as pairs of event indices.

    Events are those of events_of(program, model), by their index.
    """

    outcome: Outcome
    relations: Mapping[str, frozenset[tuple[int, int]]]
