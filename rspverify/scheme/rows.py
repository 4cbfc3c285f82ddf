"""What all tables of rows say of themselves, whatever executes their code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

from rspverify.litmus.program import Operation, Program
from rspverify.records import replace
from rspverify.scheme.row import OfOperations, Shape
from rspverify.source import Source, require

R = TypeVar("R", bound=OfOperations)


Code = tuple[Any, ...]


class Steps(ABC):
    """What instructions of a table's code may be a step away from."""

    @abstractmethod
    def stays(self, code: Code, place: int) -> bool:
        """Whether a row would mean nothing without the instruction at a place, from 0."""

    def pairs(self, code: Code) -> Mapping[int, int]:
        """The places of instructions that only go together, the first of each two as keys."""
        return {}

    @abstractmethod
    def weaker(self, row: Any, place: int) -> Iterator[tuple[str, Code]]:
        """What may stand in the place of an instruction of a row and does less, with words."""

    @abstractmethod
    def stronger(self, row: Any, place: int) -> Iterator[tuple[str, Code]]:
        """What may stand there and does more, with words."""

    @abstractmethod
    def no_less(self, one: Any, other: Any) -> bool:
        """Whether an instruction in the place of another does as much; any access does."""

    @abstractmethod
    def swap(self, one: Any, other: Any) -> bool:
        """Whether two neighbours may change places."""

    @abstractmethod
    def mean(self, row: Any, code: Code) -> bool:
        """Whether a row may have this code: it still does what its operation does."""

    def equivalent(self, one: Code, other: Code) -> str | None:
        """Why two codes are the same to everybody; None where that is not known."""
        return None

    def waits_longer(self, one: Code, other: Code, switches: str | None = None) -> bool:
        """Whether it is known that the one only waits longer than the other, with switches on."""
        return False


class OfRows:
    """A translator that makes of each operation what one row says (rspverify/translators.py)."""

    __slots__ = ()
    name: str
    source: Source
    rows: tuple[Any, ...]
    origin: str | None
    note: str | None

    @property
    def steps(self) -> Steps:
        """What its instructions are one step away from."""
        raise NotImplementedError

    def head(self, *, anywhere: bool) -> dict[str, str]:
        """What its file says of what it is for (rspverify/scheme/writer.py)."""
        raise NotImplementedError

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
