(** * Consistency and races of finite graphs, decided

    The axioms of Thm1.v as a function that computes, proved right.  The tests hold it to what the
    tool says of all executions of small programs. *)
Require Import List Arith Bool Relations Thm1.
Import ListNotations.
Set Implicit Arguments.

Lemma forall_iff A (f : A -> bool) (Q : A -> Prop) l :
  (forall x, In x l -> (f x = true <-> Q x)) -> (forallb f l = true <-> forall x, In x l -> Q x).
Proof. intro h. rewrite forallb_forall. split; intros q x i; apply h; auto. Qed.
Lemma exists_iff A (f : A -> bool) (Q : A -> Prop) l :
  (forall x, In x l -> (f x = true <-> Q x)) ->
  (existsb f l = true <-> exists x, In x l /\ Q x).
Proof.
  intro h. rewrite existsb_exists. split; intros (x&i&q); exists x; (split; [auto|apply h; auto]).
Qed.
Lemma imp_iff a b (A B : Prop) : (a = true <-> A) -> (b = true <-> B) ->
  (implb a b = true <-> (A -> B)).
Proof. destruct a, b; simpl; intuition discriminate. Qed.
Lemma not_iff a (A : Prop) : (a = true <-> A) -> (negb a = true <-> ~ A).
Proof. destruct a; simpl; intuition discriminate. Qed.
Lemma and_iff a b (A B : Prop) : (a = true <-> A) -> (b = true <-> B) ->
  (a && b = true <-> A /\ B).
Proof. rewrite andb_true_iff. tauto. Qed.
Lemma or_iff a b (A B : Prop) : (a = true <-> A) -> (b = true <-> B) ->
  (a || b = true <-> A \/ B).
Proof. rewrite orb_true_iff. tauto. Qed.

Section Decide.
Variables Val Loc : Type.
Variable val_dec : forall a b : Val, {a = b} + {a <> b}.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable locations : list Loc.
Hypothesis all_locations : forall l, In l locations.
Variable nowhere : Loc.
Variable plain : Loc -> bool. (* not declared atomic *)
Variable P : program Val Loc.
Notation event := (event Val Loc).
Notation nonatomic := (fun l => plain l = true).

Definition event_dec : forall x y : event, {x = y} + {x <> y}.
Proof. decide equality. apply list_eq_dec, val_dec. apply Nat.eq_dec. Defined.
Definition pair_dec : forall p q : event * event, {p = q} + {p <> q}.
Proof. decide equality; apply event_dec. Defined.
Definition same x y := if event_dec x y then true else false.
Definition same_loc x y := if loc_dec (loc nowhere P x) (loc nowhere P y) then true else false.
Definition is_in x l := if in_dec event_dec x l then true else false.
Definition related l (x y : event) := if in_dec pair_dec (x, y) l then true else false.

(** ** A graph as lists *)
Variable evs : list event.
Variables rfl mol : list (event * event).
Definition g := Graph (fun x => In x evs) (fun x y => In (x, y) rfl) (fun x y => In (x, y) mol).

Definition initb (x : event) := match x with Init _ => true | _ => false end.
Definition isWb (x : event) := match x with
  | Init _ => true
  | _ => match op_of P x with Some o => match op_kind o with Load => false | _ => true end | None =>
    false end
  end.
Definition isRb (x : event) := match op_of P x with
  | Some o => match op_kind o with Store _ => false | _ => true end | None => false end.
Definition havingb p (x : event) := match op_of P x with Some o => op_atomic o && p o | None =>
  false end.
Definition atomb (x : event) := match op_of P x with Some o => op_atomic o | None => false end.
Definition remoteb (x : event) := match op_of P x with Some o => op_remote o | None => false end.
Definition coversb (x y : event) := match x, y with
  | Node t _, Node u _ => match op_of P x with
      | Some o => match op_scope o with
          | WG => group (thread_of P t) =? group (thread_of P u) | _ => true end
      | None => false
      end
  | _, _ => false
  end.
Definition inclb x y :=
  coversb x y && coversb y x || (remoteb x && coversb x y || coversb y x && remoteb y).
