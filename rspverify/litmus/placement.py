"""Where threads run: in which work-group of which device, by `scopeTree` or by `@wg 0, dev 0`.

In PTX a work-group is a `cta` and a device a `gpu`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeVar

from rspverify.litmus.literal import number
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import At, Name, ScopeNode, ScopeTree, Test, ThreadHead, walk
from rspverify.source import Span

_THREAD = re.compile(r"P(0|[1-9][0-9]{0,5})", re.ASCII)

Head = TypeVar("Head", bound=ThreadHead)

Place = tuple[int, int]
"""A device, and a work-group of that device; both count from 0."""

_OUTER = ("system", "sy", "all_svm_devices", "grid", "cluster")
_DEVICE = ("device", "dev", "dv", "agent", "gpu")
_WORKGROUP = ("work_group", "workgroup", "wg", "cta")
_SUBGROUP = ("sub_group", "subgroup", "sg")

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
        name = thread.name.text
        if not _THREAD.fullmatch(name):
            message = f"a thread must be named P0, P1 and so on, not {quote(name)}"
            problems.error(thread.name.span, message)
        elif name in found:
            first = found[name].name.span
            problems.again(thread.name.span, f"{name} must be one thread, not two", first)
        else:
            found[name] = thread
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
    headed = _headed(threads)
    if test.language == "C":
        _nowhere(test, headed, problems)
        return dict.fromkeys(threads, (0, 0))
    for tree in test.scope_trees[1:]:
        message = "a test must have one scopeTree, not several"
        problems.again(tree.span, message, test.scope_trees[0].span)
    if test.scope_trees:
        tree = test.scope_trees[0]
        if headed:
            at = headed[0].at
            assert at is not None
            related = ((at.span, f"{headed[0].name.text} is placed here"),)
            message = "threads must be placed by scopeTree or by `@wg 0, dev 0`, not by both"
            problems.error(tree.span, message, related=related)
        return _by_tree(tree, threads, problems)
    return placed_by_heads(threads, _OPENCL, problems, _HINT)


def _nowhere(test: Test, headed: list[ThreadHead], problems: Problems) -> None:
    """Note each place that a test of C11 gives to its threads."""
    places = [tree.span for tree in test.scope_trees]
    places += [thread.at.span for thread in headed if thread.at is not None]
    for span in places:
        message = "a test of C11 must not place its threads in work-groups and devices"
        problems.error(span, message, "write `OpenCL name` in the first line, or leave it out")


# ---- P0@wg 0, dev 0 ------------------------------------------------------------------------------


def placed_by_heads(
    threads: Mapping[str, ThreadHead], written: str, problems: Problems, hint: str
) -> dict[str, Place]:
    """The place of each thread by its head; a thread whose place has a problem has none.

    written: how a place is written; hint: what to do where no thread has one.
    """
    headed = _headed(threads)
    if not headed and threads:
        first = next(iter(threads.values()))
        message = "threads must be placed in work-groups and devices, and they are not"
        problems.error(first.name.span, message, hint)
        return {}
    places: dict[str, Place] = {}
    for name, thread in threads.items():
        if thread.at is not None:
            places[name] = _numbers(thread.at, written, problems)
            continue
        at = headed[0].at
        assert at is not None
        related = ((at.span, f"{headed[0].name.text} is placed here"),)
        message = f"{name} must have its place after its name, as {headed[0].name.text} has"
        problems.error(thread.name.span, message, f"write {name}{written}", related)
    return _dense(places)


def _dense(places: Mapping[str, Place]) -> dict[str, Place]:
    """The places with devices, and the work-groups of each device, counted from 0."""
    groups: dict[int, set[int]] = {}
    for device, group in places.values():
        groups.setdefault(device, set()).add(group)
    ranks = {
        (device, group): (i, j)
        for i, device in enumerate(sorted(groups))
        for j, group in enumerate(sorted(groups[device]))
    }
    return {name: ranks[place] for name, place in places.items()}


def _headed(threads: Mapping[str, ThreadHead]) -> list[ThreadHead]:
    """The threads with a place in their heads."""
    return [thread for thread in threads.values() if thread.at is not None]


def _numbers(at: At, written: str, problems: Problems) -> Place:
    """The device and the work-group as they are numbered in a header."""
    group, device = re.findall(r"[a-z]+", written)
    found: dict[str, int] = {}
    for word, integer in at.numbers:
        level = _level(word, written)
        if level is None:
            message = f"a place must be given by `{group}` and `{device}`, not {quote(word.text)}"
            problems.error(word.span, message, f"write `{written}`")
        elif level in found:
            message = f"a place must have one {level}, not two"
            problems.error(word.span, message, f"write `{written}`")
        else:
            found[level] = number(integer, problems)
    if "sub-group" in found and len(found) == 2:
        missing = "device" if "work-group" in found else "work-group"
        message = f"a place must have a {missing}, and this one has none"
        problems.error(at.span, message, f"write `sg 0, {written[1:]}`")
    return found.get("device", 0), found.get("work-group", 0)


def _level(word: Name, written: str) -> str | None:
    """The level that a word in the head of a thread is for; in PTX there are no sub-groups."""
    text = word.text.lower()
    if text in _SUBGROUP:
        return "sub-group" if written == _OPENCL else None
    return "device" if text in _DEVICE else "work-group" if text in _WORKGROUP else None


def subgroups(
    test: Test, threads: Mapping[str, ThreadHead], items: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """The number of the sub-group of each thread that is said to be in one.

    By `@sg 0, wg 0, dev 0`, by `(sub_group P0 P1)` in the scope tree, or, of a kernel, by
    `subgroups of 2` in its launch: so many threads each, in the order of their local ids. items:
    what the functions for work-items give in each thread.
    """
    found: dict[str, int] = {}
    for name, thread in threads.items():
        for word, integer in () if thread.at is None else thread.at.numbers:
            if _level(word, _OPENCL) == "sub-group":
                found[name] = number(integer, Problems())
    nodes = [each for tree in test.scope_trees for each in walk(tree)]
    scopes = [each for each in nodes if isinstance(each, ScopeNode)]
    groups = [each for each in scopes if each.level.text.lower() in _SUBGROUP]
    for index, group in enumerate(groups):
        found |= {it.text: index for it in group.children if isinstance(it, Name)}
    sizes = [number(it.subgroups, Problems()) for it in test.launches if it.subgroups is not None]
    for name, its in items.items():
        for size in sizes[:1]:
            found[name] = its["get_local_id"] // max(size, 1)
    return found


# ---- scopeTree -----------------------------------------------------------------------------------


def _by_tree(
    tree: ScopeTree, threads: Mapping[str, ThreadHead], problems: Problems
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    first: dict[str, Span] = {}
    for device, node in enumerate(_devices(tree, problems)):
        groups = _nodes(node, _WORKGROUP, "work_group", problems)
        for group, members in enumerate(groups):
            for member in _threads(members, problems):
                name = member.text
                if name not in threads:
                    message = f"the scope tree must place threads of the test, not {quote(name)}"
                    problems.error(member.span, message, problems.suggestion(name, threads))
                elif name in first:
                    twice = places[name] == (device, group)
                    where = "be named once in its work-group" if twice else "be in one work-group"
                    related = ((first[name], "it is placed here first"),)
                    message = f"{name} must {where}, not {'twice' if twice else 'in two'}"
                    problems.error(member.span, message, related=related)
                else:
                    places[name], first[name] = (device, group), member.span
    named = {node.text for node in walk(tree) if isinstance(node, Name)}
    for name, thread in threads.items():
        if name not in named:
            related = ((thread.name.span, f"{name} is here"),)
            message = f"the scope tree must place every thread, and {name} is missing"
            hint = f"add {name} to a work_group, or a work_group with it"
            problems.error(tree.span, message, hint, related)
    return places


def _devices(tree: ScopeTree, problems: Problems) -> list[ScopeNode]:
    """The devices of a scope tree, which may stand in one outer node."""
    outer = [node for node in tree.nodes if node.level.text.lower() in _OUTER]
    if len(tree.nodes) == 1 and outer:
        return _nodes(tree.nodes[0], _DEVICE, "device", problems)
    return [node for node in tree.nodes if _is(node, _DEVICE, "device", problems)]


def _nodes(
    node: ScopeNode, levels: tuple[str, ...], level: str, problems: Problems
) -> list[ScopeNode]:
    """The nodes below a node, which must all be of one level."""
    found = []
    for child in node.children:
        if isinstance(child, Name):
            message = f"{quote(node.level.text)} must hold a ({level} ...), not a thread"
            problems.error(child.span, message)
        elif _is(child, levels, level, problems):
            found.append(child)
    if not node.children:
        message = f"{quote(node.level.text)} must hold a ({level} ...), not nothing"
        problems.error(node.span, message)
    return found


def _is(node: ScopeNode, levels: tuple[str, ...], level: str, problems: Problems) -> bool:
    if node.level.text.lower() in levels:
        return True
    message = f"here must be a ({level} ...), not {quote(node.level.text)}"
    problems.error(node.level.span, message, problems.suggestion(node.level.text, levels))
    return False


def _threads(group: ScopeNode, problems: Problems, what: str = "work_group") -> list[Name]:
    """The threads of a work-group, some of which may stand in sub-groups."""
    found: list[Name] = []
    for child in group.children:
        if isinstance(child, Name):
            found.append(child)
        elif what == "work_group" and child.level.text.lower() in _SUBGROUP:
            found += _threads(child, problems, "sub_group")
        else:
            message = f"a {what} must hold threads, not another node"
            problems.error(child.level.span, message)
    if not group.children:
        problems.error(group.span, f"a {what} must hold threads, not nothing")
    return found
