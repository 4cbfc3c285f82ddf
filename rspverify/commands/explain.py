"""`explain`: One verdict with all that it rests on; a run of a machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rspverify.api.parameters import Question
from rspverify.options import argument, option
from rspverify.soundness.settings import OPTIONS, Settings
from rspverify.source import InputError, Problem, require
from rspverify.terminal.command import PAGES, Command
from rspverify.terminal.ending import exit_code, exit_code_of, told
from rspverify.terminal.output import Output

if TYPE_CHECKING:
    from rspverify.api.explained import Explained, Traced


@dataclass(frozen=True)
class ExplainWords(Question):
    """What the command line names: a scheme and a test, or a test in PTX alone."""

    words: tuple[str, ...] = argument(
        "A scheme (a .yaml file, or a name as of list) and a litmus test (a file, or a "
        "name as of list); of a test in PTX the test alone, with --machine.",
        metavar="[SCHEME] TEST",
        completes="scheme or test",
    )
    settings: Settings = Settings()
    outcome: str | None = option(
        None,
        "Of a test in PTX: a run with these final values, as in '1:r1=2 1:r2=0'; other "
        "values may be any. Default: what its final condition speaks of.",
    )
    queues: bool = option(
        False, "Also what is in the queues of the machine after each step, in a text."
    )


def _run(asked: ExplainWords, output: Output) -> int:
    """Explain one verdict: the counterexample step by step, the race, or how far it reaches.

    Of a test that is SOUND the outcomes that the machine reaches are listed, up to 100 of them;
    --timeout bounds that together with the verdict, and Ctrl-C leaves it.

    Of a test in PTX, which no scheme compiles, show a shortest run of the --machine that satisfies
    the final condition (that breaks it, if it says forall), step by step; or say that none does.

    Exit code: 70 internal error, with a folder to report; otherwise as of check. Of a test in PTX:
    1 there is no such run; 3 a limit was met; 0 otherwise.
    """
    from rspverify.corpus.inputs import split

    words = asked.words
    if len(words) > 2:
        message = f"explain must have [SCHEME] TEST and no more, not {' '.join(words[2:])}"
        raise InputError([Problem(None, message, "rspverify explain --help")])
    if len(words) == 1:
        require(not split(words)[0], f"a test must be given, too, behind the scheme {words[0]}")
        return _show_run(words[0], asked, output)
    require(asked.outcome is None, "--outcome must go without a scheme, and with a test in PTX")
    scheme, test = words
    return _show_verdict(scheme, test, asked, output)


def _show_run(test: str, asked: ExplainWords, output: Output) -> int:
    from rspverify.api.explained import trace
    from rspverify.render.progress import working

    with working(f"{test} on the machine", asked.settings.seconds):
        found = trace(test, asked.settings, asked.outcome)
    if output.text:
        output.print(found.document(queues=asked.queues).blocks)
    return _ended(found, output, exit_code(found=found.run.execution is None))


def _show_verdict(scheme: str, test: str, asked: ExplainWords, output: Output) -> int:
    from rspverify.api.explained import explain
    from rspverify.render.evidence import reached
    from rspverify.render.forms.text import show
    from rspverify.render.progress import working

    misplaced = scheme.endswith(".litmus")
    require(not misplaced, f"the scheme must come first, and then the test: {scheme}")
    shown = partial(working, f"{test} under {scheme}", asked.settings.seconds)
    with shown():
        found = explain(scheme, test, asked.settings)
    interrupted = False
    if output.text:
        with output.opened(page=True) as console:
            show(found.verdict(queues=asked.queues).blocks, console)
            if found.lists_outcomes:
                console.file.flush()
                with shown():
                    outcomes, stop = found.reached()
                interrupted = told(stop).interrupted
                show(reached(outcomes), console)
    elif found.lists_outcomes:
        with shown():
            interrupted = told(found.reached()[1]).interrupted
    code = exit_code_of([found.explanation.result], interrupted=interrupted)
    return _ended(found, output, code)


def _ended(found: Explained | Traced, output: Output, code: int) -> int:
    """Write the forms that are no text; the exit code."""
    problems = output.write_reports(found.form)
    if not output.text:
        output.write(found.form(output.format))
    return exit_code(wrong=True) if problems else code


COMMAND = Command(_run, ExplainWords, takes=OPTIONS, forms=PAGES, also=("output",))
