(** * The second way: every look in an L1 comes after an invalidation by the same operation

    What must be seen is what is in reach (docs/proof.md): the last look at an L1 goes back no
    further than its own operation.  The walk of Views.v goes through with this. *)
Require Import Classical List Arith Bool Lia Relations Thm1 Fig2 Program Check Views FromFacts.
Set Implicit Arguments.
Unset Strict Implicit.

Lemma before_access tl l ee cs : forall i prev k, ordered tl l ee cs i prev ->
  length (filter is_acc cs) = 1 -> k < pos_acc cs ->
  prev < tl (i + k) /\ tl (i + k) < tl (i + pos_acc cs).
Proof.
  induction cs as [|c cs IH]; simpl; intros i prev k O h q; [lia|]. destruct O as [O1 O2].
  destruct (is_acc c) eqn:a; [lia|].
  assert (R : exists p, tl i <= p /\ ordered tl l ee cs (S i) p).
  { destruct c; try discriminate; eauto; destruct O2; eauto using Nat.lt_le_incl. }
  destruct R as (p&p1&p2). rewrite Nat.add_succ_r. destruct k as [|k].
  - rewrite Nat.add_0_r. split; auto. destruct (access_in_order h p2). simpl in *. lia.
  - rewrite Nat.add_succ_r. destruct (IH (S i) p k p2 h) as [h1 h2]; [lia|]. simpl in *. lia.
Qed.

Section Afresh.
#[local] Hint Resolve thd_wg seqs : core.
Context {Val L : Type} {nowhere : L} {initial : L -> Val} {P : program Val L} {tbl : table}.
Context {Y : facts nowhere initial P tbl}.
Hypothesis CHECK : check_afresh tbl = true.
Notation rs_plus := (Fig2.rs_plus loc isW isR sb rf_run).
Notation sw_plus := (Fig2.sw_plus loc isW isR at_ thd incl sb rf_run).
Notation in_order := (Fig2.in_order isW mm rf_run).

Lemma obligations_hold : check_by sync_afresh_ok tbl = true.
Proof. apply andb_prop in CHECK as [_ h]. exact h. Qed.
Lemma invalidated_before o : isR o -> ~ l2 o -> exists j, inv (wg o) j /\ s o < j /\ j < T o.
Proof.
  intros r n. pose proof (read_not_init r) as ni. destruct (its_op ni) as (q&_&(h1&_)&h2).
  apply andb_prop in CHECK as [A _]. rewrite forallb_forall in A. specialize (A _ h1).
  unfold looks_afresh in A. apply R_iff in r; auto. rewrite r in A. simpl in A.
  destruct (inc2 (rw o)) eqn:i2; [exfalso; apply n, l2_iff; auto|]. simpl in A.
  apply existsb_exists in A as (c&h3&h4). apply In_nth_error in h3 as [k h3].
  assert (kp : k < pos (rw o)).
  { assert (d : k < length (firstn (pos (rw o)) (code (rw o)))).
    { apply nth_error_Some. congruence. }
    pose proof (firstn_le_length (pos (rw o)) (code (rw o))). lia. }
  assert (at_k : nth_error (code (rw o)) k = Some c).
  { rewrite <- (firstn_skipn (pos (rw o)) (code (rw o))), nth_error_app1; auto.
    apply nth_error_Some. congruence. }
  unfold one_access in h2. apply andb_prop in h2 as [h2 _]. apply Nat.eqb_eq in h2.
  destruct (before_access (code_seq ni) h2 kp) as [h5 h6]. exists (t o k).
  rewrite (T_acc ni). split; auto. destruct c as [| | | | |g| | | |]; try discriminate.
  eapply inv_reaches; eauto.
Qed.

(** ** What is in reach is seen, and written after *)
Lemma in_reach_lasts w G x y : in_reach w G x -> x <= y -> in_reach w G y.
Proof. intros (ww&[i|[h|[g h]]]) q; split; auto; right; [left|right]; [lia|split; [auto|lia]]. Qed.
Lemma reads_reached_or_newer w G x o w' : in_reach w G x -> rf_run w' o -> wg o = G ->
  loc o = loc w -> x <= s o -> mme w w'.
Proof.
  intros (ww&k) r g l h. destruct (rf_dom r) as (_&ro&_). pose proof (read_not_init ro) as n.
  destruct (times n) as (t1&t2&t3). destruct (classic (l2 o)) as [L2|L2].
  - destruct (look_l2 r L2) as [_ q]. apply q; auto. destruct (l2s L2) as (wo&_&ao).
    destruct k as [i|[k|[k1 k2]]]; [apply inits in i; lia|lia|].
    destruct (classic (init w)) as [i|i]; [apply inits in i; lia|].
    destruct (order (o := w) (p := o)) as [_ z]; auto; try congruence; [lia|].
    specialize (z L2). lia.
  - destruct (invalidated_before ro L2) as (j&j1&j2&j3).
    apply reads_seen_or_newer with (G := G) (t := T o) (o := o); auto. split; auto.
    destruct (classic (init w)) as [i|i]; auto. right.
    destruct k as [k|[k|[k1 k2]]]; [tauto| |left; repeat split; auto; lia].
    right. split; [lia|left]. exists j. rewrite <- g. repeat split; auto. lia.
Qed.
Lemma writes_after_reached w G x o : in_reach w G x -> isW o -> ~ init o -> wg o = G ->
  loc o = loc w -> x <= T o -> w <> o -> mm w o.
