(** * Threads: operations one after the other, each the code of its row; FLU drains *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Thm1 Runs Positions Events.
Import ListNotations.
Set Implicit Arguments.
Section Threads_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation guard := (guard loc_dec (wgs P) wgof unset).

(** ** The code of an operation: one access, and all codes of the program are of this kind *)
Definition is_code (c : list (instr Val Loc)) := exists o, c = code_of nowhere initial tbl o.
Notation ro := (@row_of Val Loc tbl).
Lemma row_wf (o : op Val Loc) : one_access (ro o) = true /\ row_kind (ro o) = kind_row o.
Proof.
  unfold row_of, row_for. destruct (find (fits o) tbl) as [r|] eqn:E.
  - apply find_some in E as [E F]. split; [apply rows_ok; auto|]. unfold fits in F.
    apply andb_prop in F as [F _]. apply andb_prop in F as [F _].
    destruct (row_kind r), (kind_row o); auto; discriminate.
  - split; auto. unfold bare, kind_row. destruct (op_kind o); reflexivity.
Qed.
Lemma isacc_tr o i : isacc (instr_of nowhere initial o i) = is_acc i. Proof. destruct i; auto. Qed.
Lemma filter_tr o cs : length (filter isacc (map (instr_of nowhere initial o) cs)) = length
  (filter is_acc cs).
Proof.
  induction cs as [|c cs IH]; simpl; auto. rewrite isacc_tr. destruct (is_acc c); simpl; auto.
Qed.
Lemma row_has_one_access o : length (filter is_acc (code (ro o))) = 1.
Proof.
  destruct (row_wf o) as [h _]. unfold one_access in h. apply andb_prop in h as [h _].
  apply Nat.eqb_eq. auto.
Qed.
Lemma is_code_one_access c : is_code c -> length (filter isacc c) = 1.
Proof. intros (o&->). unfold code_of. rewrite filter_tr. apply row_has_one_access. Qed.
Inductive well_coded : codes Val Loc -> Prop :=
| wf_done : well_coded End
| wf_do c k : is_code c -> (forall v, well_coded (k v)) -> well_coded (Code c k).
Lemma wf t : well_coded (code_tree t).
Proof.
  unfold code_tree, compiled.
  induction (body (thread_of P t)) as [|o k IH]; simpl; constructor; [exists o; auto|].
  intro; apply IH.
Qed.

(** ** Threads: operations one after the other,
   the instructions of each in the order of its whole *)
Lemma next_f th i th' : next_of th = Some (false, i, th') -> left_ th = i :: left_ th' /\
  past th' = i :: past th /\ cont th' = cont th.
Proof.
  unfold next_of. destruct (left_ th). destruct (cont th (kept th)) as [|[|]]; discriminate.
  intros [= -> <-]. auto.
Qed.
Lemma next_t th i th' : next_of th = Some (true, i, th') -> left_ th = [] /\ past th' = [i] /\
  exists v, cont th v = Code (i :: left_ th') (cont th').
Proof.
  unfold next_of. destruct (left_ th); [|discriminate].
  destruct (cont th (kept th)) as [|[|j l] k] eqn:E; try discriminate. intros [= -> <-]. eauto.
Qed.
Lemma acts_inv t n : acts t n = true -> exists b i, act n = Some (t, b, i).
Proof.
  unfold acts. destruct (act n) as [[[u b] i]|]; [|discriminate]. intro h. apply eqn_t in h. subst.
  eauto.
Qed.
Lemma starts_inv t n : starts t n = true <-> exists i, act n = Some (t, true, i).
Proof.
  unfold starts. split. destruct (act n) as [[[u b] i]|]; [|discriminate].
  destruct b; [|discriminate]. intro h. apply eqn_t in h. subst. eauto. intros (i&->).
  apply eqn_t; auto.
Qed.
Lemma act_acts t n b i : act n = Some (t, b, i) -> acts t n = true.
Proof. unfold acts. intros ->. apply eqn_t; auto. Qed.
Definition code_now th := rev (past th) ++ left_ th.
Lemma thr_inv t n : (forall v, well_coded (cont (thr n t) v)) /\
  (code_now (thr n t) = [] \/ is_code (code_now (thr n t))).
Proof.
  induction n as [|n [a b]]. { rewrite thr_0. split; [intro; apply wf|left; auto]. }
  destruct (acts t n) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&i&E).
  destruct (thr_go n E) as (th&v&F&G). rewrite G. unfold code_now in *. simpl. destruct z.
  - apply next_t in F as (f1&f2&v'&f3). specialize (a v'). rewrite f3 in a. inversion a; subst.
    split; auto. right. rewrite f2. auto.
  - apply next_f in F as (f1&f2&f3). rewrite f3, f2. split; auto. simpl. rewrite <- app_assoc.
    simpl. rewrite <- f1. auto.
