"""The tables of a grammar, which lark makes, and where they are kept."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from rspverify.lalr import Rule, Tables, Terminal


def tables_of(path: Path) -> Tables:
    """The tables of a grammar in a file: those beside it, if they are its own."""
    grammar = path.read_text(encoding="utf-8")
    try:
        origin, _, made = tables_file(path).read_bytes().partition(b"\n")
        if origin == _origin(grammar):
            return msgspec.json.decode(made, type=Tables)
    except (OSError, msgspec.MsgspecError):
        pass  # They are made anew.
    return made_of(grammar)


def tables_file(grammar: Path) -> Path:
    """Where the tables of a grammar are."""
    return grammar.with_suffix(".tables")


def written(grammar: str) -> bytes:
    """The tables of a grammar as they are kept, behind its digest in a line."""
    return b"%s\n%s\n" % (_origin(grammar), msgspec.json.encode(made_of(grammar)))


def _origin(grammar: str) -> bytes:
    """A line that tables must begin with to be used."""
    return sha256(grammar.encode()).hexdigest().encode()


def made_of(grammar: str) -> Tables:
    """The tables of a grammar, as lark has them. Raises ValueError for what ours do not say."""
    from lark import Lark

    built: Any = Lark(grammar, parser="lalr", propagate_positions=True)
    table, numbers = built.parser.parser._parse_table, {it: at for at, it in enumerate(built.rules)}
    order = [table.start_states["start"]]  # Lark numbers states in any order.
    actions: list[dict[str, int]] = []
    for state in order:
        found: dict[str, int] = {}
        for name, (_, to) in sorted(table.states[state].items()):
            if to not in numbers and to not in order:
                order.append(to)
            found[name] = ~numbers[to] if to in numbers else order.index(to)
        actions.append(found)
    return Tables(
        tuple(_terminals(built)),
        tuple(sorted(built.ignore_tokens)),
        tuple(map(_rule, built.rules)),
        tuple(actions),
        order.index(table.end_states["start"]),
    )


def _terminals(built: Any) -> list[Terminal]:
    from lark.lexer import BasicLexer, PatternRE, PatternStr

    lexer = built.parser.lexer.root_lexer
    assert isinstance(lexer, BasicLexer)
    found = []
    for it in lexer.terminals:
        inside: list[str] = []
        if isinstance(it.pattern, PatternStr):
            if it.pattern.flags:
                raise ValueError(f"a word must be spelled in one way, not {it.pattern}")
            others = (each for each in lexer.terminals if isinstance(each.pattern, PatternRE))
            inside = [each.name for each in others if _is_inside(it, each)]
        word = it.pattern.value if isinstance(it.pattern, PatternStr) else None
        found.append(Terminal(it.name, it.pattern.to_regexp(), word, tuple(inside)))
    return found


def _is_inside(word: Any, other: Any) -> bool:
    """Whether a word is one of another terminal's, from which it is told afterwards."""
    import re

    found = re.match(other.pattern.to_regexp(), word.pattern.value)
    return word.priority == other.priority and found is not None and found[0] == word.pattern.value


def _rule(rule: Any) -> Rule:
    """What a rule makes of its parts (lark's parse_tree_builder)."""
    options = rule.options
    nones = [0] * (len(rule.expansion) + 1)
    if options.empty_indices:
        empty = "".join(str(int(each)) for each in options.empty_indices)
        nones = [len(each) for each in empty.split("0")]
    parts: list[tuple[int, bool, int]] = []
    before = 0
    for number, part in enumerate(rule.expansion):
        before += nones[number]
        if options.keep_all_tokens or not (part.is_term and part.filter_out):
            inlined = not part.is_term and part.name.startswith("_")
            parts.append((number, inlined, before))
            before = 0
    plain = [(number, False, 0) for number in range(len(rule.expansion))]
    after = before + nones[-1]
    return Rule(
        str(rule.origin.name),
        str(rule.alias or options.template_source or rule.origin.name),
        len(rule.expansion),
        None if parts == plain and not after else tuple(parts),
        after,
        bool(options.expand1 and not rule.alias),
    )
