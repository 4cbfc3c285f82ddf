(** * Moments in order are a run: message passing that loses its message

    [message b c] is [x = 1; b y || r0 = c y; if (r0 == 1) r1 = x] (Refuted.v).  A _schedule_ says
    when each instruction is executed, when what an L1 stores arrives in the L2, and when the L1s
    fetch y.  The conditions of [schedule] are those of the guards, and that x arrives so late that
    thread 1 still finds what was fetched before (docs/proof.md, Exactness, SYNC).  Then the
    moments, one after the other, are a complete run that ends with r0 = 1 and r1 = 0:
    [scheduled]. *)
Require Import List Arith Bool Lia Thm1 Obligations Steps Refuted.
Import ListNotations.
Set Implicit Arguments.

(** ** What a thread is going to execute, and what each instruction is to deliver *)
Definition item := (instr nat place * option nat)%type.
Fixpoint upcoming (th : running nat place) (l : list item) : Prop := match l with
  | [] => next (zero x) th = None
  | (i, d) :: l => exists th', next (zero x) th = Some (i, th') /\ upcoming (deliver th' d) l
  end.
Definition register (n : nat) (l : list item) :=
  fold_left (fun r it => match snd it with Some v => v | None => r end) l n.

Lemma upcoming_rest k l' l : forall n, upcoming (Running [] (register n l) k) l' ->
  upcoming (Running (map fst l) n k) (l ++ l').
Proof.
  induction l as [|[i d] l IH]; intros n h; [exact h|].
  exists (Running (map fst l) n k). split; [reflexivity|]. destruct d; apply IH; exact h.
Qed.
Lemma upcoming_code n k k' l l' : l <> [] -> k n = Code (map fst l) k' ->
  upcoming (Running [] (register 0 l) k') l' -> upcoming (Running [] n k) (l ++ l').
Proof.
  intros ne e h. destruct l as [|[i d] l]; [tauto|].
  exists (Running (map fst l) 0 k'). simpl in e. unfold next. simpl. rewrite e.
  split; [reflexivity|]. destruct d; apply upcoming_rest; exact h.
Qed.

(** The instructions of an operation, whose access reads [n]. *)
Definition delivers n i := match i with Ld | Inc_L1 | Inc_L2 => Some n | _ => None end : option nat.
Definition items o n cs : list item := map (fun i => (instr_of x zero o i, delivers n i)) cs.
Lemma items_code o n cs : map fst (items o n cs) = map (instr_of x zero o) cs.
Proof. unfold items. rewrite map_map. reflexivity. Qed.
Definition delivered (l : list item) :=
  flat_map (fun it => match snd it with Some v => [v] | None => [] end) l.

(** An operation has one access. *)
Lemma no_access cs : filter is_acc cs = [] -> forall k i, nth_error cs k = Some i ->
  is_acc i = false.
Proof.
  intros e k i h. destruct (is_acc i) eqn:a; auto. apply nth_error_In in h.
  assert (q : In i (filter is_acc cs)) by (apply filter_In; auto). rewrite e in q. destruct q.
Qed.
Lemma access_is_one cs k i : length (filter is_acc cs) = 1 -> nth_error cs k = Some i ->
  is_acc i = true -> k = pos_acc cs /\ i = nth (pos_acc cs) cs Ul_rmw.
Proof.
  revert k. induction cs as [|j cs IH]; intros k one h a; [discriminate|].
  simpl in *. destruct (is_acc j) eqn:q.
  - destruct k as [|k]; simpl in h; [split; congruence|]. exfalso.
    assert (e : filter is_acc cs = []) by (destruct (filter is_acc cs); auto; discriminate).
    rewrite (no_access _ e _ h) in a. discriminate.
  - destruct k as [|k]; simpl in h; [congruence|].
    destruct (IH k) as [e1 e2]; auto.
Qed.
Lemma access_there cs : length (filter is_acc cs) = 1 ->
  nth_error cs (pos_acc cs) = Some (nth (pos_acc cs) cs Ul_rmw) /\
  is_acc (nth (pos_acc cs) cs Ul_rmw) = true.
Proof.
  induction cs as [|j cs IH]; intro one; [discriminate|].
  simpl in *. destruct (is_acc j) eqn:q; auto.
Qed.
Lemma delivers_none o n cs : filter is_acc cs = [] -> delivered (items o n cs) = [].
Proof.
  induction cs as [|j cs IH]; simpl; auto. destruct (is_acc j) eqn:q; [discriminate|].
  intro e. destruct j; try discriminate q; apply IH; exact e.
Qed.
Lemma delivers_one o n cs : length (filter is_acc cs) = 1 -> ~ In St cs ->
  delivered (items o n cs) = [n].
Proof.
  induction cs as [|j cs IH]; intros one s; [discriminate|]. simpl in *.
  destruct (is_acc j) eqn:q.
  - assert (e : filter is_acc cs = []) by (destruct (filter is_acc cs); auto; discriminate).
    change (delivered (items o n (j :: cs))) with
      (match delivers n j with Some v => [v] | None => [] end ++ delivered (items o n cs)).
    rewrite (delivers_none o n cs e). destruct j; try discriminate q; auto. exfalso. auto.
  - destruct j; try discriminate q; apply IH; auto.
Qed.
Lemma register_none n l : delivered l = [] -> register n l = n.
Proof.
  induction l as [|[i [v|]] l IH]; simpl; auto. discriminate.
Qed.
Lemma register_one n v l : delivered l = [v] -> register n l = v.
Proof.
  revert n. induction l as [|[i [u|]] l IH]; simpl; intros n e; [discriminate| |apply IH; exact e].
  injection e as -> e. apply register_none. exact e.
Qed.

Section Schedule.
Variable t : table.
Variables b c : row.
Hypothesis W : writes b = true.
Hypothesis R : reads c = true.
Hypothesis b_once : one_access b = true.
Hypothesis c_once : one_access c = true.
(** [b] and [c] are the rows of their operations, and plain rows are a bare access. *)
Hypothesis b_code : code_of x zero t (on y 1 b) = map (instr_of x zero (on y 1 b)) (code b).
Hypothesis c_code : code_of x zero t (on y 2 c) = map (instr_of x zero (on y 2 c)) (code c).
Hypothesis store_code : code_of x zero t (plain (Store 1)) = [ST x 1].
Hypothesis load_code : code_of x zero t (plain Load) = [LD x].

Notation P := (message b c).
Notation state := (state nat place).
Notation effect := (effect place_dec (wg_of P) (zero x)).
Notation guard := (guard place_dec (wgs P) (wg_of P) (zero x)).
Notation instr_effect := (instr_effect place_dec (wg_of P)).
Notation instr_guard := (instr_guard (wgs P) (wg_of P)).
Notation start := (first x zero P t).

(** ** The two threads *)
Definition code_b := items (on y 1 b) 0 (code b).
Definition code_c := items (on y 2 c) 1 (code c).
Definition prog u : list item := match u with
  | 0 => (ST x 1, None) :: code_b
  | 1 => code_c ++ [(LD x, Some 0)]
  | _ => []
  end.
Definition instr_at u k := option_map fst (nth_error (prog u) k).

Lemma one_access_of r : one_access r = true -> length (filter is_acc (code r)) = 1.
Proof. unfold one_access. rewrite andb_true_iff. intros [h _]. apply Nat.eqb_eq, h. Qed.
Lemma c_answers : delivered code_c = [1].
Proof.
  apply delivers_one; [apply one_access_of; auto|]. intro h. apply In_nth_error in h as [k h].
  destruct (access_is_one _ _ (one_access_of _ c_once) h eq_refl) as [_ e].
  unfold one_access, access, pos in c_once. rewrite <- e in c_once. unfold reads in R.
  destruct (row_kind c); try discriminate R; rewrite andb_false_r in c_once; discriminate.
Qed.
Lemma all_delivered : delivered (prog 1) = [1; 0].
Proof.
  change (delivered (code_c ++ [(LD x, Some 0)]) = [1; 0]). unfold delivered.
  rewrite flat_map_app. change (delivered code_c ++ [0] = [1; 0]). rewrite c_answers. reflexivity.
Qed.
Lemma code_nonempty r o n : one_access r = true -> items o n (code r) <> [].
Proof.
  intros h e. apply one_access_of in h. destruct (code r); discriminate.
Qed.
Lemma thread_0 : upcoming (threads start 0) (prog 0).
Proof.
  change (upcoming (Running [] (zero x) (fun _ => Code (code_of x zero t (plain (Store 1)))
    (fun _ => Code (code_of x zero t (on y 1 b)) (fun _ => End)))) ([(ST x 1, None)] ++ code_b)).
  rewrite store_code, b_code.
  eapply upcoming_code; [discriminate|reflexivity|].
  rewrite <- (app_nil_r code_b).
  eapply upcoming_code; [apply code_nonempty; auto|unfold code_b; rewrite items_code; reflexivity|].
  reflexivity.
Qed.
Lemma thread_1 : upcoming (threads start 1) (prog 1).
Proof.
  change (upcoming (Running [] (zero x) (fun _ => Code (code_of x zero t (on y 2 c)) (fun v =>
    compile x zero t (if answer_of (on y 2 c) v =? 1 then Do (plain Load) (fun _ => Done) else
      Done))))
    (code_c ++ [(LD x, Some 0)])).
  rewrite c_code.
  eapply upcoming_code; [apply code_nonempty; auto|unfold code_c; rewrite items_code; reflexivity|].
  rewrite (register_one 0 code_c c_answers).
  rewrite <- (app_nil_r [(LD x, Some 0)]). eapply upcoming_code; [discriminate| |].
  - assert (e : answer_of (on y 2 c) 1 = 1).
    { unfold answer_of. simpl. unfold kind_of. unfold reads in R.
      destruct (row_kind c); auto; discriminate. }
    cbn beta. rewrite e. cbn [Nat.eqb compile].
    rewrite load_code. reflexivity.
  - reflexivity.
Qed.

(** ** The moments *)
Variable T : nat -> nat -> nat.     (* of an instruction, by its thread and its place *)
Variable A : nat -> place -> nat.   (* when what an L1 has stored arrives *)
Variable F : nat -> nat.            (* when an L1 fetches y *)
Definition at_b := S (pos b).
Definition at_c := pos c.
Definition at_load := length (code c).
(** Where each thread stores in its L1. *)
Definition stored w z := match w, z with
  | 0, x => Some 0
  | 0, y => if inc2 b then None else Some at_b
  | 1, y => if inc1 c then Some at_c else None
  | _, _ => None
  end.
Definition b_arrives := if inc2 b then T 0 at_b else A 0 y.
Inductive moment := Run (u k : nat) | Arrive (w : nat) (z : place) | Fetch (w : nat).
Definition time m := match m with Run u k => T u k | Arrive w z => A w z | Fetch w => F w end.
Definition is_moment m := match m with
  | Run u k => k < length (prog u)
  | Arrive 0 _ | Arrive 1 y | Fetch 0 | Fetch 1 => True
  | _ => False
  end.
(** A thread has executed LK at some moment, and no UL since. *)
Definition holding lk ul u now := exists f, instr_at u f = Some lk /\ T u f < now /\
  forall e, f < e -> instr_at u e = Some ul -> now <= T u e.
Notation holding_rmw := (holding LK_rmw UL_rmw).
Notation holding_L2 := (holding (LK_L2 y) (UL_L2 y)).
Definition invalidates_L1 w u k :=
  exists r, instr_at u k = Some (INV_L1 r) /\ reaches r u w = true.

Record schedule : Prop := {
  apart : forall m m', is_moment m -> is_moment m' -> time m = time m' -> m = m';
  in_order : forall u k, S k < length (prog u) -> T u k < T u (S k);
  arrives_later : forall w z m, stored w z = Some m -> T w m < A w z;
  flushes_wait : forall u k r w z m, instr_at u k = Some (FLU_L1 r) -> reaches r u w = true ->
    stored w z = Some m -> T w m < T u k -> S k < length (prog u) -> A w z < T u (S k);
  x_is_late : forall u k, invalidates_L1 1 u k -> T u k < A 0 x \/ T 1 at_load < T u k;
  c_gets_b : b_arrives < T 1 at_c;
  b_fetches : inc1 b = true -> F 0 < T 0 at_b /\ ~ holding_L2 1 (F 0) /\
    forall u k, invalidates_L1 0 u k -> T u k < F 0 \/ T 0 at_b < T u k;
  c_fetches : inc2 c = false -> b_arrives < F 1 /\ F 1 < T 1 at_c /\ ~ holding_L2 0 (F 1) /\
    forall u k, invalidates_L1 1 u k -> T u k < F 1 \/ T 1 at_c < T u k;
  arrivals_unlocked : forall w m, stored w y = Some m -> ~ holding_L2 (1 - w) (A w y);
  rmw_excludes : forall u k, instr_at u k = Some LK_rmw -> ~ holding_rmw (1 - u) (T u k);
  L2_excludes : forall u k, instr_at u k = Some (LK_L2 y) -> ~ holding_L2 (1 - u) (T u k);
  incs_excluded : (inc b = true -> ~ holding_rmw 1 (T 0 at_b)) /\
    (inc c = true -> ~ holding_rmw 0 (T 1 at_c));
  inc2_excluded : (inc2 b = true -> ~ holding_L2 1 (T 0 at_b)) /\
    (inc2 c = true -> ~ holding_L2 0 (T 1 at_c)) }.
Hypothesis H : schedule.

(** ** What the state is before a moment *)
Record cells now (L1 : nat -> cache nat place) (L2 : cache nat place) (lock : place -> option nat)
  (rmw : nat -> option nat) : Prop := {
  dirty : forall w z, DIRTY (L1 w) z = true -> w < 2 ->
    exists m, stored w z = Some m /\ T w m < now /\ now <= A w z;
  b_stored : inc2 b = false -> T 0 at_b < now -> now <= A 0 y ->
    DIRTY (L1 0) y = true /\ data (L1 0) y = 1;
  x_fetched : now <= T 1 at_load -> VALID (L1 1) x = true /\ data (L1 1) x = 0;
  x_unseen : now <= A 0 x -> data L2 x = 0;
  L2_valid : forall z, VALID L2 z = true;
  y_before : now <= b_arrives -> data L2 y = 0;
  y_arrived : b_arrives < now -> now <= T 1 at_c -> data L2 y = 1;
  b_fetched : inc1 b = true -> F 0 < now -> now <= T 0 at_b ->
    VALID (L1 0) y = true /\ data (L1 0) y = 0;
  c_fetched : inc2 c = false -> F 1 < now -> now <= T 1 at_c ->
    VALID (L1 1) y = true /\ data (L1 1) y = 1;
  rmw_held : forall w u, rmw w = Some u -> u < 2 /\ holding_rmw u now;
  x_free : lock x = None;
  y_held : forall u, lock y = Some u -> u < 2 /\ holding_L2 u now;
  entries : forall w z m, In (Entry z) (fifo (L1 w)) -> w < 2 -> stored w z = Some m -> T w m < now;
  markers : forall w pre u post, fifo (L1 w) = pre ++ Marker u :: post -> w < 2 ->
    exists k r, instr_at u k = Some (FLU_L1 r) /\ reaches r u w = true /\ T u k < now /\
      (S k < length (prog u) -> now <= T u (S k)) /\
      forall z m, In (Entry z) pre -> stored w z = Some m -> T w m < T u k;
  L2_unmarked : forall u, ~ In (Marker u) (fifo L2) }.
Definition cells_of now (s : state) := cells now (L1 s) (L2 s) (lock s) (rmw_lock s).

Definition waiting now u th k := k <= length (prog u) /\ upcoming th (skipn k (prog u)) /\
  (forall i, i < k -> T u i < now) /\ (forall i, k <= i -> i < length (prog u) -> now <= T u i).

(** [s'] is reached from [s], and thread 1 has the answers [ans]. *)
Definition goes s s' ans := exists run, enabled place_dec x zero P s run = true /\
  last_state place_dec x zero P s run = s' /\ answers_from place_dec x zero P s run 1 = ans.
Lemma goes_nowhere s : goes s s [].
Proof. exists []. repeat split. Qed.
Lemma goes_on s s' s'' a a' : goes s s' a -> goes s' s'' a' -> goes s s'' (a ++ a').
Proof.
  intros (p&p1&p2&p3) (q&q1&q2&q3). exists (p ++ q). rewrite enabled_app, last_app, answers_app, p2.
  subst. rewrite p1, q1. auto.
Qed.
Definition is_exec (l : step place) := match l with Exec _ => true | _ => false end.
Lemma one_step s l : is_exec l = false -> guard s l = true -> goes s (effect s l) [].
Proof.
  intros e g. exists [l]. simpl. rewrite g. repeat split. destruct l; try reflexivity. discriminate.
Qed.

(** ** Places in the code *)
Lemma length_b : length (prog 0) = S (length (code b)).
Proof. simpl. unfold code_b, items. rewrite map_length. reflexivity. Qed.
Lemma length_c : length (prog 1) = S at_load.
Proof. simpl. unfold code_c, items. rewrite app_length, map_length, Nat.add_1_r. reflexivity. Qed.
Lemma pos_in r : one_access r = true -> pos r < length (code r).
Proof.
  intro h. apply one_access_of in h. apply access_there in h as [h _]. unfold pos.
  apply nth_error_Some. rewrite h. discriminate.
Qed.
Lemma b_there : is_moment (Run 0 at_b).
Proof. pose proof (pos_in _ b_once). unfold is_moment. rewrite length_b. unfold at_b. lia. Qed.
Lemma c_there : is_moment (Run 1 at_c).
Proof. pose proof (pos_in _ c_once). unfold is_moment. rewrite length_c. unfold at_c, at_load.
  lia. Qed.
Lemma load_there : is_moment (Run 1 at_load).
Proof. unfold is_moment. rewrite length_c. auto. Qed.
Lemma stored_there w z m : stored w z = Some m -> is_moment (Run w m) /\ is_moment (Arrive w z).
Proof.
  destruct w as [|[|w]], z; simpl; try discriminate.
  - intros [= <-]. split; [lia|exact I].
  - destruct (inc2 b); [discriminate|]. intros [= <-]. split; [exact b_there|exact I].
  - destruct (inc1 c); [|discriminate]. intros [= <-]. split; [exact c_there|exact I].
Qed.
Lemma instr_there u k i : instr_at u k = Some i -> is_moment (Run u k).
Proof.
  unfold instr_at. intro h. unfold is_moment. apply nth_error_Some. intro e. rewrite e in h.
  discriminate.
Qed.
Lemma later u k j : k < j -> j < length (prog u) -> T u k < T u j.
Proof.
  induction 1 as [|j l IH]; intro h; [apply (in_order H); auto|].
  apply Nat.lt_trans with (T u j); [apply IH; lia|apply (in_order H); auto].
Qed.
Lemma not_now m m' now : time m = now -> is_moment m -> is_moment m' -> m <> m' -> time m' <> now.
Proof. intros e i i' ne e'. apply ne, (apart H); auto. congruence. Qed.

(** ** How the state changes at a moment *)
Definition no_unlock now := forall u e,
  instr_at u e = Some UL_rmw \/ instr_at u e = Some (UL_L2 y) -> T u e <> now.
Definition nobody_waits now (L1 : nat -> cache nat place) := forall w u k, w < 2 ->
  In (Marker u) (fifo (L1 w)) -> S k < length (prog u) -> T u (S k) <> now.

Lemma holding_later lk ul u now : (forall e, instr_at u e = Some ul -> T u e <> now) ->
  holding lk ul u now -> holding lk ul u (S now).
Proof.
  intros N (f&h1&h2&h3). exists f. split; auto. split; [lia|].
  intros e q q'. specialize (h3 e q q'). specialize (N e q'). lia.
Qed.
Lemma rmw_later now u : no_unlock now -> holding_rmw u now -> holding_rmw u (S now).
Proof. intros N. apply holding_later. intros e q. apply N. auto. Qed.
Lemma L2_later now u : no_unlock now -> holding_L2 u now -> holding_L2 u (S now).
Proof. intros N. apply holding_later. intros e q. apply N. auto. Qed.

Section Change.
Variable now : nat.
Variables (L1 : nat -> cache nat place) (L2 : cache nat place) (lk : place -> option nat)
  (rm : nat -> option nat).
Hypothesis C : cells now L1 L2 lk rm.

Lemma markers_later w pre u post : nobody_waits now L1 -> w < 2 ->
  fifo (L1 w) = pre ++ Marker u :: post ->
  exists k r, instr_at u k = Some (FLU_L1 r) /\ reaches r u w = true /\ T u k < S now /\
    (S k < length (prog u) -> S now <= T u (S k)) /\
    forall z m, In (Entry z) pre -> stored w z = Some m -> T w m < T u k.
Proof.
  intros N l e. destruct (markers C pre u post e l) as (k&r&h1&h2&h3&h4&h5).
  exists k, r. repeat split; auto. intro q. specialize (h4 q).
  assert (T u (S k) <> now); [|lia]. apply (N w u k); auto. rewrite e. apply in_elt.
Qed.

(** Nothing happens but that time goes on. *)
Lemma cells_wait : (forall w u, rm w = Some u -> holding_rmw u (S now)) ->
  (forall u, lk y = Some u -> holding_L2 u (S now)) -> nobody_waits now L1 ->
  (forall w z, w < 2 -> DIRTY (L1 w) z = true -> A w z <> now) ->
  (inc2 b = false -> T 0 at_b <> now) -> b_arrives <> now -> (inc1 b = true -> F 0 <> now) ->
  (inc2 c = false -> F 1 <> now) -> cells (S now) L1 L2 lk rm.
Proof.
  intros U U' N d1 d2 d3 d4 d5. split.
  - intros w z q l. destruct (dirty C z q l) as (m&h1&h2&h3). specialize (d1 w z l q).
    exists m. repeat split; auto; lia.
  - intros i q q'. specialize (d2 i). apply (b_stored C); auto; lia.
  - intro q. apply (x_fetched C). lia.
  - intro q. apply (x_unseen C). lia.
  - apply (L2_valid C).
  - intro q. apply (y_before C). lia.
  - intros q q'. apply (y_arrived C); lia.
  - intros i q q'. specialize (d4 i). apply (b_fetched C); auto; lia.
  - intros i q q'. specialize (d5 i). apply (c_fetched C); auto; lia.
  - intros w u q. destruct (rmw_held C w q) as [h1 h2]. eauto.
  - apply (x_free C).
  - intros u q. destruct (y_held C q) as [h1 h2]. auto.
  - intros w z m q l e. pose proof (entries C z q l e). lia.
  - intros w pre u post e l. apply (@markers_later w pre u post); auto.
  - apply (L2_unmarked C).
Qed.
Lemma cells_later : no_unlock now -> nobody_waits now L1 ->
  (forall w z, w < 2 -> DIRTY (L1 w) z = true -> A w z <> now) ->
  (inc2 b = false -> T 0 at_b <> now) -> b_arrives <> now -> (inc1 b = true -> F 0 <> now) ->
  (inc2 c = false -> F 1 <> now) -> cells (S now) L1 L2 lk rm.
Proof.
  intro U. apply cells_wait.
  - intros w u q. apply rmw_later; auto. apply (rmw_held C w q).
  - intros u q. apply L2_later; auto. apply (y_held C q).
Qed.

(** Of a fifo only the content matters. *)
Lemma cells_fifo (L1' : nat -> cache nat place) : (forall w, data (L1' w) = data (L1 w) /\
    DIRTY (L1' w) = DIRTY (L1 w) /\ VALID (L1' w) = VALID (L1 w)) ->
  (forall w z m, In (Entry z) (fifo (L1' w)) -> w < 2 -> stored w z = Some m -> T w m < now) ->
  (forall w pre u post, fifo (L1' w) = pre ++ Marker u :: post -> w < 2 ->
    exists k r, instr_at u k = Some (FLU_L1 r) /\ reaches r u w = true /\ T u k < now /\
      (S k < length (prog u) -> now <= T u (S k)) /\
      forall z m, In (Entry z) pre -> stored w z = Some m -> T w m < T u k) ->
  cells now L1' L2 lk rm.
Proof.
  intros E h1 h2. destruct (E 0) as (a0&a1&a2). destruct (E 1) as (b0&b1&b2).
  split; rewrite ?a0, ?a1, ?a2, ?b0, ?b1, ?b2; try apply C; auto.
  intros w z. destruct (E w) as (_&->&_). apply (dirty C).
Qed.

(** An L1 stores. *)
Lemma cells_store w z m v : stored w z = Some m -> now = T w m -> w < 2 -> (w = 0 -> z = y ->
  v = 1) ->
  no_unlock now -> nobody_waits now L1 ->
  cells (S now) (fun w' => if Nat.eq_dec w' w then store place_dec (L1 w') z v else L1 w') L2 lk rm.
Proof.
  intros s e l v1 U N. destruct (stored_there _ _ s) as [I I'].
  assert (D : forall m', is_moment m' -> Run w m <> m' -> time m' <> now).
  { intros m' i ne. apply (@not_now (Run w m)); auto. }
  assert (DA : b_arrives <> now).
  { unfold b_arrives. destruct (inc2 b) eqn:i2.
    - apply (D (Run 0 at_b) b_there). intros [= -> ->]. destruct z; simpl in s; [discriminate|].
      rewrite i2 in s. discriminate.
    - apply (D (Arrive 0 y) Logic.I). discriminate. }
  split.
  - intros w' z'. destruct (Nat.eq_dec w' w) as [->|n]; simpl.
    + unfold set. destruct (place_dec z' z) as [->|n].
      * intros _ _. exists m. pose proof (arrives_later H _ _ s). repeat split; auto; lia.
      * intros q q'. destruct (dirty C z' q q') as (m'&h1&h2&h3). exists m'.
        repeat split; auto. destruct (stored_there _ _ h1) as [_ J].
        pose proof (D (Arrive w z') J) as d. simpl in d. assert (A w z' <> now); [|lia].
        apply d. discriminate.
    + intros q q'. destruct (dirty C z' q q') as (m'&h1&h2&h3). exists m'.
      repeat split; auto. destruct (stored_there _ _ h1) as [_ J].
      pose proof (D (Arrive w' z') J) as d. simpl in d. assert (A w' z' <> now); [|lia].
      apply d. discriminate.
  - intros i2 q q'. destruct (Nat.eq_dec 0 w) as [<-|n]; simpl.
    + unfold set. destruct (place_dec y z) as [<-|n]; [auto|].
      apply (b_stored C); auto; try lia. assert (T 0 at_b <> now); [|lia].
      apply (D (Run 0 at_b) b_there). intros [= ->]. destruct z; [discriminate s|]. tauto.
    + apply (b_stored C); auto; try lia. assert (T 0 at_b <> now); [|lia].
      apply (D (Run 0 at_b) b_there). intros [= ->]. tauto.
  - intro q. destruct (Nat.eq_dec 1 w) as [<-|n]; simpl.
    + destruct z; [discriminate s|]. unfold set. simpl. apply (x_fetched C). lia.
    + apply (x_fetched C). lia.
  - intro q. apply (x_unseen C). lia.
  - apply (L2_valid C).
  - intro q. apply (y_before C). lia.
  - intros q q'. apply (y_arrived C); lia.
  - intros i q q'. assert (F 0 <> now) by (apply (D (Fetch 0) Logic.I); discriminate).
    destruct (Nat.eq_dec 0 w) as [<-|n]; simpl.
    + unfold set. destruct (place_dec y z) as [<-|n]; simpl; [|apply (b_fetched C); auto; lia].
      exfalso. unfold stored in s. destruct (inc2 b); [discriminate|]. injection s as <-. lia.
    + apply (b_fetched C); auto; lia.
  - intros i q q'. assert (F 1 <> now) by (apply (D (Fetch 1) Logic.I); discriminate).
    destruct (Nat.eq_dec 1 w) as [<-|n]; simpl.
    + unfold set. destruct (place_dec y z) as [<-|n]; simpl; [|apply (c_fetched C); auto; lia].
      exfalso. unfold stored in s. destruct (inc1 c); [|discriminate]. injection s as <-. lia.
    + apply (c_fetched C); auto; lia.
  - intros w' u q. destruct (rmw_held C w' q) as [h1 h2]. split; auto. apply rmw_later; auto.
  - apply (x_free C).
  - intros u q. destruct (y_held C q) as [h1 h2]. split; auto. apply L2_later; auto.
  - intros w' z' m'. destruct (Nat.eq_dec w' w) as [->|n]; simpl.
    + rewrite in_app_iff. intros [q|[[= <-]|[]]] q' q''.
      * pose proof (entries C z' q q' q''). lia.
      * rewrite s in q''. injection q'' as <-. lia.
    + intros q q' q''. pose proof (entries C z' q q' q''). lia.
  - intros w' pre u post. destruct (Nat.eq_dec w' w) as [->|n]; simpl.
    + intros q q'. destruct (@exists_last _ (Marker u :: post)) as (post'&e'&q1); [discriminate|].
      rewrite q1, app_assoc in q. apply app_inj_tail in q as [q <-].
      destruct post' as [|p post']; [discriminate|]. injection q1 as <- _.
      eapply markers_later; eauto.
    + intros q q'. eapply markers_later; eauto.
  - apply (L2_unmarked C).
Qed.

(** What an L1 has stored arrives. *)
Lemma cells_arrive w z : A w z = now -> is_moment (Arrive w z) -> DIRTY (L1 w) z = true ->
  no_unlock now -> nobody_waits now L1 ->
  cells (S now) (fun w' => if Nat.eq_dec w' w then cleaned place_dec (L1 w') z else L1 w')
    (store place_dec (inval place_dec L2 z) z (data (L1 w) z)) lk rm.
Proof.
  intros e I d U N.
  assert (D : forall m', is_moment m' -> Arrive w z <> m' -> time m' <> now).
  { intros m' i ne. apply (@not_now (Arrive w z)); auto. }
  assert (l : w < 2) by (destruct w as [|[|w]]; [lia|lia|destruct I]).
  destruct (dirty C z d l) as (m&s&before&_).
  assert (D0 : T 0 at_b <> now) by (apply (D (Run 0 at_b) b_there); discriminate).
  assert (D1 : T 1 at_c <> now) by (apply (D (Run 1 at_c) c_there); discriminate).
  assert (D2 : F 0 <> now) by (apply (D (Fetch 0) Logic.I); discriminate).
  assert (D3 : F 1 <> now) by (apply (D (Fetch 1) Logic.I); discriminate).
  assert (cb : w = 1 -> b_arrives < T 1 at_c /\ T 1 at_c < now).
  { intros ->. split; [apply (c_gets_b H)|]. destruct z; [discriminate s|]. unfold stored in s.
    destruct (inc1 c); [|discriminate]. injection s as <-. lia. }
  split.
  - intros w' z' q l'. destruct (Nat.eq_dec w' w) as [->|n]; simpl in q.
    + unfold set in q. destruct (place_dec z' z) as [->|n]; [discriminate|].
      destruct (dirty C z' q l') as (m'&h1&h2&h3). exists m'. repeat split; auto.
      destruct (stored_there _ _ h1) as [_ J]. pose proof (D (Arrive w z') J) as k. simpl in k.
      assert (A w z' <> now); [|lia]. apply k. congruence.
    + destruct (dirty C z' q l') as (m'&h1&h2&h3). exists m'. repeat split; auto.
      destruct (stored_there _ _ h1) as [_ J]. pose proof (D (Arrive w' z') J) as k. simpl in k.
      assert (A w' z' <> now); [|lia]. apply k. congruence.
  - intros i q q'. destruct (Nat.eq_dec 0 w) as [<-|n]; simpl.
    + unfold set. destruct (place_dec y z) as [<-|n]; simpl; [lia|]. apply (b_stored C); auto; lia.
    + apply (b_stored C); auto; lia.
  - intro q. destruct (Nat.eq_dec 1 w) as [<-|n]; simpl; apply (x_fetched C); lia.
  - intro q. simpl. unfold set. destruct (place_dec x z) as [<-|n]; [|apply (x_unseen C); lia].
    destruct w as [|w]; [lia|]. destruct w; [discriminate s|]. destruct I.
  - intro z'. simpl. unfold set. destruct (place_dec z' z); auto. apply (L2_valid C).
  - intro q. simpl. unfold set. destruct (place_dec y z) as [<-|n]; [|apply (y_before C); lia].
    destruct w as [|[|w]]; [|destruct cb; auto; lia|destruct I]. unfold b_arrives in q.
    unfold stored in s. destruct (inc2 b); [discriminate|]. lia.
  - intros q q'. simpl. unfold set. destruct (place_dec y z) as [<-|n].
    + destruct w as [|[|w]]; [|destruct cb; auto; lia|destruct I].
      unfold stored in s. destruct (inc2 b) eqn:i2; [discriminate|]. injection s as <-.
      apply (b_stored C); auto. lia.
    + apply (y_arrived C); [|lia]. unfold b_arrives in *. destruct (inc2 b); [lia|].
      assert (A 0 y <> now); [|lia]. apply (D (Arrive 0 y) Logic.I). congruence.
  - intros i q q'. destruct (Nat.eq_dec 0 w) as [<-|n]; simpl; apply (b_fetched C); auto; lia.
  - intros i q q'. destruct (Nat.eq_dec 1 w) as [<-|n]; simpl; apply (c_fetched C); auto; lia.
  - intros w' u q. destruct (rmw_held C w' q) as [h1 h2]. split; auto. apply rmw_later; auto.
  - apply (x_free C).
  - intros u q. destruct (y_held C q) as [h1 h2]. split; auto. apply L2_later; auto.
  - intros w' z' m' q. assert (q' : In (Entry z') (fifo (L1 w'))).
    { destruct (Nat.eq_dec w' w) as [->|n]; exact q. }
    intros q1 q2. pose proof (entries C z' q' q1 q2). lia.
  - intros w' pre u post q l'. apply markers_later with post; auto.
    destruct (Nat.eq_dec w' w) as [->|n]; exact q.
  - intro u. simpl. rewrite in_app_iff. intros [q|[q|[]]]; [|discriminate].
    exact (L2_unmarked C u q).
Qed.

(** An L1 fetches y. *)
Lemma cells_fetch w : F w = now -> is_moment (Fetch w) ->
  no_unlock now -> nobody_waits now L1 -> (w = 0 -> inc1 b = true) -> (w = 1 -> inc2 c = false) ->
  cells (S now) (fun w' => if Nat.eq_dec w' w then fetch place_dec (L1 w') y (data L2 y) else L1 w')
    L2 lk rm.
Proof.
  intros e I U N i1 i2.
  assert (D : forall m', is_moment m' -> Fetch w <> m' -> time m' <> now).
  { intros m' i ne. apply (@not_now (Fetch w)); auto. }
  assert (D0 : T 0 at_b <> now) by (apply (D (Run 0 at_b) b_there); discriminate).
  assert (DA : b_arrives <> now).
  { unfold b_arrives. destruct (inc2 b); auto. apply (D (Arrive 0 y) Logic.I). discriminate. }
  split.
  - intros w' z' q l'. assert (q' : DIRTY (L1 w') z' = true).
    { destruct (Nat.eq_dec w' w) as [->|n]; exact q. }
    destruct (dirty C z' q' l') as (m'&h1&h2&h3). exists m'. repeat split; auto.
    destruct (stored_there _ _ h1) as [_ J]. pose proof (D (Arrive w' z') J) as k. simpl in k.
    assert (A w' z' <> now); [|lia]. apply k. congruence.
  - intros i q q'. destruct w as [|w]; simpl; [|apply (b_stored C); auto; lia].
    exfalso. destruct (b_fetches H) as (h&_&_); auto. lia.
  - intro q. destruct (Nat.eq_dec 1 w) as [<-|n]; simpl; apply (x_fetched C); lia.
  - intro q. apply (x_unseen C). lia.
  - apply (L2_valid C).
  - intro q. apply (y_before C). lia.
  - intros q q'. apply (y_arrived C); lia.
  - intros i q q'. destruct (Nat.eq_dec 0 w) as [<-|n]; simpl.
    + split; auto. unfold set. simpl. apply (y_before C).
      destruct (b_fetches H i) as (h&_). unfold b_arrives. destruct (inc2 b) eqn:j; [lia|].
      pose proof (arrives_later H 0 y). simpl in H0. rewrite j in H0. specialize (H0 _ eq_refl).
      lia.
    + apply (b_fetched C); auto; try lia. assert (F 0 <> now); [|lia].
      apply (D (Fetch 0) Logic.I). congruence.
  - intros i q q'. destruct (Nat.eq_dec 1 w) as [<-|n]; simpl.
    + split; auto. unfold set. simpl. destruct (c_fetches H i) as (h&h'&_).
      apply (y_arrived C); lia.
    + apply (c_fetched C); auto; try lia. assert (F 1 <> now); [|lia].
      apply (D (Fetch 1) Logic.I). congruence.
  - intros w' u q. destruct (rmw_held C w' q) as [h1 h2]. split; auto. apply rmw_later; auto.
  - apply (x_free C).
  - intros u q. destruct (y_held C q) as [h1 h2]. split; auto. apply L2_later; auto.
  - intros w' z' m' q. assert (q' : In (Entry z') (fifo (L1 w'))).
    { destruct (Nat.eq_dec w' w) as [->|n]; exact q. }
    intros q1 q2. pose proof (entries C z' q' q1 q2). lia.
  - intros w' pre u post q l'. apply markers_later with post; auto.
    destruct (Nat.eq_dec w' w) as [->|n]; exact q.
  - apply (L2_unmarked C).
Qed.

(** An RMW at the L2. *)
Lemma cells_at_L2 u v : u = 0 /\ inc2 b = true /\ now = T 0 at_b /\ v = 1 \/
    u = 1 /\ inc2 c = true /\ now = T 1 at_c ->
  no_unlock now -> nobody_waits now L1 ->
  cells (S now) (fun w' => if Nat.eq_dec w' u then inval place_dec (L1 w') y else L1 w')
    (store place_dec (inval place_dec L2 y) y v) lk rm.
Proof.
  intros O U N. pose (M := Run u (if u =? 0 then at_b else at_c)).
  assert (E : time M = now /\ is_moment M).
  { destruct O as [(->&_&->&_)|(->&_&->)]; split; auto; [exact b_there|exact c_there]. }
  destruct E as [E I].
  assert (D : forall m', is_moment m' -> M <> m' -> time m' <> now).
  { intros m' i ne. apply (@not_now M); auto. }
  assert (D2 : F 0 <> now) by (apply (D (Fetch 0) Logic.I); discriminate).
  assert (D3 : F 1 <> now) by (apply (D (Fetch 1) Logic.I); discriminate).
  assert (u1 : u = 1 -> b_arrives < now /\ T 0 at_b <> now).
  { intros ->. split; [|apply (D (Run 0 at_b) b_there); discriminate].
    destruct O as [(q&_)|(_&_&->)]; [discriminate|apply (c_gets_b H)]. }
  assert (u0 : u = 0 -> b_arrives = now).
  { intros ->. destruct O as [(_&q&->&_)|(q&_)]; [|discriminate]. unfold b_arrives. rewrite q.
    auto. }
  split.
  - intros w' z' q l'. assert (q' : DIRTY (L1 w') z' = true).
    { destruct (Nat.eq_dec w' u) as [->|n]; exact q. }
    destruct (dirty C z' q' l') as (m'&h1&h2&h3). exists m'. repeat split; auto.
    destruct (stored_there _ _ h1) as [_ J]. pose proof (D (Arrive w' z') J) as k. simpl in k.
    assert (A w' z' <> now); [|lia]. apply k. discriminate.
  - intros i q q'. destruct O as [(->&i2&_)|(->&_)]; [congruence|]. simpl. destruct u1; auto.
    apply (b_stored C); auto; lia.
  - intro q. destruct (Nat.eq_dec 1 u) as [<-|n]; simpl; apply (x_fetched C); lia.
  - intro q. simpl. apply (x_unseen C). lia.
  - intro z'. simpl. unfold set. destruct (place_dec z' y); auto. apply (L2_valid C).
  - intro q. destruct O as [(->&_)|(->&_)]; [rewrite u0 in q by auto; lia|]. destruct u1; auto. lia.
  - intros q q'. destruct O as [(->&_&_&->)|(->&_&e)]; [reflexivity|lia].
  - intros i q q'. destruct O as [(->&i2&_)|(->&_)].
    + unfold inc1, inc2 in *. destruct (access b); discriminate.
    + simpl. apply (b_fetched C); auto; lia.
  - intros i q q'. destruct O as [(->&_)|(->&i2&_)]; [|congruence].
    simpl. apply (c_fetched C); auto; lia.
  - intros w' u' q. destruct (rmw_held C w' q) as [h1 h2]. split; auto. apply rmw_later; auto.
  - apply (x_free C).
  - intros u' q. destruct (y_held C q) as [h1 h2]. split; auto. apply L2_later; auto.
  - intros w' z' m' q. assert (q' : In (Entry z') (fifo (L1 w'))).
    { destruct (Nat.eq_dec w' u) as [->|n]; exact q. }
    intros q1 q2. pose proof (entries C z' q' q1 q2). lia.
  - intros w' pre u' post q l'. apply markers_later with post; auto.
    destruct (Nat.eq_dec w' u) as [->|n]; exact q.
  - intro u'. simpl. rewrite in_app_iff. intros [q|[q|[]]]; [|discriminate].
    exact (L2_unmarked C u' q).
Qed.

(** Other changes are of one part of the state. *)
Lemma cells_locks lk' rm' : (forall w u, rm' w = Some u -> u < 2 /\ holding_rmw u now) ->
  lk' x = None -> (forall u, lk' y = Some u -> u < 2 /\ holding_L2 u now) ->
  cells now L1 L2 lk' rm'.
Proof. intros h1 h2 h3. split; try apply C; auto. Qed.
Lemma cells_valid (L1' : nat -> cache nat place) : (forall w, DIRTY (L1' w) = DIRTY (L1 w) /\
    fifo (L1' w) = fifo (L1 w)) -> data (L1' 0) y = data (L1 0) y ->
  (now <= T 1 at_load -> VALID (L1' 1) x = true /\ data (L1' 1) x = 0) ->
  (inc1 b = true -> F 0 < now -> now <= T 0 at_b ->
    VALID (L1' 0) y = true /\ data (L1' 0) y = 0) ->
  (inc2 c = false -> F 1 < now -> now <= T 1 at_c ->
    VALID (L1' 1) y = true /\ data (L1' 1) y = 1) ->
  cells now L1' L2 lk rm.
Proof.
  intros E d h1 h2 h3. split; auto; try apply C.
  - intros w z. destruct (E w) as [-> _]. apply (dirty C).
  - destruct (E 0) as [-> _]. rewrite d. apply (b_stored C).
  - intros w z m. destruct (E w) as [_ ->]. apply (entries C).
  - intros w pre u post. destruct (E w) as [_ ->]. apply (markers C).
Qed.
Lemma cells_dequeue w : cells now
  (fun w' => if Nat.eq_dec w' w then dequeue (L1 w') else L1 w') L2 lk rm.
Proof.
  apply cells_fifo.
  - intro w'. destruct (Nat.eq_dec w' w); auto.
  - intros w' z m q. assert (q' : In (Entry z) (fifo (L1 w'))); [|apply (entries C z q')].
    destruct (Nat.eq_dec w' w); auto. simpl in q. destruct (fifo (L1 w')); simpl in *; auto.
  - intros w' pre u post q l. destruct (Nat.eq_dec w' w) as [e|e];
      [|apply (markers C pre u post q l)].
    simpl in q. destruct (fifo (L1 w')) as [|a f] eqn:E; simpl in q; [destruct pre; discriminate|].
    subst f. destruct (markers C (a :: pre) u post E l) as (k&r&h1&h2&h3&h4&h5).
    exists k, r. repeat split; auto. intros z m q. apply h5. right. exact q.
Qed.
Lemma cells_flush u k r : instr_at u k = Some (FLU_L1 r) -> now = S (T u k) -> u < 2 ->
  (forall w m z, stored w z = Some m -> Run w m <> Run u k) ->
  cells now (fun w => if reaches r u w then enqueue (L1 w) (Marker u) else L1 w) L2 lk rm.
Proof.
  intros i e l ne. pose proof (instr_there _ _ i) as I. apply cells_fifo.
  - intro w. destruct (reaches r u w); auto.
  - intros w z m q. assert (q' : In (Entry z) (fifo (L1 w))); [|apply (entries C z q')].
    destruct (reaches r u w); auto. simpl in q. apply in_app_iff in q as [q|[q|[]]]; auto.
    discriminate.
  - intros w pre u' post q lw. destruct (reaches r u w) eqn:rr;
      [|apply (markers C pre u' post q lw)].
    simpl in q. destruct (@exists_last _ (Marker u' :: post)) as (post'&e'&q1); [discriminate|].
    rewrite q1, app_assoc in q. apply app_inj_tail in q as [q <-].
    destruct post' as [|p post'].
    + injection q1 as -> ->. rewrite app_nil_r in q. subst pre. exists k, r.
      repeat split; auto; [lia| |].
      * intro q. rewrite e. apply (in_order H). exact q.
      * intros z m q s. pose proof (entries C z q lw s). destruct (stored_there _ _ s) as [J _].
        pose proof (@not_now (Run u k) (Run w m) _ eq_refl I J) as d. simpl in d.
        assert (T w m <> T u k); [|lia]. apply d. intro q'. apply (ne w m z s). auto.
    + injection q1 as <- _. apply (markers C pre u' post' q lw).
Qed.
End Change.

(** ** What an L1 has leaves it, as far as it has arrived *)
Definition head_dirty (s : state) w := match fifo (L1 s w) with
  | [] => True
  | Entry z :: _ => DIRTY (L1 s w) z = true
  | Marker _ :: _ => False
  end.
Lemma drain w now : w < 2 -> forall n s, length (fifo (L1 s w)) = n -> cells_of now s ->
  exists s', goes s s' [] /\ threads s' = threads s /\ cells_of now s' /\ head_dirty s' w /\
    forall w', w' <> w -> L1 s' w' = L1 s w'.
Proof.
  intro l. induction n as [|n IH]; intros s e C.
  - exists s. split; [apply goes_nowhere|]. split; auto. split; auto. split; auto.
    unfold head_dirty. destruct (fifo (L1 s w)); auto. discriminate.
  - assert (step : forall l, is_exec l = false -> guard s l = true ->
        effect s l = in_L1 s w (fun c => dequeue c) ->
        exists s', goes s s' [] /\ threads s' = threads s /\ cells_of now s' /\ head_dirty s' w /\
        forall w', w' <> w -> L1 s' w' = L1 s w').
    { intros m h1 h2 h3. destruct (IH (effect s m)) as (s'&g&h&C'&d&o).
      - rewrite h3. simpl. destruct (Nat.eq_dec w w); [|tauto]. simpl.
        destruct (fifo (L1 s w)); [discriminate|]. simpl in *. lia.
      - rewrite h3. apply cells_dequeue. exact C.
      - exists s'. split; [apply (goes_on (one_step _ _ h1 h2) g)|]. rewrite h3 in h.
        split; auto. split; auto. split; auto.
        intros w' ne. rewrite (o w' ne), h3. simpl. destruct (Nat.eq_dec w' w); tauto. }
    destruct (fifo (L1 s w)) as [|[z|u] f] eqn:E; [discriminate| |].
    + destruct (DIRTY (L1 s w) z) eqn:d.
      * exists s. split; [apply goes_nowhere|]. split; auto. split; auto. split; auto.
        unfold head_dirty. rewrite E. auto.
      * apply (step (DEQLOC_L1 w z)); auto. simpl. unfold oldest, clean. rewrite E, d. simpl.
        destruct (place_dec z z); tauto.
    + apply (step (DEQMARKER_L1 w u)); auto. simpl. unfold oldest. rewrite E. simpl.
      destruct (Nat.eq_dec u u); tauto.
Qed.
Lemma marker_gone now s w u k : cells_of now s -> head_dirty s w -> w < 2 ->
  k < length (prog u) -> T u k = now -> ~ In (Marker u) (fifo (L1 s w)).
Proof.
  intros C hd l h e i. apply in_split in i. destruct i as (pre&post&i).
  destruct (markers C pre u post i l) as (f&r&h1&h2&h3&h4&h5).
  assert (S f = k) as <-.
  { pose proof (instr_there _ _ h1) as J. simpl in J.
    destruct (lt_eq_lt_dec k (S f)) as [[q|q]|q]; auto.
    - assert (T u k <= T u f); [|lia]. destruct (Nat.eq_dec k f) as [->|n]; auto.
      apply Nat.lt_le_incl, later; auto. lia.
    - specialize (h4 ltac:(lia)). pose proof (later u q h). lia. }
  unfold head_dirty in hd. rewrite i in hd. destruct pre as [|[z|u'] pre]; simpl in hd; auto.
  destruct (dirty C z hd l) as (m&s1&s2&s3).
  assert (q : T w m < T u f) by (apply (h5 z m); simpl; auto).
  pose proof (flushes_wait H z h1 h2 s1 q h). lia.
Qed.

(** ** An instruction is executed *)
Lemma code_at u k i d : nth_error (prog u) k = Some (i, d) ->
  u = 0 /\ k = 0 /\ i = ST x 1 /\ d = None \/
  (exists j a, u = 0 /\ k = S j /\ nth_error (code b) j = Some a /\
    i = instr_of x zero (on y 1 b) a /\ d = delivers 0 a) \/
  (exists a, u = 1 /\ nth_error (code c) k = Some a /\
    i = instr_of x zero (on y 2 c) a /\ d = delivers 1 a) \/
  u = 1 /\ k = at_load /\ i = LD x /\ d = Some 0.
Proof.
  destruct u as [|[|u]]; intro h; [| |destruct k; discriminate].
  - destruct k as [|j]; [injection h as <- <-; auto|]. right. left. simpl in h.
    unfold code_b, items in h. rewrite nth_error_map in h.
    destruct (nth_error (code b) j) as [a|] eqn:q; [|discriminate]. injection h as <- <-. eauto 8.
  - right. right. pose proof (instr_there 1 k (i := i)) as l. unfold instr_at in l. rewrite h in l.
    specialize (l eq_refl). unfold is_moment in l. rewrite length_c in l. simpl in h.
    assert (e : length code_c = at_load) by (unfold code_c, items; apply map_length).
    destruct (Nat.eq_dec k at_load) as [->|n].
    + right. rewrite nth_error_app2, e, Nat.sub_diag in h by lia. injection h as <- <-. auto.
    + left. rewrite nth_error_app1 in h by lia. unfold code_c, items in h.
      rewrite nth_error_map in h. destruct (nth_error (code c) k) as [a|] eqn:q; [|discriminate].
      injection h as <- <-. eauto 8.
Qed.
Lemma b_access j a : nth_error (code b) j = Some a -> is_acc a = true -> j = pos b /\ access b = a.
Proof.
  intros h q. destruct (access_is_one _ _ (one_access_of _ b_once) h q). auto.
Qed.
Lemma c_access j a : nth_error (code c) j = Some a -> is_acc a = true -> j = at_c /\ access c = a.
Proof.
  intros h q. destruct (access_is_one _ _ (one_access_of _ c_once) h q). auto.
Qed.
Lemma b_row : access b = St /\ row_kind b = OStore \/
  (access b = Inc_L1 \/ access b = Inc_L2) /\ row_kind b = ORmw.
Proof.
  pose proof b_once as h. unfold one_access in h. apply andb_prop in h as [_ h].
  unfold writes in W. destruct (row_kind b), (access b); auto; discriminate.
Qed.
Lemma c_row : access c = Ld /\ row_kind c = OLoad \/
  (access c = Inc_L1 \/ access c = Inc_L2) /\ row_kind c = ORmw.
Proof.
  pose proof c_once as h. unfold one_access in h. apply andb_prop in h as [_ h].
  unfold reads in R. destruct (row_kind c), (access c); auto; discriminate.
Qed.
Lemma b_instr : instr_at 0 at_b = Some (instr_of x zero (on y 1 b) (access b)).
Proof.
  unfold instr_at, at_b. simpl. unfold code_b, items. rewrite nth_error_map.
  destruct (access_there _ (one_access_of _ b_once)) as [h _]. unfold pos. rewrite h. reflexivity.
Qed.
Lemma c_instr : instr_at 1 at_c = Some (instr_of x zero (on y 2 c) (access c)).
Proof.
  destruct (access_there _ (one_access_of _ c_once)) as [h _]. unfold instr_at, at_c. simpl.
  rewrite nth_error_app1.
  - unfold code_c, items. rewrite nth_error_map. unfold pos. rewrite h. reflexivity.
  - unfold code_c, items. rewrite map_length. apply pos_in. exact c_once.
Qed.
Lemma stored_instr w z m : stored w z = Some m ->
  exists v f, instr_at w m = Some (ST z v) \/ instr_at w m = Some (RMW_L1 z f).
Proof.
  intro s. exists 1, (update (on y (S w) (if w =? 0 then b else c))).
  destruct w as [|[|w]], z; simpl in s; try discriminate.
  - injection s as <-. left. reflexivity.
  - unfold inc2 in s. destruct b_row as [[e k]|[[e|e] k]]; rewrite e in s; try discriminate;
      injection s as <-; rewrite b_instr, e; auto. left.
        unfold instr_of, Thm1.stored, on, kind_of. simpl. rewrite k. reflexivity.
  - unfold inc1 in s. destruct (access c) eqn:e; try discriminate. injection s as <-.
    rewrite c_instr, e. right. reflexivity.
Qed.

Lemma free_for u w l lk ul now : (forall v, l = Some v -> v < 2 /\ holding lk ul v now) ->
  u < 2 -> ~ holding lk ul (1 - u) now -> w = u -> ready l w = true /\
    ready_group (wg_of P) l w = true.
Proof.
  intros h q N ->. destruct l as [v|]; [|auto]. destruct (h v eq_refl) as [h1 h2].
  assert (v = u) as ->.
  { destruct (Nat.eq_dec v u) as [e|e]; auto. exfalso. apply N. replace (1 - u) with v by lia.
    exact h2. }
  unfold ready, ready_group. destruct (Nat.eq_dec u u); [|tauto].
  destruct u as [|[|u]]; simpl; auto; lia.
Qed.

(** After an instruction [s2] is reached, with all cells as they are to be. *)
Definition does now u i d (s : state) := instr_guard s u i = true /\ snd (instr_effect s u i) = d /\
  forall th, exists s2, goes (with_thread (fst (instr_effect s u i)) u th) s2 [] /\
    threads s2 = threads (with_thread (fst (instr_effect s u i)) u th) /\ cells_of (S now) s2.
Lemma does_at_once now u i d s : instr_guard s u i = true -> snd (instr_effect s u i) = d ->
  cells_of (S now) (fst (instr_effect s u i)) -> does now u i d s.
Proof.
  intros g e C. split; auto. split; auto. intro th. eexists. split; [apply goes_nowhere|].
  split; [reflexivity|exact C].
Qed.

Section Executed.
Variables (now u k : nat) (s : state).
Hypothesis C : cells_of now s.
Hypothesis l : u < 2.
Hypothesis e : T u k = now.
Hypothesis gone : unmarked (wgs P) s u = true.
Hypothesis N : nobody_waits now (L1 s).

Lemma no_other i u' k' i' : instr_at u k = Some i -> instr_at u' k' = Some i' -> i <> i' ->
  T u' k' <> now.
Proof.
  intros h h' ne. apply (@not_now (Run u k) (Run u' k')); auto.
  - apply (instr_there _ _ h).
  - apply (instr_there _ _ h').
  - intros [= -> ->]. congruence.
Qed.
Lemma not_unlocking i : instr_at u k = Some i -> i <> UL_rmw -> i <> UL_L2 y -> no_unlock now.
Proof. intros h n n' u' k' [h'|h']; eapply no_other; eauto. Qed.
Lemma others_later (m : moment) : is_moment (Run u k) -> is_moment m -> Run u k <> m ->
  time m <> now.
Proof. intros i i' ne. apply (@not_now (Run u k) m); auto. Qed.

(** No access: time goes on, but for one part of the state. *)
Lemma cells_pass i : instr_at u k = Some i ->
  match i with ST _ _ | RMW_L1 _ _ | RMW_L2 _ _ => False | _ => True end ->
  forall lk rm, cells now (L1 s) (L2 s) lk rm ->
  (forall w v, rm w = Some v -> holding_rmw v (S now)) ->
  (forall v, lk y = Some v -> holding_L2 v (S now)) ->
  cells (S now) (L1 s) (L2 s) lk rm.
Proof.
  intros h a lk rm C' h1 h2. pose proof (instr_there _ _ h) as I.
  assert (D : forall z, is_moment (Arrive 0 z) -> A 0 z <> now).
  { intros z q. apply (@others_later (Arrive 0 z)); auto. discriminate. }
  assert (Db : T 0 at_b <> now).
  { apply (no_other h b_instr). intros ->.
    destruct b_row as [[q _]|[[q|q] _]]; rewrite q in a; exact a. }
  apply cells_wait; auto.
  - intros w z q d. destruct (dirty C z d q) as (m&s1&_). destruct (stored_there _ _ s1) as [_ J].
    apply (@others_later (Arrive w z)); auto. discriminate.
  - unfold b_arrives. destruct (inc2 b); auto. apply D. exact Logic.I.
  - intros _. apply (@others_later (Fetch 0)); auto; [exact Logic.I|discriminate].
  - intros _. apply (@others_later (Fetch 1)); auto; [exact Logic.I|discriminate].
Qed.
Lemma cells_passed i : instr_at u k = Some i ->
  match i with ST _ _ | RMW_L1 _ _ | RMW_L2 _ _ | UL_L2 _ | UL_rmw => False | _ => True end ->
  cells_of (S now) s.
Proof.
  intros h a. assert (U : no_unlock now) by (apply (@not_unlocking i h); intros ->; exact a).
  apply (cells_pass h); [destruct i; auto|exact C| |].
  - intros w v q. apply rmw_later; auto. apply (rmw_held C w q).
  - intros v q. apply L2_later; auto. apply (y_held C q).
Qed.

Lemma lock_instr : forall i, instr_at u k = Some i ->
  match i with LK_rmw | UL_rmw | LK_L2 y | UL_L2 y => True | _ => False end -> does now u i None s.
Proof.
  intros i h a. destruct i as [| | | | | | |[]|[]| |]; try destruct a.
  - (* LK_L2 *) assert (f := L2_excludes H h). rewrite e in f.
    destruct (@free_for u u (lock s y) _ _ now (y_held C) l f eq_refl) as [g _].
    apply does_at_once; [unfold instr_guard; rewrite gone; exact g|reflexivity|].
    apply (@cells_locks (S now) _ _ _ _ (cells_passed h Logic.I)).
    + intros w v q. apply (rmw_held (cells_passed h Logic.I) w q).
    + apply (x_free C).
    + intros v q. injection q as <-. split; auto. exists k. split; auto. split; [lia|].
      intros e' q q'. pose proof (instr_there _ _ q'). pose proof (later u q H0). lia.
  - (* UL_L2 *) apply does_at_once; [unfold instr_guard; rewrite gone; reflexivity|reflexivity|].
    apply (cells_pass h Logic.I).
    + apply (cells_locks C); [apply (rmw_held C)|apply (x_free C)|]. intros v q. discriminate q.
    + intros w v q. destruct (rmw_held C w q) as [_ q']. revert q'. apply holding_later.
      intros e' q'. apply (no_other h q'). discriminate.
    + intros v q. discriminate q.
  - (* LK_rmw *) assert (f := rmw_excludes H h). rewrite e in f.
    apply does_at_once; [unfold instr_guard; rewrite gone|reflexivity|].
    + apply forallb_forall. intros w _.
      apply (@free_for u u (rmw_lock s w) _ _ now (fun v => rmw_held C w (u := v)) l f eq_refl).
    + apply (@cells_locks (S now) _ _ _ _ (cells_passed h Logic.I)).
      * intros w v q. injection q as <-. split; auto. exists k. split; auto. split; [lia|].
        intros e' q q'. pose proof (instr_there _ _ q'). pose proof (later u q H0). lia.
      * apply (x_free C).
      * intros v q. apply (y_held (cells_passed h Logic.I) q).
  - (* UL_rmw *) apply does_at_once; [unfold instr_guard; rewrite gone; reflexivity|reflexivity|].
    apply (cells_pass h Logic.I).
    + apply (cells_locks C); [|apply (x_free C)|apply (y_held C)]. intros w v q. discriminate q.
    + intros w v q. discriminate q.
    + intros v q. destruct (y_held C q) as [_ q']. revert q'. apply holding_later.
      intros e' q'. apply (no_other h q'). discriminate.
Qed.
Lemma flush_instr r : instr_at u k = Some (FLU_L1 r) -> does now u (FLU_L1 r) None s.
Proof.
  intro h. apply does_at_once; [unfold instr_guard; rewrite gone; reflexivity|reflexivity|].
  pose proof (@cells_flush (S now) _ _ _ _ (cells_passed h Logic.I) u k r h) as q.
  assert (same : wg_of P u = u) by (destruct u as [|[|]]; auto; lia).
  unfold cells_of, instr_effect. simpl. rewrite same. apply q; auto.
  intros w m z s1 [= -> ->]. destruct (stored_instr _ _ s1) as (v&f&[q'|q']); congruence.
Qed.
Lemma invalidate_instr r : instr_at u k = Some (INV_L1 r) -> does now u (INV_L1 r) None s.
Proof.
  intro h. assert (same : wg_of P u = u) by (destruct u as [|[|]]; auto; lia).
  split; [unfold instr_guard; rewrite gone; reflexivity|]. split; [reflexivity|]. intro th.
  pose proof (cells_passed h Logic.I) as C'. unfold cells_of in C'.
  set (s1 := with_thread _ _ _).
  assert (V : L1 s1 = fun w => if reaches r u w then inval_all (L1 s w) else L1 s w).
  { unfold s1. simpl. rewrite same. reflexivity. }
  assert (B : inc1 b = true -> F 0 < S now -> S now <= T 0 at_b ->
    VALID (L1 s1 0) y = true /\ data (L1 s1 0) y = 0).
  { intros i q q'. rewrite V. destruct (reaches r u 0) eqn:rr; [|apply (b_fetched C'); auto].
    exfalso. destruct (b_fetches H i) as (_&_&f). destruct (f u k); [exists r; auto|lia|lia]. }
  assert (B' : inc2 c = false -> F 1 < S now -> S now <= T 1 at_c ->
    VALID (L1 s1 1) y = true /\ data (L1 s1 1) y = 1).
  { intros i q q'. rewrite V. destruct (reaches r u 1) eqn:rr; [|apply (c_fetched C'); auto].
    exfalso. destruct (c_fetches H i) as (_&_&_&f). destruct (f u k); [exists r; auto|lia|lia]. }
  assert (same_data : forall w, data (L1 s1 w) = data (L1 s w)).
  { intro w. rewrite V. destruct (reaches r u w); auto. }
  assert (rest : forall w, DIRTY (L1 s1 w) = DIRTY (L1 s w) /\ fifo (L1 s1 w) = fifo (L1 s w)).
  { intro w. rewrite V. destruct (reaches r u w); auto. }
  destruct (reaches r u 1) eqn:rr; [destruct (le_lt_dec (A 0 x) now) as [n|n]|].
  - (* Thread 1 has ended. *) exists s1. split; [apply goes_nowhere|]. split; [reflexivity|].
    apply (cells_valid C'); auto; [rewrite same_data; auto|]. intro q. exfalso.
    destruct (x_is_late H (u := u) (k := k)); [exists r; auto|lia|lia].
  - (* x is fetched again. *)
    assert (clean : DIRTY (L1 s1 1) x = false).
    { destruct (rest 1) as [-> _]. destruct (DIRTY (L1 s 1) x) eqn:d; auto.
      destruct (dirty C x d) as (m&q&_); [lia|discriminate]. }
    exists (effect s1 (FETCH_L1 1 x)). split; [|split; [reflexivity|]].
    { apply one_step; auto.
      change (negb (DIRTY (L1 s1 1) x) && VALID (L2 s) x &&
        ready_group (wg_of P) (lock s x) 1 = true).
      rewrite clean, (L2_valid C), (x_free C). reflexivity. }
    apply (cells_valid C').
    + intro w. destruct (rest w) as [r1 r2]. simpl.
      destruct (Nat.eq_dec w 1) as [->|]; split; assumption.
    + exact (f_equal (fun d => d y) (same_data 0)).
    + intros _. split; [reflexivity|]. apply (x_unseen C). lia.
    + exact B.
    + intros i q q'. destruct (B' i q q') as [q1 q2]. split; [exact q1|exact q2].
  - exists s1. split; [apply goes_nowhere|]. split; [reflexivity|].
    apply (cells_valid C'); auto; [rewrite same_data; auto|]. rewrite V, rr. apply (x_fetched C').
Qed.
End Executed.

(** The four accesses. *)
Section Accesses.
Variables (now : nat) (s : state).
Hypothesis C : cells_of now s.
Hypothesis N : nobody_waits now (L1 s).

Lemma incs_free u k : inc (if u =? 0 then b else c) = true -> u < 2 -> T u k = now ->
  k = (if u =? 0 then at_b else at_c) -> ready (rmw_lock s u) u = true.
Proof.
  intros i l e ->. destruct (incs_excluded H) as [h1 h2].
  refine (proj1 (@free_for u u (rmw_lock s u) LK_rmw UL_rmw now
    (fun v => rmw_held C u (u := v)) l _ eq_refl)).
  destruct u as [|[|u]]; simpl in *; [rewrite <- e; auto|rewrite <- e; auto|lia].
Qed.
Lemma lock_free u k : inc2 (if u =? 0 then b else c) = true -> u < 2 -> T u k = now ->
  k = (if u =? 0 then at_b else at_c) -> ready (lock s y) u = true.
Proof.
  intros i l e ->. destruct (inc2_excluded H) as [h1 h2].
  refine (proj1 (@free_for u u (lock s y) _ _ now (y_held C) l _ eq_refl)).
  destruct u as [|[|u]]; simpl in *; [rewrite <- e; auto|rewrite <- e; auto|lia].
Qed.
Lemma b_does : T 0 at_b = now -> unmarked (wgs P) s 0 = true ->
  does now 0 (instr_of x zero (on y 1 b) (access b)) (delivers 0 (access b)) s.
Proof.
  intros e gone.
  assert (U : no_unlock now).
  { apply (@not_unlocking now 0 at_b s ltac:(lia) e gone _ b_instr);
      destruct b_row as [[q _]|[[q|q] _]];
      rewrite q; discriminate. }
  destruct b_row as [[q r]|[[q|q] r]]; rewrite q; apply does_at_once.
  - unfold instr_guard. rewrite gone. reflexivity.
  - reflexivity.
  - assert (e1 : Thm1.stored x zero (on y 1 b) = 1).
    { unfold Thm1.stored, on, kind_of. simpl. rewrite r. reflexivity. }
    unfold cells_of, instr_of. rewrite e1. apply (cells_store C (m := at_b)); auto.
    simpl. unfold inc2. rewrite q. reflexivity.
  - unfold instr_guard. rewrite gone. destruct (b_fetches H) as (f&_); [unfold inc1; rewrite q;
      auto|].
    destruct (b_fetched C) as [v _]; [unfold inc1; rewrite q; auto|lia|lia|].
    change (ready (rmw_lock s 0) 0 && VALID (L1 s 0) y = true).
    apply andb_true_iff. split; [|exact v]. apply (@incs_free 0 at_b); auto.
    simpl. unfold inc. rewrite q. reflexivity.
  - destruct (b_fetches H) as (f&_); [unfold inc1; rewrite q; auto|].
    destruct (b_fetched C) as [_ v]; [unfold inc1; rewrite q; auto|lia|lia|].
    change (Some (data (L1 s 0) y) = Some 0). rewrite v. reflexivity.
  - destruct (b_fetches H) as (f&_); [unfold inc1; rewrite q; auto|].
    destruct (b_fetched C) as [_ v]; [unfold inc1; rewrite q; auto|lia|lia|].
    assert (e1 : update (on y 1 b) (data (L1 s 0) y) = 1).
    { rewrite v. unfold update, on, kind_of. simpl. rewrite r. reflexivity. }
    unfold cells_of, instr_of.
    change (cells (S now) (fun w' => if Nat.eq_dec w' 0
      then store place_dec (L1 s w') y (update (on y 1 b) (data (L1 s 0) y)) else L1 s w')
      (L2 s) (lock s) (rmw_lock s)).
    rewrite e1. apply (cells_store C (m := at_b)); auto. simpl. unfold inc2. rewrite q. reflexivity.
  - assert (d : DIRTY (L1 s 0) y = false).
    { destruct (DIRTY (L1 s 0) y) eqn:d; auto. destruct (dirty C y d) as (m&h&_); [lia|].
      simpl in h. unfold inc2 in h. rewrite q in h. discriminate. }
    unfold instr_guard. rewrite gone.
    change (ready (rmw_lock s 0) 0 && negb (DIRTY (L1 s 0) y) && ready (lock s y) 0 &&
      VALID (L2 s) y = true).
    rewrite d, (L2_valid C), (@lock_free 0 at_b), (@incs_free 0 at_b); auto;
      simpl; unfold inc, inc2; rewrite q; reflexivity.
  - change (Some (data (L2 s) y) = Some 0). rewrite (y_before C); auto.
    unfold b_arrives, inc2. rewrite q. lia.
  - assert (d : data (L2 s) y = 0).
    { apply (y_before C). unfold b_arrives, inc2. rewrite q. lia. }
    assert (e1 : update (on y 1 b) (data (L2 s) y) = 1).
    { rewrite d. unfold update, on, kind_of. simpl. rewrite r. reflexivity. }
    change (cells (S now) (fun w' => if Nat.eq_dec w' 0 then inval place_dec (L1 s w') y else L1 s
      w')
      (store place_dec (inval place_dec (L2 s) y) y (update (on y 1 b) (data (L2 s) y)))
      (lock s) (rmw_lock s)).
    rewrite e1. apply cells_at_L2; auto. left. unfold inc2. rewrite q. auto.
Qed.
Lemma c_does : T 1 at_c = now -> unmarked (wgs P) s 1 = true ->
  does now 1 (instr_of x zero (on y 2 c) (access c)) (delivers 1 (access c)) s.
Proof.
  intros e gone. pose proof (c_gets_b H) as after.
  assert (U : no_unlock now).
  { apply (@not_unlocking now 1 at_c s ltac:(lia) e gone _ c_instr);
      destruct c_row as [[q _]|[[q|q] _]];
      rewrite q; discriminate. }
  assert (v : inc2 c = false -> VALID (L1 s 1) y = true /\ data (L1 s 1) y = 1).
  { intro i. destruct (c_fetches H i) as (_&f&_). apply (c_fetched C); auto; lia. }
  destruct c_row as [[q r]|[[q|q] r]]; rewrite q; apply does_at_once.
  - unfold instr_guard. rewrite gone. apply v. unfold inc2. rewrite q. reflexivity.
  - change (Some (data (L1 s 1) y) = Some 1). f_equal. apply v. unfold inc2. rewrite q. reflexivity.
  - apply (@cells_passed now 1 at_c s C ltac:(lia) e gone N (LD y)); [|exact Logic.I].
    rewrite c_instr, q. reflexivity.
  - unfold instr_guard. rewrite gone.
    change (ready (rmw_lock s 1) 1 && VALID (L1 s 1) y = true). apply andb_true_iff. split.
    + apply (@incs_free 1 at_c); auto. simpl. unfold inc. rewrite q. reflexivity.
    + apply v. unfold inc2. rewrite q. reflexivity.
  - change (Some (data (L1 s 1) y) = Some 1). f_equal. apply v. unfold inc2. rewrite q. reflexivity.
  - apply (cells_store C (m := at_c)); auto; [|discriminate]. simpl. unfold inc1. rewrite q.
    reflexivity.
  - assert (d : DIRTY (L1 s 1) y = false).
    { destruct (DIRTY (L1 s 1) y) eqn:d; auto. destruct (dirty C y d) as (m&h&_); [lia|].
      simpl in h. unfold inc1 in h. rewrite q in h. discriminate. }
    unfold instr_guard. rewrite gone.
    change (ready (rmw_lock s 1) 1 && negb (DIRTY (L1 s 1) y) && ready (lock s y) 1 &&
      VALID (L2 s) y = true).
    rewrite d, (L2_valid C), (@lock_free 1 at_c), (@incs_free 1 at_c); auto;
      simpl; unfold inc, inc2; rewrite q; reflexivity.
  - change (Some (data (L2 s) y) = Some 1). rewrite (y_arrived C); auto; lia.
  - apply cells_at_L2; auto. right. unfold inc2. rewrite q. auto.
Qed.
Lemma x_stored : T 0 0 = now -> unmarked (wgs P) s 0 = true -> does now 0 (ST x 1) None s.
Proof.
  intros e gone. apply does_at_once; [unfold instr_guard; rewrite gone; reflexivity|reflexivity|].
  apply (cells_store C (m := 0)); auto.
  apply (@not_unlocking now 0 0 s ltac:(auto) e gone (ST x 1));
    [reflexivity|discriminate|discriminate].
Qed.
Lemma x_loaded : T 1 at_load = now -> instr_at 1 at_load = Some (LD x) ->
  unmarked (wgs P) s 1 = true -> does now 1 (LD x) (Some 0) s.
Proof.
  intros e h gone. destruct (x_fetched C) as [v d]; [lia|].
  apply does_at_once; [unfold instr_guard; rewrite gone; exact v|exact (f_equal Some d)|].
  apply (@cells_passed now 1 at_load s C ltac:(lia) e gone N (LD x)); [exact h|exact Logic.I].
Qed.
End Accesses.

Lemma runs now u k i d s : nth_error (prog u) k = Some (i, d) -> T u k = now -> cells_of now s ->
  unmarked (wgs P) s u = true -> nobody_waits now (L1 s) -> does now u i d s.
Proof.
  intros h e C gone N. assert (h' : instr_at u k = Some i) by (unfold instr_at; rewrite h; auto).
  destruct (code_at _ _ h) as [(->&->&->&->)|[(j&a&->&->&q&->&->)|[(a&->&q&->&->)|(->&->&->&->)]]].
  - apply x_stored; auto.
  - destruct (is_acc a) eqn:ac.
    + destruct (b_access _ q ac) as [-> <-]. apply b_does; auto.
    + destruct a; try discriminate ac;
        [eapply flush_instr|eapply invalidate_instr|eapply lock_instr..]; eauto; exact Logic.I.
  - destruct (is_acc a) eqn:ac.
    + destruct (c_access _ q ac) as [-> <-]. apply c_does; auto.
    + destruct a; try discriminate ac;
        [eapply flush_instr|eapply invalidate_instr|eapply lock_instr..]; eauto; exact Logic.I.
  - apply x_loaded; auto.
Qed.

(** ** One moment after the other *)
Record reached now (s : state) ans : Prop := {
  right_cells : cells_of now s;
  thread_0_waits : exists k, waiting now 0 (threads s 0) k;
  thread_1_waits : exists k, waiting now 1 (threads s 1) k /\
    ans ++ delivered (skipn k (prog 1)) = [1; 0] }.

Definition moments := map (Run 0) (seq 0 (length (prog 0))) ++
  map (Run 1) (seq 0 (length (prog 1))) ++
  [Arrive 0 x; Arrive 0 y; Arrive 1 y; Fetch 0; Fetch 1].
Lemma moments_all m : is_moment m -> In m moments.
Proof.
  unfold moments. rewrite !in_app_iff. destruct m as [u k|w z|w].
  - destruct u as [|[|u]]; intro h; [left|right; left|destruct k; simpl in h; lia];
      apply in_map, in_seq; simpl in *; lia.
  - destruct w as [|[|w]], z; simpl; tauto.
  - destruct w as [|[|w]]; simpl; tauto.
Qed.
Lemma moments_are m : In m moments -> is_moment m.
Proof.
  unfold moments. rewrite !in_app_iff, !in_map_iff.
  intros [(k&<-&h)|[(k&<-&h)|h]]; [apply in_seq in h; simpl in *; lia..|].
  destruct h as [<-|[<-|[<-|[<-|[<-|[]]]]]]; exact Logic.I.
Qed.
Lemma moment_or_none now :
  (exists m, is_moment m /\ time m = now) \/ (forall m, is_moment m -> time m <> now).
Proof.
  destruct (existsb (fun m => time m =? now) moments) eqn:q.
  - left. apply existsb_exists in q as (m&h&q). apply Nat.eqb_eq in q. exists m.
    split; auto. apply moments_are. exact h.
  - right. intros m h e. apply moments_all in h.
    assert (q' : existsb (fun m => time m =? now) moments = true); [|congruence].
    apply existsb_exists. exists m. split; auto. apply Nat.eqb_eq. exact e.
Qed.

Lemma wait_on now u th k : (forall i, i < length (prog u) -> T u i <> now) ->
  waiting now u th k -> waiting (S now) u th k.
Proof.
  intros ne (h1&h2&h3&h4). split; [exact h1|]. split; [exact h2|]. split.
  - intros i l. specialize (h3 i l). lia.
  - intros i l l'. specialize (h4 i l l'). specialize (ne i l'). lia.
Qed.
Lemma environment now s s' ans : reached now s ans -> (forall u k, is_moment (Run u k) ->
  T u k <> now) ->
  goes s s' [] -> threads s' = threads s -> cells_of (S now) s' ->
  exists s' a, goes s s' a /\ reached (S now) s' (ans ++ a).
Proof.
  intros [C (k0&h0) (k1&h1&an)] ne g e C'. exists s', []. split; auto. rewrite app_nil_r.
  split; auto; rewrite e.
  - exists k0. apply wait_on; auto.
  - exists k1. split; auto. apply wait_on; auto.
Qed.

(** What is not executed is done by the environment. *)
Lemma group_free now s w z : cells_of now s -> w < 2 -> (z = y -> ~ holding_L2 (1 - w) now) ->
  ready_group (wg_of P) (lock s z) w = true.
Proof.
  intros C l h. destruct z; [rewrite (x_free C); reflexivity|].
  exact (proj2 (@free_for w w (lock s y) _ _ now (y_held C) l (h eq_refl) eq_refl)).
Qed.
Lemma passes now s m : cells_of now s -> time m = now -> is_moment m ->
  match m with Run _ _ => False | _ => True end ->
  exists s', goes s s' [] /\ threads s' = threads s /\ cells_of (S now) s'.
Proof.
  intros C e I r.
  assert (D : forall m', is_moment m' -> m <> m' -> time m' <> now) by (intros;
    apply (@not_now m); auto).
  assert (U : no_unlock now).
  { intros u k q. assert (J : is_moment (Run u k)) by (destruct q as [q|q];
      apply (instr_there _ _ q)).
    apply (D (Run u k) J). intros ->. exact r. }
  assert (N : nobody_waits now (L1 s)).
  { intros w u k _ _ q. apply (D (Run u (S k)) q). intros ->. exact r. }
  assert (Db : T 0 at_b <> now) by (apply (D (Run 0 at_b) b_there); intros ->; exact r).
  assert (other : (forall w z, w < 2 -> DIRTY (L1 s w) z = true -> A w z <> now) ->
    b_arrives <> now -> (inc1 b = true -> F 0 <> now) -> (inc2 c = false -> F 1 <> now) ->
    exists s', goes s s' [] /\ threads s' = threads s /\ cells_of (S now) s').
  { intros h1 h2 h3 h4. exists s. split; [apply goes_nowhere|]. split; auto.
    apply (cells_later C); auto. }
  destruct m as [u k|w z|w]; [destruct r| |].
  - assert (l : w < 2) by (destruct w as [|[|w]]; [lia|lia|destruct I]).
    destruct (DIRTY (L1 s w) z) eqn:d.
    + exists (effect s (FLUSH_L1 w z)). split; [|split; [reflexivity|]].
      * apply one_step; auto. simpl. rewrite d. apply (@group_free now s w z C l). intros ->.
        destruct (dirty C y d l) as (m&s1&_). rewrite <- e. apply (arrivals_unlocked H s1).
      * apply (cells_arrive C e I d U N).
    + apply other.
      * intros w' z' l' d'. pose proof (D (Arrive w' z')) as q. simpl in q. apply q.
        { destruct (dirty C z' d' l') as (m&s1&_). apply (stored_there _ _ s1). }
        intros [= -> ->]. congruence.
      * unfold b_arrives. destruct (inc2 b) eqn:i; auto. intro q.
        assert (Arrive w z = Arrive 0 y) as [= -> ->].
        { apply (apart H); auto; try exact Logic.I; simpl in *; congruence. }
        destruct (b_stored C i); [|lia|congruence].
        rewrite <- q. apply (arrives_later H 0 y). simpl. rewrite i. reflexivity.
      * intros _. apply (D (Fetch 0) Logic.I). discriminate.
      * intros _. apply (D (Fetch 1) Logic.I). discriminate.
  - assert (l : w < 2) by (destruct w as [|[|w]]; [lia|lia|destruct I]).
    destruct (if w =? 0 then inc1 b else negb (inc2 c)) eqn:used.
    + assert (f : DIRTY (L1 s w) y = false /\ ~ holding_L2 (1 - w) now).
      { simpl in e. destruct w as [|[|w]]; [| |lia]; simpl in used.
        - destruct (b_fetches H used) as (f1&f2&_). split; [|rewrite <- e; exact f2].
          destruct (DIRTY (L1 s 0) y) eqn:d; auto. destruct (dirty C y d) as (m&s1&s2&_); auto.
          simpl in s1. destruct (inc2 b); [discriminate|]. injection s1 as <-. lia.
        - apply negb_true_iff in used. destruct (c_fetches H used) as (_&f1&f2&_).
          split; [|rewrite <- e; exact f2].
          destruct (DIRTY (L1 s 1) y) eqn:d; auto. destruct (dirty C y d) as (m&s1&s2&_); auto.
          simpl in s1. destruct (inc1 c); [|discriminate]. injection s1 as <-. lia. }
      destruct f as [f1 f2]. exists (effect s (FETCH_L1 w y)). split; [|split; [reflexivity|]].
      * apply one_step; auto. simpl. unfold clean. rewrite f1, (L2_valid C). simpl.
        apply (@group_free now s w y C l). auto.
      * apply (cells_fetch C e I U N).
        { intros ->. exact used. }
        { intros ->. apply negb_true_iff. exact used. }
    + apply other.
      * intros w' z' l' d'. pose proof (D (Arrive w' z')) as q. simpl in q. apply q.
        { destruct (dirty C z' d' l') as (m&s1&_). apply (stored_there _ _ s1). }
        discriminate.
      * unfold b_arrives. destruct (inc2 b) eqn:i; auto. apply (D (Arrive 0 y) Logic.I).
        discriminate.
      * intro i. apply (D (Fetch 0) Logic.I). intros [= ->]. simpl in used. congruence.
      * intro i. apply (D (Fetch 1) Logic.I). intros [= ->]. simpl in used. rewrite i in used.
        discriminate.
Qed.
Lemma passes_nothing now s : cells_of now s -> (forall m, is_moment m -> time m <> now) ->
  cells_of (S now) s.
Proof.
  intros C D. apply (cells_later C).
  - intros u k q. assert (J : is_moment (Run u k)) by (destruct q as [q|q];
      apply (instr_there _ _ q)).
    apply (D (Run u k) J).
  - intros w u k _ _ q. apply (D (Run u (S k)) q).
  - intros w z l d. destruct (dirty C z d l) as (m&s1&_).
    apply (D (Arrive w z)). apply (stored_there _ _ s1).
  - intros _. apply (D (Run 0 at_b) b_there).
  - unfold b_arrives. destruct (inc2 b); [apply (D (Run 0 at_b) b_there)|].
    apply (D (Arrive 0 y) Logic.I).
  - intros _. apply (D (Fetch 0) Logic.I).
  - intros _. apply (D (Fetch 1) Logic.I).
Qed.

(** An instruction, after its thread's markers have left. *)
Lemma skipn_next (B : Type) (l : list B) k a : nth_error l k = Some a ->
  skipn k l = a :: skipn (S k) l.
Proof.
  revert k. induction l as [|e l IH]; intros [|k] h; try discriminate.
  { injection h as ->. reflexivity. }
  exact (IH k h).
Qed.
Lemma no_marker_in u (f : cache nat place) : ~ In (Marker u) (fifo f) -> no_marker u f = true.
Proof.
  intro h. apply forallb_forall. intros [z|v] i; auto.
  destruct (Nat.eq_dec v u) as [->|]; auto.
Qed.
Lemma unmarked_now now s u k : cells_of now s -> is_moment (Run u k) -> T u k = now ->
  exists s', goes s s' [] /\ threads s' = threads s /\ cells_of now s' /\
    unmarked (wgs P) s' u = true /\ nobody_waits now (L1 s').
Proof.
  intros C I e.
  destruct (@drain 0 now ltac:(lia) _ s eq_refl C) as (s1&g1&h1&C1&d1&_).
  destruct (@drain 1 now ltac:(lia) _ s1 eq_refl C1) as (s2&g2&h2&C2&d2&o2).
  assert (d0 : head_dirty s2 0) by (unfold head_dirty; rewrite (o2 0) by lia; exact d1).
  assert (M : forall w, w < 2 -> ~ In (Marker u) (fifo (L1 s2 w))).
  { intros w l. apply (@marker_gone now s2 w u k); auto. destruct w as [|[|w]]; auto. lia. }
  exists s2. split; [exact (goes_on g1 g2)|]. split; [congruence|]. split; [exact C2|]. split.
  - unfold unmarked, wgs. simpl. rewrite !no_marker_in; auto. apply (L2_unmarked C2).
  - intros w u' k' l i q. pose proof (@not_now (Run u k) (Run u' (S k')) now e I q) as ne.
    simpl in ne. apply ne. intros [= <- _]. apply (M w l i).
Qed.
Lemma answers_exec s u i d l : upcoming (threads s u) ((i, d) :: l) -> u < 2 ->
  match i with ST _ _ => u = 0 | _ => True end ->
  instr_guard s u i = true -> snd (instr_effect s u i) = d -> exists th, upcoming th l /\
  goes s (with_thread (fst (instr_effect s u i)) u th)
    (if u =? 1 then match d with Some v => [v] | None => [] end else []).
Proof.
  intros (th&h1&h2) l0 st g <-. exists (deliver th (snd (instr_effect s u i))). split; auto.
  exists [Exec u]. simpl. rewrite h1, g. split; [auto|].
  destruct (instr_effect s u i) as [s' d] eqn:q. split; [reflexivity|].
  destruct (Nat.eq_dec u 1) as [->|ne].
  - simpl. rewrite app_nil_r, h1. destruct i; try discriminate st; rewrite q; reflexivity.
  - destruct (Nat.eqb_spec u 1); [contradiction|reflexivity].
Qed.
Lemma tick now s ans : reached now s ans ->
  exists s' a, goes s s' a /\ reached (S now) s' (ans ++ a).
Proof.
  intro B. pose proof (right_cells B) as C. destruct (moment_or_none now) as [(m&I&e)|none].
  2:{ apply (@environment now s s ans B); auto;
      [intros u k J; exact (none _ J)|apply goes_nowhere|].
      apply passes_nothing; auto. }
  assert (env : match m with Run _ _ => False | _ => True end ->
    exists s' a, goes s s' a /\ reached (S now) s' (ans ++ a)).
  { intro r. destruct (@passes now s m C e I r) as (s'&g&h&C').
    apply (@environment now s s' ans B); auto.
    intros u k J. apply (@not_now m (Run u k)); auto. intros ->. exact r. }
  destruct m as [u k|w z|w]; [clear env|apply env; exact Logic.I..]. simpl in e, I.
  destruct (unmarked_now C I e) as (s1&g1&h1&C1&free&N).
  destruct (nth_error (prog u) k) as [[i d]|] eqn:at_k.
  2:{ apply nth_error_None in at_k. lia. }
  assert (sk : skipn k (prog u) = (i, d) :: skipn (S k) (prog u)) by exact (skipn_next _ _ at_k).
  assert (l : u < 2) by (destruct u as [|[|u]]; [lia|lia|simpl in I; lia]).
  destruct (runs at_k e C1 free N) as (guarded&gives&then_).
  (* The thread has come to this instruction. *)
  assert (here : forall th k', waiting now u th k' -> k' = k).
  { intros th k' (_&_&w3&w4). destruct (lt_eq_lt_dec k' k) as [[q|q]|q]; auto.
    - specialize (w4 k' ltac:(lia)). pose proof (later u q I). lia.
    - specialize (w3 k q). lia. }
  assert (goes_further : forall th, waiting now u th k ->
    forall th', upcoming th' (skipn (S k) (prog u)) ->
    waiting (S now) u th' (S k)).
  { intros th (_&_&w3&w4) th' up. split; [lia|]. split; [exact up|]. split.
    - intros j q. destruct (Nat.eq_dec j k) as [->|n]; [lia|]. specialize (w3 j ltac:(lia)). lia.
    - intros j q q'. pose proof (later u (k := k) (j := j)). lia. }
  assert (waits : forall u' th k', u' <> u -> waiting now u' th k' -> waiting (S now) u' th k').
  { intros u' th k' ne. apply wait_on. intros j q. apply (@not_now (Run u k) (Run u' j)); auto.
    congruence. }
  destruct (thread_0_waits B) as (k0&w0). destruct (thread_1_waits B) as (k1&w1&an).
  assert (up : upcoming (threads s1 u) ((i, d) :: skipn (S k) (prog u))).
  { rewrite h1. refine (eq_ind _ (upcoming _) _ _ sk). destruct u as [|[|u]]; [| |lia].
    - rewrite <- (here _ _ w0). apply w0.
    - rewrite <- (here _ _ w1). apply w1. }
  assert (st : match i with ST _ _ => u = 0 | _ => True end).
  { destruct i; auto. destruct (code_at _ _ at_k) as
      [(->&_)|[(j&a&->&_)|[(a&->&q&q'&_)|(_&_&q&_)]]]; auto.
    - destruct c_row as [[r _]|[[r|r] _]]; destruct a; try discriminate q';
        destruct (c_access _ q eq_refl) as [_ q1]; congruence.
    - discriminate. }
  destruct (@answers_exec s1 u i d _ up l st guarded gives) as (th&up'&g2).
  destruct (then_ th) as (s2&g3&h3&C3).
  exists s2, (if u =? 1 then match d with Some v => [v] | None => [] end else []).
  split.
  { pose proof (goes_on g1 (goes_on g2 g3)) as g. rewrite app_nil_r in g. exact g. }
  assert (t_u : threads s2 u = th).
  { rewrite h3. simpl. unfold setn. destruct (Nat.eq_dec u u); tauto. }
  assert (t_o : forall u', u' <> u -> threads s2 u' = threads s u').
  { intros u' ne. rewrite h3, <- h1. simpl. unfold setn. destruct (Nat.eq_dec u' u);
      [contradiction|].
    destruct i; reflexivity. }
  split; [exact C3| |].
  - destruct u as [|u].
    + exists (S k). rewrite t_u. rewrite (here _ _ w0) in w0. apply (goes_further _ w0). exact up'.
    + exists k0. rewrite t_o by lia. apply waits; [lia|exact w0].
  - destruct u as [|[|u]]; [| |lia].
    + exists k1. rewrite t_o by lia. split; [apply waits; [lia|exact w1]|]. simpl.
      rewrite app_nil_r.
      exact an.
    + pose proof (here _ _ w1) as q. subst k1. exists (S k). rewrite t_u.
      split; [apply (goes_further _ w1); exact up'|].
      assert (an' := eq_ind _ (fun l => ans ++ delivered l = [1; 0]) an _ sk).
      rewrite <- app_assoc. exact an'.
Qed.
Lemma ticks n s : reached 0 s [] -> exists s' a, goes s s' a /\ reached n s' a.
Proof.
  intro B. induction n as [|n (s1&a&g&B1)].
  - exists s, []. split; [apply goes_nowhere|exact B].
  - destruct (tick B1) as (s2&a2&g2&B2). exists s2, (a ++ a2). split; auto. apply (goes_on g g2).
Qed.

(** At first the L2 has both locations, and the L1 of thread 1 has x. *)
Lemma begun : exists s, goes start s [] /\ reached 0 s [].
Proof.
  pose (run := [FETCH_L2 x; FETCH_L2 y; FETCH_L1 1 x]).
  exists (last_state place_dec x zero P start run). split.
  { exists run. repeat split. }
  split.
  - split; try (intros; discriminate); try (intros; lia); try tauto.
    + intros [|[|w]] z q l; [discriminate q..|lia].
    + intros []; reflexivity.
    + intros [|[|w]] z m q l; [destruct q|destruct q|lia].
    + intros [|[|w]] pre u post q l; [destruct pre; discriminate..|lia].
  - exists 0. split; [lia|]. split; [exact thread_0|]. split; intros; lia.
  - exists 0. split; [|exact all_delivered]. split; [lia|]. split; [exact thread_1|].
    split; intros; lia.
Qed.
(** In the end all of L2 is written to memory. *)
Lemma flushed_L2 s z : exists s', goes s s' [] /\ threads s' = threads s /\ L1 s' = L1 s /\
  DIRTY (L2 s') z = false /\ forall z', DIRTY (L2 s) z' = false -> DIRTY (L2 s') z' = false.
Proof.
  destruct (DIRTY (L2 s) z) eqn:d.
  - exists (effect s (FLUSH_L2 z)). split; [|split; [reflexivity|split; [reflexivity|]]].
    + apply one_step; auto. simpl. rewrite d. reflexivity.
    + simpl. unfold set. split; [destruct (place_dec z z); tauto|].
      intros z' q. destruct (place_dec z' z); auto.
  - exists s. split; [apply goes_nowhere|]. auto.
Qed.

Theorem scheduled : exists run, completes place_dec places x zero P t run = true /\
  answers_from place_dec x zero P start run 1 = [1; 0].
Proof.
  pose (n := S (list_max (map time moments))).
  assert (past : forall m, is_moment m -> time m < n).
  { intros m h. apply moments_all in h. unfold n.
    pose proof (proj1 (list_max_le (map time moments) _) (le_n _)) as q. rewrite Forall_forall in q.
    specialize (q (time m) (in_map time _ _ h)). lia. }
  destruct begun as (s0&g0&B0). destruct (ticks n B0) as (s1&a&g1&B1).
  destruct (flushed_L2 s1 x) as (s2&g2&h2&L&d2&_). destruct (flushed_L2 s2 y) as
    (s3&g3&h3&L'&d3&k3).
  destruct (goes_on g0 (goes_on g1 (goes_on g2 g3))) as (run&r1&r2&r3). exists run.
  destruct (thread_0_waits B1) as (k0&w1&w2&w3&w4). destruct (thread_1_waits B1) as (k1&v1&an).
  assert (end_of : forall u th k, waiting n u th k -> skipn k (prog u) = [] /\
    next (zero x) th = None).
  { intros u th k (q1&q2&_&q4). assert (e : k = length (prog u)).
    { destruct (Nat.eq_dec k (length (prog u))) as [e|e]; auto.
      assert (I : is_moment (Run u k)) by (unfold is_moment; lia).
      specialize (q4 k (le_n k) I). specialize (past _ I). simpl in past. lia. }
    subst k. rewrite skipn_all in q2. split; [apply skipn_all|exact q2]. }
  destruct (end_of 0 (threads s1 0) k0) as [_ e0]; [split; auto|].
  destruct (end_of 1 (threads s1 1) k1 v1) as [s1' e1].
  split.
  - unfold completes. rewrite r1, r2. simpl. unfold has_ended. rewrite h3, h2, e0, e1.
    unfold is_clean. simpl. rewrite d3, (k3 x d2), L', L.
    assert (D : forall w z, w < 2 -> DIRTY (L1 s1 w) z = false).
    { intros w z l. destruct (DIRTY (L1 s1 w) z) eqn:d; auto.
      destruct (dirty (right_cells B1) z d l) as (m&q1&_&q2).
      destruct (stored_there _ _ q1) as [_ J]. specialize (past _ J). simpl in past. lia. }
    rewrite !D by lia. reflexivity.
  - rewrite r3. simpl. rewrite !app_nil_r. rewrite s1' in an. simpl in an.
    rewrite app_nil_r in an. exact an.
Qed.
End Schedule.
