"""The model of Vulkan against an enumeration by hand, of random programs."""

from __future__ import annotations

from random import Random

import pytest
from oracle.vulkan import Answer, Op, Program, answer

import rspverify
from rspverify.soundness.settings import Settings
from rspverify.source import Source

PLACES = (
    [(0, 0, 0), (0, 0, 0), (0, 0, 0)],
    [(0, 0, 0), (0, 0, 0), (0, 0, 1)],
    [(0, 0, 0), (0, 0, 0), (1, 0, 0)],
    [(0, 0, 0), (0, 0, 1), (0, 0, 2)],
    [(0, 0, 0), (0, 0, 1), (0, 1, 0)],
    [(0, 0, 0), (0, 1, 0), (0, 1, 1)],
    [(0, 0, 0), (0, 1, 0), (1, 0, 0)],
)
ORDERS = {"ld": ("", "acq"), "st": ("", "rel"), "rmw": ("", "acq", "rel", "acq_rel")}
WORDS = {"release": ("rel", "rel", "acq_rel"), "acquire": ("acq", "acq", "acq_rel")}


class Drawing:
    """Threads that mostly write x, release y, acquire y and access x, or meet."""

    def __init__(self, random: Random) -> None:
        self.random, self.left = random, {"x": 3, "y": 2}
        self.scopes = ("dv",) * random.choice((1, 6)) + ("qf", "wg", "wg", "sg")
        self.names = random.choice(("x", "x", "x", "xa"))
        self.code: list[Op] = []

    def chance(self, of: float) -> bool:
        return self.random.random() < of

    def semantics(self, order: str) -> tuple[str, ...]:
        if not order:
            return ()
        classes = self.random.choice((["semsc0"],) * 3 + (["semsc0", "semsc1"], ["semsc1"]))
        sides = [("semav", "rel"), ("semvis", "acq")]
        return (*classes, *(it for it, half in sides if half in order and self.chance(0.4)))

    def fence(self, how: str, kind: str = "membar") -> None:
        order = self.random.choice(WORDS[how] if how else ("acq_rel",) * 3 + ("rel", "acq", ""))
        scope = self.random.choice(self.scopes)
        self.code.append(Op(kind, (*filter(None, [order]), scope, *self.semantics(order))))

    def access(self, name: str, kind: str, order: str | None) -> None:
        """order: None of what is not atomic."""
        pick, scope = self.random.choice, self.random.choice(self.scopes)
        if kind != "ld":
            where = "y" if name == "y" else "x"
            if not self.left[where]:
                return
            self.left[where] -= 1
        if order is not None:
            words = ("atom", *filter(None, [order]), scope, pick(("sc0", "sc0", "sc1")))
            words += self.semantics(order) + ("add",) * (kind == "rmw" and self.chance(0.5))
        else:
            made = ("av" if kind == "st" else "vis", scope)
            words = (*pick(((), ("nonpriv",), ("nonpriv",), made, made, made)),)
            words += ("sc0" if self.chance(0.85) else "sc1",)
        register = "" if kind == "st" else f"r{len(self.code)}"
        earlier = [op.register for op in self.code if op.reads]
        value: int | str = 0 if kind == "ld" else pick((1, 1, 2))
        if kind == "st" and earlier and order is not None and self.chance(0.1):
            value = pick(earlier)
        self.code.append(Op(kind, words, name, register, value))

    def piece(self, what: str) -> None:
        pick = self.random.choice
        if what in ("release", "acquire"):
            if what == "release" and self.chance(0.3):
                self.fence(what)
            kind = pick(("st" if what == "release" else "ld",) * 2 + ("rmw",))
            orders = ORDERS[kind] if self.chance(0.3) else WORDS[what][:2] + ORDERS[kind][-1:]
            self.access("y", kind, pick(orders))
            if what == "acquire" and self.chance(0.3):
                self.fence(what)
        elif what == "meet":
            if self.chance(0.3):
                self.fence("release")
            self.fence("", "cbar")
            if self.chance(0.3):
                self.fence("acquire")
        elif what == "device":
            self.code.append(Op(pick(("avdevice", "visdevice"))))
        elif what == "any":
            kind = pick(("ld", "st", "rmw"))
            self.access(pick(self.names + "y"), kind, pick(ORDERS[kind]))
        else:
            kind = pick(("ld", "st", "rmw")) if what == "atomic" else pick(("ld", "st"))
            self.access(pick(self.names), kind, "" if what == "atomic" else None)


PIECES = ("plain",) * 3 + ("atomic", "any") + ("release", "acquire", "meet") * 2
CHAIN = ("plain", "release"), ("acquire", "release"), ("acquire", "plain")


def drawn(random: Random) -> Program:
    """Two or three threads. Half of them hand on from one to the next what x has; in a sixth, the system
    orders threads."""
    drawing = Drawing(random)
    form = random.choice(("chain", "chain", "chain", "ssw", "any", "any"))
    count = 3 if form == "chain" else random.choice((2, 2, 3))
    threads = []
    for thread in range(count):
        drawing.code = []
        pieces = PIECES if form != "ssw" else (*PIECES[:-6], *PIECES[-6:-4], "device", "device")
        for what in CHAIN[thread] if form == "chain" else random.sample(pieces, 5 - count):
            drawing.piece(what)
        threads.append(drawing.code)
    pairs = [(0, 1), (1, 2), (0, 2)] if count == 3 else [(0, 1)]
    ssw = frozenset(random.sample(pairs, (count + 1) // 2) if form == "ssw" else ())
    often = 0.9 if form == "chain" else 0.6
    given = {
        f"{thread}:{op.register}": random.choice((0, 1, 1, 1, 2))
        for thread, code in enumerate(threads)
        for op in code
        if op.reads and op.name == "y" and random.random() < often
    }
    return Program(random.choice(PLACES)[:count], threads, ssw, given)


def answered(test: Program, model: str = "vulkan") -> Answer:
    """What the package says."""
    asked = rspverify.outcomes(Source("t", test.text()), settings=Settings(model=model))
    (found,) = asked.report().results
    assert found.answered, found.reason
    rows = [{**it.outcome.registers, **it.outcome.memory} for it in found.outcomes]
    names = {"x", "y", *test.registers()}
    finals = {
        tuple(sorted((it, value) for it, value in row.items() if it in names))
        for row in rows
        if all(row[it] == value for it, value in test.given.items())
    }
    return Answer(found.racy, frozenset(finals))


def agree(test: Program) -> Answer:
    """Holds the two to each other. In executions with a race, where anything goes, the model lets reads
    see more (CoWW-RR of Dartagnan's suite)."""
    found, said = answered(test), answer(test)
    assert found.racy == said.racy, test.text()
    assert found.finals == said.finals or (said.racy and found.finals > said.finals), test.text()
    return found


@pytest.mark.parametrize("block", range(20))
def test_outcomes_and_races_are_those_of_the_specification(block: int) -> None:
    for seed in range(4 * block, 4 * block + 4):
        agree(drawn(Random(seed)))


WITNESSES = {
    "halves": 11,
    "private": 219,
    "storage classes": 346,
    "barriers": 1342,
    "fences": 2184,
    "chains": 3546,
    "release sequences": 5088,
}
"""Programs that tell the model from the same one without a rule."""


@pytest.mark.parametrize(("rule", "seed"), WITNESSES.items())
def test_a_rule_shows(rule: str, seed: int) -> None:
    test = drawn(Random(seed))
    assert agree(test) != answer(test, without=rule)
