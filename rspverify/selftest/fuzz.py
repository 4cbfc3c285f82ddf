"""Random programs of C11 under a scheme or a compiler: what is wrong is made as small as it goes.

Programs have atomics of all orders and operators, fences, compare-exchanges, strong and weak and
with each order for where they fail, `if`s, plain accesses now and then, and values and conditions
that a compiler may fold, as `r ^ r`. All accesses are of 32 bits. Program i of a seed is always the
same.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from msgspec import Struct

from rspverify.convert import Count, Seconds
from rspverify.judge.inputs import NamedModel, NamedScheme
from rspverify.judge.question import Question
from rspverify.litmus.program import Kind, Order, Program, Scope
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import Access, LitmusTest, Thread, litmus_test
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.selftest.shrink import shrunk, smaller_tests
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.source import Source
from rspverify.translators import Translator
from rspverify.value import Binary, Constant, Expression, Read, Select, Unary
from rspverify.verdict import Verdict, Word

CHUNK = 20
"""So many programs are compiled and decided at a time."""

_ORDERS = {
    Kind.LOAD: (Order.RELAXED, Order.ACQUIRE, Order.SEQ_CST),
    Kind.STORE: (Order.RELAXED, Order.RELEASE, Order.SEQ_CST),
    Kind.RMW: (Order.RELAXED, Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST),
    Kind.FENCE: (Order.ACQUIRE, Order.RELEASE, Order.ACQ_REL, Order.SEQ_CST),
}
_KINDS = (*(Kind.LOAD,) * 4, *(Kind.STORE,) * 4, *(Kind.RMW,) * 3)
_EXCHANGES = (*("exchange",) * 4, *("compare_exchange",) * 6)
_OPERATORS = (*_EXCHANGES, *("+",) * 3, *("-", "|", "^", "&") * 2, "min", "max")
"""Of read-modify-writes. GCC has no minimum and no maximum, so that those are few."""
_NAMES = ("x", "y", "z")
_SHAPES = (
    *(("xy", "yx"),) * 4,
    *(("xy", "yz", "zx"),) * 2,
    ("x", "xy", "yx"),
    ("x", "xy", "yx", "y"),
)
"""What the threads access of most programs: in rings, as only so they may be seen out of order; or
as two see what others write."""
_ORDERLY = (None, None, Order.SEQ_CST, Order.ACQ_REL, Order.RELAXED)
_SHAPED, _FENCED, _SIMPLE = 0.8, 0.12, 0.4
_WEAK, _OTHERWISE = 0.4, 0.3
_PLAIN = 0.06
"""How often an access is no atomic one: most programs with two that conflict race."""


_LINE = re.compile(r"\bline \d+: ")


class Fuzzed(Struct, frozen=True):
    """A program that is wrong, as small as it goes. number: of the one that it was made of; test:
    its text; reason: why it is wrong; command: finds it again."""

    number: Count
    name: str
    word: Word
    reason: str
    test: str
    command: str

    def texts(self, _: str) -> Mapping[str, str]:
        """Its files, by their endings."""
        return {".litmus": self.test}


class FuzzReport(Struct, frozen=True):
    """What came of random programs. start: the number of the first; asked: how many were wanted;
    words: how many have each verdict; reasons: why some have none, but for lines; found: those that
    are wrong."""

    scheme: str
    model: str
    seed: int
    start: Count
    asked: Count
    words: Mapping[str, Count]
    reasons: Mapping[str, Count]
    found: tuple[Fuzzed, ...]
    seconds: Seconds

    @property
    def programs(self) -> int:
        """How many were decided, or cannot be."""
        return sum(self.words.values())


class Chunk(Struct, frozen=True):
    """What came of some programs, one after the other."""

    words: tuple[Word, ...]
    reasons: tuple[str, ...]
    found: tuple[Fuzzed, ...]


def random_program(seed: int, number: int) -> LitmusTest:
    """Program `number` of a seed: two to four threads, in work-groups of their own.

    Many have one order throughout, or loads and stores alone.
    """
    rng = random.Random(f"fuzz {seed}, {number}")
    if rng.random() < _SHAPED:
        places = [list(it) for it in rng.choice(_SHAPES)]
        names = _NAMES[: len({*chain(*places)})]
    else:
        names = _NAMES[: rng.choice((1, 2, 2, 2, 3))]
        places = [[rng.choice(names)] for _ in range(rng.choice((2, 2, 3)))]
    for _ in range(rng.randint(0, 3)):
        own = rng.choice(places)
        own.insert(rng.randint(0, len(own)), rng.choice(names))
    style = _Style(rng.choice(_ORDERLY), rng.random() < _SIMPLE)
    made = [Thread((0, at), _accesses(rng, own, style)) for at, own in enumerate(places)]
    return litmus_test(made, names)


class _Style(Struct, frozen=True):
    """What all accesses of a program have. order: of each that may have it, if it is not any;
    simple: whether there are no read-modify-writes."""

    order: Order | None
    simple: bool

    def kinds(self) -> Sequence[Kind]:
        """The kinds of accesses."""
        return tuple(it for it in _KINDS if it is not Kind.RMW) if self.simple else _KINDS

    def orders(self, kind: Kind) -> Sequence[Order]:
        """The orders of a kind."""
        every = _ORDERS[kind]
        if self.order is None:
            return every
        return (self.order,) if self.order in every else every[1:2] or every


def _accesses(rng: random.Random, places: Sequence[str], style: _Style) -> tuple[Access, ...]:
    found: list[Access] = []
    known: list[int] = []
    guards: tuple[Expression, ...] = ()
    for x in places:
        if rng.random() < _FENCED:
            order = rng.choice(_ORDERS[Kind.FENCE])
            found.append(Access(Kind.FENCE, order=order, scope=Scope.DV, guards=guards))
        if guards and rng.random() < 0.5:
            *around, last = guards
            guards = (*around, Unary("!", last)) if rng.random() < _OTHERWISE else tuple(around)
        elif known and rng.random() < 0.25:
            guards = (*guards, _condition(rng, known))
        kind = rng.choice(style.kinds())
        order = rng.choice(style.orders(kind))
        value = None if kind is Kind.LOAD else _value(rng, known)
        access = Access(kind, x, value, len(known) if kind.reads else None, guards=guards)
        if kind is Kind.RMW:
            access = _with_operator(rng, access)
        if kind is Kind.RMW or rng.random() >= _PLAIN:
            access = replace(access, order=order, scope=Scope.DV)
        found.append(access)
        known += [access.register] if access.register is not None else []
    return tuple(found)


def _with_operator(rng: random.Random, access: Access) -> Access:
    access = replace(access, operator=rng.choice(_OPERATORS))
    if access.operator != "compare_exchange":
        return access
    expected = Constant(rng.choice((0, 1)))
    failure = rng.choice(_ORDERS[Kind.LOAD])
    return replace(access, expected=expected, failure=failure, weak=rng.random() < _WEAK)


def _value(rng: random.Random, known: Sequence[int]) -> Expression:
    """A small number, or something of what was read, which may be folded."""
    number: Expression = Constant(rng.choice((1, 1, 2)))
    if not known or rng.random() < 0.5:
        return number
    read, other = Read(rng.choice(known)), Read(rng.choice(known))
    return rng.choice(
        (
            read,
            Binary("+", read, number),
            Binary("+", Binary("^", read, read), number),
            Binary("|", Binary("&", read, Constant(0)), number),
            Binary("+", Binary("-", read, other), number),
            Binary("+", Binary("*", read, Constant(0)), other),
            Select(Binary("==", read, Constant(1)), Constant(1), Constant(2)),
            Select(read, number, number),
        )
    )


def _condition(rng: random.Random, known: Sequence[int]) -> Expression:
    read, second = Read(rng.choice(known)), Read(rng.choice(known))
    other = rng.choice((Constant(0), Constant(1), Constant(1), read, second))
    return Binary(rng.choice(("==", "==", "!=", "<", ">")), read, other)


class ChunkQuestion(Question[Chunk], frozen=True):
    """What comes of some random programs? scheme, named: read where it is asked, as workers may be
    elsewhere."""

    kind = "fuzz"

    scheme: NamedScheme
    named: NamedModel
    settings: Settings
    seed: int
    numbers: tuple[int, ...]

    @property
    def name(self) -> str:
        """By its first program."""
        return f"fuzz-{self.seed}-{self.numbers[0]}"

    def decide(self) -> Chunk:
        scheme = self.scheme.translator
        tests = [random_program(self.seed, it) for it in self.numbers]
        scheme.prepare(map(_program, tests))
        verdicts = [self._verdict(scheme, it) for it in tests]
        found = [
            self._found(scheme, number, test, verdict)
            for number, test, verdict in zip(self.numbers, tests, verdicts, strict=True)
            if verdict.word is Word.UNSOUND
        ]
        none = [it.reason for it in verdicts if it.word in (Word.UNSUPPORTED, Word.UNKNOWN)]
        return Chunk(tuple(it.word for it in verdicts), tuple(none), tuple(found))

    def _verdict(self, scheme: Translator, test: LitmusTest) -> Verdict:
        return check(Case(_program(test), scheme, self.named.model, self.settings))

    def _found(self, scheme: Translator, number: int, test: LitmusTest, verdict: Verdict) -> Fuzzed:
        """The smallest that is wrong, of those that leave something out."""

        def wrong(it: LitmusTest) -> Verdict | None:
            found = self._verdict(scheme, it)
            return found if found.word is Word.UNSOUND else None

        test, verdict = shrunk(test, smaller_tests, wrong, verdict)
        name = f"fuzz-{self.seed}-{number}"
        command = f"rspverify fuzz {self.scheme.file} --model {self.settings.model}"
        command += f" --seed {self.seed} --start {number} --programs 1"
        text = litmus_text(test, name, comment=f"From `{command}`: {verdict.reason}.")
        return Fuzzed(number, name, verdict.word, verdict.reason, text, command)


def _program(test: LitmusTest) -> Program:
    return read_program(Source("fuzz.litmus", litmus_text(test, "fuzz")))


def report(
    scheme: str,
    settings: Settings,
    seed: int,
    start: int,
    asked: int,
    chunks: Sequence[Chunk],
    seconds: float,
) -> FuzzReport:
    """The report on what was decided; of an interrupted run that is not all that was asked."""
    words = Counter(word for it in chunks for word in it.words)
    reasons = Counter(_LINE.sub("", reason) for it in chunks for reason in it.reasons)
    return FuzzReport(
        scheme=scheme,
        model=settings.model,
        seed=seed,
        start=start,
        asked=asked,
        words={word.value: words[word] for word in Word if words[word]},
        reasons=dict(reasons.most_common()),
        found=tuple(each for it in chunks for each in it.found),
        seconds=seconds,
    )
