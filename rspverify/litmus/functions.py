"""The functions that a test can call: what each does, and what its arguments must be; and the words
for memory orders, memory scopes and regions of memory, in OpenCL C and in C11."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct

from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import GLOBAL, Kind, Order, Scope
from rspverify.litmus.tree import Call, Expression, Infix, Name
from rspverify.records import replace
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

BARRIERS: Mapping[str, Scope] = {
    "barrier": Scope.WG,
    "work_group_barrier": Scope.WG,
    "inter_workgroup_barrier": Scope.DV,
}
"""The functions at which the threads of a work-group meet, or those of a device."""


class Function(Struct, frozen=True):
    """A function: what it does, its parameters, and how many of the last ones may be left out.

    operator: of an RMW, one of OPERATORS. atomic: whether a short form, which names no order, is
    seq_cst; otherwise it is a plain access. meets: of a barrier, whose threads do.
    """

    kind: Kind
    parameters: tuple[str, ...]
    optional: int = 0
    operator: str | None = None
    remote: bool = False
    weak: bool = False
    atomic: bool = True
    meets: Scope = Scope.WG


_FETCH = {"add": "+", "sub": "-", "or": "|", "xor": "^", "and": "&", "min": "min", "max": "max"}
_EXCHANGE = ("location", "expected", "desired")
_ATOMIC: Mapping[str, Function] = {
    "atomic_load": Function(Kind.LOAD, ("location",)),
    "atomic_store": Function(Kind.STORE, ("location", "value")),
    "atomic_exchange": Function(Kind.RMW, ("location", "value"), operator="exchange"),
    **{
        f"atomic_compare_exchange_{word}": Function(
            Kind.RMW, _EXCHANGE, operator="compare_exchange", weak=word == "weak"
        )
        for word in ("strong", "weak")
    },
    **{
        f"atomic_fetch_{word}": Function(Kind.RMW, ("location", "value"), operator=operator)
        for word, operator in _FETCH.items()
    },
}
"""The short forms. Each has a form with `_explicit` too, which names its order or orders, and where
there are scopes its scope."""

_INIT = Function(Kind.STORE, ("location", "value"), atomic=False)
_LOCKS = {"lock": Kind.LOCK, "unlock": Kind.UNLOCK}


def _atomics(*scope: str) -> dict[str, Function]:
    found = {}
    for name, it in _ATOMIC.items():
        failing = it.operator == "compare_exchange"
        orders = ("success order", "failure order") if failing else ("order",)
        explicit = (*it.parameters, *orders, *scope)
        found[name] = it
        found[f"{name}_explicit"] = replace(it, parameters=explicit, optional=len(scope))
    return found


def _opencl() -> dict[str, Function]:
    fence = Function(Kind.FENCE, ("flags", "order", "scope"))
    near = {**_atomics("scope"), "atomic_work_item_fence": fence, "fence": fence}
    far = {f"{name}_remote": replace(it, remote=True) for name, it in near.items()}
    group = Function(Kind.BARRIER, ("flags", "scope"), 1)
    device = Function(Kind.BARRIER, ("flags",), meets=Scope.DV)
    barriers = {name: group if it is Scope.WG else device for name, it in BARRIERS.items()}
    return {**near, **far, "atomic_init": _INIT, **barriers}


def _c() -> dict[str, Function]:
    fences = dict.fromkeys(("atomic_thread_fence", "fence"), Function(Kind.FENCE, ("order",)))
    locks = {
        name: Function(kind, ("mutex",))
        for word, kind in _LOCKS.items()
        for name in (word, f"mtx_{word}")
    }
    return {**_atomics(), "atomic_init": _INIT, **fences, **locks}


FUNCTIONS: Mapping[str, Mapping[str, Function]] = {"C": _c(), "OpenCL": _opencl()}
"""The functions of each language, by name (C11 §7.17, §7.26.4; OpenCL C §6.13.8, §6.13.11)."""

_UNSUPPORTED: Mapping[str, str] = {
    "C": r"atomic_(flag_\w+|signal_fence|is_lock_free)|mtx_\w+|thrd_\w+|cnd_\w+|assert",
    "OpenCL": r"atomic_flag_\w+|sub_group_\w+|(read_|write_)?mem_fence|get_\w+|printf"
    r"|atom(ic)?_(add|sub|xchg|inc|dec|cmpxchg|min|max|and|or|xor)",
}
"""Functions that the language has and this version has not."""


class Access(Struct, frozen=True):
    """A call that is understood: the operation that it is, and its arguments.

    A compare-exchange has `expected`, and its desired value as `value`. used: as of an Operation.
    """

    kind: Kind
    order: Order | None
    scope: Scope | None
    remote: bool = False
    location: Expression | None = None
    value: Expression | None = None
    operator: str | None = None
    expected: Expression | None = None
    failure: Order | None = None
    weak: bool = False
    regions: frozenset[str] = frozenset({GLOBAL})
    meets: Scope = Scope.WG
    used: bool = True


def access(call: Call, language: str, problems: Problems) -> Access | None:
    """The operation that a call stands for; None, with the problems, if there is none.

    A wrong order or scope is noted and replaced by a stand-in, so that the other arguments can be
    checked too.
    """
    function = FUNCTIONS[language].get(call.function.text)
    if function is None:
        _unknown(call.function, language, problems)
        return None
    if not _counted(call, function, language, problems):
        return None
    arguments = dict(zip(function.parameters, call.arguments, strict=False))
    order, failure = _orders(function, arguments, language, problems)
    flags = arguments.get("flags")
    return Access(
        function.kind,
        order,
        _scope(function, arguments, language, problems),
        function.remote,
        arguments.get("location", arguments.get("mutex")),
        arguments.get("value", arguments.get("desired")),
        function.operator,
        arguments.get("expected"),
        failure,
        function.weak,
        regions_of(flags, problems) if flags is not None else frozenset({GLOBAL}),
        function.meets,
    )


def _orders(
    function: Function, arguments: Mapping[str, Expression], language: str, problems: Problems
) -> tuple[Order | None, Order | None]:
    """The order of an operation, and the one that a compare-exchange has when it fails."""
    if function.kind in (Kind.BARRIER, Kind.LOCK, Kind.UNLOCK) or not function.atomic:
        return None, None
    given = arguments.get("order", arguments.get("success order"))
    what, order, failure = function.kind.value, Order.SEQ_CST, Order.SEQ_CST
    if given is not None:
        order = order_of(given, what, language, problems)
    if "failure order" in arguments:
        words = "compare-exchange that fails"
        failure = order_of(arguments["failure order"], words, language, problems)
    return order, failure if function.operator == "compare_exchange" else None


def _scope(
    function: Function, arguments: Mapping[str, Expression], language: str, problems: Problems
) -> Scope | None:
    if language == "C" or not function.atomic:
        return None
    if "scope" in arguments:
        return scope_of(arguments["scope"], problems)
    return function.meets if function.kind is Kind.BARRIER else DEFAULT_SCOPE


def _unknown(function: Name, language: str, problems: Problems) -> None:
    name, known = function.text, FUNCTIONS[language]
    if re.fullmatch(_UNSUPPORTED[language], name, re.ASCII):
        problems.unsupported(function.span, f"the function {quote(name)} is not supported")
        return
    other = next((each for each in FUNCTIONS if each != language and name in FUNCTIONS[each]), None)
    hint = problems.suggestion(name, known)
    if other is not None:
        hint = f"{quote(name)} is a function of {other}, and this test is {language}"
    elif hint is None:
        shown = [each for each in known if not each.endswith(("_explicit", "_remote"))]
        hint = f"this version has {alternatives(shown, 'and')}, and longer forms of them"
    message = f"a function must be one that this version knows, not {quote(name)}"
    problems.error(function.span, message, hint)


def _counted(call: Call, function: Function, language: str, problems: Problems) -> bool:
    """Whether a call has all its arguments, and no more."""
    given, most = len(call.arguments), len(function.parameters)
    least = most - function.optional
    if least <= given <= most:
        return True
    count = f"{least} or {most}" if least < most else f"{most}"
    plural = "" if count == "1" else "s"
    words = f"must have {count} argument{plural} ({', '.join(function.parameters)}), not {given}"
    last = call.arguments[-1] if call.arguments else None
    hint = None
    if language == "C" and isinstance(last, Name) and last.text.startswith("memory_scope"):
        hint = "an operation of C11 has no memory scope"
    problems.error(call.span, f"{call.function.text} {words}", hint)
    return False


# ---- words ---------------------------------------------------------------------------------------

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
