"""`draw`: An execution of a test as a picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import Struct

from rspverify.api.inputs import ATest, tests_given
from rspverify.api.parameters import Question, question
from rspverify.axiomatic.cat import load_model
from rspverify.corpus.inputs import meant_by
from rspverify.drawing.draw import NoExecutionError, Wanted, Which
from rspverify.drawing.draw import draw as drawn
from rspverify.judge.incident import reporting
from rspverify.judge.question import Incident
from rspverify.limits import Limits
from rspverify.options import argument, option, words_of
from rspverify.picture import Picture
from rspverify.schedulers import FAIR, schedulers_of
from rspverify.soundness.settings import OF_A_TEST, Settings
from rspverify.source import name_of, read_source, require
from rspverify.terminal.command import Command
from rspverify.terminal.ending import exit_code
from rspverify.terminal.output import Output, note

_ENDINGS = {".svg": "svg", ".dot": "dot", ".gv": "dot"}
"""The form of a file, by how it ends."""


@dataclass(frozen=True)
class DrawParameters(Question):
    """Which executions are drawn, and what of them."""

    test: ATest = argument("A litmus test: a file, or a name as of list.", completes="test")
    settings: Settings = Settings()
    race: bool = option(False, "A consistent execution with a race, marked.")
    forbidden: bool = option(
        False,
        "A candidate execution that satisfies the final condition (or has the --outcome) "
        "and breaks an axiom; what breaks it is bold.",
    )
    all: bool = option(False, "Every consistent execution, on one page.")
    scheduler: str | None = option(
        None,
        "An execution that hangs under this scheduler, as of progress; what is read by "
        "loops that never end is marked.",
        metavar="SCHEDULER",
        completes="scheduler",
    )
    outcome: str | None = option(
        None,
        "An execution with these final values, as in '1:r0=1 1:r1=0 x=2'; other values may be any.",
    )
    edges: Sequence[str] | None = option(
        None,
        "Relations to draw, joined by commas. Default: sb,rf,mo,sw,hb, or what stands "
        "for them in the model, as po, co, gsw, ghb.",
        commas=True,
    )
    initial: bool = option(True, "Leave out the initial writes.", name="--no-initial", negates=True)

    @property
    def which(self) -> Which:
        """Which kind of execution. Raises InputError."""
        flags = {
            Which.RACE: self.race,
            Which.FORBIDDEN: self.forbidden,
            Which.ALL: self.all,
            Which.HANGING: self.scheduler is not None,
        }
        chosen = [which for which, wanted in flags.items() if wanted]
        words = "--race, --forbidden, --all and --scheduler"
        require(len(chosen) <= 1, f"only one of {words} must be given")
        return chosen[0] if chosen else Which.CONSISTENT


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
        from rspverify.render.drawn import svg

        with reporting(self.incident):
            return svg(self.pictures, limits=self.limits)

    def dot(self) -> str:
        """All of them for Graphviz."""
        from rspverify.render.drawn import dot

        return dot(self.pictures)

    def _repr_svg_(self) -> str:
        return self.svg()


@question(DrawParameters)
def draw(asked: DrawParameters) -> Drawing:
    """Draw an execution of a test: events by thread, and the relations between them.

    By default the first consistent execution that is found, and one that satisfies the formula of
    the final condition if there is such a one. Of an order only the edges that the others follow
    from are drawn.

    In Python: DrawParameters has what can be chosen. Raises InputError, NoExecutionError where
    there is none of that kind, and LimitReached.
    """
    settings, which, scheduler = asked.settings, asked.which, asked.scheduler
    (by,) = schedulers_of([scheduler]) if scheduler is not None else (FAIR,)
    require(
        asked.outcome is None or which in (Which.CONSISTENT, Which.FORBIDDEN),
        f"--outcome must go without --{'scheduler' if scheduler else which.value}",
    )
    (file,) = meant_by(tests=tests_given(asked.test) or ()).tests
    incident = Incident("draw", (name_of(file),), (), settings, [*words_of(asked)], OF_A_TEST)
    missing: NoExecutionError
    with reporting(incident):
        model = load_model(settings.model)
        program = settings.read(read_source(file))
        names = None if asked.edges is None else tuple(asked.edges)
        wanted = Wanted(which, asked.outcome, names, initial=asked.initial, scheduler=by)
        limits = settings.limits()
        try:
            pictures = drawn(program, model, wanted, limits)
            return Drawing(tuple(pictures), model.notes, limits, incident)
        except NoExecutionError as error:
            missing = error
    raise missing


def _run(asked: DrawParameters, output: Output) -> int:
    from rspverify.render.progress import working

    file, form = output.output, output.format
    if not form:
        ends = [it for it in _ENDINGS if file is not None and file.endswith(it)]
        message = f"{file} must end in .svg, .dot or .gv, or --format must say which it is"
        require(file is None or bool(ends), message)
        form = _ENDINGS[ends[0]] if ends else "svg"
    try:
        with working(f"drawing {asked.test}", asked.settings.seconds):
            found = draw.of(asked)
            text = found.dot() if form == "dot" else found.svg()
    except NoExecutionError as error:
        print(error, file=sys.stderr)
        return exit_code(found=True)
    note(found.notes)
    output.write(text)
    return 0


COMMAND = Command(
    draw,
    run=_run,
    ends="1 there is no such execution; 3 a limit was met, or the test is beyond this version; "
    "0 otherwise",
    takes=OF_A_TEST,
    forms={"svg": "svg, or dot for Graphviz. Default: as the file of -o ends, or svg.", "dot": ""},
    default_form=False,
    also=("output",),
)
