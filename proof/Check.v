(** * [check] is proved right: where it is true of a table, SYNC and ATOM hold of its runs *)
Require Import List Arith Lia Bool Classical Thm1 Refuter Fig2 Views.
Require Export Obligations.
Import ListNotations.
Set Implicit Arguments.

Lemma in_places_of f cs : forall i j, In j (places_of f cs i) -> exists k, j = i + k /\ exists c,
  nth_error cs k = Some c /\ f c = true.
Proof.
  induction cs as [|c cs IH]; simpl; intros i j h; [tauto|]. assert (R : In j (places_of f cs (S i))
    -> exists k, j = i + k /\ exists c', nth_error (c :: cs) k = Some c' /\ f c' = true).
  { intro q. destruct (IH _ _ q) as (k&->&c'&h1&h2). exists (S k). split; [lia|]. exists c'. auto. }
  destruct (f c) eqn:e; auto. destruct h as [<-|h]; auto. exists 0. split; [lia|]. exists c; auto.
Qed.
Section Val.
Variables sT eT aT xT : bool -> nat.
Variable yT : nat.
Variables tT lT : bool -> nat -> nat.
Definition moment n := match n with 0 => sT false | 1 => sT true | 2 => eT false | 3 =>
  eT true | 4 =>
  aT false | 5 => aT true | 6 => xT false | 7 => xT true | 8 => yT
  | S (S (S (S (S (S (S (S (S m)))))))) => let i := m / 4 in match m mod 4 with 0 =>
    tT false i | 1 => tT true i | 2 => lT false i | _ => lT true i end end.
Lemma val_S o : moment (at_start o) = sT o. Proof. destruct o; auto. Qed.
Lemma val_E o : moment (at_end o) = eT o. Proof. destruct o; auto. Qed.
Lemma val_A o : moment (at_arrival o) = aT o. Proof. destruct o; auto. Qed.
Lemma val_X o : moment (at_look o) = xT o. Proof. destruct o; auto. Qed.
Lemma div_mod_4 i k : k < 4 -> (i * 4 + k) / 4 = i /\ (i * 4 + k) mod 4 = k.
Proof.
  intro h. split. rewrite Nat.div_add_l, Nat.div_small; lia.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small; lia.
Qed.
Lemma val_T o i : moment (at_instr o i) = tT o i.
Proof.
  unfold at_instr, moment. cbn [Nat.add].
  destruct (@div_mod_4 i (second o)) as [h1 h2]; [destruct o; simpl; lia|]. rewrite h1, h2.
  destruct o; auto.
Qed.
Lemma val_L o i : moment (at_left o i) = lT o i.
Proof.
  unfold at_left, moment. change (9 + (i * 4 + (2 + second o))) with
    (S (S (S (S (S (S (S (S (S (i * 4 + (2 + second o))))))))))).
  destruct (@div_mod_4 i (2 + second o)) as [h1 h2]; [destruct o; simpl; lia|]. cbv zeta.
  rewrite h1, h2. destruct o; auto.
Qed.
Definition mark_time o m := match m with Instr i => tT o i | ToEnd => eT o end.
Lemma val_M o m : moment (at_mark o m) = mark_time o m.
Proof. destruct m; simpl. apply val_T. apply val_E. Qed.
Fixpoint ordered (t l : nat -> nat) e cs i prev := match cs with [] => prev < e
  | c :: cs => prev < t i /\ match c with Flu _ => t i < l i /\ ordered t l e cs (S i) (l i) | _ =>
    ordered t l e cs (S i) (t i) end end.
Ltac hv := unfold holds; rewrite ?val_S, ?val_E, ?val_A, ?val_X, ?val_T, ?val_L, ?val_M.
Lemma code_order_holds o cs : forall i prev, ordered (tT o) (lT o) (eT o) cs i (moment prev) ->
  forall l,
  In l (code_order o cs i prev) -> holds moment l.
Proof.
  induction cs as [|c cs IH]; simpl; intros i prev h l.
  - intros [<-|[]]. hv. auto.
  - destruct h as [h1 h2]. intros [<-|h]; [hv; auto|].
    destruct c; try (apply (IH (S i) (at_instr o i)); auto; rewrite val_T; auto; fail).
    destruct h2 as [h2 h3]. destruct h as [<-|h]; [hv; auto|]. apply (IH (S i) (at_left o i)); auto.
    rewrite val_L; auto.
Qed.
End Val.

Lemma check_pairs tb b c : check tb = true -> In b tb -> In c tb ->
  check_pair (bracketed_rmw tb) (bracketed_L2 tb) b c = true.
Proof.
  unfold check. rewrite andb_true_iff. intros [_ H] h1 h2. rewrite forallb_forall in H.
  specialize (H _ h1). cbv beta in H. rewrite forallb_forall in H. auto.
Qed.
Lemma check_pair_spec lr lx b c : check_pair lr lx b c = true -> atomic b = true ->
  atomic c = true -> incl_rows b c = true -> writes b = true ->
  (reads c = true -> sync_ok lr lx b c = true) /\ (isrmw c = true -> atom_ok lr lx b c = true).
Proof.
  unfold check_pair. generalize (sync_ok lr lx b c) (atom_ok lr lx b c) (reads c) (isrmw c).
  intros x y z w H h1 h2 h3 h4. rewrite h1, h2, h3, h4 in H. destruct x, y, z, w; auto.
Qed.

Global Opaque contra.
Section Run.
Variables M L G : Type.
Variable tbl : table.
Variable loc : M -> L.
Variables isW isR at_ init l2 own : M -> Prop.
Variable incl rf_run : M -> M -> Prop.
Variables T s e arr ft : M -> nat.
Variables t left : M -> nat -> nat.
Variable wg : M -> G.
Variable inv : G -> nat -> Prop.
Variable rw : M -> row.
Notation fetched := (Views.fetched isR l2 own).
Notation mme := (Views.mme loc isW T arr).
Notation mm := (Views.mm loc isW T arr).
Definition tmark o m := match m with Instr i => t o i | ToEnd => e o end.
(* operations and rows *)
Hypothesis h_row : forall o, ~ init o -> In (rw o) tbl.
Hypothesis h_writes : forall o, ~ init o -> (isW o <-> writes (rw o) = true).
Hypothesis h_reads : forall o, ~ init o -> (isR o <-> reads (rw o) = true).
Hypothesis h_at : forall o, at_ o -> ~ init o /\ atomic (rw o) = true.
Hypothesis h_l2 : forall o, ~ init o -> (l2 o <-> inc2 (rw o) = true).
Hypothesis h_incl : forall b c, at_ b -> at_ c -> incl b c -> wg b <> wg c ->
  incl_rows (rw b) (rw c) = true.
(* the code runs in order, a Flu's markers have left before the next instruction;
   T is the time of the access *)
Hypothesis h_seq : forall o, ~ init o -> ordered (t o) (left o) (e o) (code (rw o)) 0 (s o).
Hypothesis h_T : forall o, ~ init o -> T o = t o (pos (rw o)).
Hypothesis h_flu : forall o i r w, ~ init o -> nth_error (code (rw o)) i = Some (Flu r) -> isW w ->
  ~ init w -> wg w = wg o \/ r = to_DV -> T w < t o i -> arr w < left o i.
Hypothesis h_inv : forall o i r g, ~ init o -> nth_error (code (rw o)) i = Some (Inv r) ->
  g = wg o \/ r = to_DV -> inv g (t o i).
(* locks, if nobody frees what he does not hold *)
Hypothesis h_rmw : bracketed_rmw tbl = true -> forall o p f u, ~ init o -> ~ init p ->
  wg o <> wg p -> In (f, u) (rmw_intervals (rw o)) ->
  (forall f' u', In (f', u') (rmw_intervals (rw p)) -> tmark o u <= t p f' \/
    tmark p u' <= t o f) /\
    (inc (rw p) = true -> T p <= t o f \/ tmark o u <= T p).
Hypothesis h_L2 : bracketed_L2 tbl = true -> forall o p f u, ~ init o -> ~ init p -> wg o <> wg p ->
  loc o = loc p -> In (f, u) (L2_intervals (rw o)) ->
  (forall f' u', In (f', u') (L2_intervals (rw p)) -> tmark o u <= t p f' \/ tmark p u' <= t o f) /\
  (isW p -> arr p <= t o f \/ tmark o u <= arr p) /\
    (fetched p -> ft p <= t o f \/ tmark o u <= ft p).
(* from Views.v *)
Hypothesis inits : forall o, init o -> isW o /\ ~ isR o /\ ~ l2 o /\ T o = 0 /\ arr o = 0.
Hypothesis l2s : forall o, l2 o -> isW o /\ isR o /\ arr o = T o.
Hypothesis arrs : forall o, isW o -> ~ init o -> ~ l2 o -> T o < arr o.
Hypothesis dist : forall o p, isW o -> isW p -> o <> p -> loc o = loc p -> arr o = arr p ->
  wg o = wg p /\ ~ init o /\ ~ init p /\ ~ l2 o /\ ~ l2 p.
Hypothesis order : forall o p, isW o -> isW p -> ~ init o -> ~ init p -> wg o = wg p ->
  loc o = loc p -> T o < T p -> arr o <= arr p /\ (l2 p -> arr o < arr p).
Hypothesis merge : forall o p, isW o -> isW p -> ~ init o -> ~ init p -> ~ l2 o -> ~ l2 p ->
  wg o = wg p -> loc o = loc p -> T o < T p -> T p < arr o -> arr o = arr p.
Hypothesis rf_dom : forall w r, rf_run w r -> isW w /\ isR r /\ loc w = loc r.
Hypothesis rf_tot : forall r, isR r -> exists w, rf_run w r.
Hypothesis look_l2 : forall w' o, rf_run w' o -> l2 o -> arr w' < T o /\ forall w, isW w ->
  loc w = loc o -> arr w < T o -> mme w w'.
Hypothesis look_own : forall w' o, rf_run w' o -> own o -> ~ l2 o /\ ~ init w' /\ wg w' = wg o /\
  ~ l2 w' /\ T w' < T o /\
  (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w' < T w -> ~ T w < T o) /\
  (forall i, inv (wg o) i -> T w' < i -> ~ i < T o) /\
  (forall p, fetched p -> wg p = wg o -> loc p = loc o -> T w' < ft p -> ~ ft p < T o).
Hypothesis look_ft : forall w' o, rf_run w' o -> fetched o -> 0 < ft o /\ ft o < T o /\
  arr w' < ft o /\
  (forall w, isW w -> loc w = loc o -> arr w < ft o -> mme w w') /\
  (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w < T o -> arr w < ft o) /\
  (forall i, inv (wg o) i -> ft o < i -> ~ i < T o) /\
  (forall p, fetched p -> wg p = wg o -> loc p = loc o -> ft p < T o -> ft p <= ft o).
Hypothesis CHECK : check tbl = true.

Section Pair.
Variables b c : M.
Hypothesis nb : ~ init b.
Hypothesis nc : ~ init c.
Hypothesis ne : wg b <> wg c.
Hypothesis bw : isW b.
Hypothesis lbc : loc b = loc c.
Variable xT : bool -> nat.
Variable yT : nat.
Let of (o : bool) := if o then c else b.
Let v := moment (fun o => s (of o)) (fun o => e (of o)) (fun o => arr (of o)) xT yT (fun o =>
  t (of o)) (fun o => left (of o)).
Notation lr := (bracketed_rmw tbl).
Notation lx := (bracketed_L2 tbl).
Let Rb := rw b.
Let Rc := rw c.
Lemma v_T o i : v (at_instr o i) = t (of o) i. Proof. unfold v. apply val_T. Qed.
Lemma v_L o i : v (at_left o i) = left (of o) i. Proof. unfold v. apply val_L. Qed.
Lemma v_M o m : v (at_mark o m) = tmark (of o) m.
Proof. unfold v. rewrite val_M. destruct m; auto. Qed.
Lemma v_S o : v (at_start o) = s (of o). Proof. unfold v. apply val_S. Qed.
Lemma v_E o : v (at_end o) = e (of o). Proof. unfold v. apply val_E. Qed.
Lemma v_A o : v (at_arrival o) = arr (of o). Proof. unfold v. apply val_A. Qed.
Lemma v_X o : v (at_look o) = xT o. Proof. unfold v. apply val_X. Qed.
Lemma v_Y : v at_agreement = yT. Proof. reflexivity. Qed.
Lemma v_acc o : v (at_instr o (pos (rw (of o)))) = T (of o).
Proof. rewrite v_T. symmetry. apply h_T. destruct o; auto. Qed.
Lemma v_b : v (at_instr false (pos Rb)) = T b. Proof. exact (v_acc false). Qed.
Lemma v_c : v (at_instr true (pos Rc)) = T c. Proof. exact (v_acc true). Qed.
Lemma ni o : ~ init (of o). Proof. destruct o; auto. Qed.
Hint Rewrite v_T v_L v_M v_S v_E v_A v_X : V.
Ltac hh := cbv beta iota delta [holds].

Lemma arrival_facts_hold o l : In l (arrival_facts o (rw (of o))) -> holds v l.
Proof.
  pose proof (@ni o) as n. unfold arrival_facts. destruct (writes (rw (of o))) eqn:w; [|intros []].
  assert (W : isW (of o)) by (apply h_writes; auto). destruct (inc2 (rw (of o))) eqn:i2.
  - assert (l2 (of o)) as H by (apply h_l2; auto). apply l2s in H. destruct H as (_&_&H).
    intros [<-|[<-|[]]]; hh; rewrite v_A, v_acc; lia.
  - intros [<-|[]]. hh. rewrite v_A, v_acc. apply arrs; auto. intro H. apply h_l2 in H; auto.
    congruence.
Qed.
Lemma pair_facts_hold l : In l (fst (pair_facts lr lx Rb Rc)) -> holds v l.
Proof.
  unfold pair_facts. cbn [fst]. rewrite !in_app_iff. intros [h|[h|[h|h]]].
  - revert h. apply code_order_holds. fold v. rewrite v_S. apply (h_seq nb).
  - revert h. apply code_order_holds. fold v. rewrite v_S. apply (h_seq nc).
  - exact (@arrival_facts_hold false l h).
  - exact (@arrival_facts_hold true l h).
Qed.
Lemma outside_holds p o h : v p <= t (of o) (fst h) \/ tmark (of o) (snd h) <= v p ->
  sat v (outside p o h).
Proof.
  intros [q|q]; [exists (p, false, at_instr o (fst h))|exists (at_mark o (snd h), false, p)];
    (split; [simpl; auto|]); hh; autorewrite with V; auto.
Qed.
Lemma exclusive_holds h h' : tmark b (snd h) <= t c (fst h') \/ tmark c (snd h') <= t b (fst h) ->
  sat v (exclusive h h').
Proof.
  intros [q|q]; [exists (at_mark false (snd h), false,
    at_instr true (fst h'))|exists (at_mark true (snd h'), false, at_instr false (fst h))];
    (split; [simpl; auto|]); hh; autorewrite with V; auto.
Qed.
Lemma lock_clauses_hold cl : In cl (snd (pair_facts lr lx Rb Rc)) -> sat v cl.
Proof.
  unfold pair_facts. cbn [snd]. unfold lock_clauses. rewrite in_app_iff. intros [h|h].
  - destruct lr eqn:L0; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + apply in_flat_map in h. destruct h as ([f u]&h1&h2). apply in_map_iff in h2.
      destruct h2 as ([f' u']&<-&h2). destruct (h_rmw eq_refl (o := b) (p := c) f u) as [q _]; auto.
      apply exclusive_holds. simpl. auto.
    + destruct (inc Rc) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_c. simpl.
      destruct (h_rmw eq_refl (o := b) (p := c) f u) as [_ q]; auto.
    + destruct (inc Rb) eqn:ib; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_b. simpl.
      destruct (h_rmw eq_refl (o := c) (p := b) f u) as [_ q]; auto.
  - destruct lx eqn:L0; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + apply in_flat_map in h. destruct h as ([f u]&h1&h2). apply in_map_iff in h2.
      destruct h2 as ([f' u']&<-&h2). destruct (h_L2 eq_refl (o := b) (p := c) f u) as [q _]; auto.
      apply exclusive_holds. simpl. auto.
    + destruct (writes Rc) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_A. simpl.
      destruct (h_L2 eq_refl (o := b) (p := c) f u) as [_ [q _]]; auto. apply q.
      apply h_writes; auto.
    + destruct (writes Rb) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_A. simpl.
      destruct (h_L2 eq_refl (o := c) (p := b) f u) as [_ [q _]]; auto.
Qed.
Lemma in_flush_points o own0 p : In p (flush_points o (rw (of o)) own0) -> exists i r,
  p = (at_instr o i, at_left o i) /\
  nth_error (code (rw (of o))) i = Some (Flu r) /\ (own0 = true \/ r = to_DV).
Proof.
  unfold flush_points, pts. intro h. apply in_map_iff in h. destruct h as (j&<-&h).
  apply in_places_of in h. destruct h as (k&->&x&h1&h2). destruct x; simpl in h2; try discriminate.
  exists k, r. split; auto. split; auto. destruct r; auto.
Qed.
Lemma in_inv_points o own0 p : In p (inv_points o (rw (of o)) own0) -> exists i r,
  p = at_instr o i /\
  nth_error (code (rw (of o))) i = Some (Inv r) /\ (own0 = true \/ r = to_DV).
Proof.
  unfold inv_points. intro h. apply in_map_iff in h. destruct h as (j&<-&h).
  apply in_places_of in h. destruct h as (k&->&x&h1&h2). destruct x; simpl in h2; try discriminate.
  exists k, r. split; auto. split; auto. destruct r; auto.
Qed.
(* p: a Flu that reaches work-group g; j: an Inv that does *)
Definition drains g (p : nat * nat) := forall w, isW w -> ~ init w -> wg w = g -> T w < v (fst p) ->
  arr w < v (snd p).
Lemma flushes_of_first p : In p (flush_points false Rb true ++ flush_points true Rc false) ->
  drains (wg b) p.
Proof.
  intros h w w1 w2 w3. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@in_flush_points false _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd.
    rewrite v_T, v_L. simpl of in *. eapply h_flu; eauto.
  - destruct (@in_flush_points true _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd.
    rewrite v_T, v_L. simpl of in *. eapply h_flu; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma flushes_of_second p : In p (flush_points true Rc true ++ flush_points false Rb false) ->
  drains (wg c) p.
Proof.
  intros h w w1 w2 w3. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@in_flush_points true _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd.
    rewrite v_T, v_L. simpl of in *. eapply h_flu; eauto.
  - destruct (@in_flush_points false _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd.
    rewrite v_T, v_L. simpl of in *. eapply h_flu; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma invs_of_second j : In j (inv_points true Rc true ++ inv_points false Rb false) ->
  inv (wg c) (v j).
Proof.
  intro h. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@in_inv_points true _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto.
  - destruct (@in_inv_points false _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma drained_holds pw pa fl w : (forall p, In p fl -> drains (wg w) p) -> isW w -> ~ init w ->
  v pw = T w -> v pa = arr w -> forall cl, In cl (drained pw pa fl) -> sat v cl.
Proof.
  intros H w1 w2 w3 w4 cl h. apply in_map_iff in h. destruct h as (p&<-&h).
  destruct (le_lt_dec (v (fst p)) (v pw)) as [q|q].
  - exists (fst p, false, pw). split; simpl; auto.
  - exists (pa, true, snd p). split; simpl; auto. rewrite w4. apply (H p); auto. congruence.
Qed.
Notation carries := (Views.carries isW init T arr wg inv).
Lemma pair_ok : atomic Rb = true -> atomic Rc = true -> incl_rows Rb Rc = true ->
  writes Rb = true ->
  (reads Rc = true -> sync_ok lr lx Rb Rc = true) /\
    (isrmw Rc = true -> atom_ok lr lx Rb Rc = true).
Proof.
  intros h1 h2 h3 h4. apply check_pair_spec; auto. apply check_pairs; auto. apply h_row; auto.
  apply h_row; auto.
Qed.
Lemma SYNC_of_pair : (forall o, xT o = xT false) -> arr b < xT false -> xT false <= T c ->
  (inc2 Rc = true -> xT false = T c) ->
  (lx = true -> forall f u, In (f, u) (L2_intervals Rb) -> xT false <= t b f \/
    tmark b u <= xT false) ->
    sync_ok lr lx Rb Rc = true -> carries (wg b) (s b) (wg c) (e c).
Proof.
  intros _ g1 g2 g3 g4 K. apply NNPP. intro N. change (contra (size Rb Rc)
    ((at_arrival false, true, at_look false) :: (at_look false, false,
    at_instr true (pos Rc)) :: (if inc2 Rc then [(at_instr true (pos Rc), false, at_look false)]
    else []) ++ fst (pair_facts lr lx Rb Rc)) (snd (pair_facts lr lx Rb Rc) ++
    (if lx then map (outside (at_look false) false) (L2_intervals Rb) else []) ++ drained
    (at_instr false (pos Rb)) (at_arrival false)
    (flush_points false Rb true ++ flush_points true Rc false) ++ flat_map (fun j =>
    map (fun q => [(at_end true, false, j); (j, true, at_start false);
    (fst q, true, at_start false); (j, true, snd q)])
    (flush_points false Rb true ++ flush_points true Rc false))
    (inv_points true Rc true ++ inv_points false Rb false)) = true) in K.
  apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]].
    + hh. autorewrite with V. auto.
    + hh. rewrite v_X, v_c. auto.
    + apply in_app_iff in h. destruct h as [h|h]; [|apply pair_facts_hold; auto].
      destruct (inc2 Rc) eqn:q; [|destruct h]. destruct h as [<-|[]]. hh.
      rewrite v_X, v_c, g3; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]].
    + apply lock_clauses_hold; auto.
    + destruct lx; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_X. simpl. auto.
    + revert cl h. apply (@drained_holds _ _ _ b); [apply flushes_of_first|auto|auto|apply v_b|apply
        (v_A false)].
    + apply in_flat_map in h. destruct h as (j&hj&h). apply in_map_iff in h.
      destruct h as (q&<-&hq). destruct (le_lt_dec (v (at_end true)) (v j)) as [q1|q1].
      { exists (at_end true, false, j). split; [simpl; auto|exact q1]. }
      destruct (le_lt_dec (v (at_start false)) (v j)) as [q2|q2].
      2:{ exists (j, true, at_start false). split; [simpl; auto|exact q2]. }
      destruct (le_lt_dec (v (at_start false)) (v (fst q))) as [q3|q3].
      2:{ exists (fst q, true, at_start false). split; [simpl; auto|exact q3]. }
      destruct (le_lt_dec (v (snd q)) (v j)) as [q4|q4].
      2:{ exists (j, true, snd q). split; [simpl; auto|exact q4]. }
      exfalso. apply N. exists (v j). split; [apply invs_of_second; auto|]. rewrite v_E in q1.
      rewrite v_S in q2, q3. simpl of in *. split; auto. intros x (x1&x2).
      destruct (classic (init x)) as [i|i]; auto. right.
      destruct x2 as [x2|[x2|[x2 x3]]]; [tauto|lia|]. pose proof (@flushes_of_first q hq x x1 i x2).
      lia.
Qed.
Hypothesis GB : inc1 Rb = true -> yT <= T b /\
  (lx = true -> forall f u, In (f, u) (L2_intervals Rc) -> yT <= t c f \/ tmark c u <= yT) /\
  (forall i, inv (wg b) i -> yT < i -> ~ i < T b).
Lemma atom_facts l : isW c -> arr b < arr c -> In l (fst (atom_base lr lx Rb Rc)) -> holds v l.
Proof.
  intros cw m. change (In l ((at_arrival false, true, at_arrival true) :: agreement_facts Rb ++ fst
    (pair_facts lr lx Rb Rc)) -> holds v l). intros [<-|h]; [hh; autorewrite with V; auto|].
  apply in_app_iff in h. destruct h as [h|h]; [|apply pair_facts_hold; auto].
  unfold agreement_facts in h. destruct (inc1 Rb) eqn:i1; [|destruct h]. destruct h as [<-|[]]. hh.
  rewrite v_Y, v_b. apply GB; auto.
Qed.
Lemma invs_of_first j : In j (inv_points false Rb true ++ inv_points true Rc false) ->
  inv (wg b) (v j).
Proof.
  intro h. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@in_inv_points false _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto.
  - destruct (@in_inv_points true _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma agreement_holds cl : In cl (agreement_clauses lx Rb Rc) -> sat v cl.
Proof.
  unfold agreement_clauses. destruct (inc1 Rb) eqn:i1; [|intros []].
  destruct (GB eq_refl) as (g1&g2&g3). rewrite in_app_iff. intros [h|h].
  - destruct lx; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
    apply outside_holds. rewrite v_Y. simpl. auto.
  - apply in_map_iff in h. destruct h as (i&<-&h). apply invs_of_first in h.
    destruct (le_lt_dec (v i) (v at_agreement)) as [q|q].
    + exists (i, false, at_agreement). split; [simpl; auto|exact q].
    + exists (at_instr false (pos Rb), false, i). split; [simpl; auto|]. hh. rewrite v_b.
      rewrite v_Y in q. specialize (g3 _ h q). lia.
Qed.
Lemma atom_clauses cl : isW c -> In cl (snd (atom_base lr lx Rb Rc)) -> sat v cl.
Proof.
  intro cw. change (In cl (agreement_clauses lx Rb Rc ++ snd (pair_facts lr lx Rb Rc) ++ drained
    (at_instr false (pos Rb)) (at_arrival false)
    (flush_points false Rb true ++ flush_points true Rc false) ++ drained (at_instr true (pos Rc))
    (at_arrival true) (flush_points true Rc true ++ flush_points false Rb false)) -> sat v cl).
  rewrite in_app_iff. intros [h|h]; [apply agreement_holds; auto|]. rewrite !in_app_iff in h.
  destruct h as [h|[h|h]].
  - apply lock_clauses_hold; auto.
  - revert cl h.
    apply (@drained_holds _ _ _ b); [apply flushes_of_first|auto|auto|apply v_b|apply (v_A false)].
  - revert cl h.
    apply (@drained_holds _ _ _ c); [apply flushes_of_second|auto|auto|apply v_c|apply (v_A true)].
Qed.
Lemma no_inv_between x y cl : (forall i, inv (wg c) i -> v x < i -> ~ i < v y) ->
  In cl (map (fun i => [(i, false, x); (y, false, i)])
    (inv_points true Rc true ++ inv_points false Rb false))
  -> sat v cl.
Proof.
  intros H h. apply in_map_iff in h. destruct h as (i&<-&h). apply invs_of_second in h.
  destruct (le_lt_dec (v i) (v x)) as [q|q].
  - exists (i, false, x). split; [simpl; auto|exact q].
  - exists (y, false, i). split; [simpl; auto|]. hh. specialize (H _ h q). lia.
Qed.
Lemma ATOM_own_store w : isW c -> arr b < arr c -> xT false = T w -> xT true = arr w -> isW w ->
  ~ init w -> ~ l2 w -> wg w = wg c -> loc w = loc c -> ~ l2 c -> T w < T c -> arr w <= arr c ->
  (forall i, inv (wg c) i -> T w < i -> ~ i < T c) -> atom_own lr lx Rb Rc = true -> arr b < arr w.
Proof.
  intros cw m x1 x2 ww nw lw gw ll lc t1 t2 I K. apply NNPP. intro N. assert (AW : arr w <= T c).
  { destruct (le_lt_dec (arr w) (T c)) as [h|h]; auto.
    pose proof (merge ww cw nw nc lw lc gw ll t1 h). lia. }
  change (contra (size Rb Rc) ((at_look false, true, at_instr true (pos Rc)) :: (at_look true,
    false, at_arrival true) :: (at_look false, true, at_look true) :: (at_look true, false,
    at_arrival false) :: (at_look true, false, at_instr true (pos Rc)) :: fst
    (atom_base lr lx Rb Rc)) (snd (atom_base lr lx Rb Rc) ++
    (if lx then map (outside (at_look true) false) (L2_intervals Rb) else []) ++ drained
    (at_look false) (at_look true) (flush_points true Rc true ++ flush_points false Rb false) ++ map
    (fun i => [(i, false, at_look false); (at_instr true (pos Rc), false, i)])
    (inv_points true Rc true ++ inv_points false Rb false)) = true) in K.
  apply (@contra_sound v _ _ _ K).
  - pose proof (arrs ww nw lw).
    intros l [<-|[<-|[<-|[<-|[<-|h]]]]]; try (hh; rewrite ?v_X, ?v_c, ?v_A; simpl of; lia).
    apply atom_facts; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]].
    + apply atom_clauses; auto.
    + destruct lx eqn:L0; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_X, x2. simpl.
      destruct (h_L2 eq_refl (o := b) (p := w) f u) as (_&q&_); auto; congruence.
    + revert cl h. apply (@drained_holds _ _ _ w); [rewrite gw;
        apply flushes_of_second|auto|auto|rewrite v_X; auto|rewrite v_X; auto].
    + revert h. apply no_inv_between. rewrite v_X, v_c, x1. auto.
Qed.
Lemma ATOM_fetch : isW c -> arr b < arr c -> xT false = ft c -> ft c < T c -> fetched c ->
  (forall i, inv (wg c) i -> ft c < i -> ~ i < T c) -> atom_ft lr lx Rb Rc = true -> arr b < ft c.
Proof.
  intros cw m x1 t1 F I K. apply NNPP. intro N. change (contra (size Rb Rc)
    ((at_look false, true, at_instr true (pos Rc)) :: (at_look false, false,
    at_arrival false) :: fst (atom_base lr lx Rb Rc))
    (snd (atom_base lr lx Rb Rc) ++ (if lx then map (outside (at_look false) false)
    (L2_intervals Rb) else []) ++ map (fun i => [(i, false, at_look false);
    (at_instr true (pos Rc), false, i)]) (inv_points true Rc true ++ inv_points false Rb false)) =
    true) in K. apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]]; try (hh; rewrite ?v_X, ?v_c, ?v_A; simpl of; lia). apply atom_facts; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|h]].
    + apply atom_clauses; auto.
    + destruct lx eqn:L0; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply outside_holds. rewrite v_X, x1. simpl.
      destruct (h_L2 eq_refl (o := b) (p := c) f u) as (_&_&q); auto.
    + revert h. apply no_inv_between. rewrite v_X, v_c, x1. auto.
