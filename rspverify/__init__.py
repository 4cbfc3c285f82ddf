"""Decides whether a compilation scheme from OpenCL with remote-scope promotion is sound.

Questions are functions: `check`, `explain`, `outcomes`, `progress`, `draw`, `trace`, `mutate`,
`hunt`, `compare`, `repair`. Schemes and tests are given by name or path, or made in Python.
docs/api.md has examples.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rspverify.api.building import SchemeBuilder as SchemeBuilder
    from rspverify.api.building import TestBuilder as TestBuilder
    from rspverify.api.explained import explain as explain
    from rspverify.api.explained import trace as trace
    from rspverify.api.inputs import (
        read_model as read_model,
    )
    from rspverify.api.inputs import (
        read_scheme as read_scheme,
    )
    from rspverify.api.inputs import (
        read_test as read_test,
    )
    from rspverify.api.judges import judge_of as judge_of
    from rspverify.commands.check import check as check
    from rspverify.commands.compare import compare as compare
    from rspverify.commands.compare import compare_models as compare_models
    from rspverify.commands.draw import draw as draw
    from rspverify.commands.extract import extract as extract
    from rspverify.commands.hunt import hunt as hunt
    from rspverify.commands.mutate import mutate as mutate
    from rspverify.commands.outcomes import outcomes as outcomes
    from rspverify.commands.progress import progress as progress
    from rspverify.commands.prove import prove as prove
    from rspverify.commands.repair import repair as repair
    from rspverify.drawing.draw import NoExecutionError as NoExecutionError
    from rspverify.engineering.repair.constraints import Constraints as Constraints
    from rspverify.limits import LimitReached as LimitReached
    from rspverify.soundness.settings import (
        L2 as L2,
    )
    from rspverify.soundness.settings import (
        Engine as Engine,
    )
    from rspverify.soundness.settings import (
        Reading as Reading,
    )
    from rspverify.soundness.settings import (
        Settings as Settings,
    )
    from rspverify.source import InputError as InputError
    from rspverify.source import Problem as Problem
    from rspverify.source import Source as Source
    from rspverify.verdict import ProgressWord as ProgressWord
    from rspverify.verdict import Word as Word

_PLACES = {
    "rspverify.api.building": ("SchemeBuilder", "TestBuilder"),
    "rspverify.commands.check": ("check",),
    "rspverify.commands.compare": ("compare", "compare_models"),
    "rspverify.api.explained": ("explain", "trace"),
    "rspverify.commands.extract": ("extract",),
    "rspverify.commands.hunt": ("hunt",),
    "rspverify.commands.prove": ("prove",),
    "rspverify.api.inputs": ("read_model", "read_scheme", "read_test"),
    "rspverify.api.judges": ("judge_of",),
    "rspverify.commands.mutate": ("mutate",),
    "rspverify.commands.outcomes": ("outcomes",),
    "rspverify.commands.draw": ("draw",),
    "rspverify.drawing.draw": ("NoExecutionError",),
    "rspverify.engineering.repair.constraints": ("Constraints",),
    "rspverify.commands.progress": ("progress",),
    "rspverify.commands.repair": ("repair",),
    "rspverify.limits": ("LimitReached",),
    "rspverify.soundness.settings": ("L2", "Engine", "Reading", "Settings"),
    "rspverify.source": ("InputError", "Problem", "Source"),
    "rspverify.verdict": ("ProgressWord", "Word"),
}
"""Where each name comes from: nothing is loaded before it is used, as a command needs few."""
_NAMES = {name: place for place, names in _PLACES.items() for name in names}
__all__ = ["__version__", *_NAMES]


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
