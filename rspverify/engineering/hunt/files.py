"""Where the programs that a hunt finds are written."""

from __future__ import annotations

import re

from rspverify.engineering.hunt.finding import Finding
from rspverify.files import write_beside


def written_to(folder: str, scheme: str, found: Finding) -> str:
    """Write a program to a folder; the name of its file, hunt-SCHEME-rowN.litmus.

    No file that says something else is touched: then a number is added to the name. Raises
    InputError.
    """
    rows = "+".join(f"row{row.number}" for row in found.blamed) or "no-row"
    stem = f"hunt-{re.sub(r'[^A-Za-z0-9._+-]+', '-', scheme).strip('.-') or 'scheme'}-{rows}"
    (place,) = write_beside(folder, stem, lambda _: {".litmus": found.text})
    return str(place)
