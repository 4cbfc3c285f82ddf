"""Work on a cluster: the same as without one, whatever is killed, and nothing left behind."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from caching import answers, started
from cluster_processes import ROOT, Processes, free_port, kill
from cluster_work import Doubled, Planted, Square, Squares
from typer.testing import CliRunner

from rspverify.api.judges import judge_of
from rspverify.cli import app
from rspverify.engineering.hunt import by_programs
from rspverify.judge import cluster as cluster_module
from rspverify.judge.cluster import PATIENCE, Cluster
from rspverify.judge.fingerprint import fingerprint
from rspverify.judge.judge import Judge, cache_folder
from rspverify.limits import LimitReached
from rspverify.source import InputError

pytest.importorskip("distributed", reason="dask.distributed is not installed")

SCHEMES = ("schemes/original.yaml", "schemes/proposed.yaml")
FIG4 = "litmus/rsp/paper/Fig4.litmus"


@pytest.fixture(scope="module")
def started_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    found = Processes(tmp_path_factory.mktemp("cluster"))
    yield found
    found.end()


@pytest.fixture
def processes(started_once: Processes) -> Processes:
    """A scheduler and two workers that tests may kill."""
    started_once.complete(workers=2)
    wait_for_workers(started_once, 2)
    return started_once


def wait_for_workers(processes: Processes, count: int) -> None:
    from distributed import Client

    with Client(processes.address, set_as_default=False, timeout=100) as client:
        client.wait_for_workers(count, timeout=100)


def silent_but_for_losses(message: str) -> None:
    """A machine that is busy with other tests may miss workers for a moment, and then says so."""
    if not message.startswith("lost of the cluster's workers"):
        pytest.fail(message)


def judge_by(
    cluster: Cluster, *, cached: bool = False, warn: Callable[[str], Any] = silent_but_for_losses
) -> Judge:
    return Judge(cache_folder(cached, pytest.fail), warn, cluster=cluster)


def doubles(count: int) -> list[Doubled]:
    return [Doubled(number) for number in range(count)]


def test_tasks_are_called_by_what_they_are_for(local: Cluster) -> None:
    local.client.wait_for_workers(2, timeout=100)

    def keys(dask_scheduler: Any) -> set[Any]:
        return {(it.prefix.name, key) for key, it in dask_scheduler.tasks.items()}

    before = local.client.run_on_scheduler(keys)
    coming = judge_by(local).run(doubles(1000))
    assert next(coming) == 0
    new = local.client.run_on_scheduler(keys) - before
    assert {name for name, _ in new} <= {"doubling", "send"}
    assert any(key[1].startswith("the double of ") for _, key in new)
    coming.close()


def test_workers_that_are_back_are_seen(local: Cluster) -> None:
    """Where the last look, long ago, found none."""
    local.client.wait_for_workers(2, timeout=100)
    local._workers, local._looked, local._answered = (), 0.0, 0.0
    assert local.workers == 2


def test_the_time_without_workers_begins_when_they_are_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not at the last look of a run before; until it is over, no sum divides by none."""
    cluster = Cluster("tcp://127.0.0.1:1")
    silent = SimpleNamespace(scheduler=SimpleNamespace(ncores=None), sync=Mock(side_effect=OSError))
    for name, value in (("_client", silent), ("_workers", ("one",)), ("_patience", 100.0)):
        monkeypatch.setattr(cluster, name, value)
    assert cluster.look() == 1
    assert (cluster.workers, judge_by(cluster).workers) == (0, 1)
    cluster._looked, cluster._answered = 0.0, cluster._answered - 101
    with pytest.raises(LimitReached, match="its scheduler must answer, and does not, for 100 s"):
        cluster.look()


