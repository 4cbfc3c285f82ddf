"""Languages: ready-made tables are those of the grammar, and used only if they are."""

import random
import re
from pathlib import Path
from typing import Any

import lark
import pytest

import rspverify
from rspverify.architecture.parsing import LANGUAGE as MACHINE
from rspverify.axiomatic.syntax import LANGUAGE as CAT
from rspverify.grammar import Builder, Language, Mistake, tables_file, written
from rspverify.lalr import Place, Token, Tree
from rspverify.litmus.syntax import ASSEMBLY, C
from rspverify.source import Source

GRAMMARS = sorted(Path(rspverify.__file__).parent.rglob("*.lark"))
SUMS = """
start: _sum ";"
_sum: INT ("+" INT)*
INT: /[0-9]+/
PLUS: "+"
%ignore " " | "\\n"
"""
WORDS = 'start: WORD+ ";"\nWORD: /[a-z]+/\n%ignore " "\n'


class Adder(Builder[int]):
    def start(self, meta: Place, *children: object) -> int:
        return sum(int(str(each)) for each in children if isinstance(each, Token) and each != "+")


def language(folder: Path, grammar: str, made: bytes | None = None) -> Language:
    path = folder / "g.lark"
    path.write_text(grammar, encoding="utf-8")
    if made is not None:
        tables_file(path).write_bytes(made)
    return Language(path)


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_what_ships_is_of_the_grammar(path: Path) -> None:
    """That they parse as lark does is tested below, by trees."""
    made = written(path.read_text(encoding="utf-8"))
    assert made == tables_file(path).read_bytes(), "`make tables` writes them anew"


def test_all_languages_have_tables() -> None:
    names = ["machine.lark", "cat.lark", "columns.lark", "grammar.lark"]
    assert [path.name for path in GRAMMARS] == names
    assert all(tables_file(path).exists() for path in GRAMMARS)


@pytest.mark.parametrize(
    ("language", "grammar", "texts"),
    [
        (CAT, "axiomatic/cat.lark", "rspverify/axiomatic/models/*.cat"),
        (C.language, "litmus/grammar.lark", "litmus/rsp/paper/*.litmus"),
        (ASSEMBLY.language, "litmus/columns.lark", "litmus/ptx/table-4.2/*.litmus"),
        (MACHINE, "architecture/machine.lark", "rspverify/architecture/machines/*.machine"),
    ],
    ids=["cat", "litmus", "columns", "machine"],
)
def test_it_is_parsed_as_by_lark(root: Path, language: Language, grammar: str, texts: str) -> None:
    """In texts that follow the grammar and in torn ones: the same tree, or the same mistake."""
    text = (root / "rspverify" / grammar).read_text(encoding="utf-8")
    plain = lark.Lark(text, parser="lalr", propagate_positions=True)
    whole = [blanked_comments(path.read_text(encoding="utf-8")) for path in root.glob(texts)]
    understood = [same(language, plain, each) for each in whole]
    assert len(understood) > 5 and all(understood)
    dice = random.Random(1)
    torn = []
    for _ in range(300):
        text = dice.choice(whole)
        for _ in range(dice.randrange(1, 3)):  # A part of some text in place of a part of this.
            start, other = dice.randrange(len(text)), dice.choice(whole)
            there = dice.randrange(len(other))
            end = start + dice.randrange(12)
            text = text[:start] + other[there : there + dice.randrange(25)] + text[end:]
        torn.append(same(language, plain, text))
    assert 10 < sum(torn) < 200


def blanked_comments(text: str) -> str:
    """A text without what is told apart from it before its grammar is asked."""
    return re.sub(r"\(\*.*?\*\)|//[^\n]*", " ", text, flags=re.DOTALL)


def same(language: Language, plain: lark.Lark, text: str) -> bool:
    """Assert that ours says of a text what lark says; whether it follows the grammar."""
    found = language.parse(Source("t", text), text)
    try:
        expected = plain.parse(text)
    except lark.UnexpectedInput as error:
        assert isinstance(found, Mistake)
        assert error.interactive_parser.accepts() == found.expected
        if isinstance(error, lark.UnexpectedCharacters):
            assert (error.char, error.pos_in_stream) == (found.found, found.offset)
            assert found.terminal is None
        else:
            assert isinstance(error, lark.UnexpectedToken)
            assert (error.token.type, error.token) == (found.terminal, found.found)
            assert error.token.type == "$END" or error.token.start_pos == found.offset
        return False
    assert shape(found) == shape(expected)
    return True


