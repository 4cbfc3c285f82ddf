(** * Fig. 2 of Thm1.v is what opencl-rsp.cat says

    GeneratedModel.v is what `rspverify show opencl-rsp --format rocq` makes of the model's file.  Its
    names are given the meaning that they have for programs of Thm1.v, in which there are no fences,
    barriers and local memory, no seq_cst, and one device. Then its axioms are those of [consistent],
    and its condition Dr is [race_free]. *)
Require Import List Relations Classical Thm1.
Require GeneratedModel.
Module M := GeneratedModel.
Import ListNotations.
Set Implicit Arguments.
Local Arguments op_of : simpl never.
Local Arguments loc : simpl never.

Section SameModel.
Variables Val Loc : Type.
Variable nowhere : Loc.
Variable nonatomic : Loc -> Prop.
Variable P : program Val Loc.
Notation event := (event Val Loc).
Variable g : graph event.
Notation loc := (loc nowhere P).

Definition of_op (p : op Val Loc -> Prop) (x : event) :=
  match op_of P x with Some o => p o | None => False end.
Definition scoped s (x : event) :=
  events g x /\ of_op (fun o => op_atomic o = true /\ op_scope o = s) x.
Definition both (x y : event) := events g x /\ events g y.
Definition no_set (x : event) := False.
Definition no_rel (x y : event) := False.
Definition one_place (same : nat -> nat -> Prop) (x y : event) := both x y /\
  match x, y with
  | Node t _, Node u _ => same (group (thread_of P t)) (group (thread_of P u))
  | _, _ => False
  end.

Local Instance meaning : M.base event := {|
  M.W x := events g x /\ isW P x;
  M.R x := events g x /\ isR P x;
  M.A x := events g x /\ atom P x;
  M.REL x := events g x /\ rel P x /\ ~ acq P x;
  M.ACQ x := events g x /\ acq P x /\ ~ rel P x;
  M.ACQ_REL x := events g x /\ rel P x /\ acq P x;
  M.WG := scoped WG;
  M.DV := scoped DV;
  M.ALL := scoped ALL;
  M.rem x := events g x /\ remote P x;
  M.nal x := events g x /\ nonatomic (loc x);
  M.G := events g;
  M.F := no_set; M.EF := no_set; M.XF := no_set; M.L := no_set; M.SC := no_set; M.SG := no_set;
  M.sb x y := both x y /\ sb x y;
  M.rf := rf g;
  M.mo := mo g;
  M.loc x y := both x y /\ loc x = loc y;
  M.thd x y := both x y /\ thd x y;
  M.wg := one_place eq;
  M.dv := one_place (fun _ _ => True);
  M.unv := both;
  M.id x y := both x y /\ x = y;
  M.sg := no_rel; M.party := no_rel; M.same_B := no_rel |}.

Hypothesis W : well_formed nowhere nonatomic P g.

Ltac ops := unfold M.seq, M.only, M.union, M.inter, M.minus, M.prod, M.inverse, M.maybe,
  M.either, M.both_of, M.less, M.domain, M.range in *; simpl in *; unfold both in *.

(** ** Scopes *)
Lemma atom_node x : atom P x -> exists t p, x = Node t p.
Proof. destruct x; [intros []|eauto]. Qed.
Lemma same_covers x y : both x y -> atom P x -> atom P y -> (M.incl1 x y <-> covers P x y).
Proof.
  intros [ex ey] ax ay. destruct (atom_node x ax) as (t&p&->), (atom_node y ay) as (u&q&->).
  unfold M.incl1, covers. ops. unfold scoped, of_op, one_place, both, no_set. unfold atom in ax.
  destruct (op_of P (Node t p)) as [o|]; [|destruct ax]. split.
  - intros [[[(z&[<- []]&_)|(z&[<- (_&_&s)]&_&k)]|(z&[<- (_&_&s)]&_)]|(z&[<- (_&_&s)]&_)];
      rewrite s; auto.
  - intro c. destruct (op_scope o) eqn:s; [left; left; right|left; right|right];
      exists (Node t p); repeat split; auto.
