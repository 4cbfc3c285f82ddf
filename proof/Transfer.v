(** * From a run to executions of its program

    A run has instances of operations, each an event of the program. A graph over instances is a
    graph over events. *)
Require Import Classical List Arith Lia Relations Thm1 Fig2 Program.
Import ListNotations.
Set Implicit Arguments.
Section R.
Variables Val L : Type.
Hypothesis val_dec : forall a b : Val, {a = b} + {a <> b}.
Variable l0 : L.
Variable nal : L -> Prop.
Variable ini : L -> Val.
Variable P : program Val L.
Notation ev := (event Val L).
Notation loc := (loc l0 P).
Notation isW := (isW P).
Notation isR := (isR P).
Notation init := (@init Val L).
Notation at_ := (atom P).
Notation thd := (@thd Val L).
Notation sb := (@sb Val L).
Notation incl := (incl P).
Notation rel := (rel P).
Notation acq := (acq P).
Notation wval := (written ini P).
Notation label := (op_of P).
Notation exec := (execution ini P).
Notation faultless := (race_free l0 P).
Notation racy := (racy l0 nal ini P).
Notation cons := (Program.cons l0 nal P).
Variable M : Type.
Variable nd : M -> ev.
Variable T : M -> nat.
Variable rf_run : M -> M -> Prop.
Variable v : ev -> Val.
Hypothesis nd_inj : forall a b, nd a = nd b -> a = b.
Hypothesis nd_init : forall l, exists a, nd a = Init l.
Hypothesis nd_real : forall a, real P (nd a).
Hypothesis nd_path : forall a t p u, nd a = Node t (p ++ [u]) -> v (Node t p) = u /\ exists b,
  nd b = Node t p.
Hypothesis T_sb : forall a b, thd (nd a) (nd b) -> (T a < T b <-> sb (nd a) (nd b)).
Hypothesis rf_v : forall w r, rf_run w r -> v (nd r) = wval v (nd w).
Hypothesis st_v : forall a o c, label (nd a) = Some o -> op_kind o = Store c -> v (nd a) = c.

Notation locM := (fun a => loc (nd a)).
Notation WM := (fun a => isW (nd a)).
Notation RM := (fun a => isR (nd a)).
Notation iM := (fun a => init (nd a)).
Notation atM := (fun a => at_ (nd a)).
Notation tM := (fun a b => thd (nd a) (nd b)).
Notation inM := (fun a b => incl (nd a) (nd b)).
Notation relM := (fun a => rel (nd a)).
Notation acqM := (fun a => acq (nd a)).
Definition sbM a b := (init (nd a) /\ ~ init (nd b)) \/ (thd (nd a) (nd b) /\ T a < T b).
Notation consM := (Fig2.cons locM WM RM iM nal tM inM sbM relM acqM).
Notation racefreeM := (Fig2.racefree locM WM RM atM iM tM inM sbM relM acqM).
Notation hbM := (Fig2.hb WM RM tM inM sbM relM acqM).
Notation nearM := (Fig2.near locM WM RM iM nal sbM rf_run).
Notation hb := (Thm1.hb P).

Lemma sbM_is_sb a b : sbM a b <-> sb (nd a) (nd b).
Proof.
  split.
  - intros [[i n]|[t h]]. apply sb_init; auto. apply T_sb; auto.
  - intro h. assert (d : (init (nd a) /\ ~ init (nd b)) \/ thd (nd a) (nd b)).
    { destruct (nd a), (nd b); simpl in *; tauto. }
    destruct d as [d|d]; [left; auto|right]. split; auto. apply T_sb; auto.
