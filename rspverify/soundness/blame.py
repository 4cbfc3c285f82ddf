"""Which row of a scheme a program shows to be too weak."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.limits import Limits
from rspverify.litmus.program import Scope
from rspverify.mapping.strength import gives, strengths
from rspverify.mapping.table import Table
from rspverify.scheme.row import AnyRow
from rspverify.soundness.case import Case
from rspverify.soundness.check import is_sound
from rspverify.soundness.sides import ModelSide
from rspverify.soundness.strongest import strongest
from rspverify.translators import Translator, rows_in

if TYPE_CHECKING:
    from rspverify.translators import Rows

_SCOPES = (None, *Scope)


class Blame(Struct, frozen=True):
    """mends: each smallest set of rows that mends a program if made as strong as can be.

    blamed: of these, the one with the widest scope, and of two like that the remote one; empty if
    no row and no two mend it. mended: the scheme with these made stronger. Keeping work-groups in
    step is for the operations that reach across them: what they fail to do, a plain access could
    mend, too, at a cost that schemes are there to avoid.
    """

    blamed: tuple[AnyRow, ...]
    mends: tuple[tuple[AnyRow, ...], ...]
    mended: Translator


def blame(case: Case, *, devices: int, limits: Limits | None = None) -> Blame:
    """The rows to blame for a program that a scheme breaks. devices: for which rows are made.

    Only if no row and no two mend it within their reach, rows are tried that reach everywhere.
    limits: on all checks together, beside those that the case sets to each. Raises LimitReached.
    """
    limits = limits or Limits()
    program, model, settings = case.program, case.model, case.settings
    scheme = rows_in(case.scheme)
    source = ModelSide(program, model)
    rows = scheme.rows_used(program)
    for anywhere in (False, True)[: 1 if scheme.machine is None else 2]:
        for count in (1, 2):
            mends = {}
            for chosen in combinations(rows, count):
                mended = _strengthened(scheme, chosen, devices, anywhere=anywhere)
                sound = is_sound(Case(program, mended, model, settings), source)
                limits.remaining()
                if sound:
                    mends[chosen] = mended
            if mends:
                widest = max(mends, key=width)
                return Blame(widest, tuple(mends), mends[widest])
    return Blame((), (), scheme)


def _strengthened(scheme: Rows, rows: Sequence[Any], devices: int, *, anywhere: bool) -> Rows:
    """A scheme with some rows made as strong as can be."""
    for row in rows:
        code: tuple[Any, ...]
        if isinstance(scheme, Table):
            code = strengths(scheme, loosely=True).strongest(row.code, result=gives(row))
        else:
            code = strongest(row, scheme, devices, anywhere=anywhere)
        scheme = scheme.with_code(row.number, code)
    return scheme


def width(rows: Sequence[Any]) -> tuple[tuple[int, bool, int], ...]:
    """How far rows reach; of equal ones those later in the table."""
    return tuple(
        sorted(
            (
                max(map(_SCOPES.index, row.scopes), default=0),
                True in getattr(row, "remotes", ()),
                row.number,
            )
            for row in rows
        )
    )
