"""From the text of a .machine file to its syntax, and messages for one that does not follow it.

The grammar is in machine.lark. The words that items begin with are reserved: an item ends where the
next one begins, whatever is wrong in between. So each item is read by itself where one is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec import Struct

from rspverify.architecture import syntax
from rspverify.architecture.catalogue import MAX_CHARACTERS
from rspverify.grammar import Builder, Language, Mistake
from rspverify.lalr import END, Place, Token
from rspverify.source import Problem, Source, Span, require
from rspverify.wording import alternatives, quoted

LANGUAGE = Language(Path(__file__).with_name("machine.lark"))
"""The language of machines."""

MAX_ITEMS = 1_000
"""How many items a file has: the paper's has thirty-five."""


def parse(source: Source) -> syntax.MachineFile:
    """The syntax of a file, with what is wrong of it: the items that are right are there.

    Raises InputError where a file is too long, or has too many items.
    """
    _require(source, len(source.text), MAX_CHARACTERS, "characters")
    tree = LANGUAGE.parse(source, source.text)
    if isinstance(tree, Mistake):
        return _item_by_item(source)
    file = _MachineBuilder(source).build(tree)
    _require(source, len(file.items), MAX_ITEMS, "items")
    return file


def _item_by_item(source: Source) -> syntax.MachineFile:
    found: list[syntax.Item] = []
    broken: list[syntax.Broken] = []
    every = [*items(source.text)]
    _require(source, len(every), MAX_ITEMS, "items")
    for each in every:
        tree = LANGUAGE.parse(source, each.alone(source.text))
        if isinstance(tree, Mistake):
            problem = problem_of(source, each, tree)
            broken.append(syntax.Broken(each.word, each.name(source.text), problem))
        else:
            found += _MachineBuilder(source).build(tree).items
    return syntax.MachineFile(source, (*found,), (*broken,))


def _require(source: Source, number: int, most: int, what: str) -> None:
    message = f"{source.name}: a machine must have at most {most:,} {what}, not {number:,}"
    require(number <= most, message)


class _MachineBuilder(Builder[syntax.MachineFile]):
    """Turns the parse tree of one source into its syntax; methods are those of rules whose parts
    are not the fields of their nodes."""

    nodes = syntax

    def NAME(self, token: Token) -> syntax.Word:  # noqa: N802
        return syntax.Word(self._span(token), str(token))

    def STRING(self, token: Token) -> str:  # noqa: N802
        return str(token)[1:-1]

    def FLAG(self, token: Token) -> bool:  # noqa: N802
        return str(token) == "true"

    def _yes(self, _: Token) -> bool:
        return True

    ANY = OTHER = OWN = NOT = _yes

    def _other(self, rule: str, place: Place | None, parts: list[Any]) -> Any:
        if rule in syntax.NODES:
            return syntax.Node(self._span(place), rule, tuple(parts))
        return super()._other(rule, place, parts)

    def start(self, meta: Place, *items: syntax.Item) -> syntax.MachineFile:
        return syntax.MachineFile(self._source, items)

    def index(self, meta: Place, name: syntax.Word) -> syntax.Word:
        return syntax.Word(self._span(meta), name.text)

    def instruction(self, meta: Place, names: Any, *parts: Any) -> syntax.Instruction:
        name, *others = names
        return syntax.Instruction(self._span(meta), name, tuple(others), *parts)

    def nowhere(self, meta: Place) -> None:
        return None

    def spelling(self, meta: Place, *names: syntax.Word) -> syntax.Word:
        return syntax.Word(self._span(meta), ".".join(map(str, names)))

    def quoted(self, meta: Place, text: str) -> syntax.Word:
        return syntax.Word(self._span(meta), " ".join(text.split()))


# ---- Mistakes ------------------------------------------------------------------------------------

_WHOLES = {
    "": "a machine",
    "always": "what instructions always wait for",
    "complete": "what completes an execution",
    "define": "a definition",
    "executes": "the instruction set",
    "final": "the final values",
    "include": "an include",
    "instruction": "an instruction",
    "machine": "the name of a machine",
    "places": "the places",
    "reaches": "the reaches",
    "spaces": "the spaces",
    "state": "the state",
    "step": "a step",
    "switch": "a switch",
    "type": "a type",
    "without": "what is left out",
}
"""The names of items, by their first words."""

_ITEMS = [word for word in _WHOLES if word]
_BEGINNING = re.compile(rf'"[^"\n]*"|#[^\n]*|(?<![\w.-])(?P<word>{"|".join(_ITEMS)})(?![\w-])')
_NAME = re.compile(r'\w+\s+"?(?P<name>(?<=")[^"\n]*|[A-Za-z_]\w*(?:-\w+)*(?:\.\w+)*)')

_CONDITION = {"_EACH", "_EMPTY", "_NO", "_NOT_EMPTY", "_OLDEST", "_READY", "_SELF", "NAME", "NOT"}
_EFFECT = {
    *("_ADD", "_DEQUEUE", "_EACH", "_ENQUEUE", "_FREE", "_IF", "_NOTHING", "_REMOVE", "_TAKE"),
    "NAME",
}
_ITEM = {f"_{word.upper()}" for word in _ITEMS}
_WITHIN = {"DOT", "LPAR", "LSQB"}
"""The continuations of a name: not worth mentioning beside others."""

