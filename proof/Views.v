(** * Views of work-groups: from the facts of one run, SYNC and ATOM to the hypotheses of Fig2.v

    The facts, definitions and lemmas are those of docs/proof.md and of lemmas.yaml. *)
Require Import Classical Arith Lia Fig2 Thm1 Program Facts.
Set Implicit Arguments.
Unset Strict Implicit.
Section Views.
#[local] Hint Resolve thd_sym thd_wg seqs incl_sym : core.
Context {Val L : Type} {nowhere : L} {initial : L -> Val} {P : program Val L} {tbl : table}.
Context {Y : facts nowhere initial P tbl}.
Hypothesis SYNC : SYNC_holds.
Hypothesis ATOM : ATOM_holds.
Notation rs_plus := (Fig2.rs_plus loc isW isR sb rf_run).
Notation sw_plus := (Fig2.sw_plus loc isW isR at_ thd incl sb rf_run).
(** [w] must be seen by work-group [G] at [t]. *)
Definition K w G t := isW w /\ (init w \/ (wg w = G /\ ~ init w /\ T w < t) \/
  (arr w < t /\ ((exists j, inv G j /\ arr w < j /\ j < t) \/
    (exists r v, rf_run v r /\ wg r = G /\ loc r = loc w /\ T r < t /\ mme w v)))).

