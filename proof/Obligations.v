(** * The obligations SYNC and ATOM of a table, and [check], which decides them

    They are those of docs/proof.md, What the table must show.  An obligation is shown if its facts,
    which say that it is broken, contradict each other.  Check.v proves [check] right. *)
Require Import List Arith Bool Thm1 Refuter.
Import ListNotations.
Set Implicit Arguments.

(** ** Rows *)
Definition writes r := match row_kind r with OLoad => false | _ => true end.
Definition reads r := match row_kind r with OStore => false | _ => true end.

(** The access of a row, and its place. *)
Definition is_acc i := match i with Ld | St | Inc_L1 | Inc_L2 => true | _ => false end.
Fixpoint pos_acc cs := match cs with
  | [] => 0
  | c :: cs => if is_acc c then 0 else S (pos_acc cs)
  end.
Definition pos r := pos_acc (code r).
Definition access r := nth (pos r) (code r) Ul_rmw.
Definition inc2 r := match access r with Inc_L2 => true | _ => false end.
Definition inc1 r := match access r with Inc_L1 => true | _ => false end.
Definition inc r := match access r with Inc_L1 | Inc_L2 => true | _ => false end.
Definition one_access r := (length (filter is_acc (code r)) =? 1) &&
  match row_kind r, access r with
  | OLoad, Ld | OStore, St | ORmw, Inc_L1 | ORmw, Inc_L2 => true
  | _, _ => false
  end.

(** Whether atomic operations of different work-groups of one device are inclusive. *)
Definition big s := match s with Some DV | Some ALL => true | _ => false end.
Definition atomic r := match row_scope r with None => false | _ => true end.
Definition incl_rows b c :=
  (big (row_scope b) && big (row_scope c)) ||
  (row_remote b && big (row_scope b)) ||
  (row_remote c && big (row_scope c)).

(** The places of some instructions; those that reach the L1 of the own work-group, or another. *)
Fixpoint places_of (f : ins -> bool) cs i : list nat := match cs with
  | [] => []
  | c :: cs => if f c then i :: places_of f cs (S i) else places_of f cs (S i)
  end.
Definition flushes own c := match c with Flu to_DV => true | Flu to_WG => own | _ => false end.
Definition invalidates own c := match c with Inv to_DV => true | Inv to_WG => own | _ => false end.

(** ** Locks *)

(** The intervals in which a lock is held: from the first LK to the next UL, or to the end. *)
Inductive mark := Instr (i : nat) | ToEnd.
Fixpoint intervals (lk ul : ins -> bool) cs i (cur : option nat) : list (nat * mark) :=
  match cs with
  | [] => match cur with Some f => [(f, ToEnd)] | None => [] end
  | c :: cs =>
      if lk c then intervals lk ul cs (S i) (match cur with None => Some i | _ => cur end)
      else if ul c then match cur with
        | Some f => (f, Instr i) :: intervals lk ul cs (S i) None
        | None => intervals lk ul cs (S i) None
        end
      else intervals lk ul cs (S i) cur
  end.
(** Nobody frees a lock that he does not hold. *)
Fixpoint bracketed (lk ul : ins -> bool) cs (cur : bool) := match cs with
  | [] => true
  | c :: cs =>
      if lk c then bracketed lk ul cs true
      else if ul c then cur && bracketed lk ul cs false
      else bracketed lk ul cs cur
  end.
Definition takes_rmw c := match c with Lk_rmw => true | _ => false end.
Definition frees_rmw c := match c with Ul_rmw => true | _ => false end.
Definition takes_L2 c := match c with Lk_L2 => true | _ => false end.
Definition frees_L2 c := match c with Ul_L2 => true | _ => false end.
Definition rmw_intervals r := intervals takes_rmw frees_rmw (code r) 0 None.
Definition L2_intervals r := intervals takes_L2 frees_L2 (code r) 0 None.
Definition bracketed_rmw (t : table) :=
  forallb (fun r => bracketed takes_rmw frees_rmw (code r) false) t.
Definition bracketed_L2 (t : table) :=
  forallb (fun r => bracketed takes_L2 frees_L2 (code r) false) t.

(** ** Moments of two operations, by numbers

    Of each operation, the first one if [o] is false: its start, its end, its arrival, and what a
    look goes back to; of instruction [i], when it is executed and when its markers have left. *)
Definition second (o : bool) := if o then 1 else 0.
Definition at_start o := second o.
Definition at_end o := 2 + second o.
Definition at_arrival o := 4 + second o.
Definition at_look o := 6 + second o.
Definition at_agreement := 8.
Definition at_instr o i := 9 + (i * 4 + second o).
Definition at_left o i := 9 + (i * 4 + (2 + second o)).
Definition at_mark o m := match m with Instr i => at_instr o i | ToEnd => at_end o end.
Definition size b c := 9 + 4 * max (length (code b)) (length (code c)).

(** ** What is known of every two operations *)

