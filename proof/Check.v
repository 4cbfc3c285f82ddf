(* Tables as data, the obligations SYNC and ATOM of Views.v, and a checker for them. *)
Require Import List Arith Lia Bool Classical Thm1 Refuter Fig2 Views.
Import ListNotations.
Set Implicit Arguments.
(* ---- tables ---- *)
Definition writes r := match row_kind r with OLoad => false | _ => true end.
Definition reads r := match row_kind r with OStore => false | _ => true end.
Definition is_acc i := match i with Ld | St | Inc_L1 | Inc_L2 => true | _ => false end.
Fixpoint pos_acc cs := match cs with [] => 0 | c :: cs =>
  if is_acc c then 0 else S (pos_acc cs) end.
Definition pos r := pos_acc (code r).
Definition access r := nth (pos r) (code r) Ul_rmw.
Definition inc2 r := match access r with Inc_L2 => true | _ => false end.
Definition inc1 r := match access r with Inc_L1 => true | _ => false end.
Definition inc r := match access r with Inc_L1 | Inc_L2 => true | _ => false end.
Definition one_access r := (length (filter is_acc (code r)) =? 1) &&
  match row_kind r, access r with OLoad, Ld | OStore, St | ORmw, Inc_L1 | ORmw, Inc_L2 => true | _,
    _ => false end.
Definition big s := match s with Some DV | Some ALL => true | _ => false end.
Definition atomic r := match row_scope r with None => false | _ => true end.
(* incl between atomics of different work-groups of one device *)
Definition incl_rows b c := (big (row_scope b) && big (row_scope c)) ||
  (row_remote b && big (row_scope b)) || (row_remote c && big (row_scope c)).

Fixpoint idx (f : ins -> bool) cs i : list nat := match cs with [] => [] | c :: cs =>
  if f c then i :: idx f cs (S i) else idx f cs (S i) end.
Definition isflu own c := match c with Flu to_DV => true | Flu to_WG => own | _ => false end.
Definition isinv own c := match c with Inv to_DV => true | Inv to_WG => own | _ => false end.
(* the intervals in which a lock is held: from the first LK to the next UL, or to the end *)
Inductive mark := Instr (i : nat) | ToEnd.
Fixpoint held (lk ul : ins -> bool) cs i (cur : option nat) : list (nat * mark) := match cs with
  | [] => match cur with Some f => [(f, ToEnd)] | None => [] end
  | c :: cs => if lk c then held lk ul cs (S i) (match cur with None => Some i | _ => cur end)
               else if ul c then match cur with Some f =>
                 (f, Instr i) :: held lk ul cs (S i) None | None => held lk ul cs (S i) None end
               else held lk ul cs (S i) cur end.
Fixpoint brk (lk ul : ins -> bool) cs (cur : bool) := match cs with [] => true
  | c :: cs => if lk c then brk lk ul cs true else if ul c then cur && brk lk ul cs false
    else brk lk ul cs cur end.
Definition lkr c := match c with Lk_rmw => true | _ => false end.
Definition ulr c := match c with Ul_rmw => true | _ => false end.
Definition lkx c := match c with Lk_L2 => true | _ => false end.
Definition ulx c := match c with Ul_L2 => true | _ => false end.
Definition heldr r := held lkr ulr (code r) 0 None.
Definition heldx r := held lkx ulx (code r) 0 None.
(* nobody frees a lock that he does not hold *)
Definition bracketed_rmw (t : table) := forallb (fun r => brk lkr ulr (code r) false) t.
Definition bracketed_L2 (t : table) := forallb (fun r => brk lkx ulx (code r) false) t.

(* ---- points: start, end, arrival, three more times, of the instructions,
   and when their markers have left ---- *)
Definition b2n (o : bool) := if o then 1 else 0.
Definition pS o := b2n o.
Definition pE o := 2 + b2n o.
Definition pA o := 4 + b2n o.
Definition pX o := 6 + b2n o.
Definition pY := 8.
Definition pT o i := 9 + (i * 4 + b2n o).
Definition pL o i := 9 + (i * 4 + (2 + b2n o)).
Definition pM o m := match m with Instr i => pT o i | ToEnd => pE o end.
Fixpoint edges o cs i prev : list lit := match cs with [] => [(prev, true, pE o)]
  | c :: cs => (prev, true, pT o i) :: match c with Flu _ =>
    (pT o i, true, pL o i) :: edges o cs (S i) (pL o i) | _ => edges o cs (S i) (pT o i) end end.
Definition arrf o r : list lit := let p := pT o (pos r) in if writes r then if inc2 r then
  [(pA o, false, p); (p, false, pA o)] else [(p, true, pA o)] else [].
Definition pts o (l : list nat) := map (fun i => (pT o i, pL o i)) l.
Definition flus o r own := pts o (idx (isflu own) (code r) 0).
Definition invs o r own := map (pT o) (idx (isinv own) (code r) 0).
Definition out p o (h : nat * mark) : clause :=
  [(p, false, pT o (fst h)); (pM o (snd h), false, p)].
