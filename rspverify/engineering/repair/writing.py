"""Schemes that were found, as files."""

from __future__ import annotations

from dataclasses import replace

from rspverify.engineering.repair.answer import RepairReport
from rspverify.engineering.repair.run import Repair
from rspverify.engineering.written import write_schemes
from rspverify.scheme import scheme_text


def written_to(folder: str, repair: Repair, report: RepairReport) -> RepairReport:
    """The report once each scheme that was found is in a file called after it.

    Raises InputError.
    """
    texts: dict[str, str] = {}
    for place, found in enumerate(report.found):
        scheme = repair.scheme_of(place)
        changed = ", ".join(str(row.row) for row in found.rows if row.changed)
        comment = f"{report.subject.file}, but rows {changed or 'as they were'}; cost {found.cost}"
        texts[found.name] = scheme_text(scheme, comment)
    paths = write_schemes(texts, folder)
    return replace(
        report, found=tuple(replace(each, written=paths[each.name]) for each in report.found)
    )
