"""The measurement of both ways to hunt: it runs, and they agree."""

from __future__ import annotations

import re

import pytest

from bench.unknown.__main__ import main


def test_both_ways_are_measured_and_agree(capsys: pytest.CaptureFixture[str]) -> None:
    main(events=2, threads=2, seconds=60, enumerate_too=True)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert "428 programs, 26 to decide" in lines[0]
    for name, (one, other) in zip(
        ("original", "proposed"), zip(lines[1:3], lines[3:5], strict=True), strict=True
    ):
        assert re.match(rf"by programs, {name}: ", one)
        assert re.match(rf"by formula, {name}, 2 operations: ", other)
        assert ("sound" in one) == ("sound" in other) == (name == "proposed")
