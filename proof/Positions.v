(** * Searching a run, and what a step is by what it does *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Thm1 Runs.
Import ListNotations.
Set Implicit Arguments.
Section Positions_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation guard := (guard loc_dec (wgs P) wgof unset).

(** ** The last change of a cell decides; searching a run *)
(* A bit that was set and is not set was cleared in between. *)
Lemma last_change (c u d : nat -> bool) : (forall n,
  c (S n) = if u n then true else if d n then false else c n) ->
  forall m n, m < n -> u m = true -> c n = false -> exists k, m < k < n /\ d k = true.
Proof.
  intros H m n. induction n; intros a b e; [lia|]. rewrite H in e.
  destruct (u n) eqn:E; [discriminate|]. assert (m <> n) by congruence. destruct (d n) eqn:F.
  { exists n. split; auto. lia. }
  destruct IHn as (k&k1&k2); auto. lia. exists k. split; auto. lia.
Qed.
(* The last position before [n] at which [p] holds. *)
Fixpoint last_pos (p : nat -> bool) n := match n with 0 => None | S k =>
  if p k then Some k else last_pos p k end.
Lemma last_pos_is p n k : k < n -> p k = true -> (forall j, k < j < n -> p j = false) ->
  last_pos p n = Some k.
Proof.
  intros a b. induction n; intro c; [lia|]. simpl.
  destruct (Nat.eq_dec k n) as [->|ne]; [rewrite b; auto|].
  rewrite c; [apply IHn; try lia; intros; apply c|]; lia.
Qed.
Lemma last_pos_some p n k : last_pos p n = Some k -> k < n /\ p k = true /\ forall j, k < j < n ->
  p j = false.
Proof.
  induction n; simpl; [discriminate|]. destruct (p n) eqn:E. intros [= ->]; repeat split; auto; lia.
  intro h. destruct (IHn h) as (a&b&c). repeat split; auto. intros j hj.
  destruct (Nat.eq_dec j n); [congruence|apply c; lia].
Qed.
Lemma last_pos_none p n : last_pos p n = None -> forall k, k < n -> p k = false.
Proof.
  induction n; simpl; [lia|]. destruct (p n) eqn:E; [discriminate|]. intros h k hk.
  destruct (Nat.eq_dec k n); [congruence|apply IHn; auto; lia].
Qed.
Arguments last_pos : simpl never.
Fixpoint nx (p : nat -> bool) n f := match f with 0 => n | S f =>
  if p n then n else nx p (S n) f end.
(* The first position from [n] on at which [p] holds, or the end. *)
Definition next_pos p n := nx p n (N - n).
Lemma nx_spec p f : forall n, n <= nx p n f <= n + f /\
  (forall k, n <= k < nx p n f -> p k = false) /\ (nx p n f < n + f -> p (nx p n f) = true).
Proof.
  induction f; intro n; simpl. repeat split; try lia; intros; lia. destruct (p n) eqn:E.
  repeat split; auto; try lia; intros; lia. destruct (IHf (S n)) as (a&b&c). repeat split; try lia.
  intros k hk. destruct (Nat.eq_dec k n); [congruence|apply b; lia]. intro; apply c; lia.
Qed.
Lemma next_pos_spec p n : n <= N -> n <= next_pos p n <= N /\
  (forall k, n <= k < next_pos p n -> p k = false) /\ (next_pos p n < N -> p (next_pos p n) = true).
Proof.
  intro h. unfold next_pos. destruct (nx_spec p (N - n) n) as (a&b&c). repeat split; auto; try lia.
  intro; apply c; lia.
Qed.
Lemma next_pos_le p n k : n <= k -> k < N -> p k = true -> next_pos p n <= k.
Proof.
  intros a b c. destruct (@next_pos_spec p n) as (d&e&f). lia.
  destruct (Nat.le_gt_cases (next_pos p n) k); auto. rewrite e in c; [discriminate|lia].
Qed.

(** ** The steps, inverted *)
Lemma eqx_t a b : eqx a b = true <-> a = b.
Proof. unfold eqx. destruct (loc_dec a b); split; congruence. Qed.
Lemma eqn_t a b : eqn a b = true <-> a = b.
Proof. unfold eqn. destruct (Nat.eq_dec a b); split; congruence. Qed.
Ltac parts := repeat match goal with
  | h : _ && _ = true |- _ => apply andb_prop in h as [? ?]
  | h : eqn _ _ = true |- _ => apply eqn_t in h
  | h : eqx _ _ = true |- _ => apply eqx_t in h
  end; subst.
Ltac same := repeat (apply andb_true_intro; split); rewrite ?eqn_t, ?eqx_t; auto.
Lemma stores_to_iff w x n : stores_to w x n = true <-> exists t k, acc n = Some (t, k, x) /\
  (k = kST \/ k = k1) /\ wgof t = w.
Proof.
  unfold stores_to. split.
  - destruct (acc n) as [[[t []] y]|]; try discriminate; intro h; parts; eauto 6.
  - intros (t&k&->&[-> | ->]&<-); same.
Qed.
Lemma rmw_at_L2_iff w x n : rmw_at_L2 w x n = true <-> exists t, acc n = Some (t, k2, x) /\
  wgof t = w.
Proof.
  unfold rmw_at_L2. split.
  - destruct (acc n) as [[[t []] y]|]; try discriminate; intro h; parts; eauto.
  - intros (t&->&<-). same.
Qed.
Lemma rmw_of_iff x n : rmw_of x n = true <-> exists t, acc n = Some (t, k2, x).
Proof.
  unfold rmw_of. split.
  - destruct (acc n) as [[[t []] y]|]; try discriminate; intro h; parts; eauto.
  - intros (t&->). same.
Qed.
Lemma flush_of_iff w x n : flush_of w x n = true <-> lab n = FLUSH_L1 w x.
Proof.
  unfold flush_of. split; [|intros ->; same].
  destruct (lab n); try discriminate. intro h. parts. auto.
Qed.
Lemma fetch_of_iff w x n : fetch_of w x n = true <-> lab n = FETCH_L1 w x.
Proof.
  unfold fetch_of. split; [|intros ->; same].
  destruct (lab n); try discriminate. intro h. parts. auto.
Qed.
Lemma acc_I n t k x : acc n = Some (t, k, x) -> lab n = Exec t.
Proof.
  unfold acc. rewrite !act_view. destruct (lab n); try discriminate.
  destruct (next_of (thr n t0)) as [[[b []] th]|]; intros [= -> <- <-]; auto.
Qed.
Lemma acc_act n t k x : acc n = Some (t, k, x) -> exists b i th, act n = Some (t, b, i) /\
  isacc i = true /\ next_of (thr n t) = Some (b, i, th).
Proof.
  unfold acc. rewrite !act_view. destruct (lab n); try discriminate.
  destruct (next_of (thr n t0)) as [[[b []] th]|] eqn:E; intros [= -> <- <-]; eauto 8.
Qed.
Lemma fetch_no_access w x n : fetch_of w x n = true -> acc n = None.
Proof.
  intro h. destruct (acc n) as [[[t k] y]|] eqn:E; auto. apply acc_I in E. apply fetch_of_iff in h.
  congruence.
Qed.

End Positions_.
Arguments last_pos : simpl never.
