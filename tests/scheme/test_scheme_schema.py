"""The schemas that editors check files by, against the readers: what one takes the other takes."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from messages import cases
from scheme.test_reader import MESSAGES, ROW, code, table

from rspverify.architecture.machines import MACHINES
from rspverify.scheme.cost import read_costs
from rspverify.scheme.reader import read_scheme
from rspverify.scheme.schema import costs_schema, scheme_schema
from rspverify.source import InputError, Source

ROOT = Path(__file__).parents[2]
SCHEMES = sorted(
    [
        *(ROOT / "schemes").glob("*.yaml"),
        *(ROOT / "tests/scheme").rglob("*.yaml"),
        ROOT / "examples/ci/mine.yaml",
    ]
)
OF_YAML = re.compile(
    r"must be one YAML document|indentation|printable|must be YAML|nesting|must have no tag"
    r"|must be given once|a key must be a word|the file must be a mapping, not empty"
)
"""What no schema says, as it is wrong before there are values."""
BEYOND = re.compile(
    r"must have (exactly|at least) one instruction .* not (LD and LD$|INC_L2 and INC_L2 and ST)"
    r"|not ST and INC_L2$|must be matched by one row"
)
"""What a schema cannot say: how many of a list are of a kind, and how rows go together."""


SCHEMES_ARE = jsonschema.Draft7Validator(scheme_schema())
COSTS_ARE = jsonschema.Draft7Validator(costs_schema())


def test_they_are_schemas() -> None:
    for each in (scheme_schema(), costs_schema()):
        jsonschema.Draft7Validator.check_schema(each)


@pytest.mark.parametrize("path", SCHEMES, ids=lambda it: it.stem)
def test_every_scheme_of_ours_is_taken(path: Path) -> None:
    assert SCHEMES_ARE.is_valid(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    ("text", "said"), [it for it in cases(MESSAGES) if not OF_YAML.search(it[1][0])]
)
def test_what_the_reader_refuses_the_schema_refuses(text: str, said: list[str]) -> None:
    beyond = BEYOND.search(said[0]) is not None
    document = yaml.safe_load(text.replace("yes", "'yes'"))  # a word in YAML 1.2
    assert SCHEMES_ARE.is_valid(document) == beyond


@pytest.mark.parametrize("machine", MACHINES)
def test_code_is_of_the_machine(machine: str) -> None:
    text = f"machine: {machine}\n" + code("LD r x", "INV_L2 DV")
    assert SCHEMES_ARE.is_valid(yaml.safe_load(text)) == (machine == "rsp-inv-l2")


@pytest.mark.parametrize(
    "text",
    [
        table(ROW) + "note: 12\n",
        table(
            "op: rmw, scope: [dv, all], order: [relaxed, seq_cst], remote: false, code: [INC_L1 r x n]"
        ),
        table("op: cas, scope: dv, code: [FLU_L1 WG, RMW_L2 r x f, ST r x]"),
        table("op: fence, scope: dv, order: release, code: []"),
        table("op: store, scope: [na], code: [ST r x, ST r x]"),
    ],
)
def test_what_the_reader_takes_the_schema_takes(text: str) -> None:
    read_scheme(Source("s.yaml", text))
    assert SCHEMES_ARE.is_valid(yaml.safe_load(text))


def test_costs() -> None:
    shipped = yaml.safe_load((ROOT / "rspverify/scheme/costs.yaml").read_text())
    assert COSTS_ARE.is_valid(shipped)
    assert set(shipped) <= set(costs_schema()["properties"])


def test_costs_of_a_target_with_very_many_instructions(tmp_path: Path) -> None:
    """Their names are patterns in the schema; the reader looks each up."""
    text = 'membar.acq.dv.semsc0.semvis: 3\n"DMB ISH": 4\n'
    (tmp_path / "costs.yaml").write_text(text)
    assert read_costs(tmp_path / "costs.yaml").weights["membar.acq.dv.semsc0.semvis"] == 3
    assert COSTS_ARE.is_valid(yaml.safe_load(text))
    assert len(costs_schema()["properties"]) < 2_000


@pytest.mark.parametrize(
    "text",
    [
        "FLU_L1: 3",
        "FLU_L1 DV: -1",
        "LD: 1000001",
        "LD: x",
        "- LD",
        "LOREM: 1",
        "LD: 1.5",
        "membar.dv: 1",
    ],
)
def test_wrong_costs(text: str, tmp_path: Path) -> None:
    file = tmp_path / "costs.yaml"
    file.write_text(text)
    with pytest.raises(InputError):
        read_costs(str(file))
    assert not COSTS_ARE.is_valid(yaml.safe_load(text))
