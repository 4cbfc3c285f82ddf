(** * [check] is proved right: where it is true of a table, SYNC and ATOM hold of its runs

    The numbers of Obligations.v stand for moments of two operations of a run.  All clauses hold of
    these, but for what is to be shown; so if they contradict each other it holds. *)
Require Import List Arith Lia Bool Classical Thm1 Refuter.
Require Export Facts.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.
Global Opaque contra.

Lemma in_places_of f cs : forall i j, In j (places_of f cs i) ->
  exists k c, j = i + k /\ nth_error cs k = Some c /\ f c = true.
Proof.
  induction cs as [|c cs IH]; simpl; intros i j h; [tauto|].
  assert (R : In j (places_of f cs (S i)) ->
    exists k d, j = i + k /\ nth_error (c :: cs) k = Some d /\ f d = true).
  { intro q. destruct (IH _ _ q) as (k&d&->&h1&h2). exists (S k), d. split; [lia|auto]. }
  destruct (f c) eqn:E; auto. destruct h as [<-|h]; auto. exists 0, c. split; [lia|auto].
Qed.
Lemma one_holds v a b : holds v a \/ holds v b -> sat v [a; b].
Proof. intros [h|h]; [exists a|exists b]; simpl; auto. Qed.
Lemma check_pairs sync tb b c : check_by sync tb = true -> In b tb -> In c tb -> atomic b = true ->
  atomic c = true -> incl_rows b c = true -> writes b = true ->
  (reads c = true -> sync (bracketed_rmw tb) (bracketed_L2 tb) b c = true) /\
  (isrmw c = true -> atom_ok (bracketed_rmw tb) (bracketed_L2 tb) b c = true).
Proof.
  unfold check_by. rewrite andb_true_iff. intros [_ H] hb hc h1 h2 h3 h4.
  rewrite forallb_forall in H. specialize (H _ hb). cbv beta in H.
  rewrite forallb_forall in H. specialize (H _ hc). unfold check_pair in H. revert H.
  generalize (sync (bracketed_rmw tb) (bracketed_L2 tb) b c) (reads c) (isrmw c)
    (atom_ok (bracketed_rmw tb) (bracketed_L2 tb) b c).
  intros x y z w. rewrite h1, h2, h3, h4. destruct x, y, z, w; auto.
Qed.

Section Check.
Context {Val L : Type} {nowhere : L} {initial : L -> Val} {P : program Val L} {tbl : table}.
Context {Y : facts nowhere initial P tbl}.
Notation lr := (bracketed_rmw tbl).
Notation lx := (bracketed_L2 tbl).
(** [x] is outside of the times in which [o] holds the lock of its location. *)
Definition unlocked o x := lx = true -> forall f u, In (f, u) (L2_intervals (rw o)) ->
  x <= t o f \/ mark_time o u <= x.
Lemma arrival_unlocked o p : ~ init o -> ~ init p -> wg o <> wg p -> loc o = loc p -> isW p ->
  unlocked o (arr p).
Proof. intros a b c d w X f u h. apply (lock_L2 (o := o) (p := p) X (f := f) (u := u)); auto. Qed.
Lemma fetch_unlocked o p : ~ init o -> ~ init p -> wg o <> wg p -> loc o = loc p -> fetched p ->
  unlocked o (ft p).
Proof. intros a b c d w X f u h. apply (lock_L2 (o := o) (p := p) X (f := f) (u := u)); auto. Qed.

(** ** Two operations: [b] first, [c] second; a first and a second look, and an agreement *)
Section Pair.
Variables b c : M.
Hypothesis nb : ~ init b.
Hypothesis nc : ~ init c.
Hypothesis ne : wg b <> wg c.
Hypothesis bw : isW b.
Hypothesis lbc : loc b = loc c.
Variables look look' agreed : nat.
Definition of (o : bool) := if o then c else b.
Definition v n := match n with
  | 0 => s b | 1 => s c | 2 => e b | 3 => e c | 4 => arr b | 5 => arr c
  | 6 => look | 7 => look' | 8 => agreed
  | S (S (S (S (S (S (S (S (S m)))))))) =>
      match m mod 4 with 0 => t b | 1 => t c | 2 => left b | _ => left c end (m / 4)
  end.
