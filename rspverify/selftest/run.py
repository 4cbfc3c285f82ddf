"""The seeded run: pair i of a seed is the same on any machine, whatever runs beside it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from rspverify.files import write_beside
from rspverify.judge.judge import Judge
from rspverify.judge.work import Work
from rspverify.litmus import read_program
from rspverify.programs import LitmusTest, litmus_text
from rspverify.scheme import Scheme, read_scheme, scheme_text
from rspverify.selftest.answer import Disagreement
from rspverify.selftest.compare import Choices, Comparison, Difference, compare
from rspverify.selftest.operations import with_operations
from rspverify.selftest.programs import random_test, smaller
from rspverify.selftest.schemes import random_scheme
from rspverify.selftest.shrink import shrink
from rspverify.selftest.size import Size
from rspverify.source import InputError, Source

_SIZES = {1: Size(total=6, min_threads=1), 2: Size(threads=3, total=4)}
"""By the number of devices: real L2s multiply the states of a machine."""


@dataclass(frozen=True)
class Task:
    """One pair of a seed, and how it is decided. devices: how many, None for either."""

    seed: int
    number: int
    devices: int | None
    choices: Choices

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"selftest-{self.seed}-{self.number}"


@dataclass(frozen=True)
class Pair:
    """A program and a scheme for it, as texts of their own languages."""

    test: LitmusTest
    scheme: Scheme
    scheme_kind: str


@dataclass(frozen=True)
class PairResult:
    """What was found of one pair. labels: of what kind it is, by category."""

    labels: Mapping[str, str]
    found: Comparison
    disagreement: Disagreement | None


def tasks_for(
    seed: int, programs: int, start: int, devices: int | None, choices: Choices
) -> list[Task]:
    """So many pairs of a seed, from number `start`; engines take turns at `check`."""
    tasks = [Task(seed, number, devices, choices) for number in range(start, start + programs)]
    if choices.turn is None:
        return tasks
    return [replace(it, choices=replace(choices, turn=it.number)) for it in tasks]


def random_pair(seed: int, number: int, devices: int | None = None) -> Pair:
    """Pair `number` of a seed."""
    return pair_from(random.Random(f"{seed}, {number}, {devices}"), devices)


def pair_from(rng: random.Random, devices: int | None = None) -> Pair:
    """A program and a scheme that has a row for each of its operations."""
    count = devices or rng.choice((1, 1, 1, 2))
    size = smaller(_SIZES[min(count, 2)], count)
    test = random_test(rng, size)
    while len(test.workgroups) != count:  # a thread that had nothing to do was left out
        test = random_test(rng, size)
    kind, scheme = random_scheme(rng, test)
    return Pair(*with_operations(rng, test, scheme), kind)


def compare_texts(test: LitmusTest, scheme: Scheme, choices: Choices) -> Comparison:
    """Reads both texts, as a user's files would be read, and decides the pair."""
    program = read_program(Source("selftest.litmus", litmus_text(test, "random")))
    read = read_scheme(Source("selftest.yaml", scheme_text(scheme)))
    return compare(program, read, choices)


def decide(task: Task) -> PairResult:
    """What one pair says of the engines; a disagreement comes shrunk."""
    pair = random_pair(task.seed, task.number, task.devices)
    found = compare_texts(pair.test, pair.scheme, task.choices)
    disagreement = _disagreement(task, pair, found) if found.differences else None
    labels = {
        "devices": str(len(pair.test.workgroups)),
        "threads": str(len(pair.test.threads)),
        "work-groups": str(len({each.place for each in pair.test.threads})),
        "machine": pair.scheme.machine.name,
        "scheme": pair.scheme_kind,
    }
    return PairResult(labels, found, disagreement)


def _disagreement(task: Task, pair: Pair, found: Comparison) -> Disagreement:
    kind = found.differences[0].kind
    choices = task.choices.narrowed(kind)

    def shown(test: LitmusTest, scheme: Scheme) -> Difference | None:
        try:
            differences = compare_texts(test, scheme, choices).differences
        except InputError:
            return None
        return next((each for each in differences if each.kind == kind), None)

    test, scheme, difference = shrink(pair.test, pair.scheme, shown, found.differences[0])
    command = f"rspverify selftest --seed {task.seed} --start {task.number} --programs 1"
    if task.devices is not None:
        command += f" --devices {task.devices}"
    comment = f"From `{command}`: {difference.words}."
    return Disagreement(
        pair=task.number,
        kind=kind,
        words=difference.words,
        command=command,
        name=task.name,
        litmus=litmus_text(test, task.name, comment=comment),
        scheme=scheme_text(replace(scheme, name=task.name), comment),
    )


def write_files(it: Disagreement, folder: str) -> None:
    """Its test and its scheme, as files. Raises InputError if they cannot be written."""
    write_beside(folder, it.name, {".litmus": it.litmus, ".yaml": it.scheme})


def run_pairs(tasks: list[Task], judge: Judge) -> Iterator[PairResult]:
    """The result of each task, in their order; by one worker in this process.

    Raises LimitReached if a worker process is lost.
    """
    return judge.each(Work("selftest", decide, lambda task: task.name), tasks, ahead=8)
