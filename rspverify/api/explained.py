"""One verdict with all that it rests on, for a tracker too; a run of a machine on a test."""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from rspverify.answers import Detail, Explanation, MachineRun, Reached
from rspverify.api.asked import Formed, Stop, stoppable
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.architecture.machines import MACHINES, machine_named
from rspverify.corpus.inputs import meant_by
from rspverify.judge.explain import Reach
from rspverify.judge.explain import explain as explained
from rspverify.judge.incident import reporting
from rspverify.judge.inputs import LoadedTest, NamedScheme, named_model, read_test
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident
from rspverify.judge.verdicts import Verdicts
from rspverify.limits import LimitReached, Limits
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.render.document import Block, Compiled, Document, line
from rspverify.soundness.case import Case
from rspverify.soundness.run import run_of
from rspverify.soundness.settings import OF_MACHINES, OPTIONS, Settings, explain_command
from rspverify.source import InputError, Problem, Problems, Source, name_of, read_source
from rspverify.translators import Translator, read_scheme_or_table, read_translator
from rspverify.verdict import WRONG, Word
from rspverify.wording import alternatives

_OF_ASSEMBLY = (*OF_MACHINES, "machine", "l2")
"""The settings that count for a test in assembly."""


class _OnAPage(Struct, Formed, frozen=True):
    """What `print` and a notebook show."""

    @abstractmethod
    def document(self, *, page: bool = False, queues: bool = False) -> Document:
        """All of it. page: as a page or JSON has it. queues: whether a text has what is in queues,
        too."""

    def form(self, form: str) -> str:
        """The same as a text of some form, as `--format` has them."""
        from rspverify.render.forms import write

        return write(form, self.document(page=form != "text"))


class Explained(_OnAPage, frozen=True, eq=False, dict=True):
    """One test under one scheme, explained.

    explanation: the verdict, its execution, and what else it rests on. limits: what the time limit
    leaves for the outcomes that are listed.
    """

    explanation: Explanation
    test: LoadedTest
    scheme: NamedScheme
    verdicts: Verdicts
    incident: Incident
    limits: Limits

    def reached(self) -> tuple[Reached, Stop]:
        """The outcomes that the machine reaches of a SOUND test, up to 100; why no more."""
        return self._reached

    @cached_property
    def _reached(self) -> tuple[Reached, Stop]:
        with reporting(self.incident):
            reach = Reach(self.test, self.scheme, self.verdicts, self.limits)
            with stoppable() as stop:
                reach.find()
        return reach.answer(), stop

    @property
    def lists_outcomes(self) -> bool:
        """Whether the outcomes that the machine reaches belong to it."""
        sound = self.explanation.verdict.word is Word.SOUND
        return sound and not self.verdicts.settings.progress

    @cached_property
    def picture(self) -> Picture | None:
        """The wrong outcome as an execution that the model forbids; None where there is none."""
        from rspverify.drawing.details import drawn_forbidden

        outcome, verdicts = self.explanation.result.outcome, self.verdicts
        if outcome is None:
            return None
        return drawn_forbidden(self.test, verdicts.model, outcome, verdicts.settings).picture

    def verdict(self, *, queues: bool = False) -> Document:
        """As text, but for the outcomes that the machine reaches."""
        from rspverify.render.evidence import explanation

        return explanation(Detail("", "", "", self.explanation), queues=queues)

    def document(self, *, page: bool = False, queues: bool = False) -> Document:
        """All of it: the outcomes, and on a page the picture and the files."""
        from rspverify.render.evidence import explanation, reached

        if page:
            return explanation(self.detail())
        listed = reached(self.reached()[0]) if self.lists_outcomes else ()
        it = self.verdict(queues=queues)
        return replace(it, blocks=[*it.blocks, *listed])

    def detail(self) -> Detail:
        """All that there is of it."""
        source, settings = self.test.source, self.verdicts.settings
        code = self.scheme.code_of(source, settings).text or self.scheme.source.text
        command = explain_command(
            self.scheme.file, self.test.file, settings, progress=settings.progress
        )
        listed = self.reached()[0] if self.lists_outcomes else None
        return Detail(source.text, code, command, self.explanation, self.picture, reached=listed)

    def _repr_svg_(self) -> str | None:
        from rspverify.render.drawn import svg

        return None if self.picture is None else svg([self.picture])


def explain(scheme: AScheme, test: ATest, settings: Settings | None = None) -> Explained:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    `trace` is for tests in PTX. A notebook shows the execution that the model forbids; `print` what
    `rspverify explain` prints. Raises InputError.
    """
    settings = settled(settings)
    meant = meant_by(schemes=schemes_given(scheme), tests=tests_given(test) or ())
    (table,), (file,) = meant.schemes, meant.tests
    incident = Incident("explain", (name_of(file),), (name_of(table),), settings)
    limits = settings.limits()
    with reporting(incident):
        named = NamedScheme.by(read_translator(table, settings.machine), name_of(table))
        loaded = read_test(read_source(file), settings, assembly=named.language is not None)
        verdicts = Verdicts(Judge(), named_model(settings.model), settings)
        found = explained(loaded, named, verdicts)
    return Explained(found, loaded, named, verdicts, incident, limits)


# ---- for a tracker -------------------------------------------------------------------------------

_SECONDS = 60.0
"""Seconds for what mends it, unless a time limit is given."""


def bug(found: Explained) -> Document:
    """What a tracker is to be told of a result that is not as one wishes."""
    from rspverify.compilers.compilation import Compilation
    from rspverify.render.bug import document

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
    from rspverify.api.compilers import tables_of
    from rspverify.engineering.mend import mend
    from rspverify.render.bug import mended, unlike

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


# ---- a run of a machine --------------------------------------------------------------------------


class Traced(_OnAPage, frozen=True):
    """A run of a machine, step by step. source: the test."""

    run: MachineRun
    source: Source

    def document(self, *, page: bool = False, queues: bool = False) -> Document:
        """Its steps."""
        from rspverify.render.evidence import machine_run

        return machine_run(self.run, self.source.text if page else "", queues=queues)


def trace(test: ATest, settings: Settings, ending: str | None = None) -> Traced:
    """A shortest run of the machine of the settings on a test in assembly, or that there is none.

    It satisfies the final condition of the test, or breaks it if that says `forall`. ending: it
    ends with these values instead, as in `1:r1=2 1:r2=0`. Raises InputError and LimitReached.
    """
    settings = settled(settings)
    (given,) = meant_by(tests=tests_given(test) or ()).tests
    with reporting(Incident("explain", (name_of(given),), (), settings)):
        source = read_source(given)
        program = settings.read(source, assembly=True)
        if not program.in_assembly:
            message = f"a test in {program.language} must be explained under a scheme"
            hint = f"rspverify explain SCHEME {source.name}"
            raise InputError([Problem(None, f"{source.name}: {message}", hint)])
        machine = _machine(source.name, program.language, settings)
        return Traced(run_of(program, machine_named(machine), settings, ending), source)


def _machine(test: str, language: str, settings: Settings) -> str:
    """Raises InputError where none is named, or a setting has no meaning for one."""
    problems = Problems(
        Problem(None, f"{option.name} must go with a scheme: a machine alone runs {test}")
        for name, option in OPTIONS.items()
        if name not in _OF_ASSEMBLY and getattr(settings, name) != getattr(Settings(), name)
    )
    if settings.machine is None:
        message = f"{test}: a test in {language} must be put to a machine, and none is named"
        hint = f"--machine names one: {alternatives(tuple(MACHINES))}"
        problems.append(Problem(None, message, hint))
    problems.tell()
    return settings.machine or ""
