"""How large the value of a register may become.

Registers are replaced by what they hold, so `r = r + r;` doubles an expression. All that works on
expressions is recursive and visits each part, which is why both limits are here, at the door.
"""

from __future__ import annotations

from rspverify.value import Constant, Expression, Read, parts

MAX_SIZE = 10_000
"""How many parts (constants, reads and operators) an expression may have."""

MAX_DEPTH = 100
"""How deep its operators may be nested."""

TOO_LARGE = (
    f"an expression with more than {MAX_SIZE:,} parts, or nested deeper than {MAX_DEPTH}, is not"
    " supported"
)


class Growth:
    """Knows the size and the depth of the expressions of one thread."""

    def __init__(self) -> None:
        # The expressions are kept, so that an id stays that of its expression.
        self._known: dict[int, tuple[Expression, int, int]] = {}

    def within(self, expression: Expression) -> bool:
        """Whether an expression over parts that are within the limits is so too."""
        size, depth = self._measure(expression)
        return size <= MAX_SIZE and depth <= MAX_DEPTH

    def _measure(self, expression: Expression) -> tuple[int, int]:
        if isinstance(expression, Constant | Read):
            return 1, 1
        known = self._known.get(id(expression))
        if known is not None:
            return known[1:]
        measures = [self._measure(part) for part in parts(expression)]
        size = 1 + sum(size for size, _ in measures)
        depth = 1 + max(depth for _, depth in measures)
        self._known[id(expression)] = (expression, size, depth)
        return size, depth
