"""What threads' parameters and the initial state say of locations, and it of registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from msgspec import Struct

from rspverify.litmus.literal import number, stated
from rspverify.litmus.memory import Target
from rspverify.litmus.objects import MAX_ELEMENTS, MIXED, Declared, Object, declared, is_type
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Location
from rspverify.litmus.tree import (
    Entry,
    Integer,
    Name,
    Parameter,
    RegisterEntry,
    ThreadHead,
    ThreadText,
)
from rspverify.records import replace
from rspverify.source import Span


class Declarations(Struct, frozen=True):
    """Objects by name: those of the parameters, then those of the initial state alone.

    locations: theirs, by name and in this order. constants: the values of what is `constant`;
    arguments: of the parameters of a kernel that are no pointers.
    """

    objects: Mapping[str, Object]
    locations: Mapping[str, Location]
    constants: Mapping[str, int]
    arguments: Mapping[str, int]


@dataclass
class _Found:
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
    entries = [*entries]
    named = [each for each in entries if not _is_constant(each)]
    constants = initial_values([each for each in entries if _is_constant(each)], problems)
    for entry, _ in constants.values():
        if language == "C":
            declared(entry.specifiers, entry.span, language, problems)
        if not entry.value:
            problems.error(entry.span, f"the constant {quote(entry.name.text)} must have a value")
    initial = initial_values(named, problems)
    found: dict[str, _Found] = {}
    arguments: dict[str, int] = {}
    kernels: set[str | None] = set()
    for thread in threads:
        if thread.kernel not in kernels or thread.kernel is None:
            kernels.add(thread.kernel)
            for name, parameter in _by_value(thread, found, language, mixed, problems).items():
                given = initial.pop(name, None)
                if given is None or not given[0].value:
                    message = (
                        f"the parameter {quote(name)} must have its value in the initial state"
                    )
                    problems.error(parameter.span, message, f"write `{{ {name} = 1; }}` there")
                arguments[name] = given[1] if given else 0
    for entry, _ in initial.values():
        _enter(entry, found, language, mixed, problems)
    objects = _objects(found, problems)
    for name, (entry, _) in constants.items():
        if name in objects:
            message = f"{quote(name)} must be a constant or a location, not both"
            problems.error(entry.span, message, None, ((found[name].span, "declared here"),))
    elements = {
        it.element(number): (it, found[name].span)
        for name, it in objects.items()
        for number in range(it.size)
    }
    _check_elements(initial, elements, objects, problems)
    starts = _starts(initial, objects, problems)
    locations = {
        name: Location(
            name,
            it.what.atomic,
            it.what.region or "global",
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


def _by_value(
    thread: ThreadText,
    found: dict[str, _Found],
    language: str,
    mixed: bool,
    problems: Problems,
) -> dict[str, Parameter]:
    """Note what the parameters of a thread declare; those of a kernel that are no pointers."""
    where = thread.name.text if thread.kernel is None else f"kernel {thread.kernel}"
    seen: dict[str, Parameter] = {}
    values: dict[str, Parameter] = {}
    for parameter in thread.parameters:
        name = parameter.name.text
        if name in seen:
            message = f"the parameters of {where} must differ, not be {quote(name)} twice"
            problems.again(parameter.name.span, message, seen[name].name.span)
            continue
        seen[name] = parameter
        what = declared(parameter.specifiers, parameter.span, language, problems)
        if not parameter.pointer and thread.kernel is not None:
            values[name] = parameter
            continue
        if not parameter.pointer:
            message = f"a parameter must be a pointer such as `{what}* {name}`, not a value"
            problems.error(parameter.span, message)
        new = _Found(what, parameter.span, where)
        if parameter.size is not None:
            new.array, new.sized = True, parameter.size.span
            if parameter.size.number is not None:
                new.size = _size(parameter.size.number, name, problems)
        _agree(found, name, new, mixed, problems)
    return values


def _enter(
    entry: Entry, found: dict[str, _Found], language: str, mixed: bool, problems: Problems
) -> None:
    """Note what an entry of the initial state declares."""
    name, where = entry.name.text, "the initial state"
    if "[" in name:
        return
    array, size = entry.size is not None, None
    if entry.size is not None:
        size = len(entry.values)
        if entry.size.number is not None:
            size = _size(entry.size.number, name, problems)
        elif not size:
            message = f"the array {quote(name)} must have a size, or values"
            problems.error(entry.size.span, message, f"write `{name}[3]`")
            size = 1
    if array and name in found and not found[name].array:  # A pointer to its first element.
        found[name] = replace(found[name], array=True)
    sized = entry.size.span if entry.size else None
    if any(map(is_type, entry.specifiers)):
        what = declared(entry.specifiers, entry.span, language, problems)
        _agree(found, name, _Found(what, entry.span, where, array, size, sized), mixed, problems)
    elif name not in found:
        found[name] = _Found(Declared(False, None, False, language), entry.span, where)


def _size(number_: Integer, name: str, problems: Problems) -> int:
    """The size of an array, which must have an element and at most MAX_ELEMENTS."""
    size = number(number_, problems)
    if size > MAX_ELEMENTS:
        message = f"an array of more than {MAX_ELEMENTS} elements is not supported"
        problems.unsupported(number_.span, message)
    elif size < 1:
        message = f"the array {quote(name)} must have at least one element, not {size}"
        problems.error(number_.span, message)
    return min(max(size, 1), MAX_ELEMENTS)


def _objects(found: Mapping[str, _Found], problems: Problems) -> dict[str, Object]:
    objects = {name: Object(name, it.what, it.array, it.size or 1) for name, it in found.items()}
    for name, it in found.items():
        if it.array and it.size is None:
            message = f"the array {quote(name)} must have a size in the initial state"
            hint = f"write `{{ {it.what} {name}[3]; }}` there"
            problems.error(it.sized or it.span, message, hint)
    together = sum(it.size for it in objects.values() if it.array)
    if together > MAX_ELEMENTS:
        last = [found[name] for name, it in objects.items() if it.array][-1]
        message = f"arrays of more than {MAX_ELEMENTS} elements together are not supported"
        problems.unsupported(last.span, message)
    return objects


def _check_elements(
    initial: Mapping[str, tuple[Entry, int]],
    elements: Mapping[str, object],
    objects: Mapping[str, Object],
    problems: Problems,
) -> None:
    """Note entries of elements that no array has, and of arrays that give it one value."""
    for name, (entry, _) in initial.items():
        array = objects.get(name)
        if array is not None and array.array and entry.value is not None:
            hint = f"write `{array.what}  {name}[{array.size}] = {{...}}`".replace("  ", " ")
            message = f"the array {quote(name)} must have a value for each element, not one"
            problems.error(entry.span, message, hint)
        if "[" in name and name not in elements:
            problems.error(entry.name.span, no_element(name, objects))


def no_element(name: str, objects: Mapping[str, Object]) -> str:
    """What is said of the name of an element, `x[3]`, that no array has."""
    array = objects.get(name.partition("[")[0])
    if array is None or not array.array:
        return f"{quote(name)} must be an element of an array of the test"
    return f"{quote(name)} must be an element of {array.name}, which has 0 to {array.size - 1}"


def _starts(
    initial: Mapping[str, tuple[Entry, int]], objects: Mapping[str, Object], problems: Problems
) -> dict[str, int]:
    """The initial values of locations by their names."""
    starts: dict[str, int] = {}
    for name, (entry, value) in initial.items():
        it = objects.get(name.partition("[")[0])
        boolean = it is not None and it.what.boolean
        if it is None or entry.size is None:
            starts[name] = int(value != 0) if boolean else value
            continue
        if len(entry.values) > it.size:
            message = f"the array {quote(name)} must have at most {it.size} values"
            problems.error(entry.span, f"{message}, not {len(entry.values)}")
        for number_, each in enumerate(entry.values):
            own = stated(each, problems)
            element = it.element(number_)
            if element in initial:
                message = f"{quote(element)} must have one initial value, not two"
                problems.again(initial[element][0].span, message, each.span)
            starts[element] = int(own != 0) if boolean else own
    return starts


def initial_values(entries: Iterable[Entry], problems: Problems) -> dict[str, tuple[Entry, int]]:
    """The entry of each location or array, and the value of a location."""
    values: dict[str, tuple[Entry, int]] = {}
    for entry in entries:
        name = entry.name.text
        value = stated(entry.value, problems) if entry.value else 0
        if name in values:
            message = f"{quote(name)} must have one initial value, not two"
            problems.again(entry.span, message, values[name][0].span)
        else:
            values[name] = (entry, value)
    return values


def _agree(
    found: dict[str, _Found], name: str, new: _Found, mixed: bool, problems: Problems
) -> None:
    """Note a declaration, which must say the same as an earlier one of that location.

    In the languages of MIXED a location is atomic if one declaration says so. Where OpenCL may be
    mixed it is atomic if all say so, as Dartagnan has it, and local if one does.
    """
    earlier = found.setdefault(name, new)
    if earlier is new:
        return
    if new.size is not None and earlier.size not in (None, new.size):
        message = f"{quote(name)} must have {earlier.size} elements in {new.where}"
        message += f" as in {earlier.where}, not {new.size}"
        related = ((earlier.sized or earlier.span, "its size is here"),)
        problems.error(new.sized or new.span, message, None, related)
    array, size = earlier.array or new.array, earlier.size or new.size
    what, one = new.what, earlier.what
    best = earlier
    if not one.agrees(what):
        if what.language in MIXED and not (one.mutex or what.mutex):
            best = new if what.atomic else earlier
        elif mixed and not (one.mutex or what.mutex):
            local = "local" in (one.region, what.region)
            region = "local" if local else "global"
            both = replace(one, atomic=one.atomic and what.atomic, region=region)
            best = replace(earlier, what=both)
        else:
            message = f"{quote(name)} must be {one} in {new.where} as in {earlier.where}"
            hint = None if one.mutex or what.mutex else "--mixed reads it as Dartagnan does"
            problems.error(
                new.span, f"{message}, not {what}", hint, ((earlier.span, f"{one} here"),)
            )
    found[name] = replace(best, array=array, size=size, sized=earlier.sized or new.sized)


def initial_registers(
    entries: Iterable[RegisterEntry], threads: Mapping[str, ThreadHead], problems: Problems
) -> dict[str, dict[str, int]]:
    """The initial values of the registers of each thread, by its name."""
    values: dict[str, dict[str, int]] = {}
    first: dict[tuple[str, str], Span] = {}
    for entry in entries:
        owner, name = entry.owner, entry.name.text
        thread = owner.text if isinstance(owner, Name) else f"P{owner.text}"
        value = stated(entry.value, problems)
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


def objects_of(
    parameters: Iterable[Parameter], language: str, problems: Problems
) -> dict[str, Target | None]:
    """What the pointers of a function point to that nothing calls: arrays of one element."""
    return {
        each.name.text: Target(
            Object(each.name.text, declared(each.specifiers, each.span, language, problems), True)
        )
        for each in parameters
        if each.pointer
    }
