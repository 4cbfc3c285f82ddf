"""The families: their programs, enumerated here once more, and their verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rspverify.cli import app
from rspverify.generate.families import FAMILIES, write_tests
from rspverify.litmus import Kind, Operation, Program, read_program
from rspverify.source import Source
from rspverify.verdict import Word

SCOPES = ("WG", "DV", "DV.R")
NAMES = {Kind.LOAD: "ld", Kind.STORE: "st", Kind.RMW: "inc"}
COUNTS = {"MP": 72, "RMW": 468, "CO": 216, "SB": 324, "WRC": 1215, "ISA2": 405, "IRIW": 1215}
COUNTS |= {"AD": 576}

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


def name_of(operation: Operation) -> str:
    kind = NAMES[operation.kind]
    if operation.scope is None:
        return f"{kind}.na"
    return f"{kind}.{operation.scope.value}{'.R' if operation.remote else ''}"


def shape_of(program: Program) -> tuple[tuple[Thread, ...], frozenset[frozenset[int]]]:
    threads = tuple(
        tuple((name_of(each), each.location) for each in thread.operations)
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
    for test in tests[:: max(1, len(tests) // 60)]:
        program = read_program(Source(test.file, test.text))
        assert program.title == test.title == title_of(program, family)
        assert program.condition is not None


def test_sizes_add_up() -> None:
    for name, family in FAMILIES.items():
        assert sum(count for _, count in family.counts()) == COUNTS[name]


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
    text = (root / "docs/families.md").read_text()
    for name, (programs, racy, original, proposed) in EXPECTED.items():
        assert f"| {name} | {programs} | {racy} | {original} | {proposed} |" in text


@pytest.mark.parametrize("name", EXPECTED)
def test_the_verdicts_that_the_prototypes_counted(name: str, root: Path, tmp_path: Path) -> None:
    """By the default engine; 16 s of CPU for the three of them."""
    programs, racy, original, proposed = EXPECTED[name]
    write_tests({"": FAMILIES[name]}, tmp_path)
    schemes = [str(root / f"schemes/{scheme}.yaml") for scheme in ("original", "proposed")]
    words = ["check", *schemes, str(tmp_path), "--no-cache", "--format", "json"]
    results = json.loads(CliRunner().invoke(app, words).stdout)["results"]
    assert len(results) == 2 * programs
    assert all(result["within"] == {} for result in results)
    found = Counter((result["scheme"], result["verdict"]) for result in results)
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