Qed.
Lemma nd_closed x b : sb x (nd b) -> exists a, nd a = x.
Proof.
  destruct x as [l|t p]; [intros _; apply nd_init|].
  destruct (nd b) as [|u q] eqn:e; simpl; [tauto|]. intros (->&w&r&->). revert b e.
  induction r as [|c r IH] using rev_ind; intros b e.
  - destruct (@nd_path b _ _ _ e) as [_ h]. auto.
  - change (w :: r ++ [c]) with ((w :: r) ++ [c]) in e. rewrite app_assoc in e.
    destruct (@nd_path b _ _ _ e) as [_ [b' h]]. eauto.
Qed.

(* A graph of instances as a graph of events of the program. *)
Definition img (g : Thm1.graph M) : Thm1.graph ev :=
  Thm1.Graph (fun x => exists a, x = nd a /\ events g a)
  (fun x y => exists a b, x = nd a /\ y = nd b /\ rf g a b) (fun x y => exists a b, x = nd a /\
    y = nd b /\ mo g a b).
Lemma img_events g a : events (img g) (nd a) <-> events g a.
Proof. split; [intros (b&h&d); apply nd_inj in h; subst; auto|intro; exists a; auto]. Qed.
Lemma img_rf g a b : rf (img g) (nd a) (nd b) <-> rf g a b.
Proof.
  split; [intros (c&d&h&h'&r); apply nd_inj in h; apply nd_inj in h'; subst; auto|intro;
    exists a, b; auto].
Qed.
Lemma img_mo g a b : mo (img g) (nd a) (nd b) <-> mo g a b.
Proof.
  split; [intros (c&d&h&h'&r); apply nd_inj in h; apply nd_inj in h'; subst; auto|intro;
    exists a, b; auto].
Qed.
Lemma img_rsq g a b : rsq isW isR thd (img g) (nd a) (nd b) <-> rsq WM RM tM g a b.
Proof.
  split.
  - intros [h|(h&h1&h2)]; [left; auto|right]. apply img_mo in h. split; auto. split; auto.
    intros k k1 k2. apply (h2 (nd k)); apply img_mo; auto.
  - intros [->|(h&h1&h2)]; [left; auto|right]. split; [apply img_mo; auto|]. split; auto.
    intros k k1 k2. pose proof k1 as (?&k'&_&->&_). apply (h2 k'); apply img_mo; auto.
Qed.
Lemma img_hb1 g a b : hb1 isW isR thd incl sb rel acq (img g) (nd a) (nd b) <->
  hb1 WM RM tM inM sbM relM acqM g a b.
Proof.
  split.
  - intros [(h1&h2&h3)|(h1&h2&h3&h4&h5&h6&h7&h8&w&h9&h10)]; apply img_events in h1;
      apply img_events in h2.
    + left. split; auto. split; auto. apply sbM_is_sb; auto.
    + right. split; auto. split; auto. do 6 (split; auto). pose proof h10 as (w'&_&->&_). exists w'.
      split; [apply img_rsq|apply img_rf]; auto.
  - intros [(h1&h2&h3)|(h1&h2&h3&h4&h5&h6&h7&h8&w&h9&h10)]; apply img_events in h1;
      apply img_events in h2.
    + left. split; auto. split; auto. apply sbM_is_sb; auto.
    + right. split; auto. split; auto. do 6 (split; auto). exists (nd w).
      split; [apply img_rsq|apply img_rf]; auto.
Qed.
Lemma img_hb g a b : hb (img g) (nd a) (nd b) <-> hbM g a b.
Proof.
  split.
  - assert (H : forall x y, hb (img g) x y -> exists a b, x = nd a /\ y = nd b /\ hbM g a b).
    { induction 1 as [x y h|x y z _ (a1&b1&h1&h2&h3) _ (b2&c2&h4&h5&h6)].
      - assert (d : events (img g) x /\ events (img g) y) by (destruct h as [(?&?&_)|(?&?&_)];
          auto). destruct d as ((a'&->&_)&(b'&->&_)). exists a', b'. split; auto. split; auto.
        apply t_step. apply img_hb1; auto.
      - subst. apply nd_inj in h4. subst. exists a1, c2. split; auto. split; auto.
        eapply t_trans; eauto. }
    intro h. destruct (H _ _ h) as (a'&b'&h1&h2&h3). apply nd_inj in h1. apply nd_inj in h2.
    subst; auto.
  - induction 1 as [x y h|]; [apply t_step, img_hb1; auto|eapply t_trans; eauto].
Qed.
Lemma img_hb_from g x y : hb (img g) x y -> (exists a, x = nd a) /\ exists b, y = nd b.
Proof. intro h. apply Fig2.hb_D in h. destruct h as [(a&h&_) (b&h'&_)]. eauto. Qed.

(* It is consistent if the graph of instances is. *)
Lemma cons_img g : consM g -> cons (img g).
Proof.
  intro C. pose proof (c_wf C) as W. split.
  - split.
    + destruct (w_fin W) as [l h]. exists (map nd l). intros x (a&->&d). apply in_map; auto.
    + intros x i. destruct x as [l|]; [|destruct i]. destruct (nd_init l) as [a h]. rewrite <- h.
      apply img_events. apply (w_init W). rewrite h. exact i.
    + intros x y h (b&->&d). destruct (@nd_closed _ _ h) as [a <-]. apply img_events.
      eapply (w_sb W); eauto. apply sbM_is_sb; auto.
    + intros x y (a&b&->&->&h). destruct (w_rf W _ _ h) as (h1&h2&h3&h4&h5).
      repeat split; auto; apply img_events; auto.
    + intros x y z (a&b&->&->&h) (a'&b'&->&e&h'). apply nd_inj in e. subst. f_equal.
      eapply (w_rff W); eauto.
    + intros x (a&->&d) h. destruct (w_rft W a d h) as [w r]. exists (nd w). apply img_rf; auto.
    + intros x y (a&b&->&->&h). destruct (w_mo W _ _ h) as (h1&h2&h3&h4&h5&h6).
      repeat split; auto; apply img_events; auto.
    + intros x y z (a&b&->&->&h) (a'&b'&e&->&h'). apply nd_inj in e. subst. apply img_mo.
      eapply (w_mot W); eauto.
    + intros x (a&b&->&e&h). apply nd_inj in e. subst. eapply (w_moi W); eauto.
    + intros x y (a&->&d) (b&->&d') h1 h2 h3 h4 h5.
      destruct (w_mol W d d' h1 h2 h3 h4) as [m|m]; [congruence|left|right]; apply img_mo; auto.
  - intros x h. destruct (img_hb_from h) as ((a&->)&_). apply img_hb in h. eapply (c_hb C); eauto.
  - intros x y z u h h1 h2 h3. pose proof h2 as (c&d&->&->&_). apply img_mo in h2.
    destruct (img_hb_from h) as ((a&->)&(b&->)). apply img_hb in h.
    apply (c_coh C) with (a := a) (b := b) (y := c) (x := d); auto.
    + destruct h1 as [h1|h1]; [left; auto|right; apply img_rf; auto].
    + destruct h3 as [h3|h3]; [left; auto|right; apply img_rf; auto].
  - intros w r (a&b&->&->&h) h'. apply img_hb in h'. eapply (c_rf C); eauto.
  - intros w r (a&b&->&->&h) n. apply img_hb. apply (c_na1 C); auto.
  - intros w r k (a&b&->&->&h) n h1 h2 h3 h4. destruct (img_hb_from h3) as (_&(c&->)).
    apply img_hb in h3. apply img_hb in h4. eapply (c_na2 C) with (k := c); eauto.
  - destruct (c_rmw C) as (R1&R2&R3). split; [|split].
    + intros x (a&b&->&e&h). apply nd_inj in e. subst. eapply R1; eauto.
    + intros x y z (a&b&->&->&h) (a'&b'&e&->&h') (c&d&hb1&e2&r). apply nd_inj in e.
      apply nd_inj in hb1. apply nd_inj in e2. subst. exact (R2 _ _ _ h h' r).
    + intros x y (a&b&->&->&h) (c&d&hb1&e2&r). apply nd_inj in hb1. apply nd_inj in e2. subst.
      exact (R3 _ _ h r).
Qed.
Lemma faultless_img g : faultless (img g) -> racefreeM g.
Proof.
  intros F a c h1 h2 h3 h4 h5 h6 h7.
  destruct (F (nd a) (nd c)) as [z|[z|[z|z]]]; auto; try (apply img_events; auto).
  - right; right; left. apply img_hb; auto.
  - right; right; right. apply img_hb; auto.
Qed.

(* A graph that is near the run is an execution, with other values at one read. *)
Lemma exec_near g : nearM g -> exists v', exec (img g) v' /\
  ((forall a w, rf g w a -> rf_run w a) -> forall x, v' x = v x).
Proof.
  intros (W&Q&Q1&Q2&Q3&Q4). assert (V : exists v', (forall a, ~ (Q a /\ RM a /\ events g a) ->
    v' (nd a) = v (nd a)) /\ (forall c w, Q c -> rf g w c -> v' (nd c) = wval v (nd w)) /\
    ((forall a w, rf g w a -> rf_run w a) -> forall x, v' x = v x)).
  { destruct (classic (exists c, Q c /\ RM c /\ events g c)) as [(c&c1&c2&c3)|N].
    - destruct (w_rft W c c3 c2) as [w r]. destruct (nd c) as [|t p] eqn:e. { destruct c2. }
      exists (upd val_dec v t p (wval v (nd w))). split; [|split].
      + intros a n. apply upd_ne. intro e'. apply n. rewrite <- e in e'. apply nd_inj in e'. subst.
        rewrite e. auto.
      + intros c' w' q r'. assert (c' = c) by auto. subst.
        assert (w' = w) by (eapply (w_rff W); eauto). subst. rewrite e. apply upd_eq.
      + intros h x. destruct (classic (x = Node t p)) as [->|n]; [|apply upd_ne; auto].
        rewrite upd_eq. rewrite <- e. symmetry. apply rf_v. auto.
    - exists v. split; auto. split; auto. intros c w q r. exfalso. apply N. exists c.
      destruct (w_rf W _ _ r) as (?&?&?&?&?). auto. }
  destruct V as (v'&V1&V2&V3). exists v'. split; auto. split.
  - intros x (a&->&_). auto.
  - intros t p u (a&e&d). symmetry in e. destruct (@nd_path a _ _ _ e) as (h&b&h').
    rewrite <- h' in *. rewrite V1; auto. intros (q&_). apply (Q2 _ _ q d). apply sbM_is_sb.
    rewrite e, h'. simpl. split; auto. exists u, []. auto.
  - intros w r (a&b&->&->&h). assert (na : ~ Q a) by (intro q; exact (Q3 _ _ q h)).
    assert (E : wval v' (nd a) = wval v (nd a)).
    { unfold Thm1.written. rewrite (V1 a); [auto|tauto]. }
    rewrite E. destruct (w_rf W _ _ h) as (_&db&_). destruct (classic (Q b)) as [q|q]; auto.
    rewrite V1; [|tauto]. apply rf_v. apply (Q4 b a); auto.
  - intros x o c (a&->&d) h1 h2. rewrite V1; [eauto|]. intros (_&r&_). unfold Thm1.isR in r.
    rewrite h1 in r. eapply r; eauto.
Qed.

(* Of a program without a race, no consistent graph near the run has one. *)
Theorem prefixes_race_free : ~ racy -> forall g, nearM g -> consM g -> racefreeM g.
Proof.
  intros N g Hn C. destruct (exec_near Hn) as (v'&h&_). apply faultless_img.
  eapply prefix_safe; eauto. apply cons_img; auto.
Qed.

(* the outcome: v gives the values of all reads; final: a last write *)
Notation final g := (last_value l0 nal ini P g v).
Variable evs : list M.
Hypothesis fin : forall a, In a evs.
Variable mm : M -> M -> Prop.
Variable mem : L -> Val.
Notation XM := (Fig2.X locM nal T mm rf_run).
Hypothesis XC : forall n, consM (XM n).
Hypothesis Xlast : forall n w k, hbM (XM n) w k -> locM w = locM k -> WM w -> WM k -> mm w k.
Hypothesis ended_run : complete P (fun x => exists a, x = nd a) v.
Hypothesis mem_last : forall l, exists w, WM w /\ locM w = l /\ wval v (nd w) = mem l /\ forall k,
  ~ mm w k.
(* The whole run gives a consistent execution with its values and its final memory. *)
Theorem outcome : exists g, cons g /\ exec g v /\ complete P (events g) v /\
  (forall x, events g x <-> exists a, x = nd a) /\
    (forall w r, rf g (nd w) (nd r) <-> rf_run w r) /\
    forall l, final g l (mem l).
Proof.
  assert (B : exists n, forall a, T a <= n).
  { assert (H : forall l, exists n, forall a, In a l -> T a <= n).
    { induction l as [|b l (n&h)]; [exists 0; intros a []|]. exists (max n (T b)).
      intros a [<-|i]; [lia|]. apply h in i. lia. }
    destruct (H evs) as [n h]. exists n; auto. }
  destruct B as [n B]. set (g := XM n).
  assert (DE : forall x, events (img g) x <-> exists a, x = nd a).
  { intro x. split; [intros (a&h&_); eauto|intros (a&->); apply img_events; apply B]. }
  assert (RF : forall w r, rf g w r <-> rf_run w r). { intros w r. simpl. split; [tauto|auto]. }
  exists (img g). split; [apply cons_img, XC|]. split; [|split; [|split; [|split]]].
  - assert (Hn : nearM g).
    { split; [apply XC|]. exists (fun _ => False). split; [tauto|]. split; [tauto|].
      split; [tauto|]. intros; apply RF. }
    destruct (exec_near Hn) as (v'&[E1 E2 E3 E4]&h). assert (h' : forall x, v' x = v x).
    { apply h. intros a w q. exact (proj1 (RF _ _) q). }
    split; auto.
    + intros. rewrite <- h'. auto.
    + intros w r q. rewrite <- h', (E3 _ _ q). unfold Thm1.written. rewrite h'. auto.
    + intros. rewrite <- h'. eauto.
  - intro t. specialize (ended_run t). revert ended_run. generalize (@nil Val).
    induction (body (thread_of P t)) as [|o k IH]; simpl; auto. intros p [h1 h2]. split; auto.
    apply DE; auto.
  - auto.
  - intros. rewrite img_rf. auto.
  - intro l. destruct (mem_last l) as (w&h1&h2&h3&h4). exists (nd w). split; [apply img_events, B|].
    split; auto. split; auto. split; auto. split.
    + intros _ k (a&b&e&->&m). apply nd_inj in e. subst. destruct m as [m _]. eapply h4; eauto.
    + intros _ k kw kl h. destruct (img_hb_from h) as (_&(b&->)). apply img_hb in h. eapply h4.
      apply (Xlast h); auto. congruence.
Qed.
End R.
