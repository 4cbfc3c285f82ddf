"""A run of a machine as a page of HTML."""

from __future__ import annotations

from rspverify.answers import MachineRun
from rspverify.render.animation import run_animation
from rspverify.render.finding_html import source_lines, timeline
from rspverify.render.page import Article, Page
from rspverify.render.page_html import page
from rspverify.render.run_text import ending, title


def html(it: MachineRun, source: str) -> str:
    """The page. source: the text of the test."""
    run = run_animation(it)
    runs = [] if run is None else [timeline(run)]
    wanted = f"A run that ends with {it.wanted}" if it.wanted and runs else ""
    lines, cut = source_lines(source, {})
    shown = Article(
        "f1",
        "run" if runs else "no run",
        it.test,
        "\n".join((wanted, *it.blocked)).strip(),
        [it.file],
        ending=ending(it),
        source=lines,
        source_cut=cut,
        timelines=runs,
    )
    return page(Page(command="explain", conclusion=title(it), findings=[shown]))
