(** * Orderly tables are live

    Who is unblocked waits for the environment alone, which does what he waits for ([makes_way]).
    Each instruction leaves less of the threads: that order is well founded, though a tree may
    branch without end.  In the end nobody holds a lock, and everything is flushed ([settles]). *)
Require Import List Arith Bool Lia Wellfounded Thm1 Steps Orderly Holders Waits.
Import ListNotations.
Set Implicit Arguments.

Section Progress.
Context {here : Setting}.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation wg := (wg_of P).
Notation compile := (compile nowhere initial tbl).
Notation effect := (effect loc_dec wg unset).
Notation guard := (guard loc_dec groups wg unset).
Notation first := (first nowhere initial P tbl).
Notation enabled := (enabled loc_dec nowhere initial P).
Notation last_state := (last_state loc_dec nowhere initial P).
Notation state_at := (state_at loc_dec wg unset initial (compiled nowhere initial P tbl)).
Implicit Types (s : state Val Loc) (run : list (step Loc)).

(** ** 1. What the environment can do *)

Inductive becomes s : state Val Loc -> Prop :=
| stays : becomes s s
| goes_by l s' : of_environment l -> guard s l = true -> becomes (effect s l) s' -> becomes s s'.

Lemma becomes_trans s s' s'' : becomes s s' -> becomes s' s'' -> becomes s s''.
Proof. induction 1; auto. intro b. exact (goes_by _ _ H H0 (IHbecomes b)). Qed.
Lemma by_step s l : of_environment l -> guard s l = true -> becomes s (effect s l).
Proof. intros e g. exact (goes_by s l e g (stays _)). Qed.
Lemma becomes_quiet s s' : becomes s s' -> quiet s s'.
Proof.
  induction 1; [apply quiet_refl|]. apply (quiet_trans (is_quiet s l H)). exact IHbecomes.
