"""Executions of a test as pictures."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from rspverify.api.inputs import ATest, settled, tests_given
from rspverify.axiomatic import load_model
from rspverify.corpus.inputs import meant_by
from rspverify.drawing.draw import NoExecutionError as NoExecutionError
from rspverify.drawing.draw import Wanted, Which
from rspverify.drawing.draw import draw as drawn
from rspverify.judge.incident import Incident, reporting
from rspverify.limits import Limits
from rspverify.picture import Picture
from rspverify.soundness.schedulers import FAIR, schedulers_of
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import name_of, read_source, require


class Drawing(Struct, frozen=True):
    """Pictures of executions, at least one; a notebook shows them on one page.

    notes: what must be said of the model. limits: what the time limit leaves for the layout.
    """

    pictures: tuple[Picture, ...]
    notes: tuple[str, ...]
    limits: Limits
    incident: Incident

    def svg(self) -> str:
        """All of them as one SVG. Raises LimitReached."""
        from rspverify.render.draw_svg import page

        with reporting(self.incident):
            return page(self.pictures, limits=self.limits)

    def dot(self) -> str:
        """All of them for Graphviz."""
        from rspverify.render.draw_dot import graphs

        return graphs(self.pictures)

    def _repr_svg_(self) -> str:
        return self.svg()


def draw(
    test: ATest,
    settings: Settings | None = None,
    *,
    race: bool = False,
    forbidden: bool = False,
    all: bool = False,
    outcome: str | None = None,
    edges: Sequence[str] | None = None,
    initial: bool = True,
    scheduler: str | None = None,
) -> Drawing:
    """An execution of a test: events by thread, and the relations between them.

    race: one with a race. forbidden: one that breaks an axiom. all: every consistent one. outcome:
    one with these final values, as `1:r0=1 x=2`. scheduler: one that hangs and that it allows, as
    `obe`. edges: the relations to draw. initial: with the initial writes. Raises InputError,
    NoExecutionError where there is none of that kind, and LimitReached.
    """
    settings = settled(settings)
    hanging = scheduler is not None
    flags = {
        Which.RACE: race,
        Which.FORBIDDEN: forbidden,
        Which.ALL: all,
        Which.HANGING: hanging,
    }
    chosen = [which for which, wanted in flags.items() if wanted]
    words = "--race, --forbidden, --all and --scheduler"
    require(len(chosen) <= 1, f"only one of {words} must be given")
    (by,) = schedulers_of([scheduler]) if scheduler is not None else (FAIR,)
    which = chosen[0] if chosen else Which.CONSISTENT
    require(
        outcome is None or which in (Which.CONSISTENT, Which.FORBIDDEN),
        f"--outcome must go without --{'scheduler' if hanging else which.value}",
    )
    options = [f"--{which.value}"] if chosen and not hanging else []
    options += ["--scheduler", str(by)] if hanging else []
    options += ["--outcome", outcome] if outcome is not None else []
    options += ["--edges", ",".join(edges)] if edges is not None else []
    (file,) = meant_by(tests=tests_given(test) or ()).tests
    incident = Incident("draw", (name_of(file),), (), settings, options, OF_A_TEST)
    missing: NoExecutionError
    with reporting(incident):
        model = load_model(settings.model)
        program = settings.read(read_source(file))
        names = None if edges is None else tuple(edges)
        wanted = Wanted(which, outcome, names, initial=initial, scheduler=by)
        limits = settings.limits()
        try:
            pictures = drawn(program, model, wanted, limits)
            return Drawing(tuple(pictures), model.notes, limits, incident)
        except NoExecutionError as error:
            missing = error
    raise missing
