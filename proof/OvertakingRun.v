(** * The run in which an RMW overtakes what arrives before it (docs/proof.md, Exactness)

    [u x || b x], where [u] is an RMW in its L1: it reads what was there before [b], and is last in
    memory.  Given are times at which all is strictly before or after what it has to be before or
    after ([schedule]).  The run does one thing after another in the order of these times, and [At]
    says what the state is at each of them.  Overtaken.v has such times of a broken ATOM. *)
Require Import List Arith Lia Bool Thm1 Obligations Complete Steps Refuted Alone.
Import ListNotations.
Set Implicit Arguments.

Section Schedule.
Variables b u : row.
Notation rw := (Complete.rw b u).
Notation len := (Complete.len b u).
Notation flush_of := (Complete.flush_of b u).
Notation inv_of := (Complete.inv_of b u).

(** The times: of instructions, of what is fetched, and of the arrivals. *)
Variable t : bool -> nat -> nat.
Variables look arr : bool -> nat.
Definition T o := t o (pos (rw o)).
Definition at_L1 o := inc2 (rw o) = false.
Definition looks o := inc1 (rw o) = true.
Definition rmw_of o := rmw_intervals (rw o).
Definition L2_of o := L2_intervals (rw o).
(** A time is before an interval, or after it. *)
Definition outside_of o (h : nat * mark) p := match snd h with
  | Instr m => p < t o (fst h) \/ t o m < p
  | ToEnd => p < t o (fst h)
  end.
