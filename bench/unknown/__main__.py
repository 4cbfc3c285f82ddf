"""`python -m bench.unknown`: the program as an unknown, beside enumeration."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from bench.cases import SCHEMES, scheme_named
from bench.unknown.search import Tally, search
from rspverify.axiomatic import MemoryModel, load_model
from rspverify.check.settings import DEFAULT_MODEL, Settings
from rspverify.engineering.hunt.search import first_broken
from rspverify.engineering.hunt.space import Space
from rspverify.engineering.hunt.survey import Survey


def main(
    events: Annotated[int, typer.Option(min=2, help="Operations, from 2 up to these.")] = 3,
    threads: Annotated[int, typer.Option(min=2, max=3, help="Exactly so many threads.")] = 2,
    seconds: Annotated[float, typer.Option(help="CPU seconds for each search.")] = 300,
    enumerate_too: Annotated[
        bool, typer.Option("--enumerate/--no-enumerate", help="Beside enumeration, up to as many.")
    ] = True,
) -> None:
    """Both ways under both schemes of the paper, in one process, in CPU seconds."""
    model = load_model(DEFAULT_MODEL)
    for number in range(threads, events + 1):
        if enumerate_too:
            _enumerated(number, threads, model)
        for name in SCHEMES:
            found = search(number, scheme_named(name), model, seconds, threads)
            print(f"unknown program, {name}, {number} operations: {_words(found)}", flush=True)


def _enumerated(events: int, threads: int, model: MemoryModel) -> None:
    space = Space(events=events, threads=threads, workgroups=threads, locations=2)
    survey = Survey(space, model)
    began = time.process_time()
    phases = list(survey.phases())
    count = sum(each.counts.programs for each in phases)
    core = sum(len(each.core) for each in phases)
    took = time.process_time() - began
    print(f"survey, up to {events}: {count:,} programs, {core:,} to decide, {took:.2f} s")
    for name in SCHEMES:
        began = time.process_time()
        broken = first_broken(survey, scheme_named(name), Settings())
        word = broken.case.program.title if broken.case else "sound"
        took = time.process_time() - began
        print(f"decided, {name}: {word}, {broken.decided:,} programs, {took:.2f} s", flush=True)


def _words(it: Tally) -> str:
    word = it.broken or ("not finished" if it.open else "sound")
    return (
        f"{word}; {it.seconds:.2f} s (building {it.building:.2f}, solving {it.solving:.2f}, "
        f"judging {it.judging:.2f}); {it.frames} frames, {it.happenings} happenings at most, "
        f"{it.assertions:,} assertions; {it.racy} candidates raced, {it.sound} were allowed"
    )


if __name__ == "__main__":
    typer.run(main)