Qed.
End Pair.

(* [check] shows SYNC, ... *)
Theorem SYNC_ok : forall b c r, isW b -> at_ b -> isR c -> at_ c -> incl b c -> wg b <> wg c ->
  loc b = loc c ->
  isR r -> wg r = wg c -> loc r = loc c -> T r <= T c ->
    (l2 r /\ arr b < T r \/ fetched r /\ arr b < ft r) -> (l2 c -> r = c) ->
  Views.carries isW init T arr wg inv (wg b) (s b) (wg c) (e c).
Proof.
  intros b c r bw ab cr ac I ne l rr gr lr0 tr D lc. destruct (h_at ab) as [nb xb].
  destruct (h_at ac) as [nc xc]. assert (nr : ~ init r). { intro i. apply inits in i. tauto. }
  destruct (@pair_ok b c nb nc) as [P _]; auto. { apply h_writes; auto. }
  specialize (P (proj1 (h_reads nc) cr)).
  assert (NL : l2 r -> ~ fetched r) by (unfold Views.fetched; tauto).
  destruct D as [[D1 D2]|[D1 D2]].
  - destruct (l2s D1) as (rw_&_&ra). apply (@SYNC_of_pair b c nb nc ne bw l (fun _ => T r) 0); auto.
    + intro i. apply h_l2 in i; auto. rewrite (lc i). auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := b) (p := r) f u) as (_&q&_); auto; try congruence.
      rewrite <- ra. auto.
  - destruct (rf_tot rr) as [w rf]. destruct (look_ft rf D1) as (_&q&_).
    apply (@SYNC_of_pair b c nb nc ne bw l (fun _ => ft r) 0); auto.
    + lia.
    + intro i. apply h_l2 in i; auto. exfalso. apply (NL (eq_ind_r l2 i (lc i))); auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := b) (p := r) f u) as (_&_&q'); auto; try congruence.
Qed.
Notation first := (Views.first loc isW init T arr wg).
(* If [b] is an INC_L1, its L1 had agreed with L2 at some time, and no INV came since. *)
Lemma agreement_exists b c : ~ init b -> ~ init c -> wg b <> wg c -> loc b = loc c -> isW b ->
  first b ->
  exists y, inc1 (rw b) = true -> y <= T b /\
    (bracketed_L2 tbl = true -> forall f u, In (f, u) (L2_intervals (rw c)) -> y <= t c f \/
    tmark c u <= y) /\ (forall i, inv (wg b) i -> y < i -> ~ i < T b).
Proof.
  intros nb nc ne l bw F. destruct (inc1 (rw b)) eqn:i1; [|exists 0; discriminate].
  assert (L2 : ~ l2 b).
  { intro h. apply h_l2 in h; auto. unfold inc1 in i1. unfold inc2 in h.
    destruct (access (rw b)); discriminate. }
  assert (rb : isR b).
  { apply h_reads; auto. pose proof CHECK as H. unfold check in H. apply andb_true_iff in H.
    destruct H as [H _]. rewrite forallb_forall in H. specialize (H _ (h_row nb)).
    unfold one_access in H. apply andb_true_iff in H. destruct H as [_ H]. unfold inc1 in i1.
    unfold reads. destruct (row_kind (rw b)), (access (rw b)); auto; discriminate. }
  destruct (rf_tot rb) as [w r]. destruct (rf_dom r) as (ww&_&lw).
  destruct (classic (own b)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). pose proof (arrs ww q1 q3). exists (arr w).
    intros _. split; [|split].
    + destruct (le_lt_dec (arr w) (T b)) as [h|h]; auto. exfalso. apply (F w); auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := c) (p := w) f u) as (_&q&_); auto; congruence.
    + intros i h h'. apply q6; auto. lia.
  - assert (Fe : fetched b) by (unfold Views.fetched; auto).
    destruct (look_ft r Fe) as (q0&q1&q2&q3&q4&q5&q6). exists (ft b). intros _. split; [lia|].
    split; auto. intros L0 f u h. destruct (h_L2 L0 (o := c) (p := b) f u) as (_&_&q); auto.
