"""A table as a term of proof/Thm1.v, with the theorem that it is sound, or that it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import indent

from rspverify.architecture.architecture import Architecture
from rspverify.litmus.program import Order
from rspverify.proof.machines import BASE, facts_of, is_base
from rspverify.proof.obligations import failures, obligations
from rspverify.proof.programs import never_stuck
from rspverify.proof.rocq_machine import machine_in_rocq
from rspverify.proof.rocq_model import identifier
from rspverify.proof.table import Operation, ProofTable, proof_table
from rspverify.scheme.orders import Op
from rspverify.scheme.row import Template
from rspverify.scheme.scheme import Scheme
from rspverify.source import InputError, Problem, Severity

_INSTRUCTIONS = {
    "LD": "Ld",
    "ST": "St",
    "INC_L1": "Inc_L1",
    "RMW_L1": "Inc_L1",
    "INC_L2": "Inc_L2",
    "RMW_L2": "Inc_L2",
    "FLU_L1": "Flu",
    "INV_L1": "Inv",
    "LK_L2": "Lk_L2",
    "UL_L2": "Ul_L2",
    "LK_rmw": "Lk_rmw",
    "UL_rmw": "Ul_rmw",
}
_ORDERS = {
    Order.RELAXED: "Relaxed",
    Order.ACQUIRE: "Acquire",
    Order.RELEASE: "Release",
    Order.ACQ_REL: "Acq_rel",
}
_KINDS = {Op.LOAD: "OLoad", Op.STORE: "OStore", Op.RMW: "ORmw"}
_HEAD = """\
(** Written by `rspverify prove {name} --certificate`. `coqc -Q proof "" FILE` checks it, where
    proof is the folder of this name, compiled; its last lines are the axioms that it rests on. *)
Require Import List Bool Arith Thm1 Obligations Proved Generated Variants Search.
Import ListNotations.
{machine}
Definition the_table : table := [
{rows}].
"""
_SOUND = """
Theorem {theorem} : {sound} the_table.
Proof. {proof}apply {theorem_of}. vm_compute. reflexivity. Qed.
Print Assumptions {theorem}.
"""
_NOT_SOUND = """
(** A run is found for each of {broken} broken obligations, and shown to be one. *)
Theorem {theorem}_not_sound : ~ sound the_table.
Proof. apply unsound. vm_compute. reflexivity. Qed.
Theorem each_broken_obligation_has_its_run : searched the_table = true.
Proof. vm_compute. reflexivity. Qed.
Print Assumptions {theorem}_not_sound.
"""
_LIVE = """
(** Locks are taken in an order: no program gets stuck, and each fair run ends. *)
Require Import Orderly Progress Fair.
Theorem {theorem}_live : live the_table.
Proof. apply progress. vm_compute. reflexivity. Qed.
Theorem {theorem}_ended_by_fair_runs : ends_fairly the_table.
Proof. apply fair_runs_end. vm_compute. reflexivity. Qed.
"""
_VARIANT = """
Set Implicit Arguments.
Set Asymmetric Patterns.
Module Machine.
{definitions}End Machine.
Unset Implicit Arguments.

(** {machine} has the effects of rsp, and waits for no less. *)
Lemma same_effects :
  {effects}.
