"""`list` for people: everything that a command line may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.text import Text


def listing(
    models: Sequence[str],
    machines: Mapping[str, str],
    engines: Mapping[str, str],
    schemes: Sequence[str],
    families: Mapping[str, int],
) -> Iterator[Text]:
    """Names by kind; tests by folder, with how many there are."""
    for title, names in {"models": models, "schemes here": schemes}.items():
        yield Text(title, style="bold")
        yield from (Text(f"  {name}") for name in names or ("none",))
    for title, said in {"machines": machines, "engines": engines}.items():
        yield Text(title, style="bold")
        yield from (Text(f"  {name}: {words}") for name, words in said.items())
    yield Text("tests here", style="bold")
    yield from (Text(f"  {folder}: {count}") for folder, count in families.items())
    if not families:
        yield Text("  none")
