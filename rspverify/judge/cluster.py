"""Work that is spread over the workers of a cluster of dask.distributed, results in order.

What is done is sent once to each worker, items in batches that take about a second. A worker that
is lost costs nothing: its batch is done by another. A batch that ends its workers is done again by
single items, one at a time, so that an item that ends its worker is known.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from importlib.util import find_spec
from typing import TypeVar

from rspverify.judge.batches import Batches
from rspverify.judge.link import Link, LinkLost
from rspverify.judge.work import Work
from rspverify.limits import LimitReached
from rspverify.source import InputError, Problem

T = TypeVar("T")
R = TypeVar("R")

INSTALL = "python -m pip install 'rspverify[cluster]'"


class Cluster:
    """The workers of a scheduler, or so many of this machine that are started for this.

    It connects when work is first to be done. Raises InputError where it cannot, or where a worker
    runs another version of the package; LimitReached where the cluster is lost meanwhile.
    """

    shares_cache = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._processes = _processes(address)
        if find_spec("distributed") is None:
            message = "--cluster: the library distributed must be installed, and is not"
            raise InputError([Problem(None, message, INSTALL)])
        self._link: Link | None = None
        self._lost: str | None = None

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return len(self._linked().workers)

    def each(
        self,
        work: Work[T, R],
        items: Iterable[T],
        *,
        most: int | None,
        ahead: int,
        lost: Callable[[T], R] | None,
    ) -> Generator[R, None, None]:
        """What is done with each item, in their order. Close it when done."""
        batches = Batches(self._linked(), work, items, most, ahead)
        try:
            yield from batches.results(lost)
        except LinkLost as error:
            self._lost = f"{self._address}: {error}"
            raise LimitReached(self._lost) from None
        finally:
            batches.end()

    def close(self) -> None:
        """Leave the cluster; end what was started on this machine."""
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def _linked(self) -> Link:
        if self._lost is not None:
            raise LimitReached(self._lost)
        if self._link is None:
            self._link = Link.to(self._address, self._processes)
        return self._link


def _processes(address: str) -> int | None:
    """How many workers of this machine are meant; None for those of a scheduler."""
    kind, colon, rest = address.partition(":")
    if kind == "local" and rest.isascii() and rest.isdigit() and int(rest):
        return int(rest)
    place = address.partition("://")[2] or address
    if kind == "local" or not colon or not place.rpartition(":")[2].isdigit() or " " in address:
        message = f"--cluster must be local:N or the address of a scheduler, not {address!r}"
        hint = "such as local:4, or tcp://10.0.0.5:8786"
        raise InputError([Problem(None, message, hint)])
    return None
