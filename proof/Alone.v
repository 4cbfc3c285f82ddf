(** * One thread alone: what an instruction, and the environment, make of a state

    Lemmas for the construction of runs, of any program: paths from a state to a state; what a
    thread has still to execute; a fifo that is emptied; what a row holds after some of its
    instructions (docs/proof.md, Exactness). *)
Require Import List Arith Lia Bool Thm1 Obligations Steps.
Import ListNotations.
Set Implicit Arguments.

Section Paths.
Variables Val Loc : Type.
Variable loc_dec : forall a b : Loc, {a = b} + {a <> b}.
Variable nowhere : Loc.
Variable initial : Loc -> Val.
Variable P : program Val Loc.
Notation unset := (initial nowhere).
Notation effect := (effect loc_dec (wg_of P) unset).
Notation guard := (guard loc_dec (wgs P) (wg_of P) unset).
Notation answer := (answer loc_dec (wg_of P) unset).
Implicit Types (s : state Val Loc) (run : list (step Loc)).

(** ** Paths: a run from [s] to [s'], and the answers that it gives to each thread *)
Definition path s run (a : nat -> list Val) s' :=
  enabled loc_dec nowhere initial P s run = true /\
  last_state loc_dec nowhere initial P s run = s' /\
  forall u, answers_from loc_dec nowhere initial P s run u = a u.
Definition silent (_ : nat) : list Val := [].
Lemma path_nil s : path s [] silent s.
Proof. repeat split. Qed.
Lemma path_one s l : guard s l = true -> path s [l] (answer s l) (effect s l).
Proof.
  intro g. split; [simpl; rewrite g; auto|]. split; auto. intro u. simpl. apply app_nil_r.
Qed.
Lemma path_app s r a s' r' a' s'' : path s r a s' -> path s' r' a' s'' ->
  path s (r ++ r') (fun u => a u ++ a' u) s''.
Proof.
  intros (e&<-&w) (e'&<-&w'). split; [rewrite enabled_app, e; exact e'|].
  split; [apply last_app|]. intro u. rewrite answers_app, w, w'. auto.
Qed.
(** A step of the environment gives no answer. *)
Definition by_environment (l : step Loc) := match l with Exec _ => False | _ => True end.
Lemma path_environment s l : by_environment l -> guard s l = true -> path s [l] silent (effect s l).
Proof.
  intros b g. destruct (path_one s l g) as (e&h&w). split; auto. split; auto.
  destruct l; auto. destruct b.
Qed.

(** ** What a thread has still to execute of an operation; then comes [k] *)
Definition todo (th : running Val Loc) cs k :=
  (rest th = cs /\ after th = k) \/ (rest th = [] /\ after th (reg th) = Code cs k).
Lemma todo_next th i cs k : todo th (i :: cs) k ->
  exists th', next unset th = Some (i, th') /\ forall d, todo (deliver th' d) cs k.
Proof.
  unfold next. intros [[r a]|[r a]]; rewrite r.
  - eexists. split; [reflexivity|]. intros [v|]; left; auto.
  - rewrite a. eexists. split; [reflexivity|]. intros [v|]; left; auto.
Qed.
Lemma todo_end th : todo th [] (fun _ => End) -> next unset th = None.
Proof. unfold next. intros [[r a]|[r a]]; rewrite r, a; auto. Qed.

(** ** A fifo is emptied, if no entry in it waits to leave *)
Definition emptied (c : cache Val Loc) := Cache (data c) (DIRTY c) (VALID c) (present c) [].
Definition leaves (c : cache Val Loc) (e : element Loc) := match e with
  | Entry z => DIRTY c z = false
  | Marker _ => True
  end.
Lemma drain w : forall q s, fifo (L1 s w) = q -> (forall e, In e q -> leaves (L1 s w) e) ->
  exists run s', path s run silent s' /\ L1 s' w = emptied (L1 s w) /\
    (forall w', w' <> w -> L1 s' w' = L1 s w') /\ threads s' = threads s /\
    rmw_lock s' = rmw_lock s /\ lock s' = lock s /\ L2 s' = L2 s /\ memory s' = memory s.
Proof.
  induction q as [|e q IH]; intros s F H.
  - exists [], s. split; [apply path_nil|]. split; [|repeat split; auto].
    unfold emptied. rewrite <- F. destruct (L1 s w). auto.
  - pose (l := match e with Entry z => DEQLOC_L1 w z | Marker u => DEQMARKER_L1 w u end).
    assert (g : guard s l = true).
    { specialize (H e (or_introl eq_refl)). unfold l. destruct e as [z|u]; simpl in *;
        unfold oldest, clean; rewrite F; simpl.
      - rewrite H. destruct (loc_dec z z); auto.
      - destruct (Nat.eq_dec u u); auto. }
    assert (n : by_environment l) by (unfold l; destruct e; exact I).
    assert (E : effect s l = in_L1 s w (@dequeue Val Loc)) by (unfold l; destruct e; auto).
    pose proof (path_environment s l n g) as p. rewrite E in p.
    set (s1 := in_L1 s w (@dequeue Val Loc)) in *.
    assert (w1 : L1 s1 w = dequeue (L1 s w)).
    { unfold s1. simpl. destruct (Nat.eq_dec w w); tauto. }
    destruct (IH s1) as (run&s'&p'&a&a'&r).
    + rewrite w1. simpl. rewrite F. auto.
    + intros e' h. rewrite w1. specialize (H e' (or_intror h)). destruct e'; auto.
    + exists ([l] ++ run), s'. split; [exact (path_app p p')|]. split; [rewrite a, w1; auto|].
      split; [|exact r]. intros w' ne. rewrite a' by auto. unfold s1. simpl.
      destruct (Nat.eq_dec w' w); tauto.
Qed.
End Paths.

(** ** Whether a lock is held after [k] instructions *)
Section Held.
Variables lk ul : ins -> bool.
Fixpoint held cs k (cur : bool) := match k, cs with
  | S k, c :: cs => held cs k (if lk c then true else if ul c then false else cur)
  | _, _ => cur
  end.
Lemma held_next cs : forall k cur c, nth_error cs k = Some c ->
  held cs (S k) cur = if lk c then true else if ul c then false else held cs k cur.
Proof.
  induction cs as [|d cs IH]; intros [|k] cur c e; simpl in e; try discriminate.
  - injection e as ->. destruct cs; auto.
  - change (held (d :: cs) (S (S k)) cur) with
      (held cs (S k) (if lk d then true else if ul d then false else cur)).
    rewrite (IH k _ c e). auto.
Qed.
(** What is held lies in an interval. *)
Lemma held_interval cs : forall i k cur,
  held cs k (if cur : option nat then true else false) = true ->
  exists f m, In (f, m) (intervals lk ul cs i cur) /\ (cur = Some f \/ i <= f < i + k) /\
    forall j, m = Instr j -> i + k <= j.
Proof.
  induction cs as [|c cs IH]; intros i k cur h.
  - destruct cur as [f|]; [|destruct k; discriminate]. exists f, ToEnd. simpl.
    split; auto. split; auto. discriminate.
  - destruct k as [|k].
    + (* nothing is executed: the interval that is open *)
      destruct cur as [f|]; [|discriminate]. simpl in h.
      enough (K : exists m, In (f, m) (intervals lk ul (c :: cs) i (Some f)) /\
        forall j, m = Instr j -> i <= j).
      { destruct K as (m&a&b). exists f, m. rewrite Nat.add_0_r. auto. }
      clear. revert i. generalize (c :: cs) as l.
      induction l as [|d l IH]; intro i; simpl.
      * exists ToEnd. split; auto. discriminate.
      * destruct (lk d), (ul d);
          try (destruct (IH (S i)) as (m&a&b); exists m; split; auto;
            intros j e; specialize (b j e); lia).
        exists (Instr i). split; [left; auto|]. intros j [= <-]. auto.
    + simpl in h. simpl. destruct (lk c).
      * destruct cur as [f|].
        -- destruct (IH (S i) k (Some f) h) as (f'&m&a&b&d). exists f', m. split; auto.
           split; [destruct b; [auto|right; lia]|]. intros j e. specialize (d j e). lia.
        -- destruct (IH (S i) k (Some i) h) as (f'&m&a&b&d). exists f', m. split; auto.
           split; [|intros j e; specialize (d j e); lia].
           right. destruct b as [[= <-]|b]; lia.
      * destruct (ul c).
        -- destruct (IH (S i) k None h) as (f'&m&a&b&d). exists f', m.
           split; [destruct cur; simpl; auto|].
           split; [destruct b; [discriminate|right; lia]|]. intros j e. specialize (d j e). lia.
        -- destruct (IH (S i) k cur) as (f'&m&a&b&d); [exact h|]. exists f', m. split; auto.
           split; [destruct b; [auto|right; lia]|]. intros j e. specialize (d j e). lia.
Qed.
(** Who frees a lock holds it. *)
Lemma freed_is_held cs : forall k cur c, bracketed lk ul cs cur = true ->
  nth_error cs k = Some c -> lk c = false -> ul c = true -> held cs k cur = true.
Proof.
  induction cs as [|d cs IH]; intros [|k] cur c b e l u; simpl in *; try discriminate.
  - injection e as ->. rewrite l, u in b. apply andb_prop in b as [b _]. auto.
  - destruct (lk d).
    + exact (IH k true c b e l u).
    + destruct (ul d); [apply andb_prop in b as [_ b]; exact (IH k false c b e l u)|].
      exact (IH k cur c b e l u).
Qed.
End Held.

(** ** The one access of a row is at [pos] *)
Lemma access_at r k i : one_access r = true -> nth_error (code r) k = Some i -> is_acc i = true ->
  k = pos r /\ i = access r.
Proof.
  unfold one_access, access, pos. intros h e a. apply andb_prop in h as [h _].
  apply Nat.eqb_eq in h. revert k e. induction (code r) as [|c cs IH]; intros [|k] e;
    simpl in *; try discriminate.
  - injection e as ->. rewrite a. auto.
  - destruct (is_acc c) eqn:C; [|destruct (IH h k e) as [-> q]; split; auto].
    exfalso. injection h as h. apply nth_error_In in e.
    assert (In i (filter is_acc cs)) by (apply filter_In; auto).
    destruct (filter is_acc cs); [auto|discriminate].
Qed.
(** An interval begins with what takes the lock, and ends with what frees it. *)
Lemma interval_marks lk ul cs : forall i cur f m, In (f, m) (intervals lk ul cs i cur) ->
  (cur = Some f \/ exists k c, f = i + k /\ nth_error cs k = Some c /\ lk c = true) /\
  forall j, m = Instr j -> exists k c, j = i + k /\ nth_error cs k = Some c /\
    lk c = false /\ ul c = true.
Proof.
  induction cs as [|d cs IH]; intros i cur f m h.
  - destruct cur as [f0|]; [|destruct h]. destruct h as [[= <- <-]|[]]. split; auto. discriminate.
  - assert (step : forall cur', In (f, m) (intervals lk ul cs (S i) cur') ->
      (cur' = Some f \/ exists k c, f = i + k /\ nth_error (d :: cs) k = Some c /\ lk c = true) /\
      forall j, m = Instr j -> exists k c, j = i + k /\ nth_error (d :: cs) k = Some c /\
        lk c = false /\ ul c = true).
    { intros cur' q. apply IH in q as [a b]. split.
      - destruct a as [a|(k&c&->&e&l)]; auto. right. exists (S k), c. split; [lia|auto].
      - intros j e. destruct (b j e) as (k&c&->&e'&l). exists (S k), c. split; [lia|auto]. }
    simpl in h. destruct (lk d) eqn:l.
    { apply step in h as [a b]. split; auto. destruct a as [a|a]; auto. destruct cur; auto.
      injection a as <-. right. exists 0, d. split; [lia|auto]. }
    destruct (ul d) eqn:u; [|apply step in h; exact h].
    destruct cur as [f0|].
    + destruct h as [[= <- <-]|h].
      * split; auto. intros j [= <-]. exists 0, d. split; [lia|auto].
      * apply step in h as [a b]. split; auto. destruct a as [a|a]; auto. discriminate.
    + apply step in h as [a b]. split; auto.
Qed.
