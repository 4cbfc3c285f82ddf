(** * The refuter is complete: what it does not refute holds of some times

    What is known of the order is closed under transitivity.  If nothing is before itself, then to
    count what is before each moment gives times.  In the second half, what times there are if SYNC
    or ATOM is broken (docs/proof.md, What the table must show), as a construction of runs needs
    them: [sync_times] and [atom_times]. *)
Require Import List Arith NArith Lia Bool Thm1 Refuter Obligations.
Import ListNotations.
Set Implicit Arguments.

(** ** What is known stays closed *)
Definition le_known s x y := has (row_ (le s) x) y.
Definition lt_known s x y := has (row_ (lt s) x) y.
Record sized n s : Prop := { le_size : length (le s) = n; lt_size : length (lt s) = n }.
Record closed n s : Prop := {
  has_size :> sized n s;
  le_refl : forall x, x < n -> le_known s x x = true;
  le_trans : forall x y z, le_known s x y = true -> le_known s y z = true -> le_known s x z = true;
  lt_le : forall x y, lt_known s x y = true -> le_known s x y = true;
  lt_le_trans : forall x y z,
    lt_known s x y = true -> le_known s y z = true -> lt_known s x z = true;
  le_lt_trans : forall x y z,
    le_known s x y = true -> lt_known s y z = true -> lt_known s x z = true }.

Definition irreflexive s := forall x, lt_known s x x = false.

Lemma known_below n s x y : closed n s -> lt_known s x y = true -> x < n.
Proof.
  intros C h. destruct (le_lt_dec n x) as [q|q]; auto. exfalso.
  unfold lt_known, row_ in h. rewrite nth_overflow in h by (rewrite (lt_size C); auto).
  rewrite has0 in h. discriminate.
Qed.
Lemma start_le n x y : le_known (start n) x y = true <-> x = y /\ x < n.
Proof.
  unfold le_known, start, row_. cbn [le]. set (f := fun x => N.shiftl 1 (N.of_nat x)).
  destruct (le_lt_dec n x) as [h|h].
  - rewrite nth_overflow by (rewrite map_length, seq_length; auto). rewrite has0.
    split; [discriminate|lia].
  - rewrite (@nth_indep _ (map f (seq 0 n)) x 0%N (f 0)) by (rewrite map_length, seq_length; auto).
    rewrite (map_nth f), seq_nth by auto. rewrite Nat.add_0_l. unfold has, f.
    rewrite N.shiftl_1_l, N.pow2_bits_eqb, N.eqb_eq, Nat2N.inj_iff. split; intuition.
Qed.
Lemma start_lt n x y : lt_known (start n) x y = false.
Proof. unfold lt_known, start, row_. cbn [lt]. rewrite nth_repeat. apply has0. Qed.
Lemma start_closed n : closed n (start n).
Proof.
  split; try (intros x y; rewrite start_lt; discriminate).
  - split; unfold start; simpl; [rewrite map_length, seq_length; auto|apply repeat_length].
  - intros x h. apply start_le. auto.
  - intros x y z. rewrite !start_le. intuition congruence.
  - intros x y z _. rewrite start_lt. discriminate.
Qed.

Lemma has_or a b x : has (N.lor a b) x = has a x || has b x.
Proof. apply N.lor_spec. Qed.
Lemma add_le x b y s u w : le_known (add (x, b, y) s) u w =
  le_known s u w || (le_known s u x && le_known s y w).
Proof.
  unfold le_known, add. cbn [le]. rewrite row_map by (rewrite has0; auto).
  destruct (has (row_ (le s) u) x); [apply has_or|rewrite orb_false_r; auto].
Qed.
Lemma add_lt n x b y s u w : closed n s -> lt_known (add (x, b, y) s) u w =
  lt_known s u w || (lt_known s u x && le_known s y w) ||
  (le_known s u x && (if b then le_known s y w else lt_known s y w)).
