"""A browser, and pages that are opened in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from render.browsers import Opened

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    binary = next(filter(None, map(shutil.which, NAMES)), None)
    if binary is None:
        pytest.skip(f"none of {', '.join(NAMES)} is found")
    with driver.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def one_page(browser: Any) -> Any:
    """A page that one test after the other goes to: a new one takes the browser a second."""
    return browser.new_page(accept_downloads=True)


@pytest.fixture
def opened(browser: Any, one_page: Any, tmp_path: Path) -> Iterator[Opened]:
    """Whatever a test does with a page, nothing is contacted and nothing goes wrong."""
    it = Opened(browser, one_page, tmp_path)
    yield it
    it.leave()
    assert it.said == []
    assert all(each.startswith(f"{tmp_path.as_uri()}/") for each in it.asked)
