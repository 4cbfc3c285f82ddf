"""Small random programs in all of OpenCL with RSP, and in C11, as texts."""

from __future__ import annotations

from random import Random

_ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
_SCOPES = ("work_item", "work_group", "device", "all_svm_devices")
_LOADS = ("relaxed", "acquire", "seq_cst")
_STORES = ("relaxed", "release", "seq_cst")
_FLAGS = (
    "CLK_GLOBAL_MEM_FENCE",
    "CLK_LOCAL_MEM_FENCE",
    "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE",
)


class Draft:
    """A program on its way: how many reads it has, which bounds what trying everything takes."""

    def __init__(self, rng: Random, language: str, *, reads: int, operations: int) -> None:
        self.rng = rng
        self.opencl = language == "OpenCL"
        self.reads_left, self.left = reads, operations
        self.regions = {x: rng.choice(("global", "global", "local")) for x in "xyz"}
        self.atomic = {"x": True, "y": rng.random() < 0.6, "z": True}
        self.registers = 0
        self.barriers = 0
        self.order = [1, 2, 3]

    def text(self) -> str:
        """The whole test."""
        threads = self.rng.randint(2, 3)
        bodies = [self._body() for _ in range(threads)]
        parameters = ", ".join(self._parameter(x) for x in "xyz")
        lines = [f"{'OpenCL' if self.opencl else 'C'} random", "{ [x]=0; [y]=0; [z]=1; }"]
        for number, body in enumerate(bodies):
            place = self._place() if self.opencl else ""
            lines += [f"P{number}{place} ({parameters}) {{", *body, "}"]
        return "\n".join([*lines, "exists (x=0)\n"])

    def _parameter(self, x: str) -> str:
        kind = "atomic_int" if self.atomic[x] else "int"
        return f"{self.regions[x]} {kind}* {x}" if self.opencl else f"{kind}* {x}"

    def _place(self) -> str:
        return f"@wg {self.rng.randint(0, 1)}, dev {int(self.rng.random() < 0.2)}"

    def _body(self) -> list[str]:
        lines: list[str] = []
        own: list[str] = []
        self.barriers = 0
        if self.rng.random() < 0.3:
            self.rng.shuffle(self.order)
        for _ in range(self.rng.randint(1, 3)):
            if self.left <= 0:
                break
            self.left -= 1
            line = self._statement(own)
            if own and self.rng.random() < 0.3:
                declared, _, call = line.rpartition(" = ")
                register = declared.removeprefix("int ")
                if declared.startswith("int "):
                    lines.append(f"  int {register} = 0;")
                    line = f"{register} = {call}"
                line = f"if ({self.rng.choice(own[:1])} == {self.rng.randint(0, 1)}) {{ {line} }}"
            lines.append(f"  {line}")
        return lines

    def _statement(self, own: list[str]) -> str:
        rng = self.rng
        kind = rng.choice(
            ("load", "load", "store", "store", "store", "rmw", "cas", "fence", "barrier")
        )
        if kind == "fence" or (kind == "barrier" and not self.opencl):
            order = rng.choice(_ORDERS[1:])
            if self.opencl:
                scope = f"memory_scope_{rng.choice(_SCOPES[1:])}"
                return (
                    f"atomic_work_item_fence({rng.choice(_FLAGS)}, memory_order_{order}, {scope});"
                )
            return f"atomic_thread_fence(memory_order_{order});"
        if kind == "barrier":
            self.barriers += 1
            far = rng.random() < 0.3
            name = f"{'D' * far or 'B'}{self.order[self.barriers - 1]}"
            return f"{name}: {'inter_workgroup_' * far}barrier({rng.choice(_FLAGS)});"
        x = rng.choice("xy")
        if kind == "store" or self.reads_left <= 0:
            value = rng.choice((own or ["1"])[:1]) if rng.random() < 0.2 else rng.randint(1, 2)
            if not self.atomic[x] or rng.random() < 0.1:
                return f"*{x} = {value};"
            return self._call("store", x, f", {value}", rng.choice(_STORES))
        self.reads_left -= 1
        register = f"r{self.registers}"
        self.registers += 1
        if kind == "load" and self.reads_left > 0 and rng.random() < 0.2:
            self.reads_left -= 1
            one, other = (self._call("load", each, "", rng.choice(_LOADS))[:-1] for each in "xz")
            call = f"{one} {rng.choice('|&')} {other};"
        elif kind == "load":
            plain = not self.atomic[x] or rng.random() < 0.1
            call = f"*{x};" if plain else self._call("load", x, "", rng.choice(_LOADS))
        elif kind == "rmw":
            name = rng.choice(("fetch_or", "exchange", "fetch_min", "fetch_max", "fetch_and"))
            call = self._call(name, "x", f", {rng.randint(1, 2)}", rng.choice(_ORDERS))
        else:
            self.reads_left -= 1
            orders = f"{rng.choice(_ORDERS)}, memory_order_{rng.choice(_LOADS)}"
            call = self._call("compare_exchange_strong", "x", f", z, {rng.randint(1, 2)}", orders)
        own.append(register)
        return f"int {register} = {call}"

    def _call(self, name: str, x: str, operands: str, order: str) -> str:
        scope = f", memory_scope_{self.rng.choice(_SCOPES)}" if self.opencl else ""
        remote = "_remote" if self.opencl and self.rng.random() < 0.2 else ""
        return f"atomic_{name}_explicit{remote}({x}{operands}, memory_order_{order}{scope});"


def random_text(rng: Random, language: str, reads: int = 3, operations: int = 5) -> str:
    """A program with so many reads and operations at most, in `OpenCL` or `C`."""
    return Draft(rng, language, reads=reads, operations=operations).text()
