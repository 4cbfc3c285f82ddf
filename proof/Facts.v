(** * The facts of a complete run

    [facts] is what docs/proof.md says of every complete run of rsp, and all that the theorem asks
    of a machine.  Record.v shows that each complete run of rsp has these facts.  FromFacts.v shows
    [any_machine]: where runs have them, a table that [check] accepts is sound.  Other machines of
    this tool break these:

    - _Several devices_: a write arrives in the L2 of its device, and later in memory.  So there is
      no one time [arr] at which it is there for all: [look_l2] and [look_ft] are false of what has
      arrived in another device.
    - _AMD_: an access is issued at one moment and done at another, and the next instruction need
      not wait.  By [T_acc] and [code_seq] an access has one time, and code is in order.
    - _quickrelease_: no instruction of its tables invalidates.  Old entries of all L1s go when a
      line leaves the L2's write cache, of which [inv_reaches] says nothing; and rows flush the L2,
      for which there is no instruction here. *)
Require Import Classical List Arith Bool Lia Program Thm1.
Require Export Obligations.
Import ListNotations.
Set Implicit Arguments.
Unset Strict Implicit.

(** Instructions are executed at [t i], and their markers have left at [left i], one after the
    other, between [prev] and [e]. *)
Fixpoint ordered (t left : nat -> nat) e cs i prev := match cs with
  | [] => prev < e
  | c :: cs => prev < t i /\ match c with
      | Flu _ => t i < left i /\ ordered t left e cs (S i) (left i)
      | _ => ordered t left e cs (S i) (t i)
      end
  end.
(** [r] is a row for [o]. *)
Definition by_row (Val L : Type) (tbl : table) (o : op Val L) r :=
  In r tbl /\ row_kind r = kind_row o /\ row_scope r = scope_row o /\
  (op_atomic o = true -> row_remote r = op_remote o).

