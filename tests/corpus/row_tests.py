"""The tests of litmus-amdgpu-rows: for each row of a compiler's table, programs that need it.

A row is for an operation, an order, a scope and a memory. Around each of these stand the smallest
programs in which the operation publishes something, observes it, or is ordered as seq_cst.
`python -m corpus.row_tests`, in the folder tests, writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "litmus-amdgpu-rows"

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


def messages() -> Iterator[tuple[str, str]]:
    """MP: the operation publishes what was stored, or observes it. LB: it publishes a load."""
    for scope, memory in WHERE:
        places = {"x": f"{memory} int", "y": atomic(memory)}
        acquire = Operation("load", "acquire", scope, memory)
        release = Operation("store", "release", scope, memory)
        for each in publishing(scope, memory):
            sent, known = each.publish("y")
            known = known and f"0:{known}"
            seen, one = acquire.observe("y")
            for shape, before, after, wrong in (
                ("MP", "*x = 1;", "int r1 = 0; if (r0 == 1) r1 = *x;", "1:r1=0"),
                ("LB", "int r1 = *x;", "if (r0 == 1) *x = 1;", "0:r1=1"),
            ):
                about = "A load stays before what publishes it."
                about = "A message, published by this." if shape == "MP" else about
                threads = placed([[before, *sent], [*seen, after]], scope)
                asks = joined(f"1:r0={one}", wrong, known)
                title = f"{shape}-by-{each}"
                yield title, text(title, about, places, threads, asks)
        for each in observing(scope, memory):
            sent, _ = release.publish("y")
            seen, one = each.observe("y")
            after = f"int r1 = 0; if (r0 == {one}) r1 = *x;"
            threads = placed([["*x = 1;", *sent], [*seen, after]], scope)
            title = f"MP-to-{each}"
            about = "A message, observed by this."
            asks = joined(f"1:r0={one}", "1:r1=0")
            yield title, text(title, about, places, threads, asks, expected=1)


def fences_of_both() -> Iterator[tuple[str, str]]:
    """MP between fences of both memories, where data and flag are in one memory or in both."""
    for scope in ("wg", "dv", "all"):
        for data, flag in (("global", "global"), ("global", "local"), ("local", "global")):
            if scope == "all" and "local" in (data, flag):
                continue
            places = {"x": f"{data} int", "y": atomic(flag)}
            where = scope if data == flag else "wg"
            near = f"-{data}-by-{flag}" if data != flag else ""
            for order in ("release", "acquire", "acq_rel", "seq_cst"):
                publish = Operation(
                    "fence", order if order != "acquire" else "release", scope, "both"
                )
                observe = Operation(
                    "fence", order if order != "release" else "acquire", scope, "both"
                )
                sent, _ = publish.publish("y")
                seen, _ = observe.observe("y")
                for shape, before, after, wrong in (
                    ("MP", "*x = 1;", "int r1 = 0; if (r0 == 1) r1 = *x;", "1:r1=0"),
                    ("LB", "int r1 = *x;", "if (r0 == 1) *x = 1;", "0:r1=1"),
                ):
                    title = f"{shape}-fence-{order}-both{near}-{scope}"
                    about = "A message between fences of both memories."
                    threads = placed([[before, *sent], [*seen, after]], where)
                    yield title, text(title, about, places, threads, joined("1:r0=1", wrong))


def buffering() -> Iterator[tuple[str, str]]:
    """SB and R: seq_cst operations of one memory or of both are in one order."""
    for scope, first, second in (
        ("wg", "global", "global"),
        ("dv", "global", "global"),
        ("all", "global", "global"),
        ("wg", "local", "local"),
        ("wg", "local", "global"),
        ("wg", "global", "local"),
    ):
        places = {"x": atomic(first), "y": atomic(second)}
        near = "" if first == second else f"-after-{first}"

        def in_(memory: str, kind: str, scope: str = scope) -> Operation:
            return Operation(kind, "seq_cst", scope, memory)

        write_x, read_x = in_(first, "store").store("x", 1), in_(first, "load").load("x", "r0")
        write_y, read_y = in_(second, "store").store("y", 1), in_(second, "load").load("y", "r0")
        for kind in ("store", *UPDATES) if first == second else ():
            each = in_(first, kind)
            sent, known = each.publish("x")
            title = f"SB-first-{each}"
            threads = placed([[*sent, read_y], [write_y, read_x]], scope)
            asks = joined("0:r0=0", "1:r0=0", known and f"0:{known}")
            yield title, text(title, "Store buffering, seq_cst.", places, threads, asks)
        for kind in ("load", "rmw", "cas"):
            each = in_(second, kind)
            looks = {
                "load": (read_y, 0),
                "rmw": (each.add("y", 4, "r0"), 0),
                "cas": (each.exchange("y", 0, 4, "r0"), 1),
            }
            look, old = looks[kind]
            title = f"SB-then-{each}{near}"
            threads = placed([[write_x, look], [write_y, read_x]], scope)
            asks = joined(f"0:r0={old}", "1:r0=0")
            yield title, text(title, "Store buffering, seq_cst.", places, threads, asks)
        for kind in ("store", "rmw-unused", "cas-unused"):
            each = in_(second, kind)
            writes = {
                "store": each.store("y", 2),
                "rmw-unused": each.add("y", 2),
                "cas-unused": each.exchange("y", 0, 2),
            }
            title = f"R-then-{each}{near}"
            threads = placed([[write_x, writes[kind]], [write_y, read_x]], scope)
            asks = joined("y=1", "1:r0=0")
            about = "Who writes y later has not seen x: seq_cst."
            yield title, text(title, about, places, threads, asks)
        fence = Operation("fence", "seq_cst", scope, first if first == second else "both")
        weak = fence.weak
        if near != "-after-global":
            first_code = [weak.store("x", 1), fence.fence(), weak.load("y", "r0")]
            second_code = [weak.store("y", 1), fence.fence(), weak.load("x", "r0")]
            title = f"SB-{fence}{near}"
            threads = placed([first_code, second_code], scope)
            asks = joined("0:r0=0", "1:r0=0")
            yield title, text(title, "Store buffering, by fences.", places, threads, asks)


def handed_on() -> Iterator[tuple[str, str]]:
    """ISA2: what a wave publishes in its work-group, another one sends to another work-group."""
    places = {"x": "global int", "y": atomic("global"), "z": atomic("global")}
    acquire = Operation("load", "acquire", "wg")
    on, last = Operation("store", "release", "dv"), Operation("load", "acquire", "dv")
    both = (Operation("fence", order, "wg", "both") for order in RELEASES)
    for each in (*publishing("wg", "global"), *both):
        sent, known = each.publish("y")
        known = known and f"0:{known}"
        middle = [acquire.load("y", "r0"), f"if (r0 == 1) {on.store('z', 1)}"]
        for shape, before, after, wrong in (
            ("ISA2", "*x = 1;", "int r1 = 0; if (r0 == 1) r1 = *x;", "2:r1=0"),
            ("LB3", "int r1 = *x;", "if (r0 == 1) *x = 1;", "0:r1=1"),
        ):
            title = f"{shape}-by-{each}"
            about = "Published in a work-group, and sent on to another one."
            codes = [[before, *sent], middle, [last.load("z", "r0"), after]]
            threads = [Thread(codes[0]), Thread(codes[1]), Thread(codes[2], group=1)]
            asks = joined("1:r0=1", "2:r0=1", wrong, known)
            yield title, text(title, about, places, threads, asks)


def coherent() -> Iterator[tuple[str, str]]:
    """CoRR and CoWR: what passes by a cache, and what looks into it after that."""
    for scope in ("wg", "dv", "all"):
        for order in ("relaxed", "acquire", "seq_cst"):
            each = Operation("load", order, scope)
            weak = each.weak
            title = f"CoRR-{each}"
            second = [weak.add("x", 0, "r0"), each.load("x", "r1")]
            threads = placed([[weak.store("x", 1)], second], scope)
            about = "A load after a read-modify-write that has seen the store."
            asks = joined("1:r0=1", "1:r1=0")
            yield title, text(title, about, {"x": atomic("global")}, threads, asks)
    for scope in ("wi", "sg"):
        weak = Operation("", "relaxed", scope)
        for kind, write in (("store", weak.store("x", 1)), ("rmw", weak.add("x", 1))):
            title = f"CoWR-{kind}-{scope}"
            threads = [Thread([write, weak.load("x", "r0")])]
            about = "A thread sees what it has written itself."
            yield title, text(title, about, {"x": atomic("global")}, threads, "0:r0=0")


def across() -> Iterator[tuple[str, str]]:
    """SB and R with a seq_cst fence of one memory between accesses of another, or of both.

    Its flags count in happens-before, not in the order of seq_cst operations. So what a seq_cst
    operation behind it, or before it, waits for may be all that keeps that order.
    """
    shapes = [("local", "global", "global", scope) for scope in ("wg", "dv", "all")]
    shapes += [("global", "local", "local", "wg")]
    shapes += [("global", "global", "local", scope) for scope in ("wg", "dv", "all")]
    for first, second, flag, scope in shapes:
        places = {"x": atomic(first), "y": atomic(second)}
        where = scope if first == second else "wg"
        weak_x = Operation("", "relaxed", where, first)
        weak_y = Operation("", "relaxed", scope, second)
        both = Operation("fence", "seq_cst", scope, "both")
        one = Operation("fence", "seq_cst", scope, flag)
        begins = {"store": weak_x.store("x", 1)}
        if first == "global":
            begins["rmw"] = weak_x.add("x", 1, "q")
        for begun, write_x in begins.items():
            for kind in ("load", *UPDATES, "store"):
                each = Operation(kind, "seq_cst", scope, second)
                then, known = _looks_or_writes(each, kind)
                title = f"SB-{begun}-{first}-by-fence-of-{flag}-{each}"
                about = "A fence of one memory, in the order of all that is seq_cst."
                known_too = joined("0:q=0" if begun == "rmw" else "", known, "1:r1=0")
                codes = [
                    [write_x, one.fence(), then],
                    [weak_y.store("y", 1), both.fence(), weak_x.load("x", "r1")],
                ]
                yield title, text(title, about, places, placed(codes, where), known_too)
    yield from _behind()
    yield from _through()


def _looks_or_writes(each: Operation, kind: str) -> tuple[str, str]:
    """What looks at y, or overwrites it, before another thread has made it 1; and the sign of it."""
    match kind:
        case "load":
            return each.load("y", "r0"), "0:r0=0"
        case "rmw":
            return each.add("y", 4, "r0"), "0:r0=0"
        case "cas":
            return each.exchange("y", 0, 4, "r0"), "0:r0=1"
        case "rmw-unused":
            return each.add("y", 2), "y=1"
        case "cas-unused":
            return each.exchange("y", 0, 2), "y=1"
    return each.store("y", 2), "y=1"


def _behind() -> Iterator[tuple[str, str]]:
    """What an operation of local memory, or a fence of it, keeps before an access of global memory
    that comes behind a fence of global memory alone."""
    near = Operation("", "relaxed", "wg", "local")
    far = Operation("", "relaxed", "wg")
    both = Operation("fence", "seq_cst", "wg", "both")
    one = Operation("fence", "seq_cst", "wg", "global")
    local = Operation("fence", "seq_cst", "wg", "local")
    places = {"x": atomic("local"), "y": atomic("global")}
    about = "A fence of one memory, in the order of all that is seq_cst."
    other = [far.store("y", 1), both.fence(), near.load("x", "r1")]
    own = [near.store("x", 1), local.fence(), far.load("y", "r0")]
    title = f"SB-{local}-then-global"
    asks = joined("0:r0=0", "1:r1=0")
    yield title, text(title, about, places, placed([own, other], "wg"), asks)
    for kind in ("store", "rmw-unused", "cas-unused"):
        each = Operation(kind, "seq_cst", "wg", "local")
        sent, _ = each.publish("z")
        own = [near.store("x", 1), *sent, one.fence(), far.load("y", "r0")]
        title = f"SB-through-{each}"
        within = {**places, "z": atomic("local")}
        yield title, text(title, about, within, placed([own, other], "wg"), asks)
    other = [far.store("y", 1), both.fence(), near.store("x", 1)]
    for kind in ("load", "rmw", "cas"):
        each = Operation(kind, "seq_cst", "wg", "local")
        seen, one_ = each.observe("x")
        own = [*seen, one.fence(), far.load("y", "r1")]
        title = f"MP-across-{each}"
        asks = joined(f"1:r0={one_}", "1:r1=0")
        yield title, text(title, about, places, placed([other, own], "wg"), asks)


def by_the_letter() -> Iterator[tuple[str, str]]:
    """SB between accesses of global memory, by seq_cst fences of local memory alone: no flags count
    in the order of seq_cst operations."""
    weak = Operation("", "relaxed", "dv")
    each = Operation("fence", "seq_cst", "dv", "local")
    codes = [
        [weak.store("x", 1), each.fence(), weak.load("y", "r0")],
        [weak.store("y", 1), each.fence(), weak.load("x", "r0")],
    ]
    places = {"x": atomic("global"), "y": atomic("global")}
    title, asks = f"SB-{each}-for-global", joined("0:r0=0", "1:r0=0")
    about = "Store buffering, by fences of the other memory."
    yield title, text(title, about, places, placed(codes, "dv"), asks)


def _through() -> Iterator[tuple[str, str]]:
    """What an acquire by an update at whose result nothing looks waits for besides itself."""
    about = "A fence of one memory, in the order of all that is seq_cst."
    places = {"x": atomic("global"), "y": atomic("global"), "z": atomic("global")}
    for scope in ("wg", "dv", "all"):
        weak = Operation("", "relaxed", scope)
        both = Operation("fence", "seq_cst", scope, "both")
        one = Operation("fence", "seq_cst", scope, "local")
        other = [weak.store("y", 1), both.fence(), weak.load("x", "r1")]
        for kind in ("rmw-unused", "cas-unused"):
            each = Operation(kind, "acquire", scope)
            sent, _ = each.publish("z")
            own = [weak.add("x", 1, "q"), one.fence(), *sent, weak.load("y", "r0")]
            title = f"SB-through-{each}"
            asks = joined("0:q=0", "0:r0=0", "1:r1=0")
            yield title, text(title, about, places, placed([own, other], scope), asks)


def unseen() -> Iterator[tuple[str, str]]:
    """MP to a fence behind an update whose result nobody uses: a load tells what it has seen."""
    for scope in ("wg", "dv", "all"):
        weak, release = Operation("", "relaxed", scope), Operation("store", "release", scope)
        for memory in ("global", "both"):
            for order in ACQUIRES:
                each = Operation("fence", order, scope, memory)
                seen = [weak.add("y", 4), each.fence(), weak.load("y", "r0")]
                after = "int r1 = 0; if (r0 == 5) r1 = *x;"
                title = f"MP-to-rmw-unused-by-{each}"
                about = "A message, observed by an update before this."
                places = {"x": "global int", "y": atomic("global")}
                codes = [["*x = 1;", release.store("y", 1)], [*seen, after]]
                asks = joined("1:r0=5", "1:r1=0")
                yield title, text(title, about, places, placed(codes, scope), asks)


def row_tests() -> dict[str, str]:
    """Every test by its title, and its text."""
    found: dict[str, str] = {}
    for makes in (
        messages,
        fences_of_both,
        buffering,
        handed_on,
        coherent,
        across,
        unseen,
        by_the_letter,
    ):
        for title, made in makes():
            assert title not in found, title
            found[title] = made
    return found


def main() -> None:
    """Write them all."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.litmus"):
        old.unlink()
    for title, made in row_tests().items():
        (FOLDER / f"{title}.litmus").write_text(made)


if __name__ == "__main__":
    main()
