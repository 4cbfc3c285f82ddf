"""The models of PTX against an enumeration by hand, of random programs."""

from __future__ import annotations

from random import Random

import pytest
from oracle.gpus import Final, Op, Program, finals

import rspverify
from rspverify.soundness.settings import Settings
from rspverify.source import Source

MODELS = ("ptx", "ptx-6.0")
PLACES = [(0, 0)] * 3, [(0, 0), (0, 1), (0, 2)], [(0, 0), (0, 0), (0, 1)], [(0, 0), (0, 1), (1, 0)]
ORDERS = {
    "ld": ("weak", "relaxed", "acquire", "acquire"),
    "st": ("weak", "relaxed", "release", "release"),
    "atom": ("relaxed", "acquire", "release", "acq_rel"),
}
FENCES = {"ptx": ("sc", "sc", "acq_rel", "acquire", "release"), "ptx-6.0": ("sc", "sc", "acq_rel")}
PROXIES = {"ptx": ("alias", "surface"), "ptx-6.0": ()}


def drawn(model: str, random: Random) -> Program:
    """Two or three threads with few accesses, and with proxies in some programs."""
    count, left = random.choice((2, 2, 3)), {"x": 3, "y": 2}
    fences = random.random() < 0.7
    names = random.choice(("xy", "xy", "xya", "xas")) if PROXIES[model] else "xy"
    threads: list[list[Op]] = []
    for _ in range(count):
        code: list[Op] = []
        for at in range(random.choice((2, 2, 3)) if count == 2 else 2):
            scope = random.choice(("cta", "gpu", "gpu", "sys"))
            place = random.choice(names)
            where, loaded = (
                "y" if place == "y" else "x",
                [op.register for op in code if op.register],
            )
            value = (
                random.choice(loaded) if loaded and random.random() < 0.2 else random.choice((1, 2))
            )
            kind = random.choice(("ld", "ld", "st", "st", random.choice(("add", "exch"))))
            if kind != "ld":
                kind, left[where] = ("ld", 0) if not left[where] else (kind, left[where] - 1)
            if place == "s":
                kind = "suld" if kind == "ld" else "sust"
            orders = ("weak",) if place == "s" else ORDERS[kind if kind in ORDERS else "atom"]
            order = random.choice(orders)
            register = "" if kind in ("st", "sust") else f"r{at}"
            code.append(Op(kind, order, "" if order == "weak" else scope, place, register, value))
            if fences and random.random() < 0.5:
                code.append(Op("fence", random.choice(FENCES[model]), scope))
            if len(names) == 3 and random.random() < 0.5:
                code.append(Op("proxy", random.choice(PROXIES[model])))
            if random.random() < 0.15 and not any(op.kind == "arrive" for op in code):
                code.append(Op(random.choice(("sync", "sync", "arrive"))))
        threads.append(code)
    return Program(random.choice(PLACES)[:count], threads)


def answered(test: Program, model: str) -> set[Final]:
    """What the package says is allowed."""
    asked = rspverify.outcomes(Source("t", test.text()), settings=Settings(model=model))
    (answer,) = asked.report().results
    assert answer.answered, answer.reason
    names = {"x", "y", *test.registers()}
    return {
        tuple(sorted((it, value) for it, value in row.items() if it in names))
        for row in ({**it.outcome.registers, **it.outcome.memory} for it in answer.outcomes)
    }


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", [*range(6), 8, 9, *range(11, 63)])  # the others take seconds
def test_outcomes_are_those_of_the_manual(model: str, seed: int) -> None:
    test = drawn(model, Random(seed))
    assert answered(test, model) == finals(test, model), test.text()


WITNESSES = {
    "ptx": "coherence: 1; atomicity: 2; causality: 78; no thin air: 27; barriers: 76;"
    " fences of one side: 907",
    "ptx-6.0": "sc-per-location: 0; coherence: 0; atomicity: 3; no thin air: 19;"
    " causality: 22; barriers: 42; fence.sc is acq_rel: 119; through atomics: 494",
}
"""Programs that tell a model from the same one without a rule. None shows fence-sc: where causality
contradicts an order of fences, the other order leaves no fewer outcomes."""


def test_fences_out_of_the_scope_of_each_other_are_not_ordered() -> None:
    """§8.10.2 is of morally strong fences: here causality orders two that are not, as it may."""
    writer = [Op("st", "relaxed", "sys", "x", value=1), Op("fence", "sc", "cta")]
    reader = [Op("ld", "acquire", "sys", "y", "r0"), Op("fence", "sc", "cta")]
    writer.append(Op("st", "release", "sys", "y", value=1))
    reader.append(Op("ld", "relaxed", "sys", "x", "r1"))
    test = Program([(0, 0), (0, 1)], [writer, reader])
    found = answered(test, "ptx-6.0")
    assert found == finals(test, "ptx-6.0")
    assert {(dict(it)["1:r0"], dict(it)["1:r1"]) for it in found} == {(0, 0), (0, 1), (1, 1)}


@pytest.mark.parametrize(
    ("model", "rule", "seed"),
    [
        (model, *each.strip().split(": "))
        for model, text in WITNESSES.items()
        for each in text.split(";")
    ],
)
def test_a_rule_shows(model: str, rule: str, seed: str) -> None:
    test = drawn(model, Random(int(seed)))
    found = answered(test, model)
    assert found == finals(test, model), test.text()
    assert found < finals(test, model, without=rule)


@pytest.mark.parametrize(
    "what", ["fence.sc.syss", "ld.volatile r1, x", "st.relaxed.gpu.u32 x, 1", "ld.acquire.gpu x, 1"]
)
def test_what_only_a_machine_may_have_is_refused(what: str) -> None:
    """A machine tells it by its operands; a model would take it for one without order or scope."""
    source = Source("t", f"PTX t\n{{ x=0; }}\n P0@cta 0,gpu 0 ;\n {what} ;\nexists (x=1)\n")
    (found,) = rspverify.outcomes(source, settings=Settings(model="ptx"))
    assert not found.answered and "is beyond the model ptx" in found.reason
    (found,) = rspverify.progress(source, settings=Settings(model="ptx"), schedulers=["fair"])
    assert "is not known" in found.reason
