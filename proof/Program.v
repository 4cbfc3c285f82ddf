(** * Executions of a program: its events are as Fig2.v asks,
   and what is consistent can be completed *)
Require Import Classical List Arith Lia Relations Fig2 Thm1.
Import ListNotations.
Set Implicit Arguments.

Section Laws.
Variables Val L : Type.
Variable P : program Val L.
Notation init := (@init Val L).
Notation thd := (@thd Val L).
Notation sb := (@sb Val L).
Notation label := (op_of P).
Notation isW := (isW P).
Notation isR := (isR P).
Notation at_ := (atom P).
Notation rel := (rel P).
Notation acq := (acq P).
Notation wg := (group_of P).
Notation incl := (incl P).
(* the hypotheses of Fig2.v *)
Lemma thd_sym x y : thd x y -> thd y x. Proof. destruct x, y; simpl; auto. Qed.
Lemma thd_tr x y z : thd x y -> thd y z -> thd x z.
Proof. destruct x, y, z; simpl; intuition congruence. Qed.
Lemma thd_ni x y : thd x y -> ~ init x. Proof. destruct x, y; simpl; auto. Qed.
Lemma thd_wg x y : thd x y -> wg x = wg y. Proof. destruct x, y; simpl; try tauto. congruence. Qed.
Lemma incl_sym x y : incl x y -> incl y x. Proof. unfold incl. tauto. Qed.
Lemma init_w x : init x -> isW x /\ ~ isR x /\ ~ at_ x. Proof. destruct x; simpl; try tauto. Qed.
Lemma sb_ir x : ~ sb x x.
Proof.
  destruct x; simpl; auto. intros (_&v&r&h). apply (f_equal (@length _)) in h.
  rewrite app_length in h. simpl in h. lia.
Qed.
Lemma sb_tr x y z : sb x y -> sb y z -> sb x z.
Proof.
  destruct x as [|t p], y as [|t' p'], z as [|t'' p'']; simpl; try tauto.
  intros (->&v&r&->) (->&v'&r'&->). split; auto. exists v, (r ++ v' :: r'). rewrite <- app_assoc.
  auto.
Qed.
Lemma sb_ni x y : sb x y -> ~ init y. Proof. destruct x, y; simpl; auto. Qed.
Lemma sb_init x y : init x -> ~ init y -> sb x y. Proof. destruct x, y; simpl; tauto. Qed.
Lemma rel_at x : rel x -> at_ x.
Proof. unfold Thm1.rel, having, atom. destruct (label x); tauto. Qed.
Lemma acq_at x : acq x -> at_ x.
Proof. unfold Thm1.acq, having, atom. destruct (label x); tauto. Qed.

End Laws.

Section P.
Variables Val L : Type.
Hypothesis val_dec : forall a b : Val, {a = b} + {a <> b}.
Variable l0 : L. (* there is a location; the location of what is no node *)
Variable nal : L -> Prop. (* declared non-atomic *)
Variable ini : L -> Val. (* initial values *)

