(** * All facts of a complete run, as FromFacts.v asks for them

    Times are doubled, to have room between the last marker of an operation and its end. *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Views Program FromFacts Check Runs Positions Events Threads Locks Values Places Thm1.
Import ListNotations.
Set Implicit Arguments.
Section Record_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation ro := (@row_of Val Loc tbl).
Notation tr := (instr_of nowhere initial).
Notation codes := (code_of nowhere initial tbl).
Notation comp := (compile nowhere initial tbl).
Notation cd t := (body (thread_of P t)).
Lemma by_its_row o : row_for tbl o <> None -> by_row tbl o (ro o).
Proof.
  unfold row_of. destruct (row_for tbl o) as [r|] eqn:E; [|tauto]. intros _.
  apply find_some in E as [E F]. unfold fits in F. apply andb_prop in F as [F F3].
  apply andb_prop in F as [F1 F2]. split; auto.
  split; [destruct (row_kind r), (kind_row o); auto; discriminate|].
  split; [destruct (row_scope r) as [[]|], (scope_row o) as [[]|]; auto; discriminate|]. intro a.
  rewrite a in F3. apply eqb_prop. auto.
Qed.
Notation ME := E.
Definition node_of (w : wid) : event Val Loc := match w with Ini x => Init x | At n =>
  match acc n with Some (t, _, _) => Node t (answers_so_far n t) | None => Init nowhere end end.
(* The event of the program that an access is. *)
Definition node (a : ME) := node_of (write_of a).
Definition value_read (x : event Val Loc) := match x with Init l => initial l | Node t p =>
  nth (length p) (answers_so_far N t) unset end.
(* Its operation, by its kind. *)
Lemma op_of_access n t k x : acc n = Some (t, k, x) -> exists o,
  op_of P (node_of (At n)) = Some o /\
  op_loc o = x /\ codeof n = codes o /\ (exists b, act n = Some (t, b, tr o (access (ro o)))) /\
  one_access (ro o) = true /\ row_kind (ro o) = kind_row o /\ match k with kLD =>
    access (ro o) = Ld /\ exists _ : unit, op_kind o = Load | kST => access (ro o) = St /\ exists c,
    op_kind o = Store c
    | k1 => access (ro o) = Inc_L1 /\ exists f, op_kind o = Rmw f | k2 => access (ro o) = Inc_L2 /\
      exists f, op_kind o = Rmw f end.
Proof.
  intro a. destruct (acc_node _ a) as (o&kk&b&h1&h2&h3&h4&_). exists o.
  destruct (row_wf o) as [w r]. unfold node_of. rewrite a. unfold op_of. rewrite h1. split; auto.
  pose proof (act_acc _ h3) as q. rewrite a in q. pose proof w as w'. unfold one_access in w'.
  apply andb_prop in w' as [_ w']. rewrite r in w'. unfold kind_row in w'.
  destruct (access (ro o)); try discriminate; simpl in q; injection q as -> ->; (split; [auto|]);
    (split; [auto|]); (split; [eauto|]); (split; [auto|]); (split; [auto|]); (split; [auto|]);
    destruct (op_kind o); try discriminate; eauto; exists tt; auto.
Qed.
Lemma write_cases (a : ME) : (exists x, write_of a = Ini x) \/ exists n t k x, write_of a = At n /\
  n < N /\ acc n = Some (t, k, x).
