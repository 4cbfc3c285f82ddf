"""`python -m bench.unknown`: deciding by formula, beside deciding program by program."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bench.cases import SCHEMES, scheme_named
from rspverify.axiomatic.cat import load_model
from rspverify.axiomatic.model import MemoryModel
from rspverify.engineering.hunt.by_programs import ByPrograms
from rspverify.engineering.hunt.formula.ask import SketchAnswer, SketchSearch
from rspverify.engineering.hunt.formula.sketch import sketches
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import decoded
from rspverify.enumeration.space import Space
from rspverify.enumeration.survey import Survey
from rspverify.soundness.settings import DEFAULT_MODEL, Settings


def main(
    events: Annotated[int, typer.Option(min=2, help="Operations, from 2 up to these.")] = 3,
    threads: Annotated[int, typer.Option(min=2, max=3, help="Exactly so many threads.")] = 2,
    seconds: Annotated[float, typer.Option(help="Seconds for each formula.")] = 300,
    enumerate_too: Annotated[
        bool, typer.Option("--enumerate/--no-enumerate", help="Beside enumeration, up to as many.")
    ] = True,
) -> None:
    """Both ways under both schemes of the paper, in one process, in CPU seconds."""
    model = load_model(DEFAULT_MODEL)
    settings = Settings(seconds=seconds, shortest=False)
    for number in range(threads, events + 1):
        space = Space(events=number, threads=threads, workgroups=threads)
        if enumerate_too:
            _enumerated(space, model)
        for name in SCHEMES:
            _asked(space, name, model, settings)


def _enumerated(space: Space, model: MemoryModel) -> None:
    survey = Survey(space, model)
    began = time.process_time()
    phases = list(survey.phases())
    count = sum(each.counts.programs for each in phases)
    core = sum(len(each.core) for each in phases)
    took = time.process_time() - began
    print(f"survey, up to {space.events}: {count:,} programs, {core:,} to decide, {took:.2f} s")
    for name in SCHEMES:
        began = time.process_time()
        strategy = ByPrograms(survey, scheme_named(name), Settings())
        found = strategy.first()
        word = found.program.title if found else "sound"
        took = time.process_time() - began
        print(f"by programs, {name}: {word}, {strategy.done:,} decided, {took:.2f} s", flush=True)


def _asked(space: Space, name: str, model: MemoryModel, settings: Settings) -> None:
    """The sketches of exactly so many operations and threads, up to the first finding."""
    question = SketchSearch(space, scheme_named(name), model, settings)
    answers: list[SketchAnswer] = []
    began = time.process_time()
    for sketch in sketches(space, space.events, space.threads):
        answers.append(question.answer(sketch))
        if answers[-1].broken:
            break
    took = time.process_time() - began
    last = answers[-1] if answers else SketchAnswer()
    unknown = sum(len(each.unknown) for each in answers)
    word = f"{unknown} not decided" if unknown else "sound"
    if last.broken:
        word = line_of(decoded(bytes.fromhex(last.broken)), space)
    racy, allowed = (sum(getattr(it, side) for it in answers) for side in ("racy", "allowed"))
    print(
        f"by formula, {name}, {space.events} operations: {word}; {took:.2f} s, {len(answers)} "
        f"sketches; {racy} candidates raced, {allowed} were allowed",
        flush=True,
    )


if __name__ == "__main__":
    typer.run(main)
