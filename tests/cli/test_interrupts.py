"""An interrupt is never lost, wherever it hits."""

from __future__ import annotations

import sys
import time

import pytest

from rspverify.cli import _silently


class _Hit:
    """Its destructor is hit by an interrupt, as one of the solver's library may be."""

    def __del__(self) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_in_a_destructor_is_raised_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", _silently)
    hit = _Hit()
    with pytest.raises(KeyboardInterrupt):
        del hit
        time.sleep(5)
    assert "Traceback" not in capsys.readouterr().err
