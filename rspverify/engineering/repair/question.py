"""What a repair is asked: which rows may change, and what their codes may be made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rspverify.engineering.repair.alphabet import Alphabet, Letter, Role, letter_of, letters_of
from rspverify.engineering.repair.codes import Code, Kinds, form_of
from rspverify.engineering.repair.space import RowSpace
from rspverify.scheme import Row, Scheme
from rspverify.scheme.cost import Costs
from rspverify.source import InputError, Problem

SHORTEST = 7
"""The most instructions of a code, unless the scheme itself has longer ones."""

EVERY_ROW = "all"


@dataclass(frozen=True)
class Wanted:
    """What a user asks of the candidates.

    rows: the numbers of those that may change; None: those with more than an access, or every one.
    allow, forbid: instructions, with their reach or without. length: the most instructions.
    repeats: how often a row that writes may store the same again; None: as often as one does now.
    """

    rows: tuple[int, ...] | None = None
    allow: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    length: int | None = None
    every: bool = False
    repeats: int | None = None


@dataclass(frozen=True)
class Field:
    """The candidates: for each row its codes. stays: why a row does not change, by its number."""

    alphabet: Alphabet
    rows: Mapping[int, RowSpace]
    stays: Mapping[int, str]
    length: int

    @property
    def instructions(self) -> tuple[str, ...]:
        """What codes of the rows that change are made of, beside the accesses."""
        used: dict[str, None] = {}
        for space in self.rows.values():
            if not space.fixed:
                takes = space.kinds.takes
                locks = [each for take in takes for each in (take, self.alphabet.frees[take])]
                for each in (*space.kinds.order, *locks):
                    used[self.alphabet.letters[each].name] = None
        return tuple(used)

    def text(self, code: Code) -> tuple[str, ...]:
        """A code as a row of a scheme has it."""
        return tuple(str(self.alphabet.letters[each].template) for each in code)


def field_of(
    scheme: Scheme, wanted: Wanted, costs: Costs, used: Collection[int], devices: int
) -> Field:
    """The candidates for a scheme. used: the rows that some test uses; devices: of the tests.

    Raises InputError with all that is wrong with what is wanted.
    """
    problems: list[Problem] = []
    span = scheme.rows[0].span
    whole = [
        letter
        for mnemonic in scheme.machine.instructions.values()
        for reach in mnemonic.reaches or (None,)
        if (letter := letter_of(mnemonic, reach, costs, span)) is not None
    ]
    alphabet = Alphabet(whole)
    coherent = scheme.machine.coherent_l2
    sensible = letters_of(
        scheme.machine.instructions, costs, span, devices=devices, coherent=coherent
    )
    allowed = _allowed(whole, sensible, wanted, problems)
    stays = _staying(scheme, wanted, used, problems)
    length = wanted.length or max(
        SHORTEST,
        *(
            sum(_name(alphabet, each) in allowed for each in _read(alphabet, row))
            for row in scheme.rows
        ),
    )
    repeats = wanted.repeats
    if repeats is None:
        repeats = max(0, *(sum(each.accesses for each in row.code) - 1 for row in scheme.rows))
    rows: dict[int, RowSpace] = {}
    for row in scheme.rows:
        given = _read(alphabet, row)
        kinds = _kinds(row, alphabet, allowed, length, repeats)
        if not kinds.accesses and any(each.accesses for each in row.code):
            message = f"row {row.number}, {row}, must be left an instruction that accesses memory"
            problems.append(Problem(None, message, "allow one, or leave the row out of --rows"))
        if row.number in stays and form_of(given, alphabet) is None:
            message = f"row {row.number}, {row}, must change: its locks are not matched"
            problems.append(Problem(row.span, message, f"put it among --rows: {row.number}"))
            continue
        rows[row.number] = RowSpace(row, kinds, alphabet, given, row.number in stays)
    if problems:
        raise InputError(problems)
    return Field(alphabet, rows, stays, length)


def _name(alphabet: Alphabet, letter: int) -> str:
    return alphabet.letters[letter].name


def _read(alphabet: Alphabet, row: Row) -> Code:
    return alphabet.read(row.code)


def _kinds(
    row: Row, alphabet: Alphabet, allowed: Collection[str], length: int, repeats: int
) -> Kinds:
    """What the codes of a row may be made of. Its access may be at another level."""
    own = [each.mnemonic for each in row.code if each.accesses][:1]
    again = [
        place
        for place, letter in enumerate(alphabet.letters)
        if place in alphabet.accesses and letter.name in allowed
        if letter.template.mnemonic.writes and not letter.template.mnemonic.reads
    ]
    writes = any(each.writes for each in own)
    accesses = [
        place
        for place, letter in enumerate(alphabet.letters)
        if letter.role is Role.ACCESS and letter.name in allowed
        for mnemonic in own
        if (letter.template.mnemonic.reads, letter.template.mnemonic.writes)
        == (mnemonic.reads, mnemonic.writes)
        and letter.template.mnemonic.operator == mnemonic.operator
    ]
    order = [each for each in alphabet.order if alphabet.letters[each].name in allowed]
    takes = [
        each
        for each in alphabet.takes
        if {_name(alphabet, each), _name(alphabet, alphabet.frees[each])} <= set(allowed)
        and (own or "x" not in alphabet.letters[each].template.mnemonic.operands)
    ]
    if not (writes and repeats):
        return Kinds(tuple(accesses), tuple(order), tuple(takes), length)
    return Kinds(tuple(accesses), tuple(order), tuple(takes), length, tuple(again), repeats)


def _allowed(
    letters: Sequence[Letter],
    sensible: Mapping[str, Letter],
    wanted: Wanted,
    problems: list[Problem],
) -> frozenset[str]:
    """The names of the letters that codes may have."""
    names = {letter.name for letter in letters}
    accesses = {letter.name for letter in letters if letter.role is Role.ACCESS}

    def meant(words: Iterable[str], option: str) -> set[str]:
        found: set[str] = set()
        for word in words:
            it = " ".join(word.split())
            some = {name for name in names if name == it or name.split()[0] == it}
            if not some:
                message = f"{option} must name instructions of the machine, not {it!r}"
                problems.append(Problem(None, message, f"one of {', '.join(sorted(names))}"))
            found |= some
        return found

    allow, forbid = meant(wanted.allow, "--allow"), meant(wanted.forbid, "--forbid")
    base = set(sensible)
    if wanted.allow:
        base = allow if allow & accesses else allow | accesses
    return frozenset(base - forbid)


def _staying(
    scheme: Scheme, wanted: Wanted, used: Collection[int], problems: list[Problem]
) -> dict[int, str]:
    """Why rows stay, by their numbers."""
    numbers = {row.number for row in scheme.rows}
    for number in sorted(set(wanted.rows or ()) - numbers):
        message = f"--rows must name rows of {scheme.name}, 1 to {len(numbers)}, not {number}"
        problems.append(Problem(None, message))
    stays: dict[int, str] = {}
    for row in scheme.rows:
        if row.number not in used:
            stays[row.number] = "no test uses it"
        elif wanted.rows is not None and row.number not in wanted.rows:
            stays[row.number] = "not among --rows"
        elif wanted.rows is None and not wanted.every and all(each.accesses for each in row.code):
            stays[row.number] = "nothing but its access"
    return stays
