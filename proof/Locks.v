(** * Locks exclude, while nobody frees what he does not hold *)
Require Import Classical List Arith Lia Bool.
Require Import Obligations Thm1 Runs Positions Events Threads.
Import ListNotations.
Set Implicit Arguments.
Section Locks_.
Context {RUN : Run}.
Notation N := (length run).
Notation instr := (instr Val Loc).

(** A lock is that of a location, or [None]: the rmw locks, which are taken and freed together. *)
Implicit Types (l : option Loc) (i : instr) (p : list instr).
Definition takes l i := match l, i with
  | None, LK_rmw => true
  | Some x, LK_L2 y => eqx y x
  | _, _ => false
  end.
Definition frees l i := match l, i with
  | None, UL_rmw => true
  | Some x, UL_L2 y => eqx y x
  | _, _ => false
  end.
Definition waits l i := match l, i with
  | None, (RMW_L1 _ _ | RMW_L2 _ _ | LK_rmw) => true
  | Some x, (RMW_L2 y _ | LK_L2 y) => eqx y x
  | _, _ => false
  end.
(** By what a thread has executed of its operation, the newest first, it holds the lock. *)
Fixpoint holds l p := match p with
  | [] => false
  | i :: p => takes l i || negb (frees l i) && holds l p
  end.
Definition owner l n t := match l with
  | None => forall w, rmw_lock (sta n) w = Some t
  | Some x => lock (sta n) x = Some t
  end.
(** The code [c] frees the lock only where it holds it. *)
Definition frees_own l (c : list instr) := forall p i r, c = rev p ++ i :: r ->
  frees l i = true -> holds l p = true.

Lemma owner_one l n t u : owner l n t -> owner l n u -> t = u.
Proof. destruct l; simpl; [|intros a b; specialize (a 0); specialize (b 0)]; congruence. Qed.
Lemma takes_waits l i : takes l i = true -> waits l i = true.
Proof. destruct l, i; simpl; auto; discriminate. Qed.
Lemma owner_taken l n t b i : act n = Some (t, b, i) -> takes l i = true -> owner l (S n) t.
Proof.
  intros a h. destruct l as [x|], i; try discriminate; simpl in *.
  - rewrite lock_step, a, h. auto.
  - intro w. rewrite rmw_step, a. auto.
Qed.
Lemma owner_keeps l n t :
  (forall u b i, act n = Some (u, b, i) -> takes l i || frees l i = false) ->
  owner l n t -> owner l (S n) t.
Proof.
  intros h o. destruct l as [x|]; simpl in *; [rewrite lock_step|intro w; rewrite rmw_step];
    destruct (act n) as [[[u b] i]|] eqn:A; auto; specialize (h u b i eq_refl);
    destruct i; auto; simpl in h; try discriminate.
  - rewrite orb_false_r in h. rewrite h. auto.
  - rewrite h. auto.
Qed.
Lemma waits_owner l n t b i u : n < N -> act n = Some (t, b, i) -> waits l i = true ->
  owner l n u -> u = t.
Proof.
  assert (R : forall o t u, o = Some u -> ready o t = true -> u = t).
  { intros o v w ->. simpl. destruct (Nat.eq_dec w v); congruence. }
  intros h a w o. pose proof (act_guard h a) as g. unfold instr_guard in g.
  apply andb_prop in g as [_ g]. destruct l as [x|]; simpl in o.
  - destruct i; try discriminate; simpl in w; apply eqx_t in w; subst;
      repeat (apply andb_prop in g as [g ?]); eauto.
  - destruct i; try discriminate; repeat (apply andb_prop in g as [g ?]); eauto.
Qed.

(** What a step adds to what its thread has executed. *)
Lemma past_step t n b i : act n = Some (t, b, i) ->
  past (thr (S n) t) = i :: (if b then [] else past (thr n t)) /\
  exists c r, is_code c /\ c = rev (if b then [] else past (thr n t)) ++ i :: r.
Proof.
  intro A. destruct (thr_go n A) as (th&v&F&G). destruct (thr_inv t (S n)) as [_ C]. rewrite G in C.
  unfold code_now in C. simpl in C. rewrite G. simpl.
  assert (Q : past th = i :: (if b then [] else past (thr n t))).
  { destruct b; [apply next_t in F|apply next_f in F]; apply F. }
  rewrite Q in *. split; auto. simpl in C. rewrite <- app_assoc in C.
  destruct C as [C|C]; [destruct (app_cons_not_nil _ _ _ (eq_sym C))|].
  eexists. eexists. split; [exact C|reflexivity].
