"""A test as a file in herd's OpenCL language, laid out as our corpus is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from rspverify.generate.grouping import Grouping
from rspverify.generate.notation import Access, Threads

_SCOPES = {"WG": "work_group", "DV": "device", "ALL": "all_svm_devices"}
_CALLS = {
    "st": ("atomic_store", "{value}, memory_order_release"),
    "ld": ("atomic_load", "memory_order_acquire"),
    "inc": ("atomic_fetch_add", "1, memory_order_acq_rel"),
}
_UNREAD = -1
"""What a register holds whose read was not executed, as in our corpus."""


def litmus_text(
    title: str,
    threads: Threads,
    grouping: Grouping,
    *,
    comment: str = "",
    asks: str | None = None,
    atomic: Iterable[str] = (),
) -> str:
    """The text of a test whose operations all have a reach of their own.

    asks: the final condition. atomic: locations that are declared atomic even if nothing else
    makes them so; a location with an atomic access always is.
    """
    accesses = [access for thread in threads for access in thread]
    places = list(dict.fromkeys(access.location for access in accesses))
    kinds = {access.location for access in accesses if access.reach != "na"}.union(atomic)
    types = {place: "atomic_int" if place in kinds else "int" for place in places}
    parts = [f"OpenCL {title}"]
    if comment:
        parts.append(_comment(comment))
    parts.append("\n".join(["{", *(f"  [{place}]=0;" for place in places), "}"]))
    for number, thread in enumerate(threads):
        parts.append(_thread(number, thread, types))
    tree = f"scopeTree {grouping.tree}"
    parts.append(f"{tree}\n{asks}" if asks else tree)
    return "\n\n".join(parts) + "\n"


def _comment(text: str) -> str:
    return textwrap.fill(f"(* {text} *)", 98, subsequent_indent="   ", break_on_hyphens=False)


def _thread(number: int, thread: Sequence[Access], types: dict[str, str]) -> str:
    used = {access.location for access in thread}
    wanted = ", ".join(f"global {types[place]}* {place}" for place in types if place in used)
    return "\n".join([f"P{number} ({wanted}) {{", *_body(thread, 1), "}"])


def _body(thread: Sequence[Access], depth: int) -> list[str]:
    """The lines of a thread, or of what an `if` guards; `depth` is their indentation."""
    lines: list[str] = []
    for position, access in enumerate(thread):
        if access.tested:
            rest = thread[position:]
            lines += _guarded(access.tested, rest, depth)
            break
        lines.append(f"{'  ' * depth}{_statement(access, declared=depth > 1)}")
    return lines


def _guarded(tested: tuple[str, int], rest: Sequence[Access], depth: int) -> list[str]:
    indent = "  " * depth
    first = rest[0]
    bare = Access(first.kind, first.reach, first.location, first.value, first.register)
    registers = [access.register for access in rest if access.register] if depth == 1 else []
    declared = [f"{indent}int {register} = {_UNREAD};" for register in registers]
    body = _body([bare, *rest[1:]], depth + 1)
    return [*declared, f"{indent}if ({tested[0]} == {tested[1]}) {{", *body, f"{indent}}}"]


def _statement(access: Access, declared: bool) -> str:
    if access.kind == "st" and access.reach == "na":
        return f"*{access.location} = {access.value};"
    call = f"*{access.location}" if access.reach == "na" else _call(access)
    if access.register is None:
        return f"{call};"
    return f"{'' if declared else 'int '}{access.register} = {call};"


def _call(access: Access) -> str:
    function, middle = _CALLS[access.kind]
    scope, _, remote = access.reach.partition(".")
    name = f"{function}_explicit{'_remote' if remote else ''}"
    words = middle.format(value=access.value)
    return f"{name}({access.location}, {words}, memory_scope_{_SCOPES[scope]})"
