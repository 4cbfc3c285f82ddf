"""One sketch: candidates of its formula, each excluded with all that share the cause, until one
breaks the scheme or there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from msgspec import Struct

from rspverify.answers import Internal
from rspverify.axiomatic.model import MemoryModel
from rspverify.engineering.hunt.formula.covered import renumbered, without_covered
from rspverify.engineering.hunt.formula.learnt import racing_like
from rspverify.engineering.hunt.formula.question import suspicious
from rspverify.engineering.hunt.formula.sketch import Sketch
from rspverify.engineering.hunt.formula.template import Template, has_programs
from rspverify.engineering.hunt.strategy import program_named
from rspverify.enumeration.lemmas import without_idle_if
from rspverify.enumeration.naming import line_of
from rspverify.enumeration.packed import PackedTest, canonical, encoded
from rspverify.enumeration.races import races
from rspverify.enumeration.space import Space
from rspverify.enumeration.tables import Tables
from rspverify.limits import LimitReached, Limits
from rspverify.records import replace
from rspverify.scheme.scheme import Scheme
from rspverify.smt.term import all_of
from rspverify.soundness.case import Case
from rspverify.soundness.check import check
from rspverify.soundness.settings import Settings
from rspverify.verdict import WRONG, Verdict, Word


class SketchAnswer(Struct, frozen=True):
    """What is known of the programs of a sketch that must be decided.

    broken: one that is UNSOUND, as bytes in hexadecimal. Where there is none, all are sound but
    what `unknown` names, each with the reason. racy, allowed: how many candidates raced, and how
    many had outcomes that are allowed by another rf and mo. seconds: what it took.
    """

    broken: str = ""
    unknown: tuple[str, ...] = ()
    racy: int = 0
    allowed: int = 0
    internal: tuple[Internal, ...] = ()
    seconds: float = 0.0

    @property
    def sound(self) -> bool:
        """Whether no program of the sketch breaks the scheme."""
        return not self.broken and not self.unknown


@dataclass
class SketchSearch:
    """Searches the programs of a sketch for one that breaks a scheme."""

    space: Space
    scheme: Scheme
    model: MemoryModel
    settings: Settings
    _racy: int = field(default=0, init=False)
    _allowed: int = field(default=0, init=False)
    _unknown: list[str] = field(default_factory=list, init=False)

    def answer(self, sketch: Sketch) -> SketchAnswer:
        """The answer. A time limit or too little memory makes it unknown. Raises what is a mistake
        of ours."""
        self._racy = self._allowed = 0
        self._unknown = []
        broken = ""
        started = time.monotonic()
        limits = self.settings.limits()
        try:
            with limits.enforced():
                found = self._broken(sketch, limits)
            broken = "" if found is None else encoded(found).hex()
        except (LimitReached, MemoryError) as limit:
            self._unknown.append(f"{sketch}: {str(limit) or 'out of memory'}")
        unknown, seconds = tuple(self._unknown), time.monotonic() - started
        return SketchAnswer(broken, unknown, self._racy, self._allowed, (), seconds)

    def _broken(self, sketch: Sketch, limits: Limits) -> PackedTest | None:
        """A program of the sketch that is UNSOUND, or None when no candidate is left."""
        space = without_covered(self.space, self.scheme, sketch)
        if not has_programs(sketch, space, self.scheme):
            return None
        template = Template(sketch, space, self.scheme)
        solver = suspicious(template, self.model, limits)
        while (found := solver.find()) is not None:
            own = template.test(found)
            test = renumbered(own, space, self.space)
            if races(own, template.tables):
                self._racy += 1
                solver.add(~racing_like(own, template))
                continue
            verdict = self._checked(test, limits)
            if verdict.word in WRONG:
                return self._without_idle_ifs(test, Tables(self.space), limits)
            if verdict.word in (Word.SOUND, Word.VACUOUS):
                self._allowed += 1
            else:
                self._unknown.append(f"{line_of(test, self.space)}: {verdict.reason}")
            solver.add(~all_of(template.chosen(own)))
        return None

    def _checked(self, test: PackedTest, limits: Limits) -> Verdict:
        """The verdict on a candidate, whether it races included, in the time that is left."""
        settings = replace(self.settings, seconds=limits.remaining() or 0)
        verdict = check(Case(program_named(test, self.space), self.scheme, self.model, settings))
        if verdict.word is Word.RACY:
            line = line_of(test, self.space)
            raise AssertionError(f"{line} has no race by enumeration, and one by the solver")
        return verdict

    def _without_idle_ifs(self, test: PackedTest, tables: Tables, limits: Limits) -> PackedTest:
        """The same without each `if` that it need not have to be UNSOUND and free of races."""
        for simpler in without_idle_if(test, tables):
            try:
                if self._checked(simpler, limits).word in WRONG:
                    return self._without_idle_ifs(simpler, tables, limits)
            except LimitReached:
                break  # what is found stands
        return canonical(test)
