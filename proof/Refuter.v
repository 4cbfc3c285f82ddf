(** * A refuter of clauses over x < y and x <= y, proved right

    What is known of the order is kept closed, a row of bits for each moment. *)
Require Import List Arith NArith Lia Bool.
Import ListNotations.
Set Implicit Arguments.
Definition lit := (nat * bool * nat)%type. (* (x, true, y): x < y; (x, false, y): x <= y *)
Definition clause := list lit.
Record st := mkst { le : list N; lt : list N }.
Definition has (m : N) (x : nat) := N.testbit m (N.of_nat x).
Definition row_ (l : list N) x := nth x l 0%N.
Definition start n := mkst (map (fun x => N.shiftl 1 (N.of_nat x)) (seq 0 n)) (repeat 0%N n).
Definition add (l : lit) (s : st) := let '(x, b, y) := l in
  let ley := row_ (le s) y in let lty := row_ (lt s) y in
  mkst (map (fun m => if has m x then N.lor m ley else m) (le s))
       (map (fun p => let '(me, ml) := p in if has ml x then N.lor ml ley
         else if has me x then N.lor ml (if b then ley else lty) else ml) (combine (le s) (lt s))).
Fixpoint badfrom i (l : list N) := match l with [] => false | m :: l => has m i ||
  badfrom (S i) l end.
Definition no (s : st) (l : lit) := let '(x, b, y) :=
  l in if b then has (row_ (le s) y) x else has (row_ (lt s) y) x.
Definition yes (s : st) (l : lit) := let '(x, b, y) :=
  l in if b then has (row_ (lt s) x) y else has (row_ (le s) x) y.
Fixpoint simp s (cs : list clause) := match cs with [] => [] | c :: cs =>
  if existsb (yes s) c then simp s cs else filter (fun l => negb (no s l)) c :: simp s cs end.
Fixpoint shortest (c : clause) (cs : list clause) := match cs with [] => c | d :: cs =>
  if length d <? length c then shortest d cs else shortest c cs end.