Notation Rb := (rw b).
Notation Rc := (rw c).

Lemma v_S o : v (at_start o) = s (of o). Proof. destruct o; auto. Qed.
Lemma v_E o : v (at_end o) = e (of o). Proof. destruct o; auto. Qed.
Lemma v_A o : v (at_arrival o) = arr (of o). Proof. destruct o; auto. Qed.
Lemma v_X o : v (at_look o) = if o then look' else look. Proof. destruct o; auto. Qed.
Lemma v_instr k i : k < 4 ->
  v (9 + (i * 4 + k)) = match k with 0 => t b | 1 => t c | 2 => left b | _ => left c end i.
Proof.
  intro h. change (v (9 + (i * 4 + k))) with (match (i * 4 + k) mod 4 with
    | 0 => t b | 1 => t c | 2 => left b | _ => left c end ((i * 4 + k) / 4)).
  rewrite Nat.div_add_l, Nat.div_small, Nat.add_0_r, Nat.add_comm, Nat.mod_add, Nat.mod_small; auto.
Qed.
Lemma v_T o i : v (at_instr o i) = t (of o) i.
Proof. unfold at_instr. rewrite v_instr; destruct o; simpl; auto. Qed.
Lemma v_L o i : v (at_left o i) = left (of o) i.
Proof. unfold at_left. rewrite v_instr; destruct o; simpl; auto. Qed.
Lemma v_M o m : v (at_mark o m) = mark_time (of o) m.
Proof. destruct m; [apply v_T|apply v_E]. Qed.
Lemma ni o : ~ init (of o). Proof. destruct o; auto. Qed.
Lemma v_acc o : v (at_instr o (pos (rw (of o)))) = T (of o).
Proof. rewrite v_T. symmetry. apply T_acc, ni. Qed.
Lemma v_b : v (at_instr false (pos Rb)) = T b. Proof. exact (v_acc false). Qed.
Lemma v_c : v (at_instr true (pos Rc)) = T c. Proof. exact (v_acc true). Qed.
Ltac moments :=
  cbv beta iota delta [holds]; rewrite ?v_S, ?v_E, ?v_A, ?v_X, ?v_b, ?v_c, ?v_acc, ?v_T, ?v_L, ?v_M.

(** ** What is known of every two operations *)
Lemma code_order_holds o cs : forall i prev,
  ordered (t (of o)) (left (of o)) (e (of o)) cs i (v prev) ->
  forall l, In l (code_order o cs i prev) -> holds v l.
