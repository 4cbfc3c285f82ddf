"""Pictures of executions as SVG, on one page, one below the other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rspverify.limits import Limits
from rspverify.picture import Picture
from rspverify.render.edge_routes import Point, Route, routed, samples
from rspverify.render.picture_layout import Box, Layout, colour, dashed, laid_out, letters

_MARGIN = 24.0
_TYPEWRITER = "'DejaVu Sans Mono', Menlo, Consolas, monospace"
_SANS = "'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_GROUPS = {
    "device": {"fill": "#f4f4f2", "stroke": "#9a9a94", "stroke-dasharray": "7 4"},
    "work-group": {"fill": "#fbfbfa", "stroke": "#b4b4ae"},
}
_PLAIN: dict[str, str] = {}
_BOLD = {"font-weight": "bold"}
_MIDDLE = {"text-anchor": "middle"}
_UNMARKED = {"fill": "white", "stroke": "#55554f"}
_MARKED = {"fill": "#fff3c4", "stroke": "#55554f", "stroke-width": "2"}
_HEAD_LENGTH = 9.0


def page(pictures: Sequence[Picture], mark: str = "", limits: Limits | None = None) -> str:
    """The SVG document. mark: what its identifiers begin with. Raises LimitReached where no time is
    left."""
    root = Element("svg", xmlns="http://www.w3.org/2000/svg")
    SubElement(root, "title").text = "; ".join(dict.fromkeys(it.title for it in pictures))
    card = {"width": "100%", "height": "100%", "rx": "8", "fill": "white"}  # on dark pages, too
    background = SubElement(root, "rect", card)
    width, height = 0.0, 0.0
    for picture in pictures:
        drawn, extent = _drawn(picture, mark, limits or Limits())
        across, down = _MARGIN - extent.x, height + _MARGIN - extent.y
        drawn.set("transform", f"translate({_number(across)} {_number(down)})")
        root.append(drawn)
        width = max(width, extent.width + 2 * _MARGIN)
        height += extent.height + 2 * _MARGIN
    for element in (root, background):
        element.set("width", _number(width))
        element.set("height", _number(height))
    root.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _drawn(picture: Picture, mark: str, limits: Limits) -> tuple[Element, Box]:
    """A picture and its extent; x and y of that are of its upper left corner."""
    layout = laid_out(picture)
    routes = routed(layout, picture.arrows, limits)
    group = Element("g", {"class": "picture"})
    extent = _extent(layout, routes)
    title, *notes = layout.top
    _text(group, extent.x, title.y, title.text, 15, _BOLD)
    for note in notes:
        _text(group, extent.x, note.y, note.text, 13)
    _groups(group, layout)
    for route in routes:
        _edge(group, route, mark)
    _events(group, picture, layout, mark)
    for route in routes:
        _label(group, route)
    legend = _legend(group, picture, extent)
    return group, Box(extent.x, extent.y, max(extent.width, legend), extent.height + 34)


def _extent(layout: Layout, routes: Sequence[Route]) -> Box:
    points = [point for route in routes for point in samples(route.controls)]
    wide = [*layout.boxes, *(route.label for route in routes)]
    left = min((*(box.left for box in wide), *(x for x, _ in points)), default=0.0)
    right = max((*(box.right for box in wide), *(x for x, _ in points)), default=0.0)
    lower = max((*(box.bottom for box in layout.boxes), *(y for _, y in points)), default=None)
    title, *notes = (len(caption.text) for caption in layout.top)
    right = max([right, left + 9.6 * title, *(left + 7.6 * length for length in notes)])
    return Box(left, 0.0, right - left, layout.top[-1].y if lower is None else lower)


def _groups(parent: Element, layout: Layout) -> None:
    for each in layout.groups:
        _rectangle(parent, each.box, 8, {"class": each.kind, **_GROUPS[each.kind]})
        it = each.caption
        _text(parent, it.x, it.y, it.text, 12, fill="#70706a")
    for caption in layout.threads:
        _text(parent, caption.x, caption.y, caption.text, 14, _BOLD | _MIDDLE)


def _events(parent: Element, picture: Picture, layout: Layout, mark: str) -> None:
    for number, (event, box) in enumerate(zip(picture.events, layout.events, strict=True)):
        own = "initial" if event.thread is None else ""
        where = own if event.line is None else f"line {event.line}"
        kind = {"class": "event", "id": mark + letters(number)}
        if event.thread is not None and event.line is not None:
            kind |= {"data-thread": str(event.thread), "data-line": str(event.line)}
        group = SubElement(parent, "g", kind)
        SubElement(group, "title").text = where
        _rectangle(group, box, 5, _MARKED if event.marked else _UNMARKED)
        style = {"font-family": _TYPEWRITER, **_MIDDLE}
        _text(group, box.x, box.y + 4.5, layout.labels[number], 13, style)


def _edge(parent: Element, route: Route, mark: str) -> None:
    arrow = route.arrow
    kind = {"class": f"edge {arrow.name}" + (" bold" if arrow.bold else "")}
    source, target = mark + letters(arrow.source), mark + letters(arrow.target)
    ends = {"data-source": source, "data-target": target}
    group = SubElement(parent, "g", kind | ends)
    width = 3.0 if arrow.bold else 1.4
    line = {"d": _curve(route), "fill": "none", "stroke": colour(arrow.name)}
    line["stroke-width"] = _number(width)
    if dashed(arrow.name) or arrow.mutual:
        line["stroke-dasharray"] = "6 4"
    SubElement(group, "path", line)
    heads = [route.controls[-2:]] + ([route.controls[1::-1]] if arrow.mutual else [])
    for before, end in heads:
        points = _head(before, end, _HEAD_LENGTH + width)
        SubElement(group, "polygon", {"points": points, "fill": colour(arrow.name)})


def _curve(route: Route) -> str:
    start, *rest = route.controls
    letter = "Q" if len(rest) == 2 else "C"
    return f"M {_point(start)} {letter} {' '.join(map(_point, rest))}"


def _head(before: Point, end: Point, length: float) -> str:
    angle = math.atan2(end[1] - before[1], end[0] - before[0])
    corners = (
        (end[0] + length * math.cos(angle + turn), end[1] + length * math.sin(angle + turn))
        for turn in (math.pi - 0.38, math.pi + 0.38)
    )
    return " ".join(map(_point, (end, *corners)))


def _label(parent: Element, route: Route) -> None:
    box, name = route.label, route.arrow.name
    _rectangle(parent, box, 3, {"fill": "white", "fill-opacity": "0.88"})
    style = (_BOLD if route.arrow.bold else {}) | _MIDDLE | {"class": "label"}
    _text(parent, box.x, box.y + 4, name, 12, style, fill=colour(name))


def _legend(parent: Element, picture: Picture, extent: Box) -> float:
    """One line for each relation that is drawn; the width that it takes."""
    x, y = extent.x, extent.height + 26
    for name in dict.fromkeys(arrow.name for arrow in picture.arrows):
        line = {"x1": _number(x), "x2": _number(x + 26), "y1": _number(y - 4)}
        line |= {"y2": _number(y - 4), "stroke": colour(name), "stroke-width": "2"}
        if dashed(name):
            line["stroke-dasharray"] = "6 4"
        SubElement(parent, "line", {"class": "legend", **line})
        _text(parent, x + 32, y, name, 12, fill=colour(name))
        x += 32 + 7.2 * len(name) + 22
    return x - extent.x


def _rectangle(parent: Element, box: Box, radius: float, style: dict[str, str]) -> None:
    place = {
        "x": _number(box.left),
        "y": _number(box.y - box.height / 2),
        "width": _number(box.width),
        "height": _number(box.height),
        "rx": _number(radius),
    }
    SubElement(parent, "rect", {**place, **style})


def _text(
    parent: Element,
    x: float,
    y: float,
    words: str,
    size: int,
    style: Mapping[str, str] = _PLAIN,
    fill: str = "#1c1c1a",
) -> None:
    place = {"x": _number(x), "y": _number(y), "font-size": str(size), "fill": fill}
    SubElement(parent, "text", {**place, "font-family": _SANS, **style}).text = words


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
