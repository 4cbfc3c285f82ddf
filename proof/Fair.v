(** * Orderly tables end every fair run

    From some time on no thread executes anything, as threads are finite.  Then locks stay as they
    are, nothing gets DIRTY in an L1, and nothing enters its fifo.  Were a thread not at its end,
    one would be unblocked; fair caches do what it waits for, again and again, and it would go on.

    It rests on classical logic. *)
Require Import Classical List Arith Bool Lia Wellfounded.
Require Import Thm1 Steps Orderly Holders Waits Progress.
Import ListNotations.
Set Implicit Arguments.

(** ** 1. What holds from some time on *)
Lemma both (p q : nat -> Prop) : eventually p -> eventually q -> eventually (fun n => p n /\ q n).
Proof. intros [m a] [k b]. exists (m + k). intros n h. split; [apply a|apply b]; lia. Qed.
Lemma each (A : Type) (p : A -> nat -> Prop) (l : list A) :
  (forall a, In a l -> eventually (p a)) -> eventually (fun n => forall a, In a l -> p a n).
Proof.
  induction l as [|a l IH]; intro h; [exists 0; intros n _ a []|].
  destruct (both (h a (or_introl eq_refl)) (IH (fun b i => h b (or_intror i)))) as [m q].
  exists m. intros n k b i. destruct (q n k) as [now others]. destruct i as [<-|i]; auto.
Qed.
Lemma often_then (p q r : nat -> Prop) : infinitely_often p -> eventually q ->
  (forall n, p n -> q n -> r n) -> infinitely_often r.
Proof.
  intros o [k e] f m. destruct (o (m + k)) as (n&h&a). exists n. split; [lia|].
  apply f; auto. apply e. lia.
Qed.

Section Fair.
Context {here : Setting}.
Variable steps : nat -> step Loc.
Hypothesis fair : fair_run loc_dec nowhere initial P tbl steps.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation wg := (wg_of P).
Notation effect := (effect loc_dec wg unset).
Notation guard := (guard loc_dec groups wg unset).
Notation sta := (state_after loc_dec nowhere initial P tbl steps).
Notation allowed_at := (allowed_at loc_dec nowhere initial P tbl steps).

Lemma inv_at n : inv (sta n).
Proof. induction n as [|n IH]; [exact inv_first|]. apply inv_step; auto. apply fair. Qed.
(** Strong fairness gives weak fairness: a step is taken, or not always allowed. *)
Lemma taken_or_not_allowed l m : of_program P l ->
  (exists n, m <= n /\ steps n = l) \/ (exists n, m <= n /\ ~ allowed_at n l).
Proof.
  intro p. destruct (classic (exists n, m <= n /\ ~ allowed_at n l)) as [a|a]; auto. left.
  apply (proj2 fair l p). intro k. exists (m + k). split; [lia|]. apply NNPP. intro b. apply a.
  exists (m + k). split; auto. lia.
Qed.

(** ** 2. Instructions are finitely many *)
Lemma environment_or_not (l : step Loc) : of_environment l \/ exists u, l = Exec u.
Proof. destruct l; simpl; eauto. Qed.
Lemma last_instruction : eventually (fun n => of_environment (steps n)).
Proof.
  enough (A : forall f m, threads (sta m) = f -> eventually (fun n => of_environment (steps n)))
    by exact (A _ 0 eq_refl).
  intro f. induction f as [f IH] using (well_founded_induction (threads_end (length P))).
  assert (B : forall k m, threads (sta m) = f -> ~ of_environment (steps (m + k)) ->
    eventually (fun n => of_environment (steps n))).
  { induction k as [|k IHk]; intros m E X; destruct (environment_or_not (steps m)) as [e|[u e]].
    - rewrite Nat.add_0_r in X. contradiction.
    - apply (IH (threads (sta (S m)))) with (m := S m); auto. subst f. simpl. rewrite e.
      apply exec_fewer; [apply inv_at|]. rewrite <- e. apply fair.
    - apply (IHk (S m)).
      + rewrite <- E. apply (q_threads (is_quiet (sta m) (steps m) e)).
      + rewrite <- plus_n_Sm in X. exact X.
    - apply (IH (threads (sta (S m)))) with (m := S m); auto. subst f. simpl. rewrite e.
      apply exec_fewer; [apply inv_at|]. rewrite <- e. apply fair. }
  intros m E. destruct (classic (exists k, ~ of_environment (steps (m + k)))) as [[k X]|X].
  - exact (B k m E X).
  - exists m. intros n h. apply NNPP. intro Y. apply X. exists (n - m).
    replace (m + (n - m)) with n by lia. auto.
