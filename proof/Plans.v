(** * Times at which SYNC is broken give a plan

    A _plan_ puts the instructions of [message b c] (Refuted.v) in an order, with the arrivals of x
    and of what [b] writes.  It is a schedule (Schedule.v) but for the moments at which y is
    fetched, and at which what [c] writes arrives.  [planned] makes a plan of the times of
    Complete.v: x arrives when the first markers leave that wait for it (docs/proof.md, Exactness).
    [plan_schedule] adds the other moments, if no lock is in the way. *)
Require Import List Arith Bool Lia Thm1 Obligations Complete Steps Refuted Schedule.
Import ListNotations.
Set Implicit Arguments.

(** Each lock that a row takes it frees. *)
Definition freed (h : nat * mark) := match snd h with Instr _ => true | ToEnd => false end.
Definition frees_all r := forallb freed (rmw_intervals r) && forallb freed (L2_intervals r).

(** It takes and frees no rmw lock while it holds that of the L2. *)
Fixpoint nests (held : bool) cs := match cs with
  | [] => true
  | Lk_L2 :: cs => nests true cs
  | Ul_L2 :: cs => nests false cs
  | Lk_rmw :: cs | Ul_rmw :: cs => negb held && nests held cs
  | _ :: cs => nests held cs
  end.

Section Plans.
Variables b c : row.
Notation prog := (prog b c).
Notation instr_at := (instr_at b c).
Notation at_b := (at_b b).
Notation at_c := (at_c c).
Notation at_load := (at_load c).
Notation invalidates_L1 := (invalidates_L1 b c).

Section Plan.
Variable T : nat -> nat -> nat.
Variables X Y : nat.                 (* when x arrives, and what [b] stores in its L1 *)
Definition b_in_L2 := if inc2 b then T 0 at_b else Y.
Notation holding_rmw := (holding b c T LK_rmw UL_rmw).
Notation holding_L2 := (holding b c T (LK_L2 y) (UL_L2 y)).
(** A store at [w] has arrived at [a], if a flush of the L1 of thread 0 came after it. *)
Definition drained_by w a := forall u k r, instr_at u k = Some (FLU_L1 r) -> reaches r u 0 = true ->
  w < T u k -> S k < length (prog u) -> a < T u (S k).
Record plan : Prop := {
  steps_in_order : forall u k, S k < length (prog u) -> T u k < T u (S k);
  steps_apart : forall k j, k < length (prog 0) -> j < length (prog 1) -> T 0 k <> T 1 j;
  X_apart : forall u k, k < length (prog u) -> X <> T u k;
  Y_apart : inc2 b = false -> Y <> X /\ forall u k, k < length (prog u) -> Y <> T u k;
  X_after : T 0 0 < X;
  X_drained : drained_by (T 0 0) X;
  X_late : forall u k, invalidates_L1 1 u k -> T u k < X \/ T 1 at_load < T u k;
  Y_after : inc2 b = false -> T 0 at_b < Y;
  Y_drained : inc2 b = false -> drained_by (T 0 at_b) Y;
  Y_unlocked : inc2 b = false -> ~ holding_L2 1 Y;
  got : exists g, b_in_L2 < g /\ g <= T 1 at_c /\ ~ holding_L2 0 g;
  rmw_locks : forall u k, instr_at u k = Some LK_rmw -> ~ holding_rmw (1 - u) (T u k);
  L2_locks : forall u k, instr_at u k = Some (LK_L2 y) -> ~ holding_L2 (1 - u) (T u k);
  incs_unlocked : (inc b = true -> ~ holding_rmw 1 (T 0 at_b)) /\
    (inc c = true -> ~ holding_rmw 0 (T 1 at_c));
  inc2s_unlocked : (inc2 b = true -> ~ holding_L2 1 (T 0 at_b)) /\
    (inc2 c = true -> ~ holding_L2 0 (T 1 at_c)) }.
End Plan.

(** ** An interval for each lock that is taken *)
Lemma opened lk ul cs : forall i f, exists m, In (f, m) (intervals lk ul cs i (Some f)) /\
  (m = ToEnd \/ exists e a, m = Instr (i + e) /\ nth_error cs e = Some a /\ ul a = true).