Definition thdb (x y : event) := match x, y with Node t _, Node u _ => t =? u | _, _ => false end.
Fixpoint before (p q : list Val) := match p, q with
  | [], _ :: _ => true
  | a :: p, b :: q => (if val_dec a b then true else false) && before p q
  | _, [] => false
  end.
Definition sbb (x y : event) := match x, y with
  | Init _, Node _ _ => true
  | Node t p, Node u q => (t =? u) && before p q
  | _, _ => false
  end.
Definition in_rsb x y := thdb x y || isWb y && isRb y.
Definition rsb a b := same a b || related mol a b && (in_rsb a b &&
  forallb (fun k => implb (related mol a k) (implb (related mol k b) (in_rsb a k))) evs).
Definition swb x y := isWb x && (havingb (@op_releases Val Loc) x && (isRb y &&
  (havingb (@op_acquires Val Loc) y && (inclb x y && (negb (thdb x y) &&
  existsb (fun w => rsb x w && related rfl w y) evs))))).
(** Happens-before: composed with itself as often as there are events. *)
Definition steps := filter (fun p => sbb (fst p) (snd p) ||
  swb (fst p) (snd p)) (list_prod evs evs).
Definition more l := nodup pair_dec (l ++ flat_map (fun p => map (fun q => (fst p, snd q))
  (filter (fun q => same (snd p) (fst q)) l)) l).
Fixpoint often n l := match n with 0 => l | S n => often n (more l) end.
Definition hbl := often (length evs) steps.
Definition hbb := related hbl.
Definition transitive l := forallb (fun p => forallb (fun q =>
  implb (same (snd p) (fst q)) (related l (fst p) (snd q))) l) l.

Definition well_formedb :=
  forallb (fun l => is_in (Init l) evs) locations &&
  (forallb (fun y => forallb (fun p => is_in p evs) (match y with
     | Init _ => [] | Node t q => map Init locations ++ map (fun n =>
       Node t (firstn n q)) (seq 0 (length q)) end)) evs &&
  (forallb (fun p => is_in (fst p) evs && (is_in (snd p) evs && (isWb (fst p) && (isRb (snd p) &&
     same_loc (fst p) (snd p))))) rfl &&
  (forallb (fun p => forallb (fun q => implb (same (snd p) (snd q)) (same (fst p) (fst q))) rfl) rfl
    &&
  (forallb (fun r => implb (isRb r) (existsb (fun w => related rfl w r) evs)) evs &&
  (forallb (fun p => is_in (fst p) evs && (is_in (snd p) evs && (isWb (fst p) && (isWb (snd p) &&
     (same_loc (fst p) (snd p) && negb (plain (loc nowhere P (fst p)))))))) mol &&
  (transitive mol && (forallb (fun p => negb (same (fst p) (snd p))) mol &&
   forallb (fun x => forallb (fun y => implb (isWb x) (implb (isWb y) (implb (same_loc x y)
     (implb (negb (plain (loc nowhere P x))) (implb (negb (same x y))
       (related mol x y || related mol y x)))))) evs) evs))))))).

Definition axioms_by (hbb : event -> event -> bool) :=
  forallb (fun x => negb (hbb x x)) evs &&
  (forallb (fun a => forallb (fun b => implb (hbb a b) (forallb (fun p =>
     implb (same (fst p) b || related rfl (fst p) b)
       (negb (same (snd p) a || related rfl (snd p) a))) mol)) evs) evs &&
  (forallb (fun p => negb (hbb (snd p) (fst p))) rfl &&
  (forallb (fun p => implb (plain (loc nowhere P (snd p))) (hbb (fst p) (snd p))) rfl &&
  (forallb (fun p => implb (plain (loc nowhere P (snd p))) (forallb (fun k => implb (isWb k)
     (implb (same_loc k (snd p)) (implb (hbb (fst p) k) (negb (hbb k (snd p)))))) evs)) rfl &&
  (forallb (fun p => negb (same (fst p) (snd p))) rfl &&
  (forallb (fun p => forallb (fun q => implb (same (snd p) (fst q))
     (negb (related rfl (fst p) (snd q)))) mol) mol &&
   forallb (fun p => negb (related rfl (snd p) (fst p))) mol)))))).
