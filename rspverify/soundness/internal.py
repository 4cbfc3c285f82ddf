"""Bugs of ours that we notice ourselves: never a verdict, always something to report."""

from __future__ import annotations

from collections.abc import Mapping


class InternalError(Exception):
    """What we found contradicts itself, so that none of it may be shown as a verdict.

    evidence: what it rests on, such as a schedule or an outcome, by name and in words.
    """

    def __init__(self, message: str, evidence: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.evidence = dict(evidence or {})