(** The code is executed in order; a next instruction waits for the markers. *)
Fixpoint code_order o cs i prev : list lit := match cs with
  | [] => [(prev, true, at_end o)]
  | c :: cs => (prev, true, at_instr o i) :: match c with
      | Flu _ => (at_instr o i, true, at_left o i) :: code_order o cs (S i) (at_left o i)
      | _ => code_order o cs (S i) (at_instr o i)
      end
  end.
(** What is written at the L2 arrives at once, what is stored in an L1 later. *)
Definition arrival_facts o r : list lit :=
  let p := at_instr o (pos r) in
  if writes r
  then if inc2 r
    then [(at_arrival o, false, p); (p, false, at_arrival o)]
    else [(p, true, at_arrival o)]
  else [].
Definition pts o (l : list nat) := map (fun i => (at_instr o i, at_left o i)) l.
Definition flush_points o r own := pts o (places_of (flushes own) (code r) 0).
Definition inv_points o r own := map (at_instr o) (places_of (invalidates own) (code r) 0).
(** Locks keep others out, as far as nobody frees what he does not hold. *)
Definition outside p o (h : nat * mark) : clause :=
  [(p, false, at_instr o (fst h)); (at_mark o (snd h), false, p)].
Definition exclusive (h h' : nat * mark) : clause :=
  [(at_mark false (snd h), false, at_instr true (fst h'));
   (at_mark true (snd h'), false, at_instr false (fst h))].
Definition lock_clauses (lr lx : bool) b c : list clause :=
  (if lr
   then flat_map (fun h => map (exclusive h) (rmw_intervals c)) (rmw_intervals b) ++
     (if inc c then map (outside (at_instr true (pos c)) false) (rmw_intervals b) else []) ++
     (if inc b then map (outside (at_instr false (pos b)) true) (rmw_intervals c) else [])
   else []) ++
  (if lx
   then flat_map (fun h => map (exclusive h) (L2_intervals c)) (L2_intervals b) ++
     (if writes c then map (outside (at_arrival true) false) (L2_intervals b) else []) ++
     (if writes b then map (outside (at_arrival false) true) (L2_intervals c) else [])
   else []).
(** What was written at [w], before a flush, arrives at [a], before its markers have left. *)
Definition drained w a (fl : list (nat * nat)) : list clause :=
  map (fun p => [(fst p, false, w); (a, true, snd p)]) fl.
Definition pair_facts lr lx b c : list lit * list clause :=
  (code_order false (code b) 0 (at_start false) ++ code_order true (code c) 0 (at_start true) ++
     arrival_facts false b ++ arrival_facts true c,
   lock_clauses lr lx b c).

(** ** SYNC(b, c)

    [g] is when the L1 of [c] got [b] or newer; no INV of [c]'s L1 comes when all has arrived that
    [b]'s work-group had in reach. *)
Definition sync_ok lr lx b c :=
  let '(fs, cs) := pair_facts lr lx b c in
  let g := at_look false in
  let p := at_instr true (pos c) in
  let fl := flush_points false b true ++ flush_points true c false in
  contra (size b c)
    ((at_arrival false, true, g) :: (g, false, p) ::
     (if inc2 c then [(p, false, g)] else []) ++ fs)
    (cs ++
     (if lx then map (outside g false) (L2_intervals b) else []) ++
     drained (at_instr false (pos b)) (at_arrival false) fl ++
     flat_map (fun j => map (fun q =>
         [(at_end true, false, j); (j, true, at_start false);
          (fst q, true, at_start false); (j, true, snd q)]) fl)
       (inv_points true c true ++ inv_points false b false)).

(** ** SYNC(b, c) of a table in which every look in an L1 comes after an invalidation of it

    All has arrived, when [c] ends, that [b]'s work-group had in reach when [b] began. *)
Definition looks_afresh r :=
  negb (reads r) || inc2 r || existsb (invalidates true) (firstn (pos r) (code r)).
Definition sync_afresh_ok lr lx b c :=
  let '(fs, cs) := pair_facts lr lx b c in
  let g := at_look false in
  let p := at_instr true (pos c) in
  let fl := flush_points false b true ++ flush_points true c false in
  contra (size b c)
    ((at_arrival false, true, g) :: (g, false, p) ::
     (if inc2 c then [(p, false, g)] else []) ++ fs)
    (cs ++
     (if lx then map (outside g false) (L2_intervals b) else []) ++
     drained (at_instr false (pos b)) (at_arrival false) fl ++
     map (fun q => [(fst q, true, at_start false); (at_end true, true, snd q)]) fl).

(** ** ATOM(b, u)

    If [b] is an Inc_L1, and the first of the stores that it arrives with, its L1 had got the
    location from the L2, or given it to the L2, and no INV has come since. *)
Definition agreement_facts b : list lit :=
  if inc1 b then [(at_agreement, false, at_instr false (pos b))] else [].
Definition agreement_clauses (lx : bool) b u : list clause :=
  if inc1 b
  then (if lx then map (outside at_agreement true) (L2_intervals u) else []) ++
    map (fun i => [(i, false, at_agreement); (at_instr false (pos b), false, i)])
      (inv_points false b true ++ inv_points true u false)
  else [].
Definition atom_base lr lx b u :=
  let '(fs, cs) := pair_facts lr lx b u in
  ((at_arrival false, true, at_arrival true) :: agreement_facts b ++ fs,
   agreement_clauses lx b u ++ cs ++
   drained (at_instr false (pos b)) (at_arrival false)
     (flush_points false b true ++ flush_points true u false) ++
   drained (at_instr true (pos u)) (at_arrival true)
     (flush_points true u true ++ flush_points false b false)).
(** [u] reads a store of its own work-group, made at the first [at_look], which arrives at the
    second.  It has left before u, or it leaves together with u, so after b. *)
Definition atom_own lr lx b u :=
  let '(fs, cs) := atom_base lr lx b u in
  let p := at_instr true (pos u) in
  contra (size b u)
    ((at_look false, true, p) :: (at_look true, false, at_arrival true) ::
     (at_look false, true, at_look true) :: (at_look true, false, at_arrival false) ::
     (at_look true, false, p) :: fs)
    (cs ++
     (if lx then map (outside (at_look true) false) (L2_intervals b) else []) ++
     drained (at_look false) (at_look true)
       (flush_points true u true ++ flush_points false b false) ++
     map (fun i => [(i, false, at_look false); (p, false, i)])
       (inv_points true u true ++ inv_points false b false)).
(** [u] reads what was fetched. *)
Definition atom_ft lr lx b u :=
  let '(fs, cs) := atom_base lr lx b u in
  let p := at_instr true (pos u) in
  contra (size b u)
    ((at_look false, true, p) :: (at_look false, false, at_arrival false) :: fs)
    (cs ++
     (if lx then map (outside (at_look false) false) (L2_intervals b) else []) ++
     map (fun i => [(i, false, at_look false); (p, false, i)])
       (inv_points true u true ++ inv_points false b false)).
Definition atom_ok lr lx b u := inc2 u || (atom_own lr lx b u && atom_ft lr lx b u).

(** ** The whole table *)
Definition isrmw r := writes r && reads r.
Definition check_pair (sync : bool -> bool -> row -> row -> bool) lr lx b c :=
  negb (atomic b && atomic c && incl_rows b c && writes b) ||
  ((negb (reads c) || sync lr lx b c) && (negb (isrmw c) || atom_ok lr lx b c)).
(** Every row has one access, and all obligations hold; those of SYNC, one way or the other. *)
Definition check_by sync (t : table) :=
  let lr := bracketed_rmw t in
  let lx := bracketed_L2 t in
  forallb one_access t && forallb (fun b => forallb (check_pair sync lr lx b) t) t.
Definition check := check_by sync_ok.
Definition check_afresh t := forallb looks_afresh t && check_by sync_afresh_ok t.
(** The obligations that do not hold. *)
Inductive obligation := SYNC (b c : row) | ATOM (b u : row).
Definition broken (t : table) : list obligation :=
  let lr := bracketed_rmw t in
  let lx := bracketed_L2 t in
  flat_map (fun b => flat_map (fun c =>
    if atomic b && atomic c && incl_rows b c && writes b then
      (if reads c && negb (sync_ok lr lx b c) then [SYNC b c] else []) ++
      (if isrmw c && negb (atom_ok lr lx b c) then [ATOM b c] else [])
    else []) t) t.

(** ** Tab. 3 *)
Definition plain_and_wg op c :=
  [Row op None false c; Row op (Some WG) false c; Row op (Some WG) true c].
Definition wg_rows op c := [Row op (Some WG) false c; Row op (Some WG) true c].
Definition device_row op rm c := [Row op (Some DV) rm c].
Definition proposed : table :=
  plain_and_wg OLoad [Ld] ++
  device_row OLoad false [Ld; Inv to_WG] ++
  device_row OLoad true [Ld; Flu to_DV; Inv to_WG] ++
  plain_and_wg OStore [St] ++
  device_row OStore false [Flu to_WG; St] ++
  device_row OStore true [Lk_rmw; Flu to_DV; Inv to_DV; St; Flu to_WG; Inv to_DV; Ul_rmw] ++
  wg_rows ORmw [Inc_L1] ++
  device_row ORmw false [Flu to_WG; Inc_L2; Inv to_WG] ++
  device_row ORmw true [Lk_rmw; Flu to_DV; Inv to_DV; Inc_L2; Flu to_DV; Inv to_DV; Ul_rmw].
Definition original : table :=
  plain_and_wg OLoad [Ld] ++
  device_row OLoad false [Inv to_WG; Ld] ++
  device_row OLoad true [Lk_L2; Flu to_DV; Inv to_WG; Ld; Ul_L2] ++
  plain_and_wg OStore [St] ++
  device_row OStore false [Flu to_WG; St] ++
  device_row OStore true [Lk_L2; Flu to_WG; St; Inv to_DV; Ul_L2] ++
  wg_rows ORmw [Inc_L1] ++
  device_row ORmw false [Flu to_WG; Inv to_WG; Inc_L2] ++
  device_row ORmw true
    [Lk_rmw; Lk_L2; Flu to_DV; Inv to_WG; Inc_L2; Inv to_DV; Ul_L2; Ul_rmw].
