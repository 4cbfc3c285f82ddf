(** * Proposed is live; without one of its Ul_rmw it is not, nor is the paper's first scheme

    A dead end is a run from which no complete run goes on.  Two are shown, each by what no step
    from there changes: the rmw locks are kept, and another thread waits for them; or a thread waits for
    an entry to be flushed that it has locked itself. *)
Require Import List Arith Bool Lia Thm1 Obligations Steps Orderly Progress Fair.
Import ListNotations.
Set Implicit Arguments.

Theorem proposed_is_live : live proposed.
Proof. apply progress. vm_compute. reflexivity. Qed.
Theorem proposed_ends_fairly : ends_fairly proposed.
Proof. apply fair_runs_end. vm_compute. reflexivity. Qed.
Example original_is_not_orderly : orderly original = false.
Proof. vm_compute. reflexivity. Qed.

(** ** Dead ends *)

(** Two threads, in two work-groups, with an operation each on the one location. *)
Notation op := (op nat unit).
Definition beside (a b : op) : program nat unit :=
  [Thread 0 (Do a (fun _ => Done)); Thread 1 (Do b (fun _ => Done))].
Definition unit_dec (a b : unit) : {a = b} + {a <> b}. Proof. decide equality. Defined.
Definition zero (_ : unit) := 0.

Section Dead_ends.
Variable t : table.
Variables a b : op.
Notation P := (beside a b).
Notation effect := (effect unit_dec (wg_of P) 0).
Notation guard := (guard unit_dec (wgs P) (wg_of P) 0).
Notation first := (first tt zero P t).
Notation enabled := (enabled unit_dec tt zero P).
Notation last_state := (last_state unit_dec tt zero P).
Implicit Types (s : state nat unit) (run : list (step unit)).

Definition dead_end run := can_run unit_dec tt zero P t run /\
  forall more, ~ run_of unit_dec tt zero P t (run ++ more).

Lemma dead_end_if run (kept : state nat unit -> Prop) : enabled first run = true ->
  kept (last_state first run) -> (forall s l, kept s -> guard s l = true -> kept (effect s l)) ->
  (forall s, kept s -> exists u, next 0 (threads s u) <> None) -> dead_end run.
