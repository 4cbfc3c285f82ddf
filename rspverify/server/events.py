"""Answers as they come: named events of JSON, as server-sent events have it."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

Event: TypeAlias = "tuple[str, Any]"
"""A name, and plain data or a dataclass of it."""


def encoded(event: Event) -> bytes:
    """An event as its stream has it. No line break is in its JSON."""
    name, data = event
    return b"event: %s\ndata: %s\n\n" % (name.encode(), msgspec.json.encode(data))


def failed(message: str, *, retry: bool = False) -> bytes:
    """The event that says why there is no answer, or no more of it."""
    return encoded(("failed", {"message": message, "retry": retry}))
