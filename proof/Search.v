(** * A search for the run of a broken obligation

    [search] tries the ways in which the two codes may be interleaved.  Between instructions the
    environment does what the run needs, as late as possible: data arrive when a marker waits for
    them, and are fetched while they are old.  Whether what is found is a run of its outcome is
    computed by [refutes], so that nothing about the search has to be proved.  That it always finds
    one is not proved; that exact tables have one is (Exact.v). *)
Require Import List Arith Bool Thm1 Obligations Proved Steps Refuted.
Import ListNotations.
Set Implicit Arguments.

Section Search.
Variable t : table.
Variable P : program.
Notation state := (state nat place).
Notation effect := (effect place_dec (wg_of P) 0).
Notation guard := (guard place_dec (wgs P) (wg_of P) 0).

(** A state, and the steps to it, the last first. *)
Definition walk := (state * list (step place))%type.
Definition try_step (l : step place) (w : walk) : walk :=
  if guard (fst w) l then (effect (fst w) l, l :: snd w) else w.
Fixpoint try_steps ls w := match ls with [] => w | l :: ls => try_steps ls (try_step l w) end.

(** What is in the fifo of an L1 leaves, if markers wait behind it; stores only if [arrive]. *)
Fixpoint drain fuel (arrive : bool) g (w : walk) := match fuel with
  | 0 => w
  | S n => match fifo (L1 (fst w) g) with
      | Marker u :: _ => drain n arrive g (try_step (DEQMARKER_L1 g u) w)
      | Entry z :: q => if existsb (fun e => match e with Marker _ => true | _ => false end) q
          then drain n arrive g (try_step (DEQLOC_L1 g z)
            (if arrive then try_step (FLUSH_L1 g z) w else w))
          else w
      | [] => w
      end
  end.
(** An L1 gets what it has not, or, if [again], what is in the L2 now. *)
Definition fetched g z (again : bool) (w : walk) :=
  let w := if VALID (L2 (fst w)) z then w else try_step (FETCH_L2 z) w in
  if VALID (L1 (fst w) g) z && negb again then w else try_step (FETCH_L1 g z) w.

(** An instruction of a thread, after what it waits for.  Of a location that is [fresh] it reads the
    newest value, of any other what its L1 has. *)
Variable fresh : place -> bool.
Definition gets u (w : walk) : walk := match next 0 (threads (fst w) u) with
  | Some (LD z, _) | Some (RMW_L1 z _, _) => if fresh z
      then fetched u z true (try_step (FLUSH_L1 (1 - u) z) w) else fetched u z false w
  | Some (RMW_L2 z _, _) =>
      let w := if fresh z then try_step (FLUSH_L1 (1 - u) z) w else w in
      let w := try_step (FLUSH_L1 u z) w in
      if VALID (L2 (fst w)) z then w else try_step (FETCH_L2 z) w
  | Some (LK_L2 z, _) => try_steps (if fresh z
      then [FLUSH_L1 (1 - u) z; FLUSH_L1 u z; FETCH_L1 (1 - u) z] else [FLUSH_L1 1 z]) w
  | _ => w
  end.
Definition attempt u w := let w := gets u w in
  if guard (fst w) (Exec u) then Some (effect (fst w) (Exec u), Exec u :: snd w) else None.
(** The first that is enough for it: markers leave, stores of thread 1 arrive, those of thread 0. *)
Definition executes u w :=
  let marked := drain 6 false 1 (drain 6 false 0 w) in
  let arrived := drain 6 true 1 marked in
  let all_arrived := drain 6 true 0 (try_step (FLUSH_L1 1 x) arrived) in
  fold_left (fun found w => match found with Some _ => found | None => attempt u w end)
    [w; marked; arrived; all_arrived] None.

Definition at_end :=
  [FLUSH_L1 1 x; FLUSH_L1 0 x; FLUSH_L1 0 y; FLUSH_L1 1 y; FLUSH_L2 x; FLUSH_L2 y].
(** All interleavings of [m] instructions of thread 0 and [n] of thread 1, one by one, until
    a run is [good].  The L1 of [reader] has [x], whenever it can. *)
Fixpoint interleave fuel reader m n (w : walk) (good : list (step place) -> bool) :
  option (list (step place)) :=
  match fuel with
  | 0 => None
  | S k =>
      let w := fetched reader x false w in
      let go u m n := match executes u w with
        | Some w => interleave k reader m n w good
        | None => None
        end in
      match m, n with
      | 0, 0 => let run := rev (snd (try_steps at_end w)) in if good run then Some run else None
      | S m', 0 => go 0 m' 0
      | 0, S n' => go 1 0 n'
      | S m', S n' => match go 1 m n' with Some run => Some run | None => go 0 m' n end
      end
  end.
End Search.

Definition size (r : row) := length (code r).
Definition search (t : table) (o : obligation) : list witness := match o with
  | SYNC b c =>
      let P := message b c in
      let good run := refutes t (Lost b c run) in
      match interleave P (fun z => if place_dec z y then true else false) 30 1
        (1 + size b) (size c + 1) (first x zero P t, []) good with
      | Some run => [Lost b c run]
      | None => []
      end
  | ATOM b u =>
      let P := overtaking b u in
      let good run := refutes t (Overtaken b u run) in
      match interleave P (fun _ => false) 30 0 (size u) (size b) (first x zero P t, []) good with
      | Some run => [Overtaken b u run]
      | None => []
      end
  end.

Definition found t := flat_map (search t) (broken t).
Theorem unsound t : existsb (refutes t) (found t) = true -> ~ sound t.
Proof. apply not_sound. Qed.

(** All that is broken of a table is shown: then [check] decides whether it is sound. *)
Definition searched t := forallb one_access t && all_shown t (found t).
Theorem searched_right t : searched t = true -> (sound t <-> check t = true).
Proof. unfold searched. rewrite andb_true_iff. intros [a s]. exact (decided t _ a s). Qed.
