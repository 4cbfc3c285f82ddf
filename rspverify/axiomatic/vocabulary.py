"""The names that a .cat model may use without defining them, and what each means.

They are those of Fig. 2, and herd's for OpenCL and C11 (docs/cat-fragment.md). Adding a base set or
relation is one line here. A relation holds between executed events only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, TypeAlias

from rspverify.axiomatic.event import PARTY, Event, Part
from rspverify.isa.execution import LATE
from rspverify.isa.instruction_set import instruction_set
from rspverify.litmus.dialects import DIALECTS
from rspverify.litmus.program import (
    Kind,
    Operation,
    Order,
    Scope,
    Thread,
    meet,
    one_barrier,
    one_subgroup,
)
from rspverify.relation.expression import (
    Composition,
    Difference,
    Expression,
    Intersection,
    Inverse,
    Name,
    Sort,
    names_in,
)

Membership = Callable[[Event], bool]


def _operation(test: Callable[[Operation], bool]) -> Membership:
    return lambda event: event.operation is not None and test(event.operation)


def _kind(*kinds: Kind) -> Membership:
    return _operation(lambda it: it.kind in kinds)


def _order(order: Order) -> Membership:
    return _operation(lambda it: it.order is order)


def _scope(scope: Scope) -> Membership:
    return _operation(lambda it: it.scope is scope)


def _region(region: str) -> Membership:
    def belongs(event: Event) -> bool:
        if event.location is not None:
            return event.location.region == region
        return event.operation is not None and region in event.operation.regions

    return belongs


def _plain(event: Event) -> bool:
    if event.operation is None:
        return event.initial
    return event.operation.kind in (Kind.LOAD, Kind.STORE) and not event.operation.atomic


def _of_one_work_item(event: Event) -> bool:
    """Plain accesses are of one work-item, say herd and Dartagnan."""
    return _plain(event) or (event.operation is not None and event.operation.scope is Scope.WI)


def _on_plain_location(event: Event) -> bool:
    return event.location is not None and not (event.location.atomic or event.location.mutex)


def _named(*names: str, test: Membership) -> dict[str, Membership]:
    return dict.fromkeys(names, test)


COMMON: Mapping[str, Membership] = {
    "_": lambda event: True,
    "R": lambda event: event.reads,
    "W": lambda event: event.writes,
    "M": lambda event: event.reads or event.writes,
    "RMW": _kind(Kind.RMW),
    "F": _kind(Kind.FENCE, Kind.BARRIER),
    **_named("I", "IW", test=lambda event: event.initial),
}
"""Base sets that programs of all languages have: name → which events belong to it, if executed."""

OF_LANGUAGES: Mapping[str, Membership] = {
    **COMMON,
    "B": _kind(Kind.BARRIER),
    **_named("EF", "entry_fence", test=lambda event: event.part is Part.ENTRY),
    **_named("XF", "exit_fence", test=lambda event: event.part is Part.EXIT),
    "A": _operation(lambda it: it.atomic),
    **_named("na", "NA", test=_plain),
    **_named("nal", "NAL", "nonatomicloc", test=_on_plain_location),
    **_named("RLX", "rlx", "memory_order_relaxed", test=_order(Order.RELAXED)),
    **_named("CON", "con", "memory_order_consume", test=_order(Order.CONSUME)),
    **_named("ACQ", "acq", "memory_order_acquire", test=_order(Order.ACQUIRE)),
    **_named("REL", "rel", "memory_order_release", test=_order(Order.RELEASE)),
    **_named("ACQ_REL", "acq_rel", "memory_order_acq_rel", test=_order(Order.ACQ_REL)),
    **_named("SC", "sc", "memory_order_seq_cst", test=_order(Order.SEQ_CST)),
    **_named("WI", "memory_scope_work_item", test=_of_one_work_item),
    **_named("SG", "memory_scope_sub_group", test=_scope(Scope.SG)),
    **_named("WG", "memory_scope_work_group", test=_scope(Scope.WG)),
    **_named("DV", "memory_scope_device", test=_scope(Scope.DV)),
    **_named("ALL", "memory_scope_all_svm_devices", test=_scope(Scope.ALL)),
    "rem": _operation(lambda it: it.remote),
    **_named("GLOBAL", "G", test=_region("global")),
    **_named("LOCAL", "L", test=_region("local")),
    "fga": lambda event: event.location is not None and event.location.fine_grained,
    **_named("LK", "LS", "lk", "ls", test=_kind(Kind.LOCK)),
    **_named("UL", "ul", test=_kind(Kind.UNLOCK)),
    **_named("LF", "lf", test=lambda event: False),
}
"""The base sets of OpenCL and C11.

