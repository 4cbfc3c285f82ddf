"""The tests and schemes that an engineer's question is about, and schemes that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from rspverify.answers import Subject
from rspverify.engineering.mutation import FileAndReason
from rspverify.files import write_new
from rspverify.judge.inputs import LoadedTest, NamedScheme, read_inputs, read_tests
from rspverify.judge.judge import Judge
from rspverify.judge.verdicts import Verdicts
from rspverify.soundness.settings import Settings
from rspverify.source import Given, Problems


class Setup(Struct, frozen=True):
    """Schemes and tests, read, and who decides them.

    tests: the smallest first. left_out: tests that this version cannot read, and why.
    """

    schemes: tuple[NamedScheme, ...]
    tests: tuple[LoadedTest, ...]
    left_out: tuple[FileAndReason, ...]
    verdicts: Verdicts

    @property
    def subject(self) -> Subject:
        """The first scheme, and how it is decided."""
        named, verdicts = self.schemes[0], self.verdicts
        machine, engine = named.scheme.machine, verdicts.settings.engine
        model, file = verdicts.model.name, machine.path or None
        return Subject(named.name, named.file, machine.name, model, engine, file)


def read_setup(
    schemes: Sequence[Given], tests: Iterable[Given], settings: Settings, judge: Judge
) -> Setup:
    """All that is named, read; schemes may have one name. Raises InputError for all mistakes."""
    problems = Problems()
    with problems:
        inputs = read_inputs(schemes, settings, judge, unique=False)
    found, unread = read_tests(tests, settings, problems)
    problems.tell()
    verdicts = Verdicts(judge, inputs.named, inputs.settings)
    return Setup(inputs.schemes, found, tuple(FileAndReason(*each) for each in unread), verdicts)


def write_schemes(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """Write schemes, given by name, and return the path of each by its name.

    Raises InputError, with nothing written, if a file that is there says something else, and if
    the folder cannot be used.
    """
    places = {name: Path(folder, f"{name}.yaml") for name in texts}
    write_new({places[name]: text for name, text in texts.items()}, "the scheme of this name")
    return {name: str(place) for name, place in places.items()}