Proof.
  pose proof (write_of_ev a) as h. destruct (write_of a) as [x|n]; [left; eauto|right].
  destruct h as [h h']. destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto]. eauto 8.
Qed.
Lemma initm_E (a : ME) : init (node a) <-> Events.init (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; simpl; [tauto|]. rewrite h.
  simpl. tauto.
Qed.
Lemma isW_E (a : ME) : isW P (node a) <-> Events.isW (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [simpl; tauto|].
  destruct (op_of_access _ h) as (o&LB&_&_&_&_&_&K). unfold isW. rewrite LB. simpl. rewrite h in *.
  destruct k; destruct K as [_ [? K]]; rewrite K; split; intros; auto; try discriminate;
    try congruence; tauto.
Qed.
Lemma isR_E (a : ME) : isR P (node a) <-> Events.isR (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [simpl; tauto|].
  destruct (op_of_access _ h) as (o&LB&_&_&_&_&_&K). unfold isR. rewrite LB. simpl. rewrite h in *.
  destruct k; destruct K as [_ [? K]]; rewrite K; split; intros H; auto; try (intros; discriminate);
    try tauto. destruct (H x0); auto.
Qed.
Lemma loc_E (a : ME) : loc nowhere P (node a) = eloc (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [simpl; auto|].
  destruct (op_of_access _ h) as (o&LB&<-&_). simpl in *. rewrite h in *. simpl in *. rewrite LB.
  auto.
Qed.
Lemma wg_E (a : ME) : group_of P (node a) = ewg (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [simpl; auto|]. simpl.
  rewrite h. simpl. auto.
Qed.
Lemma wg_E2 (a b : ME) : group_of P (node a) = group_of P (node b) <->
  ewg (write_of a) = ewg (write_of b).
Proof. rewrite !wg_E. split; [auto|congruence]. Qed.
Definition row_at (a : ME) := match op_of P (node a) with Some o => ro o | None =>
  Row OLoad None false [Ld] end.
Lemma l2_E (a : ME) : ~ init (node a) /\ inc2 (row_at a) = true <-> l2 (write_of a).
Proof.
  unfold row_at, node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [simpl; tauto|].
  destruct (op_of_access _ h) as (o&LB&_&_&_&_&_&K). rewrite LB. simpl. rewrite h in *. unfold inc2.
  destruct k; destruct K as [K _]; rewrite K; simpl; split; try tauto; intros [_ ?]; discriminate.
Qed.

(** ** Histories *)
Lemma answers_mono n m t : n <= m -> exists r, answers_so_far m t = answers_so_far n t ++ r.
Proof.
  induction 1 as [|m h (r&IH)]; [exists []; rewrite app_nil_r; auto|]. simpl.
  destruct (acc m) as [[[u k] x]|]; eauto. destruct (Nat.eq_dec u t); eauto. rewrite IH.
  exists (r ++ [answer_at m]). rewrite app_assoc. auto.
Qed.
Lemma answers_after n m t k x : acc n = Some (t, k, x) -> n < m -> exists r,
  answers_so_far m t = answers_so_far n t ++ answer_at n :: r.
Proof.
  intros a h. destruct (@answers_mono (S n) m t h) as (r&q). rewrite (answers_grow _ a) in q.
  exists r. rewrite q, <- app_assoc. auto.
Qed.
Lemma answers_find n t p u r : answers_so_far n t = p ++ u :: r -> exists m k x, m < n /\
  acc m = Some (t, k, x) /\ answers_so_far m t = p /\ answer_at m = u.
Proof.
  revert r. induction n; intros r h; [destruct p; discriminate|]. simpl in h.
  assert (IH : forall r, answers_so_far n t = p ++ u :: r -> exists m k x, m < S n /\
    acc m = Some (t, k, x) /\ answers_so_far m t = p /\ answer_at m = u).
  { intros r' h'. destruct (IHn r' h') as (m&k&x&q&?). exists m, k, x. split; [lia|auto]. }
  destruct (acc n) as [[[v k] x]|] eqn:E; eauto. destruct (Nat.eq_dec v t) as [->|]; eauto.
  destruct r as [|a r _] using rev_ind.
  - apply app_inj_tail in h as [h1 h2]. exists n, k, x. auto.
  - change (answers_so_far n t ++ [answer_at n] = p ++ (u :: r) ++ [a]) in h.
    rewrite app_assoc in h. apply app_inj_tail in h as [h _]. eauto.
Qed.
Lemma val_at n t k x : n < N -> acc n = Some (t, k, x) -> value_read (node_of (At n)) = answer_at n.
Proof.
  intros h a. simpl. rewrite a. simpl. destruct (@answers_after n N t k x a h) as (r&->).
  rewrite app_nth2; auto. rewrite Nat.sub_diag. auto.
Qed.
Definition mkE n (h : n < N) (h' : acc n <> None) : ME :=
  exist _ (At n) (proj2 (evb_ev (At n)) (conj h h')).
Lemma mkE_ob n h h' : write_of (@mkE n h h') = At n. Proof. reflexivity. Qed.

(** ** The fields: program *)
Lemma f_nd_inj : forall a b : ME, node a = node b -> a = b.
Proof.
  intros a b h. apply write_of_inj. unfold node in h. destruct (write_cases a) as
    [(x&e1)|(n&t&k&x&e1&_&h1)], (write_cases b) as [(y&e2)|(m&u&k'&y&e2&_&h2)]; rewrite e1, e2 in *;
    simpl in h; rewrite ?h1, ?h2 in h; try discriminate; try congruence. injection h as -> h.
  f_equal. destruct (Nat.lt_trichotomy n m) as [z|[z|z]]; auto; exfalso.
  - destruct (@answers_after n m u k x h1 z) as (r&q). rewrite <- h in q.
    apply (f_equal (@length _)) in q. rewrite app_length in q. simpl in q. lia.
  - destruct (@answers_after m n u k' y h2 z) as (r&q). rewrite h in q.
    apply (f_equal (@length _)) in q. rewrite app_length in q. simpl in q. lia.
Qed.
Lemma f_nd_init : forall l, exists a : ME, node a = Init l.
Proof. intro l. exists (exist (fun o => evb o = true) (Ini l) eq_refl). reflexivity. Qed.
Lemma f_nd_real : forall a : ME, real P (node a).
Proof.
  intro a. unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&_&h)]; [exact I|].
  destruct (op_of_access _ h) as (o&LB&_). simpl in *. rewrite h in *. simpl in *. rewrite LB.
  discriminate.
Qed.
Lemma f_nd_path : forall (a : ME) t p u, node a = Node t (p ++ [u]) -> value_read (Node t p) = u /\
  exists b : ME, node b = Node t p.
Proof.
  intros a t p u h. unfold node in h. destruct (write_cases a) as [(x&e0)|(n&t'&k&x&e0&hn&h1)];
    rewrite e0 in h; simpl in h; [discriminate|]. rewrite h1 in h. injection h as -> h.
  destruct (@answers_find n t p u [] h) as (m&k'&x'&q1&q2&q3&q4). assert (hm : m < N) by lia.
  assert (E : node_of (At m) = Node t p) by (simpl; rewrite q2, q3; auto). split.
  - rewrite <- E. rewrite (@val_at m t k' x'); auto.
  - assert (q5 : acc m <> None) by congruence. exists (@mkE m hm q5). unfold node. rewrite mkE_ob.
    auto.
Qed.
(* Each thread goes to its end. *)
Lemma f_nd_all : complete P (fun x => exists a : ME, x = node a) value_read.
Proof.
  intro t. assert (END : subtree (cd t) (answers_so_far N t) = Done).
  { destruct cmpl as [C _]. specialize (C t). rewrite next_view in C.
    destruct (next_of (thr N t)) as [[[? ?] ?]|] eqn:C'; [discriminate|]. clear C. rename C' into C.
    unfold next_of in C. destruct (left_ (thr N t)) as [|i l] eqn:RE; [|discriminate].
    assert (X : forall c v, cont (thr N t) v = comp c -> v = kept (thr N t) -> c = Done).
    { intros c v h ->. rewrite h in C. destruct c as [|o k]; auto. simpl in C.
      pose proof (codes_acc o) as q. destruct (codes o); discriminate. }
    destruct (always_at_place N t) as [(h1&_&_&h3)|(p&o&k&h1&h2&h3&h4)].
    - rewrite h1. simpl. eapply X; eauto.
    - destruct h4 as [[h4 _]|[_ h4]].
      + unfold code_now in h2. rewrite RE, app_nil_r in h2.
        rewrite <- existsb_rev, h2, codes_acc in h4. discriminate.
      + rewrite h4, sub_app, h1. eapply X; eauto. }
  assert (G : forall r p, answers_so_far N t = p ++ r ->
    ended (fun x => exists a : ME, x = node a) value_read t p (subtree (cd t) p)).
  { induction r as [|u r IH]; intros p h. { rewrite app_nil_r in h. rewrite <- h, END. exact I. }
    destruct (@answers_find N t p u r h) as (m&k&x&q1&q2&q3&q4).
    destruct (acc_node _ q2) as (o&kk&b&h1&_). rewrite q3 in h1. rewrite h1.
    assert (E : node_of (At m) = Node t p) by (simpl; rewrite q2, q3; auto).
    assert (V : value_read (Node t p) = u) by (rewrite <- E, (@val_at m t k x); auto). simpl. split.
    { assert (q5 : acc m <> None) by congruence. exists (@mkE m q1 q5). unfold node. rewrite mkE_ob.
      auto. }
    simpl in V. rewrite V.
    replace (kk u) with (subtree (cd t) (p ++ [u])) by (rewrite sub_app, h1; auto). apply IH.
    rewrite <- app_assoc. auto. }
  apply (G (answers_so_far N t) []). auto.
Qed.
Lemma wval_E (a : ME) : written initial P value_read (node a) = vof (write_of a) \/
  ~ Events.isW (write_of a).
Proof.
  unfold node. destruct (write_cases a) as [(x&->)|(n&t&k&x&->&hn&h)]; [left; reflexivity|].
  destruct (op_of_access _ h) as (o&LB&LC&_&(b&A)&_&_&K). pose proof (@val_at n t k x hn h) as V.
  unfold written. unfold node_of in LB, V |- *. rewrite h in LB, V |- *. rewrite LB, V. simpl.
  rewrite h. unfold answer_at, rval, wval. rewrite A. destruct k; destruct K as [K1 [c K2]];
    rewrite K1, K2; simpl; try tauto; left; unfold stored, update; rewrite K2; auto.
Qed.
Lemma f_rf_v : forall w r : ME, Events.rf (write_of w) (write_of r) ->
  value_read (node r) = written initial P value_read (node w).
Proof.
  intros w r h. destruct (rf_dom _ _ (write_of_ev r) h) as (_&ww&rr&_).
  destruct (wval_E w) as [->|q]; [|tauto]. unfold node.
  destruct (write_cases r) as [(x&e0)|(n&t&k&x&e0&hn&h1)]; rewrite e0 in *; [simpl in h; tauto|].
  rewrite (@val_at n t k x hn h1). rewrite <- (rf_val _ _ h). unfold answer_at.
  destruct (op_of_access _ h1) as (o&_&_&_&(b&A)&_&_&K). rewrite A. simpl in rr. rewrite h1 in rr.
  destruct k; destruct K as [K1 _]; rewrite K1; simpl; tauto.
Qed.
Lemma f_st_v : forall (a : ME) o c, op_of P (node a) = Some o -> op_kind o = Store c ->
  value_read (node a) = c.
Proof.
  intros a o c h h'. unfold node in *.
  destruct (write_cases a) as [(x&e0)|(n&t&k&x&e0&hn&h1)]; rewrite e0 in *; [discriminate|].
  rewrite (@val_at n t k x hn h1). destruct (op_of_access _ h1) as (o'&LB&_&_&(b&A)&_&_&K).
  rewrite LB in h. injection h as ->. unfold answer_at. rewrite A.
  destruct k; destruct K as [K1 [c' K2]]; try congruence. rewrite K1. simpl. unfold stored.
  rewrite h'. auto.
Qed.
Definition memm l := memory (sta N) l.
Hypothesis HR : has_rows P tbl.
Lemma f_comp : forall (a : ME) o, op_of P (node a) = Some o -> by_row tbl o (row_at a).
Proof. intros a o h. unfold row_at. rewrite h. apply by_its_row. eapply HR; eauto. Qed.

(** ** Times, doubled: room for «the markers have left» between the last Flu of a code and the end
   of the operation *)
Definition Tm (a : ME) := 2 * Events.T (write_of a).
Definition sm (a : ME) := 2 * s (write_of a).
Definition em (a : ME) := 2 * e (write_of a).
Definition arrm (a : ME) := 2 * arr (write_of a).
Definition ftm (a : ME) := 2 * ft (write_of a).
Definition ownm (a : ME) := own (write_of a).
Definition rfm_ (w r : ME) := Events.rf (write_of w) (write_of r).
(* every Inv reaches all the L1s that the program does not have *)
Definition invm g i := exists j, i = 2 * j /\ inv g j.
Fixpoint nth_step_from t p i := match i with 0 => p | S i =>
  nth_step_from t (next_pos (acts t) (S p)) i end.
Definition first_step t n := match last_pos (starts t) (S n) with Some k => k | None => 0 end.
Definition tmm (a : ME) i := match write_of a with At n => match acc n with Some (t, _, _) =>
  2 * tm (nth_step_from t (first_step t n) i) | None => 0 end | _ => 0 end.
Definition leftm (a : ME) i := match write_of a with At n => match acc n with Some (t, _, _) =>
  2 * left_at t (nth_step_from t (first_step t n) i) - 1 | None => 0 end | _ => 0 end.
Notation WM := (fun a : ME => isW P (node a)).
Notation RM := (fun a : ME => isR P (node a)).
Notation iM := (fun a : ME => init (node a)).
Notation lM := (fun a : ME => loc nowhere P (node a)).
Notation gM := (fun a : ME => group_of P (node a)).
Notation l2M := (fun a : ME => ~ init (node a) /\ inc2 (row_at a) = true).
Notation fetM := (fun a : ME => isR P (node a) /\ ~ ownm a /\
  ~ (~ init (node a) /\ inc2 (row_at a) = true)).
Notation mmM := (Views.mm lM WM Tm arrm).
Notation mmeM := (Views.mme lM WM Tm arrm).
Lemma mm_E (x y : ME) : Events.mm (write_of x) (write_of y) <-> mmM x y.
Proof.
  unfold Views.mm, Events.mm. rewrite !isW_E, !loc_E. unfold arrm, Tm.
  split; intros (a&b&c&d&f); repeat split; auto; try (intro; subst; auto; fail); try lia. intro h.
  apply d, write_of_inj; auto.
Qed.
Lemma mme_E (x y : ME) : Events.mme (write_of x) (write_of y) -> mmeM x y.
Proof. intros [h|h]; [left; apply write_of_inj; auto|right; apply mm_E; auto]. Qed.
Lemma fet_E (x : ME) : fetM x <-> Events.fetched (write_of x).
Proof. unfold Events.fetched. rewrite isR_E, l2_E. unfold ownm. tauto. Qed.
Lemma oev (a : ME) : Events.ev (write_of a). Proof. exact (write_of_ev a). Qed.
Local Hint Resolve oev : core.

Ltac tr_E := cbv beta in *; rewrite ?wg_E2, ?l2_E, ?initm_E, ?isW_E, ?loc_E in *.
Lemma f_mem_v : forall l, exists w : ME, WM w /\ lM w = l /\
  written initial P value_read (node w) = memm l /\ forall k, ~ mmM w k.
Proof.
  intro l. destruct (final l) as (w&h1&h2&h3&h4&h5). destruct (write_of_sur _ h1) as (a&<-).
  exists a. rewrite isW_E, loc_E. split; auto. split; auto. split.
  - unfold memm. destruct (word_values N 0 l) as (_&_&<-). rewrite h4. simpl.
    destruct (wval_E a); [auto|tauto].
  - intros k h. apply mm_E in h. assert (Q : Events.mme (write_of k) (write_of a)).
    { destruct h as (_&q&q'&_). apply h5; auto. congruence. }
    destruct h as (_&_&_&q&q'). destruct Q as [Q|(_&_&_&_&Q)]; [congruence|lia].
Qed.
Lemma f_s_pos : forall o : ME, ~ iM o -> 0 < sm o.
Proof.
  intros o h. rewrite initm_E in h. destruct (@times _ (write_of o)) as (?&_); auto. unfold sm. lia.
Qed.
Lemma f_T_inj : forall o p : ME, ~ iM o -> ~ iM p -> Tm o = Tm p -> o = p.
Proof.
  intros o p a b c. rewrite initm_E in *. apply write_of_inj. apply T_inj; auto. unfold Tm in c.
  lia.
Qed.
Lemma f_T_sb : forall o p : ME, thd (node o) (node p) -> (Tm o < Tm p <-> sb (node o) (node p)).
Proof.
  intros a b h. unfold Tm, node in *. destruct (write_cases a) as [(x&e1)|(n&t&k&x&e1&_&h1)],
    (write_cases b) as [(y&e2)|(m&u&k'&y&e2&_&h2)]; rewrite e1, e2 in *; simpl in h |- *;
    rewrite ?h1, ?h2 in *; simpl in h |- *; try tauto. subst u. unfold tm. split.
  - intro l. assert (z : n < m) by lia. destruct (@answers_after n m t k x h1 z) as (r&q).
    split; eauto.
  - intros (_&v&r&q). destruct (Nat.lt_trichotomy n m) as [z|[z|z]]; [lia| |]; exfalso.
    + subst m. apply (f_equal (@length _)) in q. rewrite app_length in q. simpl in q. lia.
    + destruct (@answers_after m n t k' y h2 z) as (r'&q'). rewrite q' in q.
      apply (f_equal (@length _)) in q. repeat (rewrite ?app_length in q; simpl in q). lia.
Qed.
Lemma f_inits : forall o : ME, iM o -> Tm o = 0 /\ arrm o = 0.
Proof.
  intros o h. apply initm_E in h. destruct (@inits _ (write_of o)) as (_&_&_&a&b); auto.
  unfold Tm, arrm. rewrite a, b. auto.
Qed.
Lemma thd_E (o p : ME) : thd (node o) (node p) -> Events.thd (write_of o) (write_of p).
Proof.
  unfold node. destruct (write_cases o) as [(x&e1)|(n&t&k&x&e1&_&h1)],
    (write_cases p) as [(y&e2)|(m&u&k'&y&e2&_&h2)]; rewrite e1, e2 in *; simpl; rewrite ?h1, ?h2;
    simpl; tauto.
Qed.
Lemma f_seqs : forall o p : ME, thd (node o) (node p) -> Tm o < Tm p -> em o < sm p.
Proof.
  intros o p a b. apply thd_E in a. unfold em, sm, Tm in *.
  enough (e (write_of o) < s (write_of p)) by lia. apply seqs; auto. lia.
Qed.
(* arrival *)
Lemma f_arr_l2 : forall o : ME, l2M o -> arrm o = Tm o.
Proof.
  intros o h. apply l2_E in h. destruct (l2s (write_of_ev o) h) as (_&_&q). unfold arrm, Tm.
  rewrite q. auto.
Qed.
Lemma f_arr_st : forall o : ME, WM o -> ~ iM o -> ~ l2M o -> Tm o < arrm o.
Proof.
  intros o a b c. rewrite l2_E in c. rewrite isW_E in a. rewrite initm_E in b.
  pose proof (arrs _ (write_of_ev o) a b c). unfold arrm, Tm. lia.
Qed.
Lemma f_dist : forall o p : ME, WM o -> WM p -> o <> p -> lM o = lM p -> arrm o = arrm p ->
  gM o = gM p /\ ~ iM o /\ ~ iM p /\ ~ l2M o /\ ~ l2M p.
Proof.
  intros o p a b c d f. tr_E. apply dist; auto. intro h; apply c, write_of_inj; auto.
  unfold arrm in f. lia.
Qed.
Lemma f_order : forall o p : ME, WM o -> WM p -> ~ iM o -> ~ iM p -> gM o = gM p -> lM o = lM p ->
  Tm o < Tm p -> arrm o <= arrm p /\ (l2M p -> arrm o < arrm p).
Proof.
  intros o p a b c d f g h. tr_E. unfold arrm, Tm in *.
  destruct (@order _ (write_of o) (write_of p)) as [q1 q2]; auto; [lia|]. split; [lia|]. intro q.
  apply q2 in q. lia.
Qed.
Lemma f_merge : forall o p : ME, WM o -> WM p -> ~ iM o -> ~ iM p -> ~ l2M o -> ~ l2M p ->
  gM o = gM p -> lM o = lM p -> Tm o < Tm p -> Tm p < arrm o -> arrm o = arrm p.
Proof.
  intros o p a b c d c' d' f g h i. tr_E. unfold arrm, Tm in *.
  rewrite (@merge _ (write_of o) (write_of p)); auto; lia.
Qed.
(* looks *)
Lemma f_rf_dom : forall w r, rfm_ w r -> WM w /\ RM r /\ lM w = lM r.
Proof.
  intros w r h. rewrite isW_E, isR_E, !loc_E. destruct (rf_dom _ _ (write_of_ev r) h) as (_&a&b&c).
  auto.
Qed.
Lemma f_rf_fun : forall w w' r, rfm_ w r -> rfm_ w' r -> w = w'.
Proof. intros w w' r a b. apply write_of_inj. exact (rf_fun _ _ _ a b). Qed.
Lemma f_rf_tot : forall r : ME, RM r -> exists w, rfm_ w r.
Proof.
  intros r a. apply isR_E in a. destruct (rf_tot _ (write_of_ev r) a) as (w&h).
  destruct (rf_dom _ _ (write_of_ev r) h) as (h'&_). destruct (write_of_sur _ h') as (w'&<-).
  exists w'. auto.
Qed.
Lemma f_look_l2 : forall w' o, rfm_ w' o -> l2M o -> arrm w' < Tm o /\ forall w : ME, WM w ->
  lM w = lM o -> arrm w < Tm o -> mmeM w w'.
Proof.
  intros w' o a b. apply l2_E in b. destruct (look_l2 _ _ (write_of_ev o) a b) as (c&d).
  unfold arrm, Tm in *. split; [lia|]. intros w h1 h2 h3. apply mme_E. tr_E. apply d; auto. lia.
Qed.
Lemma inv_E (o : ME) i : invm (gM o) i -> exists j, i = 2 * j /\ inv (ewg (write_of o)) j.
Proof. intros (j&h1&h2). exists j. split; auto. rewrite <- wg_E. auto. Qed.
Lemma f_look_own : forall w' o : ME, rfm_ w' o -> ownm o -> ~ l2M o /\ ~ iM w' /\ gM w' = gM o /\
  ~ l2M w' /\ Tm w' < Tm o /\
    (forall w : ME, WM w -> ~ iM w -> gM w = gM o -> lM w = lM o -> Tm w' < Tm w ->
      ~ Tm w < Tm o) /\
    (forall i, invm (gM o) i -> Tm w' < i -> ~ i < Tm o) /\
    (forall p : ME, fetM p -> gM p = gM o -> lM p = lM o -> Tm w' < ftm p -> ~ ftm p < Tm o).
Proof.
  intros w' o a b. destruct (look_own _ _ (write_of_ev o) a b) as (c1&c2&c3&c4&c5&c6&c7&c8).
  rewrite !l2_E, initm_E, wg_E2. repeat (split; [auto; unfold Tm; lia|]). split; [|split].
  - intros w w1 w2 w3 w4 w5 w6. tr_E. unfold Tm in *. apply (c6 (write_of w)); auto; lia.
  - intros i h1 h2 h3. apply inv_E in h1 as (j&->&h1). unfold Tm in *. apply (c7 j); auto; lia.
  - intros p p1 p2 p3 p4 p5. apply fet_E in p1. tr_E. unfold Tm, ftm in *.
    apply (c8 (write_of p)); auto; lia.
Qed.
Lemma f_look_ft : forall w' o : ME, rfm_ w' o -> fetM o -> 0 < ftm o /\ ftm o < Tm o /\
  arrm w' < ftm o /\
    (forall w : ME, WM w -> lM w = lM o -> arrm w < ftm o -> mmeM w w') /\
    (forall w : ME, WM w -> ~ iM w -> gM w = gM o -> lM w = lM o -> Tm w < Tm o ->
      arrm w < ftm o) /\
    (forall i, invm (gM o) i -> ftm o < i -> ~ i < Tm o) /\
    (forall p : ME, fetM p -> gM p = gM o -> lM p = lM o -> ftm p < Tm o -> ftm p <= ftm o).
Proof.
  intros w' o a b. apply fet_E in b.
  destruct (look_ft _ (write_of_ev o) a b) as (c1&c2&c3&c4&c5&c6&c7). unfold Tm, ftm, arrm in *.
  repeat (split; [lia|]). split; [|split; [|split]].
  - intros w w1 w2 w3. apply mme_E. tr_E. apply c4; auto; lia.
  - intros w w1 w2 w3 w4 w5. tr_E. enough (arr (write_of w) < ft (write_of o)) by lia.
    apply c5; auto; lia.
  - intros i h1 h2 h3. apply inv_E in h1 as (j&->&h1). apply (c6 j); auto; lia.
  - intros p p1 p2 p3 p4. apply fet_E in p1. tr_E.
    enough (ft (write_of p) <= ft (write_of o)) by lia. apply c7; auto; lia.
Qed.

(** ** The steps of an operation *)
Lemma lv_nxt t p q : p < N -> left_at t p = tm q - 2 -> next_pos (acts t) (S p) = q.
Proof.
  unfold left_at, tm. intros h e0. destruct (next_pos_spec (acts t) (n := S p) h) as (q1&_). lia.
Qed.
Arguments lv_nxt {t p q}.
Lemma op_chain (a : ME) n t k x : write_of a = At n -> n < N -> acc n = Some (t, k, x) ->
  exists o ps, op_of P (node a) = Some o /\ row_at a = ro o /\ op_loc o = x /\
  chain t true (map (tr o) (code (row_at a))) (first_step t n :: ps) (e (write_of a)) /\
    s (write_of a) = tm (first_step t n) - 1 /\ In n (first_step t n :: ps).
Proof.
  intros ea hn h. destruct (op_of_access _ h) as (o&LB&LC&CO&_).
  assert (LB' : op_of P (node a) = Some o) by (unfold node; rewrite ea; auto).
  destruct (op_shape hn h) as (p&ps&_&CH&St&S0&IN). rewrite CO in CH.
  assert (E : first_step t n = p).
  { unfold first_step. unfold s in S0. rewrite h in S0. destruct (acc_start _ h) as (j&J).
    rewrite J in *. unfold tm in S0. lia. }
  exists o, ps. unfold row_at. rewrite LB', E, ea. repeat split; auto.
Qed.
Lemma chain_it t b c l z : chain t b c l z -> forall p ps, l = p :: ps -> forall i i0,
  nth_error c i = Some i0 -> nth_step_from t p i < N /\
    (exists b', act (nth_step_from t p i) = Some (t, b', i0)) /\
  left_at t (nth_step_from t p i) <= z /\ p <= nth_step_from t p i /\
  forall j, j < i -> nth_step_from t p j < nth_step_from t p i.
Proof.
  induction 1 as [p b i h a|p b i q l ps z h a hq hl H IH]; intros p1 ps1 [= <- <-] j i0 hj.
  - destruct j as [|[|j]]; simpl in hj; try discriminate. injection hj as <-. simpl.
    repeat split; eauto. intros; lia.
  - pose proof (lv_nxt h hl) as e0. destruct j as [|j]; simpl in hj.
    + injection hj as <-. simpl. repeat split; eauto; [|intros; lia].
      destruct (@chain_left _ t false l (q :: ps) z H q) as (?&?&?); [left; auto|]. rewrite hl.
      unfold tm in *. lia.
    + simpl. rewrite e0. destruct (IH q ps eq_refl j i0 hj) as (h1&h2&h3&h4&h5).
      repeat split; auto; [lia|]. intros [|j'] hj'; simpl; [lia|]. rewrite e0. apply h5. lia.
Qed.
Lemma chain_steps t b c l z : chain t b c l z -> forall p ps, l = p :: ps -> forall k, p <= k ->
  tm k <= z -> acts t k = true -> exists i i0 b', k = nth_step_from t p i /\
    nth_error c i = Some i0 /\
  act k = Some (t, b', i0) /\ (0 < i -> b' = false).
Proof.
  induction 1 as [p b i h a|p b i q l ps z h a hq hl H IH]; intros p1 ps1 [= <- <-] k h1 h2 h3;
    destruct (next_pos_spec (acts t) (n := S p) h) as (q1&q2&_).
  - assert (k = p).
    { destruct (Nat.eq_dec k p); auto. rewrite q2 in h3; [discriminate|]. unfold left_at, tm in *.
      lia. }
    subst k. exists 0, i, b. repeat split; auto. lia.
  - pose proof (lv_nxt h hl) as e0. rewrite e0 in *. destruct (Nat.lt_ge_cases k q) as [y|y].
    + assert (k = p). { destruct (Nat.eq_dec k p); auto. rewrite q2 in h3; [discriminate|lia]. }
      subst k. exists 0, i, b. repeat split; auto. lia.
    + destruct (IH q ps eq_refl k y h2 h3) as (i'&i0&b'&r1&r2&r3&r4). exists (S i'), i0, b'. simpl.
      rewrite e0. repeat split; auto. intros _. destruct i'; [|apply r4; lia]. simpl in r1. subst k.
      inversion H; subst; congruence.
Qed.
Lemma acc_pos_uq cs : forall i c, length (filter is_acc cs) = 1 -> nth_error cs i = Some c ->
  is_acc c = true -> i = pos_acc cs.
Proof.
  induction cs as [|d cs IH]; intros i c h1 h2 h3; [destruct i; discriminate|]. simpl in *.
  destruct (is_acc d) eqn:D.
  - destruct i; auto. simpl in h2. apply nth_error_In in h2.
    assert (X : In c (filter is_acc cs)) by (apply filter_In; auto). simpl in h1.
    destruct (filter is_acc cs); [destruct X|discriminate].
  - destruct i; simpl in h2; [congruence|]. f_equal. eapply IH; eauto.
Qed.
Lemma chain_ordered t o z : forall cs b l, chain t b (map (tr o) cs) l z -> forall p ps,
  l = p :: ps -> forall (T' L' : nat -> nat) i0 prev, prev < 2 * tm p ->
  (forall j, T' (i0 + j) = 2 * tm (nth_step_from t p j)) ->
  (forall j, L' (i0 + j) = 2 * left_at t (nth_step_from t p j) - 1) ->
  ordered T' L' (2 * z) cs i0 prev.
Proof.
  induction cs as [|c cs IH]; intros b l H p ps -> T' L' i0 prev hp hT hL; [inversion H|].
  assert (HN : p < N) by (inversion H; auto). pose proof (left_after t HN) as G.
  pose proof (hT 0) as T0. pose proof (hL 0) as L0. simpl in T0, L0. rewrite Nat.add_0_r in T0, L0.
  assert (K : forall prev', prev' < 2 * left_at t p -> ordered T' L' (2 * z) cs (S i0) prev').
  { intros prev' h'. simpl in H. inversion H as [? ? ? h a|? ? ? q l0' ps' ? h a hq hl H']; subst.
    - destruct cs; [simpl; lia|discriminate].
    - eapply (IH false (q :: ps') H' q ps' eq_refl); [rewrite hl in h'; unfold tm in *; lia| |];
        intro j; replace (S i0 + j) with (i0 + S j) by lia; [rewrite hT|rewrite hL];
        cbn [nth_step_from]; rewrite (lv_nxt h hl); auto. }
  simpl. rewrite T0, L0. split; auto. destruct c; try (apply K; lia). split; [lia|]. apply K; lia.
Qed.
Lemma ni_cases (a : ME) : ~ iM a -> exists n t k x, write_of a = At n /\ n < N /\
  acc n = Some (t, k, x).
Proof.
  intro h. rewrite initm_E in h. destruct (write_cases a) as [(x&e0)|h']; auto. rewrite e0 in h.
  simpl in h. tauto.
Qed.
Lemma f_T_acc : forall o : ME, ~ iM o -> Tm o = tmm o (pos (row_at o)).
Proof.
  intros a h. destruct (ni_cases a h) as (n&t&k&x&ea&hn&h1).
  destruct (op_chain a ea hn h1) as (o&ps&LB&RW&_&CH&_&IN). unfold Tm, tmm. rewrite ea, h1.
  simpl Events.T. f_equal. f_equal. assert (X : first_step t n <= n /\ tm n <= e (write_of a)).
  { split.
    - unfold first_step. destruct (acc_start _ h1) as (j&J). rewrite J.
      apply last_pos_some in J as (?&_). lia.
    - destruct (@times _ (write_of a)) as (_&_&q); auto. { rewrite ea. simpl. auto. }
      rewrite ea in q. simpl in q. rewrite ea. simpl. lia. }
  destruct X as [X1 X2]. destruct (acc_act _ h1) as (b&i&th'&A&IA&_).
  destruct (chain_steps CH eq_refl X1 X2 (act_acts _ A)) as (i'&i0&b'&r1&r2&r3&_). rewrite r1 at 1.
  f_equal. rewrite A in r3. injection r3 as <- <-. rewrite nth_error_map in r2.
  destruct (nth_error (code (row_at a)) i') as [c|] eqn:NE; [|discriminate]. injection r2 as <-.
  rewrite isacc_tr in IA. unfold pos. eapply acc_pos_uq; eauto. rewrite RW.
  apply row_has_one_access.
Qed.
(* Code in order, ... *)
Lemma f_code_seq : forall o : ME, ~ iM o -> ordered (tmm o) (leftm o) (em o) (code (row_at o)) 0
  (sm o).
Proof.
  intros a h. destruct (ni_cases a h) as (n&t&k&x&ea&hn&h1).
  destruct (op_chain a ea hn h1) as (o&ps&LB&RW&_&CH&S0&IN). unfold em.
  eapply chain_ordered; [exact CH|reflexivity| | |].
  - unfold sm. rewrite S0. unfold tm. lia.
  - intro j. unfold tmm. rewrite ea, h1. auto.
  - intro j. unfold leftm. rewrite ea, h1. auto.
Qed.
(* the step of the i-th instruction *)
Lemma step_i (a : ME) i c : ~ iM a -> nth_error (code (row_at a)) i = Some c -> exists n t k o b,
  write_of a = At n /\ n < N /\ acc n = Some (t, k, op_loc o) /\ op_of P (node a) = Some o /\
  nth_step_from t (first_step t n) i < N /\
  act (nth_step_from t (first_step t n) i) = Some (t, b, tr o c) /\
    tmm a i = 2 * tm (nth_step_from t (first_step t n) i) /\
    leftm a i = 2 * left_at t (nth_step_from t (first_step t n) i) - 1.
Proof.
  intros h hc. destruct (ni_cases a h) as (n&t&k&x&ea&hn&h1).
  destruct (op_chain a ea hn h1) as (o&ps&LB&RW&LC&CH&_&_). assert (M0 : nth_error
    (map (tr o) (code (row_at a))) i = Some (tr o c)) by (rewrite nth_error_map, hc; auto).
  destruct (chain_it CH eq_refl _ M0) as (q1&(b&q2)&_). exists n, t, k, o, b. subst x.
  unfold tmm, leftm. rewrite ea, h1. repeat split; auto.
Qed.
Lemma ewg_at n t k x : acc n = Some (t, k, x) -> ewg (At n) = wgof t.
Proof. intro h. simpl. rewrite h. auto. Qed.
(* ... FLU, ... *)
Lemma f_flu : forall (o : ME) i r (w : ME), ~ iM o ->
  nth_error (code (row_at o)) i = Some (Flu r) -> WM w -> ~ iM w -> gM w = gM o \/ r = to_DV ->
  Tm w < tmm o i -> arrm w < leftm o i.
Proof.
  intros a i r w h hc ww wn0 g l. destruct (step_i a i h hc) as (n&t&k&o&b&ea&hn&h1&LB&q1&q2&q3&q4).
  rewrite q3 in l. rewrite q4. tr_E. unfold Tm, arrm in *. pose proof (left_after t q1) as G.
  destruct (classic (l2 (write_of w))) as [z|z].
  { destruct (l2s (write_of_ev w) z) as (_&_&e0). lia. }
  enough (arr (write_of w) < left_at t (nth_step_from t (first_step t n) i)) by lia.
  apply flu_left; auto; [|lia]. simpl in q2. eapply mks_act; [exact q2|].
  destruct g as [g| ->]; [|reflexivity]. rewrite g, ea, (ewg_at _ h1).
  destruct r; [apply own_reach|reflexivity].
Qed.
(* ... INV, ... *)
Lemma f_inv : forall (o : ME) i r g, ~ iM o -> nth_error (code (row_at o)) i = Some (Inv r) ->
  g = gM o \/ r = to_DV -> invm g (tmm o i).
Proof.
  intros a i r g h hc q. destruct (step_i a i h hc) as (n&t&k&o&b&ea&hn&h1&LB&q1&q2&q3&q4).
  exists (tm (nth_step_from t (first_step t n) i)). split; auto. simpl in q2.
  eapply inv_act; [exact q1|exact q2|]. destruct q as [q| ->]; [|reflexivity].
  rewrite q, wg_E, ea, (ewg_at _ h1). destruct r; [apply own_reach|reflexivity].
Qed.

(** ** Locks *)
Lemma bracketed_frees_rmw o : forall cs cur, bracketed takes_rmw frees_rmw cs cur = true ->
  forall q,
  (cur = true -> hrmw q = true) -> forall p l, map (tr o) cs = p ++ UL_rmw :: l ->
  hrmw (rev p ++ q) = true.
Proof.
  induction cs as [|c cs IH]; intros cur h q hq p l e0; [destruct p; discriminate|].
  destruct p as [|d p]; simpl in e0; injection e0 as e1 e0.
  - destruct c; try discriminate. simpl in h. apply andb_prop in h as [h _]. auto.
  - simpl. rewrite <- app_assoc. simpl. subst d.
    destruct c; simpl in h; try (eapply IH; [exact h| |exact e0]; simpl; auto; fail).
    apply andb_prop in h as [_ h]. eapply IH; [exact h| |exact e0]. discriminate.
Qed.
Lemma bracketed_frees_L2 o : forall cs cur, bracketed takes_L2 frees_L2 cs cur = true -> forall q,
  (cur = true -> hlock (op_loc o) q = true) -> forall x p l, map (tr o) cs = p ++ UL_L2 x :: l ->
  hlock x (rev p ++ q) = true.
Proof.
  induction cs as [|c cs IH]; intros cur h q hq x p l e0; [destruct p; discriminate|].
  destruct p as [|d p]; simpl in e0; injection e0 as e1 e0.
  - destruct c; try discriminate. injection e1 as <-. simpl in h. apply andb_prop in h as [h _].
    auto.
  - simpl. rewrite <- app_assoc. simpl. subst d.
    destruct c; simpl in h; try (eapply IH; [exact h| |exact e0]; simpl; auto; fail).
    + eapply IH; [exact h| |exact e0]. simpl. unfold eqx.
      destruct (loc_dec (op_loc o) (op_loc o)); [auto|congruence].
    + apply andb_prop in h as [_ h]. eapply IH; [exact h| |exact e0]. discriminate.
Qed.
Lemma rmw_bracketed : bracketed_rmw tbl = true -> forall c, is_code c -> brk_rmw c.
Proof.
  intros B c (o&->) p l e0. assert (X : bracketed takes_rmw frees_rmw (code (ro o)) false = true).
  { unfold row_of.
    destruct (row_for tbl o) as [r|] eqn:E; [|unfold bare; destruct (op_kind o); reflexivity].
    apply find_some in E as [E _]. unfold bracketed_rmw in B. rewrite forallb_forall in B. auto. }
  rewrite <- (rev_involutive p), <- (app_nil_r (rev (rev p))).
  eapply bracketed_frees_rmw; [exact X|discriminate|exact e0].
Qed.
Lemma L2_bracketed : bracketed_L2 tbl = true -> forall c, is_code c -> brk_lock c.
Proof.
  intros B c (o&->) x p l e0. assert (X : bracketed takes_L2 frees_L2 (code (ro o)) false = true).
  { unfold row_of.
    destruct (row_for tbl o) as [r|] eqn:E; [|unfold bare; destruct (op_kind o); reflexivity].
    apply find_some in E as [E _]. unfold bracketed_L2 in B. rewrite forallb_forall in B. auto. }
  rewrite <- (rev_involutive p), <- (app_nil_r (rev (rev p))).
  eapply bracketed_frees_L2; [exact X|discriminate|exact e0].
Qed.
Definition is_interval (lk ul : ins -> bool) full f u :=
  (exists c, nth_error full f = Some c /\ lk c = true) /\ match u with
  | Instr j => f < j /\ (exists c, nth_error full j = Some c) /\ forall k c, f < k < j ->
    nth_error full k = Some c -> ul c = false
  | ToEnd => forall k c, f < k -> nth_error full k = Some c -> ul c = false end.
Lemma intervals_spec lk ul full : (forall c, lk c = true -> ul c = false) -> forall cs pre cur,
  full = pre ++ cs ->
  match cur with Some f => f < length pre /\ (exists c, nth_error full f = Some c /\ lk c = true) /\
    forall k c, f < k < length pre -> nth_error full k = Some c -> ul c = false | None =>
    True end ->
  forall f u, In (f, u) (intervals lk ul cs (length pre) cur) -> is_interval lk ul full f u.
Proof.
  intro DJ. induction cs as [|c cs IH]; intros pre cur e0 C f u I; simpl in I.
  - destruct cur as [g|]; [|destruct I]. destruct I as [I|[]]. injection I as <- <-.
    destruct C as (c1&c2&c3). split; auto. intros k c h h'. apply (c3 k c); auto. split; auto.
    rewrite e0, app_nil_r in h'. apply nth_error_Some. congruence.
  - assert (NC : nth_error full (length pre) = Some c) by (rewrite e0, nth_error_app2, Nat.sub_diag;
      auto). assert (E1 : full = (pre ++ [c]) ++ cs) by (rewrite <- app_assoc; auto).
    assert (E2 : length (pre ++ [c]) = S (length pre)) by (rewrite app_length; simpl; lia).
    specialize (IH (pre ++ [c])). rewrite E2 in IH. assert (KEEP : ul c = false ->
      match cur with Some f => f < S (length pre) /\
      (exists c, nth_error full f = Some c /\ lk c = true) /\ forall k c, f < k < S (length pre) ->
      nth_error full k = Some c -> ul c = false | None => True end).
    { intro h. destruct cur as [g|]; auto. destruct C as (c1&c2&c3). split; [lia|]. split; auto.
      intros k d hk hd. destruct (Nat.eq_dec k (length pre)) as [->|]; [congruence|].
      apply (c3 k d); auto. lia. }
    destruct (lk c) eqn:LK.
    + destruct cur as [g|].
      * apply (IH (Some g) E1 (KEEP (DJ c LK))); auto.
      * eapply (IH (Some (length pre))); eauto. split; [lia|]. split; eauto. intros; lia.
    + destruct (ul c) eqn:UL.
      * destruct cur as [g|]; [|eapply (IH None); eauto].
        destruct I as [I|I]; [|eapply (IH None); eauto]. injection I as <- <-.
        destruct C as (c1&c2&c3). split; auto. split; auto. split; eauto.
      * apply (IH cur E1 (KEEP eq_refl)); auto.
Qed.
(* the interval of a lock in the run *)
Definition mk (a : ME) u := match u with Instr i => tmm a i | ToEnd => em a end.
(* The interval in which a row holds a lock, in the run. *)
Lemma interval_in_run (lk ul : ins -> bool) (a : ME) f u uli : ~ iM a ->
  is_interval lk ul (code (row_at a)) f u -> (forall o c, op_of P (node a) = Some o ->
  tr o c = uli o -> ul c = true) ->
  exists n t k o b c pa pz, write_of a = At n /\ n < N /\ acc n = Some (t, k, op_loc o) /\
    op_of P (node a) = Some o /\ lk c = true /\ pa < N /\ act pa = Some (t, b, tr o c) /\
    tmm a f = 2 * tm pa /\
  keeps t (uli o) pa pz /\ forall m, pz < m -> mk a u <= 2 * tm m.
Proof.
  intros h ((c&hc&hl)&hu) U. destruct (step_i a f h hc) as (n&t&k&o&b&ea&hn&h1&LB&q1&q2&q3&q4).
  destruct (op_chain a ea hn h1) as (o'&ps&LB'&RW&_&CH&_&_). rewrite LB in LB'. injection LB' as <-.
  exists n, t, k, o, b, c, (nth_step_from t (first_step t n) f),
    (match u with Instr j => nth_step_from t (first_step t n) j | ToEnd =>
    next_pos (starts t) (S n) end). assert (TR : forall i c, nth_error (code (row_at a)) i = Some c
    -> nth_error (map (tr o) (code (row_at a))) i = Some (tr o c)) by (intros i d hd;
    rewrite nth_error_map, hd; auto). destruct (chain_it CH eq_refl f (TR f c hc)) as (_&_&_&g1&g2).
  assert (EE : e (write_of a) = tm (next_pos (starts t) (S n)) - 2) by (rewrite ea; simpl;
    rewrite h1; auto). split; auto. split; auto. split; auto. split; auto. split; auto. split; auto.
  split; auto. split; auto. split.
  - assert (St : forall k0, nth_step_from t (first_step t n) f < k0 -> k0 < match u with Instr j =>
      nth_step_from t (first_step t n) j | ToEnd => next_pos (starts t) (S n) end ->
      acts t k0 = true -> exists i c0 b', k0 = nth_step_from t (first_step t n) i /\
      nth_error (code (row_at a)) i = Some c0 /\ act k0 = Some (t, b', tr o c0) /\ b' = false /\
      ul c0 = false).
    { intros k0 k1 k2 k3. assert (KE : tm k0 <= e (write_of a)).
      { destruct u as [j|]; [|rewrite EE; unfold tm in *; lia]. destruct hu as (_&(d&hd)&_).
        destruct (chain_it CH eq_refl j (TR j d hd)) as (z1&_&z2&_). pose proof (left_after t z1).
        unfold tm in *. lia. }
      assert (KP : first_step t n <= k0) by lia.
      destruct (chain_steps CH eq_refl KP KE k3) as (i&i0&b'&r1&r2&r3&r4).
      rewrite nth_error_map in r2.
      destruct (nth_error (code (row_at a)) i) as [c0|] eqn:NE; [|discriminate]. injection r2 as <-.
      assert (FI : f < i).
      { destruct (Nat.lt_trichotomy f i) as [y|[y|y]]; auto; [subst i; lia|]. specialize (g2 i y).
        lia. }
      exists i, c0, b'. split; auto. split; auto. split; auto. split; [apply r4; lia|].
      destruct u as [j|].
      - destruct hu as (_&(d&hd)&hu). apply (hu i c0); auto. split; auto.
        destruct (Nat.lt_trichotomy i j) as [y|[y|y]]; auto; [subst i; lia|].
        destruct (chain_it CH eq_refl i (TR i c0 NE)) as (_&_&_&_&z). specialize (z j y). lia.
      - apply (hu i c0); auto. }
    intros k0 hk0. split.
    + destruct (starts t k0) eqn:S0; auto. pose proof (starts_acts _ _ S0) as A0.
      destruct (St k0) as (i&c0&b'&r1&r2&r3&r4&_); auto; try lia. apply starts_inv in S0 as (j&S0).
      congruence.
    + intro A0. pose proof (act_acts _ A0) as A1.
      destruct (St k0) as (i&c0&b'&r1&r2&r3&r4&r5); auto; try lia. rewrite A0 in r3.
      injection r3 as _ r3. rewrite (U o c0 LB) in r5; auto. discriminate.
  - intros m hm. destruct u as [j|]; simpl.
    + destruct hu as (_&(d&hd)&_).
      destruct (step_i a j h hd) as (n'&t'&k'&o'&b'&ea'&_&h1'&_&_&_&q3'&_). rewrite ea in ea'.
      injection ea' as <-. rewrite h1 in h1'. injection h1' as <- <- _. rewrite q3'. unfold tm. lia.
    + unfold em. rewrite EE. unfold tm. lia.
Qed.
Lemma T_at (a : ME) n : write_of a = At n -> Tm a = 2 * tm n.
Proof. intro h. unfold Tm. rewrite h. auto. Qed.
Lemma rmw_intervals_hold r f u : In (f, u) (rmw_intervals r) ->
  is_interval takes_rmw frees_rmw (code r) f u.
Proof.
  intro h. eapply intervals_spec with (pre := []) (cur := None) (cs := code r); simpl; auto.
  intros c; destruct c; simpl; auto; discriminate.
Qed.
Lemma L2_intervals_hold r f u : In (f, u) (L2_intervals r) ->
  is_interval takes_L2 frees_L2 (code r) f u.
Proof.
  intro h. eapply intervals_spec with (pre := []) (cur := None) (cs := code r); simpl; auto.
  intros c; destruct c; simpl; auto; discriminate.
Qed.
(* ... the rmw locks, ... *)
Lemma f_lock_rmw : bracketed_rmw tbl = true -> forall (o p : ME) f u, ~ iM o -> ~ iM p ->
  gM o <> gM p -> In (f, u) (rmw_intervals (row_at o)) ->
    (forall f' u', In (f', u') (rmw_intervals (row_at p)) -> mk o u <= tmm p f' \/
      mk p u' <= tmm o f) /\
      (inc (row_at p) = true -> Tm p <= tmm o f \/ mk o u <= Tm p).
Proof.
  intros B a b f u ha hb ne I. apply rmw_intervals_hold in I.
  assert (UL : forall x o c, op_of P (node x) = Some o -> tr o c = UL_rmw ->
    frees_rmw c = true) by (intros x o c _ h; destruct c; try discriminate; auto).
  destruct (interval_in_run a (fun _ => UL_rmw) ha I (UL a)) as
    (n&t&k&o&b0&c&pa&pz&ea&hn&h1&LB&LK&hp&A&TF&KP&MK). destruct c; try discriminate. simpl in A.
  tr_E. rewrite <- initm_E in hb. split.
  - intros f' u' I'. apply rmw_intervals_hold in I'. destruct (interval_in_run b (fun _ =>
      UL_rmw) hb I' (UL b)) as (n'&t'&k'&o'&b0'&c'&pa'&pz'&ea'&hn'&h1'&LB'&LK'&hp'&A'&TF'&KP'&MK').
    destruct c'; try discriminate. simpl in A'. assert (NT : t <> t').
    { intros ->. apply ne. rewrite ea, ea', (ewg_at _ h1), (ewg_at _ h1'). auto. }
    assert (NT' : t' <> t) by auto.
    pose proof (rmw_out (rmw_bracketed B) A KP NT hp' A' Logic.I) as X1.
    pose proof (rmw_out (rmw_bracketed B) A' KP' NT' hp A Logic.I) as X2. rewrite TF, TF'.
    destruct (Nat.lt_trichotomy pa pa') as [y|[y|y]];
      [left; apply MK; lia|subst pa'; congruence|right; apply MK'; lia].
  - intro INC. destruct (ni_cases b hb) as (n'&t'&k'&x'&ea'&hn'&h1').
    destruct (op_of_access _ h1') as (o'&LB'&_&_&(b'&A')&_).
    assert (RW : row_at b = ro o') by (unfold row_at, node; rewrite ea', LB'; auto).
    rewrite RW in INC. assert (NT : t <> t').
    { intros ->. apply ne. rewrite ea, ea', (ewg_at _ h1), (ewg_at _ h1'). auto. }
    assert (IA : match tr o' (access (ro o')) with RMW_L1 _ _ | RMW_L2 _ _ | LK_rmw => True | _ =>
      False end) by (unfold inc in INC; destruct (access (ro o')); simpl; auto; discriminate).
    pose proof (rmw_out (rmw_bracketed B) A KP NT hn' A' IA) as X1. rewrite (T_at b ea'), TF.
    destruct (Nat.le_gt_cases n' pa) as [y|y]; [left; unfold tm; lia|right; apply MK; lia].
Qed.
(* ... and those of locations. *)
Lemma f_lock_L2 : bracketed_L2 tbl = true -> forall (o p : ME) f u, ~ iM o -> ~ iM p ->
  gM o <> gM p -> lM o = lM p -> In (f, u) (L2_intervals (row_at o)) ->
    (forall f' u', In (f', u') (L2_intervals (row_at p)) -> mk o u <= tmm p f' \/
      mk p u' <= tmm o f) /\
    (WM p -> arrm p <= tmm o f \/ mk o u <= arrm p) /\
      (fetM p -> ftm p <= tmm o f \/ mk o u <= ftm p).
Proof.
  intros B a b f u ha hb ne le I. apply L2_intervals_hold in I.
  assert (UL : forall x o c, op_of P (node x) = Some o -> tr o c = UL_L2 (op_loc o) ->
    frees_L2 c = true) by (intros x o c _ h; destruct c; try discriminate; auto).
  destruct (interval_in_run a (fun o => UL_L2 (op_loc o)) ha I (UL a)) as
    (n&t&k&o&b0&c&pa&pz&ea&hn&h1&LB&LK&hp&A&TF&KP&MK). destruct c; try discriminate. simpl in A.
  pose proof hb as hb0. rewrite fet_E. tr_E. rewrite <- initm_E in hb0.
  assert (LA : eloc (write_of a) = op_loc o) by (rewrite ea; simpl; rewrite h1; auto).
  rewrite LA in le. destruct (ni_cases b hb0) as (n'&t'&k'&x'&ea'&hn'&h1'). assert (NT : t <> t').
  { intros ->. apply ne. rewrite ea, ea', (ewg_at _ h1), (ewg_at _ h1'). auto. }
  assert (NW : wgof t <> ewg (write_of b)).
  { intro z. apply ne. rewrite <- z, ea, (ewg_at _ h1). auto. }
  assert (OUT : forall m, ~ pa < m <= pz -> 2 * tm m <= tmm a f \/ mk a u <= 2 * tm m).
  { intros m X. rewrite TF.
    destruct (Nat.le_gt_cases m pa) as [y|y]; [left; unfold tm; lia|right; apply MK; lia]. }
  split; [|split].
  - intros f' u' I'. apply L2_intervals_hold in I'. destruct (interval_in_run b (fun o =>
      UL_L2 (op_loc o)) hb0 I' (UL b)) as
      (n2&t2&k2&o'&b0'&c'&pa'&pz'&ea2&hn2&h2&LB'&LK'&hp'&A'&TF'&KP'&MK').
    destruct c'; try discriminate. simpl in A'. rewrite ea' in ea2. injection ea2 as <-.
    rewrite h1' in h2. injection h2 as <- <- ->.
    assert (LL : op_loc o' = op_loc o) by (rewrite le, ea'; simpl; rewrite h1'; auto).
    rewrite LL in *. assert (NT' : t' <> t) by auto.
    pose proof (lock_out (L2_bracketed B) A KP NT hp' A' eq_refl) as X1.
    pose proof (lock_out (L2_bracketed B) A' KP' NT' hp A eq_refl) as X2. rewrite TF, TF'.
    destruct (Nat.lt_trichotomy pa pa') as [y|[y|y]];
      [left; apply MK; lia|subst pa'; congruence|right; apply MK'; lia].
  - intro wb. unfold arrm.
    destruct (@W_arr _ (write_of b) (write_of_ev b) wb hb) as (m&t2&x&em0&hm&D). rewrite em0 in ea'.
    injection ea' as ->. assert (LX : x = op_loc o) by (rewrite le, em0;
      destruct D as [[D _]|(k2&D&_)]; simpl; rewrite D; auto).
    assert (GX : ewg (write_of b) = wgof t2) by (rewrite em0; destruct D as [[D _]|(k2&D&_)]; simpl;
      rewrite D; auto). destruct D as [[D D1]|(k2&D&_&D2&D3&D4)].
    + rewrite D1. apply OUT. destruct (op_of_access _ D) as (o2&_&LC&_&(b2&A2)&_&_&K1&_).
      rewrite K1 in A2. simpl in A2. rewrite LC in A2. rewrite D in h1'. injection h1' as -> _ _.
      exact (lock_out (L2_bracketed B) A KP NT hn' A2 LX).
    + rewrite D3. apply OUT. destruct (@store_arrives _ _ _ _ D2 hn') as (s1&s2&_).
      apply flush_of_iff in s2. rewrite GX in NW. rewrite LX in *.
      refine (lock_env_out (L2_bracketed B) A KP NW _ (or_introl s2)). lia.
  - intro fb.
    destruct (@fetched_ft _ (write_of b) (write_of_ev b) fb) as (n2&t2&x&m&em0&_&g1&g2&g3&g4&g5).
    unfold ftm. rewrite g5. apply OUT. apply fetch_of_iff in g4. rewrite g1 in NW.
    assert (EX : eloc (write_of b) = op_loc o) by congruence. rewrite g2 in EX. rewrite EX in g4.
    rewrite em0 in ea'. injection ea' as ->.
    refine (lock_env_out (L2_bracketed B) A KP NW _ (or_intror g4)). lia.
Qed.

(** ** All of them *)
Lemma all_in : forall o : ME, In o evs. Proof. intro o. apply (evs_all o). Qed.
Definition the_run : facts nowhere initial P tbl.
Proof.
  refine (@Build_facts Val Loc nowhere initial P tbl ME evs all_in node value_read memm rfm_ Tm sm
    em arrm ftm tmm leftm ownm invm row_at f_nd_inj f_nd_init f_nd_real f_nd_path f_nd_all f_rf_v
    f_st_v f_mem_v f_comp f_s_pos f_T_inj f_T_acc f_T_sb f_inits f_code_seq f_seqs f_arr_l2 f_arr_st
    f_dist f_order f_merge f_rf_dom f_rf_fun f_rf_tot f_look_l2 f_look_own f_look_ft f_flu f_inv
    f_lock_rmw f_lock_L2).
Defined.

(** ** What the statement calls answers and memory *)
Lemma answers_agree n t : answers_so_far n t = answers_to loc_dec wgof unset initial code_tree run n
  t.
Proof.
  induction n as [|k IH]; auto. simpl answers_to. rewrite <- IH. fold (sta k) (lab k).
  simpl answers_so_far. unfold acc, act, answer_at, rval, act, answer.
  destruct (lab k) as [u|w z|w z|w z|z|z|z|w z|w z|z|z]; try (rewrite app_nil_r; auto; fail).
  destruct (next unset (threads (sta k) u)) as [[i th]|] eqn:NX.
  - destruct i; try (destruct (Nat.eq_dec u t) as [<-|]; [rewrite NX|]; simpl; rewrite ?app_nil_r;
      auto; fail); destruct (Nat.eq_dec u t) as [<-|]; try (rewrite app_nil_r; auto; fail);
      rewrite NX; simpl; destruct (word_values k (wgof u) x) as (e1&e2&_); rewrite ?e1, ?e2; auto.
  - destruct (Nat.eq_dec u t) as [<-|]; [rewrite NX|]; rewrite app_nil_r; auto.
Qed.
Lemma value_read_answers x : value_at nowhere initial (answers_of loc_dec nowhere initial P tbl run)
  x = value_read x.
Proof. destruct x as [l|t p]; auto. simpl. rewrite answers_agree. reflexivity. Qed.
End Record_.
