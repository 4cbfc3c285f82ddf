(** * A complete run of the machine, and what each step makes of each cell

    [Run] has a program, a table, and a complete run of the compiled program; all files from here to
    Record.v speak of one.  A run is its list of steps, so that «the state after n steps», «the last
    step that changed a cell» and «the write whose value a cell has» are functions of positions.

    [word1], [word2], [wordm] give the value of a cell with the write that made it.  [thr] gives a
    thread with what it has executed of its operation.  Neither is part of the machine. *)

Require Import Classical List Arith Lia Bool.
Require Import Obligations Thm1.
Require Steps.
Import ListNotations.
Set Implicit Arguments.

Class Run := {
  Val : Type; Loc : Type;
  loc_dec : forall x y : Loc, {x = y} + {x <> y};
  locations : list Loc;
  all_locations : forall x, In x locations;
  nowhere : Loc;
  initial : Loc -> Val;
  P : program Val Loc;
  tbl : table;
  rows_ok : forall r, In r tbl -> one_access r = true;
  run : list (step Loc);
  is_complete : run_of loc_dec nowhere initial P tbl run }.

Section Runs.
Context {R : Run}.
Notation N := (length run).
Notation unset := (initial nowhere).
Definition wgof := wg_of P.
Definition code_tree := compiled nowhere initial P tbl.
Definition sta n := state_at loc_dec wgof unset initial code_tree run n.
Definition lab n := nth_step run n.
Lemma sta_S n : sta (S n) = effect loc_dec wgof unset (sta n) (lab n). Proof. reflexivity. Qed.
Lemma ok n : n < N -> guard loc_dec (wgs P) wgof unset (sta n) (lab n) = true.
Proof. exact (proj1 is_complete n). Qed.
Lemma cmpl : finished unset (sta N). Proof. exact (proj2 is_complete). Qed.
Lemma in_wgs t : In (wgof t) (wgs P). Proof. apply Steps.in_wgs. Qed.

(** ** What step [n] is *)
Definition begins (th : running Val Loc) := match rest th with [] => true | _ => false end.
Definition act n := match lab n with
  | Exec t => match next unset (threads (sta n) t) with
      | Some (i, _) => Some (t, begins (threads (sta n) t), i)
      | None => None
      end
  | _ => None
  end.
Inductive access_kind := kLD | kST | k1 | k2.
Definition acc n := match act n with
  | Some (t, _, LD x) => Some (t, kLD, x)
  | Some (t, _, ST x _) => Some (t, kST, x)
  | Some (t, _, RMW_L1 x _) => Some (t, k1, x)
  | Some (t, _, RMW_L2 x _) => Some (t, k2, x)
  | _ => None
  end.
Definition isacc (i : instr Val Loc) :=
  match i with LD _ | ST _ _ | RMW_L1 _ _ | RMW_L2 _ _ => true | _ => false end.
Definition eqn (a b : nat) := if Nat.eq_dec a b then true else false.
Definition eqx (a b : Loc) := if loc_dec a b then true else false.
(* a store of [w] to [x]; an RMW_L2 of [w] on [x]; of anybody *)
Definition stores_to w x n := match acc n with Some (t, (kST | k1), y) =>
  eqn (wgof t) w && eqx y x | _ => false end.
Definition rmw_at_L2 w x n := match acc n with Some (t, k2, y) => eqn (wgof t) w && eqx y x | _ =>
  false end.
Definition rmw_of x n := match acc n with Some (_, k2, y) => eqx y x | _ => false end.
(* steps of the environment on [x] in the L1 of [w] *)
Definition flush_of w x n := match lab n with FLUSH_L1 v y => eqn v w && eqx y x | _ => false end.
Definition fetch_of w x n := match lab n with FETCH_L1 v y => eqn v w && eqx y x | _ => false end.
Definition evict_of w x n := match lab n with EVICT_L1 v y => eqn v w && eqx y x | _ => false end.
(* an INV that reaches [w]; a FLU of thread [t] that does *)
Definition inv_reaching w n := match act n with Some (t, _, INV_L1 r) => reaches r (wgof t) w | _ =>
  false end.
Definition flu_reaching t w n := match act n with Some (u, _, FLU_L1 r) =>
  eqn u t && reaches r (wgof u) w | _ => false end.
(* an instruction of [t]; the first one of an operation *)
Definition acts t n := match act n with Some (u, _, _) => eqn u t | None => false end.
Definition starts t n := match act n with Some (u, true, _) => eqn u t | _ => false end.
(* the value that the access at [n] writes *)
Definition wval n := match act n with
  | Some (_, _, ST _ v) => v
  | Some (t, _, RMW_L1 x f) => f (data (L1 (sta n) (wgof t)) x)
  | Some (_, _, RMW_L2 x f) => f (data (L2 (sta n)) x)
  | _ => unset
  end.