Proof.
  induction cs as [|c' cs IH]; simpl; intros i prev h l.
  - intros [<-|[]]. moments. auto.
  - destruct h as [h1 h2]. intros [<-|h]; [moments; auto|].
    destruct c'; try (apply (IH (S i) (at_instr o i)); auto; rewrite v_T; auto; fail).
    destruct h2 as [h2 h3]. destruct h as [<-|h]; [moments; auto|].
    apply (IH (S i) (at_left o i)); auto. rewrite v_L; auto.
Qed.
Lemma arrival_facts_hold o l : In l (arrival_facts o (rw (of o))) -> holds v l.
Proof.
  pose proof (@ni o) as n. unfold arrival_facts. destruct (writes (rw (of o))) eqn:w; [|intros []].
  apply W_iff in w; auto. destruct (inc2 (rw (of o))) eqn:i2.
  - assert (h : l2 (of o)) by (apply l2_iff; auto). apply l2s in h as (_&_&h).
    intros [<-|[<-|[]]]; moments; lia.
  - intros [<-|[]]. moments. apply arrs; auto. rewrite l2_iff; auto. congruence.
Qed.
Lemma pair_facts_hold l : In l (fst (pair_facts lr lx Rb Rc)) -> holds v l.
Proof.
  unfold pair_facts. cbn [fst]. rewrite !in_app_iff. intros [h|[h|[h|h]]]; revert h.
  - apply code_order_holds. rewrite v_S. apply code_seq, nb.
  - apply code_order_holds. rewrite v_S. apply code_seq, nc.
  - exact (@arrival_facts_hold false l).
  - exact (@arrival_facts_hold true l).
Qed.
Lemma outside_holds p o hs cl :
  (forall f u, In (f, u) hs -> v p <= t (of o) f \/ mark_time (of o) u <= v p) ->
  In cl (map (outside p o) hs) -> sat v cl.
Proof.
  intros H h. apply in_map_iff in h as ([f u]&<-&h). apply one_holds. moments. apply H, h.
Qed.
Lemma unlocked_holds p o cl : unlocked (of o) (v p) ->
  In cl (if lx then map (outside p o) (L2_intervals (rw (of o))) else []) -> sat v cl.
Proof.
  intros H h. destruct lx eqn:X; [|destruct h]. revert h. apply outside_holds.
  intros f u. apply H, X.
Qed.
Lemma exclusive_holds hs hs' cl :
  (forall f u f' u', In (f, u) hs -> In (f', u') hs' ->
    mark_time b u <= t c f' \/ mark_time c u' <= t b f) ->
  In cl (flat_map (fun h => map (exclusive h) hs') hs) -> sat v cl.
Proof.
  intros H h. apply in_flat_map in h as ([f u]&h1&h2). apply in_map_iff in h2 as ([f' u']&<-&h2).
  apply one_holds. moments. apply H; auto.
Qed.
Lemma lock_clauses_hold cl : In cl (snd (pair_facts lr lx Rb Rc)) -> sat v cl.
Proof.
  assert (ne' : wg c <> wg b) by auto. unfold pair_facts, lock_clauses. cbn [snd].
  rewrite in_app_iff. intros [h|h].
  - destruct lr eqn:X; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + revert h. apply exclusive_holds. intros f u f' u' h h'.
      apply (lock_rmw (o := b) (p := c) X (f := f) (u := u)); auto.
    + destruct (inc Rc) eqn:I; [|destruct h]. revert h. apply outside_holds. intros f u h.
      rewrite v_c. apply (lock_rmw (o := b) (p := c) X (f := f) (u := u)); auto.
    + destruct (inc Rb) eqn:I; [|destruct h]. revert h. apply outside_holds. intros f u h.
      rewrite v_b. apply (lock_rmw (o := c) (p := b) X (f := f) (u := u)); auto.
  - destruct lx eqn:X; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + revert h. apply exclusive_holds. intros f u f' u' h h'.
      apply (lock_L2 (o := b) (p := c) X (f := f) (u := u)); auto.
    + destruct (writes Rc) eqn:W; [|destruct h]. revert h. apply outside_holds. intros f u h.
      apply W_iff in W; auto. rewrite v_A.
      apply (lock_L2 (o := b) (p := c) X (f := f) (u := u)); auto.
    + destruct (writes Rb) eqn:W; [|destruct h]. revert h. apply outside_holds. intros f u h.
      rewrite v_A. apply (lock_L2 (o := c) (p := b) X (f := f) (u := u)); auto.
Qed.

(** ** Flushes and invalidations, of the own operation and of those of the other that reach it *)
Notation flushes o := (flush_points o (rw (of o)) true ++
  flush_points (negb o) (rw (of (negb o))) false).
Notation invs o := (inv_points o (rw (of o)) true ++ inv_points (negb o) (rw (of (negb o))) false).
Lemma flushes_drain o p : In p (flushes o) -> forall w, isW w -> ~ init w -> wg w = wg (of o) ->
  T w < v (fst p) -> arr w < v (snd p).
Proof.
  intros h w w1 w2 w3. apply in_app_iff in h. unfold flush_points, pts in h.
  destruct h as [h|h]; apply in_map_iff in h as (j&<-&h);
    apply in_places_of in h as (k&[]&->&h1&h2); try discriminate; cbn [fst snd];
    rewrite v_T, v_L; eapply flu_drains; eauto using ni.
  destruct r; [discriminate|auto].
Qed.
Lemma invs_reach o j : In j (invs o) -> inv (wg (of o)) (v j).
Proof.
  intro h. apply in_app_iff in h. unfold inv_points in h.
  destruct h as [h|h]; apply in_map_iff in h as (i&<-&h);
    apply in_places_of in h as (k&[]&->&h1&h2); try discriminate; rewrite v_T;
    eapply inv_reaches; eauto using ni.
  destruct r; [discriminate|auto].
Qed.
(** A write that is made at [pw] and arrives at [pa]. *)
Lemma drained_holds o pw pa w cl : isW w -> ~ init w -> wg w = wg (of o) -> v pw = T w ->
  v pa = arr w -> In cl (drained pw pa (flushes o)) -> sat v cl.
Proof.
  intros w1 w2 w3 w4 w5 h. apply in_map_iff in h as (p&<-&h). apply one_holds. simpl.
  destruct (le_lt_dec (v (fst p)) (v pw)) as [q|q]; [auto|right].
  rewrite w5. apply (flushes_drain h); auto. lia.
Qed.
Lemma no_inv_holds o x y cl : (forall i, inv (wg (of o)) i -> v x < i -> ~ i < v y) ->
  In cl (map (fun i => [(i, false, x); (y, false, i)]) (invs o)) -> sat v cl.
Proof.
  intros H h. apply in_map_iff in h as (i&<-&h). apply one_holds. simpl.
  specialize (H _ (invs_reach h)). lia.
Qed.

(** ** SYNC *)
Lemma SYNC_of_pair : arr b < look -> look <= T c -> (inc2 Rc = true -> look = T c) ->
  unlocked b look -> sync_ok lr lx Rb Rc = true -> carries (wg b) (s b) (wg c) (e c).
Proof.
  intros g1 g2 g3 g4 K. apply NNPP. intro N. unfold sync_ok in K.
  pose proof pair_facts_hold as PF. pose proof lock_clauses_hold as PC.
  destruct (pair_facts lr lx Rb Rc) as [fs cs]. cbn [fst snd] in PF, PC.
  apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]]; [moments; auto..|]. apply in_app_iff in h as [h|h]; [|auto].
    destruct (inc2 Rc) eqn:q; [|destruct h]. destruct h as [<-|[]]. moments. rewrite g3; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]]; [auto|..].
    + exact (@unlocked_holds (at_look false) false _ g4 h).
    + exact (@drained_holds false _ _ b _ bw nb eq_refl v_b (v_A false) h).
    + apply in_flat_map in h as (j&hj&h). apply in_map_iff in h as (q&<-&hq).
      assert (no : ~ (s b <= v j /\ v j < e c /\ s b <= v (fst q) /\ v (snd q) <= v j)).
      { intros (j1&j2&j3&j4). apply N. exists (v j). split; [exact (@invs_reach true _ hj)|].
        split; auto. intros x (x1&x2). destruct (classic (init x)) as [i|i]; auto. right.
        destruct x2 as [x2|[x2|[x2 x3]]]; [tauto|lia|].
        pose proof (@flushes_drain false _ hq x x1 i x2). lia. }
      change (s b) with (v (at_start false)) in no. change (e c) with (v (at_end true)) in no.
      destruct (le_lt_dec (v (at_end true)) (v j)) as [q1|q1].
      { exists (at_end true, false, j). split; [simpl; auto|exact q1]. }
      destruct (le_lt_dec (v (at_start false)) (v j)) as [q2|q2].
      2:{ exists (j, true, at_start false). split; [simpl; auto|exact q2]. }
      destruct (le_lt_dec (v (at_start false)) (v (fst q))) as [q3|q3].
      2:{ exists (fst q, true, at_start false). split; [simpl; auto|exact q3]. }
      exists (j, true, snd q). split; [simpl; auto|]. simpl. lia.
