"""Results as tests make them up: of a test t under a scheme s, with the word that matters."""

from __future__ import annotations

from rspverify.answers import Internal, Result
from rspverify.verdict import Engine, ProgressWord, Reading, Word


def result(
    word: Word, progress: ProgressWord | None = None, internal: Internal | None = None
) -> Result:
    return Result(
        test="t",
        file="t",
        scheme="s",
        scheme_file="s",
        model="m",
        engine=Engine.EVENTS,
        reading=Reading.OUTCOME,
        verdict=word,
        reason="",
        progress=progress,
        internal=internal,
        seconds=0.0,
    )
