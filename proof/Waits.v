(** * Somebody is kept waiting by no lock

    Of the threads that have instructions left, one is [unblocked]: who holds the innermost lock, or
    else who holds another, or else anybody. *)
Require Import List Arith Bool Lia Thm1 Steps Orderly Holders.
Import ListNotations.
Set Implicit Arguments.

Section Waits.
Context {here : Setting}.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation wg := (wg_of P).
Notation compile := (compile nowhere initial tbl).
Notation effect := (effect loc_dec wg unset).
Notation guard := (guard loc_dec groups wg unset).
Notation instr_guard := (instr_guard groups wg).
Notation instr_effect := (instr_effect loc_dec wg).
Notation first := (first nowhere initial P tbl).
Notation instr_of := (instr_of nowhere initial).
Implicit Types (s : state Val Loc) (h : held) (i : ins) (c : list ins) (o : op Val Loc).

Definition needs_rmw (j : instr Val Loc) :=
  match j with RMW_L1 _ _ | RMW_L2 _ _ | LK_rmw => true | _ => false end.
Definition needs_lock (j : instr Val Loc) :=
  match j with LD x | RMW_L1 x _ | RMW_L2 x _ | LK_L2 x => Some x | _ => None end.
Record unblocked s u (j : instr Val Loc) : Prop := {
  markers_leave : forall w y, In w groups -> In (Marker u) (fifo (L1 s w)) ->
    ready_group wg (lock s y) w = true;
  rmw_ready : needs_rmw j = true -> ready (rmw_lock s 0) u = true;
  lock_ready : forall x, needs_lock j = Some x -> ready (lock s x) u = true }.

Lemma needs_rmw_of o i : needs_rmw (instr_of o i) = wants_rmw i.
Proof. destruct i; reflexivity. Qed.
Lemma needs_lock_of o i x :
  needs_lock (instr_of o i) = Some x -> wants_lock i = true /\ x = op_loc o.
Proof. destruct i; simpl; intro q; try discriminate; inversion q; auto. Qed.
Lemma ready_for (l : option nat) u : l = None \/ l = Some u -> ready l u = true.
Proof. intros [->| ->]; simpl; auto. destruct (Nat.eq_dec u u); congruence. Qed.
Lemma ready_if_free_for_others (l : option nat) u :
  (forall v, l = Some v -> v = u) -> ready l u = true.
Proof. intro q. apply ready_for. destruct l; auto. Qed.

(** Who holds a lock has instructions left. *)
Lemma holder_goes_on s u : inv s -> (rmw_lock s 0 = Some u \/ exists y, lock s y = Some u) ->
  exists o h i c th, stands_at s u o h i c th.
Proof.
  intros I q. destruct (threads_ok I u) as (o&h&c&R&A&O&H&M). destruct c as [|i c].
  - exfalso. apply andb_prop in O as [h1 h2]. destruct q as [q|[y q]]; apply H in q.
    + rewrite q in h1. discriminate.
    + destruct q as [_ q]. rewrite q in h2. discriminate.
  - exists o, h, i, c, (Running (map (instr_of o) c) (reg (threads s u)) (after (threads s u))).
    unfold stands_at, next. rewrite R. auto 7.
Qed.

Definition goes_on s := exists u j th, next unset (threads s u) = Some (j, th) /\ unblocked s u j.

(** Nobody holds anything but [u]: he goes on, as he flushes no other L1 while he holds a lock. *)
Lemma alone_goes_on s u o h i c th : stands_at s u o h i c th ->
  (forall v, rmw_lock s 0 = Some v -> v = u) -> (forall y v, lock s y = Some v -> v = u) ->
  (forall r, may inner h (Flu r) = true -> lock_held h = true -> r = to_WG) -> goes_on s.
Proof.
  intros (N&_&_&_&H&M) R L F. exists u, (instr_of o i), th. split; auto. split.
  - intros w y iw m. destruct (M w iw m) as (r&m1&m2). destruct (lock s y) as [v|] eqn:E; auto.
    pose proof (L y v E). subst v. apply H in E as [_ E]. rewrite (F r m1 E) in m2. simpl in *.
    destruct (Nat.eq_dec w (wg u)), (Nat.eq_dec (wg u) w); congruence.
  - intros _. apply ready_if_free_for_others. auto.
  - intros x _. apply ready_if_free_for_others. intros v. apply L.
Qed.

(** Some thread that holds a lock of a location, if there is one of whom [p] holds. *)
Lemma holder_or_none s (p : nat -> bool) :
  (exists u y, lock s y = Some u /\ p u = true) \/ (forall u y, lock s y = Some u -> p u = false).
Proof.
  set (q := fun y => match lock s y with Some u => p u | None => false end).
  destruct (existsb q locations) eqn:E.
  - left. apply existsb_exists in E as (y&_&e). unfold q in e. destruct (lock s y) as [u|] eqn:L;
      [|discriminate]. eauto.
  - right. intros u y e. destruct (p u) eqn:B; auto. enough (X : existsb q locations = true)
      by congruence. apply existsb_exists. exists y. unfold q. rewrite e.
    split; [apply all_locations|auto].
