"""Words for the terminals of the grammar, as a user who made a mistake would say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def _terminals(names: str) -> frozenset[str]:
    return frozenset(names.split())


GROUPS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = (
    (
        "a statement",
        _terminals("WHILE NAME SEMICOLON"),
        _terminals(
            "WHILE DO FOR SWITCH CASE DEFAULT BREAK CONTINUE RETURN GOTO IF NAME INT LPAR LBRACE"
            " SEMICOLON STAR MINUS PLUS BANG TILDE AMPERSAND STEP TYPE REGION QUALIFIER"
        ),
    ),
    (
        "a condition such as `1:r0=1`",
        _terminals("TRUE FALSE"),
        _terminals("TRUE FALSE NOT TILDE LPAR LSQB INT NAME"),
    ),
    (
        "an expression",
        _terminals("INT BANG"),
        _terminals("INT NAME LPAR STAR MINUS PLUS BANG TILDE AMPERSAND STEP"),
    ),
    (
        "an operator",
        _terminals("OR AND"),
        _terminals(
            "OR AND PIPE CARET AMPERSAND EQ NE LT LE GT GE SHL SHR PLUS MINUS STAR SLASH PERCENT"
            " STEP UPDATE QMARK EQUAL"
        ),
    ),
    (
        "a final condition",
        _terminals("EXISTS FORALL"),
        _terminals("EXISTS FORALL NOT TILDE"),
    ),
    (
        "a thread such as `P0 (global int* x) { }`",
        _terminals("SCOPE_TREE NAME"),
        _terminals("NAME LOCATIONS FILTER"),
    ),
    (
        "the value of a location such as `[x] = 0`",
        _terminals("LSQB TYPE RBRACE"),
        _terminals("LSQB TYPE REGION QUALIFIER INT NAME"),
    ),
    (
        "a type such as `int`",
        _terminals("TYPE REGION"),
        _terminals("TYPE REGION QUALIFIER"),
    ),
    ("`not` or `~`", _terminals("NOT TILDE"), _terminals("NOT TILDE")),
    ("`=`", _terminals("EQUAL EQ NE"), _terminals("EQ NE EQUAL")),
    ("an integer", _terminals("INT MINUS"), _terminals("INT MINUS NAME")),
)
"""(what to say, the terminals that show that it can stand here, those to leave out then)."""

WORDS: Mapping[str, str] = {
    "HEADER": "`OpenCL name` or `C name`",
    "NAME": "a name",
    "INT": "an integer",
    "$END": "the end of the file",
}
"""Terminals that are not spelled in one way."""

HIDDEN = _terminals("DESCRIPTION INFO")
"""Terminals that are never what a user has forgotten."""


def describe(accepted: Iterable[str], spelling: Mapping[str, str]) -> list[str]:
    """What can stand in a place that accepts these terminals; `spelling` has the fixed ones."""
    left = set(accepted) - HIDDEN
    said = []
    for words, signs, covered in GROUPS:
        if signs <= left:
            said.append(words)
            left -= covered
    fixed = sorted(f"`{spelling[name]}`" for name in left if name in spelling)
    named = sorted(words for name, words in WORDS.items() if name in left)
    return fixed + said + named