Qed.

(** ** 3. After the last instruction *)
Section Afterwards.
Variable N : nat.
Hypothesis no_more : forall n, N <= n -> of_environment (steps n).

Lemma quiet_later n m : N <= n -> n <= m -> quiet (sta n) (sta m).
Proof.
  intros h k. induction k as [|m k IH]; [apply quiet_refl|]. apply (quiet_trans IH).
  apply is_quiet, no_more. lia.
Qed.
Lemma same_lock n x : N <= n -> lock (sta n) x = lock (sta N) x.
Proof. intro h. rewrite (q_lock (quiet_later (le_n N) h)). auto. Qed.
Lemma stays_clean w x n : N <= n -> DIRTY (L1 (sta n) w) x = false ->
  eventually (fun n => DIRTY (L1 (sta n) w) x = false).
Proof.
  intros h D. exists n. intros m k. destruct (DIRTY (L1 (sta m) w) x) eqn:E; auto.
  apply (q_dirty (quiet_later h k)) in E. congruence.
Qed.

(** Entries are flushed. *)
Lemma gets_clean w x : In w groups -> ready_group wg (lock (sta N) x) w = true ->
  eventually (fun n => DIRTY (L1 (sta n) w) x = false).
Proof.
  intros iw r. destruct (taken_or_not_allowed (FLUSH_L1 w x) N iw) as [(n&h&E)|(n&h&E)].
  - apply (stays_clean w x (n := S n)); [lia|]. simpl. rewrite E. simpl.
    destruct (Nat.eq_dec w w); [|congruence]. simpl. unfold set. destruct (loc_dec x x); congruence.
  - apply (stays_clean w x h). destruct (DIRTY (L1 (sta n) w) x) eqn:D; auto. destruct E.
    unfold Orderly.allowed_at. simpl. rewrite D, (same_lock x h), r. auto.
Qed.

(** Fifos are drained. *)
Lemma drains w : In w groups -> (forall y, ready_group wg (lock (sta N) y) w = true) ->
  eventually (fun n => fifo (L1 (sta n) w) = []).
Proof.
  intros iw r. enough (A : forall k n, N <= n -> length (fifo (L1 (sta n) w)) <= k ->
    exists m, N <= m /\ fifo (L1 (sta m) w) = []).
  { destruct (A _ N (le_n N) (le_n _)) as (m&h&E). exists m. intros n k.
    destruct (q_fifo (quiet_later h k) w) as [p Q]. rewrite E in Q. symmetry in Q.
    apply app_eq_nil in Q as [_ Q]. auto. }
  assert (shorter : forall n m, N <= n -> n <= m -> fifo (L1 (sta m) w) = fifo (L1 (sta n) w) \/
    length (fifo (L1 (sta m) w)) < length (fifo (L1 (sta n) w))).
  { intros n m h k. destruct (q_fifo (quiet_later h k) w) as [[|e p] ->]; auto. right.
    rewrite app_length. simpl. lia. }
  induction k as [|k IH]; intros n h L.
  - exists n. split; auto. destruct (fifo (L1 (sta n) w)); auto. simpl in L. lia.
  - destruct (fifo (L1 (sta n) w)) as [|e q] eqn:F; [eauto|].
    assert (X : exists l, of_program P l /\
      eventually (fun m => fifo (L1 (sta m) w) = e :: q -> allowed_at m l) /\
      forall s, fifo (L1 (effect s l) w) = tl (fifo (L1 s w))).
    { destruct e as [y|u].
      - exists (DEQLOC_L1 w y). split; [exact iw|]. split; [|intro s; apply dequeued].
        destruct (gets_clean y iw (r y)) as [m D]. exists m. intros i hi E.
        unfold Orderly.allowed_at. simpl. unfold oldest, clean. rewrite E, (D i hi). simpl.
        destruct (loc_dec y y); [auto|congruence].
      - exists (DEQMARKER_L1 w u). split; [exact iw|]. split; [|intro s; apply dequeued].
        exists 0. intros i _ E. unfold Orderly.allowed_at. simpl. unfold oldest. rewrite E. simpl.
        destruct (Nat.eq_dec u u); congruence. }
    destruct X as (l&p&[m A]&T).
    destruct (taken_or_not_allowed l (n + m) p) as [(i&hi&E)|(i&hi&E)].
    + apply (IH (S i)); [lia|]. simpl state_after. rewrite E, T.
      destruct (shorter n i) as [Q|Q]; try lia; rewrite F in Q; rewrite ?Q; simpl in *; [lia|].
      destruct (fifo (L1 (sta i) w)); simpl in *; lia.
    + apply (IH i); [lia|]. destruct (shorter n i) as [Q|Q]; try lia; rewrite F in Q.
      * destruct E. apply A; [lia|exact Q].
      * simpl in Q, L. lia.
