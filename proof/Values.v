(** * Values of words and reads, memory in the end, and the events as a finite type *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Thm1 Runs Positions Events Threads.
Import ListNotations.
Set Implicit Arguments.
Section Values_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation guard := (guard loc_dec (wgs P) wgof unset).

(** ** Values: a read has the value of the write that it reads; memory in the end *)
Definition vof w := match w with Ini x => initial x | At n => wval n end.
Definition good (d : word) := fst d = vof (snd d).
(* A word has the value of its write. *)
Lemma vals n : (forall w x, good (word1 n w x)) /\ (forall x, good (word2 n x)) /\
  (forall x, good (wordm n x)).
Proof.
  induction n as [|n (a&b&c)]; [repeat split|]. split; [|split].
  - intros w x. rewrite word1_step. destruct (stores_to w x n); [split|].
    destruct (fetch_of w x n); auto.
  - intro x. rewrite word2_step. destruct (rmw_of x n); [split|].
    destruct (lab n); auto; destruct (loc_dec x0 x); auto.
  - intro x. rewrite wordm_step. destruct (lab n); auto; destruct (loc_dec x0 x); auto.
Qed.
(* the value that the access at n delivers *)
Definition rval n := match act n with
  | Some (t, _, (LD x | RMW_L1 x _)) => fst (word1 n (wgof t) x) | Some (_, _, RMW_L2 x _) =>
    fst (word2 n x) | _ => unset end.
(* A read delivers the value of the write that it reads. *)
Theorem rf_val w n : rf w (At n) -> rval n = vof w.
Proof.
  unfold rf, rval, acc. destruct (act n) as [[[t b] i]|]; [|tauto]. destruct (vals n) as (a&b'&_).
  destruct i; try tauto; intros ->; [exact (a (wgof t) x)|exact (a (wgof t) x)|exact (b' x)].
Qed.
Theorem reg_val n t b i : act n = Some (t, b, i) ->
  (match i with LD _ | RMW_L1 _ _ | RMW_L2 _ _ => True | _ => False end) ->
    kept (thr (S n) t) = rval n.
Proof.
  intros A K. unfold rval. rewrite A. destruct (thr_run (S n) t) as (_&->&_). unfold act in A.
  rewrite sta_S. unfold effect. destruct (lab n); try discriminate.
  destruct (next unset (threads (sta n) t0)) as [[i' th]|]; [|discriminate]. injection A as -> _ ->.
  destruct i; simpl; try tauto; unfold setn; destruct (Nat.eq_dec t t); try congruence; simpl;
    destruct (word_values n (wgof t) x) as (e1&e2&_); rewrite ?e1, ?e2; auto.
Qed.
(* what is no access leaves it there *)
Lemma held_keep n t i : act n = Some (t, false, i) -> isacc i = false ->
  kept (thr (S n) t) = kept (thr n t).
Proof.
  intros A NA. destruct (thr_run (S n) t) as (_&->&_). destruct (thr_run n t) as (_&->&_).
  unfold act in A. rewrite sta_S. unfold effect. destruct (lab n); try discriminate.
  destruct (next unset (threads (sta n) t0)) as [[i' th]|] eqn:NX; [|discriminate].
  injection A as -> B ->. unfold next in NX. unfold begins in B.
  destruct (rest (threads (sta n) t)); [discriminate|]. injection NX as -> <-.
  destruct i; simpl in *; try discriminate; unfold setn; destruct (Nat.eq_dec t t); simpl; auto;
    congruence.
Qed.
(* Memory has the last write of each location. *)
Theorem final x : exists w, ev w /\ isW w /\ eloc w = x /\ wordm N x = (vof w, w) /\ forall w',
  ev w' -> isW w' -> eloc w' = x -> mme w' w.
Proof.
  destruct (@last_arrived_max _ x N) as (a&b&c&d&f); [lia|]. exists (snd (last_arrived x N)).
  split; auto. split; auto. split; auto. destruct (@l2_inv _ x N) as (_&_&g); [lia|]. split.
  - rewrite <- g; [|apply cmpl]. destruct (vals N) as (_&_&q). specialize (q x). unfold good in q.
    rewrite <- q. destruct (wordm N x); auto.
  - intros w w1 w2 w3. apply f; auto.
    destruct (arr_mul w1 w2) as [[z _]|(k&z&hk)]; rewrite z; unfold tm; lia.
Qed.

(** ** The events as a type *)
Definition evb o := match o with Ini _ => true | At n => (n <? N) && match acc n with Some _ =>
  true | None => false end end.
Lemma evb_ev o : evb o = true <-> ev o.
Proof.
  destruct o as [|n]; simpl; [tauto|]. rewrite andb_true_iff, Nat.ltb_lt.
  destruct (acc n); split; intros [? ?]; split; auto; congruence.
Qed.
(* The events of the run as a type, and all of them as a list. *)
Definition E := { o | evb o = true }.
Definition write_of (o : E) : wid := proj1_sig o.
Lemma write_of_ev o : ev (write_of o). Proof. destruct o as [o h]. apply evb_ev. auto. Qed.
Lemma write_of_inj (a b : E) : write_of a = write_of b -> a = b.
Proof.
  destruct a as [a p], b as [b q]. simpl. intros ->. f_equal. apply UIP_dec. apply bool_dec.
Qed.
Lemma write_of_sur o : ev o -> exists a, write_of a = o.
Proof. intro h. apply evb_ev in h. exists (exist _ o h). auto. Qed.
Definition evs : list E := flat_map (fun o => match bool_dec (evb o) true with left p =>
  [exist _ o p] | right _ => [] end) (map Ini locations ++ map At (seq 0 N)).
Lemma evs_all a : In a evs.
Proof.
  destruct a as [o p]. apply in_flat_map. exists o. split.
  - apply in_or_app. destruct o as [x|n]; [left; apply in_map, all_locations|right; apply in_map].
    apply in_seq. simpl in p. apply andb_prop in p as [p _]. apply Nat.ltb_lt in p. lia.
  - destruct (bool_dec (evb o) true) as [q|q]; [|tauto]. left. apply write_of_inj. auto.
Qed.
Lemma act_acc p t b i : act p = Some (t, b, i) -> acc p = match i with LD x =>
  Some (t, kLD, x) | ST x _ => Some (t, kST, x) | RMW_L1 x _ => Some (t, k1, x) | RMW_L2 x _ =>
  Some (t, k2, x) | _ => None end.
Proof. unfold acc. intros ->. auto. Qed.
Lemma inv_act p t b r G : p < N -> act p = Some (t, b, INV_L1 r) -> reaches r (wgof t) G = true ->
  inv G (tm p).
Proof. intros h a q. exists p. split; auto. split; auto. unfold inv_reaching. rewrite a. auto. Qed.
Lemma mks_act p t b r G : act p = Some (t, b, FLU_L1 r) -> reaches r (wgof t) G = true ->
  flu_reaching t G p = true.
Proof.
  intros a q. unfold flu_reaching. rewrite a. apply andb_true_intro. split; auto. apply eqn_t; auto.
Qed.
Lemma own_reach G : reaches R_WG G G = true. Proof. simpl. destruct (Nat.eq_dec G G); auto. Qed.
(* Two stores of one L1 to one location leave together, if the second is made before the first
   has left. *)
Lemma merge o p : ev o -> ev p -> isW o -> isW p -> ~ init o -> ~ init p -> ~ l2 o -> ~ l2 p ->
  ewg o = ewg p -> eloc o = eloc p -> T o < T p -> T p < arr o -> arr o = arr p.
Proof.
  intros a b c d f g z1 z2 h i j q. destruct (W_arr a c f) as (n&t&x&->&hn&[[D _]|(k&D&_&r&y&_)]);
    [simpl in z1; rewrite D in z1; tauto|]. destruct (W_arr b d g) as (m&u&y0&->&hm&[[D'
    _]|(k'&D'&_&r'&y'&_)]); [simpl in z2; rewrite D' in z2; tauto|]. simpl in h, i.
  rewrite D, D' in h, i. subst. rewrite y, y' in *. rewrite h in *. unfold T in *. f_equal.
  apply next_pos_skip; [unfold tm in *; lia|lia|]. destruct (store_arrives r hn) as (s1&s2&s3).
  intros k0 hk. apply s3. unfold tm in *. lia.
Qed.

End Values_.
