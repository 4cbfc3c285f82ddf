(** * Proposed is live; without one of its UL_rmw it is not, nor is the paper's first scheme

    [search] looks for a deadlock of two threads that execute a row each, while mates store in their
    L1s.  Whether what it finds is a dead end is computed, so that nothing about the search has to
    be proved.  Where a table is not orderly, nothing says that one is found. *)
Require Import List Arith Bool Thm1 Obligations Steps Orderly Progress Fair Deadlock.
Import ListNotations.
Set Implicit Arguments.

(** ** Programs without branches: threads, each with its work-group and its operations *)

Inductive place := x | y.
Definition place_dec : forall a b : place, {a = b} + {a <> b}. Proof. decide equality. Defined.
Definition zero (_ : place) := 0.
Notation op := (op nat place).
Fixpoint in_turn (ops : list op) : tree nat place := match ops with
  | [] => Done
  | o :: ops => Do o (fun _ => in_turn ops)
  end.
Definition layout := list (nat * list op).
Definition beside (ts : layout) : program nat place :=
  map (fun p => Thread (fst p) (in_turn (snd p))) ts.
Notation dead_end t ts := (dead_end place_dec x zero (beside ts) t).
Notation leads_to_deadlock t ts := (leads_to_deadlock place_dec x zero (beside ts) t).