Qed.

Lemma SYNC_afresh_of_pair : arr b < look -> look <= T c -> (inc2 Rc = true -> look = T c) ->
  unlocked b look -> sync_afresh_ok lr lx Rb Rc = true -> arrives_before (wg b) (s b) (e c).
Proof.
  intros g1 g2 g3 g4 K. apply NNPP. intro N. unfold sync_afresh_ok in K.
  pose proof pair_facts_hold as PF. pose proof lock_clauses_hold as PC.
  pose proof (times nb) as (_&b1&_). pose proof (times nc) as (_&_&c1).
  assert (b2 : T b <= arr b).
  { destruct (classic (l2 b)) as [h|h]; [apply l2s in h; lia|]. pose proof (arrs bw nb h). lia. }
  destruct (pair_facts lr lx Rb Rc) as [fs cs]. cbn [fst snd] in PF, PC.
  apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]]; [moments; auto..|]. apply in_app_iff in h as [h|h]; [|auto].
    destruct (inc2 Rc) eqn:q; [|destruct h]. destruct h as [<-|[]]. moments. rewrite g3; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]]; [auto|..].
    + exact (@unlocked_holds (at_look false) false _ g4 h).
    + exact (@drained_holds false _ _ b _ bw nb eq_refl v_b (v_A false) h).
    + apply in_map_iff in h as (q&<-&hq). apply one_holds. simpl.
      change (v 0) with (s b). change (v 3) with (e c).
      destruct (le_lt_dec (s b) (v (fst q))) as [q1|q1]; [right|auto].
      destruct (le_lt_dec (v (snd q)) (e c)) as [q2|q2]; auto. exfalso. apply N.
      intros x (x1&x2). destruct (classic (init x)) as [i|i]; auto. right.
      destruct x2 as [x2|[x2|[x2 x3]]]; [tauto|lia|].
      pose proof (@flushes_drain false _ hq x x1 i x2). lia.
