"""Which row of a scheme a program shows to be too weak."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.litmus.program import Scope
from rspverify.scheme.row import Row
from rspverify.scheme.scheme import Scheme, rows_used
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.strongest import strongest
from rspverify.translators import Translator, table_of
from rspverify.verdict import Word

_SCOPES = (None, *Scope)


class Blame(Struct, frozen=True):
    """mends: each smallest set of rows that mends a program if made as strong as can be.

    blamed: of these, the one with the widest scope, and of two like that the remote one; empty if
    no row and no two mend it. mended: the scheme with these made stronger. Keeping work-groups in
    step is for the operations that reach across them: what they fail to do, a plain access could
    mend, too, at a cost that schemes are there to avoid.
    """

    blamed: tuple[Row, ...]
    mends: tuple[tuple[Row, ...], ...]
    mended: Translator


def blame(case: Case, *, devices: int, limits: Limits | None = None) -> Blame:
    """The rows to blame for a program that a scheme breaks. devices: for which rows are made.

    Only if no row and no two mend it within their reach, rows are tried that reach everywhere.
    limits: on all checks together, beside those that the case sets to each. Raises LimitReached.
    """
    limits = limits or Limits()
    program, model, settings = case.program, case.model, case.settings
    scheme = table_of(case.scheme)
    source = ModelSide(program, model)
    rows = rows_used(program, scheme)
    for anywhere in (False, True):
        for count in (1, 2):
            mends = {}
            for chosen in combinations(rows, count):
                mended = _strengthened(scheme, chosen, devices, anywhere=anywhere)
                word = check(Case(program, mended, model, settings), source).word
                limits.remaining()
                if word is Word.SOUND:
                    mends[chosen] = mended
            if mends:
                widest = max(mends, key=width)
                return Blame(widest, tuple(mends), mends[widest])
    return Blame((), (), scheme)


def _strengthened(scheme: Scheme, rows: Sequence[Row], devices: int, *, anywhere: bool) -> Scheme:
    """A scheme with some rows made as strong as can be."""
    for row in rows:
        scheme = scheme.with_code(row.number, strongest(row, scheme, devices, anywhere=anywhere))
    return scheme


def width(rows: Sequence[Row]) -> tuple[tuple[int, bool, int], ...]:
    """How far rows reach; of equal ones those later in the table."""
    return tuple(
        sorted(
            (max(map(_SCOPES.index, row.scopes), default=0), True in row.remotes, row.number)
            for row in rows
        )
    )
