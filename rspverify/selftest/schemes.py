"""Random schemes, as YAML: those of Tab. 3, mutants of them, and odd ones such as users write."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from rspverify.assembly import MACHINES, Mnemonic
from rspverify.litmus.program import Kind, Order, Scope
from rspverify.programs import STRONG, Access, LitmusTest
from rspverify.scheme import Op, Shape, shipped_scheme

Code = tuple[str, ...]
"""The code of a row, an instruction each, in the paper's notation."""


@dataclass(frozen=True)
class Key:
    """What operations a row is for."""

    kind: Kind
    scope: Scope | None
    remote: bool

    def __str__(self) -> str:
        """The row's fields but for its code; each row covers every order up to the paper's."""
        if self.scope is None:
            return f"op: {self.kind.value}, scope: na"
        scope, remote = self.scope.value.lower(), str(self.remote).lower()
        return (
            f"op: {self.kind.value}, scope: {scope}, remote: {remote}, order: {_ORDER[self.kind]}"
        )


_ORDER = {
    Kind.LOAD: Order.ACQUIRE.value,
    Kind.STORE: Order.RELEASE.value,
    Kind.RMW: Order.ACQ_REL.value,
    Kind.FENCE: Order.ACQ_REL.value,
}


def key_of(access: Access) -> Key:
    """The key of the row that compiles an operation."""
    return Key(access.kind, access.scope, access.remote)


def needs_general(test: LitmusTest, key: Key) -> bool:
    """Whether the row of a key compiles what only RMW can do."""
    others = (each for each in test.accesses if each.operator not in (None, "+"))
    return any(key_of(each) == key for each in others)


@dataclass(frozen=True)
class Table:
    """A scheme: one row for each key."""

    machine: str
    rows: Mapping[Key, Code]

    def text(self, name: str = "random", comment: str = "") -> str:
        """The scheme in YAML, which `read_scheme` reads."""
        lines = [f"# {comment}"] if comment else []
        lines += [f"name: {name}", f"machine: {self.machine}", "rows:"]
        for key, code in self.rows.items():
            lines.append(f"  - {{{key}, code: [{', '.join(code)}]}}")
        return "\n".join(lines) + "\n"


# ---- Tab. 3 -------------------------------------------------------------------------------------

COLUMNS = ("original", "proposed")
"""The two columns, by the names of the shipped schemes that they are."""

_ROWS_OF = {
    None: None,
    Scope.WI: Scope.WG,
    Scope.WG: Scope.WG,
    Scope.DV: Scope.DV,
    Scope.ALL: Scope.DV,
}
"""The scope whose row compiles an operation of a scope. Tab. 3 has none for WI and for ALL."""


def general(code: Code) -> Code:
    """The code with RMW in the place of INC."""
    return tuple(each.replace("INC_", "RMW_") for each in code)


def row_of(column: str, key: Key) -> Code:
    """The code that Tab. 3 has for an operation; that of DV, reaching farther, for scope ALL.

    Of ALL the paper says nothing. L2s are not coherent, so what a thread flushes of its L1 has to
    be flushed of the L2 as well.
    """
    if key.kind is Kind.FENCE:
        return ()
    scope = _ROWS_OF[key.scope]
    order = None if scope is None else STRONG[key.kind]
    row = shipped_scheme(column).table[Shape(Op(key.kind.value), scope, order, key.remote)]
    code = tuple(map(str, row.code))
    if key.scope is not Scope.ALL:
        return code
    far: list[str] = []
    for instruction in code:
        wide = instruction.replace("DV", "SY")
        far += [wide, "FLU_L2 SY"] if wide.startswith("FLU_L1") else [wide]
    return tuple(far)


def near(kind: Kind) -> Code:
    """The code of operations that stay in a work-group; a fence needs none."""
    return row_of("proposed", Key(kind, Scope.WG, False))


# ---- changes ------------------------------------------------------------------------------------

_RSP = MACHINES["rsp"].instructions
_ACCESSES = tuple(name for name, each in _RSP.items() if each.reads or each.writes)
_OTHERS = tuple(each for name, each in _RSP.items() if name not in _ACCESSES)


def accesses(instruction: str) -> bool:
    """Whether an instruction reads or writes a location for the program: a row has one such."""
    return instruction.split()[0] in _ACCESSES


def _written(mnemonic: Mnemonic, rng: random.Random) -> str:
    """An instruction with an operand: a reach, or the operation's location."""
    operand = rng.choice(mnemonic.reaches).value if mnemonic.reaches else "x"
    return f"{mnemonic.name} {operand}"


def _any_other(rng: random.Random) -> str:
    return _written(rng.choice(_OTHERS), rng)


def _others(code: Code) -> list[int]:
    return [place for place, each in enumerate(code) if not accesses(each)]


def _drop(rng: random.Random, code: Code) -> Code:
    places = _others(code)
    if not places:
        return code
    place = rng.choice(places)
    return code[:place] + code[place + 1 :]


def _twice(rng: random.Random, code: Code) -> Code:
    places = _others(code)
    if not places:
        return code
    place = rng.choice(places)
    return (*code[:place], code[place], *code[place:])


def _swap(rng: random.Random, code: Code) -> Code:
    if len(code) < 2:
        return code
    place = rng.randrange(len(code) - 1)
    return (*code[:place], code[place + 1], code[place], *code[place + 2 :])


def _reach(rng: random.Random, code: Code) -> Code:
    """Another reach for one instruction; INC or RMW in the other cache counts as one."""
    place = rng.randrange(len(code))
    name, *_ = code[place].split()
    if name.startswith(("INC", "RMW")):
        changed = f"{name[:-1]}{'2' if name.endswith('1') else '1'} r x"
    elif accesses(code[place]):
        return code
    else:
        changed = _written(_RSP[name], rng)
    return (*code[:place], changed, *code[place + 1 :])