Qed.

Definition holds_rmw s u := match rmw_lock s 0 with Some v => v =? u | None => false end.

Lemma location_first s : inner = Of_location -> inv s ->
  (exists u, next unset (threads s u) <> None) -> goes_on s.
Proof.
  intros K I [u0 n].
  destruct (holder_or_none s (fun u => negb (holds_rmw s u))) as [(u&y&L&p)|none].
  - (* who holds a lock of a location alone waits for nothing *)
    destruct (@holder_goes_on s u I) as (o&h&i&c&th&S); eauto. destruct S as (N&_&_&O&H&M).
    assert (hr : rmw_held h = false).
    { destruct (rmw_held h) eqn:E; auto. apply H in E. unfold holds_rmw in p. rewrite E in p.
      rewrite Nat.eqb_refl in p. discriminate. }
    assert (hl : lock_held h = true) by (apply H in L; apply L).
    apply andb_prop in O as [O _]. apply andb_prop in O as [O _].
    exists u, (instr_of o i), th. split; auto. split.
    + intros w z iw m. destruct (M w iw m) as (r&m1&_). rewrite K in m1. destruct r; simpl in m1;
        rewrite ?hl, ?hr in m1; discriminate.
    + rewrite needs_rmw_of. intro q. rewrite K in O. destruct i; simpl in q, O; try discriminate;
        rewrite hl, hr in O; discriminate.
    + intros x q. apply needs_lock_of in q as [_ ->]. apply ready_for. right. apply H. auto.
  - destruct (rmw_lock s 0) as [u|] eqn:R.
    + (* who holds the rmw locks is the only one who holds anything *)
      destruct (@holder_goes_on s u I) as (o&h&i&c&th&S); auto. apply (alone_goes_on S).
      * intros v. congruence.
      * intros y v L. specialize (none v y L). unfold holds_rmw in none. rewrite R in none.
        apply negb_false_iff, Nat.eqb_eq in none. auto.
      * rewrite K. intros [|] m l; auto. simpl in m. rewrite l in m. discriminate.
    + (* nobody holds anything *)
      destruct (next unset (threads s u0)) as [[j th]|] eqn:N; [|congruence].
      destruct (stands_somewhere u0 I N) as (o&h&i&c&S&_). apply (alone_goes_on S).
      * intros v. congruence.
      * intros y v L. specialize (none v y L). unfold holds_rmw in none. rewrite R in none.
        discriminate.
      * rewrite K. intros [|] m l; auto. simpl in m. rewrite l in m. discriminate.
Qed.

Lemma rmw_first s : inner = Of_rmw -> inv s ->
  (exists u, next unset (threads s u) <> None) -> goes_on s.
Proof.
  intros K I [u0 n]. destruct (rmw_lock s 0) as [u|] eqn:R.
  - (* who holds the rmw locks waits for nothing *)
    destruct (@holder_goes_on s u I) as (o&h&i&c&th&S); auto. destruct S as (N&_&_&O&H&M).
    assert (hr : rmw_held h = true) by (apply H; auto).
    apply andb_prop in O as [O _]. apply andb_prop in O as [O _].
    exists u, (instr_of o i), th. split; auto. split.
    + intros w z iw m. destruct (M w iw m) as (r&m1&_). rewrite K in m1. simpl in m1.
      rewrite hr, andb_false_r in m1. discriminate.
    + intros _. apply ready_for. auto.
    + intros x q. apply needs_lock_of in q as [q ->]. apply ready_for. right. apply H. split; auto.
      rewrite K in O. destruct i; simpl in q, O; try discriminate; rewrite hr in O; auto.
  - destruct (holder_or_none s (fun _ => true)) as [(u&y&L&_)|none].
    + (* who holds a lock of a location waits for no other *)
      destruct (@holder_goes_on s u I) as (o&h&i&c&th&S); eauto. destruct S as (N&_&_&O&H&M).
      assert (hl : lock_held h = true) by (apply H in L; apply L).
      exists u, (instr_of o i), th. split; auto. split.
      * intros w z iw m. destruct (M w iw m) as (r&m1&_). rewrite K in m1. simpl in m1.
        rewrite hl in m1. discriminate.
      * intros _. apply ready_for. auto.
      * intros x q. apply needs_lock_of in q as [_ ->]. apply ready_for. right. apply H. auto.
    + (* nobody holds anything *)
      destruct (next unset (threads s u0)) as [[j th]|] eqn:N; [|congruence].
      destruct (stands_somewhere u0 I N) as (o&h&i&c&S&_). apply (alone_goes_on S).
      * intros v. congruence.
      * intros y v L. specialize (none v y L). discriminate.
      * rewrite K. intros r m l. simpl in m. rewrite l in m. discriminate.
Qed.

(** No deadlock: under [inv], a thread that has not ended goes on. *)
Theorem somebody_goes_on s :
  inv s -> (exists u, next unset (threads s u) <> None) -> goes_on s.
Proof.
  destruct inner eqn:K; [apply location_first|apply rmw_first]; auto.
Qed.
End Waits.
