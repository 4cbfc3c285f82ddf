"""The seeded run: pair i of a seed is the same on any machine, whatever runs beside it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from rspverify.architecture.machines import machine_named
from rspverify.convert import Count, Seconds
from rspverify.files import write_beside
from rspverify.judge.question import Question
from rspverify.litmus.reader import read_program
from rspverify.programs.litmus_test import LitmusTest
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.scheme.reader import read_scheme, read_scheme_file
from rspverify.scheme.scheme import Scheme
from rspverify.scheme.writer import scheme_text
from rspverify.selftest.compare import Choices, Comparison, Difference, compare
from rspverify.selftest.machines import RandomMachine, random_machine
from rspverify.selftest.programs import Size, random_test, smaller
from rspverify.selftest.schemes import for_machine, random_scheme, with_operations
from rspverify.selftest.shrink import Pair, shrink
from rspverify.source import InputError, Source
from rspverify.verdict import Engine, Word

_SIZES = {1: Size(total=6, min_threads=1), 2: Size(threads=3, total=4)}
"""By the number of devices: real L2s multiply the states of a machine."""

_SMALL_SIZES = (
    {1: Size(threads=2, total=4), 2: Size(threads=2, total=3)},
    {1: Size(threads=3, total=3), 2: Size(threads=2, total=2)},
)
"""Either on a machine that is drawn, of which less is known that can be left out."""

RANDOM = "random"
"""In the place of a machine's name: one that is drawn."""

_PROGRAMS = 4
"""So many pairs of a seed, one after the other, are asked of the same machine that is drawn."""

_SELDOM = 16
"""Where none is asked for, the last of so many pairs has a machine that is drawn."""


class Disagreement(Struct, frozen=True, kw_only=True):
    """Two answers to one question, on a program and a scheme that were made as small as they go.

    kind: what disagrees; command: finds it again; name: of its files, without their endings;
    machine: the text of one that was drawn, "" of any other.
    """

    pair: Count
    kind: tuple[str, ...]
    words: str
    command: str
    name: str
    litmus: str
    scheme: str
    machine: str


class PairCounts(Struct, frozen=True):
    """How many pairs were decided by every engine, by two at least, by fewer; and their verdicts.

    verdicts: by definition, how many have each; pairs without one are not in it.
    """

    pairs: Count
    by_all: Count
    by_some: Count
    skipped: Count
    verdicts: Mapping[str, Count]


class Missing(Struct, frozen=True):
    """How often an answer was not given, by whom and why."""

    who: str
    why: str
    count: Count


class SelftestReport(Struct, frozen=True, kw_only=True):
    """Counts of what the engines agree on, and where they disagree.

    start: the number of the first pair; asked: how many were wanted. kinds: counts by category and
    by label in it.
    """

    seed: int
    start: Count
    asked: Count
    engines: tuple[Engine, ...]
    total: PairCounts
    kinds: Mapping[str, Mapping[str, PairCounts]]
    missing: tuple[Missing, ...]
    disagreements: tuple[Disagreement, ...]
    seconds: Seconds


class PairResult(Struct, frozen=True):
    """What was found of one pair. labels: of what kind it is, by category."""

    labels: Mapping[str, str]
    found: Comparison
    disagreement: Disagreement | None


class Task(Question[PairResult], frozen=True):
    """Do the engines agree on a pair of a seed? choices: how it is decided.

    devices: how many, None for either. machine: by name or file, or RANDOM; None for any.
    """

    kind = "selftest"

    seed: int
    number: int
    devices: int | None
    choices: Choices
    machine: str | None = None

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"selftest-{self.seed}-{self.number}"

    def decide(self) -> PairResult:
        """What the pair says of the engines; a disagreement comes shrunk."""
        pair = random_pair(self.seed, self.number, self.devices, self.machine)
        found = compare_texts(pair.test, pair.scheme, self.choices, pair.machine)
        disagreement = _disagreement(self, pair, found) if found.differences else None
        labels = {
            "devices": str(len(pair.test.workgroups)),
            "threads": str(len(pair.test.threads)),
            "work-groups": str(len({each.place for each in pair.test.threads})),
            "machine": pair.scheme.machine.name,
            "scheme": pair.scheme_kind,
        }
        return PairResult(labels, found, disagreement)


def tasks_for(
    seed: int,
    programs: int,
    start: int,
    devices: int | None,
    choices: Choices,
    machine: str | None = None,
) -> list[Task]:
    """So many pairs of a seed, from number `start`; engines take turns at `check`."""
    numbers = range(start, start + programs)
    tasks = [Task(seed, number, devices, choices, machine) for number in numbers]
    if choices.turn is None:
        return tasks
    return [replace(it, choices=replace(choices, turn=it.number)) for it in tasks]


