(** * Locks exclude, while nobody frees what he does not hold *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Check Thm1 Runs Positions Events Threads.
Import ListNotations.
Set Implicit Arguments.
Section Locks_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation guard := (guard loc_dec (wgs P) wgof unset).

(** ** F7: locks. `h` of what a thread has done of its operation (newest first): it holds the lock
   *)
Fixpoint hrmw (p : list (instr Val Loc)) := match p with LK_rmw :: _ => true | UL_rmw :: _ =>
  false | _ :: p => hrmw p | [] => false end.
Fixpoint hlock x (p : list (instr Val Loc)) := match p with LK_L2 y :: p => eqx y x ||
  hlock x p | UL_L2 y :: p => negb (eqx y x) && hlock x p | _ :: p => hlock x p | [] => false end.
Definition brk_rmw (c : list (instr Val Loc)) := forall p l, c = rev p ++ UL_rmw :: l ->
  hrmw p = true.
Definition brk_lock (c : list (instr Val Loc)) := forall x p l, c = rev p ++ UL_L2 x :: l ->
  hlock x p = true.
Lemma brk_at t n b i : act n = Some (t, b, i) -> exists c p l, (is_code c /\ c = rev p ++ i :: l) /\
  past (thr (S n) t) = i :: p /\ (b = false -> p = past (thr n t)) /\ (b = true -> p = []).
Proof.
  intro A. destruct (thr_go n A) as (th&v&F&G). destruct (thr_inv t (S n)) as [_ C]. rewrite G in C.
  unfold code_now in C. simpl in C. rewrite G. simpl. destruct b; [apply next_t in F as
    (f1&f2&_)|apply next_f in F as (f1&f2&_)]; rewrite f2 in *; simpl in C;
    (destruct C as [C|C]; [try (symmetry in C; apply app_cons_not_nil in C); try discriminate;
    try tauto|]).
  - exists (i :: left_ th), [], (left_ th). repeat split; auto; discriminate.
  - exfalso. apply app_eq_nil in C as [C _]. apply app_eq_nil in C as [_ C]. discriminate.
  - rewrite <- app_assoc in C.
    exists (rev (past (thr n t)) ++ [i] ++ left_ th), (past (thr n t)), (left_ th).
    repeat split; auto; discriminate.
Qed.
Lemma past_stay t u n b i : act n = Some (u, b, i) -> t <> u -> thr (S n) t = thr n t.
Proof.
  intros a ne. apply thr_stay. unfold acts. rewrite a. unfold eqn.
  destruct (Nat.eq_dec u t); congruence.
Qed.
Lemma ready_ne (l : option nat) t u : l = Some u -> ready l t = true -> u = t.
Proof. intros ->. simpl. destruct (Nat.eq_dec u t); congruence. Qed.
(* Who holds the rmw locks by his code holds them in the state. *)
Lemma holds_rmw t n : (forall c, is_code c -> brk_rmw c) -> n <= N ->
  hrmw (past (thr n t)) = true -> forall w, rmw_lock (sta n) w = Some t.
Proof.
  intro BR. revert t. induction n; intros t h q w; [rewrite thr_0 in q; discriminate|].
  rewrite rmw_step. destruct (act n) as [[[u b] i]|] eqn:A.
  2: { rewrite thr_stay in q; [apply IHn; auto; lia|]. unfold acts. rewrite A. auto. }
  pose proof (@act_guard _ n u b i h A) as g. unfold instr_guard in g.
  apply andb_prop in g as [_ g]. destruct (brk_at n A) as (c&p&l&[c1 c2]&c3&c4&c5).
  destruct (Nat.eq_dec t u) as [->|ne].
  - rewrite c3 in q. destruct b; [rewrite (c5 eq_refl) in *|rewrite (c4 eq_refl) in *]; destruct i;
      simpl in q; try discriminate; auto; try (apply IHn; auto; lia).
  - rewrite (past_stay n A ne) in q. pose proof (IHn t ltac:(lia) q) as H. destruct i; auto.
    + rewrite forallb_forall in g. specialize (g 0 (or_introl eq_refl)).
      apply (ready_ne _ (H 0)) in g. congruence.
    + specialize (BR c c1 p l c2). destruct b; [rewrite (c5 eq_refl) in BR; discriminate|].
      rewrite (c4 eq_refl) in BR. assert (hn : n <= N) by lia. pose proof (IHn u hn BR w) as H'.
      rewrite H in H'. congruence.
Qed.
(* So with the lock of a location. *)
Lemma holds_lock t n x : (forall c, is_code c -> brk_lock c) -> n <= N ->
  hlock x (past (thr n t)) = true -> lock (sta n) x = Some t.
Proof.
  intro BR. revert t x. induction n; intros t x h q; [rewrite thr_0 in q; discriminate|].
  rewrite lock_step. destruct (act n) as [[[u b] i]|] eqn:A.
  2: { rewrite thr_stay in q; [apply IHn; auto; lia|]. unfold acts. rewrite A. auto. }
  pose proof (@act_guard _ n u b i h A) as g. unfold instr_guard in g.
  apply andb_prop in g as [_ g]. destruct (brk_at n A) as (c&p&l&[c1 c2]&c3&c4&c5).
  destruct (Nat.eq_dec t u) as [->|ne].
  - rewrite c3 in q. destruct b; [rewrite (c5 eq_refl) in *|rewrite (c4 eq_refl) in *]; destruct i;
      simpl in q; try discriminate; auto; try (apply IHn; auto; lia).
    + rewrite orb_false_r in q. rewrite q. auto.
    + rewrite andb_false_r in q. discriminate.
    + destruct (eqx x0 x); auto; simpl in q; try (apply IHn; auto; lia).
    + destruct (eqx x0 x); simpl in q; [discriminate|]; apply IHn; auto; lia.
  - rewrite (past_stay n A ne) in q. pose proof (IHn t x ltac:(lia) q) as H. destruct i; auto.
    + destruct (eqx x0 x) eqn:X; auto. apply eqx_t in X. subst. apply (ready_ne _ H) in g.
      congruence.
    + destruct (eqx x0 x) eqn:X; auto. apply eqx_t in X. subst x0. specialize (BR c c1 x p l c2).
      destruct b; [rewrite (c5 eq_refl) in BR; discriminate|]. rewrite (c4 eq_refl) in BR.
      assert (hn : n <= N) by lia. pose proof (IHn u x hn BR) as H'. rewrite H in H'. congruence.
Qed.
(* Locks exclude: RMWs and LK_rmw of others wait, ... *)
Theorem rmw_excl n t b i u : (forall c, is_code c -> brk_rmw c) -> n < N ->
  act n = Some (t, b, i) -> match i with RMW_L1 _ _ | RMW_L2 _ _ | LK_rmw => True | _ =>
  False end ->
  hrmw (past (thr n u)) = true -> u = t.
Proof.
  intros BR h a k q. pose proof (@holds_rmw u n BR ltac:(lia) q) as H.
  pose proof (act_guard h a) as g. unfold instr_guard in g. apply andb_prop in g as [_ g].
  destruct i; try tauto; repeat (apply andb_prop in g as [g ?]); try (eapply ready_ne; eauto; fail).
Qed.
(* ... RMW_L2 and LK_L2 of others, ... *)
Theorem lock_excl n t b i u x : (forall c, is_code c -> brk_lock c) -> n < N ->
  act n = Some (t, b, i) -> match i with RMW_L2 y _ | LK_L2 y => y = x | _ => False end ->
  hlock x (past (thr n u)) = true -> u = t.
Proof.
  intros BR h a k q. pose proof (@holds_lock u n x BR ltac:(lia) q) as H.
  pose proof (act_guard h a) as g. unfold instr_guard in g. apply andb_prop in g as [_ g].
  destruct i; try tauto; subst; repeat (apply andb_prop in g as [g ?]); eapply ready_ne; eauto.
Qed.
(* ... and flushes and fetches of other L1s. *)
Theorem lock_env n w u x : (forall c, is_code c -> brk_lock c) -> n < N -> lab n = FLUSH_L1 w x \/
  lab n = FETCH_L1 w x -> hlock x (past (thr n u)) = true -> wgof u = w.
Proof.
  intros BR h a q. pose proof (@holds_lock u n x BR ltac:(lia) q) as H. pose proof (ok h) as g.
  destruct a as [a|a]; rewrite a in g; simpl in g; apply andb_prop in g as [_ g]; rewrite H in g;
    simpl in g; destruct (Nat.eq_dec (wgof u) w); congruence.
Qed.
(* in between: after the LK, with no UL and no new operation since, the thread holds the lock *)
Lemma held_rmw t a b n : act a = Some (t, b, LK_rmw) -> a < n ->
  (forall k, a < k < n -> starts t k = false /\ act k <> Some (t, false, UL_rmw)) ->
  hrmw (past (thr n t)) = true.
Proof.
  intros A. induction n; intros h q; [lia|]. destruct (Nat.eq_dec a n) as [->|ne].
  - destruct (brk_at n A) as (c&p&l&_&c3&_). rewrite c3. auto.
  - assert (H : hrmw (past (thr n t)) = true) by (apply IHn; [lia|intros; apply q; lia]).
    destruct (acts t n) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&i&E).
    destruct (brk_at n E) as (c&p&l&_&c3&c4&_). rewrite c3. destruct (q n) as [q1 q2]; [lia|].
    destruct z. { assert (starts t n = true) by (apply starts_inv; eauto). congruence. }
    rewrite (c4 eq_refl). destruct i; auto; try congruence.
