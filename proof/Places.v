(** * Where a thread is in its program *)
Require Import Classical List Arith Lia Bool Eqdep_dec.
Require Import Obligations Program Runs Positions Events Threads Values Thm1.
Import ListNotations.
Set Implicit Arguments.
Section Places_.
Context {RUN : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Notation ro := (@row_of Val Loc tbl).
Notation tr := (instr_of nowhere initial).
Notation codes := (code_of nowhere initial tbl).
Notation comp := (compile nowhere initial tbl).
Notation cd t := (body (thread_of P t)).
Definition answer_at n := match act n with Some (_, _, ST _ v) => v | _ => rval n end.
Fixpoint answers_so_far n t : list Val := match n with 0 => [] | S k =>
  match acc k with Some (u, _, _) => if Nat.eq_dec u t then answers_so_far k t ++ [answer_at k]
  else answers_so_far k t | None => answers_so_far k t end end.
(* Where a thread is in its tree. *)
Definition at_place n t := (answers_so_far n t = [] /\ code_now (thr n t) = [] /\
  left_ (thr n t) = [] /\ forall v, cont (thr n t) v = comp (cd t)) \/
  exists p o k, subtree (cd t) p = Do o k /\ code_now (thr n t) = codes o /\
    (forall v, cont (thr n t) v = comp (k (answer_of o v))) /\
    ((existsb isacc (past (thr n t)) = false /\ answers_so_far n t = p) \/
      (existsb isacc (past (thr n t)) = true /\ answers_so_far n t = p ++
      [answer_of o (kept (thr n t))])).
Lemma acc_isacc n t b i : act n = Some (t, b, i) ->
  (isacc i = true <-> exists k x, acc n = Some (t, k, x)) /\ (isacc i = false -> acc n = None).
Proof.
  intro h. rewrite (act_acc _ h). destruct i; simpl; (split; [split;
    [intro; try discriminate; eauto|intros (?&?&?); congruence]|intro; try discriminate; auto]).
Qed.
Lemma answers_stay n t : acts t n = false -> answers_so_far (S n) t = answers_so_far n t.
Proof.
  intro h. simpl. destruct (acc n) as [[[u k] x]|] eqn:E; auto.
  destruct (Nat.eq_dec u t) as [->|]; auto. destruct (acc_act _ E) as (b&i&th&A&_).
  apply act_acts in A. congruence.
Qed.
Lemma answers_keep n t b i : act n = Some (t, b, i) -> isacc i = false ->
  answers_so_far (S n) t = answers_so_far n t.
Proof. intros h h'. simpl. destruct (acc_isacc _ h) as [_ q]. rewrite q; auto. Qed.
Lemma answers_grow n t k x : acc n = Some (t, k, x) ->
  answers_so_far (S n) t = answers_so_far n t ++ [answer_at n].
Proof. intros h. simpl. rewrite h. destruct (Nat.eq_dec t t); congruence. Qed.
Lemma only_access o i : is_acc i = true -> In i (code (ro o)) -> i = access (ro o).
Proof.
  intros a I. pose proof (row_has_one_access o) as h. unfold access, pos.
  assert (H : In i (filter is_acc (code (ro o)))) by (apply filter_In; auto). revert h H. clear.
  induction (code (ro o)) as [|c cs IH]; simpl; [tauto|]. destruct (is_acc c); simpl; auto.
  destruct (filter is_acc cs); [|discriminate]. simpl. intros _ [->|[]]. auto.
Qed.
Lemma answer_is n t b o i : act n = Some (t, b, tr o i) -> is_acc i = true -> In i (code (ro o)) ->
  answer_at n = answer_of o (kept (thr (S n) t)).
Proof.
  intros A a I. pose proof (only_access _ _ a I) as ac.
  destruct (row_wf o) as [h1 h2]. unfold one_access in h1. apply andb_prop in h1 as [_ h1].
  rewrite <- ac, h2 in h1. unfold kind_row in h1. unfold answer_at, answer_of. rewrite A.
  pose proof (@reg_val _ n t b (tr o i) A) as R. unfold stored.
  destruct (op_kind o) eqn:K, i; try discriminate; simpl in *; unfold stored; rewrite ?K; auto;
    rewrite R; auto.
Qed.
Lemma codes_acc o : existsb isacc (codes o) = true.
Proof.
  pose proof (row_has_one_access o) as h. unfold code_of. rewrite <- (filter_tr o) in h.
  induction (map (tr o) (code (ro o))) as [|c cs IH]; simpl in *; [discriminate|].
  destruct (isacc c); auto.
Qed.
Lemma existsb_rev A (f : A -> bool) l : existsb f (rev l) = existsb f l.
Proof.
  induction l; simpl; auto. rewrite existsb_app, IHl. simpl. rewrite orb_false_r. apply orb_comm.
Qed.
(* It is always at the place to which its answers lead. *)
Lemma always_at_place n t : at_place n t.
Proof.
  induction n as [|n IH]. { left. rewrite thr_0. repeat split; auto. }
  destruct (acts t n) eqn:AT. 2: { unfold at_place. rewrite answers_stay, thr_stay; auto. }
  apply acts_inv in AT as (b&i&A). pose proof (fun o j => @answer_is n t b o j) as AA.
  pose proof (fun q => @held_keep _ n t i q) as RN. destruct (thr_go _ A) as (q&v&F&G).
  rewrite G in AA, RN. simpl in AA, RN. assert (HS : answers_so_far (S n) t = if isacc i then
    answers_so_far n t ++ [answer_at n] else answers_so_far n t).
  { destruct (isacc i) eqn:IA; [|eapply answers_keep; eauto].
    destruct (acc_isacc _ A) as [[q1 _] _]. destruct (q1 IA) as (k&x&q2).
    eapply answers_grow; eauto. }
  unfold at_place. rewrite HS, G. simpl. right. destruct b.
  - unfold next_of in F. destruct (left_ (thr n t)) as [|i' l'] eqn:RE; [|discriminate].
    destruct (cont (thr n t) (kept (thr n t))) as [|[|j l] kk] eqn:CO; try discriminate.
    injection F as -> <-. simpl in *. assert (E : exists p c, answers_so_far n t = p /\
      subtree (cd t) p = c /\ comp c = Code (i :: l) kk).
    { destruct IH as [(h1&h2&_&h3)|(p&o&k&h1&h2&h3&h4)].
      - exists [], (cd t). rewrite h3 in CO. auto.
      - rewrite h3 in CO.
        exists (p ++ [answer_of o (kept (thr n t))]), (k (answer_of o (kept (thr n t)))).
        split; [|split; auto; rewrite sub_app, h1; auto]. destruct h4 as [[h4 _]|[_ h4]]; auto.
        unfold code_now in h2. rewrite RE, app_nil_r in h2.
        rewrite <- existsb_rev, h2, codes_acc in h4. discriminate. }
    destruct E as (p&c&E1&E2&E3). destruct c as [|o k]; [discriminate|]. simpl in E3.
    injection E3 as E3 <-. exists p, o, k. split; auto. split; [unfold code_now; simpl; auto|].
    split; auto. rewrite orb_false_r. destruct (isacc i) eqn:IA; [right|left; auto]. split; auto.
    rewrite E1. f_equal. f_equal. assert (X : In i (codes o)) by (rewrite E3; left; auto).
    unfold code_of in X. apply in_map_iff in X as (j&<-&X). apply AA with j; auto.
    rewrite <- (isacc_tr o). auto.
  - pose proof (@one_access_left _ t n) as ONE. unfold next_of in F.
    destruct (left_ (thr n t)) as [|i' l'] eqn:RE;
      [destruct (cont (thr n t) (kept (thr n t))) as [|[|]]; discriminate|]. injection F as -> <-.
    simpl in *. destruct IH as [(_&_&h3&_)|(p&o&k&h1&h2&h3&h4)]; [congruence|]. exists p, o, k.
    split; auto. unfold code_now in h2 |- *. rewrite RE in h2. simpl. rewrite <- app_assoc. simpl.
    split; auto. split; auto. destruct (isacc i) eqn:IA; simpl.
    + right. split; auto. rewrite filter_app, app_length in ONE. simpl in ONE. rewrite IA in ONE.
      simpl in ONE. destruct h4 as [[h4 h5]|[h4 h5]].
      * rewrite h5. f_equal. f_equal.
        assert (X : In i (codes o)) by (rewrite <- h2; apply in_or_app; right; left; auto).
        unfold code_of in X. apply in_map_iff in X as (j&<-&X). apply AA with j; auto.
        rewrite <- (isacc_tr o). auto.
      * exfalso. apply existsb_exists in h4 as (z&z1&z2).
        assert (Z : In z (filter isacc (past (thr n t)))) by (apply filter_In; auto).
        destruct (filter isacc (past (thr n t))); [auto|simpl in ONE; lia].
    + rewrite RN; auto.
Qed.
(* The operation of an access. *)
Lemma acc_node n t k x : acc n = Some (t, k, x) -> exists o kk b,
  subtree (cd t) (answers_so_far n t) = Do o kk /\ codeof n = codes o /\
  act n = Some (t, b, tr o (access (ro o))) /\
  is_acc (access (ro o)) = true /\ answer_at n = answer_of o (kept (thr (S n) t)).
Proof.
  intro a. destruct (acc_act _ a) as (b&i&th'&A&IA&_). destruct (thr_go _ A) as (q&v&F&G).
  destruct (always_at_place (S n) t) as [(h&_)|(p&o&kk&h1&h2&h3&h4)].
  { rewrite (answers_grow _ a) in h. symmetry in h. apply app_cons_not_nil in h. tauto. }
  assert (PI : In i (past (thr (S n) t))).
  { rewrite G. simpl. destruct b; [apply next_t in F|apply next_f in F]; destruct F as (_&F&_);
      rewrite F; simpl; auto. }
  assert (PE : existsb isacc (past (thr (S n) t)) = true) by (apply existsb_exists; eauto).
  destruct h4 as [[h4 _]|[_ h4]]; [congruence|]. rewrite (answers_grow _ a) in h4.
  apply app_inj_tail in h4 as [h4 h5]. exists o, kk, b. rewrite h4. split; auto.
  assert (X : In i (codes o)).
  { rewrite <- h2. unfold code_now. apply in_or_app. left. apply -> in_rev. auto. }
  unfold code_of in X. apply in_map_iff in X as (j&<-&X). rewrite isacc_tr in IA.
  pose proof (only_access _ _ IA X).
  subst j. split; [unfold codeof; rewrite a; exact h2|]. auto.
Qed.
End Places_.
