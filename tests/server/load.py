"""Clients that type at once: `python -m server.load 50 30`, in the folder tests: how long each waits.

Each types a comment into an example, letter by letter, so that every question is a new one, as fast
as people type, and asks as the page does: once for each pause of 100 ms, why it is so 250 ms later.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from server.instances import Instance, family, serving, shipped

EXAMPLES = (
    ("schemes/original.yaml", "litmus/rsp/paper/Fig4.litmus"),
    ("schemes/proposed.yaml", "litmus/rsp/paper/Fig4.litmus"),
    ("schemes/original.yaml", "litmus/rsp/paper/Fig5.litmus"),
    ("schemes/proposed.yaml", "litmus/rsp/paper/Ex4.litmus"),
)
_KEY, _PAUSE = 0.2, 0.25
"""Seconds between two keys, on the average; the share of keys after which one pauses to look."""


@dataclass
class Clients:
    """What the clients met: seconds until the verdict and until the explanation, by client."""

    verdicts: dict[int, list[float]] = field(default_factory=dict)
    answers: dict[int, list[float]] = field(default_factory=dict)
    refused: int = 0


async def ask(port: int, client: int, question: dict[str, object]) -> tuple[float, int]:
    """Seconds until an answer is whole, and its status."""
    started = time.perf_counter()
    body = json.dumps(question).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-Page: {client}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    try:
        writer.write(head.encode() + body)
        text = await reader.read()
    finally:
        writer.close()
    return time.perf_counter() - started, int(text.split(b" ", 2)[1])


async def typing(port: int, client: int, seconds: float, met: Clients) -> None:
    """One who types and pauses, by turns."""
    draw = random.Random(client)
    scheme, test = (shipped(each) for each in EXAMPLES[client % len(EXAMPLES)])
    verdicts, answers = met.verdicts.setdefault(client, []), met.answers.setdefault(client, [])
    typed, until = "", time.perf_counter() + seconds
    await asyncio.sleep(draw.random())
    while time.perf_counter() < until:
        for _ in range(draw.randint(2, 8)):  # faster than 100 ms: not asked
            typed += draw.choice("abcdefgh ")
            await asyncio.sleep(draw.uniform(0.4, 1.6) * _KEY)
        edited = {"test": f"{test}\n(* {client} {typed} *)", "scheme": scheme}
        if client % 2:
            edited = {"test": test, "scheme": f"{scheme}\n# {client} {typed}\n"}
        took, status = await ask(port, client, {"kind": "verdict", **edited})
        met.refused += status != 200
        verdicts.append(took)
        if draw.random() < _PAUSE:
            await asyncio.sleep(0.25)
            took, _ = await ask(port, client, {"kind": "answer", **edited})
            answers.append(took)


def share(times: list[float], of: float) -> float:
    """The time within which such a share of them is, in milliseconds."""
    return sorted(times)[min(len(times) - 1, int(of * len(times)))] * 1_000 if times else 0.0


def seconds_of(instance: Instance) -> float:
    """Seconds of CPU of the server and its workers by now."""
    ticks = 0
    for pid in family(instance.pid):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


async def together(port: int, clients: int, seconds: float) -> Clients:
    met = Clients()
    await asyncio.gather(*(typing(port, client, seconds, met) for client in range(clients)))
    return met


def main(clients: int, seconds: float) -> None:
    """Say how long they waited."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder), "--workers", "2") as instance,
    ):
        asyncio.run(together(instance.port, min(clients, 10), 3))
        before, began = seconds_of(instance), time.perf_counter()
        met = asyncio.run(together(instance.port, clients, seconds))
        used, took = seconds_of(instance) - before, time.perf_counter() - began
    every = [each for times in met.verdicts.values() for each in times]
    why = [each for times in met.answers.values() for each in times]
    fewest = min(len(times) for times in met.verdicts.values())
    slowest = max(share(times, 0.5) for times in met.verdicts.values() if times)
    print(f"{clients} clients, {took:.0f} s, {len(every)} verdicts, {len(why)} explanations")
    print(
        f"verdict: median {share(every, 0.5):.0f} ms, p95 {share(every, 0.95):.0f} ms, most {share(every, 1):.0f} ms"
    )
    print(f"why: median {share(why, 0.5):.0f} ms, p95 {share(why, 0.95):.0f} ms")
    print(
        f"no client had fewer than {fewest} verdicts, or waited longer than {slowest:.0f} ms in its median"
    )
    print(
        f"{met.refused} refused; the server used {used:.1f} s of CPU, {used / took * 50:.0f} % of 2 cores"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
