(** * Dead ends

    A run is a dead end if no complete run goes on from it.  So it is if its last state is
    [deadlocked]: each thread that has not ended waits for a lock that another holds, or for an
    entry that such a lock keeps from being flushed or fetched.  That is computed. *)
Require Import List Arith Bool Lia Thm1 Steps Orderly.
Import ListNotations.
Set Implicit Arguments.

Section Deadlock.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Variable t : table.
Notation unset := (initial nowhere).
Notation groups := (wgs P).
Notation wg := (wg_of P).
Notation effect := (effect loc_dec wg unset).
Notation guard := (guard loc_dec groups wg unset).
Notation first := (first nowhere initial P t).
Notation enabled := (enabled loc_dec nowhere initial P).
Notation last_state := (last_state loc_dec nowhere initial P).
Implicit Types (s : state Val Loc) (run : list (step Loc)).

(** ** 1. What the environment does not change *)

(** An entry that is DIRTY, or not VALID, while a thread of another work-group has it locked. *)
Definition locked_out s w y := negb (ready_group wg (lock s y) w).
Definition not_flushed s w y := DIRTY (L1 s w) y && locked_out s w y.
Definition not_fetched s w y := negb (VALID (L1 s w) y) && locked_out s w y.
(** A marker behind an entry that is not flushed. *)
Definition is_mark u (e : element Loc) := match e with Marker v => v =? u | _ => false end.
Fixpoint behind (shut : Loc -> bool) u (l : list (element Loc)) := match l with
  | [] => false
  | Entry y :: q => shut y && existsb (is_mark u) q || behind shut u q
  | Marker _ :: q => behind shut u q
  end.
Definition marker_kept s u w := behind (not_flushed s w) u (fifo (L1 s w)).

Definition waits_for_ever s u (j : instr Val Loc) :=
  existsb (marker_kept s u) groups || match j with
  | LD x => not_fetched s (wg u) x
  | RMW_L1 x _ => negb (ready (rmw_lock s (wg u)) u) || not_fetched s (wg u) x
  | RMW_L2 x _ =>
      negb (ready (rmw_lock s (wg u)) u) || not_flushed s (wg u) x || negb (ready (lock s x) u)
  | LK_L2 x => negb (ready (lock s x) u)
  | LK_rmw => negb (forallb (fun w => ready (rmw_lock s w) u) groups)
  | _ => false
  end.
Definition has_stopped s u :=
  match next unset (threads s u) with Some (j, _) => waits_for_ever s u j | None => true end.
Definition deadlocked s := forallb (has_stopped s) (seq 0 (length P)) &&
  existsb (fun u => negb (has_ended nowhere initial s u)) (seq 0 (length P)).

Lemma behind_marks (shut : Loc -> bool) u l :
  behind shut u l = true -> existsb (is_mark u) l = true.
Proof.
  induction l as [|[y|v] l IH]; simpl; auto; intro b.
  - apply orb_prop in b as [b|b]; auto. apply andb_prop in b as [_ b]. exact b.
  - rewrite IH by exact b. apply orb_true_r.
Qed.
Lemma marked_waits s u w : In w groups -> existsb (is_mark u) (fifo (L1 s w)) = true ->
  unmarked groups s u = false.
Proof.
  intros iw m. destruct (unmarked groups s u) eqn:U; auto. exfalso.
  apply andb_prop in U as [U _]. rewrite forallb_forall in U. specialize (U w iw).
  unfold no_marker in U. rewrite forallb_forall in U. apply existsb_exists in m as ([y|v]&i&m);
    [discriminate|]. specialize (U _ i). simpl in U, m. apply Nat.eqb_eq in m.
  destruct (Nat.eq_dec v u); congruence.