Definition separate o (h h' : nat * mark) := exists m m', snd h = Instr m /\ snd h' = Instr m' /\
  (t o m < t (negb o) (fst h') \/ t (negb o) m' < t o (fst h)).

Record schedule : Prop := {
  increasing : forall o i j, i < j -> j < len o -> t o i < t o j;
  instrs_apart : forall o i j, i < len o -> j < len (negb o) -> t o i <> t (negb o) j;
  looks_apart : forall o o' i, i < len o' -> look o <> t o' i;
  two_looks : look true <> look false;
  look_arrival : forall o o', at_L1 o' -> look o <> arr o';
  arrivals_apart : forall o o' i, at_L1 o -> i < len o' -> arr o <> t o' i;
  arrives_L2 : forall o, inc2 (rw o) = true -> arr o = T o;
  arrives_L1 : forall o, at_L1 o -> T o < arr o;
  arrivals : arr false < arr true;
  looks_before : forall o, looks o -> look o < T o;
  looks_first : forall o, looks o -> look o < arr false;
  stays_valid : forall o o' i, looks o -> inv_of o o' i -> t o' i < look o \/ T o < t o' i;
  leaves_in_time : forall o o' i, flush_of o o' i ->
    t o' i < T o \/ forall j, i < j -> j < len o' -> arr o < t o' j;
  rmw_separate : forall h h', In h (rmw_of true) -> In h' (rmw_of false) -> separate true h h';
  rmw_outside : forall o h, In h (rmw_of o) -> inc (rw (negb o)) = true ->
    outside_of o h (T (negb o));
  L2_separate : forall h h', In h (L2_of true) -> In h' (L2_of false) -> separate true h h';
  L2_arrival : forall o h, In h (L2_of o) -> outside_of o h (arr (negb o));
  L2_look : forall o h, In h (L2_of o) -> looks (negb o) -> outside_of o h (look (negb o)) }.

Definition rmw_freed o := forall h, In h (rmw_of o) -> exists m, snd h = Instr m.
Definition L2_freed o := forall h, In h (L2_of o) -> exists m, snd h = Instr m.

Variable tbl : table.
Notation P := (overtaking b u).
Hypothesis row_u : row_for tbl (on x 1 u) = Some u.
Hypothesis row_b : row_for tbl (on x 10 b) = Some b.
Hypothesis access_b : one_access b = true.
Hypothesis access_u : one_access u = true.
Hypothesis writes_b : writes b = true.
Hypothesis u_looks : inc1 u = true.
Hypothesis brackets_rmw : forall o, bracketed takes_rmw frees_rmw (code (rw o)) false = true.
Hypothesis brackets_L2 : forall o, bracketed takes_L2 frees_L2 (code (rw o)) false = true.
Hypothesis Sch : schedule.

Lemma access_once o : one_access (rw o) = true. Proof. destruct o; auto. Qed.
Lemma both_write o : writes (rw o) = true.
Proof.
  destruct o; auto. simpl. pose proof access_u as a. unfold one_access in a.
  apply andb_prop in a as [_ a]. unfold inc1 in u_looks. unfold writes.
  destruct (row_kind u), (Obligations.access u); discriminate || auto.
Qed.

(** ** How many instructions of [o] are executed before [n] *)
Fixpoint passed o n := match n with
  | 0 => 0
  | S n => let k := passed o n in
      if (k <? len o) && (t o k =? n) then S k else k
  end.
Definition now o n := passed o n < len o /\ t o (passed o n) = n.
Lemma now_dec o n : {now o n} + {~ now o n}.
Proof.
  unfold now. destruct (le_lt_dec (len o) (passed o n)); [right; lia|].
  destruct (Nat.eq_dec (t o (passed o n)) n); [left; auto|right; lia].
Qed.
Lemma passed_now o n : now o n -> passed o (S n) = S (passed o n).
Proof.
  intros [l e]. simpl. apply Nat.ltb_lt in l. apply Nat.eqb_eq in e. rewrite l, e. auto.
Qed.
Lemma passed_later o n : ~ now o n -> passed o (S n) = passed o n.
Proof.
  intro h. simpl. destruct (passed o n <? len o) eqn:l; auto.
  destruct (t o (passed o n) =? n) eqn:e; auto.
  destruct h. apply Nat.ltb_lt in l. apply Nat.eqb_eq in e. split; auto.
Qed.
Lemma passed_is o n : passed o n <= len o /\ (forall j, j < passed o n -> t o j < n) /\
  forall j, passed o n <= j -> j < len o -> n <= t o j.
Proof.
  induction n as [|n (l&a&c)]; [simpl; repeat split; lia|]. destruct (now_dec o n) as [h|h].
  - rewrite (passed_now h). destruct h as [h e]. split; [lia|]. split.
    + intros j q. destruct (Nat.eq_dec j (passed o n)) as [->|ne]; [lia|].
      specialize (a j). lia.
    + intros j q q'. pose proof (increasing Sch o (i := passed o n) (j := j)). lia.
  - rewrite (passed_later h). split; auto. split; [intros j q; specialize (a j q); lia|].
    intros j q q'. pose proof (c j q q'). destruct (Nat.eq_dec (t o j) n) as [e|]; [|lia].
    destruct h. destruct (Nat.eq_dec j (passed o n)) as [->|ne]; [split; auto|].
    pose proof (increasing Sch o (i := passed o n) (j := j)). specialize (c (passed o n)). lia.
Qed.
Lemma now_at o i : i < len o -> now o (t o i) /\ passed o (t o i) = i.
Proof.
  intro h. destruct (passed_is o (t o i)) as (l&a&c). enough (passed o (t o i) = i) as e.
  { split; auto. split; rewrite e; auto. }
  destruct (lt_eq_lt_dec (passed o (t o i)) i) as [[q|q]|q]; auto.
  - specialize (c (passed o (t o i))). pose proof (increasing Sch o q h). lia.
  - specialize (a i q). lia.
Qed.
Lemma not_both n : now true n -> now false n -> False.
Proof. intros [l e] [l' e']. apply (instrs_apart Sch (o := true) l l'). cbn [negb]. lia. Qed.
Lemma now_other o n : now o n -> ~ now (negb o) n.
Proof. destruct o; intros h h'; apply (@not_both n); auto. Qed.
Lemma pos_len o : pos (rw o) < len o.
Proof. apply pos_below, access_once. Qed.

(** ** Locks *)
Section Lock.
Variables lk ul : ins -> bool.
Definition holds_at o n := held lk ul (code (rw o)) (passed o n) false.
Definition holder n :=
  if holds_at true n then Some 0 else if holds_at false n then Some 1 else None.
Notation intervals_of o := (intervals lk ul (code (rw o)) 0 None).
Hypothesis apart : forall h h', In h (intervals_of true) -> In h' (intervals_of false) ->
  separate true h h'.
Hypothesis freed : forall o, bracketed lk ul (code (rw o)) false = true.
Hypothesis disjoint : forall i, lk i = true -> ul i = false.

Lemma held_now o n : holds_at o n = true -> exists h, In h (intervals_of o) /\
  t o (fst h) < n /\ forall m, snd h = Instr m -> m < len o -> n <= t o m.
Proof.
  intro h. unfold holds_at in h.
  destruct (@held_interval lk ul (code (rw o)) 0 (passed o n) None h) as (f&m&i&a&c).
  destruct a as [a|a]; [discriminate|]. destruct (passed_is o n) as (_&p&q).
  exists (f, m). split; auto. split; [simpl; apply p; lia|]. simpl. intros j e l.
  apply q; auto.
Qed.
Lemma marks_inside o h m : In h (intervals_of o) -> snd h = Instr m -> m < len o.
Proof.
  destruct h as [f m']. intros h e. simpl in e. subst. apply intervals_below in h as [_ h].
  apply h. auto.
Qed.
Lemma exclusion n : holds_at true n = true -> holds_at false n = true -> False.
Proof.
  intros h h'. destruct (held_now _ _ h) as (p&i&a&c). destruct (held_now _ _ h') as (p'&i'&a'&c').
  destruct (apart _ _ i i') as (m&m'&e&e'&d). simpl in d.
  pose proof (c m e (@marks_inside _ _ _ i e)).
  pose proof (c' m' e' (@marks_inside _ _ _ i' e')). lia.
Qed.
Definition tid (o : bool) := if o then 0 else 1.
Lemma holder_is o n : holds_at o n = true -> holder n = Some (tid o).
Proof.
  unfold holder. destruct o; intro h; [rewrite h; auto|].
  destruct (holds_at true n) eqn:e; [destruct (exclusion _ e h)|rewrite h; auto].
Qed.
Lemma other_holds_not o n : holds_at o n = true -> holds_at (negb o) n = false.
Proof.
  intro h. destruct (holds_at (negb o) n) eqn:e; auto.
  destruct o; [destruct (exclusion _ h e)|destruct (exclusion _ e h)].
Qed.
(** If the other one holds it not, [o] may take it. *)
Lemma holder_ready o n : holds_at (negb o) n = false -> ready (holder n) (tid o) = true.
Proof.
  unfold holder.
  destruct o; simpl negb; intros ->; [destruct (holds_at true n)|destruct (holds_at false n)]; auto.
Qed.
Lemma holds_next o n c : now o n -> nth_error (code (rw o)) (passed o n) = Some c ->
  holds_at o (S n) = if lk c then true else if ul c then false else holds_at o n.
Proof. intros h e. unfold holds_at. rewrite (passed_now h). apply held_next. auto. Qed.
Lemma holds_stays o n : ~ now o n -> holds_at o (S n) = holds_at o n.
Proof. intro h. unfold holds_at. rewrite (passed_later h). auto. Qed.
Lemma holder_stays n : (forall o, now o n -> exists c,
    nth_error (code (rw o)) (passed o n) = Some c /\ lk c = false /\ ul c = false) ->
  holder (S n) = holder n.
Proof.
  intro h. assert (e : forall o, holds_at o (S n) = holds_at o n).
  { intro o. destruct (now_dec o n) as [w|w]; [|apply holds_stays; auto].
    destruct (h o w) as (c&e&l&k). rewrite (holds_next w e), l, k. auto. }
  unfold holder. rewrite !e. auto.
Qed.
Lemma holder_taken o n c : now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> lk c = true ->
  ready (holder n) (tid o) = true /\ holder (S n) = Some (tid o).
Proof.
  intros w e l. assert (h : holds_at o (S n) = true) by (rewrite (holds_next w e), l; auto).
  split; [|apply holder_is; auto]. apply holder_ready.
  rewrite <- holds_stays by (apply now_other; auto). apply other_holds_not. auto.
Qed.
Lemma holder_freed o n c : now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> ul c = true ->
  holder (S n) = None.
Proof.
  intros w e k. assert (l : lk c = false).
  { destruct (lk c) eqn:l; auto. rewrite (disjoint l) in k. discriminate. }
  assert (h : holds_at o n = true).
  { exact (@freed_is_held lk ul (code (rw o)) _ _ _ (freed o) e l k). }
  assert (a : holds_at o (S n) = false) by (rewrite (holds_next w e), l, k; auto).
  assert (c' : holds_at (negb o) (S n) = false).
  { rewrite holds_stays by (apply now_other; auto). apply other_holds_not. auto. }
  unfold holder. destruct o; simpl in c'; rewrite a, c'; auto.
Qed.
(** Outside of the intervals of [o] the lock is free for the other one. *)
Lemma outside_ready o n : (forall h, In h (intervals_of o) -> outside_of o h n) ->
  (forall h, In h (intervals_of o) -> exists m, snd h = Instr m) ->
  ready (holder n) (tid (negb o)) = true.
Proof.
  intros H F. apply holder_ready. rewrite negb_involutive. destruct (holds_at o n) eqn:e; auto.
  destruct (held_now _ _ e) as (h&i&a&c). destruct (F h i) as [m q]. specialize (H h i).
  unfold outside_of in H. rewrite q in H. specialize (c m q (@marks_inside _ _ _ i q)). lia.
Qed.
End Lock.

(** ** What the state is at time [n], when all before it is done *)
Notation state := (state nat place).
Notation cache := (cache nat place).
Notation effect := (effect place_dec (wg_of P) 0).
Notation guard := (guard place_dec (wgs P) (wg_of P) 0).
Definition number (o : bool) := if o then 1 else 10.
Definition operation o := on x (number o) (rw o).
Definition instr o i := instr_of x zero (operation o) i.
Definition stop : nat -> codes nat place := fun _ => End.
(** A marker of [o'] waits until what is stored in the L1 of [o] has arrived. *)
Definition blocked o n (e : element place) := exists o' i, e = Marker (tid o') /\
  flush_of o o' i /\ T o < t o' i /\ t o' i < n /\ forall j, i < j -> j < len o' -> n <= t o' j.
Record L1_at o n (c : cache) : Prop := {
  L1_y : DIRTY c y = false;
  L1_fetched : looks o -> look o < n -> n <= T o -> VALID c x = true /\ data c x = 0;
  L1_clean : n <= T o \/ arr o < n -> DIRTY c x = false /\ fifo c = [];
  L1_dirty : T o < n -> n <= arr o -> DIRTY c x = true /\ (o = true -> data c x = 1) /\
    exists ms, fifo c = Entry x :: ms /\ forall e, In e ms -> blocked o n e }.
Record L2_at n (c : cache) : Prop := {
  L2_valid : VALID c x = true;
  L2_old : n <= arr false -> data c x = 0;
  L2_new : arr true < n -> data c x = 1;
  L2_dirty : arr true < n -> DIRTY c x = true;
  L2_y : DIRTY c y = false;
  L2_unmarked : forall v, no_marker v c = true }.
Definition rmw_at n := holder takes_rmw frees_rmw n.
Definition lock_at n := holder takes_L2 frees_L2 n.
Record At n (s : state) (a : nat -> list nat) : Prop := {
  code_at : forall o,
    todo (threads s (tid o)) (skipn (passed o n) (map (instr o) (code (rw o)))) stop;
  rmw_lock_at : forall w, rmw_lock s w = rmw_at n;
  L2_lock_at : lock s x = lock_at n;
  caches_at : forall o, L1_at o n (L1 s (tid o));
  memory_at : L2_at n (L2 s);
  unanswered : forall o, n <= T o -> a (tid o) = [];
  answered_at : forall o, T o < n -> reads (rw o) = true -> a (tid o) = [0] }.

(** ** What is no moment of a cache leaves it as it is *)
Lemma tid_other o : tid (negb o) <> tid o. Proof. destruct o; discriminate. Qed.
Lemma tid_same o o' : tid o = tid o' -> o = o'. Proof. destruct o, o'; auto; discriminate. Qed.
Lemma wg_tid o : wg_of P (tid o) = tid o. Proof. destruct o; reflexivity. Qed.
Lemma blocked_pass o n e : blocked o n e -> (forall o', now o' n -> e <> Marker (tid o')) ->
  blocked o (S n) e.
Proof.
  intros (o'&i&->&f&a&c&d) H. exists o', i. repeat split; auto.
  intros j h l. specialize (d j h l). destruct (Nat.eq_dec (t o' j) n) as [q|]; [|lia].
  destruct (now_at o' l) as [w _]. rewrite q in w. destruct (H o' w eq_refl).
Qed.
(** Whoever is at his next instruction has no marker in the fifos: it would have left. *)
Lemma unmarked_L1 o o' n c : L1_at o n c -> now o' n -> ~ In (Marker (tid o')) (fifo c).
Proof.
  intros L [l e] h. destruct (le_lt_dec n (T o)) as [q|q].
  { destruct (L1_clean L (or_introl q)) as [_ f]. rewrite f in h. destruct h. }
  destruct (le_lt_dec n (arr o)) as [q'|q'].
  2:{ destruct (L1_clean L (or_intror q')) as [_ f]. rewrite f in h. destruct h. }
  destruct (L1_dirty L q q') as (_&_&ms&f&B). rewrite f in h. destruct h as [h|h]; [discriminate|].
  destruct (B _ h) as (o2&i&E&F&a&c'&_). injection E as E. apply tid_same in E. subst o2.
  destruct (leaves_in_time Sch F) as [d|d]; [lia|].
  specialize (d (passed o' n)). enough (i < passed o' n) by lia.
  destruct (le_lt_dec (passed o' n) i) as [r|r]; auto. exfalso.
  destruct (Nat.eq_dec (passed o' n) i) as [s|s]; [subst; lia|].
  assert (i < len o').
  { destruct F as (k&F&_). apply nth_error_Some. congruence. }
  pose proof (increasing Sch o' (i := passed o' n) (j := i)). lia.
Qed.
Lemma L1_pass o n c : L1_at o n c -> n <> T o -> n <> arr o -> (looks o -> n <> look o) ->
  L1_at o (S n) c.
Proof.
  intros L h1 h2 h3. split.
  - apply (L1_y L).
  - intros l a d. specialize (h3 l). apply (L1_fetched L l); lia.
  - intro h. apply (L1_clean L). lia.
  - intros a d. destruct (L1_dirty L) as (p&q&ms&f&B); [lia|lia|]. split; auto. split; auto.
    exists ms. split; auto. intros e i. apply blocked_pass; auto. intros o' w ->.
    apply (@unmarked_L1 o o' n c L w). rewrite f. right. exact i.
Qed.
Lemma L2_pass n c : L2_at n c -> n <> arr true -> L2_at (S n) c.
Proof.
  intros L h. split; try apply L; intro q.
  - apply (L2_old L). lia.
  - apply (L2_new L). lia.
  - apply (L2_dirty L). lia.
Qed.

(** ** Markers and entries leave at once, where they can *)
Record L1_before o n (c : cache) : Prop := {
  before_y : DIRTY c y = false;
  before_fetched : looks o -> look o < n -> n <= T o -> VALID c x = true /\ data c x = 0;
  before_clean : n <= T o \/ arr o < n ->
    DIRTY c x = false /\ forall e, In e (fifo c) -> leaves c e;
  before_dirty : T o < n -> n <= arr o -> DIRTY c x = true /\ (o = true -> data c x = 1) /\
    exists ms, fifo c = Entry x :: ms /\ forall e, In e ms -> blocked o n e }.
Lemma before_at o n c : L1_at o n c -> L1_before o n c.
Proof.
  intro L. split; try apply L. intro h. destruct (L1_clean L h) as [d f]. split; auto.
  rewrite f. intros e [].
Qed.
Notation path := (path place_dec x zero P).
Record same_but_L1 (s s' : state) : Prop := {
  same_threads : threads s' = threads s;
  same_rmw : rmw_lock s' = rmw_lock s;
  same_lock : lock s' = lock s;
  same_L2 : L2 s' = L2 s }.
Lemma settle_one o n s : L1_before o n (L1 s (tid o)) ->
  exists run s', path s run (@silent nat) s' /\
  L1_at o n (L1 s' (tid o)) /\ L1 s' (tid (negb o)) = L1 s (tid (negb o)) /\ same_but_L1 s s'.
Proof.
  intro L. assert (D : {n <= T o \/ arr o < n} + {T o < n /\ n <= arr o}).
  { destruct (le_lt_dec n (T o)); auto. destruct (le_lt_dec n (arr o)); auto. }
  destruct D as [h|[h h']].
  - destruct (before_clean L h) as [d f].
    destruct (drain place_dec x zero P (tid o) s eq_refl f) as (run&s'&p&e&e'&r).
    exists run, s'. split; auto. split; [|split; [apply e', tid_other|]].
    + rewrite e. split; [apply (before_y L)|apply (before_fetched L)|auto|lia].
    + split; apply r.
  - exists [], s. split; [apply path_nil|]. split; [|split; auto; split; auto].
    split; [apply (before_y L)|apply (before_fetched L)|lia|apply (before_dirty L)].
Qed.
Lemma settle n s : (forall o, L1_before o n (L1 s (tid o))) -> exists run s',
  path s run (@silent nat) s' /\ (forall o, L1_at o n (L1 s' (tid o))) /\ same_but_L1 s s'.
Proof.
  intro H. destruct (@settle_one true n s (H true)) as (r&s'&p&a&e&q).
  assert (B : L1_before false n (L1 s' (tid false))) by (simpl in *; rewrite e; apply (H false)).
  destruct (@settle_one false n s' B) as (r'&s''&p'&a'&e'&q').
  exists (r ++ r'), s''. split; [exact (path_app p p')|]. split.
  - intros [|]; auto. simpl in *. rewrite e'. exact a.
  - destruct q, q'. split; congruence.
Qed.

(** From time [n] to the next. *)
Definition goes_on n s a := exists run s' a',
  path s run a' s' /\ At (S n) s' (fun v => a v ++ a' v).
Lemma goes_on_to n s a run s' a' : path s run a' s' ->
  (forall o,
    todo (threads s' (tid o)) (skipn (passed o (S n)) (map (instr o) (code (rw o)))) stop) ->
  (forall w, rmw_lock s' w = rmw_at (S n)) -> lock s' x = lock_at (S n) ->
  (forall o, L1_before o (S n) (L1 s' (tid o))) -> L2_at (S n) (L2 s') ->
  (forall o, S n <= T o -> a (tid o) ++ a' (tid o) = []) ->
  (forall o, T o < S n -> reads (rw o) = true -> a (tid o) ++ a' (tid o) = [0]) ->
  goes_on n s a.
Proof.
  intros p h1 h2 h3 h4 h5 h6 h7. destruct (settle _ h4) as (r&s''&p'&L&[]).
  exists (run ++ r), s'', (fun v => a' v ++ []). split; [exact (path_app p p')|]. split.
  - rewrite same_threads0. auto.
  - rewrite same_rmw0. auto.
  - rewrite same_lock0. auto.
  - exact L.
  - rewrite same_L3. auto.
  - intros o h. rewrite app_nil_r. auto.
  - intros o h k. rewrite app_nil_r. auto.
Qed.

(** ** An instruction at time [n] *)
Lemma access_there r : one_access r = true ->
  nth_error (code r) (pos r) = Some (Obligations.access r) /\ is_acc (Obligations.access r) = true.
Proof.
  unfold one_access, Obligations.access, pos. intro h. apply andb_prop in h as [h _].
  apply Nat.eqb_eq in h. induction (code r) as [|c cs IH]; simpl in *; [discriminate|].
  destruct (is_acc c) eqn:C; simpl; auto.
Qed.
Lemma not_access_T o n c : now o n -> nth_error (code (rw o)) (passed o n) = Some c ->
  is_acc c = false -> forall o', n <> T o'.
Proof.
  intros w e a o' q. destruct w as [l w]. destruct (bool_dec o o') as [<-|ne].
  - destruct (now_at o (pos_len o)) as [_ p]. fold (T o) in p. rewrite <- q in p.
    rewrite p in e. destruct (access_there _ (access_once o)) as [e' a']. congruence.
  - assert (o' = negb o) as -> by (destruct o, o'; tauto).
    apply (instrs_apart Sch l (pos_len (negb o))). rewrite w. exact q.
Qed.
Lemma now_not_other_T o n : now o n -> n <> T (negb o).
Proof. intros [l w] q. apply (instrs_apart Sch l (pos_len (negb o))). rewrite w. exact q. Qed.
Lemma now_not_arr o n o' : now o n -> n <> T o' -> n <> arr o'.
Proof.
  intros [l w] h q. destruct (inc2 (rw o')) eqn:i.
  - rewrite (arrives_L2 Sch _ i) in q. auto.
  - apply (arrivals_apart Sch (o := o') i l). congruence.
Qed.
Lemma now_not_look o n o' : now o n -> n <> look o'.
Proof. intros [l w] q. apply (looks_apart Sch (o := o') l). congruence. Qed.
Lemma skipn_nth A (l : list A) : forall k i, nth_error l k = Some i ->
  skipn k l = i :: skipn (S k) l.
Proof.
  induction l as [|a l IH]; intros [|k] i e; simpl in e; try discriminate.
  - injection e as ->. auto.
  - exact (IH k i e).
Qed.
Lemma exec_next o n s a c : At n s a -> now o n -> nth_error (code (rw o)) (passed o n) = Some c ->
  exists th, next 0 (threads s (tid o)) = Some (instr o c, th) /\
  forall d, todo (deliver th d) (skipn (passed o (S n)) (map (instr o) (code (rw o)))) stop.
Proof.
  intros A w e. pose proof (code_at A o) as C. apply (map_nth_error (instr o)) in e.
  rewrite (skipn_nth _ _ e), <- (passed_now w) in C. exact (todo_next x zero C).
Qed.
Lemma code_next o n s a th (f : nat -> running nat place) : At n s a -> now o n ->
  todo th (skipn (passed o (S n)) (map (instr o) (code (rw o)))) stop ->
  f (tid o) = th -> f (tid (negb o)) = threads s (tid (negb o)) ->
  forall o', todo (f (tid o')) (skipn (passed o' (S n)) (map (instr o') (code (rw o')))) stop.
Proof.
  intros A w h e e' o'. destruct (bool_dec o o') as [<-|ne]; [rewrite e; auto|].
  assert (o' = negb o) as -> by (destruct o, o'; tauto).
  rewrite e', (passed_later (now_other w)). apply (code_at A).
Qed.
Lemma no_marker_in v (c : cache) : ~ In (Marker v) (fifo c) -> no_marker v c = true.
Proof.
  intro h. apply forallb_forall. intros e i. destruct e; auto. destruct (Nat.eq_dec t0 v); auto.
  subst. tauto.
Qed.
Lemma at_unmarked o n s a : At n s a -> now o n -> unmarked (wgs P) s (tid o) = true.
Proof.
  intros A w. unfold unmarked. rewrite (L2_unmarked (memory_at A)).
  pose proof (no_marker_in _ _ (@unmarked_L1 true o n _ (caches_at A true) w)) as h.
  pose proof (no_marker_in _ _ (@unmarked_L1 false o n _ (caches_at A false) w)) as h'.
  simpl in *. rewrite h, h'. auto.
Qed.
Lemma stays lk ul o n c : now o n -> nth_error (code (rw o)) (passed o n) = Some c ->
  lk c = false -> ul c = false -> holder lk ul (S n) = holder lk ul n.
Proof.
  intros w e l k. apply holder_stays. intros o' w'. exists c.
  destruct (bool_dec o o') as [<-|ne]; auto.
  destruct (now_other w). destruct o, o'; tauto.
Qed.

Notation answer := (answer place_dec (wg_of P) 0).
Lemma path_step s l : guard s l = true -> path s [l] (answer s l) (effect s l).
Proof. exact (path_one place_dec x zero P s l). Qed.
(** Instructions that are no access give no answer, and leave the L2 as it is. *)
Lemma step_beside o n s a c s' : At n s a -> now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> is_acc c = false ->
  instr_guard (wgs P) (wg_of P) s (tid o) (instr o c) = true ->
  instr_effect place_dec (wg_of P) s (tid o) (instr o c) = (s', None) ->
  threads s' = threads s -> (forall w, rmw_lock s' w = rmw_at (S n)) ->
  lock s' x = lock_at (S n) -> (forall o', L1_before o' (S n) (L1 s' (tid o'))) ->
  L2 s' = L2 s -> goes_on n s a.
Proof.
  intros A w e na g E h1 h2 h3 h4 h5. destruct (exec_next A w e) as (th&N&K).
  assert (G : guard s (Exec (tid o)) = true) by (simpl; rewrite N; exact g).
  pose proof (path_step s (Exec (tid o)) G) as p.
  assert (F : effect s (Exec (tid o)) = with_thread s' (tid o) th).
  { simpl. rewrite N. rewrite E. auto. }
  rewrite F in p. pose proof (not_access_T w e na) as nT.
  assert (Q : forall v, answer s (Exec (tid o)) v = []).
  { intro v. simpl. destruct (Nat.eq_dec (tid o) v) as [<-|]; auto. rewrite N.
    pose proof (f_equal snd E) as E'. simpl in E'.
    destruct (instr o c) eqn:I; try (rewrite E'; auto; fail).
    exfalso. destruct c; discriminate. }
  eapply goes_on_to; [exact p|..]; auto.
  - apply (@code_next o n s a th) with (f := setn (threads s') (tid o) th); auto.
    + exact (K None).
    + unfold setn. destruct (Nat.eq_dec (tid o) (tid o)); tauto.
    + unfold setn.
      destruct (Nat.eq_dec (tid (negb o)) (tid o)) as [q|]; [destruct (tid_other _ q)|].
      rewrite h1. auto.
  - simpl. rewrite h5. apply L2_pass; [apply A|]. apply (now_not_arr w), nT.
  - intros o' q. rewrite Q, app_nil_r. apply (unanswered A). lia.
  - intros o' q r. rewrite Q, app_nil_r. apply (answered_at A); auto. specialize (nT o'). lia.
Qed.

(** Of a cache that an instruction does not touch. *)
Lemma untouched o n s a : At n s a -> now o n -> (forall o', n <> T o') ->
  forall o', L1_before o' (S n) (L1 s (tid o')).
Proof.
  intros A w h o'. apply before_at, L1_pass; [apply A|apply h|..].
  - apply (now_not_arr w), h.
  - intros _. apply (@now_not_look o n o' w).
Qed.
(** A marker comes into the fifo of [o']: it leaves at once, or waits as the last one. *)
Lemma marked_L1 o o' n c : L1_at o' n c -> now o n -> (forall o2, n <> T o2) ->
  flush_of o' o (passed o n) -> L1_before o' (S n) (enqueue c (Marker (tid o))).
Proof.
  intros L w nT F. pose proof (nT o') as h. pose proof (now_not_arr w h) as h'.
  pose proof (@now_not_look o n o' w) as h''.
  assert (L' : L1_at o' (S n) c) by (apply L1_pass; auto). split.
  - exact (L1_y L').
  - exact (L1_fetched L').
  - intro q. destruct (L1_clean L' q) as [d f]. split; auto. simpl. rewrite f.
    intros e [<-|[]]. exact I.
  - intros q q'. destruct (L1_dirty L' q q') as (d&v&ms&f&B). split; auto. split; auto.
    exists (ms ++ [Marker (tid o)]). simpl. rewrite f. split; auto.
    intros e i. apply in_app_iff in i as [i|[<-|[]]]; auto.
    exists o, (passed o n). split; auto. split; auto. destruct w as [l w]. rewrite w.
    repeat split; [lia|lia|]. intros j k k'. pose proof (increasing Sch o k k'). lia.
Qed.
(** An invalidation is not between what is fetched and the look. *)
Lemma invalidated_L1 o o' n c : L1_at o' n c -> now o n -> (forall o2, n <> T o2) ->
  inv_of o' o (passed o n) -> L1_before o' (S n) (inval_all c).
Proof.
  intros L w nT F. pose proof (nT o') as h. pose proof (now_not_arr w h) as h'.
  pose proof (@now_not_look o n o' w) as h''.
  assert (L' : L1_at o' (S n) c) by (apply L1_pass; auto). split; try apply (before_at L').
  intros l q q'. exfalso. destruct w as [_ w].
  destruct (stays_valid Sch l F) as [k|k]; rewrite w in k; lia.
Qed.
Lemma nobody_rmw o n s a c : At n s a -> now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> takes_rmw c = false -> frees_rmw c = false ->
  forall w, rmw_lock s w = rmw_at (S n).
Proof. intros A w e l k g. unfold rmw_at. rewrite (stays _ _ w e l k). apply A. Qed.
Lemma nobody_L2 o n s a c : At n s a -> now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> takes_L2 c = false -> frees_L2 c = false ->
  lock s x = lock_at (S n).
Proof. intros A w e l k. unfold lock_at. rewrite (stays _ _ w e l k). apply A. Qed.

Lemma rmw_alternates : forall h h', In h (intervals takes_rmw frees_rmw (code (rw true)) 0 None) ->
  In h' (intervals takes_rmw frees_rmw (code (rw false)) 0 None) -> separate true h h'.
Proof. exact (rmw_separate Sch). Qed.
Lemma L2_alternates : forall h h', In h (intervals takes_L2 frees_L2 (code (rw true)) 0 None) ->
  In h' (intervals takes_L2 frees_L2 (code (rw false)) 0 None) -> separate true h h'.
Proof. exact (L2_separate Sch). Qed.
Lemma not_both_rmw i : takes_rmw i = true -> frees_rmw i = false.
Proof. destruct i; discriminate || auto. Qed.
Lemma not_both_L2 i : takes_L2 i = true -> frees_L2 i = false.
Proof. destruct i; discriminate || auto. Qed.

Lemma exec_beside o n s a c : At n s a -> now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> is_acc c = false -> goes_on n s a.
Proof.
  intros A w e na. pose proof (not_access_T w e na) as nT. pose proof (at_unmarked A w) as U.
  pose proof (untouched A w nT) as V.
  destruct c; try discriminate na.
  - (* Flu *)
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U. auto.
    + exact (nobody_rmw A w e eq_refl eq_refl).
    + exact (nobody_L2 A w e eq_refl eq_refl).
    + intro o'. simpl. rewrite wg_tid.
      assert (R : reaches (reach_of r) (tid o) (tid o') = true -> flush_of o' o (passed o n)).
      { intro R. exists r. split; auto. destruct r; auto. simpl in R.
        destruct (Nat.eq_dec (tid o') (tid o)) as [q|]; [|discriminate].
        left. symmetry. apply tid_same. auto. }
      destruct (reaches (reach_of r) (tid o) (tid o')); [|apply V].
      apply marked_L1; auto. apply A.
  - (* Inv *)
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U. auto.
    + exact (nobody_rmw A w e eq_refl eq_refl).
    + exact (nobody_L2 A w e eq_refl eq_refl).
    + intro o'. simpl. rewrite wg_tid.
      assert (R : reaches (reach_of r) (tid o) (tid o') = true -> inv_of o' o (passed o n)).
      { intro R. exists r. split; auto. destruct r; auto. simpl in R.
        destruct (Nat.eq_dec (tid o') (tid o)) as [q|]; [|discriminate].
        left. symmetry. apply tid_same. auto. }
      destruct (reaches (reach_of r) (tid o) (tid o')); [|apply V].
      apply invalidated_L1 with o; auto. apply A.
  - (* Lk_L2 *)
    destruct (holder_taken _ _ L2_alternates w e eq_refl) as [R H].
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U, (L2_lock_at A). exact R.
    + exact (nobody_rmw A w e eq_refl eq_refl).
    + simpl. symmetry. exact H.
    + exact V.
  - (* Ul_L2 *)
    pose proof (holder_freed _ _ L2_alternates brackets_L2 not_both_L2 w e eq_refl) as H.
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U. auto.
    + exact (nobody_rmw A w e eq_refl eq_refl).
    + simpl. symmetry. exact H.
    + exact V.
  - (* Lk_rmw *)
    destruct (holder_taken _ _ rmw_alternates w e eq_refl) as [R H].
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U. simpl. rewrite !(rmw_lock_at A).
      unfold rmw_at. rewrite R. auto.
    + intros _. simpl. symmetry. exact H.
    + exact (nobody_L2 A w e eq_refl eq_refl).
    + exact V.
  - (* Ul_rmw *)
    pose proof (holder_freed _ _ rmw_alternates brackets_rmw not_both_rmw w e eq_refl) as H.
    eapply (step_beside A w e na); [|reflexivity|reflexivity| | | |reflexivity]; simpl.
    + unfold instr_guard. simpl. rewrite U. auto.
    + intros _. simpl. symmetry. exact H.
    + exact (nobody_L2 A w e eq_refl eq_refl).
    + exact V.
Qed.

(** The access. *)
Notation stored := (store place_dec).
Lemma stored_L1 o n c v : L1_at o n c -> n = T o -> at_L1 o -> (o = true -> v = 1) ->
  L1_before o (S n) (stored c x v).
Proof.
  intros L e l V. pose proof (arrives_L1 Sch l) as q.
  destruct (L1_clean L (or_introl (Nat.eq_le_incl _ _ e))) as [_ f]. split.
  - exact (L1_y L).
  - lia.
  - lia.
  - intros _ _. split; auto. split; auto. exists []. simpl. rewrite f. split; auto. intros e' [].
Qed.
Lemma other_L1 o n s a : At n s a -> now o n -> L1_before (negb o) (S n) (L1 s (tid (negb o))).
Proof.
  intros A w. pose proof (now_not_other_T w) as h. apply before_at, L1_pass; [apply A|exact h|..].
  - exact (now_not_arr w h).
  - intros _. exact (@now_not_look o n (negb o) w).
Qed.
(** A cache that is changed, and the other one. *)
Lemma changed_L1 o n s a f : At n s a -> now o n -> L1_before o (S n) (f (L1 s (tid o))) ->
  forall o', L1_before o' (S n) (L1 (in_L1 s (tid o) f) (tid o')).
Proof.
  intros A w h o'. simpl. destruct (Nat.eq_dec (tid o') (tid o)) as [e|e].
  - apply tid_same in e. subst o'. exact h.
  - assert (o' = negb o) as -> by (destruct o, o'; tauto). exact (other_L1 A w).
Qed.
Lemma stored_L2 n c v : L2_at n c -> (S n <= arr false -> v = 0) -> (arr true < S n -> v = 1) ->
  L2_at (S n) (stored (inval place_dec c x) x v).
Proof.
  intros L h h'. split; auto.
  - exact (L2_y L).
  - intro m. pose proof (L2_unmarked L m) as q. unfold no_marker in *. simpl.
    rewrite forallb_app, q. auto.
Qed.
Lemma step_access o n s a c s' d : At n s a -> now o n -> n = T o ->
  nth_error (code (rw o)) (passed o n) = Some c -> is_acc c = true ->
  instr_guard (wgs P) (wg_of P) s (tid o) (instr o c) = true ->
  instr_effect place_dec (wg_of P) s (tid o) (instr o c) = (s', d) ->
  (reads (rw o) = true -> d = Some 0 /\ forall l v, instr o c <> ST l v) ->
  threads s' = threads s -> rmw_lock s' = rmw_lock s -> lock s' = lock s ->
  (forall o', L1_before o' (S n) (L1 s' (tid o'))) -> L2_at (S n) (L2 s') -> goes_on n s a.
Proof.
  intros A w eT e ac g E said h1 h2 h3 h4 h5. destruct (exec_next A w e) as (th&N&K).
  assert (G : guard s (Exec (tid o)) = true) by (simpl; rewrite N; exact g).
  pose proof (path_step s (Exec (tid o)) G) as p.
  assert (F : effect s (Exec (tid o)) = with_thread s' (tid o) (deliver th d)).
  { simpl. rewrite N. rewrite E. auto. }
  rewrite F in p.
  assert (Q : answer s (Exec (tid o)) (tid (negb o)) = []).
  { simpl. destruct (Nat.eq_dec (tid o) (tid (negb o))) as [q|]; auto.
    symmetry in q. destruct (tid_other _ q). }
  assert (Q' : reads (rw o) = true -> answer s (Exec (tid o)) (tid o) = [0]).
  { intro r. destruct (said r) as [-> ns]. simpl. destruct (Nat.eq_dec (tid o) (tid o)); [|tauto].
    rewrite N. pose proof (f_equal snd E) as E'. simpl in E'.
    destruct (instr o c) eqn:I; try (rewrite E'; auto; fail). destruct (ns _ _ eq_refl). }
  eapply goes_on_to; [exact p|..]; auto.
  - apply (@code_next o n s a (deliver th d)) with (f := setn (threads s') (tid o) (deliver th d));
      auto.
    + unfold setn. destruct (Nat.eq_dec (tid o) (tid o)); tauto.
    + unfold setn.
      destruct (Nat.eq_dec (tid (negb o)) (tid o)) as [q|]; [destruct (tid_other _ q)|].
      rewrite h1. auto.
  - intro m. simpl. rewrite h2.
    apply (nobody_rmw A w e); destruct c; discriminate || auto.
  - simpl. rewrite h3. apply (nobody_L2 A w e); destruct c; discriminate || auto.
  - intros o' q. destruct (bool_dec o o') as [<-|ne]; [lia|].
    assert (o' = negb o) as -> by (destruct o, o'; tauto). rewrite Q, app_nil_r.
    apply (unanswered A). lia.
  - intros o' q r. destruct (bool_dec o o') as [<-|ne].
    + rewrite Q' by auto. rewrite (unanswered A); auto. lia.
    + assert (o' = negb o) as -> by (destruct o, o'; tauto). rewrite Q, app_nil_r.
      apply (answered_at A); auto. pose proof (now_not_other_T w). lia.
Qed.
Lemma rmw_ready o n s a : At n s a -> n = T o -> inc (rw o) = true -> rmw_freed (negb o) ->
  ready (rmw_lock s (tid o)) (tid o) = true.
Proof.
  intros A e i F. rewrite (rmw_lock_at A).
  enough (H : ready (rmw_at n) (tid (negb (negb o))) = true).
  { rewrite negb_involutive in H. exact H. }
  apply outside_ready; [|exact F].
  intros h k. pose proof (rmw_outside Sch (negb o) h k) as q. rewrite negb_involutive in q.
  rewrite e. exact (q i).
Qed.
(** Outside of the other's intervals the lock of the L2 is free, or is the own one. *)
Lemma L2_ready o n s a : At n s a -> (forall h, In h (L2_of (negb o)) -> outside_of (negb o) h n) ->
  L2_freed (negb o) -> ready (lock s x) (tid o) = true.
Proof.
  intros A H F. rewrite (L2_lock_at A).
  enough (K : ready (lock_at n) (tid (negb (negb o))) = true).
  { rewrite negb_involutive in K. exact K. }
  apply outside_ready; [exact H|exact F].
Qed.
Lemma arrival_free o h : In h (L2_of (negb o)) -> outside_of (negb o) h (arr o).
Proof.
  intro k. pose proof (L2_arrival Sch (negb o) h k) as q. rewrite negb_involutive in q. exact q.
Qed.

Hypothesis all_rmw_freed : forall o, rmw_freed o.
Hypothesis all_L2_freed : forall o, L2_freed o.

Lemma exec_access o n s a c : At n s a -> now o n ->
  nth_error (code (rw o)) (passed o n) = Some c -> is_acc c = true -> goes_on n s a.
Proof.
  intros A w e ac. destruct (@access_at (rw o) _ _ (access_once o) e ac) as [p ->].
  assert (eT : n = T o). { unfold T. rewrite <- p. symmetry. apply w. }
  pose proof (at_unmarked A w) as U. pose proof (access_once o) as one. unfold one_access in one.
  apply andb_prop in one as [_ one]. pose proof (both_write o) as W. unfold writes in W.
  assert (nf : n <> arr (negb o)) by (apply (now_not_arr w), (now_not_other_T w)).
  destruct (row_kind (rw o)) eqn:k; [discriminate W|..];
    destruct (Obligations.access (rw o)) eqn:c; try discriminate one.
  - (* St: this is b *)
    assert (l : at_L1 o) by (unfold at_L1, inc2; rewrite c; auto).
    assert (o = false) as ->.
    { destruct o; auto. simpl in c. unfold inc1 in u_looks. rewrite c in u_looks. discriminate. }
    pose proof (arrives_L1 Sch l) as q. pose proof (arrivals Sch) as q'.
    eapply (step_access A w eT e ac); [|reflexivity| |reflexivity|reflexivity|reflexivity|..].
    + unfold instr_guard. simpl. simpl in U. rewrite U. auto.
    + unfold reads. rewrite k. discriminate.
    + rewrite wg_tid. apply (changed_L1 _ A w). apply stored_L1; auto; [apply A|discriminate].
    + simpl. apply L2_pass; [apply A|lia].
  - (* Inc_L1 *)
    assert (l : at_L1 o) by (unfold at_L1, inc2; rewrite c; auto).
    assert (lo : looks o) by (unfold looks, inc1; rewrite c; auto).
    pose proof (arrives_L1 Sch l) as q. pose proof (looks_before Sch lo) as q'.
    assert (D : VALID (L1 s (tid o)) x = true /\ data (L1 s (tid o)) x = 0).
    { apply (L1_fetched (caches_at A o) lo); lia. }
    destruct D as [D1 D2].
    assert (R : ready (rmw_lock s (tid o)) (tid o) = true).
    { apply (rmw_ready A eT); auto. unfold inc. rewrite c. auto. }
    eapply (step_access A w eT e ac); [|reflexivity| |reflexivity|reflexivity|reflexivity|..].
    + unfold instr_guard. simpl. rewrite U, wg_tid, R, D1. auto.
    + intros _. rewrite wg_tid. split; [exact (f_equal (@Some nat) D2)|discriminate].
    + rewrite wg_tid. apply (changed_L1 _ A w). apply stored_L1; auto; [apply A|].
      intros _. change (update (operation o) (data (L1 s (tid o)) x) = 1). rewrite D2.
      unfold update, operation, on, kind_of. cbn [op_kind]. rewrite k. auto.
    + simpl. apply L2_pass; [apply A|]. pose proof (arrivals Sch). destruct o; auto. lia.
  - (* Inc_L2: this is b *)
    assert (l : inc2 (rw o) = true) by (unfold inc2; rewrite c; auto).
    assert (o = false) as ->.
    { destruct o; auto. simpl in c. unfold inc1 in u_looks. rewrite c in u_looks. discriminate. }
    pose proof (arrives_L2 Sch _ l) as q. pose proof (arrivals Sch) as q'.
    destruct (L1_clean (caches_at A false) (or_introl (Nat.eq_le_incl _ _ eT))) as [d f].
    assert (R : ready (rmw_lock s (tid false)) (tid false) = true).
    { apply (rmw_ready A eT); auto. unfold inc. rewrite c. auto. }
    assert (R' : ready (lock s x) (tid false) = true).
    { apply (L2_ready _ A); auto. intros h i. rewrite eT, <- q. apply arrival_free. exact i. }
    pose proof (L2_old (memory_at A)) as old. assert (le : n <= arr false) by lia.
    specialize (old le).
    eapply (step_access A w eT e ac); [|reflexivity| |reflexivity|reflexivity|reflexivity|..].
    + unfold instr_guard. simpl. change (wg_of P 1) with 1. unfold clean. simpl in U, R, R', d.
      rewrite U, R, R', d, (L2_valid (memory_at A)). auto.
    + intros _. split; [exact (f_equal (@Some nat) old)|discriminate].
    + rewrite wg_tid. apply (changed_L1 _ A w). split.
      * exact (L1_y (caches_at A false)).
      * lia.
      * intros _. simpl. simpl in f. rewrite f. split; auto. intros e' [].
      * lia.
    + simpl. apply stored_L2; [apply A|lia|lia].
Qed.

(** ** What the environment does at time [n] *)
Lemma at_other n s a o : At n s a -> ~ now true n -> ~ now false n ->
  todo (threads s (tid o)) (skipn (passed o (S n)) (map (instr o) (code (rw o)))) stop.
Proof. intros A h h'. rewrite passed_later by (destruct o; auto). apply A. Qed.
Lemma lock_other lk ul n : ~ now true n -> ~ now false n -> holder lk ul (S n) = holder lk ul n.
Proof. intros h h'. apply holder_stays. intros [] w; tauto. Qed.
Lemma not_now_T n : ~ now true n -> ~ now false n -> forall o, n <> T o.
Proof.
  intros h h' o ->. destruct (now_at o (pos_len o)) as [w _]. destruct o; auto.
Qed.
Lemma by_environment_step n s a l : At n s a -> ~ now true n -> ~ now false n ->
  by_environment l -> guard s l = true ->
  threads (effect s l) = threads s -> rmw_lock (effect s l) = rmw_lock s ->
  lock (effect s l) = lock s -> (forall o, L1_before o (S n) (L1 (effect s l) (tid o))) ->
  L2_at (S n) (L2 (effect s l)) -> goes_on n s a.
Proof.
  intros A h h' env g h1 h2 h3 h4 h5. pose proof (not_now_T h h') as nT.
  eapply goes_on_to; [exact (path_environment place_dec x zero P s l env g)|..]; auto.
  - intro o. change (zero x) with 0. rewrite h1. apply (at_other _ A h h').
  - intro m. change (zero x) with 0. rewrite h2. unfold rmw_at.
    rewrite (lock_other _ _ h h'). apply A.
  - change (zero x) with 0. rewrite h3. unfold lock_at. rewrite (lock_other _ _ h h'). apply A.
  - intros o q. rewrite (unanswered A); auto. lia.
  - intros o q r. rewrite (answered_at A); auto. specialize (nT o). lia.
Qed.

Lemma ready_own o (l : option nat) : ready l (tid o) = true ->
  ready_group (wg_of P) l (tid o) = true.
Proof.
  unfold ready, ready_group. destruct l as [v|]; auto.
  destruct (Nat.eq_dec v (tid o)) as [->|]; [|discriminate]. intros _.
  rewrite wg_tid. destruct (Nat.eq_dec (tid o) (tid o)); tauto.
Qed.
Lemma not_now_arr n : (forall o, n <> T o) -> forall o, (at_L1 o -> n <> arr o) -> n <> arr o.
Proof.
  intros h o h'. unfold at_L1 in h'. destruct (inc2 (rw o)) eqn:i; auto.
  rewrite (arrives_L2 Sch _ i). apply h.
Qed.
Lemma not_look_now n o : n = look o -> forall o', ~ now o' n.
Proof. intros e o' w. exact (@now_not_look o' n o w e). Qed.
Lemma not_arr_now n o : at_L1 o -> n = arr o -> forall o', ~ now o' n.
Proof. intros l e o' [h w]. apply (arrivals_apart Sch l h). congruence. Qed.
(** The L1 of [o] is changed, and no moment of the other one is now. *)
Lemma changed_alone o n s a f : At n s a -> (forall o, n <> T o) -> n <> arr (negb o) ->
  (looks (negb o) -> n <> look (negb o)) -> L1_before o (S n) (f (L1 s (tid o))) ->
  forall o', L1_before o' (S n) (L1 (in_L1 s (tid o) f) (tid o')).
Proof.
  intros A nT na nl h o'. simpl. destruct (Nat.eq_dec (tid o') (tid o)) as [e|e].
  - apply tid_same in e. subst o'. exact h.
  - assert (o' = negb o) as -> by (destruct o, o'; tauto). apply before_at, L1_pass; auto. apply A.
Qed.

(** What is read is fetched. *)
Lemma fetches n s a o : At n s a -> looks o -> n = look o -> goes_on n s a.
Proof.
  intros A l e. pose proof (not_look_now e) as N. pose proof (not_now_T (N true) (N false)) as nT.
  pose proof (looks_before Sch l) as q. pose proof (looks_first Sch l) as q'.
  destruct (L1_clean (caches_at A o)) as [d f]; [lia|].
  assert (R : ready (lock s x) (tid o) = true).
  { apply (L2_ready _ A); auto. intros h i. rewrite e.
    pose proof (L2_look Sch (negb o) h i) as k. rewrite negb_involutive in k. exact (k l). }
  apply ready_own in R. pose proof (L2_old (memory_at A)) as old.
  assert (le : n <= arr false) by lia. specialize (old le).
  assert (na : forall o', n <> arr o').
  { intro o'. apply not_now_arr; auto. intros l'. rewrite e. apply (look_arrival Sch); auto. }
  apply (@by_environment_step n s a (FETCH_L1 (tid o) x) A (N true) (N false)); auto.
  - exact I.
  - simpl. unfold clean. rewrite d, (L2_valid (memory_at A)). exact R.
  - apply (changed_alone _ A nT (na (negb o))).
    + intros _ k. pose proof (two_looks Sch). destruct o; simpl in *; congruence.
    + split; simpl.
      * exact (L1_y (caches_at A o)).
      * intros _ _ _. auto.
      * intros _. rewrite f. split; auto. intros e' [].
      * lia.
  - apply L2_pass; [apply A|apply na].
Qed.
(** What is stored arrives, and what waited for it leaves. *)
Lemma arrives n s a o : At n s a -> at_L1 o -> n = arr o -> goes_on n s a.
Proof.
  intros A l e. pose proof (not_arr_now l e) as N. pose proof (not_now_T (N true) (N false)) as nT.
  pose proof (arrives_L1 Sch l) as q. pose proof (arrivals Sch) as q'.
  destruct (L1_dirty (caches_at A o)) as (d&v&ms&f&B); [lia|lia|].
  assert (R : ready (lock s x) (tid o) = true).
  { apply (L2_ready _ A); auto. intros h i. rewrite e. apply arrival_free. exact i. }
  apply ready_own in R.
  apply (@by_environment_step n s a (FLUSH_L1 (tid o) x) A (N true) (N false)); auto.
  - exact I.
  - simpl. rewrite d. exact R.
  - apply (changed_alone (fun c => cleaned place_dec c x) A nT).
    + rewrite e. destruct o; simpl; lia.
    + intros _. rewrite e. intro k. symmetry in k. exact (look_arrival Sch l k).
    + split; simpl.
      * exact (L1_y (caches_at A o)).
      * lia.
      * intros _. split; auto. rewrite f. intros e' [<-|i]; [reflexivity|].
        destruct (B _ i) as (o'&j&->&_). exact I.
      * lia.
  - simpl. apply stored_L2; [apply A|..].
    + destruct o; lia.
    + destruct o; [auto|lia].
Qed.

Lemma u_at_L1 : at_L1 true.
Proof.
  unfold at_L1. simpl. unfold inc1 in u_looks. unfold inc2.
  destruct (Obligations.access u); auto; discriminate.
Qed.
Lemma next_time n s a : At n s a -> goes_on n s a.
Proof.
  intro A. assert (E : forall o, now o n -> goes_on n s a).
  { intros o w. destruct (nth_error (code (rw o)) (passed o n)) as [c|] eqn:e.
    - destruct (is_acc c) eqn:ac; [eapply exec_access|eapply exec_beside]; eauto.
    - apply nth_error_None in e. destruct w as [w _]. unfold Complete.len in w. lia. }
  destruct (now_dec true n) as [w|N1]; [exact (E _ w)|].
  destruct (now_dec false n) as [w|N2]; [exact (E _ w)|]. clear E.
  destruct (Nat.eq_dec n (look true)) as [e|l1]; [exact (fetches A (o := true) u_looks e)|].
  destruct (Nat.eq_dec n (arr true)) as [e|a1]; [exact (arrives A u_at_L1 e)|].
  assert (L : {looks false /\ n = look false} + {looks false -> n <> look false}).
  { unfold looks. destruct (inc1 (rw false)), (Nat.eq_dec n (look false)); auto;
      right; discriminate || auto. }
  destruct L as [[l e]|l2]; [exact (fetches A l e)|].
  assert (L : {at_L1 false /\ n = arr false} + {at_L1 false -> n <> arr false}).
  { unfold at_L1. destruct (inc2 (rw false)), (Nat.eq_dec n (arr false)); auto;
      right; discriminate || auto. }
  destruct L as [[l e]|a2]; [exact (arrives A l e)|].
  pose proof (not_now_T N1 N2) as nT. pose proof (not_now_arr nT a2) as a3.
  eapply goes_on_to; [apply path_nil|..].
  - intro o. apply (at_other o A N1 N2).
  - intro m. unfold rmw_at. rewrite (lock_other _ _ N1 N2). apply A.
  - unfold lock_at. rewrite (lock_other _ _ N1 N2). apply A.
  - intro o. apply before_at, L1_pass; [apply A|apply nT|destruct o; auto|destruct o; auto].
  - apply L2_pass; [apply A|auto].
  - intros o q. rewrite (unanswered A); auto. lia.
  - intros o q r. rewrite (answered_at A); auto. specialize (nT o). lia.
Qed.

(** ** The whole run *)
Notation first := (first x zero P tbl).
Lemma holder_0 lk ul : holder lk ul 0 = None.
Proof.
  assert (h : forall o, holds_at lk ul o 0 = false).
  { intro o. unfold holds_at. simpl. destruct (code (rw o)); reflexivity. }
  unfold holder. rewrite !h. auto.
Qed.
Lemma at_0 : At 0 (effect first (FETCH_L2 x)) (@silent nat).
Proof.
  split; simpl; try lia; auto.
  - intros o. right. split; auto. destruct o; unfold compiled; simpl; unfold code_of, row_of.
    + rewrite row_u. reflexivity.
    + rewrite row_b. reflexivity.
  - intros _. symmetry. apply holder_0.
  - symmetry. apply holder_0.
  - intro o. split; simpl; auto; lia.
  - split; simpl; auto; lia.
Qed.
Lemma all_times n : exists run s a, path first run a s /\ At n s a.
Proof.
  induction n as [|n (run&s&a&p&A)].
  - exists [FETCH_L2 x]. eexists. exists (@silent nat). split; [|exact at_0].
    apply path_environment; [exact I|reflexivity].
  - destruct (next_time A) as (run'&s'&a'&p'&A').
    exists (run ++ run'), s', (fun v => a v ++ a' v). split; auto. exact (path_app p p').
Qed.
Lemma bound (f : nat -> nat) k : exists N, forall j, j < k -> f j < N.
Proof.
  induction k as [|k [N h]]; [exists 0; lia|]. exists (S (N + f k)). intros j q.
  destruct (Nat.eq_dec j k) as [->|]; [lia|]. specialize (h j). lia.
Qed.
Theorem overtaking_run : exists run s a, path first run a s /\
  completes place_dec places x zero P tbl run = true /\ a 0 = [0] /\
  (row_kind b = ORmw -> a 1 = [0]) /\ memory s x = 1.
Proof.
  destruct (bound (t true) (len true)) as [N1 h1].
  destruct (bound (t false) (len false)) as [N2 h2].
  destruct (all_times (S (N1 + N2 + arr true))) as (run&s&a&p&A).
  set (N := S (N1 + N2 + arr true)) in *.
  pose proof (arrivals Sch) as q.
  assert (lT : forall o, T o < N).
  { intro o. pose proof (pos_len o). unfold T. destruct o; [specialize (h1 (pos (rw true)))|
      specialize (h2 (pos (rw false)))]; lia. }
  assert (E : forall o, passed o N = len o).
  { intro o. destruct (passed_is o N) as (l&_&c). destruct (Nat.eq_dec (passed o N) (len o)); auto.
    specialize (c (passed o N)).
    destruct o; [specialize (h1 (passed true N))|specialize (h2 (passed false N))]; lia. }
  assert (En : forall o, next 0 (threads s (tid o)) = None).
  { intro o. pose proof (code_at A o) as C. rewrite E in C.
    rewrite skipn_all2 in C by (rewrite map_length; apply le_n). exact (todo_end x zero C). }
  assert (aN : arr true < N) by lia.
  pose proof (L2_dirty (memory_at A) aN) as d. pose proof (L2_new (memory_at A) aN) as v.
  assert (g : guard s (FLUSH_L2 x) = true) by (simpl; rewrite d; auto).
  pose proof (path_environment place_dec x zero P s (FLUSH_L2 x) I g) as p'.
  pose proof (path_app p p') as p2. exists (run ++ [FLUSH_L2 x]). eexists. eexists.
  split; [exact p2|]. destruct p2 as (e&l&_). split; [|split; [|split]].
  - unfold completes. rewrite e, l. simpl. unfold has_ended. simpl.
    rewrite (En true : next (zero x) (threads s 0) = None).
    rewrite (En false : next (zero x) (threads s 1) = None). simpl.
    unfold is_clean. simpl. destruct (L1_clean (caches_at A true)) as [c1 _]; [lia|].
    destruct (L1_clean (caches_at A false)) as [c2 _]; [lia|]. simpl in c1, c2.
    pose proof (L1_y (caches_at A true)) as y1. pose proof (L1_y (caches_at A false)) as y2.
    simpl in y1, y2. rewrite c1, c2, y1, y2.
    change (set place_dec (DIRTY (L2 s)) x false y) with (DIRTY (L2 s) y).
    rewrite (L2_y (memory_at A)). auto.
  - simpl. rewrite app_nil_r. apply (answered_at A (o := true)); auto.
    unfold reads. simpl. pose proof access_u as one. unfold one_access in one.
    apply andb_prop in one as [_ one]. unfold inc1 in u_looks.
    destruct (row_kind u), (Obligations.access u); discriminate || auto.
  - intro k. simpl. rewrite app_nil_r. apply (answered_at A (o := false)); auto.
    unfold reads. simpl. rewrite k. auto.
  - simpl. exact v.
Qed.
End Schedule.
