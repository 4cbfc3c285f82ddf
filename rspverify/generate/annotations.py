"""What the accesses of a shape may say: the scopes, memory orders and memories to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from msgspec import Struct

from rspverify.litmus.functions import REFUSED
from rspverify.litmus.program import GLOBAL, LOCAL, Kind, Scope
from rspverify.programs.litmus_test import OPERATIONS, SHORT_ORDERS
from rspverify.programs.notation import access_named
from rspverify.source import require

NEAR = ("WG", "DV", "DV.R")
FAR = (*NEAR, "ALL", "ALL.R")
SCOPES = tuple(f"{scope.value}{flag}" for scope in Scope for flag in ("", ".R"))
ORDERS = tuple(SHORT_ORDERS)
MEMORIES = (GLOBAL, LOCAL)

_FENCED = "ar"
"""The order of a fence where none is asked for."""


class Annotations(Struct, frozen=True):
    """The scopes (`.R` for remote), the orders (none: the usual one of each operation, of a fence
    acq_rel), and the memories that each location may be in."""

    scopes: tuple[str, ...] = NEAR
    orders: tuple[str, ...] = ()
    memories: tuple[str, ...] = (GLOBAL,)

    def of(self, operation: str) -> tuple[str, ...]:
        """All that may stand behind an operation such as `st`, or `st.rlx`, which has its order.

        An order that the operation usually has is not named, as in titles.
        """
        orders: tuple[str, ...] = ("",)
        if "." not in operation and (self.orders or operation == "F"):
            orders = tuple(f"{it}." for it in possible(operation, self.orders or (_FENCED,)))
        names = (access_named(f"{operation}.{o}{s}").name for o, s in product(orders, self.scopes))
        return tuple(name.removeprefix(f"{operation}.") for name in names)

    def in_memories(self, locations: Sequence[str]) -> Iterator[frozenset[str]]:
        """Each way to put locations into memories: those that are local."""
        for chosen in product(self.memories, repeat=len(locations)):
            yield frozenset(x for x, each in zip(locations, chosen, strict=True) if each == LOCAL)


def possible(operation: str, orders: Iterable[str]) -> Iterator[str]:
    """Of these orders those that an operation such as `st` may have."""
    kind = OPERATIONS[operation][0]
    for order in orders:
        fence_of_nothing = kind is Kind.FENCE and order == "rlx"
        if SHORT_ORDERS[order] not in REFUSED.get(kind.value, ()) and not fence_of_nothing:
            yield order


def require_known(what: str, asked: Iterable[str], known: Sequence[str]) -> None:
    """Raises InputError if something is asked for that is not known. what: as `a scope`."""
    wrong = [each for each in asked if each not in known]
    require(not wrong, f"{what} must be one of {', '.join(known)}, not {', '.join(wrong)}")


def chosen_annotations(
    scopes: Sequence[str] = (), orders: Sequence[str] = (), memories: Sequence[str] = ()
) -> Annotations:
    """What a user chooses from, each once, in our order; nothing for what is usual.

    Raises InputError.
    """
    require_known("a scope", scopes, SCOPES)
    require_known("an order", orders, ORDERS)
    require_known("a memory", memories, MEMORIES)
    return Annotations(
        tuple(each for each in SCOPES if each in scopes),
        tuple(each for each in ORDERS if each in orders),
        tuple(each for each in MEMORIES if each in memories) or (GLOBAL,),
    )


USUAL = Annotations()
"""Those of the families of Tab. 3."""