(** ** Words: a value, and the write that it is of: an initial one, or the access at a position *)
Inductive wid := Ini (x : Loc) | At (n : nat).
Definition word := (Val * wid)%type.
Record origins := Origins { in1 : nat -> Loc -> wid; in2 : Loc -> wid; inm : Loc -> wid }.
Fixpoint origin n := match n with
  | 0 => Origins (fun _ x => Ini x) Ini Ini
  | S k => let o := origin k in Origins
      (fun w x => if stores_to w x k then At k else if fetch_of w x k then in2 o x else in1 o w x)
      (fun x => if rmw_of x k then At k else match lab k with
        | FLUSH_L1 v y => if loc_dec y x then in1 o v x else in2 o x
        | FETCH_L2 y => if loc_dec y x then inm o x else in2 o x
        | _ => in2 o x
        end)
      (fun x => match lab k with FLUSH_L2 y => if loc_dec y x then in2 o x else inm o x | _ =>
        inm o x end)
  end.
Definition word1 n w x : word := (data (L1 (sta n) w) x, in1 (origin n) w x).
Definition word2 n x : word := (data (L2 (sta n)) x, in2 (origin n) x).
Definition wordm n x : word := (memory (sta n) x, inm (origin n) x).

(** ** One step and one cell *)
Ltac cells :=
  unfold stores_to, rmw_at_L2, rmw_of, flush_of, fetch_of, evict_of, inv_reaching, flu_reaching,
    acts, starts, wval, acc, act, eqn, eqx;
  rewrite ?sta_S; unfold effect;
  match goal with |- context [lab ?n] => destruct (lab n) as [t|v z|v z|v z|z|z|z|v z|v t|z|t] end;
  [match goal with |- context [next unset (threads ?s ?u)] =>
     destruct (next unset (threads s u)) as [[i th]|] eqn:NX; [destruct i|] end|..];
  simpl; unfold in_L1, set, setn; simpl.
Ltac cases := repeat match goal with
  | |- context [Nat.eq_dec ?a ?b] => destruct (Nat.eq_dec a b); subst; simpl
  | |- context [loc_dec ?a ?b] => destruct (loc_dec a b); subst; simpl
  | |- context [reaches ?r ?a ?b] => destruct (reaches r a b) eqn:?; simpl
  end.
Ltac dec := cases; unfold set, setn; simpl; cases; try congruence; auto.

Lemma dirty_step w x n : DIRTY (L1 (sta (S n)) w) x =
  if stores_to w x n then true else if flush_of w x n then false else DIRTY (L1 (sta n) w) x.
Proof. cells; dec. Qed.
Lemma valid_step w x n : VALID (L1 (sta (S n)) w) x =
  if stores_to w x n || fetch_of w x n then true
  else if inv_reaching w n || rmw_at_L2 w x n ||
    evict_of w x n then false else VALID (L1 (sta n) w) x.
Proof. cells; dec. Qed.
Lemma data1_step w x n : data (L1 (sta (S n)) w) x =
  if stores_to w x n then wval n else if fetch_of w x n then data (L2 (sta n)) x
    else data (L1 (sta n) w) x.
Proof. cells; dec. Qed.
Lemma data2_step x n : data (L2 (sta (S n))) x = if rmw_of x n then wval n else match lab n with
  | FLUSH_L1 v y => if loc_dec y x then data (L1 (sta n) v) x else data (L2 (sta n)) x
  | FETCH_L2 y => if loc_dec y x then memory (sta n) x else data (L2 (sta n)) x
  | _ => data (L2 (sta n)) x
  end.
Proof. cells; dec. Qed.
Lemma valid2_step x n : VALID (L2 (sta (S n))) x = if rmw_of x n then true else match lab n with
  | FLUSH_L1 _ y | FETCH_L2 y => if loc_dec y x then true else VALID (L2 (sta n)) x
  | EVICT_L2 y => if loc_dec y x then false else VALID (L2 (sta n)) x
  | _ => VALID (L2 (sta n)) x
  end.
Proof. cells; dec. Qed.
Lemma dirty2_step x n : DIRTY (L2 (sta (S n))) x = if rmw_of x n then true else match lab n with
  | FLUSH_L1 _ y => if loc_dec y x then true else DIRTY (L2 (sta n)) x
  | FLUSH_L2 y => if loc_dec y x then false else DIRTY (L2 (sta n)) x
  | _ => DIRTY (L2 (sta n)) x
  end.
Proof. cells; dec. Qed.
Lemma memory_step x n : memory (sta (S n)) x = match lab n with
  | FLUSH_L2 y => if loc_dec y x then data (L2 (sta n)) x else memory (sta n) x
  | _ => memory (sta n) x
  end.
