(** * An exact table is sound if and only if [check] is true of it

    [exact] is what docs/proof.md, Exactness, asks of a table.  If SYNC(b, c) is broken there are
    times (Complete.v), so a plan (Plans.v), so one in which no lock is in the way (Moves.v), so a
    schedule (Plans.v), so a run (Schedule.v), which refutes the table (Refuted.v).  For ATOM this
    is in Overtaken.v. *)
Require Import List Arith Bool Lia Thm1 Obligations Complete Proved Steps Refuted.
Require Import Overtaken Schedule Plans Moves.
Import ListNotations.
Set Implicit Arguments.

Lemma ins_dec : forall i j : ins, {i = j} + {i <> j}.
Proof. decide equality; decide equality. Defined.

(** ** Exact tables *)

(** The row of an atomic operation is its own, and that of a plain one is a bare access. *)
Definition is_bare i (o : option row) := match o with
  | Some r => match code r with [j] => if ins_dec i j then true else false | _ => false end
  | None => false
  end.
Definition exact (t : table) := forallb one_access t && bracketed_rmw t && bracketed_L2 t &&
  forallb frees_all t && forallb (fun r => nests false (code r)) t &&
  forallb (fun r => negb (atomic r) || is_own t r) t &&
  is_bare Ld (row_for t (plain Load)) && is_bare St (row_for t (plain (Store 1))).

Section Exact.
Variable t : table.
Hypothesis E : exact t = true.
Lemma exact_parts : (forall r, In r t -> one_access r = true /\ frees_all r = true /\
    nests false (code r) = true /\ (atomic r = true ->
      forall l n, row_for t (on l n r) = Some r)) /\
  bracketed_rmw t = true /\ bracketed_L2 t = true /\
  (exists r, row_for t (plain Load) = Some r /\ code r = [Ld]) /\
  (exists r, row_for t (plain (Store 1)) = Some r /\ code r = [St]).
Proof.
  pose proof E as h. unfold exact in h. rewrite !andb_true_iff, !forallb_forall in h.
  destruct h as [[[[[[[h1 h2] h3] h4] h5] h6] h7] h8].
  assert (B : forall i o, is_bare i o = true -> exists r, o = Some r /\ code r = [i]).
  { intros i [r|] q; [|discriminate]. exists r. split; auto. unfold is_bare in q.
    destruct (code r) as [|j [|]]; try discriminate. destruct (ins_dec i j); congruence. }
  split; [|auto]. intros r i. repeat split; auto. intros a l n. specialize (h6 r i).
  rewrite a in h6. apply own_row. exact h6.
Qed.
Lemma code_of_row l n r : In r t -> atomic r = true ->
  code_of x zero t (on l n r) = map (instr_of x zero (on l n r)) (code r).
Proof.
  intros i a. destruct exact_parts as (h&_). destruct (h r i) as (_&_&_&q).
  unfold code_of, row_of. rewrite (q a l n). reflexivity.
Qed.
Lemma code_of_plain k i : (exists r, row_for t (plain k) = Some r /\ code r = [i]) ->
  code_of x zero t (plain k) = [instr_of x zero (plain k) i].
Proof. intros (r&h&e). unfold code_of, row_of. rewrite h, e. reflexivity. Qed.

(** A run of the test of SYNC or of ATOM refutes the table (Refuted.v). *)
Definition has_refutation := exists w, refutes t w = true.
Lemma both_atomic b c : inclusive b c = true -> atomic b = true /\ atomic c = true.
Proof. unfold inclusive. rewrite !andb_true_iff. tauto. Qed.

(** So does a schedule. *)
Lemma schedule_refutes b c T A F : In b t -> In c t -> inclusive b c = true -> writes b = true ->
  reads c = true -> schedule b c T A F -> has_refutation.
Proof.
  intros ib ic I W R S. destruct exact_parts as (rows&_&_&load&store).
  destruct (rows b ib) as (ob&_&_&rb). destruct (rows c ic) as (oc&_&_&rc).
  destruct (both_atomic b c I) as [ab ac].
  destruct (@scheduled t b c W R ob oc (code_of_row y 1 b ib ab) (code_of_row y 2 c ic ac)
    (code_of_plain _ store) (code_of_plain _ load) T A F S) as (run&h1&h2).
  exists (Lost b c run). unfold refutes. rewrite I, W, R, h1, h2. simpl.
  unfold has_row. rewrite (rb ab), (rc ac). destruct load as (r1&->&_). destruct store as (r2&->&_).
  reflexivity.
Qed.

