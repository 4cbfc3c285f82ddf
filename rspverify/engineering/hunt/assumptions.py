"""What the lemmas of the enumeration ask of a scheme (docs/engineering.md has the proofs)."""

from __future__ import annotations

from rspverify.architecture import CellKind
from rspverify.scheme import Scheme
from rspverify.scheme.mutants import locks_of


def gives_back(scheme: Scheme) -> bool:
    """Whether each row frees exactly the locks that it has taken itself, and holds none at its end.

    Then no thread ever frees a lock of another. A row that takes a kind of lock while it holds one
    does not count: locks are not counted, so that the first of two that frees it frees it for all,
    and the second may free that of another thread.
    """
    for row in scheme.rows:
        held: dict[CellKind, str | None] = {}
        for template in row.code:
            for lock, taken in locks_of(template):
                if taken == (lock in held):
                    return False
                if taken:
                    held[lock] = template.reach
                elif held.pop(lock) != template.reach:
                    return False
        if held:
            return False
    return True


def stores_again(scheme: Scheme) -> bool:
    """Whether some row stores again what its operation has written.

    Then another store of the same work-group may come in between, and be lost.
    """
    return any(sum(each.mnemonic.writes for each in row.code) > 1 for row in scheme.rows)
