"""By proof: the scheme is sound for all programs of the space's operations, whatever their size."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from rspverify.engineering.hunt.finding import By
from rspverify.engineering.hunt.operations import row_shape
from rspverify.engineering.hunt.strategy import Strategy
from rspverify.enumeration.survey import Survey
from rspverify.litmus.program import GLOBAL
from rspverify.proof.covered import Proved, proved
from rspverify.soundness.settings import Reading, Settings
from rspverify.translators import Translator, is_scheme, table_of


def proof_of(survey: Survey, scheme: Translator, settings: Settings) -> Proved | None:
    """What proves a scheme for all programs of a space's operations; None if nothing does.

    Proofs are for opencl-rsp, one device, global memory, and locations that are accessed in one
    way: all atomically, or none.
    """
    space = survey.space
    if (space.devices, space.memories, space.mixed) != (1, (GLOBAL,), False):
        return None
    if not is_scheme(scheme) or not survey.argued or settings.reading is not Reading.OUTCOME:
        return None
    return proved(table_of(scheme), map(row_shape, space.accesses))


@dataclass(eq=False)
class ByProof(Strategy):
    """Finds nothing, as there is nothing to be found under a scheme that is proved."""

    by = By.PROOF

    def broken(self) -> Generator[bytes, None, None]:
        """None."""
        self.complete = True
        yield from ()

    @property
    def done(self) -> int:
        """No question was decided."""
        return 0

    @property
    def unknown(self) -> tuple[str, ...]:
        """None is without an answer."""
        return ()

    @property
    def counted(self) -> bool:
        """No program is listed."""
        return False
