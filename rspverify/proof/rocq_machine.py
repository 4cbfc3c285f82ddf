"""A machine's guards and effects as Rocq definitions, over the state of proof/Thm1.v.

One definition says when a step may happen, and one for each cell what a step makes of it. The
order of effects is that of the file: of two on one cell the later one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct

from rspverify.architecture.architecture import (
    REACH,
    All,
    Architecture,
    CellAt,
    CellKind,
    Condition,
    CopyTo,
    Each,
    Effect,
    Either,
    Enter,
    Free,
    Holds,
    IsOldest,
    IsReady,
    Lacks,
    Leave,
    LocationElement,
    Locations,
    MarkerOf,
    Mnemonic,
    Places,
    Read,
    SetTo,
    StepKind,
    Take,
    Write,
    Written,
    within,
)
from rspverify.architecture.machines import machine_named
from rspverify.proof.machines import BASE
from rspverify.records import replace
from rspverify.source import require

_PATTERNS = {
    "LD": "LD x",
    "ST": "ST x v",
    "RMW_L1": "RMW_L1 x f",
    "RMW_L2": "RMW_L2 x f",
    "FLU_L1": "FLU_L1 r",
    "FLU_L2": "FLU_L2",
    "INV_L1": "INV_L1 r",
    "LK_L2": "LK_L2 x",
    "UL_L2": "UL_L2 x",
    "LK_rmw": "LK_rmw",
    "UL_rmw": "UL_rmw",
}
"""Instructions as Thm1.v has them. INC is an RMW there."""
_SUMS = {"INC_L1": "RMW_L1", "INC_L2": "RMW_L2"}
_HEAD = """\
(** Written by `rspverify show {name} --format rocq` from the machine's file. *)
Require Import List Bool Arith Thm1.
Import ListNotations.
Set Implicit Arguments.
Set Asymmetric Patterns.

Section Definitions.
Variables Val Loc : Type.
Variable loc_dec : forall x y : Loc, {{x = y}} + {{x <> y}}.
Variable groups : list nat.
Variable wg : nat -> nat.
Variable unset : Val.
Notation state := (state Val Loc).
Notation step := (step Loc).
Definition is_loc (x y : Loc) := if loc_dec x y then true else false.
Definition is_group (u w : nat) := if Nat.eq_dec u w then true else false.
"""


class _Rule(Struct, frozen=True):
    """An instruction or a step: its own work-group as a term, and the reach of an instruction."""

    group: str
    reach: str | None = None
    instruction: bool = False
    read: str = ""

    def cell(self, at: CellAt, names: Mapping[str, str]) -> str:
        """What a cell has in the state s."""
        return _cell(at.kind, names.get(at.place or "", self.group), at.location or "")

    def cache(self, at: CellAt, names: Mapping[str, str]) -> str:
        return self.cell(at, names).partition(" ")[2].strip("()")

    def all(self, conditions: Iterable[Condition], names: Mapping[str, str]) -> str:
        """All conditions, as one term."""
        return " && ".join(self.one(it, names) for it in conditions) or "true"

    def one(self, condition: Condition, names: Mapping[str, str]) -> str:
        match condition:
            case Holds(bit, value):
                return f"{'' if value else 'negb '}({self.cell(bit, names)})"
            case Either(bits):
                return f"({' || '.join(self.one(_only_bit(it), names) for it in bits)})"
            case IsReady(lock):
                held = f"({self.cell(lock, names)})"
                if self.instruction:
                    return f"ready {held} t"
                return (
                    f"ready_group wg {held} {self.group}" if self.group else f"ready_device {held}"
                )
            case IsOldest(fifo, LocationElement(location)):
                return f"is_entry loc_dec (oldest ({self.cache(fifo, names)})) {location}"
            case IsOldest(fifo, MarkerOf(thread)):
                return f"is_marker (oldest ({self.cache(fifo, names)})) {thread or 't'}"
            case Lacks(where, MarkerOf(), (), False, None):
                return f"no_marker t ({self.cache(where, names)})"
            case All(Places(_, "device", None, None, False), conditions):
                return self.all(conditions, names)
            case All(Places(variable, "workgroup", inside, None, False), conditions):
                own = f"{variable}'"
                inner = self.all(conditions, {**names, variable: own})
                if inside == REACH and self.reach != "R_DV":
                    reached = f"reaches {self.reach} {_argument(self.group)} {own}"
                    inner = f"negb ({reached}) || ({inner})"
                return f"forallb (fun {own} => {inner}) groups"
        raise _unknown(condition)

    def makes(
        self, kind: CellKind, effects: Iterable[Effect], old: str, bound: Mapping[str, str]
    ) -> str:
        """What a cell of a kind, of group w' and location y, has after effects."""
        for effect in effects:
            if isinstance(effect, Each):
                old = self.makes(kind, effect.effects, old, {**bound, **self._range(effect.binder)})
                continue
            changed = _changed(effect)
            if changed is None or changed.kind != kind:
                continue
            where = []
            if kind.place == "workgroup":
                place = bound.get(changed.place or "", f"is_group w' {_argument(self.group)}")
                where += [place] if place else []
            if kind.located:
                place = bound.get(changed.location or "", f"is_loc y {changed.location}")
                where += [place] if place else []
            new = self.value(effect, old)
            old = f"if {' && '.join(where)} then {new} else {old}" if where else new
        return old

    def _range(self, binder: Places | Locations) -> dict[str, str]:
        """The condition on a place or location that a variable stands for; "" for each."""
        match binder:
            case Locations(variable, None) | Places(variable, "device", _, None, False):
                return {variable: ""}
            case Places(variable, "workgroup", inside, None, False):
                limited = inside == REACH and self.reach != "R_DV"
                reached = f"reaches {self.reach} {_argument(self.group)} w'" if limited else ""
                return {variable: reached}
        raise _unknown(binder)

    def value(self, effect: Effect, old: str) -> str:
        """What an effect puts into its cell."""
        match effect:
            case SetTo(_, value):
                return "true" if value else "false"
            case CopyTo(_, source):
                return self.cell(source, {})
            case Write(_, Written.VALUE):
                return "v"
            case Write(_, _):
                return f"f ({self.read})"
            case Take():
                return "Some t"
            case Free():
                return "None"
            case Enter(_, MarkerOf()):
                return f"{_argument(old)} ++ [Marker t]"
            case Enter(_, LocationElement(location)):
                return f"{_argument(old)} ++ [Entry {location}]"
            case Leave():
                return f"tl {_argument(old)}"
        raise _unknown(effect)


def _argument(term: str) -> str:
    """A term as the argument of a function."""
    return f"({term})" if " " in term else term


def _unknown(part: object) -> Exception:
    return ValueError(f"proof/Thm1.v has no {type(part).__name__}")


def _only_bit(it: object) -> Holds:
    if not isinstance(it, Holds):
        raise _unknown(it)
    return it


def _changed(effect: Effect) -> CellAt | None:
    match effect:
        case SetTo(cell, _) | CopyTo(cell, _) | Write(cell, _) | Take(cell) | Free(cell):
            return cell
        case Enter(cell, _) | Leave(cell):
            return cell
        case Read():
            return None
    raise _unknown(effect)


def _cell(kind: CellKind, group: str, location: str) -> str:
    """A cell of the state s: `VALID (L1 s w) x`."""
    if kind.structure == "L1":
        base = f"{kind.field} (L1 s {_argument(group)})"
    elif kind.structure == "L2":
        base = f"{kind.field} (L2 s)"
    elif kind.structure == "rmw":
        base = f"rmw_lock s {_argument(group)}"
    else:
        base = f"{kind.structure} s"
    return f"{base} {location}" if kind.located else base


def machine_in_rocq(machine: Architecture) -> str:
    """The guards and effects of a machine. Raises InputError if its state or its instructions are
    not those of rsp, or if it has conditions that rsp has not."""
    base = machine_named(BASE)
    same = (machine.kinds, machine.cells, machine.final, [*machine.instructions], machine.reaches)
    known = (base.kinds, base.cells, base.final, [*base.instructions], base.reaches)
    steps = [(it.name, it.place, it.variables) for it in machine.steps]
    same_steps = steps == [(it.name, it.place, it.variables) for it in base.steps]
    require(
        same == known and same_steps and all(map(partial(_is_sum, machine), _SUMS)),
        f"machine {machine.name} must have the state, instructions and steps of {BASE} to be "
        "written for Rocq",
    )
    try:
        return "\n".join(_lines(machine)) + "\n"
    except ValueError as why:
        require(False, f"machine {machine.name} cannot be written for Rocq: {why}")
        raise


def _is_sum(machine: Architecture, name: str) -> bool:
    """Whether INC is the RMW for the function `r + n`."""
    own, general = machine.instructions[name], machine.instructions[_SUMS[name]]
    as_sum = tuple(
        Write(it.target, Written.SUM) if isinstance(it, Write) else it for it in general.effects
    )
    return (own.conditions, own.effects) == (general.conditions, as_sum)


def _lines(machine: Architecture) -> Iterator[str]:
    yield _HEAD.format(name=machine.name)
    parts = machine.instructions
    code = [
        (pattern, parts[name], _of_instruction(parts[name])) for name, pattern in _PATTERNS.items()
    ]
    groups = {"workgroup": "w"}
    steps = [(_pattern(it), it, _Rule(groups.get(it.place, ""))) for it in machine.steps]
    always = _Rule("wg t", instruction=True).all(machine.always, {})
    yield "(** When a step may happen. *)"
    yield "Definition gen_instr_guard (s : state) t (i : instr Val Loc) :="
    yield f"  {always} && match i with"
    yield from _cases((pattern, rule.all(it.conditions, {})) for pattern, it, rule in code)
    yield "  end."
    yield "Definition gen_guard (s : state) (l : step) := match l with"
    yield "  | Exec t => match next unset (threads s t) with"
    yield "    Some (i, _) => gen_instr_guard s t i | None => false end"
    yield from _cases((pattern, rule.all(it.conditions, {})) for pattern, it, rule in steps)
    yield "  end.\n"
    yield "(** What each cell has after a step; what an instruction reads. *)"
    for kind in machine.cells:
        located, grouped = kind.located, kind.place == "workgroup"
        own = _cell(kind, "w'", "y")
        name = "gen_" + "_".join(filter(None, (kind.structure, kind.field)))
        operands = (" (w' : nat)" if grouped else "") + (" (y : Loc)" if located else "")
        yield f"Definition {name} (s : state) (l : step){operands} := match l with"
        rules: list[tuple[str, Mnemonic | StepKind, _Rule]] = [*code, *steps]
        after = [(p, rule.makes(kind, it.effects, own, {})) for p, it, rule in rules]
        yield "  | Exec t => match next unset (threads s t) with Some (i, _) => match i with"
        yield from _cases(after[: len(code)], own, "    ")
        yield f"    end | None => {own} end"
        yield from _cases(after[len(code) :], own)
        yield "  end."
    yield "Definition gen_read (s : state) t (i : instr Val Loc) : option Val := match i with"
    yield from _cases(((p, f"Some ({rule.read})") for p, _, rule in code if rule.read), "None")
    yield "  end.\n"
    yield "(** When a run may end, besides that each thread has executed all. *)"
    finished = " /\\ ".join(map(_finished, machine.complete))
    yield f"Definition gen_finished (s : state) := {finished}."
    yield "End Definitions."


def _of_instruction(it: Mnemonic) -> _Rule:
    """Those of rmw locks have the reach DV: there is one device."""
    reach = ("r" if "WG" in it.reaches else "R_DV") if REACH in it.operands else None
    rule = _Rule("wg t", reach, instruction=True)
    read = [rule.cell(effect.source, {}) for effect in within(it.effects, Read)]
    return replace(rule, read=read[0]) if read else rule


def _pattern(it: StepKind) -> str:
    own = ["w"] if it.place == "workgroup" else []
    return " ".join([it.name, *own, *(each.variable for each in it.variables)])


def _cases(
    cases: Iterable[tuple[str, str]], default: str | None = None, indent: str = "  "
) -> Iterator[str]:
    """The branches of a match; those that are the default are left out."""
    all_cases = [*cases]
    kept = [(pattern, term) for pattern, term in all_cases if term != default]
    yield from (f"{indent}| {pattern} => {term}" for pattern, term in kept)
    if default is not None:
        yield f"{indent}| _ => {default}"


def _finished(condition: Condition) -> str:
    match condition:
        case All(
            Places(w, kind, None, None, False), (All(Locations(y, None), (Holds(bit, value),)),)
        ):
            group = f"{w} " if kind == "workgroup" else ""
            cell = _cell(bit.kind, w, y)
            return f"(forall {group}{y}, {cell} = {'true' if value else 'false'})"
    raise _unknown(condition)
