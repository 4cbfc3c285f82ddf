"""What the symbolic encoding says of programs in the whole language, against trying everything."""

from itertools import product
from random import Random

import pytest
from axiomatic.brute_force import TooMany, consistent
from axiomatic.whole_language import random_text
from programs import consistent_executions

from rspverify.axiomatic.cat import load_model, read_model
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.coverage import require_covered
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.question import Questions
from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.litmus.reader import read_program
from rspverify.source import InputError, Source
from rspverify.value import Constant, constants, evaluate, reads

LANGUAGE = """"all"
let hb = (sb | ([W & (REL | ACQ_REL | SC)]; rf; [R & (ACQ | ACQ_REL | SC)]))+
acyclic hb as Hb
irreflexive (rf^-1)?; co; rf?; hb as Coh
irreflexive rf | (co; co; rf^-1) | (co; rf) as Rmw
acyclic SC * SC & (co | hb) \\ id as Sc
undefined_unless empty ((W * M | M * W) & loc & ext \\ hb \\ hb^-1 \\ A * A \\ (IW * _) \\ (_ * IW)) as Dr
undefined_unless empty [F & GLOBAL]; po; [LOCAL] as Mixed
undefined_unless empty same_B & ~id & ~(swg) as Apart
"""
MODELS = {
    "one event": LANGUAGE,
    "two events": LANGUAGE.replace(
        "irreflexive rf | (co; co; rf^-1) | (co; rf) as Rmw", "empty rmw & (fre; coe) as Rmw"
    ),
}

_MOST = 500
"""So many candidates are tried. A model that orders all SC has a million for a few programs."""


def model(name: str) -> MemoryModel:
    if name in MODELS:
        return read_model(Source("m.cat", MODELS[name]), name)
    return load_model(name)


def values_of(program: Program) -> set[int]:
    """The constants of a program and its initial values, closed under its expressions."""
    known = {location.initial for location in program.locations}
    written = [it.value for it in program.operations if it.value is not None]
    conditions = [it.guard for it in program.operations if it.guard != Constant(1)]
    conditions += [it.success for it in program.operations if it.success is not None]
    known = known.union(*map(constants, [*written, *conditions]))
    while True:
        more = set(known)
        for each in written:
            mentioned = sorted(reads(each))
            for chosen in product(known, repeat=len(mentioned)):
                more.add(evaluate(each, dict(zip(mentioned, chosen, strict=True))))
        if more == known:
            return known
        known = more


def check(program: Program, under: MemoryModel, most: int = 10_000) -> None:
    """That outcomes, executions and undefinedness are those of the brute force.

    Raises TooMany where that would have to try too much.
    """
    expected = consistent(program, under, values_of(program), most)
    questions = Questions(program, under, Limits())
    outcomes = {(it.reads, it.memory) for it in questions.outcomes()}
    assert outcomes == {(it.reads, it.memory) for it in expected}, program.source.text
    executions = {(it.reads, it.rf, it.order) for it in expected}
    found = [
        (it.outcome.reads, it.relations["rf"], it.relations["mo"])
        for it in consistent_executions(questions)
    ]
    assert set(found) == executions, program.source.text
    assert len(found) == len(executions), program.source.text
    undefined = any(it.undefined for it in expected)
    assert (questions.race() is not None) == undefined, program.source.text


@pytest.mark.parametrize(
    ("language", "name"),
    [(language, name) for name in MODELS for language in ("OpenCL", "C")]
    + [("OpenCL", name) for name in shipped_models() if name.startswith("opencl")]
    + [("C", name) for name in shipped_models() if name.startswith(("c11", "rc11"))],
)
def test_random_programs(name: str, language: str) -> None:
    rng = Random(f"{name} {language}")
    under = model(name)
    checked = 0
    while checked < 3:
        program = read_program(Source("t.litmus", random_text(rng, language)))
        try:
            require_covered(program, under)
            check(program, under, _MOST)
        except (InputError, TooMany):
            continue
        checked += 1
