"""Two workers, which take seconds to start, for all tests that need some."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cluster_processes import Processes

from rspverify.judge.cluster import Cluster


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two workers that are started for these tests.

    What ends two workers, and not four as Dask has it, is not given to a third.
    """
    pytest.importorskip("distributed", reason="dask.distributed is not installed")
    processes = Processes(tmp_path_factory.mktemp("workers"))
    processes.scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1")
    for _ in range(2):
        processes.nanny()
    found = Cluster(processes.address)
    yield found
    found.close()
    processes.end()