Qed.

(** ** ATOM *)
Hypothesis agreement : inc1 Rb = true -> agreed <= T b /\ unlocked c agreed /\
  forall i, inv (wg b) i -> agreed < i -> ~ i < T b.
Hypothesis cw : isW c.
Hypothesis b_first : arr b < arr c.
Lemma atom_facts l : In l (fst (atom_base lr lx Rb Rc)) -> holds v l.
Proof.
  unfold atom_base. pose proof pair_facts_hold as PF. destruct (pair_facts lr lx Rb Rc) as [fs cs].
  intros [<-|h]; [moments; auto|]. apply in_app_iff in h as [h|h]; [|auto].
  unfold agreement_facts in h. destruct (inc1 Rb); [|destruct h].
  destruct h as [<-|[]]. moments. apply agreement; auto.
Qed.
Lemma atom_clauses cl : In cl (snd (atom_base lr lx Rb Rc)) -> sat v cl.
Proof.
  unfold atom_base. pose proof lock_clauses_hold as PC.
  destruct (pair_facts lr lx Rb Rc) as [fs cs]. cbn [snd] in *. rewrite !in_app_iff.
  intros [h|[h|[h|h]]]; [|auto|..].
  - unfold agreement_clauses in h. destruct (inc1 Rb) eqn:i1; [|destruct h].
    destruct (agreement eq_refl) as (g1&g2&g3). apply in_app_iff in h as [h|h].
    + exact (@unlocked_holds at_agreement true _ g2 h).
    + revert h. apply (@no_inv_holds false). rewrite v_b. exact g3.
  - exact (@drained_holds false _ _ b _ bw nb eq_refl v_b (v_A false) h).
  - exact (@drained_holds true _ _ c _ cw nc eq_refl v_c (v_A true) h).
Qed.
Lemma ATOM_own_store w : look = T w -> look' = arr w -> isW w -> ~ init w -> ~ l2 w ->
  wg w = wg c -> loc w = loc c -> ~ l2 c -> T w < T c -> arr w <= arr c ->
  (forall i, inv (wg c) i -> T w < i -> ~ i < T c) -> atom_own lr lx Rb Rc = true -> arr b < arr w.
Proof.
  intros x1 x2 ww nw lw gw ll lc t1 t2 I K. apply NNPP. intro N. assert (AW : arr w <= T c).
  { destruct (le_lt_dec (arr w) (T c)) as [h|h]; auto.
    pose proof (merge ww cw nw nc lw lc gw ll t1 h). lia. }
  unfold atom_own in K. pose proof atom_facts as PF. pose proof atom_clauses as PC.
  destruct (atom_base lr lx Rb Rc) as [fs cs]. cbn [fst snd] in PF, PC.
  apply (@contra_sound v _ _ _ K).
  - pose proof (arrs ww nw lw).
    intros l [<-|[<-|[<-|[<-|[<-|h]]]]]; try (moments; simpl of; lia). auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]]; [auto|..].
    + refine (@unlocked_holds (at_look true) false _ _ h). rewrite v_X, x2.
      apply arrival_unlocked; simpl of; auto; congruence.
    + exact (@drained_holds true (at_look false) (at_look true) w _ ww nw gw x1 x2 h).
    + revert h. apply (@no_inv_holds true). rewrite v_X, v_c, x1. exact I.
