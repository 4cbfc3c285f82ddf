"""What an answer may cost whoever runs the server."""

from __future__ import annotations

import os

from msgspec import Struct


class Allowance(Struct, frozen=True):
    """Limits of an instance.

    workers: processes that answer verdicts; long_workers: those for everything that takes longer.
    seconds, long_seconds: for one answer of theirs. memory: bytes of address space of a process.
    answer: bytes of one answer. question: bytes of one question. waiting: how many questions may
    wait at a time; of_one: of one client. kept: bytes of answers that are kept in this process.
    """

    workers: int = 2
    long_workers: int = 1
    seconds: float = 20.0
    long_seconds: float = 1_800.0
    memory: int = 4 * 2**30
    answer: int = 16 * 2**20
    question: int = 600_000
    waiting: int = 400
    of_one: int = 8
    kept: int = 32 * 2**20

    @staticmethod
    def here() -> Allowance:
        """That of one's own machine."""
        return Allowance(workers=max(2, os.cpu_count() or 1))


PUBLIC = Allowance(
    seconds=10.0,
    long_seconds=120.0,
    memory=2 * 2**30,
    answer=4 * 2**20,
    question=200_000,
    of_one=4,
)
"""Those of an instance that strangers use."""
