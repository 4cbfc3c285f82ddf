(** * Machines that wait for more

    A machine with the effects of rsp whose guards ask for no less has fewer runs: what is sound on
    rsp is sound on it. *)
Require Import List Bool Arith Thm1 Generated SameMachine.
Import ListNotations.

(** The guard of a machine, for any values, locations, work-groups and threads. *)
Definition guards := forall (Val Loc : Type) (loc_dec : forall x y : Loc, {x = y} + {x <> y})
  (groups : list nat) (wg : nat -> nat) (unset : Val), state Val Loc -> step Loc -> bool.
Definition narrower (G : guards) := forall Val Loc loc_dec groups wg unset s l,
  G Val Loc loc_dec groups wg unset s l = true -> gen_guard loc_dec groups wg unset s l = true.

(** As [sound], for runs each of whose steps the machine's own guard allows. *)
Definition sound_on (G : guards) (t : table) := forall (Val Loc : Type)
  (val_dec : forall a b : Val, {a = b} + {a <> b}) (loc_dec : forall x y : Loc, {x = y} + {x <> y})
  (locations : list Loc) (nowhere : Loc) (nonatomic : Loc -> Prop) (initial : Loc -> Val)
  (P : program Val Loc) (run : list (step Loc)),
  let state_after :=
    state_at loc_dec (wg_of P) (initial nowhere) initial (compiled nowhere initial P t) run in
  (forall x, In x locations) -> has_rows P t -> in_scope nonatomic P ->
  (forall n, n < length run -> G Val Loc loc_dec (wgs P) (wg_of P) (initial nowhere)
    (state_after n) (nth_step run n) = true) ->
  finished (initial nowhere) (state_after (length run)) ->
  racy nowhere nonatomic initial P \/
  allowed nowhere nonatomic initial P
    (answers_of loc_dec nowhere initial P t run) (memory_of loc_dec nowhere initial P t run).

Theorem sound_on_narrower G t : narrower G -> sound t -> sound_on G t.
Proof.
  intros N S Val Loc val_dec loc_dec locations nowhere nonatomic initial P run.
  intros state_after all H I R F.
  apply (S Val Loc val_dec loc_dec locations nowhere nonatomic initial P run all H I).
  split; [|exact F]. intros n h. rewrite same_guard. apply N, R, h.
Qed.

(** [own] and [own_instr] are the names of the machine's guards. *)
Ltac waits_for_more own own_instr :=
  intros Val Loc loc_dec groups wg unset s l;
  destruct l as [u|v z|v z|v z|z|z|z|v z|v u|z|u];
  unfold own, gen_guard, own_instr, gen_instr_guard;
  [destruct (next unset (threads s u)) as [[i th]|]; [destruct i|auto]|..];
  rewrite ?andb_true_iff; tauto.
