"""Who decides: so many processes, with a cache or without."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING

from rspverify.judge.judge import Judge as Judge
from rspverify.judge.judge import cache_folder
from rspverify.judge.verdicts import answers_may_be_kept
from rspverify.soundness.settings import Settings
from rspverify.source import require

if TYPE_CHECKING:
    from rspverify.judge.store import Warn


def judge_of(
    jobs: int | None = None,
    *,
    cluster: str | None = None,
    cache: bool = True,
    settings: Settings | None = None,
    warn: Warn = warnings.warn,
) -> Judge:
    """Who decides questions: `jobs` processes, by default as many as there are cores.

    cluster: the address of a scheduler of dask.distributed whose workers decide instead; then `end`
    the judge, or use it in a `with`. `local:N` is N processes. A judge is for one thread.
    cache: whether answers are looked up in the user's cache, and kept there; under some settings
    (`confirm`, `smt_dir`) they never are. warn: told of what is wrong with the cache.
    """
    kept = cache and (settings is None or answers_may_be_kept(settings))
    require(jobs is None or jobs >= 1, f"--jobs must be 1 or more, not {jobs}")
    folder = cache_folder(kept, warn)
    if cluster is None:
        return Judge(folder, warn, jobs or os.cpu_count() or 1)
    require(jobs is None, "--jobs must be left out with --cluster, whose workers are counted")
    if here := re.fullmatch(r"local:([1-9]\d*)", cluster, re.ASCII):
        return Judge(folder, warn, int(here[1]))
    from rspverify.judge.cluster import Cluster

    return Judge(folder, warn, cluster=Cluster(cluster))


def chosen(judge: Judge | None, settings: Settings) -> Judge:
    """Who decides a question with these settings: never by a cache where these forbid it."""
    if judge is None:
        return judge_of(settings=settings)
    return judge if answers_may_be_kept(settings) else judge.uncached()