Proof.
  intros E K step more. split.
  - unfold can_run. apply (is_enabled unit_dec tt zero P t). exact E.
  - intros m [A F]. apply (is_enabled unit_dec tt zero P t) in A.
    rewrite enabled_app, E in A. rewrite (last_state_at unit_dec tt zero P t), last_app in F.
    enough (K' : kept (last_state (last_state first run) m)).
    { destruct (more _ K') as [u n]. apply n, F. }
    clear F E. simpl in A. revert A. generalize dependent (last_state first run).
    induction m as [|l m IH]; auto. intros s K A. apply andb_prop in A as [g A].
    apply IH; auto.
Qed.
Theorem dead_end_is_not_live run : row_for t a <> None -> row_for t b <> None -> dead_end run ->
  ~ live t.
Proof.
  intros ha hb [A D] L. destruct (L nat unit unit_dec [tt] tt zero P run) as [more C]; auto.
  - intros []. simpl. auto.
  - intros [l|[|[|u]] p] o q; try discriminate; unfold op_of, thread_of in q.
    + destruct p as [|v [|v' p]]; simpl in q; inversion q; subst; auto.
    + destruct p as [|v [|v' p]]; simpl in q; inversion q; subst; auto.
    + destruct u, p; discriminate.
  - exact (D more C).
Qed.

(** Threads that the program does not have. *)
Lemma no_third s u : (forall v, 2 <= v -> threads s v = threads first v) ->
  guard s (Exec (S (S u))) = false.
Proof.
  intro h. simpl. rewrite h by lia. unfold next. simpl. destruct u; reflexivity.
Qed.
Lemma third_stays s l : (forall v, 2 <= v -> threads s v = threads first v) ->
  forall v, 2 <= v -> threads (effect s l) v = threads first v.
Proof. intros h v k. apply (@thread_stays _ _ unit_dec tt zero P t); auto. Qed.

(** *** Locks that are kept *)
Section Kept_locks.
Variable c d : list ins.
Hypothesis a_keeps : code (row_of t a) = Lk_rmw :: c.
Hypothesis no_unlock : ~ In Ul_rmw c.
Hypothesis b_waits : code (row_of t b) = Lk_rmw :: d.

Definition rmw_kept s := rmw_lock s 0 = Some 0 /\ threads s 1 = threads first 1 /\
  (~ In UL_rmw (rest (threads s 0)) /\ forall v, after (threads s 0) v = End) /\
  forall v, 2 <= v -> threads s v = threads first v.

Lemma second_waits s : rmw_kept s -> guard s (Exec 1) = false.
Proof.
  intros (L&T&_). simpl. rewrite T. unfold next. simpl. unfold code_of. rewrite b_waits. simpl.
  unfold instr_guard. simpl. rewrite L. simpl. rewrite andb_false_r. reflexivity.
Qed.
Lemma first_keeps s : rmw_kept s -> guard s (Exec 0) = true -> rmw_kept (effect s (Exec 0)).
Proof.
  intros (L&T&[U A]&V) g. pose proof (@third_stays s (Exec 0) V) as V'. revert g V'. simpl.
  unfold next. destruct (rest (threads s 0)) as [|j r] eqn:R; [rewrite A; discriminate|].
  assert (U' : ~ In UL_rmw r) by (intro i; apply U; simpl; auto). intros _ V'.
  destruct j; try (repeat split; simpl; auto; fail).
  destruct U. simpl. auto.
Qed.
Lemma rmw_stays_kept s l : rmw_kept s -> guard s l = true -> rmw_kept (effect s l).
Proof.
  intros K g. destruct l as [[|[|u]]|w x|w x|w x|x|x|x|w x|w u|x|u]; auto.
  - apply first_keeps; auto.
  - rewrite second_waits in g by auto. discriminate.
  - destruct K as (_&_&_&V). rewrite (@no_third s u V) in g. discriminate.
Qed.
Theorem rmw_kept_is_dead : dead_end [Exec 0].
Proof.
  apply (dead_end_if [Exec 0] rmw_kept).
  - simpl. unfold next. simpl. unfold code_of. rewrite a_keeps. reflexivity.
  - unfold rmw_kept. simpl. unfold next. simpl. unfold code_of. rewrite a_keeps. simpl.
    repeat split; auto.
    + intro i. apply in_map_iff in i as (i&q&k). destruct i; try discriminate q. auto.
    + intros v k. unfold setn. simpl. destruct (Nat.eq_dec v 0); [lia|reflexivity].
  - exact rmw_stays_kept.
  - intros s (_&T&_). exists 1. rewrite T. unfold next. simpl. unfold code_of. rewrite b_waits.
    discriminate.
Qed.
End Kept_locks.

(** *** A flush of what is locked *)
Section Flushed_under_lock.
Variable i : ins.
Variable c : list ins.
Hypothesis a_stores : code (row_of t a) = [St].
Hypothesis b_flushes : code (row_of t b) = Lk_L2 :: Flu to_DV :: i :: c.

(** The marker of thread 1 stands behind an entry that is DIRTY, in the L1 of thread 0. *)
Definition marker_kept s := lock s tt = Some 1 /\ DIRTY (L1 s 0) tt = true /\
  (exists q, fifo (L1 s 0) = Entry tt :: q /\ In (Marker 1) q) /\
  next 0 (threads s 0) = None /\ rest (threads s 1) <> [] /\
  forall v, 2 <= v -> threads s v = threads first v.

Lemma marker_waits s : marker_kept s -> guard s (Exec 1) = false.
Proof.
  intros (_&_&(q&F&M)&_). destruct (guard s (Exec 1)) eqn:g; auto. exfalso. simpl in g.
  destruct (next 0 (threads s 1)) as [[j th]|]; [|discriminate].
  apply andb_prop in g as [g _]. apply andb_prop in g as [g _].
  apply andb_prop in g as [g _]. unfold no_marker in g. rewrite F, forallb_forall in g.
  specialize (g (Marker 1) (or_intror M)). discriminate.
Qed.
Lemma marker_stays_kept s l : marker_kept s -> guard s l = true -> marker_kept (effect s l).
Proof.
  intros K g. pose proof K as (L&D&(q&F&M)&A&B&V).
  destruct l as [[|[|u]]|w []|w []|w []|[]|[]|[]|w []|w u|[]|u];
    simpl in g; unfold clean, oldest in g.
  - rewrite A in g. discriminate.
  - pose proof (marker_waits K) as W. simpl in W. rewrite W in g. discriminate.
  - pose proof (@no_third s u V) as W. simpl in W. rewrite W in g. discriminate.
  - (* FLUSH_L1: not of the L1 of thread 0 *)
    rewrite L in g. apply andb_prop in g as [_ g]. destruct w as [|[|w]]; try discriminate g.
    repeat split; simpl; eauto.
  - destruct w; unfold marker_kept; simpl; eauto 9.
  - destruct w; unfold marker_kept; simpl; eauto 9.
  - exact K.
  - exact K.
  - exact K.
  - (* DEQLOC_L1: not of an entry that is DIRTY *)
    destruct w; [rewrite F, D in g; discriminate|]. unfold marker_kept. simpl. eauto 9.
  - destruct w; [rewrite F in g; discriminate|]. unfold marker_kept. simpl. eauto 9.
  - exact K.
  - exact K.
Qed.
Theorem flush_of_what_is_locked_is_dead : dead_end [Exec 0; Exec 1; Exec 1].
Proof.
  assert (A : code_of tt zero t a = [ST (op_loc a) (stored tt zero a)])
    by (unfold code_of; rewrite a_stores; reflexivity).
  assert (B : code_of tt zero t b =
    LK_L2 (op_loc b) :: FLU_L1 R_DV :: map (instr_of tt zero b) (i :: c))
    by (unfold code_of; rewrite b_flushes; reflexivity).
  apply (dead_end_if [Exec 0; Exec 1; Exec 1] marker_kept).
  - simpl. unfold next. simpl. rewrite A. simpl. rewrite B. reflexivity.
  - unfold marker_kept. simpl. unfold next. simpl. rewrite A. simpl. rewrite B. simpl.
    destruct (op_loc a), (op_loc b). repeat split; try discriminate; eauto.
    + exists [Marker 1]. simpl. auto.
    + intros v k. unfold setn. destruct (Nat.eq_dec v 1), (Nat.eq_dec v 0); try lia. reflexivity.
  - exact marker_stays_kept.
  - intros s (_&_&_&_&n&_). exists 1. unfold next.
    destruct (rest (threads s 1)); [tauto|discriminate].
Qed.
End Flushed_under_lock.
End Dead_ends.

(** ** The tables *)

Definition store s remote : op := Operation (Store 1) tt true s remote true false.
Definition load s remote : op := Operation Load tt true s remote false true.
Definition increment s remote : op := Operation (Rmw S) tt true s remote true true.

Definition is_unlock i := match i with Ul_rmw => true | _ => false end.
Definition without_Ul_rmw kind (t : table) := map (fun r => if same_kind kind (row_kind r)
  then Row (row_kind r) (row_scope r) (row_remote r) (filter (fun i => negb (is_unlock i)) (code r))
  else r) t.

(** Row 6 keeps the rmw locks: two remote stores. *)
Theorem stores_that_keep_locks :
  dead_end (without_Ul_rmw OStore proposed) (store DV true) (store DV true) [Exec 0].
Proof. eapply rmw_kept_is_dead; [reflexivity| |reflexivity]. simpl. intuition discriminate. Qed.
Theorem stores_that_keep_locks_are_not_live : ~ live (without_Ul_rmw OStore proposed).
Proof. eapply dead_end_is_not_live; [| |exact stores_that_keep_locks]; discriminate. Qed.

(** Row 9 does: two remote increments. *)
Theorem increments_that_keep_locks :
  dead_end (without_Ul_rmw ORmw proposed) (increment DV true) (increment DV true) [Exec 0].
Proof. eapply rmw_kept_is_dead; [reflexivity| |reflexivity]. simpl. intuition discriminate. Qed.
Theorem increments_that_keep_locks_are_not_live : ~ live (without_Ul_rmw ORmw proposed).
Proof. eapply dead_end_is_not_live; [| |exact increments_that_keep_locks]; discriminate. Qed.

(** The paper's first scheme: a store of work-group scope beside a remote load, row 3. *)
Theorem original_flushes_what_it_locks :
  dead_end original (store WG false) (load DV true) [Exec 0; Exec 1; Exec 1].
Proof. eapply flush_of_what_is_locked_is_dead; reflexivity. Qed.
Theorem original_is_not_live : ~ live original.
Proof. eapply dead_end_is_not_live; [| |exact original_flushes_what_it_locks]; discriminate. Qed.