(* Happens-before is calculated once. *)
Definition axiomsb := let h := hbl in axioms_by (related h).
Definition consistentb := well_formedb && axiomsb.
Definition race_free_by (hbb : event -> event -> bool) := forallb (fun a => forallb (fun c =>
  implb (negb (initb a)) (implb (negb (initb c)) (implb (same_loc a c) (implb (isWb a || isWb c)
    (implb (negb (same a c)) (atomb a && (atomb c && inclb a c) ||
      (thdb a c || (hbb a c || hbb c a)))))))) evs) evs.
Definition race_freeb := let h := hbl in race_free_by (related h).

(** ** It is right *)
Lemma same_iff x y : same x y = true <-> x = y.
Proof. unfold same. destruct (event_dec x y); intuition discriminate. Qed.
Lemma same_loc_iff x y : same_loc x y = true <-> loc nowhere P x = loc nowhere P y.
Proof. unfold same_loc. destruct (loc_dec _ _); intuition discriminate. Qed.
Lemma is_in_iff x l : is_in x l = true <-> In x l.
Proof. unfold is_in. destruct (in_dec event_dec x l); intuition discriminate. Qed.
Lemma related_iff l x y : related l x y = true <-> In (x, y) l.
Proof. unfold related. destruct (in_dec pair_dec (x, y) l); intuition discriminate. Qed.
Lemma init_iff x : initb x = true <-> init x. Proof. destruct x; simpl; intuition discriminate. Qed.
Lemma isW_iff x : isWb x = true <-> isW P x.
Proof.
  destruct x as [l|t p]; [simpl; tauto|]. unfold isWb, isW.
  destruct (op_of P (Node t p)) as [o|]; [|intuition discriminate].
  destruct (op_kind o); intuition congruence.
Qed.
Lemma isR_iff x : isRb x = true <-> isR P x.
Proof.
  unfold isRb, isR. destruct (op_of P x) as [o|]; [|intuition discriminate].
  destruct (op_kind o) as [|c|f]; split; intro h; auto; try discriminate;
    try (intros v; discriminate). destruct (h c). reflexivity.
Qed.
Lemma having_iff p x : havingb p x = true <-> having P p x.
Proof.
  unfold havingb, having. destruct (op_of P x); [apply andb_true_iff|intuition discriminate].
Qed.
Lemma atom_iff x : atomb x = true <-> atom P x.
Proof. unfold atomb, atom. destruct (op_of P x); intuition discriminate. Qed.
Lemma remote_iff x : remoteb x = true <-> remote P x.
Proof. unfold remoteb, remote. destruct (op_of P x); intuition discriminate. Qed.
Lemma covers_iff x y : coversb x y = true <-> covers P x y.
Proof.
  unfold coversb, covers. destruct x, y; try (intuition discriminate).
  destruct (op_of P _) as [o|]; [|intuition discriminate]. destruct (op_scope o); try tauto.
  apply Nat.eqb_eq.
Qed.
Lemma incl_iff x y : inclb x y = true <-> incl P x y.
Proof. repeat first [apply or_iff | apply and_iff]; auto using covers_iff, remote_iff. Qed.
Lemma thd_iff (x y : event) : thdb x y = true <-> thd x y.
Proof. destruct x, y; simpl; try (intuition discriminate). apply Nat.eqb_eq. Qed.
Lemma before_iff p : forall q, before p q = true <-> exists v r, q = p ++ v :: r.
Proof.
  induction p as [|a p IH]; intros [|b q]; simpl.
  - split; [discriminate|]. intros (v&r&h). discriminate.
  - split; auto. intros _. exists b, q. auto.
  - split; [discriminate|]. intros (v&r&h). discriminate.
  - rewrite andb_true_iff, IH. destruct (val_dec a b) as [->|n].
    + split; [intros (_&v&r&->); exists v, r; auto|]. intros (v&r&h). split; auto. exists v, r.
      congruence.
    + split; [intros [h _]; discriminate|]. intros (v&r&h). congruence.
