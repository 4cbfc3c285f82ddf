"""For each row of a compiler's table, the smallest programs that need it: `generate rows`.

A row is for an operation, an order, a scope and a memory. In each test one such operation stands
out: it publishes a message, observes it, or is ordered as seq_cst. The rest is as strong as OpenCL
lets it be, so that a table in which this row lacks something fails here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

from msgspec import Struct

from rspverify.generate.family import Test
from rspverify.litmus.program import GLOBAL, LOCAL
from rspverify.programs.litmus_test import BOTH, SHORT_ORDERS
from rspverify.programs.notation import read_notation
from rspverify.programs.writer import litmus_text
from rspverify.records import replace

NAME = "rows"
_MEANING = "for each row of a table, the smallest programs that need it"

_RELEASES, _ACQUIRES = ("rel", "ar", "sc"), ("acq", "ar", "sc")
_UPDATES = ("rmw", "rmw-unused", "cas", "cas-unused")
_PLACES = (("WG", GLOBAL), ("DV", GLOBAL), ("ALL", GLOBAL), ("WG", LOCAL))
_GROUPINGS = {"WI": "@01", "SG": "@01", "WG": "@01", "DV": "", "ALL": "@0--1"}
"""Two threads as far from each other as a scope reaches."""


class Operation(Struct, frozen=True):
    """An operation that a row is for.

    kind: `store`, `load`, `fence` or one of _UPDATES; of those that are `unused` the result is not
    kept. order, scope: as in the notation. memory: of the location; of a fence those it is for.
    """

    kind: str
    order: str
    scope: str
    memory: str = GLOBAL

    def __str__(self) -> str:
        where = "" if self.memory == GLOBAL else f"-{self.memory}"
        return f"{self.kind}-{SHORT_ORDERS[self.order].value}{where}-{self.scope.lower()}"

    @property
    def relaxed(self) -> Operation:
        """The relaxed accesses of its scope."""
        return replace(self, order="rlx")

    def load(self, location: str, register: str) -> str:
        """A load."""
        return f"{register}=ld.{self.order}.{self.scope} {location}"

    def store(self, location: str, value: int) -> str:
        """A store."""
        return f"st.{self.order}.{self.scope} {location} {value}"

    def add(self, location: str, value: int, register: str = "") -> str:
        """An addition, whose result is kept where a register is given."""
        kept = f"{register}=" if register else ""
        return f"{kept}add.{self.order}.{self.scope} {location} {value}"

    def exchange(self, location: str, old: int, new: int, register: str = "") -> str:
        """A compare-exchange. Where no register is given, it expects the value of location e."""
        if register:
            return f"{register}=cas.{self.order}.{self.scope} {location} {old} {new}"
        return f"cas.{self.order}.{self.scope} {location} e {new}"

    def fence(self) -> str:
        """A fence of its memories alone."""
        return f"F.{self.order}.{self.scope}.{self.memory}"

    def publish(self, location: str) -> tuple[str, str]:
        """Code that makes a location 1 that is 0, and the condition on the result that it keeps."""
        match self.kind:
            case "store":
                return self.store(location, 1), ""
            case "rmw":
                return self.add(location, 1, "r9"), "0:r9=0"
            case "rmw-unused":
                return self.add(location, 1), ""
            case "cas":
                return self.exchange(location, 0, 1, "r9"), "0:r9=1"
            case "cas-unused":
                return self.exchange(location, 0, 1), ""
        return f"{self.fence()}; {self.relaxed.store(location, 1)}", ""

    def observe(self, location: str) -> tuple[list[str], int]:
        """Code that reads a location into r0, and the value of r0 where it has seen a 1."""
        load = self.relaxed.load(location, "r0")
        match self.kind:
            case "load":
                return [self.load(location, "r0")], 1
            case "rmw":
                return [self.add(location, 4, "r0")], 1
            case "rmw-unused":
                return [self.add(location, 4), load], 5
            case "cas":
                return [self.exchange(location, 1, 4, "r0")], 1
            case "cas-unused":
                return [self.exchange(location, 1, 5), load], 5
        return [load, self.fence()], 1

    def precede(self, location: str) -> tuple[str, str]:
        """Code that reads or overwrites a location before another thread makes it 1, and the
        condition that it does."""
        match self.kind:
            case "load":
                return self.load(location, "r0"), "0:r0=0"
            case "rmw":
                return self.add(location, 4, "r0"), "0:r0=0"
            case "cas":
                return self.exchange(location, 0, 4, "r0"), "0:r0=1"
            case "rmw-unused":
                return self.add(location, 2), f"{location}=1"
            case "cas-unused":
                return self.exchange(location, 0, 2), f"{location}=1"
        return self.store(location, 2), f"{location}=1"


class RowTest(Struct, frozen=True):
    """A test in the notation. conditions: of its outcome, all of them. expected: the value at e."""

    title: str
    threads: tuple[str, ...]
    conditions: tuple[str, ...]
    grouping: str = ""
    local: tuple[str, ...] = ()
    expected: int = 0

    @property
    def notation(self) -> str:
        """The test in one line."""
        parts = [" || ".join(self.threads), self.grouping, *(f"(local {x})" for x in self.local)]
        if self.expected and any(" e " in each for each in self.threads):
            parts.append(f"(e={self.expected})")
        return " ".join(filter(None, parts))

    def written(self) -> Test:
        """The test as a file."""
        test = read_notation(self.notation)
        wrong = r" /\ ".join(filter(None, self.conditions))
        comment = f"Family {NAME} of `rspverify generate`: {_MEANING}."
        return Test(
            self.title, litmus_text(test, self.title, comment=comment, asks=f"exists ({wrong})")
        )


class RowFamily(Struct, frozen=True):
    """The family of all these tests. Its operations, scopes and memories are those of rows, so
    that there is nothing to choose."""

    name: str = NAME
    meaning: str = _MEANING

    def counts(self) -> list[tuple[str, int]]:
        """Each kind of tests by the beginning of their titles, and their number."""
        kinds = (each.title.split("-")[0] for each in row_tests())
        return [(f"{kind}-…", many) for kind, many in Counter(kinds).items()]

    @property
    def most(self) -> int:
        """The number of tests."""
        return sum(1 for _ in row_tests())

    def tests(self) -> Iterator[Test]:
        """Every test, in an order that is always the same."""
        yield from (each.written() for each in row_tests())


def row_tests() -> Iterator[RowTest]:
    """Every test of the family in the notation."""
    yield from _messages()
    yield from _messages_by_fences()
    yield from _store_buffering()
    yield from _handed_on()
    yield from _coherence()
    yield from _beside_fences_of_one_memory()
    yield from _through_and_across()
    yield from _after_waits()
    yield from _unseen()
    yield from _straight()
    yield from _overwritten()
    yield from _three_threads()


def _publishing(scope: str, memory: str) -> Iterator[Operation]:
    """Every operation that releases."""
    for kind, order in product(("store", *_UPDATES, "fence"), _RELEASES):
        if (kind, order) != ("store", "ar"):
            yield Operation(kind, order, scope, memory)


def _observing(scope: str, memory: str) -> Iterator[Operation]:
    """Every operation that acquires."""
    for kind, order in product(("load", *_UPDATES, "fence"), _ACQUIRES):
        if (kind, order) != ("load", "ar"):
            yield Operation(kind, order, scope, memory)


def _locals(**memories: str) -> tuple[str, ...]:
    return tuple(name for name, memory in memories.items() if memory == LOCAL)


def _around_a_flag(reader: int = 1) -> tuple[tuple[str, str, str, str], ...]:
    """MP, where a store stays before the operation that publishes, and LB, where a load does: the
    accesses of data before the flag is written and after the thread `reader` has read it, and the
    condition that is wrong."""
    return (
        ("MP", "st.na x 1", "if r0==1: r1=ld.na x", f"{reader}:r1=0"),
        ("LB", "r1=ld.na x", "if r0==1: st.na x 1", "0:r1=1"),
    )


def _messages() -> Iterator[RowTest]:
    """MP and LB: the operation publishes, or observes."""
    for scope, memory in _PLACES:
        near, local = _GROUPINGS[scope], _locals(x=memory, y=memory)
        read = Operation("load", "acq", scope).load("y", "r0")
        for each in _publishing(scope, memory):
            sent, known = each.publish("y")
            for shape, before, after, wrong in _around_a_flag():
                threads = (f"{before}; {sent}", f"{read}; {after}")
                asks = ("1:r0=1", wrong, known)
                yield RowTest(f"{shape}-by-{each}", threads, asks, near, local)
        sent = Operation("store", "rel", scope).store("y", 1)
        for each in _observing(scope, memory):
            seen, one = each.observe("y")
            after = f"if r0=={one}: r1=ld.na x"
            threads = (f"st.na x 1; {sent}", "; ".join([*seen, after]))
            stale = (f"1:r0={one}", "1:r1=0")
            yield RowTest(f"MP-to-{each}", threads, stale, near, local, expected=1)


def _messages_by_fences() -> Iterator[RowTest]:
    """MP and LB between fences of both memories, with data and flag in one memory or in two."""
    memories = ((GLOBAL, GLOBAL), (GLOBAL, LOCAL), (LOCAL, GLOBAL))
    for scope, (data, flag) in product(("WG", "DV", "ALL"), memories):
        for order in ("rel", "acq", "ar", "sc"):
            release = Operation("fence", "rel" if order == "acq" else order, scope, BOTH)
            acquire = Operation("fence", "acq" if order == "rel" else order, scope, BOTH)
            sent, _ = release.publish("y")
            seen, _ = acquire.observe("y")
            for shape, before, after, wrong in _around_a_flag():
                apart = f"-{data}-by-{flag}" if data != flag else ""
                name = SHORT_ORDERS[order].value
                yield RowTest(
                    f"{shape}-fence-{name}-both{apart}-{scope.lower()}",
                    (f"{before}; {sent}", "; ".join([*seen, after])),
                    ("1:r0=1", wrong),
                    _GROUPINGS[scope if data == flag else "WG"],
                    _locals(x=data, y=flag),
                )


def _store_buffering() -> Iterator[RowTest]:
    """SB and R: seq_cst operations of one memory or of both are in one order."""
    places = (*_PLACES, ("WG", LOCAL, GLOBAL), ("WG", GLOBAL, LOCAL))
    for scope, first, *others in places:
        second = others[0] if others else first
        apart = "" if first == second else f"-after-{first}"
        near, local = _GROUPINGS[scope], _locals(x=first, y=second)
        own = Operation("", "sc", scope)
        other = f"{own.store('y', 1)}; {own.load('x', 'r0')}"
        for kind in ("store", *_UPDATES) if first == second else ():
            each = Operation(kind, "sc", scope, first)
            sent, begun = each.publish("x")
            threads, asks = (f"{sent}; {own.load('y', 'r0')}", other), ("0:r0=0", "1:r0=0", begun)
            yield RowTest(f"SB-first-{each}", threads, asks, near, local)
        for kind in ("load", "rmw", "cas", "store", "rmw-unused", "cas-unused"):
            each = Operation(kind, "sc", scope, second)
            then, known = each.precede("y")
            shape = "SB" if known.startswith("0:") else "R"
            threads = (f"{own.store('x', 1)}; {then}", other)
            asks = (known, "1:r0=0", "")
            yield RowTest(f"{shape}-then-{each}{apart}", threads, asks, near, local)
        if apart != f"-after-{GLOBAL}":
            fence = Operation("fence", "sc", scope, BOTH if apart else first)
            threads, asks = _buffered(fence, fence), ("0:r0=0", "1:r0=0", "")
            yield RowTest(f"SB-{fence}{apart}", threads, asks, near, local)
    each = Operation("fence", "sc", "DV", LOCAL)
    yield RowTest(f"SB-{each}-for-global", _buffered(each, each), ("0:r0=0", "1:r0=0"))


def _buffered(one: Operation, other: Operation) -> tuple[str, str]:
    """SB of relaxed accesses around two fences."""
    weak = one.relaxed
    return (
        f"{weak.store('x', 1)}; {one.fence()}; {weak.load('y', 'r0')}",
        f"{weak.store('y', 1)}; {other.fence()}; {weak.load('x', 'r0')}",
    )


def _handed_on() -> Iterator[RowTest]:
    """ISA2 and LB3: published in a work-group, and sent on to another one."""
    near, far = Operation("load", "acq", "WG"), Operation("load", "acq", "DV")
    on = Operation("store", "rel", "DV").store("z", 1)
    middle = f"{near.load('y', 'r0')}; if r0==1: {on}"
    fences = (Operation("fence", order, "WG", BOTH) for order in _RELEASES)
    for each in (*_publishing("WG", GLOBAL), *fences):
        sent, known = each.publish("y")
        for shape, before, after, wrong in _around_a_flag(reader=2):
            title = {"MP": "ISA2", "LB": "LB3"}[shape]
            threads = (f"{before}; {sent}", middle, f"{far.load('z', 'r0')}; {after}")
            asks = ("1:r0=1", "2:r0=1", wrong, known)
            yield RowTest(f"{title}-by-{each}", threads, asks, "@01-2")


def _coherence() -> Iterator[RowTest]:
    """CoRR and CoWR, where accesses pass by a cache or do not."""
    for scope, order in product(("WG", "DV", "ALL"), ("rlx", "acq", "sc")):
        each = Operation("load", order, scope)
        weak = each.relaxed
        threads = (weak.store("x", 1), f"{weak.add('x', 0, 'r0')}; {each.load('x', 'r1')}")
        yield RowTest(f"CoRR-{each}", threads, ("1:r0=1", "1:r1=0"), _GROUPINGS[scope])
    for scope in ("WI", "SG"):
        weak = Operation("", "rlx", scope)
        for kind, write in (("store", weak.store("x", 1)), ("rmw", weak.add("x", 1))):
            thread = f"{write}; {weak.load('x', 'r0')}"
            yield RowTest(f"CoWR-{kind}-{scope.lower()}", (thread,), ("0:r0=0",))
    weak, own = Operation("", "rlx", "WG"), Operation("", "rlx", "WI")
    updates = [Operation(kind, "acq", "WG") for kind in ("rmw-unused", "cas-unused")]
    near = [Operation(kind, "sc", "WG", LOCAL) for kind in ("load", "rmw", "cas")]
    for each in (*updates, *near):
        between = each.load("z", "r1") if each.kind == "load" else each.publish("z")[0]
        thread = f"{weak.add('x', 1, 'r8')}; {between}; {own.load('x', 'r0')}"
        asks, local = ("0:r8=0", "0:r0=0"), _locals(z=each.memory)
        yield RowTest(f"CoWR-behind-{each}", (thread,), asks, "", local)


def _beside_fences_of_one_memory() -> Iterator[RowTest]:
    """SB with a seq_cst fence of one memory between accesses of another, or of both.

    Its flags count in happens-before, not in the order of seq_cst operations. So a wait of a
    seq_cst operation behind it, or before it, may be all that keeps that order.
    """
    shapes = [(LOCAL, GLOBAL, GLOBAL, scope) for scope in ("WG", "DV", "ALL")]
    shapes += [(GLOBAL, LOCAL, LOCAL, "WG")]
    shapes += [(GLOBAL, GLOBAL, LOCAL, scope) for scope in ("WG", "DV", "ALL")]
    for first, second, flag, scope in shapes:
        where = scope if first == second else "WG"
        weak_x, weak_y = Operation("", "rlx", where), Operation("", "rlx", scope)
        both, one = (Operation("fence", "sc", scope, memory).fence() for memory in (BOTH, flag))
        other = f"{weak_y.store('y', 1)}; {both}; {weak_x.load('x', 'r1')}"
        writes = {"store": (weak_x.store("x", 1), ""), "rmw": (weak_x.add("x", 1, "r9"), "0:r9=0")}
        for written in ("store", "rmw") if first == GLOBAL else ("store",):
            write, begun = writes[written]
            for kind in ("load", *_UPDATES, "store"):
                each = Operation(kind, "sc", scope, second)
                then, known = each.precede("y")
                title = f"SB-{written}-{first}-by-fence-of-{flag}-{each}"
                threads, asks = (f"{write}; {one}; {then}", other), (begun, known, "1:r1=0")
                local = _locals(x=first, y=second)
                yield RowTest(title, threads, asks, _GROUPINGS[where], local)


def _through_and_across() -> Iterator[RowTest]:
    """SB and MP across a fence of one memory, held by an operation of the other, or of itself."""
    weak = Operation("", "rlx", "WG")
    both, one, local = (Operation("fence", "sc", "WG", memory) for memory in (BOTH, GLOBAL, LOCAL))
    reading = f"{weak.store('y', 1)}; {both.fence()}; {weak.load('x', 'r1')}"
    asks = ("0:r0=0", "1:r1=0")
    own = f"{weak.store('x', 1)}; {local.fence()}; {weak.load('y', 'r0')}"
    yield RowTest(f"SB-{local}-then-global", (own, reading), asks, "@01", ("x",))
    for kind in ("store", "rmw-unused", "cas-unused"):
        each = Operation(kind, "sc", "WG", LOCAL)
        sent, _ = each.publish("z")
        own = f"{weak.store('x', 1)}; {sent}; {one.fence()}; {weak.load('y', 'r0')}"
        yield RowTest(f"SB-through-{each}", (own, reading), asks, "@01", ("x", "z"))
    writing = f"{weak.store('y', 1)}; {both.fence()}; {weak.store('x', 1)}"
    for kind in ("load", "rmw", "cas"):
        each = Operation(kind, "sc", "WG", LOCAL)
        seen, value = each.observe("x")
        own = "; ".join([*seen, one.fence(), weak.load("y", "r1")])
        title, asks = f"MP-across-{each}", (f"1:r0={value}", "1:r1=0")
        yield RowTest(title, (writing, own), asks, "@01", ("x",))
    for scope in ("WG", "DV", "ALL"):
        weak = Operation("", "rlx", scope)
        both, one = (Operation("fence", "sc", scope, memory) for memory in (BOTH, LOCAL))
        other = f"{weak.store('y', 1)}; {both.fence()}; {weak.load('x', 'r1')}"
        for kind in ("rmw-unused", "cas-unused"):
            each = Operation(kind, "acq", scope)
            sent, _ = each.publish("z")
            own = f"{weak.add('x', 1, 'r9')}; {one.fence()}; {sent}; {weak.load('y', 'r0')}"
            wrong = ("0:r9=0", "0:r0=0", "1:r1=0")
            yield RowTest(f"SB-through-{each}", (own, other), wrong, _GROUPINGS[scope])


def _after_waits() -> Iterator[RowTest]:
    """SB by a fence of local memory: a load behind it finds nothing old where all before it was
    waited for, and a release before it can be waited for."""
    for scope in ("WG", "DV", "ALL"):
        weak, near = Operation("", "rlx", scope), _GROUPINGS[scope]
        one = Operation("fence", "sc", scope, LOCAL).fence()
        fence = Operation("fence", "sc", scope).fence()
        other = f"{weak.store('y', 1)}; {fence}; {weak.load('x', 'r1')}"
        release = Operation("store", "rel", scope).store("z", 1)
        for order in ("rlx", "acq"):
            each = Operation("load", order, scope)
            own = f"{weak.store('x', 1)}; {release}; {one}; {each.load('y', 'r0')}"
            yield RowTest(f"SB-waited-{each}", (own, other), ("0:r0=0", "1:r1=0"), near)
        read = Operation("load", "sc", scope).load("y", "r0")
        kinds = [("store", "rel"), *product(_UPDATES, ("rlx", "rel"))]
        for kind, order in kinds if scope != "WG" else ():
            each = Operation(kind, order, scope)
            sent, known = each.publish("x")
            threads, asks = (f"{sent}; {one}; {read}", other), (known, "0:r0=0", "1:r1=0")
            yield RowTest(f"SB-first-{each}-by-fence-of-local", threads, asks, near)


def _unseen() -> Iterator[RowTest]:
    """MP to a fence behind an update whose result nothing uses: a load tells what it has seen."""
    for scope, memory, order in product(("WG", "DV", "ALL"), (GLOBAL, BOTH), _ACQUIRES):
        weak, each = Operation("", "rlx", scope), Operation("fence", order, scope, memory)
        sent = Operation("store", "rel", scope).store("y", 1)
        seen = f"{weak.add('y', 4)}; {each.fence()}; {weak.load('y', 'r0')}"
        threads = (f"st.na x 1; {sent}", f"{seen}; if r0==5: r1=ld.na x")
        asks, near = ("1:r0=5", "1:r1=0"), _GROUPINGS[scope]
        yield RowTest(f"MP-to-rmw-unused-by-{each}", threads, asks, near)


def _straight() -> Iterator[RowTest]:
    """MP where the data are loaded whatever the flag is, so that no branch waits for the flag."""
    weak = Operation("", "rlx", "WG")
    sent = f"{weak.store('x', 1)}; {Operation('store', 'rel', 'WG').store('y', 1)}"
    for each in _observing("WG", GLOBAL):
        seen, one = each.observe("y")
        place = 1 if each.kind.endswith("unused") else len(seen)
        own = "; ".join([*seen[:place], weak.load("x", "r1"), *seen[place:]])
        asks = (f"1:r0={one}", "1:r1=0")
        yield RowTest(f"MP-straight-to-{each}", (sent, own), asks, "@01", expected=1)
    places = product(("WG", "DV", "ALL"), ((GLOBAL, LOCAL), (LOCAL, GLOBAL)), _ACQUIRES)
    for scope, (data, flag), order in places:
        release = Operation("fence", "rel", scope, BOTH).fence()
        each = Operation("fence", order, scope, BOTH)
        seen_by = f"{weak.load('y', 'r0')}; {each.fence()}; {weak.load('x', 'r1')}"
        writes = {"straight": weak.store("x", 1)}
        if data == GLOBAL:
            writes["of-rmw"] = weak.add("x", 1)
        for name, write in writes.items():
            title = f"MP-{name}-{each}-{data}-by-{flag}"
            threads = (f"{write}; {release}; {weak.store('y', 1)}", seen_by)
            yield RowTest(title, threads, ("1:r0=1", "1:r1=0"), "@01", _locals(x=data, y=flag))


def _overwritten() -> Iterator[RowTest]:
    """MP to an update of all devices over which a store goes then: L2s that are not coherent make
    one of two updates, and no program can tell."""
    store = Operation("", "rlx", "ALL").store("y", 1)
    sent = f"st.na x 1; {Operation('store', 'rel', 'ALL').store('y', 1)}"
    for kind, order in product(_UPDATES, _ACQUIRES):
        each = Operation(kind, order, "ALL")
        seen, one = each.observe("y")
        own = "; ".join([*seen, f"if r0=={one} {{r1=ld.na x}}", store])
        asks = (f"1:r0={one}", "1:r1=0")
        yield RowTest(f"MP-overwritten-{each}", (sent, own), asks, "@0--1", expected=1)


def _three_threads() -> Iterator[RowTest]:
    """SB in three threads: a wave begins an access for its device before its operation of
    work-group scope; another wave of the work-group overtakes that operation, or has not reached
    it, and a third one, of another work-group, has not seen the access.
    """
    weak = Operation("", "rlx", "DV")
    one, far = (Operation("fence", "sc", "DV", memory).fence() for memory in (LOCAL, GLOBAL))
    last = f"{weak.store('z', 1)}; {far}; {weak.load('x', 'r1')}"
    for memory in (GLOBAL, LOCAL):
        fence = Operation("fence", "sc", "DV", BOTH).fence() if memory == LOCAL else far
        near = Operation("", "rlx", "WG")
        middle = f"{near.store('y', 1)}; {fence}; {weak.load('z', 'r1')}"
        store = Operation("store", "sc", "DV").store("x", 1)
        begins = {
            "store": (store if memory == GLOBAL else f"{weak.store('x', 1)}; {one}", ""),
            "rmw": (f"{weak.add('x', 1, 'r9')}; {one}", "0:r9=0"),
        }
        for begun, (first, known) in begins.items():
            for kind in ("load", *_UPDATES, "store"):
                each = Operation(kind, "sc", "WG", memory)
                then, seen = each.precede("y")
                threads, asks = (
                    (f"{first}; {then}", middle, last),
                    (known, seen, "1:r1=0", "2:r1=0"),
                )
                local = _locals(y=memory)
                yield RowTest(f"SB3-{begun}-{each}", threads, asks, "@01-2", local)