Class facts (Val L : Type) (nowhere : L) (initial : L -> Val) (P : program Val L) (tbl : table) := {
  M : Type;                              (* the operations that are executed, and initial writes *)
  all : list M;
  all_in : forall o, In o all;
  nd : M -> event Val L;                 (* the event of the program that it is *)
  isW o := Thm1.isW P (nd o);
  isR o := Thm1.isR P (nd o);
  init o := Thm1.init (nd o);
  loc o := Thm1.loc nowhere P (nd o);
  wg o := group_of P (nd o);
  thd o p := Thm1.thd (nd o) (nd p);
  rw : M -> row;                         (* its row *)
  l2 o := ~ init o /\ inc2 (rw o) = true;          (* it is an Inc_L2 *)
  T : M -> nat;                          (* when its access is executed; its start and its end; *)
  s : M -> nat;
  e : M -> nat;
  arr : M -> nat;                        (* when it arrives in the L2, if it writes *)
  t : M -> nat -> nat;                   (* when an instruction of its code is executed, ... *)
  left : M -> nat -> nat;                (* ... and when the markers of a Flu have left *)
  mark_time o m := match m with Instr i => t o i | ToEnd => e o end;
  rf_run : M -> M -> Prop;               (* the write that its look finds, *)
  own : M -> Prop;                       (* if it is a store of its own L1; *)
  ft : M -> nat;                         (* else what was fetched at this time, unless [l2] *)
  fetched o := isR o /\ ~ own o /\ ~ l2 o;
  inv : nat -> nat -> Prop;              (* an Inv reaches the L1 of a work-group at a time *)
  mm x y := isW x /\ isW y /\ loc x = loc y /\ x <> y /\
    (arr x < arr y \/ (arr x = arr y /\ T x < T y));         (* the order of arrival, *)
  mme x y := x = y \/ mm x y;                                 (* and the same write *)
  val : event Val L -> Val;              (* what a read reads, what a store stores *)
  mem : L -> Val;                        (* memory in the end *)

  (* The program. *)
  nd_inj : forall {a b}, nd a = nd b -> a = b;
  nd_init : forall l, exists a, nd a = Init l;
  nd_real : forall a, real P (nd a);
  nd_path : forall {a t p u}, nd a = Node t (p ++ [u]) ->
    val (Node t p) = u /\ exists b, nd b = Node t p;
  nd_all : complete P (fun x => exists a, x = nd a) val;
  rf_v : forall {w r}, rf_run w r -> val (nd r) = written initial P val (nd w);
  st_v : forall {a o c}, op_of P (nd a) = Some o -> op_kind o = Store c -> val (nd a) = c;
  mem_v : forall l, exists w, isW w /\ loc w = l /\ written initial P val (nd w) = mem l /\
    forall k, ~ mm w k;
  its_row : forall a o, op_of P (nd a) = Some o -> by_row tbl o (rw a);
  one_each : forall r, In r tbl -> one_access r = true;

  (* Times.  Operations of a thread, and the instructions of each, are executed in their order. *)
  s_pos : forall {o}, ~ init o -> 0 < s o;
  T_inj : forall {o p}, ~ init o -> ~ init p -> T o = T p -> o = p;
  T_acc : forall {o}, ~ init o -> T o = t o (pos (rw o));
  T_sb : forall {o p}, thd o p -> (T o < T p <-> Thm1.sb (nd o) (nd p));
  T_init : forall {o}, init o -> T o = 0 /\ arr o = 0;
  code_seq : forall {o}, ~ init o -> ordered (t o) (left o) (e o) (code (rw o)) 0 (s o);
  seqs : forall {o p}, thd o p -> T o < T p -> e o < s p;

  (* Arrival.  Writes of one work-group to a location arrive in order, an Inc_L2 at once; a store
     that is made before another has left arrives together with it, and nothing else does. *)
  arr_l2 : forall {o}, l2 o -> arr o = T o;
  arrs : forall {o}, isW o -> ~ init o -> ~ l2 o -> T o < arr o;
  dist : forall {o p}, isW o -> isW p -> o <> p -> loc o = loc p -> arr o = arr p ->
    wg o = wg p /\ ~ init o /\ ~ init p /\ ~ l2 o /\ ~ l2 p;
  order : forall {o p}, isW o -> isW p -> ~ init o -> ~ init p -> wg o = wg p -> loc o = loc p ->
    T o < T p -> arr o <= arr p /\ (l2 p -> arr o < arr p);
  merge : forall {o p}, isW o -> isW p -> ~ init o -> ~ init p -> ~ l2 o -> ~ l2 p ->
    wg o = wg p -> loc o = loc p -> T o < T p -> T p < arr o -> arr o = arr p;

  (* Looks.  An Inc_L2 finds the last write that has arrived.  A look in an L1 finds the last store
     of this L1, or what it fetched last: the last that had arrived then, own stores among them.
     No store, Inv or fetch of the L1 comes in between. *)
  rf_dom : forall {w r}, rf_run w r -> isW w /\ isR r /\ loc w = loc r;
  rf_fun : forall {w w' r}, rf_run w r -> rf_run w' r -> w = w';
  rf_tot : forall {r}, isR r -> exists w, rf_run w r;
  look_l2 : forall {w' o}, rf_run w' o -> l2 o -> arr w' < T o /\
    forall w, isW w -> loc w = loc o -> arr w < T o -> mme w w';
  look_own : forall {w' o}, rf_run w' o -> own o ->
    ~ l2 o /\ ~ init w' /\ wg w' = wg o /\ ~ l2 w' /\ T w' < T o /\
    (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w' < T w -> ~ T w < T o) /\
    (forall i, inv (wg o) i -> T w' < i -> ~ i < T o) /\
    (forall p, fetched p -> wg p = wg o -> loc p = loc o -> T w' < ft p -> ~ ft p < T o);
  look_ft : forall {w' o}, rf_run w' o -> fetched o ->
    0 < ft o /\ ft o < T o /\ arr w' < ft o /\
    (forall w, isW w -> loc w = loc o -> arr w < ft o -> mme w w') /\
    (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w < T o -> arr w < ft o) /\
    (forall i, inv (wg o) i -> ft o < i -> ~ i < T o) /\
    (forall p, fetched p -> wg p = wg o -> loc p = loc o -> ft p < T o -> ft p <= ft o);

  (* A Flu waits until what was stored before has arrived, an Inv reaches L1s.  A lock keeps other
     work-groups out, if nobody frees what he does not hold. *)
  flu_drains : forall {o i r w}, ~ init o -> nth_error (code (rw o)) i = Some (Flu r) ->
    isW w -> ~ init w -> wg w = wg o \/ r = to_DV -> T w < t o i -> arr w < left o i;
  inv_reaches : forall {o i r g}, ~ init o -> nth_error (code (rw o)) i = Some (Inv r) ->
    g = wg o \/ r = to_DV -> inv g (t o i);
  lock_rmw : bracketed_rmw tbl = true -> forall o p f u, ~ init o -> ~ init p -> wg o <> wg p ->
    In (f, u) (rmw_intervals (rw o)) ->
    (forall f' u', In (f', u') (rmw_intervals (rw p)) ->
      mark_time o u <= t p f' \/ mark_time p u' <= t o f) /\
    (inc (rw p) = true -> T p <= t o f \/ mark_time o u <= T p);
  lock_L2 : bracketed_L2 tbl = true -> forall o p f u, ~ init o -> ~ init p -> wg o <> wg p ->
    loc o = loc p -> In (f, u) (L2_intervals (rw o)) ->
    (forall f' u', In (f', u') (L2_intervals (rw p)) ->
      mark_time o u <= t p f' \/ mark_time p u' <= t o f) /\
    (isW p -> arr p <= t o f \/ mark_time o u <= arr p) /\
    (fetched p -> ft p <= t o f \/ mark_time o u <= ft p) }.

Section Derived.
Context {Val L : Type} {nowhere : L} {initial : L -> Val} {P : program Val L} {tbl : table}.
Context {Y : facts nowhere initial P tbl}.
Definition at_ o := atom P (nd o).
Definition incl o p := Thm1.incl P (nd o) (nd p).
Definition rel o := Thm1.rel P (nd o).
Definition acq o := Thm1.acq P (nd o).
Definition rmw o := isW o /\ isR o.
Definition sb x y := (init x /\ ~ init y) \/ (thd x y /\ T x < T y).

(** ** Operations and rows *)
Lemma its_op o : ~ init o -> exists q, op_of P (nd o) = Some q /\ by_row tbl q (rw o) /\
  one_access (rw o) = true.
Proof.
  unfold init. intro ni. pose proof (nd_real o) as h. unfold real in h.
  destruct (nd o) as [|u p] eqn:E; [destruct (ni Logic.I)|].
  destruct (op_of P (Node u p)) as [q|] eqn:Q; [|tauto].
  assert (c : by_row tbl q (rw o)) by (apply its_row; congruence).
  exists q. repeat split; try apply c. apply one_each, c.
Qed.
Lemma W_iff o : ~ init o -> (isW o <-> writes (rw o) = true).
Proof.
  intro ni. destruct (its_op ni) as (q&h1&(_&h2&_)&_). unfold isW, Thm1.isW, writes.
  rewrite h1, h2. unfold kind_row. unfold init in ni.
  destruct (nd o); [destruct ni; exact Logic.I|].
  destruct (op_kind q); split; intros; auto; congruence.
Qed.
Lemma R_iff o : ~ init o -> (isR o <-> reads (rw o) = true).
Proof.
  intro ni. destruct (its_op ni) as (q&h1&(_&h2&_)&_). unfold isR, Thm1.isR, reads.
  rewrite h1, h2. unfold kind_row.
  destruct (op_kind q) as [|c|]; split; intro h; auto; try congruence. destruct (h c); auto.
Qed.
Lemma l2_iff o : ~ init o -> (l2 o <-> inc2 (rw o) = true). Proof. unfold l2. tauto. Qed.
Lemma at_op o : at_ o -> ~ init o /\ exists q, op_of P (nd o) = Some q /\ op_atomic q = true /\
  by_row tbl q (rw o).
Proof.
  unfold at_, atom. intro h. assert (ni : ~ init o).
  { unfold init. intro i. destruct (nd o); auto. }
  destruct (its_op ni) as (q&h1&h2&_). rewrite h1 in h. eauto.
Qed.
Lemma at_row o : at_ o -> ~ init o /\ atomic (rw o) = true.
Proof.
  intro h. destruct (at_op h) as (ni&q&h1&h2&(_&_&h3&_)). split; auto. unfold atomic.
  rewrite h3. unfold scope_row. rewrite h2. auto.
Qed.
Lemma covers_big b c : at_ b -> covers P (nd b) (nd c) -> wg b <> wg c ->
  big (row_scope (rw b)) = true.
Proof.
  unfold wg. intros h I ne. destruct (at_op h) as (ni&q&h1&h2&(_&_&h3&_)). rewrite h3.
  unfold scope_row. rewrite h2. unfold covers in I. destruct (nd b), (nd c); try tauto.
  rewrite h1 in I. destruct (op_scope q); auto.
Qed.
Lemma remote_row b : at_ b -> remote P (nd b) -> row_remote (rw b) = true.
Proof.
  intros h r. destruct (at_op h) as (ni&q&h1&h2&(_&_&_&h3)). unfold remote in r.
  rewrite h1 in r. rewrite h3; auto.
Qed.
Lemma incl_ok b c : at_ b -> at_ c -> incl b c -> wg b <> wg c ->
  incl_rows (rw b) (rw c) = true.
Proof.
  intros h1 h2 I ne. assert (ne' : wg c <> wg b) by auto. unfold incl_rows.
  destruct I as [[i j]|[[r i]|[i r]]].
  - rewrite (covers_big h1 i ne), (covers_big h2 j ne'). auto.
  - rewrite (covers_big h1 i ne), (remote_row h1 r), orb_true_r. auto.
  - rewrite (covers_big h2 i ne'), (remote_row h2 r), !orb_true_r. auto.
Qed.

(** ** Times *)
Lemma access_in_order tl l ee cs : length (filter is_acc cs) = 1 -> forall i prev,
  ordered tl l ee cs i prev -> prev < tl (i + pos_acc cs) /\ tl (i + pos_acc cs) < ee.
Proof.
  assert (O : forall cs i prev, ordered tl l ee cs i prev -> prev < ee).
  { clear. induction cs as [|c cs IH]; simpl; auto. intros i prev [h1 h2].
    destruct c; try (apply IH in h2; lia). destruct h2 as [h2 h3]. apply IH in h3. lia. }
  induction cs as [|c cs IH]; simpl; intros h i prev H; [discriminate|]. destruct H as [h1 h2].
  destruct (is_acc c) eqn:a.
  - rewrite Nat.add_0_r. split; auto. destruct c; try discriminate; eauto.
  - rewrite Nat.add_succ_r.
    destruct c; try discriminate; try (destruct (IH h (S i) _ h2); simpl in *; lia).
    destruct h2 as [h2 h3]. destruct (IH h (S i) _ h3). simpl in *; lia.
Qed.
Lemma times o : ~ init o -> 0 < s o /\ s o < T o /\ T o < e o.
Proof.
  intro ni. destruct (its_op ni) as (q&_&_&h). split; [apply s_pos; auto|].
  rewrite T_acc; auto. unfold one_access in h. apply andb_prop in h as [h _].
  apply Nat.eqb_eq in h. exact (access_in_order h (code_seq ni)).
Qed.
Lemma l2s o : l2 o -> isW o /\ isR o /\ arr o = T o.
Proof.
  intros H. pose proof (arr_l2 H). destruct H as [ni h]. destruct (its_op ni) as (q&_&_&w).
  unfold one_access in w. apply andb_prop in w as [_ w]. unfold inc2 in h.
  rewrite W_iff, R_iff; auto. unfold writes, reads.
  destruct (row_kind (rw o)), (access (rw o)); auto; discriminate.
Qed.
Lemma inits o : init o -> isW o /\ ~ isR o /\ ~ l2 o /\ T o = 0 /\ arr o = 0.
Proof.
  intro i. destruct (init_w P (nd o) i) as (h1&h2&_). destruct (T_init i).
  repeat split; auto. intros [h _]. auto.
Qed.

(** ** The obligations of a run, which Check.v shows for tables that [check] accepts *)

(** [w] is in reach of work-group [G] at [t]. *)
Definition in_reach w G t := isW w /\ (init w \/ arr w < t \/ (wg w = G /\ T w < t)).
(** An Inv of [C] comes before [t'], and when all has arrived that [B] had in reach at [t]. *)
Definition carries B t C t' :=
  exists j, inv C j /\ j < t' /\ forall x, in_reach x B t -> init x \/ arr x < j.
(** [r] is what [c]'s look goes back to, or an earlier fetch of its L1: it got [b] or newer. *)
Definition SYNC_holds := forall b c r, isW b -> at_ b -> isR c -> at_ c -> incl b c ->
  wg b <> wg c -> loc b = loc c -> isR r -> wg r = wg c -> loc r = loc c -> T r <= T c ->
  (l2 r /\ arr b < T r \/ fetched r /\ arr b < ft r) -> (l2 c -> r = c) ->
  carries (wg b) (s b) (wg c) (e c).
(** The same where looks are afresh: all that [B] had in reach at [t] arrives before [t']. *)
Definition arrives_before B t t' := forall x, in_reach x B t -> init x \/ arr x < t'.
Definition SYNC_afresh_holds := forall b c r, isW b -> at_ b -> isR c -> at_ c -> incl b c ->
  wg b <> wg c -> loc b = loc c -> isR r -> wg r = wg c -> loc r = loc c -> T r <= T c ->
  (l2 r /\ arr b < T r \/ fetched r /\ arr b < ft r) -> (l2 c -> r = c) ->
  arrives_before (wg b) (s b) (e c).
(** [k] is the first of the stores that it arrives with.  Of the others ATOM is not asked. *)
Definition first k := forall o, isW o -> ~ init o -> wg o = wg k -> loc o = loc k -> T o < T k ->
  arr o <> arr k.
Definition ATOM_holds := forall w u k, rmw u -> rf_run w u -> at_ k -> at_ u -> incl k u ->
  wg k <> wg u -> first k -> mm k u -> mme k w.

(** ** Fig2.v asks for these *)
Lemma acc o : isW o \/ isR o.
Proof.
  destruct (classic (init o)) as [i|ni]. { left. apply inits; auto. }
  destruct (its_op ni) as (q&h&_). unfold isW, isR, Thm1.isW, Thm1.isR. rewrite h.
  destruct (nd o); [left; exact Logic.I|].
  destruct (op_kind q) eqn:k; [right|left|left]; congruence.
Qed.
Lemma thd_sym x y : thd x y -> thd y x. Proof. apply Program.thd_sym. Qed.
Lemma thd_tr x y z : thd x y -> thd y z -> thd x z. Proof. apply Program.thd_tr. Qed.
Lemma thd_ni x y : thd x y -> ~ init x. Proof. apply Program.thd_ni. Qed.
Lemma thd_wg x y : thd x y -> wg x = wg y. Proof. apply Program.thd_wg. Qed.
Lemma incl_sym x y : incl x y -> incl y x. Proof. apply Program.incl_sym. Qed.
Lemma init_ex l : exists x, init x /\ loc x = l.
Proof. destruct (nd_init l) as [a h]. exists a. unfold init, loc. rewrite h. simpl. auto. Qed.
Lemma init_uq x y : init x -> init y -> loc x = loc y -> x = y.
Proof.
  unfold init, loc. intros i j l. apply nd_inj. destruct (nd x), (nd y); simpl in *; try tauto.
  congruence.
Qed.
Lemma at_ni x : init x -> ~ at_ x. Proof. intros i a. destruct (at_op a). auto. Qed.
Lemma rel_at x : rel x -> at_ x. Proof. apply Program.rel_at. Qed.
Lemma acq_at x : acq x -> at_ x. Proof. apply Program.acq_at. Qed.
(** Programs in scope: atomic stores release, and so on. *)
Lemma store_releases (nal : L -> Prop) : in_scope nal P ->
  forall x, at_ x -> isW x -> ~ rmw x -> rel x.
Proof.
  intros S x a w nr. destruct (at_op a) as (ni&o&h1&h2&_). unfold rel, Thm1.rel, having.
  rewrite h1. split; auto. apply (proj1 (S _ _ h1 h2)).
  assert (r : ~ isR x) by (intro; apply nr; split; auto).
  unfold isR, Thm1.isR in r. rewrite h1 in r. apply NNPP. intro n. apply r. intros v k. eauto.
Qed.
Lemma strong_where_plain (nal : L -> Prop) : in_scope nal P ->
  forall x, at_ x -> nal (loc x) -> (isW x -> rel x) /\ (isR x -> acq x).
Proof.
  intros S x a na. destruct (at_op a) as (ni&o&h1&h2&_).
  unfold rel, acq, Thm1.rel, Thm1.acq, having.
  rewrite h1. assert (lo : loc x = op_loc o).
  { unfold loc, Thm1.loc, init in *. rewrite h1. destruct (nd x); auto. destruct (ni Logic.I). }
  rewrite lo in na. destruct (proj2 (S _ _ h1 h2) na) as [h6 h7].
  unfold isW, isR, Thm1.isW, Thm1.isR, init in *. rewrite h1. split; auto.
  intro w. split; auto. apply h6. destruct (nd x); [destruct (ni Logic.I)|auto].
Qed.
End Derived.
