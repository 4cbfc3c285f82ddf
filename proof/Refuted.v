(** * And back: what a broken obligation does to a program

    A run of the compiled program is computed, and shown to be one (Steps.v). Its outcome is that of
    no consistent execution, and the program has no race: so the table is not sound.  The programs
    have at most four operations, in two threads of two work-groups (docs/proof.md, Exactness).

    - SYNC(b, c): [x = 1; b y || r0 = c y; if (r0 == 1) r1 = x] ends with r0 = 1 and r1 = 0.
    - ATOM(b, u): [u x || b x], where u reads what was there before b, and is after b. *)
Require Import List Arith Bool Lia Relations Thm1 Obligations Proved Steps.
Import ListNotations.
Set Implicit Arguments.

Inductive place := x | y.
Definition place_dec : forall a b : place, {a = b} + {a <> b}. Proof. decide equality. Defined.
Definition zero (_ : place) := 0.
Notation event := (event nat place).
Notation program := (program nat place).

(** The operation of a row, of the strongest order: a store of [n], a load, or an increment. *)
Definition kind_of r n : kind nat := match row_kind r with
  | OLoad => Load
  | OStore => Store n
  | ORmw => Rmw (fun v => v + 1)
  end.
Definition on (l : place) n r := Operation (kind_of r n) l true
  match row_scope r with Some s => s | None => WG end (row_remote r) (writes r) (reads r).
Definition plain k := Operation (k : kind nat) x false WG false false false.

Definition message (b c : row) : program := [
  Thread 0 (Do (plain (Store 1)) (fun _ => Do (on y 1 b) (fun _ => Done)));
  Thread 1 (Do (on y 2 c) (fun v => if v =? 1 then Do (plain Load) (fun _ => Done) else Done))].
Definition overtaking (b u : row) : program := [
  Thread 0 (Do (on x 1 u) (fun _ => Done)); Thread 1 (Do (on x 10 b) (fun _ => Done))].


(** The scopes of both reach the other, whichever of them is in thread 0. *)
Definition inclusive b c := atomic b && atomic c && incl_rows b c.
Lemma inclusive_incl l m n b c (P : program) p q : inclusive b c = true ->
  (op_of P (Node 0 p) = Some (on l m b) /\ op_of P (Node 1 q) = Some (on l n c)) \/
  (op_of P (Node 0 p) = Some (on l n c) /\ op_of P (Node 1 q) = Some (on l m b)) ->
  incl P (Node 0 p) (Node 1 q) /\ incl P (Node 1 q) (Node 0 p).
Proof.
  intros I O. unfold incl, covers, remote. unfold inclusive, atomic, incl_rows, big in I.
  destruct b as [ob ub kb [[]|] rb cb], c as [oc uc kc [[]|] rc cc], rb, rc; try discriminate I;
    destruct O as [[O O']|[O O']]; rewrite O, O'; simpl; tauto.
Qed.

Section Message.
Variables b c : row.
Hypothesis I : inclusive b c = true.
Hypothesis W : writes b = true.
Hypothesis R : reads c = true.
Notation P := (message b c).
Definition plain_x l := l = x.
Notation xa := (Node 0 [] : event).   (* x = 1 *)
Notation yb := (Node 0 [1] : event).  (* b y *)
Notation yc := (Node 1 [] : event).   (* r0 = c y *)
Notation xd := (Node 1 [1] : event).  (* r1 = x *)

Lemma yb_writes : isW P yb.
Proof. unfold isW. simpl. unfold kind_of. destruct b as [? ? [] s r k]; discriminate. Qed.
Lemma yc_reads : isR P yc.
Proof. unfold isR. simpl. unfold kind_of. destruct c as [? ? [] s r k]; discriminate. Qed.
Lemma yb_yc_inclusive : incl P yb yc /\ incl P yc yb.
Proof. apply (@inclusive_incl y 1 2 b c); auto. Qed.

Section Execution.
Variable g : graph event.
Variable v : event -> nat.
Hypothesis C : consistent x plain_x P g.
Hypothesis X : execution zero P g v.

