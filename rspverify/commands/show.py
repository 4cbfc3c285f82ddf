"""`show`: A scheme as a table, or a machine."""

from __future__ import annotations

from dataclasses import dataclass

from rspverify.options import Parameters, argument, option
from rspverify.source import require
from rspverify.terminal.command import Command
from rspverify.terminal.output import Output


@dataclass(frozen=True)
class ShowParameters(Parameters):
    """What is shown."""

    scheme: str | None = argument(
        "A scheme or a machine: a .yaml or .machine file, or a name as of list.",
        metavar="SCHEME|MACHINE",
        completes="scheme or machine",
        default=None,
    )
    schema: str | None = option(
        None,
        "Instead, the JSON Schema of a kind of file (scheme, expected, suite, costs), or "
        "of what a command prints by --format json.",
        metavar="NAME",
    )
    text: bool = option(False, "Of a machine its file, as it is.")

    def __post_init__(self) -> None:
        super().__post_init__()
        one = (self.scheme is None) != (self.schema is None)
        require(one, "one of SCHEME and --schema must be given")


def show(asked: ShowParameters, output: Output) -> int:
    """Show a scheme as a table, as the paper prints its own, or a machine: its state, what its
    instructions do, and what the engines make of its steps. --text: its file, to be read or edited,
    as is shown of a part that machines include.
    --format rocq: the definitions that proof/Thm1.v is held to.

    Or show a JSON Schema. With it in scheme.schema.json, editors complete and check a scheme whose
    first line is `# yaml-language-server: $schema=scheme.schema.json`.
    """
    from rspverify.architecture.catalogue import included
    from rspverify.architecture.machines import machine_named, text_of

    if asked.schema is not None:
        from rspverify.render.schemas import shipped

        output.write(shipped(asked.schema))
        return 0
    name = asked.scheme or ""
    of_a_machine = _is_machine(name)
    message = f"--format rocq is for machines, not for {name}"
    require(output.format == "text" or of_a_machine, message)
    if not of_a_machine:
        _show_scheme(name, output)
    elif output.format == "rocq":
        from rspverify.proof.rocq_machine import machine_in_rocq

        output.write(machine_in_rocq(machine_named(name)))
    elif asked.text or name in included():
        output.write(text_of(name))
    else:
        from rspverify.machine.summary import summary
        from rspverify.render.listings import machine

        output.print(machine(summary(machine_named(name))))
    return 0


def _is_machine(name: str) -> bool:
    """Whether a name is that of a machine that ships, or of a part of several, or of the file of
    one, switches or not."""
    from rspverify.architecture.catalogue import ENDING, included, shipped
    from rspverify.architecture.machines import without_switches

    name = without_switches(name)
    return name.endswith(ENDING) or name in (*shipped(), *included())


def _show_scheme(name: str, output: Output) -> None:
    from rspverify.answers import machine_in_words
    from rspverify.api.inputs import read_table
    from rspverify.render.listings import scheme

    table = read_table(name)
    rows = [(row.number, str(row), list(row.text)) for row in table.rows]
    path = table.machine.path if table.machine else ""
    machine = machine_in_words(table.runs_on, path or None, table.machine is None)
    output.print(scheme(table.name, f"the {machine}", table.origin, rows))


FORMS = {
    "text": "Text, or of a machine its guards and effects as definitions for Rocq.",
    "rocq": "",
}
COMMAND = Command(show, ShowParameters, forms=FORMS, also=("output",))
