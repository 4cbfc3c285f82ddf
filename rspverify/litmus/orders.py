"""The words for memory orders, memory scopes and regions of memory, in OpenCL C and in C11."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.litmus.tree import Expression, Infix, Name

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


def order_of(argument: Expression, what: str, language: str, problems: Problems) -> Order:
    """The order that an argument names, for an operation of that name; noted if it cannot be."""
    orders = ORDERS[language]
    word = argument.text if isinstance(argument, Name) else "an expression"
    order = orders.get(word)
    if order is None:
        shown = quote(word) if isinstance(argument, Name) else word
        message = f"a memory order must be {listed(orders)}, not {shown}"
        problems.error(argument.span, message, problems.suggestion(word, orders))
        return Order.SEQ_CST
    refused = REFUSED.get(what, ())
    if order in refused:
        allowed = listed(each.value for each in orders.values() if each not in refused)
        message = f"the memory order of a {what} must be {allowed}, not {order.value}"
        problems.error(argument.span, message)
    return order


def scope_of(argument: Expression, problems: Problems) -> Scope:
    """The scope that an argument names; noted if it names none."""
    word = argument.text if isinstance(argument, Name) else "an expression"
    if word in SCOPES:
        return SCOPES[word]
    shown = quote(word) if isinstance(argument, Name) else word
    message = f"a memory scope must be {listed(SCOPES)}, not {shown}"
    problems.error(argument.span, message, problems.suggestion(word, SCOPES))
    return Scope.ALL


def regions_of(argument: Expression, problems: Problems) -> frozenset[str]:
    """The regions that flags name, which may be joined by `|`."""
    found = set()
    for flag in _flags(argument):
        word = flag.text if isinstance(flag, Name) else "an expression"
        if word in FLAGS:
            found.add(FLAGS[word])
        elif word == "CLK_IMAGE_MEM_FENCE":
            problems.unsupported(flag.span, f"the flag {quote(word)} is not supported")
        else:
            shown = quote(word) if isinstance(flag, Name) else word
            message = f"the flags of a fence must be {listed(FLAGS)}, not {shown}"
            hint = problems.suggestion(word, FLAGS) or "join two flags by `|`"
            problems.error(flag.span, message, hint)
    return frozenset(found)


def _flags(argument: Expression) -> Iterator[Expression]:
    if isinstance(argument, Infix) and argument.operator == "|":
        yield from _flags(argument.left)
        yield from _flags(argument.right)
    else:
        yield argument
