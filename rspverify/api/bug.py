"""What a tracker is to be told of one result, of a scheme or a compiler."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from rspverify.api.compilers import tables_of
from rspverify.api.explained import Explained
from rspverify.compilers.compilation import Compilation
from rspverify.engineering.mend import mend
from rspverify.judge.explain import explain as explained
from rspverify.judge.incident import reporting
from rspverify.judge.inputs import NamedScheme
from rspverify.limits import LimitReached
from rspverify.render.bug import Emitted, Table, document
from rspverify.render.document import Document
from rspverify.scheme.reader import read_scheme
from rspverify.soundness.case import Case
from rspverify.soundness.settings import explain_command
from rspverify.source import InputError
from rspverify.verdict import Word


def bug(found: Explained) -> Document:
    """The document of a result that is not as one wishes."""
    test, scheme, verdicts = found.test, found.scheme, found.verdicts
    with reporting(found.incident):
        it, emitted = scheme.translator, None
        if isinstance(it, Compilation):
            command = shlex.join(it.compiler.command(it.processor))
            module, assembly = it.module(test.program), it.emitted(test.program).text
            emitted = Emitted(it.origin, command, module, assembly)
        table = _told(lambda: _table(found))
    again = explain_command(scheme.file, test.file, verdicts.settings)
    return document(found.detail(), emitted, table, again)


def _told(ask: Callable[[], Table]) -> Table:
    try:
        return ask()
    except LimitReached as limit:
        return Table("", mend=f"Not known: {limit}.")
    except InputError as error:
        return Table("", mend=f"Not known: {error}.")


def _table(found: Explained) -> Table:
    """The scheme itself; of a compiler the table that is read out of it."""
    test, scheme, verdicts = found.test, found.scheme, found.verdicts
    if not scheme.translator.whole:
        return _mended(found, scheme)
    (source,) = tables_of([scheme.file], [test.file], verdicts.settings)
    read = read_scheme(source).on_machine(scheme.machine)
    named = NamedScheme.by(read, source.name)
    of_table = explained(test, named, verdicts)
    if of_table.verdict.word is Word.SOUND:
        return Table(read.name, of_table.threads)
    return _mended(found, named)


def _mended(found: Explained, scheme: NamedScheme) -> Table:
    verdicts = found.verdicts
    case = Case(found.test.program, scheme.translator, verdicts.model, verdicts.settings)
    return Table(scheme.name, mend=mend(case))