Qed.
Lemma same_incl x y : both x y -> atom P x -> atom P y -> (M.incl x y <-> incl P x y).
Proof.
  intros [ex ey] ax ay.
  assert (c1 : M.incl1 x y <-> covers P x y) by (apply same_covers; auto; split; auto).
  assert (c2 : M.incl1 y x <-> covers P y x) by (apply same_covers; auto; split; auto).
  unfold M.incl, incl. ops. rewrite <- c1, <- c2. split.
  - intros [[h|(z&[<- (_&h)]&k)]|(z&k&[-> (_&h)])]; tauto.
  - intros [h|[[h k]|[k h]]]; [tauto|left; right|right]; eauto 6.
Qed.

(** ** Release sequences, synchronises-with, happens-before *)
Lemma same_in_rs a b : both a b -> (M.rs' a b <-> in_rs P a b).
Proof.
  intros [ea eb]. unfold M.rs', in_rs, rmw. ops. split.
  - intros [h|(z&_&[-> h])]; tauto.
  - intros [h|h]; [tauto|right]. exists b. tauto.
Qed.
Lemma same_rs a b : M.maybe (@M.rs _ meaning) a b <-> rs P g a b.
Proof.
  unfold M.rs, rs. ops. split.
  - intros [[[m r] n]|e]; [right|auto]. destruct (mo_of W a b m) as (ea&eb&_).
    split; auto. split; [apply same_in_rs; auto; split; auto|]. intros k k1 k2. apply NNPP. intro h.
    apply n. exists k. split; auto. split; auto. destruct (mo_of W a k k1) as (_&ek&_).
    rewrite same_in_rs; auto. split; auto.
  - intros [e|(m&r&n)]; [auto|left]. destruct (mo_of W a b m) as (ea&eb&_). split.
    + split; auto. apply same_in_rs; auto. split; auto.
    + intros (k&[k1 k2]&k3). apply k2. destruct (mo_of W a k k1) as (_&ek&_).
      apply same_in_rs; [split; auto|]. auto.
Qed.
(** A release and an acquire, between which is a release sequence: there are no fences. *)
Lemma same_sw x y : M.gsw x y <-> sw P g x y.
Proof.
  assert (fences : forall (r : event -> event -> Prop) a b, M.maybe r a b ->
    (forall c d, ~ r c d) -> a = b).
  { intros r a b [h|h] n; auto. destruct (n _ _ h). }
  assert (no_fsb : forall c d, ~ @M.fsb _ meaning c d).
  { unfold M.fsb. ops. intros c d (z&[_ []]&_). }
  assert (no_sbf : forall c d, ~ @M.sbf _ meaning c d).
  { unfold M.sbf. ops. intros c d (z&_&[_ []]). }
  unfold M.gsw. split.
  - intros [[[[h i] n]|h]|h].
    + destruct h as (y1&h&[e0 [aq _]]). subst y1. destruct h as (y2&h&f2).
      apply fences in f2; auto. subst y2. destruct h as (y3&h&[e3 [_ ry]]). subst y3.
      destruct h as (w&h&F). destruct h as (x1&h&s). apply same_rs in s.
      destruct h as (x2&h&[e2 [[ax wx] _]]). subst x2. destruct h as (x3&h&f1).
      apply fences in f1; auto. subst x1. destruct h as [e4 [rx _]]. subst x3.
      unfold M.release, M.acquire in *. ops. unfold no_set in *.
      destruct (rf_of W w y F) as (_&ey&_). destruct ax as [ex ax], wx as [_ wx], ry as [_ ry].
      assert (ay : atom P y).
      { destruct aq as [[[[aq|aq]|[]] _]|[]]; unfold acq, having, atom in *;
          destruct (op_of P y); tauto. }
      assert (i' : incl P x y) by (apply same_incl; auto; split; auto).
      assert (n' : ~ thd x y) by (intro t; apply n; split; auto; split; auto).
      assert (rx' : rel P x) by (clear - rx; tauto).
      assert (ay' : acq P y) by (clear - aq; tauto).
      unfold sw. repeat (split; [assumption|]). exists w. auto.
    + exfalso. ops. unfold no_set in *. tauto.
    + exfalso. unfold M.both in h. ops. unfold no_set in *. tauto.
  - intros (ex&ey&wx&rx&ry&ay&i&n&w&s&F). left. left.
    assert (atx : atom P x) by (unfold rel, having, atom in *; destruct (op_of P x); tauto).
    assert (aty : atom P y) by (unfold acq, having, atom in *; destruct (op_of P y); tauto).
    assert (Rx : @M.release _ meaning x).
    { left. split; [|left; split; auto]. left. destruct (classic (acq P x)); [right|left];
        repeat split; auto. }
    assert (Ay : @M.acquire _ meaning y).
    { left. split; [|left; split; auto]. left. destruct (classic (rel P y)); [right|left];
        repeat split; auto. }
    split; [split|].
    + exists y. split; [|repeat split; auto]. exists y. split; [|right; auto].
      exists y. split; [|repeat split; auto]. exists w. split; auto.
      exists x. split; [|apply same_rs; auto]. exists x. split; [|repeat split; auto].
      exists x. split; [repeat split; auto|right; auto].
    + apply same_incl; auto. split; auto.
    + intros [_ t]. exact (n t).
Qed.
Lemma same_hb x y : M.hb x y <-> hb P g x y.
Proof.
  unfold M.hb, hb. split.
  - intros [h|h].
    + induction h as [a b [[e s]|s]|];
        [apply t_step; left|apply t_step; right|eapply t_trans; eauto].
      * destruct e as [e1 e2], s as [_ s]. auto.
      * apply same_sw. auto.
    + exfalso. induction h as [a b [[e s]|s]|]; [destruct e; contradiction| |assumption].
      unfold M.lsw, M.both in s. ops. unfold no_set in *.
      destruct s as [[[[(z&_&_&_&[]) _] _]|s]|s]; tauto.
  - intro h. left.
    induction h as [a b [(ea&eb&s)|s]|]; [apply t_step|apply t_step|eapply t_trans; eauto].
    + left. repeat split; auto.
    + right. apply same_sw. auto.
Qed.

(** ** The axioms *)
Lemma hb_events x y : hb P g x y -> events g x /\ events g y.
Proof. induction 1 as [x y [h|h]|]; [tauto|destruct h; tauto|tauto]. Qed.
Notation axioms := (@M.axiom_Hb _ meaning /\ @M.axiom_Coh _ meaning /\ @M.axiom_Rf _ meaning /\
  @M.axiom_Narf _ meaning /\ @M.axiom_Rmw _ meaning /\ @M.axiom_Sc _ meaning).
Theorem same_axioms : consistent nowhere nonatomic P g <-> axioms.
Proof.
  split.
  - intros [_ hbi coh rfa seen last (r1&r2&r3)]. repeat split.
    + intros x h. apply same_hb in h. exact (hbi x h).
    + intros b (a&(x&(y&h1&h2)&h3)&h4). apply same_hb in h4. ops.
      apply (coh a b y x); auto; destruct h1, h3; auto.
    + intros w (r&h1&h2). apply same_hb in h2. exact (rfa w r h1 h2).
    + intros w r [(z&F&[<- (er&n)]) v]. destruct (rf_of W w z F) as (ew&_&ww&rr&l).
      apply v. unfold M.vis. ops. split; [repeat split; auto; apply same_hb, seen; auto|].
      intros (k&(k'&h1&[-> (ek&wk)])&(h2&(_&lk))). apply same_hb in h1, h2.
      exact (last w z k F n wk lk h1 h2).
    + intros x [[h|(z&(y&h1&h2)&h3)]|(y&h1&h2)].
      * exact (r1 x h).
      * exact (r2 _ _ _ h1 h2 h3).
      * exact (r3 _ _ h1 h2).
    + intros x h. enough (N : forall a b, ~ M.plus (M.minus (M.inter (M.inter
        (M.prod (@M.SC _ meaning) (@M.SC _ meaning)) (@M.incl _ meaning)) (@M.sc_before _ meaning))
        (@M.id _ meaning)) a b) by exact (N x x h).
      intros a b k. induction k as [a b k|]; auto. destruct k as [[[[[] _] _] _] _].
  - intros (hbi&coh&rfa&narf&rmwa&_). split; auto.
    + intros x h. apply same_hb in h. exact (hbi x h).
    + intros a b y x h1 h2 h3 h4. apply same_hb in h1. apply (coh b). exists a. split; auto.
      exists x. split; [exists y; split; auto|]; unfold M.maybe, M.inverse;
        destruct h2, h4; subst; auto.
    + intros w r h1 h2. apply same_hb in h2. apply (rfa w). exists r. auto.
    + intros w r F n. destruct (rf_of W w r F) as (ew&er&_). apply same_hb, NNPP. intro h.
      apply (narf w r). split; [exists r; repeat split; auto|]. intros [[_ k] _]. exact (h k).
    + intros w r k F n wk lk h1 h2. destruct (rf_of W w r F) as (ew&er&_).
      apply (narf w r). split; [exists r; repeat split; auto|]. intros [_ v]. apply v.
      destruct (hb_events h1) as [_ ek]. exists k. split.
      * exists k. split; [apply same_hb; auto|repeat split; auto].
      * split; [apply same_hb; auto|repeat split; auto].
    + repeat split.
      * intros x h. apply (rmwa x). left; left; auto.
      * intros x y z h1 h2 h3. apply (rmwa x). left; right. exists z. split; auto. exists y. auto.
      * intros x y h1 h2. apply (rmwa x). right. exists y. auto.
Qed.

(** ** What a program must not do *)
Hypothesis all_real : forall x, events g x -> real P x.
Lemma writes_or_reads x : real P x -> isW P x \/ isR P x.
Proof.
  destruct x as [l|t p]; [left; exact I|]. unfold real, isW, isR.
  destruct (op_of P (Node t p)) as [o|]; [|tauto].
  destruct (op_kind o); [right|left|left]; discriminate.
Qed.
Theorem same_races : race_free nowhere P g <-> @M.axiom_Dr _ meaning.
Proof.
  unfold M.axiom_Dr, M.dr, M.conflict. split.
  - intros F x y [[[[[[k (_&l)] h1] h2] ai] t] d]. ops.
    assert (e : events g x /\ events g y) by tauto. destruct e as [ex ey].
    assert (w : isW P x \/ isW P y) by tauto.
    assert (from_init : forall a b, events g a -> events g b -> init a -> ~ init b -> M.hb a b).
    { intros a b ea eb ia nb. apply same_hb, t_step. left. repeat split; auto.
      destruct a, b; simpl in *; tauto. }
    destruct (classic (init x)) as [ix|nx], (classic (init y)) as [iy|ny].
    + apply d. split; auto. destruct x, y; simpl in ix, iy; try tauto. unfold loc in l. congruence.
    + apply h1. auto.
    + apply h2. unfold M.inverse. auto.
    + assert (ne : x <> y) by (intros ->; apply d; auto).
      destruct (F x y ex ey nx ny l w ne) as [(ax&ay&i)|[t'|[h|h]]].
      * apply ai. split; [apply same_incl; auto; split; auto|split; split; auto].
      * apply t. auto.
      * apply h1, same_hb, h.
      * apply h2, same_hb, h.
  - intros N a c ea ec na nc l w ne. apply NNPP. intro h. apply (N a c). ops.
    pose proof (writes_or_reads a (all_real a ea)).
    pose proof (writes_or_reads c (all_real c ec)).
    repeat split; auto; try tauto.
    + rewrite same_hb. tauto.
    + rewrite same_hb. tauto.
    + intros [i [[_ aa] [_ ac]]]. apply h. left. repeat split; auto.
      apply same_incl in i; auto. split; auto.
Qed.
Theorem no_barriers : @M.axiom_Barrier _ meaning.
Proof. unfold M.axiom_Barrier, M.parted, M.crossed. ops. unfold no_set. firstorder. Qed.
End SameModel.
