"""Inputs that are meant to harm a server: `python -m server.hostile 10000`, in the folder tests.

Deterministic by a seed. Whatever comes, the server stays up, its memory is bounded, no file is
told, and every answer is a mistake at its place, a refusal, a limit, or a verdict.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any

import yaml
from server.instances import Instance, Reply, memory_of, serving, shipped

SECRET = "a-line-that-nobody-may-read"
_AT_A_TIME = 100
"""So many attacks are drawn before the next: they may be large."""
TESTS = ("litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Fig5.litmus")


@dataclass(frozen=True)
class Attack:
    """A request. name: its kind."""

    name: str
    body: bytes
    method: str = "POST"
    path: str = "/ask"


TABLE: dict[str, list[tuple[str, dict[str, Any]]]] = yaml.safe_load(
    Path(__file__).with_name("attacks.yaml").read_text()
)
MARKUP = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\u202e\u2066evil",
    "{{7*7}}",
    "]]><svg/onload=alert(1)>",
    "\ud800",
    "\ufeff\u0000",
)


class Words(dict[str, str]):
    """What is drawn for one attack: a method for each word, asked once. secret: must not be told."""

    def __init__(self, drawing: random.Random, secret: Path) -> None:
        super().__init__()
        self._random, self._secret = drawing, secret
        self._depth = drawing.choice((10, 100, 1_000, 10_000, 60_000))
        self._size = drawing.choice((100, 5_000, 40_000, 90_000))

    def __missing__(self, word: str) -> str:
        self[word] = str(getattr(self, word)())
        return self[word]

    # ---- deep ----

    def nested(self) -> str:
        opening, closing = self._random.choice(("[]", "{}", "()"))
        return opening * self._depth + "1" + closing * self._depth

    def opening(self) -> str:
        return self._random.choice("[{(") * self._depth

    def brackets(self) -> str:
        return "[" * self._depth + "]" * self._depth

    def block(self) -> str:
        return "\n".join("  " * place + "a:" for place in range(min(self._depth, 300)))

    def ifs(self) -> str:
        depth = min(self._depth, 3_000)
        return "if (r0 == 1) { " * depth + "r1 = *x;" + "}" * depth

    def unary(self) -> str:
        return "!" * min(self._depth, 30_000)

    def comments(self) -> str:
        return "(*" * min(self._depth, 30_000)

    def nots(self) -> str:
        return "~(" * min(self._depth, 20_000)

    def closures(self) -> str:
        return "^+" * self._depth

    def bomb(self) -> str:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        levels = range(1, self._random.randint(2, 30))
        return "\n".join(
            [*lines, *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in levels)]
        )

    # ---- long ----

    def digits(self) -> str:
        return "9" * self._size

    def letters(self) -> str:
        return "a" * min(self._size, 5_000 * self._random.choice((1, 20)))

    def rows(self) -> str:
        return "  - {op: load, scope: dv, code: [LD r x]}\n" * (self._size // 50)

    def code(self) -> str:
        return ", ".join(["INV_L1 WG"] * (self._size // 20))

    def stores(self) -> str:
        how = "memory_order_release, memory_scope_device"
        many = range(self._size // 100)
        return "\n".join(f"  atomic_store_explicit(y, {n}, {how});" for n in many)

    def unroll(self) -> int:
        return self._random.choice((1, 3, 8, 16))

    def crowd(self) -> str:
        choice, operations = self._random.choice, range(self._random.randint(1, 12))
        threads = range(self._random.randint(3, 40))
        places = [f"l{n}" for n in range(self._random.randint(1, 6))]
        parameters = ", ".join(f"global atomic_int* {each}" for each in places)

        def line(n: int) -> str:
            value = choice(("1", f"r{n - 1}" if n else "2"))
            how = "memory_order_seq_cst, memory_scope_device"
            return f"  int r{n} = atomic_fetch_add_explicit({choice(places)}, {value}, {how});\n"

        texts = [f"P{n} ({parameters}) {{\n{''.join(map(line, operations))}}}\n" for n in threads]
        initial = " ".join(f"[{each}]=0;" for each in places)
        tree = " ".join(f"(work_group P{n})" for n in threads)
        return (
            f"OpenCL crowd\n{{ {initial} }}\n{''.join(texts)}\n"
            f"scopeTree (device {tree})\nexists (0:r0=0)\n"
        )

    def doubled(self) -> str:
        return "".join(f"let a{n + 1} = a{n} ; a{n} | a{n}^+\n" for n in range(int(self["many"])))

    def functions(self) -> str:
        return "".join(f"let f{n + 1}(x) = f{n}(f{n}(x))\n" for n in range(int(self["many"])))

    def abbreviations(self) -> str:
        return "".join(
            f"define d{n + 1}(x) = d{n}(x) and d{n}(x)\n" for n in range(int(self["many"]))
        )

    def many(self) -> int:
        return self._random.choice((10, 30, 60, 300))

    # ---- names and markup ----

    def name(self) -> str:
        secret = str(self._secret)
        others = (f"./{self._secret.name}", "/etc/passwd", "/proc/self/environ")
        return self._random.choice((secret, f"../../..{secret}", *others, f"{secret}\x00.machine"))

    def quoted(self) -> str:
        return json.dumps(self["name"])

    def quoted_machine(self) -> str:
        return json.dumps(self["name"] + ".machine")

    def markup(self) -> str:
        return self._random.choice(MARKUP)

    def quoted_markup(self) -> str:
        return json.dumps(self["markup"])

    def noise(self) -> str:
        return "".join(
            chr(self._random.randrange(256)) for _ in range(self._random.randint(0, 400))
        )

    def printed_noise(self) -> str:
        return self["noise"].replace("\0", "")

    # ---- what ships, and what becomes of it ----

    def scheme(self) -> str:
        return shipped("schemes/proposed.yaml")

    def original(self) -> str:
        return shipped("schemes/original.yaml")

    def full(self) -> str:
        return shipped("schemes/proposed-full.yaml")

    def machine(self) -> str:
        return _machine("rsp")

    def mutated_scheme(self) -> str:
        return self._mutated([self[each] for each in ("scheme", "original", "full")])

    def mutated_test(self) -> str:
        return self._mutated([shipped(each) for each in TESTS])

    def mutated_model(self) -> str:
        return self._mutated([_model("opencl-rsp"), _model("opencl")])

    def mutated_machine(self) -> str:
        return self._mutated([_machine(it) for it in ("rsp", "rsp-lines", "amdgpu-gfx9")])

    def _mutated(self, texts: Sequence[str]) -> str:
        text = self._random.choice(texts)
        for _ in range(self._random.randint(1, 6)):
            at, other = self._random.randrange(len(text) + 1), self._random.randrange(len(text) + 1)
            low, high = sorted((at, min(other, at + 200)))
            cut = text[low:high]
            between = ("", cut + cut, cut[::-1], self._random.choice('\n{}()-:#~|;9é\t"') + cut)
            text = text[:low] + self._random.choice(between) + text[high:]
        return text


class Attacks:
    """Draws attacks. secret: a file that must not be told."""

    def __init__(self, seed: int, secret: Path) -> None:
        self._random, self._secret = random.Random(seed), secret
        self._usual = {"scheme": shipped("schemes/proposed.yaml"), "test": shipped(TESTS[0])}

    def draw(self) -> Attack:
        """The next one."""
        kind = self._random.choice([*TABLE, "mutated"])
        name, given = self._random.choice(TABLE[kind])
        words = Words(self._random, self._secret)
        found = {field: self._text(field, each, words) for field, each in given.items()}
        method, path = found.pop("method", "POST"), found.pop("path", "/ask")
        if "body" in found:
            code = "latin-1" if name == "noise" else "utf-8"
            return Attack(name, found["body"].encode(code, "surrogatepass"), method, path)
        if path != "/ask":
            return Attack(name, b"", method, path.replace("\x00", "%00"))
        question = {"kind": self._random.choice(("verdict", "verdict", "answer"))}
        return Attack(name, json.dumps({**question, **self._usual, **found}).encode())

    def _text(self, field: str, given: Any, words: Words) -> Any:
        if isinstance(given, dict):
            text = self._usual[field]
            for old, new in given.items():
                text = text.replace(old, Template(new).substitute(words))
            return text
        text = Template(given).substitute(words) if isinstance(given, str) else given
        if field in ("model", "machine", "corpus"):
            return text[:99]
        return int(text) if given == "$unroll" else text


def _model(name: str) -> str:
    from rspverify.axiomatic.library import model_texts

    return next(iter(model_texts(name).values()))


def _machine(name: str) -> str:
    from rspverify.architecture.machines import text_of

    return text_of(name)


def wrong(attack: Attack, reply: Reply) -> str:
    """What is wrong with a reply; empty if nothing is."""
    if not reply.status:
        return f"no reply: {reply.text}"
    if SECRET in reply.text or "root:x:0" in reply.text:
        return "it tells a file"
    if "Traceback" in reply.text:
        return "it has a traceback"
    if reply.status == 500:
        return f"status 500: {reply.text[:200]}"
    if reply.status != 200 or attack.path != "/ask":
        return ""
    if attack.method != "POST" or not reply.events:
        return f"no event: {reply.text[:200]!r}"
    name, data = reply.events[-1]
    if name == "failed" and "internal error" in data["message"]:
        return data["message"]
    if "internal error" in reply.text:
        return next(f"{data}" for _, data in reply.events if "internal error" in f"{data}")
    return "" if name in ("end", "failed") else f"it ends with {name}"


def outcome(reply: Reply) -> str:
    """What came of it, in a word."""
    if reply.status != 200:
        return f"refused {reply.status}"
    events = dict(reply.events)
    if "failed" in events:
        message = events["failed"]["message"]
        known = (each for each in ("seconds", "memory", "bytes") if each in message)
        return f"limit: {next(known, message[:40])}"
    if "verdict" in events:
        return str(events["verdict"]["verdict"])
    return "mistakes" if events.get("read", {}).get("problems") else "page"


def attacked(
    instance: Instance, attacks: Iterator[Attack], clients: int = 4
) -> Iterator[tuple[Attack, Reply]]:
    """Each attack with what came of it, by some clients at a time."""

    def reply(attack: Attack) -> Reply:
        try:
            return instance.request(
                attack.method, attack.path, attack.body, Content_Type="application/json"
            )
        except Exception as error:
            return Reply(0, f"{type(error).__name__}: {error}")

    with ThreadPoolExecutor(clients) as pool:
        while some := list(islice(attacks, _AT_A_TIME)):
            yield from zip(some, pool.map(reply, some), strict=True)


def main(number: int, seed: int) -> int:
    """Attack so many times; how many replies are wrong."""
    with tempfile.TemporaryDirectory() as folder:
        secret = Path(folder, "secret.cat")
        for ending in ("", ".machine", ".cat", ".yaml"):
            Path(folder, f"secret.cat{ending}").write_text(f"let {SECRET}\n")
        drawn = Attacks(seed, secret)
        met, outcomes, most, bad = Counter[str](), Counter[str](), 0, 0
        started = time.perf_counter()
        options = ("--public", "--timeout", "3", "--memory", "1536")
        with serving(Path(folder), *options) as instance:
            coming = attacked(instance, (drawn.draw() for _ in range(number)))
            for place, (attack, reply) in enumerate(coming, 1):
                met[attack.name] += 1
                outcomes[outcome(reply)] += 1
                if reason := wrong(attack, reply):
                    bad += 1
                    print(f"{attack.name}: {reason[:300]}", flush=True)
                    Path(tempfile.gettempdir(), f"hostile-{bad}.json").write_bytes(attack.body)
                if place % 100 == 0:
                    most = max(most, memory_of(instance.pid))
                if place % 1_000 == 0:
                    print(
                        f"{place} in {time.perf_counter() - started:.0f} s, at most {most / 2**20:.0f} MiB",
                        flush=True,
                    )
            alive = instance.request("GET", "/").status == 200
        print(f"{number} attacks of {len(met)} kinds in {time.perf_counter() - started:.0f} s")
        print(
            f"the server {'answers' if alive else 'does not answer'}; it had at most {most / 2**20:.0f} MiB"
        )
        for name, count in outcomes.most_common():
            print(f"{count:7} {name}")
        return bad + (not alive)


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)))
