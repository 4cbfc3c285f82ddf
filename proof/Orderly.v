(** * Progress: what is stated

    A table is [live] if no state that a compiled program can reach is a dead end: some complete run
    goes on from there.  It [ends_fairly] if in each infinite run that is strongly fair all threads
    are at their ends, and nothing is DIRTY, from some time on.  [orderly] computes on rows, and is
    enough for both: Progress.v and Fair.v prove

      [Theorem progress : forall t : table, orderly t = true -> live t.]
      [Theorem fair_runs_end : forall t : table, orderly t = true -> ends_fairly t.]

    It is the lock order of textbooks: rows free the locks that they take; who holds the inner of
    the two kinds waits for no other's lock, and who holds the outer kind for none of that kind.  A
    flush waits for every location. *)
Require Import List Arith Bool Thm1.
Import ListNotations.
Set Implicit Arguments.

(** ** Orderly tables *)

(** What a thread holds at a place of a row: the rmw locks, and the lock of the row's location. *)
Record held := Held { rmw_held : bool; lock_held : bool }.
Definition nothing := Held false false.
Definition holding (h : held) i := match i with
  | Lk_rmw => Held true (lock_held h)
  | Ul_rmw => Held false (lock_held h)
  | Lk_L2 => Held (rmw_held h) true
  | Ul_L2 => Held (rmw_held h) false
  | _ => h
  end.
(** It frees no lock of another thread. *)
Definition frees_own (h : held) i := match i with
  | Ul_rmw => rmw_held h
  | Ul_L2 => lock_held h
  | _ => true
  end.

(** Which instructions wait for the rmw locks; which for the lock of their location, be it for an
    entry to be flushed or fetched. *)
Definition wants_rmw i := match i with Inc_L1 | Inc_L2 | Lk_rmw => true | _ => false end.
Definition wants_lock i := match i with Ld | Inc_L1 | Inc_L2 | Lk_L2 => true | _ => false end.

(** The inner kind of lock, and what a thread may do then while it holds [h].
    - That of locations: who holds one, and not the rmw locks, waits for nothing that others hold.
      Who holds both does not flush other L1s, as an entry of this location could not leave them.
    - The rmw locks: who holds them waits for no location that others may have locked.  Nobody
      flushes while he holds anything. *)
Inductive kind_of_lock := Of_location | Of_rmw.
Definition may inner (h : held) i := match inner, i with
  | Of_location, Flu to_DV => negb (lock_held h)
  | Of_location, Flu to_WG => negb (lock_held h) || rmw_held h
  | Of_location, _ => negb (wants_rmw i) || negb (lock_held h) || rmw_held h
  | Of_rmw, Flu _ => negb (lock_held h) && negb (rmw_held h)
  | Of_rmw, _ => negb (wants_lock i) || negb (rmw_held h) || lock_held h
  end.

(** So is all of a code that begins with [h] held; nothing is held after it. *)
Fixpoint orderly_from inner (h : held) (c : list ins) := match c with
  | [] => negb (rmw_held h) && negb (lock_held h)
  | i :: c => may inner h i && frees_own h i && orderly_from inner (holding h i) c
  end.
Definition orderly_row inner (r : row) :=
  match code r with [] => false | c => orderly_from inner nothing c end.
Definition orderly_by inner (t : table) := forallb (orderly_row inner) t.
Definition orderly (t : table) := orderly_by Of_location t || orderly_by Of_rmw t.

(** ** Live tables *)

(** Each step of a run is allowed where it is taken: the first half of [complete_run]. *)
Definition can_run (Val Loc : Type) (loc_dec : forall x y : Loc, {x = y} + {x <> y})
  (nowhere : Loc) (initial : Loc -> Val) (P : program Val Loc) (t : table)
  (run : list (step Loc)) :=
  let state_after := state_at loc_dec (wg_of P) (initial nowhere) initial
    (compiled nowhere initial P t) run in
  forall n, n < length run ->
    guard loc_dec (wgs P) (wg_of P) (initial nowhere) (state_after n) (nth_step run n) = true.

Definition live (t : table) := forall (Val Loc : Type)
  (loc_dec : forall x y : Loc, {x = y} + {x <> y}) (locations : list Loc) (nowhere : Loc)
  (initial : Loc -> Val) (P : program Val Loc) (run : list (step Loc)),
  (forall x, In x locations) -> has_rows P t -> can_run loc_dec nowhere initial P t run ->
  exists more, run_of loc_dec nowhere initial P t (run ++ more).

(** ** Fair runs *)

Section Fair_runs.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Variable t : table.
Notation unset := (initial nowhere).

(** An infinite run: its step at each time, and the state after [n] steps. *)
Variable steps : nat -> step Loc.
Fixpoint state_after n := match n with
  | 0 => start unset initial (compiled nowhere initial P t)
  | S k => effect loc_dec (wg_of P) unset (state_after k) (steps k)
  end.
Definition allowed_at n l := guard loc_dec (wgs P) (wg_of P) unset (state_after n) l = true.
Definition infinitely_often (p : nat -> Prop) := forall m, exists n, m <= n /\ p n.
Definition eventually (p : nat -> Prop) := exists m, forall n, m <= n -> p n.

(** The L1s are those of the work-groups of the program; the machine has more, without threads. *)
Definition of_program (l : step Loc) := match l with
  | FLUSH_L1 w _ | FETCH_L1 w _ | EVICT_L1 w _ | DEQLOC_L1 w _ | DEQMARKER_L1 w _ => In w (wgs P)
  | _ => True
  end.
(** Strong fairness: a step, of these caches or threads, that is allowed infinitely often is taken
    infinitely often.  Weak fairness is not enough: an entry may be evicted after each fetch, so
    that its load is never allowed for long. *)
Definition strongly_fair := forall l, of_program l ->
  infinitely_often (fun n => allowed_at n l) -> infinitely_often (fun n => steps n = l).
Definition fair_run := (forall n, allowed_at n (steps n)) /\ strongly_fair.
End Fair_runs.

Definition ends_fairly (t : table) := forall (Val Loc : Type)
  (loc_dec : forall x y : Loc, {x = y} + {x <> y}) (locations : list Loc) (nowhere : Loc)
  (initial : Loc -> Val) (P : program Val Loc) (steps : nat -> step Loc),
  let state_at_time := state_after loc_dec nowhere initial P t steps in
  (forall x, In x locations) -> has_rows P t -> fair_run loc_dec nowhere initial P t steps ->
  eventually (fun n => finished (initial nowhere) (state_at_time n)).
