"""What a word in a thread or a function names: a register, a location, or a constant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rspverify.litmus import tree
from rspverify.litmus.literal import TRUTHS
from rspverify.litmus.memory import Target
from rspverify.litmus.objects import Object
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Kind


class Names:
    """The registers, the locations and the constants that one text knows.

    title: what it is called in messages. pointers: what its parameters point to; None where that
    has a problem. registers: those that it declares or assigns, and those that are given; prefix:
    what stands before their names in `Registers`, so that each call of a function has its own.
    """

    def __init__(
        self,
        title: str,
        body: tree.Block,
        pointers: Mapping[str, Target | None],
        given: Iterable[str],
        objects: Mapping[str, Object],
        constants: Mapping[str, int],
        problems: Problems,
        prefix: str = "",
    ) -> None:
        self._title = title
        self._pointers = pointers
        words = dict.fromkeys([*given, *_assigned(body, constants)])
        self.registers = [each for each in words if each not in pointers]
        self.prefix = prefix
        self._known = set(self.registers)
        self._objects, self._constants = objects, constants
        self._problems = problems

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
        if name.text in self._pointers:
            target = self._pointers[name.text]
            message = f"{quote(name.text)} must be a register here, not a location"
            hint = f"write `*{name.text}` to access the location"
            if target is not None and target.object.array:
                hint = f"write `{name.text}[0]` to access its first element"
            self._problems.error(name.span, message, hint)
            return None
        if name.text in self._known:
            return f"{self.prefix}{name.text}"
        if name.text in self._constants:
            message = f"{quote(name.text)} must be a register here, not a constant"
            self._problems.error(name.span, message, "declare a register of another name")
            return None
        if name.text in self._objects:
            message = f"{quote(name.text)} must be a register here, not a location"
            advice = f"add it to the parameters of {self._title}, and write `*{name.text}`"
            self._problems.error(name.span, message, advice)
            return None
        message = f"the register {quote(name.text)} must be declared or assigned in {self._title}"
        hint_ = self._problems.suggestion(name.text, self.registers)
        self._problems.error(name.span, message, hint_)
        return None

    def pointer(self, argument: tree.Expression, what: str, kind: Kind | None) -> Target | None:
        """What an argument points to; None if nothing, which is noted.

        kind: of the operation that it is for, None for a function of the test.
        """
        if not isinstance(argument, tree.Name):
            self._no_name(argument, what)
            return None
        name = argument.text
        if name not in self._pointers:
            self._no_parameter(argument, what)
            return None
        target = self._pointers[name]
        locking = kind in (Kind.LOCK, Kind.UNLOCK)
        if target is not None and kind is not None and target.object.what.mutex != locking:
            must = "must be a mutex" if locking else "must not be a mutex"
            message = f"{what} {must}, and {quote(name)} is {'none' if locking else 'one'}"
            advice = "declare it as `mutex*`, or" if locking else "declare it as `atomic_int*`, or"
            self._problems.error(argument.span, message, f"{advice} name another location")
            return None
        return target

    def _no_name(self, argument: tree.Expression, what: str) -> None:
        message = f"{what} must be the name of a location"
        match argument:
            case tree.Dereference(_, tree.Name(_, name)):
                self._problems.error(argument.span, f"{message}, not its value", f"write `{name}`")
            case tree.Index():
                hint = f"write `&{argument.span.text}`"
                self._problems.error(argument.span, f"{message}, not its value", hint)
            case tree.Prefix(_, "&", tree.Name(_, name)) if name in self._pointers:
                hint = f"write `{name}`: a parameter is an address already"
                self._problems.error(argument.span, f"{message}, not the address of one", hint)
            case tree.Integer():
                hint = "add a location to the parameters that holds it"
                self._problems.error(argument.span, f"{message}, not an integer", hint)
            case _:
                shown = f"{message}: an address that is computed is not supported"
                self._problems.unsupported(argument.span, shown)

    def _no_parameter(self, argument: tree.Name, what: str) -> None:
        name, shown = argument.text, quote(argument.text)
        if name in self._known:
            message = f"{what} must be a location, not the register {shown}"
            self._problems.error(argument.span, message)
        elif name in self._objects:
            message = f"the location {shown} must be a parameter of {self._title} to be used there"
            kind = "atomic_int" if self._objects[name].what.atomic else "int"
            advice = f"add `global {kind}* {name}` to its parameters"
            self._problems.error(argument.span, message, advice)
        else:
            message = f"the location {shown} must be declared as a parameter of {self._title}"
            hint = self._problems.suggestion(name, self._pointers)
            self._problems.error(argument.span, message, hint)


def _assigned(body: tree.Block, constants: Mapping[str, int]) -> list[str]:
    """The registers that a text declares or assigns, in the order of the text."""
    found: dict[str, None] = {}
    for node in tree.walk(body):
        match node:
            case tree.Declarator(_, _, target):
                found.setdefault(target.text)
            case tree.Assign(_, tree.Name() as target) if target.text not in constants:
                found.setdefault(target.text)
    return list(found)
