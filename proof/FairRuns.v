(** * Fair runs are there

    Of an orderly table each run goes on as a strongly fair one: so what [ends_fairly] says of fair
    runs is said of something.  A deadlock goes on as one, too, which does not end. *)
Require Import List Arith Bool Lia Thm1 Steps Orderly Holders Waits Progress Deadlock.
Import ListNotations.
Set Implicit Arguments.

(** ** 1. A run that has come to rest goes on as a fair one *)
Section Rest.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable locations : list Loc.
Hypothesis all_locations : forall x, In x locations.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Variable t : table.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation effect := (effect loc_dec (wg_of P) unset).
Notation guard := (guard loc_dec groups (wg_of P) unset).
Notation first := (first nowhere initial P t).
Notation enabled := (enabled loc_dec nowhere initial P).
Notation last_state := (last_state loc_dec nowhere initial P).
Notation fair_run := (fair_run loc_dec nowhere initial P t).
Implicit Types s : state Val Loc.

(** Threads that have ended, or wait for ever. *)
Variable stopped : state Val Loc -> Prop.
Hypothesis nobody : forall s u, stopped s -> guard s (Exec u) = false.
Hypothesis still : forall s l, stopped s -> of_caches l -> guard s l = true ->
  stopped (effect s l).

Record resting s : Prop := {
  threads_stopped : stopped s;
  L1s_clean : forall w x, DIRTY (L1 s w) x = false;
  L2_clean : forall x, DIRTY (L2 s) x = false;
  L1s_drained : forall w, In w groups -> fifo (L1 s w) = [];
  L2_drained : fifo (L2 s) = [];
  no_lock : forall x, lock s x = None }.
(** What caches still do. *)
Definition refreshes (l : step Loc) := match l with
  | FETCH_L1 w _ | EVICT_L1 w _ => In w groups
  | FETCH_L2 _ | EVICT_L2 _ => True
  | _ => False
  end.
Lemma still_resting s l : resting s -> refreshes l -> guard s l = true -> resting (effect s l).
Proof.
  intros [a b c d e f] r g. assert (h : of_caches l) by (destruct l; exact Logic.I || easy).
  split; [exact (still l a h g)|..]; destruct l; try destruct r; simpl; auto;
    intro v; destruct (Nat.eq_dec v w); subst; simpl; auto.
Qed.
Lemma only_refreshes s l : resting s -> of_program P l -> guard s l = true -> refreshes l.
Proof.
  intros [a b c d e f] p g. destruct l; simpl in *; auto; unfold oldest in g;
    rewrite ?b, ?c, ?e, ?d in g by exact p; try discriminate.
  pose proof (nobody t0 a) as n. simpl in n. congruence.
Qed.

(** One entry after the other is fetched and evicted. *)
Definition entries := list_prod groups locations.
Definition round (p : nat * Loc) : list (step Loc) := let '(w, x) := p in
  [FETCH_L2 x; FETCH_L1 w x; EVICT_L1 w x; EVICT_L2 x].
Lemma round_allowed s p : resting s -> enabled s (round p) = true.
Proof.
  intro R. destruct p as [w x]. pose proof (L1s_clean R w x) as b. pose proof (L2_clean R x) as c.
  simpl. unfold clean. simpl. rewrite (no_lock R), c. simpl.
  destruct (Nat.eq_dec w w); [|congruence]. simpl. unfold set.
  destruct (loc_dec x x); [|congruence].
  rewrite b. reflexivity.
Qed.

Variable run : list (step Loc).
Hypothesis run_allowed : enabled first run = true.
Hypothesis rests : resting (last_state first run).
Notation K := (length run).
Definition round_of k := round (nth (k mod length entries) entries (0, nowhere)).
Definition on_and_on n := if n <? K then nth_step run n
  else nth ((n - K) mod 4) (round_of ((n - K) / 4)) (Exec 0).
Notation sta := (state_after loc_dec nowhere initial P t on_and_on).
Notation state_at := (state_at loc_dec (wg_of P) unset initial (compiled nowhere initial P t)).

