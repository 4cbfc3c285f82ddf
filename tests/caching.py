"""Runs of checks with a cache, for tests: which results were decided, and what was warned of."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rspverify.answers import Result
from rspverify.judge.judge import Judge, cache_folder
from rspverify.judge.run import read_inputs
from rspverify.judge.store import FILE, Store
from rspverify.records import replace
from rspverify.soundness.settings import Engine, Settings

ROOT = Path(__file__).resolve().parents[1]
QUICK = Settings(engine=Engine.EXPLICIT)


@dataclass(frozen=True)
class Ran:
    """A run: its results in order, and its warnings."""

    results: list[Result]
    warnings: list[str]

    @property
    def decided(self) -> set[tuple[str, str]]:
        """What did not come from the cache, as title and scheme."""
        return {(each.test, each.scheme) for each in self.results if not each.cached}

    @property
    def plain(self) -> list[Result]:
        """The results but for what tells a cached one from another."""
        return [replace(each, cached=False, seconds=0.0) for each in self.results]


def ran(
    schemes: Iterable[Path | str],
    tests: Iterable[Path | str],
    settings: Settings = QUICK,
    *,
    jobs: int = 1,
    cached: bool = True,
) -> Ran:
    """A run with the cache that RSPVERIFY_CACHE names, in this process and its workers."""
    warnings: list[str] = []
    judge = Judge(cache_folder(cached, warnings.append), warnings.append, jobs)
    run = read_inputs([str(each) for each in schemes], settings, judge)
    return Ran(list(run.results([str(each) for each in tests])), warnings)


def answers(folder: Path) -> int:
    """How many answers a cache has."""
    if not (folder / FILE).exists():
        return 0
    store = Store(folder, pytest.fail)
    entries, _ = store.size()
    store.close()
    return entries


def started(*words: str, where: Path = ROOT, **environment: str) -> subprocess.Popen[str]:
    """A command as a process of its own, with children that can be told from others."""
    return subprocess.Popen(
        [sys.executable, "-m", "rspverify", *words],
        cwd=where,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def edited(source: Path, target: Path, old: str, new: str) -> Path:
    """A copy of a file with one stretch of text replaced."""
    text = source.read_text()
    assert text.count(old) == 1, old
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text.replace(old, new))
    return target