Qed.
Lemma sb_iff (x y : event) : sbb x y = true <-> sb x y.
Proof.
  destruct x, y; simpl; try (intuition discriminate). rewrite andb_true_iff, Nat.eqb_eq, before_iff.
  tauto.
Qed.
Lemma in_rs_iff x y : in_rsb x y = true <-> in_rs P x y.
Proof. apply or_iff; [apply thd_iff|]. apply and_iff; auto using isW_iff, isR_iff. Qed.

Section Closed.
Hypothesis mo_in : forall x y, In (x, y) mol -> In x evs /\ In y evs.
Hypothesis rf_in : forall x y, In (x, y) rfl -> In x evs /\ In y evs.
Lemma rs_iff a b : rsb a b = true <-> rs P g a b.
Proof.
  apply or_iff; [apply same_iff|]. apply and_iff; [apply related_iff|].
  apply and_iff; [apply in_rs_iff|].
  rewrite (@forall_iff _ _ (fun k => In (a, k) mol -> In (k, b) mol -> in_rs P a k)).
  - split; auto. intros h k k1 k2. apply h; auto. apply (mo_in _ _ k1).
  - intros k _. apply imp_iff; [apply related_iff|].
    apply imp_iff; [apply related_iff|apply in_rs_iff].
Qed.
Lemma sw_iff x y : In x evs -> In y evs -> (swb x y = true <-> sw P g x y).
Proof.
  intros hx hy. unfold swb, sw. simpl events.
  rewrite !andb_true_iff, isW_iff, !having_iff, isR_iff, incl_iff, (not_iff (thd_iff x y)).
  rewrite (@exists_iff _ _ (fun w => rs P g x w /\ In (w, y) rfl)).
  - unfold rel, acq. split.
    + intros (h1&h2&h3&h4&h5&h6&w&_&h7). repeat (split; [assumption|]). exists w. exact h7.
    + intros (_&_&h1&h2&h3&h4&h5&h6&w&h7&h8). repeat (split; [assumption|]). exists w. split; auto.
      apply (rf_in _ _ h8).
  - intros w _. apply and_iff; [apply rs_iff|apply related_iff].
Qed.
Notation step x y := ((events g x /\ events g y /\ sb x y) \/ sw P g x y).
Lemma steps_iff x y : In (x, y) steps <-> step x y.
Proof.
  unfold steps. rewrite filter_In, in_prod_iff, orb_true_iff. simpl fst. simpl snd. simpl events.
  rewrite sb_iff. split.
  - intros ([hx hy]&[h|h]); [left; auto|right]. apply sw_iff; auto.
  - intros [(hx&hy&h)|h]; auto. pose proof h as (hx&hy&_). simpl in hx, hy. split; auto. right.
    apply sw_iff; auto.
Qed.
Lemma more_sound l : (forall x y, In (x, y) l -> hb P g x y) -> forall x y, In (x, y) (more l) ->
  hb P g x y.
Proof.
  intros h x y i. apply nodup_In, in_app_or in i. destruct i as [i|i]; auto. apply in_flat_map in i.
  destruct i as ([a b]&i&j). apply in_map_iff in j. destruct j as ([c d]&e&j). apply filter_In in j.
  destruct j as [j k]. simpl in *. apply same_iff in k. subst. injection e as <- <-.
  apply t_trans with c; apply h; auto.
Qed.
Lemma more_keeps l p : In p l -> In p (more l).
Proof. intro h. apply nodup_In, in_or_app. auto. Qed.
Lemma often_sound n : forall l, (forall x y, In (x, y) l -> hb P g x y) -> forall x y,
  In (x, y) (often n l) -> hb P g x y.
Proof. induction n as [|n IH]; simpl; auto. intros l h. apply IH. apply more_sound; auto. Qed.
Lemma often_keeps n : forall l p, In p l -> In p (often n l).
Proof. induction n as [|n IH]; simpl; auto. intros l p h. apply IH, more_keeps, h. Qed.
Lemma transitive_iff l : transitive l = true <-> forall x y z, In (x, y) l -> In (y, z) l ->
  In (x, z) l.
