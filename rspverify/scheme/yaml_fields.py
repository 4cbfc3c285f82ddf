"""The fields of a mapping in a scheme: which keys it may and must have, and words among choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rspverify.scheme.wording import alternatives, found, guess, quoted
from rspverify.scheme.yaml_nodes import List, Node, Table, Text
from rspverify.source import Problem, Span


def read_fields(
    node: Node,
    what: str,
    keys: Sequence[str],
    required: Sequence[str],
    problems: list[Problem],
) -> dict[str, Node] | None:
    """The values of a mapping by key, without the keys that it must not have."""
    if not isinstance(node, Table):
        usual = f"a mapping with the keys {', '.join(required)}"
        problems.append(Problem(node.span, f"{what} must be {usual}, not {found(node)}"))
        return None
    fields: dict[str, Node] = {}
    for key, value in node.entries:
        if key.text in keys:
            fields[key.text] = value
        else:
            message = f"a key of {what} must be {alternatives(keys)}, not {quoted(key.text)}"
            problems.append(Problem(key.span, message, guess(key.text, keys)))
    missing = [key for key in required if key not in fields]
    if missing:
        message = f"{what} must have the key {missing[0]}"
        if len(missing) > 1:
            message = f"{what} must have the keys {', '.join(missing)}"
        problems.append(Problem(node.span, message))
    return fields


def read_text(fields: Mapping[str, Node], key: str, problems: list[Problem]) -> str | None:
    """A free text, where there is one."""
    node = fields.get(key)
    if node is None:
        return None
    if isinstance(node, Text) and not node.null:
        return node.text.strip()
    problems.append(Problem(node.span, f"{key} must be text, not {found(node)}"))
    return None


def read_choice(
    node: Node, what: str, choices: Sequence[str], problems: list[Problem]
) -> str | None:
    """The choice that a word names; None, and a problem more, if it names none."""
    if isinstance(node, Text) and node.text in choices:
        return node.text
    hint = guess(node.text, choices) if isinstance(node, Text) else None
    message = f"{what} must be {alternatives(choices)}, not {found(node)}"
    problems.append(Problem(node.span, message, hint))
    return None


def read_choices(
    node: Node, what: str, choices: Sequence[str], problems: list[Problem], any_case: bool = False
) -> dict[str, Span] | None:
    """The choices that a word or a list names, with their places; None if any of it is wrong."""
    if isinstance(node, List) and not node.items:
        message = f"{what} must be {alternatives(choices)}, or a list of these, not an empty list"
        problems.append(Problem(node.span, message))
        return None
    chosen: dict[str, Span] = {}
    before = len(problems)
    for item in node.items if isinstance(node, List) else (node,):
        if any_case and isinstance(item, Text):
            item = Text(item.text.lower(), item.null, item.span, item.words)
        name = read_choice(item, what, choices, problems)
        if name in chosen:
            first = (chosen[name], "named here before")
            message = f"{what} must name {name} once, not twice"
            problems.append(Problem(item.span, message, related=(first,)))
        elif name is not None:
            chosen[name] = item.span
    return chosen if len(problems) == before else None