Lemma on_run n : n < K -> on_and_on n = nth_step run n.
Proof. intro h. unfold on_and_on. destruct (Nat.ltb_spec n K); auto. lia. Qed.
Lemma after_run k r : r < 4 -> on_and_on (K + (k * 4 + r)) = nth r (round_of k) (Exec 0).
Proof.
  intro h. unfold on_and_on. destruct (Nat.ltb_spec (K + (k * 4 + r)) K); [lia|].
  replace (K + (k * 4 + r) - K) with (k * 4 + r) by lia.
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r by lia.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small by lia. auto.
Qed.
Lemma states_of_run n : n <= K -> sta n = state_at run n.
Proof. induction n as [|n IH]; intro h; auto. simpl. rewrite IH, on_run by lia. auto. Qed.
Lemma has_entries k : In (nth (k mod length entries) entries (0, nowhere)) entries.
Proof.
  apply nth_In, Nat.mod_upper_bound. unfold entries. rewrite prod_length. simpl.
  specialize (all_locations nowhere). destruct locations; [destruct all_locations|simpl; lia].
Qed.
Lemma in_round k l : In l (round_of k) -> refreshes l.
Proof.
  pose proof (has_entries k) as i. unfold round_of.
  destruct (nth (k mod length entries) entries (0, nowhere)) as [w x].
  apply in_prod_iff in i as [i _]. simpl. intros [<-|[<-|[<-|[<-|[]]]]]; simpl; auto.
Qed.
Lemma along ls : forall m, resting (sta m) -> enabled (sta m) ls = true ->
  (forall l, In l ls -> refreshes l) ->
  (forall r, r < length ls -> on_and_on (m + r) = nth r ls (Exec 0)) ->
  forall r, r <= length ls -> resting (sta (m + r)) /\
    (r < length ls -> guard (sta (m + r)) (on_and_on (m + r)) = true).
Proof.
  induction ls as [|l ls IH]; intros m R A C W r h; simpl in h.
  - replace r with 0 by lia. rewrite Nat.add_0_r. split; auto. intro n. simpl in n. lia.
  - apply andb_prop in A as [g A]. assert (E : on_and_on m = l).
    { rewrite <- (Nat.add_0_r m). apply (W 0). simpl. lia. }
    destruct r as [|r]; [rewrite Nat.add_0_r, E; auto|]. rewrite <- plus_n_Sm. simpl length.
    destruct (IH (S m)) with (r := r) as [B D]; try lia.
    + simpl. rewrite E. apply still_resting; auto. apply C. simpl. auto.
    + simpl. rewrite E. auto.
    + intros k i. apply C. simpl. auto.
    + intros k i. simpl. rewrite plus_n_Sm. apply (W (S k)). simpl. lia.
    + split; auto. intro i. apply D. lia.
Qed.
Lemma one_round k : resting (sta (K + k * 4)) -> forall r, r <= 4 ->
  resting (sta (K + (k * 4 + r))) /\
  (r < 4 -> guard (sta (K + (k * 4 + r))) (on_and_on (K + (k * 4 + r))) = true).
Proof.
  intro R. assert (L : length (round_of k) = 4).
  { unfold round_of. destruct (nth (k mod length entries) entries (0, nowhere)). auto. }
  intros r h. rewrite Nat.add_assoc, <- L. apply along; rewrite ?L; auto.
  - apply round_allowed, R.
  - exact (in_round k).
  - intros q i. rewrite <- Nat.add_assoc. apply after_run. lia.
Qed.
Lemma rests_then n : K <= n -> resting (sta n) /\ guard (sta n) (on_and_on n) = true.
Proof.
  intro h. assert (A : forall k, resting (sta (K + k * 4))).
  { induction k as [|k IH].
    - rewrite Nat.add_0_r, states_of_run by lia.
      rewrite (last_state_at loc_dec nowhere initial P t). exact rests.
    - replace (S k * 4) with (k * 4 + 4) by lia. apply one_round; auto. }
  replace n with (K + ((n - K) / 4 * 4 + (n - K) mod 4)).
  - pose proof (Nat.mod_upper_bound (n - K) 4 ltac:(lia)) as q.
    destruct (one_round _ (A ((n - K) / 4)) (r := (n - K) mod 4)); [lia|auto].
  - pose proof (Nat.div_mod (n - K) 4 ltac:(lia)). lia.
Qed.
Lemma again_and_again p r : In p entries -> r < 4 ->
  infinitely_often (fun n => on_and_on n = nth r (round p) (Exec 0)).
