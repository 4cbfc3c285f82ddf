"""What registers hold on the way through a thread, and how the ways through it join."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rspverify.value import Constant, Expression, select

Way = tuple[Expression, Mapping[str, Expression]]
"""One of several ways to a place: when it is taken, and what registers hold that it assigned."""

Bounded = Callable[[Expression], Expression]
"""Gives an expression, or a stand-in for one that is too large."""


class Registers:
    """What each register holds: the innermost branch comes last, on top of what held before it."""

    def __init__(self, initial: Mapping[str, Expression]) -> None:
        self._initial = initial
        self._layers: list[dict[str, Expression]] = [{}]

    def initial(self, register: str) -> Expression:
        """What a register holds before it is assigned."""
        return self._initial.get(register, Constant(0))

    def __getitem__(self, register: str) -> Expression:
        for layer in reversed(self._layers):
            if register in layer:
                return layer[register]
        return self.initial(register)

    def __setitem__(self, register: str, value: Expression) -> None:
        self._layers[-1][register] = value

    def enter(self) -> int:
        """Begin a branch or a loop; the number of layers below it."""
        self._layers.append({})
        return len(self._layers) - 1

    def leave(self) -> dict[str, Expression]:
        """End the innermost branch or loop; what it has assigned."""
        return self._layers.pop()

    def since(self, depth: int) -> dict[str, Expression]:
        """What was assigned on top of so many layers, as it is now."""
        return {name: value for layer in self._layers[depth:] for name, value in layer.items()}

    def join(self, ways: Sequence[Way], bounded: Bounded) -> None:
        """Go on where ways meet, of which one is taken: the last, if none of the others is."""
        for name in {name: None for _, assigned in ways for name in assigned}:
            *values, merged = [assigned.get(name, self[name]) for _, assigned in ways]
            for (taken, _), value in reversed(list(zip(ways[:-1], values, strict=True))):
                merged = bounded(select(taken, value, merged))
            self._layers[-1][name] = merged
