"""Text that was valid before a few of its tokens were changed, for fuzzing readers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st


@st.composite
def mutants(
    draw: st.DrawFn, valid: Sequence[str], token: re.Pattern[str], tokens: Sequence[str]
) -> str:
    """One of the valid texts, cut into tokens, of which some are gone, moved or of `tokens`."""
    text = token.findall(draw(st.sampled_from(valid)))
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(text) - 1))
        length = draw(st.integers(1, 8))
        match draw(st.sampled_from(["delete", "duplicate", "swap", "replace", "insert"])):
            case "delete":
                del text[at : at + length]
            case "duplicate":
                text[at:at] = text[at : at + length]
            case "swap":
                other = draw(st.integers(0, len(text) - 1))
                text[at], text[other] = text[other], text[at]
            case "replace":
                text[at] = draw(st.sampled_from(tokens))
            case "insert":
                text.insert(at, draw(st.sampled_from(tokens)))
        text = text or [" "]
    return "".join(text)
