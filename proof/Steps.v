(** * A run, executed

    [state_at] executes a run anew for each position.  Here each state is made once, so that long
    runs can be computed; [completes] decides [run_of]. *)
Require Import List Arith Bool Lia Thm1.
Import ListNotations.
Set Implicit Arguments.

Section Steps.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable locations : list Loc.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Variable t : table.
Notation unset := (initial nowhere).
Notation compiled := (compiled nowhere initial P t).
Notation effect := (effect loc_dec (wg_of P) unset).
Notation guard := (guard loc_dec (wgs P) (wg_of P) unset).
Notation answer := (answer loc_dec (wg_of P) unset).
Notation state_at := (state_at loc_dec (wg_of P) unset initial compiled).
Implicit Types (s : state Val Loc) (run : list (step Loc)).

Definition first := start unset initial compiled.
Fixpoint states s run := s :: match run with [] => [] | l :: r => states (effect s l) r end.
Fixpoint last_state s run := match run with [] => s | l :: r => last_state (effect s l) r end.
Fixpoint enabled s run :=
  match run with [] => true | l :: r => guard s l && enabled (effect s l) r end.
Fixpoint answers_from s run u :=
  match run with [] => [] | l :: r => answer s l u ++ answers_from (effect s l) r u end.

Definition has_ended s u := match next unset (threads s u) with None => true | _ => false end.
Definition is_clean s x :=
  negb (DIRTY (L2 s) x) && forallb (fun w => negb (DIRTY (L1 s w) x)) (wgs P).
Definition completes run :=
  let s := last_state first run in
  enabled first run && forallb (has_ended s) (seq 0 (length P)) && forallb (is_clean s) locations.

(** ** These are the states and answers of Thm1.v *)
Lemma last_app a : forall s b, last_state s (a ++ b) = last_state (last_state s a) b.
Proof. induction a; simpl; auto. Qed.
Lemma enabled_app a : forall s b,
  enabled s (a ++ b) = enabled s a && enabled (last_state s a) b.
Proof. induction a; simpl; auto. intros s b. rewrite IHa, andb_assoc. auto. Qed.
Lemma answers_app u a : forall s b,
  answers_from s (a ++ b) u = answers_from s a u ++ answers_from (last_state s a) b u.
Proof. induction a; simpl; auto. intros s b. rewrite IHa, app_assoc. auto. Qed.
Lemma split_at run n : n < length run ->
  run = firstn n run ++ nth_step run n :: skipn (S n) run.
Proof.
  revert n. induction run as [|l r IH]; intros [|n] h; simpl in *; try lia; auto.
  f_equal. apply IH. lia.
Qed.
Lemma firstn_next run n : n < length run ->
  firstn (S n) run = firstn n run ++ [nth_step run n].
Proof.
  revert n. induction run as [|l r IH]; intros [|n] h; simpl in *; try lia; auto.
  f_equal. apply IH. lia.
Qed.
Lemma state_at_firstn run n : n <= length run -> state_at run n = last_state first (firstn n run).
Proof.
  induction n as [|n IH]; intro h; auto.
  rewrite firstn_next, last_app by lia. simpl. rewrite IH by lia. auto.
Qed.
(** Each step is allowed where it is taken. *)
Theorem is_enabled run :
  (forall n, n < length run -> guard (state_at run n) (nth_step run n) = true) <->
  enabled first run = true.
Proof.
  split.
  - intro A. enough (E : forall n, n <= length run -> enabled first (firstn n run) = true)
      by (rewrite <- (firstn_all run); auto).
    induction n as [|n IH]; intro h; auto. rewrite firstn_next, enabled_app, IH by lia.
    rewrite <- state_at_firstn by lia. simpl.
    rewrite andb_true_r. apply A. lia.
  - intros E n h. rewrite state_at_firstn by lia.
    rewrite (split_at run h), enabled_app in E. apply andb_prop in E as [_ E].
    apply andb_prop in E as [E _]. exact E.
Qed.
Theorem last_state_at run : state_at run (length run) = last_state first run.
Proof. rewrite state_at_firstn, firstn_all by auto. auto. Qed.
Theorem all_answers run u : answers_of loc_dec nowhere initial P t run u = answers_from first run u.
Proof.
  unfold answers_of.
  enough (A : forall n, n <= length run ->
    answers_to loc_dec (wg_of P) unset initial compiled run n u
    = answers_from first (firstn n run) u) by (rewrite A, firstn_all; auto).
  induction n as [|n IH]; intro h; auto.
  rewrite firstn_next, answers_app by lia. simpl.
  rewrite IH, state_at_firstn, app_nil_r by lia. auto.
