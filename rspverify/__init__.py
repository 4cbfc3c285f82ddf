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
    from rspverify.api.checks import check
    from rspverify.api.comparisons import compare
    from rspverify.api.explanations import explain
    from rspverify.api.extractions import extract
    from rspverify.api.hunts import hunt
    from rspverify.api.inputs import read_model, read_scheme, read_test
    from rspverify.api.judges import judge_of
    from rspverify.api.mutations import mutate
    from rspverify.api.outcomes import outcomes
    from rspverify.api.pictures import NoExecutionError, draw
    from rspverify.api.progress import progress
    from rspverify.api.repairs import Constraints, repair
    from rspverify.api.runs import trace
    from rspverify.limits import LimitReached
    from rspverify.soundness.settings import L2, Engine, Reading, Settings
    from rspverify.source import InputError, Problem, Source
    from rspverify.verdict import ProgressWord, Word

_PLACES = {
    "rspverify.api.building": ("SchemeBuilder", "TestBuilder"),
    "rspverify.api.checks": ("check",),
    "rspverify.api.comparisons": ("compare",),
    "rspverify.api.explanations": ("explain",),
    "rspverify.api.extractions": ("extract",),
    "rspverify.api.hunts": ("hunt",),
    "rspverify.api.inputs": ("read_model", "read_scheme", "read_test"),
    "rspverify.api.judges": ("judge_of",),
    "rspverify.api.mutations": ("mutate",),
    "rspverify.api.outcomes": ("outcomes",),
    "rspverify.api.pictures": ("NoExecutionError", "draw"),
    "rspverify.api.progress": ("progress",),
    "rspverify.api.repairs": ("Constraints", "repair"),
    "rspverify.api.runs": ("trace",),
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
