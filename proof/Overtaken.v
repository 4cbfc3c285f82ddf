(** * A broken ATOM is a run (docs/proof.md, Exactness)

    What [check] does not refute holds of some times (Complete.v).  Made strict, they are a
    schedule, and so a run (OvertakingRun.v). Rows must free the locks that they take, and no others
    ([gives_back]):

      [Theorem atom_is_run : ... atom_ok true true b u = false ->
         exists run, refutes t (Overtaken b u run) = true.]

    No axiom is used. *)
Require Import List Arith Lia Bool Thm1 Obligations Complete Steps Refuted Alone OvertakingRun.
Import ListNotations.
Set Implicit Arguments.

(** ** Times of a broken obligation, made strict

    What is at one time is put in an order: locks are freed; markers are sent; fetches at the very
    time of their look; accesses in an L1; invalidations; other fetches; arrivals, and accesses at
    the L2; locks are taken. *)
Section Strict.
Variables b u : row.
Variable v : nat -> nat.
Variable looked : nat.
Notation rw := (Complete.rw b u).
Notation len := (Complete.len b u).
Notation at_access := (Complete.at_access b u).
Hypothesis access_b : one_access b = true.
Hypothesis access_u : one_access u = true.
Hypothesis writes_b : writes b = true.
Hypothesis writes_u : writes u = true.
Hypothesis u_looks : inc1 u = true.
Hypothesis all_rmw_freed : forall o, rmw_freed b u o.
Hypothesis all_L2_freed : forall o, L2_freed b u o.
Hypothesis broken_at : atom_times b u v true true looked.
Let pairs := atom_pair broken_at.

Definition rank c := match c with
  | Ul_L2 | Ul_rmw => 0
  | Flu _ => 1
  | Ld | St | Inc_L1 => 3
  | Inv _ => 4
  | Inc_L2 => 7
  | Lk_L2 | Lk_rmw => 9
  end.
Definition rank_at o i := rank (nth i (code (rw o)) Ld).
Definition side (o : bool) := if o then 1 else 0.
Definition strict_time o i := 40 * v (at_instr o i) + (4 * rank_at o i + side o).
Definition strict_look (o : bool) := if o
  then 40 * looked + (if looked =? v (at_access true) then 10 else 22)
  else 40 * v at_agreement + (if v at_agreement =? v (at_access false) then 11 else 23).
Definition strict_arrival o := if inc2 (rw o) then strict_time o (pos (rw o))
  else 40 * v (at_arrival o) + (if o then 34 else 30).

Lemma rank_small c : rank c <= 9. Proof. destruct c; simpl; lia. Qed.
Lemma rank_is o i c : nth_error (code (rw o)) i = Some c -> rank_at o i = rank c.
Proof. intro e. unfold rank_at. rewrite (nth_error_nth _ _ _ e). auto. Qed.
Lemma time_range o i : 40 * v (at_instr o i) <= strict_time o i <= 40 * v (at_instr o i) + 37.
Proof.
  unfold strict_time, rank_at, side. pose proof (rank_small (nth i (code (rw o)) Ld)).
  destruct o; lia.
Qed.
Lemma accesses o : one_access (rw o) = true. Proof. destruct o; auto. Qed.
Lemma access_rank o : rank_at o (pos (rw o)) = if inc2 (rw o) then 7 else 3.
Proof.
  destruct (access_there _ (accesses o)) as [e a]. rewrite (rank_is _ _ e). unfold inc2.
  destruct (Obligations.access (rw o)); discriminate || auto.
Qed.
Lemma access_time o : strict_time o (pos (rw o)) =
  40 * v (at_access o) + (4 * (if inc2 (rw o) then 7 else 3) + side o).
Proof. unfold strict_time. rewrite access_rank. auto. Qed.
Lemma arrival_range o :
  40 * v (at_arrival o) + 28 <= strict_arrival o <= 40 * v (at_arrival o) + 34.
Proof.
  unfold strict_arrival. destruct (inc2 (rw o)) eqn:i; [|destruct o; lia].
  assert (w : writes (rw o) = true) by (destruct o; auto).
  rewrite (arrives_at pairs o w i), access_time, i. unfold side. destruct o; lia.
Qed.
Lemma inc1_not_inc2 o : inc1 (rw o) = true -> inc2 (rw o) = false.
Proof. unfold inc1, inc2. destruct (Obligations.access (rw o)); auto; discriminate. Qed.
(** An interval of [o] in these times. *)
Lemma interval_times lk ul o h : (forall c, lk c = true -> rank c = 9) ->
  (forall c, ul c = true -> rank c = 0) -> In h (intervals lk ul (code (rw o)) 0 None) ->
  strict_time o (fst h) = 40 * v (at_instr o (fst h)) + (36 + side o) /\
  forall m, snd h = Instr m -> strict_time o m = 40 * v (at_instr o m) + side o.
