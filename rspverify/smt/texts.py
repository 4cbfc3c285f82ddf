"""Questions in SMT-LIB 2, as texts: for what terms cannot say, such as quantifiers and times."""

from __future__ import annotations

from rspverify.smt.interface import NO, YES, Context, ContextSolver


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
