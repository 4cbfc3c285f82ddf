"""Reading .cat models: herd's language, the fragment of docs/cat-fragment.md."""

from __future__ import annotations

import difflib
import os.path
from dataclasses import dataclass, field
from functools import cache, reduce
from importlib.resources import files
from pathlib import Path

from lark import Lark, Token, Tree, UnexpectedCharacters, UnexpectedEOF, UnexpectedToken
from lark.exceptions import UnexpectedInput

from rspverify.axiomatic.comments import blank_comments
from rspverify.axiomatic.model import Axiom, Let, MemoryModel, ModelFile
from rspverify.axiomatic.vocabulary import BASE_RELATIONS, FINAL_WRITES, SETS, names_beneath
from rspverify.relation import (
    Complement,
    Composition,
    Difference,
    Expression,
    Identity,
    Intersection,
    Inverse,
    KindError,
    Name,
    Optionally,
    Plus,
    Product,
    Sort,
    Star,
    Test,
    Union,
)
from rspverify.source import InputError, Problem, Severity, Source, Span, read_source

SHIPPED = Path(str(files("rspverify.axiomatic") / "models"))

_BINARY = {
    "union": Union,
    "composition": Composition,
    "difference": Difference,
    "intersection": Intersection,
    "product": Product,
}
_UNARY = {
    "complement": Complement,
    "inverse": Inverse,
    "plus": Plus,
    "star": Star,
    "optionally": Optionally,
    "identity": Identity,
}
_UNSUPPORTED = {
    "let_rec": "a recursive let",
    "function": "a function",
    "unnamed": "an axiom without a name (`as Name`)",
    "show": "show and unshow",
    "flag": "flag",
    "nothing": "the empty relation 0",
    "application": "the application of a function",
}
_MAX_DEPTH = 150
"""Operators on top of each other; chains such as `a | b | c` count each."""
_MAX_TREE_DEPTH = 420


def shipped_models() -> tuple[str, ...]:
    """The names of the models that come with rspverify, those that others only include left out."""
    names = sorted(path.stem for path in SHIPPED.glob("*.cat"))
    return tuple(name for name in names if not name.endswith("-common"))


def load_model(name: str) -> MemoryModel:
    """A shipped model by its name, or a .cat file by its path. Raises InputError."""
    if name in shipped_models():
        return read_model(read_source(SHIPPED / f"{name}.cat"), name)
    if not Path(name).exists() and not name.endswith(".cat"):
        near = difflib.get_close_matches(name, shipped_models(), 1)
        raise InputError(
            [
                Problem(
                    None,
                    f"the model must be one of {', '.join(shipped_models())} or a .cat file, "
                    f"not {name}",
                    f"did you mean {near[0]}?" if near else None,
                )
            ]
        )
    return read_model(read_source(name), Path(name).stem)


def read_model(source: Source, name: str) -> MemoryModel:
    """Read a model from its text; `name` is what users call it. Raises InputError."""
    reader = _Reader()
    reader.including.append(Path(source.name).resolve())
    reader.read(source)
    names = [axiom.name for axiom in reader.axioms]
    if not reader.problems and not names:
        reader.problems.append(
            Problem(_whole(source), "a model must have at least one axiom", "e.g. acyclic hb as Hb")
        )
    if not reader.problems and reader.sorts.get("hb") is not Sort.RELATION:
        hint = "the final value of a non-atomic location is that of an hb-maximal write"
        reader.problems.append(Problem(_whole(source), "a model must define the relation hb", hint))
    if reader.problems:
        raise InputError(reader.problems)
    statements = tuple(reader.statements)
    return MemoryModel(
        name,
        statements,
        tuple(reader.axioms),
        tuple(reader.conditions),
        names_beneath(frozenset(reader.used)),
        tuple(reader.files),
    )


@cache
def _parser() -> Lark:
    grammar = (files("rspverify.axiomatic") / "cat.lark").read_text()
    return Lark(grammar, parser="lalr", propagate_positions=True)


