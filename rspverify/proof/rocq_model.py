"""A model's definitions and axioms as Rocq definitions, over the sets and relations of its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import fill

from rspverify.axiomatic.model import Axiom, Let, MemoryModel
from rspverify.axiomatic.vocabulary import SETS
from rspverify.relation.expression import Expression, Name, Sort, Test, operands
from rspverify.source import require

_HEAD = """\
(** Written by `rspverify show {name} --format rocq` from the model's file. *)
Require Import Relations.
Set Implicit Arguments.

Section Model.
Variable event : Type.
Notation set := (event -> Prop).
Notation rel := (event -> event -> Prop).

(** What operators mean. *)
Definition none : set := fun x => False.
Definition either (s t : set) : set := fun x => s x \\/ t x.
Definition both_of (s t : set) : set := fun x => s x /\\ t x.
Definition less (s t : set) : set := fun x => s x /\\ ~ t x.
Definition domain (r : rel) : set := fun x => exists y, r x y.
Definition range (r : rel) : set := fun y => exists x, r x y.
Definition empty : rel := fun x y => False.
Definition union (r s : rel) : rel := fun x y => r x y \\/ s x y.
Definition inter (r s : rel) : rel := fun x y => r x y /\\ s x y.
Definition minus (r s : rel) : rel := fun x y => r x y /\\ ~ s x y.
Definition seq (r s : rel) : rel := fun x z => exists y, r x y /\\ s y z.
Definition prod (s t : set) : rel := fun x y => s x /\\ t y.
Definition only (s : set) : rel := fun x y => x = y /\\ s x.
Definition inverse (r : rel) : rel := fun x y => r y x.
Definition maybe (r : rel) : rel := fun x y => r x y \\/ x = y.
Definition plus (r : rel) : rel := clos_trans event r.
Definition star (r : rel) : rel := clos_refl_trans event r.

(** The names that the model does not define. *)
"""
_OF_RELATIONS = {
    "Nothing": "empty",
    "Union": "union",
    "Intersection": "inter",
    "Difference": "minus",
    "Composition": "seq",
    "Product": "prod",
    "Identity": "only",
    "Inverse": "inverse",
    "Optionally": "maybe",
    "Plus": "plus",
    "Star": "star",
}
_OF_SETS = {
    "Nothing": "none",
    "Union": "either",
    "Intersection": "both_of",
    "Difference": "less",
    "Domain": "domain",
    "Range": "range",
}
_TESTS = {
    Test.IRREFLEXIVE: "forall x, ~ {} x x",
    Test.ACYCLIC: "forall x, ~ plus {} x x",
    Test.EMPTY: "forall x y, ~ {} x y",
}


def model_in_rocq(model: MemoryModel) -> str:
    """The definitions, axioms and conditions of a model. Raises InputError if it has more than sets
    and relations that are defined one after the other."""
    filled = (
        fill(it, 98, subsequent_indent="  ") if it[:3] == "Def" else it for it in _lines(model)
    )
    return "\n".join(filled) + "\n"


def _lines(model: MemoryModel) -> Iterator[str]:
    yield _HEAD.format(name=model.name)[:-1]
    defined = {name for it in model.statements if isinstance(it, Let) for name, _ in it.definitions}
    base = sorted(model.names - defined)
    fields = "; ".join(f"{identifier(it)} : {'set' if it in SETS else 'rel'}" for it in base)
    yield fill(f"Class base := {{ {fields} }}.", 98, subsequent_indent="  ")
    yield "Context {names : base}."
    yield "\n(** Its definitions, axioms, and what its programs must not do. *)"
    for it in model.statements:
        if isinstance(it, Let):
            for name, expression in it.definitions:
                yield f"Definition {identifier(name)} := {_term(expression, model)}."
        else:
            plain = isinstance(it, Axiom) and not it.negated and it.expression.sort is Sort.RELATION
            require(plain, f"{_only_plain(model)}, without {type(it).__name__}")
            assert isinstance(it, Axiom)
            term = _argument(_term(it.expression, model))
            yield f"Definition axiom_{it.name} := {_TESTS[it.test].format(term)}."
    yield "End Model."


def _only_plain(model: MemoryModel) -> str:
    return f"model {model.name} must consist of definitions and axioms to be written for Rocq"


def _term(expression: Expression, model: MemoryModel) -> str:
    if isinstance(expression, Name):
        return identifier(expression.name)
    names = _OF_SETS if expression.sort is Sort.SET else _OF_RELATIONS
    operator = type(expression).__name__
    require(operator in names, f"{_only_plain(model)}, without {expression}")
    return " ".join(
        [names[operator], *(_argument(_term(it, model)) for it in operands(expression))]
    )


def _argument(term: str) -> str:
    return f"({term})" if " " in term else term


def identifier(name: str) -> str:
    """A name as Rocq has it."""
    return re.sub(r"[^\w']", "_", name, flags=re.ASCII)
