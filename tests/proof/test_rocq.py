"""The proof in Rocq: what it rests on, its machine, its tables, and its check of obligations."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product
from pathlib import Path
from random import Random

import pytest
from checks import ROOT
from command_line import run
from proof.random_tables import Rows, minimal_rows, next_minimal, random_rows, scheme_of, weaker
from proof.rocq import PROOF, coqc, whole
from recorded import without

from rspverify.api.inputs import read_scheme
from rspverify.architecture.machines import machine_named
from rspverify.axiomatic.cat import load_model
from rspverify.proof.obligations import Kind, failures, obligations
from rspverify.proof.rocq_machine import machine_in_rocq
from rspverify.proof.rocq_model import model_in_rocq
from rspverify.proof.rocq_table import certificate, row_in_rocq
from rspverify.proof.table import ProofTable, proof_table
from rspverify.records import replace
from rspverify.scheme.mutants import mutants_of
from rspverify.source import InputError

AXIOMS = {"classic", "functional_extensionality_dep", "propositional_extensionality"}


def axioms(said: str) -> set[str]:
    """The axioms of what Print Assumptions says."""
    return {it.rpartition(".")[2] for it in re.findall(r"^([\w.]+)\s*(?::|$)", said, re.M)} - {
        "Axioms"
    }


@whole
def test_it_rests_on_three_axioms(tmp_path: Path) -> None:
    for theorem in ("thm1", "thm1_afresh"):
        said = coqc(f"Require Import Proved. Print Assumptions {theorem}.", tmp_path)
        assert axioms(said) == AXIOMS


def test_nothing_is_admitted() -> None:
    for file in PROOF.glob("*.v"):
        assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture)\b", file.read_text())


def test_every_file_is_compiled() -> None:
    project = (PROOF / "_CoqProject").read_text("utf-8").splitlines()
    listed = {it for it in project if it.endswith(".v")}
    assert listed == {it.name for it in PROOF.glob("*.v")}


# ---- the machine ---------------------------------------------------------------------------------


def test_the_machine_is_that_of_the_file() -> None:
    """SameMachine.v proves that these definitions are those of the statement."""
    assert run("show", "rsp", "--format", "rocq").stdout == (PROOF / "Generated.v").read_text(
        "utf-8"
    )


def test_another_machine_has_other_definitions() -> None:
    """A condition less, or effects in another order, are seen."""
    known = machine_in_rocq(machine_named("rsp"))
    assert (
        machine_in_rocq(machine_named("rsp-st-waits")).partition("\n")[2]
        != known.partition("\n")[2]
    )
    rsp = machine_named("rsp")
    for name, step in ((it.name, it) for it in rsp.steps):
        less = replace(step, conditions=step.conditions[1:])
        steps = tuple(less if it.name == name else it for it in rsp.steps)
        assert machine_in_rocq(replace(rsp, steps=steps)) != known
    flush = rsp.steps[0]
    turned = replace(flush, effects=tuple(reversed(flush.effects)))
    assert machine_in_rocq(replace(rsp, steps=(turned, *rsp.steps[1:]))) != known


@pytest.mark.parametrize("name", ["quickrelease", "rsp-lines", "rsp-coherent-l2"])
def test_machines_with_another_state_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="must have the state, instructions and steps of rsp"):
        machine_in_rocq(machine_named(name))


def test_the_model_is_that_of_the_file() -> None:
    """SameModel.v proves that these axioms are those of the statement."""
    known = (PROOF / "GeneratedModel.v").read_text("utf-8")
    assert run("show", "opencl-rsp", "--format", "rocq").stdout == known
    assert run("show", "opencl-scoped-sc", "--format", "rocq").stdout != known


@pytest.mark.parametrize(("model", "without"), [("c11-simp", "Axiom"), ("opencl", "Linearisation")])
def test_models_with_more_than_definitions_are_refused(model: str, without: str) -> None:
    with pytest.raises(InputError, match=f"written for Rocq, without {without}"):
        model_in_rocq(load_model(model))


# ---- tables --------------------------------------------------------------------------------------


@whole
def test_certificate(tmp_path: Path) -> None:
    """The theorem has the name of the scheme, and rests on nothing more."""
    file = tmp_path / "proposed.v"
    run("prove", "proposed", "--certificate", str(file))
    said = coqc(f"{file.read_text('utf-8')}About table_proposed_is_sound.", tmp_path)
    assert axioms(said) >= AXIOMS
    assert "table_proposed_is_sound : sound the_table" in said


REFUSED = {
    "proposed-full": "no part of the proof: every atomic store must release",
    "proposed-coherent-l2": "no proof is known for machine rsp-coherent-l2",
    "proposed-multi-device": "no part of the proof",
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_certificate(name: str) -> None:
    with pytest.raises(InputError, match=REFUSED[name]):
        certificate(read_scheme(name), name)


@whole
def test_certificate_of_a_variant(tmp_path: Path) -> None:
    """A machine that waits for more comes with its definitions; one that waits for less is refused,
    even where the proof does not need the condition."""
    file = tmp_path / "proposed.v"
    run("prove", "proposed", "--machine", "rsp-st-waits", "--certificate", str(file))
    said = coqc(f"{file.read_text('utf-8')}About table_proposed_is_sound.", tmp_path)
    assert axioms(said) >= AXIOMS
    assert re.search(
        r"table_proposed_is_sound :\s+sound_on \(?@?Machine.gen_guard\)? the_table", said
    )
    with pytest.raises(InputError, match="about machines that wait for no less than rsp"):
        certificate(read_scheme("proposed").on_machine(without("EVICT_L1", 0)), "less")


@whole
def test_certificate_of_unsoundness(tmp_path: Path) -> None:
    """Original is not sound, by no axiom at all: each of its broken obligations has a run, and none
    without its last step."""
    file = tmp_path / "original.v"
    assert run("prove", "original", "--certificate", str(file)).exit_code == 1
    said = coqc(f"{file.read_text('utf-8')}{_SPOILED}", tmp_path)
    assert "Closed under the global context" in said
    assert "table_original_is_not_sound : ~ sound the_table" in said
    assert re.findall(r"= (\w+)", said) == ["true", "false"]


_SPOILED = """
Require Import Refuted.
About table_original_is_not_sound.
Eval vm_compute in forallb (refutes the_table) (found the_table).
Eval vm_compute in existsb (refutes the_table) (map (fun w => match w with
  Lost b c run => Lost b c (removelast run) | Overtaken b u run => Overtaken b u (removelast run)
  end) (found the_table)).