(** Where SYNC is broken there is one. *)
Theorem broken_sync_is_run b c : In b t -> In c t -> inclusive b c = true -> writes b = true ->
  reads c = true -> sync_ok (bracketed_rmw t) (bracketed_L2 t) b c = false -> has_refutation.
Proof.
  intros ib ic I W R h. destruct exact_parts as (rows&lr&lx&_). rewrite lr, lx in h.
  destruct (rows b ib) as (ob&gb&nb&_). destruct (rows c ic) as (oc&gc&nc&_).
  apply sync_broken in h as [v V]; auto.
  destruct (@planned b c ob oc W gb gc v V) as [X0 L0].
  destruct (plan_away ob oc gb gc nb nc L0) as (T&X&Y&L&away_1&away_0).
  exact (schedule_refutes ib ic I W R (plan_schedule W R ob oc L away_1 away_0)).
Qed.

(** Where ATOM is, too (Overtaken.v). *)
Lemma row_gives_back r : In r t -> gives_back r = true.
Proof.
  intro i. destruct exact_parts as (rows&lr&lx&_). destruct (rows r i) as (_&g&_).
  apply andb_prop in g as [g1 g2]. unfold bracketed_rmw in lr. unfold bracketed_L2 in lx.
  rewrite forallb_forall in lr, lx. unfold gives_back. rewrite (lr r i), (lx r i).
  apply andb_true_iff. split; assumption.
Qed.
Lemma row_is_own r : In r t -> atomic r = true -> is_own t r = true.
Proof.
  intros i a. destruct exact_parts as (rows&_). destruct (rows r i) as (_&_&_&own).
  unfold is_own. rewrite (own a x 0). destruct (row_dec r r); [auto|tauto].
Qed.
Theorem broken_atom_is_run b u : In b t -> In u t -> inclusive b u = true -> writes b = true ->
  isrmw u = true -> atom_ok (bracketed_rmw t) (bracketed_L2 t) b u = false -> has_refutation.
Proof.
  intros ib iu I W K h. destruct exact_parts as (rows&lr&lx&_). rewrite lr, lx in h.
  destruct (both_atomic b u I) as [ab au].
  destruct (rows b ib) as (ob&_). destruct (rows u iu) as (ou&_).
  destruct (@atom_is_run t b u) as [run r]; auto using row_gives_back, row_is_own.
  exists (Overtaken b u run). exact r.
Qed.

Theorem check_false_is_run : check t = false -> has_refutation.
Proof.
  intro C. assert (once : forallb one_access t = true).
  { pose proof E as h. unfold exact in h. rewrite !andb_true_iff in h. tauto. }
  destruct (broken t) as [|o os] eqn:B.
  { rewrite (nothing_broken t once B) in C. discriminate. }
  assert (i : In o (broken t)) by (rewrite B; left; auto).
  unfold broken in i. apply in_flat_map in i. destruct i as (b&ib&i). apply in_flat_map in i.
  destruct i as (c&ic&i).
  destruct (atomic b && atomic c && incl_rows b c && writes b) eqn:q; [|destruct i].
  apply andb_prop in q as [q w]. apply in_app_iff in i as [i|i].
  - destruct (reads c && negb (sync_ok (bracketed_rmw t) (bracketed_L2 t) b c)) eqn:k;
      [|destruct i].
    apply andb_prop in k as [r k]. apply negb_true_iff in k.
    exact (@broken_sync_is_run b c ib ic q w r k).
  - destruct (isrmw c && negb (atom_ok (bracketed_rmw t) (bracketed_L2 t) b c)) eqn:k;
      [|destruct i].
    apply andb_prop in k as [r k]. apply negb_true_iff in k.
    exact (@broken_atom_is_run b c ib ic q w r k).
Qed.
End Exact.

(** ** Which tables are sound *)
Theorem exact_tables t : exact t = true -> (sound t <-> check t = true).
Proof.
  intro E. split; [|apply thm1]. intro S. destruct (check t) eqn:C; auto. exfalso.
  destruct (check_false_is_run t E C) as [w r]. exact (@refuted t w r S).
Qed.

(** A table that is not sound fails a test of two threads and at most four operations, with one
    location or two: [message] or [overtaking] of two of its rows. *)
Theorem small_tests_are_enough t : exact t = true -> (~ sound t <-> has_refutation t).
Proof.
  intro E. split; [|intros [w r]; exact (@refuted t w r)]. intro N.
  apply (check_false_is_run t E). destruct (check t) eqn:C; auto. destruct N. apply thm1, C.
Qed.
