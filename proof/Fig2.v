(** * Fig. 2 over any events: the induction of docs/proof.md

    [rel] and [acq] say which atomics release and acquire; atomic stores release. The run enters
    through the hypotheses of section Machine alone. *)
Require Import Classical FunctionalExtensionality PropExtensionality Relations List Arith Lia.
Require Import Thm1.
Set Implicit Arguments.

Section G.
Variables E L : Type.
Variable loc : E -> L.
Variables isW isR at_ init : E -> Prop.
Variable nal : L -> Prop.
Variables thd incl sb : E -> E -> Prop.
Definition rmw x := isW x /\ isR x.
Hypothesis sb_ir : forall x, ~ sb x x.
Hypothesis sb_tr : forall x y z, sb x y -> sb y z -> sb x z.
Hypothesis sb_ni : forall x y, sb x y -> ~ init y.
Hypothesis sb_init : forall x y, init x -> ~ init y -> sb x y.
Hypothesis thd_sym : forall x y, thd x y -> thd y x.
Hypothesis thd_tr : forall x y z, thd x y -> thd y z -> thd x z.
Hypothesis thd_ni : forall x y, thd x y -> ~ init x.
Hypothesis incl_sym : forall x y, incl x y -> incl y x.
Hypothesis acc : forall x, isW x \/ isR x.
Hypothesis init_w : forall x, init x -> isW x /\ ~ isR x /\ ~ at_ x.
Hypothesis init_ex : forall l, exists x, init x /\ loc x = l.
Hypothesis init_uq : forall x y, init x -> init y -> loc x = loc y -> x = y.

(* A finite set that is not empty has a maximal element of a strict order. *)
Lemma maximal_exists (evs : list E) (R : E -> E -> Prop) (Q : E -> Prop) : (forall x, Q x ->
  In x evs) ->
  (forall x y z, R x y -> R y z -> R x z) -> (forall x, ~ R x x) ->
  (exists x, Q x) -> exists m, Q m /\ forall y, Q y -> ~ R m y.
Proof.
  intros fin tr ir [x0 q0].
  assert (H : forall l, (exists m, Q m /\ forall y, In y l -> Q y -> ~ R m y)).
  { induction l as [|z l [m [qm Hm]]]; [exists x0; split; auto|].
    destruct (classic (Q z /\ R m z)) as [[qz rz]|N].
    - exists z; split; auto. intros y [<-|i] qy; auto. intro. eapply Hm; eauto.
    - exists m; split; auto. intros y [<-|i] qy; auto. }
  destruct (H evs) as [m [qm Hm]]. exists m; split; auto.
Qed.

Notation graph := (Thm1.graph E).
Definition in_rs x y := thd x y \/ rmw y.
Definition rs (g : graph) a b := mo g a b /\ in_rs a b /\ forall k, mo g a k -> mo g k b ->
  in_rs a k.
Definition rsq (g : graph) a b := a = b \/ rs g a b.
Section RA.
(* rel: the atomics that release; acq: those that acquire. Atomic stores (no RMW) release. *)
Variables rel acq : E -> Prop.
Hypothesis rel_at : forall x, rel x -> at_ x.
Hypothesis acq_at : forall x, acq x -> at_ x.
Hypothesis rel_st : forall x, at_ x -> isW x -> ~ rmw x -> rel x.
Definition sw (g : graph) x y := events g x /\ events g y /\ isW x /\ rel x /\ isR y /\ acq y /\
  incl x y /\ ~ thd x y /\
                       exists w, rsq g x w /\ rf g w y.
Definition hb1 (g : graph) x y := (events g x /\ events g y /\ sb x y) \/ sw g x y.
Definition hb (g : graph) := clos_trans E (hb1 g).
Record wf (g : graph) : Prop := {
  w_fin : exists l : list E, forall x, events g x -> In x l;
  w_init : forall x, init x -> events g x;
  w_sb : forall x y, sb x y -> events g y -> events g x;
  w_rf : forall w r, rf g w r -> events g w /\ events g r /\ isW w /\ isR r /\ loc w = loc r;
  w_rff : forall w w' r, rf g w r -> rf g w' r -> w = w';
  w_rft : forall r, events g r -> isR r -> exists w, rf g w r;
  w_mo : forall x y, mo g x y -> events g x /\ events g y /\ isW x /\ isW y /\ loc x = loc y /\
    ~ nal (loc x);
  w_mot : forall x y z, mo g x y -> mo g y z -> mo g x z;
  w_moi : forall x, ~ mo g x x;
  w_mol : forall x y, events g x -> events g y -> isW x -> isW y -> loc x = loc y ->
    ~ nal (loc x) -> x <> y -> mo g x y \/ mo g y x }.
Definition Rmw (g : graph) := (forall x, ~ rf g x x) /\
  (forall x y z, mo g x y -> mo g y z -> ~ rf g x z) /\ (forall x y, mo g x y -> ~ rf g y x).
Record cons (g : graph) : Prop := {
  c_wf : wf g;
  c_hb : forall x, ~ hb g x x;
  c_coh : forall a b y x, hb g a b -> (y = b \/ rf g y b) -> mo g y x -> (x = a \/ rf g x a) ->
    False;
  c_rf : forall w r, rf g w r -> hb g r w -> False;
  c_na1 : forall w r, rf g w r -> nal (loc r) -> hb g w r;
  c_na2 : forall w r k, rf g w r -> nal (loc r) -> isW k -> loc k = loc r -> hb g w k -> hb g k r ->
    False;
  c_rmw : Rmw g }.
Definition racefree (g : graph) := forall a c, events g a -> events g c -> ~ init a -> ~ init c ->
  loc a = loc c -> isW a \/ isW c -> a <> c ->
  (at_ a /\ at_ c /\ incl a c) \/ thd a c \/ hb g a c \/ hb g c a.

Lemma hb_tr g x y z : hb g x y -> hb g y z -> hb g x z. Proof. intros; eapply t_trans; eauto. Qed.
Lemma hb_D g x y : hb g x y -> events g x /\ events g y.
Proof. induction 1 as [x y [(a&b&_)|(a&b&_)]|]; tauto. Qed.
Lemma hb_ni g x y : hb g x y -> ~ init y.
Proof.
  induction 1 as [x y [(a&b&c)|(a&b&c&d&e&f&_)]|]; auto. eapply sb_ni; eauto. intro i.
  destruct (init_w i) as (_&_&?); auto.
