"""What a word in a thread names: one of its registers, or a location that it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rspverify.litmus import tree
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Kind, Location


class Names:
    """The registers and the locations of one thread.

    registers: those that it declares or assigns, and those that have an initial value.
    """

    def __init__(
        self,
        thread: tree.ThreadText,
        initial: Iterable[str],
        locations: Mapping[str, Location],
        problems: Problems,
    ) -> None:
        self._thread = thread.name.text
        self._parameters = dict.fromkeys(each.name.text for each in thread.parameters)
        words = dict.fromkeys([*initial, *_assigned(thread)])
        self.registers = [each for each in words if each not in self._parameters]
        self._known = set(self.registers)
        self._locations = locations
        self._problems = problems

    def register(self, name: tree.Name) -> bool:
        """Whether a word names a register of the thread; if not, that is noted."""
        if name.text in self._parameters:
            message = f"{quote(name.text)} must be a register here, not a location"
            self._problems.error(name.span, message, f"write `*{name.text}` to access the location")
            return False
        if name.text in self._known:
            return True
        if name.text in self._locations:
            message = f"{quote(name.text)} must be a register here, not a location"
            advice = f"add it to the parameters of {self._thread}, and write `*{name.text}`"
            self._problems.error(name.span, message, advice)
            return False
        message = f"the register {quote(name.text)} must be declared or assigned in {self._thread}"
        hint = self._problems.suggestion(name.text, self.registers)
        self._problems.error(name.span, message, hint)
        return False

    def location(self, argument: tree.Expression, what: str, kind: Kind) -> str | None:
        """The location that an argument names, for an operation of that kind; noted if none."""
        if not isinstance(argument, tree.Name):
            self._no_name(argument, what)
            return None
        name = argument.text
        if name not in self._parameters:
            self._no_parameter(argument, what)
            return None
        locking = kind in (Kind.LOCK, Kind.UNLOCK)
        if name in self._locations and self._locations[name].mutex != locking:
            must = "must be a mutex" if locking else "must not be a mutex"
            message = f"{what} {must}, and {quote(name)} is {'none' if locking else 'one'}"
            advice = "declare it as `mutex*`, or" if locking else "declare it as `atomic_int*`, or"
            self._problems.error(argument.span, message, f"{advice} name another location")
            return None
        return name

    def _no_name(self, argument: tree.Expression, what: str) -> None:
        message = f"{what} must be the name of a location"
        match argument:
            case tree.Dereference(_, tree.Name(_, name)):
                self._problems.error(argument.span, f"{message}, not its value", f"write `{name}`")
            case tree.Prefix(_, "&", tree.Name(_, name)) if name in self._parameters:
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
        elif name in self._locations:
            message = f"the location {shown} must be a parameter of {self._thread} to be used there"
            kind = "atomic_int" if self._locations[name].atomic else "int"
            advice = f"add `global {kind}* {name}` to its parameters"
            self._problems.error(argument.span, message, advice)
        else:
            message = f"the location {shown} must be declared as a parameter of {self._thread}"
            hint = self._problems.suggestion(name, self._parameters)
            self._problems.error(argument.span, message, hint)


def _assigned(thread: tree.ThreadText) -> list[str]:
    """The registers that a thread declares or assigns, in the order of the text."""
    found: dict[str, None] = {}
    for node in tree.walk(thread.body):
        match node:
            case tree.Declarator(_, _, target) | tree.Assign(_, tree.Name() as target):
                found.setdefault(target.text)
    return list(found)
