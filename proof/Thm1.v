(** * Thm. 1, for any table: what is stated

    A table says into which instructions an operation of the source language is compiled.  It is
    _sound_ if, for every program, each complete run of the compiled program on the machine has an
    outcome that the language allows; or the program has a data race, and then anything is allowed.
    [sound], at the end of this file, says so.  Proved.v proves

      [Theorem thm1 : forall t : table, check t = true -> sound t.]

    This file imports nothing but the standard library.  It has all definitions that one has to
    read: programs, the model (Fig. 2), the machine (Fig. 3, Tabs 1 and 2), tables, compilation. *)

Require Import List Arith Bool Relations.
Import ListNotations.
Set Implicit Arguments.

(** ** 1. Programs *)

Inductive scope := WG | DV | ALL.          (* work-group, device, all devices: here there is one *)

Record graph (E : Type) := Graph {
  events : E -> Prop;
  rf : E -> E -> Prop;                     (* a write, and a read of it *)
  mo : E -> E -> Prop }.                   (* the order of the writes of each atomic location *)

Section Programs.
Variables Val Loc : Type.

(** A store writes a value that is known when it is executed, an RMW any function of what it
    reads. *)
Inductive kind := Load | Store (v : Val) | Rmw (f : Val -> Val).

Record op := AnyOperation {
  op_kind : kind;
  op_loc : Loc;
  op_atomic : bool;
  op_scope : scope;                        (* of atomic operations, as the next three *)
  op_remote : bool;
  op_releases : bool;
  op_acquires : bool;
  op_unused : bool }.
(** A compiler sets [op_unused] where the tree goes on alike whatever was read; it only selects a
    row, and the theorem asks for no such condition: it holds wherever the flag is set. *)
Definition Operation k l atomic s remote releases acquires :=
  AnyOperation k l atomic s remote releases acquires false.

(** A thread is a finite tree: the next operation depends on all values that were read.  An
    operation is answered with the value that it reads, a store with the value that it writes. *)
Inductive tree := Done | Do (o : op) (next : Val -> tree).
Record thread := Thread { group : nat; body : tree }.
Definition program := list thread.

(** An event is an initial write, or an operation: its thread, and all answers before it. *)
Inductive event := Init (l : Loc) | Node (t : nat) (answers : list Val).
End Programs.
Arguments Load {Val}.
Arguments Done {Val Loc}.
Arguments Init {Val Loc} l.
Arguments Node {Val Loc} t answers.

(** ** 2. The model: Fig. 2 *)

Section Model.
Variables Val Loc : Type.
Variable nowhere : Loc.                    (* the location of what is no event *)
Variable nonatomic : Loc -> Prop.          (* the locations that are not declared atomic *)
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Notation event := (event Val Loc).
Notation graph := (graph event).

Definition thread_of t := nth t P (Thread 0 Done).
Fixpoint subtree (c : tree Val Loc) (p : list Val) {struct p} : tree Val Loc :=
  match p, c with
  | [], _ => c
  | v :: p, Do _ next => subtree (next v) p
  | _, Done => Done
  end.
Definition op_of (x : event) : option (op Val Loc) :=
  match x with
  | Init _ => None
  | Node t p => match subtree (body (thread_of t)) p with Done => None | Do o _ => Some o end
  end.

Definition init (x : event) := match x with Init _ => True | _ => False end.
Definition real (x : event) := match x with Init _ => True | _ => op_of x <> None end.
Definition isW (x : event) := match x with
  | Init _ => True
  | _ => match op_of x with Some o => op_kind o <> Load | None => False end
  end.
Definition isR (x : event) :=
  match op_of x with Some o => forall v, op_kind o <> Store v | None => False end.
Definition rmw (x : event) := isW x /\ isR x.
Definition loc (x : event) := match x with
  | Init l => l
  | _ => match op_of x with Some o => op_loc o | None => nowhere end
  end.
Definition having (p : op Val Loc -> bool) (x : event) :=
  match op_of x with Some o => op_atomic o = true /\ p o = true | None => False end.
