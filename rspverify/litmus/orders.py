"""The words for memory orders, memory scopes and regions of memory, in OpenCL C and in C11."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.litmus.tree import Expression, Infix, Name
from rspverify.wording import alternatives

ORDERS: Mapping[str, Mapping[str, Order]] = {
    "C": {f"memory_order_{order.value}": order for order in Order},
    "OpenCL": {
        f"memory_order_{order.value}": order for order in Order if order is not Order.CONSUME
    },
}
"""The memory orders of each language (C11 §7.17.3, OpenCL C §6.13.11)."""

SCOPES: Mapping[str, Scope] = {
    "memory_scope_work_item": Scope.WI,
    "memory_scope_sub_group": Scope.SG,
    "memory_scope_work_group": Scope.WG,
    "memory_scope_device": Scope.DV,
    "memory_scope_all_svm_devices": Scope.ALL,
}
"""The memory scopes of OpenCL C; C11 has none."""

DEFAULT_SCOPE = Scope.DV
"""The scope of an atomic operation that names none (OpenCL C §6.13.11)."""

FLAGS: Mapping[str, str] = {"CLK_GLOBAL_MEM_FENCE": "global", "CLK_LOCAL_MEM_FENCE": "local"}
"""The regions of memory that a fence or a barrier may order."""

REFUSED: Mapping[str, tuple[Order, ...]] = {
    Kind.LOAD.value: (Order.RELEASE, Order.ACQ_REL),
    Kind.STORE.value: (Order.CONSUME, Order.ACQUIRE, Order.ACQ_REL),
    "compare-exchange that fails": (Order.RELEASE, Order.ACQ_REL),
}
"""The orders that an operation cannot have (C11 §7.17.7, OpenCL C §6.13.11)."""


T = TypeVar("T")


def order_of(argument: Expression, what: str, language: str, problems: Problems) -> Order:
    """The order that an argument names, for an operation of that name; noted if it cannot be."""
    orders = ORDERS[language]
    order = _named(argument, orders, "a memory order", problems)
    refused = REFUSED.get(what, ())
    if order in refused:
        allowed = alternatives(each.value for each in orders.values() if each not in refused)
        message = f"the memory order of a {what} must be {allowed}, not {order.value}"
        problems.error(argument.span, message)
    return order or Order.SEQ_CST


def scope_of(argument: Expression, problems: Problems) -> Scope:
    """The scope that an argument names; noted if it names none."""
    return _named(argument, SCOPES, "a memory scope", problems) or Scope.ALL


def regions_of(argument: Expression, problems: Problems) -> frozenset[str]:
    """The regions that flags name, which may be joined by `|`."""
    match argument:
        case Infix(_, left, "|", right):
            return regions_of(left, problems) | regions_of(right, problems)
        case Name(span, "CLK_IMAGE_MEM_FENCE" as word):
            problems.unsupported(span, f"the flag {quote(word)} is not supported")
            return frozenset()
    hint = "join two flags by `|`"
    region = _named(argument, FLAGS, "the flags of a fence", problems, hint)
    return frozenset({region} if region else {})


def _named(
    argument: Expression,
    table: Mapping[str, T],
    what: str,
    problems: Problems,
    hint: str | None = None,
) -> T | None:
    """What a word of a table names; None, and noted, where there is none."""
    word = argument.text if isinstance(argument, Name) else "an expression"
    if word not in table:
        shown = quote(word) if isinstance(argument, Name) else word
        message = f"{what} must be {alternatives(table)}, not {shown}"
        problems.error(argument.span, message, problems.suggestion(word, table) or hint)
    return table.get(word)
