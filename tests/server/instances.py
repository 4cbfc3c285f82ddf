"""A server for tests: the command itself, in a process of its own, on a free port."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Event = tuple[str, Any]


@dataclass(frozen=True)
class Reply:
    """What a server says: events of an answer, or a refusal in words."""

    status: int
    text: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def events(self) -> list[Event]:
        parts = [part for part in self.text.split("\n\n") if part]
        found = [re.fullmatch(r"event: (.*)\ndata: (.*)", part, re.DOTALL) for part in parts]
        return [(it[1], json.loads(it[2])) for it in found if it]

    def of(self, name: str) -> list[Any]:
        """What the events of a name tell."""
        return [data for each, data in self.events if each == name]


@dataclass(frozen=True)
class Instance:
    """A server that runs."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, named)
            response = connection.getresponse()
            text = response.read().decode("utf-8", "replace")
            found = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, text, found)
        finally:
            connection.close()

    def post(self, body: bytes, **headers: str) -> Reply:
        headers = {"Content_Type": "application/json"} | headers
        return self.request("POST", "/ask", body, **headers)

    def ask(self, kind: str = "verdict", **texts: Any) -> Reply:
        return self.post(json.dumps({"kind": kind, **texts}).encode())


@contextmanager
def serving(cache: Path, *options: str, end: signal.Signals = signal.SIGINT) -> Iterator[Instance]:
    """A server with a cache of its own; nothing of it is left afterwards."""
    words = [sys.executable, "-m", "rspverify", "serve", "--port", "0", *options]
    process = subprocess.Popen(
        words,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cache,
        env={**os.environ, "RSPVERIFY_CACHE": str(cache / "answers"), "TMPDIR": str(cache)},
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"http://[^:]*:(\d+)/", said)
        assert found, said + process.stderr.read()
        yield Instance(int(found[1]), process.pid)
    finally:
        process.send_signal(end)
        try:
            process.wait(20)
            said = process.stderr.read()
            assert said == "", f"when it is ended it says: {said}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def shipped(path: str) -> str:
    from rspverify.shipped import located

    return located(path).read_text(encoding="utf-8")


def family(pid: int) -> list[int]:
    """A process and all that it has started, directly or not; this is for Linux."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found = [pid]
    for each in found:
        found += children.get(each, [])
    return found


def memory_of(pid: int) -> int:
    """Bytes that a server and its workers have to themselves, what they share counted in part."""
    total = 0
    for each in family(pid):
        try:
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
        except OSError:
            continue
        total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1]) * 1024  # type: ignore[index]
    return total
