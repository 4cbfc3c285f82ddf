"""Which part of a text has a syntax error, so that what comes after it can be read as well.

A part is left out only where it is certain to end as it seems: the innermost statement of a thread,
the parameters of a thread, or an entry of the initial state. Where brackets do not fit together, or
a thread seems not to end, later mistakes might be mere consequences, and the reading ends. Patterns
are compiled when there is a mistake: most tests have none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rspverify.grammar import END, Mistake, blanked

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


@dataclass
class _Block:
    """A block that is open: where its last statement begins, and the brackets open in that."""

    start: int
    brackets: list[str] = field(default_factory=list)


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
    blocks = [_Block(head.end() if head else 0)]
    initial = True
    for sign in re.compile(_SIGN).finditer(text, blocks[0].start):
        at, block = sign.start(), blocks[-1]
        if at >= offset:
            break
        if sign[0] in "([":
            block.brackets.append(sign[0])
        elif sign[0] in ")]":
            if not block.brackets or block.brackets.pop() != _OPENING[sign[0]]:
                return None
        elif block.brackets:
            if sign[0] != ";":  # It stands in the head of a `for`.
                return None
        elif sign[0] == "{":
            blocks.append(_Block(at + 1))
        else:
            if sign[0] == "}":
                blocks.pop()
                initial = initial and len(blocks) > 1
            if not blocks:
                return None
            if not _goes_on(text, blocks[-1].start, at + 1):
                blocks[-1].start = at + 1
    if len(blocks) == 1:
        return _parameters(text, blocks[0].start, offset)
    end = _end(text, offset, blocks[-1], initial)
    if end is None or (not initial and re.search(_NEXT_PART, text[blocks[-1].start : end])):
        return None
    return blocks[-1].start, end


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether a statement that may end at a place goes on there, as `if` does with `else`."""
    if re.compile(r"\s*else\b").match(text, end):
        return True
    if not re.compile(r"\s*do\b").match(text, start):
        return False
    return re.compile(r"\s*while\b").match(text, end) is not None or "while" not in text[start:end]


def _end(text: str, offset: int, block: _Block, initial: bool) -> int | None:
    """Where the last statement of a block ends, read on from an offset; None if in doubt."""
    brackets = list(block.brackets)
    loop = re.compile(r"\s*for\b").match(text, block.start) is not None
    for sign in re.compile(_SIGN).finditer(text, offset):
        if sign[0] in "({[":
            if (initial and sign[0] != "[") or (sign[0] == "{" and set(brackets) & {"(", "["}):
                return None
            brackets.append(sign[0])
        elif sign[0] == "}" and "{" not in brackets:
            return sign.start()
        elif sign[0] != ";":
            if brackets and brackets.pop() != _OPENING[sign[0]]:
                return None
            if sign[0] == "}" and not brackets and not _goes_on(text, block.start, sign.end()):
                return sign.end()
        elif "{" not in brackets and not (loop and brackets):
            if not re.compile(r"(?m)[ \t]*$").match(text, sign.end()):
                continue  # It may be the mistake.
            if not _goes_on(text, block.start, sign.end()):
                return sign.end()
            brackets.clear()
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
