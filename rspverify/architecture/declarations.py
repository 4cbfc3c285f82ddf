"""The declarations of a machine: its file, over the files that it includes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from rspverify.architecture import syntax
from rspverify.architecture.catalogue import ENDING, MAX_CHARACTERS, SHIPPED, read_machine, shipped
from rspverify.architecture.parsing import parse
from rspverify.architecture.problems import Problems
from rspverify.records import replace
from rspverify.source import InputError, Source, Span, real_path
from rspverify.wording import alternatives, guess

MAX_FILES = 16
"""How many files a machine is made of."""

Key = tuple[type | str, str]
"""The key of a declaration: it replaces another of the same kind and name.

Instructions and steps are of one kind; what a machine has once has no name.
"""

Declaration = syntax.Item | syntax.Cell

Declarations = Mapping[Key, Declaration]


def declarations(file: syntax.MachineFile, problems: Problems) -> Declarations:
    """All declarations of a machine; a repeated one replaces the included one.

    Raises InputError where files are missing or wrong, as all else would be a consequence.
    """
    collector = _Collector(problems)
    found = collector.collect(file, (real_path(file.source.name),))
    if collector.broken:
        problems.raise_any()
    return found


class _Collector:
    def __init__(self, problems: Problems) -> None:
        self.broken = False
        self._problems = problems
        self._characters = 0
        self._known: dict[Path, dict[Key, Declaration]] = {}

    def collect(self, file: syntax.MachineFile, chain: tuple[Path, ...]) -> dict[Key, Declaration]:
        """The declarations of a file. chain: it, and the files by which it was included."""
        found: dict[Key, Declaration] = {}
        for broken in file.broken:
            self._problems.note(broken.problem)
            self.broken = self.broken or len(chain) > 1
        for node in _of(file, "include"):
            found |= self._included(node, chain)
        for node in _of(file, "without"):
            self._leave_out(node.parts[0], found)
        own: dict[Key, Declaration] = {}
        for each in file.items:
            for it in _declared(each):
                key = key_of(it)
                if key in own:
                    what = key[1] or f"`{it.span.text.split()[0]}`"
                    message = f"{what} must be declared once in a file, not twice"
                    self._problems.again(_place(it), message, _place(own[key]))
                own[key] = it
        return found | own

    def _included(self, include: syntax.Node, chain: tuple[Path, ...]) -> dict[Key, Declaration]:
        (named,) = include.parts
        name, ships = str(named), isinstance(named, syntax.Word)
        beside = Path(include.span.source.name).parent
        found = SHIPPED / f"{name}{ENDING}" if ships else beside / name
        path = real_path(found)
        if path in chain:
            circle = [each.name for each in (*chain[chain.index(path) :], path)]
            self._broken(include, f"{path.name} must not include itself: {' → '.join(circle)}")
        elif ships and not path.is_file():
            message = f"{name} must be a machine that ships: {alternatives(shipped())}"
            hint = guess(name, shipped()) or "the name of a file stands in quotes"
            self._broken(include, message, hint)
        elif path not in self._known and len(self._known) == MAX_FILES:
            self._broken(include, f"a machine must be made of at most {MAX_FILES} files")
        elif path not in self._known:
            self._known[path] = {}
            try:
                source = read_machine(found)
                self._characters += len(source.text)
                if self._characters > MAX_CHARACTERS:
                    message = f"a machine must include at most {MAX_CHARACTERS:,} characters"
                    self._broken(include, message)
                else:
                    syntax_of = _shipped if found.parent == SHIPPED else parse
                    self._known[path] = self.collect(syntax_of(source), (*chain, path))
            except InputError as error:  # What has no place is at the place of the include.
                self.broken = True
                for it in error.problems:
                    self._problems.note(replace(it, span=it.span or include.span))
        known = self._known.get(path, {})
        return {key: it for key, it in known.items() if key != ("title", "")}

    def _broken(self, include: syntax.Node, message: str, hint: str | None = None) -> None:
        self.broken = True
        self._problems.error(include.span, message, hint)

    def _leave_out(self, words: Iterable[syntax.Word], found: dict[Key, Declaration]) -> None:
        for word in words:
            kinds = syntax.Step, syntax.Cell
            kind = next((kind for kind in kinds if (kind, word.text) in found), None)
            if kind is not None:
                del found[kind, word.text]
                continue
            known = [name for each, name in found if each in kinds]
            message = f"{word} must be an included instruction, step or part of the state"
            self._problems.error(word.span, message, guess(word.text, known))


def key_of(declaration: Declaration) -> Key:
    """The key of a declaration."""
    match declaration:
        case syntax.Instruction() | syntax.Step():
            return syntax.Step, declaration.name.text
        case syntax.TypeOf() | syntax.Cell() | syntax.Definition() | syntax.Switch():
            return type(declaration), declaration.name.text
        case syntax.Node():
            return declaration.kind, ""
        case _:
            return type(declaration), ""


def _declared(item: syntax.Item) -> Iterator[Declaration]:
    match item:
        case syntax.Node(_, "state", (cells,)):
            yield from cells
        case syntax.Node(_, "include" | "without"):
            pass
        case syntax.Instruction():
            for name in (item.name, *item.others):
                yield replace(item, name=name, others=())
        case _:
            yield item


def _place(declaration: Declaration) -> Span:
    match declaration:
        case syntax.Instruction() | syntax.Step() | syntax.TypeOf() | syntax.Definition():
            return declaration.name.span
        case _:
            return declaration.span


def _of(file: syntax.MachineFile, kind: str) -> Iterator[syntax.Node]:
    """The items of a kind, none of which has a name."""
    yield from (it for it in file.items if isinstance(it, syntax.Node) and it.kind == kind)


@cache
def _shipped(source: Source) -> syntax.MachineFile:
    """The syntax of a file that ships, which is made once."""
    return parse(source)
