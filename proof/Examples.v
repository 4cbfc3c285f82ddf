(** * The definitions are not empty: message passing

    [x = 1; y = 1 (DV) || r0 = y (DV); if (r0 == 1) r1 = x] has no race.  Under Proposed it has the
    outcomes of the source, no more, and each is reached: r0 is 0, or r0 and r1 are 1.  Under the
    paper's first scheme it has one more, with the message lost. *)
Require Import List Arith Bool Relations Thm1 Obligations Proved Steps Refuted.
Import ListNotations.

(** Both sides have one value: computed once, when the proof is checked. *)
Ltac computes := match goal with |- _ = ?v => vm_cast_no_check (@eq_refl _ v) end.

(** ** [check] *)
Example proposed_ok : check proposed = true. Proof. computes. Qed.
Example original_is_refused : check original = false. Proof. computes. Qed.
(** Six obligations are broken: those of §5.5.1 and §5.5.2 of the paper. *)
Example original_fails : length (broken original) = 6.
Proof. computes. Qed.

Definition with_code kind scope remote code (t : table) := map (fun r =>
  if same_kind kind (row_kind r) && same_scope (Some scope) (row_scope r) &&
    Bool.eqb remote (row_remote r)
  then Row kind (Some scope) remote code else r) t.
Example load_without_inv : check (with_code OLoad DV false [Ld] proposed) = false.
Proof. computes. Qed.
Example load_with_inv_before : check (with_code OLoad DV false [Inv to_WG; Ld] proposed) = false.
Proof. computes. Qed.
Example remote_load_flushes_one_L1 :
  check (with_code OLoad DV true [Ld; Flu to_WG; Inv to_WG] proposed) = false.
Proof. computes. Qed.
Example remote_store_without_lock : check
  (with_code OStore DV true [Flu to_DV; Inv to_DV; St; Flu to_WG; Inv to_DV] proposed) = false.
Proof. computes. Qed.
(** A lock that is kept is no matter of soundness: such a table may get stuck. *)
Example remote_store_keeps_lock : check
  (with_code OStore DV true [Lk_rmw; Flu to_DV; Inv to_DV; St; Flu to_WG; Inv to_DV] proposed) =
    true.
Proof. computes. Qed.

(** ** Message passing: what the language allows *)
Definition store_DV := Row OStore (Some DV) false [].
Definition load_DV := Row OLoad (Some DV) false [].
Definition MP := message store_DV load_DV.
Definition outcome (answers : nat -> list nat) (memory : place -> nat) :=
  let r0 := nth 0 (answers 1) 0 in let r1 := nth 1 (answers 1) 0 in
  (r0 = 0 \/ (r0 = 1 /\ r1 = 1)) /\ memory x = 1 /\ memory y = 1.

Theorem MP_has_no_race : ~ racy x plain_x zero MP.
Proof. apply message_has_no_race; reflexivity. Qed.
Theorem MP_outcomes ans mem : allowed x plain_x zero MP ans mem -> outcome ans mem.
Proof.
  intros (g&C&X&K&L). set (v := value_at x zero ans) in *. pose proof (graph_ok C) as G.
  assert (are : forall e, events g e -> init e \/ e = Node 0 [] \/ e = Node 0 [1] \/
    e = Node 1 [] \/ (e = Node 1 [1] /\ v (Node 1 []) = 1)) by exact (events_are C X).
  assert (init_first : forall l t p, events g (Node t p) -> hb MP g (Init l) (Node t p)).
  { intros l t p h. apply t_step. left. repeat split; auto. apply (has_init G). exact Logic.I. }
  destruct (K 0) as [ha [hb0 _]]. rewrite (answer_xa X ha) in hb0. destruct (K 1) as [hc rest].
  simpl in hb0. fold v in hc, rest. repeat split.
  - destruct (rf_some G (Node 1 []) hc) as [w F]. { intros u q. discriminate. }
    destruct (rf_of G w _ F) as (hw&_&ww&_&l). pose proof (reads_of X w _ F) as q.
    change (nth 0 (ans 1) 0) with (v (Node 1 [])). change (nth 1 (ans 1) 0) with (v (Node 1 [1])).
    destruct (are w hw) as [i|[->|[->|[->|[-> _]]]]]; try discriminate l.
    + destruct w; [left; exact q|destruct i].
    + right. split; [exact q|]. rewrite q in rest. destruct rest as [hd _].
      exact (@xd_reads_xa store_DV load_DV eq_refl eq_refl eq_refl g v C X hd q).
    + destruct (ww eq_refl).
  - destruct (L x) as (w&hw&ww&l&q&_&last). rewrite <- q.
    destruct (are w hw) as [i|[->|[->|[->|[-> _]]]]]; try discriminate l; auto.
    + destruct w as [m|]; [|destruct i]. exfalso.
      refine (last eq_refl (Node 0 []) _ eq_refl (init_first m 0 [] ha)). discriminate.
    + destruct (ww eq_refl).
  - destruct (L y) as (w&hw&ww&l&q&last&_). rewrite <- q.
    destruct (are w hw) as [i|[->|[->|[->|[-> _]]]]]; try discriminate l; auto.
    + destruct w as [m|]; [|destruct i]. exfalso.
      assert (o : mo g (Init m) (Node 0 [1]) \/ mo g (Node 0 [1]) (Init m)).
      { apply (mo_total G); auto; rewrite ?l; discriminate. }
      destruct o as [o|o].
      * refine (last _ _ o). discriminate.
      * refine (Coh C (init_first m 0 [1] hb0) _ o _); auto.
    + destruct (ww eq_refl).
Qed.

(** ** Its runs *)
Notation answers := (answers_of place_dec x zero MP).
Notation in_memory := (memory_of place_dec x zero MP).
Notation runs := (run_of place_dec x zero MP).
Ltac by_steps := eapply completes_right; [exact all_places|computes].

(** Under Proposed every complete run has an outcome of the source. *)
Ltac in_scope := eapply in_scope_of; [apply message_ops|];
  unfold plain; intros o [<-|[<-|[<-|[<-|[]]]]] a; try discriminate a; eauto.
Theorem proposed_outcomes run : runs proposed run ->
  outcome (answers proposed run) (in_memory proposed run) /\
  allowed x plain_x zero MP (answers proposed run) (in_memory proposed run).
Proof.
  intro h.
  destruct (proposed_sound nat place Nat.eq_dec place_dec places x plain_x zero MP run)
    as [r|r]; auto.
  - exact all_places.
  - eapply have_rows; [apply message_ops|computes].
  - in_scope.
  - destruct (MP_has_no_race r).
  - split; auto. exact (MP_outcomes _ _ r).
Qed.
(** Each is reached: the message is seen, ... *)
Definition seen : list (step place) := [
  Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x; DEQMARKER_L1 0 0; Exec 0; FLUSH_L1 0 y;
  FETCH_L1 1 y; Exec 1; Exec 1; FETCH_L1 1 x; Exec 1; FLUSH_L2 x; FLUSH_L2 y].
Theorem seen_completes : runs proposed seen. Proof. by_steps. Qed.
Example seen_answers : (answers proposed seen 0, answers proposed seen 1,
  in_memory proposed seen x, in_memory proposed seen y) = ([1; 1], [1; 1], 1, 1).
Proof. computes. Qed.
(** ... or the flag is read too early. *)
Definition early : list (step place) := [
  FETCH_L2 y; FETCH_L1 1 y; Exec 1; Exec 1; Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x;
  DEQMARKER_L1 0 0; Exec 0; FLUSH_L1 0 y; FLUSH_L2 x; FLUSH_L2 y].
Theorem early_completes : runs proposed early. Proof. by_steps. Qed.
Example early_answers : (answers proposed early 0, answers proposed early 1) = ([1; 1], [0]).
Proof. computes. Qed.

(** Under the paper's first scheme the message may be lost: the flag is 1, and x is 0. *)
Definition lost : list (step place) := [
  FETCH_L2 x; Exec 1; FETCH_L1 1 x; Exec 0; Exec 0; FLUSH_L1 0 x; DEQLOC_L1 0 x; DEQMARKER_L1 0 0;
  Exec 0; FLUSH_L1 0 y; FETCH_L1 1 y; Exec 1; Exec 1; FLUSH_L2 x; FLUSH_L2 y].
Theorem lost_completes : runs original lost. Proof. by_steps. Qed.
Theorem lost_is_no_outcome : ~ outcome (answers original lost) (in_memory original lost).
Proof. vm_compute. intros [[h|[_ h]] _]; discriminate. Qed.
Theorem original_is_not_sound : ~ sound original.
Proof. apply (@refuted _ (Lost store_DV load_DV lost)). computes. Qed.