def random_pair(
    seed: int, number: int, devices: int | None = None, machine: str | None = None
) -> Pair:
    """Pair `number` of a seed; now and then on a machine that is drawn. Raises InputError."""
    rng = random.Random(f"{seed}, {number}, {devices}")
    if machine == RANDOM or (machine is None and number % _SELDOM == _SELDOM - 1):
        pair = pair_from(rng, devices, rng.choice(_SMALL_SIZES))
        drawn = random_machine(random.Random(f"{seed}, {number // _PROGRAMS}, machine"))
        return replace(
            pair, scheme=for_machine(rng, pair.scheme, drawn.architecture), machine=drawn
        )
    pair = pair_from(rng, devices)
    if machine is None:
        return pair
    given = machine_named(machine)
    return replace(pair, scheme=for_machine(random.Random(0), pair.scheme, given))


def pair_from(
    rng: random.Random, devices: int | None = None, sizes: Mapping[int, Size] = _SIZES
) -> Pair:
    """A program and a scheme that has a row for each of its operations."""
    count = devices or rng.choice((1, 1, 1, 2))
    size = smaller(sizes[min(count, 2)], count)
    test = random_test(rng, size)
    while len(test.workgroups) != count:  # a thread that had nothing to do was left out
        test = random_test(rng, size)
    kind, scheme = random_scheme(rng, test)
    return Pair(*with_operations(rng, test, scheme), kind)


def compare_texts(
    test: LitmusTest, scheme: Scheme, choices: Choices, machine: RandomMachine | None = None
) -> Comparison:
    """Reads all texts, as a user's files would be read, and decides the pair."""
    program = read_program(Source("selftest.litmus", litmus_text(test, "random")))
    return compare(program, _read(scheme, machine), choices)


def _read(scheme: Scheme, machine: RandomMachine | None) -> Scheme:
    if machine is None or not scheme.machine.path:
        return read_scheme(Source("selftest.yaml", scheme_text(scheme)))
    with TemporaryDirectory() as folder:
        Path(folder, scheme.machine.path).write_text(machine.text, encoding="utf-8")
        file = Path(folder, "selftest.yaml")
        file.write_text(scheme_text(scheme), encoding="utf-8")
        return read_scheme_file(file)


def _disagreement(task: Task, pair: Pair, found: Comparison) -> Disagreement:
    kind = found.differences[0].kind
    choices = task.choices.narrowed(kind)

    def shown(each: Pair) -> Difference | None:
        try:
            differences = compare_texts(each.test, each.scheme, choices, each.machine).differences
        except InputError:
            return None
        return next((it for it in differences if it.kind == kind), None)

    pair, difference = shrink(pair, shown, found.differences[0])
    scheme = pair.scheme
    command = f"rspverify selftest --seed {task.seed} --start {task.number} --programs 1"
    if task.devices is not None:
        command += f" --devices {task.devices}"
    if task.machine is not None:
        command += f" --machine {task.machine}"
    drawn = pair.machine if scheme.machine.path else None
    if drawn is not None:
        scheme = replace(scheme, machine=replace(scheme.machine, path=f"{task.name}.machine"))
    comment = f"From `{command}`: {difference.words}."
    return Disagreement(
        pair=task.number,
        kind=kind,
        words=difference.words,
        command=command,
        name=task.name,
        litmus=litmus_text(pair.test, task.name, comment=comment),
        scheme=scheme_text(replace(scheme, name=task.name), comment),
        machine="" if drawn is None else drawn.text,
    )


def write_files(it: Disagreement, folder: str) -> None:
    """Its test, scheme and machine, as files. Raises InputError if they cannot be written."""

    def texts(name: str) -> dict[str, str]:
        if not it.machine:
            return {".litmus": it.litmus, ".yaml": it.scheme}
        scheme = it.scheme.replace(f"{it.name}.machine", f"{name}.machine")
        return {".litmus": it.litmus, ".yaml": scheme, ".machine": it.machine}

    write_beside(folder, it.name, texts)


def report(
    results: Sequence[PairResult],
    seed: int,
    start: int,
    asked: int,
    choices: Choices,
    seconds: float,
) -> SelftestReport:
    """The report on the pairs that were decided; of an interrupted run that is not all of them."""
    engines = choices.engines
    missing = Counter(item for result in results for item in result.found.skipped.items())
    return SelftestReport(
        seed=seed,
        start=start,
        asked=asked,
        engines=engines,
        total=_counts(results, len(engines)),
        kinds=_kinds(results, len(engines)),
        missing=tuple(Missing(*what, count) for what, count in missing.most_common()),
        disagreements=tuple(result.disagreement for result in results if result.disagreement),
        seconds=seconds,
    )


def _kinds(results: Sequence[PairResult], engines: int) -> Mapping[str, Mapping[str, PairCounts]]:
    categories = results[0].labels if results else {}
    return {
        category: {
            label: _counts([it for it in results if it.labels[category] == label], engines)
            for label in sorted({result.labels[category] for result in results})
        }
        for category in categories
    }


def _counts(results: Sequence[PairResult], engines: int) -> PairCounts:
    decided = [len(it.found.decided) for it in results]
    words = Counter(it.found.word for it in results)
    by_all = decided.count(engines)
    by_some = sum(1 for count in decided if 2 <= count < engines)
    return PairCounts(
        len(decided),
        by_all,
        by_some,
        len(decided) - by_all - by_some,
        {word.value: words[word] for word in Word if words[word]},
    )