Variable P : program Val L.
Notation tree := (tree Val L).
Notation ev := (event Val L).
Notation graph := (Thm1.graph ev).
Notation label := (op_of P).
Notation real := (real P).
Notation isW := (isW P).
Notation isR := (isR P).
Notation loc := (loc l0 P).
Notation init := (@init Val L).
Notation at_ := (atom P).
Notation rel := (rel P).
Notation acq := (acq P).
Notation remote := (remote P).
Notation thd := (@thd Val L).
Notation wg := (group_of P).
Notation incl := (incl P).
Notation sb := (@sb Val L).
Notation thr := (thread_of P).
Notation sub := (@subtree Val L).
Notation wval := (written ini P).
Notation exec := (execution ini P).
Notation complete := (complete P).
(* Hb, Coh, Rf, Narf, Rmw of Fig. 2; racefree: Dr *)
Definition cons (g : graph) := Fig2.cons loc isW isR init nal thd incl sb rel acq g.
Notation hb := (hb P).
(* Thm1.v's consistency is that of Fig2.v. *)
Lemma consistent_iff g : consistent l0 nal P g <-> cons g.
Proof.
  split.
  - intros [[] h1 h2 h3 h4 h5 h6]. split; auto. split; auto.
  - intros [[] h1 h2 h3 h4 h5 h6]. split; auto. split; auto.
Qed.
Notation consistent := cons.
Notation faultless := (race_free l0 P).
Notation racy := (racy l0 nal ini P).
Definition upd (v : ev -> Val) t p u (x : ev) := match x with
  | Node t' p' => if Nat.eq_dec t' t then if list_eq_dec val_dec p' p then u else v x else v x
    | _ => v x end.
Lemma upd_eq v t p u : upd v t p u (Node t p) = u.
Proof.
  simpl. destruct (Nat.eq_dec t t); [|congruence]. destruct (list_eq_dec val_dec p p); congruence.
Qed.
Lemma upd_ne v t p u x : x <> Node t p -> upd v t p u x = v x.
Proof.
  intro n. destruct x as [|t0 p0]; auto. simpl. destruct (Nat.eq_dec t0 t); auto.
  destruct (list_eq_dec val_dec p0 p); auto. congruence.
Qed.

Lemma sub_app c p u : sub c (p ++ [u]) = match sub c p with Done => Done | Do _ k => k u end.
Proof. revert c. induction p as [|a p IH]; intros [|o k]; simpl; auto. Qed.

(** ** Completion *)
Definition ext (g : graph) (v : ev -> Val) (g' : graph) (v' : ev -> Val) :=
  (forall x, events g x -> events g' x) /\ (forall x, events g x -> v' x = v x) /\
  (forall x y, events g y -> (hb g' x y <-> hb g x y)).
Lemma ext_refl g v : ext g v g v. Proof. repeat split; auto. Qed.
Lemma ext_tr g v g1 v1 g2 v2 : ext g v g1 v1 -> ext g1 v1 g2 v2 -> ext g v g2 v2.
Proof.
  intros (a&b&c) (a'&b'&c'). split; [auto|]. split. { intros x h. rewrite b'; auto. }
  intros x y h. rewrite c'; auto.
Qed.
Lemma ended_ext g v g' v' : ext g v g' v' -> forall c t p, ended (events g) v t p c ->
  ended (events g') v' t p c.
Proof.
  intros (a&b&_). induction c as [|o k IH]; simpl; auto. intros t p [h h']. split; auto.
  rewrite (b _ h). auto.
Qed.
Lemma snoc A (p q r : list A) (u w : A) : q ++ u :: r = p ++ [w] -> q = p \/ exists r',
  p = q ++ u :: r'.
Proof.
  destruct r as [|a r _] using rev_ind; intro h.
  - apply app_inj_tail in h. tauto.
  - right. exists r. change (q ++ (u :: r) ++ [a] = p ++ [w]) in h. rewrite app_assoc in h.
    apply app_inj_tail in h. symmetry; tauto.
Qed.
Definition reach (g : graph) (v : ev -> Val) t p := p = [] \/ exists q, events g (Node t q) /\
  p = q ++ [v (Node t q)].
Lemma init_ex' l : exists x, init x /\ loc x = l. Proof. exists (Init l); simpl; auto. Qed.

(* A consistent execution goes on in one thread to its end. *)
Lemma run_thread : forall c t p g v, sub (body (thr t)) p = c -> consistent g -> exec g v ->
  reach g v t p ->
  exists g' v', consistent g' /\ exec g' v' /\ ext g v g' v' /\ ended (events g') v' t p c.
Proof.
  induction c as [|o k IH]; intros t p g v Hs C X R. { exists g, v. simpl. auto using ext_refl. }
  assert (K : forall g v, consistent g -> exec g v -> events g (Node t p) -> exists g' v',
    consistent g' /\ exec g' v' /\ ext g v g' v' /\ ended (events g') v' t p (Do o k)).
  { clear g v C X R. intros g v C X H.
    destruct (IH (v (Node t p)) t (p ++ [v (Node t p)]) g v) as (g'&v'&a&b&c&d); auto.
    - rewrite sub_app, Hs. auto.
    - right; eauto.
    - exists g', v'. split; auto. split; auto. split; auto. destruct c as (c1&c2&c3). simpl.
      split; auto. rewrite (c2 _ H). auto. }
  destruct (classic (events g (Node t p))) as [H|H]; [auto|]. pose proof (Fig2.c_wf C) as W.
  set (c := Node t p) in *. assert (LB : label c = Some o) by (simpl; rewrite Hs; auto).
  assert (LC : loc c = op_loc o) by (simpl; rewrite Hs; auto).
  assert (NI : ~ init c) by (simpl; auto). destruct (@Fig2.one_more ev L loc isW isR at_ init nal
    thd incl sb) with (g := g) (c := c) (rel := rel) (acq := acq) as (g'&C'&EX);
    auto using sb_ir, sb_init, init_w, rel_at, acq_at, init_ex'.
  { intros x y. destruct x, y; simpl; try tauto. congruence. }
  { intros x h. destruct x as [l|t' q]; [apply W; simpl; auto|]. destruct h as (->&u&r&h).
    destruct R as [->|(q'&R1&->)]. { destruct q; discriminate. }
    symmetry in h. apply snoc in h. destruct h as [->|(r'&->)]; auto. eapply (w_sb W); [|exact R1].
    simpl. eauto. }
  { intros x h s. apply H. eapply (w_sb W); eauto. }
  pose proof (c_wf C') as W'. pose proof (one_more_unread W H C' EX) as NR.
  destruct EX as (E1&E2&_&E4&_). assert (V : exists u, (isR c -> forall w, rf g' w c ->
    u = wval v w) /\ forall a, op_kind o = Store a -> u = a).
  { destruct (op_kind o) eqn:ko.
    - destruct (@w_rft _ _ _ _ _ _ _ _ _ W' c) as [w Hw];
        [apply E1; auto|unfold Thm1.isR; rewrite LB, ko; congruence|]. exists (wval v w).
      split; [|congruence]. intros _ w' h. f_equal. eapply (w_rff W'); eauto.
    - exists v0. split; [|congruence]. unfold Thm1.isR. rewrite LB. intro h. destruct (h v0); auto.
    - destruct (@w_rft _ _ _ _ _ _ _ _ _ W' c) as [w Hw];
        [apply E1; auto|unfold Thm1.isR; rewrite LB, ko; congruence|]. exists (wval v w).
      split; [|congruence]. intros _ w' h. f_equal. eapply (w_rff W'); eauto. }
  destruct V as (u&V1&V2). set (v' := upd v t p u). assert (vc : v' c = u) by apply upd_eq.
  assert (vn : forall x, x <> c -> v' x = v x) by (intros; apply upd_ne; auto).
  assert (wn : forall x, x <> c -> wval v' x = wval v x).
  { intros x n. unfold written. rewrite (vn _ n). auto. }
  assert (X' : exec g' v').
  { destruct X as [X1 X2 X3 X4]. split.
    - intros x h. apply E1 in h. destruct h as [h| ->]; auto. unfold Thm1.real. simpl. rewrite Hs.
      congruence.
    - intros t' q a h. apply E1 in h. destruct h as [h|h].
      + rewrite vn; auto. intro e. apply H. rewrite <- e. eapply (w_sb W); [|exact h]. simpl.
        split; auto. exists a, []. auto.
      + injection h as -> h. destruct R as [R|(q'&R1&R2)]. { subst p. destruct q; discriminate. }
        rewrite R2 in h. apply app_inj_tail in h. destruct h as [-> ->]. apply vn. intro e. apply H.
        rewrite <- e. auto.
    - intros w r h. assert (nw : w <> c) by (intros ->; eapply NR; eauto). rewrite (wn _ nw).
      destruct (classic (r = c)) as [->|n].
      + rewrite vc. apply V1; auto. apply (w_rf W' _ _ h).
      + rewrite vn; auto. apply X3. apply E2; auto.
    - intros x o' a h h1 h2. apply E1 in h. destruct h as [h| ->].
      + rewrite vn; [eauto|congruence].
      + rewrite vc. rewrite LB in h1. injection h1 as <-. auto. }
  assert (XT : ext g v g' v').
  { repeat split.
    - intros x h. apply E1; auto.
    - intros x h. apply vn; congruence.
    - intro h. apply E4; auto. congruence.
    - intro h. apply E4; auto. congruence. }
  destruct (K g' v') as (g2&v2&a&b&d&f); auto. { apply E1; auto. }
  exists g2, v2. eauto using ext_tr.
Qed.

(* Every consistent execution of a part of the program can be completed (step 1, iterated). *)
Theorem completion g v : consistent g -> exec g v -> exists g' v', consistent g' /\ exec g' v' /\
  complete (events g') v' /\ ext g v g' v'.
Proof.
  intros C X. assert (H : forall n, exists g' v', consistent g' /\ exec g' v' /\ ext g v g' v' /\
    forall t, t < n -> ended (events g') v' t [] (body (thr t))).
  { induction n as [|n (g1&v1&a&b&c&d)].
    { exists g, v. split; auto. split; auto. split; [apply ext_refl|intros; lia]. }
    destruct (@run_thread (body (thr n)) n [] g1 v1) as (g2&v2&a'&b'&c'&d'); auto.
    { left; reflexivity. }
    exists g2, v2. split; auto. split; auto. split; [eapply ext_tr; eauto|]. intros t h.
    destruct (Nat.eq_dec t n) as [->|]; auto. eapply ended_ext; eauto. apply d. lia. }
  destruct (H (length P)) as (g'&v'&a&b&c&d). exists g', v'. split; auto. split; auto. split; auto.
  intro t. destruct (le_lt_dec (length P) t) as [h|h]; auto. unfold thread_of.
  rewrite nth_overflow; auto. simpl. auto.
Qed.

(* So a race of a consistent part is a race of the program. *)
Theorem prefix_safe g v : ~ racy -> consistent g -> exec g v -> faultless g.
Proof.
  intros N C X. apply NNPP. intro F. destruct (completion C X) as (g'&v'&a&b&c&(d&_&e)). apply N.
  exists g', v'. split; [apply consistent_iff; auto|]. split; auto. split; auto. intro F'. apply F.
  intros x y h1 h2 h3 h4 h5 h6 h7. destruct (F' x y) as [z|[z|[z|z]]]; auto.
  - right; right; left. apply e; auto.
  - right; right; right. apply e; auto.
Qed.
End P.
