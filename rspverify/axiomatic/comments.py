"""Comments of the .cat language: `(* … *)`, which nest, `// …` and `# …`."""

from __future__ import annotations

import re

from rspverify.grammar import blanked, sign_at
from rspverify.source import InputError, Problem, Source

_OUTSIDE = re.compile(r'"[^"\n]*"|\(\*|(?://|#)[^\n]*')
_INSIDE = re.compile(r"\(\*|\*\)")


def blank_comments(source: Source) -> str:
    """The text with blanks in place of comments, so that every position stays what it was.

    Raises InputError where a comment does not end.
    """
    text = source.text
    parts: list[str] = []
    done = 0
    while (token := _OUTSIDE.search(text, done)) is not None:
        end = _end(source, token.start()) if token[0] == "(*" else token.end()
        parts.append(text[done : token.start()])
        parts.append(token[0] if token[0].startswith('"') else blanked(text[token.start() : end]))
        done = end
    return "".join([*parts, text[done:]])


def _end(source: Source, start: int) -> int:
    """Where the comment that starts at a place ends."""
    depth = 0
    for token in _INSIDE.finditer(source.text, start):
        depth += 1 if token[0] == "(*" else -1
        if depth == 0:
            return token.end()
    message = "a comment must end with *), and this one does not end"
    raise InputError([Problem(sign_at(source, start), message)])
