"""Languages: ready-made tables are those of the grammar, and used only if they are."""

import random
import re
from pathlib import Path

import lark
import pytest
from lark import Token
from lark.tree import Meta

import rspverify
from rspverify.architecture.parsing import LANGUAGE as MACHINE
from rspverify.axiomatic.syntax import LANGUAGE as CAT
from rspverify.grammar import Builder, Language, Mistake, tables, tables_file
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
    def start(self, meta: Meta, *children: object) -> int:
        return sum(int(str(each)) for each in children if isinstance(each, Token) and each != "+")


def language(folder: Path, grammar: str, made: bytes | None = None) -> Language:
    path = folder / "g.lark"
    path.write_text(grammar, encoding="utf-8")
    if made is not None:
        tables_file(path).write_bytes(made)
    return Language(path)


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_what_ships_is_of_the_grammar(path: Path) -> None:
    """That tables of a grammar make its parser is tested below, by trees."""
    shipped, _, _ = tables_file(path).read_bytes().partition(b"\n")
    version = shipped.split()[0].decode()
    if version != lark.__version__:
        pytest.skip(f"the tables are of lark {version}; here they are built when they are needed")
    made = tables(path.read_text(encoding="utf-8"))
    assert made.startswith(shipped + b"\n"), "`make tables` writes them anew"


def test_all_languages_have_tables() -> None:
    names = ["machine.lark", "cat.lark", "columns.lark", "grammar.lark"]
    assert [path.name for path in GRAMMARS] == names
    assert all(tables_file(path).exists() for path in GRAMMARS)


def test_a_parser_by_tables_is_the_one_that_is_built(root: Path) -> None:
    for known, path, texts in (
        (CAT, "rspverify/axiomatic/cat.lark", root.glob("rspverify/axiomatic/models/*.cat")),
        (C.language, "rspverify/litmus/grammar.lark", (root / "litmus").rglob("Ex*.litmus")),
        (
            ASSEMBLY.language,
            "rspverify/litmus/columns.lark",
            (root / "litmus/ptx").rglob("*.litmus"),
        ),
        (
            MACHINE,
            "rspverify/architecture/machine.lark",
            root.glob("rspverify/architecture/machines/*.machine"),
        ),
    ):
        built = lark.Lark((root / path).read_text(), parser="lalr", propagate_positions=True)
        for each in texts:
            text = "\n".join(
                line
                for line in each.read_text().splitlines()
                if "(*" not in line and "//" not in line
            )
            try:
                expected = built.parse(text)
            except lark.UnexpectedInput:
                expected = None
            tree = known.parse(Source("t", text), text)
            assert tree == expected or (expected is None and isinstance(tree, Mistake))


@pytest.mark.parametrize(
    "language",
    [CAT, C.language, ASSEMBLY.language, MACHINE],
    ids=["cat", "litmus", "columns", "machine"],
)
def test_words_are_those_of_larks_lexer(root: Path, language: Language) -> None:
    """In texts that follow the grammar and in torn ones: the same tree, or the same mistake."""
    shipped = {
        CAT: ("cat.lark", "axiomatic/models", "*.cat"),
        C.language: ("grammar.lark", "../litmus/rsp/paper", "*.litmus"),
        ASSEMBLY.language: ("columns.lark", "../litmus/ptx/table-4.2", "*.litmus"),
        MACHINE: ("machine.lark", "architecture/machines", "rsp*.machine"),
    }
    file, folder, name = shipped[language]
    grammar = next(it for it in GRAMMARS if it.name == file)
    plain = lark.Lark(grammar.read_text(), parser="lalr", propagate_positions=True)
    paths = sorted((root / "rspverify" / folder).resolve().glob(name))
    texts = [blanked_comments(path.read_text()) for path in paths]
    dice = random.Random(1)
    understood = 0
    for _ in range(300):
        text = dice.choice(texts)
        for _ in range(dice.randrange(3)):  # A part of some text in place of a part of this.
            start, other = dice.randrange(len(text)), dice.choice(texts)
            there = dice.randrange(len(other))
            end = start + dice.randrange(12)
            text = text[:start] + other[there : there + dice.randrange(25)] + text[end:]
        expected = words_of(plain, text)
        assert words_of(language.parser, text) == expected
        understood += isinstance(expected[-1], str)
    assert 50 < understood < 250


def blanked_comments(text: str) -> str:
    """A text without what is told apart from it before its grammar is asked."""
    return re.sub(r"\(\*.*?\*\)|//[^\n]*", " ", text, flags=re.DOTALL)


def words_of(parser: lark.Lark, text: str) -> list[object]:
    """All words with terminals and places; the tree, or where and why there is none."""
    try:
        tree = parser.parse(text)
    except lark.UnexpectedToken as error:
        return [error.token.type, error.token, error.pos_in_stream, error.accepts]
    except lark.UnexpectedCharacters as error:
        return [error.char, error.pos_in_stream, error.allowed]
    words = [(it.type, it, it.start_pos) for it in tree.scan_values(lambda it: True) if it]
    return [*words, tree.pretty()]


def test_tables_of_another_grammar_are_not_used(tmp_path: Path) -> None:
    """Nor those of another lark, nor damaged ones; the language is that of the grammar."""
    of_sums = tables(SUMS)
    version = lark.__version__.encode()
    for made in (
        tables(WORDS),
        of_sums.replace(version, b"0.0.0", 1),
        of_sums[:-40],
        of_sums.partition(b"\n")[0] + b"\n",
        b"",
    ):
        source = Source("t", "1 + 2 + 39;")
        tree = language(tmp_path, SUMS, made).parse(source, source.text)
        assert isinstance(tree, lark.Tree) and Adder(source).build(tree) == 42


def test_tables_that_fit_are_used(tmp_path: Path) -> None:
    """Told by tables that claim to be of this grammar and are of another."""
    origin, of_words = tables(SUMS).partition(b"\n")[0], tables(WORDS).partition(b"\n")[2]
    words = Source("t", "ab c;")
    forged = language(tmp_path, SUMS, origin + b"\n" + of_words)
    assert isinstance(forged.parse(words, words.text), lark.Tree)


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
    assert isinstance(tree, lark.Tree) and Adder(source).build(tree) == 6
    assert seen == [2, 4]


def test_every_keyword_of_cat_is_reserved() -> None:
    """The keywords stand once in cat.lark: what one of them is no name can be."""
    names = [it for it in CAT.parser.terminals if it.name == "NAME"]
    words = "let rec and in as include show unshow flag assert undefined_unless acyclic irreflexive"
    words += " empty with from fun match try if then else procedure call enum forall do begin end"
    words += " debug not when variant"
    for word in words.split():
        text = f"let {word} = a"
        assert isinstance(CAT.parse(Source("t", text), text), Mistake), word
        text = f"let {word}x = a"
        assert isinstance(CAT.parse(Source("t", text), text), lark.Tree), word
    assert names
