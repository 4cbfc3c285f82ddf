"""What a shell completes: names and paths of schemes and tests, models and machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from glob import escape, glob
from pathlib import Path

from rspverify.shipped import SCHEME_ENDINGS, TEST_ENDING, schemes_named, tests_named


def completer(kinds: str) -> Callable[[str], list[str]]:
    """What completes a word that may be of several kinds, as `scheme or test`."""

    def complete(incomplete: str) -> list[str]:
        found: dict[str, None] = {}
        for kind in kinds.split(" or "):
            names, endings = _known(kind, incomplete)
            found |= dict.fromkeys(sorted({it for it in names if it.startswith(incomplete)}))
            found |= dict.fromkeys(_paths(incomplete, endings) if endings else ())
        return [*found]

    return complete


def _known(kind: str, incomplete: str) -> tuple[Iterable[str], tuple[str, ...]]:
    """The names of a kind, and how its files end."""
    if kind == "scheme":
        return (Path(path).stem for path in schemes_named()), SCHEME_ENDINGS
    if kind == "test":  # of which there are too many to list them all
        return (Path(path).stem for path in (tests_named() if incomplete else ())), (TEST_ENDING,)
    if kind == "model":
        from rspverify.axiomatic.catalogue import shipped_models

        return shipped_models(), (".cat",)
    if kind == "machine":
        from rspverify.architecture.machines import MACHINES

        return MACHINES, (".machine",)
    from rspverify.schedulers import SCHEDULERS

    assert kind == "scheduler", kind
    return [*SCHEDULERS, "obe:1", "obe:2"], ()


def _paths(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Folders and files of some kinds."""
    found = sorted(glob(escape(incomplete) + "*"))
    folders = {path: Path(path).is_dir() for path in found}
    return [
        f"{path}/" if folders[path] else path
        for path in found
        if folders[path] or path.endswith(endings)
    ]