Qed.
Lemma waits s u j : waits_for_ever s u j = true -> instr_guard groups wg s u j = false.
Proof.
  intro b. unfold instr_guard. apply orb_prop in b as [b|b].
  - apply existsb_exists in b as (w&iw&b). rewrite (@marked_waits s u w iw (behind_marks _ _ _ b)).
    auto.
  - apply andb_false_intro2. unfold not_fetched, not_flushed, clean in *.
    destruct j; try discriminate b;
      repeat (apply orb_prop in b as [b|b]); try (apply andb_prop in b as [b _]);
      try (apply negb_true_iff in b); rewrite ?b; simpl; rewrite ?andb_false_r; auto.
Qed.

(** Steps of the environment, where entries are not flushed or fetched. *)
Definition of_caches (l : step Loc) := match l with Exec _ => False | _ => True end.
Lemma same_locks s l : of_caches l -> lock (effect s l) = lock s /\
  rmw_lock (effect s l) = rmw_lock s /\ threads (effect s l) = threads s.
Proof. destruct l; simpl; tauto. Qed.
Lemma stays_dirty s l w y : of_caches l -> guard s l = true -> not_flushed s w y = true ->
  not_flushed (effect s l) w y = true.
Proof.
  intros e g b. unfold not_flushed, locked_out in *. destruct (same_locks s l e) as (->&_).
  apply andb_prop in b as [d o]. rewrite o, andb_true_r.
  destruct l as [v|v x|v x|v x|x|x|x|v x|v z|x|z];
    [destruct e|..]; simpl in *; auto; destruct (Nat.eq_dec w v); simpl; auto.
  subst v. unfold set. destruct (loc_dec y x); auto. subst x. apply negb_true_iff in o.
  rewrite o, andb_false_r in g. discriminate.
Qed.
Lemma stays_invalid s l w y : of_caches l -> guard s l = true -> not_fetched s w y = true ->
  not_fetched (effect s l) w y = true.
Proof.
  intros e g b. unfold not_fetched, locked_out in *. destruct (same_locks s l e) as (->&_).
  apply andb_prop in b as [d o]. rewrite o, andb_true_r.
  destruct l as [v|v x|v x|v x|x|x|x|v x|v z|x|z];
    [destruct e|..]; simpl in *; auto; destruct (Nat.eq_dec w v); simpl; auto;
    subst v; unfold set; destruct (loc_dec y x); auto. subst x. apply negb_true_iff in o.
  rewrite o, andb_false_r in g. discriminate.
Qed.
Lemma behind_more (f g : Loc -> bool) u l : (forall y, f y = true -> g y = true) ->
  behind f u l = true -> behind g u l = true.
Proof.
  intro m. induction l as [|[y|v] l IH]; simpl; auto. intro b. apply orb_prop in b as [b|b].
  - apply andb_prop in b as [b1 b2]. rewrite (m y b1), b2. auto.
  - rewrite IH by exact b. apply orb_true_r.
Qed.
Lemma marker_stays s l u w : of_caches l -> guard s l = true -> marker_kept s u w = true ->
  marker_kept (effect s l) u w = true.
Proof.
  intros e g b. unfold marker_kept in *.
  apply (behind_more (not_flushed s w)); [intros y d; apply stays_dirty; auto|].
  destruct l as [v|v x|v x|v x|x|x|x|v x|v z|x|z]; [destruct e|..]; simpl in *; auto;
    destruct (Nat.eq_dec w v); simpl; auto; subst v; unfold oldest, clean in g;
    destruct (fifo (L1 s w)) as [|[y|m] q]; simpl in *; auto; try discriminate.
  apply orb_prop in b as [b|b]; auto. apply andb_prop in b as [b _]. apply andb_prop in b as [b _].
  destruct (loc_dec y x); [subst|discriminate]. rewrite b in g. discriminate.
Qed.
Lemma waits_on s l u j : of_caches l -> guard s l = true -> waits_for_ever s u j = true ->
  waits_for_ever (effect s l) u j = true.
