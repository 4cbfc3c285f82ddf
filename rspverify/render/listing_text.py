"""`list` for people: everything that a command line may name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from rich.text import Text

_RULE = (
    "A path means what is there, or else what ships with rspverify under the same path.",
    "A word that is no path is a name: of a scheme, as `proposed`, or of a test, as `Fig4`.",
    "Without tests, commands take those of a folder litmus here, or else those that ship.",
)


def listing(
    models: Sequence[str],
    machines: Mapping[str, str],
    engines: Mapping[str, str],
    schemes: Mapping[str, bool],
    families: Mapping[str, int],
    ours: bool,
) -> Iterator[Text]:
    """Names by kind; schemes with whether they ship; tests by folder, with how many there are.

    ours: whether the tests ship, as there is no folder of the user's.
    """
    yield Text("models", style="bold").append("  --model, or a .cat file", style="not bold dim")
    yield from (Text(f"  {name}") for name in models)
    for title, said in {"machines": machines, "engines": engines}.items():
        option = f"  --{title.removesuffix('s')}"
        yield Text(title, style="bold").append(option, style="not bold dim")
        yield from (Text(f"  {name}: {words}") for name, words in said.items())
    yield Text("schemes", style="bold")
    for path, shipped in schemes.items():
        where = "" if shipped else "  here"
        yield Text(f"  {PurePath(path).stem}").append(f"  {path}{where}", style="dim")
    own = list(dict.fromkeys(PurePath(folder).parts[0] for folder in families))
    here = f"those of the folder{'s' * (len(own) > 1)} {', '.join(own) or 'litmus'} here"
    whose = "those that ship" if ours else here
    yield Text("tests", style="bold").append(f"  {whose}", style="not bold dim")
    yield from (Text(f"  {folder}: {count}") for folder, count in families.items())
    yield Text("")
    yield from map(Text, _RULE)
