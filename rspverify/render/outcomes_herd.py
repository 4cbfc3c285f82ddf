"""`outcomes` as herd7 prints it, for scripts and eyes that are used to it.

The shape is that of herd7's «Test … Hash» block: the kind of the condition, states, whether the
condition is fulfilled, witnesses, flags, the condition, the observation and the time.
"""

from __future__ import annotations

from collections.abc import Iterator

from rspverify.report import UNDEFINED, FinalStates, OutcomeAnswer, OutcomeTable

_KINDS = {"exists": "Allowed", "~exists": "Forbidden", "forall": "Required"}


def block(answer: OutcomeAnswer) -> str:
    """What herd prints of a test, with the empty line at its end."""
    table = answer.found
    assert isinstance(table, OutcomeTable)
    final = table.final
    positive, negative = final.positive, final.negative
    if final.quantifier == "~exists":  # for herd, a witness of ~exists is what does not satisfy
        positive, negative = negative, positive
    lines = [
        f"Test {table.test} {_KINDS[final.quantifier]}",
        f"States {len(final.states)}",
        *_states(final),
        ("Loop " if table.within else "") + _judgement(table),
        "Witnesses",
        f"Positive: {positive} Negative: {negative}",
        *(f"Flag {name}" for name in table.flags),
        f"Condition {final.quantifier} ({final.formula})",
        f"Observation {table.test} {final.observation} {final.positive} {final.negative}",
        f"Time {table.test} {answer.seconds:.2f}",
        "",
    ]
    return "\n".join(lines) + "\n"


def _states(final: FinalStates) -> Iterator[str]:
    for state in final.states:
        yield " ".join(f"{name}={value};" for name, value in zip(final.names, state, strict=True))


def _judgement(table: OutcomeTable) -> str:
    final = table.final
    if UNDEFINED in table.flags:
        return "Undef"
    fulfilled = {
        "exists": final.positive > 0,
        "~exists": final.positive == 0,
        "forall": final.negative == 0,
    }
    return "Ok" if fulfilled[final.quantifier] else "No"
