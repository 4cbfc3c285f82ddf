"""Where threads run: in which work-group of which device, by `scopeTree` or by `@wg 0, dev 0`.

In PTX a work-group is a `cta` and a device a `gpu`; in Vulkan, which has one device, a queue family
stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from rspverify.litmus.literal import number
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import At, Name, ScopeNode, ScopeTree, Test, ThreadHead, walk
from rspverify.source import Span

_THREAD = re.compile(r"P(0|[1-9][0-9]{0,5})", re.ASCII)

Head = TypeVar("Head", bound=ThreadHead)

Place = tuple[int, int, int | None]
"""A device, a work-group of that device, both from 0, and a sub-group of that: None if a thread is
alone in one."""

_LEVELS = {
    "system": ("system", "sy", "all_svm_devices", "grid", "cluster"),
    "device": ("device", "dev", "dv", "agent", "gpu", "qf"),
    "work-group": ("work_group", "workgroup", "wg", "cta"),
    "sub-group": ("sub_group", "subgroup", "sg"),
}
"""The words for each level of the hierarchy."""
_LEVEL = {word: level for level, words in _LEVELS.items() for word in words}

_OPENCL = "@wg 0, dev 0"
"""How a place is written in the head of a thread: its work-group, and its device."""

_HINT = (
    "write `scopeTree (device (work_group P0 P1) (work_group P2))` after the threads, or"
    " `P0@wg 0, dev 0 (...)` at each thread"
)


def numbered(threads: Iterable[Head], problems: Problems) -> dict[str, Head]:
    """The threads by name, in the order of their numbers, which must be 0 to n - 1."""
    found: dict[str, Head] = {}
    for thread in threads:
        name, span = thread.name.text, thread.name.span
        if not _THREAD.fullmatch(name):
            problems.error(span, f"a thread must be named P0, P1 and so on, not {quote(name)}")
        elif (first := found.setdefault(name, thread)) is not thread:
            problems.again(span, f"{name} must be one thread, not two", first.name.span)
    ordered = sorted(found, key=lambda name: int(name[1:]))
    for index, name in enumerate(ordered):
        if name != f"P{index}":
            message = f"threads must be numbered without gaps, and there is no P{index}"
            problems.error(found[name].name.span, message)
            break
    return {name: found[name] for name in ordered}


def placement(
    test: Test, threads: Mapping[str, ThreadHead], problems: Problems
) -> dict[str, Place]:
    """The place of each thread; a thread whose place has a problem has none."""
    headed, trees = _headed(threads), test.scope_trees
    if test.language == "C":
        for span in [*(tree.span for tree in trees), *(at.span for _, at in headed)]:
            message = "a test of C11 must not place its threads in work-groups and devices"
            problems.error(span, message, "write `OpenCL name` in the first line, or leave it out")
        return dict.fromkeys(threads, (0, 0, None))
    for tree in trees[1:]:
        problems.again(tree.span, "a test must have one scopeTree, not several", trees[0].span)
    if not trees:
        return placed_by_heads(threads, _OPENCL, problems, _HINT)
    if headed:
        message = "threads must be placed by scopeTree or by `@wg 0, dev 0`, not by both"
        problems.error(trees[0].span, message, related=_placed(headed))
    return _by_tree(trees[0], threads, problems)


# ---- P0@wg 0, dev 0 ------------------------------------------------------------------------------


def placed_by_heads(
    threads: Mapping[str, ThreadHead], written: str, problems: Problems, hint: str
) -> dict[str, Place]:
    """The place of each thread by its head; a thread whose place has a problem has none.

    written: how a place is written; hint: what to do where no thread has one.
    """
    headed = _headed(threads)
    if not headed and len(threads) == 1:  # It is the same wherever it runs.
        return dict.fromkeys(threads, (0, 0, None))
    if not headed and threads:
        first = next(iter(threads.values()))
        message = "threads must be placed in work-groups and devices, and they are not"
        problems.error(first.name.span, message, hint)
        return {}
    places: dict[str, Place] = {}
    for name, thread in threads.items():
        if thread.at is not None:
            places[name] = _place(thread.at, written, problems)
            continue
        message = f"{name} must have its place after its name, as {headed[0][0]} has"
        problems.error(thread.name.span, message, f"write {name}{written}", _placed(headed))
    return _dense(places)


def _dense(places: Mapping[str, Place]) -> dict[str, Place]:
    """The places with devices, and the work-groups of each device, counted from 0."""
    groups: dict[int, set[int]] = {}
    for device, group, _ in places.values():
        groups.setdefault(device, set()).add(group)
    devices = sorted(groups)
    return {
        name: (devices.index(device), sorted(groups[device]).index(group), subgroup)
        for name, (device, group, subgroup) in places.items()
    }


def _headed(threads: Mapping[str, ThreadHead]) -> list[tuple[str, At]]:
    """The threads with a place in their heads."""
    return [(name, it.at) for name, it in threads.items() if it.at is not None]


def _placed(headed: list[tuple[str, At]]) -> tuple[tuple[Span, str], ...]:
    name, at = headed[0]
    return ((at.span, f"{name} is placed here"),)


def _place(at: At, written: str, problems: Problems) -> Place:
    """A place as it is numbered in a head; in PTX there are no sub-groups."""
    *_, group, device = words = re.findall(r"[a-z]+", written)
    subgroups = written == _OPENCL or "sg" in words
    levels = ["device", "work-group", *(["sub-group"] if subgroups else [])]
    found: dict[str, int] = {}
    for word, integer in at.numbers:
        level = _LEVEL.get(word.text.lower(), "")
        if level not in levels:
            message = f"a place must be given by `{group}` and `{device}`, not {quote(word.text)}"
            problems.error(word.span, message, f"write `{written}`")
        elif level in found:
            problems.error(
                word.span, f"a place must have one {level}, not two", f"write `{written}`"
            )
        else:
            found[level] = number(integer, problems)
    if "sub-group" in found and len(found) == 2:
        missing = "device" if "work-group" in found else "work-group"
        message = f"a place must have a {missing}, and this one has none"
        problems.error(at.span, message, f"write `sg 0, {written[1:]}`")
    return found.get("device", 0), found.get("work-group", 0), found.get("sub-group")


# ---- scopeTree -----------------------------------------------------------------------------------


def _by_tree(
    tree: ScopeTree, threads: Mapping[str, ThreadHead], problems: Problems
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    first: dict[str, Span] = {}
    subgroups = [it for it in walk(tree) if isinstance(it, ScopeNode) and _is(it, "sub-group")]
    nodes = tree.nodes
    if len(nodes) == 1 and _is(nodes[0], "system"):
        devices = [*_nodes(nodes[0], "device", problems)]
    else:
        devices = [node for node in nodes if _is(node, "device", problems)]
    placed = (
        (device, number, group)
        for device, node in enumerate(devices)
        for number, group in enumerate(_nodes(node, "work-group", problems))
    )
    for device, number_, group in placed:
        for member, subgroup in _threads(group, problems):
            name, span = member.text, member.span
            if name not in threads:
                message = f"the scope tree must place threads of the test, not {quote(name)}"
                problems.error(span, message, problems.suggestion(name, threads))
            elif name in first:
                twice = places[name][:2] == (device, number_)
                where = "be named once in its work-group" if twice else "be in one work-group"
                related = ((first[name], "it is placed here first"),)
                message = f"{name} must {where}, not {'twice' if twice else 'in two'}"
                problems.error(span, message, related=related)
            else:
                index = None if subgroup is None else subgroups.index(subgroup)
                places[name], first[name] = (device, number_, index), span
    named = {node.text for node in walk(tree) if isinstance(node, Name)}
    for name, thread in threads.items():
        if name not in named:
            related = ((thread.name.span, f"{name} is here"),)
            message = f"the scope tree must place every thread, and {name} is missing"
            hint = f"add {name} to a work_group, or a work_group with it"
            problems.error(tree.span, message, hint, related)
    return places


def _nodes(node: ScopeNode, level: str, problems: Problems) -> Iterator[ScopeNode]:
    """The nodes below a node, which must all be of one level."""
    must = f"{quote(node.level.text)} must hold a ({_LEVELS[level][0]} ...), not"
    if not node.children:
        problems.error(node.span, f"{must} nothing")
    for child in node.children:
        if isinstance(child, Name):
            problems.error(child.span, f"{must} a thread")
        elif _is(child, level, problems):
            yield child


def _is(node: ScopeNode, level: str, problems: Problems | None = None) -> bool:
    """Whether a node is of a level; problems: where it must be."""
    word, words = node.level.text, _LEVELS[level]
    found = word.lower() in words
    if not found and problems is not None:
        message = f"here must be a ({words[0]} ...), not {quote(word)}"
        problems.error(node.level.span, message, problems.suggestion(word, words))
    return found


def _threads(
    group: ScopeNode, problems: Problems, within: ScopeNode | None = None
) -> Iterator[tuple[Name, ScopeNode | None]]:
    """The threads of a work-group, some of which may stand in sub-groups, each with its own."""
    must = f"a {'sub' if within else 'work'}_group must hold threads, not"
    if not group.children:
        problems.error(group.span, f"{must} nothing")
    for child in group.children:
        if isinstance(child, Name):
            yield child, within
        elif within is None and _is(child, "sub-group"):
            yield from _threads(child, problems, child)
        else:
            problems.error(child.level.span, f"{must} another node")
