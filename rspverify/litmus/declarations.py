"""What threads' parameters and the initial state say of locations, and it of registers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rspverify.litmus.literal import stated
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Location
from rspverify.litmus.tree import Entry, Name, Parameter, RegisterEntry, ThreadHead, ThreadText
from rspverify.source import Span

_REGIONS = ("global", "global_fga", "local", "constant", "private", "generic")
_KNOWN = {"global": "global", "global_fga": "global", "local": "local"}
_MUTEX = ("mutex", "mutex_t", "mtx_t")

MIXED = ("C",)
"""The languages in which threads may declare a location differently: it is atomic if one of them
declares it so. In the others that is an error."""


@dataclass(frozen=True)
class Declared:
    """What specifiers say: whether the type is atomic_int or a mutex, and the region of memory."""

    atomic: bool
    region: str | None
    mutex: bool = False
    language: str = "OpenCL"
    fine_grained: bool = False

    def __str__(self) -> str:
        word = "mutex" if self.mutex else "atomic_int" if self.atomic else "int"
        region = "global_fga" if self.fine_grained else self.region or "global"
        return word if self.language == "C" else f"{region} {word}"


def declared(
    specifiers: tuple[Name, ...], span: Span, language: str, problems: Problems
) -> Declared:
    """The meaning of specifiers; every type but int, atomic_int and a mutex is unsupported."""
    types = [each.text for each in specifiers if _is_type(each)]
    qualified = any(each.text == "_Atomic" for each in specifiers)
    if not types:
        problems.error(span, "a declaration must have a type, int or atomic_int")
    region = _region(specifiers, language, problems)
    if len(types) == 1 and types[0] in _MUTEX and language == "C":
        return Declared(False, region, True, language)
    if types and types not in (["int"], ["atomic_int"]):
        first = next(each for each in specifiers if _is_type(each))
        message = f"the type {quote(' '.join(types))} is not supported: only int and atomic_int are"
        problems.unsupported(first.span, message)
    fine_grained = any(each.text.removeprefix("__") == "global_fga" for each in specifiers)
    atomic = types[:1] == ["atomic_int"] or qualified
    return Declared(atomic, region, False, language, fine_grained)


def _region(specifiers: tuple[Name, ...], language: str, problems: Problems) -> str | None:
    """The region of memory that specifiers name, if they name one."""
    words = [(each, each.text.removeprefix("__")) for each in specifiers]
    regions = [(each, word) for each, word in words if word in _REGIONS]
    if not regions:
        return None
    (first, word), *others = regions
    if language == "C":
        problems.error(first.span, f"a declaration of C11 must have no region, not {quote(word)}")
    elif others:
        names = f"{word} and {others[0][1]}"
        problems.error(others[0][0].span, f"a declaration must have one region, not {names}")
    if word not in _KNOWN and language != "C":
        problems.unsupported(first.span, f"{word} memory is not supported")
    return _KNOWN.get(word, "global")


def _is_type(word: Name) -> bool:
    others = ("volatile", "const", "restrict", "register", "static", "_Atomic", *_REGIONS)
    return word.text.removeprefix("__") not in others


def locations(
    entries: Iterable[Entry],
    threads: Iterable[ThreadText],
    language: str,
    mixed: bool,
    problems: Problems,
) -> dict[str, Location]:
    """All locations by name: those of the parameters, then those of the initial state alone.

    mixed: whether threads may declare a location differently in OpenCL too.
    """
    initial = initial_values(entries, problems)
    found: dict[str, tuple[Declared, Span, str]] = {}
    for thread in threads:
        seen: dict[str, Parameter] = {}
        for parameter in thread.parameters:
            name = parameter.name.text
            if name in seen:
                where = thread.name.text
                message = f"the parameters of {where} must differ, not be {quote(name)} twice"
                problems.again(parameter.name.span, message, seen[name].name.span)
                continue
            seen[name] = parameter
            what = declared(parameter.specifiers, parameter.span, language, problems)
            if not parameter.pointer:
                message = f"a parameter must be a pointer such as `{what}* {name}`, not a value"
                problems.error(parameter.span, message)
            _agree(found, name, (what, parameter.span, thread.name.text), mixed, problems)
    for name, (entry, _) in initial.items():
        if any(map(_is_type, entry.specifiers)):
            what = declared(entry.specifiers, entry.span, language, problems)
            _agree(found, name, (what, entry.span, "the initial state"), mixed, problems)
        elif name not in found:
            found[name] = (Declared(False, None, False, language), entry.span, "the initial state")
    starts = {name: value for name, (_, value) in initial.items()}
    return {
        name: Location(
            name,
            what.atomic,
            what.region or "global",
            starts.get(name, 0),
            span,
            what.mutex,
            what.fine_grained,
        )
        for name, (what, span, _) in found.items()
    }


def initial_values(entries: Iterable[Entry], problems: Problems) -> dict[str, tuple[Entry, int]]:
    """The entry of each location, and its value."""
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
    found: dict[str, tuple[Declared, Span, str]],
    name: str,
    new: tuple[Declared, Span, str],
    mixed: bool,
    problems: Problems,
) -> None:
    """Note a declaration, which must say the same as an earlier one of that location.

    In the languages of MIXED a location is atomic if one declaration says so. Where OpenCL may be
    mixed it is atomic if all say so, as Dartagnan has it, and local if one does.
    """
    what, span, where = new
    if name not in found:
        found[name] = new
        return
    earlier, first, place = found[name]
    same_region = (earlier.region or "global") == (what.region or "global")
    same_region = same_region and earlier.fine_grained == what.fine_grained
    if earlier.atomic == what.atomic and earlier.mutex == what.mutex and same_region:
        return
    if what.language in MIXED and not (earlier.mutex or what.mutex):
        found[name] = new if what.atomic else found[name]
        return
    if mixed and not (earlier.mutex or what.mutex):
        local = "local" in (earlier.region, what.region)
        atomic = earlier.atomic and what.atomic
        both = replace(earlier, atomic=atomic, region="local" if local else "global")
        found[name] = (both, first, place)
        return
    message = f"{quote(name)} must be {earlier} in {where} as in {place}, not {what}"
    hint = None if earlier.mutex or what.mutex else "--mixed reads it as Dartagnan does"
    problems.error(span, message, hint, ((first, f"{earlier} here"),))


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
