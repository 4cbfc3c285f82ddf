"""A cluster of this machine, which takes seconds to start, for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rspverify.judge.cluster import Cluster


@pytest.fixture(scope="session")
def local() -> Iterator[Cluster]:
    """Two workers that are started for these tests."""
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    found = Cluster("local:2")
    yield found
    found.close()
