"""Files of costs: what they say, what they leave out, and how their mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from rspverify.architecture.machines import MACHINES
from rspverify.scheme.cost import Bill, Costs, bill, default_costs, read_costs
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.row import Template
from rspverify.source import InputError, Source, Span


def wrong(folder: Path, text: str | bytes) -> list[str]:
    place = folder / "costs.yaml"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError) as caught:
        read_costs(str(place))
    return [str(problem).replace(str(place), "costs.yaml") for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("LD: -1", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not '-1'"),
        ("LD: 1.5", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not '1.5'"),
        ("LD: 1000001", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not "),
        ("LD: 10000000000", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not "),
        ("LD: ²", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not '²'"),
        ("LD:", "costs.yaml:1:4: a cost must be a whole number up to 1,000,000, not nothing"),
        ("LD: [1]", "costs.yaml:1:5: a cost must be a whole number up to 1,000,000, not a list"),
        ("LDX: 1", "costs.yaml:1:1: an instruction must be named with its reach, not 'LDX'"),
        ("FLU_L1: 1", "costs.yaml:1:1: an instruction must be named with its reach, not 'FLU_L1'"),
        ("FLU_L2 WG: 1", "costs.yaml:1:1: an instruction must be named with its reach, not "),
        ("flu_l1 dv: 1", "did you mean FLU_L1 DV?"),
        ("LD: 1\nLD: 2", "costs.yaml:2:1: "),
        (
            "FLU_L1 DV: 1\nFLU_L1  DV: 2",
            "costs.yaml:2:1: an instruction must have one cost, FLU_L1 DV has one before",
        ),
        ("[LD, 1]", "costs.yaml:1:1: a file of costs must be a mapping from instructions, not a "),
        ("- LD: 1", "costs.yaml:1:1: a file of costs must be a mapping from instructions, not a "),
        ("", "the file must be a mapping, not empty"),
        ("LD: {", "must be YAML"),
        (b"\x00\xff", "must be "),
        ("#" * 200_000, "must have at most 100,000 bytes"),
    ],
)
def test_mistakes(tmp_path: Path, text: str | bytes, message: str) -> None:
    said = wrong(tmp_path, text)
    assert any(message in each for each in said), said


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    said = wrong(tmp_path, "LD: x\nFLU: 1\nST: 3\nINC_L1: y\n")
    assert [each.split(": ")[0] for each in said] == [
        "costs.yaml:1:5",
        "costs.yaml:2:1",
        "costs.yaml:4:9",
    ]


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_costs(str(tmp_path / "nowhere.yaml"))


@pytest.mark.parametrize(("text", "cost"), [("0", 0), ("0000000007", 7), ("1000000", 1_000_000)])
def test_any_whole_number_in_bounds(tmp_path: Path, text: str, cost: int) -> None:
    place = tmp_path / "costs.yaml"
    place.write_text(f"LD: {text}\n")
    assert read_costs(str(place)).weights["LD"] == cost


def test_every_instruction_of_every_machine_has_a_weight() -> None:
    """What our file does not name weighs what its rule gives, which is what it says of ours."""
    nobody = Source("s.yaml", "")
    for machine in MACHINES.values():
        for mnemonic in machine.instructions.values():
            for reach in mnemonic.reaches or (None,):
                template = Template(mnemonic, reach, Span(nobody, 1, 1, 1, 1))
                assert default_costs().weight(template) > 0
                if mnemonic.name in ("LD", "ST", "INC_L1", "INC_L2", "FLU_L1", "INV_L1", "LK_L2"):
                    named = default_costs().weight(template)
                    assert Costs({}).weight(template) == named


def test_the_defaults_are_as_documented() -> None:
    """An access is 1, a flush of the own L1 10, and each step of reach four times as much."""
    weights = default_costs().weights
    assert {weights[each] for each in ("LD", "ST", "INC_L1", "RMW_L1")} == {1}
    assert {weights[each] for each in ("INC_L2", "RMW_L2", "LK_L2", "UL_L2")} == {10}
    for name in ("FLU_L1", "INV_L1"):
        assert [weights[f"{name} {reach}"] for reach in ("WG", "DV", "SY")] == [10, 40, 160]
    for name in ("FLU_L2", "INV_L2", "LK_rmw", "UL_rmw"):
        assert [weights[f"{name} {reach}"] for reach in ("DV", "SY")] == [40, 160]


def test_a_bill_counts_what_instructions_do() -> None:
    code = "FLU_L1 SY, FLU_L2 DV, INV_L1 WG, LK_L2 x, LK_rmw SY, INC_L2 r x, UL_rmw SY, UL_L2 x"
    text = f"name: s\nrows:\n  - {{op: rmw, scope: dv, code: [{code}]}}\n"
    found = bill(read_scheme(Source("s.yaml", text)).rows[0].code, default_costs())
    cost = 160 + 40 + 10 + 10 + 160 + 10 + 160 + 10
    assert found == Bill(cost, 8, 1, 1, 1, 0, 2)
