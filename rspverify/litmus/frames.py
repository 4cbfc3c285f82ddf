"""A text on its way, of a thread or of a call of a function: what its words name.

A word names a register, a location, or a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from msgspec import Struct

from rspverify.litmus import tree
from rspverify.litmus.functions import BARRIERS
from rspverify.litmus.literal import TRUTHS
from rspverify.litmus.objects import Declarations
from rspverify.litmus.operations import Target
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Kind, Scope
from rspverify.source import Span
from rspverify.value import Constant, Expression, select

VOID = "void"

Way = tuple[Expression, Mapping[str, Expression]]
"""One of several ways to a place: when it is taken, and what registers hold that it assigned."""


Spoken = frozenset[str] | None
"""The registers of a thread that a test speaks of in the end; None for all."""


@dataclass
class Round:
    """A loop that is being read: what lies below it, and who has left the iteration how."""

    depth: int
    exits: list[Way] = field(default_factory=list)
    continued: list[Way] = field(default_factory=list)


class Surroundings(Struct, frozen=True):
    """What a thread is read in: what the rest of the test says, and the bound of its loops.

    circular: the functions that call themselves. no_spins: the loops that are not to be read as
    spins, None: all of them. mixed: whether declarations of one location may differ.
    """

    language: str
    known: Declarations
    functions: Mapping[str, tree.FunctionText]
    circular: frozenset[str]
    unroll: int
    no_spins: AbstractSet[Span] | None
    mixed: bool
    problems: Problems


class Frame:
    """One text: a thread's, or a function's in one call.

    title: what it is called in messages. pointers: what its parameters point to; None where that
    has a problem. registers: those that it declares or assigns, and those that are given; prefix:
    what stands before their names in `Registers`, so that each call has its own. ordinals: what
    barriers and calls in it are called, by the id of the call; path: what stands before the labels
    of its barriers, by the calls that led here. ignored: the calls at whose value nothing looks, by
    their ids. gives: "void", "int" or "bool". depth, rounds: how many layers of registers and how
    many loops there were at its beginning. returned: who has left it by `return`. blocks: where the
    blocks around, the innermost last, declare their registers. booleans: those of type bool.
    """

    def __init__(
        self,
        title: str,
        body: tree.Block,
        pointers: Mapping[str, Target | None],
        given: Iterable[str],
        around: Surroundings,
        constants: Mapping[str, int],
        spoken: Spoken = frozenset(),
        gives: str = VOID,
        prefix: str = "",
        path: str = "",
    ) -> None:
        self.title, self.gives, self.prefix, self.path = title, gives, prefix, path
        words = dict.fromkeys([*given, *_assigned(body, constants)])
        self.registers = [each for each in words if each not in pointers]
        self.ordinals = _ordinals(body, around.functions)
        self.ignored = ignored(body, spoken)
        self.depth = self.rounds = 0
        self.returned: list[Way] = []
        self.blocks: list[dict[str, Span]] = []
        self.labels: dict[str, tree.Labelled] = {}
        self.booleans: set[str] = set()
        self._pointers, self._constants = pointers, constants
        self._known, self._objects = set(self.registers), around.known.objects
        self._problems = around.problems

    @property
    def result(self) -> str:
        """What `Registers` calls the value that it gives back; no register has this name."""
        return f"{self.prefix}return"

    def constant(self, name: tree.Name) -> int | None:
        """The value of a word that names a constant; None if it names none."""
        if name.text in self._known or name.text in self._pointers:
            return None
        return self._constants.get(name.text, TRUTHS.get(name.text))

    def points(self, name: tree.Name) -> bool:
        """Whether a word names a parameter that is a pointer."""
        return name.text in self._pointers

    def register(self, name: tree.Name) -> str | None:
        """What `Registers` calls the register that a word names; None if none, which is noted."""
        word = name.text
        must = f"{quote(word)} must be a register here, not a"
        if word in self._pointers:
            target = self._pointers[word]
            hint: str | None = f"write `*{word}` to access the location"
            if target is not None and target.object.array:
                hint = f"write `{word}[0]` to access its first element"
            message = f"{must} location"
        elif word in self._known:
            return f"{self.prefix}{word}"
        elif word in self._constants:
            message, hint = f"{must} constant", "declare a register of another name"
        elif word in self._objects:
            message = f"{must} location"
            hint = f"add it to the parameters of {self.title}, and write `*{word}`"
        else:
            message = f"the register {quote(word)} must be declared or assigned in {self.title}"
            hint = self._problems.suggestion(word, self.registers)
        self._problems.error(name.span, message, hint)
        return None

    def pointer(self, argument: tree.Expression, what: str, kind: Kind | None) -> Target | None:
        """What an argument points to; None if nothing, which is noted.

        kind: of the operation that it is for, None for a function of the test.
        """
        if not isinstance(argument, tree.Name) or argument.text not in self._pointers:
            self._no_pointer(argument, what)
            return None
        target = self._pointers[argument.text]
        locking = kind in (Kind.LOCK, Kind.UNLOCK)
        if target is not None and kind is not None and target.object.what.mutex != locking:
            must, is_ = ("must be a mutex", "none") if locking else ("must not be a mutex", "one")
            message = f"{what} {must}, and {quote(argument.text)} is {is_}"
            advice = f"declare it as `{'mutex' if locking else 'atomic_int'}*`, or"
            self._problems.error(argument.span, message, f"{advice} name another location")
            return None
        return target

    def _no_pointer(self, argument: tree.Expression, what: str) -> None:
        message, hint = f"{what} must be the name of a location", None
        match argument:
            case tree.Name(_, name) if name in self._known:
                message = f"{what} must be a location, not the register {quote(name)}"
            case tree.Name(_, name) if name in self._objects:
                kind = "atomic_int" if self._objects[name].what.atomic else "int"
                message = f"the location {quote(name)} must be a parameter of {self.title}"
                message += " to be used there"
                hint = f"add `global {kind}* {name}` to its parameters"
            case tree.Name(_, name):
                message = f"the location {quote(name)} must be declared as a parameter of "
                message += self.title
                hint = self._problems.suggestion(name, self._pointers)
            case tree.Dereference(_, tree.Name(_, name)):
                message, hint = f"{message}, not its value", f"write `{name}`"
            case tree.Index():
                message, hint = f"{message}, not its value", f"write `&{argument.span.text}`"
            case tree.Prefix(_, "&", tree.Name(_, name)) if name in self._pointers:
                message += ", not the address of one"
                hint = f"write `{name}`: a parameter is an address already"
            case tree.Integer():
                message += ", not an integer"
                hint = "add a location to the parameters that holds it"
            case _:
                message += ": an address that is computed is not supported"
                self._problems.unsupported(argument.span, message)
                return
        self._problems.error(argument.span, message, hint)


def _assigned(body: tree.Block, constants: Mapping[str, int]) -> list[str]:
    """The registers that a text declares or assigns, in the order of the text."""
    found: list[str] = []
    for node in tree.walk(body):
        match node:
            case tree.Declarator(_, _, target):
                found.append(target.text)
            case tree.Assign(_, tree.Name() as target) if target.text not in constants:
                found.append(target.text)
    return found


def _ordinals(body: tree.Block, functions: Collection[str]) -> Mapping[int, str]:
    """The labels of barriers that have none, by the id of the call.

    `#2` is the second at which the threads of a work-group meet, or those of a device. Also those
    of the calls of functions that the test has: `f#2` is its second call of f.
    """
    found: dict[int, str] = {}
    numbers: dict[str | Scope, int] = {}
    for each in tree.walk(body):
        if isinstance(each, tree.Call) and each.function.text in (*BARRIERS, *functions):
            name = each.function.text
            kind = BARRIERS.get(name, name)
            numbers[kind] = numbers.get(kind, 0) + 1
            found[id(each)] = f"{'' if name in BARRIERS else name}#{numbers[kind]}"
    return found


# ---- read-modify-writes at whose value nothing looks, for which compilers have other code --------


def spoken_of(test: tree.Test, threads: Mapping[str, tree.ThreadText]) -> dict[str, Spoken]:
    """The registers of each thread that the final condition or `locations` names.

    A test with neither is about all registers. Threads that run one kernel have one code, so that
    what is said of one is said of all.
    """
    condition = () if test.condition is None else tree.walk(test.condition)
    named = [each for each in (*condition, *test.watched) if isinstance(each, tree.Watched)]
    if test.condition is None and not test.watched:
        return dict.fromkeys(threads)
    found: dict[str | int, set[str]] = {}
    for each in named:
        owner = "" if each.owner is None else f"P{each.owner.text.removeprefix('P')}"
        if owner in threads:
            found.setdefault(_code(owner, threads[owner]), set()).add(each.name.text)
    return {name: frozenset(found.get(_code(name, thread), ())) for name, thread in threads.items()}


def _code(name: str, thread: tree.ThreadText) -> str | int:
    return name if thread.kernel is None else id(thread.body)


def ignored(body: tree.Block, spoken: Spoken = frozenset()) -> frozenset[int]:
    """The calls of a text at whose value nothing looks, by their ids.

    So it is with a call that is a statement, and with one whose value a register keeps that the
    text never reads and the test does not speak of.
    """
    thrown: set[int] = set()
    kept: dict[str, list[int]] = {}
    targets: set[int] = set()
    names: list[tree.Name] = []
    for node in tree.walk(body):
        match node:
            case tree.Evaluate(_, tree.Call() as call):
                thrown.add(id(call))
            case tree.Assign(_, tree.Name() as target, value) | tree.Declarator(
                _, _, tree.Name() as target, value
            ):
                targets.add(id(target))
                if isinstance(value, tree.Call):
                    kept.setdefault(target.text, []).append(id(value))
            case tree.Call(_, function):
                targets.add(id(function))
            case tree.Name():
                names.append(node)
    if spoken is not None:
        read = {each.text for each in names if id(each) not in targets} | spoken
        thrown.update(call for name, calls in kept.items() if name not in read for call in calls)
    return frozenset(thrown)


# ---- registers -----------------------------------------------------------------------------------


class Registers:
    """What each register holds: the innermost branch comes last, on top of what held before it."""

    def __init__(self, initial: Mapping[str, Expression]) -> None:
        self._initial = initial
        self._layers: list[dict[str, Expression]] = [{}]

    def initial(self, register: str) -> Expression:
        """What a register holds before it is assigned."""
        return self._initial.get(register, Constant(0))

    def __getitem__(self, register: str) -> Expression:
        for layer in reversed(self._layers):
            if register in layer:
                return layer[register]
        return self.initial(register)

    def __setitem__(self, register: str, value: Expression) -> None:
        self._layers[-1][register] = value

    def enter(self) -> int:
        """Begin a branch or a loop; the number of layers below it."""
        self._layers.append({})
        return len(self._layers) - 1

    def leave(self) -> dict[str, Expression]:
        """End the innermost branch or loop; what it has assigned."""
        return self._layers.pop()

    def since(self, depth: int) -> dict[str, Expression]:
        """What was assigned on top of so many layers, as it is now."""
        return {name: value for layer in self._layers[depth:] for name, value in layer.items()}

    def join(self, ways: Sequence[Way], bounded: Callable[[Expression], Expression]) -> None:
        """Go on where ways meet, of which one is taken: the last, if none of the others is."""
        for name in {name: None for _, assigned in ways for name in assigned}:
            *values, merged = [assigned.get(name, self[name]) for _, assigned in ways]
            for (taken, _), value in reversed(list(zip(ways[:-1], values, strict=True))):
                merged = bounded(select(taken, value, merged))
            self._layers[-1][name] = merged
