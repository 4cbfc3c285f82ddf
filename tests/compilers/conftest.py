"""What compilers emit is compiled once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from rspverify.compilers import llvm


@pytest.fixture(autouse=True, scope="session")
def compiled_once() -> Iterator[None]:
    """What a compiler made of a module once it makes of it again: mistakes that are planted are
    planted behind it."""
    run = cache(llvm._run)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvm, "_run", lambda command, *about: run(tuple(command), *about))
        yield
