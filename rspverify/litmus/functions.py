"""The functions of OpenCL C that a test can call: their arguments, orders and scopes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rspverify.litmus.problems import Problems, listed, quote
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.litmus.tree import Call, Expression, Name

FUNCTIONS: Mapping[str, tuple[Kind, tuple[str, ...]]] = {
    "atomic_load_explicit": (Kind.LOAD, ("location", "order", "scope")),
    "atomic_store_explicit": (Kind.STORE, ("location", "value", "order", "scope")),
    "atomic_fetch_add_explicit": (Kind.RMW, ("location", "value", "order", "scope")),
}
"""What each function does, and its arguments. Each may have `_remote` after its name."""

ORDERS: Mapping[str, Order] = {
    f"memory_order_{order.value}": order for order in Order if order is not Order.CONSUME
}

SCOPES: Mapping[str, Scope] = {
    "memory_scope_work_group": Scope.WG,
    "memory_scope_device": Scope.DV,
    "memory_scope_all_svm_devices": Scope.ALL,
}

REFUSED: Mapping[Kind, tuple[Order, ...]] = {
    Kind.LOAD: (Order.RELEASE, Order.ACQ_REL),
    Kind.STORE: (Order.ACQUIRE, Order.ACQ_REL),
    Kind.RMW: (),
}
"""The orders that an operation cannot have (OpenCL C §6.13.11)."""

_UNSUPPORTED_SCOPES = ("memory_scope_work_item", "memory_scope_sub_group")

_UNSUPPORTED = re.compile(
    r"(atomic_(load|store|init|exchange|compare_exchange_(weak|strong)|flag_\w+"
    r"|fetch_(add|sub|or|xor|and|min|max))(_explicit)?(_remote)?"
    r"|atomic_work_item_fence|(work_group_|sub_group_)?barrier|(read_|write_)?mem_fence"
    r"|get_(global|local|group)_\w+|get_(num_groups|work_dim))",
    re.ASCII,
)


@dataclass(frozen=True)
class Access:
    """A call that is understood: an atomic operation and its arguments."""

    kind: Kind
    remote: bool
    order: Order
    scope: Scope
    location: Expression
    value: Expression | None


def access(call: Call, problems: Problems) -> Access | None:
    """The atomic operation that a call stands for; None, with the problems, if there is none."""
    name = call.function.text
    known = FUNCTIONS.get(name.removesuffix("_remote"))
    if known is None:
        _unknown(call.function, problems)
        return None
    kind, names = known
    if not _counted(call, names, problems):
        return None
    arguments = dict(zip(names, call.arguments, strict=True))
    order = _order(arguments["order"], problems)
    scope = _scope(arguments["scope"], problems)
    if order in REFUSED[kind]:
        allowed = listed(each.value for each in ORDERS.values() if each not in REFUSED[kind])
        message = f"the memory order of a {kind.value} must be {allowed}, not {order.value}"
        problems.error(arguments["order"].span, message)
    # What is wrong is noted: stand-ins let the location and the value be checked too.
    return Access(
        kind,
        name.endswith("_remote"),
        order or Order.SEQ_CST,
        scope or Scope.ALL,
        arguments["location"],
        arguments.get("value"),
    )


def _unknown(function: Name, problems: Problems) -> None:
    name = function.text
    if _UNSUPPORTED.fullmatch(name):
        base = name.removesuffix("_remote")
        full = f"{base}_explicit{name[len(base) :]}"
        short = f"{base}_explicit" in FUNCTIONS
        advice = f"write {full}, with a memory order and a memory scope" if short else None
        problems.unsupported(function.span, f"the function {quote(name)} is not supported", advice)
        return
    known = [each + end for each in FUNCTIONS for end in ("", "_remote")]
    hint = problems.suggestion(name, known) or f"this version has {listed(FUNCTIONS, 'and')}"
    message = f"a function must be one that this version knows, not {quote(name)}"
    problems.error(function.span, message, hint)


def _counted(call: Call, names: tuple[str, ...], problems: Problems) -> bool:
    """Whether a call has all its arguments."""
    given, wanted = len(call.arguments), len(names)
    if given == wanted:
        return True
    last = call.arguments[-1] if call.arguments else None
    if given == wanted - 1 and isinstance(last, Name) and last.text.startswith("memory_order"):
        message = f"{call.function.text} without a memory scope is not supported"
        hint = "give the scope as the last argument, e.g. memory_scope_device"
        problems.unsupported(call.span, message, hint)
    else:
        words = f"must have {wanted} arguments ({', '.join(names)}), not {given}"
        problems.error(call.span, f"{call.function.text} {words}")
    return False


def _order(argument: Expression, problems: Problems) -> Order | None:
    word = argument.text if isinstance(argument, Name) else "an expression"
    if word in ORDERS:
        return ORDERS[word]
    shown = quote(word) if isinstance(argument, Name) else word
    message = f"a memory order must be {listed(ORDERS)}, not {shown}"
    problems.error(argument.span, message, problems.suggestion(word, ORDERS))
    return None


def _scope(argument: Expression, problems: Problems) -> Scope | None:
    word = argument.text if isinstance(argument, Name) else "an expression"
    if word in SCOPES:
        return SCOPES[word]
    if word in _UNSUPPORTED_SCOPES:
        problems.unsupported(argument.span, f"the memory scope {quote(word)} is not supported")
        return None
    shown = quote(word) if isinstance(argument, Name) else word
    message = f"a memory scope must be {listed(SCOPES)}, not {shown}"
    problems.error(argument.span, message, problems.suggestion(word, SCOPES))
    return None
