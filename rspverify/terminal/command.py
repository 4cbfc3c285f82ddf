"""How a command is declared, beside the question that it asks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rspverify.options import Parameters
from rspverify.render.forms import FORMS

if TYPE_CHECKING:
    from rspverify.terminal.output import Output

TEXT_OR_JSON = {"text": "Text, or JSON for other tools.", "json": ""}
PAGES = {
    "text": "Text, JSON for other tools, Markdown, or a page of HTML to look into.",
    **{form: "" for form in FORMS if form != "text"},
}
REPORTED = tuple(form for form in FORMS if form != "text")
"""The forms of documents that --report takes: text is printed as it comes."""
OF_A_CASE = ("engine", "model", "seconds", "machine", "l2", "states", "unroll", "mixed")
"""The settings that count where tests are the means to ask about a scheme."""
EVERYWHERE = ("output", "jobs", "cluster", "no_cache")
"""What most commands have besides: where output goes, who decides, and whether it is kept."""


class Command(Struct, frozen=True):
    """A command: its file has it as COMMAND, and begins with its name and a line on what it does.

    parameters: the record whose fields are its arguments and options. run: does it, and gives the
    exit code. about: its docstring, up to what is for Python, is the help. ends: what its exit
    codes tell, beside those that all have. takes: which settings it has options for. forms: what
    --format takes, the default first, the help with it; the default may depend on other options
    (not default_form). reports: those that --report takes. also:
    which of the options of Output it has besides.
    """

    parameters: type[Parameters]
    run: Callable[[Any, Output], int]
    about: Callable[..., object]
    ends: str = ""
    takes: Collection[str] = ()
    forms: Mapping[str, str] = {}
    default_form: bool = True
    reports: Collection[str] = ()
    also: Collection[str] = ()

    @property
    def help(self) -> str:
        """All that --help says of it."""
        text = cleandoc(self.about.__doc__ or "")
        for python in ("\n\nIn Python", "\n\nExamples:"):
            text = text.partition(python)[0]
        start = "Exit code: 70 internal error, with a folder to report; 2 wrong input; "
        return f"{text}\n\n{start}{self.ends}." if self.ends else text