A memory order is a set of just the events with this order, as in herd: ACQ has no acq_rel.
"""


def _tagged(name: str) -> Membership:
    """A set of events by a name that an instruction set and OpenCL may have: in assembly an event
    is in those that its instruction's file says, whatever OpenCL means by them."""
    otherwise = OF_LANGUAGES.get(name)

    def belongs(event: Event) -> bool:
        it = event.operation
        if it is None or it.instruction is None:
            return otherwise is not None and otherwise(event)
        if event.reads and name in it.tags.read:
            return True
        return (event.writes or not event.reads) and name in it.tags.write

    return belongs


_OF_DIALECTS: Mapping[str, frozenset[str]] = {
    language: instruction_set(it.instructions).tags for language, it in DIALECTS.items()
}

_OF_TAGS = {name: _tagged(name) for tags in _OF_DIALECTS.values() for name in tags}


def if_known(name: str) -> str:
    """The name of the set of a tag that is empty for programs in a language without the tag."""
    return f"{name}?"


OPTIONAL: Mapping[str, Membership] = {if_known(name): it for name, it in _OF_TAGS.items()}
"""Such sets. No model calls them so: it writes `try`."""

SETS: Mapping[str, Membership] = {**OF_LANGUAGES, **_OF_TAGS, **OPTIONAL}
"""The base sets of all languages and architectures."""


FINAL_WRITES = "FW"
"""The base set of the writes whose values are left in memory in the end."""


def _together(levels: int) -> Callable[[Event, Event], bool]:
    def together(a: Event, b: Event) -> bool:
        if a.thread is None or b.thread is None:
            return False
        return a.thread is b.thread or _place_of(a.thread)[:levels] == _place_of(b.thread)[:levels]

    return together


def _place_of(thread: Thread) -> tuple[int, ...]:
    return thread.device, thread.workgroup, thread.index


def _internal(a: Event, b: Event) -> bool:
    return a.thread is b.thread


def _in_program_order(a: Event, b: Event) -> bool:
    if a.thread is None or a.thread is not b.thread or a.index >= b.index:
        return False
    return b.operation is None or not a.is_one_of(b.operation.unsequenced)


def _started_before(a: Event, b: Event) -> bool:
    return a.initial and not b.initial


def _of_its_party(a: Event, b: Event) -> bool:
    """A barrier, and an event of a thread that must come to it."""
    it, own, other = a.operation, a.thread, b.thread
    if it is None or own is None or other is None:
        return False
    return it.kind is Kind.BARRIER and meet(it, own, other)


def _met(a: Event, b: Event) -> bool:
    """Two barriers at which threads meet, in assembly those of a work-group. One that only arrives
    comes after nothing, and nothing after one that comes late."""
    if a.operation is None or b.operation is None or not one_barrier(a.operation, b.operation):
        return False
    if a.operation.instruction is None:
        return True
    passed = LATE in a.operation.tags.write or "ARRIVE" in b.operation.tags.write
    return _together(2)(a, b) and not passed


def _virtual(it: Event) -> str | None:
    """The name by which an event accesses its location."""
    if it.operation is not None and it.operation.alias is not None:
        return it.operation.alias
    return None if it.location is None else it.location.name


def _synchronises(it: Event, other: Thread) -> bool:
    return it.thread is not None and other.index in it.thread.synchronises


_REACHES = {"CTA": 2, "GPU": 1, "SYS": 0, "WG": 2, "QF": 1, "DV": 0}
"""How far scopes reach, as `_together` counts it."""