Proof. cells; dec. Qed.
Lemma rmw_step n w : rmw_lock (sta (S n)) w = match act n with
  | Some (t, _, LK_rmw) => Some t
  | Some (_, _, UL_rmw) => None
  | _ => rmw_lock (sta n) w
  end.
Proof. cells; dec. Qed.
Lemma lock_step n x : lock (sta (S n)) x = match act n with
  | Some (t, _, LK_L2 y) => if eqx y x then Some t else lock (sta n) x
  | Some (_, _, UL_L2 y) => if eqx y x then None else lock (sta n) x
  | _ => lock (sta n) x
  end.
Proof. cells; dec. Qed.
(* the fifo of an L1 takes what is stored and marked, or gives away its oldest element *)
Lemma fifo_step w n : n < N ->
  (exists r, fifo (L1 (sta (S n)) w) = fifo (L1 (sta n) w) ++ r /\
    (forall x, stores_to w x n = true -> r = [Entry x]) /\
      (forall t, flu_reaching t w n = true -> r = [Marker t])) \/
  ((forall x, stores_to w x n = false) /\ (forall t, flu_reaching t w n = false) /\
    exists e, fifo (L1 (sta n) w) = e :: fifo (L1 (sta (S n)) w) /\
    forall x, e = Entry x -> DIRTY (L1 (sta n) w) x = false).
Proof.
  intro h. pose proof (ok h) as g. revert g. unfold guard. cells; intro g; try (left; exists [];
    rewrite app_nil_r; split; [dec; fail|split; intros ? H; revert H; dec; fail]);
    try (left; match goal with |- context [Nat.eq_dec w ?v] => destruct (Nat.eq_dec w v) end; subst;
    simpl; [eexists; split; [reflexivity|]|exists []; rewrite app_nil_r; split; [reflexivity|]];
    split; intros ? H; revert H; dec; fail).
  - left. destruct (reaches r (wgof t) w) eqn:E; simpl;
      [exists [Marker t]|exists []; rewrite app_nil_r];
      (split; [auto|split; intros ? H; revert H; dec]).
  - destruct (Nat.eq_dec w v); subst; [right|left; exists []; rewrite app_nil_r; repeat split; auto;
      discriminate]. repeat split; auto. apply andb_prop in g as [g1 g2].
    unfold oldest, is_entry, clean in *.
    destruct (fifo (L1 (sta n) v)) as [|[y|y] q] eqn:F; simpl in *; try discriminate. rewrite F.
    exists (Entry y). split; auto. intros x [= <-]. destruct (loc_dec y z); try discriminate. subst.
    destruct (DIRTY (L1 (sta n) v) z); auto; discriminate.
  - destruct (Nat.eq_dec w v); subst; [right|left; exists []; rewrite app_nil_r; repeat split; auto;
      discriminate]. repeat split; auto. unfold oldest, is_marker in *.
    destruct (fifo (L1 (sta n) v)) as [|[y|y] q] eqn:F; simpl in *; try discriminate. rewrite F.
    exists (Marker y). split; auto. discriminate.
Qed.
Lemma word1_step w x n :
  word1 (S n) w x = if stores_to w x n then (wval n, At n) else if fetch_of w x n then word2 n x
    else word1 n w x.
Proof.
  unfold word1. rewrite data1_step. simpl. destruct (stores_to w x n), (fetch_of w x n); auto.
Qed.
Lemma word2_step x n : word2 (S n) x = if rmw_of x n then (wval n, At n) else match lab n with
  | FLUSH_L1 v y => if loc_dec y x then word1 n v x else word2 n x
  | FETCH_L2 y => if loc_dec y x then wordm n x else word2 n x
  | _ => word2 n x
  end.
Proof.
  unfold word2. rewrite data2_step. simpl.
  destruct (rmw_of x n), (lab n); auto; destruct (loc_dec x0 x); auto.
Qed.
Lemma wordm_step x n : wordm (S n) x = match lab n with
  | FLUSH_L2 y => if loc_dec y x then word2 n x else wordm n x
  | _ => wordm n x
  end.
Proof.
  unfold wordm. rewrite memory_step. simpl. destruct (lab n); auto; destruct (loc_dec x0 x); auto.
Qed.

(** ** Threads: what is executed of the operation ([past], the newest first), and what is left *)
Record thread_view := View { past : list (instr Val Loc); left_ : list (instr Val Loc); kept : Val;
  cont : Val -> codes Val Loc }.
Fixpoint executed n t := match n with
  | 0 => []
  | S k => match act k with
      | Some (u, b, i) => if Nat.eq_dec u t then if b then [i] else i :: executed k t
        else executed k t
      | None => executed k t
      end
  end.
Definition thr n t :=
  View (executed n t) (rest (threads (sta n) t)) (reg (threads (sta n) t))
    (after (threads (sta n) t)).
