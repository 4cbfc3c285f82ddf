"""The forms of documents, a file each: `write` makes a text of a document.

Those in this folder have any document. Those in `results` have results one by one, which only
`check` gives. `NEEDS` of a form names what is asked for it besides the answer: `faults`, the rows
at fault of every finding, or `details`, what findings rest on.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rspverify.render.document import Document

_HERE = Path(__file__).parent
FORMS = tuple(sorted(each.stem for each in _HERE.glob("[!_]*.py")))
"""The names of those that any document has."""
OF_RESULTS = tuple(sorted(each.stem for each in _HERE.glob("results/[!_]*.py")))
"""The names of those that only `check` has."""


def write(form: str, it: Document) -> str:
    """The text of a document in a form."""
    text: str = _module(form).write(it)
    return text


def need(forms: Collection[str], what: str) -> bool:
    """Whether one of the forms needs something besides the answer."""
    return any(what in getattr(_module(each), "NEEDS", ()) for each in forms)


def _module(form: str) -> Any:
    return import_module(
        f"{__name__}.results.{form}" if form in OF_RESULTS else f"{__name__}.{form}"
    )
