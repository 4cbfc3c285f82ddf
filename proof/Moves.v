(** * Out of the way of the lock of y

    If [b], as an RMW in its L1, or [c] is executed while the other thread holds the lock of y in
    the L2, then all that the other thread does with y is before that, or after.  So the thread can
    be put in another order: what it does in that time up to its access comes before the lock is
    taken, or what it does from there on comes after it is freed, or all of it does, and x with it.
    Which of them is right depends on when x arrives: [moved_away].  So there is a plan in which
    nothing is in the way ([plan_away]), as docs/proof.md, Exactness, claims. *)
Require Import List Arith Bool Lia Classical Thm1 Obligations Complete Refuted Schedule Plans.
Import ListNotations.
Set Implicit Arguments.

Section Moves.
Variables b c : row.
Hypothesis W : writes b = true.
Hypothesis R : reads c = true.
Hypothesis b_once : one_access b = true.
Hypothesis c_once : one_access c = true.
Notation prog := (prog b c).
Notation instr_at := (instr_at b c).
Notation at_b := (at_b b).
Notation at_c := (at_c c).
Notation at_load := (at_load c).
Notation LK_y := (LK_L2 y : instr nat place).
Notation UL_y := (UL_L2 y : instr nat place).
Notation holding := (holding b c).
Definition at_access w := match w with 0 => at_b | _ => at_c end.

(** Thread [o] takes the lock at [f] and frees it at [e]; in between it has nothing to do with rmw
    locks. *)
Record hold o f e : Prop := {
  takes : instr_at o f = Some LK_y;
  frees : instr_at o e = Some UL_y;
  takes_before : f < e;
  keeps : forall j, f < j -> j < e -> instr_at o j <> Some UL_y;
  had_not : forall j, j < f -> instr_at o j = Some LK_y ->
    exists i, j < i /\ i < f /\ instr_at o i = Some UL_y;
  calm : forall j, f < j -> j < e -> instr_at o j <> Some LK_rmw /\ instr_at o j <> Some UL_rmw }.

Section Move.
Variable T : nat -> nat -> nat.
Variables X Y : nat.
Hypothesis L : plan b c T X Y.
Variables o p f e : nat.
Hypothesis threads_are : o = 0 /\ p = 1 \/ o = 1 /\ p = 0.
Hypothesis H : hold o f e.
Variables l u : nat.
Hypothesis l_is : l = T o f.
Hypothesis u_is : u = T o e.
(** The access of [p] is in between, that of [o] is not. *)
Variable a : nat.
Hypothesis a_is : a = T p (at_access p).
Hypothesis inside : l < a /\ a < u.
Hypothesis away : T o (at_access o) < l \/ u < T o (at_access o).

(** What moves: with [early] what is not after [h], else what is not before it. *)
Variable early : bool.
Variable h : nat.
Hypothesis a_moves : if early then a <= h /\ h < u else l < h /\ h <= a.
Definition moved n := if early then (l <? n) && (n <=? h) else (h <=? n) && (n <? u).
Variable x_moves : bool.
Hypothesis x_inside : x_moves = true -> l < X /\ X < u.

Definition K := S u.
Definition stays n := 2 * ((n + 1) * K).
Definition moves n := if early then 2 * (l * K + (n - l)) else 2 * ((u + 1) * K + (n - l)).
Definition T' w k := if (w =? p) && moved (T w k) then moves (T w k) else stays (T w k).
Definition X' := if x_moves then moves X else stays X.

Lemma stays_stays n m : stays n < stays m <-> n < m.
Proof. unfold stays, K. split; nia. Qed.
Lemma moves_moves n m : l < n -> l < m -> (moves n < moves m <-> n < m).
Proof. unfold moves. destruct early; lia. Qed.
Lemma moves_stays n m : l < n -> n < u -> (moves n < stays m <-> if early then l <= m else u < m).
Proof. unfold moves, stays, K. destruct early; split; nia. Qed.
Lemma stays_moves n m : l < n -> n < u -> (stays m < moves n <-> if early then m < l else m <= u).
Proof. unfold moves, stays, K. destruct early; split; nia. Qed.
Lemma moved_inside n : moved n = true -> l < n /\ n < u.
Proof.
  unfold moved. pose proof a_moves. destruct early; intro q; apply andb_prop in q as [q1 q2];
    apply Nat.ltb_lt in q1 || apply Nat.leb_le in q1;
      apply Nat.ltb_lt in q2 || apply Nat.leb_le in q2; lia.
Qed.
Lemma moved_if n : moved n = true <-> if early then l < n /\ n <= h else h <= n /\ n < u.
Proof.
  unfold moved. destruct early; rewrite andb_true_iff, ?Nat.ltb_lt, ?Nat.leb_le; tauto.
Qed.
Lemma not_moved_if n : moved n = false <-> ~ if early then l < n /\ n <= h else h <= n /\ n < u.
Proof. rewrite <- moved_if. destruct (moved n); intuition congruence. Qed.

Lemma o_not_p : (o =? p) = false.
Proof. destruct threads_are as [[-> ->]|[-> ->]]; reflexivity. Qed.
Lemma T'_o k : T' o k = stays (T o k).
Proof. unfold T'. rewrite o_not_p. reflexivity. Qed.
Lemma T'_p k : moved (T p k) = true /\ T' p k = moves (T p k) \/
  moved (T p k) = false /\ T' p k = stays (T p k).
Proof. unfold T'. rewrite Nat.eqb_refl. simpl. destruct (moved (T p k)); auto. Qed.
Lemma hold_there : f < length (prog o) /\ e < length (prog o).
Proof.
  split; [exact (instr_there _ _ _ _ (takes H))|exact (instr_there _ _ _ _ (frees H))].
Qed.
Lemma other_time k k' : k < length (prog p) -> k' < length (prog o) -> T p k <> T o k'.
Proof.
  intros q q' E. destruct (@T_inj b c T X Y L p k o k' q q' E) as [E' _].
  destruct threads_are as [[-> ->]|[-> ->]]; discriminate.
Qed.
(** With what is outside of that time nothing changes. *)
Lemma outside_same k m : k < length (prog p) -> m < l \/ u < m ->
  (T' p k < stays m <-> T p k < m) /\ (stays m < T' p k <-> m < T p k).