Qed.

(** ** Threads and L1s that the program does not have stay as they are *)
Lemma thread_stays s l u : length P <= u -> threads s u = threads first u ->
  threads (effect s l) u = threads first u.
Proof.
  intros h e. destruct l as [v| | | | | | | | | |]; simpl; auto.
  destruct (next unset (threads s v)) as [[i th]|] eqn:N; auto.
  assert (ne : u <> v).
  { intros <-. rewrite e in N. unfold first, start, next in N. simpl in N.
    unfold Thm1.compiled, thread_of in N. rewrite nth_overflow in N; auto. discriminate. }
  destruct i; simpl; unfold setn; destruct (Nat.eq_dec u v); congruence || auto.
Qed.
Lemma in_wgs u : In (wg_of P u) (wgs P).
Proof.
  unfold wg_of, wgs, thread_of. destruct (le_lt_dec (length P) u) as [h|h].
  - rewrite nth_overflow by auto. simpl. auto.
  - right. apply in_map, nth_In. auto.
Qed.
Lemma L1_stays s l w x : ~ In w (wgs P) -> DIRTY (L1 s w) x = false ->
  DIRTY (L1 (effect s l) w) x = false.
Proof.
  intros h e. assert (ne : forall u, w <> wg_of P u) by (intros u ->; apply h, in_wgs).
  destruct l as [v| | | | | | | | | |]; simpl; auto.
  - destruct (next unset (threads s v)) as [[i th]|]; auto.
    destruct i; simpl; auto; unfold in_L1; simpl;
      repeat match goal with |- context [if ?b then _ else _] => destruct b; simpl end; auto;
      exfalso; eapply ne; eauto.
  - destruct (Nat.eq_dec w w0); simpl; auto.
    subst. unfold set. destruct (loc_dec x x0); auto.
  - destruct (Nat.eq_dec w w0); simpl; subst; auto.
  - destruct (Nat.eq_dec w w0); simpl; subst; auto.
  - destruct (Nat.eq_dec w w0); simpl; subst; auto.
  - destruct (Nat.eq_dec w w0); simpl; subst; auto.
Qed.
Lemma others_stay run : forall s,
  (forall u, length P <= u -> threads s u = threads first u) ->
  (forall w x, ~ In w (wgs P) -> DIRTY (L1 s w) x = false) ->
  (forall u, length P <= u -> threads (last_state s run) u = threads first u) /\
  (forall w x, ~ In w (wgs P) -> DIRTY (L1 (last_state s run) w) x = false).
Proof.
  induction run as [|l r IH]; intros s a b; [split; auto|]. simpl. apply IH.
  - intros. apply thread_stays; auto.
  - intros. apply L1_stays; auto.
Qed.

Theorem completes_right run : (forall x, In x locations) -> completes run = true ->
  run_of loc_dec nowhere initial P t run.
Proof.
  intros all h. apply andb_prop in h as [h c]. apply andb_prop in h as [h d].
  rewrite forallb_forall in c, d. split.
  - apply is_enabled. exact h.
  - rewrite last_state_at. destruct (@others_stay run first) as [a b]; auto.
    assert (C : forall x, is_clean (last_state first run) x = true) by auto.
    repeat split.
    + intro u. destruct (le_lt_dec (length P) u) as [k|k].
      * rewrite a by auto. unfold first, start, next, Thm1.compiled, thread_of. simpl.
        rewrite nth_overflow; auto.
      * specialize (d u). rewrite in_seq in d. unfold has_ended in d.
        destruct (next unset (threads (last_state first run) u)); auto.
        discriminate d. lia.
    + intros w x. destruct (in_dec Nat.eq_dec w (wgs P)) as [i|i]; auto.
      specialize (C x). apply andb_prop in C as [_ C]. rewrite forallb_forall in C.
      apply negb_true_iff, C, i.
    + intro x. specialize (C x). apply andb_prop in C as [C _]. apply negb_true_iff, C.
Qed.
End Steps.
