"""What a tracker is to be told of one result, of a scheme or a compiler."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from rspverify.api.compilers import tables_of
from rspverify.api.explained import Explained
from rspverify.compilers.compilation import Compilation
from rspverify.engineering.mend import mend
from rspverify.judge.explain import explain as explained
from rspverify.judge.incident import reporting
from rspverify.judge.inputs import NamedScheme
from rspverify.limits import LimitReached, Limits
from rspverify.records import replace
from rspverify.render.bug import document, mended, unlike
from rspverify.render.document import Block, Compiled, Document, line
from rspverify.soundness.case import Case
from rspverify.soundness.settings import explain_command
from rspverify.source import InputError
from rspverify.translators import Translator, read_scheme_or_table
from rspverify.verdict import WRONG, Word

_SECONDS = 60.0
"""Seconds for what mends it, unless a time limit is given."""


def bug(found: Explained) -> Document:
    """The document of a result that is not as one wishes."""
    test, scheme, settings = found.test, found.scheme, found.verdicts.settings
    compiler, texts = "", {}
    with reporting(found.incident):
        it = scheme.translator
        if isinstance(it, Compilation):
            compiler, command = it.origin, shlex.join(it.compiler.command(it.goal))
            texts[f"What is compiled by {command}"] = it.module(test.program)
            texts["What is emitted"] = it.emitted(test.program).text
        try:
            change = list(_change(found))
        except (LimitReached, InputError) as why:
            change = [line(f"Not known: {why}.")]
    texts["To see it again"] = explain_command(scheme.file, test.file, settings)
    return document(found.detail(), compiler, change, texts)


def _change(found: Explained) -> Iterable[Block]:
    """What mends the scheme, or of a compiler the table that is read out of it."""
    test, scheme, verdicts = found.test, found.scheme, found.verdicts
    if found.explanation.verdict.word not in WRONG:
        return [line("None is needed: no execution is wrong.")]
    if scheme.translator.whole:
        (source,) = tables_of([scheme.file], [test.file], verdicts.settings)
        machine = scheme.translator.machine
        table: Translator = read_scheme_or_table(source)
        table = table if machine is None else table.on_machine(machine)
        scheme = NamedScheme.by(table, source.name)
        alone = explained(test, scheme, verdicts)
        if alone.verdict.word is Word.SOUND:
            return unlike(scheme.name, Compiled(alone.threads))
    settings = replace(verdicts.settings, shortest=False)
    case = Case(test.program, scheme.translator, verdicts.model, settings)
    return mended(scheme.name, mend(case, Limits(verdicts.settings.seconds or _SECONDS)))
