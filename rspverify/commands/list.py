"""`list`: everything that a command line may name."""

from __future__ import annotations

from pathlib import Path

from rspverify.commands.command import command
from rspverify.commands.output import print_parts
from rspverify.soundness.settings import Engine


@command("Models, machines, engines, schemes and tests.", name="list")
def list_() -> None:
    """List models, machines and engines, and what is in the folders schemes and litmus here."""
    from rspverify.assembly import MACHINES
    from rspverify.axiomatic import shipped_models
    from rspverify.corpus.inputs import SCHEME_ENDINGS
    from rspverify.render.listing_text import listing

    schemes = sorted(
        str(each) for each in Path("schemes").glob("*") if each.suffix in SCHEME_ENDINGS
    )
    families: dict[str, int] = {}
    for each in sorted(Path("litmus").rglob("*.litmus")):
        families[str(each.parent)] = families.get(str(each.parent), 0) + 1
    engines = {each.value: each.summary for each in Engine}
    machines = {each.name: each.summary for each in MACHINES.values()}
    print_parts(None, listing(shipped_models(), machines, engines, schemes, families))
