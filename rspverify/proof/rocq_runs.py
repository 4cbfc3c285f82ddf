"""Runs of the machine as terms of proof/Thm1.v, and those that show broken obligations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rspverify.limits import Limits
from rspverify.litmus.program import Program
from rspverify.machine.explicit import ExplicitMachine
from rspverify.machine.machine import Machine
from rspverify.machine.replay import Replayer
from rspverify.machine.rules import InstructionRule, Rule
from rspverify.programs.meaning import program_of
from rspverify.proof.obligations import Kind, Obligation, failures
from rspverify.proof.programs import tests_of
from rspverify.proof.table import ProofTable
from rspverify.scheme.orders import Op
from rspverify.scheme.scheme import Scheme
from rspverify.verdict import Outcome


def step_name(rule: Rule) -> tuple[str, ...]:
    """A rule of the explicit engine as a step: `FLUSH_L1`, the work-group, the location."""
    if isinstance(rule, InstructionRule):
        return "Exec", str(rule.instruction.thread.thread)
    about = str(getattr(rule.about[0], "thread", rule.about[0]))
    if "_L1" in rule.step:
        return rule.step, str(rule.structure.place.path[-1]), about
    return rule.step, about


def runs_that_show(
    scheme: Scheme, table: ProofTable, limits: Limits
) -> Iterator[tuple[Obligation, list[str]]]:
    """Each broken obligation whose test has an execution that breaks it, and a shortest one.

    Raises LimitReached.
    """
    for it in failures(table):
        for test in tests_of(it, table):
            program = program_of(test, "")
            machine = Machine(scheme.compiled(program), elide=False)
            found = _shortest(machine, program, it, limits)
            if found is not None:
                yield it, found
                break


def _shortest(
    machine: Machine, program: Program, obligation: Obligation, limits: Limits
) -> list[str] | None:
    """A shortest execution with the outcome that proof/Refuted.v excludes, step by step."""

    def wanted(outcome: Outcome) -> bool:
        reads, memory = dict(outcome.reads), dict(outcome.memory)
        return _excluded(obligation, reads, memory)

    schedule = ExplicitMachine(machine, dequeue_alone=False).shortest(wanted, limits)
    if schedule is None or Replayer(machine).outcome(schedule) is None:
        return None
    return [" ".join(step_name(rule)) for rule in schedule]


def _excluded(obligation: Obligation, reads: Mapping[int, int], memory: Mapping[str, int]) -> bool:
    """Whether an outcome of the obligation's test is that of no consistent execution.

    SYNC: operation 2 reads the flag, and then 3 does not find the message. ATOM: 0 and 1 have read
    what was there first, or 1 is a store, and what 0 wrote is last.
    """
    if obligation.kind is Kind.SYNC:
        return reads[2] == 1 and reads.get(3) == 0
    if obligation.first.kind is Op.RMW:
        return reads[0] == reads[1] == 0
    return reads[0] == 0 and memory["x"] == 1
