(** * The theorem for a run of which the facts are known

    [facts] has what docs/proof.md says of every complete run. *)
Require Import Classical Bool List Arith Lia Fig2 Views Program Transfer Refuter Check Thm1.
Import ListNotations.
Set Implicit Arguments.
Section Thm.
Variables Val L : Type.
Hypothesis val_dec : forall a b : Val, {a = b} + {a <> b}.
Variable l0 : L.
Variable nal : L -> Prop.
Variable ini : L -> Val.
Notation ev := (event Val L).
Notation op := (op Val L).

Notation in_scope := (in_scope nal).
Definition by_row (tbl : table) (o : op) (r : row) := In r tbl /\ row_kind r = kind_row o /\
  row_scope r = scope_row o /\ (op_atomic o = true -> row_remote r = op_remote o).

(* a complete run of the machine, one device: what §1 says of it *)
Record facts (P : program Val L) (tbl : table) := {
  M : Type;                                    (* operation instances, and the initial writes *)
  all : list M;  all_in : forall o, In o all;
  nd : M -> ev;                                (* which node *)
  val : ev -> Val;                             (* what a read read, what a store stored *)
  mem : L -> Val;                              (* final memory *)
  rfm : M -> M -> Prop;                        (* the write that a look finds *)
  T : M -> nat; s : M -> nat; e : M -> nat; arr : M -> nat; ft : M -> nat;
    (* access, start, end, arrival in L2, fetch *)
  t : M -> nat -> nat; left : M -> nat -> nat;
    (* of an instruction; when the markers of a Flu have left *)
  own : M -> Prop;                             (* looks that find a store of their own L1 *)
  inv : nat -> nat -> Prop;                    (* an Inv reaches the L1 of a work-group at a time *)
  rw : M -> row;
  isWm o := isW P (nd o);  isRm o := isR P (nd o);  initm o := init (nd o);
    locm o := loc l0 P (nd o);  wgm o := group_of P (nd o);
  l2 o := ~ initm o /\ inc2 (rw o) = true;     (* Inc_L2 *)
  fetched o := isRm o /\ ~ own o /\ ~ l2 o;
  mm := Views.mm locm isWm T arr;  mme := Views.mme locm isWm T arr;
    (* the order of (arr, T) *)
  tmark o m := match m with Instr i => t o i | ToEnd => e o end;
  (* program *)
  nd_inj : forall a b, nd a = nd b -> a = b;
  nd_init : forall l, exists a, nd a = Init l;
  nd_real : forall a, real P (nd a);
  nd_path : forall a t p u, nd a = Node t (p ++ [u]) -> val (Node t p) = u /\ exists b,
    nd b = Node t p;
  nd_all : complete P (fun x => exists a, x = nd a) val;
  rf_v : forall w r, rfm w r -> val (nd r) = written ini P val (nd w);
  st_v : forall a o c, op_of P (nd a) = Some o -> op_kind o = Store c -> val (nd a) = c;
  mem_v : forall l, exists w, isWm w /\ locm w = l /\ written ini P val (nd w) = mem l /\ forall k,
    ~ mm w k;
  comp : forall a o, op_of P (nd a) = Some o -> by_row tbl o (rw a);
  (* times *)
  s_pos : forall o, ~ initm o -> 0 < s o;
  T_inj : forall o p, ~ initm o -> ~ initm p -> T o = T p -> o = p;
  T_acc : forall o, ~ initm o -> T o = t o (pos (rw o));
  T_sb : forall o p, thd (nd o) (nd p) -> (T o < T p <-> sb (nd o) (nd p));
  inits : forall o, initm o -> T o = 0 /\ arr o = 0;
  code_seq : forall o, ~ initm o -> ordered (t o) (left o) (e o) (code (rw o)) 0 (s o);
  seqs : forall o p, thd (nd o) (nd p) -> T o < T p -> e o < s p;
  (* arrival *)
  arr_l2 : forall o, l2 o -> arr o = T o;
  arr_st : forall o, isWm o -> ~ initm o -> ~ l2 o -> T o < arr o;
  dist : forall o p, isWm o -> isWm p -> o <> p -> locm o = locm p -> arr o = arr p ->
    wgm o = wgm p /\ ~ initm o /\ ~ initm p /\ ~ l2 o /\ ~ l2 p;
  order : forall o p, isWm o -> isWm p -> ~ initm o -> ~ initm p -> wgm o = wgm p ->
    locm o = locm p -> T o < T p -> arr o <= arr p /\ (l2 p -> arr o < arr p);
  merge : forall o p, isWm o -> isWm p -> ~ initm o -> ~ initm p -> ~ l2 o -> ~ l2 p ->
    wgm o = wgm p -> locm o = locm p -> T o < T p -> T p < arr o -> arr o = arr p;
  (* looks *)
  rf_dom : forall w r, rfm w r -> isWm w /\ isRm r /\ locm w = locm r;
  rf_fun : forall w w' r, rfm w r -> rfm w' r -> w = w';
  rf_tot : forall r, isRm r -> exists w, rfm w r;
  look_l2 : forall w' o, rfm w' o -> l2 o -> arr w' < T o /\ forall w, isWm w -> locm w = locm o ->
    arr w < T o -> mme w w';
  look_own : forall w' o, rfm w' o -> own o -> ~ l2 o /\ ~ initm w' /\ wgm w' = wgm o /\ ~ l2 w' /\
    T w' < T o /\
    (forall w, isWm w -> ~ initm w -> wgm w = wgm o -> locm w = locm o -> T w' < T w ->
      ~ T w < T o) /\
    (forall i, inv (wgm o) i -> T w' < i -> ~ i < T o) /\
    (forall p, fetched p -> wgm p = wgm o -> locm p = locm o -> T w' < ft p -> ~ ft p < T o);
  look_ft : forall w' o, rfm w' o -> fetched o -> 0 < ft o /\ ft o < T o /\ arr w' < ft o /\
    (forall w, isWm w -> locm w = locm o -> arr w < ft o -> mme w w') /\
    (forall w, isWm w -> ~ initm w -> wgm w = wgm o -> locm w = locm o -> T w < T o ->
      arr w < ft o) /\
    (forall i, inv (wgm o) i -> ft o < i -> ~ i < T o) /\
    (forall p, fetched p -> wgm p = wgm o -> locm p = locm o -> ft p < T o -> ft p <= ft o);
  (* Flu drains, Inv reaches, locks exclude if nobody frees what he does not hold *)
  flu : forall o i r w, ~ initm o -> nth_error (code (rw o)) i = Some (Flu r) -> isWm w ->
    ~ initm w -> wgm w = wgm o \/ r = to_DV -> T w < t o i -> arr w < left o i;
  inv_ : forall o i r g, ~ initm o -> nth_error (code (rw o)) i = Some (Inv r) -> g = wgm o \/
    r = to_DV -> inv g (t o i);
  lock_rmw : bracketed_rmw tbl = true -> forall o p f u, ~ initm o -> ~ initm p -> wgm o <> wgm p ->
    In (f, u) (rmw_intervals (rw o)) ->
    (forall f' u', In (f', u') (rmw_intervals (rw p)) -> tmark o u <= t p f' \/
      tmark p u' <= t o f) /\
      (inc (rw p) = true -> T p <= t o f \/ tmark o u <= T p);
  lock_L2 : bracketed_L2 tbl = true -> forall o p f u, ~ initm o -> ~ initm p -> wgm o <> wgm p ->
    locm o = locm p -> In (f, u) (L2_intervals (rw o)) ->
    (forall f' u', In (f', u') (L2_intervals (rw p)) -> tmark o u <= t p f' \/
      tmark p u' <= t o f) /\
    (isWm p -> arr p <= t o f \/ tmark o u <= arr p) /\
      (fetched p -> ft p <= t o f \/ tmark o u <= ft p) }.

(* a consistent execution of the source with these values of reads and this final memory *)
Definition explained P v mem := exists g, consistent l0 nal P g /\ execution ini P g v /\
  complete P (events g) v /\ forall l, last_value l0 nal ini P g v l (mem l).

Lemma acc_pos tl l ee cs : existsb is_acc cs = true -> forall i prev, ordered tl l ee cs i prev ->
  prev < tl (i + pos_acc cs) /\ tl (i + pos_acc cs) < ee.
Proof.
  assert (O : forall cs i prev, ordered tl l ee cs i prev -> prev < ee).
  { clear. induction cs as [|c cs IH]; simpl; auto. intros i prev [h1 h2].
    destruct c; try (apply IH in h2; lia). destruct h2 as [h2 h3]. apply IH in h3. lia. }
  induction cs as [|c cs IH]; simpl; intros h i prev H; [discriminate|]. destruct H as [h1 h2].
  destruct (is_acc c) eqn:a.
  - rewrite Nat.add_0_r. split; auto. destruct c; try discriminate; eauto.
  - simpl in h. rewrite Nat.add_succ_r.
    destruct c; try discriminate; try (destruct (IH h (S i) _ h2); simpl in *; lia).
    destruct h2 as [h2 h3]. destruct (IH h (S i) _ h3). simpl in *; lia.
Qed.
Lemma filter_ex (f : ins -> bool) cs : length (filter f cs) = 1 -> existsb f cs = true.
Proof. induction cs as [|c cs IH]; simpl; [discriminate|]. destruct (f c); auto. Qed.

Section Y.
Variable P : program Val L.
Variable tbl : table.
Variable Y : facts P tbl.
Hypothesis CHECK : check tbl = true.
Hypothesis SCOPE : in_scope P.
Notation n := (nd Y).
Lemma its_op o : ~ init (n o) -> exists q, op_of P (n o) = Some q /\ by_row tbl q (rw Y o) /\
  one_access (rw Y o) = true.
Proof.
  intro ni. pose proof (@nd_real P tbl Y o) as h. assert (h' : op_of P (n o) <> None).
  { destruct (n o); [destruct ni; simpl; auto|exact h]. }
  destruct (op_of P (n o)) as [q|] eqn:e0; [|tauto]. exists q.
  pose proof (@comp P tbl Y o q e0) as c. split; auto. split; auto. unfold check in CHECK.
  apply andb_prop in CHECK. destruct CHECK as [C _]. rewrite forallb_forall in C. apply C. apply c.
Qed.
Lemma W_iff o : ~ init (n o) -> (isW P (n o) <-> writes (rw Y o) = true).
Proof.
  intro ni. destruct (its_op o ni) as (q&h1&(_&h2&_)&_). unfold isW, writes. rewrite h1, h2.
  unfold kind_row. destruct (n o); [destruct ni; simpl; auto|].
  destruct (op_kind q); split; intros; auto; congruence.
Qed.
Lemma R_iff o : ~ init (n o) -> (isR P (n o) <-> reads (rw Y o) = true).
Proof.
  intro ni. destruct (its_op o ni) as (q&h1&(_&h2&_)&_). unfold isR, reads. rewrite h1, h2.
  unfold kind_row. destruct (op_kind q) as [|c|]; split; intros; auto; try congruence.
  destruct (H c); auto.
Qed.
Lemma at_lab o : atom P (n o) -> ~ init (n o) /\ exists q, op_of P (n o) = Some q /\
  op_atomic q = true /\ by_row tbl q (rw Y o).
Proof.
  unfold atom. intro h. assert (ni : ~ init (n o)). { intro i. destruct (n o); auto. }
  split; auto. destruct (its_op o ni) as (q&h1&h2&_). rewrite h1 in h. eauto.
Qed.
Lemma at_row o : atom P (n o) -> ~ init (n o) /\ atomic (rw Y o) = true.
Proof.
  intro h. destruct (at_lab o h) as (ni&q&h1&h2&(_&_&h3&_)). split; auto. unfold atomic. rewrite h3.
  unfold scope_row. rewrite h2. destruct (op_scope q); auto.
Qed.
Lemma incl1_big b c : atom P (n b) -> covers P (n b) (n c) ->
  group_of P (n b) <> group_of P (n c) -> big (row_scope (rw Y b)) = true.
Proof.
  intros h I ne. destruct (at_lab b h) as (ni&q&h1&h2&(_&_&h3&_)). rewrite h3. unfold scope_row.
  rewrite h2. unfold covers in I. destruct (n b) as [|tb pb]; [tauto|].
  destruct (n c) as [|tc pc]; [tauto|]. rewrite h1 in I. destruct (op_scope q); auto.
Qed.
Lemma rem_row b : atom P (n b) -> remote P (n b) -> row_remote (rw Y b) = true.
Proof.
  intros h r. destruct (at_lab b h) as (ni&q&h1&h2&(_&_&_&h3)). unfold remote in r. rewrite h1 in r.
  rewrite h3; auto.
Qed.
Lemma incl_ok b c : atom P (n b) -> atom P (n c) -> incl P (n b) (n c) ->
  group_of P (n b) <> group_of P (n c) -> incl_rows (rw Y b) (rw Y c) = true.
Proof.
  intros h1 h2 I ne. assert (ne' : group_of P (n c) <> group_of P (n b)) by auto. unfold incl_rows.
  destruct I as [[i j]|[[r i]|[i r]]].
  - rewrite (incl1_big b c h1 i ne), (incl1_big c b h2 j ne'). auto.
  - rewrite (incl1_big b c h1 i ne), (rem_row b h1 r). rewrite orb_true_r. auto.
  - rewrite (incl1_big c b h2 i ne'), (rem_row c h2 r). rewrite !orb_true_r. auto.
Qed.
Lemma times o : ~ init (n o) -> 0 < s Y o /\ s Y o < T Y o /\ T Y o < e Y o.
Proof.
  intro ni. destruct (its_op o ni) as (q&_&_&h). split; [apply (@s_pos P tbl Y); auto|].
  rewrite (@T_acc P tbl Y); auto. unfold one_access in h. apply andb_prop in h. destruct h as [h _].
  apply Nat.eqb_eq in h. exact (@acc_pos _ _ _ _ (filter_ex _ _ h) 0 _ (@code_seq P tbl Y o ni)).
Qed.
Lemma l2s o : l2 Y o -> isW P (n o) /\ isR P (n o) /\ arr Y o = T Y o.
Proof.
  intros H. pose proof (@arr_l2 P tbl Y o H). destruct H as [ni h].
  destruct (its_op o ni) as (q&_&_&w). unfold one_access in w. apply andb_prop in w.
  destruct w as [_ w]. unfold inc2 in h. split; [|split; auto]. apply W_iff; auto. unfold writes.
  destruct (row_kind (rw Y o)), (access (rw Y o)); auto; discriminate. apply R_iff; auto.
  unfold reads. destruct (row_kind (rw Y o)), (access (rw Y o)); auto; discriminate.
Qed.
Lemma inits' o : init (n o) -> isW P (n o) /\ ~ isR P (n o) /\ ~ l2 Y o /\ T Y o = 0 /\ arr Y o = 0.
Proof.
  intro i. destruct (init_w P (n o) i) as (h1&h2&_). destruct (@inits P tbl Y o i).
  repeat split; auto. intros [h _]. auto.
Qed.
Lemma acc o : isW P (n o) \/ isR P (n o).
Proof.
  destruct (classic (init (n o))) as [i|ni]. left; apply (init_w P (n o) i).
  destruct (its_op o ni) as (q&h&_). unfold isW, isR. rewrite h. destruct (n o); [left; auto|].
  destruct (op_kind q) eqn:k; [right|left|left]; congruence.
Qed.
Notation locM := (fun a => loc l0 P (n a)).
Notation WM := (fun a => isW P (n a)).
Notation RM := (fun a => isR P (n a)).
Notation iM := (fun a => init (n a)).
Notation atM := (fun a => atom P (n a)).
Notation tM := (fun a b => thd (n a) (n b)).
Notation inM := (fun a b => incl P (n a) (n b)).
Notation relM := (fun a => rel P (n a)).
Notation acqM := (fun a => acq P (n a)).
Notation wgM := (fun a => group_of P (n a)).
Lemma l2_iff o : ~ init (n o) -> (l2 Y o <-> inc2 (rw Y o) = true).
Proof. unfold l2, initm. tauto. Qed.
(* SYNC of the run, by [check]. *)
Lemma SYNC b c r : isW P (n b) -> atom P (n b) -> isR P (n c) -> atom P (n c) ->
  incl P (n b) (n c) -> group_of P (n b) <> group_of P (n c) -> loc l0 P (n b) = loc l0 P (n c) ->
  isR P (n r) -> group_of P (n r) = group_of P (n c) -> loc l0 P (n r) = loc l0 P (n c) ->
    T Y r <= T Y c -> (l2 Y r /\ arr Y b < T Y r \/ fetched Y r /\ arr Y b < ft Y r) ->
    (l2 Y c -> r = c) ->
  Views.carries WM iM (T Y) (arr Y) wgM (inv Y) (group_of P (n b)) (s Y b) (group_of P (n c))
    (e Y c).
Proof.
  apply (@SYNC_ok (M Y) L nat tbl locM WM RM atM iM (l2 Y) (own Y) inM (rfm Y) (T Y) (s Y) (e Y)
    (arr Y) (ft Y) (t Y) (left Y) wgM (inv Y) (rw Y)).
  - intros o ni. destruct (its_op o ni) as (q&_&(h&_)&_). exact h.
  - exact W_iff.
  - exact R_iff.
  - exact at_row.
  - exact l2_iff.
  - exact incl_ok.
  - exact (@code_seq P tbl Y).
  - exact (@T_acc P tbl Y).
  - exact (@flu P tbl Y).
  - exact (@inv_ P tbl Y).
  - exact (@lock_rmw P tbl Y).
  - exact (@lock_L2 P tbl Y).
  - exact inits'.
  - exact l2s.
  - exact (@arr_st P tbl Y).
  - exact (@rf_tot P tbl Y).
  - exact (@look_ft P tbl Y).
  - exact CHECK.
Qed.
(* ATOM of the run. *)
Lemma ATOM w u k : isW P (n u) /\ isR P (n u) -> rfm Y w u -> atom P (n k) -> atom P (n u) ->
  incl P (n k) (n u) -> group_of P (n k) <> group_of P (n u) ->
  Views.first locM WM iM (T Y) (arr Y) wgM k -> mm Y k u -> mme Y k w.
Proof.
  apply (@ATOM_ok (M Y) L nat tbl locM WM RM atM iM (l2 Y) (own Y) inM (rfm Y) (T Y) (s Y) (e Y)
    (arr Y) (ft Y) (t Y) (left Y) wgM (inv Y) (rw Y)).
  - intros o ni. destruct (its_op o ni) as (q&_&(h&_)&_). exact h.
  - exact W_iff.
  - exact R_iff.
  - exact at_row.
  - exact l2_iff.
  - exact incl_ok.
  - exact (@code_seq P tbl Y).
  - exact (@T_acc P tbl Y).
  - exact (@flu P tbl Y).
  - exact (@inv_ P tbl Y).
  - exact (@lock_rmw P tbl Y).
  - exact (@lock_L2 P tbl Y).
  - exact l2s.
  - exact (@arr_st P tbl Y).
  - exact (@dist P tbl Y).
  - exact (@order P tbl Y).
  - exact (@merge P tbl Y).
  - exact (@rf_dom P tbl Y).
  - exact (@rf_tot P tbl Y).
  - exact (@look_l2 P tbl Y).
  - exact (@look_own P tbl Y).
  - exact (@look_ft P tbl Y).
  - exact CHECK.
Qed.
Hypothesis NR : ~ racy l0 nal ini P.
(* Every prefix is consistent, and hb orders writes of a location as they arrive. *)
Lemma both k : (Fig2.cons locM WM RM iM nal tM inM (sbM n (T Y)) relM acqM
  (Fig2.X locM nal (T Y) (mm Y) (rfm Y) k)) /\
  forall w x, Fig2.hb WM RM tM inM (sbM n (T Y)) relM acqM (Fig2.X locM nal (T Y) (mm Y) (rfm Y) k)
    w x -> loc l0 P (n w) = loc l0 P (n x) -> isW P (n w) -> isW P (n x) -> mm Y w x.
Proof.
  assert (H : (forall x y, tM x y -> tM y x) /\ (forall x y z, tM x y -> tM y z -> tM x z) /\
    (forall x y, tM x y -> ~ iM x) /\ (forall x y, tM x y -> wgM x = wgM y) /\
    (forall x y, inM x y -> inM y x) /\ (forall l, exists x, iM x /\ locM x = l) /\
    (forall x y, iM x -> iM y -> locM x = locM y -> x = y) /\ (forall x, iM x -> ~ atM x) /\
    (forall x, relM x -> atM x) /\ (forall x, acqM x -> atM x) /\
    (forall x, atM x -> WM x -> ~ Fig2.rmw WM RM x -> relM x) /\
    (forall x, atM x -> nal (locM x) -> (WM x -> relM x) /\ (RM x -> acqM x))).
  { split; [intros; apply thd_sym; auto|]. split; [intros; eapply thd_tr; eauto|].
    split; [intros x y; apply thd_ni|]. split; [intros x y; apply thd_wg|].
    split; [intros x y; apply incl_sym|]. split.
    { intro l. destruct (@nd_init P tbl Y l) as [a h]. exists a. rewrite h. simpl. auto. }
    split.
    { intros x y i j l. apply (@nd_inj P tbl Y). destruct (n x), (n y); simpl in *; try tauto.
      congruence. }
    split. { intros x i. apply (init_w P (n x) i). }
    split; [intros x; apply rel_at|]. split; [intros x; apply acq_at|].
    assert (Z : forall x, atM x -> exists o, op_of P (n x) = Some o /\ op_atomic o = true /\
      (relM x <-> op_releases o = true) /\ (acqM x <-> op_acquires o = true) /\ ~ iM x).
    { intros x a. destruct (at_lab x a) as (ni&o&h1&h2&_). exists o. unfold rel, acq, having.
      rewrite h1. tauto. }
    split.
    - intros x a w nr. destruct (Z x a) as (o&h1&h2&h3&h4&ni). apply h3.
      apply (proj1 (SCOPE _ h1 h2)). unfold isW in w. rewrite h1 in w. destruct (op_kind o) eqn:k0.
      + destruct (n x); [destruct ni; simpl; auto|congruence].
      + eauto.
      + exfalso. apply nr.
        split; unfold isW, isR; rewrite h1, k0; [destruct (n x); auto|]; congruence.
    - intros x a na. destruct (Z x a) as (o&h1&h2&h3&h4&ni). destruct (SCOPE _ h1 h2) as [_ h5].
      assert (lo : loc l0 P (n x) = op_loc o).
      { unfold loc. rewrite h1. destruct (n x); auto. discriminate. }
      rewrite lo in na. destruct (h5 na) as [h6 h7]. rewrite h3, h4. split.
      + intro w. apply h6. unfold isW in w. rewrite h1 in w.
        destruct (n x); [destruct ni; simpl; auto|auto].
      + intro r. apply h7. unfold isR in r. rewrite h1 in r. auto. }
  destruct H as (H1&H2&H3&H4&H5&H6&H7&H8&H9&H10&H11&H12). assert (PRFY := @prefixes_race_free Val L
    val_dec l0 nal ini P (M Y) n (T Y) (rfm Y) (val Y) (@nd_inj P tbl Y) (@nd_init P tbl Y)
    (@nd_real P tbl Y) (@nd_path P tbl Y) (@T_sb P tbl Y) (@rf_v P tbl Y) (@st_v P tbl Y) NR).
  split.
  - refine (proj1 (@Views.thm1 (M Y) L nat (all Y) (@all_in P tbl Y) locM WM RM atM iM relM acqM
      (l2 Y) (own Y) nal tM inM (rfm Y) (T Y) (s Y) (e Y) (arr Y) (ft Y) wgM (inv Y) H1 H2 H3 H4 H5
      H6 H7 (@T_inj P tbl Y) H8 times inits' l2s (@arr_st P tbl Y) (@dist P tbl Y) (@order P tbl Y)
      (@rf_dom P tbl Y) (@rf_fun P tbl Y) (@rf_tot P tbl Y) (@look_l2 P tbl Y) (@look_own P tbl Y)
      (@look_ft P tbl Y) (@seqs P tbl Y) SYNC ATOM H9 H10 H11 H12 PRFY k)).
  - refine (@Views.thm1_last (M Y) L nat (all Y) (@all_in P tbl Y) locM WM RM atM iM relM acqM
      (l2 Y) (own Y) nal tM inM (rfm Y) (T Y) (s Y) (e Y) (arr Y) (ft Y) wgM (inv Y) H1 H2 H3 H4 H5
      H6 H7 (@T_inj P tbl Y) H8 times inits' l2s (@arr_st P tbl Y) (@dist P tbl Y) (@order P tbl Y)
      (@rf_dom P tbl Y) (@rf_fun P tbl Y) (@rf_tot P tbl Y) (@look_l2 P tbl Y) (@look_own P tbl Y)
      (@look_ft P tbl Y) (@seqs P tbl Y) SYNC ATOM H9 H10 H11 H12 PRFY k).
Qed.
End Y.

(* A run of which the facts are known has an outcome of the program, or the program races. *)
Theorem thm1 P tbl (Y : facts P tbl) : check tbl = true -> in_scope P -> racy l0 nal ini P \/
  explained P (val Y) (mem Y).
Proof.
  intros C S. destruct (classic (racy l0 nal ini P)) as [r|NR]; [left; auto|right].
  destruct (@outcome Val L val_dec l0 nal ini P (M Y) (nd Y) (T Y) (rfm Y) (val Y) (@nd_inj P tbl Y)
    (@nd_init P tbl Y) (@nd_real P tbl Y) (@nd_path P tbl Y) (@T_sb P tbl Y) (@rf_v P tbl Y)
    (@st_v P tbl Y) (all Y) (@all_in P tbl Y) (mm Y) (mem Y)) as (g&h1&h2&h3&_&_&h4).
  - intro k. apply (both Y C S NR).
  - intros k w x. apply (both Y C S NR).
  - exact (@nd_all P tbl Y).
  - exact (@mem_v P tbl Y).
  - exists g. rewrite consistent_iff. auto.
Qed.
End Thm.
