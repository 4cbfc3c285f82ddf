"""What the lemmas of the enumeration ask of a scheme and of its machine.

docs/proofs.md has the proofs.
"""

from __future__ import annotations

from rspverify.architecture.architecture import Architecture, CellKind
from rspverify.machine.reductions import locations_are_apart
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.steps import locks_of
from rspverify.translators import Translator, is_scheme, table_of

_PROVED_FOR = frozenset(
    {
        "62f7a74daaa9345663384997b1c52b3f14c3e00bb7f6589479e5a3bb5622e170",  # rsp
        "3dde3e461af2bbb5920d0514920ad00cb92e3f5c9dafc32fd057e21c0d7d9d7c",  # rsp-coherent-l2
        "135094c6ed7faee0a740e1f3f993be025a58060901a3de8851b8e43032c8a0cd",  # rsp-inv-l2
        "31f6d49987469659790c1550a2a5d70949fbde27d707d71466d508f3a29e588a",  # rsp-st-waits
        "bd69b7ad075c98d958930bcdc72e7b3db10c93dace05d533bd99a02f41a83b9c",  # rsp-lines
    }
)
"""What the machines say that all lemmas are proved for (`Architecture.meaning_digest`)."""


def proved_for(machine: Architecture) -> bool:
    """Whether all lemmas are proved for a machine."""
    return machine.meaning_digest in _PROVED_FOR


def smaller_proved_for(machine: Architecture) -> bool:
    """Whether smaller programs stand for others on a machine. On any other all are decided."""
    return proved_for(machine) or locations_are_apart(machine)


def alone_may_break(scheme: Translator) -> bool:
    """Whether a program may break a scheme although no work-groups share what is written.

    Nothing is known of what a compiler makes of a program by what it makes of others.
    """
    if not is_scheme(scheme):
        return True
    table = table_of(scheme)
    return stores_again(table) or not proved_for(table.machine)


def smaller_stand(scheme: Translator) -> bool:
    """Whether programs are sound that smaller ones stand for, if these are."""
    if not is_scheme(scheme):
        return False
    table = table_of(scheme)
    return gives_back(table) and smaller_proved_for(table.machine)


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
