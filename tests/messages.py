"""Tables of texts and all that must be said of each: files such as messages.txt.

A section begins with `=== TITLE` and the text around its cases, where `…` stands for a case, if it
is another than before. Behind each case stands what is said: `!` for a mistake, `?` for what is not
supported, its place, its words, the hint in parentheses; `&` for another place that it names. What
stands behind the text around cases is said of all of them. Lines with `=` are other facts.
"""

from __future__ import annotations

import re
from pathlib import Path

from rspverify.source import InputError, Severity

_SAID = re.compile(r"\n(?=[!?&=] )")


def cases(file: Path) -> list[tuple[str, list[str]]]:
    """The texts of a table, each with what is said of it."""
    found = []
    around, common = "…", list[str]()
    for section in re.split(r"^=== .*\n", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
        head, *each = f"\n{section.removesuffix(chr(10))}".split("\n---\n")
        if head:
            around, *common = _SAID.split(head)
        for case in each:
            text, *said = _SAID.split(f"\n{case}")
            found.append((around[1:].replace("…", text[1:]), [*common, *said]))
    return found


def told(error: InputError) -> list[str]:
    """What an error says, as tables have it."""
    found = []
    for it in error.problems:
        sign = "!" if it.severity is Severity.ERROR else "?"
        place = f"{it.span.line}:{it.span.column} " if it.span else ""
        found.append(f"{sign} {place}{it.message}{f' ({it.hint})' if it.hint else ''}")
        found += [f"& {span.line}:{span.column} {words}" for span, words in it.related]
    return found
