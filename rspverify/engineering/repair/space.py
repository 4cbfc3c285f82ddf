"""The codes that each row may have, in the order of their cost, and what was learnt of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from rspverify.engineering.repair.alphabet import Alphabet
from rspverify.engineering.repair.codes import (
    Code,
    Form,
    Kinds,
    codes,
    cost_of,
    count,
    distance,
    form_of,
    weaker,
)
from rspverify.limits import LimitReached
from rspverify.scheme import Row

Codes = Mapping[int, Code]
"""A code for each of some rows, by their numbers."""


@dataclass(frozen=True)
class Below:
    """Every code that is weaker than one, or the same."""

    top: Code
    form: Form

    def has(self, code: Code, form: Form, alphabet: Alphabet) -> bool:
        """Whether a code is among them."""
        return weaker(form, self.form, alphabet)


@dataclass(frozen=True)
class Exactly:
    """One code alone."""

    top: Code

    def has(self, code: Code, form: Form, alphabet: Alphabet) -> bool:
        """Whether it is this one."""
        return code == self.top


@dataclass(frozen=True)
class Beginning:
    """Every code that begins with these instructions, and goes on."""

    top: Code

    def has(self, code: Code, form: Form, alphabet: Alphabet) -> bool:
        """Whether a code is among them."""
        return len(code) > len(self.top) and code[: len(self.top)] == self.top


@dataclass(frozen=True)
class Above:
    """Every code that is stronger than one, or the same."""

    bottom: Code
    form: Form

    def has(self, code: Code, form: Form, alphabet: Alphabet) -> bool:
        """Whether a code is among them."""
        return weaker(self.form, form, alphabet)


Codeset = Below | Exactly | Beginning | Above

_MOST = 2_000_000

_EDITED = 64
"""What an edited row adds to the distance: more than all edits of its code do."""


@dataclass(frozen=True)
class Nogood:
    """Codes of some rows of which no scheme may have one each: not (row a in A and row b in B …).

    sets: by the number of the row. test: the one that fails with the strongest of them; word: how.
    """

    sets: Mapping[int, Codeset]
    test: str
    word: str


@dataclass
class Entry:
    """A code of a row. inside: bit i is set if it is in the i-th set that was learnt.

    distance: from the code that is given, 0 for that itself.
    """

    code: Code
    form: Form
    cost: int
    distance: int
    inside: int = 0


@dataclass
class RowSpace:
    """The codes of one row, made up to a cost only, as far as the search has come.

    given: what the scheme has now; fixed: whether it stays.
    """

    row: Row
    kinds: Kinds
    alphabet: Alphabet
    given: Code
    fixed: bool
    known: list[Entry] = field(default_factory=list)
    sets: list[Codeset] = field(default_factory=list)
    made: int = -1
    whole: bool = False
    """Whether there are no codes beyond those that are known."""

    ruled_out: int = 0
    """The sets of which no code may be had, whatever the other rows have."""

    def __post_init__(self) -> None:
        if self.fixed:
            form = form_of(self.given, self.alphabet)
            assert form is not None
            cost = cost_of(self.given, self.alphabet)
            self.known, self.whole = [Entry(self.given, form, cost, 0)], True

    @property
    def size(self) -> int:
        """How many codes it may have."""
        return 1 if self.fixed else count(self.kinds, self.alphabet)

    def make(self, most: int) -> None:
        """Have all codes that cost at most so much."""
        if self.whole or most <= self.made:
            return
        dearest = self.dearest
        for code in codes(self.kinds, self.alphabet, most, self.made):
            if len(self.known) >= _MOST:
                raise LimitReached(
                    f"row {self.row.number} may have more than {_MOST:,} codes that cost at most "
                    f"{most:,}; give fewer instructions (--allow) or a smaller --max-length"
                )
            form = form_of(code, self.alphabet)
            assert form is not None
            entry = Entry(code, form, cost_of(code, self.alphabet), self._edits(code))
            for place, each in enumerate(self.sets):
                if each.has(code, form, self.alphabet):
                    entry.inside |= 1 << place
            if not entry.inside & self.ruled_out:
                self.known.append(entry)
        self.made = most
        self.whole = most >= dearest

    def _edits(self, code: Code) -> int:
        return 0 if code == self.given else _EDITED + distance(code, self.given)

    def may_have(self, code: Code) -> bool:
        """Whether a code is one of the row's, were nothing learnt."""
        if self.fixed:
            return code == self.given
        form = form_of(code, self.alphabet)
        kinds, beside = self.kinds, self.alphabet.pointless_beside
        letters = {*kinds.accesses, *kinds.order, *kinds.takes, *kinds.again}
        accesses = [each for each in code if each in self.alphabet.accesses]
        letters |= {self.alphabet.frees[take] for take in kinds.takes}
        return (
            form is not None
            and letters >= set(code)
            and len(code) <= kinds.length
            and len(accesses) <= 1 + kinds.repeats
            and accesses[:1] in ([], *([each] for each in kinds.accesses))
            and not any(pair in beside for pair in pairwise(code))
        )

    @property
    def dearest(self) -> int:
        """What no code of the row costs more than."""
        prices = self.alphabet.cost
        order = max((prices[each] for each in self.kinds.order), default=0)
        access = max((prices[each] for each in self.kinds.accesses), default=0)
        locks = sum(prices[each] + prices[self.alphabet.frees[each]] for each in self.kinds.takes)
        again = max((prices[each] for each in self.kinds.again), default=0)
        return access + self.kinds.length * max(order, again) + locks

    def number_of(self, codeset: Codeset) -> int:
        """The number of a set, which is learnt if it is new."""
        if codeset in self.sets:
            return self.sets.index(codeset)
        place = len(self.sets)
        self.sets.append(codeset)
        for entry in self.known:
            if codeset.has(entry.code, entry.form, self.alphabet):
                entry.inside |= 1 << place
        return place

    def rule_out(self, number: int) -> None:
        """No code of a set may be had, whatever the other rows have."""
        self.ruled_out |= 1 << number
        self.known = [entry for entry in self.known if not entry.inside & self.ruled_out]


def frontier(entries: list[Entry], *, nearest: bool) -> list[Entry]:
    """Entries of which some cheapest choice can be made, or some nearest one of a cost.

    Left out: each that costs no less than another (and is no nearer) and is in all of its sets.
    """
    ordered = sorted(entries, key=lambda each: (each.cost, each.distance, each.code))
    alone: list[Entry] = []
    closest: dict[int, int] = {}
    for entry in ordered:
        if entry.inside not in closest or (nearest and entry.distance < closest[entry.inside]):
            closest[entry.inside] = entry.distance
            alone.append(entry)
    kept: list[Entry] = []
    for entry in alone:
        if not any(
            other.inside & entry.inside == other.inside
            and (not nearest or other.distance <= entry.distance)
            for other in kept
        ):
            kept.append(entry)
    return kept
