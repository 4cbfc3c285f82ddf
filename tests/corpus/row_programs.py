"""What the tests of litmus-amdgpu-rows are made of: operations, threads, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

SCOPES = {"wi": "work_item", "sg": "sub_group", "wg": "work_group"}
SCOPES |= {"dv": "device", "all": "all_svm_devices"}
FLAGS = {"global": "CLK_GLOBAL_MEM_FENCE", "local": "CLK_LOCAL_MEM_FENCE"}
FLAGS["both"] = "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE"
UPDATES = ("rmw", "rmw-unused", "cas", "cas-unused")
RELEASES = ("release", "acq_rel", "seq_cst")
ACQUIRES = ("acquire", "acq_rel", "seq_cst")


@dataclass(frozen=True)
class Operation:
    """An operation of a row: `store`, `load`, one of UPDATES or `fence`, its order and its scope.

    memory: of what it accesses; of a fence the memories that it is for, perhaps `both`.
    """

    kind: str
    order: str
    scope: str
    memory: str = "global"

    def __str__(self) -> str:
        where = "" if self.memory == "global" else f"-{self.memory}"
        return f"{self.kind}-{self.order}{where}-{self.scope}"

    @property
    def weak(self) -> Operation:
        """The access that goes with a fence."""
        return Operation("", "relaxed", self.scope)

    @property
    def _end(self) -> str:
        return f"memory_order_{self.order}, memory_scope_{SCOPES[self.scope]})"

    def store(self, place: str, value: int) -> str:
        """A store."""
        return f"atomic_store_explicit({place}, {value}, {self._end};"

    def load(self, place: str, register: str) -> str:
        """A load."""
        return f"int {register} = atomic_load_explicit({place}, {self._end};"

    def add(self, place: str, value: int, register: str = "") -> str:
        """An increment; without a register nothing looks at its result."""
        kept = f"int {register} = " if register else ""
        return f"{kept}atomic_fetch_add_explicit({place}, {value}, {self._end};"

    def exchange(self, place: str, old: int, new: int, register: str = "") -> str:
        """A compare-exchange; without a register nothing looks at what it finds.

        So that nothing does, what it expects is at a location, e.
        """
        name = "atomic_compare_exchange_strong_explicit"
        orders = f"memory_order_{self.order}, memory_order_relaxed"
        expected = "&e" if register else "e"
        call = f"{name}({place}, {expected}, {new}, {orders}, memory_scope_{SCOPES[self.scope]})"
        return f"int e = {old}; int {register} = {call};" if register else f"{call};"

    def fence(self) -> str:
        """A fence."""
        return f"atomic_work_item_fence({FLAGS[self.memory]}, {self._end};"

    def publish(self, place: str) -> tuple[list[str], str]:
        """What makes a location 1 that is 0, and what is known in the end of a result it has."""
        match self.kind:
            case "store":
                return [self.store(place, 1)], ""
            case "rmw":
                return [self.add(place, 1, "q")], "q=0"
            case "rmw-unused":
                return [self.add(place, 1)], ""
            case "cas":
                return [self.exchange(place, 0, 1, "q")], "q=1"
            case "cas-unused":
                return [self.exchange(place, 0, 1)], ""
        return [self.fence(), self.weak.store(place, 1)], ""

    def observe(self, place: str) -> tuple[list[str], int]:
        """What reads a location into r0, and what that is where it has seen a 1."""
        relaxed = self.weak.load(place, "r0")
        match self.kind:
            case "load":
                return [self.load(place, "r0")], 1
            case "rmw":
                return [self.add(place, 4, "r0")], 1
            case "rmw-unused":
                return [self.add(place, 4), relaxed], 5
            case "cas":
                return [self.exchange(place, 1, 4, "r0")], 1
            case "cas-unused":
                return [self.exchange(place, 1, 5), relaxed], 5
        return [relaxed, self.fence()], 1


@dataclass(frozen=True)
class Thread:
    """The statements of a thread, and where it runs."""

    code: list[str]
    group: int = 0
    device: int = 0


def text(
    title: str,
    about: str,
    places: dict[str, str],
    threads: list[Thread],
    asks: str,
    expected: int = 0,
) -> str:
    """A test. places: how each location is declared, `global int`; expected: what is at e."""
    expecting = any(", e," in statement for each in threads for statement in each.code)
    if expecting:
        places = {**places, "e": "global int"}
    declared = ", ".join(f"{kind} *{name}" for name, kind in places.items())
    start = " ".join(f"[{name}]={int(name == 'e' and expected)};" for name in places)
    lines = [f"OpenCL {title}", f"(* {about} *)", f"{{ {start} }}"]
    for number, each in enumerate(threads):
        lines.append(f"P{number}@wg {each.group},dev {each.device} ({declared}) {{")
        lines += [f"  {statement}" for statement in each.code]
        lines.append("}")
    return "\n".join([*lines, f"exists ({asks})", ""])


def placed(codes: list[list[str]], scope: str) -> list[Thread]:
    """Threads as far from each other as a scope reaches."""
    if scope in ("wi", "sg", "wg"):
        return [Thread(code) for code in codes]
    if scope == "dv":
        return [Thread(code, group=number) for number, code in enumerate(codes)]
    return [Thread(code, device=number) for number, code in enumerate(codes)]


def atomic(memory: str) -> str:
    """How an atomic location of a memory is declared."""
    return f"{memory} atomic_int"


def publishing(scope: str, memory: str) -> Iterator[Operation]:
    """Every operation that releases."""
    for kind in ("store", *UPDATES, "fence"):
        for order in RELEASES:
            if kind != "store" or order != "acq_rel":
                yield Operation(kind, order, scope, memory)


def observing(scope: str, memory: str) -> Iterator[Operation]:
    """Every operation that acquires."""
    for kind in ("load", *UPDATES, "fence"):
        for order in ACQUIRES:
            if kind != "load" or order != "acq_rel":
                yield Operation(kind, order, scope, memory)


WHERE = (("wg", "global"), ("dv", "global"), ("all", "global"), ("wg", "local"))


def joined(*conditions: str) -> str:
    """All conditions that say something."""
    return r" /\ ".join(filter(None, conditions))
