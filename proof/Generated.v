(** Written by `rspverify show rsp --format rocq` from the machine's file. *)
Require Import List Bool Arith Thm1.
Import ListNotations.
Set Implicit Arguments.
Set Asymmetric Patterns.

Section Definitions.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable groups : list nat.
Variable wg : nat -> nat.
Variable unset : Val.
Notation state := (state Val Loc).
Notation step := (step Loc).
Definition is_loc (x y : Loc) := if loc_dec x y then true else false.
Definition is_group (u w : nat) := if Nat.eq_dec u w then true else false.

(** When a step may happen. *)
Definition gen_instr_guard (s : state) t (i : instr Val Loc) :=
  forallb (fun w' => no_marker t (L1 s w')) groups && no_marker t (L2 s) && match i with
  | LD x => (VALID (L1 s (wg t)) x)
  | ST x v => true
  | RMW_L1 x f => ready (rmw_lock s (wg t)) t && (VALID (L1 s (wg t)) x)
  | RMW_L2 x f => ready (rmw_lock s (wg t)) t && negb (DIRTY (L1 s (wg t)) x) && ready (lock s x) t && (VALID (L2 s) x)
  | FLU_L1 r => true
  | FLU_L2 => true
  | INV_L1 r => true
  | LK_L2 x => ready (lock s x) t
  | UL_L2 x => true
  | LK_rmw => forallb (fun w' => ready (rmw_lock s w') t) groups
  | UL_rmw => true
  end.
Definition gen_guard (s : state) (l : step) := match l with
  | Exec t => match next unset (threads s t) with
    Some (i, _) => gen_instr_guard s t i | None => false end
  | FLUSH_L1 w x => (DIRTY (L1 s w) x) && ready_group wg (lock s x) w
  | FETCH_L1 w x => negb (DIRTY (L1 s w) x) && (VALID (L2 s) x) && ready_group wg (lock s x) w
  | EVICT_L1 w x => (present (L1 s w) x) && negb (DIRTY (L1 s w) x)
  | FLUSH_L2 x => (DIRTY (L2 s) x) && ready_device (lock s x)
  | FETCH_L2 x => negb (DIRTY (L2 s) x) && ready_device (lock s x)
  | EVICT_L2 x => (present (L2 s) x) && negb (DIRTY (L2 s) x) && ready_device (lock s x)
  | DEQLOC_L1 w x => is_entry loc_dec (oldest (L1 s w)) x && negb (DIRTY (L1 s w) x)
  | DEQMARKER_L1 w t => is_marker (oldest (L1 s w)) t
  | DEQLOC_L2 x => is_entry loc_dec (oldest (L2 s)) x && negb (DIRTY (L2 s) x)
  | DEQMARKER_L2 t => is_marker (oldest (L2 s)) t
  end.