Qed.
Lemma hb_last g x y : hb g x y -> exists p, (x = p \/ hb g x p) /\ hb1 g p y.
Proof.
  intro H. apply clos_trans_tn1 in H. destruct H as [y H|y z H H']. exists x; auto.
  exists y; split; auto. right. apply clos_tn1_trans; auto.
Qed.
Lemma hb1_hb g x y : hb1 g x y -> hb g x y. Proof. intro; apply t_step; auto. Qed.
Lemma sb_hb g x y : wf g -> events g y -> sb x y -> hb g x y.
Proof. intros W H S. apply hb1_hb. left. split; auto. eapply (w_sb W); eauto. Qed.

Lemma last_exists g (R : E -> E -> Prop) (Q : E -> Prop) : wf g -> (forall x, Q x -> events g x) ->
  (forall x y z, R x y -> R y z -> R x z) -> (forall x, ~ R x x) ->
  (exists x, Q x) -> exists m, Q m /\ forall y, Q y -> ~ R m y.
Proof.
  intros W D. destruct (w_fin W) as [l h]. apply maximal_exists with l. auto.
Qed.

(* What comes next in mo after [k], on the way to [w]. *)
Lemma next_in_mo g k w : wf g -> mo g k w -> exists x, mo g k x /\ (x = w \/ mo g x w) /\
  (forall y, mo g k y -> ~ mo g y x).
Proof.
  intros W H. destruct (@last_exists g (fun a b => mo g b a) (fun x => mo g k x /\
    (x = w \/ mo g x w)) W) as [m [[q q'] M]].
  - intros x (h&_). apply (w_mo W _ _ h).
  - intros; eapply (w_mot W); eauto.
  - apply (w_moi W).
  - exists w; auto.
  - exists m. repeat split; auto. intros y a b. apply (M y); auto. split; auto. right.
    destruct q' as [ -> |]; auto. eapply (w_mot W); eauto.
Qed.
(* An RMW reads what is just before it in mo (axiom Rmw). *)
Lemma rmw_reads_previous g k u : wf g -> Rmw g -> rmw u -> mo g k u ->
  (forall y, mo g k y -> ~ mo g y u) -> rf g k u.
Proof.
  intros W (R1&R2&R3) [uw ur] H I. pose proof (w_mo W _ _ H) as (a&b&c&d&e&f).
  destruct (w_rft W b ur) as [w path_sw]. destruct (w_rf W _ _ path_sw) as (g1&g2&g3&g4&g5).
  destruct (classic (w = k)) as [<-|N]; auto. exfalso. assert (wu : mo g w u).
  { destruct (@w_mol g W w u) as [|M]; auto; try congruence. intro; subst; eapply R1; eauto.
    exfalso; eapply R3; eauto. }
  destruct (@w_mol g W w k) as [M|M]; auto; try congruence. eapply R2; eauto. eapply I; eauto.
Qed.

Definition restrict (g : graph) (S : E -> Prop) :=
  Graph S (fun w r => rf g w r /\ S r) (fun x y => mo g x y /\ S x /\ S y).
Definition rf_closed (g : graph) S := forall w r, rf g w r -> S r -> S w.

(* A release sequence of a part that something outside of the part breaks: there is a first
   write [nx] of the part behind it, a store of the thread of [b]. *)
Lemma broken_from_outside g (S : E -> Prop) b w : wf g -> Rmw g -> rf_closed g S ->
  rsq (restrict g S) b w -> ~ rsq g b w -> S b -> S w ->
  exists k nx, ~ S k /\ mo g b k /\ mo g k nx /\ (forall y, mo g k y -> ~ mo g y nx) /\ S nx /\
    ~ rmw nx /\ thd b nx /\ mo g b nx /\ rsq g nx w.
Proof.
  intros W R RC H N Sb Sw. destruct H as [ -> |((m&_&_)&r&B)]; [exfalso; apply N; left; auto|].
  simpl in B. assert (EX : exists z, ~ S z /\ mo g b z /\ mo g z w).
  { apply NNPP. intro X. apply N. right. split; auto. split; auto. intros k k1 k2.
    apply B; repeat split; auto; apply NNPP; intro; apply X; exists k; auto. }
  destruct (@last_exists g (mo g) (fun z => ~ S z /\ mo g b z /\ mo g z w) W)
    as [k [(k1&k2&k3) M]]; auto.
  { intros z (_&h&_). apply (w_mo W _ _ h). }
  { apply (w_mot W). }
  { apply (w_moi W). }
  destruct (@next_in_mo g k w W k3) as (nx&n1&n2&n3). assert (Snx : S nx).
  { destruct n2 as [ -> |n2]; auto. apply NNPP; intro. apply (M nx); auto. repeat split; auto.
    eapply (w_mot W); eauto. }
  assert (NR : ~ rmw nx).
  { intro u. apply k1. eapply RC; [|eauto]. apply rmw_reads_previous; auto. }
  assert (bn : mo g b nx) by (eapply (w_mot W); eauto). assert (TH : thd b nx).
  { destruct n2 as [ -> |n2]; [destruct r; tauto|]. destruct (B nx); try tauto. }
  exists k, nx. repeat split; auto. destruct n2 as [ -> |n2]; [left; auto|right].
  repeat split; auto.
  - destruct r as [r|r]; [left|right]; auto. eapply thd_tr; [apply thd_sym|]; eauto.
  - intros y y1 y2. assert (S y).
    { apply NNPP; intro. apply (M y). split; auto. split; auto. eapply (w_mot W); eauto.
      eapply (w_mot W); [exact n1|auto]. }
    destruct (B y) as [q|q]; repeat split; auto. eapply (w_mot W); eauto. left.
    eapply thd_tr; [apply thd_sym|]; eauto. right; auto.
Qed.

(** ** Restriction to a part that is closed under hb and rf *)
Lemma rs_restr g (S : E -> Prop) x w : rsq g x w -> S x -> S w -> rsq (restrict g S) x w.
Proof.
  intros [ -> |(m&r&B)]; [left; auto|right]. repeat split; auto. simpl. intros k (?&_) (?&_); auto.
Qed.

(* What happens before a member of a closed part does so in the part alone. *)
Lemma hb_restr g (S : E -> Prop) x y : S y -> (forall x y, hb1 g x y -> S y -> S x) ->
  rf_closed g S -> hb g x y -> hb (restrict g S) x y.
Proof.
  intros Sy C RC H. assert (ONE : forall x y, hb1 g x y -> S y -> hb (restrict g S) x y).
  { clear -C RC. intros x y H Sy. apply hb1_hb. assert (S x) by eauto.
    destruct H as [(_&_&?)|(_&_&a&b&c&d&e&f&w&i&j)]; [left; simpl; auto|right].
    do 8 (split; auto). exists w. split; [|simpl; auto]. apply rs_restr; eauto. }
  revert Sy. apply clos_trans_t1n in H. induction H as [x y H|x y z H H' IH]; intro Sz; auto.
  assert (Sy : S y) by (clear -H' Sz C; induction H'; eauto). eapply hb_tr; eauto.
Qed.

Lemma no_hb_back g nx w r : cons g -> rsq g nx w -> rf g w r -> ~ hb g r nx.
Proof.
  intros C [ -> |(m&_)] F H. eapply (c_rf C); eauto. eapply (c_coh C) with (y:=nx) (x:=w); eauto.
Qed.

(* The other half.  Two that synchronise in a part alone are ordered through the store [nx] that
   follows what broke the sequence: it synchronises, or else is in no race with [y]. *)
Definition mo_in_sb (g : graph) := forall x y, mo g x y -> thd x y -> sb x y.
Lemma sw_of_part g (S : E -> Prop) x y : wf g -> Rmw g -> rf_closed g S ->
  (forall x, S x -> events g x) -> mo_in_sb g -> sw (restrict g S) x y ->
  hb g x y \/ exists k nx w, ~ S k /\ mo g k nx /\ (forall z, mo g k z -> ~ mo g z nx) /\
    S nx /\ sb x nx /\ rsq g nx w /\ S w /\ rf g w y /\ S y /\
    (hb g nx y \/
     forall h, racefree h -> events h nx -> events h y -> hb h nx y \/ hb h y nx).
Proof.
  intros W R RC SD MT (d1&d2&a&b&c&d&e&f&w&i&j&_). simpl in d1, d2.
  destruct (w_rf W _ _ j) as (j1&j2&j3&j4&j5). assert (Sw : S w) by (eapply RC; eauto).
  destruct (classic (rsq g x w)) as [q|q].
  { left. apply hb1_hb. right. do 8 (split; auto). exists w; auto. }
  right. destruct (@broken_from_outside g S x w) as (k&nx&n1&n2&n3&n4&n5&n6&n7&n8&n9); auto.
  pose proof (w_mo W _ _ n8) as (m1&m2&m3&m4&m5&m6).
  assert (nw : loc nx = loc w). { destruct n9 as [ -> |(m&_)]; auto. apply (w_mo W _ _ m). }
  assert (nt : ~ thd nx y) by (intro; apply f; eauto).
  exists k, nx, w. do 9 (split; auto).
  destruct (classic (at_ nx /\ incl nx y)) as [[p1 p2]|p].
  { left. apply hb1_hb. right. do 8 (split; auto). exists w; auto. }
  right. intros h F h1 h2. destruct (F nx y) as [(z1&_&z2)|[z|z]]; auto.
  - eapply thd_ni, thd_sym; eauto.
  - intro ii. destruct (init_w ii) as (_&?&_); auto.
  - congruence.
  - intros ->. apply n6; split; auto.
  - destruct p. auto.
  - tauto.
Qed.
Lemma restr_hb g (S : E -> Prop) x y : cons g -> racefree g -> (forall x, S x -> events g x) ->
  rf_closed g S -> mo_in_sb g -> hb (restrict g S) x y -> hb g x y.
Proof.
  intros C F SD RC MT. induction 1 as [x y H|]; [|eapply hb_tr; eauto]. pose proof (c_wf C) as W.
  destruct H as [(a&b&c)|H]; simpl in *. { apply hb1_hb; left; auto. }
  destruct (sw_of_part W (c_rmw C) RC SD MT H)
    as [h|(k&nx&w&_&_&_&n1&n2&n3&_&n4&n5&D)]; auto.
  apply hb_tr with nx. { apply sb_hb; auto. }
  destruct D as [D|D]; auto. destruct (D g F) as [z|z]; auto.
  destruct (no_hb_back C n3 n4 z).
Qed.

(* Step 3 of the induction: a part that is closed under hb and rf is consistent. *)
Lemma restriction_consistent g (S : E -> Prop) : cons g -> racefree g ->
  (forall x, S x -> events g x) ->
  (forall x, init x -> S x) ->
  (forall x y, hb1 g x y -> S y -> S x) -> rf_closed g S -> mo_in_sb g -> cons (restrict g S).
Proof.
  intros C F SD SI CL RC MT.
  assert (DN : forall x y, hb (restrict g S) x y -> hb g x y) by (intros; eapply restr_hb; eauto).
  pose proof (c_wf C) as W. destruct (c_rmw C) as (R1&R2&R3). split; simpl.
  - split; simpl; auto.
    + destruct (w_fin W) as [l Hl]. exists l; auto.
    + intros x y H Sy. eapply CL; [|eauto]. left. repeat split; auto. eapply (w_sb W); eauto.
    + intros w r [H H']. destruct (w_rf W _ _ H) as (?&?&?&?&?). repeat split; eauto.
    + intros w w' r [] []; eapply (w_rff W); eauto.
    + intros r H i. destruct (w_rft W (SD _ H) i) as [w]; exists w; auto.
    + intros x y (H&?&?). destruct (w_mo W _ _ H) as (?&?&?&?&?&?). repeat split; auto.
    + intros x y z (?&?&?) (?&?&?); repeat split; auto. eapply (w_mot W); eauto.
    + intros x (H&_). eapply (w_moi W); eauto.
    + intros x y sx sy wx wy l n ne. destruct (@w_mol g W x y); auto.
  - intros x H. eapply (c_hb C); eauto.
  - intros a b y x H h1 (h2&_) h3. eapply (c_coh C) with (y:=y) (x:=x); eauto; tauto.
  - intros w r [H _] H'. eapply (c_rf C); eauto.
  - intros w r [H Sr] H'. apply hb_restr; auto. apply (c_na1 C); auto.
  - intros w r k [H _] n kw l h1 h2. eapply (c_na2 C) with (k:=k); eauto.
  - split; [|split]; simpl.
    + intros x [H _]. exact (R1 _ H).
    + intros x y z (h1&_) (h2&_) [h3 _]. exact (R2 _ _ _ h1 h2 h3).
    + intros x y (h1&_) [h2 _]. exact (R3 _ _ h1 h2).
Qed.

(** ** Completion, one step *)
Definition extends (g g' : graph) c :=
  (forall x, events g' x <-> events g x \/ x = c) /\
    (forall w r, r <> c -> (rf g' w r <-> rf g w r)) /\
  (forall x y, y <> c -> (mo g' x y <-> mo g x y)) /\
    (forall x y, y <> c -> (hb g' x y <-> hb g x y)) /\
  (forall y, ~ hb g' c y) /\
  (forall x, hb g' x c -> (exists d, events g d /\ sb d c /\ (x = d \/ hb g x d)) \/
                          (exists b, events g b /\ ~ nal (loc c) /\ at_ b /\ at_ c /\ incl b c /\
                            (x = b \/ hb g x b))).

(* Step 1: a consistent graph takes one more event. An atomic one reads what is last in mo, a
   plain one what is last in hb of its own past; hb among the others stays. *)
Lemma one_more g c : cons g -> ~ events g c -> ~ init c -> (forall x, sb x c -> events g x) ->
  (forall x, events g x -> ~ sb c x) ->
  exists g', cons g' /\ extends g g' c.
Proof.
  intros C Nc Ni Pre Post. pose proof (c_wf C) as W. destruct (c_rmw C) as (R1&R2&R3).
  set (Past := fun k => exists d, events g d /\ sb d c /\ (k = d \/ hb g k d)).
  assert (PE : forall k, Past k -> events g k).
  { intros k (d&d1&_&[ -> |d3]); auto. apply (hb_D d3). }
  assert (CH : exists w, events g w /\ isW w /\ loc w = loc c /\
    (nal (loc c) -> Past w /\ forall k, Past k -> isW k -> loc k = loc c -> ~ hb g w k) /\
    (~ nal (loc c) -> forall y, ~ mo g w y)).
  { destruct (init_ex (loc c)) as (i&i1&i2). assert (iw : isW i) by (apply init_w; auto).
    assert (ie : events g i) by (apply W; auto). destruct (classic (nal (loc c))) as [n|n].
    - destruct (@last_exists g (hb g) (fun k => Past k /\ isW k /\ loc k = loc c) W)
        as [m [(q1&q2&q3) M]]; [intros k (h&_); auto|apply hb_tr|apply (c_hb C)|..].
      { exists i. repeat split; auto. exists i. repeat split; auto. }
      exists m. repeat split; auto; tauto.
    - destruct (@last_exists g (mo g) (fun k => events g k /\ isW k /\ loc k = loc c) W)
        as [m [(q1&q2&q3) M]]; [tauto|apply (w_mot W)|apply (w_moi W)|eauto|].
      exists m. repeat split; auto; try tauto. intros _ y H.
      destruct (w_mo W _ _ H) as (_&x2&_&x4&x5&_). apply (M y); auto. repeat split; congruence. }
  destruct CH as (w&wD&wW&wl&wna&wat). set (g' := Graph (fun x => events g x \/ x = c) (fun x y =>
    rf g x y \/ (isR c /\ y = c /\ x = w)) (fun x y => mo g x y \/
    (isW c /\ ~ nal (loc c) /\ y = c /\ events g x /\ isW x /\ loc x = loc c))).
  assert (NcW : w <> c) by congruence. assert (rfD : forall x y, rf g x y -> x <> c /\ y <> c).
  { intros x y H. destruct (w_rf W _ _ H) as (?&?&_). split; congruence. }
  assert (moD : forall x y, mo g x y -> x <> c /\ y <> c).
  { intros x y H. destruct (w_mo W _ _ H) as (?&?&_). split; congruence. }
  assert (hbD : forall x y, hb g x y -> x <> c /\ y <> c).
  { intros x y H. destruct (hb_D H) as (?&?). split; congruence. }
  assert (mo_nc : forall y, ~ mo g' c y).
  { intros y [H|(_&_&_&H&_)]. apply moD in H. tauto. tauto. }
  assert (rf_nc : forall y, ~ rf g' c y).
  { intros y [H|(_&_&H)]. apply rfD in H. tauto. congruence. }
  assert (mo_ne : forall x y, y <> c -> (mo g' x y <-> mo g x y)). { intros; simpl; tauto. }
  assert (rf_ne : forall x y, y <> c -> (rf g' x y <-> rf g x y)). { intros; simpl; tauto. }
  assert (rs_ne : forall x y, y <> c -> (rsq g' x y <-> rsq g x y)).
  { intros x y n. unfold rsq, rs.
    split; (intros [ -> |(a&b&d)]; [left; auto|right]; split; [apply mo_ne; auto|split; auto]).
    - intros k k1 k2. apply d; [apply mo_ne|left; auto]; auto. intros ->; apply moD in k1; tauto.
    - intros k k1 k2. assert (k <> c). { intros ->. eapply mo_nc; eauto. }
      apply d; apply mo_ne; auto. }
  assert (e1_nc : forall y, ~ hb1 g' c y).
  { intros y [(a&[b|b]&d)|(_&_&_&_&_&_&_&_&v&v1&v2)]. apply (Post y); auto. subst. exact (sb_ir d).
    destruct v1 as [<-|(v1&_)]. eapply rf_nc; eauto. eapply mo_nc; eauto. }
  assert (e1_ne : forall x y, y <> c -> (hb1 g' x y <-> hb1 g x y)).
  { intros x y n. split.
    - intro H. assert (xc : x <> c) by (intros ->; eapply e1_nc; eauto).
      destruct H as [(a&b&d)|(d1&d2&a&b&d&e&f&h&v&v1&v2)]; [left; simpl in *; tauto|right].
      simpl in d1, d2. repeat split; auto; try tauto. exists v. apply rf_ne in v2; auto.
      split; auto. apply rs_ne; auto. apply rfD in v2; tauto.
    - intros [(a&b&d)|(d1&d2&a&b&d&e&f&h&v&v1&v2)]; [left; simpl; tauto|right].
      repeat split; simpl; auto. exists v. split; [|left; auto]. apply rs_ne; auto.
      apply rfD in v2; tauto. }
  assert (hb_nc : forall y, ~ hb g' c y).
  { intros y H. apply clos_trans_t1n in H. destruct H; eapply e1_nc; eauto. }
  assert (hb_ne : forall x y, y <> c -> (hb g' x y <-> hb g x y)).
  { intros x y n. split; intro H.
    - apply clos_trans_t1n in H. revert n. induction H as [x y H|x y z H H' IH]; intro n.
      apply hb1_hb, e1_ne; auto. assert (y <> c).
      { intros ->. apply clos_t1n_trans in H'. eapply hb_nc; eauto. }
      eapply hb_tr; [apply hb1_hb, e1_ne; eauto|auto].
    - revert n. induction H as [x y H|x y z H1 IH1 H2 IH2]; intro n. apply hb1_hb, e1_ne; auto.
      eapply hb_tr; [apply IH1; apply hbD in H2; tauto|auto]. }
  assert (hb_c : forall x, hb g' x c -> Past x \/
    (exists b, events g b /\ sw g' b c /\ ~ nal (loc c) /\ (x = b \/ hb g x b))).
  { intros x H. destruct (hb_last H) as (p&p1&p2). assert (pc : p <> c).
    { intros ->. eapply e1_nc; eauto. }
    assert (p3 : x = p \/ hb g x p). { destruct p1; auto. right. apply hb_ne; auto. }
    destruct p2 as [(a&_&d)|s]. left. exists p. simpl in a. destruct a; [auto|tauto].
    destruct (classic (nal (loc c))) as [nc|nc].
    - left. destruct s as (_&_&_&_&_&_&_&_&v&v1&v2). assert (v = w).
      { destruct v2 as [v2|(_&_&v2)]; auto. apply rfD in v2. tauto. }
      subst v. assert (p = w).
      { destruct v1 as [v1|(m&_)]; auto. simpl in m. exfalso. destruct m as [m|(_&m&_)]; [|tauto].
        destruct (w_mo W _ _ m) as (_&_&_&_&m5&m6). apply m6. rewrite m5, wl. exact nc. }
      subst p. destruct (wna nc) as [(d&d1&d2&d3) _]. exists d. split; auto. split; auto.
      destruct p3 as [ -> |p3]; auto. destruct d3 as [ <- |d3]; [auto|right; eapply hb_tr; eauto].
    - right. exists p. split; auto. destruct s as (a&_). simpl in a; tauto. }
  exists g'. split.
  - split.
    + split; simpl.
      * destruct (w_fin W) as [l h]. exists (c :: l). simpl. intros x [H| ->]; auto.
      * intros x H. left. apply W; auto.
      * intros x y H [H'| ->]; left; auto. eapply (w_sb W); eauto.
      * intros x y [H|(a&->&->)]; [|repeat split; auto]. destruct (w_rf W _ _ H) as (?&?&?&?&?).
        repeat split; auto.
      * intros x x' y [H|(a&b&d)] [H'|(a'&b'&d')]; subst; auto; try (apply rfD in H; tauto);
          try (apply rfD in H'; tauto). eapply (w_rff W); eauto.
      * intros y [H| ->] i. destruct (w_rft W H i) as [v]; exists v; auto. exists w; auto.
      * intros x y [H|(a&b&->&d&e&f)]. destruct (w_mo W _ _ H) as (?&?&?&?&?&?). repeat split; auto.
        repeat split; auto. congruence.
      * intros x y z [H|(a&b&->&d&e&f)] [H'|(a'&b'&d'&e'&f'&i')]. left; eapply (w_mot W); eauto.
        right. destruct (w_mo W _ _ H) as (?&?&?&?&?&?). repeat split; auto; congruence.
        apply moD in H'; tauto. tauto.
      * intros x [H|(a&b&->&d&_)]. eapply (w_moi W); eauto. tauto.
      * intros x y [Hx| ->] [Hy| ->] wx wy l n ne. destruct (@w_mol g W x y); auto.
        left; right; repeat split; auto; congruence. right; right; repeat split; auto; congruence.
        tauto.
    + intros x H. destruct (classic (x = c)) as [ -> |n]. eapply hb_nc; eauto.
      apply hb_ne in H; auto. eapply (c_hb C); eauto.
    + intros a b y x H h1 h2 h3. assert (ac : a <> c) by (intros ->; eapply hb_nc; eauto).
      assert (aD : events g a). { destruct (hb_D H) as [[?|?] _]; auto; tauto. }
      assert (xc : x <> c). { intros ->. destruct h3 as [ -> |h3]; [tauto|eapply rf_nc; eauto]. }
      assert (h3' : x = a \/ rf g x a). { destruct h3; auto. right. apply rf_ne; auto. }
      apply mo_ne in h2; auto. destruct (classic (b = c)) as [ -> |n].
      * destruct h1 as [ -> |[h1|(_&_&->)]]. apply moD in h2; tauto. apply rfD in h1; tauto.
        apply (wat) in h2; auto. rewrite <- wl. apply (w_mo W _ _ h2).
      * apply hb_ne in H; auto. eapply (c_coh C) with (y:=y) (x:=x); eauto. destruct h1; auto.
        right. apply rf_ne; auto.
    + intros v r [H|(a&->&->)] H'. apply hb_ne in H'; [|apply rfD in H; tauto].
      eapply (c_rf C); eauto. eapply hb_nc; eauto.
    + intros v r [H|(a&->&->)] n. apply hb_ne. apply rfD in H; tauto. apply (c_na1 C); auto.
      destruct (wna n) as [(d&d1&d2&d3) _]. assert (hb g' d c). { apply hb1_hb. left. simpl. auto. }
      destruct d3 as [ -> |d3]; auto. eapply hb_tr; [|eauto]. apply hb_ne; auto. intro; subst; auto.
    + intros v r k [H|(a&->&->)] n kw kl h1 h2.
      * assert (rc : r <> c) by (apply rfD in H; tauto). apply hb_ne in h2; auto.
        assert (k <> c) by (apply hbD in h2; tauto). apply hb_ne in h1; auto.
        eapply (c_na2 C) with (k:=k); eauto.
      * assert (kc : k <> c). { intros ->. eapply hb_nc; eauto. }
        apply hb_ne in h1; auto. destruct (hb_c _ h2) as [p|(b&b1&b2&b3&_)]; [|tauto].
        destruct (wna n) as [_ M]. eapply M; eauto.
    + split; [|split].
      * intros x [H|(a&->&b)]. eapply R1; eauto. congruence.
      * intros x y z h1 h2 [H|(a&->&->)].
        { assert (zc : z <> c) by (apply rfD in H; tauto). apply mo_ne in h2; auto.
          assert (yc : y <> c) by (apply moD in h2; tauto). apply mo_ne in h1; auto.
          exact (R2 _ _ _ h1 h2 H). }
        assert (yc : y <> c). { intros ->. exact (mo_nc _ h2). }
        apply mo_ne in h1; auto. assert (NL : ~ nal (loc c)).
        { rewrite <- wl. apply (w_mo W _ _ h1). }
        exact (wat NL _ h1).
      * intros x y h1 [H|(a&->&->)].
        { assert (yc : y <> c) by (apply rfD in H; tauto). apply mo_ne in h1; auto.
          exact (R3 _ _ h1 H). }
        exact (mo_nc _ h1).
  - split; [|split; [|split; [|split; [|split]]]].
    + simpl; tauto.
    + intros; apply rf_ne; auto.
    + intros; apply mo_ne; auto.
    + intros; apply hb_ne; auto.
    + exact hb_nc.
    + intros x H. destruct (hb_c _ H) as [p|(b&b1&b2&bn&b3)]; [left; auto|right]. exists b.
      destruct b2 as (_&_&_&h1&_&h2&h3&_). auto 8.
Qed.

(* Nobody reads the new event. *)
Lemma one_more_unread g g' c : wf g -> ~ events g c -> cons g' -> extends g g' c -> forall r,
  ~ rf g' c r.
Proof.
  intros W N C (E1&E2&_) r H. destruct (classic (r = c)) as [->|n].
  - destruct (c_rmw C) as (R&_). exact (R _ H).
  - apply E2 in H; auto. apply N. apply (w_rf W _ _ H).
Qed.

(** ** Stability: adding e, which nobody reads, loses no hb *)
(* Step 7: an added store [e] that nobody reads breaks no hb. *)
Lemma stability (T : E -> nat) g e : wf g -> Rmw g -> (forall r, ~ rf g e r) -> mo_in_sb g ->
  let S := fun x => events g x /\ x <> e in
  cons (restrict g S) -> racefree (restrict g S) ->
    (forall x y, hb (restrict g S) x y -> T x < T y) ->
  forall x y, hb (restrict g S) x y -> hb g x y.
Proof.
  intros W R NE MT S C F HT. assert (SD : forall x, S x -> events g x) by (intros x H; apply H).
  assert (RC : rf_closed g S).
  { intros w r H _. destruct (w_rf W _ _ H) as (?&_). split; auto. intros ->. eapply NE; eauto. }
  assert (KE : forall k z, ~ S k -> mo g k z -> k = e).
  { intros k z n H. apply NNPP; intro. apply n. split; auto. apply (w_mo W _ _ H). }
  enough (main : forall m x r, T r < m -> hb (restrict g S) x r -> hb g x r).
  { intros x y. apply (main (Datatypes.S (T y))). auto. }
  induction m as [|m IH]; [lia|]. intros x r Hm H.
  (* It is enough to do the last step of a path. *)
  assert (LAST : forall x, hb (restrict g S) x r -> (forall p, (x = p \/ hb (restrict g S) x p) ->
    hb1 (restrict g S) p r -> hb g p r) -> hb g x r).
  { clear x H. intros x H K. destruct (hb_last H) as (p&p1&p2). pose proof (HT _ _ (hb1_hb p2)).
    specialize (K p p1 p2). destruct p1 as [ -> |p1]; auto. eapply hb_tr; [|exact K].
    apply IH; auto; lia. }
  apply LAST; auto. intros p _ [(a&b&c)|p2]. { apply hb1_hb; left; auto. }
  destruct (sw_of_part W R RC SD MT p2) as [h|(k&nx&w&n1&n2&n3&n4&n5&n6&n7&n8&n9&D)]; auto.
  apply hb_tr with nx. { apply sb_hb; auto. }
  destruct D as [D|D]; auto. destruct (D _ F n4 n9) as [z|z].
  2:{ destruct (no_hb_back C (rs_restr S n6 n4 n7) (conj n8 n9) z). }
  apply LAST; auto. intros q q1 [(a&b&c)|q2]. { apply hb1_hb; left; auto. }
  destruct (sw_of_part W R RC SD MT q2) as [h|(k'&nx'&w'&l1&l2&l3&l4&l5&_)]; auto. exfalso.
  pose proof (KE k nx n1 n2). pose proof (KE k' nx' l1 l2). subst k k'. assert (nx' = nx).
  { apply NNPP; intro ne. pose proof (w_mo W _ _ n2) as (?&?&?&?&?&?).
    pose proof (w_mo W _ _ l2) as (?&?&?&?&?&?).
    destruct (w_mol W (x := nx) (y := nx')) as [y|y]; auto; try congruence;
      [exact (l3 nx n2 y)|exact (n3 nx' l2 y)]. }
  subst nx'. assert (QN : hb (restrict g S) q nx) by (apply sb_hb; auto; apply C).
  destruct q1 as [<-|q1]; [exact (sb_ir l5)|exact (c_hb C (hb_tr q1 QN))].
Qed.

End RA.

Notation hbs := (hb at_ at_).
Notation conss := (cons at_ at_).
Notation racefrees := (racefree at_ at_).
(* Step 2: rf is in hb, if all atomics release and acquire. *)
Lemma rf_in_hb g w r : conss g -> racefrees g -> rf g w r -> w <> r -> (thd w r -> sb w r) ->
  hbs g w r.
Proof.
  intros C F H t TS. pose proof (c_wf C) as W. destruct (w_rf W _ _ H) as (a&b&c&d&e).
  assert (nr : ~ init r). { intro i. destruct (init_w i) as (_&?&_); auto. }
  destruct (classic (init w)) as [i|i]. { apply sb_hb; auto. }
  destruct (F w r) as [(z1&z2&z3)|[z|[z|z]]]; auto.
  - destruct (classic (thd w r)) as [z|z]. apply sb_hb; auto. apply hb1_hb. right.
    repeat split; auto. exists w. split; [left|]; auto.
  - apply sb_hb; auto.
  - exfalso. eapply (c_rf C); eauto.
Qed.

Section Machine.
Variable evs : list E.
Hypothesis fin : forall x, In x evs.
Variable T : E -> nat.
Hypothesis init_T : forall x, init x -> T x = 0.
Hypothesis T_pos : forall x, ~ init x -> 0 < T x.
Hypothesis T_inj : forall x y, ~ init x -> ~ init y -> T x = T y -> x = y.
Hypothesis sb_T : forall x y, sb x y -> T x < T y.
Hypothesis thd_sb : forall x y, thd x y -> T x < T y -> sb x y.
Variables rel acq : E -> Prop.
Hypothesis rel_at : forall x, rel x -> at_ x.
Hypothesis acq_at : forall x, acq x -> at_ x.
Hypothesis rel_st : forall x, at_ x -> isW x -> ~ rmw x -> rel x.
(* on non-atomic locations every atomic write releases and every atomic read acquires *)
Hypothesis na_str : forall x, at_ x -> nal (loc x) -> (isW x -> rel x) /\ (isR x -> acq x).
Notation hbw := (hb rel acq).
Notation consw := (cons rel acq).
Notation racefreew := (racefree rel acq).
Let at_at : forall x, at_ x -> at_ x := fun x h => h.
Let at_st : forall x, at_ x -> isW x -> ~ rmw x -> at_ x := fun x h _ _ => h.
Lemma sw_ws g x y : sw rel acq g x y -> sw at_ at_ g x y.
Proof. intros (a&b&c&d&e&f&h&i&j). repeat split; auto. Qed.
Lemma hb1_ws g x y : hb1 rel acq g x y -> hb1 at_ at_ g x y.
Proof. intros [h|h]; [left|right]; auto. apply sw_ws; auto. Qed.
Lemma hb_ws g x y : hbw g x y -> hbs g x y.
Proof. induction 1; [apply hb1_hb, hb1_ws; auto|eapply hb_tr; eauto]. Qed.
Lemma rf_ws g : racefreew g -> racefrees g.
Proof.
  intros F a c h1 h2 h3 h4 h5 h6 h7. destruct (F a c) as [z|[z|[z|z]]]; auto;
    [right; right; left|right; right; right]; apply hb_ws; auto.
Qed.
Variables mm rf_run samewg Ks Ke : E -> E -> Prop.
Hypothesis mm_dom : forall x y, mm x y -> isW x /\ isW y /\ loc x = loc y.
Hypothesis mm_tr : forall x y z, mm x y -> mm y z -> mm x z.
Hypothesis mm_irr : forall x, ~ mm x x.
Hypothesis mm_tot : forall x y, isW x -> isW y -> loc x = loc y -> x <> y -> mm x y \/ mm y x.
Hypothesis mm_T : forall x y, mm x y -> thd x y -> T x < T y.
Hypothesis mm_init : forall x y, init y -> ~ mm x y.
Hypothesis rfX_dom : forall w r, rf_run w r -> isW w /\ isR r /\ loc w = loc r.
Hypothesis rfX_fun : forall w w' r, rf_run w r -> rf_run w' r -> w = w'.
Hypothesis rfX_tot : forall r, isR r -> exists w, rf_run w r.
Hypothesis rfX_T : forall w r, rf_run w r -> T w < T r.
Hypothesis thd_wg : forall x y, thd x y -> samewg x y.
Inductive rs_plus : E -> E -> Prop :=
| rsp0 x : isW x -> rs_plus x x
| rsp1 x y : isW x -> isW y -> loc x = loc y -> sb x y -> rs_plus x y
| rsp2 x w u : rs_plus x w -> rf_run w u -> rmw u -> rs_plus x u.
Definition sw_plus x y := isW x /\ at_ x /\ isR y /\ at_ y /\ incl x y /\ ~ thd x y /\ exists w,
  rs_plus x w /\ rf_run w y.
Definition in_order a c := forall v, (isW a /\ v = a) \/ (~ isW a /\ rf_run v a) ->
  (forall w, rf_run w c -> v = w \/ mm v w) /\ (isW c -> mm v c).
(* SB0, SB1, KM, SW0, SW1 (with SYNC), LS, LW0, LW1, RMO, RMW in one work-group, ATOM *)
Hypothesis sb_seen : forall a b, sb a b -> Ks a b.
Hypothesis sw_then_sb : forall a b c, Ke a b -> T a < T b -> sb b c -> Ks a c.
Hypothesis sb_then_sb : forall a b c, Ks a b -> T a < T b -> sb b c -> Ks a c.
Hypothesis sw_seen : forall a c, sw_plus a c -> Ke a c.
Hypothesis sb_then_sw : forall a b c, Ks a b -> T a < T b -> sw_plus b c -> Ke a c.
Hypothesis seen_by_sb  : forall a c, Ks a c -> T a < T c -> loc a = loc c -> in_order a c.
Hypothesis seen_by_sw : forall a c, sw_plus a c -> in_order a c.
Hypothesis seen_by_sb_sw : forall a b c, Ks a b -> T a < T b -> loc a = loc b -> sw_plus b c ->
  in_order a c.
Hypothesis rmw_later : forall w u, rmw u -> rf_run w u -> mm w u.
Hypothesis rmw_in_group  : forall w u k, rmw u -> rf_run w u -> samewg k u -> mm w k -> mm k u ->
  False.
(* not so, or a like store that arrives with k is no atomic that includes u *)
Hypothesis rmw_across_groups : forall w u k, rmw u -> rf_run w u -> at_ k -> at_ u -> incl k u ->
  ~ samewg k u ->
  mm w k -> mm k u ->
  exists k', T k' <= T k /\ mm w k' /\ mm k' u /\ ~ samewg k' u /\ ~ (at_ k' /\ at_ u /\ incl k' u).

Definition X n := Graph (fun x => T x <= n) (fun w r => rf_run w r /\ T r <= n) (fun x y =>
  mm x y /\
  ~ nal (loc x) /\ T x <= n /\ T y <= n).
(* the machine's graph but for one event P, the last of its thread in g,
   which nobody reads and which may read another write *)
Definition near (g : graph) := wf g /\ exists P : E -> Prop, (forall x y, P x -> P y -> x = y) /\
  (forall c x, P c -> events g x -> ~ sb c x) /\ (forall c r, P c -> ~ rf g c r) /\
  (forall r w, events g r -> ~ P r -> (rf g w r <-> rf_run w r)).
(* the program is race-free: every consistent prefix that differs from the machine's execution in
   one last read is *)
Hypothesis prefixes_race_free : forall g, near g -> consw g -> racefreew g.

Lemma X_wf n : wf (X n).
Proof.
  split; simpl.
  - exists evs; auto.
  - intros x i. rewrite (init_T i). lia.
  - intros x y H h. apply sb_T in H. lia.
  - intros w r [H h]. pose proof (rfX_T H). destruct (rfX_dom H) as (?&?&?).
    repeat split; auto; lia.
  - intros w w' r [] []; eapply rfX_fun; eauto.
  - intros r h i. destruct (rfX_tot i) as [w]; exists w; auto.
  - intros x y (H&?&?&?). destruct (mm_dom H) as (?&?&?). repeat split; auto.
  - intros x y z (?&?&?&?) (?&?&?&?). repeat split; eauto.
  - intros x [H _]. eapply mm_irr; eauto.
  - intros x y a b c d e f h.
    destruct (mm_tot c d e h) as [m|m]; [left|right]; repeat split; auto; congruence.
Qed.
Lemma X_near n : near (X n).
Proof. split. apply X_wf. exists (fun _ => False). repeat split; try tauto; simpl in *; tauto. Qed.
Lemma X_mt n : mo_in_sb (X n).
Proof. intros x y [H _] h. apply thd_sb; auto. Qed.

Lemma rs_plus_mm x y : rs_plus x y -> T x <= T y /\ isW x /\ isW y /\ loc x = loc y.
Proof.
  induction 1 as [x H|x y a b c H|x w u H (h1&h2&h3&h4) r [uw ur]]; auto. apply sb_T in H.
  repeat split; auto; lia. pose proof (rfX_T r). destruct (rfX_dom r) as (?&?&?).
  repeat split; auto; try lia; congruence.
Qed.
Lemma sw_plus_T x y : sw_plus x y -> T x < T y /\ loc x = loc y.
Proof.
  intros (_&_&_&_&_&_&w&H&h). apply rs_plus_mm in H. pose proof (rfX_T h).
  destruct (rfX_dom h) as (?&?&?). split. lia. intuition congruence.
Qed.

(* A release sequence of Fig. 2 is one from above, where Rmw holds. *)
Lemma rs_in_rs_plus n : Rmw (X n) -> forall m x w, T w < m -> isW x -> rsq (X n) x w -> rs_plus x w.
Proof.
  intro R. induction m as [|m IH]; intros x w t xw; [lia|]. intros [ -> |(H&H'&B)].
  constructor; auto. pose proof (X_wf n) as W. pose proof (w_mo W _ _ H) as (a&b&c&d&e&f).
  destruct (classic (rmw w)) as [u|u].
  - destruct u as [uw ur]. destruct (w_rft W b ur) as [k Hk].
    destruct (w_rf W _ _ Hk) as (k1&k2&k3&k4&k5). destruct R as (R1&R2&R3).
    pose proof (rfX_T (proj1 Hk)). apply rsp2 with k; [|apply Hk|split; auto].
    apply IH; auto; try lia. destruct (classic (x = k)) as [ -> |n0]; [left; auto|].
    assert (kw : mo (X n) k w).
    { destruct (@w_mol _ W k w) as [q|q]; auto; try congruence. intro; subst; lia.
      exfalso; eapply R3; eauto. }
    assert (xk : mo (X n) x k).
    { destruct (@w_mol _ W x k) as [q|q]; auto; try congruence. exfalso. exact (R2 _ _ _ q H Hk). }
    right. split; auto. split. apply B; auto. intros z z1 z2. apply B; auto.
    eapply (w_mot W); eauto.
  - destruct H' as [H'|]; [|tauto]. apply rsp1; auto. apply thd_sb; auto. apply mm_T; auto. apply H.
Qed.
Lemma sw_in_sw_plus n x y : Rmw (X n) -> sw at_ at_ (X n) x y -> sw_plus x y.
Proof.
  intros R (d1&d2&a&b&c&d&e&f&w&i&j). repeat split; auto. exists w. split; [|apply j].
  eapply rs_in_rs_plus; eauto.
Qed.

(* the over-approximation of hb, and its normal form *)
Definition hb_plus := clos_trans E (fun x y => sb x y \/ sw_plus x y).
Lemma hb_plus_T x y : hb_plus x y -> T x < T y.
Proof. induction 1 as [x y [H|H]|]. apply sb_T; auto. apply sw_plus_T; auto. lia. Qed.
Lemma hb_in_hb_plus n x y : Rmw (X n) -> hbs (X n) x y -> hb_plus x y.
Proof.
  intro R. induction 1 as [x y [(_&_&H)|H]|]; [apply t_step; auto|apply t_step; right;
    eapply sw_in_sw_plus; eauto|eapply t_trans; eauto].
Qed.
Lemma hb_T n x y : Rmw (X n) -> hbs (X n) x y -> T x < T y.
Proof. intros. eapply hb_plus_T, hb_in_hb_plus; eauto. Qed.

(* Step 4: of two in conflict, in different threads and not both atomic and inclusive, the first
   is before a predecessor of the second. *)
Lemma sharp_race_freedom n a c : conss (X n) -> consw (X n) -> T a < T c -> T c <= S n ->
  ~ init a -> ~ init c -> loc a = loc c -> isW a \/ isW c ->
  ~ (at_ a /\ at_ c /\ incl a c) -> ~ thd a c -> exists d, sb d c /\ (a = d \/ hbs (X n) a d).
Proof.
  intros C Cw t tn na nc l w no nt. pose proof (prefixes_race_free (X_near n) Cw) as Fw.
  pose proof (rf_ws Fw) as F. pose proof (c_rmw C) as R.
  set (Past := fun x => exists d, sb d c /\ (x = d \/ hbs (X n) x d)).
  set (S0 := fun x => T x <= n /\ (init x \/ x = a \/ hbs (X n) x a \/ Past x)).
  assert (CL : forall x y, hbs (X n) x y -> S0 y -> S0 x).
  { intros x y H (_&h). destruct (hb_D H) as [dx _]. split; [exact dx|]. right. right.
    destruct h as [h|[ -> |[h|(d&d1&[ -> |d2])]]];
      [destruct (hb_ni at_at H h)|left; auto|left; eapply hb_tr; eauto|right; exists d; auto|right;
      exists d; split; auto; right; eapply hb_tr; eauto]. }
  assert (RC : rf_closed (X n) S0).
  { intros x y H. apply CL. pose proof (rfX_T (proj1 H)). apply rf_in_hb; auto. intros ->; lia. }
  assert (SD : forall x, S0 x -> events (X n) x) by (intros z H; apply H).
  assert (C0 : consw (restrict (X n) S0)).
  { apply restriction_consistent; auto.
    - intros x i. split; auto. apply (w_init (X_wf n)); auto.
    - intros x y H. apply CL, hb_ws, hb1_hb; auto.
    - apply X_mt. }
  assert (DN : forall x y, hbw (restrict (X n) S0) x y -> hbs (X n) x y).
  { intros x y H. apply hb_ws. revert H. apply restr_hb; auto. apply X_mt. }
  assert (Nc : ~ S0 c).
  { intros (h0&[h|[h|[h|(d&d1&d2)]]]); auto. subst; lia. apply (hb_T R) in h; lia. apply sb_T in d1.
    destruct d2 as [ -> |d2]; [lia|]. apply (hb_T R) in d2. lia. }
  assert (Sa : S0 a). { split; auto. lia. }
  destruct (@one_more rel acq rel_at acq_at (restrict (X n) S0) c) as (g'&C'&EX); auto.
  { intros x H. split; [apply sb_T in H; lia|]. right. right. right. exists x; auto. }
  { intros x H s. apply Nc. eapply CL; [|exact H]. apply sb_hb; [apply X_wf|apply H|auto]. }
  pose proof (one_more_unread (c_wf C0) Nc C' EX) as NRC. destruct EX as (E1&E2&E3&E4&E5&E6).
  assert (NG : near g').
  { split. apply C'. exists (eq c). split; [congruence|]. split; [|split].
    - intros c' x <- H s. apply E1 in H. destruct H as [H| ->]. apply Nc. eapply CL; [|exact H].
      apply sb_hb; [apply X_wf|apply H|auto]. apply sb_T in s; lia.
    - intros c' r <-. apply NRC.
    - intros r x H ne. rewrite E2; auto. apply E1 in H. destruct H as [H|H]; [|congruence]. simpl.
      split; [tauto|]. intro. split; [split; auto; apply H|auto]. }
  destruct (prefixes_race_free NG C' (a:=a) (c:=c)) as [z|[z|[z|z]]]; auto.
  - apply E1; auto.
  - apply E1; auto.
  - intros ->; lia.
  - tauto.
  - tauto.
  - destruct (E6 _ z) as [(d&d1&d2&d3)|(b&b1&bn&b2&b3&b4&b5)].
    + exists d. split; auto. destruct d3; auto.
    + destruct b5 as [ -> |b5]; [tauto|]. apply DN in b5. destruct b1 as (_&[h|[h|[h|(d&hb1&e2)]]]).
      * destruct (hb_ni at_at b5 h).
      * subst. destruct (c_hb C b5).
      * destruct (@c_hb _ _ _ C a). eapply hb_tr; eauto.
      * exists d. split; auto. right. destruct e2 as [ -> |e2]; auto. eapply hb_tr; eauto.
  - destruct (E5 _ z).
Qed.

Inductive path_sb : E -> E -> Prop :=
| Hs1 a c : sb a c -> path_sb a c
| Hs2 a b c : path_sb a b -> sb b c -> path_sb a c
| Hs3 a b c : path_sw a b -> sb b c -> path_sb a c
with path_sw : E -> E -> Prop :=
| Hw1 a c : sw_plus a c -> path_sw a c
| Hw2 a b c : path_sb a b -> sw_plus b c -> path_sw a c.
Scheme Hs_m := Minimality for path_sb Sort Prop with Hw_m := Minimality for path_sw Sort Prop.
Combined Scheme HH from Hs_m, Hw_m.
Lemma path_hb_plus : (forall a c, path_sb a c -> hb_plus a c) /\
  (forall a c, path_sw a c -> hb_plus a c).
Proof.
  apply HH; unfold hb_plus.
  - intros; apply t_step; auto.
  - intros a b c _ H s. apply t_trans with b; auto. apply t_step; auto.
  - intros a b c _ H s. apply t_trans with b; auto. apply t_step; auto.
  - intros; apply t_step; auto.
  - intros a b c _ H s. apply t_trans with b; auto. apply t_step; auto.
Qed.
(* Step 6: along a path in normal form, what was written or read must be seen. *)
Lemma walk : (forall a c, path_sb a c -> T a < T c /\ Ks a c) /\
  (forall a c, path_sw a c -> T a < T c /\ Ke a c).
Proof.
  apply HH.
  - intros a c H. split; auto.
  - intros a b c _ [t k] H. split; eauto. apply sb_T in H; lia.
  - intros a b c _ [t k] H. split; eauto. apply sb_T in H; lia.
  - intros a c H. split; auto. apply sw_plus_T; auto.
  - intros a b c _ [t k] H. split; eauto. apply sw_plus_T in H; lia.
Qed.
Lemma walk_in_order a c : path_sb a c \/ path_sw a c -> loc a = loc c -> in_order a c.
Proof.
  intros [H|H] l.
  - destruct (proj1 walk _ _ H). apply seen_by_sb; auto.
  - destruct H as [a c H|a b c H H']. apply seen_by_sw; auto. destruct (proj1 walk _ _ H).
    destruct (sw_plus_T H'). apply seen_by_sb_sw with b; auto. congruence.
Qed.

(* A release sequence from [d] that passes an RMW, or one of a later store of its thread. *)
Lemma through_rmw d b v : rmw b -> (exists w, rs_plus d w /\ rf_run w b) -> rs_plus b v ->
  rs_plus d v \/
  exists z, sb b z /\ isW z /\ loc z = loc b /\ rs_plus z v.
Proof.
  intros Rb (w&w1&w2) H. induction H as [x H|x y a c e H|x w0 u H IH r U].
  - left. eapply rsp2; eauto.
  - right. exists y. repeat split; auto. constructor; auto.
  - destruct (IH Rb w2) as [h|(z&z1&z2&z3&z4)]. left; eapply rsp2; eauto. right. exists z.
    repeat split; auto. eapply rsp2; eauto.
Qed.

(* Step 5: hb+ has a path without two sw+ in a row. *)
Lemma normal_form n : conss (X n) -> consw (X n) -> forall m a c, T c < m -> T c <= S n ->
  hb_plus a c -> path_sb a c \/ path_sw a c.
Proof.
  intros C Cw. pose proof (c_rmw C) as R. induction m as [|m IH]; intros a c t tn H; [lia|].
  apply clos_trans_tn1 in H.
  destruct H as [c [H|H]|b c H' H]; [left; constructor; auto|right; constructor; auto|].
  apply clos_tn1_trans in H. fold hb_plus in H. destruct H' as [s|s].
  { pose proof (sb_T s). destruct (IH a b) as [h|h]; auto; try lia. left; eapply Hs2; eauto.
    left; eapply Hs3; eauto. }
  destruct (sw_plus_T s) as [tb lb]. destruct (IH a b) as [h|h]; auto; try lia.
  { right. eapply Hw2; eauto. }
  (* two sw in a row: d sw b sw c *)
  assert (Q : exists d, (a = d \/ path_sb a d) /\ sw_plus d b).
  { destruct h as [a b h|a d b h h']; eauto. }
  destruct Q as (d&ad&db). pose proof s as (s1&s2&s3&s4&s5&s6&v&s7&s8).
  pose proof db as (d1&d2&d3&d4&d5&d6&w&d7&d8). destruct (sw_plus_T db) as [td ld].
  (* a store z of c's location, that c reads from over rs+, and before which a is in normal form *)
  assert (FIN : forall z, (a = z \/ path_sb a z) -> at_ z \/ ~ init z -> isW z -> loc z = loc c ->
    T z < T c -> rs_plus z v -> path_sb a c \/ path_sw a c).
  { intros z az nz wz lz tz rz. assert (NI : ~ init z).
    { destruct nz; auto. intro i. destruct (init_w i) as (_&_&?); auto. }
    destruct (classic (thd z c)) as [th|th].
    { left. assert (sb z c) by auto. destruct az as [ -> |az]; [apply Hs1|eapply Hs2]; eauto. }
    destruct (classic (at_ z /\ at_ c /\ incl z c)) as [(z1&z2&z3)|no].
    { right. assert (sw_plus z c). { repeat split; auto. exists v; auto. }
      destruct az as [ -> |az]; [apply Hw1|eapply Hw2]; eauto. }
    destruct (@sharp_race_freedom n z c) as (q&q1&q2); auto.
    { intro i. destruct (init_w i) as (_&?&_); auto. }
    pose proof (sb_T q1). assert (aq : a = q \/ hb_plus a q).
    { assert (HZ : a = z \/ hb_plus a z).
      { destruct az as [ -> |az]; auto. right. apply (proj1 path_hb_plus); auto. }
      destruct q2 as [ -> |q2]; auto. right. apply (hb_in_hb_plus R) in q2.
      destruct HZ as [ -> |HZ]; auto. eapply t_trans; eauto. }
    destruct aq as [ -> |aq]. left; apply Hs1; auto.
    destruct (IH a q) as [y|y]; auto; try lia; left; [eapply Hs2|eapply Hs3]; eauto. }
  destruct (@through_rmw d b v) as [y|(z&z1&z2&z3&z4)]; eauto. { split; auto. }
  - apply (FIN d); auto. congruence. lia.
  - apply (FIN z); auto.
    + right. assert (hz : path_sb a b \/ path_sw a b) by auto.
      destruct hz; [eapply Hs2|eapply Hs3]; eauto.
    + right. eapply sb_ni; eauto.
    + congruence.
    + apply rs_plus_mm in z4. pose proof (rfX_T s8). lia.
Qed.

(* Step 7: from n to n + 1. *)
Section Next.
Variable n : nat.
Hypothesis C : conss (X n).
Hypothesis Cw : consw (X n).
Let R : Rmw (X n) := c_rmw C.
(* Of two in conflict that could race the first is seen by the second. *)
Lemma conflict_in_order a c : T a < T c -> T c <= S n -> ~ init a -> ~ init c ->
  loc a = loc c -> isW a \/ isW c -> ~ (at_ a /\ at_ c /\ incl a c) -> ~ thd a c -> in_order a c.
Proof.
  intros t tn na nc l w no nt. destruct (sharp_race_freedom C Cw t tn na nc l w no nt) as (q&q1&q2).
  apply walk_in_order; auto. left. destruct q2 as [ -> |q2]; [apply Hs1; auto|].
  pose proof (hb_T R q2). pose proof (sb_T q1). apply (hb_in_hb_plus R) in q2.
  destruct (normal_form C Cw (m := S (T q)) (a := a) (c := q)) as [y|y]; auto; try lia;
    [eapply Hs2|eapply Hs3]; eauto.
Qed.
(* No write comes between an RMW and what it reads, unless it is an inclusive atomic, ... *)
Lemma no_write_between w k u : T k <= S n -> T u <= S n -> rmw u -> rf_run w u -> mm w k ->
  mm k u -> ~ samewg k u -> ~ (at_ k /\ at_ u /\ incl k u) -> False.
Proof.
  intros tk tu U H m1 m2 g no. destruct (mm_dom m1) as (ww&kw&lk).
  destruct (mm_dom m2) as (_&uw&lu). assert (nk : ~ init k) by (intro i; exact (mm_init i m1)).
  assert (nu : ~ init u) by (intro i; exact (mm_init i m2)). assert (th : ~ thd k u) by auto.
  destruct (Nat.lt_trichotomy (T k) (T u)) as [t|[t|t]].
  - assert (I : in_order k u) by (apply conflict_in_order; auto). destruct (I k) as [I1 _]; auto.
    destruct (I1 _ H) as [ -> |y]; eapply mm_irr; eauto.
  - apply T_inj in t; auto. subst. eapply mm_irr; eauto.
  - assert (I : in_order u k).
    { apply conflict_in_order; auto. intros (?&?&?). apply no; auto. }
    destruct (I u) as [_ I2]; auto. exact (mm_irr (mm_tr m2 (I2 kw))).
Qed.
Lemma next_rmw : Rmw (X (S n)).
Proof.
  split; [|split].
  - intros x [H _]. apply rfX_T in H; lia.
  - intros w k u (m1&_&_&tk) (m2&_&_&tu) [H _]. assert (U : rmw u).
    { split; [apply (mm_dom m2)|apply (rfX_dom H)]. }
    destruct (classic (samewg k u)) as [g|g]; [exact (rmw_in_group U H g m1 m2)|].
    destruct (classic (at_ k /\ at_ u /\ incl k u)) as [(a1&a2&a3)|no];
      [|exact (no_write_between tk tu U H m1 m2 g no)].
    destruct (rmw_across_groups U H a1 a2 a3 g m1 m2) as (k'&t'&q1&q2&q3&q4).
    apply (@no_write_between w k' u); auto. lia.
  - intros x y (m&_) [H _]. destruct (mm_dom m) as (xw&yw&l). destruct (rfX_dom H) as (_&xr&_).
    apply (mm_irr (x := x)). eapply mm_tr; [exact m|]. apply rmw_later; auto. split; auto.
Qed.
Lemma next_T a c : hbs (X (S n)) a c -> T a < T c.
Proof. apply hb_T, next_rmw. Qed.
Lemma next_in_order a c : hbs (X (S n)) a c -> loc a = loc c -> in_order a c.
Proof.
  intros H l. apply walk_in_order; auto. destruct (hb_D H) as [_ tc].
  apply (normal_form C Cw (Nat.lt_succ_diag_r (T c))); auto.
  eapply hb_in_hb_plus; [exact next_rmw|exact H].
Qed.
(* ... and no hb is lost: what is added, if anything, nobody reads. *)
Lemma next_keeps x y : hbw (X n) x y -> hbw (X (S n)) x y.
Proof.
  set (S' := fun x => events (X (S n)) x /\ T x <> S n).
  assert (Q : forall z, T z <= n <-> S' z) by (intro z; unfold S'; simpl; lia).
  assert (G : restrict (X (S n)) S' = X n).
  { unfold restrict, X. simpl. f_equal; repeat (apply functional_extensionality; intro);
      apply propositional_extensionality; unfold S'; simpl; intuition lia. }
  destruct (classic (exists e, T e = S n)) as [[e te]|N].
  - assert (SE : S' = fun x => events (X (S n)) x /\ x <> e).
    { apply functional_extensionality. intro z. apply propositional_extensionality. unfold S'.
      split; intros [h1 h2]; split; auto; [congruence|]. intro q. apply h2, T_inj; try congruence;
        intro i; pose proof (init_T i); lia. }
    rewrite SE in G. rewrite <- G. apply (stability rel_st T (X_wf (S n)) next_rmw); try rewrite G.
    + intros r [H h]. apply rfX_T in H. lia.
    + apply X_mt.
    + exact Cw.
    + exact (prefixes_race_free (X_near n) Cw).
    + intros z z' H. apply (hb_T R), hb_ws, H.
  - assert (SE : restrict (X (S n)) S' = X (S n)).
    { unfold restrict, X. simpl. f_equal; repeat (apply functional_extensionality; intro);
        apply propositional_extensionality; unfold S'; simpl; intuition eauto. }
    rewrite <- G, SE. auto.
Qed.
(* A plain read is after what it reads, or else there is a race. *)
Lemma next_plain w r : rf (X (S n)) w r -> nal (loc r) -> hbw (X (S n)) w r.
Proof.
  pose proof (X_wf (S n)) as W. intros [H tr] nl. destruct (rfX_dom H) as (ww&rr&l).
  pose proof (rfX_T H) as t. assert (nr : ~ init r).
  { intro i. destruct (init_w i) as (_&?&_); auto. }
  destruct (Nat.eq_dec (T r) (S n)) as [tn|tn].
  2:{ apply next_keeps. apply (c_na1 Cw); auto. split; auto. lia. }
  destruct (classic (init w)) as [i|i]; [apply sb_hb; auto|].
  destruct (classic (thd w r)) as [th|th]; [apply sb_hb; auto|].
  destruct (classic (at_ w /\ at_ r /\ incl w r)) as [(a1&a2&a3)|no].
  { assert (rel w) by (apply na_str; auto; congruence). assert (acq r) by (apply na_str; auto).
    apply hb1_hb. right. split; [simpl; lia|]. split; [exact tr|]. do 6 (split; [assumption|]).
    exists w. split; [left; auto|simpl; auto]. }
  (* all of X n, and r reads a visible write *)
  assert (Nr : ~ events (X n) r) by (simpl; lia).
  destruct (@one_more rel acq rel_at acq_at (X n) r) as (g'&C'&EX); auto.
  { intros x s. apply sb_T in s. simpl; lia. }
  { intros x h s. apply sb_T in s. simpl in h; lia. }
  pose proof (one_more_unread (c_wf Cw) Nr C' EX) as NRC. destruct EX as (E1&E2&E3&E4&E5&E6).
  assert (NG : near g').
  { split. apply C'. exists (eq r). split; [congruence|]. split; [|split].
    - intros c' x <- h s. apply sb_T in s. apply E1 in h. destruct h as [h| ->]; simpl in *; lia.
    - intros c' r' <-. apply NRC.
    - intros r' x h ne. rewrite E2; auto. apply E1 in h. destruct h as [h|h]; [|congruence].
      simpl in *. tauto. }
  destruct (prefixes_race_free NG C' (a:=w) (c:=r)) as [z|[z|[z|z]]]; auto; try tauto.
  - apply E1. left. simpl. lia.
  - apply E1; auto.
  - intros ->; lia.
  - destruct (E6 _ z) as [(d&d1&d2&d3)|(b&b1&bn&_)]; [|tauto].
    assert (DR : hbw (X (S n)) d r) by (apply sb_hb; auto). destruct d3 as [ -> |d3]; auto.
    exact (hb_tr (next_keeps d3) DR).
  - destruct (E5 _ z).
Qed.
Lemma next_coh a b y x : hbs (X (S n)) a b -> (y = b \/ rf (X (S n)) y b) ->
  mo (X (S n)) y x -> (x = a \/ rf (X (S n)) x a) -> False.
Proof.
  intros H h1 (m&nl&_) h3. destruct (mm_dom m) as (yw&xw&l).
  assert (lb : loc y = loc b). { destruct h1 as [ -> |[h1 _]]; auto. apply (rfX_dom h1). }
  assert (la : loc x = loc a). { destruct h3 as [ -> |[h3 _]]; auto. apply (rfX_dom h3). }
  assert (I : in_order a b) by (apply next_in_order; auto; congruence).
  assert (V : exists v, ((isW a /\ v = a) \/ (~ isW a /\ rf_run v a)) /\ (x = v \/ mm x v)).
  { destruct (classic (isW a)) as [aw|aw].
    - exists a. split; auto. destruct h3 as [ -> |[h3 _]]; auto. right. apply rmw_later; auto.
      split; auto. apply (rfX_dom h3).
    - destruct h3 as [ -> |[h3 _]]; [tauto|]. exists x. auto. }
  destruct V as (v&v1&v2). destruct (I v v1) as [I1 I2]. assert (Q0 : mm v y \/ v = y).
  { destruct h1 as [ -> |[h1 _]]; [left; auto|]. destruct (I1 _ h1); auto. }
  apply (@mm_irr y). destruct v2 as [ -> |v2]; destruct Q0 as [q|<-]; eauto.
Qed.
Lemma next_plain_last w r k : rf (X (S n)) w r -> nal (loc r) -> isW k -> loc k = loc r ->
  hbs (X (S n)) w k -> hbs (X (S n)) k r -> False.
Proof.
  intros [H _] nl kw kl h1 h2. destruct (rfX_dom H) as (ww&rr&l).
  assert (I : in_order w k) by (apply next_in_order; auto; congruence).
  assert (J : in_order k r) by (apply next_in_order; auto). destruct (I w) as [_ I2]; auto.
  destruct (J k) as [J1 _]; auto. specialize (I2 kw). apply (@mm_irr w).
  destruct (J1 _ H) as [<-|q]; eauto.
Qed.
Lemma next_rf w r : rf (X (S n)) w r -> hbs (X (S n)) r w -> False.
Proof. intros [H _] H'. apply next_T in H'. apply rfX_T in H. lia. Qed.
Lemma next_prefix : conss (X (S n)) /\ consw (X (S n)).
Proof.
  split; split; auto using X_wf, next_rmw.
  - intros x H. apply next_T in H. lia.
  - exact next_coh.
  - exact next_rf.
  - intros w r H nl. apply hb_ws, next_plain; auto.
  - exact next_plain_last.
  - intros x H. apply hb_ws, next_T in H. lia.
  - intros a b y x H. apply next_coh, hb_ws, H.
  - intros w r H H'. exact (next_rf H (hb_ws H')).
  - exact next_plain.
  - intros w r k H nl kw kl h1 h2. exact (next_plain_last H nl kw kl (hb_ws h1) (hb_ws h2)).
Qed.
End Next.

(* The initial writes alone are consistent. *)
Lemma first_prefix (rl ac : E -> Prop) : (forall x, rl x -> at_ x) -> (forall x, ac x -> at_ x) ->
  cons rl ac (X 0).
Proof.
  intros RA AA. assert (I : forall x, T x <= 0 -> init x).
  { intros x H. apply NNPP. intro n. apply T_pos in n. lia. }
  assert (NH : forall x y, ~ hb rl ac (X 0) x y).
  { intros x y H. apply (hb_ni AA H). apply I. apply (hb_D H). }
  assert (NR : forall w r, ~ rf (X 0) w r).
  { intros w r [H h]. apply I in h. destruct (init_w h) as (_&n&_). apply n. apply (rfX_dom H). }
  split.
  - apply X_wf.
  - intros x H. exact (NH _ _ H).
  - intros a b y x H. destruct (NH _ _ H).
  - intros w r H. destruct (NR _ _ H).
  - intros w r H. destruct (NR _ _ H).
  - intros w r k H. destruct (NR _ _ H).
  - split; [|split].
    + intros x H. exact (NR _ _ H).
    + intros x y z _ _ H. exact (NR _ _ H).
    + intros x y _ H. exact (NR _ _ H).
Qed.

(* Both readings of hb, of all atomics and of those that release and acquire, are carried at
   once (step 8). *)
Lemma all_prefixes n : conss (X n) /\ consw (X n).
Proof. induction n as [|n [C Cw]]; [split; apply first_prefix; auto|apply next_prefix; auto]. Qed.
(* The last write of a location in the run is last in hb. *)
Lemma mm_last_is_hb_last n w k : hbw (X n) w k -> loc w = loc k -> isW w -> isW k -> mm w k.
Proof.
  intros H l ww kw. destruct (all_prefixes n) as [C Cw]. apply hb_ws in H.
  destruct (hb_D H) as [_ t]. simpl in t.
  assert (B : hb_plus w k) by (eapply hb_in_hb_plus; [apply (c_rmw C)|exact H]).
  assert (I : in_order w k).
  { apply walk_in_order; auto. apply (normal_form C Cw (m:=S (T k))); auto; lia. }
  destruct (I w) as [_ J]; auto.
Qed.
Theorem prefixes_sound n : consw (X n) /\
  forall w k, hbw (X n) w k -> loc w = loc k -> isW w -> isW k -> mm w k.
Proof. split; [apply all_prefixes|apply mm_last_is_hb_last]. Qed.
End Machine.
End G.
