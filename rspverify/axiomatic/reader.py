"""The statements of a model, over all files that it includes."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import assert_never

from rspverify.axiomatic.elaboration import (
    ORDERS,
    UNNAMED,
    Built,
    Cell,
    Elaborator,
    Meaning,
    Primitive,
    Scope,
    as_it_is,
    named,
)
from rspverify.axiomatic.library import (
    beyond_us,
    found,
    in_library,
    places,
    standard_library,
)
from rspverify.axiomatic.model import Axiom, Let, LetRec, Linearisation, ModelFile, Statement
from rspverify.axiomatic.syntax import Node, parse, unsupported
from rspverify.relation.algebra import polarity
from rspverify.relation.expression import (
    Composition,
    Expression,
    Name,
    Nothing,
    Plus,
    Sort,
    Test,
    Union,
    names_in,
)
from rspverify.source import InputError, Problem, Severity, Source, read_source, real_path

_TOTAL_ORDER = "S"
"""The name of the order that the header `withsc` asks for."""
_OPTIONS = ("withsc", "withoutsc", "withco", "withoutco", "withinit", "withoutinit")
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
        self._labels: set[str] = set()
        self._renamed = 0
        self._elaborator = Elaborator()
        self._read(standard_library())
        self._make_optional(0)

    @property
    def problems(self) -> list[Problem]:
        """Everything that is wrong, or right and not supported."""
        return self._elaborator.problems

    @property
    def axioms(self) -> tuple[Axiom, ...]:
        """The consistency axioms."""
        axioms = (it for it in self.statements if isinstance(it, Axiom))
        return tuple(it for it in axioms if it not in self.conditions)

    @property
    def _scope(self) -> Scope:
        return self._elaborator.scope

    def model(self, source: Source) -> None:
        """Read the file of a model, and all that it includes."""
        self._including.append(real_path(source.name))
        self._file(source, main=True)
        self.statements = [*_without_unused(self.statements, self._optional)]
        if {"EX", "X"} <= base_names(self.statements):
            self.statements.insert(0, Let((("X", Name("AMO", Sort.SET)),)))
            self._note("beside EX, X is of atomic memory operations, as herd has it")

    # ---- files -----------------------------------------------------------------------------------

    def _file(self, source: Source, *, main: bool = False) -> None:
        self.files.append(ModelFile(os.path.abspath(source.name), source.text))
        self._read(parse(source), main=main)

    def _read(self, file: Node, *, main: bool = False) -> None:
        shown = []
        for each in file.parts:
            if refused := [*each.refused()]:
                self.problems.extend(refused)
                words = [word for it in (each, *each.parts) for word in it.below]
                names = [word.text for word in words if word.kind == "NAME"]
                self._break(it for it in names if it not in self._scope)
                continue
            match each.kind:
                case "header":
                    self._header(each, main)
                case "let":
                    self._definition(each)
                case "let_rec":
                    self._recursive(each)
                case "include":
                    self._include(each)
                case "axiom":
                    self._question(each)
                case "choice":
                    self._chosen(each)
                case "show":
                    shown.append(str(each.span.line))
                case _:
                    raise AssertionError(f"a statement without a meaning: {each.kind}")
        if shown:
            lines = f"line{'s' * (len(shown) > 1)} {', '.join(shown)}"
            self._note(f"{file.span.source.name}: show and unshow count for nothing ({lines})")

    def _header(self, header: Node, main: bool) -> None:
        options = [each for each in header.below if each.text in _OPTIONS]
        title = [each for each in header.below if each.text not in _OPTIONS]
        if len(title) > 2 or (len(title) == 2 and title[0].kind == "STRING"):
            message = "a title must be a word, a text in quotes, or both in this order"
            hint = f"what may follow it is {', '.join(_OPTIONS)}"
            self.problems.append(Problem(title[-1].span, message, hint))
        for option in options:
            if option.text == "withsc" and main:
                members, none = Name("SC", Sort.SET), Nothing(Sort.RELATION)
                order = Linearisation(_TOTAL_ORDER, False, members, none)
                self._bind({_TOTAL_ORDER: Sort.RELATION}, order)
            elif option.text == "withsc":
                self._note(f"{option.span}: withsc counts for nothing in an included file")
            elif option.text == "withoutinit":
                what = "withoutinit counts for nothing, initial writes are events"
                self._note(f"{option.span}: {what}")

    def _include(self, statement: Node) -> None:
        (string,) = statement.below
        name, including = string.text[1:-1], Path(statement.span.source.name)
        path = found(name, including)
        for place in places(name, including):
            if place == path:
                break
            self.files.append(ModelFile(os.path.abspath(place), None))
        problem, hint = None, None
        if path is None:
            problem = "the included file must exist beside this one or among the models, "
            problem += f'not "{name}"'
        elif sum(each.text is not None for each in self.files) >= _MAX_FILES:
            problem = f"a model must include at most {_MAX_FILES - 1} files"
            hint = "a file counts each time"
        elif real_path(path) in self._including:
            problem = f'"{name}" must not include itself'
        if path is None or problem is not None:
            self.problems.append(Problem(statement.span, str(problem), hint))
            return
        ours = in_library(name)
        if ours is not None and path != ours and (beyond := beyond_us(path)):
            self.files.append(ModelFile(os.path.abspath(path), read_source(path).text))
            self._note(
                f'{statement.span}: "{name}" beside it is beyond our language '
                f"({beyond.span}: {beyond.message}); "
                "what it means in herd's library is built in and taken instead"
            )
            path = ours
        self._included(path)

    def _included(self, path: Path) -> None:
        self._including.append(real_path(path))
        before = len(self.statements)
        try:
            self._file(read_source(path))
        except InputError as error:
            self.problems.extend(error.problems)
        if in_library(path.name) is not None:
            self._make_optional(before)
        self._including.pop()

    def _make_optional(self, start: int) -> None:
        """Let the definitions since then go where nothing mentions what they define."""
        since = (it for it in self.statements[start:] if not isinstance(it, Axiom))
        self._optional |= {id(each): each for each in since}

    # ---- definitions -----------------------------------------------------------------------------

    def _definition(self, statement: Node) -> None:
        if not self._may_be_defined(statement):
            return
        values = {it.name: self._elaborator.bound(it) for it in statement.parts}
        meanings = {name: it for name, it in values.items() if isinstance(it, Mapping)}
        if meanings:
            sorts = {name: next(iter(each)) for name, each in meanings.items()}
            chosen = [(name, each[sorts[name]].expression) for name, each in meanings.items()]
            self._bind(sorts, Let(tuple(chosen)))
        for name in values.keys() - meanings.keys():
            self._keep(name)
            self._scope[name] = Cell(values[name])

    def _may_be_defined(self, statement: Node) -> bool:
        names = [each.name for each in statement.parts]
        if len(set(names)) == len(names) and UNNAMED not in names:
            return True
        message = "what is defined at once must have names, all different"
        self.problems.append(Problem(statement.span, message))
        self._break(names)
        return False

    def _recursive(self, statement: Node) -> None:
        """`let rec`: each name is a set or a relation, as the others' definitions want it."""
        if not self._may_be_defined(statement):
            return
        bindings = statement.parts
        names = [each.name for each in bindings]
        for name in names:
            self._keep(name)
        sorts: dict[str, Sort] = {}
        for _ in names:
            before = len(self.problems)
            bodies = self._bodies(bindings, sorts, as_it_is(self._scope))
            del self.problems[before:]
            known = {
                name: next(iter(each)) for name, each in bodies.items() if each and len(each) == 1
            }
            if len(known) == len(sorts):
                break
            sorts = known
        sorts = {name: sorts.get(name, Sort.RELATION) for name in names}
        bodies = self._bodies(bindings, sorts, self._scope)
        definitions = []
        for binding in bindings:
            body, sort = bodies[binding.name], sorts[binding.name]
            if body is not None and sort not in body:
                other = next(iter(body)).value
                message = f"{binding.name} is a {sort.value} where it is used, and here a {other}"
                self.problems.append(Problem(binding.parts[-1].span, message))
            elif body is not None:
                definitions.append((binding.name, body[sort].expression))
                self._must_grow(binding, body[sort].expression, names)
        closed = [(name, it) for name, body in definitions if (it := _closure(name, body))]
        if len(closed) == len(names) == 1:
            self._bind(sorts, Let(tuple(closed)))
        elif len(definitions) == len(names):
            self._bind(sorts, LetRec(tuple(definitions)))
        else:
            self._break(names)

    def _bodies(
        self, bindings: Sequence[Node], sorts: Mapping[str, Sort], scope: Scope
    ) -> dict[str, Meaning | None]:
        """What definitions mean if names of unknown sort may be of either."""
        names = [each.name for each in bindings]
        own = {it: Cell(named(it, *([sorts[it]] if it in sorts else Sort))) for it in names}
        inner = scope.new_child(own)
        return {it.name: self._elaborator.expression(it.parts[-1], inner) for it in bindings}

    def _must_grow(self, binding: Node, body: Expression, names: Sequence[str]) -> None:
        shrinking = polarity(body).negative
        for name in names:
            if name in shrinking:
                message = f"{name} under ~ or on the right of \\ in a let rec that defines it"
                self.problems.append(unsupported(binding.span, message))

    # ---- axioms and choices ----------------------------------------------------------------------

    def _question(self, statement: Node) -> None:
        (asked,) = statement.parts
        (body,) = asked.parts
        qualifier, word = statement.terminal("QUALIFIER"), asked.terminal("TEST")
        assert word is not None
        meaning = self._elaborator.expression(body)
        name = self._label(statement, asked.terminal("NAME"), word.text)
        if meaning is None:
            return
        test = Test(word.text)
        sort = next(iter(meaning))
        if test is not Test.EMPTY:
            if Sort.RELATION not in meaning:
                message = f"{test.value} must have a relation, not a set"
                self.problems.append(Problem(body.span, message))
                return
            sort = Sort.RELATION
        # A flag is raised where its test holds; what we ask for is that it is not.
        flag = qualifier is not None and qualifier.text == "flag"
        sign = "~" if asked.terminal("COMPLEMENT") else ""
        negated = bool(sign) is not flag
        axiom = Axiom(name, test, meaning[sort].expression, negated, flag)
        if qualifier is not None:
            if negated:
                what = f"{qualifier.text} {sign}{test.value}, which no event or pair of events"
                self.problems.append(unsupported(statement.span, f"{what} can show,"))
                return
            self.conditions.append(axiom)
        self.statements.append(axiom)

    def _label(self, statement: Node, label: Node | None, test: str) -> str:
        span = statement.span if label is None else label.span
        given = None if label is None else label.text
        start = given or test
        stem = Path(span.source.name).stem
        names = [given] if given is not None else []
        names += [f"{start}@{span.line}", f"{start}@{stem}:{span.line}"]
        names += [f"{start}@{stem}:{span.line}:{span.column}"]
        number = 2
        while names[0] in self._labels:
            names = [*names[1:], f"{start}@{stem}:{span.line}:{span.column}:{number}"]
            number += 1
        self._labels.add(names[0])
        if given is not None and names[0] != given:
            self._note(f"{span}: the name {given} is taken, this axiom is called {names[0]}")
        return names[0]

    def _chosen(self, statement: Node) -> None:
        """`with name from generate_orders(…)`: an order that each execution chooses."""
        order = self._order(statement)
        if statement.name == UNNAMED:
            message = "the order that is chosen must have a name"
            self.problems.append(Problem(statement.span, message))
        elif order is None:
            self._break([statement.name])
        else:
            self._bind({statement.name: Sort.RELATION}, order)

    def _order(self, statement: Node) -> Linearisation | None:
        (body,) = statement.parts
        maker = None
        if body.kind == "application" and body.parts[0].text in self._scope:
            maker = self._scope[body.parts[0].text].value
        if not (isinstance(maker, Primitive) and maker.name in ORDERS):
            makers = "generate_orders(set, relation) or linearisations(set, relation)"
            message = f"what stands after `with … from` must be {makers}"
            problem = Problem(body.span, message, severity=Severity.UNSUPPORTED)
            self.problems.append(problem)
            return None
        number, arguments = ORDERS[maker.name], body.parts[1:]
        if len(arguments) != number:
            message = f"{maker.name} must have {number} argument{'s' * (number != 1)}"
            self.problems.append(Problem(body.span, f"{message}, not {len(arguments)}"))
            return None
        if number == 1:
            arguments = (Node("name", body.span, text="W"), *arguments)
        events = self._argument(arguments[0], Sort.SET, maker.name)
        order = self._argument(arguments[1], Sort.RELATION, maker.name)
        if events is None or order is None:
            return None
        return Linearisation(statement.name, maker.name != "linearisations", events, order)

    def _argument(self, node: Node, sort: Sort, function: str) -> Expression | None:
        meaning = self._elaborator.expression(node)
        if meaning is not None and sort not in meaning:
            other = next(iter(meaning)).value
            message = f"this argument of {function} must be a {sort.value}, not a {other}"
            self.problems.append(Problem(node.span, message))
            return None
        return None if meaning is None else meaning[sort].expression

    # ---- names -----------------------------------------------------------------------------------

    def _bind(self, sorts: Mapping[str, Sort], statement: Statement) -> None:
        for name in sorts:
            self._keep(name)
        self.statements.append(statement)
        for name, sort in sorts.items():
            self._scope[name] = Cell(named(name, sort))

    def _keep(self, name: str) -> None:
        """Give what a name stands for another name before it changes: functions may speak of it."""
        hidden: dict[Sort, Built] = {}
        for cell in self._scope.values() if name in self._scope else ():
            meaning = cell.value if isinstance(cell.value, Mapping) else {}
            for sort in (it for it, built in meaning.items() if built.expression == Name(name, it)):
                if sort not in hidden:
                    self._renamed += 1
                    other = f"{name}@{self._renamed}"
                    hidden[sort] = Built(Name(other, sort))
                    statement = Let(((other, Name(name, sort)),))
                    self._optional[id(statement)] = statement
                    self.statements.append(statement)
                cell.value = {**meaning, sort: hidden[sort]}

    def _break(self, names: Iterable[str]) -> None:
        """Keep quiet about names whose definitions were wrong."""
        self._scope.update({name: Cell(None) for name in names if name != UNNAMED})

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _closure(name: str, body: Expression) -> Expression | None:
    """What `let rec r = e | (r; r)` means, `e+`; None of another recursion."""
    own = Name(name, Sort.RELATION)
    parts, waiting = list[Expression](), [body]
    while waiting:
        it = waiting.pop()
        if isinstance(it, Union):
            waiting += it.right, it.left
        else:
            parts.append(it)
    rest = [it for it in parts if it != Composition(own, own)]
    if len(rest) in (0, len(parts)) or any(name in names_in(it) for it in rest):
        return None
    return Plus(reduce(Union, rest))


