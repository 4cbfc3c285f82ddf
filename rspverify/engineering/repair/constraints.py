"""What candidates are asked for: which rows may change, and what codes may be made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from rspverify.engineering.repair.codes import Code, Kinds, parsed
from rspverify.engineering.repair.instructions import InstructionPool, pool_of
from rspverify.engineering.repair.space import RowSpace
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.source import InputError, Problem

if TYPE_CHECKING:
    from rspverify.translators import Rows

EVERY_ROW = "all"


class Constraints(Struct, frozen=True):
    """What a user asks of the candidates.

    rows: the numbers of those that may change; None: those with more than an access and those that
    tests show to be too weak, or every one.
    allow, forbid: instructions, with their reach or without. length: the most instructions.
    repeats: how often a row that writes may store the same again; None: as often as one does now.
    set_aside: tests that no candidate passes are left out, and named.
    """

    rows: tuple[int, ...] | None = None
    allow: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    length: int | None = None
    every: bool = False
    repeats: int | None = None
    set_aside: bool = False


class SearchSpace(Struct, frozen=True):
    """The candidates: for each row its codes. stays: why a row does not change, by its number."""

    pool: InstructionPool
    rows: Mapping[int, RowSpace]
    stays: Mapping[int, str]
    length: int

    @property
    def instructions(self) -> tuple[str, ...]:
        """What codes of the rows that change are made of, beside the accesses."""
        used: dict[str, None] = {}
        for space in self.rows.values():
            if not space.fixed:
                locks = [it for take in space.kinds.takes for it in (take, self.pool.frees[take])]
                for each in (*space.kinds.order, *locks):
                    used[self.pool.instructions[each].name] = None
        return tuple(used)


def space_of(
    scheme: Rows,
    constraints: Constraints,
    costs: Costs,
    used: Collection[int],
    weak: Collection[int],
    devices: int,
) -> SearchSpace:
    """The candidates for a scheme. used: the rows that some test uses; weak: those that are at
    fault for one that it fails; devices: of the tests.

    Raises InputError with all that is wrong with the constraints.
    """
    problems: list[Problem] = []
    pool = pool_of(scheme, costs)
    given = {row.number: pool.read(row.code) for row in scheme.rows}
    written = {each for code in given.values() for each in code}
    allowed = _allowed(pool, frozenset(pool.sensible(devices)), constraints, problems)
    allowed -= {
        place
        for place, other in pool.synonyms
        if other in allowed and (other in written, -other) > (place in written, -place)
    }
    stays = _staying(scheme, given, pool, constraints, used, weak, problems)
    length = constraints.length or max(
        pool.shortest, *(sum(each in allowed for each in code) for code in given.values())
    )
    repeats = constraints.repeats
    if repeats is None:
        repeats = pool.repeats(scheme.rows)
    rows: dict[int, RowSpace] = {}
    for row in scheme.rows:
        accesses, order, takes, again = map(tuple, pool.materials(row, allowed))
        kinds = Kinds(accesses, order, takes, length)
        if again and repeats:
            kinds = replace(kinds, again=again, repeats=repeats)
        if not kinds.accesses and any(each.accesses for each in row.code):
            message = f"row {row.number}, {row}, must be left an instruction that accesses memory"
            problems.append(Problem(None, message, "allow one, or leave the row out of --rows"))
        if row.number in stays and parsed(given[row.number], pool) is None:
            message = f"row {row.number}, {row}, must change: its locks are not matched"
            problems.append(Problem(row.span, message, f"put it among --rows: {row.number}"))
            continue
        rows[row.number] = RowSpace(row, kinds, pool, given[row.number], row.number in stays)
    if problems:
        raise InputError(problems)
    return SearchSpace(pool, rows, stays, length)


def _allowed(
    pool: InstructionPool,
    sensible: frozenset[int],
    constraints: Constraints,
    problems: list[Problem],
) -> frozenset[int]:
    """The numbers of the instructions that codes may have."""

    def meant(words: Iterable[str], option: str) -> frozenset[int]:
        found: set[int] = set()
        for word in words:
            it = " ".join(word.split())
            known = enumerate(pool.instructions)
            some = {place for place, each in known if it == each.name or it in each.called}
            if not some:
                message = f"{option} must name instructions of {pool.whose}, not {it!r}"
                hint = f"one of {', '.join(sorted(pool.number))}"
                problems.append(Problem(None, message, hint))
            found |= some
        return frozenset(found)

    allow = meant(constraints.allow, "--allow")
    forbid = meant(constraints.forbid, "--forbid")
    if not constraints.allow:
        return sensible - forbid
    return (allow if allow & pool.accesses else allow | pool.accesses) - forbid


def _staying(
    scheme: Rows,
    given: Mapping[int, Code],
    pool: InstructionPool,
    constraints: Constraints,
    used: Collection[int],
    weak: Collection[int],
    problems: list[Problem],
) -> dict[int, str]:
    """Why rows stay, by their numbers."""
    numbers = {row.number for row in scheme.rows}
    for number in sorted(set(constraints.rows or ()) - numbers):
        message = f"--rows must name rows of {scheme.name}, 1 to {len(numbers)}, not {number}"
        problems.append(Problem(None, message))
    usual = constraints.rows is None and not constraints.every
    stays: dict[int, str] = {}
    for row in scheme.rows:
        if row.number not in used:
            stays[row.number] = "no test uses it"
        elif constraints.rows is not None and row.number not in constraints.rows:
            stays[row.number] = "not among --rows"
        elif usual and row.number not in weak and pool.accesses.issuperset(given[row.number]):
            stays[row.number] = "nothing but its access"
    return stays