Proof.
  intro C. unfold lt_known at 1. unfold add. cbn [lt]. unfold row_ at 1.
  set (f := fun p : N * N => let '(me, ml) := p in _).
  assert (f0 : f (0%N, 0%N) = 0%N) by (simpl; rewrite ?has0; auto).
  rewrite <- f0 at 1. rewrite map_nth, combine_nth by (rewrite (le_size C), (lt_size C); auto).
  unfold f. fold (row_ (le s) u). fold (row_ (lt s) u).
  pose proof (@lt_le n s C y w) as L. unfold lt_known, le_known in *.
  destruct (has (row_ (lt s) u) x).
  - rewrite has_or. destruct (has (row_ (le s) y) w), (has (row_ (le s) u) x),
      (has (row_ (lt s) u) w), (has (row_ (lt s) y) w), b; auto; discriminate (L eq_refl).
  - destruct (has (row_ (le s) u) x); [|rewrite !orb_false_r; auto].
    rewrite has_or, orb_false_r. destruct b; auto.
Qed.

Ltac bools := rewrite ?orb_true_iff, ?andb_true_iff in *.
Definition below n (l : lit) := let '(x, _, y) := l in x < n /\ y < n.
Lemma add_sized n l s : sized n s -> sized n (add l s).
Proof.
  destruct l as [[x b] y]. intros [p q]. split; unfold add; simpl.
  - rewrite map_length. auto.
  - rewrite map_length, combine_length, p, q. lia.
Qed.
(** If [y] is before [x], then to add that [x] is no later than [y] puts [y] before itself. *)
Lemma not_added n x b y s : closed n s -> irreflexive (add (x, b, y) s) -> y < n ->
  lt_known s y x = true -> False.
Proof.
  intros C I h k. specialize (I y). rewrite (add_lt x b y y y C), k, (le_refl C h) in I.
  rewrite orb_true_r in I. discriminate.
Qed.
Lemma add_closed n l s : closed n s -> below n l -> irreflexive (add l s) -> closed n (add l s).
Proof.
  destruct l as [[x b] y]. intros C [_ hy] I.
  assert (N : forall v, lt_known s y v = true -> le_known s v x = true -> False).
  { intros v h k. exact (not_added C I hy (lt_le_trans C _ _ _ h k)). }
  assert (N' : forall v, le_known s y v = true -> lt_known s v x = true -> False).
  { intros v h k. exact (not_added C I hy (le_lt_trans C _ _ _ h k)). }
  pose proof (le_trans C) as T. pose proof (lt_le C) as L.
  pose proof (lt_le_trans C) as A. pose proof (le_lt_trans C) as B. split.
  - apply add_sized, C.
  - intros u h. rewrite add_le, (le_refl C h). auto.
  - intros u v w. rewrite !add_le. bools. intros [h|[h h']] [k|[k k']]; auto.
    + left. exact (T _ _ _ h k).
    + right. split; auto. exact (T _ _ _ h k).
    + right. split; auto. exact (T _ _ _ h' k).
  - intros u v. rewrite add_le, (@add_lt n) by auto. bools.
    intros [[h|[h h']]|[h h']]; auto. right. destruct b; auto.
  - intros u v w. rewrite add_le, !(@add_lt n) by auto. bools.
    intros [[h|[h h']]|[h h']] [k|[k k']].
    + left; left. exact (A _ _ _ h k).
    + left; right. split; auto. exact (A _ _ _ h k).
    + left; right. split; auto. exact (T _ _ _ h' k).
    + left; right. auto.
    + right. split; auto. destruct b; [exact (T _ _ _ h' k)|exact (A _ _ _ h' k)].
    + right. split; auto. destruct b; auto. destruct (N _ h' k).
  - intros u v w. rewrite add_le, !(@add_lt n) by auto. bools.
    intros [h|[h h']] [[k|[k k']]|[k k']].
    + left; left. exact (B _ _ _ h k).
    + left; right. split; auto. exact (B _ _ _ h k).
    + right. split; auto. exact (T _ _ _ h k).
    + right. split; auto. pose proof (B _ _ _ h' k). destruct b; auto.
    + destruct (N' _ h' k).
    + right. auto.
Qed.

(** ** What was known stays known, and what is added is *)
Definition more s s' := (forall x y, le_known s x y = true -> le_known s' x y = true) /\
  (forall x y, lt_known s x y = true -> lt_known s' x y = true).
Lemma more_refl s : more s s. Proof. split; auto. Qed.
Lemma more_trans s s' s'' : more s s' -> more s' s'' -> more s s''.
Proof. intros [a b] [c d]. split; auto. Qed.
Lemma add_more n l s : sized n s -> more s (add l s).
Proof.
  intros [p q]. destruct l as [[x b] y].
  split; intros u w h; [rewrite add_le, h; auto|].
  unfold lt_known, add. cbn [lt]. unfold row_ at 1.
  set (f := fun p : N * N => let '(me, ml) := p in _).
  assert (f0 : f (0%N, 0%N) = 0%N) by (simpl; rewrite ?has0; auto).
  rewrite <- f0 at 1. rewrite map_nth, combine_nth by lia.
  unfold f. fold (row_ (le s) u). fold (row_ (lt s) u). unfold lt_known in h.
  destruct (has (row_ (lt s) u) x); [rewrite has_or, h; auto|].
  destruct (has (row_ (le s) u) x); [rewrite has_or, h|]; auto.
Qed.
Lemma irreflexive_before s s' : more s s' -> irreflexive s' -> irreflexive s.
Proof.
  intros [_ M] I x. specialize (M x x). specialize (I x).
  destruct (lt_known s x x); auto. rewrite M in I; auto.
Qed.
Lemma yes_more s s' l : more s s' -> yes s l = true -> yes s' l = true.
Proof. intros [a b]. destruct l as [[x []] y]; [apply b|apply a]. Qed.
Lemma add_yes n l s : closed n s -> below n l -> yes (add l s) l = true.
Proof.
  intros C. destruct l as [[x b] y]. intros [hx hy]. unfold yes.
  pose proof (le_refl C hx) as X. pose proof (le_refl C hy) as Y. destruct b.
  - fold (lt_known (add (x, true, y) s) x y). rewrite (@add_lt n), X, Y by auto.
    apply orb_true_r.
  - fold (le_known (add (x, false, y) s) x y). rewrite add_le, X, Y. apply orb_true_r.
Qed.

(** ** Times: how much is before each moment *)
Definition times n s x := length (filter (fun z => lt_known s z x) (seq 0 n)).
Lemma filter_le A (f g : A -> bool) l : (forall z, f z = true -> g z = true) ->
  length (filter f l) <= length (filter g l).
Proof.
  intro h. induction l as [|a l IH]; simpl; auto. specialize (h a).
  destruct (f a), (g a); simpl; lia.
Qed.
Lemma filter_lt A (f g : A -> bool) l z : (forall z, f z = true -> g z = true) ->
  In z l -> f z = false -> g z = true -> length (filter f l) < length (filter g l).
Proof.
  intros h. induction l as [|a l IH]; simpl; [tauto|]. intros [->|i] e k.
  - rewrite e, k. simpl. pose proof (@filter_le A f g l h). lia.
  - specialize (IH i e k). specialize (h a). destruct (f a), (g a); simpl; lia.
Qed.
Lemma not_bad l : forall i, badfrom i l = false -> forall x, has (row_ l x) (i + x) = false.
Proof.
  induction l as [|m l IH]; intros i h x.
  - unfold row_. destruct x; apply has0.
  - simpl in h. apply orb_false_iff in h as [h h']. destruct x as [|x].
    + rewrite Nat.add_0_r. exact h.
    + rewrite Nat.add_succ_r. exact (IH (S i) h' x).
Qed.
Lemma times_hold n s l : closed n s -> irreflexive s -> yes s l = true ->
  holds (times n s) l.
Proof.
  intros C B. destruct l as [[x []] y]; simpl; intro h.
  - apply (@filter_lt nat _ _ _ x).
    + intros z k. exact (lt_le_trans C _ _ _ k (lt_le C _ _ h)).
    + apply in_seq. pose proof (@known_below n s x y C h). lia.
    + exact (B x).
    + exact h.
  - apply filter_le. intros z k. exact (lt_le_trans C _ _ _ k h).
Qed.

(** ** A search that ends without a refutation has found such a state *)
Lemma simp_length s cs : length (simp s cs) <= length cs.
Proof. induction cs as [|c cs IH]; simpl; auto. destruct (existsb (yes s) c); simpl; lia. Qed.
Lemma simp_shorter s cs c : In c cs -> existsb (yes s) c = true -> length (simp s cs) < length cs.
Proof.
  intros i y. induction cs as [|d cs IH]; simpl in *; [tauto|]. destruct i as [->|i].
  - rewrite y. cbv iota. apply le_n_S, simp_length.
  - specialize (IH i). destruct (existsb (yes s) d); cbn [length]; [apply le_S, IH|].
    apply Nat.succ_lt_mono in IH. exact IH.
Qed.
Definition decided_by s (c : clause) := exists l, In l c /\ yes s l = true.
Lemma simp_decides s s' cs : more s s' -> (forall c, In c (simp s cs) -> decided_by s' c) ->
  forall c, In c cs -> decided_by s' c.
Proof.
  intro M. induction cs as [|d cs IH]; simpl; [tauto|]. intros H c.
  destruct (existsb (yes s) d) eqn:e.
  - intros [<-|h]; [|apply IH; auto]. apply existsb_exists in e. destruct e as (l&h&k).
    exists l. split; auto. apply yes_more with s; auto.
  - intros [<-|h]; [|apply IH; simpl in H; auto].
    destruct (H _ (or_introl eq_refl)) as (l&h&k). apply filter_In in h as [h _]. exists l. auto.
Qed.
Lemma simp_below n s cs : (forall c l, In c cs -> In l c -> below n l) ->
  forall c l, In c (simp s cs) -> In l c -> below n l.
Proof.
  induction cs as [|d cs IH]; simpl; [tauto|]. intros H c l.
  destruct (existsb (yes s) d); [eapply IH; eauto|]. intros [<-|h] k.
  - apply filter_In in k as [k _]. eauto.
  - eapply IH; eauto.
Qed.
Lemma refute_complete n fuel : forall s cs, sized n s -> (irreflexive s -> closed n s) ->
  (forall c l, In c cs -> In l c -> below n l) -> length (simp s cs) < fuel ->
  refute fuel s cs = false ->
  exists s', closed n s' /\ more s s' /\ irreflexive s' /\
    forall c, In c cs -> decided_by s' c.
Proof.
  induction fuel as [|f IH]; intros s cs S C H F; [lia|]. simpl.
  destruct (badfrom 0 (lt s)) eqn:B; [discriminate|].
  assert (I : irreflexive s) by exact (not_bad _ _ B). specialize (C I).
  pose proof (@simp_below n s cs H) as H'. pose proof (@simp_decides s) as D.
  destruct (simp s cs) as [|c cs'] eqn:E; cbn [length] in F.
  - intros _. exists s. split; auto. split; [apply more_refl|]. split; auto.
    apply (D s cs (more_refl s)). rewrite E. intros c [].
  - intro h. pose proof (shortest_in cs' c) as i. set (d := shortest c cs') in *.
    assert (h' : existsb (fun l => negb (refute f (add l s) (c :: cs'))) d = true).
    { clear -h. induction d as [|l d IH]; simpl in *; [discriminate|].
      destruct (refute f (add l s) (c :: cs')); simpl in *; auto. }
    apply existsb_exists in h'. destruct h' as (l&hl&r). apply negb_true_iff in r.
    pose proof (H' d l i hl) as b. pose proof (add_more l S) as M.
    destruct (IH (add l s) (c :: cs')) as (s'&C'&M'&I'&D'); auto.
    + apply add_sized. auto.
    + apply add_closed; auto.
    + assert (length (simp (add l s) (c :: cs')) < length (c :: cs')); [|cbn [length] in *; lia].
      apply (simp_shorter (add l s) (c :: cs') d i). apply existsb_exists.
      exists l. split; auto. apply (add_yes l C b).
    + exists s'. split; auto. pose proof (more_trans M M') as M2. split; auto. split; auto.
      apply (D s' cs M2). rewrite E. auto.
Qed.

Theorem contra_complete n fs cs : (forall l, In l fs -> below n l) ->
  (forall c l, In c cs -> In l c -> below n l) -> contra n fs cs = false ->
  exists v, (forall l, In l fs -> holds v l) /\ (forall c, In c cs -> sat v c).
Proof.
  intros F H h. unfold contra in h. set (s := fold_right add (start n) fs) in *.
  assert (K : sized n s /\ (irreflexive s -> closed n s /\ forall l, In l fs -> yes s l = true)).
  { subst s. clear H h. induction fs as [|l fs IH]; simpl.
    { split; [apply start_closed|]. split; [apply start_closed|tauto]. }
    set (s := fold_right add (start n) fs) in *. destruct IH as [S K].
    { intros k i. apply F. simpl. auto. }
    split; [apply add_sized; auto|]. intro I. pose proof (add_more l S) as M.
    destruct (K (irreflexive_before M I)) as [C Y].
    assert (b : below n l) by (apply F; simpl; auto).
    split; [apply add_closed; auto|].
    intros l' [<-|i]; [apply (add_yes l C b)|apply yes_more with s; auto]. }
  destruct K as [S K].
  destruct (@refute_complete n (Datatypes.S (length cs)) s cs S) as (s'&C'&M&I&D); auto.
  { intro I. apply K. exact I. }
  { apply le_n_S, simp_length. }
  destruct (K (irreflexive_before M I)) as [C Y].
  exists (times n s'). split.
  - intros l i. apply times_hold; auto. apply yes_more with s; auto.
  - intros c i. destruct (D c i) as (l&h1&h2). exists l. split; auto. apply times_hold; auto.
Qed.

(** ** The moments of two rows *)
Section Rows.
Variables b c : row.
Hypothesis access_b : one_access b = true.
Hypothesis access_c : one_access c = true.
(** The second one if [o]. *)
Definition rw (o : bool) := if o then c else b.
Definition len o := length (code (rw o)).
Definition at_access o := at_instr o (pos (rw o)).
(** Instruction [i] of [o] is a flush, or an invalidation, that reaches the L1 of [o']. *)
Definition flush_of o' o i := exists k, nth_error (code (rw o)) i = Some (Flu k) /\
  (o = o' \/ k = to_DV).
Definition inv_of o' o i := exists k, nth_error (code (rw o)) i = Some (Inv k) /\
  (o = o' \/ k = to_DV).

(** Their numbers are below [size b c]. *)
Notation ok := (fun m => m < size b c).
Lemma instr_ok o i : i < len o -> ok (at_instr o i).
Proof. unfold len, rw, at_instr, size. destruct o; simpl second; lia. Qed.
Lemma left_ok o i : i < len o -> ok (at_left o i).
Proof. unfold len, rw, at_left, size. destruct o; simpl second; lia. Qed.
Lemma end_ok o : ok (at_end o). Proof. unfold at_end, size. destruct o; simpl; lia. Qed.
Lemma start_ok o : ok (at_start o). Proof. unfold at_start, size. destruct o; simpl; lia. Qed.
Lemma arrival_ok o : ok (at_arrival o). Proof. unfold at_arrival, size. destruct o; simpl; lia. Qed.
Lemma look_ok o : ok (at_look o). Proof. unfold at_look, size. destruct o; simpl; lia. Qed.
Lemma agreement_ok : ok at_agreement. Proof. unfold at_agreement, size. lia. Qed.
Lemma pos_below r : one_access r = true -> pos r < length (code r).
Proof.
  unfold one_access, pos. intro h. apply andb_prop in h as [h _]. apply Nat.eqb_eq in h.
  induction (code r) as [|i l IH]; simpl in *; [discriminate|].
  destruct (is_acc i); [lia|]. specialize (IH h). lia.
Qed.
Lemma access_ok o : ok (at_access o).
Proof. apply instr_ok. unfold len, rw. destruct o; apply pos_below; auto. Qed.
Hint Resolve instr_ok left_ok end_ok start_ok arrival_ok look_ok access_ok : ok.

Lemma places_below f cs : forall i j, In j (places_of f cs i) ->
  exists k, j = i + k /\ k < length cs /\ exists x, nth_error cs k = Some x /\ f x = true.
Proof.
  induction cs as [|x cs IH]; simpl; intros i j h; [tauto|].
  assert (R : In j (places_of f cs (S i)) -> exists k, j = i + k /\ k < S (length cs) /\
    exists x', nth_error (x :: cs) k = Some x' /\ f x' = true).
  { intro q. destruct (IH _ _ q) as (k&->&l&e). exists (S k). split; [lia|]. split; [lia|auto]. }
  destruct (f x) eqn:e; auto. destruct h as [<-|h]; auto. exists 0. split; [lia|].
  split; [lia|]. exists x. auto.
Qed.
Lemma in_places f cs k x : nth_error cs k = Some x -> f x = true ->
  forall i, In (i + k) (places_of f cs i).
Proof.
  revert k. induction cs as [|y cs IH]; intros [|k] e h i; simpl in *; try discriminate.
  - injection e as ->. rewrite h, Nat.add_0_r. simpl. auto.
  - rewrite Nat.add_succ_r. specialize (IH k e h (S i)). destruct (f y); simpl; auto.
Qed.
Lemma in_flush_points o' o i : In (at_instr o i, at_left o i)
  (flush_points o (rw o) (Bool.eqb o o')) <-> flush_of o' o i.
Proof.
  unfold flush_points, pts. rewrite in_map_iff. split.
  - intros (j&[= e _]&h). assert (j = i) as -> by (unfold at_instr in e; lia).
    apply places_below in h. destruct h as (k&->&_&x&n&f). simpl. destruct x; try discriminate.
    exists r. split; auto. destruct r; auto. left. apply eqb_prop. exact f.
  - intros (k&n&h). exists i. split; auto. apply (@in_places _ _ i _ n) with (i := 0).
    destruct k; auto. destruct h as [->|h]; [destruct o'; auto|discriminate].
Qed.
Lemma flush_points_are o r own p : In p (flush_points o r own) ->
  exists i, p = (at_instr o i, at_left o i) /\ i < length (code r).
Proof.
  unfold flush_points, pts. rewrite in_map_iff. intros (j&<-&h). exists j. split; auto.
  apply places_below in h. destruct h as (k&->&h&_). auto.
Qed.
Lemma in_inv_points o' o i : inv_of o' o i ->
  In (at_instr o i) (inv_points o (rw o) (Bool.eqb o o')).
Proof.
  intros (k&n&h). unfold inv_points. rewrite in_map_iff. exists i. split; auto.
  apply (@in_places _ _ i _ n) with (i := 0).
  destruct k; auto. destruct h as [->|h]; [destruct o'; auto|discriminate].
Qed.
Lemma inv_points_are o r own p : In p (inv_points o r own) ->
  exists i, p = at_instr o i /\ i < length (code r).
Proof.
  unfold inv_points. rewrite in_map_iff. intros (j&<-&h). exists j. split; auto.
  apply places_below in h. destruct h as (k&->&h&_). auto.
Qed.
Lemma intervals_below lk ul cs : forall i cur f m, In (f, m) (intervals lk ul cs i cur) ->
  (f < i + length cs \/ cur = Some f) /\ (forall j, m = Instr j -> j < i + length cs).
Proof.
  induction cs as [|x cs IH]; simpl; intros i cur f m h.
  - destruct cur; simpl in h; [|tauto]. destruct h as [[= <- <-]|[]]. split; auto. discriminate.
  - destruct (lk x).
    { apply IH in h as [h h']. split; [|intros j e; specialize (h' j e); lia].
      destruct h as [h|h]; [left; lia|]. destruct cur; auto. injection h as ->. left. lia. }
    destruct (ul x).
    { destruct cur.
      - destruct h as [[= <- <-]|h]; [split; auto; intros j [= <-]; lia|].
        apply IH in h as [h h']. split; [|intros j e; specialize (h' j e); lia].
        destruct h as [h|h]; [left; lia|discriminate].
      - apply IH in h as [h h']. split; [|intros j e; specialize (h' j e); lia].
        destruct h as [h|h]; [left; lia|discriminate]. }
    apply IH in h as [h h']. split; [|intros j e; specialize (h' j e); lia].
    destruct h as [h|h]; [left; lia|auto].
Qed.
Lemma interval_ok lk ul o h : In h (intervals lk ul (code (rw o)) 0 None) ->
  ok (at_instr o (fst h)) /\ ok (at_mark o (snd h)).
Proof.
  destruct h as [f m]. intro h. apply intervals_below in h as [h h']. simpl. split.
  - apply instr_ok. destruct h; [auto|discriminate].
  - destruct m; simpl; [apply instr_ok, h'; auto|apply end_ok].
Qed.

Lemma code_order_ok o cs : forall i prev, i + length cs <= len o -> ok prev ->
  forall l, In l (code_order o cs i prev) -> below (size b c) l.
Proof.
  induction cs as [|x cs IH]; simpl; intros i prev h p l.
  - intros [<-|[]]. split; auto with ok.
  - assert (I : ok (at_instr o i)) by (apply instr_ok; lia).
    assert (J : ok (at_left o i)) by (apply left_ok; lia).
    intros [<-|k]; [split; auto|].
    destruct x; try (apply (IH (S i) (at_instr o i)); auto; lia).
    destruct k as [<-|k]; [split; auto|]. apply (IH (S i) (at_left o i)); auto. lia.
Qed.
Lemma pair_facts_ok lr lx l : In l (fst (pair_facts lr lx b c)) -> below (size b c) l.
Proof.
  assert (A : forall o, In l (arrival_facts o (rw o)) -> below (size b c) l).
  { intros o h. unfold arrival_facts in h. destruct (writes (rw o)); [|destruct h].
    destruct (inc2 (rw o)); simpl in h.
    - destruct h as [<-|[<-|[]]]; split; first [apply arrival_ok|apply access_ok].
    - destruct h as [<-|[]]; split; first [apply arrival_ok|apply access_ok]. }
  unfold pair_facts. simpl fst. rewrite !in_app_iff. intros [h|[h|[h|h]]].
  - revert h. apply (@code_order_ok false); [apply le_n|apply (start_ok false)].
  - revert h. apply (@code_order_ok true); [apply le_n|apply (start_ok true)].
  - exact (A false h).
  - exact (A true h).
Qed.
Lemma outside_ok lk ul o h p l : In h (intervals lk ul (code (rw o)) 0 None) -> ok p ->
  In l (outside p o h) -> below (size b c) l.
Proof. intros i k. apply interval_ok in i as [i j]. intros [<-|[<-|[]]]; split; auto. Qed.
Lemma drained_ok w a fl cl l : ok w -> ok a ->
  (forall p, In p fl -> ok (fst p) /\ ok (snd p)) ->
  In cl (drained w a fl) -> In l cl -> below (size b c) l.
Proof.
  intros W A F h. unfold drained in h. apply in_map_iff in h. destruct h as (p&<-&h).
  destruct (F p h). intros [<-|[<-|[]]]; split; auto.
Qed.
Lemma exclusive_ok lk ul h h' l : In h (intervals lk ul (code b) 0 None) ->
  In h' (intervals lk ul (code c) 0 None) -> In l (exclusive h h') -> below (size b c) l.
Proof.
  intros i j. apply (@interval_ok lk ul false) in i as [i1 i2].
  apply (@interval_ok lk ul true) in j as [j1 j2]. intros [<-|[<-|[]]]; split; auto.
Qed.
Lemma lock_clauses_ok lr lx cl l : In cl (lock_clauses lr lx b c) -> In l cl -> below (size b c) l.
Proof.
  assert (X : forall lk ul, In cl (flat_map (fun h => map (exclusive h)
      (intervals lk ul (code c) 0 None)) (intervals lk ul (code b) 0 None)) ->
    In l cl -> below (size b c) l).
  { intros lk ul h. apply in_flat_map in h. destruct h as (h&i&j). apply in_map_iff in j.
    destruct j as (h'&<-&j). exact (@exclusive_ok lk ul h h' l i j). }
  assert (O : forall lk ul o p (k : bool), ok p ->
    In cl (if k then map (outside p o) (intervals lk ul (code (rw o)) 0 None) else []) ->
    In l cl -> below (size b c) l).
  { intros lk ul o p [] k h; [|destruct h]. apply in_map_iff in h. destruct h as (h&<-&i).
    exact (@outside_ok lk ul o h p l i k). }
  unfold lock_clauses. rewrite in_app_iff. intros [h|h].
  - destruct lr; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + revert h. apply X.
    + revert h. apply (O _ _ false), (access_ok true).
    + revert h. apply (O _ _ true), (access_ok false).
  - destruct lx; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + revert h. apply X.
    + revert h. apply (O _ _ false), arrival_ok.
    + revert h. apply (O _ _ true), arrival_ok.
Qed.

(** ** What holds of the times of any two operations *)
Section Times.
Variable v : nat -> nat.
(** The time [p] is outside of an interval in which [o] holds a lock. *)
Definition free o h p := p <= v (at_instr o (fst h)) \/ v (at_mark o (snd h)) <= p.
(** What [o'] wrote at [w] has arrived at [a], if a flush of its L1 came after it. *)
Definition drains o' w a := forall o i, flush_of o' o i ->
  v (at_instr o i) <= w \/ a < v (at_left o i).
(** No invalidation of the L1 of [o'] is between [p] and [q]. *)
Definition valid o' p q := forall o i, inv_of o' o i ->
  v (at_instr o i) <= p \/ q <= v (at_instr o i).
Record pair_times (lr lx : bool) : Prop := {
  begins : forall o i, i < len o -> v (at_start o) < v (at_instr o i);
  goes_on : forall o i j, i < j -> j < len o -> v (at_instr o i) < v (at_instr o j);
  marked : forall o i k, nth_error (code (rw o)) i = Some (Flu k) ->
    v (at_instr o i) < v (at_left o i);
  waits : forall o i j k, nth_error (code (rw o)) i = Some (Flu k) -> i < j -> j < len o ->
    v (at_left o i) < v (at_instr o j);
  ends : forall o i, i < len o -> v (at_instr o i) < v (at_end o);
  ends_after : forall o i k, nth_error (code (rw o)) i = Some (Flu k) ->
    v (at_left o i) < v (at_end o);
  arrives_at : forall o, writes (rw o) = true -> inc2 (rw o) = true ->
    v (at_arrival o) = v (at_access o);
  arrives_after : forall o, writes (rw o) = true -> inc2 (rw o) = false ->
    v (at_access o) < v (at_arrival o);
  rmw_apart : lr = true -> forall h h', In h (rmw_intervals b) -> In h' (rmw_intervals c) ->
    v (at_mark false (snd h)) <= v (at_instr true (fst h')) \/
    v (at_mark true (snd h')) <= v (at_instr false (fst h));
  rmw_free : lr = true -> forall o h, In h (rmw_intervals (rw o)) -> inc (rw (negb o)) = true ->
    free o h (v (at_access (negb o)));
  L2_apart : lx = true -> forall h h', In h (L2_intervals b) -> In h' (L2_intervals c) ->
    v (at_mark false (snd h)) <= v (at_instr true (fst h')) \/
    v (at_mark true (snd h')) <= v (at_instr false (fst h));
  L2_free : lx = true -> forall o h, In h (L2_intervals (rw o)) -> writes (rw (negb o)) = true ->
    free o h (v (at_arrival (negb o))) }.

Lemma either l l' : sat v [l; l'] -> holds v l \/ holds v l'.
Proof. intros (k&[<-|[<-|[]]]&h); auto. Qed.
Lemma order_holds o cs : forall i prev,
  (forall l, In l (code_order o cs i prev) -> holds v l) ->
  v prev < v (at_end o) /\ forall k x, nth_error cs k = Some x ->
    v prev < v (at_instr o (i + k)) /\ v (at_instr o (i + k)) < v (at_end o) /\
    (forall j, k < j -> j < length cs -> v (at_instr o (i + k)) < v (at_instr o (i + j))) /\
    (forall r, x = Flu r -> v (at_instr o (i + k)) < v (at_left o (i + k)) /\
      v (at_left o (i + k)) < v (at_end o) /\
      forall j, k < j -> j < length cs -> v (at_left o (i + k)) < v (at_instr o (i + j))).
Proof.
  induction cs as [|x cs IH]; simpl; intros i prev H.
  - split; [exact (H _ (or_introl eq_refl))|]. intros [|k] x; discriminate.
  - pose proof (H _ (or_introl eq_refl)) as p. simpl in p.
    set (last := match x with Flu _ => at_left o i | _ => at_instr o i end).
    assert (R : v (at_instr o i) <= v last /\
      (forall r, x = Flu r -> v (at_instr o i) < v (at_left o i)) /\
      forall l, In l (code_order o cs (S i) last) -> holds v l).
    { subst last. destruct x; (split; [|split; [try discriminate|]]); auto.
      - pose proof (H _ (or_intror (or_introl eq_refl))) as q. simpl in q. lia.
      - intros _ _. exact (H _ (or_intror (or_introl eq_refl))).
      - intros l h. apply H. simpl. auto. }
    destruct R as (q&f&R). destruct (IH _ _ R) as [e N].
    assert (M : forall j, 0 < j -> j < S (length cs) -> v last < v (at_instr o (i + j))).
    { intros [|j] h h'; [lia|]. destruct (nth_error cs j) eqn:n.
      - destruct (N j _ n) as [N' _]. rewrite Nat.add_succ_r. exact N'.
      - apply nth_error_None in n. lia. }
    split; [lia|]. intros [|k] y n; simpl in n.
    + injection n as <-. rewrite Nat.add_0_r. split; [lia|]. split; [lia|]. split.
      * intros j h h'. specialize (M j h h'). lia.
      * intros r ->. split; [exact (f r eq_refl)|]. split; [exact e|exact M].
    + destruct (N k y n) as (n1&n2&n3&n4). rewrite !Nat.add_succ_r. simpl in *.
      split; [lia|]. split; [lia|]. split.
      * intros [|j] h h'; [lia|]. specialize (n3 j). rewrite Nat.add_succ_r. apply n3; lia.
      * intros r E. destruct (n4 r E) as (m1&m2&m3). split; auto. split; auto.
        intros [|j] h h'; [lia|]. rewrite Nat.add_succ_r. apply m3; lia.
Qed.
Lemma free_holds lk ul o p (k : bool) :
  (forall cl, In cl (if k then map (outside p o) (intervals lk ul (code (rw o)) 0 None) else [])
    -> sat v cl) -> k = true ->
  forall h, In h (intervals lk ul (code (rw o)) 0 None) -> free o h (v p).
Proof.
  intros H -> h i. apply (@either (p, false, at_instr o (fst h)) (at_mark o (snd h), false, p)).
  apply H. exact (in_map (outside p o) _ _ i).
Qed.
Lemma pair_times_hold lr lx : (forall l, In l (fst (pair_facts lr lx b c)) -> holds v l) ->
  (forall cl, In cl (lock_clauses lr lx b c) -> sat v cl) -> pair_times lr lx.
Proof.
  unfold pair_facts. simpl fst. intros F H.
  assert (O : forall o l, In l (code_order o (code (rw o)) 0 (at_start o)) -> holds v l).
  { intros [] l h; apply F; rewrite !in_app_iff; auto. }
  assert (A : forall o l, In l (arrival_facts o (rw o)) -> holds v l).
  { intros [] l h; apply F; rewrite !in_app_iff; auto. }
  clear F. pose proof (fun o => @order_holds o _ 0 _ (O o)) as C. simpl in C. clear O.
  assert (N : forall o i, i < len o -> exists x, nth_error (code (rw o)) i = Some x).
  { intros o i h. destruct (nth_error (code (rw o)) i) eqn:e; eauto.
    apply nth_error_None in e. unfold len in h. lia. }
  split.
  - intros o i h. destruct (N o i h) as [x e]. apply (C o) in e. apply e.
  - intros o i j h h'. destruct (N o i) as [x e]; [lia|]. apply (C o) in e. apply e; auto.
  - intros o i k e. apply (C o) in e as (_&_&_&e). apply (e k). auto.
  - intros o i j k e h h'. apply (C o) in e as (_&_&_&e). apply (e k); auto.
  - intros o i h. destruct (N o i h) as [x e]. apply (C o) in e. apply e.
  - intros o i k e. apply (C o) in e as (_&_&_&e). apply (e k). auto.
  - intros o w i. specialize (A o). unfold arrival_facts in A. rewrite w, i in A.
    pose proof (A _ (or_introl eq_refl)) as a.
    pose proof (A _ (or_intror (or_introl eq_refl))) as a'.
    simpl in a, a'. unfold at_access. lia.
  - intros o w i. specialize (A o). unfold arrival_facts in A. rewrite w, i in A.
    exact (A _ (or_introl eq_refl)).
  - intros -> h h' i i'. apply (@either (at_mark false (snd h), false, at_instr true (fst h'))
      (at_mark true (snd h'), false, at_instr false (fst h))).
    apply H. unfold lock_clauses. rewrite !in_app_iff.
    left; left. apply in_flat_map. exists h. split; auto. exact (in_map (exclusive h) _ _ i').
  - intros -> o h i k. destruct o; revert k h i; apply free_holds; intros cl h; apply H;
      unfold lock_clauses; rewrite !in_app_iff; auto.
  - intros -> h h' i i'. apply (@either (at_mark false (snd h), false, at_instr true (fst h'))
      (at_mark true (snd h'), false, at_instr false (fst h))).
    apply H. unfold lock_clauses. rewrite !in_app_iff.
    right; left. apply in_flat_map. exists h. split; auto. exact (in_map (exclusive h) _ _ i').
  - intros -> o h i k. destruct o; revert k h i; apply free_holds; intros cl h; apply H;
      unfold lock_clauses; rewrite !in_app_iff; auto.
Qed.
(** Of the L1 of [o'], the own flushes come first. *)
Lemma drains_hold o' w a : (forall cl, In cl (drained w a (flush_points o' (rw o') true ++
    flush_points (negb o') (rw (negb o')) false)) -> sat v cl) -> drains o' (v w) (v a).
Proof.
  intros H o i h. apply in_flush_points in h.
  apply (@either (at_instr o i, false, w) (a, true, at_left o i)). apply H. unfold drained.
  apply in_map_iff. exists (at_instr o i, at_left o i). split; auto. rewrite in_app_iff.
  destruct o, o'; auto.
Qed.
Lemma valid_holds o' p q : (forall cl, In cl (map (fun i => [(i, false, p); (q, false, i)])
    (inv_points o' (rw o') true ++ inv_points (negb o') (rw (negb o')) false)) -> sat v cl) ->
  valid o' (v p) (v q).
Proof.
  intros H o i h. apply in_inv_points in h.
  apply (@either (at_instr o i, false, p) (q, false, at_instr o i)). apply H.
  apply in_map_iff. exists (at_instr o i). split; auto. rewrite in_app_iff. destruct o, o'; auto.
Qed.

(** ** SYNC(b, c) is broken at these times *)
Record sync_times (lr lx : bool) : Prop := {
  sync_pair : pair_times lr lx;
  got_after : v (at_arrival false) < v (at_look false);
  got_before : v (at_look false) <= v (at_access true);
  got_at : inc2 c = true -> v (at_look false) = v (at_access true);
  got_free : lx = true -> forall h, In h (L2_intervals b) -> free false h (v (at_look false));
  got_drained : drains false (v (at_access false)) (v (at_arrival false));
  unseen : forall o j o' i, inv_of true o j -> flush_of false o' i ->
    v (at_end true) <= v (at_instr o j) \/ v (at_instr o j) < v (at_start false) \/
    v (at_instr o' i) < v (at_start false) \/ v (at_instr o j) < v (at_left o' i) }.
(** ** ATOM(b, c) is broken at these times

    [c] reads what the L2 had at the time [looked], and its L1 had until then or got then. *)
Record atom_times (lr lx : bool) (looked : nat) : Prop := {
  atom_pair : pair_times lr lx;
  overtaken : v (at_arrival false) < v (at_arrival true);
  first_drained : drains false (v (at_access false)) (v (at_arrival false));
  second_drained : drains true (v (at_access true)) (v (at_arrival true));
  agreed : inc1 b = true -> v at_agreement <= v (at_access false);
  agreed_free : inc1 b = true -> lx = true -> forall h, In h (L2_intervals c) ->
    free true h (v at_agreement);
  agreed_valid : inc1 b = true -> valid false (v at_agreement) (v (at_access false));
  looked_no_later : looked <= v (at_access true);
  looked_before : looked <= v (at_arrival false);
  looked_free : lx = true -> forall h, In h (L2_intervals b) -> free false h looked;
  looked_valid : valid true looked (v (at_access true)) }.
End Times.

Theorem sync_broken lr lx : sync_ok lr lx b c = false -> exists v, sync_times v lr lx.
Proof.
  unfold sync_ok. intro h. destruct (pair_facts lr lx b c) as [fs cs] eqn:E.
  assert (Efs : fs = fst (pair_facts lr lx b c)) by (rewrite E; auto).
  assert (Ecs : cs = lock_clauses lr lx b c) by (unfold pair_facts in E; congruence). clear E.
  set (fl := flush_points false b true ++ flush_points true c false) in *.
  assert (fl_ok : forall p, In p fl -> ok (fst p) /\ ok (snd p)).
  { intros p i. unfold fl in i. apply in_app_iff in i as [i|i].
    - apply flush_points_are in i as (k&->&i).
      split; [apply (@instr_ok false)|apply (@left_ok false)]; auto.
    - apply flush_points_are in i as (k&->&i).
      split; [apply (@instr_ok true)|apply (@left_ok true)]; auto. }
  assert (inv_ok : forall p, In p (inv_points true c true ++ inv_points false b false) -> ok p).
  { intros p i. apply in_app_iff in i as [i|i].
    - apply inv_points_are in i as (k&->&i). apply (@instr_ok true). auto.
    - apply inv_points_are in i as (k&->&i). apply (@instr_ok false). auto. }
  apply contra_complete in h.
  - destruct h as (v&F&C). exists v.
    assert (P : pair_times v lr lx).
    { apply pair_times_hold.
      - intros l i. rewrite <- Efs in i. apply F. right; right. rewrite in_app_iff. auto.
      - intros cl i. rewrite <- Ecs in i. apply C. rewrite in_app_iff. auto. }
    split; auto.
    + exact (F _ (or_introl eq_refl)).
    + exact (F _ (or_intror (or_introl eq_refl))).
    + intro i2. pose proof (F _ (or_intror (or_introl eq_refl))) as p. rewrite i2 in F.
      pose proof (F _ (or_intror (or_intror (or_introl eq_refl)))) as q. simpl in p, q.
      unfold at_access. simpl rw. lia.
    + intros -> k i. apply (@either v (at_look false, false, at_instr false (fst k))
        (at_mark false (snd k), false, at_look false)). apply C. rewrite !in_app_iff. right; left.
      exact (in_map (outside (at_look false) false) _ _ i).
    + apply drains_hold. intros cl i. apply C. rewrite !in_app_iff. right; right; left. exact i.
    + intros o j o' i hj hi. apply in_inv_points in hj. apply in_flush_points in hi.
      destruct (C [(at_end true, false, at_instr o j); (at_instr o j, true, at_start false);
        (at_instr o' i, true, at_start false); (at_instr o j, true, at_left o' i)])
        as (l&[<-|[<-|[<-|[<-|[]]]]]&H); auto.
      rewrite !in_app_iff. right; right; right. apply in_flat_map. exists (at_instr o j). split.
      { rewrite in_app_iff. destruct o; auto. }
      apply in_map_iff. exists (at_instr o' i, at_left o' i). split; auto.
      unfold fl. rewrite in_app_iff. destruct o'; auto.
  - intros l [<-|[<-|i]].
    + split; [apply (arrival_ok false)|apply (look_ok false)].
    + split; [apply (look_ok false)|apply (access_ok true)].
    + rewrite in_app_iff in i. destruct i as [i|i].
      * destruct (inc2 c); [|destruct i]. destruct i as [<-|[]].
        split; [apply (access_ok true)|apply (look_ok false)].
      * rewrite Efs in i. revert i. apply pair_facts_ok.
  - intros cl l i k. rewrite !in_app_iff in i. destruct i as [i|[i|[i|i]]].
    + rewrite Ecs in i. exact (@lock_clauses_ok lr lx cl l i k).
    + destruct lx; [|destruct i]. apply in_map_iff in i. destruct i as (h'&<-&i).
      exact (@outside_ok takes_L2 frees_L2 false h' _ l i (look_ok false) k).
    + exact (@drained_ok _ _ _ cl l (access_ok false) (arrival_ok false) fl_ok i k).
    + apply in_flat_map in i. destruct i as (j&i&m). apply in_map_iff in m. destruct m as (q&<-&m).
      apply fl_ok in m as [m1 m2]. apply inv_ok in i.
      destruct k as [<-|[<-|[<-|[<-|[]]]]]; split; auto;
        first [apply (end_ok true)|apply (start_ok false)].
Qed.

Lemma both_flushes_ok o p :
  In p (flush_points o (rw o) true ++ flush_points (negb o) (rw (negb o)) false) ->
  ok (fst p) /\ ok (snd p).
Proof.
  intro i. apply in_app_iff in i as [i|i]; apply flush_points_are in i as (k&->&i);
    (split; [apply instr_ok|apply left_ok]; exact i).
Qed.
Lemma both_invs_ok o p :
  In p (inv_points o (rw o) true ++ inv_points (negb o) (rw (negb o)) false) -> ok p.
Proof.
  intro i. apply in_app_iff in i as [i|i]; apply inv_points_are in i as (k&->&i);
    apply instr_ok; exact i.
Qed.
Lemma outsides_ok lk ul o p (k : bool) cl l : ok p ->
  In cl (if k then map (outside p o) (intervals lk ul (code (rw o)) 0 None) else []) ->
  In l cl -> below (size b c) l.
Proof.
  destruct k; [|intros _ []]. intros q i j. apply in_map_iff in i. destruct i as (h&<-&i).
  exact (@outside_ok lk ul o h p l i q j).
Qed.
Lemma valid_ok o p q cl l : ok p -> ok q ->
  In cl (map (fun i => [(i, false, p); (q, false, i)])
    (inv_points o (rw o) true ++ inv_points (negb o) (rw (negb o)) false)) ->
  In l cl -> below (size b c) l.
Proof.
  intros P Q i j. apply in_map_iff in i. destruct i as (h&<-&i). apply both_invs_ok in i.
  destruct j as [<-|[<-|[]]]; split; auto.
Qed.
Lemma atom_base_ok lr lx : (forall l, In l (fst (atom_base lr lx b c)) -> below (size b c) l) /\
  (forall cl l, In cl (snd (atom_base lr lx b c)) -> In l cl -> below (size b c) l).
Proof.
  split.
  - intros l [<-|i]; [split; [apply (arrival_ok false)|apply (arrival_ok true)]|].
    apply in_app_iff in i as [i|i]; [|exact (pair_facts_ok lr lx l i)].
    unfold agreement_facts in i. destruct (inc1 b); [|destruct i]. destruct i as [<-|[]].
    split; [apply agreement_ok|apply (access_ok false)].
  - intros cl l i j. unfold atom_base, pair_facts in i. simpl snd in i. rewrite !in_app_iff in i.
    destruct i as [i|[i|[i|i]]].
    + unfold agreement_clauses in i. destruct (inc1 b); [|destruct i].
      apply in_app_iff in i as [i|i].
      * exact (@outsides_ok _ _ true _ _ cl l agreement_ok i j).
      * exact (@valid_ok false _ _ cl l agreement_ok (access_ok false) i j).
    + exact (@lock_clauses_ok lr lx cl l i j).
    + refine (@drained_ok _ _ _ cl l _ _ (both_flushes_ok false) i j);
        [apply (access_ok false)|apply (arrival_ok false)].
    + refine (@drained_ok _ _ _ cl l _ _ (both_flushes_ok true) i j);
        [apply (access_ok true)|apply (arrival_ok true)].
Qed.
(** All but what [c] goes back to. *)
Lemma atom_base_holds v lr lx look :
  (forall l, In l (fst (atom_base lr lx b c)) -> holds v l) ->
  (forall cl, In cl (snd (atom_base lr lx b c)) -> sat v cl) ->
  look <= v (at_access true) -> look <= v (at_arrival false) ->
  (lx = true -> forall h, In h (L2_intervals b) -> free v false h look) ->
  valid v true look (v (at_access true)) -> atom_times v lr lx look.
Proof.
  intros F C L1 L2 L3 L4. unfold atom_base, pair_facts in C. simpl snd in C. split; auto.
  - apply pair_times_hold.
    + intros l i. apply F. right. rewrite in_app_iff. auto.
    + intros cl i. apply C. rewrite !in_app_iff. auto.
  - exact (F _ (or_introl eq_refl)).
  - apply drains_hold. intros cl i. apply C. rewrite !in_app_iff. right; right; left. exact i.
  - apply drains_hold. intros cl i. apply C. rewrite !in_app_iff. right; right; right. exact i.
  - intro i1. assert (A : In (at_agreement, false, at_access false) (agreement_facts b)).
    { unfold agreement_facts. rewrite i1. left. auto. }
    exact (F _ (or_intror (in_or_app _ _ _ (or_introl A)))).
  - intros i1 ->. intros h i. apply (@free_holds v takes_L2 frees_L2 true at_agreement true); auto.
    intros cl j. apply C. rewrite !in_app_iff. left. unfold agreement_clauses. rewrite i1.
    rewrite in_app_iff. left. exact j.
  - intro i1. apply valid_holds. intros cl j. apply C. rewrite !in_app_iff. left.
    unfold agreement_clauses. rewrite i1, in_app_iff. right. exact j.
Qed.
Theorem atom_broken lr lx : atom_ok lr lx b c = false ->
  inc2 c = false /\ exists v look, atom_times v lr lx look.
Proof.
  unfold atom_ok. intro h. apply orb_false_iff in h as [i2 h]. split; auto.
  destruct (atom_base_ok lr lx) as [B1 B2]. apply andb_false_iff in h as [h|h].
  - unfold atom_own in h. destruct (atom_base lr lx b c) as [fs cs] eqn:E. simpl fst in *.
    simpl snd in *. apply contra_complete in h.
    + destruct h as (v&F&C). exists v, (v (at_look true)).
      pose proof (F _ (or_introl eq_refl)) as f1.
      pose proof (F _ (or_intror (or_intror (or_introl eq_refl)))) as f2.
      pose proof (F _ (or_intror (or_intror (or_intror (or_introl eq_refl))))) as f3.
      pose proof (F _ (or_intror (or_intror (or_intror (or_intror (or_introl eq_refl)))))) as f4.
      simpl in f1, f2, f3, f4. apply atom_base_holds; rewrite ?E; simpl fst; simpl snd; auto.
      * intros l i. apply F. do 5 right. exact i.
      * intros cl i. apply C. rewrite in_app_iff. auto.
      * intros -> k i. apply (@free_holds v takes_L2 frees_L2 false (at_look true) true); auto.
        intros cl j. apply C. rewrite !in_app_iff. right; left. exact j.
      * assert (V : valid v true (v (at_look false)) (v (at_access true))).
        { apply valid_holds. intros cl j. apply C. rewrite !in_app_iff. right; right; right.
          exact j. }
        intros o i k. destruct (V o i k); [left|right]; lia.
    + intros l i. simpl in i. destruct i as [<-|[<-|[<-|[<-|[<-|i]]]]]; auto; split;
        first [apply (look_ok false)|apply (look_ok true)|apply (access_ok true)
          |apply (arrival_ok false)|apply (arrival_ok true)].
    + intros cl l i j. rewrite !in_app_iff in i. destruct i as [i|[i|[i|i]]].
      * exact (B2 cl l i j).
      * exact (@outsides_ok _ _ false _ _ cl l (look_ok true) i j).
      * exact (@drained_ok _ _ _ cl l (look_ok false) (look_ok true) (both_flushes_ok true) i j).
      * exact (@valid_ok true _ _ cl l (look_ok false) (access_ok true) i j).
  - unfold atom_ft in h. destruct (atom_base lr lx b c) as [fs cs] eqn:E. simpl fst in *.
    simpl snd in *. apply contra_complete in h.
    + destruct h as (v&F&C). exists v, (v (at_look false)).
      pose proof (F _ (or_introl eq_refl)) as f1.
      pose proof (F _ (or_intror (or_introl eq_refl))) as f2. simpl in f1, f2.
      apply atom_base_holds; rewrite ?E; simpl fst; simpl snd; auto.
      * intros l i. apply F. do 2 right. exact i.
      * intros cl i. apply C. rewrite in_app_iff. auto.
      * unfold at_access. simpl rw. lia.
      * intros -> k i. apply (@free_holds v takes_L2 frees_L2 false (at_look false) true); auto.
        intros cl j. apply C. rewrite !in_app_iff. right; left. exact j.
      * apply valid_holds. intros cl j. apply C. rewrite !in_app_iff. right; right. exact j.
    + intros l i. simpl in i. destruct i as [<-|[<-|i]]; auto; split;
        first [apply (look_ok false)|apply (access_ok true)|apply (arrival_ok false)].
    + intros cl l i j. rewrite !in_app_iff in i. destruct i as [i|[i|i]].
      * exact (B2 cl l i j).
      * exact (@outsides_ok _ _ false _ _ cl l (look_ok false) i j).
      * exact (@valid_ok true _ _ cl l (look_ok false) (access_ok true) i j).
Qed.
End Rows.
