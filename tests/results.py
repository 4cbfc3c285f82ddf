"""Results as tests make them up: of a test t under a scheme s, with the word that matters."""

from __future__ import annotations

from typing import Any

from rspverify.answers import Internal, ModelAnswer, Result, SuiteReport
from rspverify.records import replace
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


def told(it: Result, name: str) -> Result:
    """A result with a name in every place where one may be."""
    return replace(it, test=name, file=name, scheme=name, scheme_file=name, reason=name)


def report(*results: Result | ModelAnswer, **others: Any) -> SuiteReport:
    """What was run, of no suite unless one is named."""
    noun = "scheme" if all(isinstance(it, Result) for it in results) else "model"
    about = {"folder": "", "about": "", "noun": noun, "names": ("s",), "total": len(results)}
    return SuiteReport(**{**about, "results": results, "held": None, "seconds": 1.5, **others})
