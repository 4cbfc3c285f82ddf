(** * Each complete run of rsp has the facts (Facts.v) *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Program Runs Positions Events Threads Locks Values Places Thm1.
Require Facts.
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
Lemma by_its_row o : row_for tbl o <> None -> Facts.by_row tbl o (ro o).
Proof.
  unfold row_of. destruct (row_for tbl o) as [r|] eqn:E; [|tauto]. intros _.
  apply find_some in E as [E F]. unfold fits in F. apply andb_prop in F as [F F3].
  apply andb_prop in F as [F1 F2]. split; auto.
  split; [destruct (row_kind r), (kind_row o); auto; discriminate|].
  split; [destruct (row_scope r) as [[]|], (scope_row o) as [[]|]; auto; discriminate|]. intro a.
  rewrite a in F3. apply andb_prop in F3 as [F3 _]. apply eqb_prop. auto.
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
Hypothesis HR : has_rows P tbl.
Lemma f_its_row : forall (a : ME) o, op_of P (node a) = Some o -> Facts.by_row tbl o (row_at a).
Proof. intros a o h. unfold row_at. rewrite h. apply by_its_row. eapply HR; eauto. Qed.

(** ** The order of arrival, and what is last in memory *)
Lemma oev (a : ME) : ev (write_of a). Proof. exact (write_of_ev a). Qed.
Local Hint Resolve oev : core.
Notation before x y := (Events.isW (write_of x) /\ Events.isW (write_of y) /\
  eloc (write_of x) = eloc (write_of y) /\ x <> y /\
  (arr (write_of x) < arr (write_of y) \/
   arr (write_of x) = arr (write_of y) /\ T (write_of x) < T (write_of y))).
Lemma mme_E (x y : ME) : mme (write_of x) (write_of y) -> x = y \/ before x y.
Proof.
  intros [h|(a&b&c&d&f)]; [left; apply write_of_inj; auto|right].
  repeat split; auto. intros ->. auto.
Qed.
Lemma f_mem_v : forall l, exists w : ME, Events.isW (write_of w) /\ eloc (write_of w) = l /\
  written initial P value_read (node w) = memory (sta N) l /\ forall k, ~ before w k.
Proof.
  intro l. destruct (final l) as (w&h1&h2&h3&h4&h5). destruct (write_of_sur _ h1) as (a&<-).
  exists a. split; auto. split; auto. split.
  - destruct (word_values N 0 l) as (_&_&<-). rewrite h4. simpl. destruct (wval_E a); tauto.
  - intros k (q1&q2&q3&q4&q5). assert (Q : mme (write_of k) (write_of a)).
    { apply h5; auto. congruence. }
    destruct Q as [Q|(_&_&_&_&Q)]; [apply q4, eq_sym, write_of_inj, Q|lia].
Qed.
Lemma f_T_sb : forall o p : ME, thd (node o) (node p) ->
  (T (write_of o) < T (write_of p) <-> sb (node o) (node p)).
Proof.
  intros a b h. unfold node in *. destruct (write_cases a) as [(x&e1)|(n&t&k&x&e1&_&h1)],
    (write_cases b) as [(y&e2)|(m&u&k'&y&e2&_&h2)]; rewrite e1, e2 in *; simpl in h |- *;
    rewrite ?h1, ?h2 in *; simpl in h |- *; try tauto. subst u. unfold tm. split.
  - intro l. assert (z : n < m) by lia. destruct (@answers_after n m t k x h1 z) as (r&q).
    split; eauto.
  - intros (_&v&r&q). apply (f_equal (@length _)) in q. rewrite app_length in q. simpl in q.
    destruct (Nat.lt_trichotomy n m) as [z|[->|z]]; [lia|lia|].
    destruct (@answers_after m n t k' y h2 z) as (r'&q'). rewrite q', app_length in q.
    simpl in q. lia.
Qed.
Lemma thd_E (o p : ME) : thd (node o) (node p) -> Events.thd (write_of o) (write_of p).
Proof.
  unfold node. destruct (write_cases o) as [(x&e1)|(n&t&k&x&e1&_&h1)],
    (write_cases p) as [(y&e2)|(m&u&k'&y&e2&_&h2)]; rewrite e1, e2 in *; simpl; rewrite ?h1, ?h2;
    simpl; tauto.
Qed.

(** ** The steps of an operation *)
Definition instr_time (a : ME) i := match write_of a with
  | At n => match acc n with Some (t, _, _) => tm (step_of t (first_step t n) i) | None => 0 end
  | _ => 0
  end.
Definition left_time (a : ME) i := match write_of a with
  | At n => match acc n with
      | Some (t, _, _) => left_at t (step_of t (first_step t n) i)
      | None => 0
      end
  | _ => 0
  end.
(* The access of [a] is at step [n], of thread [t]; its operation is [o], and begins at step [p]. *)
Record operation (a : ME) n t o p : Prop := {
  o_at : write_of a = At n;
  o_end : n < N;
  o_acc : exists k, acc n = Some (t, k, op_loc o);
  o_op : op_of P (node a) = Some o;
  o_row : row_at a = ro o;
  o_code : chain t true (map (tr o) (code (row_at a))) p (e (write_of a));
  o_start : s (write_of a) = tm p - 1;
  o_first : p = first_step t n;
  o_access : exists b, act n = Some (t, b, tr o (access (ro o)));
  o_time : forall i, instr_time a i = tm (step_of t p i);
  o_left : forall i, left_time a i = left_at t (step_of t p i);
  o_group : ewg (write_of a) = wgof t;
  o_loc : eloc (write_of a) = op_loc o }.
Lemma operation_of (a : ME) : ~ Events.init (write_of a) -> exists n t o p, operation a n t o p.
Proof.
  intro ni. destruct (write_cases a) as [(x&E)|(n&t&k&x&E&h&A)].
  { rewrite E in ni. simpl in ni. tauto. }
  destruct (op_of_access _ A) as (o&LB&<-&CO&B&_). destruct (op_shape h A) as (_&CH&S0&_).
  assert (OP : op_of P (node a) = Some o) by (unfold node; rewrite E; auto).
  assert (RW : row_at a = ro o) by (unfold row_at; rewrite OP; auto).
  exists n, t, o, (first_step t n).
  split; auto; unfold instr_time, left_time; rewrite ?E, ?A, ?RW; eauto;
    [|simpl; rewrite A; auto..].
  rewrite CO in CH. exact CH.
Qed.
(* The step of its [i]-th instruction. *)
Lemma nth_step_is a n t o p i c : operation a n t o p -> nth_error (code (row_at a)) i = Some c ->
  step_of t p i < N /\ (exists b, act (step_of t p i) = Some (t, b, tr o c)) /\
  left_at t (step_of t p i) < e (write_of a) /\ p <= step_of t p i /\
  forall k, k < i -> step_of t p k < step_of t p i.
Proof.
  intros O h. apply (chain_step (o_code O)). rewrite nth_error_map, h. auto.
Qed.
Lemma step_is_one a n t o p k : operation a n t o p -> p <= k -> tm k <= e (write_of a) ->
  acts t k = true -> exists i c b, k = step_of t p i /\ nth_error (code (row_at a)) i = Some c /\
    act k = Some (t, b, tr o c) /\ (0 < i -> b = false).
Proof.
  intros O h1 h2 h3. destruct (chain_all (o_code O) h1 h2 h3) as (i&j&b&r1&r2&r3&r4).
  rewrite nth_error_map in r2.
  destruct (nth_error (code (row_at a)) i) as [c|] eqn:E; [|discriminate].
  injection r2 as <-. exists i, c, b. auto.
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
Lemma f_T_acc : forall a : ME, ~ Events.init (write_of a) ->
  T (write_of a) = instr_time a (pos (row_at a)).
Proof.
  intros a h. destruct (operation_of a h) as (n&t&o&p&O). rewrite (o_time O), (o_at O). simpl.
  f_equal.
  destruct (o_acc O) as (k&A). destruct (op_shape (o_end O) A) as (_&_&_&F).
  rewrite <- (o_first O) in F. destruct (acc_act _ A) as (b&i&th&B&IA&_).
  assert (KE : tm n <= e (write_of a)).
  { destruct (times _ (oev a) h) as (_&_&q). rewrite (o_at O) in *. simpl in q |- *. lia. }
  destruct (step_is_one O F KE (act_acts _ B)) as (j&c&b'&r1&r2&r3&_). rewrite r1 at 1. f_equal.
  rewrite B in r3. injection r3 as <- ->. rewrite isacc_tr in IA. unfold pos.
  eapply acc_pos_uq; eauto. rewrite (o_row O). apply row_has_one_access.
Qed.
Lemma chain_ordered t o z : forall cs b p, chain t b (map (tr o) cs) p z ->
  forall (T' L' : nat -> nat) i0 prev, prev < tm p ->
  (forall j, T' (i0 + j) = tm (step_of t p j)) ->
  (forall j, L' (i0 + j) = left_at t (step_of t p j)) ->
  Facts.ordered T' L' z cs i0 prev.
Proof.
  induction cs as [|c cs IH]; intros b p H T' L' i0 prev hp hT hL; [inversion H|].
  assert (HN : p < N) by (inversion H; auto). pose proof (left_after t HN) as G.
  pose proof (hT 0) as T0. pose proof (hL 0) as L0. simpl in T0, L0. rewrite Nat.add_0_r in T0, L0.
  assert (K : forall prev', prev' <= left_at t p -> Facts.ordered T' L' z cs (S i0) prev').
  { intros prev' h'. simpl in H. inversion H as [? ? ? h a|? ? ? ? ? h a H']; subst.
    - destruct cs; [simpl; lia|discriminate].
    - eapply (IH false _ H').
      + destruct (@next_pos_spec _ (acts t) (S p)) as (q&_); [lia|]. unfold left_at, tm in *. lia.
      + intro j. replace (S i0 + j) with (i0 + S j) by lia. apply hT.
      + intro j. replace (S i0 + j) with (i0 + S j) by lia. apply hL. }
  simpl. rewrite T0, L0. split; auto. destruct c; try (apply K; lia). split; auto.
Qed.
Lemma f_code_seq : forall a : ME, ~ Events.init (write_of a) -> Facts.ordered (instr_time a)
  (left_time a) (e (write_of a)) (code (row_at a)) 0 (s (write_of a)).
Proof.
  intros a h. destruct (operation_of a h) as (n&t&o&p&O).
  eapply chain_ordered; [exact (o_code O)| |exact (o_time O)|exact (o_left O)].
  rewrite (o_start O). unfold tm. lia.
Qed.
Lemma f_flu : forall (a : ME) i r (w : ME), ~ Events.init (write_of a) ->
  nth_error (code (row_at a)) i = Some (Flu r) ->
  Events.isW (write_of w) -> ~ Events.init (write_of w) ->
  ewg (write_of w) = ewg (write_of a) \/ r = to_DV -> T (write_of w) < instr_time a i ->
  arr (write_of w) < left_time a i.
Proof.
  intros a i r w h hc ww nw g l. destruct (operation_of a h) as (n&t&o&p&O).
  destruct (nth_step_is _ O hc) as (q1&(b&q2)&_). rewrite (o_left O). rewrite (o_time O) in l.
  pose proof (left_after t q1). destruct (classic (l2 (write_of w))) as [z|z].
  { destruct (l2s (oev w) z) as (_&_&E). lia. }
  apply flu_left; auto. eapply mks_act; [exact q2|].
  destruct g as [g| ->]; [|reflexivity]. rewrite g, (o_group O). destruct r; [apply own_reach|auto].
Qed.
Lemma f_inv : forall (a : ME) i r g, ~ Events.init (write_of a) ->
  nth_error (code (row_at a)) i = Some (Inv r) -> g = ewg (write_of a) \/ r = to_DV ->
  inv g (instr_time a i).
Proof.
  intros a i r g h hc q. destruct (operation_of a h) as (n&t&o&p&O).
  destruct (nth_step_is _ O hc) as (q1&(b&q2)&_). rewrite (o_time O).
  eapply inv_act; [exact q1|exact q2|]. destruct q as [->| ->]; [|reflexivity].
  rewrite (o_group O). destruct r; [apply own_reach|auto].
Qed.

(** ** Locks

    [lk] and [ul] are the instructions that take and free the lock [of_op o] in the code of [o]. *)
Definition is_interval (lk ul : ins -> bool) full f u :=
  (exists c, nth_error full f = Some c /\ lk c = true) /\ match u with
  | Instr j => f < j /\ (exists c, nth_error full j = Some c) /\
      forall k c, f < k < j -> nth_error full k = Some c -> ul c = false
  | ToEnd => forall k c, f < k -> nth_error full k = Some c -> ul c = false
  end.
Definition mark_time (a : ME) u :=
  match u with Instr i => instr_time a i | ToEnd => e (write_of a) end.
Section Lock.
Variables lk ul : ins -> bool.
Variable of_op : op Val Loc -> option Loc.
Hypothesis lk_not_ul : forall c, lk c = true -> ul c = false.
Hypothesis takes_tr : forall o c, takes (of_op o) (tr o c) = lk c.
Hypothesis frees_tr : forall o c, frees (of_op o) (tr o c) = ul c.
Hypothesis other_lock : forall o o', of_op o = of_op o' \/
  forall c, frees (of_op o) (tr o' c) = false.
Hypothesis brackets : forall r, In r tbl -> bracketed lk ul (code r) false = true.
Hypothesis brackets_bare : forall o : op Val Loc, bracketed lk ul (code (bare o)) false = true.

Lemma bracketed_frees o : forall cs cur, bracketed lk ul cs cur = true -> forall q,
  (cur = true -> holds (of_op o) q = true) -> forall p i r, map (tr o) cs = p ++ i :: r ->
  frees (of_op o) i = true -> holds (of_op o) (rev p ++ q) = true.
Proof.
  induction cs as [|c cs IH]; intros cur h q hq p i r E F; [destruct p; discriminate|].
  simpl in h. destruct p as [|d p]; simpl in E; injection E as <- E.
  - rewrite frees_tr in F. destruct (lk c) eqn:K; [rewrite lk_not_ul in F; congruence|].
    rewrite F in h. apply andb_prop in h as [h _]. auto.
  - simpl. rewrite <- app_assoc.
    destruct (lk c) eqn:K; [|destruct (ul c) eqn:U; [apply andb_prop in h as [_ h]|]];
      refine (IH _ h _ _ p i r E F); simpl; rewrite takes_tr, frees_tr, K, ?U; auto; discriminate.
Qed.
Lemma rows_free_own o : forall c, is_code c -> frees_own (of_op o) c.
Proof.
  intros c (o'&->) p i r E F. assert (X : bracketed lk ul (code (ro o')) false = true).
  { unfold row_of. destruct (row_for tbl o') as [w|] eqn:W; auto.
    apply find_some in W as [W _]. auto. }
  destruct (other_lock o o') as [S|S].
  - rewrite S in *. rewrite <- (rev_involutive p), <- (app_nil_r (rev (rev p))).
    eapply bracketed_frees; [exact X|discriminate|exact E|exact F].
  - exfalso. assert (I : In i (codes o')) by (rewrite E; apply in_or_app; simpl; auto).
    apply in_map_iff in I as (c&<-&_). rewrite S in F. discriminate.
Qed.
Lemma intervals_spec full : forall cs pre cur, full = pre ++ cs ->
  match cur with
  | Some f => f < length pre /\ (exists c, nth_error full f = Some c /\ lk c = true) /\
      forall k c, f < k < length pre -> nth_error full k = Some c -> ul c = false
  | None => True
  end -> forall f u, In (f, u) (intervals lk ul cs (length pre) cur) -> is_interval lk ul full f u.
Proof.
  induction cs as [|c cs IH]; intros pre cur E C f u I; simpl in I.
  { destruct cur as [g|]; [|destruct I]. destruct I as [I|[]]. injection I as <- <-.
    destruct C as (c1&c2&c3). split; auto. intros k c h h'. apply (c3 k c); auto. split; auto.
    rewrite E, app_nil_r in h'. apply nth_error_Some. congruence. }
  assert (NC : nth_error full (length pre) = Some c).
  { rewrite E, nth_error_app2, Nat.sub_diag; auto. }
  specialize (IH (pre ++ [c])). rewrite app_length, Nat.add_1_r, <- app_assoc in IH.
  assert (KEEP : ul c = false -> match cur with
    | Some f => f < S (length pre) /\ (exists c, nth_error full f = Some c /\ lk c = true) /\
        forall k c, f < k < S (length pre) -> nth_error full k = Some c -> ul c = false
    | None => True
    end).
  { intro h. destruct cur as [g|]; auto. destruct C as (c1&c2&c3). split; [lia|]. split; auto.
    intros k d hk hd. destruct (Nat.eq_dec k (length pre)) as [->|]; [congruence|].
    apply (c3 k d); auto. lia. }
  destruct (lk c) eqn:LK; [destruct cur as [g|]|destruct (ul c) eqn:UL; [destruct cur as [g|]|]].
  - apply (IH (Some g) E (KEEP (lk_not_ul LK))); auto.
  - apply (IH (Some (length pre)) E); auto. split; [lia|].
    split; [exists c; auto|intros; lia].
  - destruct I as [I|I]; [|apply (IH None E Logic.I); auto]. injection I as <- <-.
    destruct C as (c1&c2&c3). repeat split; eauto.
  - apply (IH None E Logic.I); auto.
  - apply (IH cur E (KEEP eq_refl)); auto.
Qed.
Lemma interval_of r f u : In (f, u) (intervals lk ul (code r) 0 None) ->
  is_interval lk ul (code r) f u.
Proof. apply (@intervals_spec (code r) (code r) [] None); simpl; auto. Qed.

(* The lock of an interval is kept in the run. *)
Lemma interval_keeps a n t o p f u : operation a n t o p ->
  is_interval lk ul (code (row_at a)) f u ->
  keeps (of_op o) t (step_of t p f)
    (match u with Instr j => step_of t p j | ToEnd => next_pos (starts t) (S n) end).
Proof.
  intros O ((c&hc&_)&hu). destruct (nth_step_is _ O hc) as (_&_&_&g1&g2). intros k [k1 k2].
  assert (KE : tm k <= e (write_of a)).
  { destruct u as [j|].
    - destruct hu as (_&(d&hd)&_). destruct (nth_step_is _ O hd) as (z1&_&z2&_).
      pose proof (left_after t z1). unfold tm in *. lia.
    - rewrite (o_at O). destruct (o_acc O) as (x&A). simpl. rewrite A. unfold tm. lia. }
  assert (St : acts t k = true -> 
    exists c b, act k = Some (t, b, tr o c) /\ b = false /\ ul c = false).
  { intro k3. destruct (@step_is_one a n t o p k O) as (i&d&b&->&r2&r3&r4); auto; [lia|].
    assert (FI : f < i).
    { destruct (Nat.lt_trichotomy f i) as [y|[->|y]]; [auto|lia|]. specialize (g2 i y). lia. }
    exists d, b. split; auto. split; [apply r4; lia|]. destruct u as [j|].
    - destruct hu as (_&_&hu). apply (hu i d); auto. split; auto.
      destruct (Nat.lt_trichotomy i j) as [y|[->|y]]; auto; [lia|].
      destruct (nth_step_is _ O r2) as (_&_&_&_&z). specialize (z j y). lia.
    - apply (hu i d); auto. }
  split.
  - destruct (starts t k) eqn:E; auto. destruct (St (starts_acts _ _ E)) as (d&b&r1&r2&_).
    apply starts_inv in E as (j&E). congruence.
  - intros i A. destruct (St (act_acts _ A)) as (d&b&r1&_&r3). rewrite A in r1.
    injection r1 as _ ->. rewrite frees_tr. auto.
Qed.
(* So what waits for the lock, in another work-group, is outside. *)
Lemma outside_interval a n t o p f u : operation a n t o p ->
  is_interval lk ul (code (row_at a)) f u -> forall m, m < N ->
  (exists v b i, wgof v <> wgof t /\ act m = Some (v, b, i) /\ waits (of_op o) i = true) \/
  (exists w x, w <> wgof t /\ of_op o = Some x /\ (lab m = FLUSH_L1 w x \/ lab m = FETCH_L1 w x)) ->
  tm m <= instr_time a f \/ mark_time a u <= tm m.
Proof.
  intros O I m hm D. pose proof (interval_keeps O I) as K. destruct I as ((c&hc&hl)&hu).
  destruct (nth_step_is _ O hc) as (_&(b&A)&_). rewrite <- (takes_tr o) in hl.
  pose proof (lock_out (rows_free_own o) A hl K hm) as X. rewrite (o_time O).
  destruct (Nat.le_gt_cases m (step_of t p f)) as [y|y]; [left; unfold tm; lia|right].
  assert (z : ~ m <= match u with
    | Instr j => step_of t p j | ToEnd => next_pos (starts t) (S n) end).
  { intro z. apply X; auto. destruct D as [(v&b'&i&D)|D]; [left|auto]. exists v, b', i.
    split; [|apply D]. intros ->. tauto. }
  destruct u as [j|]; simpl; [rewrite (o_time O)|].
  - unfold tm. lia.
  - rewrite (o_at O). destruct (o_acc O) as (x&E). simpl. rewrite E. unfold tm. lia.
Qed.
Lemma intervals_exclude a n t o p f u b m v q r f' u' :
  operation a n t o p -> operation b m v q r ->
  wgof t <> wgof v -> of_op o = of_op q -> is_interval lk ul (code (row_at a)) f u ->
  is_interval lk ul (code (row_at b)) f' u' ->
  mark_time a u <= instr_time b f' \/ mark_time b u' <= instr_time a f.
Proof.
  intros O Q ne E I J. pose proof (proj1 I) as (c&hc&hl). pose proof (proj1 J) as (d&hd&hl').
  destruct (nth_step_is _ O hc) as (a1&(z&A)&_). destruct (nth_step_is _ Q hd) as (b1&(z'&B)&_).
  assert (ne' : wgof v <> wgof t) by auto.
  assert (W : forall x y, lk y = true -> waits (of_op x) (tr x y) = true).
  { intros x y h. apply takes_waits. rewrite takes_tr. auto. }
  destruct (outside_interval O I b1) as [x|x]; [left|..].
  { exists v, z', (tr q d). repeat split; auto. rewrite E. auto. }
  2:{ left. rewrite (o_time Q). auto. }
  destruct (outside_interval Q J a1) as [y|y]; [left|..].
  { exists t, z, (tr o c). repeat split; auto. rewrite <- E. auto. }
  2:{ right. rewrite (o_time O). auto. }
  rewrite (o_time O) in x. rewrite (o_time Q) in y.
  assert (S : step_of t p f = step_of v r f') by (unfold tm in *; lia). rewrite S, B in A.
  injection A as -> _ _. tauto.
Qed.
End Lock.
Lemma f_lock_rmw : bracketed_rmw tbl = true -> forall (a b : ME) f u,
  ~ Events.init (write_of a) -> ~ Events.init (write_of b) ->
  ewg (write_of a) <> ewg (write_of b) -> In (f, u) (rmw_intervals (row_at a)) ->
  (forall f' u', In (f', u') (rmw_intervals (row_at b)) ->
    mark_time a u <= instr_time b f' \/ mark_time b u' <= instr_time a f) /\
  (inc (row_at b) = true -> T (write_of b) <= instr_time a f \/ mark_time a u <= T (write_of b)).
Proof.
  intros B a b f u ha hb ne I. destruct (operation_of a ha) as (n&t&o&p&O).
  destruct (operation_of b hb) as (m&v&q&r&Q). rewrite (o_group O), (o_group Q) in ne.
  unfold bracketed_rmw in B. rewrite forallb_forall in B.
  assert (D : forall c, takes_rmw c = true -> frees_rmw c = false) by (intros []; easy).
  assert (Tk : forall o c, takes None (tr o c) = takes_rmw c) by (intros ? []; easy).
  assert (F : forall o c, frees None (tr o c) = frees_rmw c) by (intros ? []; easy).
  assert (BB : forall o : op Val Loc, bracketed takes_rmw frees_rmw (code (bare o)) false = true).
  { intro z. unfold bare. destruct (op_kind z); auto. }
  pose proof (fun r f u => @interval_of takes_rmw frees_rmw D r f u) as IV. split.
  - intros f' u' I'. eapply (@intervals_exclude _ _ (fun _ => None)); eauto.
  - intro INC. rewrite (o_at Q). simpl.
    eapply (@outside_interval _ _ (fun _ => None)); eauto using o_end.
    left. destruct (o_access Q) as (z&A). exists v, z, (tr q (access (ro q))).
    repeat split; auto. rewrite (o_row Q) in INC. unfold inc in INC.
    destruct (access (ro q)); easy.
Qed.
Lemma f_lock_L2 : bracketed_L2 tbl = true -> forall (a b : ME) f u,
  ~ Events.init (write_of a) -> ~ Events.init (write_of b) ->
  ewg (write_of a) <> ewg (write_of b) -> eloc (write_of a) = eloc (write_of b) ->
  In (f, u) (L2_intervals (row_at a)) ->
  (forall f' u', In (f', u') (L2_intervals (row_at b)) ->
    mark_time a u <= instr_time b f' \/ mark_time b u' <= instr_time a f) /\
  (Events.isW (write_of b) ->
    arr (write_of b) <= instr_time a f \/ mark_time a u <= arr (write_of b)) /\
  (fetched (write_of b) ->
    ft (write_of b) <= instr_time a f \/ mark_time a u <= ft (write_of b)).
Proof.
  intros B a b f u ha hb ne le I. destruct (operation_of a ha) as (n&t&o&p&O).
  destruct (operation_of b hb) as (m&v&q&r&Q). rewrite (o_group O), (o_group Q) in ne.
  rewrite (o_loc O), (o_loc Q) in le.
  unfold bracketed_L2 in B. rewrite forallb_forall in B.
  assert (X : forall x : Loc, eqx x x = true) by (intro; apply eqx_t; auto).
  assert (D : forall c, takes_L2 c = true -> frees_L2 c = false) by (intros []; easy).
  assert (Tk : forall o c, takes (Some (op_loc o)) (tr o c) = takes_L2 c)
    by (intros ? []; simpl; auto).
  assert (F : forall o c, frees (Some (op_loc o)) (tr o c) = frees_L2 c)
    by (intros ? []; simpl; auto).
  assert (OT : forall o o' : op Val Loc, Some (op_loc o) = Some (op_loc o') \/
    forall c, frees (Some (op_loc o)) (tr o' c) = false).
  { intros z z'. destruct (eqx (op_loc z') (op_loc z)) eqn:E.
    - left. apply eqx_t in E. congruence.
    - right. intros []; simpl; auto. }
  assert (BB : forall o : op Val Loc, bracketed takes_L2 frees_L2 (code (bare o)) false = true).
  { intro z. unfold bare. destruct (op_kind z); auto. }
  pose proof (fun r f u => @interval_of takes_L2 frees_L2 D r f u) as IV.
  assert (OUT := @outside_interval _ _ (fun o => Some (op_loc o)) D Tk F OT B BB _ _ _ _ _ _ _ O
    (IV _ _ _ I)). split; [|split].
  - intros f' u' I'. eapply (@intervals_exclude _ _ (fun o => Some (op_loc o))); eauto.
    congruence.
  - intro wb. destruct (W_arr (oev b) wb hb) as (m'&v'&x&E&hm&C). rewrite (o_at Q) in E.
    injection E as <-. destruct (o_acc Q) as (k&A).
    destruct C as [[C C1]|(k'&C&_&C2&C3&C4)].
    + rewrite C1. apply OUT; auto. left. rewrite A in C. injection C as <- -> _.
      destruct (acc_act _ A) as (z&i&th&Ai&_). exists v, z, i. split; auto. split; auto.
      unfold acc in A. rewrite Ai in A. destruct i; try discriminate. injection A as ->. simpl.
      rewrite le. auto.
    + rewrite C3. apply OUT; [lia|]. right. rewrite A in C. injection C as <- _ <-.
      exists (wgof v), (op_loc q). split; auto. split; [congruence|]. left.
      apply flush_of_iff. apply (store_arrives C2 hm).
  - intro fb. destruct (fetched_ft (oev b) fb) as (n2&t2&x&m2&E&L&g1&g2&g3&g4&g5). rewrite g5.
    rewrite (o_at Q) in E. injection E as <-. apply OUT; [destruct L; lia|]. right.
    rewrite <- g1, (o_group Q) in g4. rewrite (o_loc Q) in g2. subst x.
    exists (wgof v), (op_loc q). split; auto. split; [congruence|]. right. apply fetch_of_iff, g4.
Qed.

(** ** All of them *)
Definition the_run : Facts.facts nowhere initial P tbl.
Proof.
  refine {|
    Facts.M := E; Facts.all := evs; Facts.nd := node; Facts.rw := row_at;
    Facts.T := fun a => T (write_of a); Facts.s := fun a => s (write_of a);
    Facts.e := fun a => e (write_of a); Facts.arr := fun a => arr (write_of a);
    Facts.t := instr_time; Facts.left := left_time;
    Facts.rf_run := fun w r => Events.rf (write_of w) (write_of r);
    Facts.own := fun a => own (write_of a); Facts.ft := fun a => ft (write_of a);
    Facts.inv := inv; Facts.val := value_read; Facts.mem := memory (sta N);
    Facts.nd_inj := f_nd_inj; Facts.nd_init := f_nd_init; Facts.nd_real := f_nd_real;
    Facts.nd_path := f_nd_path; Facts.nd_all := f_nd_all; Facts.rf_v := f_rf_v;
    Facts.st_v := f_st_v; Facts.its_row := f_its_row; Facts.one_each := rows_ok;
    Facts.T_sb := f_T_sb |}.
  all: try setoid_rewrite l2_E; try setoid_rewrite isW_E; try setoid_rewrite isR_E;
    try setoid_rewrite initm_E; try setoid_rewrite loc_E; try setoid_rewrite wg_E.
  - apply evs_all.
  - exact f_mem_v.
  - intros o h. apply times; auto.
  - intros o p a b h. apply write_of_inj, T_inj; auto.
  - exact f_T_acc.
  - intros o h. destruct (inits _ (oev o) h) as (_&_&_&q). exact q.
  - exact f_code_seq.
  - intros o p h. apply seqs; auto. apply thd_E, h.
  - intros o h. apply l2s; auto.
  - intros o. apply arrs; auto.
  - intros o p a b n. apply dist; auto. intro h. apply n, write_of_inj, h.
  - intros o p. apply order; auto.
  - intros o p. apply merge; auto.
  - intros w r h. apply (rf_dom _ _ (oev r) h).
  - intros w w' r a b. exact (write_of_inj _ _ (rf_fun _ _ _ a b)).
  - intros r h. destruct (rf_tot _ (oev r) h) as (w&q).
    destruct (rf_dom _ _ (oev r) q) as (h'&_). destruct (write_of_sur _ h') as (a&<-). eauto.
  - intros w o a b. destruct (look_l2 _ _ (oev o) a b) as (c&d). split; auto.
    intros. apply mme_E. auto.
  - intros w o a b. destruct (look_own _ _ (oev o) a b) as (c1&c2&c3&c4&c5&c6&c7&c8).
    repeat (split; auto).
  - intros w o a b. destruct (look_ft _ (oev o) a b) as (c1&c2&c3&c4&c5&c6&c7).
    repeat (split; auto). intros. apply mme_E. auto.
  - exact f_flu.
  - exact f_inv.
  - exact f_lock_rmw.
  - exact f_lock_L2.
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
