(** Written by `rspverify show opencl-rsp --format rocq` from the model's file. *)
Require Import Relations.
Set Implicit Arguments.

Section Model.
Variable event : Type.
Notation set := (event -> Prop).
Notation rel := (event -> event -> Prop).

(** What operators mean. *)
Definition none : set := fun x => False.
Definition either (s t : set) : set := fun x => s x \/ t x.
Definition both_of (s t : set) : set := fun x => s x /\ t x.
Definition less (s t : set) : set := fun x => s x /\ ~ t x.
Definition domain (r : rel) : set := fun x => exists y, r x y.
Definition range (r : rel) : set := fun y => exists x, r x y.
Definition empty : rel := fun x y => False.
Definition union (r s : rel) : rel := fun x y => r x y \/ s x y.
Definition inter (r s : rel) : rel := fun x y => r x y /\ s x y.
Definition minus (r s : rel) : rel := fun x y => r x y /\ ~ s x y.
Definition seq (r s : rel) : rel := fun x z => exists y, r x y /\ s y z.
Definition prod (s t : set) : rel := fun x y => s x /\ t y.
Definition only (s : set) : rel := fun x y => x = y /\ s x.
Definition inverse (r : rel) : rel := fun x y => r y x.
Definition maybe (r : rel) : rel := fun x y => r x y \/ x = y.
Definition plus (r : rel) : rel := clos_trans event r.
Definition star (r : rel) : rel := clos_refl_trans event r.

(** The names that the model does not define. *)
Class base := { A : set; ACQ : set; ACQ_REL : set; ALL : set; DV : set; EF : set; F : set; G :
  set; L : set; R : set; REL : set; SC : set; SG : set; W : set; WG : set; XF : set; dv : rel; id
  : rel; loc : rel; mo : rel; nal : set; party : rel; rem : set; rf : rel; same_B : rel; sb : rel;
  sg : rel; thd : rel; unv : rel; wg : rel }.
Context {names : base}.

(** Its definitions, axioms, and what its programs must not do. *)
Definition incl1 := union (union (union (seq (only SG) sg) (seq (only WG) wg)) (seq (only DV) dv))
  (seq (only ALL) unv).
Definition incl := union (union (inter incl1 (inverse incl1)) (seq (only rem) incl1)) (seq
  (inverse incl1) (only rem)).
Definition rs' := union thd (seq unv (only (both_of R W))).
Definition rs := minus (inter mo rs') (seq (minus mo rs') mo).
Definition release := either (both_of (either (either REL ACQ_REL) SC) (either W F)) EF.
Definition acquire := either (both_of (either (either ACQ ACQ_REL) SC) (either R F)) XF.
Definition fsb := seq (only F) sb.
Definition sbf := seq sb (only F).
Definition met := minus (inter same_B party) thd.
Definition together := inter (prod EF EF) met.
Definition crossed := inter (inter (prod EF EF) sb) (seq (seq together (inverse sb)) together).
Definition apart := either (domain crossed) (range crossed).
Definition both := union (prod SC SC) (prod (both_of (both_of F G) L) (both_of (both_of F G) L)).
Definition gsw := union (union (minus (inter (seq (seq (seq (seq (seq (seq (seq (only (both_of
  release G)) (maybe fsb)) (only (both_of (both_of A W) G))) (maybe rs)) rf) (only (both_of A R)))
  (maybe sbf)) (only (both_of acquire G))) incl) thd) (inter (prod (less (both_of EF G) apart)
  (both_of XF G)) met)) (inter both (minus (inter (seq (seq (seq (seq (seq (seq (seq (only
  (both_of release L)) (maybe fsb)) (only (both_of (both_of A W) L))) (maybe rs)) rf) (only
  (both_of A R))) (maybe sbf)) (only (both_of acquire L))) incl) thd)).
Definition lsw := union (union (minus (inter (seq (seq (seq (seq (seq (seq (seq (only (both_of
  release L)) (maybe fsb)) (only (both_of (both_of A W) L))) (maybe rs)) rf) (only (both_of A R)))
  (maybe sbf)) (only (both_of acquire L))) incl) thd) (inter (prod (less (both_of EF L) apart)
  (both_of XF L)) met)) (inter both (minus (inter (seq (seq (seq (seq (seq (seq (seq (only
  (both_of release G)) (maybe fsb)) (only (both_of (both_of A W) G))) (maybe rs)) rf) (only
  (both_of A R))) (maybe sbf)) (only (both_of acquire G))) incl) thd)).
Definition ghb := plus (union (inter (prod G G) sb) gsw).
Definition lhb := plus (union (inter (prod L L) sb) lsw).
Definition hb := union ghb lhb.
Definition hbl := inter hb loc.
Definition vis := minus (inter (inter (prod W R) loc) hb) (seq (seq hb (only W)) hbl).
Definition axiom_Hb := forall x, ~ hb x x.
Definition axiom_Coh := forall x, ~ (seq (seq (seq (maybe (inverse rf)) mo) (maybe rf)) hb) x x.
Definition axiom_Rf := forall x, ~ (seq rf hb) x x.
Definition axiom_Narf := forall x y, ~ (minus (seq rf (only nal)) vis) x y.
Definition axiom_Rmw := forall x, ~ (union (union rf (seq (seq mo mo) (inverse rf))) (seq mo rf))
  x x.
Definition reads_before := minus (seq (inverse rf) mo) id.
Definition sc_before := seq (seq (maybe fsb) (union (union reads_before hb) mo)) (maybe sbf).
Definition axiom_Sc := forall x, ~ plus (minus (inter (inter (prod SC SC) incl) sc_before) id) x
  x.
Definition parted := union (minus (seq (only EF) (minus party thd)) (seq (inter (prod EF XF)
  same_B) thd)) crossed.
Definition axiom_Barrier := forall x y, ~ parted x y.
Definition conflict := inter (union (union (prod W W) (prod W R)) (prod R W)) loc.
Definition dr := minus (minus (minus (minus (minus conflict hb) (inverse hb)) (inter incl (prod A
  A))) thd) id.
Definition axiom_Dr := forall x y, ~ dr x y.
Definition ur := minus (minus (minus (inter conflict thd) sb) (inverse sb)) id.
Definition axiom_Ur := forall x y, ~ ur x y.
End Model.