def test_an_internal_error_is_reported_by_who_asks(
    local: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its files are here, and a folder of a worker is not."""
    monkeypatch.chdir(tmp_path)
    (said,) = judge_by(local).run([Planted(3)])
    (folder,) = tmp_path.glob("rspverify-report-*")
    assert "planted 3" in said and folder.name in said


def test_answers_go_along_and_come_back(local: Cluster) -> None:
    judge = judge_by(local, cached=True)
    judge.keep(Square(5), 25)
    assert list(judge.run([Squares(judge, 5), Squares(judge, 1)])) == [[6], [1, 2]]
    assert [judge.known(Square(each)) for each in (1, 2, 5, 6)] == [1, 4, 25, 36]
    assert list(judge.run([Squares(judge, 1), Squares(judge, 5)])) == [[], []]


def test_without_a_cache_nothing_comes_back(local: Cluster) -> None:
    judge = judge_by(local)
    assert list(judge.run([Squares(judge, 1), Squares(judge, 1)])) == [[1, 2], [1, 2]]


def plain(text: str) -> str:
    """An output without the seconds that it took."""
    text = re.sub(r'"seconds": ?[0-9.e-]+', '"seconds":0', text)
    return re.sub(r"\b[0-9.,]+ s\b", "0 s", text)


def said(*words: object) -> tuple[int, str, str]:
    """How a command ends in this process, and what it says."""
    done = CliRunner().invoke(app, [str(each) for each in words])
    assert "Traceback" not in done.stderr
    return done.exit_code, plain(done.stdout), plain(done.stderr)


HUNT = ("--format", "json", "--threads", "2", "--events", "3")
HUNT += tuple(word for it in ("st.na", "ld.na", "st.DV", "ld.DV") for word in ("--operation", it))


def test_the_same_as_without_and_workers_need_no_file(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By paths that say nothing to workers, which work in another folder."""
    folder = tmp_path / "mine"
    (folder / "my-tests").mkdir(parents=True)
    for name in ("Fig4", "Ex3"):
        shutil.copy(ROOT / f"litmus/rsp/paper/{name}.litmus", folder / "my-tests")
    for each in SCHEMES:
        shutil.copy(ROOT / each, folder)
    monkeypatch.chdir(folder)
    for words in (
        ("check", "original.yaml", "proposed.yaml", "my-tests", "--progress", "--format", "html"),
        ("mutate", "proposed.yaml", "my-tests", "--no-proof", "--format", "json"),
        ("prove", "original.yaml", "proposed.yaml", "--format", "json"),
        ("hunt", "original.yaml", *HUNT, "--no-count"),
        ("hunt", "proposed.yaml", *HUNT, "--by", "programs"),
        ("selftest", "--programs", "3", "--format", "json"),
        ("fuzz", "original.yaml", "--programs", "50", "--format", "json"),
    ):
        caches = [str(tmp_path / f"{name} {' '.join(words)}") for name in "ab"]
        monkeypatch.setenv("RSPVERIFY_CACHE", caches[0])
        here = said(*words, "-j", "1")
        monkeypatch.setenv("RSPVERIFY_CACHE", caches[1])
        if words[0] == "mutate":  # which may be seen only while it is asked
            kill(processes.of("worker"))
            processes.worker()
        with monkeypatch.context() as several:
            several.setattr(by_programs, "CHUNK", 12)
            code, output, errors = said(*words, "--cluster", processes.address)
        errors = re.sub("warning: lost of the cluster's workers: 1;.*\n", "", errors)
        assert (code, output, errors) == here
        assert words[0] == "hunt" or answers(Path(caches[1])) == answers(Path(caches[0]))


def test_what_is_killed_costs_nothing(processes: Processes, cache_folder: Path) -> None:
    """First a worker, then the other, then the scheduler, and with it all that was sent."""
    cluster = Cluster(processes.address)
    said: list[str] = []
    judge = judge_by(cluster, cached=True, warn=said.append)
    found = []
    for result in judge.run([Square(number) for number in range(120)]):
        found.append(result)
        if len(found) in (10, 40, 70):
            kill(processes.of("scheduler" if len(found) == 70 else "worker"))
            processes.complete(workers=2)
        if len(found) == 70:  # workers end with their scheduler
            processes.worker()
    cluster.close()
    assert found == [number * number for number in range(120)]
    assert answers(cache_folder) == 120
    assert said and all(it.startswith("lost of the cluster's workers: ") for it in said)


CHECK = ("check", *SCHEMES, "--engine", "explicit", "--format", "json")


def results(output: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(output)["results"]
    return found


@pytest.mark.usefixtures("in_repository")
def test_an_interrupt_ends_all_of_it(processes: Processes, cache_folder: Path) -> None:
    process = started(*CHECK, "litmus/rsp/MP", "--cluster", processes.address)
    while answers(cache_folder) < 12:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, errors = process.communicate(timeout=200)
    assert (process.returncode, errors) == (130, "")
    decided = {each["file"] for each in results(output)}
    _, output, _ = said(*CHECK, *sorted(decided), "-j", "1")
    assert decided and sum(not each["cached"] for each in results(output)) <= 1


@pytest.mark.usefixtures("in_repository")
def test_a_worker_of_another_version_is_refused(processes: Processes, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "rspverify", other / "rspverify", symlinks=False)
    (other / "rspverify/more.py").write_text("")
    foreign = processes.worker(other)
    wait_for_workers(processes, 3)
    code, output, errors = said(*CHECK, FIG4, "--cluster", processes.address)
    kill(foreign)
    own, its = fingerprint()[:12], fingerprint(package=other / "rspverify")[:12]
    assert code == 2 and not output.strip().startswith("{")
    assert f" must run rspverify {own}, not {its}" in errors


def test_a_cluster_that_is_gone_is_said_and_answers_are_kept(
    processes: Processes, cache_folder: Path
) -> None:
    import dask

    with dask.config.set({PATIENCE: "3s"}):
        cluster = Cluster(processes.address)
        judge = judge_by(cluster, cached=True)
        found = []
        with pytest.raises(LimitReached) as met:
            for result in judge.run([Square(number) for number in range(10_000)]):
                found.append(result)
                if len(found) == 20:
                    kill(processes.of("scheduler"))
    said = f"{processes.address}: the connection was lost, and is not back in 3 s"
    assert str(met.value) == said
    assert found == [number * number for number in range(len(found))]
    assert answers(cache_folder) >= len(found) >= 20
    with pytest.raises(LimitReached, match=re.escape(said)):  # at once
        next(judge.run(doubles(1)))
    cluster.close()


@pytest.mark.parametrize("address", ["local:0", "local:", "local", "somewhere", "tcp://host", ""])
def test_an_address_must_be_one(address: str) -> None:
    with pytest.raises(InputError, match=r"^--cluster must be local:N or the address of a sch"):
        Cluster(address)


@pytest.mark.parametrize("protocol", ["tcp", "tls", "unheard-of"])
def test_a_scheduler_must_be_there(protocol: str) -> None:
    """Without a certificate, or a way to speak to it, there is none either."""
    import dask

    with dask.config.set({PATIENCE: "1s"}):
        message = (
            r"^--cluster must be the address of a scheduler, not [a-z-]+://127\.0\.0\.1:\d+: .*"
        )
        with pytest.raises(InputError, match=message):
            _ = Cluster(f"{protocol}://127.0.0.1:{free_port()}").workers


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"hint: python -m pip install 'rspverify\[cluster\]'"):
        Cluster("tcp://127.0.0.1:1")


def test_local_workers_are_processes() -> None:
    assert judge_of(cluster="local:3", cache=False).workers == 3


def test_jobs_and_a_cluster_are_too_many() -> None:
    done = CliRunner().invoke(app, [*CHECK, FIG4, "--cluster", "local:2", "-j", "2"])
    assert done.exit_code == 2
    assert done.stderr.startswith("--jobs must be left out with --cluster")


def test_without_a_cluster_its_library_is_not_loaded() -> None:
    words = [sys.executable, "-X", "importtime", "-m", "rspverify", "check", SCHEMES[0]]
    done = subprocess.run([*words, FIG4, "-j", "2"], cwd=ROOT, stderr=-1, stdout=-1, text=True)
    modules = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "rspverify.judge.judge" in modules
    assert not {"dask", "distributed", "rspverify.judge.cluster"} & modules