def reaches(one: Thread, tags: Collection[str], other: Thread) -> bool:
    """Whether a scope among the tags of what a thread does has another thread."""
    levels = [_REACHES[it] for it in tags if it in _REACHES]
    return any(_place_of(one)[:level] == _place_of(other)[:level] for level in levels)


def _in_scope_of_each_other(a: Event, b: Event) -> bool:
    """Whether the scope of each event has the thread of the other (PTX ISA §8.7.1)."""
    return all(
        one.operation is not None
        and one.thread is not None
        and other.thread is not None
        and reaches(one.thread, one.operation.tags.write, other.thread)
        for one, other in ((a, b), (b, a))
    )


def _of_one_instruction(a: Event, b: Event) -> bool:
    """The read and the write of a read-modify-write."""
    return a.operation is b.operation and a.part is Part.READ and b.part is Part.WRITE


def _paired(a: Event, b: Event) -> bool:
    """A load-exclusive, and the store-exclusive that is paired with it and succeeds."""
    return (
        b.operation is not None
        and a.operation is not None
        and (b.operation.pair == a.operation.index)
    )


def _picked(how: str) -> Callable[[Event, Event], bool]:
    """That b depends on what a reads only as that decides, on the way, which of others it is."""

    def depends(a: Event, b: Event) -> bool:
        textual = None if b.operation is None else b.operation.textual
        if textual is None or textual.picked is None or not _depends(how)(a, b):
            return False
        return a.is_one_of(getattr(textual.picked, how))

    return depends


def _depends(how: str) -> Callable[[Event, Event], bool]:
    """That b depends on what a reads, of the same thread: by its value, control or address.

    On some architectures also on whether a store-exclusive succeeds.
    """

    def depends(a: Event, b: Event) -> bool:
        if b.operation is None or a is b or not a.is_one_of(getattr(b.operation, how)):
            return False
        return a.reads or (a.operation is not None and a.operation.pair is not None)

    return depends


RELATIONS: Mapping[str, Callable[[Event, Event], bool]] = {
    "id": lambda a, b: a is b,
    "unv": lambda a, b: True,
    "loc": lambda a, b: a.location is not None and a.location is b.location,
    **dict.fromkeys(("int", "wi"), _internal),
    "ext": lambda a, b: not _internal(a, b),
    "thd": _together(3),
    **dict.fromkeys(
        ("sg", "ssg"),
        lambda a, b: (
            a.thread is not None and b.thread is not None and one_subgroup(a.thread, b.thread)
        ),
    ),
    **dict.fromkeys(("wg", "swg", "scta"), _together(2)),
    **dict.fromkeys(("dv", "dev", "sdv", "sqf"), _together(1)),
    "sb": lambda a, b: _started_before(a, b) or _in_program_order(a, b),
    "po": _in_program_order,
    "vloc": lambda a, b: None is not _virtual(a) == _virtual(b),
    "sr": _in_scope_of_each_other,
    "ssw": lambda a, b: b.thread is not None and _synchronises(a, b.thread),
    "asw": _started_before,
    "rmw": lambda a, b: _of_one_instruction(a, b) or _paired(a, b),
    "amo": _of_one_instruction,
    "lxsx": _paired,
    "si": lambda a, b: a is b,
    "data": lambda a, b: b.writes and _depends("data")(a, b),
    "ctrl": _depends("control"),
    "addr": _depends("address"),
    "pick-data": lambda a, b: b.writes and _picked("data")(a, b),
    "pick-ctrl": _picked("control"),
    "pick-addr": _picked("address"),
    **dict.fromkeys(
        ("syncbar", "same_B"),
        _met,
    ),
    PARTY: _of_its_party,
}
"""Base relations that the program alone decides. `sb` has initial writes first, `po` has none."""

OF_PLACES = frozenset(["sg", "wg", "swg", "dv", "dev", "sdv", "SG", "WG", "DV", "ALL"]) | {
    PARTY,
    "syncbar",
    "same_B",
    "memory_scope_sub_group",
    "memory_scope_work_group",
    "memory_scope_device",
    "memory_scope_all_svm_devices",
}
"""The names that look at where threads of OpenCL and C run, or at scopes."""

