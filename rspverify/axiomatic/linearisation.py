"""`with name from generate_orders(…)` and `linearisations(…)`: orders that an execution chooses."""

from __future__ import annotations

from rspverify.axiomatic.elaboration import Elaborator
from rspverify.axiomatic.model import Linearisation
from rspverify.axiomatic.scope import ORDERS, Primitive, Scope
from rspverify.axiomatic.syntax import Application, Chosen, Named, Node
from rspverify.relation.expression import Expression, Sort
from rspverify.source import Problem, Severity


def linearisation(syntax: Chosen, elaborator: Elaborator, scope: Scope) -> Linearisation | None:
    """The order that `with name from …` lets an execution choose; None after a problem."""
    body = syntax.body
    maker = None
    if isinstance(body, Application) and isinstance(body.function, Named):
        cell = scope.cell(body.function.name)
        maker = None if cell is None else cell.value
    if not (
        isinstance(body, Application) and isinstance(maker, Primitive) and maker.name in ORDERS
    ):
        makers = "generate_orders(set, relation) or linearisations(set, relation)"
        message = f"what stands after `with … from` must be {makers}"
        elaborator.problems.append(Problem(body.span, message, severity=Severity.UNSUPPORTED))
        return None
    number = ORDERS[maker.name]
    if len(body.arguments) != number:
        plural = "s" * (number != 1)
        message = f"{maker.name} must have {number} argument{plural}"
        elaborator.problems.append(Problem(body.span, f"{message}, not {len(body.arguments)}"))
        return None
    wanted = [Sort.SET, Sort.RELATION][-number:]
    given = [
        _argument(each, sort, maker.name, elaborator, scope)
        for each, sort in zip(body.arguments, wanted, strict=True)
    ]
    if number == 1:
        writes = elaborator.expression(Named(body.span, "W"), scope)
        given = [None if writes is None else writes[Sort.SET].expression, *given]
    events, order = given
    if events is None or order is None:
        return None
    return Linearisation(syntax.name, maker.name != "linearisations", events, order)


def _argument(
    node: Node, sort: Sort, function: str, elaborator: Elaborator, scope: Scope
) -> Expression | None:
    meaning = elaborator.expression(node, scope)
    if meaning is None:
        return None
    if sort not in meaning:
        other = next(iter(meaning)).value
        message = f"this argument of {function} must be a {sort.value}, not a {other}"
        elaborator.problems.append(Problem(node.span, message))
        return None
    return meaning[sort].expression