Qed.
Lemma one_access_left t n : length (filter isacc (past (thr n t) ++ left_ (thr n t))) <= 1.
Proof.
  destruct (thr_inv t n) as [_ [h|h]]; unfold code_now in h.
  - apply app_eq_nil in h as [h h'].
    assert (past (thr n t) = []) by (rewrite <- (rev_involutive (past _)), h; auto). rewrite H, h'.
    simpl; lia.
  - apply is_code_one_access in h. rewrite filter_app, app_length in *.
    enough (length (filter isacc (past (thr n t))) = length (filter isacc (rev (past (thr n t)))))
      by lia. generalize (past (thr n t)). induction l; simpl; auto. rewrite filter_app, app_length.
    simpl. destruct (isacc a); simpl; lia.
Qed.
Lemma rest_start t n : left_ (thr n t) <> [] -> exists k, k < n /\ starts t k = true.
Proof.
  induction n; intro h; [rewrite thr_0 in h; simpl in h; tauto|]. destruct (acts t n) eqn:E.
  - apply acts_inv in E as (z&i&E). destruct (thr_go n E) as (th&v&F&G). destruct z.
    { exists n. split; auto. apply starts_inv; eauto. }
    apply next_f in F as (f1&_). destruct IHn as (k&k1&k2); [congruence|]. exists k.
    split; auto; lia.
  - rewrite thr_stay in h; auto. destruct (IHn h) as (k&k1&k2). exists k. split; auto; lia.
Qed.
(* since the access no other operation has begun: it is behind *)
Lemma acc_past t k x n m : acc n = Some (t, k, x) -> n < m ->
  (forall j, n < j < m -> starts t j = false) -> exists i, In i (past (thr m t)) /\ isacc i = true.
Proof.
  intros a. induction m; intros h q; [lia|]. destruct (Nat.eq_dec n m) as [->|ne].
  - destruct (acc_act m a) as (b&i&th&A&B&C). destruct (thr_go m A) as (th'&v&F&G). rewrite G.
    simpl. exists i. split; auto.
    destruct b; [apply next_t in F|apply next_f in F]; destruct F as (_&->&_); simpl; auto.
  - destruct IHm as (i&i1&i2); [lia|intros; apply q; lia|]. exists i. split; auto.
    destruct (acts t m) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&i'&E).
    destruct (thr_go m E) as (th&v&F&G). rewrite G. simpl. destruct z.
    + assert (starts t m = true) by (apply starts_inv; eauto). rewrite q in H; [discriminate|lia].
    + apply next_f in F as (_&->&_). simpl; auto.
Qed.
Lemma acc_start t k x n : acc n = Some (t, k, x) -> exists j, last_pos (starts t) (S n) = Some j.
Proof.
  intro a. destruct (last_pos (starts t) (S n)) as [j|] eqn:E; eauto.
  destruct (acc_act n a) as (b&i&th&A&B&C). destruct b.
  - assert (q : starts t n = true) by (apply starts_inv; eauto).
    rewrite (@last_pos_none _ _ E n) in q; [discriminate|lia].
  - apply next_f in C as (c&_). destruct (@rest_start t n) as (j&j1&j2); [congruence|].
    rewrite (@last_pos_none _ _ E j) in j2; [discriminate|lia].
Qed.
Lemma times o : ev o -> ~ init o -> 0 < s o /\ s o < T o /\ T o < e o.
Proof.
  destruct o as [|n]; simpl; [tauto|]. intros [h a] _.
  destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto]. destruct (acc_start n E) as (j&J). rewrite J.
  apply last_pos_some in J as (j1&_). destruct (@next_pos_spec _ (starts t) (S n)) as (q&_); [lia|].
  unfold tm. lia.
Qed.
(* Operations of a thread follow each other. *)
Lemma seqs o p : ev o -> ev p -> thd o p -> T o < T p -> e o < s p.
Proof.
  destruct o as [|n], p as [|m]; simpl; try tauto. intros [h a] [h' a'].
  destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto].
  destruct (acc m) as [[[u k'] x']|] eqn:E'; [|tauto]. intros <- l.
  assert (n < m) by (unfold tm in l; lia). destruct (acc_start m E') as (j&J). rewrite J.
  apply last_pos_some in J as (j1&j2&j3). destruct (Nat.le_gt_cases j n) as [q|q].
  - exfalso. destruct (@acc_past t k x n m) as (i&i1&i2); auto; [intros; apply j3; lia|].
    destruct (acc_act m E') as (b&i'&th&A&B&C). destruct b.
    + assert (z : starts t m = true) by (apply starts_inv; eauto).
      destruct (Nat.eq_dec j m); [lia|]. rewrite j3 in z; [discriminate|lia].
    + apply next_f in C as (c&_). pose proof (one_access_left t m) as c1.
      rewrite c, filter_app, app_length in c1. simpl in c1. rewrite B in c1. simpl in c1.
      assert (In i (filter isacc (past (thr m t)))) by (apply filter_In; auto).
      destruct (filter isacc (past (thr m t))); [auto|simpl in c1; lia].
  - assert (next_pos (starts t) (S n) <= j) by (apply next_pos_le; auto; lia). unfold tm. lia.
Qed.

(** ** F5: FLU. A store before the marker has arrived when the thread goes on *)
Lemma in_fifo w x m n : stores_to w x m = true -> m < n -> n <= N ->
  next_pos (flush_of w x) (S m) < n \/ exists q r, fifo (L1 (sta n) w) = q ++ Entry x :: r.
Proof.
  intros a. induction n; intros b c; [lia|].
  destruct (@fifo_step _ w n) as [(r&r1&r2&_)|(r1&_&y&r2&r3)]; [lia| |].
  - destruct (Nat.eq_dec m n) as [<-|ne]. right. rewrite r1, (r2 x a). eauto.
    destruct IHn as [h|(q&r'&h)]; [lia|lia|left; lia|]. right. rewrite r1, h. exists q, (r' ++ r).
    rewrite <- app_assoc. auto.
  - destruct (Nat.eq_dec m n) as [<-|ne]; [congruence|]. destruct IHn as [h|([|z q]&r'&h)];
      [lia|lia|left; lia| |]; rewrite h in r2; injection r2 as z1 r2; subst.
    + left. assert (next_pos (flush_of w x) (S m) < n); [|lia]. apply clean_arr; auto; lia.
    + right. exists q, r'. first [exact r2|symmetry; exact r2].
Qed.
Lemma in_fifo2 w x m t f n : stores_to w x m = true -> flu_reaching t w f = true -> m < f ->
  f < n -> n <= N -> next_pos (flush_of w x) (S m) < n \/ exists q r r',
  fifo (L1 (sta n) w) = q ++ Entry x :: r ++ Marker t :: r'.
Proof.
  intros a a' hf. induction n; intros b c; [lia|].
  destruct (@fifo_step _ w n) as [(r&r1&r2&r2')|(r1&r1'&y&r2&r3)]; [lia| |].
  - destruct (Nat.eq_dec f n) as [<-|ne].
    + destruct (@in_fifo w x m f) as [h|(q&r'&h)]; auto; try lia. right. rewrite r1, (r2' t a'), h.
      exists q, r', []. rewrite <- app_assoc. auto.
    + destruct IHn as [h|(q&r'&r''&h)]; [lia|lia|left; lia|]. right. rewrite r1, h.
      exists q, r', (r'' ++ r). rewrite <- app_assoc. simpl. rewrite <- app_assoc. auto.
  - destruct (Nat.eq_dec f n) as [<-|ne]; [congruence|]. destruct IHn as [h|([|z q]&r'&r''&h)];
      [lia|lia|left; lia| |]; rewrite h in r2; injection r2 as z1 r2; subst.
    + left. assert (next_pos (flush_of w x) (S m) < n); [|lia]. apply clean_arr; auto; lia.
    + right. exists q, r', r''. first [exact r2|symmetry; exact r2].
Qed.
Lemma acts_unmarked t n w : n < N -> acts t n = true -> In w (wgs P) ->
  ~ In (Marker t) (fifo (L1 (sta n) w)).
Proof.
  intros h a q i. apply acts_inv in a as (b&j&a). pose proof (act_guard h a) as g.
  unfold instr_guard, unmarked in g. apply andb_prop in g as [g _]. apply andb_prop in g as [g _].
  rewrite forallb_forall in g. specialize (g w q). unfold no_marker in g.
  rewrite forallb_forall in g. specialize (g _ i). simpl in g.
  destruct (Nat.eq_dec t t); congruence.
Qed.
(* FLU drains: what its L1 stored before has arrived when the thread goes on. *)
Lemma FLU w x m t f n : stores_to w x m = true -> flu_reaching t w f = true -> m < f -> f < n ->
  n = N \/ n < N /\ acts t n = true -> next_pos (flush_of w x) (S m) < n.
Proof.
  intros a b c d [->|[h g]]. { apply (store_arrives a). lia. }
  destruct (@in_fifo2 w x m t f n) as [q|(q&r&r'&q')]; auto; try lia. exfalso.
  apply (@acts_unmarked t n w h g). { apply stores_to_iff in a as (u&?&_&_&<-). apply in_wgs. }
  rewrite q'. apply in_or_app. right. right. apply in_or_app. right. left. auto.
Qed.
(* «the markers have left»: just before the thread's next step, or the end of the run *)
Definition left_at t p := tm (next_pos (acts t) (S p)) - 3.
Lemma left_after t p : p < N -> tm p < left_at t p.
Proof.
  intro h. destruct (@next_pos_spec _ (acts t) (S p)) as (q&_); [lia|]. unfold left_at, tm. lia.
Qed.
Lemma flu_left w t f : ev w -> isW w -> ~ init w -> ~ l2 w -> f < N ->
  flu_reaching t (ewg w) f = true -> T w < tm f -> arr w < left_at t f.
Proof.
  intros a b c d hf g h. destruct (W_arr a b c) as (n&u&x&->&hn&[[q r]|(k&q&r&r'&z&z')]).
  { simpl in d. rewrite q in d. tauto. }
  rewrite z. unfold left_at, T in *.
  destruct (@next_pos_spec _ (acts t) (S f)) as (q1&q2&q3); [lia|].
  assert (E : ewg (At n) = wgof u) by (simpl; rewrite q; auto). rewrite E in g.
  enough (next_pos (flush_of (wgof u) x) (S n) < next_pos (acts t) (S f)) by (unfold tm; lia).
  apply FLU with t f; auto; try (unfold tm in h; lia).
  destruct (Nat.eq_dec (next_pos (acts t) (S f)) N); auto. right. split; [lia|apply q3; lia].
Qed.
(* The steps of an operation from [p] on: its code, in order.  It ends at [z]. *)
Inductive chain t : bool -> list (instr Val Loc) -> nat -> nat -> Prop :=
| ch1 p b i : p < N -> act p = Some (t, b, i) -> chain t b [i] p (S (left_at t p))
| chS p b i l z : p < N -> act p = Some (t, b, i) ->
    chain t false l (next_pos (acts t) (S p)) z -> chain t b (i :: l) p z.
(* The step of the [i]-th instruction. *)
Fixpoint step_of t p i := match i with 0 => p | S i => step_of t (next_pos (acts t) (S p)) i end.
Lemma chain_step t b c p z : chain t b c p z -> forall i j, nth_error c i = Some j ->
  step_of t p i < N /\ (exists b', act (step_of t p i) = Some (t, b', j)) /\
  left_at t (step_of t p i) < z /\ p <= step_of t p i /\
  forall k, k < i -> step_of t p k < step_of t p i.
Proof.
  induction 1 as [p b j h a|p b j l z h a H IH]; intros [|i] j' E; simpl in E.
  - injection E as <-. simpl. repeat split; eauto; lia.
  - destruct i; discriminate.
  - injection E as <-. simpl. repeat split; eauto; try lia.
    inversion H as [q b' j' hq aq|q b' j' l' z' hq aq H']; subst;
      destruct (IH 0 j' eq_refl) as (_&_&q1&_); simpl in q1;
      pose proof (left_after t hq); unfold left_at at 1; lia.
  - destruct (IH i j' E) as (h1&h2&h3&h4&h5). simpl. repeat split; auto.
    + destruct (@next_pos_spec _ (acts t) (S p)) as (q&_); lia.
    + destruct (@next_pos_spec _ (acts t) (S p)) as (q&_); [lia|].
      intros [|k] hk; simpl; [lia|]. apply h5. lia.
Qed.
(* All that the thread executes meanwhile is among them. *)
Lemma chain_all t b c p z : chain t b c p z -> forall k, p <= k -> tm k <= z -> acts t k = true ->
  exists i j b', k = step_of t p i /\ nth_error c i = Some j /\ act k = Some (t, b', j) /\
    (0 < i -> b' = false).
Proof.
  induction 1 as [p b j h a|p b j l z h a H IH]; intros k h1 h2 h3;
    destruct (@next_pos_spec _ (acts t) (S p) h) as (q1&q2&_).
  - exists 0, j, b. assert (k = p).
    { destruct (Nat.eq_dec k p); auto. rewrite q2 in h3; [discriminate|].
      unfold left_at, tm in *. lia. }
    subst k. repeat split; auto. lia.
  - destruct (Nat.eq_dec k p) as [->|n]. { exists 0, j, b. repeat split; auto. lia. }
    destruct (Nat.lt_ge_cases k (next_pos (acts t) (S p))) as [y|y].
    { rewrite q2 in h3; [discriminate|lia]. }
    destruct (IH k y h2 h3) as (i&j'&b'&r1&r2&r3&r4). exists (S i), j', b'.
    repeat split; auto. intros _. destruct i; [|apply r4; lia]. simpl in r1. subst k.
    inversion H; subst; congruence.
Qed.
Lemma thr_const t a b : a <= b -> (forall k, a <= k < b -> acts t k = false) -> thr b t = thr a t.
Proof.
  induction 1; intro h; auto. rewrite thr_stay; [apply IHle; intros; apply h; lia|apply h; lia].
Qed.
Lemma next_pos_skip p a b : a <= b -> b <= N -> (forall k, a <= k < b -> p k = false) ->
  next_pos p a = next_pos p b.
Proof.
  intros h h' q. destruct (@next_pos_spec _ p a) as (a1&a2&a3); [lia|].
  destruct (@next_pos_spec _ p b) as (b1&b2&b3); [lia|].
  destruct (Nat.lt_trichotomy (next_pos p a) (next_pos p b)) as [z|[z|z]]; auto; exfalso.
  - assert (y : p (next_pos p a) = true) by (apply a3; lia). destruct (Nat.le_gt_cases b
      (next_pos p a)); [rewrite b2 in y|rewrite q in y]; try discriminate; lia.
  - assert (y : p (next_pos p b) = true) by (apply b3; lia). rewrite a2 in y; [discriminate|lia].
Qed.
Lemma starts_acts t k : starts t k = true -> acts t k = true.
Proof. intro h. apply starts_inv in h as (i&h). eapply act_acts; eauto. Qed.
Lemma shape t l : forall p b i, p < N -> act p = Some (t, b, i) -> left_ (thr (S p) t) = l ->
  chain t b (i :: l) p (tm (next_pos (starts t) (S p)) - 2).
Proof.
  induction l as [|i' l IH]; intros p b i h a r;
    destruct (@next_pos_spec _ (acts t) (S p) h) as (q1&q2&q3);
    assert (TC : thr (next_pos (acts t) (S p)) t = thr (S p) t) by (apply thr_const; [lia|auto]);
    rewrite <- TC in r; set (q := next_pos (acts t) (S p)) in *.
  - assert (E : next_pos (starts t) (S p) = q).
    { rewrite (@next_pos_skip (starts t) (S p) q); try lia.
      - destruct (@next_pos_spec _ (starts t) q) as (s1&s2&_); [lia|].
        destruct (Nat.eq_dec q (next_pos (starts t) q)) as [|n]; auto.
        assert (hq : q < N) by lia. destruct (acts_inv t q (q3 hq)) as (b'&j&A).
        destruct (thr_go q A) as (th&v&F&_).
        assert (X : starts t q = false) by (apply s2; lia). destruct b'.
        + rewrite (proj2 (starts_inv t q)) in X; [discriminate|eauto].
        + apply next_f in F as (F&_). congruence.
      - intros k hk. destruct (starts t k) eqn:S1; auto. apply starts_acts in S1.
        rewrite q2 in S1; auto. }
    rewrite E. replace (tm q - 2) with (S (left_at t p)); [econstructor; eauto|].
    unfold left_at. fold q. unfold tm. lia.
  - destruct (Nat.eq_dec q N) as [n|n].
    { destruct cmpl as [c _]. specialize (c t). rewrite <- n, next_view in c.
      unfold next_of in c. rewrite r in c. discriminate. }
    assert (hq : q < N) by lia. destruct (acts_inv t q (q3 hq)) as (b'&j&A).
    destruct (thr_go q A) as (th&v&F&G). destruct b'; [apply next_t in F as (f&_); congruence|].
    apply next_f in F as (f1&f2&f3). rewrite r in f1. injection f1 as -> ->.
    apply chS; auto. fold q. rewrite (@next_pos_skip (starts t) (S p) (S q)); try lia.
    + apply IH; auto. rewrite G. auto.
    + intros k hk. destruct (starts t k) eqn:S1; auto.
      destruct (Nat.eq_dec k q) as [->|]; [|apply starts_acts in S1; rewrite q2 in S1; auto; lia].
      apply starts_inv in S1 as (?&S1). congruence.
Qed.
Lemma code_same t a b : a <= b -> (forall k, a <= k < b -> starts t k = false) ->
  code_now (thr b t) = code_now (thr a t).
Proof.
  induction 1 as [|m h IH]; intro q; auto. rewrite <- IH; [|intros; apply q; lia].
  destruct (acts t m) eqn:E; [|rewrite thr_stay; auto]. apply acts_inv in E as (z&i&E).
  destruct (thr_go m E) as (th&v&F&G). destruct z.
  { assert (starts t m = true) by (apply starts_inv; eauto). rewrite q in H; [discriminate|lia]. }
  apply next_f in F as (f1&f2&_). rewrite G. unfold code_now. simpl. rewrite f1, f2. simpl.
  rewrite <- app_assoc. auto.
Qed.
Definition codeof n := match acc n with Some (t, _, _) => code_now (thr (S n) t) | None => [] end.
(* An operation is its row's code, from its begin to its end. *)
Definition first_step t n := match last_pos (starts t) (S n) with Some k => k | None => 0 end.
Theorem op_shape n t k x : n < N -> acc n = Some (t, k, x) ->
  is_code (codeof n) /\ chain t true (codeof n) (first_step t n) (e (At n)) /\
  s (At n) = tm (first_step t n) - 1 /\ first_step t n <= n.
Proof.
  intros h a. destruct (acc_start n a) as (p&J). unfold first_step. simpl. rewrite a, J.
  apply last_pos_some in J as (j1&j2&j3). pose proof j2 as j4. apply starts_inv in j4 as (i&A).
  assert (hp : p < N) by lia. pose proof (@shape t _ p true i hp A eq_refl) as CH.
  destruct (thr_go p A) as (th&v&F&G). apply next_t in F as (f1&f2&_).
  assert (CO : code_now (thr (S p) t) = i :: left_ (thr (S p) t)).
  { unfold code_now. rewrite G. simpl. rewrite f2. auto. }
  assert (E : codeof n = code_now (thr (S p) t)).
  { unfold codeof. rewrite a. apply code_same; [lia|]. intros. apply j3. lia. }
  rewrite E. split; [|split; [|split]]; auto; [|rewrite CO|lia].
  - destruct (thr_inv t (S p)) as [_ [q|q]]; auto. rewrite CO in q. discriminate.
  - rewrite <- (@next_pos_skip (starts t) (S p) (S n)); auto; try lia.
Qed.

End Threads_.