Proof.
  intros i h m. destruct (In_nth _ _ (0, nowhere) i) as (j&hj&E).
  exists (K + ((j + m * length entries) * 4 + r)). split.
  - destruct entries; [destruct i|simpl in *; lia].
  - rewrite after_run by auto. unfold round_of.
    rewrite Nat.mod_add, Nat.mod_small, E by lia. auto.
Qed.
Theorem fair_from_rest : fair_run on_and_on.
Proof.
  split.
  - intro n. unfold allowed_at. destruct (le_lt_dec K n) as [h|h]; [apply rests_then, h|].
    rewrite states_of_run, on_run by lia.
    exact (proj2 (is_enabled loc_dec nowhere initial P t run) run_allowed n h).
  - intros l p O. destruct (O K) as (n&h&g). destruct (rests_then h) as [R _].
    pose proof (only_refreshes _ R p g) as r.
    assert (zero : forall x, In (0, x) entries) by (intro x; apply in_prod; simpl; auto).
    destruct l as [u|w x|w x|w x|x|x|x|w x|w u|x|u]; try (exfalso; exact r).
    + apply (@again_and_again (w, x) 1); auto. apply in_prod; auto.
    + apply (@again_and_again (w, x) 2); auto. apply in_prod; auto.
    + apply (@again_and_again (0, x) 0); auto.
    + apply (@again_and_again (0, x) 3); auto.
Qed.
End Rest.

(** ** 2. Of an orderly table each run goes on as a fair one *)
Section Orderly_tables.
Context {here : Setting}.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation guard := (guard loc_dec groups (wg_of P) unset).
Notation effect := (effect loc_dec (wg_of P) unset).
Implicit Types s : state Val Loc.

