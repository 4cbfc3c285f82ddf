(** * Thm. 1 is proved, and rests on nothing but classical logic and extensionality *)
Require Import List Thm1.
Require Import Facts FromFacts Runs Record.

(** Each complete run of rsp has the facts, and so [any_machine] speaks of it. *)
Theorem thm1 : forall t : table, check t = true -> sound t.
Proof.
  intros t C Val Loc val_dec loc_dec locations nowhere nonatomic initial P run all H S Y.
  assert (W : forall r, In r t -> one_access r = true).
  { apply andb_prop in C as [C _]. rewrite forallb_forall in C. auto. }
  pose (R := @Build_Run Val Loc loc_dec locations all nowhere initial P t W run Y).
  apply any_machine with (tbl := t) (ran := fun answers memory =>
    answers = answers_of loc_dec nowhere initial P t run /\
    memory = memory_of loc_dec nowhere initial P t run); auto.
  intros answers memory [-> ->]. exists (@the_run R H). split; auto.
  intro x. symmetry. apply (@value_read_answers R).
Qed.

(** The paper's corrected scheme. *)
Theorem proposed_sound : sound proposed. Proof. apply thm1. vm_compute. reflexivity. Qed.

Print Assumptions thm1.