def _insert(rng: random.Random, code: Code) -> Code:
    place = rng.randint(0, len(code))
    return (*code[:place], _any_other(rng), *code[place:])


MUTATIONS: tuple[Callable[[random.Random, Code], Code], ...] = (
    *(_drop,) * 4,
    *(_reach,) * 2,
    *(_swap,) * 2,
    _twice,
    _insert,
)


def _between(before: Iterable[str], code: Code, after: Iterable[str] = ()) -> Code:
    return (*before, *code, *after)


def _lock(rng: random.Random) -> tuple[str, str]:
    return rng.choice(
        (("LK_L2 x", "UL_L2 x"), ("LK_rmw DV", "UL_rmw DV"), ("LK_rmw SY", "UL_rmw SY"))
    )


def _locked(rng: random.Random, code: Code) -> Code:
    take, free = _lock(rng)
    return _between([take], code, [free])


def _locked_twice(rng: random.Random, code: Code) -> Code:
    take, free = _lock(rng)
    return _between([take, take], code, [free] * rng.randint(1, 2))


def _two_locks(rng: random.Random, code: Code) -> Code:
    return _locked(rng, _locked(rng, code))


def _unlock_only(rng: random.Random, code: Code) -> Code:
    return _between([], code, [_lock(rng)[1]]) if rng.random() < 0.5 else (_lock(rng)[1], *code)


def _lock_only(rng: random.Random, code: Code) -> Code:
    return code if rng.random() < 0.5 else (_lock(rng)[0], *code)


def _invalidate_first(rng: random.Random, code: Code) -> Code:
    return _between([f"INV_L1 {rng.choice(('WG', 'DV', 'SY'))}"], code)


def _everywhere(_: random.Random, code: Code) -> Code:
    return tuple(each if accesses(each) else each.replace("DV", "SY") for each in code)


def _flush_l2(rng: random.Random, code: Code) -> Code:
    flush = f"FLU_L2 {rng.choice(('DV', 'SY'))}"
    place = rng.randint(0, len(code))
    return (*code[:place], flush, *code[place:])


def _anything(rng: random.Random, code: Code) -> Code:
    """The access alone, among any other instructions."""
    kept = tuple(each for each in code if accesses(each))
    for _ in range(rng.randint(0, 3)):
        kept = _insert(rng, kept)
    return kept


ODD: Mapping[str, Callable[[random.Random, Code], Code]] = {
    "locked": _locked,
    "locked twice": _locked_twice,
    "two locks": _two_locks,
    "unlock only": _unlock_only,
    "lock only": _lock_only,
    "INV first": _invalidate_first,
    "SY": _everywhere,
    "FLU_L2": _flush_l2,
    "anything": _anything,
}
"""What is done to the rows of a column of Tab. 3, by the name of the kind of scheme."""


def random_table(rng: random.Random, test: LitmusTest) -> tuple[str, Table]:
    """A scheme with a row for each operation of a test and no other, and the kind that it is."""
    chance = rng.random()
    machine = next((name for name, up_to in _RARE.items() if chance < up_to), "rsp")
    kind, rows = _random_rows(rng, test)
    if "INV_L2" in MACHINES[machine].instructions:
        rows = {key: _invalidate_l2(rng, code) for key, code in rows.items()}
    if rng.random() < 0.15:
        rows = {key: _stored_again(rng, key.kind, code) for key, code in rows.items()}
    return kind, Table(machine, rows)


_RARE = {"rsp-st-waits": 0.2, "rsp-inv-l2": 0.3, "rsp-coherent-l2": 0.35}
"""The machines that are chosen now and then, each up to a number out of 1."""


def _random_rows(rng: random.Random, test: LitmusTest) -> tuple[str, dict[Key, Code]]:
    column = rng.choice(tuple(COLUMNS))
    keys = sorted({key_of(each) for each in test.accesses}, key=str)
    rows = {key: row_of(column, key) for key in keys}
    choice = rng.random()
    if choice < 0.2:
        return column, rows
    if choice < 0.6:
        kind = f"mutant of {column}"
        for _ in range(rng.choice((1, 2, 3))):
            _mutate(rng, rows)
    else:
        name = rng.choice(tuple(ODD))
        kind = f"odd: {name}"
        rows = {key: ODD[name](rng, rows[key]) if rng.random() < 0.7 else rows[key] for key in keys}
        if rng.random() < 0.5:
            _mutate(rng, rows)
    return kind, rows


def _invalidate_l2(rng: random.Random, code: Code) -> Code:
    place = rng.randint(0, len(code))
    added = (f"INV_L2 {rng.choice(('DV', 'SY'))}",) if rng.random() < 0.5 else ()
    return (*code[:place], *added, *code[place:])


def _stored_again(rng: random.Random, kind: Kind, code: Code) -> Code:
    """The value of a store or an RMW once more, mostly when it has reached memory."""
    if kind not in (Kind.STORE, Kind.RMW) or rng.random() < 0.4:
        return code
    last = max(place for place, each in enumerate(code) if accesses(each))
    flushes = ("FLU_L1 WG", "FLU_L2 DV") if rng.random() < 0.7 else ()
    return (*code[: last + 1], *flushes, "ST r x", *code[last + 1 :])


def _mutate(rng: random.Random, rows: dict[Key, Code]) -> None:
    """One change to a row that is more than its access, if there is one."""
    key = rng.choice([key for key, code in rows.items() if len(code) > 1] or list(rows))
    rows[key] = rng.choice(MUTATIONS)(rng, rows[key])