Qed.
Lemma ATOM_fetch : look = ft c -> ft c < T c -> fetched c ->
  (forall i, inv (wg c) i -> ft c < i -> ~ i < T c) -> atom_ft lr lx Rb Rc = true -> arr b < ft c.
Proof.
  intros x1 t1 F I K. apply NNPP. intro N.
  unfold atom_ft in K. pose proof atom_facts as PF. pose proof atom_clauses as PC.
  destruct (atom_base lr lx Rb Rc) as [fs cs]. cbn [fst snd] in PF, PC.
  apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]]; try (moments; simpl of; lia). auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|h]]; [auto|..].
    + refine (@unlocked_holds (at_look false) false _ _ h). rewrite v_X, x1.
      apply fetch_unlocked; auto.
    + revert h. apply (@no_inv_holds true). rewrite v_X, v_c, x1. exact I.
Qed.
End Pair.

(** ** The whole table *)
Section Table.
Variable sync : bool -> bool -> row -> row -> bool.
Hypothesis CHECK : check_by sync tbl = true.
Lemma pair_ok b c : isW b -> at_ b -> at_ c -> incl b c -> wg b <> wg c ->
  (isR c -> sync lr lx (rw b) (rw c) = true) /\
  (isW c -> isR c -> atom_ok lr lx (rw b) (rw c) = true).
Proof.
  intros bw ab ac I ne. destruct (at_row ab) as [nb xb]. destruct (at_row ac) as [nc xc].
  destruct (its_op nb) as (p&_&[ib _]&_). destruct (its_op nc) as (q&_&[ic _]&_).
  destruct (@check_pairs sync tbl (rw b) (rw c)) as [S A]; auto using incl_ok.
  { apply W_iff; auto. }
  split; [|intro w]; intro r; [apply S|apply A]; rewrite ?W_iff, ?R_iff in *; auto.
  unfold isrmw. rewrite w. auto.
Qed.
(** A look at which [c], or its L1 before, got [b] or newer. *)
Lemma got_look b c r : isW b -> at_ b -> at_ c -> wg b <> wg c -> loc b = loc c ->
  isR r -> wg r = wg c -> loc r = loc c -> T r <= T c ->
  (l2 r /\ arr b < T r \/ fetched r /\ arr b < ft r) -> (l2 c -> r = c) ->
  exists look, arr b < look /\ look <= T c /\ (inc2 (rw c) = true -> look = T c) /\ unlocked b look.
Proof.
  intros bw ab ac ne l rr gr lr0 tr D lc. destruct (at_row ab) as [nb xb].
  destruct (at_row ac) as [nc xc]. assert (nr : ~ init r) by (intro i; apply inits in i; tauto).
  assert (gl : wg b <> wg r /\ loc b = loc r) by (split; congruence). destruct gl as [g' l'].
  destruct D as [[D1 D2]|[D1 D2]].
  - destruct (l2s D1) as (w&_&ra). exists (T r). repeat split; auto.
    + intro i. apply l2_iff in i; auto. rewrite (lc i). auto.
    + rewrite <- ra. apply arrival_unlocked; auto.
  - destruct (rf_tot rr) as [w rf]. destruct (look_ft rf D1) as (_&q&_).
    exists (ft r). split; auto. split; [lia|]. split; [|apply fetch_unlocked; auto].
    intro i. apply l2_iff in i; auto. exfalso. apply D1. rewrite (lc i). auto.
Qed.
(** If [b] is an Inc_L1, its L1 had agreed with the L2 at some time, and no Inv came since. *)
Lemma agreement_exists b c : ~ init b -> ~ init c -> wg b <> wg c -> loc b = loc c -> isW b ->
  first b -> exists y, inc1 (rw b) = true ->
  y <= T b /\ unlocked c y /\ forall i, inv (wg b) i -> y < i -> ~ i < T b.
