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
        "A scheme or a machine: a .yaml or .machine file, or a name as of list. With --format rocq "
        "also a model.",
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
    --format rocq: the definitions that proof/Thm1.v is held to, of a machine or a model.

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
    if output.format == "rocq":
        output.write(_in_rocq(name))
    elif not _is_machine(name):
        _show_scheme(name, output)
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


def _in_rocq(name: str) -> str:
    if _is_machine(name):
        from rspverify.architecture.machines import machine_named
        from rspverify.proof.rocq_machine import machine_in_rocq

        return machine_in_rocq(machine_named(name))
    from rspverify.axiomatic.cat import load_model
    from rspverify.axiomatic.catalogue import shipped_models
    from rspverify.proof.rocq_model import model_in_rocq

    is_model = name in shipped_models() or name.endswith(".cat")
    require(is_model, f"--format rocq is for machines and models, not for {name}")
    return model_in_rocq(load_model(name))


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
    "text": "Text, or what a machine or a model defines as definitions for Rocq.",
    "rocq": "",
}
COMMAND = Command(show, ShowParameters, forms=FORMS, also=("output",))
