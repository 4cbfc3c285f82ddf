"""The families: their programs, enumerated here once more, and their verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import Any

import command_line
import pytest

from rspverify.generate.annotations import Annotations, chosen_annotations
from rspverify.generate.family import FAMILIES, Family, _first_of_alike, chosen
from rspverify.litmus.program import Kind, Operation, Program
from rspverify.litmus.reader import read_program
from rspverify.source import Source
from rspverify.verdict import Word

SCOPES = ("WG", "DV", "DV.R")
NAMES = {Kind.LOAD: "ld", Kind.STORE: "st", Kind.RMW: "inc", Kind.FENCE: "F"}
COUNTS = {"MP": 72, "RMW": 468, "CO": 216, "SB": 324, "WRC": 1215, "ISA2": 405, "IRIW": 1215}
COUNTS |= {"AD": 576, "LB": 162, "S": 162, "R": 162, "2+2W": 162, "RWC": 1215, "WWC": 1215}
COUNTS |= {"fences": 1728, "RMW-used": 81, "RMW-unused": 81, "CAS": 36}

Thread = tuple[tuple[str, str], ...]
"""Of each operation its name in titles and its location."""


def partitions(count: int) -> set[frozenset[frozenset[int]]]:
    """Set partitions by brute force: the kernels of all functions on the set."""
    return {
        frozenset(frozenset(i for i in range(count) if image[i] == place) for place in set(image))
        for image in product(range(count), repeat=count)
    }


def mp() -> Iterator[list[Thread]]:
    for a, s, b, t in product(("st", "inc"), SCOPES, ("ld", "inc"), SCOPES):
        yield [(("st.na", "x"), (f"{a}.{s}", "y")), ((f"{b}.{t}", "y"), ("ld.na", "x"))]


def on_x(*threads: str) -> Iterator[list[Thread]]:
    """Every scope for each operation of threads such as `st ld`."""
    words = [thread.split() for thread in threads]
    for scopes in product(SCOPES, repeat=sum(map(len, words))):
        left = iter(scopes)
        yield [tuple((f"{kind}.{next(left)}", "x") for kind in thread) for thread in words]


def rmw() -> Iterator[list[Thread]]:
    for shape in (
        ("inc", "st"),
        ("inc", "inc"),
        ("inc", "st ld"),
        ("inc ld", "st"),
        ("inc inc", "st"),
        ("inc", "inc", "st"),
        ("inc", "inc", "inc"),
    ):
        yield from on_x(*shape)


def co() -> Iterator[list[Thread]]:
    for shape in (("st", "ld ld"), ("st ld", "st"), ("ld st", "st"), ("st st", "ld")):
        yield from on_x(*shape)


ORDERS = {"relaxed": "rlx", "acquire": "acq", "release": "rel", "acq_rel": "ar", "seq_cst": "sc"}
USUAL = {"ld": "acq", "st": "rel", "inc": "ar", "cas": "ar"}


def name_of(operation: Operation) -> str:
    kind = "cas" if operation.success is not None else NAMES[operation.kind]
    if operation.scope is None or operation.order is None:
        return f"{kind}.na"
    order = ORDERS[operation.order.value]
    named = "" if USUAL.get(kind) == order else f"{order}."
    return f"{kind}.{named}{operation.scope.value}{'.R' if operation.remote else ''}"


def of_a_title(operation: Operation) -> bool:
    """Whether a title names it; a compare-exchange reads what it expects besides."""
    return operation.location not in ("e", "f")


def shape_of(program: Program) -> tuple[tuple[Thread, ...], frozenset[frozenset[int]]]:
    threads = tuple(
        tuple(
            (name_of(each), each.location or "") for each in thread.operations if of_a_title(each)
        )
        for thread in program.threads
    )
    places = {(thread.device, thread.workgroup) for thread in program.threads}
    groups = frozenset(
        frozenset(t.index for t in program.threads if (t.device, t.workgroup) == place)
        for place in places
    )
    return threads, groups


def title_of(program: Program, family: str) -> str:
    """The title as litmus/rsp/README.md says."""
    threads, groups = shape_of(program)
    stem = "+".join([family, *("-".join(name for name, _ in thread) for thread in threads)])
    if all(len(group) == 1 for group in groups):
        return stem
    ordered = sorted(sorted(group) for group in groups)
    return f"{stem}@{'-'.join(''.join(map(str, group)) for group in ordered)}"


@pytest.mark.parametrize(("family", "shapes"), [("MP", mp), ("RMW", rmw), ("CO", co)])
def test_every_program_and_no_other(family: str, shapes) -> None:
    expected = Counter(
        (tuple(threads), groups) for threads in shapes() for groups in partitions(len(threads))
    )
    tests = list(FAMILIES[family].tests())
    programs = [read_program(Source(test.file, test.text)) for test in tests]
    assert Counter(map(shape_of, programs)) == expected
    assert len(tests) == COUNTS[family]
    stores = {
        operation.value.value
        for program in programs
        for operation in program.operations
        if operation.kind is Kind.STORE
    }
    assert stores == {"MP": {5, 1}, "RMW": {10}, "CO": {1, 2}}[family]


@pytest.mark.parametrize("family", FAMILIES)
def test_titles_tell_and_are_unique(family: str) -> None:
    tests = list(FAMILIES[family].tests())
    assert len({test.file.lower() for test in tests}) == len(tests) == COUNTS[family]
    assert sum(count for _, count in FAMILIES[family].counts()) == COUNTS[family]
    for test in tests[:: max(1, len(tests) // 60)]:
        program = read_program(Source(test.file, test.text))
        assert program.title == test.title == title_of(program, family)
        assert program.condition is not None


def test_plain_data_stays_atomic_by_declaration() -> None:
    """AD declares its data atomic even where every access to it is plain; MP does not."""
    for name, atomic in (("AD", True), ("MP", False)):
        test = next(FAMILIES[name].tests())
        program = read_program(Source(test.file, test.text))
        (x,) = [each for each in program.locations if each.name == "x"]
        assert x.atomic is atomic
        assert {each.atomic for each in program.operations if each.location == "x"} == {False}


def body(text: str) -> str:
    """A test without its comment."""
    return text[: text.index("(*")] + text[text.index("*)") + 2 :]


def test_laid_out_as_our_corpus_is(root: Path) -> None:
    tests = {test.file: test for each in ("WRC", "SB", "ISA2") for test in FAMILIES[each].tests()}
    same = 0
    for path in (root / "litmus/rsp").rglob("*.litmus"):
        text = path.read_text()
        if path.name in tests and "scopeTree" in text:
            same += body(text) == body(tests[path.name].text)
    assert same >= 12


EXPECTED = {"MP": (72, 12, 4, 0), "RMW": (468, 155, 19, 0), "CO": (216, 52, 0, 0)}
"""Programs, racy, broken by Original, broken by Proposed: as two prototypes counted them."""


def test_the_document_says_so(root: Path) -> None:
    text = (root / "docs/suites.md").read_text()
    for name, (programs, racy, original, proposed) in EXPECTED.items():
        assert f"| {name} | {programs} | {racy} | {original} | {proposed} |" in text


@pytest.mark.parametrize("name", EXPECTED)
def test_the_verdicts_that_the_prototypes_counted(name: str, root: Path, tmp_path: Path) -> None:
    """By the default engine; of tests that differ in names alone one is decided for all."""
    programs, racy, original, proposed = EXPECTED[name]
    first: dict[str, Any] = {}
    alike = Counter[str]()
    for it, (_, test) in zip(FAMILIES[name].tests(), FAMILIES[name]._placed(), strict=True):
        alike[first.setdefault(_first_of_alike(test), it).title] += 1
    for it in first.values():
        (tmp_path / it.file).write_text(it.text)
    schemes = [str(root / f"schemes/{scheme}.yaml") for scheme in ("original", "proposed")]
    results = command_line.document("check", *schemes, str(tmp_path), "--no-cache")["results"]
    assert len(results) == 2 * len(first)
    assert alike.total() == programs
    assert all(result["within"] == {} for result in results)
    found = Counter[tuple[str, str]]()
    for it in results:
        found[it["scheme"], it["verdict"]] += alike[it["test"]]
    for scheme, broken in (("original", original), ("proposed", proposed)):
        sound = programs - racy - broken
        for word, count in ((Word.RACY, racy), (Word.UNSOUND, broken), (Word.SOUND, sound)):
            assert found.pop((scheme, word), 0) == count
    assert not found


def test_permuted_threads_are_in_the_family_too() -> None:
    """inc ‖ inc ‖ inc: no program is left out because another is like it."""
    tests = [test for test in FAMILIES["RMW"].tests() if test.title.count("inc") == 3]
    titles = {
        shape_of(read_program(Source(test.file, test.text)))
        for test in tests
        if all("-" not in part for part in test.title.split("@")[0].split("+"))
    }
    assert len(titles) == 135
    for threads, groups in titles:
        for order in permutations(range(3)):
            moved = tuple(threads[order.index(i)] for i in range(3))
            regrouped = frozenset(frozenset(order[i] for i in group) for group in groups)
            assert (moved, regrouped) in titles


# ---- other choices ------------------------------------------------------------------------------


def family(name: str, *, distinct: bool = False, **words: list[str]) -> Family:
    return chosen(name, chosen_annotations(**words), distinct=distinct)[""]


def test_orders_and_scopes_that_are_asked_for() -> None:
    """Each operation has each order that it may have; acquire and release are not named."""
    asked = family("SB", scopes=["DV"], orders=["rlx", "acq", "sc"])
    tests = list(asked.tests())
    titles = {test.title for test in tests}
    ways = {kind: {f"{kind}.{order}DV" for order in orders} for kind, orders in (
        ("st", ("rlx.", "sc.")), ("ld", ("rlx.", "", "sc.")), ("inc", ("rlx.", "acq.", "sc.")),
    )}  # fmt: skip
    expected = {
        f"SB+{a}-{b}+{c}-{d}{at}"
        for first in ("st", "inc")
        for a, b, c, d in product(ways[first], ways["ld"], ways[first], ways["ld"])
        for at in ("", "@01")
    }
    assert titles == expected and len(tests) == len(titles) == asked.most
    assert [n for _, n in asked.counts()] == [2 * 6 * 6, 2 * 9 * 9]
    for test in tests[::7]:
        assert title_of(read_program(Source(test.file, test.text)), "SB") == test.title


def test_a_fence_has_every_order_but_relaxed() -> None:
    (first, *_, last) = chosen_annotations(["DV"], ["rlx", "rel", "sc"]).of("F")
    assert (first, last) == ("rel.DV", "sc.DV")
    assert Annotations(("WG",)).of("F") == ("ar.WG",)


def test_local_memory_is_of_one_work_group() -> None:
    """Of two locations in either memory; what two work-groups access is not local."""
    asked = family("LB", scopes=["WG"], memories=["global", "local"])
    programs = [read_program(Source(test.file, test.text)) for test in asked.tests()]
    found = Counter(
        (title.split("+")[0], len({t.workgroup for t in it.threads}), sum(x.region == "local" for x in it.locations))
        for it in programs
        for title in [it.title]
    )  # fmt: skip
    assert found == {("LB", 2, 0): 1, ("LB", 1, 0): 1, ("LB.local-x", 1, 1): 1,
                     ("LB.local-y", 1, 1): 1, ("LB.local-xy", 1, 2): 1}  # fmt: skip
    assert len(programs) == sum(n for _, n in asked.counts()) <= asked.most
    assert len({it.title for it in programs}) == len(programs)


def test_fences_are_for_both_memories_where_there_is_local_memory() -> None:
    texts = [it.text for it in family("fences", scopes=["WG"], memories=["local"]).tests()]
    assert texts and all(
        "CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE" in it for it in texts if "fence(" in it
    )
    assert not any("LOCAL_MEM_FENCE" in it.text for it in family("fences", scopes=["WG"]).tests())


@pytest.mark.parametrize("name", ["SB", "IRIW", "CAS", "RMW"])
def test_of_tests_that_differ_in_names_one_is_left(name: str) -> None:
    """Each test that is left out is one that is there with its threads in another order."""
    scopes = ["WG", "DV"] if name in ("SB", "CAS") else ["DV"]
    every, kept = (
        {it.file: it.text for it in family(name, scopes=scopes, distinct=one).tests()}
        for one in (False, True)
    )
    assert 0 < len(kept) < len(every) and kept.items() <= every.items()

    def orders(file: str) -> set[object]:
        program = read_program(Source(file, every[file]))
        found: set[object] = set()
        for threads in permutations(program.threads):
            names: dict[str, int] = {}
            places: dict[tuple[int, int], int] = {}
            found.add(
                tuple(
                    (
                        places.setdefault((it.device, it.workgroup), len(places)),
                        *(
                            (name_of(o), names.setdefault(o.location or "", len(names)), str(o.value and o.kind.value))
                            for o in it.operations
                        ),
                    )
                    for it in threads
                )
            )  # fmt: skip
        return found

    known = [orders(it) for it in kept]
    together = set().union(*known)
    assert all(orders(it) & together for it in every)
    assert sum(map(len, known)) == len(together)
