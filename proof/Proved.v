(** * Thm. 1 is proved, and rests on nothing but classical logic and extensionality *)
Require Import List Bool Thm1.
Require Import Facts Check Views FromFacts Afresh Runs Record.

(** Each complete run of rsp has the facts, and so [any_machine_by] speaks of it. *)
Lemma sound_by {t : table} : (forall r, In r t -> one_access r = true) ->
  (forall (Val Loc : Type) (nowhere : Loc) (nonatomic : Loc -> Prop) (initial : Loc -> Val)
    (P : program Val Loc) (Y : facts nowhere initial P t),
    in_scope nonatomic P -> prefixes_hold (Y := Y) nonatomic) -> sound t.
Proof.
  intros W C Val Loc val_dec loc_dec locations nowhere nonatomic initial P run all H S Y.
  pose (R := @Build_Run Val Loc loc_dec locations all nowhere initial P t W run Y).
  apply any_machine_by with (tbl := t) (ran := fun answers memory =>
    answers = answers_of loc_dec nowhere initial P t run /\
    memory = memory_of loc_dec nowhere initial P t run); auto.
  intros answers memory [-> ->]. exists (@the_run R H). split; auto.
  intro x. symmetry. apply (@value_read_answers R).
Qed.
Lemma one_each_of {sync t} : check_by sync t = true -> forall r, In r t -> one_access r = true.
Proof. intro C. apply andb_prop in C as [C _]. rewrite forallb_forall in C. auto. Qed.

Theorem thm1 : forall t : table, check t = true -> sound t.
Proof.
  intros t C. apply sound_by; [exact (one_each_of C)|].
  intros Val Loc nowhere nonatomic initial P Y S safe.
  exact (prefixes_consistent (SYNC_ok C) (ATOM_ok C) S safe).
Qed.
(** Where every look in an L1 comes after an invalidation, less is asked. *)
Theorem thm1_afresh : forall t : table, check_afresh t = true -> sound t.
Proof.
  intros t C. apply sound_by; [exact (one_each_of (obligations_hold C))|].
  intros Val Loc nowhere nonatomic initial P Y S. exact (prefixes_consistent_afresh C S).
Qed.

(** The paper's corrected scheme. *)
Theorem proposed_sound : sound proposed. Proof. apply thm1. vm_compute. reflexivity. Qed.

Print Assumptions thm1.
Print Assumptions thm1_afresh.