Qed.
Lemma held_lock t a b x n : act a = Some (t, b, LK_L2 x) -> a < n ->
  (forall k, a < k < n -> starts t k = false /\ act k <> Some (t, false, UL_L2 x)) ->
  hlock x (past (thr n t)) = true.
Proof.
  intros A. induction n; intros h q; [lia|]. destruct (Nat.eq_dec a n) as [->|ne].
  - destruct (brk_at n A) as (c&p&l&_&c3&_). rewrite c3. simpl. unfold eqx.
    destruct (loc_dec x x); [auto|congruence].
  - assert (H : hlock x (past (thr n t)) = true) by (apply IHn; [lia|intros; apply q; lia]).
    destruct (acts t n) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&i&E).
    destruct (brk_at n E) as (c&p&l&_&c3&c4&_). rewrite c3. destruct (q n) as [q1 q2]; [lia|].
    destruct z. { assert (starts t n = true) by (apply starts_inv; eauto). congruence. }
    rewrite (c4 eq_refl). destruct i; simpl; auto; try (rewrite H, orb_true_r; auto; fail).
    rewrite H, andb_true_r. destruct (eqx x0 x) eqn:X; auto. apply eqx_t in X. subst. congruence.
Qed.

(* as intervals of the run, from a lock's taking at a to z: whoever else takes it, or waits for it,
   is outside *)
