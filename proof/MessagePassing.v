(** * Message passing has no race, and the language does not let it lose the message

    So Thm. 1 says something: no run of message passing under Proposed loses the message, and the
    paper's first scheme is not sound. *)
Require Import List Arith Bool Relations Thm1 Check Proved Examples.
Import ListNotations.

(** [x] is not declared atomic, [y] is. *)
Definition plain_x (l : place) := l = x.
Notation event := (event nat place).
Notation init := (@init nat place).
Notation a := (Node 0 [] : event). (* x = 1 *)
Notation b := (Node 0 [1] : event). (* y = 1 *)
Notation c := (Node 1 [] : event). (* r0 = y *)
Notation d := (Node 1 [1] : event). (* r1 = x *)

Section Execution.
Variable g : graph event.
Variable v : event -> nat.
Hypothesis C : consistent x plain_x MP g.
Hypothesis X : execution zero MP g v.

Lemma before t p q : events g (Node t (p ++ q)) -> events g (Node t p).
Proof.
  destruct q as [|u q]; [rewrite app_nil_r; auto|]. apply (has_past (graph_ok C)). simpl. eauto.
Qed.
Lemma answer_a : events g a -> v a = 1. Proof. intro h. exact (stores X a h eq_refl eq_refl). Qed.

(** Its events, apart from initial writes: four, of which the last depends on what [c] reads. *)
Lemma events_are e : events g e -> init e \/ e = a \/ e = b \/ e = c \/ (e = d /\ v c = 1).
Proof.
  intro h. pose proof (are_real X e h) as r. destruct e as [l|t p]; [left; exact I|right].
  destruct t as [|[|t]].
  - destruct p as [|u [|u' p]]; auto.
    + right; left. assert (h0 : events g a) by exact (before 0 [] [u] h).
      rewrite <- (answered X 0 [] u h), (answer_a h0). reflexivity.
    + exfalso. apply r. destruct p; reflexivity.
  - destruct p as [|u [|u' p]]; auto.
    + do 3 right. pose proof (answered X 1 [] u h) as q. unfold real, op_of in r. simpl in r.
      destruct (u =? 1) eqn:E; [|exfalso; apply r; reflexivity]. apply Nat.eqb_eq in E. subst u.
      auto.
    + exfalso. apply r. unfold op_of. simpl. destruct (u =? 1); destruct p; reflexivity.
  - exfalso. apply r. unfold op_of, thread_of. simpl. destruct t, p; reflexivity.
Qed.

(** If [c] reads 1 it reads from [b], and then all that came before [b] happens before [d]. *)
Lemma c_reads_b : events g c -> v c = 1 -> rf g b c.
Proof.
  intros h one. destruct (rf_some (graph_ok C) c h) as [w W]. { intros u q. discriminate. }
  destruct (rf_of (graph_ok C) w c W) as (hw&_&ww&_&l). pose proof (reads_of X w c W) as q.
  rewrite one in q. destruct (events_are w hw) as [i|[->|[->|[->|[-> _]]]]]; auto.
  - destruct w as [m|]; [|destruct i]. discriminate.
  - discriminate.
  - exfalso. apply ww. reflexivity.
  - discriminate.
Qed.
Lemma a_before_d : events g d -> v c = 1 -> hb MP g a d.
Proof.
  intros hd one. assert (hc : events g c) by exact (before 1 [] [1] hd).
  pose proof (c_reads_b hc one) as W. destruct (rf_of (graph_ok C) b c W) as (hb&_).
  assert (ha : events g a) by exact (before 0 [] [1] hb). apply t_trans with b.
  { apply t_step. left. repeat split; auto. exists 1, []. reflexivity. }
  apply t_trans with c; [|apply t_step; left; repeat split; auto; exists 1, []; reflexivity].
  apply t_step. right. repeat split; auto; try discriminate.
  - left. split; exact I.
  - exists b. split; [left; reflexivity|exact W].
Qed.
(** So [d] reads what [a] wrote: no other write of [x] is visible. *)
Lemma d_reads_a : events g d -> v c = 1 -> v d = 1.
Proof.
  intros hd one. pose proof (a_before_d hd one) as H. destruct (rf_some (graph_ok C) d hd) as [w W].
  { intros u q. discriminate. }
  destruct (rf_of (graph_ok C) w d W) as (hw&_&ww&_&l). rewrite (reads_of X w d W).
  destruct (events_are w hw) as [i|[->|[->|[->|[-> _]]]]]; auto.
  - exfalso. destruct w as [m|]; [|destruct i]. apply (Narf_last C (k := a) W); auto; try exact I.
    + reflexivity.
    + discriminate.
    + apply t_step. left. repeat split; auto. apply (before 0 [] [1]).
      apply (rf_of (graph_ok C) b c). apply c_reads_b; auto. exact (before 1 [] [1] hd).
  - exfalso. apply ww. reflexivity.
Qed.

Lemma no_race : race_free x MP g.
Proof.
  intros e e' h h' ni ni' l w ne. destruct (events_are e h) as [i|[->|[->|[->|[-> one]]]]];
    [tauto|..]; (destruct (events_are e' h') as [i|[->|[->|[->|[-> one']]]]]; [tauto|..]);
    try (exfalso; apply ne; reflexivity); try (right; left; reflexivity); try discriminate l.
  - right; right; left. apply a_before_d; auto.
  - left. split; [reflexivity|]. split; [reflexivity|]. left. split; exact I.
  - left. split; [reflexivity|]. split; [reflexivity|]. left. split; exact I.
  - right; right; right. apply a_before_d; auto.
Qed.
End Execution.

Theorem MP_has_no_race : ~ racy x plain_x zero MP.
Proof. intros (g&v&C&X&_&R). apply R. exact (no_race g v C X). Qed.

(** No outcome with the message lost is allowed, whatever memory has in the end. *)
Theorem lost_is_not_allowed ans mem :
  ans 1 = [1; 0] -> ~ allowed x plain_x zero MP ans mem.
Proof.
  intros A (g&C&X&K&_). pose (v := value_at x zero ans).
  assert (vc : v c = 1) by (unfold v, value_at; rewrite A; reflexivity).
  assert (vd : v d = 0) by (unfold v, value_at; rewrite A; reflexivity). destruct (K 1) as [hc K1].
  fold v in K1. rewrite vc in K1. destruct K1 as [hd _]. pose proof (d_reads_a g v C X hd vc) as q.
  fold v in q. congruence.
Qed.

(** No run of message passing under Proposed loses the message, ... *)
Lemma finite_places : forall p, In p [x; y]. Proof. intros []; simpl; auto. Qed.
Lemma ops_are e o : op_of MP e = Some o -> In o [plain (Store 1); flag (Store 1); flag Load;
  plain Load].
Proof.
  destruct e as [l|[|[|t]] p]; try discriminate; unfold op_of, thread_of.
  - destruct p as [|u [|u' [|u'' p]]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct p as [|u p]; simpl; [intros [= <-]; auto|].
    destruct (u =? 1); destruct p as [|u' [|u'' p]]; simpl; try discriminate; intros [= <-]; auto.
  - destruct t, p; discriminate.
Qed.
Lemma MP_in_scope : in_scope plain_x MP.
Proof.
  intros e o h. apply ops_are in h. unfold plain_x.
  destruct h as [<-|[<-|[<-|[<-|[]]]]]; simpl; intro q; try discriminate; split; auto; discriminate.
Qed.
Lemma MP_has_rows t :
  forallb (fun o => match row_for t o with Some _ => true | None => false end)
    [plain (Store 1); flag (Store 1); flag Load; plain Load] = true -> has_rows MP t.
Proof.
  intros h e o q n. rewrite forallb_forall in h. specialize (h o (ops_are e o q)). rewrite n in h.
  discriminate.
Qed.
Ltac rows := apply MP_has_rows; vm_compute; reflexivity.
Theorem proposed_keeps_the_message run :
  run_of place_dec x zero MP proposed run -> answers_of place_dec x zero MP proposed run 1 <> [1;
    0].
Proof.
  intros h A. destruct (proposed_sound nat place Nat.eq_dec place_dec [x; y] x plain_x zero MP run)
    as [r|r]; auto.
  - exact finite_places.
  - rows.
  - exact MP_in_scope.
  - exact (MP_has_no_race r).
  - exact (lost_is_not_allowed _ _ A r).
Qed.
(** ... and the paper's first scheme is not sound: one of its runs does. *)
Theorem original_is_not_sound : ~ sound original.
Proof.
  intro S. destruct (S nat place Nat.eq_dec place_dec [x; y] x plain_x zero MP lost) as [r|r].
  - exact finite_places.
  - rows.
  - exact MP_in_scope.
  - exact lost_completes.
  - exact (MP_has_no_race r).
  - refine (lost_is_not_allowed _ _ _ r). pose proof lost_answers as q. congruence.
Qed.
