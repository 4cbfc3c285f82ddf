"""Where threads run: in which work-group of which device, by `scopeTree` or by `@wg 0, dev 0`."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.literal import number
from rspverify.litmus.problems import Problems, quote
from rspverify.litmus.tree import At, Name, ScopeNode, ScopeTree, Test, ThreadText, walk
from rspverify.source import Span

Place = tuple[int, int]
"""A device, and a work-group of that device; both count from 0."""

_OUTER = ("system", "sy", "all_svm_devices", "grid", "cluster")
_DEVICE = ("device", "dev", "dv", "agent")
_WORKGROUP = ("work_group", "workgroup", "wg", "cta")

_HINT = (
    "write `scopeTree (device (work_group P0 P1) (work_group P2))` after the threads, or"
    " `P0@wg 0, dev 0 (...)` at each thread"
)


def placement(
    test: Test, threads: Mapping[str, ThreadText], problems: Problems
) -> dict[str, Place]:
    """The place of each thread; a thread whose place has a problem has none."""
    headed = [thread for thread in threads.values() if thread.at is not None]
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
    if not headed and threads:
        first = next(iter(threads.values()))
        message = "threads must be placed in work-groups and devices, and they are not"
        problems.error(first.name.span, message, _HINT)
        return {}
    return _by_headers(threads, headed, problems)


def _nowhere(test: Test, headed: list[ThreadText], problems: Problems) -> None:
    """Note each place that a test of C11 gives to its threads."""
    places = [tree.span for tree in test.scope_trees]
    places += [thread.at.span for thread in headed if thread.at is not None]
    for span in places:
        message = "a test of C11 must not place its threads in work-groups and devices"
        problems.error(span, message, "write `OpenCL name` in the first line, or leave it out")


# ---- P0@wg 0, dev 0 ------------------------------------------------------------------------------


def _by_headers(
    threads: Mapping[str, ThreadText], headed: list[ThreadText], problems: Problems
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for name, thread in threads.items():
        if thread.at is not None:
            places[name] = _numbers(thread.at, problems)
            continue
        at = headed[0].at
        assert at is not None
        related = ((at.span, f"{headed[0].name.text} is placed here"),)
        message = f"{name} must have its place after its name, as {headed[0].name.text} has"
        problems.error(thread.name.span, message, f"write {name}@wg 0, dev 0", related)
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


def _numbers(at: At, problems: Problems) -> Place:
    """The device and the work-group as they are numbered in a header."""
    found: dict[str, int] = {}
    for word, integer in at.numbers:
        text = word.text.lower()
        level = "device" if text in _DEVICE else "work-group" if text in _WORKGROUP else None
        if level is None:
            message = f"a place must be given by `wg` and `dev`, not {quote(word.text)}"
            problems.error(word.span, message, "write `@wg 0, dev 0`")
        elif level in found:
            message = f"a place must have one {level}, not two"
            problems.error(word.span, message, "write `@wg 0, dev 0`")
        else:
            found[level] = number(integer, problems)
    return found.get("device", 0), found.get("work-group", 0)


# ---- scopeTree -----------------------------------------------------------------------------------


def _by_tree(
    tree: ScopeTree, threads: Mapping[str, ThreadText], problems: Problems
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


def _threads(group: ScopeNode, problems: Problems) -> list[Name]:
    """The threads of a work-group."""
    for child in group.children:
        if isinstance(child, ScopeNode):
            message = "a work_group must hold threads, not another node"
            problems.error(child.level.span, message)
    if not group.children:
        problems.error(group.span, "a work_group must hold threads, not nothing")
    return [child for child in group.children if isinstance(child, Name)]