_OTHERS = {"FLAG": "true or false", "NAME": "a name", "STRING": "a text in quotes"}

_USUAL = {
    "!": "`not` says that a bit is false",
    "&": "a comma stands between conditions",
    "-": "what is written is `r + n` or `f(r)`, for the f of the source",
    "and": "a comma stands between conditions",
    "else": "say `if not …` besides",
    "~": "`not` says that a bit is false",
    "|": "`or` stands between bits",
    "¬": "`not` says that a bit is false",
}
"""Hints for what is often written by mistake."""

_GOING_ON = ("when", "do", "of", "later")
_LOOKED_AT = 12
"""How many words of an instruction may be operands."""

_MISSPELT = 0.6
_CLOSE = 0.75
"""How close a word is to one that was meant, where operands may stand and where they may not."""


class Item(Struct, frozen=True):
    """An item: the word that it begins with, "" before the first, and where it is in the text."""

    word: str
    start: int
    end: int

    def alone(self, text: str) -> str:
        """The item in its place, nothing before it."""
        line = text.rfind("\n", 0, self.start) + 1
        before = "\n" * text.count("\n", 0, line) + " " * (self.start - line)
        return before + text[self.start : self.end]

    def name(self, text: str) -> str:
        """The declared name, "" if that is not clear."""
        found = _NAME.match(text, self.start, self.end)
        return found["name"] if found else ""


def items(text: str) -> Iterator[Item]:
    """The items of a text, one after the other."""
    word, start = "", 0
    for found in _BEGINNING.finditer(text):
        if found["word"]:
            yield Item(word, start, found.start())
            word, start = found["word"], found.start()
    yield Item(word, start, len(text))


def problem_of(source: Source, item: Item, mistake: Mistake) -> Problem:
    """The problem of an item: what could stand there instead."""
    if (misspelt := _misspelt(source, item, mistake)) is not None:
        return misspelt
    span, found = mistake.span, quoted(mistake.found)
    if mistake.terminal == END:
        found = "its end"
    message = f"{_WHOLES[item.word]} must have {_expected(mistake.expected)} here, not {found}"
    if mistake.expected <= _ITEM | {END}:
        behind = f"what stands behind {_WHOLES[item.word]}" if item.word else "a machine"
        message = f"{behind} must begin with a word such as `step` or `define`, not {found}"
    return Problem(span, message, _hint(mistake))


def _expected(terminals: frozenset[str]) -> str:
    """The expected words, as alternatives."""
    left, words = set(terminals), []
    if terminals >= _CONDITION - {"NOT"}:
        left -= _CONDITION
        words.append("a condition")
    elif terminals >= _EFFECT:
        left -= _EFFECT
        words.append("an effect")
    items, left = left & _ITEM, left - _ITEM - {END}
    left = left - _WITHIN or left
    words += sorted(_word(each) for each in left)
    if items:
        words.append("another item")
    return alternatives(words)


def _word(terminal: str) -> str:
    if terminal in _OTHERS:
        return _OTHERS[terminal]
    return f"`{LANGUAGE.spelling.get(terminal, terminal.strip('_').lower())}`"


def _hint(mistake: Mistake) -> str | None:
    found, expected = mistake.found, mistake.expected
    if found in _USUAL:
        return _USUAL[found]
    if found == "true":
        return "where nothing is waited for, leave `when` out"
    if found == "=" and "_BECOMES" in expected:
        return "an effect writes with `:=`"
    keyword = mistake.terminal not in (None, END, "NAME") and found.isidentifier()
    if keyword and "NAME" in expected:
        return f"{found} is a word of the language: no name can be that"
    words = [_word(each).strip("`") for each in expected if each != "NAME"]
    for meant in get_close_matches(found, words, n=1, cutoff=_CLOSE):
        return f"did you mean {meant}?"
    if "SEMICOLON" in expected and found.isidentifier():
        return "`;` stands between effects"
    return None


def _misspelt(source: Source, item: Item, mistake: Mistake) -> Problem | None:
    """A word that was taken for an operand, if it was meant to go on with: it shows later."""
    if item.word != "instruction":
        return None
    text = re.sub(r"#[^\n]*", lambda it: " " * len(it[0]), source.text[item.start : item.end])
    words = re.finditer(r"[A-Za-z_]\w*", text)
    for found in islice(words, 2, _LOOKED_AT):
        if found[0] in _GOING_ON:
            return None
        if close := get_close_matches(found[0], _GOING_ON, n=1, cutoff=_MISSPELT):
            line, column = _position(source, item.start + found.start())
            if (line, column) >= (mistake.span.line, mistake.span.column):
                return None
            span = Span(source, line, column, line, column + len(found[0]))
            message = "an instruction must go on with `of`, `when`, `do` or `later` here"
            return Problem(span, f"{message}, not {found[0]}", f"did you mean {close[0]}?")
    return None


def _position(source: Source, offset: int) -> tuple[int, int]:
    line = source.text.count("\n", 0, offset) + 1
    return line, offset - source.text.rfind("\n", 0, offset)
