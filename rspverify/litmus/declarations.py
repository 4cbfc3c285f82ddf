"""What threads' parameters and the initial state say of locations, and it of registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from rspverify.litmus.literal import number, stated
from rspverify.litmus.objects import (
    MAX_ELEMENTS,
    MIXED,
    Declarations,
    Declared,
    Object,
    declared,
    different,
    is_type,
)
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import GLOBAL, LOCAL, Location
from rspverify.litmus.tree import (
    Claim,
    Entry,
    Name,
    Parameter,
    Size,
    ThreadHead,
    ThreadText,
)
from rspverify.records import replace
from rspverify.source import Span

Initial = Mapping[str, tuple[Entry, int]]
"""The entry of each location or array, and the value of a location."""


class _Found(Struct, frozen=True):
    """A declaration of an object, and the size of an array as far as it is known."""

    what: Declared
    span: Span
    where: str
    array: bool = False
    size: int | None = None
    sized: Span | None = None


def declarations(
    entries: Iterable[Entry],
    threads: Iterable[ThreadText],
    language: str,
    mixed: bool,
    problems: Problems,
) -> Declarations:
    """What the parameters of threads and the initial state declare.

    mixed: whether threads may declare a location differently in OpenCL too.
    """
    entries, table = [*entries], _Table(language, mixed, problems)
    constants = initial_values([it for it in entries if _is_constant(it)], problems)
    for entry, _ in constants.values():
        if language == "C":
            table.declared(entry)
        if not entry.value:
            problems.error(entry.span, f"the constant {quote(entry.name.text)} must have a value")
    initial = dict(initial_values([it for it in entries if not _is_constant(it)], problems))
    arguments: dict[str, int] = {}
    for thread in {id(it.body): it for it in threads}.values():  # Threads of a kernel share it.
        for parameter in table.by_value(thread):
            name = parameter.name.text
            given = initial.pop(name, None)
            if given is None or not given[0].value:
                message = f"the parameter {quote(name)} must have its value in the initial state"
                problems.error(parameter.span, message, f"write `{{ {name} = 1; }}` there")
            arguments[name] = given[1] if given else 0
    for entry, _ in initial.values():
        table.enter(entry)
    objects = table.objects()
    for name, (entry, _) in constants.items():
        if name in objects:
            message = f"{quote(name)} must be a constant or a location, not both"
            related = ((table.found[name].span, "declared here"),)
            problems.error(entry.span, message, None, related)
    elements = {
        it.element(number): (it, table.found[name].span)
        for name, it in objects.items()
        for number in range(it.size)
    }
    starts = dict(_starts(initial, objects, elements, problems))
    locations = {
        name: Location(
            name,
            it.what.atomic,
            it.what.region or GLOBAL,
            starts.get(name, 0),
            span,
            it.what.mutex,
            it.what.fine_grained,
        )
        for name, (it, span) in elements.items()
    }
    values = {name: value for name, (_, value) in constants.items()}
    return Declarations(objects, locations, values, arguments)


def _is_constant(entry: Entry) -> bool:
    return any(each.text.removeprefix("__") == "constant" for each in entry.specifiers)


class _Table:
    """The declarations of each name so far, as one."""

    def __init__(self, language: str, mixed: bool, problems: Problems) -> None:
        self.found: dict[str, _Found] = {}
        self._language, self._mixed, self._problems = language, mixed, problems

    def declared(self, it: Entry | Parameter) -> Declared:
        return declared(it.specifiers, it.span, self._language, self._problems)

    def by_value(self, thread: ThreadText) -> Iterator[Parameter]:
        """Note what the parameters of a thread declare; those of a kernel that are no pointers."""
        where = thread.name.text if thread.kernel is None else f"kernel {thread.kernel}"
        for parameter in different(thread.parameters, where, self._problems):
            name, size = parameter.name.text, parameter.size
            what = self.declared(parameter)
            if not parameter.pointer and thread.kernel is not None:
                yield parameter
                continue
            if not parameter.pointer:
                message = f"a parameter must be a pointer such as `{what}* {name}`, not a value"
                self._problems.error(parameter.span, message)
            self._add(name, what, parameter.span, where, size, self._size(size, name))

    def enter(self, entry: Entry) -> None:
        """Note what an entry of the initial state declares."""
        name, size, known = entry.name.text, entry.size, self.found.get(entry.name.text)
        if "[" in name:
            return
        number = self._size(size, name)
        if size is not None and number is None:
            number = len(entry.values)
            if not number:
                message = f"the array {quote(name)} must have a size, or values"
                self._problems.error(size.span, message, f"write `{name}[3]`")
                number = 1
        if size is not None and known is not None:  # A pointer is to its first element.
            self.found[name] = replace(known, array=True)
        where = "the initial state"
        if any(map(is_type, entry.specifiers)):
            self._add(name, self.declared(entry), entry.span, where, size, number)
        elif known is None:
            what = Declared(False, None, False, self._language)
            self._add(name, what, entry.span, where, None, None)

    def _size(self, size: Size | None, name: str) -> int | None:
        """The size of an array, which must have an element and at most MAX_ELEMENTS."""
        if size is None or size.number is None:
            return None
        given = number(size.number, self._problems)
        if given > MAX_ELEMENTS:
            message = f"an array of more than {MAX_ELEMENTS} elements is not supported"
            self._problems.unsupported(size.number.span, message)
        elif given < 1:
            message = f"the array {quote(name)} must have at least one element, not {given}"
            self._problems.error(size.number.span, message)
        return min(max(given, 1), MAX_ELEMENTS)

    def _add(
        self,
        name: str,
        what: Declared,
        span: Span,
        where: str,
        size: Size | None,
        number: int | None,
    ) -> None:
        """Note a declaration, which must say the same as an earlier one of that location.

        In the languages of MIXED a location is atomic if one declaration says so. Where OpenCL may
        be mixed it is atomic if all say so, as Dartagnan has it, and local if one does.
        """
        new = _Found(what, span, where, size is not None, number, size.span if size else None)
        old = self.found.setdefault(name, new)
        if old is new:
            return
        if new.size is not None and old.size not in (None, new.size):
            message = f"{quote(name)} must have {old.size} elements in {where} as in {old.where}"
            related = ((old.sized or old.span, "its size is here"),)
            self._problems.error(new.sized or span, f"{message}, not {new.size}", None, related)
        best, one = old, old.what
        mutex = one.mutex or what.mutex
        if one.agrees(what):
            pass
        elif self._language in MIXED and not mutex:
            best = new if what.atomic else old
        elif self._mixed and not mutex:
            region = LOCAL if LOCAL in (one.region, what.region) else GLOBAL
            atomic = one.atomic and what.atomic
            best = replace(old, what=replace(one, atomic=atomic, region=region))
        else:
            message = f"{quote(name)} must be {one} in {where} as in {old.where}, not {what}"
            hint = None if mutex else "--mixed reads it as Dartagnan does"
            self._problems.error(span, message, hint, ((old.span, f"{one} here"),))
        self.found[name] = replace(
            best,
            array=old.array or new.array,
            size=old.size or new.size,
            sized=old.sized or new.sized,
        )

    def objects(self) -> dict[str, Object]:
        """The objects that are declared; of an array, there must be a size."""
        found = self.found
        objects = {
            name: Object(name, it.what, it.array, it.size or 1) for name, it in found.items()
        }
        for name, it in found.items():
            if it.array and it.size is None:
                message = f"the array {quote(name)} must have a size in the initial state"
                hint = f"write `{{ {it.what} {name}[3]; }}` there"
                self._problems.error(it.sized or it.span, message, hint)
        arrays = [it for it in objects.values() if it.array]
        if sum(it.size for it in arrays) > MAX_ELEMENTS:
            message = f"arrays of more than {MAX_ELEMENTS} elements together are not supported"
            self._problems.unsupported(found[arrays[-1].name].span, message)
        return objects


# ---- values at the start -------------------------------------------------------------------------


def _starts(
    initial: Initial,
    objects: Mapping[str, Object],
    elements: Mapping[str, object],
    problems: Problems,
) -> Iterator[tuple[str, int]]:
    """The initial values of locations by their names."""
    for name, (entry, value) in initial.items():
        whole, bracket, _ = name.partition("[")
        it = objects.get(whole)
        if bracket and name not in elements:
            message = f"{quote(name)} must be an element of "
            has = f"{whole}, which has 0 to {it.size - 1}" if it is not None and it.array else None
            problems.error(entry.name.span, message + (has or "an array of the test"))
        elif it is not None and it.array and not bracket and entry.value is not None:
            message = f"the array {quote(name)} must have a value for each element, not one"
            hint = f"write `{it.what} {name}[{it.size}] = {{...}}`"
            problems.error(entry.span, message, hint)
        boolean = it is not None and it.what.boolean
        if it is None or entry.size is None:
            yield name, int(value != 0) if boolean else value
            continue
        if len(entry.values) > it.size:
            message = f"the array {quote(name)} must have at most {it.size} values"
            problems.error(entry.span, f"{message}, not {len(entry.values)}")
        for index, each in enumerate(entry.values):
            own, element = stated(each, problems), it.element(index)
            if element in initial:
                message = f"{quote(element)} must have one initial value, not two"
                problems.again(initial[element][0].span, message, each.span)
            yield element, int(own != 0) if boolean else own


def initial_values(
    entries: Iterable[Entry], problems: Problems, addresses: Mapping[str, int] | None = None
) -> Initial:
    """The values that entries give, each name once. addresses: as of `stated`."""
    values: dict[str, tuple[Entry, int]] = {}
    for entry in entries:
        name = entry.name.text
        value = stated(entry.value, problems, addresses) if entry.value else 0
        first, _ = values.setdefault(name, (entry, value))
        if first is not entry:
            message = f"{quote(name)} must have one initial value, not two"
            problems.again(entry.span, message, first.span)
    return values


def initial_registers(
    entries: Iterable[Claim],
    threads: Mapping[str, ThreadHead],
    problems: Problems,
    spelled: Callable[[str], str] = str,
    addresses: Mapping[str, int] | None = None,
) -> dict[str, dict[str, int]]:
    """The initial values of the registers of each thread, by its name. addresses: as of `stated`;
    spelled: the name of a register that counts."""
    values: dict[str, dict[str, int]] = {}
    first: dict[tuple[str, str], Span] = {}
    for entry in entries:
        owner, name = entry.owner, spelled(entry.name.text)
        assert owner is not None
        thread = owner.text if isinstance(owner, Name) else f"P{owner.text}"
        value = stated(entry.value, problems, addresses)
        if thread not in threads:
            message = f"{quote(owner.text)} must be a thread of the test, and there is none"
            problems.error(owner.span, message)
        elif (thread, name) in first:
            message = f"{quote(name)} of {thread} must have one initial value, not two"
            problems.again(entry.span, message, first[thread, name])
        elif name in _parameters(threads[thread]):
            message = f"{quote(name)} must be a register of {thread}, not a location"
            problems.error(entry.name.span, message, f"write `{name} = {value}`")
        else:
            first[thread, name] = entry.span
            values.setdefault(thread, {})[name] = value
    return values


def _parameters(thread: ThreadHead) -> set[str]:
    given = thread.parameters if isinstance(thread, ThreadText) else ()
    return {each.name.text for each in given}
