"""A run of a machine on a test in assembly, step by step."""

from __future__ import annotations

from msgspec import Struct

from rspverify.answers import MachineRun
from rspverify.api.asked import framed
from rspverify.api.inputs import ATest, settled, tests_given
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.corpus.inputs import meant_by
from rspverify.judge.incident import reporting
from rspverify.judge.question import Incident
from rspverify.soundness.run import run_of
from rspverify.soundness.settings import OF_MACHINES, OPTIONS, Settings
from rspverify.source import InputError, Problem, Source, name_of, read_source
from rspverify.wording import alternatives

_TAKES = (*OF_MACHINES, "machine", "l2")
"""The settings that count for a test in assembly."""


class Traced(Struct, frozen=True):
    """A run of a machine; `print` and a notebook show its steps. source: the test."""

    run: MachineRun
    source: Source

    def __str__(self) -> str:
        from rspverify.render.evidence import machine_run
        from rspverify.render.forms.text import write

        return write(machine_run(self.run))

    def _repr_html_(self) -> str:
        from rspverify.render.evidence import machine_run
        from rspverify.render.forms.html import write

        return framed(write(machine_run(self.run, self.source.text)))


def trace(test: ATest, settings: Settings, ending: str | None = None) -> Traced:
    """A shortest run of the machine of the settings on a test in assembly, or that there is none.

    It satisfies the final condition of the test, or breaks it if that says `forall`. ending: it
    ends with these values instead, as in `1:r1=2 1:r2=0`. Raises InputError and LimitReached.
    """
    settings = settled(settings)
    (given,) = meant_by(tests=tests_given(test) or ()).tests
    incident = Incident("explain", (name_of(given),), (), settings)
    with reporting(incident):
        source = read_source(given)
        program = settings.read(source, assembly=True)
        if not program.in_assembly:
            message = f"a test in {program.language} must be explained under a scheme"
            hint = f"rspverify explain SCHEME {source.name}"
            raise InputError([Problem(None, f"{source.name}: {message}", hint)])
        _require_machine(source.name, program.language, settings)
        assert settings.machine is not None
        return Traced(run_of(program, machine_named(settings.machine), settings, ending), source)


def _require_machine(test: str, language: str, settings: Settings) -> None:
    """Raises InputError where no machine is named, or a setting has no meaning for one."""
    problems = [
        Problem(None, f"{option.name} must go with a scheme: a machine alone runs {test}")
        for name, option in OPTIONS.items()
        if name not in _TAKES and getattr(settings, name) != getattr(Settings(), name)
    ]
    if settings.machine is None:
        message = f"{test}: a test in {language} must be put to a machine, and none is named"
        problems.append(
            Problem(None, message, f"--machine names one: {alternatives(tuple(MACHINES))}")
        )
    if problems:
        raise InputError(problems)
