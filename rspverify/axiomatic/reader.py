"""The statements of a model, over all files that it includes."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, assert_never

from rspverify.axiomatic.elaboration import UNNAMED, Elaborator, unsupported
from rspverify.axiomatic.library import found, in_library, places, standard_library
from rspverify.axiomatic.linearisation import linearisation
from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, ModelFile, Statement
from rspverify.axiomatic.parsing import parse
from rspverify.axiomatic.scope import Built, Cell, Denoted, Meaning, Scope, base_scope
from rspverify.axiomatic.syntax import (
    Binding,
    CatFile,
    Chosen,
    Definition,
    Include,
    Question,
    RefusedStatement,
    Show,
)
from rspverify.axiomatic.usage import without_unused
from rspverify.relation.expression import Expression, Name, Nothing, Sort, Test
from rspverify.relation.polarity import polarity
from rspverify.source import InputError, Problem, Severity, Source, Span, read_source, real_path

_TOTAL_ORDER = "S"
"""The name of the order that the header `withsc` asks for."""
_OPTIONS = ("withsc", "withoutsc", "withco", "withoutco", "withinit", "withoutinit")
_RESTRICTING = ("int", "ext")


_MAX_FILES = 64
"""So many files may be read for one model, a file that is included twice counted twice."""


class Reader:
    """Reads the files of a model; afterwards it has the statements, or the problems."""

    def __init__(self) -> None:
        self.statements: list[Statement] = []
        self.conditions: list[Axiom] = []
        self.files: list[ModelFile] = []
        self.notes: list[str] = []
        self._including: list[Path] = []
        self._optional: dict[int, Statement] = {}
        self.labels: set[str] = set()
        self._renamed = 0
        self._scope = base_scope()
        restricting = {name: self._scope.names[name] for name in _RESTRICTING}
        self._elaborator = Elaborator(restricting)
        self._read(standard_library())
        self._make_optional(0)

    @property
    def problems(self) -> list[Problem]:
        """Everything that is wrong, or right and not supported."""
        return self._elaborator.problems

    @property
    def axioms(self) -> tuple[Axiom, ...]:
        """The consistency axioms."""
        return tuple(
            each
            for each in self.statements
            if isinstance(each, Axiom) and each not in self.conditions
        )

    def model(self, source: Source) -> None:
        """Read the file of a model, and all that it includes."""
        self._including.append(real_path(source.name))
        self._file(source, main=True)
        self.statements = [*without_unused(self.statements, self._optional)]

    # Files.

    def _file(self, source: Source, *, main: bool = False) -> None:
        self.files.append(ModelFile(os.path.abspath(source.name), source.text))
        file = parse(source)
        self._header(file, main)
        self._read(file)

    def _read(self, file: CatFile) -> None:
        shown = []
        for each in file.statements:
            match each:
                case Definition():
                    self._definition(each)
                case Include():
                    self._include(each)
                case Question():
                    self._question(each)
                case Chosen():
                    self._chosen(each)
                case Show():
                    shown.append(str(each.span.line))
                case RefusedStatement():
                    self._refused(each)
                case _:
                    assert_never(each)
        if shown:
            lines = f"line{'s' * (len(shown) > 1)} {', '.join(shown)}"
            self._note(f"{file.source.name}: show and unshow count for nothing ({lines})")

    def _header(self, file: CatFile, main: bool) -> None:
        options = [each for each in file.header if each[0] in _OPTIONS]
        title = [each for each in file.header if each[0] not in _OPTIONS]
        if len(title) > 2 or (len(title) == 2 and title[0][0].startswith('"')):
            message = "a title must be a word, a text in quotes, or both in this order"
            hint = f"what may follow it is {', '.join(_OPTIONS)}"
            self.problems.append(Problem(title[-1][1], message, hint))
        for option, span in options:
            if option == "withsc" and main:
                order = Linearisation(
                    _TOTAL_ORDER, False, Name("SC", Sort.SET), Nothing(Sort.RELATION)
                )
                self._bind({_TOTAL_ORDER: Sort.RELATION}, order)
            elif option == "withsc":
                self._note(f"{span}: {option} counts for nothing in an included file")
            elif option == "withoutinit":
                self._note(f"{span}: {option} counts for nothing, initial writes are events")

    def _include(self, syntax: Include) -> None:
        name, including = syntax.name, Path(syntax.span.source.name)
        path = found(name, including)
        for place in places(name, including):
            if place == path:
                break
            self.files.append(ModelFile(os.path.abspath(place), None))
        if path is None:
            message = (
                f'the included file must exist beside this one or among the models, not "{name}"'
            )
            self.problems.append(Problem(syntax.span, message))
        elif sum(each.text is not None for each in self.files) >= _MAX_FILES:
            message = f"a model must include at most {_MAX_FILES - 1} files"
            self.problems.append(Problem(syntax.span, message, "a file counts each time"))
        elif real_path(path) in self._including:
            self.problems.append(Problem(syntax.span, f'"{name}" must not include itself'))
        else:
            ours = in_library(name)
            before = None if ours is None or path == ours else _Snapshot(self, self._scope)
            self._included(path)
            first = None if before is None else before.beyond_us(path)
            if before is not None and ours is not None and first is not None:
                before.restore()
                message = f'"{name}" beside it is beyond our language'
                self._note(
                    f"{syntax.span}: {message} ({first.span}: {first.message}); "
                    "what it means in herd's library is built in and taken instead"
                )
                self._included(ours)

    def _included(self, path: Path) -> None:
        self._including.append(real_path(path))
        before = len(self.statements)
        try:
            self._file(read_source(path))
        except InputError as error:
            self.problems.extend(error.problems)
        if _is_ours(path):
            self._make_optional(before)
        self._including.pop()

    def _make_optional(self, start: int) -> None:
        """Let the statements since then go where nothing mentions what they define."""
        self._optional |= {id(each): each for each in self.statements[start:]}

    # Statements.

    def _refused(self, syntax: RefusedStatement) -> None:
        self.problems.append(unsupported(syntax.span, syntax.construct))
        self._break(name for name in syntax.names if self._scope.cell(name) is None)

    def _definition(self, syntax: Definition) -> None:
        names = [each.name for each in syntax.bindings]
        if len(set(names)) < len(names) or UNNAMED in names:
            message = "what is defined at once must have names, all different"
            self.problems.append(Problem(syntax.span, message))
            self._break(names)
            return
        if syntax.recursive:
            self._recursive(syntax)
            return
        values = {it.name: self._bound(it) for it in syntax.bindings}
        meanings = {name: it for name, it in values.items() if isinstance(it, Mapping)}
        if meanings:
            sorts = {name: next(iter(each)) for name, each in meanings.items()}
            chosen = [(name, each[sorts[name]].expression) for name, each in meanings.items()]
            self._bind(sorts, Let(tuple(chosen)))
        for name in (each for each in names if each not in meanings):
            self._keep(name)
            self._scope.names[name] = Cell(values[name])

    def _bound(self, binding: Binding) -> Denoted:
        if binding.parameters is not None:
            return self._elaborator.function(binding, self._scope)
        return self._elaborator.value(binding.body, self._scope)

    def _recursive(self, syntax: Definition) -> None:
        """`let rec`: each name is a set or a relation, as the others' definitions want it."""
        names = [each.name for each in syntax.bindings]
        for name in names:
            self._keep(name)
        sorts: dict[str, Sort] = {}
        for _ in names:
            found = self._recursive_bodies(
                syntax, sorts, Elaborator(self._elaborator.restricting, trying=True)
            )
            known = {
                name: next(iter(each)) for name, each in found.items() if each and len(each) == 1
            }
            if len(known) == len(sorts):
                break
            sorts = known
        sorts = {name: sorts.get(name, Sort.RELATION) for name in names}
        bodies = self._recursive_bodies(syntax, sorts, self._elaborator)
        definitions = []
        for binding in syntax.bindings:
            body, sort = bodies[binding.name], sorts[binding.name]
            if body is not None and sort not in body:
                other = next(iter(body)).value
                message = f"{binding.name} is a {sort.value} where it is used, and here a {other}"
                self.problems.append(Problem(binding.body.span, message))
            elif body is not None:
                definitions.append((binding.name, body[sort].expression))
                self._must_grow(binding, body[sort].expression, names)
        if len(definitions) == len(names):
            self._bind(sorts, LetRec(tuple(definitions)))
        else:
            self._break(names)

    def _recursive_bodies(
        self, syntax: Definition, sorts: Mapping[str, Sort], elaborator: Elaborator
    ) -> dict[str, Meaning | None]:
        """What the definitions mean if names of unknown sort may be of either."""
        inner = Scope(outer=self._scope)
        for each in syntax.bindings:
            possible = [sorts[each.name]] if each.name in sorts else list(Sort)
            inner.names[each.name] = Cell({sort: Built(Name(each.name, sort)) for sort in possible})
        return {each.name: elaborator.expression(each.body, inner) for each in syntax.bindings}

    def _must_grow(self, binding: Binding, body: Expression, names: Sequence[str]) -> None:
        shrinking = polarity(body).negative
        for name in names:
            if name in shrinking:
                message = f"{name} under ~ or on the right of \\ in a let rec that defines it"
                self.problems.append(unsupported(binding.span, message))

    def _question(self, syntax: Question) -> None:
        meaning = self._elaborator.expression(syntax.body, self._scope)
        span = syntax.span if syntax.label is None else syntax.label[1]
        name = self._label(syntax, span)
        if meaning is None:
            return
        test = Test(syntax.test)
        sort = next(iter(meaning))
        if test is not Test.EMPTY:
            if Sort.RELATION not in meaning:
                message = f"{test.value} must have a relation, not a set"
                self.problems.append(Problem(syntax.body.span, message))
                return
            sort = Sort.RELATION
        # A flag is raised where its test holds; what we ask for is that it is not.
        flag = syntax.qualifier == "flag"
        negated = syntax.negated is not flag
        if syntax.qualifier is not None and negated:
            sign = "~" if syntax.negated else ""
            what = (
                f"{syntax.qualifier} {sign}{test.value}, which no event or pair of events can show,"
            )
            self.problems.append(unsupported(syntax.span, what))
            return
        axiom = Axiom(name, test, meaning[sort].expression, negated, flag)
        if syntax.qualifier is not None:
            self.conditions.append(axiom)
        self.statements.append(axiom)

    def _label(self, syntax: Question, span: Span) -> str:
        """The name of an axiom, which no other has."""
        given = None if syntax.label is None else syntax.label[0]
        start = given or syntax.test
        stem = Path(span.source.name).stem
        names = [given] if given is not None else []
        names += [f"{start}@{span.line}", f"{start}@{stem}:{span.line}"]
        names += [f"{start}@{stem}:{span.line}:{span.column}"]
        number = 2
        while names[0] in self.labels:
            names = [*names[1:], f"{start}@{stem}:{span.line}:{span.column}:{number}"]
            number += 1
        self.labels.add(names[0])
        if given is not None and names[0] != given:
            self._note(f"{span}: the name {given} is taken, this axiom is called {names[0]}")
        return names[0]

    def _chosen(self, syntax: Chosen) -> None:
        order = linearisation(syntax, self._elaborator, self._scope)
        if syntax.name == UNNAMED:
            self.problems.append(Problem(syntax.span, "the order that is chosen must have a name"))
        elif order is None:
            self._break([syntax.name])
        else:
            self._bind({syntax.name: Sort.RELATION}, order)

    # Names.

    def _bind(self, sorts: Mapping[str, Sort], statement: Statement) -> None:
        """Add a statement and the names that it binds."""
        for name in sorts:
            self._keep(name)
        self.statements.append(statement)
        for name, sort in sorts.items():
            self._scope.names[name] = Cell({sort: Built(Name(name, sort))})

    def _keep(self, name: str) -> None:
        """Give what a name stands for another name, if functions speak of it, before it changes."""
        cell = self._scope.names.get(name)
        cells = [] if cell is None or not cell.captured else [cell]
        if name == "RMW" and (other := self._scope.names.get("rmw")) is not None:
            cells.append(other)
        for each in cells:
            if not isinstance(each.value, Mapping):
                continue
            for sort, built in list(each.value.items()):
                if built.expression != Name(name, sort):
                    continue
                self._renamed += 1
                hidden = f"{name}@{self._renamed}"
                statement = Let(((hidden, built.expression),))
                self._optional[id(statement)] = statement
                self.statements.append(statement)
                each.value = {**each.value, sort: Built(Name(hidden, sort))}

    def _break(self, names: Iterable[str]) -> None:
        """Keep quiet about names whose definitions were wrong."""
        self._scope.names.update({name: Cell(None) for name in names if name != UNNAMED})

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