(** What each cell has after a step; what an instruction reads. *)
Definition gen_memory (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | _ => memory s y
    end | None => memory s y end
  | FLUSH_L2 x => if is_loc y x then data (L2 s) x else memory s y
  | _ => memory s y
  end.
Definition gen_lock (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | LK_L2 x => if is_loc y x then Some t else lock s y
    | UL_L2 x => if is_loc y x then None else lock s y
    | _ => lock s y
    end | None => lock s y end
  | _ => lock s y
  end.
Definition gen_L2_data (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | RMW_L2 x f => if is_loc y x then f (data (L2 s) x) else data (L2 s) y
    | _ => data (L2 s) y
    end | None => data (L2 s) y end
  | FLUSH_L1 w x => if is_loc y x then data (L1 s w) x else data (L2 s) y
  | FETCH_L2 x => if is_loc y x then memory s x else data (L2 s) y
  | _ => data (L2 s) y
  end.
Definition gen_L2_DIRTY (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | RMW_L2 x f => if is_loc y x then true else DIRTY (L2 s) y
    | _ => DIRTY (L2 s) y
    end | None => DIRTY (L2 s) y end
  | FLUSH_L1 w x => if is_loc y x then true else DIRTY (L2 s) y
  | FLUSH_L2 x => if is_loc y x then false else DIRTY (L2 s) y
  | _ => DIRTY (L2 s) y
  end.
Definition gen_L2_VALID (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | RMW_L2 x f => if is_loc y x then true else if is_loc y x then false else VALID (L2 s) y
    | _ => VALID (L2 s) y
    end | None => VALID (L2 s) y end
  | FLUSH_L1 w x => if is_loc y x then true else if is_loc y x then false else VALID (L2 s) y
  | FETCH_L2 x => if is_loc y x then true else VALID (L2 s) y
  | EVICT_L2 x => if is_loc y x then false else VALID (L2 s) y
  | _ => VALID (L2 s) y
  end.
Definition gen_L2_present (s : state) (l : step) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | RMW_L2 x f => if is_loc y x then true else present (L2 s) y
    | _ => present (L2 s) y
    end | None => present (L2 s) y end
  | FLUSH_L1 w x => if is_loc y x then true else present (L2 s) y
  | FETCH_L2 x => if is_loc y x then true else present (L2 s) y
  | EVICT_L2 x => if is_loc y x then false else present (L2 s) y
  | _ => present (L2 s) y
  end.
Definition gen_L2_fifo (s : state) (l : step) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | RMW_L2 x f => (fifo (L2 s)) ++ [Entry x]
    | FLU_L2 => (fifo (L2 s)) ++ [Marker t]
    | _ => fifo (L2 s)
    end | None => fifo (L2 s) end
  | FLUSH_L1 w x => (fifo (L2 s)) ++ [Entry x]
  | DEQLOC_L2 x => tl (fifo (L2 s))
  | DEQMARKER_L2 t => tl (fifo (L2 s))
  | _ => fifo (L2 s)
  end.
Definition gen_rmw (s : state) (l : step) (w' : nat) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | LK_rmw => Some t
    | UL_rmw => None
    | _ => rmw_lock s w'
    end | None => rmw_lock s w' end
  | _ => rmw_lock s w'
  end.
Definition gen_L1_data (s : state) (l : step) (w' : nat) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | ST x v => if is_group w' (wg t) && is_loc y x then v else data (L1 s w') y
    | RMW_L1 x f => if is_group w' (wg t) && is_loc y x then f (data (L1 s (wg t)) x) else data (L1 s w') y
    | _ => data (L1 s w') y
    end | None => data (L1 s w') y end
  | FETCH_L1 w x => if is_group w' w && is_loc y x then data (L2 s) x else data (L1 s w') y
  | _ => data (L1 s w') y
  end.
Definition gen_L1_DIRTY (s : state) (l : step) (w' : nat) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | ST x v => if is_group w' (wg t) && is_loc y x then true else DIRTY (L1 s w') y
    | RMW_L1 x f => if is_group w' (wg t) && is_loc y x then true else DIRTY (L1 s w') y
    | _ => DIRTY (L1 s w') y
    end | None => DIRTY (L1 s w') y end
  | FLUSH_L1 w x => if is_group w' w && is_loc y x then false else DIRTY (L1 s w') y
  | _ => DIRTY (L1 s w') y
  end.
Definition gen_L1_VALID (s : state) (l : step) (w' : nat) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | ST x v => if is_group w' (wg t) && is_loc y x then true else VALID (L1 s w') y
    | RMW_L1 x f => if is_group w' (wg t) && is_loc y x then true else VALID (L1 s w') y
    | RMW_L2 x f => if is_group w' (wg t) && is_loc y x then false else VALID (L1 s w') y
    | INV_L1 r => if reaches r (wg t) w' then false else VALID (L1 s w') y
    | _ => VALID (L1 s w') y
    end | None => VALID (L1 s w') y end
  | FETCH_L1 w x => if is_group w' w && is_loc y x then true else VALID (L1 s w') y
  | EVICT_L1 w x => if is_group w' w && is_loc y x then false else VALID (L1 s w') y
  | _ => VALID (L1 s w') y
  end.
Definition gen_L1_present (s : state) (l : step) (w' : nat) (y : Loc) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | ST x v => if is_group w' (wg t) && is_loc y x then true else present (L1 s w') y
    | RMW_L1 x f => if is_group w' (wg t) && is_loc y x then true else present (L1 s w') y
    | _ => present (L1 s w') y
    end | None => present (L1 s w') y end
  | FETCH_L1 w x => if is_group w' w && is_loc y x then true else present (L1 s w') y
  | EVICT_L1 w x => if is_group w' w && is_loc y x then false else present (L1 s w') y
  | _ => present (L1 s w') y
  end.
Definition gen_L1_fifo (s : state) (l : step) (w' : nat) := match l with
  | Exec t => match next unset (threads s t) with Some (i, _) => match i with
    | ST x v => if is_group w' (wg t) then (fifo (L1 s w')) ++ [Entry x] else fifo (L1 s w')
    | RMW_L1 x f => if is_group w' (wg t) then (fifo (L1 s w')) ++ [Entry x] else fifo (L1 s w')
    | FLU_L1 r => if reaches r (wg t) w' then (fifo (L1 s w')) ++ [Marker t] else fifo (L1 s w')
    | _ => fifo (L1 s w')
    end | None => fifo (L1 s w') end
  | DEQLOC_L1 w x => if is_group w' w then tl (fifo (L1 s w')) else fifo (L1 s w')
  | DEQMARKER_L1 w t => if is_group w' w then tl (fifo (L1 s w')) else fifo (L1 s w')
  | _ => fifo (L1 s w')
  end.
Definition gen_read (s : state) t (i : instr Val Loc) : option Val := match i with
  | LD x => Some (data (L1 s (wg t)) x)
  | RMW_L1 x f => Some (data (L1 s (wg t)) x)
  | RMW_L2 x f => Some (data (L2 s) x)
  | _ => None
  end.

(** When a run may end, besides that each thread has executed all. *)
Definition gen_finished (s : state) := (forall w y, DIRTY (L1 s w) y = false) /\ (forall y, DIRTY (L2 s) y = false).
End Definitions.
