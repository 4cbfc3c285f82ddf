(** * Events of a run, and the facts of arrival and of looks

    An event is an initial write, or the position of an access. The time of step n is 4n + 4:
    between steps there is room for markers to have left, operations to end, and others to begin. *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Thm1 Runs Positions.
Import ListNotations.
Set Implicit Arguments.
Section Events_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation guard := (guard loc_dec (wgs P) wgof unset).

(** ** F1, F3: pending stores *)
Lemma clean_arr w x j n : DIRTY (L1 (sta n) w) x = false -> stores_to w x j = true -> j < n ->
  n <= N -> next_pos (flush_of w x) (S j) < n.
Proof.
  intros d s l h. destruct (@last_change (fun n => DIRTY (L1 (sta n) w) x) (stores_to w x)
    (flush_of w x) (dirty_step w x) j n l s d) as (k&a&b).
  assert (next_pos (flush_of w x) (S j) <= k) by (apply next_pos_le; auto; lia). lia.
Qed.
(* Every store arrives: at the next flush of its L1 and location. *)
Lemma store_arrives w x j : stores_to w x j = true -> j < N ->
  j < next_pos (flush_of w x) (S j) < N /\ flush_of w x (next_pos (flush_of w x) (S j)) = true /\
  forall k, j < k < next_pos (flush_of w x) (S j) -> flush_of w x k = false.
Proof.
  intros s h. assert (a : next_pos (flush_of w x) (S j) < N) by (apply clean_arr; auto; apply cmpl).
  destruct (@next_pos_spec _ (flush_of w x) (S j)) as (b&c&d). lia. repeat split; auto; try lia.
Qed.
Arguments store_arrives {w x j}.
Lemma fetch_clean w x n : n < N -> fetch_of w x n = true -> DIRTY (L1 (sta n) w) x = false /\
  VALID (L2 (sta n)) x = true.
Proof.
  intros h f. apply fetch_of_iff in f. pose proof (ok h) as g. rewrite f in g. simpl in g.
  apply andb_prop in g as [g _]. apply andb_prop in g as [g g']. unfold clean in g.
  destruct (DIRTY _ x); auto; discriminate.
Qed.
Lemma flush_dirty w x n : n < N -> flush_of w x n = true -> DIRTY (L1 (sta n) w) x = true.
Proof.
  intros h f. apply flush_of_iff in f. pose proof (ok h) as g. rewrite f in g. simpl in g.
  apply andb_prop in g as [g _]. auto.
Qed.
(* What is DIRTY is the last store of the L1. *)
Lemma dirty_data w x n : n <= N -> DIRTY (L1 (sta n) w) x = true ->
  exists m, m < n /\ stores_to w x m = true /\
    (forall k, m < k < n -> stores_to w x k = false /\ flush_of w x k = false) /\
    word1 n w x = (wval m, At m).
Proof.
  induction n; intros h d. discriminate. rewrite dirty_step in d. rewrite word1_step.
  destruct (stores_to w x n) eqn:E.
  - exists n. repeat split; auto; lia.
  - destruct (flush_of w x n) eqn:F; [discriminate|]. destruct (fetch_of w x n) eqn:G.
    { destruct (@fetch_clean w x n); auto. congruence. }
    destruct IHn as (m&a&b&c&e); auto; try lia. exists m. split; [lia|]. split; [auto|].
    split; [|auto]. intros k hk. destruct (Nat.eq_dec k n); [subst; auto|apply c; lia].
Qed.

(** ** F0: L2 and memory are one *)
(* The word that arrived last in L2. *)
Fixpoint last_arrived x n : word := match n with 0 => (initial x, Ini x) | S k =>
  if rmw_of x k then (wval k, At k) else match lab k with FLUSH_L1 v y =>
    if loc_dec y x then word1 k v x else last_arrived x k | _ => last_arrived x k end end.
(* L2 and memory have it. *)
Lemma l2_inv x n : n <= N -> (VALID (L2 (sta n)) x = true -> word2 n x = last_arrived x n) /\
  (DIRTY (L2 (sta n)) x = true -> word2 n x = last_arrived x n) /\
    (DIRTY (L2 (sta n)) x = false -> wordm n x = last_arrived x n).
Proof.
  induction n; intro h.
  { destruct (words_0 0 x) as (_&q&q'). rewrite q, q'. repeat split; auto; discriminate. }
  destruct IHn as (a&b&c); [lia|]. assert (h' : n < N) by lia. pose proof (ok h') as g.
  simpl last_arrived. rewrite word2_step, wordm_step, valid2_step, dirty2_step.
  destruct (rmw_of x n). { repeat split; auto. discriminate. }
  destruct (lab n) as [t|v z|v z|v z|z|z|z|v z|v t|z|t]; simpl in g; auto;
    (destruct (loc_dec z x); [subst z|auto]); repeat split; auto; try discriminate.
  - intros _. apply b. apply andb_prop in g as [g _]. auto.
  - intros _. apply c. apply andb_prop in g as [g _]. unfold clean in g.
    destruct (DIRTY (L2 (sta n)) x); auto; discriminate.
  - intros _. apply c. apply andb_prop in g as [g _]. unfold clean in g.
    destruct (DIRTY (L2 (sta n)) x); auto; discriminate.
Qed.

(** ** Events and the functions of docs/proof.md *)
Definition tm n := 4 * n + 4.
Definition ev o := match o with Ini _ => True | At n => n < N /\ acc n <> None end.
Definition init o := match o with Ini _ => True | At _ => False end.
Definition isW o := match o with Ini _ => True | At n =>
  match acc n with Some (_, (kST | k1 | k2), _) => True | _ => False end end.
Definition isR o := match o with Ini _ => False | At n =>
  match acc n with Some (_, (kLD | k1 | k2), _) => True | _ => False end end.
Definition l2 o := match o with Ini _ => False | At n => match acc n with Some (_, k2, _) =>
  True | _ => False end end.
Definition eloc o := match o with Ini x => x | At n => match acc n with Some (_, _, x) =>
  x | None => nowhere end end.
Definition ewg o := match o with Ini _ => 0 | At n => match acc n with Some (t, _, _) =>
  wgof t | None => 0 end end.
Definition thd o p := match o, p with At n, At m => match acc n, acc m with Some (t, _, _),
  Some (u, _, _) => t = u | _, _ => False end | _, _ => False end.
Definition T o := match o with Ini _ => 0 | At n => tm n end.
Definition arr o := match o with Ini _ => 0 | At n => match acc n with
  | Some (_, k2, _) => tm n | Some (t, _, x) => tm (next_pos (flush_of (wgof t) x) (S n)) | None =>
    0 end end.
Definition s o := match o with Ini _ => 0 | At n => match acc n with
  | Some (t, _, _) => match last_pos (starts t) (S n) with Some k => tm k - 1 | None =>
    0 end | None => 0 end end.
Definition e o := match o with Ini _ => 0 | At n => match acc n with Some (t, _, _) =>
  tm (next_pos (starts t) (S n)) - 2 | None => 0 end end.
Definition rf w r := match r with Ini _ => False | At n => match acc n with
  | Some (t, (kLD | k1), x) => w = snd (word1 n (wgof t) x) | Some (_, k2, x) =>
    w = snd (word2 n x) | _ => False end end.
(* the look finds a store of the own L1; else the fetch behind it *)
Definition own o := match o with Ini _ => False | At n => match acc n with
  | Some (t, (kLD | k1), x) => exists m, m < n /\ stores_to (wgof t) x m = true /\ forall k,
    m < k < n -> fetch_of (wgof t) x k = false | _ => False end end.
Definition ft o := match o with Ini _ => 0 | At n => match acc n with
  | Some (t, _, x) => match last_pos (fetch_of (wgof t) x) n with Some m => tm m | None =>
    0 end | None => 0 end end.
Definition inv w i := exists n, n < N /\ i = tm n /\ inv_reaching w n = true.
Definition mm x y := isW x /\ isW y /\ eloc x = eloc y /\ x <> y /\
  (arr x < arr y \/ (arr x = arr y /\ T x < T y)).
Definition mme x y := x = y \/ mm x y.
Definition fetched o := isR o /\ ~ own o /\ ~ l2 o.

Lemma kindW n t k x : acc n = Some (t, k, x) -> k = kST \/ k = k1 -> stores_to (wgof t) x n = true.
Proof. intros a b. apply stores_to_iff. eauto. Qed.
Lemma W_arr o : ev o -> isW o -> ~ init o -> exists n t x, o = At n /\ n < N /\
  ((acc n = Some (t, k2, x) /\ arr o = tm n) \/
   (exists k, acc n = Some (t, k, x) /\ (k = kST \/ k = k1) /\ stores_to (wgof t) x n = true /\
     arr o = tm (next_pos (flush_of (wgof t) x) (S n)) /\
     n < next_pos (flush_of (wgof t) x) (S n) < N)).
Proof.
  destruct o as [|n]; simpl; [tauto|]. intros [h a] w _.
  destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto]. exists n, t, x. split; auto. split; auto.
  destruct k; [tauto|right|right|left; auto].
  - assert (q : stores_to (wgof t) x n = true) by (eapply kindW; eauto). exists kST.
    repeat split; auto; apply (store_arrives q h).
  - assert (q : stores_to (wgof t) x n = true) by (eapply kindW; eauto). exists k1.
    repeat split; auto; apply (store_arrives q h).
Qed.
Arguments W_arr {o}.
Lemma inits o : ev o -> init o -> isW o /\ ~ isR o /\ ~ l2 o /\ T o = 0 /\ arr o = 0.
Proof. destruct o; simpl; tauto. Qed.
Lemma l2s o : ev o -> l2 o -> isW o /\ isR o /\ arr o = T o.
Proof. destruct o as [|n]; simpl; [tauto|]. intros _. destruct (acc n) as [[[t []] x]|]; tauto. Qed.
Arguments l2s {o}.
Lemma arrs o : ev o -> isW o -> ~ init o -> ~ l2 o -> T o < arr o.
Proof.
  intros a b c d. destruct (W_arr a b c) as (n&t&x&->&h&[[q r]|(k&q&r&r'&z&z')]). simpl in d.
  rewrite q in d. tauto. rewrite z. simpl. unfold tm. lia.
Qed.
Lemma T_inj o p : ~ init o -> ~ init p -> T o = T p -> o = p.
Proof. destruct o as [|n], p as [|m]; simpl; try tauto. unfold tm. intros. f_equal. lia. Qed.
(* what arrives at step n arrived by it *)
Lemma arr_at w n : ev w -> isW w -> arr w = tm n -> (w = At n /\ rmw_of (eloc w) n = true) \/
  (exists m, w = At m /\ m < n /\ stores_to (ewg w) (eloc w) m = true /\
  lab n = FLUSH_L1 (ewg w) (eloc w) /\ forall k, m < k < n -> flush_of (ewg w) (eloc w) k = false).
Proof.
  intros a b c. destruct (classic (init w)) as [i|i].
  { destruct w; simpl in *; [unfold tm in c; lia|tauto]. }
  destruct (W_arr a b i) as (m&t&x&->&h&[[q r]|(k&q&r&r'&z&z')]); simpl; rewrite q.
  - left. assert (m = n) by (unfold tm in *; lia). subst. split; auto. apply rmw_of_iff; eauto.
  - right. exists m. assert (n = next_pos (flush_of (wgof t) x) (S m)) by (unfold tm in *; lia).
    subst n. destruct (store_arrives r' h) as (a1&a2&a3). repeat split; auto; try lia.
    apply flush_of_iff; auto.
Qed.
Arguments arr_at {w}.
Lemma arr_mul w : ev w -> isW w -> arr w = 0 /\ init w \/ exists n, arr w = tm n /\ n < N.
Proof.
  intros a b. destruct (classic (init w)) as [i|i].
  { left. split; auto. destruct w; simpl in *; tauto. }
  right. destruct (W_arr a b i) as (m&t&x&->&h&[[q r]|(k&q&r&r'&z&z')]); eauto. rewrite z.
  exists (next_pos (flush_of (wgof t) x) (S m)). split; auto; lia.
Qed.
Arguments arr_mul {w}.
Lemma ini_arr w : ev w -> isW w -> arr w < 4 -> init w.
Proof. intros a b c. destruct (arr_mul a b) as [[_ i]|(n&i&_)]; auto. unfold tm in i. lia. Qed.

(* what L2 has is the last of what arrived *)
Lemma last_arrived_max x n : n <= N -> let w' := snd (last_arrived x n) in ev w' /\ isW w' /\
  eloc w' = x /\ arr w' < tm n /\
  forall w, ev w -> isW w -> eloc w = x -> arr w < tm n -> mme w w'.
Proof.
  induction n; intro h.
  - simpl. repeat split; auto; try (unfold tm; lia). intros w a b c d.
    assert (i : init w) by (apply ini_arr; auto; unfold tm in d; lia).
    destruct w; simpl in *; [subst; left; auto|tauto].
  - destruct IHn as (a&b&c&d&f); [lia|]. assert (hn : n < N) by lia. simpl.
    assert (STEP : forall w, ev w -> isW w -> arr w < tm (S n) -> arr w < tm n \/ arr w = tm n).
    { intros w w1 w2 w3. destruct (arr_mul w1 w2) as [[z _]|(k&z&_)]; unfold tm in *; lia. }
    destruct (rmw_of x n) eqn:A2.
    + apply rmw_of_iff in A2 as (t&A). simpl. rewrite A.
      repeat split; auto; try congruence; try (unfold tm; lia). intros w w1 w2 w3 w4.
      destruct (STEP w w1 w2 w4) as [q|q].
      * right. repeat split; auto; simpl; try rewrite A; auto; try tauto. intros ->. simpl in q.
        rewrite A in q. lia.
      * destruct (arr_at n w1 w2 q) as [[-> _]|(m&_&_&_&z&_)]; [left; auto|]. apply acc_I in A.
        congruence.
    + assert (OLD : (forall w, ev w -> isW w -> eloc w = x -> arr w = tm n -> exists v,
        lab n = FLUSH_L1 v x)).
      { intros w w1 w2 w3 w4. destruct (arr_at n w1 w2 w4) as [[-> q]|(m&_&_&_&z&_)]; [congruence|].
        rewrite w3 in z. eauto. }
      destruct (lab n) as [t|v y|v y|v y|y|y|y|v y|v y|y|y] eqn:LB.
      2: destruct (loc_dec y x) as [->|NE].
      2: { assert (F : flush_of v x n = true) by (apply flush_of_iff; auto).
        destruct (@dirty_data v x n) as (m&m1&m2&m3&m4); [lia|apply flush_dirty; auto|]. rewrite m4.
        simpl. pose proof m2 as m2'. apply stores_to_iff in m2 as (t&k&k3&k4&<-).
        destruct (store_arrives m2') as (s1&s2&s3); [lia|].
        assert (next_pos (flush_of (wgof t) x) (S m) = n).
        { assert (next_pos (flush_of (wgof t) x) (S m) <= n) by (apply next_pos_le; auto; lia).
          destruct (Nat.eq_dec (next_pos (flush_of (wgof t) x) (S m)) n); auto.
          destruct (m3 (next_pos (flush_of (wgof t) x) (S m))); [lia|congruence]. }
        assert (AR : arr (At m) = tm n). { simpl. rewrite k3. destruct k4; subst k; congruence. }
        assert (EV : ev (At m)) by (split; [lia|congruence]).
        assert (WW : isW (At m)) by (simpl; rewrite k3; destruct k4; subst k; auto).
        split; [exact EV|]. split; [exact WW|]. split; [simpl; rewrite k3; auto|].
        split; [fold (arr (At m)); rewrite AR; unfold tm; lia|]. intros w w1 w2 w3 w4.
        destruct (Nat.eq_dec 0 0) as [_|]; [|lia].
        destruct (classic (w = At m)) as [|ne]; [left; auto|right]. split; [auto|]. split; [auto|].
        split; [simpl; rewrite k3; auto|]. split; [auto|]. rewrite AR.
        destruct (STEP w w1 w2 w4) as [q|q]; [auto|]. right. split; [auto|].
        destruct (arr_at n w1 w2 q) as [[-> q']|(m'&->&m6&m7&m8&m9)];
          [rewrite w3 in q'; congruence|]. rewrite w3 in m7, m8, m9.
        assert (m8' : ewg (At m') = wgof t) by congruence. rewrite m8' in m7, m9. simpl.
        enough (m' < m) by (unfold tm; lia).
        destruct (Nat.lt_trichotomy m' m) as [z|[z|z]]; auto; [congruence|].
        destruct (m3 m'); [lia|congruence]. }
      all: repeat split; auto; try (unfold tm in *; lia); intros w w1 w2 w3 w4; apply f; auto;
        destruct (STEP w w1 w2 w4) as [q|q]; auto; destruct (OLD w w1 w2 w3 q); congruence.
Qed.

(** ** F2: what a VALID entry goes back to *)
(* What is VALID in an L1 goes back to a store or a fetch, with no INV since. *)
Lemma valid_goes_back_to w x n : n <= N -> VALID (L1 (sta n) w) x = true -> exists m, m < n /\
  ((stores_to w x m = true /\ word1 n w x = (wval m, At m)) \/
    (fetch_of w x m = true /\ word1 n w x = last_arrived x m)) /\
  forall k, m < k < n -> stores_to w x k = false /\ fetch_of w x k = false /\
    inv_reaching w k = false /\ rmw_at_L2 w x k = false.
Proof.
  induction n; intros h v; [discriminate|]. rewrite valid_step in v. rewrite word1_step.
  destruct (stores_to w x n) eqn:E; simpl in v.
  - exists n. split; auto. split; [left; auto|]. intros; lia.
  - destruct (fetch_of w x n) eqn:F; simpl in v.
    + exists n. split; auto. split; [right|intros; lia]. split; auto.
      destruct (@fetch_clean w x n) as [_ f]; auto. destruct (@l2_inv x n) as [l _]; [lia|]. auto.
    + destruct (inv_reaching w n) eqn:G1, (rmw_at_L2 w x n) eqn:G2, (evict_of w x n) eqn:G3;
        simpl in v; try discriminate. destruct IHn as (m&a&b&c); auto; [lia|]. exists m.
      split; [lia|]. split; auto. intros k hk.
      destruct (Nat.eq_dec k n); [subst; auto|apply c; lia].
Qed.
Lemma acc_guard n t k x : n < N -> acc n = Some (t, k, x) -> match k with kLD =>
  VALID (L1 (sta n) (wgof t)) x = true
  | kST => True | k1 => ready (rmw_lock (sta n) (wgof t)) t = true /\
    VALID (L1 (sta n) (wgof t)) x = true
  | k2 => ready (rmw_lock (sta n) (wgof t)) t = true /\ DIRTY (L1 (sta n) (wgof t)) x = false /\
    ready (lock (sta n) x) t = true /\ VALID (L2 (sta n)) x = true end.
Proof.
  intros h a. destruct (acc_act n a) as (b&i&th&A&B&C). pose proof (act_guard h A) as g.
  unfold acc in a. rewrite A in a. unfold instr_guard, clean in g.
  destruct i; try discriminate; injection a as <- <-; auto; apply andb_prop in g as [_ g]; auto;
    repeat (apply andb_prop in g as [g ?]); auto. repeat split; auto.
  destruct (DIRTY (L1 (sta n) (wgof t)) x0); auto; discriminate.
Qed.
(* a look that is of L1: at position n, thread t, location x *)
Definition looks n t x := n < N /\ exists k, acc n = Some (t, k, x) /\ (k = kLD \/ k = k1).
Lemma looks_valid n t x : looks n t x -> VALID (L1 (sta n) (wgof t)) x = true.
Proof. intros (h&k&a&b). pose proof (acc_guard h a). destruct b; subst k; tauto. Qed.
Lemma own_look n t x : looks n t x -> own (At n) -> exists m, m < n /\
  stores_to (wgof t) x m = true /\ word1 n (wgof t) x = (wval m, At m) /\
  forall k, m < k < n -> stores_to (wgof t) x k = false /\ fetch_of (wgof t) x k = false /\
    inv_reaching (wgof t) k = false /\ rmw_at_L2 (wgof t) x k = false.
Proof.
  intros L o. destruct (@valid_goes_back_to (wgof t) x n) as (m&a&b&c). destruct L; lia.
  apply looks_valid; auto. exists m. destruct b as [[b b']|[b _]]; [auto|]. exfalso.
  destruct L as (h&k&A&B). simpl in o. rewrite A in o. assert (Q : exists m, m < n /\
    stores_to (wgof t) x m = true /\ forall k, m < k < n ->
    fetch_of (wgof t) x k = false) by (destruct B; subst k; auto). destruct Q as (m'&q1&q2&q3).
  destruct (Nat.lt_trichotomy m m') as [z|[z|z]]. destruct (c m'); [lia|congruence]. subst m'.
  apply fetch_no_access in b. apply stores_to_iff in q2 as (?&?&q&_). congruence.
  rewrite q3 in b; [discriminate|lia].
Qed.
Lemma fetched_look n t x : looks n t x -> ~ own (At n) -> exists m, m < n /\
  fetch_of (wgof t) x m = true /\ ft (At n) = tm m /\ word1 n (wgof t) x = last_arrived x m /\
  forall k, m < k < n -> stores_to (wgof t) x k = false /\ fetch_of (wgof t) x k = false /\
    inv_reaching (wgof t) k = false /\ rmw_at_L2 (wgof t) x k = false.
Proof.
  intros L o. destruct (@valid_goes_back_to (wgof t) x n) as (m&a&b&c). destruct L; lia.
  apply looks_valid; auto. exists m. destruct L as (h&k&A&B). destruct b as [[b _]|[b b']].
  - exfalso. apply o. simpl. rewrite A. assert (Q : exists m, m < n /\
      stores_to (wgof t) x m = true /\ forall k, m < k < n ->
      fetch_of (wgof t) x k = false) by (exists m; repeat split; auto; intros; apply c; auto).
    destruct B; subst k; auto.
  - repeat split; auto. 2-5: apply c; auto. simpl. rewrite A. rewrite (@last_pos_is _ _ m); auto.
    intros; apply c; auto.
Qed.
Lemma R_cases o : ev o -> isR o -> exists n t x, o = At n /\
  ((looks n t x /\ ~ l2 o) \/ (n < N /\ acc n = Some (t, k2, x) /\ l2 o)) /\ ewg o = wgof t /\
  eloc o = x.
Proof.
  destruct o as [|n]; simpl; [tauto|]. intros [h a].
  destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto]. intro r. exists n, t, x. split; auto.
  split; auto. destruct k; try tauto; left; (split; [|tauto]); split; eauto.
Qed.
Arguments R_cases {o}.
Lemma own_looks o : ev o -> own o -> exists n t x, o = At n /\ looks n t x /\ ~ l2 o /\
  ewg o = wgof t /\ eloc o = x.
Proof.
  destruct o as [|n]; simpl; [tauto|]. intros [h a].
  destruct (acc n) as [[[t k] x]|] eqn:E; [|tauto]. intro r. exists n, t, x. split; auto.
  destruct k; try tauto; (split; [split; eauto|]); split; auto.
Qed.
Arguments own_looks {o}.
Lemma store_event w x m : m < N -> stores_to w x m = true -> ev (At m) /\ isW (At m) /\
  ewg (At m) = w /\ eloc (At m) = x /\ ~ l2 (At m) /\
  arr (At m) = tm (next_pos (flush_of w x) (S m)).
Proof.
  intros h q. apply stores_to_iff in q as (t&k&a&b&<-). simpl. rewrite a.
  destruct b; subst k; repeat split; auto; congruence.
Qed.
Arguments store_event {w x m}.

Lemma rf_looks n t x w : looks n t x -> (rf w (At n) <-> w = snd (word1 n (wgof t) x)).
Proof. intros (h&k&a&b). simpl. rewrite a. destruct b; subst k; tauto. Qed.
Arguments rf_looks {n t x}.
Lemma rf_l2 n t x w : acc n = Some (t, k2, x) -> n < N ->
  (rf w (At n) <-> w = snd (last_arrived x n)).
Proof.
  intros a h. unfold rf. rewrite a. destruct (@l2_inv x n) as [l _]; [lia|].
  pose proof (acc_guard h a) as (_&_&_&g). rewrite l; tauto.
Qed.
Arguments rf_l2 {n t x}.
Lemma fetched_ft p : ev p -> fetched p -> exists n t x m, p = At n /\ looks n t x /\
  ewg p = wgof t /\ eloc p = x /\ m < n /\ fetch_of (wgof t) x m = true /\ ft p = tm m.
Proof.
  intros a (b&c&d). destruct (R_cases a b) as (n&t&x&->&[[L _]|(_&_&l)]&h1&h2); [|tauto].
  destruct (fetched_look L c) as (m&q1&q2&q3&q4&q5). exists n, t, x, m. repeat split; auto; apply L.
Qed.
Arguments fetched_ft {p}.

(** ** The facts *)
Lemma rf_dom w r : ev r -> rf w r -> ev w /\ isW w /\ isR r /\ eloc w = eloc r.
Proof.
  intros a b. assert (R : isR r).
  { destruct r as [|n]; simpl in *; [tauto|]. destruct (acc n) as [[[t []] x]|]; tauto. }
  destruct (R_cases a R) as (n&t&x&->&[[L _]|(h&q&l)]&h1&h2); rewrite h2.
  - apply (rf_looks w L) in b. subst w. assert (n < N) by apply L.
    destruct (@valid_goes_back_to (wgof t) x n) as (m&c&[[d d']|[d d']]&f);
      [lia|apply looks_valid; auto| |]; rewrite d'.
    + simpl snd. assert (m < N) by lia. destruct (store_event H0 d) as (?&?&?&?&?&?). auto.
    + destruct (@last_arrived_max x m) as (?&?&?&?&?); [lia|]. auto.
  - apply (rf_l2 w q h) in b. subst w. destruct (@last_arrived_max x n) as (?&?&?&?&?); [lia|].
    auto.
Qed.
Lemma rf_fun w w' r : rf w r -> rf w' r -> w = w'.
Proof.
  destruct r as [|n]; simpl; [tauto|]. destruct (acc n) as [[[t []] x]|]; try tauto; congruence.
Qed.
Lemma rf_tot r : ev r -> isR r -> exists w, rf w r.
Proof.
  destruct r as [|n]; simpl; [tauto|]. intros _.
  destruct (acc n) as [[[t []] x]|]; try tauto; eauto.
Qed.
(* Facts of a look at L2, ... *)
Lemma look_l2 w' o : ev o -> rf w' o -> l2 o -> arr w' < T o /\ forall w, ev w -> isW w ->
  eloc w = eloc o -> arr w < T o -> mme w w'.
Proof.
  intros a b c. destruct (l2s a c) as (_&R&_).
  destruct (R_cases a R) as (n&t&x&->&[[L l]|(h&q&l)]&h1&h2); [tauto|]. rewrite h2.
  apply (rf_l2 w' q h) in b. subst w'. destruct (@last_arrived_max x n) as (?&?&?&?&?); [lia|].
  auto.
Qed.
Lemma own_W o : ev o -> isW o -> ~ init o -> exists n, o = At n /\ n < N /\
  (stores_to (ewg o) (eloc o) n = true \/ rmw_at_L2 (ewg o) (eloc o) n = true).
Proof.
  intros a b c. destruct (W_arr a b c) as (n&t&x&->&h&[[q r]|(k&q&r&r'&z&z')]); exists n; split;
    auto; split; auto; simpl; rewrite q; auto. right. apply rmw_at_L2_iff. eauto.
Qed.
Arguments own_W {o}.
(* ... of one that finds a store of its own L1, ... *)
Lemma look_own w' o : ev o -> rf w' o -> own o -> ~ l2 o /\ ~ init w' /\ ewg w' = ewg o /\
  ~ l2 w' /\ T w' < T o /\
  (forall w, ev w -> isW w -> ~ init w -> ewg w = ewg o -> eloc w = eloc o -> T w' < T w ->
    ~ T w < T o) /\
  (forall i, inv (ewg o) i -> T w' < i -> ~ i < T o) /\
  (forall p, ev p -> fetched p -> ewg p = ewg o -> eloc p = eloc o -> T w' < ft p -> ~ ft p < T o).
Proof.
  intros a b c. destruct (own_looks a c) as (n&t&x&->&L&l&h1&h2). rewrite h1, h2.
  apply (rf_looks w' L) in b. destruct (own_look L c) as (m&q1&q2&q3&q4). rewrite q3 in b.
  simpl in b. subst w'. assert (n < N) by apply L. assert (hm : m < N) by lia.
  destruct (store_event hm q2) as (z1&z2&z3&z4&z5&z6). split; [auto|]. split; [simpl; auto|].
  split; [auto|]. split; [auto|]. split; [simpl; unfold tm; lia|]. split; [|split].
  - intros w w1 w2 w3 w4 w5 w6 w7. destruct (own_W w1 w2 w3) as (j&->&j1&j2). rewrite w4, w5 in j2.
    unfold T, tm in *. destruct (q4 j) as (?&?&?&?); [lia|]. destruct j2; congruence.
  - intros i (j&j1&->&j2) i1 i2. unfold T, tm in *. destruct (q4 j) as (?&?&?&?); [lia|].
    congruence.
  - intros p p1 p2 p3 p4 p5 p6. destruct (fetched_ft p1 p2) as (n'&t'&x'&j&->&L'&g1&g2&g3&g4&g5).
    rewrite g5 in p5, p6. rewrite g1 in p3. rewrite g2 in p4. subst x'. rewrite p3 in g4.
    unfold T, tm in *. destruct (q4 j) as (?&?&?&?); [lia|]. congruence.
Qed.
(* ... and of one that finds what was fetched. *)
Lemma look_ft w' o : ev o -> rf w' o -> fetched o -> 0 < ft o /\ ft o < T o /\ arr w' < ft o /\
  (forall w, ev w -> isW w -> eloc w = eloc o -> arr w < ft o -> mme w w') /\
  (forall w, ev w -> isW w -> ~ init w -> ewg w = ewg o -> eloc w = eloc o -> T w < T o ->
    arr w < ft o) /\
  (forall i, inv (ewg o) i -> ft o < i -> ~ i < T o) /\
  (forall p, ev p -> fetched p -> ewg p = ewg o -> eloc p = eloc o -> ft p < T o -> ft p <= ft o).
Proof.
  intros a b (c1&c2&c3). destruct (R_cases a c1) as (n&t&x&->&[[L _]|(_&_&?)]&h1&h2); [|tauto].
  rewrite h1, h2. apply (rf_looks w' L) in b. destruct (fetched_look L c2) as (m&q1&q2&q5&q3&q4).
  rewrite q3 in b. subst w'. assert (n < N) by apply L.
  destruct (@last_arrived_max x m) as (z1&z2&z3&z4&z5); [lia|]. rewrite q5.
  split; [unfold tm; lia|]. split; [simpl; unfold tm; lia|]. split; [auto|]. split; [auto|].
  split; [|split].
  - intros w w1 w2 w3 w4 w5 w6. destruct (W_arr w1 w2 w3) as (j&u&y&->&hj&D). simpl in w6.
    assert (j < m).
    { destruct (own_W w1 w2 w3) as (j'&[= <-]&_&j2). rewrite w4, w5 in j2.
      destruct (Nat.lt_trichotomy j m) as [z|[z|z]]; auto.
      - subst j. apply fetch_no_access in q2. destruct D as [[D _]|(k&D&_)]; congruence.
      - destruct (q4 j) as (?&?&?&?); [unfold tm in *; lia|]. destruct j2; congruence. }
    destruct D as [[q r]|(k&q&r&r'&z&z')]; [rewrite r; unfold tm; lia|]. rewrite z. simpl in w4, w5.
    rewrite q in w4, w5. rewrite w4, w5 in *.
    enough (next_pos (flush_of (wgof t) x) (S j) < m) by (unfold tm; lia).
    apply clean_arr; auto; [|lia]. apply fetch_clean; auto; lia.
  - intros i (j&j1&->&j2) i1 i2. unfold T, tm in *. destruct (q4 j) as (?&?&?&?); [lia|].
    congruence.
  - intros p p1 p2 p3 p4 p5. destruct (fetched_ft p1 p2) as (n'&t'&x'&j&->&L'&g1&g2&g3&g4&g5).
    rewrite g5 in *. rewrite g1 in p3. rewrite g2 in p4. subst x'. rewrite p3 in g4.
    destruct (Nat.le_gt_cases j m) as [z|z]; [unfold tm; lia|].
    destruct (q4 j) as (?&?&?&?); [unfold T, tm in *; lia|]. congruence.
Qed.
(* Writes of one work-group to one location arrive in order. *)
Lemma order o p : ev o -> ev p -> isW o -> isW p -> ~ init o -> ~ init p -> ewg o = ewg p ->
  eloc o = eloc p -> T o < T p -> arr o <= arr p /\ (l2 p -> arr o < arr p).
Proof.
  intros a b c d f g h i j. destruct (W_arr a c f) as (n&t&x&->&hn&D).
  destruct (W_arr b d g) as (m&u&y&->&hm&D'). assert (n < m) by (unfold T, tm in j; lia).
  destruct D as [[q r]|(k&q&r&r'&z&z')]; destruct D' as [[q' s']|(k'&q'&s'&s2&y1&y2)];
    simpl in h, i; rewrite q, q' in h, i; subst.
  - rewrite r, s'. unfold tm. split; intros; lia.
  - rewrite r, y1. unfold tm. split; intros; lia.
  - rewrite z, s'. rewrite h in *. assert (next_pos (flush_of (wgof u) y) (S n) < m).
    { apply clean_arr; auto; [|lia]. apply (acc_guard hm q'). }
    unfold tm. split; intros; lia.
  - rewrite z, y1. rewrite h in *. split; [|simpl; rewrite q'; destruct s'; subst k'; tauto].
    assert (next_pos (flush_of (wgof u) y) (S n) <= next_pos (flush_of (wgof u) y) (S m));
      [|unfold tm; lia]. apply next_pos_le; try lia. apply (store_arrives s2 hm).
Qed.
(* What arrives together is of one work-group. *)
Lemma dist o p : ev o -> ev p -> isW o -> isW p -> o <> p -> eloc o = eloc p -> arr o = arr p ->
  ewg o = ewg p /\ ~ init o /\ ~ init p /\ ~ l2 o /\ ~ l2 p.
Proof.
  intros a b c d f g h. destruct (arr_mul a c) as [[z i]|(n&n1&n2)].
  - rewrite z in h. assert (i' : init p) by (apply ini_arr; auto; lia).
    destruct o, p; simpl in *; try tauto. congruence.
  - destruct (arr_mul b d) as [[z i]|(m&m1&m2)]; [unfold tm in *; lia|].
    assert (n = m) by (unfold tm in *; lia). subst m. destruct (arr_at n a c n1) as
      [[-> q]|(k&->&k1&kk&k3&k4)]; destruct (arr_at n b d m1) as [[-> q']|(k'&->&k1'&kk'&k3'&k4')];
      try congruence.
    + apply rmw_of_iff in q as (t&q). apply acc_I in q. congruence.
    + apply rmw_of_iff in q' as (t&q). apply acc_I in q. congruence.
    + assert (n < N) by lia. assert (hk : k < N) by lia. assert (hk' : k' < N) by lia.
      destruct (store_event hk kk) as (?&?&?&?&?&?).
      destruct (store_event hk' kk') as (?&?&?&?&?&?). repeat split; auto. congruence.
Qed.

End Events_.
Arguments store_arrives {RUN w x j}.
Arguments W_arr {RUN o}.
Arguments l2s {RUN o}.
Arguments arr_at {RUN w}.
Arguments arr_mul {RUN w}.
Arguments R_cases {RUN o}.
Arguments own_looks {RUN o}.
Arguments store_event {RUN w x m}.
Arguments rf_looks {RUN n t x}.
Arguments rf_l2 {RUN n t x}.
Arguments fetched_ft {RUN p}.
Arguments own_W {RUN o}.
