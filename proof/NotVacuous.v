(** * What the theorems speak of is there

    A fair run; one that does not end, where a lock is kept; runs with the facts that
    [any_machine] asks for; programs that have a race, lack a row, or are out of scope. *)
Require Import List Arith Bool Thm1 Steps Orderly Deadlock Obligations.
Require Import Refuted Examples FairRuns.
Require Facts Record Proved Stuck Decide.
Import ListNotations.

(** ** 1. Fair runs *)

(** Message passing under Proposed: both its runs in Examples.v go on as fair ones. *)
Theorem fair_runs_of_message_passing run : In run [seen; early] ->
  exists steps, fair_run place_dec x zero MP proposed steps /\
    forall n, n < length run -> steps n = nth_step run n.
Proof.
  intro i. apply every_run_goes_on_fairly with (locations := places).
  - vm_compute. reflexivity.
  - exact all_places.
  - destruct i as [<-|[<-|[]]]; [exact (proj1 seen_completes)|exact (proj1 early_completes)].
Qed.

(** A table whose stores keep the rmw locks: a second remote store waits for ever. *)
Definition keeping := Stuck.without_Ul_rmw OStore proposed.
Definition two_stores :=
  Stuck.beside [(0, [Stuck.store DV true]); (1, [Stuck.store DV true])].
Definition flushed :=
  Stuck.first_has_stored ++ [FLUSH_L2 Stuck.x; DEQLOC_L2 Stuck.x].
Theorem locks_that_are_kept : ~ ends_fairly keeping.
Proof.
  apply waits_for_ever_fairly with (locations := [Stuck.x; Stuck.y]) (loc_dec := Stuck.place_dec)
    (nowhere := Stuck.x) (initial := Stuck.zero) (P := two_stores) (run := flushed).
  - intros []; simpl; auto.
  - apply Stuck.have_rows. vm_compute. reflexivity.
  - vm_compute. reflexivity.
  - destruct (@others_stay _ _ Stuck.place_dec Stuck.x Stuck.zero two_stores keeping flushed
      (first Stuck.x Stuck.zero two_stores keeping)) as [O C]; auto.
    split.
    + split; [exact O|vm_compute; reflexivity].
    + intros w z. destruct (in_dec Nat.eq_dec w (wgs two_stores)) as [i|i]; auto.
      destruct i as [<-|[<-|[<-|[]]]], z; vm_compute; reflexivity.
    + intros []; vm_compute; reflexivity.
    + intros w [<-|[<-|[<-|[]]]]; vm_compute; reflexivity.
    + vm_compute. reflexivity.
    + intros []; vm_compute; reflexivity.
Qed.

(** ** 2. The facts of a run *)

(** They hold together: message passing has two runs that have them, with its answers and memory. *)
Theorem runs_with_the_facts run : In run [seen; early] ->
  exists Y : Facts.facts x zero MP proposed,
    (forall e, Facts.val e = value_at x zero (answers_of place_dec x zero MP proposed run) e) /\
    (forall l, Facts.mem l = memory_of place_dec x zero MP proposed run l).
Proof.
  intro i. assert (C : run_of place_dec x zero MP proposed run).
  { destruct i as [<-|[<-|[]]]; [exact seen_completes|exact early_completes]. }
  assert (H : has_rows MP proposed).
  { eapply have_rows; [apply message_ops|vm_compute; reflexivity]. }
  assert (W : forall r, In r proposed -> one_access r = true).
  { apply forallb_forall. vm_compute. reflexivity. }
  pose (R := @Runs.Build_Run nat place place_dec places all_places x zero MP proposed W run C).
  exists (@Record.the_run R H). split; auto.
  intro e. symmetry. apply (@Record.value_read_answers R).
Qed.

(** ** 3. Programs *)

Definition alone (o : op nat place) : thread nat place := Thread 0 (Do o (fun _ => Done)).
(** [x = 1 || x = 2] has a race: the graph has its two stores. *)
Definition two_plain_stores : program := [alone (plain (Store 1)); alone (plain (Store 2))].
Definition all_events : list event := [Init x; Init y; Node 0 []; Node 1 []].
Definition its_values (e : event) := match e with Node 0 [] => 1 | Node 1 [] => 2 | _ => 0 end.
Definition is_x l := if place_dec l x then true else false.
Theorem two_plain_stores_race : racy x (fun l => is_x l = true) zero two_plain_stores.
Proof.
  pose (racing := Decide.g all_events [] []).
  assert (C : consistent x (fun l => is_x l = true) two_plain_stores racing).
  { apply (Decide.decides Nat.eq_dec place_dec places all_places); vm_compute; reflexivity. }
  exists racing, its_values. split; [exact C|]. split; [|split].
  - split.
    + intros e [<-|[<-|[<-|[<-|[]]]]]; simpl; auto; discriminate.
    + intros t p u h. exfalso. destruct h as [h|[h|[h|[h|[]]]]]; try discriminate h;
        injection h as _ h; destruct p; discriminate h.
    + intros w r [].
    + intros e o c [<-|[<-|[<-|[<-|[]]]]] q k; try discriminate q;
        injection q as <-; injection k as <-; reflexivity.
  - intros [|[|[|t]]]; simpl; auto 6.
  - intro F. apply (Decide.decides_races Nat.eq_dec place_dec is_x) in F;
      [vm_compute in F; discriminate F|vm_compute; reflexivity|exact (graph_ok C)].
Qed.

(** A table without rows has none for message passing; relaxed stores are out of scope. *)
Theorem rows_are_missing : ~ has_rows MP [].
Proof. intro h. exact (h (Node 0 []) _ eq_refl eq_refl). Qed.
Theorem relaxed_stores_are_out_of_scope (nonatomic : place -> Prop) :
  ~ in_scope nonatomic [alone (Operation (Store 1) x true DV false false false)].
Proof.
  intro S. destruct (S (Node 0 []) _ eq_refl eq_refl) as [r _].
  discriminate (r (ex_intro _ 1 eq_refl)).
Qed.
