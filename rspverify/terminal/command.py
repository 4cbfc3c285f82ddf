"""Commands: how each is declared beside the question that it asks, found, and run."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.options import Parameters
from rspverify.records import replace
from rspverify.render.forms import FORMS
from rspverify.terminal.ending import exit_code, tell, told
from rspverify.terminal.output import Output, note

if TYPE_CHECKING:
    from rspverify.api.asked import Asked

TEXT_OR_JSON = {"text": "Text, or JSON for other tools.", "json": ""}
PAGES = {
    "text": "Text, JSON for other tools, Markdown, or a page of HTML to look into.",
    **{form: "" for form in FORMS if form != "text"},
}
OF_A_CASE = ("engine", "model", "seconds", "machine", "l2", "states", "unroll", "mixed")
"""The settings that count where tests are the means to ask about a scheme."""
EVERYWHERE = ("output", "jobs", "cluster", "no_cache")
"""What most commands have besides: where output goes, who decides, and whether it is kept."""

FOLDER = Path(__file__).parents[1] / "commands"
_FIRST = """
check report explain outcomes progress draw prove mutate hunt compare repair fuzz selftest
show serve cache extract generate init list
"""
"""The order in which --help lists them; others come after these."""
_LINE = re.compile(r'"""`([a-z-]+)`: (.*)"""')


class Command(Struct, frozen=True):
    """A command: its file has it as COMMAND, and begins with its name and a line on what it does.

    about: the question, or what does it; its docstring, up to what is for Python, is the help.
    parameters: the record whose fields are its arguments and options, that of the question unless
    it is another. run: does it otherwise than by asking the question; gives the exit code. ends:
    what its exit codes tell, beside those that all have. takes: which settings it has options for.
    forms: what --format takes, the default first, the help with it; the default may depend on
    other options (not default_form). reports: those that --report takes. also: which of the options
    of Output it has besides.
    """

    about: Callable[..., object]
    parameters: type[Parameters] = Parameters
    run: Callable[[Any, Output], int] | None = None
    ends: str = ""
    takes: Collection[str] = ()
    forms: Mapping[str, str] = {}
    default_form: bool = True
    reports: Collection[str] = ()
    also: Collection[str] = ()

    @property
    def record(self) -> type[Parameters]:
        """The record of its parameters."""
        found: type[Parameters] = getattr(self.about, "parameters", self.parameters)
        return found if self.parameters is Parameters else self.parameters

    @property
    def reported(self) -> Collection[str]:
        """The forms of --report: pages are written, text is printed as it comes."""
        return self.reports or [it for it in self.forms if it != "text" and "html" in self.forms]

    @property
    def help(self) -> str:
        """All that --help says of it."""
        text = cleandoc(self.about.__doc__ or "")
        for python in ("\n\nIn Python", "\n\nExamples:"):
            text = text.partition(python)[0]
        start = "Exit code: 70 internal error, with a folder to report; 2 wrong input; "
        return f"{text}\n\n{start}{self.ends}." if self.ends else text

    def __call__(self, given: Parameters, output: Output) -> int:
        """Do it; the exit code."""
        if self.run is None and hasattr(self.about, "of"):
            return asking(self.about, given, output)
        run: Any = self.run or self.about
        code: int = run(given, output)
        return code


@cache
def summaries() -> Mapping[str, str]:
    """What each command does, in a line; no command is imported for it."""
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.py")):
        with path.open(encoding="utf-8") as text:
            line = _LINE.match(text.readline())
        if line:
            found[line[1]] = line[2]
    first = [name for name in _FIRST.split() if name in found]
    names = [*first, *(found.keys() - {*first})]
    return {name: found[name] for name in names}


@cache
def command_of(name: str) -> Command:
    """A command by its name."""
    command: Command = import_module(f"rspverify.commands.{name}").COMMAND
    return command


def asking(question: Any, given: Any, output: Output) -> int:
    """Ask a question, show each answer as it comes, write the report, and end as it says."""
    from rspverify.render.progress import working

    judge = output.judge(getattr(given, "settings", None))
    with working("reading"):
        asked: Asked[Any, Any] = question.of(replace(given, judge=judge))
    note(asked.notes)
    with output.opened() as console:
        with asked.stream(console, output.format) as stream:
            stop = told(asked.each(stream.show))
        report = asked.report()
        form = cache(lambda name: asked.text_of(report, name))
        unwritten = output.write_reports(form)
        if output.format in asked.shown:
            stream.finish(report)
        else:
            console.file.write(form(output.format))
    ending = asked.ending(report)
    tell(ending.unwritten)
    return exit_code(
        internal=ending.internal,
        interrupted=stop.interrupted,
        wrong=ending.wrong or ending.unwritten or unwritten,
        found=ending.found,
        undecided=stop.limit or ending.undecided,
    )