Proof.
  intros L U i. destruct h as [f m]. apply interval_marks in i as [a c]. simpl in *. split.
  - destruct a as [a|(k&d&->&e&l)]; [discriminate|]. unfold strict_time. simpl.
    rewrite (rank_is _ _ e), (L _ l). auto.
  - intros j e. destruct (c j e) as (k&d&->&e'&_&l). unfold strict_time. simpl.
    rewrite (rank_is _ _ e'), (U _ l). auto.
Qed.
Lemma outside_time lk ul o h p q : (forall c, lk c = true -> rank c = 9) ->
  (forall c, ul c = true -> rank c = 0) -> In h (intervals lk ul (code (rw o)) 0 None) ->
  (exists m, snd h = Instr m) -> free v o h p -> 40 * p + 2 <= q <= 40 * p + 35 ->
  outside_of strict_time o h q.
Proof.
  intros L U i [m e] F R. destruct (@interval_times lk ul _ _ L U i) as [a c]. specialize (c m e).
  unfold outside_of, free in *. rewrite e in *. simpl in F. unfold side in *. destruct o, F; lia.
Qed.
Lemma separate_times lk ul h h' : (forall c, lk c = true -> rank c = 9) ->
  (forall c, ul c = true -> rank c = 0) -> In h (intervals lk ul (code (rw true)) 0 None) ->
  In h' (intervals lk ul (code (rw false)) 0 None) ->
  (exists m, snd h = Instr m) -> (exists m, snd h' = Instr m) ->
  v (at_mark false (snd h')) <= v (at_instr true (fst h)) \/
  v (at_mark true (snd h)) <= v (at_instr false (fst h')) ->
  separate strict_time true h h'.
Proof.
  intros L U i i' [m e] [m' e'] F. destruct (@interval_times lk ul _ _ L U i) as [a c].
  destruct (@interval_times lk ul _ _ L U i') as [a' c']. specialize (c m e). specialize (c' m' e').
  rewrite e, e' in F. simpl in F, a, a', c, c'. exists m, m'. split; auto. split; auto.
  simpl. lia.
Qed.
Lemma rmw_lk c : takes_rmw c = true -> rank c = 9. Proof. destruct c; discriminate || auto. Qed.
Lemma rmw_ul c : frees_rmw c = true -> rank c = 0. Proof. destruct c; discriminate || auto. Qed.
Lemma L2_lk c : takes_L2 c = true -> rank c = 9. Proof. destruct c; discriminate || auto. Qed.
Lemma L2_ul c : frees_L2 c = true -> rank c = 0. Proof. destruct c; discriminate || auto. Qed.

Lemma look_range o : looks b u o ->
  strict_look o < strict_time o (pos (rw o)) /\ strict_look o < strict_arrival false /\
  forall o' i, Complete.inv_of b u o o' i -> strict_time o' i < strict_look o \/
    strict_time o (pos (rw o)) < strict_time o' i.
Proof.
  intro l. pose proof (inc1_not_inc2 o l) as n. pose proof (access_time o) as a. rewrite n in a.
  pose proof (arrival_range false) as r. unfold side in a.
  assert (J : forall o' i, Complete.inv_of b u o o' i ->
    strict_time o' i = 40 * v (at_instr o' i) + (16 + side o')).
  { intros o' i (k&e&_). unfold strict_time. rewrite (rank_is _ _ e). auto. }
  destruct o; unfold strict_look; cbv iota.
  - pose proof (looked_no_later broken_at) as h1. pose proof (looked_before broken_at) as h2.
    split; [|split].
    + destruct (Nat.eqb_spec looked (v (at_access true))); lia.
    + destruct (Nat.eqb_spec looked (v (at_access true))); lia.
    + intros o' i K. rewrite (J o' i K). destruct (looked_valid broken_at K) as [q|q];
        unfold side; destruct (Nat.eqb_spec looked (v (at_access true))), o'; lia.
  - pose proof (agreed broken_at l) as h1.
    assert (w : v (at_access false) < v (at_arrival false)).
    { exact (arrives_after pairs false writes_b n). }
    split; [|split].
    + destruct (Nat.eqb_spec (v at_agreement) (v (at_access false))); lia.
    + destruct (Nat.eqb_spec (v at_agreement) (v (at_access false))); lia.
    + intros o' i K. rewrite (J o' i K). destruct (agreed_valid broken_at l K) as [q|q];
        unfold side; destruct (Nat.eqb_spec (v at_agreement) (v (at_access false))), o'; lia.
Qed.
Lemma look_offset (o : bool) : exists p : nat, (p = if o then looked else v at_agreement) /\
  40 * p + 10 <= strict_look o <= 40 * p + 23.
Proof.
  eexists. split; [reflexivity|]. unfold strict_look. destruct o.
  - destruct (Nat.eqb_spec looked (v (at_access true))); lia.
  - destruct (Nat.eqb_spec (v at_agreement) (v (at_access false))); lia.
Qed.

Lemma strict_schedule : schedule b u strict_time strict_look strict_arrival.
Proof.
  assert (W : forall o, writes (rw o) = true) by (intros []; auto).
  split.
  - intros o i j h h'. pose proof (Complete.goes_on pairs o h h') as q.
    pose proof (time_range o i). pose proof (time_range o j). lia.
  - intros o i j _ _. unfold strict_time, side. destruct o; cbn [negb]; cbv iota; lia.
  - intros o o' i _. unfold strict_look, strict_time, side.
    destruct o; destruct (_ =? _), o'; lia.
  - unfold strict_look. destruct (_ =? _), (_ =? _); lia.
  - intros o o' l. unfold at_L1 in l. unfold strict_arrival. rewrite l. unfold strict_look.
    destruct o; destruct (_ =? _), o'; lia.
  - intros o o' i l _. unfold at_L1 in l. unfold strict_arrival. rewrite l.
    unfold strict_time, side. destruct o, o'; lia.
  - intros o l. unfold strict_arrival. rewrite l. auto.
  - intros o l. unfold at_L1 in l. unfold T. rewrite access_time, l.
    pose proof (arrives_after pairs o (W o) l). pose proof (arrival_range o).
    unfold side. unfold Complete.at_access in *. destruct o; lia.
  - pose proof (Complete.overtaken broken_at). pose proof (arrival_range false).
    pose proof (arrival_range true). lia.
  - intros o l. apply (look_range l).
  - intros o l. apply (look_range l).
  - intros o o' i l. apply (look_range l).
  - intros o o' i F. unfold T. rewrite access_time.
    assert (D : drains b u v o (v (at_access o)) (v (at_arrival o))).
    { destruct o; [apply (second_drained broken_at)|apply (first_drained broken_at)]. }
    destruct (D o' i F) as [q|q]; [left|right].
    + destruct F as (k&e&_). unfold strict_time. rewrite (rank_is _ _ e). unfold side.
      destruct (inc2 (rw o)), o, o'; simpl rank; lia.
    + intros j h h'. destruct F as (k&e&_). pose proof (waits pairs o' e h h').
      pose proof (arrival_range o). pose proof (time_range o' j). lia.
  - intros h h' i i'. apply (@separate_times takes_rmw frees_rmw h h' rmw_lk rmw_ul i i').
    + apply (all_rmw_freed true h i).
    + apply (all_rmw_freed false h' i').
    + apply (rmw_apart pairs eq_refl h' h i' i).
  - intros o h i k. unfold T. apply (@outside_time takes_rmw frees_rmw o h _ _ rmw_lk rmw_ul i
      (all_rmw_freed o h i) (rmw_free pairs eq_refl o h i k)).
    rewrite access_time. unfold side. destruct (inc2 (rw (negb o))), o; simpl; lia.
  - intros h h' i i'. apply (@separate_times takes_L2 frees_L2 h h' L2_lk L2_ul i i').
    + apply (all_L2_freed true h i).
    + apply (all_L2_freed false h' i').
    + apply (L2_apart pairs eq_refl h' h i' i).
  - intros o h i. apply (@outside_time takes_L2 frees_L2 o h _ _ L2_lk L2_ul i (all_L2_freed o h i)
      (L2_free pairs eq_refl o h i (W (negb o)))).
    pose proof (arrival_range (negb o)). lia.
  - intros o h i l. destruct (look_offset (negb o)) as (p&e&r).
    assert (F : free v o h p).
    { subst p. destruct o; simpl in *.
      - apply (agreed_free broken_at l eq_refl h i).
      - apply (looked_free broken_at eq_refl h i). }
    apply (@outside_time takes_L2 frees_L2 o h _ _ L2_lk L2_ul i (all_L2_freed o h i) F). lia.
Qed.
End Strict.

(** ** A broken ATOM of a table that gives its locks back is a run *)
Definition is_freed (h : nat * mark) := match snd h with Instr _ => true | ToEnd => false end.
(** A row frees the locks that it takes, and no others. *)
Definition gives_back r :=
  bracketed takes_rmw frees_rmw (code r) false && bracketed takes_L2 frees_L2 (code r) false &&
  forallb is_freed (rmw_intervals r) && forallb is_freed (L2_intervals r).
(** A row is that of its operations: no other one for them comes before it. *)
Definition is_own t r := match row_for t (on x 0 r) with
  | Some r' => if row_dec r' r then true else false
  | None => false
  end.
Lemma same_row t r l n : row_for t (on l n r) = row_for t (on x 0 r).
Proof.
  unfold row_for. induction t as [|r' t IH]; simpl; auto.
  assert (F : fits (on l n r) r' = fits (on x 0 r) r').
  { unfold fits, kind_row, scope_row, on, kind_of. simpl. destruct (row_kind r); auto. }
  rewrite F, IH. auto.
Qed.
Lemma own_row t r l n : is_own t r = true -> row_for t (on l n r) = Some r.
Proof.
  unfold is_own. rewrite (same_row t r l n).
  destruct (row_for t (on x 0 r)) as [r'|]; [|discriminate].
  destruct (row_dec r' r); [subst; auto|discriminate].
Qed.
Lemma all_freed hs : forallb is_freed hs = true -> forall h, In h hs -> exists m, snd h = Instr m.
Proof.
  intros F h i. rewrite forallb_forall in F. specialize (F h i). unfold is_freed in F.
  destruct (snd h) as [m|]; [eauto|discriminate].
Qed.
Theorem atom_is_run t b u : gives_back b = true -> gives_back u = true ->
  is_own t b = true -> is_own t u = true -> one_access b = true -> one_access u = true ->
  inclusive b u = true -> writes b = true -> isrmw u = true -> atom_ok true true b u = false ->
  exists run, refutes t (Overtaken b u run) = true.
Proof.
  intros gb gu ob ou ab au I wb ru broken.
  unfold gives_back in gb, gu. apply andb_prop in gb as [gb b4]. apply andb_prop in gb as [gb b3].
  apply andb_prop in gb as [b1 b2]. apply andb_prop in gu as [gu u4].
  apply andb_prop in gu as [gu u3]. apply andb_prop in gu as [u1 u2].
  destruct (@atom_broken b u ab au true true broken) as (n2&v&look&A).
  assert (wu : writes u = true) by (unfold isrmw in ru; apply andb_prop in ru; apply ru).
  assert (u_looks : inc1 u = true).
  { unfold isrmw, writes, reads in ru. unfold one_access in au. apply andb_prop in au as [_ au].
    unfold inc1. unfold inc2 in n2. destruct (row_kind u); try discriminate ru.
    destruct (Obligations.access u); auto; discriminate. }
  assert (F1 : forall o, rmw_freed b u o).
  { intros [|] h i; [exact (all_freed _ u3 h i)|exact (all_freed _ b3 h i)]. }
  assert (F2 : forall o, L2_freed b u o).
  { intros [|] h i; [exact (all_freed _ u4 h i)|exact (all_freed _ b4 h i)]. }
  pose proof (@strict_schedule b u v look ab au wb wu F1 F2 A) as S.
  pose proof (own_row t u x 1 ou) as rowu. pose proof (own_row t b x 10 ob) as rowb.
  assert (B1 : forall o, bracketed takes_rmw frees_rmw (code (Complete.rw b u o)) false = true).
  { intros [|]; auto. }
  assert (B2 : forall o, bracketed takes_L2 frees_L2 (code (Complete.rw b u o)) false = true).
  { intros [|]; auto. }
  destruct (@overtaking_run b u _ _ _ t rowu rowb ab au wb u_looks B1 B2 S F1 F2)
    as (run&s&a&p&C&a0&a1&m).
  exists run. destruct p as (_&l&w). unfold refutes. cbv zeta. rewrite I, wb, ru, C.
  cbn [forallb]. unfold has_row at 1 2. rewrite rowu, rowb. rewrite !w, a0, l, m.
  unfold same_answers. destruct (list_eq_dec Nat.eq_dec [0] [0]) as [_|ne]; [|tauto].
  destruct (row_kind b); auto. rewrite (a1 eq_refl).
  destruct (list_eq_dec Nat.eq_dec [0] [0]); auto.
Qed.
Corollary atom_needed t b u : sound t -> gives_back b = true -> gives_back u = true ->
  is_own t b = true -> is_own t u = true -> one_access b = true -> one_access u = true ->
  inclusive b u = true -> writes b = true -> isrmw u = true -> atom_ok true true b u = true.
Proof.
  intros s gb gu ob ou ab au I wb ru. destruct (atom_ok true true b u) eqn:e; auto.
  destruct (@atom_is_run t b u gb gu ob ou ab au I wb ru e) as [run h].
  destruct (@refuted t (Overtaken b u run) h s).
Qed.
