"""The shipped schemes are Tab. 3; their broken siblings differ."""

from pathlib import Path

import pytest

from rspverify.litmus.program import Kind, Scope
from rspverify.scheme.reader import read_scheme_file
from rspverify.scheme.scheme import Scheme

SCHEMES = Path(__file__).parents[2] / "schemes"
BROKEN = Path(__file__).parent / "broken"

TABLE = {
    ("load", "na, WG"): ("LD", "LD"),
    ("load", "DV,N"): ("INV_L1 WG; LD", "LD; INV_L1 WG"),
    ("load", "DV,R"): (
        "LK_L2 x; FLU_L1 DV; INV_L1 WG; LD; UL_L2 x",
        "LD; FLU_L1 DV; INV_L1 WG",
    ),
    ("store", "na, WG"): ("ST", "ST"),
    ("store", "DV,N"): ("FLU_L1 WG; ST", "FLU_L1 WG; ST"),
    ("store", "DV,R"): (
        "LK_L2 x; FLU_L1 WG; ST; INV_L1 DV; UL_L2 x",
        "LK_rmw DV; FLU_L1 DV; INV_L1 DV; ST; FLU_L1 WG; INV_L1 DV; UL_rmw DV",
    ),
    ("fetch_inc", "WG"): ("INC_L1", "INC_L1"),
    ("fetch_inc", "DV,N"): ("FLU_L1 WG; INV_L1 WG; INC_L2", "FLU_L1 WG; INC_L2; INV_L1 WG"),
    ("fetch_inc", "DV,R"): (
        "LK_rmw DV; LK_L2 x; FLU_L1 DV; INV_L1 WG; INC_L2; INV_L1 DV; UL_L2 x; UL_rmw DV",
        "LK_rmw DV; FLU_L1 DV; INV_L1 DV; INC_L2; FLU_L1 DV; INV_L1 DV; UL_rmw DV",
    ),
}
"""Tab. 3: (operation, scopes) → (Original, Proposed); LD, ST and INC are of `r x`."""

KINDS = {"load": Kind.LOAD, "store": Kind.STORE, "fetch_inc": Kind.RMW}


def code_for(scheme: Scheme, operation) -> str | None:
    row = scheme.row_for(operation)
    return row and "; ".join(map(str, row.code)).replace(" r x", "")


@pytest.mark.parametrize(("column", "name"), [(0, "original"), (1, "proposed")])
def test_a_shipped_scheme_is_its_column_of_table_3(operation, column, name):
    scheme = read_scheme_file(SCHEMES / f"{name}.yaml")
    assert (scheme.name, scheme.machine.name, len(scheme.rows)) == (name, "rsp", len(TABLE))
    for number, ((kind, scopes), codes) in enumerate(TABLE.items(), start=1):
        for scope in scopes.split(", "):
            flags = {"N": [False], "R": [True], "": [False, True]}[scope.partition(",")[2]]
            reach = None if scope == "na" else Scope(scope[:2])
            for remote in flags if reach else [False]:
                made = operation(KINDS[kind], reach, remote)
                assert code_for(scheme, made) == codes[column]
                assert scheme.row_for(made).number == number


@pytest.mark.parametrize("name", ["original", "proposed"])
def test_table_3_has_no_row_for_scope_all_nor_for_a_non_atomic_increment(operation, name):
    scheme = read_scheme_file(SCHEMES / f"{name}.yaml")
    shapes = {shape for row in scheme.rows for shape in row.shapes}
    assert Scope.ALL not in {shape.scope for shape in shapes}
    assert scheme.row_for(operation(Kind.RMW)) is None


@pytest.mark.parametrize("path", sorted(BROKEN.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_broken_sibling_is_proposed_but_for_what_its_name_says_is_missing(path):
    proposed, broken = read_scheme_file(SCHEMES / "proposed.yaml"), read_scheme_file(path)
    assert broken.name == path.stem
    assert path.read_text().startswith("# Proposed, but row")
    pairs = list(zip(proposed.rows, broken.rows, strict=True))
    assert all(str(left) == str(right) for left, right in pairs)
    changed = [
        left.number
        for left, right in pairs
        if list(map(str, left.code)) != list(map(str, right.code))
    ]
    assert changed == {
        "proposed-no-release-flush": [5],
        "proposed-no-acquire-invalidate": [2],
        "proposed-no-rmw-lock": [6, 9],
        "proposed-no-rmw-unlock": [6],
        "proposed-no-lock-order": [6, 9],
    }.get(path.stem)