Qed.

(** Entries are VALID again and again. *)
Lemma L2_often_valid x : infinitely_often (fun n => VALID (L2 (sta n)) x = true).
Proof.
  intro m. destruct (taken_or_not_allowed (FETCH_L2 x) m Logic.I) as [(n&h&E)|(n&h&E)].
  - exists (S n). split; [lia|]. simpl. rewrite E. simpl. unfold set.
    destruct (loc_dec x x); congruence.
  - exists n. split; auto. apply (dirty_is_valid (inv_at n)). unfold Orderly.allowed_at in E.
    simpl in E. unfold clean in E. destruct (DIRTY (L2 (sta n)) x); [auto|destruct E; auto].
Qed.
Lemma L1_often_valid w x : In w groups -> ready_group wg (lock (sta N) x) w = true ->
  infinitely_often (fun n => VALID (L1 (sta n) w) x = true).
Proof.
  intros iw r m. destruct (proj2 fair (FETCH_L1 w x) iw) with (m := m) as (n&h&E).
  - destruct (gets_clean x iw r) as [k C].
    assert (C' : eventually (fun n => DIRTY (L1 (sta n) w) x =
      false /\ N <= n)) by (exists (k + N); intros n h; split; [apply C; lia|lia]).
    apply (@often_then _ _ _ (L2_often_valid x) C'). intros n V [D h].
    unfold Orderly.allowed_at. simpl. unfold clean. rewrite D, V, (same_lock x h), r. auto.
  - exists (S n). split; [lia|]. simpl. rewrite E. simpl. destruct (Nat.eq_dec w w); [|congruence].
    simpl. unfold set. destruct (loc_dec x x); congruence.
Qed.

(** An unblocked thread would go on. *)
Lemma would_go_on u j th : next unset (threads (sta N) u) = Some (j, th) ->
  unblocked (sta N) u j -> infinitely_often (fun n => allowed_at n (Exec u)).
Proof.
  intros E U.
  assert (M : eventually (fun n => forall w, In w groups -> ~ In (Marker u) (fifo (L1 (sta n) w)))).
  { apply (each (fun w n => ~ In (Marker u) (fifo (L1 (sta n) w)))). intros w iw.
    destruct (in_dec element_dec (Marker u) (fifo (L1 (sta N) w))) as [m|m].
    - destruct (drains iw (fun y => markers_leave U y iw m)) as [k F]. exists k. intros n h.
      rewrite (F n h). auto.
    - exists N. intros n h q. apply m. exact (marker_stays _ _ (quiet_later (le_n N) h) q). }
  assert (late : eventually (fun n => N <= n)) by (exists N; auto).
  assert (here_ready : forall x, needs_lock j = Some x ->
    ready_group wg (lock (sta N) x) (wg u) = true).
  { intros x q. exact (ready_here _ _ (lock_ready U q)). }
  assert (W : exists p, infinitely_often p /\ forall n, p n -> match j with
    | LD x | RMW_L1 x _ => VALID (L1 (sta n) (wg u)) x = true
    | RMW_L2 x _ => DIRTY (L1 (sta n) (wg u)) x = false /\ VALID (L2 (sta n)) x = true
    | _ => True
    end).
  { assert (always : infinitely_often (fun _ => True)) by (intro m; exists m; auto).
    destruct j; try (exists (fun _ => True); split; auto; fail).
    - eexists. split; [exact (L1_often_valid _ (in_wgs P u) (here_ready _ eq_refl))|auto].
    - eexists. split; [exact (L1_often_valid _ (in_wgs P u) (here_ready _ eq_refl))|auto].
    - eexists. split; [|intros n p; exact p].
      apply (@often_then _ _ _ (L2_often_valid x) 
        (gets_clean _ (in_wgs P u) (here_ready _ eq_refl))).
      auto. }
  destruct W as (p&O&W). apply (@often_then _ _ _ O (both late M)). intros n q [h G]. apply W in q.
  pose proof (quiet_later (le_n N) h) as Q. unfold Orderly.allowed_at. simpl.
  rewrite (q_threads Q), E. unfold instr_guard. rewrite (is_unmarked (inv_at n) G), (q_rmw Q).
  pose proof (lock_ready U) as L. pose proof (rmw_ready U) as R.
  assert (R' : forall w, needs_rmw j = true -> ready (rmw_lock (sta N) w) u = true)
    by (intro w; rewrite (same_rmw (inv_at N)); exact R).
  destruct j; auto; simpl in R', L |- *; rewrite ?(q_lock Q), ?R', ?L; unfold clean; auto.
  - destruct q as [-> ->]. auto.
  - apply forallb_forall. auto.
Qed.
Lemma all_have_ended : all_ended (sta N).
Proof.
  destruct (ended_or_not (inv_at N)) as [A|A]; auto. exfalso.
  destruct (somebody_goes_on (inv_at N) A) as (u&j&th&E&U).
  destruct (proj2 fair (Exec u) Logic.I (would_go_on E U) N) as (n&h&q).
  specialize (no_more h). rewrite q in no_more. exact no_more.
Qed.

(** ** 4. In the end *)
Lemma all_free x w : ready_group wg (lock (sta N) x) w = true.
Proof. rewrite (nobody_holds (inv_at N) all_have_ended). auto. Qed.
Lemma L1s_end_clean : eventually (fun n => forall w x, DIRTY (L1 (sta n) w) x = false).
Proof.
  destruct (each (fun p n => DIRTY (L1 (sta n) (fst p)) (snd p) = false)
    (list_prod groups locations)) as [m C].
  { intros [w x] i. apply in_prod_iff in i as [iw _]. apply gets_clean; auto. apply all_free. }
  exists m. intros n h w x. destruct (in_dec Nat.eq_dec w groups) as [iw|iw].
  - apply (C n h (w, x)). apply in_prod; auto. apply all_locations.
  - exact (no_other_L1 (inv_at n) x iw).
Qed.
(** The L2 gets DIRTY only by what an L1 flushes. *)
Lemma L2_stays_clean x n m : N <= n ->
  (forall k, n <= k -> forall w y, DIRTY (L1 (sta k) w) y = false) -> n <= m ->
  DIRTY (L2 (sta n)) x = false -> DIRTY (L2 (sta m)) x = false.
Proof.
  intros h C k D. induction k as [|m k IH]; auto.
  pose proof (no_more (n := m)) as e. pose proof (proj1 fair m) as g.
  unfold Orderly.allowed_at in g. simpl.
  destruct (steps m) as [u|w y|w y|w y|y|y|y|w y|w u|y|u]; simpl; auto.
  - destruct e. lia.
  - simpl in g. rewrite C in g; [discriminate|lia].
  - unfold set. destruct (loc_dec x y); auto.
Qed.
Lemma L2_ends_clean : eventually (fun n => forall x, DIRTY (L2 (sta n)) x = false).
Proof.
  destruct L1s_end_clean as [k C].
  destruct (each (fun x n => DIRTY (L2 (sta n)) x = false) locations) as [m D].
  - intros x _. assert (later : forall n, k + N <= n -> DIRTY (L2 (sta n)) x = false ->
      eventually (fun n => DIRTY (L2 (sta n)) x = false)).
    { intros n h D. exists n. intros m hm. apply (@L2_stays_clean x n m); auto; [lia|].
      intros i hi. apply C. lia. }
    destruct (taken_or_not_allowed (FLUSH_L2 x) (k + N) Logic.I) as [(n&h&E)|(n&h&E)].
    + apply (later (S n)); [lia|]. simpl. rewrite E. simpl. unfold set.
      destruct (loc_dec x x); congruence.
    + apply (later n h). destruct (DIRTY (L2 (sta n)) x) eqn:D; auto. destruct E.
      unfold Orderly.allowed_at. simpl. rewrite D. auto.
  - exists m. intros n h x. apply D; auto. apply all_locations.
Qed.
Lemma ends : eventually (fun n => finished unset (sta n)).
Proof.
  destruct (both L1s_end_clean L2_ends_clean) as [m C]. exists (m + N). intros n h.
  destruct (C n ltac:(lia)) as [C1 C2]. repeat split; auto.
  intro u. rewrite (q_threads (@quiet_later N n (le_n N) ltac:(lia))). apply all_have_ended.
Qed.
End Afterwards.
Theorem fair_run_ends : eventually (fun n => finished unset (sta n)).
Proof. destruct last_instruction as [N e]. exact (ends e). Qed.
End Fair.

Theorem fair_runs_end : forall t : table, orderly t = true -> ends_fairly t.
Proof.
  intros t O Val Loc loc_dec locations nowhere initial P steps state_at_time all _ F.
  destruct (innermost t O) as [inner K].
  pose (here := @Build_Setting Val Loc loc_dec locations all nowhere initial P t inner K).
  exact (@fair_run_ends here steps F).
Qed.
