"""Files of costs: what they say, what they leave out, and how their mistakes are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from messages import cases, told

from rspverify.architecture.machines import MACHINES
from rspverify.scheme.cost import Bill, Costs, bill, default_costs, is_priced, read_costs
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.row import Template
from rspverify.source import InputError, Source, Span


@pytest.mark.parametrize(("text", "said"), cases(Path(__file__).with_name("costs.txt")))
def test_what_is_said(tmp_path: Path, text: str, said: list[str]) -> None:
    place = tmp_path / "costs.yaml"
    place.write_text(text)
    with pytest.raises(InputError) as caught:
        read_costs(str(place))
    assert told(caught.value) == said


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\x00\xff", "must be "), (b"#" * 200_000, "must have at most 100,000 bytes")],
)
def test_files_that_are_not_read(tmp_path: Path, content: bytes, said: str) -> None:
    place = tmp_path / "costs.yaml"
    place.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_costs(str(place))


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


def test_our_file_names_instructions_that_exist() -> None:
    assert all(map(is_priced, default_costs().weights))


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
