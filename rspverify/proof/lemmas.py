"""The lemmas of the proof, as data: facts about one execution, and what follows from them.

lemmas.yaml has them, in SMT-LIB 2 (docs/proof.md says each in words). A solver shows that a lemma
follows from its facts. tests/proof/universe.py shows that the hypotheses hold together, and that a
lemma does not follow without one of its facts.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from msgspec import Struct

from rspverify.convert import Seconds
from rspverify.smt.smtlib import asked
from rspverify.source import InternalError

FILE = Path(__file__).with_name("lemmas.yaml")
CHECKED = "f31822acbb20d516e254db66a3ee2806be3fdf4e8c889f30376ea973249415ca"
"""The digest of lemmas.yaml whose lemmas Z3 and cvc5 have proved: tests hold that they do."""
SORTS = ("Event", "Group", "Location", "Invalidation", "Flush")
"""The things that an execution has."""

Formula: TypeAlias = str | tuple["Formula", ...]
"""An s-expression."""

_TOKEN = re.compile(r"[()]|[^\s()]+")


def formula(text: str) -> Formula:
    """The s-expression that a text is. Raises ValueError."""
    stack: list[list[Formula]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")" and len(stack) > 1:
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise ValueError(f"{text!r} must be one s-expression")
    return stack[0][0]


def written(it: Formula) -> str:
    """The text of an s-expression."""
    return it if isinstance(it, str) else f"({' '.join(map(written, it))})"


class Definition(Struct, frozen=True):
    """A name for a formula over some variables."""

    says: str
    of: tuple[str, ...]
    body: Formula


class Fact(Struct, frozen=True):
    """What holds of every execution, or an obligation. Free variables of it are for all."""

    name: str
    says: str
    body: Formula


class Lemma(Struct, frozen=True):
    """What follows from some facts. idea: why, in a line."""

    name: str
    idea: str
    uses: tuple[str, ...]
    goal: Formula


class LemmaAnswer(Struct, frozen=True):
    """What a solver says of a lemma: proved, or why not."""

    name: str
    idea: str
    solver: str
    proved: bool
    answer: str
    seconds: Seconds


class Theory(Struct, frozen=True, dict=True):
    """The facts and the lemmas, with what they are written in.

    functions: the sorts of their arguments, and of what they give. variables: their sorts.
    """

    functions: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, str]
    definitions: Mapping[str, Definition]
    facts: Mapping[str, Fact]
    lemmas: Mapping[str, Lemma]

    def question(self, lemma: Lemma) -> str:
        """Whether the facts of a lemma hold while it does not: `unsat` where it is proved."""
        claims = [self.for_all(self.facts[each].body) for each in lemma.uses]
        claims.append(("not", self.for_all(lemma.goal)))
        return self.script([*self._defined, *(f"(assert {written(it)})" for it in claims)])

    def for_all(self, body: Formula) -> Formula:
        """A formula, with all its free variables bound."""
        free = self.free(body)
        bound = tuple((each, self.variables[each]) for each in free)
        return ("forall", bound, body) if bound else body

    def free(self, body: Formula) -> list[str]:
        """The free variables of a formula, in the order in which they stand there."""
        if isinstance(body, str):
            return [body] if body in self.variables else []
        if body[0] in ("forall", "exists"):
            bound = {str(name) for name, _ in pairs(body[1])}
            return [each for each in self.free(body[2]) if each not in bound]
        return list(dict.fromkeys(name for each in body for name in self.free(each)))

    @cached_property
    def _defined(self) -> list[str]:
        lines = []
        for name, it in self.definitions.items():
            given = " ".join(f"({each} {self.variables[each]})" for each in it.of)
            lines.append(f"(define-fun {name} ({given}) Bool {written(it.body)})")
        return lines

    def script(self, lines: Iterable[str]) -> str:
        """A question about executions of which these lines hold."""
        sorts = (f"(declare-sort {each} 0)" for each in SORTS)
        functions = (
            f"(declare-fun {name} ({' '.join(of[:-1])}) {of[-1]})"
            for name, of in self.functions.items()
        )
        return "\n".join(["(set-logic ALL)", *sorts, *functions, *lines, "(check-sat)", ""])


def pairs(it: Formula) -> Iterator[tuple[Formula, Formula]]:
    """The names that a quantifier binds, each with its sort."""
    assert not isinstance(it, str)
    for each in it:
        assert not isinstance(each, str)
        yield each[0], each[1]


# ---- the file ------------------------------------------------------------------------------------


@cache
def theory() -> Theory:
    """The facts and lemmas that ship."""
    data: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    facts = {**data["facts"], **data["obligations"]}
    return Theory(
        {name: tuple(of) for name, of in data["functions"].items()},
        data["variables"],
        {
            name: Definition(it["says"], tuple(it["of"]), formula(it["is"]))
            for name, it in data["definitions"].items()
        },
        {name: Fact(name, it["says"], formula(it["is"])) for name, it in facts.items()},
        {
            name: Lemma(name, it["idea"], tuple(it["from"]), formula(it["is"]))
            for name, it in data["lemmas"].items()
        },
    )


def digest() -> str:
    """Of all that is to be proved."""
    return sha256(FILE.read_bytes()).hexdigest()


@cache
def require_proved() -> None:
    """The lemmas are those that were checked, or else proved now. Raises InternalError."""
    if digest() != CHECKED:
        open_lemmas = [it.name for it in proved() if not it.proved]
        if open_lemmas:
            raise InternalError(f"lemmas must be proved: {', '.join(open_lemmas)}")


def proved(solver: str = "z3", seconds: float | None = None) -> Iterator[LemmaAnswer]:
    """What a solver says of each lemma, one after the other."""
    for lemma in theory().lemmas.values():
        started = time.perf_counter()
        answer = asked(theory().question(lemma), solver, seconds)
        took = time.perf_counter() - started
        yield LemmaAnswer(lemma.name, lemma.idea, solver, answer == "unsat", answer, took)
