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


def read_row(
    node: Node, number: int, machine: Architecture | None, problems: list[Problem]
) -> Row | None:
    """The row, or None if it is unclear which operations it matches; problems go to `problems`.

    machine: None where it is not known which one is meant, so that nothing is said of the code.
    """
    keys = {key.text for key, _ in node.entries} if isinstance(node, Table) else set()
    scoped = "scope" in keys or "order" not in keys
    required = [key for key in REQUIRED if key != "scope" or scoped]
    fields = read_fields(node, "a row", KEYS, required, problems)
    return None if fields is None else _Fields(fields, problems).row(node, number, machine, scoped)


def scopes_of(kind: Op | None) -> list[str]:
    """The words for scopes that an operation may have."""
    return [name for name in SCOPES if kind is not Op.FENCE or name != "na"]


def orders_of(kind: Op) -> list[str]:
    """The words for orders that an operation may have."""
    return [order.value for order in Order if order in POSSIBLE[kind]]


T = TypeVar("T")


class _Fields:
    """The fields of a row on their way to what they say."""

    def __init__(self, fields: Mapping[str, Node], problems: list[Problem]) -> None:
        self._fields, self._problems = fields, problems
        self._kind = self._named("op", KINDS)

    def row(
        self, node: Node, number: int, machine: Architecture | None, scoped: bool
    ) -> Row | None:
        kind, scopes = self._kind, self._scopes() if scoped else frozenset()
        remotes = self._named("remote", REMOTES) if "remote" in self._fields else EITHER
        if not scoped:
            hint = "only operations with a scope are remote"
            self._left_out("remote", "a row without a scope", hint)
            remotes = frozenset({False})
        named = self._orders(kind) if kind else None
        memories, results = self._memories(machine), self._results()
        code: tuple[Template, ...] = ()
        if machine is not None:
            code = self._code(machine.instructions)
            placed = [(each.mnemonic, each.span) for each in code]
            self._problems += misplaced(placed, memories or (), machine)
        note = read_text(self._fields, "note", self._problems)
        if kind is None or scopes is None or remotes is None or named is None:
            return None
        if scopes == {None}:
            where = "a row for non-atomic operations alone"
            self._left_out("order", where, "only atomic operations have an order")
            self._left_out("remote", where, "only atomic operations have a remote flag")
            named, remotes = frozenset(), frozenset()
        orders = named
        if "order" in self._fields:
            orders = frozenset().union(*(covered(kind, order) for order in named))
        about = (node.span, note, named, memories or frozenset({IN_GLOBAL}), results)
        return Row(number, kind, scopes, orders, remotes, *about, code=code)

    def _left_out(self, key: str, where: str, hint: str) -> None:
        """Note a field that says something of what a row does not match."""
        if key in self._fields:
            message = f"{key} must be left out of {where}"
            self._problems.append(Problem(self._fields[key].span, message, hint))

    def _named(self, key: str, choices: Mapping[str, T]) -> T | None:
        """What the word at a key names; None if there is none, or it is wrong, which is noted."""
        node = self._fields.get(key)
        name = read_choice(node, key, list(choices), self._problems) if node else None
        return choices[name] if name else None

    def _scopes(self) -> frozenset[Scope | None] | None:
        node, scopes = self._fields.get("scope"), scopes_of(self._kind)
        what = "the scope of a fence" if self._kind is Op.FENCE else "scope"
        names = read_choices(node, what, scopes, self._problems, any_case=True) if node else None
        return frozenset(SCOPES[name] for name in names) if names else None

    def _orders(self, kind: Op) -> frozenset[Order] | None:
        """The orders that a row names."""
        node = self._fields.get("order")
        if node is None:
            return DEFAULT[kind]
        meant = Order.RELEASE if kind is Op.STORE else Order.ACQUIRE
        others = (order.value for order in Order if order not in POSSIBLE[kind])
        hints = dict.fromkeys(others, f"did you mean {meant.value}?")
        what = f"the order of {kind.one}"
        names = read_choices(node, what, orders_of(kind), self._problems, hints=hints)
        return frozenset(map(Order, names)) if names else None

    def _memories(self, machine: Architecture | None) -> frozenset[Memory] | None:
        """The memory of what a row matches: of an access one of those named, of a fence all."""
        node = self._fields.get("memory")
        if node is None:
            return frozenset({IN_GLOBAL})
        names = read_choices(node, "memory", list(MEMORIES), self._problems)
        if names is None:
            return None
        if LOCAL in names and machine is not None and not has_local(machine):
            message = f"memory must be global on machine {machine.name}, which has no local memory"
            self._problems.append(Problem(names[LOCAL], message, LOCAL_HINT))
        if self._kind is Op.FENCE:
            return frozenset({frozenset(names)})
        return frozenset(frozenset({name}) for name in names)

    def _results(self) -> frozenset[bool]:
        """Whether a row is for RMWs whose result is used, or is not."""
        if self._kind is not None and not self._kind.gives:
            where = f"a row for {self._kind.one}"
            self._left_out(
                "result", where, "only rmw and cas have a result that may be thrown away"
            )
            return EITHER
        return self._named("result", RESULTS) or EITHER

    def _code(self, instructions: InstructionSet) -> tuple[Template, ...]:
        """The code; empty, with problems more, if any of it is wrong."""
        node, kind = self._fields.get("code"), self._kind
        if node is None:
            return ()
        if not isinstance(node, List) or not (node.items or kind is Op.FENCE):
            message = f"code must be a list of instructions, not {found(node)}"
            hint = "one item for each instruction, as in [LD r x, INV_L1 WG]"
            self._problems.append(Problem(node.span, message, hint))
            return ()
        read = [read_template(item, instructions, self._problems) for item in node.items]
        code = tuple(template for template in read if template is not None)
        if len(code) < len(read) or kind is None:
            return ()
        problem = access_problem(kind, code, node.span, instructions)
        if problem:
            self._problems.append(problem)
        return code