Proof. repeat split. Qed.
Lemma waits : narrower (@Machine.gen_guard).
Proof. waits_for_more Machine.gen_guard Machine.gen_instr_guard. Qed.
"""


def certificate(scheme: Scheme, name: str) -> str:
    """The theorem that a scheme is sound, or that it is not, as a file for Rocq; and that it is
    live, if that is known.

    Raises InputError with all that is no part of the theorem, or if a broken obligation need not be
    an execution.
    """
    table = proof_table(scheme)
    broken = len(failures(table))
    base = is_base(scheme.machine)
    problems = [*table.refused, *_refused(scheme, table)]
    if not problems and broken and not (base and table.is_exact):
        problems = [_no(f"{broken} obligations are broken, and need not be runs (docs/proof.md)")]
    if problems:
        raise InputError(problems)
    rows = indent(";\n".join(rows_in_rocq(table.operations)), "  ")
    machine = "" if base else _variant(scheme.machine)
    theorem = f"table_{identifier(name)}_is"
    head = _HEAD.format(name=name, rows=rows, machine=machine)
    live = _LIVE.format(theorem=theorem) if base and never_stuck(scheme, table) else ""
    if broken:
        return head + _NOT_SOUND.format(broken=broken, theorem=theorem) + live
    sound = _SOUND.format(
        theorem=f"{theorem}_sound",
        sound="sound" if base else "sound_on (@Machine.gen_guard)",
        proof="" if base else "apply sound_on_narrower; [exact waits|]. ",
        theorem_of="thm1_afresh" if table.looks_afresh else "thm1",
    )
    return head + sound + live


def _variant(machine: Architecture) -> str:
    """A machine that waits for more, with the proof that it does."""
    text = machine_in_rocq(machine)
    names = ["gen_" + "_".join(filter(None, (it.structure, it.field))) for it in machine.cells]
    effects = " /\\\n  ".join(f"@Machine.{it} = @{it}" for it in (*names, "gen_read"))
    definitions = text[text.index("Section Definitions.") :]
    return _VARIANT.format(definitions=definitions, machine=machine.name, effects=effects)


def _refused(scheme: Scheme, table: ProofTable) -> Iterator[Problem]:
    """Why there is no certificate, besides what the proof refuses itself."""
    if not table.operations or facts_of(scheme.machine).less:
        yield _no(f"the theorem is about machines that wait for no less than {BASE}")
    if table.operations and not any(obligations(table)):
        yield _no("the table has no atomic operations that synchronise")


def _no(why: str) -> Problem:
    return Problem(None, f"no certificate: {why}", severity=Severity.UNSUPPORTED)


def rows_in_rocq(operations: Iterable[Operation]) -> list[str]:
    """The rows of operations, in an order in which the first that fits is the row of the scheme.

    Those for one kind of result stand first. No two of these fit one operation, and none fits that
    another row compiles. Of rows for either result, the same one wins whether it is used or not.
    """
    those = sorted(operations, key=lambda it: _results(it) == "Either")
    rows = Counter((it.kind, it.scope, it.remote) for it in those)
    return [row_in_rocq(it, alone=rows[it.kind, it.scope, it.remote] == 1) for it in those]


def row_in_rocq(operation: Operation, *, alone: bool = True) -> str:
    """The row of an operation: `Row OLoad (Some DV) false [Ld; Inv to_WG]`. If it is not for every
    order and result, it begins with these: `RowFor [Relaxed] Either OLoad`.

    alone: whether no other row is for such operations of another order or result. If so, a row for
    the usual orders is one for weaker orders, too.
    """
    scope = "None" if operation.scope is None else f"(Some {operation.scope.value})"
    code = "; ".join(map(_instruction, operation.code))
    remote = "true" if operation.remote else "false"
    usual = operation.scope is None or operation.kind is Op.STORE or (alone and operation.as_strong)
    orders = [*_ORDERS.values()] if usual else [_ORDERS[it] for it in operation.orders]
    results = _results(operation)
    any_of = usual and results == "Either"
    selected = "Row" if any_of else f"RowFor [{'; '.join(orders)}] {results}"
    return f"{selected} {_KINDS[operation.kind]} {scope} {remote} [{code}]"


def _results(operation: Operation) -> str:
    """The results that the row of an operation is for."""
    results = operation.row.results
    if operation.kind is not Op.RMW or len(results) == 2:
        return "Either"
    return "Used" if True in results else "Unused"


def _instruction(it: Template) -> str:
    name = _INSTRUCTIONS[it.mnemonic.name]
    return f"{name} to_{it.reach}" if name in ("Flu", "Inv") else name