Definition atom (x : event) := match op_of x with Some o => op_atomic o = true | None => False end.
Definition rel := having (@op_releases Val Loc).
Definition acq := having (@op_acquires Val Loc).
Definition remote (x : event) :=
  match op_of x with Some o => op_remote o = true | None => False end.
Definition group_of (x : event) := match x with Node t _ => group (thread_of t) | _ => 0 end.

(** Sequenced before, and of one thread. *)
Definition sb (x y : event) := match x, y with
  | Init _, Node _ _ => True
  | Node t p, Node u q => t = u /\ exists v r, q = p ++ v :: r
  | _, _ => False
  end.
Definition thd (x y : event) := match x, y with Node t _, Node u _ => t = u | _, _ => False end.

(** The scope of [x] reaches the thread of [y].  Two operations are inclusive if each reaches the
    other, or one that is remote reaches the other. *)
Definition covers (x y : event) := match x, y with
  | Node t _, Node u _ => match op_of x with
      | Some o => match op_scope o with
          | WG => group (thread_of t) = group (thread_of u)
          | _ => True
          end
      | None => False
      end
  | _, _ => False
  end.
Definition incl x y :=
  (covers x y /\ covers y x) \/ (remote x /\ covers x y) \/ (covers y x /\ remote y).

(** Release sequence, synchronises-with, happens-before. *)
Definition in_rs x y := thd x y \/ rmw y.
Definition rs (g : graph) a b :=
  a = b \/ (mo g a b /\ in_rs a b /\ forall k, mo g a k -> mo g k b -> in_rs a k).
Definition sw (g : graph) x y :=
  events g x /\ events g y /\ isW x /\ rel x /\ isR y /\ acq y /\ incl x y /\ ~ thd x y /\
  exists w, rs g x w /\ rf g w y.
Definition hb (g : graph) :=
  clos_trans event (fun x y => (events g x /\ events g y /\ sb x y) \/ sw g x y).

(** What makes of three relations a graph: finitely many events, with their predecessors; a read has
    one write, of its location; [mo] orders the writes of each location that is atomic. *)
Record well_formed (g : graph) : Prop := {
  finite : exists l, forall x, events g x -> In x l;
  has_init : forall x, init x -> events g x;
  has_past : forall x y, sb x y -> events g y -> events g x;
  rf_of : forall w r, rf g w r ->
    events g w /\ events g r /\ isW w /\ isR r /\ loc w = loc r;
  rf_one : forall w w' r, rf g w r -> rf g w' r -> w = w';
  rf_some : forall r, events g r -> isR r -> exists w, rf g w r;
  mo_of : forall x y, mo g x y ->
    events g x /\ events g y /\ isW x /\ isW y /\ loc x = loc y /\ ~ nonatomic (loc x);
  mo_trans : forall x y z, mo g x y -> mo g y z -> mo g x z;
  mo_irreflexive : forall x, ~ mo g x x;
  mo_total : forall x y, events g x -> events g y -> isW x -> isW y -> loc x = loc y ->
    ~ nonatomic (loc x) -> x <> y -> mo g x y \/ mo g y x }.

(** The axioms Hb, Coh, Rf, Narf and Rmw. *)
Record consistent (g : graph) : Prop := {
  graph_ok : well_formed g;
  Hb : forall x, ~ hb g x x;
  Coh : forall a b y x,
    hb g a b -> (y = b \/ rf g y b) -> mo g y x -> (x = a \/ rf g x a) -> False;
  Rf : forall w r, rf g w r -> hb g r w -> False;
  Narf_seen : forall w r, rf g w r -> nonatomic (loc r) -> hb g w r;
  Narf_last : forall w r k, rf g w r -> nonatomic (loc r) -> isW k -> loc k = loc r ->
    hb g w k -> hb g k r -> False;
  Rmw_axiom : (forall x, ~ rf g x x) /\
    (forall x y z, mo g x y -> mo g y z -> ~ rf g x z) /\ (forall x y, mo g x y -> ~ rf g y x) }.

Definition race_free (g : graph) := forall a c,
  events g a -> events g c -> ~ init a -> ~ init c ->
  loc a = loc c -> isW a \/ isW c -> a <> c ->
  (atom a /\ atom c /\ incl a c) \/ thd a c \/ hb g a c \/ hb g c a.

