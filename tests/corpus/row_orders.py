"""The tests of litmus-amdgpu-rows that ask for the one order of all that is seq_cst: SB and R."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from corpus.row_programs import UPDATES, Operation, Thread, atomic, joined, placed, text

ABOUT = "A fence of one memory, in the order of all that is seq_cst."


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
                known_too = joined("0:q=0" if begun == "rmw" else "", known, "1:r1=0")
                codes = [
                    [write_x, one.fence(), then],
                    [weak_y.store("y", 1), both.fence(), weak_x.load("x", "r1")],
                ]
                yield title, text(title, ABOUT, places, placed(codes, where), known_too)
    yield from _behind()
    yield from _through()
    yield from _waited()


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
    other = [far.store("y", 1), both.fence(), near.load("x", "r1")]
    own = [near.store("x", 1), local.fence(), far.load("y", "r0")]
    title = f"SB-{local}-then-global"
    asks = joined("0:r0=0", "1:r1=0")
    yield title, text(title, ABOUT, places, placed([own, other], "wg"), asks)
    for kind in ("store", "rmw-unused", "cas-unused"):
        each = Operation(kind, "seq_cst", "wg", "local")
        sent, _ = each.publish("z")
        own = [near.store("x", 1), *sent, one.fence(), far.load("y", "r0")]
        title = f"SB-through-{each}"
        within = {**places, "z": atomic("local")}
        yield title, text(title, ABOUT, within, placed([own, other], "wg"), asks)
    other = [far.store("y", 1), both.fence(), near.store("x", 1)]
    for kind in ("load", "rmw", "cas"):
        each = Operation(kind, "seq_cst", "wg", "local")
        seen, one_ = each.observe("x")
        own = [*seen, one.fence(), far.load("y", "r1")]
        title = f"MP-across-{each}"
        asks = joined(f"1:r0={one_}", "1:r1=0")
        yield title, text(title, ABOUT, places, placed([other, own], "wg"), asks)


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
            yield title, text(title, ABOUT, places, placed([own, other], scope), asks)


def sent_on() -> Iterator[tuple[str, str]]:
    """SB in three threads: what a wave has begun for its device stays before its operation of
    work-group scope, which another wave of the work-group overtakes, or has not yet reached, and a
    third one, of another work-group, has not seen what was begun.
    """
    weak = Operation("", "relaxed", "dv")
    one = Operation("fence", "seq_cst", "dv", "local")
    far = Operation("fence", "seq_cst", "dv")
    last = [weak.store("z", 1), far.fence(), weak.load("x", "r1")]
    for memory in ("global", "local"):
        near = Operation("", "relaxed", "wg", memory)
        places = {"x": atomic("global"), "y": atomic(memory), "z": atomic("global")}
        both = Operation("fence", "seq_cst", "dv", "both") if memory == "local" else far
        middle = [near.store("y", 1), both.fence(), weak.load("z", "r1")]
        store = Operation("store", "seq_cst", "dv").store("x", 1)
        begins = {
            "store": ([store] if memory == "global" else [weak.store("x", 1), one.fence()], ""),
            "rmw": ([weak.add("x", 1, "q"), one.fence()], "0:q=0"),
        }
        for begun, (first, known) in begins.items():
            for kind in ("load", *UPDATES, "store"):
                each = Operation(kind, "seq_cst", "wg", memory)
                then, seen = _looks_or_writes(each, kind)
                title = f"SB3-{begun}-{each}"
                about = "In a work-group, between what is of the whole device: seq_cst."
                threads = [Thread([*first, then]), Thread(middle), Thread(last, group=1)]
                asks = joined(known, seen, "1:r1=0", "2:r1=0")
                yield title, text(title, about, places, threads, asks)


def _waited() -> Iterator[tuple[str, str]]:
    """What is loaded behind a fence of local memory is not old, where what is before the fence has
    been waited for; and what is released before such a fence can be waited for."""
    places = {"x": atomic("global"), "y": atomic("global"), "z": atomic("global")}
    for scope in ("wg", "dv", "all"):
        weak, release = Operation("", "relaxed", scope), Operation("store", "release", scope)
        one = Operation("fence", "seq_cst", scope, "local")
        far = Operation("fence", "seq_cst", scope)
        other = [weak.store("y", 1), far.fence(), weak.load("x", "r1")]
        for order in ("relaxed", "acquire"):
            each = Operation("load", order, scope)
            own = [weak.store("x", 1), release.store("z", 1), one.fence(), each.load("y", "r0")]
            title, asks = f"SB-waited-{each}", joined("0:r0=0", "1:r1=0")
            yield title, text(title, ABOUT, places, placed([own, other], scope), asks)
        look = Operation("load", "seq_cst", scope).load("y", "r0")
        within = {name: places[name] for name in ("x", "y")}
        kinds = [("store", "release"), *product(UPDATES, ("relaxed", "release"))]
        for kind, order in kinds if scope != "wg" else ():
            each = Operation(kind, order, scope)
            sent, known = each.publish("x")
            title = f"SB-first-{each}-by-fence-of-local"
            asks = joined(known and f"0:{known}", "0:r0=0", "1:r1=0")
            codes = [[*sent, one.fence(), look], other]
            yield title, text(title, ABOUT, within, placed(codes, scope), asks)
