"""The words of a text, found by one pattern for all places in it.

What may stand at a place tells words from each other that look alike, so lark makes a pattern for
each choice of words, and making dozens of them takes longer than reading a file. One for all words
nearly always finds what may stand there; only where it does not is the other one made.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from typing import Any, cast

from lark import Token
from lark.common import LexerConf
from lark.lexer import (
    AbstractBasicLexer,
    BasicLexer,
    ContextualLexer,
    LexerState,
    UnlessCallback,
)
from lark.parsers.lalr_parser_state import ParserState


class PlaceAwareLexer(ContextualLexer):
    """Lark's contextual lexer: the same words, with fewer patterns.

    states: the terminals that may stand where the parser is in each state.
    """

    def __init__(
        self,
        conf: LexerConf,
        states: Mapping[int, Collection[str]],
        always_accept: Collection[str] = (),
    ) -> None:
        self.root_lexer: BasicLexer = _Lexer(conf)
        words = self.root_lexer.scanner.terminals
        spelled = (f"(?P<{it.name}>{it.pattern.to_regexp()})" for it in words)
        self._pattern = re.compile("|".join(spelled), conf.g_regex_flags)
        self._keywords = {
            terminal: {each.pattern.value: each.name for each in unless.scanner.terminals}
            for terminal, unless in self.root_lexer.callback.items()
            if isinstance(unless, UnlessCallback)
        }
        self._ignored = frozenset(conf.ignore)
        allowed = {state: self._ignored.union(accepts) for state, accepts in states.items()}
        self._allowed = allowed
        self._lexers = _Lexers(conf, allowed)
        self.lexers = cast(dict[int, AbstractBasicLexer], self._lexers)

    def lex(self, lexer_state: LexerState, parser_state: ParserState[int]) -> Iterator[Token]:
        """The words from where it is on. Between two of them the parser goes on."""
        at, text, end = lexer_state.line_ctr, lexer_state.text.text, lexer_state.text.end
        match, keywords, states = self._pattern.match, self._keywords, parser_state.state_stack
        several_lines = self.root_lexer.newline_types
        while (start := at.char_pos) < end:
            found = match(text, start, end)
            word, terminal = ("", "") if found is None else (found[0], str(found.lastgroup))
            allowed = self._allowed[states[-1]]
            if terminal in keywords and (keyword := keywords[terminal].get(word)) in allowed:
                terminal = keyword
            if terminal not in allowed:
                alone = self._lexers[states[-1]].match(lexer_state.text, start)
                if alone is None:
                    yield from super().lex(lexer_state, parser_state)  # It says what is wrong.
                    return
                word, terminal = alone
            line, column = at.line, at.column
            at.feed(word, terminal in several_lines)
            if terminal not in self._ignored:
                place = (start, line, column, at.line, at.column, at.char_pos)
                lexer_state.last_token = Token(terminal, word, *place)
                yield lexer_state.last_token


def _lexer(conf: LexerConf, terminals: Iterable[str]) -> _Lexer:
    of_these = copy(conf)
    of_these.terminals = [conf.terminals_by_name[each] for each in terminals]
    return _Lexer(of_these)


class _Lexer(BasicLexer):
    """Lark's lexer of some terminals; what it finds is a keyword where that is one of them."""

    def match(self, text: Any, pos: int) -> tuple[str, str] | None:
        found: tuple[str, str] | None = self.scanner.match(text, pos)
        if found is not None and isinstance(unless := self.callback.get(found[1]), UnlessCallback):
            return found[0], unless.scanner.fullmatch(found[0]) or found[1]
        return found


class _Lexers(dict[int, "_Lexer"]):
    """By state the lexer of the terminals that may stand there, made when it is asked for."""

    def __init__(self, conf: LexerConf, allowed: Mapping[int, Iterable[str]]) -> None:
        super().__init__()
        self._conf, self._allowed = conf, allowed

    def __missing__(self, state: int) -> _Lexer:
        known = self._conf.terminals_by_name
        self[state] = _lexer(self._conf, (it for it in self._allowed[state] if it in known))
        return self[state]
