(** * A run that has the facts, of a table that [check] accepts, has an outcome of its program

    A graph over the operations of a run is one over the events of its program.  The prefixes of the
    run are consistent (Views.v); where the program has no race, so is the whole, and its values and
    its memory are those of the run. *)
Require Import Classical FunctionalExtensionality List Arith Lia Relations Thm1 Fig2 Program Check
  Views Facts.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.
Section FromFacts.
Context {Val L : Type} {nowhere : L} {initial : L -> Val} {P : program Val L} {tbl : table}.
Context {Y : facts nowhere initial P tbl}.
Hypothesis val_dec : forall a b : Val, {a = b} + {a <> b}.
Variable nal : L -> Prop.
Notation ev := (event Val L).
Notation exec := (execution initial P).
Notation racy := (racy nowhere nal initial P).
Notation consistent := (Program.cons nowhere nal P).
Notation cons := (Fig2.cons loc isW isR init nal thd incl sb rel acq).
Notation racefree := (Fig2.racefree loc isW isR at_ init thd incl sb rel acq).
Notation hb := (Fig2.hb isW isR thd incl sb rel acq).
Notation near := (Fig2.near loc isW isR init nal sb rf_run).

Lemma sb_nd a b : sb a b <-> Thm1.sb (nd a) (nd b).
Proof.
  split.
  - intros [[i n]|[t h]]. { apply Program.sb_init; auto. } apply T_sb; auto.
  - intro h. assert (d : (init a /\ ~ init b) \/ thd a b).
    { unfold init, thd. destruct (nd a), (nd b); simpl in *; tauto. }
    destruct d as [d|d]; [left; auto|right]. split; auto. apply T_sb; auto.
