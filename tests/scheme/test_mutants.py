"""One-step mutants, against a count of steps that is made on the text of the code alone."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rspverify.scheme.mutants import Mutation, mutants_of, wider_mutants_of
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import scheme_text
from rspverify.source import Source

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "schemes").glob("*.yaml"))
Words = tuple[str, ...]

OTHERS = [
    *(f"FLU_L1 {reach}" for reach in ("WG", "DV", "SY")),
    *(f"INV_L1 {reach}" for reach in ("WG", "DV", "SY")),
    "FLU_L2 DV",
    "FLU_L2 SY",
    "LK_L2 x",
    "UL_L2 x",
    *(f"{name} {reach}" for name in ("LK_rmw", "UL_rmw") for reach in ("DV", "SY")),
]
NARROWER = {
    **{f"{name} DV": f"{name} WG" for name in ("FLU_L1", "INV_L1")},
    **{
        f"{name} SY": f"{name} DV"
        for name in ("FLU_L1", "INV_L1", "FLU_L2", "INV_L2", "LK_rmw", "UL_rmw")
    },
}
ACCESS = "ST r x"


def scheme_of(code: Words, scope: str = "dv") -> Scheme:
    text = f"name: random\nrows:\n  - {{op: store, scope: {scope}, code: [{', '.join(code)}]}}\n"
    return read_scheme(Source("random.yaml", text))


def in_words(code: object) -> Words:
    return tuple(map(str, code))  # type: ignore[call-overload]


def unlocked(code: Words) -> set[tuple[int, int]]:
    """The innermost pairs of each lock: an UL, and the LK that is open when it comes, if any."""
    found = set()
    for name in {each[3:] for each in code if each.startswith(("LK_", "UL_"))}:
        places = [n for n, each in enumerate(code) if each in (f"LK_{name}", f"UL_{name}")]
        while True:  # neighbours, as brackets are matched by hand
            for left, right in pairwise(places):
                if code[left].startswith("LK") and code[right].startswith("UL"):
                    found.add((left, right))
                    places = [each for each in places if each not in (left, right)]
                    break
            else:
                break
    return found


def steps(code: Words) -> dict[str, list[Words]]:
    """Every step by its kind."""
    without = [(*code[:n], *code[n + 1 :]) for n, each in enumerate(code) if each != ACCESS]
    pairs = [tuple(each for n, each in enumerate(code) if n not in pair) for pair in unlocked(code)]
    narrow = [
        (*code[:n], NARROWER[each], *code[n + 1 :])
        for n, each in enumerate(code)
        if each in NARROWER
    ]
    swapped = [(*code[:n], code[n + 1], code[n], *code[n + 2 :]) for n in range(len(code) - 1)]
    return {"drop": without, "drop pair": pairs, "narrow": narrow, "swap": swapped}


CODES = st.builds(
    lambda before, after: (*before, ACCESS, *after),
    st.lists(st.sampled_from(OTHERS), max_size=5),
    st.lists(st.sampled_from(OTHERS), max_size=5),
)


@given(CODES)
def test_the_mutants_of_a_code_are_those_one_step_away(code: Words) -> None:
    (row,) = mutants_of(scheme_of(code))
    expected = steps(code)
    every = [each for kind in expected.values() for each in kind]
    codes = [in_words(mutant.code) for mutant in row.mutants]
    assert set(codes) == set(every) - {code}
    assert len(codes) == len(set(codes)), "a code is counted twice"
    found = [*row.unchanged, *(step for mutant in row.mutants for step in mutant.steps)]
    assert Counter(step.mutation.value for step in found) == Counter(
        {kind: len(those) for kind, those in expected.items() if those}
    )
    for mutant in row.mutants:
        for step in mutant.steps:
            assert in_words(mutant.code) in expected[step.mutation.value]
            assert step.instruction == code[step.place - 1]
            assert len(code) - len(mutant.code) == len(step.removes)
            rest = [each for n, each in enumerate(code, 1) if n not in step.removes]
            if step.removes:
                assert in_words(mutant.code) == tuple(rest)
    assert all(step.mutation is Mutation.SWAP for step in row.unchanged)


@settings(max_examples=15)
@given(CODES)
def test_a_mutant_differs_in_its_row_alone_and_reads_back(code: Words) -> None:
    scheme = read_scheme(
        Source(
            "two.yaml",
            "name: two\nrows:\n  - {op: load, scope: dv, code: [LD r x]}\n"
            f"  - {{op: store, scope: dv, code: [{', '.join(code)}]}}\n",
        )
    )
    names = set()
    for mutant in mutants_of(scheme)[1].mutants:
        changed = mutant.of(scheme)
        assert changed.rows[0] == scheme.rows[0]
        assert in_words(changed.rows[1].code) == in_words(mutant.code) != code
        again = read_scheme(Source("again.yaml", scheme_text(changed)))
        assert [in_words(row.code) for row in again.rows] == [("LD r x",), in_words(mutant.code)]
        names.add(again.name)
    assert len(names) == len(mutants_of(scheme)[1].mutants)


@pytest.mark.parametrize("name", ["proposed", "original"])
def test_tab_3_has_46_mutants_in_either_column(name: str) -> None:
    rows = mutants_of(read_scheme_file(ROOT / f"schemes/{name}.yaml"))
    assert sum(len(row.mutants) for row in rows) == 46
    if name == "proposed":
        kinds = Counter(mutant.step.mutation for row in rows for mutant in row.mutants)
        # Counted by hand in Tab. 3: rows 2, 3, 5, 6, 8 and 9.
        assert kinds == {"drop": 18, "drop pair": 2, "narrow": 8, "swap": 18}
        assert not any(mutant.also for row in rows for mutant in row.mutants)


def test_equal_neighbours_make_one_mutant_and_a_step_that_changes_nothing() -> None:
    (row,) = mutants_of(scheme_of(("INV_L1 WG", "INV_L1 WG", ACCESS)))
    assert [(it.step.words, it.step.place, len(it.also)) for it in row.mutants] == [
        ("drop", 1, 1),
        ("swap with ST r x", 2, 0),
    ]
    assert [(step.place, step.words) for step in row.unchanged] == [(1, "swap with INV_L1 WG")]


def test_an_inner_pair_is_that_of_the_same_lock_and_reach() -> None:
    code = ("LK_rmw DV", "LK_L2 x", "LK_rmw SY", ACCESS, "UL_rmw DV", "UL_L2 x")
    (row,) = mutants_of(scheme_of(code))
    pairs = [it.step for it in row.mutants if it.step.mutation is Mutation.DROP_PAIR]
    assert [step.removes for step in pairs] == [(1, 5), (2, 6)]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_wider_mutants_reach_one_step_further(path: Path) -> None:
    scheme = read_scheme_file(path)
    for row in wider_mutants_of(scheme):
        for mutant in row.mutants:
            pairs = list(zip(row.row.code, mutant.code, strict=True))
            ((before, after),) = [(str(a), str(b)) for a, b in pairs if str(a) != str(b)]
            assert NARROWER[after] == before


def test_dv_is_widened_only_where_there_are_several_devices() -> None:
    code = ("FLU_L1 WG", "INV_L1 DV", "LK_rmw DV", ACCESS)
    (one,) = wider_mutants_of(scheme_of(code))
    (several,) = wider_mutants_of(scheme_of(code, "all"))
    assert [mutant.step.words for mutant in one.mutants] == ["widen to DV"]
    assert [mutant.step.words for mutant in several.mutants] == [
        "widen to DV",
        "widen to SY",
        "widen to SY",
    ]