Proof.
  intros nb nc ne l bw F. destruct (inc1 (rw b)) eqn:i1; [|exists 0; discriminate].
  assert (L2 : ~ l2 b).
  { intro h. apply l2_iff in h; auto. unfold inc1 in i1. unfold inc2 in h.
    destruct (access (rw b)); discriminate. }
  assert (rb : isR b).
  { destruct (its_op nb) as (p&_&_&w). apply andb_prop in w as [_ w]. apply R_iff; auto.
    unfold inc1 in i1. unfold reads.
    destruct (row_kind (rw b)), (access (rw b)); auto; discriminate. }
  destruct (rf_tot rb) as [w r]. destruct (rf_dom r) as (ww&_&lw).
  destruct (classic (own b)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). pose proof (arrs ww q1 q3).
    exists (arr w). intros _. split; [|split].
    + destruct (le_lt_dec (arr w) (T b)) as [h|h]; auto.
      destruct (F w ww q1 q2 lw q4). apply merge; auto.
    + apply arrival_unlocked; auto; congruence.
    + intros i h h'. apply q6; auto. lia.
  - assert (Fe : fetched b) by (unfold fetched; auto).
    destruct (look_ft r Fe) as (q0&q1&q2&q3&q4&q5&q6). exists (ft b). intros _. split; [lia|].
    split; auto. apply fetch_unlocked; auto.
Qed.
Theorem ATOM_ok : ATOM_holds.
Proof.
  intros w u k [uw ur] r ak au I ne F0 m. destruct (at_row ak) as [nk xk].
  destruct (at_row au) as [nu xu]. pose proof m as (kw&_&l&d&m'). assert (m0 : arr k < arr u).
  { destruct m' as [m'|[m' _]]; auto. destruct (dist kw uw d l m') as (q&_). tauto. }
  destruct (rf_dom r) as (ww&_&lw). assert (FIN : arr k < arr w -> mme k w).
  { intro h. right. repeat split; auto; try congruence. intros ->. lia. }
  destruct (classic (l2 u)) as [L2|L2].
  { destruct (look_l2 r L2) as [_ q]. apply q; auto. destruct (l2s L2) as (_&_&q'). lia. }
  destruct (pair_ok kw ak au I ne) as [_ A]. specialize (A uw ur). unfold atom_ok in A.
  destruct (inc2 (rw u)) eqn:i2. { destruct L2. apply l2_iff; auto. }
  simpl in A. apply andb_prop in A as [A1 A2].
  destruct (agreement_exists nk nu ne l kw F0) as [y GB]. destruct (classic (own u)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). apply FIN.
    apply (@ATOM_own_store k u nk nu ne kw l (T w) (arr w) y GB uw m0 w); auto.
    apply order; auto.
  - assert (F : fetched u) by (unfold fetched; auto).
    destruct (look_ft r F) as (q0&q1&q2&q3&q4&q5&q6). apply q3; auto.
    apply (@ATOM_fetch k u nk nu ne kw l (ft u) 0 y GB uw m0); auto.
Qed.
End Table.
Theorem SYNC_ok : check tbl = true -> SYNC_holds.
Proof.
  intros C b c r bw ab cr ac I ne l rr gr lr0 tr D lc. destruct (at_row ab) as [nb _].
  destruct (at_row ac) as [nc _]. destruct (pair_ok C bw ab ac I ne) as [S _].
  destruct (@got_look b c r) as (look&g1&g2&g3&g4); auto.
  apply (@SYNC_of_pair b c nb nc ne bw l look 0 0); auto.
Qed.
Theorem SYNC_afresh_ok : check_by sync_afresh_ok tbl = true -> SYNC_afresh_holds.
Proof.
  intros C b c r bw ab cr ac I ne l rr gr lr0 tr D lc. destruct (at_row ab) as [nb _].
  destruct (at_row ac) as [nc _]. destruct (pair_ok C bw ab ac I ne) as [S _].
  destruct (@got_look b c r) as (look&g1&g2&g3&g4); auto.
  apply (@SYNC_afresh_of_pair b c nb nc ne bw l look 0 0); auto.
Qed.
End Check.