Lemma mm_tr x y z : mm x y -> mm y z -> mm x z.
Proof.
  intros (a&b&c&d&f) (a'&b'&c'&d'&f'). repeat split; auto; try congruence; [|lia]. intros ->. lia.
Qed.
Lemma mm_irr x : ~ mm x x. Proof. intros (_&_&_&n&_); auto. Qed.
Lemma mme_tr x y z : mme x y -> mme y z -> mme x z.
Proof. intros [->|a] [->|b]; [left|right|right|right]; auto. eapply mm_tr; eauto. Qed.
Lemma mme_mm x y z : mme x y -> mm y z -> mm x z.
Proof. intros [->|a] b; auto. eapply mm_tr; eauto. Qed.
Lemma mme_arr x y : mme x y -> arr x <= arr y. Proof. intros [->|(_&_&_&_&h)]; lia. Qed.
Lemma mm_by_arrival x y : isW x -> isW y -> loc x = loc y -> arr x < arr y -> mm x y.
Proof. intros. repeat split; auto. intros ->; lia. Qed.
Lemma mm_of_one_group o p : isW o -> isW p -> ~ init o -> ~ init p -> wg o = wg p ->
  loc o = loc p -> T o < T p -> mm o p.
Proof.
  intros a b c d f g h. destruct (order a b c d f g h). repeat split; auto. intros ->; lia. lia.
Qed.
Lemma read_not_init r : isR r -> ~ init r. Proof. intros h i. apply inits in i. tauto. Qed.
Lemma arrT o : isW o -> ~ init o -> T o <= arr o.
Proof.
  intros a b. destruct (classic (l2 o)) as [h|h]. apply l2s in h. lia. pose proof (arrs a b h). lia.
Qed.
Lemma look_kind r : isR r -> l2 r \/ own r /\ ~ l2 r \/ fetched r.
Proof. unfold fetched. tauto. Qed.
(* Something that has arrived at [x] was got from the L2. *)
Definition got r x := l2 r /\ x < T r \/ fetched r /\ x < ft r.
(* A look finds a store of its own L1, or what it gets from the L2. *)
Lemma found w r : rf_run w r ->
  (wg w = wg r /\ ~ init w /\ T w < T r /\ ~ l2 r) \/ (got r (arr w) /\ arr w < T r).
Proof.
  intro H. destruct (rf_dom H) as (_&b&_). destruct (look_kind b) as [h|[[h _]|h]].
  - destruct (look_l2 H h). unfold got. auto.
  - destruct (look_own H h) as (?&?&?&_&?&_). auto.
  - destruct (look_ft H h) as (_&?&?&_). right. unfold got. split; [auto|lia].
Qed.
Lemma rfT w r : rf_run w r -> T w < T r.
Proof.
  intro H. destruct (found H) as [(_&_&h&_)|[_ h]]; auto. destruct (rf_dom H) as (a&b&_).
  destruct (classic (init w)) as [i|i]; [|pose proof (arrT a i); lia].
  pose proof (times (read_not_init b)). apply inits in i. lia.
Qed.
(* An RMW is after what it reads. *)
Lemma rmw_after_its_read w u : rmw u -> rf_run w u -> mm w u.
Proof.
  intros [uw ur] H. destruct (rf_dom H) as (a&_&c). pose proof (read_not_init ur) as n.
  destruct (found H) as [(h1&h2&h3&_)|[_ h]]; [apply mm_of_one_group; auto|].
  pose proof (arrT uw n). apply mm_by_arrival; auto. lia.
Qed.
(* Who must see a write reads it or a newer one. *)
Lemma reads_seen_or_newer w G t o w' : K w G t -> rf_run w' o -> wg o = G -> loc o = loc w ->
  t <= T o -> mme w w'.
Proof.
  intros (ww&k) H g l t0. subst G. destruct (rf_dom H) as (a&b&c).
  pose proof (read_not_init b) as n. destruct (times n) as (t1&t2&t3).
  destruct (look_kind b) as [h|[[h h']|h]].
  - destruct (look_l2 H h) as [q1 q2]. apply q2; auto.
    destruct k as [i|[(k1&k2&k3)|(k1&_)]]; [apply inits in i; lia| |lia].
    destruct (l2s h) as (h1&_&h2). destruct (order (o := w) (p := o)) as [_ q]; auto. lia.
    specialize (q h). lia.
  - destruct (look_own H h) as (_&q1&q2&q3&q4&q5&q6&q7). pose proof (arrs a q1 q3) as aw.
    assert (LAST : forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w < T o ->
      mme w w').
    { intros x x1 x2 x3 x4 x5. destruct (Nat.lt_trichotomy (T x) (T w')) as [q|[q|q]].
      - right. apply mm_of_one_group; auto; congruence.
      - left. apply T_inj; auto.
      - destruct (q5 x); auto. }
    destruct k as [i|[(k1&k2&k3)|(k1&[(j&j1&j2&j3)|(r&v&r1&r2&r3&r4&r5)])]].
    + right. apply inits in i. apply mm_by_arrival; auto; [congruence|lia].
    + apply LAST; auto. lia.
    + right. apply mm_by_arrival; auto; [congruence|].
      assert (~ T w' < j) by (intro; apply (q6 j); auto; lia). lia.
    + apply mme_tr with v; auto. destruct (rf_dom r1) as (b1&b2&b3).
      destruct (look_kind b2) as [y|[[y y']|y]].
      * destruct (l2s y) as (y2&_&_). apply mme_tr with r.
        { right. apply rmw_after_its_read; auto. split; auto. }
        apply LAST; auto using read_not_init; try congruence. lia.
      * destruct (look_own r1 y) as (_&z1&z2&z3&z4&_). apply LAST; auto; try congruence. lia.
      * destruct (look_ft r1 y) as (_&z1&z2&_). right. apply mm_by_arrival; auto; [congruence|].
        assert (~ T w' < ft r) by (intro; apply (q7 r); auto; try congruence; lia). lia.
  - destruct (look_ft H h) as (q0&q1&q2&q3&q4&q5&q6). apply q3; auto.
    destruct k as [i|[(k1&k2&k3)|(k1&[(j&j1&j2&j3)|(r&v&r1&r2&r3&r4&r5)])]].
    + apply inits in i. lia.
    + apply q4; auto; lia.
    + assert (~ ft o < j) by (intro; apply (q5 j); auto; lia). lia.
    + apply mme_arr in r5. destruct (rf_dom r1) as (b1&b2&b3). pose proof (read_not_init b2) as rn.
      destruct (look_kind b2) as [y|[[y y']|y]].
      * destruct (look_l2 r1 y) as [y1 _]. destruct (l2s y) as (y2&_&y3).
        assert (arr r < ft o) by (apply q4; auto; try congruence; lia). lia.
      * destruct (look_own r1 y) as (_&z1&z2&z3&z4&_).
        assert (arr v < ft o) by (apply q4; auto; try congruence; lia). lia.
      * destruct (look_ft r1 y) as (_&z1&z2&_).
        assert (ft r <= ft o) by (apply q6; auto; try congruence; lia). lia.
Qed.
(* Who must see a write writes after it. *)
Lemma writes_after_seen w G t o : K w G t -> isW o -> ~ init o -> wg o = G -> loc o = loc w ->
  t <= T o -> w <> o -> mm w o.
Proof.
  intros (ww&k) ow n g l t0 ne. pose proof (arrT ow n). destruct (times n) as (t1&t2&t3).
  destruct k as [i|[(k1&k2&k3)|(k1&_)]].
  - apply inits in i. apply mm_by_arrival; auto. lia.
  - apply mm_of_one_group; auto; try congruence; lia.
  - apply mm_by_arrival; auto. lia.
Qed.
(* What must be seen must be seen for ever. *)
Lemma must_see_lasts w G t t' : K w G t -> t <= t' -> K w G t'.
Proof.
  intros (ww&k) h. split; auto.
  destruct k as [i|[(k1&k2&k3)|(k1&[(j&j1&j2&j3)|(r&v&r1&r2&r3&r4&r5)])]]; auto.
  - right; left. repeat split; auto; lia.
  - right; right. split; [lia|left]. exists j. repeat split; auto; lia.
  - right; right. split; [lia|right]. exists r, v. repeat split; auto; lia.
Qed.
Lemma must_see_in_reach w G t : K w G t -> in_reach w G t.
Proof. intros (a&[k|[(k1&k2&k3)|(k&_)]]); split; auto. Qed.
(* [carries] turns what is in reach into what must be seen. *)
Lemma carried_is_seen w B t C t' : in_reach w B t -> carries B t C t' -> K w C t'.
Proof.
  intros H (j&j1&j2&j3). split; [apply H|]. destruct (j3 _ H); auto. right; right.
  split; [lia|left]. exists j; auto.
Qed.
Definition V a v := (isW a /\ v = a) \/ (~ isW a /\ rf_run v a).
Definition Ks a c := forall v, V a v -> K v (wg c) (s c).
Definition Ke a c := forall v, V a v -> K v (wg c) (e c).
Lemma sb_wg b c : 0 < T b -> sb b c -> wg b = wg c /\ e b < s c /\ ~ init b.
Proof.
  intros h [[i _]|[t q]]. apply inits in i. lia. split; auto. split; auto.
  apply thd_ni with c; auto.
Qed.
(* Along sb all that was written or read must be seen. *)
Lemma sb_seen a b : sb a b -> Ks a b.
Proof.
  intros H v Hv. destruct H as [[i n]|[t q]].
  { destruct Hv as [[_ ->]|[h _]]; [|apply inits in i; tauto]. split; auto.
    apply inits in i; tauto. }
  pose proof (thd_ni t) as n. pose proof (seqs t q) as h. destruct (times n) as (_&_&h').
  rewrite <- (thd_wg t). destruct Hv as [[w ->]|[w r]].
  { split; auto. right; left. repeat split; auto. lia. }
  destruct (rf_dom r) as (r1&r2&r3). split; auto. right.
  destruct (found r) as [(h1&h2&h3&_)|[_ h1]]; [left|right].
  - repeat split; auto; lia.
  - split; [lia|right]. exists a, v. repeat split; auto; try lia. left; auto.
Qed.
Lemma sw_then_sb a b c : Ke a b -> T a < T b -> sb b c -> Ks a c.
Proof.
  intros k t h v Hv. destruct (@sb_wg b c) as (h1&h2&h3); auto. lia. rewrite <- h1.
  eapply must_see_lasts; [apply k; auto|lia].
Qed.
Lemma sb_then_sb a b c : Ks a b -> T a < T b -> sb b c -> Ks a c.
Proof.
  intros k t h v Hv. destruct (@sb_wg b c) as (h1&h2&h3); auto. lia. destruct (times h3) as (?&?&?).
  rewrite <- h1. eapply must_see_lasts; [apply k; auto|lia].
Qed.
Definition Q x y := mme x y /\ T x <= T y /\ (wg x = wg y \/ arr x < T y).
Lemma rs_plus_Q x y : ~ init x -> rs_plus x y -> isW y /\ loc x = loc y /\ ~ init y /\ Q x y.
Proof.
  intros n H. induction H as [x H|x y a b c d|x w u H IH r U].
  - repeat split; auto. left; auto.
  - destruct d as [[i _]|[t q]]; [tauto|]. pose proof (thd_ni (thd_sym t)).
    repeat split; auto; [right; apply mm_of_one_group; auto|lia].
  - destruct (IH n) as (i1&i2&i3&i4&i5&i6). pose proof (rmw_after_its_read U r) as m.
    pose proof (rfT r) as t. destruct (rf_dom r) as (r1&r2&r3). split; [apply U|].
    split; [congruence|]. split; [apply read_not_init; auto|].
    split; [right; eapply mme_mm; eauto|]. split; [lia|]. destruct i6 as [i6|i6]; [|right; lia].
    apply mme_arr in i4. destruct (found r) as [(z&_)|[_ z]]; [left; congruence|right; lia].
Qed.
Lemma sw_plus_Q a c : sw_plus a c -> isW a /\ at_ a /\ isR c /\ at_ c /\ incl a c /\ ~ init a /\
  ~ init c /\ loc a = loc c /\ exists w, rf_run w c /\ rs_plus a w /\ Q a w.
Proof.
  intros (a1&a2&a3&a4&a5&a6&w&a7&a8). assert (n : ~ init a) by (intro i; eapply at_ni; eauto).
  destruct (rs_plus_Q n a7) as (b1&b2&b3&b4). destruct (rf_dom a8) as (_&_&r3). repeat split; auto.
  apply read_not_init; auto. congruence. exists w; auto.
Qed.
(* Along sw+ what was released must be seen. *)
Lemma sw_seen a c : sw_plus a c -> Ke a c.
Proof.
  intros H v Hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l&w&r&_&q1&q2&q3).
  destruct Hv as [[_ ->]|[h _]]; [|tauto]. pose proof (rfT r). destruct (times nc) as (?&?&?).
  split; auto. right. destruct (classic (wg a = wg c)) as [g|g]. { left. repeat split; auto. lia. }
  right. assert (arr a < T c).
  { apply mme_arr in q1. destruct (found r) as [(z&_)|[_ z]]; [|lia].
    destruct q3; [congruence|lia]. }
  split; [lia|right]. exists c, w. repeat split; auto.
Qed.
(* A release sequence that leaves its work-group was got from L2. *)
Lemma got_from_L2 x y : ~ init x -> rs_plus x y -> wg x = wg y \/ exists r, isR r /\ wg r = wg y /\
  loc r = loc y /\ T r <= T y /\ got r (arr x).
Proof.
  intros n H. induction H as [x H|x y a b c d|x w u H IH r U]; auto.
  - destruct d as [[i _]|[t q]]; [tauto|auto].
  - destruct (rs_plus_Q n H) as (_&l&_&q1&q2&q3). pose proof (rfT r).
    destruct (rf_dom r) as (r1&r2&r3). apply mme_arr in q1.
    destruct (found r) as [(z&_)|[z _]].
    + destruct (IH n) as [g|(p&p1&p2&p3&p4&p5)]; [left; congruence|right]. exists p.
      repeat split; auto; try congruence; lia.
    + right. exists u. repeat split; auto. unfold got in *. intuition lia.
Qed.
(* sb and then sw+, by SYNC where it leaves the work-group. *)
Lemma sb_then_sw a b c : Ks a b -> T a < T b -> sw_plus b c -> Ke a c.
Proof.
  intros k t H v Hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l&w&r&rs&q1&q2&q3).
  pose proof (rfT r). destruct (times nc) as (?&?&?). destruct (times n) as (?&?&?).
  destruct (classic (wg b = wg c)) as [g|g].
  { rewrite <- g. eapply must_see_lasts; [apply k; auto|lia]. }
  eapply carried_is_seen; [apply must_see_in_reach, k; auto|]. destruct (rf_dom r) as (r1&r2&r3).
  pose proof (mme_arr q1). destruct (found r) as [(z&_&_&z')|[z _]].
  - destruct (got_from_L2 n rs) as [g'|(p&p1&p2&p3&p4&p5)]; [congruence|].
    apply SYNC with p; auto; try congruence; try lia; tauto.
  - apply SYNC with c; auto. unfold got in *. intuition lia.
Qed.
Notation in_order := (Fig2.in_order isW mm rf_run).
Lemma V_loc a v : V a v -> loc v = loc a /\ isW v /\ T v <= T a.
Proof.
  intros [[w ->]|[w r]]; auto. destruct (rf_dom r) as (?&?&?). pose proof (rfT r).
  repeat split; auto; lia.
Qed.
Lemma seen_by_sb a c : Ks a c -> T a < T c -> loc a = loc c -> in_order a c.
Proof.
  intros k t l v Hv. destruct (V_loc Hv) as (v1&v2&v3). specialize (k v Hv).
  assert (n : ~ init c) by (intro i; apply inits in i; lia). destruct (times n) as (?&?&?). split.
  - intros w r. eapply reads_seen_or_newer; eauto; try congruence; lia.
  - intro cw. eapply writes_after_seen; eauto; try congruence; try lia. intros ->; lia.
Qed.
Lemma seen_by_sw a c : sw_plus a c -> in_order a c.
Proof.
  intros H v Hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l&w&r&_&q1&_).
  destruct Hv as [[_ ->]|[h _]]; [|tauto]. split.
  - intros w' r'. assert (w' = w) by (eapply rf_fun; eauto). subst; auto.
  - intro cw. eapply mme_mm; eauto. apply rmw_after_its_read; auto. split; auto.
Qed.
Lemma seen_by_sb_sw a b c : Ks a b -> T a < T b -> loc a = loc b -> sw_plus b c -> in_order a c.
Proof.
  intros k t l H v Hv. destruct (sw_plus_Q H) as (a1&a2&a3&a4&a5&n&nc&l'&w&r&_&q1&_).
  destruct (V_loc Hv) as (v1&v2&v3). destruct (times n) as (?&?&?).
  assert (m : mm v b) by (eapply writes_after_seen; [apply k; auto| | | | | |]; auto;
    try congruence; try lia; intros ->; lia). assert (m' : mm v w).
  { destruct q1 as [<-|q1]; auto. eapply mm_tr; eauto. }
  split.
  - intros w' r'. assert (w' = w) by (eapply rf_fun; eauto). subst; right; auto.
  - intro cw. eapply mm_tr; eauto. apply rmw_after_its_read; auto. split; auto.
Qed.
(* No write of the work-group comes between an RMW and what it reads. *)
Lemma rmw_in_group w u k : rmw u -> rf_run w u -> wg k = wg u -> mm w k -> mm k u -> False.
Proof.
  intros U r g m1 m2. pose proof m2 as (b1&b2&b3&b4&b5). destruct (rf_dom r) as (r1&r2&r3).
  pose proof (read_not_init r2) as n. assert (nk : ~ init k).
  { intro i. apply inits in i. destruct m1 as (_&_&_&_&h). lia. }
  apply (@mm_irr w). apply mme_mm with (y := w); [left; auto|]. enough (mme k w) as [->|h]; auto.
  { eapply mm_tr; eauto. }
  destruct (classic (l2 u)) as [h|h].
  - destruct (look_l2 r h) as [_ q]. apply q; auto. destruct (l2s h) as (_&_&h').
    destruct b5 as [b5|[b5 _]]; [lia|]. destruct (dist b1 b2 b4 b3 b5) as (_&_&_&_&nn). tauto.
  - assert (t : T k < T u).
    { destruct (Nat.lt_trichotomy (T k) (T u)) as [q|[q|q]]; auto. apply T_inj in q; auto; tauto.
      exfalso. apply (@mm_irr k). eapply mm_tr; [exact m2|]. apply mm_of_one_group; auto. }
    eapply reads_seen_or_newer with (t := T u) (G := wg u); eauto. split; auto.
Qed.
Lemma mm_T x y : mm x y -> thd x y -> T x < T y.
Proof.
  intros m t. pose proof m as (a&b&c&d&f). pose proof (thd_ni t). pose proof (thd_ni (thd_sym t)).
  destruct (Nat.lt_trichotomy (T x) (T y)) as [q|[q|q]]; auto. apply T_inj in q; auto; tauto.
  exfalso. apply (@mm_irr x). eapply mm_tr; [exact m|]. apply mm_of_one_group; auto.
Qed.
Lemma mm_tot x y : isW x -> isW y -> loc x = loc y -> x <> y -> mm x y \/ mm y x.
Proof.
  intros a b c d. destruct (Nat.lt_trichotomy (arr x) (arr y)) as [q|[q|q]];
    [left; apply mm_by_arrival; auto| |right; apply mm_by_arrival; auto].
  destruct (dist a b d c q) as (_&h1&h2&_). destruct (Nat.lt_trichotomy (T x) (T y)) as [z|[z|z]].
  left; repeat split; auto. apply T_inj in z; tauto. right; repeat split; auto.
Qed.
Lemma mm_init x y : init y -> ~ mm x y.
Proof.
  intros i (a&b&c&d&f). apply inits in i as i'. destruct f as [f|[f _]]; [lia|].
  destruct (dist a b d c f) as (_&_&?&_). tauto.
Qed.

Lemma first_ex : forall m k, T k < m -> isW k -> ~ init k -> exists k', isW k' /\ ~ init k' /\
  wg k' = wg k /\ loc k' = loc k /\ arr k' = arr k /\ T k' <= T k /\ first k'.
Proof.
  induction m as [|m IH]; intros k t w n; [lia|]. destruct (classic (first k)) as [F|F].
  { exists k. repeat split; auto. }
  apply NNPP. intro no. apply F. intros o ow on og ol ot E.
  destruct (IH o) as (k'&a&b&c&d&f&g&h); auto; [lia|]. apply no. exists k'.
  repeat split; auto; try congruence. lia.
Qed.
(* Nor one of another, by ATOM, which is asked of the first store that arrives. *)
Lemma rmw_across_groups w u k : rmw u -> rf_run w u -> at_ k -> at_ u -> incl k u -> wg k <> wg u ->
  mm w k ->
  mm k u ->
  exists k', T k' <= T k /\ mm w k' /\ mm k' u /\ wg k' <> wg u /\ ~ (at_ k' /\ at_ u /\ incl k' u).
Proof.
  intros U r a1 a2 i g m1 m2. pose proof m1 as (ww&kw&l1&d1&o1). pose proof m2 as (_&uw&l2'&d2&o2).
  assert (nk : ~ init k) by (intro q; exact (at_ni q a1)).
  destruct (@first_ex (S (T k)) k) as (k'&b1&b2&b3&b4&b5&b6&b7); auto. assert (AU : arr k < arr u).
  { destruct o2 as [o2|[o2 _]]; auto. destruct (dist kw uw d2 l2' o2) as (q&_). tauto. }
  assert (AW : arr w < arr k).
  { destruct o1 as [o1|[o1 ot]]; auto. exfalso. destruct (dist ww kw d1 l1 o1) as (q&_).
    destruct U as [_ ur]. assert (X : mme k w -> False).
    { intros [->|h]; [eapply mm_irr; eauto|]. apply (@mm_irr w). eapply mm_tr; eauto. }
    destruct (look_kind ur) as [h|[[h h']|h]].
    - destruct (look_l2 r h) as [h1 h2]. apply X, h2; auto. lia.
    - destruct (look_own r h) as (_&_&h1&_). congruence.
    - destruct (look_ft r h) as (_&_&h1&h2&_). apply X, h2; auto. lia. }
  assert (w1 : mm w k') by (apply mm_by_arrival; auto; [congruence|lia]).
  assert (w2 : mm k' u) by (apply mm_by_arrival; auto; [congruence|lia]). exists k'. split; auto.
  split; auto. split; auto. split; [congruence|]. intros (h1&h2&h3).
  assert (wg k' <> wg u) by congruence.
  pose proof (ATOM U r h1 h2 h3 H b7 w2) as [->|h]; [eapply mm_irr; eauto|]. apply (@mm_irr w).
  eapply mm_tr; eauto.
Qed.

Lemma sb_T x y : sb x y -> T x < T y.
Proof.
  intros [[i n]|[_ h]]; auto. destruct (times n) as (?&?&?). destruct (inits i) as (?&?&?&?&?). lia.
Qed.
Lemma sb_ni x y : sb x y -> ~ init y.
Proof. intros [[_ n]|[t _]]; auto. apply thd_ni with x; auto. Qed.
Lemma sb_tr x y z : sb x y -> sb y z -> sb x z.
Proof.
  intros H H'. pose proof (sb_ni H). pose proof (sb_ni H').
  destruct H as [[a b]|[a b]]; [left; auto|]. destruct H' as [[c d]|[c d]]; [tauto|]. right.
  split; [eapply thd_tr; eauto|lia].
Qed.
Lemma sb_ir x : ~ sb x x. Proof. intro h. apply sb_T in h. lia. Qed.
Lemma sb_init x y : init x -> ~ init y -> sb x y. Proof. left; auto. Qed.

(** Every prefix of the run is consistent and free of races, if the program is; and hb orders the
    writes of a location as they arrive. *)
Variable nal : L -> Prop.
Hypothesis SCOPE : in_scope nal P.
Notation cons := (Fig2.cons loc isW isR init nal thd incl sb rel acq).
Notation hb := (Fig2.hb isW isR thd incl sb rel acq).
Notation prefix := (X loc nal T mm rf_run).
Hypothesis prefixes_race_free : forall g, Fig2.near loc isW isR init nal sb rf_run g -> cons g ->
  Fig2.racefree loc isW isR at_ init thd incl sb rel acq g.
Theorem prefixes_consistent n : cons (prefix n) /\
  forall w k, hb (prefix n) w k -> loc w = loc k -> isW w -> isW k -> mm w k.
Proof.
  apply Fig2.prefixes_sound with (evs := all) (samewg := fun x y => wg x = wg y)
    (Ks := Ks) (Ke := Ke) (at_ := at_) (thd := thd) (incl := incl) (sb := sb);
    eauto using
      sb_ir, sb_tr, sb_ni, sb_init, thd_tr, thd_ni, init_ex, init_uq, acc, sb_T, T_inj, all_in,
      rel_at, acq_at, store_releases, strong_where_plain, rf_dom, rf_fun, rf_tot, rfT,
      mm_tr, mm_irr, mm_tot, mm_T, mm_init, sb_seen, sw_then_sb, sb_then_sb, sw_seen, sb_then_sw,
      seen_by_sb, seen_by_sw, seen_by_sb_sw, rmw_after_its_read, rmw_in_group, rmw_across_groups.
  - intros x i. apply (init_w P (nd x) i).
  - intros x i. apply inits, i.
  - intros x i. pose proof (times i). lia.
  - intros x y h l. right. auto.
  - intros x y (a&b&c&_). auto.
Qed.
End Views.