Definition excl (h h' : nat * mark) : clause :=
  [(pM false (snd h), false, pT true (fst h')); (pM true (snd h'), false, pT false (fst h))].
Definition locks (lr lx : bool) b c : list clause :=
  (if lr then flat_map (fun h => map (excl h) (heldr c)) (heldr b) ++
     (if inc c then map (out (pT true (pos c)) false) (heldr b) else []) ++
       (if inc b then map (out (pT false (pos b)) true) (heldr c) else []) else []) ++
  (if lx then flat_map (fun h => map (excl h) (heldx c)) (heldx b) ++
     (if writes c then map (out (pA true) false) (heldx b) else []) ++
       (if writes b then map (out (pA false) true) (heldx c) else []) else []).
Definition drain w a (fl : list (nat * nat)) : list clause :=
  map (fun p => [(fst p, false, w); (a, true, snd p)]) fl.
Definition base lr lx b c : list lit * list clause :=
  (edges false (code b) 0 (pS false) ++ edges true (code c) 0 (pS true) ++ arrf false b ++ arrf true
    c, locks lr lx b c).
Definition size b c := 9 + 4 * max (length (code b)) (length (code c)).

Definition sync_ok lr lx b c :=
  let '(fs, cs) := base lr lx b c in let g := pX false in let p := pT true (pos c) in
  let fl := flus false b true ++ flus true c false in
  contra (size b c) ((pA false, true, g) :: (g, false,
    p) :: (if inc2 c then [(p, false, g)] else []) ++ fs)
    (cs ++ (if lx then map (out g false) (heldx b) else []) ++ drain (pT false (pos b)) (pA false)
      fl ++
     flat_map (fun j => map (fun q => [(pE true, false, j); (j, true, pS false);
       (fst q, true, pS false); (j, true, snd q)]) fl) (invs true c true ++ invs false b false)).
(* pY: if b is an Inc_L1, and the first of the stores that it arrives with,
   its L1 had got x from L2, or given it to L2, and no Inv has come since *)
Definition agree_f b : list lit := if inc1 b then [(pY, false, pT false (pos b))] else [].
Definition agree_c (lx : bool) b u : list clause :=
  if inc1 b then (if lx then map (out pY true) (heldx u) else []) ++
  map (fun i => [(i, false, pY); (pT false (pos b), false, i)])
    (invs false b true ++ invs true u false) else [].
Definition atom_base lr lx b u :=
  let '(fs, cs) := base lr lx b u in
  ((pA false, true, pA true) :: agree_f b ++ fs,
   agree_c lx b u ++ cs ++ drain (pT false (pos b)) (pA false)
     (flus false b true ++ flus true u false) ++ drain (pT true (pos u)) (pA true)
     (flus true u true ++ flus false b false)).
(* u reads a store of its own work-group: T pX false, arr pX true;
   it has left before u, or else it leaves together with u, so after b *)
Definition atom_own lr lx b u := let '(fs, cs) := atom_base lr lx b u in let p := pT true (pos u) in
  contra (size b u) ((pX false, true, p) :: (pX true, false, pA true) :: (pX false, true,
    pX true) :: (pX true, false, pA false) :: (pX true, false, p) :: fs)
    (cs ++ (if lx then map (out (pX true) false) (heldx b) else []) ++ drain (pX false) (pX true)
      (flus true u true ++ flus false b false) ++
     map (fun i => [(i, false, pX false); (p, false, i)]) (invs true u true ++ invs false b false)).
(* u reads what was fetched at pX false *)
Definition atom_ft lr lx b u := let '(fs, cs) := atom_base lr lx b u in let p := pT true (pos u) in
  contra (size b u) ((pX false, true, p) :: (pX false, false, pA false) :: fs)
    (cs ++ (if lx then map (out (pX false) false) (heldx b) else []) ++
     map (fun i => [(i, false, pX false); (p, false, i)]) (invs true u true ++ invs false b false)).
Definition atom_ok lr lx b u := inc2 u || (atom_own lr lx b u && atom_ft lr lx b u).
Definition isrmw r := writes r && reads r.
Definition check_pair lr lx b c := negb (atomic b && atomic c && incl_rows b c && writes b) ||
  ((negb (reads c) || sync_ok lr lx b c) && (negb (isrmw c) || atom_ok lr lx b c)).
Definition check (t : table) := let lr := bracketed_rmw t in let lx := bracketed_L2 t in
  forallb one_access t && forallb (fun b => forallb (check_pair lr lx b) t) t.
(* which pairs fail, for a reader *)
Definition failing (t : table) := let lr := bracketed_rmw t in let lx := bracketed_L2 t in
  (filter (fun r => negb (one_access r)) t, filter (fun p =>
    negb (check_pair lr lx (fst p) (snd p))) (list_prod t t)).

(* ---- Tab. 3 ---- *)
Definition na_wg op c := [Row op None false c; Row op (Some WG) false c; Row op (Some WG) true c].
Definition wgs op c := [Row op (Some WG) false c; Row op (Some WG) true c].
Definition dv op rm c := [Row op (Some DV) rm c].
Definition proposed : table := na_wg OLoad [Ld] ++ dv OLoad false [Ld;
  Inv to_WG] ++ dv OLoad true [Ld; Flu to_DV; Inv to_WG] ++
  na_wg OStore [St] ++ dv OStore false [Flu to_WG; St] ++ dv OStore true [Lk_rmw; Flu to_DV;
    Inv to_DV; St; Flu to_WG; Inv to_DV; Ul_rmw] ++
  wgs ORmw [Inc_L1] ++ dv ORmw false [Flu to_WG; Inc_L2; Inv to_WG] ++ dv ORmw true [Lk_rmw;
    Flu to_DV; Inv to_DV; Inc_L2; Flu to_DV; Inv to_DV; Ul_rmw].
Definition original : table := na_wg OLoad [Ld] ++ dv OLoad false [Inv to_WG;
  Ld] ++ dv OLoad true [Lk_L2; Flu to_DV; Inv to_WG; Ld; Ul_L2] ++
  na_wg OStore [St] ++ dv OStore false [Flu to_WG; St] ++ dv OStore true [Lk_L2; Flu to_WG; St;
    Inv to_DV; Ul_L2] ++
  wgs ORmw [Inc_L1] ++ dv ORmw false [Flu to_WG; Inv to_WG; Inc_L2] ++ dv ORmw true [Lk_rmw; Lk_L2;
    Flu to_DV; Inv to_WG; Inc_L2; Inv to_DV; Ul_L2; Ul_rmw].
Example proposed_ok : check proposed = true. Proof. vm_compute. reflexivity. Qed.
Example original_no : check original = false. Proof. vm_compute. reflexivity. Qed.

(* ---- soundness of the checker ---- *)
Lemma In_idx f cs : forall i j, In j (idx f cs i) -> exists k, j = i + k /\ exists c,
  nth_error cs k = Some c /\ f c = true.
Proof.
  induction cs as [|c cs IH]; simpl; intros i j h; [tauto|]. assert (R : In j (idx f cs (S i)) ->
    exists k, j = i + k /\ exists c', nth_error (c :: cs) k = Some c' /\ f c' = true).
  { intro q. destruct (IH _ _ q) as (k&->&c'&h1&h2). exists (S k). split; [lia|]. exists c'. auto. }
  destruct (f c) eqn:e; auto. destruct h as [<-|h]; auto. exists 0. split; [lia|]. exists c; auto.
Qed.
Section Val.
Variables sT eT aT xT : bool -> nat.
Variable yT : nat.
Variables tT lT : bool -> nat -> nat.
Definition val n := match n with 0 => sT false | 1 => sT true | 2 => eT false | 3 => eT true | 4 =>
  aT false | 5 => aT true | 6 => xT false | 7 => xT true | 8 => yT
  | S (S (S (S (S (S (S (S (S m)))))))) => let i := m / 4 in match m mod 4 with 0 =>
    tT false i | 1 => tT true i | 2 => lT false i | _ => lT true i end end.
Lemma val_S o : val (pS o) = sT o. Proof. destruct o; auto. Qed.
Lemma val_E o : val (pE o) = eT o. Proof. destruct o; auto. Qed.
Lemma val_A o : val (pA o) = aT o. Proof. destruct o; auto. Qed.
Lemma val_X o : val (pX o) = xT o. Proof. destruct o; auto. Qed.
Lemma dm i k : k < 4 -> (i * 4 + k) / 4 = i /\ (i * 4 + k) mod 4 = k.
Proof.
  intro h. split. rewrite Nat.div_add_l, Nat.div_small; lia.
  rewrite Nat.add_comm, Nat.mod_add, Nat.mod_small; lia.
Qed.
Lemma val_T o i : val (pT o i) = tT o i.
Proof.
  unfold pT, val. cbn [Nat.add]. destruct (@dm i (b2n o)) as [h1 h2]; [destruct o; simpl; lia|].
  rewrite h1, h2. destruct o; auto.
Qed.
Lemma val_L o i : val (pL o i) = lT o i.
Proof.
  unfold pL, val.
  change (9 + (i * 4 + (2 + b2n o))) with (S (S (S (S (S (S (S (S (S (i * 4 + (2 + b2n o))))))))))).
  destruct (@dm i (2 + b2n o)) as [h1 h2]; [destruct o; simpl; lia|]. cbv zeta. rewrite h1, h2.
  destruct o; auto.
Qed.
Definition vM o m := match m with Instr i => tT o i | ToEnd => eT o end.
Lemma val_M o m : val (pM o m) = vM o m. Proof. destruct m; simpl. apply val_T. apply val_E. Qed.
Fixpoint ordered (t l : nat -> nat) e cs i prev := match cs with [] => prev < e
  | c :: cs => prev < t i /\ match c with Flu _ => t i < l i /\ ordered t l e cs (S i) (l i) | _ =>
    ordered t l e cs (S i) (t i) end end.
Ltac hv := unfold holds; rewrite ?val_S, ?val_E, ?val_A, ?val_X, ?val_T, ?val_L, ?val_M.
Lemma edges_ok o cs : forall i prev, ordered (tT o) (lT o) (eT o) cs i (val prev) -> forall l,
  In l (edges o cs i prev) -> holds val l.
Proof.
  induction cs as [|c cs IH]; simpl; intros i prev h l.
  - intros [<-|[]]. hv. auto.
  - destruct h as [h1 h2]. intros [<-|h]; [hv; auto|].
    destruct c; try (apply (IH (S i) (pT o i)); auto; rewrite val_T; auto; fail).
    destruct h2 as [h2 h3]. destruct h as [<-|h]; [hv; auto|]. apply (IH (S i) (pL o i)); auto.
    rewrite val_L; auto.
Qed.
End Val.

Lemma check_pairs tb b c : check tb = true -> In b tb -> In c tb ->
  check_pair (bracketed_rmw tb) (bracketed_L2 tb) b c = true.
Proof.
  unfold check. rewrite andb_true_iff. intros [_ H] h1 h2. rewrite forallb_forall in H.
  specialize (H _ h1). cbv beta in H. rewrite forallb_forall in H. auto.
Qed.
Lemma check_pair_spec lr lx b c : check_pair lr lx b c = true -> atomic b = true ->
  atomic c = true -> incl_rows b c = true -> writes b = true ->
  (reads c = true -> sync_ok lr lx b c = true) /\ (isrmw c = true -> atom_ok lr lx b c = true).
Proof.
  unfold check_pair. generalize (sync_ok lr lx b c) (atom_ok lr lx b c) (reads c) (isrmw c).
  intros x y z w H h1 h2 h3 h4. rewrite h1, h2, h3, h4 in H. destruct x, y, z, w; auto.
Qed.

Global Opaque contra.
Section Run.
Variables M L G : Type.
Variable tbl : table.
Variable loc : M -> L.
Variables isW isR at_ init l2 own : M -> Prop.
Variable incl rfX : M -> M -> Prop.
Variables T s e arr ft : M -> nat.
Variables t left : M -> nat -> nat.
Variable wg : M -> G.
Variable inv : G -> nat -> Prop.
Variable rw : M -> row.
Notation fetched := (Views.fetched isR l2 own).
Notation mme := (Views.mme loc isW T arr).
Notation mm := (Views.mm loc isW T arr).
Definition tmark o m := match m with Instr i => t o i | ToEnd => e o end.
(* operations and rows *)
Hypothesis h_row : forall o, ~ init o -> In (rw o) tbl.
Hypothesis h_writes : forall o, ~ init o -> (isW o <-> writes (rw o) = true).
Hypothesis h_reads : forall o, ~ init o -> (isR o <-> reads (rw o) = true).
Hypothesis h_at : forall o, at_ o -> ~ init o /\ atomic (rw o) = true.
Hypothesis h_l2 : forall o, ~ init o -> (l2 o <-> inc2 (rw o) = true).
Hypothesis h_incl : forall b c, at_ b -> at_ c -> incl b c -> wg b <> wg c ->
  incl_rows (rw b) (rw c) = true.
(* the code runs in order, a Flu's markers have left before the next instruction;
   T is the time of the access *)
Hypothesis h_seq : forall o, ~ init o -> ordered (t o) (left o) (e o) (code (rw o)) 0 (s o).
Hypothesis h_T : forall o, ~ init o -> T o = t o (pos (rw o)).
Hypothesis h_flu : forall o i r w, ~ init o -> nth_error (code (rw o)) i = Some (Flu r) -> isW w ->
  ~ init w -> wg w = wg o \/ r = to_DV -> T w < t o i -> arr w < left o i.
Hypothesis h_inv : forall o i r g, ~ init o -> nth_error (code (rw o)) i = Some (Inv r) ->
  g = wg o \/ r = to_DV -> inv g (t o i).
(* locks, if nobody frees what he does not hold *)
Hypothesis h_rmw : bracketed_rmw tbl = true -> forall o p f u, ~ init o -> ~ init p ->
  wg o <> wg p -> In (f, u) (heldr (rw o)) ->
  (forall f' u', In (f', u') (heldr (rw p)) -> tmark o u <= t p f' \/ tmark p u' <= t o f) /\
    (inc (rw p) = true -> T p <= t o f \/ tmark o u <= T p).
Hypothesis h_L2 : bracketed_L2 tbl = true -> forall o p f u, ~ init o -> ~ init p -> wg o <> wg p ->
  loc o = loc p -> In (f, u) (heldx (rw o)) ->
  (forall f' u', In (f', u') (heldx (rw p)) -> tmark o u <= t p f' \/ tmark p u' <= t o f) /\
  (isW p -> arr p <= t o f \/ tmark o u <= arr p) /\
    (fetched p -> ft p <= t o f \/ tmark o u <= ft p).
(* from Views.v *)
Hypothesis inits : forall o, init o -> isW o /\ ~ isR o /\ ~ l2 o /\ T o = 0 /\ arr o = 0.
Hypothesis l2s : forall o, l2 o -> isW o /\ isR o /\ arr o = T o.
Hypothesis arrs : forall o, isW o -> ~ init o -> ~ l2 o -> T o < arr o.
Hypothesis dist : forall o p, isW o -> isW p -> o <> p -> loc o = loc p -> arr o = arr p ->
  wg o = wg p /\ ~ init o /\ ~ init p /\ ~ l2 o /\ ~ l2 p.
Hypothesis order : forall o p, isW o -> isW p -> ~ init o -> ~ init p -> wg o = wg p ->
  loc o = loc p -> T o < T p -> arr o <= arr p /\ (l2 p -> arr o < arr p).
Hypothesis merge : forall o p, isW o -> isW p -> ~ init o -> ~ init p -> ~ l2 o -> ~ l2 p ->
  wg o = wg p -> loc o = loc p -> T o < T p -> T p < arr o -> arr o = arr p.
Hypothesis rf_dom : forall w r, rfX w r -> isW w /\ isR r /\ loc w = loc r.
Hypothesis rf_tot : forall r, isR r -> exists w, rfX w r.
Hypothesis look_l2 : forall w' o, rfX w' o -> l2 o -> arr w' < T o /\ forall w, isW w ->
  loc w = loc o -> arr w < T o -> mme w w'.
Hypothesis look_own : forall w' o, rfX w' o -> own o -> ~ l2 o /\ ~ init w' /\ wg w' = wg o /\
  ~ l2 w' /\ T w' < T o /\
  (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w' < T w -> ~ T w < T o) /\
  (forall i, inv (wg o) i -> T w' < i -> ~ i < T o) /\
  (forall p, fetched p -> wg p = wg o -> loc p = loc o -> T w' < ft p -> ~ ft p < T o).
Hypothesis look_ft : forall w' o, rfX w' o -> fetched o -> 0 < ft o /\ ft o < T o /\
  arr w' < ft o /\
  (forall w, isW w -> loc w = loc o -> arr w < ft o -> mme w w') /\
  (forall w, isW w -> ~ init w -> wg w = wg o -> loc w = loc o -> T w < T o -> arr w < ft o) /\
  (forall i, inv (wg o) i -> ft o < i -> ~ i < T o) /\
  (forall p, fetched p -> wg p = wg o -> loc p = loc o -> ft p < T o -> ft p <= ft o).
Hypothesis CHECK : check tbl = true.

Section Pair.
Variables b c : M.
Hypothesis nb : ~ init b.
Hypothesis nc : ~ init c.
Hypothesis ne : wg b <> wg c.
Hypothesis bw : isW b.
Hypothesis lbc : loc b = loc c.
Variable xT : bool -> nat.
Variable yT : nat.
Let of (o : bool) := if o then c else b.
Let v := val (fun o => s (of o)) (fun o => e (of o)) (fun o => arr (of o)) xT yT (fun o =>
  t (of o)) (fun o => left (of o)).
Notation lr := (bracketed_rmw tbl).
Notation lx := (bracketed_L2 tbl).
Let Rb := rw b.
Let Rc := rw c.
Lemma v_T o i : v (pT o i) = t (of o) i. Proof. unfold v. apply val_T. Qed.
Lemma v_L o i : v (pL o i) = left (of o) i. Proof. unfold v. apply val_L. Qed.
Lemma v_M o m : v (pM o m) = tmark (of o) m. Proof. unfold v. rewrite val_M. destruct m; auto. Qed.
Lemma v_S o : v (pS o) = s (of o). Proof. unfold v. apply val_S. Qed.
Lemma v_E o : v (pE o) = e (of o). Proof. unfold v. apply val_E. Qed.
Lemma v_A o : v (pA o) = arr (of o). Proof. unfold v. apply val_A. Qed.
Lemma v_X o : v (pX o) = xT o. Proof. unfold v. apply val_X. Qed.
Lemma v_Y : v pY = yT. Proof. reflexivity. Qed.
Lemma v_acc o : v (pT o (pos (rw (of o)))) = T (of o).
Proof. rewrite v_T. symmetry. apply h_T. destruct o; auto. Qed.
Lemma v_b : v (pT false (pos Rb)) = T b. Proof. exact (v_acc false). Qed.
Lemma v_c : v (pT true (pos Rc)) = T c. Proof. exact (v_acc true). Qed.
Lemma ni o : ~ init (of o). Proof. destruct o; auto. Qed.
Hint Rewrite v_T v_L v_M v_S v_E v_A v_X : V.
Ltac hh := cbv beta iota delta [holds].

Lemma arrf_ok o l : In l (arrf o (rw (of o))) -> holds v l.
Proof.
  pose proof (@ni o) as n. unfold arrf. destruct (writes (rw (of o))) eqn:w; [|intros []].
  assert (W : isW (of o)) by (apply h_writes; auto). destruct (inc2 (rw (of o))) eqn:i2.
  - assert (l2 (of o)) as H by (apply h_l2; auto). apply l2s in H. destruct H as (_&_&H).
    intros [<-|[<-|[]]]; hh; rewrite v_A, v_acc; lia.
  - intros [<-|[]]. hh. rewrite v_A, v_acc. apply arrs; auto. intro H. apply h_l2 in H; auto.
    congruence.
Qed.
Lemma facts_ok l : In l (fst (base lr lx Rb Rc)) -> holds v l.
Proof.
  unfold base. cbn [fst]. rewrite !in_app_iff. intros [h|[h|[h|h]]].
  - revert h. apply edges_ok. fold v. rewrite v_S. apply (h_seq nb).
  - revert h. apply edges_ok. fold v. rewrite v_S. apply (h_seq nc).
  - exact (@arrf_ok false l h).
  - exact (@arrf_ok true l h).
Qed.
Lemma out_ok p o h : v p <= t (of o) (fst h) \/ tmark (of o) (snd h) <= v p -> sat v (out p o h).
Proof.
  intros [q|q]; [exists (p, false, pT o (fst h))|exists (pM o (snd h), false, p)];
    (split; [simpl; auto|]); hh; autorewrite with V; auto.
Qed.
Lemma excl_ok h h' : tmark b (snd h) <= t c (fst h') \/ tmark c (snd h') <= t b (fst h) ->
  sat v (excl h h').
Proof.
  intros [q|q]; [exists (pM false (snd h), false, pT true (fst h'))|exists (pM true (snd h'), false,
    pT false (fst h))]; (split; [simpl; auto|]); hh; autorewrite with V; auto.
Qed.
Lemma locks_ok cl : In cl (snd (base lr lx Rb Rc)) -> sat v cl.
Proof.
  unfold base. cbn [snd]. unfold locks. rewrite in_app_iff. intros [h|h].
  - destruct lr eqn:L0; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + apply in_flat_map in h. destruct h as ([f u]&h1&h2). apply in_map_iff in h2.
      destruct h2 as ([f' u']&<-&h2). destruct (h_rmw eq_refl (o := b) (p := c) f u) as [q _]; auto.
      apply excl_ok. simpl. auto.
    + destruct (inc Rc) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_c. simpl.
      destruct (h_rmw eq_refl (o := b) (p := c) f u) as [_ q]; auto.
    + destruct (inc Rb) eqn:ib; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_b. simpl.
      destruct (h_rmw eq_refl (o := c) (p := b) f u) as [_ q]; auto.
  - destruct lx eqn:L0; [|destruct h]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
    + apply in_flat_map in h. destruct h as ([f u]&h1&h2). apply in_map_iff in h2.
      destruct h2 as ([f' u']&<-&h2). destruct (h_L2 eq_refl (o := b) (p := c) f u) as [q _]; auto.
      apply excl_ok. simpl. auto.
    + destruct (writes Rc) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_A. simpl.
      destruct (h_L2 eq_refl (o := b) (p := c) f u) as [_ [q _]]; auto. apply q.
      apply h_writes; auto.
    + destruct (writes Rb) eqn:ic; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_A. simpl.
      destruct (h_L2 eq_refl (o := c) (p := b) f u) as [_ [q _]]; auto.
Qed.
Lemma flus_in o own0 p : In p (flus o (rw (of o)) own0) -> exists i r, p = (pT o i, pL o i) /\
  nth_error (code (rw (of o))) i = Some (Flu r) /\ (own0 = true \/ r = to_DV).
Proof.
  unfold flus, pts. intro h. apply in_map_iff in h. destruct h as (j&<-&h). apply In_idx in h.
  destruct h as (k&->&x&h1&h2). destruct x; simpl in h2; try discriminate. exists k, r. split; auto.
  split; auto. destruct r; auto.
Qed.
Lemma invs_in o own0 p : In p (invs o (rw (of o)) own0) -> exists i r, p = pT o i /\
  nth_error (code (rw (of o))) i = Some (Inv r) /\ (own0 = true \/ r = to_DV).
Proof.
  unfold invs. intro h. apply in_map_iff in h. destruct h as (j&<-&h). apply In_idx in h.
  destruct h as (k&->&x&h1&h2). destruct x; simpl in h2; try discriminate. exists k, r. split; auto.
  split; auto. destruct r; auto.
Qed.
(* p: a Flu that reaches work-group g; j: an Inv that does *)
Definition drains g (p : nat * nat) := forall w, isW w -> ~ init w -> wg w = g -> T w < v (fst p) ->
  arr w < v (snd p).
Lemma flus_b p : In p (flus false Rb true ++ flus true Rc false) -> drains (wg b) p.
Proof.
  intros h w w1 w2 w3. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@flus_in false _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd. rewrite v_T, v_L.
    simpl of in *. eapply h_flu; eauto.
  - destruct (@flus_in true _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd. rewrite v_T, v_L.
    simpl of in *. eapply h_flu; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma flus_c p : In p (flus true Rc true ++ flus false Rb false) -> drains (wg c) p.
Proof.
  intros h w w1 w2 w3. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@flus_in true _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd. rewrite v_T, v_L.
    simpl of in *. eapply h_flu; eauto.
  - destruct (@flus_in false _ _ h) as (i&r&->&h1&h2). simpl fst; simpl snd. rewrite v_T, v_L.
    simpl of in *. eapply h_flu; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma invs_c j : In j (invs true Rc true ++ invs false Rb false) -> inv (wg c) (v j).
Proof.
  intro h. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@invs_in true _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto.
  - destruct (@invs_in false _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma drain_ok pw pa fl w : (forall p, In p fl -> drains (wg w) p) -> isW w -> ~ init w ->
  v pw = T w -> v pa = arr w -> forall cl, In cl (drain pw pa fl) -> sat v cl.
Proof.
  intros H w1 w2 w3 w4 cl h. apply in_map_iff in h. destruct h as (p&<-&h).
  destruct (le_lt_dec (v (fst p)) (v pw)) as [q|q].
  - exists (fst p, false, pw). split; simpl; auto.
  - exists (pa, true, snd p). split; simpl; auto. rewrite w4. apply (H p); auto. congruence.
Qed.
Notation carries := (Views.carries isW init T arr wg inv).
Lemma pair_ok : atomic Rb = true -> atomic Rc = true -> incl_rows Rb Rc = true ->
  writes Rb = true ->
  (reads Rc = true -> sync_ok lr lx Rb Rc = true) /\
    (isrmw Rc = true -> atom_ok lr lx Rb Rc = true).
Proof.
  intros h1 h2 h3 h4. apply check_pair_spec; auto. apply check_pairs; auto. apply h_row; auto.
  apply h_row; auto.
Qed.
Lemma sync_pair : (forall o, xT o = xT false) -> arr b < xT false -> xT false <= T c ->
  (inc2 Rc = true -> xT false = T c) ->
  (lx = true -> forall f u, In (f, u) (heldx Rb) -> xT false <= t b f \/ tmark b u <= xT false) ->
    sync_ok lr lx Rb Rc = true -> carries (wg b) (s b) (wg c) (e c).
Proof.
  intros _ g1 g2 g3 g4 K. apply NNPP. intro N. change (contra (size Rb Rc)
    ((pA false, true, pX false) :: (pX false, false,
    pT true (pos Rc)) :: (if inc2 Rc then [(pT true (pos Rc), false, pX false)] else []) ++ fst
    (base lr lx Rb Rc)) (snd (base lr lx Rb Rc) ++ (if lx then map (out (pX false) false) (heldx Rb)
    else []) ++ drain (pT false (pos Rb)) (pA false) (flus false Rb true ++ flus true Rc false) ++
    flat_map (fun j => map (fun q => [(pE true, false, j); (j, true, pS false);
    (fst q, true, pS false); (j, true, snd q)]) (flus false Rb true ++ flus true Rc false))
    (invs true Rc true ++ invs false Rb false)) = true) in K. apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]].
    + hh. autorewrite with V. auto.
    + hh. rewrite v_X, v_c. auto.
    + apply in_app_iff in h. destruct h as [h|h]; [|apply facts_ok; auto].
      destruct (inc2 Rc) eqn:q; [|destruct h]. destruct h as [<-|[]]. hh.
      rewrite v_X, v_c, g3; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]].
    + apply locks_ok; auto.
    + destruct lx; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h). apply out_ok.
      rewrite v_X. simpl. auto.
    + revert cl h. apply (@drain_ok _ _ _ b); [apply flus_b|auto|auto|apply v_b|apply (v_A false)].
    + apply in_flat_map in h. destruct h as (j&hj&h). apply in_map_iff in h.
      destruct h as (q&<-&hq). destruct (le_lt_dec (v (pE true)) (v j)) as [q1|q1].
      { exists (pE true, false, j). split; [simpl; auto|exact q1]. }
      destruct (le_lt_dec (v (pS false)) (v j)) as [q2|q2].
      2:{ exists (j, true, pS false). split; [simpl; auto|exact q2]. }
      destruct (le_lt_dec (v (pS false)) (v (fst q))) as [q3|q3].
      2:{ exists (fst q, true, pS false). split; [simpl; auto|exact q3]. }
      destruct (le_lt_dec (v (snd q)) (v j)) as [q4|q4].
      2:{ exists (j, true, snd q). split; [simpl; auto|exact q4]. }
      exfalso. apply N. exists (v j). split; [apply invs_c; auto|]. rewrite v_E in q1.
      rewrite v_S in q2, q3. simpl of in *. split; auto. intros x (x1&x2).
      destruct (classic (init x)) as [i|i]; auto. right.
      destruct x2 as [x2|[x2|[x2 x3]]]; [tauto|lia|]. pose proof (@flus_b q hq x x1 i x2). lia.
Qed.
Hypothesis GB : inc1 Rb = true -> yT <= T b /\
  (lx = true -> forall f u, In (f, u) (heldx Rc) -> yT <= t c f \/ tmark c u <= yT) /\
  (forall i, inv (wg b) i -> yT < i -> ~ i < T b).
Lemma atom_facts l : isW c -> arr b < arr c -> In l (fst (atom_base lr lx Rb Rc)) -> holds v l.
Proof.
  intros cw m.
  change (In l ((pA false, true, pA true) :: agree_f Rb ++ fst (base lr lx Rb Rc)) -> holds v l).
  intros [<-|h]; [hh; autorewrite with V; auto|]. apply in_app_iff in h.
  destruct h as [h|h]; [|apply facts_ok; auto]. unfold agree_f in h.
  destruct (inc1 Rb) eqn:i1; [|destruct h]. destruct h as [<-|[]]. hh. rewrite v_Y, v_b.
  apply GB; auto.
Qed.
Lemma invs_b j : In j (invs false Rb true ++ invs true Rc false) -> inv (wg b) (v j).
Proof.
  intro h. apply in_app_iff in h. destruct h as [h|h].
  - destruct (@invs_in false _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto.
  - destruct (@invs_in true _ _ h) as (i&r&->&h1&h2). rewrite v_T. simpl of in *.
    eapply h_inv; eauto. right. destruct h2; auto. discriminate.
Qed.
Lemma agree_ok cl : In cl (agree_c lx Rb Rc) -> sat v cl.
Proof.
  unfold agree_c. destruct (inc1 Rb) eqn:i1; [|intros []]. destruct (GB eq_refl) as (g1&g2&g3).
  rewrite in_app_iff. intros [h|h].
  - destruct lx; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h). apply out_ok.
    rewrite v_Y. simpl. auto.
  - apply in_map_iff in h. destruct h as (i&<-&h). apply invs_b in h.
    destruct (le_lt_dec (v i) (v pY)) as [q|q].
    + exists (i, false, pY). split; [simpl; auto|exact q].
    + exists (pT false (pos Rb), false, i). split; [simpl; auto|]. hh. rewrite v_b.
      rewrite v_Y in q. specialize (g3 _ h q). lia.
Qed.
Lemma atom_clauses cl : isW c -> In cl (snd (atom_base lr lx Rb Rc)) -> sat v cl.
Proof.
  intro cw. change (In cl (agree_c lx Rb Rc ++ snd (base lr lx Rb Rc) ++ drain (pT false (pos Rb))
    (pA false) (flus false Rb true ++ flus true Rc false) ++ drain (pT true (pos Rc)) (pA true)
    (flus true Rc true ++ flus false Rb false)) -> sat v cl). rewrite in_app_iff.
  intros [h|h]; [apply agree_ok; auto|]. rewrite !in_app_iff in h. destruct h as [h|[h|h]].
  - apply locks_ok; auto.
  - revert cl h. apply (@drain_ok _ _ _ b); [apply flus_b|auto|auto|apply v_b|apply (v_A false)].
  - revert cl h. apply (@drain_ok _ _ _ c); [apply flus_c|auto|auto|apply v_c|apply (v_A true)].
Qed.
Lemma invs_cl x y cl : (forall i, inv (wg c) i -> v x < i -> ~ i < v y) ->
  In cl (map (fun i => [(i, false, x); (y, false, i)]) (invs true Rc true ++ invs false Rb false))
  -> sat v cl.
Proof.
  intros H h. apply in_map_iff in h. destruct h as (i&<-&h). apply invs_c in h.
  destruct (le_lt_dec (v i) (v x)) as [q|q].
  - exists (i, false, x). split; [simpl; auto|exact q].
  - exists (y, false, i). split; [simpl; auto|]. hh. specialize (H _ h q). lia.
Qed.
Lemma own_pair w : isW c -> arr b < arr c -> xT false = T w -> xT true = arr w -> isW w ->
  ~ init w -> ~ l2 w -> wg w = wg c -> loc w = loc c -> ~ l2 c -> T w < T c -> arr w <= arr c ->
  (forall i, inv (wg c) i -> T w < i -> ~ i < T c) -> atom_own lr lx Rb Rc = true -> arr b < arr w.
Proof.
  intros cw m x1 x2 ww nw lw gw ll lc t1 t2 I K. apply NNPP. intro N. assert (AW : arr w <= T c).
  { destruct (le_lt_dec (arr w) (T c)) as [h|h]; auto.
    pose proof (merge ww cw nw nc lw lc gw ll t1 h). lia. }
  change (contra (size Rb Rc) ((pX false, true, pT true (pos Rc)) :: (pX true, false,
    pA true) :: (pX false, true, pX true) :: (pX true, false, pA false) :: (pX true, false,
    pT true (pos Rc)) :: fst (atom_base lr lx Rb Rc))
    (snd (atom_base lr lx Rb Rc) ++ (if lx then map (out (pX true) false) (heldx Rb) else []) ++
    drain (pX false) (pX true) (flus true Rc true ++ flus false Rb false) ++ map (fun i =>
    [(i, false, pX false); (pT true (pos Rc), false, i)])
    (invs true Rc true ++ invs false Rb false)) = true) in K. apply (@contra_sound v _ _ _ K).
  - pose proof (arrs ww nw lw).
    intros l [<-|[<-|[<-|[<-|[<-|h]]]]]; try (hh; rewrite ?v_X, ?v_c, ?v_A; simpl of; lia).
    apply atom_facts; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|[h|h]]].
    + apply atom_clauses; auto.
    + destruct lx eqn:L0; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_X, x2. simpl.
      destruct (h_L2 eq_refl (o := b) (p := w) f u) as (_&q&_); auto; congruence.
    + revert cl h. apply (@drain_ok _ _ _ w); [rewrite gw; apply flus_c|auto|auto|rewrite v_X;
        auto|rewrite v_X; auto].
    + revert h. apply invs_cl. rewrite v_X, v_c, x1. auto.
