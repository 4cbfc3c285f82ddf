"""One server, and one browser, for all tests of this room that want one."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from server.instances import Instance, family, serving


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    folder = Path(tmp_path_factory.mktemp("serve"))
    with serving(folder) as found:
        yield found
        there = family(found.pid)
    left = [pid for pid in there if Path(f"/proc/{pid}").exists()]
    for _ in range(50):
        left = [pid for pid in left if Path(f"/proc/{pid}").exists()]
        time.sleep(0.1 if left else 0)
    assert left == [], "processes are left"
    assert [*folder.glob("rspverify-page-*")] == [], "folders are left"


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """One for strangers, with small limits."""
    options = ("--public", "--workers", "1", "--timeout", "2", "--memory", "1024")
    folder = Path(tmp_path_factory.mktemp("public"))
    with serving(folder, *options, end=signal.SIGTERM) as found:
        yield found