Proof.
  unfold transitive.
  rewrite (@forall_iff _ _ (fun p => forall q, In q l -> snd p = fst q -> In (fst p, snd q) l)).
  - split.
    + intros h x y z h1 h2. exact (h _ h1 _ h2 eq_refl).
    + intros h [x y] h1 [y' z] h2 e. simpl in *. subst. eauto.
  - intros p _. apply forall_iff. intros q _. apply imp_iff; [apply same_iff|apply related_iff].
Qed.
Hypothesis CLOSED : transitive hbl = true.
Lemma hb_iff x y : hbb x y = true <-> hb P g x y.
Proof.
  unfold hbb. rewrite related_iff. split.
  - apply often_sound. intros a b h. apply t_step, steps_iff, h.
  - induction 1 as [a b h|a b c _ h1 _ h2].
    + apply often_keeps, steps_iff, h.
    + exact (proj1 (transitive_iff hbl) CLOSED _ _ _ h1 h2).
Qed.
End Closed.

Definition past_of (y : event) := match y with
  | Init _ => []
  | Node t q => map Init locations ++ map (fun n => Node t (firstn n q)) (seq 0 (length q))
  end.
Lemma past_iff x y : In x (past_of y) <-> sb x y.
Proof.
  destruct y as [l|t q]; simpl. { destruct x; simpl; tauto. }
  rewrite in_app_iff, !in_map_iff. split.
  - intros [(l&<-&_)|(n&<-&h)]; simpl; auto. split; auto. apply in_seq in h. destruct h as [_ h].
    pose proof (firstn_skipn n q) as e. destruct (skipn n q) as [|v r] eqn:S; [|exists v, r; auto].
    rewrite app_nil_r in e. pose proof (firstn_le_length n q) as L. rewrite firstn_length in *.
    apply (f_equal (@length Val)) in e. rewrite firstn_length in e. exfalso. simpl in h.
    rewrite Nat.min_l in e; [|apply Nat.lt_le_incl; exact h]. rewrite e in h.
    exact (Nat.lt_irrefl _ h).
  - destruct x as [l|u p]; simpl; [left; exists l; auto|]. intros (->&v&r&->). right.
    exists (length p). rewrite firstn_app, Nat.sub_diag, firstn_all, app_nil_r. split; auto.
    apply in_seq. rewrite app_length. simpl. split; [apply Nat.le_0_l|]. rewrite Nat.add_succ_r.
    apply le_n_S, Nat.le_add_r.
Qed.
(** What a decision of lists says, by its shape. *)
Ltac by_shape := repeat first
  [ apply incl_iff | apply and_iff | apply or_iff | apply not_iff | apply imp_iff | apply
    transitive_iff
  | apply forall_iff; intros ? _ | apply exists_iff; intros ? _
  | match goal with HB : forall x y, _ <-> hb P g x y |- _ => apply HB end
  | apply same_iff | apply same_loc_iff | apply is_in_iff | apply related_iff | apply init_iff
  | apply isW_iff | apply isR_iff | apply atom_iff | apply thd_iff
  | apply iff_refl ].
Lemma well_formed_iff : well_formedb = true <-> well_formed nowhere nonatomic P g.
Proof.
  eapply iff_trans. { unfold well_formedb. by_shape. } split.
  - intros (h1&h2&h3&h4&h5&h6&h7&h8&h9). split; simpl.
    + exists evs. auto.
    + intros [l|] i; [apply h1; auto|destruct i].
    + intros x y h i. apply (h2 y i), past_iff, h.
    + intros w r h. exact (h3 _ h).
    + intros w w' r h h'. exact (h4 _ h _ h' eq_refl).
    + intros r h i. destruct (h5 r h i) as (w&_&q). exists w. exact q.
    + intros x y h. exact (h6 _ h).
    + exact h7.
    + intros x h. exact (h8 _ h eq_refl).
    + intros x y a b c d e f n. apply h9; auto.
  - intros [h0 h1 h2 h3 h4 h5 h6 h7 h8 h9]. simpl in *. split; [intros l _; apply h1; exact I|].
      split; [intros y i p h; apply past_iff in h; eauto|].
      split; [intros [w r] h; exact (h3 w r h)|].
      split; [intros [w r] h [w' r'] h' e; simpl in *; subst; eauto|].
      split; [intros r h i; destruct (h5 r h i) as [w q]; exists w; split; auto; apply (h3 _ _ q)|].
      split; [intros [a b] h; exact (h6 a b h)|]. split; [exact h7|].
      split; [intros [a b] h e; simpl in e; subst; exact (h8 _ h)|]. intros x i y j; apply h9; auto.
Qed.

(** The axioms, where happens-before is closed. *)
Lemma closed_hb : transitive hbl = true -> well_formed nowhere nonatomic P g ->
  forall x y, related hbl x y = true <-> hb P g x y.
Proof.
  intros CL W. apply hb_iff; auto.
  - intros x y h. destruct (mo_of W x y h) as (h1&h2&_). auto.
  - intros x y h. destruct (rf_of W x y h) as (h1&h2&_). auto.
Qed.
Theorem decides : transitive hbl = true -> (consistentb = true <->
  consistent nowhere nonatomic P g).
Proof.
  intro CL. unfold consistentb. rewrite andb_true_iff, well_formed_iff.
  eassert (AX : well_formed nowhere nonatomic P g -> (axiomsb = true <-> _)).
  { intro W. pose proof (closed_hb CL W) as HB. unfold axiomsb, axioms_by. cbv zeta. by_shape. }
  assert (DOM : forall x y, hb P g x y -> In x evs /\ In y evs).
  { induction 1 as [x y [(h1&h2&_)|(h1&h2&_)]|]; simpl in *; tauto. }
  split.
  - intros [W A]. apply (AX W) in A. destruct A as (a1&a2&a3&a4&a5&a6&a7&a8). split; auto.
    + intros x h. exact (a1 x (proj1 (DOM _ _ h)) h).
    + intros a b y x h h1 h2 h3. destruct (DOM _ _ h) as [ia ib].
      exact (a2 a ia b ib h (y, x) h2 h1 h3).
    + intros w r h. exact (a3 (w, r) h).
    + intros w r h. exact (a4 (w, r) h).
    + intros w r k h n kw l h1 h2. exact (a5 (w, r) h n k (proj1 (DOM _ _ h2)) kw l h1 h2).
    + split; [|split].
      * intros x h. exact (a6 (x, x) h eq_refl).
      * intros x y z h1 h2 h3. exact (a7 (x, y) h1 (y, z) h2 eq_refl h3).
      * intros x y h1 h2. exact (a8 (x, y) h1 h2).
  - intros [W c1 c2 c3 c4 c5 (c6&c7&c8)]. split; auto. apply (AX W). simpl in *. repeat split.
    + intros x _. apply c1.
    + intros a _ b _ h [y x] h2 h1 h3. exact (c2 a b y x h h1 h2 h3).
    + intros [w r] h. exact (c3 w r h).
    + intros [w r] h. exact (c4 w r h).
    + intros [w r] h n k _ kw l h1 h2. exact (c5 w r k h n kw l h1 h2).
    + intros [w r] h e. simpl in e. subst. exact (c6 r h).
    + intros [x y] h1 [y' z] h2 e h3. simpl in *. subst. exact (c7 x y' z h1 h2 h3).
    + intros [x y] h1 h2. exact (c8 x y h1 h2).
Qed.
Theorem decides_races : transitive hbl = true -> well_formed nowhere nonatomic P g ->
  (race_freeb = true <-> race_free nowhere P g).
Proof.
  intros CL W. pose proof (closed_hb CL W) as HB. unfold race_freeb, race_free_by. cbv zeta.
  eapply iff_trans. { by_shape. }
  unfold race_free. simpl. split; intros h a; intros; apply h; auto.
Qed.
End Decide.
