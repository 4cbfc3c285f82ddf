"""One verdict with all that it rests on."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from rspverify.answers import Explanation, Reached
from rspverify.api.asked import Stop, framed, stoppable
from rspverify.api.inputs import AScheme, ATest, schemes_given, settled, tests_given
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import meant_by
from rspverify.judge.explain import Reach
from rspverify.judge.explain import explain as explained
from rspverify.judge.incident import reporting
from rspverify.judge.inputs import LoadedTest, NamedScheme, read_test
from rspverify.judge.judge import Judge
from rspverify.judge.question import Incident
from rspverify.judge.verdicts import Verdicts
from rspverify.limits import Limits
from rspverify.picture import Picture
from rspverify.records import replace
from rspverify.soundness.settings import Settings
from rspverify.source import name_of, read_source
from rspverify.translators import read_translator
from rspverify.verdict import Word


class Explained(Struct, frozen=True, eq=False, dict=True):
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
        from rspverify.render.evidence import explanation, reached
        from rspverify.render.forms.text import write

        it = explanation(self.explanation)
        listed = reached(self.reached()[0]) if self.lists_outcomes else ()
        return write(replace(it, blocks=[*it.blocks, *listed]))

    def _repr_html_(self) -> str:
        from rspverify.render.evidence import explanation
        from rspverify.render.forms.html import write

        source = self.test.source.text
        return framed(write(explanation(self.explanation, source, self.picture)))

    def _repr_svg_(self) -> str | None:
        from rspverify.render.draw_svg import page

        return None if self.picture is None else page([self.picture])


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
        named = NamedScheme.by(read_translator(table, settings.machine), name_of(table), settings)
        loaded = read_test(read_source(file), settings)
        verdicts = Verdicts(Judge(), load_model(settings.model), settings)
        found = explained(loaded, named, verdicts)
    return Explained(found, loaded, named, verdicts, incident, limits)
