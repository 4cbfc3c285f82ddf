"""Where the programs that a hunt finds are written."""

from __future__ import annotations

import re
from pathlib import Path

from rspverify.engineering.hunt.finding import Finding
from rspverify.source import InputError, Problem


def written_to(folder: str, scheme: str, found: Finding) -> str:
    """Write a program to a folder; the name of its file, hunt-SCHEME-rowN.litmus.

    No file that says something else is touched: then a number is added to the name. Raises
    InputError.
    """
    rows = "+".join(f"row{row.number}" for row in found.blamed) or "no-row"
    stem = f"hunt-{re.sub(r'[^A-Za-z0-9._+-]+', '-', scheme).strip('.-') or 'scheme'}-{rows}"
    place, number = Path(folder, f"{stem}.litmus"), 1
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        while place.exists() and (place.is_dir() or place.read_bytes() != found.text.encode()):
            number += 1
            place = Path(folder, f"{stem}-{number}.litmus")
        place.write_bytes(found.text.encode())
    except OSError as error:
        message = f"{error.filename or folder}: cannot be written: {error.strerror}"
        raise InputError([Problem(None, message)]) from None
    return str(place)


def require_folder(folder: str) -> None:
    """Raises InputError unless programs can be written to a folder, which need not be there yet."""
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise InputError([Problem(None, f"{folder}: must be a folder to write programs to")])
