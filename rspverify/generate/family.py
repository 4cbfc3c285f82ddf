"""The families of families.yaml: all tests of their shapes, in every choice of annotations and of
grouping."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations, product
from math import prod
from pathlib import Path

import msgspec
from msgspec import Struct

from rspverify.files import write_new
from rspverify.generate.annotations import FAR, USUAL, Annotations
from rspverify.generate.grouping import Grouping, groupings, groupings_on_devices
from rspverify.generate.rows import NAME as ROWS
from rspverify.generate.rows import RowFamily, Test
from rspverify.programs.litmus_test import Access, LitmusTest, Thread, litmus_test
from rspverify.programs.notation import notation, read_notation
from rspverify.programs.writer import litmus_text
from rspverify.records import replace
from rspverify.source import InputError, Problem, require
from rspverify.wording import guess

_LETTER = re.compile(r"(?<=\w\.)[std](?=[ ;]|$)")
"""A choice: `s` of each operation, `t` one for the whole thread, and `d` of a plain or an atomic
access to data that is declared atomic."""
_OPERATION = re.compile(r"[\w.]+(?=\.$)")
_ON_DEVICES = "-devices"


class Shape(Struct, frozen=True):
    """A shape in the notation of notation.py, and the final condition of its tests."""

    notation: str
    asks: str

    def choices(self, annotations: Annotations) -> Iterator[LitmusTest]:
        """Its tests with every choice for the letters of the notation, each thread alone, and every
        choice of memories."""
        first, *rest = _LETTER.split(self.notation)
        kinds = self._kinds(annotations)
        keys = [self._key(each) for each in _LETTER.finditer(self.notation)]
        declared = self._any_test
        atomic = {each.name for each in declared.locations if each.atomic}
        initial = {each.name: each.initial for each in declared.locations}
        for chosen in product(*kinds.values()):
            choice = dict(zip(kinds, chosen, strict=True))
            parts = (choice[key] + part for key, part in zip(keys, rest, strict=True))
            test = read_notation("".join([first, *parts]))
            for local in annotations.in_memories(list(initial)):
                yield litmus_test(test.threads, atomic, initial, local)

    def size(self, annotations: Annotations) -> int:
        """How many choices there are."""
        memories: int = len(annotations.memories) ** len(self._any_test.locations)
        choices: int = prod(map(len, self._kinds(annotations).values()))
        return choices * memories

    @property
    def threads(self) -> int:
        """How many threads it has."""
        return self.notation.count("||") + 1

    @property
    def _any_test(self) -> LitmusTest:
        """A test of the shape, which tells what all of them have."""
        usual = Annotations(("DV",))
        return read_notation(
            _LETTER.sub(lambda it: usual.of(self._operation(it))[0], self.notation)
        )

    def _kinds(self, annotations: Annotations) -> dict[tuple[str, int], tuple[str, ...]]:
        """By choice, what may be chosen."""
        found = {}
        for each in _LETTER.finditer(self.notation):
            some = annotations.of(self._operation(each))
            found[self._key(each)] = ("na", *some) if each[0] == "d" else some
        return found

    def _operation(self, letter: re.Match[str]) -> str:
        """The operation that a letter is of, `st` or `st.rlx`."""
        found = _OPERATION.search(self.notation, 0, letter.start())
        assert found is not None
        return found[0]

    def _key(self, letter: re.Match[str]) -> tuple[str, int]:
        """What chooses for a letter: its operation, or its thread."""
        place = letter.start()
        return letter[0], self.notation.count("||", 0, place) if letter[0] == "t" else place


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """meaning: what its tests show, in a sentence without its full stop.

    devices: whether there is one on several devices, too. far: on two devices or more; otherwise
    on one device. distinct: without the tests that are another up to the names of threads,
    work-groups, devices and locations.
    """

    name: str
    meaning: str
    shapes: tuple[Shape, ...]
    devices: bool = False
    far: bool = False
    annotations: Annotations = USUAL
    distinct: bool = False

    def on_devices(self) -> Family:
        """The same shapes on two devices or more, with scope ALL among the choices."""
        name, meaning = f"{self.name}{_ON_DEVICES}", f"{self.meaning}, across devices"
        annotations = replace(self.annotations, scopes=FAR)
        return replace(self, name=name, meaning=meaning, far=True, annotations=annotations)

    def with_annotations(self, asked: Annotations) -> Family:
        """The same shapes with other choices; scopes that are not asked for are as they were."""
        return replace(
            self, annotations=replace(asked, scopes=asked.scopes or self.annotations.scopes)
        )

    def counts(self) -> list[tuple[str, int]]:
        """The notation of each shape, and how many tests have it."""
        if not self.distinct and self.annotations.memories == USUAL.memories:
            ways = {n: len(self._groupings(n)) for n in {it.threads for it in self.shapes}}
            return [
                (it.notation, it.size(self.annotations) * ways[it.threads]) for it in self.shapes
            ]
        counts = dict.fromkeys((it.notation for it in self.shapes), 0)
        for shape, _ in self._placed():
            counts[shape.notation] += 1
        return list(counts.items())

    @property
    def most(self) -> int:
        """As many tests as it may have, told without a look at them."""
        return sum(
            it.size(self.annotations) * len(self._groupings(it.threads)) for it in self.shapes
        )

    def tests(self) -> Iterator[Test]:
        """Every test, in an order that is always the same; titles are unique in all families."""
        family = self.name.removesuffix(_ON_DEVICES)
        told = f"Family {self.name} of `rspverify generate`: {self.meaning}."
        for shape, test in self._placed():
            comment = f"{told} Shape: {shape.notation}."
            local = f".local-{''.join(sorted(test.local))}" if test.local else ""
            title = f"{family}{local}+{test.name}"
            yield Test(title, litmus_text(test, title, comment=comment, asks=shape.asks))

    def _placed(self) -> Iterator[tuple[Shape, LitmusTest]]:
        """Every test of each shape, with its threads placed."""
        met: set[str] = set()
        for shape in self.shapes:
            for alone in shape.choices(self.annotations):
                for places in self._groupings(shape.threads):
                    placed = zip(places, alone.threads, strict=True)
                    test = alone.with_threads(Thread(it, own.accesses) for it, own in placed)
                    known = _first_of_alike(test) if self.distinct else ""
                    if _local_to_groups(test) and known not in met:
                        met |= {known} if self.distinct else set()
                        yield shape, test

    def _groupings(self, threads: int) -> tuple[Grouping, ...]:
        return tuple((groupings_on_devices if self.far else groupings)(threads))


def _local_to_groups(test: LitmusTest) -> bool:
    """Whether each location in local memory is one work-group's."""
    return all(
        len({it.place for it in test.threads if any(x in each.locations for each in it.accesses)})
        <= 1
        for x in test.local
    )


