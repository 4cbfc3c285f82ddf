"""`list`: Models, machines, engines, schemes and tests."""

from __future__ import annotations

from pathlib import Path

from rspverify.architecture.machines import MACHINES
from rspverify.axiomatic.catalogue import shipped_models
from rspverify.options import Parameters
from rspverify.render import listings
from rspverify.shipped import schemes_named, ships, tests_named
from rspverify.soundness.settings import Engine
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output


def show_all(asked: Parameters, output: Output) -> int:
    """List what a command line may name: models, machines, engines, schemes and tests.

    A path means what is there, or what ships with rspverify under the same path. A word that is
    neither is a name: of a scheme or of a test.
    """
    schemes = {path: ships(path) for path in schemes_named()}
    families: dict[str, int] = {}
    tests = tests_named()
    for path in tests:
        folder = Path(path).parent.as_posix()
        families[folder] = families.get(folder, 0) + 1
    engines = {each.value: each.summary for each in Engine}
    ours = bool(tests) and ships(tests[0])
    named = {each.name: each.summary for each in MACHINES.values()}
    output.print(listings.names(shipped_models(), named, engines, schemes, families, ours))
    return 0


COMMAND = Command(show_all)
