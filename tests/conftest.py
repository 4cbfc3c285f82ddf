"""What every room's tests may use: the repository's own files, and where shared answers may be."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
"""No test asserts how long it takes: the machine may have other work."""

signal.signal(signal.SIGINT, signal.default_int_handler)
"""A suite that was started in the background ignores interrupts, and so would what it starts."""


def pytest_collection_finish() -> None:
    """What is imported and collected is no garbage: not looking for any there saves a tenth."""
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture
def in_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def cache_folder(_caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for each test: nothing of the user's, and nothing that another test left."""
    folder = next(_caches)
    monkeypatch.setenv("RSPVERIFY_CACHE", str(folder))
    return folder


@pytest.fixture(scope="module")
def _of_the_module(_caches: Iterator[Path]) -> Path:
    return next(_caches)


@pytest.fixture
def one_cache(cache_folder: Path, _of_the_module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test of a module has decided the next one need not: for those that plant no mistake
    in what decides."""
    monkeypatch.setenv("RSPVERIFY_CACHE", str(_of_the_module))


@pytest.fixture
def in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Questions are decided in this process, as where none can be forked: what it has read and made
    ready it need not again, for those to whom it is all the same who decides."""
    monkeypatch.setattr("rspverify.judge.workers.can_fork", lambda: False)


@pytest.fixture(scope="session")
def shared(root: Path) -> Path:
    """The folder of tests that others wrote; most users don't have it."""
    folder = root.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder shared, with tests that others wrote, is not beside the checkout")
    return folder
