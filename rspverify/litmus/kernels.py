"""A kernel and its launch, which become the threads P0, P1 and so on of a test; and what a thread
is told of its place.

Thread l of work-group g is thread number `g * threads + l`. The groups are dealt to the devices in
order, as many to each.
"""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.literal import number
from rspverify.litmus.placement import Place
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import Call, Integer, Launch, Name, Test, ThreadText

MAX_THREADS = 64
"""How many threads a launch may have."""

WORK_ITEM = (
    "get_group_id",
    "get_local_id",
    "get_global_id",
    "get_num_groups",
    "get_local_size",
    "get_global_size",
)
"""The functions that say who a thread is in its launch (OpenCL C §6.13.1); the last three of them
give sizes."""

NOBODY: Mapping[str, int] = {**dict.fromkeys(WORK_ITEM[:3], 0), **dict.fromkeys(WORK_ITEM[3:], 1)}
"""What they give in a dimension that a launch does not have."""

_HINT = "write `groups 2 threads 2` after the kernel"


def launched(test: Test, problems: Problems) -> tuple[dict[str, ThreadText], dict[str, Place]]:
    """The threads that run a kernel, by name, and their places; none if the test has no kernel."""
    kernels = [each for each in test.functions if each.kernel]
    for launch in test.launches[1:]:
        problems.again(launch.span, "a test must have one launch, not two", test.launches[0].span)
    if not kernels:
        if test.launches:
            message = "a launch must be of a kernel, and the test has none"
            problems.error(test.launches[0].span, message, "write `kernel void k (...) { ... }`")
        return {}, {}
    kernel, *others = kernels
    for each in others:
        problems.unsupported(each.name.span, "a test with several kernels is not supported")
    if test.language != "OpenCL":
        problems.error(kernel.name.span, "a kernel must be in a test of OpenCL, not of C11")
    for thread in test.threads[:1]:
        message = "a test must have threads or a kernel, not both"
        related = ((kernel.name.span, "the kernel is here"),)
        problems.error(thread.name.span, message, related=related)
    for tree in test.scope_trees[:1]:
        problems.error(tree.span, "a kernel must be placed by its launch, not by scopeTree", _HINT)
    groups = size = devices = 1
    subgroup = None
    if test.launches:
        groups, size, subgroup, devices = _sizes(test.launches[0], problems)
    else:
        problems.error(kernel.name.span, "a kernel must have a launch", _HINT)
    texts: dict[str, ThreadText] = {}
    places: dict[str, Place] = {}
    for index in range(groups * size):
        group, local = divmod(index, size)
        name, title = Name(kernel.name.span, f"P{index}"), kernel.name.text
        text = ThreadText(kernel.span, name, None, kernel.parameters, kernel.body, title)
        own = None if subgroup is None else local // subgroup
        texts[name.text], places[name.text] = text, (*divmod(group, groups // devices), own)
    return texts, places


def _sizes(launch: Launch, problems: Problems) -> tuple[int, int, int | None, int]:
    """How many groups, threads of a group, threads of a sub-group if there are such, and devices
    there are; 1 for what has a problem."""
    groups = _at_least_one(launch.groups, "groups", problems)
    threads = _at_least_one(launch.threads, "threads", problems)
    subgroup, devices = None, 1
    if launch.subgroups is not None:
        subgroup = _at_least_one(launch.subgroups, "threads of a sub-group", problems)
    if launch.devices is not None:
        devices = _at_least_one(launch.devices, "devices", problems)
    if groups * threads > MAX_THREADS:
        message = f"a launch of more than {MAX_THREADS} threads is not supported"
        problems.unsupported(launch.span, message)
        return 1, 1, subgroup, 1
    if groups % devices:
        message = f"the {groups} groups must be as many on each device, and there are {devices}"
        problems.error(launch.span, message)
        devices = 1
    return groups, threads, subgroup, devices


def _at_least_one(written: Integer, what: str, problems: Problems) -> int:
    found = number(written, problems)
    if found < 1:
        problems.error(written.span, f"a launch must have {what}, not {quote(written.text)}")
    return max(found, 1)


# ---- what a thread is told -----------------------------------------------------------------------


def work_items(places: Mapping[str, Place]) -> dict[str, Mapping[str, int]]:
    """What the functions give in each thread, by its name.

    Work-groups are numbered device by device, threads within their group as they are in the test.
    """
    groups: dict[tuple[int, int], list[str]] = {}
    for name in sorted(places, key=lambda it: (places[it][:2], int(it[1:]))):
        groups.setdefault(places[name][:2], []).append(name)
    found: dict[str, Mapping[str, int]] = {}
    for group, members in enumerate(groups.values()):
        for local, name in enumerate(members):
            given = (group, local, len(found), len(groups), len(members), len(places))
            found[name] = dict(zip(WORK_ITEM, given, strict=True))
    return found


def work_item(call: Call, items: Mapping[str, int], problems: Problems) -> int:
    """What a call gives in a thread; its argument, the dimension, may be left out."""
    name, given = call.function.text, call.arguments
    if len(given) > 1:
        message = f"{name} must have 1 argument (dimension) or none, not {len(given)}"
        problems.error(call.span, message)
    elif given and not isinstance(given[0], Integer):
        message = f"the dimension of {name} must be an integer as it is written"
        problems.error(given[0].span, message, f"write `{name}(0)`")
    elif given and isinstance(given[0], Integer) and number(given[0], problems) != 0:
        return NOBODY[name]
    return items[name]
