(** * Who holds which locks, in terms of the code that is left of each operation

    [inv] says so, and what else holds of each state that is reached; here it is shown to last. *)
Require Import List Arith Bool Lia Thm1 Steps Orderly.
Import ListNotations.
Set Implicit Arguments.

(** A program, and an orderly table. *)
Class Setting := {
  Val : Type; Loc : Type;
  loc_dec : forall x y : Loc, {x = y} + {x <> y};
  locations : list Loc;
  all_locations : forall x, In x locations;
  nowhere : Loc;
  initial : Loc -> Val;
  P : program Val Loc;
  tbl : table;
  inner : kind_of_lock;
  in_order : orderly_by inner tbl = true }.

Section Holders.
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

(** ** Who holds which locks *)

(** [u] holds what [h] says, of the location of [o]. *)
Definition holds s u o h :=
  (rmw_lock s 0 = Some u <-> rmw_held h = true) /\
  (forall y, lock s y = Some u <-> y = op_loc o /\ lock_held h = true).
(** Where a marker of [u] is, he may flush. *)
Definition may_wait s u h := forall w, In w groups -> In (Marker u) (fifo (L1 s w)) ->
  exists r, may inner h (Flu r) = true /\ reaches (reach_of r) (wg u) w = true.
(** What is left of an operation is orderly, as long as he holds [h]. *)
Definition thread_ok s u := exists o h c,
  rest (threads s u) = map (instr_of o) c /\
  (forall v, exists tr, after (threads s u) v = compile tr) /\
  orderly_from inner h c = true /\ holds s u o h /\ may_wait s u h.

Record inv s : Prop := {
  threads_ok : forall u, thread_ok s u;
  same_rmw : forall w, rmw_lock s w = rmw_lock s 0;
  no_others : forall u, length P <= u -> threads s u = threads first u;
  no_other_L1 : forall w x, ~ In w groups -> DIRTY (L1 s w) x = false;
  L2_unmarked : forall u, ~ In (Marker u) (fifo (L2 s));
  dirty_is_valid : forall x, DIRTY (L2 s) x = true -> VALID (L2 s) x = true }.

Lemma row_is_orderly o : orderly_row inner (row_of tbl o) = true.
Proof.
  unfold row_of, row_for. destruct (find (fits o) tbl) as [r|] eqn:F.
  - apply find_some in F as [F _]. pose proof in_order as O. unfold orderly_by in O.
    rewrite forallb_forall in O. auto.
  - unfold orderly_row. simpl. destruct inner, (op_kind o); reflexivity.
Qed.

Lemma others_have_ended s u : inv s -> length P <= u -> next unset (threads s u) = None.
Proof.
  intros I k. rewrite (no_others I k). unfold Steps.first, start, next, compiled, thread_of. simpl.
  rewrite nth_overflow; auto.
Qed.

(** The instruction [i] that a thread executes next stands in a row, before [c]. *)
Definition stands_at s u o h i c (th : running Val Loc) :=
  next unset (threads s u) = Some (instr_of o i, th) /\
  rest th = map (instr_of o) c /\ (forall v, exists tr, after th v = compile tr) /\
  orderly_from inner h (i :: c) = true /\ holds s u o h /\ may_wait s u h.
Lemma holds_nothing s u o o' : holds s u o nothing -> holds s u o' nothing.
Proof.
  intros [H1 H2]. split; auto. intro y. specialize (H2 y). simpl in *.
  split; intro q; [apply H2 in q|]; destruct q; discriminate.
Qed.
Lemma stands_somewhere s u j th : inv s -> next unset (threads s u) = Some (j, th) ->
  exists o h i c, stands_at s u o h i c th /\ j = instr_of o i.
