"""The templates of pages and of pictures; what nobody sees of a text is spelled in all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rspverify.wording import visible

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).with_name("html")


def environment(filters: Mapping[str, Callable[..., Any]]) -> Environment:
    """What reads the templates; all but those for Graphviz escape what comes from files."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=lambda name: name is None or not name.endswith(".dot"),
        undefined=StrictUndefined,
        finalize=_spelled,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= filters
    return made


def _spelled(value: object) -> object:
    """What is put into a page: markup of ours as it is; of other texts nothing is hidden."""
    from markupsafe import Markup

    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