# ---- which names are used ------------------------------------------------------------------------


def _without_unused(
    statements: Sequence[Statement], optional: Mapping[int, Statement]
) -> Iterable[Statement]:
    """The statements without definitions of a name by itself, and without what is unused.

    optional: by id, definitions that go where no later statement mentions them: what a model does
    not mention costs nothing, as its executions choose no orders that nothing asks for.
    """
    kept: list[Statement] = []
    mentioned: set[str] = set()
    for statement in reversed(statements):
        if id(statement) in optional and not mentioned & _names_of(statement)[0]:
            continue
        if isinstance(statement, Let):  # c11_cos.cat of herd has `coi = coi`.
            own = [it for it in statement.definitions if it[1] != Name(it[0], it[1].sort)]
            if not own:
                continue
            statement = Let(tuple(own))
        mentioned |= _names_of(statement)[1]
        kept.append(statement)
    return reversed(kept)


def base_names(statements: Iterable[Statement]) -> frozenset[str]:
    """The names that are mentioned where no statement before defines them."""
    found: set[str] = set()
    defined: set[str] = set()
    for statement in statements:
        own, mentioned = _names_of(statement)
        found |= mentioned - defined - (own if isinstance(statement, LetRec) else frozenset())
        defined |= own
    return frozenset(found)


def _names_of(statement: Statement) -> tuple[frozenset[str], frozenset[str]]:
    match statement:
        case Let(definitions) | LetRec(definitions):
            defined, expressions = [name for name, _ in definitions], [it for _, it in definitions]
        case Linearisation(name, _, events, order):
            defined, expressions = [name], [events, order]
        case Axiom():
            defined, expressions = [], [statement.expression]
        case _:
            assert_never(statement)
    return frozenset(defined), frozenset().union(*map(names_in, expressions))
