"""What all that translates programs for a machine says of it."""

from __future__ import annotations

from rspverify.architecture.architecture import Architecture


class ForMachine:
    """A translator from OpenCL and C whose code a machine executes (rspverify/translators.py)."""

    __slots__ = ()
    machine: Architecture

    @property
    def runs_on(self) -> str:
        """The name of its machine."""
        return self.machine.name

    @property
    def identity(self) -> str:
        """What keys have of its machine."""
        return self.machine.identity

    @property
    def path(self) -> str:
        """The file of its machine, empty where that ships."""
        return self.machine.path

    @property
    def language(self) -> str | None:
        """It translates from OpenCL and C."""
        return None