Proof.
  intros e g b. pose proof (same_locks s l e) as (L&R&_). unfold waits_for_ever in *.
  apply orb_true_iff in b as [b|b]; apply orb_true_iff; [left|right].
  - apply existsb_exists in b as (w&iw&b). apply existsb_exists. exists w. split; auto.
    apply marker_stays; auto.
  - rewrite L, R. destruct j; auto; rewrite ?orb_true_iff in *.
    + apply stays_invalid; auto.
    + destruct b as [b|b]; auto. right. apply stays_invalid; auto.
    + destruct b as [[b|b]|b]; auto. left. right. apply stays_dirty; auto.
Qed.

(** ** 2. A deadlock is a dead end *)

Definition dead_end run := can_run loc_dec nowhere initial P t run /\
  forall more, ~ run_of loc_dec nowhere initial P t (run ++ more).

Definition no_others s := forall u, length P <= u -> threads s u = threads first u.
Lemma nobody_executes s u : no_others s -> deadlocked s = true -> guard s (Exec u) = false.
Proof.
  intros O D. simpl. destruct (next unset (threads s u)) as [[j th]|] eqn:N; auto.
  apply andb_prop in D as [D _]. rewrite forallb_forall in D.
  destruct (le_lt_dec (length P) u) as [k|k].
  - rewrite (O u k) in N. unfold Steps.first, start, next, compiled, thread_of in N. simpl in N.
    rewrite nth_overflow in N; auto. discriminate.
  - specialize (D u). rewrite in_seq in D. unfold has_stopped in D. rewrite N in D.
    apply waits, D. lia.
Qed.
Lemma deadlock_stays s l : no_others s -> deadlocked s = true -> guard s l = true ->
  no_others (effect s l) /\ deadlocked (effect s l) = true.
Proof.
  intros O D g. assert (e : of_caches l).
  { destruct l; simpl; auto. rewrite nobody_executes in g; auto. discriminate. }
  destruct (same_locks s l e) as (_&_&T). split; [intros u k; rewrite T; auto|].
  unfold deadlocked, has_stopped, has_ended in *. rewrite T. apply andb_prop in D as [D E].
  rewrite E, andb_true_r. rewrite forallb_forall in *. intros u i. specialize (D u i).
  destruct (next unset (threads s u)) as [[j th]|]; auto. apply waits_on; auto.
Qed.
Lemma no_end more : forall s, no_others s -> deadlocked s = true -> enabled s more = true ->
  ~ finished unset (last_state s more).
Proof.
  induction more as [|l more IH]; intros s O D E F.
  - apply andb_prop in D as [_ D]. apply existsb_exists in D as (u&_&D).
    unfold has_ended in D. destruct F as [F _]. specialize (F u). simpl in F. rewrite F in D.
    discriminate.
  - apply andb_prop in E as [g E]. destruct (deadlock_stays l O D g) as [O' D'].
    exact (IH _ O' D' E F).
Qed.

Definition leads_to_deadlock run := enabled first run && deadlocked (last_state first run).
Theorem deadlock_is_dead_end run : leads_to_deadlock run = true -> dead_end run.
Proof.
  intro h. apply andb_prop in h as [E D]. split.
  - unfold can_run. apply (is_enabled loc_dec nowhere initial P t). exact E.
  - intros more [A F]. apply (is_enabled loc_dec nowhere initial P t) in A.
    rewrite enabled_app, E in A. rewrite (last_state_at loc_dec nowhere initial P t), last_app in F.
    refine (no_end more _ D A F). clear. unfold no_others.
    enough (H : forall s, (forall u, length P <= u -> threads s u = threads first u) ->
      forall u, length P <= u -> threads (last_state s run) u = threads first u) by auto.
    induction run as [|l run IH]; auto. intros s O. apply IH. intros u k.
    apply (@thread_stays _ _ loc_dec nowhere initial P t); auto.
Qed.
End Deadlock.