Qed.
(* ... and ATOM. *)
Theorem ATOM_ok : forall w u k, isW u /\ isR u -> rf_run w u -> at_ k -> at_ u -> incl k u ->
  wg k <> wg u -> first k -> mm k u -> mme k w.
Proof.
  intros w u k [uw ur] r ak au I ne F0 m. destruct (h_at ak) as [nk xk].
  destruct (h_at au) as [nu xu]. pose proof m as (kw&_&l&d&m'). assert (m0 : arr k < arr u).
  { destruct m' as [m'|[m' _]]; auto. exfalso. destruct (dist kw uw d l m') as (q&_). tauto. }
  destruct (rf_dom r) as (ww&_&lw). assert (FIN : arr k < arr w -> mme k w).
  { intro h. right. repeat split; auto; try congruence. intros ->. lia. }
  destruct (classic (l2 u)) as [L2|L2].
  { destruct (look_l2 r L2) as [_ q]. apply q; auto. destruct (l2s L2) as (_&_&q'). lia. }
  destruct (@pair_ok k u nk nu) as [_ P]; auto. { apply h_writes; auto. }
  assert (Q : isrmw (rw u) = true).
  { unfold isrmw. rewrite (proj1 (h_writes nu) uw), (proj1 (h_reads nu) ur). auto. }
  specialize (P Q). unfold atom_ok in P. destruct (inc2 (rw u)) eqn:i2.
  { exfalso. apply L2. apply h_l2; auto. }
  simpl in P. apply andb_true_iff in P. destruct P as [P1 P2].
  destruct (@agreement_exists k u nk nu ne l kw F0) as [y GB]. destruct (classic (own u)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). apply FIN.
    apply (@ATOM_own_store k u nk nu ne kw l (fun o => if o then arr w else T w) y GB w); auto.
    destruct (order ww uw q1 nu q2 lw q4). auto.
  - assert (F : fetched u) by (unfold Views.fetched; auto).
    destruct (look_ft r F) as (q0&q1&q2&q3&q4&q5&q6). apply q3; auto.
    apply (@ATOM_fetch k u nk nu ne kw l (fun _ => ft u) y GB); auto.
Qed.
End Run.
