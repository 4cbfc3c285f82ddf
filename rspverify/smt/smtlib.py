"""Terms as an SMT-LIB 2 script, so that any solver can be asked the same question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