def _first_of_alike(test: LitmusTest) -> str:
    """A line that tests have in common that differ in the names of threads, places, locations."""
    return min(notation(_renamed(test.with_threads(it))) for it in permutations(test.threads))


def _renamed(test: LitmusTest) -> LitmusTest:
    """A test whose locations are called as they first occur."""
    names = {x.name: f"x{number}" for number, x in enumerate(test.locations)}

    def renamed(it: Access) -> Access:
        location = it.location and names[it.location]
        expected = names[it.expected] if isinstance(it.expected, str) else it.expected
        return replace(it, location=location, expected=expected)

    threads = (replace(it, accesses=tuple(map(renamed, it.accesses))) for it in test.threads)
    locations = (replace(x, name=names[x.name]) for x in test.locations)
    return LitmusTest(tuple(threads), tuple(locations))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    """What families.yaml says."""

    letters: dict[str, str]
    families: tuple[Family, ...]


_SAID = msgspec.yaml.decode(Path(__file__).with_name("families.yaml").read_bytes(), type=_File)

LETTERS = tuple(_SAID.letters.items())
"""What the letters of the shapes stand for."""

FAMILIES = {it.name: it for it in _SAID.families}
"""Those of `generate all`, on one device."""

DEVICE_FAMILIES = {
    it.name: it for it in (each.on_devices() for each in _SAID.families if each.devices)
}
"""Those of `generate all-devices`."""

_TOGETHER = {"all": FAMILIES, "all-devices": DEVICE_FAMILIES}


MOST = 30_000
"""So many tests are written unless more are asked for."""


def chosen(
    name: str, asked: Annotations | None = None, *, distinct: bool = False
) -> dict[str, Family] | dict[str, RowFamily]:
    """The families that a command line means, by the folder that each gets: of one, no folder.

    asked: other choices for their letters. distinct: of tests that differ in names alone, one.
    Raises InputError for a name that is none.
    """
    if name == ROWS:
        message = "the family rows must stand alone: it has its own scopes, orders and memories"
        require(asked is None and not distinct, message)
        return {"": RowFamily()}
    known = FAMILIES | DEVICE_FAMILIES
    if name in _TOGETHER:
        found = dict(_TOGETHER[name])
    elif name in known:
        found = {"": known[name]}
    else:
        names = [*known, ROWS, *_TOGETHER]
        hint = guess(name, names) or "`rspverify generate --list` shows them"
        message = f"the family must be one of {', '.join(names)}, not {name}"
        raise InputError([Problem(None, message, hint)])
    if asked is not None:
        found = {place: each.with_annotations(asked) for place, each in found.items()}
    return {place: replace(each, distinct=distinct) for place, each in found.items()}


def require_few(families: Mapping[str, Family | RowFamily], limit: int = MOST) -> None:
    """Raises InputError if families may have more tests than a limit, told without making them."""
    most = sum(each.most for each in families.values())
    if most > limit:
        message = f"a family must have at most {limit:,} tests, not {most:,}"
        hint = "--scopes, --orders and --memories leave choices out; --limit allows more"
        raise InputError([Problem(None, message, hint)])


def write_tests(families: Mapping[str, Family | RowFamily], folder: Path | str) -> dict[str, int]:
    """Write the tests of families and return how many each has; `families` is by folder name.

    A folder name is below `folder`; the empty one is `folder` itself. Raises InputError, with
    nothing written, if a file that is there says something else, and if a folder cannot be used.
    """
    tests = {place: list(family.tests()) for place, family in families.items()}
    texts = {Path(folder) / place / it.file: it.text for place, its in tests.items() for it in its}
    write_new(texts, "the test of this name")
    return {families[place].name: len(its) for place, its in tests.items()}