(** The values of an execution, as [v]: what a read reads, and what a store writes. *)
Definition written (v : event -> Val) (x : event) := match x with
  | Init l => initial l
  | _ => match op_of x with
      | Some o => match op_kind o with Load => v x | Store c => c | Rmw f => f (v x) end
      | None => v x
      end
  end.
Record execution (g : graph) (v : event -> Val) : Prop := {
  are_real : forall x, events g x -> real x;
  answered : forall t p u, events g (Node t (p ++ [u])) -> v (Node t p) = u;
  reads_of : forall w r, rf g w r -> v r = written v w;
  stores : forall x o c, events g x -> op_of x = Some o -> op_kind o = Store c -> v x = c }.
(** Each thread has gone on to its end. *)
Fixpoint ended (there : event -> Prop) (v : event -> Val) t p (c : tree Val Loc) := match c with
  | Done => True
  | Do _ next => there (Node t p) /\ ended there v t (p ++ [v (Node t p)]) (next (v (Node t p)))
  end.
Definition complete (there : event -> Prop) v := forall t, ended there v t [] (body (thread_of t)).

Definition racy := exists g v,
  consistent g /\ execution g v /\ complete (events g) v /\ ~ race_free g.

(** [u] is written last to [l]: by [mo], or by [hb] if [l] is not atomic. *)
Definition last_value (g : graph) v l u := exists w,
  events g w /\ isW w /\ loc w = l /\ written v w = u /\
  (~ nonatomic l -> forall k, ~ mo g w k) /\
  (nonatomic l -> forall k, isW k -> loc k = l -> ~ hb g w k).

(** An outcome: the answers of each thread, and memory in the end. *)
Definition value_at (answers : nat -> list Val) (x : event) := match x with
  | Init l => initial l
  | Node t p => nth (length p) (answers t) (initial nowhere)
  end.
Definition allowed (answers : nat -> list Val) (memory : Loc -> Val) := exists g,
  let v := value_at answers in
  consistent g /\ execution g v /\ complete (events g) v /\
  forall l, last_value g v l (memory l).
End Model.

(** ** 3. The machine: Fig. 3, Tabs 1 and 2, one device *)

Inductive reach := R_WG | R_DV | R_SY.

Section Machine.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable groups : list nat.                (* the work-groups, each with an L1 *)
Variable wg : nat -> nat.                  (* the work-group of a thread *)
Variable unset : Val.                      (* in a register before it is loaded *)

Inductive instr :=
| LD (x : Loc) | ST (x : Loc) (v : Val)
| RMW_L1 (x : Loc) (f : Val -> Val) | RMW_L2 (x : Loc) (f : Val -> Val)
| FLU_L1 (r : reach) | FLU_L2 | INV_L1 (r : reach)
| LK_L2 (x : Loc) | UL_L2 (x : Loc) | LK_rmw | UL_rmw.
(** The code of one operation after the other; the value that was read selects what follows. *)
Inductive codes := End | Code (c : list instr) (next : Val -> codes).

Inductive element := Entry (x : Loc) | Marker (t : nat).
Record cache := Cache {
  data : Loc -> Val; DIRTY : Loc -> bool; VALID : Loc -> bool; present : Loc -> bool;
  fifo : list element }.
Record running := Running { rest : list instr; reg : Val; after : Val -> codes }.
Record state := State {
  memory : Loc -> Val; lock : Loc -> option nat; L2 : cache;
  rmw_lock : nat -> option nat; L1 : nat -> cache; threads : nat -> running }.

Definition set (B : Type) (f : Loc -> B) x b := fun y => if loc_dec y x then b else f y.
Definition setn (B : Type) (f : nat -> B) n b := fun m => if Nat.eq_dec m n then b else f m.
Definition store c x v := Cache (set (data c) x v) (set (DIRTY c) x true) (set (VALID c) x true)
  (set (present c) x true) (fifo c ++ [Entry x]).
Definition fetch c x v :=
  Cache (set (data c) x v) (DIRTY c) (set (VALID c) x true) (set (present c) x true) (fifo c).
