"""Inputs that are meant to harm a server: `python -m server.hostile 10000`, in the folder tests.

Deterministic by a seed. Whatever comes, the server stays up, its memory is bounded, no file is
told, and every answer is a mistake at its place, a refusal, a limit, or a verdict.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from server.instances import Instance, Reply, memory_of, serving, shipped

SECRET = "a-line-that-nobody-may-read"
SCHEMES = ("schemes/proposed.yaml", "schemes/original.yaml", "schemes/proposed-full.yaml")
TESTS = ("litmus/rsp/paper/Fig4.litmus", "litmus/rsp/paper/Fig5.litmus")


@dataclass(frozen=True)
class Attack:
    """A request. name: its kind."""

    name: str
    body: bytes
    method: str = "POST"
    path: str = "/ask"


class Attacks:
    """Draws attacks. secret: a file that must not be told."""

    def __init__(self, seed: int, secret: Path) -> None:
        self._random = random.Random(seed)
        self._secret = secret
        self._schemes = [shipped(each) for each in SCHEMES]
        self._tests = [shipped(each) for each in TESTS]
        self._models = [_model("opencl-rsp"), _model("opencl")]
        self._machines = [_machine("rsp"), _machine("rsp-lines"), _machine("amdgpu-gfx9")]

    def draw(self) -> Attack:
        """The next one."""
        make = self._random.choice(self._kinds)
        return make(self)

    # ---- texts ----

    def _ask(self, name: str, **texts: object) -> Attack:
        question = {"kind": self._random.choice(("verdict", "verdict", "answer"))}
        usual = {"scheme": self._schemes[0], "test": self._tests[0]}
        return Attack(name, json.dumps({**question, **usual, **texts}).encode())

    def _deep(self) -> Attack:
        depth = self._random.choice((10, 100, 1_000, 10_000, 60_000))
        opening, closing = self._random.choice(("[]", "{}", "()"))
        nested = opening * depth + "1" + closing * depth
        block = "\n".join("  " * place + "a:" for place in range(min(depth, 300)))
        ifs = "if (r0 == 1) { " * min(depth, 3_000) + "r1 = *x;" + "}" * min(depth, 3_000)
        unary = "!" * min(depth, 30_000) + "r0"
        body = self._tests[0]
        return self._random.choice(
            (
                lambda: self._ask("deep YAML", scheme=f"name: x\nrows: {nested}"),
                lambda: self._ask("deep YAML", scheme=f"name: x\nrows:\n{block}"),
                lambda: self._ask("deep test", test=body.replace("42", nested)),
                lambda: self._ask("deep test", test=body.replace("r1 = *x;", ifs)),
                lambda: self._ask("deep test", test=body.replace("r0 == 1", f"{unary} == 1")),
                lambda: self._ask("deep test", test="OpenCL t\n" + "(*" * min(depth, 30_000)),
                lambda: self._ask(
                    "deep condition",
                    test=body.replace("exists (", f"exists {'~(' * min(depth, 20_000)}"),
                ),
                lambda: self._ask("deep model", own_model=f'"m"\nlet a = {nested}\nacyclic a'),
                lambda: self._ask(
                    "deep model", own_model=f'"m"\nlet a = rf{"^+" * depth}\nacyclic a'
                ),
                lambda: self._ask("deep machine", own_machine=self._machines[0] + nested),
                lambda: Attack("deep JSON", (opening * depth).encode()),
                lambda: Attack("deep JSON", b'{"kind":' + b"[" * depth + b"]" * depth + b"}"),
            )
        )()

    def _aliases(self) -> Attack:
        levels = self._random.randint(2, 30)
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
        tags = ("!!python/object/apply:os.system [id]", "!!binary aGk=", "&x [*x]", "<<: *a0")
        tagged = f"name: {self._random.choice(tags)}\nrows: []"
        return self._ask("aliases", scheme=self._random.choice(("\n".join(lines), tagged)))

    def _huge(self) -> Attack:
        size = self._random.choice((100, 5_000, 40_000, 90_000))
        digits, name = "9" * size, "a" * size
        rows = self._schemes[0] + "  - {op: load, scope: dv, code: [LD r x]}\n" * (size // 50)
        code = ", ".join(["INV_L1 WG"] * (size // 20))
        long_code = self._schemes[0].replace("LD r x, INV_L1 WG", f"LD r x, {code}")
        many = "\n".join(
            f"  atomic_store_explicit(y, {n}, memory_order_release, memory_scope_device);"
            for n in range(size // 100)
        )
        body = self._tests[0]
        return self._random.choice(
            (
                lambda: self._ask("huge value", test=body.replace("42", digits)),
                lambda: self._ask("huge name", test=body.replace("x", name[:5_000])),
                lambda: self._ask("huge title", test=body.replace("Fig4", name)),
                lambda: self._ask("huge table", scheme=rows),
                lambda: self._ask("long code", scheme=long_code),
                lambda: self._ask("many stores", test=body.replace("  *x = 42;", many)),
                lambda: self._ask("huge number", unroll=int("9" * 30)),
                lambda: self._ask("huge body", test=name * 30),
            )
        )()

    def _loops(self) -> Attack:
        body, unroll = self._tests[0], self._random.choice((1, 3, 8, 16))
        loop = self._random.choice(
            (
                "while (1) { r1 = *x; }",
                "for (int i = 0; i < 1000000; i++) { r1 = r1 + *x; }",
                "while (*x == 0) { while (*x == 0) { while (*x == 0) { r1 = r1 + 1; } } }",
                "for (;;) { atomic_fetch_add_explicit(y, 1, memory_order_acq_rel, memory_scope_device); }",
                "do { r1 = r1 * r1 + *x; } while (r1 != 7);",
            )
        )
        return self._ask("loops", test=body.replace("r1 = *x;", loop), unroll=unroll)

    def _crowd(self) -> Attack:
        threads, operations = self._random.randint(3, 40), self._random.randint(1, 12)
        call = "atomic_fetch_add_explicit({}, {}, memory_order_seq_cst, memory_scope_device)"
        places = [f"l{n}" for n in range(self._random.randint(1, 6))]
        parameters = ", ".join(f"global atomic_int* {each}" for each in places)
        texts = []
        for thread in range(threads):
            lines = [
                f"  int r{n} = {call.format(self._random.choice(places), self._random.choice(('1', f'r{n - 1}' if n else '2')))};"
                for n in range(operations)
            ]
            texts.append(f"P{thread} ({parameters}) {{\n" + "\n".join(lines) + "\n}\n")
        initial = "{ " + " ".join(f"[{each}]=0;" for each in places) + " }\n"
        tree = " ".join(f"(work_group P{n})" for n in range(threads))
        text = (
            f"OpenCL crowd\n{initial}{''.join(texts)}\nscopeTree (device {tree})\nexists (0:r0=0)\n"
        )
        scheme = self._random.choice(self._schemes)
        return self._ask(
            "crowd", test=text, scheme=scheme, kind=self._random.choice(("verdict", "answer"))
        )

    def _files(self) -> Attack:
        secret = str(self._secret)
        name = self._random.choice(
            (
                secret,
                f"../../..{secret}",
                f"./{self._secret.name}",
                "/etc/passwd",
                "/proc/self/environ",
                f"{secret}\x00.machine",
            )
        )
        scheme = self._schemes[0]
        return self._random.choice(
            (
                lambda: self._ask(
                    "file of a machine",
                    scheme=scheme.replace(
                        "machine: rsp", f"machine: {json.dumps(name + '.machine')}"
                    ),
                ),
                lambda: self._ask(
                    "file of a machine",
                    scheme=scheme.replace("machine: rsp", f"machine: {json.dumps(name)}"),
                ),
                lambda: self._ask(
                    "file of a model", own_model=f'"m"\ninclude "{name}"\nacyclic rf'
                ),
                lambda: self._ask(
                    "file of a model", own_model=f'"m"\ninclude "{name}.cat"\nacyclic rf'
                ),
                lambda: self._ask(
                    "file of a machine", own_machine=f'machine m "x"\ninclude "{name}"\n'
                ),
                lambda: self._ask(
                    "file of a machine", own_machine=f'machine m "x"\ninclude "{name}.machine"\n'
                ),
                lambda: self._ask("name of a model", model=name[:99]),
                lambda: self._ask("name of a machine", machine=f"{name[:80]}.machine"),
                lambda: self._ask("name of a corpus", kind="corpus", corpus=name[:99]),
                lambda: Attack("path", b"", "GET", f"/files/{name}".replace("\x00", "%00")),
                lambda: Attack("path", b"", "GET", "/built/..%2f..%2f..%2f..%2fetc/passwd"),
                lambda: Attack("path", b"", "GET", "/files/%2e%2e/%2e%2e/etc/passwd"),
                lambda: Attack("path", b"", "GET", f"//{name}".replace("\x00", "%00")),
            )
        )()

    def _markup(self) -> Attack:
        text = self._random.choice(
            (
                "</script><script>alert(1)</script>",
                "<img src=x onerror=alert(1)>",
                "\u202e\u2066evil",
                "{{7*7}}",
                "]]><svg/onload=alert(1)>",
                "\ud800",
                "\ufeff\u0000",
            )
        )
        title = self._tests[0].replace("OpenCL Fig4", f"OpenCL {text}")
        scheme = self._schemes[1].replace("name: original", f"name: {json.dumps(text)}")
        return self._random.choice(
            (
                lambda: self._ask("markup", kind="answer", test=title, scheme=self._schemes[1]),
                lambda: self._ask("markup", kind="answer", scheme=scheme),
                lambda: self._ask("markup", scheme=self._schemes[0].replace("LD r x", text)),
                lambda: Attack("markup", text.encode("utf-8", "surrogatepass")),
            )
        )()

    def _mutated(self) -> Attack:
        key, texts = self._random.choice(
            (
                ("scheme", self._schemes),
                ("test", self._tests),
                ("own_model", self._models),
                ("own_machine", self._machines),
            )
        )
        text = self._random.choice(texts)
        for _ in range(self._random.randint(1, 6)):
            at, other = self._random.randrange(len(text) + 1), self._random.randrange(len(text) + 1)
            low, high = sorted((at, min(other, at + 200)))
            cut = text[low:high]
            text = self._random.choice(
                (
                    text[:low] + text[high:],
                    text[:high] + cut + text[high:],
                    text[:low] + cut[::-1] + text[high:],
                    text[:at]
                    + self._random.choice(
                        (
                            "\n",
                            "{",
                            "}",
                            "(",
                            ")",
                            "-",
                            ":",
                            "#",
                            "~",
                            "|",
                            ";",
                            "9",
                            "é",
                            "\t",
                            '"',
                        )
                    )
                    + text[at:],
                )
            )
        return self._ask(f"mutated {key}", **{key: text})

    def _definitions(self) -> Attack:
        number = self._random.choice((10, 30, 60, 300))
        doubled = "\n".join(f"let a{n + 1} = a{n} ; a{n} | a{n}^+" for n in range(number))
        functions = "\n".join(f"let f{n + 1}(x) = f{n}(f{n}(x))" for n in range(number))
        recursive = "let rec a = rf | (a;b) and b = mo | (b;a;b)"
        machine = self._machines[0]
        abbreviations = "\n".join(
            f"define d{n + 1}(x) = d{n}(x) and d{n}(x)" for n in range(number)
        )
        return self._random.choice(
            (
                lambda: self._ask(
                    "doubled model", own_model=f'"m"\nlet a0 = rf\n{doubled}\nacyclic a{number}'
                ),
                lambda: self._ask(
                    "doubled model",
                    own_model=f'"m"\nlet f0(x) = x;x\n{functions}\nacyclic f{number}(rf)',
                ),
                lambda: self._ask("recursive model", own_model=f'"m"\n{recursive}\nacyclic a'),
                lambda: self._ask(
                    "recursive model", own_model='"m"\ninclude "own.cat"\nacyclic rf'
                ),
                lambda: self._ask(
                    "recursive machine", own_machine='machine m "x"\ninclude "own.machine"\n'
                ),
                lambda: self._ask("doubled machine", own_machine=f"{machine}\n{abbreviations}\n"),
            )
        )()

    def _broken(self) -> Attack:
        noise = bytes(self._random.randrange(256) for _ in range(self._random.randint(0, 400)))
        return self._random.choice(
            (
                lambda: Attack("noise", noise),
                lambda: Attack(
                    "noise", noise, self._random.choice(("PUT", "DELETE", "GET", "OPTIONS"))
                ),
                lambda: Attack(
                    "no question",
                    self._random.choice(
                        (
                            b"",
                            b"null",
                            b"[]",
                            b"1e999",
                            b'{"kind":"verdict"}',
                            b'{"kind":"x","scheme":""}',
                        )
                    ),
                ),
                lambda: Attack(
                    "other types",
                    json.dumps(
                        {"kind": "verdict", "scheme": self._random.choice((1, [], {}, None))}
                    ).encode(),
                ),
                lambda: self._ask("other fields", surplus="x"),
                lambda: self._ask("noise in a text", test=noise.decode("latin-1")),
                lambda: self._ask(
                    "noise in a text", scheme=noise.decode("latin-1").replace("\0", "")
                ),
            )
        )()

    _kinds: tuple[Callable[[Attacks], Attack], ...] = (
        _deep, _aliases, _huge, _loops, _crowd, _files, _markup, _mutated, _mutated, _definitions, _broken,
    )  # fmt: skip


def _model(name: str) -> str:
    from rspverify.axiomatic.library import model_texts

    return next(iter(model_texts(name).values()))


def _machine(name: str) -> str:
    from rspverify.api.catalogue import machine_text

    return machine_text(name)


def wrong(attack: Attack, reply: Reply) -> str:
    """What is wrong with a reply; empty if nothing is."""
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
        return "limit: " + (
            "seconds"
            if "seconds" in message
            else "memory or size"
            if "memory" in message or "bytes" in message
            else message[:40]
        )
    if "verdict" in events:
        return str(events["verdict"]["verdict"])
    return "mistakes" if events.get("read", {}).get("problems") else "page"


def attacked(
    instance: Instance, attacks: Iterator[Attack], clients: int = 4
) -> Iterator[tuple[Attack, Reply]]:
    """Each attack with what came of it, by some clients at a time."""
    lock, done = threading.Lock(), []
    ready = threading.Condition(lock)
    running = clients

    def client() -> None:
        nonlocal running
        while True:
            with lock:
                attack = next(attacks, None)
            if attack is None:
                break
            try:
                reply = instance.request(
                    attack.method, attack.path, attack.body, Content_Type="application/json"
                )
            except Exception as error:
                reply = Reply(0, f"{type(error).__name__}: {error}")
            with ready:
                done.append((attack, reply))
                ready.notify()
        with ready:
            running -= 1
            ready.notify()

    for _ in range(clients):
        threading.Thread(target=client, daemon=True).start()
    while True:
        with ready:
            while not done and running:
                ready.wait()
            if not done:
                return
            found, done[:] = list(done), []
        yield from found


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
                if reason := (
                    "no reply: " + reply.text if not reply.status else wrong(attack, reply)
                ):
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