Proof.
  intros I N. destruct (threads_ok I u) as (o&h&c&R&A&O&H&M). unfold stands_at. pose proof N as N'.
  unfold next in N. rewrite R in N. destruct c as [|i c]; simpl in N.
  - (* the next operation begins, with nothing held *)
    destruct (A (reg (threads s u))) as [tr E]. rewrite E in N.
    destruct tr as [|o' k]; [discriminate|].
    pose proof (row_is_orderly o') as D. unfold orderly_row in D. simpl in N. unfold code_of in N.
    destruct (code (row_of tbl o')) as [|i c]; [discriminate|]. injection N as <- <-.
    apply andb_prop in O as [h1 h2]. apply negb_true_iff in h1, h2. destruct h as [r l].
    simpl in h1, h2. subst. exists o', nothing, i, c. simpl.
    refine (conj (conj N' (conj eq_refl (conj _ (conj D (conj _ M))))) eq_refl); eauto.
    exact (holds_nothing _ H).
  - injection N as <- <-. exists o, h, i, c. simpl.
    exact (conj (conj N' (conj eq_refl (conj A (conj O (conj H M))))) eq_refl).
Qed.

(** A thread without a next instruction has executed its whole tree, as no row is empty. *)
Theorem ended s u : inv s -> next unset (threads s u) = None ->
  rest (threads s u) = [] /\ after (threads s u) (reg (threads s u)) = compile Done.
Proof.
  intros I N. destruct (threads_ok I u) as (o&h&c&R&A&_). unfold next in N. rewrite R in *.
  destruct c as [|i c]; [|discriminate]. split; auto. simpl in N.
  destruct (A (reg (threads s u))) as [[|o' k] E]; auto. rewrite E in N. simpl in N.
  pose proof (row_is_orderly o') as D. unfold orderly_row in D. unfold code_of in N.
  destruct (code (row_of tbl o')); discriminate.
Qed.

(** ** [inv] lasts *)

(** What no step of the environment does. *)
Record quiet s s' : Prop := {
  q_threads : threads s' = threads s;
  q_rmw : rmw_lock s' = rmw_lock s;
  q_lock : lock s' = lock s;
  q_fifo : forall w, exists p, fifo (L1 s w) = p ++ fifo (L1 s' w);
  q_dirty : forall w x, DIRTY (L1 s' w) x = true -> DIRTY (L1 s w) x = true }.
Definition of_environment (l : step Loc) := match l with Exec _ => False | _ => True end.

Lemma quiet_refl s : quiet s s.
Proof. split; auto. intro w. exists []. auto. Qed.
Lemma quiet_trans s s' s'' : quiet s s' -> quiet s' s'' -> quiet s s''.
Proof.
  intros [a1 b1 c1 d1 e1] [a2 b2 c2 d2 e2]. split; try congruence; auto.
  intro w. destruct (d1 w) as [p1 p], (d2 w) as [p2 q]. exists (p1 ++ p2).
  rewrite p, q, app_assoc. auto.
Qed.
Lemma tail_of (A : Type) (l : list A) : exists p, l = p ++ tl l.
Proof. destruct l as [|a l]; [exists []|exists [a]]; auto. Qed.
Lemma is_quiet s l : of_environment l -> quiet s (effect s l).
Proof.
  intro e. destruct l as [|v x|v x|v x|x|x|x|v x|v u|x|u]; [destruct e|..]; split; simpl; auto;
    intro w; try (exists []; reflexivity); unfold in_L1; simpl;
    try (destruct (Nat.eq_dec w v); simpl; try (exists []; reflexivity); try apply tail_of); auto.
  intro y. unfold set. destruct (loc_dec y x); [discriminate|auto].
Qed.
Lemma marker_stays s s' u w :
  quiet s s' -> In (Marker u) (fifo (L1 s' w)) -> In (Marker u) (fifo (L1 s w)).
Proof. intros Q m. destruct (q_fifo Q w) as [p ->]. apply in_or_app. auto. Qed.

Lemma L2_env s l u : of_environment l -> In (Marker u) (fifo (L2 (effect s l))) ->
  In (Marker u) (fifo (L2 s)).
Proof.
  intros e m. destruct l; simpl in *; auto; try destruct e.
  - apply in_app_or in m as [m|[m|[]]]; [auto|discriminate].
  - destruct (fifo (L2 s)); simpl in *; auto.
  - destruct (fifo (L2 s)); simpl in *; auto.
Qed.
Lemma valid_env s l : of_environment l -> guard s l = true ->
  (forall x, DIRTY (L2 s) x = true -> VALID (L2 s) x = true) ->
  forall x, DIRTY (L2 (effect s l)) x = true -> VALID (L2 (effect s l)) x = true.
Proof.
  intros e g V x. destruct l; simpl in *; auto; try destruct e; unfold set in *.
  - destruct (loc_dec x x0); auto.
  - destruct (loc_dec x x0); auto. discriminate.
  - destruct (loc_dec x x0); auto.
  - destruct (loc_dec x x0); auto. subst. intro d. unfold clean in g. rewrite d in g.
    rewrite andb_false_r in g. discriminate.
Qed.

Lemma thread_quiet s s' u : quiet s s' -> thread_ok s u -> thread_ok s' u.
Proof.
  intros Q (o&h&c&R&A&O&H&M). exists o, h, c. unfold holds.
  rewrite (q_threads Q), (q_rmw Q), (q_lock Q). repeat (split; [assumption|]).
  intros w iw m. apply M; auto. exact (marker_stays _ _ Q m).
Qed.
Lemma inv_env s l : of_environment l -> guard s l = true -> inv s -> inv (effect s l).
Proof.
  intros e g I. pose proof (is_quiet s l e) as Q. split.
  - intro u. exact (thread_quiet Q (threads_ok I u)).
  - intro w. rewrite (q_rmw Q). apply (same_rmw I).
  - intros u k. rewrite (q_threads Q). exact (no_others I k).
  - intros w x k. apply L1_stays; auto. exact (no_other_L1 I x k).
  - intros u m. apply (L2_unmarked I u). exact (L2_env s l u e m).
  - exact (valid_env s l e g (dirty_is_valid I)).
Qed.

(** *** An instruction *)
Definition done s u (j : instr Val Loc) th :=
  with_thread (fst (instr_effect s u j)) u (deliver th (snd (instr_effect s u j))).
Lemma exec_is s u j th : next unset (threads s u) = Some (j, th) ->
  effect s (Exec u) = done s u j th.
Proof. intro N. simpl. rewrite N. unfold done. destruct (instr_effect s u j). auto. Qed.

Lemma rmw_done s u o i th w : rmw_lock (done s u (instr_of o i) th) w = match i with
  | Lk_rmw => Some u
  | Ul_rmw => None
  | _ => rmw_lock s w
  end.
Proof. destruct i; reflexivity. Qed.
Lemma lock_done s u o i th y : lock (done s u (instr_of o i) th) y = match i with
  | Lk_L2 => if loc_dec y (op_loc o) then Some u else lock s y
  | Ul_L2 => if loc_dec y (op_loc o) then None else lock s y
  | _ => lock s y
  end.
Proof. destruct i; reflexivity. Qed.
Lemma marker_done s u o i th v w : In (Marker v) (fifo (L1 (done s u (instr_of o i) th) w)) ->
  In (Marker v) (fifo (L1 s w)) \/
  (v = u /\ exists r, i = Flu r /\ reaches (reach_of r) (wg u) w = true).
Proof.
  assert (A : forall e, In (Marker v) (fifo (L1 s w) ++ [e]) ->
    In (Marker v) (fifo (L1 s w)) \/ e = Marker v).
  { intros e m. apply in_app_or in m as [m|[m|[]]]; auto. }
  destruct i; simpl; unfold in_L1; simpl; auto;
    try (destruct (Nat.eq_dec w (wg u)); simpl; auto; intro m; apply A in m as [m|m]; auto;
      discriminate).
  - destruct (reaches (reach_of r) (wg u) w) eqn:E; simpl; auto. intro m.
    apply A in m as [m|m]; auto. injection m as ->. eauto 6.
  - destruct (reaches (reach_of r) (wg u) w); simpl; auto.
Qed.
Lemma L2_done s u o i th : (forall v, ~ In (Marker v) (fifo (L2 s))) ->
  (forall x, DIRTY (L2 s) x = true -> VALID (L2 s) x = true) ->
  (forall v, ~ In (Marker v) (fifo (L2 (done s u (instr_of o i) th)))) /\
  (forall x, DIRTY (L2 (done s u (instr_of o i) th)) x = true ->
    VALID (L2 (done s u (instr_of o i) th)) x = true).
Proof.
  intros M V. destruct i; simpl; auto. split.
  - intros v m. apply in_app_or in m as [m|[m|[]]]; [exact (M v m)|discriminate].
  - intro x. unfold set. destruct (loc_dec x (op_loc o)); auto.
Qed.
Lemma thread_done s u j th v : threads (done s u j th) v =
  if Nat.eq_dec v u then deliver th (snd (instr_effect s u j)) else threads s v.
Proof.
  unfold done, with_thread, setn. simpl. destruct (Nat.eq_dec v u); auto. destruct j; reflexivity.
Qed.

(** After [i] its thread holds what [holding] says, ... *)
Lemma holds_done s u o h i th : inv s -> instr_guard s u (instr_of o i) = true ->
  frees_own h i = true -> holds s u o h -> holds (done s u (instr_of o i) th) u o (holding h i).
Proof.
  intros I g f H. destruct H as [H1 H2]. split.
  - rewrite rmw_done. destruct i; auto; simpl; split; auto; discriminate.
  - intro y. rewrite lock_done. destruct i; auto; simpl; destruct (loc_dec y (op_loc o)) as [->|ne].
    + tauto.
    + rewrite H2. tauto.
    + split; [discriminate|intros [_ q]; discriminate].
    + rewrite H2. split; [tauto|intros [_ q]; discriminate].
Qed.
(** ... and other threads what they held. *)
Lemma ready_excludes (l : option nat) u v : ready l u = true -> l = Some v -> v = u.
Proof. intros r ->. simpl in r. destruct (Nat.eq_dec v u); congruence. Qed.
Lemma others_hold s u v o h o' h' i th : inv s -> v <> u ->
  instr_guard s u (instr_of o i) = true -> frees_own h i = true -> holds s u o h ->
  holds s v o' h' -> holds (done s u (instr_of o i) th) v o' h'.
Proof.
  intros I ne g f [U1 U2] [V1 V2]. apply andb_prop in g as [_ g]. split.
  - rewrite rmw_done, <- V1. destruct i; try tauto; simpl in g, f.
    + split; [congruence|]. intro q. exfalso. apply ne. apply andb_prop in g as [g _].
      exact (ready_excludes _ g q).
    + split; [discriminate|]. intro q. apply U1 in f. congruence.
  - intro y. rewrite lock_done, <- V2. destruct i; try tauto; simpl in g, f;
      destruct (loc_dec y (op_loc o)) as [->|]; try tauto.
    + split; [congruence|]. intro q. exfalso. apply ne. exact (ready_excludes _ g q).
    + split; [discriminate|]. intro q. assert (lock s (op_loc o) = Some u) by (apply U2; auto).
      congruence.
Qed.

Lemma unmarked_L1 s u w :
  unmarked groups s u = true -> In w groups -> ~ In (Marker u) (fifo (L1 s w)).
Proof.
  intros m iw q. apply andb_prop in m as [m _]. rewrite forallb_forall in m. specialize (m w iw).
  unfold no_marker in m. rewrite forallb_forall in m. specialize (m _ q). simpl in m.
  destruct (Nat.eq_dec u u); congruence.
Qed.

Lemma inv_exec s u : guard s (Exec u) = true -> inv s -> inv (effect s (Exec u)).
Proof.
  intros g I. simpl in g. destruct (next unset (threads s u)) as [[j th]|] eqn:N; [|discriminate].
  destruct (stands_somewhere u I N) as (o&h&i&c&S&->). destruct S as (_&R&A&O&H&M).
  apply andb_prop in O as [O O']. apply andb_prop in O as [O f].
  rewrite (exec_is _ _ N). pose proof g as g'. apply andb_prop in g' as [m _].
  assert (L2_ok := L2_done s u o i th (L2_unmarked I) (dirty_is_valid I)).
  split; try apply L2_ok.
  - intro v. destruct (Nat.eq_dec v u) as [->|ne].
    + exists o, (holding h i), c. rewrite thread_done.
      destruct (Nat.eq_dec u u) as [_|]; [|congruence].
      assert (E : rest (deliver th (snd (instr_effect s u (instr_of o i)))) = rest th /\
        after (deliver th (snd (instr_effect s u (instr_of o i)))) = after th) by
        (destruct (snd (instr_effect s u (instr_of o i))); auto).
      destruct E as [-> ->]. repeat (split; [assumption|]).
      split; [apply holds_done; auto|].
      intros w iw q. apply marker_done in q as [q|(_&r&->&q)].
      * destruct (@unmarked_L1 s u w m iw q).
      * exists r. auto.
    + destruct (threads_ok I v) as (o'&h'&c'&R'&A'&Q'&H'&M'). exists o', h', c'.
      rewrite thread_done. destruct (Nat.eq_dec v u) as [|_]; [congruence|].
      repeat (split; [assumption|]). split; [apply (others_hold (h := h)); auto|].
      intros w iw q. apply marker_done in q as [q|[q _]]; [auto|congruence].
  - intro w. rewrite !rmw_done. destruct i; auto; apply (same_rmw I).
  - intros v k. rewrite <- (exec_is _ _ N). apply thread_stays; auto. exact (no_others I k).
  - intros w x k. rewrite <- (exec_is _ _ N). apply L1_stays; auto. exact (no_other_L1 I x k).
Qed.

Theorem inv_step s l : guard s l = true -> inv s -> inv (effect s l).
Proof.
  intros g I. destruct l; try (apply inv_env; auto; exact Logic.I). apply inv_exec; auto.
Qed.
Theorem inv_first : inv first.
Proof.
  split; try discriminate; auto.
  intro u. exists (Operation Load nowhere false WG false false false), nothing, [].
  repeat split; try discriminate; try (intros [_ q]; discriminate).
  - intro v. exists (body (thread_of P u)). reflexivity.
  - intros w _ [].
Qed.
End Holders.
