"""Questions in SMT-LIB 2: terms as a script, which any solver can be asked, and texts of others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rspverify.smt.interface import NO, YES, Context, ContextSolver
from rspverify.smt.term import FALSE, TRUE, Kind, Term

_LONG = 400
"""Longer text is defined, so that neither it nor the depth of its parentheses grows on."""

_SIGN = {Kind.NOT: "not", Kind.AND: "and", Kind.OR: "or"}


def script(
    terms: Iterable[Term], header: Sequence[str] = (), satisfiable: bool | None = None
) -> str:
    """A script that asserts the terms, with a header of comments, and asks `(check-sat)`.

    satisfiable: what the answer was, written down as the script's status; None if there is none.
    Variables carry the names of their terms; what is used more than once, or long, is defined once.
    """
    wanted = [term for term in terms if term is not TRUE]
    order, uses = _below(wanted)
    status = {None: "unknown", True: "sat", False: "unsat"}[satisfiable]
    lines = [f"; {line}".rstrip() for each in header for line in each.splitlines()]
    lines += ["(set-logic QF_UF)", f"(set-info :status {status})"]
    text: dict[Term, str] = {TRUE: "true", FALSE: "false"}
    for place, term in enumerate(order):
        if term.kind is Kind.VARIABLE:
            name = term.name.replace("|", "/").replace("\\", "/")
            text[term] = f"|{name} #{place}|"
            lines.append(f"(declare-const {text[term]} Bool)")
            continue
        inner = [text[each] for each in term.arguments]
        whole = f"({_SIGN[term.kind]} {' '.join(inner)})"
        literal = term.kind is Kind.NOT and not inner[0].startswith("(")
        if len(whole) > _LONG or (uses[term] > 1 and not literal):
            text[term] = f"d{place}"
            lines.append(f"(define-fun d{place} () Bool {whole})")
        else:
            text[term] = whole
    lines += [f"(assert {text[term]})" for term in wanted]
    return "\n".join([*lines, "(check-sat)", ""])


def _below(terms: Sequence[Term]) -> tuple[list[Term], dict[Term, int]]:
    """Every term below these, arguments first, and how often each is used."""
    order: list[Term] = []
    uses: dict[Term, int] = {TRUE: 0, FALSE: 0}
    for root in terms:
        stack = [root]
        while stack:
            top = stack[-1]
            missing = [each for each in top.arguments if each not in uses]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if top not in uses:
                uses[top] = 0
                order.append(top)
                for each in top.arguments:
                    uses[each] += 1
        uses[root] += 1
    return order, uses


# ---- questions that terms cannot say, such as those with quantifiers and times -------------------


def asked(text: str, solver: str = "z3", seconds: float | None = None) -> str:
    """What a solver answers to a text with one `(check-sat)`: `sat`, `unsat`, or why neither.

    solver: `z3`, or `cvc5` where its package is installed. seconds: a limit.
    """
    if solver == "cvc5":
        return _by_cvc5(text, seconds)
    asked = ContextSolver(Context())
    if seconds is not None:
        asked.set("timeout", max(1, int(seconds * 1000)))
    asked.read(text)
    answer = {YES: "sat", NO: "unsat"}.get(asked.check())
    return answer or f"unknown: {asked.reason}"


def _by_cvc5(text: str, seconds: float | None) -> str:
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    if seconds is not None:
        solver.setOption("tlimit-per", str(max(1, int(seconds * 1000))))
    solver.setOption("full-saturate-quant", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "question")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer = command.invoke(solver, symbols).strip() or answer
    return answer