"""


@whole
def test_exact_tables_are_decided(tmp_path: Path) -> None:
    """The theorem rests on nothing more, and is of the tables that `prove` takes for exact."""
    random = Random(5)
    rows = [
        random_rows(random, kept_locks=it % 2 == 0, strong_plain=it % 5 == 0) for it in range(40)
    ]
    tables = [proof_table(scheme_of(it)) for it in rows]
    asked = "\n".join(
        f"Eval vm_compute in exact [{'; '.join(map(row_in_rocq, it.operations))}]." for it in tables
    )
    said = coqc(
        "Require Import List Thm1 Obligations Exact. Import ListNotations.\n"
        f"{asked}\nAbout exact_tables. About small_tests_are_enough.\n"
        "Print Assumptions exact_tables. Print Assumptions small_tests_are_enough.",
        tmp_path,
    )
    words = re.findall(r"^ += (\w+)$", said, re.M)
    assert words == [str(it.is_exact).lower() for it in tables]
    assert set(words) == {"true", "false"}
    assert "sound t <-> check t = true" in said
    assert "~ sound t <-> has_refutation t" in said
    assert [axioms(it) for it in said.split("Axioms:")[1:]] == [AXIOMS, AXIOMS]


@whole
def test_broken_obligations_have_their_runs(tmp_path: Path) -> None:
    """Of tables that are one step off Proposed, and some below minimal ones."""
    known = read_scheme("proposed")
    mutants = [it.of(known) for row in mutants_of(known) for it in row.mutants]
    random = Random(33)
    rows = minimal_rows(random)
    tables = [*map(proof_table, mutants)]
    for _ in range(5):
        rows = next_minimal(rows, random)
        tables += [proof_table(scheme_of(it)) for it in random.sample([*weaker(rows)], 4)]
    tables = [it for it in tables if it.is_exact and failures(it)]
    assert len(tables) > 40
    asked = "\n".join(
        f"Eval vm_compute in searched [{'; '.join(map(row_in_rocq, it.operations))}]."
        for it in tables
    )
    said = coqc(f"Require Import List Thm1 Search. Import ListNotations.\n{asked}", tmp_path)
    assert re.findall(r"= (\w+)", said) == ["true"] * len(tables)


def test_no_certificate_where_nothing_is_known() -> None:
    """A broken obligation need not be a run of a machine that waits for more, or of a table that
    keeps a lock."""
    waiting = read_scheme("original").on_machine(machine_named("rsp-st-waits"))
    known = read_scheme("proposed")
    keeping = [it.of(known) for row in mutants_of(known) for it in row.mutants]
    keeping = [it for it in keeping if not proof_table(it).is_exact and failures(proof_table(it))]
    for it in (waiting, *keeping):
        with pytest.raises(InputError, match="obligations are broken, and need not be runs"):
            certificate(it, "none")
    assert keeping


def test_no_certificate_of_two(tmp_path: Path) -> None:
    two = run("prove", "proposed", "original", "--certificate", str(tmp_path / "c.v"))
    assert two.exit_code == 2
    assert "--certificate must be of one scheme" in two.stderr
    assert not (tmp_path / "c.v").exists()


AFRESH: Rows = {
    ("load", "na"): ("INV_L1 WG", "LD r x"),
    ("store", "na"): ("ST r x",),
    ("load", "dv N"): ("INV_L1 WG", "LD r x"),
    ("store", "dv N"): ("FLU_L1 WG", "ST r x"),
}
"""Every look comes after an invalidation; none comes after an acquire."""


@whole
def test_certificates_of_tables_that_look_afresh(tmp_path: Path) -> None:
    """By the second way of the proof; the first does not do. Without its flush it is not proved."""
    assert not failures(proof_table(scheme_of(AFRESH)))
    text = certificate(scheme_of(AFRESH), "afresh")
    said = coqc(f"{text}About table_afresh_is_sound. Eval vm_compute in check the_table.", tmp_path)
    assert axioms(said) >= AXIOMS
    assert "table_afresh_is_sound : sound the_table" in said
    assert "= false" in said
    broken = scheme_of({**AFRESH, ("store", "dv N"): ("ST r x",)})
    with pytest.raises(InputError, match="obligations are broken, and need not be runs"):
        certificate(broken, "broken")


# ---- obligations ---------------------------------------------------------------------------------

_ASKED = """
Require Import List Thm1 Obligations. Import ListNotations.
Definition answers (t : table) := map (fun p => let '(b, c) := p in
  ((if forallb looks_afresh t then sync_afresh_ok else sync_ok)
    (bracketed_rmw t) (bracketed_L2 t) b c,
   atom_ok (bracketed_rmw t) (bracketed_L2 t) b c))
  (list_prod t t).