Qed.
Lemma past_stays t u n b i : act n = Some (u, b, i) -> t <> u -> thr (S n) t = thr n t.
Proof.
  intros a ne. apply thr_stay. unfold acts. rewrite a. unfold eqn.
  destruct (Nat.eq_dec u t); congruence.
Qed.
(** Who holds a lock by his code holds it in the state. *)
Lemma holds_owner l t n : (forall c, is_code c -> frees_own l c) -> n <= N ->
  holds l (past (thr n t)) = true -> owner l n t.
Proof.
  intro BR. revert t. induction n as [|n IH]; intros t h q; [rewrite thr_0 in q; discriminate|].
  destruct (act n) as [[[u b] i]|] eqn:A.
  2:{ apply owner_keeps; [congruence|]. apply IH; [lia|]. rewrite thr_stay in q; auto.
    unfold acts. rewrite A. auto. }
  destruct (past_step n A) as (P&c&r&C&D). destruct (Nat.eq_dec t u) as [->|ne].
  - rewrite P in q. simpl in q. destruct (takes l i) eqn:TK; [eapply owner_taken; eauto|].
    simpl in q. apply andb_prop in q as [q1 q2]. apply negb_true_iff in q1.
    apply owner_keeps. { rewrite A. intros ? ? ? [= <- <- <-]. rewrite TK, q1. auto. }
    destruct b; [discriminate|]. apply IH; auto. lia.
  - rewrite (past_stays n A ne) in q. assert (O : owner l n t) by (apply IH; auto; lia).
    destruct (takes l i) eqn:TK.
    { destruct ne. apply takes_waits in TK. eapply waits_owner; eauto. }
    destruct (frees l i) eqn:FR.
    { destruct ne. specialize (BR c C _ _ _ D FR). destruct b; [discriminate|].
      apply (@owner_one l n); auto. apply IH; auto. lia. }
    apply owner_keeps; auto. rewrite A. intros ? ? ? [= <- <- <-]. rewrite TK, FR. auto.
Qed.

(** As intervals of the run: from the taking of a lock at [a] to [z] its thread begins no operation
    and does not free it, so that nobody else takes it, or does what waits for it. *)
Definition keeps l t a z := forall k, a < k < z -> starts t k = false /\
  forall i, act k = Some (t, false, i) -> frees l i = false.
Lemma held l t a b i n : act a = Some (t, b, i) -> takes l i = true -> a < n -> keeps l t a n ->
  holds l (past (thr n t)) = true.
Proof.
  intros A TK. induction n as [|n IH]; intros h K; [lia|].
  destruct (Nat.eq_dec a n) as [->|ne].
  { rewrite (proj1 (past_step n A)). simpl. rewrite TK. auto. }
  assert (H : holds l (past (thr n t)) = true) by (apply IH; [lia|intros k hk; apply K; lia]).
  destruct (acts t n) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&j&E).
  destruct (K n) as [q1 q2]; [lia|]. destruct z.
  { rewrite (proj2 (starts_inv t n)) in q1; [discriminate|eauto]. }
  rewrite (proj1 (past_step n E)). simpl. rewrite (q2 j E), H. apply orb_true_r.
Qed.
Theorem lock_out l t a b i z n : (forall c, is_code c -> frees_own l c) ->
  act a = Some (t, b, i) -> takes l i = true -> keeps l t a z -> n < N ->
  (exists u b' j, u <> t /\ act n = Some (u, b', j) /\ waits l j = true) \/
  (exists w x, w <> wgof t /\ l = Some x /\ (lab n = FLUSH_L1 w x \/ lab n = FETCH_L1 w x)) ->
  ~ a < n <= z.
Proof.
  intros B A TK K h D q. assert (O : owner l n t).
  { apply holds_owner; auto; [lia|]. eapply held; eauto; [lia|]. intros k hk. apply K. lia. }
  destruct D as [(u&b'&j&ne&An&W)|(w&x&ne&->&D)].
  - apply ne. symmetry. eapply waits_owner; eauto.
  - apply ne. simpl in O. pose proof (ok h) as g.
    destruct D as [D|D]; rewrite D in g; simpl in g; apply andb_prop in g as [_ g]; rewrite O in g;
      simpl in g; destruct (Nat.eq_dec (wgof t) w); congruence.
Qed.
End Locks_.
