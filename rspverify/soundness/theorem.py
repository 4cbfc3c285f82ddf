"""Thm. 1 of the RSP paper: each execution of the compiled program is one of the source program."""

from __future__ import annotations

from msgspec import Struct

from rspverify.soundness.sides import Candidate, ModelSide, Side
from rspverify.verdict import Race, Word


class Finding(Struct, frozen=True):
    """What Thm. 1 says of two sides.

    candidate: an execution of the target with an outcome that the source does not allow. race: of
    the source where the word is RACY; of the target where it is UNSOUND.
    """

    word: Word
    candidate: Candidate | None = None
    race: Race | None = None


def soundness(source: ModelSide, target: Side) -> Finding:
    """Is each outcome of the target one of a consistent execution of the source (Thm. 1)?

    If the source races, any behaviour is right. Raises LimitReached.
    """
    if (race := source.race()) is not None:
        return Finding(Word.RACY, race=race)
    if (race := target.race()) is not None:
        return Finding(Word.UNSOUND, race=race)
    for candidate in target.candidates(source):
        if not source.allows(candidate.outcome):
            return Finding(Word.UNSOUND, candidate)
    return Finding(Word.SOUND if target.completes() else Word.VACUOUS)
