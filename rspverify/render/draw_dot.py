"""Pictures of executions for Graphviz: one graph after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from rspverify.picture import Arrow, Picture
from rspverify.render.picture_layout import colour, dashed, letters


def graphs(pictures: Sequence[Picture]) -> str:
    """The text for dot."""
    return "\n".join(_graph(each, number) for number, each in enumerate(pictures, start=1))


def _graph(picture: Picture, number: int) -> str:
    title = "\\l".join(map(_escaped, (picture.title, *picture.notes))) + "\\l"
    lines = [
        f"digraph execution{number} {{",
        f'  graph [label="{title}", labelloc=t, labeljust=l, fontname="Helvetica"];',
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="Courier"];',
        '  edge [fontname="Helvetica", fontsize=11];',
        *_initial(picture),
        *_threads(picture),
        *(f"  {_edge(arrow)}" for arrow in picture.arrows),
        *_columns(picture),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _initial(picture: Picture) -> Iterator[str]:
    initial = [n for n, it in enumerate(picture.events) if it.thread is None]
    yield from (f"  {_node(picture, n)}" for n in initial)
    if initial:
        yield "  {rank=source; " + " ".join(f"{letters(n)};" for n in initial) + "}"


def _threads(picture: Picture) -> Iterator[str]:
    """Clusters of devices, in them of work-groups, in them of threads."""
    numbered = list(enumerate(picture.threads))
    for device, on_device in groupby(numbered, key=lambda it: it[1].device):
        indent = "  "
        if device is not None:
            yield f'  subgraph cluster_d{device} {{ label="device {device}"; style=dashed;'
            indent = "    "
        for workgroup, together in groupby(on_device, key=lambda it: it[1].workgroup):
            if workgroup is not None:
                yield f"{indent}subgraph cluster_d{device}w{workgroup} {{"
                yield f'{indent}  label="work-group {workgroup}"; style=solid;'
            for number, thread in together:
                yield f"{indent}  subgraph cluster_{number} {{"
                yield f'{indent}    label="{_escaped(thread.name)}"; style=invis;'
                own = (n for n, it in enumerate(picture.events) if it.thread == number)
                yield from (f"{indent}    {_node(picture, event)}" for event in own)
                yield f"{indent}  }}"
            if workgroup is not None:
                yield f"{indent}}}"
        if device is not None:
            yield "  }"


def _node(picture: Picture, number: int) -> str:
    event = picture.events[number]
    style = ', fillcolor="#fff3c4", penwidth=2' if event.marked else ""
    return f'{letters(number)} [label="{letters(number)}: {_escaped(event.text)}"{style}];'


def _edge(arrow: Arrow) -> str:
    style = [f'label="{_escaped(arrow.name)}"', f'color="{colour(arrow.name)}"']
    style.append(f'fontcolor="{colour(arrow.name)}"')
    style += ["penwidth=3"] * arrow.bold + ["dir=both"] * arrow.mutual
    style += ["style=dashed"] * (dashed(arrow.name) or arrow.mutual)
    style += ["constraint=false"] * (arrow.name not in ("sb", "po"))
    return f"{letters(arrow.source)} -> {letters(arrow.target)} [{', '.join(style)}];"


def _columns(picture: Picture) -> Iterator[str]:
    """Invisible edges that keep the events of a thread below each other, where sb is not drawn."""
    drawn = {(it.source, it.target) for it in picture.arrows if it.name in ("sb", "po")}
    for number in range(len(picture.threads)):
        own = [n for n, it in enumerate(picture.events) if it.thread == number]
        for above, below in pairwise(own):
            if (above, below) not in drawn:
                yield f"  {letters(above)} -> {letters(below)} [style=invis];"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
