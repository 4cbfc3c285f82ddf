"""Reports that a command writes beside its output, each to a file of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from rspverify.source import InputError, Problem

F = TypeVar("F", bound=StrEnum)


class Form(StrEnum):
    """Forms that --format and --report of `check` take."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"
    SARIF = "sarif"
    MARKDOWN = "markdown"
    GITHUB = "github"
    HTML = "html"


class PageForm(StrEnum):
    """Forms that --format takes of commands whose answers are pages, too."""

    TEXT = "text"
    JSON = "json"
    HTML = "html"


WRITTEN = (PageForm.JSON, PageForm.HTML)
"""Those of them that --report takes: text is printed as it comes."""


def reports_meant(
    given: Iterable[str], taken: Iterable[str | None], forms: Iterable[F]
) -> dict[str, F]:
    """The form that is to be written to each file, from `FORM=FILE`.

    taken: files that are read, or written otherwise. Raises InputError with all that is wrong.
    """
    places = {os.path.realpath(each) for each in taken if each is not None}
    known = {str(each): each for each in forms}
    found: dict[str, F] = {}
    problems = []
    for each in given:
        name, _, file = each.partition("=")
        place = os.path.realpath(file)
        if name not in known or not file:
            message = f"--report must be FORM=FILE, FORM one of {', '.join(known)}, not {each}"
            problems.append(Problem(None, message))
        elif not os.path.isdir(os.path.dirname(place)):
            message = f"--report {each}: the folder of the file must exist"
            problems.append(Problem(None, message))
        elif place in places:
            message = f"--report {each}: the file must be named once, and be no input"
            problems.append(Problem(None, message))
        else:
            found[file] = known[name]
        places.add(place)
    if problems:
        raise InputError(problems)
    return found


def write_reports(texts: Mapping[F, Callable[[], str]], files: Mapping[str, F]) -> list[Problem]:
    """Write each form to its file, whole or not at all; what could not be written is returned."""
    from rspverify.files import write

    problems: list[Problem] = []
    for file, form in files.items():
        try:
            write(file, texts[form]())
        except InputError as error:
            problems += error.problems
    return problems
