"""How a command asks a question that has many answers: shown as they come, then reported."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from rspverify.api.asked import Asked
from rspverify.api.parameters import Asks
from rspverify.options import Parameters
from rspverify.records import replace
from rspverify.terminal.exit_code import exit_code
from rspverify.terminal.guard import tell, told
from rspverify.terminal.output import Output, note


def asking(
    question: Asks[..., Any, Asked[Any, Any]],
) -> Callable[[Parameters, Output], int]:
    """A command that asks a question, shows each answer, writes the report, and ends as it says."""

    def run(given: Any, output: Output) -> int:
        from rspverify.render.progress import working

        judge = output.judge(getattr(given, "settings", None))
        with working("reading"):
            asked = question.of(replace(given, judge=judge))
        note(asked.notes)
        return answered(asked, output)

    return run


def answered(asked: Asked[Any, Any], output: Output) -> int:
    """Show each answer as it comes, and then the report; the exit code."""
    with output.opened() as console:
        with asked.stream(console, output.format) as stream:
            stop = told(asked.each(stream.show))
        report = asked.report(stop)
        form = cache(lambda name: asked.forms[name](report))
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
