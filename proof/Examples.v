(** * What the statement is about: programs, runs, races and outcomes of message passing

    The definitions of Thm1.v are not empty: message passing runs to its end under Proposed, with
    either outcome.  And [check] is not always true: not of the paper's first scheme. *)
Require Import List Arith Bool Lia Thm1 Check Proved.
Import ListNotations.

(** ** [check] *)
Example proposed_ok : check proposed = true. Proof. vm_compute. reflexivity. Qed.
Example original_is_refused : check original = false. Proof. vm_compute. reflexivity. Qed.
(** Six pairs fail: those of §5.5.1 and §5.5.2 of the paper. *)
Example original_fails : (length (fst (failing original)), length (snd (failing original))) = (0,
  6).
Proof. vm_compute. reflexivity. Qed.

Definition with_code kind scope remote code (t : table) := map (fun r =>
  if same_kind kind (row_kind r) && same_scope (Some scope) (row_scope r) && Bool.eqb remote
    (row_remote r)
  then Row (row_kind r) (row_scope r) (row_remote r) code else r) t.
Example load_without_inv : check (with_code OLoad DV false [Ld] proposed) = false.
Proof. vm_compute. reflexivity. Qed.
Example load_with_inv_before : check (with_code OLoad DV false [Inv to_WG; Ld] proposed) = false.
Proof. vm_compute. reflexivity. Qed.
Example remote_load_flushes_one_L1 :
  check (with_code OLoad DV true [Ld; Flu to_WG; Inv to_WG] proposed) = false.
Proof. vm_compute. reflexivity. Qed.
Example remote_store_without_lock : check
  (with_code OStore DV true [Flu to_DV; Inv to_DV; St; Flu to_WG; Inv to_DV] proposed) = false.
Proof. vm_compute. reflexivity. Qed.
(** A lock that is kept is no matter of soundness: such a table may get stuck. *)
Example remote_store_keeps_lock : check
  (with_code OStore DV true [Lk_rmw; Flu to_DV; Inv to_DV; St; Flu to_WG; Inv to_DV] proposed) =
    true.
Proof. vm_compute. reflexivity. Qed.

(** ** Message passing: [x = 1; y = 1 (DV) || r0 = y (DV); if (r0 == 1) r1 = x] *)
Inductive place := x | y.
Definition place_dec : forall a b : place, {a = b} + {a <> b}. Proof. decide equality. Defined.
Definition plain k := Operation (k : kind nat) x false WG false false false.
Definition flag k := Operation (k : kind nat) y true DV false true true.
Definition MP : program nat place := [
  Thread 0 (Do (plain (Store 1)) (fun _ => Do (flag (Store 1)) (fun _ => Done)));
  Thread 1 (Do (flag Load) (fun v => if v =? 1 then Do (plain Load) (fun _ => Done) else Done))].
Definition zero (_ : place) := 0.
Notation answers := (answers_of place_dec x zero MP).
Notation in_memory := (memory_of place_dec x zero MP).
Notation completes := (run_of place_dec x zero MP).

Ltac completes := split; [
  let k := fresh in let h := fresh in intros k h;
  repeat (destruct k as [|k]; [vm_compute; reflexivity|]); exfalso; simpl in h; lia|
  split; [intros [|[|[|?]]]; vm_compute; reflexivity|
  split; [intros [|[|?]] []|intros []]; vm_compute; reflexivity]].

(** The message is seen. *)
Definition seen : list (step place) := [
  Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x; DEQMARKER_L1 0 0; Exec 0; FLUSH_L1 0 y;
  FETCH_L1 1 y; Exec 1; Exec 1; FETCH_L1 1 x; Exec 1; FLUSH_L2 x; FLUSH_L2 y].
Theorem seen_completes : completes proposed seen. Proof. completes. Qed.
Example seen_answers : (answers proposed seen 0, answers proposed seen 1,
  in_memory proposed seen x, in_memory proposed seen y) = ([1; 1], [1; 1], 1, 1).
Proof. vm_compute. reflexivity. Qed.

(** The flag is read too early. *)
Definition early : list (step place) := [
  FETCH_L2 y; FETCH_L1 1 y; Exec 1; Exec 1; Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x;
  DEQMARKER_L1 0 0; Exec 0; FLUSH_L1 0 y; FLUSH_L2 x; FLUSH_L2 y].
Theorem early_completes : completes proposed early. Proof. completes. Qed.
Example early_answers : (answers proposed early 0, answers proposed early 1) = ([1; 1], [0]).
Proof. vm_compute. reflexivity. Qed.

(** Under the paper's first scheme the message may be lost: the flag is 1, and x is 0. *)
Definition lost : list (step place) := [
  FETCH_L2 x; Exec 1; FETCH_L1 1 x; Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x; DEQMARKER_L1 0 0;
  Exec 0; FLUSH_L1 0 y; FETCH_L1 1 y; Exec 1; Exec 1; FLUSH_L2 x; FLUSH_L2 y].
Theorem lost_completes : completes original lost. Proof. completes. Qed.
Example lost_answers : (answers original lost 0, answers original lost 1) = ([1; 1], [1; 0]).
Proof. vm_compute. reflexivity. Qed.
