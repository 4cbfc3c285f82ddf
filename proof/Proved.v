(** * Thm. 1 is proved, and rests on nothing but classical logic and extensionality *)
Require Import FunctionalExtensionality List.
Require Import FromFacts Program Runs Record Check Thm1.

Theorem thm1 : forall t : table, check t = true -> sound t.
Proof.
  intros t C Val Loc val_dec loc_dec locations nowhere nonatomic initial P run all H S Y.
  assert (WF : forall r, In r t -> one_access r = true).
  { apply andb_prop in C as [C _]. rewrite forallb_forall in C. auto. }
  pose (R := @Build_Run Val Loc loc_dec locations all nowhere initial P t WF run Y).
  destruct (@FromFacts.thm1 Val Loc val_dec nowhere nonatomic initial P t (@the_run R H) C S) as
    [r|E]; [left; auto|right]. destruct E as (g&E). exists g. cbv zeta.
  assert (V : value_at nowhere initial (answers_of loc_dec nowhere initial P t run) = @value_read
    R). { apply functional_extensionality. intro x. apply (@value_read_answers R). }
  rewrite V. exact E.
Qed.

(** The paper's corrected scheme. *)
Theorem proposed_sound : sound proposed. Proof. apply thm1. vm_compute. reflexivity. Qed.

Print Assumptions thm1.
