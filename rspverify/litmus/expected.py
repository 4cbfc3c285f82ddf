"""Words for the terminals of the grammar, as a user who made a mistake would say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Groups = Iterable[tuple[str, str, str]]
"""What to say, the terminals that show that it can stand here, those to leave out then."""

GROUPS: Groups = (
    (
        "a statement",
        "WHILE NAME SEMICOLON",
        "WHILE DO FOR SWITCH CASE DEFAULT BREAK CONTINUE RETURN GOTO IF NAME INT LPAR LBRACE"
        " SEMICOLON STAR MINUS PLUS BANG TILDE AMPERSAND STEP TYPE REGION QUALIFIER",
    ),
    ("a condition such as `1:r0=1`", "TRUE FALSE", "TRUE FALSE NOT TILDE LPAR LSQB INT NAME"),
    ("an expression", "INT BANG", "INT NAME LPAR STAR MINUS PLUS BANG TILDE AMPERSAND STEP"),
    (
        "an operator",
        "OR AND",
        "OR AND PIPE CARET AMPERSAND EQ NE LT LE GT GE SHL SHR PLUS MINUS STAR SLASH PERCENT"
        " STEP UPDATE QMARK EQUAL LSQB",
    ),
    ("a final condition", "EXISTS FORALL", "EXISTS FORALL NOT TILDE"),
    (
        "a thread such as `P0 (global int* x) { }`",
        "SCOPE_TREE NAME",
        "NAME LOCATIONS FILTER GROUPS KERNEL TYPE REGION QUALIFIER",
    ),
    (
        "the value of a location such as `[x] = 0`",
        "LSQB TYPE RBRACE",
        "LSQB TYPE REGION QUALIFIER INT NAME",
    ),
    ("a type such as `int`", "TYPE REGION", "TYPE REGION QUALIFIER"),
    ("`not` or `~`", "NOT TILDE", "NOT TILDE"),
    ("`=`", "EQUAL EQ NE", "EQ NE EQUAL"),
    ("an integer", "INT MINUS", "INT MINUS NAME"),
)
COLUMNS: Groups = (
    ("an instruction", "DOTTED", "DOTTED NAME"),
    *(each for each in GROUPS if each[0] in ("a condition such as `1:r0=1`", "a final condition")),
    ("an entry such as `global a=0`", "LSQB RBRACE", "LSQB INT NAME"),
    ("`not` or `~`", "NOT TILDE", "NOT TILDE"),
    ("`=`", "EQUAL EQ NE", "EQ NE EQUAL"),
    ("a register, a location or an integer", "LSQB INT", "LSQB INT NAME MINUS"),
    ("a location", "LSQB NAME", "LSQB NAME"),
    ("an integer", "INT MINUS", "INT MINUS"),
)
"""The same for tests in assembly."""

WORDS: Mapping[str, str] = {
    "HEADER": "`OpenCL name`, `C name` or `PTX name`",
    "NAME": "a name",
    "INT": "an integer",
    "$END": "the end of the file",
}
"""Terminals that are not spelled in one way."""

HIDDEN = {"DESCRIPTION", "INFO"}
"""Terminals that are never what a user has forgotten."""


def describe(accepted: Iterable[str], spelling: Mapping[str, str], groups: Groups) -> list[str]:
    """What can stand in a place that accepts these terminals; `spelling` has the fixed ones."""
    left = set(accepted) - HIDDEN
    said = []
    for words, signs, covered in groups:
        if left.issuperset(signs.split()):
            said.append(words)
            left.difference_update(covered.split())
    fixed = sorted(f"`{spelling[name]}`" for name in left if name in spelling)
    named = sorted(words for name, words in WORDS.items() if name in left)
    return fixed + said + named
