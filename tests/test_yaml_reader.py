"""The one reader of YAML: nodes know their places, and all mistakes of a text are found."""

import time

import pytest

from rspverify.source import Problem, Source
from rspverify.yaml_reader import (
    List,
    Table,
    Text,
    read_choice,
    read_choices,
    read_entries,
    read_fields,
    read_text,
)
from rspverify.yaml_text import read_yaml


def tree(text):
    root, problems = read_yaml(Source("a.yaml", text))
    assert not problems, problems
    return root


def said(problems: list[Problem]):
    return [(str(each.span), each.message, each.hint) for each in problems]


def test_each_node_knows_its_place():
    root = tree("a: [x, 'y z']\nb:\n  - c d\n  -\n")
    assert isinstance(root, Table)
    (a, flow), (b, block) = root.entries
    assert (a.text, str(a.span), flow.span.text) == ("a", "a.yaml:1:1", "[x, 'y z']")
    assert (b.text, str(b.span)) == ("b", "a.yaml:2:1")
    assert isinstance(flow, List) and isinstance(block, List)
    assert [(w, str(at)) for w, at in flow.items[1].words] == [
        ("y", "a.yaml:1:9"),
        ("z", "a.yaml:1:11"),
    ]
    assert [(w, str(at)) for w, at in block.items[0].words] == [
        ("c", "a.yaml:3:5"),
        ("d", "a.yaml:3:7"),
    ]
    assert block.items[1].null and not block.items[0].null
    assert (block.span.line, block.span.end_line) == (3, 4)


def test_words_of_a_text_that_is_not_as_written_are_all_at_its_place():
    (text,) = tree('- "a\\x20b"').items
    assert [(w, str(at)) for w, at in text.words] == [("a", "a.yaml:1:3"), ("b", "a.yaml:1:3")]


@pytest.mark.parametrize("word", ["", "~", "null", "Null", "NULL"])
def test_null_is_plain(word):
    assert tree(f"a: {word}").entries[0][1].null
    assert not tree(f"a: '{word}'").entries[0][1].null


def test_lines_are_counted_as_excerpts_show_them():
    """Other line breaks of YAML do not move the caret to another line."""
    root, problems = read_yaml(Source("a.yaml", "x: 'a\u2028b'\ny: &n 1\n"))
    assert isinstance(root, Table)
    assert said(problems) == [
        ("a.yaml:2:4", "text must be written out, not named by an anchor", "write it out")
    ]
    assert problems[0].span.excerpt().splitlines()[0].strip() == "y: &n 1"


def test_what_is_refused_is_said_although_the_text_is_malformed_later():
    root, problems = read_yaml(Source("a.yaml", "a: &x 1\nb: !t 2\nc: [\n"))
    assert root is None
    assert [str(each.span) for each in problems] == ["a.yaml:1:4", "a.yaml:2:4", "a.yaml:4:1"]


def test_fields_find_all_mistakes():
    problems: list[Problem] = []
    fields = read_fields(tree("modle: 1\nb: 2\n"), "the file", ("model", "b"), ("model",), problems)
    assert fields is not None and list(fields) == ["b"]
    assert said(problems) == [
        (
            "a.yaml:1:1",
            "a key of the file must be model or b, not 'modle'",
            "did you mean model?",
        ),
        ("a.yaml:1:1", "the file must have the key model", None),
    ]
    problems = []
    assert read_fields(tree("- a"), "the file", ("model",), ("model",), problems) is None
    assert [each.message for each in problems] == [
        "the file must be a mapping with the keys model, not a list"
    ]


def test_entries_have_any_keys():
    problems: list[Problem] = []
    entries = read_entries(tree("a/b.litmus: 1\nc: {}\n"), "the verdicts", problems)
    assert [key.text for key, _ in entries] == ["a/b.litmus", "c"]
    assert read_entries(Text("x", False, entries[0][0].span), "the verdicts", problems) == ()
    assert [each.message for each in problems] == ["the verdicts must be a mapping, not 'x'"]


def test_choices_and_texts():
    problems: list[Problem] = []
    root = tree("a: SOUDN\nb: [x, y, x]\nc: [1]\nd:  words  \n")
    fields = {key.text: node for key, node in root.entries}
    assert read_choice(fields["a"], "a verdict", ["SOUND", "RACY"], problems) is None
    assert read_choices(fields["b"], "b", ["x", "y"], problems) is None
    assert read_text(fields, "c", problems) is None
    assert read_text(fields, "e", problems) is None
    assert read_text(fields, "d", problems) == "words"
    assert [(each.message, each.hint) for each in problems] == [
        ("a verdict must be SOUND or RACY, not 'SOUDN'", "did you mean SOUND?"),
        ("b must name x once, not twice", None),
        ("c must be text, not a list", None),
    ]


def test_many_words_are_read_quickly():
    text = "\n".join(f"- [ST r x, LD r x] # {number}" for number in range(4000))
    start = time.perf_counter()
    assert sum(len(each.words) for row in tree(text).items for each in row.items) == 24_000
    assert time.perf_counter() - start < 10
