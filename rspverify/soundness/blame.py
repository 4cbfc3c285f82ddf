"""Which row of a scheme a program shows to be too weak."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from rspverify.assembly import Reach
from rspverify.limits import Limits
from rspverify.litmus import Scope
from rspverify.scheme import Row, Scheme, Template, rows_used
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.source import SourceExecutions
from rspverify.verdict import Word

_SCOPES = (None, Scope.WI, Scope.WG, Scope.DV, Scope.ALL)


@dataclass(frozen=True)
class Blame:
    """mends: each smallest set of rows that mends a program if made as strong as can be.

    blamed: of these, the one with the widest scope, and of two like that the remote one; empty if
    no row and no two mend it. mended: the scheme with these made stronger. Keeping work-groups in
    step is for the operations that reach across them: what they fail to do, a plain access could
    mend, too, at a cost that schemes are there to avoid.
    """

    blamed: tuple[Row, ...]
    mends: tuple[tuple[Row, ...], ...]
    mended: Scheme


def blame(case: Case, *, devices: int, limits: Limits | None = None) -> Blame:
    """The rows to blame for a program that a scheme breaks. devices: for which rows are made.

    Only if no row and no two mend it within their reach, rows are tried that reach everywhere.
    limits: on all checks together, beside those that the case sets to each. Raises LimitReached.
    """
    limits = limits or Limits()
    program, scheme, model, settings = case.program, case.scheme, case.model, case.settings
    source = SourceExecutions(program, model)
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
                widest = max(mends, key=_width)
                return Blame(widest, tuple(mends), mends[widest])
    return Blame((), (), scheme)


def _strengthened(scheme: Scheme, rows: Sequence[Row], devices: int, *, anywhere: bool) -> Scheme:
    """A scheme with some rows made as strong as can be."""
    for row in rows:
        scheme = scheme.with_code(row.number, strongest(row, scheme, devices, anywhere=anywhere))
    return scheme


def strongest(
    row: Row, scheme: Scheme, devices: int, *, anywhere: bool = False
) -> tuple[Template, ...]:
    """The strongest code of a row: it flushes and invalidates before its access and after it.

    An RMW is done at the L2; a fence has no access. A row for remote operations (or any,
    `anywhere`) does this to every cache, under every rmw lock; another one to its own L1, and with
    several devices to its own L2.
    """
    far = anywhere or row.remotes == {True}
    if far:
        first = second = Reach.DV if devices == 1 else Reach.SY
    else:
        first, second = Reach.WG, Reach.DV
    around = list(_emptying(row, scheme, first, second, devices))
    names = {"INC_L1": "INC_L2", "RMW_L1": "RMW_L2"}
    access = next((each for each in row.code if each.accesses), None)
    code = tuple(around)
    if access is not None:
        name = names.get(access.mnemonic.name, access.mnemonic.name)
        mnemonic = scheme.machine.instructions[name]
        code = (*around, Template(mnemonic, access.reach, access.span), *around)
    if not far:
        return code
    lock, unlock = (
        Template(scheme.machine.instructions[name], first, row.span)
        for name in ("LK_rmw", "UL_rmw")
    )
    return (lock, *code, unlock)


def _emptying(
    row: Row, scheme: Scheme, first: Reach, second: Reach, devices: int
) -> Iterator[Template]:
    """Flushes and invalidations of L1s in one reach, and with several devices of L2s in another."""
    for name in ("FLU_L1", "FLU_L2", "INV_L1", "INV_L2"):
        mnemonic = scheme.machine.instructions.get(name)
        level_1 = name.endswith("L1")
        if mnemonic is not None and (level_1 or devices > 1):
            yield Template(mnemonic, first if level_1 else second, row.span)


def _width(rows: Sequence[Row]) -> tuple[tuple[int, bool, int], ...]:
    """How far rows reach; of equal ones those later in the table."""
    return tuple(
        sorted(
            (max(map(_SCOPES.index, row.scopes)), True in row.remotes, row.number) for row in rows
        )
    )
