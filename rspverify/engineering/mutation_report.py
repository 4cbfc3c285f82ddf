"""What is known of a scheme's mutants, put together for those who show it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from msgspec import Struct

from rspverify.convert import counts
from rspverify.engineering import mutation
from rspverify.engineering.hunt.operations import hunts_of
from rspverify.engineering.mutate import Baseline, shown, telling, told
from rspverify.engineering.setup import Setup, write_schemes
from rspverify.options import words_of
from rspverify.records import replace
from rspverify.scheme.cost import Costs
from rspverify.scheme.mutants import (
    Mutant,
    RowMutants,
    mutants_of,
    wider_mutants_of,
)
from rspverify.scheme.writer import scheme_text
from rspverify.soundness.settings import explain_command
from rspverify.verdict import WRONG, Word


class Asked(Struct, frozen=True):
    """What was asked of a scheme. written: where each mutant was written, by its name."""

    setup: Setup
    table: tuple[RowMutants, ...]
    wider: tuple[RowMutants, ...] | None
    costs: Costs
    written: Mapping[str, str]

    @property
    def mutants(self) -> list[Mutant]:
        """Those to be decided, row by row."""
        return [mutant for row in self.table for mutant in row.mutants]


def asked_of(setup: Setup, costs: Costs, *, widen: bool) -> Asked:
    """Every mutant of the first scheme; with `widen` the wider ones, too."""
    scheme = setup.schemes[0].scheme
    wider = wider_mutants_of(scheme) if widen else None
    return Asked(setup, mutants_of(scheme), wider, costs, {})


def written_to(folder: str, asked: Asked) -> Asked:
    """The same once each mutant is written as a scheme, in a file called after it.

    Raises InputError.
    """
    named = asked.setup.schemes[0]
    scheme, file = named.scheme, named.file
    texts: dict[str, str] = {}
    changed = {mutant.name: mutant.of(scheme) for mutant in asked.mutants}
    for mutant in asked.mutants:
        step = mutant.step
        comment = f"{file}, but row {mutant.row.number}: {step.instruction}: {step.words}"
        texts[changed[mutant.name].name] = scheme_text(changed[mutant.name], comment, anywhere=True)
    paths = write_schemes(texts, folder)
    return replace(asked, written={name: paths[each.name] for name, each in changed.items()})


def mutation_report(
    asked: Asked,
    grounds: Sequence[Baseline],
    found: Sequence[mutation.Finding],
    seconds: float,
    stopped: str | None = None,
    interrupted: bool = False,
) -> mutation.MutationReport:
    """All that is known, be it the whole or what there was before it was stopped, and why."""
    setup, costs = asked.setup, asked.costs
    steps, hunts = setup.schemes[0].scheme.steps, hunts_of(setup.schemes[0].scheme)
    rows = (
        mutation.MutatedRow(
            row=it.row.number,
            operations=str(it.row),
            code=tuple(map(str, it.row.code)),
            accesses=tuple(
                place
                for place in range(1, len(it.row.code) + 1)
                if steps.stays(it.row.code, place - 1)
            ),
            cost=costs.of(it.row.code),
            tests=len({ground.test.file for ground, _ in telling(grounds, it.row.number)}),
            hunt=hunts.get(it.row.number),
            unchanged=it.unchanged,
        )
        for it in asked.table
    )
    internal = tuple(each.internal for each in grounds if each.internal)
    return mutation.MutationReport(
        subject=setup.subject,
        costs=costs.file,
        tests=_tests(setup, grounds, found),
        rows=tuple(rows),
        mutants=tuple(_with_command(each, asked, hunts) for each in found),
        wider=None
        if asked.wider is None
        else tuple(shown(it, costs) for row in asked.wider for it in row.mutants),
        summary=mutation.MutationSummary(
            len(asked.mutants),
            counts(mutation.Fate, (each.verdict for each in found)),
            sum(each.undecided for each in found),
        ),
        stopped=stopped,
        interrupted=interrupted,
        internal=(*internal, *(each for finding in found for each in finding.internal)),
        seconds=seconds,
    )


def _tests(
    setup: Setup, grounds: Sequence[Baseline], found: Sequence[mutation.Finding]
) -> mutation.TestsOfScheme:
    broken = [it for it in grounds if it.verdict.word in (*WRONG, Word.VACUOUS)]
    open_ = [it for it in grounds if it.verdict.word is Word.UNKNOWN]
    within: dict[str, int] = {}
    for each in grounds:
        within |= each.verdict.within
    return mutation.TestsOfScheme(
        total=len(setup.tests) + len(setup.left_out),
        verdicts=counts(Word, (each.verdict.word for each in grounds)),
        within=within,
        broken=tuple(
            told(it.test, f"{it.verdict.word.value} {it.verdict.reason}") for it in broken
        ),
        excused=sum(bool(it.choices) for it in broken),
        unknown=tuple(told(it.test, it.verdict.reason) for it in open_),
        stuck=tuple(dict.fromkeys(test for it in found for test in it.stuck)),
        left_out=setup.left_out,
    )


def _with_command(
    finding: mutation.Finding, asked: Asked, hunts: Mapping[int, Sequence[str]]
) -> mutation.Finding:
    """A finding with where its mutant was written, and the command that goes on from there."""
    path = asked.written.get(finding.mutant.name)
    if path is None:
        return finding
    settings = asked.setup.verdicts.settings
    machine = asked.setup.schemes[0].machine
    if finding.switches is not None and machine is not None:
        named = settings.machine or machine.named()
        settings = replace(settings, machine=f"{named}+{finding.switches}")
    shown = finding.text is None and finding.file is not None
    if not shown and finding.verdict is not mutation.Fate.SURVIVES:
        return replace(finding, scheme=path, command=shlex.join(["rspverify", "prove", path]))
    if finding.file is not None:
        stuck = finding.verdict is mutation.Fate.STUCK
        command = explain_command(path, finding.file, settings, progress=stuck)
        return replace(finding, scheme=path, command=command)
    options = hunts.get(finding.mutant.row)
    if options is None:
        return replace(finding, scheme=path)
    chosen = words_of(settings, ("model", "machine"))
    command = shlex.join(["rspverify", "hunt", path, "--first", *options, *chosen])
    return replace(finding, scheme=path, command=command)
