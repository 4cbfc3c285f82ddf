"""A kernel and its launch, which become the threads P0, P1 and so on of a test.

Thread l of work-group g is thread number `g * threads + l`. The groups are dealt to the devices in
order, as many to each.
"""

from __future__ import annotations

from rspverify.litmus.literal import number
from rspverify.litmus.placement import Place
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import FunctionText, Integer, Launch, Name, Test, ThreadText

MAX_THREADS = 64
"""How many threads a launch may have."""

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
    kernel = kernels[0]
    for each in kernels[1:]:
        problems.unsupported(each.name.span, "a test with several kernels is not supported")
    if test.language != "OpenCL":
        problems.error(kernel.name.span, "a kernel must be in a test of OpenCL, not of C11")
    for thread in test.threads[:1]:
        message = "a test must have threads or a kernel, not both"
        related = ((kernel.name.span, "the kernel is here"),)
        problems.error(thread.name.span, message, related=related)
    for tree in test.scope_trees[:1]:
        problems.error(tree.span, "a kernel must be placed by its launch, not by scopeTree", _HINT)
    if not test.launches:
        problems.error(kernel.name.span, "a kernel must have a launch", _HINT)
        return _threads(kernel, 1, 1, 1)
    return _threads(kernel, *_sizes(test.launches[0], problems))


def _sizes(launch: Launch, problems: Problems) -> tuple[int, int, int]:
    """How many groups, threads of a group and devices there are; 1 for what has a problem."""
    groups = _at_least_one(launch.groups, "groups", problems)
    threads = _at_least_one(launch.threads, "threads", problems)
    devices = 1
    if launch.subgroups is not None:
        _at_least_one(launch.subgroups, "threads of a sub-group", problems)
    if launch.devices is not None:
        devices = _at_least_one(launch.devices, "devices", problems)
    if groups * threads > MAX_THREADS:
        message = f"a launch of more than {MAX_THREADS} threads is not supported"
        problems.unsupported(launch.span, message)
        return 1, 1, 1
    if groups % devices:
        message = f"the {groups} groups must be as many on each device, and there are {devices}"
        problems.error(launch.span, message)
        return groups, threads, 1
    return groups, threads, devices


def _at_least_one(written: Integer, what: str, problems: Problems) -> int:
    found = number(written, problems)
    if found < 1:
        problems.error(written.span, f"a launch must have {what}, not {quote(written.text)}")
    return max(found, 1)


def _threads(
    kernel: FunctionText, groups: int, threads: int, devices: int
) -> tuple[dict[str, ThreadText], dict[str, Place]]:
    texts: dict[str, ThreadText] = {}
    places: dict[str, Place] = {}
    each_has = groups // devices
    for group in range(groups):
        for _ in range(threads):
            name = Name(kernel.name.span, f"P{len(texts)}")
            title = kernel.name.text
            texts[name.text] = ThreadText(
                kernel.span, name, None, kernel.parameters, kernel.body, title
            )
            places[name.text] = divmod(group, each_has)
    return texts, places
