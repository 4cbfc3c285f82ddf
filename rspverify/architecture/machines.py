"""The machines that ship, by name; each is read when it is first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from rspverify.architecture.architecture import Architecture
from rspverify.architecture.catalogue import ENDING, SHIPPED, shipped


@cache
def load(name: str) -> Architecture:
    """A machine that ships. Raises KeyError where none is called so."""
    from rspverify.architecture.library import read_machine
    from rspverify.architecture.reader import read_architecture

    if name not in shipped():
        raise KeyError(name)
    return read_architecture(read_machine(SHIPPED / f"{name}{ENDING}"))


class _Machines(Mapping[str, Architecture]):
    def __getitem__(self, name: str) -> Architecture:
        return load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(shipped())

    def __len__(self) -> int:
        return len(shipped())

    def __contains__(self, name: object) -> bool:
        return name in shipped()


MACHINES: Mapping[str, Architecture] = _Machines()
"""By name."""
