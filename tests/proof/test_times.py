"""Orders of moments, held to trying all times."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from rspverify.proof.times import Before, find_times


@pytest.mark.parametrize("seed", range(8))
def test_times_are_found_exactly_where_there_are_some(seed: int) -> None:
    """All times of few moments are tried instead, and what is found holds."""
    random, found = Random(seed), 0
    for _ in range(250):
        moments = random.randint(2, 5)

        def claim(moments: int = moments) -> Before:
            return Before(*random.sample(range(moments), 2), strictly=random.random() < 0.5)

        clauses = [
            tuple(claim() for _ in range(random.randint(1, 3)))
            for _ in range(random.randint(1, 3 * moments))
        ]
        every = product(range(moments), repeat=moments)
        possible = any(all(any(it.holds(t) for it in c) for c in clauses) for t in every)
        times = find_times(moments, clauses)
        assert (times is not None) is possible
        if times is not None:
            found += 1
            assert all(any(each.holds(times) for each in clause) for clause in clauses)
    assert 25 < found < 225
