"""The text of a test without its comments, and its title: what can be told without a grammar."""

from __future__ import annotations

import re

from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.problems import Problems
from rspverify.source import Source, blanked, sign_at

_LANGUAGES = frozenset({"opencl", "c", *(each.lower() for each in DIALECTS)})
_COMMENT = re.compile(
    r"""
      (?P<kept> "[^\n]*" (?= [ \t]* $) | "[^"]*" )       # a description has no comments in it
    | \(\* (?![A-Za-z0-9_]) .*? \*\)                     # (* words *)
    | \(\* (?=[A-Za-z0-9_]) (?: (?!\(\*) [^\n] )*? \*\)  # (*words*)
    | /\* .*? \*/
    | // [^\n]*
    | ^<< [ \t]* $ .*? ^>>                              # what herd's tools were asked to do
    | (?P<endless> \(\* (?![A-Za-z0-9_]) | /\* )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""`(*` opens a comment, unless it reads a location as in `if (*x == 1)`: where a word follows at
once, `*)` must follow on the same line, before another `(*`."""


def without_comments(source: Source, problems: Problems) -> str | None:
    """The text with blanks in the place of comments, or None if a comment has no end."""
    parts, end = [], 0
    for match in _COMMENT.finditer(source.text):
        if sign := match["endless"]:
            herds = sign.startswith("(*")
            hint = "where `(*x` reads a location, put no blank after the star" if herds else None
            end_ = "*)" if herds else "*/"
            message = f"a comment must end with `{end_}`, and this one has no end"
            problems.error(sign_at(source, match.start()), message, hint)
            return None
        if not match["kept"]:
            parts.append(source.text[end : match.start()])
            parts.append(blanked(match[0]))
            end = match.end()
    return "".join(parts) + source.text[end:]


def title_of(source: Source) -> str | None:
    """The title of a litmus test that may have any mistake; None where no title can be told."""
    text = without_comments(source, Problems()) or source.text
    word, *title = text.lstrip().split("\n", 1)[0].split() or [""]
    return " ".join(title) or None if word.lower() in _LANGUAGES else None
