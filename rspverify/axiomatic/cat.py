"""Reading .cat models: herd's language, as far as docs/cat-fragment.md describes it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from rspverify.axiomatic.catalogue import SHIPPED, shipped_models
from rspverify.axiomatic.model import MemoryModel
from rspverify.axiomatic.reader import Reader, base_names
from rspverify.axiomatic.vocabulary import names_beneath
from rspverify.records import replace
from rspverify.source import InputError, Problem, Source, Span, read_source, real_path
from rspverify.wording import guess


def load_model(name: str) -> MemoryModel:
    """A shipped model by its name, or a .cat file by its path. Raises InputError."""
    if name in shipped_models():
        return _shipped(SHIPPED / f"{name}.cat")
    if not Path(name).exists() and not name.endswith(".cat"):
        known = f"one of {', '.join(shipped_models())} or a .cat file"
        hint = guess(name, shipped_models())
        raise InputError([Problem(None, f"the model must be {known}, not {name}", hint)])
    path = Path(name)
    if real_path(path).parent == SHIPPED.resolve():
        return read_model(read_source(path), path.stem)
    from rspverify.axiomatic.final_values import notes_on_final_values

    model = read_model(read_source(path), path.name)
    return replace(model, notes=(*model.notes, *notes_on_final_values(model)))


@cache
def _shipped(path: Path) -> MemoryModel:
    """A model that ships, read when it is first asked for, as its file does not change."""
    return read_model(read_source(path), path.stem)


def read_model(source: Source, name: str) -> MemoryModel:
    """Read a model from its text; `name` is what users call it. Raises InputError."""
    reader = Reader()
    reader.model(source)
    if not reader.problems and not reader.axioms:
        whole = Span(source, 1, 1, 1, 2)
        hint = "e.g. acyclic hb as Hb"
        reader.problems.append(Problem(whole, "a model must have at least one axiom", hint))
    if reader.problems:
        raise InputError(reader.problems)
    return MemoryModel(
        name,
        tuple(reader.statements),
        reader.axioms,
        tuple(reader.conditions),
        names_beneath(base_names(reader.statements)),
        tuple(reader.files),
        tuple(reader.notes),
    )
