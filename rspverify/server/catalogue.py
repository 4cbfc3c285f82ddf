"""What a visitor may choose: all that ships, by its name, and the words that texts are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from rspverify.architecture.machines import MACHINES, text_of
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.axiomatic.library import model_texts
from rspverify.isa.instruction_set import instruction_set
from rspverify.litmus.functions import FUNCTIONS, ORDERS
from rspverify.litmus.functions import SCOPES as MEMORY_SCOPES
from rspverify.mapping.reader import KEYS as TABLE_KEYS
from rspverify.mapping.targets import TARGETS
from rspverify.scheme.reader import KEYS, is_for_target
from rspverify.scheme.row_reader import KEYS as ROW_KEYS
from rspverify.scheme.row_reader import KINDS, SCOPES, orders_of
from rspverify.server.question import Question, Refused
from rspverify.shipped import (
    OF_PROCESSORS,
    SCHEMES,
    SHIPPED,
    TESTS,
    schemes_named,
    tests_below,
)
from rspverify.source import Source

OF_TARGETS = tuple(f"targets/{it}" for it in ("seq_cst", "synchronisation", "scopes", "from-x86"))
"""The tests for tables whose targets have models."""

HTML = Path(__file__).parent / "html"

_FIRST = "The scheme to begin with."


class Catalogue(Struct, frozen=True, dict=True):
    """All of it. files: texts by the names that ship: of schemes, tests, models and machines.

    corpora: the tests of each folder that has a suite for schemes. own: schemes of one's own, by
    their names.
    """

    files: Mapping[str, str]
    corpora: Mapping[str, tuple[str, ...]]
    words: Mapping[str, Any]
    models: tuple[str, ...]
    machines: Mapping[str, str]
    own: tuple[str, ...] = ()

    @staticmethod
    def read(own: Sequence[Source] = ()) -> Catalogue:
        """Read all that ships. own: schemes of one's own."""
        names = ("rsp", "all-orders", "devices", *OF_TARGETS)
        folders = (*(f"{TESTS}/{name}" for name in names), OF_PROCESSORS)
        corpora = {folder: tuple(tests_below(folder)) for folder in folders}
        shipped = (path for path in schemes_named() if path.startswith(f"{SCHEMES}/"))
        paths = [*shipped, *(path for tests in corpora.values() for path in tests)]
        files = {path: (SHIPPED / path).read_text(encoding="utf-8") for path in paths}
        models = tuple(shipped_models())
        files |= {f"models/{name}.cat": next(iter(model_texts(name).values())) for name in models}
        files |= {f"machines/{name}.machine": text_of(name) for name in MACHINES}
        summaries = {name: it.summary for name, it in MACHINES.items()}
        files |= {it.name: it.text for it in own}
        names = tuple(it.name for it in own)
        return Catalogue(files, corpora, _words(), models, summaries, names)

    def require(self, asked: Question) -> None:
        """Raises Refused where a question names what does not ship."""
        for what, name, known in (
            ("model", asked.model, self.models),
            ("corpus", asked.corpus, self.corpora),
            ("machine", asked.machine.partition("+")[0], ("", *self.machines)),
        ):
            if name not in known:
                raise Refused(400, f"the {what} must be one that ships, not {name}")

    def _beside(self, own: str, examples: Sequence[dict[str, str]]) -> dict[str, str]:
        """An example whose test and model are of use for a scheme of one's own."""

        def alike(it: dict[str, str]) -> bool:
            return is_for_target(Source("", self.files[it["scheme"]])) == target

        target = is_for_target(Source(own, self.files[own]))
        return next(filter(alike, examples), examples[0])

    @cached_property
    def json(self) -> bytes:
        """What the script of the page needs to know; of files the names."""
        shipped = [it for it in _examples() if it["test"] in self.files]
        opened = [
            {**self._beside(each, shipped), "title": each, "about": _FIRST, "scheme": each}
            for each in self.own
        ]
        return msgspec.json.encode(
            {
                "schemes": [
                    *self.own,
                    *(path for path in self.files if path.startswith(f"{SCHEMES}/")),
                ],
                "corpora": self.corpora,
                "models": self.models,
                "machines": self.machines,
                "examples": [*opened, *shipped],
                "words": self.words,
            }
        )


def _examples() -> list[dict[str, str]]:
    """Schemes and tests to begin with, each with a line that says what it shows."""
    found: list[dict[str, str]] = msgspec.json.decode((HTML / "examples.json").read_bytes())
    return found


def _words() -> dict[str, Any]:
    """The words of schemes and tests, for whoever types them."""
    return {
        "keys": list(dict.fromkeys((*KEYS, *TABLE_KEYS))),
        "row_keys": list(dict.fromkeys((*ROW_KEYS, "from"))),
        "op": list(KINDS),
        "scope": list(SCOPES),
        "order": {name: orders_of(kind) for name, kind in KINDS.items()},
        "remote": ["true", "false"],
        "instructions": {
            name: [each for it in machine.instructions.values() for each in it.spellings]
            for name, machine in MACHINES.items()
        }
        | {
            name: sorted(instruction_set(target.dialect.instructions).mnemonics)
            for name, target in TARGETS.items()
        },
        "targets": list(TARGETS),
        "functions": sorted(FUNCTIONS["OpenCL"]),
        "constants": [*ORDERS["OpenCL"], *MEMORY_SCOPES],
        "types": ["global int*", "global atomic_int*", "int", "scopeTree", "exists"],
    }