Lemma L1s_drain s gs : (forall y, lock s y = None) ->
  exists s', becomes s s' /\ forall w, In w gs -> fifo (L1 s' w) = [].
Proof.
  intro free. induction gs as [|v gs (s1&B1&D1)]; [exists s; split; [apply stays|intros w []]|].
  destruct (@is_drained here v _ s1 eq_refl) as (s2&B2&D2).
  { intro y. rewrite (q_lock (becomes_quiet B1)), free. auto. }
  exists s2. split; [exact (becomes_trans B1 B2)|]. intros w [<-|i]; auto.
  destruct (q_fifo (becomes_quiet B2) w) as [p E]. rewrite (D1 w i) in E.
  symmetry in E. apply app_eq_nil in E as [_ E]. exact E.
Qed.
Lemma L2_drains l : forall s, fifo (L2 s) = l -> (forall u, ~ In (Marker u) l) ->
  (forall x, DIRTY (L2 s) x = false) ->
  exists s', becomes s s' /\ fifo (L2 s') = [] /\ L1 s' = L1 s /\
    forall x, DIRTY (L2 s') x = false.
Proof.
  induction l as [|[y|u] l IH]; intros s F M C; [exists s; split; [apply stays|auto]| |].
  - destruct (IH (effect s (DEQLOC_L2 y))) as (s'&B&D); simpl; auto.
    + rewrite F. auto.
    + intros u i. apply (M u). simpl. auto.
    + exists s'. split; auto. refine (goes_by _ _ _ _ B); simpl; auto.
      unfold oldest, clean. rewrite F, C. simpl. destruct (loc_dec y y); [auto|congruence].
  - destruct (M u). simpl. auto.
Qed.
Lemma comes_to_rest s : inv s -> finished unset s ->
  exists s', becomes s s' /\ resting P all_ended s'.
Proof.
  intros I (E&_&_). pose proof (nobody_holds I E) as free.
  destruct (L1s_drain s groups free) as (s1&B1&D1). pose proof (becomes_quiet B1) as Q1.
  destruct (@settles here s1) as (s2&B2&E2&C2&C2').
  { exact (becomes_inv B1 I). }
  { intro u. rewrite (q_threads Q1). apply E. }
  assert (B := becomes_trans B1 B2).
  destruct (L2_drains s2 eq_refl (L2_unmarked (becomes_inv B I)) C2') as (s3&B3&D3&same&C3).
  exists s3. split; [exact (becomes_trans B B3)|]. split; auto.
  - intro u. rewrite (q_threads (becomes_quiet B3)). apply E2.
  - intros w x. rewrite same. apply C2.
  - intros w i. rewrite same. destruct (q_fifo (becomes_quiet B2) w) as [p F].
    rewrite (D1 w i) in F. symmetry in F. apply app_eq_nil in F as [_ F]. exact F.
  - intro x. rewrite (q_lock (becomes_quiet (becomes_trans B B3))). apply free.
Qed.
Theorem goes_on_fairly run :
  enabled loc_dec nowhere initial P (first nowhere initial P tbl) run = true ->
  exists steps, fair_run loc_dec nowhere initial P tbl steps /\
    forall n, n < length run -> steps n = nth_step run n.
Proof.
  intro A. pose proof (enabled_inv _ inv_first A) as I.
  destruct (from_everywhere I) as (more&A2&F).
  destruct (comes_to_rest (enabled_inv _ I A2) F) as (s&B&R).
  destruct (becomes_run B) as (rest&A3&E). subst s. rewrite <- !last_app in R.
  assert (A' : enabled loc_dec nowhere initial P (first nowhere initial P tbl)
    (run ++ more ++ rest) = true).
  { rewrite !enabled_app, A, A2, A3. auto. }
  exists (on_and_on locations nowhere P (run ++ more ++ rest)). split.
  - apply fair_from_rest with (stopped := all_ended); auto.
    + exact all_locations.
    + intros s u e. simpl. rewrite e. auto.
    + intros s l e h _ u. rewrite (q_threads (is_quiet s l h)). apply e.
  - intros n h. rewrite on_run by (rewrite !app_length; lia). unfold nth_step.
    apply app_nth1, h.
Qed.
End Orderly_tables.

(** ** 3. A deadlock in which caches have done all that they can goes on, and does not end *)
Section Deadlocks.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable locations : list Loc.
Hypothesis all_locations : forall x, In x locations.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Variable t : table.
Hypothesis rows : has_rows P t.
Notation first := (first nowhere initial P t).
Notation last_state := (last_state loc_dec nowhere initial P).
Definition waiting s :=
  no_others nowhere initial P t s /\ deadlocked nowhere initial P s = true.

Theorem waits_for_ever_fairly run : enabled loc_dec nowhere initial P first run = true ->
  resting P waiting (last_state first run) -> ~ ends_fairly t.
Proof.
  intros A R E.
  assert (nobody : forall s u, waiting s ->
    guard loc_dec (wgs P) (wg_of P) (initial nowhere) s (Exec u) = false).
  { intros s u [O D]. exact (nobody_executes loc_dec u O D). }
  assert (still : forall s l, waiting s -> of_caches l ->
    guard loc_dec (wgs P) (wg_of P) (initial nowhere) s l = true ->
    waiting (effect loc_dec (wg_of P) (initial nowhere) s l)).
  { intros s l [O D] _ g. exact (deadlock_stays loc_dec l O D g). }
  pose (steps := on_and_on locations nowhere P run).
  assert (F : fair_run loc_dec nowhere initial P t steps).
  { apply fair_from_rest with (stopped := waiting); auto. }
  assert (W : forall n, length run <= n ->
    resting P waiting (state_after loc_dec nowhere initial P t steps n)).
  { intros n h. eapply rests_then; eauto. }
  destruct (E _ _ _ _ _ _ _ _ all_locations rows F) as [m e].
  destruct (threads_stopped (W (length run + m) ltac:(lia))) as [O D].
  exact (no_end loc_dec [] O D eq_refl (e (length run + m) ltac:(lia))).
Qed.
End Deadlocks.

Theorem every_run_goes_on_fairly (t : table) : orderly t = true ->
  forall (Val Loc : Type) (loc_dec : forall x y : Loc, {x = y} + {x <> y}) (locations : list Loc)
    (nowhere : Loc) (initial : Loc -> Val) (P : program Val Loc) (run : list (step Loc)),
  (forall x, In x locations) -> can_run loc_dec nowhere initial P t run ->
  exists steps, fair_run loc_dec nowhere initial P t steps /\
    forall n, n < length run -> steps n = nth_step run n.
Proof.
  intros O Val Loc loc_dec locations nowhere initial P run all A.
  destruct (innermost t O) as [inner K].
  pose (here := @Build_Setting Val Loc loc_dec locations all nowhere initial P t inner K).
  apply (@goes_on_fairly here). apply (is_enabled loc_dec nowhere initial P t). exact A.
Qed.