def _base_sorts() -> dict[str, Sort]:
    sets = [*SETS, FINAL_WRITES]
    return dict.fromkeys(sets, Sort.SET) | dict.fromkeys(BASE_RELATIONS, Sort.RELATION)


@dataclass
class _Reader:
    """What has been read so far, over all included files."""

    sorts: dict[str, Sort] = field(default_factory=_base_sorts)
    statements: list[Let | Axiom] = field(default_factory=list)
    axioms: list[Axiom] = field(default_factory=list)
    conditions: list[Axiom] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    including: list[Path] = field(default_factory=list)
    files: list[ModelFile] = field(default_factory=list)

    def read(self, source: Source) -> None:
        """Read one file and what it includes."""
        self.files.append(ModelFile(os.path.abspath(source.name), source.text))
        for statement in _parse(source).children:
            if isinstance(statement, Tree) and statement.data != "title":
                self._statement(source, statement)

    def _statement(self, source: Source, tree: Tree[Token]) -> None:
        kind = str(tree.data)
        if kind in _UNSUPPORTED:
            self._unsupported(source, tree, kind)
        elif kind == "include":
            self._include(source, tree)
        elif kind == "let":
            self._let(source, tree)
        else:
            self._axiom(source, tree, kind == "condition")

    def _unsupported(self, source: Source, tree: Tree[Token], kind: str) -> None:
        message = f"{_UNSUPPORTED[kind]} is not supported by this version"
        hint = "docs/cat-fragment.md lists what is"
        problem = Problem(_span(source, tree), message, hint, severity=Severity.UNSUPPORTED)
        self.problems.append(problem)
        for binding in tree.find_data("binding") if kind == "let_rec" else ():
            self.broken.add(str(binding.children[0]))

    def _include(self, source: Source, tree: Tree[Token]) -> None:
        token = tree.children[0]
        name = str(token)[1:-1]
        path = self._found(Path(source.name).parent / name, SHIPPED / name)
        if path is None:
            message = (
                f'the included file must exist beside this one or among the models, not "{name}"'
            )
            self.problems.append(Problem(_span(source, tree), message))
        elif path.resolve() in self.including:
            self.problems.append(Problem(_span(source, tree), f'"{name}" must not include itself'))
        else:
            self.including.append(path.resolve())
            try:
                self.read(read_source(path))
            except InputError as error:
                self.problems += error.problems
            self.including.pop()

    def _found(self, *candidates: Path) -> Path | None:
        """The first of the paths at which there is a file; those before it are noted."""
        for path in candidates:
            if _is_file(path):
                return path
            self.files.append(ModelFile(os.path.abspath(path), None))
        return None

    def _let(self, source: Source, tree: Tree[Token]) -> None:
        fresh: list[tuple[str, Expression | None]] = []
        for binding in tree.children:
            assert isinstance(binding, Tree)
            if binding.data == "function":
                self._unsupported(source, binding, "function")
                self.broken.add(str(binding.children[0]))
                continue
            token, body = binding.children
            fresh.append((str(token), self._checked(source, body)))
        sound = tuple((name, each) for name, each in fresh if each is not None)
        self.broken |= {name for name, expression in fresh if expression is None}
        for name, each in sound:
            self.sorts[name] = each.sort
            self.defined.add(name)
        self.statements.append(Let(sound))

    def _axiom(self, source: Source, tree: Tree[Token], condition: bool) -> None:
        test, body, name = tree.children
        expression = self._checked(source, body)
        if any(str(name) == axiom.name for axiom in self.axioms + self.conditions):
            message = f"the name of an axiom must be unique, {name} is taken"
            self.problems.append(Problem(_span(source, name), message))
        if expression is None:
            return
        question = Test(str(test))
        if condition and question is not Test.EMPTY:
            message = f"undefined_unless {question.value} is not supported by this version"
            hint = "only undefined_unless empty, whose pairs are the races"
            span = _span(source, tree)
            self.problems.append(Problem(span, message, hint, severity=Severity.UNSUPPORTED))
            return
        if expression.sort is Sort.SET and question is not Test.EMPTY:
            message = f"{question.value} must have a relation, not a set"
            self.problems.append(Problem(_span(source, body), message))
            return
        axiom = Axiom(str(name), question, expression)
        (self.conditions if condition else self.axioms).append(axiom)
        self.statements.append(axiom)

    def _checked(self, source: Source, tree: Tree[Token] | Token) -> Expression | None:
        before = len(self.problems)
        built = self._expression(source, tree, 0)
        if built is not None and built[1] > _MAX_DEPTH:
            self._too_deep(source, tree)
        return built[0] if built is not None and len(self.problems) == before else None

    def _too_deep(self, source: Source, tree: Tree[Token] | Token) -> None:
        message = f"an expression must be at most {_MAX_DEPTH} operators deep"
        self.problems.append(Problem(_span(source, tree), message, "name parts of it with let"))

    def _expression(
        self, source: Source, tree: Tree[Token] | Token, nested: int
    ) -> tuple[Expression, int] | None:
        """The expression of a tree and its depth in operators; None after a problem."""
        assert isinstance(tree, Tree)
        kind = str(tree.data)
        children = [each for each in tree.children if isinstance(each, Tree)]
        if kind == "name":
            named = self._name(source, tree)
            return None if named is None else (named, 0)
        if kind in _UNSUPPORTED:
            self._unsupported(source, tree, kind)
            return None
        if nested > _MAX_TREE_DEPTH or len(children) > _MAX_DEPTH:
            self._too_deep(source, tree)
            return None
        operands = []
        for each in children:
            operand = self._expression(source, each, nested + 1)
            if operand is None and nested >= _MAX_TREE_DEPTH // 2:
                return None
            operands.append(operand)
        if len(operands) == 1 and kind in _BINARY:
            return operands[0]
        sound = [operand for operand in operands if operand is not None]
        if len(sound) < len(operands):
            return None
        depth = max(depth for _, depth in sound) + len(sound)
        try:
            if kind in _UNARY:
                return _UNARY[kind](sound[0][0]), depth
            return reduce(_BINARY[kind], [each for each, _ in sound]), depth
        except KindError as error:
            self.problems.append(Problem(_span(source, tree), str(error)))
            return None

    def _name(self, source: Source, tree: Tree[Token]) -> Expression | None:
        name = str(tree.children[0])
        if name in self.broken and name not in self.sorts:
            return None
        if name not in self.sorts:
            near = difflib.get_close_matches(name, self.sorts, 1)
            hint = (
                f"did you mean {near[0]}?" if near else "docs/cat-fragment.md lists the base names"
            )
            message = f"{name} must be a base name or defined above"
            self.problems.append(Problem(_span(source, tree), message, hint))
            self.broken.add(name)
            return None
        if name not in self.defined:
            self.used.add(name)
        return Name(name, self.sorts[name])


def _parse(source: Source) -> Tree[Token]:
    try:
        return _parser().parse(blank_comments(source))
    except (UnexpectedCharacters, UnexpectedToken, UnexpectedEOF) as error:
        raise InputError([_syntax_problem(source, error)]) from None


def _syntax_problem(source: Source, error: UnexpectedInput) -> Problem:
    line, column, width = error.line, error.column, 1
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        found = f"{str(error.token)!s}"
        width = len(found.splitlines()[0]) if found else 1
    elif isinstance(error, UnexpectedCharacters):
        found = source.text[error.pos_in_stream or 0]
    else:
        found = "the end of the file"
        lines = source.text.splitlines() or [""]
        line, column = len(lines), len(lines[-1]) + 1
    wanted = "a statement (`let x = …`, `acyclic x as X`) or the rest of its expression"
    span = Span(source, line, column, line, column + width)
    return Problem(span, f"a .cat file must have here {wanted}, not {found}")


def _span(source: Source, tree: Tree[Token] | Token) -> Span:
    place = tree if isinstance(tree, Token) else tree.meta
    return Span(source, place.line, place.column, place.end_line, place.end_column)  # type: ignore[arg-type]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _whole(source: Source) -> Span:
    return Span(source, 1, 1, 1, 2)