Qed.
Lemma ft_pair : isW c -> arr b < arr c -> xT false = ft c -> ft c < T c -> fetched c ->
  (forall i, inv (wg c) i -> ft c < i -> ~ i < T c) -> atom_ft lr lx Rb Rc = true -> arr b < ft c.
Proof.
  intros cw m x1 t1 F I K. apply NNPP. intro N. change (contra (size Rb Rc)
    ((pX false, true, pT true (pos Rc)) :: (pX false, false,
    pA false) :: fst (atom_base lr lx Rb Rc)) (snd (atom_base lr lx Rb Rc) ++
    (if lx then map (out (pX false) false) (heldx Rb) else []) ++ map (fun i =>
    [(i, false, pX false); (pT true (pos Rc), false, i)])
    (invs true Rc true ++ invs false Rb false)) = true) in K. apply (@contra_sound v _ _ _ K).
  - intros l [<-|[<-|h]]; try (hh; rewrite ?v_X, ?v_c, ?v_A; simpl of; lia). apply atom_facts; auto.
  - intros cl. rewrite !in_app_iff. intros [h|[h|h]].
    + apply atom_clauses; auto.
    + destruct lx eqn:L0; [|destruct h]. apply in_map_iff in h. destruct h as ([f u]&<-&h).
      apply out_ok. rewrite v_X, x1. simpl.
      destruct (h_L2 eq_refl (o := b) (p := c) f u) as (_&_&q); auto.
    + revert h. apply invs_cl. rewrite v_X, v_c, x1. auto.
