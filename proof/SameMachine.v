(** * The machine of Thm1.v is that of rsp.machine

    Generated.v is what `rspverify show rsp --format rocq` makes of the machine's file.  Here its
    guards are proved to be those of Thm1.v, and its effects, cell by cell. *)
Require Import List Bool Arith Thm1 Generated.
Import ListNotations.
Set Implicit Arguments.

Section SameMachine.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable groups : list nat.
Variable wg : nat -> nat.
Variable unset : Val.
Notation guard := (guard loc_dec groups wg unset).
Notation effect := (effect loc_dec wg unset).
Notation gen_guard := (gen_guard loc_dec groups wg unset).
Implicit Types (s : state Val Loc) (l : step Loc).

Ltac by_step l :=
  destruct l as [u|v z|v z|v z|z|z|z|v z|v u|z|u]; simpl;
  [match goal with |- context [next unset (threads ?s ?u)] =>
     destruct (next unset (threads s u)) as [[i th]|]; [destruct i|] end|..]; simpl; auto.
Ltac by_cell := repeat match goal with
  | |- context [Nat.eq_dec ?a ?b] => destruct (Nat.eq_dec a b); subst; simpl
  | |- context [loc_dec ?a ?b] => destruct (loc_dec a b); subst; simpl
  | |- context [reaches ?r ?a ?b] => destruct (reaches r a b) eqn:?; simpl
  end; try congruence; auto.
Ltac same l :=
  by_step l; unfold in_L1, set, setn, is_loc, is_group; simpl; by_cell;
  unfold set, setn; by_cell.

Theorem same_guard s l : guard s l = gen_guard s l.
Proof.
  by_step l; unfold gen_instr_guard, instr_guard, unmarked, clean; rewrite ?andb_assoc; auto.
Qed.

Theorem same_memory s l y : memory (effect s l) y = gen_memory loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_lock s l y : lock (effect s l) y = gen_lock loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_L2_data s l y : data (L2 (effect s l)) y = gen_L2_data loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_L2_DIRTY s l y : DIRTY (L2 (effect s l)) y = gen_L2_DIRTY loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_L2_VALID s l y : VALID (L2 (effect s l)) y = gen_L2_VALID loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_L2_present s l y : present (L2 (effect s l)) y = gen_L2_present loc_dec unset s l y.
Proof. same l. Qed.
Theorem same_L2_fifo s l : fifo (L2 (effect s l)) = gen_L2_fifo unset s l.
Proof. same l. Qed.
Theorem same_rmw s l w : rmw_lock (effect s l) w = gen_rmw unset s l w.
Proof. same l. Qed.
Theorem same_L1_data s l w y : data (L1 (effect s l) w) y = gen_L1_data loc_dec wg unset s l w y.
Proof. same l. Qed.
Theorem same_L1_DIRTY s l w y : DIRTY (L1 (effect s l) w) y = gen_L1_DIRTY loc_dec wg unset s l w y.
Proof. same l. Qed.
Theorem same_L1_VALID s l w y : VALID (L1 (effect s l) w) y = gen_L1_VALID loc_dec wg unset s l w y.
Proof. same l. Qed.
Theorem same_L1_present s l w y :
  present (L1 (effect s l) w) y = gen_L1_present loc_dec wg unset s l w y.
Proof. same l. Qed.
Theorem same_L1_fifo s l w : fifo (L1 (effect s l) w) = gen_L1_fifo wg unset s l w.
Proof. same l. Qed.
Theorem same_read s t i : snd (instr_effect loc_dec wg s t i) = gen_read wg s t i.
Proof. destruct i; auto. Qed.
Theorem same_finished s :
  finished unset s <-> (forall t, next unset (threads s t) = None) /\ gen_finished s.
Proof. unfold finished, gen_finished. firstorder. Qed.
End SameMachine.
