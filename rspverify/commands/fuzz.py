"""`fuzz`: Random programs of C11 under a scheme or a compiler."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from rspverify.api.asked import Asked, Ending
from rspverify.api.parameters import Decided, question
from rspverify.axiomatic.cat import load_model
from rspverify.files import write_beside
from rspverify.judge.inputs import NamedModel, NamedScheme
from rspverify.options import argument, option
from rspverify.selftest.fuzz import CHUNK, Chunk, ChunkQuestion, FuzzReport, report
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import name_of
from rspverify.terminal.command import TEXT_OR_JSON, Command
from rspverify.translators import read_translator
from rspverify.verdict import Word

Fuzz: TypeAlias = Asked[Chunk, FuzzReport]
"""What came of some programs at a time; what is wrong is written to a folder."""


@dataclass(frozen=True)
class FuzzParameters(Decided):
    """Which programs, and under what."""

    scheme: str | Path = argument(
        "A scheme: a .yaml file, or a name as of list; or a compiler, as aarch64+lse.",
        metavar="SCHEME",
        completes="scheme",
    )
    settings: Settings = Settings()
    programs: int = option(1000, "How many programs.", least=1)
    seed: int = option(0, "Which programs: number i of a seed is always the same.")
    start: int = option(0, "The number of the first program.", least=0)
    folder: str | Path = option(".", "The folder for tests that are wrong.", name="-o --output")


@question(FuzzParameters)
def fuzz(asked: FuzzParameters) -> Fuzz:
    """Draw programs of C11 at random, and decide each under a scheme or a compiler.

    Atomics of 32 bits, all orders and operators, fences, compare-exchanges, ifs, plain accesses,
    and values that a compiler may fold. What is UNSOUND is made as small as it goes, and written as
    fuzz-SEED-NUMBER.litmus. Exit: 1 if there is one, 3 if some have no verdict, 0 otherwise.

    In Python: FuzzParameters has what can be chosen. Raises InputError.
    """
    from rspverify.corpus.inputs import meant_by

    settings = asked.settings
    word = name_of(meant_by(schemes=[str(asked.scheme)]).schemes[0])
    scheme = NamedScheme.by(read_translator(word, settings.machine), word)
    named = NamedModel.by(load_model(settings.model))
    last = asked.start + asked.programs
    starts = range(asked.start, last, CHUNK)
    questions = [
        ChunkQuestion(
            scheme=scheme,
            named=named,
            settings=settings,
            seed=asked.seed,
            numbers=tuple(range(at, min(at + CHUNK, last))),
        )
        for at in starts
    ]

    def answers(_: Any) -> Generator[Chunk, None, None]:
        for each in asked.decider.run(questions):
            for it in each.found:
                write_beside(str(asked.folder), it.name, it.texts)
            yield each

    given = (scheme.name, settings, asked.seed, asked.start, asked.programs)
    return Asked(
        answers,
        lambda it: report(*given, it.known, it.seconds),
        "fuzz",
        ending=_ending,
        total=len(questions),
    )


def _ending(report: FuzzReport) -> Ending:
    undecided = Word.UNSUPPORTED in report.words or Word.UNKNOWN in report.words
    return Ending(found=bool(report.found), undecided=undecided)


COMMAND = Command(fuzz, takes=OF_A_TEST, forms=TEXT_OR_JSON, also=("jobs", "cluster"))
