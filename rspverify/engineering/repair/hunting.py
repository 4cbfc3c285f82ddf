"""Survivors put to all programs within bounds, by `hunt`."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.engineering.hunt.by_programs import first_broken
from rspverify.engineering.hunt.operations import row_shape
from rspverify.engineering.repair.answer import Hunted
from rspverify.enumeration.space import DEVICES, ONE_DEVICE, Space, access_of
from rspverify.enumeration.survey import Survey
from rspverify.judge.loaded_test import LoadedTest
from rspverify.judge.verdicts import Verdicts
from rspverify.scheme import Scheme

_THREADS = 3


class Hunt:
    """All programs of so many operations at most, of those that a scheme has rows for.

    Up to three threads, in as many work-groups; on two devices where it has rows for scope ALL.
    again: whether candidates may store again what an operation has written.
    """

    def __init__(self, verdicts: Verdicts, scheme: Scheme, events: int, *, again: bool) -> None:
        self._settings = verdicts.settings
        names = [name for name in DEVICES if row_shape(access_of(name)) in scheme.table]
        devices = 1 if set(names) <= set(ONE_DEVICE) else 2
        space = Space(events, _THREADS, _THREADS, devices, operations=tuple(names), again=again)
        self._survey = Survey(space, verdicts.model, verdicts.judge)

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds, by name."""
        return self._survey.space.bounds

    def of(self, scheme: Scheme) -> LoadedTest | Hunted:
        """The smallest program that breaks a scheme; or what is known as there is none."""
        found = first_broken(self._survey, scheme, self._settings)
        if found.test is not None:
            return found.test
        unknown = len(found.unknown)
        return Hunted(self.bounds, found.programs, found.decided, unknown)