Qed.
Lemma becomes_inv s s' : becomes s s' -> inv s -> inv s'.
Proof. induction 1; auto. intro I. apply IHbecomes, inv_step; auto. Qed.
Lemma becomes_run s s' : becomes s s' -> exists run, enabled s run = true /\ last_state s run = s'.
Proof.
  induction 1 as [s|s l s' e g _ (run&E&L)]; [exists []; auto|]. exists (l :: run). simpl.
  rewrite g. auto.
Qed.

(** Entries are flushed, fifos drained, entries fetched, as far as locks allow it. *)
Lemma is_flushed s w x : ready_group wg (lock s x) w = true ->
  exists s', becomes s s' /\ DIRTY (L1 s' w) x = false /\ fifo (L1 s' w) = fifo (L1 s w).
Proof.
  intro r. destruct (DIRTY (L1 s w) x) eqn:D; [|exists s; repeat split; auto; apply stays].
  exists (effect s (FLUSH_L1 w x)). split.
  - apply by_step; simpl; auto. rewrite D, r. auto.
  - simpl. destruct (Nat.eq_dec w w); [|congruence]. simpl. unfold set.
    destruct (loc_dec x x); [auto|congruence].
Qed.
Lemma dequeued s w : fifo (L1 (in_L1 s w (@dequeue Val Loc)) w) = tl (fifo (L1 s w)).
Proof. simpl. destruct (Nat.eq_dec w w); [auto|congruence]. Qed.
Lemma is_drained w : forall l s, fifo (L1 s w) = l ->
  (forall y, ready_group wg (lock s y) w = true) -> exists s', becomes s s' /\ fifo (L1 s' w) = [].
Proof.
  induction l as [|[y|v] l IH]; intros s F r.
  - exists s. split; auto. apply stays.
  - destruct (is_flushed s w y (r y)) as (s1&B1&D&F1). pose proof (becomes_quiet B1) as Q.
    destruct (IH (effect s1 (DEQLOC_L1 w y))) as (s2&B2&F2).
    + simpl effect. rewrite dequeued, F1, F. auto.
    + intro z. simpl. rewrite (q_lock Q). auto.
    + exists s2. split; auto. apply (becomes_trans B1). refine (goes_by _ _ _ _ B2); simpl; auto.
      unfold oldest, clean. rewrite F1, F, D. simpl. destruct (loc_dec y y); [auto|congruence].
  - destruct (IH (effect s (DEQMARKER_L1 w v))) as (s2&B2&F2).
    + simpl effect. rewrite dequeued, F. auto.
    + auto.
    + exists s2. split; auto. refine (goes_by _ _ _ _ B2); simpl; auto.
      unfold oldest. rewrite F. simpl. destruct (Nat.eq_dec v v); [auto|congruence].
Qed.
Lemma L2_is_valid s x : inv s -> exists s', becomes s s' /\ VALID (L2 s') x = true.
Proof.
  intro I. destruct (DIRTY (L2 s) x) eqn:D.
  - exists s. split; [apply stays|]. exact (dirty_is_valid I x D).
  - exists (effect s (FETCH_L2 x)). split.
    + apply by_step; simpl; auto. unfold clean. rewrite D. auto.
    + simpl. unfold set. destruct (loc_dec x x); congruence.
Qed.
Lemma L1_is_valid s w x : inv s -> ready_group wg (lock s x) w = true ->
  exists s', becomes s s' /\ VALID (L1 s' w) x = true.
Proof.
  intros I r. destruct (is_flushed s w x r) as (s1&B1&D&_).
  destruct (@L2_is_valid s1 x (becomes_inv B1 I)) as (s2&B2&V).
  assert (B := becomes_trans B1 B2). exists (effect s2 (FETCH_L1 w x)). split.
  - apply (becomes_trans B), by_step; simpl; auto. unfold clean.
    rewrite V, (q_lock (becomes_quiet B)).
    destruct (DIRTY (L1 s2 w) x) eqn:D2; auto. apply (q_dirty (becomes_quiet B2)) in D2. congruence.
  - simpl. destruct (Nat.eq_dec w w); [|congruence]. simpl. unfold set.
    destruct (loc_dec x x); congruence.
Qed.

(** The markers of a thread leave the L1s of some work-groups. *)
Definition gone s u gs := forall w, In w gs -> ~ In (Marker u) (fifo (L1 s w)).
Lemma gone_lasts s s' u gs : becomes s s' -> gone s u gs -> gone s' u gs.
Proof. intros B g w iw m. apply (g w iw). exact (marker_stays _ _ (becomes_quiet B) m). Qed.
Lemma element_dec (a b : element Loc) : {a = b} + {a <> b}.
Proof. decide equality; [apply loc_dec|apply Nat.eq_dec]. Qed.
Lemma markers_leave_all s u gs : (forall w y, In w gs -> In (Marker u) (fifo (L1 s w)) ->
    ready_group wg (lock s y) w = true) -> exists s', becomes s s' /\ gone s' u gs.
Proof.
  induction gs as [|w gs IH]; intro r; [exists s; split; [apply stays|intros w []]|].
  destruct IH as (s1&B1&G1). { intros v y iv. apply r. right. auto. }
  destruct (in_dec element_dec (Marker u) (fifo (L1 s1 w))) as [m|m].
  - apply (marker_stays _ _ (becomes_quiet B1)) in m.
    destruct (@is_drained w _ s1 eq_refl) as (s2&B2&F2).
    { intro y. rewrite (q_lock (becomes_quiet B1)). apply r; simpl; auto. }
    exists s2. split; [exact (becomes_trans B1 B2)|]. intros v [<-|iv].
    + rewrite F2. intros [].
    + exact (gone_lasts B2 G1 v iv).
  - exists s1. split; auto. intros v [<-|iv]; auto.
Qed.
Lemma is_unmarked s u : inv s -> gone s u groups -> unmarked groups s u = true.
Proof.
  intros I g. apply andb_true_intro. unfold no_marker. split; rewrite forallb_forall.
  - intros w iw. rewrite forallb_forall. intros [y|v] m; auto. destruct (Nat.eq_dec v u); auto.
    subst. destruct (g w iw m).
  - intros [y|v] m; auto. destruct (Nat.eq_dec v u); auto. subst. destruct (L2_unmarked I u m).
Qed.

(** What an unblocked thread waits for. *)
Lemma ready_here (l : option nat) u : ready l u = true -> ready_group wg l (wg u) = true.
Proof.
  destruct l as [v|]; simpl; auto. destruct (Nat.eq_dec v u); [subst|discriminate].
  intros _. destruct (Nat.eq_dec (wg u) (wg u)); congruence.
Qed.
Lemma makes_way s u j th : inv s -> next unset (threads s u) = Some (j, th) -> unblocked s u j ->
  exists s', becomes s s' /\ guard s' (Exec u) = true.
Proof.
  intros I N U. destruct (@markers_leave_all s u groups (markers_leave U)) as (s1&B1&G1).
  pose proof (becomes_inv B1 I) as I1. pose proof (becomes_quiet B1) as Q1.
  assert (R : forall w, needs_rmw j = true -> ready (rmw_lock s w) u = true).
  { intros w q. rewrite (same_rmw I). apply (rmw_ready U q). }
  enough (E : exists s2, becomes s1 s2 /\ match j with
    | LD x | RMW_L1 x _ => VALID (L1 s2 (wg u)) x = true
    | RMW_L2 x _ => DIRTY (L1 s2 (wg u)) x = false /\ VALID (L2 s2) x = true
    | _ => True
    end).
  { destruct E as (s2&B2&V). assert (B := becomes_trans B1 B2). pose proof (becomes_quiet B) as Q.
    exists s2. split; auto. simpl. rewrite (q_threads Q), N. unfold instr_guard.
    rewrite (is_unmarked (becomes_inv B I) (gone_lasts B2 G1)). simpl.
    rewrite (q_rmw Q), (q_lock Q). pose proof (lock_ready U) as L.
    destruct j; auto; simpl in R, L; unfold clean; rewrite ?R, ?L; auto.
    - destruct V as [V1 V2]. rewrite V1, V2. auto.
    - apply forallb_forall. auto. }
  assert (here_ready : forall x, needs_lock j = Some x -> ready_group wg (lock s1 x) (wg u) = true).
  { intros x q. rewrite (q_lock Q1). exact (ready_here _ _ (lock_ready U q)). }
  destruct j; try (exists s1; split; [apply stays|exact Logic.I]).
  - apply L1_is_valid; auto.
  - apply L1_is_valid; auto.
  - destruct (is_flushed s1 (wg u) x) as (s2&B2&D&_); auto.
    destruct (@L2_is_valid s2 x (becomes_inv B2 I1)) as (s3&B3&V). exists s3.
    split; [exact (becomes_trans B2 B3)|]. split; auto.
    destruct (DIRTY (L1 s3 (wg u)) x) eqn:E; auto. apply (q_dirty (becomes_quiet B3)) in E.
    congruence.
Qed.

(** ** 2. Threads are finite *)

(** What is left of a thread after one instruction. *)
Definition goes (th' th : running Val Loc) := exists j th0,
  next unset th = Some (j, th0) /\ rest th' = rest th0 /\ after th' = after th0.
Lemma code_ends (k : Val -> codes Val Loc) :
  (forall v, Acc goes (Running [] v k)) -> forall l v, Acc goes (Running l v k).
Proof.
  intros K l. induction l as [|j l IH]; auto. intro v. constructor.
  intros [l' v' k'] (i&th0&N&R&A). injection N as <- <-. simpl in R, A. subst. auto.
Qed.
Lemma codes_end (c : codes Val Loc) : forall v k, k v = c -> Acc goes (Running [] v k).
Proof.
  induction c as [|l k0 IH]; intros v k E; constructor; intros [l' v' k'] (i&th0&N&R&A);
    unfold next in N; simpl in N; rewrite E in N; [discriminate|].
  destruct l as [|j l]; [discriminate|]. injection N as <- <-. simpl in R, A. subst.
  apply code_ends. intro u. exact (IH u u k0 eq_refl).
Qed.
Lemma thread_ends : well_founded goes.
Proof. intros [l v k]. apply code_ends. intro u. exact (codes_end u k eq_refl). Qed.

(** One of the first [n] threads executes an instruction, and the others stay. *)
Definition fewer n (g f : nat -> running Val Loc) :=
  exists u, u < n /\ goes (g u) (f u) /\ forall v, v <> u -> g v = f v.
Lemma threads_end n : well_founded (fewer n).
Proof.
  induction n as [|n IHn]; intro f; [constructor; intros g (u&h&_); lia|].
  remember (f n) as th eqn:E. revert f E.
  induction th as [th IHth] using (well_founded_induction thread_ends). intro f.
  induction f as [f IHf] using (well_founded_induction IHn). intro E. constructor.
  intros g (u&h&G&same). destruct (Nat.eq_dec u n) as [->|ne].
  - apply (IHth (g n)); auto. subst. auto.
  - apply IHf; [exists u; repeat split; auto; lia|]. rewrite same; auto.
Qed.
Lemma exec_fewer s u : inv s -> guard s (Exec u) = true ->
  fewer (length P) (threads (effect s (Exec u))) (threads s).
Proof.
  intros I g. simpl in g. destruct (next unset (threads s u)) as [[j th]|] eqn:N; [|discriminate].
  exists u. rewrite (exec_is _ _ N). split.
  - destruct (le_lt_dec (length P) u) as [k|k]; auto. rewrite (others_have_ended I k) in N.
    discriminate.
  - split; [exists j, th|intros v ne]; rewrite thread_done.
    + destruct (Nat.eq_dec u u); [|congruence].
      destruct (snd (instr_effect loc_dec wg s u j)); auto.
    + destruct (Nat.eq_dec v u); [congruence|auto].
Qed.

(** ** 3. The end *)

Definition all_ended s := forall u, next unset (threads s u) = None.
Lemma nobody_holds s : inv s -> all_ended s -> forall y, lock s y = None.
Proof.
  intros I E y. destruct (lock s y) as [u|] eqn:L; auto. exfalso.
  destruct (@holder_goes_on _ s u I) as (o&h&i&c&th&N&_); eauto. rewrite E in N. discriminate.
Qed.
Lemma L1s_flushed s (l : list (nat * Loc)) : (forall y, lock s y = None) ->
  exists s', becomes s s' /\ forall w x, In (w, x) l -> DIRTY (L1 s' w) x = false.
Proof.
  intro free. induction l as [|[w x] l IH]; [exists s; split; [apply stays|intros w x []]|].
  destruct IH as (s1&B1&C1). destruct (is_flushed s1 w x) as (s2&B2&D&_).
  { rewrite (q_lock (becomes_quiet B1)), free. auto. }
  exists s2. split; [exact (becomes_trans B1 B2)|]. intros v y [[= <- <-]|i]; auto.
  specialize (C1 v y i). destruct (DIRTY (L1 s2 v) y) eqn:E; auto.
  apply (q_dirty (becomes_quiet B2)) in E. congruence.
Qed.
Lemma L2_flushed s (l : list Loc) :
  exists s', becomes s s' /\ forall x, In x l -> DIRTY (L2 s') x = false.
Proof.
  induction l as [|x l (s1&B1&C1)]; [exists s; split; [apply stays|intros x []]|].
  destruct (DIRTY (L2 s1) x) eqn:D.
  - exists (effect s1 (FLUSH_L2 x)). split.
    + apply (becomes_trans B1), by_step; simpl; auto. rewrite D. auto.
    + intros y i. simpl. unfold set. destruct (loc_dec y x); auto. destruct i; [congruence|auto].
  - exists s1. split; auto. intros y [<-|i]; auto.
Qed.
Lemma settles s : inv s -> all_ended s -> exists s', becomes s s' /\ finished unset s'.
Proof.
  intros I E. destruct (L1s_flushed s (list_prod groups locations)) as (s1&B1&C1).
  { exact (nobody_holds I E). }
  destruct (L2_flushed s1 locations) as (s2&B2&C2). assert (B := becomes_trans B1 B2).
  exists s2. split; auto. repeat split.
  - intro u. rewrite (q_threads (becomes_quiet B)). auto.
  - intros w x. destruct (in_dec Nat.eq_dec w groups) as [iw|iw].
    + destruct (DIRTY (L1 s2 w) x) eqn:D; auto. apply (q_dirty (becomes_quiet B2)) in D.
      rewrite C1 in D; [discriminate|]. apply in_prod; auto. apply all_locations.
    + exact (no_other_L1 (becomes_inv B I) x iw).
  - intro x. apply C2, all_locations.
Qed.

(** ** 4. From every state to the end *)

Definition can_finish s := exists run, enabled s run = true /\ finished unset (last_state s run).
Lemma can_go_on s s' : becomes s s' -> can_finish s' -> can_finish s.
Proof.
  intros B (run&E&F). destruct (becomes_run B) as (r&E'&L). exists (r ++ run).
  rewrite enabled_app, last_app, E', L. auto.
Qed.
Lemma ended_or_not s : inv s -> all_ended s \/ exists u, next unset (threads s u) <> None.
Proof.
  intro I. set (has u := match next unset (threads s u) with Some _ => true | None => false end).
  destruct (existsb has (seq 0 (length P))) eqn:E.
  - right. apply existsb_exists in E as (u&_&e). exists u. unfold has in e.
    destruct (next unset (threads s u)); congruence.
  - left. intro u. destruct (next unset (threads s u)) as [[j th]|] eqn:N; auto. exfalso.
    enough (existsb has (seq 0 (length P)) = true) by congruence. apply existsb_exists.
    exists u. unfold has. rewrite N. split; auto. apply in_seq. split; [lia|].
    destruct (le_lt_dec (length P) u) as [k|k]; auto. rewrite (others_have_ended I k) in N.
    discriminate.
Qed.
Theorem from_everywhere s : inv s -> can_finish s.
Proof.
  remember (threads s) as f eqn:E. revert s E.
  induction f as [f IH] using (well_founded_induction (threads_end (length P))). intros s -> I.
  destruct (ended_or_not I) as [A|A].
  - destruct (settles I A) as (s'&B&F). apply (can_go_on B). exists []. auto.
  - destruct (somebody_goes_on I A) as (u&j&th&N&U). destruct (makes_way I N U) as (s'&B&g).
    pose proof (becomes_inv B I) as I'. apply (can_go_on B).
    destruct (IH (threads (effect s' (Exec u)))) with (s := effect s' (Exec u)) as (run&R&F); auto.
    + rewrite <- (q_threads (becomes_quiet B)). exact (exec_fewer u I' g).
    + apply inv_step; auto.
    + exists (Exec u :: run). split; auto.
      change (guard s' (Exec u) && enabled (effect s' (Exec u)) run = true). rewrite R, g. auto.
Qed.

Lemma enabled_inv run : forall s, inv s -> enabled s run = true -> inv (last_state s run).
Proof.
  induction run as [|l run IH]; auto. intros s I E. apply andb_prop in E as [g E].
  apply IH; auto. apply inv_step; auto.
Qed.
Theorem every_run_goes_on run :
  (forall n, n < length run -> guard (state_at run n) (nth_step run n) = true) ->
  exists more, run_of loc_dec nowhere initial P tbl (run ++ more).
Proof.
  intro A. apply (is_enabled loc_dec nowhere initial P tbl) in A.
  destruct (from_everywhere (enabled_inv _ inv_first A)) as (more&E&F).
  exists more. split.
  - apply (is_enabled loc_dec nowhere initial P tbl). rewrite enabled_app, A. auto.
  - rewrite (last_state_at loc_dec nowhere initial P tbl), last_app. exact F.
Qed.
End Progress.

(** Either kind of lock may be the innermost one. *)
Lemma innermost t : orderly t = true -> exists inner, orderly_by inner t = true.
Proof. intro O. apply orb_prop in O as [O|O]; eauto. Qed.
Theorem progress : forall t : table, orderly t = true -> live t.
Proof.
  intros t O Val Loc loc_dec locations nowhere initial P run all _ A.
  destruct (innermost t O) as [inner K].
  pose (here := @Build_Setting Val Loc loc_dec locations all nowhere initial P t inner K).
  exact (@every_run_goes_on here run A).
Qed.
