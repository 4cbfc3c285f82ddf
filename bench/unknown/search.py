"""Candidates one by one, each excluded with all that share the cause, until one holds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod

from bench.unknown.formula import suspicious
from bench.unknown.template import Frame, Picked, Slot, Template, Test
from rspverify.axiomatic import MemoryModel
from rspverify.check.settings import Settings
from rspverify.check.soundness import check
from rspverify.engineering.hunt.build import line_of, program_of
from rspverify.engineering.hunt.races import races
from rspverify.engineering.hunt.shape import Shape, Step, Thread
from rspverify.engineering.hunt.space import Space
from rspverify.limits import Limits
from rspverify.scheme import Scheme
from rspverify.smt import all_of, any_of
from rspverify.verdict import Word

_TRIES = 1_000
"""So many programs are looked at to widen what one racy candidate excludes."""
Box = dict[Slot, tuple[set[Picked], set[Test]]]


@dataclass
class Tally:
    """What a search took. racy, sound: candidates by what they turned out to be."""

    frames: int = 0
    assertions: int = 0
    happenings: int = 0
    building: float = 0.0
    solving: float = 0.0
    judging: float = 0.0
    racy: int = 0
    sound: int = 0
    broken: str | None = None
    open: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.building + self.solving + self.judging


def frames(events: int, threads: int = 2) -> Iterator[Frame]:
    """All frames of so many threads in two work-groups at least, with one or two locations.

    Each location is accessed by two threads, as others cannot matter (hunt/filters.py).
    """
    kinds = [(True,), (False,), (True, True), (False, True), (False, False)]
    for lengths in sorted(product(range(1, events + 1), repeat=threads), reverse=True):
        if sum(lengths) == events and list(lengths) == sorted(lengths, reverse=True):
            for groups in _groupings(lengths):
                for atomic in kinds:
                    if 2 * len(atomic) <= sum(min(length, len(atomic)) for length in lengths):
                        yield Frame(lengths, groups, atomic)


def _groupings(lengths: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Which threads share a work-group, but not all: once up to the names of equally long ones."""
    seen = set()
    for groups in product(range(len(lengths)), repeat=len(lengths)):
        named = tuple(sorted(set(groups), key=groups.index).index(each) for each in groups)
        members: dict[int, list[int]] = {}
        for length, group in zip(lengths, named, strict=True):
            members.setdefault(group, []).append(length)
        kind = tuple(sorted(tuple(sorted(each)) for each in members.values()))
        if len(members) > 1 and kind not in seen:
            seen.add(kind)
            yield named


def search(
    events: int, scheme: Scheme, model: MemoryModel, seconds: float, threads: int = 2
) -> Tally:
    """A program with so many operations that the scheme breaks, or none, within a time."""
    space = Space(events=events, threads=threads, workgroups=threads, locations=2)
    tally = Tally()
    for frame in frames(events, threads):
        if tally.seconds > seconds:
            tally.open.append(str(frame))
            continue
        _search(frame, space, scheme, model, tally, seconds)
        if tally.broken:
            break
    return tally


def _search(
    frame: Frame, space: Space, scheme: Scheme, model: MemoryModel, tally: Tally, seconds: float
) -> None:
    began = time.process_time()
    template = Template(frame, space, scheme)
    solver, happenings = suspicious(template, model, Limits())
    tally.frames += 1
    tally.happenings = max(tally.happenings, happenings)
    tally.assertions += len(solver.asserted)
    tally.building += time.process_time() - began
    while tally.seconds <= seconds:
        began = time.process_time()
        found = solver.find()
        tally.solving += time.process_time() - began
        if found is None:
            return
        began = time.process_time()
        shape = template.shape(found)
        if races(shape, template.tables):
            tally.racy += 1
            box = _widened(_racy_prefix(shape, template), template)
        else:
            verdict = check(program_of(shape, space), scheme, model, Settings(shortest=False))
            if verdict.word is Word.UNSOUND:
                tally.broken = line_of(shape, space)
                tally.judging += time.process_time() - began
                return
            assert verdict.word is Word.SOUND, verdict
            tally.sound += 1
            box = _point(shape, [len(thread.steps) for thread in shape.threads])
        parts = [
            any_of(template.picked[slot][each] for each in picks)
            & any_of(template.tests[slot][each] for each in tests)
            for slot, (picks, tests) in box.items()
        ]
        solver.add(~all_of(parts))
        tally.judging += time.process_time() - began
    tally.open.append(str(frame))


def _racy_prefix(shape: Shape, template: Template) -> Box:
    """The steps of the shortest beginnings of the threads that race by themselves.

    Whatever follows, the race stays: a consistent execution can be gone on with, each next step
    reading what is last, and no later step orders two earlier ones.
    """
    lengths = [len(thread.steps) for thread in shape.threads]
    for ends in sorted(product(*(range(n + 1) for n in lengths)), key=sum):
        if races(_cut(shape, ends), template.tables):
            return _point(shape, list(ends))
    raise AssertionError("it races")


def _cut(shape: Shape, ends: tuple[int, ...]) -> Shape:
    threads = [
        Thread(it.device, it.group, it.steps[:end])
        for it, end in zip(shape.threads, ends, strict=True)
    ]
    return Shape(tuple(threads), shape.atomic)


def _point(shape: Shape, ends: list[int]) -> Box:
    found: Box = {}
    for number, (thread, end) in enumerate(zip(shape.threads, ends, strict=True)):
        for place, step in enumerate(thread.steps[:end]):
            test = None if step.tests < 0 else (step.tests, step.of, step.at, step.plus)
            found[number, place] = ({(step.operation, step.location)}, {test})
    return found


def _widened(box: Box, template: Template) -> Box:
    """More choices for each slot, as long as every program of the box races."""
    tries = 0
    for slot in list(box):
        for side, choices in ((0, template.picked[slot]), (1, template.tests[slot])):
            for choice in choices:
                if choice in box[slot][side]:
                    continue
                picks, tests = box[slot]
                only: tuple[set[Picked], set[Test]] = (
                    ({choice}, tests) if side == 0 else (picks, {choice})  # type: ignore[arg-type]
                )
                wider = {**box, slot: only}
                tries += prod(len(some) for parts in wider.values() for some in parts)
                if tries > _TRIES:
                    return box
                members = _members(wider, template)
                if all(races(each, template.tables) for each in members):
                    box[slot][side].add(choice)  # type: ignore[arg-type]
    return box


def _members(box: Box, template: Template) -> Iterator[Shape]:
    """The beginnings of programs in a box; those that no program of the frame has are left out."""
    slots = list(box)
    groups = template.frame.groups
    for chosen in product(*(product(*box[slot]) for slot in slots)):
        steps = {s: Step(*p, *(t or ())) for s, (p, t) in zip(slots, chosen, strict=True)}
        if all(_well_formed(slot, steps, template) for slot in slots):
            threads = tuple(
                Thread(0, group, tuple(step for (t, _), step in steps.items() if t == number))
                for number, group in enumerate(groups)
            )
            yield Shape(threads, template.frame.atomic)


def _well_formed(slot: Slot, steps: dict[Slot, Step], template: Template) -> bool:
    """Whether its test is of a read, and of a store to the same location as far as it is there."""
    step, tables = steps[slot], template.tables
    if step.tests < 0:
        return True
    read, store = steps[slot[0], step.tests], steps.get((step.of, step.at))
    if not tables.reads[read.operation]:
        return False
    if store is None:
        return True
    is_store = tables.writes[store.operation] and not tables.reads[store.operation]
    return is_store and store.location == read.location
