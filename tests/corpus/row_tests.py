"""The tests of litmus-amdgpu-rows: for each row of a compiler's table, programs that need it.

A row is for an operation, an order, a scope and a memory. Around each of these stand the smallest
programs in which the operation publishes something, observes it, or is ordered as seq_cst.
`python -m corpus.row_tests`, in the folder tests, writes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from corpus.row_orders import across, buffering, by_the_letter, sent_on
from corpus.row_programs import (
    ACQUIRES,
    RELEASES,
    UPDATES,
    WHERE,
    Operation,
    Thread,
    atomic,
    joined,
    observing,
    placed,
    publishing,
    text,
)

FOLDER = Path(__file__).parents[2] / "litmus-amdgpu-rows"


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


def behind() -> Iterator[tuple[str, str]]:
    """CoWR with an operation in between that waits for the update, and empties the cache by which
    that has passed. It need not be for this: all it does is of another location."""
    weak, own = Operation("", "relaxed", "wg"), Operation("", "relaxed", "wi")
    far = [Operation(kind, "acquire", "wg") for kind in ("rmw-unused", "cas-unused")]
    near = [Operation(kind, "seq_cst", "wg", "local") for kind in ("load", "rmw", "cas")]
    for each in (*far, *near):
        places = {"x": atomic("global"), "z": atomic(each.memory)}
        between = each.load("z", "r1") if each.kind == "load" else " ".join(each.publish("z")[0])
        thread = Thread([weak.add("x", 1, "p"), between, own.load("x", "r0")])
        title = f"CoWR-behind-{each}"
        about = "A thread sees what it has written itself, behind this."
        yield title, text(title, about, places, [thread], joined("0:p=0", "0:r0=0"))


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


def straight() -> Iterator[tuple[str, str]]:
    """MP where the data are loaded whatever the flag is: no branch waits for the flag. To each
    operation of work-group scope, and between fences of both memories."""
    weak, release = Operation("", "relaxed", "wg"), Operation("store", "release", "wg")
    look = weak.load("x", "r1")
    for each in observing("wg", "global"):
        seen, one = each.observe("y")
        place = 1 if each.kind.endswith("unused") else len(seen)
        code = [*seen[:place], look, *seen[place:]]
        title, places = f"MP-straight-to-{each}", {"x": atomic("global"), "y": atomic("global")}
        about = "A message, observed by this, and no branch."
        threads = placed([[weak.store("x", 1), release.store("y", 1)], code], "wg")
        asks = joined(f"1:r0={one}", "1:r1=0")
        yield title, text(title, about, places, threads, asks, expected=1)
    for scope in ("wg", "dv", "all"):
        release = Operation("fence", "release", scope, "both")
        for data, flag in (("global", "local"), ("local", "global")):
            of_data = Operation("", "relaxed", "wg", data)
            of_flag = Operation("", "relaxed", "wg", flag)
            places = {"x": atomic(data), "y": atomic(flag)}
            sent = [of_data.store("x", 1), release.fence(), of_flag.store("y", 1)]
            for order in ACQUIRES:
                each = Operation("fence", order, scope, "both")
                seen = [of_flag.load("y", "r0"), each.fence(), of_data.load("x", "r1")]
                title = f"MP-straight-{each}-{data}-by-{flag}"
                about = "A message between fences of both memories, and no branch."
                threads, asks = placed([sent, seen], "wg"), joined("1:r0=1", "1:r1=0")
                yield title, text(title, about, places, threads, asks)
                if data == "global":
                    title = f"MP-of-rmw-{each}-{data}-by-{flag}"
                    about = "The same, where what is published has passed by the cache."
                    threads = placed([[of_data.add("x", 1), *sent[1:]], seen], "wg")
                    yield title, text(title, about, places, threads, asks)


def overwritten() -> Iterator[tuple[str, str]]:
    """MP to an update of all devices over which a store goes then, of what was published: L2s that
    are not coherent make one of two updates, and here nobody can tell."""
    store, release = Operation("", "relaxed", "all"), Operation("store", "release", "all")
    places = {"x": "global int", "y": atomic("global")}
    for kind in UPDATES:
        for order in ACQUIRES:
            each = Operation(kind, order, "all")
            seen, one = each.observe("y")
            after = [f"int r1 = 0; if (r0 == {one}) r1 = *x;", store.store("y", 1)]
            title = f"MP-overwritten-{each}"
            about = "A message, observed by an update that is overwritten."
            threads = placed([["*x = 1;", release.store("y", 1)], [*seen, *after]], "all")
            asks = joined(f"1:r0={one}", "1:r1=0")
            yield title, text(title, about, places, threads, asks, expected=1)


def row_tests() -> dict[str, str]:
    """Every test by its title, and its text."""
    found: dict[str, str] = {}
    for makes in (
        messages,
        fences_of_both,
        buffering,
        handed_on,
        coherent,
        behind,
        across,
        unseen,
        straight,
        overwritten,
        sent_on,
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
