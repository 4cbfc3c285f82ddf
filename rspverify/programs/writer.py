"""A test as a file in herd's OpenCL language, laid out as our corpus is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import count
from typing import assert_never

from rspverify.litmus.functions import FLAGS, ORDERS, SCOPES
from rspverify.litmus.program import Kind
from rspverify.programs.expressions import spelled
from rspverify.programs.litmus_test import OPERATIONS, Access, Branch, LitmusTest, blocks
from rspverify.value import Constant

UNREAD = Constant(-1)
"""What a register holds whose read is not executed, as in our corpus."""

_ORDERS = {order: word for word, order in ORDERS["OpenCL"].items()}
_SCOPES = {scope: word for word, scope in SCOPES.items()}


def litmus_text(test: LitmusTest, title: str, *, comment: str = "", asks: str | None = None) -> str:
    """The text of a test. asks: its final condition."""
    parts = [f"OpenCL {title}"]
    if comment:
        filled = textwrap.fill(
            f"(* {comment} *)", 98, subsequent_indent="   ", break_on_hyphens=False
        )
        parts.append(filled)
    initial = (f"  [{x.name}]={x.initial};" for x in test.locations)
    parts.append("\n".join(["{", *initial, "}"]))
    for number, thread in enumerate(test.threads):
        used = {name for access in thread.accesses for name in access.locations}
        wanted = ", ".join(
            f"{x.region} {'atomic_int' if x.atomic else 'int'}* {x.name}"
            for x in test.locations
            if x.name in used
        )
        names = (name for name in map("e{}".format, count()) if name not in used)
        body = _body(blocks(thread.accesses), 1, test.fenced, names)
        parts.append("\n".join([f"P{number} ({wanted}) {{", *body, "}"]))
    tree = f"scopeTree {scope_tree(test)}"
    parts.append(f"{tree}\n{asks}" if asks else tree)
    return "\n\n".join(parts) + "\n"


def scope_tree(test: LitmusTest) -> str:
    """Where threads run, as a scope tree of herd's."""
    devices = [f"(device {' '.join(map(_workgroup, groups))})" for groups in test.workgroups]
    return devices[0] if len(devices) == 1 else f"(system {' '.join(devices)})"


def _workgroup(threads: Sequence[int]) -> str:
    return f"(work_group {' '.join(f'P{thread}' for thread in threads)})"


def _body(
    items: Iterator[Access | Branch], depth: int, fenced: frozenset[str], names: Iterator[str]
) -> Iterator[str]:
    """The lines of a thread, or of what an `if` covers; `depth` is their indentation.

    names: for registers that have what a compare-exchange expects. Registers that something under
    an `if` reads into are declared before the outermost one.
    """
    indent = "  " * depth
    for item in items:
        match item:
            case Access():
                expected = item.expected
                if isinstance(expected, Constant):
                    name = next(names)
                    yield f"{indent}int {name} = {spelled(expected)};"
                    expected = f"&{name}"
                yield f"{indent}{_statement(item, fenced, expected, declared=depth > 1)}"
            case Branch(condition, body):
                if depth == 1:
                    for register in _registers(body):
                        yield f"{indent}int r{register} = {spelled(UNREAD)};"
                yield f"{indent}if ({spelled(condition)}) {{"
                yield from _body(iter(body), depth + 1, fenced, names)
                yield f"{indent}}}"
            case _:
                assert_never(item)


def _registers(body: Sequence[Access | Branch]) -> Iterator[int]:
    for item in body:
        if isinstance(item, Branch):
            yield from _registers(item.body)
        elif item.register is not None:
            yield item.register


def _statement(
    access: Access, fenced: frozenset[str], expected: str | None, *, declared: bool
) -> str:
    if access.plain:
        call = f"*{access.location}"
        if access.value is not None:
            return f"{call} = {spelled(access.value)};"
    else:
        call = _call(access, fenced, expected)
    if access.register is None:
        return f"{call};"
    return f"{'' if declared else 'int '}r{access.register} = {call};"


def _call(access: Access, fenced: frozenset[str], expected: str | None) -> str:
    assert access.order is not None and access.scope is not None
    _, _, function = OPERATIONS[access.operation]
    if access.weak:
        function = function.replace("strong", "weak")
    orders = [_ORDERS[access.order], *([_ORDERS[access.failure]] if expected else [])]
    if access.kind is Kind.FENCE:
        operands = [
            " | ".join(flag for flag, region in FLAGS.items() if region in access.fenced(fenced))
        ]
    else:
        function += "_explicit"
        operands = [it for it in (access.location, expected) if it is not None]
        operands += map(spelled, [access.value] if access.value else [])
    arguments = ", ".join([*operands, *orders, _SCOPES[access.scope]])
    return f"{function}{'_remote' if access.remote else ''}({arguments})"