Definition evict c x :=
  Cache (data c) (DIRTY c) (set (VALID c) x false) (set (present c) x false) (fifo c).
Definition inval c x := Cache (data c) (DIRTY c) (set (VALID c) x false) (present c) (fifo c).
Definition inval_all c := Cache (data c) (DIRTY c) (fun _ => false) (present c) (fifo c).
Definition cleaned c x := Cache (data c) (set (DIRTY c) x false) (VALID c) (present c) (fifo c).
Definition enqueue c e := Cache (data c) (DIRTY c) (VALID c) (present c) (fifo c ++ [e]).
Definition dequeue c := Cache (data c) (DIRTY c) (VALID c) (present c) (tl (fifo c)).
Definition clean c x := negb (DIRTY c x).
Definition reaches r w w' :=
  match r with R_WG => if Nat.eq_dec w' w then true else false | _ => true end.

Definition with_L1 s f := State (memory s) (lock s) (L2 s) (rmw_lock s) f (threads s).
Definition with_L2 s c := State (memory s) (lock s) c (rmw_lock s) (L1 s) (threads s).
Definition with_memory s m := State m (lock s) (L2 s) (rmw_lock s) (L1 s) (threads s).
Definition with_lock s m := State (memory s) m (L2 s) (rmw_lock s) (L1 s) (threads s).
Definition with_rmw s m := State (memory s) (lock s) (L2 s) m (L1 s) (threads s).
Definition with_thread s t th :=
  State (memory s) (lock s) (L2 s) (rmw_lock s) (L1 s) (setn (threads s) t th).
