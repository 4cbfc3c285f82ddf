"""One verdict with all that it rests on."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from rspverify.answers import Detail, Explanation, Reached, SuiteReport
from rspverify.api.asked import Stop, framed, printed, stoppable
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.axiomatic import load_model
from rspverify.corpus.inputs import meant_by
from rspverify.judge.answers import command_of
from rspverify.judge.explain import Reach
from rspverify.judge.explain import explain as explained
from rspverify.judge.incident import Incident, reporting
from rspverify.judge.judge import Judge
from rspverify.judge.loaded_test import LoadedTest, read_test
from rspverify.judge.reading import load_scheme
from rspverify.judge.verdicts import Named, Verdicts
from rspverify.limits import Limits
from rspverify.picture import Picture
from rspverify.soundness.settings import Settings
from rspverify.source import name_of, read_source
from rspverify.verdict import Word


class Explained(Struct, frozen=True, eq=False, dict=True):
    """One test under one scheme, explained.

    explanation: the verdict, its execution, and what else it rests on. limits: what the time limit
    leaves for the outcomes that are listed.
    """

    explanation: Explanation
    test: LoadedTest
    scheme: Named
    verdicts: Verdicts
    incident: Incident
    limits: Limits

    def reached(self) -> tuple[Reached, Stop]:
        """The outcomes that the machine reaches of a SOUND test, up to 100; why no more."""
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

    def __str__(self) -> str:
        from rspverify.render.explanation_text import explanation, reached

        parts = list(explanation(self.explanation))
        if self.lists_outcomes:
            parts += reached(self.reached()[0])
        return printed(parts)

    def _repr_html_(self) -> str:
        from rspverify.render.check_html import html

        result, source = self.explanation.result, self.test.source
        table = self.scheme.code_of(source, self.verdicts.settings)
        command = command_of(result, self.verdicts.settings)
        detail = Detail(source.text, table.text, command, self.explanation, self.picture)
        report = SuiteReport(
            folder="",
            about="",
            noun="scheme",
            names=(result.scheme,),
            total=1,
            results=(result,),
            held=None,
            seconds=result.seconds,
            details={(result.file, result.scheme_file): detail},
        )
        return framed(html([report]))

    def _repr_svg_(self) -> str | None:
        from rspverify.render.draw_svg import page

        return None if self.picture is None else page([self.picture])


def explain(scheme: AScheme, test: ATest, settings: Settings | None = None) -> Explained:
    """One verdict: the counterexample step by step, the race, or how far the verdict reaches.

    A notebook shows the execution that the model forbids; `print` what `rspverify explain` prints.
    Raises InputError.
    """
    settings = settled(settings)
    meant = meant_by(schemes=schemes_given(scheme), tests=tests_given(test) or ())
    (table,), (file,) = meant.schemes, meant.tests
    incident = Incident("explain", (name_of(file),), (name_of(table),), settings)
    limits = settings.limits()
    with reporting(incident):
        named = Named.by(load_scheme(table, settings), name_of(table), settings)
        loaded = read_test(read_source(file), settings)
        verdicts = Verdicts(Judge(), load_model(settings.model), settings)
        found = explained(loaded, named, verdicts)
    return Explained(found, loaded, named, verdicts, incident, limits)