(* Unit propagation and case split, by the shortest clause. *)
Fixpoint refute fuel s cs := if badfrom 0 (lt s) then true else match fuel with 0 => false | S f =>
  match simp s cs with [] => false | c :: cs' =>
    forallb (fun l => refute f (add l s) (c :: cs')) (shortest c cs') end end.

Section Sound.
Variable v : nat -> nat.
Definition holds (l : lit) := let '(x, b, y) := l in if b then v x < v y else v x <= v y.
Definition sat (c : clause) := exists l, In l c /\ holds l.
(* What is known of the order holds of the times [v]. *)
Definition Agrees s := (forall x y, has (row_ (le s) x) y = true -> v x <= v y) /\
  (forall x y, has (row_ (lt s) x) y = true -> v x < v y).
Lemma has0 x : has 0 x = false. Proof. apply N.bits_0. Qed.
Lemma Inv_start n : Agrees (start n).
Proof.
  split; intros x y; unfold start, row_; cbn [le lt].
  - set (f := fun x => N.shiftl 1 (N.of_nat x)). destruct (le_lt_dec n x) as [h|h].
    { rewrite nth_overflow; [rewrite has0; congruence|rewrite map_length, seq_length; auto]. }
    rewrite (@nth_indep _ (map f (seq 0 n)) x 0%N (f 0)); [|rewrite map_length, seq_length; auto].
    rewrite (map_nth f), seq_nth; auto. rewrite Nat.add_0_l. unfold has, f.
    rewrite N.shiftl_1_l, N.pow2_bits_eqb, N.eqb_eq. intro e. apply Nat2N.inj in e. subst. auto.
  - rewrite nth_repeat. rewrite has0. congruence.
Qed.
Lemma row_map f l x : f 0%N = 0%N -> row_ (map f l) x = f (row_ l x).
Proof. intro h. unfold row_. rewrite <- h at 1. apply map_nth. Qed.
Lemma row_map2 f (l m : list N) x y : f (0%N, 0%N) = 0%N ->
  has (row_ (map f (combine l m)) x) y = true -> has (f (row_ l x, row_ m x)) y = true.
Proof.
  intros h H. unfold row_ in *. destruct (le_lt_dec (length (combine l m)) x) as [q|q].
  - rewrite nth_overflow in H; [rewrite has0 in H; discriminate|rewrite map_length; auto].
  - rewrite <- h in H. rewrite map_nth in H. rewrite combine_length in q.
    assert (E : nth x (combine l m) (0%N, 0%N) = (nth x l 0%N, nth x m 0%N)).
    { clear -q. revert m x q.
      induction l as [|a l IH]; intros [|b m] [|x] q; simpl in *; auto; try lia. apply IH. lia. }
    rewrite E in H. auto.
Qed.
Lemma has_lor a b x : has (N.lor a b) x = true -> has a x = true \/ has b x = true.
Proof. unfold has. rewrite N.lor_spec. apply orb_true_iff. Qed.
Lemma Inv_add s l : Agrees s -> holds l -> Agrees (add l s).
Proof.
  intros [I1 I2] H. destruct l as [[x b] y]. split; intros u w; unfold add; simpl.
  - rewrite row_map; [|rewrite has0; auto]. destruct (has (row_ (le s) u) x) eqn:e; auto. intro h.
    apply has_lor in h. destruct h as [h|h]; auto. apply I1 in e. apply I1 in h.
    assert (v x <= v y) by (simpl in H; destruct b; lia). lia.
  - intro h. apply row_map2 in h; [|rewrite !has0; auto]. destruct (has (row_ (lt s) u) x) eqn:e1.
    { apply has_lor in h. destruct h as [h|h]; auto. apply I2 in e1. apply I1 in h.
      simpl in H; destruct b; lia. }
    destruct (has (row_ (le s) u) x) eqn:e2; auto. apply has_lor in h. destruct h as [h|h]; auto.
    apply I1 in e2. simpl in H. destruct b.
    + apply I1 in h. lia.
    + apply I2 in h. lia.
Qed.
Lemma bad_no s : Agrees s -> badfrom 0 (lt s) = true -> False.
Proof.
  intros [_ I2] H.
  enough (K : forall l i, badfrom i l = true -> exists x, has (row_ l x) (i + x) = true).
  { destruct (K _ _ H) as [x h]. apply I2 in h. simpl in h. lia. }
  induction l as [|m l IH]; simpl; intros i h; [discriminate|]. apply orb_true_iff in h.
  destruct h as [h|h].
  - exists 0. rewrite Nat.add_0_r. auto.
  - destruct (IH _ h) as [x h']. exists (S x). rewrite Nat.add_succ_r. auto.
Qed.
Lemma no_no s l : Agrees s -> no s l = true -> ~ holds l.
Proof.
  intros [I1 I2]. destruct l as [[x b] y]. simpl.
  destruct b; intro h; [apply I1 in h|apply I2 in h]; lia.
Qed.
Lemma simp_sat s cs : Agrees s -> (forall c, In c cs -> sat c) -> forall c, In c (simp s cs) ->
  sat c.
Proof.
  intros I. induction cs as [|d cs IH]; simpl; intros H c h; [tauto|].
  destruct (existsb (yes s) d); [apply IH; auto|]. destruct h as [<-|h]; [|apply IH; auto].
  destruct (H d) as [l [l1 l2]]; auto. exists l. split; auto. apply filter_In. split; auto.
  destruct (no s l) eqn:e; auto. destruct (no_no _ I e l2).
Qed.
Lemma shortest_in cs c : In (shortest c cs) (c :: cs).
Proof.
  revert c. induction cs as [|d cs IH]; simpl; intro c; auto. destruct (length d <? length c).
  right; apply IH. destruct (IH c); auto.
Qed.
(* What is refuted holds of no times. *)
Theorem refute_sound fuel : forall s cs, Agrees s -> (forall c, In c cs -> sat c) ->
  refute fuel s cs = true -> False.
Proof.
  induction fuel as [|f IH]; intros s cs I H; simpl; destruct (badfrom 0 (lt s)) eqn:B;
    try (intros _; exact (bad_no I B)); [discriminate|]. pose proof (@simp_sat s cs I H) as S.
  destruct (simp s cs) as [|c cs']; [discriminate|]. intro h. rewrite forallb_forall in h.
  destruct (S _ (shortest_in cs' c)) as [l [l1 l2]]. apply (IH (add l s) (c :: cs')); auto.
  apply Inv_add; auto.
Qed.
(* Facts and clauses.  Each split makes a clause true, so that there is fuel enough (Complete.v). *)
Definition contra n (fs : list lit) (cs : list clause) :=
  refute (S (length cs)) (fold_right add (start n) fs) cs.
Theorem contra_sound n fs cs : contra n fs cs = true -> (forall l, In l fs -> holds l) ->
  (forall c, In c cs -> sat c) -> False.
Proof.
  intros h H HC. refine (refute_sound _ cs _ HC h). clear h HC.
  induction fs as [|l fs IH]; simpl; [apply Inv_start|].
  apply Inv_add; [apply IH; intros; apply H; simpl; auto|apply H; simpl; auto].
Qed.
End Sound.
