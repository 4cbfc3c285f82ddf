"""The tests and schemes that an engineer's question is about, and schemes that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from rspverify.answers import Subject
from rspverify.engineering.mutation import FileAndReason
from rspverify.files import write_new
from rspverify.judge.inputs import LoadedTest, NamedScheme, read_tests
from rspverify.judge.judge import Judge
from rspverify.judge.run import read_inputs
from rspverify.judge.verdicts import Verdicts
from rspverify.soundness.settings import Settings
from rspverify.source import Given, Problems, Source
from rspverify.translators import Translator, names_compiler


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
        return subject_of(named.scheme, named.file, verdicts.model.name, verdicts.settings)


def subject_of(scheme: Translator, file: str, model: str, settings: Settings) -> Subject:
    """What is asked about, and how it is decided."""
    path = scheme.machine.path or None if scheme.machine else None
    target = scheme.machine is None
    return Subject(scheme.name, file, scheme.runs_on, model, settings.engine, path, target)


def read_setup(
    schemes: Sequence[Given],
    tests: Iterable[Given],
    settings: Settings,
    judge: Judge,
    *,
    compilers: bool = False,
) -> Setup:
    """All that is named, read; schemes may have one name. Raises InputError for all mistakes.

    compilers: whether there may be compilers; their rows are what the tests become.
    """
    problems, assembly = Problems(), False
    with problems:
        run = read_inputs(schemes, settings, judge, unique=False, compilers=compilers)
        assembly = any(it.language for it in run.schemes)
    found, unread = read_tests(tests, settings, problems, assembly=assembly)
    problems.tell()
    named = tuple(_with_rows(each, found) for each in run.schemes)
    return Setup(named, found, tuple(FileAndReason(*each) for each in unread), run.verdicts)


def _with_rows(named: NamedScheme, tests: Iterable[LoadedTest]) -> NamedScheme:
    """A table as it is; of a compiler for a processor that of C's atomics; one for a machine with
    what it makes of tests as its rows."""
    if not names_compiler(named.file):
        return named
    from rspverify.compilers.cpu_tables import cpu_table
    from rspverify.compilers.cpus import ForCpu
    from rspverify.compilers.gpus import ForGpu
    from rspverify.compilers.observed import observed
    from rspverify.mapping.reader import read_table

    compiler = named.translator
    if isinstance(compiler, ForCpu):
        text = str(cpu_table(compiler))
        return NamedScheme.by(read_table(Source(named.file, text)), named.file)
    assert isinstance(compiler, ForGpu)
    return NamedScheme.by(observed(compiler, (each.program for each in tests)), named.file)


def write_schemes(texts: Mapping[str, str], folder: str) -> dict[str, str]:
    """Write schemes, given by name, and return the path of each by its name.

    Raises InputError, with nothing written, if a file that is there says something else, and if
    the folder cannot be used.
    """
    places = {name: Path(folder, f"{name}.yaml") for name in texts}
    write_new({places[name]: text for name, text in texts.items()}, "the scheme of this name")
    return {name: str(place) for name, place in places.items()}