Proof.
  intros (ww&k) wo n g l h ne. pose proof (arrT wo n). destruct (times n) as (t1&t2&t3).
  destruct (classic (init w)) as [i|i].
  - apply inits in i. apply mm_by_arrival; auto. lia.
  - destruct k as [k|[k|[k1 k2]]]; [tauto|apply mm_by_arrival; auto; lia|].
    apply mm_of_one_group; auto; try congruence. lia.
Qed.

(** ** The walk *)
Definition Rs a c := forall v, V a v -> in_reach v (wg c) (s c).
Definition Re a c := forall v, V a v -> in_reach v (wg c) (e c).
Lemma sb_reaches a b : sb a b -> Rs a b.
Proof. intros h v hv. apply must_see_in_reach, (sb_seen h hv). Qed.
Lemma sw_then_sb_reaches a b c : Re a b -> T a < T b -> sb b c -> Rs a c.
Proof.
  intros k h q v hv. destruct (@sb_wg _ _ _ _ _ _ _ b c) as (h1&h2&h3); auto; [lia|].
  rewrite <- h1. apply (in_reach_lasts (k v hv)). lia.
Qed.
Lemma sb_then_sb_reaches a b c : Rs a b -> T a < T b -> sb b c -> Rs a c.
Proof.
  intros k h q v hv. destruct (@sb_wg _ _ _ _ _ _ _ b c) as (h1&h2&h3); auto; [lia|].
  destruct (times h3) as (?&?&?). rewrite <- h1. apply (in_reach_lasts (k v hv)). lia.
Qed.
Lemma sw_reaches a c : sw_plus a c -> Re a c.
Proof. intros h v hv. apply must_see_in_reach, (sw_seen h hv). Qed.
Lemma sb_then_sw_reaches a b c : Rs a b -> T a < T b -> sw_plus b c -> Re a c.
Proof.
  intros k h H v hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l&w&r&rs&q1&q2&q3).
  pose proof (rfT r). destruct (times nc) as (?&?&?). destruct (times n) as (?&?&?).
  destruct (classic (wg b = wg c)) as [g|g].
  { rewrite <- g. apply (in_reach_lasts (k v hv)). lia. }
  assert (A : arrives_before (wg b) (s b) (e c)).
  { pose proof (SYNC_afresh_ok obligations_hold) as SYNC. destruct (rf_dom r) as (r1&r2&r3).
    pose proof (mme_arr q1). destruct (look_kind a3) as [y|[[y y']|y]].
    - destruct (look_l2 r y). apply SYNC with c; auto. left; split; auto; lia.
    - destruct (look_own r y) as (_&_&z&_&z'&_).
      destruct (got_from_L2 n rs) as [g'|(p&p1&p2&p3&p4&p5)]; [congruence|].
      apply SYNC with p; auto; try congruence; try lia; try tauto; try exact p5.
    - destruct (look_ft r y) as (_&z1&z2&_). apply SYNC with c; auto. right; split; auto; lia. }
  specialize (k v hv). split; [apply k|]. destruct (A v k); auto.
Qed.
Lemma ordered_by_sb a c : Rs a c -> T a < T c -> loc a = loc c -> in_order a c.
Proof.
  intros k h l v hv. destruct (V_loc hv) as (v1&v2&v3). specialize (k v hv).
  assert (n : ~ init c) by (intro i; apply inits in i; lia). destruct (times n) as (?&?&?). split.
  - intros w r. eapply reads_reached_or_newer; eauto. congruence.
  - intro cw. eapply writes_after_reached; eauto; try congruence; try lia. intros ->; lia.
Qed.
Lemma ordered_by_sb_sw a b c : Rs a b -> T a < T b -> loc a = loc b -> sw_plus b c -> in_order a c.
Proof.
  intros k h l H v hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l'&w&r&_&q1&_).
  destruct (V_loc hv) as (v1&v2&v3). destruct (times n) as (?&?&?).
  assert (m : mm v b).
  { eapply writes_after_reached; [apply (k v hv)|..]; auto; try congruence; try lia.
    intros ->; lia. }
  assert (m' : mm v w) by (destruct q1 as [<-|q1]; auto; eapply mm_tr; eauto).
  split.
  - intros w' r'. assert (w' = w) by (eapply rf_fun; eauto). subst; right; auto.
  - intro cw. eapply mm_tr; eauto. apply rmw_after_its_read; auto. split; auto.
Qed.

Theorem prefixes_consistent_afresh (nal : L -> Prop) : in_scope nal P ->
  prefixes_hold (Y := Y) nal.
Proof.
  intros SCOPE safe n. pose proof (ATOM_ok obligations_hold) as ATOM.
  apply Fig2.prefixes_sound with (evs := all) (samewg := fun x y => wg x = wg y)
    (Ks := Rs) (Ke := Re) (at_ := at_) (thd := thd) (incl := incl) (sb := sb);
    eauto using
      sb_ir, sb_tr, sb_ni, sb_init, thd_sym, thd_tr, thd_ni, incl_sym, init_ex, init_uq, acc, sb_T,
      T_inj, all_in, rel_at, acq_at, store_releases, strong_where_plain, rf_dom, rf_fun, rf_tot, rfT,
      mm_tr, mm_irr, mm_tot, mm_T, mm_init, sb_reaches, sw_then_sb_reaches, sb_then_sb_reaches,
      sw_reaches, sb_then_sw_reaches, ordered_by_sb, seen_by_sw, ordered_by_sb_sw,
      rmw_after_its_read, rmw_in_group, rmw_across_groups.
  - intros x i. apply (init_w P (nd x) i).
  - intros x i. apply inits, i.
  - intros x i. pose proof (times i). lia.
  - intros x y h l. right. auto.
  - intros x y (a&b&c&_). auto.
Qed.
End Afresh.
