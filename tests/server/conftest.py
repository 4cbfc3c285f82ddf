"""One server, and one browser, for all tests of this room that want one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from server.instances import Instance, serving


@pytest.fixture(scope="session")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    with serving(Path(tmp_path_factory.mktemp("serve"))) as found:
        yield found


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """One for strangers, with small limits."""
    options = ("--public", "--workers", "1", "--timeout", "2", "--memory", "1024")
    with serving(Path(tmp_path_factory.mktemp("public")), *options) as found:
        yield found
