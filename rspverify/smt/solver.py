"""The default solver: Z3's finite-domain engine, handed terms through its C interface.

Handing 41,000 nodes over takes 0.11 s this way, 0.14 s as SMT-LIB text, and 0.7 s as pySMT
formulas (docs/performance.md); every other solver is for second opinions (smt/portfolio.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from rspverify.limits import LimitReached, Limits
from rspverify.smt import interface as z3
from rspverify.smt.term import FALSE, TRUE, Kind, Term, variable


class Model:
    """An assignment that satisfies what was asked; `model[term]` is the value of any term."""

    def __init__(self, value_of_variable: Callable[[Term], bool]) -> None:
        self._known: dict[Term, bool] = {TRUE: True, FALSE: False}
        self._value_of_variable = value_of_variable

    def __getitem__(self, term: Term) -> bool:
        known = self._known
        stack = [term]
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            if top.kind is Kind.VARIABLE:
                known[top] = self._value_of_variable(top)
                continue
            missing = [each for each in top.arguments if each not in known]
            if missing:
                stack.extend(missing)
                continue
            values = [known[each] for each in top.arguments]
            match top.kind:
                case Kind.NOT:
                    known[top] = not values[0]
                case Kind.AND:
                    known[top] = all(values)
                case _:
                    known[top] = any(values)
        return known[term]


@cache
def _shared_context() -> z3.Context:
    return z3.Context()


class Solver:
    """Assertions that grow, and questions about them under assumptions.

    Solvers of one process share what Z3 takes 1 ms to set up and take down. Which model they find
    may then depend on what was asked before; with `reproducible` it depends on the terms alone,
    as it must for a model that is shown to users.

    asserted: all that was asserted, so that the same question can be put to somebody else.
    """

    def __init__(self, limits: Limits | None = None, *, reproducible: bool = False) -> None:
        self._asts: dict[Term, int] = {}
        self.asserted: list[Term] = []
        self._limits = limits or Limits()
        self._context = z3.Context() if reproducible else _shared_context()
        self._ref = self._context.ref
        self._solver = z3.ContextSolver(self._context, "QF_FD")
        self._solver.set("probing", False)  # a fifth of the time, for nothing (docs/performance.md)
        self._bool = z3.mk_bool_sort(self._ref)
        self._count = 0
        self._assumable: dict[Term, Term] = {}

    def __del__(self, drop: Callable[[int, int], None] = z3.dec_ref) -> None:
        self._context.drop(drop, self._asts.values())

    def add(self, *terms: Term) -> None:
        """Assert terms; conjunctions are asserted part by part."""
        self.asserted += terms
        stack = list(reversed(terms))
        while stack:
            term = stack.pop()
            if term.kind is Kind.AND:
                stack.extend(reversed(term.arguments))
            elif term is not TRUE:
                self._solver.add(self._ast(term))

    def bound(self, condition: Term, weights: Iterable[tuple[Term, int]], most: int) -> None:
        """Assert that, where a condition holds, the weights of the terms that hold add up to at
        most so much. Weights are 0 or more. It is not among `asserted`."""
        counted = [(term, weight) for term, weight in weights if weight and term is not FALSE]
        most -= sum(weight for term, weight in counted if term is TRUE)
        free = [(term, weight) for term, weight in counted if term is not TRUE]
        if most < 0:
            self.add(~condition)
            return
        terms = [self._ast(term) for term, _ in free]
        each = [weight for _, weight in free]
        size = len(free)
        if sum(each) <= most:
            return
        limit = z3.mk_pble(self._ref, size, z3.objects(terms), z3.numbers(each), most)
        z3.inc_ref(self._ref, limit)
        self._solver.add(z3.mk_implies(self._ref, self._ast(condition), limit))
        z3.dec_ref(self._ref, limit)

    def find(self, assumptions: Iterable[Term] = ()) -> Model | None:
        """A model of what was asserted under which every assumption holds; None if there is none.

        Raises LimitReached when no time is left, or where the solver cannot tell, and
        KeyboardInterrupt when interrupted.
        """
        remaining = self._limits.remaining()
        if remaining is not None:
            self._solver.set("timeout", max(1, int(remaining * 1000)))
        memory = self._limits.most_memory
        if memory is not None:
            self._solver.set("max_memory", memory >> 20)
        assumed = [term for term in assumptions if term is not TRUE]
        if FALSE in assumed:
            return None
        answer = self._solver.check([self._ast(self._literal(term)) for term in assumed])
        if answer == z3.YES:
            return self._model()
        if answer == z3.NO:
            return None
        reason = self._solver.reason
        if "keyboard" in reason:
            raise KeyboardInterrupt
        self._limits.remaining()
        if "memory" in reason:
            raise LimitReached(self._limits.too_large)
        raise LimitReached(f"the solver gave up: {reason}")

    def _literal(self, term: Term) -> Term:
        """The term itself if it can be assumed, otherwise a variable that implies it."""
        inner = term.arguments[0] if term.kind is Kind.NOT else term
        if inner.kind is Kind.VARIABLE:
            return term
        if term not in self._assumable:
            name = variable("assumption")
            self._solver.add(self._ast(~name | term))
            self._assumable[term] = name
        return self._assumable[term]

    def _ast(self, term: Term) -> int:
        """The term in Z3, built bottom up and kept for the next use."""
        known, ref = self._asts, self._ref
        stack = [term]
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            try:
                arguments = [known[each] for each in top.arguments]
            except KeyError:
                stack += [each for each in top.arguments if each not in known]
                continue
            match top.kind:
                case Kind.VARIABLE:
                    symbol = z3.mk_int_symbol(ref, self._count)
                    ast = z3.mk_const(ref, symbol, self._bool)
                    self._count += 1
                case Kind.CONSTANT:
                    ast = z3.mk_true(ref) if top is TRUE else z3.mk_false(ref)
                case Kind.NOT:
                    ast = z3.mk_not(ref, arguments[0])
                case _:
                    make = z3.mk_and if top.kind is Kind.AND else z3.mk_or
                    ast = make(ref, len(arguments), z3.objects(arguments))
            if not ast:
                raise z3.Z3Error("a term could not be made: out of memory")
            z3.inc_ref(ref, ast)
            known[top] = ast
            stack.pop()
        return known[term]

    def _model(self) -> Model:
        model = self._solver.model()

        def value_of(variable: Term) -> bool:
            ast = self._asts.get(variable)
            return ast is not None and model.holds(ast)

        return Model(value_of)
