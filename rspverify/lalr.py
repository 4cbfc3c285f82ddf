"""A parser by its tables: from the words of a text to a tree, or to the first mistake.

Lark makes the tables (grammar.py) and documents what they mean; what is here parses by them
without lark, which takes longer to import and to load tables than a file takes to read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

END = "$END"
"""The terminal that stands for the end of a text."""


class Place(Struct, frozen=True):
    """Where a word or a tree is: from a character to one behind its last.

    Lines and columns count from 1, offsets from 0.
    """

    line: int
    column: int
    offset: int
    end_line: int
    end_column: int
    end_offset: int


class Token(str):
    """A word of a text. type: its terminal. meta, outer: where it is."""

    __slots__ = ("meta", "outer", "type")

    def __new__(cls, type: str, text: str, place: Place) -> Token:
        made = str.__new__(cls, text)
        made.type = type
        made.meta = made.outer = place
        return made

    type: str
    meta: Place
    outer: Place


class Tree:
    """What a rule has found. data: its name; meta: where it is, None of what has no words.

    outer: with the words around it that its rule left out, such as brackets.
    """

    __slots__ = ("children", "data", "meta", "outer")

    def __init__(self, data: str, children: list[Any], meta: Place | None) -> None:
        self.data, self.children, self.meta, self.outer = data, children, meta, meta


class Terminal(Struct, frozen=True, array_like=True):
    """How a terminal is spelled.

    pattern: its regular expression. word: of one that is spelled in one way, that. inside: the
    terminals whose words it is one of, as a keyword is a name; with them it needs no pattern.
    """

    name: str
    pattern: str
    word: str | None
    inside: tuple[str, ...]


class Rule(Struct, frozen=True, array_like=True):
    """A rule, and which tree it makes.

    made: what it is known by. data: the name of its tree. size: how many parts it has. parts: the
    number of each that is kept, whether its children are taken in its place, and how many Nones
    stand before, for what is left out; None where all are kept. nones: how many stand at the end.
    single: of one that has but one part left, whether that is what it makes.
    """

    made: str
    data: str
    size: int
    parts: tuple[tuple[int, bool, int], ...] | None
    nones: int
    single: bool


class Tables(Struct, frozen=True, dict=True):
    """A grammar as a machine. terminals: in the order in which they are tried.

    actions: of each state what follows each terminal, or each rule that was made there: a state,
    or, of a negative number, the rule that is complete, ~number. It begins in state 0. end: the
    state of a whole text.
    """

    terminals: tuple[Terminal, ...]
    ignored: tuple[str, ...]
    rules: tuple[Rule, ...]
    actions: tuple[dict[str, int], ...]
    end: int

    @cached_property
    def spelling(self) -> Mapping[str, str]:
        """The terminals that are spelled in one way."""
        return {it.name: it.word for it in self.terminals if it.word is not None}

    @cached_property
    def every(self) -> Words:
        """All its words."""
        return Words(self.terminals)

    def words(self, state: int) -> Words:
        """Those that may stand where the parser is in a state; making them takes long."""
        known = self._of_states.get(state)
        if known is None:
            allowed = {*self.ignored, *self.actions[state]}
            known = Words(it for it in self.terminals if it.name in allowed)
            self._of_states[state] = known
        return known

    @cached_property
    def _of_states(self) -> dict[int, Words]:
        return {}


class Words:
    """Which of some terminals a text goes on with."""

    def __init__(self, terminals: Iterable[Terminal]) -> None:
        those = [*terminals]
        names = {it.name for it in those}
        spelled = (it for it in those if names.isdisjoint(it.inside))
        self.match = re.compile("|".join(f"(?P<{it.name}>{it.pattern})" for it in spelled)).match
        self.keywords: dict[str, dict[str, str]] = {}
        for it in those:
            for outer in names.intersection(it.inside):
                self.keywords.setdefault(outer, {})[str(it.word)] = it.name

    def at(self, text: str, offset: int) -> tuple[str, str] | None:
        """The terminal that stands at a place, and its text."""
        found = self.match(text, offset)
        if found is None:
            return None
        name, word = str(found.lastgroup), found[0]
        return self.keywords.get(name, {}).get(word, name), word


class Parse:
    """A text on its way through the tables.

    token: where it is no sentence, the word that cannot follow; None where there is no word.
    """

    def __init__(self, tables: Tables, text: str) -> None:
        self._tables, self._text = tables, text
        self._states: list[int] = [0]
        self.values: list[Any] = []
        self._offset, self._line, self._line_start = 0, 1, 0
        self.token: Token | None = None

    @property
    def place(self) -> Place:
        """The sign that it has come to."""
        column = self._offset - self._line_start + 1
        return Place(self._line, column, self._offset, self._line, column + 1, self._offset + 1)

    def run(self) -> Tree | None:
        """The tree, or None at the first mistake; after that it can be fed, and run again."""
        text, end, tables = self._text, len(self._text), self._tables
        match, keywords, ignored = tables.every.match, tables.every.keywords, tables.ignored
        states, actions, feed = self._states, tables.actions, self.feed
        last = self.token
        while (start := self._offset) < end:
            found = match(text, start)
            name, word = ("", "") if found is None else (found.lastgroup or "", found[0])
            follows = actions[states[-1]]
            if name in keywords and (keyword := keywords[name].get(word)) in follows:
                name = keyword or name
            if name not in follows and name not in ignored:
                alone = tables.words(states[-1]).at(text, start)
                if alone is None:
                    self.token = self._other()
                    return None
                name, word = alone
            if name in ignored:
                self._pass(word)
                continue
            last = Token(name, word, self._passed(word))
            if not feed(last):
                self.token = last
                return None
        self.token = Token(END, "", last.meta if last else Place(1, 1, 0, 1, 1, 0))
        return self.values[-1] if feed(self.token) else None

    def feed(self, token: Token) -> bool:
        """Go on with a word; whether it can follow."""
        tables, states, values = self._tables, self._states, self.values
        actions, rules, end, name = tables.actions, tables.rules, tables.end, token.type
        while True:
            action = actions[states[-1]].get(name)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                values.append(token)
                return True
            rule = rules[~action]
            size = rule.size
            if size == 1 and rule.single and rule.parts is None:  # It stays what it is.
                states[-1] = actions[states[-2]][rule.made]
            else:
                parts: list[Any] = []
                if size:
                    parts = values[-size:]
                    del states[-size:], values[-size:]
                states.append(actions[states[-1]][rule.made])
                values.append(_made(rule, parts))
            if states[-1] == end and name == END:
                return True

    @property
    def possible(self) -> frozenset[str]:
        """The terminals that its state knows, though more may have to be complete before."""
        return frozenset(filter(str.isupper, self._tables.actions[self._states[-1]]))

    @property
    def expected(self) -> frozenset[str]:
        """The terminals that can follow."""
        return frozenset(filter(self._can_follow, self.possible))

    def _can_follow(self, name: str) -> bool:
        tables, states = self._tables, [*self._states]
        while states[-1] != tables.end:
            action = tables.actions[states[-1]].get(name)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = tables.rules[~action]
            del states[len(states) - rule.size :]
            states.append(tables.actions[states[-1]][rule.made])
        return True

    def _pass(self, word: str) -> None:
        if "\n" in word:
            self._line += word.count("\n")
            self._line_start = self._offset + word.rindex("\n") + 1
        self._offset += len(word)

    def _passed(self, word: str) -> Place:
        """The place of a word that it goes past."""
        start, line, column = self._offset, self._line, self._offset - self._line_start + 1
        self._pass(word)
        end = self._offset
        return Place(line, column, start, self._line, end - self._line_start + 1, end)

    def _other(self) -> Token | None:
        """The word that stands here though it cannot, behind what is ignored."""
        before = self._offset, self._line, self._line_start
        while (found := self._tables.every.at(self._text, self._offset)) is not None:
            place = self._passed(found[1])
            if found[0] not in self._tables.ignored:
                return Token(*found, place)
        self._offset, self._line, self._line_start = before
        return None


def _made(rule: Rule, parts: list[Any]) -> Any:
    """What a rule makes of its parts."""
    outer = _first(parts)
    if outer is not None and len(parts) > 1:
        last = _first(reversed(parts))
        if last is not None and last is not outer:
            ends = (last.end_line, last.end_column, last.end_offset)
            outer = Place(outer.line, outer.column, outer.offset, *ends)
    if rule.parts is not None:
        kept: list[Any] = []
        for number, inlined, nones in rule.parts:
            if nones:
                kept += [None] * nones
            if not inlined:
                kept.append(parts[number])
            elif kept:
                kept += parts[number].children
            else:
                kept = parts[number].children
        if rule.nones:
            kept += [None] * rule.nones
        parts = kept
    if rule.single and len(parts) == 1:
        only = parts[0]
        if isinstance(only, Tree):
            only.outer = outer
            if only.meta is None:
                only.meta = outer
        return only
    return Tree(rule.data, parts, outer)


def _first(parts: Iterable[Any]) -> Place | None:
    """The place of the first part that has one."""
    for it in parts:
        if it is not None and it.outer is not None:
            place: Place = it.outer
            return place
    return None