Lemma earlier t p q : events g (Node t (p ++ q)) -> events g (Node t p).
Proof.
  destruct q as [|u q]; [rewrite app_nil_r; auto|]. apply (has_past (graph_ok C)). simpl. eauto.
Qed.
Lemma answer_xa : events g xa -> v xa = 1.
Proof. intro h. exact (stores X xa h eq_refl eq_refl). Qed.

(** Four events, apart from initial writes; the last depends on what [yc] reads. *)
Lemma events_are e : events g e ->
  init e \/ e = xa \/ e = yb \/ e = yc \/ (e = xd /\ v yc = 1).
Proof.
  intro h. pose proof (are_real X e h) as r. destruct e as [l|t p]; [left; exact Logic.I|right].
  destruct t as [|[|t]].
  - destruct p as [|u [|u' p]]; auto.
    + right; left. assert (h0 : events g xa) by exact (earlier 0 [] [u] h).
      rewrite <- (answered X 0 [] u h), (answer_xa h0). reflexivity.
    + exfalso. apply r. destruct p; reflexivity.
  - destruct p as [|u [|u' p]]; auto.
    + do 3 right. pose proof (answered X 1 [] u h) as q. unfold real, op_of in r. simpl in r.
      destruct (u =? 1) eqn:E; [|exfalso; apply r; reflexivity]. apply Nat.eqb_eq in E. subst u.
      auto.
    + exfalso. apply r. unfold op_of. simpl. destruct (u =? 1); destruct p; reflexivity.
  - exfalso. apply r. unfold op_of, thread_of. simpl. destruct t, p; reflexivity.
Qed.

(** If [yc] reads 1, then from [yb]; so [xa] happens before [xd], ... *)
Lemma yc_reads_yb : events g yc -> v yc = 1 -> rf g yb yc.
Proof.
  intros h one. destruct (rf_some (graph_ok C) yc h yc_reads) as [w F].
  destruct (rf_of (graph_ok C) w yc F) as (hw&_&ww&_&l). pose proof (reads_of X w yc F) as q.
  rewrite one in q. destruct (events_are w hw) as [i|[->|[->|[->|[-> _]]]]]; auto.
  - destruct w as [m|]; [|destruct i]. discriminate.
  - discriminate.
  - destruct (Rmw_axiom C) as [N _]. destruct (N _ F).
  - discriminate.
Qed.
Lemma xa_before_xd : events g xd -> v yc = 1 -> hb P g xa xd.
Proof.
  intros hd one. assert (hc : events g yc) by exact (earlier 1 [] [1] hd).
  pose proof (yc_reads_yb hc one) as F. destruct (rf_of (graph_ok C) yb yc F) as (hb&_).
  assert (ha : events g xa) by exact (earlier 0 [] [1] hb). apply t_trans with yb.
  { apply t_step. left. repeat split; auto. exists 1, []. reflexivity. }
  apply t_trans with yc; [|apply t_step; left; repeat split; auto; exists 1, []; reflexivity].
  apply t_step. right. split; auto. split; auto. split; [exact yb_writes|].
  split; [split; [reflexivity|exact W]|]. split; [exact yc_reads|].
  split; [split; [reflexivity|exact R]|]. split; [apply yb_yc_inclusive|].
  split; [discriminate|]. exists yb. split; [left; reflexivity|exact F].
Qed.
(** ... which reads what [xa] wrote: no other write of [x] is visible. *)
Lemma xd_reads_xa : events g xd -> v yc = 1 -> v xd = 1.
Proof.
  intros hd one. pose proof (xa_before_xd hd one) as H.
  destruct (rf_some (graph_ok C) xd hd) as [w F]. { intros u q. discriminate. }
  destruct (rf_of (graph_ok C) w xd F) as (hw&_&ww&_&l). rewrite (reads_of X w xd F).
  destruct (events_are w hw) as [i|[->|[->|[->|[-> _]]]]]; auto; try discriminate l.
  - exfalso. destruct w as [m|]; [|destruct i].
    apply (Narf_last C (k := xa) F); auto; try exact Logic.I; try reflexivity; try discriminate.
    apply t_step. left. repeat split; auto. apply (earlier 0 [] [1]).
    apply (rf_of (graph_ok C) yb yc). apply yc_reads_yb; auto. exact (earlier 1 [] [1] hd).
  - exfalso. apply ww. reflexivity.
Qed.

Lemma message_race_free : race_free x P g.
Proof.
  destruct yb_yc_inclusive as [i1 i2].
  intros e e' h h' ni ni' l w ne. destruct (events_are e h) as [i|[->|[->|[->|[-> one]]]]];
    [tauto|..]; (destruct (events_are e' h') as [i|[->|[->|[->|[-> one']]]]]; [tauto|..]);
    try (exfalso; apply ne; reflexivity); try (right; left; reflexivity); try discriminate l.
  - right; right; left. apply xa_before_xd; auto.
  - left. split; [reflexivity|]. split; [reflexivity|]. auto.
  - left. split; [reflexivity|]. split; [reflexivity|]. auto.
  - right; right; right. apply xa_before_xd; auto.
Qed.
End Execution.

Theorem message_has_no_race : ~ racy x plain_x zero P.
Proof. intros (g&v&C&X&_&F). apply F. exact (message_race_free C X). Qed.
(** No outcome with the message lost is allowed, whatever memory has in the end. *)
Theorem lost_is_not_allowed ans mem : ans 1 = [1; 0] -> ~ allowed x plain_x zero P ans mem.
Proof.
  intros A (g&C&X&K&_). pose (v := value_at x zero ans).
  assert (vc : v yc = 1) by (unfold v, value_at; rewrite A; reflexivity).
  assert (vd : v xd = 0) by (unfold v, value_at; rewrite A; reflexivity). destruct (K 1) as [hc K1].
  fold v in K1. rewrite vc in K1. destruct K1 as [hd _].
  pose proof (xd_reads_xa C X hd vc) as q. fold v in q. congruence.
Qed.
End Message.

Section Overtaking.
Variables b u : row.
Hypothesis I : inclusive b u = true.
Hypothesis W : writes b = true.
Hypothesis U : isrmw u = true.
Notation P := (overtaking b u).
Definition all_atomic (_ : place) := False.
Notation i := (Init x : event).
Notation xu := (Node 0 [] : event).
Notation xb := (Node 1 [] : event).

Lemma u_increments : kind_of u 1 = Rmw (fun v => v + 1).
Proof.
  unfold isrmw, writes, reads in U. unfold kind_of. destruct (row_kind u); auto; discriminate.
Qed.
Lemma b_increments_or_stores :
  (row_kind b = ORmw /\ kind_of b 10 = Rmw (fun v => v + 1)) \/
  (row_kind b = OStore /\ kind_of b 10 = Store 10).
Proof. unfold writes in W. unfold kind_of. destruct (row_kind b); auto; discriminate. Qed.
Lemma xu_xb_inclusive : incl P xu xb /\ incl P xb xu.
Proof. apply (@inclusive_incl x 10 1 b u); auto. Qed.

Lemma two_events g v e : execution zero P g v -> events g e -> init e \/ e = xu \/ e = xb.
Proof.
  intros X h. pose proof (are_real X e h) as r. destruct e as [l|t p]; [left; exact Logic.I|right].
  destruct t as [|[|t]]; [destruct p as [|n p]; auto|destruct p as [|n p]; auto|];
    exfalso; apply r; unfold op_of, thread_of; simpl; [destruct p|destruct p|destruct t, p]; auto.
Qed.

Theorem overtaking_has_no_race : ~ racy x all_atomic zero P.
Proof.
  intros (g&v&C&X&_&F). apply F. destruct xu_xb_inclusive as [i1 i2].
  intros e e' h h' n n' _ _ ne.
  destruct (two_events e X h) as [j|[->| ->]]; [tauto|..];
    (destruct (two_events e' X h') as [j|[->| ->]]; [tauto|..]); try tauto;
    left; repeat split; auto.
Qed.

(** [u] has read 0; [b] has done so, too, or else what [u] writes is last. *)
Definition overtaken (ans : nat -> list nat) (mem : place -> nat) :=
  ans 0 = [0] /\ (row_kind b = ORmw -> ans 1 = [0]) /\ (row_kind b = OStore -> mem x = 1).
Theorem overtaken_is_not_allowed ans mem :
  overtaken ans mem -> ~ allowed x all_atomic zero P ans mem.
Proof.
  intros (A0&A1&M) (g&C&X&K&L). pose (v := value_at x zero ans). fold v in X, K, L.
  pose proof (graph_ok C) as G. destruct (Rmw_axiom C) as (N1&N2&_).
  assert (hu : events g xu) by apply (K 0). assert (hb' : events g xb) by apply (K 1).
  assert (hi : events g i) by (apply (has_init G); exact Logic.I).
  assert (vu : v xu = 0) by (unfold v, value_at; rewrite A0; reflexivity).
  assert (wu : written zero P v xu = 1).
  { unfold written. simpl. rewrite u_increments. change (v xu + 1 = 1). rewrite vu. auto. }
  assert (wb : written zero P v xb <> 0).
  { unfold written. simpl. destruct b_increments_or_stores as [[_ ->]|[_ ->]]; simpl; lia. }
  assert (Wu : isW P xu) by (unfold isW; simpl; rewrite u_increments; discriminate).
  assert (Wb : isW P xb).
  { unfold isW. simpl. destruct b_increments_or_stores as [[_ ->]|[_ ->]]; discriminate. }
  (* What reads 0 reads the initial write; all other writes are after that. *)
  assert (reads_0 : forall e, events g e -> e = xu \/ e = xb -> isR P e -> v e = 0 -> rf g i e).
  { intros e he d r z. destruct (rf_some G e he r) as [w F].
    destruct (rf_of G w e F) as (hw&_&_&_&l). pose proof (reads_of X w e F) as q. rewrite z in q.
    destruct (two_events w X hw) as [j|[->| ->]].
    - destruct w as [m|]; [|destruct j].
      assert (m = x) as -> by (destruct d; subst; exact l). exact F.
    - rewrite wu in q. discriminate.
    - destruct (wb (eq_sym q)). }
  assert (after_i : forall t,
    events g (Node t []) -> isW P (Node t []) -> loc x P (Node t []) = x ->
    mo g i (Node t [])).
  { intros t ht wt lt. destruct (mo_total G hi ht) as [m|m]; auto;
      try exact Logic.I; try discriminate; try (intros []).
    exfalso. refine (Coh C (a := i) (b := Node t []) (y := Node t []) (x := i) _ _ m _); auto.
    apply t_step. left. repeat split; auto. }
  assert (iu : mo g i xu) by (apply after_i; auto).
  assert (ib : mo g i xb) by (apply after_i; auto).
  assert (ru : rf g i xu).
  { apply reads_0; auto. intros k. simpl. rewrite u_increments. discriminate. }
  destruct (mo_total G hu hb') as [m|m]; auto; try discriminate; try (intros []).
  2:{ exact (N2 i xb xu ib m ru). }
  destruct b_increments_or_stores as [[k kb]|[k kb]].
  - apply (N2 i xu xb iu m). apply reads_0; auto.
    + intros n. simpl. rewrite kb. discriminate.
    + unfold v, value_at. rewrite (A1 k). reflexivity.
  - destruct (L x) as (w&hw&ww&_&lw&last&_). rewrite (M k) in lw.
    destruct (two_events w X hw) as [j|[->| ->]].
    + destruct w; [discriminate|destruct j].
    + apply (last (fun F => F) xb m).
    + unfold written in lw. simpl in lw. rewrite kb in lw. discriminate.
Qed.
End Overtaking.

(** ** A run that refutes a table *)
Inductive witness :=
| Lost (b c : row) (run : list (step place))
| Overtaken (b u : row) (run : list (step place)).

Definition has_row t (o : op nat place) :=
  match row_for t o with Some _ => true | None => false end.
Definition places := [x; y].
Definition same_answers (p q : list nat) := if list_eq_dec Nat.eq_dec p q then true else false.
Definition refutes (t : table) w := match w with
  | Lost b c run =>
      let P := message b c in let start := first x zero P t in
      inclusive b c && writes b && reads c &&
      forallb (has_row t) [plain (Store 1); on y 1 b; on y 2 c; plain Load] &&
      completes place_dec places x zero P t run &&
      same_answers (answers_from place_dec x zero P start run 1) [1; 0]
  | Overtaken b u run =>
      let P := overtaking b u in let start := first x zero P t in
      let said := answers_from place_dec x zero P start run in
      inclusive b u && writes b && isrmw u &&
      forallb (has_row t) [on x 1 u; on x 10 b] &&
      completes place_dec places x zero P t run && same_answers (said 0) [0] &&
      match row_kind b with
      | ORmw => same_answers (said 1) [0]
      | _ => memory (last_state place_dec x zero P start run) x =? 1
      end
  end.

Lemma all_places p : In p places. Proof. destruct p; simpl; auto. Qed.
Lemma same_answers_eq p q : same_answers p q = true -> p = q.
Proof. unfold same_answers. destruct (list_eq_dec Nat.eq_dec p q); auto. discriminate. Qed.

(** The operations of the two programs. *)
Lemma message_ops b c e o : op_of (message b c) e = Some o ->
  In o [plain (Store 1); on y 1 b; on y 2 c; plain Load].
Proof.
  destruct e as [l|[|[|t]] p]; try discriminate; unfold op_of, thread_of.
  - destruct p as [|n [|n' [|n'' p]]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct p as [|n p]; simpl; [intros [= <-]; auto|].
    destruct (n =? 1); destruct p as [|n' [|n'' p]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct t, p; discriminate.
Qed.
Lemma overtaking_ops b u e o : op_of (overtaking b u) e = Some o -> In o [on x 1 u; on x 10 b].
Proof.
  destruct e as [l|[|[|t]] p]; try discriminate; unfold op_of, thread_of.
  - destruct p as [|n [|n' p]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct p as [|n [|n' p]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct t, p; discriminate.
Qed.
Lemma have_rows t P os : (forall e o, op_of P e = Some o -> In o os) ->
  forallb (has_row t) os = true -> has_rows P t.
Proof.
  intros O h e o q n. rewrite forallb_forall in h. specialize (h o (O e o q)).
  unfold has_row in h. rewrite n in h. discriminate.
Qed.
(** Operations of the strongest order are in the scope of the theorem. *)
Lemma strongest l n r : ((exists v, kind_of r n = Store v) -> op_releases (on l n r) = true) /\
  (kind_of r n <> Load -> op_releases (on l n r) = true) /\
  ((forall v, kind_of r n <> Store v) -> op_acquires (on l n r) = true).
Proof.
  unfold kind_of. simpl. unfold writes, reads. destruct (row_kind r); repeat split; auto.
  all: try (intros [v q]; discriminate q); intro h; exfalso; eapply h; reflexivity.
Qed.
Lemma in_scope_of nonatomic P os : (forall e o, op_of P e = Some o -> In o os) ->
  (forall o, In o os -> op_atomic o = true -> exists l n r, o = on l n r) ->
  @in_scope nat place nonatomic P.
Proof.
  intros O S e o q a. destruct (S o (O e o q) a) as (l&n&r&->).
  destruct (strongest l n r) as (h1&h2&h3). split; [exact h1|]. intros _.
  split; [exact h2|exact h3].
Qed.

Theorem refuted t w : refutes t w = true -> ~ sound t.
Proof.
  unfold refutes. destruct w as [b c run|b u run]; rewrite !andb_true_iff.
  - intros [[[[[i W] R] rows] ends] said] S. apply same_answers_eq in said.
    destruct (S nat place Nat.eq_dec place_dec places x plain_x zero (message b c) run) as [r|r].
    + exact all_places.
    + eapply have_rows; [apply message_ops|exact rows].
    + eapply in_scope_of; [apply message_ops|]. unfold plain.
      intros o [<-|[<-|[<-|[<-|[]]]]] a; try discriminate a; eauto.
    + eapply completes_right; [exact all_places|exact ends].
    + exact (message_has_no_race i W R r).
    + refine (lost_is_not_allowed i W R _ r). rewrite all_answers. exact said.
  - intros [[[[[[i W] U] rows] ends] said] other] S. apply same_answers_eq in said.
    destruct (S nat place Nat.eq_dec place_dec places x all_atomic zero (overtaking b u) run)
      as [r|r].
    + exact all_places.
    + eapply have_rows; [apply overtaking_ops|exact rows].
    + eapply in_scope_of; [apply overtaking_ops|]. intros o [<-|[<-|[]]] a; eauto.
    + eapply completes_right; [exact all_places|exact ends].
    + exact (overtaking_has_no_race i r).
    + refine (overtaken_is_not_allowed W U _ r). repeat split.
      * rewrite all_answers. exact said.
      * intro k. rewrite k in other. rewrite all_answers. exact (same_answers_eq _ _ other).
      * intro k. rewrite k in other. unfold memory_of. rewrite last_state_at.
        apply Nat.eqb_eq. exact other.
Qed.
Corollary not_sound t ws : existsb (refutes t) ws = true -> ~ sound t.
Proof. intro h. apply existsb_exists in h. destruct h as (w&_&h). exact (@refuted t w h). Qed.

(** ** [check] decides a table of which each broken obligation is refuted by a run *)
Lemma row_dec : forall r r' : row, {r = r'} + {r <> r'}.
Proof. repeat decide equality. Defined.
Lemma obligation_dec : forall o o' : obligation, {o = o'} + {o <> o'}.
Proof. decide equality; apply row_dec. Defined.
Definition about w := match w with Lost b c _ => SYNC b c | Overtaken b u _ => ATOM b u end.
Definition shows t o w := (if obligation_dec o (about w) then true else false) && refutes t w.
Definition all_shown t ws := forallb (fun o => existsb (shows t o) ws) (broken t).

Lemma nothing_broken t : forallb one_access t = true -> broken t = [] -> check t = true.
Proof.
  intros A B. unfold check, check_by. rewrite A. simpl. apply forallb_forall. intros b hb.
  apply forallb_forall. intros c hc.
  enough (N : forall o, ~ In o (broken t)).
  { unfold check_pair.
    destruct (atomic b && atomic c && incl_rows b c && writes b) eqn:G; auto. simpl.
    apply andb_true_iff. split; apply orb_true_iff.
    - destruct (reads c) eqn:r, (sync_ok (bracketed_rmw t) (bracketed_L2 t) b c) eqn:k; auto.
      exfalso. apply (N (SYNC b c)). unfold broken. apply in_flat_map. exists b. split; auto.
      apply in_flat_map. exists c. split; auto. rewrite G, r, k. simpl. auto.
    - destruct (isrmw c) eqn:r, (atom_ok (bracketed_rmw t) (bracketed_L2 t) b c) eqn:k; auto.
      exfalso. apply (N (ATOM b c)). unfold broken. apply in_flat_map. exists b. split; auto.
      apply in_flat_map. exists c. split; auto. rewrite G, r, k. simpl.
      apply in_app_iff. simpl. auto. }
  rewrite B. auto.
Qed.
Theorem decided t ws : forallb one_access t = true -> all_shown t ws = true ->
  (sound t <-> check t = true).
Proof.
  intros A S. split; [|apply thm1]. intro s. apply nothing_broken; auto.
  destruct (broken t) as [|o os] eqn:B; auto. exfalso.
  unfold all_shown in S. rewrite B in S. simpl in S. apply andb_prop in S as [S _].
  apply existsb_exists in S. destruct S as (w&_&S). apply andb_prop in S as [_ S].
  exact (@refuted t w S s).
Qed.
