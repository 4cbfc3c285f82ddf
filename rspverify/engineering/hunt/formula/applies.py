"""Where a hunt may go by formula."""

from __future__ import annotations

from rspverify.engineering.hunt.assumptions import gives_back, stores_again
from rspverify.engineering.hunt.operations import row_shape
from rspverify.enumeration.survey import Survey
from rspverify.scheme import Row, Scheme
from rspverify.soundness.settings import L2, Settings


def why_not(survey: Survey, scheme: Scheme, settings: Settings) -> str | None:
    """Why the programs of a space cannot be decided by formula under a scheme; None if they can.

    The sketches have the programs that must be decided under a scheme that gives back its locks and
    stores once (Sort.CORE, proved for opencl-rsp), on one device, without plain accesses of atomic
    locations.
    """
    space = survey.space
    if not survey.argued:
        return (
            f"formulas need lemmas that are not proved for what the model {survey.model.name} says"
        )
    if space.devices > 1:
        return "formulas are for one device"
    if space.mixed:
        return "formulas have no plain operations on atomic locations"
    if settings.l2 is not L2.AUTO:
        return "formulas leave L2s out"
    if space.again or stores_again(scheme):
        return "some row of the scheme stores again what it has written"
    if not gives_back(scheme):
        return "some row of the scheme does not give back the locks that it takes"
    for access in space.accesses:
        row = scheme.table[row_shape(access)]
        if not _accesses_once(row):
            return f"row {row.number} accesses its location more than once"
    return None


def _accesses_once(row: Row) -> bool:
    accesses = [each for each in row.code if each.accesses]
    return len(accesses) == 1 and accesses[0].reach is None