Definition next_of th := match left_ th with
  | i :: l => Some (false, i, View (i :: past th) l (kept th) (cont th))
  | [] => match cont th (kept th) with Code (i :: l) k => Some (true, i, View [i] l unset k) | _ =>
    None end
  end.
Lemma next_view n t : next unset (threads (sta n) t) =
  match next_of (thr n t) with Some (_, i, th) =>
    Some (i, Running (left_ th) (kept th) (cont th)) | None => None end.
Proof.
  unfold next, next_of, thr. simpl. destruct (rest (threads (sta n) t)); auto.
  destruct (after (threads (sta n) t) (reg (threads (sta n) t))) as [|[|i l] k]; auto.
Qed.
Lemma act_view n : act n = match lab n with
  | Exec t => match next_of (thr n t) with Some (b, i, _) => Some (t, b, i) | None => None end
  | _ => None
  end.
Proof.
  unfold act. destruct (lab n); auto. rewrite next_view. unfold next_of, thr, begins. simpl.
  destruct (rest (threads (sta n) t)); auto.
  destruct (after (threads (sta n) t) (reg (threads (sta n) t))) as [|[|i l] k]; auto.
Qed.
Lemma thr_stay t n : acts t n = false -> thr (S n) t = thr n t.
Proof.
  unfold acts, thr. simpl executed. intro h. assert (E : threads (sta (S n)) t = threads (sta n) t).
  { revert h. unfold act. rewrite sta_S. unfold effect. destruct (lab n); auto.
    destruct (next unset (threads (sta n) t0)) as [[i th]|]; auto. unfold eqn.
    destruct (Nat.eq_dec t0 t) as [->|ne]; [discriminate|]. intros _.
    destruct i; simpl; unfold setn; destruct (Nat.eq_dec t t0); auto; congruence. }
  rewrite E. destruct (act n) as [[[u b] i]|]; auto. unfold eqn in h.
  destruct (Nat.eq_dec u t); auto. discriminate.
Qed.
Lemma thr_go t n b i : act n = Some (t, b, i) -> exists th v,
  next_of (thr n t) = Some (b, i, th) /\ thr (S n) t = View (past th) (left_ th) v (cont th).
Proof.
  intro A. assert (X : executed (S n) t = if b then [i] else i :: executed n t).
  { simpl. rewrite A. destruct (Nat.eq_dec t t); congruence. }
  rewrite act_view in A. destruct (lab n) eqn:LB; try discriminate.
  destruct (next_of (thr n t0)) as [[[b' i'] th]|] eqn:E; [|discriminate]. injection A as -> -> ->.
  assert (Q : past th = if b then [i] else i :: executed n t).
  { unfold next_of, thr in E. simpl in E. destruct (rest (threads (sta n) t)).
    - destruct (after (threads (sta n) t) (reg (threads (sta n) t))) as [|[|j l] k]; inversion E;
        subst; auto.
    - inversion E; subst; auto. }
  assert (T : exists v, threads (sta (S n)) t = Running (left_ th) v (cont th)).
  { rewrite sta_S. unfold effect. rewrite LB, next_view, E.
    destruct i; simpl; unfold setn; destruct (Nat.eq_dec t t); try congruence; simpl; eauto. }
  destruct T as [v T]. exists th, v. split; auto. unfold thr. rewrite T, X, <- Q. auto.
Qed.
Lemma act_guard n t b i : n < N -> act n = Some (t, b, i) ->
  instr_guard (wgs P) wgof (sta n) t i = true.
Proof.
  intros h a. pose proof (ok h) as g. unfold act in a. destruct (lab n) eqn:LB; try discriminate.
  simpl in g. destruct (next unset (threads (sta n) t0)) as [[i' th]|]; [|discriminate].
  injection a as -> _ ->. auto.
Qed.
Lemma thr_0 t : thr 0 t = View [] [] unset (fun _ => code_tree t). Proof. reflexivity. Qed.
Lemma thr_run n t : left_ (thr n t) = rest (threads (sta n) t) /\
  kept (thr n t) = reg (threads (sta n) t) /\
  cont (thr n t) = after (threads (sta n) t).
Proof. auto. Qed.
Lemma words_0 w x : word1 0 w x = (initial x, Ini x) /\ word2 0 x = (initial x, Ini x) /\
  wordm 0 x = (initial x, Ini x).
Proof. auto. Qed.
Lemma word_values n w x :
  fst (word1 n w x) = data (L1 (sta n) w) x /\ fst (word2 n x) = data (L2 (sta n)) x /\
    fst (wordm n x) = memory (sta n) x.
Proof. auto. Qed.
End Runs.
(* what they are is in the lemmas *)
Global Opaque thr word1 word2 wordm.
