"""What all tables of rows say of themselves, whatever executes their code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Self, TypeVar

from rspverify.litmus.program import Operation, Program
from rspverify.records import replace
from rspverify.scheme.row import OfOperations, Shape
from rspverify.source import Source, require

R = TypeVar("R", bound=OfOperations)


class OfRows:
    """A translator that makes of each operation what one row says (rspverify/translators.py)."""

    __slots__ = ()
    name: str
    source: Source
    rows: tuple[Any, ...]

    @property
    def whole(self) -> bool:
        """A table translates operation by operation."""
        return False

    def prepare(self, programs: Iterable[Program]) -> None:
        """Nothing is gained by translating many programs at a time."""

    def code_of(self, program: Callable[[], Program]) -> Source:
        """The text that says what code a program becomes: that of the table."""
        return self.source

    def row_for(self, operation: Operation) -> Any:
        """The row that compiles an operation; None if there is none."""
        raise NotImplementedError

    def rows_of(self, operation: Operation) -> tuple[Any, ...]:
        """The rows that say what an operation becomes."""
        row = self.row_for(operation)
        return () if row is None else (row,)

    def rows_used(self, program: Program) -> tuple[Any, ...]:
        """The rows that compile some operation of a program, in the order of the table."""
        used = [row for each in program.operations for row in self.rows_of(each)]
        return tuple(row for row in self.rows if any(row is each for each in used))

    def with_code(self, number: int, code: tuple[Any, ...]) -> Self:
        """The same table but for the code of one row, given by its number. Raises InputError."""
        message = f"a row of {self.name} must be from 1 to {len(self.rows)}, not {number}"
        require(any(row.number == number for row in self.rows), message)
        rows = tuple(replace(row, code=code) if row.number == number else row for row in self.rows)
        return replace(self, rows=rows)  # type: ignore[type-var]


def first_rows(rows: Iterable[R]) -> dict[Shape, R]:
    """The row of each shape that one matches: of several the one that names the weakest order."""
    found: dict[Shape, R] = {}
    for row in rows:
        for shape in row.shapes:
            if shape not in found or row.before(found[shape], shape):
                found[shape] = row
    return found