Proof.
  induction cs as [|a cs IH]; intros i f; simpl.
  - exists ToEnd. auto.
  - assert (R : forall m, In (f, m) (intervals lk ul cs (S i) (Some f)) /\ (m = ToEnd \/
        exists e a', m = Instr (S i + e) /\ nth_error cs e = Some a' /\ ul a' = true) ->
      In (f, m) (intervals lk ul cs (S i) (Some f)) /\ (m = ToEnd \/
        exists e a', m = Instr (i + e) /\ nth_error (a :: cs) e = Some a' /\ ul a' = true)).
    { intros m [h k]. split; auto. destruct k as [k|(e&a'&->&k1&k2)]; auto. right.
      exists (S e), a'. rewrite Nat.add_succ_r. auto. }
    destruct (IH (S i) f) as [m h]. apply R in h.
    destruct (lk a); [exists m; exact h|]. destruct (ul a) eqn:u; [|exists m; exact h].
    exists (Instr i). split; [left; reflexivity|]. right. exists 0, a. rewrite Nat.add_0_r. auto.
Qed.
Lemma interval_of lk ul cs : (forall a, lk a = true -> ul a = false) ->
  forall i cur k a, nth_error cs k = Some a -> lk a = true -> (forall f, cur = Some f -> f < i) ->
  exists f m, In (f, m) (intervals lk ul cs i cur) /\ f <= i + k /\ (m = ToEnd \/
    exists e a', m = Instr (i + e) /\ k < e /\ nth_error cs e = Some a' /\ ul a' = true).
Proof.
  intro D. induction cs as [|a0 cs IH]; intros i cur k a n l before; [destruct k; discriminate|].
  destruct k as [|k]; simpl in n.
  - injection n as ->. simpl. rewrite l.
    pose (f := match cur with Some f => f | None => i end).
    assert (f <= i) by (subst f; destruct cur as [f|]; auto; specialize (before f eq_refl); lia).
    destruct (opened lk ul cs (S i) f) as (m&h&k). exists f, m.
    split; [unfold f in *; destruct cur; exact h|]. split; [lia|].
    destruct k as [k|(e&a'&->&k1&k2)]; auto. right. exists (S e), a'. rewrite Nat.add_succ_r.
    repeat split; auto. lia.
  - assert (R : forall cur', (forall f, cur' = Some f -> f < S i) ->
      exists f m, In (f, m) (intervals lk ul cs (S i) cur') /\ f <= i + S k /\ (m = ToEnd \/
        exists e a', m = Instr (i + e) /\ S k < e /\ nth_error (a0 :: cs) e = Some a' /\
          ul a' = true)).
    { intros cur' before'. destruct (IH (S i) cur' k a n l before') as (f&m&h1&h2&h3).
      exists f, m. split; auto. split; [lia|]. destruct h3 as [h3|(e&a'&->&k0&k1&k2)]; auto.
      right. exists (S e), a'. rewrite Nat.add_succ_r. repeat split; auto. lia. }
    simpl. destruct (lk a0); [|destruct (ul a0); [destruct cur as [g|]|]].
    + apply R. destruct cur as [g|]; intros f [= <-]; [specialize (before g eq_refl)|]; lia.
    + destruct (R None) as (f&m&h&h'); [discriminate|]. exists f, m. split; [right;
        exact h|exact h'].
    + apply R. discriminate.
    + apply R. intros f e. specialize (before f e). lia.
Qed.
Lemma taken lk ul cs k a : (forall a, lk a = true -> ul a = false) ->
  forallb freed (intervals lk ul cs 0 None) = true -> nth_error cs k = Some a -> lk a = true ->
  exists f e a', In (f, Instr e) (intervals lk ul cs 0 None) /\ f <= k /\ k < e /\
    nth_error cs e = Some a' /\ ul a' = true.
Proof.
  intros D F n l. destruct (@interval_of lk ul cs D 0 None k a n l) as (f&m&h1&h2&h3).
  - discriminate.
  - rewrite forallb_forall in F. specialize (F _ h1). unfold freed in F. simpl in F.
    destruct h3 as [->|(e&a'&->&h3)]; [discriminate|]. exists f, e, a'. tauto.
Qed.

(** ** Instructions of the two rows, by their places in the two threads *)
Definition thread_of_row (o : bool) := if o then 1 else 0.
Definition place_of (o : bool) i := if o then i else S i.
Definition op_of_row (o : bool) := if o then on y 2 c else on y 1 b.
Notation rw := (rw b c).
Lemma row_instr o i a : nth_error (code (rw o)) i = Some a ->
  instr_at (thread_of_row o) (place_of o i) = Some (instr_of x zero (op_of_row o) a).
Proof.
  intro h. unfold Schedule.instr_at. destruct o; simpl in *.
  - assert (i < length (code c)) by (apply nth_error_Some; rewrite h; discriminate).
    unfold code_c, items. rewrite nth_error_app1 by (rewrite map_length; auto).
    rewrite nth_error_map, h. reflexivity.
  - unfold code_b, items. rewrite nth_error_map, h. reflexivity.
Qed.
Lemma instr_row u k i : instr_at u k = Some i -> match i with LD _ | ST _ _ => False | _ => True
  end ->
  exists o j a, u = thread_of_row o /\ k = place_of o j /\ nth_error (code (rw o)) j = Some a /\
    i = instr_of x zero (op_of_row o) a.
Proof.
  unfold Schedule.instr_at. destruct (nth_error (prog u) k) as [[i' d]|] eqn:h; [|discriminate].
  intros [= ->] n. destruct (code_at _ _ _ _ h) as
    [(->&->&->&->)|[(j&a&->&->&q&->&_)|[(a&->&q&->&_)|(->&->&->&_)]]].
  - destruct n.
  - exists false, j, a. auto.
  - exists true, k, a. auto.
  - destruct n.
Qed.

(** ** Times, all different *)
Section Times.
Hypothesis b_once : one_access b = true.
Hypothesis c_once : one_access c = true.
Hypothesis W : writes b = true.
Hypothesis b_gives : frees_all b = true.
Hypothesis c_gives : frees_all c = true.
Variable v : nat -> nat.
Hypothesis V : sync_times b c v true true.

(** Moments at one time are put in order: what frees first, what takes and invalidates last. *)
Definition size := size b c.
Definition rank p n := (v n * 3 + p) * size + n.
Definition prio i := match i with
  | Ul_L2 | Ul_rmw | Flu _ => 0
  | Ld | St | Inc_L1 | Inc_L2 => 1
  | Lk_L2 | Lk_rmw | Inv _ => 2
  end.
Definition T u k := match u with
  | 0 => match k with
      | 0 => rank 1 (at_start false)
      | S j => rank (prio (nth j (code b) Ld)) (at_instr false j)
      end
  | _ => if k =? at_load then rank 0 (at_end true)
      else rank (prio (nth k (code c) Ld)) (at_instr true k)
  end.
Definition Y := rank 1 (at_arrival false).
Definition G := rank 1 (at_look false).

Lemma rank_lt p m q n : v m * 3 + p < v n * 3 + q -> m < size -> rank p m < rank q n.
Proof. unfold rank. nia. Qed.
Lemma rank_inj p m q n : rank p m = rank q n -> m < size -> n < size -> m = n.
Proof.
  intros e h h'. unfold rank in e.
  destruct (lt_eq_lt_dec (v m * 3 + p) (v n * 3 + q)) as [[l|l]|l]; [nia| |nia].
  rewrite l in e. lia.
Qed.
Lemma instr_small o i : i < length (code (rw o)) -> at_instr o i < size /\ at_left o i < size.
Proof. unfold at_instr, at_left, size, Obligations.size, Complete.rw. destruct o; simpl; lia. Qed.
Lemma few_small n : n < 9 -> n < size.
Proof. unfold size, Obligations.size. lia. Qed.
Lemma T_row o i a : nth_error (code (rw o)) i = Some a ->
  T (thread_of_row o) (place_of o i) = rank (prio a) (at_instr o i).
Proof.
  intro h. assert (i < length (code (rw o))) by (apply nth_error_Some; rewrite h; discriminate).
  destruct o; simpl in *.
  - destruct (Nat.eqb_spec i at_load) as [e|e]; [unfold Schedule.at_load in e; lia|].
    rewrite (nth_error_nth _ _ _ h). reflexivity.
  - rewrite (nth_error_nth _ _ _ h). reflexivity.
Qed.
Lemma T_load : T 1 at_load = rank 0 (at_end true).
Proof. unfold T. rewrite Nat.eqb_refl. reflexivity. Qed.
Lemma T_b : T 0 at_b = rank 1 (at_instr false (pos b)).
Proof.
  destruct (access_there _ (one_access_of _ b_once)) as [h a].
  rewrite (T_row false _ h : T 0 at_b = _). unfold pos.
  destruct (nth (pos_acc (code b)) (code b) Ul_rmw); try discriminate a; reflexivity.
Qed.
Lemma T_c : T 1 at_c = rank 1 (at_instr true (pos c)).
Proof.
  destruct (access_there _ (one_access_of _ c_once)) as [h a].
  rewrite (T_row true _ h : T 1 at_c = _). unfold pos.
  destruct (nth (pos_acc (code c)) (code c) Ul_rmw); try discriminate a; reflexivity.
Qed.
Lemma prio_small a : prio a <= 2. Proof. destruct a; simpl; lia. Qed.

(** Every moment of a thread is the rank of a number, and no two threads have the same. *)
Definition number u k := match u with
  | 0 => match k with 0 => at_start false | S j => at_instr false j end
  | _ => if k =? at_load then at_end true else at_instr true k
  end.
Lemma T_number u k : exists p, p <= 2 /\ T u k = rank p (number u k).
Proof.
  destruct u as [|u]; simpl.
  - destruct k; eauto using prio_small.
  - destruct (k =? at_load); [exists 0; auto with arith|]. eauto using prio_small.
Qed.
Lemma number_small u k : k < length (prog u) -> number u k < size.
Proof.
  intro h. destruct u as [|[|u]]; [| |destruct k; simpl in h; lia].
  - rewrite length_b in h. destruct k; simpl; [apply few_small; unfold at_start; simpl; lia|].
    apply (@instr_small false). simpl. lia.
  - rewrite length_c in h. simpl. destruct (Nat.eqb_spec k at_load); [apply few_small;
      unfold at_end; simpl; lia|].
    apply (@instr_small true). simpl. unfold Schedule.at_load in *. lia.
Qed.
Lemma number_not u k n : k < length (prog u) ->
  n = at_arrival false \/ n = at_look false \/ n = at_agreement \/ (exists o i, n = at_left o i) ->
  number u k <> n.
Proof.
  intros h q. destruct u as [|u]; simpl; [destruct k|destruct (k =? at_load)];
    unfold at_start, at_end, at_instr, at_arrival, at_look, at_agreement, at_left in *;
      simpl second in *;
    destruct q as [->|[->|[->|([]&i&->)]]]; simpl second; lia.
Qed.
Lemma T_not u k p n : k < length (prog u) -> n < size ->
  n = at_arrival false \/ n = at_look false \/ n = at_agreement \/ (exists o i, n = at_left o i) ->
  rank p n <> T u k.
Proof.
  intros h s q e. destruct (T_number u k) as (p'&_&e'). rewrite e' in e.
  apply rank_inj in e; auto; [|apply number_small; auto]. apply (@number_not u k n h q). auto.
Qed.

Lemma in_time u k : S k < length (prog u) -> T u k < T u (S k).
Proof.
  pose proof (sync_pair V) as P. intro h. destruct u as [|[|u]]; [| |destruct k; simpl in h; lia].
  - rewrite length_b in h. destruct k as [|j].
    + apply rank_lt; [|apply few_small; unfold at_start; simpl; lia].
      pose proof (begins P false (i := 0)) as q. unfold len in q. simpl in q.
      specialize (q ltac:(lia)).
      simpl. lia.
    + simpl. apply rank_lt; [|apply (@instr_small false); simpl; lia].
      pose proof (Complete.goes_on P false (i := j) (j := S j)) as q. unfold len in q.
      simpl Complete.rw in q.
      specialize (q ltac:(lia) ltac:(lia)). pose proof (prio_small (nth j (code b) Ld)). lia.
  - rewrite length_c in h. unfold T. destruct (Nat.eqb_spec k at_load); [lia|].
    pose proof (prio_small (nth k (code c) Ld)).
    destruct (Nat.eqb_spec (S k) at_load); unfold Schedule.at_load in *.
    + apply rank_lt; [|apply (@instr_small true); simpl; lia].
      pose proof (ends P true (i := k)) as q. unfold len in q. simpl Complete.rw in q.
      specialize (q ltac:(lia)). lia.
    + apply rank_lt; [|apply (@instr_small true); simpl; lia].
      pose proof (Complete.goes_on P true (i := k) (j := S k)) as q. unfold len in q.
      simpl Complete.rw in q.
      specialize (q ltac:(lia) ltac:(lia)). lia.
Qed.
Lemma in_times u k j : k < j -> j < length (prog u) -> T u k < T u j.
Proof.
  induction 1 as [|j l IH]; intro h; [apply in_time; auto|].
  apply Nat.lt_trans with (T u j); [apply IH; lia|apply in_time; auto].
Qed.
(** What comes after a flush comes after its markers have left. *)
Lemma after_flush o i r : nth_error (code (rw o)) i = Some (Flu r) ->
  S (place_of o i) < length (prog (thread_of_row o)) ->
  rank 1 (at_left o i) < T (thread_of_row o) (S (place_of o i)).
Proof.
  intros h l. pose proof (sync_pair V) as P.
  assert (hi : i < length (code (rw o))) by (apply nth_error_Some; rewrite h; discriminate).
  destruct (instr_small o hi) as [_ s].
  destruct o; unfold T; cbn [thread_of_row place_of] in *.
  - destruct (Nat.eqb_spec (S i) at_load); apply rank_lt; auto.
    + pose proof (@ends_after _ _ _ _ _ P true i r h). lia.
    + rewrite length_c in l. unfold Schedule.at_load in *.
      pose proof (@waits _ _ _ _ _ P true i (S i) r h) as q. unfold len in q.
      simpl Complete.rw in q.
      specialize (q ltac:(lia) ltac:(lia)). lia.
  - rewrite length_b in l. apply rank_lt; auto.
    pose proof (@waits _ _ _ _ _ P false i (S i) r h) as q. unfold len in q. simpl Complete.rw in q.
    specialize (q ltac:(lia) ltac:(lia)). lia.
Qed.
(** Flushes of the L1 of thread 0, and invalidations of that of thread 1. *)
Lemma reaching_flush u k r : instr_at u k = Some (FLU_L1 r) -> reaches r u 0 = true ->
  exists o i s, u = thread_of_row o /\ k = place_of o i /\
    nth_error (code (rw o)) i = Some (Flu s) /\
    flush_of b c false o i.
Proof.
  intros h q. destruct (instr_row _ _ h I) as (o&i&a&->&->&n&e).
  destruct a; try discriminate e. exists o, i, r0. repeat split; auto. exists r0. split; auto.
  destruct o; auto. right. injection e as ->. destruct r0; auto. discriminate.
Qed.
Lemma reaching_inv u k : invalidates_L1 1 u k ->
  exists o i s, u = thread_of_row o /\ k = place_of o i /\
    nth_error (code (rw o)) i = Some (Inv s) /\
    inv_of b c true o i.
Proof.
  intros (r&h&q). destruct (instr_row _ _ h I) as (o&i&a&->&->&n&e).
  destruct a; try discriminate e. exists o, i, r0. repeat split; auto. exists r0. split; auto.
  destruct o; auto. right. injection e as ->. destruct r0; auto. discriminate.
Qed.

(** Locks: [p] is outside of the intervals of a row, or the lock is taken outside of them. *)
Section Lock.
Variables lk ul : ins -> bool.
Variables LK UL : instr nat place.
Hypothesis apart : forall a, lk a = true -> ul a = false.
Hypothesis lk_is : forall o a, instr_of x zero (op_of_row o) a = LK -> lk a = true.
Hypothesis ul_is : forall o a, ul a = true -> instr_of x zero (op_of_row o) a = UL.
Hypothesis lk_last : forall a, lk a = true -> prio a = 2.
Hypothesis ul_first : forall a, ul a = true -> prio a = 0.
Hypothesis LK_locks : match LK with LD _ | ST _ _ => False | _ => True end.
Notation held o := (intervals lk ul (code (rw o)) 0 None).
Hypothesis closed : forall o, forallb freed (held o) = true.

Lemma lock_of u k : instr_at u k = Some LK -> exists o f j e a, u = thread_of_row o /\
  k = place_of o j /\ In (f, Instr e) (held o) /\ f <= j /\ j < e /\
  nth_error (code (rw o)) e = Some a /\ ul a = true.
Proof.
  intro h. destruct (instr_row _ _ h LK_locks) as (o&j&a&->&->&n&q).
  destruct (@taken lk ul (code (rw o)) j a apart (closed o) n) as (f&e&a'&t1&t2&t3&t4&t5).
  - apply (lk_is o). auto.
  - exists o, f, j, e, a'. auto 8.
Qed.
Lemma opens o f m : In (f, m) (held o) -> exists a, nth_error (code (rw o)) f = Some a /\
  lk a = true.
Proof.
  intro h. enough (K : forall cs i cur, In (f, m) (intervals lk ul cs i cur) ->
    cur = Some f \/ exists k a, f = i + k /\ nth_error cs k = Some a /\ lk a = true).
  { destruct (K _ _ _ h) as [q|(k&a&->&q)]; [discriminate|eauto]. }
  clear. induction cs as [|a cs IH]; simpl; intros i cur h.
  - destruct cur; [|tauto]. destruct h as [[= <- _]|[]]. auto.
  - assert (R : forall cur', In (f, m) (intervals lk ul cs (S i) cur') ->
      cur' = Some f \/ exists k a', f = i + k /\ nth_error (a :: cs) k = Some a' /\ lk a' = true).
    { intros cur' q. destruct (IH _ _ q) as [e|(k&a'&->&e)]; auto. right.
      exists (S k), a'. rewrite Nat.add_succ_r. auto. }
    destruct (lk a) eqn:la.
    + destruct (R _ h) as [q|q]; auto. destruct cur; auto. injection q as <-. right.
      exists 0, a. rewrite Nat.add_0_r. auto.
    + destruct (ul a); [|apply R; exact h].
      assert (h' : cur = Some f \/ In (f, m) (intervals lk ul cs (S i) None)).
      { destruct cur; [destruct h as [[= <- _]|h]|]; auto. }
      destruct h' as [h'|h']; auto. destruct (R _ h') as [q|q]; [discriminate|auto].
Qed.
Lemma T_opens o f j m a : In (f, m) (held o) -> f <= j -> nth_error (code (rw o)) j = Some a ->
  rank 2 (at_instr o f) <= T (thread_of_row o) (place_of o j).
Proof.
  intros h l n. destruct (opens _ _ _ h) as (a0&n0&q).
  rewrite <- (lk_last q), <- (T_row _ _ n0).
  destruct (Nat.eq_dec f j) as [->|ne]; auto. apply Nat.lt_le_incl.
  pose proof (row_instr o j n) as i. pose proof (instr_there _ _ _ _ i) as I.
  apply in_times; [destruct o; simpl; lia|exact I].
Qed.
Lemma T_closes o e a : nth_error (code (rw o)) e = Some a -> ul a = true ->
  T (thread_of_row o) (place_of o e) = rank 0 (at_instr o e).
Proof. intros n q. rewrite (T_row _ _ n), (ul_first q). reflexivity. Qed.
Lemma lock_small o e a : nth_error (code (rw o)) e = Some a -> at_instr o e < size.
Proof. intro n. apply instr_small. apply nth_error_Some. rewrite n. discriminate. Qed.

Lemma free_holds o p : p < size -> (forall h, In h (held o) -> free v o h (v p)) ->
  ~ holding b c T LK UL (thread_of_row o) (rank 1 p).
Proof.
  intros s F (k&h1&h2&h3).
  destruct (lock_of _ _ h1) as (o'&f&j&e&a&eo&->&i&l1&l2&n&u).
  assert (o' = o) as -> by (destruct o, o'; auto; discriminate).
  destruct (F _ i) as [q|q]; simpl in q.
  - destruct (nth_error (code (rw o)) j) as [a'|] eqn:nj.
    + pose proof (T_opens o _ i l1 nj) as t.
      assert (rank 1 p < rank 2 (at_instr o f)) by (apply rank_lt; [lia|auto]). lia.
    + apply nth_error_None in nj. assert (e < length (code (rw o))) by (apply nth_error_Some;
        congruence). lia.
  - specialize (h3 (place_of o e)). rewrite (T_closes _ _ n u) in h3.
    assert (rank 0 (at_instr o e) < rank 1 p) by (apply rank_lt; [lia|eapply lock_small; eauto]).
    enough (rank 1 p <= rank 0 (at_instr o e)) by lia. apply h3; [destruct o; simpl; lia|].
    rewrite (row_instr _ _ n), (ul_is o u). reflexivity.
Qed.
Lemma apart_holds : (forall h h', In h (held false) -> In h' (held true) ->
    v (at_mark false (snd h)) <= v (at_instr true (fst h')) \/
    v (at_mark true (snd h')) <= v (at_instr false (fst h))) ->
  forall u k, instr_at u k = Some LK -> ~ holding b c T LK UL (1 - u) (T u k).
Proof.
  intros E u k h (k'&h1&h2&h3).
  destruct (lock_of _ _ h) as (o&f&j&e&a&->&->&i&l1&l2&n&ua).
  destruct (lock_of _ _ h1) as (o'&f'&j'&e'&a'&eo&->&i'&l1'&l2'&n'&ua').
  assert (o' = negb o) as -> by (destruct o, o'; auto; discriminate). clear h h1.
  assert (below : forall o j e a, j < e -> nth_error (code (rw o)) e = Some a ->
    exists a', nth_error (code (rw o)) j = Some a').
  { intros oo jj ee aa l q. destruct (nth_error (code (rw oo)) jj) eqn:qq; [eauto|].
    apply nth_error_None in qq. assert (ee < length (code (rw oo))) by (apply nth_error_Some;
      congruence).
    lia. }
  destruct (below _ _ _ _ l2 n) as [aj nj]. destruct (below _ _ _ _ l2' n') as [aj' nj'].
  pose proof (T_opens o _ i l1 nj) as t. pose proof (T_opens (negb o) _ i' l1' nj') as t'.
  specialize (h3 (place_of (negb o) e')). rewrite eo in h3.
  rewrite (T_closes _ _ n' ua') in h3.
  assert (h4 : T (thread_of_row o) (place_of o j) <= rank 0 (at_instr (negb o) e')).
  { apply h3; [destruct o; simpl; lia|]. rewrite (row_instr _ _ n'), (ul_is _ ua'). reflexivity. }
  assert (h5 : T (thread_of_row o) (place_of o j) < rank 0 (at_instr o e)).
  { rewrite <- (T_closes _ _ n ua). pose proof (row_instr o e n) as ie.
    pose proof (instr_there _ _ _ _ ie) as I.
    apply in_times; [destruct o; simpl; lia|exact I]. }
  assert (Q : v (at_instr (negb o) e') <= v (at_instr o f) \/
    v (at_instr o e) <= v (at_instr (negb o) f')).
  { destruct o; simpl negb in *; [destruct (E _ _ i' i)|destruct (E _ _ i i')]; simpl in *; auto. }
  rewrite eo in h2. destruct Q as [Q|Q].
  - assert (rank 0 (at_instr (negb o) e') < rank 2 (at_instr o f)); [|lia].
    apply rank_lt; [lia|eapply lock_small; eauto].
  - assert (rank 0 (at_instr o e) < rank 2 (at_instr (negb o) f')); [|lia].
    apply rank_lt; [lia|eapply lock_small; eauto].
Qed.
End Lock.

(** The rmw lock, and that of y. *)
Ltac by_instr := intros; repeat match goal with
  | o : bool |- _ => destruct o
  | a : ins |- _ => destruct a
  end; simpl in *; solve [congruence | discriminate | auto].
Lemma rmw_closed o : forallb freed (intervals takes_rmw frees_rmw (code (rw o)) 0 None) = true.
Proof. destruct (andb_prop _ _ b_gives), (andb_prop _ _ c_gives). destruct o; assumption. Qed.
Lemma L2_closed o : forallb freed (intervals takes_L2 frees_L2 (code (rw o)) 0 None) = true.
Proof. destruct (andb_prop _ _ b_gives), (andb_prop _ _ c_gives). destruct o; assumption. Qed.
Lemma rmw_outside o p : p < size -> (forall h, In h (rmw_intervals (rw o)) -> free v o h (v p)) ->
  ~ holding b c T LK_rmw UL_rmw (thread_of_row o) (rank 1 p).
Proof. apply free_holds with (lk := takes_rmw) (ul := frees_rmw); try exact rmw_closed; by_instr.
  Qed.
Lemma L2_outside o p : p < size -> (forall h, In h (L2_intervals (rw o)) -> free v o h (v p)) ->
  ~ holding b c T (LK_L2 y) (UL_L2 y) (thread_of_row o) (rank 1 p).
Proof. apply free_holds with (lk := takes_L2) (ul := frees_L2); try exact L2_closed; by_instr. Qed.
Lemma rmw_taken u k : instr_at u k = Some LK_rmw -> ~ holding b c T LK_rmw UL_rmw (1 - u) (T u k).
Proof.
  intro h. apply apart_holds with (lk := takes_rmw) (ul := frees_rmw); try exact h;
    try exact rmw_closed;
    try by_instr.
  apply (rmw_apart (sync_pair V) eq_refl).
Qed.
Lemma L2_taken u k : instr_at u k = Some (LK_L2 y) ->
  ~ holding b c T (LK_L2 y) (UL_L2 y) (1 - u) (T u k).
Proof.
  intro h. apply apart_holds with (lk := takes_L2) (ul := frees_L2); try exact h;
    try exact L2_closed;
    try by_instr.
  apply (L2_apart (sync_pair V) eq_refl).
Qed.

(** ** When x arrives: when the first markers leave that wait for it *)
Definition waiting_for_x := flat_map (fun o => map (fun i => rank 1 (at_left o i))
  (filter (fun i => flushes (negb o) (nth i (code (rw o)) Ld) &&
    (T 0 0 <? T (thread_of_row o) (place_of o i))) (seq 0 (length (code (rw o)))))) [false; true].
Lemma waits_for_x o i : flush_of b c false o i -> T 0 0 < T (thread_of_row o) (place_of o i) ->
  In (rank 1 (at_left o i)) waiting_for_x.
Proof.
  intros (k&n&h) l. unfold waiting_for_x. apply in_flat_map. exists o.
  split; [destruct o; simpl; auto|]. apply in_map_iff. exists i. split; auto.
  apply filter_In. split.
  - apply in_seq. assert (i < length (code (rw o))) by (apply nth_error_Some; congruence). lia.
  - rewrite (nth_error_nth _ _ _ n). apply andb_true_iff. split; [|apply Nat.ltb_lt; exact l].
    destruct k; auto. destruct h as [->|h]; [reflexivity|discriminate].
Qed.
Lemma that_wait r : In r waiting_for_x -> exists o i k, r = rank 1 (at_left o i) /\
  nth_error (code (rw o)) i = Some (Flu k) /\ flush_of b c false o i /\
  T 0 0 < T (thread_of_row o) (place_of o i).
Proof.
  intro h. apply in_flat_map in h. destruct h as (o&_&h). apply in_map_iff in h.
  destruct h as (i&<-&h). apply filter_In in h as [h q]. apply in_seq in h.
  apply andb_prop in q as [q l]. apply Nat.ltb_lt in l.
  destruct (nth_error (code (rw o)) i) as [a|] eqn:n; [|apply nth_error_None in n; lia].
  rewrite (nth_error_nth _ _ _ n) in q. destruct a as [| | | |k| | | | |]; try discriminate q.
  exists o, i, k. repeat split; auto. exists k. split; auto.
  destruct k; auto. left. destruct o; [discriminate|auto].
Qed.
Lemma least (l : list nat) d : exists m, (m = d \/ In m l) /\ m <= d /\ forall n, In n l -> m <= n.
Proof.
  induction l as [|a l (m&h1&h2&h3)]; [exists d; split; auto; split; auto; intros n []|].
  destruct (le_lt_dec a m) as [q|q].
  - exists a. simpl. split; auto. split; [lia|]. intros n [<-|h]; auto. specialize (h3 n h). lia.
  - exists m. simpl. split; [tauto|]. split; auto. intros n [<-|h]; auto. lia.
Qed.
(** Later than all other moments. *)
Definition last_moment := S (Y + list_max (map (T 0) (seq 0 (length (prog 0))) ++
  map (T 1) (seq 0 (length (prog 1))))).
Lemma before_last u k : k < length (prog u) -> T u k < last_moment.
Proof.
  intro h. unfold last_moment.
  set (l := map (T 0) _ ++ map (T 1) _).
  assert (i : In (T u k) l).
  { apply in_app_iff. destruct u as [|[|u]]; [left|right|destruct k; simpl in h; lia];
      apply in_map, in_seq; lia. }
  pose proof (proj1 (list_max_le l _) (le_n _)) as q. rewrite Forall_forall in q.
  specialize (q _ i). simpl in *. lia.
Qed.

Theorem planned : exists X, plan T X Y.
Proof.
  pose proof (sync_pair V) as P.
  destruct (least waiting_for_x last_moment) as (X&x1&_&x2). exists X.
  assert (xl : forall u k, k < length (prog u) -> X <> T u k).
  { intros u k h. destruct x1 as [->|x1]; [pose proof (before_last u h); lia|].
    destruct (that_wait _ x1) as (o&i&r&->&n&_&_). apply T_not; eauto 6.
    apply instr_small. apply nth_error_Some. congruence. }
  assert (y_small : at_arrival false < size) by (apply few_small; unfold at_arrival; simpl; lia).
  assert (pb : at_instr false (pos b) < size) by (apply (@instr_small false), pos_in; auto).
  assert (pc : at_instr true (pos c) < size) by (apply (@instr_small true), pos_in; auto).
  assert (drains_y : inc2 b = false -> drained_by T (T 0 at_b) Y).
  { intros i u k r h q l l'. destruct (reaching_flush _ _ h q) as (o&j&s&->&->&n&f).
    pose proof (after_flush o j n l') as w. destruct (got_drained V f) as [d|d].
    - exfalso. rewrite (T_row o j n), T_b in l. simpl prio in l.
      assert (rank 0 (at_instr o j) < rank 1 (at_instr false (pos b))); [|lia].
      unfold at_access in d. simpl in d. apply rank_lt; [lia|].
      apply instr_small. apply nth_error_Some. congruence.
    - assert (Y < rank 1 (at_left o j)); [|lia]. apply rank_lt; auto. lia. }
  split; auto.
  - exact in_time.
  - intros k j hk hj e. destruct (T_number 0 k) as (p&_&e1). destruct (T_number 1 j) as (q&_&e2).
    rewrite e1, e2 in e. apply rank_inj in e; try (apply number_small; auto). revert e. simpl.
    destruct k; destruct (j =? at_load); unfold at_start, at_end, at_instr; simpl second; lia.
  - intros _. split.
    + intro e. destruct x1 as [->|x1]; [unfold last_moment in e; lia|].
      destruct (that_wait _ x1) as (o&i&r&->&n&_&_). apply rank_inj in e; auto.
      * unfold at_arrival, at_left in e. simpl in e. lia.
      * apply instr_small. apply nth_error_Some. congruence.
    + intros u k h. apply T_not; auto.
  - destruct x1 as [->|x1]; [apply before_last; rewrite length_b; lia|].
    destruct (that_wait _ x1) as (o&i&r&->&n&_&l).
    assert (T (thread_of_row o) (place_of o i) < rank 1 (at_left o i)); [|lia].
    rewrite (T_row o i n). simpl prio. apply rank_lt; [|apply instr_small, nth_error_Some;
      congruence].
    pose proof (marked P o i n). lia.
  - intros u k r h q l l'. destruct (reaching_flush _ _ h q) as (o&j&s&->&->&n&f).
    pose proof (after_flush o j n l'). pose proof (x2 _ (waits_for_x f l)). lia.
  - intros u k h. destruct (reaching_inv h) as (o&j&s&->&->&n&f).
    pose proof (before_last _ (instr_there _ _ _ _ (row_instr o j n))) as bl.
    assert (s1 : at_instr o j < size) by (apply instr_small, nth_error_Some; congruence).
    destruct x1 as [->|x1]; [left; exact bl|].
    destruct (that_wait _ x1) as (o'&i&r&->&n'&f'&l).
    assert (s2 : at_instr o' i < size) by (apply instr_small, nth_error_Some; congruence).
    rewrite (T_row o j n), T_load. rewrite (T_row o' i n') in l. simpl prio in *.
    change (T 0 0) with (rank 1 (at_start false)) in l.
    assert (sm : at_start false < size) by (apply few_small; unfold at_start; simpl; lia).
    pose proof (marked P o' i n') as mk.
    destruct (unseen V f f') as [u|[u|[u|u]]].
    + right. apply rank_lt; [lia|]. apply few_small. unfold at_end. simpl. lia.
    + left. assert (rank 2 (at_instr o j) < rank 1 (at_start false)) by (apply rank_lt; [lia|auto]).
      assert (rank 0 (at_instr o' i) < rank 1 (at_left o' i)) by (apply rank_lt; [lia|auto]). lia.
    + exfalso. assert (rank 0 (at_instr o' i) < rank 1 (at_start false)); [|lia].
      apply rank_lt; [lia|auto].
    + left. apply rank_lt; [lia|auto].
  - intro i. rewrite T_b. apply rank_lt; auto. pose proof (arrives_after P false W i) as q.
    unfold at_access in q. simpl in q. lia.
  - intro i. apply (@L2_outside true); auto. intros h ih.
    apply (L2_free P eq_refl true h ih W).
  - exists G. unfold b_in_L2, G. split; [|split].
    + pose proof (got_after V) as g.
      assert (s : at_arrival false < size) by auto.
      destruct (inc2 b) eqn:i; [|apply rank_lt; [lia|auto]]. rewrite T_b. apply rank_lt; auto.
      pose proof (arrives_at P false W i) as q. unfold at_access in q. simpl in q. lia.
    + rewrite T_c. pose proof (got_before V) as g. unfold at_access in g. simpl in g.
      apply Nat.lt_le_incl. unfold rank. unfold at_look at 2. unfold at_instr at 2. simpl second.
      nia.
    + apply (@L2_outside false); [apply few_small; unfold at_look; simpl; lia|].
      apply (got_free V eq_refl).
  - exact rmw_taken.
  - exact L2_taken.
  - rewrite T_b, T_c. split; intro i.
    + apply (@rmw_outside true); auto. intros h ih. exact (rmw_free P eq_refl true h ih i).
    + apply (@rmw_outside false); auto. intros h ih. exact (rmw_free P eq_refl false h ih i).
  - rewrite T_b, T_c. split; intro i.
    + apply (@L2_outside true); auto. intros h ih. pose proof (L2_free P eq_refl true h ih W) as q.
      pose proof (arrives_at P false W i) as e. unfold free in *. simpl negb in q.
      unfold at_access in e. simpl in e. rewrite <- e. exact q.
    + apply (@L2_outside false); auto. intros h ih. pose proof (got_free V eq_refl h ih) as q.
      pose proof (got_at V i) as e. unfold free in *. unfold at_access in e. simpl in e.
      rewrite <- e. exact q.
Qed.
End Times.
End Plans.

(** ** A plan is a schedule, if nobody holds the lock of y at the accesses

    That is, while [b], as an RMW in its L1, or [c], unless it is at the L2, is executed.  They
    fetch y just before, and what [c] writes arrives just after. *)
Section Scheduled.
Variables b c : row.
Hypothesis W : writes b = true.
Hypothesis R : reads c = true.
Hypothesis b_once : one_access b = true.
Hypothesis c_once : one_access c = true.
Variable T : nat -> nat -> nat.
Variables X Y : nat.
Hypothesis L : plan b c T X Y.
Notation prog := (prog b c).
Notation instr_at := (instr_at b c).
Notation at_b := (at_b b).
Notation at_c := (at_c c).
Notation holding := (holding b c).
Notation LK_y := (LK_L2 y).
Notation UL_y := (UL_L2 y).
Hypothesis b_outside : inc1 b = true -> ~ holding T LK_y UL_y 1 (T 0 at_b).
Hypothesis c_outside : inc2 c = false -> ~ holding T LK_y UL_y 0 (T 1 at_c).

Definition T4 u k := 4 * T u k + 2.
Definition A4 w z := match w, z with
  | 0, x => 4 * X + 2
  | 0, y => if inc2 b then 4 * T 0 at_b + 3 else 4 * Y + 2
  | _, _ => 4 * T 1 at_c + 3
  end.
Definition F4 w := match w with 0 => 4 * T 0 at_b + 1 | _ => 4 * T 1 at_c + 1 end.

Lemma T_grows u k j : k < j -> j < length (prog u) -> T u k < T u j.
Proof.
  induction 1 as [|j l IH]; intro h; [apply (steps_in_order L); auto|].
  apply Nat.lt_trans with (T u j); [apply IH; lia|apply (steps_in_order L); auto].
Qed.
Lemma T_inj u k u' k' : k < length (prog u) -> k' < length (prog u') -> T u k = T u' k' ->
  u = u' /\ k = k'.
Proof.
  intros h h' e. assert (same : u = u' -> k = k').
  { intros <-. destruct (lt_eq_lt_dec k k') as [[q|q]|q]; auto.
    - pose proof (T_grows u q h'). lia.
    - pose proof (T_grows u q h). lia. }
  destruct u as [|[|u]]; [| |destruct k; simpl in h; lia];
    (destruct u' as [|[|u']]; [| |destruct k'; simpl in h'; lia]); auto.
  - exfalso. exact (steps_apart L h h' e).
  - exfalso. exact (steps_apart L h' h (eq_sym e)).
Qed.
(** A lock that is held at a finer time is held at that time of the plan. *)
Lemma holding_4 lk ul u n m : holding T4 lk ul u m -> 4 * n < m -> m <= 4 * n + 3 ->
  (forall k, k < length (prog u) -> T u k <> n) -> holding T lk ul u n.
Proof.
  intros (f&h1&h2&h3) l l' ne. exists f. split; auto. unfold T4 in *.
  pose proof (instr_there _ _ _ _ h1 : f < length (prog u)) as I. specialize (ne f I).
  split; [lia|]. intros e q q'. specialize (h3 e q q'). lia.
Qed.
Lemma other_thread u k : k < length (prog u) -> forall k', k' < length (prog (1 - u)) ->
  T (1 - u) k' <> T u k.
Proof.
  intros h k' h' e. destruct (@T_inj _ _ _ _ h' h e) as [q _].
  destruct u as [|[|u]]; simpl in *; try lia; try (destruct k; simpl in h; lia).
Qed.
Lemma not_holding_4 lk ul u k m : k < length (prog u) -> 4 * T u k < m -> m <= 4 * T u k + 3 ->
  ~ holding T lk ul (1 - u) (T u k) -> ~ holding T4 lk ul (1 - u) m.
Proof.
  intros h l l' N q. apply N. apply (holding_4 q l l'). apply other_thread. exact h.
Qed.

Lemma plan_schedule : schedule b c T4 A4 F4.
Proof.
  pose proof (b_there b c b_once : at_b < length (prog 0)) as hb.
  pose proof (c_there b c c_once : at_c < length (prog 1)) as hc.
  assert (bc : T 0 at_b <> T 1 at_c) by (apply (steps_apart L); auto).
  assert (Xb := X_apart L 0 hb). assert (Xc := X_apart L 1 hc).
  assert (Yb : inc2 b = false -> Y <> T 0 at_b) by (intro i; apply (Y_apart L i); auto).
  assert (Yc : inc2 b = false -> Y <> T 1 at_c) by (intro i; apply (Y_apart L i); auto).
  assert (YX : inc2 b = false -> Y <> X) by (intro i; apply (Y_apart L i)).
  destruct (got L) as (g&g1&g2&g3). unfold b_in_L2 in g1.
  split.
  - intros m m' I I' e.
    assert (runs : forall u k m, k < length (prog u) -> is_moment b c m ->
      T4 u k = time T4 A4 F4 m ->
      Run u k = m).
    { intros u k [u' k'|w z|w] h J q; simpl in q, J.
      - destruct (@T_inj u k u' k') as [-> ->]; auto. unfold T4 in q. lia.
      - exfalso. unfold T4 in q. pose proof (X_apart L u h). pose proof (Y_apart L) as ya.
        destruct w as [|w], z; simpl in q; try lia.
        destruct (inc2 b); [lia|]. destruct (ya eq_refl) as [_ ya']. specialize (ya' u k h). lia.
      - exfalso. unfold T4 in q. destruct w; simpl in q; lia. }
    destruct m as [u k|w z|w]; [apply runs; auto| |];
      (destruct m' as [u' k'|w' z'|w']; [symmetry; apply runs; auto|..]); simpl in e, I, I';
      destruct w as [|[|w]]; try destruct I; try (destruct z; try destruct I);
      destruct w' as [|[|w']]; try destruct I'; try (destruct z'; try destruct I'); auto;
      exfalso; simpl in e; destruct (inc2 b); try specialize (Yb eq_refl);
      try specialize (Yc eq_refl); try specialize (YX eq_refl); lia.
  - intros u k h. unfold T4. pose proof (steps_in_order L u h). lia.
  - intros w z m s. unfold T4. destruct w as [|[|w]], z; simpl in s; try discriminate; simpl.
    + injection s as <-. pose proof (X_after L). lia.
    + destruct (inc2 b) eqn:i; [discriminate|]. injection s as <-. pose proof (Y_after L i). lia.
    + destruct (inc1 c); [|discriminate]. injection s as <-. lia.
  - intros u k r w z m h q s l l'. unfold T4 in *. pose proof (steps_in_order L u l') as o.
    destruct w as [|[|w]], z; simpl in s; try discriminate; simpl.
    + injection s as <-. assert (X < T u (S k)); [|lia].
      apply (X_drained L u h q); auto. lia.
    + destruct (inc2 b) eqn:i; [discriminate|]. injection s as <-. assert (Y < T u (S k)); [|lia].
      apply (Y_drained L i u h q); auto. lia.
    + destruct (inc1 c); [|discriminate]. injection s as <-. lia.
  - intros u k h. unfold T4. simpl. destruct (X_late L h); lia.
  - unfold b_arrives, T4. simpl. destruct (inc2 b); lia.
  - intro i. simpl. unfold T4. split; [lia|]. split.
    + apply (@not_holding_4 _ _ 0 at_b); auto; try lia.
    + intros u k (r&h&q). assert (I : k < length (prog u)) by (exact (instr_there _ _ _ _ h)).
      assert (T u k <> T 0 at_b); [|lia]. intro e. destruct (@T_inj _ _ _ _ I hb e) as [-> ->].
      rewrite b_instr in h by auto. destruct (access b) eqn:a; try discriminate h.
      destruct (b_row b W b_once) as [[a' _]|[[a'|a'] _]]; congruence.
  - intro i. simpl. unfold T4, b_arrives. simpl. split; [destruct (inc2 b); lia|]. split; [lia|].
    split.
    + apply (@not_holding_4 _ _ 1 at_c); auto; try lia.
    + intros u k (r&h&q). assert (I : k < length (prog u)) by (exact (instr_there _ _ _ _ h)).
      assert (T u k <> T 1 at_c); [|lia]. intro e. destruct (@T_inj _ _ _ _ I hc e) as [-> ->].
      rewrite c_instr in h by auto. destruct (access c) eqn:a; try discriminate h.
      destruct (c_row c R c_once) as [[a' _]|[[a'|a'] _]]; congruence.
  - intros w m s. destruct w as [|[|w]]; simpl in s; try discriminate; simpl.
    + destruct (inc2 b) eqn:i; [discriminate|]. intro q. apply (Y_unlocked L i).
      apply (@holding_4 _ _ 1 Y _ q); try lia. intros k h e.
      exact (proj2 (Y_apart L i) 1 k h (eq_sym e)).
    + destruct (inc1 c) eqn:i; [|discriminate]. apply (@not_holding_4 _ _ 1 at_c); auto; try lia.
      apply c_outside. unfold inc1, inc2 in *. destruct (access c); auto; discriminate.
  - intros u k h. pose proof (instr_there _ _ _ _ h : k < length (prog u)) as I. unfold T4.
    apply (not_holding_4 I); try lia. exact (rmw_locks L u k h).
  - intros u k h. pose proof (instr_there _ _ _ _ h : k < length (prog u)) as I. unfold T4.
    apply (not_holding_4 I); try lia. exact (L2_locks L u k h).
  - destruct (incs_unlocked L) as [h1 h2]. unfold T4. split; intro i.
    + apply (@not_holding_4 _ _ 0 at_b); auto; lia.
    + apply (@not_holding_4 _ _ 1 at_c); auto; lia.
  - destruct (inc2s_unlocked L) as [h1 h2]. unfold T4. split; intro i.
    + apply (@not_holding_4 _ _ 0 at_b); auto; lia.
    + apply (@not_holding_4 _ _ 1 at_c); auto; lia.
Qed.
End Scheduled.
