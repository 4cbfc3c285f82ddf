"""What declarations say: the type of a location and its memory, and whether it is an array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.program import Location
from rspverify.litmus.tree import Name, Parameter
from rspverify.source import Span

_REGIONS = ("global", "global_fga", "local", "constant", "private", "generic")
_KNOWN = {"global": "global", "global_fga": "global", "local": "local"}
_MUTEX = ("mutex", "mutex_t", "mtx_t")
_BOOLEAN = ("bool", "_Bool")

MIXED = ("C",)
"""The languages in which threads may declare a location differently: it is atomic if one of them
declares it so. In the others that is an error."""

MAX_ELEMENTS = 256
"""How many elements all arrays of a test may have together: each is a location of its own."""


class Declared(Struct, frozen=True):
    """What specifiers say: whether the type is atomic_int or a mutex, and the region of memory.

    boolean: whether the type is bool, so that what is not 0 becomes 1.
    """

    atomic: bool
    region: str | None
    mutex: bool = False
    language: str = "OpenCL"
    fine_grained: bool = False
    boolean: bool = False

    def __str__(self) -> str:
        word = "bool" if self.boolean else "atomic_int" if self.atomic else "int"
        word = "mutex" if self.mutex else word
        region = "global_fga" if self.fine_grained else self.region or "global"
        return word if self.language == "C" else f"{region} {word}"

    def agrees(self, other: Declared) -> bool:
        """Whether both say the same of a location, of which nothing said means global."""
        regions = {(it.region or "global", it.fine_grained) for it in (self, other)}
        types = {(it.atomic, it.mutex, it.boolean) for it in (self, other)}
        return len(regions) == len(types) == 1


class Object(Struct, frozen=True):
    """What a name stands for in memory: a location, or an array of locations of so many elements.

    array: whether it is declared as one; a location is accessed like an array of one element.
    """

    name: str
    what: Declared
    array: bool = False
    size: int = 1

    def element(self, index: int) -> str:
        """The name of a location: `x`, or `x[1]` in an array."""
        return f"{self.name}[{index}]" if self.array else self.name


class Declarations(Struct, frozen=True):
    """Objects by name: those of the parameters, then those of the initial state alone.

    locations: theirs, by name and in this order. constants: the values of what is `constant`;
    arguments: of the parameters of a kernel that are no pointers.
    """

    objects: Mapping[str, Object]
    locations: Mapping[str, Location]
    constants: Mapping[str, int]
    arguments: Mapping[str, int]


def declared(
    specifiers: tuple[Name, ...], span: Span, language: str, problems: Problems
) -> Declared:
    """The meaning of specifiers; a type but int, bool, atomic_int and a mutex is unsupported."""
    types = [each.text for each in specifiers if is_type(each)]
    qualified = any(each.text == "_Atomic" for each in specifiers)
    if not types:
        problems.error(span, "a declaration must have a type, int or atomic_int")
    region = _region(specifiers, language, problems)
    if len(types) == 1 and types[0] in _MUTEX and language == "C":
        return Declared(False, region, True, language)
    boolean = len(types) == 1 and types[0] in _BOOLEAN and not qualified
    if types and types not in (["int"], ["atomic_int"]) and not boolean:
        first = next(each for each in specifiers if is_type(each))
        message = f"the type {quote(' '.join(types))} is not supported: only int and atomic_int are"
        problems.unsupported(first.span, message)
    fine_grained = any(each.text.removeprefix("__") == "global_fga" for each in specifiers)
    atomic = types[:1] == ["atomic_int"] or qualified
    return Declared(atomic, region, False, language, fine_grained, boolean)


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


def different(parameters: Iterable[Parameter], where: str, problems: Problems) -> list[Parameter]:
    """The parameters of a text, each name once; it is noted where one stands twice."""
    found: dict[str, Parameter] = {}
    for each in parameters:
        first = found.setdefault(each.name.text, each)
        if first is not each:
            message = f"the parameters of {where} must differ, not be {quote(each.name.text)} twice"
            problems.again(each.name.span, message, first.name.span)
    return list(found.values())


def is_type(word: Name) -> bool:
    others = ("volatile", "const", "restrict", "register", "static", "_Atomic", *_REGIONS)
    return word.text.removeprefix("__") not in others