Definition in_L1 s w f := with_L1 s (fun w' => if Nat.eq_dec w' w then f (L1 s w') else L1 s w').

(** Tab. 1: when an instruction is executed, what it makes of the state, and what it delivers. *)
Definition ready (l : option nat) t :=
  match l with None => true | Some u => if Nat.eq_dec u t then true else false end.
Definition no_marker t c :=
  forallb (fun e => match e with
    | Marker u => if Nat.eq_dec u t then false else true
    | _ => true
    end) (fifo c).
Definition unmarked s t := forallb (fun w => no_marker t (L1 s w)) groups && no_marker t (L2 s).
Definition instr_guard s t i := unmarked s t && match i with
  | LD x => VALID (L1 s (wg t)) x
  | RMW_L1 x _ => ready (rmw_lock s (wg t)) t && VALID (L1 s (wg t)) x
  | RMW_L2 x _ =>
      ready (rmw_lock s (wg t)) t && clean (L1 s (wg t)) x && ready (lock s x) t && VALID (L2 s) x
  | LK_L2 x => ready (lock s x) t
  | LK_rmw => forallb (fun w => ready (rmw_lock s w) t) groups
  | _ => true
  end.
Definition instr_effect s t i : state * option Val := match i with
  | LD x => (s, Some (data (L1 s (wg t)) x))
  | ST x v => (in_L1 s (wg t) (fun c => store c x v), None)
  | RMW_L1 x f => let v := data (L1 s (wg t)) x in
      (in_L1 s (wg t) (fun c => store c x (f v)), Some v)
  | RMW_L2 x f => let v := data (L2 s) x in
      (with_L2 (in_L1 s (wg t) (fun c => inval c x)) (store (inval (L2 s) x) x (f v)), Some v)
  | FLU_L1 r => let flush w := if reaches r (wg t) w then enqueue (L1 s w) (Marker t) else L1 s w in
      (with_L1 s flush, None)
  | FLU_L2 => (with_L2 s (enqueue (L2 s) (Marker t)), None)
  | INV_L1 r => let inv w := if reaches r (wg t) w then inval_all (L1 s w) else L1 s w in
      (with_L1 s inv, None)
  | LK_L2 x => (with_lock s (set (lock s) x (Some t)), None)
  | UL_L2 x => (with_lock s (set (lock s) x None), None)
  | LK_rmw => (with_rmw s (fun _ => Some t), None)
  | UL_rmw => (with_rmw s (fun _ => None), None)
  end.

(** Tab. 2: steps of the environment; and [Exec t], the next instruction of thread [t]. *)
Inductive step := Exec (t : nat)
| FLUSH_L1 (w : nat) (x : Loc) | FETCH_L1 (w : nat) (x : Loc) | EVICT_L1 (w : nat) (x : Loc)
| FLUSH_L2 (x : Loc) | FETCH_L2 (x : Loc) | EVICT_L2 (x : Loc)
| DEQLOC_L1 (w : nat) (x : Loc) | DEQMARKER_L1 (w : nat) (t : nat)
| DEQLOC_L2 (x : Loc) | DEQMARKER_L2 (t : nat).

Definition next th : option (instr * running) := match rest th with
  | i :: l => Some (i, Running l (reg th) (after th))
  | [] => match after th (reg th) with
      | Code (i :: l) k => Some (i, Running l unset k)
      | _ => None
      end
  end.
Definition deliver th (d : option Val) :=
  match d with Some v => Running (rest th) v (after th) | None => th end.
Definition ready_group (l : option nat) w :=
  match l with None => true | Some u => if Nat.eq_dec (wg u) w then true else false end.
Definition ready_device (l : option nat) := true.  (* free, or held by a thread of the one device *)
Definition oldest c := hd_error (fifo c).
Definition is_entry (e : option element) x :=
  match e with Some (Entry y) => if loc_dec y x then true else false | _ => false end.
Definition is_marker (e : option element) t :=
  match e with Some (Marker u) => if Nat.eq_dec u t then true else false | _ => false end.

Definition guard s l := match l with
  | Exec t => match next (threads s t) with Some (i, _) => instr_guard s t i | None => false end
  | FLUSH_L1 w x => DIRTY (L1 s w) x && ready_group (lock s x) w
  | FETCH_L1 w x => clean (L1 s w) x && VALID (L2 s) x && ready_group (lock s x) w
  | EVICT_L1 w x => present (L1 s w) x && clean (L1 s w) x
  | FLUSH_L2 x => DIRTY (L2 s) x && ready_device (lock s x)
  | FETCH_L2 x => clean (L2 s) x && ready_device (lock s x)
  | EVICT_L2 x => present (L2 s) x && clean (L2 s) x && ready_device (lock s x)
  | DEQLOC_L1 w x => is_entry (oldest (L1 s w)) x && clean (L1 s w) x
  | DEQMARKER_L1 w t => is_marker (oldest (L1 s w)) t
  | DEQLOC_L2 x => is_entry (oldest (L2 s)) x && clean (L2 s) x
  | DEQMARKER_L2 t => is_marker (oldest (L2 s)) t
  end.
Definition effect s l := match l with
  | Exec t => match next (threads s t) with
      | Some (i, th) => let (s', d) := instr_effect s t i in with_thread s' t (deliver th d)
      | None => s
      end
  | FLUSH_L1 w x =>
      with_L2 (in_L1 s w (fun c => cleaned c x)) (store (inval (L2 s) x) x (data (L1 s w) x))
  | FETCH_L1 w x => in_L1 s w (fun c => fetch c x (data (L2 s) x))
  | EVICT_L1 w x => in_L1 s w (fun c => evict c x)
  | FLUSH_L2 x => with_L2 (with_memory s (set (memory s) x (data (L2 s) x))) (cleaned (L2 s) x)
  | FETCH_L2 x => with_L2 s (fetch (L2 s) x (memory s x))
  | EVICT_L2 x => with_L2 s (evict (L2 s) x)
  | DEQLOC_L1 w _ | DEQMARKER_L1 w _ => in_L1 s w dequeue
  | DEQLOC_L2 _ | DEQMARKER_L2 _ => with_L2 s (dequeue (L2 s))
  end.

(** Runs: the state after [n] steps; a run is complete if each step is allowed where it is taken,
    and in the end all instructions are executed and nothing is DIRTY. *)
Variable initial : Loc -> Val.
Variable P : nat -> codes.
Definition empty :=
  Cache initial (fun _ => false) (fun _ => false) (fun _ => false) [].
Definition start :=
  State initial (fun _ => None) empty (fun _ => None) (fun _ => empty)
    (fun t => Running [] unset (fun _ => P t)).
Definition nth_step (run : list step) n := nth n run (Exec 0).
Fixpoint state_at (run : list step) n := match n with
  | 0 => start
  | S k => effect (state_at run k) (nth_step run k)
  end.
Definition finished s :=
  (forall t, next (threads s t) = None) /\
  (forall w x, DIRTY (L1 s w) x = false) /\ (forall x, DIRTY (L2 s) x = false).
Definition complete_run (run : list step) :=
  (forall n, n < length run -> guard (state_at run n) (nth_step run n) = true) /\
  finished (state_at run (length run)).

(** The answers of a thread, in order: what its accesses deliver, and what its stores store. *)
Definition answer s l t : list Val := match l with
  | Exec u => if Nat.eq_dec u t then match next (threads s t) with
      | Some (ST _ v, _) => [v]
      | Some (i, _) => match snd (instr_effect s t i) with Some v => [v] | None => [] end
      | None => []
      end else []
  | _ => []
  end.
Fixpoint answers_to (run : list step) n t : list Val := match n with
  | 0 => []
  | S k => answers_to run k t ++ answer (state_at run k) (nth_step run k) t
  end.
End Machine.
Arguments End {Val Loc}.
Arguments FLU_L1 {Val Loc} r.
Arguments FLU_L2 {Val Loc}.
Arguments INV_L1 {Val Loc} r.
Arguments LD {Val Loc} x.
Arguments LK_L2 {Val Loc} x.
Arguments UL_L2 {Val Loc} x.
Arguments LK_rmw {Val Loc}.
Arguments UL_rmw {Val Loc}.
Arguments Marker {Loc} t.
Arguments Exec {Loc} t.
Arguments DEQMARKER_L1 {Loc} w t.
Arguments DEQMARKER_L2 {Loc} t.

(** ** 4. Tables and compilation *)

(** A row: for loads, stores or RMWs; not atomic, or atomic with a scope; remote or not; the code,
    in which FLU and INV have the reach WG or DV, and locks are of the location of the operation. *)
Inductive op_kinds := OLoad | OStore | ORmw.
Inductive near := to_WG | to_DV.
Inductive ins :=
  Ld | St | Inc_L1 | Inc_L2 | Flu (r : near) | Inv (r : near) | Lk_L2 | Ul_L2 | Lk_rmw | Ul_rmw.
Inductive memory_order := Relaxed | Acquire | Release | Acq_rel.
Inductive results := Either | Used | Unused.
(** Of atomic operations, a row is for some orders; and for any results, or only for one kind. *)
Record row := RowFor {
  row_orders : list memory_order; row_results : results;
  row_kind : op_kinds; row_scope : option scope; row_remote : bool; code : list ins }.
Definition Row := RowFor [Relaxed; Acquire; Release; Acq_rel] Either.
Definition table := list row.

Section Compilation.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {x = y} + {x <> y}.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Notation unset := (initial nowhere).
Notation op := (op Val Loc).

Definition kind_row (o : op) :=
  match op_kind o with Load => OLoad | Store _ => OStore | Rmw _ => ORmw end.
Definition scope_row (o : op) := if op_atomic o then Some (op_scope o) else None.
Definition same_kind a b :=
  match a, b with OLoad, OLoad | OStore, OStore | ORmw, ORmw => true | _, _ => false end.
Definition same_scope a b := match a, b with
  | None, None | Some WG, Some WG | Some DV, Some DV | Some ALL, Some ALL => true | _, _ => false
  end.
Definition order_of (o : op) :=
  match kind_row o, op_releases o, op_acquires o with
  | OLoad, _, true | ORmw, false, true => Acquire
  | OStore, true, _ | ORmw, true, false => Release
  | ORmw, true, true => Acq_rel
  | _, _, _ => Relaxed
  end.
Definition same_order a b := match a, b with
  | Relaxed, Relaxed | Acquire, Acquire | Release, Release | Acq_rel, Acq_rel => true
  | _, _ => false
  end.
Definition has_results r unused :=
  match r with Either => true | Used => negb unused | Unused => unused end.
Definition selects (o : op) (r : row) :=
  existsb (same_order (order_of o)) (row_orders r) && has_results (row_results r) (op_unused o).
(** The first row that fits is taken. *)
Definition fits (o : op) (r : row) :=
  same_kind (row_kind r) (kind_row o) && same_scope (row_scope r) (scope_row o) &&
  (negb (op_atomic o) || (Bool.eqb (row_remote r) (op_remote o) && selects o r)).
Definition row_for (t : table) (o : op) := find (fits o) t.

Definition reach_of r := match r with to_WG => R_WG | to_DV => R_DV end.
Definition stored (o : op) := match op_kind o with Store v => v | _ => unset end.
Definition update (o : op) : Val -> Val := match op_kind o with Rmw f => f | _ => fun v => v end.
Definition instr_of (o : op) (i : ins) : instr Val Loc := match i with
  | Ld => LD (op_loc o)
  | St => ST (op_loc o) (stored o)
  | Inc_L1 => RMW_L1 (op_loc o) (update o)
  | Inc_L2 => RMW_L2 (op_loc o) (update o)
  | Flu r => FLU_L1 (reach_of r)
  | Inv r => INV_L1 (reach_of r)
  | Lk_L2 => LK_L2 (op_loc o)
  | Ul_L2 => UL_L2 (op_loc o)
  | Lk_rmw => LK_rmw
  | Ul_rmw => UL_rmw
  end.
(** An operation without a row becomes its bare access; [has_rows] excludes it. *)
Definition bare (o : op) := Row (kind_row o) None false
  [match op_kind o with Load => Ld | Store _ => St | Rmw _ => Inc_L1 end].
Definition row_of t o := match row_for t o with Some r => r | None => bare o end.
Definition code_of t o := map (instr_of o) (code (row_of t o)).
(** A store leaves nothing in the register; the program is answered with the value stored. *)
Definition answer_of (o : op) v := match op_kind o with Store c => c | _ => v end.
Fixpoint compile t (c : tree Val Loc) : codes Val Loc := match c with
  | Done => End
  | Do o next => Code (code_of t o) (fun v => compile t (next (answer_of o v)))
  end.

Variable P : program Val Loc.
Definition has_rows t := forall x o, op_of P x = Some o -> row_for t o <> None.
Definition wg_of i := group (thread_of P i).
Definition wgs := 0 :: map (@group Val Loc) P.
Definition compiled t i := compile t (body (thread_of P i)).

Definition run_of t := complete_run loc_dec wgs wg_of unset initial (compiled t).
Definition answers_of t (run : list (step Loc)) :=
  answers_to loc_dec wg_of unset initial (compiled t) run (length run).
Definition memory_of t (run : list (step Loc)) :=
  memory (state_at loc_dec wg_of unset initial (compiled t) run (length run)).
End Compilation.

(** ** 5. The statement *)

(** The scope: atomic stores release.  An atomic operation on a location that is _not_ declared
    atomic releases if it writes, and acquires if it reads. *)
Definition in_scope (Val Loc : Type) (nonatomic : Loc -> Prop) (P : program Val Loc) :=
  forall x o, op_of P x = Some o -> op_atomic o = true ->
    ((exists v, op_kind o = Store v) -> op_releases o = true) /\
    (nonatomic (op_loc o) ->
      (op_kind o <> Load -> op_releases o = true) /\
      ((forall v, op_kind o <> Store v) -> op_acquires o = true)).

(** Values may be infinitely many; locations are finitely many. *)
Definition sound (t : table) := forall (Val Loc : Type)
  (val_dec : forall a b : Val, {a = b} + {a <> b}) (loc_dec : forall x y : Loc, {x = y} + {x <> y})
  (locations : list Loc) (nowhere : Loc) (nonatomic : Loc -> Prop) (initial : Loc -> Val)
  (P : program Val Loc) (run : list (step Loc)),
  (forall x, In x locations) -> has_rows P t -> in_scope nonatomic P ->
  run_of loc_dec nowhere initial P t run ->
  racy nowhere nonatomic initial P \/
  allowed nowhere nonatomic initial P
    (answers_of loc_dec nowhere initial P t run) (memory_of loc_dec nowhere initial P t run).
