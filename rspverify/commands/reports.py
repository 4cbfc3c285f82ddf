"""Reports that `check` writes beside its output, each to a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from rspverify.source import InputError, Problem

if TYPE_CHECKING:
    from rspverify.answers import SuiteReport


class Form(StrEnum):
    """Forms that --format and --report take."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    MARKDOWN = "markdown"
    GITHUB = "github"
    HTML = "html"


def reports_meant(given: Iterable[str], taken: Iterable[str]) -> dict[str, Form]:
    """The form that is to be written to each file, from `FORM=FILE`.

    taken: files that are read, or written otherwise. Raises InputError with all that is wrong.
    """
    places = {os.path.realpath(each) for each in taken}
    forms = ", ".join(Form)
    found: dict[str, Form] = {}
    problems = []
    for each in given:
        name, _, file = each.partition("=")
        place = os.path.realpath(file)
        if name not in list(Form) or not file:
            problems.append(
                Problem(None, f"--report must be FORM=FILE, FORM one of {forms}, not {each}")
            )
        elif place in places:
            message = f"--report {each}: the file must be named once, and be no input"
            problems.append(Problem(None, message))
        else:
            found[file] = Form(name)
        places.add(place)
    if problems:
        raise InputError(problems)
    return found


def write_reports(reports: Sequence[SuiteReport], files: Mapping[str, Form]) -> list[Problem]:
    """Write each form to its file, whole or not at all; what could not be written is returned."""
    if not files:
        return []
    from rspverify.files import write
    from rspverify.render.check_forms import FORMS

    problems: list[Problem] = []
    for file, form in files.items():
        try:
            write(file, FORMS[form](reports))
        except InputError as error:
            problems += error.problems
    return problems
