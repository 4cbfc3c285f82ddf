"""How mistakes in a scheme are worded: what is there, what could be, and what was perhaps meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from rspverify.scheme.orders import Op
from rspverify.scheme.yaml_nodes import List, Node, Text

_LONGEST = 40


def alternatives(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def one(kind: Op) -> str:
    """`a load`, `a store`, `an rmw`."""
    return f"{'an' if kind is Op.RMW else 'a'} {kind.value}"


def quoted(text: str) -> str:
    """A text in quotes, on one line and not too long."""
    return repr(text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…")


def found(node: Node) -> str:
    """What stands at a node."""
    if isinstance(node, Text):
        return "nothing" if node.null else quoted(node.text)
    if isinstance(node, List):
        return "a list" if node.items else "an empty list"
    return "a mapping"


def guess(word: str, names: Iterable[str]) -> str | None:
    """`did you mean …?` where one of the names is close to the word, whatever its case."""
    folded = {name.lower(): name for name in names}
    close = difflib.get_close_matches(word[:_LONGEST].lower(), folded, n=1)
    return f"did you mean {folded[close[0]]}?" if close else None