Definition has_row t (o : op) := match row_for t o with Some _ => true | None => false end.
Definition have_row t (ts : layout) := forallb (fun p => forallb (has_row t) (snd p)) ts.
Lemma op_in_turn ops : forall p o k, subtree (in_turn ops) p = Do o k -> In o ops.
Proof.
  induction ops as [|o' ops IH]; intros [|v p] o k q; try discriminate; simpl in *.
  - injection q as -> _. auto.
  - right. exact (IH _ _ _ q).
Qed.
Lemma have_rows t ts : have_row t ts = true -> has_rows (beside ts) t.
Proof.
  intros h e o q n. destruct e as [l|u p]; [discriminate|]. unfold op_of, thread_of, beside in q.
  destruct (nth_in_or_default u (map (fun p => Thread (fst p) (in_turn (snd p))) ts)
    (Thread 0 Done)) as [i|d]; [|rewrite d in q; destruct p; discriminate].
  apply in_map_iff in i as (c&d&i). rewrite <- d in q. simpl in q.
  destruct (subtree (in_turn (snd c)) p) eqn:E; [discriminate|]. injection q as <-.
  unfold have_row in h. rewrite forallb_forall in h. specialize (h c i).
  rewrite forallb_forall in h. specialize (h _ (op_in_turn _ _ E)). unfold has_row in h.
  rewrite n in h. discriminate.
Qed.

(** A program, and a run of it. *)
Record witness := Witness { its_threads : layout; prefix : list (step place) }.
Definition shows t (w : witness) :=
  have_row t (its_threads w) && leads_to_deadlock t (its_threads w) (prefix w).
Theorem not_live t w : shows t w = true -> ~ live t.
Proof.
  intros h L. apply andb_prop in h as [R D].
  destruct (deadlock_is_dead_end _ _ _ _ _ _ D) as [A no_end].
  destruct (L nat place place_dec [x; y] x zero (beside (its_threads w)) (prefix w)) as [more C];
    auto.
  - intros []; simpl; auto.
  - apply have_rows. exact R.
  - exact (no_end more C).
Qed.

(** ** The search *)

Section Search.
Variable P : program nat place.
Notation effect := (effect place_dec (wg_of P) 0).
Notation guard := (guard place_dec (wgs P) (wg_of P) 0).

(** A state, and the steps to it, the last first. *)
Definition walk := (state nat place * list (step place))%type.
Definition try_step (l : step place) (k : walk) : walk :=
  if guard (fst k) l then (effect (fst k) l, l :: snd k) else k.
Fixpoint try_steps ls k := match ls with [] => k | l :: ls => try_steps ls (try_step l k) end.

(** The markers of thread [u] leave the L1 of [w], if they can. *)
Fixpoint let_out fuel u w (k : walk) := match fuel with
  | 0 => k
  | S n => let go_on q ls := if existsb (is_mark u) q then let_out n u w (try_steps ls k) else k in
      match fifo (L1 (fst k) w) with
      | [] => k
      | Entry z :: q => go_on q [FLUSH_L1 w z; DEQLOC_L1 w z]
      | Marker v :: q => go_on (Marker v :: q) [DEQMARKER_L1 w v]
      end
  end.
(** The next instruction of [u], if what it waits for can be brought about; and no more is. *)
Definition execute u (k : walk) := match next 0 (threads (fst k) u) with
  | None => None
  | Some (j, _) =>
      let k := let_out 8 u 0 (let_out 8 u 1 k) in
      let w := wg_of P u in
      let k := match j with
        | LD z | RMW_L1 z _ => if VALID (L1 (fst k) w) z then k
            else try_steps [FLUSH_L1 w z; FETCH_L2 z; FETCH_L1 w z] k
        | RMW_L2 z _ => try_steps [FLUSH_L1 w z; FETCH_L2 z] k
        | _ => k
        end in
      if guard (fst k) (Exec u) then Some (try_step (Exec u) k) else None
  end.
(** Thread [u] executes [n] instructions, or fewer, till it has to wait or [stops]. *)
Fixpoint at_most n (stops : state nat place -> bool) u k := match n with
  | 0 => k
  | S n => if stops (fst k) then k
      else match execute u k with Some k => at_most n stops u k | None => k end
  end.
Definition never (_ : state nat place) := false.
Definition has_locked l u (s : state nat place) :=
  match lock s l with Some v => v =? u | None => false end.
Definition has_stored l w (s : state nat place) := DIRTY (L1 s w) l.
(** Thread 0 executes [n] instructions; thread 1, as many as it can till it has locked [l]; then the
    mates store, and each goes on as far as it can. *)
Definition turns n l k :=
  let k := at_most 20 (has_locked l 1) 1 (at_most n never 0 k) in
  let k := at_most 20 (has_stored x 1) 3 (at_most 20 (has_stored y 0) 2 k) in
  at_most 20 never 1 (at_most 20 never 0 (at_most 20 never 1 k)).
End Search.

Definition of_row l (r : row) : op := Operation
  match row_kind r with OLoad => Load | OStore => Store 1 | ORmw => Rmw S end l (atomic r)
  match row_scope r with Some s => s | None => WG end (row_remote r) (writes r) (reads r).
Definition plain_store l : op := Operation (Store 1) l false WG false false false.
Definition tried t r q l : option witness :=
  let ts := [(0, [of_row x r]); (1, [of_row l q]); (0, [plain_store y]); (1, [plain_store x])] in
  let from := (first x zero (beside ts) t, []) in
  let runs := map (fun n => rev (snd (turns (beside ts) n l from))) (seq 0 (length (code r) + 1)) in
  match find (leads_to_deadlock t ts) runs with
  | Some run => Some (Witness ts run)
  | None => None
  end.
Fixpoint first_of (A B : Type) (f : A -> option B) l := match l with
  | [] => None
  | a :: l => match f a with Some b => Some b | None => first_of f l end
  end.
Definition search t := first_of (fun c => let '(r, q, l) := c in
  tried t r q l) (list_prod (list_prod t t) [x; y]).
Definition gets_stuck t := match search t with Some w => shows t w | None => false end.

Theorem stuck t : gets_stuck t = true -> ~ live t.
Proof.
  unfold gets_stuck. destruct (search t) as [w|]; [|discriminate]. apply not_live.
Qed.
(** Where a deadlock is found, or the table is orderly, it is known whether it is live. *)
Theorem live_or_stuck t : orderly t || gets_stuck t = true -> (live t <-> orderly t = true).
Proof.
  intro h. split; [|apply progress]. intro L. apply orb_prop in h as [h|h]; auto.
  destruct (stuck h L).
Qed.

(** ** The tables *)

Theorem proposed_is_live : live proposed.
Proof. apply progress. vm_compute. reflexivity. Qed.
Theorem proposed_ends_fairly : ends_fairly proposed.
Proof. apply fair_runs_end. vm_compute. reflexivity. Qed.

Definition store s remote : op := Operation (Store 1) x true s remote true false.
Definition load s remote : op := Operation Load x true s remote false true.
Definition increment s remote : op := Operation (Rmw S) x true s remote true true.

Definition is_unlock i := match i with Ul_rmw => true | _ => false end.
Definition without_Ul_rmw kind (t : table) := map (fun r => if same_kind kind (row_kind r)
  then Row (row_kind r) (row_scope r) (row_remote r) (filter (fun i => negb (is_unlock i)) (code r))
  else r) t.

(** Row 6 keeps the rmw locks: thread 1 never gets them for its remote store. *)
Definition first_has_stored : list (step place) := [
  Exec 0; Exec 0; DEQMARKER_L1 0 0; DEQMARKER_L1 1 0; Exec 0; Exec 0; Exec 0;
  FLUSH_L1 0 x; DEQLOC_L1 0 x; DEQMARKER_L1 0 0; Exec 0].
Theorem stores_that_keep_locks : dead_end (without_Ul_rmw OStore proposed)
  [(0, [store DV true]); (1, [store DV true])] first_has_stored.
Proof. apply deadlock_is_dead_end. vm_compute. reflexivity. Qed.
(** Row 9 does: nor for its remote increment. *)
Definition first_has_incremented : list (step place) := [
  Exec 0; Exec 0; DEQMARKER_L1 0 0; DEQMARKER_L1 1 0; Exec 0; FETCH_L2 x; Exec 0; Exec 0;
  DEQMARKER_L1 0 0; DEQMARKER_L1 1 0; Exec 0].
Theorem increments_that_keep_locks : dead_end (without_Ul_rmw ORmw proposed)
  [(0, [increment DV true]); (1, [increment DV true])] first_has_incremented.
Proof. apply deadlock_is_dead_end. vm_compute. reflexivity. Qed.
(** The paper's first scheme, row 3: a remote load locks what its flush waits for. *)
Theorem original_flushes_what_it_locks : dead_end original
  [(0, [store WG false]); (1, [load DV true])] [Exec 0; Exec 1; Exec 1].
Proof. apply deadlock_is_dead_end. vm_compute. reflexivity. Qed.

Theorem tables_that_are_not_live t :
  In t [without_Ul_rmw OStore proposed; without_Ul_rmw ORmw proposed; original] -> ~ live t.
Proof. intro i. apply stuck. revert t i. apply forallb_forall. vm_compute. reflexivity. Qed.