Qed.
End Pair.

Theorem SYNC_ok : forall b c r, isW b -> at_ b -> isR c -> at_ c -> incl b c -> wg b <> wg c ->
  loc b = loc c ->
  isR r -> wg r = wg c -> loc r = loc c -> T r <= T c ->
    (l2 r /\ arr b < T r \/ fetched r /\ arr b < ft r) -> (l2 c -> r = c) ->
  Views.carries isW init T arr wg inv (wg b) (s b) (wg c) (e c).
Proof.
  intros b c r bw ab cr ac I ne l rr gr lr0 tr D lc. destruct (h_at ab) as [nb xb].
  destruct (h_at ac) as [nc xc]. assert (nr : ~ init r). { intro i. apply inits in i. tauto. }
  destruct (@pair_ok b c nb nc) as [P _]; auto. { apply h_writes; auto. }
  specialize (P (proj1 (h_reads nc) cr)).
  assert (NL : l2 r -> ~ fetched r) by (unfold Views.fetched; tauto).
  destruct D as [[D1 D2]|[D1 D2]].
  - destruct (l2s D1) as (rw_&_&ra). apply (@sync_pair b c nb nc ne bw l (fun _ => T r) 0); auto.
    + intro i. apply h_l2 in i; auto. rewrite (lc i). auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := b) (p := r) f u) as (_&q&_); auto; try congruence.
      rewrite <- ra. auto.
  - destruct (rf_tot rr) as [w rf]. destruct (look_ft rf D1) as (_&q&_).
    apply (@sync_pair b c nb nc ne bw l (fun _ => ft r) 0); auto.
    + lia.
    + intro i. apply h_l2 in i; auto. exfalso. apply (NL (eq_ind_r l2 i (lc i))); auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := b) (p := r) f u) as (_&_&q'); auto; try congruence.
Qed.
Notation first := (Views.first loc isW init T arr wg).
Lemma agree_ex b c : ~ init b -> ~ init c -> wg b <> wg c -> loc b = loc c -> isW b -> first b ->
  exists y, inc1 (rw b) = true -> y <= T b /\
    (bracketed_L2 tbl = true -> forall f u, In (f, u) (heldx (rw c)) -> y <= t c f \/
    tmark c u <= y) /\ (forall i, inv (wg b) i -> y < i -> ~ i < T b).
Proof.
  intros nb nc ne l bw F. destruct (inc1 (rw b)) eqn:i1; [|exists 0; discriminate].
  assert (L2 : ~ l2 b).
  { intro h. apply h_l2 in h; auto. unfold inc1 in i1. unfold inc2 in h.
    destruct (access (rw b)); discriminate. }
  assert (rb : isR b).
  { apply h_reads; auto. pose proof CHECK as H. unfold check in H. apply andb_true_iff in H.
    destruct H as [H _]. rewrite forallb_forall in H. specialize (H _ (h_row nb)).
    unfold one_access in H. apply andb_true_iff in H. destruct H as [_ H]. unfold inc1 in i1.
    unfold reads. destruct (row_kind (rw b)), (access (rw b)); auto; discriminate. }
  destruct (rf_tot rb) as [w r]. destruct (rf_dom r) as (ww&_&lw).
  destruct (classic (own b)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). pose proof (arrs ww q1 q3). exists (arr w).
    intros _. split; [|split].
    + destruct (le_lt_dec (arr w) (T b)) as [h|h]; auto. exfalso. apply (F w); auto.
    + intros L0 f u h. destruct (h_L2 L0 (o := c) (p := w) f u) as (_&q&_); auto; congruence.
    + intros i h h'. apply q6; auto. lia.
  - assert (Fe : fetched b) by (unfold Views.fetched; auto).
    destruct (look_ft r Fe) as (q0&q1&q2&q3&q4&q5&q6). exists (ft b). intros _. split; [lia|].
    split; auto. intros L0 f u h. destruct (h_L2 L0 (o := c) (p := b) f u) as (_&_&q); auto.
Qed.
Theorem ATOM_ok : forall w u k, isW u /\ isR u -> rfX w u -> at_ k -> at_ u -> incl k u ->
  wg k <> wg u -> first k -> mm k u -> mme k w.
Proof.
  intros w u k [uw ur] r ak au I ne F0 m. destruct (h_at ak) as [nk xk].
  destruct (h_at au) as [nu xu]. pose proof m as (kw&_&l&d&m'). assert (m0 : arr k < arr u).
  { destruct m' as [m'|[m' _]]; auto. exfalso. destruct (dist kw uw d l m') as (q&_). tauto. }
  destruct (rf_dom r) as (ww&_&lw). assert (FIN : arr k < arr w -> mme k w).
  { intro h. right. repeat split; auto; try congruence. intros ->. lia. }
  destruct (classic (l2 u)) as [L2|L2].
  { destruct (look_l2 r L2) as [_ q]. apply q; auto. destruct (l2s L2) as (_&_&q'). lia. }
  destruct (@pair_ok k u nk nu) as [_ P]; auto. { apply h_writes; auto. }
  assert (Q : isrmw (rw u) = true).
  { unfold isrmw. rewrite (proj1 (h_writes nu) uw), (proj1 (h_reads nu) ur). auto. }
  specialize (P Q). unfold atom_ok in P. destruct (inc2 (rw u)) eqn:i2.
  { exfalso. apply L2. apply h_l2; auto. }
  simpl in P. apply andb_true_iff in P. destruct P as [P1 P2].
  destruct (@agree_ex k u nk nu ne l kw F0) as [y GB]. destruct (classic (own u)) as [o|o].
  - destruct (look_own r o) as (_&q1&q2&q3&q4&q5&q6&q7). apply FIN.
    apply (@own_pair k u nk nu ne kw l (fun o => if o then arr w else T w) y GB w); auto.
    destruct (order ww uw q1 nu q2 lw q4). auto.
  - assert (F : fetched u) by (unfold Views.fetched; auto).
    destruct (look_ft r F) as (q0&q1&q2&q3&q4&q5&q6). apply q3; auto.
    apply (@ft_pair k u nk nu ne kw l (fun _ => ft u) y GB); auto.
Qed.
End Run.