OF_ONE_THREAD = frozenset(
    [
        "po",
        "data",
        "ctrl",
        "addr",
        "rmw",
        "amo",
        "lxsx",
        "si",
        "pick-data",
        "pick-ctrl",
        "pick-addr",
    ]
)
"""Those of them that relate no events of two threads."""

Ways: TypeAlias = Mapping[int, Sequence[tuple[Event, Any]]]
"""By index what each event may be, and when it is that: terms, or bits."""


def decided(
    name: str,
    ways: Ways,
    executed: Mapping[int, Any],
    any_of: Callable[[list[Any]], Any],
    never: Any,
) -> dict[Any, Any]:
    """When each event is in a base set, or each pair in a base relation, that the program decides.

    executed: event → when it is. What never is so is left out.
    """
    found: dict[Any, Any] = {}
    if name in SETS:
        for it, own in ways.items():
            fitting = [when for event, when in own if SETS[name](event)]
            if fitting:
                there = executed[it]
                found[it] = there if len(fitting) == len(own) else there & any_of(fitting)
    else:
        test, within = RELATIONS[name], name in OF_ONE_THREAD
        for (a, ones), (b, others) in product(ways.items(), repeat=2):
            if within and ones and others and ones[0][0].thread is not others[0][0].thread:
                continue
            fitting = []
            for one, first in ones:
                for other, second in others:
                    if test(one, other):
                        fitting.append(first & second)
            if fitting:
                both = executed[a] & executed[b]
                every = len(fitting) == len(ones) * len(others)
                found[a, b] = both if every else both & any_of(fitting)
    return {it: when for it, when in found.items() if when != never}


RF, MO, CO, LO, SYNC_FENCE = WITNESS = ("rf", "mo", "co", "lo", "sync_fence")
"""The execution witness: rf; mo, an order of the writes of each location that is declared atomic;
co, of the writes of every location, as herd has it; lo, of the locks and unlocks of each mutex;
sync_fence, of PTX's fences in SC, as far as they are in the scope of each other."""


def _name(name: str) -> Expression:
    return Name(name, Sort.RELATION)


_FROM_READS = Difference(Composition(Inverse(_name("rf")), _name("co")), _name("id"))

DERIVED: Mapping[str, Expression] = {
    "fr": _FROM_READS,
    **{
        f"{name}{end}": Intersection(whole, _name(side))
        for name, whole in (("rf", _name("rf")), ("co", _name("co")), ("fr", _FROM_READS))
        for end, side in (("i", "int"), ("e", "ext"))
    },
    "po-loc": Intersection(_name("po"), _name("loc")),
}
"""Base relations that others are enough to say, as in herd's library."""

BASE_RELATIONS = (*RELATIONS, *WITNESS, *DERIVED)
"""The names of all base relations."""


_OF_SOURCES = {"sb", "asw", MO, LO}
"""Relations that programs in assembly have by other names, or have not."""

_OF_ASSEMBLY = {"amo", "lxsx", "pick-data", "pick-ctrl", "pick-addr"}
"""Relations that only they have."""

_OF_ONE_DIALECT = {
    **dict.fromkeys(("sr", "scta", SYNC_FENCE), ("PTX",)),
    **dict.fromkeys(("ssg", "sqf", "ssw"), ("Vulkan",)),
    "vloc": ("PTX", "Vulkan"),
}
"""Relations that only programs in these have."""


@cache
def names_of(language: str) -> frozenset[str]:
    """The base names that programs of a language have."""
    relations = frozenset(
        it for it in BASE_RELATIONS if language in _OF_ONE_DIALECT.get(it, {language})
    )
    every = {FINAL_WRITES, *OPTIONAL}
    if language in _OF_DIALECTS:
        return _OF_DIALECTS[language] | COMMON.keys() | every | (relations - _OF_SOURCES)
    return frozenset(OF_LANGUAGES) | every | (relations - _OF_ASSEMBLY)


def names_beneath(names: frozenset[str]) -> frozenset[str]:
    """The names and all that the derived ones among them are made of."""
    found = set(names)
    for name in names & DERIVED.keys():
        found |= names_in(DERIVED[name])
    return frozenset(found)
