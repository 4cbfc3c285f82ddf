"""What every room's tests may use: the repository's own files, and where shared answers may be."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared(root: Path) -> Path:
    """The folder of tests that others wrote; most users don't have it."""
    folder = root.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder shared, with tests that others wrote, is not beside the checkout")
    return folder