Qed.
Lemma nd_closed x b : Thm1.sb x (nd b) -> exists a, nd a = x.
Proof.
  destruct x as [l|t p]; [intros _; apply nd_init|].
  destruct (nd b) as [|u q] eqn:E; simpl; [tauto|]. intros (->&w&r&->). revert b E.
  induction r as [|c r IH] using rev_ind; intros b E.
  - apply (nd_path E).
  - change (w :: r ++ [c]) with ((w :: r) ++ [c]) in E. rewrite app_assoc in E.
    destruct (nd_path E) as [_ [b' h]]. eauto.
Qed.

(** ** A graph of operations as a graph of events *)
Definition image (r : M -> M -> Prop) x y := exists a b, x = nd a /\ y = nd b /\ r a b.
Definition img (g : graph M) : graph ev :=
  Graph (fun x => exists a, x = nd a /\ events g a) (image (rf g)) (image (mo g)).
Lemma img_events g a : events (img g) (nd a) <-> events g a.
Proof. split; [intros (b&h&d); apply nd_inj in h; subst; auto|intro; exists a; auto]. Qed.
Lemma image_iff r a b : image r (nd a) (nd b) <-> r a b.
Proof.
  split; [|intro; exists a, b; auto].
  intros (c&d&h&h'&q). apply nd_inj in h, h'. subst. auto.
Qed.
Lemma img_rf g a b : rf (img g) (nd a) (nd b) <-> rf g a b. Proof. apply image_iff. Qed.
Lemma img_mo g a b : mo (img g) (nd a) (nd b) <-> mo g a b. Proof. apply image_iff. Qed.
Lemma img_rsq g a b : rsq (Thm1.isW P) (Thm1.isR P) (@Thm1.thd Val L) (img g) (nd a) (nd b) <->
  rsq isW isR thd g a b.
Proof.
  split.
  - intros [h|(h&h1&h2)]; [left; apply nd_inj; auto|right]. apply img_mo in h.
    split; auto. split; auto. intros k k1 k2. apply (h2 (nd k)); apply img_mo; auto.
  - intros [h|h]; [left; subst; auto|]. destruct h as (h&h1&h2). right.
    split; [apply img_mo; auto|]. split; auto.
    intros k k1 k2. pose proof k1 as (_&k'&_&->&_). apply img_mo in k1, k2. apply (h2 k'); auto.
Qed.
Lemma img_hb1 g a b : hb1 (Thm1.isW P) (Thm1.isR P) (@Thm1.thd Val L) (Thm1.incl P)
  (@Thm1.sb Val L) (Thm1.rel P) (Thm1.acq P) (img g) (nd a) (nd b) <->
  hb1 isW isR thd incl sb rel acq g a b.
Proof.
  split; (intros [(h1&h2&h3)|(h1&h2&h3&h4&h5&h6&h7&h8&w&h9&h10)];
    apply img_events in h1, h2; [left|right]; split; auto; split; auto).
  - apply sb_nd; auto.
  - do 6 (split; auto). pose proof h10 as (w'&_&->&_). exists w'.
    split; [apply img_rsq|apply img_rf]; auto.
  - apply sb_nd; auto.
  - do 6 (split; auto). exists (nd w). split; [apply img_rsq|apply img_rf]; auto.
Qed.
Lemma img_hb_from g x y : Thm1.hb P (img g) x y -> exists a b, x = nd a /\ y = nd b /\ hb g a b.
Proof.
  induction 1 as [x y h|x y z _ (a&b&->&->&h) _ (b'&c&q&->&h')].
  - assert (d : events (img g) x /\ events (img g) y) by (destruct h as [(?&?&_)|(?&?&_)]; auto).
    destruct d as ((a&->&_)&(b&->&_)). exists a, b. split; auto. split; auto.
    apply t_step, img_hb1. auto.
  - apply nd_inj in q. subst. exists a, c. split; auto. split; auto. eapply t_trans; eauto.
Qed.
Lemma img_hb g a b : Thm1.hb P (img g) (nd a) (nd b) <-> hb g a b.
Proof.
  split.
  - intro h. destruct (img_hb_from h) as (a'&b'&h1&h2&h3). apply nd_inj in h1, h2. subst. auto.
  - induction 1 as [x y h|]; [apply t_step, img_hb1; auto|eapply t_trans; eauto].
Qed.

(* It is consistent if the graph of operations is. *)
Ltac same e := apply nd_inj in e; subst.
Lemma cons_img g : cons g -> consistent (img g).
Proof.
  intro C. pose proof (c_wf C) as W. split.
  - split.
    + destruct (w_fin W) as [l h]. exists (map nd l). intros x (a&->&d). apply in_map; auto.
    + intros x i. destruct x as [l|]; [|destruct i]. destruct (nd_init l) as [a h].
      rewrite <- h in *. apply img_events, (w_init W). exact i.
    + intros x y h (b&->&d). destruct (nd_closed h) as [a <-]. apply img_events.
      eapply (w_sb W); eauto. apply sb_nd; auto.
    + intros x y (a&b&->&->&h). rewrite !img_events. exact (w_rf W _ _ h).
    + intros x y z (a&b&->&->&h) (a'&b'&->&q&h'). same q. f_equal. eapply (w_rff W); eauto.
    + intros x (a&->&d) h. destruct (w_rft W a d h) as [w r]. exists (nd w). apply img_rf; auto.
    + intros x y (a&b&->&->&h). rewrite !img_events. exact (w_mo W _ _ h).
    + intros x y z (a&b&->&->&h) (a'&b'&q&->&h'). same q. apply img_mo.
      eapply (w_mot W); eauto.
    + intros x (a&b&->&q&h). same q. eapply (w_moi W); eauto.
    + intros x y (a&->&d) (b&->&d') h1 h2 h3 h4 h5. rewrite !img_mo.
      apply (w_mol W); auto. congruence.
  - intros x h. destruct (img_hb_from h) as (a&b&->&q&h'). same q. exact (c_hb C h').
  - intros x y z u h h1 (c&d&->&->&h2) h3. destruct (img_hb_from h) as (a&b&->&->&h').
    apply (c_coh C) with (a := a) (b := b) (y := c) (x := d); auto.
    + destruct h1 as [h1|h1]; [left; apply nd_inj|right; apply img_rf]; auto.
    + destruct h3 as [h3|h3]; [left; apply nd_inj|right; apply img_rf]; auto.
  - intros w r (a&b&->&->&h) h'. apply img_hb in h'. eapply (c_rf C); eauto.
  - intros w r (a&b&->&->&h) n. apply img_hb. apply (c_na1 C); auto.
  - intros w r k (a&b&->&->&h) n h1 h2 h3 h4. destruct (img_hb_from h3) as (_&c&_&->&_).
    apply img_hb in h3, h4. eapply (c_na2 C) with (k := c); eauto.
  - destruct (c_rmw C) as (R1&R2&R3). split; [|split].
    + intros x (a&b&->&q&h). same q. exact (R1 _ h).
    + intros x y z (a&b&->&->&h) (a'&b'&q&->&h') r. same q. apply img_rf in r.
      exact (R2 _ _ _ h h' r).
    + intros x y (a&b&->&->&h) r. apply img_rf in r. exact (R3 _ _ h r).
Qed.
Lemma race_free_img g : race_free nowhere P (img g) -> racefree g.
Proof.
  intros F a c h1 h2 h3 h4 h5 h6 h7.
  destruct (F (nd a) (nd c)) as [z|[z|[z|z]]]; rewrite ?img_events; auto.
  - intro q. apply h7, nd_inj, q.
  - right; right; left. apply img_hb; auto.
  - right; right; right. apply img_hb; auto.
Qed.

(* A graph that is near the run is an execution, with other values at one read. *)
Lemma exec_near g : near g -> exists v, exec (img g) v /\
  ((forall a w, rf g w a -> rf_run w a) -> forall x, v x = val x).
Proof.
  intros (W&Q&Q1&Q2&Q3&Q4). assert (V : exists v,
    (forall a, ~ (Q a /\ isR a /\ events g a) -> v (nd a) = val (nd a)) /\
    (forall c w, Q c -> rf g w c -> v (nd c) = written initial P val (nd w)) /\
    ((forall a w, rf g w a -> rf_run w a) -> forall x, v x = val x)).
  { destruct (classic (exists c, Q c /\ isR c /\ events g c)) as [(c&c1&c2&c3)|N].
    - destruct (w_rft W c c3 c2) as [w r].
      destruct (nd c) as [|t p] eqn:E. { unfold isR in c2. rewrite E in c2. destruct c2. }
      exists (upd val_dec val t p (written initial P val (nd w))). split; [|split].
      + intros a n. apply upd_ne. intro q. apply n. rewrite <- E in q. same q. auto.
      + intros c' w' q r'. assert (c' = c) by auto. subst.
        assert (w' = w) by (eapply (w_rff W); eauto). subst. rewrite E. apply upd_eq.
      + intros h x. destruct (classic (x = Node t p)) as [->|n]; [|apply upd_ne; auto].
        rewrite upd_eq, <- E. symmetry. apply rf_v. auto.
    - exists val. split; auto. split; auto. intros c w q r. exfalso. apply N. exists c.
      destruct (w_rf W _ _ r) as (_&?&_&?&_). auto. }
  destruct V as (v&V1&V2&V3). exists v. split; auto. split.
  - intros x (a&->&_). apply nd_real.
  - intros t p u (a&q&d). symmetry in q. destruct (nd_path q) as (h&b&h').
    rewrite <- h' in *. rewrite V1; auto. intros (z&_). apply (Q2 _ _ z d). apply sb_nd.
    rewrite q, h'. simpl. split; auto. exists u, []. auto.
  - intros w r (a&b&->&->&h). assert (na : ~ Q a) by (intro q; exact (Q3 _ _ q h)).
    assert (E : written initial P v (nd a) = written initial P val (nd a)).
    { unfold written. rewrite (V1 a); [auto|tauto]. }
    rewrite E. destruct (w_rf W _ _ h) as (_&db&_). destruct (classic (Q b)) as [q|q]; auto.
    rewrite V1; [|tauto]. apply rf_v. apply (Q4 b a); auto.
  - intros x o c (a&->&d) h1 h2. rewrite V1; [eapply st_v; eauto|]. intros (_&r&_).
    unfold isR, Thm1.isR in r. rewrite h1 in r. eapply r; eauto.
Qed.
(* Of a program without a race, no consistent graph near the run has one. *)
Lemma near_race_free : ~ racy -> forall g, near g -> cons g -> racefree g.
Proof.
  intros N g Hn C. destruct (exec_near Hn) as (v&h&_). apply race_free_img.
  eapply prefix_safe; eauto. apply cons_img; auto.
Qed.

(** ** The theorem

    A consistent execution of the program has the values and the memory of the run. *)
Definition explained := exists g, Thm1.consistent nowhere nal P g /\ exec g val /\
  complete P (events g) val /\ forall l, last_value nowhere nal initial P g val l (mem l).
(** What the walk proves: if nothing near has a race, all prefixes of the run are consistent. *)
Definition prefixes_hold := (forall g, near g -> cons g -> racefree g) ->
  forall n, cons (Fig2.X loc nal T mm rf_run n) /\
    forall w k, hb (Fig2.X loc nal T mm rf_run n) w k -> loc w = loc k -> isW w -> isW k -> mm w k.
Theorem run_is_explained : prefixes_hold -> racy \/ explained.
Proof.
  intro C. destruct (classic racy) as [r|NR]; [left; auto|right].
  pose proof (C (near_race_free NR)) as X.
  assert (B : exists n, forall a, T a <= n).
  { exists (list_max (map T all)). intro a. apply Nat.lt_succ_r.
    pose proof (proj1 (list_max_le (map T all) _) (le_n _)) as h. rewrite Forall_forall in h.
    apply Nat.lt_succ_r, h, in_map, all_in. }
  destruct B as [n B]. destruct (X n) as [XC XL]. set (g := Fig2.X loc nal T mm rf_run n) in *.
  assert (RF : forall w r, rf g w r <-> rf_run w r) by (simpl; intuition).
  assert (Hn : near g).
  { split; [apply XC|]. exists (fun _ => False). repeat split; try tauto; apply RF. }
  destruct (exec_near Hn) as (v&[E1 E2 E3 E4]&h).
  assert (V : forall x, v x = val x) by (apply h; intros a w; apply RF).
  exists (img g). rewrite consistent_iff. split; [apply cons_img, XC|]. split; [|split].
  - split; auto.
    + intros. rewrite <- V. auto.
    + intros w r q. rewrite <- V, (E3 _ _ q). unfold written. rewrite V. auto.
    + intros. rewrite <- V. eauto.
  - intro t. generalize (nd_all t). generalize (@nil Val).
    induction (body (thread_of P t)) as [|o k IH]; simpl; auto.
    intros p [(a&h1) h2]. split; auto. exists a. auto.
  - intro l. destruct (mem_v l) as (w&h1&h2&h3&h4). exists (nd w).
    split; [apply img_events, B|]. repeat split; auto.
    + intros _ k (a&b&q&->&m). same q. apply (h4 b), m.
    + intros _ k kw kl q. destruct (img_hb_from q) as (a&b&q'&->&h'). same q'.
      apply (h4 b), (XL _ _ h'); auto.
Qed.
End FromFacts.

(** Any machine: [ran answers memory] is what its complete runs of a compiled program end with.  If
    each of them has the facts, and their prefixes are consistent where nothing near has a race,
    the table is sound for the program.  So it is if [check] accepts the table. *)
Theorem any_machine_by (Val L : Type) (val_dec : forall a b : Val, {a = b} + {a <> b})
  (nowhere : L) (nonatomic : L -> Prop) (initial : L -> Val) (P : program Val L) (tbl : table)
  (ran : (nat -> list Val) -> (L -> Val) -> Prop) :
  (forall answers memory, ran answers memory -> exists Y : facts nowhere initial P tbl,
    (forall x, val x = value_at nowhere initial answers x) /\ (forall l, mem l = memory l)) ->
  (forall Y : facts nowhere initial P tbl, prefixes_hold (Y := Y) nonatomic) ->
  forall answers memory, ran answers memory ->
  racy nowhere nonatomic initial P \/ allowed nowhere nonatomic initial P answers memory.
Proof.
  intros F C answers memory R. destruct (F answers memory R) as (Y&V&H).
  destruct (run_is_explained val_dec (C Y)) as [r|(g&c&x&k&l)]; [left; auto|right].
  assert (E : val = value_at nowhere initial answers) by (apply functional_extensionality, V).
  exists g. rewrite <- E. split; [exact c|]. split; [exact x|]. split; [exact k|].
  intro m. rewrite <- H. apply l.
Qed.
Theorem any_machine (Val L : Type) (val_dec : forall a b : Val, {a = b} + {a <> b})
  (nowhere : L) (nonatomic : L -> Prop) (initial : L -> Val) (P : program Val L) (tbl : table)
  (ran : (nat -> list Val) -> (L -> Val) -> Prop) :
  (forall answers memory, ran answers memory -> exists Y : facts nowhere initial P tbl,
    (forall x, val x = value_at nowhere initial answers x) /\ (forall l, mem l = memory l)) ->
  check tbl = true -> in_scope nonatomic P -> forall answers memory, ran answers memory ->
  racy nowhere nonatomic initial P \/ allowed nowhere nonatomic initial P answers memory.
Proof.
  intros F C S. apply (any_machine_by val_dec F). intros Y safe.
  exact (prefixes_consistent (SYNC_ok C) (ATOM_ok C) S safe).
Qed.
