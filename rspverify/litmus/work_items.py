"""What OpenCL's functions for work-items give: who a thread is in its launch (OpenCL C §6.13.1)."""

from __future__ import annotations

from collections.abc import Mapping

from rspverify.litmus.literal import number
from rspverify.litmus.placement import Place
from rspverify.litmus.problems import Problems
from rspverify.litmus.tree import Call, Integer

WORK_ITEM = (
    "get_group_id",
    "get_local_id",
    "get_global_id",
    "get_num_groups",
    "get_local_size",
    "get_global_size",
)
"""The functions; the last three of them give sizes."""

NOBODY: Mapping[str, int] = {**dict.fromkeys(WORK_ITEM[:3], 0), **dict.fromkeys(WORK_ITEM[3:], 1)}
"""What they give in a dimension that a launch does not have."""


def work_items(places: Mapping[str, Place]) -> dict[str, Mapping[str, int]]:
    """What the functions give in each thread, by its name.

    Work-groups are numbered device by device, threads within their group as they are in the test.
    """
    groups: dict[Place, list[str]] = {}
    for name in sorted(places, key=lambda it: (places[it], int(it[1:]))):
        groups.setdefault(places[name], []).append(name)
    found: dict[str, Mapping[str, int]] = {}
    for group, members in enumerate(groups.values()):
        for local, name in enumerate(members):
            given = (group, local, len(found), len(groups), len(members), len(places))
            found[name] = dict(zip(WORK_ITEM, given, strict=True))
    return found


def work_item(call: Call, items: Mapping[str, int], problems: Problems) -> int:
    """What a call gives in a thread; its argument, the dimension, may be left out."""
    name = call.function.text
    if len(call.arguments) > 1:
        message = f"{name} must have 1 argument (dimension) or none, not {len(call.arguments)}"
        problems.error(call.span, message)
        return items[name]
    for dimension in call.arguments:
        if not isinstance(dimension, Integer):
            message = f"the dimension of {name} must be an integer as it is written"
            problems.error(dimension.span, message, f"write `{name}(0)`")
        elif number(dimension, problems) != 0:
            return NOBODY[name]
    return items[name]
