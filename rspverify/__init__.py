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
    from rspverify.api.building import SchemeBuilder, TestBuilder
    from rspverify.api.explained import explain
    from rspverify.api.inputs import read_model, read_scheme, read_test
    from rspverify.api.judges import judge_of
    from rspverify.api.trace import trace
    from rspverify.commands.check import check
    from rspverify.commands.compare import compare
    from rspverify.commands.compare_models import compare_models
    from rspverify.commands.draw import draw
    from rspverify.commands.extract import extract
    from rspverify.commands.hunt import hunt
    from rspverify.commands.mutate import mutate
    from rspverify.commands.outcomes import outcomes
    from rspverify.commands.progress import progress
    from rspverify.commands.repair import repair
    from rspverify.drawing.draw import NoExecutionError
    from rspverify.engineering.repair.constraints import Constraints
    from rspverify.limits import LimitReached
    from rspverify.soundness.settings import L2, Engine, Reading, Settings
    from rspverify.source import InputError, Problem, Source
    from rspverify.verdict import ProgressWord, Word

_PLACES = {
    "rspverify.api.building": ("SchemeBuilder", "TestBuilder"),
    "rspverify.commands.check": ("check",),
    "rspverify.commands.compare": ("compare",),
    "rspverify.commands.compare_models": ("compare_models",),
    "rspverify.api.explained": ("explain",),
    "rspverify.commands.extract": ("extract",),
    "rspverify.commands.hunt": ("hunt",),
    "rspverify.api.inputs": ("read_model", "read_scheme", "read_test"),
    "rspverify.api.judges": ("judge_of",),
    "rspverify.commands.mutate": ("mutate",),
    "rspverify.commands.outcomes": ("outcomes",),
    "rspverify.commands.draw": ("draw",),
    "rspverify.drawing.draw": ("NoExecutionError",),
    "rspverify.engineering.repair.constraints": ("Constraints",),
    "rspverify.commands.progress": ("progress",),
    "rspverify.commands.repair": ("repair",),
    "rspverify.api.trace": ("trace",),
    "rspverify.limits": ("LimitReached",),
    "rspverify.soundness.settings": ("L2", "Engine", "Reading", "Settings"),
    "rspverify.source": ("InputError", "Problem", "Source"),
    "rspverify.verdict": ("ProgressWord", "Word"),
}
"""Where each name comes from: nothing is loaded before it is used, as a command needs few."""
_NAMES = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "L2",
    "Constraints",
    "Engine",
    "InputError",
    "LimitReached",
    "NoExecutionError",
    "Problem",
    "ProgressWord",
    "Reading",
    "SchemeBuilder",
    "Settings",
    "Source",
    "TestBuilder",
    "Word",
    "__version__",
    "check",
    "compare",
    "compare_models",
    "draw",
    "explain",
    "extract",
    "hunt",
    "judge_of",
    "mutate",
    "outcomes",
    "progress",
    "read_model",
    "read_scheme",
    "read_test",
    "repair",
    "trace",
]


def __getattr__(name: str) -> object:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
