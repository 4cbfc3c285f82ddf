"""Which part of a text has a syntax error, so that what comes after it can be read as well.

A part is left out only where it is certain to end as it seems: from the last brace or semicolon on,
or the parameters of a thread. What follows it at once may belong to it, as `else` does. Where
brackets do not fit together, or a thread seems not to end, later mistakes might be mere
consequences, and the reading ends. Patterns are compiled when there is a mistake: most tests have
none.
"""

from __future__ import annotations

import re

from rspverify.grammar import Mistake
from rspverify.lalr import END
from rspverify.source import blanked

_SIGN = r"[(){}\[\];]"
_OPENING = {")": "(", "]": "[", "}": "{"}
_HEAD = r'\s*[^\n]*(?:\s+(?:"[^"\n]*"|[A-Za-z]\w*=[^\n]*))*'
"""The first line, which may have any signs, and what may stand between it and the initial state."""

_FUNCTION = r"(?:(?:__)?kernel\s+)?(?:void|int|_?[bB]ool)\s+\w+\s*"
_PARAMETERS = rf"\s*(?:P[0-9]+\s*(?:@[^(){{}}\[\];]*)?|{_FUNCTION})\((?P<them>[^(){{}};]*)\)\s*\{{"
_NEXT_PART = (
    r"(?m)^[ \t]*(?:(?:[~!]|not\b)?[ \t]*exists|forall|scopeTree|groups\s+[0-9]|locations|filter"
    rf"|P[0-9]+\s*[(@]|{_FUNCTION}\()"
)
"""What begins another part of a test, and so shows that a thread should have ended before."""

_AFTER_ROWS = r"(?m)^[ \t]*(?:(?:[~!]|not\b)?[ \t]*exists|forall|locations)\b"
"""The same in a test in assembly."""


def without_mistake(text: str, mistake: Mistake) -> str | None:
    """The text with blanks in the place of the part that has a mistake; None if in doubt."""
    if mistake.terminal == END or mistake.expected == {"WHILE"}:  # The body of `do` began anywhere.
        return None
    if not braces_fit(text):
        return None
    part = _part(text, mistake.offset)
    if part is None or not text[slice(*part)].strip():
        return None
    start, end = part
    left = text[:start] + blanked(text[start:end]) + text[end:]
    return left if braces_fit(left) else None


def braces_fit(text: str) -> bool:
    """Whether each brace of a test has its counterpart; if not, a mistake has consequences."""
    head, depth = re.match(_HEAD, text), 0
    for brace in re.compile(r"[{}]").finditer(text, head.end() if head else 0):
        depth += 1 if brace[0] == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _part(text: str, offset: int) -> tuple[int, int] | None:
    """Where the part begins and ends that has a mistake at an offset."""
    head = re.match(_HEAD, text)
    start = head.end() if head else 0
    depth = blocks = 0
    brackets: list[str] = []
    for sign in re.compile(_SIGN).finditer(text, start, offset):
        if sign[0] in "([":
            brackets.append(sign[0])
        elif sign[0] in ")]":
            if not brackets or brackets.pop() != _OPENING[sign[0]]:
                return None
        elif brackets:
            if sign[0] != ";":  # It stands in the head of a `for`.
                return None
        else:
            start = sign.end()
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
            blocks += sign[0] == "}" and not depth
    if not depth:
        return _parameters(text, start, offset)
    end = _end(text, start, offset, brackets, initial=not blocks)
    if end is None or (blocks and re.search(_NEXT_PART, text[start:end])):
        return None
    return start, end


def _end(text: str, start: int, offset: int, brackets: list[str], *, initial: bool) -> int | None:
    """Where a statement or an entry ends, read on from an offset; None if in doubt."""
    loop = re.compile(r"\s*for\b").match(text, start) is not None
    depth = 0
    for sign in re.compile(_SIGN).finditer(text, offset):
        if sign[0] in "({" and (initial or (sign[0] == "{" and brackets)):
            return None
        if sign[0] in "([":
            brackets.append(sign[0])
        elif sign[0] in ")]":
            if brackets and brackets.pop() != _OPENING[sign[0]]:
                return None
        elif sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            if depth <= 1:
                return sign.end() if depth else sign.start()
            depth -= 1
        elif not depth and not (loop and brackets):
            if re.compile(r"(?m)[ \t]*$").match(text, sign.end()):  # Or it may be the mistake.
                return sign.end()
    return None


def _parameters(text: str, start: int, offset: int) -> tuple[int, int] | None:
    """The parameters of the thread or function that begins at a place, if it is among them."""
    thread = re.compile(_PARAMETERS).match(text, start)
    if thread is None or not thread.start("them") <= offset <= thread.end("them"):
        return None
    return thread.span("them")


# ---- tests in assembly ---------------------------------------------------------------------------


def without_cell(text: str, mistake: Mistake) -> str | None:
    """The text with blanks in the place of the entry or the cell of a mistake; None if in doubt."""
    if mistake.terminal == END or text.count("{") != 1 or text.count("}") != 1:
        return None
    opened, closed = text.index("{"), text.index("}")
    at = mistake.offset
    if opened < at <= closed:
        start = max(opened, text.rfind(";", 0, at)) + 1
        end = min(it for it in (closed, text.find(";", at)) if it >= 0)
    else:
        heads = text.find(";", closed)
        if heads < 0 or at <= heads:
            return None
        start = max(text.rfind(sign, 0, at) for sign in ";|") + 1
        ends = [it for it in (text.find(sign, at) for sign in ";|") if it >= 0]
        if not ends:
            return None
        end = min(ends)
    if not text[start:end].strip() or re.search(_AFTER_ROWS, text[start:end]):
        return None
    return text[:start] + blanked(text[start:end]) + text[end:]
