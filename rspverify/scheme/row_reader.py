"""Reads one row of a scheme: the operations that it matches, and their code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from rspverify.architecture.architecture import Architecture, InstructionSet
from rspverify.litmus.program import GLOBAL, LOCAL, Order, Scope
from rspverify.scheme.memory import IN_GLOBAL, LOCAL_HINT, Memory, has_local, misplaced
from rspverify.scheme.orders import DEFAULT, POSSIBLE, Op, covered
from rspverify.scheme.row import EITHER, UNUSED, Row, Template
from rspverify.scheme.template_reader import access_problem, read_template
from rspverify.source import Problem
from rspverify.yaml_reader import (
    List,
    Node,
    Table,
    found,
    read_choice,
    read_choices,
    read_fields,
    read_text,
)

KEYS = ("op", "scope", "order", "remote", "memory", "result", "code", "note")
REQUIRED = ("op", "scope", "code")
KINDS = {kind.value: kind for kind in Op}
SCOPES: Mapping[str, Scope | None] = {
    "na": None,
    "wi": Scope.WI,
    "sg": Scope.SG,
    "wg": Scope.WG,
    "dv": Scope.DV,
    "all": Scope.ALL,
}
REMOTES = {"true": frozenset({True}), "false": frozenset({False})}
MEMORIES = (GLOBAL, LOCAL)
RESULTS = {"used": frozenset({True}), UNUSED: frozenset({False})}

T = TypeVar("T")


def read_row(
    node: Node, number: int, machine: Architecture | None, problems: list[Problem]
) -> Row | None:
    """The row, or None if it is unclear which operations it matches; problems go to `problems`.

    machine: None where it is not known which one is meant, so that nothing is said of the code.
    """
    unscoped = isinstance(node, Table) and {"order"} == {"order", "scope"} & {
        key.text for key, _ in node.entries
    }
    required = [key for key in REQUIRED if key != "scope" or not unscoped]
    fields = read_fields(node, "a row", KEYS, required, problems)
    if fields is None:
        return None
    kind = read_named(fields, "op", KINDS, problems)
    scopes = frozenset() if unscoped else _read_scopes(fields, kind, problems)
    remotes = read_named(fields, "remote", REMOTES, problems) if "remote" in fields else EITHER
    if unscoped:
        problems += _scopeless(fields)
        remotes = frozenset({False})
    named = _read_orders(fields, kind, problems) if kind else None
    memories = _read_memories(fields, kind, machine, problems)
    results = _read_result(fields, kind, problems)
    code: tuple[Template, ...] = ()
    if machine is not None:
        code = _read_code(fields, kind, machine.instructions, problems)
        placed = [(each.mnemonic, each.span) for each in code]
        problems += misplaced(placed, memories or (), machine)
    note = read_text(fields, "note", problems)
    if kind is None or scopes is None or remotes is None or named is None:
        return None
    if scopes == {None}:
        problems += _idle(fields)
        named, remotes = frozenset(), frozenset()
    orders = named
    if "order" in fields:
        orders = frozenset().union(*(covered(kind, order) for order in named))
    about = (node.span, note, named, memories or frozenset({IN_GLOBAL}), results)
    return Row(number, kind, scopes, orders, remotes, code, *about)


def scopes_of(kind: Op | None) -> list[str]:
    """The words for scopes that an operation may have."""
    return [name for name in SCOPES if kind is not Op.FENCE or name != "na"]


def orders_of(kind: Op) -> list[str]:
    """The words for orders that an operation may have."""
    return [order.value for order in Order if order in POSSIBLE[kind]]


def read_named(
    fields: Mapping[str, Node], key: str, choices: Mapping[str, T], problems: list[Problem]
) -> T | None:
    """What the word at a key names; None where there is none, and a problem more if it is wrong."""
    node = fields.get(key)
    name = read_choice(node, key, list(choices), problems) if node else None
    return choices[name] if name else None


def _read_scopes(
    fields: Mapping[str, Node], kind: Op | None, problems: list[Problem]
) -> frozenset[Scope | None] | None:
    node = fields.get("scope")
    scopes = scopes_of(kind)
    what = "the scope of a fence" if kind is Op.FENCE else "scope"
    names = read_choices(node, what, scopes, problems, any_case=True) if node else None
    return frozenset(SCOPES[name] for name in names) if names else None


def _read_orders(
    fields: Mapping[str, Node], kind: Op, problems: list[Problem]
) -> frozenset[Order] | None:
    """The orders that a row names."""
    node = fields.get("order")
    if node is None:
        return DEFAULT[kind]
    possible = orders_of(kind)
    meant = Order.RELEASE if kind is Op.STORE else Order.ACQUIRE
    hints = {
        order.value: f"did you mean {meant.value}?"
        for order in Order
        if order not in POSSIBLE[kind]
    }
    names = read_choices(node, f"the order of {kind.one}", possible, problems, hints=hints)
    return frozenset(map(Order, names)) if names else None


def _read_memories(
    fields: Mapping[str, Node],
    kind: Op | None,
    machine: Architecture | None,
    problems: list[Problem],
) -> frozenset[Memory] | None:
    """The memory of what a row matches: of an access one of those named, of a fence all of them."""
    node = fields.get("memory")
    if node is None:
        return frozenset({IN_GLOBAL})
    names = read_choices(node, "memory", list(MEMORIES), problems)
    if names is None:
        return None
    if LOCAL in names and machine is not None and not has_local(machine):
        message = f"memory must be global on machine {machine.name}, which has no local memory"
        problems.append(Problem(names[LOCAL], message, LOCAL_HINT))
    if kind is Op.FENCE:
        return frozenset({frozenset(names)})
    return frozenset(frozenset({name}) for name in names)


def _read_result(
    fields: Mapping[str, Node], kind: Op | None, problems: list[Problem]
) -> frozenset[bool]:
    """Whether a row is for RMWs whose result is used, or is not."""
    node = fields.get("result")
    if node is not None and kind is not None and not kind.gives:
        message = f"result must be left out of a row for {kind.one}"
        hint = "only rmw and cas have a result that may be thrown away"
        problems.append(Problem(node.span, message, hint))
    elif node is not None:
        return read_named(fields, "result", RESULTS, problems) or EITHER
    return EITHER


def _scopeless(fields: Mapping[str, Node]) -> list[Problem]:
    """A problem if a row for the atomics of languages without scopes says whether it is remote."""
    if "remote" not in fields:
        return []
    message = "remote must be left out of a row without a scope"
    return [Problem(fields["remote"].span, message, "only operations with a scope are remote")]


def _idle(fields: Mapping[str, Node]) -> list[Problem]:
    """A problem for each field that says something of atomics in a row that matches none."""
    return [
        Problem(
            fields[key].span,
            f"{key} must be left out of a row for non-atomic operations alone",
            f"only atomic operations have {'a remote flag' if key == 'remote' else 'an order'}",
        )
        for key in ("order", "remote")
        if key in fields
    ]


def _read_code(
    fields: Mapping[str, Node],
    kind: Op | None,
    instructions: InstructionSet,
    problems: list[Problem],
) -> tuple[Template, ...]:
    """The code; empty, with problems more, if any of it is wrong."""
    node = fields.get("code")
    if node is None:
        return ()
    if not isinstance(node, List) or not (node.items or kind is Op.FENCE):
        message = f"code must be a list of instructions, not {found(node)}"
        hint = "one item for each instruction, as in [LD r x, INV_L1 WG]"
        problems.append(Problem(node.span, message, hint))
        return ()
    read = [read_template(item, instructions, problems) for item in node.items]
    code = tuple(template for template in read if template is not None)
    if len(code) < len(read) or kind is None:
        return ()
    problem = access_problem(kind, code, node.span, instructions)
    if problem:
        problems.append(problem)
    return code
