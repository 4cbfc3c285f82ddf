"""Docstrings as the site shows them: what is typed at a prompt is a block of code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

_PROMPTS = re.compile(r"^>>> .*(?:\n(?:>>>|\.\.\.|\S).*)*", re.MULTILINE)


class Prompts(Extension):
    """Fences the examples of each docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Called of every object that is read."""
        if obj.docstring is not None:
            obj.docstring.value = _PROMPTS.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
