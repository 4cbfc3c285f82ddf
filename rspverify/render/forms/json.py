"""An answer as JSON, by its schema (`show --schema`)."""

from __future__ import annotations

from rspverify.convert import to_json
from rspverify.render.document import Document


def write(it: Document) -> str:
    """The answer of the document."""
    return to_json(it.answer)
