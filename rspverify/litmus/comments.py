"""Comments: `(* *)` of herd, `/* */` and `//` of C."""

from __future__ import annotations

import re

from rspverify.grammar import blanked, sign_at
from rspverify.litmus.problems import Problems
from rspverify.source import Source

_COMMENT = re.compile(
    r"""
      (?P<kept> "[^"\n]*" )                              # a description has no comments in it
    | \(\* (?![A-Za-z0-9_]) .*? \*\)                     # (* words *)
    | \(\* (?=[A-Za-z0-9_]) (?: (?!\(\*) [^\n] )*? \*\)  # (*words*)
    | /\* .*? \*/
    | // [^\n]*
    | (?P<endless> \(\* (?![A-Za-z0-9_]) | /\* )
    """,
    re.VERBOSE | re.DOTALL,
)
"""`(*` opens a comment, unless it reads a location as in `if (*x == 1)`: where a word follows at
once, `*)` must follow on the same line, before another `(*`."""


def without_comments(source: Source, problems: Problems) -> str | None:
    """The text with blanks in the place of comments, or None if a comment has no end."""
    parts, end = [], 0
    for match in _COMMENT.finditer(source.text):
        if match["endless"]:
            _endless(source, match.start(), problems)
            return None
        if not match["kept"]:
            parts.append(source.text[end : match.start()])
            parts.append(blanked(match[0]))
            end = match.end()
    return "".join(parts) + source.text[end:]


def _endless(source: Source, start: int, problems: Problems) -> None:
    sign, hint = "*/", None
    if source.text.startswith("(*", start):
        sign, hint = "*)", "where `(*x` reads a location, put no blank after the star"
    problems.error(
        sign_at(source, start), f"a comment must end with `{sign}`, and this one has no end", hint
    )
