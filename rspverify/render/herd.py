"""`outcomes` as herd7 prints it, for scripts and eyes that are used to it.

The shape is that of herd7's «Test … Hash» block: the kind of the condition, states, whether the
condition is fulfilled, witnesses, flags, the condition, the observation and the time.
"""

from __future__ import annotations

from rspverify.answers import UNDEFINED, FinalStates, OutcomeAnswer, Quantifier

_KINDS = {
    Quantifier.EXISTS: "Allowed",
    Quantifier.NOT_EXISTS: "Forbidden",
    Quantifier.FORALL: "Required",
}


def block(it: OutcomeAnswer) -> str:
    """What herd prints of a test, with the empty line at its end."""
    final = it.final
    assert final is not None
    positive, negative = final.positive, final.negative
    if final.quantifier is Quantifier.NOT_EXISTS:  # there a witness is what does not satisfy
        positive, negative = negative, positive
    lines = [
        f"Test {it.test} {_KINDS[final.quantifier]}",
        f"States {len(final.states)}",
        *(" ".join(f"{name}={value};" for name, value in state.items()) for state in final.states),
        ("Loop " if it.within else "") + _judgement(it, final),
        "Witnesses",
        f"Positive: {positive} Negative: {negative}",
        *(f"Flag {name}" for name in it.flags or ()),
        f"Condition {final.quantifier} ({final.formula})",
        f"Observation {it.test} {final.observation} {final.positive} {final.negative}",
        f"Time {it.test} {it.seconds:.2f}",
        "",
    ]
    return "\n".join(lines) + "\n"


def _judgement(it: OutcomeAnswer, final: FinalStates) -> str:
    if UNDEFINED in (it.flags or ()):
        return "Undef"
    fulfilled = {
        Quantifier.EXISTS: final.positive > 0,
        Quantifier.NOT_EXISTS: final.positive == 0,
        Quantifier.FORALL: final.negative == 0,
    }
    return "Ok" if fulfilled[final.quantifier] else "No"