"""


def drawn(number: int, seed: int) -> list[ProofTable]:
    """Random tables, minimal ones of either way of the proof, and some one step below these."""
    random = Random(seed)
    found = [random_rows(random, kept_locks=it % 2 == 0) for it in range(number)]
    rows, afresh = minimal_rows(random), minimal_afresh(random)
    found.append(afresh)
    for _ in range(number // 4):
        rows, afresh = next_minimal(rows, random), next_minimal(afresh, random)
        for each in (rows, afresh):
            found += [each, *random.sample([*weaker(each)], 3)]
    tables = [proof_table(scheme_of(it)) for it in found]
    assert {it.looks_afresh for it in tables} == {False, True}
    return tables


def minimal_afresh(random: Random) -> Rows:
    """A minimal table in which every look comes after an invalidation."""
    tables = (minimal_rows(random, afresh=True) for _ in range(30))
    return next(it for it in tables if proof_table(scheme_of(it)).looks_afresh)


def decided_alike(tables: list[ProofTable], folder: Path) -> Counter[bool]:
    """How many obligations hold and how many do not, where both sides say the same of each."""
    asked = [
        f"Eval vm_compute in answers [{'; '.join(map(row_in_rocq, it.operations))}]."
        for it in tables
    ]
    said = coqc(_ASKED + "\n".join(asked), folder, target="Obligations.vo")
    told = [re.findall(r"true|false", it) for it in said.split("     = ")[1:]]
    counts = Counter[bool]()
    for table, words in zip(tables, told, strict=True):
        pairs = [*product(table.operations, repeat=2)]
        known = dict(zip(pairs, zip(words[::2], words[1::2], strict=True), strict=True))
        broken = failures(table)
        for it in obligations(table):
            shown = known[it.first, it.second][it.kind is Kind.ATOM]
            assert (shown == "true") == (it not in broken), it
            counts[it not in broken] += 1
    return counts


def test_obligations_are_decided_alike(tmp_path: Path) -> None:
    """Each obligation of random tables, by the function that is proved right and by `prove`."""
    assert min(decided_alike(drawn(4, seed=33), tmp_path).values()) > 100


@whole
@pytest.mark.parametrize("seed", range(3))
def test_many_obligations_are_decided_alike(seed: int, tmp_path: Path) -> None:
    assert min(decided_alike(drawn(8, seed), tmp_path).values()) > 100


@whole
def test_certificates_of_shipped_tables_pass(tmp_path: Path) -> None:
    """Of all schemes that ship those with a certificate are these, and each is checked."""
    passed = []
    for path in sorted((ROOT / "schemes").rglob("*.yaml")):
        try:
            text = certificate(read_scheme(str(path)), path.stem)
        except InputError:
            continue
        coqc(text, tmp_path, path.stem.replace("-", "_"))
        passed.append(path.stem)
    assert passed == ["original", "proposed"]