Definition keeps t ul a z := forall k, a < k < z -> starts t k = false /\
  act k <> Some (t, false, ul).
Lemma rmw_out t u a b z n b' i : (forall c, is_code c -> brk_rmw c) ->
  act a = Some (t, b, LK_rmw) -> keeps t UL_rmw a z -> t <> u -> n < N -> act n = Some (u, b', i) ->
  match i with RMW_L1 _ _ | RMW_L2 _ _ | LK_rmw => True | _ => False end -> ~ a < n <= z.
Proof.
  intros B A K ne h An Hi q. apply ne. eapply rmw_excl; eauto. eapply held_rmw; eauto; [lia|].
  intros k hk. apply K. lia.
Qed.
Lemma lock_out t u a b z n b' i x : (forall c, is_code c -> brk_lock c) ->
  act a = Some (t, b, LK_L2 x) -> keeps t (UL_L2 x) a z -> t <> u -> n < N ->
  act n = Some (u, b', i) ->
  match i with RMW_L2 y _ | LK_L2 y => y = x | _ => False end -> ~ a < n <= z.
Proof.
  intros B A K ne h An Hi q. apply ne. eapply lock_excl; eauto. eapply held_lock; eauto; [lia|].
  intros k hk. apply K. lia.
Qed.
Lemma lock_env_out t a b z n w x : (forall c, is_code c -> brk_lock c) ->
  act a = Some (t, b, LK_L2 x) -> keeps t (UL_L2 x) a z -> wgof t <> w -> n < N ->
  lab n = FLUSH_L1 w x \/ lab n = FETCH_L1 w x -> ~ a < n <= z.
Proof.
  intros B A K ne h An q. apply ne. eapply lock_env; eauto. eapply held_lock; eauto; [lia|].
  intros k hk. apply K. lia.
Qed.

End Locks_.