Proof.
  intros q out. destruct (T'_p k) as [[i ->]|[i ->]].
  - apply moved_inside in i. rewrite moves_stays, stays_moves by lia. destruct early; lia.
  - rewrite !stays_stays. tauto.
Qed.
Lemma same_thread w k j : k < length (prog w) -> j < length (prog w) -> w = o \/ w = p ->
  k < j -> T' w k < T' w j.
Proof.
  intros q q' t lt. pose proof (T_grows L w lt q') as g. destruct t as [->| ->].
  - rewrite !T'_o. apply stays_stays. exact g.
  - destruct hold_there as [hf he]. pose proof (other_time q hf). pose proof (other_time q he).
    pose proof (other_time q' hf). pose proof (other_time q' he).
    destruct (T'_p k) as [[i ->]|[i ->]]; destruct (T'_p j) as [[i' ->]|[i' ->]].
    + apply moved_inside in i, i'. apply moves_moves; lia.
    + pose proof (moved_inside _ i). apply moves_stays; try lia. apply moved_if in i.
      apply not_moved_if in i'. destruct early; lia.
    + pose proof (moved_inside _ i'). apply stays_moves; try lia. apply moved_if in i'.
      apply not_moved_if in i. destruct early; lia.
    + apply stays_stays. exact g.
Qed.
Lemma is_o_or_p w : w < 2 -> w = o \/ w = p.
Proof. destruct threads_are as [[-> ->]|[-> ->]]; lia. Qed.
Lemma there_small w k : k < length (prog w) -> w < 2.
Proof. destruct w as [|[|w]]; try lia. destruct k; simpl; lia. Qed.

(** ** Locks *)

(** [p] neither takes nor has the lock of y in that time. *)
Lemma p_takes_not k : instr_at p k = Some LK_y -> T p k < l \/ u < T p k.
Proof.
  intro i. pose proof (instr_there _ _ _ _ i) as I. destruct hold_there as [hf he].
  pose proof (other_time I hf). pose proof (other_time I he).
  destruct (lt_eq_lt_dec (T p k) l) as [[q|q]|q]; [auto|lia|].
  destruct (lt_eq_lt_dec (T p k) u) as [[q'|q']|q']; [|lia|auto]. exfalso.
  apply (L2_locks L p k i). replace (1 - p) with o by (destruct threads_are as [[-> ->]|[-> ->]];
    auto).
  exists f. split; [exact (takes H)|]. split; [lia|]. intros j q1 q2.
  assert (e <= j). { destruct (le_lt_dec e j) as [d|d]; auto. exfalso. exact (keeps H q1 d q2). }
  assert (T o e <= T o j); [|lia]. destruct (Nat.eq_dec e j) as [->|n]; auto.
  apply Nat.lt_le_incl, (T_grows L); [lia|exact (instr_there _ _ _ _ q2)].
Qed.
Lemma p_has_not : ~ holding T LK_y UL_y p l.
Proof.
  rewrite l_is. pose proof (L2_locks L o f (takes H)) as q.
  replace (1 - o) with p in q by (destruct threads_are as [[-> ->]|[-> ->]]; auto). exact q.
Qed.
(** What [p] holds then it holds before the move, ... *)
Lemma p_holds_y m : holding T' LK_y UL_y p (stays m) -> holding T LK_y UL_y p m.
Proof.
  intros (k&q1&q2&q3). exists k. split; auto. pose proof (p_takes_not k q1) as out.
  pose proof (instr_there _ _ _ _ q1) as I.
  assert (still : T' p k = stays (T p k)).
  { destruct (T'_p k) as [[i _]|[_ i]]; auto. apply moved_inside in i. lia. }
  rewrite still in q2. apply (stays_stays (T p k) m) in q2. split; auto.
  intros j q4 q5. pose proof (q3 j q4 q5) as q. pose proof (instr_there _ _ _ _ q5) as J.
  destruct (le_lt_dec m (T p j)) as [|lt]; auto. exfalso.
  destruct (T'_p j) as [[i s]|[i s]]; rewrite s in q.
  - pose proof (moved_inside _ i) as [i1 i2]. pose proof (moves_stays m i1 i2) as ms.
    apply p_has_not. exists k. split; auto. pose proof (T_grows L p q4 J).
    split; [destruct early; lia|]. intros j' q6 q7.
    destruct (le_lt_dec l (T p j')) as [|lt']; auto. exfalso.
    specialize (q3 j' q6 q7). pose proof (instr_there _ _ _ _ q7) as J'.
    destruct (T'_p j') as [[i' s']|[_ s']]; [apply moved_inside in i'; lia|].
    rewrite s' in q3. pose proof (stays_stays (T p j') m). destruct early; lia.
  - apply (stays_stays (T p j) m) in lt. lia.
Qed.
Lemma p_holds_rmw m : m < l \/ u < m ->
  holding T' LK_rmw UL_rmw p (stays m) -> holding T LK_rmw UL_rmw p m.
Proof.
  intros out (k&q1&q2&q3). pose proof (instr_there _ _ _ _ q1) as I.
  exists k. split; auto. split; [apply (outside_same I out); exact q2|].
  intros j q4 q5. pose proof (instr_there _ _ _ _ q5) as J. specialize (q3 j q4 q5).
  destruct (le_lt_dec m (T p j)) as [|lt]; auto. apply (outside_same J out) in lt. lia.
Qed.
(** ... and what [o] holds at a moment of [p]. *)
Lemma o_holds lk ul k : k < length (prog p) ->
  (forall j, instr_at o j = Some lk \/ instr_at o j = Some ul -> T o j < l \/ u < T o j) ->
  holding T' lk ul o (T' p k) -> holding T lk ul o (T p k).
Proof.
  intros I out (j&q1&q2&q3). exists j. split; auto. rewrite T'_o in q2.
  split; [apply (outside_same I (out j (or_introl q1))); exact q2|].
  intros i q4 q5. specialize (q3 i q4 q5). rewrite T'_o in q3.
  destruct (le_lt_dec (T p k) (T o i)) as [|lt]; auto.
  apply (outside_same I (out i (or_intror q5))) in lt. lia.
Qed.
Lemma o_rmw_outside j : instr_at o j = Some LK_rmw \/ instr_at o j = Some UL_rmw ->
  T o j < l \/ u < T o j.
Proof.
  intro q. assert (J : j < length (prog o)) by (destruct q as [q|q]; exact (instr_there _ _ _ _ q)).
  destruct hold_there as [hf he]. pose proof (takes H). pose proof (frees H).
  destruct (lt_eq_lt_dec j f) as [[d|d]|d].
  - left. rewrite l_is. apply (T_grows L); auto.
  - subst j. destruct q; congruence.
  - destruct (lt_eq_lt_dec j e) as [[d'|d']|d'].
    + pose proof (calm H d d') as [n n']. destruct q; contradiction.
    + subst j. destruct q; congruence.
    + right. rewrite u_is. apply (T_grows L); auto.
Qed.
(** At its access [p] is now in no hold of [o]. *)
Lemma p_outside m : T' p (at_access p) <= m -> m <= T' p (at_access p) + 1 ->
  ~ holding T' LK_y UL_y o m.
Proof.
  intros m1 m2 (j&q1&q2&q3). destruct hold_there as [hf he].
  assert (mv : T' p (at_access p) = moves a).
  { rewrite a_is. destruct (T'_p (at_access p)) as [[_ q]|[q _]]; auto. rewrite <- a_is in q.
    apply not_moved_if in q.
    exfalso. apply q. destruct early; lia. }
  pose proof (moves_stays (T o j) (proj1 inside) (proj2 inside)) as ms.
  rewrite T'_o in q2. pose proof (instr_there _ _ _ _ q1) as J.
  assert (le : stays (T o j) <= moves a).
  { assert (stays (T o j) mod 2 = 0 /\ moves a mod 2 = 0); [|rewrite mv in *; lia].
    unfold stays, moves. rewrite !(Nat.mul_comm 2). destruct early; rewrite !Nat.mod_mul; auto. }
  assert (q3' : forall i, j < i -> instr_at o i = Some UL_y -> moves a <= stays (T o i)).
  { intros i q4 q5. specialize (q3 i q4 q5). rewrite T'_o in q3. lia. }
  pose proof (fun m => @stays_moves a m (proj1 inside) (proj2 inside)) as sm.
  assert (cases : early = true \/ early = false) by (destruct early; auto).
  destruct cases as [E|E]; rewrite E in ms, sm.
  - assert (jf : j < f).
    { destruct (le_lt_dec f j) as [q|q]; auto. exfalso. assert (l <= T o j); [|lia].
      rewrite l_is. destruct (Nat.eq_dec f j) as [->|n]; auto.
      apply Nat.lt_le_incl, (T_grows L); auto. lia. }
    destruct (had_not H jf q1) as (i&i1&i2&i3). specialize (q3' i i1 i3).
    pose proof (T_grows L o i2 hf). specialize (sm (T o i)). lia.
  - specialize (sm (T o e)). assert (ej : e <= j).
    { destruct (le_lt_dec e j) as [q|q]; auto. exfalso. specialize (q3' e q (frees H)). lia. }
    assert (u <= T o j).
    { rewrite u_is. destruct (Nat.eq_dec e j) as [->|n]; auto.
      apply Nat.lt_le_incl, (T_grows L); auto. lia. }
    destruct (Nat.eq_dec e j) as [q|q].
    + subst j. rewrite (frees H) in q1. discriminate.
    + pose proof (T_grows L o (k := e) (j := j) ltac:(lia) J). lia.
Qed.

(** ** x still arrives late enough *)
Lemma X'_is : X' = stays X \/ X' = moves X /\ l < X /\ X < u.
Proof.
  assert (xc : x_moves = true \/ x_moves = false) by (destruct x_moves; auto).
  unfold X'. destruct xc as [E|E]; rewrite E; auto.
Qed.
Lemma T'_is w k : k < length (prog w) ->
  T' w k = stays (T w k) /\ (w = p -> moved (T w k) = false) \/
  w = p /\ moved (T w k) = true /\ l < T w k /\ T w k < u /\ T' w k = moves (T w k).
Proof.
  intro q. destruct (is_o_or_p (there_small w q)) as [->| ->].
  - left. split; [apply T'_o|]. intro e0. destruct threads_are as [[? ?]|[? ?]]; congruence.
  - destruct (T'_p k) as [[i e0]|[i e0]]; auto. right. pose proof (moved_inside _ i). tauto.
Qed.
Lemma length_0 : 0 < length (prog 0). Proof. rewrite length_b. lia. Qed.
Lemma length_1 : at_load < length (prog 1). Proof. rewrite length_c. lia. Qed.
Definition x_fits := T' 0 0 < X' /\ drained_by b c T' (T' 0 0) X' /\
  forall w k, invalidates_L1 b c 1 w k -> T' w k < X' \/ T' 1 at_load < T' w k.

(** Up to its access [p] moves, and x comes later; or from there on, and x came before. *)
Lemma x_fits_around : x_moves = false -> T 0 0 < l -> h = a ->
  (if early then a < X else X < a /\ u < T 1 at_load) -> a < T 1 at_load -> x_fits.
Proof.
  intros xm before ha cs al. assert (xs : X' = stays X) by (unfold X'; rewrite xm; auto).
  assert (s0 : T' 0 0 = stays (T 0 0)) by (destruct (T'_is 0 length_0) as [[q _]|q]; [auto|lia]).
  assert (sl : T' 1 at_load = stays (T 1 at_load)).
  { destruct (T'_is 1 length_1) as [[q _]|(_&q&q1&q2&_)]; [auto|]. apply moved_if in q.
    destruct early; lia. }
  unfold x_fits. rewrite xs, s0, sl. split; [|split].
  - apply stays_stays. exact (X_after L).
  - intros w k r i q lt I. assert (J : k < length (prog w)) by lia.
    assert (lt' : T 0 0 < T w k).
    { destruct (T'_is w J) as [[e0 _]|(_&_&q1&_)]; [|lia]. rewrite e0 in lt.
      exact (proj1 (stays_stays _ _) lt). }
    pose proof (X_drained L w i q lt' I) as xd.
    destruct (T'_is w I) as [[e0 _]|(_&m&q1&q2&e0)]; rewrite e0; [apply stays_stays; exact xd|].
    pose proof (stays_moves X q1 q2) as sm. apply moved_if in m. destruct early; lia.
  - intros w k i. pose proof i as (r&i0&_). pose proof (instr_there _ _ _ _ i0) as I.
    pose proof (X_late L i) as xl. destruct (T'_is w I) as [[e0 _]|(_&m&q1&q2&e0)]; rewrite e0.
    + rewrite !stays_stays. exact xl.
    + pose proof (moves_stays X q1 q2) as ms. apply moved_if in m. destruct early; lia.
Qed.
(** All that [p] does then moves, and x with it. *)
Lemma x_fits_all : (if early then h + 1 = u else h = l + 1) ->
  (if x_moves then l < X /\ X < u else if early then X < l else u < X) ->
  (if early then p = 1 /\ T 0 0 < l /\ l < T 1 at_load /\ T 1 at_load < u
   else p = 0 /\ l < T 0 0 /\ T 0 0 < u /\ u < T 1 at_load) -> x_fits.
Proof.
  intros hu xm cs. destruct hold_there as [hf he].
  assert (all : forall n, l < n -> n < u -> moved n = true).
  { intros n n1 n2. apply moved_if. destruct early; lia. }
  assert (known : forall w k, k < length (prog w) -> T' w k = stays (T w k) /\
      (w = p -> T w k < l \/ u < T w k) \/
    w = p /\ l < T w k /\ T w k < u /\ T' w k = moves (T w k)).
  { intros w k q. destruct (T'_is w q) as [[e0 m]|(e1&m&q1&q2&e0)]; [left|right; auto].
    split; auto. intros e1. specialize (m e1). subst w.
    pose proof (other_time q hf). pose proof (other_time q he).
    destruct (le_lt_dec (T p k) l); [lia|]. destruct (le_lt_dec u (T p k)); [lia|].
    rewrite all in m by lia. discriminate. }
  assert (xs : X' = stays X /\ (if early then X < l else u < X) \/ X' = moves X /\ l < X /\ X < u).
  { unfold X'. assert (xc : x_moves = true \/ x_moves = false) by (destruct x_moves; auto).
    destruct xc as [E|E]; rewrite E in *; auto. }
  assert (s0 : T' 0 0 = (if early then stays (T 0 0) else moves (T 0 0))).
  { destruct (known 0 0 length_0) as [[q m]|(e0&q1&q2&q)]; rewrite q; destruct early; auto; lia. }
  assert (sl : T' 1 at_load = if early then moves (T 1 at_load) else stays (T 1 at_load)).
  { destruct (known 1 at_load length_1) as [[q m]|(e0&q1&q2&q)]; rewrite q; destruct early; auto;
      lia. }
  pose proof (X_after L) as xa. pose proof (fun m => @moves_moves m X) as mm.
  pose proof (fun m => @stays_moves X m) as sm. pose proof (fun m => @moves_stays X m) as ms.
  assert (ec : early = true \/ early = false) by (destruct early; auto).
  unfold x_fits. rewrite s0, sl. split; [|split].
  - destruct ec as [E|E]; rewrite E in cs, xs; try rewrite E in lt; try rewrite E;
      destruct xs as [[-> x1]|(->&x1&x2)].
    + apply stays_stays. exact xa.
    + apply sm; auto. rewrite E. lia.
    + apply moves_stays; [lia|lia|]. rewrite E. lia.
    + apply moves_moves; lia.
  - intros w k r i q lt I. assert (J : k < length (prog w)) by lia.
    assert (lt' : T 0 0 < T w k).
    { destruct (known w k J) as [[e0 m]|(e1&q1&q2&e0)]; rewrite e0 in lt;
        destruct ec as [E|E]; rewrite E in cs, xs, lt; try lia.
      - exact (proj1 (stays_stays _ _) lt).
      - pose proof (@moves_stays (T 0 0) (T w k) ltac:(lia) ltac:(lia)) as d. rewrite E in d. lia.
      - pose proof (@moves_moves (T 0 0) (T w k) ltac:(lia) ltac:(lia)). lia. }
    pose proof (X_drained L w i q lt' I) as xd.
    assert (out : w = o \/ w = p) by exact (is_o_or_p (there_small w J)).
    destruct (known w (S k) I) as [[e0 m]|(e1&q1&q2&e0)]; rewrite e0;
      destruct ec as [E|E]; rewrite E in cs, xs; try rewrite E in lt; try rewrite E;
        destruct xs as [[-> x1]|(->&x1&x2)].
    + apply stays_stays. exact xd.
    + apply ms; auto. rewrite E. lia.
    + apply stays_stays. exact xd.
    + apply ms; auto. rewrite E. destruct (le_lt_dec (T w (S k)) u) as [d|d]; [exfalso|exact d].
      destruct out as [->| ->]; [|specialize (m eq_refl); lia].
      destruct (known o k J) as [[e2 _]|(e2&_)]; [|destruct threads_are as [[? ?]|[? ?]]; lia].
      rewrite e2 in lt.
      pose proof (@moves_stays (T 0 0) (T o k) ltac:(lia) ltac:(lia)) as d'. rewrite E in d'.
      pose proof (steps_in_order L o I). lia.
    + pose proof (stays_moves X q1 q2) as sm'. rewrite E in sm'. lia.
    + apply moves_moves; lia.
    + lia.
    + apply moves_moves; lia.
  - intros w k i. pose proof i as (r&i0&_). pose proof (instr_there _ _ _ _ i0) as I.
    pose proof (X_late L i) as xl.
    destruct (known w k I) as [[e0 m]|(e1&q1&q2&e0)]; rewrite e0;
      destruct ec as [E|E]; rewrite E in cs, xs; try rewrite E in lt; try rewrite E;
        destruct xs as [[-> x1]|(->&x1&x2)].
    + destruct xl as [xl|xl]; [left; apply stays_stays; exact xl|right].
      apply moves_stays; [lia|lia|]. rewrite E. lia.
    + destruct (le_lt_dec l (T w k)) as [d|d]; [right|left].
      * apply moves_stays; [lia|lia|]. rewrite E. exact d.
      * apply sm; auto. rewrite E. lia.
    + rewrite !stays_stays. exact xl.
    + destruct xl as [xl|xl]; [left; apply sm; auto; rewrite E; lia|right; apply stays_stays;
        exact xl].
    + destruct xl as [xl|xl]; [lia|right; apply moves_moves; lia].
    + destruct xl as [xl|xl]; [left|right]; apply moves_moves; lia.
    + left. apply moves_stays; [lia|lia|]. rewrite E. lia.
    + destruct xl as [xl|xl]; [left; apply moves_moves; lia|lia].
Qed.

(** ** The plan afterwards, if x arrives as it is to *)
Definition Y' := if p =? 0 then T' 0 at_b + 1 else stays Y.
Hypothesis x_fits_now : x_fits.
(** For thread 0 that is an RMW in the L1, which arrives later; for thread 1 [b] came earlier. *)
Hypothesis first_moves : p = 0 -> inc1 b = true /\ u < Y.
Hypothesis second_moves : p = 1 -> inc2 c = false /\ b_in_L2 b T Y < l /\ T 0 at_b < l.

Lemma at_b_there : at_b < length (prog 0). Proof. exact (b_there b c b_once). Qed.
Lemma at_c_there : at_c < length (prog 1). Proof. exact (c_there b c c_once). Qed.
Lemma even w k : exists n, T' w k = 2 * n.
Proof.
  unfold T', moves, stays. destruct ((w =? p) && moved (T w k)); [destruct early|]; eauto.
Qed.
Lemma X'_even : exists n, X' = 2 * n.
Proof. unfold X', moves, stays. destruct x_moves; [destruct early|]; eauto. Qed.
Lemma T'_differ w k w' k' : k < length (prog w) -> k' < length (prog w') -> w <> w' ->
  T' w k <> T' w' k'.
Proof.
  assert (D : forall k k', k < length (prog p) -> k' < length (prog o) -> T' p k <> T' o k').
  { clear w k w' k'. intros k k' q q'. rewrite T'_o. pose proof (other_time q q') as ne.
    destruct (T'_p k) as [[i ->]|[i ->]].
    - apply moved_inside in i as [i1 i2]. pose proof (moves_stays (T o k') i1 i2).
      pose proof (stays_moves (T o k') i1 i2). destruct hold_there as [hf he].
      destruct (lt_eq_lt_dec (T o k') l) as [[d|d]|d]; destruct early; try lia.
      all: destruct (lt_eq_lt_dec (T o k') u) as [[d'|d']|d']; lia.
    - pose proof (stays_stays (T p k) (T o k')). pose proof (stays_stays (T o k') (T p k)). lia. }
  intros q q' ne E. pose proof (there_small w q). pose proof (there_small w' q').
  destruct (@is_o_or_p w) as [->| ->]; auto; destruct (@is_o_or_p w') as [->| ->]; auto.
  - exact (D _ _ q' q (eq_sym E)).
  - exact (D _ _ q q' E).
Qed.
Lemma X'_differs w k : k < length (prog w) -> X' <> T' w k.
Proof.
  intros q E. pose proof (X_apart L w q) as ne. pose proof (there_small w q).
  pose proof (stays_stays X (T w k)). pose proof (stays_stays (T w k) X).
  destruct hold_there as [hf he]. pose proof (X_apart L o hf). pose proof (X_apart L o he).
  destruct (@is_o_or_p w) as [->| ->]; auto.
  - rewrite T'_o in E. destruct X'_is as [xs|(xs&x1&x2)]; rewrite xs in E; [lia|].
    pose proof (moves_stays (T o k) x1 x2). pose proof (stays_moves (T o k) x1 x2).
    destruct early; lia.
  - pose proof (other_time q hf). pose proof (other_time q he).
    destruct (T'_p k) as [[i s]|[i s]]; rewrite s in E;
      destruct X'_is as [xs|(xs&x1&x2)]; rewrite xs in E.
    + apply moved_inside in i as [i1 i2]. pose proof (moves_stays X i1 i2).
      pose proof (stays_moves X i1 i2). destruct early; lia.
    + apply moved_inside in i as [i1 i2].
      pose proof (moves_moves x1 i1). pose proof (moves_moves i1 x1). lia.
    + lia.
    + pose proof (moves_stays (T p k) x1 x2). pose proof (stays_moves (T p k) x1 x2).
      destruct early; lia.
Qed.
Lemma odd_differs w k : Y' = T' 0 at_b + 1 -> Y' <> T' w k.
Proof. intros d q. destruct (even w k) as [n1 e1]. destruct (even 0 at_b) as [n2 e2]. lia. Qed.
Lemma p_cases : p = 0 /\ o = 1 \/ p = 1 /\ o = 0.
Proof. destruct threads_are as [[-> ->]|[-> ->]]; auto. Qed.

Lemma no_longer_held : if p =? 0 then ~ holding T' LK_y UL_y 1 (T' 0 at_b)
  else ~ holding T' LK_y UL_y 0 (T' 1 at_c).
Proof.
  pose proof (p_outside (m := T' p (at_access p)) (le_n _) ltac:(lia)) as q.
  destruct p_cases as [[e1 e2]|[e1 e2]]; rewrite e1, e2 in q; rewrite e1; exact q.
Qed.

Lemma moved_plan : plan b c T' X' Y' /\
  if p =? 0 then ~ holding T' LK_y UL_y 1 (T' 0 at_b) else ~ holding T' LK_y UL_y 0 (T' 1 at_c).
Proof.
  split; [|exact no_longer_held]. pose proof at_b_there as hb. pose proof at_c_there as hc.
  assert (same : forall w k j, j < length (prog w) -> k < j -> T' w k < T' w j).
  { intros w k j q q'. apply same_thread; auto; [lia|]. apply is_o_or_p, (there_small w q). }
  (* [b] in the L2, and when c gets it. *)
  assert (Y'_0 : p = 0 -> Y' = T' 0 at_b + 1) by (intro q; unfold Y'; rewrite q; reflexivity).
  assert (Y'_1 : p = 1 -> Y' = stays Y) by (intro q; unfold Y'; rewrite q; reflexivity).
  assert (T'_b : p = 1 -> T' 0 at_b = stays (T 0 at_b)).
  { intro q. destruct p_cases as [[q1 q2]|[q1 q2]]; [congruence|]. rewrite <- q2. apply T'_o. }
  assert (T'_c : p = 0 -> T' 1 at_c = stays (T 1 at_c)).
  { intro q. destruct p_cases as [[q1 q2]|[q1 q2]]; [|congruence]. rewrite <- q2. apply T'_o. }
  assert (rmw_at : forall w k, w < 2 -> k < length (prog w) -> (w = o -> T o k < l \/ u < T o k) ->
    ~ holding T LK_rmw UL_rmw (1 - w) (T w k) -> ~ holding T' LK_rmw UL_rmw (1 - w) (T' w k)).
  { intros w k q I out N N'. apply N. destruct (is_o_or_p q) as [e0|e0]; subst w.
    - replace (1 - o) with p in * by (destruct threads_are as [[-> ->]|[-> ->]]; auto).
      rewrite T'_o in N'. exact (p_holds_rmw (out eq_refl) N').
    - replace (1 - p) with o in * by (destruct threads_are as [[-> ->]|[-> ->]]; auto).
      exact (o_holds I o_rmw_outside N'). }
  split.
  - intros w k q. apply same; auto.
  - intros k j q q'. apply T'_differ; auto.
  - intros w k q. apply X'_differs. exact q.
  - intro i. pose proof (Y_apart L i) as [ya yb].
    destruct p_cases as [[q1 q2]|[q1 q2]].
    + split; [|intros w k _; apply odd_differs; auto]. rewrite (Y'_0 q1).
      destruct (even 0 at_b) as [n1 e1]. destruct X'_even as [n2 e2]. lia.
    + rewrite (Y'_1 q1). destruct (second_moves q1) as (_&s1&_). unfold b_in_L2 in s1.
      rewrite i in s1. split.
      * destruct X'_is as [->|(->&x1&x2)]; intro E.
        { pose proof (stays_stays X Y). pose proof (stays_stays Y X). lia. }
        pose proof (stays_moves Y x1 x2). destruct early; lia.
      * intros w k q E. specialize (yb w k q). pose proof (there_small w q) as w2.
        destruct (is_o_or_p w2) as [e0|e0]; subst w.
        { rewrite T'_o in E. pose proof (stays_stays (T o k) Y).
          pose proof (stays_stays Y (T o k)). lia. }
        pose proof (outside_same q (or_introl s1)). lia.
  - apply x_fits_now.
  - apply x_fits_now.
  - apply x_fits_now.
  - intro i. destruct p_cases as [[q1 q2]|[q1 q2]]; [rewrite (Y'_0 q1); lia|].
    rewrite (Y'_1 q1), (T'_b q1). apply stays_stays. exact (Y_after L i).
  - intro i. intros w k r q q' lt I. destruct p_cases as [[q1 q2]|[q1 q2]].
    + rewrite (Y'_0 q1). destruct (even w k) as [n1 e1]. destruct (even 0 at_b) as [n2 e2].
      pose proof (same w k (S k) I ltac:(lia)). lia.
    + rewrite (Y'_1 q1). rewrite (T'_b q1) in lt. destruct (second_moves q1) as (_&s1&s2).
      unfold b_in_L2 in s1. rewrite i in s1.
      assert (J : k < length (prog w)) by lia. pose proof (there_small w J) as w2.
      destruct (is_o_or_p w2) as [e0|e0]; subst w.
      * rewrite T'_o in *. apply (stays_stays Y (T o (S k))). apply (Y_drained L i o q q'); auto.
        apply (stays_stays (T 0 at_b) (T o k)). exact lt.
      * apply (outside_same I (or_introl s1)). apply (Y_drained L i p q q'); auto.
        apply (outside_same J (or_introl s2)). exact lt.
  - intro i. destruct p_cases as [[q1 q2]|[q1 q2]].
    + pose proof (p_outside (m := Y')) as out. rewrite q1, q2 in out.
      apply out; rewrite (Y'_0 q1); simpl; lia.
    + rewrite (Y'_1 q1). intro N. apply (Y_unlocked L i). revert N. rewrite <- q1. apply p_holds_y.
  - destruct p_cases as [[q1 q2]|[q1 q2]].
    + destruct (first_moves q1) as [i1 uy]. assert (i : inc2 b = false).
      { unfold inc1, inc2 in *. destruct (access b); auto; discriminate. }
      destruct (got L) as (g&g1&g2&g3). unfold b_in_L2 in *. rewrite i in *. exists (stays g).
      split; [|split].
      * rewrite (Y'_0 q1). destruct (even 0 at_b) as [n2 e2].
        assert (T' 0 at_b < stays g).
        { pose proof (outside_same (k := at_b) (m := g)) as os. rewrite q1 in os.
          apply os; auto; [right; lia|]. rewrite a_is in inside. rewrite q1 in inside.
          simpl in inside. lia. }
        unfold stays at 1. unfold stays in H0. lia.
      * rewrite (T'_c q1). pose proof (stays_stays (T 1 at_c) g). lia.
      * intro N. apply g3. revert N. rewrite <- q1. apply p_holds_y.
    + destruct (second_moves q1) as (_&s1&s2). exists (T' 1 at_c). split; [|split; auto].
      * assert (e0 : b_in_L2 b T' Y' = stays (b_in_L2 b T Y)).
        { unfold b_in_L2. destruct (inc2 b); [exact (T'_b q1)|exact (Y'_1 q1)]. }
        rewrite e0. pose proof (outside_same (k := at_c) (m := b_in_L2 b T Y)) as os.
        rewrite q1 in os.
        apply os; auto. rewrite a_is in inside. rewrite q1 in inside. simpl in inside. lia.
      * pose proof no_longer_held as n. rewrite q1 in n. exact n.
  - intros w k q. pose proof (instr_there _ _ _ _ q) as I. pose proof (there_small w I) as w2.
    apply rmw_at; auto; [|exact (rmw_locks L w k q)]. intros ->. apply (o_rmw_outside k). auto.
  - intros w k q. pose proof (instr_there _ _ _ _ q) as I. pose proof (there_small w I) as w2.
    intro N. apply (L2_locks L w k q). destruct (is_o_or_p w2) as [e0|e0]; subst w.
    + replace (1 - o) with p in * by (destruct threads_are as [[-> ->]|[-> ->]]; auto).
      rewrite T'_o in N. apply p_holds_y. exact N.
    + replace (1 - p) with o in * by (destruct threads_are as [[-> ->]|[-> ->]]; auto).
      pose proof (p_takes_not k q) as out. destruct N as (j&n1&n2&n3). exists j. split; auto.
      assert (still : T' p k = stays (T p k)).
      { destruct (T'_p k) as [[i _]|[_ i]]; auto. apply moved_inside in i. lia. }
      rewrite still, T'_o in n2. split; [apply stays_stays; exact n2|]. intros i i1 i2.
      specialize (n3 i i1 i2). rewrite still, T'_o in n3.
      pose proof (stays_stays (T o i) (T p k)). lia.
  - destruct (incs_unlocked L) as [n1 n2].
    assert (out : forall w, w = o -> T w (at_access w) < l \/ u < T w (at_access w)) by (intros w
      ->; exact away).
    split; intro i.
    + apply (rmw_at 0 at_b); auto. intros e0. rewrite <- e0. apply (out 0 e0).
    + apply (rmw_at 1 at_c); auto. intros e0. rewrite <- e0. apply (out 1 e0).
  - destruct (inc2s_unlocked L) as [n1 n2]. destruct p_cases as [[q1 q2]|[q1 q2]].
    + destruct (first_moves q1) as [i1 _]. split; intro i.
      { unfold inc1, inc2 in *. destruct (access b); discriminate. }
      intro N. apply (n2 i). rewrite (T'_c q1) in N. revert N. rewrite <- q1. apply p_holds_y.
    + destruct (second_moves q1) as (i2&_). split; intro i; [|congruence].
      intro N. apply (n1 i). rewrite (T'_b q1) in N. revert N. rewrite <- q1. apply p_holds_y.
Qed.
Lemma still_unlocked : p = 1 -> ~ holding T LK_y UL_y 1 (T 0 at_b) ->
  ~ holding T' LK_y UL_y 1 (T' 0 at_b).
Proof.
  intros q1 N N'. apply N. destruct p_cases as [[q _]|[_ q2]]; [congruence|].
  assert (e0 : T' 0 at_b = stays (T 0 at_b)) by (rewrite <- q2; apply T'_o).
  rewrite e0 in N'. revert N'. rewrite <- q1. apply p_holds_y.
Qed.
End Move.

(** ** Such a hold, around the place where a lock was taken *)
Hypothesis b_gives : frees_all b = true.
Hypothesis c_gives : frees_all c = true.
Hypothesis b_nests : nests false (code b) = true.
Hypothesis c_nests : nests false (code c) = true.

Lemma least_such (P : nat -> Prop) n : P n -> exists m, P m /\ forall k, P k -> m <= k.
Proof.
  intro h. induction n as [n IH] using lt_wf_ind.
  destruct (classic (exists k, k < n /\ P k)) as [(k&q&q')|N]; [exact (IH k q q')|].
  exists n. split; auto. intros k q. destruct (le_lt_dec n k) as [|d]; auto. exfalso. eauto.
Qed.
Lemma nests_held cs : forall k a, nests true cs = true ->
  (forall i, i < k -> nth_error cs i <> Some Ul_L2) -> nth_error cs k = Some a ->
  a <> Lk_rmw /\ a <> Ul_rmw.
Proof.
  induction cs as [|d cs IH]; intros k a N K n; [destruct k; discriminate|].
  destruct k as [|k].
  - injection n as ->. destruct a; try discriminate N; split; discriminate.
  - assert (K' : forall i, i < k -> nth_error cs i <> Some Ul_L2).
    { intros i q. apply (K (S i)). lia. }
    apply (IH k a); auto.
    destruct d; try exact N; try discriminate N. exfalso. exact (K 0 ltac:(lia) eq_refl).
Qed.
Lemma nests_from cs : forall f k a held, nests held cs = true -> nth_error cs f = Some Lk_L2 ->
  f < k -> (forall i, f < i -> i < k -> nth_error cs i <> Some Ul_L2) -> nth_error cs k = Some a ->
  a <> Lk_rmw /\ a <> Ul_rmw.
Proof.
  induction cs as [|d cs IH]; intros f k a held N nf lt K n; [destruct k; discriminate|].
  destruct k as [|k]; [lia|]. destruct f as [|f]; simpl in nf.
  - injection nf as ->. apply (@nests_held cs k a); auto. intros i q. apply (K (S i)); lia.
  - assert (N' : exists held', nests held' cs = true).
    { destruct d; simpl in N; try (apply andb_prop in N as [_ N]); eauto. }
    destruct N' as [held' N']. apply (IH f k a held'); auto; [lia|].
    intros i q q'. apply (K (S i)); lia.
Qed.
Lemma hold_around o j : instr_at o j = Some LK_y -> exists f e, hold o f e /\ f <= j /\ j < e.
Proof.
  intro q. destruct (instr_row _ _ _ _ q I) as (r&i&s&->&->&n&es).
  assert (s = Lk_L2) as -> by (destruct s; try discriminate es; reflexivity).
  assert (freeds : forallb freed (intervals takes_L2 frees_L2 (code (rw b c r)) 0 None) = true).
  { destruct (andb_prop _ _ b_gives), (andb_prop _ _ c_gives). destruct r; assumption. }
  destruct (@taken takes_L2 frees_L2 (code (rw b c r)) i Lk_L2) as (_&e0&a'&_&_&ie&ne&ua); auto.
  { intros []; discriminate || auto. }
  assert (a' = Ul_L2) as -> by (destruct a'; try discriminate ua; reflexivity).
  set (w := thread_of_row r) in *. set (j := place_of r i) in *.
  destruct (@least_such (fun e => j < e /\ instr_at w e = Some UL_y) (place_of r e0)) as (e&[e1
    e2]&e3).
  { split; [unfold j, place_of; destruct r; lia|]. unfold w. rewrite (row_instr _ _ _ _ ne).
    destruct r; reflexivity. }
  destruct (@least_such (fun f => f <= j /\ instr_at w f = Some LK_y /\
    forall i, f < i -> i <= j -> instr_at w i <> Some UL_y) j) as (f&(f1&f2&f3)&f4).
  { split; auto. split; auto. intros i' q1 q2. lia. }
  assert (keep : forall i', f < i' -> i' < e -> instr_at w i' <> Some UL_y).
  { intros i' q1 q2 q3. destruct (le_lt_dec i' j) as [d|d]; [exact (f3 i' q1 d q3)|].
    specialize (e3 i' (conj d q3)). lia. }
  exists f, e. split; [|lia]. split; auto; [lia| |].
  - intros j' q1 q2. apply NNPP. intro N.
    assert (f <= j'); [|lia]. apply f4. split; [lia|]. split; auto. intros i' q3 q4 q5.
    destruct (le_lt_dec i' f) as [d|d]; [|exact (f3 i' d q4 q5)].
    apply N. exists i'. split; auto. split; auto. destruct (Nat.eq_dec i' f); [congruence|lia].
  - intros k q1 q2.
    assert (C : forall lk, lk = LK_rmw \/ lk = UL_rmw -> instr_at w k <> Some lk).
    { intros lk ql qk. assert (is : match lk with LD _ | ST _ _ => False | _ => True end)
        by (destruct ql as [->| ->]; exact I).
      destruct (instr_row _ _ _ _ qk is) as (r'&k0&s&w'&k'&nk&ls).
      assert (r' = r) as -> by (unfold w in w'; destruct r, r'; auto; discriminate).
      destruct (instr_row _ _ _ _ f2 I) as (r'&f0&s'&w''&f'&nf&fs).
      assert (r' = r) as -> by (unfold w in w''; destruct r, r'; auto; discriminate).
      assert (s' = Lk_L2) as -> by (destruct s'; try discriminate fs; reflexivity).
      assert (N : nests false (code (rw b c r)) = true) by (destruct r; assumption).
      destruct (@nests_from (code (rw b c r)) f0 k0 s false N nf) as [n1 n2]; auto.
      - subst f k. unfold place_of in q1. destruct r; lia.
      - intros i' q3 q4 q5. apply (keep (place_of r i')).
        + subst f. unfold place_of. destruct r; lia.
        + subst k. unfold place_of in *. destruct r; lia.
        + unfold w. rewrite (row_instr _ _ _ _ q5). destruct r; reflexivity.
      - destruct ql as [->| ->]; destruct s; try discriminate ls; tauto. }
    split; apply C; auto.
Qed.

(** ** Each access out of the way *)
Definition away_from_0 T := ~ holding T LK_y UL_y 0 (T 1 at_c).
Definition away_from_1 T := ~ holding T LK_y UL_y 1 (T 0 at_b).
Lemma moved_away T X Y o p f e : plan b c T X Y -> o = 0 /\ p = 1 \/ o = 1 /\ p = 0 -> hold o f e ->
  T o f < T p (at_access p) /\ T p (at_access p) < T o e ->
  T o (at_access o) < T o f \/ T o e < T o (at_access o) ->
  (p = 0 -> inc1 b = true /\ T o e < Y /\ T o e < T 1 at_c) ->
  (p = 1 -> inc2 c = false /\ b_in_L2 b T Y < T o f /\ T 0 at_b < T o f) ->
  exists T' X' Y', plan b c T' X' Y' /\ (if p =? 0 then away_from_1 T' else away_from_0 T') /\
    (p = 1 -> away_from_1 T -> away_from_1 T').
Proof.
  intros L t H inside away first second.
  pose proof (b_there b c b_once : at_b < length (prog 0)) as hb.
  pose proof (c_there b c c_once : at_c < length (prog 1)) as hc.
  assert (hl : at_load < length (prog 1)) by (rewrite length_c; auto).
  assert (cl : T 1 at_c < T 1 at_load).
  { apply (T_grows L); auto. pose proof (pos_in c c_once). exact H0. }
  assert (al : T p (at_access p) < T 1 at_load).
  { destruct t as [[-> ->]|[-> ->]]; simpl in *; [exact cl|]. destruct first as (_&_&q); auto.
    lia. }
  assert (first' : p = 0 -> inc1 b = true /\ T o e < Y) by (intro q; destruct (first q); tauto).
  (* It is enough to say what moves. *)
  assert (enough : forall (early : bool) h (x_moves : bool),
    (if early then T p (at_access p) <= h < T o e else T o f < h <= T p (at_access p)) ->
    (x_moves = true -> T o f < X < T o e) ->
    x_fits T X p (T o f) (T o e) early h x_moves -> exists T' X' Y', plan b c T' X' Y' /\
      (if p =? 0 then away_from_1 T' else away_from_0 T') /\
      (p = 1 -> away_from_1 T -> away_from_1 T')).
  { intros early h xm am xi fits.
    destruct (moved_plan L t H eq_refl eq_refl eq_refl inside away (early := early) (h := h) am xi
      fits
      first' second) as [q q'].
    exists (T' T p (T o f) (T o e) early h), (X' X (T o f) (T o e) early xm),
      (Y' T Y p (T o f) (T o e) early h).
    split; [exact q|]. split; [exact q'|].
    exact (still_unlocked L t H eq_refl eq_refl eq_refl inside away (early := early) (h := h) am xi
      first' second). }
  assert (hp : at_access p < length (prog p)) by (destruct t as [[-> ->]|[-> ->]]; assumption).
  pose proof (X_apart L p hp) as xa. destruct (hold_there H) as [hf he].
  pose proof (X_apart L o hf) as xf. pose proof (X_apart L o he) as xe.
  assert (h0 : 0 < length (prog 0)) by (rewrite length_b; lia).
  assert (zero_apart : p = 0 -> T 0 0 <> T o f).
  { intros ->. destruct t as [[? ?]|[-> _]]; [discriminate|]. apply (steps_apart L); auto. }
  assert (load_apart : p = 1 -> T 1 at_load <> T o e).
  { intros ->. destruct t as [[-> _]|[_ ?]]; [|discriminate]. intro q.
    exact (steps_apart L he hl (eq_sym q)). }
  assert (zero_b : T 0 0 < T 0 at_b) by (apply (T_grows L); auto; unfold Schedule.at_b; lia).
  destruct (lt_dec (T 0 0) (T o f)) as [before|after].
  - destruct (lt_dec X (T p (at_access p))) as [xl|xl].
    + destruct (lt_dec (T o e) (T 1 at_load)) as [el|el].
      * apply (enough false (T p (at_access p)) false); [lia|discriminate|].
        apply (x_fits_around L t H eq_refl eq_refl eq_refl inside away); auto; [lia|discriminate].
      * assert (p1 : p = 1).
        { destruct t as [[-> ->]|[-> ->]]; auto. destruct first as (_&_&q); auto. lia. }
        specialize (load_apart p1).
        assert (xc : exists xm : bool, if xm then T o f < X < T o e else X < T o f).
        { destruct (lt_dec X (T o f)); [exists false|exists true]; lia. }
        destruct xc as [xm xc].
        apply (enough true (T o e - 1) xm); [lia|destruct xm; [auto|discriminate]|].
        apply (x_fits_all L t H eq_refl eq_refl eq_refl inside away); auto; try lia.
        all: try (destruct xm; solve [auto | discriminate]). all: rewrite p1 in *; lia.
    + apply (enough true (T p (at_access p)) false); [lia|discriminate|].
      apply (x_fits_around L t H eq_refl eq_refl eq_refl inside away); auto; [lia|discriminate|lia].
  - assert (p0 : p = 0).
    { destruct t as [[-> ->]|[-> ->]]; auto. destruct second as (_&_&q); auto. lia. }
    specialize (zero_apart p0).
    assert (xc : exists xm : bool, if xm then T o f < X < T o e else T o e < X).
    { pose proof (X_after L). destruct (lt_dec X (T o e)); [exists true|exists false]; lia. }
    destruct xc as [xm xc]. destruct first as (_&_&q); auto.
    apply (enough false (T o f + 1) xm); [lia|destruct xm; [auto|discriminate]|].
    apply (x_fits_all L t H eq_refl eq_refl eq_refl inside away); auto; try lia.
    all: try (destruct xm; solve [auto | discriminate]). all: subst p; simpl in inside; lia.
Qed.

(** The hold in which an access is. *)
Lemma in_hold T X Y o p : plan b c T X Y -> o = 0 /\ p = 1 \/ o = 1 /\ p = 0 ->
  holding T LK_y UL_y o (T p (at_access p)) ->
  exists f e, hold o f e /\ T o f < T p (at_access p) /\ T p (at_access p) < T o e.
Proof.
  intros L t (j&q1&q2&q3). destruct (@hold_around o j q1) as (f&e&H&l1&l2). exists f, e.
  destruct (hold_there H) as [hf he]. split; auto.
  assert (T o f <= T o j).
  { destruct (Nat.eq_dec f j) as [->|n]; auto. apply Nat.lt_le_incl, (T_grows L); [lia|].
    exact (instr_there _ _ _ _ q1). }
  specialize (q3 e l2 (frees H)).
  pose proof (b_there b c b_once : at_b < length (prog 0)) as hb.
  pose proof (c_there b c c_once : at_c < length (prog 1)) as hc.
  assert (T p (at_access p) <> T o e); [|lia]. intro q.
  destruct t as [[-> ->]|[-> ->]]; simpl in q.
  - exact (steps_apart L he hc (eq_sym q)).
  - exact (steps_apart L hb he q).
Qed.

Theorem plan_away T X Y : plan b c T X Y -> exists T' X' Y', plan b c T' X' Y' /\
  (inc1 b = true -> away_from_1 T') /\ (inc2 c = false -> away_from_0 T').
Proof.
  intro L0. assert (S : exists T X Y, plan b c T X Y /\ (inc1 b = true -> away_from_1 T)).
  { clear -L0 W R b_once c_once b_gives c_gives b_nests c_nests. rename L0 into L.
    destruct (inc1 b) eqn:i1; [|exists T, X, Y; split; [exact L|discriminate]].
    destruct (classic (away_from_1 T)) as [A|A]; [exists T, X, Y; auto|]. apply NNPP in A.
    assert (i2 : inc2 b = false).
    { unfold inc1, inc2 in *. destruct (access b); auto; discriminate. }
    destruct (@in_hold T X Y 1 0 L (or_intror (conj eq_refl eq_refl)) A) as (f&e&H&h1&h2).
    simpl in h1, h2.
    (* What [b] stores arrives when the lock is free again, and then [c] reads it. *)
    assert (uy : T 1 e < Y).
    { destruct (le_lt_dec Y (T 1 e)) as [d|d]; auto. exfalso. apply (Y_unlocked L i2).
      exists f. split; [exact (takes H)|]. pose proof (Y_after L i2). split; [lia|].
      intros j q1 q2. destruct (le_lt_dec e j) as [d'|d']; [|destruct (keeps H q1 d' q2)].
      destruct (Nat.eq_dec e j) as [->|n]; auto.
      pose proof (T_grows L 1 (k := e) (j := j) ltac:(lia) (instr_there _ _ _ _ q2)). lia. }
    destruct (got L) as (g&g1&g2&_). unfold b_in_L2 in g1. rewrite i2 in g1.
    destruct (@moved_away T X Y 1 0 f e L) as (T1&X1&Y1&L1&A1&_); auto.
    - simpl. lia.
    - intros _. split; auto. lia.
    - discriminate.
    - exists T1, X1, Y1. auto. }
  clear T X Y L0. destruct S as (T&X&Y&L&A1).
  destruct (inc2 c) eqn:i2; [exists T, X, Y; split; [exact L|split; [exact A1|discriminate]]|].
  destruct (classic (away_from_0 T)) as [A|A]; [exists T, X, Y; auto|]. apply NNPP in A.
  destruct (@in_hold T X Y 0 1 L (or_introl (conj eq_refl eq_refl)) A) as (f&e&H&h1&h2).
  simpl in h1, h2.
  (* What [c] reads was in the L2 before the lock was taken. *)
  assert (bl : b_in_L2 b T Y < T 0 f).
  { destruct (got L) as (g&g1&g2&g3). destruct (le_lt_dec g (T 0 f)) as [d|d]; [lia|]. exfalso.
    apply g3. exists f. split; [exact (takes H)|]. split; [exact d|].
    intros j q1 q2. destruct (le_lt_dec e j) as [d'|d']; [|destruct (keeps H q1 d' q2)].
    destruct (Nat.eq_dec e j) as [->|n]; [lia|].
    pose proof (T_grows L 0 (k := e) (j := j) ltac:(lia) (instr_there _ _ _ _ q2)). lia. }
  assert (tb : T 0 at_b < T 0 f).
  { unfold b_in_L2 in bl. destruct (inc2 b) eqn:i; [exact bl|]. pose proof (Y_after L i). lia. }
  destruct (@moved_away T X Y 0 1 f e L) as (T1&X1&Y1&L1&A2&K); auto.
  - discriminate.
  - exists T1, X1, Y1. split; [exact L1|]. split; [|intros _; exact A2]. intro i. apply K; auto.
Qed.
End Moves.