def shape(tree: Any) -> Any:
    """A tree of lark or of ours with all its words and places."""
    if isinstance(tree, lark.Tree):
        it, place = tree.meta, None
        if not it.empty:
            place = Place(it.line, it.column, it.start_pos, it.end_line, it.end_column, it.end_pos)
        return str(tree.data), place, [*map(shape, tree.children)]
    if isinstance(tree, lark.Token):
        it = tree
        place = Place(it.line, it.column, it.start_pos, it.end_line, it.end_column, it.end_pos)
        return it.type, str(it), place
    if isinstance(tree, Tree):
        return tree.data, tree.meta, [*map(shape, tree.children)]
    if isinstance(tree, Token):
        return tree.type, str(tree), tree.meta
    return tree


def test_tables_of_another_grammar_are_not_used(tmp_path: Path) -> None:
    """Nor damaged ones; the language is that of the grammar."""
    of_sums = written(SUMS)
    for made in (
        written(WORDS),
        of_sums[:-40],
        of_sums.partition(b"\n")[0] + b"\n",
        b"",
    ):
        source = Source("t", "1 + 2 + 39;")
        tree = language(tmp_path, SUMS, made).parse(source, source.text)
        assert isinstance(tree, Tree) and Adder(source).build(tree) == 42


def test_tables_that_fit_are_used(tmp_path: Path) -> None:
    """Told by tables that claim to be of this grammar and are of another."""
    origin, of_words = written(SUMS).partition(b"\n")[0], written(WORDS).partition(b"\n")[2]
    words = Source("t", "ab c;")
    forged = language(tmp_path, SUMS, origin + b"\n" + of_words)
    assert isinstance(forged.parse(words, words.text), Tree)


@pytest.mark.parametrize(
    ("text", "line", "column", "found", "terminal", "after", "expected"),
    [
        ("1 +\n 2 3;", 2, 4, "3", "INT", (2, 3), {"SEMICOLON", "PLUS"}),
        ("1 + ?;", 1, 5, "?", None, (1, 4), {"INT"}),
        ("1", 1, 2, "", "$END", (1, 2), {"SEMICOLON", "PLUS"}),
        ("", 1, 1, "", "$END", None, {"INT"}),
    ],
)
def test_a_mistake_knows_its_place(
    tmp_path: Path, text, line, column, found, terminal, after, expected
) -> None:
    mistake = language(tmp_path, SUMS).parse(Source("t", text), text)
    assert isinstance(mistake, Mistake)
    assert (mistake.span.line, mistake.span.column) == (line, column)
    assert (mistake.found, mistake.terminal) == (found, terminal)
    assert (mistake.after and (mistake.after.line, mistake.after.column)) == after
    assert mistake.expected == expected
    assert text[mistake.offset :].startswith(found)


def test_what_is_missing_can_be_assumed(tmp_path: Path) -> None:
    source = Source("t", "1 2 3;")
    seen = []

    def missing(mistake: Mistake) -> str:
        seen.append(mistake.offset)
        return "PLUS"

    tree = language(tmp_path, SUMS).parse(source, source.text, missing)
    assert isinstance(tree, Tree) and Adder(source).build(tree) == 6
    assert seen == [2, 4]


def test_every_keyword_of_cat_is_reserved() -> None:
    """The keywords stand once in cat.lark: what one of them is no name can be."""
    words = "let rec and in as include show unshow flag assert undefined_unless acyclic irreflexive"
    words += " empty with from fun match try if then else procedure call enum forall do begin end"
    words += " debug not when variant"
    for word in words.split():
        text = f"let {word} = a"
        assert isinstance(CAT.parse(Source("t", text), text), Mistake), word
        text = f"let {word}x = a"
        assert isinstance(CAT.parse(Source("t", text), text), Tree), word
