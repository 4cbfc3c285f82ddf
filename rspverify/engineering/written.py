"""Schemes to files: never over a file that is not the very same scheme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rspverify.files import write_new


def write_schemes(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """Write schemes, given by name, and return the path of each by its name.

    Raises InputError, with nothing written, if a file that is there says something else, and if
    the folder cannot be used.
    """
    places = {name: Path(folder, f"{name}.yaml") for name in texts}
    write_new({places[name]: text for name, text in texts.items()}, "the scheme of this name")
    return {name: str(place) for name, place in places.items()}
