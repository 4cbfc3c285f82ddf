"""What a shell completes: names and paths of schemes and tests, models and machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from glob import escape, glob
from pathlib import Path

from rspverify.shipped import SCHEME_ENDINGS, TEST_ENDING, schemes_named, tests_named


def scheme_words(incomplete: str) -> list[str]:
    """Names of schemes, and paths."""
    names = [Path(path).stem for path in schemes_named()]
    return [*_beginning(incomplete, names), *_paths(incomplete, SCHEME_ENDINGS)]


def scheme_and_machine_words(incomplete: str) -> list[str]:
    """Names of schemes and machines, and paths."""
    return list(dict.fromkeys((*scheme_words(incomplete), *machine_words(incomplete))))


def test_words(incomplete: str) -> list[str]:
    """Names of tests, and paths."""
    names = [Path(path).stem for path in tests_named()] if incomplete else []
    return [*_beginning(incomplete, names), *_paths(incomplete, (TEST_ENDING,))]


def scheme_and_test_words(incomplete: str) -> list[str]:
    """Names of schemes and tests, and paths."""
    return list(dict.fromkeys((*scheme_words(incomplete), *test_words(incomplete))))


def model_words(incomplete: str) -> list[str]:
    """Names of models, and paths."""
    from rspverify.axiomatic.library import shipped_models

    return [*_beginning(incomplete, shipped_models()), *_paths(incomplete, (".cat",))]


def machine_words(incomplete: str) -> list[str]:
    """Names of machines, and paths."""
    from rspverify.architecture.machines import MACHINES

    return [*_beginning(incomplete, MACHINES), *_paths(incomplete, (".machine",))]


def scheduler_words(incomplete: str) -> list[str]:
    """Schedulers."""
    from rspverify.schedulers import SCHEDULERS

    return _beginning(incomplete, [*SCHEDULERS, "obe:1", "obe:2"])


def _beginning(incomplete: str, words: Iterable[str]) -> list[str]:
    return sorted({word for word in words if word.startswith(incomplete)})


def _paths(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    """Folders and files of some kinds."""
    found = sorted(glob(escape(incomplete) + "*"))
    return [
        f"{path}/" if Path(path).is_dir() else path
        for path in found
        if Path(path).is_dir() or path.endswith(endings)
    ]


COMPLETIONS: Mapping[str, Callable[[str], list[str]]] = {
    "scheme": scheme_words,
    "scheme or machine": scheme_and_machine_words,
    "scheme or test": scheme_and_test_words,
    "test": test_words,
    "model": model_words,
    "machine": machine_words,
    "scheduler": scheduler_words,
}
"""What is completed, by what an option or an argument says of itself."""