class _Snapshot:
    """The state of a reader before a file, to go back to."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader = reader
        self._scope = scope
        self._cells = {name: (it, it.value, it.captured) for name, it in scope.names.items()}
        lists = (reader.statements, reader.conditions, reader.problems, reader.notes)
        self._lengths: list[tuple[list[Any], int]] = [(each, len(each)) for each in lists]
        self._labels = set(reader.labels)
        self._problems = len(reader.problems)

    def beyond_us(self, path: Path) -> Problem | None:
        """The first construct of the file that is not supported, if it has no axioms of its own.

        With these it would not be one of herd's library.
        """
        since = self._reader.problems[self._problems :]
        first = next((each for each in since if each.severity is Severity.UNSUPPORTED), None)
        if first is None or any(isinstance(it, Question | Chosen) for it in _statements(path)):
            return None
        return first

    def restore(self) -> None:
        """Forget everything since then, other than which files were read."""
        for each, length in self._lengths:
            del each[length:]
        self._reader.labels = self._labels
        self._scope.names.clear()
        for name, (cell, value, captured) in self._cells.items():
            cell.value, cell.captured = value, captured
            self._scope.names[name] = cell


def _is_ours(path: Path) -> bool:
    """Whether a file is of our library, or a copy beside a model."""
    ours = in_library(path.name)
    try:
        return ours is not None and read_source(path).text == read_source(ours).text
    except InputError:
        return False


def _statements(path: Path) -> Iterable[object]:
    try:
        return parse(read_source(path)).statements
    except InputError:
        return ()
