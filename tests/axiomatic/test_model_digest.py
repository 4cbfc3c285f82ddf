"""The digest of a model: any edit of a clause changes it, comments and layout do not."""

import pytest

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import SHIPPED, shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, SETS
from rspverify.records import replace
from rspverify.source import Source

MODEL = """
let sw = rf & (W * R)
let hb = (sb | sw)+
let rec path = hb | path;rf
with S from linearisations(W, hb)
acyclic hb as Hb
irreflexive path;S
undefined_unless empty rf as Race
flag ~empty mo as Flag
"""

EDITS = [
    ("(W * R)", "(R * W)"),
    ("(W * R)", "(W * W)"),
    ("(W * R)", "(W * (R | W))"),
    ("let sw = rf & (W * R)", "let sw = 0"),
    ("(sb | sw)+", "(sb | sw)*"),
    ("(sb | sw)+", "sb | sw+"),
    ("(sb | sw)+", "(sw | sb)+"),
    ("let rec path = hb | path;rf", "let path = hb | hb;rf"),
    ("path;rf", "path;mo"),
    ("linearisations", "generate_orders"),
    ("linearisations(W,", "linearisations(R,"),
    ("acyclic hb as Hb", "irreflexive hb as Hb"),
    ("acyclic hb as Hb", "~acyclic hb as Hb"),
    ("acyclic hb as Hb", "acyclic sw as Hb"),
    ("acyclic hb as Hb", "acyclic hb as Other"),
    ("acyclic hb as Hb\nirreflexive path;S", "irreflexive path;S\nacyclic hb as Hb"),
    ("irreflexive path;S\n", ""),
    ("undefined_unless empty", "flag ~empty"),
    ("undefined_unless empty", "empty"),
    ("empty rf as Race", "empty W as Race"),
    ("flag ~empty mo as Flag\n", ""),
]


def read(text: str) -> MemoryModel:
    return read_model(Source("model.cat", text), "model")


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_an_edit_of_a_clause_changes_the_digest(old: str, new: str) -> None:
    assert old in MODEL
    assert read(MODEL.replace(old, new)).meaning_digest != read(MODEL).meaning_digest


def test_comments_layout_and_the_names_of_the_model_change_nothing() -> None:
    before = read(MODEL).meaning_digest
    spaced = MODEL.replace("\n", "\n(* a comment *)\n\n  ").replace(";", " ; ")
    assert read(spaced).meaning_digest == before
    assert read('"a title"\n' + MODEL).meaning_digest == before
    assert replace(read(MODEL), name="other").meaning_digest == before


@pytest.mark.parametrize("name", shipped_models())
def test_each_statement_and_its_place_count(name: str) -> None:
    model = load_model(name)
    statements = model.statements
    digests = {model.meaning_digest}
    shorter = [(*statements[:at], *statements[at + 1 :]) for at in range(len(statements))]
    digests |= {replace(model, statements=each).meaning_digest for each in shorter}
    digests |= {replace(model, statements=statements[::-1]).meaning_digest}
    assert len(digests) == len(statements) + 2


def test_an_axiom_that_becomes_a_condition_counts() -> None:
    model = load_model("opencl-rsp")
    first, *others = model.axioms
    moved = replace(model, axioms=tuple(others), conditions=(*model.conditions, first))
    assert moved.meaning_digest != model.meaning_digest


def test_the_models_that_are_shipped_differ() -> None:
    found = {name: load_model(name).meaning_digest for name in shipped_models()}
    assert len(set(found.values())) == len(found)


def test_a_file_by_its_path_is_the_model_that_is_shipped() -> None:
    by_path = load_model(str(SHIPPED / "opencl-rsp.cat"))
    assert by_path.meaning_digest == load_model("opencl-rsp").meaning_digest


def test_a_base_name_is_of_one_sort() -> None:
    assert not {*SETS, FINAL_WRITES} & {*BASE_RELATIONS}
