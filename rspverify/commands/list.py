"""`list`: everything that a command line may name."""

from __future__ import annotations

from pathlib import Path

from rspverify.commands.command import command
from rspverify.commands.output import print_parts
from rspverify.soundness.settings import Engine


@command("Models, machines, engines, schemes and tests.", name="list")
def list_() -> None:
    """List what a command line may name: models, machines, engines, schemes and tests.

    A path means what is there, or what ships with rspverify under the same path. A word that is
    neither is a name: of a scheme or of a test.
    """
    from rspverify.api.catalogue import machines, models
    from rspverify.render.listing_text import listing
    from rspverify.shipped import schemes_named, ships, tests_named

    schemes = {path: ships(path) for path in schemes_named()}
    families: dict[str, int] = {}
    tests = tests_named()
    for path in tests:
        folder = Path(path).parent.as_posix()
        families[folder] = families.get(folder, 0) + 1
    engines = {each.value: each.summary for each in Engine}
    ours = bool(tests) and ships(tests[0])
    named = {each.name: each.summary for each in machines().values()}
    print_parts(None, listing(models(), named, engines, schemes, families, ours))
