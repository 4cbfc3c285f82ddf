"""`cache`: Where results are kept, or remove them."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass

from rspverify.options import Parameters, option
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output, warn_once


@dataclass(frozen=True)
class CacheParameters(Parameters):
    """What is done with them."""

    clear: bool = option(False, "Remove the results.")


def cache(asked: CacheParameters, output: Output) -> int:
    """Show where results are kept and how much room they take, or remove them."""
    from rspverify.judge.store import FILE, Store, clear, default_folder

    folder = default_folder()
    if not asked.clear:
        with closing(Store(folder, warn_once())) as store:
            answers, size = store.size()
        print(f"{folder / FILE}\n{answers:,} answers, {size / 2**20:.1f} MB")
        return 0
    try:
        clear(folder)
        print(f"removed {folder / FILE}")
    except OSError as error:
        print(f"{error.filename}: cannot be removed: {error.strerror}", file=sys.stderr)
        return 1
    return 0


COMMAND = Command(cache, CacheParameters)
